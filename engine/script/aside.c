/* SPDX-License-Identifier: MIT */
/* aside.c - see aside.h */
#include "script/aside.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

static uint32_t find_row(const struct sl_snapshot *snap, uint32_t id)
{
	uint32_t j = 0;

	while (j < snap->job.rows && snap->job.id[j] != id)
		j++;
	return j < snap->job.rows ? j : SL_NONE;
}

static bool is_started(const struct sl_plan_image *plan, uint32_t id)
{
	for (uint32_t i = 0; i < plan->start.rows; i++)
		if (plan->start.job[i] == id)
			return true;
	return false;
}

static const struct sl_aside *find_aside(const struct sl_asides *a, uint32_t id)
{
	for (uint32_t i = 0; i < a->count; i++)
		if (a->item[i].job == id)
			return &a->item[i];
	return NULL;
}

void sl_asides_note(struct sl_asides *a, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		    const struct sl_cuts *cuts)
{
	for (uint32_t i = 0; i < cuts->count && a->count < SL_PLAN_REFUSED_MAX; i++) {
		const struct sl_cut *cut = &cuts->cut[i];
		uint32_t row;
		char *text;

		if (!cut->waits || !cut->text || (cut->table != SL_P_START && cut->table != SL_P_RESERVE) ||
		    is_started(plan, cut->job) || find_aside(a, cut->job) || (row = find_row(snap, cut->job)) == SL_NONE)
			continue;
		text = malloc(strlen(cut->text) + sizeof(SL_CUT_WHY ": "));
		if (!text || sl_grow(&a->item, &a->room, a->count + UINT64_C(1), sizeof(*a->item), NULL)) {
			free(text);
			return;
		}
		strcpy(stpcpy(text, SL_CUT_WHY ": "), cut->text);
		a->item[a->count++] = (struct sl_aside) { cut->job, snap->job.stamp[row], snap->meta.now[0] + SL_ASIDE_S, text };
	}
}

int sl_asides_apply(struct sl_asides *a, const struct sl_snapshot *snap, struct sl_cluster *c, struct sl_error *err)
{
	struct sl_map by_id = { 0 };
	uint32_t n = 0;
	int rc = 0;

	if (!a->count)
		return 0;
	if (sl_map_reserve(&by_id, snap->job.rows, err))
		return -1;
	for (uint32_t j = 0; j < snap->job.rows; j++)
		(void) sl_map_put(&by_id, sl_hash_id(snap->job.id[j]), j, NULL);
	for (uint32_t i = 0; i < a->count; i++) {
		struct sl_aside *it = &a->item[i];
		uint32_t row = sl_map_by_id(&by_id, it->job);
		int64_t now = snap->meta.now[0];

		/* (a clock that was set back is no reason to wait for longer) */
		if (row == SL_MAP_NOTHING || snap->job.stamp[row] != it->stamp || now >= it->until || it->until - now > SL_ASIDE_S) {
			free(it->text);
			continue;
		}
		rc = rc ? rc : sl_cluster_set_aside(c, row, it->text, err);
		a->item[n++] = *it;
	}
	a->count = n;
	sl_map_free(&by_id);
	return rc;
}

void sl_asides_free(struct sl_asides *a)
{
	for (uint32_t i = 0; i < a->count; i++)
		free(a->item[i].text);
	free(a->item);
	*a = (struct sl_asides) { 0 };
}
