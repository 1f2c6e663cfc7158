/* SPDX-License-Identifier: MIT */
/*
 * bind/remember.c - plan:remember() and cluster:recall() (image/remember.h).
 *
 *	plan:remember("window", { jobs = 100 })	true; or nil and why not (too large)
 *	cluster:recall("window")		a copy of what was remembered last; or nil
 *
 * Values are plain: booleans, numbers, strings, tables of them with integers and strings
 * as keys.  They are copied at once, as text (image/value.h).  What a script can do nothing
 * about (sizes) is returned, the rest is misuse and raises.
 */
#include "bind/turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/value.h"

/* -- writing ------------------------------------------------------------- */

/* Key of the registry: SL_REMEMBERED_VALUE bytes for a text, from the first one on. */
static const char text_key;

struct writer {
	lua_State *L;
	const struct sl_limit *limit;
	char *text;
	size_t size;
	bool full;			/* it got too long: what follows is not written */
};

static void write_bytes(struct writer *w, const char *bytes, size_t n)
{
	sl_limit_tick(w->L, w->limit);
	w->full |= n > SL_REMEMBERED_VALUE - w->size;
	if (w->full)
		return;
	memcpy(w->text + w->size, bytes, n);
	w->size += n;
	w->text[w->size] = 0;
}

static void write_text(struct writer *w, const char *text)
{
	write_bytes(w, text, strlen(text));
}

static void write_string(struct writer *w, const char *s, size_t n)
{
	char escaped[4];

	write_text(w, "\"");
	for (size_t i = 0; i < n && !w->full; i++)
		write_bytes(w, escaped, sl_value_escape(escaped, (unsigned char) s[i]));
	write_text(w, "\"");
}

static void write_number(struct writer *w, int index)
{
	char text[SL_VALUE_NUMBER_MAX];
	lua_Number v = lua_tonumber(w->L, index);

	if (lua_isinteger(w->L, index)) {
		sl_value_integer(text, lua_tointeger(w->L, index));
	} else {
		if (isnan(v))
			luaL_error(w->L, "remember: not-a-number is nothing to remember");
		sl_value_number(text, v);
	}
	write_text(w, text);
}

/* A key that is not among the elements from 1 on.  Its text belongs to the table. */
struct key {
	const char *text;		/* NULL: an integer */
	size_t length;
	lua_Integer integer;
};

static int by_key(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;
	int order;

	if (!a->text != !b->text)
		return a->text ? 1 : -1;
	if (!a->text)
		return a->integer < b->integer ? -1 : a->integer > b->integer;
	order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
	return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

/* The key below the top of the stack. */
static struct key read_key(lua_State *L)
{
	struct key key = { NULL, 0, 0 };

	if (lua_type(L, -2) == LUA_TSTRING)
		key.text = lua_tolstring(L, -2, &key.length);
	else if (lua_isinteger(L, -2))
		key.integer = lua_tointeger(L, -2);
	else
		luaL_error(L, "remember: a key of type %s; expected integers and strings", luaL_typename(L, -2));
	return key;
}

/* The keys of the table at *table* beyond *elements*, sorted, in a block that is pushed. */
static struct key *push_keys(struct writer *w, int table, lua_Integer elements, size_t *count)
{
	lua_State *L = w->L;
	struct key *keys;
	size_t n = 0;

	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
		sl_limit_tick(L, w->limit);
		n++;
	}
	n -= (size_t) elements;
	/* each takes five bytes at least: do not sort what will not fit */
	w->full |= n > SL_REMEMBERED_VALUE / 5;
	*count = w->full ? 0 : n;
	keys = lua_newuserdatauv(L, (*count + 1) * sizeof(*keys), 0);
	n = 0;
	for (lua_pushnil(L); *count && lua_next(L, table); lua_pop(L, 1)) {
		struct key key = read_key(L);

		if (key.text || key.integer < 1 || key.integer > elements)
			keys[n++] = key;
	}
	qsort(keys, n, sizeof(*keys), by_key);
	return keys;
}

static void write_key(struct writer *w, const struct key *key)
{
	char text[SL_VALUE_NUMBER_MAX];

	if (key->text && sl_value_is_name(key->text, key->length)) {
		write_bytes(w, key->text, key->length);
		write_text(w, "=");
		return;
	}
	write_text(w, "[");
	if (key->text) {
		write_string(w, key->text, key->length);
	} else {
		sl_value_integer(text, key->integer);
		write_text(w, text);
	}
	write_text(w, "]=");
}

static void write_value(struct writer *w, int index, int depth);

static void write_table(struct writer *w, int table, int depth)
{
	lua_State *L = w->L;
	lua_Integer elements = 0;
	struct key *keys;
	size_t count;

	luaL_checkstack(L, 8, NULL);
	if (depth > SL_VALUE_DEPTH)
		luaL_error(L, "remember: tables in tables more than %d deep, or in themselves", SL_VALUE_DEPTH);
	sl_sandbox_unveil(L, table);	/* (an answer of cluster.usage) */
	if (lua_getmetatable(L, table))
		luaL_error(L, "remember: a table with a metatable is no plain value");
	write_text(w, "{");
	while (!w->full && lua_rawgeti(L, table, elements + 1) != LUA_TNIL) {
		if (elements++)
			write_text(w, ",");
		write_value(w, lua_gettop(L), depth);
		lua_pop(L, 1);
	}
	if (w->full)
		return;
	lua_pop(L, 1);
	keys = push_keys(w, table, elements, &count);
	for (size_t i = 0; i < count && !w->full; i++) {
		if (elements || i)
			write_text(w, ",");
		write_key(w, &keys[i]);
		if (keys[i].text)
			lua_pushlstring(L, keys[i].text, keys[i].length);
		else
			lua_pushinteger(L, keys[i].integer);
		lua_rawget(L, table);
		write_value(w, lua_gettop(L), depth);
		lua_pop(L, 1);
	}
	if (w->full)
		return;
	lua_pop(L, 1);
	write_text(w, "}");
}

/* Once the text is full whatever is on the stack may stay there. */
static void write_value(struct writer *w, int index, int depth)
{
	const char *s;
	size_t n;

	switch (lua_type(w->L, index)) {
	case LUA_TBOOLEAN:
		write_text(w, lua_toboolean(w->L, index) ? "true" : "false");
		break;
	case LUA_TNUMBER:
		write_number(w, index);
		break;
	case LUA_TSTRING:
		s = lua_tolstring(w->L, index, &n);
		write_string(w, s, n);
		break;
	case LUA_TTABLE:
		write_table(w, index, depth + 1);
		break;
	default:
		luaL_error(w->L, "remember: expected booleans, numbers, strings and tables of them, got a %s",
			   luaL_typename(w->L, index));
	}
}

/* -- reading --------------------------------------------------------------- */

static void push_value(lua_State *L, struct sl_value_reader *r, enum sl_value_token token);

static void push_string(lua_State *L, const struct sl_value_reader *r)
{
	luaL_Buffer b;
	char *to = luaL_buffinitsize(L, &b, r->length);

	luaL_pushresultsize(&b, sl_value_unquote(r, to));
}

/* What follows '{'.  The text was checked when it came in. */
static void push_table(lua_State *L, struct sl_value_reader *r)
{
	enum sl_value_token token = sl_value_next(r);
	lua_Integer elements = 0;

	luaL_checkstack(L, 8, NULL);
	lua_newtable(L);
	while (token != SL_VALUE_CLOSE && token != SL_VALUE_END && token != SL_VALUE_BAD) {
		if (token == SL_VALUE_NAME) {
			push_string(L, r);
		} else if (token == SL_VALUE_KEY) {
			push_value(L, r, sl_value_next(r));
			sl_value_next(r);	/* ] */
		} else {
			push_value(L, r, token);
			lua_rawseti(L, -2, ++elements);
			goto next;
		}
		sl_value_next(r);		/* = */
		push_value(L, r, sl_value_next(r));
		lua_rawset(L, -3);
next:
		token = sl_value_next(r);
		if (token == SL_VALUE_COMMA)
			token = sl_value_next(r);
	}
}

static void push_value(lua_State *L, struct sl_value_reader *r, enum sl_value_token token)
{
	switch (token) {
	case SL_VALUE_TRUE:
	case SL_VALUE_FALSE:
		lua_pushboolean(L, token == SL_VALUE_TRUE);
		break;
	case SL_VALUE_INTEGER:
		lua_pushinteger(L, r->integer);
		break;
	case SL_VALUE_NUMBER:
		lua_pushnumber(L, r->number);
		break;
	case SL_VALUE_STRING:
		push_string(L, r);
		break;
	case SL_VALUE_OPEN:
		push_table(L, r);
		break;
	default:
		luaL_error(L, "recall: what is remembered is damaged");
	}
}

/* -- methods ------------------------------------------------------------------ */

static const char *check_key(lua_State *L, struct sl_lua *x)
{
	size_t n;
	const char *key = luaL_checklstring(L, 2, &n);

	luaL_argcheck(L, n == strlen(key), 2, "expected printable characters");
	if (!sl_lua_turn_memory(x))
		luaL_error(L, "what is remembered belongs to the partitions that decide, and none do now");
	return key;
}

int sl_lua_plan_remember(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct writer w = { .L = L, .limit = &x->limit };
	struct sl_error err;
	const char *key;

	sl_lua_check(L, x, 1, SL_CLASS_PLAN);
	key = check_key(L, x);
	luaL_checkany(L, 3);
	if (!lua_isnil(L, 3)) {
		lua_rawgetp(L, LUA_REGISTRYINDEX, &text_key);
		w.text = lua_touserdata(L, -1);
		if (!w.text)
			w.text = sl_lua_keep_block(L, &text_key, SL_REMEMBERED_VALUE + 1);
		write_value(&w, 3, 0);
	}
	if (w.full)
		sl_fail(&err, SL_ELIMIT, "the value of '%s' comes to more than %d KiB", key, SL_REMEMBERED_VALUE >> 10);
	else if (!sl_remember_set(x->remember, sl_lua_turn_memory(x), key, w.text, &err)) {
		lua_pushboolean(L, 1);
		return 1;
	}
	if (err.code != SL_ELIMIT)
		return luaL_error(L, "remember: %s", err.text);
	lua_pushnil(L);
	lua_pushstring(L, err.text);
	return 2;
}

int sl_lua_cluster_recall(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	struct sl_value_reader r = { 0 };
	const char *key;

	sl_lua_check(L, x, 1, SL_CLASS_CLUSTER);
	key = check_key(L, x);
	r.at = sl_remember_get(x->remember, sl_lua_turn_memory(x), key);
	if (!r.at) {
		lua_pushnil(L);
		return 1;
	}
	push_value(L, &r, sl_value_next(&r));
	return 1;
}
