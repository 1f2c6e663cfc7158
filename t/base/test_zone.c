/* SPDX-License-Identifier: MIT */
/* What clocks show, compared with the C library; and files that are none. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/zone.h"
#include "t/random.h"

static const char *const zones[] = { "UTC", "Europe/Berlin", "Europe/Moscow", "America/New_York", "America/Sao_Paulo",
	"Australia/Lord_Howe", "Asia/Kolkata", "Asia/Tehran", "Pacific/Auckland", "Africa/Casablanca", "Europe/Dublin",
	"America/Nuuk", "Pacific/Apia", "Asia/Gaza" };

static struct sl_zone *open_zone(const char *name)
{
	struct sl_error err;
	struct sl_zone *z = sl_zone_read(name, &err);

	if (!z && strcmp(name, "UTC"))
		return NULL;		/* not in this machine's database */
	setenv("TZ", name, 1);
	tzset();
	return z;
}

static void same_wall(const char *zone, int64_t t, const struct sl_wall *w)
{
	time_t time = (time_t) t;
	struct tm tm;

	localtime_r(&time, &tm);
	if (w->year != tm.tm_year + 1900 || w->month != tm.tm_mon + 1 || w->day != tm.tm_mday ||
	    w->weekday != (tm.tm_wday ? tm.tm_wday : 7) || w->hour != tm.tm_hour || w->minute != tm.tm_min ||
	    w->second != tm.tm_sec)
		fail_msg("%s at %lld: %lld-%d-%d %d:%d:%d, the C library has %d-%d-%d %d:%d:%d", zone, (long long) t,
			 (long long) w->year, w->month, w->day, w->hour, w->minute, w->second, tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void clocks_show_what_the_c_library_says(void **state)
{

	(void) state;
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		struct sl_zone *z = open_zone(zones[i]);

		for (int n = 0; z && n < 20000; n++) {
			/* 1990 to 2090: what lies before is local mean time and war time */
			int64_t t = INT64_C(631152000) + (int64_t) (random_u64() % UINT64_C(3155760000));
			struct sl_wall w = sl_zone_wall(z, t);

			same_wall(zones[i], t, &w);
		}
		sl_zone_destroy(z);
	}
}

/* The instant of a local time shows it, or no less where clocks skip it, and no earlier one does. */
static void an_instant_is_the_first_that_shows_the_time(void **state)
{

	(void) state;
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		struct sl_zone *z = open_zone(zones[i]);
		int64_t change = INT64_C(1600000000);

		for (int n = 0; z && n < 300; n++) {
			/* near the changes, where there are some */
			int64_t next = sl_zone_next(z, change), t = next == INT64_MAX ? change + n * 50000 : next;
			int64_t about = t + (int64_t) (random_u64() % 14400) - 7200, local;
			struct sl_wall w = sl_zone_wall(z, about);

			local = about + sl_zone_offset(z, about);
			for (int off = -3600; off <= 3600; off += 1800) {
				struct sl_wall asked = w;
				int64_t at;

				asked.second += off;
				at = sl_zone_instant(z, &asked);
				assert_true(at + sl_zone_offset(z, at) >= local + off);
				assert_true(at - 1 + sl_zone_offset(z, at - 1) < local + off);
			}
			change = next == INT64_MAX || n % 3 ? change : next;
		}
		sl_zone_destroy(z);
	}
}

static void the_two_days_on_which_berlin_changes_its_clocks(void **state)
{
	struct sl_zone *z = open_zone("Europe/Berlin");

	(void) state;
	if (!z)
		skip();
	/* 2026-03-29 at 1:00 UTC, and 2026-10-25 at 1:00 UTC */
	assert_int_equal(sl_zone_next(z, 1767225600), 1774746000);
	assert_int_equal(sl_zone_next(z, 1774746000), 1792890000);
	assert_int_equal(sl_zone_offset(z, 1774745999), 3600);
	assert_int_equal(sl_zone_offset(z, 1774746000), 7200);
	/* there is no 2:30, and 3:00 comes at once */
	assert_int_equal(sl_zone_instant(z, &(struct sl_wall) { .year = 2026, .month = 3, .day = 29, .hour = 2, .minute = 30 }), 1774746000);
	/* 2:30 comes twice */
	assert_int_equal(sl_zone_instant(z, &(struct sl_wall) { .year = 2026, .month = 10, .day = 25, .hour = 2, .minute = 30 }), 1792890000 - 1800);
	assert_int_equal(sl_zone_instant(z, &(struct sl_wall) { .year = 2026, .month = 10, .day = 25, .hour = 3 }), 1792890000 + 3600);
	/* months and days run over */
	assert_int_equal(sl_zone_instant(z, &(struct sl_wall) { .year = 2026, .month = 14, .day = 32 }),
			 sl_zone_instant(z, &(struct sl_wall) { .year = 2027, .month = 3, .day = 4 }));
	sl_zone_destroy(z);
}

static void what_is_no_zone_is_refused(void **state)
{
	static const char *const names[] = { "Europe/Atlantis", "../localtime", "/etc/localtime", "Europe", "tzdata.zi", "a b" };
	struct sl_error err;

	(void) state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_null(sl_zone_read(names[i], &err));
		assert_non_null(strstr(err.text, "time zone"));
	}
}

static void bytes_of_any_kind_are_read_or_refused(void **state)
{
	unsigned char bytes[400];

	(void) state;
	for (int n = 0; n < 20000; n++) {
		size_t size = random_u64() % sizeof(bytes);
		struct sl_zone *z;

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, "TZif2", 5);
		for (size_t i = 20; i < size; i++)
			bytes[i] = random_u64() % 4 ? 0 : (unsigned char) random_u64();
		bytes[39] = 1 + n % 3;	/* types */
		z = sl_zone_create(bytes, size, NULL);
		if (z)
			sl_zone_wall(z, (int64_t) (random_u64() >> 20));
		sl_zone_destroy(z);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_show_what_the_c_library_says),
		cmocka_unit_test(an_instant_is_the_first_that_shows_the_time),
		cmocka_unit_test(the_two_days_on_which_berlin_changes_its_clocks),
		cmocka_unit_test(what_is_no_zone_is_refused),
		cmocka_unit_test(bytes_of_any_kind_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
