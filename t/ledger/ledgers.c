/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/ledger/ledgers.h"

struct sl_error err;
char dir[256], path[300];

int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void) state;
	snprintf(dir, sizeof(dir), "%s/schedlua-ledger-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%s", dir, SL_LEDGER_FILE);
	return 0;
}

int remove_dir(void **state)
{
	char pattern[300];
	glob_t found;

	(void) state;
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	return rmdir(dir);
}

struct sl_ledger *open_ledger(enum sl_ledger_mode mode)
{
	struct sl_ledger *l = sl_ledger_open(path, mode, &err);

	if (!l)
		fail_msg("%s", err.text);
	return l;
}

struct sl_job_run run_of(uint32_t job, int64_t start, int64_t end, uint32_t cpus)
{
	return (struct sl_job_run) { .job = job, .start = start, .end = end, .seconds = end - start, .count = { cpus, 0, 1 },
				 .dim = { "anna", "chem", "main", SL_JOB_COMPLETE }, .source = SL_RUN_SEEN };
}

int add(struct sl_ledger *l, struct sl_job_run r)
{
	int rc = sl_ledger_add(l, &r, &err);

	if (rc < 0)
		fail_msg("%s", err.text);
	return rc;
}

int64_t total(struct sl_ledger *l, const char *name, struct sl_usage_query q)
{
	const struct sl_usage_total *t;
	uint32_t n;

	if (!q.since && !q.until)
		q.until = SL_FOREVER;
	OK(sl_usage_ask(sl_ledger_usage(l), &q, &t, &n, &err));
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(t[i].name, name))
			return t[i].seconds;
	return 0;
}

int add_job_number(void *to, const struct sl_job_run *r)
{
	*(int64_t *) to += r->job;
	return 0;
}
