/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect.c - see collect.h; nodes and jobs are in files of their own */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "plugin/collect/aside.h"
#include "plugin/collect/int.h"
#include "base/grow.h"
#include "base/order.h"
#include "plugin/request/lend.h"

/*
 * Others get the locks after so long, however much there is to copy: the records of a
 * snapshot are not all of one moment, then, as the queue is not that of the records.
 */
#define COPY_HOLD_US 8000

struct sl_collector *sl_collector_create(struct sl_error *err)
{
	struct sl_collector *c = xmalloc(sizeof(*c));

	c->scratch = xmalloc(sizeof(*c->scratch));
	c->lent = true;		/* before a restart, perhaps */
	if (!(c->b = sl_builder_create(&sl_snapshot_schema, err))) {
		sl_collector_destroy(c);
		return NULL;
	}
	return c;
}

static void free_tellings(struct sl_tellings *t)
{
	free(t->run);
	sl_map_free(&t->by_job);
}

void sl_collector_destroy(struct sl_collector *c)
{
	if (!c)
		return;
	sl_builder_destroy(c->b);
	sl_collect_forget_topology(c);
	xfree(c->node_index);
	xfree(c->node_row);
	xfree(c->part);
	xfree(c->resv_id);
	xfree(c->way);
	xfree(c->scratch->queue);
	sl_map_free(&c->scratch->row_of);
	xfree(c->first_way);
	xfree(c->scratch->nameless);
	xfree(c->scratch->commented);
	xfree(c->scratch->id);
	free_tellings(&c->scratch->told);
	free_tellings(&c->scratch->telling);
	xfree(c->scratch);
	xfree(c);
}

uint32_t sl_collect_row(const struct sl_collector *c, uint32_t job_id)
{
	_Static_assert(SL_MAP_NOTHING == SL_NONE, "of a job that is not there");

	return sl_map_by_id(&c->scratch->row_of, job_id);
}

uint32_t sl_collect_part(const struct sl_collector *c, const part_record_t *part)
{
	uint32_t i;

	for (i = 0; i < c->parts; i++)
		if (c->part[i] == part)
			return i;
	return SL_NONE;
}

/* -- are records laid out as this was compiled for? ---------------------------- */

struct record_probe {
	int pipe[2];
	bool seen;		/* there was a job with details, which tells most */
	struct sl_error *err;
};

/*
 * Is the value to be read at that address?  In a record of another layout it may be any number:
 * the kernel reads it, and says EFAULT where we would crash.
 */
static bool can_read(const struct record_probe *k, const uint32_t *at, uint32_t value)
{
	uint32_t found;

	return write(k->pipe[1], at, sizeof(*at)) == sizeof(*at) &&
		read(k->pipe[0], &found, sizeof(found)) == sizeof(found) && found == value;
}

static int check_job_layout(void *x, void *arg)
{
	job_record_t *job = x;
	struct record_probe *k = arg;

	if (job->magic != JOB_MAGIC || !job->job_id ||
	    (job->details ? !can_read(k, &job->details->magic, DETAILS_MAGIC) : !IS_JOB_FINISHED(job)))
		return sl_fail(k->err, SL_EVERSION, "job records");
	k->seen |= job->details != NULL;
	return 0;
}

static int check_part_layout(void *x, void *arg)
{
	part_record_t *part = x;
	struct sl_error *err = arg;

	if (part->magic != PART_MAGIC || !part->name)
		return sl_fail(err, SL_EVERSION, "partition records");
	return 0;
}

/* Do the records look as this plug-in was compiled to see them?  1; 0, they seem to, but there
 * is no job to tell by yet; -1 with *err (SL_EVERSION).  Job, node and
 * partition read locks held. */
static int check_layout(struct sl_error *err)
{
	struct sl_error what = { SL_OK, "" };
	struct record_probe k = { .err = &what };
	int i;

	if (pipe2(k.pipe, O_CLOEXEC | O_NONBLOCK))
		return sl_fail(err, SL_EIO, "pipe: %s", strerror(errno));
	for (i = 0; i < node_record_count; i++)
		if (node_record_table_ptr[i] && node_record_table_ptr[i]->magic != NODE_MAGIC) {
			sl_fail(&what, SL_EVERSION, "node records");
			break;
		}
	if (part_list && !what.code)
		list_for_each(part_list, check_part_layout, &what);
	if (job_list && !what.code)
		list_for_each(job_list, check_job_layout, &k);
	close(k.pipe[0]);
	close(k.pipe[1]);
	if (!what.code)
		return k.seen;
	return sl_fail(err, SL_EVERSION, "%s of this slurmctld are not laid out as those of Slurm %s, which this plug-in was built for; "
		       "rebuild it with the source of exactly the release that runs", what.text, SLURM_VERSION_STRING);
}

/* -- first hold: the queue --------------------------------------------------- */

static int each_lent(void *x, void *arg)
{
	job_record_t *job = x;

	(void) arg;
	if (job->magic == JOB_MAGIC && IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job) && sl_lend_marked(job))
		sl_lend_restore(job);
	return 0;
}

/*
 * A limit kept it from starting a while ago: does it still, if it gets no more than it asks
 * for?  The reason is the limit's, then.  (Asked of all jobs it would cost too much.)
 */
static bool is_limited(job_record_t *job)
{
	uint64_t tres[slurmctld_tres_cnt];

	if (!job->tres_req_cnt)
		return false;
	memcpy(tres, job->tres_req_cnt, sizeof(tres));
	return !acct_policy_job_runnable_post_select(job, tres, false);
}

/* Slurm's deadline_ok() ends a job that is past it; who only looks on does not. */
static bool is_in_time(const struct sl_scratch *s, job_record_t *job)
{
	if (!job->deadline || job->deadline == (time_t) NO_VAL)
		return true;
	return s->in->aside ? job->deadline > s->now : sl_deadline_ok(job);
}

/*
 * Is it of any use to plan for the job?  Not for one past its deadline (which this ends),
 * one that was found unable to start a short while ago, nor one that a limit
 * keeps from starting whatever nodes it gets (acct_policy sets the reason then).
 */
static bool is_worth_planning(const struct sl_scratch *s, job_queue_rec_t *rec)
{
	job_record_t *job = rec->job_ptr;

	if (!IS_JOB_PENDING(job))
		return false;	/* its deadline ended it a moment ago */
	if (!is_in_time(s, job))
		return false;
	if (sl_collect_note(s, job)->rests_until > s->now)
		return false;
	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS))
		return true;
	job->part_ptr = rec->part_ptr;
	sl_job_set_qos(job, sl_queue_qos(rec));
	return acct_policy_job_runnable_pre_select(job, false) && !(sl_collect_note(s, job)->limited && is_limited(job));
}

/* In sort_job_queue()'s order, but without the locks.  With preemption enabled
 * that order depends on the jobs that run: then Slurm has sorted already. */
static int by_order(const void *x, const void *y)
{
	const struct sl_queue_rec *a = x, *b = y;

	return SL_ORDER(b->has_resv, a->has_resv) ?: SL_ORDER(b->tier, a->tier) ?:
		SL_ORDER(b->priority, a->priority) ?: SL_ORDER(a->submit, b->submit) ?:
		SL_ORDER(a->order_id, b->order_id) ?: SL_ORDER(a->array_task_id, b->array_task_id) ?:
		SL_ORDER(b->prefer, a->prefer) ?: SL_ORDER(a->place, b->place);
}

static void sort_keys(struct sl_queue_rec *q, const job_queue_rec_t *rec, uint32_t place)
{
	const job_record_t *job = rec->job_ptr;

	q->has_resv = job->resv_id || rec->resv_ptr;
	q->tier = rec->part_ptr->priority_tier;
	q->submit = job->details ? job->details->submit_time : 0;
	q->order_id = rec->array_task_id == NO_VAL ? rec->job_id : job->array_job_id;
	q->place = place;
}

static int each_rec(void *x, void *arg)
{
	job_queue_rec_t *rec = x;
	struct sl_scratch *s = arg;
	struct sl_queue_rec *q = &s->queue[s->queue_len];
	slurmdb_qos_rec_t *qos = sl_queue_qos(rec);

	if (!is_worth_planning(s, rec))
		return 0;
	q->job_id = rec->job_id;
	q->array_task_id = rec->array_task_id;
	q->priority = rec->priority;
	q->part = rec->part_ptr;
	q->resv_id = rec->resv_ptr ? rec->resv_ptr->resv_id : 0;
	q->qos_id = qos ? qos->id : 0;
	q->prefer = sl_queue_prefer(rec);
	sort_keys(q, rec, s->queue_len++);
	return 0;
}

static void take_queue(struct sl_scratch *s, sl_list_t queue)
{
	uint32_t n = (uint32_t) list_count(queue);

	if (n > s->queue_room) {
		s->queue_room = n + n / 2 + 64;
		xrecalloc(s->queue, s->queue_room, sizeof(*s->queue));
	}
	s->queue_len = 0;
	list_for_each(queue, each_rec, s);
}

/* What may run, as Slurm says.  The locks are held. */
static void ask_queue(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;
	struct sl_aside *aside;
	sl_list_t queue;

	sl_asked_restore(s->in->asked);
	if (c->lent)
		list_for_each(job_list, each_lent, NULL);
	aside = s->in->aside ? sl_aside_begin() : NULL;
	queue = build_job_queue(false, true);
	if ((c->preempts = s->preempts = slurm_preemption_enabled()))
		sort_job_queue(queue);
	take_queue(s, queue);
	if (aside)
		sl_aside_end(aside);
	FREE_NULL_LIST(queue);
}

/* ... in the order in which Slurm would look at it. */
static int collect_queue(struct sl_collector *c, struct sl_error *err)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK, .part = READ_LOCK,
				   .fed = READ_LOCK };
	struct sl_scratch *s = c->scratch;
	uint64_t t0;
	int rc = 0;

	lock_slurmctld(locks);
	t0 = sl_clock_us();
	if (!node_record_count || !job_list || !part_list || !avail_node_bitmap || !up_node_bitmap) {
		rc = sl_fail(err, SL_EBUSY, "slurmctld has not loaded its nodes yet");
	} else if (s->checked || (rc = check_layout(err)) >= 0) {
		s->checked |= rc > 0;
		rc = 0;
		ask_queue(c);
	}
	c->queue_us = sl_clock_us() - t0;
	unlock_slurmctld(locks);
	if (!rc && !s->preempts)
		qsort(s->queue, s->queue_len, sizeof(*s->queue), by_order);
	return rc;
}

/* -- second hold: the records ------------------------------------------------ */

/* The user ids of AllowGroups. */
static uint32_t allow_users(struct sl_collector *c, const part_record_t *p)
{
	uint32_t i, str, n = sl_allow_uids(p);
	size_t at = 0, room = (size_t) n * 11 + 1;
	char *list;

	if (!p->allow_groups)
		return 0;
	list = xmalloc(room);
	for (i = 0; i < n; i++)
		at += (size_t) snprintf(list + at, room - at, "%s%u", at ? "," : "", (unsigned) p->allow_uids[i]);
	str = sl_builder_str(c->b, n ? list : "-");
	xfree(list);
	return str;
}

/* Who may use it. */
static void fill_policy(struct sl_collector *c, struct sl_partition_row *row, const part_record_t *p)
{
	row->qos = sl_builder_str(c->b, p->qos_char);
	row->allow_accounts = sl_builder_str(c->b, p->allow_accounts);
	row->deny_accounts = sl_builder_str(c->b, p->deny_accounts);
	row->allow_qos = sl_builder_str(c->b, p->allow_qos);
	row->deny_qos = sl_builder_str(c->b, p->deny_qos);
	row->allow_users = allow_users(c, p);
}

static int each_part(void *x, void *arg)
{
	part_record_t *p = x;
	struct sl_collector *c = arg;
	struct sl_partition_row row = sl_partition_row();

	row.name = sl_builder_str(c->b, p->name);
	row.nodes = sl_collect_runs(c, p->node_bitmap);
	SL_FILL_PARTITION(&row, p);
	fill_policy(c, &row, p);
	if (p->priority_tier < c->scratch->min_tier)
		c->scratch->min_tier = p->priority_tier;
	c->part[c->parts] = p;
	c->parts = sl_builder_append(c->b, SL_T_PARTITION, &row) + 1;
	return 0;
}

/* Cores of its nodes in all, whoever has them. */
static int64_t cores_of_nodes(const bitstr_t *nodes)
{
	int64_t cores = 0;
	int i;

	for (i = 0; i < node_record_count && i < bit_size((bitstr_t *) nodes); i++)
		if (node_record_table_ptr[i] && bit_test((bitstr_t *) nodes, i))
			cores += node_record_table_ptr[i]->tot_cores;
	return cores;
}

/* What a reservation has of each of its nodes, where that is not all of them. */
static void fill_parts(struct sl_collector *c, struct sl_reservation_row *row, const slurmctld_resv_t *r)
{
	int i, at = 0;

	if (!r->core_bitmap || r->flags & RESERVE_FLAG_ALL_NODES ||
	    bit_set_count(r->core_bitmap) >= cores_of_nodes(r->node_bitmap))
		return;
	row->parts.first = sl_builder_rows(c->b, SL_T_ALLOC);
	for (i = 0; i < MIN(node_record_count, bit_size(r->node_bitmap)) && (uint32_t) i < c->node_slots; i++) {
		const node_record_t *n = node_record_table_ptr[i];
		int end = n ? (int) MIN(at + n->tot_cores, bit_size(r->core_bitmap)) : at;
		struct sl_alloc_row part = sl_alloc_row();

		if (at >= end)
			continue;
		part.node = c->node_row[i];
		part.cores = (uint32_t) bit_set_count_range(r->core_bitmap, at, end);
		at = end;
		if (part.node == SL_NONE || !bit_test(r->node_bitmap, i))
			continue;
		sl_builder_append(c->b, SL_T_ALLOC, &part);
		row->parts.count++;
		row->cores += part.cores;
	}
}

static int each_resv(void *x, void *arg)
{
	slurmctld_resv_t *r = x;
	struct sl_collector *c = arg;
	struct sl_reservation_row row = sl_reservation_row();

	if (r->magic != SL_RESV_MAGIC)
		return 0;
	row.name = sl_builder_str(c->b, r->name);
	row.start_time = r->start_time;
	row.end_time = r->end_time;
	row.flags = sl_resv_flags(r->flags);
	row.users = sl_builder_str(c->b, r->users);
	row.accounts = sl_builder_str(c->b, r->accounts);
	if (r->node_bitmap && !(r->flags & RESERVE_FLAG_ANY_NODES)) {
		row.nodes = sl_collect_runs(c, r->node_bitmap);
		fill_parts(c, &row, r);
	}
	row.licenses = sl_collect_licenses(c, r->license_list);
	c->resv_id[c->resvs] = r->resv_id;
	c->resvs = sl_builder_append(c->b, SL_T_RESERVATION, &row) + 1;
	return 0;
}

static int each_license(void *x, void *arg)
{
	licenses_t *l = x;
	struct sl_collector *c = arg;
	struct sl_license_row row = sl_license_row();

	row.name = sl_builder_str(c->b, l->name);
	row.total = l->total;
	row.used = l->used;	/* (what it says of reservations is as of the last scontrol show license) */
	sl_builder_append(c->b, SL_T_LICENSE, &row);
	return 0;
}

/* What cannot be noted for want of memory is told again. */
static void note_told(struct sl_tellings *t, struct sl_told told)
{
	if (sl_grow(&t->run, &t->room, t->count + UINT64_C(1), sizeof(*t->run), NULL) ||
	    sl_map_put(&t->by_job, sl_hash_id(told.job), t->count, NULL))
		return;
	t->run[t->count++] = told;
}

/*
 * Does this snapshot have to have the finished job, since the ledger may lack it?  A job that
 * was in a snapshot is so in each one, until the ledger has that snapshot, or a later one.
 */
static bool tell_ledger(struct sl_scratch *s, const job_record_t *job, bool recent)
{
	uint32_t was = sl_map_by_id(&s->told.by_job, job->job_id);
	struct sl_told is = { .job = job->job_id, .start = job->start_time };
	bool tell = recent;

	if (was != SL_MAP_NOTHING && s->told.run[was].start == job->start_time)
		is.sequence = s->told.run[was].sequence;
	if (!recent && s->in->ledger_safe >= 0 && (!is.sequence || is.sequence > s->in->ledger_safe))
		tell = s->only_told++ < SL_MOST_TOLD;
	if (tell && !is.sequence)
		is.sequence = s->in->sequence;
	note_told(&s->telling, is);
	return tell;
}

/* The finished jobs of the last snapshot become those of the one before. */
static void begin_telling(struct sl_scratch *s)
{
	struct sl_tellings before = s->told;

	s->told = s->telling;
	s->telling = before;
	s->telling.count = 0;
	sl_map_clear(&s->telling.by_job);
	s->only_told = 0;
}

/* Everything that runs or waits, and what finished a short while ago or is not in the
 * ledger. */
static void collect_job(struct sl_collector *c, job_record_t *job)
{
	if (job->magic != JOB_MAGIC || (job->details && job->details->magic != DETAILS_MAGIC))
		return;
	if (!IS_JOB_FINISHED(job) ||
	    tell_ledger(c->scratch, job, IS_JOB_COMPLETING(job) ||
			difftime(c->scratch->now, job->end_time) <= c->scratch->in->finished_s))
		sl_collect_job(c, job);
}

static void collect_meta(struct sl_collector *c)
{
	struct sl_meta_row row = sl_meta_row();
	uint16_t type = slurm_conf.select_type_param;

	row.now = c->scratch->now;
	row.cluster = sl_builder_str(c->b, slurm_conf.cluster_name);
	row.source = sl_builder_str(c->b, "slurmctld");
	row.slurm_version = sl_builder_str(c->b, SLURM_VERSION_STRING);
	row.sequence = c->scratch->in->sequence;
	row.seed = c->scratch->in->sequence;
	c->scratch->linear = !xstrcmp(slurm_conf.select_type, "select/linear");
	c->scratch->memory = type & CR_MEMORY;
	row.select_flags = (type & CR_MEMORY ? SL_SELECT_MEMORY : 0) |
		(c->scratch->linear ? SL_SELECT_WHOLE_NODE : 0) |
		(type & CR_ONE_TASK_PER_CORE ? SL_SELECT_ONE_TASK_PER_CORE : 0) |
		(type & CR_PACK_NODES ? SL_SELECT_PACK_NODES : 0) | (type & CR_LLN ? SL_SELECT_LLN : 0) |
		(type & CR_SOCKET ? SL_SELECT_SOCKET : 0);
	row.conf_stamp = slurm_conf.last_update;
	row.job_stamp = last_job_update;
	row.node_stamp = last_node_update;
	row.part_stamp = last_part_update;
	row.resv_stamp = last_resv_update;
	sl_builder_append(c->b, SL_T_META, &row);
}

/* True when the job has had a way in that partition before. */
static bool add_way(struct sl_collector *c, uint32_t job, uint32_t part, const struct sl_queue_rec *q)
{
	uint32_t *link = &c->first_way[job];
	bool before = false;

	for (; *link != SL_NONE; link = &c->way[*link].next)
		before |= c->way[*link].part == part;
	c->way[c->ways] = (struct sl_way) { q->job_id, part, q->resv_id, q->qos_id, SL_NONE, q->prefer };
	*link = c->ways++;
	return before;
}

static uint32_t resv_row(const struct sl_collector *c, uint32_t id)
{
	uint32_t r = 0;

	while (r < c->resvs && c->resv_id[r] != id)
		r++;
	return id && r < c->resvs ? r : SL_NONE;
}

/* The reservations of the ways to start the job there, each once. */
static struct sl_range add_ways(struct sl_collector *c, const struct sl_queue_row *queue)
{
	struct sl_range r = { sl_builder_rows(c->b, SL_T_WAY), 0 };
	uint32_t w, v;

	for (w = c->first_way[queue->job]; w != SL_NONE; w = c->way[w].next) {
		struct sl_way_row row = { .reservation = resv_row(c, c->way[w].resv_id) };

		for (v = c->first_way[queue->job]; v != w && (c->way[v].part != c->way[w].part ||
							     c->way[v].resv_id != c->way[w].resv_id); v = c->way[v].next)
			;
		/* (one that was deleted a moment ago is no way any more) */
		if (v != w || c->way[w].part != queue->partition ||
		    (c->way[w].resv_id && row.reservation == SL_NONE))
			continue;
		sl_builder_append(c->b, SL_T_WAY, &row);
		r.count++;
	}
	return r;
}

static void collect_ways(struct sl_collector *c)
{
	struct sl_queue_row row;
	uint32_t i;

	for (i = 0; i < c->queued; i++)
		if (!sl_builder_row(c->b, SL_T_QUEUE, i, &row)) {
			row.ways = add_ways(c, &row);
			sl_builder_update(c->b, SL_T_QUEUE, i, &row);
		}
}

/* Queue rows; entries that stand for the same job in the same partition (in a
 * magnetic reservation, with preferred features) become ways to start it. */
static void collect_entries(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;
	bool reserved = false;
	uint32_t i;

	xrecalloc(c->way, MAX(s->queue_len, 1), sizeof(*c->way));
	if (sl_builder_rows(c->b, SL_T_JOB) > s->first_way_room) {
		s->first_way_room = sl_builder_rows(c->b, SL_T_JOB) * 2;
		xrecalloc(c->first_way, s->first_way_room, sizeof(*c->first_way));
	}
	memset(c->first_way, 0xff, s->first_way_room * sizeof(*c->first_way));
	c->ways = c->queued = 0;
	for (i = 0; i < s->queue_len; i++) {
		const struct sl_queue_rec *q = &s->queue[i];
		struct sl_queue_row row = sl_queue_row();
		struct sl_job_row job;

		row.job = sl_collect_row(c, q->job_id);
		row.partition = sl_collect_part(c, q->part);
		if (row.job == SL_NONE || row.partition == SL_NONE ||
		    sl_builder_row(c->b, SL_T_JOB, row.job, &job) || job.state != SL_JOB_PENDING)
			continue;
		reserved |= q->resv_id != 0;
		if (add_way(c, row.job, row.partition, q))
			continue;
		row.priority = q->priority;
		sl_builder_append(c->b, SL_T_QUEUE, &row);
		c->queued++;
	}
	if (reserved)
		collect_ways(c);
}

static void make_room(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;

	sl_map_clear(&s->row_of);
	(void) sl_map_reserve(&s->row_of, (uint64_t) list_count(job_list), NULL);
	begin_telling(s);
	s->nameless_len = s->commented_len = s->kinds = s->uncounted_len = 0;
	s->min_tier = UINT32_MAX;
	c->parts = c->resvs = c->running = 0;
	c->lent = false;
}

/* -- the holds for copying ------------------------------------------------------ */

static const slurmctld_lock_t copy_locks = { .conf = READ_LOCK, .job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK };
static const assoc_mgr_lock_t qos_lock = { .qos = READ_LOCK };

static void take_locks(struct sl_collector *c)
{
	assoc_mgr_lock_t qos = qos_lock;

	lock_slurmctld(copy_locks);
	c->scratch->held_since = sl_clock_us();
	assoc_mgr_lock(&qos);
}

static void leave_locks(struct sl_collector *c)
{
	assoc_mgr_lock_t qos = qos_lock;

	assoc_mgr_unlock(&qos);
	c->copy_us = MAX(c->copy_us, sl_clock_us() - c->scratch->held_since);
	unlock_slurmctld(copy_locks);
}

bool sl_collect_breathe(struct sl_collector *c)
{
	if (sl_clock_us() - c->scratch->held_since < COPY_HOLD_US)
		return true;
	leave_locks(c);
	take_locks(c);
	c->scratch->breaths++;
	return slurm_conf.last_update == c->conf_update && node_record_count == c->node_count && job_list;
}

static int each_id(void *x, void *arg)
{
	const job_record_t *job = x;
	struct sl_scratch *s = arg;

	s->id[s->ids++] = job->job_id;
	return 0;
}

/*
 * Jobs are looked up one by one, since the list may change while the locks are not held.  One that
 * ended meanwhile has ended in the snapshot, or has its nodes a little longer than in truth.
 */
static bool collect_jobs(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;
	uint32_t i, jobs = (uint32_t) list_count(job_list);

	if (jobs > s->id_room) {
		s->id_room = jobs + jobs / 2;
		xrecalloc(s->id, s->id_room, sizeof(*s->id));
	}
	s->ids = 0;
	list_for_each(job_list, each_id, s);
	for (i = 0; i < s->ids; i++) {
		job_record_t *job;

		if (!sl_collect_breathe(c))
			return false;
		if ((job = find_job_record(s->id[i])))
			collect_job(c, job);
	}
	return true;
}

/* Partitions, licences and reservations, in one hold: there may be more of them than in that in which
 * the nodes were begun. */
static void collect_lists(struct sl_collector *c)
{
	xrecalloc(c->part, list_count(part_list) + 1, sizeof(*c->part));
	xrecalloc(c->resv_id, resv_list ? list_count(resv_list) + 1 : 1, sizeof(*c->resv_id));
	list_for_each(part_list, each_part, c);
	if (sl_licenses)
		list_for_each(sl_licenses, each_license, c);
	if (resv_list)
		list_for_each(resv_list, each_resv, c);
}

static int copy_records(struct sl_collector *c, struct sl_error *err)
{
	if (!node_record_count || !job_list || !part_list)
		return sl_fail(err, SL_EBUSY, "slurmctld is loading its nodes anew");
	make_room(c);
	c->conf_update = slurm_conf.last_update;
	c->node_count = node_record_count;
	collect_meta(c);
	if (!sl_collect_nodes(c) || !part_list)
		goto changed;
	collect_lists(c);
	if (collect_jobs(c))
		return 0;
changed:
	c->lent = true;		/* not all jobs were looked at */
	return sl_fail(err, SL_EBUSY, "the configuration changed meanwhile");
}

/* A node that was deleted and made anew in another place while the locks were not held would
 * be there twice. */
static int check_names(const struct sl_collector *c, struct sl_error *err)
{
	struct sl_map seen = { 0 };
	struct sl_node_row row;
	uint32_t i;
	int rc = 0;

	for (i = 0; c->scratch->breaths && i < c->nodes && !rc; i++) {
		sl_builder_row(c->b, SL_T_NODE, i, &row);
		if (sl_map_by_id(&seen, row.name) != SL_MAP_NOTHING)
			rc = sl_fail(err, SL_EBUSY, "a node was made anew meanwhile");
		else
			rc = sl_map_put(&seen, sl_hash_id(row.name), i, err);
	}
	sl_map_free(&seen);
	return rc;
}

static int collect_records(struct sl_collector *c, struct sl_error *err)
{
	int rc;

	c->copy_us = c->scratch->breaths = 0;
	take_locks(c);
	rc = copy_records(c, err);
	leave_locks(c);
	return rc ? rc : check_names(c, err);
}

/* -- after the locks --------------------------------------------------------- */

static const char *user_name(struct sl_scratch *s, uid_t uid)
{
	size_t at = uid % (sizeof(s->user) / sizeof(s->user[0]));
	char *name;

	if (s->user[at].when && s->user[at].uid == uid && s->now - s->user[at].when < 600)
		return s->user[at].name;
	name = uid_to_string(uid);	/* "nobody" when there is none */
	s->user[at].uid = uid;
	s->user[at].when = s->now;
	snprintf(s->user[at].name, sizeof(s->user[at].name), "%s", name ? name : "");
	xfree(name);
	return s->user[at].name;
}

static void name_users(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;
	struct sl_job_row row;
	uint32_t i;

	for (i = 0; i < s->nameless_len; i++) {
		if (sl_builder_row(c->b, SL_T_JOB, s->nameless[i].row, &row))
			continue;
		row.user = sl_builder_str(c->b, user_name(s, s->nameless[i].uid));
		sl_builder_update(c->b, SL_T_JOB, s->nameless[i].row, &row);
	}
}

int sl_collect(struct sl_collector *c, const struct sl_collect_in *in, struct sl_error *err)
{
	c->scratch->in = in;
	c->scratch->now = time(NULL);
	sl_builder_reset(c->b);
	if (collect_queue(c, err) || collect_records(c, err))
		return -1;
	collect_entries(c);
	name_users(c);
	sl_collect_shapes(c);
	sl_remember_encode(in->remembered, c->b, SL_T_REMEMBERED);
	if (sl_builder_finish(c->b, &c->bytes, &c->size, err) ||
	    sl_snapshot_open(&c->snap, c->bytes, c->size, err))
		return sl_fail_in(err, "snapshot");
	return 0;
}
