/* SPDX-License-Identifier: MIT */
/* plan_limits.c - how many jobs of a user or partition are stopped: within the last hour, by this plan, and in the set
 * being considered.  Counted once for all jobs. */
#include "model/plan_private.h"
#include "model/preempt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct count {
	const char *user;
	uint32_t before, chosen;
};

struct stop_limits {
	struct count *of_user;		/* sorted by name */
	uint32_t users;
	struct count *of_partition;	/* [partition row] */
};

static int by_user(const void *a, const void *b)
{
	return strcmp(((const struct count *) a)->user, ((const struct count *) b)->user);
}

/* Merge to one entry per user. */
static void merge_users(struct stop_limits *l)
{
	uint32_t n = 0;

	qsort(l->of_user, l->users, sizeof(*l->of_user), by_user);
	for (uint32_t i = 0; i < l->users; i++)
		if (n && !by_user(&l->of_user[n - 1], &l->of_user[i])) {
			l->of_user[n - 1].before += l->of_user[i].before;
			l->of_user[n - 1].chosen += l->of_user[i].chosen;
		} else {
			l->of_user[n++] = l->of_user[i];
		}
	l->users = n;
}

static void add(struct stop_limits *l, const char *user, uint32_t partition, uint32_t partitions, bool chosen)
{
	l->of_user[l->users++] = (struct count) { user, !chosen, chosen };
	if (partition >= partitions)
		return;
	if (chosen)
		l->of_partition[partition].chosen++;
	else
		l->of_partition[partition].before++;
}

static uint32_t count_chosen(const struct victim_groups *groups, const bool *chosen)
{
	uint32_t n = 0;

	for (uint32_t g = 0; chosen && g < groups->count; g++)
		n += chosen[g] ? groups->item[g].jobs : 0;
	return n;
}

static void count_all(struct stop_limits *l, const struct sl_plan *p, const struct victim_groups *groups, const bool *chosen)
{
	const struct sl_snapshot *s = p->c->snap;
	uint32_t partitions = s->partition.rows;

	for (uint32_t r = 0; r < s->stopped.rows; r++)
		if (s->stopped.time[r] > p->c->now - 3600)
			add(l, cluster_str(p->c, s->stopped.user[r]), s->stopped.partition[r], partitions, false);
	for (uint32_t i = 0; i < p->stops; i++)
		add(l, cluster_str(p->c, s->job.user[p->stop[i].job]), s->job.partition[p->stop[i].job], partitions, false);
	for (uint32_t g = 0; chosen && g < groups->count; g++)
		for (uint32_t k = 0; chosen[g] && k < groups->item[g].jobs; k++) {
			uint32_t j = groups->item[g].job[k];

			add(l, cluster_str(p->c, s->job.user[j]), s->job.partition[j], partitions, true);
		}
	merge_users(l);
}

struct stop_limits *plan_limits_create(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct victim_groups *groups,
				       const bool *chosen, struct sl_error *err)
{
	struct stop_limits *l = calloc(1, sizeof(*l));
	size_t most = (size_t) p->c->snap->stopped.rows + p->stops + count_chosen(groups, chosen) + 1;

	if (l) {
		l->of_user = calloc(most, sizeof(*l->of_user));
		l->of_partition = calloc((size_t) p->c->snap->partition.rows + 1, sizeof(*l->of_partition));
	}
	if (!l || !l->of_user || !l->of_partition) {
		plan_limits_free(l);
		plan_no_memory(err);
		return NULL;
	}
	if (t->max_of_user || t->max_of_partition)
		count_all(l, p, groups, chosen);
	return l;
}

void plan_limits_free(struct stop_limits *l)
{
	if (!l)
		return;
	free(l->of_user);
	free(l->of_partition);
	free(l);
}

static struct count of_user(const struct stop_limits *l, const char *user)
{
	struct count key = { .user = user }, *c = l->users ? bsearch(&key, l->of_user, l->users, sizeof(key), by_user) : NULL;

	return c ? *c : key;
}

static struct count of_partition(const struct sl_plan *p, const struct stop_limits *l, uint32_t partition)
{
	return partition < p->c->snap->partition.rows ? l->of_partition[partition] : (struct count) { .user = NULL };
}

bool plan_is_spared(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct stop_limits *l, uint32_t j)
{
	const struct sl_job_view *job = &p->c->snap->job;

	return (t->max_of_user && of_user(l, cluster_str(p->c, job->user[j])).before >= t->max_of_user) ||
		(t->max_of_partition && of_partition(p, l, job->partition[j]).before >= t->max_of_partition);
}

static bool is_more_than(struct count n, uint32_t most, const char *what, const char *name, struct sl_refusal *why)
{
	if (!most || !n.chosen || n.chosen + n.before <= most)
		return false;
	plan_say_now(why, SL_WHY_RESOURCES, "%" PRIu32 " jobs of %s %s would have to be stopped for it, of at most %" PRIu32 " that may be",
		     n.chosen, what, name, n.before < most ? most - n.before : 0);
	return true;
}

int plan_stops_too_many(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct victim_groups *groups,
			const bool *chosen, struct sl_refusal *why, struct sl_error *err)
{
	struct stop_limits *l = plan_limits_create(p, t, groups, chosen, err);
	const struct sl_partition_view *part = &p->c->snap->partition;
	int more = 0;

	if (!l)
		return -1;
	for (uint32_t i = 0; !more && i < l->users; i++)
		more = is_more_than(l->of_user[i], t->max_of_user, "user", l->of_user[i].user, why);
	for (uint32_t i = 0; !more && i < part->rows; i++)
		more = is_more_than(l->of_partition[i], t->max_of_partition, "partition", cluster_str(p->c, part->name[i]), why);
	plan_limits_free(l);
	return more;
}
