/* SPDX-License-Identifier: MIT */
#include "sim/reality.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/order.h"
#include "sim/replay.h"
#include "workload/demand.h"

#define EXACT_S 1		/* accounting has whole seconds, and a start may come to stand in the next one */
#define NEARLY_WHOLE 1e-6	/* of a priority: what sums of fractions are off at most */

/* -- order ----------------------------------------------------------------- */

/* What its age adds to a job's priority at that time, as slurmctld computed it last. */
static double age_part(const struct sl_stock_options *opt, int64_t eligible, int64_t now)
{
	int64_t period = opt->calc_period_s > 0 ? opt->calc_period_s : 1;
	int64_t computed = (now - opt->calc_phase_s) / period * period + opt->calc_phase_s;
	int64_t age = sl_min_signed(sl_max_signed(computed - eligible, 0), opt->max_age_s);

	return opt->age_weight && opt->max_age_s ? opt->age_weight * (double) age / (double) opt->max_age_s : 0;
}

void sl_reality_begin(struct sl_reality *r)
{
	const struct sl_workload *w = r->workload;
	const struct sl_node_view *node = &w->snap.node;

	r->cpus = 0;
	for (uint32_t i = 0; i < node->rows; i++)
		r->cpus += (double) node->cores[i] * node->threads[i];
	r->aged = true;
	for (uint32_t row = 0; row < w->snap.job.rows && r->aged; row++) {
		const struct sl_real *real = &w->real[row];

		if (real->priority && real->start_s)
			r->aged = real->priority + 1 >= age_part(&r->stock, w->snap.job.submit_time[row], real->start_s);
	}
}

/* What its size adds to a job's priority: set_priority_factors(). */
static double size_part(const struct sl_reality *r, uint32_t row)
{
	const struct sl_snapshot *s = &r->workload->snap;
	double size = r->cpus > 0 ? (s->job.min_nodes[row] / (double) s->node.rows + s->job.num_tasks[row] / r->cpus) / 2 : 0;

	size = size > 1 ? 1 : size;
	return r->stock.size_weight * (r->stock.favours_small ? 1 - size : size);
}

/* A recorded priority without the age that it has in it. */
static double base_priority(const struct sl_reality *r, uint32_t row)
{
	const struct sl_real *real = &r->workload->real[row];
	double base = real->priority, size;

	if (r->aged)
		base -= age_part(&r->stock, r->workload->snap.job.submit_time[row], real->start_s);
	if (!r->stock.size_weight)
		return base;
	size = size_part(r, row);
	return size + ceil(base - size - NEARLY_WHOLE);
}

static int64_t priority_at(const struct sl_reality *r, uint32_t row, int64_t now)
{
	const struct sl_real *real = &r->workload->real[row];
	double priority;

	if (real->ran)
		return SL_STOCK_AT_ONCE + real->priority;
	if (!real->priority)
		return 0;
	priority = base_priority(r, row) + age_part(&r->stock, r->workload->snap.job.submit_time[row], now);
	return priority > 1 ? (int64_t) priority : 1;
}

/* sort_job_queue2(): what snap.job.submit_time has is when a job became eligible. */
static int by_slurm(const void *a, const void *b, void *arg)
{
	const struct sl_entry *x = a, *y = b;
	const struct sl_workload *w = arg;
	const uint32_t *tier = w->snap.partition.priority_tier;
	const struct sl_job_view *job = &w->snap.job;

	return SL_ORDER(tier[y->partition], tier[x->partition]) ?:
		SL_ORDER(job->priority[y->job], job->priority[x->job]) ?:
		SL_ORDER(w->real[x->job].submit_s, w->real[y->job].submit_s) ?: SL_ORDER(job->id[x->job], job->id[y->job]) ?:
		SL_ORDER(x->partition, y->partition);
}

int sl_reality_before_pass(struct sl_cluster *c, int64_t now, void *arg, struct sl_error *err)
{
	const struct sl_reality *r = arg;
	const struct sl_snapshot *s = &r->workload->snap;
	uint32_t queued;
	const struct sl_entry *e = sl_cluster_queue(c, &queued);

	(void) err;
	for (uint32_t i = 0; i < queued; i++)
		*(int64_t *) (uintptr_t) &s->job.priority[e[i].job] = priority_at(r, e[i].job, now);
	sl_cluster_sort(c, by_slurm, (void *) (uintptr_t) r->workload);
	return 0;
}

const struct sl_nodeset *sl_reality_nodes(const void *reality, uint32_t row)
{
	const struct sl_reality *r = reality;
	const struct sl_nodeset *nodes = &r->workload->real[row].nodes;

	return nodes->count ? nodes : NULL;
}

/* -- both starts -------------------------------------------------------------- */

static int begin(struct sl_reality_jobs *r, const struct sl_workload *w, struct sl_machine *m, struct sl_error *err)
{
	*r = (struct sl_reality_jobs) { .job = calloc((size_t) w->snap.job.rows + 1, sizeof(*r->job)) };
	if (!r->job)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", w->name);
	return sl_machine_open(m, &w->snap, err);
}

/* What both kinds of source have of a job. */
static struct sl_agreement_job *add_job(struct sl_reality_jobs *r, const struct sl_snapshot *s, struct sl_machine *m, uint32_t row)
{
	struct sl_agreement_job *j = &r->job[r->jobs++];
	struct sl_demand d;

	sl_job_demand(m, row, &d);
	*j = (struct sl_agreement_job) {
		.id = s->job.id[row], .submit_s = s->job.submit_time[row], .eligible_s = s->job.submit_time[row], .cores = (uint32_t) sl_min(d.cores, UINT32_MAX),
		.partition = sl_snapshot_str(s, s->partition.name[s->job.partition[row]]), .qos = sl_snapshot_str(s, s->job.qos[row]),
	};
	return j;
}

int sl_reality_gather(struct sl_reality_jobs *r, const struct sl_workload *w, const struct sl_sim *sim, struct sl_error *err)
{
	const struct sl_sim_job *s = sl_sim_schedule(sim);
	struct sl_machine m;

	if (begin(r, w, &m, err) < 0)
		return -1;
	for (uint32_t row = 0; row < w->snap.job.rows; row++) {
		const struct sl_real *real = &w->real[row];
		struct sl_agreement_job *j;

		r->unknown += !real->start_s;
		r->ran += real->ran;
		r->negative += real->negative && !real->ran;
		if (!real->start_s || real->ran || real->negative)
			continue;
		if (!s[row].nodes) {
			r->never++;
			continue;
		}
		j = add_job(r, &w->snap, &m, row);
		j->submit_s = real->submit_s;
		j->real_s = real->start_s;
		j->simulated_s = s[row].start_s;
		j->why = real->why;
	}
	sl_machine_close(&m);
	return 0;
}

/* -- several simulations -------------------------------------------------------- */

static void note_mean(struct sl_reality_sum *sum, const struct sl_reality_jobs *r)
{
	double wait = 0;

	for (uint32_t i = 0; i < r->jobs; i++)
		wait += (double) (r->job[i].simulated_s - r->job[i].eligible_s);
	sum->mean_s[sum->simulations++] = r->jobs ? wait / r->jobs : 0;
}

/* True if no simulation before had as many starts within a second of the real ones. */
static bool note_exact(struct sl_reality_sum *sum, const struct sl_reality_jobs *r)
{
	uint32_t exact = 0;
	bool better;

	for (uint32_t i = 0; i < r->jobs; i++)
		exact += llabs(r->job[i].simulated_s - r->job[i].real_s) <= EXACT_S;
	better = sum->simulations == 1 || exact > sum->most;
	sum->most = better ? exact : sum->most;
	sum->least = sum->simulations == 1 || exact < sum->least ? exact : sum->least;
	return better;
}

int sl_reality_add(struct sl_reality_sum *sum, struct sl_reality_jobs *r, struct sl_error *err)
{
	bool better;

	if (!sum->simulations) {
		sum->jobs = *r;
		sum->total_s = calloc((size_t) r->jobs + 1, sizeof(*sum->total_s));
		sum->times = calloc((size_t) r->jobs + 1, sizeof(*sum->times));
		sum->best_s = calloc((size_t) r->jobs + 1, sizeof(*sum->best_s));
		for (uint32_t i = 0; sum->best_s && i < r->jobs; i++)
			sum->best_s[i] = r->job[i].simulated_s;
		r = &sum->jobs;
	}
	if (!sum->total_s || !sum->times || !sum->best_s)
		return sl_fail(err, SL_ENOMEM, "against reality: no memory");
	note_mean(sum, r);
	better = note_exact(sum, r);
	for (uint32_t i = 0, k = 0; i < sum->jobs.jobs; i++) {		/* both are in the order of the log */
		uint32_t at = k;

		while (at < r->jobs && r->job[at].id != sum->jobs.job[i].id)
			at++;
		if (at == r->jobs)
			continue;
		sum->total_s[i] += r->job[at].simulated_s - r->job[at].real_s;
		sum->times[i]++;
		if (better)
			sum->best_s[i] = r->job[at].simulated_s;
		k = at + 1;
	}
	if (r != &sum->jobs)
		free(r->job);
	return 0;
}

void sl_reality_mean(struct sl_reality_sum *sum)
{
	for (uint32_t i = 0; i < sum->jobs.jobs; i++)
		sum->jobs.job[i].simulated_s = sum->jobs.job[i].real_s + llround((double) sum->total_s[i] / sum->times[i]);
}

void sl_reality_best(struct sl_reality_sum *sum)
{
	for (uint32_t i = 0; i < sum->jobs.jobs; i++)
		sum->jobs.job[i].simulated_s = sum->best_s[i];
}

double sl_reality_spread(const struct sl_reality_sum *sum)
{
	double mean = 0, squares = 0;

	for (uint32_t i = 0; i < sum->simulations; i++)
		mean += sum->mean_s[i] / sum->simulations;
	for (uint32_t i = 0; i < sum->simulations; i++)
		squares += (sum->mean_s[i] - mean) * (sum->mean_s[i] - mean);
	return sum->simulations > 1 ? sqrt(squares / (sum->simulations - 1)) : 0;
}

void sl_reality_sum_free(struct sl_reality_sum *sum)
{
	free(sum->jobs.job);
	free(sum->total_s);
	free(sum->times);
	free(sum->best_s);
}

/* -- recordings ------------------------------------------------------------------ */

/* What a snapshot says of why a job waited: it was not in the queue from its submission on. */
static uint32_t recorded_why(const struct sl_workload *w, uint32_t row)
{
	const struct sl_job_view *job = &w->snap.job;
	bool later = w->arrival_s && w->arrival_s[row] > job->submit_time[row];

	return (later ? SL_REAL_LATER : 0) | (job->begin_time[row] > job->submit_time[row] ? SL_REAL_BEGIN : 0) |
		(*sl_snapshot_str(&w->snap, job->reservation[row]) ? SL_REAL_RESERVATION : 0);
}

int sl_reality_gather_recorded(struct sl_reality_jobs *r, const struct sl_replay *replay, const struct sl_sim *sim,
			       struct sl_error *err)
{
	const struct sl_workload *w = replay->workload;
	const struct sl_sim_job *s = sl_sim_schedule(sim);
	struct sl_machine m;

	if (begin(r, w, &m, err) < 0)
		return -1;
	for (uint32_t row = 0; row < w->snap.job.rows; row++) {
		const struct sl_replay_job *real = &replay->job[row];
		struct sl_agreement_job *j;

		r->ran += real->ran;
		r->unknown += !real->ran && !real->start_s;
		if (real->ran || !real->start_s)
			continue;
		if (!s[row].nodes) {
			r->never++;
			continue;
		}
		j = add_job(r, &w->snap, &m, row);
		j->eligible_s = w->arrival_s[row];
		j->real_s = real->start_s;
		j->simulated_s = s[row].start_s;
		j->why = recorded_why(w, row);
	}
	sl_machine_close(&m);
	return 0;
}
