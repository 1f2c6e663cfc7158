/* SPDX-License-Identifier: MIT */
/*
 * bind/translate.h - a policy's rank() as steps that need no Lua (model/rank_code.h).
 *
 * A function is translated if all that its instructions do is to read fields of its arguments, constants and variables
 * from outside of it, to calculate and compare, and to call functions of which the same holds, or some of math.  Such a function
 * changes nothing.  Variables from outside and tables are taken as they are now: whoever relies on the code has
 * to know that no function that is not translated can change them.
 *
 * Functions raise Lua errors; they run in protected mode.
 */
#ifndef SL_LUA_TRANSLATE_H
#define SL_LUA_TRANSLATE_H

#include "bind/context.h"
#include "model/rank_code.h"

/*
 * The rank() of a part of a site's list (sched/site.lua: a table with policy and values), which is at *index*.  NULL: it cannot
 * be translated, or another one of this state was before.  The state keeps it.
 */
const struct sl_rank_code *sl_lua_translate_rank(lua_State *L, struct sl_lua *x, int index);

#endif
