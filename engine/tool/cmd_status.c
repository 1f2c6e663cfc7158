/* SPDX-License-Identifier: MIT */
/*
 * cmd_status.c - schedlua status: how the scheduler is doing.
 *
 * The plug-in writes status.json; this prints it.  Keys that this program does
 * not know are printed as they are, so that a newer plug-in loses nothing.
 */
#include "tool/tool.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/plain.h"
#include "tool/statedir.h"
#include "tool/status.h"
#include "tool/member.h"
#include "base/text.h"

struct values {
	const char *dir, *output;
	double stale;
	bool json, check, openmetrics;
};

static const struct sl_option options[] = {
	SL_DIR_OPTION(values),
	{ .name = "json", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, json),
	  .doc = "print the plug-in's status.json as it is" },
	{ .name = "check", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, check),
	  .doc = "print one line for monitoring; the exit status is 0 fine, 1 warning, 2 critical, 3 unknown" },
	{ .name = "stale", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, stale), .argument = "SECONDS",
	  .min = 1, .max = 1e9, .standard = "300", .doc = "with --check: a status that is older is critical" },
	{ .name = "openmetrics", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, openmetrics),
	  .doc = "print figures as OpenMetrics, for Prometheus" },
	{ .name = "output", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, output), .argument = "FILE",
	  .doc = "with --openmetrics: replace this file as a whole, as a textfile collector wants it" },
	{ 0 }
};

/* How a value is to be read. */
enum form { TEXT, COUNT, SECONDS, TIME, TIMES, COUNTS };

static const struct line {
	const char *key, *label;
	enum form form;
	bool always;		/* print it even when it is 0 or empty */
} lines[] = {
	{ "shadow", "in the shadow of", TEXT, false },
	{ "source", "decided by", TEXT, true },
	{ "policy", "policy", TEXT, true },
	{ "site", "site file", TEXT, false },
	{ "idle_why", "idle because", TEXT, false },
	{ "held", "nothing starts in", TEXT, false },
	{ "odd", "without effect", TEXT, false },
	{ "usage_stale", "usage is old", TEXT, false },
	{ "refusal", "set refused", TEXT, false },
	{ "last_error", "last error", TEXT, false },
	{ "last_error_time", "  at", TIME, false },
	{ "strikes", "strikes", COUNT, false },
	{ "next_try_s", "next try in", SECONDS, false },
	{ "version", "plug-in", TEXT, true },
	{ "slurm_version", "Slurm", TEXT, true },
	{ "pid", "slurmctld pid", COUNT, true },
	{ "engine_pid", "engine pid", COUNT, true },
	{ "engine_holds", "engine runs as", TEXT, false },
	{ "private_data", "hidden from users", TEXT, false },
	{ "started", "plug-in started", TIME, true },
	{ "last_cycle", "last cycle", TIME, true },
	{ "written", "status written", TIME, true },
	{ "interval_s", "interval", SECONDS, true },
	{ "budget_s", "budget", SECONDS, true },
	{ "nodes", "nodes", COUNT, true },
	{ "running", "jobs running", COUNT, true },
	{ "queued", "jobs queued", COUNT, true },
	{ "queue", "  by partition", COUNTS, false },
	{ "pending", "  by reason", COUNTS, false },
	{ "cycles", "cycles", COUNT, true },
	{ "bundled_cycles", "  by bundled easy", COUNT, false },
	{ "fallback_cycles", "  by fallback", COUNT, false },
	{ "truncated", "  over budget", COUNT, false },
	{ "truncated_time", "    last at", TIME, false },
	{ "policy_errors", "  policy failed", COUNT, false },
	{ "rows_refused", "rows refused", COUNT, false },
	{ "row_refused", "  last", TEXT, false },
	{ "row_refused_time", "  at", TIME, false },
	{ "starts", "jobs started", COUNT, true },
	{ "native_starts", "  placed by Slurm", COUNT, false },
	{ "layout_differs", "  placed otherwise", COUNT, false },
	{ "failed_starts", "starts failed", COUNT, false },
	{ "stale", "starts stale", COUNT, false },
	{ "actions", "actions", COUNT, false },
	{ "actions_failed", "actions failed", COUNT, false },
	{ "stops", "jobs stopped", COUNT, false },
	{ "moves", "  moved", COUNT, false },
	{ "stops_refused", "stops refused", COUNT, false },
	{ "stop_refused", "  last", TEXT, false },
	{ "held_places", "places held", COUNT, false },
	{ "places", "  for", TEXT, false },
	{ "shortages", "no stop would help", COUNT, false },
	{ "reloads", "reloads", COUNT, true },
	{ "refused", "reloads refused", COUNT, false },
	{ "engine_starts", "engine starts", COUNT, true },
	{ "engine_kills", "engine kills", COUNT, false },
	{ "engine_failures", "engine failures", COUNT, false },
	{ "cycle_us", "cycle", TIMES, true },
	{ "decide_us", "decide", TIMES, true },
	{ "queue_hold_us", "lock: queue", TIMES, true },
	{ "queue_own_us", "  of it ours", TIMES, false },
	{ "copy_hold_us", "lock: copy", TIMES, true },
	{ "commit_hold_us", "lock: commit", TIMES, true },
	{ "start_us", "one start", TIMES, false },
};
#define LINES (sizeof(lines) / sizeof(lines[0]))
#define LABEL_WIDTH 18

static bool is_nothing(const json_t *v)
{
	return (json_is_string(v) && !json_string_length(v)) || (json_is_object(v) && !json_object_size(v)) || (json_is_number(v) && json_number_value(v) == 0);
}

static void print_counts(const json_t *counts)
{
	const char *key, *between = "";
	json_t *v;

	json_object_foreach((json_t *) counts, key, v) {
		char *name = strdup(key);

		printf("%s%s %lld", between, name ? sl_plain(name) : "", (long long) json_integer_value(v));
		between = ", ";
		free(name);
	}
	putchar('\n');
}

static void print_value(enum form form, const json_t *v)
{
	char text[SL_TEXT_SIZE];
	char *dump;

	if (form == TEXT && json_is_string(v)) {
		dump = strdup(json_string_value(v));
		printf("%s\n", dump ? sl_plain(dump) : "");
		free(dump);
	} else if (form == COUNT && json_is_integer(v)) {
		printf("%lld\n", (long long) json_integer_value(v));
	} else if (form == SECONDS && json_is_number(v)) {
		printf("%g s\n", json_number_value(v));
	} else if (form == TIME && json_is_integer(v)) {
		printf("%s\n", sl_text_time(text, json_integer_value(v)));
	} else if (form == COUNTS && json_is_object(v)) {
		print_counts(v);
	} else if (form == TIMES && json_is_object(v)) {
		printf("last %.2f ms, median %.2f, 99 %% %.2f, max %.2f\n", sl_member_number(v, "last") / 1e3,
		       sl_member_number(v, "p50") / 1e3, sl_member_number(v, "p99") / 1e3, sl_member_number(v, "max") / 1e3);
	} else {
		dump = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
		printf("%s\n", dump ? dump : "?");
		free(dump);
	}
}

static bool known(const char *key)
{
	for (size_t i = 0; i < LINES; i++)
		if (!strcmp(lines[i].key, key))
			return true;
	return !strcmp(key, "api") || !strcmp(key, "sdiag");
}

/* Is that process here, alive, and slurmctld? */
static bool is_slurmctld(json_int_t pid)
{
	char path[40], name[40] = "", state = 'Z';
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long) pid);
	in = fopen(path, "re");
	if (!in)
		return false;
	if (fscanf(in, "%*d (%39[^)]) %c", name, &state) != 2)
		state = 'Z';
	fclose(in);
	return state != 'Z' && !strncmp(name, "slurmctld", strlen("slurmctld"));
}

bool sl_status_alive(const json_t *status)
{
	json_int_t pid = json_integer_value(json_object_get(status, "pid"));

	return pid <= 0 || is_slurmctld(pid);
}

/* A status that nobody rewrites is history: say so first. */
static void warn(json_t *status)
{
	json_int_t pid = json_integer_value(json_object_get(status, "pid"));

	if (!sl_status_alive(status))
		printf("slurmctld (pid %lld), which wrote this, is not running on this machine: this is how it was;\n"
		       "a slurmctld that runs now does so elsewhere, or without sched/lua\n", (long long) pid);
}

static bool is_empty(const json_t *status, const char *key)
{
	const json_t *v = json_object_get(status, key);

	return !v || is_nothing(v);
}

/* All is well again, and has been for a cycle. */
static bool is_past(const json_t *status)
{
	const char *source = json_string_value(json_object_get(status, "source"));

	return source && !strcmp(source, "site") && is_empty(status, "refusal") && is_empty(status, "held") &&
	       is_empty(status, "usage_stale") && is_empty(status, "strikes") &&
	       sl_member_number(status, "last_error_time") < sl_member_number(status, "last_cycle");
}

static const char *label_of(const json_t *status, const struct line *line)
{
	if (!strcmp(line->key, "source") && !is_empty(status, "shadow"))
		return "looked at by";
	return strcmp(line->key, "last_error") || !is_past(status) ? line->label : "last error, past";
}

static void print_status(json_t *status)
{
	const char *key;
	json_t *v;

	warn(status);
	for (size_t i = 0; i < LINES; i++) {
		v = json_object_get(status, lines[i].key);
		if (!v || (!lines[i].always && is_nothing(v)))
			continue;
		printf("%-*s  ", LABEL_WIDTH, label_of(status, &lines[i]));
		print_value(lines[i].form, v);
	}
	json_object_foreach(status, key, v)
		if (!known(key)) {
			printf("%-*s  ", LABEL_WIDTH, key);
			print_value(TEXT, v);
		}
}

/* -- for monitoring ------------------------------------------------------- */

/* What cannot be read is unknown, and said in one line on stdout, as the rest. */
static int check(const json_t *status, const struct sl_error *err, double stale_s)
{
	enum sl_state state = SL_STATE_UNKNOWN;
	char text[2000];

	if (status)
		state = sl_status_judge(status, sl_status_alive(status), time(NULL), (int64_t) stale_s, text, sizeof(text));
	printf("schedlua %s: %s\n", sl_state_word(state), status ? text : err->text);
	return sl_tool_end(SL_EXIT_FINE) == SL_EXIT_FINE ? (int) state : (int) SL_STATE_UNKNOWN;
}

/* Whoever reads the file sees all of the old figures or all of the new. */
static int replace_metrics(const json_t *status, const char *dir, const char *path, struct sl_error *err)
{
	char tmp[PATH_MAX];
	FILE *out = NULL;
	int fd, bad;

	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int) sizeof(tmp))
		return sl_fail(err, SL_EINVAL, "--output: the path is too long");
	fd = mkstemp(tmp);
	if (fd < 0 || !(out = fdopen(fd, "w"))) {
		sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
		if (fd >= 0) {
			close(fd);
			unlink(tmp);
		}
		return -1;
	}
	sl_status_metrics(status, sl_status_alive(status), sl_status_ledger_time(dir), out);
	bad = fchmod(fd, 0644) || ferror(out);
	bad |= fclose(out) != 0;
	if (!bad && !rename(tmp, path))
		return 0;
	sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	unlink(tmp);
	return -1;
}

static int print_metrics(const json_t *status, const char *dir, const char *path)
{
	struct sl_error err;

	if (path && replace_metrics(status, dir, path, &err))
		return sl_tool_fail(&err);
	if (!path)
		sl_status_metrics(status, sl_status_alive(status), sl_status_ledger_time(dir), stdout);
	return sl_tool_end(SL_EXIT_FINE);
}

/* -- the verb ------------------------------------------------------------- */

json_t *sl_status_read(const char *dir, struct sl_error *err)
{
	char path[PATH_MAX + 16];
	json_error_t why;
	json_t *status;

	snprintf(path, sizeof(path), "%s/status.json", dir);
	status = json_load_file(path, 0, &why);
	if (json_is_object(status))
		return status;
	if (json_error_code(&why) == json_error_cannot_open_file)
		sl_fail(err, SL_EIO, "%s: %s; does slurmctld run with SchedulerType=sched/lua?", path, strerror(errno));
	else
		sl_fail(err, SL_EFORMAT, "%s:%d: %s", path, why.line, status ? "expected an object" : why.text);
	json_decref(status);
	return NULL;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	json_t *status = NULL;
	char dir[PATH_MAX];
	struct sl_error err;
	struct values v;
	int end;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &end) < 0)
		return end;
	if (v.json + v.check + v.openmetrics > 1)
		return sl_tool_usage(verb, "--json, --check and --openmetrics: expected one of them");
	if (v.output && !v.openmetrics)
		return sl_tool_usage(verb, "--output: expected --openmetrics as well");
	if (!sl_statedir_find(v.dir, dir, sizeof(dir), &err))
		status = sl_status_read(dir, &err);
	if (v.check)
		end = check(status, &err, v.stale);
	else if (!status)
		end = sl_tool_fail(&err);
	else if (v.openmetrics)
		end = print_metrics(status, dir, v.output);
	else {
		if (!v.json)
			print_status(status);
		else if (!json_dumpf(status, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII))
			putchar('\n');
		end = sl_tool_end(SL_EXIT_FINE);
	}
	json_decref(status);
	return end;
}

const struct sl_verb sl_verb_status = {
	.name = "status",
	.operands = "[OPTION]...",
	.summary = "print how the scheduler in slurmctld is doing",
	.options = options,
	.run = run,
};
