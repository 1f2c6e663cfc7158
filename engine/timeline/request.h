/* SPDX-License-Identifier: MIT */
/*
 * request.h - what a job asks for, in the engine's terms: no partitions, features or states any more, but the nodes that
 * may be used and the amounts.
 *
 * The fields are a list, because whoever compares requests, or says that something holds of all requests of a kind, has to
 * know every field.  A line of the list says both; what it does not say does not hold.
 *
 * Ownership: requests borrow nodesets, parts and picks.
 */
#ifndef SL_TIMELINE_REQUEST_H
#define SL_TIMELINE_REQUEST_H

#include "timeline/nodeset.h"
#include "timeline/timeline.h"

enum sl_gres_per { SL_GRES_PER_NODE, SL_GRES_PER_TASK, SL_GRES_PER_JOB };

/*
 * *count* of any of the kinds in *kinds* (bit k: kind k; "gpu" without a type is
 * the mask of all gpu kinds), of each node, task, or of the job as a whole.  Two
 * masks of one request must be disjoint or one inside the other, as names and
 * types are.
 */
struct sl_gres_need {
	uint16_t kinds;
	uint16_t per;			/* enum sl_gres_per */
	uint32_t count;
	int64_t memory;			/* MiB for each of them, on its node; not beside memory_per_core */
};

#define SL_MAX_GRES_MEMORY (INT64_C(1) << 26)	/* MiB */

#define SL_MAX_GRES_NEEDS 8

struct sl_part {
	struct sl_nodeset nodes;
	uint32_t count;
};

struct sl_pick {		/* of an explicit layout */
	uint32_t node;
	uint32_t cores;		/* 0: what the tasks that go there need */
	uint32_t tasks;		/* that go there, for which the cores are, and not one too many; 0: not said */
};

/*
 * X(type, name, comparison, holds).  A request that says neither tasks nor cores gets the least of each of its nodes.
 *
 * comparison: how sl_request_asks_no_less(a, b) compares the field.
 *	MORE	b's number is at least a's
 *	LIMIT	b's limit is at most a's; 0 is no limit
 *	FEWER	b's number is at most a's
 *	WHICH	which nodes will do beside others: a says no such field, or all of them are equal and a may have as many nodes
 *	EQUAL	they are equal
 *	NONE	a does not say it
 *	FREE	the field never keeps a request from fitting
 *	HAND	by a line of its own, in request.c
 *	CALLER	not at all
 *
 * holds: what holds of requests that say the field (that is, have anything but 0 there).
 *	FIRST	sl_fit_earliest() finds the earliest start
 *	NAMED	a policy may name the nodes, and how much of each
 *	APART	each of its nodes can be chosen without a look at the others
 *	CORES	on a machine of one node the request may still be nothing but a number of cores
 *	MOST	the first three
 *	ALL	all four
 */
#define SL_REQUEST_FIELDS(X) \
	/* Nodes that will do; NULL: all that there are.  Nodes that it must have; NULL: none. */ \
	X(const struct sl_nodeset *, eligible, CALLER, ALL) \
	X(const struct sl_nodeset *, required, NONE, FIRST | NAMED | CORES) \
	/* So many of its nodes are of each part, and none counts for two.  Not beside required nodes. */ \
	X(const struct sl_part *, part, WHICH, 0) \
	X(uint32_t, parts, WHICH, 0) \
	/* 0 means 1; 0 means no limit. */ \
	X(uint32_t, min_nodes, MORE, ALL) \
	X(uint32_t, max_nodes, HAND, ALL) \
	/* Its nodes with the tasks of each, and no cores: nothing is left to choose.  Not beside parts or gres of the job. */ \
	X(const struct sl_pick *, pick, WHICH, FIRST) \
	X(uint32_t, picks, WHICH, FIRST) \
	/* Most leaf switches that its nodes may be below; 0: no limit. */ \
	X(uint32_t, max_leaves, LIMIT, NAMED) \
	/* Its nodes are in segments of so many, each of them below one leaf switch; 0: they are not.  It divides min_nodes, which is \
	 * max_nodes.  Not beside required nodes, parts, max_leaves, most_nodes or contiguous. */ \
	X(uint32_t, segment, WHICH, NAMED) \
	/* Its nodes are chosen without a look at switches.  Not beside max_leaves. */ \
	X(bool, ignores_tree, FREE, ALL) \
	/* As many nodes as can be had, if it starts now. */ \
	X(bool, most_nodes, FREE, MOST) \
	/* One block of consecutive nodes, whatever the method. */ \
	X(bool, contiguous, WHICH, FIRST | NAMED) \
	/* Tasks; 0: not said.  Tasks_per_core of them share each group of cores_per_task cores; 0 means 1. */ \
	X(uint32_t, tasks, HAND, ALL) \
	X(uint32_t, cores_per_task, MORE, ALL) \
	X(uint32_t, tasks_per_core, FEWER, ALL) \
	/* Without tasks: cores in all, which are dealt out one by one; 0: min_nodes * max(1, min_cores_per_node). */ \
	X(int64_t, cores, HAND, ALL) \
	/* Cores of a node, 0: not said; the latter is MaxCPUsPerNode. */ \
	X(uint32_t, min_cores_per_node, MORE, ALL) \
	X(uint32_t, max_cores_per_node, LIMIT, MOST) \
	/* Cores of a node are given, and can be had, in multiples of it; 0 means 1.  Not of whole nodes. */ \
	X(uint32_t, cores_at_once, HAND, MOST) \
	/* That a node must have free, though it gives fewer.  Not of whole nodes. */ \
	X(uint32_t, least_free_cores, HAND, MOST) \
	/* That stay free of a node beside those that it gives.  Not of whole nodes. */ \
	X(uint32_t, spare_cores, HAND, MOST) \
	/* Most tasks on a node; 0: no limit.  Exact: and no fewer (tasks 0: tasks_per_node * nodes). */ \
	X(uint32_t, tasks_per_node, LIMIT, MOST) \
	X(bool, tasks_per_node_exact, HAND, MOST) \
	/* Tasks that each node gets in its turn, while it has room; 0: not said.  More tasks than all nodes but one get in the \
	 * first round.  Not beside gres of the job. */ \
	X(uint32_t, plane, WHICH, FIRST) \
	/* MiB of each node, and for each core that is taken; or all that a node has, of which none is taken. */ \
	X(int64_t, memory_per_node, MORE, MOST) \
	X(int64_t, memory_per_core, MORE, MOST) \
	X(bool, all_memory, EQUAL, MOST) \
	/* How many of the array behind these fields. */ \
	X(uint32_t, gres_needs, HAND, MOST) \
	/* --exclusive: nodes on which nothing else is, and all of them; with so many cores of each beside those that the timeline \
	 * knows of (negative: so many fewer). */ \
	X(bool, whole_nodes, MORE, MOST) \
	X(int32_t, extra_cores, HAND, MOST) \
	/* The interval [start, start + duration), SL_FOREVER without limit. */ \
	X(int64_t, duration, CALLER, ALL)

struct sl_request {
#define SL_X(type, name, comparison, holds) type name;
	SL_REQUEST_FIELDS(SL_X)
#undef SL_X
	struct sl_gres_need gres[SL_MAX_GRES_NEEDS];
};

/*
 * Is it a request at all?  0, or -1 with *err (SL_EINVAL: no duration, masks that
 * overlap halfway, more needs than SL_MAX_GRES_NEEDS, ...).
 */
int sl_request_check(const struct sl_request *r, struct sl_error *err);

/*
 * True if *a* fits at any time at which *b* does, for as long: then a refusal of *a* holds for *b*.  That all nodes that *b*
 * may have are *a*'s, too, is left to the caller.  False if it is not known.
 */
bool sl_request_compare(const struct sl_request *a, const struct sl_request *b);
static inline bool sl_request_asks_no_less(const struct sl_request *a, const struct sl_request *b)
{
	return b->tasks >= a->tasks && b->min_nodes >= a->min_nodes && sl_request_compare(a, b);
}

/* True if sl_fit_earliest() is sure to find the earliest start of such a request, and not perhaps a later one. */
bool sl_request_has_first_start(const struct sl_request *r);

/* True if a policy may name the nodes of such a request, and how much of each. */
bool sl_request_may_be_named(const struct sl_request *r);

/* True if each node can be chosen without regard to which other nodes the job gets. */
bool sl_request_is_apart(const struct sl_request *r);

/* True if, on a machine of one node, the request is so many cores there and nothing else: any free cores will do, and no other
 * resource or limit can refuse it. */
bool sl_request_is_cores(const struct sl_request *r, int64_t cores);

/* Gres of the job as a whole: true if it asks for any. */
static inline bool sl_request_has_job_gres(const struct sl_request *r)
{
	for (uint32_t i = 0; i < r->gres_needs; i++)
		if (r->gres[i].per == SL_GRES_PER_JOB)
			return true;
	return false;
}

/* Cores of a node that the request has beside those on the timeline; negative: that it leaves. */
static inline int32_t sl_request_beside(const struct sl_request *r)
{
	return r->whole_nodes ? r->extra_cores : -(int32_t) (r->spare_cores < INT32_MAX ? r->spare_cores : INT32_MAX);
}

/*
 * What must be free on a node before the request can be given *each* of it.  That is *each* itself, and more in three cases:
 *
 *	more cores have to be free than are taken (least_free_cores, spare_cores)
 *	gres of the job as a whole (--gpus) are dealt to other nodes: this one has to have one piece at least
 *	the cores are enough for more tasks than the node is given: the gres of these tasks
 *
 * For gres and memory it is an upper bound.  A node that has less free is no worse for that.
 */
void sl_request_claim(const struct sl_request *r, const struct sl_resources *each, struct sl_resources *claim);

#endif
