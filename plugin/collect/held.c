/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/held.c - held places and stopped jobs in the snapshot; see collect/int.h */
#include "plugin/collect/int.h"

/* -- places that are no longer held ----------------------------------------------------- */

static const char started[] = "the job has started";

/* Why the place is no longer held, or NULL. */
static const char *why_given_up(const struct sl_scratch *s, const struct sl_held *h)
{
	const job_record_t *job = find_job_record(h->job);

	if (!job || !sl_job_sane(job) || job->user_id != h->user || IS_JOB_FINISHED(job))
		return "the job is gone";
	if (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job))
		return started;
	if (!job->priority)
		return "the job is held";
	if (sl_job_stamp(job) != h->stamp)
		return "the job was changed";
	if (!find_part_record(h->partition))
		return "its partition is gone";
	if (h->until <= s->now)
		return "its time is over";
	for (uint32_t i = 0; i < h->nodes; i++)
		if (!find_node_record(h->node[i].name))
			return "one of its nodes is gone";
	return NULL;
}

static void give_up_places(struct sl_scratch *s, struct sl_held_book *b)
{
	uint32_t i = 0;

	while (i < b->places) {
		const char *why = why_given_up(s, &b->place[i]);

		if (!why) {
			i++;
			continue;
		}
		info("sched/lua: the place that is held for JobId=%u is given up: %s", b->place[i].job, why);
		if (why == started)
			(void) sl_held_take(b, b->place[i].job, b->place[i].job, s->now);
		else
			(void) sl_held_drop(b, b->place[i].job);
	}
}

/* True if the stop is older than SL_STOPPED_LASTS_S and the stopped job is not pending again. */
static bool is_forgotten(const struct sl_stopped *s, void *arg)
{
	const struct sl_scratch *scratch = arg;
	const job_record_t *job;

	if (scratch->now - s->time < SL_STOPPED_LASTS_S)
		return false;
	job = find_job_record(s->job);
	return !job || !IS_JOB_PENDING(job);
}

uint32_t sl_collect_left(const struct sl_held_book *b, uint32_t preemptor, int64_t since)
{
	uint32_t left = 0;

	SL_HELD_EACH_STOP(b, preemptor, at) {
		const struct sl_stopped *s = sl_held_stop_at(b, at.value);
		const job_record_t *job = s->time >= since ? find_job_record(s->job) : NULL;

		left += job && job->start_time == s->start_time &&
			(IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job) || IS_JOB_COMPLETING(job));
	}
	return left;
}

/* -- rows ----------------------------------------------------------------------------- */

/* The kind of gres with that key, "name" or "name:type". */
static uint32_t kind_of(struct sl_collector *c, const char *key)
{
	const char *colon = strchr(key, ':');
	char name[64];

	if (!*key)
		return SL_NONE;
	snprintf(name, sizeof(name), "%.*s", colon ? (int) (colon - key) : (int) strlen(key), key);
	return sl_collect_kind(c, name, colon ? colon + 1 : "");
}

static struct sl_range add_gres(struct sl_collector *c, const struct sl_held_node *n)
{
	struct sl_range r = { sl_builder_rows(c->b, SL_T_ALLOC_GRES), 0 };

	for (uint32_t i = 0; i < n->gres_count; i++) {
		struct sl_alloc_gres_row row = sl_alloc_gres_row();

		row.kind = kind_of(c, n->gres[i].kind);
		row.count = n->gres[i].count;
		row.of = kind_of(c, n->gres[i].of);
		row.devices = n->gres[i].devices;
		if (row.kind == SL_NONE)
			continue;
		sl_builder_append(c->b, SL_T_ALLOC_GRES, &row);
		r.count++;
	}
	return r.count ? r : (struct sl_range) { 0, 0 };
}

struct at {		/* a node of a place */
	uint32_t row;
	const struct sl_held_node *node;
};

static int by_row(const void *a, const void *b)
{
	const struct at *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

/* The rows of the place's nodes that are in the snapshot, in its order. */
static struct sl_range add_places(struct sl_collector *c, const struct sl_held *h)
{
	struct sl_range r = { sl_builder_rows(c->b, SL_T_ALLOC), 0 };
	struct at *at = xcalloc(MAX(h->nodes, 1), sizeof(*at));
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->nodes; i++) {
		const node_record_t *node = find_node_record(h->node[i].name);

		if (node && (uint32_t) node->index < c->node_slots && c->node_row[node->index] != SL_NONE)
			at[n++] = (struct at) { c->node_row[node->index], &h->node[i] };
	}
	qsort(at, n, sizeof(*at), by_row);
	for (uint32_t i = 0; i < n; i++) {
		struct sl_alloc_row row = sl_alloc_row();

		if (i && at[i].row == at[i - 1].row)
			continue;
		row.node = at[i].row;
		row.cores = at[i].node->cores;
		row.memory = at[i].node->memory;
		row.gres = add_gres(c, at[i].node);
		sl_builder_append(c->b, SL_T_ALLOC, &row);
		r.count++;
	}
	xfree(at);
	return r.count ? r : (struct sl_range) { 0, 0 };
}

static void add_place(struct sl_collector *c, const struct sl_held *h)
{
	const struct sl_scratch *s = c->scratch;
	struct sl_held_row row = sl_held_row();
	struct sl_job_row job;

	row.job = sl_collect_row(c, h->job);
	row.partition = sl_collect_part(c, find_part_record(h->partition));
	/* (the snapshot is copied in several holds: the job may have started before or after its record was copied) */
	if (row.job == SL_NONE || row.partition == SL_NONE || sl_builder_row(c->b, SL_T_JOB, row.job, &job) ||
	    job.state != SL_JOB_PENDING)
		return;
	row.since = h->since ? h->since : s->now;
	row.until = h->until;
	row.places = add_places(c, h);
	sl_builder_append(c->b, SL_T_HELD, &row);
}

static void add_stop(struct sl_collector *c, const struct sl_stopped *s)
{
	struct sl_stopped_row row = sl_stopped_row();
	const part_record_t *part = find_part_record(s->partition);

	row.job = s->job;
	row.preemptor = s->preemptor;
	row.time = s->time;
	row.user = sl_builder_str(c->b, s->user);
	row.partition = part ? sl_collect_part(c, part) : SL_NONE;
	row.started = s->started;
	sl_builder_append(c->b, SL_T_STOPPED, &row);
}

void sl_collect_held(struct sl_collector *c)
{
	struct sl_held_book *b = c->scratch->in->held;

	give_up_places(c->scratch, b);
	sl_held_forget_stops(b, is_forgotten, c->scratch);
	for (uint32_t i = 0; i < b->places; i++) {
		b->place[i].left = sl_collect_left(b, b->place[i].job, b->place[i].since);
		add_place(c, &b->place[i]);
	}
	for (uint32_t i = 0; i < b->stops; i++)
		add_stop(c, &b->stopped[i]);
}
