/* SPDX-License-Identifier: MIT */
/*
 * Recordings as workloads: small ones by hand, and simulated schedules that are
 * recorded and must come out again.  SL_SEED and SL_ROUNDS choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/copy.h"
#include "image/recording.h"
#include "sim/replay.h"
#include "sim/trial.h"
#include "t/random.h"
#include "t/scratch.h"

static char dir[96];
static int snapshots;

static int make_dir(void **state)
{
	static int number;

	(void) state;
	snprintf(dir, sizeof(dir), "%s/%d", scratch, number++);
	snapshots = 0;
	return 0;
}

/* -- recordings by hand ----------------------------------------------------------- */

static void put(const void *bytes, size_t size)
{
	const struct sl_recording_limits limits = { 100000, UINT64_C(1) << 40 };
	struct sl_error err = { 0 };

	if (sl_recording_add(dir, SL_RECORDED_SNAPSHOT, ++snapshots, bytes, size, &limits, &err))
		fail_msg("%s", err.text);
}

/* A snapshot of four nodes of one core at second 1000 + now. */
static void record(int now, const char *jobs, const char *rest)
{
	struct sl_error err = { 0 };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	char text[8192];
	const void *bytes;
	size_t size = 0;

	snprintf(text, sizeof(text), "{\"meta\": {\"now\": %d, \"cluster\": \"c\", \"sequence\": %d},"
		 "\"nodes\": [{\"name\": \"n1\"}, {\"name\": \"n2\"}, {\"name\": \"n3\"}, {\"name\": \"n4\"}],"
		 "\"partitions\": [{\"name\": \"all\", \"nodes\": \"n[1-4]\"}], \"jobs\": [%s]%s}",
		 1000 + now, snapshots + 1, jobs, rest);
	if (sl_builder_from_json(b, "test", text, strlen(text), &err) || sl_builder_finish(b, &bytes, &size, &err))
		fail_msg("%s\n%s", err.text, text);
	put(bytes, size);
	sl_builder_destroy(b);
}

#define JOB(id, submit, cores, limit, ...)								\
	"{\"id\": " #id ", \"partition\": \"all\", \"submit_time\": " #submit ", \"eligible_time\": " #submit	\
	", \"min_cpus\": " #cores ", \"num_tasks\": " #cores ", \"time_limit\": " #limit ", " __VA_ARGS__ "}"
#define PENDING "\"state\": \"PENDING\""
#define RUNNING(start, alloc) "\"state\": \"RUNNING\", \"start_time\": " #start ", \"alloc\": [" alloc "]"
#define ENDED(start, end) "\"state\": \"COMPLETED\", \"start_time\": " #start ", \"end_time\": " #end
#define CANCELLED(end) "\"state\": \"CANCELLED\", \"start_time\": " #end ", \"end_time\": " #end
#define ON(node) "{\"node\": \"" node "\", \"cores\": 1}"
#define QUEUE(jobs) ", \"queue\": [" jobs "]"
#define QUEUED(id) "{\"job\": " #id ", \"partition\": \"all\"}"

static int open_replay(struct sl_replay *r, struct sl_error *err)
{
	struct sl_recording list;
	int rc = -1;

	memset(r, 0, sizeof(*r));
	if (!sl_recording_list(&list, dir, err))
		rc = sl_replay_open(r, list.path, list.count, true, err);
	sl_recording_free(&list);
	return rc;
}

static void replay(struct sl_replay *r, const char *policy, int64_t *start)
{
	struct sl_bundle_source source = { .policy = policy };
	struct sl_sim_options opt = {
		.keep_schedule = true, .before_pass = sl_replay_before_pass, .before_pass_arg = r, .until_s = r->to_s,
		.wake_s = r->at_s, .wakes = r->snapshots,
	};
	struct sl_limits limits = { 0 };
	struct sl_error err = { 0 };
	struct sl_bundle *bundle = sl_bundle_load(&source, &limits, NULL, &err);
	struct sl_script *script = bundle ? sl_script_create(bundle, &limits, &err) : NULL;
	struct sl_sim *sim = script ? sl_sim_create(r->workload, script, &opt, &err) : NULL;

	if (!sim || sl_sim_run(sim, NULL, &err))
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < r->workload->snap.job.rows; i++)
		start[i] = sl_sim_schedule(sim)[i].nodes ? sl_sim_schedule(sim)[i].start_s : 0;
	sl_sim_destroy(sim);
	sl_script_destroy(script);
	sl_bundle_destroy(bundle);
}

/* What becomes of the recording under a policy: starts by row, ids as they come. */
static struct sl_replay replay_by(const char *policy, int64_t *start)
{
	struct sl_error err = { 0 };
	struct sl_replay r;

	if (open_replay(&r, &err))
		fail_msg("%s", err.text);
	replay(&r, policy, start);
	return r;
}

static int64_t start_of(const struct sl_replay *r, const int64_t *start, uint32_t id)
{
	for (uint32_t i = 0; i < r->workload->snap.job.rows; i++)
		if (r->job[i].id == id)
			return start[i];
	fail_msg("there is no job %u", id);
	return 0;
}

#define HEAD JOB(2, 1000, 4, 50, PENDING)
#define SHORT JOB(3, 1001, 1, 60, PENDING)

/* First come, first served was in force: job 3 waited behind job 2 although it would
 * have ended before it could start. */
static void record_fcfs(void)
{
	record(10, JOB(1, 1000, 3, 100, RUNNING(1000, ON("n1") "," ON("n2") "," ON("n3"))) "," HEAD "," SHORT,
	       QUEUE(QUEUED(2) "," QUEUED(3)));
	record(120, JOB(1, 1000, 3, 100, ENDED(1000, 1100)) "," JOB(2, 1000, 4, 50, RUNNING(1100, ON("n1") "," ON("n2")
	       "," ON("n3") "," ON("n4"))) "," SHORT, QUEUE(QUEUED(3)));
	record(240, JOB(2, 1000, 4, 50, ENDED(1100, 1150)) "," JOB(3, 1001, 1, 60, ENDED(1150, 1210)), "");
}

static void the_policy_that_decided_decides_the_same_again(void **state)
{
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	record_fcfs();
	r = replay_by("fcfs", start);
	assert_int_equal(r.snapshots, 3);
	assert_int_equal(r.ran, 1);
	assert_string_equal(r.cluster, "c");
	assert_int_equal(r.workload->snap.job.rows, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(start[i], r.job[i].start_s);
	sl_replay_close(&r);
}

static void another_policy_starts_what_would_have_fitted(void **state)
{
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	record_fcfs();
	r = replay_by("easy", start);
	assert_int_equal(start_of(&r, start, 1), 1000);
	assert_int_equal(start_of(&r, start, 2), 1100);
	assert_int_equal(start_of(&r, start, 3), 1010);
	sl_replay_close(&r);
}

static void the_order_is_that_of_the_priorities_at_the_time(void **state)
{
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	/* two wide jobs; the later one is more urgent at first, and not any more when
	 * there is room */
	record(0, JOB(1, 990, 4, 100, RUNNING(1000, ON("n1") "," ON("n2") "," ON("n3") "," ON("n4"))) ","
	       JOB(2, 995, 4, 100, PENDING ", \"priority\": 5") "," JOB(3, 996, 4, 100, PENDING ", \"priority\": 9"),
	       QUEUE(QUEUED(3) "," QUEUED(2)));
	record(50, JOB(1, 990, 4, 100, RUNNING(1000, ON("n1") "," ON("n2") "," ON("n3") "," ON("n4"))) ","
	       JOB(2, 995, 4, 100, PENDING ", \"priority\": 7") "," JOB(3, 996, 4, 100, PENDING ", \"priority\": 6"),
	       QUEUE(QUEUED(2) "," QUEUED(3)));
	record(150, JOB(1, 990, 4, 100, ENDED(1000, 1080)) "," JOB(2, 995, 4, 100, RUNNING(1080, ON("n1") "," ON("n2")
	       "," ON("n3") "," ON("n4"))) "," JOB(3, 996, 4, 100, PENDING ", \"priority\": 6"), QUEUE(QUEUED(3)));
	r = replay_by("fcfs", start);
	assert_int_equal(start_of(&r, start, 2), 1080);
	assert_int_equal(start_of(&r, start, 3), 0);
	sl_replay_close(&r);
}

static void a_job_that_was_held_comes_when_it_was_let_go(void **state)
{
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	record(0, JOB(1, 990, 1, 100, PENDING), "");
	record(60, JOB(1, 990, 1, 100, PENDING), QUEUE(QUEUED(1)));
	record(120, JOB(1, 990, 1, 100, RUNNING(1070, ON("n1"))), "");
	r = replay_by("easy", start);
	assert_int_equal(start_of(&r, start, 1), 1060);
	sl_replay_close(&r);
}

static void a_job_that_came_and_went_between_two_snapshots_is_there(void **state)
{
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	record(0, "", "");
	record(60, JOB(7, 1010, 2, 100, ENDED(1011, 1031)), "");
	r = replay_by("easy", start);
	assert_int_equal(r.workload->runtime_s[0], 20);
	assert_int_equal(start_of(&r, start, 7), 1010);
	sl_replay_close(&r);
}

static void what_never_ran_is_left_out_and_counted(void **state)
{
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	record(0, JOB(1, 990, 1, 100, PENDING) "," JOB(2, 990, 1, 100, PENDING) "," JOB(3, 990, 1, 100, ENDED(900, 950)),
	       QUEUE(QUEUED(1)));
	record(60, JOB(1, 990, 1, 100, CANCELLED(1030)) "," JOB(2, 990, 1, 100, PENDING) ","
	       JOB(4, 1000, 1, 100, PENDING), QUEUE(QUEUED(4)));
	r = replay_by("easy", start);
	assert_int_equal(r.cancelled, 1);
	assert_int_equal(r.held, 1);
	assert_int_equal(r.workload->snap.job.rows, 1);
	assert_int_equal(r.job[0].id, 4);
	assert_int_equal(r.job[0].start_s, 0);
	assert_int_equal(start[0], 1000);
	sl_replay_close(&r);
}

static void tasks_of_an_array_are_jobs_whether_they_ran_or_not(void **state)
{
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	record(0, JOB(10, 990, 2, 50, PENDING ", \"array_job_id\": 10, \"array_pending\": 4"), QUEUE(QUEUED(10)));
	record(60, JOB(10, 990, 2, 50, PENDING ", \"array_job_id\": 10, \"array_pending\": 2") ","
	       JOB(11, 990, 2, 50, ENDED(1000, 1050) ", \"array_job_id\": 10, \"array_task_id\": 0") ","
	       JOB(12, 990, 2, 50, RUNNING(1050, ON("n1") "," ON("n2")) ", \"array_job_id\": 10, \"array_task_id\": 1"),
	       QUEUE(QUEUED(10)));
	r = replay_by("easy", start);
	assert_int_equal(r.workload->snap.job.rows, 4);
	/* two at 0, two at 50 */
	assert_int_equal(start_of(&r, start, 10), 1000);
	assert_int_equal(start[0] + start[1] + start[2] + start[3], 2 * 1000 + 2 * 1050);
	sl_replay_close(&r);
}

static void a_requeued_job_is_one_for_each_time_it_ran(void **state)
{
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	record(0, JOB(5, 990, 4, 100, RUNNING(995, ON("n1") "," ON("n2") "," ON("n3") "," ON("n4"))), "");
	record(60, JOB(5, 1040, 4, 100, PENDING ", \"restarts\": 1"), QUEUE(QUEUED(5)));
	record(120, JOB(5, 1040, 4, 100, RUNNING(1070, ON("n1") "," ON("n2") "," ON("n3") "," ON("n4"))
	       ", \"restarts\": 1"), "");
	r = replay_by("easy", start);
	assert_int_equal(r.workload->snap.job.rows, 2);
	assert_int_equal(r.unseen_ends, 1);
	assert_true(r.job[0].ran);
	assert_int_equal(r.job[1].id, 5);
	assert_int_equal(start[1], 1060);
	sl_replay_close(&r);
}

static void a_reservation_holds_until_it_was_deleted(void **state)
{
	static const char resv[] = ", \"reservations\": [{\"name\": \"m\", \"start_time\": 1000, \"end_time\": 9000, "
		"\"nodes\": \"n[1-4]\"}]";
	int64_t start[8];
	struct sl_replay r;
	char rest[512];

	(void) state;
	snprintf(rest, sizeof(rest), "%s%s", QUEUE(QUEUED(1)), resv);
	record(0, JOB(1, 990, 1, 100, PENDING), rest);
	record(60, JOB(1, 990, 1, 100, PENDING), rest);
	record(90, JOB(1, 990, 1, 100, RUNNING(1080, ON("n1"))), "");
	r = replay_by("easy", start);
	assert_int_equal(start_of(&r, start, 1), 1090);
	sl_replay_close(&r);
}

static void other_nodes_are_refused_and_too_few_snapshots_too(void **state)
{
	struct sl_error err = { 0 };
	struct sl_replay r;

	(void) state;
	record(0, "", "");
	assert_int_equal(open_replay(&r, &err), -1);
	assert_non_null(strstr(err.text, "expected two at least"));
	sl_replay_close(&r);
	record(0, "", "");
	assert_int_equal(open_replay(&r, &err), -1);
	assert_non_null(strstr(err.text, "of one second"));
	sl_replay_close(&r);
}

/* The same with nodes of these states. */
static void record_nodes(int now, const char *n1, const char *rest, const char *jobs, const char *queue)
{
	struct sl_error err = { 0 };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	char text[4096];
	const void *bytes;
	size_t size = 0;

	snprintf(text, sizeof(text), "{\"meta\": {\"now\": %d, \"cluster\": \"c\"},"
		 "\"nodes\": [{\"name\": \"n1\"%s}, {\"name\": \"n2\"%s}, {\"name\": \"n3\"%s}, {\"name\": \"n4\"%s}],"
		 "\"partitions\": [{\"name\": \"all\", \"nodes\": \"n[1-4]\"}], \"jobs\": [%s]%s}",
		 1000 + now, n1, rest, rest, rest, jobs, queue);
	if (sl_builder_from_json(b, "test", text, strlen(text), &err) || sl_builder_finish(b, &bytes, &size, &err))
		fail_msg("%s\n%s", err.text, text);
	put(bytes, size);
	sl_builder_destroy(b);
}

static void nodes_come_back_and_go_down_when_a_snapshot_shows_it(void **state)
{
	static const char down[] = ", \"state\": [\"DOWN\"]";
	int64_t start[8];
	struct sl_replay r;

	(void) state;
	record_nodes(0, down, down, JOB(1, 990, 2, 100, PENDING), QUEUE(QUEUED(1)));
	record_nodes(30, "", down, JOB(1, 990, 2, 100, PENDING), QUEUE(QUEUED(1)));
	record_nodes(60, "", "", JOB(1, 990, 2, 100, RUNNING(1055, ON("n1") "," ON("n2"))), "");
	record_nodes(80, "", down, JOB(1, 990, 2, 100, RUNNING(1055, ON("n1") "," ON("n2"))) "," JOB(2, 1075, 2, 9, PENDING),
		     QUEUE(QUEUED(2)));
	record_nodes(90, "", down, JOB(1, 990, 2, 100, RUNNING(1055, ON("n1") "," ON("n2"))) "," JOB(2, 1075, 2, 9, PENDING)
		     "," JOB(3, 1085, 1, 9, PENDING), QUEUE(QUEUED(2) "," QUEUED(3)));
	r = replay_by("fcfs", start);
	assert_int_equal(r.nodes_changed, 4);
	assert_int_equal(start_of(&r, start, 1), 1060);
	assert_int_equal(start_of(&r, start, 2), 1075);	/* two nodes are still there */
	assert_int_equal(start_of(&r, start, 3), 0);	/* and none now */
	sl_replay_close(&r);
}

static void snapshots_of_another_build_are_passed_over_and_counted(void **state)
{
	struct sl_error err = { 0 };
	char old[512] = { 0 };
	struct sl_replay r;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	const void *bytes;
	size_t size = 0;

	(void) state;
	/* a good image whose description is another one */
	assert_int_equal(sl_builder_from_json(b, "t", "{\"meta\": {\"now\": 900}}", 22, &err), 0);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	memcpy(old, bytes, 64);
	((uint32_t *) (void *) old)[1]++;
	put(old, sizeof(old));
	record_fcfs();
	if (open_replay(&r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.unreadable, 1);
	assert_int_equal(r.snapshots, 3);
	sl_replay_close(&r);
	sl_builder_destroy(b);
}

static void nodes_that_go_down_are_counted(void **state)
{
	struct sl_error err = { 0 };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	static const char text[] = "{\"meta\": {\"now\": 1100}, \"nodes\": [{\"name\": \"n1\"}, {\"name\": \"n2\", "
		"\"state\": [\"DOWN\"]}, {\"name\": \"n3\"}, {\"name\": \"n%d\"}]}";
	char with[512];
	const void *bytes;
	struct sl_replay r;
	size_t size;

	(void) state;
	record(0, "", "");
	snprintf(with, sizeof(with), text, 4);
	assert_int_equal(sl_builder_from_json(b, "test", with, strlen(with), &err), 0);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	put(bytes, size);
	assert_int_equal(open_replay(&r, &err), 0);
	assert_int_equal(r.nodes_changed, 1);
	sl_replay_close(&r);
	sl_builder_reset(b);
	snprintf(with, sizeof(with), text, 5);
	assert_int_equal(sl_builder_from_json(b, "test", with, strlen(with), &err), 0);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	put(bytes, size);
	assert_int_equal(open_replay(&r, &err), -1);
	assert_non_null(strstr(err.text, "other nodes than in"));
	sl_replay_close(&r);
	sl_builder_destroy(b);
}

/* -- simulated schedules, recorded ------------------------------------------------- */

static void put_alloc(struct sl_builder *b, const struct sl_sim *sim, const struct sl_sim_job *j,
		      struct sl_job_row *row)
{
	row->alloc.first = sl_builder_rows(b, SL_T_ALLOC);
	for (uint32_t i = 0; i < j->stretches; i++) {
		const struct sl_stretch *stretch = &sl_sim_stretches(sim)[j->first_stretch + i];

		for (uint32_t n = stretch->first; n < stretch->first + stretch->count; n++) {
			struct sl_alloc_row a = sl_alloc_row();

			a.node = n;
			a.cores = stretch->cores;
			sl_builder_append(b, SL_T_ALLOC, &a);
			row->alloc.count++;
		}
	}
}

/* The simulated machine as it was at an instant. */
static void record_at(const struct sl_trial *t, int64_t now)
{
	static const int tables[] = { SL_T_META, SL_T_GRES_KIND, SL_T_NODE, SL_T_PARTITION };
	const uint32_t *map[SL_SNAPSHOT_TABLES] = { 0 };
	const struct sl_snapshot *snap = &t->workload->snap;
	struct sl_error err = { 0 };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct sl_image_copy copy = { .image = &snap->image, .view = snap, .to = b, .map = map };
	struct sl_meta_row meta;
	const void *bytes;
	size_t size = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		sl_image_copy_table(&copy, tables[i]);
	assert_int_equal(sl_builder_row(b, SL_T_META, 0, &meta), 0);
	meta.now = now;
	sl_builder_update(b, SL_T_META, 0, &meta);
	for (uint32_t i = 0; i < snap->job.rows && snap->job.submit_time[i] <= now; i++) {
		const struct sl_sim_job *j = &sl_sim_schedule(t->sim)[i];
		struct sl_queue_row queue = sl_queue_row();
		struct sl_job_row row;

		sl_image_copy_row(&copy, SL_T_JOB, i, &row);
		queue.partition = row.partition;
		if (j->start_s <= now) {
			row.start_time = j->start_s;
			row.state = j->end_s <= now ? SL_JOB_COMPLETE : SL_JOB_RUNNING;
			row.end_time = j->end_s <= now ? j->end_s : 0;
		}
		if (row.state == SL_JOB_RUNNING)
			put_alloc(b, t->sim, j, &row);
		queue.job = sl_builder_append(b, SL_T_JOB, &row);
		if (row.state == SL_JOB_PENDING)
			sl_builder_append(b, SL_T_QUEUE, &queue);
	}
	if (sl_builder_finish(b, &bytes, &size, &err))
		fail_msg("%s", err.text);
	put(bytes, size);
	sl_builder_destroy(b);
}

static void compare(const struct sl_trial *t, const char *policy, uint64_t seed)
{
	const struct sl_snapshot *snap = &t->workload->snap;
	int64_t *start = calloc(snap->job.rows + 1, sizeof(*start));
	struct sl_replay r = replay_by(policy, start);
	uint32_t compared = 0;

	for (uint32_t i = 0; i < r.workload->snap.job.rows; i++) {
		if (r.job[i].ran)
			continue;
		compared++;
		if (start[i] != r.job[i].start_s)
			fail_msg("SL_SEED=%llu: %s: job %u starts at %lld, recorded %lld", (unsigned long long) seed,
				 policy, r.job[i].id, (long long) start[i], (long long) r.job[i].start_s);
	}
	assert_true(compared > 0);
	assert_int_equal(r.cancelled + r.held + r.lost + r.unseen_ends + r.nodes_changed, 0);
	sl_replay_close(&r);
	free(start);
}

static void round_trip(const char *policy, uint64_t seed)
{
	struct sl_trial_options opt = {
		.workload = "synthetic:jobs=60,users=5,load=1.2,width=0.9", .source = { .policy = policy },
		.workload_options = { .machine = "6x4c", .seed = seed }, .sim = { .keep_schedule = true },
	};
	struct sl_error err = { 0 };
	int64_t from, to, step;
	struct sl_trial t;

	make_dir(NULL);
	if (sl_trial_open(&t, &opt, &err) || sl_trial_go(&t, false, &err))
		fail_msg("SL_SEED=%llu: %s", (unsigned long long) seed, err.text);
	/* from an instant at which something happens: no pass is made between two */
	from = t.workload->snap.job.submit_time[seed % 20];
	to = t.result.last_end_s;
	step = (to - from) / 25 + 1;
	for (int64_t now = from; now < to; now += step)
		record_at(&t, now);
	record_at(&t, to);
	compare(&t, policy, seed);
	sl_trial_close(&t);
}

static void a_recorded_simulation_comes_out_again(void **state)
{
	uint64_t first = number_from("SL_SEED", 1), end = first + rounds_of(12);

	(void) state;
	for (uint64_t i = first; i < end; i++) {
		round_trip("easy", i);
		round_trip("fcfs", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_policy_that_decided_decides_the_same_again, make_dir),
		cmocka_unit_test_setup(another_policy_starts_what_would_have_fitted, make_dir),
		cmocka_unit_test_setup(the_order_is_that_of_the_priorities_at_the_time, make_dir),
		cmocka_unit_test_setup(a_job_that_was_held_comes_when_it_was_let_go, make_dir),
		cmocka_unit_test_setup(a_job_that_came_and_went_between_two_snapshots_is_there, make_dir),
		cmocka_unit_test_setup(what_never_ran_is_left_out_and_counted, make_dir),
		cmocka_unit_test_setup(tasks_of_an_array_are_jobs_whether_they_ran_or_not, make_dir),
		cmocka_unit_test_setup(a_requeued_job_is_one_for_each_time_it_ran, make_dir),
		cmocka_unit_test_setup(a_reservation_holds_until_it_was_deleted, make_dir),
		cmocka_unit_test_setup(other_nodes_are_refused_and_too_few_snapshots_too, make_dir),
		cmocka_unit_test_setup(nodes_come_back_and_go_down_when_a_snapshot_shows_it, make_dir),
		cmocka_unit_test_setup(snapshots_of_another_build_are_passed_over_and_counted, make_dir),
		cmocka_unit_test_setup(nodes_that_go_down_are_counted, make_dir),
		cmocka_unit_test_setup(a_recorded_simulation_comes_out_again, make_dir),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
