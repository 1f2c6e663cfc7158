/* SPDX-License-Identifier: MIT */
#include "tool/action.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "image/plan_image.h"

static bool is(const char *verb, enum sl_action action)
{
	return !strcmp(verb, sl_action_word(action));
}

const char *sl_action_text(char text[SL_ACTION_TEXT], const char *verb, int64_t number)
{
	char time[SL_TEXT_SIZE];

	if (is(verb, SL_ACTION_SIGNAL) || is(verb, SL_ACTION_PRIORITY))
		snprintf(text, SL_ACTION_TEXT, "%s %" PRId64, verb, number);
	else if (is(verb, SL_ACTION_TIME_LIMIT))
		snprintf(text, SL_ACTION_TEXT, "%s %s", verb, sl_text_duration(time, number));
	else
		snprintf(text, SL_ACTION_TEXT, "%s", verb);
	return text;
}
