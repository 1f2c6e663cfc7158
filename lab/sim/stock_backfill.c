/* SPDX-License-Identifier: MIT */
/*
 * stock_backfill.c - sched/backfill: its table of which nodes reservations leave open when, and the start that select foresees
 * for a job on such nodes.
 */
#include "sim/stock_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/order.h"

#define FIRST_WINDOW_S 30	/* of _will_run_test() */
#define YEAR_S (INT64_C(365) * 86400)

static int64_t floor_to(int64_t t, int64_t grain)
{
	return t / grain * grain;
}

static int64_t limit_of(const struct sl_want *want)
{
	return want->time_limit == SL_UNLIMITED ? YEAR_S : want->time_limit;
}

/* -- which nodes are open when -------------------------------------------------- */

/* The table begins: nobody has a reservation. */
static int open_table(struct sl_stock *s, struct sl_error *err)
{
	struct sl_stock_work *w = s->work;
	uint32_t nodes = sl_cluster_snapshot(w->c)->node.rows;
	int64_t grain = s->opt.bf_resolution_s;
	uint32_t had = w->stretch_room;

	if (sl_grow(&w->stretch, &w->stretch_room, 1, sizeof(*w->stretch), err) < 0)
		return -1;
	memset(w->stretch + had, 0, (w->stretch_room - had) * sizeof(*w->stretch));
	w->stretches = 1;
	w->stretch[0].begin = floor_to(w->now, grain);
	w->stretch[0].end = floor_to(w->now + s->opt.bf_window_s, grain);
	sl_nodeset_clear(&w->stretch[0].open);
	return nodes ? sl_nodeset_add(&w->stretch[0].open, 0, nodes - 1, err) : 0;
}

/* A stretch of the table begins at *t*, if that is within it. */
static int split_table(struct sl_stock_work *w, int64_t t, struct sl_error *err)
{
	uint32_t i = 0, had = w->stretch_room;
	struct sl_nodeset spare;

	while (i < w->stretches && w->stretch[i].end <= t)
		i++;
	if (i == w->stretches || w->stretch[i].begin >= t)
		return 0;
	if (sl_grow(&w->stretch, &w->stretch_room, w->stretches + UINT64_C(1), sizeof(*w->stretch), err) < 0)
		return -1;
	memset(w->stretch + had, 0, (w->stretch_room - had) * sizeof(*w->stretch));
	spare = w->stretch[w->stretches].open;
	if (sl_nodeset_copy(&spare, &w->stretch[i].open, err) < 0)
		return -1;
	memmove(w->stretch + i + 2, w->stretch + i + 1, (w->stretches - i - 1) * sizeof(*w->stretch));
	w->stretch[i + 1] = (struct stretch) { .begin = t, .end = w->stretch[i].end, .open = spare };
	w->stretch[i].end = t;
	w->stretches++;
	return 0;
}

/*
 * The end of _add_reservation(): from the stretch before the one that ends with or behind *from*, up to the one that begins at *to*,
 * the first that has the same nodes as the next one becomes one with it.  No more than one does.
 */
static void drop_equal(struct sl_stock_work *w, int64_t from, int64_t to)
{
	for (uint32_t i = 0; i + 1 < w->stretches && w->stretch[i].begin < to; i++) {
		struct stretch *s = &w->stretch[i];
		struct sl_nodeset spare = s[1].open;

		if (s[1].end < from || !sl_nodeset_equal(&s->open, &spare))
			continue;
		s->end = s[1].end;
		memmove(s + 1, s + 2, (w->stretches - i - 2) * sizeof(*s));
		w->stretch[--w->stretches].open = spare;
		return;
	}
}

/* _add_reservation(): *nodes* are nobody else's from the beginning of the resolution on in which the job would start to that in
 * which it would end. */
static int reserve(struct sl_stock *s, const struct sl_nodeset *nodes, int64_t from, int64_t to, struct sl_error *err)
{
	struct sl_stock_work *w = s->work;

	from = sl_max_signed(from, w->stretch[0].begin);
	to = sl_max_signed(to, from + s->opt.bf_resolution_s);
	if (split_table(w, from, err) < 0 || split_table(w, to, err) < 0)
		return -1;
	for (uint32_t i = 0; i < w->stretches; i++)
		if (w->stretch[i].begin >= from && w->stretch[i].end <= to &&
		    sl_nodeset_subtract(&w->stretch[i].open, nodes, err) < 0)
			return -1;
	drop_equal(w, from, to);
	return 0;
}

/* _test_resv_overlap() */
static bool is_reserved(const struct sl_stock_work *w, const struct sl_nodeset *nodes, int64_t from, int64_t to)
{
	for (uint32_t i = 0; i < w->stretches; i++)
		if (w->stretch[i].end > from && w->stretch[i].begin < to && !sl_nodeset_includes(&w->stretch[i].open, nodes))
			return true;
	return false;
}

/*
 * work.open becomes the nodes of *all* that no reservation has from *from* to *to*.  *later: when others than these are free of
 * reservations, 0: never.
 */
static int find_open(struct sl_stock_work *w, const struct sl_nodeset *all, int64_t from, int64_t to, int64_t *later,
		     struct sl_error *err)
{
	*later = 0;
	if (sl_nodeset_copy(&w->open, all, err) < 0)
		return -1;
	for (uint32_t i = 0; i < w->stretches; i++) {
		const struct stretch *s = &w->stretch[i];

		if (s->end <= from)
			continue;
		if (!*later && i + 1 < w->stretches) {
			if (sl_nodeset_meet(&w->next, all, &s[1].open, err) < 0 || sl_nodeset_meet(&w->tmp, &w->open, &s->open, err) < 0)
				return -1;
			if (!sl_nodeset_includes(&w->tmp, &w->next))
				*later = s->end;
		}
		if (s->begin > to)	/* who ends at that very instant is in the way, too */
			break;
		if (sl_nodeset_intersect(&w->open, &s->open, err) < 0)
			return -1;
	}
	return 0;
}

/* -- when running jobs end ------------------------------------------------------- */

static int add_ending(struct sl_stock_work *w, uint32_t job, int64_t end, const struct sl_place *place, uint32_t count,
		      struct sl_error *err)
{
	if (sl_grow(&w->ending, &w->ending_room, w->endings + UINT64_C(1), sizeof(*w->ending), err) < 0 ||
	    sl_grow(&w->held, &w->held_room, w->holds + (uint64_t) count, sizeof(*w->held), err) < 0)
		return -1;
	w->ending[w->endings++] = (struct ending) { .end = end, .job = job, .first = w->holds, .count = count };
	for (uint32_t i = 0; i < count; i++)
		w->held[w->holds++] = place[i];
	return 0;
}

/* Those that end in the same second in the order of their submission, as slurmctld's list of jobs has them. */
static int by_end(const void *x, const void *y)
{
	const struct ending *a = x, *b = y;

	return SL_ORDER(a->end, b->end) ?: SL_ORDER(a->job, b->job);
}

static void sort_endings(struct sl_stock_work *w)
{
	qsort(w->ending, w->endings, sizeof(*w->ending), by_end);
}

/* The latest start of the plan, too, runs from now on. */
static int add_start(struct sl_stock_work *w, uint32_t number, struct sl_error *err)
{
	struct sl_booking b;

	if (sl_plan_booking(w->p, false, number, &b, err) < 0)
		return -1;
	return add_ending(w, b.entry.job, b.end_time, b.places, b.count, err);
}

static int gather_endings(struct sl_stock_work *w, struct sl_error *err)
{
	uint32_t running, started, count;
	const uint32_t *job = sl_cluster_running(w->c, &running);

	w->endings = w->holds = 0;
	for (uint32_t i = 0; i < running; i++) {
		const struct sl_place *place = sl_cluster_places(w->c, job[i], &count);

		if (add_ending(w, job[i], sl_cluster_end(w->c, job[i]), place, count, err) < 0)
			return -1;
	}
	sl_plan_started(w->p, &started);
	for (uint32_t i = 0; i < started; i++)
		if (add_start(w, i, err) < 0)
			return -1;
	sort_endings(w);
	return 0;
}

static bool ends_on_open_nodes(const struct sl_stock_work *w, const struct ending *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (sl_nodeset_contains(&w->open, w->held[e->first + i].node))
			return true;
	return false;
}

/* What the job holds of its nodes is not free at *t*; nothing of a node is that has not so much free. */
static int hold(struct sl_stock_work *w, const struct ending *e, int64_t t, struct sl_error *err)
{
	struct sl_timeline *tl = sl_cluster_timeline(w->c);

	for (uint32_t i = e->first; i < e->first + e->count; i++) {
		struct sl_resources r = { .memory = w->held[i].memory, .cores = (int32_t) w->held[i].cores };

		memcpy(r.gres, w->held[i].gres, sizeof(r.gres));
		sl_nodeset_clear(&w->tmp);
		if (sl_nodeset_add(&w->tmp, w->held[i].node, w->held[i].node, err) < 0)
			return -1;
		if (sl_timeline_book_beneath(tl, &w->tmp, &r, t, t + 1, err) < 0 &&
		    (err->code != SL_EBUSY || sl_timeline_block(tl, &w->tmp, t, t + 1, err) < 0))
			return -1;
	}
	return 0;
}

/* Does it fit when jobs have been taken away up to the one before ending *i*?  Those that end in the same second as that one, from
 * *i* on, are there still. */
static int fits_without(struct sl_stock_work *w, struct sl_entry e, uint32_t i, int64_t end, int64_t t, struct sl_error *err)
{
	struct sl_timeline *tl = sl_cluster_timeline(w->c);
	uint32_t mark;
	int rc = 0;

	if (i == w->endings || w->ending[i].end != end)
		return stock_fits(w, e, t, err);
	mark = sl_timeline_mark(tl);
	if (mark == SL_NO_MARK)
		return sl_fail(err, SL_ELIMIT, "stock schedulers: the timeline has too many marks");
	for (; !rc && i < w->endings && w->ending[i].end == end; i++)
		rc = hold(w, &w->ending[i], t, err);
	if (!rc)
		rc = stock_fits(w, e, t, err);
	sl_timeline_rollback(tl, mark);
	return rc;
}

/*
 * _will_run_test(): the job starts when the last of some running jobs has ended.  These are taken away in groups, the first of
 * some 30 s, each further one twice as long: so the start is the later beyond the earliest one the farther away that is.  Whether
 * the next job's end is beyond the group is looked at when one has been taken, not where one of other nodes is passed over.
 */
static int foresee(struct sl_stock *s, struct sl_entry e, int64_t *start, struct sl_error *err)
{
	struct sl_stock_work *w = s->work;
	int64_t window = FIRST_WINDOW_S, base = 0;
	uint32_t i = 0;
	int rc = stock_fits(w, e, w->now, err);

	*start = w->now;
	while (!rc && i < w->endings) {
		const struct ending *last = NULL;

		while (i < w->endings) {
			const struct ending *next = &w->ending[i++];

			if (next->end == SL_UNLIMITED || !ends_on_open_nodes(w, next))
				continue;
			if (!base)
				base = next->end + window - next->end % window;
			last = next;
			if (i < w->endings && w->ending[i].end > base + window)
				break;
		}
		if (!last)
			return 0;
		do
			window = s->opt.bf_window_scale_s ? window + s->opt.bf_window_scale_s : 2 * window;
		while (i < w->endings && w->ending[i].end != SL_UNLIMITED && w->ending[i].end > base + window);
		*start = sl_max_signed(last->end, w->now + 1);
		rc = fits_without(w, e, i, last->end, *start, err);
	}
	return rc;
}

/* -- a job ----------------------------------------------------------------------- */

static int note_start(struct sl_stock_work *w, struct sl_error *err)
{
	uint32_t started;

	sl_plan_started(w->p, &started);
	if (add_start(w, started - 1, err) < 0)
		return -1;
	sort_endings(w);
	return 0;
}

/* work.layout gets a reservation for as long as the job would run.  1: other reservations are in its way; 0: it has one; -1. */
static int reserve_layout(struct sl_stock *s, int64_t start, int64_t end, struct sl_error *err)
{
	struct sl_stock_work *w = s->work;
	int64_t grain = s->opt.bf_resolution_s;

	start = floor_to(start, grain);
	end = floor_to(end, grain);
	sl_nodeset_clear(&w->tmp);
	for (uint32_t i = 0; i < w->layout.shares; i++)
		if (sl_nodeset_union(&w->tmp, &w->layout.share[i].nodes, err) < 0)
			return -1;
	return is_reserved(w, &w->tmp, start, end) ? 1 : reserve(s, &w->tmp, start, end, err);
}

/* It starts or gets a reservation, or neither.  *tried: select was asked. */
static int try_job(struct sl_stock *s, struct sl_entry e, const struct sl_want *want, bool *tried, struct sl_error *err)
{
	struct sl_stock_work *w = s->work;
	int64_t from = w->now, limit = limit_of(want), later, start;
	int rc;

	for (;;) {
		if (find_open(w, sl_cluster_usable_nodes(w->c, e.partition), from, from + limit, &later, err) < 0)
			return -1;
		rc = w->open.count < sl_max(1, want->request.min_nodes) ? 0 : (*tried = true, foresee(s, e, &start, err));
		if (rc < 0)
			return -1;
		if (rc) {
			start = sl_max_signed(start, from);
			if (start <= w->now) {
				rc = stock_start(w, e, err);
				return rc > 0 ? note_start(w, err) : rc;
			}
			if (!later || start <= later) {
				if (start > w->now + s->opt.bf_window_s)
					return 0;
				rc = reserve_layout(s, start, start + limit, err);
				if (rc <= 0)
					return rc;
				later = start;
			}
		}
		if (later <= from)
			return 0;
		from = later;
	}
}

int stock_backfill(struct sl_stock *s, struct sl_error *err)
{
	struct sl_stock_work *w = s->work;
	uint32_t queued, tried = 0;
	const struct sl_entry *e = sl_cluster_queue(w->c, &queued);

	if (open_table(s, err) < 0 || gather_endings(w, err) < 0)
		return -1;
	for (uint32_t i = 0; i < queued && tried < s->opt.bf_max_job_test; i++) {
		const struct sl_want *want = sl_cluster_want(w->c, e[i], err);
		bool select = false;

		if (!want)
			return -1;
		if (want->why != SL_WHY_NONE || sl_plan_job(w->p, e[i].job) == SL_PLAN_STARTED)
			continue;
		if (try_job(s, e[i], want, &select, err) < 0)
			return -1;
		tried += select;
	}
	return 0;
}

void stock_work_free(struct sl_stock_work *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < w->stretch_room; i++)
		sl_nodeset_free(&w->stretch[i].open);
	sl_nodeset_free(&w->open);
	sl_nodeset_free(&w->eligible);
	sl_nodeset_free(&w->tmp);
	sl_nodeset_free(&w->next);
	sl_layout_free(&w->layout);
	free(w->stretch);
	free(w->ending);
	free(w->held);
	free(w->place);
	free(w->pick);
	free(w->cores);
	free(w->taken);
	free(w->set);
	free(w);
}
