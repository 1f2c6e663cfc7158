/* SPDX-License-Identifier: MIT */
/*
 * random_verb.h - one step of a policy that decides at random: it starts, backfills, reserves,
 * refuses or undoes some job of the queue, with a random method and sometimes on borrowed nodes.
 *
 * The step never misuses the interface, so the test fails if sl_plan_*() reports an error. It
 * also fails if a job is refused for lack of resources although it could start now.
 */
#ifndef RANDOM_VERB_H
#define RANDOM_VERB_H

#include "t/model/desk.h"

/* Draws from *s, which it advances. */
void random_verb(struct desk *d, uint64_t *s);

#endif
