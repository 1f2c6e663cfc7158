/* SPDX-License-Identifier: MIT */
/*
 * loan.c - jobs that use nodes of other partitions.
 *
 * A loan is a pool of nodes: those of the job's own partition and of the lenders, restricted to nodes of the partition
 * through which the job is started.  The pool replaces the partition when a request is computed (want.c) and placed.  Jobs
 * with equal pools share a loan, so there are few.
 */
#include "model/cluster_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"

/* Flags in which the partitions must agree. */
#define SHARING (SL_PART_EXCLUSIVE_USER | SL_PART_EXCLUSIVE_TOPO | SL_PART_OTHER_TOPOLOGY | SL_PART_LLN | SL_PART_FORCE)

static const char *name_of(const struct sl_cluster *c, uint32_t partition)
{
	return cluster_str(c, c->snap->partition.name[partition]);
}

static bool refuse_loan(char why[160], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool refuse_loan(char why[160], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, 160, fmt, ap);
	va_end(ap);
	return false;
}

/* True if Slurm's allow and deny lists admit the word; an empty list is ignored. */
static bool is_allowed(const char *allow, const char *deny, const char *word)
{
	return *allow ? sl_list_has(allow, ",", word, strlen(word)) : !sl_list_has(deny, ",", word, strlen(word));
}

/* Check AllowAccounts, AllowQos, AllowGroups and RootOnly. */
static bool admits_job(const struct sl_cluster *c, uint32_t job, uint32_t p, bool lends, char why[160])
{
	const struct sl_partition_view *part = &c->snap->partition;
	const char *account = cluster_str(c, c->snap->job.account[job]), *qos = cluster_str(c, c->snap->job.qos[job]);
	uint32_t uid = c->snap->job.uid[job];
	char digits[16];

	if (!is_allowed(cluster_str(c, part->allow_accounts[p]), cluster_str(c, part->deny_accounts[p]), account))
		return refuse_loan(why, "partition %s does not admit account \"%s\"", name_of(c, p), account);
	if (!is_allowed(cluster_str(c, part->allow_qos[p]), cluster_str(c, part->deny_qos[p]), qos))
		return refuse_loan(why, "partition %s does not admit QOS \"%s\"", name_of(c, p), qos);
	if (!uid)
		return true;
	snprintf(digits, sizeof(digits), "%" PRIu32, uid);
	if (!is_allowed(cluster_str(c, part->allow_users[p]), "", digits))
		return refuse_loan(why, "partition %s does not admit user %s", name_of(c, p),
				   cluster_str(c, c->snap->job.user[job]));
	if (lends && (part->flags[p] & SL_PART_ROOT_ONLY))
		return refuse_loan(why, "partition %s is for root only", name_of(c, p));
	return true;
}

/* Check the partition's limits on size and time. */
static bool has_room(const struct sl_cluster *c, const struct sl_want *w, uint32_t p, char why[160])
{
	const struct sl_partition_view *part = &c->snap->partition;

	if (w->time_limit > part->max_time[p])
		return refuse_loan(why, "asks for %" PRId64 " minutes, partition %s allows %" PRId64, w->time_limit / 60,
				   name_of(c, p), part->max_time[p] / 60);
	if (part->max_nodes[p] && w->request.min_nodes > part->max_nodes[p])
		return refuse_loan(why, "needs %" PRIu32 " nodes, partition %s allows %" PRIu32, w->request.min_nodes,
				   name_of(c, p), part->max_nodes[p]);
	if (w->request.min_nodes < part->min_nodes[p])
		return refuse_loan(why, "needs %" PRIu32 " nodes, partition %s is for %" PRIu32 " and more",
				   w->request.min_nodes, name_of(c, p), part->min_nodes[p]);
	return true;
}

/* Check that jobs are laid out on nodes as in the job's own partition. */
static bool is_alike(const struct sl_cluster *c, uint32_t home, uint32_t p, char why[160])
{
	const struct sl_partition_view *part = &c->snap->partition;

	if (part->oversubscribe[home] != part->oversubscribe[p] ||
	    ((part->flags[home] ^ part->flags[p]) & SHARING))
		return refuse_loan(why, "partitions %s and %s share nodes in different ways", name_of(c, home),
				   name_of(c, p));
	if (c->part[p].cap)
		return refuse_loan(why, "partition %s has MaxCPUsPerNode", name_of(c, p));
	if (part->max_cpus_per_socket[p] != SL_NONE)
		return refuse_loan(why, "partition %s has MaxCPUsPerSocket", name_of(c, p));
	return true;
}

static bool may_use(const struct sl_cluster *c, const struct sl_want *w, struct sl_entry e, uint32_t p, bool lends,
		    char why[160])
{
	if (!(c->snap->partition.flags[p] & SL_PART_UP))
		return refuse_loan(why, "partition %s is down", name_of(c, p));
	return is_alike(c, e.partition, p, why) && admits_job(c, e.job, p, lends, why) && has_room(c, w, p, why);
}

static bool asks_for(const struct sl_cluster *c, uint32_t job, uint32_t partition)
{
	struct sl_range list = c->snap->job.partitions[job];

	for (uint32_t i = list.first; i < list.first + list.count; i++)
		if (c->snap->job_partition.partition[i] == partition)
			return true;
	return c->snap->job.partition[job] == partition;
}

/* -- pools --------------------------------------------------------------- */

static int fill_pool(struct sl_cluster *c, struct loan *l, struct sl_error *err)
{
	struct part *pool = &l->part;

	if (sl_nodeset_copy(&pool->nodes, &c->part[l->pub.home].nodes, err) < 0)
		return -1;
	for (uint32_t i = 0; i < l->pub.lenders; i++)
		if (sl_nodeset_union(&pool->nodes, &c->part[l->pub.lender[i]].nodes, err) < 0)
			return -1;
	if (sl_nodeset_intersect(&pool->nodes, &c->part[l->pub.through].nodes, err) < 0 ||
	    sl_nodeset_copy(&pool->usable, &pool->nodes, err) < 0)
		return -1;
	pool->cap_kind = SL_NONE;
	pool->share = c->part[l->pub.home].share;
	return sl_nodeset_subtract(&pool->usable, &c->unusable, err);
}

static void free_loan(struct loan *l)
{
	if (!l)
		return;
	sl_nodeset_free(&l->part.nodes);
	sl_nodeset_free(&l->part.usable);
	free(l);
}

static bool same_loan(const struct sl_loan *a, const struct sl_loan *b)
{
	return a->home == b->home && a->through == b->through && a->lenders == b->lenders &&
		!memcmp(a->lender, b->lender, a->lenders * sizeof(a->lender[0]));
}

/* The number of that loan, created if necessary; 0 with *err. */
static uint32_t find_or_add_loan(struct sl_cluster *c, const struct sl_loan *pub, struct sl_error *err)
{
	struct loan *l;

	for (uint32_t i = 0; i < c->loans; i++)
		if (same_loan(&c->loan[i]->pub, pub))
			return i + 1;
	if (sl_grow_list(&c->loan, c->loans, sizeof(*c->loan), err))
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l) {
		sl_fail(err, SL_ENOMEM, "cluster: out of memory");
		return 0;
	}
	l->pub = *pub;
	if (fill_pool(c, l, err) < 0) {
		free_loan(l);
		return 0;
	}
	c->loan[c->loans] = l;
	return ++c->loans;
}

void cluster_loans_free(struct sl_cluster *c)
{
	for (uint32_t i = 0; i < c->loans; i++)
		free_loan(c->loan[i]);
	free(c->loan);
}

const struct sl_loan *sl_cluster_loan(const struct sl_cluster *c, uint32_t loan)
{
	return loan && loan <= c->loans ? &c->loan[loan - 1]->pub : NULL;
}

int sl_cluster_borrow(struct sl_cluster *c, struct sl_entry e, const struct sl_loan *wish, uint32_t *loan,
		      char why[160], struct sl_error *err)
{
	struct sl_loan l = { .home = e.partition, .through = wish->through };
	uint32_t rows = c->snap->partition.rows;
	const struct want *w;
	char text[160];

	e.loan = 0;
	*why = 0;
	if (wish->through >= rows || wish->lenders > SL_MAX_LENDERS)
		return sl_fail(err, SL_EINVAL, "borrow: there is no partition row %" PRIu32 ", or there are more than %d "
			       "lenders", wish->through, SL_MAX_LENDERS);
	w = cluster_want(c, e, err);
	if (!w)
		return -1;
	if (w->pub.why && w->pub.why != SL_WHY_NEVER)
		return refuse_loan(why, "%s", w->pub.text);
	if (c->snap->job.flags[e.job] & SL_JOBF_NO_BORROW)
		return refuse_loan(why, "another partition refused it a moment ago");
	if (asks_for(c, e.job, wish->through))
		return refuse_loan(why, "it asks for partition %s itself", name_of(c, wish->through));
	if (c->part[e.partition].cap)
		return refuse_loan(why, "partition %s has MaxCPUsPerNode", name_of(c, e.partition));
	if (!may_use(c, &w->pub, e, wish->through, false, why))
		return 0;
	for (uint32_t i = 0; i < wish->lenders; i++) {
		if (wish->lender[i] >= rows)
			return sl_fail(err, SL_EINVAL, "borrow: there is no partition row %" PRIu32, wish->lender[i]);
		if (wish->lender[i] == e.partition)
			continue;
		if (may_use(c, &w->pub, e, wish->lender[i], true, text))
			l.lender[l.lenders++] = wish->lender[i];
		else if (!*why)
			snprintf(why, 160, "%s", text);
	}
	if (!l.lenders)
		return *why ? 0 : refuse_loan(why, "no other partition lends nodes");
	*loan = find_or_add_loan(c, &l, err);
	return *loan ? 1 : -1;
}
