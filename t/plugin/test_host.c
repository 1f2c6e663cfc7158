/* SPDX-License-Identifier: MIT */
/* The engine's host, with an engine that misbehaves in every way. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/host/child.h"
#include "plugin/host/host.h"
#include "plugin/host/ladder.h"
#include "image/plan_image.h"
#include "image/snapshot.h"

static char lines[65536];

static void collect_line(int level, const char *line)
{
	size_t n = strlen(lines);

	(void) level;
	snprintf(lines + n, sizeof(lines) - n, "%s\n", line);
}

struct rig {
	char dir[64], engine[96], mode[112], keep[96], held[112];
	struct sl_host *host;
	struct sl_builder *b;
	struct sl_snapshot snap;
	int64_t sequence;
	bool job;		/* snapshots have a job that waits */
	int64_t budget_us;	/* what is waited for in vain takes little of it, whatever comes may take much */
};

static void set_mode(struct rig *r, const char *mode)
{
	FILE *f = fopen(r->mode, "w");

	fprintf(f, "%s\n", mode);
	fclose(f);
	r->budget_us = !strcmp(mode, "hang-decide") || !strcmp(mode, "stop-decide") ? 200000 : 20000000;
}

/* One node, and a job that waits for it. */
static void add_job(struct rig *r)
{
	struct sl_node_row node = sl_node_row();
	struct sl_run_row run = { .first = 0, .last = 0 };
	struct sl_partition_row partition = sl_partition_row();
	struct sl_job_row job = sl_job_row();
	struct sl_queue_row queue = sl_queue_row();

	node.name = sl_builder_str(r->b, "n1");
	partition.name = sl_builder_str(r->b, "batch");
	sl_builder_append(r->b, SL_T_NODE, &node);
	partition.nodes = (struct sl_range) { sl_builder_append(r->b, SL_T_RUN, &run), 1 };
	sl_builder_append(r->b, SL_T_PARTITION, &partition);
	job.id = 1;
	job.partition = 0;
	sl_builder_append(r->b, SL_T_JOB, &job);
	queue.job = queue.partition = 0;
	sl_builder_append(r->b, SL_T_QUEUE, &queue);
}

static void snapshot(struct rig *r, int64_t sequence)
{
	struct sl_meta_row meta = sl_meta_row();
	struct sl_error err;
	const void *bytes;
	size_t size;

	sl_builder_reset(r->b);
	meta.now = 1;
	meta.sequence = r->sequence = sequence;
	sl_builder_append(r->b, SL_T_META, &meta);
	if (r->job)
		add_job(r);
	if (sl_builder_finish(r->b, &bytes, &size, &err) || sl_snapshot_open(&r->snap, bytes, size, &err))
		fail_msg("%s", err.text);
}

static struct sl_host *new_host(struct rig *r, const char *site, const char *keep)
{
	struct sl_host_options opt = { .engine = r->engine, .site = site, .policy_path = "", .keep = keep,
				       .log = collect_line };

	return sl_host_create(&opt, NULL);
}

static int set_up(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	const char *fake = getenv("FAKE_ENGINE");

	*lines = '\0';
	strcpy(r->dir, "/tmp/schedlua-host-XXXXXX");
	if (!mkdtemp(r->dir))
		return -1;
	snprintf(r->engine, sizeof(r->engine), "%s/engine", r->dir);
	snprintf(r->mode, sizeof(r->mode), "%s.mode", r->engine);
	if (symlink(fake ? fake : "/nonexistent", r->engine))
		return -1;
	snprintf(r->keep, sizeof(r->keep), "%s/keep", r->dir);
	snprintf(r->held, sizeof(r->held), "%s.hold", r->keep);
	r->host = new_host(r, "", "");
	r->budget_us = 20000000;
	r->b = sl_builder_create(&sl_snapshot_schema, NULL);
	snapshot(r, 1);
	*state = r;
	return r->host && r->b ? 0 : -1;
}

static int tear_down(void **state)
{
	struct rig *r = *state;

	sl_host_destroy(r->host);
	sl_builder_destroy(r->b);
	unlink(r->engine);
	unlink(r->mode);
	unlink(r->held);
	rmdir(r->dir);
	free(r);
	return 0;
}

static bool decides(struct rig *r, struct sl_error *err)
{
	struct sl_host_answer a;

	snapshot(r, r->sequence + 1);
	if (sl_host_decide(r->host, &r->snap, r->budget_us, false, &a, err))
		return false;
	sl_host_release(r->host, &a);
	return true;
}

static void an_engine_decides_again_and_again(void **state)
{
	struct rig *r = *state;
	struct sl_error err;
	int i;

	for (i = 0; i < 20; i++)
		assert_true(decides(r, &err));
	assert_int_equal(sl_host_state(r->host)->starts, 1);
	assert_int_equal(sl_host_state(r->host)->failures, 0);
}

static void an_engine_is_not_to_blame_for_a_lack_of_descriptors(void **state)
{
	struct rig *r = *state;
	struct rlimit limit, none;
	struct sl_error err;
	int fd;

	assert_true(decides(r, &err));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	assert_true((fd = dup(0)) >= 0);
	close(fd);
	none.rlim_cur = (rlim_t) fd;	/* the lowest that is free */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_false(decides(r, &err));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(err.code, SL_EBUSY);
	assert_true(decides(r, &err));
	assert_int_equal(sl_host_state(r->host)->starts, 1);
	assert_int_equal(sl_host_state(r->host)->failures, 0);
}

static void whatever_an_engine_does_wrong_the_next_one_serves(void **state)
{
	static const char *const wrong[] = { "exit-hello", "exit-load", "exit-decide", "hang-decide", "stop-decide",
					     "garbage", "truncated", "wrong-frame", "wrong-sequence", "version" };
	struct rig *r = *state;
	struct sl_error err;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		pid_t pid;

		set_mode(r, "exit-decide");	/* so that the next one starts anew */
		assert_false(decides(r, &err));
		set_mode(r, wrong[i]);
		assert_false(decides(r, &err));
		assert_true(err.code != SL_OK && *err.text);
		set_mode(r, "ok");
		assert_true(decides(r, &err));
		pid = sl_host_state(r->host)->pid;
		assert_true(pid > 0);
		assert_int_equal(sl_host_state(r->host)->strikes, 0);
	}
}

static void three_failures_in_a_row_make_it_rest(void **state)
{
	struct rig *r = *state;
	struct sl_error err;
	int i;

	set_mode(r, "exit-decide");
	for (i = 0; i < SL_LADDER_FAILURES; i++) {
		assert_false(decides(r, &err));
		assert_int_not_equal(err.code, SL_EBUSY);
	}
	assert_false(decides(r, &err));
	assert_int_equal(err.code, SL_EBUSY);
	/* why it failed is told as long as it rests */
	assert_non_null(strstr(err.text, "rests after 3 failures: decide: it ended"));
	assert_true(sl_host_state(r->host)->next_try_s > 0);
}

static void an_engine_with_plans_for_another_world_rests_after_three(void **state)
{
	struct rig *r = *state;
	struct sl_error err;
	int i;

	r->job = true;
	assert_true(decides(r, &err));
	set_mode(r, "impossible");
	for (i = 1; i <= 3; i++) {
		assert_false(decides(r, &err));
		assert_int_equal(err.code, SL_EFORMAT);
		assert_non_null(strstr(err.text, "plan: start[0]: job 100001 is not in the snapshot"));
		assert_int_equal(sl_host_state(r->host)->strikes, i);
	}
	assert_false(decides(r, &err));
	assert_int_equal(err.code, SL_EBUSY);
	assert_non_null(strstr(err.text, "rests after 3 failures: plan: start[0]: job 100001 is not in the snapshot"));
}

static void a_set_that_ends_the_engine_is_no_obstacle_to_the_bundled_one(void **state)
{
	struct rig *r = *state;
	struct sl_host_answer a;
	struct sl_error err;

	set_mode(r, "exit-load");
	assert_false(decides(r, &err));
	assert_int_equal(sl_host_decide(r->host, &r->snap, r->budget_us, true, &a, &err), 0);
	sl_host_release(r->host, &a);
}

static void an_engine_that_ends_between_cycles_is_noticed(void **state)
{
	struct rig *r = *state;
	struct sl_error err;
	pid_t pid;
	int i;

	assert_true(decides(r, &err));
	pid = sl_host_state(r->host)->pid;
	kill(pid, 9);
	for (i = 0; i < 500 && sl_host_state(r->host)->pid; i++) {
		struct timespec t = { 0, 10000000 };

		sl_host_poll(r->host);
		nanosleep(&t, NULL);
	}
	assert_int_equal(sl_host_state(r->host)->pid, 0);
	assert_non_null(strstr(lines, "ended by signal 9"));
	assert_true(decides(r, &err));
}

static void an_interrupted_host_answers_at_once(void **state)
{
	struct rig *r = *state;
	struct sl_error err;

	assert_true(decides(r, &err));
	sl_host_interrupt(r->host);
	set_mode(r, "hang-decide");
	assert_false(decides(r, &err));
}

static void a_refused_set_is_told_once(void **state)
{
	struct rig *r = *state;
	struct sl_error err;
	char *first;

	set_mode(r, "refuse");
	assert_true(decides(r, &err));
	assert_true(decides(r, &err));
	assert_non_null(first = strstr(lines, "refused: /etc/fake.lua:3: refused on demand; the bundled easy decides"));
	assert_null(strstr(first + 1, "refused: /etc"));
	assert_non_null(strstr(sl_host_state(r->host)->refusal, "traceback"));
}

/* Begin anew, as a slurmctld that is started does. */
static void restart(struct rig *r)
{
	sl_host_destroy(r->host);
	r->host = new_host(r, "/site.lua", r->keep);
	assert_non_null(r->host);
}

static bool holds(struct rig *r, const char *partition)
{
	return sl_fence_has(&sl_host_state(r->host)->hold, partition);
}

static void what_the_last_good_set_holds_outlives_the_engine_and_slurmctld(void **state)
{
	struct rig *r = *state;
	struct sl_error err;

	restart(r);
	set_mode(r, "hold");
	assert_true(decides(r, &err));
	assert_true(holds(r, "small"));
	assert_false(holds(r, "main"));
	set_mode(r, "exit-load");
	restart(r);
	assert_false(decides(r, &err));
	assert_true(holds(r, "small"));
	assert_false(holds(r, "main"));
	set_mode(r, "ok");
	assert_true(decides(r, &err));
	assert_false(holds(r, "small"));
	set_mode(r, "exit-load");
	restart(r);
	assert_false(decides(r, &err));
	assert_false(holds(r, "small"));
}

static void where_that_cannot_be_read_all_is_held(void **state)
{
	struct rig *r = *state;
	struct sl_error err;
	FILE *f = fopen(r->held, "w");

	fputs("half wri", f);
	fclose(f);
	set_mode(r, "exit-load");
	restart(r);
	assert_false(decides(r, &err));
	assert_true(holds(r, "small") && holds(r, "main"));
	assert_non_null(strstr(lines, "half wri"));
}

static void babble_on_stderr_is_bounded(void **state)
{
	struct rig *r = *state;
	struct sl_error err;
	unsigned n = 0;
	char *p;

	set_mode(r, "babble");
	decides(r, &err);
	for (p = lines; (p = strstr(p, "engine: line")); p++)
		n++;
	assert_in_range(n, 1, 2 * SL_LOG_LINES);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_engine_decides_again_and_again),
		TEST(an_engine_is_not_to_blame_for_a_lack_of_descriptors),
		TEST(whatever_an_engine_does_wrong_the_next_one_serves),
		TEST(three_failures_in_a_row_make_it_rest),
		TEST(a_set_that_ends_the_engine_is_no_obstacle_to_the_bundled_one),
		TEST(an_engine_with_plans_for_another_world_rests_after_three),
		TEST(an_engine_that_ends_between_cycles_is_noticed),
		TEST(an_interrupted_host_answers_at_once),
		TEST(a_refused_set_is_told_once),
		TEST(what_the_last_good_set_holds_outlives_the_engine_and_slurmctld),
		TEST(where_that_cannot_be_read_all_is_held),
		TEST(babble_on_stderr_is_bounded),
	};

	return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
