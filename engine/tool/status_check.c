/* SPDX-License-Identifier: MIT */
/*
 * status_check.c - is all well?  The rules of `schedlua status --check`.
 */
#include "tool/status.h"

#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "base/text.h"
#include "tool/member.h"

#define RECENT_S 600		/* over budget: worth a look for so long */

struct verdict {
	enum sl_state state;
	char *text;
	size_t size, used;
};

static void say(struct verdict *v, enum sl_state state, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void say(struct verdict *v, enum sl_state state, const char *fmt, ...)
{
	va_list args;
	int n;

	if (state > v->state)
		v->state = state;
	if (v->used && v->used + 2 < v->size) {
		memcpy(v->text + v->used, "; ", 3);
		v->used += 2;
	}
	va_start(args, fmt);
	n = vsnprintf(v->text + v->used, v->size - v->used, fmt, args);
	va_end(args);
	v->used += n < 0 ? 0 : (size_t) n;
	if (v->used >= v->size)
		v->used = v->size - 1;
}

/* In shadow mode Slurm's scheduler starts jobs whatever becomes of the policies. */
static void judge_shadow(struct verdict *v, const json_t *status, const char *shadow)
{
	const char *source = sl_member_text(status, "source"), *refusal = sl_member_text(status, "refusal"),
		*why = *refusal ? refusal : sl_member_text(status, "last_error");

	say(v, SL_STATE_FINE, "Slurm's %.40s decides, %.100s only looks on (shadow mode), %.0f queued, %.0f running", shadow,
	    sl_member_text(status, "policy"), sl_member_number(status, "queued"), sl_member_number(status, "running"));
	if (strcmp(source, "site"))
		say(v, SL_STATE_WARNING, "not the site's set looks on (%.40s): %.900s", source, why);
	else if (*refusal)
		say(v, SL_STATE_WARNING, "a set was refused: %.900s", refusal);
}

/* Who decides, and whether somebody does at all. */
static void judge_source(struct verdict *v, const json_t *status)
{
	const char *source = sl_member_text(status, "source");

	if (!strcmp(source, "idle"))
		say(v, SL_STATE_CRITICAL, "idle, nothing is started: %.900s", sl_member_text(status, "idle_why"));
	else if (!strcmp(source, "fallback"))
		say(v, SL_STATE_CRITICAL, "fallback: the engine does not run: %.900s", sl_member_text(status, "last_error"));
	else if (!strcmp(source, "stock"))
		say(v, SL_STATE_CRITICAL, "stock: %.900s", sl_member_text(status, "last_error"));
	else if (!strcmp(source, "bundled"))
		say(v, SL_STATE_WARNING, "bundled easy decides: %.900s",
		    *sl_member_text(status, "refusal") ? sl_member_text(status, "refusal") : sl_member_text(status, "last_error"));
	else if (!strcmp(source, "last good"))
		say(v, SL_STATE_WARNING, "the last good set decides: %.900s", sl_member_text(status, "refusal"));
	else if (!strcmp(source, "site") && *sl_member_text(status, "refusal"))
		say(v, SL_STATE_WARNING, "a set was refused, the one before it decides: %.900s", sl_member_text(status, "refusal"));
	else if (strcmp(source, "site"))
		say(v, SL_STATE_UNKNOWN, "decided by \"%.40s\", which is not known here", source);
	if (*sl_member_text(status, "held"))
		say(v, SL_STATE_CRITICAL, "nothing starts in %.900s", sl_member_text(status, "held"));
}

static void judge_age(struct verdict *v, const json_t *status, bool alive, int64_t now, int64_t stale_s)
{
	int64_t age = now - json_integer_value(json_object_get(status, "written"));
	char text[SL_TEXT_SIZE];

	if (!alive)
		say(v, SL_STATE_CRITICAL, "slurmctld (pid %.0f) does not run on this machine", sl_member_number(status, "pid"));
	if (age > stale_s && strcmp(sl_member_text(status, "source"), "stock"))	/* the loader writes once */
		say(v, SL_STATE_CRITICAL, "stale: written %s ago", sl_text_duration(text, age));
}

static void judge_rest(struct verdict *v, const json_t *status, int64_t now)
{
	int64_t over = json_integer_value(json_object_get(status, "truncated_time"));
	char text[SL_TEXT_SIZE];

	if (over && now - over < RECENT_S)
		say(v, SL_STATE_WARNING, "over budget %s ago, jobs behind were not looked at", sl_text_duration(text, now - over));
	if (*sl_member_text(status, "usage_stale"))
		say(v, SL_STATE_WARNING, "usage is old: %.900s", sl_member_text(status, "usage_stale"));
	if (sl_member_number(status, "strikes") > 0)
		say(v, SL_STATE_WARNING, "the engine failed %.0f times in a row", sl_member_number(status, "strikes"));
}

enum sl_state sl_status_judge(const json_t *status, bool alive, int64_t now, int64_t stale_s, char *text, size_t size)
{
	struct verdict v = { SL_STATE_FINE, text, size, 0 };
	const char *shadow = sl_member_text(status, "shadow");

	*text = 0;
	judge_age(&v, status, alive, now, stale_s);
	if (*shadow)
		judge_shadow(&v, status, shadow);
	else
		judge_source(&v, status);
	judge_rest(&v, status, now);
	if (v.state == SL_STATE_FINE && !*shadow)
		say(&v, SL_STATE_FINE, "%.100s decides, %.0f queued, %.0f running", sl_member_text(status, "policy"),
		    sl_member_number(status, "queued"), sl_member_number(status, "running"));
	for (char *c = text; (c = strpbrk(c, "\n|")); )	/* one line; what follows a | are figures */
		*c = *c == '|' ? '/' : ' ';
	sl_plain(text);
	return v.state;
}

const char *sl_state_word(enum sl_state state)
{
	static const char *const word[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };

	return (unsigned) state < sizeof(word) / sizeof(word[0]) ? word[state] : "UNKNOWN";
}
