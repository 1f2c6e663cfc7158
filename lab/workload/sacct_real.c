/* SPDX-License-Identifier: MIT */
/*
 * workload/sacct_real.c - when a job really started by what sacct says of it, and what beside resources and priority kept
 * it waiting.
 *
 * Reason is "the last reason a job was blocked from running for something other than Priority or Resources" (sacct(1)), so
 * it says of a job that ran what had held it back.
 */
#include "workload/sacct.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

#define CLOCK_SHIFT_S 3600

const char sl_sacct_real_command[] =
	"TZ=UTC sacct -aXPD -S now-30days -E now --format=JobIDRaw,User,UID,Account,QOS,Partition,Submit,Eligible,Start,End,"
	"ElapsedRaw,Suspended,TimelimitRaw,State,Reason,Priority,Reservation,Constraints,ReqCPUS,AllocCPUS,ReqNodes,NNodes,ReqTRES,AllocTRES,NodeList";

/* Beginnings of Slurm's words for reasons. */
static const struct { const char *begin; uint32_t why; } reasons[] = {
	{ "Dependency", SL_REAL_DEPENDENCY }, { "BeginTime", SL_REAL_BEGIN }, { "JobHeld", SL_REAL_HOLD },
	{ "JobHoldMaxRequeue", SL_REAL_HOLD }, { "Reservation", SL_REAL_RESERVATION }, { "ReqNodeNotAvail", SL_REAL_NODES },
	{ "NodeDown", SL_REAL_NODES }, { "Nodes_required_for_job_are_DOWN", SL_REAL_NODES }, { "Licenses", SL_REAL_LICENSES },
	{ "Assoc", SL_REAL_LIMIT }, { "QOS", SL_REAL_LIMIT }, { "JobArrayTaskLimit", SL_REAL_LIMIT },
	{ "PartitionNodeLimit", SL_REAL_LIMIT }, { "PartitionTimeLimit", SL_REAL_LIMIT }, { "PartitionConfig", SL_REAL_LIMIT },
	{ "PartitionDown", SL_REAL_NODES }, { "PartitionInactive", SL_REAL_NODES }, { "Max", SL_REAL_LIMIT },
	{ "Constraints", SL_REAL_CONSTRAINTS }, { "AccountNotAllowed", SL_REAL_LIMIT }, { "AccountingPolicy", SL_REAL_LIMIT },
};

/* What a column tells, when it says anything. */
static const struct { enum sl_sacct_used column; uint32_t why; } columns[] = {
	{ SL_SACCT_RESERVATION, SL_REAL_RESERVATION }, { SL_SACCT_CONSTRAINTS, SL_REAL_CONSTRAINTS },
	{ SL_SACCT_LICENSES, SL_REAL_LICENSES },
};

/* The bits that are not known where a column is not there. */
static const struct { enum sl_sacct_used column; uint32_t lacks; } needed[] = {
	{ SL_SACCT_ELIGIBLE, SL_REAL_ELIGIBLE | SL_REAL_LATER },
	{ SL_SACCT_REASON, SL_REAL_DEPENDENCY | SL_REAL_BEGIN | SL_REAL_HOLD | SL_REAL_LIMIT | SL_REAL_NODES },
	{ SL_SACCT_RESERVATION, SL_REAL_RESERVATION }, { SL_SACCT_CONSTRAINTS, SL_REAL_CONSTRAINTS },
	{ SL_SACCT_LICENSES, SL_REAL_LICENSES }, { SL_SACCT_SUSPENDED, SL_REAL_SUSPENDED }, { SL_SACCT_PRIORITY, SL_REAL_PRIORITY },
};

void sl_sacct_real_lacks(struct sl_sacct *d, const bool has[SL_SACCT_USED])
{
	struct sl_reals *r = sl_store_reals(d->s);

	for (size_t i = 0; r && i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!has[needed[i].column])
			r->lacks |= needed[i].lacks;
	if (r && !has[SL_SACCT_START])
		sl_reals_fail(r, SL_EFORMAT, "%s:1: no column Start: it does not say when jobs really started; expected what this prints: %s",
			      d->path, sl_sacct_real_command);
}

static bool is_said(const char *text)
{
	return *text && strcasecmp(text, "None") && strcasecmp(text, "Unknown") && strcasecmp(text, "N/A") &&
		strcasecmp(text, "(null)");
}

static uint32_t why_of(const struct sl_sacct *d)
{
	const char *reason = d->text[SL_SACCT_REASON], *state = d->text[SL_SACCT_STATE];
	uint32_t why = 0;
	int64_t n;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (!strncasecmp(reason, reasons[i].begin, strlen(reasons[i].begin)))
			why |= reasons[i].why;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (is_said(d->text[columns[i].column]))
			why |= columns[i].why;
	if (!strncmp(state, "REQUEUED", 8) || !strncmp(state, "NODE_FAIL", 9) || !strncmp(state, "PREEMPTED", 9) ||
	    (sl_scan_whole(d->text[SL_SACCT_RESTARTS], &n) && n > 0))
		why |= SL_REAL_REQUEUED;
	if (sl_scan_duration(d->text[SL_SACCT_SUSPENDED], &n) && n > 0)
		why |= SL_REAL_SUSPENDED;
	return why;
}

/* Where clocks were changed while a job ran, End - Start is an hour more or less than it ran. */
static void look_at_clock(struct sl_sacct *d, struct sl_reals *r, int64_t start_s, uint32_t why)
{
	int64_t end, elapsed;

	if (why & SL_REAL_SUSPENDED || !sl_scan_whole(d->text[SL_SACCT_ELAPSEDRAW], &elapsed) ||
	    !sl_scan_time(d->text[SL_SACCT_END], &end) || llabs(end - start_s - elapsed) != CLOCK_SHIFT_S)
		return;
	sl_reals_fail(r, SL_EFORMAT, "%s:%" PRIu64 ": the job ends %+d s later than Start and ElapsedRaw say: the clock was changed "
		      "meanwhile, and times of two clocks cannot be compared; expected times of one (TZ=UTC sacct ...)", d->path, d->line,
		      end - start_s > elapsed ? CLOCK_SHIFT_S : -CLOCK_SHIFT_S);
}

bool sl_sacct_is_running(const struct sl_sacct *d)
{
	const char *state = d->text[SL_SACCT_STATE];
	int64_t start;

	return sl_store_reals(d->s) && (!strncmp(state, "RUNNING", 7) || !strcmp(state, "R") || !strncmp(state, "COMPLETING", 10)) &&
		sl_scan_time(d->text[SL_SACCT_START], &start);
}

/* True if a command line has --exclusive: all of each node, whatever else it says, and not only for a user or a label. */
static bool is_exclusive(const char *line)
{
	static const char option[] = "--exclusive";

	for (const char *p = line; (p = strstr(p, option)); p += sizeof(option) - 1)
		if ((p == line || p[-1] == ' ') && (!p[sizeof(option) - 1] || p[sizeof(option) - 1] == ' '))
			return true;
	return false;
}

/*
 * As many nodes as it had, no more, and all CPUs that it had there.  Whether it had whole nodes because it asked for them is said by
 * its command line alone: then its CPUs are those that it asked for, since it gets all of any nodes.
 */
static void take_size(const struct sl_sacct *d, struct sl_draft *j)
{
	int64_t nodes, cpus;

	if (!sl_scan_whole(d->text[SL_SACCT_NNODES], &nodes) && !sl_scan_whole(d->text[SL_SACCT_ALLOCNODES], &nodes))
		nodes = 0;
	if (nodes > 0 && nodes < SL_NONE)
		j->min_nodes = j->max_nodes = (uint32_t) nodes;
	if (is_exclusive(d->text[SL_SACCT_SUBMITLINE]))
		j->flags |= SL_JOBF_EXCLUSIVE;
	else if (sl_scan_whole(d->text[SL_SACCT_ALLOCCPUS], &cpus) && cpus > j->tasks && cpus < SL_NONE)
		j->tasks = (uint32_t) cpus;
}

void sl_sacct_add_real(struct sl_sacct *d, struct sl_draft *j)
{
	struct sl_reals *r = sl_store_reals(d->s);
	int64_t start, eligible, priority;
	uint32_t why;

	if (!r || j->runtime_s <= 0 || !sl_scan_time(d->text[SL_SACCT_START], &start))
		return;
	take_size(d, j);
	why = why_of(d);
	look_at_clock(d, r, start, why);
	if (!sl_scan_time(d->text[SL_SACCT_ELIGIBLE], &eligible))
		eligible = INT64_MIN;
	if (!sl_scan_whole(d->text[SL_SACCT_PRIORITY], &priority) || priority < 0 || priority >= SL_NONE)
		priority = 0;
	sl_reals_add(r, j, eligible, start, (uint32_t) priority, why, d->text[SL_SACCT_NODELIST]);
}
