/* SPDX-License-Identifier: GPL-2.0-or-later */
/* captures.c - see captures.h */
#include "plugin/host/captures.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "image/recording.h"

void sl_captures_begin(struct sl_captures *c, double now)
{
	c->cycle = now;
	c->record_bytes = NULL;
}

static bool is_record_due(const struct sl_captures *c, const struct sl_options *o)
{
	return o->record_s > 0 && (!c->last_record || c->cycle - c->last_record >= o->record_s);
}

double sl_captures_finished_s(const struct sl_captures *c, const struct sl_options *o)
{
	double since = c->cycle - c->last_record + 10;

	return is_record_due(c, o) && c->last_record && since > o->finished_s ? since : o->finished_s;
}

int sl_captures_note_asked(struct sl_captures *c, const struct sl_options *o, const struct sl_snapshot *snap,
			   const struct sl_plan_image *plan, struct sl_error *err)
{
	if (!plan->history.rows || !is_record_due(c, o))
		return 0;
	if (c->record)
		sl_builder_reset(c->record);
	else if (!(c->record = sl_builder_create(&sl_snapshot_schema, err)))
		return -1;
	return sl_recording_with_history(snap, plan, c->record, &c->record_bytes, &c->record_size, err);
}

/* The last snapshot, for the tool. */
static void write_last(struct sl_captures *c, const struct sl_options *o, const char *dir, const void *bytes,
		       size_t size, sl_not_written *not_written, void *arg)
{
	struct sl_error err = { SL_OK, "" };
	char path[2200];

	if (o->capture_s <= 0 || (c->last_capture && sl_clock_s() - c->last_capture < o->capture_s))
		return;
	c->last_capture = sl_clock_s();
	snprintf(path, sizeof(path), "%s/last.snap", dir);
	if (sl_image_save(path, bytes, size, &err))
		not_written(arg, SL_TROUBLE_CAPTURE, err.text);
}

/* For replay: what was decided about stands in the journal, under the same number. */
static void write_record(struct sl_captures *c, const struct sl_options *o, const char *dir, int64_t sequence,
			 const void *bytes, size_t size, sl_not_written *not_written, void *arg)
{
	struct sl_recording_limits limits = {
		.files = (uint32_t) o->record_files, .bytes = (uint64_t) (o->record_mib * 1048576),
	};
	struct sl_error err = { SL_OK, "" };
	char path[2200];

	if (!is_record_due(c, o))
		return;
	c->last_record = c->cycle;
	snprintf(path, sizeof(path), "%s/record", dir);
	if (sl_recording_add(path, SL_RECORDED_SNAPSHOT, sequence, c->record_bytes ? c->record_bytes : bytes,
			     c->record_bytes ? c->record_size : size, &limits, &err))
		not_written(arg, SL_TROUBLE_RECORD, err.text);
}

void sl_captures_write(struct sl_captures *c, const struct sl_options *o, const char *dir, int64_t sequence,
		       const void *bytes, size_t size, sl_not_written *not_written, void *arg)
{
	write_last(c, o, dir, bytes, size, not_written, arg);
	write_record(c, o, dir, sequence, bytes, size, not_written, arg);
}

void sl_captures_end(struct sl_captures *c)
{
	sl_builder_destroy(c->record);
	*c = (struct sl_captures) { 0 };
}
