/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * note.h - what the plug-in notes of a job from cycle to cycle, beside Slurm's record.
 *
 * A job is known by its id and the time of its submission: an id that is used again starts
 * anew, and so does a job that was requeued, which Slurm submits again.
 *
 * The table is bounded.  A job has SL_NOTE_PROBES places in which its note may stand; where
 * all are taken by others, the note goes that was written longest ago.  Nothing depends on a
 * note that has gone: what was refused is then tried once more, or said once more.
 *
 * A value of half a megabyte; all bytes zero is empty.  Knows nothing of Slurm.  The cycle
 * thread only.
 */
#ifndef SL_NOTE_H
#define SL_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#define SL_NOTES_MOST 8192	/* a power of two */
#define SL_NOTE_PROBES 16

#define SL_TOLD_IGNORED 0x1	/* its alternatives are ignored */
#define SL_TOLD_BEYOND 0x2	/* some of them ask for more than the job */
#define SL_TOLD_UNNOTED 0x4	/* what it asks for is not kept while it runs */

/* Times are seconds since the epoch. */
struct sl_note {
	uint32_t job;
	uint32_t refusals;		/* by select, of the plan's placement, in a row */
	uint32_t unfit;			/* plans in a row that had a start for it although Slurm says that it may not run */
	int64_t submitted;
	int64_t rests_until;		/* it is left out of the queue: it cannot start whatever is planned */
	int64_t unlent_until;		/* it is not lent nodes of others: a partition, or select, refused */
	int64_t shapes_until;		/* the alternatives in shapes_refused are not tried */
	uint16_t shapes_refused;	/* bit n-1 for the nth */
	bool limited;			/* a limit kept it from starting once its nodes were known */
	uint8_t told;			/* SL_TOLD_*: what was said of it */
	uint32_t unstopped;		/* sl_note_says(): why others were not stopped for it; 0: they were, or not planned to be */
	uint32_t unheld;		/* likewise: why no place was held for it */
	uint64_t written;		/* what sl_note_write() counts */
};

struct sl_notes {
	struct sl_note note[SL_NOTES_MOST];
	uint64_t writes;
};

/* The note of a job; where there is none, one in which everything is zero. */
const struct sl_note *sl_note_read(const struct sl_notes *n, uint32_t job, int64_t submitted);

/* The same, to be written: it stands in the table, in which another one may have gone for it.
 * The pointer is good until the next call. */
struct sl_note *sl_note_write(struct sl_notes *n, uint32_t job, int64_t submitted);

/* True if *said, a field of a note, is of another text, or of none; it is of this one then. */
bool sl_note_says(uint32_t *said, const char *text);

/* Is the job's nth alternative not to be tried at that time? */
bool sl_note_shape_refused(const struct sl_note *note, uint32_t n, int64_t now);

/* It could not be its nth alternative: that is not tried until then. */
void sl_note_refuse_shape(struct sl_note *note, uint32_t n, int64_t now, int64_t until);

#endif
