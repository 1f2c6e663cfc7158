/* SPDX-License-Identifier: MIT */
/*
 * workload.c - what it costs to have a workload in memory.
 *
 *	bench/workload WORKLOAD [MACHINE [ROUNDS]]
 *
 * One JSON object: medians over the rounds.
 *	load_s		read or generated, checked, laid out
 *	bound_s		the lower bound of the makespan
 *	metrics_s	every job fed to the metrics, and the result (the first round)
 *	resident_mb	the workload as it is kept
 *	peak_mb		while it was made
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "image/json_out.h"
#include "bench/measure.h"
#include "report/metrics.h"
#include "workload/workload.h"

static double now_s(void)
{
	return wall_ms() / 1e3;
}

static double resident_mb(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!f || fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (double) pages * (double) sysconf(_SC_PAGESIZE) / 1e6;
}

static double feed(const struct sl_workload *w)
{
	double from = now_s();
	struct sl_metrics *m = sl_metrics_create(&w->snap, NULL);
	struct sl_result r;

	for (uint32_t i = 0; m && i < w->snap.job.rows; i++) {
		int64_t start = w->snap.job.submit_time[i] + i % 1000;
		struct sl_ended e = { .job = i, .start_s = start, .end_s = start + w->runtime_s[i] };

		sl_ended_node(&e, 0, 1, 0);
		sl_metrics_ended(m, &e, NULL);
	}
	if (m)
		sl_metrics_result(m, &r, NULL);
	sl_metrics_destroy(m);
	return now_s() - from;
}

static void put(struct sl_json *j, const char *key, double v)
{
	sl_json_put_real(j, key, v);
}

int main(int argc, char **argv)
{
	struct sl_workload_options opt = { .machine = argc > 2 && *argv[2] ? argv[2] : NULL };
	int rounds = argc > 3 ? atoi(argv[3]) : 5;
	double *load = calloc(rounds > 0 ? rounds : 1, sizeof(*load)), bound_s = 0, metrics_s = 0, mb = 0;
	struct sl_json *j = sl_json_create(stdout, NULL);
	struct sl_error err = { 0 };
	struct sl_bound bound;
	struct rusage ru;
	uint32_t jobs = 0;

	if (argc < 2 || rounds < 1 || !load || !j) {
		fprintf(stderr, "usage: workload WORKLOAD [MACHINE [ROUNDS]]\n");
		return 2;
	}
	for (int i = 0; i < rounds; i++) {
		double from = now_s();
		struct sl_workload *w = sl_workload_load(argv[1], &opt, &err);

		load[i] = now_s() - from;
		if (!w) {
			fprintf(stderr, "workload: %s\n", err.text);
			return 1;
		}
		if (i == 0) {
			mb = resident_mb();
			getrusage(RUSAGE_SELF, &ru);
			from = now_s();
			sl_bound_makespan(&w->snap, w->runtime_s, &bound, NULL);
			bound_s = now_s() - from;
			metrics_s = feed(w);
			jobs = w->snap.job.rows;
		}
		sl_workload_destroy(w);
	}
	sl_json_begin_object(j);
	sl_json_put_str(j, "workload", argv[1]);
	sl_json_put_int(j, "jobs", jobs);
	put(j, "load_s", median(load, rounds));
	put(j, "bound_s", bound_s);
	put(j, "metrics_s", metrics_s);
	put(j, "resident_mb", mb);
	put(j, "peak_mb", (double) ru.ru_maxrss / 1e3);
	sl_json_end_object(j);
	sl_json_end_line(j);
	sl_json_finish(j, NULL, NULL, NULL);
	sl_json_destroy(j);
	free(load);
	return 0;
}
