/* SPDX-License-Identifier: MIT */
/*
 * both.h - a simulation in both ways: by the pool, which asks a policy that has promised a rule once, and by the policy, asked at
 * each instant.  Both have to come to the same schedule and figures, byte for byte.
 */
#ifndef T_SIM_BOTH_H
#define T_SIM_BOTH_H

#include "sim/trial.h"

struct text {
	char buf[32768];
	size_t n;
};

void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The text as a file, until the next one, and where that is. */
const char *file(const char *text);
const char *both_path(void);

#define MOST_JOBS 128

struct outcome {
	int rc;
	struct sl_error err;
	struct sl_result result;
	uint64_t asked;
	bool promised;
	uint32_t jobs;
	struct sl_sim_job job[MOST_JOBS];
	uint32_t cores[MOST_JOBS];		/* by the stretches */
	uint32_t runs[MOST_JOBS];		/* that the history has of its user */
};

/* One way; *ask_each_time*: the policy is. */
struct outcome simulate(const struct sl_trial_options *opt, bool ask_each_time);

/* Both: what the pool came to, and whether the policy promised anything when it was asked each time. */
struct outcome simulate_both(const struct sl_trial_options *opt, const char *what);

/* A random workload of so many jobs at most, MOST_JOBS at most. */
void put_workload(struct text *t, uint32_t most);

/* Of the group of tests. */
int both_set_up(void **state);
int both_tear_down(void **state);

#endif
