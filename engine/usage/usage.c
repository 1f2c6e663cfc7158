/* SPDX-License-Identifier: MIT */
/*
 * usage.c - a usage, and what is answered about it.
 */
#include "usage/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *const sl_unit_word[SL_UNITS] = { "cpu", "gpu", "node" };
const char *const sl_usage_by_word[SL_BYS] = { "user", "account" };
static int word_of(const char *const *words, int count, const char *word)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

int sl_unit_of(const char *word)
{
	return word_of(sl_unit_word, SL_UNITS, word);
}

int sl_usage_by_of(const char *word)
{
	return word_of(sl_usage_by_word, SL_BYS, word);
}

/* -- pieces ------------------------------------------------------------ */

/* What of a piece lies before *t*. */
static int64_t part_before(const struct sl_piece *p, enum sl_unit unit, int64_t t)
{
	if (t <= p->start)
		return 0;
	if (t >= p->end)
		return p->amount[unit];
	return (int64_t) ((__int128) p->amount[unit] * (t - p->start) / (p->end - p->start));
}

int64_t sl_piece_part(const struct sl_piece *p, enum sl_unit unit, int64_t t0, int64_t t1)
{
	if (p->start == p->end)
		return t0 <= p->start && p->start < t1 ? p->amount[unit] : 0;
	return t1 <= t0 ? 0 : part_before(p, unit, t1) - part_before(p, unit, t0);
}

/* -- life -------------------------------------------------------------- */

struct sl_usage *sl_usage_create(const struct sl_usage_source *source, struct sl_error *err)
{
	struct sl_usage *u = calloc(1, sizeof(*u));

	if (!u) {
		sl_fail(err, SL_ENOMEM, "usage: out of memory");
		return NULL;
	}
	u->source = *source;
	for (int i = 0; i < EDGES; i++)
		u->edge[i].day = NO_DAY;
	return u;
}

void sl_usage_destroy(struct sl_usage *u)
{
	if (!u)
		return;
	usage_dims_free(u);
	usage_cache_free(u);
	usage_memory_free(u);
	free(u->net);
	free(u->net_decayed);
	free(u->total);
	free(u);
}

/* -- questions --------------------------------------------------------- */

static bool is_counted(const struct sl_usage *u, const struct sl_usage_query *q, uint32_t dim)
{
	const struct sl_dim *d = &u->dim[dim];

	return !(d->state < 32 && q->without >> d->state & 1) && (!q->partition || !strcmp(q->partition, d->partition));
}

/* What the pieces of one day contribute to [t0, t1). */
static int add_edge(struct sl_usage *u, int64_t day, int64_t t0, int64_t t1, enum sl_unit unit, struct sl_error *err)
{
	struct pieces *e;

	if (t0 >= t1)
		return 0;
	e = usage_edge(u, day, err);
	if (!e)
		return -1;
	for (uint32_t i = 0; i < e->count; i++)
		u->net[e->piece[i].dim] += sl_piece_part(&e->piece[i], unit, t0, t1);
	return 0;
}

/* Fill u->net. */
static int ask_past(struct sl_usage *u, const struct sl_usage_query *q, struct sl_error *err)
{
	const int64_t most = SL_USAGE_MAX_SECONDS / SL_DAY;
	bool from = q->since > -SL_USAGE_MAX_SECONDS, to = q->until < SL_USAGE_MAX_SECONDS;
	int64_t first, end;
	struct range *r;

	if (q->until <= q->since || q->since >= SL_USAGE_MAX_SECONDS)
		return 0;
	first = from ? sl_day_of(q->since + SL_DAY - 1) : -most;
	end = to ? sl_day_of(q->until) : most;
	if (from && to && first > end)		/* both within one day */
		return add_edge(u, end, q->since, q->until, q->unit, err);
	if (first < end) {
		r = usage_range(u, first, end, err);
		if (!r)
			return -1;
		for (uint32_t i = 0; i < u->dims; i++)
			u->net[i] = r->sum[(size_t) i * SL_UNITS + q->unit];
	}
	if (from && add_edge(u, first - 1, q->since, first * SL_DAY, q->unit, err))
		return -1;
	return to ? add_edge(u, end, end * SL_DAY, q->until, q->unit, err) : 0;
}

static int ask_decayed(struct sl_usage *u, const struct sl_usage_query *q, struct sl_error *err)
{
	struct decay *d = usage_decay(u, q->half_life, q->now, err);

	if (!d)
		return -1;
	for (uint32_t i = 0; i < u->dims; i++)
		u->net_decayed[i] = d->sum[(size_t) i * SL_UNITS + q->unit];
	return 0;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct sl_usage_total *) x)->name, ((const struct sl_usage_total *) y)->name);
}

static int grow_net(struct sl_usage *u, struct sl_error *err)
{
	if (sl_grow(&u->net, &u->net_room, u->room, sizeof(*u->net), err) ||
	    sl_grow(&u->net_decayed, &u->decayed_room, u->room, sizeof(*u->net_decayed), err) ||
	    sl_grow(&u->total, &u->total_room, u->room, sizeof(*u->total), err))
		return -1;
	for (uint32_t i = 0; i < u->dims; i++) {
		u->net[i] = 0;
		u->net_decayed[i] = 0;
	}
	return 0;
}

/* Dimensions of one name become one total; names with nothing are left out. */
static uint32_t sum_by_name(struct sl_usage *u, const struct sl_usage_query *q)
{
	const struct names *names = &u->names[q->by];
	uint32_t n = 0;

	for (uint32_t i = 0; i < names->count; i++)
		u->total[i] = (struct sl_usage_total) { .name = names->text[i] };
	for (uint32_t i = 0; i < u->dims; i++)
		if (is_counted(u, q, i)) {
			u->total[names->of[i]].seconds += u->net[i];
			u->total[names->of[i]].decayed += u->net_decayed[i];
		}
	for (uint32_t i = 0; i < names->count; i++)
		if (u->total[i].seconds || u->total[i].decayed != 0)
			u->total[n++] = u->total[i];
	if (n)
		qsort(u->total, n, sizeof(*u->total), by_name);
	return n;
}

int sl_usage_ask(struct sl_usage *u, const struct sl_usage_query *q, const struct sl_usage_total **total,
		 uint32_t *count, struct sl_error *err)
{
	if ((unsigned) q->by >= SL_BYS || (unsigned) q->unit >= SL_UNITS)
		return sl_fail(err, SL_EINVAL, "usage: by %d, unit %d: there is no such thing", (int) q->by, (int) q->unit);
	if (grow_net(u, err))
		return -1;
	if (q->half_life > 0 ? ask_decayed(u, q, err) : ask_past(u, q, err))
		return -1;
	*count = sum_by_name(u, q);
	*total = u->total;
	return 0;
}

static int provider_ask(void *arg, const struct sl_usage_query *q, const struct sl_usage_total **total,
			uint32_t *count, struct sl_error *err)
{
	return sl_usage_ask(arg, q, total, count, err);
}

struct sl_usage_provider sl_usage_provider(struct sl_usage *u)
{
	return (struct sl_usage_provider) { .arg = u, .ask = provider_ask };
}
