/* SPDX-License-Identifier: MIT */
#include "sim/schedule_page.h"

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

int sl_schedule_page(struct sl_page *p, const char *label, const struct sl_workload *w,
		     const struct sl_schedule *schedule, const struct sl_result *r, struct sl_error *err)
{
	const struct sl_sim_job *job = schedule->job;
	int rc = sl_page_begin_run(p, label, err);

	for (uint32_t i = 0; rc == 0 && i < w->snap.job.rows; i++)
		if (job[i].nodes)
			rc = sl_page_job(p, &(struct sl_page_job) {
				.job = i, .start_s = job[i].start_s, .end_s = job[i].end_s, .gpus = job[i].gpus,
				.stretch = schedule->stretch + job[i].first_stretch, .stretches = job[i].stretches,
			}, err);
	return rc ? -1 : sl_page_end_run(p, r, last_instant(w, job), err);
}
