/* SPDX-License-Identifier: MIT */
#include "t/sim/both.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/random.h"

static char dir[] = "/tmp/test_pool.XXXXXX";
static char path[64];

void put(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->n += (size_t) vsnprintf(t->buf + t->n, sizeof(t->buf) - t->n, fmt, ap);
	va_end(ap);
	assert_true(t->n < sizeof(t->buf));
}

const char *file(const char *text)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/w.json", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return path;
}

const char *both_path(void)
{
	return path;
}

/* -- one simulation, and the other --------------------------------------------- */

/* Who looks at plans sees them all: the policy is asked each time. */
static int look_at_plan(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err)
{
	bool *promised = arg;

	(void) c; (void) err;
	*promised |= sl_plan_promises(p)->rule != SL_RULE_NONE;
	return 0;
}

static void read_schedule(struct outcome *o, const struct sl_trial *t)
{
	const struct sl_stretch *stretch = sl_sim_stretches(t->sim);
	struct sl_history *history = sl_sim_history(t->sim, NULL);
	const struct sl_snapshot *snap = &t->workload->snap;

	assert_non_null(history);
	sl_history_begin(history);
	o->jobs = snap->job.rows;
	assert_true(o->jobs <= MOST_JOBS);
	memcpy(o->job, sl_sim_schedule(t->sim), o->jobs * sizeof(*o->job));
	for (uint32_t i = 0; i < o->jobs; i++) {
		const struct sl_history_query q = { .user = sl_snapshot_str(snap, snap->job.user[i]), .now = INT64_MAX,
			.last = MOST_JOBS, .most_cpus = INT64_MAX, .most_limit = INT64_MAX };
		const struct sl_past_run *const *run;

		if (o->job[i].stretches)
			o->cores[i] = stretch[o->job[i].first_stretch].cores;
		o->job[i].first_stretch = 0;
		if (*q.user)
			assert_return_code(sl_history_ask(history, &q, &run, &o->runs[i], NULL), 0);
	}
}

struct outcome simulate(const struct sl_trial_options *opt, bool ask_each_time)
{
	struct sl_trial_options o = *opt;
	struct outcome out = { .rc = -1 };
	struct sl_trial t;

	o.sim.keep_schedule = o.sim.check = true;
	if (ask_each_time) {
		o.sim.after_pass = look_at_plan;
		o.sim.after_pass_arg = &out.promised;
	}
	if (!sl_trial_open(&t, &o, &out.err)) {
		out.rc = sl_trial_go(&t, true, &out.err);
		assert_return_code(sl_sim_result(t.sim, &out.result, NULL), 0);
		out.asked = out.result.asked;
		out.result.asked = 0;
		out.result.cycle_us_p50 = out.result.cycle_us_p99 = out.result.cycle_us_max = 0;
		read_schedule(&out, &t);
	}
	sl_trial_close(&t);
	return out;
}

static void assert_same(const struct outcome *a, const struct outcome *b, const char *what)
{
	if (a->rc != b->rc || strcmp(a->err.text, b->err.text))
		fail_msg("%s: %d %s, expected %d %s (%s)", what, a->rc, a->err.text, b->rc, b->err.text, path);
	for (uint32_t i = 0; i < b->jobs; i++)
		if (memcmp(&a->job[i], &b->job[i], sizeof(a->job[i])) || a->cores[i] != b->cores[i] || a->runs[i] != b->runs[i])
			fail_msg("%s: job row %u: from %lld to %lld with %u cores, expected %lld to %lld with %u (%s)", what, i,
				 (long long) a->job[i].start_s, (long long) a->job[i].end_s, a->cores[i],
				 (long long) b->job[i].start_s, (long long) b->job[i].end_s, b->cores[i], path);
	if (memcmp(&a->result, &b->result, sizeof(a->result)))
		fail_msg("%s: %llu cycles, expected %llu; or other figures (%s)", what, (unsigned long long) a->result.cycles,
			 (unsigned long long) b->result.cycles, path);
}

struct outcome simulate_both(const struct sl_trial_options *opt, const char *what)
{
	struct outcome by_pool = simulate(opt, false), asked = simulate(opt, true);

	assert_same(&by_pool, &asked, what);
	by_pool.promised = asked.promised;
	return by_pool;
}

/* -- at random --------------------------------------------------------------------- */

/* Jobs that are more than a count of cores: few, so that there is a pool before and after them. */
static void put_oddity(struct text *t)
{
	static const char *const more[] = {
		"\"flags\": [\"CONTIGUOUS\"]", "\"flags\": [\"EXCLUSIVE\"]", "\"shapes\": [{\"num_tasks\": 1}]", "\"time_min\": 5",
		"\"features\": \"x\"", "\"ntasks_per_node\": 2", "\"array_job_id\": 1, \"array_max_running\": 1",
		"\"ntasks_per_core\": 1", "\"pn_min_cpus\": 3", "\"flags\": [\"OVERCOMMIT\"]", "\"max_cpus\": 2", "\"min_nodes\": 2",
		"\"begin_time\": 1000200", "\"deadline\": 1000400", "\"flags\": [\"OVERSUBSCRIBE\"]", "\"req_nodes\": \"n1\"",
	};

	put(t, ", %s", more[below(sizeof(more) / sizeof(more[0]))]);
}

static void put_job(struct text *t, uint32_t id, uint32_t cores, uint32_t span, bool oddities)
{
	int64_t run = between(1, one_in(3) ? 20 : 300), limit = run + (one_in(3) ? 0 : between(-50, 300));
	uint32_t tasks = 1 + below(one_in(5) ? cores + 1 : cores / 2 + 1), cpus = one_in(6) ? 2 : 1;

	put(t, "{\"id\": %u, \"submit_time\": %u, \"runtime_s\": %lld, \"user\": \"u%u\", \"account\": \"a%u\", \"min_cpus\": %u",
	    id, 1000000 + below(span), (long long) run, id % 7, id % 3, tasks * cpus);
	if (one_in(5))
		put(t, ", \"cpus_per_task\": %u", cpus);
	else
		put(t, ", \"num_tasks\": %u, \"cpus_per_task\": %u", tasks, cpus);
	if (!oddities || !one_in(20))
		put(t, ", \"time_limit\": %lld", (long long) (limit > 0 ? limit : 1));
	if (oddities && one_in(12))
		put_oddity(t);
	put(t, "}");
}

void put_workload(struct text *t, uint32_t most)
{
	uint32_t jobs = 1 + below(one_in(4) ? most : most < 40 ? most : 40), cores = 1 + below(one_in(2) ? 8 : 40);
	uint32_t span = 1 + below(one_in(4) ? 30 : 60 * jobs);
	bool oddities = one_in(4);

	t->n = 0;
	put(t, "{\"meta\": {\"now\": 1000000}, \"nodes\": [{\"name\": \"n1\", \"cores\": %u, \"threads\": %u}], \"partitions\": ["
	    "{\"name\": \"all\", \"nodes\": \"n1\", \"flags\": [\"UP\", \"DEFAULT\"]%s}], \"jobs\": [", cores,
	    one_in(5) ? 2 : 1, one_in(8) ? ", \"max_time\": 250" : "");
	for (uint32_t i = 1; i <= jobs; i++) {
		put_job(t, i, cores, span, oddities);
		put(t, i < jobs ? ", " : "]}");
	}
}

int both_set_up(void **state)
{
	(void) state;
	return mkdtemp(dir) ? 0 : -1;
}

int both_tear_down(void **state)
{
	if (failing_seed)
		return say_seed(state);
	if (*path)
		unlink(path);
	return rmdir(dir);
}
