/* SPDX-License-Identifier: MIT */
/*
 * cmd_replay_reality.c - schedlua replay --against-reality: how near simulated starts are to those that really happened.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/order.h"
#include "base/text.h"
#include "image/json_out.h"
#include "sim/reality.h"
#include "tool/progress.h"
#include "verbs/cmd_replay.h"
#include "workload/sacct_columns.h"

#define LEAST_JOBS 30		/* fewer say nothing of a mean */
#define SHOWN_DAYS 14

/* What may be behind a difference, and what of sacct's columns says so. */
static const struct { uint32_t why; const char *key, *what, *column; } whys[] = {
	{ SL_REAL_LATER, "later", "eligible later than submitted (their wait begins then)", "Eligible" },
	{ SL_REAL_DEPENDENCY, "dependency", "waited for a dependency", "Reason" },
	{ SL_REAL_BEGIN, "begin_time", "waited for a begin time", "Reason" },
	{ SL_REAL_HOLD, "hold", "were held", "Reason" },
	{ SL_REAL_LIMIT, "limit", "waited for a limit of association, QOS or array", "Reason" },
	{ SL_REAL_RESERVATION, "reservation", "had to do with an advance reservation", "Reservation" },
	{ SL_REAL_NODES, "nodes", "waited for nodes that were down or drained", "Reason" },
	{ SL_REAL_LICENSES, "licenses", "asked for licences", "Licenses" },
	{ SL_REAL_CONSTRAINTS, "constraints", "asked for features of nodes", "Constraints" },
	{ SL_REAL_REQUEUED, "requeued", "were requeued, or their node failed", "State" },
	{ SL_REAL_SUSPENDED, "suspended", "were suspended", "Suspended" },
};

#define WHYS (sizeof(whys) / sizeof(whys[0]))

_Static_assert(WHYS == SL_REAL_WHYS, "a line for each bit");

/* -- text ------------------------------------------------------------------------- */

static void print_percent(const char *title, double error, const char *rest)
{
	if (error < 0)
		printf("%-14s not defined%s%s\n", title, *rest ? ": " : "", rest);
	else
		printf("%-14s %.1f %%%s%s\n", title, 100 * error, *rest ? ", " : "", rest);
}

static void print_errors(const struct sl_agreement *a)
{
	char rest[160];

	for (int by = 0; by < SL_GROUPINGS; by++) {
		char title[32];

		snprintf(title, sizeof(title), "error by %s", sl_grouping_name((enum sl_grouping) by));
		snprintf(rest, sizeof(rest), "mean over %" PRIu32 " of |simulated - real| / real mean wait; %" PRIu32 " left out whose "
			 "mean wait is below %d s", a->by[by].groups - a->by[by].left_out, a->by[by].left_out, SL_AGREEMENT_LEAST_S);
		print_percent(title, a->by[by].error, rest);
	}
	snprintf(rest, sizeof(rest), "jobs were submitted over %.1f days, expected %.1f", (double) a->span_s / 86400,
		 (double) a->moving_needs_s / 86400);
	print_percent("moving mean", a->moving, a->moving < 0 ? rest : "of fourteen days, as FastSim's 7.3 % is");
	print_percent("job by job", a->pooled, "sum of |simulated - real| / sum of real waits");
}

static int print_groups(const struct sl_agreement *a, enum sl_grouping by, struct sl_error *err)
{
	struct sl_text_table *t = sl_text_table_create("group,>jobs,>real mean wait,>simulated,>error");
	uint32_t shown = by == SL_BY_DAY && a->by[by].groups > SHOWN_DAYS ? SHOWN_DAYS : a->by[by].groups;
	char text[SL_TEXT_SIZE];
	int rc;

	for (uint32_t i = 0; t && i < shown; i++) {
		const struct sl_agreement_group *g = &a->by[by].group[i];

		sl_text_table_addf(t, "%s %s", sl_grouping_name(by), *g->name ? g->name : "(none)");
		sl_text_table_addf(t, "%" PRIu32, g->jobs);
		sl_text_table_add(t, sl_text_duration(text, (int64_t) (g->real_s + 0.5)));
		sl_text_table_add(t, sl_text_duration(text, (int64_t) (g->simulated_s + 0.5)));
		if (g->error < 0)
			sl_text_table_add(t, "-");
		else
			sl_text_table_addf(t, "%.1f %%", 100 * g->error);
	}
	putchar('\n');
	rc = t ? sl_text_table_print(t, 0, stdout) : -1;
	sl_text_table_destroy(t);
	if (!rc && shown < a->by[by].groups)
		printf("(and %" PRIu32 " further days, which --json has)\n", a->by[by].groups - shown);
	return rc ? sl_fail(err, SL_ENOMEM, "replay: out of memory while printing") : 0;
}

static int by_distance(const void *x, const void *y)
{
	const struct sl_agreement_job *a = *(struct sl_agreement_job *const *) x, *b = *(struct sl_agreement_job *const *) y;

	return SL_ORDER(llabs(b->simulated_s - b->real_s), llabs(a->simulated_s - a->real_s)) ?: SL_ORDER(a, b);
}

static void add_row(struct sl_text_table *t, const struct sl_agreement_job *j)
{
	char text[SL_TEXT_SIZE];

	sl_text_table_addf(t, "%" PRIu32, j->id);
	sl_text_table_add(t, j->partition);
	sl_text_table_add(t, j->qos);
	sl_text_table_addf(t, "%" PRIu32, j->cores);
	sl_text_table_add(t, sl_text_time(text, j->eligible_s));
	sl_text_table_add(t, sl_text_duration(text, j->real_s - j->eligible_s));
	sl_text_table_add(t, sl_text_duration(text, j->simulated_s - j->eligible_s));
}

/* Those whose starts differ most. */
static int print_jobs(const struct sl_reality_jobs *r, uint32_t most, struct sl_error *err)
{
	const struct sl_agreement_job **order = malloc(((size_t) r->jobs + 1) * sizeof(*order));
	struct sl_text_table *t = sl_text_table_create("job,partition,QOS,>cores,eligible,>real wait,>simulated");
	uint32_t shown = 0;
	int rc = order && t ? 0 : -1;

	for (uint32_t i = 0; !rc && i < r->jobs; i++)
		order[i] = &r->job[i];
	if (!rc)
		qsort(order, r->jobs, sizeof(*order), by_distance);
	for (; !rc && shown < r->jobs && shown < most; shown++) {
		if (llabs(order[shown]->simulated_s - order[shown]->real_s) <= SL_AGREEMENT_SAME_S)
			break;
		add_row(t, order[shown]);
	}
	if (shown)
		putchar('\n');
	rc = !rc && shown ? sl_text_table_print(t, 0, stdout) : rc;
	sl_text_table_destroy(t);
	free(order);
	return rc ? sl_fail(err, SL_ENOMEM, "replay: out of memory while printing") : 0;
}

static void print_whys(const struct sl_reality_jobs *r, const struct sl_reality_said *said)
{
	double share, rest;
	uint32_t n, all = 0;

	printf("\nwhat else there was, in jobs and in their part of all differences\n");
	for (size_t i = 0; i < WHYS; i++) {
		n = sl_agreement_share(r->job, r->jobs, whys[i].why, &share);
		all |= whys[i].why;
		if (said->lacks & whys[i].why)
			printf("  %-58s not in the %s%s\n", whys[i].what, said->recorded ? "recording" : "dump: ",
			       said->recorded ? "" : whys[i].column);
		else
			printf("  %-58s %6" PRIu32 " %5.1f %%\n", whys[i].what, n, 100 * share);
	}
	n = r->jobs - sl_agreement_share(r->job, r->jobs, all, &rest);
	printf("  %-58s %6" PRIu32 " %5.1f %%\n", "nothing of that", n, 100 * (1 - rest));
	if (said->recorded)
		printf("replayed as recorded: %" PRIu32 " changes of nodes that went down or came back, %" PRIu32 " advance reservations\n",
		       said->nodes_changed, said->reservations);
}

static void print_lacks(uint32_t lacks)
{
	printf("\n");
	if (lacks & SL_REAL_PRIORITY)
		printf("No priorities are recorded: jobs are in the order in which they became eligible.\n");
	if (lacks & SL_REAL_ELIGIBLE)
		printf("Nothing says when jobs became eligible: waits are from their submission, and dependencies, begin times and\n"
		       "holds count as waits.\n");
	if (lacks)
		printf("This prints all that sacct has:\n  %s\n", sl_sacct_real_command);
	printf("No dump of sacct says which nodes were down when, what advance reservations kept free, which limits held,\n"
	       "nor which priority a job had before it started.  A recording does, from now on:\n"
	       "  schedlua-capture --record=DIR --every=60\n");
}

/* What is known of the seconds at which slurmctld decided, and what those that are not known change. */
static void print_seconds(const struct sl_reality_said *said, const struct sl_agreement *a)
{
	char spread[SL_TEXT_SIZE];

	if (said->visits)
		printf("backfill       came at the seconds that %" PRIu32 " starts tell\n", said->visits);
	if (said->phases > 1)
		printf("simulated      %" PRIu32 " times, with %s at other seconds: the mean wait varies by %s (%.1f %% of the real one)\n",
		       said->phases, said->visits ? "priorities computed" : "backfill and priorities",
		       sl_text_duration(spread, (int64_t) (said->spread_s + 0.5)), a->real_s > 0 ? 100 * said->spread_s / a->real_s : 0);
	if (said->phases > 1 && said->visits)
		printf("taken          the one with most starts within a second of the real ones: %" PRIu32 ", of others %" PRIu32 " at the least\n",
		       said->exact, said->exact_least);
}

static int print_text(const struct sl_replay_args *v, const struct sl_reality_said *said, const struct sl_reality_jobs *r,
		      const struct sl_agreement *a, struct sl_error *err)
{
	char real[SL_TEXT_SIZE], simulated[SL_TEXT_SIZE];

	printf("source         %s\npolicy         %s\n", said->source, said->policy);
	printf("jobs           %" PRIu32 " compared; left out: %" PRIu32 " that ran when it begins, %" PRIu32 " without a start, %" PRIu32
	       " that started before they were eligible, %" PRIu32 " that the simulation never starts\n", r->jobs, r->ran, r->unknown,
	       r->negative, r->never);
	printf("mean wait      %s really, %s simulated\n", sl_text_duration(real, (int64_t) (a->real_s + 0.5)),
	       sl_text_duration(simulated, (int64_t) (a->simulated_s + 0.5)));
	print_seconds(said, a);
	printf("starts         %" PRIu32 " within %d s, %" PRIu32 " earlier, %" PRIu32 " later; half of them within %s\n", a->same,
	       SL_AGREEMENT_SAME_S, a->earlier, a->later, sl_text_duration(real, (int64_t) (a->median_s + 0.5)));
	print_errors(a);
	for (int by = 0; by < SL_GROUPINGS; by++)
		if (print_groups(a, (enum sl_grouping) by, err) < 0)
			return -1;
	if (print_jobs(r, (uint32_t) v->show, err) < 0)
		return -1;
	print_whys(r, said);
	if (!said->recorded)
		print_lacks(said->lacks);
	return 0;
}

/* -- JSON --------------------------------------------------------------------------- */

static void put_percent(struct sl_json *j, const char *key, double error)
{
	sl_json_key(j, key);
	if (error < 0)
		sl_json_null(j);
	else
		sl_json_real(j, 100 * error);
}

static void put_groups(struct sl_json *j, const struct sl_agreement *a, enum sl_grouping by)
{
	static const char *const key[SL_GROUPINGS] = { "day", "width", "partition", "qos" };

	sl_json_open_object(j, key[by]);
	put_percent(j, "error_percent", a->by[by].error);
	sl_json_put_int(j, "left_out", a->by[by].left_out);
	sl_json_open_array(j, "groups");
	for (uint32_t i = 0; i < a->by[by].groups; i++) {
		const struct sl_agreement_group *g = &a->by[by].group[i];

		sl_json_break(j);
		sl_json_begin_object(j);
		sl_json_put_str(j, "name", g->name);
		sl_json_put_int(j, "jobs", g->jobs);
		sl_json_put_real(j, "real_wait_s", g->real_s);
		sl_json_put_real(j, "simulated_wait_s", g->simulated_s);
		put_percent(j, "error_percent", g->error);
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
	sl_json_end_object(j);
}

static void put_whys(struct sl_json *j, const struct sl_reality_jobs *r, uint32_t lacks)
{
	double share;

	sl_json_open_object(j, "explained");
	for (size_t i = 0; i < WHYS; i++) {
		uint32_t n = sl_agreement_share(r->job, r->jobs, whys[i].why, &share);

		sl_json_key(j, whys[i].key);
		if (lacks & whys[i].why) {
			sl_json_null(j);
			continue;
		}
		sl_json_begin_object(j);
		sl_json_put_int(j, "jobs", n);
		sl_json_put_real(j, "share_percent", 100 * share);
		sl_json_end_object(j);
	}
	sl_json_end_object(j);
}

static int print_json(const struct sl_reality_said *said, const struct sl_reality_jobs *r, const struct sl_agreement *a,
		      struct sl_error *err)
{
	struct sl_json *j = sl_json_create(stdout, err);

	if (!j)
		return -1;
	sl_json_begin_object(j);
	sl_json_put_str(j, "source", said->source);
	sl_json_put_str(j, "policy", said->policy);
	sl_json_put_int(j, "jobs", r->jobs);
	sl_json_open_object(j, "left_out");
	sl_json_put_int(j, "ran", r->ran);
	sl_json_put_int(j, "no_start", r->unknown);
	sl_json_put_int(j, "negative_wait", r->negative);
	sl_json_put_int(j, "never_started", r->never);
	sl_json_end_object(j);
	sl_json_put_real(j, "real_wait_s", a->real_s);
	sl_json_put_real(j, "simulated_wait_s", a->simulated_s);
	sl_json_put_int(j, "phases", said->phases ? said->phases : 1);
	sl_json_put_real(j, "spread_s", said->spread_s);
	sl_json_put_int(j, "backfill_starts", said->visits);
	sl_json_put_int(j, "exact_starts", said->exact);
	sl_json_put_real(j, "median_difference_s", a->median_s);
	sl_json_put_int(j, "same", a->same);
	sl_json_put_int(j, "earlier", a->earlier);
	sl_json_put_int(j, "later", a->later);
	put_percent(j, "moving_mean_error_percent", a->moving);
	put_percent(j, "job_by_job_error_percent", a->pooled);
	for (int by = 0; by < SL_GROUPINGS; by++)
		put_groups(j, a, (enum sl_grouping) by);
	put_whys(j, r, said->lacks);
	sl_json_end_object(j);
	return sl_json_end(j, err);
}

int sl_replay_reality_print(const struct sl_replay_args *v, const struct sl_reality_said *said, const struct sl_reality_jobs *r,
			    struct sl_error *err)
{
	struct sl_agreement a = { 0 };
	int rc;

	if (r->jobs < LEAST_JOBS)
		return sl_fail(err, SL_EINVAL, "%s: %" PRIu32 " jobs can be compared (%" PRIu32 " ran when it begins, %" PRIu32
			       " have no start): expected %d, since fewer say nothing of a mean", said->source, r->jobs, r->ran, r->unknown,
			       LEAST_JOBS);
	rc = sl_agreement_compute(&a, r->job, r->jobs, err);
	if (!rc)
		rc = v->json ? print_json(said, r, &a, err) : print_text(v, said, r, &a, err);
	sl_agreement_free(&a);
	return rc;
}

/* -- a log of accounting ---------------------------------------------------------------- */

static bool is_file(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && S_ISREG(st.st_mode);
}

void sl_replay_stock(const struct sl_replay_args *v, struct sl_stock_options *opt)
{
	struct sl_error err;

	if (!is_file(v->machine) || sl_stock_read(opt, v->machine, &err) < 0)
		*opt = sl_stock_defaults();
}

static struct sl_workload *load_log(const struct sl_replay_args *v, const char *path, struct sl_error *err)
{
	const struct sl_workload_options opt = {
		.machine = v->machine, .procs = (uint32_t) v->procs, .as_it_was = true, .zone = v->zone, .overrun = SL_OVERRUN_RAISES,
	};
	struct sl_workload *w = sl_workload_load(path, &opt, err);

	if (w && !w->real) {
		sl_workload_destroy(w);
		sl_fail(err, SL_EFORMAT, "%s: it does not say when jobs really started: expected what this prints: %s", path,
			sl_sacct_real_command);
		return NULL;
	}
	if (w && !v->quiet) {
		w->issue[SL_ISSUE_BACKWARDS].count = 0;		/* they are in the order in which they became eligible */
		sl_workload_print_issues(w, "schedlua: ", stderr);
	}
	return w;
}

/* Once, with the bundle's policy, or with Slurm's own schedulers where there is none, in simulation *i* of so many at other
 * seconds. */
static int simulate_once(const struct sl_replay_args *v, struct sl_workload *w, struct sl_script *script,
			 const struct sl_visits *visits, uint32_t i, uint32_t phases, struct sl_reality_jobs *jobs, char **trace,
			 struct sl_error *err)
{
	struct sl_reality reality = { .workload = w };
	struct sl_stock stock = { 0 };
	struct sl_sim_options opt = sl_sim_args(&v->sim);
	struct sl_progress bar;
	struct sl_sim *sim;
	int rc;

	sl_replay_stock(v, &reality.stock);
	reality.stock.pool = !v->machine;
	reality.stock.visits = visits->count ? visits : NULL;
	sl_stock_phase(&reality.stock, i, phases);
	sl_reality_begin(&reality);
	stock.opt = reality.stock;
	stock.opt.nodes = sl_reality_nodes;
	stock.opt.nodes_arg = &reality;
	opt.keep_schedule = true;
	opt.stop = sl_tool_stop_on(SIGINT);
	opt.before_pass = sl_reality_before_pass;
	opt.before_pass_arg = &reality;
	opt.decide = script ? NULL : sl_stock_decide;
	opt.decide_arg = &stock;
	opt.wake_at = script ? NULL : &stock.wake_at;
	opt.progress = sl_progress_jobs;
	opt.progress_arg = &bar;
	if (sl_stock_open(&stock, &w->snap, err) < 0)
		return -1;
	sim = sl_sim_create(w, script, &opt, err);
	sl_progress_begin(&bar, "jobs", v->quiet);
	rc = sim ? sl_sim_run(sim, trace, err) : -1;
	sl_progress_end(&bar);
	if (rc > 0)
		rc = sl_fail(err, SL_EINVAL, "stopped");
	if (!rc)
		rc = sl_reality_gather(jobs, w, sim, err);
	sl_sim_destroy(sim);
	sl_stock_close(&stock);
	return rc;
}

/* The seconds at which backfill came, where the source's starts tell them; and how many simulations there are to be. */
static int find_seconds(const struct sl_replay_args *v, const struct sl_workload *w, const struct sl_script *script,
			struct sl_reality_said *said, struct sl_visits *visits, struct sl_error *err)
{
	struct sl_stock_options stock;

	sl_replay_stock(v, &stock);
	said->phases = script || stock.builtin ? 1 : (uint32_t) sl_min_signed(v->phases, stock.bf_interval_s);
	if (script || stock.builtin || v->any_seconds || !v->machine)
		return 0;
	if (sl_visits_find(visits, w, stock.bf_interval_s, stock.batch_sched_delay_s, err) < 0)
		return -1;
	said->visits = visits->seen;
	if (visits->count && !stock.age_weight)
		said->phases = 1;
	return 0;
}

static int simulate_log(const struct sl_replay_args *v, struct sl_workload *w, struct sl_script *script, const char *policy,
			char **trace, struct sl_error *err)
{
	struct sl_reality_said said = { .source = w->name, .policy = policy, .lacks = w->real_lacks };
	struct sl_reality_sum sum = { 0 };
	struct sl_visits visits = { 0 };
	int rc = find_seconds(v, w, script, &said, &visits, err);

	for (uint32_t i = 0; !rc && i < said.phases; i++) {
		struct sl_reality_jobs jobs = { 0 };

		rc = simulate_once(v, w, script, &visits, i, said.phases, &jobs, trace, err);
		if (!rc)
			rc = sl_reality_add(&sum, &jobs, err);
		else
			free(jobs.job);
	}
	if (!rc) {
		said.spread_s = sl_reality_spread(&sum);
		said.exact = sum.most;
		said.exact_least = sum.least;
		(said.visits ? sl_reality_best : sl_reality_mean)(&sum);
		rc = sl_replay_reality_print(v, &said, &sum.jobs, err);
	}
	sl_reality_sum_free(&sum);
	sl_visits_free(&visits);
	return rc;
}

int sl_replay_reality(const struct sl_replay_args *v, const char *path, struct sl_error *err)
{
	struct sl_bundle_source source = { .site = v->site, .policy = v->policy, .path = v->sim.path };
	bool stock = !v->site && !v->policy;
	struct sl_limits limits = { 0 };
	struct sl_bundle *bundle = NULL;
	struct sl_script *script = NULL;
	struct sl_workload *w = load_log(v, path, err);
	char *trace = NULL;
	int rc = -1;

	if (w && !stock) {
		bundle = sl_bundle_load(&source, &limits, &trace, err);
		script = bundle ? sl_script_create(bundle, &limits, err) : NULL;
	}
	if (w && (stock || script))
		rc = simulate_log(v, w, script, stock ? SL_STOCK_NAME : sl_bundle_figures(bundle)->policy, &trace, err);
	if (rc < 0) {
		sl_tool_fail(err);
		sl_tool_trace(trace, stderr);
	}
	sl_script_destroy(script);
	sl_bundle_destroy(bundle);
	sl_workload_destroy(w);
	free(trace);
	return rc;
}
