/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/bound.h"
#include "t/random.h"
#include "workload/workload.h"

/* A workload from JSON jobs on a machine, and its bound. */
static struct sl_bound bound_of(const char *machine, const char *jobs)
{
	char path[] = "/tmp/test_bound.XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct sl_workload_options opt = { .machine = machine, .strict = true };
	struct sl_error err = { 0 };
	struct sl_workload *w;
	struct sl_bound b;

	fprintf(f, "{ \"jobs\": [ %s ] }\n", jobs);
	fclose(f);
	w = sl_workload_load(path, &opt, &err);
	remove(path);
	if (!w)
		fail_msg("%s", err.text);
	assert_int_equal(sl_bound_makespan(&w->snap, w->runtime_s, &b, &err), 0);
	sl_workload_destroy(w);
	return b;
}

#define NEAR(a, b) do {							\
	double a_ = (a), b_ = (b);					\
	if (!(fabs(a_ - b_) <= 1e-6 * fmax(1, fabs(b_))))		\
		fail_msg("%s is %.12g, expected %.12g", #a, a_, b_);	\
} while (0)

#define CORES(id, n, run) "{ \"id\": " #id ", \"num_tasks\": " #n ", \"min_cpus\": " #n ", \"runtime_s\": " #run " }"
#define NODES(id, n, per, run)							\
	"{ \"id\": " #id ", \"min_nodes\": " #n ", \"max_nodes\": " #n ", \"ntasks_per_node\": " #per	\
	", \"runtime_s\": " #run " }"
#define GPUS(id, n, per, gpus, run)						\
	"{ \"id\": " #id ", \"min_nodes\": " #n ", \"max_nodes\": " #n ", \"ntasks_per_node\": " #per	\
	", \"gres\": [ { \"name\": \"gpu\", \"count\": " #gpus ", \"per\": \"node\" } ], \"runtime_s\": " #run " }"

static void core_seconds_by_cores_are_a_bound(void **state)
{
	struct sl_bound b = bound_of("4x8c", CORES(1, 20, 100) "," CORES(2, 30, 50));

	(void) state;
	NEAR(b.area_s, (20 * 100 + 30 * 50) / 32.0);
	NEAR(b.makespan_s, b.area_s);
	NEAR(b.utilization, 1);
}

static void the_longest_job_is_a_bound(void **state)
{
	struct sl_bound b = bound_of("4x8c", CORES(1, 1, 1000) "," CORES(2, 30, 50)
				     ", { \"id\": 3, \"submit_time\": 400, \"runtime_s\": 700 }");

	(void) state;
	NEAR(b.longest_s, 1100);
	NEAR(b.makespan_s, 1100);
	NEAR(b.utilization, (1000 + 1500 + 700) / (32 * 1100.0));
}

static void a_job_with_alternatives_counts_with_the_least_of_them(void **state)
{
	struct sl_bound b = bound_of("4x8c2g", "{ \"id\": 1, \"num_tasks\": 32, \"min_cpus\": 32, \"runtime_s\": 100, "
				     "\"comment\": \"sched: -n16\" }");

	(void) state;
	NEAR(b.area_s, 50);
	NEAR(b.makespan_s, 100);
	NEAR(b.utilization, 1);			/* as it asks: 32 cores for 100 s */
	/* less time; fewer GPUs; and a shape that no node could ever hold says nothing */
	b = bound_of("4x8c2g", "{ \"id\": 1, \"num_tasks\": 32, \"min_cpus\": 32, \"runtime_s\": 100, "
		     "\"comment\": \"sched: -n32 -t 1 | -n1 -c9\" }");
	NEAR(b.longest_s, 60);
	NEAR(b.area_s, 60);
	b = bound_of("4x8c2g", "{ \"id\": 1, \"min_nodes\": 4, \"max_nodes\": 4, \"ntasks_per_node\": 1, \"runtime_s\": 100, "
		     "\"gres\": [ { \"name\": \"gpu\", \"count\": 2, \"per\": \"node\" } ], "
		     "\"comment\": \"sched: -N2 --gpus-per-node=1-2\" }");
	NEAR(b.gpu_area_s, 2 * 100 / 8.0);
	/* only its alternative fits the machine */
	b = bound_of("4x8c2g", "{ \"id\": 1, \"num_tasks\": 64, \"min_cpus\": 64, \"runtime_s\": 100, "
		     "\"comment\": \"sched: -n8\" }");
	NEAR(b.makespan_s, 100);
	NEAR(b.utilization, 8 / 32.0);
}

static void work_that_comes_late_is_added_to_when_it_comes(void **state)
{
	struct sl_bound b = bound_of("4x8c", CORES(1, 32, 10) ", { \"id\": 2, \"submit_time\": 500, \"num_tasks\": 32, "
				     "\"min_cpus\": 32, \"runtime_s\": 60 }, { \"id\": 3, \"submit_time\": 500, "
				     "\"num_tasks\": 32, \"min_cpus\": 32, \"runtime_s\": 40 }");

	(void) state;
	NEAR(b.makespan_s, 600);
}

static void gpu_seconds_by_gpus_are_a_bound(void **state)
{
	struct sl_bound b = bound_of("4x8c2g", GPUS(1, 4, 1, 2, 100) "," GPUS(2, 2, 1, 2, 100));

	(void) state;
	NEAR(b.gpu_area_s, (8 * 100 + 4 * 100) / 8.0);
	NEAR(b.makespan_s, 150);
}

static void parts_that_do_not_fit_together_need_nodes_of_their_own(void **state)
{
	/* 5 cores a node: one to a node of 8, whatever the area says */
	struct sl_bound b = bound_of("4x8c", NODES(1, 4, 5, 100) "," NODES(2, 4, 5, 100));

	(void) state;
	NEAR(b.area_s, 2 * 4 * 5 * 100 / 32.0);
	NEAR(b.nodes_s, 200);
	NEAR(b.makespan_s, 200);
	/* beside each of them there is room for 3 cores */
	b = bound_of("4x8c", NODES(1, 4, 5, 100) "," NODES(2, 4, 5, 100) "," CORES(3, 12, 200));
	NEAR(b.makespan_s, 200);
	NEAR(b.utilization, 1);
	b = bound_of("4x8c", NODES(1, 4, 5, 100) "," NODES(2, 4, 5, 100) "," NODES(3, 4, 4, 100));
	NEAR(b.makespan_s, 250);	/* two parts of one job on a node: the bound does not forbid that */
}

static void jobs_of_whole_nodes_need_nodes_without_gpu_jobs(void **state)
{
	/* what binds the AUCSCHED workloads: 8 cores a node, and GPU jobs of one core */
	struct sl_bound b = bound_of("4x8c2g", NODES(1, 4, 8, 100) "," GPUS(2, 4, 1, 2, 100) "," CORES(3, 28, 100));

	(void) state;
	NEAR(b.area_s, (32 + 4 + 28) * 100 / 32.0);
	NEAR(b.makespan_s, 200);
	b = bound_of("4x8c2g", NODES(1, 4, 8, 100) "," GPUS(2, 4, 1, 2, 100) "," GPUS(3, 4, 1, 2, 100));
	NEAR(b.makespan_s, 300);
}

static void exclusive_jobs_take_whole_nodes(void **state)
{
	struct sl_bound b = bound_of("4x8c", "{ \"id\": 1, \"min_nodes\": 3, \"flags\": [\"EXCLUSIVE\"], \"runtime_s\": 100 },"
				     "{ \"id\": 2, \"min_nodes\": 3, \"flags\": [\"EXCLUSIVE\"], \"runtime_s\": 100 }");

	(void) state;
	NEAR(b.makespan_s, 6 * 100 / 4.0);
}

static void jobs_that_go_anywhere_use_gpus_wherever_they_go(void **state)
{
	/* 16 cores and 2 GPUs a node: two nodes at least, and all of their GPUs */
	struct sl_bound b = bound_of("4x8c2g",
		"{ \"id\": 1, \"num_tasks\": 16, \"min_cpus\": 16, \"gres\": [ { \"name\": \"gpu\", \"count\": 2 } ], \"runtime_s\": 100 },"
		GPUS(2, 4, 1, 2, 100));

	(void) state;
	NEAR(b.makespan_s, 150);
	/* 1 GPU a node: beside another of those */
	b = bound_of("4x8c2g",
		"{ \"id\": 1, \"num_tasks\": 32, \"min_cpus\": 32, \"gres\": [ { \"name\": \"gpu\", \"count\": 1 } ], \"runtime_s\": 100 },"
		GPUS(2, 4, 4, 1, 100));
	NEAR(b.makespan_s, 150);
}

static void gpus_of_a_job_or_a_task_count(void **state)
{
	struct sl_bound b = bound_of("4x8c2g",
		"{ \"id\": 1, \"gres\": [ { \"name\": \"gpu\", \"count\": 6, \"per\": \"job\" } ], \"runtime_s\": 100, \"num_tasks\": 3, \"min_cpus\": 3 },"
		"{ \"id\": 2, \"gres\": [ { \"name\": \"gpu\", \"count\": 2, \"per\": \"task\" } ], \"runtime_s\": 100, \"num_tasks\": 3, \"min_cpus\": 3 }");

	(void) state;
	NEAR(b.makespan_s, 150);
}

static void no_jobs_need_no_time(void **state)
{
	struct sl_snapshot empty = { 0 };
	struct sl_bound b;

	(void) state;
	assert_int_equal(sl_bound_makespan(&empty, NULL, &b, NULL), 0);
	NEAR(b.makespan_s, 0);
	NEAR(b.utilization, 0);
}

/*
 * Any schedule is longer than the bound: random jobs, placed one after the other
 * as early as they fit on nodes taken in order.
 */
struct node {
	uint32_t cores, gpus;
};

#define NODES_MAX 8
#define JOBS_MAX 40
#define HORIZON 4000

struct job {
	uint32_t nodes, cores, gpus, run, submit;
};

static bool fits(struct node (*room)[NODES_MAX], uint32_t n, const struct job *j, uint32_t t)
{
	for (uint32_t s = t; s < t + j->run; s++)
		if (room[s][n].cores < j->cores || room[s][n].gpus < j->gpus)
			return false;
	return true;
}

static uint32_t schedule(struct node (*room)[NODES_MAX], uint32_t nodes, const struct job *j)
{
	uint32_t taken[NODES_MAX];

	for (uint32_t t = j->submit; t + j->run < HORIZON; t++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < nodes && n < j->nodes; i++)
			if (fits(room, i, j, t))
				taken[n++] = i;
		if (n < j->nodes)
			continue;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t s = t; s < t + j->run; s++) {
				room[s][taken[i]].cores -= j->cores;
				room[s][taken[i]].gpus -= j->gpus;
			}
		return t + j->run;
	}
	fail_msg("no room within the horizon");
	return 0;
}

static void try_random(double *tightest)
{
	struct node (*room)[NODES_MAX] = malloc(HORIZON * sizeof(*room)), kind[2];
	uint32_t nodes = 2 + below(NODES_MAX - 1), first = 1 + below(nodes - 1), n = 1 + below(JOBS_MAX), last = 0;
	char machine[64], *text = malloc(JOBS_MAX * 256), *p = text;
	struct sl_bound b;

	for (int k = 0; k < 2; k++)
		kind[k] = (struct node) { 1 + below(12), below(4) };
	snprintf(machine, sizeof(machine), "%ux%uc%ug,%ux%uc%ug", first, kind[0].cores, kind[0].gpus, nodes - first,
		 kind[1].cores, kind[1].gpus);
	for (uint32_t t = 0; t < HORIZON; t++)
		for (uint32_t i = 0; i < nodes; i++)
			room[t][i] = kind[i >= first];
	for (uint32_t i = 0, submit = 0; i < n; i++) {
		int k = below(2);
		struct job j = {
			.nodes = 1 + below(k ? nodes - first : first), .cores = 1 + below(kind[k].cores),
			.gpus = below(kind[k].gpus + 1), .run = 1 + below(50), .submit = submit,
		};
		uint32_t end = schedule(room, nodes, &j);

		last = end > last ? end : last;
		p += sprintf(p, "%s{ \"id\": %u, \"submit_time\": %u, \"runtime_s\": %u, \"min_nodes\": %u, \"max_nodes\": %u, "
			     "\"ntasks_per_node\": %u", i ? "," : "", i + 1, submit, j.run, j.nodes, j.nodes, j.cores);
		if (j.gpus)
			p += sprintf(p, ", \"gres\": [ { \"name\": \"gpu\", \"count\": %u } ]", j.gpus);
		p += sprintf(p, " }");
		submit += one_in(3) ? below(20) : 0;
	}
	b = bound_of(machine, text);
	if (b.makespan_s > last + 1e-6)
		fail_msg("%s: a schedule of %u s, the bound says %g: %s", machine, last, b.makespan_s, text);
	*tightest = fmax(*tightest, b.makespan_s / last);
	free(text);
	free(room);
}

static void no_schedule_is_shorter_than_the_bound(void **state)
{
	uint64_t seed = number_from("SL_SEED", 20260101), rounds = rounds_of(300);
	double tightest = 0;

	(void) state;
	print_message("# SL_SEED=%llu\n", (unsigned long long) seed);
	for (uint64_t i = 0; i < rounds; i++) {
		random_state = seed + i;
		try_random(&tightest);
	}
	assert_true(tightest > 0.99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(core_seconds_by_cores_are_a_bound),
		cmocka_unit_test(the_longest_job_is_a_bound),
		cmocka_unit_test(a_job_with_alternatives_counts_with_the_least_of_them),
		cmocka_unit_test(work_that_comes_late_is_added_to_when_it_comes),
		cmocka_unit_test(gpu_seconds_by_gpus_are_a_bound),
		cmocka_unit_test(parts_that_do_not_fit_together_need_nodes_of_their_own),
		cmocka_unit_test(jobs_of_whole_nodes_need_nodes_without_gpu_jobs),
		cmocka_unit_test(exclusive_jobs_take_whole_nodes),
		cmocka_unit_test(jobs_that_go_anywhere_use_gpus_wherever_they_go),
		cmocka_unit_test(gpus_of_a_job_or_a_task_count),
		cmocka_unit_test(no_jobs_need_no_time),
		cmocka_unit_test(no_schedule_is_shorter_than_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
