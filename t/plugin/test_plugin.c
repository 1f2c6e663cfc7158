/* SPDX-License-Identifier: MIT */
/* What of the plug-in needs neither Slurm nor an engine: options, notes, status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/host/options.h"
#include "plugin/host/status.h"
#include "plugin/records/note.h"

/* -- options ---------------------------------------------------------------- */

static void options_have_defaults(void **state)
{
	struct sl_options o;

	(void) state;
	assert_int_equal(sl_sched_params_parse(&o, "/usr/bin/schedlua", NULL, NULL, NULL), 0);
	assert_string_equal(o.engine, "/usr/bin/schedlua");
	assert_string_equal(o.site, "");
	assert_string_equal(o.user, "");
	assert_true(o.interval_s == 0 && o.budget_s == 0 && o.wake_ms == 100);
	assert_string_equal(sl_options_missing(&o), "defer,sched_interval=-1");
}

static void options_of_the_only_scheduler_are_recognised(void **state)
{
	struct sl_options o;

	(void) state;
	sl_sched_params_parse(&o, "", "bf_window=3,defer,sched_interval=-1,lua_site=/etc/s.lua,lua_interval=0.5,lua_user=schedlua",
			 NULL, NULL);
	assert_string_equal(o.user, "schedlua");
	assert_null(sl_options_missing(&o));
	assert_string_equal(o.site, "/etc/s.lua");
	assert_true(o.interval_s == 0.5);
	assert_true(o.max_rpc_cnt == 0 && !o.completing_frag);
	sl_sched_params_parse(&o, "", "max_rpc_cnt=150,Reduce_Completing_Frag", NULL, NULL);
	assert_true(o.max_rpc_cnt == 150 && o.completing_frag);
	sl_sched_params_parse(&o, "", "sched_interval=-1", NULL, NULL);
	assert_non_null(strstr(sl_options_missing(&o), "defer"));
	sl_sched_params_parse(&o, "", "defer,sched_interval=-10", NULL, NULL);
	assert_string_equal(sl_options_missing(&o), "sched_interval=-1");
	sl_sched_params_parse(&o, "", "defer,defer_batch,sched_interval=-1", NULL, NULL);
	assert_non_null(sl_options_missing(&o));
}

static void a_wrong_option_is_named_and_keeps_its_default(void **state)
{
	static const char *const wrong[] = {
		"lua_interval=soon", "lua_interval=0", "lua_budget=-1", "lua_budget=nan", "lua_site=relative.lua", "lua_publish=public",
		"lua_site", "lua_nonsense=1", "lua_wake=1e9", "lua_batch=5x", "lua_user",
		"lua_user=a-name-of-far-more-than-the-three-dozen-characters-that-a-user-has",
	};
	struct sl_error err;
	struct sl_options o;
	size_t i;

	(void) state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[100];

		snprintf(text, sizeof(text), "defer,%s,lua_capture=7", wrong[i]);
		assert_int_equal(sl_sched_params_parse(&o, "", text, NULL, &err), -1);
		assert_int_equal(err.code, SL_EINVAL);
		assert_non_null(strstr(err.text, "lua_"));
		assert_true(o.batch_ms == 20 && o.wake_ms == 100 && o.capture_s == 7);
		assert_string_equal(o.site, "");
	}
}

static void a_shadow_that_is_wrong_is_still_one(void **state)
{
	static const char *const wrong[] = { "lua_shadow=bakfill", "lua_shadow=", "lua_shadow", "lua_shadow=sched/backfill" };
	struct sl_error err;
	struct sl_options o;
	size_t i;

	(void) state;
	assert_int_equal(sl_sched_params_parse(&o, "", "lua_shadow=builtin", NULL, &err), 0);
	assert_string_equal(o.shadow, "builtin");
	sl_sched_params_parse(&o, "", "defer,sched_interval=-1", NULL, &err);
	assert_string_equal(o.shadow, "");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(sl_sched_params_parse(&o, "", wrong[i], NULL, &err), -1);
		assert_non_null(strstr(err.text, "expected backfill or builtin"));
		assert_string_equal(o.shadow, "backfill");
	}
}

static void alternatives_are_kept_within_their_jobs_where_nothing_good_is_said(void **state)
{
	static const char *const wrong[] = { "lua_shapes=all", "lua_shapes=", "lua_shapes", "lua_shapes=withi" };
	static const char *const good[] = { "within", "any", "off" };
	char text[40];
	struct sl_error err;
	struct sl_options o;
	size_t i;

	(void) state;
	sl_sched_params_parse(&o, "", NULL, NULL, &err);
	assert_string_equal(o.shapes, "within");
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(text, sizeof(text), "lua_shapes=%s", good[i]);
		assert_int_equal(sl_sched_params_parse(&o, "", text, NULL, &err), 0);
		assert_string_equal(o.shapes, good[i]);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(sl_sched_params_parse(&o, "", wrong[i], NULL, &err), -1);
		assert_non_null(strstr(err.text, "expected one of within,any,off"));
		assert_string_equal(o.shapes, "within");
	}
}

static unsigned told;

static void tell(const char *text)
{
	static const char *const expected[] = { "lua_intervall", "lua_budget=xx", "lua_batch=999999" };

	assert_true(told < 3);
	assert_non_null(strstr(text, expected[told]));
	if (!told)
		assert_non_null(strstr(text, "no such option; known: lua_site, lua_engine"));
	told++;
}

static void each_wrong_option_is_told_and_the_first_is_the_error(void **state)
{
	struct sl_error err;
	struct sl_options o;

	(void) state;
	told = 0;
	assert_int_equal(sl_sched_params_parse(&o, "", "lua_intervall=5,lua_budget=xx,lua_wake=50,lua_batch=999999", tell, &err), -1);
	assert_int_equal(told, 3);
	assert_non_null(strstr(err.text, "lua_intervall=5"));
	assert_true(o.wake_ms == 50);
}

/* -- notes ------------------------------------------------------------------ */

static struct sl_notes notes;

static void a_note_is_of_one_submission(void **state)
{
	(void) state;
	memset(&notes, 0, sizeof(notes));
	assert_int_equal(sl_note_read(&notes, 7, 100)->refusals, 0);
	sl_note_write(&notes, 7, 100)->refusals = 3;
	sl_note_write(&notes, 7, 100)->rests_until = 50;
	assert_int_equal(sl_note_read(&notes, 7, 100)->refusals, 3);
	assert_int_equal(sl_note_read(&notes, 7, 100)->rests_until, 50);
	/* the id is used again */
	assert_int_equal(sl_note_read(&notes, 7, 200)->refusals, 0);
	assert_int_equal(sl_note_write(&notes, 7, 200)->refusals, 0);
	assert_int_equal(sl_note_read(&notes, 7, 100)->refusals, 0);
}

static void refused_alternatives_are_tried_again_later(void **state)
{
	struct sl_note n = { 0 };

	(void) state;
	assert_true(sl_note_says(&n.unstopped, "why"));
	assert_false(sl_note_says(&n.unstopped, "why"));
	assert_true(sl_note_says(&n.unheld, "why"));
	assert_true(sl_note_says(&n.unstopped, "why not"));
	assert_true(sl_note_says(&n.unstopped, "why"));
	sl_note_refuse_shape(&n, 1, 100, 110);
	sl_note_refuse_shape(&n, 16, 101, 111);
	assert_true(sl_note_shape_refused(&n, 1, 110));
	assert_true(sl_note_shape_refused(&n, 16, 110));
	assert_false(sl_note_shape_refused(&n, 2, 110));
	assert_false(sl_note_shape_refused(&n, 1, 111));
	sl_note_refuse_shape(&n, 2, 120, 130);
	assert_false(sl_note_shape_refused(&n, 1, 121));
	assert_true(sl_note_shape_refused(&n, 2, 121));
	sl_note_refuse_shape(&n, 17, 121, 131);		/* there is no bit for it: it is tried again */
	assert_false(sl_note_shape_refused(&n, 17, 122));
}

static void full_notes_lose_what_was_written_longest_ago(void **state)
{
	uint32_t i, kept = 0;

	(void) state;
	memset(&notes, 0, sizeof(notes));
	for (i = 1; i <= 100000; i++) {
		sl_note_write(&notes, i, 1)->refusals = i;
		sl_note_write(&notes, 1, 1);	/* of all the one that is written again and again */
		assert_int_equal(sl_note_read(&notes, i, 1)->refusals, i);
	}
	assert_int_equal(sl_note_read(&notes, 1, 1)->refusals, 1);
	for (i = 100000 - 1000; i <= 100000; i++)
		kept += sl_note_read(&notes, i, 1)->refusals == i;
	assert_true(kept > 950);
	assert_int_equal(sl_note_read(&notes, 2, 1)->refusals, 0);
}

/* -- status ------------------------------------------------------------------- */

static void quantiles_are_near(void **state)
{
	struct sl_times t = { 0 };
	uint64_t i;

	(void) state;
	assert_int_equal(sl_times_quantile(&t, 0.5), 0);
	for (i = 1; i <= 1000; i++)
		sl_times_add(&t, i);
	assert_in_range(sl_times_quantile(&t, 0.5), 500, 600);
	assert_in_range(sl_times_quantile(&t, 0.99), 990, 1000);
	assert_int_equal(t.max_us, 1000);
	sl_times_add(&t, UINT64_MAX / 2);
	assert_int_equal(t.max_us, UINT64_MAX / 2);
}

static void a_status_file_is_json_whatever_the_strings(void **state)
{
	char dir[] = "/tmp/schedlua-status-XXXXXX", path[64], text[8192];
	struct sl_status s = { .version = "1", .slurm_version = "2" };
	size_t n;
	FILE *f;

	(void) state;
	assert_non_null(mkdtemp(dir));
	sl_status_error(&s, "a \"quoted\" \\ line and a tab\t\nstack traceback:");
	strcpy(s.refusal, "sched.lua:3:\n");
	s.waiting = (struct sl_waiting[]) { { "p\"q", 3 }, { "gpu", 0 } };
	s.partitions = 2;
	s.why[SL_WHY_RESOURCES] = 2;
	s.why[SL_WHY_POLICY] = 1;
	s.shortages = 3;
	assert_int_equal(sl_status_write(&s, dir, NULL), 0);
	snprintf(path, sizeof(path), "%s/status.json", dir);
	assert_non_null(f = fopen(path, "r"));
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	assert_non_null(strstr(text, "\"last_error\": \"a \\\"quoted\\\" \\\\ line and a tab\\t\""));
	assert_non_null(strstr(text, "\"refusal\": \"sched.lua:3:\\n\""));
	assert_non_null(strstr(text, "\"queue\": {\"p\\\"q\": 3, \"gpu\": 0},"));
	assert_non_null(strstr(text, "\"pending\": {\"resources\": 2, \"policy\": 1},"));
	assert_non_null(strstr(text, "\"shortages\": 3,"));
	strcat(path, ".new");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(sl_status_write(&s, dir, NULL), 0);
	*strrchr(path, '.') = '\0';
	unlink(path);
	rmdir(dir);
	assert_int_equal(sl_status_write(&s, dir, NULL), -1);
}

static void a_trouble_that_goes_on_is_news_once(void **state)
{
	struct sl_status s = { .version = "1" };

	(void) state;
	assert_true(sl_status_trouble(&s, SL_TROUBLE_JOURNAL, "no room"));
	assert_true(sl_status_trouble(&s, SL_TROUBLE_RECORD, "none here either"));
	assert_false(sl_status_trouble(&s, SL_TROUBLE_JOURNAL, "still no room"));
	assert_false(sl_status_trouble(&s, SL_TROUBLE_RECORD, "none here either"));
	assert_string_equal(s.last_error, "none here either");
	assert_false(sl_status_trouble(&s, SL_TROUBLE_JOURNAL, "no room at 12:01"));
	assert_string_equal(s.last_error, "no room at 12:01");
	/* no plan for another reason is other trouble */
	assert_true(sl_status_trouble(&s, SL_TROUBLE_NO_PLAN + SL_EIO, "no plan"));
	assert_true(sl_status_trouble(&s, SL_TROUBLE_NO_PLAN + SL_ETIME, "no plan"));
	s.trouble[SL_TROUBLE_JOURNAL] -= SL_TROUBLE_OVER_S;
	assert_true(sl_status_trouble(&s, SL_TROUBLE_JOURNAL, "no room"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_have_defaults),
		cmocka_unit_test(a_shadow_that_is_wrong_is_still_one),
		cmocka_unit_test(alternatives_are_kept_within_their_jobs_where_nothing_good_is_said),
		cmocka_unit_test(options_of_the_only_scheduler_are_recognised),
		cmocka_unit_test(a_wrong_option_is_named_and_keeps_its_default),
		cmocka_unit_test(each_wrong_option_is_told_and_the_first_is_the_error),
		cmocka_unit_test(a_note_is_of_one_submission),
		cmocka_unit_test(refused_alternatives_are_tried_again_later),
		cmocka_unit_test(full_notes_lose_what_was_written_longest_ago),
		cmocka_unit_test(quantiles_are_near),
		cmocka_unit_test(a_status_file_is_json_whatever_the_strings),
		cmocka_unit_test(a_trouble_that_goes_on_is_news_once),
	};

	return cmocka_run_group_tests_name("plugin", tests, NULL, NULL);
}
