/* SPDX-License-Identifier: MIT */
/*
 * plan_private.h - the inside of a plan: plan.c (the verbs), plan_fit.c (fitting,
 * booking, explaining) and plan_encode.c.  Nobody else includes it.
 */
#ifndef SL_PLAN_PRIVATE_H
#define SL_PLAN_PRIVATE_H

#include "cluster_private.h"
#include "plan.h"

struct booking {
	struct sl_entry entry;
	const struct want *want;
	struct sl_layout layout;
	struct sl_place *places;	/* the same as a list, NULL until asked for */
	int64_t t0, t1;
	int64_t limit;			/* seconds; less than what was asked: it was shortened */
	enum sl_place_method method;
	uint32_t by;
};

struct bookings {
	struct booking **item;
	struct sl_entry *entry;		/* the same entries, for those who read */
	uint32_t count, room;
};

struct note {				/* why a job stays pending */
	uint32_t job;
	enum sl_why why;
	bool own;			/* the policy's own words */
	uint32_t by;
	char text[160];
};

struct order {				/* something else to do */
	enum sl_do verb;
	uint32_t job, by;
	int64_t number;
	char *text;
};

struct line {
	unsigned level;
	char *text;
};

struct throttle {			/* of one array */
	uint32_t array;
	uint32_t running;		/* tasks that run, or were started here */
};

struct enclave_mark {
	struct enclave *enclave;
	uint32_t mark;
};

/* What kept an attempt from fitting. */
struct lack {
	struct sl_misfit misfit;
	uint32_t license;		/* that it lacked, or SL_NONE */
	int64_t license_has;
};

enum memo_kind {
	MEMO_FIT,			/* fits nowhere for so long */
	MEMO_BESIDE_HEAD,		/* nor where the head is booked, without delaying it */
};

struct memo {				/* of a refusal */
	const struct want *w;
	enum memo_kind kind;
	bool block;			/* of consecutive nodes */
	int64_t seconds;
	struct lack lack;
};
#define PLAN_MEMOS 64

struct sl_plan {
	struct sl_cluster *c;
	uint32_t mark;
	struct enclave_mark *marks;
	uint32_t mark_count;
	char **by;
	uint32_t bys;			/* the last one decides now */
	struct bookings started, reserved;
	bool refusing;			/* the last job did not fit at this moment */
	uint32_t head_at;		/* reservations of the policies before: the head comes next */
	uint32_t *starts, *notes_of;	/* [job] the cluster's: plan_starts, plan_notes */
	struct note *note;
	uint32_t notes, notes_room;
	uint32_t *queue_of;		/* [job] the cluster's: plan_queue */
	uint32_t *queue_next;		/* [entry] number of the next one of the same job + 1, or 0 */
	struct memo memo[PLAN_MEMOS];
	uint32_t memos, next_memo;
	struct throttle *throttle;
	uint32_t throttles;
	struct order *order;
	uint32_t orders;
	struct line *line;
	uint32_t lines;
};

/* What an attempt is made of. */
struct attempt {
	struct sl_plan *p;
	const struct want *w;
	struct sl_how how;
	struct sl_timeline *tl;
	struct sl_layout layout;	/* of the last one that fitted */
	struct lack lack;		/* of the last one that did not */
};

/* Number of tasks that a job's record stands for. */
static inline uint32_t plan_tasks(const struct sl_plan *p, uint32_t job)
{
	uint32_t n = p->c->snap->job.array_pending[job];

	return n ? n : 1;
}

/* Prepare an attempt; 0 or -1 with *err.  plan_attempt_end() frees its layout. */
int plan_attempt(struct attempt *a, struct sl_plan *p, const struct want *w, const struct sl_how *how,
		 struct sl_error *err);
void plan_attempt_end(struct attempt *a);

/* Does it fit at *t* for so many seconds?  1, 0, or -1 with *err.  *layout: want it. */
int plan_fits(struct attempt *a, int64_t t, int64_t seconds, bool layout, struct sl_error *err);

/* The longest time in whole minutes, from *least* seconds to *most*, that fits at
 * *t*; 0 when not even *least* does; -1 with *err.  Leaves the layout. */
int64_t plan_longest(struct attempt *a, int64_t t, int64_t least, int64_t most, struct sl_error *err);

/* The earliest start from *from* on, and for how long.  1, 0 or -1. */
int plan_earliest(struct attempt *a, int64_t from, int64_t *start, int64_t *seconds, struct sl_error *err);

/* Book *b* (everything but its layout's owner is set) or take it back.  plan_book()
 * returns 1; 0 when something shared with others is not free; -1 with *err. */
int plan_book(struct sl_plan *p, struct booking *b, struct sl_error *err);
int plan_unbook(struct sl_plan *p, struct booking *b, struct sl_error *err);

/* Its licences only: sign 1 take, -1 give back. */
int plan_count_licenses(struct sl_plan *p, const struct booking *b, int sign, struct sl_error *err);

/* Seconds that a job may run from *t* on, given its deadline: 0 when too few. */
int64_t plan_time(const struct sl_plan *p, const struct want *w, int64_t t);

/* Say why it does not fit at this moment; or why only then, and not for so many
 * seconds. */
int plan_explain_now(struct attempt *a, struct sl_refusal *r, struct sl_error *err);
int plan_explain_later(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err);

/* Why there is no time at all at which it fits. */
int plan_explain_never(struct attempt *a, struct sl_refusal *r, struct sl_error *err);

/* plan_memo.c: has no more been refused already, and *lack, why?  Remember a refusal
 * (a->lack); forget them all, since something was given back. */
bool plan_memo_find(const struct attempt *a, enum memo_kind kind, int64_t seconds, struct lack *lack);
void plan_memo_keep(const struct attempt *a, enum memo_kind kind, int64_t seconds);
void plan_memo_forget(struct sl_plan *p);

void plan_say(struct sl_refusal *r, enum sl_why why, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
