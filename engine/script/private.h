/* SPDX-License-Identifier: MIT */
/*
 * script/private.h - what script.c, script/module.c and script/load.c share.
 * Nobody else includes it.
 */
#ifndef SL_SCRIPT_PRIVATE_H
#define SL_SCRIPT_PRIVATE_H

#include "bind/require.h"
#include "bind/turn.h"
#include "script/script.h"

struct sl_script {
	struct sl_lua x;		/* first: a context is its script */
	struct sl_error error;		/* of the last cycle; figures point to it */
	char *trace;			/* of the first error, until it is handed over */
	bool stand_in;			/* easy decides */
	bool unguarded;			/* without admit and allow, which failed */
	struct sl_fence hold;		/* asked for by the caller */
	char hold_why[SL_LUA_TEXT_MAX];
	uint8_t *held;			/* in a cycle, by partition row: nothing starts there */
	char held_text[512];		/* where, and why */
	uint32_t explain;		/* the job that is explained */
	char *said;			/* about it so far */
	struct sl_standing standing;	/* likewise */
	struct sl_script_origin {	/* the snapshot from which it remembers */
		const void *base;
		size_t size;
		int64_t sequence, now;
	} origin;
	bool keeps_memory;		/* sl_script_keep_memory() */
};

/* A state of a set that may still be read from disk.  NULL with *err and *trace. */
struct sl_script *sl_script_new(struct sl_bundle *b, const struct sl_limits *limits, char **trace,
				struct sl_error *err);

/* Call a function in protected mode with *arg* as light userdata.  0, or -1 with *err. */
int sl_script_call(struct sl_script *s, const struct sl_limits *limits, lua_CFunction f, void *arg, struct sl_error *err);

/* A state of the bundle with all that policies have, and without the site: none of the set's files was
 * run.  NULL with *err. */
struct sl_script *sl_script_bare(struct sl_bundle *b, const struct sl_limits *limits, struct sl_error *err);

/* Push the site object, a table that no script can reach. */
void sl_script_push_site(lua_State *L);

/* -- script/hold.c ------------------------------------------------------ */

/* A cycle begins: what the caller wants held is.  0, or -1 with *err. */
int sl_script_begin_holds(struct sl_script *s, struct sl_error *err);

/* Nothing starts any more in the partitions whose turn it is; their jobs are told why. */
void sl_script_hold_turn(struct sl_script *s, const char *why);

/* Nothing starts in the partitions that the site wants held. */
void sl_script_hold_site(struct sl_script *s, const char *why);

/* -- script/left_out.c --------------------------------------------------- */

/* Jobs that the plans before left out (sl_plan_left_out()) are left out of this one; those that this one leaves
 * out are remembered, as many as there is room for. */
void sl_script_recall_left_out(const struct sl_remember *m, struct sl_plan *p);
void sl_script_remember_left_out(struct sl_remember *m, const struct sl_plan *p);

/* -- script/module.c --------------------------------------------------- */

/* require() and, for the project's own modules, the table "engine". */
void sl_script_open_modules(lua_State *L);

/* -- probe.c ----------------------------------------------------------- */

/*
 * A small cluster on which a new set is tried: eight nodes, some of them busy, and
 * in each of the named partitions jobs of all kinds.  malloc'ed bytes of a snapshot,
 * or NULL with *err.
 */
void *sl_probe_snapshot(const char *const *partition, unsigned partitions, size_t *size, struct sl_error *err);

#endif
