/* SPDX-License-Identifier: MIT */
/*
 * bind/time.c - calendars, for periods that begin at midnight somewhere.
 *
 *	y, month, day, weekday, h, min, s = engine.calendar(t [, zone])	weekday: 1 is Monday
 *	t = engine.instant(y, month, day [, zone])	midnight; months and days may run over
 *	engine.knows_zone(zone)
 *
 * A zone is a name of the time zone database, "Europe/Moscow"; without one it is the
 * machine's.  Where clocks skip midnight the day begins with its first instant; where
 * midnight comes twice, with the first of them.
 */
#include "bind/bind.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ZONES "/usr/share/zoneinfo/"

/* The C library has one zone at a time: ours while we ask, then what it was. */
static void enter_zone(const char *zone, char saved[256], bool *was)
{
	const char *tz = zone ? getenv("TZ") : NULL;

	*was = tz;
	snprintf(saved, 256, "%s", tz ? tz : "");
	if (!zone)
		return;		/* localtime_r() and mktime() see to it that the machine's is known */
	setenv("TZ", zone, 1);
	tzset();
}

static void leave_zone(const char *zone, const char *saved, bool was)
{
	if (!zone)
		return;
	if (was)
		setenv("TZ", saved, 1);
	else
		unsetenv("TZ");
	tzset();
}

/* Beside zones there are their tables, and directories. */
static bool is_zone_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char magic[4];
	bool is = fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) && !memcmp(magic, "TZif", sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}

static bool knows_zone(const char *zone, size_t n)
{
	char path[PATH_MAX];

	return n && n < 64 && zone[0] != '/' && !strstr(zone, "..") &&
		strspn(zone, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") == n &&
		snprintf(path, sizeof(path), ZONES "%s", zone) < (int) sizeof(path) && is_zone_file(path);
}

/* A zone's name or NULL.  The C library would read any file that is named. */
static const char *check_zone(lua_State *L, int arg)
{
	size_t n;
	const char *zone = luaL_optlstring(L, arg, NULL, &n);

	luaL_argcheck(L, !zone || knows_zone(zone, n), arg, "there is no such time zone on this machine");
	return zone;
}

/* A number of a date, which the C library counts with: 32 bits and room to carry over. */
static int check_count(lua_State *L, int arg)
{
	lua_Integer n = luaL_checkinteger(L, arg);

	luaL_argcheck(L, n >= -1000000 && n <= 1000000, arg, "a time that no calendar has");
	return (int) n;
}

static int engine_calendar(lua_State *L)
{
	time_t t = (time_t) luaL_checkinteger(L, 1);
	const char *zone = check_zone(L, 2);
	char saved[256];
	struct tm tm;
	bool was, ok;

	enter_zone(zone, saved, &was);
	ok = localtime_r(&t, &tm) != NULL;
	leave_zone(zone, saved, was);
	luaL_argcheck(L, ok, 1, "a time that no calendar has");
	lua_pushinteger(L, tm.tm_year + INT64_C(1900));
	lua_pushinteger(L, tm.tm_mon + 1);
	lua_pushinteger(L, tm.tm_mday);
	lua_pushinteger(L, tm.tm_wday ? tm.tm_wday : 7);
	lua_pushinteger(L, tm.tm_hour);
	lua_pushinteger(L, tm.tm_min);
	lua_pushinteger(L, tm.tm_sec);
	return 7;
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
	struct tm tm = { .tm_isdst = -1, .tm_hour = 12 }, day;
	const char *zone = check_zone(L, 4);
	char saved[256];
	time_t t;
	bool was;

	tm.tm_year = check_count(L, 1) - 1900;
	tm.tm_mon = check_count(L, 2) - 1;
	tm.tm_mday = check_count(L, 3);
	enter_zone(zone, saved, &was);
	/* noon, of which there is one every day, names the day */
	t = mktime(&tm);
	day = tm;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	t = t == -1 ? t : first_instant(mktime(&tm), &day);
	leave_zone(zone, saved, was);
	lua_pushinteger(L, (lua_Integer) t);
	return 1;
}

static int engine_knows_zone(lua_State *L)
{
	size_t n;
	const char *zone = luaL_checklstring(L, 1, &n);

	lua_pushboolean(L, knows_zone(zone, n));
	return 1;
}

void sl_lua_open_time(lua_State *L)
{
	lua_pushcfunction(L, engine_calendar);
	lua_setfield(L, -2, "calendar");
	lua_pushcfunction(L, engine_instant);
	lua_setfield(L, -2, "instant");
	lua_pushcfunction(L, engine_knows_zone);
	lua_setfield(L, -2, "knows_zone");
}
