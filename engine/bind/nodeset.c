/* SPDX-License-Identifier: MIT */
/*
 * bind/nodeset.c - the class "nodeset": nodes by name, feature, partition or gres.
 *
 *	s = cluster:nodes { feature =, partition =, gres =, name = "n[01-04]", first = n, last = n }
 *	s:union(t), s:minus(t), s:common(t), s:has(node), s:names(), #s, s == t
 *
 * A set is good in the cycle in which it was made.  Nodes that a name names and that are not there are an error, but on
 * the canned cluster on which a policy is tried when it is loaded.
 */
#include "bind/nodeset.h"

#include <stdlib.h>
#include <string.h>

#include "image/nodelist.h"

struct object {
	struct sl_handle h;
	struct sl_nodeset set;		/* its runs follow */
	struct sl_run run[];
};

/* Push a set of so many runs, which are to be filled in. */
static struct object *push_object(lua_State *L, struct sl_lua *x, uint32_t runs)
{
	struct object *o = lua_newuserdatauv(L, sizeof(*o) + runs * sizeof(o->run[0]), 0);

	memset(o, 0, sizeof(*o));
	o->h = (struct sl_handle) { .key.order = (uint64_t) SL_CLASS_NODESET << 56 | x->nodesets++, .magic = SL_HANDLE_MAGIC,
				    .class_id = SL_CLASS_NODESET, .generation = x->generation, .partition = SL_NONE };
	o->set = (struct sl_nodeset) { o->run, 0, runs, 0 };
	sl_lua_set_class(L, SL_CLASS_NODESET);
	return o;
}

void sl_lua_push_nodes(lua_State *L, struct sl_lua *x, const struct sl_nodeset *set)
{
	struct object *o = push_object(L, x, set->runs);

	for (uint32_t i = 0; i < set->runs; i++)
		o->run[i] = set->run[i];
	o->set.runs = set->runs;
	o->set.count = set->count;
}

/* Push the set of the nodes that are marked. */
static void push_marked(lua_State *L, struct sl_lua *x, const uint8_t *mark)
{
	uint32_t nodes = x->snap->node.rows, runs = 0;
	struct object *o;

	for (uint32_t n = 0; n < nodes; n++)
		runs += mark[n] && (!n || !mark[n - 1]);
	o = push_object(L, x, runs);
	for (uint32_t n = 0; n < nodes; n++) {
		if (!mark[n])
			continue;
		if (!n || !mark[n - 1])
			o->run[o->set.runs++].first = n;
		o->run[o->set.runs - 1].last = n;
		o->set.count++;
	}
}

/* Zeroed marks of all nodes; they stay on the stack. */
static uint8_t *push_marks(lua_State *L, struct sl_lua *x)
{
	uint8_t *mark = lua_newuserdatauv(L, x->snap->node.rows + (size_t) 1, 0);

	memset(mark, 0, x->snap->node.rows + (size_t) 1);
	return mark;
}

static void mark_set(uint8_t *mark, const struct sl_nodeset *s, uint8_t value)
{
	for (uint32_t i = 0; i < s->runs; i++)
		memset(mark + s->run[i].first, value, s->run[i].last - s->run[i].first + 1);
}

const struct sl_nodeset *sl_lua_check_nodeset(lua_State *L, struct sl_lua *x, int arg)
{
	struct object *o = (struct object *) (uintptr_t) sl_lua_check(L, x, arg, SL_CLASS_NODESET);

	return &o->set;
}

/* -- which nodes ----------------------------------------------------------- */

struct naming {
	lua_State *L;
	struct sl_lua *x;
	uint8_t *mark;
	bool lenient;			/* the canned cluster: names of others are none of its nodes */
	char unknown[256];
};

static int mark_name(const char *name, void *arg)
{
	struct naming *n = arg;
	uint32_t row;

	sl_limit_tick(n->L, &n->x->limit);
	lua_pushstring(n->L, name);
	row = sl_lua_find(n->L, n->x, SL_T_NODE, -1);
	lua_pop(n->L, 1);
	if (row != SL_NONE)
		n->mark[row] = 1;
	else if (!*n->unknown)
		snprintf(n->unknown, sizeof(n->unknown), "%s", name);
	return row == SL_NONE && !n->lenient;
}

/* name = "n[01-04],gpu1", or a list of such and of nodes; at the top of the stack */
static void mark_names(lua_State *L, struct sl_lua *x, uint8_t *mark)
{
	struct naming n = { .L = L, .x = x, .mark = mark, .lenient = sl_lua_is_probe(x) };
	struct sl_error err;
	int rc;

	if (sl_lua_is(L, -1, SL_CLASS_NODE)) {
		mark[sl_lua_check_node(L, x, lua_gettop(L))] = 1;
		return;
	}
	if (lua_istable(L, -1)) {
		luaL_checkstack(L, 8, NULL);
		for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
			sl_limit_tick(L, &x->limit);
			if (lua_istable(L, -1))
				luaL_error(L, "nodes: name: a list in a list");
			mark_names(L, x, mark);
			lua_pop(L, 1);
		}
		lua_pop(L, 1);
		return;
	}
	if (lua_type(L, -1) != LUA_TSTRING)
		luaL_error(L, "nodes: name: expected a text such as \"n[01-04]\" or a list, got %s", luaL_typename(L, -1));
	rc = sl_nodelist_split(lua_tostring(L, -1), mark_name, &n, &err);
	if (rc < 0)
		luaL_error(L, "nodes: name: %s", err.text);
	if (rc > 0)
		luaL_error(L, "nodes: this cluster has no node '%s'", n.unknown);
}

/* Is a word in a list with commas? */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
			return n > 0;
	return false;
}

static bool has_gres(const struct sl_snapshot *s, uint32_t node, const char *name)
{
	struct sl_range r = s->node.gres[node];

	for (uint32_t i = r.first; i < r.first + r.count; i++)
		if (s->node_gres.count[i] && (!strcmp(sl_snapshot_str(s, s->gres_kind.name[s->node_gres.kind[i]]), name) ||
					      !strcmp(sl_snapshot_str(s, s->gres_kind.key[s->node_gres.kind[i]]), name)))
			return true;
	return false;
}

/* Take the marks of those off that are not of these. */
static void keep_only(struct sl_lua *x, uint8_t *mark, const char *feature, const char *gres,
		      const struct sl_nodeset *partition)
{
	const struct sl_snapshot *s = x->snap;

	for (uint32_t n = 0; n < s->node.rows; n++)
		mark[n] = mark[n] && (!feature || has_word(sl_snapshot_str(s, s->node.features[n]), feature)) &&
			(!gres || has_gres(s, n, gres)) && (!partition || sl_nodeset_contains(partition, n));
}

static void keep_count(uint8_t *mark, uint32_t nodes, int64_t first, int64_t last)
{
	for (uint32_t n = 0; first >= 0 && n < nodes; n++)
		if (mark[n] && first-- <= 0)
			memset(mark + n, 0, nodes - n);
	for (uint32_t n = nodes; last >= 0 && n-- > 0;)
		if (mark[n] && last-- <= 0)
			memset(mark, 0, n + 1);
}

int sl_lua_push_nodeset(lua_State *L, struct sl_lua *x, int table)
{
	static const struct sl_nodeset no_nodes;
	const struct sl_nodeset *partition = NULL;
	const char *feature, *gres;
	uint8_t *mark = push_marks(L, x);

	if (lua_isnoneornil(L, table)) {
		memset(mark, 1, x->snap->node.rows);
		push_marked(L, x, mark);
		return 1;
	}
	luaL_checktype(L, table, LUA_TTABLE);
	sl_lua_check_names(L, table, "nodes: ", "name, feature, partition, gres, first or last");
	if (lua_getfield(L, table, "name") == LUA_TNIL)
		memset(mark, 1, x->snap->node.rows);
	else
		mark_names(L, x, mark);
	lua_pop(L, 1);
	if (lua_getfield(L, table, "partition") != LUA_TNIL) {
		uint32_t row = sl_lua_check_partition(L, x, -1, "nodes");

		partition = row == SL_NONE ? &no_nodes : sl_cluster_partition_nodes(x->cluster, row);
	}
	lua_pop(L, 1);
	feature = sl_lua_named_text(L, table, "feature");
	gres = sl_lua_named_text(L, table, "gres");
	keep_only(x, mark, feature, gres, partition);
	keep_count(mark, x->snap->node.rows, sl_lua_named_integer(L, table, "first", -1, 0, SL_MAX_NODES),
		   sl_lua_named_integer(L, table, "last", -1, 0, SL_MAX_NODES));
	push_marked(L, x, mark);
	return 1;
}

/* -- methods ------------------------------------------------------------------ */

enum with { UNION, MINUS, COMMON };

static int combine(lua_State *L, enum with how)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_nodeset *a = sl_lua_check_nodeset(L, x, 1), *b = sl_lua_check_nodeset(L, x, 2);
	uint8_t *mark = push_marks(L, x), *other = how == COMMON ? push_marks(L, x) : NULL;

	mark_set(mark, a, 1);
	if (how != COMMON)
		mark_set(mark, b, how == UNION);
	else
		mark_set(other, b, 1);
	for (uint32_t n = 0; other && n < x->snap->node.rows; n++)
		mark[n] &= other[n];
	push_marked(L, x, mark);
	return 1;
}

static int set_union(lua_State *L)
{
	return combine(L, UNION);
}

static int set_minus(lua_State *L)
{
	return combine(L, MINUS);
}

static int set_common(lua_State *L)
{
	return combine(L, COMMON);
}

static int set_has(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_nodeset *s = sl_lua_check_nodeset(L, x, 1);
	bool unknown = sl_lua_is_probe(x) && lua_type(L, 2) == LUA_TSTRING && sl_lua_find(L, x, SL_T_NODE, 2) == SL_NONE;

	lua_pushboolean(L, !unknown && sl_nodeset_contains(s, sl_lua_check_node(L, x, 2)));
	return 1;
}

static int set_names(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_nodeset *s = sl_lua_check_nodeset(L, x, 1);
	lua_Integer i = 0;

	lua_createtable(L, (int) s->count, 0);
	for (uint32_t n = sl_nodeset_next(s, 0); n < SL_MAX_NODES; n = sl_nodeset_next(s, n + 1)) {
		lua_pushstring(L, sl_snapshot_str(x->snap, x->snap->node.name[n]));
		lua_rawseti(L, -2, ++i);
	}
	return 1;
}

static int set_len(lua_State *L)
{
	lua_pushinteger(L, sl_lua_check_nodeset(L, sl_lua_context(L), 1)->count);
	return 1;
}

static int set_eq(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	lua_pushboolean(L, sl_lua_is(L, 1, SL_CLASS_NODESET) && sl_lua_is(L, 2, SL_CLASS_NODESET) &&
			sl_nodeset_equal(sl_lua_check_nodeset(L, x, 1), sl_lua_check_nodeset(L, x, 2)));
	return 1;
}

static const luaL_Reg methods[] = {
	{ "union", set_union }, { "minus", set_minus }, { "common", set_common }, { "has", set_has }, { "names", set_names },
	{ NULL, NULL }
};

static const luaL_Reg meta[] = { { "__len", set_len }, { "__eq", set_eq }, { NULL, NULL } };

static const struct sl_lua_class class = {
	.id = SL_CLASS_NODESET, .name = "nodeset", .table = -1, .method = methods, .meta = meta,
};

void sl_lua_open_nodeset(lua_State *L)
{
	sl_lua_class(L, &class);
}
