/* SPDX-License-Identifier: MIT */
/*
 * Workloads that are made up: ESP, those of the auction paper, synthetic ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/workload/load.h"

/* -- generators --------------------------------------------------------------------- */

static void esp_has_the_jobs_of_the_papers(void **state)
{
	struct sl_workload *w = LOAD("esp", 0);
	double seconds;

	(void) state;
	assert_int_equal(w->snap.job.rows, 230);
	/* by hand from table 4; the paper says 10984, but also what follows from 11011: */
	seconds = core_seconds(w) / 8192;
	assert_true(seconds > 11010 && seconds < 11013);
	sl_workload_destroy(w);
	w = LOAD("esp-gpu", 0);
	assert_int_equal(w->snap.job.rows, 458);
	seconds = core_seconds(w) / 8192;
	assert_true(seconds > 21821 && seconds < 21824);	/* "21822 seconds" */
	sl_workload_destroy(w);
}

static void esp_jobs_arrive_fifty_at_once_and_then_every_thirty_seconds(void **state)
{
	struct sl_workload *w = LOAD("esp-gpu", .seed = 3);
	const struct sl_job_view *j = &w->snap.job;
	uint32_t at_once = 0, gpus = 0, z = 0;
	int64_t last = 0;

	(void) state;
	for (uint32_t i = 0; i < j->rows; i++) {
		at_once += j->submit_time[i] == w->origin_s;
		gpus += j->gres[i].count;
		if (!strcmp(str(w, j->name[i]), "Z")) {
			assert_int_equal(j->submit_time[i] - w->origin_s, z++ ? 240 * 60 : 80 * 60);
			assert_int_equal(j->num_tasks[i], 8192);
		} else if (j->submit_time[i] > last) {
			last = j->submit_time[i];
		}
		assert_int_equal(w->runtime_s[i], j->time_limit[i]);
	}
	assert_int_equal(at_once, 50);
	assert_int_equal(gpus, 228);
	assert_int_equal(z, 2);
	/* 406 gaps of 30 s, sigma 10: 201 s */
	assert_in_range(last - w->origin_s, 406 * 30 - 1000, 406 * 30 + 1000);
	sl_workload_destroy(w);
}

static void esp_sizes_are_multiples_of_a_node_unless_they_are_random(void **state)
{
	struct sl_workload *w = LOAD("esp-gpu", 0), *r = LOAD("esp-gpu-rand", 0);
	uint32_t odd = 0;

	(void) state;
	for (uint32_t i = 0; i < w->snap.job.rows; i++)
		assert_int_equal(w->snap.job.num_tasks[i] % 8, 0);
	for (uint32_t i = 0; i < r->snap.job.rows; i++) {
		uint32_t off = (r->snap.job.num_tasks[i] + 4) % 8;

		assert_true(r->snap.job.num_tasks[i] <= 8192);
		odd += off != 4;
	}
	assert_true(odd > 300);
	sl_workload_destroy(w);
	sl_workload_destroy(r);
	REFUSED("esp-gpu", SL_EINVAL, "has no GPUs", .machine = "64x8c");
	REFUSED("esp:z1=x", SL_EINVAL, "z1=x: expected a number from 0 to 1e+06");
	REFUSED("esp:z3=1", SL_EINVAL, "KEY one of first, gap, sigma, z1, z2, gpus, rand");
}

/* Counts of an auction workload by kind: cores, nodes, 1 GPU, 2 GPUs, contiguous. */
static void count_auction(const struct sl_workload *w, uint32_t *count)
{
	const struct sl_job_view *j = &w->snap.job;

	memset(count, 0, 5 * sizeof(*count));
	for (uint32_t i = 0; i < j->rows; i++) {
		uint32_t gpus = j->gres[i].count ? w->snap.job_gres.count[j->gres[i].first] : 0;
		uint32_t per_node = j->ntasks_per_node[i], cores = j->num_tasks[i];

		assert_int_equal(j->submit_time[i], w->origin_s);
		assert_in_range(w->runtime_s[i], 60, 600);
		assert_int_equal(j->time_limit[i], w->runtime_s[i]);
		assert_int_equal(cores % 8, 0);
		assert_in_range(cores, 8, 128);
		if (per_node) {
			assert_int_equal(j->min_nodes[i] * per_node, cores);
			assert_int_equal(j->max_nodes[i], j->min_nodes[i]);
			assert_true(gpus == 2 ? per_node == 2 || per_node == 4 : gpus == 1 ? per_node <= 2 :
				    per_node == 4 || per_node == 8);
		}
		count[gpus ? gpus + 1 : per_node ? 1 : 0]++;
		count[4] += (j->flags[i] & SL_JOBF_CONTIGUOUS) != 0;
	}
}

static void auction_workloads_have_the_shares_of_their_table(void **state)
{
	static const struct { const char *name; double share[5]; } expected[] = {
		{ "auction:I.1,hours=40", { 1, 0, 0, 0, 0 } }, { "auction:II.2,hours=40", { 0, 1, 0, 0, .5 } },
		{ "auction:III.3,hours=40", { .5, .5, 0, 0, 1 } }, { "auction:IV.1,hours=40", { .4, .4, .2, 0, 0 } },
		{ "auction:V.3,hours=40", { 1 / 3., 1 / 3., 1 / 6., 1 / 6., 1 } },
	};
	uint32_t count[5];

	(void) state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct sl_workload *w = LOAD(expected[i].name, .seed = 11);
		double area = core_seconds(w) / 1024 / 3600;

		assert_true(area >= 40 && area < 40.1);
		count_auction(w, count);
		for (int k = 0; k < 5; k++)
			assert_true(count[k] >= (expected[i].share[k] - .03) * w->snap.job.rows &&
				    count[k] <= (expected[i].share[k] + .03) * w->snap.job.rows);
		sl_workload_destroy(w);
	}
}

static void versions_of_an_auction_workload_differ_in_contiguity_only(void **state)
{
	struct sl_workload *a = LOAD("auction:V.1", .seed = 2), *b = LOAD("auction:V.2", .seed = 2);

	(void) state;
	assert_int_equal(a->snap.job.rows, b->snap.job.rows);
	assert_memory_equal(a->runtime_s, b->runtime_s, a->snap.job.rows * sizeof(int64_t));
	assert_memory_equal(a->snap.job.num_tasks, b->snap.job.num_tasks, a->snap.job.rows * sizeof(uint32_t));
	sl_workload_destroy(a);
	sl_workload_destroy(b);
}

static void gpu_jobs_may_be_kept_to_half_of_the_nodes(void **state)
{
	struct sl_workload *w = LOAD("auction:IV.1,cap=0.5", 0), *full = LOAD("auction:IV.1", 0);
	uint32_t most = 0;

	(void) state;
	for (uint32_t i = 0; i < w->snap.job.rows; i++)
		if (w->snap.job.gres[i].count)
			assert_in_range(w->snap.job.min_nodes[i], 1, 64);
	for (uint32_t i = 0; i < full->snap.job.rows; i++)
		if (full->snap.job.gres[i].count && full->snap.job.min_nodes[i] > most)
			most = full->snap.job.min_nodes[i];
	assert_int_equal(most, 128);
	sl_workload_destroy(w);
	sl_workload_destroy(full);
	REFUSED("auction:VI.1", SL_EINVAL, "expected auction:W.V");
	REFUSED("auction:V.4", SL_EINVAL, "expected auction:W.V");
	REFUSED("auction", SL_EINVAL, "expected auction:W.V");
	REFUSED("auction:V.1", SL_EINVAL, "1 GPUs a node, expected 2", .machine = "64x8c1g");
	REFUSED("auction:I.1", SL_EINVAL, "nodes are alike", .machine = "64x8c,64x16c");
}

static void a_synthetic_workload_has_the_load_that_was_asked_for(void **state)
{
	struct sl_workload *w = LOAD("synthetic:jobs=20000,load=0.7,users=50", .machine = "100x16c", .seed = 4);
	const struct sl_job_view *j = &w->snap.job;
	double span = (double) (j->submit_time[j->rows - 1] - j->submit_time[0]), over = 0;
	uint32_t first_user = 0, powers = 0, uid_max = 0;

	(void) state;
	assert_int_equal(j->rows, 20000);
	assert_true(core_seconds(w) / (1600 * span) > 0.6 && core_seconds(w) / (1600 * span) < 0.75);
	for (uint32_t i = 0; i < j->rows; i++) {
		assert_true(w->runtime_s[i] >= 1 && w->runtime_s[i] <= w->estimate_s[i]);
		assert_in_range(j->num_tasks[i], 1, 400);
		assert_int_equal(j->id[i], i + 1);
		over += (double) w->estimate_s[i] / (double) w->runtime_s[i] > 1.5;
		first_user += j->uid[i] == 1000;
		powers += !(j->num_tasks[i] & (j->num_tasks[i] - 1));
		uid_max = j->uid[i] > uid_max ? j->uid[i] : uid_max;
	}
	assert_true(over > 0.5 * 20000);
	assert_true(first_user > 20000 / 50 * 3);	/* Zipf: 22 % instead of 2 */
	assert_true(powers > 0.7 * 20000);
	assert_in_range(uid_max, 1030, 1049);
	sl_workload_destroy(w);
}

static void a_million_users_are_no_trouble(void **state)
{
	struct sl_workload *w = LOAD("synthetic:jobs=30000,users=1000000", 0);

	(void) state;
	assert_int_equal(w->snap.job.rows, 30000);
	sl_workload_destroy(w);
}

static void the_same_seed_makes_the_same_bytes_and_another_one_does_not(void **state)
{
	static const char *const names[] = { "esp-gpu", "auction:V.2", "synthetic:jobs=500" };

	(void) state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sl_workload *a = LOAD(names[i], .seed = 9), *b = LOAD(names[i], .seed = 9),
			*c = LOAD(names[i], .seed = 10);

		assert_int_equal(a->size, b->size);
		assert_memory_equal(a->bytes, b->bytes, a->size);
		assert_true(c->size != a->size || memcmp(a->bytes, c->bytes, a->size));
		assert_int_equal(a->snap.meta.seed[0], 9);
		sl_workload_destroy(a);
		sl_workload_destroy(b);
		sl_workload_destroy(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(esp_has_the_jobs_of_the_papers),
		cmocka_unit_test(esp_jobs_arrive_fifty_at_once_and_then_every_thirty_seconds),
		cmocka_unit_test(esp_sizes_are_multiples_of_a_node_unless_they_are_random),
		cmocka_unit_test(auction_workloads_have_the_shares_of_their_table),
		cmocka_unit_test(versions_of_an_auction_workload_differ_in_contiguity_only),
		cmocka_unit_test(gpu_jobs_may_be_kept_to_half_of_the_nodes),
		cmocka_unit_test(a_synthetic_workload_has_the_load_that_was_asked_for),
		cmocka_unit_test(a_million_users_are_no_trouble),
		cmocka_unit_test(the_same_seed_makes_the_same_bytes_and_another_one_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
