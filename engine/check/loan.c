/* SPDX-License-Identifier: MIT */
/* check/loan.c - whether a job may use nodes of other partitions: see check.h, "Borrowing". */
#include "check/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int check_available(struct check *c, const struct row *r, uint32_t node)
{
	int in = check_member(c, r->partition, node);

	if (r->through == SL_NONE || in < 0)
		return in;
	for (uint32_t i = r->lenders.first; !in && i < r->lenders.first + r->lenders.count; i++)
		in = check_member(c, c->plan->lender.partition[i], node);
	return in <= 0 ? in : check_member(c, r->through, node);
}

/* Number of times a word occurs in a comma-separated list. */
static unsigned count_word(const char *list, const char *word)
{
	char *copy = strdup(list), *rest = copy, *w;
	unsigned n = 0;

	while (copy && (w = strsep(&rest, ",")))
		n += !strcmp(w, word);
	free(copy);
	return n;
}

/* Why the partition does not admit the job by account, QOS or user; NULL if it does. */
static const char *access_forbids(const struct check *c, const struct row *r, uint32_t p)
{
	const struct sl_partition_view *part = &c->snap->partition;
	const struct sl_job_view *job = &c->snap->job;
	const char *account = check_str(c, job->account[r->job]), *qos = check_str(c, job->qos[r->job]);
	const char *accounts = check_str(c, part->allow_accounts[p]), *qoses = check_str(c, part->allow_qos[p]);
	const char *users = check_str(c, part->allow_users[p]);
	char uid[24];

	snprintf(uid, sizeof(uid), "%" PRIu32, job->uid[r->job]);
	if (*accounts && !count_word(accounts, account))
		return "its AllowAccounts";
	if (!*accounts && *account && count_word(check_str(c, part->deny_accounts[p]), account))
		return "its DenyAccounts";
	if (*qoses && !count_word(qoses, qos))
		return "its AllowQos";
	if (!*qoses && *qos && count_word(check_str(c, part->deny_qos[p]), qos))
		return "its DenyQos";
	if (job->uid[r->job] && *users && !count_word(users, uid))
		return "its AllowGroups";
	if (job->uid[r->job] && p != r->through && (part->flags[p] & SL_PART_ROOT_ONLY))
		return "RootOnly";
	return NULL;
}

/* Why the partition's limits exclude the job; NULL if they do not. */
static const char *partition_forbids(const struct check *c, const struct row *r, uint32_t p)
{
	const struct sl_partition_view *part = &c->snap->partition;
	uint32_t alike = SL_PART_EXCLUSIVE_USER | SL_PART_EXCLUSIVE_TOPO | SL_PART_OTHER_TOPOLOGY | SL_PART_LLN | SL_PART_FORCE;

	if (!(part->flags[p] & SL_PART_UP))
		return "its state";
	if (r->until - r->boots - r->at > part->max_time[p])
		return "its MaxTime";
	if (part->max_nodes[p] && r->places.count > part->max_nodes[p])
		return "its MaxNodes";
	if (r->places.count < part->min_nodes[p])
		return "its MinNodes";
	if (part->max_cpus_per_node[p] != SL_NONE && part->max_cpus_per_node[p])
		return "its MaxCPUsPerNode";
	if (part->max_cpus_per_socket[p] != SL_NONE)
		return "its MaxCPUsPerSocket";
	if (part->oversubscribe[p] != part->oversubscribe[r->partition] ||
	    (part->flags[p] & alike) != (part->flags[r->partition] & alike))
		return "how it shares nodes";
	return access_forbids(c, r, p);
}

static int check_lender(struct check *c, const struct row *r, uint32_t p)
{
	const char *why;

	if (p >= c->snap->partition.rows)
		return check_fail(c, r, "borrows through or from partition row %" PRIu32 ", which does not exist", p);
	why = partition_forbids(c, r, p);
	if (!why)
		return 0;
	return check_fail(c, r, "borrows nodes with partition %s, which %s forbids",
			  check_str(c, c->snap->partition.name[p]), why);
}

int check_loan(struct check *c, const struct row *r)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range asked = s->job.partitions[r->job];
	bool own = s->job.partition[r->job] == r->through;

	if (r->through == SL_NONE)
		return !r->lenders.count ? 0 : check_fail(c, r, "has lenders, and no partition to borrow through");
	for (uint32_t i = asked.first; i < asked.first + asked.count; i++)
		own |= s->job_partition.partition[i] == r->through;
	if (own || r->native)
		return check_fail(c, r, "borrows nodes, but %s",
				  own ? "asks for the partition that it borrows through" : "is native");
	if (s->partition.max_cpus_per_node[r->partition] != SL_NONE && s->partition.max_cpus_per_node[r->partition])
		return check_fail(c, r, "borrows nodes, but its partition has MaxCPUsPerNode");
	if (check_lender(c, r, r->through) < 0)
		return -1;
	for (uint32_t i = r->lenders.first; i < r->lenders.first + r->lenders.count; i++)
		if (check_lender(c, r, c->plan->lender.partition[i]) < 0)
			return -1;
	return 0;
}
