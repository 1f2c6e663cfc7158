/* SPDX-License-Identifier: MIT */
/*
 * machine_slurm.c - the machine that a slurm.conf describes, as rows of a snapshot.
 *
 * It is the machine as it was built: all nodes and partitions are up, and partitions are open to everybody, since
 * the users of a log are others.  Numbers are as plugin/collect/node.c and lists.c take them from slurmctld.
 */
#include "workload/private.h"

#include "conf/conf.h"

static struct sl_range add_gres(struct sl_builder *b, const struct sl_conf_gres_set *set)
{
	struct sl_range range = { sl_builder_rows(b, SL_T_NODE_GRES), set->items };

	if (!set->items)
		range.first = 0;
	for (uint32_t i = 0; i < set->items; i++) {
		const struct sl_conf_gres *g = &set->item[i];
		struct sl_node_gres_row row = sl_node_gres_row();

		row.kind = sl_machine_gres_kind(b, g->name, g->type);
		row.count = g->count < SL_NONE ? (uint32_t) g->count : SL_NONE - 1;	/* as the plug-in does */
		row.no_consume = g->no_consume;
		if (g->share)
			row.share = sl_machine_gres_kind(b, "gpu", g->share);
		sl_builder_append(b, SL_T_NODE_GRES, &row);
	}
	return range;
}

/* All but the name and what differs between the nodes of one line. */
static struct sl_node_row fill_row(struct sl_builder *b, const struct sl_conf_kind *k)
{
	struct sl_node_row row = sl_node_row();
	uint32_t cores = k->sockets * k->cores_per_socket;

	row.core_spec = k->core_spec < cores ? k->core_spec : 0;
	row.cores = cores - row.core_spec;
	row.threads = cores >= k->cpus ? 1 : k->threads_per_core;
	row.sockets = k->sockets;
	row.memory = k->memory_mib > k->mem_spec_mib ? (int64_t) (k->memory_mib - k->mem_spec_mib) : 0;
	row.tmp_disk = (int64_t) k->tmp_disk_mib;
	row.weight = k->weight;
	row.features = sl_builder_str(b, k->features);
	return row;
}

static void add_nodes(struct sl_builder *b, const struct sl_conf *c)
{
	struct sl_node_row row = sl_node_row();
	uint32_t kind = SL_NONE;

	for (uint32_t i = 0; i < c->nodes; i++) {
		const struct sl_conf_node *n = &c->node[i];

		if (n->kind != kind)
			row = fill_row(b, &c->kind[kind = n->kind]);
		row.name = sl_builder_str(b, n->name);
		row.topology = sl_builder_str(b, n->topology);
		row.gres = add_gres(b, &c->gres[n->gres]);
		sl_builder_append(b, SL_T_NODE, &row);
	}
}

/* The members as runs. */
static struct sl_range add_runs(struct sl_builder *b, const struct sl_conf_partition *p)
{
	struct sl_range range = { sl_builder_rows(b, SL_T_RUN), 0 };
	struct sl_run_row run = sl_run_row();

	for (uint32_t i = 0; i < p->nodes; i++) {
		if (!i || p->node[i] != run.last + 1)
			run.first = p->node[i];
		run.last = p->node[i];
		if (i + 1 < p->nodes && p->node[i + 1] == run.last + 1)
			continue;
		sl_builder_append(b, SL_T_RUN, &run);
		range.count++;
	}
	return range;
}

static void add_partition(struct sl_builder *b, const struct sl_conf_partition *p)
{
	struct sl_partition_row row = sl_partition_row();

	row.name = sl_builder_str(b, p->name);
	row.nodes = add_runs(b, p);
	row.flags = SL_PART_UP | (p->is_default ? SL_PART_DEFAULT : 0) | (p->exclusive_user ? SL_PART_EXCLUSIVE_USER : 0) |
		    (p->exclusive_topo ? SL_PART_EXCLUSIVE_TOPO : 0) | (p->lln ? SL_PART_LLN : 0) |
		    (p->hidden ? SL_PART_HIDDEN : 0) | (p->root_only ? SL_PART_ROOT_ONLY : 0) | (p->force ? SL_PART_FORCE : 0) |
		    (p->other_topology ? SL_PART_OTHER_TOPOLOGY : 0) | (p->block_levels ? SL_PART_BLOCK_LEVELS : 0);
	row.block_nodes = p->block_nodes;
	row.priority_tier = p->priority_tier;
	row.max_time = p->max_time_s;
	row.default_time = p->default_time_s;
	row.min_nodes = p->min_nodes;
	row.max_nodes = p->max_nodes == SL_CONF_UNLIMITED ? SL_NONE : p->max_nodes;
	row.max_cpus_per_node = p->max_cpus_per_node && p->max_cpus_per_node != SL_CONF_UNLIMITED ? p->max_cpus_per_node :
				SL_NONE;
	row.oversubscribe = p->oversubscribe;
	row.qos = sl_builder_str(b, p->qos);
	sl_builder_append(b, SL_T_PARTITION, &row);
}

static uint32_t select_flags_of(const struct sl_conf_select *s)
{
	return (s->whole_nodes ? SL_SELECT_WHOLE_NODE : 0) | (s->memory ? SL_SELECT_MEMORY : 0) |
	       (s->one_task_per_core ? SL_SELECT_ONE_TASK_PER_CORE : 0) | (s->pack_nodes ? SL_SELECT_PACK_NODES : 0) |
	       (s->lln ? SL_SELECT_LLN : 0) | (s->socket ? SL_SELECT_SOCKET : 0);
}

/* What earlier releases take otherwise. */
static void note_select(const struct sl_conf *c, const char *path, struct sl_notes *notes)
{
	if (!sl_conf_get(c, "SelectType"))
		sl_notes_add(notes, "%s: no SelectType: select/cons_tres is taken, as Slurm does since 23.11; before, it is select/linear",
			     path);
	if (!sl_conf_get(c, "SelectTypeParameters") && !c->select.whole_nodes)
		sl_notes_add(notes, "%s: no SelectTypeParameters: CR_Core_Memory is taken, as Slurm does since 24.05; before, memory "
			     "does not count", path);
}

/* Where memory counts, a line without RealMemory is for nodes on which nothing can run that asks for memory. */
static void note_memory(const struct sl_conf *c, struct sl_notes *notes)
{
	for (uint32_t i = 0; i < c->kinds && c->select.memory; i++)
		if (!c->kind[i].memory_said && !c->kind[i].future) {
			sl_notes_add(notes, "%s:%llu: no RealMemory: slurmctld takes 1 MiB a node, and memory counts",
				     c->kind[i].where.path, (unsigned long long) c->kind[i].where.line);
			return;
		}
}

int sl_machine_load_conf(struct sl_builder *b, const char *path, uint32_t *select_flags, struct sl_notes *notes,
			 struct sl_error *err)
{
	struct sl_conf *c = sl_conf_read(path, SL_CONF_MACHINE, err);

	if (!c)
		return -1;
	if (!c->nodes) {
		sl_conf_destroy(c);
		return sl_fail(err, SL_EINVAL, "%s: no NodeName line: expected a slurm.conf with nodes, or a snapshot (of nodes that "
			       "register by themselves, taken with schedlua-capture)", path);
	}
	add_nodes(b, c);
	for (uint32_t i = 0; i < c->partitions; i++)
		add_partition(b, &c->partition[i]);
	if (!c->partitions)
		sl_machine_add_all(b);
	*select_flags = select_flags_of(&c->select);
	if (notes) {
		note_select(c, path, notes);
		note_memory(c, notes);
		sl_notes_move(notes, &c->notes);
	}
	sl_conf_destroy(c);
	return 0;
}
