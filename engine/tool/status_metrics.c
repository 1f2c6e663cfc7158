/* SPDX-License-Identifier: MIT */
/*
 * status_metrics.c - status.json as OpenMetrics, which Prometheus and the textfile collector
 * of its node exporter read.
 */
#include "tool/status.h"
#include "tool/member.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "ledger/ledger.h"

static const char *const sources[] = { "site", "last good", "bundled", "fallback", "stock", "idle" };

/* One number each. */
static const struct figure {
	const char *key, *name, *type, *help;
} figures[] = {
	{ "cycles", "cycles", "counter", "Cycles." },
	{ "bundled_cycles", "bundled_cycles", "counter", "Cycles in which the bundled easy decided." },
	{ "fallback_cycles", "fallback_cycles", "counter", "Cycles in which the lines of C decided." },
	{ "truncated", "over_budget_cycles", "counter", "Cycles in which the policy used up its budget." },
	{ "policy_errors", "policy_errors", "counter", "Cycles in which the policy failed." },
	{ "rows_refused", "rows_refused", "counter", "Rows of plans that the checker refused and that were taken out." },
	{ "starts", "job_starts", "counter", "Jobs that were started." },
	{ "native_starts", "native_job_starts", "counter", "Those of them that Slurm's select placed." },
	{ "layout_differs", "job_starts_elsewhere", "counter", "Those of them that were placed otherwise than planned." },
	{ "failed_starts", "failed_job_starts", "counter", "Starts that Slurm refused." },
	{ "stale", "stale_job_starts", "counter", "Starts that came too late." },
	{ "actions", "actions", "counter", "Actions on jobs: cancelled, modified, signalled and so on." },
	{ "actions_failed", "failed_actions", "counter", "Those of them that failed." },
	{ "stops", "stops", "counter", "Running jobs that were stopped for others." },
	{ "moves", "moves", "counter", "Those of them that had another place to start again." },
	{ "stops_refused", "refused_stops", "counter", "Stops of a plan that Slurm or the plug-in refused." },
	{ "held_places", "held_places", "gauge", "Places that are held for jobs for which others were stopped." },
	{ "shortages", "shortages", "gauge", "Waiting jobs of the last plan for which no stops of others would make a place, as it proves." },
	{ "reloads", "reloads", "counter", "Sets of policies that were loaded." },
	{ "refused", "refused_reloads", "counter", "Sets of policies that were refused." },
	{ "engine_starts", "engine_starts", "counter", "Starts of the engine." },
	{ "engine_kills", "engine_kills", "counter", "Engines that had to be ended." },
	{ "engine_failures", "engine_failures", "counter", "Engines that failed." },
	{ "strikes", "strikes", "gauge", "Failures of the engine in a row." },
	{ "queued", "queue_entries", "gauge", "Queued jobs, once for each of their partitions." },
	{ "running", "running_jobs", "gauge", "Jobs that run." },
	{ "nodes", "nodes", "gauge", "Nodes." },
	{ "interval_s", "interval_seconds", "gauge", "Seconds between cycles." },
	{ "budget_s", "budget_seconds", "gauge", "Seconds that a policy may take." },
	{ "started", "start_time_seconds", "gauge", "When the plug-in started." },
	{ "written", "written_time_seconds", "gauge", "When these figures were written." },
	{ "last_cycle", "last_cycle_time_seconds", "gauge", "When the last cycle began." },
	{ "last_error_time", "last_error_time_seconds", "gauge", "When the last error was; 0: never." },
	{ "row_refused_time", "row_refused_time_seconds", "gauge", "When a row of a plan was refused last; 0: never." },
	{ "truncated_time", "over_budget_time_seconds", "gauge", "When a policy was over budget last; 0: never." },
};

/* Distributions, in microseconds. */
static const struct figure times[] = {
	{ "cycle_us", "cycle_seconds", NULL, "A cycle." },
	{ "decide_us", "decide_seconds", NULL, "A decision." },
	{ "queue_hold_us", "lock_queue_seconds", NULL, "slurmctld's locks, held to build the queue." },
	{ "queue_own_us", "lock_queue_own_seconds", NULL, "What of lock_queue_seconds is not Slurm's build_job_queue()." },
	{ "copy_hold_us", "lock_copy_seconds", NULL, "slurmctld's locks, held to copy records." },
	{ "commit_hold_us", "lock_commit_seconds", NULL, "slurmctld's locks, held to carry out a plan." },
	{ "start_us", "start_seconds", NULL, "One start, a part of lock_commit_seconds." },
};

static void head(const char *name, const char *type, const char *help, FILE *out)
{
	fprintf(out, "# HELP schedlua_%s %s\n# TYPE schedlua_%s %s\n", name, help, name, type);
}

static void flag(const char *name, const char *help, bool on, FILE *out)
{
	head(name, "gauge", help, out);
	fprintf(out, "schedlua_%s %d\n", name, on);
}

void sl_metrics_label(const char *s, FILE *out)
{
	for (; *s; s++)
		if (*s == '\n')
			fputs("\\n", out);
		else
			fprintf(out, *s == '\\' || *s == '"' ? "\\%c" : "%c", *s);
}

/* {label: number}, each a sample. */
static void put_counts(const json_t *counts, const char *name, const char *label, const char *help, FILE *out)
{
	const char *key;
	json_t *v;

	if (!json_is_object(counts))
		return;
	head(name, "gauge", help, out);
	json_object_foreach((json_t *) counts, key, v) {
		fprintf(out, "schedlua_%s{%s=\"", name, label);
		sl_metrics_label(key, out);
		fprintf(out, "\"} %.0f\n", json_number_value(v));
	}
}

static void put_times(const struct figure *f, const json_t *v, FILE *out)
{
	if (!json_is_object(v))
		return;
	head(f->name, "summary", f->help, out);
	fprintf(out, "schedlua_%s{quantile=\"0.5\"} %.6f\n", f->name, sl_member_number(v, "p50") / 1e6);
	fprintf(out, "schedlua_%s{quantile=\"0.99\"} %.6f\n", f->name, sl_member_number(v, "p99") / 1e6);
	fprintf(out, "schedlua_%s{quantile=\"1.0\"} %.6f\n", f->name, sl_member_number(v, "max") / 1e6);
	fprintf(out, "schedlua_%s_sum %.6f\n", f->name, sl_member_number(v, "mean") * sl_member_number(v, "count") / 1e6);
	fprintf(out, "schedlua_%s_count %.0f\n", f->name, sl_member_number(v, "count"));
}

static bool has_text(const json_t *status, const char *key)
{
	return json_string_length(json_object_get(status, key)) > 0;
}

static void put_source(const json_t *status, FILE *out)
{
	const char *now = json_string_value(json_object_get(status, "source"));

	head("source", "gauge", "1 for who decides, 0 for the others.", out);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		fprintf(out, "schedlua_source{source=\"%s\"} %d\n", sources[i], now && !strcmp(now, sources[i]));
}

void sl_status_metrics_put(const json_t *status, bool alive, int64_t ledger_time, bool counts, FILE *out)
{
	flag("up", "1 where the slurmctld that wrote these figures runs.", alive, out);
	put_source(status, out);
	flag("held", "1 while nothing starts in some partition, as what guards it failed.", has_text(status, "held"), out);
	flag("set_refused", "1 while the set in the files does not decide.", has_text(status, "refusal"), out);
	flag("usage_stale", "1 while what was used is out of date.", has_text(status, "usage_stale"), out);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		const struct figure *f = &figures[i];
		const json_t *v = json_object_get(status, f->key);

		if (!json_is_number(v))
			continue;
		head(f->name, f->type, f->help, out);
		fprintf(out, "schedlua_%s%s %.15g\n", f->name, strcmp(f->type, "counter") ? "" : "_total",
			json_number_value(v));
	}
	if (counts) {
		put_counts(json_object_get(status, "queue"), "queue_jobs", "partition", "Jobs queued in a partition.", out);
		put_counts(json_object_get(status, "pending"), "pending_jobs", "reason",
			   "Jobs that wait, by the reason of the last plan.", out);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		put_times(&times[i], json_object_get(status, times[i].key), out);
	if (ledger_time) {
		head("ledger_written_time_seconds", "gauge", "When the ledger was written last.", out);
		fprintf(out, "schedlua_ledger_written_time_seconds %lld\n", (long long) ledger_time);
	}
}

void sl_status_metrics(const json_t *status, bool alive, int64_t ledger_time, FILE *out)
{
	sl_status_metrics_put(status, alive, ledger_time, true, out);
	fputs("# EOF\n", out);
}

int64_t sl_status_ledger_time(const char *dir)
{
	static const char *const names[] = { SL_LEDGER_FILE, SL_LEDGER_FILE "-wal" };
	char path[PATH_MAX + 20];
	int64_t last = 0;
	struct stat st;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (!stat(path, &st) && st.st_mtime > last)
			last = st.st_mtime;
	}
	return last;
}
