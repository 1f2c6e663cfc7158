/* SPDX-License-Identifier: MIT */
/*
 * ledger/read.c - what the file has: for questions, and as a whole.
 */
#include "ledger/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whole blocks are summed up in the file. */
static int64_t block_from(int64_t day)		/* the first that begins on that day or later */
{
	return day > 0 ? (day + BLOCK_DAYS - 1) / BLOCK_DAYS : day / BLOCK_DAYS;
}

static int64_t block_before(int64_t day)	/* the one after the last that ends by then */
{
	return day >= 0 ? day / BLOCK_DAYS : (day - BLOCK_DAYS + 1) / BLOCK_DAYS;
}

static int read_totals(struct sl_ledger *l, enum statement which, int64_t first, int64_t end,
		       sl_usage_each_day *each, void *to, struct sl_error *err)
{
	sqlite3_stmt *s;
	int rc;

	if (first >= end)
		return 0;
	s = ledger_statement(l, which, err);
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, first);
	sqlite3_bind_int64(s, 2, end);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t amount[SL_UNITS], dim = sqlite3_column_int64(s, 1);

		if (dim < 0 || dim >= l->dim_of_room || !l->dim_of[dim]) {
			sqlite3_reset(s);
			return sl_fail(err, SL_EFORMAT, "%s: a total of dimension %" PRId64 ", which is not there",
				       l->path, dim);
		}
		for (int k = 0; k < SL_UNITS; k++)
			amount[k] = sqlite3_column_int64(s, 2 + k);
		each(to, l->dim_of[dim] - 1, sqlite3_column_int64(s, 0), amount);
	}
	if (rc != SQLITE_DONE)
		ledger_fail(l, "", err);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

/* The parts of a piece in [first, end): in one, or day by day. */
static void tell_days(const struct sl_piece *p, int sign, int64_t first, int64_t end, bool apart,
		      sl_usage_each_day *each, void *to)
{
	int64_t from = sl_day_of(p->start), until = sl_day_of(p->end > p->start ? p->end - 1 : p->end) + 1;
	int64_t amount[SL_UNITS], step;

	from = from > first ? from : first;
	until = until < end ? until : end;
	for (int64_t day = from; day < until; day += step) {
		step = apart ? 1 : until - day;
		for (int k = 0; k < SL_UNITS; k++)
			amount[k] = sign * sl_piece_part(p, (enum sl_unit) k, day * SL_DAY, (day + step) * SL_DAY);
		each(to, p->dim, day, amount);
	}
}

/* What waits to be written. */
static void tell_waiting(struct sl_ledger *l, int64_t first, int64_t end, bool apart, sl_usage_each_day *each, void *to)
{
	for (uint32_t i = 0; i < l->waits; i++) {
		const struct waiting *w = &l->wait[i];
		struct sl_piece p = ledger_piece(&w->row), old = ledger_piece(&w->old);

		tell_days(&p, 1, first, end, apart, each, to);
		if (w->replaces)
			tell_days(&old, -1, first, end, apart, each, to);
	}
	for (uint32_t i = 0; i < l->adjustings; i++) {
		const struct adjusting *a = &l->adjusting[i];
		struct sl_piece p = { .dim = a->dim, .start = a->a.at, .end = a->a.at };

		memcpy(p.amount, a->a.amount, sizeof(p.amount));
		tell_days(&p, 1, first, end, apart, each, to);
	}
}

int ledger_days(void *arg, int64_t first, int64_t end, bool apart, sl_usage_each_day *each, void *to,
		struct sl_error *err)
{
	struct sl_ledger *l = arg;
	int64_t from = block_from(first), until = block_before(end);

	if (apart || from >= until) {
		if (read_totals(l, S_DAYS, first, end, each, to, err))
			return -1;
	} else if (read_totals(l, S_DAYS, first, from * BLOCK_DAYS, each, to, err) ||
		   read_totals(l, S_BLOCKS, from, until, each, to, err) ||
		   read_totals(l, S_DAYS, until * BLOCK_DAYS, end, each, to, err)) {
		return -1;
	}
	tell_waiting(l, first, end, apart, each, to);
	return 0;
}

static int read_runs(struct sl_ledger *l, sqlite3_stmt *s, sl_usage_each_piece *each, void *to, struct sl_error *err)
{
	struct sl_piece p;
	struct row row;
	int rc;

	if (!s)
		return -1;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		if (ledger_read_row(l, s, &row, err)) {
			sqlite3_reset(s);
			return -1;
		}
		p = ledger_piece(&row);
		each(to, &p);
	}
	if (rc != SQLITE_DONE)
		ledger_fail(l, "", err);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int read_adjustments(struct sl_ledger *l, int64_t day, sl_usage_each_piece *each, void *to,
			    struct sl_error *err)
{
	sqlite3_stmt *s = ledger_statement(l, S_ADJUSTMENTS_OF_DAY, err);
	int rc;

	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, day * SL_DAY);
	sqlite3_bind_int64(s, 2, (day + 1) * SL_DAY);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t dim = sqlite3_column_int64(s, 1);
		struct sl_piece p = { .start = sqlite3_column_int64(s, 0) };

		if (dim < 0 || dim >= l->dim_of_room || !l->dim_of[dim]) {
			sqlite3_reset(s);
			return sl_fail(err, SL_EFORMAT, "%s: an adjustment of dimension %" PRId64 ", which is not there",
				       l->path, dim);
		}
		p.dim = l->dim_of[dim] - 1;
		p.end = p.start;
		for (int k = 0; k < SL_UNITS; k++)
			p.amount[k] = sqlite3_column_int64(s, 2 + k);
		each(to, &p);
	}
	if (rc != SQLITE_DONE)
		ledger_fail(l, "", err);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

static bool lies_in_day(const struct sl_piece *p, int64_t day)
{
	return sl_day_of(p->start) <= day && day <= sl_day_of(p->end > p->start ? p->end - 1 : p->end);
}

int ledger_pieces(void *arg, int64_t day, sl_usage_each_piece *each, void *to, struct sl_error *err)
{
	struct sl_ledger *l = arg;
	sqlite3_stmt *s = ledger_statement(l, S_RUNS_OF_DAY, err);

	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, day * SL_DAY);
	sqlite3_bind_int64(s, 2, (day + 1) * SL_DAY);
	if (read_runs(l, s, each, to, err))
		return -1;
	s = ledger_statement(l, S_SPANS_OF_DAY, err);
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, day);
	if (read_runs(l, s, each, to, err) || read_adjustments(l, day, each, to, err))
		return -1;
	for (uint32_t i = 0; i < l->waits; i++) {
		struct sl_piece p = ledger_piece(&l->wait[i].row), old = ledger_piece(&l->wait[i].old);

		if (lies_in_day(&p, day))
			each(to, &p);
		for (int k = 0; k < SL_UNITS; k++)
			old.amount[k] = -old.amount[k];
		if (l->wait[i].replaces && lies_in_day(&old, day))
			each(to, &old);
	}
	for (uint32_t i = 0; i < l->adjustings; i++) {
		const struct adjusting *a = &l->adjusting[i];
		struct sl_piece p = { .dim = a->dim, .start = a->a.at, .end = a->a.at };

		memcpy(p.amount, a->a.amount, sizeof(p.amount));
		if (lies_in_day(&p, day))
			each(to, &p);
	}
	return 0;
}

struct sl_job_run ledger_run_of(const struct sl_ledger *l, const struct row *row)
{
	struct sl_job_run run = {
		.job = row->job, .start = row->start, .end = row->end, .seconds = row->seconds, .limit = row->limit,
		.began = row->began, .before_s = row->before_s, .most_cpus = row->most_cpus,
		.dim = *sl_usage_dim_of(l->usage, row->dim), .name = row->name, .source = (enum sl_run_source) row->source,
	};

	memcpy(run.count, row->count, sizeof(run.count));
	return run;
}

/* -- as a whole ---------------------------------------------------------- */

static sqlite3_stmt *prepare_statement(struct sl_ledger *l, const char *text, struct sl_error *err)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(l->db, text, -1, &s, NULL) != SQLITE_OK)
		ledger_fail(l, "", err);
	return s;
}

/* End a statement that returned *rc* last; 0, or -1. */
static int finish_statement(struct sl_ledger *l, sqlite3_stmt *s, int rc, struct sl_error *err)
{
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		ledger_fail(l, "", err);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : -1;
}

static int tell_runs(struct sl_ledger *l, sqlite3_stmt *s, sl_ledger_each_run *each, void *to, struct sl_error *err)
{
	int rc = 0;

	while (s && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct sl_job_run run;
		struct row row;

		if (ledger_read_row(l, s, &row, err)) {
			sqlite3_finalize(s);
			return -1;
		}
		run = ledger_run_of(l, &row);
		if (each(to, &run))
			break;
	}
	return s ? finish_statement(l, s, rc, err) : -1;
}

int sl_ledger_runs(struct sl_ledger *l, int64_t since, int64_t until, sl_ledger_each_run *each, void *to,
		   struct sl_error *err)
{
	sqlite3_stmt *s = prepare_statement(l, "SELECT " RUN_COLUMNS " FROM run"
					    " WHERE start < ? AND (end > ? OR start >= ?) ORDER BY start, job", err);

	if (s) {
		sqlite3_bind_int64(s, 1, until);
		sqlite3_bind_int64(s, 2, since);
		sqlite3_bind_int64(s, 3, since);
	}
	return tell_runs(l, s, each, to, err);
}

int sl_ledger_open_runs(struct sl_ledger *l, sl_ledger_each_run *each, void *to, struct sl_error *err)
{
	return tell_runs(l, prepare_statement(l, "SELECT " RUN_COLUMNS " FROM open ORDER BY job", err), each, to, err);
}

int sl_ledger_adjustments(struct sl_ledger *l, sl_ledger_each_adjustment *each, void *to, struct sl_error *err)
{
	sqlite3_stmt *s = prepare_statement(l, "SELECT adjustment.id, at, cpu, gpu, node, made, who, why, user, account, partition,"
					    " state FROM adjustment JOIN dim ON dim.id = dim ORDER BY adjustment.id", err);
	int rc = 0;

	while (s && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct sl_adjustment a = {
			.id = sqlite3_column_int64(s, 0), .at = sqlite3_column_int64(s, 1),
			.amount = { sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3), sqlite3_column_int64(s, 4) },
			.made = sqlite3_column_int64(s, 5), .who = (const char *) sqlite3_column_text(s, 6),
			.why = (const char *) sqlite3_column_text(s, 7),
			.dim = { (const char *) sqlite3_column_text(s, 8), (const char *) sqlite3_column_text(s, 9),
				 (const char *) sqlite3_column_text(s, 10), (uint32_t) sqlite3_column_int(s, 11) },
		};

		if (each(to, &a))
			break;
	}
	return s ? finish_statement(l, s, rc, err) : -1;
}

static int read_numbers(struct sl_ledger *l, const char *text, int64_t *value, int count, struct sl_error *err)
{
	sqlite3_stmt *s = prepare_statement(l, text, err);
	int rc;

	if (!s)
		return -1;
	rc = sqlite3_step(s);
	for (int i = 0; rc == SQLITE_ROW && i < count; i++)
		value[i] = sqlite3_column_int64(s, i);
	return finish_statement(l, s, rc, err);
}

int sl_ledger_figures(struct sl_ledger *l, struct sl_ledger_figures *f, struct sl_error *err)
{
	int64_t v[3] = { 0 }, adjustments = 0, pages[2] = { 0 };

	if (read_numbers(l, "SELECT count(*), min(start), max(end) FROM run", v, 3, err) ||
	    read_numbers(l, "SELECT count(*) FROM adjustment", &adjustments, 1, err) ||
	    read_numbers(l, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size", pages, 2, err))
		return -1;
	*f = (struct sl_ledger_figures) { v[0], adjustments, v[1], v[2], pages[0] * pages[1] };
	return 0;
}

/* -- is it right? -------------------------------------------------------- */

struct verify {
	struct sl_ledger *l;
	struct sl_usage *again;
	struct sl_error err;
};

static int verify_run(void *to, const struct sl_job_run *run)
{
	struct verify *v = to;
	struct sl_piece p = { .start = run->start, .end = run->end };

	for (int k = 0; k < SL_UNITS; k++)
		p.amount[k] = run->count[k] * run->seconds;
	p.dim = sl_usage_dim(v->again, &run->dim, &v->err);
	return p.dim == SL_NONE || sl_usage_note(v->again, &p, 1, &v->err);
}

static int verify_adjustment(void *to, const struct sl_adjustment *a)
{
	struct verify *v = to;
	struct sl_piece p = { .start = a->at, .end = a->at };

	memcpy(p.amount, a->amount, sizeof(p.amount));
	p.dim = sl_usage_dim(v->again, &a->dim, &v->err);
	return p.dim == SL_NONE || sl_usage_note(v->again, &p, 1, &v->err);
}

/* Do both give the same for the days [first, end)? */
static int same_totals(struct verify *v, int64_t first, int64_t end, struct sl_error *err)
{
	for (int k = 0; k < SL_UNITS; k++) {
		struct sl_usage_query q = { .by = SL_BY_USER, .unit = (enum sl_unit) k, .since = first * SL_DAY,
					    .until = end * SL_DAY };
		const struct sl_usage_total *a, *b;
		uint32_t n, m;

		if (sl_usage_ask(v->l->usage, &q, &a, &n, err) || sl_usage_ask(v->again, &q, &b, &m, err))
			return -1;
		for (uint32_t i = 0; i < n || i < m; i++)
			if (i >= n || i >= m || strcmp(a[i].name, b[i].name) || a[i].seconds != b[i].seconds)
				return sl_fail(err, SL_EFORMAT, "%s: totals of the days from %" PRId64 " to %" PRId64
					       " are not those of the runs", v->l->path, first, end);
	}
	return 0;
}

/* The days of which anything is known, each by itself, and what lies before, between and after
 * them.  (A single time that was mistaken for another may lie 30,000 years from all others.) */
static int same_days(struct verify *v, struct sl_error *err)
{
	sqlite3_stmt *s = prepare_statement(v->l, "SELECT DISTINCT day FROM day ORDER BY day", err);
	const int64_t most = SL_USAGE_MAX_SECONDS / SL_DAY;
	int64_t next = -most;
	int rc = SQLITE_DONE, differs = 0;

	while (s && !differs && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t day = sqlite3_column_int64(s, 0);

		differs = day < next || day >= most ?
			sl_fail(err, SL_EFORMAT, "%s: a total of day %" PRId64 ", which no time has", v->l->path, day) :
			same_totals(v, next, day, err) || same_totals(v, day, day + 1, err);
		next = day + 1;
	}
	if (!s || finish_statement(v->l, s, differs ? SQLITE_DONE : rc, err) || differs)
		return -1;
	return same_totals(v, next, most, err);
}

int sl_ledger_verify(struct sl_ledger *l, struct sl_error *err)
{
	struct verify v = { .l = l };
	int rc = -1;

	v.again = sl_usage_create_memory(err);
	if (!v.again || sl_ledger_runs(l, INT64_MIN, INT64_MAX, verify_run, &v, err) ||
	    sl_ledger_adjustments(l, verify_adjustment, &v, err))
		goto error;
	if (v.err.code) {
		if (err)
			*err = v.err;
		goto error;
	}
	sl_usage_forget(l->usage);
	rc = same_days(&v, err);
error:
	sl_usage_destroy(v.again);
	return rc;
}
