/* SPDX-License-Identifier: MIT */
/* bind/how.c - see bind/how.h */
#include "bind/how.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bind/nodeset.h"
#include "bind/score.h"

enum key { PLACE, LAYOUT, SHAPE, BID, BORROW, THROUGH, BECAUSE, EXPECTED, FROM, WAKE_AFTER, NODES, EXCEPT, PREFER, USE_BLOCKED,
	   PREEMPT, KEYS };

static const char *const key_name[KEYS] = {
	[PLACE] = "place", [LAYOUT] = "layout", [SHAPE] = "shape", [BID] = "bid", [BORROW] = "borrow",
	[THROUGH] = "through", [BECAUSE] = "because", [EXPECTED] = "expected", [FROM] = "from",
	[WAKE_AFTER] = "wake_after", [NODES] = "nodes", [EXCEPT] = "except", [PREFER] = "prefer",
	[USE_BLOCKED] = "use_blocked", [PREEMPT] = "preempt",
};

static bool is_said(const struct sl_lua_how *h, enum key key)
{
	return h->said >> key & 1;
}

/* Push the value of a key; false, and nothing, where it is not said. */
static bool push_said(lua_State *L, const struct sl_lua_how *h, enum key key)
{
	if (!is_said(h, key))
		return false;
	lua_getfield(L, 3, key_name[key]);
	return true;
}

/* -- where -------------------------------------------------------------- */

static int by_node(const void *va, const void *vb)
{
	const struct sl_pick *a = va, *b = vb;

	return a->node < b->node ? -1 : a->node > b->node;
}

/* A number from 0 to 65535, on the top of the stack, which is popped. */
static uint32_t read_count(lua_State *L, const char *of)
{
	lua_Integer n = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : -1;

	if (n < 0 || n > SL_MAX_NODE_CORES)
		luaL_error(L, "layout: %s of a node: expected 0 to %d, got %s", of, SL_MAX_NODE_CORES,
			   sl_sandbox_tostring(L, -1, NULL));
	lua_pop(L, 1);
	return (uint32_t) n;
}

/* What a node of a layout has: cores, or { cores, tasks }; on the top of the stack, which stays as it is. */
static void read_pick(lua_State *L, struct sl_pick *pick)
{
	bool both = lua_istable(L, -1);

	if (both)
		lua_rawgeti(L, -1, 1);
	else
		lua_pushvalue(L, -1);
	pick->cores = read_count(L, "cores");
	if (!both)
		return;
	lua_rawgeti(L, -1, 2);
	pick->tasks = read_count(L, "tasks");
}

/* layout = { [node or name] = cores or { cores, tasks } }, on the top of the stack */
static void read_layout(lua_State *L, struct sl_lua *x, struct sl_how *how)
{
	int table = lua_gettop(L);
	struct sl_pick *pick;
	uint32_t n = 0;

	if (!lua_istable(L, table))
		luaL_error(L, "layout: expected a table { [node] = cores }, got %s", luaL_typename(L, table));
	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
		n++;
	if (!n)
		luaL_error(L, "layout: expected at least one node");
	/* stays on the stack for as long as it is used */
	pick = lua_newuserdatauv(L, n * sizeof(*pick), 0);
	n = 0;
	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
		pick[n] = (struct sl_pick) { .node = sl_lua_check_node(L, x, lua_gettop(L) - 1) };
		read_pick(L, &pick[n++]);
	}
	/* lua_next() goes by hash, decisions must not */
	qsort(pick, n, sizeof(*pick), by_node);
	how->method = SL_PLACE_EXPLICIT;
	how->picks = pick;
	how->count = n;
}

static void read_place(lua_State *L, struct sl_how *how)
{
	struct sl_error err;
	int method;

	if (lua_type(L, -1) != LUA_TSTRING)
		luaL_error(L, "place: expected a string, got %s", luaL_typename(L, -1));
	method = sl_place_method(lua_tostring(L, -1), &err);
	if (method < 0)
		luaL_error(L, "%s", err.text);
	how->method = method;
}

/* shape = n: the job's nth alternative, 0 as asked; "any": all of them */
static void read_shape(lua_State *L, struct sl_lua *x, struct sl_entry *e, struct sl_lua_how *h)
{
	uint32_t shapes = e->job == SL_NONE ? 0 : x->snap->job.shapes[e->job].count;

	if (lua_type(L, -1) == LUA_TSTRING && !strcmp(lua_tostring(L, -1), "any")) {
		h->terms.any_shape = true;
		return;
	}
	if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0 || lua_tointeger(L, -1) > shapes)
		luaL_error(L, "shape: expected 0 to %d, the number of its alternatives, or \"any\", got %s", (int) shapes,
			   sl_sandbox_tostring(L, -1, NULL));
	e->shape = lua_tointeger(L, -1);
}

/* expected = seconds, of a walltime that may be longer */
static int64_t read_expected(lua_State *L)
{
	lua_Number n = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;

	if (!(n > 0))
		luaL_error(L, "expected: expected seconds above 0, got %s", sl_sandbox_tostring(L, -1, NULL));
	return n < 0x1p53 ? (int64_t) ceil(n) : 0;	/* infinite: its walltime */
}

/* from = t: for a reservation */
static int64_t read_from(lua_State *L)
{
	if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) == SL_FOREVER)
		luaL_error(L, "from: expected a time in whole seconds, got %s", sl_sandbox_tostring(L, -1, NULL));
	return lua_tointeger(L, -1);
}

int64_t sl_lua_seconds(lua_Number n)
{
	return n < 0x1p53 ? (int64_t) ceil(n) : SL_FOREVER;
}

/* wake_after = seconds: so long it rather waits for nodes that are up; 0: not at all, whatever the site says */
static int64_t read_wake_after(lua_State *L)
{
	lua_Number n = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;

	if (!(n >= 0))
		luaL_error(L, "wake_after: expected seconds, 0 or more, got %s", sl_sandbox_tostring(L, -1, NULL));
	return n > 0 ? sl_lua_seconds(n) : -1;
}

/* bid = b: its nodes and cores, and its shape; the bid is on the top of the stack */
static void read_bid(lua_State *L, struct sl_lua *x, struct sl_entry *e, struct sl_lua_how *h)
{
	const struct sl_bid_part *part;
	const struct sl_bid *b = sl_lua_check_bid(L, x, lua_gettop(L), &part);
	struct sl_pick *pick;
	struct sl_error err;
	uint32_t n = 0;

	if (b->entry.job != e->job || b->entry.partition != e->partition)
		luaL_error(L, "bid: expected one of job %d, got one of job %d", (int) x->snap->job.id[e->job],
			   (int) x->snap->job.id[b->entry.job]);
	e->shape = b->entry.shape;
	if (b->native) {	/* as it would start without a bid */
		const struct sl_want *want = sl_cluster_want(x->cluster, *e, &err);

		if (!want)
			luaL_error(L, "%s", err.text);
		h->place.method = want->method;
		return;
	}
	pick = lua_newuserdatauv(L, b->nodes * sizeof(*pick), 0);
	for (uint32_t i = 0; i < b->parts; i++)
		for (uint32_t node = part[i].first; node <= part[i].last; node++)
			pick[n++] = b->elastic ? (struct sl_pick) { .node = node } :
				(struct sl_pick) { .node = node, .cores = (uint32_t) part[i].each.cores, .tasks = part[i].tasks };
	h->place.method = SL_PLACE_EXPLICIT;
	h->place.picks = pick;
	h->place.count = n;
}

/* preempt = true, or { ... } as of plan:preempt(); on the top of the stack. */
static bool read_preempts(lua_State *L)
{
	if (!lua_isboolean(L, -1) && !lua_istable(L, -1))
		luaL_error(L, "preempt: expected true, or a table as of plan:preempt(), got %s", luaL_typename(L, -1));
	return lua_toboolean(L, -1);
}

/* Which keys the table has, and its shape: most have that alone, and are read for every job
 * of a queue.  A key that is not among `allowed` raises before its value is looked at. */
static void read_keys(lua_State *L, struct sl_lua *x, struct sl_entry *e, struct sl_lua_how *h, unsigned allowed)
{
	for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2);
		unsigned i = 0;

		while (i < KEYS && strcmp(key, key_name[i]))
			i++;
		if (i == KEYS)
			luaL_error(L, "unknown key '%s', expected place, layout, shape, bid, borrow, through, because, expected, from, "
				   "wake_after, nodes, except, prefer, use_blocked or preempt", key);
		if (!(allowed >> i & 1))
			luaL_error(L, "for all jobs of a queue: expected place, shape or wake_after, no other key");
		if (i == SHAPE)
			read_shape(L, x, e, h);
		else if (i == EXPECTED)
			h->terms.expected = read_expected(L);
		else if (i == FROM)
			h->terms.from = read_from(L);
		else if (i == WAKE_AFTER)
			h->terms.wake_after = read_wake_after(L);
		else if (i == PREEMPT)
			h->preempts = read_preempts(L);
		h->said |= 1u << i;
	}
}

/* -- borrowing ---------------------------------------------------------- */

/* borrow = { "gpu", "long" }, through = "all" */
static void read_loan(lua_State *L, struct sl_lua *x, struct sl_lua_how *h)
{
	struct sl_loan *loan = &h->loan;
	bool known;
	int list;

	if (is_said(h, BORROW) != is_said(h, THROUGH))
		luaL_error(L, "borrow and through: expected both or none");
	if (!push_said(L, h, BORROW))
		return;
	list = lua_gettop(L);
	if (!lua_istable(L, list))
		luaL_error(L, "borrow: expected a list of partitions, got %s", luaL_typename(L, list));
	push_said(L, h, THROUGH);
	loan->through = sl_lua_check_partition(L, x, -1, "through");
	known = loan->through != SL_NONE;
	for (lua_Integer i = 1; lua_rawgeti(L, list, i) != LUA_TNIL; i++) {
		if (loan->lenders == SL_MAX_LENDERS)
			luaL_error(L, "borrow: more than %d partitions", SL_MAX_LENDERS);
		loan->lender[loan->lenders] = sl_lua_check_partition(L, x, -1, "borrow");
		known = known && loan->lender[loan->lenders++] != SL_NONE;
		lua_pop(L, 1);
	}
	lua_settop(L, list - 1);
	if (known)	/* the canned cluster may have none of that name */
		h->terms.borrow = loan;
}

/* -- nodes ---------------------------------------------------------------- */

/* The number of the set of the table at *table* that a key has, without those of another key; 0: it is not said. */
static uint32_t read_set(lua_State *L, struct sl_lua *x, int table, enum key key, const struct sl_nodeset *but)
{
	struct sl_nodeset rest = SL_NODESET_EMPTY;
	const struct sl_nodeset *set;
	struct sl_error err;
	uint32_t number;
	int rc;

	if (lua_getfield(L, table, key_name[key]) == LUA_TNIL && !but) {
		lua_pop(L, 1);
		return 0;
	}
	if (lua_isnil(L, -1))	/* all but those */
		sl_lua_push_nodeset(L, x, lua_absindex(L, -1));
	if (!sl_lua_is(L, -1, SL_CLASS_NODESET))
		luaL_error(L, "%s: expected a set that cluster:nodes { ... } returned, got %s", key_name[key],
			   luaL_typename(L, -1));
	set = sl_lua_check_nodeset(L, x, lua_gettop(L));
	rc = but ? sl_nodeset_copy(&rest, set, &err) || sl_nodeset_subtract(&rest, but, &err) ? -1 : 0 : 0;
	if (!rc)
		rc = sl_cluster_confinement(x->cluster, but ? &rest : set, &number, &err);
	sl_nodeset_free(&rest);
	if (rc < 0)
		luaL_error(L, "%s", err.text);
	lua_pop(L, 1);
	return number;
}

/* nodes =, except =, prefer =, of the table at *table*. */
static void read_sets(lua_State *L, struct sl_lua *x, int table, struct sl_lua_wish *wish)
{
	const struct sl_nodeset *but = NULL;

	if (lua_getfield(L, table, "except") != LUA_TNIL) {
		if (!sl_lua_is(L, -1, SL_CLASS_NODESET))
			luaL_error(L, "except: expected a set that cluster:nodes { ... } returned, got %s", luaL_typename(L, -1));
		but = sl_lua_check_nodeset(L, x, lua_gettop(L));
	}
	wish->confine = read_set(L, x, table, NODES, but);
	lua_pop(L, 1);
	wish->prefer = read_set(L, x, table, PREFER, NULL);
	lua_getfield(L, table, "use_blocked");
	if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
		luaL_error(L, "use_blocked: expected true or false, got %s", luaL_typename(L, -1));
	wish->use_blocked = lua_toboolean(L, -1);
	lua_pop(L, 1);
}

/* From now on the job has its nodes so. */
void sl_lua_apply_wish(lua_State *L, struct sl_lua *x, uint32_t job, const struct sl_lua_wish *wish)
{
	struct sl_error err;

	if (sl_cluster_confine(x->cluster, job, wish->confine, &err) < 0 ||
	    sl_plan_use_blocked(x->plan, job, wish->use_blocked, &err) < 0)
		luaL_error(L, "%s", err.text);
}

#define LEAST_AGAIN_S 60

/* least = n, beside a bundled score. */
static void read_least(lua_State *L, int table, struct sl_lua_wish *wish)
{
	lua_Number n;

	if (lua_getfield(L, table, "least") != LUA_TNIL) {
		n = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : -1;
		if (!(n >= 0 && n <= SL_SCORE_BEST))
			luaL_error(L, "place: least: expected a score from 0 to %d, got %s", SL_SCORE_BEST,
				   sl_sandbox_tostring(L, -1, NULL));
		if (wish->method < 0 || !sl_place_has_bundled_score((enum sl_place_method) wish->method))
			luaL_error(L, "place: least: expected only beside a place that is a score, such as \"fgd\"");
		wish->least = (uint32_t) ceil(n);
	}
	lua_pop(L, 1);
}

/* segment = n, beside a place. */
static void read_segment(lua_State *L, int table, struct sl_lua_wish *wish)
{
	if (lua_getfield(L, table, "segment") != LUA_TNIL) {
		lua_Integer n = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;

		if (n < 1 || n > SL_MAX_NODES)
			luaL_error(L, "place: segment: expected a number of nodes from 1, got %s", sl_sandbox_tostring(L, -1, NULL));
		if (wish->method < 0)
			luaL_error(L, "place: segment: expected only beside a place, such as \"blocks\"");
		wish->segment = (uint32_t) n;
	}
	lua_pop(L, 1);
}

void sl_lua_read_wish(lua_State *L, struct sl_lua *x, int table, struct sl_lua_wish *wish)
{
	static const char *const words = "nodes, except, prefer, place, least, segment or use_blocked";
	struct sl_how how = { .method = SL_PLACE_METHODS };

	*wish = (struct sl_lua_wish) { .method = -1 };
	if (lua_isnil(L, table))
		return;
	if (!lua_istable(L, table))
		luaL_error(L, "place: expected nothing or a table with %s, got %s", words, luaL_typename(L, table));
	sl_lua_check_names(L, table, "place: ", words);
	read_sets(L, x, table, wish);
	if (lua_getfield(L, table, "place") == LUA_TFUNCTION) {
		wish->score = sl_lua_number_score(L, -1);
		wish->method = SL_PLACE_OWN;
	} else if (!lua_isnil(L, -1)) {
		read_place(L, &how);
		wish->method = (int) how.method;
	}
	lua_pop(L, 1);
	read_least(L, table, wish);
	read_segment(L, table, wish);
	/* what it waits for is lowered with time */
	if (wish->least && x->wake_time > sl_later(sl_cluster_now(x->cluster), LEAST_AGAIN_S))
		x->wake_time = sl_later(sl_cluster_now(x->cluster), LEAST_AGAIN_S);
}

struct sl_how sl_lua_wished_how(const struct sl_lua_wish *wish)
{
	return (struct sl_how) { .method = (enum sl_place_method) wish->method, .least = wish->least,
				.segment = wish->segment };
}

int sl_lua_prefer(struct sl_lua *x, uint32_t confine, uint32_t *prefer, struct sl_error *err)
{
	const struct sl_nodeset *all = sl_cluster_confined_to(x->cluster, confine);
	struct sl_nodeset nodes = SL_NODESET_EMPTY;
	int rc;

	if (!all)
		return 1;
	rc = sl_nodeset_meet(&nodes, all, sl_cluster_confined_to(x->cluster, *prefer), err);
	if (!rc && nodes.count)
		rc = sl_cluster_confinement(x->cluster, &nodes, prefer, err) < 0 ? -1 : 1;
	sl_nodeset_free(&nodes);
	return rc;
}

/* What the how of one start says of nodes goes before what place() has said of the job. */
static void take_sets(lua_State *L, struct sl_lua *x, struct sl_entry *e, const struct sl_lua_wish *general,
		      struct sl_lua_how *h)
{
	h->wish = general ? *general : (struct sl_lua_wish) { .method = -1 };
	if (h->said & (1u << NODES | 1u << EXCEPT | 1u << PREFER | 1u << USE_BLOCKED)) {
		read_sets(L, x, 3, &h->wish);
		sl_lua_apply_wish(L, x, e->job, &h->wish);
	}
	e->confine = h->wish.confine;
	if (!h->terms.how && h->wish.method >= 0) {
		h->place = sl_lua_wished_how(&h->wish);
		h->terms.how = &h->place;
	} else if (h->terms.how && h->place.method != SL_PLACE_EXPLICIT) {
		h->place.segment = h->wish.segment;
	}
}

/* -- all of it ---------------------------------------------------------- */

/* For an entry whose job is SL_NONE only PLACE and SHAPE may be allowed: the others need its row. */
static void check_how(lua_State *L, struct sl_lua *x, struct sl_entry *e, const struct sl_lua_wish *general,
		      struct sl_lua_how *h, unsigned allowed)
{
	h->said = 0;
	h->preempts = false;
	h->terms = (struct sl_terms) { 0 };
	if (lua_isnoneornil(L, 3)) {
		if (e->job != SL_NONE)
			take_sets(L, x, e, general, h);
		return;
	}
	luaL_checktype(L, 3, LUA_TTABLE);
	h->place = (struct sl_how) { .method = SL_PLACE_BESTFIT };
	h->loan = (struct sl_loan) { .home = e->partition };
	read_keys(L, x, e, h, allowed);
	if (is_said(h, PLACE) && is_said(h, LAYOUT))
		luaL_error(L, "place and layout: expected only one of them");
	if (is_said(h, BID) && (is_said(h, PLACE) || is_said(h, LAYOUT) || is_said(h, SHAPE)))
		luaL_error(L, "bid: expected no place, layout or shape beside it");
	if (push_said(L, h, PLACE)) {
		read_place(L, &h->place);
		lua_pop(L, 1);
	}
	if (push_said(L, h, LAYOUT))
		read_layout(L, x, &h->place);
	if (push_said(L, h, BID))
		read_bid(L, x, e, h);
	if (is_said(h, PLACE) || is_said(h, LAYOUT) || is_said(h, BID))
		h->terms.how = &h->place;
	if (e->job != SL_NONE)
		take_sets(L, x, e, general, h);
	read_loan(L, x, h);
}

void sl_lua_check_how(lua_State *L, struct sl_lua *x, struct sl_entry *e, const struct sl_lua_wish *general,
		      struct sl_lua_how *h)
{
	check_how(L, x, e, general, h, (1u << KEYS) - 1);
	if (is_said(h, PREEMPT))
		luaL_error(L, "preempt: expected for start only");
}

void sl_lua_check_how_to_start(lua_State *L, struct sl_lua *x, struct sl_entry *e, const struct sl_lua_wish *general,
			       struct sl_lua_how *h)
{
	check_how(L, x, e, general, h, (1u << KEYS) - 1);
	if (h->preempts && (is_said(h, LAYOUT) || is_said(h, BID) || is_said(h, BORROW)))
		luaL_error(L, "preempt: expected no layout, bid or borrow beside it");
}

void sl_lua_push_preempt(lua_State *L)
{
	lua_getfield(L, 3, key_name[PREEMPT]);
}

void sl_lua_check_how_of_all(lua_State *L, struct sl_lua *x, struct sl_lua_how *h)
{
	/* an entry without alternatives, so that no other shape is accepted */
	struct sl_entry none = { .job = SL_NONE };

	check_how(L, x, &none, NULL, h, 1u << PLACE | 1u << SHAPE | 1u << WAKE_AFTER);
}

/* -- words -------------------------------------------------------------- */

void sl_lua_read_because(lua_State *L, struct sl_lua *x, const struct sl_lua_how *h, uint32_t job)
{
	char cut[SL_LUA_TEXT_MAX];
	struct sl_error err;

	if (!push_said(L, h, BECAUSE))
		return;
	if (lua_type(L, -1) != LUA_TSTRING)
		luaL_error(L, "because: expected a text, got %s", luaL_typename(L, -1));
	if (sl_plan_because(x->plan, job, sl_lua_cut(cut, lua_tostring(L, -1)), &err) < 0)
		luaL_error(L, "%s", err.text);
	lua_pop(L, 1);
}
