/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - what the files of schedlua-capture share: nobody else includes it.
 *
 * Rows are appended to c->b, a table after the other; a builder that runs out of memory
 * says so when it is finished.
 */
#ifndef SL_CAPTURE_H
#define SL_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "plugin/records/release.h"
#include "image/gres_word.h"
#include "image/snapshot.h"

struct capture {
	struct sl_builder *b;
	slurm_conf_t *conf;
	node_info_msg_t *nodes;
	partition_info_msg_t *parts;
	job_info_msg_t *jobs;
	reserve_info_msg_t *resvs;
	license_info_msg_t *licenses;
	uint32_t *node_row;	/* by index in nodes->node_array */
	uint32_t *job_row;	/* by index in jobs->job_array */
	bool memory;		/* is a consumable resource */
	time_t now;
	bool bare;		/* standard output is the snapshot, and nothing else */
};

/* The length of the first item of a comma-separated list, in *len; commas in brackets do not separate.  Returns where the next
 * item begins. */
const char *capture_item(const char *s, size_t *len);

/* "gpu:a100:2(S:0-1)", "gres/gpu:2", "gpu=2", "gpu": one item, with a number that a snapshot
 * can hold; false for none. */
bool capture_gres(const char *item, size_t len, struct sl_gres_word *w);

/* Rows of what a node has (SL_T_NODE_GRES) or a job holds there (SL_T_ALLOC_GRES). */
struct sl_range capture_node_gres(struct capture *c, enum sl_snapshot_table table, const char *text);

/* Pairs of first and last index, ended by -1, as the API gives them. */
struct sl_range capture_runs(struct capture *c, const int32_t *inx);

/* The row of a partition, SL_NONE where there is none of that name. */
uint32_t capture_part(const struct capture *c, const char *name, size_t len);

/* All of a kind. */
void capture_nodes(struct capture *c);
void capture_partitions(struct capture *c);
void capture_reservations(struct capture *c);
void capture_licenses(struct capture *c);
void capture_jobs(struct capture *c);
int capture_queue(struct capture *c);	/* -1: out of memory */

#endif
