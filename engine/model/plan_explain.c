/* SPDX-License-Identifier: MIT */
/* plan_explain.c - the reasons why an entry does not fit, as text. */
#include "model/plan_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
			plan_say(r, SL_WHY_NODES_DOWN, "requires node %s, which is %s", name, cluster_why_unusable(c, n));
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

/* Name of the reservation to which the job is confined; "" if there is none. */
static const char *name_reservation(const struct attempt *a)
{
	const struct sl_cluster *c = a->p->c;

	return a->w->resv_nodes ? cluster_str(c, c->snap->reservation.name[a->w->resv]) : "";
}

/* Word a misfit for the user; *now*: in terms of what is free, else of what exists. */
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
	case SL_LACK_SEGMENTS:
		plan_say(r, why, "needs its nodes in segments of %" PRId64 ", each in one block: too few blocks have so many %s", m->have,
			 now ? "free" : "nodes");
		break;
	case SL_LACK_REQUIRED:
		plan_say(r, why, "a node it requires %s", now ? "is not free" : "does not suffice");
		if (m->node < a->p->c->snap->node.rows)
			plan_say(r, why, "requires node %s, which %s",
				 cluster_str(a->p->c, a->p->c->snap->node.name[m->node]),
				 now ? "is not free" : "does not suffice");
		break;
	case SL_LACK_SCORE:
		plan_say(r, why, "waits for a better place: the score of what is free is too low");
		break;
	case SL_LACK_TIME:
		plan_say(r, why, "there is no time at which it fits");
		break;
	default:
		plan_say(r, why, "asks for what no node can give");
	}
}

/* If no node of the partition or reservation has the required features, say so.  1, 0 or -1. */
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

/* 1 if the job could run on an idle machine.  0 with the reason if not; -1. */
static int has_chance(struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	struct sl_cluster *c = a->p->c;
	const struct want *w = a->w;

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
	plan_say(r, SL_WHY_NODES_DOWN, "%" PRIu32 " node%s down%s%s%s, needs more than are left", w->down,
		 w->down == 1 ? " is" : "s are", !c->lost.count ? " or drained" : w->down == 1 ? " or drained, or hangs" : " or drained, or hang",
		 w->resv_nodes ? " in reservation " : "", name_reservation(a));
	return 0;
}

static bool explain_license(const struct attempt *a, struct sl_refusal *r)
{
	const struct sl_cluster *c = a->p->c;
	uint32_t need;

	if (a->lack.license == SL_NONE)
		return false;
	need = sl_cluster_licenses(c, c->snap->job.licenses[a->w->entry.job], a->lack.license);
	if (need > c->snap->license.total[a->lack.license])
		plan_say(r, SL_WHY_LICENSES, "needs %" PRIu32 " of license %s, there are %" PRIu32, need,
			 cluster_str(c, c->snap->license.name[a->lack.license]),
			 c->snap->license.total[a->lack.license]);
	else
		plan_say(r, SL_WHY_LICENSES, "needs %" PRIu32 " of license %s%s, %" PRId64 " %s free", need,
			 cluster_str(c, c->snap->license.name[a->lack.license]),
			 cluster_any_license(c, a->w->entry.job) ? " or of another that would do" : "", a->lack.license_has,
			 a->lack.license_has == 1 ? "is" : "are");
	return true;
}

/* A licence of which the job needs more than exist; SL_NONE.  Of alternatives, slurmctld uses none if this holds for the
 * first. */
static uint32_t lacking_license(const struct sl_cluster *c, uint32_t job)
{
	struct sl_range rows = c->snap->job.licenses[job];

	if (cluster_any_license(c, job) && rows.count > 1)
		rows.count = 1;
	for (uint32_t i = rows.first; i < rows.first + rows.count; i++) {
		uint32_t license = c->snap->job_license.license[i];

		if (sl_cluster_licenses(c, rows, license) > c->snap->license.total[license])
			return license;
	}
	return SL_NONE;
}

int plan_explain_hopeless(struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	int rc;

	/* (licences of a job whose reservation brings some are left to Slurm) */
	a->lack.license = cluster_brings_licenses(a->p->c, a->w->resv) ? SL_NONE : lacking_license(a->p->c, a->w->entry.job);
	if (explain_license(a, r))
		return 1;
	rc = has_chance(a, r, err);
	return rc < 0 ? -1 : !rc;
}

/* If others have reserved so much within that many seconds that the job would not fit even on an otherwise idle machine,
 * say so in Slurm's words.  1, 0 or -1. */
static int explain_reserved(const struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err)
{
	struct sl_cluster *c = a->p->c;
	const struct sl_reservation_view *v = &c->snap->reservation;
	struct sl_nodeset nodes = SL_NODESET_EMPTY;
	int64_t until = sl_later(c->now, seconds);
	struct sl_misfit misfit;
	bool maintained = false;
	int rc;

	if (a->w->resv_nodes || !plan_reserved_ahead(c, a->w, until))
		return 0;
	rc = sl_nodeset_copy(&nodes, a->w->pub.request.eligible, err);
	for (uint32_t i = 0; !rc && i < v->rows; i++) {
		if (v->end_time[i] <= c->now || v->start_time[i] >= until || v->cores[i])
			continue;
		maintained |= (v->flags[i] & SL_RESV_MAINT) && sl_nodeset_overlaps(&nodes, &c->resv_nodes[i]);
		rc = sl_nodeset_subtract(&nodes, &c->resv_nodes[i], err);
	}
	if (!rc)
		rc = cluster_fits_alone(c, a->w, &nodes, &misfit, err);
	sl_nodeset_free(&nodes);
	if (!rc)
		plan_say(r, SL_WHY_RESERVED, "%s",
			 maintained ? "Reserved for maintenance" : "May be reserved for other job");
	return rc < 0 ? -1 : !rc;
}

/* 0 with the reason if licences are lacking or not even the idle machine suffices; 1 otherwise; -1. */
static int explain_ever(struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	return explain_license(a, r) ? 0 : has_chance(a, r, err);
}

/* The same, and 0 also if only nodes reserved by others within that many seconds would suffice. */
static int explain_unreserved(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err)
{
	int rc = explain_ever(a, r, err);

	if (rc <= 0)
		return rc;
	rc = explain_reserved(a, seconds, r, err);
	return rc < 0 ? -1 : !rc;
}

/* If even the idle machine has too few blocks for the job's segments, say so.  The segment size may be the policy's, so
 * the job is not called impossible.  1: no reason found; 0 or -1. */
static int explain_segments(struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	const struct sl_how how = { .method = SL_PLACE_BLOCKS, .segment = a->how.segment };
	struct sl_misfit misfit = { .lack = SL_LACK_NOTHING };
	int rc = 0;

	if (a->lack.misfit.lack != SL_LACK_SEGMENTS)
		return 1;
	for (uint32_t i = 0; !rc && i < a->w->pub.variants; i++) {
		struct sl_request request = a->w->pub.variant[i].request;

		if (a->w->pub.variant[i].select)
			return 1;
		request.duration = 1;
		request.max_leaves = 0;
		rc = sl_fit_at(a->p->c->empty, &request, &how, a->p->c->now, NULL, &misfit, err);
	}
	if (!rc && misfit.lack == SL_LACK_SEGMENTS)
		say_misfit(a, &misfit, false, r, SL_WHY_RESOURCES);
	return rc < 0 ? -1 : rc > 0 || misfit.lack != SL_LACK_SEGMENTS;
}

int plan_explain_never(struct attempt *a, struct sl_refusal *r, struct sl_error *err)
{
	const struct sl_cluster *c = a->p->c;
	int rc = explain_ever(a, r, err);

	if (rc > 0)
		rc = explain_segments(a, r, err);
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
			   a->w->resv_nodes && plan_reserved_ahead(a->p->c, a->w, a->p->c->now + 1) ? SL_WHY_RESERVATION :
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
	else if (plan_reserved_ahead(c, a->w, sl_later(c->now, seconds)))
		plan_say(r, a->w->resv_nodes ? SL_WHY_RESERVATION : SL_WHY_RESOURCES,
			 "a reservation begins before it would end");
	else
		say_misfit(a, &a->lack.misfit, true, r, SL_WHY_RESOURCES);
	return 0;
}
