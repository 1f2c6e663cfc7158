/* SPDX-License-Identifier: MIT */
/*
 * request.h - what placement is asked for: the nodes that may be used, and amounts.  Partitions, features and node states are
 * resolved already.
 *
 * The fields are an X-list because code that compares requests, or knows what holds for a kind of request, must handle every
 * field.  Each line of the list says both; anything that a line does not state is taken to be false.
 *
 * Ownership: requests borrow nodesets, parts and picks.
 */
#ifndef SL_TIMELINE_REQUEST_H
#define SL_TIMELINE_REQUEST_H

#include "timeline/nodeset.h"
#include "timeline/timeline.h"

enum sl_gres_per { SL_GRES_PER_NODE, SL_GRES_PER_TASK, SL_GRES_PER_JOB };

/* *count* gres of any of the kinds in *kinds* (bit k: kind k; "gpu" without a type is the mask of all gpu kinds), per
 * node, per task or for the whole job.  Any two masks of a request are disjoint, or one contains the other. */
struct sl_gres_need {
	uint16_t kinds;
	uint16_t per;			/* enum sl_gres_per */
	uint32_t count;
	int64_t memory;			/* MiB for each of them, on its node; not with memory_per_core */
};

#define SL_MAX_GRES_MEMORY (INT64_C(1) << 26)	/* MiB */

#define SL_MAX_GRES_NEEDS 8

struct sl_part {
	struct sl_nodeset nodes;
	uint32_t count;
};

struct sl_pick {		/* one node of an explicit layout */
	uint32_t node;
	uint32_t cores;		/* 0: as many as its tasks need */
	uint32_t tasks;		/* tasks on it, which need exactly these cores; 0: unknown */
};

/*
 * X(type, name, comparison, holds).  Without tasks and cores, the request gets the least of each of its nodes.
 *
 * comparison: what sl_request_compare(a, b), "a fits whenever b does", requires of the field.
 *	MORE	b's number is at least a's
 *	LIMIT	b's limit is at most a's; 0 is no limit
 *	FEWER	b's number is at most a's
 *	WHICH	the field restricts sets of nodes: 0 in a; or all such fields are equal, and a may have as many nodes
 *		as b
 *	EQUAL	they are equal
 *	NONE	0 in a
 *	FREE	nothing: the field never keeps a request from fitting
 *	HAND	its own test in request.c
 *	CALLER	nothing: the caller compares it
 *
 * holds: what is true of requests in which the field is not 0.
 *	FIRST	sl_fit_earliest() finds the earliest start
 *	NAMED	a policy may name the nodes, and how much of each
 *	APART	each of its nodes can be chosen without regard to the others
 *	CORES	on a machine of one node, the request may be nothing but a number of cores
 *	MOST	the first three
 *	ALL	all four
 */
#define SL_REQUEST_FIELDS(X) \
	/* Nodes that may be used; NULL: all.  Nodes that must be used; NULL: none. */ \
	X(const struct sl_nodeset *, eligible, CALLER, ALL) \
	X(const struct sl_nodeset *, required, NONE, FIRST | NAMED | CORES) \
	/* Exactly *count* of its nodes are in each part; no node counts for two parts.  Not with required nodes. */ \
	X(const struct sl_part *, part, WHICH, 0) \
	X(uint32_t, parts, WHICH, 0) \
	/* 0 means 1; 0 means no limit. */ \
	X(uint32_t, min_nodes, MORE, ALL) \
	X(uint32_t, max_nodes, HAND, ALL) \
	/* Its nodes and the tasks of each, without cores: nothing is left to choose.  Not with parts or gres of the job. */ \
	X(const struct sl_pick *, pick, WHICH, FIRST) \
	X(uint32_t, picks, WHICH, FIRST) \
	/* Most leaf switches that its nodes may be below; 0: no limit. */ \
	X(uint32_t, max_leaves, LIMIT, NAMED) \
	/* Nodes of a segment; all nodes of a segment are below one leaf switch; 0: no segments.  min_nodes equals \
	 * max_nodes, a multiple of it.  Not with required nodes, parts, max_leaves, most_nodes or contiguous. */ \
	X(uint32_t, segment, WHICH, NAMED) \
	/* Nodes are chosen without regard to switches.  Not with max_leaves. */ \
	X(bool, ignores_tree, FREE, ALL) \
	/* For a start now: as many nodes as possible. */ \
	X(bool, most_nodes, FREE, MOST) \
	/* One block of consecutive nodes, whatever the method. */ \
	X(bool, contiguous, WHICH, FIRST | NAMED) \
	/* Tasks; 0: unknown.  tasks_per_core tasks (0 means 1) share each group of cores_per_task cores. */ \
	X(uint32_t, tasks, HAND, ALL) \
	X(uint32_t, cores_per_task, MORE, ALL) \
	X(uint32_t, tasks_per_core, FEWER, ALL) \
	/* Without tasks: cores in all, dealt out one by one; 0: min_nodes * max(1, min_cores_per_node). */ \
	X(int64_t, cores, HAND, ALL) \
	/* Cores of a node; 0: no limit.  The latter is MaxCPUsPerNode. */ \
	X(uint32_t, min_cores_per_node, MORE, ALL) \
	X(uint32_t, max_cores_per_node, LIMIT, MOST) \
	/* Cores of each node are a multiple of this; 0 means 1.  Not for whole nodes. */ \
	X(uint32_t, cores_at_once, HAND, MOST) \
	/* Cores that a node must have free, even if the job takes fewer.  Not for whole nodes. */ \
	X(uint32_t, least_free_cores, HAND, MOST) \
	/* Cores of a node that must stay free beside those taken.  Not for whole nodes. */ \
	X(uint32_t, spare_cores, HAND, MOST) \
	/* Most tasks on a node; 0: no limit.  Exact: each node has this number (if tasks is 0: tasks = tasks_per_node * \
	 * nodes). */ \
	X(uint32_t, tasks_per_node, LIMIT, MOST) \
	X(bool, tasks_per_node_exact, HAND, MOST) \
	/* Tasks that each node gets per round while it has room; 0: no planes.  tasks > plane * (max_nodes - 1).  Not \
	 * with gres of the job. */ \
	X(uint32_t, plane, WHICH, FIRST) \
	/* MiB of each node; MiB for each core taken; or all memory of a node, which must be entirely free. */ \
	X(int64_t, memory_per_node, MORE, MOST) \
	X(int64_t, memory_per_core, MORE, MOST) \
	X(bool, all_memory, EQUAL, MOST) \
	/* Length of the array gres[]. */ \
	X(uint32_t, gres_needs, HAND, MOST) \
	/* --exclusive: idle nodes only, with all cores; extra_cores is added to the cores that the timeline counts for a \
	 * node (negative: subtracted). */ \
	X(bool, whole_nodes, MORE, MOST) \
	X(int32_t, extra_cores, HAND, MOST) \
	/* It runs over [start, start + duration); SL_FOREVER: without end. */ \
	X(int64_t, duration, CALLER, ALL)

struct sl_request {
#define SL_X(type, name, comparison, holds) type name;
	SL_REQUEST_FIELDS(SL_X)
#undef SL_X
	struct sl_gres_need gres[SL_MAX_GRES_NEEDS];
};

/* 0 if the request is valid; -1 with *err (SL_EINVAL: no duration, masks that overlap partly, more needs than
 * SL_MAX_GRES_NEEDS, ...). */
int sl_request_check(const struct sl_request *r, struct sl_error *err);

/* True if *a* fits whenever *b* does, for the same duration, so a refusal of *a* holds for *b*.  The caller must ensure
 * that *a* may have all nodes that *b* may have.  False if that is not known. */
bool sl_request_compare(const struct sl_request *a, const struct sl_request *b);
static inline bool sl_request_asks_no_less(const struct sl_request *a, const struct sl_request *b)
{
	return b->tasks >= a->tasks && b->min_nodes >= a->min_nodes && sl_request_compare(a, b);
}

/* True if sl_fit_earliest() certainly finds the earliest start of such a request, not a later one. */
bool sl_request_has_first_start(const struct sl_request *r);

/* True if a policy may name the nodes of such a request, and how much of each. */
bool sl_request_may_be_named(const struct sl_request *r);

/* True if each node can be chosen without regard to which other nodes the job gets. */
bool sl_request_is_apart(const struct sl_request *r);

/* True if, on a machine of one node, the request is only a number of cores: any free cores will do, and no other resource
 * or limit can refuse it. */
bool sl_request_is_cores(const struct sl_request *r, int64_t cores);

/* True if the request has gres for the job as a whole. */
static inline bool sl_request_has_job_gres(const struct sl_request *r)
{
	for (uint32_t i = 0; i < r->gres_needs; i++)
		if (r->gres[i].per == SL_GRES_PER_JOB)
			return true;
	return false;
}

/* To be added to the cores that a node has free: for whole nodes extra_cores, else minus the cores that must stay free. */
static inline int32_t sl_request_beside(const struct sl_request *r)
{
	return r->whole_nodes ? r->extra_cores : -(int32_t) (r->spare_cores < INT32_MAX ? r->spare_cores : INT32_MAX);
}

/*
 * What must be free on a node before the request can be given *each* of it: *each* itself, and more in three cases:
 *
 *	more cores must be free than are taken (least_free_cores, spare_cores)
 *	gres of the job (--gpus) is dealt to other nodes: this node must still have one piece
 *	the cores suffice for more tasks than the node gets: the gres of these tasks must be free
 *
 * For gres and memory it is an upper bound: a node with less free may still do.
 */
void sl_request_claim(const struct sl_request *r, const struct sl_resources *each, struct sl_resources *claim);

#endif
