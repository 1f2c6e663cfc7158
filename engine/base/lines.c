/* SPDX-License-Identifier: MIT */
/*
 * lines.c - lines of text files, plain or packed.
 */
#include "base/lines.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "base/grow.h"

struct sl_lines {
	int fd;
	bool packed;		/* gzip */
	bool within;		/* packed: in the middle of a member */
	z_stream z;
	unsigned char *in;	/* of the file, what z has not taken yet */
	char *path;
	char *buf;
	uint32_t room;
	size_t from, to;	/* what is in buf and not handed out: [from, to) */
	uint64_t number;
	uint32_t longest;	/* bytes of a line */
	bool file;		/* neither a pipe nor a device */
	size_t size;		/* of an ordinary file, as it is on disk */
	bool end;
};

#define CHUNK ((size_t) 1 << 18)

/* The file's next bytes, into l->in.  How many there are now; -1 with *err. */
static ssize_t read_file(struct sl_lines *l, struct sl_error *err)
{
	ssize_t got = 0;

	memmove(l->in, l->z.next_in, l->z.avail_in);
	l->z.next_in = l->in;
	do
		got = read(l->fd, l->in + l->z.avail_in, CHUNK - l->z.avail_in);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return sl_fail(err, SL_EIO, "%s: %s", l->path, strerror(errno));
	l->z.avail_in += (uInt) got;
	return l->z.avail_in;
}

/* Is it gzip?  Its first bytes say so. */
static int look_inside(struct sl_lines *l, struct sl_error *err)
{
	ssize_t n = 0, had = -1;

	l->z.next_in = l->in;
	while (n < 2 && n > had) {
		had = n;
		n = read_file(l, err);
	}
	if (n < 0)
		return -1;
	l->packed = n >= 2 && l->in[0] == 0x1f && l->in[1] == 0x8b;
	if (l->packed && inflateInit2(&l->z, 15 + 16) != Z_OK) {
		l->packed = false;
		return sl_fail(err, SL_ENOMEM, "%s: no memory", l->path);
	}
	l->within = l->packed;
	return 0;
}

struct sl_lines *sl_lines_open(const char *path, struct sl_error *err)
{
	struct sl_lines *l = calloc(1, sizeof(*l));
	struct stat st;

	if (!l || !(l->path = strdup(path)) || !(l->in = malloc(CHUNK))) {
		if (l)
			l->fd = -1;
		sl_fail(err, SL_ENOMEM, "%s: no memory", path);
		goto error;
	}
	l->longest = SL_LINE_MAX;
	l->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);	/* a pipe may have no writer, ever */
	if (l->fd < 0) {
		sl_fail(err, errno == ENOENT ? SL_ENOENT : SL_EIO, "%s: %s", path, strerror(errno));
		goto error;
	}
	if (fstat(l->fd, &st) < 0 || S_ISDIR(st.st_mode)) {
		sl_fail(err, SL_EIO, "%s: a directory: expected a file", path);
		goto error;
	}
	fcntl(l->fd, F_SETFL, 0);
	l->file = S_ISREG(st.st_mode);
	l->size = l->file ? (size_t) st.st_size : 0;
	if (look_inside(l, err) < 0)
		goto error;
	return l;
error:
	sl_lines_close(l);
	return NULL;
}

void sl_lines_close(struct sl_lines *l)
{
	if (!l)
		return;
	if (l->packed)
		inflateEnd(&l->z);
	if (l->fd >= 0)
		close(l->fd);
	free(l->in);
	free(l->path);
	free(l->buf);
	free(l);
}

int sl_lines_must_be_file(const struct sl_lines *l, struct sl_error *err)
{
	return l->file ? 0 : sl_fail(err, SL_EIO, "%s: a pipe or a device: expected a file", l->path);
}

void sl_lines_limit(struct sl_lines *l, uint32_t most)
{
	l->longest = most;
}

uint64_t sl_lines_number(const struct sl_lines *l)
{
	return l->number;
}

const char *sl_lines_path(const struct sl_lines *l)
{
	return l->path;
}

/* A member of the file has ended: another one follows, or nothing. */
static int next_member(struct sl_lines *l, struct sl_error *err)
{
	while (l->z.avail_in < 2) {
		uInt had = l->z.avail_in;

		if (read_file(l, err) < 0)
			return -1;
		if (l->z.avail_in == had)
			break;
	}
	if (!l->z.avail_in) {
		l->end = true;
		return 0;
	}
	if (l->z.avail_in < 2 || l->z.next_in[0] != 0x1f || l->z.next_in[1] != 0x8b)
		return sl_fail(err, SL_EFORMAT, "%s: something that is not compressed follows the compressed data", l->path);
	inflateReset(&l->z);
	l->within = true;
	return 0;
}

/* Unpack to where l->z says, until there is no room, or nothing left. */
static int unpack(struct sl_lines *l, struct sl_error *err)
{
	while (l->z.avail_out && !l->end) {
		int code;

		if (!l->within) {
			if (next_member(l, err) < 0)
				return -1;
			continue;
		}
		if (!l->z.avail_in && read_file(l, err) < 0)
			return -1;
		if (!l->z.avail_in)
			return sl_fail(err, SL_EFORMAT, "%s: the compressed data end too early, near line %" PRIu64,
				       l->path, l->number + 1);
		code = inflate(&l->z, Z_NO_FLUSH);
		l->within = code != Z_STREAM_END;
		if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
			return sl_fail(err, SL_EFORMAT, "%s: the compressed data are corrupt, near line %" PRIu64,
				       l->path, l->number + 1);
	}
	return 0;
}

/* Copy what is not packed to where l->z says. */
static int copy(struct sl_lines *l, struct sl_error *err)
{
	while (l->z.avail_out && !l->end) {
		uInt n = l->z.avail_in < l->z.avail_out ? l->z.avail_in : l->z.avail_out;

		memcpy(l->z.next_out, l->z.next_in, n);
		l->z.next_in += n;
		l->z.avail_in -= n;
		l->z.next_out += n;
		l->z.avail_out -= n;
		if (!l->z.avail_in && read_file(l, err) < 0)
			return -1;
		l->end = !l->z.avail_in;
	}
	return 0;
}

/* Read more behind what is there, keeping a byte for the NUL.  A mark at the beginning that tells
 * the order of bytes, as some editors write it, is no part of the text. */
static int read_more(struct sl_lines *l, struct sl_error *err)
{
	bool first = !l->buf;

	if (l->from) {
		memmove(l->buf, l->buf + l->from, l->to - l->from);
		l->to -= l->from;
		l->from = 0;
	}
	if (sl_grow(&l->buf, &l->room, l->to + CHUNK + 1, 1, err))
		return sl_fail_in(err, "%s", l->path);
	l->z.next_out = (unsigned char *) l->buf + l->to;
	l->z.avail_out = CHUNK;
	if ((l->packed ? unpack : copy)(l, err) < 0)
		return -1;
	l->to += CHUNK - l->z.avail_out;
	if (first && l->to >= 3 && !memcmp(l->buf, "\xef\xbb\xbf", 3))
		l->from = 3;
	return 0;
}

int sl_lines_whole(const char *path, size_t most, char **bytes, size_t *size, struct sl_error *err)
{
	struct sl_lines *l = sl_lines_open(path, err);
	int rc = -1;

	if (!l)
		return -1;
	while (!l->end && l->to <= most && (l->packed || l->size <= most))
		if (read_more(l, err) < 0)
			goto error;
	if (l->to > most || (!l->packed && l->size > most)) {
		sl_fail(err, SL_ELIMIT, "%s: larger than %zu KiB", path, most >> 10);
		goto error;
	}
	l->buf[l->to] = 0;
	memmove(l->buf, l->buf + l->from, l->to - l->from + 1);
	*bytes = l->buf;
	*size = l->to - l->from;
	l->buf = NULL;
	rc = 0;
error:
	sl_lines_close(l);
	return rc;
}

int sl_lines_first(struct sl_lines *l, struct sl_error *err)
{
	for (size_t seen = 0; seen <= l->longest; seen++) {
		while (!l->buf || (l->to - l->from == seen && !l->end))
			if (read_more(l, err) < 0)
				return -1;
		if (l->to - l->from == seen)
			return 0;
		if (!strchr(" \t\r\n", l->buf[l->from + seen]))
			return (unsigned char) l->buf[l->from + seen];
	}
	return 0;
}

int64_t sl_lines_next(struct sl_lines *l, char **line, struct sl_error *err)
{
	size_t seen = 0, n;
	char *lf;

	while (!l->buf || !(lf = memchr(l->buf + l->from + seen, '\n', l->to - l->from - seen))) {
		seen = l->to - l->from;
		if (seen > l->longest)
			return sl_fail(err, SL_EFORMAT, "%s:%" PRIu64 ": a line of more than %" PRIu32 " bytes: expected "
				       "text in lines", l->path, l->number + 1, l->longest);
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
		return sl_fail(err, SL_EFORMAT, "%s:%" PRIu64 ": a NUL byte: expected text", l->path, l->number);
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
		/* before, since 64 bits hold 4 times as much, and not 10 */
		if (n > (UINT64_C(1) << 62) / 10)
			return false;
		n = n * 10 + (*s - '0');
	}
	if (*s == '.')
		for (s++; isdigit((unsigned char) *s); s++)
			;
	*value = minus ? -(int64_t) n : (int64_t) n;
	*p = s;
	return true;
}

bool sl_scan_seconds(const char **p, int64_t *value)
{
	const char *from = *p, *dot;

	if (!sl_scan_int(p, value))
		return false;
	dot = memchr(from, '.', *p - from);
	*value += *value >= 0 && *from != '-' && dot && strspn(dot + 1, "0") < (size_t) (*p - dot - 1);
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

bool sl_scan_span(const char *text, int64_t *seconds)
{
	static const struct { char letter; int64_t seconds; } unit[] = {
		{ 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 },
	};
	int64_t n;
	char letter, rest;

	if (sscanf(text, "%" SCNd64 "%c%c", &n, &letter, &rest) == 2 && n >= 0 && n < (INT64_C(1) << 40))
		for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
			if (unit[i].letter == letter) {
				*seconds = n * unit[i].seconds;
				return true;
			}
	return sl_scan_duration(text, seconds) && *seconds != SL_UNLIMITED;
}

/* "Z", "+01:00", "-0500", "+01": seconds east of Greenwich; nothing is UTC. */
static bool scan_zone(const char *p, int64_t *seconds)
{
	unsigned hours = 0, minutes = 0;
	int n = 0;

	*seconds = 0;
	if (!*p || ((*p == 'Z' || *p == 'z') && !p[1]))
		return true;
	if ((*p != '+' && *p != '-') || !isdigit((unsigned char) p[1]))
		return false;
	if ((sscanf(p + 1, "%2u:%2u%n", &hours, &minutes, &n) < 2 || p[1 + n]) &&
	    (n = 0, sscanf(p + 1, "%2u%2u%n", &hours, &minutes, &n) < 2 || p[1 + n])) {
		minutes = 0;
		if (sscanf(p + 1, "%2u%n", &hours, &n) < 1 || p[1 + n])
			return false;
	}
	if (hours > 14 || minutes > 59)
		return false;
	*seconds = (int64_t) (hours * 3600 + minutes * 60) * (*p == '-' ? -1 : 1);
	return true;
}

bool sl_scan_time(const char *p, int64_t *t)
{
	struct tm tm = { 0 };
	int n = 0, clock = 0;
	int64_t zone = 0;

	if (sl_scan_whole(p, t))
		return true;
	if (sscanf(p, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &n) < 3 || !n)
		return false;
	p += n;
	if (*p) {
		if ((*p != 'T' && *p != 't' && *p != ' ') || !isdigit((unsigned char) p[1]) ||
		    sscanf(p + 1, "%2d:%2d:%2d%n", &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &clock) < 3 || !clock)
			return false;
		p += 1 + clock;
		if (*p == '.' && isdigit((unsigned char) p[1]))
			p += 1 + strspn(p + 1, "0123456789");
		if (!scan_zone(p, &zone))
			return false;
	}
	if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 || tm.tm_hour > 23 ||
	    tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60 || tm.tm_year < 1970)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*t = timegm(&tm) - zone;
	return true;
}
