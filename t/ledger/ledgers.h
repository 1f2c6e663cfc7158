/* SPDX-License-Identifier: MIT */
/*
 * ledgers.h - a ledger in a directory of the test's own, under $TMPDIR; runs for it, and what it
 * answers.  make_dir() and remove_dir() are the set-up and the end of each test.
 */
#ifndef T_LEDGERS_H
#define T_LEDGERS_H

#include "ledger/ledger.h"

#define T0 INT64_C(1699920000)	/* a UTC midnight */

extern struct sl_error err;
extern char dir[256], path[300];	/* path: of the ledger */

#define OK(call) do { err.text[0] = 0; if (call) fail_msg("%s: %s", #call, err.text); } while (0)
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

int make_dir(void **state);
int remove_dir(void **state);
struct sl_ledger *open_ledger(enum sl_ledger_mode mode);
struct sl_job_run run_of(uint32_t job, int64_t start, int64_t end, uint32_t cpus);
int add(struct sl_ledger *l, struct sl_job_run r);
int64_t total(struct sl_ledger *l, const char *name, struct sl_usage_query q);

/* Adds the numbers of jobs to an int64_t. */
int add_job_number(void *to, const struct sl_job_run *r);

/* Seconds of a user. */
#define CPU(l, name, ...) total(l, name, (struct sl_usage_query) { .by = SL_BY_USER, .unit = SL_UNIT_CPU, __VA_ARGS__ })

#endif
