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

/* Of a job that was cancelled the run is in its own row. */
static int put_stop(struct sl_page *p, const struct sl_sim_stop *s, const struct sl_stretch *stretch, struct sl_error *err)
{
	bool in_job = s->mode == SL_STOP_CANCEL;

	return sl_page_stop(p, &(struct sl_page_stop) {
		.job = s->job, .preemptor = s->preemptor, .mode = s->mode, .verdict = s->verdict, .start_s = s->start_s, .told_s = s->told_s,
		.end_s = s->end_s, .lost_s = s->lost_s, .in_job = in_job, .cores = s->cores, .gpus = s->gpus,
		.stretch = stretch + s->first_stretch, .stretches = in_job ? 0 : s->stretches,
	}, err);
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
	for (uint32_t i = 0; rc == 0 && i < schedule->stops; i++)
		rc = put_stop(p, &schedule->stop[i], schedule->stretch, err);
	return rc ? -1 : sl_page_end_run(p, r, last_instant(w, job), err);
}
