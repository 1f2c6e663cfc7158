/* SPDX-License-Identifier: MIT */
/* test_metrics.c - all figures as OpenMetrics: strictly parsed, counted by hand, and known to dashboard and alerts */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/build.h"
#include "t/hostile.h"
#include "t/random.h"
#include "t/web/openmetrics.h"
#include "web/metrics.h"

static const char *const sdiag[] = {
	"agent_cnt", "agent_queue_size", "agent_thread_cnt", "server_thread_cnt", "backfilled_jobs", "last_backfilled_jobs",
	"backfilled_het_jobs", "bf_active", "bf_cycle_cnt", "bf_cycle_last", "bf_cycle_max", "bf_cycle_tot", "bf_depth_tot", "bf_depth_try_tot",
	"bf_last_depth", "bf_last_depth_try", "bf_queue_len", "bf_queue_len_tot", "bf_table_size", "bf_table_size_tot", "bf_when_last_cycle",
	"schedule_cycle_cnt", "schedule_cycle_depth", "schedule_cycle_last", "schedule_cycle_max", "schedule_cycle_tot", "schedule_queue_len",
	"sdiag_jobs_submitted", "sdiag_jobs_started", "sdiag_jobs_completed", "sdiag_jobs_canceled", "sdiag_jobs_failed", "sdiag_job_states_ts",
	"sdiag_jobs_pending", "sdiag_jobs_running", "sdiag_latency", "last_proc_req_start", "sched_stats_timestamp", "sched_exit_end",
	"sched_exit_max_depth", "sched_exit_max_job_start", "sched_exit_lic", "sched_exit_rpc_cnt", "sched_exit_timeout", "bf_exit_end",
	"bf_exit_max_job_start", "bf_exit_max_job_test", "bf_exit_state_changed", "bf_exit_table_limit", "bf_exit_timeout",
};

/* A status with all figures; those of sdiag count up from 1. */
static json_t *full_status(void)
{
	static const char *const numbers[] = {
		"cycles", "bundled_cycles", "fallback_cycles", "truncated", "policy_errors", "rows_refused", "starts", "native_starts",
		"layout_differs", "failed_starts", "stale", "actions", "actions_failed", "reloads", "refused", "engine_starts", "engine_kills",
		"engine_failures", "strikes", "queued", "running", "nodes", "interval_s", "budget_s", "started", "written", "last_cycle",
		"last_error_time", "row_refused_time", "truncated_time", "stops", "stops_refused", "held_places", "shortages",
	};
	static const char *const times[] = { "cycle_us", "decide_us", "queue_hold_us", "queue_own_us", "copy_hold_us", "commit_hold_us", "start_us" };
	json_t *s = json_pack("{s:s, s:{s:i}, s:{s:i}}", "source", "site", "queue", "batch", 2, "pending", "resources", 1), *d = json_object();

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(s, numbers[i], json_integer((json_int_t) i));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		json_object_set_new(s, times[i], json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "count", 3, "last", 5, "mean", 4, "p50", 4, "p99", 9, "max", 9));
	for (size_t i = 0; i < sizeof(sdiag) / sizeof(sdiag[0]); i++)
		json_object_set_new(d, sdiag[i], json_integer((json_int_t) i + 1));
	json_object_set_new(s, "sdiag", d);
	return s;
}

static void look_at(struct sl_look *l, const struct sl_snapshot *s)
{
	*l = (struct sl_look) { .dir = "/nowhere", .snap = *s, .bytes = (void *) 1, .status = full_status() };
	l->used = calloc(s->node.rows + 1u, sizeof(*l->used));
	l->gpus = calloc(s->node.rows + 1u, sizeof(*l->gpus));
	for (uint32_t j = 0; j < s->job.rows; j++)
		for (uint32_t a = s->job.alloc[j].first; a < s->job.alloc[j].first + s->job.alloc[j].count; a++) {
			l->used[s->alloc.node[a]] += s->alloc.cores[a];
			for (uint32_t g = s->alloc.gres[a].first; g < s->alloc.gres[a].first + s->alloc.gres[a].count; g++)
				l->gpus[s->alloc.node[a]] += s->alloc_gres.count[g];
		}
}

static void read_all(struct metrics *m, struct sl_look *l, bool counts)
{
	size_t size;
	char *text = sl_web_metrics(l, counts, BUILD_NOW + 7, &size);

	assert_non_null(text);
	metrics_read(m, text, size);
	free(text);
	free(l->used);
	free(l->gpus);
	json_decref(l->status);
}

static struct build *small_cluster(void)
{
	struct build *b = build_create("2x8c2g+2x4c");

	build_partition(b, "gpu", 0, 1);
	build_change(b, SL_T_NODE, 3, sl_node_row, .state = SL_NODE_DOWN);
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .first = 0, .cores = 3, .gpus = 1, .ends_in = 60 });
	build_running(b, (struct build_job) { .id = 2, .nodes = 1, .first = 2, .ends_in = 60 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .partition = 1 });
	build_change_job(b, 3, .submit_time = BUILD_NOW - 500);
	build_change_job(b, 3, .eligible_time = BUILD_NOW - 300);
	build_change_job(b, 4, .eligible_time = BUILD_NOW - 40);
	return b;
}

static void figures_of_a_small_cluster_are_those_counted_by_hand(void **state)
{
	static const struct { const char *sample; double value; } want[] = {
		{ "slurm_jobs", 4 }, { "slurm_jobs_running", 2 }, { "slurm_jobs_pending", 2 }, { "slurm_jobs_gpus_alloc", 1 },
		{ "slurm_nodes", 4 }, { "slurm_nodes_alloc", 1 }, { "slurm_nodes_mixed", 1 }, { "slurm_nodes_idle", 1 }, { "slurm_nodes_down", 1 },
		{ "slurm_partitions", 2 }, { "slurm_partition_jobs_pending{partition=\"batch\"}", 1 }, { "slurm_partition_jobs_pending{partition=\"gpu\"}", 1 },
		{ "slurm_partition_nodes{partition=\"gpu\"}", 2 }, { "slurm_partition_gpus{partition=\"gpu\"}", 4 },
		{ "schedlua_cores", 24 }, { "schedlua_cores_used", 7 }, { "schedlua_gpus", 4 }, { "schedlua_gpus_used", 1 },
		{ "schedlua_gpus_stranded", 1 }, { "schedlua_longest_wait_seconds", 300 },
		{ "schedlua_partition_longest_wait_seconds{partition=\"gpu\"}", 40 },
		{ "schedlua_partition_cores_used{partition=\"gpu\"}", 3 }, { "schedlua_partition_gpus_used{partition=\"gpu\"}", 1 },
		{ "schedlua_rows_refused_total", 5 }, { "schedlua_policy_errors_total", 4 }, { "schedlua_snapshot_age_seconds", 7 },
		{ "schedlua_decide_seconds{quantile=\"1.0\"}", 9e-6 }, { "schedlua_shortages", 33 },
	};
	struct build *b = small_cluster();
	static struct metrics m;
	struct sl_look l;

	(void) state;
	look_at(&l, build_open(b));
	read_all(&m, &l, true);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (metrics_value(&m, want[i].sample) != want[i].value)
			fail_msg("%s is %g, expected %g", want[i].sample, metrics_value(&m, want[i].sample), want[i].value);
	/* of the 3 GPUs that are free, one is beside one that is in use */
	assert_true(metrics_value(&m, "schedlua_gpu_fragmentation_ratio") > 0.333 && metrics_value(&m, "schedlua_gpu_fragmentation_ratio") < 0.334);
	metrics_free(&m);
	build_destroy(b);
}

static void figures_of_sdiag_have_slurms_names_and_its_means(void **state)
{
	static const char *const means[] = { "bf_depth_mean", "bf_mean_cycle", "bf_mean_table_sz", "bf_queue_len_mean", "bf_try_depth_mean",
		"sched_mean_cycle", "sched_mean_depth_cycle" };
	struct build *b = small_cluster();
	static struct metrics m;
	struct sl_look l;
	char name[80];

	(void) state;
	look_at(&l, build_open(b));
	read_all(&m, &l, false);
	for (size_t i = 0; i < sizeof(sdiag) / sizeof(sdiag[0]); i++) {
		snprintf(name, sizeof(name), "slurm_%s", sdiag[i]);
		assert_true(metrics_value(&m, name) == (double) i + 1);
	}
	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
		snprintf(name, sizeof(name), "slurm_%s", means[i]);
		assert_true(metrics_has(&m, name));
	}
	assert_false(metrics_has(&m, "slurm_jobs"));	/* nothing is counted where PrivateData hides it */
	assert_false(metrics_has(&m, "schedlua_queue_jobs"));
	metrics_free(&m);
	build_destroy(b);
}

static void any_cluster_makes_text_that_a_strict_parser_takes(void **state)
{
	const uint64_t rounds = rounds_of(60);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		struct build *b = build_random_cluster(failing_seed, 20, 40);
		static struct metrics m;
		char words[HOSTILE_SIZE];
		struct sl_look l;

		random_state = failing_seed;
		build_change(b, SL_T_PARTITION, 0, sl_partition_row, .name = sl_builder_str(b->builder, hostile_text(words, "\"} 1\nslurm_jobs 9\n")));
		look_at(&l, build_open(b));
		read_all(&m, &l, true);
		metrics_free(&m);
		build_destroy(b);
	}
	failing_seed = 0;
}

/* -- who asks for them ---------------------------------------------------------- */

static char *read_source(const char *name)
{
	const char *top = getenv("srcdir");
	char path[4096], *text = malloc(1 << 20);
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top ? top : ".", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s cannot be read", path);
	n = fread(text, 1, (1 << 20) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

/* Each word of the text that begins as ours or Slurm's figures do is a figure that there is; returns how many. */
static unsigned look_up_figures(const struct metrics *m, const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
	char name[100];
	unsigned n = 0;

	for (const char *s = text; *s; s += *s != 0) {
		size_t length = strspn(s, letters);

		if (!strncmp(s, "schedlua_", 9) || !strncmp(s, "slurm_", 6)) {
			snprintf(name, sizeof(name), "%.*s", (int) length, s);
			if (!metrics_has(m, name))
				fail_msg("there is no %s", name);
			n++;
		}
		s += length;
	}
	return n;
}

static void all_metrics(struct metrics *m)
{
	struct build *b = small_cluster();
	struct sl_look l;

	look_at(&l, build_open(b));
	read_all(m, &l, true);
	build_destroy(b);
}

/* A panel has what Grafana's schema wants of it, and asks for figures that there are. */
static void check_panel(const struct metrics *m, const json_t *panel, bool *seen)
{
	json_t *at = json_object_get(panel, "gridPos"), *targets = json_object_get(panel, "targets"), *target;
	const char *type = json_string_value(json_object_get(panel, "type"));
	json_int_t id = json_integer_value(json_object_get(panel, "id"));
	size_t i;

	assert_true(id > 0 && id < 200 && !seen[id]);
	seen[id] = true;
	assert_non_null(type);
	assert_true(json_string_length(json_object_get(panel, "title")) > 0);
	assert_true(json_integer_value(json_object_get(at, "x")) + json_integer_value(json_object_get(at, "w")) <= 24);
	assert_true(json_integer_value(json_object_get(at, "w")) > 0 && json_integer_value(json_object_get(at, "h")) > 0);
	if (!strcmp(type, "row"))
		return;
	assert_string_equal(json_string_value(json_object_get(json_object_get(panel, "datasource"), "type")), "prometheus");
	assert_string_equal(json_string_value(json_object_get(json_object_get(panel, "datasource"), "uid")), "${source}");
	assert_true(json_is_object(json_object_get(json_object_get(panel, "fieldConfig"), "defaults")));
	assert_true(json_array_size(targets) > 0);
	json_array_foreach(targets, i, target) {
		assert_true(json_string_length(json_object_get(target, "refId")) > 0);
		assert_true(look_up_figures(m, json_string_value(json_object_get(target, "expr"))) > 0);
	}
}

static void the_dashboard_fits_its_schema_and_asks_for_figures_that_there_are(void **state)
{
	char *text = read_source("examples/monitoring/grafana.json");
	json_error_t why;
	json_t *d = json_loads(text, JSON_REJECT_DUPLICATES, &why), *panels, *panel, *variable;
	static struct metrics m;
	bool seen[200] = { false };
	size_t i;

	(void) state;
	if (!d)
		fail_msg("grafana.json:%d: %s", why.line, why.text);
	all_metrics(&m);
	assert_true(json_is_null(json_object_get(d, "id")));
	assert_true(json_string_length(json_object_get(d, "uid")) > 0 && json_string_length(json_object_get(d, "uid")) <= 40);
	assert_true(json_integer_value(json_object_get(d, "schemaVersion")) >= 36);
	assert_true(json_string_length(json_object_get(d, "title")) > 0);
	assert_true(json_is_array(json_object_get(json_object_get(d, "annotations"), "list")));
	assert_non_null(json_object_get(json_object_get(d, "time"), "from"));
	panels = json_object_get(d, "panels");
	assert_true(json_array_size(panels) >= 10);
	json_array_foreach(panels, i, panel)
		check_panel(&m, panel, seen);
	json_array_foreach(json_object_get(json_object_get(d, "templating"), "list"), i, variable)
		assert_true(json_string_length(json_object_get(variable, "name")) > 0 && json_string_length(json_object_get(variable, "type")) > 0);
	assert_true(i >= 1);
	json_decref(d);
	free(text);
	metrics_free(&m);
}

static void alerts_ask_for_figures_that_there_are(void **state)
{
	char *text = read_source("examples/monitoring/alerts.yml"), *save = NULL;
	static struct metrics m;
	unsigned rules = 0;

	(void) state;
	all_metrics(&m);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *expr = strstr(line, "expr: ");

		if (!expr)
			continue;
		assert_true(look_up_figures(&m, expr) > 0);
		rules++;
	}
	assert_true(rules >= 11);
	free(text);
	metrics_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_a_small_cluster_are_those_counted_by_hand),
		cmocka_unit_test(figures_of_sdiag_have_slurms_names_and_its_means),
		cmocka_unit_test_teardown(any_cluster_makes_text_that_a_strict_parser_takes, say_seed),
		cmocka_unit_test(the_dashboard_fits_its_schema_and_asks_for_figures_that_there_are),
		cmocka_unit_test(alerts_ask_for_figures_that_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
