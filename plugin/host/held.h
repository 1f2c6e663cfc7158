/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held.h - the book of held places: the nodes that are held for a job from the moment at which others were told to end for it,
 * and the jobs that were stopped.
 *
 * The book outlives the engine, slurmctld and a fail-over in a file under StateSaveLocation. A place is in the file before
 * the first of its victims is told to end, and so is who these are. After a restart slurmctld may know less than the file: a
 * place is believed only if its job waits with the stamp that it had.
 *
 * The file has a header with its version, then a line for each place (P), each node of it (N), each gres of that (G), and each stopped
 * job (S; T if the job for which it was stopped has started since): fields between tabs, texts escaped (base/escape.h). Lines that make no sense are left out, with the place that
 * they belong to.
 *
 * Knows nothing of Slurm. Ownership: a book owns its places; pointers to them are good until the next call that adds or drops
 * one. Threads: the cycle thread only.
 */
#ifndef SL_HELD_H
#define SL_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

/* So many places at a time, and so many stopped jobs that are remembered. */
#define SL_HELD_MOST 1024u
#define SL_STOPPED_MOST 100000u

/* How long a place stays in the file after its job has started: until slurmctld has saved that it has, and some more. */
#define SL_HELD_TAKEN_S 60

/* How long a stopped job is remembered after it was told to end; longer if it waits to run again. */
#define SL_STOPPED_LASTS_S 3600

struct sl_held_gres {
	char *kind, *of;		/* keys of gres kinds; of: "" where it is no share of another one */
	uint32_t count, devices;
};

struct sl_held_node {
	char *name;
	uint32_t cores;
	int64_t memory;			/* MiB */
	struct sl_held_gres *gres;
	uint32_t gres_count;
};

struct sl_held {
	uint32_t job, user;
	int64_t stamp;			/* sl_job_stamp() of the job when its place was planned */
	int64_t since;			/* when the first of its victims was told to end; 0: none was */
	int64_t until;
	int64_t written_until;		/* as the file has it */
	uint32_t left;			/* victims that have their nodes still; not in the file */
	char *partition;
	struct sl_held_node *node;	/* in node order of the snapshot that it was planned with */
	uint32_t nodes;
};

struct sl_stopped {
	uint32_t job, preemptor;
	int64_t start_time;		/* of the run that was stopped */
	int64_t time;			/* when it was told to end */
	char *user, *partition;
	uint32_t mode;			/* SL_STOP_* of the plan */
	bool started;			/* the preemptor has started since */
};

struct sl_taken {
	struct sl_held place;
	int64_t until;			/* it is written */
};

struct sl_held_book {
	struct sl_held *place;		/* in the order in which they were put in */
	uint32_t places, place_room;
	struct sl_taken *taken;		/* whose jobs have started, by time: nobody holds them any more, they are in the file only */
	uint32_t takens, taken_room;
	struct sl_stopped *stopped;	/* by time */
	uint32_t stops, stop_room;
	/* what is looked up for each row of a plan, or each job that waits */
	struct sl_map place_of;		/* job -> its place in *place* */
	struct sl_map stops_of, stops_for;	/* job, preemptor -> places in *stopped*, counted from stops_gone */
	uint32_t stops_gone;
	bool changed;
	bool reread;			/* the places were read: what was noted may not have been done (commit/finish.h) */
	char *path;
};

struct sl_held_book *sl_held_create(void);		/* NULL: no memory */
void sl_held_destroy(struct sl_held_book *b);

/*
 * Read *path*, or nothing where there is no such file, and write there from now on. Returns how many lines made no sense,
 * or -1 with *err.
 */
int sl_held_open(struct sl_held_book *b, const char *path, struct sl_error *err);

/* Write the book if it has changed: onto the disk. 0, or -1 with *err. */
int sl_held_save(struct sl_held_book *b, int64_t now, struct sl_error *err);

/* The place that is held for a job, or NULL. */
struct sl_held *sl_held_find(const struct sl_held_book *b, uint32_t job);

/*
 * Hold a place for that job (a place that is only held for longer is written once a minute at most): a copy of *place, in the place of what was held for the job before, whose *left* it keeps, and whose *since* if
 * it has none of its own. NULL with *err: SL_ELIMIT for one too many, SL_ENOMEM.
 */
struct sl_held *sl_held_put(struct sl_held_book *b, const struct sl_held *place, struct sl_error *err);

/* Hold nothing for that job any more. False: nothing was held. */
bool sl_held_drop(struct sl_held_book *b, uint32_t job);

/*
 * The same, since its job has started at *now*, as job *as*: of an array it was the waiting record, and a task has started, which has
 * an id of its own. The jobs that were stopped for it were stopped for that one from now on. The place stays in the file for
 * SL_HELD_TAKEN_S: a slurmctld that was killed before it had saved the start finds it there when it is back, and the job waiting.
 */
bool sl_held_take(struct sl_held_book *b, uint32_t job, uint32_t as, int64_t now);

/*
 * Remember that a job is told to end, which is noted, and on the disk, before it is. The oldest entry goes where there is
 * one too many. 0, or -1 with *err.
 */
int sl_held_stop(struct sl_held_book *b, const struct sl_stopped *s, struct sl_error *err);

/* It was noted and not told. */
void sl_held_unstop(struct sl_held_book *b, uint32_t job, uint32_t preemptor, int64_t start_time);

/* Of this run of a job, when it was told to end; NULL: it was not. */
const struct sl_stopped *sl_held_stopped(const struct sl_held_book *b, uint32_t job, int64_t start_time);

/*
 * The jobs that were stopped for a job:
 *
 *	SL_HELD_EACH_STOP(b, preemptor, at)
 *		use(sl_held_stop_at(b, at.value));
 */
#define SL_HELD_EACH_STOP(b, job, at) SL_MAP_EACH(&(b)->stops_for, sl_hash_id(job), at)
static inline const struct sl_stopped *sl_held_stop_at(const struct sl_held_book *b, uint32_t value)
{
	return &b->stopped[value - b->stops_gone];
}

/* Forget the stopped jobs of which *forget* says so. */
void sl_held_forget_stops(struct sl_held_book *b, bool (*forget)(const struct sl_stopped *s, void *arg), void *arg);

/* held_text.c. The places in words, as many as there is room for: "JobId=7: n[001-004] until TIME, 2 jobs left; ...". */
void sl_held_tell(const struct sl_held_book *b, char *text, size_t size);

#endif
