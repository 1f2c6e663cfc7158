/* SPDX-License-Identifier: MIT */
/*
 * bind/chunk.h - what Lua compiled a function to, as far as bind/translate.c wants to know it.
 *
 * The only way to that is lua_dump(), whose format belongs to one version of Lua.  What is not as expected is no chunk:
 * nobody depends on there being one.
 *
 * Threads: none.
 */
#ifndef SL_LUA_CHUNK_H
#define SL_LUA_CHUNK_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

/* Lua 5.4's instructions, in their order. */
enum sl_chunk_op {
	OP_MOVE, OP_LOADI, OP_LOADF, OP_LOADK, OP_LOADKX, OP_LOADFALSE, OP_LFALSESKIP, OP_LOADTRUE, OP_LOADNIL, OP_GETUPVAL,
	OP_SETUPVAL, OP_GETTABUP, OP_GETTABLE, OP_GETI, OP_GETFIELD, OP_SETTABUP, OP_SETTABLE, OP_SETI, OP_SETFIELD, OP_NEWTABLE,
	OP_SELF, OP_ADDI, OP_ADDK, OP_SUBK, OP_MULK, OP_MODK, OP_POWK, OP_DIVK, OP_IDIVK, OP_BANDK, OP_BORK, OP_BXORK, OP_SHRI,
	OP_SHLI, OP_ADD, OP_SUB, OP_MUL, OP_MOD, OP_POW, OP_DIV, OP_IDIV, OP_BAND, OP_BOR, OP_BXOR, OP_SHL, OP_SHR, OP_MMBIN,
	OP_MMBINI, OP_MMBINK, OP_UNM, OP_BNOT, OP_NOT, OP_LEN, OP_CONCAT, OP_CLOSE, OP_TBC, OP_JMP, OP_EQ, OP_LT, OP_LE, OP_EQK,
	OP_EQI, OP_LTI, OP_LEI, OP_GTI, OP_GEI, OP_TEST, OP_TESTSET, OP_CALL, OP_TAILCALL, OP_RETURN, OP_RETURN0, OP_RETURN1,
};

/* Fields of an instruction; the signed ones as Lua counts them. */
static inline unsigned sl_chunk_op(uint32_t i) { return i & 0x7f; }
static inline uint8_t sl_chunk_a(uint32_t i) { return (uint8_t) (i >> 7); }
static inline bool sl_chunk_k(uint32_t i) { return i >> 15 & 1; }
static inline uint8_t sl_chunk_b(uint32_t i) { return (uint8_t) (i >> 16); }
static inline uint8_t sl_chunk_c(uint32_t i) { return (uint8_t) (i >> 24); }
static inline int32_t sl_chunk_sb(uint32_t i) { return sl_chunk_b(i) - 127; }
static inline int32_t sl_chunk_sc(uint32_t i) { return sl_chunk_c(i) - 127; }
static inline uint32_t sl_chunk_bx(uint32_t i) { return i >> 15; }
static inline int32_t sl_chunk_sbx(uint32_t i) { return (int32_t) sl_chunk_bx(i) - 65535; }
static inline int32_t sl_chunk_sj(uint32_t i) { return (int32_t) (i >> 7) - 16777215; }

enum sl_chunk_constant_kind { SL_CHUNK_NIL, SL_CHUNK_FALSE, SL_CHUNK_TRUE, SL_CHUNK_INTEGER, SL_CHUNK_FLOAT, SL_CHUNK_TEXT };
struct sl_chunk_constant {
	enum sl_chunk_constant_kind kind;
	int64_t integer;
	double number;
	const char *text;		/* not ended by a 0 */
	size_t length;
};

struct sl_chunk {
	uint8_t parameters, registers;
	bool takes_more;		/* ... */
	uint32_t instructions, constants;
	uint32_t *instruction;
	struct sl_chunk_constant *constant;
	void *bytes;
};

/* Of the Lua function on the top of the stack.  0; -1: there is none.  Raises nothing. */
int sl_chunk_read(lua_State *L, struct sl_chunk *chunk);
void sl_chunk_free(struct sl_chunk *chunk);

#endif
