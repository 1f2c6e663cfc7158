/* SPDX-License-Identifier: MIT */
/*
 * lines.c - lines of text files, through zlib, which also reads plain ones.
 */
#include "base/lines.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/grow.h"

struct sl_lines {
	gzFile file;
	char *path;
	char *buf;
	uint32_t room;
	size_t from, to;	/* what is in buf and not handed out: [from, to) */
	uint64_t number;
	bool end;
};

#define CHUNK ((size_t) 1 << 18)

struct sl_lines *sl_lines_open(const char *path, struct sl_error *err)
{
	struct sl_lines *l = calloc(1, sizeof(*l));
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		sl_fail(err, errno == ENOENT ? SL_ENOENT : SL_EIO, "%s: %s", path, strerror(errno));
		goto error;
	}
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		sl_fail(err, SL_EIO, "%s: %s", path, strerror(EISDIR));
		goto error;
	}
	if (!l || !(l->path = strdup(path)) || !(l->file = gzdopen(fd, "rb"))) {
		sl_fail(err, SL_ENOMEM, "%s: no memory", path);
		goto error;
	}
	gzbuffer(l->file, CHUNK);
	return l;
error:
	if (fd >= 0)
		close(fd);
	sl_lines_close(l);
	return NULL;
}

void sl_lines_close(struct sl_lines *l)
{
	if (!l)
		return;
	if (l->file)
		gzclose_r(l->file);
	free(l->path);
	free(l->buf);
	free(l);
}

uint64_t sl_lines_number(const struct sl_lines *l)
{
	return l->number;
}

const char *sl_lines_path(const struct sl_lines *l)
{
	return l->path;
}

/* Read more behind what is there, keeping a byte for the NUL. */
static int read_more(struct sl_lines *l, struct sl_error *err)
{
	int got, code;

	if (l->from) {
		memmove(l->buf, l->buf + l->from, l->to - l->from);
		l->to -= l->from;
		l->from = 0;
	}
	if (sl_grow(&l->buf, &l->room, l->to + CHUNK + 1, 1, err))
		return sl_fail_in(err, "%s", l->path);
	got = gzread(l->file, l->buf + l->to, CHUNK);
	if (got < 0 || (size_t) got < CHUNK) {
		gzerror(l->file, &code);
		if (code == Z_BUF_ERROR)
			return sl_fail(err, SL_EFORMAT, "%s: the compressed data end too early, near line %" PRIu64,
				       l->path, l->number + 1);
		if (got < 0 && code == Z_ERRNO)
			return sl_fail(err, SL_EIO, "%s: %s", l->path, strerror(errno));
		if (got < 0)
			return sl_fail(err, SL_EFORMAT, "%s: the compressed data are corrupt, near line %" PRIu64,
				       l->path, l->number + 1);
		l->end = true;
	}
	l->to += got;
	return 0;
}

int sl_lines_whole(const char *path, size_t most, char **bytes, size_t *size, struct sl_error *err)
{
	struct sl_lines *l = sl_lines_open(path, err);
	int rc = -1;

	if (!l)
		return -1;
	while (!l->end && l->to <= most)
		if (read_more(l, err) < 0)
			goto error;
	if (l->to > most) {
		sl_fail(err, SL_ELIMIT, "%s: larger than %zu KiB", path, most >> 10);
		goto error;
	}
	l->buf[l->to] = 0;
	*bytes = l->buf;
	*size = l->to;
	l->buf = NULL;
	rc = 0;
error:
	sl_lines_close(l);
	return rc;
}

int64_t sl_lines_next(struct sl_lines *l, char **line, struct sl_error *err)
{
	size_t seen = 0, n;
	char *lf;

	while (!l->buf || !(lf = memchr(l->buf + l->from + seen, '\n', l->to - l->from - seen))) {
		seen = l->to - l->from;
		if (seen > SL_LINE_MAX)
			return sl_fail(err, SL_EFORMAT, "%s:%" PRIu64 ": a line of more than %u bytes", l->path,
				       l->number + 1, SL_LINE_MAX);
		if (l->end) {
			if (!seen)
				return 0;
			lf = l->buf + l->to;
			break;
		}
		if (read_more(l, err) < 0)
			return -1;
	}
	*line = l->buf + l->from;
	n = lf - *line;
	l->from += n + (lf < l->buf + l->to);
	l->number++;
	if (memchr(*line, 0, n))
		return sl_fail(err, SL_EFORMAT, "%s:%" PRIu64 ": a NUL byte: this is no text", l->path, l->number);
	if (n && (*line)[n - 1] == '\r')
		n--;
	(*line)[n] = 0;
	return (int64_t) n + 1;
}

bool sl_scan_int(const char **p, int64_t *value)
{
	const char *s = *p;
	bool minus = *s == '-';
	uint64_t n = 0;

	s += minus || *s == '+';
	if (!isdigit((unsigned char) *s) && !(*s == '.' && isdigit((unsigned char) s[1])))
		return false;
	for (; isdigit((unsigned char) *s); s++) {
		n = n * 10 + (*s - '0');
		if (n > (UINT64_C(1) << 62))
			return false;
	}
	if (*s == '.')
		for (s++; isdigit((unsigned char) *s); s++)
			;
	*value = minus ? -(int64_t) n : (int64_t) n;
	*p = s;
	return true;
}

bool sl_scan_whole(const char *text, int64_t *value)
{
	return *text && sl_scan_int(&text, value) && !*text;
}

bool sl_scan_duration(const char *text, int64_t *seconds)
{
	int64_t days = 0, part[3] = { 0, 0, 0 };
	int parts = 0;
	bool dash;
	const char *p = text;

	if (!strcasecmp(text, "UNLIMITED") || !strcasecmp(text, "INFINITE")) {
		*seconds = SL_UNLIMITED;
		return true;
	}
	if (!isdigit((unsigned char) *p) || !sl_scan_int(&p, &part[0]))
		return false;
	dash = *p == '-';
	if (dash) {
		days = part[0];
		p++;
		if (!isdigit((unsigned char) *p) || !sl_scan_int(&p, &part[0]))
			return false;
	}
	for (parts = 1; *p == ':' && parts < 3; parts++) {
		p++;
		if (!isdigit((unsigned char) *p) || !sl_scan_int(&p, &part[parts]))
			return false;
	}
	if (*p || days > 1000000 || part[0] > (INT64_C(1) << 40) || part[1] > (INT64_C(1) << 40) ||
	    part[2] > (INT64_C(1) << 40))
		return false;
	if (dash || parts == 3)
		*seconds = days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
	else
		*seconds = part[0] * 60 + part[1];
	return true;
}

bool sl_scan_memory(const char *text, char unit, int64_t *mb, const char **end)
{
	static const char units[] = "KMGTP";
	const char *at;
	char *p;
	double n;

	if (!isdigit((unsigned char) *text))
		return false;
	n = strtod(text, &p);
	at = *p ? strchr(units, toupper((unsigned char) *p)) : NULL;
	if (at)
		p++;
	else
		at = strchr(units, unit);
	n *= pow(1024, at - units - 1);
	if (!(n >= 0) || n > 0x1p40)
		return false;
	*mb = (int64_t) ceil(n);
	if (end)
		*end = p;
	return true;
}
