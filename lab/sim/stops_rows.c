/* SPDX-License-Identifier: MIT */
#include "sim/stops_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void sl_stops_rows_show(struct sl_stops *x)
{
#define FIELD(type, name) x->snap.job.name = x->job.name;
	COLUMNS(FIELD)
#undef FIELD
	x->snap.meta.now = &x->now;
	x->snap.alloc = (struct sl_alloc_view) { x->allocs, x->alloc.node, x->alloc.cores, x->alloc.memory, x->alloc.gres };
	x->snap.alloc_gres = (struct sl_alloc_gres_view) { x->gress, x->gres.kind, x->gres.count, x->gres.of, x->gres.devices };
	x->snap.held = (struct sl_held_view) { x->helds, x->held.job, x->held.partition, x->held.since, x->held.until, x->held.places };
	x->snap.stopped = (struct sl_stopped_view) { x->stoppeds, x->stopped.job, x->stopped.preemptor, x->stopped.time,
						     x->stopped.user, x->stopped.partition, x->stopped.started };
}

/* Room for that many rows in all columns of a table. */
static int grow_columns(void *const column[], uint32_t *room, const size_t *size, int columns, uint32_t rows, struct sl_error *err)
{
	for (int i = 0; i < columns; i++)
		if (sl_grow(column[i], &room[i], (uint64_t) rows + 1, size[i], err))
			return -1;
	return 0;
}

static int grow_alloc(struct sl_stops *x, struct sl_error *err)
{
	void *const column[] = { &x->alloc.node, &x->alloc.cores, &x->alloc.memory, &x->alloc.gres };

	return grow_columns(column, x->alloc_room, (const size_t[]) { 4, 4, 8, sizeof(struct sl_range) }, 4, x->allocs, err);
}

static int grow_gres(struct sl_stops *x, struct sl_error *err)
{
	void *const column[] = { &x->gres.kind, &x->gres.count, &x->gres.of, &x->gres.devices };

	return grow_columns(column, x->gres_room, (const size_t[]) { 4, 4, 4, 4 }, 4, x->gress, err);
}

int sl_stops_grow_held(struct sl_stops *x, struct sl_error *err)
{
	void *const column[] = { &x->held.job, &x->held.partition, &x->held.since, &x->held.until, &x->held.places };

	return grow_columns(column, x->held_room, (const size_t[]) { 4, 4, 8, 8, sizeof(struct sl_range) }, 5, x->helds, err);
}

int sl_stops_grow_stopped(struct sl_stops *x, struct sl_error *err)
{
	void *const column[] = { &x->stopped.job, &x->stopped.preemptor, &x->stopped.time, &x->stopped.user, &x->stopped.partition,
				 &x->stopped.started };

	return grow_columns(column, x->stopped_room, (const size_t[]) { 4, 4, 8, 4, 4, 4 }, 6, x->stoppeds, err);
}

/* What the workload has of jobs that run when it begins. */
static int copy_allocations(struct sl_stops *x, struct sl_error *err)
{
	const struct sl_alloc_view *a = &x->w->snap.alloc;
	const struct sl_alloc_gres_view *g = &x->w->snap.alloc_gres;

	for (uint32_t i = 0; i < a->rows; i++, x->allocs++) {
		if (grow_alloc(x, err) < 0)
			return -1;
		x->alloc.node[i] = a->node[i];
		x->alloc.cores[i] = a->cores[i];
		x->alloc.memory[i] = a->memory[i];
		x->alloc.gres[i] = a->gres[i];
	}
	for (uint32_t i = 0; i < g->rows; i++, x->gress++) {
		if (grow_gres(x, err) < 0)
			return -1;
		x->gres.kind[i] = g->kind[i];
		x->gres.count[i] = g->count[i];
		x->gres.of[i] = g->of[i];
		x->gres.devices[i] = g->devices[i];
	}
	return 0;
}

static int copy_columns(struct sl_stops *x)
{
	const struct sl_job_view *job = &x->w->snap.job;
	size_t n = (size_t) job->rows + 1;

#define FIELD(type, name)						\
	if (!(x->job.name = malloc(n * sizeof(type))))			\
		return -1;						\
	memcpy(x->job.name, job->name, job->rows * sizeof(type));
	COLUMNS(FIELD)
#undef FIELD
	return (x->of = calloc(n, sizeof(*x->of))) ? 0 : -1;
}

int sl_stops_add_gres(struct sl_stops *x, uint32_t kind, uint32_t count, uint32_t of, uint32_t devices, struct sl_error *err)
{
	if (grow_gres(x, err) < 0)
		return -1;
	x->gres.kind[x->gress] = kind;
	x->gres.count[x->gress] = count;
	x->gres.of[x->gress] = of;
	x->gres.devices[x->gress++] = devices;
	return 0;
}

int sl_stops_add_alloc(struct sl_stops *x, uint32_t node, uint32_t cores, int64_t memory, uint32_t first_gres, struct sl_error *err)
{
	if (grow_alloc(x, err) < 0)
		return -1;
	x->alloc.node[x->allocs] = node;
	x->alloc.cores[x->allocs] = cores;
	x->alloc.memory[x->allocs] = memory;
	x->alloc.gres[x->allocs++] = (struct sl_range) { first_gres, x->gress - first_gres };
	return 0;
}

int sl_stops_rows_begin(struct sl_stops *x, struct sl_error *err)
{
	if (copy_columns(x) < 0)
		return sl_fail(err, SL_ENOMEM, "simulator: out of memory");
	return copy_allocations(x, err) < 0 || grow_alloc(x, err) < 0 || grow_gres(x, err) < 0 || sl_stops_grow_held(x, err) < 0 ||
	       sl_stops_grow_stopped(x, err) < 0 ? -1 : 0;
}

void sl_stops_rows_free(struct sl_stops *x)
{
#define FIELD(type, name) free(x->job.name);
	COLUMNS(FIELD)
#undef FIELD
	free(x->of);
	free(x->alloc.node), free(x->alloc.cores), free(x->alloc.memory), free(x->alloc.gres);
	free(x->gres.kind), free(x->gres.count), free(x->gres.of), free(x->gres.devices);
	free(x->held.job), free(x->held.partition), free(x->held.since), free(x->held.until), free(x->held.places);
	free(x->stopped.job), free(x->stopped.preemptor), free(x->stopped.time), free(x->stopped.user), free(x->stopped.partition);
	free(x->stopped.started);
}
