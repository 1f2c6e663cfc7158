/* SPDX-License-Identifier: MIT */
/*
 * journal.h - the decision journal: one JSON object per cycle and line.
 *
 * DIR/decisions.jsonl, a line file (base/line_file.h).  `schedlua explain`
 * reads it from the newest line back.  The plug-in writes it, after the commit, so
 * that it holds what became of each decision too.
 *
 * Keys of a line, left out where they are empty, zero or false:
 *	sequence, now, policy, examined, truncated, error, decide_us, total_us
 *	full		the first line of a file: names every job that waits
 *	partitions	{name: nodes}: in the first line of a file, and when that changes
 *	started		[{job, partition, nodes, node_count, cores, time_limit,
 *			  native, shape, by, note, done, fate, text}]
 *			  (note: why the alternatives in its comment are ignored; beyond: which are not offered)
 *	reserved	[{job, start_time, partition, nodes, node_count, cores, by}]
 *	pending		[{job, why, text, by, partition, note}]
 *			  (partition: those in which it is queued, comma-separated)
 *	refused		[{job, was, start_time, partition, nodes, node_count, cores, text, by}]
 *			  (rows that the checker refused, with what stands in "pending" of their jobs)
 *	shortages	[{job, what, needs, has, spared, text, by}]
 *			  (why nobody is stopped for jobs that stand in "reserved" or "pending"; spared: how many jobs the policy spares)
 *	actions		[{job, verb, number, text, by, done, fate, why}]
 *	held		[{job, until, verdict, cost, bound, because, by}], or [{job, release, by}]
 *			  (places that are held for jobs for which this plan stops others, and those it releases)
 *	stopped		[{job, preemptor, group, cost, mode, moves, by, done, fate, text}]
 *	gone		[{job}]: it waited, and now neither waits nor was started here
 * done and what follows tell what became of it; they are there only where the plan
 * was carried out (fate: sl_fate_word(), text or why: the same for people).  Times are seconds since the epoch.
 *
 * With thousands of jobs waiting most answers are the same as a cycle ago.  So
 * reserved and pending name only the jobs of which one or the other differs from
 * what the file last said, and then both: the newest line that names a job is
 * what holds, all of it.  Numbers alone are no difference: how many nodes are free
 * changes with each job that ends, and 250 jobs that wait would fill the file with that.  Of a reservation it
 * is one when its start moves by more than a minute and more than an eighth of the wait.  A cycle in which
 * nothing happened and nothing changed writes no line.  A shortage is one when it is of another resource than the file last
 * said of the job; that a plan no longer has it is none, because policies look at some jobs in each cycle only.
 *
 * Ownership: the journal owns its file.  Threads: none; processes that overlap
 * (slurmctld while it restarts itself) lock the file for each line.
 */
#ifndef SL_JOURNAL_H
#define SL_JOURNAL_H

#include <stdbool.h>

#include "image/plan_image.h"
#include "image/snapshot.h"

#define SL_JOURNAL "decisions.jsonl"
#define SL_SHADOW_BOOK "shadow.jsonl"	/* beside it: plugin/host/shadow.h */

struct sl_journal;

/*
 * Open or create the journal (mode 0640) in a directory that exists; a line that
 * a crash left torn is cut off.  NULL on failure with *err set.
 */
struct sl_journal *sl_journal_open(const char *dir, struct sl_error *err);

/*
 * The same, of a journal that everybody may read (mode 0644).  It is not locked, as readers
 * could hold the lock for ever: one process writes it.
 */
struct sl_journal *sl_journal_publish(const char *dir, struct sl_error *err);

/* Remove all files of a journal.  0, also when there are none; -1 with *err. */
int sl_journal_remove(const char *dir, struct sl_error *err);

void sl_journal_close(struct sl_journal *j);

/* Rotate at another size. */
void sl_journal_set_size(struct sl_journal *j, size_t size);

/* What became of a start, an action or a stop of the plan. */
struct sl_carried {
	uint32_t job;
	enum sl_fate fate;
	const char *text;	/* why not, for people: "it was cancelled meanwhile"; NULL: nothing to say */
};

/*
 * Append the record of a cycle.  *carried* holds one entry per start, then one
 * per action, then one per stop of the plan, in the plan's order; NULL where nothing is carried out.
 * The plan need not have been checked: nodes and partitions that the snapshot has
 * not are left out.  Returns 0, or -1 with *err: a full disk (SL_EIO), another
 * process writing at this instant (SL_EBUSY).  Nothing torn is left behind then,
 * and what was to be said is said by the next record.
 */
int sl_journal_write(struct sl_journal *j, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		     const struct sl_carried *carried, struct sl_error *err);

/* Its lines from the newest back: sl_line_file_read(). */
int sl_journal_read(const char *dir, int (*visit)(const char *line, size_t length, void *arg), void *arg,
		    struct sl_error *err);

#endif
