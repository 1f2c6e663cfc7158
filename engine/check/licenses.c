/* SPDX-License-Identifier: MIT */
/* check/licenses.c - whether licences suffice at every instant. */
#include "check/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"

uint32_t check_licenses_of(const struct check *c, uint32_t j, uint32_t license)
{
	struct sl_range l = c->snap->job.licenses[j];
	uint32_t n = 0;

	for (uint32_t i = l.first; i < l.first + l.count; i++)
		if (c->snap->job_license.license[i] == license)
			n += c->snap->job_license.count[i];
	return n;
}

static bool has_alternatives(const struct check *c, uint32_t j)
{
	return (c->snap->job.asks[j] & SL_ASKS_ANY_LICENSE) && c->snap->job.licenses[j].count;
}

bool check_brings_licenses(const struct check *c, const struct row *r)
{
	return r->resv != SL_NONE && c->snap->reservation.licenses[r->resv].count;
}

int check_any_license(struct check *c, const struct row *r)
{
	struct sl_range l = c->snap->job.licenses[r->job];
	bool several = has_alternatives(c, r->job);

	for (uint32_t i = l.first; several && i < l.first + l.count; i++)
		if (c->snap->job_license.license[i] == r->license)
			return 0;
	if (r->license == SL_NONE && (!several || check_brings_licenses(c, r)))
		return 0;
	return check_fail(c, r, "has a licence that is none of its alternatives");
}

/* The smallest count among alternatives of one licence, because a row does not say which one it uses. */
static uint32_t smallest_of(const struct check *c, uint32_t j, uint32_t license)
{
	struct sl_range l = c->snap->job.licenses[j];
	uint32_t n = UINT32_MAX;

	for (uint32_t i = l.first; i < l.first + l.count; i++)
		if (c->snap->job_license.license[i] == license && c->snap->job_license.count[i] < n)
			n = c->snap->job_license.count[i];
	return n;
}

/* Count of a licence that a row uses.  (A schedule that has run does not say which alternative was used.) */
static uint32_t row_takes(const struct check *c, const struct row *r, uint32_t license)
{
	if (check_brings_licenses(c, r))
		return 0;
	if (!has_alternatives(c, r->job))
		return check_licenses_of(c, r->job, license);
	return r->license == license ? smallest_of(c, r->job, license) : 0;
}

struct change {
	int64_t at, count;
	uint32_t row;			/* planned row, or SL_NONE */
};

static int by_change(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return SL_ORDER(x->at, y->at) ?: SL_ORDER(x->count, y->count) ?: SL_ORDER(x->row, y->row);
}

/* Go through the changes of a licence in order of time, and refuse rows that exceed it.  *used*: in use before the first
 * change.  1: a refusal removed a row that may have begun earlier, so start again; 0; -1. */
static int walk_license(struct check *c, uint32_t l, const struct change *ch, uint32_t n, int64_t used)
{
	const struct sl_license_view *lic = &c->snap->license;
	int64_t have = (int64_t) lic->total[l] - lic->reserved[l];

	for (uint32_t i = 0; i < n; i++) {
		const struct row *r = ch[i].row == SL_NONE ? NULL : &c->row[ch[i].row];
		uint32_t before = c->cuts ? c->cuts->count : 0;
		char when[40] = "now";

		if (r && r->out)
			continue;
		used += ch[i].count;
		if (ch[i].count <= 0 || !r || used <= have)
			continue;
		if (ch[i].at > c->now)
			snprintf(when, sizeof(when), "in %" PRId64 " s", sl_difference(ch[i].at, c->now));
		check_fail(c, r, "%" PRId64 " of license %s in use %s, there are %" PRId64, used, check_str(c, lic->name[l]),
			   when, have);
		if (check_refuse(c, ch[i].row) < 0)
			return -1;
		if (c->cuts->count > before + 1)
			return 1;
		used -= ch[i].count;
	}
	return 0;
}

static int check_license(struct check *c, uint32_t l, struct change *ch, uint32_t n, int64_t used)
{
	int rc;

	qsort(ch, n, sizeof(*ch), by_change);
	do
		rc = walk_license(c, l, ch, n, used);
	while (rc > 0);
	return rc;
}

/* Add the changes by reservations that set it aside. */
static uint32_t add_reserved(const struct check *c, uint32_t l, struct change *ch, uint32_t n)
{
	const struct sl_reservation_view *v = &c->snap->reservation;

	for (uint32_t r = 0; r < v->rows; r++) {
		struct sl_range set = v->licenses[r];

		for (uint32_t i = set.first; i < set.first + set.count && v->end_time[r] > v->start_time[r]; i++) {
			int64_t has = c->snap->job_license.count[i];

			if (c->snap->job_license.license[i] != l)
				continue;
			ch[n++] = (struct change) { v->start_time[r], has, SL_NONE };
			ch[n++] = (struct change) { v->end_time[r], -has, SL_NONE };
		}
	}
	return n;
}

static bool runs(const struct check *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;

	return (job->state[j] == SL_JOB_RUNNING || job->state[j] == SL_JOB_SUSPENDED) && !(job->flags[j] & SL_JOBF_COMPLETING);
}

/* When a running job releases its licences.  A suspended job keeps them. */
static int64_t end_of(const struct check *c, uint32_t j)
{
	int64_t end = check_end(c, j), stopped = check_stopped_at(c, j);

	return stopped < end && c->snap->job.preempt_mode[j] != SL_STOP_SUSPEND ? stopped : end;
}

int check_licenses(struct check *c)
{
	const struct sl_snapshot *s = c->snap;
	struct change *ch;
	size_t reserved = 0;
	int rc;

	for (uint32_t r = 0; r < s->reservation.rows; r++)
		reserved += s->reservation.licenses[r].count;
	ch = calloc(s->job.rows + 2 * (c->rows + reserved) + 1, sizeof(*ch));
	rc = ch ? 0 : sl_fail(c->err, SL_ENOMEM, "check: out of memory");

	for (uint32_t l = 0; !rc && l < s->license.rows; l++) {
		int64_t running = 0, used = s->license.used[l];
		uint32_t n = 0;

		for (uint32_t j = 0; j < s->job.rows; j++) {
			uint32_t has = runs(c, j) ? check_licenses_of(c, j, l) : 0;

			running += has;
			if (has && end_of(c, j) != INT64_MAX)
				ch[n++] = (struct change) { end_of(c, j), -(int64_t) has, SL_NONE };
		}
		for (uint32_t i = 0; i < c->rows; i++) {
			const struct row *r = &c->row[i];
			uint32_t takes = r->out ? 0 : row_takes(c, r, l);

			if (!takes)
				continue;
			ch[n++] = (struct change) { r->at, takes, i };
			if (r->until != INT64_MAX)
				ch[n++] = (struct change) { r->until, -(int64_t) takes, i };
		}
		n = add_reserved(c, l, ch, n);
		rc = check_license(c, l, ch, n, used > running ? used : running);
	}
	free(ch);
	return rc;
}

/* -- if some stopped jobs went on ---------------------------------------------------- */

static int64_t reserved_at(const struct check *c, uint32_t l, int64_t at)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	int64_t n = 0;

	for (uint32_t r = 0; r < v->rows; r++)
		for (uint32_t i = v->licenses[r].first; i < v->licenses[r].first + v->licenses[r].count; i++)
			n += c->snap->job_license.license[i] == l && v->start_time[r] <= at && at < v->end_time[r] ?
				c->snap->job_license.count[i] : 0;
	return n;
}

static bool is_short_at(const struct check *c, uint32_t l, const bool *goes_on, int64_t at)
{
	const struct sl_license_view *lic = &c->snap->license;
	int64_t running = 0, ended = 0, used = reserved_at(c, l, at);

	for (uint32_t j = 0; j < c->snap->job.rows; j++) {
		uint32_t has = runs(c, j) ? check_licenses_of(c, j, l) : 0;

		running += has;
		ended += has && (goes_on[j] ? check_end(c, j) : end_of(c, j)) <= at ? has : 0;
	}
	for (uint32_t i = 0; i < c->rows; i++)
		used += !c->row[i].out && c->row[i].at <= at && at < c->row[i].until ? row_takes(c, &c->row[i], l) : 0;
	used += (lic->used[l] > running ? lic->used[l] : running) - ended;
	return used > (int64_t) lic->total[l] - lic->reserved[l];
}

/* True if the licence is short at some time while the row runs, at which some of it is taken. */
static bool is_short(const struct check *c, const struct row *r, uint32_t l, const bool *goes_on)
{
	const struct sl_reservation_view *v = &c->snap->reservation;

	if (is_short_at(c, l, goes_on, r->at))
		return true;
	for (uint32_t i = 0; i < c->rows; i++)
		if (!c->row[i].out && c->row[i].at > r->at && c->row[i].at < r->until && row_takes(c, &c->row[i], l) &&
		    is_short_at(c, l, goes_on, c->row[i].at))
			return true;
	for (uint32_t i = 0; i < v->rows; i++)
		if (v->licenses[i].count && v->start_time[i] > r->at && v->start_time[i] < r->until &&
		    is_short_at(c, l, goes_on, v->start_time[i]))
			return true;
	return false;
}

bool check_license_short(const struct check *c, const struct row *r, const bool *goes_on)
{
	for (uint32_t l = 0; l < c->snap->license.rows; l++)
		if (row_takes(c, r, l) && is_short(c, r, l, goes_on))
			return true;
	return false;
}

int64_t check_license_left(const struct check *c, uint32_t l, const struct row *r, const bool *gone)
{
	const struct sl_license_view *lic = &c->snap->license;
	int64_t at = r->at, running = 0, ended = 0, used = reserved_at(c, l, at);

	for (uint32_t j = 0; j < c->snap->job.rows; j++) {
		uint32_t has = runs(c, j) ? check_licenses_of(c, j, l) : 0;
		bool keeps = c->snap->job.preempt_mode[j] == SL_STOP_SUSPEND;

		running += has;
		ended += has && (end_of(c, j) <= at || (gone[j] && !keeps)) ? has : 0;
	}
	for (uint32_t i = 0; i < c->rows; i++)
		used += !c->row[i].out && c->row[i].job != r->job && c->row[i].at <= at && at < c->row[i].until ? row_takes(c, &c->row[i], l) : 0;
	used += (lic->used[l] > running ? lic->used[l] : running) - ended;
	return (int64_t) lic->total[l] - lic->reserved[l] - used;
}
