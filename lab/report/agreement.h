/* SPDX-License-Identifier: MIT */
/*
 * agreement.h - how near simulated waits are to those that really happened.
 *
 *	wait		start - when the job became eligible (as sacct's Planned); both sides from the same instant
 *	error of a	mean over groups (days, classes) of |S - R| / R, where R and S are the means of the real and the simulated
 *	grouping	waits of the group's jobs.  Groups whose R is below SL_AGREEMENT_LEAST_S are left out and counted: there
 *			a second more or less, which no simulation has, is a large percentage
 *	moving mean	the error that FastSim gives for ARCHER2 (7.3 %): mean over hours h of |S - R| / R, where R and S are means
 *			of start - submission of the jobs submitted in the fourteen days from h on; without the first and the last
 *			48 hours, nor hours with R = 0 (scheduler/plotting.py of HewlettPackard/FastSim)
 *	pooled		sum of |simulated - real wait| of each job / sum of real waits
 *
 * A day is one of UTC, and a job is of the day on which it became eligible.
 *
 * Ownership: borrows the jobs and their names.  Threads: none.
 */
#ifndef SL_AGREEMENT_H
#define SL_AGREEMENT_H

#include <stdint.h>

#include "base/error.h"

#define SL_AGREEMENT_LEAST_S 60
#define SL_AGREEMENT_MOVING_S (14 * 86400)
#define SL_AGREEMENT_SAME_S 60		/* starts no further apart are called the same */

struct sl_agreement_job {
	int64_t submit_s, eligible_s;
	int64_t real_s, simulated_s;	/* starts */
	uint32_t id, cores;
	uint32_t why;			/* bits: what else there is to it */
	const char *partition, *qos;
};

enum sl_grouping { SL_BY_DAY, SL_BY_WIDTH, SL_BY_PARTITION, SL_BY_QOS, SL_GROUPINGS };

struct sl_agreement_group {
	char name[64];
	uint32_t jobs;
	double real_s, simulated_s;	/* mean waits */
	double error;			/* |S - R| / R; below 0: left out */
};

struct sl_agreement {
	uint32_t jobs, same, earlier, later;	/* starts */
	double real_s, simulated_s;		/* mean waits */
	double median_s;			/* of |simulated - real| */
	double pooled;				/* below 0: nobody waited */
	double moving;				/* below 0: not defined */
	int64_t span_s, moving_needs_s;		/* between the first and the last submission; and how long it has to be */
	struct {
		struct sl_agreement_group *group;
		uint32_t groups, left_out;
		double error;			/* below 0: all are left out */
	} by[SL_GROUPINGS];
};

/* 0, or -1 with *err: no memory.  Free it in any case. */
int sl_agreement_compute(struct sl_agreement *a, const struct sl_agreement_job *job, uint32_t jobs, struct sl_error *err);
void sl_agreement_free(struct sl_agreement *a);

/* "day", "width", ... */
const char *sl_grouping_name(enum sl_grouping by);

/* Of the jobs with one of these bits: how many, and their part of the sum of |simulated - real wait| (0 to 1). */
uint32_t sl_agreement_share(const struct sl_agreement_job *job, uint32_t jobs, uint32_t why, double *share);

#endif
