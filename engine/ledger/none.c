/* SPDX-License-Identifier: MIT */
/*
 * ledger/none.c - the ledger of a program that was built without SQLite.
 */
#include "ledger/ledger.h"

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
	(void) path;
	(void) mode;
	fail_without_sqlite(err);
	return NULL;
}

void sl_ledger_close(struct sl_ledger *l)
{
	(void) l;
}

void sl_ledger_set_patience(struct sl_ledger *l, int ms)
{
	(void) l;
	(void) ms;
}

int sl_ledger_set_aside(const char *path, char *to, size_t size, struct sl_error *err)
{
	(void) path;
	(void) to;
	(void) size;
	return fail_without_sqlite(err);
}

bool sl_ledger_was_set_aside(const char *path)
{
	(void) path;
	return false;
}

/* What follows takes a ledger, and without SQLite nobody can have one: it is never called. */
struct sl_usage *sl_ledger_usage(struct sl_ledger *l)
{
	(void) l;
	return NULL;
}

uint32_t sl_ledger_waiting(const struct sl_ledger *l)
{
	(void) l;
	return 0;
}

void sl_ledger_drop(struct sl_ledger *l)
{
	(void) l;
}

#define NONE(name, ...) int name(struct sl_ledger *l, __VA_ARGS__, struct sl_error *err)

NONE(sl_ledger_add, const struct sl_job_run *run)
{
	(void) l;
	(void) run;
	return fail_without_sqlite(err);
}

NONE(sl_ledger_adjust, const struct sl_adjustment *a)
{
	(void) l;
	(void) a;
	return fail_without_sqlite(err);
}

NONE(sl_ledger_keep_open, uint32_t job, const struct sl_job_run *run)
{
	(void) l;
	(void) job;
	(void) run;
	return fail_without_sqlite(err);
}

NONE(sl_ledger_runs, int64_t since, int64_t until, sl_ledger_each_run *each, void *to)
{
	(void) l;
	(void) since;
	(void) until;
	(void) each;
	(void) to;
	return fail_without_sqlite(err);
}

NONE(sl_ledger_adjustments, sl_ledger_each_adjustment *each, void *to)
{
	(void) l;
	(void) each;
	(void) to;
	return fail_without_sqlite(err);
}

NONE(sl_ledger_open_runs, sl_ledger_each_run *each, void *to)
{
	(void) l;
	(void) each;
	(void) to;
	return fail_without_sqlite(err);
}

NONE(sl_ledger_figures, struct sl_ledger_figures *f)
{
	(void) l;
	(void) f;
	return fail_without_sqlite(err);
}

int sl_ledger_refresh(struct sl_ledger *l, struct sl_error *err)
{
	(void) l;
	return fail_without_sqlite(err);
}

int sl_ledger_commit(struct sl_ledger *l, struct sl_error *err)
{
	(void) l;
	return fail_without_sqlite(err);
}

int sl_ledger_verify(struct sl_ledger *l, struct sl_error *err)
{
	(void) l;
	return fail_without_sqlite(err);
}
