/* SPDX-License-Identifier: MIT */
/*
 * want_private.h - the inside of a want, for want*.c only.
 *
 * work_out() (want.c) fills in a want step by step; README.md has the order.  A step that finds that the job cannot run in
 * this snapshot calls want_refuse(), and the steps after it are skipped.
 */
#ifndef SL_WANT_PRIVATE_H
#define SL_WANT_PRIVATE_H

#include "base/number.h"
#include "model/cluster_private.h"
#include "model/native.h"

/* True if the job says one of *words*, and none of those it says is left to select by another word of the job. */
static inline bool want_can_place(const struct want *w, sl_word_set words)
{
	return w->pub.asked & words && !(sl_words_left(w->pub.asked) & words);
}

/* CPUs of a core that select counts when a job asks for CPUs of a node: those of the tasks that may be on the core. */
static inline uint32_t counted_cpus(uint32_t threads, uint32_t tasks_per_core, uint32_t cpus_per_task)
{
	uint64_t cpus = (uint64_t) tasks_per_core * cpus_per_task;

	return cpus && cpus < threads ? (uint32_t) cpus : threads;
}

/* Cores of a node for so many tasks. */
static inline uint64_t want_cores_of(const struct sl_request *r, uint64_t tasks)
{
	return (tasks * r->cores_per_task + r->tasks_per_core - 1) / r->tasks_per_core;
}

/*
 * The request by which the engine places a job itself.  It is a copy of what the job asks for, in which the steps that come
 * last leave nothing for select to choose.
 */
struct exact {
	struct sl_request request;
	bool narrower;			/* fewer or other nodes than select might give it */
	uint32_t even_nodes, even_free;	/* sockets: on so many nodes, with so many free cores, the same number of tasks each; 0: none */
};

/* want.c */
/* The job cannot run in this snapshot: why, and the text for its user.  Returns 0. */
int want_refuse(struct want *w, enum sl_why why, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* want_gres.c */
struct sl_ask;
/* Tasks, CPUs and memory that come with each gres: they become part of the exact request; if nodes may give unequal amounts
 * of them the job is native. */
void want_with_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a, struct exact *x);

/* True if the job has whole nodes, and CPUs or memory come with its gres. */
bool want_brings_with_gres(const struct sl_cluster *c, const struct want *w);

/* True if the node has enough CPUs and memory for all of its gres. */
bool want_has_brought(const struct sl_cluster *c, const struct want *w, uint32_t n);

/* want_deal.c */
/* How its tasks are dealt out to its nodes, once it is known how many of both there may be; 0 or -1. */
int want_deal(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* want_sockets.c */
/* How many tasks each of its nodes has, if that is settled before nodes are chosen; 0 if it is not. */
uint32_t want_tasks_of_each_node(const struct sl_request *r);

/* Sockets, their cores and tasks on each that it asks for, once it is known how many nodes and tasks it has: of whole nodes;
 * and of parts of nodes. */
int want_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a);
void want_sockets_of_parts(const struct sl_cluster *c, struct want *w, const struct sl_ask *a, struct exact *x);

/* Where sockets are allocated: how many cores a node gives at once. */
void want_whole_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a);

/* want_shared.c */
/* If several jobs may share a core: how many core slots of a node have to be free for select to be sure to find a place for
 * that request (w->rows). */
void want_shared(struct sl_cluster *c, struct want *w, const struct sl_ask *a, const struct sl_request *r);

/* want_counts.c */
/* The list of node counts that it asks for: those that it may have where it runs, once these are known in *a*; 0 or -1. */
int want_counts(struct sl_cluster *c, struct want *w, struct sl_ask *a, struct sl_error *err);

/* want_variants.c */
/* Those words leave the job to select; yet on some of its nodes nothing is left to choose.  1: the exact request is for these;
 * 0: there are none; -1. */
int want_some_nodes(struct sl_cluster *c, struct want *w, sl_word_set left, struct exact *x, struct sl_error *err);

/* True if it has no more than SL_MAX_VARIANTS. */
bool want_can_list(const struct want *w, const struct exact *x);

/* Its variants, once all else is known: by the exact request, unless it is native, and by its own.  If that makes but one, the
 * former is its request.  0 or -1. */
int want_list(struct want *w, const struct exact *x, struct sl_error *err);

/* want_nodes.c */
/* Its reservation, and the timeline that it is placed in.  0, also if the reservation refuses the job; -1 with *err. */
int want_choose_enclave(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* Which nodes it may have, and which it must.  How much it asks for is known by then. */
int want_choose_nodes(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* Free what the want has allocated: sets of nodes, variants, counts. */
void want_free_nodes(struct want *w);

/* Set w->pub.up to those of the nodes that are powered up; leave it NULL if all of them are.  0, or -1 with *err. */
int want_find_up(const struct sl_cluster *c, struct want *w, const struct sl_nodeset *eligible, struct sl_error *err);

#endif
