/* SPDX-License-Identifier: MIT */
/*
 * schedule_evalys.c - a schedule in the columns that evalys reads.
 *
 * A schedule says how many cores of a node a job has.  Which ones is dealt out here, in the
 * order of time: the lowest that are free.
 */
#include "sim/schedule_csv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"

struct dealer {
	const struct sl_workload *w;
	const struct sl_schedule *s;
	uint32_t *by_start, *by_end, ended;	/* jobs that have ended */
	uint32_t *first;		/* [node] its first processor; [nodes] behind the last */
	uint8_t *busy;			/* [processor] */
	struct sl_range *has;		/* [job] in *run* */
	struct sl_range *run;		/* of processors */
	uint32_t runs, room;
};

static int compare_starts(const void *a, const void *b, void *arg)
{
	const struct sl_sim_job *job = arg;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return SL_ORDER(job[x].start_s, job[y].start_s) ?: SL_ORDER(x, y);
}

static int compare_ends(const void *a, const void *b, void *arg)
{
	const struct sl_sim_job *job = arg;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return SL_ORDER(job[x].end_s, job[y].end_s) ?: SL_ORDER(x, y);
}

static int prepare(struct dealer *d, struct sl_error *err)
{
	const struct sl_snapshot *snap = &d->w->snap;
	uint32_t jobs = d->s->jobs, procs = 0;

	d->by_start = malloc((jobs + 1) * sizeof(*d->by_start));
	d->by_end = malloc((jobs + 1) * sizeof(*d->by_end));
	d->has = calloc(jobs + 1, sizeof(*d->has));
	d->first = malloc((snap->node.rows + 1) * sizeof(*d->first));
	for (uint32_t n = 0; d->first && n < snap->node.rows; n++) {
		d->first[n] = procs;
		procs += snap->node.cores[n];
	}
	d->busy = calloc(procs + 1, 1);
	if (!d->by_start || !d->by_end || !d->has || !d->first || !d->busy)
		return sl_fail(err, SL_ENOMEM, "schedule: out of memory");
	d->first[snap->node.rows] = procs;
	for (uint32_t i = 0; i < jobs; i++)
		if (d->s->job[i].end_s)
			d->by_start[d->ended] = d->by_end[d->ended] = i, d->ended++;
	qsort_r(d->by_start, d->ended, sizeof(*d->by_start), compare_starts, (void *) (uintptr_t) d->s->job);
	qsort_r(d->by_end, d->ended, sizeof(*d->by_end), compare_ends, (void *) (uintptr_t) d->s->job);
	return 0;
}

/* So many cores of a node: those that are free, then, where jobs share cores, others. */
static int deal_node(struct dealer *d, struct sl_range *has, uint32_t node, uint32_t cores, struct sl_error *err)
{
	for (uint32_t p = d->first[node]; p < d->first[node + 1] && cores; p++) {
		struct sl_range *last = has->count ? &d->run[d->runs - 1] : NULL;

		if (d->busy[p] && d->first[node + 1] - p > cores)
			continue;
		d->busy[p] = 1;
		cores--;
		if (last && last->first + last->count == p) {
			last->count++;
			continue;
		}
		if (sl_grow(&d->run, &d->room, d->runs + UINT64_C(1), sizeof(*d->run), err) < 0)
			return -1;
		d->run[d->runs++] = (struct sl_range) { p, 1 };
		has->count++;
	}
	return 0;
}

static int deal(struct dealer *d, uint32_t row, struct sl_error *err)
{
	const struct sl_sim_job *j = &d->s->job[row];
	struct sl_range *has = &d->has[row];

	has->first = d->runs;
	for (uint32_t i = 0; i < j->stretches; i++) {
		const struct sl_stretch *t = &d->s->stretch[j->first_stretch + i];

		for (uint32_t n = t->first; n < t->first + t->count; n++)
			if (deal_node(d, has, n, t->cores, err) < 0)
				return -1;
	}
	return 0;
}

static void give_back(struct dealer *d, uint32_t row)
{
	for (uint32_t i = d->has[row].first; i < d->has[row].first + d->has[row].count; i++)
		for (uint32_t p = d->run[i].first; p < d->run[i].first + d->run[i].count; p++)
			d->busy[p] = 0;
}

static void put_job(const struct dealer *d, uint32_t row, FILE *out)
{
	const struct sl_workload *w = d->w;
	const struct sl_sim_job *j = &d->s->job[row];
	int64_t submit = w->snap.job.submit_time[row], run = j->end_s - j->start_s, limit = w->snap.job.time_limit[row];
	const char *between = "";

	fprintf(out, "%" PRIu32 ",log,%" PRId64 ",%" PRIu32 ",", w->snap.job.id[row], submit - w->origin_s, j->cores);
	if (limit < SL_UNLIMITED)
		fprintf(out, "%" PRId64, limit);
	fprintf(out, ",%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.6g,", run >= (w->wanted_s ? w->wanted_s : w->runtime_s)[row],
		j->start_s - w->origin_s, run, j->end_s - w->origin_s, j->start_s - submit, j->end_s - submit,
		(double) (j->end_s - submit) / (double) (run > 0 ? run : 1));
	for (uint32_t i = d->has[row].first; i < d->has[row].first + d->has[row].count; i++, between = " ") {
		const struct sl_range *r = &d->run[i];

		fprintf(out, r->count > 1 ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32, between, r->first, r->first + r->count - 1);
	}
	putc('\n', out);
}

int sl_schedule_evalys(const struct sl_workload *w, const struct sl_sim *sim, FILE *out, struct sl_error *err)
{
	const struct sl_schedule s = sl_sim_whole_schedule(sim);
	struct dealer d = { .w = w, .s = &s };
	uint32_t next_end = 0;
	int rc = prepare(&d, err);

	fputs("job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,"
	      "execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources\n", out);
	for (uint32_t i = 0; !rc && i < d.ended; i++) {
		uint32_t row = d.by_start[i];

		for (; s.job[d.by_end[next_end]].end_s <= s.job[row].start_s; next_end++)
			give_back(&d, d.by_end[next_end]);
		rc = deal(&d, row, err);
		if (!rc)
			put_job(&d, row, out);
	}
	free(d.by_start);
	free(d.by_end);
	free(d.has);
	free(d.first);
	free(d.busy);
	free(d.run);
	return rc;
}
