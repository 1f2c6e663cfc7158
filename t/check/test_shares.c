/* SPDX-License-Identifier: MIT */
/* Devices that are had whole or by shares: check/shares.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

#define GPU 0
#define SHARD 1

/* One job 2, and on each node four shares of each of its two GPUs. */
static struct build *shared(const char *gres, uint32_t count)
{
	struct build *b = one((struct build_job) { .limit = 100 });
	struct sl_gres_kind_row kind = sl_gres_kind_row();

	kind.key = kind.name = sl_builder_str(b->builder, "shard");
	sl_builder_append(b->builder, SL_T_GRES_KIND, &kind);
	for (uint32_t n = 0; n < b->nodes; n++) {
		struct sl_node_gres_row gpus = { .kind = GPU, .count = 2, .share = SL_NONE };
		struct sl_node_gres_row shares = { .kind = SHARD, .count = 8, .share = GPU };
		struct sl_range gres_of = { sl_builder_append(b->builder, SL_T_NODE_GRES, &gpus), 2 };

		sl_builder_append(b->builder, SL_T_NODE_GRES, &shares);
		build_change(b, SL_T_NODE, n, sl_node_row, .gres = gres_of);
	}
	build_change_job(b, 2, .gres = build_gres(b, gres, "", count, SL_PER_NODE));
	return b;
}

/* A job that has so many of a kind, on those devices. */
static void running(struct build *b, uint32_t id, uint32_t kind, uint32_t count, uint32_t devices, int64_t ends_in)
{
	struct sl_alloc_gres_row gres = { .kind = kind, .count = count, .of = kind == SHARD ? GPU : SL_NONE,
					  .devices = devices };
	struct sl_range rows;
	struct sl_job_row job;

	build_running(b, (struct build_job) { .id = id, .cores = 1, .ends_in = ends_in });
	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, id), &job);
	rows = (struct sl_range) { sl_builder_append(b->builder, SL_T_ALLOC_GRES, &gres), 1 };
	build_change(b, SL_T_ALLOC, job.alloc.first, sl_alloc_row, .gres = rows);
}

static struct sl_range on(struct built_plan *p, uint32_t kind, uint32_t count, uint32_t devices)
{
	struct sl_plan_place_row row = { .node = 0, .cores = 1 };
	struct sl_plan_place_gres_row gres = { .kind = kind, .count = count, .of = kind == SHARD ? GPU : SL_NONE,
					       .devices = devices };

	row.gres = (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE_GRES, &gres), 1 };
	return (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE, &row), 1 };
}

static void shares_of_a_job_are_of_one_device(void **state)
{
	struct build *b = shared("shard", 3);

	(void) state;
	EXPECT_START(b, on(p_, SHARD, 3, 1), NULL);
	EXPECT_START(b, on(p_, SHARD, 3, 2), NULL);
	EXPECT_START(b, on(p_, SHARD, 3, 3), "has shares of not one device");
	EXPECT_START(b, on(p_, SHARD, 3, 4), "has shares of not one device");
	EXPECT_START(b, on(p_, SHARD, 3, 0), "has shares of not one device");
	EXPECT_START(b, on(p_, SHARD, 5, 1), "has more shares than a device has");
	running(b, 1, SHARD, 2, 1, 60);
	EXPECT_START(b, on(p_, SHARD, 3, 1), "5 shares of one device in use");
	EXPECT_START(b, on(p_, SHARD, 3, 2), NULL);
	build_destroy(b);
}

static void a_device_is_had_whole_or_by_shares(void **state)
{
	struct build *b = shared("gpu", 1);

	(void) state;
	running(b, 1, SHARD, 1, 1, 60);
	EXPECT_START(b, on(p_, GPU, 1, 1), "5 shares of one device in use");
	EXPECT_START(b, on(p_, GPU, 1, 2), NULL);
	EXPECT_START(b, on(p_, GPU, 1, 3), "its devices are not as many as it has");
	build_destroy(b);
	b = shared("shard", 1);
	running(b, 1, GPU, 1, 2, 60);
	EXPECT_START(b, on(p_, SHARD, 1, 2), "5 shares of one device in use");
	EXPECT_START(b, on(p_, SHARD, 1, 1), NULL);
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_a_job_are_of_one_device),
		cmocka_unit_test(a_device_is_had_whole_or_by_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
