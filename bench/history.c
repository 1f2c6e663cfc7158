/* SPDX-License-Identifier: MIT */
/*
 * history.c - what policies know of runs that have ended: how fast it takes them in, and how long a
 * question takes.
 *
 *	bench/history [RUNS [CYCLES]]		1000 users of 50 accounts; 10,000,000 runs, 20 cycles
 *
 * With a keeper's ledger in between (bench/ledger measures that) the first question of a cycle waits
 * for the keeper; here it is those after it: each asks about the last two runs of a user, about the
 * last 10 of a name of his, or about the last 100 of his account.  CPU time; JSON on stdout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "t/random.h"
#include "usage/history.h"

#define USERS 1000
#define T0 INT64_C(1451606400)
#define QUESTIONS 10000

static struct sl_error err;
static char user[USERS][8], account[50][8], name[20][8];

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static void must(int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "bench/history: %s\n", err.text);
	exit(1);
}

static void fill(struct sl_history *h, uint32_t runs)
{
	for (uint32_t i = 0; i < runs; i++) {
		uint32_t u = below(USERS);
		struct sl_job_run r = { .job = i + 1, .end = T0 + i * INT64_C(30), .limit = 3600 * (1 + (int64_t) below(24)),
					.count = { 1 + below(64), 0, 1 }, .name = name[below(20)],
					.dim = { user[u], account[u % 50], "main", SL_JOB_COMPLETE } };

		r.seconds = between(60, 7200);
		r.start = r.end - r.seconds;
		must(sl_history_add(h, &r, &err));
	}
}

static double ask(struct sl_history *h, int kind, int64_t now)
{
	const struct sl_past_run *const *run;
	double begun = cpu_s();
	int64_t sum = 0;
	uint32_t n;

	for (uint32_t i = 0; i < QUESTIONS; i++) {
		uint32_t u = below(USERS);
		struct sl_history_query q = { .user = kind < 2 ? user[u] : NULL, .account = kind < 2 ? NULL : account[u % 50],
					      .name = kind == 1 ? name[below(20)] : NULL, .now = now,
					      .last = kind == 0 ? 2 : kind == 1 ? 10 : 100, .most_cpus = INT64_MAX,
					      .most_limit = INT64_MAX };

		must(sl_history_ask(h, &q, &run, &n, &err));
		for (uint32_t k = 0; k < n; k++)
			sum += run[k]->seconds;
	}
	return sum ? (cpu_s() - begun) / QUESTIONS * 1e6 : 0;
}

int main(int argc, char **argv)
{
	uint32_t runs = argc > 1 ? (uint32_t) strtoul(argv[1], NULL, 0) : 10000000;
	int cycles = argc > 2 ? atoi(argv[2]) : 20;
	struct sl_history *h = sl_history_create(NULL, NULL, &err);
	double begun = cpu_s(), in_s, us[3] = { 0 };
	struct rusage u;

	must(!h);
	for (int i = 0; i < USERS; i++)
		snprintf(user[i], sizeof(user[i]), "u%d", i);
	for (int i = 0; i < 50; i++)
		snprintf(account[i], sizeof(account[i]), "a%d", i);
	for (int i = 0; i < 20; i++)
		snprintf(name[i], sizeof(name[i]), "n%d", i);
	fill(h, runs);
	in_s = cpu_s() - begun;
	for (int c = 0; c < cycles; c++) {
		sl_history_begin(h);
		for (int kind = 0; kind < 3; kind++)
			us[kind] += ask(h, kind, T0 + runs * INT64_C(30)) / cycles;
	}
	getrusage(RUSAGE_SELF, &u);
	printf("{\"runs\": %u, \"users\": %d, \"runs_per_cpu_s\": %.0f, \"last_two_us\": %.2f, \"ten_of_a_name_us\": %.2f, "
	       "\"hundred_of_an_account_us\": %.2f, \"peak_mib\": %ld}\n", runs, USERS, runs / in_s, us[0], us[1], us[2],
	       u.ru_maxrss / 1024);
	sl_history_destroy(h);
	return 0;
}
