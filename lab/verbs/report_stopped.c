/* SPDX-License-Identifier: MIT */
/*
 * report_stopped.c - which runs of the page ended because the policies stopped them for other jobs.
 */
#include "verbs/report_private.h"

#include <stdlib.h>

#include "model/preempt.h"
#include "report/page.h"

#define ENDS_WITHIN_S 86400	/* of being told to: GraceTime, KillWait, and what a node needs */

int64_t sl_report_stopped_at(const struct report *r, const struct row *row)
{
	int64_t first = 0;

	for (uint32_t i = 0; i < r->stops; i++)
		if (r->stop[i].job == row->job && r->stop[i].at >= row->start && (!first || r->stop[i].at < first))
			first = r->stop[i].at;
	return first;
}

/* The run that went on then, and ended soon after; SL_NONE: there is none, or it goes on still. */
static uint32_t find_stopped(const struct report *r, const struct stop_told *stop)
{
	uint32_t found = SL_NONE;

	for (uint32_t i = 0; i < r->rows; i++) {
		const struct row *row = &r->row[i];

		if (row->job == stop->job && row->start && row->start <= stop->at && row->end >= stop->at &&
		    row->end <= stop->at + ENDS_WITHIN_S && (found == SL_NONE || row->start > r->row[found].start))
			found = i;
	}
	return found;
}

/* A row of the job that it was stopped for, if the page has one: on a user's page only one of that user. */
static uint32_t find_preemptor(const struct report *r, const struct stop_told *stop)
{
	for (uint32_t i = 0; i < r->rows; i++)
		if (r->row[i].job == stop->preemptor)
			return i;
	return SL_NONE;
}

/* What was not saved by a checkpoint, if slurmctld still has the job and it says that it makes them. */
static int64_t lost_of(const struct report *r, const struct stop_told *stop, int64_t ran)
{
	uint32_t at = sl_map_by_id(&r->row_of, stop->job);
	int64_t every = at == SL_NONE ? 0 : sl_preempt_checkpoint_s(sl_snapshot_str(&r->now, r->now.job.comment[at]));

	if (stop->mode == SL_STOP_SUSPEND)
		return 0;
	return every && stop->mode != SL_STOP_CANCEL ? ran % every : ran;
}

int sl_report_put_stopped(struct report *r, struct sl_page *page)
{
	for (uint32_t i = 0; i < r->stops; i++) {
		const struct stop_told *stop = &r->stop[i];
		uint32_t run = find_stopped(r, stop);
		const struct row *row = run == SL_NONE ? NULL : &r->row[run];

		if (row && sl_page_stop(page, &(struct sl_page_stop) {
			.job = run, .preemptor = find_preemptor(r, stop), .mode = stop->mode, .verdict = stop->verdict, .start_s = row->start,
			.told_s = stop->at, .end_s = row->end, .lost_s = lost_of(r, stop, row->end - row->start), .in_job = true,
			.cores = row->cores, .gpus = row->gpus }, r->err) < 0)
			return -1;
	}
	return 0;
}
