/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "image/shapes.h"

static struct sl_builder *new_builder(void)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);

	assert_non_null(b);
	return b;
}

/* The alternatives of a comment as text: nodes, tasks x CPUs, per node, seconds, gres. */
static const char *read(const char *comment)
{
	static const char *const per[] = { "node", "job", "task", "socket" };
	static char out[4096];
	struct sl_builder *b = new_builder();
	struct sl_range shapes;
	struct sl_error err = { 0 };
	size_t n = 0;

	*out = '\0';
	if (sl_shapes_add(b, comment, &shapes, &err) < 0) {
		snprintf(out, sizeof(out), "%s", err.text);
		assert_int_equal(shapes.count, 0);
		assert_int_equal(sl_builder_rows(b, SL_T_SHAPE) + sl_builder_rows(b, SL_T_JOB_GRES), 0);
	}
	for (uint32_t i = 0; i < shapes.count; i++) {
		struct sl_job_gres_row g;
		struct sl_shape_row s;

		assert_int_equal(sl_builder_row(b, SL_T_SHAPE, shapes.first + i, &s), 0);
		n += snprintf(out + n, sizeof(out) - n, "%s%u-%u n%u c%u", i ? " | " : "", s.min_nodes, s.max_nodes,
			      s.num_tasks, s.cpus_per_task);
		if (s.ntasks_per_node)
			n += snprintf(out + n, sizeof(out) - n, " p%u", s.ntasks_per_node);
		if (s.time_limit)
			n += snprintf(out + n, sizeof(out) - n, " t%lld", (long long) s.time_limit);
		for (uint32_t k = 0; k < s.gres.count; k++) {
			assert_int_equal(sl_builder_row(b, SL_T_JOB_GRES, s.gres.first + k, &g), 0);
			n += snprintf(out + n, sizeof(out) - n, " %s:%s:%u/%s", sl_builder_text(b, g.name),
				      sl_builder_text(b, g.type), g.count, per[g.per]);
		}
	}
	sl_builder_destroy(b);
	return out;
}

static void a_comment_names_alternatives_in_sbatch_s_words(void **state)
{
	(void) state;
	assert_string_equal(read("sched: -N64 --gpus-per-node=2 | -n512"), "64-64 n64 c1 gpu::2/node | 1-0 n512 c1");
	assert_string_equal(read("sched:-n8"), "1-0 n8 c1");
	assert_string_equal(read("sched: --nodes=2-4 --ntasks=16 --cpus-per-task=2"), "2-4 n16 c2");
	assert_string_equal(read("sched: --nodes 2 --ntasks-per-node 3"), "2-2 n6 c1 p3");
	assert_string_equal(read("sched: -N 2 -n 5 -c 4 -t 90"), "2-2 n5 c4 t5400");
	assert_string_equal(read("sched: -G4 -n4"), "1-0 n4 c1 gpu::4/job");
	assert_string_equal(read("sched: -n4 --gpus-per-task=a100:1"), "1-0 n4 c1 gpu:a100:1/task");
	assert_string_equal(read("sched: -N1 --gres=gpu:v100:2,fpga"), "1-1 n1 c1 gpu:v100:2/node fpga::1/node");
	assert_string_equal(read("sched: -N1 --gres=gres:gpu:2"), "1-1 n1 c1 gpu::2/node");
	assert_string_equal(read("sched: -G a100:2"), "1-0 n1 c1 gpu:a100:2/job");
}

static void a_range_of_gpus_is_a_shape_for_each_count_the_most_first(void **state)
{
	(void) state;
	assert_string_equal(read("sched: -N2 --gpus-per-node=1-3"), "2-2 n2 c1 gpu::3/node | 2-2 n2 c1 gpu::2/node | "
			    "2-2 n2 c1 gpu::1/node");
	assert_string_equal(read("sched: -n8 | -N1 --gpus-per-node=a100:2-3 -t 60 | -n4"),
			    "1-0 n8 c1 | 1-1 n1 c1 t3600 gpu:a100:3/node | 1-1 n1 c1 t3600 gpu:a100:2/node | 1-0 n4 c1");
	assert_string_equal(read("sched: -N2 --gres=fpga,gpu:v100:4-5,nic:2"),
			    "2-2 n2 c1 fpga::1/node gpu:v100:5/node nic::2/node | "
			    "2-2 n2 c1 fpga::1/node gpu:v100:4/node nic::2/node");
	assert_string_equal(read("sched: -N1 --gres=gpu:1-2"), "1-1 n1 c1 gpu::2/node | 1-1 n1 c1 gpu::1/node");
	assert_string_equal(read("sched: -G7-8"), "1-0 n1 c1 gpu::8/job | 1-0 n1 c1 gpu::7/job");
	assert_string_equal(read("sched: -n4 --gpus-per-task=1-2"), "1-0 n4 c1 gpu::2/task | 1-0 n4 c1 gpu::1/task");
	assert_string_equal(read("sched: -N1 --gpus-per-node=2-2"), "1-1 n1 c1 gpu::2/node");
	assert_string_equal(read("sched: -N1 --gpus-per-node=mi-250:2"), "1-1 n1 c1 gpu:mi-250:2/node");
}

static void alternatives_of_all_ranges_are_counted(void **state)
{
	(void) state;
	assert_non_null(strstr(read("sched: -N1 --gpus-per-node=1-15"), "| 1-1 n1 c1 gpu::1/node"));
	assert_non_null(strstr(read("sched: -n9 | -N1 --gpus-per-node=4-16 | -n8"), "gpu::4/node | 1-0 n8 c1"));
	assert_string_equal(read("sched: -N1 --gpus-per-node=1-16"), "more than 15 alternatives");
	assert_string_equal(read("sched: -n9 | -N1 --gpus-per-node=2-16"), "more than 15 alternatives");
	assert_string_equal(read("sched: -N1 --gpus-per-node=2-16 | -n9"), "more than 15 alternatives");
	assert_string_equal(read("sched: -N1 -G1-4294967280"), "more than 15 alternatives");
}

static void other_words_in_a_comment_are_not_ours(void **state)
{
	(void) state;
	assert_string_equal(read(NULL), "");
	assert_string_equal(read(""), "");
	assert_string_equal(read("a schedule: -n8"), "");
	assert_string_equal(read("see sched: -n8"), "");
	assert_string_equal(read("project x; sched: -n8; more"), "1-0 n8 c1");
	assert_string_equal(read(" ;;\tsched: -n8"), "1-0 n8 c1");
	assert_string_equal(read("sched: -n8; sched: -n9"), "1-0 n8 c1");
}

static void times_are_slurm_s(void **state)
{
	(void) state;
	assert_string_equal(read("sched: -n1 -t 5"), "1-0 n1 c1 t300");
	assert_string_equal(read("sched: -n1 -t 5:30"), "1-0 n1 c1 t360");
	assert_string_equal(read("sched: -n1 -t 4:00:00"), "1-0 n1 c1 t14400");
	assert_string_equal(read("sched: -n1 -t 1-0"), "1-0 n1 c1 t86400");
	assert_string_equal(read("sched: -n1 -t 2-12:30"), "1-0 n1 c1 t217800");
	assert_string_equal(read("sched: -n1 --time=2-12:30:01"), "1-0 n1 c1 t217860");
}

static void what_is_wrong_is_said_and_nothing_is_added(void **state)
{
	static const struct { const char *comment, *why; } wrong[] = {
		{ "sched:", "an empty alternative" },
		{ "sched: -n8 |", "an empty alternative" },
		{ "sched: | -n8", "an empty alternative" },
		{ "sched: hello", "'hello' is no option of an alternative" },
		{ "sched: -x n1", "'-x' is no option" },
		{ "sched: --node=1", "'--node=1' is no option" },
		{ "sched: -", "'-' is no option" },
		{ "sched: --", "'--' is no option" },
		{ "sched: -n", "--ntasks: nothing after it" },
		{ "sched: --ntasks=", "--ntasks: nothing after it" },
		{ "sched: -n0", "--ntasks: expected a number from 1" },
		{ "sched: -n-1", "--ntasks: expected a number from 1" },
		{ "sched: -n1e3", "--ntasks: expected a number from 1" },
		{ "sched: -n99999999999", "--ntasks: expected a number from 1" },
		{ "sched: -n8 -n9", "--ntasks twice" },
		{ "sched: -N4-2", "N up to M, got '4-2'" },
		{ "sched: -N4-", "--nodes: expected N or N-M, got '4-'" },
		{ "sched: -N1,3", "--nodes: expected N or N-M" },
		{ "sched: -N4 -n2", "2 tasks on 4 nodes" },
		{ "sched: -c2", "neither nodes, tasks nor gres" },
		{ "sched: -t 5", "neither nodes, tasks nor gres" },
		{ "sched: -N2 -n9 --ntasks-per-node=4", "9 tasks, 4 on each of 2 nodes" },
		{ "sched: -n4294967280 -c2", "8589934560 CPUs" },
		{ "sched: -N4294967280 --ntasks-per-node=2", "8589934560 tasks" },
		{ "sched: -n1 -t 0", "--time: expected minutes" },
		{ "sched: -n1 -t 1:2:3:4", "--time: expected minutes" },
		{ "sched: -n1 -t 1-", "--time: expected minutes" },
		{ "sched: -n1 -t soon", "--time: expected minutes" },
		{ "sched: -n1 -t 366-0", "--time: expected minutes" },
		{ "sched: -N1 --gres=gpu:2:a100", "--gres: expected NAME[:TYPE][:N[-M]] with N up to M, got 'gpu:2:a100'" },
		{ "sched: -N1 --gres=gpu:a:b:2", "--gres: expected NAME[:TYPE][:N[-M]]" },
		{ "sched: -N1 --gres=,", "--gres: expected NAME[:TYPE][:N[-M]]" },
		{ "sched: -N1 --gres=gpu;2", "neither" },
		{ "sched: -N1 --gpus-per-node=0", "[TYPE:]N[-M] with N up to M, got '0'" },
		{ "sched: -N1 --gpus-per-node=4-1", "with N up to M, got '4-1'" },
		{ "sched: -N1 --gpus-per-node=0-0", "with N up to M, got '0-0'" },
		{ "sched: -N1 --gpus-per-node=0-2", "with N up to M, got '0-2'" },
		{ "sched: -N1 --gpus-per-node=2-", "with N up to M, got '2-'" },
		{ "sched: -N1 --gpus-per-node=-2", "with N up to M, got '-2'" },
		{ "sched: -N1 --gpus-per-node=1-2-3", "with N up to M, got '1-2-3'" },
		{ "sched: -N1 --gpus-per-node=1-2:a100", "with N up to M, got '1-2:a100'" },
		{ "sched: -N1 --gpus-per-node=a100:2-1", "with N up to M, got 'a100:2-1'" },
		{ "sched: -n1 --gpus-per-task=3-2", "with N up to M, got '3-2'" },
		{ "sched: -G 3-2", "with N up to M, got '3-2'" },
		{ "sched: -N1 --gres=gpu:4-1", "--gres: expected NAME[:TYPE][:N[-M]] with N up to M, got 'gpu:4-1'" },
		{ "sched: -N1 --gres=gpu:a100:0-1", "with N up to M, got 'gpu:a100:0-1'" },
		{ "sched: -N1 --gres=gpu:1-2,nic:1-2", "a second range of gres in an alternative" },
		{ "sched: -N1 --gpus-per-node=2 --gres=gpu:1", "gres gpu twice" },
		{ "sched: -N1 --gres=a,b,c,d,e,f,g,h,i", "more than 8 gres" },
		{ "sched: -n1|-n2|-n3|-n4|-n5|-n6|-n7|-n8|-n9|-n10|-n11|-n12|-n13|-n14|-n15|-n16", "more than 15 alternatives" },
		{ "sched: -n8 | -N4-2", "N up to M" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *got = read(wrong[i].comment);

		if (!strcmp(wrong[i].comment, "sched: -N1 --gres=gpu;2"))	/* ends at the ";" */
			assert_string_equal(got, "1-1 n1 c1 gpu::1/node");
		else if (!strstr(got, wrong[i].why))
			fail_msg("%s: expected \"%s\", got \"%s\"", wrong[i].comment, wrong[i].why, got);
	}
}

static void jobs_with_a_comment_are_filled_in_once(void **state)
{
	struct sl_builder *b = new_builder();
	struct sl_job_row job = sl_job_row(), back;
	const void *bytes;
	size_t size;
	struct sl_error err;

	(void) state;
	job.id = 1;
	job.comment = sl_builder_str(b, "sched: -n8 | -N2 --gres=gpu:1");
	sl_builder_append(b, SL_T_JOB, &job);
	job.id = 2;
	job.comment = sl_builder_str(b, "sched: -n");
	sl_builder_append(b, SL_T_JOB, &job);
	job.id = 3;
	job.comment = sl_builder_str(b, "sched: -n4");
	job.state = SL_JOB_RUNNING;
	sl_builder_append(b, SL_T_JOB, &job);
	for (int i = 0; i < 2; i++) {
		sl_shapes_fill(b);
		assert_int_equal(sl_builder_rows(b, SL_T_SHAPE), 2);
		assert_int_equal(sl_builder_row(b, SL_T_JOB, 0, &back), 0);
		assert_int_equal(back.shapes.count, 2);
		assert_string_equal(sl_builder_text(b, back.shapes_ignored), "");
		assert_int_equal(sl_builder_row(b, SL_T_JOB, 1, &back), 0);
		assert_int_equal(back.shapes.count, 0);
		assert_string_equal(sl_builder_text(b, back.shapes_ignored), "--ntasks: nothing after it");
		assert_int_equal(sl_builder_row(b, SL_T_JOB, 2, &back), 0);
		assert_int_equal(back.shapes.count, 0);
	}
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	sl_builder_destroy(b);
}

/* Whatever users write: it is taken or refused, never half, and never read past its end. */
static void any_text_is_taken_or_refused(void **state)
{
	static const char *const piece[] = { "sched:", " ", "-N", "-n", "4", "--gres=", "gpu", ":", ",", "|", ";", "-t",
					     "--gpus-per-node", "-G1-3", "2-9", "=", "-", "2", "99999999999", "\xff", "--", "a" };
	(void) state;
	random_state = number_from("SEED", 20261120);
	printf("# SEED=%llu\n", (unsigned long long) random_state);
	for (int i = 0; i < 20000; i++) {
		char *text = calloc(1, 256), *exact;

		strcat(text, "sched:");
		for (int k = (int) below(12); k >= 0; k--)
			strcat(text, piece[below(sizeof(piece) / sizeof(piece[0]))]);
		exact = strdup(text);	/* the sanitizer sees a byte too far */
		read(exact);
		free(exact);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comment_names_alternatives_in_sbatch_s_words),
		cmocka_unit_test(a_range_of_gpus_is_a_shape_for_each_count_the_most_first),
		cmocka_unit_test(alternatives_of_all_ranges_are_counted),
		cmocka_unit_test(other_words_in_a_comment_are_not_ours),
		cmocka_unit_test(times_are_slurm_s),
		cmocka_unit_test(what_is_wrong_is_said_and_nothing_is_added),
		cmocka_unit_test(jobs_with_a_comment_are_filled_in_once),
		cmocka_unit_test(any_text_is_taken_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
