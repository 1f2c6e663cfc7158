/* SPDX-License-Identifier: MIT */
#include "tool/shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/line_file.h"
#include "base/order.h"
#include "image/journal.h"
#include "image/plan_image.h"
#include "tool/member.h"

const char *sl_shadow_word(enum sl_shadow_verdict v)
{
	static const char *const word[SL_SHADOW_VERDICTS] = { "same", "earlier", "later", "refused" };

	return v < SL_SHADOW_VERDICTS ? word[v] : "unknown";
}

/* -- reading, from the newest line back ------------------------------------------- */

struct look {
	struct sl_shadow_report *r;
	int64_t last, newer_sample;
	struct sl_error *err;
	int rc;
};

static int take_plans(struct look *l, const json_t *line, int64_t now)
{
	struct sl_shadow_report *r = l->r;
	json_t *plan;
	size_t i;

	json_array_foreach(json_object_get(line, "plans"), i, plan) {
		if (sl_grow(&r->plan, &r->plan_room, r->plans + UINT64_C(1), sizeof(*r->plan), l->err))
			return -1;
		r->plan[r->plans++] = (struct sl_shadow_plan) {
			.group = (uint32_t) sl_member_integer(plan, "job"), .tasks = (uint32_t) sl_member_integer(plan, "tasks"),
			.when = now,
		};
	}
	return 0;
}

static int take_runs(struct look *l, const json_t *line)
{
	struct sl_shadow_report *r = l->r;
	json_t *ran;
	size_t i;

	json_array_foreach(json_object_get(line, "ran"), i, ran) {
		uint32_t job = (uint32_t) sl_member_integer(ran, "job"), array = (uint32_t) sl_member_integer(ran, "array");

		if (sl_grow(&r->run, &r->run_room, r->runs + UINT64_C(1), sizeof(*r->run), l->err))
			return -1;
		r->run[r->runs++] = (struct sl_shadow_run) {
			.ran = ran, .job = job, .group = array ? array : job, .submit = sl_member_integer(ran, "submit"),
			.start = sl_member_integer(ran, "start"), .found = json_object_get(line, "begin") != NULL,
		};
	}
	json_array_foreach(json_object_get(line, "ended"), i, ran) {
		if (sl_grow(&r->run, &r->run_room, r->runs + UINT64_C(1), sizeof(*r->run), l->err))
			return -1;
		r->run[r->runs++] = (struct sl_shadow_run) { .job = (uint32_t) sl_member_integer(ran, "job"),
			.start = sl_member_integer(ran, "start"), .end = sl_member_integer(ran, "end") };
	}
	return 0;
}

/* Newest first: how often, and when last. */
static int take_failure(struct look *l, const json_t *line, int64_t now)
{
	const char *text = sl_member_text(line, "failed");
	json_t *seen = json_object_get(l->r->failed, text);

	if (!*text)
		return 0;
	if (seen)
		return json_array_set_new(seen, 0, json_integer(json_integer_value(json_array_get(seen, 0)) + 1));
	return json_object_set_new(l->r->failed, text, json_pack("[i, I]", 1, (json_int_t) now));
}

/* A line stands for the time until the next one; but for no more than two minutes, of a slurmctld
 * that was away. */
static void take_sample(struct look *l, const json_t *line, int64_t now)
{
	const json_t *m = json_object_get(line, "sample");
	struct sl_shadow_report *r = l->r;
	const char *policy = sl_member_text(m, "policy");
	double s = l->newer_sample ? (double) (l->newer_sample - now) : 20;

	if (!m)
		return;
	s = s > 120 ? 120 : s;
	l->newer_sample = now;
	r->cycles += (uint64_t) sl_member_integer(m, "cycles");
	r->failures += (uint64_t) sl_member_integer(m, "failures");
	r->deaths += (uint64_t) sl_member_integer(m, "deaths");
	r->decide_us += (uint64_t) sl_member_integer(m, "decide_us");
	if ((uint64_t) sl_member_integer(m, "decide_max_us") > r->decide_max_us)
		r->decide_max_us = (uint64_t) sl_member_integer(m, "decide_max_us");
	r->cores_s += s * (double) sl_member_integer(m, "cores");
	r->used_s += s * (double) sl_member_integer(m, "used");
	r->planned_s += s * (double) sl_member_integer(m, "planned");
	if (*policy && !strstr(r->policies, policy))
		snprintf(r->policies + strlen(r->policies), sizeof(r->policies) - strlen(r->policies), "%s%.100s",
			 *r->policies ? ", " : "", policy);
}

static int visit(const char *text, size_t length, void *arg)
{
	struct look *l = arg;
	struct sl_shadow_report *r = l->r;
	json_t *line = json_loadb(text, length, 0, NULL);
	int64_t now = sl_member_integer(line, "now");
	const json_t *begin = json_object_get(line, "begin");

	if (!line)
		return 0;	/* torn by a crash */
	if (!r->to)
		r->to = now;
	if (now < r->to - l->last) {
		json_decref(line);
		return 1;
	}
	r->from = now;
	if (json_array_append_new(r->lines, line))
		l->rc = sl_fail(l->err, SL_ENOMEM, "shadow: out of memory");
	r->begins += begin != NULL;
	if (begin)
		snprintf(r->stock, sizeof(r->stock), "%s", sl_member_text(begin, "stock"));
	take_sample(l, line, now);
	if (take_plans(l, line, now) || sl_shadow_take_stops(r, line, now, l->err) || take_runs(l, line) || take_failure(l, line, now))
		l->rc = -1;
	return l->rc;
}

/* -- judging ---------------------------------------------------------------------- */

/* The same run told again (after a restart), and its end, stand together; the oldest last. */
static int by_run(const void *a, const void *b)
{
	const struct sl_shadow_run *x = a, *y = b;

	return SL_ORDER(x->job, y->job) ?: SL_ORDER(x->start, y->start) ?: SL_ORDER(!x->ran, !y->ran);
}

static bool has_word(const struct sl_shadow_run *run)
{
	return *sl_member_text(run->ran, "why") || sl_member_integer(run->ran, "expected");
}

static void merge_runs(struct sl_shadow_report *r)
{
	uint32_t n = 0;

	qsort(r->run, r->runs, sizeof(*r->run), by_run);
	for (uint32_t i = 0; i < r->runs; i++) {
		struct sl_shadow_run *last = n ? &r->run[n - 1] : NULL, *x = &r->run[i];

		if (!last || last->job != x->job || last->start != x->start) {
			if (x->ran)
				r->run[n++] = *x;
			continue;
		}
		if (x->end)
			last->end = x->end;
		else
			last->found &= x->found;
		if (x->ran && !has_word(last) && has_word(x))
			last->ran = x->ran;
	}
	r->runs = n;
}

static int by_group(const void *a, const void *b)
{
	const struct sl_shadow_run *x = a, *y = b;

	return SL_ORDER(x->group, y->group) ?: SL_ORDER(x->start, y->start) ?: SL_ORDER(x->job, y->job);
}

static int by_plan(const void *a, const void *b)
{
	const struct sl_shadow_plan *x = a, *y = b;

	return SL_ORDER(x->group, y->group) ?: SL_ORDER(x->when, y->when);
}

/* Where the plans of that group begin. */
static uint32_t first_plan(const struct sl_shadow_report *r, uint32_t group)
{
	uint32_t a = 0, b = r->plans;

	while (a < b) {
		uint32_t m = a + (b - a) / 2;

		if (r->plan[m].group < group)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/* The first plan that starts as many tasks as were to begin for this run, the (rank + 1)-th of its
 * group, to be among them; 0: none did before it began. */
static int64_t planned_start(const struct sl_shadow_report *r, uint32_t first_run, uint32_t rank)
{
	const struct sl_shadow_run *run = &r->run[first_run + rank];

	for (uint32_t i = first_plan(r, run->group); i < r->plans && r->plan[i].group == run->group; i++) {
		const struct sl_shadow_plan *p = &r->plan[i];
		uint32_t begun = 0;

		while (begun < rank && r->run[first_run + begun].start <= p->when)
			begun++;
		if (p->when >= run->submit && p->when <= run->start && begun + p->tasks > rank)
			return p->when;
	}
	return 0;
}

static void judge_run(struct sl_shadow_report *r, uint32_t first_run, uint32_t rank, int64_t tolerance)
{
	struct sl_shadow_run *run = &r->run[first_run + rank];
	int64_t expected = sl_member_integer(run->ran, "expected");

	run->planned = planned_start(r, first_run, rank);
	run->known = true;
	if (run->planned) {
		run->by = run->planned - run->start;
		run->verdict = run->by < -tolerance ? SL_SHADOW_EARLIER : SL_SHADOW_SAME;
		return;
	}
	if (!has_word(run))
		return;		/* the same: it began before they looked at it */
	run->planned = expected;
	run->by = expected > run->start ? expected - run->start : 0;
	run->known = expected > run->start;
	run->verdict = !strcmp(sl_member_text(run->ran, "why"), sl_why_word(SL_WHY_POLICY)) ? SL_SHADOW_REFUSED :
		run->known && run->by <= tolerance ? SL_SHADOW_SAME : SL_SHADOW_LATER;
}

static void judge(struct sl_shadow_report *r, int64_t tolerance)
{
	uint32_t first = 0, n = 0;

	qsort(r->run, r->runs, sizeof(*r->run), by_group);
	if (r->plans)
		qsort(r->plan, r->plans, sizeof(*r->plan), by_plan);
	for (uint32_t i = 0; i < r->runs; i++) {
		if (r->run[i].group != r->run[first].group)
			first = i;
		judge_run(r, first, i - first, tolerance);
	}
	for (uint32_t i = 0; i < r->runs; i++) {
		if (r->run[i].start < r->from || (r->run[i].found && !r->run[i].planned))
			continue;
		r->run[n++] = r->run[i];
		r->count[r->run[i].verdict]++;
	}
	r->ran_before = r->runs - n;
	r->runs = n;
}

int sl_shadow_read(struct sl_shadow_report *r, const char *dir, int64_t last, int64_t tolerance, struct sl_error *err)
{
	struct look l = { .r = r, .last = last, .err = err };

	*r = (struct sl_shadow_report) { .failed = json_object(), .lines = json_array() };
	if (!r->failed || !r->lines)
		return sl_fail(err, SL_ENOMEM, "shadow: out of memory");
	if (sl_line_file_read(dir, SL_SHADOW_BOOK, visit, &l, err) || l.rc)
		return -1;
	sl_shadow_finish_stops(r);
	if (r->runs)
		merge_runs(r);
	if (r->runs)
		judge(r, tolerance);
	return 0;
}

void sl_shadow_close(struct sl_shadow_report *r)
{
	json_decref(r->failed);
	json_decref(r->lines);
	free(r->run);
	free(r->plan);
	free(r->stop);
}
