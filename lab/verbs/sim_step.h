/* SPDX-License-Identifier: MIT */
/*
 * sim_step.h - a simulation whose decisions an agent makes, one a line: schedlua sim --step.
 *
 * Before each decision the agent is sent an observation as one line of JSON, and answers with an action as one line:
 * start a job now, backfill it, reserve its earliest start, or done.  The plan is that of a policy's
 * plan:start(), plan:backfill() and plan:reserve(), so an agent that answers as a policy would makes the same
 * schedule.  An action that the plan does not take is told in the next observation; one that means nothing
 * ends the simulation, and so does an agent that takes too long to read an observation and to answer it, or is gone.
 *
 * Ownership: an sl_step owns its buffer and what it knows of the machine.  Threads: none.
 */
#ifndef SL_SIM_STEP_H
#define SL_SIM_STEP_H

#include <signal.h>

#include "sim/trial.h"

struct sl_step;

/*
 * Answers are read from the descriptor *in*, observations written to *out*, which is non-blocking while it is written to.
 * Once *stop* is not 0 the agent is not waited for any more: an instant ends as if it had answered done, and an
 * observation that it does not read is a failure.  NULL with *err.
 */
struct sl_step *sl_step_create(int in, int out, int64_t timeout_s, const volatile sig_atomic_t *stop, struct sl_error *err);
void sl_step_destroy(struct sl_step *s);

/* Decides in the place of a script: sl_sim_options.decide with the sl_step as its argument. */
int sl_step_decide(struct sl_cluster *c, struct sl_plan *p, void *step, struct sl_error *err);

/* The last line: the figures of the simulation. */
int sl_step_end(struct sl_step *s, const struct sl_trial *t, struct sl_error *err);

/* Print the JSON Schema of all lines. */
int sl_step_schema(FILE *out, struct sl_error *err);

#endif
