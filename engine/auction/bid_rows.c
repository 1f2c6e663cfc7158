/* SPDX-License-Identifier: MIT */
/*
 * bid_rows.c - which bids can win together: the rows of a set packing problem.
 *
 * One sweep over the nodes that the bids' parts begin and end at.  Between two such
 * nodes, and within one class of the timeline, all nodes say the same: they are a
 * segment.  Where bids only end from one segment to the next, or only begin, one of the
 * two says no more than the other, so that of every wave of beginnings and ends one
 * segment is left, as the cliques of an interval graph are.  What is left gives a row for
 * each resource and each instant at which less becomes free; rows that are equal are one.
 */
#include "auction/bid_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/number.h"
#include "base/order.h"

struct lie {			/* a part of a bid */
	uint32_t first, last;
	uint32_t bid;
	struct sl_resources each, claim;	/* what it takes of each node; what must be free there */
	int64_t end;
};

struct event {
	uint32_t where;			/* whose timeline: struct sl_stand */
	uint32_t node;
	bool begins;
	uint32_t lie;
};

struct sweep {
	struct sl_market *m;
	uint64_t bytes;			/* of the arrays below but rows and the map */
	const struct sl_bid *const *bid;
	struct sl_stand *stand;		/* [bid] */
	struct sl_bid_rows *rows;
	struct lie *lie;
	uint32_t lies;
	struct event *event;
	uint32_t events;
	uint64_t *active;		/* a bit for each lie: is it one of those that lie here? */
	uint32_t actives;
	const struct sl_class *cls;	/* of one timeline, with cores free now */
	struct sl_spans spans, sorted;	/* their runs */
	uint32_t span;
	struct sl_map by_terms;		/* -> row */
	struct sl_bid_term *term;	/* of the row being made */
};

void sl_bid_rows_free(struct sl_bid_rows *r)
{
	free(r->row);
	free(r->term);
	*r = (struct sl_bid_rows) { 0 };
}

/* -- rows ---------------------------------------------------------------- */

static uint64_t hash_terms(const struct sl_bid_term *t, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ t[i].bid) * UINT64_C(0x9e3779b97f4a7c15);
		h = (h ^ h >> 32 ^ (uint64_t) t[i].amount) * UINT64_C(0xd6e8feb86659fd93);
	}
	return h ^ h >> 29;
}

static bool equal_terms(const struct sl_bid_term *a, const struct sl_bid_term *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].bid != b[i].bid || a[i].amount != b[i].amount)
			return false;
	return true;
}

/* Append the row whose terms are in s->term; an equal one that allows more is cut. */
static int push_row(struct sweep *s, const struct sl_bid_row *row, uint32_t n, struct sl_error *err)
{
	uint64_t hash = hash_terms(s->term, n);
	struct sl_bid_rows *r = s->rows;

	SL_MAP_EACH(&s->by_terms, hash, at) {
		struct sl_bid_row *old = &r->row[at.value];

		if (old->terms != n || !equal_terms(r->term + old->term, s->term, n))
			continue;
		if (row->most < old->most)
			old->most = row->most;
		return 0;
	}
	if (sl_may_take(&s->m->allowance, s->bytes + (r->rows + UINT64_C(1)) *
			(sizeof(*row) + 2 * sizeof(*s->by_terms.slot)) + ((uint64_t) r->terms + n) * sizeof(*s->term),
			"overlaps", err) < 0 ||
	    sl_grow(&r->row, &r->row_room, (uint64_t) r->rows + 1, sizeof(*row), err) < 0 ||
	    sl_grow(&r->term, &r->term_room, (uint64_t) r->terms + n, sizeof(*s->term), err) < 0 ||
	    sl_map_put(&s->by_terms, hash, r->rows, err) < 0)
		return -1;
	memcpy(r->term + r->terms, s->term, n * sizeof(*s->term));
	r->row[r->rows] = *row;
	r->row[r->rows].term = r->terms;
	r->row[r->rows].terms = n;
	r->rows++;
	r->terms += n;
	return 0;
}

/* The most that the terms can come to, one bid of each job. */
static int64_t most_of(const struct sweep *s, uint32_t n)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; ) {
		uint32_t job = s->bid[s->term[i].bid]->entry.job;
		int64_t most = 0;

		for (; i < n && s->bid[s->term[i].bid]->entry.job == job; i++)
			most = sl_max_signed(most, s->term[i].amount);
		sum = sl_sum_signed(sum, most);
	}
	return sum;
}

/* The terms in s->term may come to *row.most: a row, unless they always do. */
static int limit_terms(struct sweep *s, struct sl_bid_row row, uint32_t n, struct sl_error *err)
{
	int64_t unit = 0;

	if (!n || most_of(s, n) <= row.most)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		unit = (int64_t) sl_gcd((uint64_t) unit, (uint64_t) s->term[i].amount);
	for (uint32_t i = 0; i < n; i++)
		s->term[i].amount /= unit;
	row.most /= unit;
	return push_row(s, &row, n, err);
}

/* -- segments ------------------------------------------------------------ */

static int64_t amount_of(const struct sl_resources *r, enum sl_bid_row_kind kind, uint32_t gres)
{
	return kind == SL_ROW_CORES ? r->cores : kind == SL_ROW_MEMORY ? r->memory : r->gres[gres];
}

/* What the bid takes, or where more must be free for it, that: others leave it so much, or all there is. */
static int64_t amount_claimed(const struct lie *l, const struct sl_bid_row *row)
{
	int64_t each = amount_of(&l->each, row->kind, row->gres), claim = amount_of(&l->claim, row->kind, row->gres);

	if (claim > row->most)
		claim = row->most;
	return claim > each ? claim : each;
}

/* The row of one resource at instant t. */
static int limit_resource(struct sweep *s, const uint32_t *lie, uint32_t lies, int64_t t, struct sl_bid_row row,
			  struct sl_error *err)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < lies; i++) {
		const struct lie *l = &s->lie[lie[i]];
		int64_t amount = l->end > t ? amount_claimed(l, &row) : 0;

		if (amount)
			s->term[n++] = (struct sl_bid_term) { l->bid, amount };
	}
	return limit_terms(s, row, n, err);
}

/* At most one elastic bid on a node: booked one after the other, the first would not leave
 * the second what it needs on each node. */
static int limit_elastic(struct sweep *s, const uint32_t *lie, uint32_t lies, uint32_t node, struct sl_error *err)
{
	struct sl_bid_row row = { .kind = SL_ROW_ONE_ELASTIC, .which = node, .most = 1 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < lies; i++)
		if (s->bid[s->lie[lie[i]].bid]->elastic)
			s->term[n++] = (struct sl_bid_term) { s->lie[lie[i]].bid, 1 };
	return limit_terms(s, row, n, err);
}

/* All rows of a segment: nodes of one class, on which these bids lie (sorted). */
static int limit_segment(struct sweep *s, const struct sl_class *g, const struct sl_timeline *tl, uint32_t node,
			 const uint32_t *lie, uint32_t lies, struct sl_error *err)
{
	struct sl_resources free;
	uint32_t at = 0;
	int64_t t;

	if (limit_elastic(s, lie, lies, node, err) < 0)
		return -1;
	/* what becomes free later needs no row of its own */
	while (sl_timeline_less(tl, g->number, &at, &t, &free)) {
		struct sl_bid_row row = { .kind = SL_ROW_CORES, .which = node, .most = free.cores };

		if (limit_resource(s, lie, lies, t, row, err) < 0)
			return -1;
		row.kind = SL_ROW_MEMORY;
		row.most = free.memory;
		if (limit_resource(s, lie, lies, t, row, err) < 0)
			return -1;
		row.kind = SL_ROW_GRES;
		for (row.gres = 0; row.gres < SL_MAX_GRES; row.gres++) {
			row.most = free.gres[row.gres];
			if (g->kind->capacity.gres[row.gres] &&
			    limit_resource(s, lie, lies, t, row, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Those that are active, in the order of bids, as lies are. */
static void list_active(const struct sweep *s, uint32_t *sorted)
{
	uint32_t n = 0;

	for (uint32_t w = 0; n < s->actives; w++)
		for (uint64_t left = s->active[w]; left; left &= left - 1)
			sorted[n++] = w * 64 + (uint32_t) __builtin_ctzll(left);
}

/* The nodes first..last, on which the active bids lie, class by class. */
static int close_segment(struct sweep *s, const struct sl_timeline *tl, uint32_t first, uint32_t last,
			 uint32_t *sorted, struct sl_error *err)
{
	if (s->actives < 2)
		return 0;
	list_active(s, sorted);
	while (s->span < s->spans.n && s->spans.at[s->span].last < first)
		s->span++;
	for (uint32_t i = s->span; i < s->spans.n && s->spans.at[i].first <= last; i++) {
		uint32_t node = s->spans.at[i].first > first ? s->spans.at[i].first : first;

		if (limit_segment(s, &s->cls[s->spans.at[i].offer], tl, node, sorted, s->actives, err) < 0)
			return -1;
	}
	return 0;
}

/* -- the sweep ------------------------------------------------------------ */

static int by_place(const void *va, const void *vb)
{
	const struct event *a = va, *b = vb;

	if (a->where != b->where)
		return a->where < b->where ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->begins - b->begins;
}

static int list_spans(struct sweep *s, struct sl_timeline *tl, struct sl_error *err)
{
	int64_t n = sl_timeline_open_classes(tl, sl_later(sl_timeline_now(tl), 1), &s->cls, err);

	s->span = 0;
	return n < 0 ? -1 : sl_spans_of(&s->spans, s->cls, n, &s->sorted, err);
}

static void begin_or_end_lie(struct sweep *s, const struct event *e)
{
	s->active[e->lie / 64] ^= UINT64_C(1) << e->lie % 64;
	s->actives += e->begins ? 1 : -1;
}

/* Do the nodes first..last, of which *first* never falls, lie within one run of a class?
 * Only then does one of two segments say no more than the other. */
static bool lie_in_one_run(struct sweep *s, uint32_t first, uint32_t last)
{
	while (s->span < s->spans.n && s->spans.at[s->span].last < first)
		s->span++;
	return s->span < s->spans.n && s->spans.at[s->span].first <= first && s->spans.at[s->span].last >= last;
}

/*
 * From one place to the next the active bids stay the same.  The segment before a place
 * counts when some bid ends there and the last change was that some began, or when it
 * reaches over more than one class.
 */
static int run_sweep(struct sweep *s, uint32_t *sorted, struct sl_error *err)
{
	uint32_t since = 0;		/* where the segment begins */
	bool grown = false;		/* bids began since the last row */

	for (uint32_t i = 0, next; i < s->events; i = next) {
		struct sl_timeline *tl = s->stand[s->lie[s->event[i].lie].bid].tl;
		uint32_t node = s->event[i].node, where = s->event[i].where;
		bool one, ends = !s->event[i].begins;

		if (sl_may_go_on(&s->m->allowance, err) < 0)
			return -1;
		if ((!i || s->event[i - 1].where != where) && list_spans(s, tl, err) < 0)
			return -1;
		one = !s->actives || lie_in_one_run(s, since, node);
		if (s->actives && (((grown && ends) || !one))) {
			if (close_segment(s, tl, since, node - 1, sorted, err) < 0)
				return -1;
			grown = false;
		}
		grown |= !one;
		for (next = i; next < s->events && s->event[next].where == where && s->event[next].node == node; next++) {
			begin_or_end_lie(s, &s->event[next]);
			grown |= s->event[next].begins;
		}
		since = node;
	}
	return 0;
}

/* -- who may share a node --------------------------------------------------- */

/* True if both bids are of one job with the same number of sharers (struct sl_stand): in two partitions a job may have two. */
static bool is_same_bidder(const struct sweep *s, uint32_t a, uint32_t b)
{
	return s->bid[a]->entry.job == s->bid[b]->entry.job && s->stand[a].sharers == s->stand[b].sharers;
}

/* How many jobs with that number of sharers, or (*other*) with any other number, bid with these lies (sorted). */
static uint32_t count_bidders(const struct sweep *s, const uint32_t *lie, uint32_t lies, uint32_t sharers, bool other)
{
	uint32_t bidders = 0, last = SL_NONE;

	for (uint32_t i = 0; i < lies; i++) {
		uint32_t bid = s->lie[lie[i]].bid;

		if ((s->stand[bid].sharers == sharers) == other || (last != SL_NONE && is_same_bidder(s, bid, last)))
			continue;
		last = bid;
		bidders++;
	}
	return bidders;
}

/* The number of sharers with which most jobs bid.  Rows are needed for jobs with other numbers only. */
static uint32_t largest_sharers(const struct sweep *s, const uint32_t *lie, uint32_t lies)
{
	uint32_t best = 0, most = 0;

	for (uint32_t i = 0; i < lies; i++) {
		uint32_t sharers = s->stand[s->lie[lie[i]].bid].sharers, bidders;

		if (sl_may_go_on(&s->m->allowance, NULL) < 0)
			break;		/* who goes on asks that too, and says so */
		if ((most && sharers == best) || (bidders = count_bidders(s, lie, lies, sharers, false)) <= most)
			continue;
		best = sharers;
		most = bidders;
	}
	return best;
}

/* If that bidder wins the node with one of its bids, no bidder with another number of sharers does. */
static int limit_beside(struct sweep *s, const uint32_t *lie, uint32_t lies, uint32_t node, uint32_t bid,
			struct sl_error *err)
{
	uint32_t sharers = s->stand[bid].sharers, n = 0;
	struct sl_bid_row row = { .kind = SL_ROW_SHARERS, .which = node,
				  .most = count_bidders(s, lie, lies, sharers, true) };

	for (uint32_t i = 0; i < lies; i++) {
		uint32_t k = s->lie[lie[i]].bid;

		if (s->stand[k].sharers != sharers)
			s->term[n++] = (struct sl_bid_term) { k, 1 };
		else if (is_same_bidder(s, k, bid))
			s->term[n++] = (struct sl_bid_term) { k, row.most };
	}
	return row.most ? limit_terms(s, row, n, err) : 0;
}

static int limit_sharers(struct sweep *s, const uint32_t *lie, uint32_t lies, uint32_t node, struct sl_error *err)
{
	uint32_t largest = largest_sharers(s, lie, lies), last = SL_NONE;

	for (uint32_t i = 0; i < lies; i++) {
		uint32_t bid = s->lie[lie[i]].bid;

		if (s->stand[bid].sharers == largest || (last != SL_NONE && is_same_bidder(s, bid, last)))
			continue;
		last = bid;
		if (sl_may_go_on(&s->m->allowance, err) < 0 || limit_beside(s, lie, lies, node, bid, err) < 0)
			return -1;
	}
	return 0;
}

static int by_node(const void *va, const void *vb)
{
	const struct event *a = va, *b = vb;

	return SL_ORDER(a->node, b->node) ?: a->begins - b->begins;
}

/* One sweep over the bids of all timelines, since each number of sharers has a timeline of its own. */
static int sweep_sharers(struct sweep *s, uint32_t count, uint32_t *sorted, struct sl_error *err)
{
	bool grown = false, mixed = false;

	for (uint32_t i = 1; i < count; i++)
		mixed |= s->stand[i].sharers != s->stand[0].sharers;
	if (!mixed)
		return 0;
	qsort(s->event, s->events, sizeof(*s->event), by_node);
	for (uint32_t i = 0; i < s->events; i++) {
		const struct event *e = &s->event[i];

		if (!e->begins && grown) {
			list_active(s, sorted);
			if (limit_sharers(s, sorted, s->actives, e->node - 1, err) < 0)
				return -1;
		}
		grown = e->begins;
		begin_or_end_lie(s, e);
	}
	return 0;
}

/* -- other rows ----------------------------------------------------------- */

static int limit_jobs(struct sweep *s, uint32_t count, struct sl_error *err)
{
	for (uint32_t i = 0, next; i < count; i = next) {
		struct sl_bid_row row = { .kind = SL_ROW_JOB, .which = s->bid[i]->entry.job, .most = 1 };
		uint32_t n = 0;

		if (sl_may_go_on(&s->m->allowance, err) < 0)
			return -1;
		for (next = i; next < count && s->bid[next]->entry.job == row.which; next++)
			s->term[n++] = (struct sl_bid_term) { next, 1 };
		if (n > 1 && push_row(s, &row, n, err) < 0)
			return -1;
	}
	return 0;
}

static int limit_licenses(struct sweep *s, uint32_t count, struct sl_error *err)
{
	const struct sl_cluster *c = s->m->c;
	int64_t now = sl_cluster_now(c);

	for (uint32_t l = 0; l < s->m->snap->license.rows; l++) {
		struct sl_bid_row row = { .kind = SL_ROW_LICENSE, .which = l };
		int64_t end = sl_later(now, 1);
		uint32_t n = 0;

		if (sl_may_go_on(&s->m->allowance, err) < 0)
			return -1;
		for (uint32_t i = 0; i < count; i++) {
			struct sl_range has = sl_cluster_choose_licenses(c, s->bid[i]->entry.job, now, s->bid[i]->seconds);
			int64_t amount = sl_cluster_licenses(c, has, l);

			if (!amount)
				continue;
			s->term[n++] = (struct sl_bid_term) { i, amount };
			if (sl_later(now, s->bid[i]->seconds) > end)
				end = sl_later(now, s->bid[i]->seconds);
		}
		row.most = n ? sl_cluster_licenses_left(c, l, now, end) : 0;
		if (limit_terms(s, row, n, err) < 0)
			return -1;
	}
	return 0;
}

/* Several records of one array: no more of its tasks than may run. */
static int limit_arrays(struct sweep *s, uint32_t count, struct sl_error *err)
{
	const struct sl_job_view *job = &s->m->snap->job;

	for (uint32_t i = 0; i < count; i++) {
		struct sl_bid_row row = { .kind = SL_ROW_ARRAY, .which = s->bid[i]->entry.job };
		uint32_t array = job->array_job_id[row.which], n = 0;

		if (sl_may_go_on(&s->m->allowance, err) < 0)
			return -1;
		row.most = sl_plan_tasks_left(s->m->p, row.which, err);
		if (row.most < 0)
			return -1;
		if (row.most == INT64_MAX)
			continue;
		for (uint32_t k = 0; k < count; k++)
			if (job->array_job_id[s->bid[k]->entry.job] == array)
				s->term[n++] = (struct sl_bid_term) { k, 1 };
		if (s->term[0].bid == i && limit_terms(s, row, n, err) < 0)
			return -1;
	}
	return 0;
}

/* Cores free on all nodes of an elastic bid, whose spans are listed: now, and so for all its
 * time. */
static int64_t cores_free(struct sweep *s, const struct sl_bid *bid, const struct sl_bid_part *part)
{
	int64_t sum = 0;
	uint32_t at = 0;

	for (uint32_t k = 0; k < bid->parts; k++) {
		while (at < s->spans.n && s->spans.at[at].last < part[k].first)
			at++;
		for (uint32_t i = at; i < s->spans.n && s->spans.at[i].first <= part[k].last; i++) {
			uint32_t first = s->spans.at[i].first > part[k].first ? s->spans.at[i].first : part[k].first;
			uint32_t last = s->spans.at[i].last < part[k].last ? s->spans.at[i].last : part[k].last;

			sum += (int64_t) s->cls[s->spans.at[i].offer].free.cores * (last - first + 1);
		}
	}
	return sum;
}

/* What bid a takes on the nodes of bid b. */
static int64_t cores_on(const struct sl_bid *a, const struct sl_bid_part *x, const struct sl_bid *b,
			const struct sl_bid_part *y)
{
	int64_t sum = 0;

	for (uint32_t i = 0, k = 0; i < a->parts && k < b->parts; ) {
		uint32_t first = x[i].first > y[k].first ? x[i].first : y[k].first;
		uint32_t last = x[i].last < y[k].last ? x[i].last : y[k].last;

		if (first <= last)
			sum += (int64_t) x[i].each.cores * (last - first + 1);
		if (x[i].last < y[k].last)
			i++;
		else
			k++;
	}
	return sum;
}

/* What an elastic bid wants in all is left by those that win beside it. */
static int limit_wide(struct sweep *s, const struct sl_bid_part *const *part, uint32_t count, struct sl_error *err)
{
	const struct sl_timeline *listed = NULL;

	for (uint32_t e = 0; e < count; e++) {
		struct sl_bid_row row = { .kind = SL_ROW_ELASTIC, .which = e };
		uint32_t n = 0;

		if (!s->bid[e]->elastic)
			continue;
		if (listed != s->stand[e].tl && list_spans(s, s->stand[e].tl, err) < 0)
			return -1;
		listed = s->stand[e].tl;
		for (uint32_t i = 0; i < count; i++) {
			int64_t cores = s->bid[e]->cores;

			if (sl_may_go_on(&s->m->allowance, err) < 0)
				return -1;
			if (i != e && (s->bid[i]->elastic || s->bid[i]->entry.job == s->bid[e]->entry.job ||
				       s->stand[i].where != s->stand[e].where))
				continue;
			if (i != e)
				cores = cores_on(s->bid[i], part[i], s->bid[e], part[e]);
			if (cores)
				s->term[n++] = (struct sl_bid_term) { i, cores };
		}
		/* Without it the others may fill all its nodes: its own row does that. */
		row.most = cores_free(s, s->bid[e], part[e]);
		if (limit_terms(s, row, n, err) < 0)
			return -1;
	}
	return 0;
}

/* -- all of it ------------------------------------------------------------ */

static int list_lies(struct sweep *s, const struct sl_bid_part *const *part, uint32_t count, struct sl_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct sl_stand *at = &s->stand[i];

		if (sl_plan_stand(s->m->p, s->bid[i]->entry, at, err) < 0 || sl_may_go_on(&s->m->allowance, err) < 0)
			return -1;
		for (uint32_t k = 0; k < s->bid[i]->parts; k++) {
			const struct sl_bid_part *p = &part[i][k];
			struct lie *l = &s->lie[s->lies];

			*l = (struct lie) { p->first, p->last, i, .each = p->each,
					    .end = sl_later(sl_timeline_now(at->tl), s->bid[i]->seconds) };
			sl_request_claim(at->request, &p->each, &l->claim);
			s->event[s->events++] = (struct event) { at->where, p->first, true, s->lies };
			s->event[s->events++] = (struct event) { at->where, p->last + 1, false, s->lies };
			s->lies++;
		}
	}
	qsort(s->event, s->events, sizeof(*s->event), by_place);
	return 0;
}

static void sweep_free(struct sweep *s)
{
	free(s->stand);
	free(s->lie);
	free(s->event);
	free(s->active);
	free(s->spans.at);
	free(s->sorted.at);
	sl_map_free(&s->by_terms);
	free(s->term);
}

int sl_market_rows(struct sl_market *m, const struct sl_bid *const *bid, const struct sl_bid_part *const *part,
		   uint32_t count, struct sl_bid_rows *rows, struct sl_error *err)
{
	struct sweep s = { .m = m, .bid = bid, .rows = rows };
	uint32_t *sorted = NULL;
	size_t parts = 0;
	int rc = -1;

	rows->rows = rows->terms = 0;
	for (uint32_t i = 0; i < count; i++)
		parts += bid[i]->parts;
	s.bytes = parts * (sizeof(*s.lie) + 2 * sizeof(*s.event) + sizeof(*s.term) + sizeof(*sorted)) +
			   count * (sizeof(*s.term) + sizeof(*s.stand));
	if (sl_may_take(&m->allowance, s.bytes, "overlaps", err) < 0)
		return -1;
	if (parts > UINT32_MAX / 2)
		return sl_fail(err, SL_ELIMIT, "overlaps: bids of more than %d parts in all", (int) (UINT32_MAX / 2));
	s.stand = malloc(((size_t) count + 1) * sizeof(*s.stand));
	s.lie = malloc((parts + 1) * sizeof(*s.lie));
	s.event = malloc((2 * parts + 1) * sizeof(*s.event));
	s.active = calloc(parts / 64 + 1, sizeof(*s.active));
	s.term = malloc((parts + count + 1) * sizeof(*s.term));
	sorted = malloc((parts + 1) * sizeof(*sorted));
	if (!s.stand || !s.lie || !s.event || !s.active || !s.term || !sorted)
		sl_fail(err, SL_ENOMEM, "bids: out of memory");
	else if (!list_lies(&s, part, count, err) && !limit_jobs(&s, count, err) && !run_sweep(&s, sorted, err) &&
		 !sweep_sharers(&s, count, sorted, err))
		rc = limit_licenses(&s, count, err) < 0 || limit_arrays(&s, count, err) < 0 ? -1 :
			limit_wide(&s, part, count, err);
	if (rc < 0)
		rows->rows = rows->terms = 0;
	free(sorted);
	sweep_free(&s);
	return rc;
}
