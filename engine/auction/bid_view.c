/* SPDX-License-Identifier: MIT */
/* bid_view.c - what is free for how long, in node order, and as requests see it. */
#include "auction/bid_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* -- when less becomes free -------------------------------------------- */

static const struct breaks *breaks_known(struct sl_market *m, struct sl_timeline *tl, struct sl_error *err)
{
	struct breaks *b;
	uint32_t i = 0;
	int64_t count;

	while (i < m->break_lists && m->breaks[i].tl != tl)
		i++;
	if (i < m->break_lists && m->breaks[i].moment == sl_timeline_moment(tl))
		return &m->breaks[i];
	if (i == m->break_lists) {
		if (sl_grow_list(&m->breaks, i, sizeof(*m->breaks), err))
			return NULL;
		m->breaks[i] = (struct breaks) { .tl = tl };
		m->break_lists++;
	}
	b = &m->breaks[i];
	count = sl_timeline_breaks(tl, &b->t, &b->room, err);
	b->count = count < 0 ? 0 : (uint32_t) count;
	b->moment = sl_timeline_moment(tl);
	return count < 0 ? NULL : b;
}

/* -- views ------------------------------------------------------------- */

static void view_free(struct view *v)
{
	if (!v)
		return;
	free(v->cls);
	free(v->spans.at);
	free(v->sorted.at);
	free(v->set);
	free(v);
}

/* Neighbouring spans of the same kind of node with the same free are one. */
static void merge_spans(struct view *v)
{
	struct sl_span *at = v->spans.at;
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->spans.n; i++) {
		const struct view_class *a, *b = &v->cls[at[i].offer];

		if (n && at[n - 1].last + 1 == at[i].first) {
			a = &v->cls[at[n - 1].offer];
			if (a->kind == b->kind && sl_resources_equal(&a->free, &b->free)) {
				at[n - 1].last = at[i].last;
				continue;
			}
		}
		at[n++] = at[i];
	}
	v->spans.n = n;
}

static int view_fill(const struct sl_market *m, struct view *v, int64_t end, struct sl_error *err)
{
	const struct sl_class *cls;
	int64_t n = sl_timeline_open_classes(v->tl, end, &cls, err);

	v->classes = 0;
	v->has_sets = false;
	if (n < 0 || sl_grow(&v->cls, &v->class_room, (uint64_t) n, sizeof(*v->cls), err) < 0 ||
	    sl_spans_of(&v->spans, cls, n, &v->sorted, err) < 0)
		return -1;
	for (; v->classes < n; v->classes++) {
		const struct sl_class *g = &cls[v->classes];
		struct view_class *c = &v->cls[v->classes];

		*c = (struct view_class) { .kind = g->kind, .free = g->free, .number = g->number };
		for (int k = 0; k < SL_MAX_GRES; k++)
			c->gpus += m->gpu_kinds >> k & 1 ? c->free.gres[k] : 0;
	}
	merge_spans(v);
	return 0;
}

/* The view that is next in the list, made of what was there before if possible. */
static struct view *next_view(struct sl_market *m, struct sl_error *err)
{
	uint32_t old = m->view_room;

	if (sl_grow(&m->view, &m->view_room, (uint64_t) m->views + 1, sizeof(*m->view), err) < 0)
		return NULL;
	memset(m->view + old, 0, (m->view_room - old) * sizeof(*m->view));
	if (!m->view[m->views])
		m->view[m->views] = calloc(1, sizeof(**m->view));
	if (!m->view[m->views])
		sl_fail(err, SL_ENOMEM, "bids: out of memory");
	return m->view[m->views];
}

/* Their memory is used again by those that follow. */
static void forget_views(struct sl_market *m)
{
	m->views = 0;
	m->view_bytes = 0;
	m->profiles = m->next_profile = 0;
}

struct view *market_view(struct sl_market *m, struct sl_timeline *tl, int64_t seconds, struct sl_error *err)
{
	const struct breaks *b = breaks_known(m, tl, err);
	int64_t end = sl_later(sl_timeline_now(tl), seconds);
	uint32_t level = 0;
	struct view *v;

	if (!b)
		return NULL;
	while (level < b->count && b->t[level] < end)
		level++;
	for (uint32_t i = 0; i < m->views; i++)
		if (m->view[i]->tl == tl && m->view[i]->level == level)
			return m->view[i];
	/* a policy may ask for one after the other: what does not fit makes room for what follows */
	if (sl_may_take(&m->allowance, m->view_bytes, "bids", NULL) < 0)
		forget_views(m);
	v = next_view(m, err);
	if (!v)
		return NULL;
	v->tl = tl;
	v->level = level;
	if (view_fill(m, v, end, err) < 0)
		return NULL;
	m->views++;
	m->view_bytes += v->class_room * sizeof(*v->cls) + 2 * (uint64_t) v->spans.n * sizeof(*v->spans.at);
	return v;
}

void market_refresh(struct sl_market *m)
{
	uint64_t moment = sl_plan_moment(m->p);

	if (moment == m->moment)
		return;
	m->moment = moment;
	forget_views(m);
}

void market_views_free(struct sl_market *m)
{
	for (uint32_t i = 0; i < m->view_room; i++)
		view_free(m->view[i]);
	free(m->view);
	for (uint32_t i = 0; i < m->break_lists; i++)
		free(m->breaks[i].t);
	free(m->breaks);
	for (uint32_t i = 0; i < PROFILES; i++) {
		free(m->profile[i].piece);
		free(m->profile[i].block);
	}
	free(m->unit);
}

/* -- the paper's nodesets ----------------------------------------------- */

static int add_set(struct view *v, const struct sl_bid_set *s, struct sl_error *err)
{
	if (sl_grow(&v->set, &v->set_room, (uint64_t) v->sets + 1, sizeof(*v->set), err) < 0)
		return -1;
	v->set[v->sets++] = *s;
	return 0;
}

/* End the nodesets of more GPUs than *gpus*, which are open[gpus + 1] and so on. */
static int close_sets(struct view *v, struct sl_bid_set *open, uint32_t gpus, uint32_t levels, struct sl_error *err)
{
	for (uint32_t g = gpus; g < levels; g++) {
		if (!open[g].cores)
			break;		/* with more GPUs there is none either */
		if (add_set(v, &open[g], err) < 0)
			return -1;
		open[g].cores = 0;
	}
	return 0;
}

static int by_gpus(const void *va, const void *vb)
{
	const struct sl_bid_set *a = va, *b = vb;

	return SL_ORDER(a->gpus, b->gpus) ?: SL_ORDER(a->first, b->first);
}

/* One pass over the nodes: of each number of GPUs at most one nodeset is open. */
int view_nodesets(struct view *v, struct sl_error *err)
{
	struct sl_bid_set *open;
	uint32_t levels = 1;
	int rc = 0;

	if (v->has_sets)
		return 0;
	v->sets = 0;
	for (uint32_t i = 0; i < v->classes; i++)
		levels = v->cls[i].gpus >= levels ? v->cls[i].gpus + 1 : levels;
	open = calloc(levels, sizeof(*open));
	if (!open)
		return sl_fail(err, SL_ENOMEM, "bids: out of memory");
	for (uint32_t i = 0; !rc && i < v->spans.n; i++) {
		const struct sl_span *s = &v->spans.at[i];
		const struct view_class *c = &v->cls[s->offer];
		bool gap = i && s[-1].last + 1 < s->first;

		rc = close_sets(v, open, gap ? 0 : c->gpus + 1, levels, err);
		for (uint32_t g = 0; g <= c->gpus; g++) {
			if (!open[g].cores)
				open[g] = (struct sl_bid_set) { .first = s->first, .gpus = g };
			open[g].last = s->last;
			open[g].cores += (int64_t) c->free.cores * (s->last - s->first + 1);
		}
	}
	if (!rc)
		rc = close_sets(v, open, 0, levels, err);
	free(open);
	if (rc < 0)
		return -1;
	if (v->sets)
		qsort(v->set, v->sets, sizeof(*v->set), by_gpus);
	v->has_sets = true;
	return 0;
}

/* -- profiles ----------------------------------------------------------- */

static void make_key(struct profile_key *k, const struct view *v, const struct sl_need *n)
{
	*k = (struct profile_key) { .view = v, .eligible = n->r->eligible, .need = n->node };
	k->need.cap = UINT32_MAX;	/* however many the job wants in all */
}

static uint64_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t h = UINT64_C(0xcbf29ce484222325), word;

	for (; size >= 8; p += 8, size -= 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	for (; size; size--)
		h = (h ^ *p++) * UINT64_C(0x100000001b3);
	return h;
}

static int add_piece(struct profile *p, uint32_t first, uint32_t last, uint32_t cls, uint32_t units,
		     struct sl_error *err)
{
	struct stretch *b = p->blocks ? &p->block[p->blocks - 1] : NULL;

	if (!b || b->last + 1 != first) {
		if (sl_grow(&p->block, &p->block_room, (uint64_t) p->blocks + 1, sizeof(*b), err) < 0)
			return -1;
		b = &p->block[p->blocks++];
		*b = (struct stretch) { .first = first, .piece = p->pieces };
	}
	if (sl_grow(&p->piece, &p->piece_room, (uint64_t) p->pieces + 1, sizeof(*p->piece), err) < 0)
		return -1;
	p->piece[p->pieces++] = (struct piece) { first, last, cls, units };
	b->last = last;
	b->pieces++;
	b->units += (int64_t) units * (last - first + 1);
	if (last - b->first + 1 > p->longest)
		p->longest = last - b->first + 1;
	return 0;
}

/* The parts of a span on eligible nodes; *at is where to look, and moves on. */
static int add_span(struct profile *p, const struct sl_span *s, const struct sl_nodeset *eligible, uint32_t *at,
		    uint32_t units, struct sl_error *err)
{
	if (!eligible)
		return add_piece(p, s->first, s->last, s->offer, units, err);
	while (*at < eligible->runs && eligible->run[*at].last < s->first)
		(*at)++;
	for (uint32_t i = *at; i < eligible->runs && eligible->run[i].first <= s->last; i++) {
		uint32_t first = eligible->run[i].first > s->first ? eligible->run[i].first : s->first;
		uint32_t last = eligible->run[i].last < s->last ? eligible->run[i].last : s->last;

		if (add_piece(p, first, last, s->offer, units, err) < 0)
			return -1;
	}
	return 0;
}

static int profile_fill(struct sl_market *m, struct profile *p, const struct profile_key *key, struct sl_error *err)
{
	const struct view *v = key->view;
	uint32_t at = 0;

	p->pieces = p->blocks = p->longest = 0;
	if (sl_grow(&m->unit, &m->unit_room, v->classes, sizeof(*m->unit), err) < 0)
		return -1;
	for (uint32_t i = 0; i < v->classes; i++)
		m->unit[i] = sl_need_units(&key->need, &v->cls[i].kind->capacity, &v->cls[i].free);
	for (uint32_t i = 0; i < v->spans.n; i++) {
		const struct sl_span *s = &v->spans.at[i];

		if (m->unit[s->offer] && add_span(p, s, key->eligible, &at, m->unit[s->offer], err) < 0)
			return -1;
	}
	return 0;
}

const struct profile *market_profile(struct sl_market *m, const struct view *v, const struct sl_need *need,
				     struct sl_error *err)
{
	struct profile_key key;
	struct profile *p;
	uint64_t hash;

	make_key(&key, v, need);
	hash = hash_bytes(&key, sizeof(key));
	for (uint32_t i = 0; i < m->profiles; i++)
		if (m->profile[i].hash == hash && !memcmp(&m->profile[i].key, &key, sizeof(key)))
			return &m->profile[i];
	p = &m->profile[m->next_profile];
	p->hash = 0;
	memset(&p->key, 0, sizeof(p->key));
	if (profile_fill(m, p, &key, err) < 0)
		return NULL;
	p->key = key;
	p->hash = hash;
	m->next_profile = (m->next_profile + 1) % PROFILES;
	if (m->profiles < PROFILES)
		m->profiles++;
	return p;
}
