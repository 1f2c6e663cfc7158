/* SPDX-License-Identifier: MIT */
/*
 * Jobs that are stopped for others in a simulation: cases worked by hand, what the checker of schedules makes of them, and
 * random workloads of two tiers, of whose runs every second is accounted for.  SL_SEED and SL_ROUNDS choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/audit.h"
#include "sim/trial.h"
#include "t/random.h"

static char dir[] = "/tmp/test_stops.XXXXXX";
static char workload_path[64], site_path[64];

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int make_directory(void **state)
{
	(void) state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(workload_path, sizeof(workload_path), "%s/w.json", dir);
	snprintf(site_path, sizeof(site_path), "%s/site.lua", dir);
	return 0;
}

static int remove_directory(void **state)
{
	(void) state;
	unlink(workload_path);
	unlink(site_path);
	return rmdir(dir);
}

#define OPTIONS(policy_, ...) (&(struct sl_trial_options) {							\
	.workload = workload_path, .source = { .policy = policy_, .site = policy_ ? NULL : site_path },	\
	.workload_options = { .machine = "1x4c" }, .sim = { .keep_schedule = true, .check = true, __VA_ARGS__ } })

/* The jobs under a site with that list of policies; t is to be closed. */
static void simulate(struct sl_trial *t, const char *policies, const char *jobs, const struct sl_trial_options *opt)
{
	struct sl_error err = { 0 };
	static char text[65536];

	snprintf(text, sizeof(text), "local sched = require \"sched\"\nreturn sched.site { default = { %s } }\n", policies);
	write_file(site_path, text);
	snprintf(text, sizeof(text), "{\"jobs\": [%s]}", jobs);
	write_file(workload_path, text);
	if (sl_trial_open(t, opt, &err) < 0 || sl_trial_go(t, true, &err) < 0)
		fail_msg("%s", err.text);
}

#define LOW(id, submit, cores, run, ...) \
	"{\"id\": " #id ", \"submit_time\": " #submit ", \"min_cpus\": " #cores ", \"num_tasks\": " #cores ", \"time_limit\": 10000, "	\
	"\"runtime_s\": " #run ", \"qos\": \"low\", \"flags\": [\"REQUEUE\"]" __VA_ARGS__ "}"
#define REQUEUED ", \"preempt_mode\": \"requeue\""
#define HIGH(id, submit, cores, run, ...) \
	"{\"id\": " #id ", \"submit_time\": " #submit ", \"min_cpus\": " #cores ", \"num_tasks\": " #cores ", \"time_limit\": 10000, "	\
	"\"runtime_s\": " #run ", \"qos\": \"high\", \"priority\": 10, \"preempts\": \"QOS=low\", \"flags\": [\"MAY_PREEMPT\"]" __VA_ARGS__ "}"

#define PREEMPT "sched.preempt {}, \"easy\""

static void assert_run(const struct sl_trial *t, uint32_t row, int64_t start, int64_t end)
{
	const struct sl_sim_job *j = &sl_sim_schedule(t->sim)[row];

	if (j->start_s - t->workload->origin_s != start || j->end_s - t->workload->origin_s != end)
		fail_msg("job %u: from %lld to %lld, expected %lld to %lld", row + 1, (long long) (j->start_s - t->workload->origin_s),
			 (long long) (j->end_s - t->workload->origin_s), (long long) start, (long long) end);
}

static const struct sl_sim_stop *only_stop(const struct sl_trial *t)
{
	const struct sl_schedule s = sl_sim_whole_schedule(t->sim);

	assert_int_equal(s.stops, 1);
	assert_int_equal(t->result.stopped.stops, 1);
	return s.stop;
}

static void a_requeued_job_begins_again_at_its_last_checkpoint(void **state)
{
	struct sl_trial t;
	const struct sl_sim_stop *stop;

	(void) state;
	simulate(&t, PREEMPT, LOW(1, 0, 4, 900, REQUEUED ", \"comment\": \"checkpoint=2\"") "," HIGH(2, 300, 2, 100), OPTIONS(NULL));
	stop = only_stop(&t);
	assert_run(&t, 1, 301, 401);
	assert_run(&t, 0, 401, 401 + 900 - 240);
	assert_int_equal(stop->kept_s, 240);
	assert_int_equal(stop->lost_s, 61);
	assert_int_equal(stop->preemptor, 1);
	assert_float_equal(t.result.stopped.lost_core_s, 61 * 4, 1e-9);
	assert_float_equal(t.result.wait_s.max, 1, 1e-9);	/* (the first job waited for nobody) */
	assert_int_equal(t.result.holds, 1);
	assert_int_equal(t.result.holds_failed, 0);
	sl_trial_close(&t);
}

static void without_checkpoints_all_is_to_be_done_again(void **state)
{
	struct sl_trial t;

	(void) state;
	simulate(&t, PREEMPT, LOW(1, 0, 4, 900, REQUEUED) "," HIGH(2, 300, 2, 100), OPTIONS(NULL));
	assert_run(&t, 0, 401, 401 + 900);
	assert_int_equal(only_stop(&t)->lost_s, 301);
	sl_trial_close(&t);
}

static void a_cancelled_job_has_ended_and_all_of_it_is_lost(void **state)
{
	struct sl_trial t;

	(void) state;
	simulate(&t, PREEMPT, LOW(1, 0, 4, 900, ", \"preempt_mode\": \"cancel\"") "," HIGH(2, 300, 2, 100), OPTIONS(NULL));
	assert_run(&t, 0, 0, 301);
	assert_int_equal(t.result.unfinished, 0);
	assert_int_equal(t.result.stopped.cancels, 1);
	assert_int_equal(only_stop(&t)->lost_s, 301);
	sl_trial_close(&t);
}

static void the_place_is_free_when_the_grace_time_is_over(void **state)
{
	struct sl_trial t;

	(void) state;
	simulate(&t, PREEMPT, LOW(1, 0, 4, 900, REQUEUED ", \"grace_time\": 60") "," HIGH(2, 300, 2, 100), OPTIONS(NULL));
	assert_int_equal(only_stop(&t)->told_s - t.workload->origin_s, 300);
	assert_run(&t, 1, 360, 460);
	sl_trial_close(&t);
}

static void who_ends_by_itself_within_its_grace_time_loses_nothing(void **state)
{
	struct sl_trial t;

	(void) state;
	simulate(&t, PREEMPT, LOW(1, 0, 4, 330, REQUEUED ", \"grace_time\": 60") "," HIGH(2, 300, 2, 100), OPTIONS(NULL));
	assert_int_equal(t.result.stopped.stops, 0);
	assert_run(&t, 0, 0, 330);
	assert_run(&t, 1, 330, 430);
	assert_int_equal(t.result.holds, 1);
	sl_trial_close(&t);
}

/* Both jobs are stopped for job 3.  The cores of job 2 are free from 301 on, those of job 1 from 360 on: a short job that would
 * end before that, as EASY backfill has it, does not get them. */
static void nobody_slips_into_a_place_that_is_held(void **state)
{
	static const char short_job[] = "{\"id\": 4, \"submit_time\": 305, \"min_cpus\": 1, \"num_tasks\": 1, \"time_limit\": 10, \"runtime_s\": 10}";
	char jobs[2048];
	struct sl_trial t;

	(void) state;
	snprintf(jobs, sizeof(jobs), "%s,%s,%s,%s", LOW(1, 0, 2, 900, REQUEUED ", \"grace_time\": 60"), LOW(2, 0, 2, 900, REQUEUED),
		 HIGH(3, 300, 4, 100), short_job);
	simulate(&t, PREEMPT, jobs, OPTIONS(NULL));
	assert_int_equal(t.result.stopped.stops, 2);
	assert_run(&t, 2, 360, 460);
	assert_int_equal(sl_sim_schedule(t.sim)[3].start_s - t.workload->origin_s >= 460, true);
	sl_trial_close(&t);
}

/* The queue is in the order of priority, as slurmctld's is. */
static void who_has_more_priority_is_first_whenever_it_came(void **state)
{
	struct sl_trial t;

	(void) state;
	simulate(&t, "\"fcfs\"", LOW(1, 0, 4, 100, REQUEUED) "," LOW(2, 1, 4, 100) "," HIGH(3, 2, 4, 100), OPTIONS(NULL));
	assert_run(&t, 2, 100, 200);
	assert_run(&t, 1, 200, 300);
	sl_trial_close(&t);
}

static void a_decision_that_takes_a_while_stops_others_a_while_later(void **state)
{
	struct sl_trial t;

	(void) state;
	simulate(&t, PREEMPT, LOW(1, 0, 4, 900, REQUEUED) "," HIGH(2, 300, 2, 100), OPTIONS(NULL, .interval_s = 60, .latency_s = 5));
	assert_int_equal(only_stop(&t)->told_s - t.workload->origin_s, 305);
	assert_int_equal(sl_sim_schedule(t.sim)[1].start_s - t.workload->origin_s, 365);
	sl_trial_close(&t);
}

static void a_policy_may_requeue_by_its_own_word(void **state)
{
	struct sl_trial t;

	(void) state;
	simulate(&t, "{ name = \"mine\", api = 1, decide = function(cluster, plan) for job in cluster:queue() do if not plan:start(job) and "
		 "job.may_preempt then for _, other in ipairs(cluster.running) do if other.restarts == 0 then plan:requeue(other) end end "
		 "end end end }", LOW(1, 0, 4, 900, REQUEUED) "," HIGH(2, 300, 2, 100), OPTIONS(NULL));
	assert_int_equal(only_stop(&t)->preemptor, SL_NONE);
	assert_run(&t, 1, 301, 401);
	sl_trial_close(&t);
}

#define SUSPENDED ", \"preempt_mode\": \"suspend\""

static void a_suspended_job_goes_on_with_the_rest_of_its_time(void **state)
{
	struct sl_trial t;
	const struct sl_sim_stop *stop;

	(void) state;
	simulate(&t, PREEMPT, LOW(1, 0, 4, 900, SUSPENDED ", \"grace_time\": 60") "," HIGH(2, 300, 2, 100), OPTIONS(NULL));
	stop = only_stop(&t);
	assert_run(&t, 1, 301, 401);
	assert_run(&t, 0, 401, 401 + 900 - 301);
	assert_int_equal(stop->mode, SL_STOP_SUSPEND);
	assert_int_equal(stop->lost_s, 0);
	assert_float_equal(t.result.stopped.lost_core_s, 0, 1e-9);
	assert_float_equal(t.result.wait_s.max, 1, 1e-9);
	sl_trial_close(&t);
}

/* Two cores are free while it sleeps: job 3, which cannot preempt it, waits all the same; job 4 may have them. */
static void nobody_slips_into_the_cores_of_a_suspended_job(void **state)
{
	char jobs[2048];
	struct sl_trial t;

	(void) state;
	snprintf(jobs, sizeof(jobs), "%s,%s,%s", LOW(1, 0, 4, 900, SUSPENDED), HIGH(2, 300, 2, 100), LOW(3, 310, 1, 20));
	simulate(&t, PREEMPT, jobs, OPTIONS(NULL));
	assert_run(&t, 0, 401, 1000);
	assert_run(&t, 2, 1000, 1020);
	sl_trial_close(&t);
}

/* Its walltime, 10,000 s, ends it; the time for which it slept does not count. */
static void the_walltime_of_a_suspended_job_stands_still(void **state)
{
	struct sl_trial t;

	(void) state;
	simulate(&t, PREEMPT, LOW(1, 0, 4, 20000, SUSPENDED) "," HIGH(2, 300, 2, 100), OPTIONS(NULL));
	assert_run(&t, 0, 401, 10100);
	sl_trial_close(&t);
}

static void who_would_keep_memory_is_not_suspended(void **state)
{
	struct sl_trial t;
	struct sl_trial_options opt = *OPTIONS(NULL);

	(void) state;
	opt.workload_options.machine = "1x4c8000m";
	simulate(&t, PREEMPT, LOW(1, 0, 4, 900, SUSPENDED ", \"memory_per_node\": 1000") "," HIGH(2, 300, 2, 100), &opt);
	assert_int_equal(t.result.stopped.stops, 0);
	assert_run(&t, 0, 0, 900);
	assert_run(&t, 1, 900, 1000);
	sl_trial_close(&t);
}

/* -- the checker of schedules ------------------------------------------------------- */

struct wrong {
	int64_t again;			/* job 1 runs from 0 to 10, and again from then on */
	bool is_stopped;
	struct sl_sim_stop stop;
	const char *text;		/* NULL: nothing is wrong */
};

static void a_job_runs_twice_only_if_it_was_stopped(void **state)
{
	const struct sl_sim_stop fine = { .job = 0, .preemptor = 1, .mode = SL_STOP_REQUEUE, .end_s = 10 };
	struct wrong wrong[] = {
		{ 20, true, fine, NULL }, { 20, false, fine, "ran twice" }, { 5, true, fine, "while its run before goes on" },
		{ 20, true, fine, "although it was cancelled" }, { 20, true, fine, "which may not preempt it" },
		{ 20, true, fine, "was not yet submitted" }, { 20, true, fine, "itself" }, { 20, true, fine, NULL },
	};
	struct sl_workload *w;
	struct sl_cluster *c;

	(void) state;
	wrong[3].stop.mode = SL_STOP_CANCEL;
	wrong[4].stop.preemptor = 2;
	wrong[5].stop.preemptor = 3;
	wrong[6].stop.preemptor = 0;
	wrong[7].stop.preemptor = SL_NONE;
	write_file(workload_path, "{\"jobs\": [" LOW(1, 0, 1, 100, REQUEUED) "," HIGH(2, 0, 1, 10) "," LOW(3, 0, 1, 10, REQUEUED) ","
		   HIGH(4, 10, 1, 10) "]}");
	w = sl_workload_load(workload_path, &(struct sl_workload_options) { .machine = "3x1c" }, NULL);
	assert_non_null(w);
	c = sl_cluster_create(&w->snap, NULL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct sl_audit *a = sl_audit_create(c, NULL);
		struct sl_place place = { .node = 0, .cores = 1, .tasks = 1 };
		struct sl_sim_stop stop = wrong[i].stop;
		struct sl_error err = { 0 };
		int rc;

		assert_false(sl_audit_job(a, (struct sl_entry) { .job = 0 }, NULL, w->origin_s, w->origin_s + 100, &place, 1, 0, false, &err));
		stop.start_s += w->origin_s;
		stop.end_s += w->origin_s;
		if (wrong[i].is_stopped)
			sl_audit_stopped(a, &stop);
		place.node = 1;
		assert_false(sl_audit_job(a, (struct sl_entry) { .job = 0 }, NULL, w->origin_s + wrong[i].again,
					  w->origin_s + wrong[i].again + 10, &place, 1, 0, false, &err));
		rc = sl_audit_check(a, &err);
		if ((rc == 0) != !wrong[i].text || (rc && !strstr(err.text, wrong[i].text)))
			fail_msg("%zu: \"%s\", expected \"%s\"", i, err.text, wrong[i].text ? wrong[i].text : "");
		sl_audit_destroy(a);
	}
	sl_cluster_destroy(c);
	sl_workload_destroy(w);
}

static void a_suspended_job_goes_on_where_it_was(void **state)
{
	static const struct { uint32_t job, node, again; int64_t seconds; const char *text; } cases[] = {
		{ 0, 0, 20, 90, NULL }, { 0, 1, 20, 90, "goes on elsewhere" }, { 0, 0, 20, 91, "its limit is" }, { 2, 0, 20, 10, "which it may not be" },
		{ 0, 0, 9, 10, "while its run before goes on" },
	};
	struct sl_workload *w;
	struct sl_cluster *c;

	(void) state;
	write_file(workload_path, "{\"jobs\": [{\"id\": 1, \"submit_time\": 0, \"min_cpus\": 1, \"num_tasks\": 1, \"time_limit\": 100, \"runtime_s\": 100, "
		   "\"qos\": \"low\"" SUSPENDED "}," HIGH(2, 0, 1, 10) "," LOW(3, 0, 1, 10, REQUEUED) "]}");
	w = sl_workload_load(workload_path, &(struct sl_workload_options) { .machine = "3x1c" }, NULL);
	assert_non_null(w);
	c = sl_cluster_create(&w->snap, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_audit *a = sl_audit_create(c, NULL);
		struct sl_place place = { .node = 0, .cores = 1, .tasks = 1 };
		const struct sl_sim_stop stop = { .job = cases[i].job, .preemptor = 1, .mode = SL_STOP_SUSPEND, .start_s = w->origin_s,
						  .end_s = w->origin_s + 10 };
		int64_t again = w->origin_s + cases[i].again;
		struct sl_error err = { 0 };
		int rc;

		assert_false(sl_audit_job(a, (struct sl_entry) { .job = cases[i].job }, NULL, w->origin_s, w->origin_s + 100, &place, 1, 0, false, &err));
		sl_audit_stopped(a, &stop);
		place.node = cases[i].node;
		assert_false(sl_audit_resumed(a, cases[i].job, again, again + cases[i].seconds, &place, 1, &err));
		rc = sl_audit_check(a, &err);
		if ((rc == 0) != !cases[i].text || (rc && !strstr(err.text, cases[i].text)))
			fail_msg("%zu: \"%s\", expected \"%s\"", i, err.text, cases[i].text ? cases[i].text : "");
		sl_audit_destroy(a);
	}
	sl_cluster_destroy(c);
	sl_workload_destroy(w);
}

/* -- at random ------------------------------------------------------------------------ */

static void put_random_jobs(char *text, size_t size)
{
	uint32_t jobs = 2 + below(30);
	size_t n = 0;

	for (uint32_t i = 1; i <= jobs; i++) {
		uint32_t cores = 1 + below(6);
		bool high = one_in(3);

		n += (size_t) snprintf(text + n, size - n, "%s{\"id\": %u, \"submit_time\": %u, \"min_cpus\": %u, \"num_tasks\": %u, "
			"\"time_limit\": %u, \"runtime_s\": %u, \"grace_time\": %u, \"comment\": \"%s\", ", i > 1 ? "," : "", i, below(2000),
			cores, cores, 600 + below(600), 1 + below(900), one_in(2) ? 0 : below(100), one_in(2) ? "checkpoint=1" : "");
		n += (size_t) snprintf(text + n, size - n, "%s}", high ?
			"\"qos\": \"high\", \"priority\": 10, \"preempts\": \"QOS=low\", \"flags\": [\"MAY_PREEMPT\"]" :
			one_in(5) ? "\"qos\": \"low\", \"flags\": [\"REQUEUE\"], \"preempt_mode\": \"cancel\"" :
			one_in(5) ? "\"qos\": \"low\"" : one_in(3) ? "\"qos\": \"low\", \"preempt_mode\": \"suspend\"" : "\"qos\": \"low\", \"flags\": [\"REQUEUE\"], \"preempt_mode\": \"requeue\"");
		assert_true(n < size);
	}
}

/* Each job ran for as long as its work takes, and for what was lost; places that were held were used or given up. */
static void account_for_all(const struct sl_trial *t, const char *what)
{
	const struct sl_schedule s = sl_sim_whole_schedule(t->sim);
	int64_t *ran = calloc(s.jobs, sizeof(*ran)), *lost = calloc(s.jobs, sizeof(*lost));
	bool *cancelled = calloc(s.jobs, sizeof(*cancelled));

	for (uint32_t i = 0; i < s.stops; i++) {
		ran[s.stop[i].job] += s.stop[i].end_s - s.stop[i].start_s;
		lost[s.stop[i].job] += s.stop[i].lost_s;
		cancelled[s.stop[i].job] |= s.stop[i].mode == SL_STOP_CANCEL;
		if (s.stop[i].preemptor == SL_NONE || t->workload->snap.job.preempt_mode[s.stop[i].job] == SL_STOP_NONE)
			fail_msg("%s: job row %u was stopped", what, s.stop[i].job);
	}
	for (uint32_t i = 0; i < s.jobs; i++) {
		int64_t work = t->workload->runtime_s[i], last = s.job[i].end_s - s.job[i].start_s;

		if (cancelled[i] ? ran[i] != lost[i] : ran[i] + last != work + lost[i])
			fail_msg("%s: job row %u: ran %lld + %lld s, its work is %lld, lost %lld", what, i, (long long) ran[i],
				 (long long) last, (long long) work, (long long) lost[i]);
	}
	if (t->result.unfinished || t->result.holds_failed > t->result.holds)
		fail_msg("%s: %llu jobs never ended", what, (unsigned long long) t->result.unfinished);
	free(ran);
	free(lost);
	free(cancelled);
}

static void every_second_of_random_runs_is_work_or_lost(void **state)
{
	static const char *const policy[] = { "easy", "conservative", "fcfs", "critical", "predictive" };
	uint64_t seed = number_from("SL_SEED", 1), runs = rounds_of(300), stops = 0;
	static char jobs[32768];

	(void) state;
	for (uint64_t i = seed; i < seed + runs; i++) {
		struct sl_trial t;
		char what[64], policies[96];

		random_state = i;
		put_random_jobs(jobs, sizeof(jobs));
		snprintf(what, sizeof(what), "SL_SEED=%llu %s", (unsigned long long) i, policy[i % 5]);
		snprintf(policies, sizeof(policies), "sched.preempt {}, \"%s\"", policy[i % 5]);
		simulate(&t, policies, jobs, &(struct sl_trial_options) { .workload = workload_path, .source = { .site = site_path },
			 .workload_options = { .machine = i % 2 ? "3x4c" : "1x8c" }, .sim = { .keep_schedule = true, .check = true,
			 .interval_s = i % 3 ? 0 : 30, .latency_s = i % 6 ? 0 : 7 } });
		account_for_all(&t, what);
		stops += t.result.stopped.stops;
		sl_trial_close(&t);
	}
	print_message("# %llu workloads, %llu runs were stopped\n", (unsigned long long) runs, (unsigned long long) stops);
	assert_true(runs < 100 || stops > runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_requeued_job_begins_again_at_its_last_checkpoint),
		cmocka_unit_test(without_checkpoints_all_is_to_be_done_again),
		cmocka_unit_test(a_cancelled_job_has_ended_and_all_of_it_is_lost),
		cmocka_unit_test(the_place_is_free_when_the_grace_time_is_over),
		cmocka_unit_test(who_ends_by_itself_within_its_grace_time_loses_nothing),
		cmocka_unit_test(nobody_slips_into_a_place_that_is_held),
		cmocka_unit_test(who_has_more_priority_is_first_whenever_it_came),
		cmocka_unit_test(a_decision_that_takes_a_while_stops_others_a_while_later),
		cmocka_unit_test(a_policy_may_requeue_by_its_own_word),
		cmocka_unit_test(a_suspended_job_goes_on_with_the_rest_of_its_time),
		cmocka_unit_test(nobody_slips_into_the_cores_of_a_suspended_job),
		cmocka_unit_test(the_walltime_of_a_suspended_job_stands_still),
		cmocka_unit_test(who_would_keep_memory_is_not_suspended),
		cmocka_unit_test(a_job_runs_twice_only_if_it_was_stopped),
		cmocka_unit_test(a_suspended_job_goes_on_where_it_was),
		cmocka_unit_test(every_second_of_random_runs_is_work_or_lost),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
