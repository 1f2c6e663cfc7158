/* SPDX-License-Identifier: MIT */
/*
 * bind/bind.h - what the Lua bindings share: handles of rows, and the way from a column
 * to a Lua value.
 *
 * A handle is a userdata that names a row of the snapshot: a job (in one of its
 * partitions), a node, a partition.  Handles are read-only, made once per row and
 * kept, so that equal rows are equal values.  A handle is good in the cycle in
 * which the cluster handed it out; used in another one it raises.
 *
 * Fields come from the snapshot's schema: a column is a field of the same name,
 * with no code of its own.  Numbers are integers; SL_UNLIMITED is math.huge; a number that has
 * words is its word; a set of flags is a list of words, and each flag is a boolean field too
 * ("exclusive"); a reference is the key of its row; a range is a list.  What nobody has set is
 * nil: a number that is SL_NONE or has another value for that, an empty text, an empty list of
 * what was asked for (bind/unsaid.c).
 *
 * Functions raise Lua errors; they run in protected mode.
 */
#ifndef SL_LUA_BIND_H
#define SL_LUA_BIND_H

#include "base/allowance.h"
#include "auction/bid.h"
#include "bind/context.h"
#include "sandbox/sandbox.h"

enum sl_lua_class_id { SL_CLASS_JOB, SL_CLASS_NODE, SL_CLASS_PARTITION, SL_CLASS_LIST, SL_CLASS_CLUSTER, SL_CLASS_PLAN,
		   SL_CLASS_USAGE, SL_CLASS_HISTORY, SL_CLASS_BID, SL_CLASS_NODESET, SL_CLASSES };

/*
 * What tells a handle from any other userdata, together with its size: scripts
 * cannot make userdata, and no other binding uses this.
 */
#define SL_HANDLE_MAGIC 0x48534c75u

struct sl_handle {
	struct sl_sandbox_key key;	/* order among table keys: class, row */
	uint32_t magic;
	uint32_t class_id;		/* enum sl_lua_class_id */
	uint32_t generation;
	uint32_t row;
	uint32_t partition;		/* of a job: where it is looked at, the first that it names unless it
					 * came from the queue; SL_NONE: it has none */
};

/* -- classes ----------------------------------------------------------- */

/* A field that is computed; pushes one value. */
struct sl_lua_field {
	const char *name;
	void (*push)(lua_State *L, struct sl_lua *x, const struct sl_handle *h);
};

struct sl_lua_class {
	enum sl_lua_class_id id;
	const char *name;		/* "job" */
	int table;			/* of the snapshot, whose columns are fields; -1 */
	const struct sl_lua_field *field;	/* ends with a NULL name; goes before a column */
	const luaL_Reg *method;		/* ends with a NULL name; may be NULL */
	const luaL_Reg *meta;		/* further metamethods; may be NULL */
};

/* Make the metatable of a class; give it to the userdata on the top of the stack. */
void sl_lua_class(lua_State *L, const struct sl_lua_class *c);
void sl_lua_set_class(lua_State *L, enum sl_lua_class_id id);

/* -- handles ----------------------------------------------------------- */

/* Push the handle of a row. */
void sl_lua_push(lua_State *L, struct sl_lua *x, enum sl_lua_class_id id, uint32_t row);
void sl_lua_push_job(lua_State *L, struct sl_lua *x, uint32_t row, uint32_t partition);

/*
 * The handle at an argument.  Raises unless the argument is of that class, of this cycle, and
 * names rows that this cycle's snapshot has.  This is the only way from an argument to a handle or
 * to an object that begins with one (a bid): no binding casts for itself.  That the object is of
 * this Lua state needs no check, because userdata cannot leave a state.
 */
const struct sl_handle *sl_lua_check(lua_State *L, struct sl_lua *x, int arg, enum sl_lua_class_id id);

/* True if the argument is an object of that class, of whichever cycle. */
bool sl_lua_is(lua_State *L, int arg, enum sl_lua_class_id id);

/* Raise unless a cycle is under way and has that number: for objects that are not handles and
 * hold what belongs to one cycle. */
void sl_lua_check_generation(lua_State *L, const struct sl_lua *x, uint32_t generation, const char *what);

/* The job at an argument, in the partition in which it is looked at; raises when that is none. */
struct sl_entry sl_lua_check_entry(lua_State *L, struct sl_lua *x, int arg);

/*
 * True if the cluster is the canned one on which a set is tried when it is loaded (sl_probe_snapshot()).  It has none of
 * the site's nodes and not all of its partitions, so a name that it does not know is no mistake of the policy.
 */
bool sl_lua_is_probe(const struct sl_lua *x);

/* Row of a node given as a handle or by name; raises when there is none. */
uint32_t sl_lua_check_node(lua_State *L, struct sl_lua *x, int arg);

/*
 * Row of the partition whose name is at *index*.  Without one of that name it raises, beginning with *what*; on the
 * canned cluster it returns SL_NONE instead.
 */
uint32_t sl_lua_check_partition(lua_State *L, struct sl_lua *x, int index, const char *what);

/* The same for each of the list of names at *index*: mark[row] = 1.  Names without a partition mark none. */
void sl_lua_mark_partitions(lua_State *L, struct sl_lua *x, int index, uint8_t *mark);

/*
 * The text at an argument, cut to SL_LUA_TEXT_MAX - 1 bytes: what goes into the plan is
 * no longer under the state's memory limit.  *buffer* is returned.
 */
#define SL_LUA_TEXT_MAX 1024
const char *sl_lua_cut(char buffer[SL_LUA_TEXT_MAX], const char *text);

/*
 * Arguments by name, in the table at *table* (bind/named.c).  The first raises, beginning with
 * *what*, at a key that is none of the names, which are given as people read them: "lo, hi or
 * name".  The others raise unless the value is of that type and within those bounds, which may be
 * infinite; without one a flag is false, a text NULL.  A text stays on the stack.
 */
void sl_lua_check_names(lua_State *L, int table, const char *what, const char *names);
double sl_lua_named_number(lua_State *L, int table, const char *name, double otherwise, double min, double max);
int64_t sl_lua_named_integer(lua_State *L, int table, const char *name, int64_t otherwise, int64_t min, int64_t max);
bool sl_lua_named_flag(lua_State *L, int table, const char *name);
const char *sl_lua_named_text(lua_State *L, int table, const char *name);

/* Row of the table whose key column has the string at *index*, or SL_NONE. */
uint32_t sl_lua_find(lua_State *L, struct sl_lua *x, int table, int index);

/* A cycle begins: another generation of handles.  True when the snapshot is
 * another one than before, and what was kept of that one is dropped. */
bool sl_lua_begin(lua_State *L, struct sl_lua *x);

/* A zeroed block that lives as long as the state, or until there is another one with that
 * key: an address, of the registry.  NULL for no bytes. */
void *sl_lua_keep_block(lua_State *L, const char *key, size_t size);

/* -- values ------------------------------------------------------------ */

/* True if a 0, or an empty list, in that column says that nobody has set the value: then the field is nil. */
bool sl_lua_may_be_unsaid(int table, const char *column);

/* Push { FIELD = KIND } of a class of rows: "text", "number", "boolean", "list" or "other", with "?" behind it where it
 * may be nil. */
void sl_lua_push_kinds(lua_State *L, const struct sl_lua_class *c);
void sl_lua_push_job_kinds(lua_State *L);	/* bind/job.c */

/* bind/job.c: is that field of a job worked out, even if there is a column of that name? */
bool sl_lua_job_computes(const char *name);

/* Push a table with all columns of a row. */
void sl_lua_push_row(lua_State *L, struct sl_lua *x, int table, uint32_t row);

/* Push { gpu = 2, ["gpu:a100"] = 2 } for an amount of each of SL_MAX_GRES kinds: by
 * kind, and added up by name. */
void sl_lua_push_gres(lua_State *L, struct sl_lua *x, const uint64_t *gres);

/* -- the bindings ------------------------------------------------------ */

void sl_lua_open_job(lua_State *L);		/* bind/job.c */
void sl_lua_open_node(lua_State *L);		/* bind/node.c: node, partition */
void sl_lua_open_cluster(lua_State *L);	/* bind/cluster.c: cluster, lists */
void sl_lua_open_plan(lua_State *L);		/* bind/plan.c */
void sl_lua_open_usage(lua_State *L);		/* bind/usage.c */
void sl_lua_push_stale(lua_State *L, struct sl_lua *x, const struct sl_handle *h);	/* its field, the history's too */
void sl_lua_open_history(lua_State *L);	/* bind/history.c */
void sl_lua_open_bid(lua_State *L);		/* bind/bid.c */
void sl_lua_open_nodeset(lua_State *L);		/* bind/nodeset.c */
void sl_lua_open_log(lua_State *L);		/* bind/log.c: slurm.log_*, print */
void sl_lua_open_data(lua_State *L);		/* bind/data.c: engine.file, into the table on the top */
void sl_lua_open_time(lua_State *L);		/* bind/time.c: engine.wall, likewise */
void sl_lua_open_held(lua_State *L);		/* bind/held.c: pushes engine.held */

/* Pop the site's forecasts (sched.forecasts), or nil: what job.forecast asks. */
void sl_lua_keep_forecasts(lua_State *L);

/* Pop the site's clock (sched/clock.lua): what cluster.clock asks. */
void sl_lua_keep_clock(lua_State *L);

/* A line for the log: 0 error, 1 info, 2 debug. */
void sl_lua_log(lua_State *L, struct sl_lua *x, unsigned level, const char *text);

/* What C may take on behalf of what runs: the rest of its time, as much memory as its state
 * has left. */
static inline struct sl_allowance sl_lua_allowance(const struct sl_lua *x)
{
	const struct sl_limit *l = &x->limit;

	return (struct sl_allowance) { &l->expired, l->cap > l->used ? l->cap - l->used : 1 };
}

/*
 * The list of queue entries at an argument: as many jobs as there are in the queue at most.
 * The block stays on the stack; room for one more.
 */
struct sl_entry *sl_lua_check_entries(lua_State *L, struct sl_lua *x, int arg, uint32_t *count);

/* What a cycle begins with, for files of bind/ that have something for each of them. */
void sl_lua_begin_queue(lua_State *L, struct sl_lua *x);
void sl_lua_begin_random(lua_State *L, struct sl_lua *x);

/* ... and ends with. */
void sl_lua_end_bids(struct sl_lua *x);

/* bind/queue.c: a method of the cluster; and how many jobs it has handed out in this cycle. */
int sl_lua_cluster_queue(lua_State *L);
uint32_t sl_lua_examined(const struct sl_lua *x);

/* The least window that cluster:queue() was asked for in the cycle. */
uint32_t sl_lua_window(const struct sl_lua *x);

/* bind/bid.c: methods of the cluster; and the bid at an argument, which is one of this
 * cycle.  Its parts follow it. */
int sl_lua_cluster_bids(lua_State *L);
int sl_lua_cluster_nodesets(lua_State *L);
int sl_lua_cluster_overlaps(lua_State *L);
const struct sl_bid *sl_lua_check_bid(lua_State *L, struct sl_lua *x, int arg, const struct sl_bid_part **part);

/* bind/window.c: a method of the cluster. */
int sl_lua_cluster_window(lua_State *L);

/* bind/preempt.c: a method of the plan. */
int sl_lua_plan_preempt(lua_State *L);
int sl_lua_plan_lost_work(lua_State *L);
int sl_lua_plan_own_preemption(lua_State *L);

/* What plan:start() returns for a job that does not start, and for which others may be stopped: nil, why, the word, and the answer of
 * plan:preempt(). */
int sl_lua_preempt_instead(lua_State *L, struct sl_lua *x, struct sl_entry e);

/* bind/remember.c: a method of the plan and one of the cluster. */
int sl_lua_plan_remember(lua_State *L);
int sl_lua_cluster_recall(lua_State *L);

/* Push the module sched.mip (bind/mip.c); once in a state. */
void sl_lua_push_mip(lua_State *L);

/* What was logged while the set was loaded goes into the plan's log. */
void sl_lua_flush_log(lua_State *L, struct sl_lua *x);

/* Push the objects that policies are given. */
void sl_lua_push_cluster(lua_State *L, struct sl_lua *x);
void sl_lua_push_plan(lua_State *L, struct sl_lua *x);

#endif
