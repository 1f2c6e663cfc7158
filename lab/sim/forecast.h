/* SPDX-License-Identifier: MIT */
/*
 * forecast.h - when will a pending job start?
 *
 * The cluster as it is goes on many times under the very policy: each time every job runs for as long as
 * one of its user's last like runs did (those that ran for longer than it has run already), and the
 * jobs of a past week arrive, where the caller knows them.  The starts that come out are a
 * sample; what it is worth is learnt from forecasts whose jobs have started (sl_calibrator): an
 * interval is widened, narrowed and moved until it holds as often as it says (conformal quantiles
 * of the past errors, by how long the wait was expected to be; their level is corrected with each start,
 * as in Gibbs and Candes, NeurIPS 2021).
 *
 * Same cluster, history, options and seed: same forecast.
 *
 * Ownership: a forecast owns its arrays.  Threads: none.
 */
#ifndef SL_FORECAST_H
#define SL_FORECAST_H

#include "sim/sim.h"

#define SL_FORECAST_DRAWS 1000		/* at most */
#define SL_CALIBRATION_FILE "forecasts/calibration.json"	/* beside the site file: what the forecast service has learnt */

struct sl_forecast_options {
	struct sl_script *script;		/* the policies; no other simulation is in the midst of a pass of it */
	const struct sl_limits *limits;		/* of each pass; NULL: none but memory */
	struct sl_history *history;		/* who is asked how long jobs run; NULL: the cluster's */
	const struct sl_workload *past;		/* whose jobs arrive again, of the same machine, or the one that is
						 * being simulated; NULL: none do */
	uint32_t draws;
	uint64_t seed;
	uint32_t only;				/* id of the job that is asked about; 0: all that are queued */
	int64_t until_us;			/* sl_clock_us(): no draw goes on after that; 0: however long they take */
};

struct sl_forecast {
	uint32_t jobs, draws;		/* draws: those that were made */
	uint32_t known;			/* jobs that run or wait of which past runs say how long they may run */
	struct sl_error missed;		/* why not all that were asked for; SL_OK: they were */
	uint32_t *job;			/* ids, in the queue's order; of an array once */
	int64_t *wait;			/* job i: wait[i * draws] ..., ascending; SL_UNLIMITED: it did not start */
};

/* Of the jobs that are queued in *c*.  A draw that fails is left out.  0, or -1 with *err: SL_ENOENT, the job
 * that is asked about is not queued; SL_ETIME, or what sl_sim_run() says, of the first draw, where none was
 * made; and *trace as there.  Clear it in any case. */
int sl_forecast_make(struct sl_cluster *c, const struct sl_forecast_options *opt, struct sl_forecast *f, char **trace,
		     struct sl_error *err);
void sl_forecast_clear(struct sl_forecast *f);

/* -- what forecasts are worth -------------------------------------------------- */

enum { SL_CALIBRATOR_CLASSES = 5, SL_CALIBRATOR_KEPT = 300 };

/* Of forecasts that were expected to be about that far away. */
struct sl_calibrator_class {
	double score[SL_CALIBRATOR_KEPT];	/* ln of actual by expected wait; a ring */
	uint32_t scores;			/* so many ever */
	double below, above;			/* the shares that the quantiles are taken at */
};

struct sl_calibrator {
	double confidence;
	struct sl_calibrator_class of[SL_CALIBRATOR_CLASSES];
};

/* Seconds from now. */
struct sl_expected {
	int64_t low, point, high;
	double centre;			/* of the sample: what sl_calibrator_learn() asks for */
};

/* *confidence*: of 0 to 1, without the ends. */
void sl_calibrator_begin(struct sl_calibrator *c, double confidence);

/* Of a job's ascending sample of waits. */
struct sl_expected sl_calibrate(const struct sl_calibrator *c, const int64_t *wait, uint32_t draws);

/* Has it learnt enough that intervals are corrected by it? */
bool sl_calibrator_knows(const struct sl_calibrator *c);

/* A job of which that was expected has started. */
void sl_calibrator_learn(struct sl_calibrator *c, const struct sl_expected *e, int64_t wait);

/* Kept from one day to the next, as JSON.  0, or -1 with *err, which names the file; reading one of another
 * confidence is SL_EINVAL. */
int sl_calibrator_write(const struct sl_calibrator *c, const char *file, struct sl_error *err);
int sl_calibrator_read(struct sl_calibrator *c, const char *file, struct sl_error *err);

/* -- what they would have been worth -------------------------------------------- */

/* Forecasts along a simulation: made when a job gets its first reservation, or when it is submitted and has to wait. */
struct sl_hindsight {
	uint32_t job;			/* row of the workload */
	int64_t at_s;			/* when it was made, since the epoch */
	int64_t told_s;			/* when the plan had the job start, by walltimes; 0: the plan did not say */
	struct sl_expected expected;	/* seconds from at_s */
	int64_t start_s;		/* what came of it; 0: it did not start */
};

struct sl_hindsights {
	struct sl_hindsight *item;
	uint32_t count, room;
	uint32_t every;			/* one of so many jobs that could have one */
	uint32_t told;			/* those jobs */
	bool at_submission;		/* made when a job is submitted, not at its first reservation */
	struct sl_forecast_options opt;	/* cluster, history and job are filled in */
	struct sl_calibrator *calibrator;	/* learns from each start when it has come, not before */
	struct sl_sim *sim;
	uint8_t *known;			/* by row: it was told */
	uint32_t *fresh;		/* jobs that are told now, if no plan is wanted for them */
	uint32_t fresh_room;
	uint32_t waiting;		/* items before that have started */
};

/* For sl_sim_options.after_pass and wants_plan, with the hindsights as their argument; their sim is set once it is created. */
int sl_hindsights_after_pass(struct sl_cluster *c, struct sl_plan *p, void *hindsights, struct sl_error *err);
bool sl_hindsights_want_plan(struct sl_cluster *c, const struct sl_promise *by, void *hindsights);
/* The simulation has ended: what came of the rest. */
void sl_hindsights_finish(struct sl_hindsights *h);
void sl_hindsights_clear(struct sl_hindsights *h);

#endif
