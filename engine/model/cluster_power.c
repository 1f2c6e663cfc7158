/* SPDX-License-Identifier: MIT */
/*
 * cluster_power.c - nodes that have to boot before a job can run there: how long that takes, and that they come last.
 *
 * A booting or powered-down node is usable: a job may start there and runs when the node is up.  Nodes that are up come
 * first, whatever their weight; then booting nodes; then powered-down ones; last those that did not come up when last woken
 * (reason "ResumeTimeout reached").  Apart from the last, this follows node_scheduler.c of slurmctld since 25.05.  Before
 * 25.05, booting nodes ranked with those that are up, and weights of powered-down nodes did not count.
 */
#include "model/cluster_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

#define BOOTS (SL_NODE_POWERING_UP | SL_NODE_REBOOT_ISSUED)
#define SLEEPS (SL_NODE_POWERED_DOWN | SL_NODE_POWERING_DOWN)
#define REBOOTS (SL_NODE_REBOOT_REQUESTED | SL_NODE_REBOOT_ISSUED)

/* -- duration ---------------------------------------------------------------- */

/* When the node's current power change began.  A time that is unknown or in the future (the clock was set back) counts as
 * now. */
static int64_t told_at(const struct sl_cluster *c, uint32_t n)
{
	int64_t t = c->snap->node.power_time[n];

	return t > 0 && t < c->now ? t : c->now;
}

/* Longest boot time in seconds; 0 if there is no limit. */
static int64_t boot_seconds(const struct sl_cluster *c, uint32_t n)
{
	int64_t s = c->snap->node.resume_timeout[n];

	return s > 0 && s != SL_UNLIMITED ? s : 0;
}

bool cluster_boots_too_long(const struct sl_cluster *c, uint32_t n)
{
	int64_t limit = c->snap->node.resume_timeout[n];

	return c->snap->node.state[n] & BOOTS && limit != SL_UNLIMITED && sl_later(told_at(c, n), limit) < c->now;
}

int64_t sl_cluster_boots_in(const struct sl_cluster *c, uint32_t n, int64_t t)
{
	uint32_t state = n < c->snap->node.rows ? c->snap->node.state[n] : 0;
	int64_t left;

	if (state & SL_NODE_POWERING_UP) {
		left = cluster_until(t, sl_later(told_at(c, n), boot_seconds(c, n)));
		return left > 0 ? left : 0;
	}
	return state & SLEEPS ? boot_seconds(c, n) : 0;
}

/* Until when a node that is being powered down or rebooted takes no job; *jobs_end*: end of its last job. */
int64_t cluster_powerless_until(const struct sl_cluster *c, uint32_t n, int64_t jobs_end)
{
	uint32_t state = c->snap->node.state[n];

	if (state & SL_NODE_REBOOT_ISSUED)
		return sl_later(told_at(c, n), boot_seconds(c, n));
	if (state & SL_NODE_REBOOT_REQUESTED)
		return sl_later(jobs_end > c->now ? jobs_end : c->now, boot_seconds(c, n));
	if (state & SL_NODE_POWERING_DOWN && !(state & SL_NODE_POWERED_DOWN)) {
		int64_t down = sl_later(told_at(c, n), c->snap->node.suspend_timeout[n]);

		return down > c->now ? down : cluster_goes_on(down, c->now);
	}
	return INT64_MIN;
}

/* -- order ------------------------------------------------------------------- */

static bool has_failed(const struct sl_cluster *c, uint32_t n)
{
	static const char failed[] = "ResumeTimeout reached";

	return !strncmp(cluster_str(c, c->snap->node.reason[n]), failed, sizeof(failed) - 1);
}

/* Lower ranks come first. */
static uint64_t rank_of(const struct sl_cluster *c, uint32_t n)
{
	uint32_t state = c->snap->node.state[n];
	uint64_t level = state & SLEEPS ? (has_failed(c, n) ? 3 : 2) : state & SL_NODE_POWERING_UP ? 1 : 0;

	return level << 32 | c->snap->node.weight[n];
}

static int by_rank(const void *a, const void *b)
{
	return SL_ORDER(*(const uint64_t *) a, *(const uint64_t *) b);
}

int cluster_find_sleepers(struct sl_cluster *c, struct sl_error *err)
{
	const uint32_t *state = c->snap->node.state;

	for (uint32_t n = 0; n < c->snap->node.rows; n++) {
		int64_t boots = sl_cluster_boots_in(c, n, c->now);

		c->reboots |= state[n] & (REBOOTS | SL_NODE_POWERING_DOWN);
		if (state[n] & (SLEEPS | SL_NODE_POWERING_UP) && sl_nodeset_add(&c->sleepers, n, n, err) < 0)
			return -1;
		if (boots > c->longest_boot)
			c->longest_boot = boots;
	}
	return 0;
}

int cluster_rank_nodes(struct sl_cluster *c, uint32_t **rank, struct sl_error *err)
{
	uint32_t nodes = c->snap->node.rows, runs = 0, ranks = 0;
	uint64_t *all;

	*rank = NULL;
	if (!c->sleepers.count)
		return 0;
	*rank = calloc((size_t) nodes + 1, sizeof(**rank));
	all = calloc((size_t) nodes + 1, sizeof(*all));
	if (!*rank || !all) {
		free(*rank);
		free(all);
		*rank = NULL;
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	}
	for (uint32_t n = 0; n < nodes; n++) {	/* neighbouring nodes usually have equal ranks */
		uint64_t own = rank_of(c, n);

		if (!runs || all[runs - 1] != own)
			all[runs++] = own;
	}
	qsort(all, runs, sizeof(*all), by_rank);
	for (uint32_t i = 0; i < runs; i++)
		if (!i || all[i] != all[i - 1])
			all[ranks++] = all[i];
	for (uint32_t n = 0; n < nodes; n++) {
		uint64_t own = rank_of(c, n), *at = bsearch(&own, all, ranks, sizeof(*all), by_rank);

		(*rank)[n] = (uint32_t) (at - all);
	}
	free(all);
	return 0;
}
