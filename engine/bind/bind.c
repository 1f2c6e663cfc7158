/* SPDX-License-Identifier: MIT */
#include "bind/bind.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "bind/require.h"

/* What a field's name leads to, in the table of a class's fields: a method is a
 * function, everything else a number of these. */
enum field_kind { FIELD_PLAIN, FIELD_COLUMN, FIELD_FLAG, FIELD_COMPUTED };
#define FIELD_UNSAID 1		/* of a column: its 0 and its empty list are nil */
#define FIELD(kind, a, b) ((lua_Integer) (kind) << 16 | (a) << 8 | (b))

/* Keys of the registry, by address: metatables, handles by row, rows by name. */
static const char meta_key[SL_CLASSES], cache_key[SL_CLASSES], find_key[SL_SNAPSHOT_TABLES];
static const char snapshot_key;

static const struct sl_table *table_of(int table)
{
	return &sl_snapshot_schema.table[table];
}

/* The array of a column's values. */
static const void *values(const struct sl_lua *x, int table, const struct sl_column *c)
{
	const char *view = (const char *) x->snap + table_of(table)->view_offset;

	return *(const void *const *) (view + c->view_offset);
}

static uint32_t rows_of(const struct sl_lua *x, int table)
{
	/* every view begins with its number of rows */
	return *(const uint32_t *) ((const char *) x->snap + table_of(table)->view_offset);
}

/* -- values ------------------------------------------------------------ */

static void push_column(lua_State *L, struct sl_lua *x, int table, uint32_t column, uint32_t row, bool unsaid);

static void push_key(lua_State *L, struct sl_lua *x, int table, uint32_t row)
{
	if (row == SL_NONE || table_of(table)->key < 0)
		lua_pushnil(L);
	else
		push_column(L, x, table, table_of(table)->key, row, false);
}

/* The names of the nodes of a list of runs. */
static void push_nodelist(lua_State *L, struct sl_lua *x, struct sl_range r)
{
	const struct sl_run_view *run = &x->snap->run;
	lua_Integer n = 0;

	lua_newtable(L);
	for (uint32_t i = r.first; i < r.first + r.count; i++)
		for (uint32_t node = run->first[i]; node <= run->last[i]; node++) {
			lua_pushstring(L, sl_snapshot_str(x->snap, x->snap->node.name[node]));
			lua_rawseti(L, -2, ++n);
		}
}

static void push_range(lua_State *L, struct sl_lua *x, int target, struct sl_range r)
{
	if (table_of(target)->nodelist) {
		push_nodelist(L, x, r);
		return;
	}
	lua_createtable(L, r.count, 0);
	for (uint32_t i = 0; i < r.count; i++) {
		if (table_of(target)->columns == 1)
			push_column(L, x, target, 0, r.first + i, false);
		else
			sl_lua_push_row(L, x, target, r.first + i);
		lua_rawseti(L, -2, i + 1);
	}
}

static void push_words(lua_State *L, const struct sl_words *words, uint32_t value)
{
	lua_Integer n = 0;

	if (!words->flags) {
		lua_pushstring(L, sl_words_find(words, value));
		return;
	}
	lua_newtable(L);
	for (uint32_t i = 0; i < words->count; i++)
		if (value & words->word[i].value) {
			lua_pushstring(L, words->word[i].word);
			lua_rawseti(L, -2, ++n);
		}
}

/* A value that neither has words nor refers to anything; with *unsaid* a 0 is nil. */
static void push_plain(lua_State *L, struct sl_lua *x, int table, const struct sl_column *c, uint32_t row, bool unsaid)
{
	const void *v = values(x, table, c);
	const char *text;
	uint32_t u32;
	int64_t i64;

	switch (c->type) {
	case SL_TYPE_u32:
		u32 = ((const uint32_t *) v)[row];
		if (u32 == SL_NONE || (unsaid && !u32))
			lua_pushnil(L);
		else
			lua_pushinteger(L, u32);
		break;
	case SL_TYPE_i64:
		i64 = ((const int64_t *) v)[row];
		if (i64 == SL_UNLIMITED)
			lua_pushnumber(L, HUGE_VAL);
		else if (unsaid && (!i64 || i64 == c->missing))
			lua_pushnil(L);
		else
			lua_pushinteger(L, i64);
		break;
	case SL_TYPE_f64:
		lua_pushnumber(L, ((const double *) v)[row]);
		break;
	case SL_TYPE_str:
		text = sl_snapshot_str(x->snap, ((const uint32_t *) v)[row]);
		lua_pushstring(L, *text ? text : NULL);
		break;
	default:
		lua_pushnil(L);
	}
}

static void push_column(lua_State *L, struct sl_lua *x, int table, uint32_t column, uint32_t row, bool unsaid)
{
	const struct sl_column *c = &table_of(table)->column[column];
	const struct sl_words *words;
	struct sl_range range;

	luaL_checkstack(L, 8, NULL);
	switch (c->type) {
	case SL_TYPE_ref:
		push_key(L, x, c->target, ((const uint32_t *) values(x, table, c))[row]);
		return;
	case SL_TYPE_range:
		range = ((const struct sl_range *) values(x, table, c))[row];
		if (unsaid && !range.count)
			lua_pushnil(L);
		else
			push_range(L, x, c->target, range);
		return;
	case SL_TYPE_u32:
		words = sl_schema_words(&sl_snapshot_schema, table, column);
		if (words) {
			push_words(L, words, ((const uint32_t *) values(x, table, c))[row]);
			return;
		}
		/* fall through */
	default:
		push_plain(L, x, table, c, row, unsaid);
	}
}

void sl_lua_push_row(lua_State *L, struct sl_lua *x, int table, uint32_t row)
{
	const struct sl_table *t = table_of(table);

	lua_createtable(L, 0, t->columns);
	for (uint32_t k = 0; k < t->columns; k++) {
		push_column(L, x, table, k, row, sl_lua_may_be_unsaid(table, t->column[k].name));
		lua_setfield(L, -2, t->column[k].name);
	}
}

/* -- handles ----------------------------------------------------------- */

void *sl_lua_keep_block(lua_State *L, const char *key, size_t size)
{
	void *block = NULL;

	if (size) {
		block = lua_newuserdatauv(L, size, 0);
		memset(block, 0, size);
	} else {
		lua_pushnil(L);
	}
	lua_rawsetp(L, LUA_REGISTRYINDEX, key);
	return block;
}

/* The number under which a handle is kept. */
static lua_Integer slot_of(const struct sl_lua *x, enum sl_lua_class_id id, uint32_t row, uint32_t partition)
{
	if (id != SL_CLASS_JOB || partition == x->snap->job.partition[row])
		return (lua_Integer) row + 1;
	return -((lua_Integer) row * x->snap->partition.rows + partition + 1);
}

void sl_lua_set_class(lua_State *L, enum sl_lua_class_id id)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &meta_key[id]);
	lua_setmetatable(L, -2);
}

static void push_handle(lua_State *L, struct sl_lua *x, enum sl_lua_class_id id, uint32_t row, uint32_t partition)
{
	lua_Integer slot = slot_of(x, id, row, partition);
	struct sl_handle *h;

	lua_rawgetp(L, LUA_REGISTRYINDEX, &cache_key[id]);
	if (lua_rawgeti(L, -1, slot) == LUA_TUSERDATA) {
		h = lua_touserdata(L, -1);
		h->generation = x->generation;
		lua_replace(L, -2);
		return;
	}
	lua_pop(L, 1);
	h = lua_newuserdatauv(L, sizeof(*h), 0);
	h->key.order = (uint64_t) id << 56 | (uint64_t) row << 24 | (partition & 0xffffff);
	h->magic = SL_HANDLE_MAGIC;
	h->class_id = id;
	h->generation = x->generation;
	h->row = row;
	h->partition = partition;
	sl_lua_set_class(L, id);
	lua_pushvalue(L, -1);
	lua_rawseti(L, -3, slot);
	lua_replace(L, -2);
}

void sl_lua_push(lua_State *L, struct sl_lua *x, enum sl_lua_class_id id, uint32_t row)
{
	push_handle(L, x, id, row, SL_NONE);
}

void sl_lua_push_job(lua_State *L, struct sl_lua *x, uint32_t row, uint32_t partition)
{
	push_handle(L, x, SL_CLASS_JOB, row, partition);
}

static void new_caches(lua_State *L)
{
	for (int id = 0; id < SL_CLASSES; id++) {
		lua_newtable(L);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &cache_key[id]);
	}
	for (int table = 0; table < SL_SNAPSHOT_TABLES; table++) {
		lua_pushnil(L);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &find_key[table]);
	}
}

/* What tells one snapshot from another that lies at the same address. */
struct identity {
	const struct sl_snapshot *snap;
	const void *base;
	size_t size;
	int64_t sequence, now;
};

bool sl_lua_begin(lua_State *L, struct sl_lua *x)
{
	struct identity is = { x->snap, x->snap->image.base, x->snap->image.size,
			       x->snap->meta.sequence[0], x->snap->meta.now[0] };
	struct identity *was;

	sl_lua_begin_queue(L, x);
	sl_lua_begin_random(L, x);
	x->generation++;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &snapshot_key);
	was = lua_touserdata(L, -1);
	lua_pop(L, 1);
	if (was && was->snap == is.snap && was->base == is.base && was->size == is.size &&
	    was->sequence == is.sequence && was->now == is.now)
		return false;
	x->picture++;
	new_caches(L);
	was = lua_newuserdatauv(L, sizeof(*was), 0);
	*was = is;
	lua_rawsetp(L, LUA_REGISTRYINDEX, &snapshot_key);
	return true;
}

void sl_lua_check_generation(lua_State *L, const struct sl_lua *x, uint32_t generation, const char *what)
{
	if (!x->running || generation != x->generation)
		luaL_error(L, "this %s is from an earlier cycle: get another one in this cycle", what);
}

/* How many rows there are that a handle of the class can name. */
static uint32_t rows_of_class(const struct sl_lua *x, uint32_t id)
{
	switch ((enum sl_lua_class_id) id) {
	case SL_CLASS_JOB:
	case SL_CLASS_BID:
		return x->snap->job.rows;
	case SL_CLASS_NODE:
		return x->snap->node.rows;
	case SL_CLASS_PARTITION:
		return x->snap->partition.rows;
	default:
		return SL_NONE;		/* its row is no row of the snapshot */
	}
}

static const char *class_name(lua_State *L, enum sl_lua_class_id id)
{
	const char *name;

	lua_rawgetp(L, LUA_REGISTRYINDEX, &meta_key[id]);
	lua_getfield(L, -1, "__name");
	name = lua_tostring(L, -1);
	lua_pop(L, 2);		/* the metatable keeps it */
	return name;
}

/* Raise unless the handle is of this cycle and names rows that this cycle's snapshot has. */
static void check_current(lua_State *L, const struct sl_lua *x, const struct sl_handle *h)
{
	bool is_named = h->class_id == SL_CLASS_JOB || h->class_id == SL_CLASS_NODE || h->class_id == SL_CLASS_PARTITION;

	if (!x->running || h->generation != x->generation) {
		if (is_named)
			luaL_error(L, "this %s is from an earlier cycle: keep its id or name, not the object",
				   class_name(L, h->class_id));
		sl_lua_check_generation(L, x, h->generation, class_name(L, h->class_id));
	}
	/* Two snapshots that look the same to sl_lua_begin() may differ in their rows. */
	if (h->row >= rows_of_class(x, h->class_id) ||
	    (h->partition != SL_NONE && h->partition >= x->snap->partition.rows))
		luaL_error(L, "this %s is of another snapshot", class_name(L, h->class_id));
}

/* The handle at an argument, also that at the beginning of a larger object (a bid); NULL where
 * it is something else. */
static const struct sl_handle *any_handle(lua_State *L, int arg)
{
	const struct sl_handle *h = lua_touserdata(L, arg);

	/* a light userdata has no length */
	return h && lua_rawlen(L, arg) >= sizeof(*h) && h->magic == SL_HANDLE_MAGIC ? h : NULL;
}

bool sl_lua_is(lua_State *L, int arg, enum sl_lua_class_id id)
{
	const struct sl_handle *h = any_handle(L, arg);

	return h && h->class_id == id;
}

/* A method was called without the object that it is a method of. */
static void missing_colon(lua_State *L, const char *class)
{
	lua_Debug ar;

	if (!lua_getstack(L, 0, &ar) || !lua_getinfo(L, "n", &ar) || !ar.name)
		return;
	if (!strcmp(ar.namewhat, "for iterator"))
		luaL_error(L, "a colon and parentheses are missing: expected a call such as 'for job in %s:queue() do'",
			   class);
	if (!strcmp(ar.namewhat, "field") || !strcmp(ar.namewhat, "method"))
		luaL_error(L, "a colon is missing: expected %s:%s(...), got %s.%s(...)", class, ar.name, class, ar.name);
}

const struct sl_handle *sl_lua_check(lua_State *L, struct sl_lua *x, int arg, enum sl_lua_class_id id)
{
	const struct sl_handle *h = lua_touserdata(L, arg);

	if (!sl_lua_is(L, arg, id)) {
		if (arg == 1)
			missing_colon(L, class_name(L, id));
		luaL_typeerror(L, arg, class_name(L, id));
	}
	check_current(L, x, h);
	return h;
}

struct sl_entry sl_lua_check_entry(lua_State *L, struct sl_lua *x, int arg)
{
	const struct sl_handle *h = sl_lua_check(L, x, arg, SL_CLASS_JOB);

	if (h->partition == SL_NONE)
		luaL_error(L, "job %d is in no partition", (int) x->snap->job.id[h->row]);
	return (struct sl_entry) { .job = h->row, .partition = h->partition };
}

/* Make the map from keys to rows of a table, on first use. */
static void push_map(lua_State *L, struct sl_lua *x, int table)
{
	uint32_t rows = rows_of(x, table);

	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &find_key[table]) == LUA_TTABLE)
		return;
	lua_pop(L, 1);
	lua_createtable(L, 0, rows);
	for (uint32_t row = 0; row < rows; row++) {
		push_key(L, x, table, row);
		if (lua_isnil(L, -1)) {
			lua_pop(L, 1);
			continue;
		}
		lua_pushinteger(L, row);
		lua_rawset(L, -3);
	}
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &find_key[table]);
}

uint32_t sl_lua_find(lua_State *L, struct sl_lua *x, int table, int index)
{
	uint32_t row = SL_NONE;

	index = lua_absindex(L, index);
	push_map(L, x, table);
	lua_pushvalue(L, index);
	if (!lua_isnil(L, -1) && lua_rawget(L, -2) == LUA_TNUMBER)
		row = lua_tointeger(L, -1);
	lua_pop(L, 2);
	return row;
}

/* -- classes ----------------------------------------------------------- */

/* Of class_index(), whose first upvalue is the fields. */
static int unknown_field(lua_State *L, const struct sl_lua_class *c)
{
	if (lua_type(L, 2) != LUA_TSTRING)
		return luaL_error(L, "a %s has no field of type %s", c->name, luaL_typename(L, 2));
	sl_lua_require(L, "sched.suggest");
	lua_getfield(L, -1, "nearest");
	lua_pushvalue(L, 2);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_call(L, 2, 1);
	if (lua_type(L, -1) == LUA_TSTRING)
		return luaL_error(L, "a %s has no field '%s'; did you mean '%s'?", c->name, lua_tostring(L, 2),
				  lua_tostring(L, -1));
	return luaL_error(L, "a %s has no field '%s'", c->name, lua_tostring(L, 2));
}

/* __index; upvalues: the fields, the class. */
static int class_index(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_lua_class *c = lua_touserdata(L, lua_upvalueindex(2));
	const struct sl_handle *h = any_handle(L, 1);
	const struct sl_column *column;
	lua_Integer field;
	uint32_t a, b;

	if (!h || h->class_id != c->id)
		return luaL_typeerror(L, 1, c->name);
	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TFUNCTION)
		return 1;
	check_current(L, x, h);
	if (!lua_isinteger(L, -1))
		return unknown_field(L, c);
	field = lua_tointeger(L, -1);
	a = field >> 8 & 0xff;
	b = field & 0xff;
	column = c->table < 0 ? NULL : &table_of(c->table)->column[a];
	switch ((enum field_kind) (field >> 16)) {
	case FIELD_PLAIN:
		push_plain(L, x, c->table, column, h->row, b);
		break;
	case FIELD_COLUMN:
		push_column(L, x, c->table, a, h->row, b);
		break;
	case FIELD_FLAG:
		lua_pushboolean(L, ((const uint32_t *) values(x, c->table, column))[h->row] >> b & 1);
		break;
	case FIELD_COMPUTED:
		c->field[a].push(L, x, h);
		break;
	}
	return 1;
}

/* pairs(job): all fields, by name, as a copy.  Upvalue: the fields. */
static int class_pairs(lua_State *L)
{
	lua_settop(L, 1);
	lua_newtable(L);
	for (lua_pushnil(L); lua_next(L, lua_upvalueindex(1)); lua_pop(L, 1)) {
		if (!lua_isinteger(L, -1))
			continue;	/* a method */
		lua_pushvalue(L, -2);
		lua_pushvalue(L, -1);
		lua_gettable(L, 1);
		lua_settable(L, 2);
	}
	lua_remove(L, 1);
	return sl_sandbox_pairs(L);
}

static int class_newindex(lua_State *L)
{
	const struct sl_lua_class *c = lua_touserdata(L, lua_upvalueindex(1));

	return luaL_error(L, "a %s is read-only", c->name);
}

static int class_eq(lua_State *L)
{
	const struct sl_handle *a = any_handle(L, 1), *b = any_handle(L, 2);

	/* The other one may be any userdata.  Two entries of the same job are the same job. */
	lua_pushboolean(L, a && b && a->key.order >> 24 == b->key.order >> 24 && a->generation == b->generation);
	return 1;
}

static int class_tostring(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	const struct sl_lua_class *c = lua_touserdata(L, lua_upvalueindex(1));
	const struct sl_handle *h = any_handle(L, 1);

	if (c->table < 0 || table_of(c->table)->key < 0 || !h || h->class_id != c->id ||
	    !x->running || h->generation != x->generation) {
		lua_pushstring(L, c->name);
		return 1;
	}
	lua_pushfstring(L, "%s ", c->name);
	push_key(L, x, c->table, h->row);
	lua_tostring(L, -1);
	lua_concat(L, 2);
	return 1;
}

static void set_field(lua_State *L, const char *name, lua_Integer field)
{
	lua_pushinteger(L, field);
	lua_setfield(L, -2, name);
}

/* Each flag of a set is a field, in small letters, unless a column has that name. */
static void set_flags(lua_State *L, const struct sl_words *words, uint32_t column)
{
	char name[64];
	bool taken;

	for (uint32_t i = 0; i < words->count; i++) {
		size_t n = 0;

		for (; words->word[i].word[n] && n < sizeof(name) - 1; n++)
			name[n] = tolower((unsigned char) words->word[i].word[n]);
		name[n] = 0;
		taken = lua_getfield(L, -1, name) != LUA_TNIL;
		lua_pop(L, 1);
		if (!taken)
			set_field(L, name, FIELD(FIELD_FLAG, column, __builtin_ctz(words->word[i].value)));
	}
}

static void push_fields(lua_State *L, const struct sl_lua_class *c)
{
	const struct sl_table *t = c->table < 0 ? NULL : table_of(c->table);

	lua_newtable(L);
	for (uint32_t k = 0; t && k < t->columns; k++) {
		const struct sl_words *words = sl_schema_words(&sl_snapshot_schema, c->table, k);
		bool plain = !words && t->column[k].type != SL_TYPE_ref && t->column[k].type != SL_TYPE_range;

		set_field(L, t->column[k].name, FIELD(plain ? FIELD_PLAIN : FIELD_COLUMN, k,
		          sl_lua_may_be_unsaid(c->table, t->column[k].name) ? FIELD_UNSAID : 0));
		if (words && words->flags)
			set_flags(L, words, k);
	}
	for (uint32_t k = 0; c->field && c->field[k].name; k++)
		set_field(L, c->field[k].name, FIELD(FIELD_COMPUTED, k, 0));
	if (c->method)
		luaL_setfuncs(L, c->method, 0);
}

static const char *kind_of(const struct sl_lua_class *c, const struct sl_column *column, uint32_t k)
{
	const struct sl_words *words = sl_schema_words(&sl_snapshot_schema, c->table, k);
	bool unsaid = sl_lua_may_be_unsaid(c->table, column->name) || column->missing == SL_NONE;

	if (column->type == SL_TYPE_str || column->type == SL_TYPE_ref)
		return "text?";
	if (column->type == SL_TYPE_range || (words && words->flags))
		return unsaid ? "list?" : "list";
	return words ? "text" : unsaid ? "number?" : "number";
}

void sl_lua_push_kinds(lua_State *L, const struct sl_lua_class *c)
{
	const struct sl_table *t = table_of(c->table);

	push_fields(L, c);
	for (lua_pushnil(L); lua_next(L, -2); ) {
		bool flag = lua_isinteger(L, -1) && (lua_tointeger(L, -1) >> 16) == FIELD_FLAG;

		lua_pop(L, 1);
		lua_pushvalue(L, -1);
		lua_pushstring(L, flag ? "boolean" : "number");	/* what is worked out, unless its class says more */
		lua_rawset(L, -4);
	}
	for (uint32_t k = 0; k < t->columns; k++) {
		bool computed = false;

		for (uint32_t i = 0; c->field && c->field[i].name; i++)
			computed |= !strcmp(c->field[i].name, t->column[k].name);
		if (computed)
			continue;
		lua_pushstring(L, kind_of(c, &t->column[k], k));
		lua_setfield(L, -2, t->column[k].name);
	}
}

static void set_meta(lua_State *L, const struct sl_lua_class *c, const char *name, lua_CFunction f)
{
	lua_pushlightuserdata(L, (void *) c);
	lua_pushcclosure(L, f, 1);
	lua_setfield(L, -2, name);
}

void sl_lua_class(lua_State *L, const struct sl_lua_class *c)
{
	lua_newtable(L);
	push_fields(L, c);
	lua_pushvalue(L, -1);
	lua_pushcclosure(L, class_pairs, 1);
	lua_setfield(L, -3, "__pairs");
	lua_pushlightuserdata(L, (void *) c);
	lua_pushcclosure(L, class_index, 2);
	lua_setfield(L, -2, "__index");
	set_meta(L, c, "__newindex", class_newindex);
	set_meta(L, c, "__tostring", class_tostring);
	set_meta(L, c, "__eq", class_eq);
	lua_pushstring(L, c->name);
	lua_setfield(L, -2, "__name");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pushboolean(L, 1);
	lua_setfield(L, -2, SL_SANDBOX_ORDER);
	if (c->meta)
		luaL_setfuncs(L, c->meta, 0);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &meta_key[c->id]);
}
