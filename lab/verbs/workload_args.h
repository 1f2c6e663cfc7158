/* SPDX-License-Identifier: MIT */
/*
 * workload_args.h - the options by which verbs name a workload's machine, seed and
 * estimates: the same words wherever a workload is read.
 */
#ifndef SL_WORKLOAD_ARGS_H
#define SL_WORKLOAD_ARGS_H

#include "tool/options.h"
#include "workload/workload.h"

struct sl_workload_args {
	const char *machine, *estimate;
	const char *from, *to;
	const char *unlimited, *tiers;
	int64_t procs, seed, skip, first;
	bool overrun, outstay, requested_procs, strict;
};

/* Rows of an option table; *at* is a struct sl_workload_args in the values struct. */
#define SL_WORKLOAD_ARGS(values, at)							\
	{ .name = "machine", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, at.machine),	\
	  .argument = "NODES", .doc = "the machine, as in 1024x8c2g, or a snapshot, or a slurm.conf" },	\
	{ .name = "procs", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, at.procs),	\
	  .min = 0, .max = 4294967294.0, .argument = "N",					\
	  .doc = "the machine is a pool of so many processors; 0: what the workload says" },	\
	{ .name = "seed", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, at.seed),	\
	  .min = 0, .max = 4294967295.0, .standard = "0", .argument = "N",		\
	  .doc = "seed of workloads that are generated, and of policies" },			\
	{ .name = "estimate", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, at.estimate),	\
	  .standard = "user", .argument = "WHICH",						\
	  .doc = "what the scheduler knows: exact, user, or xF, F times the runtime" },		\
	{ .name = "overrun", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, at.overrun),	\
	  .doc = "jobs that ran longer than asked for do so, instead of ending by walltime" },	\
	{ .name = "outstay", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, at.outstay),	\
	  .doc = "they do so, and the scheduler goes on believing what they asked for" },	\
	{ .name = "unlimited", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, at.unlimited), .argument = "TIME",	\
	  .doc = "walltime of jobs without a limit where their partition has no MaxTime; without it 365 days" },	\
	{ .name = "tiers", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, at.tiers), .argument = "SPEC",	\
	  .doc = "whose jobs may have others stopped, as in qos=strict,checkpoint=30,grace=2m" },	\
	{ .name = "requested-procs", .type = SL_OPTION_FLAG,					\
	  .offset = offsetof(struct values, at.requested_procs),				\
	  .doc = "of an SWF log, the processors asked for, not those that jobs had" },		\
	{ .name = "from", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, at.from), .argument = "TIME",	\
	  .doc = "only jobs submitted from then on: 30d after the log's beginning, or a date" },	\
	{ .name = "to", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, at.to), .argument = "TIME",	\
	  .doc = "only jobs submitted before then" },						\
	{ .name = "skip", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, at.skip),	\
	  .min = 0, .max = SL_WORKLOAD_MAX_JOBS, .argument = "N", .doc = "of those, without the first N" },	\
	{ .name = "first", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, at.first),	\
	  .min = 0, .max = SL_WORKLOAD_MAX_JOBS, .argument = "N", .doc = "of those, only the first N; 0: all" },	\
	{ .name = "strict", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, at.strict),	\
	  .doc = "rows that are no jobs, and jobs larger than the machine, are errors" }

static inline struct sl_workload_options sl_workload_args(const struct sl_workload_args *a)
{
	return (struct sl_workload_options) {
		.machine = a->machine, .procs = (uint32_t) a->procs, .seed = (uint64_t) a->seed,
		.estimate = a->estimate, .overrun = a->outstay ? SL_OVERRUN_STAYS : a->overrun ? SL_OVERRUN_RAISES : SL_OVERRUN_ENDS,
		.requested_procs = a->requested_procs, .unlimited = a->unlimited, .tiers = a->tiers,
		.from = a->from, .to = a->to, .skip = (uint32_t) a->skip,
		.jobs = (uint32_t) a->first, .strict = a->strict,
	};
}

#endif
