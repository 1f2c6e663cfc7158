/* SPDX-License-Identifier: MIT */
/*
 * awaited.h - forecasts whose jobs have not started yet: how the forecast service learns from its own forecasts.
 *
 * The service runs every few minutes.  Of each job that it sees waiting for the first time it keeps what it foresaw.
 * When a later run finds that the job has started, in the snapshot or in the past (usage/history.h), the calibrator
 * learns how good that forecast was; a job that has left the queue and never started is forgotten.  So intervals
 * hold as often as they say without anybody simulating a log, and go on doing so when users and policies change.
 *
 * The file has names of users and ids of jobs, and is for its owner alone; what the calibrator has learnt is numbers,
 * and stands in another one.
 *
 * Ownership: a list owns its items.  Threads: none.
 */
#ifndef SL_AWAITED_H
#define SL_AWAITED_H

#include "sim/forecast.h"
#include "usage/history.h"

#define SL_AWAITED_SUFFIX ".awaited"	/* of its file's name, behind that of the calibration */

enum { SL_AWAITED_MAX = 5000 };		/* jobs; those that come later wait until others have started */

struct sl_awaited_job {
	uint32_t job;
	char user[SL_RUN_NAME];
	int64_t at_s;			/* when the forecast was made, since the epoch */
	struct sl_expected expected;
};

struct sl_awaited {
	struct sl_awaited_job *item;
	uint32_t count, room;
};

/* Read what sl_awaited_write() wrote; a file that is not there has none.  0, or -1 with *err. */
int sl_awaited_read(struct sl_awaited *a, const char *file, struct sl_error *err);
int sl_awaited_write(const struct sl_awaited *a, const char *file, struct sl_error *err);
void sl_awaited_clear(struct sl_awaited *a);

/* Learn from those that have started by *snap*, and drop them and those that are gone.  *h* (may be NULL) knows runs that
 * are over.  0, or -1 with *err. */
int sl_awaited_settle(struct sl_awaited *a, const struct sl_snapshot *snap, struct sl_history *h, struct sl_calibrator *c,
		      struct sl_error *err);

/*
 * A forecast of a pending job, row *job* of *snap*, was made.  It is kept if it is the first one of that job.  Left out are
 * jobs that are expected to start at once, and arrays, whose tasks start one by one.  0, or -1 with *err.
 */
int sl_awaited_add(struct sl_awaited *a, const struct sl_snapshot *snap, uint32_t job, const struct sl_expected *e,
		   struct sl_error *err);

#endif
