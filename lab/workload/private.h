/* SPDX-License-Identifier: MIT */
/*
 * workload/private.h - what the sources of workloads share.
 *
 * A source puts drafts of jobs into a store (workload/store.c), which makes the
 * image of them when all are there.
 */
#ifndef SL_WORKLOAD_PRIVATE_H
#define SL_WORKLOAD_PRIVATE_H

#include <stdarg.h>

#include "base/lines.h"
#include "base/random.h"
#include "workload/workload.h"

/* Where time begins for sources that say nothing of it: 2000-01-01 00:00 UTC. */
#define SL_WORKLOAD_ORIGIN INT64_C(946684800)

/* A job as a source gives it.  Begin with sl_draft(). */
struct sl_draft {
	int64_t submit_s;		/* since the origin */
	int64_t runtime_s, estimate_s;	/* estimate 0: none */
	uint64_t line;			/* of the source, 0: none */
	uint32_t id;			/* 0: the store numbers it */
	uint32_t uid;
	uint32_t user, account, qos, name;	/* sl_store_str() */
	uint32_t partition;		/* row of the machine's; SL_NONE: the default one */
	uint32_t tasks, cpus_per_task, min_nodes, max_nodes, ntasks_per_node;
	uint32_t segment;		/* --segment; 0: not said */
	uint32_t memory_per_cpu;	/* MiB */
	uint32_t gpus, gpu_type;	/* sl_store_str() */
	uint32_t gpus_per;		/* enum sl_per */
	uint32_t flags;			/* SL_JOBF_* */
	uint32_t real;			/* sl_reals_add(); 0: nothing is known */
};

static inline struct sl_draft sl_draft(void)
{
	return (struct sl_draft) {
		.uid = SL_NONE, .partition = SL_NONE, .tasks = 1, .cpus_per_task = 1, .min_nodes = 1, .gpus_per = SL_PER_NODE,
		.flags = SL_JOBF_BATCH,
	};
}

struct sl_store;

struct sl_store *sl_store_create(const char *name, const struct sl_workload_options *opt, struct sl_error *err);
void sl_store_destroy(struct sl_store *s);
const struct sl_workload_options *sl_store_options(const struct sl_store *s);

/* The walltime of a job without a limit, in a partition without one. */
int64_t sl_store_unlimited(const struct sl_store *s);

/* Where nodes, partitions and gres kinds go; sl_store_machine() fills it from the
 * options.  Returns 1 if they name a machine, 0 if they do not, -1 with *err. */
struct sl_builder *sl_store_builder(struct sl_store *s);
int sl_store_machine(struct sl_store *s, struct sl_error *err);
int sl_store_set_machine(struct sl_store *s, const char *text, struct sl_error *err);

/* The machine, opened, once it is there.  Valid until sl_store_finish(). */
const struct sl_snapshot *sl_store_snapshot(struct sl_store *s, struct sl_error *err);

/* Where submit_s begins; 0: they are absolute. */
void sl_store_set_origin(struct sl_store *s, int64_t seconds);
void sl_store_note(struct sl_store *s, enum sl_issue issue, uint64_t line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Rows of which that was noted so far. */
uint64_t sl_store_noted(const struct sl_store *s, enum sl_issue issue);

/* The first failure of those that are sticky: -1 with *err, or 0.  Memory that ran out is one of them. */
int sl_store_failed(const struct sl_store *s, struct sl_error *err);
void sl_store_fail_memory(struct sl_store *s);

/* A string of the workload; equal ones are one.  0 is the empty string.  Failure
 * (memory) is sticky and comes out of sl_store_finish(). */
uint32_t sl_store_str(struct sl_store *s, const char *text);

/* Take a job, or drop it and note why.  Returns 1 when as many as wanted are there,
 * else 0; failure is sticky. */
int sl_store_add(struct sl_store *s, const struct sl_draft *job);
uint32_t sl_store_jobs(const struct sl_store *s);

/* What the source has that is not used, in lines for people. */
struct sl_notes *sl_store_notes(struct sl_store *s);

/* Rows of the source that were looked at, for sl_workload.rows_read. */
void sl_store_count_row(struct sl_store *s);

/* The workload.  The store is empty afterwards and only good for destruction. */
struct sl_workload *sl_store_finish(struct sl_store *s, struct sl_error *err);

/* -- store_real.c: what really became of jobs ---------------------------- */

/* In the order added.  The first failure is kept, and comes out of sl_store_finish(). */
struct sl_reals {
	struct sl_real *real;
	char **nodes;			/* of each: the list of its nodes; NULL: not said */
	uint32_t nodes_room;
	uint32_t count, room, lacks, negative;
	uint64_t negative_line;		/* of the first */
	struct sl_error err;
};

/* Those of the store; NULL where nobody wants them. */
struct sl_reals *sl_store_reals(struct sl_store *s);

/*
 * Give a draft what really became of it: when it was eligible (INT64_MIN: not said), started and was submitted, all on the
 * draft's clock (submit_s), and on which nodes ("": not said).  The draft enters the queue then.
 */
void sl_reals_add(struct sl_reals *r, struct sl_draft *j, int64_t eligible_s, int64_t start_s, uint32_t priority, uint32_t why,
		  const char *nodes);
void sl_reals_fail(struct sl_reals *r, enum sl_errno code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* When all drafts are there: those that ran when the first of them ended enter the queue at their start.  0, or -1. */
int sl_reals_settle(struct sl_reals *r, const char *name, struct sl_draft *job, uint32_t jobs, struct sl_error *err);

/* Into the workload, row by row.  0, or -1. */
int sl_reals_fill(struct sl_reals *r, struct sl_workload *w, const struct sl_draft *job, const uint32_t *order, int64_t origin,
		  struct sl_error *err);

void sl_reals_free(struct sl_reals *r);
void sl_real_free(struct sl_real *real, uint32_t rows);

/* -- store_tables.c ------------------------------------------------------ */

/* Defaults that are not zero, in every column of the job table. */
void sl_store_fill_defaults(const struct sl_job_view *view);

/* Everything but the jobs: the machine's tables, as its own image has them, with so many rows each.  And how many these are. */
void sl_store_copy_tables(const struct sl_snapshot *from, void *to, const uint32_t *rows);
void sl_store_count_rows(const struct sl_snapshot *machine, uint32_t *rows);

/* -- shared with workload/json.c ---------------------------------------- */

/* The options' from and to in seconds after the source's zero, which is at *origin*; INT64_MAX: no
 * bound.  0, or -1 with *err. */
int sl_window_parse(const struct sl_workload_options *opt, int64_t origin, int64_t *from, int64_t *to,
		    struct sl_error *err);

/* "exact", "user" or "xF" -> 0, -1, F. */
int sl_estimate_parse(const char *text, double *factor, struct sl_error *err);

/* The walltime that the scheduler sees; *runtime is cut to what its user asked for where that
 * ends a job. */
int64_t sl_workload_walltime(double factor, enum sl_overrun overrun, int64_t *runtime, int64_t estimate);

void sl_issue_note(struct sl_issue_count *issue, uint64_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void sl_issue_vnote(struct sl_issue_count *issue, uint64_t line, const char *fmt, va_list ap);

/* In strict mode the first issue that counts is a failure: -1 with *err. */
int sl_issues_judge(const char *name, const struct sl_issue_count *issue, struct sl_error *err);

/* -- parameters of generators: "name:KEY=VALUE,..." ---------------------- */

struct sl_param {
	const char *key;
	double *value;
	double min, max;
};

/* Set the values that *text* has.  0, or -1 with *err naming the known keys. */
int sl_params_parse(const char *name, const char *text, const struct sl_param *param, uint32_t params,
		    struct sl_error *err);

/* -- sources: each fills the store, or fails ----------------------------- */

int sl_workload_read_swf(struct sl_store *s, const char *path, struct sl_error *err);
int sl_workload_read_sacct(struct sl_store *s, const char *path, struct sl_error *err);
int sl_workload_read_events(struct sl_store *s, const char *path, struct sl_error *err);
int sl_workload_make_esp(struct sl_store *s, const char *name, struct sl_error *err);
int sl_workload_make_auction(struct sl_store *s, const char *name, struct sl_error *err);
int sl_workload_make_synthetic(struct sl_store *s, const char *name, struct sl_error *err);

/* -- machines ------------------------------------------------------------ */

uint32_t sl_machine_gres_kind(struct sl_builder *b, const char *name, const char *type);
void sl_machine_add_all(struct sl_builder *b);
int sl_machine_load_conf(struct sl_builder *b, const char *path, uint32_t *select_flags, struct sl_notes *notes,
			 struct sl_error *err);

/* A table of the nodes of openb: 1, 0, or -1 with *err without memory. */
int sl_machine_is_openb(const char *path, struct sl_error *err);
int sl_machine_load_openb(struct sl_builder *b, const char *path, uint32_t *select_flags, struct sl_error *err);

/* The machine that options name: 1, 0 for none, -1 with *err. */
int sl_machine_from_options(struct sl_builder *b, const struct sl_workload_options *opt, uint32_t *select_flags,
			    struct sl_notes *notes, struct sl_error *err);

#endif
