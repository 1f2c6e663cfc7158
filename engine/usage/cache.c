/* SPDX-License-Identifier: MIT */
/*
 * usage/cache.c - the cache: sums and pieces for the next question, kept right
 * while pieces come and go.
 */
#include "usage/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define EXACT_DAYS 64	/* decayed usage is worked out piece by piece for so long */

int usage_cache_grow(struct sl_usage *u, uint32_t need)
{
	uint32_t room = u->room ? u->room : 64;
	void *p;

	if (need <= u->room)
		return 0;
	while (room < need)
		room *= 2;
	for (int i = 0; i < RANGES; i++) {
		p = realloc(u->range[i].sum, (size_t) room * SL_UNITS * sizeof(int64_t));
		if (!p)
			return -1;
		u->range[i].sum = p;
		memset(u->range[i].sum + (size_t) u->room * SL_UNITS, 0,
		       (size_t) (room - u->room) * SL_UNITS * sizeof(int64_t));
	}
	for (int i = 0; i < DECAYS; i++) {
		p = realloc(u->decay[i].sum, (size_t) room * SL_UNITS * sizeof(double));
		if (!p)
			return -1;
		u->decay[i].sum = p;
		for (size_t k = (size_t) u->room * SL_UNITS; k < (size_t) room * SL_UNITS; k++)
			u->decay[i].sum[k] = 0;
	}
	u->room = room;
	return 0;
}

/* -- sums over whole days ---------------------------------------------- */

static void add_day(void *to, uint32_t dim, int64_t day, const int64_t amount[SL_UNITS])
{
	int64_t *sum = to;

	(void) day;
	for (int k = 0; k < SL_UNITS; k++)
		sum[(size_t) dim * SL_UNITS + k] += amount[k];
}

struct range *usage_range(struct sl_usage *u, int64_t first, int64_t end, struct sl_error *err)
{
	struct range *r = NULL;

	for (int i = 0; i < RANGES; i++)
		if (u->range[i].first == first && u->range[i].end == end) {
			u->range[i].used = ++u->clock;
			return &u->range[i];
		}
	for (int i = 0; i < RANGES; i++)
		if (!r || u->range[i].first == u->range[i].end ||
		    (r->first != r->end && u->range[i].used < r->used))
			r = &u->range[i];
	r->first = r->end = 0;
	if (u->room)
		memset(r->sum, 0, (size_t) u->room * SL_UNITS * sizeof(*r->sum));
	if (u->source.days && u->source.days(u->source.arg, first, end, false, add_day, r->sum, err))
		return NULL;
	r->first = first;
	r->end = end;
	r->used = ++u->clock;
	return r;
}

/* -- the days at the ends ---------------------------------------------- */

int usage_pieces_add(struct pieces *list, const struct sl_piece *p)
{
	if (sl_grow(&list->piece, &list->room, list->count + UINT64_C(1), sizeof(*list->piece), NULL))
		return -1;
	list->piece[list->count++] = *p;
	return 0;
}

struct collect {
	struct sl_usage *u;
	struct pieces *list;
};

static void add_piece(void *to, const struct sl_piece *p)
{
	struct collect *c = to;

	if (usage_pieces_add(c->list, p))
		c->u->failed = true;
}

struct pieces *usage_edge(struct sl_usage *u, int64_t day, struct sl_error *err)
{
	struct pieces *e = &u->edge[0];
	struct collect c = { u, NULL };

	for (int i = 0; i < EDGES; i++) {
		if (u->edge[i].day == day) {
			u->edge[i].used = ++u->clock;
			return &u->edge[i];
		}
		if (u->edge[i].used < e->used)
			e = &u->edge[i];
	}
	e->day = NO_DAY;
	e->count = 0;
	c.list = e;
	u->failed = false;
	if (u->source.pieces && u->source.pieces(u->source.arg, day, add_piece, &c, err))
		return NULL;
	if (u->failed) {
		sl_fail(err, SL_ENOMEM, "usage: out of memory");
		return NULL;
	}
	e->day = day;
	e->used = ++u->clock;
	return e;
}

/* -- decay ------------------------------------------------------------- */

/* The weight at *now* of usage that is spread evenly over [start, end). */
static double weight(double half_life, int64_t now, int64_t start, int64_t end)
{
	double x, w;

	if (end > now)		/* a clock that was set back: what is to come counts in full */
		end = start > now ? start : now > start ? now : end;
	w = end >= now ? 1 : exp2(-(double) (now - end) / half_life);
	x = M_LN2 * (double) (end - start) / half_life;
	return x > 1e-9 ? w * -expm1(-x) / x : w;
}

static void decay_part(struct decay *d, const struct sl_piece *p, int64_t t0, int64_t t1, int sign)
{
	int64_t from = p->start > t0 ? p->start : t0, to = p->end < t1 ? p->end : t1;
	double w;

	if (p->start == p->end)
		from = to = p->start;
	w = weight(d->half_life, d->at, from, to < from ? from : to);
	for (int k = 0; k < SL_UNITS; k++)
		d->sum[(size_t) p->dim * SL_UNITS + k] +=
			sign * w * (double) sl_piece_part(p, (enum sl_unit) k, t0, t1);
}

static void decay_day(void *to, uint32_t dim, int64_t day, const int64_t amount[SL_UNITS])
{
	struct decay *d = to;
	double w = weight(d->half_life, d->at, day * SL_DAY, (day + 1) * SL_DAY);

	for (int k = 0; k < SL_UNITS; k++)
		d->sum[(size_t) dim * SL_UNITS + k] += w * (double) amount[k];
}

struct decay_to {
	struct decay *d;
	int64_t day;
};

static void decay_piece(void *to, const struct sl_piece *p)
{
	struct decay_to *x = to;

	decay_part(x->d, p, x->day * SL_DAY, (x->day + 1) * SL_DAY, 1);
}

/* All usage there is, at d->at. */
static int decay_all(struct sl_usage *u, struct decay *d, struct sl_error *err)
{
	int64_t today = sl_day_of(d->at), exact = today - EXACT_DAYS;
	/* beyond 40 half-lives nothing is left of it */
	int64_t oldest = today - 2 - (int64_t) fmin(40 * d->half_life / (double) SL_DAY, 1e6);

	if (u->room)
		for (size_t i = 0; i < (size_t) u->room * SL_UNITS; i++)
			d->sum[i] = 0;
	if (!u->source.days)
		return 0;
	if (oldest < exact && u->source.days(u->source.arg, oldest, exact, true, decay_day, d, err))
		return -1;
	for (int64_t day = exact > oldest ? exact : oldest; day <= today + 1; day++) {
		struct decay_to x = { d, day };

		if (u->source.pieces(u->source.arg, day, decay_piece, &x, err))
			return -1;
	}
	return 0;
}

struct decay *usage_decay(struct sl_usage *u, double half_life, int64_t now, struct sl_error *err)
{
	struct decay *d = NULL;
	double w;

	for (int i = 0; i < DECAYS; i++) {
		if (u->decay[i].half_life == half_life && u->decay[i].at <= now) {
			d = &u->decay[i];
			w = exp2(-(double) (now - d->at) / half_life);
			for (size_t k = 0; now > d->at && k < (size_t) u->dims * SL_UNITS; k++)
				d->sum[k] *= w;
			d->at = now;
			d->used = ++u->clock;
			return d;
		}
		if (!d || u->decay[i].half_life == 0 || (d->half_life != 0 && u->decay[i].used < d->used))
			d = &u->decay[i];
	}
	d->half_life = half_life;
	d->at = now;
	if (decay_all(u, d, err)) {
		d->half_life = 0;
		return NULL;
	}
	d->used = ++u->clock;
	return d;
}

/* -- what changes ------------------------------------------------------ */

static void note_range(struct range *r, const struct sl_piece *p, int sign)
{
	if (r->first == r->end)
		return;
	for (int k = 0; k < SL_UNITS; k++)
		r->sum[(size_t) p->dim * SL_UNITS + k] +=
			sign * sl_piece_part(p, (enum sl_unit) k, r->first * SL_DAY, r->end * SL_DAY);
}

int sl_usage_note(struct sl_usage *u, const struct sl_piece *p, int sign, struct sl_error *err)
{
	int64_t first = sl_day_of(p->start), end = usage_end_day(p);
	struct sl_piece gone = *p;

	for (int k = 0; k < SL_UNITS; k++)
		gone.amount[k] *= sign;
	if (u->in_memory && usage_memory_note(u, &gone, err))
		return -1;
	for (int i = 0; i < RANGES; i++)
		note_range(&u->range[i], p, sign);
	for (int i = 0; i < EDGES; i++)
		if (first <= u->edge[i].day && u->edge[i].day < end && usage_pieces_add(&u->edge[i], &gone))
			u->edge[i].day = NO_DAY;
	for (int i = 0; i < DECAYS; i++)
		if (u->decay[i].half_life != 0)
			decay_part(&u->decay[i], p, INT64_MIN / 2, INT64_MAX / 2, sign);
	return 0;
}

void sl_usage_forget(struct sl_usage *u)
{
	for (int i = 0; i < RANGES; i++)
		u->range[i].first = u->range[i].end = 0;
	for (int i = 0; i < DECAYS; i++)
		u->decay[i].half_life = 0;
	for (int i = 0; i < EDGES; i++)
		u->edge[i].day = NO_DAY;
}

void usage_cache_free(struct sl_usage *u)
{
	for (int i = 0; i < RANGES; i++)
		free(u->range[i].sum);
	for (int i = 0; i < DECAYS; i++)
		free(u->decay[i].sum);
	for (int i = 0; i < EDGES; i++)
		free(u->edge[i].piece);
}
