/* SPDX-License-Identifier: MIT */
/*
 * shadow_json.c - the report of shadow mode by user, and as JSON: what schedlua shadow report prints and
 * the page of schedlua report shows.
 */
#include "tool/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "tool/member.h"

/* -- by user --------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct sl_shadow_run *const *x = a, *const *y = b;

	return strcmp(sl_member_text((*x)->ran, "user"), sl_member_text((*y)->ran, "user"));
}

static int by_waits(const void *a, const void *b)
{
	const struct sl_shadow_user *x = a, *y = b;

	return SL_ORDER(y->waited, x->waited) ?: strcmp(x->name, y->name);
}

static double wait_of(const struct sl_shadow_run *run)
{
	int64_t eligible = sl_member_integer(run->ran, "eligible");

	return (double) (run->start - (eligible > run->submit && eligible <= run->start ? eligible : run->submit));
}

/* A start whose difference is not known counts as Slurm's. */
static void add_waits(struct sl_shadow_user *u, const struct sl_shadow_run *run)
{
	double wait = wait_of(run);

	u->jobs++;
	u->waited += wait;
	u->planned += wait + (double) (run->known && -run->by < wait ? run->by : run->known ? -wait : 0);
}

int sl_shadow_users(const struct sl_shadow_report *r, struct sl_shadow_users *us, struct sl_error *err)
{
	const struct sl_shadow_run **order = calloc(r->runs + (size_t) 1, sizeof(*order));

	*us = (struct sl_shadow_users) { .all = { .name = "" } };
	us->user = calloc(r->runs + (size_t) 1, sizeof(*us->user));
	if (!order || !us->user) {
		free(order);
		return sl_fail(err, SL_ENOMEM, "shadow: out of memory");
	}
	for (uint32_t i = 0; i < r->runs; i++)
		order[i] = &r->run[i];
	qsort(order, r->runs, sizeof(*order), by_name);
	for (uint32_t i = 0; i < r->runs; i++) {
		if (!i || by_name(&order[i - 1], &order[i]))
			us->user[us->count++].name = sl_member_text(order[i]->ran, "user");
		add_waits(&us->user[us->count - 1], order[i]);
		add_waits(&us->all, order[i]);
	}
	qsort(us->user, us->count, sizeof(*us->user), by_waits);
	free(order);
	return 0;
}

void sl_shadow_users_free(struct sl_shadow_users *us)
{
	free(us->user);
}

/* -- by difference ------------------------------------------------------------------ */

static int by_difference(const void *a, const void *b)
{
	const struct sl_shadow_run *x = a, *y = b;

	return SL_ORDER(y->verdict == SL_SHADOW_REFUSED, x->verdict == SL_SHADOW_REFUSED) ?:
		SL_ORDER(llabs(y->by), llabs(x->by)) ?: SL_ORDER(x->start, y->start);
}

void sl_shadow_sort(struct sl_shadow_report *r)
{
	if (r->runs)
		qsort(r->run, r->runs, sizeof(*r->run), by_difference);
}

/* -- as JSON ------------------------------------------------------------------------ */

double sl_shadow_share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

static json_t *pack_users(const struct sl_shadow_users *us)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < us->count; i++) {
		const struct sl_shadow_user *u = &us->user[i];

		json_array_append_new(list, json_pack("{s:s, s:i, s:f, s:f}", "user", u->name, "jobs", (int) u->jobs,
			"wait_mean_s", u->waited / u->jobs, "planned_wait_mean_s", u->planned / u->jobs));
	}
	return list;
}

static json_t *pack_runs(const struct sl_shadow_report *r, uint32_t most)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->runs && i < most; i++) {
		const struct sl_shadow_run *run = &r->run[i];
		json_t *o = json_pack("{s:I, s:s, s:s, s:s, s:I, s:I, s:s}", "job", (json_int_t) run->job,
			"user", sl_member_text(run->ran, "user"), "account", sl_member_text(run->ran, "account"),
			"partition", sl_member_text(run->ran, "partition"), "submit_time", (json_int_t) run->submit,
			"start", (json_int_t) run->start, "verdict", sl_shadow_word(run->verdict));

		if (run->planned)
			json_object_set_new(o, "planned_start", json_integer(run->planned));
		if (run->known)
			json_object_set_new(o, "difference_s", json_integer(run->by));
		if (*sl_member_text(run->ran, "text"))
			json_object_set_new(o, "text", json_string(sl_member_text(run->ran, "text")));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *pack_failures(const struct sl_shadow_report *r)
{
	json_t *list = json_array(), *seen;
	const char *text;

	json_object_foreach(r->failed, text, seen)
		json_array_append_new(list, json_pack("{s:s, s:O, s:O}", "text", text, "times", json_array_get(seen, 0),
			"last", json_array_get(seen, 1)));
	return list;
}

json_t *sl_shadow_pack(const struct sl_shadow_report *r, const struct sl_shadow_users *us, uint32_t most)
{
	uint32_t jobs = r->runs ? r->runs : 1;
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:I, s:f, s:I, s:I, s:I, s:i}",
		"scheduler", r->stock, "policies", r->policies, "from", (json_int_t) r->from, "to", (json_int_t) r->to,
		"jobs", (int) r->runs, "same", (int) r->count[SL_SHADOW_SAME], "earlier", (int) r->count[SL_SHADOW_EARLIER],
		"later", (int) r->count[SL_SHADOW_LATER], "refused", (int) r->count[SL_SHADOW_REFUSED],
		"wait_mean_s", us->all.waited / jobs, "planned_wait_mean_s", us->all.planned / jobs,
		"utilization", sl_shadow_share(r->used_s, r->cores_s),
		"planned_utilization", sl_shadow_share(r->used_s + r->planned_s, r->cores_s),
		"decisions", (json_int_t) r->cycles, "decide_mean_us", sl_shadow_share((double) r->decide_us, (double) r->cycles),
		"decide_max_us", (json_int_t) r->decide_max_us, "failures", (json_int_t) r->failures,
		"engine_ends", (json_int_t) r->deaths, "begins", (int) r->begins);

	if (o && !json_object_set_new(o, "failed", pack_failures(r)) && !json_object_set_new(o, "users", pack_users(us)) &&
	    !json_object_set_new(o, "per_job", pack_runs(r, most)) && !json_object_set_new(o, "stops", json_integer(r->stops)) &&
	    !json_object_set_new(o, "stopped_for", json_integer(r->stopped_for)) &&
	    !json_object_set_new(o, "stop_cost", json_real(r->stop_cost)) &&
	    !json_object_set_new(o, "would_stop", sl_shadow_pack_stops(r, most)))
		return o;
	json_decref(o);
	return NULL;
}
