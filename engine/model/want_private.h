/* SPDX-License-Identifier: MIT */
/*
 * want_private.h - the inside of a want, for want*.c only.
 *
 * A want is filled in piece by piece; a piece that finds that it cannot be had says so with
 * want_refuse(), and the others are not asked.
 */
#ifndef SL_WANT_PRIVATE_H
#define SL_WANT_PRIVATE_H

#include "model/cluster_private.h"
#include "model/native.h"

/* True if the job says one of *words*, and none of those it says is left to select by another word of the job. */
static inline bool want_can_place(const struct want *w, sl_word_set words)
{
	return w->pub.asked & words && !(sl_words_left(w->pub.asked) & words);
}

static inline uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t over(uint32_t a, uint32_t b)	/* rounded up */
{
	return a / b + (a % b != 0);
}

/* What select counts of a core for a node's CPUs: those of the tasks that may be on it. */
static inline uint32_t counted_cpus(uint32_t threads, uint32_t tasks_per_core, uint32_t cpus_per_task)
{
	uint64_t cpus = (uint64_t) tasks_per_core * cpus_per_task;

	return cpus && cpus < threads ? (uint32_t) cpus : threads;
}

/* want.c */
/* Leave it to select: its request becomes what the job itself asks for.  On borrowed nodes it is refused instead. */
void want_leave_to_select(struct want *w);

/* It cannot be had as things stand in this snapshot; 0. */
int want_refuse(struct want *w, enum sl_why why, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* want_gres.c */
struct sl_ask;
/* Make the request strict: the job gets its fewest nodes, since with more of them only select knows what each gives.
 * False if that is not possible. */
bool want_narrow(const struct sl_cluster *c, struct want *w);
/* --ntasks-per-gpu: if the request settles how many tasks each node has, they become part of it; else the job is native. */
void want_gres_tasks(struct sl_cluster *c, struct want *w, const struct sl_ask *a);
/* --gres-flags=enforce-binding: likewise. */
void want_bound_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a);
/* Do its nodes have so many of a row of gres for each socket, if they have as many at all? */
bool want_has_socket_gres(struct sl_cluster *c, const struct want *w, uint32_t row);

/* want_each.c */
/* CPUs and memory that come with each gres, once its request has tasks, nodes and gres: what of these is odd is native. */
void want_each_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a);

/* What a node has of the gres of a row: of that name, and of that type or of any. */
uint64_t want_count_gres(const struct sl_cluster *c, uint32_t row, uint32_t n, bool any_type);

/*
 * What each node gives of gres of the job, where it could not be any other number: on its fewest nodes if that is one, with
 * one for each node, or with all that any node has.  Else 0: select deals them out, and CPUs without a look at that.
 */
uint32_t want_share_of_job(struct sl_cluster *c, struct want *w, const struct sl_ask *a);

/* want_asks_company(): true if the job has whole nodes, and CPUs or memory come with its gres.  want_has_company(): true if
 * the node has enough of them for all of its gres. */
bool want_asks_company(const struct sl_cluster *c, const struct want *w);
bool want_has_company(const struct sl_cluster *c, const struct want *w, uint32_t n);

/* want_deal.c */
/* How its tasks are dealt out to its nodes, once it is known how many of both there may be; 0 or -1. */
int want_deal(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* want_sockets.c */
/* Tasks that each of its nodes has, where that is settled before nodes are chosen; else 0. */
uint32_t want_tasks_of_each_node(const struct sl_request *r);

/* Sockets, their cores and tasks on each that it asks for, once it is known how many nodes and tasks it has. */
int want_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a);

/* Where sockets are allocated: how many cores a node gives at once. */
void want_whole_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a);

/* want_shared.c */
/* Where several jobs may have a core: what has to be free for it, once the rest of its request is known. */
void want_shared(struct sl_cluster *c, struct want *w, const struct sl_ask *a);

/* want_counts.c */
/* The list of node counts that it asks for: those that it may have where it runs, once these are known in *a*; 0 or -1. */
int want_counts(struct sl_cluster *c, struct want *w, struct sl_ask *a, struct sl_error *err);

/* want_variants.c */
/* What it says itself is what its request says now: what follows may make that stricter. */
void want_keep_wide(struct want *w);

/* As it was then. */
void want_restore_wide(const struct want *w, struct sl_request *r);

/* Of a native job, which is worked out otherwise: where a stricter request would leave nothing to select it has that one. */
int want_place_strictly(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* Its variants, once all else is known; its request becomes what all of them have in common.  0 or -1. */
int want_list(struct want *w, struct sl_error *err);

/* want_nodes.c */
/* The reservation: where and when; 0 also when it forbids. */
int want_choose_enclave(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* Which nodes it may have, and which it must.  How much it asks for is known by then. */
int want_choose_nodes(struct sl_cluster *c, struct want *w, struct sl_error *err);

/* The sets of nodes that are its own. */
void want_free_nodes(struct want *w);

/* Of its eligible nodes those that need not boot, where some have to.  0, or -1 with *err. */
int want_find_up(const struct sl_cluster *c, struct want *w, struct sl_error *err);

#endif
