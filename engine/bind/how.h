/* SPDX-License-Identifier: MIT */
/*
 * bind/how.h - the table "how", the last argument of plan:start() and its like.
 *
 *	{ place =, layout =, shape =, bid =, borrow =, through =, because =, expected =, from =, wake_after =,
 *	  nodes =, except =, prefer =, use_blocked = }
 *
 * Functions raise Lua errors on misuse.  What is read points to the Lua stack: it is
 * good until the C function that was called returns.
 */
#ifndef SL_LUA_HOW_H
#define SL_LUA_HOW_H

#include "bind/bind.h"

/* Which nodes a job is to have: what the group's place() says. */
struct sl_lua_wish {
	uint32_t confine, prefer;	/* numbers of sets (sl_cluster_confinement()); 0: not said */
	int method;			/* enum sl_place_method; -1: not said */
	uint32_t least;			/* of a bundled score */
	uint32_t segment;		/* nodes; 0: not said */
	uint32_t score;			/* number of the own score (bind/score.c); 0: none */
	bool use_blocked;
	bool known;			/* place() was asked */
};

struct sl_lua_how {
	unsigned said;			/* keys, for bind/how.c */
	struct sl_terms terms;
	struct sl_how place;		/* what terms.how points to */
	struct sl_loan loan;		/* what terms.borrow points to */
	struct sl_lua_wish wish;	/* which nodes, by the how and by place() */
	bool preempts;			/* others may be stopped for it */
};

/* What place(job, cluster) returned, or nothing (nil), at an index: a table { nodes =, except =, prefer =, place =,
 * use_blocked = }.  And from now on the job has its nodes so, whoever plans it. */
void sl_lua_read_wish(lua_State *L, struct sl_lua *x, int table, struct sl_lua_wish *wish);
void sl_lua_apply_wish(lua_State *L, struct sl_lua *x, uint32_t job, const struct sl_lua_wish *wish);

/* How to place a job by such a wish, which must name a method (not -1). */
struct sl_how sl_lua_wished_how(const struct sl_lua_wish *wish);

/* Reduce the set *prefer to its nodes that are in the set *confine* (0: all nodes), and store the number of the new set there.
 * 1; 0 if no node is left, and *prefer is unchanged; -1 with *err. */
int sl_lua_prefer(struct sl_lua *x, uint32_t confine, uint32_t *prefer, struct sl_error *err);

/* Read it, at argument 3 (or nothing there), for an entry, whose shape and set of nodes are set.  *general*: what place()
 * said of the job, which holds where this says nothing else of nodes; NULL: nothing. */
void sl_lua_check_how(lua_State *L, struct sl_lua *x, struct sl_entry *e, const struct sl_lua_wish *general,
		      struct sl_lua_how *h);

/* The same of a start, which may say "preempt"; and push what it says of that. */
void sl_lua_check_how_to_start(lua_State *L, struct sl_lua *x, struct sl_entry *e, const struct sl_lua_wish *general,
			       struct sl_lua_how *h);
void sl_lua_push_preempt(lua_State *L);

/* The same for whatever entry: place, and the shape 0 or "any", are all that may be said. */
void sl_lua_check_how_of_all(lua_State *L, struct sl_lua *x, struct sl_lua_how *h);

/* because = "...": the policy's words for a start that was made. */
void sl_lua_read_because(lua_State *L, struct sl_lua *x, const struct sl_lua_how *h, uint32_t job);

/* Seconds of a policy, rounded up; beyond what can be counted: for ever. */
int64_t sl_lua_seconds(lua_Number n);

#endif
