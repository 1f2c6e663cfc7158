/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - what a policy finds in its Lua state, and nothing else.
 *
 * The libraries are allow-listed, function by function: base (without load,
 * dofile, collectgarbage), string (without dump and pack), table, math (without
 * random) and utf8.  There is no io, os, debug, coroutine or package.  What
 * could run for long inside one C call is this project's own: patterns
 * (pattern.h), rep, format, the table library; each of their loops looks at the
 * time limit.  What could differ from run to run does not: pairs() and next()
 * go by key, sort() is stable, tostring() shows no address.
 *
 * Every chunk has an environment of its own, which reads through to the shared
 * globals; those and the libraries are read-only.  Text chunks only.
 *
 * All functions may raise Lua errors (memory) and are to be called in protected
 * mode, in a state made by sl_limit_newstate().
 */
#ifndef SL_SANDBOX_H
#define SL_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

/* Set up the sandbox in a fresh state; once. */
void sl_sandbox_open(lua_State *L);

/* Push the table of shared globals, for the owner of the state to add to. */
void sl_sandbox_globals(lua_State *L);

/*
 * What a text compiled to, for other states of this process: one malloc'ed block.  Lua believes
 * such bytes whatever they say, so none may ever come from outside.
 */
struct sl_code;

/*
 * Compile a text chunk and push it as a function with an environment of its
 * own; on failure push the message.  Returns a lua_load() status.  *name* is
 * what messages show, usually a path.  *code (code may be NULL) is what this name and this
 * text compiled to before, or NULL: then it is filled in, where there is memory.
 */
int sl_sandbox_load(lua_State *L, const char *name, const char *text, size_t length, struct sl_code **code);

/*
 * To be called when a script came to an end: raises if it made a table weak behind
 * setmetatable()'s back, by a __mode that a metatable got later.
 */
void sl_sandbox_settle(lua_State *L);

/*
 * Replace the table on the top of the stack with a read-only view of it that
 * calls itself *name* in messages.  Whatever a script reads with (a field, #, pairs(), next(), rawget(), rawlen())
 * finds in the view what is in the table.  C finds it empty (lua_next(), lua_rawget()): unveil it first.
 */
void sl_sandbox_protect(lua_State *L, const char *name);

/* If the value at *index* is a read-only view, put the table behind it in its place on the stack: to read, never
 * to write, and never for a script to have. */
void sl_sandbox_unveil(lua_State *L, int index);

/*
 * Userdata that may be keys of a table that is traversed: their metatable has
 * the field SL_SANDBOX_ORDER set to true and their block begins with this.
 */
#define SL_SANDBOX_ORDER "__sl_order"
struct sl_sandbox_key {
	uint64_t order;
};

/* Push the text of a value as tostring() shows it. */
const char *sl_sandbox_tostring(lua_State *L, int index, size_t *length);

/* string.format() of the sandbox, as a function for lua_call(). */
int sl_sandbox_format(lua_State *L);

/* The pieces; each pushes one table.  The string library also becomes the index
 * of the strings' metatable. */
void sl_sandbox_string(lua_State *L);
void sl_sandbox_table(lua_State *L);

/* next(), pairs() and the iteration order (sandbox/order.c). */
int sl_sandbox_next(lua_State *L);
int sl_sandbox_pairs(lua_State *L);

#endif
