/* SPDX-License-Identifier: MIT */
/*
 * page.h - simulated schedules as one HTML page that opens from disk.
 *
 * The page has everything in it: style, the charts' code, the chart library with
 * its licence, and the schedules, 5 to 10 bytes a job and run.  Opened in a
 * browser it asks the network for nothing.  Same input, same bytes.
 *
 *	p = sl_page_open("out.html", "KTH-SP2 under two policies", &err);	before the run
 *	sl_page_workload(p, w, &about, &err);
 *	for each policy:
 *		sl_page_begin_run(p, "easy", &err);
 *		for each job that was started, in any order:
 *			sl_page_job(p, &job, &err);
 *		for each run that was stopped for another job, if any:
 *			sl_page_stop(p, &stop, &err);
 *		sl_page_end_run(p, &result, now, &err);
 *	sl_page_finish(p, &err);
 *	sl_page_destroy(p);
 *
 * A page may have several workloads, each followed by its runs; the reader
 * chooses one.  Until sl_page_finish() all is in a temporary file beside *path*;
 * sl_page_destroy() without it removes the file and leaves what was at *path* before.
 *
 * The files it is made of are in report/: page.html (the template), the *.css and
 * *.js, and the chart library that `make report-library` brings from the npm
 * registry and release tarballs contain; without it a page has figures and tables only.  They are looked for in $SCHEDLUA_REPORT; where that is not set, in the
 * build tree by a program that runs there, else in $(pkgdatadir)/report, or
 * ../share/schedlua/report beside the program.
 *
 * Ownership: a page copies what it is given, and borrows the workload until the
 * next one or the end.  Threads: none.
 */
#ifndef SL_PAGE_H
#define SL_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/metrics.h"
#include "workload/workload.h"

struct sl_page;

/* How many jobs waited for what: means over equal parts of the time shown. */
struct sl_page_reasons {
	const char *const *word;
	uint32_t words, parts;
	const double *jobs;		/* of each word, parts of them */
};

/* What the page says of a workload, beside what it is itself. */
struct sl_page_about {
	const char *command;		/* that made the page; NULL: not told */
	const char *machine;		/* as it was asked for; NULL: the nodes in figures */
	const char *options;		/* "interval 30 s, estimates x2"; NULL or "": none */
	const char *notes;		/* what the reader has to know; NULL or "": nothing */
	uint64_t seed;
	int64_t from_s, until_s;	/* what happened then on a cluster; until_s 0: a simulation, all of it */
	struct sl_page_reasons reasons;
	const char *user;		/* whose jobs alone are on the page; NULL: everybody's */
	const char *shadow;		/* what schedlua shadow report --json has of that time; NULL: nothing */
};

/* The end that is planned for a job that runs (no stretches), or the reservation of one that waits. */
struct sl_page_planned {
	uint32_t job;			/* row of the workload */
	int64_t start_s, end_s;
	const struct sl_stretch *stretch;	/* in ascending order */
	uint32_t stretches;
};

struct sl_page_job {
	uint32_t job;			/* row of the workload */
	int64_t start_s, end_s;		/* end_s 0: runs still */
	uint32_t gpus;			/* in all */
	const struct sl_stretch *stretch;	/* in ascending order */
	uint32_t stretches;
};

/* A run that was ended for another job.  A job that was requeued runs again, or waits.  One that was cancelled has no other run: what
 * sl_page_job() was told is this run, *in_job* is true, and *stretches* is 0. */
struct sl_page_stop {
	uint32_t job, preemptor;	/* rows of the workload; SL_NONE: for no job in particular */
	uint32_t mode, verdict;		/* SL_STOP_*; SL_VERDICT_*, how the set was chosen */
	int64_t start_s, told_s, end_s;	/* began; was told to end; ended */
	int64_t lost_s;			/* seconds of work that are to be done again */
	bool in_job;
	uint32_t cores, gpus;		/* in all */
	const struct sl_stretch *stretch;	/* in ascending order */
	uint32_t stretches;
};

/*
 * Begin a page.  *path* must be a new name or a regular file, in a directory that
 * can be written.  Returns NULL with *err set: SL_EIO for the path, SL_ENOENT when
 * an asset is not there, SL_EFORMAT for assets that make no page, SL_ENOMEM.
 */
struct sl_page *sl_page_open(const char *path, const char *title, struct sl_error *err);
void sl_page_destroy(struct sl_page *p);

/* What the page will lack, and how it is had, in one line for the user: the charts, where the chart library was not
 * found.  NULL: nothing. */
const char *sl_page_lacks(const struct sl_page *p);

/* The workload of the runs that follow.  Returns 0, or -1 with *err. */
int sl_page_workload(struct sl_page *p, const struct sl_workload *w, const struct sl_page_about *about,
		     struct sl_error *err);

/*
 * A run: the policy as it was asked for, its jobs, runs that were stopped for others, what is planned, its figures.  *now_s* is where
 * the run's clock stopped: the end of jobs that run still.  Where several jobs
 * share a node, each is given cores and GPUs of its own to be drawn at: those that were free
 * when it began, adjacent ones if possible.
 *
 * Returns 0, or -1 with *err: SL_EINVAL for calls out of turn, a job that is not
 * of the workload, was given before, starts before its submission, ends before its
 * start, or has nodes that the machine has not; SL_EIO, SL_ENOMEM.  Without figures (*r*
 * NULL) the page works out those that it can.
 */
int sl_page_begin_run(struct sl_page *p, const char *label, struct sl_error *err);
int sl_page_job(struct sl_page *p, const struct sl_page_job *job, struct sl_error *err);
int sl_page_stop(struct sl_page *p, const struct sl_page_stop *stop, struct sl_error *err);
int sl_page_plan(struct sl_page *p, const struct sl_page_planned *planned, struct sl_error *err);
int sl_page_end_run(struct sl_page *p, const struct sl_result *r, int64_t now_s, struct sl_error *err);

/* Write the rest and give the page its name.  Returns 0, or -1 with *err. */
int sl_page_finish(struct sl_page *p, struct sl_error *err);

#endif
