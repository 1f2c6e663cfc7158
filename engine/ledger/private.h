/* SPDX-License-Identifier: MIT */
/*
 * ledger/private.h - what the files of the ledger share; nobody else includes it.
 */
#ifndef SL_LEDGER_PRIVATE_H
#define SL_LEDGER_PRIVATE_H

#include <sqlite3.h>

#include "base/grow.h"
#include "base/map.h"
#include "ledger/ledger.h"

#define RUN_COLUMNS "start, job, end, seconds, dim, cpus, gpus, nodes, source, name, walltime, began, earlier, most"
#define BLOCK_DAYS 32	/* days of one row of the table block */

enum statement {
	S_BEGIN, S_COMMIT, S_ROLLBACK, S_VERSION,
	S_DIMS, S_DIM_FIND, S_DIM_PUT,
	S_RUN_GET, S_RUN_PUT, S_SPAN_PUT, S_SPAN_DELETE,
	S_DAY_ADD, S_BLOCK_ADD, S_DAYS, S_BLOCKS,
	S_RUNS_OF_DAY, S_SPANS_OF_DAY, S_ADJUSTMENTS_OF_DAY, S_ADJUSTMENT_PUT,
	S_OPEN_PUT, S_OPEN_DELETE, S_NEWEST_OF_DIM, S_OVERLAPPING,
	STATEMENTS
};

/* What is known of a run, dimensions by number. */
struct row {
	int64_t start, end, seconds;
	uint32_t job, dim, count[SL_UNITS], source;
	int64_t limit, began, before_s;	/* as in struct sl_job_run */
	uint32_t most_cpus;
	char name[SL_RUN_NAME];
};

/* When something became known of a user or account (sl_ledger_stamp()). */
struct stamp {
	char *name;
	enum sl_usage_by by;
	uint64_t stamp;
};

struct waiting {
	struct row row;
	struct row old;			/* what the file has instead, counted as gone */
	bool replaces;
};

struct open_change {
	struct row row;
	bool gone;
};

struct adjusting {
	struct sl_adjustment a;		/* its own strings */
	uint32_t dim;
};

struct delta {
	int64_t day;
	uint32_t dim;
	int64_t amount[SL_UNITS];
};

struct sl_ledger {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *statement[STATEMENTS];
	struct sl_usage *usage;
	int64_t version;		/* of the data, as last seen */
	struct stamp *stamp;
	uint32_t stamps, stamp_room;
	struct sl_map by_stamp;		/* -> index in stamp */
	uint64_t clock, all_stamp;	/* the last one; that of all others */
	int64_t *db_id;			/* [dim]: its number in the file, 0: none yet */
	uint32_t db_id_room;
	uint32_t *dim_of;		/* [number in the file]: 1 + dim */
	int64_t dim_of_room;

	struct waiting *wait;
	uint32_t waits, wait_room;
	struct sl_map by_run;		/* -> index in wait */
	struct open_change *change;
	uint32_t changes, change_room;
	struct adjusting *adjusting;
	uint32_t adjustings, adjusting_room;

	struct delta *delta;		/* of the transaction under way */
	uint32_t deltas, delta_room;
	struct sl_map by_day;		/* -> index in delta */
};

/* The statement, reset and ready to be bound; NULL with *err. */
sqlite3_stmt *ledger_statement(struct sl_ledger *l, enum statement s, struct sl_error *err);

/* Run one that returns no rows. */
int ledger_run(struct sl_ledger *l, sqlite3_stmt *s, struct sl_error *err);

/* What SQLite complains about, as an error. */
int ledger_fail(struct sl_ledger *l, const char *what, struct sl_error *err);

/* Read the dimensions that are new in the file. */
int ledger_load_dims(struct sl_ledger *l, struct sl_error *err);

/* The columns of RUN_COLUMNS. */
int ledger_read_row(struct sl_ledger *l, sqlite3_stmt *s, struct row *row, struct sl_error *err);
void ledger_bind_row(sqlite3_stmt *s, const struct row *row, int64_t dim);

struct sl_piece ledger_piece(const struct row *row);
struct sl_job_run ledger_run_of(const struct sl_ledger *l, const struct row *row);

/* What waits of a run, or NULL. */
struct row *ledger_find_waiting(const struct sl_ledger *l, int64_t start, uint32_t job);

/* ledger/newest.c: a run of this dimension is new, or another than before. */
void ledger_note_change(struct sl_ledger *l, uint32_t dim);
void ledger_free_stamps(struct sl_ledger *l);

/* ledger/read.c: the two functions of struct sl_usage_source, reading from the database; *arg* is the struct sl_ledger. */
int ledger_days(void *arg, int64_t first, int64_t end, bool apart, sl_usage_each_day *each, void *to,
		struct sl_error *err);
int ledger_pieces(void *arg, int64_t day, sl_usage_each_piece *each, void *to, struct sl_error *err);

#endif
