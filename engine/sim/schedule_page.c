/* SPDX-License-Identifier: MIT */
#include "sim/schedule_page.h"

#include <stdlib.h>
#include <string.h>

/* When the run was over, or where it was stopped. */
static int64_t last_instant(const struct sl_workload *w, const struct sl_sim_job *job)
{
	int64_t last = w->origin_s;

	for (uint32_t i = 0; i < w->snap.job.rows; i++) {
		if (job[i].nodes && job[i].start_s > last)
			last = job[i].start_s;
		if (job[i].end_s > last)
			last = job[i].end_s;
	}
	return last;
}

static int page_job(struct sl_page *p, uint32_t row, const struct sl_sim_job *j, const struct sl_sim_run *run,
		    struct sl_page_part **part, uint32_t *room, struct sl_error *err)
{
	if (j->runs > *room) {
		void *bigger = realloc(*part, j->runs * sizeof(**part));

		if (!bigger)
			return sl_fail(err, SL_ENOMEM, "report: out of memory");
		*part = bigger;
		*room = j->runs;
	}
	for (uint32_t i = 0; i < j->runs; i++)
		(*part)[i] = (struct sl_page_part) { run[i].first, run[i].count, run[i].cores };
	return sl_page_job(p, &(struct sl_page_job) {
		.job = row, .start_s = j->start_s, .end_s = j->end_s, .gpus = j->gpus, .part = *part, .parts = j->runs,
	}, err);
}

int sl_schedule_page(struct sl_page *p, const char *label, const struct sl_workload *w,
		     const struct sl_schedule *schedule, const struct sl_result *r, struct sl_error *err)
{
	const struct sl_sim_job *job = schedule->job;
	struct sl_page_part *part = NULL;
	uint32_t room = 0;
	int rc = sl_page_begin_run(p, label, err);

	for (uint32_t i = 0; rc == 0 && i < w->snap.job.rows; i++)
		if (job[i].nodes)
			rc = page_job(p, i, &job[i], schedule->run + job[i].first_run, &part, &room, err);
	free(part);
	return rc ? -1 : sl_page_end_run(p, r, last_instant(w, job), err);
}
