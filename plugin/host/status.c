/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status.c - see status.h */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/state_file.h"
#include "image/json_out.h"
#include "plugin/host/status.h"

void sl_times_add(struct sl_times *t, uint64_t us)
{
	int b = us ? (int) (4 * log2((double) us)) + 1 : 0;

	if (b >= SL_BUCKETS)
		b = SL_BUCKETS - 1;
	t->bucket[b]++;
	t->count++;
	t->sum_us += us;
	t->last_us = us;
	if (us > t->max_us)
		t->max_us = us;
}

uint64_t sl_times_quantile(const struct sl_times *t, double q)
{
	uint64_t want = (uint64_t) ceil(q * (double) t->count), seen = 0, top;
	int b;

	for (b = 0; b < SL_BUCKETS; b++) {
		seen += t->bucket[b];
		if (t->count && seen >= want) {
			top = b ? (uint64_t) exp2(b / 4.0) : 0;
			return top < t->max_us ? top : t->max_us;
		}
	}
	return t->max_us;
}

static const char *source_word(enum sl_source source)
{
	static const char *const word[] = { "idle", "site", "last good", "bundled", "fallback", "stock" };

	return (unsigned) source < sizeof(word) / sizeof(word[0]) ? word[source] : "unknown";
}

void sl_status_error(struct sl_status *s, const char *text)
{
	snprintf(s->last_error, sizeof(s->last_error), "%.*s", (int) MIN(strcspn(text, "\n"), 1000), text);
	s->last_error_time = time(NULL);
}

bool sl_status_trouble(struct sl_status *s, enum sl_trouble what, const char *text)
{
	int64_t now = time(NULL), before = s->trouble[what];

	s->trouble[what] = now;
	sl_status_error(s, text);
	return !before || now - before >= SL_TROUBLE_OVER_S;
}

void sl_status_count_queue(struct sl_status *s, const struct sl_snapshot *snap)
{
	uint32_t parts = snap->partition.rows;
	struct sl_waiting *w;

	s->partitions = 0;
	if (sl_grow(&s->waiting, &s->waiting_room, parts, sizeof(*w), NULL))
		return;
	w = s->waiting;
	s->partitions = parts;
	for (uint32_t i = 0; i < parts; i++) {
		snprintf(w[i].name, sizeof(w[i].name), "%s", sl_snapshot_str(snap, snap->partition.name[i]));
		w[i].jobs = 0;
	}
	for (uint32_t i = 0; i < snap->queue.rows; i++)
		w[snap->queue.partition[i]].jobs++;
}

void sl_status_count_reasons(struct sl_status *s, const struct sl_plan_image *plan)
{
	memset(s->why, 0, sizeof(s->why));
	for (uint32_t i = 0; plan && i < plan->pending.rows; i++)
		s->why[plan->pending.why[i]]++;
}

void sl_status_clear(struct sl_status *s)
{
	free(s->waiting);
	s->waiting = NULL;
	s->partitions = s->waiting_room = 0;
}

static void put_str(struct sl_json *j, const char *key, const char *s)
{
	sl_json_break(j);
	sl_json_put_str(j, key, s ? s : "");
}

static void put_int(struct sl_json *j, const char *key, int64_t v)
{
	sl_json_break(j);
	sl_json_put_int(j, key, v);
}

static void put_real(struct sl_json *j, const char *key, double v)
{
	sl_json_break(j);
	sl_json_put_real(j, key, v);
}

static void open_line(struct sl_json *j, const char *key)
{
	sl_json_break(j);
	sl_json_open_object(j, key);
}

/* Who waits where, and why. */
static void put_waiting(struct sl_json *j, const struct sl_status *s)
{
	open_line(j, "queue");
	for (uint32_t i = 0; i < s->partitions; i++)
		sl_json_put_int(j, s->waiting[i].name, (int64_t) s->waiting[i].jobs);
	sl_json_end_object(j);
	open_line(j, "pending");
	for (uint32_t i = 0; i < SL_WHYS; i++)
		if (s->why[i])
			sl_json_put_int(j, sl_why_word(i), (int64_t) s->why[i]);
	sl_json_end_object(j);
}

static void put_times(struct sl_json *j, const char *key, const struct sl_times *t)
{
	open_line(j, key);
	sl_json_put_int(j, "count", (int64_t) t->count);
	sl_json_put_int(j, "last", (int64_t) t->last_us);
	sl_json_put_int(j, "mean", (int64_t) (t->count ? t->sum_us / t->count : 0));
	sl_json_put_int(j, "p50", (int64_t) sl_times_quantile(t, 0.5));
	sl_json_put_int(j, "p99", (int64_t) sl_times_quantile(t, 0.99));
	sl_json_put_int(j, "max", (int64_t) t->max_us);
	sl_json_end_object(j);
}

static void put_sdiag(struct sl_json *j, const struct sl_diag *d)
{
	open_line(j, "sdiag");
#define PUT(name) sl_json_put_int(j, #name, d->name);
	SL_DIAG_FIGURES(PUT)
	if (d->has_exits) {
		SL_DIAG_EXITS(PUT)
	}
#undef PUT
	sl_json_end_object(j);
}

static void put_counters(struct sl_json *j, const struct sl_status *s)
{
#define PUT(field) put_int(j, #field, (int64_t) s->field)
	PUT(cycles);
	PUT(starts);
	PUT(native_starts);
	PUT(stale);
	PUT(failed_starts);
	PUT(layout_differs);
	PUT(actions);
	PUT(actions_failed);
	PUT(stops);
	PUT(moves);
	PUT(stops_refused);
	PUT(held_places);
	PUT(shortages);
	PUT(reloads);
	PUT(refused);
	PUT(policy_errors);
	PUT(truncated);
	PUT(rows_refused);
	PUT(engine_starts);
	PUT(engine_kills);
	PUT(engine_failures);
	PUT(bundled_cycles);
	PUT(fallback_cycles);
	PUT(strikes);
	PUT(queued);
	PUT(running);
	PUT(nodes);
#undef PUT
}

static void put_all(struct sl_json *j, const struct sl_status *s)
{
	sl_json_begin_object(j);
	put_str(j, "version", s->version);
	put_str(j, "slurm_version", s->slurm_version);
	put_str(j, "shadow", s->shadow);
	put_int(j, "pid", s->pid);
	put_int(j, "engine_pid", s->engine_pid);
	put_int(j, "started", s->started);
	put_int(j, "written", s->written);
	put_int(j, "last_cycle", s->last_cycle);
	put_str(j, "source", source_word(s->source));
	put_str(j, "policy", s->policy);
	put_str(j, "site", s->site);
	put_str(j, "engine_holds", s->engine_holds);
	put_str(j, "private_data", s->private_data);
	put_str(j, "odd", s->odd);
	put_str(j, "usage_stale", s->usage_stale);
	put_str(j, "held", s->held);
	put_str(j, "idle_why", s->source == SL_SOURCE_IDLE ? s->idle_why : "");
	put_str(j, "refusal", s->refusal);
	put_str(j, "last_error", s->last_error);
	put_int(j, "last_error_time", s->last_error_time);
	put_real(j, "interval_s", s->interval_s);
	put_real(j, "budget_s", s->budget_s);
	put_real(j, "next_try_s", s->next_try_s);
	put_counters(j, s);
	put_int(j, "truncated_time", s->truncated_time);
	put_str(j, "row_refused", s->row_refused);
	put_int(j, "row_refused_time", s->row_refused_time);
	put_str(j, "places", s->places);
	put_str(j, "stop_refused", s->stop_refused);
	put_waiting(j, s);
	put_times(j, "queue_hold_us", &s->queue_hold);
	put_times(j, "queue_own_us", &s->queue_own);
	put_times(j, "copy_hold_us", &s->copy_hold);
	put_times(j, "commit_hold_us", &s->commit_hold);
	put_times(j, "start_us", &s->start);
	put_times(j, "decide_us", &s->decide);
	put_times(j, "cycle_us", &s->cycle);
	put_sdiag(j, &s->sdiag);
	put_int(j, "api", 1);
	sl_json_break(j);
	sl_json_end_object(j);
	sl_json_end_line(j);
}

int sl_status_write(const struct sl_status *s, const char *dir, struct sl_error *err)
{
	struct sl_json *j = sl_json_create(NULL, err);
	char path[PATH_MAX];
	const char *text;
	size_t size;
	int rc = -1;

	if (!j)
		return -1;
	put_all(j, s);
	if (snprintf(path, sizeof(path), "%s/status.json", dir) >= (int) sizeof(path))
		sl_fail(err, SL_EINVAL, "%.80s...: path too long", dir);
	else if (!sl_json_finish(j, &text, &size, err))
		rc = sl_state_write(path, 0644, text, size, false, err);
	sl_json_destroy(j);
	return rc;
}
