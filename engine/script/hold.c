/* SPDX-License-Identifier: MIT */
/*
 * script/hold.c - partitions in which nothing starts, since what guards them failed.
 *
 * Runs outside of Lua, where there may be neither time nor memory left: what cannot
 * be told to a job is left out, the mark is made before.
 */
#include "script/private.h"

#include <stdlib.h>
#include <string.h>

void sl_script_stand_in(struct sl_script *s)
{
	s->stand_in = true;
}

void sl_script_hold(struct sl_script *s, const struct sl_fence *hold, const char *why)
{
	s->hold = *hold;
	snprintf(s->hold_why, sizeof(s->hold_why), "%s", why);
}

const char *sl_script_held(const struct sl_script *s)
{
	return s->held_text;
}

static const char *partition_name(const struct sl_script *s, uint32_t row)
{
	return sl_snapshot_str(s->x.snap, s->x.snap->partition.name[row]);
}

/* A reservation would be told to the user as a start that is expected. */
static void tell_jobs(struct sl_script *s, const char *why)
{
	uint32_t count;
	const struct sl_entry *queue = sl_cluster_queue(s->x.cluster, &count);
	char reason[SL_LUA_TEXT_MAX];

	snprintf(reason, sizeof(reason), "held: %.*s", (int) strcspn(why, "\n"), why);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t job = queue[i].job;

		if (!s->held[queue[i].partition] || sl_plan_job(s->x.plan, job) == SL_PLAN_STARTED)
			continue;
		if (sl_plan_job(s->x.plan, job) == SL_PLAN_RESERVED)
			sl_plan_undo(s->x.plan, job, NULL);
		sl_plan_refuse(s->x.plan, job, SL_WHY_POLICY, reason, NULL);
	}
}

/* Add "a, b: why" to what is told of this cycle. */
static void tell_all(struct sl_script *s, const uint8_t *news, const char *why)
{
	size_t size = sizeof(s->held_text), n = strlen(s->held_text);
	const char *between = n ? "; " : "";

	for (uint32_t p = 0; p < s->x.snap->partition.rows && n < size; p++)
		if (news[p]) {
			n += (size_t) snprintf(s->held_text + n, size - n, "%s%s", between, partition_name(s, p));
			between = ", ";
		}
	if (n < size)
		snprintf(s->held_text + n, size - n, ": %.*s", (int) strcspn(why, "\n"), why);
}

/* Hold the marked partitions. */
static void hold(struct sl_script *s, const char *why)
{
	uint8_t *mark = s->held + s->x.snap->partition.rows;
	bool some = false;

	for (uint32_t p = 0; p < s->x.snap->partition.rows; p++) {
		mark[p] = mark[p] && !s->held[p];
		some |= mark[p];
		s->held[p] |= mark[p];
	}
	if (!some)
		return;
	tell_jobs(s, why);
	tell_all(s, mark, why);
}

static void hold_named(struct sl_script *s, const struct sl_fence *named, const char *why)
{
	uint32_t rows = s->x.snap->partition.rows;

	for (uint32_t p = 0; p < rows; p++)
		s->held[rows + p] = sl_fence_has(named, partition_name(s, p));
	hold(s, why);
}

/* Marks, and as many again for what is marked next. */
int sl_script_begin_holds(struct sl_script *s, struct sl_error *err)
{
	free(s->held);
	s->held_text[0] = '\0';
	s->x.held = s->held = calloc(s->x.snap->partition.rows + 1, 2);
	if (!s->held)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	hold_named(s, &s->hold, s->hold_why);
	return 0;
}

void sl_script_hold_turn(struct sl_script *s, const char *why)
{
	const uint8_t *member = sl_lua_turn_partitions(&s->x);
	uint32_t rows = s->x.snap->partition.rows;

	for (uint32_t p = 0; p < rows; p++)
		s->held[rows + p] = !member || member[p];
	hold(s, why);
}

void sl_script_hold_site(struct sl_script *s, const char *why)
{
	hold_named(s, &s->x.bundle->figures.hold, why);
}
