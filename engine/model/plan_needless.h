/* SPDX-License-Identifier: MIT */
/* plan_needless.h - stops of the plan that are none any more (plan_needless.c), for plan_*.c only. */
#ifndef SL_PLAN_NEEDLESS_H
#define SL_PLAN_NEEDLESS_H

#include "model/plan_private.h"

/* One whose stop was taken back when others had been given a part of his room already. */
struct orphan {
	struct stop stop;
	struct node_booking *booking;	/* what is booked for him since, from stop.from on */
	uint32_t bookings;
};

/* Whoever is stopped and could go on does; with *drops* also if reservations have to be taken back that count on his
 * end, and for which he is not stopped.  0, or -1 with *err. */
int plan_drop_needless(struct sl_plan *p, bool drops, struct sl_error *err);

/* A stop is none any more.  If others were given a part of the victim's room, he has what is left, nobody may stop him in this plan, and
 * plan_settle() takes back their reservations. */
void plan_go_on(struct sl_plan *p, const struct stop *s);
bool plan_is_orphan(const struct sl_plan *p, uint32_t job);
void plan_free_orphans(struct sl_plan *p);

/* All is decided: what rests on nothing, and stops that nobody needs, are taken back.  0, or -1 with *err. */
int plan_settle(struct sl_plan *p, struct sl_error *err);

#endif
