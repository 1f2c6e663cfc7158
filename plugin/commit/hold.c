/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold.c - see hold.h */
#include <stdlib.h>

#include "base/map.h"
#include "plugin/commit/hold.h"

/* -- the nodes that are held --------------------------------------------------------- */

struct sl_off {
	uint32_t job;
	bitstr_t *nodes;
};

static void forget_offs(struct sl_commit *m)
{
	for (uint32_t i = 0; i < m->offs; i++)
		FREE_NULL_BITMAP(m->off[i].nodes);
	xfree(m->off);
	m->offs = 0;
}

static bitstr_t *nodes_of(const struct sl_held *h)
{
	bitstr_t *nodes = bit_alloc(MAX(node_record_count, 1));

	for (uint32_t i = 0; i < h->nodes; i++) {
		const node_record_t *n = find_node_record(h->node[i].name);

		if (n && (uint32_t) n->index < (uint32_t) node_record_count)
			bit_set(nodes, n->index);
	}
	return nodes;
}

static void make_offs(struct sl_commit *m)
{
	const struct sl_held_book *b = m->held;

	if (m->off || !b->places)
		return;
	m->off = xcalloc(b->places, sizeof(*m->off));
	for (; m->offs < b->places; m->offs++)
		m->off[m->offs] = (struct sl_off) { b->place[m->offs].job, nodes_of(&b->place[m->offs]) };
}

void sl_hold_keep_off(struct sl_commit *m, uint32_t job, bitstr_t **off)
{
	make_offs(m);
	for (uint32_t i = 0; i < m->offs; i++) {
		if (m->off[i].job == job)
			continue;
		if (!*off)
			*off = bit_alloc(MAX(node_record_count, 1));
		bit_or(*off, m->off[i].nodes);
	}
}

const bitstr_t *sl_hold_nodes(struct sl_commit *m, uint32_t job)
{
	make_offs(m);
	for (uint32_t i = 0; i < m->offs; i++)
		if (m->off[i].job == job)
			return m->off[i].nodes;
	return NULL;
}

time_t sl_hold_quiet_begin(const struct sl_commit *m, job_record_t *job)
{
	time_t before = job->details->preempt_start_time;

	if (!sl_held_find(m->held, job->job_id))
		return SL_HOLD_LOUD;
	job->details->preempt_start_time = time(NULL);
	return before;
}

void sl_hold_quiet_end(job_record_t *job, time_t before)
{
	if (job->details && before != SL_HOLD_LOUD)
		job->details->preempt_start_time = before;
}

struct sl_note *sl_hold_note(struct sl_commit *m, uint32_t job)
{
	uint32_t row = sl_collect_row(m->c, job);

	return sl_note_write(m->notes, job, row == SL_NONE ? 0 : m->c->snap.job.submit_time[row]);
}

void sl_hold_tell(struct sl_commit *m, uint32_t job)
{
	struct sl_note *note = sl_hold_note(m, job);

	if (note->unstopped)
		info("sched/lua: a place is held for JobId=%u, and others are stopped for it", job);
	note->unstopped = 0;
}

static void forget_off(struct sl_commit *m, uint32_t job)
{
	uint32_t i = 0;

	while (i < m->offs && m->off[i].job != job)
		i++;
	if (i < m->offs) {
		FREE_NULL_BITMAP(m->off[i].nodes);
		memmove(&m->off[i], &m->off[i + 1], (--m->offs - i) * sizeof(*m->off));
	}
}

bool sl_hold_end(struct sl_commit *m, uint32_t job)
{
	forget_off(m, job);
	return sl_held_drop(m->held, job);
}

static void tell_elsewhere(struct sl_commit *m, uint32_t job, const job_record_t *as)
{
	const bitstr_t *place = sl_held_find(m->held, job) ? sl_hold_nodes(m, job) : NULL;
	uint32_t left;

	if (!place || !as->node_bitmap || bit_super_set(as->node_bitmap, (bitstr_t *) place))
		return;
	left = sl_collect_left(m->held, job, sl_held_find(m->held, job)->since);
	info("sched/lua: JobId=%u has started earlier on other nodes than the place that is held for it, which is released%s", job,
	     left ? "; jobs that were told to end for it end nevertheless" : "");
}

bool sl_hold_started(struct sl_commit *m, uint32_t job, const job_record_t *as)
{
	tell_elsewhere(m, job, as);
	forget_off(m, job);
	return sl_held_take(m->held, job, as->job_id, time(NULL));
}

void sl_hold_free(struct sl_commit *m)
{
	forget_offs(m);
}

bool sl_hold_save(struct sl_commit *m)
{
	struct sl_error err = { SL_OK, "" };

	if (!sl_held_save(m->held, time(NULL), &err))
		return true;
	if (sl_status_trouble(m->status, SL_TROUBLE_HELD, err.text))
		error("sched/lua: %s: no job is stopped for another one, since its place would be forgotten with slurmctld", err.text);
	return false;
}

/* -- from the plan into the book ------------------------------------------------------- */

/* A place while it is copied from the plan.  Its texts belong to the snapshot. */
struct copy {
	struct sl_commit *m;
	struct sl_map reserve;		/* job -> row of the plan's reservations */
	struct sl_held place;
};

static void free_copy(struct sl_held *h)
{
	for (uint32_t i = 0; i < h->nodes; i++)
		xfree(h->node[i].gres);
	xfree(h->node);
	h->nodes = 0;
}

static char *kind_key(const struct sl_snapshot *snap, uint32_t kind)
{
	return (char *) (kind < snap->gres_kind.rows ? sl_snapshot_str(snap, snap->gres_kind.key[kind]) : "");
}

static void copy_gres(const struct copy *x, struct sl_held_node *n, struct sl_range gres)
{
	const struct sl_snapshot *snap = &x->m->c->snap;
	const struct sl_plan_place_gres_view *v = &x->m->plan->place_gres;

	n->gres = xcalloc(MAX(gres.count, 1), sizeof(*n->gres));
	for (uint32_t i = gres.first; i < gres.first + gres.count; i++)
		if (v->kind[i] < snap->gres_kind.rows)
			n->gres[n->gres_count++] = (struct sl_held_gres) { kind_key(snap, v->kind[i]), kind_key(snap, v->of[i]), v->count[i],
									   v->devices[i] };
}

/* Copy the places of a reservation of the plan.  NULL, or a text that says what is wrong with them. */
static const char *copy_nodes(struct copy *x, uint32_t reserve)
{
	const struct sl_snapshot *snap = &x->m->c->snap;
	const struct sl_plan_image *plan = x->m->plan;
	struct sl_range r = plan->reserve.places[reserve];

	if (plan->reserve.native[reserve])
		return "its nodes are not known before it starts";
	if (!r.count)
		return "its place has no nodes";
	x->place.node = xcalloc(r.count, sizeof(*x->place.node));
	for (uint32_t i = r.first; i < r.first + r.count; i++) {
		struct sl_held_node *n = &x->place.node[x->place.nodes];

		if (!sl_collect_node(x->m->c, plan->place.node[i]))
			return "a node of its place is gone, or another one now";
		n->name = (char *) sl_snapshot_str(snap, snap->node.name[plan->place.node[i]]);
		n->cores = plan->place.cores[i];
		n->memory = MAX(plan->place.memory[i], 0);
		copy_gres(x, n, plan->place.gres[i]);
		x->place.nodes++;
	}
	return NULL;
}

#define LONGEST_S (31 * 86400)		/* for which a place may be held */

/* Enter row *i* of the plan's holds in the book.  NULL, or a text that says why not. */
static const char *hold_place(struct copy *x, uint32_t i, struct sl_error *err)
{
	struct sl_commit *m = x->m;
	const struct sl_plan_hold_view *v = &m->plan->hold;
	const struct sl_snapshot *snap = &m->c->snap;
	uint32_t reserve = sl_map_by_id(&x->reserve, v->job[i]), part;
	const job_record_t *job = find_job_record(v->job[i]);
	const char *why;

	if (reserve == SL_MAP_NOTHING)
		return "the plan has no reservation for it";
	part = m->plan->reserve.partition[reserve];
	if (part >= snap->partition.rows)
		return "the plan names a partition that does not exist";
	if (!job || !sl_job_sane(job) || !IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job))
		return "it does not wait any more";
	if (sl_job_stamp(job) != v->stamp[i])
		return "it was changed meanwhile";
	if (v->until[i] <= time(NULL))
		return "its place is to be held until a time that is past";
	if (v->until[i] > time(NULL) + LONGEST_S)
		return "its place is to be held for more than 31 days";
	x->place = (struct sl_held) { .job = v->job[i], .user = job->user_id, .stamp = v->stamp[i], .until = v->until[i],
				      .partition = (char *) sl_snapshot_str(snap, snap->partition.name[part]) };
	if ((why = copy_nodes(x, reserve)))
		return why;
	return sl_held_put(m->held, &x->place, err) ? NULL : err->text;
}

static void run_hold(struct copy *x, uint32_t i, const char **refused)
{
	const struct sl_plan_hold_view *v = &x->m->plan->hold;
	struct sl_error err = { SL_OK, "" };
	bool again = sl_held_find(x->m->held, v->job[i]);
	struct sl_note *note;

	if (v->release[i]) {
		if (sl_held_drop(x->m->held, v->job[i]))
			info("sched/lua: the place that is held for JobId=%u is released by the plan", v->job[i]);
		return;
	}
	refused[i] = hold_place(x, i, &err);
	if (refused[i] == err.text)
		refused[i] = "no more places can be held";
	free_copy(&x->place);
	if (!refused[i] && again)
		return;
	note = sl_hold_note(x->m, v->job[i]);
	if (refused[i] && sl_note_says(&note->unheld, refused[i]))
		info("sched/lua: no place is held for JobId=%u: %s", v->job[i], refused[i]);
	else if (!refused[i])
		note->unheld = 0;
	/* (not while the stops for the job are refused, perhaps in each cycle: then the place is given up again at once) */
	if (!refused[i] && !note->unstopped)
		info("sched/lua: a place is held for JobId=%u", v->job[i]);
}

static bool map_reservations(struct copy *x)
{
	const struct sl_plan_reserve_view *v = &x->m->plan->reserve;

	if (sl_map_reserve(&x->reserve, v->rows, NULL))
		return false;
	for (uint32_t i = 0; i < v->rows; i++)
		(void) sl_map_put(&x->reserve, sl_hash_id(v->job[i]), i, NULL);
	return true;
}

void sl_hold_run(struct sl_commit *m, const char **refused)
{
	struct copy x = { .m = m };
	uint32_t i = 0, n = m->plan->hold.rows;

	forget_offs(m);
	for (uint32_t k = 0; k < n; k++)
		refused[k] = "slurmctld ends, or has another configuration";
	if (n && !map_reservations(&x))
		n = 0;
	while (i < n && !atomic_load(m->stop)) {
		struct sl_hold h;

		sl_hold_take(&h, m, (slurmctld_lock_t) { .conf = READ_LOCK, .job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK });
		if (!sl_commit_same_world(m))
			n = 0;
		for (; i < n && sl_hold_lasts(&h); i++)
			run_hold(&x, i, refused);
		sl_hold_leave(&h);
	}
	sl_map_free(&x.reserve);
}
