/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - the file: opening it, its tables, its statements, setting it aside.
 */
#include "ledger/private.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define APPLICATION 0x534c4c47	/* "SLLG" */
#define VERSION 1
#define BUSY_MS 10000

/* A run is clustered by its start, so that new ones go to the end of the file's tree; span
 * has the runs that lie in a day and began before it. */
static const char schema[] =
	"BEGIN EXCLUSIVE;"
	"CREATE TABLE dim(id INTEGER PRIMARY KEY, user TEXT NOT NULL, account TEXT NOT NULL, partition TEXT NOT NULL,"
	" state INTEGER NOT NULL, UNIQUE(user, account, partition, state));"
	"CREATE TABLE run(start INTEGER NOT NULL, job INTEGER NOT NULL, end INTEGER NOT NULL, seconds INTEGER NOT NULL,"
	" dim INTEGER NOT NULL, cpus INTEGER NOT NULL, gpus INTEGER NOT NULL, nodes INTEGER NOT NULL,"
	" source INTEGER NOT NULL, PRIMARY KEY(start, job)) WITHOUT ROWID;"
	"CREATE TABLE span(day INTEGER NOT NULL, start INTEGER NOT NULL, job INTEGER NOT NULL,"
	" PRIMARY KEY(day, start, job)) WITHOUT ROWID;"
	"CREATE TABLE day(day INTEGER NOT NULL, dim INTEGER NOT NULL, cpu INTEGER NOT NULL, gpu INTEGER NOT NULL,"
	" node INTEGER NOT NULL, PRIMARY KEY(day, dim)) WITHOUT ROWID;"
	"CREATE TABLE block(block INTEGER NOT NULL, dim INTEGER NOT NULL, cpu INTEGER NOT NULL, gpu INTEGER NOT NULL,"
	" node INTEGER NOT NULL, PRIMARY KEY(block, dim)) WITHOUT ROWID;"
	"CREATE TABLE adjustment(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, dim INTEGER NOT NULL,"
	" cpu INTEGER NOT NULL, gpu INTEGER NOT NULL, node INTEGER NOT NULL, made INTEGER NOT NULL, who TEXT NOT NULL,"
	" why TEXT NOT NULL);"
	"CREATE INDEX adjustment_at ON adjustment(at);"
	"CREATE TABLE open(job INTEGER PRIMARY KEY, start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" seconds INTEGER NOT NULL, dim INTEGER NOT NULL, cpus INTEGER NOT NULL, gpus INTEGER NOT NULL,"
	" nodes INTEGER NOT NULL, source INTEGER NOT NULL);"
	"PRAGMA application_id=1397509191;"
	"PRAGMA user_version=1;"
	"COMMIT;";

/* A job's name and walltime, and the newest runs of a dimension: ledgers of before have none of
 * these.  Who only reads one sees it as if it had; older programs still read and write such a file. */
static const char newer[] =
	"BEGIN EXCLUSIVE;"
	"ALTER TABLE run ADD COLUMN name TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE run ADD COLUMN walltime INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE open ADD COLUMN name TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE open ADD COLUMN walltime INTEGER NOT NULL DEFAULT 0;"
	"CREATE INDEX run_dim ON run(dim, end);"
	"COMMIT;";
static const char as_if_newer[] =
	"CREATE TEMP VIEW run AS SELECT *, '' AS name, 0 AS walltime, 0 AS began, 0 AS earlier, 0 AS most FROM main.run;"
	"CREATE TEMP VIEW open AS SELECT *, '' AS name, 0 AS walltime, 0 AS began, 0 AS earlier, 0 AS most FROM main.open;";

/* What a piece of a run of several sizes says of the run.  Such pieces are few: so is what is in the index. */
static const char newest[] =
	"BEGIN EXCLUSIVE;"
	"ALTER TABLE run ADD COLUMN began INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE run ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE run ADD COLUMN most INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE open ADD COLUMN began INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE open ADD COLUMN earlier INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE open ADD COLUMN most INTEGER NOT NULL DEFAULT 0;"
	"CREATE INDEX run_piece ON run(job) WHERE began > 0;"
	"COMMIT;";
static const char as_if_newest[] =
	"CREATE TEMP VIEW run AS SELECT *, 0 AS began, 0 AS earlier, 0 AS most FROM main.run;"
	"CREATE TEMP VIEW open AS SELECT *, 0 AS began, 0 AS earlier, 0 AS most FROM main.open;";

/* The columns that ledgers got, the oldest first. */
static const struct step {
	const char *column, *what, *add, *as_if;
} steps[] = {
	{ "walltime", "adding names and walltimes to its runs", newer, as_if_newer },
	{ "began", "adding room for runs that change their size", newest, as_if_newest },
};

static const char *const sql[STATEMENTS] = {
	[S_BEGIN] = "BEGIN IMMEDIATE",
	[S_COMMIT] = "COMMIT",
	[S_ROLLBACK] = "ROLLBACK",
	[S_VERSION] = "PRAGMA data_version",
	[S_DIMS] = "SELECT id, user, account, partition, state FROM dim ORDER BY id",
	[S_DIM_FIND] = "SELECT id FROM dim WHERE user = ? AND account = ? AND partition = ? AND state = ?",
	[S_DIM_PUT] = "INSERT INTO dim(user, account, partition, state) VALUES(?, ?, ?, ?)",
	[S_RUN_GET] = "SELECT " RUN_COLUMNS " FROM run WHERE start = ? AND job = ?",
	[S_RUN_PUT] = "INSERT OR REPLACE INTO run(" RUN_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[S_SPAN_PUT] = "INSERT OR IGNORE INTO span(day, start, job) VALUES(?, ?, ?)",
	[S_SPAN_DELETE] = "DELETE FROM span WHERE day = ? AND start = ? AND job = ?",
	[S_DAY_ADD] = "INSERT INTO day(day, dim, cpu, gpu, node) VALUES(?, ?, ?, ?, ?) ON CONFLICT(day, dim) DO UPDATE"
		" SET cpu = cpu + excluded.cpu, gpu = gpu + excluded.gpu, node = node + excluded.node",
	[S_BLOCK_ADD] = "INSERT INTO block(block, dim, cpu, gpu, node) VALUES(?, ?, ?, ?, ?) ON CONFLICT(block, dim)"
		" DO UPDATE SET cpu = cpu + excluded.cpu, gpu = gpu + excluded.gpu, node = node + excluded.node",
	[S_DAYS] = "SELECT day, dim, cpu, gpu, node FROM day WHERE day >= ? AND day < ?",
	[S_BLOCKS] = "SELECT block, dim, cpu, gpu, node FROM block WHERE block >= ? AND block < ?",
	[S_RUNS_OF_DAY] = "SELECT " RUN_COLUMNS " FROM run WHERE start >= ? AND start < ?",
	[S_SPANS_OF_DAY] = "SELECT run.start, run.job, end, seconds, dim, cpus, gpus, nodes, source, name, walltime, began, earlier, most FROM span"
		" CROSS JOIN run ON run.start = span.start AND run.job = span.job WHERE day = ?",
	[S_ADJUSTMENTS_OF_DAY] = "SELECT at, dim, cpu, gpu, node FROM adjustment WHERE at >= ? AND at < ?",
	[S_ADJUSTMENT_PUT] = "INSERT INTO adjustment(at, dim, cpu, gpu, node, made, who, why) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
	[S_OPEN_PUT] = "INSERT OR REPLACE INTO open(" RUN_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[S_OPEN_DELETE] = "DELETE FROM open WHERE job = ?",
	[S_NEWEST_OF_DIM] = "SELECT " RUN_COLUMNS " FROM run WHERE dim = ? AND end >= ? ORDER BY end DESC, start DESC LIMIT ?",
	[S_OVERLAPPING] = "SELECT " RUN_COLUMNS " FROM run WHERE job = ? AND began > 0 AND source <> ? AND start <> ? AND start < ?"
		" AND end > ?",
};

bool sl_ledger_available(void)
{
	return true;
}

int ledger_fail(struct sl_ledger *l, const char *what, struct sl_error *err)
{
	int code = sqlite3_errcode(l->db) & 0xff;
	enum sl_errno is = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? SL_EFORMAT :
		code == SQLITE_BUSY || code == SQLITE_LOCKED ? SL_EBUSY : code == SQLITE_NOMEM ? SL_ENOMEM : SL_EIO;

	return sl_fail(err, is, "%s: %s%s%s", l->path, what, *what ? ": " : "", sqlite3_errmsg(l->db));
}

sqlite3_stmt *ledger_statement(struct sl_ledger *l, enum statement s, struct sl_error *err)
{
	if (l->statement[s]) {
		sqlite3_reset(l->statement[s]);
		return l->statement[s];
	}
	if (sqlite3_prepare_v3(l->db, sql[s], -1, SQLITE_PREPARE_PERSISTENT, &l->statement[s], NULL) != SQLITE_OK) {
		ledger_fail(l, "", err);
		return NULL;
	}
	return l->statement[s];
}

int ledger_run(struct sl_ledger *l, sqlite3_stmt *s, struct sl_error *err)
{
	int rc;

	if (!s)
		return -1;
	rc = sqlite3_step(s);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		ledger_fail(l, "", err);
	sqlite3_reset(s);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : -1;
}

/* -- rows ---------------------------------------------------------------- */

struct sl_piece ledger_piece(const struct row *r)
{
	struct sl_piece p = { .dim = r->dim, .start = r->start, .end = r->end };

	for (int k = 0; k < SL_UNITS; k++)
		p.amount[k] = r->count[k] * r->seconds;
	return p;
}

void ledger_bind_row(sqlite3_stmt *s, const struct row *r, int64_t dim)
{
	sqlite3_bind_int64(s, 1, r->start);
	sqlite3_bind_int64(s, 2, r->job);
	sqlite3_bind_int64(s, 3, r->end);
	sqlite3_bind_int64(s, 4, r->seconds);
	sqlite3_bind_int64(s, 5, dim);
	for (int k = 0; k < SL_UNITS; k++)
		sqlite3_bind_int64(s, 6 + k, r->count[k]);
	sqlite3_bind_int64(s, 9, r->source);
	sqlite3_bind_text(s, 10, r->name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 11, r->limit);
	sqlite3_bind_int64(s, 12, r->began);
	sqlite3_bind_int64(s, 13, r->before_s);
	sqlite3_bind_int64(s, 14, r->most_cpus);
}

static const char *column_text(sqlite3_stmt *s, int column)
{
	const char *text = (const char *) sqlite3_column_text(s, column);

	return text ? text : "";
}

int ledger_read_row(struct sl_ledger *l, sqlite3_stmt *s, struct row *r, struct sl_error *err)
{
	int64_t dim = sqlite3_column_int64(s, 4);

	if (dim < 0 || dim >= l->dim_of_room || !l->dim_of[dim])
		return sl_fail(err, SL_EFORMAT, "%s: a run of dimension %" PRId64 ", which is not there", l->path, dim);
	*r = (struct row) {
		.start = sqlite3_column_int64(s, 0), .job = (uint32_t) sqlite3_column_int64(s, 1),
		.end = sqlite3_column_int64(s, 2), .seconds = sqlite3_column_int64(s, 3), .dim = l->dim_of[dim] - 1,
		.source = (uint32_t) sqlite3_column_int64(s, 8), .limit = sqlite3_column_int64(s, 10),
		.began = sqlite3_column_int64(s, 11), .before_s = sqlite3_column_int64(s, 12),
		.most_cpus = (uint32_t) sqlite3_column_int64(s, 13),
	};
	snprintf(r->name, sizeof(r->name), "%s", column_text(s, 9));
	for (int k = 0; k < SL_UNITS; k++)
		r->count[k] = (uint32_t) sqlite3_column_int64(s, 5 + k);
	if (r->end < r->start || r->end - r->start > SL_RUN_MAX_SECONDS || r->seconds < 0 ||
	    r->seconds > SL_RUN_MAX_SECONDS || r->limit < 0 || r->began < 0 || r->began > r->start || r->before_s < 0 ||
	    r->before_s > SL_RUN_MAX_SECONDS || r->start < -SL_USAGE_MAX_SECONDS || r->end > SL_USAGE_MAX_SECONDS)
		return sl_fail(err, SL_EFORMAT, "%s: a run from %" PRId64 " to %" PRId64, l->path, r->start, r->end);
	return 0;
}

/* -- dimensions ---------------------------------------------------------- */

static int map_dim(struct sl_ledger *l, int64_t id, uint32_t dim, struct sl_error *err)
{
	uint32_t room = (uint32_t) l->dim_of_room, was = l->db_id_room;

	if (id < 1 || id > INT32_MAX)
		return sl_fail(err, SL_EFORMAT, "%s: a dimension of number %" PRId64, l->path, id);
	if (sl_grow(&l->dim_of, &room, (uint32_t) id + 1, sizeof(*l->dim_of), err) ||
	    sl_grow(&l->db_id, &l->db_id_room, dim + 1, sizeof(*l->db_id), err))
		return -1;
	memset(l->dim_of + l->dim_of_room, 0, (room - l->dim_of_room) * sizeof(*l->dim_of));
	memset(l->db_id + was, 0, (l->db_id_room - was) * sizeof(*l->db_id));
	l->dim_of_room = room;
	l->dim_of[id] = dim + 1;
	l->db_id[dim] = id;
	return 0;
}

int ledger_load_dims(struct sl_ledger *l, struct sl_error *err)
{
	sqlite3_stmt *s = ledger_statement(l, S_DIMS, err);
	int rc;

	if (!s)
		return -1;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct sl_dim d = { column_text(s, 1), column_text(s, 2), column_text(s, 3),
				    (uint32_t) sqlite3_column_int(s, 4) };
		uint32_t dim = sl_usage_dim(l->usage, &d, err);

		if (dim == SL_NONE || map_dim(l, sqlite3_column_int64(s, 0), dim, err)) {
			sqlite3_reset(s);
			return -1;
		}
	}
	if (rc != SQLITE_DONE)
		ledger_fail(l, "", err);
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int read_version(struct sl_ledger *l, int64_t *version, struct sl_error *err)
{
	sqlite3_stmt *s = ledger_statement(l, S_VERSION, err);

	if (!s)
		return -1;
	if (sqlite3_step(s) != SQLITE_ROW) {
		ledger_fail(l, "", err);
		sqlite3_reset(s);
		return -1;
	}
	*version = sqlite3_column_int64(s, 0);
	sqlite3_reset(s);
	return 0;
}

int sl_ledger_refresh(struct sl_ledger *l, struct sl_error *err)
{
	int64_t version;

	if (read_version(l, &version, err))
		return -1;
	if (version == l->version)
		return 0;
	if (ledger_load_dims(l, err))
		return -1;
	sl_usage_forget(l->usage);
	l->all_stamp = ++l->clock;
	l->version = version;
	return 0;
}

/* -- opening ------------------------------------------------------------- */

static int pragma_number(struct sl_ledger *l, const char *text, int64_t *value, struct sl_error *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(l->db, text, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*value = sqlite3_column_int64(s, 0);
	else
		ledger_fail(l, "", err);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 0 : -1;
}

static int has_column(struct sl_ledger *l, const char *column, int64_t *there, struct sl_error *err)
{
	char text[128];

	snprintf(text, sizeof(text), "SELECT count(*) FROM pragma_table_info('run', 'main') WHERE name = '%s'", column);
	return pragma_number(l, text, there, err);
}

static int add_column(struct sl_ledger *l, const struct step *step, enum sl_ledger_mode mode, struct sl_error *err)
{
	int64_t there;

	if (sqlite3_exec(l->db, mode == SL_LEDGER_READ ? step->as_if : step->add, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	ledger_fail(l, step->what, err);
	if (!sqlite3_get_autocommit(l->db))
		sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
	/* another program may have added it since this one looked */
	return !has_column(l, step->column, &there, NULL) && there ? 0 : -1;
}

/* What is newer than the file.  Who only reads it sees it through a view that has all of it. */
static int add_columns(struct sl_ledger *l, enum sl_ledger_mode mode, struct sl_error *err)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int64_t there;

		if (has_column(l, steps[i].column, &there, err))
			return -1;
		if (there)
			continue;
		if (add_column(l, &steps[i], mode, err))
			return -1;
		if (mode == SL_LEDGER_READ)
			break;
	}
	return 0;
}

static int check_file(struct sl_ledger *l, enum sl_ledger_mode mode, struct sl_error *err)
{
	int64_t application, version, tables;

	if (pragma_number(l, "PRAGMA application_id", &application, err) ||
	    pragma_number(l, "PRAGMA user_version", &version, err) ||
	    pragma_number(l, "SELECT count(*) FROM sqlite_schema", &tables, err))
		return -1;
	if (!application && !tables) {		/* empty: just made, or its maker was ended in between */
		if (mode != SL_LEDGER_CREATE)
			return sl_fail(err, SL_ENOENT, "%s: there is nothing in it", l->path);
		if (sqlite3_exec(l->db, schema, NULL, NULL, NULL) != SQLITE_OK)
			return ledger_fail(l, "making its tables", err);
		return add_columns(l, mode, err);
	}
	if (application != APPLICATION)
		return sl_fail(err, SL_EFORMAT, "%s: is no ledger", l->path);
	if (version != VERSION)
		return sl_fail(err, SL_EVERSION, "%s: version %" PRId64 ", expected %d", l->path, version, VERSION);
	return add_columns(l, mode, err);
}

static int open_file(struct sl_ledger *l, enum sl_ledger_mode mode, bool in_memory, struct sl_error *err)
{
	static const char settings[] =
		"PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32000;"
		"PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;";
	int flags = mode == SL_LEDGER_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;

	if (mode == SL_LEDGER_CREATE)
		flags |= SQLITE_OPEN_CREATE;
	if (!in_memory && mode != SL_LEDGER_CREATE && access(l->path, F_OK))
		return sl_fail(err, SL_ENOENT, "%s: there is no ledger", l->path);
	if (sqlite3_open_v2(in_memory ? ":memory:" : l->path, &l->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return l->db ? ledger_fail(l, "", err) : sl_fail(err, SL_ENOMEM, "ledger: out of memory");
	sqlite3_busy_timeout(l->db, BUSY_MS);
	if (mode != SL_LEDGER_READ && sqlite3_exec(l->db, settings, NULL, NULL, NULL) != SQLITE_OK)
		return ledger_fail(l, "", err);
	return check_file(l, mode, err);
}

struct sl_ledger *sl_ledger_open(const char *path, enum sl_ledger_mode mode, struct sl_error *err)
{
	struct sl_usage_source source = { .days = ledger_days, .pieces = ledger_pieces };
	struct sl_ledger *l = calloc(1, sizeof(*l));

	if (!l || !(l->path = strdup(path ? path : "ledger"))) {
		free(l);
		sl_fail(err, SL_ENOMEM, "ledger: out of memory");
		return NULL;
	}
	source.arg = l;
	l->clock = l->all_stamp = (uint64_t) sl_clock_us();	/* later than any that a process before gave */
	l->usage = sl_usage_create(&source, err);
	if (!l->usage || open_file(l, mode, !path, err) || read_version(l, &l->version, err) ||
	    ledger_load_dims(l, err)) {
		sl_ledger_close(l);
		return NULL;
	}
	return l;
}

void sl_ledger_close(struct sl_ledger *l)
{
	if (!l)
		return;
	sl_ledger_drop(l);
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(l->statement[i]);
	sqlite3_close(l->db);
	sl_usage_destroy(l->usage);
	free(l->db_id);
	free(l->dim_of);
	free(l->wait);
	sl_map_free(&l->by_run);
	free(l->change);
	free(l->adjusting);
	free(l->delta);
	sl_map_free(&l->by_day);
	ledger_free_stamps(l);
	free(l->path);
	free(l);
}

void sl_ledger_set_patience(struct sl_ledger *l, int ms)
{
	sqlite3_busy_timeout(l->db, ms);
}

struct sl_usage *sl_ledger_usage(struct sl_ledger *l)
{
	return l->usage;
}

/* -- a damaged file ------------------------------------------------------ */

int sl_ledger_set_aside(const char *path, char *to, size_t size, struct sl_error *err)
{
	char journal[4200], journal_to[4200], when[32];
	time_t now = time(NULL);
	struct stat st;
	struct tm tm;

	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	if (snprintf(to, size, "%s.damaged-%s", path, when) >= (int) size)
		return sl_fail(err, SL_EINVAL, "%s: the path is too long", path);
	if (!stat(to, &st))
		return sl_fail(err, SL_EIO, "%s: is there already", to);
	/* the journal first: a ledger without its journal must not look whole */
	snprintf(journal, sizeof(journal), "%s-journal", path);
	snprintf(journal_to, sizeof(journal_to), "%s-journal", to);
	if (rename(journal, journal_to) && errno != ENOENT)
		return sl_fail(err, SL_EIO, "%s: %s", journal, strerror(errno));
	if (rename(path, to))
		return sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	return 0;
}

bool sl_ledger_was_set_aside(const char *path)
{
	char pattern[4200];
	glob_t found;
	bool is;

	if (!access(path, F_OK))
		return false;
	snprintf(pattern, sizeof(pattern), "%s.damaged-*", path);
	is = !glob(pattern, GLOB_NOSORT, NULL, &found);
	if (is)
		globfree(&found);
	return is;
}
