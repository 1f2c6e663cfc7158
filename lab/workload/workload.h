/* SPDX-License-Identifier: MIT */
/*
 * workload.h - the jobs that a simulation submits, and the machine they run on.
 *
 * A workload is a snapshot image whose job rows are all pending and none of
 * which is queued yet: the simulator opens it, makes a cluster of it and moves
 * the jobs with sl_cluster_submit/start/finish.  Beside it stands what no policy
 * may see: how long each job really runs.
 *
 *	name				source
 *	FILE.swf, FILE.swf.gz		Standard Workload Format 2.2 (workload/swf.c)
 *	FILE.json			the JSON form of a snapshot, whose jobs also have
 *					"runtime_s" (workload/json.c)
 *	a file of any name		what `sacct -P` or `sacct --json` prints (workload/sacct.c, sacct_json.c), Batsim's
 *					JSON (workload/batsim.c), tables of traces (workload/trace.c)
 *	esp, esp-gpu, esp-gpu-rand	ESP-2 and its CPU+GPU forms (workload/esp.c)
 *	auction:I.1 ... auction:V.3	the generator of the AUCSCHED paper (workload/auction.c)
 *	synthetic[:jobs=N,...]		bursty, with users and inexact estimates (workload/synthetic.c)
 *
 * Rows are in the order of submission, ties as the source has them, so that the
 * simulator walks them from the first to the last.  Times are seconds since the
 * epoch; origin_s is the source's own zero.  Equal names, options and seed make
 * equal bytes.
 *
 * Nothing is dropped silently: what a source had that is no job of this workload
 * is counted in *issues*, with the first lines where it was seen.
 *
 * Memory: columns that hold nothing but zeroes are never written, so that a
 * million jobs take about 150 MB although the image is larger; keep the bytes as
 * they were mapped and do not copy them.
 *
 * Ownership: a workload owns all it points to.  Threads: none.
 */
#ifndef SL_WORKLOAD_H
#define SL_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/notes.h"
#include "image/snapshot.h"
#include "timeline/nodeset.h"

/* Ceilings: more is refused, with the ceiling named. */
#define SL_WORKLOAD_MAX_JOBS 2000000u
#define SL_WORKLOAD_MAX_SECONDS (INT64_C(1) << 32)	/* of a time or duration in a source: 136 years */

enum sl_issue {
	SL_ISSUE_FIELDS,	/* a row with too few fields, or with words for numbers */
	SL_ISSUE_NEGATIVE,	/* a time that lies before the origin */
	SL_ISSUE_BACKWARDS,	/* submitted before the row above: kept, sorted */
	SL_ISSUE_NO_RUNTIME,	/* ran for no time at all: skipped */
	SL_ISSUE_NO_CORES,	/* asked for no processor: skipped */
	SL_ISSUE_TOO_LARGE,	/* asks for more than the machine has: skipped */
	SL_ISSUE_OVERRUN,	/* ran longer than it asked for: cut there, or the limit is raised */
	SL_ISSUE_NO_ESTIMATE,	/* asked for no time: the runtime is taken */
	SL_ISSUE_UNLIMITED,	/* had no limit: its partition's is taken, or that of the options */
	SL_ISSUE_HEADER,	/* a header line that could not be used */
	SL_ISSUE_DUPLICATE,	/* a job id seen before: kept under another one */
	SL_ISSUE_STEP,		/* a job step or part of a job that the source lists apart: skipped */
	SL_ISSUE_STATE,		/* a job that never ran, or runs still: skipped */
	SL_ISSUE_MODEL,		/* part of a request that is not modelled: left out */
	SL_ISSUE_NOTES,		/* lines of *notes*, which has them whole */
	SL_ISSUES
};

#define SL_ISSUE_LINES 5

struct sl_issue_count {
	uint64_t count;
	uint64_t line[SL_ISSUE_LINES];	/* of the first ones; 0 where there is no line */
	char example[80];		/* what the first one said */
};

/*
 * What really became of a job, where its source says so (sl_workload_options.as_it_was).  *why* says what beside resources
 * and priority kept it waiting, or changed its run; a bit that the source cannot tell is set in sl_workload.real_lacks.
 */
enum sl_real_why {
	SL_REAL_LATER = 1 << 0,		/* became eligible after its submission: dependency, begin time, hold */
	SL_REAL_DEPENDENCY = 1 << 1,
	SL_REAL_BEGIN = 1 << 2,		/* --begin */
	SL_REAL_HOLD = 1 << 3,
	SL_REAL_LIMIT = 1 << 4,		/* of its association, QOS, partition or array */
	SL_REAL_RESERVATION = 1 << 5,	/* ran in an advance reservation, or waited for one */
	SL_REAL_NODES = 1 << 6,		/* nodes that it asked for were down or drained */
	SL_REAL_LICENSES = 1 << 7,
	SL_REAL_CONSTRAINTS = 1 << 8,	/* features of nodes, which are not modelled */
	SL_REAL_REQUEUED = 1 << 9,	/* ran before, or again */
	SL_REAL_SUSPENDED = 1 << 10,
};
#define SL_REAL_WHYS 11
#define SL_REAL_PRIORITY (1 << 11)	/* of real_lacks alone */
#define SL_REAL_ELIGIBLE (1 << 12)
#define SL_REAL_ALL ((1 << 13) - 1)

struct sl_real {
	int64_t submit_s;		/* when it was submitted; it enters the queue when it became eligible */
	int64_t start_s;
	uint32_t priority;		/* 0: not said */
	uint32_t why;			/* enum sl_real_why */
	bool ran;			/* when what the source tells begins: it enters the queue at its start, before others */
	struct sl_nodeset nodes;	/* of one that ran, if the source says which; none: it does not, or the machine has others */
	bool negative;			/* started before it was eligible, by its source: it enters the queue at its start */
};

struct sl_workload {
	char *name;			/* as it was asked for */
	void *bytes;			/* the image */
	size_t size;
	struct sl_snapshot snap;	/* the image, opened; jobs are snap.job.rows */
	int64_t *runtime_s;		/* per job row: what it really runs, > 0 */
	int64_t *wanted_s;		/* per job row: what it would run if its walltime did not end it; NULL: the same */
	int64_t *estimate_s;		/* per job row: what its user asked for; 0: nothing */
	int64_t *arrival_s;		/* per job row: when it enters the queue; NULL: when submitted */
	int64_t origin_s;		/* the source's zero, seconds since the epoch */
	int64_t exempt_s;		/* a job may be stopped for others from so many seconds after its start on */
	bool outstays;			/* jobs run on past a walltime that is too small */
	struct sl_real *real;		/* per job row, with as_it_was; else NULL */
	int64_t real_from_s;		/* since when the source tells of all jobs: its first end */
	uint32_t real_lacks;		/* SL_REAL_*: what the source cannot tell */
	uint32_t real_negative;		/* jobs that started before they were eligible */
	uint64_t rows_read;		/* of the source, comments left out */
	struct sl_issue_count issue[SL_ISSUES];
	struct sl_notes notes;		/* on the machine's file, and on what the source has that is not used */
};

struct sl_workload_options {
	/* NULL: what the source says of its machine, or the generator's own.
	 * Otherwise a machine (sl_machine_parse), or the name of a file: a snapshot
	 * (binary or JSON) or a slurm.conf, told apart by what is in them. */
	const char *machine;
	uint32_t procs;		/* not 0: a pool of so many processors instead */
	uint64_t seed;		/* of generators, and of cluster:random() */
	/* What the scheduler sees as walltime: "user" (or NULL) what the user asked
	 * for, "exact" the runtime, "x2.5" so many times the runtime. */
	const char *estimate;
	/* A job that ran longer than its user asked for is ended when its time is up, as
	 * Slurm does and as the published figures have it; or it runs on, and its walltime is raised
	 * to what it ran, or stays too small. */
	enum sl_overrun { SL_OVERRUN_ENDS, SL_OVERRUN_RAISES, SL_OVERRUN_STAYS } overrun;
	/* SWF: take the processors that a job asked for, not those that it had. */
	bool requested_procs;
	/* Only the jobs submitted from then on and before then: "30d" after the source's zero, or a
	 * day, "2024-01-31", or a second of it; NULL: no bound.  Of those all but the first so many,
	 * and of the rest only the first so many, where not 0; in the order of submission. */
	const char *from, *to;
	uint32_t skip, jobs;
	const char *tiers;	/* who may have whom stopped (workload/tiers.h); NULL: nobody, but as the source says */
	const char *unlimited;	/* walltime of a job without a limit in a partition without MaxTime; NULL: 365 days */
	/* Take from the source when each job really started (sl_workload.real); one that does not say so is refused.  Jobs
	 * enter the queue when they became eligible, and those that run at its end are taken to run to their limit. */
	bool as_it_was;
	const char *zone;	/* of times that sacct printed without their offset, "Europe/Berlin"; NULL: UTC */
	/* Rows that are no jobs, times before the origin or out of order, ids used
	 * twice and jobs that are too large are a failure. */
	bool strict;
};

/*
 * Read or make a workload.  Returns NULL with *err set: SL_ENOENT for a name that
 * is neither a file nor a generator (the text lists the known ones), SL_EIO,
 * SL_EFORMAT for a file that is no such thing (text: FILE:LINE: ...), SL_EINVAL
 * for options, SL_ELIMIT.  *opt* may be NULL.
 */
struct sl_workload *sl_workload_load(const char *name, const struct sl_workload_options *opt,
				     struct sl_error *err);
void sl_workload_destroy(struct sl_workload *w);

/* It is a file: its jobs are the same with each seed. */
bool sl_workload_is_file(const char *name);

/* What an issue is, in words: "rows with too few fields". */
const char *sl_issue_words(enum sl_issue issue);

/* Print the notes and the issues, one a line, each begun by *prefix*:
 * "3 jobs larger than the machine, skipped (lines 4, 17, 20: ...)". */
void sl_workload_print_issues(const struct sl_workload *w, const char *prefix, FILE *out);

/* The same for the issues alone, of a workload of that name. */
void sl_issues_print(const char *name, const struct sl_issue_count issue[SL_ISSUES], const char *prefix, FILE *out);

/* Write it as JSON or SWF that sl_workload_load() reads.  SWF keeps what it has
 * fields for.  Returns 0, or -1 with *err. */
int sl_workload_write_json(const struct sl_workload *w, FILE *out, struct sl_error *err);
struct sl_swf_run;
int sl_workload_write_swf(const struct sl_workload *w, const struct sl_swf_run *run, FILE *out, struct sl_error *err);

/* What came of a job, for the fields of SWF that say so; those that did not end are left out.  *run*
 * above is one for each row, or NULL: nothing is known. */
struct sl_swf_run {
	bool ended;
	int64_t wait_s, runtime_s;
	uint32_t procs, status;
};

/* -- machines (machine.c, machine_slurm.c) -------------------------------- */

/*
 * Append nodes, and a partition "all" with all of them, to a builder of
 * snapshots.  "1024x8c2g": 1024 nodes of 8 cores and 2 GPUs; "16x64c256000m4g:a100"
 * says MiB of memory and the type of GPU; t is threads a core, s sockets, w weight.
 * Kinds of nodes are separated by commas or plus signs.  Nodes are named "n0001",
 * ...; *select_flags is for the meta row.  Returns 0, or -1 with *err (SL_EINVAL:
 * what was expected and where).
 */
int sl_machine_parse(struct sl_builder *b, const char *text, uint32_t *select_flags, struct sl_error *err);

/*
 * A pool of processors as the simulators of the archive have it: what fits is a
 * matter of the sum.  One node of *procs* cores (several from 65,536 on).
 */
int sl_machine_pool(struct sl_builder *b, uint32_t procs, struct sl_error *err);

/*
 * The nodes and partitions of a file: a snapshot in either form, or a slurm.conf
 * with what stands beside it (conf/conf.h).  Jobs and reservations are
 * left out, and nodes that are down are up: the machine as it was built.  What a slurm.conf
 * has that the machine has not is added to *notes*, which may be NULL.
 */
int sl_machine_load(struct sl_builder *b, const char *path, uint32_t *select_flags, struct sl_notes *notes,
		    struct sl_error *err);

#endif
