/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workload/demand.h"
#include "t/workload/load.h"

char path[96];

const char *file(const char *name, const char *text)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path;
}

struct sl_workload *load(const char *name, struct sl_workload_options opt)
{
	struct sl_error err = { 0 };
	struct sl_workload *w = sl_workload_load(name, &opt, &err);

	if (!w)
		fail_msg("%s", err.text);
	return w;
}
void refused(const char *name, struct sl_workload_options opt, enum sl_errno code, const char *words)
{
	struct sl_error err = { 0 };
	struct sl_workload *w = sl_workload_load(name, &opt, &err);

	assert_null(w);
	if (err.code != code || !strstr(err.text, words))
		fail_msg("%s (code %d), expected \"%s\"", err.text, err.code, words);
}

double core_seconds(const struct sl_workload *w)
{
	struct sl_machine m;
	struct sl_demand d;
	double sum = 0;

	assert_int_equal(sl_machine_open(&m, &w->snap, NULL), 0);
	for (uint32_t i = 0; i < w->snap.job.rows; i++) {
		sl_job_demand(&m, i, &d);
		assert_int_not_equal(d.nodes, SL_NONE);
		sum += (double) d.cores * (double) w->runtime_s[i];
	}
	sl_machine_close(&m);
	return sum;
}

const char *str(const struct sl_workload *w, uint32_t s)
{
	return sl_snapshot_str(&w->snap, s);
}

const char small_swf[] =
	"; Version: 2.2\n"
	"; MaxNodes: 10\n"
	"; MaxProcs: 10\n"
	"; UnixStartTime: 843480031\n"
	"; Queue: 1 short\n"
	"    1   0   5   100   4  -1  -1   6   300  2048  1  7  3  9  1 -1 -1 -1\n"
	"\n"
	"    2  10   0    50  -1  -1  -1   2   -1    -1  0  8 -1 -1  2 -1 -1 -1\r\n"
	"    3  10   0   200  10  42.5 -1 10  150    -1  1  7  3 -1 -1 -1 -1 -1\n";
