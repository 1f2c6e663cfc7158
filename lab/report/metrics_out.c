/* SPDX-License-Identifier: MIT */
/*
 * metrics_out.c - results as JSON and as text.
 */
#include "report/metrics.h"

#include <inttypes.h>
#include <stdio.h>

#include "image/json_out.h"

/* "wait" "_s" -> wait_mean_s, wait_sd_s, wait_max_s */
static void put_moments(struct sl_json *j, const char *name, const char *unit, const struct sl_moments *m)
{
	const struct {
		const char *word;
		double value;
	} part[] = { { "mean", m->mean }, { "sd", m->sd }, { "max", m->max } };
	char key[48];

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		snprintf(key, sizeof(key), "%s_%s%s", name, part[i].word, unit);
		sl_json_put_real(j, key, part[i].value);
	}
}

static void put_classes(struct sl_json *j, const struct sl_result *r)
{
	sl_json_open_array(j, "classes");
	for (int s = 0; s < SL_SIZE_BINS; s++)
		for (int l = 0; l < SL_LENGTH_BINS; l++) {
			const struct sl_class_result *c = &r->class[s][l];

			if (!c->jobs)
				continue;
			sl_json_begin_object(j);
			sl_json_put_int(j, "cores_from", sl_size_bin[s]);
			sl_json_put_int(j, "runtime_from_s", (uint64_t) sl_length_bin[l]);
			sl_json_put_int(j, "jobs", c->jobs);
			sl_json_put_real(j, "wait_mean_s", c->wait_mean_s);
			sl_json_put_real(j, "wait_max_s", c->wait_max_s);
			sl_json_put_real(j, "slowdown_mean", c->slowdown_mean);
			sl_json_put_real(j, "bsld_mean", c->bsld_mean);
			sl_json_put_real(j, "core_s", c->core_s);
			sl_json_end_object(j);
		}
	sl_json_end_array(j);
}

static void put_timing(struct sl_json *j, const struct sl_result *r)
{
	sl_json_put_int(j, "asked", (int64_t) r->asked);
	sl_json_open_object(j, "cycle_us");
	sl_json_put_real(j, "p50", r->cycle_us_p50);
	sl_json_put_real(j, "p99", r->cycle_us_p99);
	sl_json_put_real(j, "max", r->cycle_us_max);
	sl_json_end_object(j);
	sl_json_put_real(j, "sim_wall_s", r->sim_wall_s);
	sl_json_put_real(j, "sim_cpu_s", r->sim_cpu_s);
	sl_json_put_int(j, "solves_cut", (int64_t) r->solves_cut);
}

/* Where some job may be stopped for others. */
static void put_stops(struct sl_json *j, const struct sl_result *r)
{
	sl_json_put_int(j, "stops", (int64_t) r->stopped.stops);
	sl_json_put_int(j, "stops_cancelled", (int64_t) r->stopped.cancels);
	sl_json_put_int(j, "stops_suspended", (int64_t) r->stopped.suspends);
	sl_json_put_int(j, "moves", (int64_t) r->stopped.moves);
	sl_json_put_real(j, "moves_lost_core_s", r->stopped.moves_lost_core_s);
	sl_json_put_real(j, "lost_core_s", r->stopped.lost_core_s);
	sl_json_put_real(j, "lost_gpu_s", r->stopped.lost_gpu_s);
	sl_json_put_real(j, "lost_core_share", r->stopped.lost_core_share);
	sl_json_put_real(j, "lost_gpu_share", r->stopped.lost_gpu_share);
	sl_json_put_int(j, "holds", (int64_t) r->holds);
	sl_json_put_int(j, "holds_failed", (int64_t) r->holds_failed);
	sl_json_put_int(j, "preemptors", (int64_t) r->preemptors);
	sl_json_put_real(j, "preemptor_wait_mean_s", r->preemptor_wait_mean_s);
	sl_json_put_real(j, "preemptor_wait_p99_s", r->preemptor_wait_p99_s);
	sl_json_put_real(j, "preemptor_wait_max_s", r->preemptor_wait_max_s);
}

void sl_result_json(struct sl_json *j, const struct sl_result *r, bool timing)
{
	sl_json_put_int(j, "jobs", r->jobs);
	sl_json_put_int(j, "unfinished", r->unfinished);
	sl_json_put_int(j, "killed", r->killed);
	sl_json_put_bool(j, "partial", r->partial);
	sl_json_put_int(j, "nodes", r->nodes);
	sl_json_put_int(j, "cores", r->cores);
	sl_json_put_int(j, "gpus", r->gpus);
	sl_json_put_int(j, "makespan_s", (uint64_t) r->makespan_s);
	sl_json_put_real(j, "utilization", r->utilization);
	sl_json_put_real(j, "held_utilization", r->held_utilization);
	if (r->gpus)
		sl_json_put_real(j, "gpu_utilization", r->gpu_utilization);
	if (r->bound.makespan_s > 0) {
		sl_json_put_real(j, "makespan_bound_s", r->bound.makespan_s);
		sl_json_put_real(j, "utilization_bound", r->bound.utilization);
	}
	put_moments(j, "wait", "_s", &r->wait_s);
	sl_json_put_real(j, "wait_median_s", r->wait_median_s);
	sl_json_put_real(j, "wait_p99_s", r->wait_p99_s);
	put_moments(j, "slowdown", "", &r->slowdown);
	put_moments(j, "bsld", "", &r->bsld);
	put_moments(j, "fragmentation", "", &r->fragmentation);
	put_moments(j, "spread", "", &r->spread);
	put_moments(j, "packing", "", &r->packing);
	sl_json_put_int(j, "users", r->users);
	sl_json_put_real(j, "user_wait_mean_s", r->user_wait_mean_s);
	sl_json_put_real(j, "user_wait_gini", r->user_wait_gini);
	sl_json_put_real(j, "first_job_wait_mean_s", r->first_wait_mean_s);
	if (sl_result_has_stops(r))
		put_stops(j, r);
	put_classes(j, r);
	sl_json_put_int(j, "cycles", r->cycles);
	sl_json_put_int(j, "hidden_cycles", r->hidden_cycles);
	sl_json_put_int(j, "hidden_max", r->hidden_max);
	if (timing)
		put_timing(j, r);
}

void sl_users_json(struct sl_json *j, const struct sl_user_result *users, uint32_t count)
{
	sl_json_begin_array(j);
	for (uint32_t i = 0; i < count; i++) {
		sl_json_begin_object(j);
		sl_json_put_str(j, "user", users[i].user);
		sl_json_put_int(j, "jobs", users[i].jobs);
		sl_json_put_real(j, "wait_mean_s", users[i].wait_mean_s);
		sl_json_put_real(j, "wait_max_s", users[i].wait_max_s);
		sl_json_put_real(j, "first_job_wait_s", users[i].first_wait_s);
		sl_json_put_real(j, "slowdown_mean", users[i].slowdown_mean);
		sl_json_put_real(j, "bsld_mean", users[i].bsld_mean);
		sl_json_put_real(j, "core_s", users[i].core_s);
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

/* -- for people -------------------------------------------------------------------- */

static void print_time(const char *what, double s, FILE *out)
{
	if (s < 120)
		fprintf(out, "%-24s %.2f s\n", what, s);
	else if (s < 7200)
		fprintf(out, "%-24s %.0f s (%.1f min)\n", what, s, s / 60);
	else
		fprintf(out, "%-24s %.0f s (%.2f h)\n", what, s, s / 3600);
}

static void print_moments(const char *what, const struct sl_moments *m, FILE *out)
{
	fprintf(out, "%-24s %.3f ± %.3f, at most %.3f\n", what, m->mean, m->sd, m->max);
}

static void print_classes(const struct sl_result *r, FILE *out)
{
	fprintf(out, "\nmean wait, s (jobs), by cores asked for and runtime\n%-10s", "cores");
	for (int l = 0; l < SL_LENGTH_BINS; l++)
		fprintf(out, " %10s%-9" PRId64, "from s ", sl_length_bin[l]);
	fputc('\n', out);
	for (int s = 0; s < SL_SIZE_BINS; s++) {
		fprintf(out, "from %-5" PRIu32, sl_size_bin[s]);
		for (int l = 0; l < SL_LENGTH_BINS; l++) {
			const struct sl_class_result *c = &r->class[s][l];

			if (c->jobs)
				fprintf(out, " %10.0f %-8" PRIu64, c->wait_mean_s, c->jobs);
			else
				fprintf(out, " %10s %-8s", "-", "");
		}
		fputc('\n', out);
	}
}

static void print_stops(const struct sl_result *r, FILE *out)
{
	fprintf(out, "%-24s %" PRIu64 " (%" PRIu64 " requeued, %" PRIu64 " cancelled", "stopped for others", r->stopped.stops,
		r->stopped.stops - r->stopped.cancels - r->stopped.suspends, r->stopped.cancels);
	if (r->stopped.suspends)
		fprintf(out, ", %" PRIu64 " suspended", r->stopped.suspends);
	fputs(")\n", out);
	if (r->stopped.moves)
		fprintf(out, "%-24s %" PRIu64 ", at a loss of %.1f core-hours\n", "  of them moved", r->stopped.moves,
			r->stopped.moves_lost_core_s / 3600);
	fprintf(out, "%-24s %.1f core-hours", "work lost by that", r->stopped.lost_core_s / 3600);
	if (r->gpus)
		fprintf(out, ", %.1f GPU-hours", r->stopped.lost_gpu_s / 3600);
	fprintf(out, " (%.1f %% of what jobs held", 100 * r->stopped.lost_core_share);
	if (r->gpus)
		fprintf(out, ", %.1f %% of GPUs", 100 * r->stopped.lost_gpu_share);
	fprintf(out, ")\n%-24s %" PRIu64 ", %" PRIu64 " in vain\n", "places held", r->holds, r->holds_failed);
	if (!r->preemptors)
		return;
	fprintf(out, "%-24s %" PRIu64 "\n", "jobs that may preempt", r->preemptors);
	print_time("  their wait, mean", r->preemptor_wait_mean_s, out);
	print_time("  99 % below", r->preemptor_wait_p99_s, out);
	print_time("  longest", r->preemptor_wait_max_s, out);
}

void sl_result_print(const struct sl_result *r, FILE *out)
{
	if (r->partial)
		fprintf(out, "partial: the run was stopped, %" PRIu64 " jobs have not ended\n", r->unfinished);
	fprintf(out, "%-24s %" PRIu64 "\n", "jobs", r->jobs);
	if (r->unfinished && !r->partial)
		fprintf(out, "%-24s %" PRIu64 "\n", "never ended", r->unfinished);
	if (r->killed)
		fprintf(out, "%-24s %" PRIu64 "\n", "ended by walltime", r->killed);
	print_time("makespan", (double) r->makespan_s, out);
	fprintf(out, "%-24s %.4f", "utilization", r->utilization);
	if (r->bound.makespan_s > 0)
		fprintf(out, " (no schedule exceeds %.4f)", r->bound.utilization);
	fprintf(out, "\n%-24s %.4f\n", "cores held", r->held_utilization);
	if (r->gpus)
		fprintf(out, "%-24s %.4f\n", "GPUs held", r->gpu_utilization);
	if (r->bound.makespan_s > 0)
		print_time("makespan at least", r->bound.makespan_s, out);
	print_time("wait, mean", r->wait_s.mean, out);
	print_time("wait, deviation", r->wait_s.sd, out);
	print_time("wait, median", r->wait_median_s, out);
	print_time("wait, 99 % below", r->wait_p99_s, out);
	print_time("wait, longest", r->wait_s.max, out);
	print_moments("slowdown", &r->slowdown, out);
	print_moments("bounded slowdown", &r->bsld, out);
	print_moments("fragmentation", &r->fragmentation, out);
	print_moments("spread", &r->spread, out);
	print_moments("packing", &r->packing, out);
	if (sl_result_has_stops(r))
		print_stops(r, out);
	fprintf(out, "%-24s %" PRIu32 "\n", "users", r->users);
	print_time("wait, mean over users", r->user_wait_mean_s, out);
	fprintf(out, "%-24s %.4f\n", "Gini of users' waits", r->user_wait_gini);
	print_time("wait of first jobs", r->first_wait_mean_s, out);
	fprintf(out, "%-24s %" PRIu64 "\n", "cycles", r->cycles);
	if (r->hidden_cycles)
		fprintf(out, "%-24s at most %" PRIu32 " jobs, in %" PRIu64 " cycles\n", "beyond the window",
			r->hidden_max, r->hidden_cycles);
	if (r->asked)
		fprintf(out, "%-24s %.1f / %.1f / %.1f us\n", "median / 99 % / longest", r->cycle_us_p50,
			r->cycle_us_p99, r->cycle_us_max);
	print_classes(r, out);
}
