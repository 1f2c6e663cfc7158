/* SPDX-License-Identifier: MIT */
/*
 * history.h - the runs of jobs that have ended, for policies that learn from them.
 *
 * Of each user and of each account the newest SL_HISTORY_KEPT runs are kept, in the order in
 * which they ended, so that memory and a question's time do not depend on how many there ever
 * were.  A question names a user or an account, and what else the runs must have.
 *
 * Runs come from whoever saw them end (the simulator, a snapshot's table "history"), or are
 * loaded when somebody asks (the ledger): sl_history_create().
 *
 * Ownership: a history owns all it holds.  Threads: none.
 */
#ifndef SL_HISTORY_H
#define SL_HISTORY_H

#include "usage/usage.h"

#define SL_HISTORY_KEPT 512	/* runs of a user, of an account */
#define SL_HISTORY_TEXTS 1000000	/* names; of users beyond that nothing is known */
#define SL_HISTORY_NOBODY "\n"	/* runs of which no user and no account is known, as if they were that account's */
#define SL_HISTORY_EVERYBODY "\t"	/* all runs, as if they were that account's, too */
#define SL_RUN_NAME 64		/* bytes of a job's name that are kept, with its NUL */

/* Who said what a run was.  Believed are, the most trusted first: SACCT; WATCHED, who saw while it ran that its
 * size, walltime or name was other than in the end; SEEN, from slurmctld's record of its end; GUESSED.  (The
 * values stand in files.) */
enum sl_run_source { SL_RUN_GUESSED, SL_RUN_SEEN, SL_RUN_SACCT, SL_RUN_WATCHED, SL_RUN_SOURCES };

struct sl_job_run {
	uint32_t job;
	int64_t start, end;
	int64_t seconds;		/* it ran: without suspensions */
	int64_t began;			/* a piece of a run of several sizes: when that run began; 0: the whole run */
	int64_t before_s;		/* ... and how long it had run before this piece */
	uint32_t most_cpus;		/* ... and the most CPUs that it had by the end of it */
	int64_t limit;			/* its walltime, seconds; SL_UNLIMITED; 0: not known */
	uint32_t count[SL_UNITS];	/* CPUs, GPUs, nodes */
	struct sl_dim dim;		/* state SL_JOB_PENDING: it was requeued; SL_JOB_RUNNING: it went on, resized */
	const char *name;		/* the job's; NULL: not known */
	enum sl_run_source source;
	int64_t expected;		/* seconds, when it began (sl_history_like()); 0: what the runs before it say */
};

/* A run as it is kept; its strings: sl_history_text(). */
struct sl_past_run {
	int64_t start, end, seconds, limit;
	uint32_t job, count[SL_UNITS], state;
	uint32_t user, account, partition, name;
	int64_t expected;		/* as in struct sl_job_run, of a user's run */
	uint64_t asked;			/* in which cycle */
};

struct sl_history;

/*
 * *load* (may be NULL) is called before a user or account is asked about for the first time in a
 * cycle: it brings what is new with sl_history_replace() and sl_history_put().  It fails only for
 * lack of memory: where the past cannot be reached, what is there is all there is.
 */
typedef int sl_history_load(void *arg, struct sl_history *h, enum sl_usage_by by, const char *name,
			    struct sl_error *err);
struct sl_history *sl_history_create(sl_history_load *load, void *arg, struct sl_error *err);
void sl_history_destroy(struct sl_history *h);

/* Of the rows of a snapshot's table "history".  NULL with *err. */
struct sl_history *sl_history_of_snapshot(const struct sl_snapshot *snap, struct sl_error *err);

/* A cycle begins: who was asked about before is loaded again when asked about. */
void sl_history_begin(struct sl_history *h);

/* A run has ended: it counts for its user and its account.  One that is there already (job, start)
 * gives way.  0, or -1 with *err (SL_ENOMEM). */
int sl_history_add(struct sl_history *h, const struct sl_job_run *run, struct sl_error *err);

/* For *load* functions: forget the runs of a user or account; add a run to this user or account only (sl_history_add() adds it to
 * both its user and its account). */
void sl_history_replace(struct sl_history *h, enum sl_usage_by by, const char *name);
int sl_history_put(struct sl_history *h, enum sl_usage_by by, const char *name, const struct sl_job_run *run,
		   struct sl_error *err);

/* For a *load* function that loads several at once: the users and accounts that were asked about in this cycle or the last one and
 * are not yet loaded for this one.  True while there is one more; *at is 0 at first. */
bool sl_history_next_asked(const struct sl_history *h, uint32_t *at, enum sl_usage_by *by, const char **name);
/* A number that the *load* function may keep for each user and account; NULL if it was never asked about. */
uint64_t *sl_history_mark(struct sl_history *h, enum sl_usage_by by, const char *name);
/* It is loaded for this cycle. */
void sl_history_loaded(struct sl_history *h, enum sl_usage_by by, const char *name);

/* How many different texts there are: they are never forgotten. */
uint32_t sl_history_texts(const struct sl_history *h);

struct sl_history_query {
	const char *user, *account, *name;	/* NULL: any; user or account is there */
	int64_t now;				/* runs that had ended by then */
	uint32_t last;				/* so many at most */
	int64_t least_cpus, most_cpus;		/* of that size, */
	int64_t least_limit, most_limit;	/* and of such a walltime */
};

/* The newest first; valid until the next call of any of these.  0, or -1 with *err. */
int sl_history_ask(struct sl_history *h, const struct sl_history_query *q, const struct sl_past_run *const **run,
		   uint32_t *count, struct sl_error *err);
const char *sl_history_text(const struct sl_history *h, uint32_t text);

#define SL_LIKE 2

struct sl_history_like {
	int64_t runtime[SL_LIKE];	/* of the user's newest runs like the job, the newest first */
	uint32_t count;
	double stretch;			/* 1 or more: how many times longer than expected his work has run lately */
};

/*
 * What a user's runs that had ended by *now* say of a job of so many CPUs and such a walltime.  Like it are runs of half
 * to twice its CPUs and the same walltime; if there are none, of any walltime.  What was expected of each run when it
 * began is worked out from the runs before it, likewise.  How far back stretch looks goes by what the job may use.  0, or
 * -1 with *err.
 */
int sl_history_like(struct sl_history *h, const char *user, int64_t cpus, int64_t limit, int64_t now,
		    struct sl_history_like *like, struct sl_error *err);

/*
 * What is expected of jobs of that user, of so many CPUs and such a walltime, is kept under a number: as long as the cycle,
 * or, in a history that is not recorded, for ever.  SL_NONE with *err: out of memory.
 */
uint32_t sl_history_prospect(struct sl_history *h, const char *user, int64_t cpus, int64_t limit, struct sl_error *err);

/*
 * The expected runtime, in seconds, of a job with that prospect, in *typical*: the geometric mean of an arithmetic and a harmonic
 * mean.  Both are taken over the user's runs that sl_history_like() finds, each times *stretch*, and over what other users' jobs with
 * that walltime ran, with a third of the weight of one run.  So the fewer runs of the user there are, the more the other users
 * count.  0, or -1 with *err.
 */
int sl_history_expect(struct sl_history *h, uint32_t prospect, int64_t now, double *typical, double *stretch,
		      struct sl_error *err);

/* The same where nothing is predicted: *typical* of a walltime. */
double sl_history_limit_typical(int64_t limit);

/*
 * The shortest that such a job is likely to run, in seconds: the power mean, with a strongly negative exponent, of its
 * user's last runs of about its size and the same walltime (where there are none, of its size, or else of all), *stretch*
 * times as long, and, with a weight of a hundredth, of what the runs of others let one expect.  0, or -1 with *err.
 */
int sl_history_shortest(struct sl_history *h, uint32_t prospect, double stretch, int64_t now, double *seconds,
			struct sl_error *err);

/*
 * What tells for how long such numbers hold: another value for each history of the process, and a new one when a history
 * forgets its numbers, which it does at the begin of a cycle, if there are too many.
 */
uint64_t sl_history_numbering(const struct sl_history *h);

/* Nobody will ask what answers rested on (sl_history_encode()): nothing is noted of that. */
void sl_history_unrecorded(struct sl_history *h);

/* What the answers of this cycle rested on, as rows of a table with the columns SL_HISTORY_COLUMNS:
 * a history of these rows gives the same answers.  But where a user and an account were asked about and
 * his runs reach further back than those that were kept of it, it may know more of the account. */
void sl_history_encode(struct sl_history *h, struct sl_builder *b, int table);

#endif
