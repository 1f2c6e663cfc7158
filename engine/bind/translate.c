/* SPDX-License-Identifier: MIT */
#include "bind/translate.h"

#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "bind/bind.h"
#include "bind/chunk.h"

#define MOST_FUNCTIONS 32
#define MOST_TABLES 64
#define MOST_KEYS 64
#define LONGEST_CHAIN 8			/* of tables that look into each other for what they do not have */

/* Stack: lists of the functions and tables that were met.  Of a table its number stands behind its address, too. */
struct translation {
	lua_State *L;
	struct sl_rank_code *code;
	int functions, tables;
	bool failed;			/* no memory, or too much of something */
};

/* Room for one more of an array of the code.  False: there is none. */
static bool has_room(struct translation *t, void *array, uint32_t *room, uint32_t count, size_t size)
{
	t->failed |= sl_grow(array, room, count + UINT64_C(1), size, NULL) < 0;
	return !t->failed;
}

/* -- values ------------------------------------------------------------------ */

static const struct sl_rank_value other = { .kind = SL_RANK_OTHER };

static struct sl_rank_value text_value(struct translation *t, const char *text, size_t length)
{
	struct sl_rank_code *code = t->code;
	char *copy;

	if (memchr(text, 0, length) || !has_room(t, &code->text, &code->text_room, code->texts, sizeof(*code->text)))
		return other;
	copy = strndup(text, length);
	if (!copy) {
		t->failed = true;
		return other;
	}
	code->text[code->texts++] = copy;
	return (struct sl_rank_value) { .kind = SL_RANK_TEXT, .text = copy };
}

/* Which function of math is on the top of the stack?  -1: none that is known. */
static int find_builtin(lua_State *L)
{
	static const char *const name[] = {
		[SL_RANK_ABS] = "abs", [SL_RANK_CEIL] = "ceil", [SL_RANK_EXP] = "exp", [SL_RANK_FLOOR] = "floor",
		[SL_RANK_LOG] = "log", [SL_RANK_MAX] = "max", [SL_RANK_MIN] = "min", [SL_RANK_SQRT] = "sqrt",
	};
	lua_CFunction f = lua_tocfunction(L, -1);
	int found = -1;

	lua_pushcfunction(L, luaopen_math);
	lua_call(L, 0, 1);
	for (int i = 0; i < (int) (sizeof(name) / sizeof(name[0])); i++) {
		lua_getfield(L, -1, name[i]);
		found = lua_tocfunction(L, -1) == f ? i : found;
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return found;
}

/* The function on the top of the stack. */
static struct sl_rank_value function_value(struct translation *t)
{
	lua_State *L = t->L;
	struct sl_rank_code *code = t->code;
	const void *origin = lua_topointer(L, -1);
	uint32_t i = 0;

	if (lua_iscfunction(L, -1)) {
		int builtin = lua_getupvalue(L, -1, 1) ? (lua_pop(L, 1), -1) : find_builtin(L);

		return builtin < 0 ? other : (struct sl_rank_value) { .kind = SL_RANK_BUILTIN, .at = (uint32_t) builtin };
	}
	while (i < code->functions && code->function[i].origin != origin)
		i++;
	if (i == code->functions) {
		if (i == MOST_FUNCTIONS || !has_room(t, &code->function, &code->function_room, i, sizeof(*code->function)))
			return other;
		code->function[code->functions++] = (struct sl_rank_function) { .origin = origin };
		lua_pushvalue(L, -1);
		lua_rawseti(L, t->functions, i + 1);
	}
	return (struct sl_rank_value) { .kind = SL_RANK_FUNCTION, .at = i };
}

/* The table on the top of the stack. */
static struct sl_rank_value table_value(struct translation *t)
{
	lua_State *L = t->L;
	struct sl_rank_value v = { .kind = SL_RANK_TABLE };
	const void *address = lua_topointer(L, -1);

	if (lua_rawgetp(L, t->tables, address) == LUA_TNIL) {
		if (t->code->tables == MOST_TABLES) {
			lua_pop(L, 1);
			return other;
		}
		lua_pop(L, 1);
		lua_pushvalue(L, -1);
		lua_rawseti(L, t->tables, ++t->code->tables);
		lua_pushinteger(L, t->code->tables);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, t->tables, address);
	}
	v.at = (uint32_t) lua_tointeger(L, -1) - 1;
	lua_pop(L, 1);
	return v;
}

/* What is on the top of the stack, which is popped. */
static struct sl_rank_value pop_value(struct translation *t)
{
	lua_State *L = t->L;
	struct sl_rank_value v = other;
	const char *text;
	size_t length;

	switch (lua_type(L, -1)) {
	case LUA_TNIL:
		v.kind = SL_RANK_NIL;
		break;
	case LUA_TBOOLEAN:
		v.kind = lua_toboolean(L, -1) ? SL_RANK_TRUE : SL_RANK_FALSE;
		break;
	case LUA_TNUMBER:
		if (lua_isinteger(L, -1))
			v = (struct sl_rank_value) { .kind = SL_RANK_INTEGER, .integer = lua_tointeger(L, -1) };
		else
			v = (struct sl_rank_value) { .kind = SL_RANK_FLOAT, .number = lua_tonumber(L, -1) };
		break;
	case LUA_TSTRING:
		text = lua_tolstring(L, -1, &length);
		v = text_value(t, text, length);
		break;
	case LUA_TTABLE:
		v = table_value(t);
		break;
	case LUA_TFUNCTION:
		v = function_value(t);
		break;
	}
	lua_pop(L, 1);
	return v;
}

/* Of the table on the top of the stack, which is popped, the element *name*.  Tables that it looks into are looked into; no
 * function is called for it. */
static struct sl_rank_value pop_element(struct translation *t, const char *name)
{
	lua_State *L = t->L;
	int top = lua_gettop(L);
	struct sl_rank_value v = other;

	for (int i = 0; i < LONGEST_CHAIN && lua_istable(L, -1); i++) {
		lua_pushstring(L, name);
		if (lua_rawget(L, -2) != LUA_TNIL || !lua_getmetatable(L, -2)) {
			v = pop_value(t);
			break;
		}
		lua_pushliteral(L, "__index");
		if (lua_rawget(L, -2) == LUA_TNIL) {
			v = pop_value(t);
			break;
		}
	}
	lua_settop(L, top - 1);
	return v;
}

/* -- keys -------------------------------------------------------------------- */

/* A flag of a set is a field of its own, unless one before it has that name. */
static void find_flag(struct sl_rank_key *key)
{
	const struct sl_table *job = &sl_snapshot_schema.table[SL_T_JOB];

	for (uint32_t i = 0; i < job->columns; i++) {
		const struct sl_words *words = sl_schema_words(&sl_snapshot_schema, SL_T_JOB, i);

		for (uint32_t k = 0; words && words->flags && k < words->count; k++) {
			if (strcasecmp(words->word[k].word, key->name))
				continue;
			key->of_job = SL_RANK_FLAG;
			key->view_offset = job->column[i].view_offset;
			key->bit = (uint8_t) __builtin_ctz(words->word[k].value);
			return;
		}
	}
}

/* In small letters, as the names of flags are. */
static bool is_lower(const char *name)
{
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			return false;
	return true;
}

static void find_column(struct sl_rank_key *key)
{
	static const enum sl_rank_source source[] = { [SL_TYPE_u32] = SL_RANK_U32, [SL_TYPE_i64] = SL_RANK_I64,
		[SL_TYPE_f64] = SL_RANK_F64, [SL_TYPE_str] = SL_RANK_STR };
	const struct sl_table *job = &sl_snapshot_schema.table[SL_T_JOB];

	for (uint32_t i = 0; i < job->columns; i++) {
		const struct sl_column *c = &job->column[i];

		if (strcmp(c->name, key->name))
			continue;
		if (c->type == SL_TYPE_ref || c->type == SL_TYPE_range || sl_schema_words(&sl_snapshot_schema, SL_T_JOB, i))
			return;
		key->of_job = source[c->type];
		key->view_offset = c->view_offset;
		key->missing = c->missing;
		key->unsaid = sl_lua_may_be_unsaid(SL_T_JOB, c->name);
		return;
	}
	if (is_lower(key->name))
		find_flag(key);
}

static void find_source(struct sl_rank_key *key)
{
	static const struct {
		const char *name;
		enum sl_rank_source source;
	} known[] = {
		{ "cpus", SL_RANK_CPUS }, { "tasks", SL_RANK_TASKS }, { "gpus", SL_RANK_GPUS }, { "waited", SL_RANK_SINCE_SUBMITTED },
		{ "user", SL_RANK_USER }, { "partition", SL_RANK_PARTITION },
	};

	key->of_cluster = !strcmp(key->name, "now") ? SL_RANK_NOW : !strcmp(key->name, "origin") ? SL_RANK_ORIGIN : SL_RANK_NO_TIME;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(key->name, known[i].name))
			key->of_job = known[i].source;
	if (!key->of_job && !sl_lua_job_computes(key->name))
		find_column(key);
}

/* The number of a key.  -1: there are too many. */
static int32_t find_key(struct translation *t, const struct sl_chunk_constant *c)
{
	struct sl_rank_code *code = t->code;
	struct sl_rank_value name = c->kind == SL_CHUNK_TEXT ? text_value(t, c->text, c->length) : other;
	struct sl_rank_key key = { .of_job = SL_RANK_NO_FIELD };
	uint32_t i = 0;

	if (name.kind != SL_RANK_TEXT)
		return -1;
	while (i < code->keys && strcmp(code->key[i].name, name.text))
		i++;
	if (i < code->keys)
		return (int32_t) i;
	if (i == MOST_KEYS || !has_room(t, &code->key, &code->key_room, i, sizeof(key)))
		return -1;
	key.name = name.text;
	find_source(&key);
	code->key[code->keys++] = key;
	return (int32_t) i;
}

/* -- instructions ------------------------------------------------------------- */

/* A value of the code: its number, or -1. */
static int32_t add_value(struct translation *t, struct sl_rank_value v)
{
	struct sl_rank_code *code = t->code;

	if (!has_room(t, &code->value, &code->value_room, code->values, sizeof(v)))
		return -1;
	code->value[code->values] = v;
	return (int32_t) code->values++;
}

static int32_t add_integer(struct translation *t, int32_t i)
{
	return add_value(t, (struct sl_rank_value) { .kind = SL_RANK_INTEGER, .integer = i });
}

static int32_t add_kind(struct translation *t, enum sl_rank_kind kind)
{
	return add_value(t, (struct sl_rank_value) { .kind = kind });
}

static int32_t add_constant(struct translation *t, const struct sl_chunk_constant *c)
{
	switch (c->kind) {
	case SL_CHUNK_NIL:
		return add_kind(t, SL_RANK_NIL);
	case SL_CHUNK_FALSE:
		return add_kind(t, SL_RANK_FALSE);
	case SL_CHUNK_TRUE:
		return add_kind(t, SL_RANK_TRUE);
	case SL_CHUNK_INTEGER:
		return add_value(t, (struct sl_rank_value) { .kind = SL_RANK_INTEGER, .integer = c->integer });
	case SL_CHUNK_FLOAT:
		return add_value(t, (struct sl_rank_value) { .kind = SL_RANK_FLOAT, .number = c->number });
	case SL_CHUNK_TEXT:
		return add_value(t, text_value(t, c->text, c->length));
	}
	return -1;
}

/* A variable from outside of the function on the top of the stack; or an element of it. */
static int32_t add_upvalue(struct translation *t, uint8_t number, const struct sl_chunk_constant *name)
{
	struct sl_rank_value text = name ? text_value(t, name->text, name->kind == SL_CHUNK_TEXT ? name->length : 0) : other;

	if ((name && text.kind != SL_RANK_TEXT) || !lua_getupvalue(t->L, -1, number + 1))
		return -1;
	return add_value(t, name ? pop_element(t, text.text) : pop_value(t));
}

/* Where a function is, for what translates one instruction of it. */
struct place {
	const struct sl_chunk *chunk;
	uint32_t at;
	uint32_t i;			/* the instruction there */
};

static const struct sl_chunk_constant *constant_at(const struct place *p, uint32_t number)
{
	static const struct sl_chunk_constant none = { .kind = SL_CHUNK_NIL };

	return number < p->chunk->constants ? &p->chunk->constant[number] : &none;
}

/* Loads.  False: it is none. */
static bool translate_load(struct translation *t, const struct place *p, struct sl_rank_step *s)
{
	uint32_t i = p->i;

	s->op = SL_RANK_LOAD;
	switch (sl_chunk_op(i)) {
	case OP_LOADI:
		s->x = add_integer(t, sl_chunk_sbx(i));
		return true;
	case OP_LOADF:
		s->x = add_value(t, (struct sl_rank_value) { .kind = SL_RANK_FLOAT, .number = sl_chunk_sbx(i) });
		return true;
	case OP_LOADK:
		s->x = add_constant(t, constant_at(p, sl_chunk_bx(i)));
		return true;
	case OP_LOADFALSE:
		s->x = add_kind(t, SL_RANK_FALSE);
		return true;
	case OP_LOADTRUE:
		s->x = add_kind(t, SL_RANK_TRUE);
		return true;
	case OP_GETUPVAL:
		s->x = add_upvalue(t, s->b, NULL);
		return true;
	case OP_GETTABUP:
		s->x = add_upvalue(t, s->b, constant_at(p, s->c));
		return true;
	case OP_GETFIELD:
		s->op = SL_RANK_FIELD;
		s->x = find_key(t, constant_at(p, s->c));
		return true;
	case OP_LOADNIL:
		s->op = SL_RANK_LOAD_NIL;
		return true;
	case OP_LFALSESKIP:
		s->op = SL_RANK_LOAD_FALSE_SKIP;
		return true;
	case OP_MOVE:
		s->op = SL_RANK_MOVE;
		return true;
	}
	return false;
}

static bool translate_arithmetic(struct translation *t, const struct place *p, struct sl_rank_step *s)
{
	static const enum sl_rank_arithmetic sub[] = { SL_RANK_ADD, SL_RANK_SUB, SL_RANK_MUL, SL_RANK_MOD, SL_RANK_POW, SL_RANK_DIV,
		SL_RANK_IDIV };
	unsigned op = sl_chunk_op(p->i);

	if (op == OP_ADDI) {
		s->op = SL_RANK_ARITHMETIC_V;
		s->sub = SL_RANK_ADD;
		s->x = add_integer(t, sl_chunk_sc(p->i));
	} else if (op >= OP_ADDK && op <= OP_IDIVK) {
		s->op = SL_RANK_ARITHMETIC_V;
		s->sub = sub[op - OP_ADDK];
		s->x = add_constant(t, constant_at(p, s->c));
	} else if (op >= OP_ADD && op <= OP_IDIV) {
		s->op = SL_RANK_ARITHMETIC;
		s->sub = sub[op - OP_ADD];
	} else if (op == OP_UNM || op == OP_NOT) {
		s->op = op == OP_UNM ? SL_RANK_MINUS : SL_RANK_NOT;
	} else if (op >= OP_MMBIN && op <= OP_MMBINK) {
		s->op = SL_RANK_NEVER;
	} else {
		return false;
	}
	return true;
}

static bool translate_test(struct translation *t, const struct place *p, struct sl_rank_step *s)
{
	static const enum sl_rank_comparison with_integer[] = { SL_RANK_EQ, SL_RANK_LT, SL_RANK_LE, SL_RANK_GT, SL_RANK_GE };
	unsigned op = sl_chunk_op(p->i);

	if (op >= OP_EQ && op <= OP_LE) {
		s->op = SL_RANK_COMPARE;
		s->sub = op == OP_EQ ? SL_RANK_EQ : op == OP_LT ? SL_RANK_LT : SL_RANK_LE;
	} else if (op == OP_EQK) {
		s->op = SL_RANK_COMPARE_V;
		s->sub = SL_RANK_EQ;
		s->x = add_constant(t, constant_at(p, s->b));
	} else if (op >= OP_EQI && op <= OP_GEI) {
		s->op = SL_RANK_COMPARE_V;
		s->sub = with_integer[op - OP_EQI];
		s->x = add_integer(t, sl_chunk_sb(p->i));
	} else if (op == OP_TEST || op == OP_TESTSET) {
		s->op = op == OP_TEST ? SL_RANK_TEST : SL_RANK_TEST_SET;
	} else {
		return false;
	}
	return true;
}

/* Calls, returns and jumps. */
static bool translate_flow(const struct place *p, struct sl_rank_step *s)
{
	const uint32_t *next = &p->chunk->instruction[p->at + 1];
	bool is_last = p->at + 1 == p->chunk->instructions;

	switch (sl_chunk_op(p->i)) {
	case OP_JMP:
		s->op = SL_RANK_JUMP;
		s->x = sl_chunk_sj(p->i);
		return s->x >= 0 && (uint32_t) s->x < p->chunk->instructions - p->at - 1;
	case OP_TAILCALL:
		s->c = 0;
		if (s->k || is_last || sl_chunk_op(*next) != OP_RETURN || sl_chunk_b(*next))
			return false;
		/* fall through */
	case OP_CALL:
		s->op = SL_RANK_CALL;
		return true;
	case OP_RETURN:
		s->op = SL_RANK_RETURN;
		return !s->k;
	case OP_RETURN0:
	case OP_RETURN1:
		s->op = SL_RANK_RETURN;
		s->b = sl_chunk_op(p->i) == OP_RETURN0 ? 1 : 2;
		return true;
	}
	return false;
}

/* Is there a step at which the function goes on behind this one, and behind the next where that may be left out? */
static bool goes_on(const struct place *p, const struct sl_rank_step *s)
{
	uint32_t left = p->chunk->instructions - p->at - 1;

	switch ((enum sl_rank_op) s->op) {
	case SL_RANK_RETURN:
	case SL_RANK_JUMP:
		return true;
	case SL_RANK_ARITHMETIC:
	case SL_RANK_ARITHMETIC_V:
	case SL_RANK_LOAD_FALSE_SKIP:
	case SL_RANK_COMPARE:
	case SL_RANK_COMPARE_V:
	case SL_RANK_TEST:
	case SL_RANK_TEST_SET:
		return left > 1;
	default:
		return left > 0;
	}
}

/* The function on the top of the stack.  False: it cannot be. */
static bool translate_steps(struct translation *t, const struct sl_chunk *chunk, struct sl_rank_step *step)
{
	for (uint32_t at = 0; at < chunk->instructions; at++) {
		const struct place p = { chunk, at, chunk->instruction[at] };
		struct sl_rank_step s = { .a = sl_chunk_a(p.i), .b = sl_chunk_b(p.i), .c = sl_chunk_c(p.i), .k = sl_chunk_k(p.i) };

		if (!translate_load(t, &p, &s) && !translate_arithmetic(t, &p, &s) && !translate_test(t, &p, &s) &&
		    !translate_flow(&p, &s))
			return false;
		if (s.x < 0 || t->failed || !goes_on(&p, &s))
			return false;
		step[at] = s;
	}
	return true;
}

/* The function of that number.  If it cannot be translated it has no steps. */
static void translate_function(struct translation *t, uint32_t number)
{
	struct sl_rank_step *step = NULL;
	struct sl_rank_function *f;
	struct sl_chunk chunk;

	lua_rawgeti(t->L, t->functions, number + 1);
	if (!sl_chunk_read(t->L, &chunk)) {
		step = chunk.takes_more || !chunk.instructions ? NULL : calloc(chunk.instructions, sizeof(*step));
		if (step && !translate_steps(t, &chunk, step)) {
			free(step);
			step = NULL;
		}
		f = &t->code->function[number];
		f->step = step;
		f->steps = chunk.instructions;
		f->parameters = chunk.parameters;
		f->registers = chunk.registers;
		sl_chunk_free(&chunk);
	}
	lua_pop(t->L, 1);
}

/* -- all of it ------------------------------------------------------------------ */

/* Functions lead to tables, and elements of these to functions, and so on, as far as there are keys. */
static void translate_all(struct translation *t)
{
	struct sl_rank_code *code = t->code;
	uint32_t done = 0, elements;

	do {
		for (; done < code->functions && !t->failed; done++)
			translate_function(t, done);
		elements = code->tables * code->keys;
		free(code->element);
		code->element = calloc(elements + 1u, sizeof(*code->element));
		t->failed |= !code->element || !code->function[0].step;
		for (uint32_t i = 0; i < elements && !t->failed; i++) {
			lua_rawgeti(t->L, t->tables, i / code->keys + 1);
			code->element[i] = pop_element(t, code->key[i % code->keys].name);
		}
	} while (!t->failed && (done < code->functions || elements < code->tables * code->keys));
	code->timeless = true;
	for (uint32_t i = 0; i < code->keys; i++)
		code->timeless &= code->key[i].of_cluster != SL_RANK_NOW && code->key[i].of_job != SL_RANK_SINCE_SUBMITTED;
}

/* The rank() of the part at *part*: the function, and its options.  False: there is none, or it is given more than that. */
static bool push_rank(struct translation *t, int part)
{
	lua_State *L = t->L;

	if (lua_getfield(L, part, "state") != LUA_TNIL || lua_getfield(L, part, "policy") != LUA_TTABLE ||
	    lua_getfield(L, -1, "rank") != LUA_TFUNCTION || lua_iscfunction(L, -1))
		return false;
	function_value(t);
	lua_getfield(L, part, "values");
	t->code->options = pop_value(t);
	return true;
}

const struct sl_rank_code *sl_lua_translate_rank(lua_State *L, struct sl_lua *x, int index)
{
	struct translation t = { .L = L };
	int top = lua_gettop(L);

	index = lua_absindex(L, index);
	if (x->rank_part)
		return x->rank_part == lua_topointer(L, index) && !x->rank_failed ? x->rank_code : NULL;
	luaL_checkstack(L, 4 * LONGEST_CHAIN + 24, NULL);
	x->rank_part = lua_topointer(L, index);
	x->rank_failed = true;
	x->rank_code = t.code = calloc(1, sizeof(*t.code));
	if (!t.code)
		return NULL;
	lua_newtable(L);
	t.functions = lua_gettop(L);
	lua_newtable(L);
	t.tables = lua_gettop(L);
	if (push_rank(&t, index) && !t.failed)
		translate_all(&t);
	else
		t.failed = true;
	lua_settop(L, top);
	x->rank_failed = t.failed;
	return t.failed ? NULL : t.code;
}
