/* SPDX-License-Identifier: MIT */
/*
 * shadow.h - the book of shadow mode (plugin/host/shadow.h), read and judged: of each job that
 * Slurm has started, when the policies would have started it.
 *
 * Ownership: the report owns everything; texts are good as long as it is.  Threads: none.
 */
#ifndef SL_SHADOW_REPORT_H
#define SL_SHADOW_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

enum sl_shadow_verdict {
	SL_SHADOW_SAME,		/* within the tolerance, or Slurm was done before the policies looked */
	SL_SHADOW_EARLIER,	/* a plan started it before Slurm did */
	SL_SHADOW_LATER,	/* no plan did, and the policies had said that it waits */
	SL_SHADOW_REFUSED,	/* they had refused it */
	SL_SHADOW_VERDICTS
};
const char *sl_shadow_word(enum sl_shadow_verdict v);

struct sl_shadow_run {
	const json_t *ran;	/* as the book has it */
	uint32_t job, group;	/* group: its array, or itself */
	int64_t submit, start, end;	/* end 0: not known */
	int64_t planned;	/* earlier: the first plan that starts it; later: when it was expected; 0: not known */
	int64_t by;		/* seconds that the policies are later; less than 0: earlier */
	bool found;		/* it had begun when the book was begun anew: who looked at it before is not known */
	bool known;		/* by is: a later start of which nobody had an idea is not */
	enum sl_shadow_verdict verdict;
};

struct sl_shadow_plan {
	uint32_t group, tasks;
	int64_t when;
};

/* A job that the policies would have stopped for another one, and what became of both. */
struct sl_shadow_stop {
	const json_t *victim;	/* as the book has it */
	uint32_t job, preemptor;
	int64_t when;		/* when they would have stopped it for the first time */
	int64_t ended;		/* when the run ended under Slurm; 0: not in the time that was read */
	int64_t started;	/* when Slurm started the other job after *when*; 0: likewise */
	bool optimal;		/* no set would have cost less */
};

struct sl_shadow_report {
	int64_t from, to;	/* first and last line of the time asked for */
	char stock[32], policies[400];
	struct sl_shadow_run *run;
	struct sl_shadow_plan *plan;
	struct sl_shadow_stop *stop;	/* the oldest first */
	uint32_t runs, run_room, plans, plan_room, stops, stop_room, count[SL_SHADOW_VERDICTS];
	uint32_t moves;		/* of the stops those that have another place to start again */
	uint32_t stopped_for;	/* jobs for which they would have stopped others */
	double stop_cost;
	uint32_t begins, ran_before;	/* times that slurmctld began; runs of which nothing is known for that */
	json_t *failed;		/* text -> [times, last] */
	json_t *lines;		/* what runs point into */
	uint64_t cycles, failures, deaths, decide_us, decide_max_us;
	double cores_s, used_s, planned_s;	/* cores x seconds: all, in use, and given by the policies besides */
};

/*
 * Read the lines of the last *last* seconds below *dir*.  0, or -1 with *err (SL_ENOENT: there is
 * no book).  To be closed in either case.
 */
int sl_shadow_read(struct sl_shadow_report *r, const char *dir, int64_t last, int64_t tolerance, struct sl_error *err);
void sl_shadow_close(struct sl_shadow_report *r);

/* What lines say of jobs that would have been stopped (shadow_stops.c): take each line, the newest first, then find out what became
 * of these jobs; the runs are as lines have them.  0, or -1 with *err (SL_ENOMEM). */
int sl_shadow_take_stops(struct sl_shadow_report *r, const json_t *line, int64_t now, struct sl_error *err);
void sl_shadow_finish_stops(struct sl_shadow_report *r);

/* As a JSON array; NULL: out of memory. */
json_t *sl_shadow_pack_stops(const struct sl_shadow_report *r, uint32_t most);

/* Those that differ most first. */
void sl_shadow_sort(struct sl_shadow_report *r);

struct sl_shadow_user {
	const char *name;
	uint32_t jobs;
	double waited, planned;		/* seconds: under Slurm; as the policies had it */
};

struct sl_shadow_users {
	struct sl_shadow_user *user, all;	/* who waited longest first */
	uint32_t count;
};

/* Whose jobs waited how long; 0, or -1 with *err (SL_ENOMEM).  To be freed in either case. */
int sl_shadow_users(const struct sl_shadow_report *r, struct sl_shadow_users *us, struct sl_error *err);
void sl_shadow_users_free(struct sl_shadow_users *us);

/* part / all, 0 of nothing */
double sl_shadow_share(double part, double all);

/* All that as JSON (schedlua-shadow(1) has the keys), with the first *most* jobs; NULL: out of memory. */
json_t *sl_shadow_pack(const struct sl_shadow_report *r, const struct sl_shadow_users *us, uint32_t most);

#endif
