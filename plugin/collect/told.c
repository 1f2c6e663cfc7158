/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/told.c - finished jobs that are in a snapshot because the ledger may lack them */
#include "base/grow.h"
#include "plugin/collect/int.h"

#define MOST_TOLD 20000	/* per snapshot, only for the ledger */

/* A run that cannot be noted, without memory, is put into the next snapshot again. */
static void note_told(struct sl_tellings *t, struct sl_told told)
{
	if (sl_grow(&t->run, &t->room, t->count + UINT64_C(1), sizeof(*t->run), NULL) ||
	    sl_map_put(&t->by_job, sl_hash_id(told.job), t->count, NULL))
		return;
	t->run[t->count++] = told;
}

bool sl_collect_is_told(struct sl_scratch *s, const job_record_t *job, bool recent)
{
	uint32_t was = sl_map_by_id(&s->told.by_job, job->job_id);
	struct sl_told is = { .job = job->job_id, .start = job->start_time };
	bool tell = recent;

	if (was != SL_MAP_NOTHING && s->told.run[was].start == job->start_time)
		is.sequence = s->told.run[was].sequence;
	if (!recent && s->in->ledger_safe >= 0 && (!is.sequence || is.sequence > s->in->ledger_safe))
		tell = s->only_told++ < MOST_TOLD;
	if (tell && !is.sequence)
		is.sequence = s->in->sequence;
	note_told(&s->telling, is);
	return tell;
}

void sl_collect_begin_telling(struct sl_scratch *s)
{
	struct sl_tellings before = s->told;

	s->told = s->telling;
	s->telling = before;
	s->telling.count = 0;
	sl_map_clear(&s->telling.by_job);
	s->only_told = 0;
}

void sl_collect_free_told(struct sl_tellings *t)
{
	free(t->run);
	sl_map_free(&t->by_job);
}
