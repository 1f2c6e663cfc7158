/* SPDX-License-Identifier: MIT */
/*
 * ledger/write.c - what waits to be written, and writing it.
 */
#include "ledger/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* -- what waits ---------------------------------------------------------- */

static uint64_t hash_key(int64_t start, uint32_t job)
{
	return sl_hash_number(sl_hash_number(SL_HASH, (uint64_t) start), job);
}

/* NULL: it does not wait. */
struct row *ledger_find_waiting(const struct sl_ledger *l, int64_t start, uint32_t job)
{
	SL_MAP_EACH(&l->by_run, hash_key(start, job), at)
		if (l->wait[at.value].row.start == start && l->wait[at.value].row.job == job)
			return &l->wait[at.value].row;
	return NULL;
}

uint32_t sl_ledger_waiting(const struct sl_ledger *l)
{
	return l->waits + l->adjustings;
}

static void drop_waiting(struct sl_ledger *l)
{
	for (uint32_t i = 0; i < l->adjustings; i++) {
		struct sl_adjustment *a = &l->adjusting[i].a;

		free((char *) a->who);
		free((char *) a->why);
	}
	l->waits = l->adjustings = l->changes = 0;
	sl_map_clear(&l->by_run);
}

void sl_ledger_drop(struct sl_ledger *l)
{
	if (sl_ledger_waiting(l))
		sl_usage_forget(l->usage);
	drop_waiting(l);
}

static int check_run(const struct sl_job_run *r, struct sl_error *err)
{
	if (r->start <= 0 || r->end > SL_LEDGER_MAX_SECONDS || r->end < r->start ||
	    r->end - r->start > SL_RUN_MAX_SECONDS || r->seconds < 0 || r->seconds > SL_RUN_MAX_SECONDS ||
	    r->began < 0 || r->began > r->start || r->before_s < 0 || r->before_s > SL_RUN_MAX_SECONDS ||
	    r->dim.state >= SL_JOB_STATES || (unsigned) r->source >= SL_RUN_SOURCES)
		return sl_fail(err, SL_EINVAL, "job %" PRIu32 ": a run from %" PRId64 " to %" PRId64 " of %" PRId64
			       " seconds cannot be", r->job, r->start, r->end, r->seconds);
	return 0;
}

static int make_row(struct sl_ledger *l, const struct sl_job_run *r, struct row *row, struct sl_error *err)
{
	*row = (struct row) { .start = r->start, .end = r->end, .seconds = r->seconds, .job = r->job,
			      .source = (uint32_t) r->source, .began = r->began, .before_s = r->before_s,
			      .most_cpus = r->most_cpus };
	memcpy(row->count, r->count, sizeof(row->count));
	row->limit = r->limit > 0 ? r->limit : 0;
	snprintf(row->name, sizeof(row->name), "%s", r->name ? r->name : "");
	row->dim = sl_usage_dim(l->usage, &r->dim, err);
	return row->dim == SL_NONE ? -1 : 0;
}

/* Who knows an end best need not know the name and the walltime (a dump of sacct may lack them), nor what the
 * run was before it was resized. */
static void keep_known(struct row *row, const struct row *old)
{
	if (!*row->name)
		strcpy(row->name, old->name);
	if (!row->limit)
		row->limit = old->limit;
	if (!row->began) {
		row->began = old->began;
		row->before_s = old->before_s;
		row->most_cpus = old->most_cpus;
	}
}

/* How much a source is believed. */
static int trust(uint32_t source)
{
	static const int of[SL_RUN_SOURCES] = {
		[SL_RUN_GUESSED] = 0, [SL_RUN_SEEN] = 1, [SL_RUN_WATCHED] = 2, [SL_RUN_SACCT] = 3,
	};

	return source < SL_RUN_SOURCES ? of[source] : 0;
}

/* Is *row* news to those who know *old*? */
static bool is_news(const struct row *row, const struct row *old)
{
	if (trust(row->source) < trust(old->source))
		return false;
	return row->end != old->end || row->seconds != old->seconds || row->dim != old->dim ||
		row->source != old->source || memcmp(row->count, old->count, sizeof(row->count)) ||
		strcmp(row->name, old->name) || row->limit != old->limit || row->began != old->began ||
		row->before_s != old->before_s || row->most_cpus != old->most_cpus;
}

/* What the file has of a run: 1, 0 for nothing, -1 with *err. */
static int get_run(struct sl_ledger *l, int64_t start, uint32_t job, struct row *row, struct sl_error *err)
{
	sqlite3_stmt *s = ledger_statement(l, S_RUN_GET, err);
	int rc;

	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, start);
	sqlite3_bind_int64(s, 2, job);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		rc = ledger_read_row(l, s, row, err) ? -1 : 1;
		sqlite3_reset(s);
		return rc;
	}
	if (rc != SQLITE_DONE)
		ledger_fail(l, "", err);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int note_piece(struct sl_ledger *l, const struct row *row, int sign, struct sl_error *err)
{
	struct sl_piece p = ledger_piece(row);

	return sl_usage_note(l->usage, &p, sign, err);
}

static int add_run(struct sl_ledger *l, const struct sl_job_run *run, struct sl_error *err)
{
	struct waiting w = { .replaces = false };
	struct row *there;
	int known;

	if (check_run(run, err) || make_row(l, run, &w.row, err) ||
	    sl_grow(&l->wait, &l->wait_room, l->waits + 1, sizeof(*l->wait), err) ||
	    sl_map_reserve(&l->by_run, l->waits + 1, err))
		return -1;
	there = ledger_find_waiting(l, run->start, run->job);
	if (there) {
		keep_known(&w.row, there);
		if (!is_news(&w.row, there))
			return 0;
		note_piece(l, there, -1, NULL);
		note_piece(l, &w.row, 1, NULL);
		*there = w.row;
		ledger_note_change(l, w.row.dim);
		return 1;
	}
	known = get_run(l, run->start, run->job, &w.old, err);
	if (known > 0)
		keep_known(&w.row, &w.old);
	if (known < 0 || (known && !is_news(&w.row, &w.old)))
		return known < 0 ? -1 : 0;
	if (l->waits >= SL_LEDGER_BACKLOG)
		return sl_fail(err, SL_ELIMIT, "%s: %d runs wait to be written, and there is no room for more", l->path,
			       SL_LEDGER_BACKLOG);
	w.replaces = known;
	if (known)
		note_piece(l, &w.old, -1, NULL);
	note_piece(l, &w.row, 1, NULL);
	sl_map_put(&l->by_run, hash_key(run->start, run->job), l->waits, NULL);
	l->wait[l->waits++] = w;
	ledger_note_change(l, w.row.dim);
	return 1;
}

/* The pieces of other sizes that the file has of a job at that time, accounting's own left out.  -1 with *err. */
static int find_overlapping(struct sl_ledger *l, const struct sl_job_run *run, struct row *piece, uint32_t most,
			    uint32_t *count, struct sl_error *err)
{
	sqlite3_stmt *s = ledger_statement(l, S_OVERLAPPING, err);
	int rc, bad = 0;

	*count = 0;
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, run->job);
	sqlite3_bind_int64(s, 2, SL_RUN_SACCT);
	sqlite3_bind_int64(s, 3, run->start);
	sqlite3_bind_int64(s, 4, run->end);
	sqlite3_bind_int64(s, 5, run->start);
	while (!bad && *count < most && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		bad = ledger_read_row(l, s, &piece[*count], err);
		*count += !bad;
	}
	if (!bad && *count < most && rc != SQLITE_DONE)
		bad = ledger_fail(l, "", err);
	sqlite3_reset(s);
	return bad ? -1 : 0;
}

#define PIECES 64	/* that one row of accounting takes the place of; of more, those of the next import */

/* Accounting divides a run where it was resized, the tracker where it saw that: what it has at that time counts
 * nothing any more, and what it knows of the whole run goes to the last piece. */
static int take_place_of_pieces(struct sl_ledger *l, struct sl_job_run *run, struct sl_error *err)
{
	struct row piece[PIECES];
	uint32_t count;

	if (find_overlapping(l, run, piece, PIECES, &count, err))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		struct sl_job_run gone = ledger_run_of(l, &piece[i]);
		const struct row *known = ledger_find_waiting(l, gone.start, gone.job);

		if (known && known->source == SL_RUN_SACCT)
			continue;
		if (gone.dim.state != SL_JOB_RUNNING && run->dim.state != SL_JOB_RUNNING && gone.began <= run->start) {
			run->began = gone.began;
			run->before_s = gone.before_s;
			run->most_cpus = gone.most_cpus;
		}
		gone.end = gone.start;
		gone.seconds = 0;
		gone.dim.state = SL_JOB_RUNNING;	/* never the last one */
		gone.source = SL_RUN_SACCT;
		if (add_run(l, &gone, err) < 0)
			return -1;
	}
	return 0;
}

int sl_ledger_add(struct sl_ledger *l, const struct sl_job_run *run, struct sl_error *err)
{
	struct sl_job_run known = *run;

	if (check_run(run, err) || (run->source == SL_RUN_SACCT && take_place_of_pieces(l, &known, err)))
		return -1;
	return add_run(l, &known, err);
}

int sl_ledger_adjust(struct sl_ledger *l, const struct sl_adjustment *a, struct sl_error *err)
{
	struct sl_piece p = { .start = a->at, .end = a->at };
	struct adjusting copy = { .a = *a };

	if (a->at <= 0 || a->at >= SL_LEDGER_MAX_SECONDS)
		return sl_fail(err, SL_EINVAL, "an adjustment at %" PRId64 ": there is no such time", a->at);
	for (int k = 0; k < SL_UNITS; k++)
		if (a->amount[k] > INT64_MAX / 4 || a->amount[k] < -INT64_MAX / 4)
			return sl_fail(err, SL_EINVAL, "an adjustment by %" PRId64 " seconds", a->amount[k]);
	if (sl_grow(&l->adjusting, &l->adjusting_room, l->adjustings + 1, sizeof(*l->adjusting), err))
		return -1;
	copy.dim = sl_usage_dim(l->usage, &a->dim, err);
	copy.a.who = strdup(a->who);
	copy.a.why = strdup(a->why);
	if (copy.dim == SL_NONE || !copy.a.who || !copy.a.why) {
		free((char *) copy.a.who);
		free((char *) copy.a.why);
		return sl_fail(err, SL_ENOMEM, "ledger: out of memory");
	}
	p.dim = copy.dim;
	memcpy(p.amount, a->amount, sizeof(p.amount));
	sl_usage_note(l->usage, &p, 1, NULL);
	l->adjusting[l->adjustings++] = copy;
	return 0;
}

int sl_ledger_keep_open(struct sl_ledger *l, uint32_t job, const struct sl_job_run *run, struct sl_error *err)
{
	struct open_change c = { .row = { .job = job }, .gone = !run };

	if (l->changes >= 2 * SL_LEDGER_BACKLOG)
		return sl_fail(err, SL_ELIMIT, "%s: too much waits to be written", l->path);
	if (sl_grow(&l->change, &l->change_room, l->changes + 1, sizeof(*l->change), err) ||
	    (run && (check_run(run, err) || make_row(l, run, &c.row, err))))
		return -1;
	l->change[l->changes++] = c;
	return 0;
}

/* -- totals that change with what is written ----------------------------- */

/* The totals of a day, begun if need be; NULL with *err. */
static struct delta *find_delta(struct sl_ledger *l, int64_t day, uint32_t dim, struct sl_error *err)
{
	SL_MAP_EACH(&l->by_day, hash_key(day, dim), at)
		if (l->delta[at.value].day == day && l->delta[at.value].dim == dim)
			return &l->delta[at.value];
	if (sl_grow(&l->delta, &l->delta_room, l->deltas + 1, sizeof(*l->delta), err) ||
	    sl_map_put(&l->by_day, hash_key(day, dim), l->deltas, err))
		return NULL;
	l->delta[l->deltas] = (struct delta) { .day = day, .dim = dim };
	return &l->delta[l->deltas++];
}

static int add_delta(struct sl_ledger *l, const struct sl_piece *p, int sign, struct sl_error *err)
{
	int64_t end = sl_day_of(p->end > p->start ? p->end - 1 : p->end) + 1;

	for (int64_t day = sl_day_of(p->start); day < end; day++) {
		struct delta *d = find_delta(l, day, p->dim, err);

		if (!d)
			return -1;
		for (int k = 0; k < SL_UNITS; k++)
			d->amount[k] += sign * sl_piece_part(p, (enum sl_unit) k, day * SL_DAY, (day + 1) * SL_DAY);
	}
	return 0;
}

static int by_day(const void *x, const void *y)
{
	const struct delta *a = x, *b = y;

	return SL_ORDER(a->day, b->day) ?: SL_ORDER(a->dim, b->dim);
}

static int add_total(struct sl_ledger *l, enum statement which, int64_t day, uint32_t dim, const int64_t *amount,
		     struct sl_error *err)
{
	sqlite3_stmt *s = ledger_statement(l, which, err);

	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, day);
	sqlite3_bind_int64(s, 2, l->db_id[dim]);
	for (int k = 0; k < SL_UNITS; k++)
		sqlite3_bind_int64(s, 3 + k, amount[k]);
	return ledger_run(l, s, err);
}

static int write_totals(struct sl_ledger *l, struct sl_error *err)
{
	if (!l->deltas)
		return 0;
	qsort(l->delta, l->deltas, sizeof(*l->delta), by_day);
	for (uint32_t i = 0; i < l->deltas; i++)
		if (add_total(l, S_DAY_ADD, l->delta[i].day, l->delta[i].dim, l->delta[i].amount, err))
			return -1;
	for (uint32_t i = 0; i < l->deltas; i++) {	/* the same by block */
		int64_t day = l->delta[i].day;

		l->delta[i].day = day >= 0 ? day / BLOCK_DAYS : (day - BLOCK_DAYS + 1) / BLOCK_DAYS;
	}
	qsort(l->delta, l->deltas, sizeof(*l->delta), by_day);
	for (uint32_t i = 0; i < l->deltas; i++) {
		struct delta sum = l->delta[i];

		for (; i + 1 < l->deltas && !by_day(&sum, &l->delta[i + 1]); i++)
			for (int k = 0; k < SL_UNITS; k++)
				sum.amount[k] += l->delta[i + 1].amount[k];
		if (add_total(l, S_BLOCK_ADD, sum.day, sum.dim, sum.amount, err))
			return -1;
	}
	return 0;
}

/* -- writing ------------------------------------------------------------- */

/* The dimension has a number in the file. */
static int write_dim(struct sl_ledger *l, uint32_t dim, struct sl_error *err)
{
	const struct sl_dim *d = sl_usage_dim_of(l->usage, dim);
	uint32_t was = l->db_id_room;
	sqlite3_stmt *s;

	if (sl_grow(&l->db_id, &l->db_id_room, dim + 1, sizeof(*l->db_id), err))
		return -1;
	memset(l->db_id + was, 0, (l->db_id_room - was) * sizeof(*l->db_id));
	if (l->db_id[dim])
		return 0;
	s = ledger_statement(l, S_DIM_PUT, err);
	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, d->user, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, d->account, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 3, d->partition, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 4, d->state);
	if (ledger_run(l, s, err))
		return -1;
	/* kept in dim_of when it is read again, after the commit */
	l->db_id[dim] = sqlite3_last_insert_rowid(l->db);
	return 0;
}

static int write_spans(struct sl_ledger *l, enum statement which, const struct row *r, struct sl_error *err)
{
	int64_t last = sl_day_of(r->end > r->start ? r->end - 1 : r->end);

	for (int64_t day = sl_day_of(r->start) + 1; day <= last; day++) {
		sqlite3_stmt *s = ledger_statement(l, which, err);

		if (!s)
			return -1;
		sqlite3_bind_int64(s, 1, day);
		sqlite3_bind_int64(s, 2, r->start);
		sqlite3_bind_int64(s, 3, r->job);
		if (ledger_run(l, s, err))
			return -1;
	}
	return 0;
}

static int write_run(struct sl_ledger *l, const struct row *r, struct sl_error *err)
{
	struct sl_piece p = ledger_piece(r), gone;
	sqlite3_stmt *s;
	struct row old;
	int known = get_run(l, r->start, r->job, &old, err);

	if (known < 0)
		return -1;
	if (known && !is_news(r, &old))
		return 0;	/* another process was faster */
	if (known) {
		gone = ledger_piece(&old);
		if (write_spans(l, S_SPAN_DELETE, &old, err) || add_delta(l, &gone, -1, err))
			return -1;
	}
	if (write_dim(l, r->dim, err) || !(s = ledger_statement(l, S_RUN_PUT, err)))
		return -1;
	ledger_bind_row(s, r, l->db_id[r->dim]);
	if (ledger_run(l, s, err))
		return -1;
	return write_spans(l, S_SPAN_PUT, r, err) || add_delta(l, &p, 1, err) ? -1 : 0;
}

static int write_adjustment(struct sl_ledger *l, const struct adjusting *j, struct sl_error *err)
{
	struct sl_piece p = { .dim = j->dim, .start = j->a.at, .end = j->a.at };
	sqlite3_stmt *s;

	if (write_dim(l, j->dim, err) || !(s = ledger_statement(l, S_ADJUSTMENT_PUT, err)))
		return -1;
	sqlite3_bind_int64(s, 1, j->a.at);
	sqlite3_bind_int64(s, 2, l->db_id[j->dim]);
	for (int k = 0; k < SL_UNITS; k++)
		sqlite3_bind_int64(s, 3 + k, j->a.amount[k]);
	sqlite3_bind_int64(s, 6, j->a.made);
	sqlite3_bind_text(s, 7, j->a.who, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 8, j->a.why, -1, SQLITE_STATIC);
	memcpy(p.amount, j->a.amount, sizeof(p.amount));
	return ledger_run(l, s, err) || add_delta(l, &p, 1, err) ? -1 : 0;
}

static int write_open(struct sl_ledger *l, const struct open_change *c, struct sl_error *err)
{
	sqlite3_stmt *s;

	if (!c->gone && write_dim(l, c->row.dim, err))
		return -1;
	s = ledger_statement(l, c->gone ? S_OPEN_DELETE : S_OPEN_PUT, err);
	if (!s)
		return -1;
	if (c->gone)
		sqlite3_bind_int64(s, 1, c->row.job);
	else
		ledger_bind_row(s, &c->row, l->db_id[c->row.dim]);
	return ledger_run(l, s, err);
}

static int write_all(struct sl_ledger *l, struct sl_error *err)
{
	for (uint32_t i = 0; i < l->waits; i++)
		if (write_run(l, &l->wait[i].row, err))
			return -1;
	for (uint32_t i = 0; i < l->adjustings; i++)
		if (write_adjustment(l, &l->adjusting[i], err))
			return -1;
	for (uint32_t i = 0; i < l->changes; i++)
		if (write_open(l, &l->change[i], err))
			return -1;
	return write_totals(l, err);
}

/* The numbers that a transaction gave to dimensions are void. */
static void forget_dims(struct sl_ledger *l)
{
	memset(l->db_id, 0, l->db_id_room * sizeof(*l->db_id));
	for (int64_t i = 0; i < l->dim_of_room; i++)
		if (l->dim_of[i])
			l->db_id[l->dim_of[i] - 1] = i;
}

int sl_ledger_commit(struct sl_ledger *l, struct sl_error *err)
{
	if (!sl_ledger_waiting(l) && !l->changes)
		return 0;
	l->deltas = 0;
	sl_map_clear(&l->by_day);
	if (ledger_run(l, ledger_statement(l, S_BEGIN, err), err))
		return -1;
	if (sl_ledger_refresh(l, err) || write_all(l, err) ||
	    ledger_run(l, ledger_statement(l, S_COMMIT, err), err)) {
		/* a commit that failed may have ended the transaction, or not */
		if (!sqlite3_get_autocommit(l->db))
			ledger_run(l, ledger_statement(l, S_ROLLBACK, NULL), NULL);
		forget_dims(l);
		return -1;
	}
	drop_waiting(l);
	if (ledger_load_dims(l, err)) {
		sl_usage_forget(l->usage);
		return -1;
	}
	return 0;
}
