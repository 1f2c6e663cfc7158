/* SPDX-License-Identifier: MIT */
/*
 * journal.h - the decision journal: one JSON object per cycle and line.
 *
 * DIR/decisions.jsonl, rotated to .1 ... .SL_JOURNAL_KEEP when it reaches
 * SL_JOURNAL_SIZE.  A line is written with one write(2), so that a crash leaves
 * at most one torn line at the end, which readers skip.  `schedlua explain`
 * reads it from the newest line back.  The plug-in writes it, after the commit, so
 * that it holds what became of each decision too.
 *
 * Keys: sequence, now, policy, decide_us, total_us, examined, truncated, error,
 * started: [{job, partition, nodes, cores, by, done, text}], reserved: [{job, start_time,
 * nodes, by}], pending: [{job, why, text, by}], actions: [...].  Cycles in which
 * nothing happened and nothing changed since the line before write no line.
 */
#ifndef SL_JOURNAL_H
#define SL_JOURNAL_H

#include <stdbool.h>

#include "plan_image.h"
#include "snapshot.h"

#define SL_JOURNAL_SIZE ((size_t) 64 << 20)
#define SL_JOURNAL_KEEP 4

struct sl_journal;

struct sl_journal *sl_journal_open(const char *dir, struct sl_error *err);
void sl_journal_close(struct sl_journal *j);

/* What became of a start or an action of the plan when it was carried out. */
struct sl_outcome {
	uint32_t job;
	bool done;
	const char *text;	/* why not: "cancelled meanwhile", "select: nodes busy" */
};

/*
 * Append the record of a cycle.  *outcomes* holds one entry per start, then one
 * per action of the plan, in the plan's order; NULL where nothing is carried out.
 * Returns 0, or -1 with *err (a full disk): nothing torn is left behind.
 */
int sl_journal_write(struct sl_journal *j, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		     const struct sl_outcome *outcomes, struct sl_error *err);

/*
 * Call visit(line, length, arg) for each whole line from the newest back, until
 * it returns non-zero or the journal ends.  Returns 0, or -1 with *err.
 */
int sl_journal_read(const char *dir, int (*visit)(const char *line, size_t length, void *arg), void *arg,
		    struct sl_error *err);

#endif
