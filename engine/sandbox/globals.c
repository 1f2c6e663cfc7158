/* SPDX-License-Identifier: MIT */
/*
 * globals.c - accesses to global variables, found in dumped bytecode of Lua 5.4.
 */
#include "sandbox/globals.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <lauxlib.h>

/* Signature, version, format, data that a text conversion would damage, sizes. */
static const char header[] = LUA_SIGNATURE "\x54\x00\x19\x93\r\n\x1a\n\x04\x08\x08";
#define HEADER_NUMBERS 16	/* an integer and a float follow, then the number of upvalues */

enum { TAG_NIL = 0x00, TAG_FALSE = 0x01, TAG_TRUE = 0x11, TAG_INTEGER = 0x03, TAG_FLOAT = 0x13,
       TAG_SHORT = 0x04, TAG_LONG = 0x14 };
enum { OP_GETUPVAL = 9, OP_GETTABUP = 11, OP_GETFIELD = 14, OP_SETTABUP = 15 };
#define LINE_IS_ABSOLUTE (-128)

struct reader {
	lua_State *L;
	const uint8_t *p, *end;
	int reads, sets, locals;	/* where the tables are */
	lua_Integer n;			/* of reads */
	bool unknown;			/* not what was expected, or not to be told */
};

struct constant {
	const char *text;		/* NULL: no string */
	size_t length;
};

/* One function; pointers into the dump and arrays that the Lua state owns. */
struct function {
	const uint8_t *code, *line;
	size_t instructions, lines, constants, upvalues;
	struct constant *constant;
	bool *env;			/* is this upvalue the chunk's _ENV? */
	uint64_t defined;		/* at this line */
};

/* -- bytes ------------------------------------------------------------- */

static const uint8_t *take_bytes(struct reader *r, uint64_t n)
{
	const uint8_t *p = r->p;

	if (r->unknown || n > (uint64_t) (r->end - r->p)) {
		r->unknown = true;
		return NULL;
	}
	r->p += n;
	return p;
}

static uint8_t take_byte(struct reader *r)
{
	const uint8_t *p = take_bytes(r, 1);

	return p ? *p : 0;
}

/* Seven bits a byte, the most significant ones first, the last byte marked. */
static uint64_t take_size(struct reader *r)
{
	uint64_t x = 0;

	for (int i = 0; i < 10; i++) {
		uint8_t byte = take_byte(r);

		x = x << 7 | (byte & 0x7f);
		if (byte & 0x80)
			return x;
	}
	r->unknown = true;
	return 0;
}

/* A number of things that take a byte each at least. */
static size_t take_count(struct reader *r)
{
	uint64_t n = take_size(r);

	if (n > (uint64_t) (r->end - r->p))
		r->unknown = true;
	return r->unknown ? 0 : n;
}

static struct constant take_string(struct reader *r)
{
	uint64_t size = take_size(r);
	struct constant s = { NULL, 0 };

	if (size) {
		s.length = size - 1;
		s.text = (const char *) take_bytes(r, s.length);
	}
	return s;
}

/* -- what is found ----------------------------------------------------- */

static void add_name(struct reader *r, int table, struct constant name)
{
	lua_pushlstring(r->L, name.text, name.length);
	lua_pushboolean(r->L, true);
	lua_rawset(r->L, table);
}

static void add_read(struct reader *r, struct constant name, struct constant field, uint64_t line)
{
	lua_pushlstring(r->L, name.text, name.length);
	lua_rawseti(r->L, r->reads, ++r->n);
	lua_pushlstring(r->L, field.text ? field.text : "", field.text ? field.length : 0);
	lua_rawseti(r->L, r->reads, ++r->n);
	lua_pushinteger(r->L, (lua_Integer) line);
	lua_rawseti(r->L, r->reads, ++r->n);
}

/* -- a function -------------------------------------------------------- */

static unsigned op_of(uint32_t i) { return i & 0x7f; }
static unsigned a_of(uint32_t i) { return i >> 7 & 0xff; }
static unsigned b_of(uint32_t i) { return i >> 16 & 0xff; }
static unsigned c_of(uint32_t i) { return i >> 24; }

static uint32_t instruction(const struct function *f, size_t pc)
{
	uint32_t i;

	memcpy(&i, f->code + 4 * pc, sizeof(i));
	return i;
}

static bool is_env(const struct function *f, unsigned upvalue)
{
	return upvalue < f->upvalues && f->env[upvalue];
}

static struct constant string_at(const struct function *f, unsigned index)
{
	return index < f->constants ? f->constant[index] : (struct constant) { NULL, 0 };
}

/* What a global that was just read into register *a* is indexed with, if it is at once. */
static struct constant field_after(const struct function *f, size_t pc, unsigned a)
{
	uint32_t next = pc + 1 < f->instructions ? instruction(f, pc + 1) : 0;

	if (op_of(next) == OP_GETFIELD && b_of(next) == a)
		return string_at(f, c_of(next));
	return (struct constant) { NULL, 0 };
}

static void note_access(struct reader *r, const struct function *f, size_t pc, uint64_t line)
{
	uint32_t i = instruction(f, pc);
	struct constant name;

	switch (op_of(i)) {
	case OP_GETTABUP:
		name = string_at(f, c_of(i));
		if (is_env(f, b_of(i)) && name.text)
			add_read(r, name, field_after(f, pc, a_of(i)), line);
		break;
	case OP_SETTABUP:
		name = string_at(f, b_of(i));
		if (is_env(f, a_of(i)) && name.text)
			add_name(r, r->sets, name);
		break;
	case OP_GETUPVAL:
		if (is_env(f, b_of(i)))
			r->unknown = true;
		break;
	}
}

static void take_constants(struct reader *r, struct function *f)
{
	f->constants = take_count(r);
	f->constant = lua_newuserdatauv(r->L, f->constants * sizeof(*f->constant) + 1, 0);
	for (size_t i = 0; i < f->constants && !r->unknown; i++) {
		f->constant[i] = (struct constant) { NULL, 0 };
		switch (take_byte(r)) {
		case TAG_NIL: case TAG_FALSE: case TAG_TRUE:
			break;
		case TAG_INTEGER: case TAG_FLOAT:
			take_bytes(r, 8);
			break;
		case TAG_SHORT: case TAG_LONG:
			f->constant[i] = take_string(r);
			break;
		default:
			r->unknown = true;
		}
	}
}

/* An upvalue is _ENV when it is the main chunk's only one, or a parent's that is. */
static void take_upvalues(struct reader *r, struct function *f, const struct function *parent)
{
	f->upvalues = take_count(r);
	f->env = lua_newuserdatauv(r->L, f->upvalues + 1, 0);
	for (size_t i = 0; i < f->upvalues && !r->unknown; i++) {
		bool in_stack = take_byte(r);
		uint8_t index = take_byte(r);

		take_byte(r);
		f->env[i] = parent ? !in_stack && is_env(parent, index) : i == 0;
	}
}

/* Lines, names of locals and upvalues; the instructions are looked at on the way. */
static void take_debug(struct reader *r, struct function *f)
{
	uint64_t line = f->defined;
	size_t absolute, n;

	f->lines = take_count(r);
	f->line = take_bytes(r, f->lines);
	absolute = take_count(r);
	if (f->lines != f->instructions)
		r->unknown = true;
	for (size_t pc = 0; pc < f->lines && !r->unknown; pc++) {
		int8_t step = (int8_t) f->line[pc];

		if (step != LINE_IS_ABSOLUTE) {
			line += step;
		} else if (absolute--) {
			take_size(r);
			line = take_size(r);
		} else {
			r->unknown = true;
		}
		if (!r->unknown)
			note_access(r, f, pc, line);
	}
	for (n = take_count(r); n && !r->unknown; n--) {
		struct constant name = take_string(r);

		if (name.text && name.length && *name.text != '(')
			add_name(r, r->locals, name);
		take_size(r);
		take_size(r);
	}
	for (n = take_count(r); n && !r->unknown; n--)
		take_string(r);
}

static void take_function(struct reader *r, const struct function *parent)
{
	struct function f = { 0 };
	int top = lua_gettop(r->L);

	luaL_checkstack(r->L, 10, NULL);
	take_string(r);		/* source */
	f.defined = take_size(r);
	take_size(r);
	take_bytes(r, 3);		/* parameters, vararg, stack */
	f.instructions = take_count(r);
	f.code = take_bytes(r, 4 * (uint64_t) f.instructions);
	take_constants(r, &f);
	take_upvalues(r, &f, parent);
	for (size_t n = take_count(r); n && !r->unknown; n--)
		take_function(r, &f);
	take_debug(r, &f);
	lua_settop(r->L, top);
}

/* -- a chunk ----------------------------------------------------------- */

struct dump {
	luaL_Buffer buffer;
	bool begun;
};

/* The buffer may use the stack, where lua_dump() wants the function on the top first. */
static int add_to_dump(lua_State *L, const void *p, size_t n, void *arg)
{
	struct dump *d = arg;

	if (!d->begun) {
		luaL_buffinit(L, &d->buffer);
		d->begun = true;
	}
	luaL_addlstring(&d->buffer, p, n);
	return 0;
}

bool sl_globals_scan(lua_State *L)
{
	struct reader r = { .L = L };
	struct dump dump = { .begun = false };
	int top = lua_gettop(L);
	const uint8_t *head;
	size_t size;

	luaL_checkstack(L, 10, NULL);
	lua_pushvalue(L, top);
	if (lua_dump(L, add_to_dump, &dump, false) || !dump.begun) {
		lua_settop(L, top);
		return false;
	}
	luaL_pushresult(&dump.buffer);
	r.p = (const uint8_t *) lua_tolstring(L, -1, &size);
	r.end = r.p + size;
	for (int i = 0; i < 3; i++)
		lua_newtable(L);
	r.locals = lua_gettop(L);
	r.sets = r.locals - 1;
	r.reads = r.locals - 2;
	head = take_bytes(&r, sizeof(header) - 1);
	if (!head || memcmp(head, header, sizeof(header) - 1))
		r.unknown = true;
	take_bytes(&r, HEADER_NUMBERS + 1);
	if (!r.unknown)
		take_function(&r, NULL);
	if (r.unknown || r.p != r.end) {
		lua_settop(L, top);
		return false;
	}
	lua_remove(L, top + 2);		/* the dump */
	lua_remove(L, top + 1);		/* the chunk's copy */
	return true;
}
