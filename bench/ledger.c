/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - the ledger of a large site: how fast it takes jobs in, and how long a cycle's
 * questions take.
 *
 *	bench/ledger [JOBS [DIR]]		ten years of 1000 users; 10,000,000 jobs, in $TMPDIR
 *
 * Jobs come in the order in which they ended, as from a cluster, ten thousand to a commit
 * (as after a break, or from sacct; each commit is synced); each has one of four partitions, a user who is
 * active in two of four months, and runs for half an hour to three days.  CPU time stands beside
 * wall time, since other work on the machine disturbs the latter.  JSON on stdout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "ledger/ledger.h"
#include "t/random.h"

#define YEARS 10
#define USERS 1000
#define T0 INT64_C(1451606400)		/* 2016-01-01 */
#define SPAN (YEARS * 365 * SL_DAY)
#define PER_COMMIT 10000

static struct sl_error err;

static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void must(int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "bench/ledger: %s\n", err.text);
	exit(1);
}

static void fill(struct sl_ledger *l, uint32_t jobs)
{
	char user[USERS][8], account[50][8];

	for (int i = 0; i < USERS; i++)
		snprintf(user[i], sizeof(user[i]), "u%d", i);
	for (int i = 0; i < 50; i++)
		snprintf(account[i], sizeof(account[i]), "a%d", i);
	for (uint32_t i = 0; i < jobs; i++) {
		int64_t end = T0 + (int64_t) ((double) SPAN * i / jobs);
		uint32_t u = below(USERS / 2) * 2 + (uint32_t) (end / (60 * SL_DAY)) % 2;
		struct sl_job_run r = { .job = i + 1, .end = end, .source = SL_RUN_SEEN,
				    .seconds = one_in(10) ? between(3600, 3 * SL_DAY) : between(60, 7200) };

		r.start = end - r.seconds;
		r.count[0] = 1 + below(64);
		r.count[1] = one_in(8) ? 1 + below(4) : 0;
		r.count[2] = 1 + r.count[0] / 16;
		r.dim = (struct sl_dim) { user[u], account[u % 50], (const char *[]) { "main", "gpu", "long", "test" }[below(4)],
					  one_in(10) ? SL_JOB_FAILED : SL_JOB_COMPLETE };
		must(sl_ledger_add(l, &r, &err) < 0);
		if (i % PER_COMMIT == PER_COMMIT - 1)
			must(sl_ledger_commit(l, &err));
		if (i % 1000000 == 999999)
			fprintf(stderr, "%u jobs\n", i + 1);
	}
	must(sl_ledger_commit(l, &err));
}

static double ask(struct sl_ledger *l, int64_t since, double half_life, int64_t now)
{
	struct sl_usage_query q = { .by = SL_BY_USER, .unit = SL_UNIT_CPU, .since = since, .until = SL_FOREVER,
				    .half_life = half_life, .now = now };
	const struct sl_usage_total *t;
	double begun = cpu();
	uint32_t n;

	must(sl_usage_ask(sl_ledger_usage(l), &q, &t, &n, &err));
	return (cpu() - begun) * 1e3;
}

/* What a cycle asks: this month, this year, the last seven days, fair share. */
static double cycle(struct sl_ledger *l, int64_t now)
{
	return ask(l, now - 17 * SL_DAY - 4711, 0, now) + ask(l, now - 200 * SL_DAY - 4711, 0, now) +
		ask(l, now - 7 * SL_DAY, 0, now) + ask(l, 0, 7 * 86400.0, now);
}

int main(int argc, char **argv)
{
	uint32_t jobs = argc > 1 ? (uint32_t) strtoul(argv[1], NULL, 0) : 10000000;
	const char *tmp = argc > 2 ? argv[2] : getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	double w0, c0, wall_s, cpu_s, cold_ms, warm_ms[200], worst = 0, sum = 0;
	struct sl_ledger_figures f;
	struct sl_ledger *l;
	char path[400];
	int64_t now = T0 + SPAN;

	snprintf(path, sizeof(path), "%s/bench-ledger-%d.db", tmp, (int) getpid());
	l = sl_ledger_open(path, SL_LEDGER_CREATE, &err);
	must(!l);
	w0 = sl_clock_s();
	c0 = cpu();
	fill(l, jobs);
	wall_s = sl_clock_s() - w0;
	cpu_s = cpu() - c0;
	sl_ledger_close(l);
	l = sl_ledger_open(path, SL_LEDGER_WRITE, &err);
	must(!l);
	cold_ms = cycle(l, now);
	for (uint32_t i = 0; i < 200; i++) {	/* a job ends, a cycle asks */
		struct sl_job_run r = { .job = jobs + i + 1, .start = now - 3600, .end = now, .seconds = 3600, .count = { 4, 0, 1 },
				    .dim = { "u1", "a1", "main", SL_JOB_COMPLETE }, .source = SL_RUN_SEEN };

		now += 3;
		must(sl_ledger_add(l, &r, &err) < 0);
		warm_ms[i] = cycle(l, now);
		sum += warm_ms[i];
		worst = warm_ms[i] > worst ? warm_ms[i] : worst;
		must(sl_ledger_commit(l, &err));
	}
	must(sl_ledger_figures(l, &f, &err));
	printf("{\"jobs\": %u, \"users\": %d, \"years\": %d, \"ingest_per_s\": %.0f, \"ingest_per_cpu_s\": %.0f, \"bytes\": %lld, "
	       "\"cycle_first_cpu_ms\": %.1f, \"cycle_mean_cpu_ms\": %.3f, \"cycle_max_cpu_ms\": %.3f}\n", jobs, USERS, YEARS,
	       jobs / wall_s, jobs / cpu_s, (long long) f.bytes, cold_ms, sum / 200, worst);
	sl_ledger_close(l);
	unlink(path);
	return 0;
}
