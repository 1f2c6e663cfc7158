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

/* True if the job has one of *words*, and none of those it has is left to select because of another word of the job. */
static inline bool want_can_place(const struct want *w, sl_word_set words)
{
	return w->pub.asked & words && !(sl_words_left(w->pub.asked) & words);
}

/* CPUs of a core that select counts when a job asks for CPUs per node: those of the tasks that may run on the core. */
static inline uint32_t counted_cpus(uint32_t threads, uint32_t tasks_per_core, uint32_t cpus_per_task)
{
	uint64_t cpus = (uint64_t) tasks_per_core * cpus_per_task;

	return cpus && cpus < threads ? (uint32_t) cpus : threads;
}

/* Number of cores of a node for that many tasks. */
static inline uint64_t want_cores_of(const struct sl_request *r, uint64_t tasks)
{
	return (tasks * r->cores_per_task + r->tasks_per_core - 1) / r->tasks_per_core;
}

/* The request by which the engine places a job such that select has nothing left to choose: a copy of what the job asks
 * for, which want_gres.c and want_sockets.c make stricter. */
struct exact {
	struct sl_request request;
	bool narrower;			/* fewer or other nodes than select might give */
	uint32_t even_nodes, even_free;	/* sockets: use this many nodes, with that many free cores and the same number of
					 * tasks each; 0: not used */
};

/* want.c */
/* Mark the job as unable to run in this snapshot, with the reason and a text for its user.  Returns 0. */
int want_refuse(struct want *w, enum sl_why why, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* want_gres.c */
struct sl_ask;
/* Gres on node *n* with the name of this row, whatever their type. */
uint64_t want_count_gres(const struct sl_cluster *c, uint32_t row, uint32_t n);

/* Add what comes with gres (tasks, CPUs, memory) to the exact request.  The job becomes native if nodes could give unequal
 * amounts. */
void want_with_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a, struct exact *x);

/* If the tasks outgrow the gres of the job (sl_fit_outgrows_gres()), select places it, and its bound is one on each node:
 * select takes no node that has none free (gres_sock_list_create() of select/cons_tres). */
void want_job_gres(struct sl_cluster *c, struct want *w);

/* True if the job has whole nodes, and CPUs or memory come with its gres. */
bool want_brings_with_gres(const struct sl_cluster *c, const struct want *w);

/* True if node *n* has the CPUs and memory that the job asks for with each piece of gres (--cpus-per-gpu, --mem-per-gpu),
 * for all its pieces there. */
bool want_has_brought(const struct sl_cluster *c, const struct want *w, uint32_t n);

/* want_deal.c */
/* Decide how tasks are dealt out to nodes, after the limits on both are known; 0 or -1. */
int want_deal(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* want_sockets.c */
/* Number of tasks on each node, if that is fixed before nodes are chosen; else 0. */
uint32_t want_tasks_of_each_node(const struct sl_request *r);

/* Apply requests for sockets, cores and tasks of sockets, after the limits on nodes and tasks are known: on whole nodes;
 * on parts of nodes. */
int want_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a);
void want_sockets_of_parts(const struct sl_cluster *c, struct want *w, const struct sl_ask *a, struct exact *x);

/* If whole sockets are allocated: set the number of cores that a node gives at once. */
void want_whole_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a);

/* want_shared.c */
/* If several jobs may share a core: compute how many core slots must be free on a node so that select certainly finds a
 * place for the request (w->rows). */
void want_shared(struct sl_cluster *c, struct want *w, const struct sl_ask *a, const struct sl_request *r);

/* want_counts.c */
/* Read the job's list of node counts, and limit it to those allowed in *a*; 0 or -1. */
int want_counts(struct sl_cluster *c, struct want *w, struct sl_ask *a, struct sl_error *err);

/* want_variants.c */
/* For a job that *left* leaves to select.  1: there are nodes on which select has nothing to choose, and the exact request
 * now asks for these; 0: there are none; -1. */
int want_some_nodes(struct sl_cluster *c, struct want *w, sl_word_set left, struct exact *x, struct sl_error *err);

/* True if the job has at most SL_MAX_VARIANTS variants. */
bool want_can_list(const struct want *w, const struct exact *x);

/* Make the list of variants, after everything else: the exact request unless the job is native, then its own.  If there is
 * only one, it becomes pub.request.  0 or -1. */
int want_list(struct want *w, const struct exact *x, struct sl_error *err);

/* want_nodes.c */
/* Choose its reservation and the timeline in which it is placed.  0, also if the reservation refuses the job; -1 with
 * *err. */
int want_choose_enclave(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* Choose the eligible and the required nodes, after the amounts are known. */
int want_choose_nodes(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* Free what the want has allocated. */
void want_free_nodes(struct want *w);

/* Set w->pub.up to the eligible nodes that are powered up; NULL if all are.  0, or -1 with *err. */
int want_find_up(const struct sl_cluster *c, struct want *w, const struct sl_nodeset *eligible, struct sl_error *err);

#endif
