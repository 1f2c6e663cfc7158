/* SPDX-License-Identifier: MIT */
/*
 * bind/time.c - what clocks and calendars show.
 *
 *	y, month, day, weekday, h, min, s, ahead = engine.wall(t, zone)	weekday: 1 is Monday; ahead of UTC by seconds
 *	t = engine.wall_instant(zone, y, month, day, h, min)	months, days and so on may run over
 *	engine.knows_zone(zone), engine.zone_next(t, zone), engine.wake(t)
 *
 * A zone is a name of the time zone database, "Europe/Moscow", or "", the machine's; it is read when the set is loaded, so
 * that a cycle opens no file (base/zone.h).  TZ of the process has no effect.  Where clocks skip midnight the day begins
 * with its first instant; where midnight comes twice, with the first of them.
 */
#include "bind/bind.h"

#include <string.h>

#include "base/zone.h"

#define MOST_TIME (INT64_C(1) << 53)

/* The zone of a name, "": the machine's; NULL where there is none. */
static const struct sl_zone *find_zone(lua_State *L, int arg)
{
	size_t n;
	const char *name = luaL_checklstring(L, arg, &n);

	return strlen(name) == n ? sl_bundle_zone(sl_lua_context(L)->bundle, name, NULL) : NULL;
}

static const struct sl_zone *check_zone(lua_State *L, int arg)
{
	const struct sl_zone *zone = find_zone(L, arg);

	luaL_argcheck(L, zone, arg, "there is no such time zone on this machine");
	return zone;
}

/* A number of a date, with room to carry over. */
static int check_count(lua_State *L, int arg)
{
	lua_Integer n = luaL_checkinteger(L, arg);

	luaL_argcheck(L, n >= -1000000 && n <= 1000000, arg, "a time that no calendar has");
	return (int) n;
}

static int64_t check_time(lua_State *L, int arg)
{
	lua_Integer t = luaL_checkinteger(L, arg);

	luaL_argcheck(L, t >= -MOST_TIME && t <= MOST_TIME, arg, "a time that no calendar has");
	return t;
}

/* wall(t, zone) */
static int engine_wall(lua_State *L)
{
	const struct sl_zone *zone = check_zone(L, 2);
	int64_t t = check_time(L, 1);
	struct sl_wall w = sl_zone_wall(zone, t);
	const int part[] = { w.month, w.day, w.weekday, w.hour, w.minute, w.second };

	lua_pushinteger(L, w.year);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		lua_pushinteger(L, part[i]);
	lua_pushinteger(L, sl_zone_offset(zone, t));
	return 8;
}

/* wall_instant(zone, y, month, day, h, min) */
static int engine_wall_instant(lua_State *L)
{
	const struct sl_zone *zone = check_zone(L, 1);
	struct sl_wall w = { .year = check_count(L, 2), .month = check_count(L, 3), .day = check_count(L, 4),
			     .hour = check_count(L, 5), .minute = check_count(L, 6) };

	lua_pushinteger(L, sl_zone_instant(zone, &w));
	return 1;
}

/* zone_next(t, zone): when clocks there change next; nil: never again */
static int engine_zone_next(lua_State *L)
{
	int64_t next = sl_zone_next(check_zone(L, 2), check_time(L, 1));

	if (next == INT64_MAX)
		lua_pushnil(L);
	else
		lua_pushinteger(L, next);
	return 1;
}

/* wake(t): the next cycle is no later than then */
static int engine_wake(lua_State *L)
{
	struct sl_lua *x = sl_lua_context(L);
	int64_t t = check_time(L, 1);

	if (t < x->wake_time)
		x->wake_time = t;
	return 0;
}

static int engine_knows_zone(lua_State *L)
{
	lua_pushboolean(L, *luaL_checkstring(L, 1) && find_zone(L, 1));
	return 1;
}

void sl_lua_open_time(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "knows_zone", engine_knows_zone }, { "wall", engine_wall }, { "wall_instant", engine_wall_instant },
		{ "zone_next", engine_zone_next }, { "wake", engine_wake }, { NULL, NULL }
	};

	luaL_setfuncs(L, functions, 0);
}
