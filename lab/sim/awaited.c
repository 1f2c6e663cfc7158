/* SPDX-License-Identifier: MIT */
#include "sim/awaited.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/grow.h"
#include "base/state_file.h"

/* -- kept ------------------------------------------------------------------------- */

static bool read_job(struct sl_awaited_job *to, const json_t *from)
{
	json_t *job = json_object_get(from, "job"), *at = json_object_get(from, "at"), *centre = json_object_get(from, "centre");
	json_t *low = json_object_get(from, "low"), *high = json_object_get(from, "high");
	const char *user = json_string_value(json_object_get(from, "user"));

	if (!user || strlen(user) >= sizeof(to->user) || !json_is_integer(job) || !json_is_integer(at) || !json_is_integer(low) ||
	    !json_is_integer(high) || !json_is_number(centre) || !isfinite(json_number_value(centre)) ||
	    json_integer_value(job) <= 0 || json_integer_value(job) >= UINT32_MAX)
		return false;
	*to = (struct sl_awaited_job) { .job = (uint32_t) json_integer_value(job), .at_s = json_integer_value(at),
					.expected = { .low = json_integer_value(low), .high = json_integer_value(high),
						      .centre = json_number_value(centre) } };
	strcpy(to->user, user);
	return true;
}

int sl_awaited_read(struct sl_awaited *a, const char *file, struct sl_error *err)
{
	json_error_t why;
	json_t *all, *one;
	size_t i;
	int rc = 0;

	*a = (struct sl_awaited) { 0 };
	if (access(file, F_OK))
		return 0;
	all = json_load_file(file, 0, &why);
	if (!all)
		return sl_fail(err, SL_EINVAL, "%s:%d: %s", file, why.line > 0 ? why.line : 1, why.text);
	if (!json_is_array(all) || json_array_size(all) > SL_AWAITED_MAX)
		rc = sl_fail(err, SL_EINVAL, "%s: expected a list of at most %d jobs", file, SL_AWAITED_MAX);
	else
		rc = sl_grow(&a->item, &a->room, json_array_size(all), sizeof(*a->item), err);
	json_array_foreach(all, i, one) {
		if (rc)
			break;
		if (read_job(&a->item[a->count], one))
			a->count++;
		else
			rc = sl_fail(err, SL_EINVAL, "%s: job %zu: expected job, user, at, low, high and centre", file, i);
	}
	json_decref(all);
	return rc;
}

int sl_awaited_write(const struct sl_awaited *a, const char *file, struct sl_error *err)
{
	json_t *all = json_array();
	char *text;
	int rc;

	for (uint32_t i = 0; all && i < a->count; i++) {
		const struct sl_awaited_job *x = &a->item[i];

		json_array_append_new(all, json_pack("{s:I, s:s, s:I, s:I, s:I, s:f}", "job", (json_int_t) x->job, "user", x->user,
			"at", (json_int_t) x->at_s, "low", (json_int_t) x->expected.low, "high", (json_int_t) x->expected.high,
			"centre", x->expected.centre));
	}
	text = json_dumps(all, JSON_COMPACT);
	rc = text && json_array_size(all) == a->count ? sl_state_put(file, 0600, text, strlen(text), err) :
	     sl_fail(err, SL_ENOMEM, "forecast: out of memory");
	free(text);
	json_decref(all);
	return rc;
}

void sl_awaited_clear(struct sl_awaited *a)
{
	free(a->item);
	*a = (struct sl_awaited) { 0 };
}

/* -- what became of them -------------------------------------------------------------- */

static uint32_t find_row(const struct sl_snapshot *snap, uint32_t id)
{
	uint32_t j = 0;

	while (j < snap->job.rows && snap->job.id[j] != id)
		j++;
	return j < snap->job.rows ? j : SL_NONE;
}

/* When a job that is gone began to run; 0: it never did, as far as the past tells. */
static int ask_past(const struct sl_awaited_job *x, struct sl_history *h, int64_t now, int64_t *start_s, struct sl_error *err)
{
	struct sl_history_query q = { .user = x->user, .now = now, .last = SL_HISTORY_KEPT, .least_cpus = INT64_MIN,
				      .most_cpus = INT64_MAX, .least_limit = INT64_MIN, .most_limit = INT64_MAX };
	const struct sl_past_run *const *run;
	uint32_t n = 0;

	*start_s = 0;
	if (h && *x->user && sl_history_ask(h, &q, &run, &n, err))
		return -1;
	for (uint32_t i = 0; i < n; i++)	/* the newest first: of a requeued job its first run counts */
		if (run[i]->job == x->job && run[i]->start >= x->at_s)
			*start_s = run[i]->start;
	return 0;
}

int sl_awaited_settle(struct sl_awaited *a, const struct sl_snapshot *snap, struct sl_history *h, struct sl_calibrator *c,
		      struct sl_error *err)
{
	uint32_t kept = 0, count = a->count;

	for (uint32_t i = 0; i < count; i++) {
		struct sl_awaited_job x = a->item[i];
		uint32_t row = find_row(snap, x.job);
		int64_t start_s = 0;

		if (row != SL_NONE && snap->job.state[row] == SL_JOB_PENDING) {
			a->item[kept++] = x;
			continue;
		}
		if (row != SL_NONE)
			start_s = snap->job.start_time[row];
		else if (ask_past(&x, h, snap->meta.now[0], &start_s, err))
			return -1;
		if (start_s >= x.at_s)
			sl_calibrator_learn(c, &x.expected, start_s - x.at_s);
	}
	a->count = kept;
	return 0;
}

int sl_awaited_add(struct sl_awaited *a, const struct sl_snapshot *snap, uint32_t job, const struct sl_expected *e,
		   struct sl_error *err)
{
	struct sl_awaited_job x = { .job = snap->job.id[job], .at_s = snap->meta.now[0], .expected = *e };
	const char *user = sl_snapshot_str(snap, snap->job.user[job]);

	if (e->centre <= 0 || e->centre >= (double) SL_UNLIMITED || snap->job.array_pending[job] > 1 ||
	    a->count >= SL_AWAITED_MAX || strlen(user) >= sizeof(x.user))
		return 0;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->item[i].job == x.job)
			return 0;
	if (sl_grow(&a->item, &a->room, a->count + UINT64_C(1), sizeof(x), err))
		return -1;
	strcpy(x.user, user);
	a->item[a->count++] = x;
	return 0;
}
