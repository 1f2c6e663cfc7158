/* SPDX-License-Identifier: MIT */
/* test_look.c - what is known of a cluster where its last.snap is old, and a capture takes its place */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "t/scratch.h"
#include "tool/look.h"
#include "tool/member.h"

static void write_text(const char *name, const char *text)
{
	char path[120];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

/* A cluster with one node at that time; *more*: further tables. */
static void write_cluster(const char *name, long long now, const char *more)
{
	char text[1000];

	snprintf(text, sizeof(text), "{ \"meta\": { \"now\": %lld }, \"nodes\": [{ \"name\": \"n1\", \"cores\": 8 }],\n"
		 "\"partitions\": [{ \"name\": \"p\", \"nodes\": \"n1\" }], \"jobs\": [{ \"id\": 7, \"partition\": \"p\" }],\n"
		 "\"queue\": [{ \"job\": 7, \"partition\": \"p\" }]%s }\n", now, more);
	write_text(name, text);
}

/* A schedlua-capture that gives now.snap. */
static void put_capture_on_path(void)
{
	const char *old = getenv("PATH");
	char text[4000];

	snprintf(text, sizeof(text), "#!/bin/sh\ncat '%s/now.snap'\n", scratch);
	write_text("schedlua-capture", text);
	snprintf(text, sizeof(text), "%s:%s", scratch, old ? old : "/usr/bin:/bin");
	assert_int_equal(setenv("PATH", text, 1), 0);
}

static void a_capture_does_not_make_stops_and_held_places_forgotten(void **state)
{
	const long long now = time(NULL);
	struct sl_look l = { .may_capture = true };
	struct sl_error err;
	char more[400];
	json_t *stop, *place;

	(void) state;
	snprintf(more, sizeof(more), ", \"held\": [{ \"job\": 7, \"partition\": \"p\", \"since\": %lld, \"until\": %lld, \"places\": [{ \"node\": \"n1\", \"cores\": 8 }] }],"
		 " \"stopped\": [{ \"job\": 3, \"preemptor\": 7, \"time\": %lld, \"user\": \"ann\", \"partition\": \"p\" }]", now - 61, now + 300, now - 61);
	write_cluster("last.snap", now - 60, more);
	write_cluster("now.snap", now, "");
	put_capture_on_path();
	snprintf(l.dir, sizeof(l.dir), "%s", scratch);
	assert_int_equal(sl_recent_open(&l.recent, &err), 0);
	sl_look(&l, 60);
	assert_int_equal(l.snap.meta.now[0], now);	/* the capture's */
	assert_int_equal(l.snap.held.rows + l.snap.stopped.rows, 0);
	stop = json_array_get(json_object_get(l.stops, "stopped"), 0);
	assert_int_equal(sl_member_integer(stop, "job"), 3);
	assert_int_equal(sl_member_integer(stop, "preemptor"), 7);
	assert_string_equal(sl_member_text(stop, "user"), "ann");
	place = json_array_get(json_object_get(l.stops, "held"), 0);
	assert_int_equal(sl_member_integer(place, "job"), 7);
	assert_int_equal(sl_member_integer(place, "until"), now + 300);
	assert_string_equal(sl_member_text(place, "nodes"), "n1");
	sl_look_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_capture_does_not_make_stops_and_held_places_forgotten),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
