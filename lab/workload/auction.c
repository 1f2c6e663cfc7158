/* SPDX-License-Identifier: MIT */
/*
 * workload/auction.c - the workloads of the AUCSCHED paper.
 *
 * Soner, Ozturan, "An Auction Based SLURM Scheduler for Heterogeneous
 * Supercomputers and its Comparative Performance Study", 2013, section 6.1 and
 * table 4.  What the paper does not say is read as its published rows have it: all
 * jobs are queued at the beginning; cores are a multiple of a node's, uniform up to
 * as many as the machine has nodes; nodes follow from cores and cores per node; jobs
 * are added until they fill four hours of the machine; estimates are exact.
 *
 * "auction:V.2" is workload V, version 2 (of its jobs half are contiguous; none in
 * version 1, all in 3).  A GPU job of one core a node may ask for all nodes then,
 * which does not fit the figures of workload IV: "auction:IV.1,cap=0.5" lets GPU
 * jobs have at most half of the nodes.  "auction:V.1,over=5" lets the jobs arrive in
 * the course of about five hours (Poisson) instead of all at the beginning.
 */
#include "workload/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/demand.h"

/* Shares of jobs, in sixtieths: cores only, nodes, 1 GPU a node, 2 GPUs a node. */
static const struct {
	const char *name;
	int share[4];
} workloads[] = {
	{ "I", { 60, 0, 0, 0 } },
	{ "II", { 0, 60, 0, 0 } },
	{ "III", { 30, 30, 0, 0 } },
	{ "IV", { 24, 24, 12, 0 } },
	{ "V", { 20, 20, 10, 10 } },
};

struct auction {
	struct sl_store *s;
	struct sl_random random;
	const int *share;
	int version;
	double hours, cap, shortest, longest, over;
	uint32_t nodes, cores, gpus;	/* of the machine, each node, each node */
};

static int parse_name(struct auction *a, const char *name, const char **rest, struct sl_error *err)
{
	const char *p = strchr(name, ':');
	size_t n = p ? strcspn(++p, ".") : 0;

	for (size_t i = 0; p && i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		if (strlen(workloads[i].name) != n || strncmp(workloads[i].name, p, n) || p[n] != '.' ||
		    p[n + 1] < '1' || p[n + 1] > '3' || (p[n + 2] && p[n + 2] != ','))
			continue;
		a->share = workloads[i].share;
		a->version = p[n + 1] - '0';
		*rest = p + n + 2 + (p[n + 2] == ',');
		return 0;
	}
	return sl_fail(err, SL_EINVAL, "workload \"%s\": expected auction:W.V with W one of I, II, III, IV, V and V one "
		       "of 1 (none contiguous), 2 (half), 3 (all)", name);
}

static int read_machine(struct auction *a, const char *name, struct sl_error *err)
{
	int machine = sl_store_machine(a->s, err), rc = -1;
	const struct sl_snapshot *snap;
	struct sl_machine m;

	if (machine < 0 || (!machine && sl_store_set_machine(a->s, "128x8c2g", err) < 0))
		return -1;
	snap = sl_store_snapshot(a->s, err);
	if (!snap || sl_machine_open(&m, snap, err) < 0)
		return -1;
	if (m.kinds != 1)
		sl_fail(err, SL_EINVAL, "%s: expected a machine whose nodes are alike", name);
	else if (m.kind[0].nodes < m.kind[0].cores || m.kind[0].cores < 4 || m.kind[0].cores % 4)
		sl_fail(err, SL_EINVAL, "%s: expected nodes of a multiple of 4 cores, and as many nodes as cores", name);
	else if (m.kind[0].gpus < (a->share[3] ? 2u : a->share[2] ? 1u : 0u))
		sl_fail(err, SL_EINVAL, "%s: the machine has %u GPUs a node, expected %d", name, m.kind[0].gpus,
			a->share[3] ? 2 : 1);
	else
		rc = 0;
	a->nodes = m.kinds ? m.kind[0].nodes : 0;
	a->cores = m.kinds ? m.kind[0].cores : 0;
	sl_machine_close(&m);
	return rc;
}

/* What kind of job, by the shares. */
static int draw_kind(struct auction *a)
{
	int at = sl_random_below(&a->random, 60), kind = 0;

	while (at >= a->share[kind])
		at -= a->share[kind++];
	return kind;
}

static struct sl_draft draw_job(struct auction *a)
{
	struct sl_draft j = sl_draft();
	int kind = draw_kind(a);
	uint32_t more = sl_random_below(&a->random, 2), per_node = 0, most = a->nodes / a->cores, nodes;
	char name[40] = "cores";

	if (kind == 1)
		per_node = more ? a->cores : a->cores / 2;
	else if (kind > 1)
		per_node = (kind - 1) * (more + 1);
	if (kind > 1 && a->cap * a->nodes * per_node / a->cores < most)
		most = (uint32_t) (a->cap * a->nodes * per_node / a->cores);
	j.tasks = a->cores * (uint32_t) sl_random_between(&a->random, 1, most ? most : 1);
	j.runtime_s = sl_random_between(&a->random, (int64_t) a->shortest, (int64_t) a->longest);
	j.estimate_s = j.runtime_s;
	if (per_node) {
		nodes = j.tasks / per_node;
		j.min_nodes = j.max_nodes = nodes ? nodes : 1;
		j.ntasks_per_node = per_node;
		j.gpus = kind > 1 ? kind - 1 : 0;
		snprintf(name, sizeof(name), "%s%ux%u", j.gpus ? "gpu" : "node", j.gpus ? j.gpus : 1, per_node);
	}
	if (sl_random_below(&a->random, 2) ? a->version >= 2 : a->version >= 3)
		j.flags |= SL_JOBF_CONTIGUOUS;
	j.name = sl_store_str(a->s, name);
	j.user = sl_store_str(a->s, "auction");
	return j;
}

/* Seconds from one arrival to the next, on average: as many jobs as there will be. */
static double mean_gap(const struct auction *a)
{
	double tasks = a->cores * (1 + floor((double) a->nodes / a->cores)) / 2;
	double jobs = a->hours * 3600 * a->nodes * a->cores / (tasks * (a->shortest + a->longest) / 2);

	return a->over * 3600 / jobs;
}

int sl_workload_make_auction(struct sl_store *s, const char *name, struct sl_error *err)
{
	struct auction a = { .s = s, .hours = 4, .cap = 1, .shortest = 60, .longest = 600 };
	const struct sl_param param[] = {
		{ "hours", &a.hours, 0.01, 10000 }, { "cap", &a.cap, 0.01, 1 },
		{ "shortest", &a.shortest, 1, 1e6 }, { "longest", &a.longest, 1, 1e6 },
		{ "over", &a.over, 0, 10000 },
	};
	const char *rest = NULL;
	double area = 0, t = 0;
	int done = 0;

	if (parse_name(&a, name, &rest, err) < 0 ||
	    sl_params_parse(name, rest, param, sizeof(param) / sizeof(param[0]), err) < 0 ||
	    read_machine(&a, name, err) < 0)
		return -1;
	if (a.longest < a.shortest)
		return sl_fail(err, SL_EINVAL, "%s: longest < shortest", name);
	sl_random_seed(&a.random, sl_store_options(s)->seed);
	while (!done && area < a.hours * 3600 * a.nodes * a.cores) {
		struct sl_draft j = draw_job(&a);

		area += (double) j.tasks * (double) j.runtime_s;
		if (a.over > 0)
			t -= mean_gap(&a) * log(1 - sl_random_real(&a.random));
		j.submit_s = llround(t);
		j.id = sl_store_jobs(s) + 1;
		done = sl_store_add(s, &j);
	}
	return 0;
}
