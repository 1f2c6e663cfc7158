/* SPDX-License-Identifier: MIT */
/*
 * usage.h - who used how much, and when: the arithmetic of the ledger.
 *
 * What was used is a set of pieces: so many CPU-, GPU- and node-seconds of one
 * dimension (user, account, partition, state in which the run ended), spread
 * evenly over [start, end).  A run of a job is a piece; an adjustment is a piece
 * with start == end, which counts as a whole at that instant, and may be
 * negative.  Where a boundary cuts a piece, the first part is
 *	floor(amount x seconds before the boundary / seconds in all)
 * so that the parts of a piece always add up to it, whatever the cuts.  A run's
 * amount is its CPUs (GPUs, nodes) times the seconds that it ran; suspended
 * time is no running time, and since nobody keeps when a finished job was
 * suspended, what it did use is spread over all of [start, end).
 *
 * "CPU" is what Slurm counts and sacct reports: physical cores, or hardware threads
 * where those are schedulable.
 *
 * Pieces come from a source: the database (ledger/ledger.h), or memory.  Questions are
 * about any interval: whole UTC days come as totals, the days at its two ends
 * piece by piece.  Answers are exact to the second and cached, and the cache is right while
 * pieces come and go (sl_usage_note()), so that a question that is asked again costs
 * as much as the days at its ends.
 *
 * Ownership: a usage owns its dimensions and its cache.  Threads: none.
 */
#ifndef SL_USAGE_H
#define SL_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "image/snapshot.h"

#define SL_DAY INT64_C(86400)
#define SL_FOREVER INT64_MAX
#define SL_USAGE_MAX_SECONDS (INT64_C(1) << 40)	/* no time and no walltime is beyond */

enum sl_unit { SL_UNIT_CPU, SL_UNIT_GPU, SL_UNIT_NODE, SL_UNITS };
enum sl_usage_by { SL_BY_USER, SL_BY_ACCOUNT, SL_BYS };

/* "cpu", "user"; -1 for a word that is none. */
extern const char *const sl_unit_word[SL_UNITS];
extern const char *const sl_usage_by_word[SL_BYS];
int sl_unit_of(const char *word);
int sl_usage_by_of(const char *word);

struct sl_piece {
	uint32_t dim;
	int64_t start, end;		/* seconds since the epoch; start <= end */
	int64_t amount[SL_UNITS];	/* unit-seconds */
};

/* What of a piece lies in [t0, t1), in unit-seconds. */
int64_t sl_piece_part(const struct sl_piece *p, enum sl_unit unit, int64_t t0, int64_t t1);

/* The UTC day that a time lies in, in days since the epoch; also of times before it. */
static inline int64_t sl_day_of(int64_t t)
{
	return t >= 0 ? t / SL_DAY : -((-t + SL_DAY - 1) / SL_DAY);
}

/*
 * Where pieces are.  Both functions call each() as often as they like, in any order, and
 * return 0, or -1 with *err.  NULL functions: there are none.
 */
typedef void sl_usage_each_day(void *to, uint32_t dim, int64_t day, const int64_t amount[SL_UNITS]);
typedef void sl_usage_each_piece(void *to, const struct sl_piece *p);
struct sl_usage_source {
	void *arg;
	/* Totals of dimensions on the days first <= day < end.  Unless they are to be told
	 * *apart*, several days may come as one total, with any of them as its day. */
	int (*days)(void *arg, int64_t first, int64_t end, bool apart, sl_usage_each_day *each, void *to,
		    struct sl_error *err);
	/* All pieces of which some part may lie in that day. */
	int (*pieces)(void *arg, int64_t day, sl_usage_each_piece *each, void *to, struct sl_error *err);
};

struct sl_usage;

/* NULL with *err when out of memory.  The source is copied; what it points to must
 * outlive the usage. */
struct sl_usage *sl_usage_create(const struct sl_usage_source *source, struct sl_error *err);

/* One that keeps its pieces in memory: sl_usage_note() is how they come. */
struct sl_usage *sl_usage_create_memory(struct sl_error *err);
void sl_usage_destroy(struct sl_usage *u);

/* -- dimensions -------------------------------------------------------- */

struct sl_dim {
	const char *user, *account, *partition;
	uint32_t state;			/* enum sl_job_state; SL_JOB_PENDING: requeued; SL_JOB_RUNNING: resized */
};

/* The number of a dimension, from 0 on in the order in which they came; made when it
 * is new.  SL_NONE with *err when out of memory. */
uint32_t sl_usage_dim(struct sl_usage *u, const struct sl_dim *dim, struct sl_error *err);
uint32_t sl_usage_dims(const struct sl_usage *u);
const struct sl_dim *sl_usage_dim_of(const struct sl_usage *u, uint32_t dim);

/* -- what changes ------------------------------------------------------ */

/* A piece is new (sign 1) or gone (-1).  Out of memory: the cache is dropped, and
 * asked of the source again; only the memory's own piece can be refused (-1). */
int sl_usage_note(struct sl_usage *u, const struct sl_piece *p, int sign, struct sl_error *err);

/* The source changed in other ways: drop the cache. */
void sl_usage_forget(struct sl_usage *u);

/* -- questions --------------------------------------------------------- */

struct sl_usage_query {
	enum sl_usage_by by;
	enum sl_unit unit;
	int64_t since, until;		/* [since, until); INT64_MIN and SL_FOREVER: no bound.  Of past */
	char *partition;		/* NULL: all */
	uint32_t without;		/* states that do not count: 1 << enum sl_job_state */
	double half_life;		/* seconds; > 0: decayed usage at *now*, of all times */
	int64_t now;
};

struct sl_usage_total {
	const char *name;
	int64_t seconds;		/* of past */
	double decayed;			/* of decayed */
};

/*
 * Who used how much: names with something other than 0, by name.  Valid until the next
 * call.  Decayed usage is  integral of rate x 2^(-(now - t) / half_life)  over all t; what
 * lies more than 64 days back may count as spread evenly over its UTC day, which moves it by less than
 * half a day (with a half-life of a week, less than 0.01 % of what it was when new; of 30
 * days, 0.3 %).  Returns 0, or -1 with *err.
 */
int sl_usage_ask(struct sl_usage *u, const struct sl_usage_query *q, const struct sl_usage_total **total,
		 uint32_t *count, struct sl_error *err);

/*
 * Who can be asked: what a cluster's policies see as cluster.usage (sl_cluster_set_usage()).
 * ask() is sl_usage_ask(); stale() says why answers may be old, or NULL.
 */
struct sl_usage_provider {
	void *arg;
	int (*ask)(void *arg, const struct sl_usage_query *q, const struct sl_usage_total **total, uint32_t *count,
		   struct sl_error *err);
	const char *(*stale)(void *arg);
};

/* A provider that asks *u. */
struct sl_usage_provider sl_usage_provider(struct sl_usage *u);

/* -- snapshots --------------------------------------------------------- */

/* A usage of the rows of the snapshot's table "usage".  NULL with *err. */
struct sl_usage *sl_usage_of_snapshot(const struct sl_snapshot *snap, struct sl_error *err);

#endif
