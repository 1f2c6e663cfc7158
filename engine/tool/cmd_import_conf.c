/* SPDX-License-Identifier: MIT */
/*
 * cmd_import_conf.c - schedlua import-conf: the site file that does what a slurm.conf does now, and
 * what changes on the day that the cluster switches.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lines.h"
#include "conf/conf.h"
#include "tool/switch_day.h"
#include "tool/switch_words.h"

#define MOST_WINDOW 100000

/* Each word of the parameters: those that stay in slurm.conf, or the others, and why not. */
static void print_words(const char *parameters, bool staying)
{
	char *save = NULL, *copy = strdup(parameters);

	for (char *w = copy ? strtok_r(copy, ", \t", &save) : NULL; w; w = strtok_r(NULL, ", \t", &save)) {
		const char *why, *near;
		enum sl_switch_fate fate = sl_switch_fate(w, &why);

		if (staying && fate == SL_SWITCH_STAYS)
			printf(",%s", w);
		if (staying || fate == SL_SWITCH_STAYS)
			continue;
		near = fate == SL_SWITCH_UNKNOWN ? sl_switch_nearest(w) : NULL;
		if (fate == SL_SWITCH_UNKNOWN)
			printf("--   %s: no word of SchedulerParameters, and left out%s%s%s\n", w, near ? "; did you mean " : "",
			       near ? near : "", near ? "?" : "");
		else if (!strncasecmp(w, "bf_max_job_user=", 16) && strcasestr(parameters, "bf_max_job_assoc="))
			printf("--   %s: does not count beside bf_max_job_assoc, as under sched/backfill\n", w);
		else
			printf("--   %s: %s\n", w, why);
	}
	free(copy);
}

/* The number behind a word of the parameters; *none* where it is not there, or none. */
static int64_t find_number(const char *parameters, const char *word, int64_t none)
{
	const char *p = strcasestr(parameters, word);
	int64_t n;

	while (p && (p[strlen(word)] != '=' || (p > parameters && p[-1] != ',' && p[-1] != ' ')))
		p = strcasestr(p + 1, word);
	if (!p)
		return none;
	p += strlen(word) + 1;
	return sl_scan_int(&p, &n) && n >= 0 ? n : none;
}

/*
 * The window and what else backfill bounds.  Slurm's own bf_max_job_test is 500, and its default_queue_depth, of
 * the main scheduler, 100: a job that either looks at is one of the window, and backfill alone reserves.
 */
static void print_options(const char *parameters)
{
	int64_t reserved = find_number(parameters, "bf_max_job_test", find_number(parameters, "max_job_bf", 500));
	int64_t window = find_number(parameters, "default_queue_depth", 100);
	bool assoc = find_number(parameters, "bf_max_job_assoc", 0) > 0;
	const char *word;

	reserved = reserved < 1 ? 500 : reserved > MOST_WINDOW ? MOST_WINDOW : reserved;
	window = window < reserved ? reserved : window > MOST_WINDOW ? MOST_WINDOW : window;
	printf("window = %" PRId64 ", reserved = %" PRId64, window, reserved);
	for (size_t i = 0; (word = sl_switch_option(i)) != NULL; i++) {
		int64_t n = find_number(parameters, word, 0);

		if (n && !(assoc && !strcmp(word, "bf_max_job_user")))
			printf(", %s = %" PRId64, word + strlen("bf_"), n);
	}
}

static void print_site(const struct sl_conf *c)
{
	const struct sl_conf_value *type = sl_conf_get(c, "SchedulerType"), *words = sl_conf_get(c, "SchedulerParameters");
	const char *parameters = words ? words->value : "";

	printf("-- The site file for what slurm.conf says now.  There stands then:\n--\n");
	printf("--   SchedulerType=sched/lua\n--   SchedulerParameters=defer,sched_interval=-1");
	print_words(parameters, true);
	printf("\n--\n-- What becomes of the rest of its SchedulerParameters:\n--\n");
	print_words(parameters, false);
	printf("--\n-- Priorities, limits, partitions and reservations are Slurm's as before.\n--\n");
	sl_switch_print_day(c, stdout);
	printf("\nlocal sched = require \"sched\"\n\nreturn sched.site {\n");
	if (type && !strcasecmp(type->value, "sched/builtin")) {
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

/*
 * Partitions are read too, for what they share; where nodes or partitions cannot be read (a file of theirs is not
 * there, say), the rest is still worth knowing.
 */
static struct sl_conf *read_conf(const char *path, struct sl_error *err)
{
	struct sl_conf *c = sl_conf_read(path, SL_CONF_MACHINE, err);
	struct sl_error first = *err;

	if (c)
		return c;
	c = sl_conf_read(path, SL_CONF_SETTINGS, err);
	if (c)
		fprintf(stderr, "schedlua: %s (nodes and partitions are not looked at)\n", first.text);
	return c;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	const struct sl_conf_value *type;
	struct sl_error err = { .code = SL_OK };
	struct sl_conf *c;
	int status, rc = 0;

	if (sl_tool_parse(verb, NULL, argc, argv, 1, 1, &status) < 0)
		return status;
	c = read_conf(argv[0], &err);
	if (!c)
		return sl_tool_fail(&err);
	type = sl_conf_get(c, "SchedulerType");
	if (type && !strcasecmp(type->value, "sched/lua"))
		rc = sl_fail(&err, SL_EINVAL, "%s:%" PRIu64 ": SchedulerType is sched/lua already: expected sched/backfill or "
			     "sched/builtin", type->where.path, type->where.line);
	sl_notes_print(&c->notes, "schedlua: ", stderr);
	if (!rc)
		print_site(c);
	sl_conf_destroy(c);
	return rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

static const struct sl_option options[] = { { 0 } };

const struct sl_verb sl_verb_import_conf = {
	.name = "import-conf",
	.operands = "SLURM.CONF",
	.summary = "print the site file that does what a slurm.conf does now, and what changes",
	.options = options,
	.run = run,
};
