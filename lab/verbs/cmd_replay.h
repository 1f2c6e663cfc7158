/* SPDX-License-Identifier: MIT */
/*
 * cmd_replay.h - what the two readings of a recording share (cmd_replay*.c).
 */
#ifndef SL_CMD_REPLAY_H
#define SL_CMD_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "script/script.h"
#include "sim/reality.h"
#include "verbs/sim_args.h"

struct sl_replay_args {
	struct sl_sim_args sim;
	const char *policy, *site, *journal, *machine, *zone;
	int64_t tolerance, show, procs, phases;
	double budget;
	bool cycles, against_reality, any_seconds, json, quiet;
};

/*
 * Decide each snapshot anew and compare with what the journal in *journal* says of that
 * cycle; *kept* as for sl_replay_open().  Prints, errors too; returns 0, 1 when the policy failed in some cycle, or
 * -1 with *err.
 */
int sl_replay_cycles(const struct sl_replay_args *v, char *const *path, uint32_t paths, bool kept,
		     const char *journal, struct sl_error *err);

/* -- against reality (cmd_replay_reality.c) ---------------------------------- */

/* What is said of a comparison beside its figures. */
struct sl_reality_said {
	const char *source, *policy;
	uint32_t lacks;			/* what the source cannot tell (sl_workload.real_lacks) */
	bool recorded;			/* it is a recording; of which these were replayed: */
	uint32_t nodes_changed, reservations;
	uint32_t phases;		/* simulations of which the mean is taken; 0 or 1: of one */
	double spread_s;		/* of their mean waits */
	uint32_t visits;		/* starts that tell when backfill came; 0: the mean of the simulations is taken, else the best one */
	uint32_t exact, exact_least;	/* starts within a second of the real ones, of that one and of the worst one */
};

/* Simulate a log of accounting as it was, and print how near it comes.  Prints errors, too; 0, or -1 with *err. */
int sl_replay_reality(const struct sl_replay_args *v, const char *path, struct sl_error *err);

/* Print how near a simulation came.  0, or -1 with *err: SL_EINVAL, too few jobs. */
int sl_replay_reality_print(const struct sl_replay_args *v, const struct sl_reality_said *said, const struct sl_reality_jobs *r,
			    struct sl_error *err);

#define SL_STOCK_NAME "Slurm's own schedulers"

/* Slurm's own schedulers by the words of --machine, where that is a slurm.conf; else by Slurm's defaults. */
void sl_replay_stock(const struct sl_replay_args *v, struct sl_stock_options *opt);

#endif
