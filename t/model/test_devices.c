/* SPDX-License-Identifier: MIT */
/* Devices that are had whole or by shares: which of them the engine books, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/desk.h"

#define GPU 0
#define SHARD 1

/* Two nodes with so many GPUs, the first with four shares of each; so many shares the second node has. */
static struct build *machine_of(uint32_t gpus, uint32_t shares_there)
{
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct build *b;
	char shape[32];

	snprintf(shape, sizeof(shape), "2x8c%ug", gpus);
	b = build_create(shape);
	kind.key = kind.name = sl_builder_str(b->builder, "shard");
	sl_builder_append(b->builder, SL_T_GRES_KIND, &kind);
	for (uint32_t n = 0; n < 2; n++) {
		struct sl_node_gres_row whole = { .kind = GPU, .count = gpus, .share = SL_NONE };
		struct sl_node_gres_row shares = { .kind = SHARD, .count = n ? shares_there : 4 * gpus, .share = GPU };
		struct sl_range gres = { sl_builder_append(b->builder, SL_T_NODE_GRES, &whole), 2 };

		sl_builder_append(b->builder, SL_T_NODE_GRES, &shares);
		build_change(b, SL_T_NODE, n, sl_node_row, .gres = gres);
	}
	return b;
}

static struct build *machine(uint32_t shares_there)
{
	return machine_of(2, shares_there);
}

/* On the first node. */
static void running(struct build *b, uint32_t id, uint32_t kind, uint32_t count, uint32_t devices, int64_t ends_in)
{
	struct sl_alloc_gres_row gres = { .kind = kind, .count = count, .of = kind == SHARD ? GPU : SL_NONE,
					  .devices = devices };
	struct sl_range rows = { sl_builder_append(b->builder, SL_T_ALLOC_GRES, &gres), 1 };
	struct sl_job_row job;

	build_running(b, (struct build_job) { .id = id, .cores = 1, .ends_in = ends_in });
	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, id), &job);
	build_change(b, SL_T_ALLOC, job.alloc.first, sl_alloc_row, .gres = rows);
}

static void pending(struct build *b, uint32_t id, const char *gres, uint32_t count, int64_t limit)
{
	build_pending(b, (struct build_job) { .id = id, .limit = limit });
	build_change_job(b, id, .gres = build_gres(b, gres, "", count, SL_PER_NODE));
	build_change_job(b, id, .req_nodes = build_nodes(b, 0, 0));
}

/* The devices of a job that is started or reserved, by the plan. */
static uint32_t devices_of(struct desk *d, uint32_t id)
{
	const struct sl_plan_image *p = accepted(d);
	struct sl_range places = { 0, 0 };

	for (uint32_t i = 0; i < p->start.rows; i++)
		if (p->start.job[i] == id)
			places = p->start.places[i];
	for (uint32_t i = 0; i < p->reserve.rows; i++)
		if (p->reserve.job[i] == id)
			places = p->reserve.places[i];
	assert_int_equal(places.count, 1);
	assert_int_equal(p->place.gres[places.first].count, 1);
	return p->place_gres.devices[p->place.gres[places.first].first];
}

static void shares_are_of_the_first_device_that_has_enough(void **state)
{
	struct build *b = machine(8);
	struct desk d;

	(void) state;
	for (uint32_t id = 1; id <= 4; id++)
		pending(b, id, "shard", id == 4 ? 2 : id == 3 ? 1 : 3, 60);
	d = sit(b);
	for (uint32_t id = 1; id <= 3; id++)
		assert_int_equal(start(&d, id), 1);
	assert_int_equal(start(&d, 4), 0);	/* one is free of the second, none of the first */
	assert_int_equal(devices_of(&d, 1), 1);
	assert_int_equal(devices_of(&d, 2), 2);
	assert_int_equal(devices_of(&d, 3), 1);
	leave(&d);
}

static void a_device_with_shares_in_use_is_nobodys(void **state)
{
	struct build *b = machine(8);
	struct desk d;

	(void) state;
	running(b, 9, SHARD, 1, 1, 60);
	running(b, 8, GPU, 1, 2, 100);
	pending(b, 1, "gpu", 1, 60);
	pending(b, 2, "shard", 4, 60);
	pending(b, 3, "shard", 3, 60);
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(devices_of(&d, 3), 1);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(devices_of(&d, 1), 1);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 100);
	assert_int_equal(devices_of(&d, 2), 2);
	leave(&d);
}

/* Select would give it shares of the first device, which the head waits for. */
static void a_job_does_not_start_by_a_device_that_it_would_not_be_given(void **state)
{
	struct build *b = machine(8);
	struct desk d;

	(void) state;
	running(b, 9, SHARD, 2, 1, 60);
	running(b, 8, SHARD, 2, 2, 600);
	pending(b, 1, "shard", 4, 600);
	pending(b, 2, "shard", 2, 600);
	pending(b, 3, "shard", 2, 60);
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(devices_of(&d, 3), 1);
	leave(&d);
}

static void expect_native(struct build *b, sl_word_set native)
{
	struct sl_cluster *c = build_cluster(b);
	const struct sl_want *w = sl_cluster_want(c, (struct sl_entry) { .job = build_job_row(b, 1) }, NULL);

	assert_non_null(w);
	assert_true(w->native == native);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void shares_that_cannot_be_counted_are_left_to_slurm(void **state)
{
	struct build *b = machine(7);	/* which are not equal */

	(void) state;
	pending(b, 1, "shard", 1, 60);
	expect_native(b, SL_W(MANY_GRES));
	b = machine(7);
	pending(b, 1, "gpu", 1, 60);
	expect_native(b, 0);
	b = machine(8);
	pending(b, 1, "shard", 1, 60);
	build_change_job(b, 1, .flags = SL_JOBF_EXCLUSIVE);
	expect_native(b, SL_W(UNCOUNTED));
	b = machine(8);
	pending(b, 1, "shard", 1, 60);
	build_change_job(b, 1, .gres = build_gres(b, "shard", "", 1, SL_PER_JOB));
	expect_native(b, SL_W(UNCOUNTED));
	b = machine(8);
	pending(b, 1, "shard", 1, 60);
	build_change_job(b, 1, .gres = (struct sl_range) { build_gres(b, "shard", "", 1, SL_PER_NODE).first, 2 });
	build_gres(b, "gpu", "", 1, SL_PER_NODE);
	expect_native(b, SL_W(UNCOUNTED));
}

/* Of one request: select chooses, and may take the same device for both or another one. */
static void a_gpu_and_shares_in_one_request_are_planned_and_hold_no_device_twice(void **state)
{
	(void) state;
	for (uint32_t gpus = 0; gpus <= 3; gpus++)
		for (uint32_t shares = 0; shares <= 9; shares++)
			for (uint32_t way = 0; way < 18; way++) {
				static const uint32_t pers[] = { SL_PER_NODE, SL_PER_JOB, SL_PER_TASK };
				const char *first = way < 9 ? "gpu" : "shard";
				struct build *b = machine(8);
				struct sl_range both;
				struct desk d;

				for (uint32_t id = 1; id <= 3; id++) {
					pending(b, id, "gpu", 1, 60);
					both = build_gres(b, first, "", gpus, pers[way % 3]);
					build_gres(b, "shard", "", shares, pers[way / 3 % 3]);
					both.count = 2;
					if (id != 2)
						build_change_job(b, id, .gres = both);
				}
				running(b, 9, SHARD, 1, 1, 60);
				d = sit(b);
				for (uint32_t id = 1; id <= 3; id++)
					if (start(&d, id) != 1)
						reserve(&d, id);
				accepted(&d);
				leave(&d);
			}
}

/* Each device is a kind of gres besides those that nodes have, of which there are SL_MAX_GRES. */
static void a_node_has_shares_of_as_many_devices_as_kinds_are_left(void **state)
{
	struct build *b = machine_of(8, 32);

	(void) state;
	pending(b, 1, "shard", 3, 60);
	expect_native(b, 0);
	b = machine_of(SL_MAX_GRES - 2, 4 * (SL_MAX_GRES - 2));
	pending(b, 1, "shard", 3, 60);
	expect_native(b, 0);
	b = machine_of(SL_MAX_GRES - 1, 4 * (SL_MAX_GRES - 1));
	pending(b, 1, "shard", 3, 60);
	expect_native(b, SL_W(MANY_GRES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_of_the_first_device_that_has_enough),
		cmocka_unit_test(a_device_with_shares_in_use_is_nobodys),
		cmocka_unit_test(a_job_does_not_start_by_a_device_that_it_would_not_be_given),
		cmocka_unit_test(a_gpu_and_shares_in_one_request_are_planned_and_hold_no_device_twice),
		cmocka_unit_test(shares_that_cannot_be_counted_are_left_to_slurm),
		cmocka_unit_test(a_node_has_shares_of_as_many_devices_as_kinds_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
