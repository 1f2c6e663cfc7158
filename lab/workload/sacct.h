/* SPDX-License-Identifier: MIT */
/*
 * sacct.h - jobs as sacct tells of them, in columns (workload/sacct.c) or as JSON (workload/sacct_json.c): of one job
 * the texts of the columns that are used.
 */
#ifndef SL_SACCT_H
#define SL_SACCT_H

#include "workload/private.h"
#include "workload/sacct_columns.h"

struct sl_sacct {
	struct sl_store *s;
	const struct sl_snapshot *machine;
	const char *path;
	const char *text[SL_SACCT_USED];	/* of the job at hand; "": not said */
	uint64_t line;				/* where it stands; 0: no line */

	/* sacct_zone.c */
	struct sl_zone *zone;			/* whose clocks showed the times; NULL: UTC's */
	int64_t submitted;			/* the latest submission so far */
	char instant[4][24];
};

/* Take the machine that options name, since sacct does not say on which one it was, and the zone.  0, or -1 with *err.
 * sl_sacct_end() in any case. */
int sl_sacct_begin(struct sl_sacct *d, struct sl_store *s, const char *path, struct sl_error *err);
void sl_sacct_end(struct sl_sacct *d);

/* Times of the job at hand that were printed without their offset become seconds since the epoch, where a zone is known. */
void sl_sacct_tell_instants(struct sl_sacct *d);

/* -- sacct_real.c: with as_it_was; nothing otherwise ------------------- */

/* Note which columns are not there; without Start it fails. */
void sl_sacct_real_lacks(struct sl_sacct *d, const bool has[SL_SACCT_USED]);

/* Has the job at hand started and not ended?  False without as_it_was. */
bool sl_sacct_is_running(const struct sl_sacct *d);

/* Take when it really started.  After its submission and runtime. */
void sl_sacct_add_real(struct sl_sacct *d, struct sl_draft *j);

/* Add the job at hand, or note why not.  Returns 1 when no more are wanted. */
int sl_sacct_add(struct sl_sacct *d);

#endif
