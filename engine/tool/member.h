/* SPDX-License-Identifier: MIT */
/*
 * member.h - members of a JSON object, where it does not matter whether they are there: 0 or ""
 * where they are not, or are something else.
 */
#ifndef SL_TOOL_MEMBER_H
#define SL_TOOL_MEMBER_H

#include <jansson.h>

static inline json_int_t sl_member_integer(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static inline double sl_member_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static inline const char *sl_member_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

#endif
