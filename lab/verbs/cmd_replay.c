/* SPDX-License-Identifier: MIT */
/*
 * cmd_replay.c - schedlua replay: recorded snapshots under another policy.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/order.h"
#include "verbs/cmd_replay.h"
#include "workload/demand.h"
#include "image/json_out.h"
#include "tool/progress.h"
#include "image/recording.h"
#include "sim/replay.h"
#include "sim/sim.h"
#include "tool/statedir.h"
#include "base/text.h"

static const struct sl_option options[] = {
	{ .name = "policy", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_replay_args, policy),
	  .argument = "NAME[,OPTION=VALUE]...", .doc = "decide with this policy: a name, or a path that ends in .lua; default: easy, and "
	  "with --against-reality what Slurm's own schedulers do" },
	{ .name = "site", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_replay_args, site), .argument = "FILE",
	  .doc = "decide as this site file says; --policy is then not looked at" },
	{ .name = "against-reality", .type = SL_OPTION_FLAG, .offset = offsetof(struct sl_replay_args, against_reality),
	  .doc = "print how near simulated waits are to those that really happened, of a recording or of what sacct printed" },
	{ .name = "machine", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_replay_args, machine), .argument = "NODES",
	  .doc = "with --against-reality, the machine of what sacct printed, and how it schedules: a slurm.conf, a snapshot, or 128x64c" },
	{ .name = "procs", .type = SL_OPTION_INTEGER, .offset = offsetof(struct sl_replay_args, procs), .min = 0, .max = 4294967294.0,
	  .argument = "N", .doc = "with --against-reality, the machine is a pool of so many processors; 0: what the log says" },
	{ .name = "zone", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_replay_args, zone), .argument = "NAME",
	  .doc = "with --against-reality, the time zone in which sacct printed, \"Europe/Berlin\"; default: UTC" },
	{ .name = "phases", .type = SL_OPTION_INTEGER, .offset = offsetof(struct sl_replay_args, phases), .min = 1,
	  .max = SL_REALITY_PHASES_MAX, .standard = "12", .argument = "N",
	  .doc = "with --against-reality, of what sacct printed and Slurm's own schedulers: simulate so many times, with priorities computed "
	  "at other seconds, and backfill, too, where starts do not tell its seconds" },
	{ .name = "any-seconds", .type = SL_OPTION_FLAG, .offset = offsetof(struct sl_replay_args, any_seconds),
	  .doc = "with --against-reality, do not find out from the starts at which seconds backfill came; take each job's mean start of "
	  "all simulations" },
	{ .name = "cycles", .type = SL_OPTION_FLAG, .offset = offsetof(struct sl_replay_args, cycles),
	  .doc = "decide each recorded cycle anew, and compare it with the decision journal" },
	{ .name = "journal", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_replay_args, journal),
	  .argument = "DIRECTORY", .doc = "with --cycles, where the journal is; default: above the recording" },
	{ .name = "budget", .type = SL_OPTION_NUMBER, .offset = offsetof(struct sl_replay_args, budget),
	  .argument = "SECONDS", .min = 0, .max = 86400,
	  .doc = "with --cycles, time after which the policy is stopped; 0: what the site file says, else 2" },
	SL_SIM_ARGS(sl_replay_args, sim),
	{ .name = "tolerance", .type = SL_OPTION_INTEGER, .offset = offsetof(struct sl_replay_args, tolerance),
	  .min = 0, .max = 86400, .standard = "5", .argument = "SECONDS",
	  .doc = "starts that differ by no more are the same" },
	{ .name = "show", .type = SL_OPTION_INTEGER, .offset = offsetof(struct sl_replay_args, show),
	  .min = 0, .max = 1000000, .standard = "20", .argument = "N",
	  .doc = "lines about single jobs or cycles, those that differ most; 0: none" },
	SL_JSON_OPTION(sl_replay_args),
	{ .name = "quiet", .type = SL_OPTION_FLAG, .offset = offsetof(struct sl_replay_args, quiet),
	  .doc = "no progress bar, and nothing about what was left out" },
	{ 0 }
};

/* -- what differs --------------------------------------------------------------- */

enum verdict { SAME, EARLIER, LATER, ONLY_REPLAYED, ONLY_RECORDED, NEITHER, VERDICTS };

static const char *const verdict_key[] = { "same", "earlier", "later", "only_replayed", "only_recorded", "waiting" };

struct difference {
	uint32_t row;
	enum verdict verdict;
	int64_t recorded, replayed;	/* starts; 0: not before the end */
	int64_t by;			/* replayed - recorded, up to the end of the recording */
};

/* The same of both sides. */
struct side {
	double wait_sum, wait_max, core_s;
};

struct outcome {
	struct sl_replay *replay;
	struct difference *job;		/* those that are compared */
	uint32_t jobs, count[VERDICTS];
	struct side recorded, replayed;
	uint64_t cores;
};

static int64_t or_end(const struct outcome *o, int64_t t)
{
	return t && t < o->replay->to_s ? t : o->replay->to_s;
}

static void judge_job(const struct outcome *o, struct difference *d, int64_t tolerance)
{
	d->by = or_end(o, d->replayed) - or_end(o, d->recorded);
	if (!d->recorded && !d->replayed)
		d->verdict = NEITHER;
	else if (!d->recorded)
		d->verdict = ONLY_REPLAYED;
	else if (!d->replayed)
		d->verdict = ONLY_RECORDED;
	else if (d->by < -tolerance)
		d->verdict = EARLIER;
	else
		d->verdict = d->by > tolerance ? LATER : SAME;
}

/* Cores x time within the recording. */
static double core_seconds(const struct outcome *o, uint64_t cores, int64_t start, int64_t end)
{
	int64_t from = start > o->replay->from_s ? start : o->replay->from_s, to = or_end(o, end);

	return start && to > from ? (double) cores * (double) (to - from) : 0;
}

static void add_wait(struct side *s, const struct outcome *o, int64_t start, int64_t submit)
{
	double wait = (double) (or_end(o, start) - submit);

	s->wait_sum += wait;
	s->wait_max = wait > s->wait_max ? wait : s->wait_max;
}

static int compare(struct outcome *o, const struct sl_sim *sim, int64_t tolerance, struct sl_error *err)
{
	const struct sl_workload *w = o->replay->workload;
	const struct sl_sim_job *s = sl_sim_schedule(sim);
	struct sl_machine m;
	struct sl_demand d;

	o->job = calloc((size_t) w->snap.job.rows + 1, sizeof(*o->job));
	if (!o->job)
		return sl_fail(err, SL_ENOMEM, "replay: out of memory");
	if (sl_machine_open(&m, &w->snap, err) < 0)
		return -1;
	for (uint32_t n = 0; n < w->snap.node.rows; n++)
		o->cores += w->snap.node.cores[n];
	for (uint32_t i = 0; i < w->snap.job.rows; i++) {
		const struct sl_replay_job *j = &o->replay->job[i];
		struct difference *x = &o->job[o->jobs];
		int64_t replayed = s[i].nodes ? s[i].start_s : 0;

		sl_job_demand(&m, i, &d);
		o->recorded.core_s += core_seconds(o, d.cores, j->start_s, j->end_s);
		o->replayed.core_s += core_seconds(o, d.cores, replayed, replayed ? replayed + w->runtime_s[i] : 0);
		if (j->ran)
			continue;
		*x = (struct difference) { .row = i, .recorded = j->start_s, .replayed = replayed };
		judge_job(o, x, tolerance);
		o->count[x->verdict]++;
		o->jobs++;
		add_wait(&o->recorded, o, x->recorded, w->snap.job.submit_time[i]);
		add_wait(&o->replayed, o, x->replayed, w->snap.job.submit_time[i]);
	}
	sl_machine_close(&m);
	return 0;
}

/* -- output ----------------------------------------------------------------------- */

static double per_job(const struct outcome *o, double sum)
{
	return o->jobs ? sum / o->jobs : 0;
}

static double utilization(const struct outcome *o, const struct side *s)
{
	double all = (double) o->cores * (double) (o->replay->to_s - o->replay->from_s);

	return all > 0 ? s->core_s / all : 0;
}

static void put_both(struct sl_json *j, const char *key, double recorded, double replayed)
{
	sl_json_open_object(j, key);
	sl_json_put_real(j, "recorded", recorded);
	sl_json_put_real(j, "replayed", replayed);
	sl_json_end_object(j);
}

static void put_time(struct sl_json *j, const char *key, int64_t t)
{
	sl_json_key(j, key);
	if (t)
		sl_json_int(j, t);
	else
		sl_json_null(j);
}

static void put_job(struct sl_json *j, const struct outcome *o, const struct difference *d)
{
	const struct sl_snapshot *s = &o->replay->workload->snap;

	sl_json_break(j);
	sl_json_begin_object(j);
	sl_json_put_int(j, "job", o->replay->job[d->row].id);
	sl_json_put_str(j, "user", sl_snapshot_str(s, s->job.user[d->row]));
	sl_json_put_str(j, "account", sl_snapshot_str(s, s->job.account[d->row]));
	sl_json_put_str(j, "partition", sl_snapshot_str(s, s->partition.name[s->job.partition[d->row]]));
	sl_json_put_int(j, "submit_time", s->job.submit_time[d->row]);
	put_time(j, "recorded_start", d->recorded);
	put_time(j, "replayed_start", d->replayed);
	sl_json_put_int(j, "difference_s", d->by);
	sl_json_put_str(j, "verdict", verdict_key[d->verdict]);
	sl_json_end_object(j);
}

static void put_left_out(struct sl_json *j, const struct sl_replay *r)
{
	sl_json_open_object(j, "left_out");
	sl_json_put_int(j, "cancelled", r->cancelled);
	sl_json_put_int(j, "held", r->held);
	sl_json_put_int(j, "unknown_partition", r->lost);
	sl_json_end_object(j);
	sl_json_put_int(j, "unseen_ends", r->unseen_ends);
	sl_json_put_int(j, "nodes_changed", r->nodes_changed);
}

static int print_json(const struct outcome *o, const char *policy, int64_t tolerance, struct sl_error *err)
{
	const struct sl_replay *r = o->replay;
	struct sl_json *j = sl_json_create(stdout, err);

	if (!j)
		return -1;
	sl_json_begin_object(j);
	sl_json_open_object(j, "recording");
	sl_json_put_str(j, "cluster", r->cluster);
	sl_json_put_int(j, "from", r->from_s);
	sl_json_put_int(j, "to", r->to_s);
	sl_json_put_int(j, "snapshots", r->snapshots);
	sl_json_put_int(j, "running_at_first", r->ran);
	sl_json_end_object(j);
	sl_json_put_str(j, "policy", policy);
	sl_json_put_int(j, "tolerance_s", tolerance);
	sl_json_put_int(j, "jobs", o->jobs);
	for (int v = 0; v < VERDICTS; v++)
		sl_json_put_int(j, verdict_key[v], o->count[v]);
	put_both(j, "wait_mean_s", per_job(o, o->recorded.wait_sum), per_job(o, o->replayed.wait_sum));
	put_both(j, "wait_max_s", o->recorded.wait_max, o->replayed.wait_max);
	put_both(j, "utilization", utilization(o, &o->recorded), utilization(o, &o->replayed));
	put_left_out(j, r);
	sl_json_open_array(j, "per_job");
	for (uint32_t i = 0; i < o->jobs; i++)
		put_job(j, o, &o->job[i]);
	sl_json_break(j);
	sl_json_end_array(j);
	sl_json_end_object(j);
	return sl_json_end(j, err);
}

static int by_difference(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	return SL_ORDER(llabs(y->by), llabs(x->by)) ?: SL_ORDER(x->row, y->row);
}

static void add_time(struct sl_text_table *t, int64_t when)
{
	char text[SL_TEXT_SIZE];

	sl_text_table_add(t, when ? sl_text_time(text, when) : "not by the end");
}

/* The jobs whose starts differ most. */
static int print_jobs(const struct outcome *o, uint32_t most, struct sl_error *err)
{
	const struct sl_snapshot *s = &o->replay->workload->snap;
	struct sl_text_table *table = sl_text_table_create("job,user,partition,submitted,recorded start,replayed start,>");
	char text[SL_TEXT_SIZE];
	uint32_t shown = 0;
	int rc;

	qsort(o->job, o->jobs, sizeof(*o->job), by_difference);
	for (; table && shown < o->jobs && shown < most; shown++) {
		const struct difference *d = &o->job[shown];

		if (d->verdict == SAME || d->verdict == NEITHER)
			break;
		sl_text_table_addf(table, "%" PRIu32, o->replay->job[d->row].id);
		sl_text_table_add(table, sl_snapshot_str(s, s->job.user[d->row]));
		sl_text_table_add(table, sl_snapshot_str(s, s->partition.name[s->job.partition[d->row]]));
		add_time(table, s->job.submit_time[d->row]);
		add_time(table, d->recorded);
		add_time(table, d->replayed);
		sl_text_table_addf(table, "%s%s%s", d->recorded && d->replayed ? "" : "by at least ",
				   sl_text_duration(text, llabs(d->by)), d->by < 0 ? " earlier" : " later");
	}
	if (shown)
		putchar('\n');
	rc = !table ? -1 : shown ? sl_text_table_print(table, 0, stdout) : 0;
	sl_text_table_destroy(table);
	return rc ? sl_fail(err, SL_ENOMEM, "replay: out of memory while printing") : 0;
}

static int print_text(const struct outcome *o, const char *policy, const struct sl_replay_args *v,
		      struct sl_error *err)
{
	const struct sl_replay *r = o->replay;
	char from[SL_TEXT_SIZE], to[SL_TEXT_SIZE], a[SL_TEXT_SIZE], b[SL_TEXT_SIZE];

	printf("recording     %s, %" PRIu32 " snapshots, %s to %s\n", r->cluster, r->snapshots,
	       sl_text_time(from, r->from_s), sl_text_time(to, r->to_s));
	printf("policy        %s\n", policy);
	printf("jobs          %" PRIu32 " compared; %" PRIu32 " ran already when it began\n", o->jobs, r->ran);
	printf("earlier       %" PRIu32 ", and %" PRIu32 " that had not started by the end\n", o->count[EARLIER],
	       o->count[ONLY_REPLAYED]);
	printf("later         %" PRIu32 ", and %" PRIu32 " that would not have started by the end\n", o->count[LATER],
	       o->count[ONLY_RECORDED]);
	printf("the same      %" PRIu32 " within %" PRId64 " s; %" PRIu32 " wait in both\n", o->count[SAME], v->tolerance,
	       o->count[NEITHER]);
	printf("mean wait     %s recorded, %s replayed\n",
	       sl_text_duration(a, (int64_t) per_job(o, o->recorded.wait_sum)),
	       sl_text_duration(b, (int64_t) per_job(o, o->replayed.wait_sum)));
	printf("longest wait  %s recorded, %s replayed\n", sl_text_duration(a, (int64_t) o->recorded.wait_max),
	       sl_text_duration(b, (int64_t) o->replayed.wait_max));
	printf("utilization   %.4f recorded, %.4f replayed\n", utilization(o, &o->recorded),
	       utilization(o, &o->replayed));
	return print_jobs(o, (uint32_t) v->show, err);
}

static void note_count(uint32_t n, const char *what)
{
	if (n)
		fprintf(stderr, "schedlua: %" PRIu32 " %s\n", n, what);
}

static void tell_left_out(const struct sl_replay *r)
{
	note_count(r->unreadable, "snapshots were written by another build, or removed meanwhile: passed over");
	note_count(r->cancelled, "jobs left the queue without having run: left out");
	note_count(r->held, "jobs were held back all the time: left out");
	note_count(r->lost, "jobs are of a partition, or want a licence, that the first snapshot has not: left out");
	note_count(r->unseen_ends, "jobs ended while nobody looked: taken to have run until the next snapshot "
	     "(record more often than finished jobs are forgotten)");
}

static int print_reality(const struct sl_replay_args *v, const struct sl_replay *r, const struct sl_sim *sim, const char *policy,
			 struct sl_error *err)
{
	const struct sl_reality_said said = {
		.source = r->cluster, .policy = policy, .recorded = true,
		.nodes_changed = r->nodes_changed, .reservations = r->workload->snap.reservation.rows,
		.lacks = SL_REAL_DEPENDENCY | SL_REAL_HOLD | SL_REAL_LIMIT | SL_REAL_NODES | SL_REAL_LICENSES | SL_REAL_CONSTRAINTS |
			 SL_REAL_REQUEUED | SL_REAL_SUSPENDED,
	};
	struct sl_reality_jobs jobs = { 0 };
	int rc = sl_reality_gather_recorded(&jobs, r, sim, err);

	if (!rc)
		rc = sl_replay_reality_print(v, &said, &jobs, err);
	free(jobs.job);
	return rc;
}

/* -- from then on under another policy ------------------------------------------------ */

static int simulate(const struct sl_replay_args *v, struct sl_replay *r, struct sl_sim *sim, const char *policy,
		    struct sl_progress *bar, char **trace, struct sl_error *err)
{
	struct outcome o = { .replay = r };
	int rc;

	sl_progress_begin(bar, "jobs", v->quiet);
	rc = sl_sim_run(sim, trace, err);
	sl_progress_end(bar);
	if (rc > 0)
		rc = sl_fail(err, SL_EINVAL, "stopped");
	if (!rc && !v->quiet)
		tell_left_out(r);
	if (!rc && v->against_reality)
		return print_reality(v, r, sim, policy, err);
	if (!rc)
		rc = compare(&o, sim, v->tolerance, err);
	if (!rc)
		rc = v->json ? print_json(&o, policy, v->tolerance, err) : print_text(&o, policy, v, err);
	free(o.job);
	return rc;
}

/* Slurm's own schedulers decide. */
static int use_stock(const struct sl_replay_args *v, const struct sl_replay *r, struct sl_stock *stock, struct sl_sim_options *opt,
		     struct sl_error *err)
{
	sl_replay_stock(v, &stock->opt);
	opt->decide = sl_stock_decide;
	opt->decide_arg = stock;
	opt->wake_at = &stock->wake_at;
	return sl_stock_open(stock, &r->workload->snap, err);
}

static int replay_recording(const struct sl_replay_args *v, char *const *path, uint32_t paths, bool kept, struct sl_error *err)
{
	struct sl_bundle_source source = { .site = v->site, .policy = v->policy ? v->policy : "easy", .path = v->sim.path };
	bool by_stock = v->against_reality && !v->site && !v->policy;
	struct sl_limits limits = { 0 };
	struct sl_bundle *bundle = NULL;
	struct sl_script *script = NULL;
	struct sl_sim *sim = NULL;
	struct sl_replay r = { 0 };
	struct sl_stock stock = { 0 };
	struct sl_progress bar;
	struct sl_sim_options opt = sl_sim_args(&v->sim);
	char *trace = NULL;
	int rc = -1;

	opt.keep_schedule = true;
	opt.stop = sl_tool_stop_on(SIGINT);
	opt.before_pass = sl_replay_before_pass;
	opt.before_pass_arg = &r;
	opt.progress = sl_progress_jobs;
	opt.progress_arg = &bar;
	bundle = sl_bundle_load(&source, &limits, &trace, err);
	if (bundle && !sl_replay_open(&r, path, paths, kept, err)) {
		opt.until_s = r.to_s;
		opt.wake_s = r.at_s;
		opt.wakes = r.snapshots;
		script = sl_script_create(bundle, &limits, err);
		if (script && (!by_stock || !use_stock(v, &r, &stock, &opt, err)))
			sim = sl_sim_create(r.workload, script, &opt, err);
	}
	if (sim)
		rc = simulate(v, &r, sim, by_stock ? SL_STOCK_NAME : sl_bundle_figures(bundle)->policy, &bar, &trace, err);
	if (rc < 0) {
		sl_tool_fail(err);
		sl_tool_trace(trace, stderr);
	}
	sl_sim_destroy(sim);
	sl_stock_close(&stock);
	sl_script_destroy(script);
	sl_replay_close(&r);
	sl_bundle_destroy(bundle);
	free(trace);
	return rc;
}

/* -- the verb ------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Accounting, not a snapshot.  (What is neither is told by who reads logs.) */
static bool is_log(const char *path)
{
	return !is_directory(path) && !strstr(sl_sim_args_base(path), ".snap");
}

/* Where the recording is: a directory, the plug-in's own, or files one by one. */
static int find_recording(int n, char **argv, char *dir, size_t size, struct sl_recording *list, struct sl_error *err)
{
	char state[PATH_MAX];

	*dir = 0;
	if (n > 1 || (n == 1 && !is_directory(argv[0])))
		return 0;
	if (n)
		snprintf(dir, size, "%s", argv[0]);
	else if (sl_statedir_find(NULL, state, sizeof(state), err) < 0)
		return -1;
	else
		snprintf(dir, size, "%s/record", state);
	if (!sl_recording_list(list, dir, err))
		return 0;
	if (!n && err->code == SL_ENOENT)
		sl_fail(err, SL_ENOENT, "%s: nothing is recorded there: add lua_record=60 to SchedulerParameters in "
			"slurm.conf (doc/simulate.md)", dir);
	return -1;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_recording list = { NULL, 0 };
	struct sl_replay_args v;
	struct sl_error err = { 0 };
	char dir[PATH_MAX + 16], above[PATH_MAX + 32];
	int status, rc, n = sl_tool_parse(verb, &v, argc, argv, 0, -1, &status);

	if (n < 0)
		return status;
	if (sl_sim_args_wrong(&v.sim))
		return sl_tool_usage(verb, "%s", sl_sim_args_wrong(&v.sim));
	if (v.journal && !v.cycles)
		return sl_tool_usage(verb, "--journal: expected --cycles as well");
	if ((v.machine || v.procs || v.zone) && !v.against_reality)
		return sl_tool_usage(verb, "--%s: expected --against-reality as well", v.machine ? "machine" : v.procs ? "procs" : "zone");
	if (v.against_reality && v.cycles)
		return sl_tool_usage(verb, "--cycles: not with --against-reality");
	if (v.against_reality && n == 1 && is_log(argv[0]))
		return sl_tool_end(sl_replay_reality(&v, argv[0], &err) ? SL_EXIT_FAILED : SL_EXIT_FINE);
	rc = find_recording(n, argv, dir, sizeof(dir), &list, &err);
	snprintf(above, sizeof(above), "%s/..", *dir ? dir : ".");
	if (rc < 0)
		sl_tool_fail(&err);
	else if (v.cycles && !*dir && !v.journal)
		rc = sl_tool_usage(verb, "--cycles: expected the directory of a recording, or --journal");
	else if (v.cycles)
		rc = sl_replay_cycles(&v, list.count ? list.path : argv, list.count ? list.count : (uint32_t) n,
				      list.count > 0, v.journal ? v.journal : above, &err);
	else
		rc = replay_recording(&v, list.count ? list.path : argv, list.count ? list.count : (uint32_t) n,
			    list.count > 0, &err);
	sl_recording_free(&list);
	if (rc == SL_EXIT_USAGE)
		return rc;
	return sl_tool_end(rc ? SL_EXIT_FAILED : SL_EXIT_FINE);
}

const struct sl_verb sl_verb_replay = {
	.name = "replay",
	.operands = "[--policy=NAME | --site=FILE] [OPTION]... [DIRECTORY | SNAPSHOT... | ACCOUNTING]",
	.summary = "what would have differed under another policy, from recorded snapshots",
	.options = options,
	.run = run,
};
