/* SPDX-License-Identifier: MIT */
/*
 * visits.h - at which seconds sched/backfill came, found out from the starts that a source tells (sl_workload.real).
 *
 * A job that starts when none has ended in the seconds before, and some time after it became eligible, was started by backfill.  Such
 * starts are some intervals apart: bf_interval, and what a visit takes.  Between two of them visits are laid evenly, if their
 * distance is near a multiple of the interval; else nobody waited meanwhile, and visits go on in step behind the first one.
 *
 * Nothing of it says which job started.  Threads: none.
 */
#ifndef SL_VISITS_H
#define SL_VISITS_H

#include "base/error.h"
#include "workload/workload.h"

struct sl_visits {
	int64_t *at_s;			/* ascending */
	uint32_t count, room;
	uint32_t seen;			/* those of them at which a job started */
};

/* Begin with zeros; bf_interval and batch_sched_delay.  0, or -1 with *err; fewer than two starts of backfill's: no visits. */
int sl_visits_find(struct sl_visits *v, const struct sl_workload *w, int64_t interval_s, int64_t delay_s, struct sl_error *err);
void sl_visits_free(struct sl_visits *v);

/* The first visit after *last* that is not before *now*; before and behind those that are known in step with these.  There are some. */
int64_t sl_visits_next(const struct sl_visits *v, int64_t last, int64_t now, int64_t interval);

#endif
