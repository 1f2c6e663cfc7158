/* SPDX-License-Identifier: MIT */
/*
 * check/stops.c - jobs that the plan stops for others, and held places: see check.h, "Stops" and "Held places".
 *
 * A wrong stop costs the reservation for which it is made, and thereby all its stops.  Whether the stops suffice is checked
 * by the sweep, in which a stopped job ends when it is expected to be gone, and all others at their own end.  Whether each
 * group is needed is checked in needed.c.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* -- what Slurm allows ------------------------------------------------------- */

static bool requeues(const struct check *c, uint32_t j)
{
	uint32_t own = c->snap->job.preempt_mode[j];

	return c->snap->job.flags[j] & SL_JOBF_REQUEUE && own != SL_STOP_NONE && own != SL_STOP_SUSPEND;
}

const char *check_slurm_spares(const struct check *c, uint32_t j, uint32_t other)
{
	const struct sl_job_view *job = &c->snap->job;

	if (job->state[j] != SL_JOB_RUNNING || job->flags[j] & SL_JOBF_COMPLETING)
		return "does not run";
	if (job->preempt_time[j])
		return "is being stopped already";
	if (job->preempt_mode[j] == SL_STOP_NONE || !(job->flags[other] & SL_JOBF_MAY_PREEMPT) ||
	    !sl_snapshot_preempts(c->snap, other, j))
		return "may not be preempted by it";
	return job->preempt_from[j] <= 0 || job->preempt_from[j] > c->now ? "may not be preempted yet" : NULL;
}

const char *check_spares(const struct check *c, uint32_t j, uint32_t other)
{
	const struct sl_job_view *job = &c->snap->job;
	const char *why = check_slurm_spares(c, j, other);

	return why ? why : job->preempt_mode[j] == SL_STOP_SUSPEND && job->safe_until[j] <= 0 ?
		"would be suspended, and keeps memory or gres" : NULL;
}

/* Why the plan may not stop the job of row *j* for the job of row *other* in the mode of stop row *i*; NULL if it may. */
static const char *not_allowed(const struct check *c, uint32_t i, uint32_t j, uint32_t other)
{
	const struct sl_job_view *job = &c->snap->job;
	const char *why = check_spares(c, j, other);
	uint32_t mode = c->plan->stop.mode[i];

	if (why)
		return why;
	if (job->start_time[j] != c->plan->stop.start_time[i])
		return "is in another run";
	if (mode != SL_STOP_NONE && mode != job->preempt_mode[j] &&
	    !(requeues(c, j) && (mode == SL_STOP_REQUEUE || mode == SL_STOP_EXPEDITE)))
		return "may not be stopped in that way";
	if (c->plan->stop.moves[i] > 1)
		return "is neither moved nor not moved";
	if (c->plan->stop.moves[i] && mode != SL_STOP_REQUEUE && mode != SL_STOP_EXPEDITE)
		return "is moved, and would not be requeued";
	return c->plan->stop.cost[i] >= 0 ? NULL : "would cost less than nothing";
}

/* Mark the rows of snapshot.stopped whose job is that one, or a job for which it was stopped, directly or by a chain of
 * stops. */
static int mark_circle(struct check *c, uint32_t id)
{
	const struct sl_stopped_view *v = &c->snap->stopped;
	uint32_t *found, n = 0, who = id;

	if (!c->circle && !(c->circle = calloc((size_t) v->rows + 1, sizeof(*c->circle))))
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	if (!(found = calloc((size_t) v->rows + 1, sizeof(*found))))
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	memset(c->circle, 0, v->rows * sizeof(*c->circle));
	c->circle_of = id;
	for (uint32_t next = 0; ; who = v->preemptor[found[next++]]) {
		for (uint32_t r = 0; r < v->rows; r++)
			if (v->job[r] == who && !c->circle[r]) {
				c->circle[r] = true;
				found[n++] = r;
			}
		if (next == n)
			break;
	}
	free(found);
	return 0;
}

/* 1 if the first job was stopped for the second, directly or by a chain of stops; 0 or -1. */
static int was_stopped_for(struct check *c, uint32_t first, uint32_t second)
{
	const struct sl_stopped_view *v = &c->snap->stopped;

	if ((!c->circle || c->circle_of != first) && mark_circle(c, first) < 0)
		return -1;
	for (uint32_t r = 0; r < v->rows; r++)
		if (c->circle[r] && v->preemptor[r] == second)
			return 1;
	return 0;
}

/* When the job is expected to be gone if it is told to end now. */
int64_t check_gone_at(const struct check *c, uint32_t j)
{
	int64_t grace = c->snap->job.grace_time[j], at = sl_sum_signed(c->now, grace > SL_OVERDUE_S ? grace : SL_OVERDUE_S);

	return c->snap->job.preempt_mode[j] == SL_STOP_SUSPEND ? sl_sum_signed(c->now, SL_OVERDUE_S) : at;
}

/* -- gangs ---------------------------------------------------------------------- */

/* What follows the word "gang" in a comment; NULL: the word is not there. */
static const char *gang_name(const char *text)
{
	static const char between[] = " \t\r\n\v\f,;";

	for (const char *at = text; *at; at += strcspn(at, between)) {
		at += strspn(at, between);
		if (!strncmp(at, "gang", 4) && (!at[4] || at[4] == '=' || strchr(between, at[4])))
			return at + 4;
	}
	return NULL;
}

/* A job and the key of its gang; members of a gang have equal keys. */
struct member {
	uint32_t job;			/* row */
	uint32_t het, array;		/* heterogeneous job; else array, or SL_NONE if the gang has a name */
	uint32_t uid;
	const char *name;
	size_t length;
};

static int by_gang(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return SL_ORDER(x->het, y->het) ?: SL_ORDER(x->array, y->array) ?: SL_ORDER(x->uid, y->uid) ?:
		SL_ORDER(x->length, y->length) ?: memcmp(x->name, y->name, x->length);
}

/* Returns false if the job is in no gang. */
static bool read_member(const struct check *c, uint32_t j, struct member *m)
{
	const struct sl_job_view *job = &c->snap->job;
	const char *name = gang_name(check_str(c, job->comment[j]));
	uint32_t het = job->het_job_id[j];

	*m = (struct member) { .job = j, .array = SL_NONE, .name = "" };
	if (het && het != SL_NONE) {
		m->het = het;
		return true;
	}
	if (!name)
		return false;
	m->uid = job->uid[j];
	if (*name == '=') {
		m->name = name;
		m->length = strcspn(name, " \t\n,;");
		return true;
	}
	m->array = job->array_job_id[j];
	return m->array != SL_NONE;
}

/* Number the gangs of running jobs. */
static int find_gangs(struct check *c)
{
	uint32_t jobs = c->snap->job.rows, n = 0, gang = 0;
	struct member *m = calloc((size_t) jobs + 1, sizeof(*m));

	c->gang = calloc((size_t) jobs + 1, sizeof(*c->gang));
	if (!m || !c->gang) {
		free(m);
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	}
	for (uint32_t j = 0; j < jobs; j++)
		n += c->snap->job.state[j] == SL_JOB_RUNNING && read_member(c, j, &m[n]);
	qsort(m, n, sizeof(*m), by_gang);
	for (uint32_t i = 0; i < n; i++) {
		gang += !i || by_gang(&m[i - 1], &m[i]);
		c->gang[m[i].job] = gang;
	}
	free(m);
	return 0;
}

/* True if the job may go on although others of its gang are stopped for *other*: Slurm spares it, and only a comment makes
 * the gang. */
static bool may_be_left(const struct check *c, uint32_t j, uint32_t other)
{
	uint32_t het = c->snap->job.het_job_id[j];

	return (!het || het == SL_NONE) && check_spares(c, j, other);
}

/* A job of the same gang that is not stopped but should be; SL_NONE: none. */
static uint32_t find_left(const struct check *c, uint32_t i, uint32_t j, uint32_t preemptor)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;

	for (uint32_t k = 0; c->gang[j] && k < c->snap->job.rows; k++) {
		uint32_t other = k != j && c->gang[k] == c->gang[j] ? c->stop_of[k] : i + 1;

		if (other != i + 1 && (!other || v->preemptor[other - 1] != v->preemptor[i] || v->group[other - 1] != v->group[i]) &&
		    !may_be_left(c, k, preemptor))
			return k;
	}
	return SL_NONE;
}

/* -- one stop --------------------------------------------------------------------- */

/* The row of the job's reservation; SL_NONE: none, or refused. */
static uint32_t find_reservation(const struct check *c, uint32_t job)
{
	for (uint32_t i = c->plan->start.rows; i < c->rows; i++)
		if (c->row[i].job == job && !c->row[i].out)
			return i;
	return SL_NONE;
}

#define WRONG(c, other, j, ...) sl_fail((c)->err, SL_EINVAL, "job %" PRIu32 ": job %" PRIu32 ", which is stopped for it, " __VA_ARGS__, \
				       (c)->snap->job.id[other], (c)->snap->job.id[j])

/* 0, or -1 with c->err. */
static int check_stop(struct check *c, uint32_t i, uint32_t row)
{
	uint32_t j = check_find_job(c, c->plan->stop.job[i]), other = c->row[row].job;
	const uint32_t *id = c->snap->job.id;
	const char *why;
	int circle;

	if (j == SL_NONE || j == other)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": job %" PRIu32 " is to be stopped for it, %s", id[other],
			       c->plan->stop.job[i], j == other ? "which is itself" : "which is not in the snapshot");
	if (c->stop_of[j])
		return WRONG(c, other, j, "is stopped twice");
	c->stop_of[j] = i + 1;
	if (!c->row[row].holds)
		return WRONG(c, other, j, "gives room to a place that nobody holds");
	if ((why = not_allowed(c, i, j, other)))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": job %" PRIu32 ", which is stopped for it, %s", id[other], id[j], why);
	if ((circle = was_stopped_for(c, id[other], id[j])))
		return circle < 0 ? -1 : WRONG(c, other, j, "preempted it, or whoever did, a while ago");
	if (c->row[row].at < check_gone_at(c, j))
		return WRONG(c, other, j, "is not gone when it is to start");
	return 0;
}

static int check_gang(struct check *c, uint32_t i, uint32_t row)
{
	uint32_t j = check_find_job(c, c->plan->stop.job[i]);
	uint32_t left = j != SL_NONE ? find_left(c, i, j, c->row[row].job) : SL_NONE;

	if (left == SL_NONE)
		return 0;
	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": job %" PRIu32 " is stopped for it without job %" PRIu32 ", which is of the "
		       "same gang", c->snap->job.id[c->row[row].job], c->snap->job.id[j], c->snap->job.id[left]);
}

static void note_holds(struct check *c)
{
	for (uint32_t i = 0; i < c->plan->hold.rows; i++) {
		uint32_t j = c->plan->hold.release[i] ? SL_NONE : check_find_job(c, c->plan->hold.job[i]);
		uint32_t row = j == SL_NONE ? SL_NONE : find_reservation(c, j);

		/* the place of a native job is unknown */
		if (row != SL_NONE && !c->row[row].native)
			c->row[row].holds = true;
	}
}

/* True if the plan has a reservation for the job, refused or not. */
static bool has_row(const struct check *c, uint32_t job)
{
	for (uint32_t i = c->plan->start.rows; job != SL_NONE && i < c->rows; i++)
		if (c->row[i].job == job)
			return true;
	return false;
}

static int check_each(struct check *c, int (*rule)(struct check *c, uint32_t i, uint32_t row))
{
	for (uint32_t i = 0; i < c->plan->stop.rows; i++) {
		uint32_t other = check_find_job(c, c->plan->stop.preemptor[i]);
		uint32_t row = other == SL_NONE ? SL_NONE : find_reservation(c, other);

		if (!c->stop_row[i] && !has_row(c, other))
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is stopped for job %" PRIu32 ", which has no reservation",
				       c->plan->stop.job[i], c->plan->stop.preemptor[i]);
		c->stop_row[i] = row;
		if (row != SL_NONE && rule(c, i, row) < 0 && check_refuse(c, row) < 0)
			return -1;
	}
	return 0;
}

int check_stops(struct check *c)
{
	c->stop_of = calloc((size_t) c->snap->job.rows + 1, sizeof(*c->stop_of));
	c->stop_row = calloc((size_t) c->plan->stop.rows + 1, sizeof(*c->stop_row));
	if (!c->stop_of || !c->stop_row)
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	note_holds(c);
	if (c->plan->stop.rows && find_gangs(c) < 0)
		return -1;
	return check_each(c, check_stop) < 0 ? -1 : check_each(c, check_gang);
}

int64_t check_stopped_at(const struct check *c, uint32_t j)
{
	uint32_t i = c->stop_of ? c->stop_of[j] : 0, row = i ? c->stop_row[i - 1] : SL_NONE;

	return row == SL_NONE || c->row[row].out ? INT64_MAX : check_gone_at(c, j);
}
