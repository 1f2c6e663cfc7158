/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start.c - see start.h */
#include "plugin/commit/launch.h"
#include "plugin/request/lend.h"
#include "plugin/request/shape.h"
#include "plugin/commit/start.h"

/* How long a job that cannot start, whatever the plan says, is left out. */
#define LIMIT_REST_S 10u
#define MAX_REST_S 30u

/* How long a job is not lent nodes again that a partition, or select, refused. */
#define UNLENT_REST_S 30u

/* -- the time limit ----------------------------------------------------------- */

/*
 * The walltime it starts with, in minutes: what the plan says, what the deadline
 * leaves, what the partition allows; never below time_min.
 */
static uint32_t start_limit(const job_record_t *job, int64_t plan_s)
{
	const part_record_t *p = job->part_ptr;
	uint32_t limit = job->time_limit, left;

	if (limit == NO_VAL && (job->deadline || plan_s || p->default_time != NO_VAL))
		limit = p->default_time != NO_VAL ? p->default_time : p->max_time;
	if (plan_s > 0 && plan_s / 60 < limit)
		limit = (uint32_t) MAX(plan_s / 60, 1);
	if (job->deadline && job->deadline != (time_t) NO_VAL) {
		left = (uint32_t) MAX((job->deadline - time(NULL)) / 60, 1);
		limit = MIN(limit, left);
	}
	if (job->time_min && p->max_time != INFINITE && limit > p->max_time &&
	    job->limit_set.time != ADMIN_SET_LIMIT)
		limit = p->max_time;
	return MAX(limit, job->time_min);
}

/* select_nodes() under the federation's lock. */
static int select_fed(job_record_t *job, const struct sl_layout_place *place, uint32_t count,
		      struct sl_cores *cores, enum sl_layout_way *way, bool *exact)
{
	int rc;

	if (fed_mgr_job_lock(job))
		return ESLURM_FED_JOB_LOCK;
	rc = sl_layout_start(job, place, count, cores, way, exact);
	if (rc == SLURM_SUCCESS)
		fed_mgr_job_start(job, job->start_time);
	else
		fed_mgr_job_unlock(job);
	return rc;
}

/* What the stock scheduler does with a job that select says it can never start;
 * where the places were ours, that is not the job's fault. */
static void note_failure(job_record_t *job, int rc, bool native)
{
	switch (rc) {
	case ESLURM_FED_JOB_LOCK:
		job->state_reason = WAIT_FED_JOB_LOCK;
		xfree(job->state_desc);
		return;
	case ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE:
	case ESLURM_INVALID_NODE_COUNT:
		if (!native || job->part_ptr_list || job->resv_ptr)
			return;
		info("sched/lua: %pJ can never run: %s; held", job, slurm_strerror(rc));
		job->state_reason = FAIL_BAD_CONSTRAINTS;
		xfree(job->state_desc);
		job->start_time = job->end_time = time(NULL);
		job->priority = 0;
		last_job_update = time(NULL);
	}
}

/* Places in node order, as indices.  NULL, or what is wrong with them. */
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
		if (!s->place[i].cores || (i && s->place[i].node <= s->place[i - 1].node))
			return "the plan's places make no sense";
	}
	s->count = r.count;
	return r.count ? NULL : "the plan has no places for it";
}

/* The request that it had before it was to become one of its alternatives. */
static void put_back(const struct sl_start *s, job_record_t *job)
{
	const struct sl_asked *original = s->shape ? sl_asked_find(s->m->asked, s->job_id) : NULL;

	if (!original || !job->details)
		return;
	sl_asked_put(job, original);
	sl_shape_clear_env(job->details);
	job->time_limit = original->time_limit;
}

/* Make it ask for its alternative; NULL, or why it cannot be that one. */
static const char *take_shape(struct sl_start *s, uint32_t row)
{
	const struct sl_snapshot *snap = &s->m->c->snap;
	const char *why;

	if (s->shape > snap->job.shapes[row].count)
		return "the plan names an alternative that it does not have";
	if (!s->part)
		return "its partition is gone";
	if (!sl_asked_add(s->m->asked, s->job))
		return "too many jobs run as one of their alternatives";
	why = sl_shape_put(s->job, s->part, snap, snap->job.shapes[row].first + s->shape - 1, s->shape);
	if (why)
		put_back(s, s->job);
	return why;
}

static bool give_up(struct sl_start *s, const char *why)
{
	snprintf(s->text, 160, "%s", why);
	return false;
}

/*
 * It runs, with another request or time limit than it asked for.  What is left of its
 * array asks for what it did before.
 */
static void note_altered(const struct sl_start *s, uint32_t limit)
{
	struct sl_asked_book *book = s->m->asked;
	struct sl_asked *original = sl_asked_find(book, s->job_id);
	job_record_t *rest = find_job_record(s->job_id);

	if (!s->shape && (s->job->time_limit == limit || limit == NO_VAL)) {
		sl_asked_forget(book, s->job_id);
		return;
	}
	if (!original && !(original = sl_asked_add(book, s->job)))
		return;
	if (!s->shape)		/* added just now, perhaps */
		original->time_limit = limit;
	if (rest && rest != s->job && rest->details) {
		put_back(s, rest);
		rest->time_limit = original->time_limit;
	}
	sl_asked_started(book, s->job, original, s->shape != 0);
}

/* -- borrowed nodes ------------------------------------------------------------- */

/* A partition of the plan, by its row in the snapshot. */
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

/* Every place is in the job's partition or a lender's, and in the one it is started
 * through. */
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

/* The lenders of which it has nodes, by name. */
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

/* select_nodes(), in another partition where nodes are borrowed. */
static int select_lent(struct sl_start *s, struct sl_cores *cores, enum sl_layout_way *how, bool *exact)
{
	job_record_t *job = s->job;
	struct sl_lend lend;
	char *names;
	int rc;

	if (!s->lend)
		return select_fed(job, s->place, s->native ? 0 : s->count, cores, how, exact);
	names = lender_names(s);
	sl_lend_begin(&lend, job, s->lend);
	rc = select_fed(job, s->place, s->count, cores, how, exact);
	if (rc == SLURM_SUCCESS) {
		sl_lend_keep(&lend, job, names ? names : "");
		s->m->c->lent = true;
	} else {
		sl_lend_undo(&lend, job);
	}
	xfree(names);
	return rc;
}

static void put_limit_back(job_record_t *job, uint32_t limit, uint16_t limit_set)
{
	job->time_limit = limit;
	job->limit_set.time = limit_set;
}

/* One try at a start; true when the job runs. */
static bool try_start(struct sl_start *s, const struct sl_way *way, struct sl_cores *cores)
{
	job_record_t *job = s->job;
	uint32_t limit = job->time_limit, trimmed;
	uint16_t limit_set = job->limit_set.time;
	enum sl_layout_way how;
	bool exact;
	const char *why;
	int rc;

	if ((why = sl_commit_check(job, s->part, way))) {
		job_resv_clear_magnetic_flag(job);
		return give_up(s, why);
	}
	trimmed = start_limit(job, s->time_limit);
	if (trimmed != limit && limit != NO_VAL)
		job->time_limit = trimmed;
	if (s->lend && limit == NO_VAL) {	/* its own partition's, as select would set it */
		job->time_limit = s->part->default_time != NO_VAL ? s->part->default_time : s->part->max_time;
		job->limit_set.time = 1;
	}
	if (s->lend && (why = check_loan(s))) {
		put_limit_back(job, limit, limit_set);
		sl_memo_set(s->m->unlent, job->job_id, (uint64_t) time(NULL) + UNLENT_REST_S);
		return give_up(s, why);
	}
	rc = select_lent(s, cores, &how, &exact);
	s->rc = rc;
	if (rc != SLURM_SUCCESS) {
		if (s->lend)
			sl_memo_set(s->m->unlent, job->job_id, (uint64_t) time(NULL) + UNLENT_REST_S);
		put_limit_back(job, limit, limit_set);
		note_failure(job, rc, s->native);
		job_resv_clear_magnetic_flag(job);
		snprintf(s->text, 160, "select: %s", slurm_strerror(rc));
		return false;
	}
	if (job->time_limit != limit && limit != NO_VAL)
		acct_policy_alter_job(job, job->time_limit);
	note_altered(s, limit);
	if (!exact) {
		s->m->status->layout_differs++;
		debug("sched/lua: %pJ: select gave other cores than planned (%s)", job, sl_layout_word(how));
	}
	sl_launch_note(job);
	sl_launch_later(s->m, job);
	/* what is left of an array was copied in the middle of all this */
	if ((job = find_job_record(s->job_id)) && job != s->job)
		job_resv_clear_magnetic_flag(job);
	return true;
}

/*
 * The places take the request's place in select_nodes(): what it says of nodes is
 * checked here.  (Excluded nodes, features, memory and so on are still seen by
 * select.)
 */
static const char *check_places(const struct sl_start *s)
{
	const sl_details_t *d = s->job->details;
	uint32_t i, found = 0;

	if (s->count < d->min_nodes || (d->max_nodes && s->count > d->max_nodes))
		return "the plan has another number of nodes than it asks for";
	if (!d->req_node_bitmap)
		return NULL;
	for (i = 0; i < s->count; i++)
		found += bit_test(d->req_node_bitmap, s->place[i].node) != 0;
	return found == (uint32_t) bit_set_count(d->req_node_bitmap) ? NULL :
		"the plan lacks a node that it requires";
}

/* Find the record of a decision again.  NULL: it is there and unchanged. */
static const char *find_again(struct sl_start *s)
{
	const struct sl_collector *c = s->m->c;
	uint32_t part = s->partition;

	if (part >= c->parts || part >= c->snap.partition.rows)
		return "the plan names a partition that does not exist";
	if (!(s->job = find_job_record(s->job_id)))
		return "it is gone";
	if (!sl_job_sane(s->job))
		return "its record is not as expected";
	if (!s->again && sl_job_stamp(s->job) != s->stamp)
		return "it was changed meanwhile";
	s->part = find_part_record((char *) sl_snapshot_str(&c->snap, c->snap.partition.name[part]));
	s->lend = part_of(s, s->through);
	if (s->through != SL_NONE && (!s->lend || s->lend->magic != PART_MAGIC || !s->lend->node_bitmap ||
				      !(s->lend->state_up & PARTITION_SCHED)))
		return "the partition to borrow nodes through is gone or down";
	return NULL;
}

bool sl_start_try(struct sl_start *s, struct sl_cores *cores)
{
	const struct sl_collector *c = s->m->c;
	const struct sl_snapshot *snap = &c->snap;
	uint32_t w, row = sl_collect_row(c, s->job_id);
	const char *why;
	bool ok = false;

	if ((why = find_again(s)))
		return give_up(s, why);
	if (row == SL_NONE)
		return give_up(s, "it is not in the snapshot");
	s->tried = true;
	/* what the engine cannot model is select's to place, whatever the plan says */
	s->native |= *sl_snapshot_str(snap, snap->job.native[row]) != '\0';
	if (!s->native && (why = get_places(s)))
		return give_up(s, why);
	if (s->shape && (why = take_shape(s, row)))
		return give_up(s, why);
	if (!s->native && (why = check_places(s))) {
		put_back(s, s->job);
		return give_up(s, why);
	}
	give_up(s, "it was not in the queue");
	for (w = c->first_way[row]; w != SL_NONE && !ok; w = c->way[w].next)
		if (c->way[w].part == s->partition)
			ok = try_start(s, &c->way[w], cores);
	if (!ok)
		put_back(s, s->job);
	return ok;
}

/* It is that alternative that cannot be: let it be tried as another one. */
static void refuse_shape(struct sl_start *s)
{
	uint64_t now = (uint64_t) time(NULL), v = sl_memo_get(s->m->shapes, s->job_id);

	if (v >> 16 <= now)
		v = 0;
	if (s->shape <= 16)
		v |= 1u << (s->shape - 1);
	sl_memo_set(s->m->shapes, s->job_id, SL_SHAPES_REFUSED(v & 0xffff, now + LIMIT_REST_S));
}

void sl_start_count(struct sl_start *s, bool ok)
{
	struct sl_status *st = s->m->status;
	uint64_t n;

	if (ok) {
		s->m->started++;
		st->starts++;
		st->native_starts += s->native;
		sl_memo_set(s->m->refused, s->job_id, 0);
		return;
	}
	if (s->shape && s->tried) {
		refuse_shape(s);
		st->failed_starts++;
		return;
	}
	if (strncmp(s->text, "select:", 7)) {
		st->stale++;
		return;
	}
	st->failed_starts++;
	n = sl_memo_get(s->m->refused, s->job_id) + 1;
	sl_memo_set(s->m->refused, s->job_id, n);
	/*
	 * Let others have what is planned for it in vain, for a while: a limit
	 * that only shows once the nodes are known, or select's own reasons.
	 */
	if (s->rc == ESLURM_ACCOUNTING_POLICY)
		sl_memo_set(s->m->rest, s->job_id, (uint64_t) time(NULL) + LIMIT_REST_S);
	else if (n > 3)
		sl_memo_set(s->m->rest, s->job_id, (uint64_t) time(NULL) + MIN(1u << MIN(n - 3, 10), MAX_REST_S));
}
