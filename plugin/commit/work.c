/* SPDX-License-Identifier: GPL-2.0-or-later */
/* work.c - see work.h */
#include "plugin/commit/work.h"

#define BRIEF_US 8000

void sl_hold_take_brief(struct sl_hold *h, struct sl_commit *m, slurmctld_lock_t locks)
{
	sl_hold_take(h, m, locks);
	h->most = MIN(h->most, BRIEF_US);
}

void sl_hold_take(struct sl_hold *h, struct sl_commit *m, slurmctld_lock_t locks)
{
	*h = (struct sl_hold) { .m = m, .locks = locks, .most = (uint64_t) (m->batch_ms * 1000) };
	lock_slurmctld(locks);
	h->since = sl_clock_us();
}

bool sl_hold_lasts(struct sl_hold *h)
{
	uint64_t now = sl_clock_us();
	bool first = !h->step;

	if (!first)
		h->longest = MAX(h->longest, now - h->step);
	h->step = now;
	if (atomic_load(h->m->stop))
		return false;
	return first || now + h->longest + h->longest / 2 < h->since + h->most;
}

void sl_hold_leave(struct sl_hold *h)
{
	sl_times_add(&h->m->status->commit_hold, sl_clock_us() - h->since);
	unlock_slurmctld(h->locks);
}

bool sl_commit_same_world(const struct sl_commit *m)
{
	return slurm_conf.last_update == m->c->conf_update && node_record_count == m->c->node_count &&
		!slurmctld_config.shutdown_time;
}
