/* SPDX-License-Identifier: MIT */
/*
 * cost.c - what planning one job costs at most, whatever its user asks for.
 *
 *	bench/cost [NODES [JOBS [SEED [KIND]]]]
 *
 * On a busy machine (busy.h) of NODES nodes (10,000) with features, a job that waits has a reservation; then
 * JOBS jobs (40) of each kind of t/costly.h are tried one after the other as EASY backfill and conservative backfill
 * would: started if they can, else reserved, and taken back.  For each kind: the CPU time and the units of work
 * (base/effort.h) of a job, median and most; how many were left out since they take too long to plan; and how often the most
 * is what a plain job costs in the median.  One JSON object on stdout, a table on stderr.  Fails where a kind costs
 * more than 20 times a plain job and more than what a job is left out for (a quarter of that may be done between two
 * looks at the allowance), or where time is spent that is not counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/busy.h"
#include "base/order.h"
#include "model/plan.h"
#include "t/costly.h"

#define MOST_JOBS 1000
#define FIRST_ID 1000000
#define TIMES_PLAIN 20
#define MOST_NS 200	/* of a unit, on a machine that does other things as well */

struct sample {
	int64_t us, units;
};

struct figures {
	struct sample median, most;
	uint64_t allowed;		/* units for one job */
	uint32_t left_out, started;
};

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static int by_us(const void *va, const void *vb)
{
	const struct sample *a = va, *b = vb;

	return SL_ORDER(a->us, b->us);
}

static void quit(const struct sl_error *err)
{
	fprintf(stderr, "bench/cost: %s\n", err->text);
	exit(2);
}

/* Start it or reserve it, and take that back.  The last word on it goes into *why. */
static void decide(struct sl_plan *p, struct sl_entry e, struct figures *f, struct sl_error *err)
{
	const struct sl_terms terms = { .any_shape = true };
	struct sl_refusal why;
	int64_t t;
	int rc = sl_plan_backfill(p, e, &terms, &why, err);

	f->started += rc > 0;
	if (!rc)
		rc = sl_plan_reserve(p, e, &terms, &t, &why, err);
	f->left_out += !rc && why.why == SL_WHY_COST;
	if (rc < 0)
		quit(err);
}

static struct sl_entry entry_of(const struct sl_cluster *c, uint32_t job)
{
	uint32_t count, i = 0;
	const struct sl_entry *queue = sl_cluster_queue(c, &count);

	while (queue[i].job != job)
		i++;
	return queue[i];
}

/* Jobs of a kind, each on a cluster and a plan of its own: nothing is known of others. */
static void measure(const struct sl_snapshot *snap, const uint32_t *job, uint32_t jobs, struct figures *f)
{
	struct sample at[MOST_JOBS];
	struct sl_error err;

	*f = (struct figures) { .left_out = 0 };
	for (uint32_t i = 0; i < jobs; i++) {
		struct sl_cluster *c = sl_cluster_create(snap, &err);
		struct sl_plan *p = c ? sl_plan_create(c, &err) : NULL;
		struct sl_entry head, e;
		int64_t t;

		if (!p)
			quit(&err);
		sl_plan_set_policy(p, "cost");
		head = sl_cluster_queue(c, &(uint32_t) { 0 })[0];
		/* what is worked out once for all jobs is no job's: the machine's features, the time that the head has */
		if (!sl_cluster_want(c, sl_cluster_queue(c, &(uint32_t) { 0 })[1], &err) || sl_plan_reserve(p, head, NULL, &t, NULL, &err) <= 0)
			quit(&err);
		e = entry_of(c, job[i]);
		f->allowed = sl_plan_most_effort(p);
		at[i].us = -cpu_us();
		at[i].units = -(int64_t) sl_cluster_effort(c);
		decide(p, e, f, &err);
		at[i].units += (int64_t) sl_cluster_effort(c);
		at[i].us += cpu_us();
		sl_plan_destroy(p);
		sl_cluster_destroy(c);
	}
	qsort(at, jobs, sizeof(*at), by_us);
	f->median = at[jobs / 2];
	f->most = at[jobs - 1];
}

/* It waits for three quarters of the machine. */
static void append_head(struct sl_builder *b, uint32_t nodes, uint32_t id)
{
	uint32_t at = costly_job(b, COSTLY_PLAIN, nodes, id, 1, 1);
	struct sl_job_row row;

	sl_builder_row(b, SL_T_JOB, at, &row);
	row.min_nodes = row.max_nodes = nodes * 3 / 4;
	row.num_tasks = row.min_cpus = row.min_nodes;
	row.ntasks_per_node = 1;
	row.flags |= SL_JOBF_EXCLUSIVE;
	sl_builder_update(b, SL_T_JOB, at, &row);
}

/* It asks for a feature. */
static void append_featured(struct sl_builder *b, uint32_t nodes, uint32_t id)
{
	uint32_t at = costly_job(b, COSTLY_PLAIN, nodes, id, 1, 1);
	struct sl_job_row row;

	sl_builder_row(b, SL_T_JOB, at, &row);
	row.features = sl_builder_str(b, "f1");
	sl_builder_update(b, SL_T_JOB, at, &row);
}

static const struct sl_snapshot *make_snapshot(uint32_t nodes, uint32_t jobs, uint64_t seed, uint32_t (*row)[MOST_JOBS])
{
	static struct sl_snapshot snap;
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct busy busy = { .nodes = nodes, .pending = 0, .seed = seed };
	const void *bytes;
	size_t size;
	uint32_t id = FIRST_ID;

	if (!b || busy_snapshot(b, &busy, &err))
		quit(&err);
	costly_features(b, nodes, seed);
	append_head(b, nodes, id++);
	append_featured(b, nodes, id++);
	for (int kind = 0; kind < COSTLY_KINDS; kind++)
		for (uint32_t i = 0; i < jobs; i++, id += COSTLY_COMPONENTS)
			row[kind][i] = costly_job(b, kind, nodes, id, 1000, seed + id);
	if (sl_builder_finish(b, &bytes, &size, &err) || sl_snapshot_open(&snap, bytes, size, &err))
		quit(&err);
	return &snap;
}

static bool report(enum costly kind, const struct figures *f, const struct figures *plain)
{
	double times = (double) f->most.us / (double) (plain->median.us ? plain->median.us : 1);
	/* where time is spent that is not counted, units say nothing */
	double ns = f->most.units ? 1e3 * (double) f->most.us / (double) f->most.units : 0;
	bool good = times <= TIMES_PLAIN || (ns < MOST_NS && (uint64_t) f->most.units <= f->allowed + f->allowed / 4);

	printf("%s\"%s\": {\"median_us\": %lld, \"most_us\": %lld, \"median_units\": %lld, \"most_units\": %lld, "
	       "\"times_plain\": %.1f, \"started\": %u, \"left_out\": %u}", kind ? ", " : "", costly_word(kind),
	       (long long) f->median.us, (long long) f->most.us, (long long) f->median.units,
	       (long long) f->most.units, times, f->started, f->left_out);
	fprintf(stderr, "%-12s %9lld %9lld us %10lld %10lld units %8.1f x %6.1f ns a unit, %u started, %u left out%s\n",
		costly_word(kind), (long long) f->median.us, (long long) f->most.us, (long long) f->median.units,
		(long long) f->most.units, times, ns,
		f->started, f->left_out, good ? "" : "  TOO MUCH");
	return good;
}

int main(int argc, char **argv)
{
	uint32_t nodes = argc > 1 ? (uint32_t) atoi(argv[1]) : 10000, jobs = argc > 2 ? (uint32_t) atoi(argv[2]) : 40;
	static uint32_t row[COSTLY_KINDS][MOST_JOBS];
	static struct figures f[COSTLY_KINDS];
	const struct sl_snapshot *snap;
	bool good = true;

	if (nodes < 100 || !jobs || jobs > MOST_JOBS) {
		fprintf(stderr, "usage: bench/cost [NODES [JOBS [SEED [KIND]]]], from 100 nodes on, up to %d jobs\n", MOST_JOBS);
		return 2;
	}
	snap = make_snapshot(nodes, jobs, argc > 3 ? strtoull(argv[3], NULL, 10) : 1, row);
	printf("{");
	for (int kind = 0; kind < COSTLY_KINDS; kind++) {
		if (kind && argc > 4 && strcmp(argv[4], costly_word(kind)))
			continue;
		measure(snap, row[kind], jobs, &f[kind]);
		good &= report(kind, &f[kind], &f[COSTLY_PLAIN]);
	}
	printf("}\n");
	return good ? 0 : 1;
}
