/* SPDX-License-Identifier: MIT */
/*
 * journals.h - a directory with a journal, plans to write into it, and the lines that come out.
 *
 * set_up() and tear_down() are those of each test; *state is the fixture.
 */
#ifndef T_JOURNALS_H
#define T_JOURNALS_H

#include "image/journal.h"

struct fixture {
	char dir[32], path[64];
	struct sl_builder *snapshot, *plan;
	struct sl_snapshot snap;
	struct sl_plan_image image;
};

/* Newest first. */
struct lines {
	char *line[64];
	int n, limit;
};

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int set_up(void **state);
int tear_down(void **state);

/* A plan, to be written with write_plan(). */
void begin_plan(struct fixture *f, int64_t sequence);
struct sl_range places(struct fixture *f, uint32_t first, uint32_t count);
void add_start(struct fixture *f, uint32_t job, uint32_t first, uint32_t count);
void add_reserve(struct fixture *f, uint32_t job, int64_t start_time);
void add_pending(struct fixture *f, uint32_t job, enum sl_why why, const char *text);
int write_plan(struct fixture *f, struct sl_journal *j, const struct sl_carried *carried, struct sl_error *err);
/* keep() is what sl_journal_read() calls, for a struct lines; it fails on what is no JSON. */
int keep(const char *line, size_t length, void *arg);
struct lines read_lines(struct fixture *f);
void forget(struct lines *l);
void expect_lines(struct fixture *f, int n, const char *newest);

#endif
