/* SPDX-License-Identifier: MIT */
/*
 * same.h - two clusters that must be free at the same times.
 */
#ifndef SAME_H
#define SAME_H

#include "model/cluster.h"

/* Fail the test unless queues, totals and what is free on every node from now on are
 * the same; *seed* is for the message. */
void must_equal(struct sl_cluster *a, struct sl_cluster *b, uint64_t seed);

#endif
