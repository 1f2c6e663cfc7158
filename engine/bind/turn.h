/* SPDX-License-Identifier: MIT */
/*
 * bind/turn.h - the stage for a group of partitions that decides: which entries of the queue
 * it sees, whom admit() lets in, who allow() lets start, and in which order rank() puts them.
 *
 * A group is the table that driver.lua makes of it.  Functions that have a lua_State raise Lua
 * errors; they run in protected mode.  The others may be called where there is neither time nor
 * memory left.
 */
#ifndef SL_LUA_TURN_H
#define SL_LUA_TURN_H

#include "bind/how.h"

/* Once in a state, before all else. */
void sl_lua_open_turn(lua_State *L);

/* The turn of the group at *index* begins. */
enum { SL_TURN_UNGUARDED = 1, SL_TURN_UNRANKED = 2 };	/* without admit and allow; without rank */
void sl_lua_begin_turn(lua_State *L, struct sl_lua *x, int index, unsigned without);

/* Nobody's turn: what a cycle begins with, while groups are made, and what comes between two
 * groups.  What the last turn left belongs to another queue and other partitions. */
void sl_lua_end_turn(struct sl_lua *x);

/* A text field of the group at *index*, which keeps it; raises if it is no string. */
const char *sl_lua_group_text(lua_State *L, int index, const char *field);

/* -- whose turn it is ---------------------------------------------------- */

/* Another number for each turn. */
uint32_t sl_lua_turn_number(const struct sl_lua *x);

/* Name of the policy that decides, and the name that the group's memory has; NULL in nobody's turn. */
const char *sl_lua_turn_policy(const struct sl_lua *x);
const char *sl_lua_turn_memory(const struct sl_lua *x);

/* The group's partitions, marked by row; NULL: all. */
const uint8_t *sl_lua_turn_partitions(const struct sl_lua *x);

/* The queue's entries in the order of rank(), by number; NULL: in that of the queue. */
const uint32_t *sl_lua_turn_order(const struct sl_lua *x, uint32_t *count);

/* Ask place() about an entry that is about to be handed out, the first time in a turn, and do as it says; and what it
 * said last of a job, NULL: it was not asked. */
void sl_lua_entry_place(lua_State *L, struct sl_lua *x, uint32_t index);
const struct sl_lua_wish *sl_lua_wish_of(const struct sl_lua *x, uint32_t job);

/* What rank() said of an entry, and what else orders it. */
struct sl_lua_rank {
	double rank, then;
	int64_t priority, submit_time;
	uint32_t id, index;		/* index: of the queue's entry */
};

/* Below 0 where the first goes before the second. */
int sl_lua_rank_order(const struct sl_lua_rank *a, const struct sl_lua_rank *b);

/* Is rank() to be asked again after starts (a policy's rerank)?  Then the ranks in their order, as they were said at
 * this revision of the plan; else NULL.  And ask it again about one of them. */
const struct sl_lua_rank *sl_lua_turn_ranks(const struct sl_lua *x, uint64_t *revision);
struct sl_lua_rank sl_lua_rank_again(lua_State *L, struct sl_lua *x, uint32_t index);

/* True if moreover nothing but rank() has a say beside decide(), and no partition is closed; then the part of the site's list
 * that has rank() is pushed. */
bool sl_lua_turn_is_by_rank(lua_State *L, const struct sl_lua *x);

/* True if all partitions are decided together, and no admit() or allow() is asked about any entry of the queue. */
bool sl_lua_turn_is_unguarded(const struct sl_lua *x);

/* True if moreover the entries are handed out in the queue's order, and nobody is asked about any; plain: and none is closed. */
bool sl_lua_turn_is_in_queue_order(const struct sl_lua *x);
bool sl_lua_turn_is_plain(const struct sl_lua *x);

/* Has the group failed in its admit() or allow()?  *holds: nothing may start then in its
 * partitions. */
bool sl_lua_turn_guards_failed(const struct sl_lua *x, bool *holds);

/*
 * Call visit() for each entry that an iteration over the queue has left, until it returns false.
 * The iteration, what cluster:queue() returned, is at *index*; raises if it is something else.  *to_backfill*: entries that
 * cannot be backfilled for want of cores need not be among them.
 */
typedef bool sl_lua_queue_visit(lua_State *L, struct sl_lua *x, struct sl_entry e, void *arg);
void sl_lua_queue_each(lua_State *L, int index, bool to_backfill, sl_lua_queue_visit *visit, void *arg);

/*
 * bind/order.c: a method of the history; and a visit, as above, of each entry that is left of what it returned, if that is what
 * is at *index* (true).
 */
int sl_lua_history_order(lua_State *L);
bool sl_lua_order_each(lua_State *L, int index, sl_lua_queue_visit *visit, void *arg);

/* bind/settle.c: a method of the plan. */
int sl_lua_plan_settle(lua_State *L);

/* -- who may start ------------------------------------------------------- */

/* Hand out no further job of a partition in this turn; true if that was said of the partition. */
void sl_lua_close(lua_State *L, struct sl_lua *x, uint32_t partition);
bool sl_lua_is_closed(const struct sl_lua *x, uint32_t partition);

/* Is this queue entry one that the group may look at?  Asks admit() the first time in a turn. */
bool sl_lua_entry_open(lua_State *L, struct sl_lua *x, uint32_t index);

/*
 * May this entry start, with all that this cycle has started so far?  Asks the group's
 * allow(); what it said last is not asked again until something starts.  A refusal is
 * also what the plan says of the job.  *reason, if not NULL, gets its text of
 * SL_LUA_TEXT_MAX bytes.
 */
enum sl_lua_allow { SL_ALLOW_NO, SL_ALLOW_YES, SL_ALLOW_LATER };
enum sl_lua_allow sl_lua_entry_allowed(lua_State *L, struct sl_lua *x, struct sl_entry e, char *reason);

/* Who is preempted in the partitions of this turn is the plan's to say (sl_plan_own_stops()).  0, or -1 with *err. */
int sl_lua_own_stops(struct sl_lua *x, struct sl_error *err);

/* Called when the group's policy has decided.  For each job that could not start and may preempt others, ask the group's admit()
 * and allow() again, now that all starts are known; if both agree, confirm in the plan that it may preempt. */
void sl_lua_confirm_preempting(lua_State *L, struct sl_lua *x);

/* The plan's guard (model/plan.h): asks sl_lua_entry_allowed(); *arg* is the struct sl_lua. */
int sl_lua_guard(void *arg, struct sl_entry e, struct sl_refusal *why, struct sl_error *err);

/* If a verb of the plan failed because allow() raised an error in the guard, raise that error again.  Else do nothing. */
void sl_lua_raise_again(lua_State *L, struct sl_lua *x);

#endif
