/* SPDX-License-Identifier: MIT */
/*
 * line_file_read.c - lines from the newest back; see line_file.h.
 *
 * Nothing is mapped and nothing locked: slurmctld writes and rotates meanwhile.
 * The files are opened from the newest to the oldest before any of them is read,
 * so that a rotation in between shows a file twice and never hides one; the
 * second sight is recognised by its inode.
 */
#include "base/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t) 256 << 10)		/* bytes read at a time */
#define LINE_MAX_BYTES ((size_t) 256 << 20)	/* a longer line is none of ours */

struct file {
	int fd;
	struct stat st;
};

/* What was read of a file and not yet visited: data[begin] to data[end - 1].
 * What stands before it in the file is put before it. */
struct tail {
	char *data;
	size_t room, begin, end;
};

/* Make room for a piece before what there is. */
static int tail_grow(struct tail *t)
{
	size_t size = t->end - t->begin, room = t->room ? t->room : 2 * PIECE;
	char *data = t->data;

	if (t->data && t->begin >= PIECE)
		return 0;
	while (room < size + PIECE)
		room *= 2;
	if (room > t->room)
		data = malloc(room);
	if (!data)
		return -1;
	if (size)
		memmove(data + room - size, t->data + t->begin, size);
	if (data != t->data)
		free(t->data);
	*t = (struct tail) { data, room, room - size, room };
	return 0;
}

static bool is_record(const char *line, size_t length)
{
	return length >= 2 && line[0] == '{' && line[length - 1] == '}' && !memchr(line, 0, length);
}

/*
 * Visit the lines that are whole, the last one first.  What stands before the
 * first line feed is the end of a line, unless the file begins there.  *fed tells
 * that a line feed was seen: without one a line is torn.
 */
static int visit_lines(struct tail *t, bool at_begin, bool *fed, int (*visit)(const char *, size_t, void *),
		       void *arg)
{
	while (t->end > t->begin) {
		char *begin = t->data + t->begin, *feed = memrchr(begin, '\n', t->end - t->begin), *line;
		size_t length;
		int rc = 0;

		if (!feed && !at_begin)
			break;
		line = feed ? feed + 1 : begin;
		length = t->data + t->end - line;
		if (*fed && is_record(line, length))
			rc = visit(line, length, arg);
		t->end = feed ? (size_t) (feed - t->data) : t->begin;
		*fed = true;
		if (rc)
			return rc;
	}
	return 0;
}

static int read_file(const struct file *f, struct tail *t, int (*visit)(const char *, size_t, void *), void *arg,
		     int *stopped, const char *path, struct sl_error *err)
{
	off_t at = f->st.st_size;
	bool fed = false;

	t->begin = t->end = t->room;
	while (at > 0 && !*stopped) {
		size_t n = at < (off_t) PIECE ? (size_t) at : PIECE;
		ssize_t got;

		if (t->end - t->begin > LINE_MAX_BYTES)
			return sl_fail(err, SL_ELIMIT, "%s: a line of more than %zu bytes", path, LINE_MAX_BYTES);
		if (tail_grow(t) < 0)
			return sl_fail(err, SL_ENOMEM, "%s: no memory", path);
		got = pread(f->fd, t->data + t->begin - n, n, at - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got >= 0 && got < (ssize_t) n && at == f->st.st_size && !fed) {
			at -= n - got;	/* the writer took a torn line back */
			memmove(t->data + t->begin - got, t->data + t->begin - n, got);
			n = got;
		} else if (got != (ssize_t) n) {
			return sl_fail(err, SL_EIO, "%s: %s", path, got < 0 ? strerror(errno) : "cut short meanwhile");
		}
		t->begin -= n;
		at -= n;
		*stopped = visit_lines(t, at == 0, &fed, visit, arg);
	}
	return 0;
}

/* Open what there is, newest first. */
static int open_files(const char *dir, const char *name, struct file file[SL_LINE_FILE_MOST + 1], struct sl_error *err)
{
	char path[PATH_MAX];
	int n = 0;

	for (int i = 0; i <= SL_LINE_FILE_MOST; i++) {
		struct file f;
		int k = 0;

		if (snprintf(path, sizeof(path), i ? "%s/%s.%d" : "%s/%s", dir, name, i) >=
		    (int) sizeof(path)) {
			sl_fail(err, SL_EINVAL, "%s: the path of its directory is too long", name);
			goto error;
		}
		f.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (f.fd < 0 && errno == ENOENT)
			continue;
		if (f.fd < 0 || fstat(f.fd, &f.st) < 0) {
			sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
			if (f.fd >= 0)
				close(f.fd);
			goto error;
		}
		while (k < n && (file[k].st.st_ino != f.st.st_ino || file[k].st.st_dev != f.st.st_dev))
			k++;
		if (k < n || !S_ISREG(f.st.st_mode))
			close(f.fd);
		else
			file[n++] = f;
	}
	if (n)
		return n;
	sl_fail(err, SL_ENOENT, "%s/%s: no such file", dir, name);
error:
	while (n > 0)
		close(file[--n].fd);
	return -1;
}

int sl_line_file_read(const char *dir, const char *name, int (*visit)(const char *line, size_t length, void *arg),
		      void *arg, struct sl_error *err)
{
	struct file file[SL_LINE_FILE_MOST + 1];
	struct tail tail = { NULL, 0, 0, 0 };
	int files = open_files(dir, name, file, err), rc = 0, stopped = 0;

	if (files < 0)
		return -1;
	for (int i = 0; i < files; i++) {
		if (!rc && !stopped)
			rc = read_file(&file[i], &tail, visit, arg, &stopped, dir, err);
		close(file[i].fd);
	}
	free(tail.data);
	return rc;
}
