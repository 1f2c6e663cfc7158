/* SPDX-License-Identifier: MIT */
/*
 * cmd_willrun.c - schedlua willrun: would such a job start, when and where?
 */
#include "tool/tool.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lines.h"
#include "base/text.h"
#include "ledger/ledger.h"
#include "script/decide.h"
#include "tool/asked.h"
#include "tool/explain_order.h"
#include "tool/explain_stops.h"
#include "tool/foresee.h"
#include "tool/report.h"
#include "tool/statedir.h"
#include "usage/history.h"

#define FORECAST_US INT64_C(5000000)	/* for the times of all that stand before it */

/* Of its size; what of it is said is in the order of the options table. */
enum size {
#define NAME(id, ...) SIZE_##id,
	SL_SIZE_OPTIONS(NAME)
#undef NAME
	SIZES
};

struct values {
	const char *size[SIZES];
	const char *partition, *mem, *mem_per_cpu, *constraint, *user, *account, *qos;
	const char *dir, *snapshot, *site, *policy, *path, *ledger, *calibration;
	const char *wish[SL_WISH_COUNT];
	int64_t priority, seconds;
	bool json;
};

#define SIZE(id, key, ...) VALUE(size[SIZE_##id], key, __VA_ARGS__)
#define VALUE(id, key, kind, what, brief, words, text) \
	{ .name = key, .type = SL_OPTION_##kind, .offset = offsetof(struct values, id), .argument = what, .doc = text, .letter = brief },
#define WISH(id, key, ...) VALUE(wish[SL_WISH_##id], key, __VA_ARGS__)
#define TEXT(field, key, what, text, brief)	\
	{ .name = key, .type = SL_OPTION_TEXT, .offset = offsetof(struct values, field), .argument = what, .doc = text, .letter = brief }

static const struct sl_option options[] = {
	SL_SIZE_OPTIONS(SIZE)
	SL_VALUE_OPTIONS(VALUE)
	SL_WISH_OPTIONS(WISH)
	TEXT(partition, "partition", "NAME[,NAME]...", "in one of these partitions; default: the default one", 'p'),
	TEXT(user, "user", "NAME", "as a job of that user; default: whoever asks", 0),
	TEXT(account, "account", "NAME", "of that account; default: that of the user's last job", 'A'),
	TEXT(qos, "qos", "NAME", "of that QOS; default: that of the user's last job", 'q'),
	{ .name = "priority", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, priority), .argument = "N",
	  .min = 1, .max = UINT32_MAX - 1, .doc = "with that priority; default: what is known of it, see below" },
	SL_DIR_OPTION(values),
	TEXT(snapshot, "snapshot", "FILE", "on this capture, not on the cluster as it is", 0),
	TEXT(site, "site", "FILE", "the site file that decides; default: the one that does", 0),
	TEXT(policy, "policy", "NAME[,OPTION=VALUE]...", "the policy that decides, instead of a site file", 0),
	TEXT(path, "path", "DIR[:DIR]...", "directories to search for policies before the bundled ones", 0),
	TEXT(ledger, "ledger", "FILE",
	     "the ledger that knows what was used; default: the cluster's, where it may be read; with --snapshot what that knows", 0),
	TEXT(calibration, "calibration", "FILE",
	     "what forecasts were worth; default: forecasts/calibration.json beside the site file, where that is", 0),
	{ .name = "seconds", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, seconds), .argument = "N",
	  .min = 0, .max = 3600, .standard = "10", .doc = "how long a forecast may take; 0: make none" },
	SL_JSON_OPTION(values),
	{ 0 }
};

/* -- the request ------------------------------------------------------------- */

/* The size as one alternative of a job, which has sbatch's options, too. */
static int write_size(const struct values *v, char *text, size_t room, struct sl_error *err)
{
	size_t n = (size_t) snprintf(text, room, "sched:");
	bool sized = false;

	for (int i = 0; i < SIZES; i++) {
		const char *name = options[i].name, *value = v->size[i];

		if (!value)
			continue;
		if (value[strcspn(value, " \t\r\n;|")] || strlen(value) > 200)
			return sl_fail(err, SL_EINVAL, "--%s=%s: expected %s", name, value, options[i].argument);
		n += (size_t) snprintf(text + n, room - n, " --%s=%s", name, value);
		sized |= i != SIZE_TIME && i != SIZE_CPUS_PER_TASK;
	}
	if (!sized)
		snprintf(text + n, room - n, " --ntasks=1");
	if (!sl_asked_check(text, err))
		return 0;
	if (err->text[0] != '-')
		sl_fail_in(err, "--nodes, --ntasks, --gres and the like do not go together");
	return -1;
}

static int read_memory(const char *name, const char *text, int64_t *mb, struct sl_error *err)
{
	const char *end = "";

	if (text && (!sl_scan_memory(text, 'M', mb, &end) || *end || *mb < 0))
		return sl_fail(err, SL_EINVAL, "--%s=%s: expected an amount of memory, such as 4000M or 16G", name, text);
	return 0;
}

static int read_request(const struct values *v, struct sl_asked *a, char *size, size_t room, struct sl_error *err)
{
	const struct passwd *self = v->user ? NULL : getpwuid(getuid());

	*a = (struct sl_asked) { .size = size, .partitions = v->partition, .constraint = v->constraint, .account = v->account,
				 .qos = v->qos, .priority = v->priority,
				 .wishes = { v->wish, .nodes_said = v->size[SIZE_NODES], .tasks_said = v->size[SIZE_NTASKS] },
				 .user = v->user ? v->user : self ? self->pw_name : NULL };
	if (!a->user)
		return sl_fail(err, SL_EINVAL, "whoever asks has no name here; expected --user=NAME");
	if (v->mem && v->mem_per_cpu)
		return sl_fail(err, SL_EINVAL, "--mem and --mem-per-cpu: expected one of them");
	return write_size(v, size, room, err) || read_memory("mem", v->mem, &a->memory_per_node, err) ||
		read_memory("mem-per-cpu", v->mem_per_cpu, &a->memory_per_cpu, err) ? -1 : 0;
}

/* -- the answer ---------------------------------------------------------------- */

enum kind { NOW, RESERVED, EXPECTED, NEVER, UNKNOWN };

struct answer {
	const struct values *v;
	struct sl_asked asked;
	const struct sl_bundle *bundle;
	const char *site, *ledger_file;	/* NULL: there is none */
	struct sl_ledger *ledger;
	struct sl_foreseen foreseen;
	struct sl_report report;	/* what is decided, and on what */
	enum kind kind;
	int64_t start;			/* of the first three */
	uint32_t partition;
	struct sl_range places;
	bool native;
	bool hidden;			/* other users' jobs are */
	const char *why, *text;		/* why it does not start now; "" where nothing is said */
};

static void take_place(struct answer *a, enum kind kind, int64_t start, uint32_t partition, bool native, struct sl_range places)
{
	a->kind = kind;
	a->start = start;
	a->partition = partition;
	a->native = native;
	a->places = places;
}

/* What the plan says of the job. */
static void find_answer(struct answer *a)
{
	const struct sl_plan_image *p = a->report.plan;
	uint32_t id = a->asked.id;

	a->kind = UNKNOWN;
	for (uint32_t i = 0; i < p->pending.rows; i++)
		if (p->pending.job[i] == id) {
			uint32_t why = p->pending.why[i];

			a->kind = why == SL_WHY_NEVER || why == SL_WHY_PARTITION ? NEVER : UNKNOWN;
			a->why = sl_why_word(why);
			a->text = sl_image_str(&p->image, p->pending.text[i]);
		}
	for (uint32_t i = 0; i < p->forecast.rows; i++)	/* without a partition: what a policy tells users */
		if (p->forecast.job[i] == id && p->forecast.partition[i] != SL_NONE)
			take_place(a, EXPECTED, p->forecast.start_time[i], p->forecast.partition[i], p->forecast.native[i],
				   p->forecast.places[i]);
	for (uint32_t i = 0; i < p->reserve.rows; i++)
		if (p->reserve.job[i] == id)
			take_place(a, RESERVED, p->reserve.start_time[i], p->reserve.partition[i], p->reserve.native[i],
				   p->reserve.places[i]);
	for (uint32_t i = 0; i < p->start.rows; i++)
		if (p->start.job[i] == id)
			take_place(a, NOW, a->report.snap->meta.now[0], p->start.partition[i], p->start.native[i],
				   p->start.places[i]);
}

/* Does it start some time, and not now?  Then a forecast says more than the plan, which rests on walltimes. */
static bool has_to_wait(const struct answer *a)
{
	return a->kind == RESERVED || a->kind == EXPECTED || a->kind == UNKNOWN;
}

/* True if slurmctld hides other users' jobs from whoever asks: the picture of the cluster lacks them. */
static bool sees_only_own(const struct values *v)
{
	char words[200];

	if (v->snapshot || !geteuid() || sl_statedir_private(words, sizeof(words)))
		return false;
	return strcasestr(words, "jobs") || strcasestr(words, "mcs") || strcasestr(words, "all");
}

static void foresee(struct answer *a)
{
	const struct values *v = a->v;
	struct sl_foresee ask = { .site = a->site, .policy = a->site ? NULL : v->policy, .path = v->path, .ledger = a->ledger_file,
				  .calibration = v->calibration, .job = a->asked.id, .seconds = v->seconds };

	if (!v->seconds || !has_to_wait(a))
		return;
	if (a->hidden)
		snprintf(a->foreseen.why, sizeof(a->foreseen.why), "PrivateData hides the jobs of others, who may be ahead");
	else
		sl_foresee(a->report.snap, &ask, &a->foreseen);
}

static const char *partition_name(const struct answer *a)
{
	return sl_snapshot_str(a->report.snap, a->report.snap->partition.name[a->partition]);
}

static void add_gres(const struct answer *a, struct sl_range gres, struct sl_text_table *t)
{
	const struct sl_plan_place_gres_view *v = &a->report.plan->place_gres;
	const struct sl_snapshot *snap = a->report.snap;
	char text[200] = "";
	size_t n = 0;

	for (uint32_t i = gres.first; i < gres.first + gres.count && n < sizeof(text); i++)
		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%s:%u", n ? "," : "",
				       sl_snapshot_str(snap, snap->gres_kind.key[v->kind[i]]), v->count[i]);
	sl_text_table_add(t, text);
}

static int print_places(const struct answer *a)
{
	const struct sl_plan_place_view *v = &a->report.plan->place;
	struct sl_text_table *t = sl_text_table_create("NODE,>CORES,>MIB,GRES");
	int rc;

	for (uint32_t i = a->places.first; t && i < a->places.first + a->places.count; i++) {
		sl_text_table_add(t, sl_snapshot_str(a->report.snap, a->report.snap->node.name[v->node[i]]));
		sl_text_table_addf(t, "%u", v->cores[i]);
		sl_text_table_addf(t, "%lld", (long long) v->memory[i]);
		add_gres(a, v->gres[i], t);
	}
	rc = t ? sl_text_table_print(t, 2, stdout) : -1;
	sl_text_table_destroy(t);
	return rc;
}

static int print_place(const struct answer *a)
{
	char *nodes = sl_report_nodelist(&a->report, a->places), at[SL_TEXT_SIZE], in[SL_TEXT_SIZE];

	if (!nodes)
		return -1;
	if (a->kind == NOW)
		printf("starts now");
	else
		printf("%s at %s, in %s,", a->kind == RESERVED ? "gets a reservation: starts" : "may start",
		       sl_text_time(at, a->start), sl_text_duration(in, a->start - a->report.snap->meta.now[0]));
	printf(" in partition %s on %s%s\n", partition_name(a), nodes, a->native ? ", or elsewhere: Slurm's select picks the nodes" : "");
	free(nodes);
	return a->places.count ? print_places(a) : 0;
}

static void print_forecast(const struct answer *a)
{
	const struct sl_foreseen *f = &a->foreseen;

	if (f->when.confidence) {
		fputs("expected ", stdout);
		sl_when_interval(&f->when, a->report.snap->meta.now[0], stdout);
		puts(f->calibrated ? "" : "; not calibrated: of trials, not of jobs");
	} else if (*f->why) {
		printf("no interval: %s\n", f->why);
	}
}

static int print_text(const struct answer *a)
{
	const struct sl_asked *job = &a->asked;
	bool memory = a->report.snap->meta.select_flags[0] & SL_SELECT_MEMORY;

	if (a->kind <= EXPECTED && print_place(a))
		return -1;
	if (a->kind == NEVER)
		printf("never starts as things are: %s%s%s\n", a->why, *a->text ? ": " : "", a->text);
	else if (a->kind == UNKNOWN)
		printf("does not start now, and when is not known: %s%s%s\n", *a->why ? a->why : "nothing is said of it",
		       *a->text ? ": " : "", a->text);
	else if (a->kind != NOW && *a->why)
		printf("not now: %s%s%s\n", a->why, *a->text ? ": " : "", a->text);
	print_forecast(a);
	printf("as a job of user %s, account %s, QOS %s", job->user, *job->account ? job->account : "(not known)",
	       *job->qos ? job->qos : "(not known)");
	if (job->like)
		printf(", with the priority of job %u\n", job->like);
	else
		printf("%s\n", a->v->priority ? "" : ", behind all others: what priority Slurm would give it is not known");
	if (memory && !job->memory_per_node && !job->memory_per_cpu)
		puts("with all memory of its nodes: --mem or --mem-per-cpu says less, and so may defaults of slurm.conf");
	return 0;
}

static void put_time(struct sl_json *j, const char *key, int64_t time)
{
	if (time)
		sl_json_put_int(j, key, time);
}

static void put_forecast(const struct answer *a, struct sl_json *j)
{
	const struct sl_standing *w = &a->foreseen.when;

	if (w->confidence) {
		sl_json_key(j, "forecast");
		sl_json_begin_object(j);
		put_time(j, "not_before", w->low);
		put_time(j, "likely", w->likely);
		put_time(j, "not_after", w->high);
		sl_json_put_real(j, "confidence", w->confidence);
		sl_json_put_bool(j, "calibrated", a->foreseen.calibrated);
		sl_json_end_object(j);
	} else if (*a->foreseen.why) {
		sl_json_put_str(j, "no_forecast", a->foreseen.why);
	}
}

static int print_json(const struct answer *a, struct sl_error *err)
{
	static const char *const word[] = { "now", "reserved", "expected", "never", "unknown" };
	struct sl_json *j = sl_json_create(stdout, err);
	char *nodes = NULL;
	int rc;

	if (!j)
		return -1;
	sl_json_begin_object(j);
	sl_json_put_int(j, "now", a->report.snap->meta.now[0]);
	sl_json_put_str(j, "answer", word[a->kind]);
	if (a->kind <= EXPECTED) {
		nodes = sl_report_nodelist(&a->report, a->places);
		sl_json_put_int(j, "start_time", a->start);
		sl_json_put_int(j, "in_s", a->start - a->report.snap->meta.now[0]);
		sl_json_put_str(j, "partition", partition_name(a));
		sl_json_put_str(j, "nodelist", nodes);
		sl_json_put_bool(j, "native", a->native);
		sl_report_put_places(&a->report, j, a->places);
	}
	put_forecast(a, j);
	sl_json_put_str(j, "why", a->why);
	sl_json_put_str(j, "text", a->text);
	sl_json_put_str(j, "user", a->asked.user);
	sl_json_put_str(j, "account", a->asked.account);
	sl_json_put_str(j, "qos", a->asked.qos);
	sl_json_put_int(j, "priority", a->asked.priority);
	sl_json_put_int(j, "priority_of", a->asked.like);
	sl_json_end_object(j);
	sl_json_end_line(j);
	rc = sl_json_finish(j, NULL, NULL, err);
	sl_json_destroy(j);
	free(nodes);
	return rc;
}

static int print(struct answer *a, struct sl_error *err)
{
	if (a->v->json)
		return print_json(a, err);
	return print_text(a) ? sl_fail(err, SL_ENOMEM, "willrun: out of memory") : 0;
}

/* -- the decision ----------------------------------------------------------------- */

static int decide(struct answer *a, const struct sl_snapshot *snap, struct sl_error *err)
{
	struct sl_decision d = { .forecasts = UINT32_MAX, .forecast_us = FORECAST_US };
	struct sl_limits limits = { .budget_us = SL_EXPLAIN_BUDGET_US };
	struct sl_usage_provider usage;
	struct sl_error refused;
	int rc = -1;

	if (a->ledger) {
		usage = sl_usage_provider(sl_ledger_usage(a->ledger));
		d.usage = &usage;
		d.history = sl_history_create(sl_ledger_load_history, a->ledger, err);
	}
	if (!a->ledger == !d.history && !sl_decide(a->bundle, snap, &limits, sl_clock_us(), &d, err)) {
		if (d.policy.code || d.check.code) {
			*err = d.policy.code ? d.policy : d.check;
			sl_tool_trace(d.trace, stderr);
		} else {
			if (sl_decision_faultless(&d, &refused))
				fprintf(stderr, "%s\n", refused.text);
			a->report = (struct sl_report) { .snap = snap, .plan = &d.plan };
			find_answer(a);
			foresee(a);
			rc = print(a, err);
		}
	}
	sl_history_destroy(d.history);
	sl_decision_clear(&d);
	return rc;
}

static int look(const struct sl_snapshot *snap, void *arg, struct sl_error *err)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, err);
	struct answer *a = arg;
	struct sl_snapshot with;
	const void *bytes;
	size_t size;
	int rc = -1;

	if (!b || sl_asked_add(&a->asked, snap, b, err))
		goto error;
	if (!a->asked.id) {
		a->report.snap = snap;
		a->kind = NEVER;
		a->why = sl_why_word(SL_WHY_PARTITION);
		a->text = a->asked.why;
		rc = print(a, err);
	} else if (!sl_builder_finish(b, &bytes, &size, err) && !sl_snapshot_open(&with, bytes, size, err)) {
		rc = decide(a, &with, err);
	}
error:
	sl_builder_destroy(b);
	return rc;
}

/* The cluster's own ledger and site file, where none are named. */
static int ask(struct answer *a, struct sl_error *err)
{
	const struct values *v = a->v;
	char dir[PATH_MAX] = "", file[PATH_MAX + 16], *site = NULL, *trace = NULL;
	struct sl_bundle *bundle = NULL;
	int rc = -1;

	if (!v->snapshot && sl_statedir_find(v->dir, dir, sizeof(dir), err))
		return -1;
	if (v->site || !v->policy)
		site = v->site ? strdup(v->site) : *dir ? sl_explain_site(dir) : NULL;
	if (site || v->policy)
		a->bundle = bundle = sl_bundle_load(&(struct sl_bundle_source) { .policy = v->policy, .site = site, .path = v->path },
						    NULL, &trace, err);
	else
		sl_fail(err, SL_ENOENT, "nothing says which policies decide: expected --site or --policy");
	snprintf(file, sizeof(file), "%s/%s", dir, SL_LEDGER_FILE);
	a->site = site;
	a->hidden = sees_only_own(v);
	if (v->ledger || (*dir && sl_ledger_available() && !access(file, R_OK)))
		a->ledger_file = v->ledger ? v->ledger : file;
	if (bundle && a->ledger_file)
		a->ledger = sl_ledger_open(a->ledger_file, SL_LEDGER_READ, err);
	if (bundle && (a->ledger || !v->ledger))
		rc = sl_explain_snapshot(v->snapshot, look, a, err);
	if (rc)
		sl_tool_trace(trace, stderr);
	sl_ledger_close(a->ledger);
	sl_bundle_destroy(bundle);
	free(trace);
	free(site);
	return rc;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct answer a = { .why = "", .text = "", .foreseen = { .why = "" } };
	char size[SIZES * 256];
	struct values v;
	struct sl_error err = { 0 };
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &status) < 0)
		return status;
	a.v = &v;
	if (read_request(&v, &a.asked, size, sizeof(size), &err))
		return sl_tool_usage(verb, "%s", err.text);
	if (ask(&a, &err))
		return a.asked.misnamed ? sl_tool_usage(verb, "%s", err.text) : sl_tool_fail(&err);
	return sl_tool_end(a.kind <= EXPECTED ? SL_EXIT_FINE : SL_EXIT_FAILED);
}

const struct sl_verb sl_verb_willrun = {
	.name = "willrun",
	.operands = "[OPTION]...",
	.summary = "say when and where a job would start if it were submitted now",
	.options = options,
	.run = run,
};
