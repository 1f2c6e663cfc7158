/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start.c - see start.h */
#include "plugin/commit/check.h"
#include "plugin/commit/counts.h"
#include "plugin/commit/full.h"
#include "plugin/commit/hold.h"
#include "plugin/commit/launch.h"
#include "plugin/commit/room.h"
#include "plugin/commit/start.h"
#include "plugin/commit/strayed.h"
#include "plugin/request/env.h"
#include "plugin/request/lend.h"
#include "plugin/request/shape.h"

/* How long a job that cannot start is left out of the plans. */
#define LIMIT_REST_S 10u
#define MAX_REST_S 30u

/* How long a job is not lent nodes after a partition, or select, has refused it. */
#define UNLENT_REST_S 30u

static bool give_up(struct sl_start *s, enum sl_fate fate, const char *why)
{
	s->fate = fate;
	snprintf(s->text, 160, "%s", why);
	return false;
}

static struct sl_note *note_of(const struct sl_start *s)
{
	return sl_note_write(s->m->notes, s->job_id, s->m->c->snap.job.submit_time[s->row]);
}

/* A job that starts at its first try has no note, and gets none here: notes are few, and a new one displaces another. */
static void forget_refusals(const struct sl_start *s)
{
	const struct sl_note *note = sl_note_read(s->m->notes, s->job_id, s->m->c->snap.job.submit_time[s->row]);

	if (note->refusals || note->unfit)
		note_of(s)->refusals = note_of(s)->unfit = 0;
}

/* -- the time limit ----------------------------------------------------------- */

/* The time limit with which the job starts, in minutes: the smallest of the plan's, the partition's and what the deadline
 * leaves; but never less than time_min. */
static uint32_t start_limit(const job_record_t *job, int64_t plan_s)
{
	uint32_t limit = sl_job_walltime(job, job->part_ptr), left;

	if (plan_s > 0 && plan_s / 60 < limit)
		limit = (uint32_t) MAX(plan_s / 60, 1);
	if (job->deadline && job->deadline != (time_t) NO_VAL) {
		left = (uint32_t) MAX((job->deadline - time(NULL)) / 60, 1);
		limit = MIN(limit, left);
	}
	return MAX(limit, job->time_min);
}

/* -- the places of the plan ------------------------------------------------------ */

/* Read the plan's places, in node order.  NULL, or a text that says what is wrong with them. */
static const char *get_places(struct sl_start *s)
{
	const struct sl_plan_image *plan = s->m->plan;
	struct sl_range r = s->places;
	uint32_t i;

	s->place = xcalloc(MAX(r.count, 1), sizeof(*s->place));
	for (i = 0; i < r.count; i++) {
		const node_record_t *node = sl_collect_node(s->m->c, plan->place.node[r.first + i]);

		if (!node)
			return "a node of the plan is gone, or another one now";
		s->place[i].node = (uint32_t) s->m->c->node_index[plan->place.node[r.first + i]];
		s->place[i].cores = plan->place.cores[r.first + i];
		s->place[i].tasks = plan->place.tasks[r.first + i];
		if (!s->place[i].cores || (i && s->place[i].node <= s->place[i - 1].node))
			return "the plan's places make no sense";
	}
	s->count = r.count;
	return r.count ? NULL : "the plan has no places for it";
}

/* In select_nodes() the places replace what the request says of nodes, so that is checked here.  (Select still checks
 * excluded nodes, memory and the like, and features except those with counts: counts.h.) */
static const char *check_places(const struct sl_start *s)
{
	const sl_details_t *d = s->job->details;
	uint32_t i, found = 0;

	if (s->count < d->min_nodes || (d->max_nodes && s->count > d->max_nodes))
		return "the plan has another number of nodes than it asks for";
#if SL_HAVE_NODE_COUNTS
	if (d->job_size_bitmap && (s->count >= bit_size(d->job_size_bitmap) || !bit_test(d->job_size_bitmap, s->count)))
		return "the plan has a number of nodes that is none of those it asks for";
#endif
	if (!d->req_node_bitmap)
		return NULL;
	for (i = 0; i < s->count; i++)
		found += bit_test(d->req_node_bitmap, s->place[i].node) != 0;
	return found == (uint32_t) bit_set_count(d->req_node_bitmap) ? NULL :
		"the plan lacks a node that it requires";
}

/* -- the job as one of its alternatives -------------------------------------------- */

/* Give the record the request back that the job had before take_shape(). */
static void put_request_back(const struct sl_start *s, job_record_t *job)
{
	const struct sl_asked *original = s->shape ? sl_asked_find(s->m->asked, s->job_id) : NULL;

	if (!original || !job->details)
		return;
	sl_asked_put(job, original);
	sl_env_clear(job->details);
	sl_asked_put_limit(job, original);
}

/* Make the record ask for the shape that the plan names.  NULL, or a text that says why it cannot. */
static const char *take_shape(struct sl_start *s)
{
	const struct sl_snapshot *snap = &s->m->c->snap;
	struct sl_range shapes = snap->job.shapes[s->row];
	const char *why;

	if (!s->shape)
		return NULL;
	if (s->shape > shapes.count)
		return "the plan names an alternative that it does not have";
	/* the engine knew this from the snapshot; the plug-in checks again */
	if (snap->shape.refused[shapes.first + s->shape - 1])
		return "the plan names an alternative that it may not be started as";
	if (!s->part)
		return "its partition is gone";
	if (!sl_asked_add(s->m->asked, s->job))
		return (why = sl_shape_never(s->job)) ? why : "too many jobs run as one of their alternatives";
	why = sl_shape_put(s->job, s->part, snap, shapes.first + s->shape - 1, s->shape);
	if (why)
		put_request_back(s, s->job);
	return why;
}

static void tell_unnoted(const struct sl_start *s)
{
	struct sl_note *note = note_of(s);

	if (!(note->told & SL_TOLD_UNNOTED))
		info("sched/lua: JobId=%u: the time limit that it names cannot be kept while it runs with a shorter one: requeued, it "
		     "asks for that", s->job_id);
	note->told |= SL_TOLD_UNNOTED;
}

/* The job runs.  If its shape or time limit is not the one that it asked for, keep its request in the book, and let the
 * waiting tasks of its array have that request again. */
static void note_altered(const struct sl_start *s, uint32_t limit)
{
	struct sl_asked_book *book = s->m->asked;
	struct sl_asked *original = sl_asked_find(book, s->job_id);
	struct sl_asked unkept = { .time_limit = limit };
	job_record_t *rest = find_job_record(s->job_id);

	if (!s->shape && s->job->time_limit == sl_job_limit(limit, s->part)) {
		sl_asked_forget(book, s->job_id);
		return;
	}
	if (!original && !(original = sl_asked_add(book, s->job))) {
		tell_unnoted(s);
		original = &unkept;
	}
	if (!s->shape)		/* the entry may have been made just now, with the limit that was set for the start */
		original->time_limit = limit;
	if (rest && rest != s->job && rest->details) {
		put_request_back(s, rest);
		sl_asked_put_limit(rest, original);
	}
	if (original != &unkept)
		sl_asked_started(book, s->job, original, s->shape != 0);
}

/* -- borrowed nodes ------------------------------------------------------------- */

/* The record of the partition in that row of the snapshot, or NULL. */
static part_record_t *part_of(const struct sl_start *s, uint32_t row)
{
	const struct sl_collector *c = s->m->c;

	if (row >= c->snap.partition.rows)
		return NULL;
	return find_part_record((char *) sl_snapshot_str(&c->snap, c->snap.partition.name[row]));
}

/* Does a place of the plan lie in the partition? */
static bool has_place_in(const struct sl_start *s, const part_record_t *part)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (bit_test(part->node_bitmap, s->place[i].node))
			return true;
	return false;
}

/* NULL if every place is in the job's partition or a lender's, and in the partition through which the job starts. */
static const char *check_loan(const struct sl_start *s)
{
	const struct sl_plan_lender_view *lender = &s->m->plan->lender;
	const char *why;
	uint32_t i, k;

	if (s->native || !s->count)
		return "only select can place it, and not on borrowed nodes";
	for (k = s->lenders.first; k < s->lenders.first + s->lenders.count; k++) {
		part_record_t *part = part_of(s, lender->partition[k]);

		if (!part || part->magic != PART_MAGIC || !part->node_bitmap)
			return "a partition that lends it nodes is gone";
		if (has_place_in(s, part) && (why = sl_lend_refused(s->job, part, s->count)))
			return why;
	}
	for (i = 0; i < s->count; i++) {
		bool in = bit_test(s->part->node_bitmap, s->place[i].node);

		for (k = s->lenders.first; k < s->lenders.first + s->lenders.count && !in; k++)
			in = bit_test(part_of(s, lender->partition[k])->node_bitmap, s->place[i].node);
		if (!in || !bit_test(s->lend->node_bitmap, s->place[i].node))
			return "a node is not in the partitions that it may have nodes of";
	}
	return NULL;
}

/* The names of the lenders whose nodes the job gets. */
static char *lender_names(const struct sl_start *s)
{
	char *names = NULL;
	uint32_t k;

	for (k = s->lenders.first; k < s->lenders.first + s->lenders.count; k++) {
		part_record_t *part = part_of(s, s->m->plan->lender.partition[k]);

		if (has_place_in(s, part))
			xstrfmtcat(names, "%s%s", names ? "," : "", part->name);
	}
	return names;
}

/* -- nodes that others have reserved ------------------------------------------------ */

/* Until when the plan has booked nodes for the job if it starts now: its expected end if the plan states one, else its
 * time limit. */
static time_t booked_until(const struct sl_start *s)
{
	uint32_t limit = sl_job_walltime(s->job, s->part);

	if (s->expected > 0)
		return time(NULL) + s->expected;
	return limit == INFINITE ? INT64_MAX : time(NULL) + (time_t) limit * 60;
}

/* Close a node of the snapshot to the job.  Not looked up by name, since there may be very many: if the index is another
 * node's now, that one is closed. */
static void close_node(struct sl_start *s, uint32_t row)
{
	if (s->m->c->node_index[row] >= node_record_count)
		return;
	if (!s->keep_off)
		s->keep_off = bit_alloc(node_record_count);
	bit_set(s->keep_off, s->m->c->node_index[row]);
}

static void keep_off_reserved(struct sl_start *s, time_t end)
{
	const struct sl_plan_image *plan = s->m->plan;
	uint32_t r, k;

	for (r = 0; r < s->behind; r++) {
		struct sl_range places = plan->reserve.places[r];

		if (plan->reserve.job[r] == s->job_id || plan->reserve.start_time[r] >= end)
			continue;
		for (k = places.first; k < places.first + places.count; k++)
			close_node(s, plan->place.node[k]);
	}
}

static void keep_off_blocked(struct sl_start *s, time_t end)
{
	const struct sl_plan_image *plan = s->m->plan;
	time_t now = time(NULL);
	uint32_t b, k, row;

	for (b = 0; b < s->blocks; b++) {
		struct sl_range runs = plan->block.nodes[b];

		if (plan->block.start_time[b] >= end || plan->block.end_time[b] <= now)
			continue;
		for (k = runs.first; k < runs.first + runs.count; k++)
			for (row = plan->node_run.first[k]; row <= plan->node_run.last[k]; row++)
				close_node(s, row);
	}
}

/* Find the nodes on which select may not put the job (plan_image.h). */
static void find_keep_off(struct sl_start *s)
{
	time_t end = booked_until(s);

	keep_off_reserved(s, end);
	keep_off_blocked(s, end);
}

/* Find all nodes that are closed to the job. */
static void close_nodes(struct sl_start *s)
{
	if (s->closed)
		return;
	if (s->native)
		find_keep_off(s);
	sl_hold_keep_off(s->m, s->job_id, &s->keep_off);
	s->closed = true;
}

/* -- through select_nodes() ------------------------------------------------------- */

/* select_nodes() under the federation's lock. */
static int select_fed(struct sl_start *s, struct sl_cores *cores, enum sl_layout_way *way, bool *exact)
{
	job_record_t *job = s->job;
	time_t preempted;
	int rc;

	if (fed_mgr_job_lock(job))
		return ESLURM_FED_JOB_LOCK;
	preempted = sl_hold_quiet_begin(s->m, job);
	rc = sl_layout_start(job, s->place, s->native ? 0 : s->count, s->dealt, s->keep_off,
			     s->native ? sl_full_nodes(s->m, job, s->part, s->row) : NULL, cores, way, exact);
	sl_hold_quiet_end(job, preempted);
	if (rc == SLURM_SUCCESS)
		fed_mgr_job_start(job, job->start_time);
	else
		fed_mgr_job_unlock(job);
	return rc;
}

/* If nodes are borrowed the job is in the other partition during the call. */
static int select_lent(struct sl_start *s, struct sl_cores *cores, enum sl_layout_way *how, bool *exact)
{
	job_record_t *job = s->job;
	struct sl_lend lend;
	char *names;
	int rc;

	if (!s->lend)
		return select_fed(s, cores, how, exact);
	names = lender_names(s);
	sl_lend_begin(&lend, job, s->lend);
	rc = select_fed(s, cores, how, exact);
	if (rc == SLURM_SUCCESS) {
		sl_lend_keep(&lend, job, names ? names : "");
		sl_collect_note_lent(s->m->c, job->job_id);
	} else {
		sl_lend_undo(&lend, job);
	}
	xfree(names);
	return rc;
}

/*
 * Hold a job that select says can never start, as Slurm's own scheduler does.  Not if there may be another cause: the plan chose
 * the nodes, some nodes were closed to the job, it may start in another partition or reservation, Extra of a node may change, or
 * select was asked with the job's --prefer.
 */
static void hold_hopeless(const struct sl_start *s, int rc)
{
	job_record_t *job = s->job;

	if ((rc != ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE && rc != ESLURM_INVALID_NODE_COUNT) || !s->native ||
	    s->keep_off || job->part_ptr_list || job->resv_ptr || sl_job_extra(job) ||
	    (job->details->prefer && job->details->features_use == job->details->prefer))
		return;
	info("sched/lua: %pJ can never run: %s; held", job, slurm_strerror(rc));
	job->state_reason = FAIL_BAD_CONSTRAINTS;
	xfree(job->state_desc);
	job->start_time = job->end_time = time(NULL);
	job->priority = 0;
	last_job_update = time(NULL);
}

static bool select_refused(struct sl_start *s, int rc)
{
	char why[160];

	if (rc == ESLURM_FED_JOB_LOCK) {
		s->job->state_reason = WAIT_FED_JOB_LOCK;
		xfree(s->job->state_desc);
	} else if (s->native && s->keep_off && rc != ESLURM_ACCOUNTING_POLICY) {
		/* select may say that the job could never run, because nodes were hidden from it */
		s->job->state_reason = WAIT_PRIORITY;
		xfree(s->job->state_desc);
	}
	hold_hopeless(s, rc);
	snprintf(why, sizeof(why), "select: %s", slurm_strerror(rc));
	return give_up(s, rc == ESLURM_ACCOUNTING_POLICY ? SL_FATE_LIMIT : SL_FATE_SELECT, why);
}

/* -- one start ------------------------------------------------------------------ */

/* Set the time limit with which the job starts.  If it states none, select would give it its partition's; set it
 * nevertheless if a shorter one was planned, or if the job starts through another partition. */
static void set_limit(const struct sl_start *s)
{
	job_record_t *job = s->job;
	uint32_t limit = start_limit(job, s->time_limit);

	if (job->time_limit == NO_VAL) {
		if (limit == sl_job_limit(NO_VAL, s->part) && !s->lend)
			return;
		job->limit_set.time = 1;
	}
	job->time_limit = limit;
}

/* The job has started.  *limit: the time limit that it had before. */
static void note_started(struct sl_start *s, uint32_t limit)
{
	job_record_t *job = s->job, *rest;

	note_altered(s, limit);
	sl_launch_later(s->m, job);
	/* the record of the array's other tasks was copied while the flag was set */
	if ((rest = find_job_record(s->job_id)) && rest != job)
		job_resv_clear_magnetic_flag(rest);
	s->fate = SL_FATE_DONE;
}

/* Try to start the job in that way.  False: it was not started, and its record is as before. */
static bool start_in_way(struct sl_start *s, const struct sl_way *way, struct sl_cores *cores)
{
	job_record_t *job = s->job;
	uint32_t limit = job->time_limit;
	uint16_t limit_set = job->limit_set.time;
	const char *why = sl_commit_check(job, s->part, way);
	enum sl_layout_way how;
	bool exact;
	int rc;

	if (why) {
		job_resv_clear_magnetic_flag(job);
		return give_up(s, SL_FATE_UNFIT, why);
	}
	set_limit(s);
	close_nodes(s);
	if (s->lend && (why = check_loan(s)))
		give_up(s, SL_FATE_LOAN, why);
	else if (!s->native && (why = sl_counts_lack(job->details, s->place, s->count)))
		give_up(s, SL_FATE_PLACES, why);
	else if ((rc = select_lent(s, cores, &how, &exact)) != SLURM_SUCCESS)
		select_refused(s, rc);
	else {
		note_started(s, limit);
		if (s->native || !exact)
			sl_strayed_note(s->m, job, s->places);
		if (!exact) {
			s->m->status->layout_differs++;
			debug("sched/lua: %pJ: select gave other cores than planned (%s)", job, sl_layout_word(how));
		}
		return true;
	}
	if (s->lend)
		note_of(s)->unlent_until = time(NULL) + UNLENT_REST_S;
	job->time_limit = limit;
	job->limit_set.time = limit_set;
	job_resv_clear_magnetic_flag(job);
	return false;
}

const char *sl_start_find(struct sl_start *s)
{
	const struct sl_collector *c = s->m->c;
	uint32_t part = s->partition;
	const char *why;

	if (part >= c->parts || part >= c->snap.partition.rows)
		return "the plan names a partition that does not exist";
	if (!(s->job = find_job_record(s->job_id)))
		return "it is gone";
	if (!sl_job_sane(s->job))
		return "its record is not as expected";
	/* (comes before any change: the last task of an array may be cancelled and still have the array's record) */
	if ((why = sl_commit_not_pending(s->job)))
		return why;
	if (!s->again && sl_job_stamp(s->job) != s->stamp)
		return "it was changed meanwhile";
	s->part = part_of(s, part);
	s->lend = part_of(s, s->through);
	if (s->through != SL_NONE && (!s->lend || s->lend->magic != PART_MAGIC || !s->lend->node_bitmap ||
				      !(s->lend->state_up & PARTITION_SCHED)))
		return "the partition to borrow nodes through is gone or down";
	return (s->row = sl_collect_row(c, s->job_id)) == SL_NONE ? "it is not in the snapshot" : NULL;
}

/* True if the plan means that way: its partition and its reservation. */
static bool is_way(const struct sl_start *s, const struct sl_way *way)
{
	const struct sl_collector *c = s->m->c;

	return way->part == s->partition &&
		(s->any_way || way->resv_id == (s->resv < c->resvs ? c->resv_id[s->resv] : 0));
}

bool sl_start_run(struct sl_start *s, struct sl_cores *cores)
{
	const struct sl_collector *c = s->m->c;
	const char *why;
	bool ok = false;
	uint32_t w;

	s->row = SL_NONE;
	if ((why = sl_start_find(s)))
		return give_up(s, SL_FATE_CHANGED, why);
	s->as_planned = true;
	if (!s->native && (why = get_places(s)))
		return give_up(s, SL_FATE_PLACES, why);
	if (sl_strayed_has(s->m, s->place, s->count)) {
		s->as_planned = false;	/* not the fault of the job's shape */
		return give_up(s, SL_FATE_CHANGED, "select has put a job there that was planned elsewhere");
	}
	if (!s->native && (why = sl_room_lacks(s->m, s->job_id, s->places)))
		return give_up(s, SL_FATE_PLACES, why);
	if (sl_held_find(s->m->held, s->job_id))
		debug("sched/lua: JobId=%u is put on the place that is held for it", s->job_id);
	if ((why = take_shape(s)))
		return give_up(s, SL_FATE_SHAPE, why);
	if (!s->native && (why = check_places(s))) {
		give_up(s, SL_FATE_PLACES, why);
	} else {
		give_up(s, SL_FATE_CHANGED, "it was not in the queue");
		for (w = c->first_way[s->row]; w != SL_NONE && !ok; w = c->way[w].next)
			if (is_way(s, &c->way[w]))
				ok = start_in_way(s, &c->way[w], cores);
	}
	if (!ok)
		put_request_back(s, s->job);
	return ok;
}

/* Twice as long after each further refusal. */
static unsigned rest_s(uint32_t times)
{
	return MIN(1u << MIN(times, 10), MAX_REST_S);
}

/*
 * The start failed although the plan had a place.  The job is left out for a while, so that others can have the place.  If a
 * limit was the cause (which shows only when the nodes are known) that begins at once.  If select refused it, it begins with
 * refusal number SL_REFUSALS + 1; until then the next plan leaves the choice of nodes to select, which may be enough.
 */
static void leave_out(const struct sl_start *s)
{
	struct sl_note *note = note_of(s);
	uint32_t more = ++note->refusals > SL_REFUSALS ? note->refusals - SL_REFUSALS : 0;

	/* (if the request exceeds a limit, an alternative of it may not) */
	note->limited = s->fate == SL_FATE_LIMIT && !s->m->c->snap.job.shapes[s->row].count;
	if (s->fate == SL_FATE_LIMIT)
		note->rests_until = time(NULL) + LIMIT_REST_S;
	else if (more)
		note->rests_until = time(NULL) + rest_s(more);
}

/* Slurm refuses a job that it allowed when the snapshot was taken.  A first refusal has no consequence, because something
 * may have changed in between.  After a second one the job rests: the cause is something that the engine does not know,
 * and it would plan for the job in each cycle. */
static void leave_out_unfit(const struct sl_start *s)
{
	struct sl_note *note = note_of(s);

	if (s->m->marks[s->row] & SL_MARK_FAILED)
		return;		/* another task of its array, by the same plan */
	if (++note->unfit > 1)
		note->rests_until = time(NULL) + rest_s(note->unfit - 1);
}

void sl_start_count(struct sl_start *s)
{
	bool refused = s->fate == SL_FATE_SELECT || s->fate == SL_FATE_LIMIT;
	struct sl_status *st = s->m->status;
	int64_t now = time(NULL);

	if (s->fate == SL_FATE_DONE) {
		s->m->started++;
		st->starts++;
		st->native_starts += s->native;
		forget_refusals(s);
		return;
	}
	if (s->shape && s->as_planned) {
		/* only this alternative is impossible: the next plan may try another one */
		sl_note_refuse_shape(note_of(s), s->shape, now, now + LIMIT_REST_S);
		refused = true;
	} else if (refused) {
		leave_out(s);
	} else if (s->fate == SL_FATE_UNFIT) {
		leave_out_unfit(s);
	}
	s->m->refused += refused || s->fate == SL_FATE_UNFIT;
	st->failed_starts += refused;
	st->stale += !refused;
}
