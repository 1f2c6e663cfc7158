/* SPDX-License-Identifier: MIT */
/*
 * bind/node.c - the classes "node" and "partition".
 *
 * What is free on a node is what the cluster and the plan so far leave.
 */
#include "bind/bind.h"

static void free_on(struct sl_lua *x, const struct sl_handle *h, struct sl_resources *free)
{
	sl_cluster_free(x->cluster, h->row, free);
}

static void push_free_cores(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_resources free;

	free_on(x, h, &free);
	lua_pushinteger(L, free.cores);
}

static void push_free_memory(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_resources free;

	free_on(x, h, &free);
	lua_pushinteger(L, free.memory);
}

void sl_lua_push_gres(lua_State *L, struct sl_lua *x, const uint64_t *gres)
{
	const struct sl_gres_kind_view *kind = &x->snap->gres_kind;

	lua_newtable(L);
	for (uint32_t k = 0; k < kind->rows && k < SL_MAX_GRES; k++) {
		const char *key = sl_snapshot_str(x->snap, kind->key[k]);
		const char *name = sl_snapshot_str(x->snap, kind->name[k]);

		if (kind->key[k] != kind->name[k]) {
			lua_pushinteger(L, (lua_Integer) gres[k]);
			lua_setfield(L, -2, key);
		}
		lua_getfield(L, -1, name);
		lua_pushinteger(L, lua_tointeger(L, -1) + (lua_Integer) gres[k]);
		lua_setfield(L, -3, name);
		lua_pop(L, 1);
	}
}

static void push_free_gres(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_resources free;
	uint64_t gres[SL_MAX_GRES];

	free_on(x, h, &free);
	for (uint32_t k = 0; k < SL_MAX_GRES; k++)
		gres[k] = free.gres[k];
	sl_lua_push_gres(L, x, gres);
}

static bool is_usable(struct sl_lua *x, const struct sl_handle *h)
{
	return !(x->snap->node.state[h->row] & SL_NODE_UNUSABLE) && !sl_cluster_is_lost(x->cluster, h->row);
}

static void push_usable(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	lua_pushboolean(L, is_usable(x, h));
}

static void push_idle(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	struct sl_resources free;

	free_on(x, h, &free);
	lua_pushboolean(L, is_usable(x, h) && (uint32_t) free.cores == x->snap->node.cores[h->row]);
}

static void push_boots_in(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	lua_pushinteger(L, sl_cluster_boots_in(x->cluster, h->row, sl_cluster_now(x->cluster)));
}

/* Its place in the order of nodes, from 1. */
static void push_index(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	(void) x;
	lua_pushinteger(L, (lua_Integer) h->row + 1);
}

static const struct sl_lua_field node_fields[] = {
	{ "free_cores", push_free_cores },
	{ "free_memory", push_free_memory },
	{ "free_gres", push_free_gres },
	{ "usable", push_usable },
	{ "idle", push_idle },
	{ "boots_in", push_boots_in },
	{ "index", push_index },
	{ NULL, NULL }
};

static const struct sl_lua_class node_class = {
	.id = SL_CLASS_NODE, .name = "node", .table = SL_T_NODE, .field = node_fields,
};

/* -- partition --------------------------------------------------------- */

static void push_total_nodes(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	lua_pushinteger(L, sl_nodeset_count(sl_cluster_partition_nodes(x->cluster, h->row)));
}

static void push_usable_nodes(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	lua_pushinteger(L, sl_nodeset_count(sl_cluster_usable_nodes(x->cluster, h->row)));
}

static const struct sl_lua_field partition_fields[] = {
	{ "total_nodes", push_total_nodes },
	{ "usable_nodes", push_usable_nodes },
	{ NULL, NULL }
};

static const struct sl_lua_class partition_class = {
	.id = SL_CLASS_PARTITION, .name = "partition", .table = SL_T_PARTITION, .field = partition_fields,
};

void sl_lua_open_node(lua_State *L)
{
	sl_lua_class(L, &node_class);
	sl_lua_class(L, &partition_class);
}
