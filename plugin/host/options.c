/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - see options.h */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "plugin/host/options.h"

enum kind { PATH, WORD, STOCK, CHOICE, NUMBER };

static const struct option {
	const char *name;
	enum kind kind;
	size_t offset, size;		/* of the field; size of a PATH or WORD */
	double min, max, preset;
	const char *unit, *doc;	/* CHOICE: the words, the first is the default */
} table[] = {
#define FIELD(f) offsetof(struct sl_options, f), sizeof(((struct sl_options *) 0)->f)
	{ "lua_site", PATH, FIELD(site), 0, 0, 0, "path", "site file; default: sched.lua beside slurm.conf" },
	{ "lua_engine", PATH, FIELD(engine), 0, 0, 0, "path", "the program schedlua; default: where it was installed" },
	{ "lua_path", PATH, FIELD(policy_path), 0, 0, 0, "paths", "further directories of policies, colon-separated" },
	{ "lua_publish", PATH, FIELD(publish), 0, 0, 0, "path", "directory for a journal that everybody may read" },
	{ "lua_shadow", STOCK, FIELD(shadow), 0, 0, 0, "scheduler", "backfill or builtin: Slurm's own schedules, and sched/lua only looks on" },
	{ "lua_shapes", CHOICE, FIELD(shapes), 0, 0, 0, "within,any,off", "alternatives of jobs that may be started: within what the job itself asks for, any, none" },
	{ "lua_user", WORD, FIELD(user), 0, 0, 0, "user", "who the engine becomes when slurmctld is root; default: nobody" },
	{ "lua_interval", NUMBER, FIELD(interval_s), 0.1, 3600, 0, "s", "longest time between two cycles; default: the site file's, else 3" },
	{ "lua_budget", NUMBER, FIELD(budget_s), 0.01, 600, 0, "s", "time a policy may take; default: the site file's, else 2" },
	{ "lua_batch", NUMBER, FIELD(batch_ms), 1, 1000, 20, "ms", "longest time that starts hold slurmctld's locks at a stretch" },
	{ "lua_wake", NUMBER, FIELD(wake_ms), 10, 10000, 100, "ms", "how soon a job that arrives or ends is noticed" },
	{ "lua_capture", NUMBER, FIELD(capture_s), 0, 86400, 60, "s", "how often the snapshot is kept as last.snap; 0: never" },
	{ "lua_record", NUMBER, FIELD(record_s), 0, 86400, 0, "s", "how often a snapshot is kept for schedlua replay; 0: never" },
	{ "lua_record_files", NUMBER, FIELD(record_files), 1, 1000000, 1440, "files", "snapshots kept for replay at most" },
	{ "lua_record_size", NUMBER, FIELD(record_mib), 1, 1048576, 1024, "MiB", "room that they may take, compressed" },
	{ "lua_finished", NUMBER, FIELD(finished_s), 0, 86400, 120, "s", "how long finished jobs stay in the snapshot" },
	{ "lua_reason_text", NUMBER, FIELD(reason_text), 0, 1, 0, "1 or 0", "1: squeue shows the engine's text in place of Slurm's reason" },
#undef FIELD
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

static void set_number(struct sl_options *opt, const struct option *o, double v)
{
	memcpy((char *) opt + o->offset, &v, sizeof(v));
}

static int parse_number(struct sl_options *opt, const struct option *o, const char *text, struct sl_error *err)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end || errno || !isfinite(v) || v < o->min || v > o->max)
		return sl_fail(err, SL_EINVAL, "SchedulerParameters: %s=%s: expected a number from %g to %g (%s)",
			       o->name, text, o->min, o->max, o->unit);
	set_number(opt, o, v);
	return 0;
}

static int parse_stock(struct sl_options *opt, const char *value, struct sl_error *err)
{
	bool known = !strcmp(value, "backfill") || !strcmp(value, "builtin");

	strcpy(opt->shadow, known ? value : "backfill");
	return known ? 0 : sl_fail(err, SL_EINVAL, "SchedulerParameters: lua_shadow=%.80s: expected backfill or builtin", value);
}

static int parse_choice(struct sl_options *opt, const struct option *o, const char *value, struct sl_error *err)
{
	if (!*value || strchr(value, ',') || !sl_list_has(o->unit, ",", value, strlen(value)))
		return sl_fail(err, SL_EINVAL, "SchedulerParameters: %s=%.80s: expected one of %s", o->name, value, o->unit);
	strcpy((char *) opt + o->offset, value);
	return 0;
}

static int unknown_word(const char *word, struct sl_error *err)
{
	char known[300] = "";
	size_t i, n = 0;

	for (i = 0; i < OPTIONS && n < sizeof(known); i++)
		n += (size_t) snprintf(known + n, sizeof(known) - n, "%s%s", i ? ", " : "", table[i].name);
	return sl_fail(err, SL_EINVAL, "SchedulerParameters: %.80s: sched/lua has no such option; known: %s", word, known);
}

static int parse_word(struct sl_options *opt, const char *word, struct sl_error *err)
{
	const char *eq = strchr(word, '=');
	size_t n = eq ? (size_t) (eq - word) : strlen(word);
	const char *value = eq ? eq + 1 : "";
	size_t i;

	for (i = 0; i < OPTIONS; i++) {
		const struct option *o = &table[i];

		if (strlen(o->name) != n || strncmp(o->name, word, n))
			continue;
		if (o->kind == STOCK)
			return parse_stock(opt, value, err);
		if (o->kind == CHOICE)
			return parse_choice(opt, o, value, err);
		if (!*value)
			return sl_fail(err, SL_EINVAL, "SchedulerParameters: %s: a value is missing", o->name);
		if (o->kind == NUMBER)
			return parse_number(opt, o, value, err);
		if (o->kind == WORD && strlen(value) >= o->size)
			return sl_fail(err, SL_EINVAL, "SchedulerParameters: %s=%.80s: expected less than %zu bytes", o->name,
				       value, o->size);
		if (o->kind == PATH && (*value != '/' || strlen(value) >= o->size))
			return sl_fail(err, SL_EINVAL, "SchedulerParameters: %s=%.80s: expected an absolute path of less than %zu bytes",
				       o->name, value, o->size);
		strcpy((char *) opt + o->offset, value);
		return 0;
	}
	return unknown_word(word, err);
}

int sl_sched_params_parse(struct sl_options *opt, const char *engine, const char *params,
			  void (*wrong)(const char *text), struct sl_error *err)
{
	bool defer = false, defer_batch = false;
	struct sl_error why;
	char *copy, *word, *save = NULL;
	int rc = 0;
	size_t i;

	memset(opt, 0, sizeof(*opt));
	for (i = 0; i < OPTIONS; i++)
		if (table[i].kind == NUMBER)
			set_number(opt, &table[i], table[i].preset);
		else if (table[i].kind == CHOICE)
			memcpy((char *) opt + table[i].offset, table[i].unit, strcspn(table[i].unit, ","));
	snprintf(opt->engine, sizeof(opt->engine), "%s", engine);
	if (!(copy = strdup(params ? params : "")))
		return sl_fail(err, SL_ENOMEM, "SchedulerParameters: out of memory");
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		if (!strcasecmp(word, "sched_interval=-1"))
			opt->main_off = true;
		else if (!strcasecmp(word, "defer"))
			defer = true;
		else if (!strcasecmp(word, "defer_batch"))
			defer_batch = true;
		else if (!strcasecmp(word, "reduce_completing_frag"))
			opt->completing_frag = true;
		else if (!strncasecmp(word, "max_rpc_cnt=", 12) || !strncasecmp(word, "max_rpc_count=", 14))
			opt->max_rpc_cnt = atoi(strchr(word, '=') + 1);
		else if (!strncmp(word, "lua_", 4) && parse_word(opt, word, &why)) {
			if (wrong)
				wrong(why.text);
			if (!rc && err)
				*err = why;
			rc = -1;
		}
	}
	opt->defer = defer && !defer_batch;
	free(copy);
	return rc;
}

const char *sl_options_missing(const struct sl_options *opt)
{
	if (opt->main_off && opt->defer)
		return NULL;
	if (opt->main_off)
		return "defer (and not defer_batch)";
	return opt->defer ? "sched_interval=-1" : "defer,sched_interval=-1";
}
