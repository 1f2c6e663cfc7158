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

#include "tool/action.h"
#include "tool/explain_order.h"
#include "tool/explain_words.h"
#include "tool/recent.h"
#include "image/journal.h"
#include "image/nodelist.h"
#include "ledger/ledger.h"
#include "base/plain.h"
#include "tool/statedir.h"
#include "tool/member.h"
#include "base/text.h"

#define AHEAD_SHOWN 5

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

/* What is known while lines are read, newest first. */
struct search {
	json_int_t job;
	char digits[24];	/* the job id as text: a line without it says nothing of the job */
	size_t most;
	json_t *events;		/* newest first */
	struct sl_recent recent;	/* for who stands ahead */
	bool failed;
	char *newest;		/* the newest line that there is */
	const char *until;	/* no further back than this line; NULL: to the begin */
};

/* -- reading ------------------------------------------------------------ */

static bool is_event(const json_t *event, const char *what)
{
	return !strcmp(sl_member_text(event, "event"), what);
}

/* Do two events say the same?  Both that it waits, and for the same reason. */
static bool same_answer(const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "event", "why", "text", "by", "note", "beyond", "nodes", "start_time",
					    "partition" };

	if (is_event(a, "start") || is_event(a, "action") || is_event(a, "stop") || is_event(a, "hold"))
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);

		if (x != y && !json_equal(x, y))
			return false;
	}
	return true;
}

/* Put an event, which is older than all before it, at the end of the list. */
static void append(struct search *s, json_t *event)
{
	size_t n = json_array_size(s->events);
	json_t *newer = n ? json_array_get(s->events, n - 1) : NULL;

	if (!event) {
		s->failed = true;
	} else if (newer && same_answer(newer, event)) {
		/* a new file of the journal repeats what the one before said */
		json_object_set(newer, "since", json_object_get(event, "since"));
		json_decref(event);
	} else {
		if (newer)
			json_object_set(event, "until", json_object_get(newer, "since"));
		s->failed |= json_array_append_new(s->events, event) != 0;
	}
}

/* An event made of a record of the cycle. */
static json_t *make_event(const json_t *cycle, json_t *record, const char *what)
{
	json_t *event = json_pack("{s:s, s:I, s:I, s:s}", "event", what, "since", sl_member_integer(cycle, "now"),
				  "sequence", sl_member_integer(cycle, "sequence"), "policy", sl_member_text(cycle, "policy"));

	if (event && json_object_update(event, record)) {
		json_decref(event);
		return NULL;
	}
	if (event)
		json_object_del(event, "job");
	return event;
}

/* All that a list of the line says of the job. */
static void take_all(struct search *s, const json_t *cycle, const char *list, const char *what)
{
	json_t *record;
	size_t i;

	json_array_foreach(json_object_get(cycle, list), i, record)
		if (sl_member_integer(record, "job") == s->job)
			append(s, make_event(cycle, record, what));
}

static json_t *find(const json_t *cycle, const char *list, json_int_t job)
{
	json_t *record;
	size_t i;

	json_array_foreach(json_object_get(cycle, list), i, record)
		if (sl_member_integer(record, "job") == job)
			return record;
	return NULL;
}

/* That it is stopped for another job, with what the plan says of that one's place. */
static void take_stop(struct search *s, const json_t *cycle)
{
	json_t *stop = find(cycle, "stopped", s->job), *event = stop ? make_event(cycle, stop, "stop") : NULL;
	json_t *place = stop ? find(cycle, "held", sl_member_integer(stop, "preemptor")) : NULL;

	if (event && place)
		json_object_set(event, "because", json_object_get(place, "because"));
	if (stop)
		append(s, event);
}

/* That it waits: why, and with a reservation since when and where, are one event. */
static void take_wait(struct search *s, const json_t *cycle)
{
	json_t *reserved = find(cycle, "reserved", s->job), *pending = find(cycle, "pending", s->job), *event;

	if (!reserved && !pending)
		return;
	event = make_event(cycle, reserved ? reserved : pending, "wait");
	if (event && reserved && pending) {
		json_object_update_missing(event, pending);
		json_object_del(event, "job");
	}
	append(s, event);
}

static int visit(const char *line, size_t length, void *arg)
{
	struct search *s = arg;
	json_t *cycle;

	if (s->until && strlen(s->until) == length && !memcmp(line, s->until, length))
		return 1;
	if (!s->newest && !(s->newest = strndup(line, length)))
		s->failed = true;
	if (!memmem(line, length, s->digits, strlen(s->digits)))
		return 0;
	cycle = json_loadb(line, length, 0, NULL);
	if (!cycle)
		return 0;	/* torn by a crash */
	/* what comes later in a cycle stands first */
	take_all(s, cycle, "gone", "gone");
	take_all(s, cycle, "actions", "action");
	take_stop(s, cycle);
	take_all(s, cycle, "held", "hold");
	take_wait(s, cycle);
	take_all(s, cycle, "started", "start");
	json_decref(cycle);
	/* one more than shown: when the last one began is known then */
	return s->failed || (s->most && json_array_size(s->events) > s->most);
}

/* -- who stands ahead --------------------------------------------------- */

static int add_name(const char *name, void *set)
{
	return json_object_set_new(set, name, json_true());
}

static int is_in(const char *name, void *set)
{
	return json_object_get(set, name) != NULL;
}

/* The nodes of all partitions in which the job waits, as a set; NULL where that is not known. */
static json_t *own_nodes(const struct search *s, const json_t *event)
{
	char *names = strdup(sl_member_text(event, "partition")), *save = NULL;
	json_t *set = names && *names && s->recent.partitions ? json_object() : NULL;

	for (char *name = set ? strtok_r(names, ",", &save) : NULL; name; name = strtok_r(NULL, ",", &save))
		if (sl_nodelist_split(sl_member_text(s->recent.partitions, name), add_name, set, NULL)) {
			json_decref(set);
			set = NULL;
			break;
		}
	free(names);
	return set;
}

/*
 * The jobs with a reservation that begins before this job's expected start, on nodes that
 * it could have.  A reservation whose time has passed is nobody's any more.
 */
static json_t *jobs_ahead(struct search *s, const json_t *event)
{
	json_int_t own = sl_member_integer(event, "start_time"), when;
	json_t *ahead = json_array(), *nodes = own_nodes(s, event), *record;
	const char *key;
	size_t at;

	json_object_foreach(s->recent.waiting, key, record) {
		when = sl_member_integer(record, "start_time");
		if (when < s->recent.now || sl_member_integer(record, "job") == s->job || (own && when > own))
			continue;
		if (nodes && !sl_nodelist_split(sl_member_text(record, "nodes"), is_in, nodes, NULL))
			continue;
		for (at = 0; at < json_array_size(ahead); at++)
			if (sl_member_integer(json_array_get(ahead, at), "start_time") > when)
				break;
		json_array_insert_new(ahead, at, json_pack("{s:I, s:I}", "job", sl_member_integer(record, "job"),
							   "start_time", when));
	}
	json_decref(nodes);
	return ahead;
}

/* Add to the newest event, if the job waits, who stands ahead of it. */
static int add_ahead(struct search *s, const char *dir, struct sl_error *err)
{
	json_t *event = json_array_get(s->events, 0);

	if (!is_event(event, "wait"))
		return 0;
	if (sl_recent_read(&s->recent, dir, err))
		return -1;
	return json_object_set_new(event, "ahead", jobs_ahead(s, event));
}

/* -- printing ----------------------------------------------------------- */

static void print_ahead(const json_t *event)
{
	json_t *ahead = json_object_get(event, "ahead"), *job;
	size_t i, n = json_array_size(ahead);
	char at[SL_TEXT_SIZE];

	if (!n)
		return;
	printf("    ahead of it, with a reservation:");
	json_array_foreach(ahead, i, job) {
		if (i == AHEAD_SHOWN)
			break;
		printf("%s job %lld at %s", i ? "," : "", (long long) sl_member_integer(job, "job"),
		       sl_text_time(at, sl_member_integer(job, "start_time")));
	}
	if (n > AHEAD_SHOWN)
		printf(", and %zu more", n - AHEAD_SHOWN);
	putchar('\n');
}

static void print_what(const json_t *event)
{
	const char *what = sl_member_text(event, "event"), *text = sl_member_text(event, "text");
	bool done = !json_is_false(json_object_get(event, "done"));
	char at[SL_TEXT_SIZE], action[SL_ACTION_TEXT];

	if (!strcmp(what, "start")) {
		printf("%s", done ? "started" : "was to start");
		if (sl_member_integer(event, "shape"))
			printf(" as its alternative %lld", (long long) sl_member_integer(event, "shape"));
		printf(" on %s", sl_member_text(event, "nodes"));
		if (sl_member_integer(event, "cores"))
			printf(" (%lld core%s)", (long long) sl_member_integer(event, "cores"),
			       sl_member_integer(event, "cores") == 1 ? "" : "s");
		if (json_is_true(json_object_get(event, "native")))
			printf(" or elsewhere: Slurm's select picks the nodes");
		sl_explain_loan(event);
	} else if (!strcmp(what, "wait")) {
		printf("waits%s%s", *sl_member_text(event, "why") ? ": " : "", sl_member_text(event, "why"));
	} else if (!strcmp(what, "stop") || !strcmp(what, "hold")) {
		sl_explain_stop(event, done);
	} else if (!strcmp(what, "gone")) {
		printf("left the queue, not started by the scheduler: no longer among those that may start (cancelled, held,"
		       " changed, dependent or over a limit: squeue says which)");
	} else {
		printf("%s%s", sl_action_text(action, sl_member_text(event, "verb"), sl_member_integer(event, "number")),
		       done ? "" : " failed");
		if (*sl_member_text(event, "why"))
			printf(" (%s)", sl_member_text(event, "why"));
	}
	if (*text) {
		char *copy = strdup(text);

		printf(": %s", copy ? sl_plain(copy) : "");
		free(copy);
	}
	if (!strcmp(what, "wait") && sl_member_integer(event, "start_time"))
		printf("; expected to start at %s%s%s", sl_text_time(at, sl_member_integer(event, "start_time")),
		       *sl_member_text(event, "nodes") ? " on " : "", sl_member_text(event, "nodes"));
}

static void print_plain(const char *what, const char *text)
{
	char *copy = strdup(text);

	printf("    %s%s\n", what, copy ? sl_plain(copy) : "");
	free(copy);
}

static void print_event(const json_t *event)
{
	char since[SL_TEXT_SIZE], until[SL_TEXT_SIZE];
	const char *by = sl_member_text(event, "by"), *note = sl_member_text(event, "note"),
		*beyond = sl_member_text(event, "beyond");

	sl_text_time(since, sl_member_integer(event, "since"));
	sl_text_time(until, sl_member_integer(event, "until"));
	printf("%s%s%s  ", since, json_object_get(event, "until") ? " to " : "", json_object_get(event, "until") ? until : "");
	print_what(event);
	printf("  [%s]\n", *by ? by : sl_member_text(event, "policy"));
	if (*note)
		print_plain("the alternatives in its comment are ignored: ", note);
	if (*beyond)
		print_plain("", beyond);
	print_ahead(event);
}

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
	if (!event || !is_event(event, "wait"))
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
static void find_order(struct look *l, const struct search *s, const char *dir)
{
	json_t *event = json_array_get(s->events, 0);
	char file[PATH_MAX + 16], *site;
	struct sl_explain_ask ask;
	struct sl_error err;

	begin_look(l, l->v, s->job, event, dir);
	if (event && !is_event(event, "wait") && !is_event(event, "gone"))
		return;
	site = l->v->site ? strdup(l->v->site) : sl_explain_site(dir);
	ask = (struct sl_explain_ask) { .site = site, .path = l->v->path, .ledger = find_ledger(l->v, dir, file),
		.job = l->when.job, .when = &l->when };
	/* another cluster's directory says nothing of this one */
	if ((site || !l->v->dir) && sl_explain_order(&ask, &l->answer, &err) && event && is_event(event, "wait")) {
		sl_fail_in(&err, "the order was not computed");
		sl_tool_fail(&err);
	}
	if (!l->answer.line && event && is_event(event, "wait")) {
		l->when.now = s->recent.now;
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

static int print_json(const struct search *s, const struct look *l)
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

static int print(struct search *s, const char *dir, const struct look *l)
{
	json_t *event;
	struct sl_error err;
	size_t i;

	if (!json_array_size(s->events) && !l->answer.line) {
		sl_fail(&err, SL_ENOENT, "the journal in %s does not know job %lld; why Slurm itself "
			"holds a job back is in squeue", dir, (long long) s->job);
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
		print_event(event);
	if (l->answer.text)
		fputs(l->answer.text, stdout);
	return sl_tool_end(SL_EXIT_FINE);
}

/* -- from now on ----------------------------------------------------------- */

#define WATCH_S 2	/* between two looks */

static bool is_over(const json_t *event)
{
	return is_event(event, "gone") || (is_event(event, "start") && !json_is_false(json_object_get(event, "done")));
}

/* Read what was written since the last look.  0, or -1 with *err. */
static int look_again(struct search *s, const char *dir, struct sl_error *err)
{
	char *seen = s->newest;
	int rc;

	s->until = seen;
	s->newest = NULL;
	s->most = 0;
	json_array_clear(s->events);
	rc = sl_journal_read(dir, visit, s, err);
	if (!rc && s->failed)
		rc = sl_fail(err, SL_ENOMEM, "explain: out of memory");
	if (s->newest)
		free(seen);
	else
		s->newest = seen;
	return rc;
}

/* Print what is decided until the job has started or is gone, or nobody reads it any more. */
static int watch(struct search *s, const char *dir)
{
	json_t *last = json_incref(json_array_get(s->events, 0)), *event;
	struct sl_error err;
	int rc = 0;

	while (!rc && !is_over(last) && !fflush(stdout)) {
		sleep(WATCH_S);
		rc = look_again(s, dir, &err);
		for (size_t i = json_array_size(s->events); !rc && i > 0; i--) {
			event = json_array_get(s->events, i - 1);
			if (last && same_answer(last, event))
				continue;	/* the first line of a new file says it again */
			print_event(event);
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

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct search s = { 0 };
	char dir[PATH_MAX];
	struct sl_error err;
	struct values v;
	struct look l = { .v = &v };
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 1, 1, &status) < 0)
		return status;
	if (read_id(argv[0], &s.job))
		return sl_tool_usage(verb, "\"%s\" is no job id: expected a number, as squeue -o %%A prints it",
				     argv[0]);
	if (v.watch && (v.json || v.snapshot))
		return sl_tool_usage(verb, "--watch goes with neither --json nor --snapshot");
	if (v.sooner && (v.json || v.watch))
		return sl_tool_usage(verb, "--sooner goes with neither --watch nor --json");
	if (v.snapshot || v.sooner)
		return order_only(&v, s.job);
	if (sl_statedir_find_journal(v.dir, dir, sizeof(dir), &err))
		return err.code == SL_ETRUST ? order_alone(&v, s.job, &err) : sl_tool_fail(&err);
	s.most = (size_t) v.events;
	snprintf(s.digits, sizeof(s.digits), "%lld", (long long) s.job);
	s.events = json_array();
	sl_fail(&err, SL_ENOMEM, "explain: out of memory");
	if (!s.events || sl_recent_open(&s.recent, &err) || sl_journal_read(dir, visit, &s, &err) || s.failed ||
	    add_ahead(&s, dir, &err))
		status = sl_tool_fail(&err);
	else if (v.watch && !json_array_size(s.events)) {
		fprintf(stderr, "nothing was decided about job %lld yet\n", (long long) s.job);
		status = watch(&s, dir);
	} else {
		find_order(&l, &s, dir);
		status = print(&s, dir, &l);
		sl_explained_free(&l.answer);
		if (v.watch && status == SL_EXIT_FINE)
			status = watch(&s, dir);
	}
	free(s.newest);
	sl_recent_close(&s.recent);
	json_decref(s.events);
	return status;
}

const struct sl_verb sl_verb_explain = {
	.name = "explain",
	.operands = "[OPTION]... JOBID",
	.summary = "print what was decided about a job, when, by whom and why",
	.options = options,
	.run = run,
};
