/* SPDX-License-Identifier: GPL-2.0-or-later */
/* refused.c - see refused.h */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/plain.h"
#include "image/recording.h"
#include "plugin/host/refused.h"

/* True if this kind was told less than an hour ago; else it is noted as told now, if it may be. */
static bool is_old_news(struct sl_refused_log *r, const char *text)
{
	double now = sl_clock_s();
	unsigned oldest = 0;

	for (unsigned i = 0; i < SL_REFUSED_KINDS; i++) {
		if (r->kind[i].told && sl_same_but_numbers(r->kind[i].text, text)) {
			if (now - r->kind[i].told < SL_REFUSED_AGAIN_S)
				return true;
			oldest = i;
			break;
		}
		if (r->kind[i].told < r->kind[oldest].told)
			oldest = i;
	}
	if (r->last && now - r->last < SL_REFUSED_PAUSE_S)
		return true;
	r->last = r->kind[oldest].told = now;
	snprintf(r->kind[oldest].text, sizeof(r->kind[oldest].text), "%s", text);
	return false;
}

static void keep_images(const struct sl_refused_in *in, sl_not_written *not_written, void *arg)
{
	const struct sl_recording_limits limits = { .files = SL_REFUSED_FILES, .bytes = UINT64_C(256) << 20 };
	const struct sl_image *plan = &in->plan->image;
	int64_t sequence = in->plan->meta.sequence[0];
	struct sl_error err;
	char path[2200];

	snprintf(path, sizeof(path), "%s/" SL_REFUSED_DIR, in->dir);
	if (sl_recording_add(path, SL_RECORDED_SNAPSHOT, sequence, in->snapshot, in->size, &limits, &err) ||
	    sl_recording_add(path, SL_RECORDED_PLAN, sequence, plan->base, plan->size, &limits, &err))
		not_written(arg, SL_TROUBLE_REFUSED, err.text);
}

int sl_refused_note(struct sl_refused_log *r, struct sl_status *s, const struct sl_refused_in *in, char *line, size_t size,
		    sl_not_written *not_written, void *arg)
{
	const struct sl_plan_refused_view *v = &in->plan->refused;
	char kind[256];

	if (!v->rows)
		return 0;
	s->rows_refused += v->rows;
	s->row_refused_time = time(NULL);
	snprintf(kind, sizeof(kind), "%s: %s", sl_refused_word(v->was[0]), sl_image_str(&in->plan->image, v->text[0]));
	sl_plain(kind);
	snprintf(s->row_refused, sizeof(s->row_refused), "job %" PRIu32 ": %s", v->job[0], kind);
	if (is_old_news(r, kind))
		return 0;
	snprintf(line, size, "the engine's checker refused %" PRIu32 " row%s of the plan (job %" PRIu32 ": %s); the others are "
		 "carried out; snapshot and plan are kept in %s/" SL_REFUSED_DIR ": please report them", v->rows,
		 v->rows == 1 ? "" : "s", v->job[0], kind, in->dir);
	sl_status_error(s, line);
	keep_images(in, not_written, arg);
	return 1;
}
