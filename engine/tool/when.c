/* SPDX-License-Identifier: MIT */
#include "tool/when.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/text.h"
#include "image/nodelist.h"

/* What the line is made from. */
struct line {
	const struct sl_when *w;
	const struct sl_snapshot *snap;	/* or NULL */
	uint32_t row;			/* of the job; SL_NONE without a snapshot */
	int64_t now;
	FILE *out;
};

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static uint32_t find_row(const struct sl_snapshot *snap, uint32_t id)
{
	for (uint32_t j = 0; snap && j < snap->job.rows; j++)
		if (snap->job.id[j] == id)
			return j;
	return SL_NONE;
}

static const char *text_of(const struct line *l, const uint32_t *column)
{
	return sl_snapshot_str(l->snap, column[l->row]);
}

/* -- what it asks for ------------------------------------------------------------ */

/* Does each core of the job's partition have one thread?  CPUs are cores there. */
static bool cpus_are_cores(const struct line *l)
{
	struct sl_range runs = l->snap->partition.nodes[l->snap->job.partition[l->row]];

	return runs.count && l->snap->node.threads[l->snap->run.first[runs.first]] == 1;
}

static void put_gpus(const struct line *l)
{
	static const char *const each[] = { [SL_PER_NODE] = " on each", [SL_PER_JOB] = " in all", [SL_PER_TASK] = " for each task",
					    [SL_PER_SOCKET] = " on each socket" };
	const struct sl_job_gres_view *g = &l->snap->job_gres;
	struct sl_range asked = l->snap->job.gres[l->row];

	for (uint32_t i = asked.first; i < asked.first + asked.count; i++)
		if (!strcmp(sl_snapshot_str(l->snap, g->name[i]), "gpu"))
			fprintf(l->out, " and %" PRIu32 " %s%sGPU%s%s", g->count[i], sl_snapshot_str(l->snap, g->type[i]),
				*sl_snapshot_str(l->snap, g->type[i]) ? " " : "", plural(g->count[i]),
				l->snap->job.min_nodes[l->row] > 1 && g->per[i] < sizeof(each) / sizeof(each[0]) ? each[g->per[i]] : "");
}

/* "1 node with 4 cores and 2 GPUs" */
static void put_request(const struct line *l)
{
	const struct sl_job_view *job = &l->snap->job;
	uint32_t nodes = job->min_nodes[l->row], cpus = job->min_cpus[l->row];
	bool whole = job->flags[l->row] & SL_JOBF_EXCLUSIVE;

	fprintf(l->out, "%" PRIu32 " %snode%s", nodes, whole ? "whole " : "", plural(nodes));
	if (!whole)
		fprintf(l->out, " with %" PRIu32 " %s%s%s", cpus, cpus_are_cores(l) ? "core" : "CPU", plural(cpus), nodes > 1 ? " in all" : "");
	put_gpus(l);
}

/* -- when ------------------------------------------------------------------------ */

void sl_when_interval(const struct sl_standing *s, int64_t now, FILE *out)
{
	char at[SL_TEXT_SIZE];

	fprintf(out, "%s", s->likely ? sl_text_clock(at, s->likely, now) : "later than is foreseen");
	if (!s->confidence || !s->low)
		return;
	fprintf(out, " (%.0f %%: ", 100 * s->confidence);
	if (s->high)
		fprintf(out, "%s to ", sl_text_clock(at, s->low, now));
	else
		fprintf(out, "not before ");
	fprintf(out, "%s)", sl_text_clock(at, s->high ? s->high : s->low, now));
}

/* The start that is told to users where the site makes no forecasts; 0: none is. */
static int64_t told_start(const struct line *l)
{
	if (l->w->start_s)
		return l->w->start_s;
	return l->row != SL_NONE && l->snap->job.start_time[l->row] > l->now ? l->snap->job.start_time[l->row] : 0;
}

static void put_start(const struct line *l)
{
	int64_t start = told_start(l);
	bool shadow = *l->w->stock;
	char at[SL_TEXT_SIZE];

	if (l->w->standing.confidence) {
		fputs(shadow ? " They would start it: " : " Expected ", l->out);
		sl_when_interval(&l->w->standing, l->now, l->out);
	} else if (start) {
		fprintf(l->out, "%s%s (%s)", shadow && l->w->start_s ? " They would start it " : " Expected ",
			start > l->now ? sl_text_clock(at, start, l->now) : "any moment",
			l->w->start_s ? "reserved, by walltimes" : "by walltimes");
	} else {
		fputs(" When is not known yet", l->out);
	}
	fputc('.', l->out);
}

static void put_ahead(const struct line *l)
{
	int64_t ahead = l->w->standing.ahead;

	const char *whose = *l->w->stock ? " For them" : "";

	if (!ahead)
		fprintf(l->out, "%s %s is the next in line.", whose, *whose ? "it" : "It");
	else if (ahead > 0)
		fprintf(l->out, "%s %" PRId64 " job%s ahead.", whose, ahead, ahead == 1 ? " is" : "s are");
}

/* -- what holds it back ------------------------------------------------------------ */

/* Whys whose text, and not the size of the job, is what it waits for. */
static bool text_says_it(const char *why)
{
	static const char *const plain[] = { "resources", "priority", "window", "budget", "none", "cost" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(why, plain[i]))
			return false;
	return *why;
}

/* Of a job that competes. */
static void put_waiting(const struct line *l)
{
	const struct sl_when *w = l->w;

	if (!strcmp(w->why, "never")) {
		fputs(" cannot start as it asks: ", l->out);
		fputs(*w->text ? w->text : w->why, l->out);
		fputc('.', l->out);
		return;
	}
	fputs(" waits", l->out);
	if (text_says_it(w->why)) {
		fputs(": ", l->out);
		fputs(*w->text ? w->text : w->why, l->out);
	} else if (l->snap) {
		fputs(" for ", l->out);
		put_request(l);
	}
	fputc('.', l->out);
	if (*w->stock)
		fprintf(l->out, " Slurm's %s decides, the policies only look on (shadow mode).", w->stock);
	put_ahead(l);
	put_start(l);
}

static void put_held(const struct line *l, const char *reason)
{
	if (!strcmp(reason, "JobHeldUser"))
		fprintf(l->out, " is held by its user: \"scontrol release %" PRIu32 "\" lets it compete.", l->w->job);
	else if (!strcmp(reason, "JobHeldAdmin"))
		fputs(" is held by an administrator, who can release it.", l->out);
	else
		fprintf(l->out, " is held%s%s%s.", *reason && strcmp(reason, "None") ? " (" : "", strcmp(reason, "None") ? reason : "",
			*reason && strcmp(reason, "None") ? ")" : "");
}

static void put_dependent(const struct line *l, const char *reason)
{
	if (!strcmp(reason, "DependencyNeverSatisfied"))
		fputs(" never starts: what it depends on can no longer come true", l->out);
	else
		fputs(" waits for other jobs", l->out);
	if (*l->w->dependency) {
		fputs(" (", l->out);
		fputs(l->w->dependency, l->out);
		fputc(')', l->out);
	}
	fputc('.', l->out);
}

/* Of a job beyond a limit of its partition, which no time can help: what it asks for and what is allowed.  False: it is
 * within them, and nothing is written. */
static bool put_too_large(const struct line *l)
{
	const struct sl_partition_view *part = &l->snap->partition;
	uint32_t p = l->snap->job.partition[l->row], nodes = l->snap->job.min_nodes[l->row];
	const char *name = sl_snapshot_str(l->snap, part->name[p]);
	int64_t time_s = l->snap->job.time_limit[l->row];

	if (time_s != SL_UNLIMITED && time_s > part->max_time[p])
		fprintf(l->out, " cannot start as it asks: it asks for %" PRId64 " minutes, partition %s allows %" PRId64 ".",
			time_s / 60, name, part->max_time[p] / 60);
	else if (part->max_nodes[p] && nodes > part->max_nodes[p])
		fprintf(l->out, " cannot start as it asks: it asks for %" PRIu32 " node%s, partition %s allows %" PRIu32 ".", nodes,
			plural(nodes), name, part->max_nodes[p]);
	else if (nodes < part->min_nodes[p])
		fprintf(l->out, " cannot start as it asks: it asks for %" PRIu32 " node%s, partition %s is for %" PRIu32 " and more.",
			nodes, plural(nodes), name, part->min_nodes[p]);
	else
		return false;
	return true;
}

/* Does a capture have it queued that may not start?  Slurm tells captures little of its queue. */
static bool is_aside(const struct line *l)
{
	const char *reason = text_of(l, l->snap->job.state_reason);

	return !*l->w->why && (!strncmp(reason, "Assoc", 5) || !strncmp(reason, "QOS", 3) || !strncmp(reason, "Dependency", 10) ||
			       l->snap->job.begin_time[l->row] > l->now);
}

/* Of a job that waits and does not compete: Slurm's own reason. */
static void put_aside(const struct line *l)
{
	const struct sl_job_view *job = &l->snap->job;
	const char *reason = text_of(l, job->state_reason);
	char at[SL_TEXT_SIZE];

	if (sl_when_limit(l->snap, l->row, reason, l->out))
		return;
	if (job->flags[l->row] & SL_JOBF_HELD || !strncmp(reason, "JobHeld", 7))
		put_held(l, reason);
	else if (job->flags[l->row] & SL_JOBF_DEPENDENT || !strncmp(reason, "Dependency", 10))
		put_dependent(l, reason);
	else if (job->begin_time[l->row] > l->now)
		fprintf(l->out, " does not start before %s, its begin time.", sl_text_clock(at, job->begin_time[l->row], l->now));
	else if ((strcmp(reason, "PartitionTimeLimit") && strcmp(reason, "PartitionNodeLimit")) || !put_too_large(l))
		fprintf(l->out, " may not start yet%s%s%s.", *reason ? " (" : "", reason, *reason ? ")" : "");
}

static void put_running(const struct line *l)
{
	const struct sl_job_view *job = &l->snap->job;
	char at[SL_TEXT_SIZE];

	fprintf(l->out, " runs since %s", sl_text_clock(at, job->start_time[l->row], l->now));
	if (job->end_time[l->row] > l->now && job->end_time[l->row] != SL_UNLIMITED)
		fprintf(l->out, " and ends by %s", sl_text_clock(at, job->end_time[l->row], l->now));
	fputc('.', l->out);
}

/* -- the line --------------------------------------------------------------------- */

/* Jobs before it in Slurm's order of its own partition; -1: it is not queued. */
static int64_t queued_ahead(const struct line *l)
{
	const struct sl_queue_view *q = &l->snap->queue;
	uint32_t ahead = 0;

	for (uint32_t i = 0; i < q->rows; i++) {
		if (q->job[i] == l->row)
			return ahead;
		ahead += q->partition[i] == l->snap->job.partition[l->row];
	}
	return -1;
}

static bool put_line(struct line *l, struct sl_when *w)
{
	enum sl_job_state state = l->row == SL_NONE ? SL_JOB_PENDING : (enum sl_job_state) l->snap->job.state[l->row];
	int64_t queued = l->row == SL_NONE ? 0 : queued_ahead(l);

	fprintf(l->out, "Job %" PRIu32, w->job);
	if (state == SL_JOB_RUNNING)
		put_running(l);
	else if (state != SL_JOB_PENDING)
		return false;
	else if (queued < 0 || (l->row != SL_NONE && is_aside(l)))
		put_aside(l);
	else
		put_waiting(l);
	return true;
}

/* One line, whatever users have written into a request. */
static char *end_line(char *text)
{
	char *line;

	if (asprintf(&line, "%s\n", sl_plain(text)) < 0)
		line = NULL;
	free(text);
	return line;
}

char *sl_when_line(const struct sl_when *known, const struct sl_snapshot *snap)
{
	struct sl_when w = *known;
	struct line l = { .w = &w, .snap = snap, .row = find_row(snap, w.job) };
	size_t size = 0;
	char *text = NULL;
	bool said;

	if (l.row == SL_NONE && !*w.why)
		return NULL;
	if (l.row == SL_NONE)
		l.snap = NULL;
	l.now = l.snap ? snap->meta.now[0] : w.now;
	if (l.snap && !w.ordered)
		w.standing.ahead = queued_ahead(&l);
	l.out = open_memstream(&text, &size);
	if (!l.out)
		return NULL;
	said = put_line(&l, &w);
	if (!fclose(l.out) && said)
		return end_line(text);
	free(text);
	return NULL;
}

/* -- what a reservation costs --------------------------------------------------------- */

struct idle {
	const struct sl_snapshot *snap;
	int64_t now, until;
	double core_s;
};

static int add_node(const char *name, void *arg)
{
	struct idle *x = arg;
	const struct sl_snapshot *s = x->snap;
	uint32_t n = 0;

	while (n < s->node.rows && strcmp(sl_snapshot_str(s, s->node.name[n]), name))
		n++;
	if (n == s->node.rows)
		return 0;
	x->core_s += (double) s->node.cores[n] * (double) (x->until - x->now);
	for (uint32_t j = 0; j < s->job.rows; j++) {
		struct sl_range alloc = s->job.alloc[j];
		int64_t end = s->job.end_time[j] < x->until ? s->job.end_time[j] : x->until;

		for (uint32_t a = alloc.first; end > x->now && a < alloc.first + alloc.count; a++)
			if (s->alloc.node[a] == n)
				x->core_s -= (double) s->alloc.cores[a] * (double) (end - x->now);
	}
	return 0;
}

double sl_when_idle(const struct sl_when *w, const struct sl_snapshot *snap)
{
	struct idle x = { .snap = snap, .now = snap->meta.now[0], .until = w->start_s };

	if (!*w->nodes || x.until <= x.now || sl_nodelist_split(w->nodes, add_node, &x, NULL))
		return 0;
	return x.core_s > 0 ? x.core_s : 0;
}
