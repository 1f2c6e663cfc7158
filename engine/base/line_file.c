/* SPDX-License-Identifier: MIT */
/* line_file.c - writing it; reading is line_file_read.c.  See line_file.h. */
#include "base/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int io_error(const struct sl_line_file *f, struct sl_error *err)
{
	return sl_fail(err, SL_EIO, "%s: %s", f->path, strerror(errno));
}

/* Where the last whole line ends; 0 too where the end of the file is none of lines. */
static off_t whole_end(int fd, off_t size)
{
	off_t far = size > 2 * (off_t) SL_LINE_FILE_SIZE ? size - 2 * (off_t) SL_LINE_FILE_SIZE : 0;
	char piece[4096];

	while (size > far) {
		size_t n = size < (off_t) sizeof(piece) ? (size_t) size : sizeof(piece);
		ssize_t got = pread(fd, piece, n, size - n);

		if (got != (ssize_t) n)
			return -1;
		for (; n > 0; n--, size--)
			if (piece[n - 1] == '\n')
				return size;
	}
	return 0;
}

static int lock_file(struct sl_line_file *f, struct sl_error *err)
{
	while (!f->published && flock(f->fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return sl_fail(err, SL_EBUSY, "%s: another process is writing it", f->path);
		if (errno != EINTR)
			return io_error(f, err);
	}
	return 0;
}

static int open_file(struct sl_line_file *f, struct sl_error *err)
{
	struct stat st;
	off_t end;

	f->fd = open(f->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
	if (f->fd < 0)
		return io_error(f, err);
	if (fstat(f->fd, &st) < 0) {
		io_error(f, err);
		goto error;
	}
	if (!S_ISREG(st.st_mode)) {
		sl_fail(err, SL_EIO, "%s: not a regular file", f->path);
		goto error;
	}
	if (f->published && fchmod(f->fd, 0644) < 0) {	/* whatever the umask is */
		io_error(f, err);
		goto error;
	}
	if (lock_file(f, err) < 0)
		goto error;
	end = fstat(f->fd, &st) < 0 ? -1 : whole_end(f->fd, st.st_size);
	if (end < 0 || (end < st.st_size && ftruncate(f->fd, end) < 0)) {
		io_error(f, err);
		goto error;
	}
	flock(f->fd, LOCK_UN);
	f->fresh = true;
	return 0;
error:
	close(f->fd);
	f->fd = -1;
	return -1;
}

/* ".9" is the longest suffix that rotation appends. */
static int make_path(char path[PATH_MAX], const char *dir, const char *name, struct sl_error *err)
{
	if (snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX - 3)
		return 0;
	return sl_fail(err, SL_EINVAL, "%s: the path of its directory is too long", name);
}

int sl_line_file_open(struct sl_line_file *f, const char *dir, const char *name, bool published, struct sl_error *err)
{
	*f = (struct sl_line_file) { .limit = SL_LINE_FILE_SIZE, .fd = -1, .published = published };
	return make_path(f->path, dir, name, err) ? -1 : open_file(f, err);
}

void sl_line_file_close(struct sl_line_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

int sl_line_file_remove(const char *dir, const char *name, struct sl_error *err)
{
	char path[PATH_MAX];
	size_t n;

	if (make_path(path, dir, name, err))
		return -1;
	n = strlen(path);
	for (int i = 0; i <= SL_LINE_FILE_MOST; i++) {
		if (i)
			snprintf(path + n, sizeof(path) - n, ".%d", i);
		if (unlink(path) && errno != ENOENT)
			return sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	}
	return 0;
}

/* Does the path still name the open file?  Not if somebody moved or rotated it. */
static bool is_current(const struct sl_line_file *f)
{
	struct stat file, path;

	return f->fd >= 0 && fstat(f->fd, &file) == 0 && stat(f->path, &path) == 0 &&
	       file.st_dev == path.st_dev && file.st_ino == path.st_ino;
}

/* Only a process that rotates can take it
 * away between the look and the lock, and it is done then. */
int sl_line_file_lock(struct sl_line_file *f, struct sl_error *err)
{
	for (int tries = 0; tries < 3; tries++) {
		if (!is_current(f)) {
			if (f->fd >= 0)
				close(f->fd);
			f->fd = -1;
			if (open_file(f, err) < 0)
				return -1;
		}
		if (lock_file(f, err) < 0)
			return -1;
		if (is_current(f))
			return 0;
	}
	return sl_fail(err, SL_EBUSY, "%s: another process is rotating it", f->path);
}

/* Is there no such file, or has nothing been written to it for long? */
static bool may_go(const struct sl_line_file *f, int number)
{
	char path[PATH_MAX + 8];
	struct stat st;

	snprintf(path, sizeof(path), "%s.%d", f->path, number);
	return stat(path, &st) < 0 || time(NULL) - st.st_mtime > SL_LINE_FILE_DAYS * 24 * 3600;
}

/* Remove those that are too many and too old. */
static void remove_old(const struct sl_line_file *f)
{
	char path[PATH_MAX + 8];

	for (int i = SL_LINE_FILE_KEEP + 1; i <= SL_LINE_FILE_MOST; i++) {
		snprintf(path, sizeof(path), "%s.%d", f->path, i);
		if (may_go(f, i))
			unlink(path);
	}
}

/* Rename the files, NAME to NAME.1 and so on.  The lock is held; it is the old file's. */
static int rotate_files(struct sl_line_file *f, struct sl_error *err)
{
	char from[PATH_MAX + 8], to[PATH_MAX + 8];

	int last = SL_LINE_FILE_KEEP;

	while (last < SL_LINE_FILE_MOST && !may_go(f, last))
		last++;
	snprintf(to, sizeof(to), "%s.%d", f->path, last);
	for (int i = last - 1; i >= 0; i--) {
		if (i)
			snprintf(from, sizeof(from), "%s.%d", f->path, i);
		else
			snprintf(from, sizeof(from), "%s", f->path);
		if (rename(from, to) < 0 && errno != ENOENT)
			return io_error(f, err);
		memcpy(to, from, sizeof(to));
	}
	remove_old(f);
	return sl_line_file_lock(f, err);
}

/* One write.  A process that has reached its limit of file size gets EFBIG, and
 * with it a signal that would end it. */
static ssize_t write_once(int fd, const char *text, size_t size)
{
	const struct timespec now = { 0, 0 };
	sigset_t xfsz, old, pending;
	ssize_t n;
	int saved;

	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &xfsz, &old);
	do {
		n = write(fd, text, size);
	} while (n < 0 && errno == EINTR);
	saved = errno;
	if (n < 0 && saved == EFBIG && !sigismember(&pending, SIGXFSZ))
		while (sigtimedwait(&xfsz, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return n;
}

void sl_line_file_unlock(struct sl_line_file *f)
{
	if (f->fd >= 0)
		flock(f->fd, LOCK_UN);
}

int sl_line_file_room(struct sl_line_file *f, size_t size, struct sl_error *err)
{
	struct stat st;

	if (fstat(f->fd, &st) < 0)
		return io_error(f, err);
	if (st.st_size == 0 || (size_t) st.st_size + size <= f->limit)
		return 1;
	return rotate_files(f, err);
}

int sl_line_file_append(struct sl_line_file *f, const char *text, size_t size, struct sl_error *err)
{
	struct stat st;
	ssize_t n;

	if (fstat(f->fd, &st) < 0)
		return io_error(f, err);
	n = write_once(f->fd, text, size);
	if (n == (ssize_t) size) {
		f->fresh = false;
		return 0;
	}
	if (n < 0)
		return io_error(f, err);
	if (ftruncate(f->fd, st.st_size) < 0)
		return sl_fail(err, SL_EIO, "%s: a torn line cannot be taken back: %s", f->path, strerror(errno));
	return sl_fail(err, SL_EIO, "%s: the disk is full, or the file as large as it may be", f->path);
}
