/* SPDX-License-Identifier: MIT */
#include "tool/switch_day.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/lines.h"

static const char *value_of(const struct sl_conf *c, const char *key)
{
	const struct sl_conf_value *v = sl_conf_get(c, key);

	return v ? v->value : "";
}

static bool always(const struct sl_conf *c)
{
	(void) c;
	return true;
}

static bool preempts(const struct sl_conf *c)
{
	const char *type = value_of(c, "PreemptType");

	return *type && strcasecmp(type, "preempt/none");
}

static bool has_gangs(const struct sl_conf *c)
{
	return strcasestr(value_of(c, "PreemptMode"), "GANG");
}

static bool shares_cores(const struct sl_conf *c)
{
	for (uint32_t i = 0; i < c->partitions; i++)
		if (c->partition[i].oversubscribe > 1 || c->partition[i].force)
			return true;
	return false;
}

static bool saves_power(const struct sl_conf *c)
{
	const char *time = value_of(c, "SuspendTime");

	return *value_of(c, "SuspendProgram") && *time && strcmp(time, "-1") && strcasecmp(time, "INFINITE");
}

static bool lets_run_on(const struct sl_conf *c)
{
	const char *limit = value_of(c, "OverTimeLimit");

	return *limit && strcmp(limit, "0");
}

static bool has_backup(const struct sl_conf *c)
{
	return sl_conf_count(c, "SlurmctldHost") > 1 || *value_of(c, "BackupController");
}

static bool has_basic_priorities(const struct sl_conf *c)
{
	return !strcasecmp(value_of(c, "PriorityType"), "priority/basic");
}

static bool is_federated(const struct sl_conf *c)
{
	return *value_of(c, "FederationParameters");
}

static const struct {
	bool (*is_so)(const struct sl_conf *c);
	const char *key, *text;		/* of several lines; key: an option whose value stands before it */
} changes[] = {
	{ always, NULL,
	  "Heterogeneous jobs are refused at submission unless SchedulerType is sched/backfill.  Where users\n"
	  "have them, install the loader under that name too (doc/plugin.md, Heterogeneous jobs) and leave\n"
	  "SchedulerType=sched/backfill." },
	{ always, NULL,
	  "sdiag's figures of the main scheduler and of backfill are those of sched/lua, whose cycle does what\n"
	  "both do (doc/serve.md, Slurm's own names)." },
	{ preempts, "PreemptType",
	  "Slurm's select preempts as before, for one job in a cycle, and chooses whom.  A job that may preempt\n"
	  "others is not planned as if it had to wait for their ends (doc/parity.md).  With sched.preempt in the\n"
	  "site file the plan chooses the cheapest whom Slurm lets be preempted (doc/preemption.md)." },
	{ has_gangs, "PreemptMode",
	  "slurmctld suspends and resumes gangs by itself; the plan takes a job that is suspended to go on at once." },
	{ shares_cores, NULL,
	  "Partitions share cores.  Cores that nobody has are given out first, as now; in a partition of YES:n a\n"
	  "job that does not share waits until those that do have left a node (doc/parity.md)." },
	{ saves_power, "SuspendTime",
	  "Nodes that are up are taken first, whatever their weight.  Nodes that sleep are there for the plan, which\n"
	  "counts the time of their boot (ResumeTimeout), and expects what starts behind one later (doc/placement.md)." },
	{ lets_run_on, "OverTimeLimit",
	  "The plan expects a job that is over its time limit to run on for so long, and one that outlasts that, too, to\n"
	  "go on for as long again (doc/placement.md, When a job ends)." },
	{ has_backup, NULL,
	  "Several controllers: install sched/lua and the site file on each (doc/operating.md, Two controllers)." },
	{ has_basic_priorities, "PriorityType",
	  "Jobs are in the order of their submission, as now.  Fair share, age and the like are layers of a policy\n"
	  "(doc/quotas.md) that need no slurmdbd." },
	{ is_federated, "FederationParameters",
	  "In a federation each cluster's policies see its own nodes and queue only; switch one after the other." },
};

static void print_text(const char *key, const char *value, const char *text, FILE *out)
{
	bool first = true;

	if (*value)
		fprintf(out, "--   * %s=%s\n", key, value);
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n', first = false)
		fprintf(out, "--   %s %.*s\n", first && !*value ? "*" : " ", (int) strcspn(p, "\n"), p);
}

void sl_switch_print_day(const struct sl_conf *c, FILE *out)
{
	fprintf(out, "-- What else changes on the day of the switch:\n--\n");
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const char *key = changes[i].key;

		if (changes[i].is_so(c))
			print_text(key, key ? value_of(c, key) : "", changes[i].text, out);
	}
	fprintf(out, "--\n");
}
