/* SPDX-License-Identifier: MIT */
/*
 * cmd_import_conf.c - schedlua import-conf: the site file that does what a slurm.conf does now.
 */
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lines.h"

#define DEPTH 8		/* of files that include files */
#define MOST_FILES 1000

/* What becomes of a word of SchedulerParameters; one ending in "*" is of all that begin so. */

static const char CAP[] = "the policy's option of that name";

static const struct word {
	const char *name, *why;		/* NULL: it stays in slurm.conf */
} words[] = {
	{ "bf_max_job_test", "the policy's window" },
	{ "bf_interval", "not needed: a cycle follows each change, and at the latest interval (3 s) after the last" },
	{ "bf_window", "not needed: the timeline has no end" },
	{ "bf_resolution", "not needed: the timeline is exact" },
	{ "bf_max_time", "no counterpart: budget is what a decision may take (2 s), of all jobs of the window" },
	{ "bf_continue", "not needed: a decision is never begun anew half-way" },
	{ "bf_yield_*", "not needed: no lock is held while a policy decides" },
	{ "bf_busy_nodes", "no counterpart: nodes are chosen by best fit" },
	{ "bf_node_space_size", "not needed: the timeline grows as it has to" },
	{ "bf_one_resv_per_job", "always so: a job has one reservation, the earliest of its partitions" },
	{ "bf_licenses", "always so: licences are part of the timeline" },
	{ "bf_max_job_array_resv", "always 1: the next task of an array has a reservation" },
	{ "bf_hetjob_*", "not needed: the components of a heterogeneous job are planned together" },
	{ "bf_max_job_user_part", CAP }, { "bf_max_job_user", CAP }, { "bf_max_job_part", CAP }, { "bf_max_job_assoc", CAP },
	{ "bf_min_prio_reserve", CAP }, { "bf_min_age_reserve", CAP }, { "bf_job_part_count_reserve", CAP },
	{ "bf_*", "no counterpart" },
	{ "default_queue_depth", "not needed: the policy's window, with bf_max_job_test" },
	{ "partition_job_depth", "no counterpart" },
	{ "max_sched_time", "no counterpart: lua_batch bounds how long starts hold slurmctld's locks" },
	{ "sched_max_job_start", "not needed: starts are carried out a few at a time (lua_batch)" },
	{ "sched_min_interval", "not needed: changes are noticed every lua_wake (100 ms)" },
	{ "sched_interval", "must be -1" },
	{ "defer_batch", "must not be there" },
	{ "defer", "is there" },
	{ "assoc_limit_stop", "no counterpart: a job over a limit holds up nobody" },
};

struct conf {
	char *type, *parameters;	/* the last value of each, malloc'ed, or NULL */
	unsigned files;
	struct sl_error *err;
};

static int read_file(struct conf *c, const char *path, unsigned depth);

static int keep_value(struct conf *c, char **to, const char *value)
{
	free(*to);
	*to = strdup(value);
	return *to ? 0 : sl_fail(c->err, SL_ENOMEM, "out of memory");
}

/* Included is what is named from the root or beside the file that names it. */
static int include(struct conf *c, const char *from, const char *name, unsigned depth)
{
	const char *slash = strrchr(from, '/');
	char path[4096];

	snprintf(path, sizeof(path), "%.*s%s", *name == '/' || !slash ? 0 : (int) (slash - from) + 1, from, name);
	if (depth == DEPTH)
		return sl_fail(c->err, SL_ELIMIT, "%s: included %d files deep, expected fewer", path, DEPTH);
	return read_file(c, path, depth + 1);
}

static int read_line(struct conf *c, const char *path, char *line, unsigned depth)
{
	size_t n;
	char *value;

	line += strspn(line, " \t");
	n = strcspn(line, "= \t");
	value = line + n;
	value += strspn(value, " \t=\"");
	value[strcspn(value, " \t\"")] = 0;
	if (value[0] && value[strlen(value) - 1] == '\\')
		return sl_fail(c->err, SL_EINVAL, "%s: %.20s goes on in another line: expected all of it in one", path, line);
	if (n == 7 && !strncasecmp(line, "include", n))
		return include(c, path, value, depth);
	if (n == 13 && !strncasecmp(line, "SchedulerType", n))
		return keep_value(c, &c->type, value);
	if (n == 19 && !strncasecmp(line, "SchedulerParameters", n))
		return keep_value(c, &c->parameters, value);
	return 0;
}

static int read_file(struct conf *c, const char *path, unsigned depth)
{
	struct sl_lines *l = c->files++ < MOST_FILES ? sl_lines_open(path, c->err) : NULL;
	char *line;
	int64_t n;
	int rc = 0;

	if (!l)
		return c->files > MOST_FILES ?
			sl_fail(c->err, SL_ELIMIT, "%s: more than %d files", path, MOST_FILES) : -1;
	while (!rc && (n = sl_lines_next(l, &line, c->err)) > 0) {
		line[strcspn(line, "#")] = 0;
		rc = read_line(c, path, line, depth);
	}
	sl_lines_close(l);
	return rc || n < 0 ? -1 : 0;
}

/* -- writing ------------------------------------------------------------- */

static const char *fate_of(const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].name);
		bool rest = words[i].name[n - 1] == '*';

		if (rest ? !strncasecmp(word, words[i].name, n - 1) :
		    !strncasecmp(word, words[i].name, n) && (!word[n] || word[n] == '='))
			return words[i].why;
	}
	return NULL;
}

/* Each word of the parameters: those that stay in slurm.conf, or the others, and why not. */
static void print_words(char *parameters, bool staying)
{
	char *save = NULL, *copy = strdup(parameters);

	for (char *w = copy ? strtok_r(copy, ",", &save) : NULL; w; w = strtok_r(NULL, ",", &save)) {
		const char *why = fate_of(w);

		if (staying && !why)
			printf(",%s", w);
		else if (!staying && why)
			printf("--   %s: %s\n", w, why);
	}
	free(copy);
}

/* The number behind a word of the parameters; *none* where it is not there, or none. */
static int64_t find_number(const char *parameters, const char *word, int64_t none)
{
	const char *p = strcasestr(parameters, word);
	int64_t n;

	while (p && (p[strlen(word)] != '=' || (p > parameters && p[-1] != ',')))
		p = strcasestr(p + 1, word);
	if (!p)
		return none;
	p += strlen(word) + 1;
	return sl_scan_int(&p, &n) && n >= 0 ? n : none;
}

/* The window and what else backfill bounds; Slurm's own bf_max_job_test is 500. */
static void print_options(const char *parameters)
{
	long long window = find_number(parameters, "bf_max_job_test", 500);

	window = window < 1 ? 500 : window > 100000 ? 100000 : window;
	printf("window = %lld, reserved = %lld", window, window);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int64_t n = words[i].why == CAP ? find_number(parameters, words[i].name, 0) : 0;

		if (n)
			printf(", %s = %lld", words[i].name + strlen("bf_"), (long long) n);
	}
}

static void print_site(const struct conf *c)
{
	bool builtin = c->type && !strcasecmp(c->type, "sched/builtin");
	char none[] = "", *parameters = c->parameters ? c->parameters : none;

	printf("-- The site file for what slurm.conf says now.  There stands then:\n--\n");
	printf("--   SchedulerType=sched/lua\n--   SchedulerParameters=defer,sched_interval=-1");
	print_words(parameters, true);
	printf("\n--\n-- What becomes of the rest of its SchedulerParameters:\n--\n");
	print_words(parameters, false);
	printf("--\n-- Priorities, limits, partitions and reservations are Slurm's as before.\n\n");
	printf("local sched = require \"sched\"\n\nreturn sched.site {\n");
	if (builtin) {
		printf("\tdefault = { \"fcfs\" },\n");
	} else {
		printf("\t-- as Slurm's backfill: a reservation for each job that is looked at.  (\"easy\" has one for the\n"
		       "\t-- first that waits, and lets more jobs start behind it.)\n");
		printf("\tdefault = { \"conservative\", ");
		print_options(parameters);
		printf(" },\n");
	}
	printf("}\n");
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err;
	struct conf c = { .err = &err };
	int status, rc;

	if (sl_tool_parse(verb, NULL, argc, argv, 1, 1, &status) < 0)
		return status;
	rc = read_file(&c, argv[0], 0);
	if (!rc && c.type && !strcasecmp(c.type, "sched/lua"))
		rc = sl_fail(&err, SL_EINVAL, "%s: SchedulerType is sched/lua already: expected sched/backfill or "
			     "sched/builtin", argv[0]);
	if (!rc)
		print_site(&c);
	free(c.type);
	free(c.parameters);
	return rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

static const struct sl_option options[] = { { 0 } };

const struct sl_verb sl_verb_import_conf = {
	.name = "import-conf",
	.operands = "SLURM.CONF",
	.summary = "print the site file that does what a slurm.conf does now",
	.options = options,
	.run = run,
};
