/* SPDX-License-Identifier: MIT */
/*
 * cmd_replay_cycles.c - schedlua replay --cycles: each recorded snapshot decided anew,
 * beside what the decision journal says was decided then.
 *
 * The journal says what changed.  What it says up to a cycle, from the line that names
 * every job on, is therefore what held in that cycle.
 */
#include "verbs/cmd_replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/grow.h"
#include "script/decide.h"
#include "image/journal.h"
#include "image/json_out.h"
#include "image/nodelist.h"
#include "tool/progress.h"
#include "base/text.h"
#include "tool/tool.h"
#include "tool/member.h"

#define DEFAULT_BUDGET_S 2.0

/* A line of the journal, what matters of it. */
struct line {
	json_int_t sequence;
	bool full;
	json_t *started;		/* [{job, nodes}] or NULL */
	json_t *reserved;		/* [{job, start_time}] or NULL */
	json_t *over;			/* jobs that have no reservation any more: [number] or NULL */
};

struct journal {
	struct line *line;		/* newest first */
	uint32_t lines, room;
	json_int_t first;		/* sequence of the first snapshot: no need to go further back */
	bool failed;
};

/* What came of one cycle. */
struct cycle {
	int64_t sequence, now;
	bool known;			/* to the journal */
	uint32_t same, reservations_same, reservations_differ;
	json_t *only_recorded, *only_replayed, *elsewhere;
	char *error;			/* of the policy, or NULL */
	char *refused;			/* what the checker refused of the replayed plan, or NULL */
};

struct replay {
	const struct sl_replay_args *v;
	bool kept;			/* files that cannot be read are passed over */
	struct sl_bundle *bundle;
	struct sl_limits limits;
	struct journal journal;
	uint32_t at;			/* lines of the journal not yet told, from the oldest */
	json_t *holds;			/* job -> start time of its reservation, as recorded */
	struct cycle *cycle;
	uint32_t cycles;
};

/* -- the journal ---------------------------------------------------------------- */

/* The named members of each record of a list. */
static json_t *pick_members(const json_t *cycle, const char *list, const char *text, const char *number)
{
	json_t *from = json_object_get(cycle, list), *to = from ? json_array() : NULL, *record, *o;
	size_t i;

	json_array_foreach(from, i, record) {
		o = json_pack("{s:I}", "job", sl_member_integer(record, "job"));
		if (text && json_object_get(record, text))
			json_object_set(o, text, json_object_get(record, text));
		if (number)
			json_object_set_new(o, number, json_integer(sl_member_integer(record, number)));
		json_array_append_new(to, o);
	}
	return to;
}

static void add_jobs(json_t *to, const json_t *cycle, const char *list)
{
	json_t *record;
	size_t i;

	json_array_foreach(json_object_get(cycle, list), i, record)
		json_array_append_new(to, json_integer(sl_member_integer(record, "job")));
}

static int take_record(const char *text, size_t length, void *arg)
{
	struct journal *j = arg;
	json_t *cycle = json_loadb(text, length, 0, NULL);
	struct line *l;

	if (!cycle)
		return 0;	/* torn by a crash */
	if (sl_grow(&j->line, &j->room, j->lines + UINT64_C(1), sizeof(*j->line), NULL)) {
		j->failed = true;
		json_decref(cycle);
		return 1;
	}
	l = &j->line[j->lines++];
	l->sequence = sl_member_integer(cycle, "sequence");
	l->full = json_is_true(json_object_get(cycle, "full"));
	l->started = pick_members(cycle, "started", "nodes", NULL);
	l->reserved = pick_members(cycle, "reserved", NULL, "start_time");
	l->over = json_array();
	add_jobs(l->over, cycle, "gone");
	add_jobs(l->over, cycle, "started");
	add_jobs(l->over, cycle, "pending");
	json_decref(cycle);
	return l->full && l->sequence <= j->first;
}

static void journal_clear(struct journal *j)
{
	for (uint32_t i = 0; i < j->lines; i++) {
		json_decref(j->line[i].started);
		json_decref(j->line[i].reserved);
		json_decref(j->line[i].over);
	}
	free(j->line);
}

static const char *key_of(char key[24], json_int_t job)
{
	snprintf(key, 24, "%lld", (long long) job);
	return key;
}

/* Let the reservations be those after the line. */
static void apply_line(json_t *holds, const struct line *l)
{
	json_t *record;
	char key[24];
	size_t i;

	if (l->full)
		json_object_clear(holds);
	json_array_foreach(l->over, i, record)
		json_object_del(holds, key_of(key, json_integer_value(record)));
	json_array_foreach(l->reserved, i, record)
		json_object_set_new(holds, key_of(key, sl_member_integer(record, "job")),
				    json_integer(sl_member_integer(record, "start_time")));
}

/* Go on to the cycle.  Its own line, or NULL: nothing was started, nothing changed.
 * *known is false before the first line. */
static const struct line *go_to(struct replay *x, json_int_t sequence, bool *known)
{
	const struct line *own = NULL;

	while (x->at && x->journal.line[x->at - 1].sequence <= sequence) {
		const struct line *l = &x->journal.line[--x->at];

		apply_line(x->holds, l);
		own = l->sequence == sequence ? l : NULL;
	}
	*known = x->at < x->journal.lines;
	return own;
}

/* -- one cycle -------------------------------------------------------------------- */

static char *nodes_of(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_range r)
{
	const char **name = calloc((size_t) r.count + 1, sizeof(*name));
	struct sl_error err;
	char *list = NULL;

	for (uint32_t i = 0; name && i < r.count; i++)
		name[i] = sl_snapshot_str(snap, snap->node.name[plan->place.node[r.first + i]]);
	if (name)
		list = sl_nodelist_join(name, r.count, &err);
	free(name);
	return list;
}

/* Which starts of the plan the journal has; those are taken out of *recorded. */
static void compare_starts(struct cycle *c, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
			   json_t *recorded)
{
	for (uint32_t i = 0; i < plan->start.rows; i++) {
		json_int_t job = plan->start.job[i];
		json_t *record = NULL;
		size_t k;

		json_array_foreach(recorded, k, record)
			if (sl_member_integer(record, "job") == job)
				break;
		if (k == json_array_size(recorded)) {
			json_array_append_new(c->only_replayed, json_integer(job));
			continue;
		}
		if (!plan->start.native[i]) {
			const char *there = json_string_value(json_object_get(record, "nodes"));
			char *here = nodes_of(snap, plan, plan->start.places[i]);

			if (here && there && strcmp(here, there))
				json_array_append_new(c->elsewhere, json_integer(job));
			free(here);
		}
		json_array_remove(recorded, k);
		c->same++;
	}
	for (size_t k = 0; k < json_array_size(recorded); k++)
		json_array_append_new(c->only_recorded, json_integer(sl_member_integer(json_array_get(recorded, k), "job")));
}

static void compare_reservations(struct cycle *c, const struct sl_plan_image *plan, const json_t *holds)
{
	uint32_t same = 0, found = 0;
	char key[24];

	for (uint32_t i = 0; i < plan->reserve.rows; i++) {
		json_t *when = json_object_get(holds, key_of(key, plan->reserve.job[i]));

		found += when != NULL;
		same += when && json_integer_value(when) == plan->reserve.start_time[i];
	}
	c->reservations_same = same;
	c->reservations_differ = (uint32_t) json_object_size(holds) - found + plan->reserve.rows - same;
}

static int decide(struct replay *x, struct cycle *c, const struct sl_snapshot *snap, struct sl_error *err)
{
	struct sl_decision d = { 0 };
	struct sl_error refused;
	const struct line *line = go_to(x, snap->meta.sequence[0], &c->known);
	json_t *recorded = line && line->started ? json_copy(line->started) : json_array();
	int rc;

	c->sequence = snap->meta.sequence[0];
	c->now = snap->meta.now[0];
	c->only_recorded = json_array();
	c->only_replayed = json_array();
	c->elsewhere = json_array();
	rc = sl_decide(x->bundle, snap, &x->limits, sl_clock_us(), &d, err);
	if (!rc && !(recorded && c->only_recorded && c->only_replayed && c->elsewhere))
		rc = sl_fail(err, SL_ENOMEM, "replay: out of memory");
	if (!rc && d.policy.code)
		c->error = strdup(d.policy.text);
	if (!rc && sl_decision_faultless(&d, &refused))
		c->refused = strdup(refused.text);
	if (!rc) {
		compare_starts(c, snap, &d.plan, recorded);
		compare_reservations(c, &d.plan, x->holds);
	}
	json_decref(recorded);
	sl_decision_clear(&d);
	return rc;
}

/* Written before an upgrade, or removed since the directory was listed. */
static bool may_pass(const struct replay *x, const struct sl_error *err)
{
	return x->kept && (err->code == SL_EVERSION || err->code == SL_ENOENT);
}

static int decide_file(struct replay *x, const char *path, struct sl_error *err)
{
	struct sl_snapshot snap;
	void *bytes = NULL;
	size_t size;
	int rc = -1;

	if (sl_image_load(&sl_snapshot_schema, path, &bytes, &size, err) < 0)
		return may_pass(x, err) ? 0 : -1;
	if (sl_snapshot_open(&snap, bytes, size, err) < 0)
		sl_fail_in(err, "%s", path);
	else
		rc = decide(x, &x->cycle[x->cycles++], &snap, err);
	free(bytes);
	return rc;
}

/* -- output ------------------------------------------------------------------------ */

struct sums {
	uint32_t refused, differing, unknown, failed;
	uint64_t same, only_recorded, only_replayed, elsewhere, reservations_same, reservations_differ;
};

static bool differs(const struct cycle *c)
{
	return c->known && (json_array_size(c->only_recorded) || json_array_size(c->only_replayed) ||
			    json_array_size(c->elsewhere) || c->reservations_differ);
}

static struct sums add_up(const struct replay *x)
{
	struct sums s = { 0 };

	for (uint32_t i = 0; i < x->cycles; i++) {
		const struct cycle *c = &x->cycle[i];

		s.failed += c->error != NULL;
		s.refused += c->refused != NULL;
		s.unknown += !c->known;
		if (!c->known)
			continue;
		s.differing += differs(c);
		s.same += c->same;
		s.only_recorded += json_array_size(c->only_recorded);
		s.only_replayed += json_array_size(c->only_replayed);
		s.elsewhere += json_array_size(c->elsewhere);
		s.reservations_same += c->reservations_same;
		s.reservations_differ += c->reservations_differ;
	}
	return s;
}

static void put_jobs(struct sl_json *j, const char *key, const json_t *jobs)
{
	sl_json_open_array(j, key);
	for (size_t i = 0; i < json_array_size(jobs); i++)
		sl_json_int(j, json_integer_value(json_array_get(jobs, i)));
	sl_json_end_array(j);
}

static void put_cycle(struct sl_json *j, const struct cycle *c)
{
	sl_json_break(j);
	sl_json_begin_object(j);
	sl_json_put_int(j, "sequence", c->sequence);
	sl_json_put_int(j, "now", c->now);
	sl_json_put_int(j, "same", c->same);
	put_jobs(j, "only_recorded", c->only_recorded);
	put_jobs(j, "only_replayed", c->only_replayed);
	put_jobs(j, "elsewhere", c->elsewhere);
	sl_json_put_int(j, "reservations_same", c->reservations_same);
	sl_json_put_int(j, "reservations_differ", c->reservations_differ);
	if (c->error)
		sl_json_put_str(j, "error", c->error);
	if (c->refused)
		sl_json_put_str(j, "refused", c->refused);
	sl_json_end_object(j);
}

static int print_json(const struct replay *x, const struct sums *s, struct sl_error *err)
{
	struct sl_json *j = sl_json_create(stdout, err);

	if (!j)
		return -1;
	sl_json_begin_object(j);
	sl_json_put_str(j, "policy", sl_bundle_figures(x->bundle)->policy);
	sl_json_put_int(j, "cycles", x->cycles);
	sl_json_put_int(j, "differing", s->differing);
	sl_json_put_int(j, "without_record", s->unknown);
	sl_json_put_int(j, "same_starts", (int64_t) s->same);
	sl_json_put_int(j, "only_recorded", (int64_t) s->only_recorded);
	sl_json_put_int(j, "only_replayed", (int64_t) s->only_replayed);
	sl_json_put_int(j, "elsewhere", (int64_t) s->elsewhere);
	sl_json_put_int(j, "reservations_same", (int64_t) s->reservations_same);
	sl_json_put_int(j, "reservations_differ", (int64_t) s->reservations_differ);
	sl_json_open_array(j, "per_cycle");
	for (uint32_t i = 0; i < x->cycles; i++)
		if (x->cycle[i].known)
			put_cycle(j, &x->cycle[i]);
	sl_json_break(j);
	sl_json_end_array(j);
	sl_json_end_object(j);
	return sl_json_end(j, err);
}

/* "17 18 19 and 4 more" */
static void add_ids(struct sl_text_table *t, const json_t *jobs)
{
	size_t n = json_array_size(jobs), at = 0;
	char text[96] = "";

	for (size_t i = 0; i < n && i < 5; i++)
		at += (size_t) snprintf(text + at, sizeof(text) - at, "%s%lld", i ? " " : "",
					(long long) json_integer_value(json_array_get(jobs, i)));
	if (n > 5)
		snprintf(text + at, sizeof(text) - at, " and %zu more", n - 5);
	sl_text_table_add(t, text);
}

static int print_text(const struct replay *x, const struct sums *s, struct sl_error *err)
{
	struct sl_text_table *t = sl_text_table_create("time,cycle,>same,only recorded,only replayed,elsewhere,"
						       ">reservations that differ");
	char text[SL_TEXT_SIZE];
	uint32_t shown = 0;
	int rc;

	printf("policy        %s\n", sl_bundle_figures(x->bundle)->policy);
	printf("cycles        %" PRIu32 " recorded, %" PRIu32 " of them differ", x->cycles, s->differing);
	if (s->unknown)
		printf("; the journal does not go back to %" PRIu32, s->unknown);
	printf("\nstarts        %" PRIu64 " the same, %" PRIu64 " of them on other nodes; %" PRIu64 " only recorded, %"
	       PRIu64 " only replayed\n", s->same, s->elsewhere, s->only_recorded, s->only_replayed);
	printf("reservations  %" PRIu64 " the same, %" PRIu64 " differ\n", s->reservations_same,
	       s->reservations_differ);
	for (uint32_t i = 0; t && i < x->cycles && shown < x->v->show; i++) {
		const struct cycle *c = &x->cycle[i];

		if (!differs(c))
			continue;
		if (!shown++)
			putchar('\n');
		sl_text_table_add(t, sl_text_time(text, c->now));
		sl_text_table_addf(t, "%" PRId64, c->sequence);
		sl_text_table_addf(t, "%" PRIu32, c->same);
		add_ids(t, c->only_recorded);
		add_ids(t, c->only_replayed);
		add_ids(t, c->elsewhere);
		sl_text_table_addf(t, "%" PRIu32, c->reservations_differ);
	}
	rc = !t ? -1 : shown ? sl_text_table_print(t, 0, stdout) : 0;
	sl_text_table_destroy(t);
	return rc ? sl_fail(err, SL_ENOMEM, "replay: out of memory while printing") : 0;
}

/* What makes the replay fail as a whole, if anything does. */
static int judge(const struct replay *x, const struct sums *s)
{
	if (s->failed)
		fprintf(stderr, "schedlua: the policy failed in %" PRIu32 " of %" PRIu32 " cycles\n", s->failed, x->cycles);
	for (uint32_t i = 0; s->refused && i < x->cycles; i++)
		if (x->cycle[i].refused) {
			fprintf(stderr, "schedlua: in %" PRIu32 " of %" PRIu32 " cycles, first in %" PRId64 ": %s\n", s->refused,
				x->cycles, x->cycle[i].sequence, x->cycle[i].refused);
			break;
		}
	return s->failed || s->refused;
}

/* -- all of them ---------------------------------------------------------------------- */

/* Of the first snapshot that can be read. */
static int first_sequence(struct replay *x, char *const *path, uint32_t paths, struct sl_error *err)
{
	struct sl_snapshot snap;
	void *bytes = NULL;
	size_t size;
	int rc = -1;

	while (sl_image_load(&sl_snapshot_schema, *path, &bytes, &size, err) < 0) {
		if (!may_pass(x, err) || !--paths)
			return -1;
		path++;
	}
	if (!sl_snapshot_open(&snap, bytes, size, err)) {
		x->journal.first = snap.meta.sequence[0];
		rc = 0;
	}
	free(bytes);
	return rc;
}

static int prepare_replay(struct replay *x, char *const *path, uint32_t paths, const char *journal, char **trace,
		   struct sl_error *err)
{
	struct sl_bundle_source source = { .site = x->v->site, .policy = x->v->policy, .path = x->v->sim.path };
	double budget = x->v->budget;

	x->limits.budget_us = (int64_t) llround((budget > 0 ? budget : DEFAULT_BUDGET_S) * 1e6);
	x->bundle = sl_bundle_load(&source, &x->limits, trace, err);
	if (!x->bundle)
		return -1;
	if (budget <= 0 && sl_bundle_figures(x->bundle)->budget_s > 0)
		x->limits.budget_us = (int64_t) llround(sl_bundle_figures(x->bundle)->budget_s * 1e6);
	x->cycle = calloc((size_t) paths + 1, sizeof(*x->cycle));
	x->holds = json_object();
	if (!x->cycle || !x->holds)
		return sl_fail(err, SL_ENOMEM, "replay: out of memory");
	if (first_sequence(x, path, paths, err) < 0 || sl_journal_read(journal, take_record, &x->journal, err) < 0)
		return -1;
	if (x->journal.failed)
		return sl_fail(err, SL_ENOMEM, "replay: out of memory");
	x->at = x->journal.lines;
	return 0;
}

static void free_replay(struct replay *x)
{
	for (uint32_t i = 0; i < x->cycles; i++) {
		json_decref(x->cycle[i].only_recorded);
		json_decref(x->cycle[i].only_replayed);
		json_decref(x->cycle[i].elsewhere);
		free(x->cycle[i].error);
		free(x->cycle[i].refused);
	}
	free(x->cycle);
	json_decref(x->holds);
	journal_clear(&x->journal);
	sl_bundle_destroy(x->bundle);
}

int sl_replay_cycles(const struct sl_replay_args *v, char *const *path, uint32_t paths, bool kept,
		     const char *journal, struct sl_error *err)
{
	struct replay x = { .v = v, .kept = kept };
	struct sl_progress bar;
	struct sums sums;
	char *trace = NULL;
	int rc = prepare_replay(&x, path, paths, journal, &trace, err);

	sl_progress_begin(&bar, "cycles", v->quiet);
	for (uint32_t i = 0; !rc && i < paths; i++) {
		rc = decide_file(&x, path[i], err);
		sl_progress_set(&bar, i + 1, paths);
	}
	sl_progress_end(&bar);
	if (!rc) {
		sums = add_up(&x);
		rc = v->json ? print_json(&x, &sums, err) : print_text(&x, &sums, err);
	}
	if (!rc) {
		rc = judge(&x, &sums);
	} else {
		sl_tool_fail(err);
		sl_tool_trace(trace, stderr);
	}
	free_replay(&x);
	free(trace);
	return rc;
}
