/* SPDX-License-Identifier: MIT */
/* fake_stops.c - see fake_stops.h */
#include "t/plugin/fake_stops.h"

#include <string.h>

#define MOST 64		/* nodes of a place */

struct want {
	const struct sl_snapshot *snap;
	struct sl_builder *b;
	uint32_t job, partition;	/* rows */
	uint32_t node[MOST], nodes;
	uint32_t cores;			/* of each node */
};

static const char *name_of(const struct sl_snapshot *s, uint32_t job)
{
	return sl_snapshot_str(s, s->job.name[job]);
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

bool stops_holds(const struct sl_snapshot *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->held.rows; i++)
		for (uint32_t k = 0; k < s->held.places[i].count; k++)
			if (s->alloc.node[s->held.places[i].first + k] == node)
				return true;
	return false;
}

/* -- rows ------------------------------------------------------------------ */

static struct sl_range add_places(const struct want *w)
{
	struct sl_range r = { sl_builder_rows(w->b, SL_P_PLACE), w->nodes };
	struct sl_plan_place_row place = sl_plan_place_row();

	for (uint32_t i = 0; i < w->nodes; i++) {
		place.node = w->node[i];
		place.cores = w->cores;
		sl_builder_append(w->b, SL_P_PLACE, &place);
	}
	return r;
}

static void add_start(const struct want *w, bool native)
{
	struct sl_plan_start_row row = sl_plan_start_row();

	row.job = w->snap->job.id[w->job];
	row.stamp = w->snap->job.stamp[w->job];
	row.partition = w->partition;
	row.native = native;
	row.by = sl_builder_str(w->b, "fake");
	row.places = add_places(w);
	sl_builder_append(w->b, SL_P_START, &row);
}

static void add_hold(const struct want *w, int64_t seconds)
{
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();
	struct sl_plan_hold_row hold = sl_plan_hold_row();
	int64_t now = w->snap->meta.now[0];

	reserve.job = hold.job = w->snap->job.id[w->job];
	reserve.start_time = now + 60;
	reserve.partition = w->partition;
	reserve.places = add_places(w);
	reserve.by = hold.by = sl_builder_str(w->b, "fake");
	sl_builder_append(w->b, SL_P_RESERVE, &reserve);
	hold.stamp = w->snap->job.stamp[w->job];
	hold.until = now + seconds;
	hold.because = sl_builder_str(w->b, "its name says so");
	sl_builder_append(w->b, SL_P_HOLD, &hold);
}

static void add_stop(const struct want *w, uint32_t victim, uint32_t group)
{
	struct sl_plan_stop_row row = sl_plan_stop_row();

	row.job = w->snap->job.id[victim];
	row.start_time = w->snap->job.start_time[victim];
	row.preemptor = w->snap->job.id[w->job];
	row.group = group;
	row.cost = 1;
	row.by = sl_builder_str(w->b, "fake");
	sl_builder_append(w->b, SL_P_STOP, &row);
}

/* -- what is planned ---------------------------------------------------------- */

static void add_node(struct want *w, uint32_t node)
{
	uint32_t i = 0;

	while (i < w->nodes && w->node[i] < node)
		i++;
	if (w->nodes == MOST || (i < w->nodes && w->node[i] == node))
		return;
	memmove(&w->node[i + 1], &w->node[i], (w->nodes++ - i) * sizeof(w->node[0]));
	w->node[i] = node;
}

static void add_nodes(struct want *w, struct sl_range alloc)
{
	for (uint32_t i = alloc.first; i < alloc.first + alloc.count; i++)
		add_node(w, w->snap->alloc.node[i]);
}

static bool is_free(const struct want *w, const uint32_t *free)
{
	for (uint32_t i = 0; i < w->nodes; i++)
		if (free[w->node[i]] < w->cores || w->snap->node.state[w->node[i]] & SL_NODE_UNUSABLE)
			return false;
	return w->nodes > 0;
}

/* Has a place: start in it, or go on waiting. */
static void use_place(struct want *w, uint32_t held, uint32_t *free, bool brief)
{
	add_nodes(w, w->snap->held.places[held]);
	w->cores = w->snap->alloc.cores[w->snap->held.places[held].first];
	if (!is_free(w, free)) {
		if (!brief)
			add_hold(w, 600);
		return;
	}
	add_start(w, false);
	for (uint32_t i = 0; i < w->nodes; i++)
		free[w->node[i]] -= w->cores;
}

static void take_place(struct want *w, const char *victims, bool gang, bool brief)
{
	const struct sl_snapshot *s = w->snap;
	uint32_t count = 0;

	for (uint32_t j = 0; j < s->job.rows; j++)
		if (s->job.state[j] == SL_JOB_RUNNING && !strcmp(name_of(s, j), victims) && sl_snapshot_may_stop(s, w->job, j)) {
			add_nodes(w, s->job.alloc[j]);
			count++;
		}
	if (!w->nodes || w->nodes < s->job.min_nodes[w->job])
		return;
	w->nodes = s->job.min_nodes[w->job];
	w->cores = s->job.flags[w->job] & SL_JOBF_EXCLUSIVE ? s->node.cores[w->node[0]] : 1;
	add_hold(w, brief ? 6 : 600);
	for (uint32_t j = 0, group = 0; j < s->job.rows; j++)
		if (s->job.state[j] == SL_JOB_RUNNING && !strcmp(name_of(s, j), victims) && sl_snapshot_may_stop(s, w->job, j))
			add_stop(w, j, gang ? 1 : ++group);
}

/* A place without a thought for what is held, or on what is held. */
static void place_one(struct want *w, uint32_t *free, bool held)
{
	w->cores = 1;
	for (uint32_t n = 0; n < w->snap->node.rows && !w->nodes; n++)
		if (free[n] && stops_holds(w->snap, n) == held)
			add_node(w, n);
	for (uint32_t n = 0; n < w->snap->node.rows && !w->nodes && !held; n++)
		if (free[n])
			add_node(w, n);
	if (!w->nodes)
		return;
	free[w->node[0]]--;
	add_start(w, !held);
}

bool stops_place(const struct sl_snapshot *s, struct sl_builder *b, uint32_t entry, uint32_t *free)
{
	struct want w = { .snap = s, .b = b, .job = s->queue.job[entry], .partition = s->queue.partition[entry] };
	const char *name = name_of(s, w.job), *victims = strchr(name, '_');
	bool brief = begins(name, "brief_");

	if (begins(name, "native") || begins(name, "bold")) {
		place_one(&w, free, begins(name, "bold"));
		return true;
	}
	if (!begins(name, "take_") && !begins(name, "gang_") && !brief)
		return false;
	for (uint32_t i = 0; i < s->held.rows; i++)
		if (s->held.job[i] == w.job) {
			use_place(&w, i, free, brief);
			return true;
		}
	take_place(&w, victims + 1, begins(name, "gang_"), brief);
	return true;
}
