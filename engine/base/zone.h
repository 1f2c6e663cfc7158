/* SPDX-License-Identifier: MIT */
/*
 * zone.h - time zones: local times of any of them, without the C library's, which knows one at a time and reads it
 * when it likes.
 *
 * A zone is what a file of the time zone database says (TZif, RFC 8536, with the rule in its footer for the years
 * after its list).  It is read once; asking opens no file.
 *
 * Ownership: sl_zone_create() makes a zone, sl_zone_destroy() frees it.  Threads: a zone is only read.
 */
#ifndef SL_ZONE_H
#define SL_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sl_zone;

/* A local time.  weekday: 1 is Monday. */
struct sl_wall {
	int64_t year;
	int month, day, weekday, hour, minute, second;
};

/* The zone of such a file's bytes.  NULL with *err: SL_EFORMAT, SL_ENOMEM. */
struct sl_zone *sl_zone_create(const void *bytes, size_t size, struct sl_error *err);
void sl_zone_destroy(struct sl_zone *z);

/*
 * The zone of a name, "Europe/Berlin", from the machine's database; "": the machine's own (/etc/localtime; UTC where
 * there is none).  NULL with *err: SL_ENOENT where there is no such zone, or as sl_zone_create().
 */
struct sl_zone *sl_zone_read(const char *name, struct sl_error *err);

/* Seconds that clocks there are ahead of UTC at *t*. */
int32_t sl_zone_offset(const struct sl_zone *z, int64_t t);

/* What clocks and calendars show there at *t*. */
struct sl_wall sl_zone_wall(const struct sl_zone *z, int64_t t);

/*
 * The first instant at which clocks there show that time or a later one of the day; where they are set back over it,
 * the first of the two.  Months, days, hours, minutes and seconds may run over or be below 0; weekday is not read.
 */
int64_t sl_zone_instant(const struct sl_zone *z, const struct sl_wall *wall);

/* When clocks there are set forward or back next after *t*; INT64_MAX: never again. */
int64_t sl_zone_next(const struct sl_zone *z, int64_t t);

#endif
