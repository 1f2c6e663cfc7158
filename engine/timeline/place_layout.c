/* SPDX-License-Identifier: MIT */
/* place_layout.c - layouts: what a job gets, as sets of nodes that give the same amount. */
#include "timeline/place.h"
#include "timeline/impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void sl_layout_free(struct sl_layout *l)
{
	for (uint32_t i = 0; i < l->room; i++)
		sl_nodeset_free(&l->share[i].nodes);
	free(l->share);
	*l = (struct sl_layout) SL_LAYOUT_EMPTY;
}

void sl_layout_clear(struct sl_layout *l)
{
	for (uint32_t i = 0; i < l->shares; i++)
		sl_nodeset_clear(&l->share[i].nodes);
	l->shares = 0;
	l->nodes = 0;
	l->cores = 0;
}

/* The next unused share.  Its nodeset is empty but may keep memory. */
static struct sl_share *next_share(struct sl_layout *l, struct sl_error *err)
{
	uint32_t had = l->room;

	if (sl_grow(&l->share, &l->room, (uint64_t) l->shares + 1, sizeof(*l->share), err))
		return NULL;
	memset(l->share + had, 0, (l->room - had) * sizeof(*l->share));
	return &l->share[l->shares];
}

int sl_layout_add(struct sl_layout *l, uint32_t first, uint32_t last, uint32_t tasks, const struct sl_resources *each,
		  struct sl_error *err)
{
	struct sl_share *s = NULL;

	for (uint32_t i = l->shares; i-- > 0 && !s;) {
		if (l->share[i].tasks == tasks && sl_resources_equal(&l->share[i].each, each))
			s = &l->share[i];
	}
	if (!s) {
		s = next_share(l, err);
		if (!s)
			return -1;
		s->each = *each;
		s->tasks = tasks;
	}
	if (sl_nodeset_add(&s->nodes, first, last, err))
		return -1;
	if (s == &l->share[l->shares])
		l->shares++;
	l->nodes += last - first + 1;
	l->cores += (int64_t) (last - first + 1) * each->cores;
	return 0;
}

/* A run of nodes, and the share that it belongs to. */
struct piece {
	struct sl_run run;
	const struct sl_share *share;
};

static int by_first_node(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->run.first > y->run.first) - (x->run.first < y->run.first);
}

static struct sl_place *place_run(struct sl_place *place, const struct sl_run *run, const struct sl_share *s)
{
	struct sl_place p = { .cores = (uint32_t) s->each.cores, .tasks = s->tasks, .memory = s->each.memory };

	memcpy(p.gres, s->each.gres, sizeof(p.gres));
	for (p.node = run->first; p.node <= run->last; p.node++)
		*place++ = p;
	return place;
}

int sl_layout_places(const struct sl_layout *l, struct sl_place *place, struct sl_error *err)
{
	struct piece *piece;
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->shares; i++)
		n += l->share[i].nodes.runs;
	piece = malloc(((size_t) n + 1) * sizeof(*piece));
	if (!piece)
		return sl_fail(err, SL_ENOMEM, "layout: out of memory");
	n = 0;
	for (uint32_t i = 0; i < l->shares; i++)
		for (uint32_t r = 0; r < l->share[i].nodes.runs; r++)
			piece[n++] = (struct piece) { l->share[i].nodes.run[r], &l->share[i] };
	if (l->shares > 1)
		qsort(piece, n, sizeof(*piece), by_first_node);
	for (uint32_t i = 0; i < n; i++)
		place = place_run(place, &piece[i].run, piece[i].share);
	free(piece);
	return 0;
}

typedef int change(struct sl_timeline *, const struct sl_nodeset *, const struct sl_resources *, int64_t, int64_t,
		   struct sl_error *);

/* An inner mark makes the bookings of all shares one operation: if one fails, all are undone. */
static int each_share(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1, change *make,
		      struct sl_error *err)
{
	uint32_t mark = l->shares > 1 ? sl_timeline_inner_mark(tl) : SL_NO_MARK;

	for (uint32_t i = 0; i < l->shares; i++) {
		const struct sl_share *s = &l->share[i];

		if (make(tl, &s->nodes, &s->each, t0, t1, err)) {
			sl_timeline_rollback(tl, mark);
			return -1;
		}
	}
	sl_timeline_release(tl, mark);
	return 0;
}

int sl_layout_book(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
		   struct sl_error *err)
{
	return each_share(tl, l, t0, t1, sl_timeline_book, err);
}

int sl_layout_book_beneath(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
			   struct sl_error *err)
{
	return each_share(tl, l, t0, t1, sl_timeline_book_beneath, err);
}

int sl_layout_unbook(struct sl_timeline *tl, const struct sl_layout *l, int64_t t0, int64_t t1,
		     struct sl_error *err)
{
	return each_share(tl, l, t0, t1, sl_timeline_unbook, err);
}
