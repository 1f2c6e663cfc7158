/* SPDX-License-Identifier: MIT */
/*
 * cmd_predict.c - schedlua predict report: how good have predictors of runtimes been?
 *
 * Lua judges (lib/sched/prediction_report.lua): it is a policy that answers for each job of a queue, in the
 * text of its refusal.  Here a job is put into that queue for each user and predictor.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/text.h"
#include "image/json_out.h"
#include "ledger/ledger.h"
#include "script/decide.h"
#include "sim/trial.h"
#include "verbs/sim_args.h"
#include "tool/statedir.h"

enum { PREDICTORS = 16, QUEUE = 60000 };

struct values {
	struct sl_workload_args args;
	struct sl_sim_args sim;
	const char *dir, *ledger, *workload, *site, *policy, *predictors, *last;
	int64_t runs, users;
	bool json;
};

static const struct sl_option options[] = {
	{ .name = "predictors", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, predictors), .argument = "NAME[,NAME]...",
	  .standard = "limit,last_two,similar,quantile,linear", .doc = "which" },
	SL_DIR_OPTION(values),
	{ .name = "ledger", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, ledger), .argument = "FILE",
	  .doc = "the ledger that knows how long jobs ran; default: the cluster's" },
	{ .name = "last", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, last), .argument = "TIME",
	  .standard = "90d", .doc = "of a ledger, users who had a run in that time: 12h, 7d, or as Slurm writes it" },
	{ .name = "workload", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, workload), .argument = "WORKLOAD",
	  .doc = "of these jobs, simulated, in place of a ledger's" },
	{ .name = "site", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, site), .argument = "FILE",
	  .doc = "with --workload, the site file that decides when they run" },
	{ .name = "policy", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, policy),
	  .argument = "NAME[,OPTION=VALUE]...", .doc = "likewise, the policy; default: easy" },
	{ .name = "runs", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, runs), .argument = "N",
	  .min = 1, .max = SL_HISTORY_KEPT, .standard = "100", .doc = "of each user, so many runs at most, the newest" },
	{ .name = "users", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, users), .argument = "N",
	  .min = 0, .max = 10000, .standard = "10", .doc = "print so many users, those with the most runs first" },
	SL_WORKLOAD_ARGS(values, args),
	SL_SIM_ARGS(values, sim),
	SL_JSON_OPTION(values),
	{ 0 }
};

/* What lib/sched/prediction_report.lua answers. */
struct worth {
	uint32_t runs, beyond, within;	/* runs; of them that took longer; that were between the quantiles */
	uint64_t ran;			/* seconds, all of them */
	double off, bias;		/* seconds, sums of |predicted - ran|, predicted - ran */
};

struct user {
	char *name;
	struct worth of[PREDICTORS];
};

struct report {
	const struct values *v;
	const char *predictor[PREDICTORS];
	uint32_t predictors;
	struct user *user;
	uint32_t users, room;
	struct sl_map by_name;
	int64_t now;			/* all that is judged had ended by then */
	struct sl_history *history;
	struct worth all[PREDICTORS];
};

/* -- whose runs ------------------------------------------------------------------- */

static int add_user(struct report *r, const char *name, struct sl_error *err)
{
	uint64_t hash = sl_hash_text(SL_HASH, name);

	SL_MAP_EACH(&r->by_name, hash, at)
		if (!strcmp(r->user[at.value].name, name))
			return 0;
	if (sl_grow(&r->user, &r->room, (uint64_t) r->users + 1, sizeof(*r->user), err) ||
	    sl_map_reserve(&r->by_name, (uint64_t) r->users + 1, err) || sl_map_put(&r->by_name, hash, r->users, err))
		return -1;
	r->user[r->users] = (struct user) { .name = strdup(name) };
	return r->user[r->users++].name ? 0 : sl_fail(err, SL_ENOMEM, "predict: out of memory");
}

struct reading {
	struct report *r;
	struct sl_error *err;
};

static int add_run(void *arg, const struct sl_job_run *run)
{
	struct reading *to = arg;

	if (run->end > to->r->now)
		to->r->now = run->end;
	return add_user(to->r, run->dim.user, to->err);
}

static int weigh(struct report *r, struct sl_error *err);

static int of_ledger(struct report *r, struct sl_error *err)
{
	const struct values *v = r->v;
	struct reading to = { r, err };
	char dir[PATH_MAX], file[PATH_MAX + 16];
	struct sl_ledger_figures f;
	struct sl_ledger *ledger;
	int rc = -1;

	if (!v->ledger) {
		if (sl_statedir_find(v->dir, dir, sizeof(dir), err))
			return -1;
		snprintf(file, sizeof(file), "%s/" SL_LEDGER_FILE, dir);
	}
	ledger = sl_ledger_open(v->ledger ? v->ledger : file, SL_LEDGER_READ, err);
	if (ledger && !sl_ledger_figures(ledger, &f, err) &&
	    !sl_ledger_runs(ledger, f.last - sl_tool_last(v->last), SL_LEDGER_MAX_SECONDS, add_run, &to, err))
		r->history = sl_history_create(sl_ledger_load_history, ledger, err);
	if (r->history)
		rc = weigh(r, err);
	sl_history_destroy(r->history);
	sl_ledger_close(ledger);
	return rc;
}

static int of_workload(struct report *r, struct sl_error *err)
{
	const struct values *v = r->v;
	struct sl_trial_options opt = { .workload = v->workload, .workload_options = sl_workload_args(&v->args),
					.source = { .policy = v->policy ? v->policy : "easy", .site = v->site, .path = v->sim.path },
					.sim = sl_sim_args(&v->sim) };
	struct sl_trial t;
	int rc = sl_trial_open(&t, &opt, err) ? -1 : sl_trial_go(&t, false, err);

	if (rc < 0)
		sl_tool_trace(t.trace, stderr);
	for (uint32_t i = 0; rc >= 0 && i < t.workload->snap.job.rows; i++)
		rc = add_user(r, sl_snapshot_str(&t.workload->snap, t.workload->snap.job.user[i]), err);
	if (rc >= 0) {
		r->history = sl_sim_history(t.sim, err);
		r->now = SL_LEDGER_MAX_SECONDS;
		rc = r->history ? weigh(r, err) : -1;
	}
	sl_trial_close(&t);
	return rc < 0 ? -1 : 0;
}

/* -- Lua judges ------------------------------------------------------------------- */

static void build_queue(const struct report *r, uint32_t first, uint32_t users, struct sl_builder *b)
{
	struct sl_meta_row meta = sl_meta_row();
	struct sl_partition_row partition = sl_partition_row();
	struct sl_queue_row entry = { 0 };

	meta.now = r->now;
	sl_builder_append(b, SL_T_META, &meta);
	partition.name = sl_builder_str(b, "all");
	sl_builder_append(b, SL_T_PARTITION, &partition);
	for (uint32_t i = 0; i < users * r->predictors; i++) {
		struct sl_job_row job = sl_job_row();

		job.id = i + 1;
		job.user = sl_builder_str(b, r->user[first + i / r->predictors].name);
		job.comment = sl_builder_str(b, r->predictor[i % r->predictors]);
		job.partition = 0;
		entry.job = sl_builder_append(b, SL_T_JOB, &job);
		sl_builder_append(b, SL_T_QUEUE, &entry);
	}
}

static int take_answers(struct report *r, uint32_t first, uint32_t users, const struct sl_decision *d, struct sl_error *err)
{
	uint32_t taken = 0;

	if (d->policy.code) {
		sl_tool_trace(d->trace, stderr);
		*err = d->policy;
		return -1;
	}
	for (uint32_t i = 0; i < d->plan.log.rows; i++)
		fprintf(stderr, "%s\n", sl_image_str(&d->plan.image, d->plan.log.text[i]));
	for (uint32_t i = 0; i < d->plan.pending.rows; i++) {
		uint32_t at = d->plan.pending.job[i] - 1, k = at % r->predictors;
		struct worth w, *all = &r->all[k];

		if (sscanf(sl_image_str(&d->plan.image, d->plan.pending.text[i]),
			   "%" SCNu32 " %" SCNu64 " %lf %lf %" SCNu32 " %" SCNu32, &w.runs, &w.ran, &w.off, &w.bias, &w.beyond,
			   &w.within) != 6)
			continue;
		taken++;
		r->user[first + at / r->predictors].of[k] = w;
		*all = (struct worth) { all->runs + w.runs, all->beyond + w.beyond, all->within + w.within, all->ran + w.ran,
					all->off + w.off, all->bias + w.bias };
	}
	return taken == users * r->predictors ? 0 : sl_fail(err, SL_EINVAL, "predict: %" PRIu32 " of %" PRIu32
							    " questions were answered", taken, users * r->predictors);
}

static int judge(struct report *r, const struct sl_bundle *bundle, uint32_t first, uint32_t users, struct sl_error *err)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, err);
	struct sl_limits limits = { 0 };
	struct sl_decision d = { .history = r->history };
	struct sl_snapshot snap;
	const void *bytes;
	size_t size;
	int rc = -1;

	if (b)
		build_queue(r, first, users, b);
	if (b && !sl_builder_finish(b, &bytes, &size, err) &&
	    !sl_snapshot_open(&snap, bytes, size, err) && !sl_decide(bundle, &snap, &limits, sl_clock_us(), &d, err) &&
	    !sl_decision_faultless(&d, err))
		rc = take_answers(r, first, users, &d, err);
	sl_decision_clear(&d);
	sl_builder_destroy(b);
	return rc;
}

/* The policy set: the judge, and the predictors, which are loaded with it. */
static struct sl_bundle *open_judge(const struct report *r, struct sl_error *err)
{
	char text[PREDICTORS * 100] = "", policy[64], *trace = NULL;
	struct sl_bundle_text file = { .name = "predict_report", .text = text };
	struct sl_bundle *bundle;
	size_t n = 0;

	for (uint32_t i = 0; i < r->predictors; i++)
		n += (size_t) snprintf(text + n, sizeof(text) - n, "require('sched.predict').load('%s')\n", r->predictor[i]);
	snprintf(text + n, sizeof(text) - n, "return require 'sched.prediction_report'\n");
	snprintf(policy, sizeof(policy), "predict_report,last=%" PRId64, r->v->runs);
	bundle = sl_bundle_load(&(struct sl_bundle_source) { .policy = policy, .path = r->v->sim.path, .text = &file, .texts = 1 },
				NULL, &trace, err);
	if (!bundle)
		sl_tool_trace(trace, stderr);
	free(trace);
	return bundle;
}

static int by_runs(const void *a, const void *b)
{
	const struct user *x = a, *y = b;

	return x->of[0].runs != y->of[0].runs ? (x->of[0].runs < y->of[0].runs ? 1 : -1) : strcmp(x->name, y->name);
}

static int weigh(struct report *r, struct sl_error *err)
{
	struct sl_bundle *bundle = open_judge(r, err);
	uint32_t step = QUEUE / r->predictors;
	int rc = bundle ? 0 : -1;

	for (uint32_t i = 0; !rc && i < r->users; i += step)
		rc = judge(r, bundle, i, r->users - i < step ? r->users - i : step, err);
	if (!rc && r->users)
		qsort(r->user, r->users, sizeof(*r->user), by_runs);
	sl_bundle_destroy(bundle);
	return rc;
}

/* -- what is printed --------------------------------------------------------------- */

/* Of no runs nothing is known. */
static void add_figure(struct sl_text_table *t, const struct worth *w, const char *format, double sum)
{
	char text[64];

	snprintf(text, sizeof(text), format, w->runs ? sum / w->runs : 0);
	sl_text_table_add(t, w->runs ? text : "-");
}

static void add_row(struct sl_text_table *t, const char *first, const char *predictor, const struct worth *w)
{
	if (first)
		sl_text_table_add(t, first);
	sl_text_table_add(t, predictor);
	sl_text_table_addf(t, "%" PRIu32, w->runs);
	add_figure(t, w, "%.0f", (double) w->ran);
	add_figure(t, w, "%.0f", w->off);
	add_figure(t, w, "%+.0f", w->bias);
	add_figure(t, w, "%.1f %%", 100.0 * w->beyond);
	add_figure(t, w, "%.1f %%", 100.0 * w->within);
}

static int print_text(const struct report *r, struct sl_error *err)
{
	struct sl_text_table *all = sl_text_table_create("predictor,>runs,>mean runtime,>mean error,>bias,>too short,>within 80 %");
	struct sl_text_table *each =
		sl_text_table_create("user,predictor,>runs,>mean runtime,>mean error,>bias,>too short,>within 80 %");
	int rc = all && each ? 0 : sl_fail(err, SL_ENOMEM, "predict: out of memory");

	for (uint32_t k = 0; !rc && k < r->predictors; k++)
		add_row(all, NULL, r->predictor[k], &r->all[k]);
	for (uint32_t i = 0; !rc && i < r->users && i < r->v->users && r->user[i].of[0].runs; i++)
		for (uint32_t k = 0; k < r->predictors; k++)
			add_row(each, k ? "" : r->user[i].name, r->predictor[k], &r->user[i].of[k]);
	if (!rc && (sl_text_table_print(all, 0, stdout) || (r->v->users && (putchar('\n') == EOF || sl_text_table_print(each, 0, stdout)))))
		rc = sl_fail(err, SL_ENOMEM, "predict: out of memory");
	sl_text_table_destroy(all);
	sl_text_table_destroy(each);
	return rc;
}

static void put_worth(struct sl_json *j, const char *user, const char *predictor, const struct worth *w)
{
	sl_json_begin_object(j);
	if (user)
		sl_json_put_str(j, "user", user);
	sl_json_put_str(j, "predictor", predictor);
	sl_json_put_int(j, "runs", w->runs);
	if (w->runs) {
		sl_json_put_real(j, "runtime_mean_s", (double) w->ran / w->runs);
		sl_json_put_real(j, "error_mean_s", w->off / w->runs);
		sl_json_put_real(j, "bias_s", w->bias / w->runs);
		sl_json_put_real(j, "too_short", (double) w->beyond / w->runs);
		sl_json_put_real(j, "coverage", (double) w->within / w->runs);
	}
	sl_json_end_object(j);
}

static int print_json(const struct report *r, struct sl_error *err)
{
	struct sl_json *j = sl_json_create(stdout, err);
	int rc;

	if (!j)
		return -1;
	sl_json_begin_object(j);
	sl_json_key(j, "predictors");
	sl_json_begin_array(j);
	for (uint32_t k = 0; k < r->predictors; k++)
		put_worth(j, NULL, r->predictor[k], &r->all[k]);
	sl_json_end_array(j);
	sl_json_key(j, "users");
	sl_json_begin_array(j);
	for (uint32_t i = 0; i < r->users; i++)
		for (uint32_t k = 0; k < r->predictors; k++)
			put_worth(j, r->user[i].name, r->predictor[k], &r->user[i].of[k]);
	sl_json_end_array(j);
	sl_json_end_object(j);
	sl_json_end_line(j);
	rc = sl_json_finish(j, NULL, NULL, err);
	sl_json_destroy(j);
	return rc;
}

/* -- the verb ------------------------------------------------------------------------ */

/* Cuts *names* up.  0, or how it is wrong was said. */
static int read_predictors(const struct sl_verb *verb, struct report *r, char *names)
{
	for (char *rest, *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		if (strlen(name) > 60 || strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.") < strlen(name))
			return sl_tool_usage(verb, "--predictors: \"%s\" is no name of a predictor", name);
		if (r->predictors == PREDICTORS)
			return sl_tool_usage(verb, "--predictors: expected at most %d", PREDICTORS);
		r->predictor[r->predictors++] = name;
	}
	return r->predictors ? 0 : sl_tool_usage(verb, "--predictors: expected at least one");
}

static void close_report(struct report *r)
{
	for (uint32_t i = 0; i < r->users; i++)
		free(r->user[i].name);
	free(r->user);
	sl_map_free(&r->by_name);
}

static const char *wrong(const struct values *v, const char *verb)
{
	if (strcmp(verb, "report"))
		return "expected report";
	if (v->workload ? v->ledger || v->dir : v->site || v->policy)
		return "--workload goes with neither --ledger nor --dir, --site and --policy go with it alone";
	if (v->site && v->policy)
		return "--site and --policy: expected one of them";
	if (!sl_tool_last(v->last))
		return "--last: expected a time such as 12h, 7d or 1-00:00:00";
	return sl_sim_args_wrong(&v->sim);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	struct values v;
	struct report r = { .v = &v };
	char *names;
	int status, rc = -1;

	if (sl_tool_parse(verb, &v, argc, argv, 1, 1, &status) < 0)
		return status;
	if (wrong(&v, argv[0]))
		return sl_tool_usage(verb, "%s", wrong(&v, argv[0]));
	names = strdup(v.predictors);
	status = names ? read_predictors(verb, &r, names) : sl_fail(&err, SL_ENOMEM, "predict: out of memory");
	if (!status) {
		rc = v.workload ? of_workload(&r, &err) : of_ledger(&r, &err);
		if (!rc && !r.all[0].runs)
			fprintf(stderr, "there is nothing to judge: of %" PRIu32 " user%s no run with a walltime is known\n", r.users,
				r.users == 1 ? "" : "s");
		if (!rc)
			rc = v.json ? print_json(&r, &err) : print_text(&r, &err);
	}
	close_report(&r);
	free(names);
	return status > 0 ? status : rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_predict = {
	.name = "predict",
	.operands = "[OPTION]... report",
	.summary = "report how good predictors of runtimes have been",
	.options = options,
	.run = run,
};
