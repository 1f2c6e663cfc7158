/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hosts.h - the nodes of an allocation, and its cores on each of them.
 *
 *	struct sl_host h = SL_BEFORE_HOSTS;
 *
 *	while (sl_host_next(jr, &h))
 *		... node h.node, of which it has sl_host_cores(jr, &h) cores ...
 *
 * An allocation has one bitmap of cores: those of its first node, whichever it has of them, then those of the next.
 *
 * Threads: any; job read locks held.
 */
#ifndef SL_HOSTS_H
#define SL_HOSTS_H

#include "plugin/records/compat.h"

struct sl_host {
	uint32_t index;		/* among its nodes, from 0 on */
	int node;		/* in node_record_table_ptr */
	int first, end;		/* the node's cores in core_bitmap: up to before *end* */
	uint32_t kind, of_kind;	/* nodes of like cores stand together in its table */
};

#define SL_BEFORE_HOSTS { .index = UINT32_MAX }

/* Has it bitmaps to be walked along? */
static inline bool sl_has_hosts(const job_resources_t *jr)
{
	return jr && jr->node_bitmap && jr->core_bitmap;
}

/* Those of its nodes on which it has not been cleaned up yet; NULL: none are its own any more. */
static inline const bitstr_t *sl_held_nodes(const job_record_t *job)
{
	if (!sl_has_hosts(job->job_resrcs))
		return NULL;
	return IS_JOB_COMPLETING(job) ? job->node_bitmap_cg : job->job_resrcs->node_bitmap;
}

/* Suspended by an administrator: its cores are given back, its memory is not. */
static inline bool sl_gave_cores_back(const job_record_t *job)
{
	return IS_JOB_SUSPENDED(job) && !job->priority;
}

/* On to the next one; false: that was the last. */
static inline bool sl_host_next(const job_resources_t *jr, struct sl_host *h)
{
	bool begins = h->index == UINT32_MAX;
	int nodes = MIN(node_record_count, (int) bit_size(jr->node_bitmap));

	if (++h->index >= jr->nhosts)
		return false;
	/* (bit by bit to the first one would be slow on a large machine) */
	h->node = begins ? bit_ffs(jr->node_bitmap) : h->node + 1;
	while (h->node >= 0 && h->node < nodes && !bit_test(jr->node_bitmap, h->node))
		h->node++;
	if (h->node < 0 || h->node >= nodes)
		return false;
	while (h->of_kind >= jr->sock_core_rep_count[h->kind]) {
		h->kind++;
		h->of_kind = 0;
	}
	h->of_kind++;
	h->first = h->end;
	h->end += jr->sockets_per_node[h->kind] * jr->cores_per_socket[h->kind];
	return true;
}

static inline uint32_t sl_host_cores(const job_resources_t *jr, const struct sl_host *h)
{
	return (uint32_t) MAX(bit_set_count_range(jr->core_bitmap, h->first, h->end), 0);
}

#endif
