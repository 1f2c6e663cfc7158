/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compat_topology.h - the part of compat.h that is about topologies: from 23.11 on there are others than trees, and from 25.05 on
 * there may be one for each partition.  compat.h includes it.
 *
 * Threads: as compat.h says.
 */
#ifndef SL_COMPAT_TOPOLOGY_H
#define SL_COMPAT_TOPOLOGY_H

/* True if the first topology of the cluster, which topology_g_get_node_addr() tells of, has switches or blocks. */
static inline bool sl_topology_has_switches(void)
{
#if SL_SLURM(25, 5)
	return topology_get_plugin_id() != TOPOLOGY_PLUGIN_FLAT;
#else
	const char *plugin = slurm_conf.topology_plugin;

	return plugin && xstrcmp(plugin, "topology/none") && xstrcmp(plugin, "topology/default") &&
		xstrcmp(plugin, "topology/flat");
#endif
}

struct sl_blocks {
	uint32_t nodes;			/* of a base block, the first of BlockSizes; 0: there are no blocks */
	bool levels;			/* some blocks are larger than a base block, and smaller than all base blocks together */
};

/* From what "scontrol show topology" prints: a line for each base block, and then for each larger one. */
static inline struct sl_blocks sl_read_blocks(const char *text)
{
	static const char key[] = " BlockSize=";
	struct sl_blocks b = { 0 };
	unsigned long nodes, blocks = 0;

	for (const char *line = text, *at; line && (at = strstr(line, key)); line = strchr(at, '\n')) {
		nodes = strtoul(at + strlen(key), NULL, 10);
		line += *line == '\n';
		if (!strncmp(line, "BlockName=", strlen("BlockName="))) {
			b.nodes = nodes < NO_VAL ? (uint32_t) nodes : 0;
			blocks++;
		} else if (b.nodes && nodes > b.nodes && nodes / b.nodes < blocks) {
			b.levels = true;
		}
	}
	return b;
}

/* The blocks of topology/block.  None if the first topology of the cluster is another one, and before 24.11, which does not say it. */
static inline struct sl_blocks sl_topology_blocks(void)
{
	struct sl_blocks b = { 0 };
#if SL_SLURM(24, 11)
	dynamic_plugin_data_t *topology = NULL;
	char *text = NULL;

	if (topology_get_plugin_id() != TOPOLOGY_PLUGIN_BLOCK)
		return b;
#if SL_SLURM(25, 11)
	if (topology_g_get(TOPO_DATA_TOPOLOGY_PTR, NULL, &topology) == SLURM_SUCCESS && topology) {
		topology_g_topoinfo_print(topology, NULL, NULL, &text);
		topology_g_topoinfo_free(topology);
	}
#elif SL_SLURM(25, 5)
	if (topology_g_get(TOPO_DATA_TOPOLOGY_PTR, NULL, &topology) == SLURM_SUCCESS && topology) {
		topology_g_topology_print(topology, NULL, NULL, &text);
		topology_g_topology_free(topology);
	}
#else
	if (topology_g_get(TOPO_DATA_TOPOLOGY_PTR, &topology) == SLURM_SUCCESS && topology) {
		topology_g_topology_print(topology, NULL, &text);
		topology_g_topology_free(topology);
	}
#endif
	b = sl_read_blocks(text);
	xfree(text);
#endif
	return b;
}

/* Where a node was put while slurmctld runs ("scontrol update node topology="), or by a NodeName line; NULL: nowhere. */
static inline const char *sl_node_topology_said(const node_record_t *n)
{
#if SL_SLURM(25, 5)
	return n->topology_str;
#else
	(void) n;
	return NULL;
#endif
}

/* True if jobs of that partition are placed by the first topology of the cluster. */
static inline bool sl_part_has_first_topology(const part_record_t *part)
{
#if SL_SLURM(25, 5)
	return !part->topology_idx;
#else
	(void) part;
	return true;
#endif
}

/* True if jobs of that partition are placed in blocks. */
static inline bool sl_part_has_blocks(const part_record_t *part)
{
#if SL_SLURM(24, 11)
	return part && sl_part_has_first_topology(part) && topology_get_plugin_id() == TOPOLOGY_PLUGIN_BLOCK;
#else
	(void) part;
	return false;
#endif
}

/*
 * True if select places jobs of that partition by anything else than that first topology as a tree, or without one.  Such
 * a topology refuses nodes that are required and are not as it would have them, and from 26.05 on arbitrary_tpn
 * (eval_nodes_block() and its like).  Before 25.05 topology/3d_torus only orders the nodes.  With "dragonfly" in
 * TopologyParam the leaves of a tree are chosen otherwise (_eval_nodes_dfly()).
 */
static inline bool sl_part_other_topology(const part_record_t *part)
{
#if SL_SLURM(25, 5)
	int id = topology_get_plugin_id();

	return part->topology_idx || (id != TOPOLOGY_PLUGIN_FLAT && id != TOPOLOGY_PLUGIN_TREE) ||
		(id == TOPOLOGY_PLUGIN_TREE && xstrcasestr(slurm_conf.topology_param, "dragonfly"));
#else
	(void) part;
	return !xstrcmp(slurm_conf.topology_plugin, "topology/block") ||
		(!xstrcmp(slurm_conf.topology_plugin, "topology/tree") && xstrcasestr(slurm_conf.topology_param, "dragonfly"));
#endif
}

/* --segment: nodes of a segment; 0: the job asks for none. */
static inline uint32_t sl_segment(const sl_details_t *d)
{
#if SL_SLURM(24, 5)
	return d->segment_size == NO_VAL16 ? 0 : d->segment_size;
#else
	(void) d;
	return 0;
#endif
}

/* True if it says in which blocks its segments are to be. */
static inline bool sl_says_segment_blocks(const job_record_t *job)
{
#ifdef SPREAD_SEGMENTS
	return job->bit_flags & (SPREAD_SEGMENTS | CONSOLIDATE_SEGMENTS);
#else
	(void) job;
	return false;
#endif
}

#endif
