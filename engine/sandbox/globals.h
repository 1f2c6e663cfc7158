/* SPDX-License-Identifier: MIT */
/*
 * globals.h - which global variables does a chunk use?
 *
 * A policy that reads a variable nobody set raises, but only when it comes to
 * that line, which may be in a branch that a trial does not reach.  The compiler has
 * resolved every name: what is no local is an access to _ENV, and those are in
 * the bytecode, with their lines.  So this reads what lua_dump() writes.
 *
 * The format is that of Lua 5.4, told by its header; of any other nothing is
 * known, nor of a chunk that uses _ENV as a value or in which a function has more
 * than 255 constants.  "Nothing is known" is an answer and no error.
 *
 * May raise Lua errors (memory); to be called in protected mode.  Threads: none.
 */
#ifndef SL_GLOBALS_H
#define SL_GLOBALS_H

#include <stdbool.h>

#include <lua.h>

/*
 * The function on the top of the stack is a main chunk, not stripped.  Push three tables:
 *   reads   a list of name, field that is read from it at once ("" if none), line: "math", "floor", 7, ...
 *   sets    names that the chunk assigns, as keys
 *   locals  names of its local variables, as keys
 * and return true, or push nothing and return false when nothing is known.
 */
bool sl_globals_scan(lua_State *L);

#endif
