/* SPDX-License-Identifier: MIT */
/* cluster_sleep.c - jobs that are suspended for others and resume when these are gone (sl_cluster_sleep()). */
#include "model/cluster_private.h"

#include <stdlib.h>

/* Release what the job holds from now on, except its licences. */
static int let_go(struct sl_cluster *c, uint32_t job, struct sl_error *err)
{
	struct held *h = c->held[job];

	if (cluster_release(c, job, h, err) < 0)
		return -1;
	return h->end > c->now ? cluster_count_licenses(c, h->licenses, c->now, h->end, -1, err) : 0;
}

/* Book all of its places if they are free; else what others leave until s->until, and all afterwards. */
static int lay_down(struct sl_cluster *c, struct sl_sleeper *s, struct sl_error *err)
{
	struct held *h = c->held[s->job];
	int64_t from = s->until > c->now ? s->until : c->now;
	struct sl_error why;
	int rc = cluster_hold_strictly(c, s->job, h, c->now, sl_later(c->now, s->rest_s), &why);

	s->is_awake = rc == 0;
	if (rc && why.code != SL_EBUSY) {
		if (err)
			*err = why;
		return -1;
	}
	if (rc && cluster_hold(c, s->job, h, c->now, sl_later(from, s->rest_s), err) < 0)
		return -1;
	h->due = h->end;
	if (h->due < c->first_end)
		c->first_end = h->due;
	return cluster_count_licenses(c, h->licenses, c->now, h->end, 1, err);
}

/* Book the cores of a place that is kept free for another job. */
static int set_aside(struct sl_cluster *c, const struct sl_sleeper *s, struct node_booking **list, uint32_t *count, struct sl_error *err)
{
	for (uint32_t i = 0; i < s->before_count; i++) {
		const struct sl_resources r = { .cores = (int32_t) s->before[i].cores };

		if (cluster_book_available(c, c->tl, s->before[i].node, &r, c->now, s->until, list, count, err) < 0)
			return -1;
	}
	return 0;
}

int sl_cluster_sleep(struct sl_cluster *c, struct sl_sleeper *s, uint32_t count, struct sl_error *err)
{
	struct node_booking *aside = NULL;
	uint32_t asides = 0;
	int rc = cluster_specials_lift(c, err);

	for (uint32_t i = 0; !rc && i < count; i++)
		rc = let_go(c, s[i].job, err);
	for (uint32_t i = 0; !rc && i < count; i++)
		rc = set_aside(c, &s[i], &aside, &asides, err);
	for (uint32_t i = 0; !rc && i < count; i++)
		rc = lay_down(c, &s[i], err);
	while (!rc && asides)
		rc = cluster_unbook_on_node(c, &aside[--asides], err);
	free(aside);
	for (uint32_t i = 0; i < c->enclaves; i++)
		c->enclave[i]->dirty = true;
	return rc ? -1 : cluster_specials_place(c, err);
}
