/* SPDX-License-Identifier: MIT */
/*
 * confs.h - a slurm.conf and what stands beside it, in a directory of the test's own (scratch.h).
 *
 *	put("more.conf", "NodeName=n2\n");
 *	struct sl_conf *c = conf("Include more.conf\nNodeName=n1\n");
 *	assert_string_equal(nodes(c), "n1 n2");
 *
 * What is put there stays until it is put anew or removed; a struct sl_conf is the caller's.
 */
#ifndef CONFS_H
#define CONFS_H

#include "conf/conf.h"
#include "t/scratch.h"

/* Write a file of the directory; NULL removes it.  Its path, good until the next one. */
const char *put(const char *name, const char *text);

/* Read this as slurm.conf, or the test fails. */
struct sl_conf *conf(const char *text);

/* It must be refused, with these words. */
void refused(const char *text, const char *words);

/* There is a note with these words. */
void noted(const struct sl_conf *c, const char *words);

/* The names, with a blank between two; good until the next call. */
const char *nodes(const struct sl_conf *c);
const char *members(const struct sl_conf *c, const char *partition);

/* "gpu:a100 4, nic 1" of the node, "none" where there is nothing. */
const char *gres(const struct sl_conf *c, const char *node);

const struct sl_conf_node *node(const struct sl_conf *c, const char *name);
const struct sl_conf_kind *kind(const struct sl_conf *c, const char *name);
const struct sl_conf_partition *partition(const struct sl_conf *c, const char *name);

#endif
