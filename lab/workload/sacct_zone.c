/* SPDX-License-Identifier: MIT */
/*
 * workload/sacct_zone.c - times that sacct printed in a zone where clocks are set forward and back.
 *
 * In the hour that comes twice a time is either of two.  Which one a start and an end were follows from how long the job
 * ran; a submission is the second where it would else lie before that of a row above, since sacct lists jobs by their numbers.
 */
#include "workload/sacct.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/lines.h"
#include "base/number.h"
#include "base/zone.h"

/* A time that clocks showed: the first instant at which they did, and the second, or the first again. */
struct shown {
	bool is;
	int64_t first, second;
};

/* Is a local time, without its offset and no number of seconds. */
static bool is_local(const char *text)
{
	const char *clock = strpbrk(text, "Tt ");

	return strchr(text, '-') && !(clock && strpbrk(clock, "+-Zz"));
}

static struct shown read_shown(const struct sl_zone *z, const char *text)
{
	struct shown s = { 0 };
	struct sl_wall wall;
	int64_t t, change, back;
	time_t as_utc;
	struct tm tm;

	if (!is_local(text) || !sl_scan_time(text, &t))
		return s;
	as_utc = t;
	gmtime_r(&as_utc, &tm);
	wall = (struct sl_wall) {
		.year = tm.tm_year + 1900, .month = tm.tm_mon + 1, .day = tm.tm_mday, .hour = tm.tm_hour, .minute = tm.tm_min, .second = tm.tm_sec,
	};
	s.is = true;
	s.first = s.second = sl_zone_instant(z, &wall);
	change = sl_zone_next(z, s.first);
	if (change == INT64_MAX)
		return s;
	back = sl_zone_offset(z, s.first) - sl_zone_offset(z, change);
	if (back > 0 && s.first + back >= change)
		s.second = s.first + back;
	return s;
}

/* The first of its two instants from *t* on, or else its second. */
static int64_t not_before(const struct shown *s, int64_t t)
{
	return s->first >= t ? s->first : s->second;
}

static void put(struct sl_sacct *d, enum sl_sacct_used column, int which, const struct shown *s, int64_t t)
{
	if (!s->is)
		return;
	snprintf(d->instant[which], sizeof(d->instant[which]), "%" PRId64, t);
	d->text[column] = d->instant[which];
}

/* Of the instants at which it may have started and ended those that are as far apart as it ran, suspended or not. */
static void match_run(const struct sl_sacct *d, const struct shown *start, const struct shown *end, int64_t from, int64_t *started,
		      int64_t *ended)
{
	const int64_t starts[] = { not_before(start, from), start->second }, ends[] = { end->first, end->second };
	int64_t ran, suspended = 0;

	*started = starts[0];
	*ended = not_before(end, starts[0]);
	if (!end->is || (!sl_scan_whole(d->text[SL_SACCT_ELAPSEDRAW], &ran) && !sl_scan_duration(d->text[SL_SACCT_ELAPSED], &ran)))
		return;
	sl_scan_duration(d->text[SL_SACCT_SUSPENDED], &suspended);
	for (int i = 0; i < 4; i++)
		if (ends[i % 2] - starts[i / 2] == ran + suspended) {
			*started = starts[i / 2];
			*ended = ends[i % 2];
			return;
		}
}

void sl_sacct_tell_instants(struct sl_sacct *d)
{
	struct shown submit, eligible, start, end;
	int64_t submitted, from, started, ended;

	if (!d->zone)
		return;
	submit = read_shown(d->zone, d->text[SL_SACCT_SUBMIT]);
	eligible = read_shown(d->zone, d->text[SL_SACCT_ELIGIBLE]);
	start = read_shown(d->zone, d->text[SL_SACCT_START]);
	end = read_shown(d->zone, d->text[SL_SACCT_END]);
	submitted = not_before(&submit, d->submitted);
	if (submit.is && submitted > d->submitted)
		d->submitted = submitted;
	from = eligible.is ? not_before(&eligible, submitted) : submitted;
	match_run(d, &start, &end, from, &started, &ended);
	put(d, SL_SACCT_SUBMIT, 0, &submit, submitted);
	put(d, SL_SACCT_ELIGIBLE, 1, &eligible, from);
	put(d, SL_SACCT_START, 2, &start, started);
	put(d, SL_SACCT_END, 3, &end, ended);
}
