/* SPDX-License-Identifier: MIT */
/* action.h - an action of a plan, in words. */
#ifndef SL_TOOL_ACTION_H
#define SL_TOOL_ACTION_H

#include <stdint.h>

#define SL_ACTION_TEXT 64

/* "signal 15", "priority 4242", "time_limit 00:30:00" of a verb and its number; just the verb, where it
 * has none.  What else it says (a partition, a message) is its text. */
const char *sl_action_text(char text[SL_ACTION_TEXT], const char *verb, int64_t number);

#endif
