/* SPDX-License-Identifier: MIT */
/*
 * workload/json.h - workloads in JSON, told apart by what is in them: snapshots whose jobs have a runtime
 * (json.c), what `sacct --json` prints (sacct_json.c), Batsim's workloads (batsim.c).
 *
 * Ownership: a root is the caller's.
 */
#ifndef SL_WORKLOAD_JSON_H
#define SL_WORKLOAD_JSON_H

#include <stdbool.h>

#include <jansson.h>

#include "workload/private.h"

/* The text of a file, compressed or not; NULL with *err. */
json_t *sl_json_parse_file(const char *path, struct sl_error *err);

bool sl_json_is_sacct(const json_t *root);
bool sl_json_is_batsim(const json_t *root);

int sl_workload_read_sacct_json(struct sl_store *s, const char *path, const json_t *root, struct sl_error *err);
int sl_workload_read_batsim(struct sl_store *s, const char *path, const json_t *root, struct sl_error *err);

/* It changes the root. */
struct sl_workload *sl_workload_read_json(const char *path, json_t *root, const struct sl_workload_options *opt,
					  struct sl_error *err);

#endif
