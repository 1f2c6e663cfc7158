/* SPDX-License-Identifier: MIT */
/*
 * duration.h - a duration in seconds that has no end.
 */
#ifndef SL_DURATION_H
#define SL_DURATION_H

#include <stdint.h>

#define SL_UNLIMITED INT64_MAX	/* a duration without a limit */

#endif
