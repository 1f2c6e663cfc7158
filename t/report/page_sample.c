/* SPDX-License-Identifier: MIT */
/*
 * page_sample FILE WORKLOAD[+WORKLOAD]... [MACHINE|-] [SEED] [JOBS] - a page to look
 * at and to test in a browser: workloads under FCFS and under "first that fits", by
 * a few lines of scheduler that look at cores only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"

#define LOOKAHEAD 64	/* jobs that "first that fits" looks at */

struct sample {
	const struct sl_workload *w;
	uint32_t *free;			/* cores, per node */
	uint32_t *queue, queued;
	uint32_t *running, runs;	/* job rows */
	uint32_t next;
	int64_t now;
	struct sl_page_job *job;	/* per row */
	struct sl_stretch **stretch;	/* per row */
};

static void *need(void *p)
{
	if (!p) {
		fputs("page_sample: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

/* Cores on each of the nodes of a job, and how many nodes. */
static void shape(const struct sample *s, uint32_t row, uint32_t *nodes, uint32_t *cores)
{
	const struct sl_job_view *job = &s->w->snap.job;
	uint32_t all = s->w->snap.node.cores[0];

	*nodes = job->min_nodes[row] ? job->min_nodes[row] : 1;
	if ((uint64_t) *nodes * all < job->min_cpus[row])
		*nodes = (job->min_cpus[row] + all - 1) / all;
	*cores = (job->min_cpus[row] + *nodes - 1) / *nodes;
	if (job->flags[row] & SL_JOBF_EXCLUSIVE || *cores > all)
		*cores = all;
}

static bool start(struct sample *s, uint32_t row)
{
	uint32_t nodes, cores, found = 0;
	struct sl_stretch *stretch;

	shape(s, row, &nodes, &cores);
	for (uint32_t n = 0; n < s->w->snap.node.rows && found < nodes; n++)
		found += s->free[n] >= cores;
	if (found < nodes)
		return false;
	stretch = need(calloc(nodes, sizeof(*stretch)));
	s->job[row] = (struct sl_page_job) { .job = row, .start_s = s->now, .end_s = s->now + s->w->runtime_s[row], .stretch = stretch };
	s->stretch[row] = stretch;
	found = 0;
	for (uint32_t n = 0; found < nodes; n++) {
		if (s->free[n] < cores)
			continue;
		s->free[n] -= cores;
		stretch[found++] = (struct sl_stretch) { n, 1, cores, 0 };
	}
	s->job[row].stretches = found;
	s->running[s->runs++] = row;
	return true;
}

static void finish_those_that_end(struct sample *s)
{
	for (uint32_t i = 0; i < s->runs;) {
		const struct sl_page_job *j = &s->job[s->running[i]];

		if (j->end_s > s->now) {
			i++;
			continue;
		}
		for (uint32_t k = 0; k < j->stretches; k++)
			s->free[j->stretch[k].first] += j->stretch[k].cores;
		s->running[i] = s->running[--s->runs];
	}
}

static void pass(struct sample *s, bool first_fit)
{
	for (uint32_t i = 0, looked = 0; i < s->queued && looked < (first_fit ? LOOKAHEAD : 1);) {
		if (!start(s, s->queue[i])) {
			i++;
			looked++;
			continue;
		}
		memmove(&s->queue[i], &s->queue[i + 1], (--s->queued - i) * sizeof(*s->queue));
	}
}

static void simulate(struct sample *s, bool first_fit)
{
	const struct sl_job_view *job = &s->w->snap.job;

	while (s->runs || s->next < job->rows) {
		s->now = s->next < job->rows ? job->submit_time[s->next] : INT64_MAX;
		for (uint32_t i = 0; i < s->runs; i++)
			if (s->job[s->running[i]].end_s < s->now)
				s->now = s->job[s->running[i]].end_s;
		finish_those_that_end(s);
		while (s->next < job->rows && job->submit_time[s->next] <= s->now)
			s->queue[s->queued++] = s->next++;
		pass(s, first_fit);
	}
}

static int tell(struct sample *s, struct sl_page *page, const char *label, struct sl_error *err)
{
	struct sl_metrics *m = sl_metrics_create(&s->w->snap, err);
	struct sl_result r;
	int rc = m ? sl_page_begin_run(page, label, err) : -1;

	for (uint32_t i = 0; rc == 0 && i < s->w->snap.job.rows; i++) {
		struct sl_ended e = { .job = i, .start_s = s->job[i].start_s, .end_s = s->job[i].end_s };

		if (!s->job[i].stretches)
			continue;
		for (uint32_t k = 0; k < s->job[i].stretches; k++)
			sl_ended_node(&e, s->stretch[i][k].first, s->stretch[i][k].cores, 0);
		rc = sl_metrics_ended(m, &e, err);
		if (rc == 0)
			rc = sl_page_job(page, &s->job[i], err);
	}
	if (rc == 0)
		rc = sl_metrics_result(m, &r, err);
	if (rc == 0)
		rc = sl_page_end_run(page, &r, s->now, err);
	sl_metrics_destroy(m);
	return rc;
}

static int one_run(const struct sl_workload *w, struct sl_page *page, bool first_fit, const char *label,
		   struct sl_error *err)
{
	uint32_t rows = w->snap.job.rows, nodes = w->snap.node.rows;
	struct sample s = {
		.w = w, .free = need(calloc(nodes, sizeof(*s.free))),
		.queue = need(calloc(rows + 1, sizeof(*s.queue))), .running = need(calloc(rows + 1, sizeof(*s.running))),
		.job = need(calloc(rows + 1, sizeof(*s.job))), .stretch = need(calloc(rows + 1, sizeof(*s.stretch))),
	};
	int rc;

	memcpy(s.free, w->snap.node.cores, nodes * sizeof(*s.free));
	simulate(&s, first_fit);
	rc = tell(&s, page, label, err);
	for (uint32_t i = 0; i < rows; i++)
		free(s.stretch[i]);
	free(s.stretch);
	free(s.job);
	free(s.running);
	free(s.queue);
	free(s.free);
	return rc;
}

/* A workload and its runs. */
static int add(struct sl_page *page, const char *name, const struct sl_workload_options *opt, struct sl_error *err)
{
	struct sl_page_about about = { .machine = opt->machine, .seed = opt->seed };
	struct sl_workload *w = sl_workload_load(name, opt, err);
	int rc = w ? sl_page_workload(page, w, &about, err) : -1;

	if (rc == 0)
		rc = one_run(w, page, false, "fcfs", err);
	if (rc == 0)
		rc = one_run(w, page, true, "firstfit", err);
	sl_workload_destroy(w);
	return rc;
}

int main(int argc, char **argv)
{
	struct sl_workload_options opt = {
		.machine = argc > 3 && strcmp(argv[3], "-") ? argv[3] : NULL,
		.seed = argc > 4 ? strtoull(argv[4], NULL, 0) : 1,
		.jobs = argc > 5 ? (uint32_t) strtoul(argv[5], NULL, 0) : 0,
	};
	struct sl_error err = { 0 };
	struct sl_page *page = NULL;
	char title[300];
	int rc;

	if (argc < 3) {
		fputs("usage: page_sample FILE WORKLOAD[+WORKLOAD]... [MACHINE|-] [SEED] [JOBS]\n", stderr);
		return 2;
	}
	snprintf(title, sizeof(title), "fcfs and firstfit on %s", argv[2]);
	page = sl_page_open(argv[1], title, &err);
	rc = page ? 0 : -1;
	for (char *name = strtok(argv[2], "+"); name && rc == 0; name = strtok(NULL, "+"))
		rc = add(page, name, &opt, &err);
	if (rc == 0)
		rc = sl_page_finish(page, &err);
	sl_page_destroy(page);
	if (rc == 0)
		return 0;
	fprintf(stderr, "page_sample: %s\n", err.text);
	return 1;
}
