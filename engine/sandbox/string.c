/* SPDX-License-Identifier: MIT */
/*
 * sandbox/string.c - the string library of policies.
 *
 * find, match, gmatch and gsub stand on pattern.h, so that no pattern outlives
 * the time limit; rep is bounded by the memory limit and never loops over
 * nothing; format is Lua's but for "%p" and shows no addresses.  len, sub, byte, char,
 * lower, upper and reverse are Lua's: their work is linear in what they are given.
 */
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "sandbox/limit.h"
#include "sandbox/pattern.h"

/* Patterns up to this length are compiled on the C stack. */
#define SHORT_PATTERN 64

/* What sl_pattern_size(SHORT_PATTERN) is at most. */
#define SHORT_SIZE 4096

struct search {
	lua_State *L;
	const struct sl_limit *limit;
	const char *s;
	size_t length;
	struct sl_pattern *p;
	struct sl_match m;
	uint64_t memory[SHORT_SIZE / 8];
};

/* -- searching --------------------------------------------------------- */

/* Not an initializer, which would clear kilobytes for each call. */
static void begin_search(struct search *go, lua_State *L)
{
	go->L = L;
	go->limit = sl_limit_of(L);
}

/* Compile the pattern at *index*.  A long one lives in a userdata on the stack. */
static void compile_pattern(struct search *go, int index, bool anchors)
{
	struct sl_error err = { 0 };
	void *memory = go->memory;
	size_t length;
	const char *text = luaL_checklstring(go->L, index, &length);

	if (length > SL_PATTERN_MAX)
		luaL_error(go->L, "pattern of %I bytes, the limit is %d", (LUAI_UACINT) length, SL_PATTERN_MAX);
	if (sl_pattern_size(length) > sizeof(go->memory))
		memory = lua_newuserdatauv(go->L, sl_pattern_size(length), 0);
	go->p = sl_pattern_compile(memory, text, length, anchors, &err);
	if (!go->p)
		luaL_error(go->L, "%s", err.text);
}

static bool find_match(struct search *go, size_t init, bool only_here)
{
	int r = sl_pattern_match(go->p, go->s, go->length, init, only_here, &go->limit->expired, &go->m);

	if (r < 0)
		sl_limit_raise(go->L);
	return r;
}

/* Push capture k of the match; where there are none, the whole match is one. */
static void push_capture(struct search *go, unsigned k)
{
	const struct sl_match *m = &go->m;

	if (!m->captures && !k)
		lua_pushlstring(go->L, go->s + m->start, m->end - m->start);
	else if (m->capture[k].length == SL_CAPTURE_POSITION)
		lua_pushinteger(go->L, m->capture[k].start + 1);
	else
		lua_pushlstring(go->L, go->s + m->capture[k].start, m->capture[k].length);
}

static int push_captures(struct search *go, bool whole)
{
	unsigned n = go->m.captures;

	if (!n && whole)
		n = 1;
	luaL_checkstack(go->L, n, "too many captures");
	for (unsigned k = 0; k < n; k++)
		push_capture(go, k);
	return n;
}

/* A 1-based position that may count from the end, as an offset; length + 1 when
 * it is behind the end. */
static size_t start_offset(lua_Integer position, size_t length)
{
	if (position > 0)
		return (lua_Unsigned) position - 1 > length ? length + 1 : (size_t) position - 1;
	if (position == 0 || position < -(lua_Integer) length)
		return 0;
	return length + position;
}

static bool is_plain(const char *pattern, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (memchr("^$*+?.([%-", pattern[i], 10))
			return false;
	return true;
}

static int find_plain(struct search *go, const char *what, size_t n, size_t init)
{
	const char *at = memmem(go->s + init, go->length - init, what, n);

	if (!at) {
		lua_pushnil(go->L);
		return 1;
	}
	lua_pushinteger(go->L, at - go->s + 1);
	lua_pushinteger(go->L, at - go->s + n);
	return 2;
}

static int find_or_match(lua_State *L, bool find)
{
	struct search go;
	size_t n, init;
	const char *pattern;

	begin_search(&go, L);
	go.s = luaL_checklstring(L, 1, &go.length);
	pattern = luaL_checklstring(L, 2, &n);
	init = start_offset(luaL_optinteger(L, 3, 1), go.length);
	if (init > go.length) {
		lua_pushnil(L);
		return 1;
	}
	if (find && (lua_toboolean(L, 4) || is_plain(pattern, n)))
		return find_plain(&go, pattern, n, init);
	compile_pattern(&go, 2, true);
	if (!find_match(&go, init, false)) {
		lua_pushnil(L);
		return 1;
	}
	if (!find)
		return push_captures(&go, true);
	lua_pushinteger(L, go.m.start + 1);
	lua_pushinteger(L, go.m.end);
	return push_captures(&go, false) + 2;
}

static int str_find(lua_State *L)
{
	return find_or_match(L, true);
}

static int str_match(lua_State *L)
{
	return find_or_match(L, false);
}

/* Upvalues: subject, pattern, where to go on, end of the last match or -1. */
static int gmatch_next(lua_State *L)
{
	struct search go;
	size_t at = lua_tointeger(L, lua_upvalueindex(3));
	lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));

	begin_search(&go, L);
	go.s = lua_tolstring(L, lua_upvalueindex(1), &go.length);
	compile_pattern(&go, lua_upvalueindex(2), false);
	for (; at <= go.length; at = go.m.start + 1) {
		if (!find_match(&go, at, false))
			break;
		/* An empty match right behind the last one is none. */
		if ((lua_Integer) go.m.end == last)
			continue;
		lua_pushinteger(L, go.m.end);
		lua_copy(L, -1, lua_upvalueindex(3));
		lua_replace(L, lua_upvalueindex(4));
		return push_captures(&go, true);
	}
	lua_pushinteger(L, go.length + 1);
	lua_replace(L, lua_upvalueindex(3));
	return 0;
}

static int str_gmatch(lua_State *L)
{
	size_t length, init;

	luaL_checklstring(L, 1, &length);
	luaL_checkstring(L, 2);
	init = start_offset(luaL_optinteger(L, 3, 1), length);
	lua_settop(L, 2);
	lua_pushinteger(L, init);
	lua_pushinteger(L, -1);
	lua_pushcclosure(L, gmatch_next, 4);
	return 1;
}

/* -- gsub -------------------------------------------------------------- */

/* Add the replacement string at 3 with its %0 ... %9 filled in. */
static void add_string(struct search *go, luaL_Buffer *out)
{
	lua_State *L = go->L;
	size_t n;
	const char *r = lua_tolstring(L, 3, &n);
	const char *end = r + n, *percent;

	while ((percent = memchr(r, '%', end - r)) != NULL) {
		unsigned char c = percent + 1 < end ? percent[1] : 0;

		luaL_addlstring(out, r, percent - r);
		r = percent + 2;
		if (c == '%') {
			luaL_addchar(out, '%');
		} else if (c == '0') {
			luaL_addlstring(out, go->s + go->m.start, go->m.end - go->m.start);
		} else if (c >= '1' && c <= '9') {
			if (c - '1' >= (int) go->m.captures && c != '1')
				luaL_error(L, "invalid capture index %%%d in replacement string", c - '0');
			push_capture(go, c - '1');
			luaL_tolstring(L, -1, NULL);
			lua_remove(L, -2);
			luaL_addvalue(out);
		} else {
			luaL_error(L, "invalid use of '%%' in replacement string");
		}
	}
	luaL_addlstring(out, r, end - r);
}

static void add_replacement(struct search *go, luaL_Buffer *out)
{
	lua_State *L = go->L;
	int n;

	switch (lua_type(L, 3)) {
	case LUA_TFUNCTION:
		lua_pushvalue(L, 3);
		n = push_captures(go, true);
		lua_call(L, n, 1);
		break;
	case LUA_TTABLE:
		push_capture(go, 0);
		lua_gettable(L, 3);
		break;
	default:
		add_string(go, out);
		return;
	}
	if (!lua_toboolean(L, -1)) {
		lua_pop(L, 1);
		luaL_addlstring(out, go->s + go->m.start, go->m.end - go->m.start);
	} else if (lua_isstring(L, -1)) {
		luaL_addvalue(out);
	} else {
		luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
	}
}

static int str_gsub(lua_State *L)
{
	struct search go;
	int type = lua_type(L, 3);
	lua_Integer count = 0, most;
	size_t at = 0, last = (size_t) -1;
	luaL_Buffer out;

	begin_search(&go, L);
	go.s = luaL_checklstring(L, 1, &go.length);
	luaL_checkstring(L, 2);
	most = luaL_optinteger(L, 4, (lua_Integer) go.length + 1);
	luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
			 type == LUA_TTABLE, 3, "string/function/table");
	compile_pattern(&go, 2, true);
	luaL_buffinit(L, &out);
	while (count < most) {
		sl_limit_tick(L, go.limit);
		if (find_match(&go, at, true) && go.m.end != last) {
			count++;
			add_replacement(&go, &out);
			at = last = go.m.end;
		} else if (at < go.length) {
			luaL_addchar(&out, go.s[at++]);
		} else {
			break;
		}
		if (sl_pattern_anchored(go.p))
			break;
	}
	if (at < go.length)
		luaL_addlstring(&out, go.s + at, go.length - at);
	luaL_pushresult(&out);
	lua_pushinteger(L, count);
	return 2;
}

/* -- rep --------------------------------------------------------------- */

static int str_rep(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	size_t length, gap, total;
	const char *s = luaL_checklstring(L, 1, &length);
	lua_Integer n = luaL_checkinteger(L, 2);
	const char *sep = luaL_optlstring(L, 3, "", &gap);
	luaL_Buffer out;
	char *to;

	if (n <= 0 || length + gap == 0) {
		lua_pushliteral(L, "");
		return 1;
	}
	if ((lua_Unsigned) n > limit->cap / (length + gap))
		return luaL_error(L, "resulting string too large");
	total = n * length + (n - 1) * gap;
	to = luaL_buffinitsize(L, &out, total);
	while (n--) {
		sl_limit_tick(L, limit);
		memcpy(to, s, length);
		to += length;
		if (n) {
			memcpy(to, sep, gap);
			to += gap;
		}
	}
	luaL_pushresultsize(&out, total);
	return 1;
}

/* -- format ------------------------------------------------------------ */

static lua_CFunction lua_format;	/* the same in every state */

/* Push the argument as Lua's format takes it, or raise. */
static void push_argument(lua_State *L, int arg, char conversion, bool plain)
{
	size_t length;
	const char *s;

	switch (conversion) {
	case 's':
		luaL_checkany(L, arg);
		s = sl_sandbox_tostring(L, arg, &length);
		luaL_argcheck(L, plain || length == strlen(s), arg, "string contains zeros");
		return;
	case 'q':
		luaL_argcheck(L, lua_type(L, arg) <= LUA_TBOOLEAN || lua_isstring(L, arg), arg, "value has no literal form");
		break;
	case 'c': case 'd': case 'i': case 'u': case 'o': case 'x': case 'X':
		luaL_checkinteger(L, arg);
		break;
	case 'a': case 'A': case 'e': case 'E': case 'f': case 'F': case 'g': case 'G':
		luaL_checknumber(L, arg);
		break;
	case 'p':
		luaL_error(L, "'%%p' is refused: addresses differ from run to run");
	}
	lua_pushvalue(L, arg);
}

/* Add one argument by Lua's format, whose errors do not know where they were made. */
static void add_conversion(lua_State *L, luaL_Buffer *out, int arg, const char *spec, size_t length)
{
	lua_pushcfunction(L, lua_format);
	lua_pushlstring(L, spec, length);
	push_argument(L, arg, spec[length - 1], length == 2);
	switch (lua_pcall(L, 2, 1, 0)) {
	case LUA_OK:
		luaL_addvalue(out);
		return;
	case LUA_ERRRUN:
		luaL_error(L, "%s", lua_tostring(L, -1));
	}
	lua_error(L);
}

int sl_sandbox_format(lua_State *L)
{
	const struct sl_limit *limit = sl_limit_of(L);
	size_t length;
	const char *p = luaL_checklstring(L, 1, &length);
	const char *end = p + length, *percent;
	int arg = 1, args = lua_gettop(L);	/* the buffer lies on the stack too */
	luaL_Buffer out;

	luaL_buffinit(L, &out);
	while ((percent = memchr(p, '%', end - p)) != NULL) {
		sl_limit_tick(L, limit);
		luaL_addlstring(&out, p, percent - p);
		p = percent + 1;
		if (p < end && *p == '%') {
			luaL_addchar(&out, *p++);
			continue;
		}
		p += strspn(p, "-+ #0123456789.");
		p += p < end;
		if (++arg > args)
			luaL_argerror(L, arg, "no value");
		add_conversion(L, &out, arg, percent, p - percent);
	}
	luaL_addlstring(&out, p, end - p);
	luaL_pushresult(&out);
	return 1;
}

/* ---------------------------------------------------------------------- */

void sl_sandbox_string(lua_State *L)
{
	static const char *const keep[] = { "byte", "char", "len", "lower", "reverse", "sub", "upper", NULL };
	static const luaL_Reg own[] = {
		{ "find", str_find }, { "format", sl_sandbox_format }, { "gmatch", str_gmatch }, { "gsub", str_gsub },
		{ "match", str_match }, { "rep", str_rep }, { NULL, NULL }
	};

	lua_pushcfunction(L, luaopen_string);
	lua_call(L, 0, 1);
	lua_getfield(L, -1, "format");
	lua_format = lua_tocfunction(L, -1);
	lua_pop(L, 1);
	luaL_newlib(L, own);
	for (int i = 0; keep[i]; i++) {
		lua_getfield(L, -2, keep[i]);
		lua_setfield(L, -2, keep[i]);
	}
	lua_remove(L, -2);
	/* luaopen_string() gave all strings a metatable: keep its arithmetic. */
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_pushvalue(L, -3);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 2);
}
