/* SPDX-License-Identifier: MIT */
#include "sim/past.h"

#include <stdlib.h>

#include "base/grow.h"
#include "usage/history.h"
#include "usage/usage.h"

struct run {
	int64_t start, end;
	uint32_t job;
	enum sl_job_state how;
	uint32_t count[SL_UNITS];
};

struct sl_past {
	struct sl_cluster *c;
	struct sl_usage *usage;
	struct sl_history *history;
	struct run *run;		/* that neither of them knows yet */
	uint32_t runs, room;
};

struct sl_past *sl_past_create(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(c);
	struct sl_past *p = calloc(1, sizeof(*p));
	struct sl_usage_provider usage;

	if (!p) {
		sl_fail(err, SL_ENOMEM, "simulator: out of memory");
		return NULL;
	}
	p->c = c;
	if (!(p->usage = sl_usage_of_snapshot(snap, err)) || !(p->history = sl_history_of_snapshot(snap, err))) {
		sl_past_destroy(p);
		return NULL;
	}
	sl_history_unrecorded(p->history);
	usage = sl_usage_provider(p->usage);
	sl_cluster_set_usage(c, &usage);
	sl_cluster_set_history(c, p->history);
	return p;
}

void sl_past_destroy(struct sl_past *p)
{
	if (!p)
		return;
	sl_usage_destroy(p->usage);
	sl_history_destroy(p->history);
	free(p->run);
	free(p);
}

int sl_past_ended(struct sl_past *p, uint32_t job, int64_t start, int64_t end, enum sl_job_state how, struct sl_error *err)
{
	struct run *r;

	if (sl_grow(&p->run, &p->room, p->runs + UINT64_C(1), sizeof(*r), err) < 0)
		return -1;
	r = &p->run[p->runs++];
	*r = (struct run) { .start = start, .end = end, .job = job, .how = how };
	for (int k = 0; k < SL_UNITS; k++)
		r->count[k] = (uint32_t) sl_cluster_has(p->c, job, (enum sl_unit) k);
	return 0;
}

static int note_run(struct sl_past *p, const struct run *r, struct sl_error *err)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(p->c);
	uint32_t partition = snap->job.partition[r->job];
	struct sl_job_run run = {
		.job = snap->job.id[r->job], .start = r->start, .end = r->end, .seconds = r->end - r->start,
		.limit = snap->job.time_limit[r->job], .name = sl_snapshot_str(snap, snap->job.name[r->job]),
		.dim = { sl_snapshot_str(snap, snap->job.user[r->job]), sl_snapshot_str(snap, snap->job.account[r->job]),
			 partition == SL_NONE ? "" : sl_snapshot_str(snap, snap->partition.name[partition]),
			 r->how },
	};
	struct sl_piece piece = { .start = r->start, .end = r->end };

	for (int k = 0; k < SL_UNITS; k++) {
		run.count[k] = r->count[k];
		piece.amount[k] = run.count[k] * run.seconds;
	}
	piece.dim = sl_usage_dim(p->usage, &run.dim, err);
	return piece.dim == SL_NONE || sl_usage_note(p->usage, &piece, 1, err) ? -1 : sl_history_add(p->history, &run, err);
}

static int catch_up(struct sl_past *p, struct sl_error *err)
{
	for (uint32_t i = 0; i < p->runs; i++)
		if (note_run(p, &p->run[i], err) < 0)
			return -1;
	p->runs = 0;
	return 0;
}

int sl_past_begin(struct sl_past *p, struct sl_error *err)
{
	if (catch_up(p, err) < 0)
		return -1;
	sl_history_begin(p->history);
	return 0;
}

struct sl_history *sl_past_history(struct sl_past *p, struct sl_error *err)
{
	return catch_up(p, err) < 0 ? NULL : p->history;
}
