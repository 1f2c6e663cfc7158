/* SPDX-License-Identifier: MIT */
#include "usage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANGES 24	/* sums over whole days that are kept */
#define DECAYS 8
#define EDGES 16	/* days of which the pieces are kept */
#define EXACT_DAYS 64
#define NO_DAY INT64_MIN

const char *const sl_unit_word[SL_UNITS] = { "cpu", "gpu", "node" };
const char *const sl_usage_by_word[SL_BYS] = { "user", "account" };

struct range {
	int64_t first, end;		/* days; first == end: free */
	int64_t *sum;			/* [dim][unit] */
	uint64_t used;
};

struct decay {
	double half_life;		/* 0: free */
	int64_t at;			/* the instant that sum is of */
	double *sum;			/* [dim][unit] */
	uint64_t used;
};

struct pieces {
	int64_t day;
	struct sl_piece *piece;
	uint32_t count, room;
	uint64_t used;
};

/* The different users, or accounts, of all dimensions, in the order in which they came. */
struct names {
	const char **text;		/* a dimension's */
	uint32_t count, room;
	uint32_t *slot, slots;		/* hash: number + 1 */
	uint32_t *of;			/* [dim]: number */
};

struct sl_usage {
	struct sl_usage_source source;
	struct sl_dim *dim;
	uint32_t dims, dim_room;
	uint32_t *slot, slots;		/* hash: dim + 1 */
	struct names names[SL_BYS];
	uint32_t room;			/* dims that every sum has room for */
	struct range range[RANGES];
	struct decay decay[DECAYS];
	struct pieces edge[EDGES];
	uint64_t clock;
	bool in_memory;
	struct pieces *kept;		/* in memory: [day - first_day] */
	int64_t first_day;
	uint32_t days;
	int64_t *net;			/* [dim]: the answer at hand */
	double *net_decayed;
	struct sl_usage_total *total;
	uint32_t net_room;
	bool failed;			/* out of memory while something was collected */
};

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

/* The day after the last in which some part of a piece lies. */
static int64_t end_day(const struct sl_piece *p)
{
	return sl_day_of(p->end > p->start ? p->end - 1 : p->end) + 1;
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

void sl_usage_forget(struct sl_usage *u)
{
	for (int i = 0; i < RANGES; i++)
		u->range[i].first = u->range[i].end = 0;
	for (int i = 0; i < DECAYS; i++)
		u->decay[i].half_life = 0;
	for (int i = 0; i < EDGES; i++)
		u->edge[i].day = NO_DAY;
}

void sl_usage_destroy(struct sl_usage *u)
{
	if (!u)
		return;
	for (uint32_t i = 0; i < u->dims; i++) {
		free((char *) u->dim[i].user);
		free((char *) u->dim[i].account);
		free((char *) u->dim[i].partition);
	}
	for (int i = 0; i < RANGES; i++)
		free(u->range[i].sum);
	for (int i = 0; i < DECAYS; i++)
		free(u->decay[i].sum);
	for (int i = 0; i < EDGES; i++)
		free(u->edge[i].piece);
	for (uint32_t i = 0; i < u->days; i++)
		free(u->kept[i].piece);
	free(u->kept);
	for (int by = 0; by < SL_BYS; by++) {
		free(u->names[by].text);
		free(u->names[by].slot);
		free(u->names[by].of);
	}
	free(u->dim);
	free(u->slot);
	free(u->net);
	free(u->net_decayed);
	free(u->total);
	free(u);
}

/* -- dimensions -------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint32_t hash_dim(const struct sl_dim *d)
{
	uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325) + d->state, d->user);

	hash = hash_text(hash_text(hash, d->account), d->partition);
	return (uint32_t) (hash >> 32 ^ hash);
}

static bool same_dim(const struct sl_dim *a, const struct sl_dim *b)
{
	return a->state == b->state && !strcmp(a->user, b->user) && !strcmp(a->account, b->account) &&
		!strcmp(a->partition, b->partition);
}

static uint32_t *find_slot(const struct sl_usage *u, const struct sl_dim *d)
{
	uint32_t at = hash_dim(d) & (u->slots - 1);

	while (u->slot[at] && !same_dim(&u->dim[u->slot[at] - 1], d))
		at = (at + 1) & (u->slots - 1);
	return &u->slot[at];
}

static int grow_slots(struct sl_usage *u)
{
	uint32_t slots = u->slots ? 2 * u->slots : 64, *old = u->slot;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return -1;
	u->slot = slot;
	u->slots = slots;
	for (uint32_t i = 0; i < u->dims; i++)
		*find_slot(u, &u->dim[i]) = i + 1;
	free(old);
	return 0;
}

/* All sums get room for *need* dimensions; those for which there is none are dropped. */
static int grow_sums(struct sl_usage *u, uint32_t need)
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

static uint32_t *find_name(const struct names *n, const char *text)
{
	uint32_t at = (uint32_t) (hash_text(UINT64_C(0xcbf29ce484222325), text) >> 20) & (n->slots - 1);

	while (n->slot[at] && strcmp(n->text[n->slot[at] - 1], text))
		at = (at + 1) & (n->slots - 1);
	return &n->slot[at];
}

/* Room for one more name, and for *dims* dimensions. */
static int grow_names(struct names *n, uint32_t dims)
{
	uint32_t slots = n->slots ? 2 * n->slots : 64, room = n->room ? 2 * n->room : 32, *slot;
	void *p = realloc(n->of, dims * sizeof(*n->of));

	if (!p)
		return -1;
	n->of = p;
	if (n->count < n->room)
		return 0;
	p = realloc(n->text, room * sizeof(*n->text));
	if (!p)
		return -1;
	n->text = p;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -1;
	free(n->slot);
	n->slot = slot;
	n->slots = slots;
	n->room = room;
	for (uint32_t i = 0; i < n->count; i++)
		*find_name(n, n->text[i]) = i + 1;
	return 0;
}

static void keep_name(struct names *n, uint32_t dim, const char *text)
{
	uint32_t *slot = find_name(n, text);

	if (!*slot) {
		n->text[n->count++] = text;
		*slot = n->count;
	}
	n->of[dim] = *slot - 1;
}

static int grow_dims(struct sl_usage *u)
{
	uint32_t room = u->dim_room ? 2 * u->dim_room : 64;
	struct sl_dim *p;

	if (u->dims < u->dim_room)
		return 0;
	p = realloc(u->dim, room * sizeof(*p));
	if (!p)
		return -1;
	u->dim = p;
	u->dim_room = room;
	return 0;
}

uint32_t sl_usage_dim(struct sl_usage *u, const struct sl_dim *d, struct sl_error *err)
{
	struct sl_dim copy = { NULL, NULL, NULL, d->state };
	uint32_t *slot;

	if (u->slots && *(slot = find_slot(u, d)))
		return *slot - 1;
	if (grow_dims(u) || grow_names(&u->names[SL_BY_USER], u->dim_room) ||
	    grow_names(&u->names[SL_BY_ACCOUNT], u->dim_room) || (2 * (u->dims + 1) > u->slots && grow_slots(u)) ||
	    grow_sums(u, u->dims + 1))
		goto error;
	copy.user = strdup(d->user);
	copy.account = strdup(d->account);
	copy.partition = strdup(d->partition);
	if (!copy.user || !copy.account || !copy.partition)
		goto error;
	u->dim[u->dims] = copy;
	keep_name(&u->names[SL_BY_USER], u->dims, copy.user);
	keep_name(&u->names[SL_BY_ACCOUNT], u->dims, copy.account);
	*find_slot(u, &copy) = u->dims + 1;
	return u->dims++;
error:
	free((char *) copy.user);
	free((char *) copy.account);
	free((char *) copy.partition);
	sl_fail(err, SL_ENOMEM, "usage: out of memory");
	return SL_NONE;
}

uint32_t sl_usage_dims(const struct sl_usage *u)
{
	return u->dims;
}

const struct sl_dim *sl_usage_dim_of(const struct sl_usage *u, uint32_t dim)
{
	return &u->dim[dim];
}

/* -- sums over whole days ---------------------------------------------- */

static int keep_piece(struct pieces *list, const struct sl_piece *p)
{
	if (list->count == list->room) {
		uint32_t room = list->room ? 2 * list->room : 16;
		struct sl_piece *piece = realloc(list->piece, room * sizeof(*piece));

		if (!piece)
			return -1;
		list->piece = piece;
		list->room = room;
	}
	list->piece[list->count++] = *p;
	return 0;
}

static void add_day(void *to, uint32_t dim, int64_t day, const int64_t amount[SL_UNITS])
{
	int64_t *sum = to;

	(void) day;
	for (int k = 0; k < SL_UNITS; k++)
		sum[(size_t) dim * SL_UNITS + k] += amount[k];
}

/* The sum over the days first <= day < end, from the source unless it is kept. */
static struct range *find_range(struct sl_usage *u, int64_t first, int64_t end, struct sl_error *err)
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

struct collect {
	struct sl_usage *u;
	struct pieces *list;
};

static void add_piece(void *to, const struct sl_piece *p)
{
	struct collect *c = to;

	if (keep_piece(c->list, p))
		c->u->failed = true;
}

static struct pieces *find_edge(struct sl_usage *u, int64_t day, struct sl_error *err)
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

/* The decayed usage at *now*, from the source unless it is kept. */
static struct decay *find_decay(struct sl_usage *u, double half_life, int64_t now, struct sl_error *err)
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

/* In memory: put a piece into each of its days, or take it from there. */
static int keep_in_memory(struct sl_usage *u, const struct sl_piece *p, struct sl_error *err)
{
	int64_t first = sl_day_of(p->start), end = end_day(p), lo, hi;
	struct pieces *kept;

	lo = u->days && u->first_day < first ? u->first_day : first;
	hi = u->days && u->first_day + u->days > end ? u->first_day + u->days : end;
	if (hi - lo > 1 << 20)
		return sl_fail(err, SL_EINVAL, "usage: times that are %lld days apart", (long long) (hi - lo));
	if (!u->days || lo < u->first_day || hi > u->first_day + u->days) {
		hi += u->days / 2;
		kept = calloc((size_t) (hi - lo), sizeof(*kept));
		if (!kept)
			return sl_fail(err, SL_ENOMEM, "usage: out of memory");
		if (u->days)
			memcpy(kept + (u->first_day - lo), u->kept, u->days * sizeof(*kept));
		free(u->kept);
		u->kept = kept;
		u->first_day = lo;
		u->days = (uint32_t) (hi - lo);
	}
	for (int64_t day = first; day < end; day++)
		if (keep_piece(&u->kept[day - u->first_day], p))
			return sl_fail(err, SL_ENOMEM, "usage: out of memory");
	return 0;
}

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
	int64_t first = sl_day_of(p->start), end = end_day(p);
	struct sl_piece gone = *p;

	for (int k = 0; k < SL_UNITS; k++)
		gone.amount[k] *= sign;
	if (u->in_memory && keep_in_memory(u, &gone, err))
		return -1;
	for (int i = 0; i < RANGES; i++)
		note_range(&u->range[i], p, sign);
	for (int i = 0; i < EDGES; i++)
		if (first <= u->edge[i].day && u->edge[i].day < end && keep_piece(&u->edge[i], &gone))
			u->edge[i].day = NO_DAY;
	for (int i = 0; i < DECAYS; i++)
		if (u->decay[i].half_life != 0)
			decay_part(&u->decay[i], p, INT64_MIN / 2, INT64_MAX / 2, sign);
	return 0;
}

static int memory_days(void *arg, int64_t first, int64_t end, bool apart, sl_usage_each_day *each, void *to,
		       struct sl_error *err)
{
	struct sl_usage *u = arg;

	(void) apart;
	(void) err;
	if (first < u->first_day)
		first = u->first_day;
	if (end > u->first_day + u->days)
		end = u->first_day + u->days;
	for (int64_t day = first; day < end; day++)
		for (uint32_t i = 0; i < u->kept[day - u->first_day].count; i++) {
			const struct sl_piece *p = &u->kept[day - u->first_day].piece[i];
			int64_t amount[SL_UNITS];

			for (int k = 0; k < SL_UNITS; k++)
				amount[k] = sl_piece_part(p, (enum sl_unit) k, day * SL_DAY, (day + 1) * SL_DAY);
			each(to, p->dim, day, amount);
		}
	return 0;
}

static int memory_pieces(void *arg, int64_t day, sl_usage_each_piece *each, void *to, struct sl_error *err)
{
	struct sl_usage *u = arg;

	(void) err;
	if (day >= u->first_day && day < u->first_day + u->days)
		for (uint32_t i = 0; i < u->kept[day - u->first_day].count; i++)
			each(to, &u->kept[day - u->first_day].piece[i]);
	return 0;
}

struct sl_usage *sl_usage_create_memory(struct sl_error *err)
{
	struct sl_usage_source source = { .days = memory_days, .pieces = memory_pieces };
	struct sl_usage *u = sl_usage_create(&source, err);

	if (u) {
		u->source.arg = u;
		u->in_memory = true;
	}
	return u;
}

/* -- questions --------------------------------------------------------- */

static bool counts(const struct sl_usage *u, const struct sl_usage_query *q, uint32_t dim)
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
	e = find_edge(u, day, err);
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
		r = find_range(u, first, end, err);
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
	struct decay *d = find_decay(u, q->half_life, q->now, err);

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
	void *p;

	if (u->net_room < u->room || !u->net) {
		u->net_room = 0;
		if (!(p = realloc(u->net, (u->room + 1) * sizeof(*u->net))))
			goto error;
		u->net = p;
		if (!(p = realloc(u->net_decayed, (u->room + 1) * sizeof(*u->net_decayed))))
			goto error;
		u->net_decayed = p;
		if (!(p = realloc(u->total, (u->room + 1) * sizeof(*u->total))))
			goto error;
		u->total = p;
		u->net_room = u->room;
	}
	for (uint32_t i = 0; i < u->dims; i++) {
		u->net[i] = 0;
		u->net_decayed[i] = 0;
	}
	return 0;
error:
	return sl_fail(err, SL_ENOMEM, "usage: out of memory");
}

/* Dimensions of one name become one total; names with nothing are left out. */
static uint32_t add_up(struct sl_usage *u, const struct sl_usage_query *q)
{
	const struct names *names = &u->names[q->by];
	uint32_t n = 0;

	for (uint32_t i = 0; i < names->count; i++)
		u->total[i] = (struct sl_usage_total) { .name = names->text[i] };
	for (uint32_t i = 0; i < u->dims; i++)
		if (counts(u, q, i)) {
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
	*count = add_up(u, q);
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

/* -- snapshots --------------------------------------------------------- */

struct sl_usage *sl_usage_of_snapshot(const struct sl_snapshot *snap, struct sl_error *err)
{
	const struct sl_usage_view *v = &snap->usage;
	struct sl_usage *u = sl_usage_create_memory(err);

	for (uint32_t i = 0; u && i < v->rows; i++) {
		struct sl_dim dim = { sl_snapshot_str(snap, v->user[i]), sl_snapshot_str(snap, v->account[i]),
				      sl_snapshot_str(snap, v->partition[i]), v->state[i] };
		struct sl_piece p = { .start = v->start_time[i], .end = v->end_time[i],
				      .amount = { v->cpu_s[i], v->gpu_s[i], v->node_s[i] } };

		p.dim = sl_usage_dim(u, &dim, err);
		if (p.dim == SL_NONE || sl_usage_note(u, &p, 1, err)) {
			sl_usage_destroy(u);
			return NULL;
		}
	}
	return u;
}
