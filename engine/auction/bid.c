/* SPDX-License-Identifier: MIT */
#include "auction/bid_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *sl_bid_kind_word(enum sl_bid_kind kind)
{
	static const char *const word[SL_BID_KINDS] = {
		[SL_BID_SLURM] = "slurm", [SL_BID_A] = "A", [SL_BID_B] = "B", [SL_BID_C] = "C",
	};

	return (unsigned) kind < SL_BID_KINDS ? word[kind] : "unknown";
}

/* -- a market ------------------------------------------------------------ */

struct sl_market *sl_market_create(struct sl_plan *p, struct sl_error *err)
{
	struct sl_market *m = calloc(1, sizeof(*m));

	if (!m) {
		sl_fail(err, SL_ENOMEM, "bids: out of memory");
		return NULL;
	}
	m->p = p;
	m->c = sl_plan_cluster(p);
	m->snap = sl_cluster_snapshot(m->c);
	m->gpu_kinds = sl_gpu_kinds(m->snap);
	return m;
}

void sl_market_allow(struct sl_market *m, const struct sl_allowance *allowance)
{
	m->allowance = *allowance;
}

void sl_market_destroy(struct sl_market *m)
{
	if (!m)
		return;
	market_views_free(m);
	sl_layout_free(&m->layout);
	free(m->candidate.piece);
	free(m->tight);
	free(m->chain);
	free(m->slurm);
	free(m->bid);
	free(m->part);
	free(m);
}

const struct sl_bid *sl_market_bids(const struct sl_market *m, uint32_t *count)
{
	*count = m->bids;
	return m->bid;
}

const struct sl_bid_part *sl_market_parts(const struct sl_market *m)
{
	return m->part;
}

int64_t sl_market_nodesets(struct sl_market *m, int64_t seconds, const struct sl_bid_set **set,
			   struct sl_error *err)
{
	struct view *v;

	if (seconds <= 0)
		return sl_fail(err, SL_EINVAL, "nodesets: %" PRId64 " seconds", seconds);
	market_refresh(m);
	v = market_view(m, sl_cluster_timeline(m->c), seconds, err);
	if (!v || view_nodesets(v, err) < 0)
		return -1;
	*set = v->set;
	return v->sets;
}

/* -- preference ---------------------------------------------------------- */

/* Switches that two nodes have in common, from the root on. */
static uint32_t common_switches(const char *a, const char *b)
{
	uint32_t n = 0;

	while (*a && *b) {
		size_t x = strcspn(a, "."), y = strcspn(b, ".");

		if (x != y || memcmp(a, b, x))
			break;
		n++;
		a += x + (a[x] != 0);
		b += y + (b[y] != 0);
	}
	return n;
}

static uint32_t switches_of(const char *path)
{
	uint32_t n = *path != 0;

	for (; *path; path++)
		n += *path == '.';
	return n;
}

static void measure_tree(struct sl_market *m)
{
	const uint32_t *path = m->snap->node.topology;

	if (m->depth)
		return;
	for (uint32_t n = 0; n < m->snap->node.rows; n++) {
		uint32_t depth = 0;

		if (!n || path[n] != path[n - 1])
			depth = switches_of(sl_snapshot_str(m->snap, path[n]));
		m->depth = depth > m->depth ? depth : m->depth;
	}
}

/* How far up the tree of switches a bid reaches: 0 under one leaf switch, below 1. */
static double switch_height(struct sl_market *m, const struct sl_bid *bid)
{
	const struct sl_snapshot *s = m->snap;
	uint32_t first, common, at;

	measure_tree(m);
	if (!m->depth)
		return 0;
	first = at = s->node.topology[bid->first];
	common = switches_of(sl_snapshot_str(s, first));
	for (uint32_t i = bid->part; i < bid->part + bid->parts; i++) {
		for (uint32_t n = m->part[i].first; n <= m->part[i].last; n++) {
			uint32_t path = s->node.topology[n], k;

			if (path == at)
				continue;
			at = path;
			k = common_switches(sl_snapshot_str(s, first), sl_snapshot_str(s, path));
			common = k < common ? k : common;
		}
	}
	return common < m->depth ? (double) (m->depth - common) / (m->depth + 1) : 0;
}

/* Equation 12 with the constants of Table 3. */
static double preference_of(const struct bidder *b, const struct sl_bid *bid)
{
	static const double k[2][SL_BID_KINDS][3] = {
		{ [SL_BID_A] = { 0, 0.25, 0 }, [SL_BID_B] = { 0.25, 0.25, 0 }, [SL_BID_C] = { 0.5, 0.25, 0.25 } },
		{ [SL_BID_A] = { 0, 0, 0 }, [SL_BID_B] = { 0.5, 0, 0 }, [SL_BID_C] = { 0.5, 0, 0.5 } },
	};
	const double *by = k[!b->elastic][bid->kind];
	double nodes = b->m->snap->node.rows, sets = 0, f;

	if (b->view)	/* eligible nodes may fall into more sets than there are */
		sets = b->profile->blocks > b->view->sets ? b->profile->blocks : b->view->sets;
	if (bid->sets > sets)
		sets = bid->sets;
	f = 1 - by[0] - by[1] * bid->nodes / (nodes + 1) - by[2] * bid->sets / (sets + 1);
	if (b->opt->topology > 0)
		f *= 1 - b->opt->topology * switch_height(b->m, bid);
	return f;
}

/* -- a bid --------------------------------------------------------------- */

static int by_node(const void *va, const void *vb)
{
	const struct sl_bid_part *a = va, *b = vb;

	return a->first < b->first ? -1 : a->first > b->first;
}

/* May the bids grow by one, of so many parts? */
static int may_grow(const struct sl_market *m, uint64_t parts, struct sl_error *err)
{
	return sl_may_take(&m->allowance, (m->bids + UINT64_C(1)) * sizeof(*m->bid) +
			   (m->parts + parts) * sizeof(*m->part), "bids", err);
}

/* The layout as parts behind the ones there are. */
static int push_parts(struct sl_market *m, struct sl_bid *bid, struct sl_error *err)
{
	const struct sl_layout *l = &m->layout;
	bool sorted = true;

	bid->part = m->parts;
	bid->parts = 0;
	for (uint32_t i = 0; i < l->shares; i++) {
		const struct sl_nodeset *s = &l->share[i].nodes;

		if (may_grow(m, (uint64_t) bid->parts + s->runs, err) < 0 ||
		    sl_grow(&m->part, &m->part_room, (uint64_t) bid->part + bid->parts + s->runs, sizeof(*m->part),
			    err) < 0)
			return -1;
		for (uint32_t r = 0; r < s->runs; r++) {
			struct sl_bid_part *p = &m->part[bid->part + bid->parts];

			*p = (struct sl_bid_part) { s->run[r].first, s->run[r].last, l->share[i].each, l->share[i].tasks };
			sorted &= !bid->parts || p[-1].first < p->first;
			bid->parts++;
		}
	}
	if (!sorted)
		qsort(m->part + bid->part, bid->parts, sizeof(*m->part), by_node);
	return 0;
}

static void measure_bid(const struct sl_market *m, struct sl_bid *bid)
{
	const struct sl_bid_part *p = m->part + bid->part;

	bid->nodes = m->layout.nodes;
	bid->cores = m->layout.cores;
	bid->first = p[0].first;
	bid->last = p[bid->parts - 1].last;
	bid->blocks = 1;
	for (uint32_t i = 1; i < bid->parts; i++)
		bid->blocks += p[i].first != p[i - 1].last + 1;
}

/* Does it lie together as the options want? */
static bool is_close(const struct sl_bid *bid, const struct sl_bid_options *o)
{
	return (!o->blocks || bid->blocks <= o->blocks) &&
		(o->spread <= 0 || bid->last - bid->first + 1 <= o->spread * bid->nodes);
}

static bool is_same_bid(const struct sl_market *m, const struct sl_bid *a, const struct sl_bid *b)
{
	if (a->nodes != b->nodes || a->cores != b->cores || a->parts != b->parts || a->first != b->first ||
	    a->last != b->last || a->seconds != b->seconds || a->native != b->native || a->elastic != b->elastic)
		return false;
	for (uint32_t i = 0; i < a->parts; i++) {
		const struct sl_bid_part *x = &m->part[a->part + i], *y = &m->part[b->part + i];

		if (x->first != y->first || x->last != y->last || !sl_resources_equal(&x->each, &y->each))
			return false;
	}
	return true;
}

static int push_bid(struct sl_market *m, const struct sl_bid *bid, struct sl_error *err)
{
	if (sl_grow(&m->bid, &m->bid_room, (uint64_t) m->bids + 1, sizeof(*bid), err) < 0)
		return -1;
	m->bid[m->bids++] = *bid;
	return 0;
}

int bidder_keep(struct bidder *b, enum sl_bid_kind kind, uint32_t sets, int64_t elastic, struct sl_error *err)
{
	struct sl_market *m = b->m;
	struct sl_bid bid = { .entry = b->e.entry, .kind = kind, .seconds = b->request.duration, .sets = sets,
			      .elastic = elastic != 0 };

	if (push_parts(m, &bid, err) < 0)
		return -1;
	measure_bid(m, &bid);
	if (elastic)
		bid.cores = elastic;
	if (!is_close(&bid, b->opt))
		return 0;
	for (uint32_t i = b->begin; i < m->bids; i++)
		if (is_same_bid(m, &m->bid[i], &bid))
			return 0;
	bid.preference = preference_of(b, &bid);
	if (push_bid(m, &bid, err) < 0)
		return -1;
	m->parts += bid.parts;
	return 1;
}

/* -- one entry ----------------------------------------------------------- */

/* May the entry start now?  1, 0 or -1. */
static int look_at(struct bidder *b, struct sl_entry e, struct sl_error *err)
{
	int rc = sl_plan_prospect(b->m->p, e, &b->e, err);

	if (rc > 0 && b->opt->contiguous && b->e.method != SL_PLACE_NATIVE)
		b->e.method = SL_PLACE_CONTIGUOUS;
	return rc;
}

/* Kinds A, B and C of an entry, for so many seconds, on nodes that are *up* or on any. */
static int bid_on(struct bidder *b, int64_t seconds, const struct sl_nodeset *up, struct sl_error *err)
{
	b->request = *b->e.want->exact;
	b->request.duration = seconds;
	if (up)
		b->request.eligible = up;
	b->view = NULL;
	b->profile = NULL;
	b->block = b->request.contiguous || b->opt->contiguous;
	if (sl_request_check(&b->request, err) < 0)
		return -1;
	if (sl_need_of(b->e.tl, &b->request, &b->need, NULL) < 0)
		return 0;
	b->elastic = b->need.min_nodes < b->need.max_nodes;
	return up || !b->e.want->up ? bidder_make(b, err) : bidder_wake(b, err);
}

/* For nodes that have to boot it bids where it has no bid without them. */
static int bid_for(struct bidder *b, int64_t seconds, struct sl_error *err)
{
	const struct sl_want *want = b->e.want;
	uint32_t before = b->m->bids;

	if (want->up && want->up->count && !want->many_sets && bid_on(b, seconds, want->up, err) < 0)
		return -1;
	return b->m->bids > before ? 0 : bid_on(b, seconds, NULL, err);
}

/* Bids of an entry in its shape: for its whole walltime, else for the least it takes. */
static int bid_shape(struct bidder *b, struct sl_entry e, uint32_t share, struct sl_error *err)
{
	uint32_t before = b->m->bids;
	int rc = look_at(b, e, err);
	int64_t floor;

	if (rc <= 0 || !sl_want_takes_places(b->e.want))
		return rc < 0 ? -1 : 0;
	b->left = share;
	floor = b->e.want->time_floor;
	if (sl_prospect_licensed(&b->e, b->e.seconds) && bid_for(b, b->e.seconds, err) < 0)
		return -1;
	if (b->m->bids == before && floor < b->e.seconds && sl_prospect_licensed(&b->e, floor))
		return bid_for(b, floor, err);
	return 0;
}

/* All bids of an entry; its shapes share them, what one leaves the next may take. */
static int bid_entry(struct sl_market *m, const struct sl_entry *list, uint32_t i,
		     const struct sl_bid_options *opt, uint32_t max, struct sl_error *err)
{
	struct bidder b = { .m = m, .opt = opt, .number = i, .begin = m->bids };
	uint32_t shapes = m->snap->job.shapes[list[i].job].count;
	uint32_t slurm = 0;

	if (m->slurm[i].nodes) {
		if (push_bid(m, &m->slurm[i], err) < 0)
			return -1;
		slurm = 1;
	}
	for (uint32_t s = 0; s <= shapes; s++) {
		struct sl_entry e = { .job = list[i].job, .partition = list[i].partition, .shape = s };
		uint32_t left = max - (m->bids - b.begin - slurm), share = left / (shapes + 1 - s);

		if (left && bid_shape(&b, e, share ? share : 1, err) < 0)
			return -1;
	}
	return 0;
}

/* -- Slurm bids ---------------------------------------------------------- */

/* Place it as Slurm would, and book that.  1 with *out, 0 or -1. */
static int place_slurm(struct bidder *b, struct sl_pretence *x, struct sl_bid *out, struct sl_error *err)
{
	struct sl_market *m = b->m;
	struct sl_bid bid = { .entry = b->e.entry, .kind = SL_BID_SLURM, .seconds = b->e.seconds };
	int rc = sl_prospect_place(&b->e, &m->layout, &bid.native, err);

	if (rc <= 0)
		return rc;
	bid.native |= !sl_want_takes_places(b->e.want);
	if (push_parts(m, &bid, err) < 0)
		return -1;
	measure_bid(m, &bid);
	if (!is_close(&bid, b->opt))
		return 0;
	rc = sl_pretence_book(x, &b->e, &m->layout, err);
	if (rc <= 0)
		return rc;
	m->parts += bid.parts;
	bid.preference = preference_of(b, &bid);
	*out = bid;
	return 1;
}

/* The entry's Slurm bid: of the first of its shapes that fits. */
static int bid_slurm(struct sl_market *m, struct sl_pretence *x, struct sl_entry e, const struct sl_bid_options *opt,
		     struct sl_bid *out, struct sl_error *err)
{
	uint32_t shapes = m->snap->job.shapes[e.job].count;
	int rc = 0;

	for (e.shape = 0; !rc && e.shape <= shapes; e.shape++) {
		struct bidder b = { .m = m, .opt = opt };

		rc = look_at(&b, e, err);
		if (rc > 0)
			rc = place_slurm(&b, x, out, err);
	}
	return rc;
}

/* Reservations that are asked for the first time get their timelines here. */
static int look_at_all(struct sl_market *m, const struct sl_entry *entry, uint32_t entries,
		       const struct sl_bid_options *opt, struct sl_error *err)
{
	for (uint32_t i = 0; i < entries; i++) {
		struct bidder b = { .m = m, .opt = opt };

		if (sl_may_go_on(&m->allowance, err) < 0 ||
		    (look_at(&b, entry[i], err) < 0 && sl_prospect_failed(m->p, entry[i], err) < 0))
			return -1;
	}
	return 0;
}

/* As if the jobs before it had been placed: into m->slurm. */
static int bid_all_slurm(struct sl_market *m, const struct sl_entry *entry, uint32_t entries,
			 const struct sl_bid_options *opt, struct sl_error *err)
{
	struct sl_pretence *x;
	int rc = 0;

	if (!(opt->kinds >> SL_BID_SLURM & 1))
		return 0;
	if (look_at_all(m, entry, entries, opt, err) < 0 || !(x = sl_pretence_begin(m->p, err)))
		return -1;
	for (uint32_t i = 0; rc >= 0 && i < entries; i++) {
		rc = sl_may_go_on(&m->allowance, err);
		if (rc >= 0 && bid_slurm(m, x, entry[i], opt, &m->slurm[i], err) < 0)
			rc = sl_prospect_failed(m->p, entry[i], err);
	}
	sl_pretence_end(x);
	return rc < 0 ? -1 : 0;
}

/* -- all entries --------------------------------------------------------- */

static int check_options(const struct sl_bid_options *o, struct sl_error *err)
{
	if (!o->kinds || o->kinds & ~SL_BID_ALL)
		return sl_fail(err, SL_EINVAL, "bids: kinds 0x%x: expected some of 0x%x", o->kinds, SL_BID_ALL);
	if (!o->max || o->max > SL_MAX_BIDS)
		return sl_fail(err, SL_EINVAL, "bids: max %" PRIu32 ": expected 1 to %d", o->max, SL_MAX_BIDS);
	if (o->total > SL_MAX_BIDS_TOTAL)
		return sl_fail(err, SL_EINVAL, "bids: total %" PRIu32 ": expected at most %d", o->total, SL_MAX_BIDS_TOTAL);
	if (!(o->spread >= 0))
		return sl_fail(err, SL_EINVAL, "bids: spread %g: expected 0 or more", o->spread);
	if (!(o->topology >= 0 && o->topology <= 1))
		return sl_fail(err, SL_EINVAL, "bids: topology %g: expected 0 to 1", o->topology);
	return 0;
}

/* Of an entry: one for each of its shapes at least. */
static uint32_t most_bids(const struct sl_market *m, const struct sl_entry *e, const struct sl_bid_options *opt)
{
	uint32_t shapes = m->snap->job.shapes[e->job].count;

	return opt->max > shapes ? opt->max : shapes + 1;
}

/* Kinds A, B and C of the entries, and their Slurm bids between them. */
static int bid_all(struct sl_market *m, const struct sl_entry *entry, uint32_t entries,
		   const struct sl_bid_options *opt, struct sl_error *err)
{
	uint32_t total = opt->total ? opt->total : SL_MAX_BIDS_TOTAL, jobs = opt->jobs ? opt->jobs : entries;
	uint32_t each = total / (jobs < entries ? jobs : entries);

	for (uint32_t i = 0; i < entries && jobs; i++) {
		uint32_t before = m->bids, parts = m->parts, made, max = most_bids(m, &entry[i], opt);

		max = max < each ? max : each;
		if (sl_may_go_on(&m->allowance, err) < 0)
			return -1;
		if (bid_entry(m, entry, i, opt, total ? (max ? max : 1) : 0, err) < 0) {
			if (sl_prospect_failed(m->p, entry[i], err) < 0)
				return -1;
			m->bids = before;
			m->parts = parts;
			continue;
		}
		made = m->bids - before;
		jobs -= made != 0;
		made -= m->slurm[i].nodes ? 1 : 0;
		total -= made < total ? made : total;
	}
	return 0;
}

int sl_market_bid(struct sl_market *m, const struct sl_entry *entry, uint32_t entries,
		  const struct sl_bid_options *opt, struct sl_error *err)
{
	if (check_options(opt, err) < 0)
		return -1;
	m->bids = m->parts = 0;
	if (!entries)
		return 0;
	if (sl_grow(&m->slurm, &m->slurm_room, entries, sizeof(*m->slurm), err) < 0)
		return -1;
	memset(m->slurm, 0, entries * sizeof(*m->slurm));
	if (bid_all_slurm(m, entry, entries, opt, err) < 0)
		goto error;
	market_refresh(m);
	if (bid_all(m, entry, entries, opt, err) < 0)
		goto error;
	return 0;
error:
	m->bids = m->parts = 0;
	return -1;
}
