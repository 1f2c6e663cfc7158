/* SPDX-License-Identifier: MIT */
/*
 * check/stops.c - jobs that the plan stops for others, and places that are held: see check.h, "Stops" and "Held places".
 *
 * A wrong stop costs the reservation of the job for which it is, and with that all of its stops.  That what is stopped is
 * enough, the sweep finds: a job that is stopped ends there when it is expected to, and all others when they end by themselves.
 * That each group is needed is found here: with it, something on the nodes of the place would be too much.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- what Slurm allows ------------------------------------------------------- */

static bool requeues(const struct check *c, uint32_t j)
{
	uint32_t own = c->snap->job.preempt_mode[j];

	return c->snap->job.flags[j] & SL_JOBF_REQUEUE && own != SL_STOP_NONE && own != SL_STOP_SUSPEND;
}

/* Why the job may not be stopped for the other; NULL: it may. */
static const char *not_allowed(const struct check *c, uint32_t i, uint32_t j, uint32_t other)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t mode = c->plan->stop.mode[i];

	if (job->state[j] != SL_JOB_RUNNING || job->flags[j] & SL_JOBF_COMPLETING)
		return "does not run";
	if (job->start_time[j] != c->plan->stop.start_time[i])
		return "is in another run";
	if (job->preempt_time[j])
		return "is being stopped already";
	if (job->preempt_mode[j] == SL_STOP_NONE || !(job->flags[other] & SL_JOBF_MAY_PREEMPT) ||
	    !sl_snapshot_preempts(c->snap, other, j))
		return "may not be preempted by it";
	if (job->preempt_mode[j] == SL_STOP_SUSPEND && job->safe_until[j] <= 0)
		return "would be suspended, and keeps memory or gres";
	if (job->preempt_from[j] <= 0 || job->preempt_from[j] > c->now)
		return "may not be preempted yet";
	if (mode != SL_STOP_NONE && mode != job->preempt_mode[j] &&
	    !(requeues(c, j) && (mode == SL_STOP_REQUEUE || mode == SL_STOP_EXPEDITE)))
		return "may not be stopped in that way";
	return c->plan->stop.cost[i] >= 0 ? NULL : "would cost less than nothing";
}

/* True if the first job was stopped for the second, or for one that was stopped for it, and so on. */
static bool was_stopped_for(const struct check *c, uint32_t first, uint32_t second, uint32_t depth)
{
	const struct sl_stopped_view *v = &c->snap->stopped;

	for (uint32_t r = 0; r < v->rows && depth; r++)
		if (v->job[r] == first && (v->preemptor[r] == second || was_stopped_for(c, v->preemptor[r], second, depth - 1)))
			return true;
	return false;
}

#define LONGEST_CIRCLE 8	/* stops that are followed back */

/* When it is expected to be gone if it is told to end now. */
static int64_t gone_at(const struct check *c, uint32_t j)
{
	int64_t grace = c->snap->job.grace_time[j], at = check_later(c->now, grace > SL_OVERDUE_S ? grace : SL_OVERDUE_S);

	return c->snap->job.preempt_mode[j] == SL_STOP_SUSPEND ? check_later(c->now, SL_OVERDUE_S) : at;
}

/* -- gangs ---------------------------------------------------------------------- */

/* What stands behind the word "gang" in a comment; NULL: the word is not in it. */
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

static bool is_same_gang(const struct check *c, uint32_t a, uint32_t b)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t het = job->het_job_id[a];
	const char *x = gang_name(check_str(c, job->comment[a])), *y = gang_name(check_str(c, job->comment[b]));
	size_t n;

	if ((het && het != SL_NONE) || (job->het_job_id[b] && job->het_job_id[b] != SL_NONE))
		return het == job->het_job_id[b];
	if (!x || !y || job->uid[a] != job->uid[b] || (*x == '=') != (*y == '='))
		return false;
	n = strcspn(x, " \t\n,;");
	return *x == '=' ? n == strcspn(y, " \t\n,;") && !strncmp(x, y, n) :
		job->array_job_id[a] != SL_NONE && job->array_job_id[a] == job->array_job_id[b];
}

static bool is_in_gang(const struct check *c, uint32_t j)
{
	uint32_t het = c->snap->job.het_job_id[j];

	return (het && het != SL_NONE) || gang_name(check_str(c, c->snap->job.comment[j]));
}

/* A job of the same gang that goes on; SL_NONE: there is none. */
static uint32_t find_left(const struct check *c, uint32_t i, uint32_t j)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;

	for (uint32_t k = 0; k < c->snap->job.rows; k++) {
		uint32_t other = k != j && c->snap->job.state[k] == SL_JOB_RUNNING && is_same_gang(c, j, k) ? c->stop_of[k] : i + 1;

		if (other != i + 1 && (!other || v->preemptor[other - 1] != v->preemptor[i] || v->group[other - 1] != v->group[i]))
			return k;
	}
	return SL_NONE;
}

/* -- one stop --------------------------------------------------------------------- */

/* The row of the reservation of that job; SL_NONE: it has none, or it was refused. */
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
	if (was_stopped_for(c, id[other], id[j], LONGEST_CIRCLE))
		return WRONG(c, other, j, "preempted it, or whoever did, a while ago");
	if (c->row[row].at < gone_at(c, j))
		return WRONG(c, other, j, "is not gone when it is to start");
	return 0;
}

static int check_gang(struct check *c, uint32_t i, uint32_t row)
{
	uint32_t j = check_find_job(c, c->plan->stop.job[i]);
	uint32_t left = j != SL_NONE && is_in_gang(c, j) ? find_left(c, i, j) : SL_NONE;

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

		/* (the place of a native one is not known) */
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
	return check_each(c, check_stop) < 0 ? -1 : check_each(c, check_gang);
}

int64_t check_stopped_at(const struct check *c, uint32_t j)
{
	uint32_t i = c->stop_of ? c->stop_of[j] : 0, row = i ? c->stop_row[i - 1] : SL_NONE;

	return row == SL_NONE || c->row[row].out ? INT64_MAX : gone_at(c, j);
}

/* -- is each group needed ----------------------------------------------------------- */

/* What is in use of one node at one instant. */
struct in_use {
	int64_t cores, memory, *gres;
};

static void add_use(struct in_use *u, const struct bill *b)
{
	u->cores += b->cores;
	u->memory += b->memory;
	for (uint32_t k = 0; k < b->kinds; k++)
		u->gres[b->kind[k]] += b->count[k];
}

static bool is_over(const struct check *c, const struct in_use *u, uint32_t node)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range has = s->node.gres[node];
	bool counts = s->meta.select_flags[0] & SL_SELECT_MEMORY && s->node.memory[node] > 0;

	if (u->cores > s->node.cores[node] || (counts && u->memory > s->node.memory[node]))
		return true;
	for (uint32_t k = 0; k < s->gres_kind.rows; k++) {
		int64_t have = 0;

		for (uint32_t i = has.first; i < has.first + has.count; i++)
			have += s->node_gres.kind[i] == k ? s->node_gres.count[i] : 0;
		if (u->gres[k] > have)
			return true;
	}
	return false;
}

/* The end of a bill if that group of the plan's stops went on. */
static int64_t end_without(const struct check *c, const struct bill *b, const struct row *r, uint32_t group)
{
	uint32_t i = b->planned || b->job == SL_NONE || !c->stop_of ? 0 : c->stop_of[b->job];
	int64_t stopped = b->planned || b->job == SL_NONE ? INT64_MAX : check_stopped_at(c, b->job);

	if (i && c->plan->stop.group[i - 1] == group && c->row[c->stop_row[i - 1]].job == r->job)
		return b->end;
	return stopped < b->end ? stopped : b->end;
}

struct node_bills {			/* all bills, node by node */
	uint32_t *first;		/* [node] in *bill; the next one's is where they end */
	uint32_t *bill;
};

static int index_bills(struct check *c, struct node_bills *x)
{
	uint32_t nodes = c->snap->node.rows, *next = calloc((size_t) nodes + 1, sizeof(*next));

	x->first = calloc((size_t) nodes + 2, sizeof(*x->first));
	x->bill = calloc((size_t) c->bills + 1, sizeof(*x->bill));
	if (!next || !x->first || !x->bill) {
		free(next);
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	}
	for (uint32_t i = 0; i < c->bills; i++)
		x->first[c->bill[i].node + 1]++;
	for (uint32_t n = 0; n < nodes; n++) {
		x->first[n + 1] += x->first[n];
		next[n] = x->first[n];
	}
	for (uint32_t i = 0; i < c->bills; i++)
		x->bill[next[c->bill[i].node]++] = i;
	free(next);
	return 0;
}

/* Would something be too much on the node at that instant, if the group went on? */
static bool is_short_at(struct check *c, const struct node_bills *x, const struct row *r, uint32_t group, uint32_t node, int64_t at,
			struct in_use *u)
{
	u->cores = u->memory = 0;
	memset(u->gres, 0, ((size_t) c->snap->gres_kind.rows + 1) * sizeof(*u->gres));
	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct bill *b = &c->bill[x->bill[i]];

		if (b->start <= at && end_without(c, b, r, group) > at && !check_is_out(c, b))
			add_use(u, b);
	}
	c->looked_at += x->first[node + 1] - x->first[node];
	return is_over(c, u, node);
}

/* ... or at some instant at which the job of the row runs. */
static bool is_short(struct check *c, const struct node_bills *x, const struct row *r, uint32_t group, uint32_t node,
		     struct in_use *u)
{
	bool has = false;

	for (uint32_t k = r->bills.first; k < r->bills.first + r->bills.count; k++)
		has |= c->bill[k].node == node;
	if (!has)
		return false;
	if (is_short_at(c, x, r, group, node, r->at, u))
		return true;
	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		int64_t at = c->bill[x->bill[i]].start;

		if (at > r->at && at < r->until && is_short_at(c, x, r, group, node, at, u))
			return true;
	}
	return false;
}

/* What else but the nodes' cores, memory and gres the job may need of it: licences, CPUs of their partition. */
static bool gives_something_else(const struct check *c, uint32_t j, const struct row *r)
{
	uint32_t most = c->snap->partition.max_cpus_per_node[r->partition];

	return (c->snap->job.licenses[j].count && c->snap->job.licenses[r->job].count) ||
		(most && most != SL_NONE && c->snap->job.partition[j] == r->partition);
}

/* Does the group of the stop give the row something? */
static bool is_needed(struct check *c, const struct node_bills *x, const struct row *r, uint32_t i, struct in_use *u)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;

	for (uint32_t k = 0; k < v->rows; k++) {
		uint32_t j = v->group[k] == v->group[i] && v->preemptor[k] == v->preemptor[i] ? check_find_job(c, v->job[k]) : SL_NONE;
		struct sl_range alloc = j == SL_NONE ? (struct sl_range) { 0, 0 } : c->snap->job.alloc[j];

		if (j != SL_NONE && gives_something_else(c, j, r))
			return true;
		for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++)
			if (is_short(c, x, r, v->group[i], c->snap->alloc.node[a], u))
				return true;
	}
	return false;
}

int check_needed(struct check *c)
{
	struct node_bills x = { NULL, NULL };
	struct in_use u = { .gres = calloc((size_t) c->snap->gres_kind.rows + 1, sizeof(*u.gres)) };
	int rc = !u.gres ? sl_fail(c->err, SL_ENOMEM, "check: out of memory") : c->plan->stop.rows ? index_bills(c, &x) : 0;

	for (uint32_t i = 0; !rc && i < c->plan->stop.rows; i++) {
		uint32_t row = c->stop_row[i];

		if (row == SL_NONE || c->row[row].out || is_needed(c, &x, &c->row[row], i, &u))
			continue;
		sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": job %" PRIu32 " is stopped for it in vain: it has its place without that",
			c->snap->job.id[c->row[row].job], c->plan->stop.job[i]);
		rc = check_refuse(c, row);
	}
	free(u.gres);
	free(x.first);
	free(x.bill);
	return rc;
}
