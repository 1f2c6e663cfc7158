/* SPDX-License-Identifier: MIT */
/* sim/pool_private.h - what the files of the pool share.  Nobody else includes it. */
#ifndef SL_POOL_PRIVATE_H
#define SL_POOL_PRIVATE_H

#include "model/job_order.h"
#include "model/rank_code.h"
#include "sim/pool.h"

struct run {
	int64_t end;			/* of its walltime */
	uint32_t job, cores;
};

/* What the first that waits leaves to those behind it. */
struct shadow {
	bool known;
	int64_t from;			/* then it starts ... */
	int64_t beside;			/* ... and so many cores are left */
};

/* From a time on so many cores are free, until the next step. */
struct step {
	int64_t t, free;
};

/* ORDER, CRITICAL: an entry that waits, in one decision. */
struct pool_row {
	double key, overdue_s;		/* of ORDER */
	double limit;			/* job.time_limit, as policies see it */
	int64_t seconds, waited;
	uint32_t at, cores;		/* at: in the queue */
	bool is_open;			/* neither started nor reserved */
};

/* ORDER: what is known of a job. */
struct pool_known {
	struct sl_order_job job;
	double typical, first_key;	/* of that typical; first_key 0: not worked out yet */
};

/* Who has waited for so long, and so many times his walltime beside, gets a reservation, so many at most. */
struct pool_guard {
	double wait, stretch;		/* wait 0: nobody does */
	uint32_t jobs;
};

/* RANK: an entry that waits, in one decision. */
struct pool_ranked {
	double rank, then;
	int64_t priority, submit_time, seconds;
	uint32_t id, at, cores;		/* at: in the queue */
};

/* RANK: what is known of a job; its fields stand elsewhere. */
struct pool_rank {
	double rank, then;		/* if it is always the same */
	bool is_read, is_known;
};

/* CRITICAL (pool_critical.c) */
struct pool_critical;
struct pool_share;

struct sl_pool {
	struct sl_cluster *c;
	bool open;
	enum sl_plan_rule rule;
	uint32_t window;		/* CONSERVATIVE: jobs of the queue that the rule looks at; 0: the whole queue */
	int64_t cores, free;		/* of all; of nobody now */
	struct shadow head;		/* as long as none of those who ran has ended */
	uint32_t looked;		/* so many entries of the queue are known to take cores only, */
	uint32_t refused;		/* and so many have no room before one ends */
	struct run *run;		/* who runs, the first end first */
	uint32_t runs, run_room;
	struct step *step;		/* conservative: what is free when, beside those who run and have a reservation */
	uint32_t steps, step_room;
	struct sl_order_rule order;	/* what the rule ORDER goes by */
	struct pool_row *row;
	uint32_t row_room;
	struct pool_known *known;	/* by job; NULL: not asked yet */
	uint64_t numbering;		/* of the history then */
	struct sl_critical_rule critical;	/* what the rule CRITICAL goes by */
	struct pool_share *share_of;	/* by job; NULL: not asked yet */
	struct pool_critical *criticals;
	double *waits;
	uint32_t criticals_room, waits_room;
	const struct sl_rank_code *rank;	/* what the rule RANK goes by */
	bool rank_fails;		/* it could not be said of a job: it is asked of nobody any more */
	struct pool_rank *rank_of;	/* by job; NULL: not asked yet */
	struct sl_rank_value *rank_field;	/* rank->keys of each job, likewise */
	struct pool_ranked *ranked;
	uint32_t ranks, ranked_room;	/* ranks: those of this decision; 0: there is room for nobody */
	struct sl_pool_start *start;
	uint32_t starts, start_room;
};

/* When will so many cores be free, as far as walltimes say? */
struct shadow pool_find_shadow(const struct sl_pool *p, uint32_t cores);

/* True if one of the queue needs no more cores than are free. */
bool pool_has_room_for_one(const struct sl_pool *p, uint32_t queued);

/* Start an entry.  0, or -1 with *err: out of memory. */
int pool_start(struct sl_pool *p, const struct sl_pool_start *s, struct sl_error *err);

/* -- pool_steps.c: what is free when ------------------------------------- */

/* As far as the walltimes of those who run say.  0, or -1 with *err. */
int pool_lay_out_steps(struct sl_pool *p, struct sl_error *err);

/* The first step from which so many cores are free for so long.  There is one if the machine has so many. */
uint32_t pool_find_steps(const struct sl_pool *p, int64_t cores, int64_t seconds);

/* True if they are from now on. */
bool pool_fits_now(const struct sl_pool *p, int64_t cores, int64_t seconds);

/* From the begin of that step on they are somebody's.  0, or -1 with *err. */
int pool_book_steps(struct sl_pool *p, uint32_t first, int64_t cores, int64_t seconds, struct sl_error *err);

/* Whom to start now, by two of the rules.  0, or -1 with *err. */
int pool_decide_conservative(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err);
int pool_decide_order(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err);

/* What pool_decide_order() goes by from now on. */
void pool_set_order(struct sl_pool *p, const struct sl_order_rule *rule);

/* -- pool_guard.c: p->row, by entries of the queue ------------------------- */

void pool_read_row(const struct sl_pool *p, const struct sl_entry *entry, uint32_t at, struct pool_row *r);

/* Start it if it fits.  1, 0, or -1 with *err. */
int pool_try_start(struct sl_pool *p, const struct sl_entry *entry, struct pool_row *r, struct sl_error *err);

/* A reservation, unless it is farther away than that.  1, 0, or -1 with *err. */
int pool_reserve_within(struct sl_pool *p, struct pool_row *r, double horizon_s, struct sl_error *err);

/* Start those of the guard, or reserve for them.  How many reservations it made, or -1 with *err. */
int pool_guard(struct sl_pool *p, const struct sl_entry *entry, uint32_t rows, const struct pool_guard *g, struct sl_error *err);

/* -- pool_critical.c: the rule CRITICAL ------------------------------------ */

/* True if the machine is one of which the rule knows all. */
bool pool_suits_critical(const struct sl_pool *p);
void pool_free_critical(struct sl_pool *p);
int pool_decide_critical(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err);

/* -- pool_rank.c: the rule RANK -------------------------------------------- */

/* What it goes by from now on; and no more. */
void pool_set_rank(struct sl_pool *p, const struct sl_rank_code *rank);
void pool_forget_ranks(struct sl_pool *p);

/* Rank those that wait, where there is room for one of them.  1; 0: that cannot be said of one; -1 with *err. */
int pool_rank_queue(struct sl_pool *p, struct sl_error *err);

/* Whom to start now, of those that were ranked just before.  0, or -1 with *err. */
int pool_decide_rank(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err);

#endif
