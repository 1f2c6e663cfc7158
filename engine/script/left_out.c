/* SPDX-License-Identifier: MIT */
/*
 * left_out.c - which jobs are not planned for a while (model/plan_left_out.c), remembered from one cycle to the next.
 *
 * As policies' own memory the list travels in the plan and in the next snapshot (image/remember.h), so that a
 * decision is a function of the snapshot:
 *
 *	{{ends=1700000060,id=12},{ends=1700000300,id=17,stamp=4711,why="the checker refused its place: ..."}}
 */
#include "script/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/value.h"

/* No list of partitions has that name: parentheses are in no name of Slurm's. */
#define GROUP "(engine)"
#define KEY "left_out"

#define WHY_MAX 512		/* of a text, with its escapes; what is longer is not written as it is */

/* -- reading --------------------------------------------------------------- */

struct item {
	int64_t id, ends, stamp;
	char why[WHY_MAX + 1];
};

static bool is_key(const struct sl_value_reader *key, const char *name)
{
	return key->length == strlen(name) && !strncmp(key->from, name, key->length);
}

static void set_integer(struct item *it, const struct sl_value_reader *key, int64_t v)
{
	if (is_key(key, "id"))
		it->id = v;
	else if (is_key(key, "ends"))
		it->ends = v;
	else if (is_key(key, "stamp"))
		it->stamp = v;
}

static void leave_out(struct sl_plan *p, struct item *it)
{
	if (it->id > 0 && it->id <= UINT32_MAX)
		sl_plan_leave_out(p, (struct sl_left_out) { .id = (uint32_t) it->id, .until = it->ends, .stamp = it->stamp,
							    .text = *it->why ? it->why : NULL });
}

/* What makes no sense (files written by hand) leaves nobody out. */
void sl_script_recall_left_out(const struct sl_remember *m, struct sl_plan *p)
{
	struct sl_value_reader r = { .at = sl_remember_get(m, GROUP, KEY) }, key = { 0 };
	enum sl_value_token token;
	struct item it = { 0 };
	int depth = 0;

	if (!r.at)
		return;
	while ((token = sl_value_next(&r)) != SL_VALUE_END && token != SL_VALUE_BAD) {
		if (token == SL_VALUE_OPEN) {
			if (++depth == 2)
				it = (struct item) { 0 };
		} else if (token == SL_VALUE_CLOSE) {
			if (depth-- == 2)
				leave_out(p, &it);
		} else if (token == SL_VALUE_NAME) {
			key = r;
		} else if (token == SL_VALUE_INTEGER && depth == 2 && key.from) {
			set_integer(&it, &key, r.integer);
		} else if (token == SL_VALUE_STRING && depth == 2 && key.from && is_key(&key, "why") && r.length <= WHY_MAX) {
			it.why[sl_value_unquote(&r, it.why)] = 0;
		}
		if (token != SL_VALUE_NAME && token != SL_VALUE_IS)
			key.from = NULL;
	}
}

/* -- writing --------------------------------------------------------------- */

/* In quotes, as much as there is room for. */
static size_t quote(char to[WHY_MAX + 1], const char *text)
{
	size_t n = 0;

	to[n++] = '"';
	for (; *text && n + 5 < WHY_MAX; text++)
		n += sl_value_escape(to + n, (unsigned char) *text);
	to[n++] = '"';
	to[n] = 0;
	return n;
}

static size_t write_item(char *to, size_t room, const struct sl_left_out *l, bool first)
{
	char ends[SL_VALUE_NUMBER_MAX], stamp[SL_VALUE_NUMBER_MAX], why[WHY_MAX + 1];
	int n;

	sl_value_integer(ends, l->until);
	sl_value_integer(stamp, l->stamp);
	if (l->text)
		quote(why, l->text);
	n = l->text ? snprintf(to, room, "%s{ends=%s,id=%" PRIu32 ",stamp=%s,why=%s}", first ? "" : ",", ends, l->id, stamp, why)
		    : snprintf(to, room, "%s{ends=%s,id=%" PRIu32 "}", first ? "" : ",", ends, l->id);
	return n > 0 && (size_t) n < room ? (size_t) n : 0;
}

/* Those for which there is no room are tried again: that is a loss of time, and bounded. */
void sl_script_remember_left_out(struct sl_remember *m, const struct sl_plan *p)
{
	uint32_t count;
	const struct sl_left_out *l = sl_plan_left_out(p, &count);
	char *text = count ? malloc(SL_REMEMBERED_VALUE) : NULL;
	size_t n = 0, added;

	if (text)
		text[n++] = '{';
	for (uint32_t i = 0; text && i < count; i++, n += added)
		if (!(added = write_item(text + n, SL_REMEMBERED_VALUE - 1 - n, &l[i], n == 1)))
			break;
	if (text)
		strcpy(text + n, "}");
	(void) sl_remember_set(m, GROUP, KEY, text, NULL);
	free(text);
}
