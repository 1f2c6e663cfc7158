/* SPDX-License-Identifier: MIT */
/*
 * conf.h - slurm.conf and the files beside it (gres.conf, topology.conf, topology.yaml), read by
 * Slurm's own grammar and with slurmctld's own defaults.
 *
 *	struct sl_conf *c = sl_conf_read("/etc/slurm/slurm.conf", SL_CONF_MACHINE, &err);
 *	const struct sl_conf_value *v = sl_conf_get(c, "SchedulerParameters");
 *	for (uint32_t i = 0; i < c->notes.count; i++)
 *		fprintf(stderr, "%s\n", c->notes.text[i]);
 *
 * What slurmctld would refuse, and what would make another machine than it would have, is an error
 * with file and line.  What is not understood, or is understood and has no effect here though it
 * has one there, is a note with file and line: nothing is dropped silently.  The tables of options
 * are those of Slurm 22.05 to 26.05 together.
 *
 * Bounds: 1,000 files of 256 MiB in all, lines of 16 MiB, 262,144 nodes, 2^26 nodes of all partitions and 2^24 of all
 * lines of gres.conf together.
 *
 * Ownership: a struct sl_conf owns all it points to.  Threads: none.
 */
#ifndef SL_CONF_H
#define SL_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/notes.h"

#define SL_CONF_UNLIMITED UINT32_MAX	/* of a number of 32 bits: INFINITE or UNLIMITED */

struct sl_conf_where {
	const char *path;
	uint64_t line;
};

/* An option that stands in a line of its own: "SlurmctldPort=6817". */
struct sl_conf_value {
	const char *key, *value;	/* the key as slurm.conf(5) writes it */
	struct sl_conf_where where;
};

/* So many of one type of a generic resource of a node.  All items of a set differ in name, type or share. */
struct sl_conf_gres {
	const char *name, *type;	/* type "": not said */
	uint64_t count;
	bool no_consume;
	const char *share;		/* each is a share of a GPU of that type ("": GPUs without a type); NULL: of none */
};

struct sl_conf_gres_set {
	struct sl_conf_gres *item;
	uint32_t items;
};

/* What a NodeName line says of each of its nodes, with slurmctld's defaults and corrections. */
struct sl_conf_kind {
	struct sl_conf_where where;
	uint32_t cpus, boards, sockets, cores_per_socket, threads_per_core, weight;	/* sockets: of all boards */
	uint32_t core_spec;		/* cores that CoreSpecCount or CpuSpecList sets aside */
	uint64_t memory_mib, mem_spec_mib, tmp_disk_mib;
	bool memory_said;		/* by RealMemory; otherwise it is Slurm's default of 1 MiB */
	bool future;			/* State=FUTURE: slurmctld knows the node and shows it to nobody */
	const char *features;		/* comma-separated, "" for none */
	const char *gres_text;		/* the value of Gres=, "" for none */
	uint32_t gres;			/* its set, of struct sl_conf.gres */
};

struct sl_conf_node {
	const char *name;
	uint32_t kind;
	uint32_t gres;			/* its set, of struct sl_conf.gres */
	const char *topology;		/* switches or blocks from the root to the node, dot-separated; "" for none */
	uint32_t nth;			/* in the order of the files, from 0 on */
};

struct sl_conf_partition {
	struct sl_conf_where where;
	const char *name;
	const char *nodes_text;		/* the value of Nodes=, "" for none */
	uint32_t *node, nodes;		/* ascending; FUTURE nodes are left out */
	int64_t max_time_s, default_time_s;	/* SL_UNLIMITED: no limit; default_time_s 0: not said */
	uint32_t min_nodes, max_nodes;	/* SL_CONF_UNLIMITED: no limit */
	uint32_t max_cpus_per_node;	/* SL_CONF_UNLIMITED: no limit */
	uint32_t priority_tier, priority_job_factor;
	uint32_t oversubscribe;		/* jobs that may share a core: 0 EXCLUSIVE, 1 NO, n YES:n or FORCE:n */
	bool force;			/* OverSubscribe=FORCE */
	bool is_default, hidden, lln, root_only, exclusive_user, exclusive_topo;
	const char *topology;		/* Topology= by name, "" for the cluster's own */
	uint32_t block_nodes;		/* topology/block: nodes of a base block; 0: another topology */
	bool block_levels;		/* jobs that are larger than a block are placed by larger blocks */
	bool other_topology;		/* select places its jobs by what struct sl_conf_node does not say */
	const char *qos;		/* "" for none */
	const char *state;		/* "UP" or what stands there */
};

/* Where slurm.conf does not say it, as in Slurm since 23.11 (SelectType) and 24.05 (its parameters): select/cons_tres
 * with CR_Core_Memory. */
struct sl_conf_select {
	bool whole_nodes;		/* select/linear */
	bool memory, one_task_per_core, pack_nodes, lln, socket;
};

struct sl_conf {
	struct sl_conf_value *setting;	/* in the order of the files; a key may stand there more than once */
	uint32_t settings;
	struct sl_conf_kind *kind;
	uint32_t kinds;
	struct sl_conf_node *node;	/* as slurmctld orders them: by name, numbers in it as numbers; by switch or block
					 * and in the order of the files where TopologyParam says so */
	uint32_t nodes;			/* without FUTURE ones */
	struct sl_conf_gres_set *gres;	/* the first has no items */
	uint32_t gres_sets;
	struct sl_conf_partition *partition;	/* in the order of the files */
	uint32_t partitions;
	struct sl_conf_select select;
	struct sl_notes notes;
	struct sl_conf_own *own;
};

enum sl_conf_what {
	SL_CONF_SETTINGS,		/* only the options that stand in lines of their own */
	SL_CONF_MACHINE,		/* nodes and partitions too, and the files beside slurm.conf */
};

/*
 * Read a slurm.conf and what it includes.  NULL with *err: SL_ENOENT, SL_EIO, SL_EINVAL (text:
 * FILE:LINE: what is wrong, what was expected), SL_EFORMAT, SL_ELIMIT, SL_ENOMEM.
 */
struct sl_conf *sl_conf_read(const char *path, enum sl_conf_what what, struct sl_error *err);
void sl_conf_destroy(struct sl_conf *c);

/* The last value of a key (in any case), which is the one that counts; NULL where it is not there. */
const struct sl_conf_value *sl_conf_get(const struct sl_conf *c, const char *key);

/* How often a key stands there: SlurmctldHost has a line for each controller. */
uint32_t sl_conf_count(const struct sl_conf *c, const char *key);

/* The word of the options of slurm.conf that is nearest to *key*; NULL where none is near. */
const char *sl_conf_nearest_setting(const char *key);

#endif
