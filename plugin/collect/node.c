/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/node.c - copies nodes and their gres; see collect/int.h */
#include "plugin/collect/int.h"

uint32_t sl_collect_kind(struct sl_collector *c, const char *name, const char *type)
{
	struct sl_scratch *s = c->scratch;
	struct sl_gres_kind_row row = sl_gres_kind_row();
	char key[132];
	uint32_t i;

	type = type ? type : "";
	for (i = 0; i < s->kinds; i++)
		if (!strcmp(s->kind[i].name, name) && !strcmp(s->kind[i].type, type))
			return i;
	if (s->kinds == SL_KINDS || strlen(name) >= sizeof(s->kind[0].name) || strlen(type) >= sizeof(s->kind[0].type))
		return SL_NONE;
	strcpy(s->kind[s->kinds].name, name);
	strcpy(s->kind[s->kinds].type, type);
	s->kinds++;
	snprintf(key, sizeof(key), *type ? "%s:%s" : "%s", name, type);
	row.key = sl_builder_str(c->b, key);
	row.name = sl_builder_str(c->b, name);
	row.type = sl_builder_str(c->b, type);
	return sl_builder_append(c->b, SL_T_GRES_KIND, &row);
}

struct sl_range sl_collect_runs(struct sl_collector *c, const bitstr_t *bitmap)
{
	struct sl_run_row row = sl_run_row();
	struct sl_range r = { sl_builder_rows(c->b, SL_T_RUN), 0 };
	bitstr_t *bits = (bitstr_t *) bitmap;	/* bitstring.h does not use const */
	int i, last;

	if (!bitmap || (i = bit_ffs(bits)) < 0)
		return (struct sl_range) { 0, 0 };
	last = bit_fls(bits);
	row.first = SL_NONE;
	for (; i <= last && (uint32_t) i < c->node_slots; i++) {
		uint32_t node = c->node_row[i];

		if (node == SL_NONE)
			continue;	/* a node without a row: it neither ends a run nor belongs to one */
		if (bit_test(bits, i)) {
			if (row.first == SL_NONE)
				row.first = node;
			row.last = node;
		} else if (row.first != SL_NONE) {
			sl_builder_append(c->b, SL_T_RUN, &row);
			r.count++;
			row.first = SL_NONE;
		}
	}
	if (row.first != SL_NONE) {
		sl_builder_append(c->b, SL_T_RUN, &row);
		r.count++;
	}
	return r.count ? r : (struct sl_range) { 0, 0 };
}

/* True if the gres is in the list, or if the list is full: then any gres may be meant. */
static bool is_listed(const uint32_t *list, uint32_t length, const gres_state_t *g)
{
	bool is = length == SL_UNCOUNTED;
	uint32_t i;

	for (i = 0; i < length && !is; i++)
		is = list[i] == g->plugin_id;
	return is;
}

bool sl_collect_uncounted(const struct sl_scratch *s, const gres_state_t *g)
{
	return is_listed(s->uncounted, s->uncounted_len, g);
}

bool sl_collect_by_type(const struct sl_scratch *s, const gres_state_t *g)
{
	return is_listed(s->by_type, s->by_type_len, g);
}

#define SHARED_KINDS 4	/* kinds of shares: mps, shard */

struct gres_walk {
	struct sl_collector *c;
	const gres_state_t *shared[SHARED_KINDS];	/* gres that are shares of GPUs; handled when the GPUs are known */
	const gres_node_state_t *gpus;
	uint32_t shares;
	const gres_state_t *gres;
	uint32_t count;
};

static void note_uncounted(struct sl_scratch *s, const gres_state_t *g)
{
	if (!sl_collect_uncounted(s, g))
		s->uncounted[s->uncounted_len++] = g->plugin_id;
}

/* (Whether a node has device files is unknown until it has registered.) */
static void note_types(struct sl_scratch *s, const gres_state_t *g, const gres_node_state_t *node)
{
	if (node->type_cnt > 1 && !node->gres_bit_alloc && node->gres_cnt_found != NO_VAL64 && !sl_collect_by_type(s, g))
		s->by_type[s->by_type_len++] = g->plugin_id;
}

static void add_count(struct gres_walk *w, const char *type, uint64_t count, bool no_consume)
{
	struct sl_node_gres_row row = sl_node_gres_row();

	if (!count)
		return;
	row.no_consume = no_consume;
	row.kind = sl_collect_kind(w->c, w->gres->gres_name, type);
	row.count = (uint32_t) MIN(count, UINT32_MAX - 1);
	if (row.kind != SL_NONE) {
		sl_builder_append(w->c->b, SL_T_NODE_GRES, &row);
		w->count++;
	} else {
		note_uncounted(w->c->scratch, w->gres);
	}
}

/* One row per type, and one without a type if the types do not cover the whole count. */
static int each_node_gres(void *x, void *arg)
{
	struct gres_walk *w = arg;
	const gres_node_state_t *g;
	uint64_t typed = 0;
	int i;

	w->gres = x;
	g = w->gres->gres_data;
	if (!g || !w->gres->gres_name)
		return 0;
	if (w->gres->config_flags & GRES_CONF_SHARED) {
		if (g->gres_cnt_avail && w->shares < SHARED_KINDS)
			w->shared[w->shares++] = w->gres;
		return 0;
	}
	if (!xstrcmp(w->gres->gres_name, "gpu"))
		w->gpus = g;
	if (g->no_consume && g->topo_cnt) {	/* select looks at these devices one by one */
		note_uncounted(w->c->scratch, w->gres);
		return 0;
	}
	note_types(w->c->scratch, w->gres, g);
	for (i = 0; i < g->type_cnt; i++) {
		add_count(w, g->type_name[i], g->type_cnt_avail[i], g->no_consume);
		typed += g->type_cnt_avail[i];
	}
	if (g->gres_cnt_avail > typed)
		add_count(w, NULL, g->gres_cnt_avail - typed, g->no_consume);
	return 0;
}

/* Add the shares.  A node's GPUs can be shared in one way only.  (On a node that takes no jobs nothing is noted as
 * uncounted.) */
static void add_shares(struct gres_walk *w, bool usable)
{
	uint32_t i, rows = 0;

	if (w->shares == 1 && w->gpus)
		w->count += rows = sl_collect_shares(w->c, w->gpus, w->shared[0]);
	for (i = 0; i < w->shares && !rows && usable; i++)
		note_uncounted(w->c->scratch, w->shared[i]);
}

/* True if the node reboots or is to reboot, and is resumed after that (scontrol reboot ... nextstate=resume).  Until then
 * Slurm starts nothing there, but plans with it (rs_node_bitmap).  A node that is to reboot as soon as possible is drained
 * until then. */
static bool is_resumed_by_a_reboot(const node_record_t *n, int i)
{
	bool said = n->next_state != NO_VAL && n->next_state & NODE_RESUME;

	if (!IS_NODE_REBOOT_REQUESTED(n) && !IS_NODE_REBOOT_ISSUED(n))
		return false;
	if (IS_NODE_FAIL(n) || (IS_NODE_DRAIN(n) && !(said && n->next_state & NODE_STATE_UNDRAIN)))
		return false;
	return said || bit_test(rs_node_bitmap, i);
}

/* True if the node is being powered down and may be powered up again after that (power_save.c). */
static bool sleeps_soon(const node_record_t *n)
{
	return IS_NODE_POWERING_DOWN(n) && !IS_NODE_DOWN(n) && !IS_NODE_DRAIN(n) && !IS_NODE_FAIL(n);
}

static uint32_t power_flags(const node_record_t *n, bool resumed)
{
	return (IS_NODE_POWERED_DOWN(n) ? SL_NODE_POWERED_DOWN : 0) |
		(IS_NODE_POWERING_DOWN(n) ? SL_NODE_POWERING_DOWN : 0) |
		(IS_NODE_POWERING_UP(n) ? SL_NODE_POWERING_UP : 0) |
		(resumed && IS_NODE_REBOOT_ISSUED(n) ? SL_NODE_REBOOT_ISSUED : 0) |
		(resumed && IS_NODE_REBOOT_REQUESTED(n) ? SL_NODE_REBOOT_REQUESTED : 0) |
		(IS_NODE_FUTURE(n) ? SL_NODE_FUTURE : 0) |
		(IS_NODE_DYNAMIC_NORM(n) || IS_NODE_DYNAMIC_FUTURE(n) ? SL_NODE_DYNAMIC : 0);
}

static uint32_t node_flags(const node_record_t *n, int i)
{
	bool resumed = is_resumed_by_a_reboot(n, i);
	uint32_t f = 0;

	if ((!bit_test(up_node_bitmap, i) && !resumed) || (IS_NODE_DOWN(n) && !resumed) || IS_NODE_FUTURE(n))
		f |= SL_NODE_DOWN;
	if (IS_NODE_DRAIN(n) && !resumed)
		f |= SL_NODE_DRAIN;
	if (!bit_test(avail_node_bitmap, i) && !(f & SL_NODE_UNUSABLE) && !resumed && !sleeps_soon(n))
		f |= SL_NODE_DOWN;	/* not responding, failing and so on */
	if (IS_NODE_COMPLETING(n))
		f |= SL_NODE_COMPLETING;
	if (IS_NODE_MAINT(n))
		f |= SL_NODE_MAINT;
	return f | power_flags(n, resumed);
}

static void fill_power(struct sl_node_row *row, const node_record_t *n)
{
	row->power_time = IS_NODE_POWERING_DOWN(n) ? n->power_save_req_time : n->boot_req_time;
	row->resume_timeout = sl_timeout(n->resume_timeout);
	row->suspend_timeout = sl_timeout(n->suspend_timeout);
	row->suspend_time = sl_suspend_time(n->suspend_time);
}

static uint32_t spec_cores(const node_record_t *n)
{
	return n->core_spec_cnt < n->tot_cores ? n->core_spec_cnt : 0;
}

/* Cores that jobs may use. */
static uint32_t usable_cores(const node_record_t *n)
{
	return n->tot_cores - spec_cores(n);
}

const node_record_t *sl_collect_node(const struct sl_collector *c, uint32_t row)
{
	const node_record_t *n;

	if (row >= c->nodes || row >= c->snap.node.rows || c->node_index[row] >= node_record_count)
		return NULL;
	n = node_record_table_ptr[c->node_index[row]];
	if (!n || n->magic != NODE_MAGIC || !n->name ||
	    strcmp(n->name, sl_snapshot_str(&c->snap, c->snap.node.name[row])) ||
	    usable_cores(n) != c->snap.node.cores[row])
		return NULL;
	return n;
}

/* A digest of what can change the switches above a node without a reconfiguration: a dynamic node may have been replaced
 * by another one, and since 25.05 a node can be moved. */
static uint64_t digest_place(const node_record_t *n)
{
	const char *said = sl_node_topology_said(n);
	uint64_t hash = said ? sl_hash_text(SL_HASH, said) : SL_HASH;

	return IS_NODE_DYNAMIC_NORM(n) || IS_NODE_DYNAMIC_FUTURE(n) ? sl_hash_text(hash, n->name) : hash;
}

/* The switches above node i, from the root down.  Cached, because Slurm searches all switches each time it is asked. */
static const char *switches_above(struct sl_collector *c, const node_record_t *n, int i)
{
	char *address = NULL, *pattern = NULL, *name;
	uint64_t of;

	if (!c->topology)
		return "";
	of = digest_place(n);
	if (c->topology[i].path && c->topology[i].of == of)
		return c->topology[i].path;
	if (topology_g_get_node_addr(n->name, &address, &pattern) == SLURM_SUCCESS && address &&
	    (name = strrchr(address, '.')))
		*name = '\0';
	else if (address)
		*address = '\0';
	xfree(pattern);
	xfree(c->topology[i].path);
	c->topology[i].path = address ? address : xstrdup("");
	c->topology[i].of = of;
	return c->topology[i].path;
}

void sl_collect_forget_topology(struct sl_collector *c)
{
	for (uint32_t i = 0; c->topology && i < c->topologies; i++)
		xfree(c->topology[i].path);
	xfree(c->topology);
	c->topologies = 0;
}

/* Drop the cache of switches if the configuration has changed. */
static void begin_topology(struct sl_collector *c)
{
	if (c->topology_of == slurm_conf.last_update && c->topologies == (uint32_t) node_record_count)
		return;
	sl_collect_forget_topology(c);
	c->topology_of = slurm_conf.last_update;
	c->topologies = (uint32_t) node_record_count;
	c->blocks = sl_topology_blocks();
	if (sl_topology_has_switches())
		c->topology = xcalloc(c->topologies + 1, sizeof(*c->topology));
}

static void add_node(struct sl_collector *c, const node_record_t *n, int i)
{
	struct sl_node_row row = sl_node_row();
	struct gres_walk w = { .c = c };

	row.name = sl_builder_str(c->b, n->name);
	row.state = node_flags(n, i);
	row.cores = usable_cores(n);
	row.core_spec = spec_cores(n);
	row.threads = n->tpc ? n->tpc : 1;
	row.sockets = n->tot_sockets ? n->tot_sockets : 1;
	row.memory = (int64_t) (n->real_memory > n->mem_spec_limit ? n->real_memory - n->mem_spec_limit : 0);
	row.tmp_disk = n->tmp_disk;
	row.weight = n->config_ptr ? n->config_ptr->weight : 1;
	row.features = sl_builder_str(c->b, n->features_act ? n->features_act : n->features);
	row.res_cores_per_gpu = SL_RES_CORES_PER_GPU(n);
	row.owner = n->owner == NO_VAL ? SL_NONE : n->owner;
	row.boot_time = n->boot_time;
	fill_power(&row, n);
	row.topology = sl_builder_str(c->b, switches_above(c, n, i));
	row.reason = n->reason ? sl_builder_str(c->b, n->reason) : 0;
	row.gres.first = sl_builder_rows(c->b, SL_T_NODE_GRES);
	if (n->gres_list)
		list_for_each(n->gres_list, each_node_gres, &w);
	add_shares(&w, !(row.state & SL_NODE_UNUSABLE));
	row.gres.count = w.count;
	if (!w.count)
		row.gres.first = 0;
	c->node_row[i] = sl_builder_append(c->b, SL_T_NODE, &row);
	c->node_index[c->nodes++] = i;
}

bool sl_collect_nodes(struct sl_collector *c)
{
	int i;

	if ((uint32_t) node_record_count > c->node_slots) {
		xrecalloc(c->node_row, node_record_count, sizeof(*c->node_row));
		xrecalloc(c->node_index, node_record_count, sizeof(*c->node_index));
		c->node_slots = (uint32_t) node_record_count;
	}
	for (i = 0; (uint32_t) i < c->node_slots; i++)
		c->node_row[i] = SL_NONE;
	c->nodes = 0;
	begin_topology(c);
	for (i = 0; i < c->node_count; i++) {
		const node_record_t *n;

		if (!sl_collect_breathe(c))
			return false;
		n = node_record_table_ptr[i];
		if (n && n->name)
			add_node(c, n, i);
	}
	return true;
}
