/* SPDX-License-Identifier: MIT */
/*
 * load.h - workloads loaded from files that a test writes into a directory of its own (scratch.h).
 *
 *	struct sl_workload *w = LOAD(file("a.swf", small_swf), .machine = "5x4c");
 *	REFUSED(path, SL_EINVAL, "expected exact, user, or x", .estimate = "x0.5");
 *
 * Workloads are the caller's.
 */
#ifndef LOAD_H
#define LOAD_H

#include "workload/workload.h"
#include "t/scratch.h"

extern char path[96];		/* of the last file */

/* A file with this text in the directory; its path, good until the next one. */
const char *file(const char *name, const char *text);

/* The workload, or the test fails. */
struct sl_workload *load(const char *name, struct sl_workload_options opt);

#define LOAD(name, ...) load(name, (struct sl_workload_options) { __VA_ARGS__ })

/* Loading must fail, with these words in the message. */
void refused(const char *name, struct sl_workload_options opt, enum sl_errno code, const char *words);

#define REFUSED(name, code, words, ...) refused(name, (struct sl_workload_options) { __VA_ARGS__ }, code, words)

/* What the jobs take of the machine in all. */
double core_seconds(const struct sl_workload *w);

const char *str(const struct sl_workload *w, uint32_t s);

/* Three jobs on a machine of ten processors. */
extern const char small_swf[];

#endif
