/* SPDX-License-Identifier: MIT */
/* What hostile and careless policies do to the bindings: each is refused, by name, and the
 * cycle and the state stay whole.  t/attack tries all of it; here are the cases worked by
 * hand, one for each thing that was found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "check.h"
#include "script.h"

static struct build *jobs_and_an_array(void)
{
	struct build *b = build_create("4x4c");
	struct sl_job_row array;

	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .ends_in = 3600 });
	array = build_row(b, (struct build_job) { .id = 2, .limit = 3600, .tasks = 1 });
	array.array_job_id = 2;
	array.array_pending = 3;
	build_append(b, &array);
	for (uint32_t id = 10; id < 14; id++)
		build_pending(b, (struct build_job) { .id = id, .limit = 3600, .tasks = 1 });
	return b;
}

/* Let a policy of this text decide once on each of the snapshots (NULL ends them); the error
 * of the last, or of loading. */
static struct sl_error decide(const char *text, struct build *const *build, const struct sl_limits *limits)
{
	const struct sl_bundle_text module = { "policy", text };
	struct sl_bundle_source src = { .policy = "policy", .text = &module, .texts = 1 };
	struct sl_error err = { 0 };
	struct sl_bundle *set = sl_bundle_load(&src, NULL, NULL, &err);
	struct sl_script *s;

	if (!set)
		return err;
	s = sl_script_create(set, NULL, &err);
	assert_non_null(s);
	for (; *build; build++) {
		struct sl_cluster *c = build_cluster(*build);
		struct sl_plan *p = sl_plan_create(c, &err);
		struct sl_plan_figures fig = { 0 };
		char *trace;

		assert_non_null(p);
		err = (struct sl_error) { 0 };
		sl_script_decide(s, c, p, limits, &fig, &trace, &err);
		free(trace);
		sl_plan_destroy(p);
		sl_cluster_destroy(c);
	}
	sl_script_destroy(s);
	sl_bundle_destroy(set);
	return err;
}

/* The policy's text, which begins with M, fails with these words; NULL: it does not fail.  The
 * probe of the load has no jobs: what needs some says so. */
static void told(const char *text, const char *words)
{
	struct build *b = jobs_and_an_array();
	struct sl_error err = decide(text, (struct build *[]) { b, NULL }, NULL);

	if (words ? !strstr(err.text, words) : err.code)
		fail_msg("%s", err.text);
	build_destroy(b);
}

#define DECIDE(body) "local M = { api = 1 }\nfunction M.decide(cluster, plan)\n" \
	"if cluster.name == 'probe' then return end\n" body "\nend\nreturn M"

static void an_iteration_is_not_advanced_by_what_it_asks(void **state)
{
	(void) state;
	/* the array comes again, and each time that it is asked about it comes again */
	told("local M, step, started, most = { api = 1 }, nil, false, 100\n"
	     "function M.allow(job, cluster)\n"
	     "  if not started or most == 0 then return true end\n"
	     "  most = most - 1\n"
	     "  step()\n"
	     "  return 'later', 'not yet'\n"
	     "end\n"
	     "function M.decide(cluster, plan)\n"
	     "  if cluster.name == 'probe' then return end\n"
	     "  step = cluster:queue()\n"
	     "  for job in step do started = plan:start(job) end\n"
	     "end\nreturn M", "this iteration over the queue is at work");
	told("local M, step = { api = 1 }, nil\n"
	     "function M.admit(job, cluster) if step then step() end return true end\n"
	     "function M.decide(cluster, plan)\n"
	     "  if cluster.name == 'probe' then return end\n"
	     "  step = cluster:queue()\n"
	     "  for job in step do end\n"
	     "end\nreturn M", "this iteration over the queue is at work");
	/* one of its own is another matter */
	told("local M, seen = { api = 1 }, 0\n"
	     "function M.rank(job, cluster) for other in cluster:queue() do seen = seen + 1 end return 1 end\n"
	     "function M.decide(cluster, plan)\n"
	     "  for job in cluster:queue() do for other in cluster:queue() do plan:start(other) end end\n"
	     "end\nreturn M", NULL);
}

/* Quick while it is refused; with the memory and time of all those copies, else. */
static void lists_are_no_longer_than_what_they_list(void **state)
{
	(void) state;
	told(DECIDE("local job = cluster:queue()() local t = {} for i = 1, 1e6 do t[i] = job end cluster:bids(t)"),
	     "expected each queued job once at most: a list of 1000000, and 5 are queued");
	told(DECIDE("local job = cluster:queue()() local t = {} for i = 1, 1e6 do t[i] = job end cluster:window(t)"),
	     "expected each queued job once at most: a list of 1000000, and 5 are queued");
	told(DECIDE("local b = cluster:bids(cluster:queue()())[1] local t = {} for i = 1, 1e6 do t[i] = b end\n"
		    "cluster:overlaps(t)"), "expected each bid once at most: a list of 1000000, and ");
	/* #t of a table whose keys are powers of two is the last of them */
	told(DECIDE("local t = {} for k = 61, 0, -1 do t[1 << k] = cluster:queue()() end cluster:bids(t)"),
	     "expected each queued job once at most: a list of ");
	told(DECIDE("local jobs = {} for job in cluster:queue() do jobs[#jobs + 1] = job end\n"
		    "assert(#cluster:overlaps(cluster:bids(jobs)) > 0 and #cluster:window(jobs).jobs == #jobs)"), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_iteration_is_not_advanced_by_what_it_asks),
		cmocka_unit_test(lists_are_no_longer_than_what_they_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
