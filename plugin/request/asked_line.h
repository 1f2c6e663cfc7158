/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asked_line.h - what a job asked for, as a line of StateSaveLocation/schedlua/requests.
 *
 * The file has a header with its version, then a line for each job: numbers and texts between tabs. The texts
 * are what users wrote (gres); they are escaped (base/escape.h), so that none of them becomes a field or a
 * line. A line is believed only if a submission could have had its numbers, and no text has a control
 * character. Files of version 1 had the texts as they were: no line of theirs is believed.
 *
 * Knows nothing of Slurm. Ownership: see sl_asked_read(). Threads: none; no state.
 */
#ifndef SL_ASKED_LINE_H
#define SL_ASKED_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The first line of a file, and of one that a version wrote which did not escape. */
#define SL_ASKED_HEADER "schedlua requests 2\n"
#define SL_ASKED_UNSAFE_HEADER "schedlua requests 1\n"

/* Slurm's NO_VAL and INFINITE. */
#define SL_ASKED_UNSAID 0xfffffffeu
#define SL_ASKED_INFINITE 0xffffffffu

enum sl_asked_tres { SL_ASKED_PER_JOB, SL_ASKED_PER_NODE, SL_ASKED_PER_SOCKET, SL_ASKED_PER_TASK, SL_ASKED_TRES };

/* Slurm's fields of that name, as they were. */
struct sl_asked {
	uint32_t job_id, user_id;
	int64_t submitted;	/* the job's submit time */
	uint32_t restarts;	/* how often it had been requeued */
	bool started;		/* it was started as something else; else that was only planned */
	bool shaped;		/* not just with another time limit */
	bool tasks_set;		/* it said how many tasks (JOB_NTASKS_SET) */
	uint32_t limit_then;	/* minutes it was started with; 0: not known */
	uint32_t nodes_then, cpus_then;	/* min_nodes and min_cpus it was started with; not started: those below */
	uint32_t time_limit;	/* minutes; NO_VAL: it names none */
	uint32_t min_nodes, max_nodes, num_tasks, min_cpus, max_cpus, pn_min_cpus, cpus_per_task, ntasks_per_node;
	char *tres[SL_ASKED_TRES];	/* NULL: none */
};

/* True if a submission could have these numbers, and no text has a character that sl_text_is_unsafe() names. */
bool sl_asked_is_possible(const struct sl_asked *a);

/* Write the line, with its line feed. */
void sl_asked_write(FILE *f, const struct sl_asked *a);

/*
 * Read a line without its line feed, which is cut up in place: the texts of *a point into it. False, with *a
 * of no use, for what sl_asked_write() has not written of a possible request.
 */
bool sl_asked_read(char *line, struct sl_asked *a);

#endif
