/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - what slurm.conf says to sched/lua: the words of
 * SchedulerParameters that begin with "lua_", through one table, and those of Slurm's own
 * that have it wait.
 *
 * Knows nothing of Slurm.  No ownership, no threads: a value.
 */
#ifndef SL_OPTIONS_H
#define SL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct sl_options {
	char site[3072];	/* lua_site; "" in sl_sched_params_parse(): sched.lua beside slurm.conf */
	char engine[1024];	/* lua_engine */
	char policy_path[1024];	/* lua_path */
	char publish[1024];	/* lua_publish; "": nothing is published */
	char shadow[16];	/* lua_shadow: "backfill" or "builtin"; "": sched/lua itself schedules */
	char shapes[8];		/* lua_shapes; "within": alternatives ask for no more than the job itself, "any", "off" */
	char user[64];		/* lua_user; "": the engine's default */
	double interval_s;	/* lua_interval; 0: what the site file says, else the default */
	double budget_s;	/* lua_budget; likewise */
	double batch_ms;	/* lua_batch */
	double wake_ms;		/* lua_wake */
	double capture_s;	/* lua_capture */
	double record_s;	/* lua_record */
	double record_files;	/* lua_record_files */
	double record_mib;	/* lua_record_size */
	double finished_s;	/* lua_finished */
	double reason_text;	/* lua_reason_text */
	double max_rpc_cnt;	/* max_rpc_cnt, as for Slurm's own; 0: never too many */
	bool completing_frag;	/* reduce_completing_frag is there */
	bool main_off;		/* sched_interval=-1 is there */
	bool defer;		/* defer is there, and defer_batch is not */
};

#define SL_DEFAULT_INTERVAL_S 3.0
#define SL_DEFAULT_BUDGET_S 2.0

/*
 * Read SchedulerParameters (NULL: empty).  *opt is filled in any case: a word
 * that is wrong keeps its default; but a lua_shadow that is wrong stands for backfill, since
 * who wrote it wants sched/lua to look on.  Returns 0, or -1 with *err naming the first
 * word that is wrong and what was expected; wrong() (may be NULL) is told of each.
 */
int sl_sched_params_parse(struct sl_options *opt, const char *engine, const char *params,
			  void (*wrong)(const char *text), struct sl_error *err);

/*
 * The words that are missing for sched/lua to be the only scheduler, as text
 * for the log ("sched_interval=-1,defer"); NULL when none is.
 */
const char *sl_options_missing(const struct sl_options *opt);

#endif
