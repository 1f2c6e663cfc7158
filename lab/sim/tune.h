/* SPDX-License-Identifier: MIT */
/*
 * tune.h - which values of a site's options suit its own jobs?
 *
 * A log is cut into windows of equal length, each simulated by itself from an empty machine: the
 * even ones to learn from, the odd ones to judge.  Settings, the present one and others drawn at
 * random from the values that options declare, are tried by successive halving: all on one
 * window, the best third of them on three times as many, until few are left (Jamieson and
 * Talwalkar 2016).  Those are judged, beside the present one, on the windows that nobody has
 * learned from, window by window.
 *
 * Results are lines in files of a directory: a run that was ended goes on from there, and several
 * may work on parts of it.
 *
 * Ownership: sl_tune_free() frees what is in it; options' strings are borrowed.  Threads: none
 * may run, since it forks.
 */
#ifndef SL_TUNE_H
#define SL_TUNE_H

#include "sim/sweep.h"

/* Those from SL_TUNE_STOPS on are of jobs that are stopped for others: runs that were, core- and GPU-seconds lost, the wait of jobs
 * that may have others stopped. */
enum sl_tune_figure {
	SL_TUNE_WAIT, SL_TUNE_BSLD, SL_TUNE_UTILIZATION, SL_TUNE_LONGEST, SL_TUNE_GINI,
	SL_TUNE_STOPS, SL_TUNE_LOST, SL_TUNE_LOST_GPUS, SL_TUNE_URGENT, SL_TUNE_FIGURES
};

#define SL_TUNE_FINALISTS 4	/* judged beside the present setting */
#define SL_TUNE_WINDOW_JOBS 50	/* a window with fewer jobs says nothing */
#define SL_TUNE_WINDOWS 6	/* fewest: half to learn from, half to judge */
#define SL_TUNE_MOST 16		/* windows of either kind that are used; of more, some from all of the log */

struct sl_tune_options {
	const char *site;		/* path of the site file */
	struct sl_trial_options trial;	/* workload, path and how it is simulated */
	enum sl_tune_figure objective;
	int64_t window_s;
	uint32_t trials;		/* settings to try, the present one counted */
	uint64_t seed;
	uint32_t workers, part, parts;	/* parts 0: all of it */
	const char *state;		/* directory, or NULL: nothing is kept */
	const volatile sig_atomic_t *stop;
	void (*progress)(double share, uint32_t done, uint32_t trials, void *arg);
	void *progress_arg;
};

/* An option that declares its values: texts as Lua has them, the present one among them. */
struct sl_tunable {
	char *policy, *name, **value;
	uint32_t values, present;
};

struct sl_tune_setting {
	uint32_t *value;		/* by tunable */
	double *figure;			/* [window][SL_TUNE_FIGURES]; NAN: not simulated */
	double score;			/* of the objective, relative to the present one's: less is better */
};

struct sl_tune_window {
	int64_t from_s, to_s;		/* since the log's zero */
	uint32_t jobs;
	char from[24], to[24];
	bool judges;
};

struct sl_tune {
	struct sl_tune_options opt;
	char *path;			/* where policies are found: the site file's directory first */
	char *text;			/* of the site file, without what an earlier run wrote */
	struct sl_tunable *tunable;
	uint32_t tunables;
	struct sl_tune_window *window;
	uint32_t windows;
	struct sl_tune_setting *setting;	/* the first is the present one */
	uint32_t settings;
	uint32_t *finalist, finalists;	/* settings that are judged: the present one, then the best first */
	uint32_t missing;		/* simulations of the step that was begun last; not 0: not done */
	uint64_t simulated;		/* in this run */
};

/* Read the site file, the log and what was kept.  0, or -1 with *err: SL_EINVAL where the options
 * declare no values, or the log is too short (how much is needed). */
int sl_tune_open(struct sl_tune *t, const struct sl_tune_options *opt, struct sl_error *err);
void sl_tune_free(struct sl_tune *t);

/*
 * Simulate what is missing.  1: all is there, finalists are judged; 0: stopped, or this part is
 * done and others are not (missing); -1 with *err.
 */
int sl_tune_run(struct sl_tune *t, struct sl_error *err);

/* The site file with a setting, malloc'ed; its options in words; NULL with *err. */
char *sl_tune_site(const struct sl_tune *t, uint32_t setting, struct sl_error *err);
char *sl_tune_words(const struct sl_tune *t, uint32_t setting, struct sl_error *err);

/* Mean of a figure over the windows that judge, and half of its 95 % interval. */
double sl_tune_mean(const struct sl_tune *t, uint32_t setting, enum sl_tune_figure figure, double *half);

/* The same of the differences to the present setting, window by window. */
double sl_tune_gain(const struct sl_tune *t, uint32_t setting, enum sl_tune_figure figure, double *half);

/* True if the figure is not 0 on all windows under all finalists: those of stops are where nobody may be stopped. */
bool sl_tune_knows(const struct sl_tune *t, enum sl_tune_figure figure);

/* Is no other finalist at least as good in all figures, and better in one? */
bool sl_tune_is_pareto(const struct sl_tune *t, uint32_t setting);

#endif
