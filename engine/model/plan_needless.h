/* SPDX-License-Identifier: MIT */
/* plan_needless.h - take back stops that the plan does not need (plan_needless.c), for plan_*.c only. */
#ifndef SL_PLAN_NEEDLESS_H
#define SL_PLAN_NEEDLESS_H

#include "model/plan_private.h"

/* A victim whose stop was taken back after part of what it holds had been planned for other jobs. */
struct orphan {
	struct stop stop;
	struct node_booking *booking;	/* what is booked for it since, from stop.from on */
	uint32_t bookings;
};

/* Take back the stops of jobs that can go on running after all.  With *drops*: also if that costs a reservation that begins
 * on their nodes once the preemptor has ended; that reservation is taken back, too.  0, or -1 with *err. */
int plan_drop_needless(struct sl_plan *p, bool drops, struct sl_error *err);

/* Take back one stop: its victim goes on running.  If part of what the victim holds was planned for other jobs meanwhile, the
 * victim becomes an orphan: it is booked with what is left, no other job may stop it in this plan, and plan_settle() takes back
 * the reservations that overlap it. */
void plan_go_on(struct sl_plan *p, const struct stop *s);
bool plan_is_orphan(const struct sl_plan *p, uint32_t job);
void plan_free_orphans(struct sl_plan *p);

/* The last step of a decision: take back reservations that rest on stops or places that are gone, and stops that no job needs.
 * 0, or -1 with *err. */
int plan_settle(struct sl_plan *p, struct sl_error *err);

#endif
