/* SPDX-License-Identifier: MIT */
/*
 * page_stops.c - runs that were stopped for other jobs, as the page keeps them.
 *
 * In the JSON of a run "stops" has an array for each: row of the job, row of the job that it was stopped for or -1, its mode and
 * its verdict in words, when it began, was told to end and ended, the seconds of work that were lost, cores,
 * and 1 if it is the run that the job's own row has.
 */
#include "report/page_private.h"

#include <inttypes.h>

#include "base/grow.h"
#include "image/plan_image.h"

static int check_stop(const struct sl_page *p, const struct sl_page_stop *stop, struct sl_error *err)
{
	uint32_t rows = p->w ? p->w->snap.job.rows : 0;

	if (!p->label)
		return sl_fail(err, SL_EINVAL, "report: a run that was stopped, outside of a run of the policy");
	if (stop->job >= rows || (stop->preemptor != SL_NONE && stop->preemptor >= rows))
		return sl_fail(err, SL_EINVAL, "report: job row %" PRIu32 " was stopped for row %" PRIu32 " of %" PRIu32, stop->job,
			       stop->preemptor, rows);
	if (stop->start_s < p->w->snap.job.submit_time[stop->job] || stop->told_s < stop->start_s || stop->end_s < stop->told_s)
		return sl_fail(err, SL_EINVAL, "report: job %" PRIu32 " starts before its submission, or is stopped before it starts",
			       p->w->snap.job.id[stop->job]);
	return 0;
}

int sl_page_stop(struct sl_page *p, const struct sl_page_stop *stop, struct sl_error *err)
{
	uint32_t first = p->stretches;

	if (check_stop(p, stop, err) < 0 || sl_grow(&p->stop, &p->stop_room, p->stops + 1, sizeof(*p->stop), err) < 0 ||
	    sl_grow(&p->start, &p->start_room, p->starts + 1, sizeof(*p->start), err) < 0 ||
	    sl_page_keep_stretches(p, stop->job, stop->stretch, stop->stretches, err) < 0)
		return -1;
	p->stop[p->stops++] = (struct page_stop) { .is = *stop };
	p->start[p->starts++] = (struct page_start) {
		.start = stop->start_s, .end = stop->end_s, .job = stop->job, .gpus = stop->gpus, .first = first, .stretches = stop->stretches,
		.stop = p->stops,
	};
	return 0;
}

void sl_page_put_stops(struct sl_page *p)
{
	sl_json_open_array(p->json, "stops");
	for (uint32_t i = 0; i < p->stops; i++) {
		const struct sl_page_stop *s = &p->stop[i].is;

		sl_json_begin_array(p->json);
		sl_json_int(p->json, s->job);
		sl_json_int(p->json, s->preemptor == SL_NONE ? -1 : (int64_t) s->preemptor);
		sl_json_str(p->json, sl_stop_mode_word(s->mode));
		sl_json_str(p->json, s->verdict == SL_VERDICT_NONE ? "" : sl_verdict_word(s->verdict));
		sl_json_int(p->json, s->start_s);
		sl_json_int(p->json, s->told_s);
		sl_json_int(p->json, s->end_s);
		sl_json_int(p->json, s->lost_s);
		sl_json_int(p->json, s->cores);
		sl_json_int(p->json, s->in_job);
		sl_json_end_array(p->json);
	}
	sl_json_end_array(p->json);
}
