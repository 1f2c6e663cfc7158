/* SPDX-License-Identifier: MIT */
/* test_asked.c - the lines of the file "requests" */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/escape.h"
#include "plugin/request/asked_line.h"
#include "t/hostile.h"
#include "t/random.h"

static const struct sl_asked usual = {
	.job_id = 17, .user_id = 1000, .submitted = 1700000000, .restarts = 1, .started = true, .shaped = true, .tasks_set = true,
	.limit_then = 30, .nodes_then = 1, .cpus_then = 4, .time_limit = 60, .min_nodes = 2, .max_nodes = 4, .num_tasks = 8,
	.min_cpus = 8, .max_cpus = SL_ASKED_UNSAID, .pn_min_cpus = 4, .cpus_per_task = 1, .ntasks_per_node = 0,
};

static char *write_all(const struct sl_asked *a, uint32_t count)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (uint32_t i = 0; i < count; i++)
		sl_asked_write(f, &a[i]);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* The request of a line, whose texts are good as long as *text*. */
static bool read_one(char *text, struct sl_asked *a)
{
	text[strcspn(text, "\n")] = '\0';
	return sl_asked_read(text, a);
}

static void assert_same(const struct sl_asked *a, const struct sl_asked *b)
{
	char *x = write_all(a, 1), *y = write_all(b, 1);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static void a_request_comes_back_as_it_was(void **state)
{
	struct sl_asked a = usual, b;
	char *text;

	(void) state;
	a.tres[SL_ASKED_PER_NODE] = "gres:gpu:a100:2,gres:nvme:1";
	a.tres[SL_ASKED_PER_TASK] = "";
	text = write_all(&a, 1);
	assert_string_equal(text, "17\t1000\t1700000000\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\t=gres:gpu:a100:2,gres:nvme:1\t-\t=\n");
	assert_true(read_one(text, &b));
	assert_same(&a, &b);
	assert_string_equal(b.tres[SL_ASKED_PER_NODE], a.tres[SL_ASKED_PER_NODE]);
	assert_true(b.tres[SL_ASKED_PER_TASK] && !b.tres[SL_ASKED_PER_JOB]);
	free(text);
}

static void a_request_that_no_submission_could_have_is_refused(void **state)
{
	struct sl_asked a;

	(void) state;
#define REFUSED(field, value) (a = usual, a.field = (value), !sl_asked_is_possible(&a))
	assert_true(sl_asked_is_possible(&usual));
	assert_true(REFUSED(job_id, 0) && REFUSED(job_id, SL_ASKED_UNSAID) && REFUSED(user_id, SL_ASKED_INFINITE));
	assert_true(REFUSED(submitted, 0) && REFUSED(submitted, -1) && REFUSED(restarts, 65536));
	assert_true(REFUSED(time_limit, 0) && REFUSED(limit_then, SL_ASKED_UNSAID));
	assert_false(REFUSED(time_limit, SL_ASKED_INFINITE) || REFUSED(time_limit, SL_ASKED_UNSAID) || REFUSED(limit_then, 0));
	assert_true(REFUSED(min_nodes, SL_ASKED_UNSAID) && REFUSED(min_nodes, 5) && REFUSED(max_nodes, 1));
	assert_false(REFUSED(max_nodes, 0) || REFUSED(min_nodes, 0));
	assert_true(REFUSED(min_cpus, SL_ASKED_INFINITE) && REFUSED(max_cpus, 7) && REFUSED(max_cpus, SL_ASKED_INFINITE));
	assert_true(REFUSED(cpus_per_task, 65536) && REFUSED(ntasks_per_node, SL_ASKED_UNSAID));
	assert_true(REFUSED(num_tasks, SL_ASKED_INFINITE) && REFUSED(nodes_then, SL_ASKED_UNSAID));
	assert_true(REFUSED(tres[0], "gres:gpu:1\n") && REFUSED(tres[3], "gres:\xe2\x80\xaegpu"));
#undef REFUSED
}

static void assert_refused(const char *line)
{
	struct sl_asked a;
	char *copy = strdup(line);

	if (sl_asked_read(copy, &a))
		fail_msg("taken: %s", line);
	free(copy);
}

static void a_line_that_was_not_written_so_is_refused(void **state)
{
	(void) state;
	/* as version 1 wrote it */
	assert_refused("17\t1000\t1\t1\t0\t1\t1\t1\t1\t1\t1\t1\t0\t0\t-\t-\t-\t-");
	assert_refused("");
	assert_refused("17\t1000\t1700000000\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\t-\t-");
	assert_refused("17\t1000\t1700000000\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\t-\t-\t-\t-");
	assert_refused("17\t1000\t1700000000\t1\t8\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\t-\t-\t-");
	assert_refused("17\t-1\t1700000000\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\t-\t-\t-");
	assert_refused("17\t 1\t1700000000\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\t-\t-\t-");
	assert_refused("17\t1000\t1700000000\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967296\t4\t1\t0\t-\t-\t-\t-");
	assert_refused("17\t1000\t99999999999999999999\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\t-\t-\t-");
	assert_refused("17\t1000\t1700000000\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\tgres:gpu:1\t-\t-");
	assert_refused("17\t1000\t1700000000\t1\t7\t30\t1\t4\t60\t2\t4\t8\t8\t4294967294\t4\t1\t0\t-\t=gres\\x0agpu\t-\t-");
}

/* Three jobs, the one in the middle an attacker's, whose texts have the line of the third in them. */
static void no_text_of_a_users_changes_what_is_read_of_others(void **state)
{
	static const char forged[] = "\t-\t-\n19\t0\t1700000000\t0\t7\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t0\t-\t-\t-\t-\n";
	const uint64_t rounds = rounds_of(20000);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		struct sl_asked a[3] = { usual, usual, usual }, b;
		char words[SL_ASKED_TRES][HOSTILE_SIZE], *text, *line, *rest;

		random_state = failing_seed;
		for (int t = 0; t < SL_ASKED_TRES; t++)
			a[1].tres[t] = one_in(4) ? NULL : hostile_text(words[t], forged);
		a[1].job_id = 18;
		a[2].job_id = 19;
		rest = text = write_all(a, 3);
		for (int k = 0; k < 3; k++) {
			bool taken;

			line = strsep(&rest, "\n");
			assert_non_null(line);
			taken = sl_asked_read(line, &b);
			assert_int_equal(taken, sl_asked_is_possible(&a[k]));
			if (taken)
				assert_same(&a[k], &b);
		}
		assert_string_equal(rest, "");
		free(text);
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_comes_back_as_it_was),
		cmocka_unit_test(a_request_that_no_submission_could_have_is_refused),
		cmocka_unit_test(a_line_that_was_not_written_so_is_refused),
		cmocka_unit_test_teardown(no_text_of_a_users_changes_what_is_read_of_others, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
