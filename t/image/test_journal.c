/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/line_file.h"
#include "image/journal.h"
#include "t/make_image.h"

struct fixture {
	char dir[32], path[64];
	struct sl_builder *snapshot, *plan;
	struct sl_snapshot snap;
	struct sl_plan_image image;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct sl_node_row node = sl_node_row();
	struct sl_partition_row part = sl_partition_row();
	struct sl_meta_row meta = sl_meta_row();
	const void *bytes;
	size_t size;
	char name[16];

	strcpy(f.dir, "test_journal.XXXXXX");
	if (!mkdtemp(f.dir))
		return -1;
	snprintf(f.path, sizeof(f.path), "%s/decisions.jsonl", f.dir);
	f.snapshot = sl_builder_create(&sl_snapshot_schema, NULL);
	f.plan = sl_builder_create(&sl_plan_schema, NULL);
	sl_builder_append(f.snapshot, SL_T_META, &meta);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		node.name = sl_builder_str(f.snapshot, name);
		sl_builder_append(f.snapshot, SL_T_NODE, &node);
	}
	part.name = sl_builder_str(f.snapshot, "batch");
	sl_builder_append(f.snapshot, SL_T_PARTITION, &part);
	*state = &f;
	return sl_builder_finish(f.snapshot, &bytes, &size, NULL) || sl_snapshot_open(&f.snap, bytes, size, NULL);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char path[80];

	for (int i = 0; i < 10; i++) {
		snprintf(path, sizeof(path), i ? "%s.%d" : "%s", f->path, i);
		unlink(path);
	}
	sl_builder_destroy(f->snapshot);
	sl_builder_destroy(f->plan);
	return rmdir(f->dir);
}

/* -- plans to write --------------------------------------------------------- */

static void begin_plan(struct fixture *f, int64_t sequence)
{
	struct sl_plan_meta_row meta = sl_plan_meta_row();

	sl_builder_reset(f->plan);
	meta.sequence = sequence;
	meta.now = 1000 + sequence;
	meta.policy = sl_builder_str(f->plan, "easy");
	sl_builder_append(f->plan, SL_P_META, &meta);
}

static struct sl_range places(struct fixture *f, uint32_t first, uint32_t count)
{
	struct sl_plan_place_row place = sl_plan_place_row();
	struct sl_range range = { sl_builder_rows(f->plan, SL_P_PLACE), count };

	for (place.node = first; place.node < first + count; place.node++) {
		place.cores = 8;
		sl_builder_append(f->plan, SL_P_PLACE, &place);
	}
	return range;
}

static void add_start(struct fixture *f, uint32_t job, uint32_t first, uint32_t count)
{
	struct sl_plan_start_row start = sl_plan_start_row();

	start.job = job;
	start.partition = 0;
	start.places = places(f, first, count);
	start.by = sl_builder_str(f->plan, "easy");
	sl_builder_append(f->plan, SL_P_START, &start);
}

static void add_reserve(struct fixture *f, uint32_t job, int64_t start_time)
{
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();

	reserve.job = job;
	reserve.start_time = start_time;
	reserve.partition = 0;
	reserve.places = places(f, 0, 4);
	sl_builder_append(f->plan, SL_P_RESERVE, &reserve);
}

static void add_pending(struct fixture *f, uint32_t job, enum sl_why why, const char *text)
{
	struct sl_plan_pending_row pending = sl_plan_pending_row();

	pending.job = job;
	pending.why = why;
	pending.text = sl_builder_str(f->plan, text);
	sl_builder_append(f->plan, SL_P_PENDING, &pending);
}

static int write_plan(struct fixture *f, struct sl_journal *j, const struct sl_carried *carried, struct sl_error *err)
{
	const void *bytes;
	size_t size;

	if (sl_builder_finish(f->plan, &bytes, &size, err) < 0 || sl_plan_image_open(&f->image, bytes, size, err) < 0)
		fail_msg("%s", err->text);
	return sl_journal_write(j, &f->snap, &f->image, carried, err);
}

/* -- what was written --------------------------------------------------------- */

struct lines {
	char *line[64];
	int n, limit;
};

static int keep(const char *line, size_t length, void *arg)
{
	struct lines *l = arg;
	json_error_t wrong;
	json_t *v = json_loadb(line, length, JSON_REJECT_DUPLICATES, &wrong);

	if (!v)
		fail_msg("no JSON: %.*s: %s", (int) length, line, wrong.text);
	json_decref(v);
	l->line[l->n++] = strndup(line, length);
	return l->n == l->limit;
}

static struct lines read_lines(struct fixture *f)
{
	struct lines l = { .n = 0, .limit = 64 };
	struct sl_error err;

	if (sl_journal_read(f->dir, keep, &l, &err) < 0)
		fail_msg("%s", err.text);
	return l;
}

static void forget(struct lines *l)
{
	while (l->n)
		free(l->line[--l->n]);
}

static void expect_lines(struct fixture *f, int n, const char *newest)
{
	struct lines l = read_lines(f);

	assert_int_equal(l.n, n);
	if (newest)
		assert_string_equal(l.line[0], newest);
	forget(&l);
}

/* -- tests ---------------------------------------------------------------------- */

static void a_cycle_is_one_line_that_tells_what_became_of_it(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct sl_plan_action_row action = sl_plan_action_row();
	const struct sl_carried carried[] = {
		{ 7, SL_FATE_DONE, NULL }, { 8, SL_FATE_CHANGED, "cancelled meanwhile" },
		{ 9, SL_FATE_ORDER, "no such job" },
	};
	struct stat st;

	begin_plan(f, 5);
	add_start(f, 7, 1, 3);
	add_start(f, 8, 18, 4);		/* two nodes that the snapshot has not */
	add_reserve(f, 10, 2000);
	add_pending(f, 11, SL_WHY_RESOURCES, "needs 4 nodes, \"3\" are free");
	action.verb = SL_DO_SIGNAL;
	action.job = 9;
	action.number = 10;
	sl_builder_append(f->plan, SL_P_ACTION, &action);
	assert_int_equal(write_plan(f, j, carried, &err), 0);
	expect_lines(f, 1,
		"{\"sequence\": 5, \"now\": 1005, \"policy\": \"easy\", \"full\": true, "
		"\"started\": [{\"job\": 7, \"partition\": \"batch\", \"nodes\": \"n[1-3]\", \"node_count\": 3, "
		"\"cores\": 24, \"by\": \"easy\", \"done\": true}, "
		"{\"job\": 8, \"partition\": \"batch\", \"nodes\": \"n[18-19]\", \"node_count\": 4, \"cores\": 32, "
		"\"by\": \"easy\", \"done\": false, \"fate\": \"changed\", \"text\": \"cancelled meanwhile\"}], "
		"\"reserved\": [{\"job\": 10, \"start_time\": 2000, \"partition\": \"batch\", \"nodes\": \"n[0-3]\", "
		"\"node_count\": 4, \"cores\": 32}], "
		"\"pending\": [{\"job\": 11, \"why\": \"resources\", \"text\": \"needs 4 nodes, \\\"3\\\" are free\"}], "
		"\"actions\": [{\"job\": 9, \"verb\": \"signal\", \"number\": 10, \"done\": false, "
		"\"fate\": \"order\", \"why\": \"no such job\"}]}");
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	sl_journal_close(j);
}

static void a_waiting_job_is_named_again_only_when_its_answer_changed(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct lines l;

	for (int cycle = 1; cycle <= 3; cycle++) {
		begin_plan(f, cycle);
		add_reserve(f, 1, 2000);
		add_pending(f, 2, SL_WHY_PRIORITY, "");
		add_pending(f, 3, SL_WHY_WINDOW, "");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
		expect_lines(f, 1, NULL);
	}
	begin_plan(f, 4);
	add_reserve(f, 1, 2000);
	add_pending(f, 2, SL_WHY_RESOURCES, "");
	add_pending(f, 3, SL_WHY_WINDOW, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 4, \"now\": 1004, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 2, \"why\": \"resources\"}]}");
	begin_plan(f, 5);		/* both left the queue */
	add_reserve(f, 1, 2000);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	l = read_lines(f);
	assert_int_equal(l.n, 3);
	assert_non_null(strstr(l.line[0], "\"gone\": [{\"job\": "));
	assert_non_null(strstr(l.line[0], "{\"job\": 2}"));
	assert_non_null(strstr(l.line[0], "{\"job\": 3}"));
	forget(&l);
	begin_plan(f, 6);		/* and one is back: that is news */
	add_reserve(f, 1, 2000);
	add_pending(f, 2, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 4, "{\"sequence\": 6, \"now\": 1006, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 2, \"why\": \"resources\"}]}");
	begin_plan(f, 7);		/* once started it is news again */
	add_start(f, 2, 4, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	begin_plan(f, 8);
	add_pending(f, 2, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 6, "{\"sequence\": 8, \"now\": 1008, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 2, \"why\": \"resources\"}]}");
	sl_journal_close(j);
}

/* In the snapshot: a job that is queued in the first so many partitions. */
static void add_job(struct fixture *f, uint32_t id, const char *ignored, uint32_t partitions)
{
	struct sl_job_row job = sl_job_row();
	struct sl_queue_row queue = sl_queue_row();

	job.id = id;
	job.partition = 0;
	job.shapes_ignored = *ignored ? sl_builder_str(f->snapshot, ignored) : 0;
	queue.job = sl_builder_rows(f->snapshot, SL_T_JOB);
	sl_builder_append(f->snapshot, SL_T_JOB, &job);
	for (queue.partition = 0; queue.partition < partitions; queue.partition++)
		sl_builder_append(f->snapshot, SL_T_QUEUE, &queue);
}

static void add_partition(struct fixture *f, const char *name, uint32_t first, uint32_t last)
{
	struct sl_partition_row part = sl_partition_row();
	struct sl_run_row run = sl_run_row();

	part.name = sl_builder_str(f->snapshot, name);
	part.nodes = (struct sl_range) { sl_builder_rows(f->snapshot, SL_T_RUN), 1 };
	run.first = first;
	run.last = last;
	sl_builder_append(f->snapshot, SL_T_RUN, &run);
	sl_builder_append(f->snapshot, SL_T_PARTITION, &part);
}

static void open_snapshot(struct fixture *f)
{
	struct sl_error err;
	const void *bytes;
	size_t size;

	if (sl_builder_finish(f->snapshot, &bytes, &size, &err) || sl_snapshot_open(&f->snap, bytes, size, &err))
		fail_msg("%s", err.text);
}

/* Who stands ahead of a job can only be told by those who know where it may run. */
static void nodes_of_partitions_are_told_once_and_again_when_they_change(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	add_partition(f, "gpu", 16, 19);
	add_job(f, 40, "", 2);
	open_snapshot(f);
	for (int i = 1; i < 3; i++) {
		begin_plan(f, i);
		add_pending(f, 40, SL_WHY_RESOURCES, "waits");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	expect_lines(f, 1, "{\"sequence\": 1, \"now\": 1001, \"policy\": \"easy\", \"full\": true, "
		     "\"partitions\": {\"gpu\": \"n[16-19]\"}, "
		     "\"pending\": [{\"job\": 40, \"why\": \"resources\", \"text\": \"waits\", "
		     "\"partition\": \"batch,gpu\"}]}");
	add_partition(f, "new", 0, 0);
	open_snapshot(f);
	begin_plan(f, 3);
	add_pending(f, 40, SL_WHY_RESOURCES, "waits");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", "
		     "\"partitions\": {\"gpu\": \"n[16-19]\", \"new\": \"n0\"}}");
	sl_journal_close(j);
}

static void a_job_whose_alternatives_are_ignored_is_told_so_once(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	add_job(f, 30, "", 1);
	add_job(f, 31, "'or' is no option", 1);
	add_job(f, 32, "", 1);
	open_snapshot(f);
	for (int i = 1; i < 4; i++) {
		begin_plan(f, i);
		add_pending(f, 31, SL_WHY_RESOURCES, "waits");
		add_pending(f, 32, SL_WHY_RESOURCES, i == 3 ? "waits still" : "waits");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	expect_lines(f, 2, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 32, \"why\": \"resources\", \"text\": \"waits still\", "
		     "\"partition\": \"batch\"}]}");
	begin_plan(f, 4);
	add_start(f, 31, 1, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	struct lines l = read_lines(f);
	assert_non_null(strstr(l.line[0], "\"note\": \"'or' is no option\""));
	assert_non_null(strstr(l.line[2], "\"text\": \"waits\", \"partition\": \"batch\", "
			       "\"note\": \"'or' is no option\"}, {\"job\": 32, "
			       "\"why\": \"resources\", \"text\": \"waits\", \"partition\": \"batch\"}"));
	forget(&l);
	sl_journal_close(j);
}

static void a_reservation_that_is_lost_is_told_with_the_reason_that_stays(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	begin_plan(f, 1);
	add_reserve(f, 1, 2000);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	begin_plan(f, 2);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 2, \"now\": 1002, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 1, \"why\": \"resources\"}]}");
	begin_plan(f, 3);
	add_reserve(f, 1, 2000);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 3, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", \"reserved\": [{\"job\": 1, "
		     "\"start_time\": 2000, \"partition\": \"batch\", \"nodes\": \"n[0-3]\", \"node_count\": 4, "
		     "\"cores\": 32}], \"pending\": [{\"job\": 1, \"why\": \"resources\"}]}");
	sl_journal_close(j);
}

static void an_error_that_goes_on_is_written_once(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct sl_plan_meta_row meta;

	begin_plan(f, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	for (int cycle = 2; cycle < 4; cycle++) {
		begin_plan(f, cycle);
		sl_builder_row(f->plan, SL_P_META, 0, &meta);
		meta.error = sl_builder_str(f->plan, "sched.lua:3: oops");
		sl_builder_update(f->plan, SL_P_META, 0, &meta);
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	expect_lines(f, 2, "{\"sequence\": 2, \"now\": 1002, \"policy\": \"easy\", \"error\": \"sched.lua:3: oops\"}");
	begin_plan(f, 5);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 3, "{\"sequence\": 5, \"now\": 1005, \"policy\": \"easy\"}");
	sl_journal_close(j);
}

static void files_are_rotated_and_each_begins_with_all_that_waits(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct lines l;
	struct stat st;
	char path[80];
	int sequence;

	sl_journal_set_size(j, 1000);
	for (int cycle = 1; cycle <= 100; cycle++) {
		begin_plan(f, cycle);
		add_start(f, cycle, 0, 1);
		add_pending(f, 1000, SL_WHY_PRIORITY, "");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
		assert_int_equal(stat(f->path, &st), 0);
		assert_true(st.st_size <= 1000);
	}
	sl_journal_close(j);
	for (int i = 1; i <= SL_LINE_FILE_KEEP + 1; i++) {
		char first[200];
		FILE *in;

		snprintf(path, sizeof(path), "%s.%d", f->path, i);
		in = fopen(path, "r");
		assert_true(i <= SL_LINE_FILE_KEEP ? in != NULL : in == NULL);
		if (!in)
			break;
		assert_non_null(fgets(first, sizeof(first), in));
		assert_non_null(strstr(first, "\"full\": true"));
		fclose(in);
	}
	l = read_lines(f);
	assert_true(l.n > 10 && l.n < 64);
	for (int i = 0; i < l.n; i++) {
		assert_int_equal(sscanf(l.line[i], "{\"sequence\": %d", &sequence), 1);
		assert_int_equal(sequence, 100 - i);
	}
	forget(&l);
}

static void append_raw(struct fixture *f, const char *text, size_t size)
{
	FILE *out = fopen(f->path, "a");

	fwrite(text, 1, size, out);
	fclose(out);
}

static void a_torn_line_is_skipped_by_readers_and_cut_by_the_writer(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	begin_plan(f, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	sl_journal_close(j);
	append_raw(f, "{\"sequence\": 2, \"now", 20);
	expect_lines(f, 1, "{\"sequence\": 1, \"now\": 1001, \"policy\": \"easy\", \"full\": true}");
	append_raw(f, "\n\0\0\0\0\n\n}{\n{\"sequence\": 3}", 26);
	expect_lines(f, 1, NULL);		/* nor is what a crash leaves otherwise a line */
	j = sl_journal_open(f->dir, &err);
	begin_plan(f, 4);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 4, \"now\": 1004, \"policy\": \"easy\", \"full\": true}");
	sl_journal_close(j);
}

static void a_journal_of_one_torn_line_has_no_line(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;

	append_raw(f, "{\"sequence\": 2}", 15);
	expect_lines(f, 0, NULL);
	sl_journal_close(sl_journal_open(f->dir, &err));
	expect_lines(f, 0, NULL);
}

static void what_does_not_fit_on_the_disk_leaves_nothing_torn(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct rlimit old, small;
	struct stat before, after;
	int partial, none;

	begin_plan(f, 1);
	add_pending(f, 1, SL_WHY_PRIORITY, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	stat(f->path, &before);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	begin_plan(f, 2);
	add_start(f, 5, 0, 2);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	small.rlim_cur = before.st_size + 10;
	setrlimit(RLIMIT_FSIZE, &small);
	partial = write_plan(f, j, NULL, &err);
	small.rlim_cur = before.st_size;
	setrlimit(RLIMIT_FSIZE, &small);
	none = write_plan(f, j, NULL, &err);		/* would end in SIGXFSZ */
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(partial, -1);
	assert_int_equal(none, -1);
	assert_int_equal(err.code, SL_EIO);
	stat(f->path, &after);
	assert_int_equal(before.st_size, after.st_size);
	begin_plan(f, 3);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 1, \"why\": \"resources\"}]}");
	sl_journal_close(j);
}

static void a_file_that_was_moved_away_is_begun_anew(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	char moved[80];

	begin_plan(f, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	snprintf(moved, sizeof(moved), "%s.1", f->path);
	assert_int_equal(rename(f->path, moved), 0);
	begin_plan(f, 2);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 2, \"now\": 1002, \"policy\": \"easy\", \"full\": true}");
	unlink(moved);				/* a reader may see a file twice */
	assert_int_equal(link(f->path, moved), 0);
	expect_lines(f, 1, NULL);
	sl_journal_close(j);
}

static void a_writer_waits_for_nobody(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	int other = open(f->path, O_RDONLY);

	assert_int_equal(flock(other, LOCK_EX), 0);
	begin_plan(f, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), -1);
	assert_int_equal(err.code, SL_EBUSY);
	close(other);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 1, NULL);
	sl_journal_close(j);
}

static void long_lines_are_read_whole(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct lines l = { .n = 0, .limit = 2 };

	for (int cycle = 1; cycle <= 3; cycle++) {
		begin_plan(f, cycle);
		for (uint32_t job = 0; job < 20000; job++)
			add_pending(f, job, SL_WHY_POLICY, cycle % 2 ? "not now" : "not today");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	sl_journal_close(j);
	assert_int_equal(sl_journal_read(f->dir, keep, &l, &err), 0);
	assert_int_equal(l.n, 2);		/* it stops when told to */
	assert_true(strlen(l.line[0]) > 1000000);
	assert_non_null(strstr(l.line[0], "\"sequence\": 3,"));
	assert_non_null(strstr(l.line[1], "\"sequence\": 2,"));
	forget(&l);
}

static void random_plans_make_whole_lines(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	for (uint64_t seed = 0; seed < 60; seed++) {
		sl_builder_reset(f->plan);
		make_plan(f->plan, seed, 30, seed);
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	expect_lines(f, 60, NULL);
	sl_journal_close(j);
}

static unsigned mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void a_published_journal_is_for_all_to_read_and_for_nobody_to_lock(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	char rotated[sizeof(f->path) + 3];
	mode_t mask = umask(077);
	struct sl_journal *j = sl_journal_publish(f->dir, &err);
	int reader = open(f->path, O_RDONLY);

	assert_non_null(j);
	assert_int_equal(mode_of(f->path), 0644);
	assert_int_equal(flock(reader, LOCK_EX | LOCK_NB), 0);
	for (uint64_t seed = 0; seed < 2; seed++) {
		sl_builder_reset(f->plan);
		make_plan(f->plan, seed, 30, seed);
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
		sl_journal_set_size(j, 1);	/* the next one is the first of a new file */
	}
	snprintf(rotated, sizeof(rotated), "%s.1", f->path);
	assert_int_equal(mode_of(f->path), 0644);
	assert_int_equal(mode_of(rotated), 0644);
	sl_journal_close(j);
	assert_int_equal(sl_journal_remove(f->dir, &err), 0);
	assert_int_equal(mode_of(f->path), 0);
	assert_int_equal(mode_of(rotated), 0);
	assert_int_equal(sl_journal_remove(f->dir, &err), 0);
	close(reader);
	umask(mask);
}

static void what_cannot_be_a_journal_is_refused(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct lines l = { .n = 0 };

	assert_int_equal(sl_journal_read(f->dir, keep, &l, &err), -1);
	assert_int_equal(err.code, SL_ENOENT);
	assert_null(sl_journal_open("/nonexistent/dir", &err));
	assert_int_equal(err.code, SL_EIO);
	assert_int_equal(symlink("/dev/null", f->path), 0);
	assert_null(sl_journal_open(f->dir, &err));
	unlink(f->path);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	assert_null(sl_journal_open(f->dir, &err));
	sl_journal_close(NULL);
}

/* A terabyte of nothing: where its last line ends would be found in half an hour. */
static void a_journal_of_terabytes_is_begun_anew(void **state)
{
	struct fixture *f = *state;
	struct sl_journal *j;
	struct sl_error err;
	struct stat st;
	int fd = open(f->path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t) 1 << 40), 0);
	close(fd);
	assert_non_null(j = sl_journal_open(f->dir, &err));
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 0);
	sl_journal_close(j);
}

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DIR(a_cycle_is_one_line_that_tells_what_became_of_it),
		WITH_DIR(a_waiting_job_is_named_again_only_when_its_answer_changed),
		WITH_DIR(a_job_whose_alternatives_are_ignored_is_told_so_once),
		WITH_DIR(nodes_of_partitions_are_told_once_and_again_when_they_change),
		WITH_DIR(a_reservation_that_is_lost_is_told_with_the_reason_that_stays),
		WITH_DIR(an_error_that_goes_on_is_written_once),
		WITH_DIR(files_are_rotated_and_each_begins_with_all_that_waits),
		WITH_DIR(a_torn_line_is_skipped_by_readers_and_cut_by_the_writer),
		WITH_DIR(a_journal_of_one_torn_line_has_no_line),
		WITH_DIR(what_does_not_fit_on_the_disk_leaves_nothing_torn),
		WITH_DIR(a_file_that_was_moved_away_is_begun_anew),
		WITH_DIR(a_writer_waits_for_nobody),
		WITH_DIR(a_journal_of_terabytes_is_begun_anew),
		WITH_DIR(long_lines_are_read_whole),
		WITH_DIR(random_plans_make_whole_lines),
		WITH_DIR(a_published_journal_is_for_all_to_read_and_for_nobody_to_lock),
		WITH_DIR(what_cannot_be_a_journal_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
