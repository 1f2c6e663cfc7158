/* SPDX-License-Identifier: MIT */
/*
 * plan_fit.c - where and when an entry fits, booking it, and why it does not.
 */
#include "model/plan_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* -- attempts ------------------------------------------------------------ */

/* Whether a reservation of somebody else's stands on nodes that it could use. */
static bool reserved_ahead(const struct sl_cluster *c, const struct want *w, int64_t until)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	uint32_t own = w->resv_nodes ? w->resv : SL_NONE;

	for (uint32_t r = 0; r < v->rows; r++)
		if (v->end_time[r] > c->now && v->start_time[r] < until && cluster_keeps_out(c, r, own) &&
		    sl_nodeset_overlaps(w->pub.request.eligible, &c->resv_nodes[r]))
			return true;
	return false;
}

/* May it be booked for less than its walltime?  plan.h says when not.  A flexible reservation that it names is
 * not its own now and may be when it starts. */
static bool may_be_guessed(const struct sl_plan *p, const struct want *w)
{
	const struct sl_job_view *job = &p->c->snap->job;
	uint32_t j = w->entry.job;

	return w->resv == SL_NONE && !*cluster_str(p->c, job->reservation[j]) && !job->licenses[j].count &&
	       !reserved_ahead(p->c, w, SL_FOREVER);
}

int plan_attempt(struct attempt *a, struct sl_plan *p, const struct want *w, const struct sl_terms *terms,
		 struct sl_error *err)
{
	*a = (struct attempt) { .p = p, .w = w, .lack.license = SL_NONE };
	if (terms && terms->expected && may_be_guessed(p, w))
		a->expected = terms->expected;
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

/*
 * Nobody knows which of its nodes select will give a native job, so one that starts is kept
 * off all that others have reserved within its time, whatever is left of them.
 */
static int leave_reserved(struct attempt *a, struct sl_request *r, struct sl_error *err)
{
	const struct bookings *reserved = &a->p->reserved;
	int64_t end = sl_later(a->p->c->now, r->duration);

	if (sl_nodeset_copy(&a->open, r->eligible, err) < 0)
		return -1;
	for (uint32_t i = 0; i < reserved->count; i++) {
		const struct booking *b = reserved->item[i];

		for (uint32_t s = 0; b->entry.job != a->w->entry.job && b->t0 < end && s < b->layout.shares; s++)
			if (sl_nodeset_subtract(&a->open, &b->layout.share[s].nodes, err) < 0)
				return -1;
	}
	r->eligible = &a->open;
	r->choices = r->max_leaves = 0;
	return 0;
}

/* A reservation may bring its own: jobs in one are left to Slurm. */
bool plan_licensed(struct attempt *a, int64_t t, int64_t seconds)
{
	struct sl_cluster *c = a->p->c;
	const struct sl_license_view *lic = &c->snap->license;

	a->lack.license = SL_NONE;
	if (a->w->resv != SL_NONE || !c->snap->job.licenses[a->w->entry.job].count)
		return true;
	for (uint32_t l = 0; l < lic->rows; l++) {
		int64_t need = sl_cluster_licenses(c, a->w->entry.job, l);
		int64_t left = need ? sl_cluster_licenses_left(c, l, t, sl_later(t, seconds)) : 0;

		if (need <= left)
			continue;
		a->lack.license = l;
		a->lack.license_has = left > 0 ? left : 0;
		return false;
	}
	return true;
}

/* The first instant from *t* on at which all licences are free. */
static int64_t licensed_from(const struct attempt *a, int64_t t, int64_t seconds)
{
	struct sl_cluster *c = a->p->c;
	const struct sl_license_view *lic = &c->snap->license;
	bool again = a->w->resv == SL_NONE && c->snap->job.licenses[a->w->entry.job].count;

	while (again) {
		again = false;
		for (uint32_t l = 0; l < lic->rows; l++) {
			int64_t need = sl_cluster_licenses(c, a->w->entry.job, l), at;

			if (!need)
				continue;
			at = sl_tally_earliest(&c->license[l], t, seconds, need,
					       (int64_t) lic->total[l] - lic->reserved[l]);
			if (at == INT64_MAX)
				return at;
			again |= at != t;
			t = at;
		}
	}
	return t;
}

/* It may have what sockets it asks for where fewer cores are free than make sure of that: select sees which. */
static bool may_fit_by_select(const struct attempt *a, int64_t t)
{
	return a->w->pub.request.least_free_cores && t <= a->p->c->now && !a->w->entry.loan &&
		a->how.method != SL_PLACE_EXPLICIT && a->how.method != SL_PLACE_NATIVE;
}

int plan_fits(struct attempt *a, int64_t t, int64_t seconds, bool layout, struct sl_error *err)
{
	struct sl_request r = a->w->pub.request;
	enum sl_place_method method = a->how.method;
	int rc;

	r.duration = seconds;
	if (t >= a->w->leaves_until)
		r.max_leaves = 0;
	if (!plan_licensed(a, t, seconds))
		return 0;
	if (method == SL_PLACE_NATIVE)
		r.least_free_cores = 0;
	if (method == SL_PLACE_NATIVE && t <= a->p->c->now && leave_reserved(a, &r, err) < 0)
		return -1;
	rc = sl_fit_at(a->tl, &r, &a->how, t, layout ? &a->layout : NULL, &a->lack.misfit, err);
	if (rc || !may_fit_by_select(a, t))
		return rc;
	a->how.method = SL_PLACE_NATIVE;
	r.least_free_cores = 0;
	rc = leave_reserved(a, &r, err) < 0 ? -1 :
		sl_fit_at(a->tl, &r, &a->how, t, layout ? &a->layout : NULL, &a->lack.misfit, err);
	if (rc <= 0)
		a->how.method = method;
	return rc;
}

int64_t plan_longest(struct attempt *a, int64_t t, int64_t least, int64_t most, struct sl_error *err)
{
	int64_t lo = (least + 59) / 60, hi = most == SL_UNLIMITED ? INT64_C(1) << 24 : most / 60;
	int64_t best = least;
	int rc = plan_fits(a, t, least, true, err);

	if (rc <= 0)
		return rc;
	while (lo <= hi) {	/* what fits for so long fits for less */
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

/* When the first of the others that keep it off nodes now is to end. */
static int64_t first_ahead_ends(const struct attempt *a, int64_t seconds)
{
	const struct bookings *reserved = &a->p->reserved;
	int64_t now = a->p->c->now, first = SL_FOREVER;

	for (uint32_t i = 0; i < reserved->count; i++) {
		const struct booking *b = reserved->item[i];

		if (b->entry.job != a->w->entry.job && b->t0 < sl_later(now, seconds) && b->t1 < first)
			first = b->t1;
	}
	return first;
}

/* A job that waits for a start below few switches starts anywhere when it has waited long enough. */
static int fit_in_switches(struct attempt *a, struct sl_request *r, int64_t from, int64_t latest, int64_t *start,
			   struct sl_error *err)
{
	struct sl_request any = *r;
	int64_t until, last;
	int rc;

	if (!r->max_leaves)
		return plan_fit_earliest(a, r, from, latest, start, err);
	until = a->w->leaves_until;
	last = until <= latest ? until - 1 : latest;
	rc = from <= last ? sl_fit_earliest(a->tl, r, &a->how, from, last, start, &a->layout, &a->lack.misfit, err) : 0;
	if (rc || latest < until)
		return rc;
	any.max_leaves = 0;
	return sl_fit_earliest(a->tl, &any, &a->how, from > until ? from : until, latest, start, &a->layout,
			       &a->lack.misfit, err);
}

/* The earliest fit of so many seconds between *from* and *latest*. */
static int find_earliest_fit(struct attempt *a, int64_t from, int64_t latest, int64_t seconds, int64_t *start,
			     struct sl_error *err)
{
	struct sl_request r = a->w->pub.request;

	r.duration = seconds;
	a->lack.license = SL_NONE;
	if (may_fit_by_select(a, from)) {
		int rc = plan_fits(a, from, seconds, true, err);

		*start = from > a->p->c->now ? from : a->p->c->now;
		if (rc)
			return rc;
	}
	for (;;) {
		int64_t t = licensed_from(a, from, seconds);
		int rc;

		if (t > latest || t == INT64_MAX) {
			a->lack.misfit = (struct sl_misfit) { .lack = SL_LACK_TIME };
			plan_licensed(a, from, seconds);
			return 0;
		}
		rc = fit_in_switches(a, &r, t, latest, start, err);
		if (rc <= 0)
			return rc;
		if (a->how.method == SL_PLACE_NATIVE && *start <= a->p->c->now) {
			rc = plan_fits(a, *start, seconds, true, err);
			if (rc)
				return rc;
			from = first_ahead_ends(a, seconds);
			continue;
		}
		from = licensed_from(a, *start, seconds);
		if (from == *start)
			return 1;
	}
}

int plan_earliest(struct attempt *a, int64_t from, int64_t *start, int64_t *seconds, struct sl_error *err)
{
	const struct sl_snapshot *s = a->p->c->snap;
	int64_t deadline = s->job.deadline[a->w->entry.job], limit = a->w->pub.time_limit, floor = a->w->pub.time_floor;
	int64_t latest = SL_FOREVER;
	int rc = 0;

	if (a->w->resv != SL_NONE) {
		uint32_t r = a->w->resv;

		if (from < s->reservation.start_time[r])
			from = s->reservation.start_time[r];
		latest = s->reservation.end_time[r] - 1;
	}
	a->lack.misfit = (struct sl_misfit) { .lack = SL_LACK_TIME };
	*seconds = limit;
	if (!deadline)
		return from > latest ? 0 : find_earliest_fit(a, from, latest, plan_booked(a, limit), start, err);
	if (limit < deadline && deadline - limit >= from)
		rc = find_earliest_fit(a, from, deadline - limit < latest ? deadline - limit : latest,
				       plan_booked(a, limit), start, err);
	if (rc || floor >= limit || floor >= deadline || deadline - floor < from || from > latest)
		return rc;
	/* Not for its whole time: as early as can be, for as long as can be. */
	rc = find_earliest_fit(a, from, deadline - floor < latest ? deadline - floor : latest, floor, start, err);
	if (rc <= 0)
		return rc;
	*seconds = plan_longest(a, *start, floor, plan_time(a->p, a->w, *start), err);
	return *seconds > 0 ? 1 : (int) *seconds;
}

/* -- booking ------------------------------------------------------------- */

/* In an enclave of parts of nodes, memory and gres are everybody's. */
static int book_shared(struct sl_plan *p, struct booking *b, bool undo, struct sl_error *err)
{
	uint32_t i;
	int rc = 0;

	if (!b->want->enclave || !b->want->enclave->partial)
		return 0;
	for (i = 0; !rc && i < b->layout.shares; i++) {
		struct sl_resources r = b->layout.share[i].each;

		r.cores = 0;
		if (undo)
			rc = sl_timeline_unbook(p->c->tl, &b->layout.share[i].nodes, &r, b->t0, b->t1, err);
		else
			rc = sl_timeline_book(p->c->tl, &b->layout.share[i].nodes, &r, b->t0, b->t1, err);
	}
	return rc;
}

int plan_count_licenses(struct sl_plan *p, const struct booking *b, int sign, struct sl_error *err)
{
	if (b->want->resv != SL_NONE)
		return 0;
	return cluster_count_licenses(p->c, b->entry.job, b->t0, b->t1, sign, err);
}

int plan_book(struct sl_plan *p, struct booking *b, struct sl_error *err)
{
	struct sl_timeline *tl = b->want->enclave ? b->want->enclave->tl : p->c->tl;
	uint32_t main_mark = sl_timeline_mark(p->c->tl);
	struct sl_error why = { .code = SL_OK };

	b->t1 = sl_later(b->t0, b->expected ? b->expected : b->limit);
	if (book_shared(p, b, false, &why) < 0) {
		sl_timeline_rollback(p->c->tl, main_mark);
		if (why.code == SL_EBUSY)
			return 0;
	} else if (!sl_layout_book(tl, &b->layout, b->t0, b->t1, &why)) {
		if (!plan_count_licenses(p, b, 1, &why)) {
			if (!plan_bar_across(p, b, true, &why)) {
				sl_timeline_release(p->c->tl, main_mark);
				return 1;
			}
			plan_count_licenses(p, b, -1, NULL);
		}
		sl_layout_unbook(tl, &b->layout, b->t0, b->t1, NULL);
		sl_timeline_rollback(p->c->tl, main_mark);
	} else {
		sl_timeline_rollback(p->c->tl, main_mark);
	}
	if (err)
		*err = why;
	return -1;
}

int plan_unbook(struct sl_plan *p, struct booking *b, struct sl_error *err)
{
	struct sl_timeline *tl = b->want->enclave ? b->want->enclave->tl : p->c->tl;

	if (sl_layout_unbook(tl, &b->layout, b->t0, b->t1, err) < 0 || book_shared(p, b, true, err) < 0 ||
	    plan_bar_across(p, b, false, err) < 0)
		return -1;
	return plan_count_licenses(p, b, -1, err);
}

/* -- explaining ---------------------------------------------------------- */

void plan_say(struct sl_refusal *r, enum sl_why why, const char *fmt, ...)
{
	unsigned n = 0;
	va_list ap;

	r->why = why;
	r->format = fmt;
	va_start(ap, fmt);
	for (const char *at = strchr(fmt, '%'); at && n < SL_REFUSAL_ARGS; at = strchr(at + 1, '%'))
		switch (at[1]) {
		case 's':
			r->arg[n++].words = va_arg(ap, const char *);
			break;
		case 'u':
			r->arg[n++].number = va_arg(ap, uint32_t);
			break;
		default:
			r->arg[n++].number = va_arg(ap, int64_t);
		}
	va_end(ap);
}

void plan_say_now(struct sl_refusal *r, enum sl_why why, const char *fmt, ...)
{
	va_list ap;

	r->why = why;
	r->format = NULL;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
}

/* Append as many bytes as there is room for. */
static void append(struct sl_refusal *r, size_t *used, const char *text, size_t n)
{
	size_t room = sizeof(r->text) - 1 - *used;

	n = n < room ? n : room;
	memcpy(r->text + *used, text, n);
	*used += n;
}

static void append_number(struct sl_refusal *r, size_t *used, int64_t number)
{
	uint64_t rest = number < 0 ? -(uint64_t) number : (uint64_t) number;
	char digits[24], *at = digits + sizeof(digits);

	do
		*--at = (char) ('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		*--at = '-';
	append(r, used, at, (size_t) (digits + sizeof(digits) - at));
}

const char *sl_refusal_text(struct sl_refusal *r)
{
	const char *at = r->format, *next;
	size_t used = 0;
	unsigned n = 0;

	if (!at)
		return r->text;
	for (; (next = strchr(at, '%')) && n < SL_REFUSAL_ARGS; n++) {
		append(r, &used, at, (size_t) (next - at));
		if (next[1] == 's')
			append(r, &used, r->arg[n].words, strlen(r->arg[n].words));
		else
			append_number(r, &used, r->arg[n].number);
		at = next + (next[1] == 's' || next[1] == 'u' ? 2 : sizeof("%" PRId64) - 1);
	}
	append(r, &used, at, strlen(at));
	r->text[used] = 0;
	r->format = NULL;
	return r->text;
}

static bool explain_required(const struct attempt *a, struct sl_refusal *r)
{
	const struct sl_cluster *c = a->p->c;
	const struct sl_nodeset *required = a->w->pub.request.required;
	uint32_t n = required ? sl_nodeset_next(required, 0) : SL_MAX_NODES;

	for (; n < SL_MAX_NODES; n = sl_nodeset_next(required, n + 1)) {
		const char *name = cluster_str(c, c->snap->node.name[n]);

		if (sl_nodeset_contains(a->w->pub.request.eligible, n))
			continue;
		if (!sl_nodeset_contains(&cluster_part(c, &a->w->entry)->nodes, n))
			plan_say(r, SL_WHY_NEVER, "requires node %s, which is not in its partition", name);
		else if (sl_nodeset_contains(&c->unusable, n))
			plan_say(r, SL_WHY_NODES_DOWN, "requires node %s, which is %s", name,
				 c->snap->node.state[n] & SL_NODE_DOWN ? "down" : "drained");
		else
			plan_say(r, SL_WHY_NEVER, "requires node %s, which does not satisfy it", name);
		return true;
	}
	return false;
}

static const char *s_of(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* The reservation whose nodes it is confined to; "" where it is to none. */
static const char *name_reservation(const struct attempt *a)
{
	const struct sl_cluster *c = a->p->c;

	return a->w->resv_nodes ? cluster_str(c, c->snap->reservation.name[a->w->resv]) : "";
}

/* What a misfit means to the user: *now* for what is free, else for what there is. */
static void say_misfit(const struct attempt *a, const struct sl_misfit *m, bool now, struct sl_refusal *r,
		       enum sl_why why)
{
	const char *is = m->have == 1 ? "is" : "are", *how = now ? is : "there";
	const char *end = now ? " free" : m->have == 1 ? " is" : " are", *resv = name_reservation(a);

	switch (m->lack) {
	case SL_LACK_NODES:
		if (now)
			plan_say(r, why, "needs %" PRId64 " node%s, %" PRId64 " %s free", m->need, s_of(m->need),
				 m->have, is);
		else
			plan_say(r, why, "needs %" PRId64 " node%s, %" PRId64 "%s%s could ever do", m->need,
				 s_of(m->need), m->have, *resv ? " of reservation " : "", resv);
		break;
	case SL_LACK_CORES:
		plan_say(r, why, "needs room for %" PRId64 " task%s, for %" PRId64 " %s%s", m->need, s_of(m->need),
			 m->have, how, end);
		break;
	case SL_LACK_GRES:
		plan_say(r, why, "needs %" PRId64 " of its gres, %" PRId64 " %s%s", m->need, m->have, how, end);
		break;
	case SL_LACK_MAX_NODES:
		plan_say(r, why, "%s on %" PRId64 " node%s", now ? "does not fit now" : "can never fit", m->have,
			 s_of(m->have));
		break;
	case SL_LACK_BLOCK:
		plan_say(r, why, "needs contiguous nodes, no block of those that %s is large enough",
			 now ? "are free" : "there are");
		break;
	case SL_LACK_LEAVES:
		plan_say(r, why, "needs nodes below %" PRId64 " leaf switch%s for now, it does not fit there", m->need,
			 m->need == 1 ? "" : "es");
		break;
	case SL_LACK_REQUIRED:
		plan_say(r, why, "a node it requires %s", now ? "is not free" : "does not suffice");
		if (m->node < a->p->c->snap->node.rows)
			plan_say(r, why, "requires node %s, which %s",
				 cluster_str(a->p->c, a->p->c->snap->node.name[m->node]),
				 now ? "is not free" : "does not suffice");
		break;
	case SL_LACK_TIME:
		plan_say(r, why, "there is no time at which it fits");
		break;
	case SL_LACK_NOTHING:
		plan_say(r, why, "memory or gres of its reservation's nodes are in use");
		break;
	default:
		plan_say(r, why, "asks for what no node can give");
	}
}

/* Says that no node of its partition, or of its reservation, has the features that it names.  1, 0 or -1. */
static int explain_features(const struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	struct sl_cluster *c = a->p->c;
	const struct want *w = a->w;
	const char *features = cluster_str(c, c->snap->job.features[w->entry.job]);
	int lacks = cluster_lacks_features(c, w, &cluster_part(c, &w->entry)->nodes, err);

	if (lacks > 0) {
		plan_say(r, SL_WHY_NEVER, "no node of partition %s has %s",
			 cluster_str(c, c->snap->partition.name[w->entry.partition]), features);
	} else if (!lacks && w->resv_nodes) {
		lacks = cluster_lacks_features(c, w, w->resv_nodes, err);
		if (lacks > 0)
			plan_say(r, SL_WHY_NEVER, "no node of reservation %s has %s", name_reservation(a), features);
	}
	return lacks;
}

/* Whether it could run if nothing else did; says so if not.  1, 0 or -1. */
static int has_chance(struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	struct sl_cluster *c = a->p->c;
	const struct want *w = a->w;
	uint32_t down;

	if (cluster_chance(c, w, err) < 0)
		return -1;
	if (w->chance == CHANCE_GOOD)
		return 1;
	if (explain_required(a, r))
		return 0;
	if (w->chance == CHANCE_NONE) {
		int lacks = explain_features(a, r, err);

		if (!lacks)
			say_misfit(a, &w->misfit, false, r, SL_WHY_NEVER);
		return lacks < 0 ? -1 : 0;
	}
	down = sl_nodeset_common(w->resv_nodes ? w->resv_nodes : &cluster_part(c, &w->entry)->nodes, &c->unusable);
	plan_say(r, SL_WHY_NODES_DOWN, "%" PRIu32 " node%s down or drained%s%s, needs more than are left", down,
		 down == 1 ? " is" : "s are", w->resv_nodes ? " in reservation " : "", name_reservation(a));
	return 0;
}

static bool explain_license(const struct attempt *a, struct sl_refusal *r)
{
	const struct sl_cluster *c = a->p->c;
	uint32_t need;

	if (a->lack.license == SL_NONE)
		return false;
	need = sl_cluster_licenses(c, a->w->entry.job, a->lack.license);
	if (need > c->snap->license.total[a->lack.license])
		plan_say(r, SL_WHY_LICENSES, "needs %" PRIu32 " of license %s, there are %" PRIu32, need,
			 cluster_str(c, c->snap->license.name[a->lack.license]),
			 c->snap->license.total[a->lack.license]);
	else
		plan_say(r, SL_WHY_LICENSES, "needs %" PRIu32 " of license %s, %" PRId64 " %s free", need,
			 cluster_str(c, c->snap->license.name[a->lack.license]), a->lack.license_has,
			 a->lack.license_has == 1 ? "is" : "are");
	return true;
}

/*
 * Whether others have reserved so much from now on, for so many seconds, that it would not fit
 * beside that if nothing ran; says so, in the words that Slurm has for it.  1, 0 or -1.
 */
static int explain_reserved(const struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err)
{
	struct sl_cluster *c = a->p->c;
	const struct sl_reservation_view *v = &c->snap->reservation;
	struct sl_request left = a->w->pub.request;
	struct sl_how how = { .method = SL_PLACE_NATIVE };
	struct sl_nodeset nodes = SL_NODESET_EMPTY;
	int64_t until = sl_later(c->now, seconds);
	bool maintained = false;
	int rc;

	if (a->w->resv_nodes || !reserved_ahead(c, a->w, until))
		return 0;
	rc = sl_nodeset_copy(&nodes, left.eligible, err);
	for (uint32_t i = 0; !rc && i < v->rows; i++) {
		if (v->end_time[i] <= c->now || v->start_time[i] >= until || v->cores[i])
			continue;
		maintained |= (v->flags[i] & SL_RESV_MAINT) && sl_nodeset_overlaps(&nodes, &c->resv_nodes[i]);
		rc = sl_nodeset_subtract(&nodes, &c->resv_nodes[i], err);
	}
	left.eligible = &nodes;
	left.duration = 1;
	left.choices = left.max_leaves = 0;
	if (!rc)
		rc = sl_fit_at(c->empty, &left, &how, c->now, NULL, NULL, err);
	sl_nodeset_free(&nodes);
	if (!rc)
		plan_say(r, SL_WHY_RESERVED, "%s",
			 maintained ? "Reserved for maintenance" : "May be reserved for other job");
	return rc < 0 ? -1 : !rc;
}

/* Says that licences are lacking, or that not even the empty machine would do.  1: neither, nothing is said; 0 or -1. */
static int explain_ever(struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	return explain_license(a, r) ? 0 : has_chance(a, r, err);
}

/* ... nor would it do with what others have reserved within so many seconds. */
static int explain_unreserved(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err)
{
	int rc = explain_ever(a, r, err);

	if (rc <= 0)
		return rc;
	rc = explain_reserved(a, seconds, r, err);
	return rc < 0 ? -1 : !rc;
}

int plan_explain_never(struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	const struct sl_cluster *c = a->p->c;
	int rc = explain_ever(a, r, err);

	if (rc <= 0)
		return rc;
	if (c->snap->job.deadline[a->w->entry.job])
		plan_say(r, SL_WHY_DEADLINE, "cannot end by its deadline");
	else if (a->w->resv_nodes)
		plan_say(r, SL_WHY_RESERVATION, "there is no room for it in reservation %s", name_reservation(a));
	else
		plan_say(r, SL_WHY_RESOURCES, "waits for jobs that have no end");
	return 0;
}

int plan_explain_now(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err)
{
	int rc = explain_unreserved(a, seconds, r, err);

	if (rc > 0)
		say_misfit(a, &a->lack.misfit, true, r,
			   a->w->resv_nodes && reserved_ahead(a->p->c, a->w, a->p->c->now + 1) ? SL_WHY_RESERVATION :
												   SL_WHY_RESOURCES);
	return rc < 0 ? -1 : 0;
}

int plan_explain_later(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err)
{
	const struct sl_cluster *c = a->p->c;
	const struct sl_entry *head = sl_plan_head(a->p);
	int rc = explain_unreserved(a, seconds, r, err);

	if (rc <= 0)
		return rc;
	if (a->p->reserved.count)
		plan_say(r, SL_WHY_PRIORITY, "would delay job %" PRIu32,
			 c->snap->job.id[(head ? head : a->p->reserved.entry)->job]);
	else if (reserved_ahead(c, a->w, sl_later(c->now, seconds)))
		plan_say(r, a->w->resv_nodes ? SL_WHY_RESERVATION : SL_WHY_RESOURCES,
			 "a reservation begins before it would end");
	else
		say_misfit(a, &a->lack.misfit, true, r, SL_WHY_RESOURCES);
	return 0;
}
