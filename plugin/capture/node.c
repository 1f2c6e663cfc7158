/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture/node.c - nodes, partitions, reservations and licences, as the API shows them.
 */
#include "plugin/capture/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/records/units.h"

/* -- gres -------------------------------------------------------------------- */

static uint32_t kind_row(struct capture *c, const char *name, const char *type)
{
	struct sl_gres_kind_row row = sl_gres_kind_row(), other;
	char key[256];
	uint32_t i, n = sl_builder_rows(c->b, SL_T_GRES_KIND);

	snprintf(key, sizeof(key), *type ? "%s:%s" : "%s", name, type);
	row.key = sl_builder_str(c->b, key);
	for (i = 0; i < n; i++)
		if (!sl_builder_row(c->b, SL_T_GRES_KIND, i, &other) && other.key == row.key)
			return i;
	row.name = sl_builder_str(c->b, name);
	row.type = sl_builder_str(c->b, type);
	return sl_builder_append(c->b, SL_T_GRES_KIND, &row);
}

bool capture_gres(const char *item, size_t len, struct sl_gres_word *w)
{
	char word[256];

	if (len > 5 && (!strncmp(item, "gres/", 5) || !strncmp(item, "gres:", 5))) {
		item += 5;
		len -= 5;
	}
	if (len >= sizeof(word))
		return false;
	memcpy(word, item, len);
	word[len] = '\0';
	for (char *p = word; (p = strchr(p, '=')) != NULL; )
		*p = ':';
	if (!sl_gres_word(word, len, w))
		return false;
	if (w->count > UINT32_MAX - 1)
		w->count = UINT32_MAX - 1;
	return true;
}

const char *capture_item(const char *s, size_t *len)
{
	int depth = 0;

	for (*len = 0; s[*len] && (s[*len] != ',' || depth); ++*len)
		depth += s[*len] == '(' || s[*len] == '[' ? 1 : s[*len] == ')' || s[*len] == ']' ? -1 : 0;
	return s[*len] ? s + *len + 1 : s + *len;
}

/* Several words may be of one kind: "gpu:a100:2(S:0),gpu:a100:2(S:1)". */
static bool add_to_kind(struct capture *c, struct sl_range r, const struct sl_node_gres_row *has)
{
	for (uint32_t i = r.first; i < r.first + r.count; i++) {
		struct sl_node_gres_row row;

		if (sl_builder_row(c->b, SL_T_NODE_GRES, i, &row) || row.kind != has->kind)
			continue;
		row.count = row.count < UINT32_MAX - 1 - has->count ? row.count + has->count : UINT32_MAX - 1;
		sl_builder_update(c->b, SL_T_NODE_GRES, i, &row);
		return true;
	}
	return false;
}

struct sl_range capture_node_gres(struct capture *c, enum sl_snapshot_table table, const char *text)
{
	struct sl_range r = { sl_builder_rows(c->b, table), 0 };
	struct sl_node_gres_row has = sl_node_gres_row();
	struct sl_alloc_gres_row holds = sl_alloc_gres_row();
	struct sl_gres_word w;
	const char *s, *next;
	size_t len;

	for (s = text; s && *s; s = next) {
		next = capture_item(s, &len);
		if (!capture_gres(s, len, &w) || !w.count || !strcmp(w.name, "(null)"))
			continue;
		has.no_consume = w.no_consume;
		has.kind = holds.kind = kind_row(c, w.name, w.type);
		has.count = holds.count = (uint32_t) w.count;
		if (table == SL_T_NODE_GRES && add_to_kind(c, r, &has))
			continue;
		sl_builder_append(c->b, table, table == SL_T_NODE_GRES ? (void *) &has : (void *) &holds);
		r.count++;
	}
	return r.count ? r : (struct sl_range) { 0, 0 };
}

/* -- nodes, partitions, reservations, licences --------------------------------- */

struct sl_range capture_runs(struct capture *c, const int32_t *inx)
{
	struct sl_range r = { sl_builder_rows(c->b, SL_T_RUN), 0 };
	int i;

	for (i = 0; inx && inx[i] >= 0; i += 2) {
		struct sl_run_row row = sl_run_row();
		uint32_t first = (uint32_t) inx[i], last = (uint32_t) inx[i + 1];

		if (last >= c->nodes->record_count || first > last)
			break;
		while (first <= last && c->node_row[first] == SL_NONE)
			first++;
		while (last > first && c->node_row[last] == SL_NONE)
			last--;
		if (first > last || c->node_row[last] == SL_NONE)
			continue;
		row.first = c->node_row[first];
		row.last = c->node_row[last];
		sl_builder_append(c->b, SL_T_RUN, &row);
		r.count++;
	}
	return r.count ? r : (struct sl_range) { 0, 0 };
}

static uint32_t node_flags(uint32_t state)
{
	uint32_t base = state & NODE_STATE_BASE, f = 0;
	bool boots = state & NODE_STATE_POWERING_UP;	/* does not respond, and is usable */

	if (base == NODE_STATE_DOWN || base == NODE_STATE_FUTURE || base == NODE_STATE_UNKNOWN ||
	    state & NODE_STATE_FAIL || (state & NODE_STATE_NO_RESPOND && !boots))
		f |= SL_NODE_DOWN;
	if (state & NODE_STATE_DRAIN)
		f |= SL_NODE_DRAIN;
	if (state & NODE_STATE_COMPLETING)
		f |= SL_NODE_COMPLETING;
	if (state & NODE_STATE_MAINT)
		f |= SL_NODE_MAINT;
	return f | (state & NODE_STATE_POWERED_DOWN ? SL_NODE_POWERED_DOWN : 0) |
		(state & NODE_STATE_POWERING_DOWN ? SL_NODE_POWERING_DOWN : 0) | (boots ? SL_NODE_POWERING_UP : 0) |
		(base == NODE_STATE_FUTURE ? SL_NODE_FUTURE : 0) |
		(state & (NODE_STATE_DYNAMIC_NORM | NODE_STATE_DYNAMIC_FUTURE) ? SL_NODE_DYNAMIC : 0);
}

void capture_nodes(struct capture *c)
{
	uint32_t i;

	for (i = 0; i < c->nodes->record_count; i++) {
		const node_info_t *n = &c->nodes->node_array[i];
		struct sl_node_row row = sl_node_row();
		uint32_t cores = (uint32_t) n->boards * n->sockets * n->cores;

		c->node_row[i] = SL_NONE;
		if (!n->name)
			continue;
		if (!n->boards)
			cores = (uint32_t) n->sockets * n->cores;
		row.name = sl_builder_str(c->b, n->name);
		row.state = node_flags(n->node_state);
		row.core_spec = cores > n->core_spec_cnt ? n->core_spec_cnt : 0;
		row.cores = cores - row.core_spec;
		row.threads = cores && n->cpus > cores ? n->cpus / cores : 1;
		row.sockets = n->sockets ? n->sockets : 1;
		row.memory = (int64_t) (n->real_memory > n->mem_spec_limit ? n->real_memory - n->mem_spec_limit : 0);
		row.tmp_disk = n->tmp_disk;
		row.weight = n->weight;
		row.features = sl_builder_str(c->b, n->features_act);
		row.res_cores_per_gpu = SL_RES_CORES_PER_GPU(n);
		row.owner = n->owner == NO_VAL ? SL_NONE : n->owner;
		row.boot_time = n->boot_time;
		row.resume_timeout = sl_timeout(c->conf->resume_timeout);
		row.suspend_timeout = sl_timeout(c->conf->suspend_timeout);
		row.suspend_time = sl_suspend_time(c->conf->suspend_time);
		row.reason = sl_builder_str(c->b, n->reason);
		row.gres = capture_node_gres(c, SL_T_NODE_GRES, n->gres);
		c->node_row[i] = sl_builder_append(c->b, SL_T_NODE, &row);
	}
}

void capture_partitions(struct capture *c)
{
	/* (topology.yaml does not show in the API) */
	bool is_other = (c->conf->topology_plugin && !strcmp(c->conf->topology_plugin, "topology/block")) ||
		sl_has_word(c->conf->topology_param, "dragonfly");
	uint32_t i;

	for (i = 0; i < c->parts->record_count; i++) {
		const partition_info_t *p = &c->parts->partition_array[i];
		struct sl_partition_row row = sl_partition_row();

		row.name = sl_builder_str(c->b, p->name);
		row.nodes = capture_runs(c, p->node_inx);
		SL_FILL_PARTITION(&row, p);
		row.flags |= is_other ? SL_PART_OTHER_TOPOLOGY : 0;
		row.qos = sl_builder_str(c->b, p->qos_char);
		sl_builder_append(c->b, SL_T_PARTITION, &row);
	}
}

void capture_reservations(struct capture *c)
{
	uint32_t i;

	for (i = 0; i < c->resvs->record_count; i++) {
		const reserve_info_t *r = &c->resvs->reservation_array[i];
		struct sl_reservation_row row = sl_reservation_row();

		row.name = sl_builder_str(c->b, r->name);
		row.start_time = r->start_time;
		row.end_time = r->end_time;
		if (r->node_inx && r->node_inx[0] >= 0 && !(r->flags & RESERVE_FLAG_ANY_NODES))
			row.nodes = capture_runs(c, r->node_inx);
		row.flags = sl_resv_flags(r->flags);
		row.users = sl_builder_str(c->b, r->users);
		row.accounts = sl_builder_str(c->b, r->accounts);
		row.cores = r->core_spec_cnt ? r->core_cnt : 0;	/* parts of nodes */
		sl_builder_append(c->b, SL_T_RESERVATION, &row);
	}
}

void capture_licenses(struct capture *c)
{
	uint32_t i;

	for (i = 0; i < c->licenses->num_lic; i++) {
		const slurm_license_info_t *l = &c->licenses->lic_array[i];
		struct sl_license_row row = sl_license_row();

		row.name = sl_builder_str(c->b, l->name);
		row.total = l->total;
		row.used = l->in_use;
		row.reserved = l->reserved;
		sl_builder_append(c->b, SL_T_LICENSE, &row);
	}
}

uint32_t capture_part(const struct capture *c, const char *name, size_t len)
{
	uint32_t i;

	for (i = 0; i < c->parts->record_count; i++)
		if (strlen(c->parts->partition_array[i].name) == len &&
		    !strncmp(c->parts->partition_array[i].name, name, len))
			return i;
	return SL_NONE;
}
