/* SPDX-License-Identifier: MIT */
#include "base/zone.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZONES "/usr/share/zoneinfo/"
#define MACHINE "/etc/localtime"
#define MOST_BYTES (1 << 20)
#define DAY INT64_C(86400)

/* A day of the year on which clocks change, and the local time (seconds, may be below 0 or above a day). */
struct change {
	char kind;			/* 'M': the nth weekday of a month; 'J': day 1 to 365 without 29 February; 0: day 0 to 365 */
	int month, week, day;
	int32_t time;
};

/* What holds after the last transition of the list. */
struct rule {
	bool known, has_summer;
	int32_t standard, summer;	/* offsets */
	struct change begin, end;	/* of summer time */
};

struct sl_zone {
	uint32_t transitions;
	int64_t *at;
	int32_t *offset;		/* from at[i] on */
	int32_t first;			/* before at[0] */
	struct rule rule;
};

/* -- calendars ------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Days since 1970-01-01 of a date of the Gregorian calendar; months run over. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y, m;

	year += floor_div(month - 1, 12);
	month = month - 1 - 12 * floor_div(month - 1, 12);	/* 0 to 11 */
	y = month < 2 ? year - 1 : year;	/* years that begin in March */
	m = (month + 10) % 12;
	return 365 * y + floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400) + (153 * m + 2) / 5 + day - 1 - 719468;
}

static void date_of(int64_t days, struct sl_wall *w)
{
	int64_t z = days + 719468, era = floor_div(z, 146097), of_era = z - era * 146097;
	int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * years + years / 4 - years / 100), m = (5 * of_year + 2) / 153;

	w->day = (int) (of_year - (153 * m + 2) / 5 + 1);
	w->month = (int) (m < 10 ? m + 3 : m - 9);
	w->year = years + era * 400 + (w->month <= 2);
	w->weekday = (int) (days - 7 * floor_div(days + 3, 7) + 4);	/* 1970-01-01 was a Thursday */
}

static bool is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* -- the rule --------------------------------------------------------------- */

/* Local seconds since 1970 at which clocks change in that year, by the clock before the change. */
static int64_t change_in(const struct change *c, int64_t year)
{
	int64_t first, days;
	struct sl_wall w;

	if (c->kind == 'J') {
		days = days_of(year, 1, c->day) + (is_leap(year) && c->day >= 60);
	} else if (c->kind == 'M') {
		first = days_of(year, c->month, 1);
		date_of(first, &w);
		/* weekday 0 of a rule is Sunday */
		days = first + (c->day - w.weekday % 7 + 7) % 7 + 7 * (c->week - 1);
		while (days >= days_of(year, c->month + 1, 1))
			days -= 7;	/* week 5 is the last */
	} else {
		days = days_of(year, 1, 1) + c->day;
	}
	return days * DAY + c->time;
}

static int64_t summer_begins(const struct rule *r, int64_t year)
{
	return change_in(&r->begin, year) - r->standard;
}

static int64_t summer_ends(const struct rule *r, int64_t year)
{
	return change_in(&r->end, year) - r->summer;
}

static int64_t year_of(int64_t t)
{
	struct sl_wall w;

	date_of(floor_div(t, DAY), &w);
	return w.year;
}

static int32_t offset_by_rule(const struct rule *r, int64_t t)
{
	int64_t year = year_of(t + r->standard), begin, end;

	if (!r->has_summer)
		return r->standard;
	begin = summer_begins(r, year);
	end = summer_ends(r, year);
	return (begin < end ? t >= begin && t < end : t >= begin || t < end) ? r->summer : r->standard;
}

static const char *read_number(const char *s, int *n)
{
	char *end;
	long v = strtol(s, &end, 10);

	if (end == s || end - s > 5 || *s == '+' || *s == '-')
		return NULL;
	*n = (int) v;
	return end;
}

/* [+-]h[h][:mm[:ss]] */
static const char *read_time(const char *s, int32_t *seconds)
{
	int sign = *s == '-' ? -1 : 1, part[3] = { 0 };

	s += *s == '-' || *s == '+';
	for (int i = 0; i < 3; i++) {
		if (!(s = read_number(s, &part[i])))
			return NULL;
		if (*s != ':' || i == 2)
			break;
		s++;
	}
	*seconds = sign * (part[0] * 3600 + part[1] * 60 + part[2]);
	return s;
}

/* Letters, or anything within < and >. */
static const char *skip_name(const char *s)
{
	const char *end = s;

	if (*s == '<')
		return (end = strchr(s, '>')) ? end + 1 : NULL;
	while ((*end >= 'A' && *end <= 'Z') || (*end >= 'a' && *end <= 'z'))
		end++;
	return end - s >= 3 ? end : NULL;
}

/* ,date[/time] */
static const char *read_change(const char *s, struct change *c)
{
	*c = (struct change) { .time = 2 * 3600 };
	if (*s++ != ',')
		return NULL;
	if (*s == 'M') {
		c->kind = 'M';
		s = read_number(s + 1, &c->month);
		s = s && *s == '.' ? read_number(s + 1, &c->week) : NULL;
		s = s && *s == '.' ? read_number(s + 1, &c->day) : NULL;
		if (!s || c->month < 1 || c->month > 12 || c->week < 1 || c->week > 5 || c->day > 6)
			return NULL;
	} else {
		c->kind = *s == 'J' ? 'J' : 0;
		if (!(s = read_number(s + (*s == 'J'), &c->day)) || c->day > 365 || (c->kind && !c->day))
			return NULL;
	}
	return *s == '/' ? read_time(s + 1, &c->time) : s;
}

/* "CET-1CEST,M3.5.0,M10.5.0/3"; false: it is no rule. */
static bool read_rule(const char *s, struct rule *r)
{
	*r = (struct rule) { 0 };
	if (!(s = skip_name(s)) || !(s = read_time(s, &r->standard)))
		return false;
	r->standard = -r->standard;	/* POSIX counts to the west */
	r->known = true;
	if (!*s)
		return true;
	r->summer = r->standard + 3600;
	if (!(s = skip_name(s)))
		return false;
	if (*s != ',') {
		if (!(s = read_time(s, &r->summer)))
			return false;
		r->summer = -r->summer;
	}
	r->has_summer = true;
	return (s = read_change(s, &r->begin)) && (s = read_change(s, &r->end)) && !*s;
}

/* -- the file --------------------------------------------------------------- */

struct header {
	unsigned char version;
	uint32_t isut, isstd, leaps, times, types, chars;
};

static int64_t big_endian(const unsigned char *b, unsigned n)
{
	uint64_t v = b[0] & 0x80 ? UINT64_MAX : 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | b[i];
	return (int64_t) v;
}

static bool read_header(const unsigned char *b, size_t size, struct header *h)
{
	uint32_t *count[] = { &h->isut, &h->isstd, &h->leaps, &h->times, &h->types, &h->chars };

	if (size < 44 || memcmp(b, "TZif", 4))
		return false;
	h->version = b[4];
	for (unsigned i = 0; i < 6; i++) {
		int64_t n = big_endian(b + 20 + 4 * i, 4);

		if (n < 0 || n > MOST_BYTES)
			return false;
		*count[i] = (uint32_t) n;
	}
	return h->types > 0 && h->types <= 256;
}

static size_t size_of(const struct header *h, size_t time)
{
	return h->times * (time + 1) + h->types * (size_t) 6 + h->chars + h->leaps * (time + 4) + h->isstd + h->isut;
}

/* The list of a block whose times have so many bytes. */
static bool read_list(struct sl_zone *z, const unsigned char *b, const struct header *h, unsigned time)
{
	const unsigned char *index = b + h->times * (size_t) time, *type = index + h->times;

	z->at = calloc(h->times + (size_t) 1, sizeof(*z->at));
	z->offset = calloc(h->times + (size_t) 1, sizeof(*z->offset));
	if (!z->at || !z->offset)
		return false;
	z->first = (int32_t) big_endian(type, 4);
	for (uint32_t i = 0; i < h->times; i++) {
		if (index[i] >= h->types)
			return false;
		z->at[i] = big_endian(b + i * (size_t) time, time);
		z->offset[i] = (int32_t) big_endian(type + 6 * (size_t) index[i], 4);
		if ((i && z->at[i] <= z->at[i - 1]) || z->offset[i] < -2 * DAY || z->offset[i] > 2 * DAY)
			return false;
	}
	z->transitions = h->times;
	return z->first >= -2 * DAY && z->first <= 2 * DAY;
}

static bool read_file(struct sl_zone *z, const unsigned char *b, size_t size)
{
	char footer[128];
	struct header h;
	size_t skip, n;

	if (!read_header(b, size, &h) || size - 44 < size_of(&h, 4))
		return false;
	if (!h.version)
		return read_list(z, b + 44, &h, 4);
	skip = 44 + size_of(&h, 4);
	if (!read_header(b + skip, size - skip, &h) || size - skip - 44 < size_of(&h, 8) ||
	    !read_list(z, b + skip + 44, &h, 8))
		return false;
	skip += 44 + size_of(&h, 8);
	n = size - skip;
	if (n < 2 || b[skip] != '\n' || b[size - 1] != '\n' || n - 2 >= sizeof(footer))
		return false;
	memcpy(footer, b + skip + 1, n - 2);
	footer[n - 2] = 0;
	return !*footer || read_rule(footer, &z->rule);
}

struct sl_zone *sl_zone_create(const void *bytes, size_t size, struct sl_error *err)
{
	struct sl_zone *z = calloc(1, sizeof(*z));

	if (!z) {
		sl_fail(err, SL_ENOMEM, "out of memory");
		return NULL;
	}
	if (read_file(z, bytes, size))
		return z;
	sl_zone_destroy(z);
	sl_fail(err, SL_EFORMAT, "not a file of the time zone database");
	return NULL;
}

void sl_zone_destroy(struct sl_zone *z)
{
	if (!z)
		return;
	free(z->at);
	free(z->offset);
	free(z);
}

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	return n && n < 64 && name[0] != '/' && !strstr(name, "..") &&
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") == n;
}

/* All bytes of a plain file that begins as a zone does, malloc'ed; beside zones the database has their tables, and
 * directories.  NULL: there is none. */
static void *read_bytes(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *bytes = fd >= 0 ? malloc(MOST_BYTES) : NULL;
	ssize_t n = 0;

	for (*size = 0; bytes && (n = read(fd, bytes + *size, MOST_BYTES - *size)) > 0; )
		*size += (size_t) n;
	if (fd >= 0)
		close(fd);
	if (bytes && n == 0 && *size >= 4 && !memcmp(bytes, "TZif", 4))
		return bytes;
	free(bytes);
	return NULL;
}

struct sl_zone *sl_zone_read(const char *name, struct sl_error *err)
{
	char path[PATH_MAX] = MACHINE;
	struct sl_zone *z;
	size_t size;
	void *bytes;

	if (*name && !is_name(name)) {
		sl_fail(err, SL_ENOENT, "'%.80s' is no name of a time zone", name);
		return NULL;
	}
	if (*name)
		snprintf(path, sizeof(path), ZONES "%s", name);
	if (!(bytes = read_bytes(path, &size)) && *name) {
		sl_fail(err, SL_ENOENT, "there is no time zone '%.80s' on this machine", name);
		return NULL;
	}
	if (!bytes) {	/* UTC */
		if (!(z = calloc(1, sizeof(*z))))
			sl_fail(err, SL_ENOMEM, "out of memory");
		return z;
	}
	z = sl_zone_create(bytes, size, err);
	if (!z)
		sl_fail_in(err, "%s", path);
	free(bytes);
	return z;
}

/* -- asking ----------------------------------------------------------------- */

/* How many transitions are at or before *t*. */
static uint32_t passed(const struct sl_zone *z, int64_t t)
{
	uint32_t low = 0, high = z->transitions;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (z->at[middle] <= t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int32_t sl_zone_offset(const struct sl_zone *z, int64_t t)
{
	uint32_t n = passed(z, t);

	if (n == z->transitions && z->rule.known)
		return offset_by_rule(&z->rule, t);
	return n ? z->offset[n - 1] : z->first;
}

struct sl_wall sl_zone_wall(const struct sl_zone *z, int64_t t)
{
	int64_t local = t + sl_zone_offset(z, t), days = floor_div(local, DAY), rest = local - days * DAY;
	struct sl_wall w;

	date_of(days, &w);
	w.hour = (int) (rest / 3600);
	w.minute = (int) (rest / 60 % 60);
	w.second = (int) (rest % 60);
	return w;
}

static int64_t local_of(const struct sl_zone *z, int64_t t)
{
	return t + sl_zone_offset(z, t);
}

int64_t sl_zone_instant(const struct sl_zone *z, const struct sl_wall *wall)
{
	int64_t local = days_of(wall->year, wall->month, wall->day) * DAY + wall->hour * INT64_C(3600) +
		wall->minute * INT64_C(60) + wall->second;
	int64_t a = local - sl_zone_offset(z, local - 2 * DAY), b = local - sl_zone_offset(z, local + 2 * DAY);
	int64_t low = a < b ? a : b, high = a < b ? b : a, middle;

	if (local_of(z, low) == local)
		return low;
	if (local_of(z, high) == local && sl_zone_offset(z, low) == sl_zone_offset(z, high))
		return high;
	/* clocks are set forward over it, or it is between two changes: the first that shows no less */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (local_of(z, middle) < local)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t sl_zone_next(const struct sl_zone *z, int64_t t)
{
	uint32_t n = passed(z, t);
	int64_t year, first = INT64_MAX;

	if (n < z->transitions)
		return z->at[n];
	if (!z->rule.has_summer)
		return INT64_MAX;
	year = year_of(t);
	for (int64_t y = year - 1; y <= year + 1; y++) {
		int64_t change[] = { summer_begins(&z->rule, y), summer_ends(&z->rule, y) };

		for (unsigned i = 0; i < 2; i++)
			if (change[i] > t && change[i] < first)
				first = change[i];
	}
	return first;
}
