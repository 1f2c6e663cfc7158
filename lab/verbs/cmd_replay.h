/* SPDX-License-Identifier: MIT */
/*
 * cmd_replay.h - what the two readings of a recording share (cmd_replay*.c).
 */
#ifndef SL_CMD_REPLAY_H
#define SL_CMD_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "script/script.h"
#include "verbs/sim_args.h"

struct sl_replay_args {
	struct sl_sim_args sim;
	const char *policy, *site, *journal;
	int64_t tolerance, show;
	double budget;
	bool cycles, json, quiet;
};

/*
 * Decide each snapshot anew and compare with what the journal in *journal* says of that
 * cycle; *kept* as for sl_replay_open().  Prints, errors too; returns 0, 1 when the policy failed in some cycle, or
 * -1 with *err.
 */
int sl_replay_cycles(const struct sl_replay_args *v, char *const *path, uint32_t paths, bool kept,
		     const char *journal, struct sl_error *err);

#endif
