/* SPDX-License-Identifier: MIT */
/*
 * fake_hostile.h - an engine that means harm: answers that no engine gives, for
 * t/plugin/fake_engine.
 *
 *   frame-short frame-long frame-magic frame-type frame-length	packets that are no frames
 *   frame-twice	the answer, and the same again
 *   frame-flood	answers until the socket takes no more
 *   frame-half		half an answer, then silence
 *   fd-none fd-unsealed fd-shrunk fd-hole fd-pipe fd-directory fd-zero fd-many
 *			a plan whose descriptor is no sealed memfd, or not one
 *   plan-flood		60,000 starts and 60,000 reservations
 *   plan-actions	60,000 actions for one job
 *   plan-texts		long texts for 60,000 rows
 *   plan-range		rows of nodes, partitions and gres that are not there
 *   forge		names and reasons with line ends and escapes
 *   figures		an interval and a budget of 1e300 seconds
 *   kept-giant kept-garbage kept-zero	what is to be kept is no set
 */
#ifndef FAKE_HOSTILE_H
#define FAKE_HOSTILE_H

#include "image/wire.h"

/* Answer a request in that mode: 1 when it was answered so; 0: as an honest engine would. */
int hostile_answer(const char *mode, int sock, const struct sl_frame *request);

#endif
