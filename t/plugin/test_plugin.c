/* SPDX-License-Identifier: MIT */
/* What of the plug-in needs no Slurm: options, notes, status, host. */
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
#include "plugin/host/keep.h"
#include "plugin/records/note.h"
#include "plugin/host/options.h"
#include "plugin/host/remembered.h"
#include "plugin/host/status.h"
#include "image/plan_image.h"
#include "image/snapshot.h"

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
		"lua_interval=soon", "lua_interval=0", "lua_budget=-1", "lua_budget=nan", "lua_site=relative.lua",
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
	s.trouble[SL_TROUBLE_JOURNAL] -= SL_TROUBLE_OVER_S;
	assert_true(sl_status_trouble(&s, SL_TROUBLE_JOURNAL, "no room"));
}

/* -- keep ---------------------------------------------------------------------- */

static void a_set_that_cannot_be_written_is_kept_in_memory_and_written_later(void **state)
{
	char dir[] = "/tmp/schedlua-keep-XXXXXX", file[64];
	struct sl_keep k = { .bytes = NULL }, other = { .bytes = NULL };
	struct sl_error err;

	(void) state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/there/last-good", dir);
	sl_keep_file(&k, file);
	assert_int_equal(sl_keep_set(&k, "a set", 5, &err), -1);
	assert_int_equal(sl_keep_get(&k, &err), 1);
	assert_int_equal(sl_keep_again(&k, &err), -1);
	/* the same again, as after a reload: still to be written */
	assert_int_equal(sl_keep_set(&k, "a set", 5, &err), -1);
	assert_true(k.unsaved);
	*strrchr(file, '/') = '\0';
	assert_int_equal(mkdir(file, 0700), 0);
	assert_int_equal(sl_keep_again(&k, &err), 0);
	assert_false(k.unsaved);
	sl_keep_file(&other, k.file);
	assert_int_equal(sl_keep_get(&other, &err), 1);
	assert_int_equal(other.size, 5);
	assert_memory_equal(other.bytes, "a set", 5);
	assert_int_equal(unlink(k.file), 0);
	/* a pipe there keeps nobody waiting, neither who writes nor who reads */
	sl_keep_clear(&other);
	assert_int_equal(mkfifo(k.file, 0600), 0);
	assert_int_equal(sl_keep_get(&other, &err), -1);
	assert_non_null(strstr(err.text, "not a regular file"));
	strcat(k.file, ".new");
	assert_int_equal(mkfifo(k.file, 0600), 0);
	*strrchr(k.file, '.') = '\0';
	assert_int_equal(sl_keep_set(&k, "another", 7, &err), 0);
	assert_int_equal(sl_keep_get(&other, &err), 1);
	assert_memory_equal(other.bytes, "another", 7);
	/* nor does what is there and larger than any set eat memory */
	sl_keep_clear(&other);
	assert_int_equal(truncate(k.file, INT64_C(1) << 40), 0);
	assert_int_equal(sl_keep_get(&other, &err), -1);
	assert_non_null(strstr(err.text, "last-good: larger than 67108864 bytes"));
	assert_int_equal(sl_keep_set(&other, "a set", 5, &err), 0);
	sl_keep_clear(&other);
	assert_int_equal(sl_keep_get(&other, &err), 1);
	assert_memory_equal(other.bytes, "a set", 5);
	assert_int_equal(unlink(k.file), 0);
	assert_int_equal(rmdir(file), 0);
	assert_int_equal(rmdir(dir), 0);
	sl_keep_clear(&k);
	sl_keep_clear(&other);
}

/* -- what policies remember ---------------------------------------------------- */

struct memory {
	char dir[40], file[64];
	struct sl_remember *m;
};

static int memory_set_up(void **state)
{
	static const struct sl_image image;
	static const struct sl_remembered_view none;
	struct memory *x = calloc(1, sizeof(*x));

	strcpy(x->dir, "/tmp/schedlua-remembered-XXXXXX");
	if (!mkdtemp(x->dir))
		return -1;
	snprintf(x->file, sizeof(x->file), "%s/remembered", x->dir);
	x->m = sl_remember_create(NULL);
	*state = x;
	return sl_remember_load(x->m, &image, &none, "set", NULL) ||
		sl_remember_set(x->m, "main", "jobs", "{1,2,3}", NULL);
}

static int memory_tear_down(void **state)
{
	struct memory *x = *state;

	unlink(x->file);
	sl_remember_destroy(x->m);
	return rmdir(x->dir) ? -1 : (free(x), 0);
}

static void what_is_remembered_outlives_slurmctld_once(void **state)
{
	struct memory *x = *state;
	struct sl_remember *next = sl_remember_create(NULL);
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_remembered_row row;
	struct sl_error err;
	struct stat st;

	assert_int_equal(sl_remembered_load(next, x->file, &err), 0);
	assert_true(sl_remember_empty(next));
	assert_int_equal(sl_remembered_save(x->m, x->file, &err), 0);
	assert_int_equal(stat(x->file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(sl_remembered_load(next, x->file, &err), 0);
	sl_remember_encode(next, b, SL_T_REMEMBERED);
	assert_int_equal(sl_builder_rows(b, SL_T_REMEMBERED), 1);
	assert_int_equal(sl_builder_row(b, SL_T_REMEMBERED, 0, &row), 0);
	assert_string_equal(sl_builder_text(b, row.set), "set");
	assert_string_equal(sl_builder_text(b, row.value), "{1,2,3}");
	assert_int_equal(stat(x->file, &st), -1);
	/* and nothing is left of one that remembers nothing */
	assert_int_equal(sl_remembered_save(x->m, x->file, &err), 0);
	sl_remember_clear(x->m);
	assert_int_equal(sl_remembered_save(x->m, x->file, &err), 0);
	assert_int_equal(stat(x->file, &st), -1);
	sl_builder_destroy(b);
	sl_remember_destroy(next);
}

static void a_memory_that_is_damaged_or_not_ours_is_put_away(void **state)
{
	struct memory *x = *state;
	struct sl_error err;
	struct stat st;

	for (int damage = 0; damage < 3; damage++) {
		assert_int_equal(sl_remembered_save(x->m, x->file, &err), 0);
		if (damage == 0) {
			FILE *f = fopen(x->file, "r+");

			fseek(f, -6, SEEK_END);
			fputc('}', f);
			fclose(f);
		} else if (damage == 1) {
			assert_int_equal(truncate(x->file, 100), 0);
		} else {
			assert_int_equal(chmod(x->file, 0666), 0);
		}
		assert_int_equal(sl_remembered_load(x->m, x->file, &err), -1);
		assert_non_null(strstr(err.text, x->file));
		assert_true(sl_remember_empty(x->m));
		assert_int_equal(stat(x->file, &st), -1);
		assert_int_equal(sl_remember_set(x->m, "main", "jobs", "{1,2,3}", &err), 0);
	}
}

/* -- host ---------------------------------------------------------------------- */

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
};

static void set_mode(struct rig *r, const char *mode)
{
	FILE *f = fopen(r->mode, "w");

	fprintf(f, "%s\n", mode);
	fclose(f);
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
	if (sl_host_decide(r->host, &r->snap, 200000, false, &a, err))
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
	for (i = 0; i < SL_MAX_STRIKES; i++) {
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
	assert_int_equal(sl_host_decide(r->host, &r->snap, 200000, true, &a, &err), 0);
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

#define HOST_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_have_defaults),
		cmocka_unit_test(options_of_the_only_scheduler_are_recognised),
		cmocka_unit_test(a_wrong_option_is_named_and_keeps_its_default),
		cmocka_unit_test(each_wrong_option_is_told_and_the_first_is_the_error),
		cmocka_unit_test(a_note_is_of_one_submission),
		cmocka_unit_test(refused_alternatives_are_tried_again_later),
		cmocka_unit_test(full_notes_lose_what_was_written_longest_ago),
		cmocka_unit_test(quantiles_are_near),
		cmocka_unit_test(a_status_file_is_json_whatever_the_strings),
		cmocka_unit_test(a_trouble_that_goes_on_is_news_once),
		cmocka_unit_test(a_set_that_cannot_be_written_is_kept_in_memory_and_written_later),
		cmocka_unit_test_setup_teardown(what_is_remembered_outlives_slurmctld_once, memory_set_up,
						memory_tear_down),
		cmocka_unit_test_setup_teardown(a_memory_that_is_damaged_or_not_ours_is_put_away, memory_set_up,
						memory_tear_down),
		HOST_TEST(an_engine_decides_again_and_again),
		HOST_TEST(an_engine_is_not_to_blame_for_a_lack_of_descriptors),
		HOST_TEST(whatever_an_engine_does_wrong_the_next_one_serves),
		HOST_TEST(three_failures_in_a_row_make_it_rest),
		HOST_TEST(a_set_that_ends_the_engine_is_no_obstacle_to_the_bundled_one),
		HOST_TEST(an_engine_with_plans_for_another_world_rests_after_three),
		HOST_TEST(an_engine_that_ends_between_cycles_is_noticed),
		HOST_TEST(an_interrupted_host_answers_at_once),
		HOST_TEST(a_refused_set_is_told_once),
		HOST_TEST(what_the_last_good_set_holds_outlives_the_engine_and_slurmctld),
		HOST_TEST(where_that_cannot_be_read_all_is_held),
		HOST_TEST(babble_on_stderr_is_bounded),
	};

	return cmocka_run_group_tests_name("plugin", tests, NULL, NULL);
}
