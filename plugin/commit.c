/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commit.c - starts; see commit.h */
#include "commit.h"
#include "layout.h"
#include "lend.h"
#include "plan_image.h"
#include "shape.h"

/* How long a job that cannot start, whatever the plan says, is left out. */
#define LIMIT_REST_S 10u
#define MAX_REST_S 30u

/* How long a job is not lent nodes again that a partition, or select, refused. */
#define UNLENT_REST_S 30u

/* Jobs that select is asked about in a cycle because they may preempt others. */
#define MAX_PREEMPT_TRIES 20

/*
 * Batch jobs are launched after the starts, or this much later in a long plan: the
 * first ones end, or tell that they run, while others are being started, and each
 * such message competes for the locks.  Slurm's own schedulers launch nothing
 * either while they hold the locks, for about as long.
 */
#define LAUNCH_AFTER_US 3000000

/*
 * Launching brings nodes to life that share the processors with slurmctld where they are
 * on one machine: a short hold is over before the thread loses its processor.
 */
#define LAUNCH_BATCH_US 1000

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000 + (uint64_t) t.tv_nsec / 1000;
}

/* -- before ---------------------------------------------------------------- */

static int same_part(void *x, void *key)
{
	return x == key;
}

static int same_resv(void *x, void *key)
{
	return ((slurmctld_resv_t *) x)->resv_id == *(uint32_t *) key;
}

/* QOS that was taken away since the job was submitted. */
static bool qos_valid(job_record_t *job)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK, .qos = READ_LOCK };
	bool ok = true;

	if (!job->qos_id || !(accounting_enforce & ACCOUNTING_ENFORCE_QOS))
		return true;
	assoc_mgr_lock(&locks);
	if (job->assoc_ptr && !job->limit_set.qos &&
	    (job->qos_id >= g_qos_count || !job->assoc_ptr->usage || !job->assoc_ptr->usage->valid_qos ||
	     !bit_test(job->assoc_ptr->usage->valid_qos, job->qos_id)))
		ok = false;
	assoc_mgr_unlock(&locks);
	if (!ok)
		job_fail_qos(job, __func__, false);
	return ok;
}

/* What select_nodes() reads and the stock schedulers set before it. */
static void prepare(job_record_t *job, part_record_t *part, const struct sl_way *way)
{
	sl_details_t *d = job->details;
	slurmctld_resv_t *resv = NULL;
	bool prefer = way && way->prefer && d->prefer;

	job->part_ptr = part;
	d->features_use = prefer ? d->prefer : d->features;
	d->feature_list_use = prefer ? d->prefer_list : d->feature_list;
	if (way && way->resv_id && resv_list)
		resv = list_find_first(resv_list, same_resv, (void *) &way->resv_id);
	if (resv && job->resv_list) {
		job->resv_ptr = resv;
		job->resv_id = resv->resv_id;
	} else if (resv && !job->resv_name) {
		/* a magnetic one: cleared by job_resv_clear_magnetic_flag() */
		job->resv_ptr = resv;
		job->resv_name = xstrdup(resv->name);
		job->resv_id = resv->resv_id;
		job->bit_flags |= JOB_MAGNETIC;
	}
	job->last_sched_eval = time(NULL);
}

static const char *check_partition(job_record_t *job, part_record_t *part)
{
	if (!part || part->magic != PART_MAGIC || !part->node_bitmap)
		return "its partition is gone";
	if (!(part->state_up & PARTITION_SCHED))
		return "its partition is down";
	if (job->part_ptr_list ? !list_find_first(job->part_ptr_list, same_part, part) : job->part_ptr != part)
		return "it is in another partition now";
	return NULL;
}

const char *sl_commit_check(job_record_t *job, part_record_t *part, const struct sl_way *way)
{
	const char *why;

	if (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job))
		return IS_JOB_FINISHED(job) ? "it was cancelled meanwhile" : "it is not pending any more";
	if (!job->priority)
		return "it was held meanwhile";
	if (job->preempt_in_progress)
		return "jobs are being preempted for it";
	if ((why = check_partition(job, part)))
		return why;
	prepare(job, part, way);
	if (!job_independent(job))
		return "it waits for a dependency or a begin time";
	if ((job->array_task_id != NO_VAL || job->array_recs) && !job_array_start_test(job))
		return "as many tasks of its array run as may run at once";
	if (job_limits_check(&job, true) != WAIT_NO_REASON)
		return "a limit of its partition or QOS";
	if (!qos_valid(job))
		return "its QOS is not valid";
	if (job->deadline && job->deadline != (time_t) NO_VAL && !sl_deadline_ok(job))
		return "it cannot meet its deadline any more and was cancelled";
	if (assoc_mgr_validate_assoc_id(acct_db_conn, job->assoc_id, accounting_enforce)) {
		job->state_reason = FAIL_ACCOUNT;
		xfree(job->state_desc);
		return "its account is not valid";
	}
	if (license_job_test(job, time(NULL), true) != SLURM_SUCCESS) {
		job->state_reason = WAIT_LICENSES;
		xfree(job->state_desc);
		return "not enough licences";
	}
	if (job->bit_flags & JOB_MAGNETIC && job->resv_ptr && job->resv_ptr->node_bitmap &&
	    bit_overlap(job->resv_ptr->node_bitmap, part->node_bitmap) < (int) job->node_cnt_wag)
		return "the reservation is too small";
	return NULL;
}

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

/* -- after ---------------------------------------------------------------------- */

static void note_started(job_record_t *job)
{
	last_job_update = time(NULL);
	sched_info("sched/lua: started %pJ in %s on %s", job, job->part_ptr->name, job->nodes);
	if (!job->batch_flag)
		srun_allocate(job);
	rebuild_job_part_list(job);
}

void sl_commit_launched(job_record_t *job)
{
	if (job->batch_flag && !IS_JOB_CONFIGURING(job))
		launch_job(job);
	note_started(job);
}

/*
 * Until it is launched the job is "configuring", which slurmctld saves with it: one that
 * is killed before the launch launches the job itself when it is back (job_time_limit()),
 * and nobody misses a script on its node meanwhile.
 */
static void launch_later(struct sl_commit *m, job_record_t *job)
{
	if (!job->batch_flag || IS_JOB_CONFIGURING(job))
		return;		/* nothing to launch, or once its nodes are ready */
	if (m->launches == m->launch_room) {
		m->launch_room = m->launch_room * 2 + 64;
		xrecalloc(m->launch, m->launch_room, sizeof(*m->launch));
	}
	if (m->launched == m->launches)
		m->launch_since = now_us();
	m->launch[m->launches++] = (struct sl_launch) { job->job_id, job->start_time };
	sl_job_set_configuring(job, true);
}

/* At least one, and no more once the time is over.  Write locks held. */
static void launch_some(struct sl_commit *m, uint64_t end)
{
	while (m->launched < m->launches) {
		const struct sl_launch *l = &m->launch[m->launched++];
		job_record_t *job = find_job_record(l->job_id);

		/* cancelled or requeued meanwhile: nothing to launch; or launched, by
		 * slurmctld's own look at configuring jobs */
		if (job && IS_JOB_RUNNING(job) && IS_JOB_CONFIGURING(job) && job->start_time == l->start_time) {
			sl_job_set_configuring(job, false);
			last_job_update = time(NULL);
			launch_job(job);
		}
		if (now_us() >= end)
			break;
	}
}

/* What is not launched yet, in batches; also when slurmctld ends. */
static void launch_rest(struct sl_commit *m)
{
	slurmctld_lock_t locks = SL_COMMIT_LOCKS;
	uint64_t t0;

	while (m->launched < m->launches) {
		lock_slurmctld(locks);
		t0 = now_us();
		launch_some(m, t0 + LAUNCH_BATCH_US);
		sl_times_add(&m->status->commit_hold, now_us() - t0);
		unlock_slurmctld(locks);
	}
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

struct start {
	struct sl_commit *m;
	uint32_t job_id, partition;	/* its row in the snapshot */
	int64_t stamp, time_limit;	/* as the plan says */
	struct sl_range places;		/* in the plan */
	uint32_t shape;
	uint32_t through;		/* partition row to start it in, SL_NONE: its own */
	struct sl_range lenders;	/* in the plan */
	job_record_t *job;
	part_record_t *part;
	part_record_t *lend;		/* through; NULL: nothing is borrowed */
	struct sl_layout_place *place;
	uint32_t count;
	int rc;				/* of select_nodes() */
	bool tried;			/* the record was there, and unchanged */
	bool native, again;		/* again: an earlier row was for the same array */
	char *text;			/* why not, 160 bytes */
};

/* Places in node order, as indices.  False when the plan names what is not there. */
static bool get_places(struct start *s)
{
	const struct sl_plan_image *plan = s->m->plan;
	struct sl_range r = s->places;
	uint32_t i;

	s->place = xcalloc(MAX(r.count, 1), sizeof(*s->place));
	for (i = 0; i < r.count; i++) {
		uint32_t node = plan->place.node[r.first + i];

		if (node >= s->m->c->nodes || !plan->place.cores[r.first + i])
			return false;
		s->place[i].node = (uint32_t) s->m->c->node_index[node];
		s->place[i].cores = plan->place.cores[r.first + i];
		if (i && s->place[i].node <= s->place[i - 1].node)
			return false;
	}
	s->count = r.count;
	return r.count > 0;
}

/* The request that it had before it was to become one of its alternatives. */
static void put_back(const struct start *s, job_record_t *job)
{
	const struct sl_asked *original = s->shape ? sl_asked_find(s->m->asked, s->job_id) : NULL;

	if (!original || !job->details)
		return;
	sl_asked_put(job, original);
	sl_shape_clear_env(job->details);
	job->time_limit = original->time_limit;
}

/* Make it ask for its alternative; NULL, or why it cannot be that one. */
static const char *take_shape(struct start *s, uint32_t row)
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

static bool give_up(struct start *s, const char *why)
{
	snprintf(s->text, 160, "%s", why);
	return false;
}

/*
 * It runs, with another request or time limit than it asked for.  What is left of its
 * array asks for what it did before.
 */
static void note_altered(const struct start *s, uint32_t limit)
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
static part_record_t *part_of(const struct start *s, uint32_t row)
{
	const struct sl_collector *c = s->m->c;

	if (row >= c->snap.partition.rows)
		return NULL;
	return find_part_record((char *) sl_snapshot_str(&c->snap, c->snap.partition.name[row]));
}

/* Does a place of the plan lie in the partition? */
static bool has_place_in(const struct start *s, const part_record_t *part)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (bit_test(part->node_bitmap, s->place[i].node))
			return true;
	return false;
}

/* Every place is in the job's partition or a lender's, and in the one it is started
 * through. */
static const char *check_loan(const struct start *s)
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
static char *lender_names(const struct start *s)
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
static int select_lent(struct start *s, struct sl_cores *cores, enum sl_layout_way *how, bool *exact)
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
static bool try_start(struct start *s, const struct sl_way *way, struct sl_cores *cores)
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
	note_started(job);
	launch_later(s->m, job);
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
static const char *check_places(const struct start *s)
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
static const char *find_again(struct start *s)
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

static bool do_start(struct start *s, struct sl_cores *cores)
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
	if (!get_places(s) && !s->native)
		return give_up(s, "the plan's places make no sense");
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
static void refuse_shape(struct start *s)
{
	uint64_t now = (uint64_t) time(NULL), v = sl_memo_get(s->m->shapes, s->job_id);

	if (v >> 16 <= now)
		v = 0;
	if (s->shape <= 16)
		v |= 1u << (s->shape - 1);
	sl_memo_set(s->m->shapes, s->job_id, SL_SHAPES_REFUSED(v & 0xffff, now + LIMIT_REST_S));
}

static void count_start(struct start *s, bool ok)
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

/*
 * Before a job is started as something else than it asked for, what it asked for is
 * on disk.  Others than those may be started so, too (a limit that changed a moment
 * ago): they are noted after the start.
 */
static void note_requests(struct sl_commit *m)
{
	slurmctld_lock_t locks = { .job = READ_LOCK };
	const struct sl_plan_start_view *v = &m->plan->start;
	const struct sl_snapshot *snap = &m->c->snap;
	uint32_t i, row;
	bool locked = false;

	for (i = 0; i < v->rows; i++) {
		job_record_t *job;

		row = sl_collect_row(m->c, v->job[i]);
		if (row == SL_NONE || (!v->shape[i] && !snap->job.time_min[row] && !snap->job.deadline[row]))
			continue;
		if (!locked)
			lock_slurmctld(locks);
		locked = true;
		if ((job = find_job_record(v->job[i])) && sl_job_sane(job) && IS_JOB_PENDING(job))
			sl_asked_add(m->asked, job);
	}
	if (locked) {
		unlock_slurmctld(locks);
		sl_commit_save(m);
	}
}

void sl_commit_save(struct sl_commit *m)
{
	struct sl_error err = { SL_OK, "" };

	if (!sl_asked_save(m->asked, &err))
		return;
	if (strcmp(m->status->last_error, err.text))
		error("sched/lua: %s; requests are not restored after a restart", err.text);
	sl_status_error(m->status, err.text);
}

static bool array_record(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);

	return row != SL_NONE && m->c->snap.job.array_pending[row];
}

static void run_one(struct sl_commit *m, uint32_t i, struct sl_cores *cores)
{
	const struct sl_plan_start_view *v = &m->plan->start;
	struct start s = { .m = m, .job_id = v->job[i], .partition = v->partition[i], .stamp = v->stamp[i],
			   .time_limit = v->time_limit[i], .places = v->places[i], .shape = v->shape[i],
			   .native = v->native[i], .text = m->text[i], .through = v->through[i],
			   .lenders = v->lenders[i] };
	uint32_t k;
	bool ok;

	/* rows of one array come one after the other more often than not */
	for (k = i; array_record(m, s.job_id) && k-- && !s.again; )
		s.again = m->plan->start.job[k] == s.job_id && m->outcome[k].done;
	ok = do_start(&s, cores);
	count_start(&s, ok);
	m->outcome[i] = (struct sl_outcome) { s.job_id, ok, ok ? "" : m->text[i] };
	if (!ok)
		debug("sched/lua: JobId=%u not started: %s", s.job_id, m->text[i]);
	xfree(s.place);
}

/* The records are still those of the snapshot: same configuration, same nodes. */
static bool same_world(const struct sl_commit *m)
{
	return slurm_conf.last_update == m->c->conf_update && node_record_count == m->c->node_count &&
		!slurmctld_config.shutdown_time;
}

static void fail_rest(struct sl_commit *m, uint32_t from, const char *why)
{
	uint32_t i;

	for (i = from; i < m->outcomes; i++) {
		m->outcome[i].job = i < m->plan->start.rows ? m->plan->start.job[i] :
			m->plan->action.job[i - m->plan->start.rows];
		m->outcome[i].done = false;
		m->outcome[i].text = why;
		m->status->stale++;
	}
}

/* One hold of the locks; returns the first decision not looked at yet. */
static uint32_t run_batch(struct sl_commit *m, uint32_t from)
{
	slurmctld_lock_t locks = SL_COMMIT_LOCKS;
	struct sl_cores cores = { 0 };
	uint64_t t0, end, at, longest = 0;
	uint32_t i = from, starts = m->plan->start.rows;
	const char *why;

	lock_slurmctld(locks);
	t0 = now_us();
	end = t0 + (uint64_t) (m->batch_ms * 1000);
	if (!same_world(m)) {
		fail_rest(m, from, "the configuration changed meanwhile");
		i = m->outcomes;
	}
	/* one that takes as long as the longest so far must still fit */
	for (; i < m->outcomes && (i == from || now_us() + longest < end); i++) {
		if (i < starts) {
			at = now_us();
			run_one(m, i, &cores);
			at = now_us() - at;
			longest = MAX(longest, at);
			if (m->outcome[i].done)
				sl_times_add(&m->status->start, at);
			continue;
		}
		why = sl_commit_action(m, i - starts);
		m->outcome[i] = (struct sl_outcome) { m->plan->action.job[i - starts], !why, why ? why : "" };
		m->status->actions++;
		m->status->actions_failed += why != NULL;
	}
	sl_cores_clear(&cores);
	if (i == m->outcomes && now_us() < end)
		launch_some(m, MIN(end, now_us() + LAUNCH_BATCH_US));
	sl_times_add(&m->status->commit_hold, now_us() - t0);
	unlock_slurmctld(locks);
	return i;
}

/*
 * Jobs that may preempt others: the engine sees what they could take as in use
 * and lets them wait, so select is asked, in queue order.  It preempts and says
 * "busy" until the nodes are free.
 */
static uint32_t preempt_batch(struct sl_commit *m, uint32_t from, uint32_t *tries)
{
	slurmctld_lock_t locks = SL_COMMIT_LOCKS;
	const struct sl_snapshot *snap = &m->c->snap;
	struct sl_cores cores = { 0 };
	char text[160];
	uint64_t t0, end;
	uint32_t q = from;

	lock_slurmctld(locks);
	t0 = now_us();
	end = t0 + (uint64_t) (m->batch_ms * 1000);
	for (; q < snap->queue.rows && *tries && same_world(m) && now_us() < end; q++) {
		uint32_t row = snap->queue.job[q];
		struct start s = { .m = m, .job_id = snap->job.id[row], .partition = snap->queue.partition[q],
				   .stamp = snap->job.stamp[row], .native = true, .text = text,
				   .through = SL_NONE };
		job_record_t *job = find_job_record(s.job_id);

		if (strncmp(sl_snapshot_str(snap, snap->job.native[row]), "preemption", 10) || !job || !IS_JOB_PENDING(job))
			continue;
		--*tries;
		if (do_start(&s, &cores)) {
			m->started++;
			m->status->starts++;
			m->status->native_starts++;
		}
		xfree(s.place);
	}
	if (!same_world(m))
		q = snap->queue.rows;
	sl_cores_clear(&cores);
	sl_times_add(&m->status->commit_hold, now_us() - t0);
	unlock_slurmctld(locks);
	return q;
}

static void run_preempting(struct sl_commit *m)
{
	uint32_t q = 0, tries = MAX_PREEMPT_TRIES;

	while (m->c->preempts && q < m->c->snap.queue.rows && tries && !atomic_load(m->stop))
		q = preempt_batch(m, q, &tries);
}

void sl_commit_run(struct sl_commit *m)
{
	uint32_t i = 0;

	m->outcomes = m->plan->start.rows + m->plan->action.rows;
	m->outcome = xcalloc(MAX(m->outcomes, 1), sizeof(*m->outcome));
	m->text = xcalloc(MAX(m->outcomes, 1), sizeof(*m->text));
	note_requests(m);
	while (i < m->outcomes && !atomic_load(m->stop)) {
		i = run_batch(m, i);
		if (m->launched < m->launches && now_us() - m->launch_since > LAUNCH_AFTER_US)
			launch_rest(m);
	}
	if (i < m->outcomes)
		fail_rest(m, i, "slurmctld ends");
	run_preempting(m);
	sl_commit_save(m);
	launch_rest(m);
	m->changed = m->started || m->plan->action.rows;
	if (m->changed) {
		schedule_job_save();
		schedule_node_save();
	}
}

void sl_commit_free(struct sl_commit *m)
{
	xfree(m->outcome);
	xfree(m->text);
	xfree(m->launch);
}
