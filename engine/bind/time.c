/* SPDX-License-Identifier: MIT */
/*
 * bind/time.c - calendars, for periods that begin at midnight somewhere.
 *
 *	y, month, day, weekday, h, min, s = engine.calendar(t [, zone])	weekday: 1 is Monday
 *	t = engine.instant(y, month, day [, zone])	midnight; months and days may run over
 *	engine.knows_zone(zone)
 *	engine.wall(t, zone), engine.wall_instant(zone, y, month, day, h, min), engine.zone_next(t, zone), engine.wake(t)
 *
 * A zone is a name of the time zone database, "Europe/Moscow", which is read when the set is loaded, so that a cycle
 * opens no file (base/zone.h).  Where calendar() and instant() are told none it is that of the process; "" is
 * the machine's.  Where clocks skip midnight the day begins with its first instant; where midnight comes twice, with
 * the first of them.
 */
#include "bind/bind.h"

#include <string.h>
#include <time.h>

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

/* The same, where no zone is named otherwise than by nil. */
static const struct sl_zone *check_named_zone(lua_State *L, int arg)
{
	luaL_argcheck(L, *luaL_checkstring(L, arg), arg, "there is no such time zone on this machine");
	return check_zone(L, arg);
}

/* A number of a date, which the C library counts with: 32 bits and room to carry over. */
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

static int push_wall(lua_State *L, const struct sl_wall *w)
{
	const int part[] = { w->month, w->day, w->weekday, w->hour, w->minute, w->second };

	lua_pushinteger(L, w->year);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		lua_pushinteger(L, part[i]);
	return 7;
}

static int engine_calendar(lua_State *L)
{
	time_t t = (time_t) check_time(L, 1);
	struct sl_wall w;
	struct tm tm;

	if (!lua_isnoneornil(L, 2)) {
		w = sl_zone_wall(check_named_zone(L, 2), t);
		return push_wall(L, &w);
	}
	luaL_argcheck(L, localtime_r(&t, &tm), 1, "a time that no calendar has");
	w = (struct sl_wall) { tm.tm_year + INT64_C(1900), tm.tm_mon + 1, tm.tm_mday, tm.tm_wday ? tm.tm_wday : 7,
			       tm.tm_hour, tm.tm_min, tm.tm_sec };
	return push_wall(L, &w);
}

/* wall(t, zone): as calendar(), and the seconds that clocks there are ahead of UTC */
static int engine_wall(lua_State *L)
{
	const struct sl_zone *zone = check_zone(L, 2);
	int64_t t = check_time(L, 1);
	struct sl_wall w = sl_zone_wall(zone, t);

	push_wall(L, &w);
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

static bool same_day(time_t t, const struct tm *day)
{
	struct tm tm;

	return localtime_r(&t, &tm) && tm.tm_year == day->tm_year && tm.tm_yday == day->tm_yday;
}

/* The first instant of the day that *t*, near midnight, belongs to. */
static time_t first_instant(time_t t, const struct tm *day)
{
	/* clocks that skipped midnight: mktime() may be an hour too early */
	for (int i = 0; i < 24 && !same_day(t, day); i++)
		t += 300;
	for (int i = 0; i < 24 && same_day(t - 300, day); i++)
		t -= 300;
	return t;
}

static int engine_instant(lua_State *L)
{
	struct sl_wall w = { .year = check_count(L, 1), .month = check_count(L, 2), .day = check_count(L, 3) };
	struct tm tm = { .tm_isdst = -1, .tm_hour = 12 }, day;
	time_t t;

	if (!lua_isnoneornil(L, 4)) {
		lua_pushinteger(L, sl_zone_instant(check_named_zone(L, 4), &w));
		return 1;
	}
	tm.tm_year = (int) w.year - 1900;
	tm.tm_mon = w.month - 1;
	tm.tm_mday = w.day;
	/* noon, of which there is one every day, names the day */
	t = mktime(&tm);
	day = tm;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	t = t == -1 ? t : first_instant(mktime(&tm), &day);
	lua_pushinteger(L, (lua_Integer) t);
	return 1;
}

static int engine_knows_zone(lua_State *L)
{
	lua_pushboolean(L, *luaL_checkstring(L, 1) && find_zone(L, 1));
	return 1;
}

void sl_lua_open_time(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "calendar", engine_calendar }, { "instant", engine_instant }, { "knows_zone", engine_knows_zone },
		{ "wall", engine_wall }, { "wall_instant", engine_wall_instant }, { "zone_next", engine_zone_next },
		{ "wake", engine_wake }, { NULL, NULL }
	};

	luaL_setfuncs(L, functions, 0);
}
