/* SPDX-License-Identifier: MIT */
/*
 * model/devices.h - gres that are shares of other gres (shard and mps, of GPUs).  Each device with shares becomes a gres kind
 * of the timeline, after the kinds of the snapshot.
 *
 * Shares are left to Slurm's select if the devices of a node are unequal or have two kinds of shares, or if there are not
 * enough kinds left.
 */
#ifndef SL_MODEL_DEVICES_H
#define SL_MODEL_DEVICES_H

#include "model/cluster.h"

/* Assign kinds to devices, from *first* on, into c->devices.  c->modelled must be set; it is cleared for kinds left to
 * select. */
void cluster_choose_devices(struct sl_cluster *c, uint32_t first);

/* Add the shares of a node's devices to its capacity, by kind. */
void cluster_device_capacity(const struct sl_cluster *c, uint32_t node, uint16_t *capacity);

/* Add what a running job has of devices, by a row of alloc_gres, to *gres. */
void cluster_hold_devices(const struct sl_cluster *c, uint32_t node, uint32_t row, uint16_t *gres);

/* Bits: the devices that a place has for a kind of gres; *of: the kind of these devices (SL_NONE: not a share). */
uint32_t sl_cluster_devices(const struct sl_cluster *c, const uint16_t *gres, uint32_t kind, uint32_t *of);

#endif
