/* SPDX-License-Identifier: MIT */
#include "timeline/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/impl.h"

/* -- creation ------------------------------------------------------------ */

static int check_kinds(uint32_t nodes, const uint32_t *kind_of, const struct sl_node_kind *kind, uint32_t kinds,
		       struct sl_error *err)
{
	if (nodes > SL_MAX_NODES)
		return sl_fail(err, SL_ELIMIT, "%u nodes: at most %u", nodes, SL_MAX_NODES);
	for (uint32_t k = 0; k < kinds; k++) {
		if (kind[k].capacity.cores < 0 || kind[k].capacity.memory < 0)
			return sl_fail(err, SL_EINVAL, "kind %u: negative capacity", k);
		if (kind[k].capacity.cores > SL_MAX_NODE_CORES)
			return sl_fail(err, SL_ELIMIT, "kind %u: %d cores: at most %d", k,
				       kind[k].capacity.cores, SL_MAX_NODE_CORES);
	}
	for (uint32_t n = 0; n < nodes; n++) {
		if (kind_of[n] >= kinds)
			return sl_fail(err, SL_EINVAL, "node %u: kind %u of %u", n, kind_of[n], kinds);
	}
	return 0;
}

static bool same_kind(const struct sl_node_kind *a, const struct sl_node_kind *b)
{
	return a->id == b->id && a->weight == b->weight && sl_resources_equal(&a->capacity, &b->capacity);
}

static int by_kind(const void *a, const void *b)
{
	const struct sl_node_kind *x = *(const struct sl_node_kind *const *) a;
	const struct sl_node_kind *y = *(const struct sl_node_kind *const *) b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	if (x->capacity.cores != y->capacity.cores)
		return x->capacity.cores < y->capacity.cores ? -1 : 1;
	if (x->capacity.memory != y->capacity.memory)
		return x->capacity.memory < y->capacity.memory ? -1 : 1;
	return memcmp(x->capacity.gres, y->capacity.gres, sizeof(x->capacity.gres));
}

/* Copy the kinds, equal ones once; map[k] is the new number of kind k. */
static int take_kinds(struct sl_timeline *tl, const struct sl_node_kind *kind, uint32_t kinds, uint32_t *map,
		      struct sl_error *err)
{
	const struct sl_node_kind **order = calloc(kinds ? kinds : 1, sizeof(*order));

	tl->kind = calloc(kinds ? kinds : 1, sizeof(*tl->kind));
	tl->kind_nodes = calloc(kinds ? kinds : 1, sizeof(*tl->kind_nodes));
	if (!order || !tl->kind || !tl->kind_nodes) {
		free(order);
		return sl_fail(err, SL_ENOMEM, "timeline: out of memory");
	}
	for (uint32_t k = 0; k < kinds; k++)
		order[k] = &kind[k];
	qsort(order, kinds, sizeof(*order), by_kind);
	for (uint32_t i = 0; i < kinds; i++) {
		if (!i || !same_kind(order[i], order[i - 1]))
			tl->kind[tl->kinds++] = *order[i];
		map[order[i] - kind] = tl->kinds - 1;
	}
	free(order);
	for (uint32_t k = 0; k < tl->kinds; k++) {
		uint32_t cores = (uint32_t) tl->kind[k].capacity.cores;

		tl->most_cores = cores > tl->most_cores ? cores : tl->most_cores;
		tl->least_cores = !k || cores < tl->least_cores ? cores : tl->least_cores;
	}
	return 0;
}

static int fill(struct sl_timeline *tl, const uint32_t *kind_of, const uint32_t *map, struct sl_error *err)
{
	for (uint32_t n = 0, end; n < tl->nodes; n = end) {
		uint32_t k = map[kind_of[n]], id;
		struct sl_step empty = { .t = SL_DAWN, .free = tl->kind[k].capacity };
		struct sl_run run = { n, n };
		struct sl_nodeset set = { &run, 1, 1, 0 };

		for (end = n + 1; end < tl->nodes && map[kind_of[end]] == k; end++)
			;
		run.last = end - 1;
		set.count = end - n;
		id = sl_node_class_intern(tl, k, &empty, 1, err);
		if (id == SL_NO_CLASS || sl_node_class_fill(tl, id, &set, err) ||
		    sl_nodeset_add(&tl->kind_nodes[k], n, end - 1, err))
			return -1;
	}
	return 0;
}

void sl_timeline_devices(struct sl_timeline *tl, const struct sl_devices *devices)
{
	tl->devices = devices;
}

struct sl_timeline *sl_timeline_create(uint32_t nodes, const uint32_t *kind_of,
				       const struct sl_node_kind *kind, uint32_t kinds,
				       int64_t now, struct sl_error *err)
{
	struct sl_timeline *tl = NULL;
	uint32_t *map = NULL;

	if (check_kinds(nodes, kind_of, kind, kinds, err))
		return NULL;
	tl = calloc(1, sizeof(*tl));
	map = calloc(kinds ? kinds : 1, sizeof(*map));
	if (!tl || !map)
		goto memory;
	tl->now = now;
	tl->nodes = nodes;
	tl->spare = SL_NO_CLASS;
	tl->next = SL_FOREVER;
	tl->watched = SL_DAWN;
	if (take_kinds(tl, kind, kinds, map, err))
		goto error;
	tl->class_of = malloc((nodes ? nodes : 1) * sizeof(*tl->class_of));
	if (!tl->class_of)
		goto memory;
	if (fill(tl, kind_of, map, err))
		goto error;
	free(map);
	return tl;
memory:
	sl_fail(err, SL_ENOMEM, "timeline: out of memory");
error:
	free(map);
	sl_timeline_destroy(tl);
	return NULL;
}

void sl_timeline_destroy(struct sl_timeline *tl)
{
	if (!tl)
		return;
	if (tl->space)
		tl->space_free(tl->space);
	sl_node_class_free_all(tl);
	for (uint32_t i = 0; i < tl->touch_room; i++)
		sl_nodeset_free(&tl->touch[i].nodes);
	for (uint32_t i = 0; i < tl->view_room; i++)
		sl_nodeset_free(&tl->view_set[i]);
	for (uint32_t k = 0; k < tl->kinds; k++)
		sl_nodeset_free(&tl->kind_nodes[k]);
	free(tl->kind_nodes);
	free(tl->touch);
	free(tl->view);
	free(tl->view_set);
	free(tl->step);
	free(tl->class_of);
	free(tl->kind);
	free(tl);
}

void sl_timeline_tree(struct sl_timeline *tl, const struct sl_tree *tree)
{
	tl->tree = tree;
}

void sl_timeline_shelf(struct sl_timeline *tl, struct sl_shelf *shelf)
{
	tl->shelf = shelf;
}

void sl_timeline_count(struct sl_timeline *tl, struct sl_effort *effort)
{
	tl->effort = effort;
}

int64_t sl_timeline_now(const struct sl_timeline *tl)
{
	return tl->now;
}

static const struct sl_node_class *class_at(const struct sl_timeline *tl, uint32_t node)
{
	return &tl->class[tl->class_of[node]];
}

const struct sl_node_kind *sl_timeline_kind(const struct sl_timeline *tl, uint32_t node)
{
	return &tl->kind[class_at(tl, node)->kind];
}

/* -- changes ------------------------------------------------------------- */

static struct sl_touch *touch(struct sl_timeline *tl, uint32_t id, struct sl_error *err)
{
	struct sl_node_class *g = &tl->class[id];
	uint32_t old = tl->touch_room;

	if (g->touched == SL_NO_CLASS) {
		if (sl_grow(&tl->touch, &tl->touch_room, (uint64_t) tl->touches + 1, sizeof(*tl->touch), err))
			return NULL;
		if (tl->touch_room > old)
			memset(tl->touch + old, 0, (tl->touch_room - old) * sizeof(*tl->touch));
		g->touched = tl->touches++;
		tl->touch[g->touched].class = id;
		sl_nodeset_clear(&tl->touch[g->touched].nodes);
	}
	return &tl->touch[g->touched];
}

/* Sort the nodes by class into tl->touch. */
static int gather(struct sl_timeline *tl, const struct sl_nodeset *nodes, struct sl_error *err)
{
	const uint32_t *of = tl->class_of;

	tl->touches = 0;
	for (uint32_t i = 0; i < nodes->runs; i++) {
		uint32_t last = nodes->run[i].last;

		for (uint32_t n = nodes->run[i].first, end; n <= last; n = end + 1) {
			struct sl_touch *t = touch(tl, of[n], err);

			for (end = n; end < last && of[end + 1] == of[n]; end++)
				;
			if (!t || sl_nodeset_add(&t->nodes, n, end, err))
				return -1;
		}
	}
	return 0;
}

static void untouch(struct sl_timeline *tl)
{
	for (uint32_t i = 0; i < tl->touches; i++)
		tl->class[tl->touch[i].class].touched = SL_NO_CLASS;
	tl->touches = 0;
}

/* Check all classes before changing any. */
static int move_all(struct sl_timeline *tl, const struct sl_change *ch, struct sl_error *err)
{
	for (uint32_t i = 0; i < tl->touches; i++) {
		const struct sl_touch *t = &tl->touch[i];

		if (sl_step_check(tl, &tl->class[t->class], ch, t->nodes.run[0].first, err))
			return -1;
	}
	for (uint32_t i = 0; i < tl->touches; i++) {
		const struct sl_touch *t = &tl->touch[i];
		uint32_t steps = sl_step_change(tl, &tl->class[t->class], ch, err), to;

		if (!steps)
			return -1;
		to = sl_node_class_intern(tl, tl->class[t->class].kind, tl->step, steps, err);
		if (to == SL_NO_CLASS)
			return -1;
		if (sl_node_class_move(tl, t->class, to, &t->nodes, ch->t0, err)) {
			sl_node_class_drop(tl, to);
			return -1;
		}
	}
	return 0;
}

#define EFFORT_OF_RUN 20	/* for each run of changed nodes: classes are found, split and merged */

static int operate(struct sl_timeline *tl, const struct sl_nodeset *nodes, struct sl_change *ch,
		   struct sl_error *err)
{
	uint32_t logged = tl->logged;
	int rc;

	if (ch->t1 <= ch->t0)
		return sl_fail(err, SL_EINVAL, "interval from %" PRId64 " to %" PRId64 ": ends before it begins",
			       ch->t0, ch->t1);
	if (nodes->runs && nodes->run[nodes->runs - 1].last >= tl->nodes)
		return sl_fail(err, SL_EINVAL, "node %u: there are %u", nodes->run[nodes->runs - 1].last,
			       tl->nodes);
	if (ch->t1 <= tl->now || (ch->sign && sl_resources_equal(&ch->each, &(struct sl_resources) { 0 })))
		return 0;
	if (ch->t0 <= tl->now)
		ch->t0 = SL_DAWN;
	sl_effort_add(tl->effort, EFFORT_OF_RUN * (uint64_t) nodes->runs);
	rc = gather(tl, nodes, err);
	if (!rc)
		rc = move_all(tl, ch, err);
	untouch(tl);
	if (rc)
		sl_node_class_undo(tl, logged);
	else
		sl_note_changes(tl, nodes, ch->t0);
	tl->moment++;
	if (!tl->marks)
		sl_node_class_forget(tl);
	return rc;
}

static int check_amount(const struct sl_resources *each, struct sl_error *err)
{
	if (each->cores < 0 || each->memory < 0)
		return sl_fail(err, SL_EINVAL, "negative amount: %d cores, %" PRId64 " MiB", each->cores,
			       each->memory);
	return 0;
}

int sl_timeline_book(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
		     int64_t t0, int64_t t1, struct sl_error *err)
{
	struct sl_change ch = { .each = *each, .sign = -1, .t0 = t0, .t1 = t1 };

	return check_amount(each, err) ? -1 : operate(tl, nodes, &ch, err);
}

int sl_timeline_book_beneath(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
			     int64_t t0, int64_t t1, struct sl_error *err)
{
	struct sl_change ch = { .each = *each, .sign = -1, .beneath = true, .t0 = t0, .t1 = t1 };

	return check_amount(each, err) ? -1 : operate(tl, nodes, &ch, err);
}

int sl_timeline_unbook(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
		       int64_t t0, int64_t t1, struct sl_error *err)
{
	struct sl_change ch = { .each = *each, .sign = 1, .t0 = t0, .t1 = t1 };

	return check_amount(each, err) ? -1 : operate(tl, nodes, &ch, err);
}

int sl_timeline_block(struct sl_timeline *tl, const struct sl_nodeset *nodes, int64_t t0, int64_t t1,
		      struct sl_error *err)
{
	struct sl_change ch = { .block = 1, .t0 = t0, .t1 = t1 };

	return operate(tl, nodes, &ch, err);
}

int sl_timeline_unblock(struct sl_timeline *tl, const struct sl_nodeset *nodes, int64_t t0, int64_t t1,
			struct sl_error *err)
{
	struct sl_change ch = { .block = -1, .t0 = t0, .t1 = t1 };

	return operate(tl, nodes, &ch, err);
}

int sl_timeline_advance(struct sl_timeline *tl, int64_t now, struct sl_error *err)
{
	int64_t next = SL_FOREVER;

	if (now < tl->now)
		return sl_fail(err, SL_EINVAL, "time %" PRId64 " is before %" PRId64, now, tl->now);
	if (tl->marks)
		return sl_fail(err, SL_EBUSY, "a mark is open: time cannot pass");
	tl->now = now;
	if (now < tl->next)
		return 0;
	for (uint32_t i = 0; i < tl->lives;) {
		uint32_t before = tl->lives;

		if (tl->live[i].next <= now && sl_node_class_age(tl, tl->live[i].class, err))
			return -1;
		if (tl->lives < before)
			continue;	/* it was merged: the last class of the list is now at position i */
		if (tl->live[i].next < next)
			next = tl->live[i].next;
		i++;
	}
	tl->next = next;
	return 0;
}

/* -- undo -------------------------------------------------------------- */

uint32_t sl_timeline_mark(struct sl_timeline *tl)
{
	return tl->marks == SL_OPEN_MARKS ? SL_NO_MARK : sl_timeline_inner_mark(tl);
}

/* Forget the notes of changes that were rolled back, if no sheet has read them. */
static void unnote_changes(struct sl_timeline *tl, uint64_t changes)
{
	if (tl->changes_read <= changes && tl->changes_dropped <= changes)
		tl->changes = (uint32_t) (changes - tl->changes_dropped);
}

void sl_timeline_rollback(struct sl_timeline *tl, uint32_t mark)
{
	if (mark >= tl->marks)
		return;
	if (tl->logged > tl->mark[mark].logged) {
		sl_node_class_undo(tl, tl->mark[mark].logged);
		unnote_changes(tl, tl->mark[mark].changes);
		tl->moment++;
	}
	tl->marks = mark;
}

void sl_timeline_release(struct sl_timeline *tl, uint32_t mark)
{
	if (mark >= tl->marks)
		return;
	tl->marks = mark;
	if (!mark)
		sl_node_class_forget(tl);
}
