/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/lists.c - partitions, reservations and licences */
#include "plugin/collect/int.h"

/* The user ids of AllowGroups. */
static uint32_t allow_users(struct sl_collector *c, const part_record_t *p)
{
	uint32_t i, str, n = sl_allow_uids(p);
	size_t at = 0, room = (size_t) n * 11 + 1;
	char *list;

	if (!p->allow_groups)
		return 0;
	list = xmalloc(room);
	for (i = 0; i < n; i++)
		at += (size_t) snprintf(list + at, room - at, "%s%u", at ? "," : "", (unsigned) p->allow_uids[i]);
	str = sl_builder_str(c->b, n ? list : "-");
	xfree(list);
	return str;
}

/* Who may use the partition. */
static void fill_policy(struct sl_collector *c, struct sl_partition_row *row, const part_record_t *p)
{
	row->qos = sl_builder_str(c->b, p->qos_char);
	row->allow_accounts = sl_builder_str(c->b, p->allow_accounts);
	row->deny_accounts = sl_builder_str(c->b, p->deny_accounts);
	row->allow_qos = sl_builder_str(c->b, p->allow_qos);
	row->deny_qos = sl_builder_str(c->b, p->deny_qos);
	row->allow_users = allow_users(c, p);
}

static void collect_part(struct sl_collector *c, void *x)
{
	part_record_t *p = x;
	struct sl_partition_row row = sl_partition_row();

	if (c->parts == c->scratch->part_room)
		return;		/* it was created meanwhile */
	row.name = sl_builder_str(c->b, p->name);
	row.nodes = sl_collect_runs(c, p->node_bitmap);
	SL_FILL_PARTITION(&row, p);
	row.block_nodes = sl_part_has_blocks(p) ? c->blocks.nodes : 0;
	row.flags |= row.block_nodes && c->blocks.levels ? SL_PART_BLOCK_LEVELS : 0;
	row.flags |= sl_part_other_topology(p) && !row.block_nodes ? SL_PART_OTHER_TOPOLOGY : 0;
	fill_policy(c, &row, p);
	if (p->priority_tier < c->scratch->min_tier)
		c->scratch->min_tier = p->priority_tier;
	c->part[c->parts] = p;
	c->parts = sl_builder_append(c->b, SL_T_PARTITION, &row) + 1;
}

/* All cores of those nodes, free or not. */
static int64_t cores_of_nodes(const bitstr_t *nodes)
{
	int64_t cores = 0;
	int i;

	for (i = 0; i < node_record_count && i < bit_size((bitstr_t *) nodes); i++)
		if (node_record_table_ptr[i] && bit_test((bitstr_t *) nodes, i))
			cores += node_record_table_ptr[i]->tot_cores;
	return cores;
}

/* The cores that a reservation has on each of its nodes, if it does not have all of them. */
static void fill_parts(struct sl_collector *c, struct sl_reservation_row *row, const slurmctld_resv_t *r)
{
	int i, at = 0;

	if (!r->core_bitmap || r->flags & RESERVE_FLAG_ALL_NODES ||
	    bit_set_count(r->core_bitmap) >= cores_of_nodes(r->node_bitmap))
		return;
	row->parts.first = sl_builder_rows(c->b, SL_T_ALLOC);
	for (i = 0; i < MIN(node_record_count, bit_size(r->node_bitmap)) && (uint32_t) i < c->node_slots; i++) {
		const node_record_t *n = node_record_table_ptr[i];
		int end = n ? (int) MIN(at + n->tot_cores, bit_size(r->core_bitmap)) : at;
		struct sl_alloc_row part = sl_alloc_row();

		if (at >= end)
			continue;
		part.node = c->node_row[i];
		part.cores = (uint32_t) bit_set_count_range(r->core_bitmap, at, end);
		at = end;
		if (part.node == SL_NONE || !bit_test(r->node_bitmap, i))
			continue;
		sl_builder_append(c->b, SL_T_ALLOC, &part);
		row->parts.count++;
		row->cores += part.cores;
	}
}

static void collect_resv(struct sl_collector *c, void *x)
{
	slurmctld_resv_t *r = x;
	struct sl_reservation_row row = sl_reservation_row();

	if (r->magic != SL_RESV_MAGIC || c->resvs == c->scratch->resv_room)
		return;
	row.name = sl_builder_str(c->b, r->name);
	row.start_time = r->start_time;
	row.end_time = r->end_time;
	row.flags = sl_resv_flags(r->flags);
	row.users = sl_builder_str(c->b, r->users);
	row.accounts = sl_builder_str(c->b, r->accounts);
	if (r->node_bitmap && !(r->flags & RESERVE_FLAG_ANY_NODES)) {
		row.nodes = sl_collect_runs(c, r->node_bitmap);
		fill_parts(c, &row, r);
	}
	row.licenses = sl_collect_licenses(c, r->license_list);
	if (r->node_bitmap)
		c->scratch->start_delay = MAX(c->scratch->start_delay, r->max_start_delay);
	c->resv_id[c->resvs] = r->resv_id;
	c->resvs = sl_builder_append(c->b, SL_T_RESERVATION, &row) + 1;
}

static int each_license(void *x, void *arg)
{
	licenses_t *l = x;
	struct sl_collector *c = arg;
	struct sl_license_row row = sl_license_row();

	if (sl_license_is_hres(l))
		return 0;
	row.name = sl_builder_str(c->b, l->name);
	row.total = l->total;
	row.used = l->used;	/* (its figures about reservations are as old as the last "scontrol show license") */
	sl_builder_append(c->b, SL_T_LICENSE, &row);
	return 0;
}

bool sl_collect_lists(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;

	s->part_room = part_list ? (uint32_t) list_count(part_list) : 0;
	s->resv_room = resv_list ? (uint32_t) list_count(resv_list) : 0;
	xrecalloc(c->part, s->part_room + 1, sizeof(*c->part));
	xrecalloc(c->resv_id, s->resv_room + 1, sizeof(*c->resv_id));
	if (!part_list || !sl_collect_each(c, &part_list, collect_part))
		return false;
	if (sl_licenses)
		list_for_each(sl_licenses, each_license, c);
	return sl_collect_each(c, &resv_list, collect_resv);
}
