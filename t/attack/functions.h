/* SPDX-License-Identifier: MIT */
/*
 * t/attack/functions.h - which C functions a Lua state has, for the attack suite.
 */
#ifndef SL_T_ATTACK_FUNCTIONS_H
#define SL_T_ATTACK_FUNCTIONS_H

#include <lua.h>

#define ATTACK_NAME 96		/* bytes of a function's name, with its 0 */

/*
 * Push a table { [name] = function } of all C functions that can be reached from the registry:
 * through tables, metatables, upvalues and user values, but for finalizers.  A name is the
 * class and the key where the function was found first ("plan.start"); names are the same in
 * each process.
 */
void attack_find_functions(lua_State *L);

#endif
