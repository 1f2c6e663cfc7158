/* SPDX-License-Identifier: MIT */
/*
 * cmd_explain.c - schedlua explain: what happened to a job, and why, from the
 * decision journal (image/journal.h).
 *
 * The journal is read from its newest line back.  It says what changed: the newest
 * line that names a job is what holds.
 */
#include "tool/tool.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "tool/explain_order.h"
#include "tool/past.h"
#include "tool/recent.h"
#include "ledger/ledger.h"
#include "base/plain.h"
#include "tool/statedir.h"
#include "tool/member.h"
#include "base/text.h"

struct values {
	const char *dir, *site, *path, *snapshot, *ledger;
	int64_t events;
	bool json, watch, sooner;
};

static const struct sl_option options[] = {
	SL_DIR_OPTION(values),
	{ .name = "events", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, events), .argument = "N",
	  .min = 0, .max = 1000000, .standard = "20", .doc = "how many events to go back; 0: all of them" },
	{ .name = "snapshot", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, snapshot), .argument = "FILE",
	  .doc = "print only the order, computed from this capture" },
	{ .name = "site", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, site), .argument = "FILE",
	  .doc = "the site file that makes the order; default: the one that decides" },
	{ .name = "path", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, path), .argument = "DIR[:DIR]...",
	  .doc = "directories to search for its policies before the bundled ones" },
	{ .name = "ledger", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, ledger), .argument = "FILE",
	  .doc = "the ledger that knows what was used (ledger.db); default: the cluster's, where it may be read; with --snapshot none" },
	{ .name = "watch", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, watch),
	  .doc = "go on, and print what is decided about the job from now on, until it starts or leaves the queue" },
	{ .name = "sooner", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, sooner),
	  .doc = "say instead which change of its request would start it sooner" },
	SL_JSON_OPTION(values),
	{ 0 }
};

/* -- the verb ----------------------------------------------------------- */

/* "4711", or a task of an array: "4711_3". */
static int read_id(const char *text, json_int_t *job)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end == '_' && end[1])
		end += 1 + strspn(end + 1, "0123456789");
	if (end == text || *end || n <= 0 || n > UINT32_MAX)
		return -1;
	*job = n;
	return 0;
}

/* -- the order ----------------------------------------------------------- */

/* What --ledger names, or the cluster's own, whose name goes to *file*; NULL: there is none to read. */
static const char *find_ledger(const struct values *v, const char *dir, char file[PATH_MAX + 16])
{
	snprintf(file, PATH_MAX + 16, "%s/%s", dir, SL_LEDGER_FILE);
	if (v->ledger)
		return v->ledger;
	return *dir && !v->snapshot && sl_ledger_available() && !access(file, R_OK) ? file : NULL;
}

/* What squeue says the job depends on; "" where it says nothing. */
static void ask_dependency(json_int_t job, char *text, size_t size)
{
	char command[80];
	FILE *in;

	*text = 0;
	snprintf(command, sizeof(command), "squeue -h -j %lld -o %%E 2>/dev/null", (long long) job);
	in = popen(command, "re");
	if (!in)
		return;
	if (!fgets(text, (int) size, in))
		*text = 0;
	text[strcspn(text, "\n")] = 0;
	if (!strcmp(text, "(null)"))
		*text = 0;
	pclose(in);
}

/* What the line is made from, and the answer. */
struct look {
	const struct values *v;
	struct sl_when when;
	char stock[32], dependency[500];
	struct sl_explained answer;
};

static void begin_look(struct look *l, const struct values *v, json_int_t job, const json_t *event, const char *dir)
{
	*l = (struct look) { .v = v, .when = { .job = (uint32_t) job, .why = "", .text = "", .nodes = "",
		.stock = l->stock, .dependency = l->dependency, .now = time(NULL), .standing = { .ahead = -1 } } };
	if (!v->snapshot) {
		sl_statedir_shadow(v->dir, dir, l->stock, sizeof(l->stock));
		if (!v->dir)
			ask_dependency(job, l->dependency, sizeof(l->dependency));
	}
	if (!event || !sl_past_is(event, "wait"))
		return;
	l->when.why = sl_member_text(event, "why");
	if (!*l->when.why)
		l->when.why = "resources";	/* it has a reservation, and nothing else was said */
	l->when.text = sl_member_text(event, "text");
	l->when.nodes = sl_member_text(event, "nodes");
	l->when.start_s = sl_member_integer(event, "start_time");
}

/*
 * The line for users and where a waiting job stands, computed now.  Why that cannot be done goes to stderr, unless
 * nothing says which site file decides: what the journal says is a line, too.
 */
static void find_order(struct look *l, const struct sl_past *s, const char *dir)
{
	json_t *event = json_array_get(s->events, 0);
	char file[PATH_MAX + 16], *site;
	struct sl_explain_ask ask;
	struct sl_error err;

	begin_look(l, l->v, s->job, event, dir);
	if (event && !sl_past_is(event, "wait") && !sl_past_is(event, "gone"))
		return;
	site = l->v->site ? strdup(l->v->site) : sl_explain_site(dir);
	ask = (struct sl_explain_ask) { .site = site, .path = l->v->path, .ledger = find_ledger(l->v, dir, file),
		.job = l->when.job, .when = &l->when };
	/* another cluster's directory says nothing of this one */
	if ((site || !l->v->dir) && sl_explain_order(&ask, &l->answer, &err) && event && sl_past_is(event, "wait")) {
		sl_fail_in(&err, "the order was not computed");
		sl_tool_fail(&err);
	}
	if (!l->answer.line && event && sl_past_is(event, "wait")) {
		l->when.now = s->recent->now;
		l->answer.line = sl_when_line(&l->when, NULL);
	}
	free(site);
}

static int print_order(const struct sl_explained *a, json_int_t job, bool json)
{
	json_t *o;

	if (!json) {
		printf("%s%s", a->line ? a->line : "", a->text ? a->text : "");
	} else {
		o = json_pack("{s:I, s:s}", "job", job, "order", a->text ? a->text : "");
		if (o && a->line)
			json_object_set_new(o, "when", json_stringn(a->line, strcspn(a->line, "\n")));
		if (o && !json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII))
			putchar('\n');
		json_decref(o);
	}
	return sl_tool_end(SL_EXIT_FINE);
}

/* --snapshot: nothing but the line and the order. */
static int order_only(const struct values *v, json_int_t job)
{
	char dir[PATH_MAX] = "", file[PATH_MAX + 16], *site;
	struct look l = { 0 };
	struct sl_error err = { 0 };
	struct sl_explain_ask ask;
	int status;

	/* with --site and without a directory, it goes without the ledger */
	if ((!v->site || !v->snapshot) && sl_statedir_find(v->dir, dir, sizeof(dir), &err))
		*dir = 0;
	begin_look(&l, v, job, NULL, dir);
	site = v->site ? strdup(v->site) : *dir ? sl_explain_site(dir) : NULL;
	ask = (struct sl_explain_ask) { .site = site, .path = v->path, .snapshot = v->snapshot, .job = (uint32_t) job,
		.ledger = find_ledger(v, dir, file), .sooner = v->sooner, .when = v->sooner ? NULL : &l.when };
	if (!site && (v->sooner || v->snapshot || v->dir))
		sl_fail(&err, SL_ENOENT, "explain: nothing says which site file decides; expected --site=FILE");
	else if (!sl_explain_order(&ask, &l.answer, &err))
		err.code = SL_OK;
	if (!err.code) {
		status = print_order(&l.answer, job, v->json);
	} else {
		if (l.answer.line && !v->json)
			fputs(l.answer.line, stdout);
		status = sl_tool_fail(&err);
		sl_tool_trace(l.answer.trace, stderr);
	}
	free(site);
	sl_explained_free(&l.answer);
	return status;
}

/* Nodes that are kept for the job are idle until then, as far as nobody is backfilled. */
static void print_idle(const struct look *l)
{
	char at[SL_TEXT_SIZE];

	if (l->answer.idle_core_s < 3600)
		return;
	printf("    %s is reserved for it from %s: %.0f core-hours are idle before that, less what is backfilled\n",
	       l->when.nodes, sl_text_clock(at, l->when.start_s, l->when.now), l->answer.idle_core_s / 3600);
}

static int print_json(const struct sl_past *s, const struct look *l)
{
	json_t *o = json_pack("{s:I, s:O}", "job", s->job, "events", s->events);

	if (o && l->answer.line)
		json_object_set_new(o, "when", json_stringn(l->answer.line, strcspn(l->answer.line, "\n")));
	if (o && l->answer.idle_core_s >= 1)
		json_object_set_new(o, "idle_core_s", json_real(l->answer.idle_core_s));
	if (o && *l->stock)
		json_object_set_new(o, "shadow_of", json_string(l->stock));
	if (o && l->answer.text)
		json_object_set_new(o, "order", json_string(l->answer.text));
	if (o && !json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII))
		putchar('\n');
	json_decref(o);
	return sl_tool_end(SL_EXIT_FINE);
}

static int print(struct sl_past *s, const char *dir, const struct look *l)
{
	json_t *event;
	struct sl_error err;
	size_t i;

	if (!json_array_size(s->events) && !l->answer.line) {
		sl_fail(&err, SL_ENOENT, "the journal in %s does not know job %lld: there is no such "
			"job, or it ended before the journal begins, or Slurm itself holds it back (squeue says why)", dir,
			(long long) s->job);
		return sl_tool_fail(&err);
	}
	if (s->most && json_array_size(s->events) > s->most)
		json_array_remove(s->events, s->most);
	if (l->v->json)
		return print_json(s, l);
	if (l->answer.line)
		fputs(l->answer.line, stdout);
	print_idle(l);
	if (*l->stock && json_array_size(s->events))
		printf("shadow mode: Slurm's %s decides; what follows is what the policies would have done\n", l->stock);
	json_array_foreach(s->events, i, event)
		sl_past_print(event, stdout);
	if (l->answer.text)
		fputs(l->answer.text, stdout);
	return sl_tool_end(SL_EXIT_FINE);
}

/* -- from now on ----------------------------------------------------------- */

#define WATCH_S 2	/* between two looks */

static bool is_over(const json_t *event)
{
	return sl_past_is(event, "gone") || (sl_past_is(event, "start") && !json_is_false(json_object_get(event, "done")));
}

/* Print what is decided until the job has started or is gone, or nobody reads it any more. */
static int watch(struct sl_past *s, const char *dir)
{
	json_t *last = json_incref(json_array_get(s->events, 0)), *event;
	struct sl_error err;
	int rc = 0;

	s->most = 0;
	while (!rc && !is_over(last) && !fflush(stdout)) {
		sleep(WATCH_S);
		rc = sl_past_read(s, dir, &err);
		for (size_t i = json_array_size(s->events); !rc && i > 0; i--) {
			event = json_array_get(s->events, i - 1);
			if (last && sl_past_same(last, event))
				continue;	/* the first line of a new file says it again */
			sl_past_print(event, stdout);
			json_decref(last);
			last = json_incref(event);
		}
	}
	json_decref(last);
	return rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

/* The decisions are not for this user to read; what can be computed without them is. */
static int order_alone(const struct values *v, json_int_t job, const struct sl_error *why)
{
	fprintf(stderr, "%s; what can be worked out without them:\n", why->text);
	return order_only(v, job);
}

/* What the journal says, and what is worked out beside it. */
static int explain_past(struct sl_past *s, struct look *l, const char *dir)
{
	const struct values *v = l->v;
	struct sl_error err;
	int status;

	s->most = (size_t) v->events;
	if (sl_past_read(s, dir, &err) || sl_past_add_ahead(s, dir, &err))
		return sl_tool_fail(&err);
	if (v->watch && !json_array_size(s->events)) {
		fprintf(stderr, "nothing was decided about job %lld yet\n", (long long) s->job);
		return watch(s, dir);
	}
	find_order(l, s, dir);
	status = print(s, dir, l);
	sl_explained_free(&l->answer);
	return v->watch && status == SL_EXIT_FINE ? watch(s, dir) : status;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_recent recent;
	struct sl_past s = { 0 };
	json_int_t job;
	char dir[PATH_MAX];
	struct sl_error err;
	struct values v;
	struct look l = { .v = &v };
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 1, 1, &status) < 0)
		return status;
	if (read_id(argv[0], &job))
		return sl_tool_usage(verb, "\"%s\" is no job id: expected a number, as squeue -o %%A prints it",
				     argv[0]);
	if (v.watch && (v.json || v.snapshot))
		return sl_tool_usage(verb, "--watch goes with neither --json nor --snapshot");
	if (v.sooner && (v.json || v.watch))
		return sl_tool_usage(verb, "--sooner goes with neither --watch nor --json");
	if (v.snapshot || v.sooner)
		return order_only(&v, job);
	if (sl_statedir_find_journal(v.dir, dir, sizeof(dir), &err))
		return err.code == SL_ETRUST ? order_alone(&v, job, &err) : sl_tool_fail(&err);
	if (sl_recent_open(&recent, &err) || sl_past_open(&s, job, &recent, &err))
		status = sl_tool_fail(&err);
	else
		status = explain_past(&s, &l, dir);
	sl_past_close(&s);
	sl_recent_close(&recent);
	return status;
}

const struct sl_verb sl_verb_explain = {
	.name = "explain",
	.operands = "[OPTION]... JOBID",
	.summary = "print what was decided about a job, when, by whom and why",
	.options = options,
	.run = run,
};
