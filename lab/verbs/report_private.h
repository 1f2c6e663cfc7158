/* SPDX-License-Identifier: MIT */
/*
 * report_private.h - what the parts of schedlua report share: cmd_report.c has the snapshot and
 * the page, report_read.c the ledger and the journal, report_held.c what jobs that the snapshot knows hold and ask for,
 * report_stopped.c the jobs that were stopped for others.
 */
#ifndef SL_REPORT_PRIVATE_H
#define SL_REPORT_PRIVATE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "image/plan_image.h"
#include "image/snapshot.h"
#include "report/metrics.h"

#define PARTS 480		/* of the time, for how many waited for what */

struct report_values {
	const char *dir, *ledger, *last, *output, *user;
};

/* A row of the page: a job that waits (start 0), or one of its runs. */
struct row {
	uint32_t job, user, partition, cores, gpus;	/* user: a string of the builder, 0: not known yet */
	int64_t submit, start, end;		/* end 0: it runs still */
	int64_t limit;				/* walltime */
	int64_t planned_start, planned_end;	/* of the plan's reservation, or when it is to end if it runs; 0: not known */
	bool ended;				/* end is known, or that it has none */
	uint32_t node_count;
	char *nodes;				/* where it ran, or where the plan has it */
};

/* A job, while lines are read back. */
struct job {
	uint32_t id, row;		/* SL_NONE: it has none yet */
	int64_t next;			/* what is said of it before holds until then */
	bool waits;			/* and then it waited still: it has not left the queue */
};

struct run {			/* of the ledger */
	uint32_t job, user, nodes, gpus, partition;
	int64_t start, end;
	bool taken;
};

/* A job that was stopped for another one, as the journal says. */
struct stop_told {
	uint32_t job, preemptor, mode, verdict;
	int64_t at;
};

struct report {
	const struct report_values *v;
	char dir[PATH_MAX], policy[80], policies[400];
	int64_t last, since, until;
	int64_t horizon;		/* nobody is known to wait after that without being named since */
	bool all_named;			/* who waited when the time begins is known */

	void *bytes;
	struct sl_snapshot now;		/* last.snap */
	struct sl_map row_of;		/* job id -> its row there */
	uint32_t *id;			/* of each row of the page */
	struct sl_builder *b;
	struct sl_map nodes;		/* -> row, of the page's machine */
	uint32_t only;			/* the user whose page it is, a string of the builder; 0: everybody's */
	uint32_t *node_name, *partition_name;	/* of a user's page: those that the user's jobs have, the others nameless */

	struct row *row;
	struct job *job;
	struct run *run;
	struct stop_told *stop;
	uint32_t rows, row_room, jobs, job_room, runs, run_room, stops, stop_room;
	struct sl_map by_job, by_run;
	uint32_t missing;		/* runs that began before the time and whose start was not read yet */
	bool no_ledger;
	double waited[SL_WHYS * PARTS];	/* job-seconds */
	uint32_t parts;
	int64_t oldest;			/* line that was read */
	struct sl_error *err;
};


/* Find the newest instant, and read the ledger and the journal from there back as far as the page goes.
 * r->now, r->b and r->row_of are there.  0, or -1 with *r->err. */
int sl_report_read(struct report *r);

/* The runs of the page that were stopped for other jobs (report_stopped.c).  0, or -1 with *r->err. */
struct sl_page;
int64_t sl_report_stopped_at(const struct report *r, const struct row *row);	/* when that run was told to end; 0: it was not */
int sl_report_put_stopped(struct report *r, struct sl_page *page);

/*
 * What a row's job that runs still holds, by node, as the snapshot has it: 1 with a list that is the caller's to free, and all
 * GPUs; 0: it does not run, or the page's nodes are not those of the snapshot; -1 with the error.
 */
int sl_report_held(const struct report *r, const struct row *row, struct sl_stretch **stretch, uint32_t *count, uint32_t *gpus);

/* What it asks for: as the snapshot has it; of a job that is forgotten, what it held, if it had GPUs. */
void sl_report_ask(const struct report *r, const struct row *row, struct sl_job_row *job);

#endif
