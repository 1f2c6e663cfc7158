/* SPDX-License-Identifier: MIT */
/* timeline/step.c - step functions: queries and changes. */
#include "timeline/impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

bool sl_step_equal(const struct sl_step *a, const struct sl_step *b)
{
	return a->blocks == b->blocks && sl_resources_equal(&a->free, &b->free);
}

uint32_t sl_step_at(const struct sl_node_class *g, int64_t t)
{
	return t < g->next ? 0 : SL_FIRST(i, 1, g->steps, g->step[i].t <= t) - 1;
}

bool sl_step_min(const struct sl_node_class *g, int64_t t0, int64_t t1, struct sl_resources *least)
{
	return sl_step_min_from(g, sl_step_at(g, t0), t1, least);
}

bool sl_step_min_from(const struct sl_node_class *g, uint32_t i, int64_t t1, struct sl_resources *least)
{
	*least = g->step[i].free;
	for (;;) {
		if (g->step[i].blocks) {
			*least = (struct sl_resources) { 0 };
			return false;
		}
		if (++i == g->steps || g->step[i].t >= t1)
			return true;
		sl_resources_min(least, &g->step[i].free);
	}
}

/* *r += sign * each */
static void shift(struct sl_resources *r, const struct sl_resources *each, int sign)
{
	if (!sign)
		return;
	r->cores += sign * each->cores;
	r->memory += sign * each->memory;
	for (int k = 0; k < SL_MAX_GRES; k++)
		r->gres[k] += sign * each->gres[k];
}

static int busy(const struct sl_step *s, const struct sl_change *ch, uint32_t node, struct sl_error *err)
{
	const struct sl_resources *each = &ch->each;

	if (s->blocks && !ch->beneath)
		return sl_fail(err, SL_EBUSY, "node %u: blocked from %" PRId64 " on", node, s->t);
	if (each->cores > s->free.cores)
		return sl_fail(err, SL_EBUSY, "node %u: %d cores needed, %d free", node, each->cores, s->free.cores);
	if (each->memory > s->free.memory)
		return sl_fail(err, SL_EBUSY, "node %u: %" PRId64 " MiB needed, %" PRId64 " free", node,
			       each->memory, s->free.memory);
	for (int k = 0; k < SL_MAX_GRES; k++) {
		if (each->gres[k] > s->free.gres[k])
			return sl_fail(err, SL_EBUSY, "node %u: %u of gres kind %d needed, %u free", node,
				       each->gres[k], k, s->free.gres[k]);
	}
	return 0;
}

/* Fails if free + each > capacity.  The subtraction cannot overflow, the sum could. */
static int too_much(const struct sl_step *s, const struct sl_resources *each, const struct sl_resources *cap,
		    uint32_t node, struct sl_error *err)
{
	bool over = each->cores > cap->cores - s->free.cores || each->memory > cap->memory - s->free.memory;

	for (int k = 0; k < SL_MAX_GRES; k++)
		over |= each->gres[k] > cap->gres[k] - s->free.gres[k];
	if (over)
		return sl_fail(err, SL_EINVAL, "node %u: more is given back than was booked", node);
	return 0;
}

int sl_step_check(const struct sl_timeline *tl, const struct sl_node_class *g, const struct sl_change *ch,
		  uint32_t node, struct sl_error *err)
{
	const struct sl_resources *cap = &tl->kind[g->kind].capacity;

	for (uint32_t i = sl_step_at(g, ch->t0); i < g->steps && g->step[i].t < ch->t1; i++) {
		const struct sl_step *s = &g->step[i];

		if (ch->sign < 0 && ((s->blocks && !ch->beneath) || !sl_resources_fit(&ch->each, &s->free)))
			return busy(s, ch, node, err);
		if (ch->sign > 0 && too_much(s, &ch->each, cap, node, err))
			return -1;
		if (ch->block > 0 && s->blocks >= UINT16_MAX)
			return sl_fail(err, SL_ELIMIT, "node %u: more than %u blocks at a time", node, UINT16_MAX);
		if (ch->block < 0 && !s->blocks)
			return sl_fail(err, SL_EINVAL, "node %u: no block to take back", node);
	}
	return 0;
}

static void apply(struct sl_step *s, const struct sl_change *ch)
{
	shift(&s->free, &ch->each, ch->sign);
	s->blocks += ch->block;
}

/* Steps outside [t0, t1) are copied, steps inside are shifted.  New steps appear at t0 and t1, unless a step there becomes
 * equal to its neighbour and is merged.  Nothing else changes: neighbours inside keep their difference. */
uint32_t sl_step_change(struct sl_timeline *tl, const struct sl_node_class *g, const struct sl_change *ch,
			struct sl_error *err)
{
	uint32_t i = sl_step_at(g, ch->t0), n;
	struct sl_step *out;

	if (sl_grow(&tl->step, &tl->step_room, (uint64_t) g->steps + 2, sizeof(*tl->step), err))
		return 0;
	out = tl->step;
	memcpy(out, g->step, (i + 1) * sizeof(*out));
	n = i + 1;
	if (g->step[i].t < ch->t0) {
		out[n] = out[n - 1];
		out[n].t = ch->t0;
		n++;
	}
	apply(&out[n - 1], ch);
	if (n > 1 && sl_step_equal(&out[n - 1], &out[n - 2]))
		n--;
	for (i++; i < g->steps && g->step[i].t < ch->t1; i++) {
		out[n] = g->step[i];
		apply(&out[n++], ch);
	}
	if (i < g->steps && g->step[i].t == ch->t1) {
		if (sl_step_equal(&out[n - 1], &g->step[i]))
			i++;
	} else if (ch->t1 < SL_FOREVER) {
		out[n] = g->step[i - 1];
		out[n++].t = ch->t1;
	}
	memcpy(out + n, g->step + i, (g->steps - i) * sizeof(*out));
	n += g->steps - i;
	if (n > SL_MAX_STEPS) {
		sl_fail(err, SL_ELIMIT, "timeline: more than %u steps on a node", SL_MAX_STEPS);
		return 0;
	}
	return n;
}
