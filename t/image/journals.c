/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "t/image/journals.h"

int set_up(void **state)
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

int tear_down(void **state)
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

void begin_plan(struct fixture *f, int64_t sequence)
{
	struct sl_plan_meta_row meta = sl_plan_meta_row();

	sl_builder_reset(f->plan);
	meta.sequence = sequence;
	meta.now = 1000 + sequence;
	meta.policy = sl_builder_str(f->plan, "easy");
	sl_builder_append(f->plan, SL_P_META, &meta);
}

struct sl_range places(struct fixture *f, uint32_t first, uint32_t count)
{
	struct sl_plan_place_row place = sl_plan_place_row();
	struct sl_range range = { sl_builder_rows(f->plan, SL_P_PLACE), count };

	for (place.node = first; place.node < first + count; place.node++) {
		place.cores = 8;
		sl_builder_append(f->plan, SL_P_PLACE, &place);
	}
	return range;
}

void add_start(struct fixture *f, uint32_t job, uint32_t first, uint32_t count)
{
	struct sl_plan_start_row start = sl_plan_start_row();

	start.job = job;
	start.partition = 0;
	start.places = places(f, first, count);
	start.by = sl_builder_str(f->plan, "easy");
	sl_builder_append(f->plan, SL_P_START, &start);
}

void add_reserve(struct fixture *f, uint32_t job, int64_t start_time)
{
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();

	reserve.job = job;
	reserve.start_time = start_time;
	reserve.partition = 0;
	reserve.places = places(f, 0, 4);
	sl_builder_append(f->plan, SL_P_RESERVE, &reserve);
}

void add_pending(struct fixture *f, uint32_t job, enum sl_why why, const char *text)
{
	struct sl_plan_pending_row pending = sl_plan_pending_row();

	pending.job = job;
	pending.why = why;
	pending.text = sl_builder_str(f->plan, text);
	sl_builder_append(f->plan, SL_P_PENDING, &pending);
}

int write_plan(struct fixture *f, struct sl_journal *j, const struct sl_carried *carried, struct sl_error *err)
{
	const void *bytes;
	size_t size;

	if (sl_builder_finish(f->plan, &bytes, &size, err) < 0 || sl_plan_image_open(&f->image, bytes, size, err) < 0)
		fail_msg("%s", err->text);
	return sl_journal_write(j, &f->snap, &f->image, carried, err);
}

/* -- what was written --------------------------------------------------------- */

int keep(const char *line, size_t length, void *arg)
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

struct lines read_lines(struct fixture *f)
{
	struct lines l = { .n = 0, .limit = 64 };
	struct sl_error err;

	if (sl_journal_read(f->dir, keep, &l, &err) < 0)
		fail_msg("%s", err.text);
	return l;
}

void forget(struct lines *l)
{
	while (l->n)
		free(l->line[--l->n]);
}

void expect_lines(struct fixture *f, int n, const char *newest)
{
	struct lines l = read_lines(f);

	assert_int_equal(l.n, n);
	if (newest)
		assert_string_equal(l.line[0], newest);
	forget(&l);
}
