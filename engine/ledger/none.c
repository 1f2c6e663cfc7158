/* SPDX-License-Identifier: MIT */
/*
 * ledger/none.c - the ledger of a program that was built without SQLite.
 */
#include "ledger/ledger.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"	/* all of them */

static int fail_without_sqlite(struct sl_error *err)
{
	return sl_fail(err, SL_EINVAL, "this program was built without SQLite: there is no ledger (libsqlite3-dev is "
		       "what configure looks for)");
}

bool sl_ledger_available(void)
{
	return false;
}

struct sl_ledger *sl_ledger_open(const char *path, enum sl_ledger_mode mode, struct sl_error *err)
{
	fail_without_sqlite(err);
	return NULL;
}

void sl_ledger_close(struct sl_ledger *l)
{
}

void sl_ledger_set_patience(struct sl_ledger *l, int ms)
{
}

int sl_ledger_set_aside(const char *path, char *to, size_t size, struct sl_error *err)
{
	return fail_without_sqlite(err);
}

bool sl_ledger_was_set_aside(const char *path)
{
	return false;
}

/* What follows takes a ledger, and without SQLite nobody can have one: it is never called. */
struct sl_usage *sl_ledger_usage(struct sl_ledger *l)
{
	return NULL;
}

uint32_t sl_ledger_waiting(const struct sl_ledger *l)
{
	return 0;
}

void sl_ledger_drop(struct sl_ledger *l)
{
}

#define NONE(name, ...) \
int name(struct sl_ledger *l __VA_OPT__(,) __VA_ARGS__, struct sl_error *err) \
{ \
	return fail_without_sqlite(err); \
}

NONE(sl_ledger_add, const struct sl_job_run *run)
NONE(sl_ledger_adjust, const struct sl_adjustment *a)
NONE(sl_ledger_keep_open, uint32_t job, const struct sl_job_run *run)
NONE(sl_ledger_runs, int64_t since, int64_t until, sl_ledger_each_run *each, void *to)
NONE(sl_ledger_adjustments, sl_ledger_each_adjustment *each, void *to)
NONE(sl_ledger_open_runs, sl_ledger_each_run *each, void *to)
NONE(sl_ledger_figures, struct sl_ledger_figures *f)
NONE(sl_ledger_refresh)
NONE(sl_ledger_commit)
NONE(sl_ledger_verify)

int sl_ledger_newest(struct sl_ledger *l, enum sl_usage_by by, const char *name, uint32_t most,
		     sl_ledger_each_run *each, void *to, struct sl_error *err)
{
	return fail_without_sqlite(err);
}

uint64_t sl_ledger_stamp(const struct sl_ledger *l, enum sl_usage_by by, const char *name)
{
	return 1;
}

int sl_ledger_load_history(void *ledger, struct sl_history *h, enum sl_usage_by by, const char *name,
			   struct sl_error *err)
{
	return fail_without_sqlite(err);
}
