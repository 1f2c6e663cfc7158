/* SPDX-License-Identifier: MIT */
/* timeline/class.c - the hash table of classes, moving nodes between classes, and the undo log. */
#include "timeline/impl.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CHANGES 2		/* noted changes kept for each node */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static uint64_t hash_of(uint32_t kind, const struct sl_step *step, uint32_t steps)
{
	uint64_t h = mix(0x9e3779b97f4a7c15u, (uint64_t) kind << 32 | steps);

	for (uint32_t i = 0; i < steps; i++) {
		uint64_t gres[2];

		memcpy(gres, step[i].free.gres, sizeof(gres));
		h = mix(h, (uint64_t) step[i].t);
		h = mix(h, (uint64_t) step[i].free.memory);
		h = mix(h, (uint64_t) (uint32_t) step[i].free.cores << 32 | step[i].blocks);
		if (gres[0] | gres[1])
			h = mix(mix(h, gres[0]), gres[1]);
	}
	return h;
}

static bool same_steps(const struct sl_node_class *g, const struct sl_step *step, uint32_t steps)
{
	if (g->steps != steps)
		return false;
	for (uint32_t i = steps; i-- > 0;) {
		if (g->step[i].t != step[i].t || !sl_step_equal(&g->step[i], &step[i]))
			return false;
	}
	return true;
}

static uint32_t lookup(const struct sl_timeline *tl, uint64_t hash, uint32_t kind,
		       const struct sl_step *step, uint32_t steps)
{
	uint32_t id = tl->buckets ? tl->bucket[hash & (tl->buckets - 1)] : SL_NO_CLASS;

	for (; id != SL_NO_CLASS; id = tl->class[id].chain) {
		const struct sl_node_class *g = &tl->class[id];

		if (g->hash == hash && g->kind == kind && same_steps(g, step, steps))
			break;
	}
	return id;
}

static void link_group(struct sl_timeline *tl, uint32_t id)
{
	uint32_t *b = &tl->bucket[tl->class[id].hash & (tl->buckets - 1)];

	tl->class[id].chain = *b;
	*b = id;
	tl->hashed++;
}

static void unlink_group(struct sl_timeline *tl, uint32_t id)
{
	uint32_t *b = &tl->bucket[tl->class[id].hash & (tl->buckets - 1)];

	while (*b != id)
		b = &tl->class[*b].chain;
	*b = tl->class[id].chain;
	tl->hashed--;
}

static int grow_table(struct sl_timeline *tl, struct sl_error *err)
{
	uint32_t buckets = tl->buckets ? 2 * tl->buckets : 64, old = tl->buckets;
	uint32_t *more, *was = tl->bucket;

	if (tl->hashed < tl->buckets)
		return 0;
	more = malloc(buckets * sizeof(*more));
	if (!more)
		return sl_fail(err, SL_ENOMEM, "timeline: out of memory");
	memset(more, 0xff, buckets * sizeof(*more));
	tl->bucket = more;
	tl->buckets = buckets;
	tl->hashed = 0;
	for (uint32_t b = 0; b < old; b++) {
		for (uint32_t id = was[b], next; id != SL_NO_CLASS; id = next) {
			next = tl->class[id].chain;
			link_group(tl, id);
		}
	}
	free(was);
	return 0;
}

/* An unused class.  Its arrays keep the memory of an earlier use. */
static uint32_t take_spare(struct sl_timeline *tl, struct sl_error *err)
{
	uint32_t id = tl->spare;

	if (id != SL_NO_CLASS) {
		tl->spare = tl->class[id].chain;
		return id;
	}
	/* live[], fall[] and turned[] have room for as many entries as class[] */
	if (sl_grow_list(&tl->class, tl->classes, sizeof(*tl->class), err) ||
	    sl_grow_list(&tl->live, tl->classes, sizeof(*tl->live), err) ||
	    sl_grow_list(&tl->fall, tl->classes, sizeof(*tl->fall), err) ||
	    sl_grow_list(&tl->turned, tl->classes, sizeof(*tl->turned), err))
		return SL_NO_CLASS;
	id = tl->classes++;
	tl->class[id] = (struct sl_node_class) { .live = SL_NO_CLASS };
	return id;
}

static void put_spare(struct sl_timeline *tl, uint32_t id)
{
	tl->class[id].chain = tl->spare;
	tl->spare = id;
}

/* Set steady, ebb and least of the class: the first time at which less is free than now, the last new minimum, and the
 * minimum. */
static void summarize(struct sl_node_class *g)
{
	static const struct sl_resources nothing;

	g->now_free = g->step[0].blocks ? nothing : g->step[0].free;
	g->least = g->now_free;
	g->steady = g->ebb = SL_FOREVER;
	g->rising = !g->step[0].blocks;
	for (uint32_t i = 1; i < g->steps; i++) {
		const struct sl_step *s = &g->step[i];
		const struct sl_resources *free = s->blocks ? &nothing : &s->free;

		if (!s->blocks && sl_resources_fit(&s[-1].free, free))
			continue;	/* no amount is less than in the step before: not a new minimum */
		g->rising = false;
		if (sl_resources_fit(&g->least, free))
			continue;
		sl_resources_min(&g->least, free);
		g->steady = g->steady == SL_FOREVER ? s->t : g->steady;
		g->ebb = s->t;
	}
}

static void set_steps(struct sl_node_class *g, const struct sl_step *step, uint32_t steps)
{
	memmove(g->step, step, steps * sizeof(*step));	/* *step* may point into g->step */
	g->steps = steps;
	g->next = steps > 1 ? g->step[1].t : SL_FOREVER;
	summarize(g);
}

uint32_t sl_node_class_intern(struct sl_timeline *tl, uint32_t kind, const struct sl_step *step, uint32_t steps,
			      struct sl_error *err)
{
	uint64_t hash = hash_of(kind, step, steps);
	uint32_t id = lookup(tl, hash, kind, step, steps);
	struct sl_node_class *g;

	if (id != SL_NO_CLASS)
		return id;
	if (grow_table(tl, err))
		return SL_NO_CLASS;
	id = take_spare(tl, err);
	if (id == SL_NO_CLASS)
		return id;
	g = &tl->class[id];
	if (sl_grow(&g->step, &g->room, steps, sizeof(*step), err)) {
		put_spare(tl, id);
		return SL_NO_CLASS;
	}
	set_steps(g, step, steps);
	g->kind = kind;
	g->hash = hash;
	g->pins = 0;
	g->live = SL_NO_CLASS;
	g->touched = SL_NO_CLASS;
	sl_nodeset_clear(&g->nodes);
	link_group(tl, id);
	if (g->next < tl->next)
		tl->next = g->next;
	return id;
}

void sl_node_class_drop(struct sl_timeline *tl, uint32_t id)
{
	if (tl->class[id].nodes.count || tl->class[id].pins)
		return;
	unlink_group(tl, id);
	put_spare(tl, id);
}

/* Add nodes of a class to the sums over what is free now and at the watched time, or (sign -1) subtract them. */
static void count_now(struct sl_timeline *tl, const struct sl_node_class *g, uint32_t nodes, int sign)
{
	if (tl->watched != SL_DAWN)
		tl->watched_cores += sign * (int64_t) nodes * sl_step_cores(g, tl->watched);
	tl->full_nodes += g->now_free.cores ? 0 : sign * nodes;
	tl->free_cores += sign * (int64_t) nodes * g->now_free.cores;
	if (g->now_free.cores && g->now_free.cores == tl->kind[g->kind].capacity.cores)
		tl->idle_nodes += sign * nodes;
}

/* The same for nodes that move between classes.  Most moves do not change what is free now. */
static void count_moved(struct sl_timeline *tl, const struct sl_node_class *from, const struct sl_node_class *to,
			uint32_t nodes)
{
	if (from->now_free.cores != to->now_free.cores) {
		count_now(tl, from, nodes, -1);
		count_now(tl, to, nodes, 1);
	} else if (tl->watched != SL_DAWN) {
		tl->watched_cores += nodes * (sl_step_cores(to, tl->watched) - sl_step_cores(from, tl->watched));
	}
}

static void note_live(struct sl_timeline *tl, uint32_t id)
{
	const struct sl_node_class *g = &tl->class[id];

	tl->live[g->live] = (struct sl_live) { .class = id, .kind = g->kind, .nodes = g->nodes.count,
					       .runs = g->nodes.runs, .run = g->nodes.run[0],
					       .free = g->now_free, .next = g->next, .least = g->least };
	tl->fall[g->live] = (struct sl_fall) { g->steady, g->ebb, g->now_free.cores };
}

static void note_turn(struct sl_timeline *tl, uint32_t id)
{
	if (!tl->notes_turns || tl->class[id].turned)
		return;
	tl->class[id].turned = true;
	tl->turned[tl->turns++] = id;
}

static void enlive(struct sl_timeline *tl, uint32_t id)
{
	struct sl_node_class *g = &tl->class[id];

	if (g->nodes.count) {
		if (g->live == SL_NO_CLASS)
			g->live = tl->lives++;
		note_live(tl, id);
		note_turn(tl, id);
	} else if (g->live != SL_NO_CLASS) {
		struct sl_live last = tl->live[--tl->lives];

		tl->live[g->live] = last;
		tl->fall[g->live] = tl->fall[tl->lives];
		tl->class[last.class].live = g->live;
		g->live = SL_NO_CLASS;
		note_turn(tl, id);
	}
}

/* Drop the oldest *count* changes.  A sheet that has not read them must be filled again. */
static void drop_changes(struct sl_timeline *tl, uint32_t count)
{
	tl->changes_dropped += count;
	tl->changes -= count;
	memmove(tl->change, tl->change + count, tl->changes * sizeof(*tl->change));
}

void sl_note_changes(struct sl_timeline *tl, const struct sl_nodeset *set, int64_t since)
{
	uint64_t most = MOST_CHANGES * (uint64_t) tl->nodes;

	if (!tl->notes_changes)
		return;
	if (tl->changes + (uint64_t) set->runs > most)
		drop_changes(tl, tl->changes - tl->changes / 2);
	if (tl->changes + (uint64_t) set->runs > most ||
	    sl_grow(&tl->change, &tl->change_room, (uint64_t) tl->changes + set->runs, sizeof(*tl->change), NULL)) {
		drop_changes(tl, tl->changes);
		tl->changes_dropped += set->runs;
		return;
	}
	for (uint32_t i = 0; i < set->runs; i++)
		tl->change[tl->changes++] = (struct sl_changed) { set->run[i], since };
}

/* prepare() has reserved the memory, so nothing can fail. */
static void transfer(struct sl_timeline *tl, uint32_t from, uint32_t to, const struct sl_nodeset *set)
{
	struct sl_node_class *a = &tl->class[from], *b = &tl->class[to];

	if (set->count == a->nodes.count && !b->nodes.count) {
		struct sl_nodeset none = b->nodes;	/* keep the array of the empty set for reuse */

		b->nodes = a->nodes;
		a->nodes = none;
	} else {
		sl_nodeset_subtract(&a->nodes, set, NULL);
		sl_nodeset_union(&b->nodes, set, NULL);
	}
	for (uint32_t i = 0; i < set->runs; i++) {
		for (uint32_t n = set->run[i].first; n <= set->run[i].last; n++)
			tl->class_of[n] = to;
	}
	count_moved(tl, a, b, set->count);
	enlive(tl, from);
	enlive(tl, to);
}

/* Reserve memory in *s* so that neither adding or removing *set* nor the undo can fail later: each run of *set* may split
 * a run of *s* in two. */
static int prepare(struct sl_nodeset *s, const struct sl_nodeset *set, struct sl_error *err)
{
	uint32_t room = s->room;
	uint64_t want = (uint64_t) s->runs + 2 * (uint64_t) set->runs;

	if (sl_grow(&s->run, &room, want, sizeof(*s->run), err))
		return -1;
	s->room = room;
	return 0;
}

int sl_node_class_move(struct sl_timeline *tl, uint32_t from, uint32_t to, const struct sl_nodeset *set,
		       int64_t since, struct sl_error *err)
{
	struct sl_move *m;

	if (prepare(&tl->class[from].nodes, set, err) || prepare(&tl->class[to].nodes, set, err) ||
	    sl_grow(&tl->log, &tl->log_room, (uint64_t) tl->logged + 1, sizeof(*tl->log), err) ||
	    sl_grow(&tl->log_run, &tl->log_run_room, (uint64_t) tl->log_runs + set->runs,
		    sizeof(*tl->log_run), err))
		return -1;
	m = &tl->log[tl->logged++];
	*m = (struct sl_move) { from, to, tl->log_runs, set->runs, set->count, since };
	memcpy(tl->log_run + tl->log_runs, set->run, set->runs * sizeof(*set->run));
	tl->log_runs += set->runs;
	tl->class[from].pins++;
	tl->class[to].pins++;
	transfer(tl, from, to, set);
	return 0;
}

void sl_node_class_undo(struct sl_timeline *tl, uint32_t moves)
{
	while (tl->logged > moves) {
		const struct sl_move *m = &tl->log[--tl->logged];
		const struct sl_nodeset set = { tl->log_run + m->run, m->runs, m->runs, m->count };

		transfer(tl, m->to, m->from, &set);
		sl_note_changes(tl, &set, m->since);
		tl->log_runs = m->run;
		tl->class[m->from].pins--;
		tl->class[m->to].pins--;
		sl_node_class_drop(tl, m->to);
	}
}

void sl_node_class_forget(struct sl_timeline *tl)
{
	while (tl->logged) {
		const struct sl_move *m = &tl->log[--tl->logged];

		/* the log may refer to a class several times: drop it with the last reference */
		if (!--tl->class[m->to].pins)
			sl_node_class_drop(tl, m->to);
		if (!--tl->class[m->from].pins)
			sl_node_class_drop(tl, m->from);
	}
	tl->log_runs = 0;
}

int sl_node_class_fill(struct sl_timeline *tl, uint32_t id, const struct sl_nodeset *set, struct sl_error *err)
{
	if (sl_nodeset_union(&tl->class[id].nodes, set, err))
		return -1;
	for (uint32_t i = 0; i < set->runs; i++) {
		for (uint32_t n = set->run[i].first; n <= set->run[i].last; n++)
			tl->class_of[n] = id;
	}
	count_now(tl, &tl->class[id], set->count, 1);
	enlive(tl, id);
	return 0;
}

int sl_node_class_age(struct sl_timeline *tl, uint32_t id, struct sl_error *err)
{
	struct sl_node_class *g = &tl->class[id];
	uint32_t past = sl_step_at(g, tl->now), to, steps = g->steps - past;
	struct sl_step *step = g->step + past;
	int64_t was = step->t;
	uint64_t hash;

	sl_note_changes(tl, &g->nodes, SL_DAWN);
	tl->watched = SL_DAWN;	/* the steps are out of order for a while */
	step->t = SL_DAWN;
	hash = hash_of(g->kind, step, steps);
	to = lookup(tl, hash, g->kind, step, steps);
	if (to != SL_NO_CLASS && sl_nodeset_union(&tl->class[to].nodes, &g->nodes, err)) {
		step->t = was;
		return -1;
	}
	count_now(tl, g, g->nodes.count, -1);
	unlink_group(tl, id);
	if (to == SL_NO_CLASS) {
		set_steps(g, step, steps);
		g->hash = hash;
		note_live(tl, id);
		count_now(tl, g, g->nodes.count, 1);
		link_group(tl, id);
		return 0;
	}
	count_now(tl, &tl->class[to], g->nodes.count, 1);
	for (uint32_t i = 0; i < g->nodes.runs; i++) {
		for (uint32_t n = g->nodes.run[i].first; n <= g->nodes.run[i].last; n++)
			tl->class_of[n] = to;
	}
	sl_nodeset_clear(&g->nodes);
	enlive(tl, id);
	enlive(tl, to);
	put_spare(tl, id);
	return 0;
}

void sl_node_class_free_all(struct sl_timeline *tl)
{
	for (uint32_t id = 0; id < tl->classes; id++) {
		sl_nodeset_free(&tl->class[id].nodes);
		free(tl->class[id].step);
	}
	free(tl->class);
	free(tl->live);
	free(tl->fall);
	free(tl->turned);
	free(tl->bucket);
	free(tl->log);
	free(tl->log_run);
	free(tl->change);
}
