/* SPDX-License-Identifier: MIT */
/*
 * ledger/newest.c - the newest runs of somebody, for those who learn from them.
 */
#include "ledger/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* -- what has changed ----------------------------------------------------- */

static uint64_t hash_stamp(enum sl_usage_by by, const char *name)
{
	return sl_hash_text(sl_hash_number(SL_HASH, by), name);
}

static struct stamp *find_stamp(const struct sl_ledger *l, enum sl_usage_by by, const char *name)
{
	SL_MAP_EACH(&l->by_stamp, hash_stamp(by, name), at)
		if (l->stamp[at.value].by == by && !strcmp(l->stamp[at.value].name, name))
			return &l->stamp[at.value];
	return NULL;
}

static void set_stamp(struct sl_ledger *l, enum sl_usage_by by, const char *name)
{
	struct stamp *s = find_stamp(l, by, name);
	char *copy;

	if (s) {
		s->stamp = ++l->clock;
		return;
	}
	copy = strdup(name);
	if (copy && !sl_grow(&l->stamp, &l->stamp_room, l->stamps + UINT64_C(1), sizeof(*s), NULL) &&
	    !sl_map_put(&l->by_stamp, hash_stamp(by, name), l->stamps, NULL)) {
		l->stamp[l->stamps++] = (struct stamp) { copy, by, ++l->clock };
		return;
	}
	free(copy);
	l->all_stamp = ++l->clock;	/* out of memory: all have changed */
}

void ledger_note_change(struct sl_ledger *l, uint32_t dim)
{
	set_stamp(l, SL_BY_USER, sl_usage_dim_of(l->usage, dim)->user);
	set_stamp(l, SL_BY_ACCOUNT, sl_usage_dim_of(l->usage, dim)->account);
}

static bool is_everybody(enum sl_usage_by by, const char *name)
{
	return by == SL_BY_ACCOUNT && !strcmp(name, SL_HISTORY_EVERYBODY);
}

uint64_t sl_ledger_stamp(const struct sl_ledger *l, enum sl_usage_by by, const char *name)
{
	const struct stamp *s = find_stamp(l, by, name);

	if (is_everybody(by, name))
		return l->clock;
	return s && s->stamp > l->all_stamp ? s->stamp : l->all_stamp;
}

void ledger_free_stamps(struct sl_ledger *l)
{
	for (uint32_t i = 0; i < l->stamps; i++)
		free(l->stamp[i].name);
	free(l->stamp);
	sl_map_free(&l->by_stamp);
}

struct sl_job_run sl_whole_run(struct sl_job_run piece)
{
	if (!piece.began)
		return piece;
	piece.start = piece.began;
	piece.seconds += piece.before_s;
	if (piece.most_cpus > piece.count[SL_UNIT_CPU])
		piece.count[SL_UNIT_CPU] = piece.most_cpus;
	piece.began = piece.before_s = piece.most_cpus = 0;
	return piece;
}

/* -- the newest ------------------------------------------------------------- */

struct rows {
	struct row *row;
	uint32_t count, room;
	int64_t since;			/* those that ended before are too old */
};

static int by_end(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	return SL_ORDER(a->end, b->end) ?: SL_ORDER(a->start, b->start) ?: SL_ORDER(a->job, b->job);
}

static int read_dim(struct sl_ledger *l, uint32_t dim, uint32_t most, struct rows *rows, struct sl_error *err)
{
	sqlite3_stmt *s;
	int rc, bad = 0;

	if (dim >= l->db_id_room || !l->db_id[dim])
		return 0;	/* not in the file yet */
	s = ledger_statement(l, S_NEWEST_OF_DIM, err);
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, l->db_id[dim]);
	sqlite3_bind_int64(s, 2, rows->since);
	sqlite3_bind_int64(s, 3, most);
	while (!bad && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		bad = sl_grow(&rows->row, &rows->room, rows->count + UINT64_C(1), sizeof(*rows->row), err) ||
			ledger_read_row(l, s, &rows->row[rows->count], err);
		/* what waits is known better */
		if (!bad && !ledger_find_waiting(l, rows->row[rows->count].start, rows->row[rows->count].job))
			rows->count++;
	}
	if (!bad && rc != SQLITE_DONE)
		bad = ledger_fail(l, "", err);
	sqlite3_reset(s);
	return bad ? -1 : 0;
}

static bool is_of(const struct sl_ledger *l, uint32_t dim, enum sl_usage_by by, const char *name)
{
	const struct sl_dim *d = sl_usage_dim_of(l->usage, dim);

	/* a piece after which the run went on: the last one tells of the whole */
	return d->state != SL_JOB_RUNNING && (is_everybody(by, name) || !strcmp(by == SL_BY_USER ? d->user : d->account, name));
}

/* Only the newest; none that is older will be of them. */
static void keep_newest(struct rows *rows, uint32_t most)
{
	if (rows->count <= most)
		return;
	qsort(rows->row, rows->count, sizeof(*rows->row), by_end);
	memmove(rows->row, rows->row + rows->count - most, most * sizeof(*rows->row));
	rows->count = most;
	rows->since = rows->row[0].end;
}

static int read_all(struct sl_ledger *l, enum sl_usage_by by, const char *name, uint32_t most, struct rows *rows,
		    struct sl_error *err)
{
	for (uint32_t dim = 0; dim < sl_usage_dims(l->usage); dim++) {
		if (is_of(l, dim, by, name) && read_dim(l, dim, most, rows, err))
			return -1;
		keep_newest(rows, most);
	}
	for (uint32_t i = 0; i < l->waits; i++) {
		if (!is_of(l, l->wait[i].row.dim, by, name))
			continue;
		if (sl_grow(&rows->row, &rows->room, rows->count + UINT64_C(1), sizeof(*rows->row), err))
			return -1;
		rows->row[rows->count++] = l->wait[i].row;
	}
	return 0;
}

int sl_ledger_newest(struct sl_ledger *l, enum sl_usage_by by, const char *name, uint32_t most,
		     sl_ledger_each_run *each, void *to, struct sl_error *err)
{
	struct rows rows = { .since = INT64_MIN };
	int rc = read_all(l, by, name, most, &rows, err);

	if (!rc && rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row), by_end);
	for (uint32_t i = rows.count > most ? rows.count - most : 0; !rc && i < rows.count; i++) {
		struct sl_job_run run = sl_whole_run(ledger_run_of(l, &rows.row[i]));

		if (each(to, &run))
			break;
	}
	free(rows.row);
	return rc;
}

/* -- for a history ------------------------------------------------------------ */

struct load {
	struct sl_history *h;
	enum sl_usage_by by;
	const char *name;
	struct sl_error *err;
	bool failed;
};

static int put_run(void *to, const struct sl_job_run *run)
{
	struct load *o = to;

	o->failed = sl_history_put(o->h, o->by, o->name, run, o->err) != 0;
	return o->failed;
}

int sl_ledger_load_history(void *ledger, struct sl_history *h, enum sl_usage_by by, const char *name,
			   struct sl_error *err)
{
	struct load o = { h, by, name, err, false };

	sl_history_replace(h, by, name);
	if (sl_ledger_newest(ledger, by, name, SL_HISTORY_KEPT, put_run, &o, err) || o.failed)
		return -1;
	sl_history_loaded(h, by, name);
	return 0;
}
