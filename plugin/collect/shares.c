/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect/shares.c - gres that are shares of a node's GPUs (shard, mps), and which GPUs jobs have; see collect/int.h
 *
 * Slurm numbers all GPUs of a node together; a snapshot numbers those of each type.
 */
#include "plugin/collect/int.h"

#define DEVICES 32	/* bits of a number */
#define MOST_SHARES (INT32_MAX / DEVICES)	/* of each GPU: more than the engine counts, and their sum does not overflow */

static int is_gpu(void *x, void *key)
{
	const gres_state_t *g = x;

	(void) key;
	return !xstrcmp(g->gres_name, "gpu");
}

static const gres_node_state_t *gpus_of(sl_list_t gres)
{
	gres_state_t *g = gres ? list_find_first(gres, is_gpu, NULL) : NULL;

	return g ? g->gres_data : NULL;
}

/* The device that row *row* of a node's gres stands for; -1 if it does not stand for just one. */
static int device_of(const gres_node_state_t *g, int row)
{
	bitstr_t *bits = g->topo_gres_bitmap ? g->topo_gres_bitmap[row] : NULL;

	return bits && bit_set_count(bits) == 1 ? bit_ffs(bits) : -1;
}

static const char *type_of(const gres_node_state_t *gpus, int row)
{
	return gpus->topo_type_name && gpus->topo_type_name[row] ? gpus->topo_type_name[row] : "";
}

/*
 * The number of shares of each GPU.  0 unless each GPU has a row of its own, and an equal number of shares in one row.  (GPUs
 * for which gres.conf states neither type nor cores have no rows, and select gives them whole even if others have shares of
 * them.  Nor do those of a node that has not registered.)
 */
static uint64_t share_of_each(const gres_node_state_t *gpus, const gres_node_state_t *shares)
{
	int n = gpus->topo_cnt, i;

	if (!n || n > DEVICES || (uint64_t) n != gpus->gres_cnt_avail || shares->topo_cnt != n || gpus->no_consume)
		return 0;
	for (i = 0; i < n; i++)
		if (device_of(gpus, i) < 0 || device_of(gpus, i) >= n || device_of(shares, i) < 0 ||
		    gpus->topo_gres_cnt_avail[i] != 1 ||
		    shares->topo_gres_cnt_avail[i] != shares->topo_gres_cnt_avail[0])
			return 0;
	return shares->topo_gres_cnt_avail[0];
}

static bool is_share(const gres_state_t *g)
{
	return g->config_flags & GRES_CONF_SHARED;
}

uint32_t sl_collect_shares(struct sl_collector *c, const gres_node_state_t *gpus, const gres_state_t *g)
{
	uint64_t each = share_of_each(gpus, g->gres_data);
	uint32_t rows = 0;
	int i, j;

	if (!each || (g->config_flags & GRES_CONF_ONE_SHARING) ||
	    (slurm_conf.select_type_param & SL_SHARES_OTHERWISE))
		return 0;
	for (i = 0; i < gpus->topo_cnt; i++) {
		struct sl_node_gres_row row = sl_node_gres_row();

		for (j = 0; xstrcmp(type_of(gpus, i), type_of(gpus, j)); j++)
			;
		if (j < i)
			continue;	/* the type already has its row */
		for (; j < gpus->topo_cnt; j++)
			if (!xstrcmp(type_of(gpus, i), type_of(gpus, j)))
				row.count += (uint32_t) MIN(each, MOST_SHARES);
		row.kind = sl_collect_kind(c, g->gres_name, NULL);
		row.share = sl_collect_kind(c, "gpu", type_of(gpus, i));
		if (row.kind == SL_NONE || row.share == SL_NONE)
			return 0;
		sl_builder_append(c->b, SL_T_NODE_GRES, &row);
		rows++;
	}
	return rows;
}

/* The row of a device, or -1.  *number: its number among the devices of its type. */
static int row_of_device(const gres_node_state_t *gpus, int device, uint32_t *number)
{
	int row = 0, i;

	while (row < gpus->topo_cnt && device_of(gpus, row) != device)
		row++;
	for (i = 0, *number = 0; row < gpus->topo_cnt && i < gpus->topo_cnt; i++)
		*number += device_of(gpus, i) < device && !xstrcmp(type_of(gpus, i), type_of(gpus, row));
	return row < gpus->topo_cnt ? row : -1;
}

void sl_collect_devices(struct sl_collector *c, const node_record_t *n, const gres_state_t *g, uint32_t host,
			struct sl_alloc_gres_row *row)
{
	const gres_job_state_t *js = g->gres_data;
	const gres_node_state_t *gpus = gpus_of(n->gres_list);
	bitstr_t *bits = js->gres_bit_alloc ? js->gres_bit_alloc[host] : NULL;
	uint32_t number;
	int i, at;

	if (!gpus || !bits || (!is_share(g) && xstrcmp(g->gres_name, "gpu")))
		return;
	for (i = bit_ffs(bits); i >= 0 && i <= bit_fls(bits); i++) {
		if (!bit_test(bits, i) || (at = row_of_device(gpus, i, &number)) < 0 || number >= DEVICES)
			continue;
		if (is_share(g))
			row->of = sl_collect_kind(c, "gpu", type_of(gpus, at));
		else if (sl_collect_kind(c, "gpu", type_of(gpus, at)) != row->kind)
			continue;
		row->devices |= UINT32_C(1) << number;
	}
}
