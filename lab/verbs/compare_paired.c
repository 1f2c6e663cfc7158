/* SPDX-License-Identifier: MIT */
#include "verbs/compare_paired.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/paired.h"

/* -- differences ---------------------------------------------------------- */

static double wait_of(const struct sl_workload *w, const struct sl_sim_job *j, uint32_t row)
{
	return (double) (j->first_s - w->snap.job.submit_time[row]);
}

/* As report/metrics.h has it. */
static double bsld_of(const struct sl_workload *w, const struct sl_sim_job *j, uint32_t row)
{
	return fmax(1, (double) (j->end_s - w->snap.job.submit_time[row]) / fmax((double) j->work_s, SL_BSLD_TAU));
}

/* Jobs that ran when the workload began were started by nobody; those that never started have no wait. */
static bool can_be_paired(const struct sl_workload *w, const struct sl_sim_job *a, const struct sl_sim_job *b, uint32_t row)
{
	return w->snap.job.state[row] == SL_JOB_PENDING && a->nodes && b->nodes && a->end_s && b->end_s;
}

struct collected {
	struct sl_paired wait, bsld;
};

/* Add the jobs of one pair of schedules of *w*. */
static int add_jobs(struct sl_compare_pair *p, struct collected *c, const struct sl_workload *w, const struct sl_schedule *mine,
		    const struct sl_schedule *base, uint32_t pairs, struct sl_error *err)
{
	uint32_t blocks = sl_paired_blocks(mine->jobs, pairs), block = UINT32_MAX;

	for (uint32_t i = 0; i < mine->jobs; i++) {
		const struct sl_sim_job *a = &mine->job[i], *b = &base->job[i];
		uint32_t now = (uint32_t) ((uint64_t) i * blocks / mine->jobs);
		double d;

		if (now != block && (sl_paired_begin_block(&c->wait, err) < 0 || sl_paired_begin_block(&c->bsld, err) < 0))
			return -1;
		block = now;
		if (!can_be_paired(w, a, b, i))
			continue;
		d = wait_of(w, a, i) - wait_of(w, b, i);
		sl_paired_add(&c->wait, d);
		sl_paired_add(&c->bsld, bsld_of(w, a, i) - bsld_of(w, b, i));
		p->jobs++;
		p->shorter += d < 0;
		p->longer += d > 0;
	}
	return 0;
}

static void finish_jobs(struct sl_compare_pair *p, struct collected *c)
{
	p->wait_s.mean = sl_paired_mean(&c->wait, &p->wait_s.half);
	p->bsld.mean = sl_paired_mean(&c->bsld, &p->bsld.half);
	p->blocks = sl_paired_count(&c->wait);
	sl_paired_free(&c->wait);
	sl_paired_free(&c->bsld);
}

static bool both_ran(const struct sl_compare_grid *g, uint32_t a, uint32_t b)
{
	return !g->outcome[a].err.code && !g->outcome[b].err.code;
}

/* A figure, window by window: *first* is the first trial of the policy, *base* that of the baseline. */
static int pair_figure(const struct sl_compare_grid *g, struct sl_compare_pair *p, size_t figure, uint32_t first, uint32_t base,
		       struct sl_error *err)
{
	double (*of)(const struct sl_result *r) = sl_compare_figures[figure].of;
	struct sl_paired windows = { 0 };
	int rc = 0;

	for (uint32_t r = 0; !rc && r < g->repeats; r++) {
		uint32_t a = first + r * g->policies, b = base + r * g->policies;

		if (!both_ran(g, a, b))
			continue;
		rc = sl_paired_begin_block(&windows, err);
		if (!rc)
			sl_paired_add(&windows, of(&g->outcome[a].result) - of(&g->outcome[b].result));
	}
	p->windows = windows.n;
	p->window[figure].mean = sl_paired_mean(&windows, &p->window[figure].half);
	sl_paired_free(&windows);
	return rc;
}

static uint32_t count_pairs(const struct sl_compare_grid *g, uint32_t first, uint32_t base)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < g->repeats; r++)
		n += both_ran(g, first + r * g->policies, base + r * g->policies);
	return n;
}

static int pair_workload(struct sl_compare_grid *g, uint32_t workload, const struct sl_mapped_schedule *schedule, struct sl_error *err)
{
	struct sl_compare_pair *pair = g->pair + (size_t) workload * g->policies;
	uint32_t first = workload * g->repeats * g->policies;
	struct collected *c = calloc(g->policies, sizeof(*c));
	int rc = c ? 0 : sl_fail(err, SL_ENOMEM, "compare: out of memory");

	for (uint32_t r = 0; !rc && r < g->repeats; r++) {
		uint32_t at = first + r * g->policies;
		struct sl_workload *w;

		if (g->outcome[at + g->baseline].err.code)	/* said already */
			continue;
		w = sl_workload_load(g->workload[workload], &g->trial[at].workload_options, err);
		rc = w ? 0 : -1;
		for (uint32_t p = 0; !rc && p < g->policies; p++)
			if (both_ran(g, at + p, at + g->baseline))
				rc = add_jobs(&pair[p], &c[p], w, &schedule[at + p].schedule, &schedule[at + g->baseline].schedule,
					      count_pairs(g, first + p, first + g->baseline), err);
		sl_workload_destroy(w);
	}
	for (uint32_t p = 0; c && p < g->policies; p++) {
		finish_jobs(&pair[p], &c[p]);
		for (size_t f = 0; !rc && sl_compare_figures[f].key; f++)
			rc = pair_figure(g, &pair[p], f, first + p, first + g->baseline, err);
	}
	free(c);
	return rc;
}

int sl_compare_pairs(struct sl_compare_grid *g, const struct sl_mapped_schedule *schedule, struct sl_error *err)
{
	g->pair = calloc((size_t) g->workloads * g->policies + 1, sizeof(*g->pair));
	if (!g->pair)
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	for (uint32_t i = 0; i < g->workloads; i++)
		if (pair_workload(g, i, schedule, err) < 0)
			return -1;
	return 0;
}

void sl_compare_pairs_free(struct sl_compare_grid *g)
{
	free(g->pair);
	g->pair = NULL;
}

/* -- for programs --------------------------------------------------------- */

void sl_compare_pair_titles(const struct sl_compare_grid *g)
{
	fputs(",paired_jobs,paired_shorter,paired_longer,paired_blocks,paired_wait_s,paired_wait_s_ci95,paired_bsld,paired_bsld_ci95", stdout);
	for (size_t f = 0; sl_compare_figures[f].key; f++)
		if (sl_compare_has(g, f))
			printf(",diff_%s,diff_%s_ci95", sl_compare_figures[f].key, sl_compare_figures[f].key);
}

static void put_csv_difference(struct sl_difference d)
{
	printf(isfinite(d.mean) ? ",%.10g" : ",", d.mean);
	printf(isfinite(d.half) ? ",%.10g" : ",", d.half);
}

void sl_compare_pair_csv(const struct sl_compare_grid *g, const struct sl_compare_pair *p)
{
	printf(",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, p->jobs, p->shorter, p->longer, p->blocks);
	put_csv_difference(p->wait_s);
	put_csv_difference(p->bsld);
	for (size_t f = 0; sl_compare_figures[f].key; f++)
		if (sl_compare_has(g, f))
			put_csv_difference(p->window[f]);
}

static void put_json_difference(struct sl_json *j, const char *key, struct sl_difference d)
{
	sl_json_open_object(j, key);
	sl_json_put_real(j, "mean", d.mean);
	if (isfinite(d.half))
		sl_json_put_real(j, "ci95", d.half);
	sl_json_end_object(j);
}

void sl_compare_pair_json(const struct sl_compare_grid *g, const struct sl_compare_pair *p, struct sl_json *j)
{
	sl_json_open_object(j, "paired");
	sl_json_put_str(j, "baseline", g->policy[g->baseline]);
	sl_json_put_int(j, "jobs", p->jobs);
	sl_json_put_int(j, "shorter", p->shorter);
	sl_json_put_int(j, "longer", p->longer);
	sl_json_put_int(j, "blocks", p->blocks);
	put_json_difference(j, "wait_s", p->wait_s);
	put_json_difference(j, "bsld", p->bsld);
	sl_json_put_int(j, "windows", p->windows);
	sl_json_open_object(j, "by_window");
	for (size_t f = 0; sl_compare_figures[f].key; f++)
		if (sl_compare_has(g, f))
			put_json_difference(j, sl_compare_figures[f].key, p->window[f]);
	sl_json_end_object(j);
	sl_json_end_object(j);
}

/* -- for people ----------------------------------------------------------- */

static void put_cell(struct sl_text_table *t, struct sl_difference d, int digits)
{
	if (!isfinite(d.mean))
		sl_text_table_add(t, "-");
	else if (isfinite(d.half))
		sl_text_table_addf(t, "%+.*f ± %.*f", digits, d.mean, digits, d.half);
	else
		sl_text_table_addf(t, "%+.*f", digits, d.mean);
}

static void put_percent(struct sl_text_table *t, uint32_t part, uint32_t of)
{
	if (of)
		sl_text_table_addf(t, "%.1f %%", 100.0 * part / of);
	else
		sl_text_table_add(t, "-");
}

static void put_jobs(const struct sl_compare_grid *g, struct sl_text_table *t, const struct sl_compare_pair *p)
{
	(void) g;
	sl_text_table_addf(t, "%" PRIu32, p->jobs);
	put_percent(t, p->shorter, p->jobs);
	put_percent(t, p->longer, p->jobs);
	put_cell(t, p->wait_s, 1);
	put_cell(t, p->bsld, 2);
}

static void put_figures(const struct sl_compare_grid *g, struct sl_text_table *t, const struct sl_compare_pair *p, bool of_stops)
{
	for (size_t f = 0; sl_compare_figures[f].key; f++)
		if (sl_compare_shows(g, of_stops, f))
			put_cell(t, (struct sl_difference) { sl_compare_in_unit(f, p->window[f].mean), sl_compare_in_unit(f, p->window[f].half) },
				 sl_compare_figures[f].digits);
}

static void put_window(const struct sl_compare_grid *g, struct sl_text_table *t, const struct sl_compare_pair *p)
{
	put_figures(g, t, p, false);
}

static void put_stops(const struct sl_compare_grid *g, struct sl_text_table *t, const struct sl_compare_pair *p)
{
	put_figures(g, t, p, true);
}

static int print_table(const struct sl_compare_grid *g, const char *titles,
		       void (*put)(const struct sl_compare_grid *, struct sl_text_table *, const struct sl_compare_pair *),
		       struct sl_error *err)
{
	struct sl_text_table *t = sl_text_table_create(titles);
	int rc;

	for (uint32_t i = 0; t && i < g->workloads * g->policies; i++) {
		if (i % g->policies == g->baseline)
			continue;
		sl_text_table_add(t, g->workload[i / g->policies]);
		sl_text_table_add(t, g->policy[i % g->policies]);
		put(g, t, &g->pair[i]);
	}
	rc = t ? sl_text_table_print(t, 0, stdout) : -1;
	sl_text_table_destroy(t);
	return rc ? sl_fail(err, SL_ENOMEM, "compare: out of memory while printing") : 0;
}

int sl_compare_pair_print(const struct sl_compare_grid *g, struct sl_error *err)
{
	const char *baseline = g->policy[g->baseline];
	char titles[SL_COMPARE_TITLES];

	printf("\nDifferences to %s, job by job; ± is half of the 95 %% interval over blocks of jobs:\n", baseline);
	if (print_table(g, "workload,policy,>jobs,>shorter,>longer,>wait s,>bsld", put_jobs, err) < 0)
		return -1;
	if (g->repeats < 2)
		return 0;
	printf("\nDifferences to %s, window by window (%" PRIu32 "); ± is half of the 95 %% interval over windows:\n", baseline, g->repeats);
	if (print_table(g, sl_compare_titles(g, false, "workload,policy", titles), put_window, err) < 0)
		return -1;
	if (!g->stops)
		return 0;
	puts("\nThe same of jobs that were stopped for others:");
	return print_table(g, sl_compare_titles(g, true, "workload,policy", titles), put_stops, err);
}
