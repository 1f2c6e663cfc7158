/* SPDX-License-Identifier: MIT */
/*
 * plan_fit.c - where and when an entry fits, and booking it.
 */
#include "model/plan_private.h"

/* -- attempts ------------------------------------------------------------ */

bool plan_reserved_ahead(const struct sl_cluster *c, const struct want *w, int64_t until)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	const struct sl_nodeset *nodes = w->pub.request.eligible;
	uint32_t own = w->resv_nodes || w->any_time ? w->resv : SL_NONE;

	for (uint32_t r = 0; r < v->rows; r++)
		if (v->end_time[r] > c->now && v->start_time[r] < until && cluster_keeps_out(c, r, own) &&
		    sl_nodeset_overlaps(nodes, &c->resv_nodes[r]))
			return true;
	return false;
}

/* True if the job may be booked for less than its walltime (plan.h says when not). */
static bool may_be_guessed(const struct sl_plan *p, const struct want *w)
{
	const struct sl_job_view *job = &p->c->snap->job;
	uint32_t j = w->entry.job;

	return w->resv == SL_NONE && !job->licenses[j].count &&
	       !plan_reserved_ahead(p->c, w, SL_FOREVER);
}

/* Seconds after a start now from which on other jobs may preempt the job; 0: it keeps its nodes.  An advance reservation
 * preempts nobody, and licences are not released: a job that could meet either needs its nodes for its whole walltime,
 * which begins when they have booted. */
static int64_t yields_after(const struct sl_cluster *c, const struct want *w)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = w->entry.job;

	if (job->yields_after[j] <= 0 || w->pub.why != SL_WHY_NONE || w->resv != SL_NONE || job->licenses[j].count ||
	    plan_reserved_ahead(c, w, sl_later(sl_later(c->now, w->pub.boots), w->pub.time_limit)))
		return 0;
	return job->yields_after[j];
}

int64_t sl_cluster_needs_nodes_s(const struct sl_cluster *c, const struct sl_want *want)
{
	int64_t yields = yields_after(c, (const struct want *) want);	/* *pub* is the first member */

	return yields && yields < want->time_limit ? yields : want->time_limit;
}

void plan_attempt_now(struct attempt *a)
{
	int64_t yields = yields_after(a->p->c, a->w);

	if (yields && (!a->expected || yields < a->expected))
		a->expected = yields;
}

/* True if the job is tried on nodes that are up before it is tried on all its nodes.  Not for jobs with several node sets
 * or counts of features, for which w->pub.up is not a substitute. */
bool plan_may_wake(const struct want *w)
{
	return w->pub.up && w->pub.up->count && !w->pub.many_sets && !w->pub.request.parts;
}

/* Seconds that the job is expected to run according to slurm.conf; 0: its walltime.  With time_min_as_soft_limit backfill
 * books a job for its --time-min but leaves it its limit. */
static int64_t soft_limit(const struct sl_plan *p, const struct want *w)
{
	bool is_soft = p->c->snap->meta.select_flags[0] & SL_SELECT_SOFT_LIMIT && !w->entry.shape;

	return is_soft && may_be_guessed(p, w) ? p->c->snap->job.time_min[w->entry.job] : 0;
}

int plan_attempt(struct attempt *a, struct sl_plan *p, const struct want *w, const struct sl_terms *terms,
		 struct sl_error *err)
{
	*a = (struct attempt) { .p = p, .w = w, .lack.license = SL_NONE };
	if (terms && terms->expected && may_be_guessed(p, w))
		a->expected = terms->expected;
	else
		a->expected = soft_limit(p, w);
	a->wake_after = terms && terms->wake_after ? terms->wake_after : p->wake_after;
	if (a->wake_after < 0)
		a->wake_after = 0;
	a->wakes = a->wake_after > 0 && plan_may_wake(w) ? NOT_LOOKED_AT : MAY_WAKE;
	if (terms && terms->how)
		a->how = *terms->how;
	else
		a->how.method = w->pub.method;
	if (w->pub.native && a->how.method != SL_PLACE_EXPLICIT)
		a->how.method = SL_PLACE_NATIVE;
	a->tl = plan_timeline_of(p, w->enclave, err);
	return a->tl ? 0 : -1;
}

int64_t plan_booked(const struct attempt *a, int64_t seconds)
{
	return a->expected && a->expected < seconds ? a->expected : seconds;
}

void plan_attempt_end(struct attempt *a)
{
	sl_nodeset_free(&a->open);
	sl_layout_free(&a->layout);
}

/* (Licences of a job whose reservation brings some are left to Slurm.) */
bool plan_licensed(struct attempt *a, int64_t t, int64_t seconds)
{
	struct sl_cluster *c = a->p->c;
	const struct sl_license_view *lic = &c->snap->license;

	a->lack.license = SL_NONE;
	a->licenses = (struct sl_range) { 0, 0 };
	if (cluster_brings_licenses(c, a->w->resv) || !c->snap->job.licenses[a->w->entry.job].count)
		return true;
	a->licenses = sl_cluster_choose_licenses(c, a->w->entry.job, t, seconds);
	for (uint32_t l = 0; l < lic->rows; l++) {
		int64_t need = sl_cluster_licenses(c, a->licenses, l);
		int64_t left = need ? sl_cluster_licenses_left(c, l, t, sl_later(t, seconds)) : 0;

		if (need <= left)
			continue;
		a->lack.license = l;
		a->lack.license_has = left > 0 ? left : 0;
		return false;
	}
	return true;
}

/* The first time from *t* on at which its licences are free. */
static int64_t licensed_from(const struct attempt *a, int64_t t, int64_t seconds)
{
	return cluster_brings_licenses(a->p->c, a->w->resv) ? t : cluster_licensed_from(a->p->c, a->w->entry.job, t, seconds);
}

/* The variant's request for that many seconds, plus boot time if its nodes may have to boot.  Uses *copy* if it differs
 * from the variant's own. */
static const struct sl_request *request_for(const struct attempt *a, const struct sl_variant *v, int64_t seconds,
					    struct sl_request *copy)
{
	int64_t duration = sl_later(seconds, a->on_up ? 0 : a->w->pub.boots);

	if (duration == v->request.duration && !a->on_up)
		return &v->request;
	*copy = v->request;
	copy->duration = duration;
	if (a->on_up)
		copy->eligible = a->w->pub.up;
	return copy;
}

/* True if the job needs several cores in one row of each of its nodes (want_shared.c).  A single core may be in any row. */
static bool is_in_rows(const struct want *w)
{
	return w->enclave && w->enclave->shared && w->rows.enough != 1;
}

/* Set a->open to the eligible nodes of *r* without those that other jobs have reserved within its time; *in_rows*: without
 * those of jobs that need several cores in one row.  0 or -1. */
static int open_nodes(struct attempt *a, const struct sl_request *r, bool in_rows, struct sl_error *err)
{
	const struct bookings *reserved = &a->p->reserved;
	int64_t end = sl_later(a->p->c->now, r->duration);

	if (sl_nodeset_copy(&a->open, r->eligible, err) < 0)
		return -1;
	for (uint32_t i = 0; i < reserved->count; i++) {
		const struct booking *b = reserved->item[i];

		if (b->entry.job == a->w->entry.job || b->t0 >= end || (in_rows && !is_in_rows(b->want)))
			continue;
		for (uint32_t s = 0; s < b->layout.shares; s++)
			if (sl_nodeset_subtract(&a->open, &b->layout.share[s].nodes, err) < 0)
				return -1;
	}
	return a->p->holds ? plan_hold_keep_off(a->p, a->w->entry.job, &a->open, err) : 0;
}

/* For a start now on nodes chosen by select, or on shared cores: it is unknown which ones will be used, so all nodes that
 * others have reserved within its time are excluded, whatever is free there.  1; 0: impossible; -1. */
static int leave_reserved(struct attempt *a, const struct sl_variant *v, struct sl_request *r, struct sl_error *err)
{
	if (open_nodes(a, r, v->in_rows, err) < 0)
		return -1;
	if (v->in_rows && r->parts)
		return a->open.count == r->eligible->count;
	r->eligible = &a->open;
	if (v->select || a->how.method == SL_PLACE_NATIVE)
		r->max_leaves = 0;
	return 1;
}

/* 1 if the job fits at *t* by this variant (a->how is then the method used); 0; -1. */
static int fits_by(struct attempt *a, const struct sl_variant *v, int64_t t, int64_t seconds, bool layout, struct sl_error *err)
{
	bool now = t <= a->p->c->now;
	struct sl_how how = a->how;
	struct sl_request copy;
	const struct sl_request *r = request_for(a, v, seconds, &copy);
	int rc = 1;

	if (!plan_licensed(a, t, r->duration))
		return 0;
	if (v->select)
		how.method = SL_PLACE_NATIVE;
	if (now && (how.method == SL_PLACE_NATIVE || v->in_rows)) {
		if (r != &copy)
			copy = *r;
		r = &copy;
		rc = leave_reserved(a, v, &copy, err);
	}
	cluster_scores_for(a->p->c, a->w->entry);
	if (rc > 0)
		rc = sl_fit_at(a->tl, r, &how, t, layout ? &a->layout : NULL, &a->lack.misfit, err);
	if (rc > 0)
		a->how = how;
	return rc;
}

/* Try the variants in turn at *t*, on nodes that are up if a->on_up, else on all.  1 with the first that fits; 0; -1. */
static int fit_first(struct attempt *a, int64_t t, int64_t seconds, bool layout, struct sl_error *err)
{
	const struct sl_want *w = &a->w->pub;
	bool now = t <= a->p->c->now, select = now || a->how.method == SL_PLACE_NATIVE;
	struct telling told = { .of = NULL };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < w->variants; i++) {
		const struct sl_variant *v = &w->variant[i];

		if (t < v->from || t >= v->until || (v->select && !select) || !cluster_tries(a->w, v, now, a->how.method))
			continue;
		rc = fits_by(a, v, t, seconds, layout, err);
		if (!rc)
			cluster_tell_misfit(a->w, &told, v, &a->lack.misfit);
	}
	return rc;
}

static int fit_soonest(struct attempt *a, int64_t from, int64_t latest, int64_t seconds, int64_t *start,
		       struct sl_error *err);

/* The latest start that its advance reservation allows. */
static int64_t latest_in_reservation(const struct attempt *a)
{
	return a->w->resv == SL_NONE || a->w->any_time ? SL_FOREVER : a->p->c->snap->reservation.end_time[a->w->resv] - 1;
}

/* For a start now: 1 if nodes that are up become free soon enough for the job to wait for them, and not too late for its
 * deadline or reservation (as plan_earliest() sees these).  0 or -1. */
static int waits_for_nodes(struct attempt *a, struct sl_error *err)
{
	int64_t now = a->p->c->now, deadline = a->p->c->snap->job.deadline[a->w->entry.job];
	int64_t seconds = plan_time(a->p, a->w, now), latest = latest_in_reservation(a), at;
	struct attempt up;
	int rc;

	if (a->wakes != NOT_LOOKED_AT)
		return a->wakes == WAKES_NONE;
	if (seconds && seconds < a->w->pub.time_limit)
		seconds = a->w->pub.time_floor;
	if (deadline && deadline - seconds < latest)
		latest = deadline - seconds;
	if (sl_later(now, a->wake_after) < latest)
		latest = sl_later(now, a->wake_after);
	up = *a;
	up.on_up = true;
	up.layout = (struct sl_layout) SL_LAYOUT_EMPTY;
	up.open = (struct sl_nodeset) SL_NODESET_EMPTY;
	rc = seconds && now <= latest ? fit_soonest(&up, now, latest, plan_booked(a, seconds), &at, err) : 0;
	plan_attempt_end(&up);
	if (rc >= 0)
		a->wakes = rc ? WAKES_NONE : MAY_WAKE;
	return rc;
}

int plan_fits(struct attempt *a, int64_t t, int64_t seconds, bool layout, struct sl_error *err)
{
	int rc;

	if (!plan_may_wake(a->w))
		return fit_first(a, t, seconds, layout, err);
	a->on_up = true;
	rc = fit_first(a, t, seconds, layout, err);
	a->on_up = false;
	if (rc || a->wakes_nobody)
		return rc;
	if (t <= a->p->c->now && (rc = waits_for_nodes(a, err)))
		return rc < 0 ? -1 : 0;
	return fit_first(a, t, seconds, layout, err);
}

int64_t plan_longest(struct attempt *a, int64_t t, int64_t least, int64_t most, struct sl_error *err)
{
	int64_t lo = (least + 59) / 60, hi = most == SL_UNLIMITED ? INT64_C(1) << 24 : most / 60;
	int64_t best = least;
	int rc = plan_fits(a, t, least, true, err);

	if (rc <= 0)
		return rc;
	while (lo <= hi) {	/* what fits for a time also fits for less */
		int64_t mid = lo + (hi - lo) / 2;

		rc = plan_fits(a, t, mid * 60, false, err);
		if (rc < 0)
			return -1;
		if (rc) {
			best = mid * 60;
			lo = mid + 1;
		} else {
			hi = mid - 1;
		}
	}
	if (best != least && (rc = plan_fits(a, t, best, true, err)) <= 0)
		return rc;
	plan_licensed(a, t, sl_later(best, a->w->pub.boots));	/* the last test was for a longer time */
	return best;
}

int64_t plan_time(const struct sl_plan *p, const struct want *w, int64_t t)
{
	int64_t deadline = p->c->snap->job.deadline[w->entry.job], limit = w->pub.time_limit, room;

	if (!deadline)
		return limit;
	room = deadline > t ? deadline - t : 0;
	if (room >= limit)
		return limit;
	if (room < w->pub.time_floor)
		return 0;
	room -= room % 60;	/* Slurm counts in minutes */
	return room > w->pub.time_floor ? room : w->pub.time_floor;
}

/* The first end of the reservations that begin within that many seconds: until then they exclude nodes.  If there are
 * none: the first end of the jobs that hold nodes. */
static int64_t first_ahead_ends(const struct attempt *a, int64_t seconds)
{
	const struct bookings *reserved = &a->p->reserved;
	const struct sl_cluster *c = a->p->c;
	int64_t now = c->now, first = SL_FOREVER;
	bool ahead = false;

	for (uint32_t i = 0; i < reserved->count; i++) {
		const struct booking *b = reserved->item[i];

		if (b->entry.job == a->w->entry.job || b->t0 >= sl_later(now, seconds))
			continue;
		ahead = true;
		first = b->t1 < first ? b->t1 : first;
	}
	for (uint32_t i = 0; !ahead && i < c->runs + c->lingers; i++) {
		const struct held *h = c->held[i < c->runs ? c->running[i] : c->lingering[i - c->runs]];

		first = h && h->end > now && h->end < first ? h->end : first;
	}
	return first;
}

/* The earliest start by one variant.  If that is now, but the variant is for later starts, or select might use nodes that
 * others have reserved, search again from the end of the first of those reservations on. */
static int find_by(struct attempt *a, const struct sl_variant *v, int64_t from, int64_t latest, int64_t seconds,
		   int64_t *start, struct sl_error *err)
{
	struct sl_request copy;
	const struct sl_request *r = request_for(a, v, seconds, &copy);
	int64_t now = a->p->c->now;

	a->lack.license = SL_NONE;
	for (;;) {
		int64_t t = licensed_from(a, from, r->duration);
		int rc;

		if (t > latest || t == INT64_MAX) {
			a->lack.misfit = (struct sl_misfit) { .lack = SL_LACK_TIME };
			plan_licensed(a, from, r->duration);
			return 0;
		}
		rc = plan_fit_earliest(a, r, t, latest, start, err);
		if (rc <= 0)
			return rc;
		if (*start <= now && (!v->now || a->how.method == SL_PLACE_NATIVE)) {
			rc = v->now ? fits_by(a, v, *start, seconds, true, err) : 0;
			if (rc)
				return rc;
			from = first_ahead_ends(a, r->duration);
			continue;
		}
		from = licensed_from(a, *start, r->duration);
		if (from == *start) {
			plan_licensed(a, *start, r->duration);
			return 1;
		}
	}
}

/* The same; also for variants that are only for a start now. */
static int find_soonest_by(struct attempt *a, const struct sl_variant *v, int64_t from, int64_t latest, int64_t seconds,
			   int64_t *start, struct sl_error *err)
{
	int64_t now = a->p->c->now;

	if (!cluster_tries(a->w, v, !v->later, a->how.method))
		return 0;
	if (v->select)
		a->how.method = SL_PLACE_NATIVE;
	from = from > v->from ? from : v->from;
	latest = latest < v->until ? latest : v->until - 1;
	*start = now;
	if (v->later)
		return from <= latest ? find_by(a, v, from, latest, seconds, start, err) : 0;
	return from <= now && now <= latest ? fits_by(a, v, now, seconds, true, err) : 0;
}

/* Use the variant that fits soonest, of equal ones the first, on the nodes being considered. */
static int fit_soonest(struct attempt *a, int64_t from, int64_t latest, int64_t seconds, int64_t *start, struct sl_error *err)
{
	const struct sl_want *w = &a->w->pub;
	struct attempt best = *a;
	const struct sl_variant *said = NULL;	/* variant whose misfit is reported: the first one without an end, else the
						 * last */
	int rc = 0, found = 0;

	if (w->variants == 1)
		return find_by(a, w->variant, from, latest, seconds, start, err);
	for (uint32_t i = 0; rc >= 0 && i < w->variants && from <= latest; i++) {
		const struct sl_variant *v = &w->variant[i];
		struct attempt one = *a;
		int64_t at;

		one.layout = (struct sl_layout) SL_LAYOUT_EMPTY;
		rc = find_soonest_by(&one, v, from, latest, seconds, &at, err);
		a->open = one.open;
		if (v->later && v->from <= latest && (!said || said->until < INT64_MAX)) {
			a->lack = one.lack;
			said = v;
		}
		if (rc <= 0) {
			sl_layout_free(&one.layout);
			continue;
		}
		sl_layout_free(&best.layout);
		best = one;
		found = 1;
		*start = at;
		latest = at - 1;
	}
	if (found) {
		best.open = a->open;
		*a = best;
	}
	return rc < 0 ? -1 : found;
}

/* Use nodes that are up if they allow a start as early as all nodes do, or early enough to wait for; else all nodes. */
static int find_earliest_fit(struct attempt *a, int64_t from, int64_t latest, int64_t seconds, int64_t *start,
			     struct sl_error *err)
{
	struct attempt any;
	int64_t at;
	int rc, woken;

	if (!plan_may_wake(a->w))
		return fit_soonest(a, from, latest, seconds, start, err);
	any = *a;
	a->on_up = true;
	rc = fit_soonest(a, from, latest, seconds, start, err);
	a->on_up = false;
	if (rc < 0)
		return -1;
	any.layout = (struct sl_layout) SL_LAYOUT_EMPTY;
	any.open = a->open;
	a->open = (struct sl_nodeset) SL_NODESET_EMPTY;
	woken = fit_soonest(&any, from, latest, seconds, &at, err);
	if (woken > 0 && (!rc || at < *start - a->wake_after)) {
		sl_layout_free(&a->layout);
		*a = any;
		*start = at;
		return 1;
	}
	a->open = any.open;
	sl_layout_free(&any.layout);
	if (!rc)
		a->lack = any.lack;
	return woken < 0 ? -1 : rc;
}

int plan_earliest(struct attempt *a, int64_t from, int64_t *start, int64_t *seconds, struct sl_error *err)
{
	const struct sl_snapshot *s = a->p->c->snap;
	int64_t deadline = s->job.deadline[a->w->entry.job], limit = a->w->pub.time_limit, floor = a->w->pub.time_floor;
	int64_t latest = latest_in_reservation(a);
	int rc = 0;

	if (a->w->resv != SL_NONE && !a->w->any_time && from < s->reservation.start_time[a->w->resv])
		from = s->reservation.start_time[a->w->resv];
	a->lack.misfit = (struct sl_misfit) { .lack = SL_LACK_TIME };
	*seconds = limit;
	if (!deadline)
		return from > latest ? 0 : find_earliest_fit(a, from, latest, plan_booked(a, limit), start, err);
	if (limit < deadline && deadline - limit >= from)
		rc = find_earliest_fit(a, from, deadline - limit < latest ? deadline - limit : latest,
				       plan_booked(a, limit), start, err);
	if (rc || floor >= limit || floor >= deadline || deadline - floor < from || from > latest)
		return rc;
	/* not for its whole time: start as early as possible, for as long as possible */
	rc = find_earliest_fit(a, from, deadline - floor < latest ? deadline - floor : latest, floor, start, err);
	if (rc <= 0)
		return rc;
	*seconds = plan_longest(a, *start, floor, plan_time(a->p, a->w, *start), err);
	return *seconds > 0 ? 1 : (int) *seconds;
}

/* -- booking ------------------------------------------------------------- */

int plan_count_licenses(struct sl_plan *p, const struct booking *b, int sign, struct sl_error *err)
{
	if (cluster_brings_licenses(p->c, b->want->resv))
		return 0;
	return cluster_count_licenses(p->c, b->licenses, b->t0, b->t1, sign, err);
}

int64_t plan_boots_of(const struct sl_plan *p, const struct want *w, const struct sl_layout *layout, int64_t t)
{
	int64_t longest = 0;

	if (!w->pub.boots)
		return 0;
	for (uint32_t s = 0; s < layout->shares; s++) {
		const struct sl_nodeset *set = &layout->share[s].nodes;

		for (uint32_t n = sl_nodeset_next(set, 0); n < SL_MAX_NODES; n = sl_nodeset_next(set, n + 1)) {
			int64_t boots = sl_cluster_boots_in(p->c, n, t);

			longest = boots > longest ? boots : longest;
		}
	}
	return longest;
}

static int book(struct sl_plan *p, struct booking *b, bool beneath, struct sl_error *err)
{
	struct sl_timeline *tl = b->want->enclave ? b->want->enclave->tl : p->c->tl;
	struct sl_error why = { .code = SL_OK };
	bool busy = false;

	b->boots = plan_boots_of(p, b->want, &b->layout, b->t0);
	b->t1 = sl_later(sl_later(b->t0, b->boots), b->expected ? b->expected : b->limit);
	if (!(beneath ? sl_layout_book_beneath : sl_layout_book)(tl, &b->layout, b->t0, b->t1, &why)) {
		if (!plan_count_licenses(p, b, 1, &why)) {
			if (!plan_bar_across(p, b, true, &why))
				return 1;
			busy = why.code == SL_EBUSY;
			plan_count_licenses(p, b, -1, NULL);
		}
		sl_layout_unbook(tl, &b->layout, b->t0, b->t1, NULL);
	}
	if (err)
		*err = why;
	return busy ? 0 : -1;
}

int plan_book(struct sl_plan *p, struct booking *b, struct sl_error *err)
{
	return book(p, b, false, err);
}

int plan_book_again(struct sl_plan *p, struct booking *b, struct sl_error *err)
{
	return book(p, b, true, err) > 0 ? 0 : -1;
}

int plan_unbook(struct sl_plan *p, struct booking *b, struct sl_error *err)
{
	struct sl_timeline *tl = b->want->enclave ? b->want->enclave->tl : p->c->tl;

	plan_stumps_outdated(p, b);
	if (sl_layout_unbook(tl, &b->layout, b->t0, b->t1, err) < 0 || plan_bar_across(p, b, false, err) < 0)
		return -1;
	return plan_count_licenses(p, b, -1, err);
}
