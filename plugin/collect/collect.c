/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/collect.c - takes a snapshot: the order of its steps, and the locks that they hold */
#include <stdlib.h>

#include "plugin/collect/int.h"

struct sl_collector *sl_collector_create(struct sl_error *err)
{
	struct sl_collector *c = xmalloc(sizeof(*c));

	c->scratch = xmalloc(sizeof(*c->scratch));
	c->lent.unsure = true;		/* slurmctld may have started some before it was restarted */
	if (!(c->b = sl_builder_create(&sl_snapshot_schema, err))) {
		sl_collector_destroy(c);
		return NULL;
	}
	return c;
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
	free(c->lent.job);
	sl_map_free(&c->scratch->preemptees);
	xfree(c->scratch->nameless);
	xfree(c->scratch->commented);
	sl_collect_free_told(&c->scratch->told);
	sl_collect_free_told(&c->scratch->telling);
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

/* -- the records ------------------------------------------------ */

/* Copies each job that runs or waits, and finished ones that are recent or not in the ledger.  A job that ends while the
 * snapshot is taken may be in it as ended, or as having its nodes a little longer than it does. */
static void collect_job(struct sl_collector *c, void *x)
{
	job_record_t *job = x;

	if (job->magic != JOB_MAGIC || (job->details && job->details->magic != DETAILS_MAGIC) ||
	    sl_collect_row(c, job->job_id) != SL_NONE)	/* (if the list was sorted in between, the iterator begins again) */
		return;
	if (!IS_JOB_FINISHED(job) ||
	    sl_collect_is_told(c->scratch, job, IS_JOB_COMPLETING(job) ||
			       difftime(c->scratch->now, job->end_time) <= c->scratch->in->finished_s))
		sl_collect_job(c, job);
}

static void collect_meta(struct sl_collector *c)
{
	struct sl_meta_row row = sl_meta_row();

	row.now = c->scratch->now;
	row.cluster = sl_builder_str(c->b, slurm_conf.cluster_name);
	row.source = sl_builder_str(c->b, "slurmctld");
	row.slurm_version = sl_builder_str(c->b, SLURM_VERSION_STRING);
	row.sequence = c->scratch->in->sequence;
	row.seed = c->scratch->in->sequence;
	c->scratch->linear = !xstrcmp(slurm_conf.select_type, "select/linear");
	c->scratch->memory = slurm_conf.select_type_param & CR_MEMORY;
	SL_FILL_SELECT(&row, &slurm_conf);
	SL_FILL_ENDS(&row, &slurm_conf);
	row.conf_stamp = slurm_conf.last_update;
	row.job_stamp = last_job_update;
	row.node_stamp = last_node_update;
	row.part_stamp = last_part_update;
	row.resv_stamp = last_resv_update;
	sl_builder_append(c->b, SL_T_META, &row);
}

static void make_room(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;

	sl_map_clear(&s->row_of);
	(void) sl_map_reserve(&s->row_of, (uint64_t) list_count(job_list), NULL);
	sl_collect_begin_telling(s);
	s->nameless_len = s->commented_len = s->kinds = s->uncounted_len = s->by_type_len = 0;
	s->min_tier = UINT32_MAX;
	s->start_delay = 0;
	sl_collect_forget_preempts(s);
	c->parts = c->resvs = c->running = 0;
	c->lent.count = 0;
	c->lent.unsure = false;
}

/* -- the holds for copying ------------------------------------------------------ */

static const slurmctld_lock_t copy_locks = { .conf = READ_LOCK, .job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK };
static const assoc_mgr_lock_t limit_locks = { .assoc = READ_LOCK, .qos = READ_LOCK };

static void take_locks(struct sl_collector *c)
{
	assoc_mgr_lock_t limits = limit_locks;

	lock_slurmctld(copy_locks);
	c->scratch->held_since = sl_clock_us();
	assoc_mgr_lock(&limits);
}

static void leave_locks(struct sl_collector *c)
{
	assoc_mgr_lock_t limits = limit_locks;

	assoc_mgr_unlock(&limits);
	c->copy_us = MAX(c->copy_us, sl_clock_us() - c->scratch->held_since);
	unlock_slurmctld(copy_locks);
}

bool sl_collect_breathe(struct sl_collector *c)
{
	if (sl_clock_us() - c->scratch->held_since < SL_COLLECT_HOLD_US)
		return true;
	leave_locks(c);
	take_locks(c);
	sl_collect_forget_preempts(c->scratch);
	c->scratch->breaths++;
	return slurm_conf.last_update == c->conf_update && node_record_count == c->node_count && job_list;
}

bool sl_collect_each(struct sl_collector *c, sl_list_t *list, sl_collect_record *record)
{
	sl_list_t was = *list;
	sl_list_itr_t i = was ? list_iterator_create(was) : NULL;
	bool same = true;
	void *x;

	/* (compare the list, too: after two reconfigurations within a second last_update is the same) */
	while (i && (same = sl_collect_breathe(c) && *list == was) && (x = list_next(i)))
		record(c, x);
	if (i && *list == was)
		list_iterator_destroy(i);	/* else the iterator went with the list */
	return same;
}

static int copy_records(struct sl_collector *c, struct sl_error *err)
{
	if (!node_record_count || !job_list || !part_list)
		return sl_fail(err, SL_EBUSY, "slurmctld is loading its nodes anew");
	make_room(c);
	c->conf_update = slurm_conf.last_update;
	c->node_count = node_record_count;
	collect_meta(c);
	if (sl_collect_nodes(c) && sl_collect_lists(c) && sl_collect_each(c, &job_list, collect_job)) {
		sl_collect_held(c);
		return 0;
	}
	c->lent.unsure = true;		/* because not all jobs were looked at */
	return sl_fail(err, SL_EBUSY, "the configuration changed meanwhile");
}

/* Fails if a node is there twice: it was deleted and created in another slot between two holds. */
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

	c->scratch->breaths = 0;
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
	name = uid_to_string(uid);	/* "nobody" if there is no such user */
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
	if (sl_collect_queue(c, err) || collect_records(c, err))
		return -1;
	sl_collect_entries(c);
	name_users(c);
	sl_collect_shapes(c);
	sl_remember_encode(in->remembered, c->b, SL_T_REMEMBERED);
	if (sl_builder_finish(c->b, &c->bytes, &c->size, err) ||
	    sl_snapshot_open(&c->snap, c->bytes, c->size, err))
		return sl_fail_in(err, "snapshot");
	return 0;
}
