/* SPDX-License-Identifier: MIT */
/*
 * foresee.h - when a job of a snapshot starts, as an interval: asked of schedlua forecast.
 *
 * The forecast is the lab's (sim/forecast.h), which is another program: schedlua runs schedlab beside it, with the
 * snapshot in a memfd.  So whoever asks gets what the forecast service would write about that job, calibrated by the
 * same file.
 *
 * Ownership: borrows all it is given.  Threads: none.
 */
#ifndef SL_TOOL_FORESEE_H
#define SL_TOOL_FORESEE_H

#include <stdbool.h>
#include <stdint.h>

#include "script/script.h"

struct sl_foresee {
	const char *site, *policy, *path;	/* who decides; NULL: not said */
	const char *ledger, *calibration;	/* NULL: the lab's own choice */
	uint32_t job;
	int64_t seconds;	/* how long the lab may look ahead; it is killed a few seconds later */
};

struct sl_foreseen {
	struct sl_standing when;	/* confidence 0: there is no interval, and *why says why, a sentence without its end */
	bool calibrated;		/* past forecasts tell that it holds as often as *confidence* says */
	char why[400];
};

/* Never fails: where there is no interval, f->why is why. */
void sl_foresee(const struct sl_snapshot *snap, const struct sl_foresee *ask, struct sl_foreseen *f);

#endif
