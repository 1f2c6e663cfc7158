/* SPDX-License-Identifier: MIT */
/*
 * made_page.h - report pages of a few jobs, made in a directory of their own from assets of a few bytes, and what was written
 * in them.
 */
#ifndef T_MADE_PAGE_H
#define T_MADE_PAGE_H

#include "report/page.h"
#include "t/build.h"

/* The directory, with the assets, of the test that runs. */
int made_page_setup(void **state);
int made_page_teardown(void **state);
#define page_test(f) cmocka_unit_test_setup_teardown(f, made_page_setup, made_page_teardown)

/* A path in it; four of them at a time. */
const char *in_dir(const char *name);
void put_file(const char *name, const char *text);
char *get_file(const char *name);
int files_in_dir(void);

struct fixture {
	struct build *b;
	struct sl_workload w;
};

/* Jobs 7, 8, ... of a user, submitted 10 s apart from BUILD_NOW on. */
struct fixture begin(const char *machine, uint32_t jobs, const char *user);

/* A page of that workload, in a run. */
struct sl_page *open_page(const struct fixture *f, const char *name);

/* A job that has *cores* of each of *count* nodes; times are from BUILD_NOW on, end 0: it runs still. */
void add(struct sl_page *p, uint32_t row, int64_t start, int64_t end, uint32_t first, uint32_t count, uint32_t cores);
void finish(struct sl_page *p);

/* The numbers of a <script class=CLASS> of a page, space-separated, are these. */
void assert_numbers(const char *name, const char *class, const char *expected);

#endif
