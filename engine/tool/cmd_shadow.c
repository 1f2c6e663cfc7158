/* SPDX-License-Identifier: MIT */
/*
 * cmd_shadow.c - schedlua shadow report: what the policies would have done while Slurm decided.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spawn.h>

#include "base/map.h"
#include "base/order.h"
#include "base/text.h"
#include "tool/member.h"
#include "tool/shadow.h"
#include "tool/statedir.h"

extern char **environ;

struct values {
	const char *dir, *last, *site;
	int64_t tolerance, show;
	bool json, replay;
};

static const struct sl_option options[] = {
	{ .name = "last", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, last), .argument = "TIME",
	  .standard = "7d", .doc = "how far to go back from the last decision: 12h, 7d, or as Slurm writes it" },
	{ .name = "replay", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, replay),
	  .doc = "besides, simulate that time from the recorded snapshots (lua_record) under the site file" },
	{ .name = "site", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, site), .argument = "FILE",
	  .doc = "with --replay, the site file; default: the one of slurm.conf" },
	SL_DIR_OPTION(values),
	{ .name = "tolerance", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, tolerance), .min = 0, .max = 86400,
	  .standard = "5", .argument = "SECONDS", .doc = "starts that differ by no more are the same" },
	{ .name = "show", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, show), .min = 0, .max = 1000000,
	  .standard = "20", .argument = "N", .doc = "lines about single jobs, those that differ most; 0: none" },
	SL_JSON_OPTION(values),
	{ 0 }
};

/* -- the same time in the simulator ------------------------------------------------- */

/* The JSON that `schedlua replay` prints of the recording in *dir*; NULL with *err. */
static json_t *run_replay(const char *dir, const char *site, struct sl_error *err)
{
	char record[PATH_MAX + 16];
	char *argv[] = { "schedlua", "replay", "--json", "--quiet", "--site", (char *) site, record, NULL };
	posix_spawn_file_actions_t files;
	json_error_t why;
	json_t *o = NULL;
	int out[2], status = 0;
	FILE *in;
	pid_t pid;

	snprintf(record, sizeof(record), "%s/record", dir);
	if (pipe(out)) {
		sl_fail(err, SL_EIO, "shadow: no pipe");
		return NULL;
	}
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&files, out[0]);
	if (posix_spawn(&pid, "/proc/self/exe", &files, NULL, argv, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&files);
	close(out[1]);
	if ((in = fdopen(out[0], "r"))) {
		o = pid > 0 ? json_loadf(in, JSON_DISABLE_EOF_CHECK, &why) : NULL;
		fclose(in);
	} else {
		close(out[0]);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (pid > 0 && !status && o)
		return o;
	json_decref(o);
	sl_fail(err, SL_EIO, "schedlua replay --site %s %s: it fails", site, record);
	return NULL;
}

/* -- output ------------------------------------------------------------------------- */

/* How far apart the two starts are: "00:10:00 earlier"; just "later" where it is not known how much. */
static const char *tell_difference(const struct sl_shadow_run *run, char text[64])
{
	char duration[SL_TEXT_SIZE];

	if (run->verdict == SL_SHADOW_REFUSED)
		return "refused";
	snprintf(text, 64, "%s%s", run->known ? sl_text_duration(duration, llabs(run->by)) : "",
		 !run->known ? "later" : run->by < 0 ? " earlier" : " later");
	return text;
}

static int print_runs(struct sl_shadow_report *r, uint32_t most, struct sl_error *err)
{
	struct sl_text_table *t = sl_text_table_create(">job,user,partition,submitted,Slurm's start,the policies',>difference,why");
	char text[64], when[SL_TEXT_SIZE];
	uint32_t shown = 0;
	int rc;

	for (uint32_t i = 0; i < r->runs && shown < most; i++) {
		const struct sl_shadow_run *run = &r->run[i];
		const char *why = sl_member_text(run->ran, "text");

		if (run->verdict == SL_SHADOW_SAME)
			continue;
		shown++;
		sl_text_table_addf(t, "%" PRIu32, run->job);
		sl_text_table_add(t, sl_member_text(run->ran, "user"));
		sl_text_table_add(t, sl_member_text(run->ran, "partition"));
		sl_text_table_add(t, sl_text_time(when, run->submit));
		sl_text_table_add(t, sl_text_time(when, run->start));
		sl_text_table_add(t, sl_text_time(when, run->planned));
		sl_text_table_add(t, tell_difference(run, text));
		sl_text_table_add(t, run->verdict == SL_SHADOW_EARLIER ? "" : *why ? why : sl_member_text(run->ran, "why"));
	}
	if (shown)
		putchar('\n');
	rc = shown ? sl_text_table_print(t, 0, stdout) : 0;
	sl_text_table_destroy(t);
	return rc ? sl_fail(err, SL_ENOMEM, "shadow: out of memory while printing") : 0;
}

/* How long after the stop that there was none of: "02:10:00 later"; "not yet" where the book does not say. */
static void add_later(struct sl_text_table *t, int64_t when, int64_t since)
{
	char duration[SL_TEXT_SIZE];

	if (when)
		sl_text_table_addf(t, "%s later", sl_text_duration(duration, when > since ? when - since : 0));
	else
		sl_text_table_add(t, "not yet");
}

/* Whom the policies would have stopped for whom; and when the one ended by itself and the other one began. */
static int print_stops(const struct sl_shadow_report *r, uint32_t most, struct sl_error *err)
{
	struct sl_text_table *t = sl_text_table_create(">would stop,user,>for job,at,>cost,it ended,the other began");
	char when[SL_TEXT_SIZE];
	int rc;

	for (uint32_t i = 0; t && i < r->stops && i < most; i++) {
		const struct sl_shadow_stop *s = &r->stop[i];

		sl_text_table_addf(t, "%" PRIu32, s->job);
		sl_text_table_add(t, sl_member_text(s->victim, "user"));
		sl_text_table_addf(t, "%" PRIu32, s->preemptor);
		sl_text_table_add(t, sl_text_time(when, s->when));
		sl_text_table_addf(t, "%.4g", sl_member_number(s->victim, "cost"));
		add_later(t, s->ended, s->when);
		add_later(t, s->started, s->when);
	}
	putchar('\n');
	rc = t ? sl_text_table_print(t, 0, stdout) : -1;
	sl_text_table_destroy(t);
	return rc ? sl_fail(err, SL_ENOMEM, "shadow: out of memory while printing") : 0;
}

static int print_users(const struct sl_shadow_users *us, uint32_t most, struct sl_error *err)
{
	struct sl_text_table *t = sl_text_table_create("user,>jobs,>mean wait,>the policies'");
	char text[SL_TEXT_SIZE];
	int rc;

	for (uint32_t i = 0; i < us->count && i < most; i++) {
		const struct sl_shadow_user *u = &us->user[i];

		sl_text_table_add(t, u->name);
		sl_text_table_addf(t, "%" PRIu32, u->jobs);
		sl_text_table_add(t, sl_text_duration(text, (int64_t) (u->waited / u->jobs)));
		sl_text_table_add(t, sl_text_duration(text, (int64_t) (u->planned / u->jobs)));
	}
	putchar('\n');
	rc = sl_text_table_print(t, 0, stdout);
	sl_text_table_destroy(t);
	return rc ? sl_fail(err, SL_ENOMEM, "shadow: out of memory while printing") : 0;
}

/* How many jobs have that verdict, and by how much on average and at most, as far as that is known. */
static void print_verdict(const struct sl_shadow_report *r, enum sl_shadow_verdict v, const char *label, const char *rest)
{
	char mean[SL_TEXT_SIZE], most[SL_TEXT_SIZE];
	int64_t sum = 0, longest = 0;
	uint32_t known = 0;

	for (uint32_t i = 0; i < r->runs; i++)
		if (r->run[i].verdict == v && r->run[i].known) {
			int64_t by = llabs(r->run[i].by);

			sum += by;
			longest = by > longest ? by : longest;
			known++;
		}
	printf("%-14s%" PRIu32 "%s", label, r->count[v], rest);
	if (known)
		printf("; by %s on average, %s at most%s", sl_text_duration(mean, sum / known), sl_text_duration(most, longest),
		       known < r->count[v] ? ", where that is known" : "");
	putchar('\n');
}

static void print_failures(const struct sl_shadow_report *r)
{
	char when[SL_TEXT_SIZE];
	const char *text;
	json_t *seen;

	json_object_foreach(r->failed, text, seen)
		printf("  %lld times, last at %s: %s\n", (long long) json_integer_value(json_array_get(seen, 0)),
		       sl_text_time(when, json_integer_value(json_array_get(seen, 1))), text);
}

static void print_replay(const json_t *o)
{
	char a[SL_TEXT_SIZE], b[SL_TEXT_SIZE];
	const json_t *wait = json_object_get(o, "wait_mean_s"), *use = json_object_get(o, "utilization");

	if (!o)
		return;
	printf("\nThe same time simulated from the recording, where each start has consequences:\n");
	printf("jobs          %lld: %lld the same, %lld earlier, %lld later\n", (long long) sl_member_integer(o, "jobs"),
	       (long long) sl_member_integer(o, "same"),
	       (long long) (sl_member_integer(o, "earlier") + sl_member_integer(o, "only_replayed")),
	       (long long) (sl_member_integer(o, "later") + sl_member_integer(o, "only_recorded")));
	printf("mean wait     %s recorded, %s simulated\n", sl_text_duration(a, (int64_t) sl_member_number(wait, "recorded")),
	       sl_text_duration(b, (int64_t) sl_member_number(wait, "replayed")));
	printf("utilization   %.4f recorded, %.4f simulated\n", sl_member_number(use, "recorded"),
	       sl_member_number(use, "replayed"));
}

static int print_text(struct sl_shadow_report *r, const struct sl_shadow_users *us, const struct values *v,
		      const json_t *replay, struct sl_error *err)
{
	char from[SL_TEXT_SIZE], to[SL_TEXT_SIZE];
	uint32_t jobs = r->runs ? r->runs : 1;	/* to divide by */
	char moved[60] = "";

	if (r->moves)
		snprintf(moved, sizeof(moved), "; %" PRIu32 " of them would be moved", r->moves);
	printf("%s to %s: sched/%s decided, %s looked on\n", sl_text_time(from, r->from), sl_text_time(to, r->to),
	       *r->stock ? r->stock : "?", *r->policies ? r->policies : "the policies");
	printf("jobs          %" PRIu32 " that Slurm started\n", r->runs);
	print_verdict(r, SL_SHADOW_SAME, "same", "");
	print_verdict(r, SL_SHADOW_EARLIER, "earlier", " that the policies would have started before");
	print_verdict(r, SL_SHADOW_LATER, "later", " that they kept waiting");
	print_verdict(r, SL_SHADOW_REFUSED, "refused", " that they refused");
	if (r->stops)
		printf("would stop    %" PRIu32 " running jobs for %" PRIu32 " others, at a cost of %.4g%s\n", r->stops, r->stopped_for, r->stop_cost,
		       moved);
	printf("mean wait     %s under Slurm", sl_text_duration(from, (int64_t) (us->all.waited / jobs)));
	printf(", %s as the policies had it\n", sl_text_duration(to, (int64_t) (us->all.planned / jobs)));
	printf("utilization   %.4f; %.4f with what they would have started at once\n", sl_shadow_share(r->used_s, r->cores_s),
	       sl_shadow_share(r->used_s + r->planned_s, r->cores_s));
	printf("decisions     %" PRIu64 ", %.1f ms on average, %.1f ms at most\n", r->cycles,
	       sl_shadow_share((double) r->decide_us, (double) r->cycles) / 1000, (double) r->decide_max_us / 1000);
	printf("failures      %" PRIu64 " decisions, %" PRIu64 " ends of the engine; slurmctld began %" PRIu32 " times\n", r->failures,
	       r->deaths, r->begins);
	print_failures(r);
	printf("\nEach decision was made on what Slurm's had left: had the policies started a job earlier, what\n"
	       "followed would have been another week.  So the differences do not add up; --replay simulates it.\n");
	print_replay(replay);
	sl_shadow_sort(r);
	if (r->stops && v->show && print_stops(r, (uint32_t) v->show, err))
		return -1;
	return (us->count && v->show && print_users(us, (uint32_t) v->show, err)) || print_runs(r, (uint32_t) v->show, err) ? -1 : 0;
}

static int print_json(const struct sl_shadow_report *r, const struct sl_shadow_users *us, json_t *replay, struct sl_error *err)
{
	json_t *o = sl_shadow_pack(r, us, r->runs);
	int rc = -1;

	if (o && (!replay || !json_object_set(o, "replay", replay)))
		rc = json_dumpf(o, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(o);
	return rc ? sl_fail(err, SL_ENOMEM, "shadow: out of memory while printing") : 0;
}

/* -- the verb ----------------------------------------------------------------------- */

static int report(const struct values *v, struct sl_error *err)
{
	struct sl_shadow_report r = { 0 };
	struct sl_shadow_users us = { 0 };
	json_t *replay = NULL;
	char dir[PATH_MAX], site[PATH_MAX];
	int rc;

	if (sl_statedir_find(v->dir, dir, sizeof(dir), err))
		return -1;
	if (v->site)
		snprintf(site, sizeof(site), "%s", v->site);
	else if (v->replay && sl_statedir_site(site, sizeof(site)))
		return sl_fail(err, SL_ENOENT, "--replay: no slurm.conf that says where the site file is; give --site");
	rc = sl_shadow_read(&r, dir, sl_tool_last(v->last), v->tolerance, err) || sl_shadow_users(&r, &us, err) ||
		(v->replay && !(replay = run_replay(dir, site, err))) ? -1 : 0;
	if (!rc)
		rc = v->json ? print_json(&r, &us, replay, err) : print_text(&r, &us, v, replay, err);
	json_decref(replay);
	sl_shadow_users_free(&us);
	sl_shadow_close(&r);
	return rc;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 1, 1, &status) < 0)
		return status;
	if (strcmp(argv[0], "report"))
		return sl_tool_usage(verb, "%s: expected report", argv[0]);
	if (!sl_tool_last(v.last))
		return sl_tool_usage(verb, "--last=%s: expected a time such as 12h, 7d or 1-00:00:00", v.last);
	return report(&v, &err) ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_shadow = {
	.name = "shadow",
	.operands = "[OPTION]... report",
	.summary = "report what the policies would have done while Slurm's own scheduler decided",
	.options = options,
	.run = run,
};
