/* SPDX-License-Identifier: MIT */
/*
 * bind/bid.c - the class "bid", and what the cluster says of nodesets and bids.
 *
 * A bid is a copy: its block is a handle, the bid and its parts, so that it is counted
 * under the state's memory limit and needs nobody to free it.
 */
#include "bind/bind.h"

#include <stdlib.h>
#include <string.h>

/* Key of the registry for what lives as long as the state. */
static const char bids_key;

struct sl_lua_bids {
	struct sl_market *market;	/* NULL until somebody asks for bids in a cycle */
	uint32_t made;			/* in this cycle */
};

struct object {
	struct sl_handle handle;	/* row, partition: the job */
	struct sl_bid bid;
	struct sl_bid_part part[];
};

static const struct object *bid_object(const struct sl_handle *h)
{
	return (const struct object *) h;
}

/* -- a bid --------------------------------------------------------------- */

static void push_job(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	sl_lua_push_job(L, x, h->row, h->partition);
}

static const char *node_name(struct sl_lua *x, uint32_t node)
{
	return sl_snapshot_str(x->snap, x->snap->node.name[node]);
}

/* The names of its nodes, in Slurm's order. */
static void push_nodes(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	const struct object *o = bid_object(h);
	lua_Integer n = 0;

	lua_createtable(L, (int) o->bid.nodes, 0);
	for (uint32_t i = 0; i < o->bid.parts; i++)
		for (uint32_t node = o->part[i].first; node <= o->part[i].last; node++) {
			lua_pushstring(L, node_name(x, node));
			lua_rawseti(L, -2, ++n);
		}
}

/* { [node's name] = cores } */
static void push_layout(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	const struct object *o = bid_object(h);

	lua_createtable(L, 0, (int) o->bid.nodes);
	for (uint32_t i = 0; i < o->bid.parts; i++)
		for (uint32_t node = o->part[i].first; node <= o->part[i].last; node++) {
			lua_pushinteger(L, o->part[i].each.cores);
			lua_setfield(L, -2, node_name(x, node));
		}
}

/* A field that is a figure of the bid *b*. */
#define PUSH(field, type, value)									\
	static void push_##field(lua_State *L, struct sl_lua *x, const struct sl_handle *h)		\
	{												\
		const struct sl_bid *b = &bid_object(h)->bid;						\
													\
		(void) x;										\
		lua_push##type(L, value);								\
	}

PUSH(kind, string, sl_bid_kind_word(b->kind))
PUSH(preference, number, b->preference)
PUSH(count, integer, b->nodes)
PUSH(cores, integer, b->cores)
PUSH(shape, integer, b->entry.shape)
PUSH(sets, integer, b->sets)
PUSH(blocks, integer, b->blocks)
PUSH(spread, number, (lua_Number) (b->last - b->first + 1) / b->nodes)
PUSH(first, integer, (lua_Integer) b->first + 1)
PUSH(last, integer, (lua_Integer) b->last + 1)
PUSH(native, boolean, b->native)
PUSH(elastic, boolean, b->elastic)

static void push_time(lua_State *L, struct sl_lua *x, const struct sl_handle *h)
{
	int64_t seconds = bid_object(h)->bid.seconds;

	(void) x;
	if (seconds == SL_UNLIMITED)
		lua_pushnumber(L, (lua_Number) __builtin_inf());
	else
		lua_pushinteger(L, seconds);
}

static const struct sl_lua_field bid_fields[] = {
	{ "job", push_job },
	{ "kind", push_kind },
	{ "preference", push_preference },
	{ "nodes", push_nodes },
	{ "layout", push_layout },
	{ "count", push_count },
	{ "cores", push_cores },
	{ "shape", push_shape },
	{ "time", push_time },
	{ "sets", push_sets },
	{ "blocks", push_blocks },
	{ "spread", push_spread },
	{ "first", push_first },
	{ "last", push_last },
	{ "native", push_native },
	{ "elastic", push_elastic },
	{ NULL, NULL }
};

static const struct sl_lua_class bid_class = {
	.id = SL_CLASS_BID, .name = "bid", .table = -1, .field = bid_fields,
};

void sl_lua_open_bid(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);

	x->bids = sl_lua_keep_block(L, &bids_key, sizeof(*x->bids));
	sl_lua_class(L, &bid_class);
}

const struct sl_bid *sl_lua_check_bid(lua_State *L, struct sl_lua *x, int arg, const struct sl_bid_part **part)
{
	const struct object *o;

	if (!sl_lua_is(L, arg, SL_CLASS_BID))
		luaL_error(L, "bid: expected a bid, got %s", luaL_typename(L, arg));
	o = bid_object(sl_lua_check(L, x, arg, SL_CLASS_BID));
	*part = o->part;
	return &o->bid;
}

static void push_bid(lua_State *L, struct sl_lua *x, const struct sl_bid *b, const struct sl_bid_part *part)
{
	struct object *o = lua_newuserdatauv(L, sizeof(*o) + b->parts * sizeof(*part), 0);

	o->handle = (struct sl_handle) {
		.key.order = (uint64_t) SL_CLASS_BID << 56 | (uint64_t) x->bids->made++ << 24,
		.magic = SL_HANDLE_MAGIC, .class_id = SL_CLASS_BID, .generation = x->generation,
		.row = b->entry.job, .partition = b->entry.partition,
	};
	o->bid = *b;
	o->bid.part = 0;
	memcpy(o->part, part + b->part, b->parts * sizeof(*part));
	sl_lua_set_class(L, SL_CLASS_BID);
}

/* -- making bids ---------------------------------------------------------- */

/* The cycle's market, for what is asked of it now. */
static struct sl_market *open_market(lua_State *L, struct sl_lua *x)
{
	struct sl_lua_bids *b = x->bids;
	struct sl_allowance allowance;
	struct sl_error err;

	if (!b->market)
		b->market = sl_market_create(x->plan, &err);
	if (!b->market)
		luaL_error(L, "%s", err.text);
	allowance = sl_lua_allowance(x);
	sl_market_allow(b->market, &allowance);
	return b->market;
}

void sl_lua_end_bids(struct sl_lua *x)
{
	sl_market_destroy(x->bids->market);
	*x->bids = (struct sl_lua_bids) { 0 };
}

/* kinds = "AC": letters, in any order; may be empty where Slurm bids are made. */
static unsigned kinds_option(lua_State *L, int table)
{
	unsigned kinds = 0;

	if (lua_getfield(L, table, "kinds") == LUA_TNIL) {
		kinds = 1u << SL_BID_A | 1u << SL_BID_B | 1u << SL_BID_C;
	} else {
		const char *p = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "?";

		for (; *p; p++) {
			if (*p < 'A' || *p > 'C')
				luaL_error(L, "kinds: expected a string of the letters A, B and C");
			kinds |= 1u << (SL_BID_A + *p - 'A');
		}
	}
	lua_pop(L, 1);
	return kinds;
}

static void read_options(lua_State *L, int table, struct sl_bid_options *o)
{
	*o = (struct sl_bid_options) { .max = 5 };
	if (lua_isnoneornil(L, table)) {
		o->kinds = 1u << SL_BID_A | 1u << SL_BID_B | 1u << SL_BID_C;
		return;
	}
	sl_lua_check_names(L, table, "", "max, jobs, total, kinds, slurm, contiguous, blocks, spread, elastic or topology");
	o->max = (uint32_t) sl_lua_named_integer(L, table, "max", 5, 1, SL_MAX_BIDS);
	o->jobs = (uint32_t) sl_lua_named_integer(L, table, "jobs", 0, 1, UINT32_MAX / 2);
	o->total = (uint32_t) sl_lua_named_integer(L, table, "total", 0, 1, SL_MAX_BIDS_TOTAL);
	o->kinds = kinds_option(L, table);
	if (sl_lua_named_flag(L, table, "slurm"))
		o->kinds |= 1u << SL_BID_SLURM;
	if (!o->kinds)
		luaL_error(L, "kinds: expected at least one kind of bid");
	o->contiguous = sl_lua_named_flag(L, table, "contiguous");
	o->elastic = sl_lua_named_flag(L, table, "elastic");
	o->blocks = (uint32_t) sl_lua_named_integer(L, table, "blocks", 0, 1, SL_MAX_NODES);
	o->spread = sl_lua_named_number(L, table, "spread", 0, 1, SL_MAX_NODES);
	o->topology = sl_lua_named_number(L, table, "topology", 0, 0, 1);
}

static struct sl_entry entry_at(lua_State *L, struct sl_lua *x, int index)
{
	if (!sl_lua_is(L, index, SL_CLASS_JOB))
		luaL_error(L, "expected a job or a list of jobs, got %s", luaL_typename(L, index));
	return sl_lua_check_entry(L, x, index);
}

struct sl_entry *sl_lua_check_entries(lua_State *L, struct sl_lua *x, int arg, uint32_t *count)
{
	lua_Unsigned n = lua_rawlen(L, arg);
	struct sl_entry *e;
	uint32_t queued;

	sl_cluster_queue(x->cluster, &queued);
	if (n > queued)
		luaL_error(L, "expected each queued job once at most: a list of %I, and %d are queued", (LUAI_UACINT) n,
			   (int) queued);
	*count = (uint32_t) n;
	e = lua_newuserdatauv(L, (*count + (size_t) 1) * sizeof(*e), 0);
	for (uint32_t i = 0; i < *count; i++) {
		sl_limit_tick(L, &x->limit);
		lua_rawgeti(L, arg, (lua_Integer) i + 1);
		e[i] = entry_at(L, x, lua_gettop(L));
		lua_pop(L, 1);
	}
	return e;
}

/* The job or jobs at an argument; stays on the stack. */
static struct sl_entry *read_entries(lua_State *L, struct sl_lua *x, int arg, uint32_t *count)
{
	struct sl_entry *e;

	if (!lua_istable(L, arg)) {
		struct sl_entry one = entry_at(L, x, arg);

		e = lua_newuserdatauv(L, sizeof(*e), 0);
		*e = one;
		*count = 1;
		return e;
	}
	return sl_lua_check_entries(L, x, arg, count);
}

/* cluster:bids(job or jobs [, options]): a list of bids */
int sl_lua_cluster_bids(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_bid *bid;
	struct sl_bid_options opt;
	struct sl_entry *entry;
	struct sl_error err;
	uint32_t entries, count;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	luaL_checkany(L, 2);
	lua_settop(L, 3);
	read_options(L, 3, &opt);
	entry = read_entries(L, x, 2, &entries);
	if (sl_market_bid(open_market(L, x), entry, entries, &opt, &err) < 0)
		return luaL_error(L, "%s", err.text);
	bid = sl_market_bids(x->bids->market, &count);
	lua_createtable(L, (int) count, 0);
	for (uint32_t i = 0; i < count; i++) {
		sl_limit_tick(L, &x->limit);
		push_bid(L, x, &bid[i], sl_market_parts(x->bids->market));
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

/* -- nodesets ------------------------------------------------------------- */

static void set_integer(lua_State *L, const char *name, int64_t value)
{
	lua_pushinteger(L, value);
	lua_setfield(L, -2, name);
}

/* cluster:nodesets [{ gpus =, time = }]: { { first =, last =, cores =, gpus = }, ... },
 * first and last by node.index */
int sl_lua_cluster_nodesets(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	int64_t gpus = -1, seconds = 1, sets;
	const struct sl_bid_set *set;
	struct sl_error err;
	lua_Integer n = 0;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	if (!lua_isnoneornil(L, 2)) {
		sl_lua_check_names(L, 2, "", "gpus or time");
		gpus = sl_lua_named_integer(L, 2, "gpus", -1, 0, INT32_MAX);
		seconds = sl_lua_named_integer(L, 2, "time", 1, 1, INT32_MAX);
	}
	sets = sl_market_nodesets(open_market(L, x), seconds, &set, &err);
	if (sets < 0)
		return luaL_error(L, "%s", err.text);
	lua_newtable(L);
	for (int64_t i = 0; i < sets; i++) {
		sl_limit_tick(L, &x->limit);
		if (gpus >= 0 && set[i].gpus != gpus)
			continue;
		lua_createtable(L, 0, 4);
		set_integer(L, "first", (int64_t) set[i].first + 1);
		set_integer(L, "last", (int64_t) set[i].last + 1);
		set_integer(L, "cores", set[i].cores);
		set_integer(L, "gpus", set[i].gpus);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

/* -- overlaps ------------------------------------------------------------- */

static void push_row_name(lua_State *L, struct sl_lua *x, const struct sl_bid_row *r)
{
	switch (r->kind) {
	case SL_ROW_JOB:
		lua_pushfstring(L, "job %d", (int) x->snap->job.id[r->which]);
		break;
	case SL_ROW_CORES:
		lua_pushfstring(L, "cores %s", node_name(x, r->which));
		break;
	case SL_ROW_MEMORY:
		lua_pushfstring(L, "memory %s", node_name(x, r->which));
		break;
	case SL_ROW_GRES:
		lua_pushfstring(L, "gres %d %s", (int) r->gres, node_name(x, r->which));
		break;
	case SL_ROW_ARRAY:
		lua_pushfstring(L, "array of job %d", (int) x->snap->job.id[r->which]);
		break;
	case SL_ROW_ELASTIC:
		lua_pushfstring(L, "elastic bid %d", (int) r->which + 1);
		break;
	case SL_ROW_ONE_ELASTIC:
		lua_pushfstring(L, "elastic bids on %s", node_name(x, r->which));
		break;
	case SL_ROW_SHARERS:
		lua_pushfstring(L, "sharers of %s", node_name(x, r->which));
		break;
	case SL_ROW_LICENSE:
		lua_pushfstring(L, "license %s", sl_snapshot_str(x->snap, x->snap->license.name[r->which]));
		break;
	}
}

/* { terms = { bid, amount, ... }, hi =, name = } */
static void push_row(lua_State *L, struct sl_lua *x, const struct sl_bid_rows *rows, const struct sl_bid_row *r)
{
	lua_createtable(L, 0, 3);
	lua_createtable(L, (int) r->terms * 2, 0);
	for (uint32_t i = 0; i < r->terms; i++) {
		lua_pushinteger(L, (lua_Integer) rows->term[r->term + i].bid + 1);
		lua_rawseti(L, -2, 2 * i + 1);
		lua_pushinteger(L, rows->term[r->term + i].amount);
		lua_rawseti(L, -2, 2 * i + 2);
	}
	lua_setfield(L, -2, "terms");
	set_integer(L, "hi", r->most);
	push_row_name(L, x, r);
	lua_setfield(L, -2, "name");
}

/* Protected, so that *rows is freed: argument 1 is where it is, as a light userdata. */
static int push_rows(lua_State *L)
{
	const struct sl_bid_rows *rows = lua_touserdata(L, 1);
	struct sl_lua *x = sl_lua_context(L);

	lua_createtable(L, (int) rows->rows, 0);
	for (uint32_t i = 0; i < rows->rows; i++) {
		sl_limit_tick(L, &x->limit);
		push_row(L, x, rows, &rows->row[i]);
		lua_rawseti(L, -2, i + 1);
	}
	return 1;
}

/* cluster:overlaps(bids): the rows that say which of them can win together */
int sl_lua_cluster_overlaps(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_bid_rows rows = { 0 };
	const struct sl_bid_part **part;
	const struct sl_bid **bid;
	struct sl_error err;
	lua_Unsigned n;
	uint32_t count;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	luaL_checktype(L, 2, LUA_TTABLE);
	n = lua_rawlen(L, 2);
	if (n > x->bids->made)
		return luaL_error(L, "expected each bid once at most: a list of %I, and %d were made", (LUAI_UACINT) n,
				  (int) x->bids->made);
	count = (uint32_t) n;
	bid = lua_newuserdatauv(L, (count + (size_t) 1) * sizeof(*bid), 0);
	part = lua_newuserdatauv(L, (count + (size_t) 1) * sizeof(*part), 0);
	for (uint32_t i = 0; i < count; i++) {
		sl_limit_tick(L, &x->limit);
		lua_rawgeti(L, 2, (lua_Integer) i + 1);	/* the list keeps it */
		bid[i] = sl_lua_check_bid(L, x, lua_gettop(L), &part[i]);
		lua_pop(L, 1);
	}
	lua_pushcfunction(L, push_rows);
	lua_pushlightuserdata(L, &rows);
	if (sl_market_rows(open_market(L, x), bid, part, count, &rows, &err) < 0) {
		sl_bid_rows_free(&rows);
		return luaL_error(L, "%s", err.text);
	}
	if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
		sl_bid_rows_free(&rows);
		return lua_error(L);
	}
	sl_bid_rows_free(&rows);
	return 1;
}
