/* SPDX-License-Identifier: MIT */
/*
 * model/devices.h - gres that are shares of others (shard and mps, of GPUs), as the timeline has them: each device
 * that has shares is a kind of its own, beyond those of the snapshot.
 *
 * All shares are left to Slurm's select where devices of a node are unequal, or have shares of two kinds, and where
 * there are not kinds enough for the devices of a node.
 */
#ifndef SL_MODEL_DEVICES_H
#define SL_MODEL_DEVICES_H

#include "model/cluster.h"

/* Choose the devices' kinds, from *first* on, into c->devices; which kinds of gres are modelled is known, and
 * changes for those that are left to select. */
void cluster_choose_devices(struct sl_cluster *c, uint32_t first);

/* The shares that a node's devices have, by their kinds, added to its capacity. */
void cluster_device_capacity(const struct sl_cluster *c, uint32_t node, uint16_t *capacity);

/* What a running job has of them by a row of alloc_gres, added to *gres. */
void cluster_hold_devices(const struct sl_cluster *c, uint32_t node, uint32_t row, uint16_t *gres);

/* Which devices a place has for a kind of gres, as bits, and of which kind they are (SL_NONE: it is no share). */
uint32_t sl_cluster_devices(const struct sl_cluster *c, const uint16_t *gres, uint32_t kind, uint32_t *of);

#endif
