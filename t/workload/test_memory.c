/* SPDX-License-Identifier: MIT */
/*
 * Logs when memory runs out: every allocation is made to fail in turn.  Each time the failure is reported as such, and
 * nothing leaks (the sanitizers look).  What the C library allocates for itself is not reached.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "t/failing_malloc.h"
#include "t/workload/load.h"

/* Load it while the nth allocation fails, for n = 0, 1, ... until none does.  A note that cannot be kept is counted. */
static void fail_in_turn(const char *name, const struct sl_workload_options *opt)
{
	for (long n = 0, left = -1; left < 0; n++) {
		struct sl_error err = { .code = SL_OK };
		struct sl_workload *w;

		assert_true(n < 100000);
		countdown = n;
		w = sl_workload_load(name, opt, &err);
		left = countdown;
		countdown = -1;
		if (left < 0 && w && !w->notes.dropped)
			fail_msg("allocation %ld failed and nobody noticed", n);
		if (!w && (left >= 0 || err.code != SL_ENOMEM))
			fail_msg("allocation %ld: code %d, %s", n, err.code, err.text);
		sl_workload_destroy(w);
	}
}

/* Three jobs run when it begins, on six nodes in all. */
static void a_dump_as_it_was_reports_that_memory_ran_out(void **state)
{
	char conf[200];

	(void) state;
	strcpy(conf, file("slurm.conf", "NodeName=n[1-200] CPUs=8\nPartitionName=all Nodes=ALL Default=YES\n"));
	fail_in_turn(file("dump.txt", "JobIDRaw|Submit|Start|ElapsedRaw|ReqCPUS|NodeList\n1|1000|1000|50|1|n[2-3],n5\n"
		     "2|1001|1001|10|1|n[7,9,11]\n3|1002|1002|50|1|elsewhere\n4|1020|1020|10|1|n4\n"),
		     &(struct sl_workload_options) { .machine = conf, .as_it_was = true });
}

static void a_log_reports_that_memory_ran_out(void **state)
{
	(void) state;
	fail_in_turn(file("log.swf", small_swf), &(struct sl_workload_options) { .machine = "5x4c" });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dump_as_it_was_reports_that_memory_ran_out),
		cmocka_unit_test(a_log_reports_that_memory_ran_out),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
