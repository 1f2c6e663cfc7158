/* SPDX-License-Identifier: MIT */
/*
 * openb_lua.h - the function score(job, class) of a policy's file as a score of bench/openb.
 *
 * The function is called in a plain Lua state, with tables that have the numbers of doc/placement.md#scores and class.score().
 * Cores are whole ones, as in the trace, so that a node may have a part of one free.
 *
 * Ownership: the caller's, until openb_lua_close().  Threads: none.
 */
#ifndef OPENB_LUA_H
#define OPENB_LUA_H

#include "timeline/score.h"

struct openb_lua;

/* NULL with *err: the file cannot be read, or defines no score. */
struct openb_lua *openb_lua_open(const char *path, struct sl_error *err);
void openb_lua_close(struct openb_lua *l);

/* An sl_own_score whose argument is the openb_lua. */
int openb_lua_score(void *arg, const struct sl_scored *what, double *score, struct sl_error *err);

#endif
