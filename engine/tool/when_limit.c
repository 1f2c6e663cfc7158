/* SPDX-License-Identifier: MIT */
/* when_limit.c - who holds what a limit is on (when.h). */
#include "tool/when.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define USERS_SHOWN 3

enum amount { JOBS, CPUS, NODES, GPUS };

/* Slurm's word for a limit (job_reason_string() of 22.05 to 26.05), taken apart. */
struct limit {
	bool qos;		/* of the QOS; else of the account's association */
	bool user, account;	/* what counts are jobs of the same user, or account */
	bool per_job;		/* on each job by itself: no other job holds anything */
	bool spent;		/* on what was used in the past: no job's end gives anything back */
	enum amount amount;
};

static bool has(const char *reason, const char *part)
{
	return strstr(reason, part) != NULL;
}

static bool read_limit(const char *reason, struct limit *l)
{
	bool assoc = !strncmp(reason, "Assoc", 5), qos = !strncmp(reason, "QOS", 3), group = has(reason, "Grp");
	bool per_account = !strncmp(reason, "Max", 3) && has(reason, "PerAccount");

	if (!assoc && !qos && !per_account)
		return false;
	*l = (struct limit) {
		.qos = qos || per_account,
		.user = has(reason, "PerUser") || (assoc && !group),
		.account = assoc || per_account,
		.per_job = has(reason, "PerJob") || has(reason, "PerNode") || !strncmp(reason, "QOSMin", 6),
		.spent = (has(reason, "Minutes") && !has(reason, "RunMinutes")) || has(reason, "GrpWall"),
		.amount = has(reason, "Cpu") || has(reason, "CPU") ? CPUS : has(reason, "Node") ? NODES :
			has(reason, "GRES") ? GPUS : JOBS,
	};
	return true;
}

struct holder {
	uint32_t user;		/* the string of the snapshot */
	uint64_t amount;
};

struct holders {
	struct holder of[USERS_SHOWN + 1];	/* the last one: all others */
	uint32_t users, jobs, first;		/* first: row of the job that ends first */
	uint64_t amount;
};

static uint64_t amount_of(const struct sl_snapshot *s, uint32_t row, enum amount what)
{
	struct sl_range alloc = s->job.alloc[row];
	uint64_t cores = 0;

	for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++)
		cores += s->alloc.cores[a];
	switch (what) {
	case CPUS:
		return s->job.alloc_cpus[row] ? s->job.alloc_cpus[row] : cores;
	case NODES:
		return s->job.alloc_nodes[row] ? s->job.alloc_nodes[row] : alloc.count;
	case GPUS:
		return s->job.alloc_gpus[row];
	case JOBS:
		break;
	}
	return 1;
}

static bool same(const struct sl_snapshot *s, const uint32_t *column, uint32_t a, uint32_t b)
{
	return !strcmp(sl_snapshot_str(s, column[a]), sl_snapshot_str(s, column[b]));
}

static void add_holder(struct holders *h, const struct sl_snapshot *s, uint32_t row, uint64_t amount)
{
	uint32_t i = 0;

	while (i < h->users && strcmp(sl_snapshot_str(s, h->of[i].user), sl_snapshot_str(s, s->job.user[row])))
		i++;
	if (i == h->users && h->users < USERS_SHOWN)
		h->of[h->users++].user = s->job.user[row];
	h->of[i].amount += amount;
	h->amount += amount;
	h->jobs++;
	if (h->first == SL_NONE || s->job.end_time[row] < s->job.end_time[h->first])
		h->first = row;
}

static struct holders find_holders(const struct sl_snapshot *s, uint32_t row, const struct limit *l)
{
	struct holders h = { .first = SL_NONE };

	for (uint32_t j = 0; j < s->job.rows; j++)
		if ((s->job.state[j] == SL_JOB_RUNNING || s->job.state[j] == SL_JOB_SUSPENDED) &&
		    (!l->qos || same(s, s->job.qos, j, row)) && (!l->account || same(s, s->job.account, j, row)) &&
		    (!l->user || same(s, s->job.user, j, row)))
			add_holder(&h, s, j, amount_of(s, j, l->amount));
	return h;
}

static void put_amount(FILE *out, uint64_t n, enum amount what)
{
	static const char *const word[] = { [JOBS] = "job", [CPUS] = "CPU", [NODES] = "node", [GPUS] = "GPU" };

	fprintf(out, "%" PRIu64 " %s%s", n, word[what], n == 1 ? "" : "s");
}

/* "user ada in account physics, QOS long" */
static void put_owner(const struct sl_snapshot *s, uint32_t row, const struct limit *l, FILE *out)
{
	const char *comma = "";

	if (l->user)
		fprintf(out, "user %s", sl_snapshot_str(s, s->job.user[row])), comma = ", ";
	if (l->account)
		fprintf(out, "%saccount %s", comma, sl_snapshot_str(s, s->job.account[row])), comma = ", ";
	if (l->qos)
		fprintf(out, "%sQOS %s", comma, sl_snapshot_str(s, s->job.qos[row]));
}

static void put_holders(const struct sl_snapshot *s, const struct limit *l, const struct holders *h, FILE *out)
{
	char at[SL_TEXT_SIZE];

	fputs(" Running jobs hold ", out);
	put_amount(out, h->amount, l->amount);
	if (!l->user) {
		for (uint32_t i = 0; i < h->users; i++)
			fprintf(out, "%s%s %" PRIu64, i ? ", " : " (", sl_snapshot_str(s, h->of[i].user), h->of[i].amount);
		if (h->of[USERS_SHOWN].amount)
			fprintf(out, ", others %" PRIu64, h->of[USERS_SHOWN].amount);
		fputc(')', out);
	}
	if (s->job.end_time[h->first] == SL_UNLIMITED || !s->job.end_time[h->first])
		fputs(", without a time limit.", out);
	else
		fprintf(out, "; job %" PRIu32 " of %s ends first, by %s.", s->job.id[h->first],
			sl_snapshot_str(s, s->job.user[h->first]), sl_text_clock(at, s->job.end_time[h->first], s->meta.now[0]));
}

bool sl_when_limit(const struct sl_snapshot *snap, uint32_t row, const char *reason, FILE *out)
{
	struct holders h;
	struct limit l;

	if (!read_limit(reason, &l))
		return false;
	fputs(l.per_job ? " cannot start as it asks: " : " waits: ", out);
	put_owner(snap, row, &l, out);
	if (l.per_job) {
		fprintf(out, ": the limit for one job does not allow that (%s).", reason);
		return true;
	}
	fprintf(out, "%s (%s).", l.spent ? ": what may be used is used up" : ": at a limit", reason);
	h = find_holders(snap, row, &l);
	if (l.spent)
		return true;
	if (h.jobs)
		put_holders(snap, &l, &h, out);
	else
		fputs(l.account && !l.user ? " No running job of it is seen: the limit may be that of an account above it." :
		      " No running job of it is seen.", out);
	return true;
}
