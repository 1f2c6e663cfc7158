/* SPDX-License-Identifier: MIT */
#include "model/job_order.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "model/request.h"

/* a ^ b, exactly as Lua computes it. */
static double power(double a, double b)
{
	return b == 2 ? a * a : pow(a, b);
}

int64_t sl_order_cpus(const struct sl_snapshot *snap, uint32_t job, struct sl_order_job *known)
{
	if (!known->cpus) {
		struct sl_ask a = sl_request_read(snap, job, 0);

		known->cpus = (uint32_t) sl_ask_cpus(&a) + 1;
	}
	return (int64_t) known->cpus - 1;
}

uint32_t sl_order_prospect(struct sl_history *h, const struct sl_snapshot *snap, uint32_t job, struct sl_order_job *known,
			   struct sl_error *err)
{
	const char *user = sl_snapshot_str(snap, snap->job.user[job]);
	char number[16];
	uint32_t p;

	if (known->prospect)
		return known->prospect - 1;
	if (!*user && snap->job.uid[job] != SL_NONE) {	/* the user has no name */
		snprintf(number, sizeof(number), "%" PRIu32, snap->job.uid[job]);
		user = number;
	}
	p = sl_history_prospect(h, user, sl_order_cpus(snap, job, known), snap->job.time_limit[job], err);
	known->prospect = p == SL_NONE ? 0 : p + 1;
	return p;
}

int64_t sl_order_waited(const struct sl_snapshot *snap, uint32_t job, int64_t now)
{
	int64_t submitted = snap->job.submit_time[job], eligible = snap->job.eligible_time[job];
	int64_t since = eligible > submitted ? eligible : submitted;

	return now > since ? now - since : 0;
}

double sl_order_first_key(const struct sl_order_by *by, int64_t cpus, double typical)
{
	return power((double) cpus, by->size) * power(typical, by->length);
}

double sl_order_key(const struct sl_order_by *by, double first_key, int64_t waited)
{
	return first_key / power(1 + (double) waited / by->patience, by->ageing);
}

int sl_order_expect(const struct sl_order_by *by, struct sl_history *h, const struct sl_snapshot *snap, uint32_t job,
		    int64_t now, struct sl_order_job *known, double *typical, double *stretch, struct sl_error *err)
{
	uint32_t prospect;

	*stretch = 1;
	if (by->predictor == SL_PREDICT_LIMIT) {
		*typical = sl_history_limit_typical(snap->job.time_limit[job]);
		return 0;
	}
	prospect = sl_order_prospect(h, snap, job, known, err);
	return prospect == SL_NONE ? -1 : sl_history_expect(h, prospect, now, typical, stretch, err);
}

int sl_order_overdue(const struct sl_order_by *by, struct sl_history *h, const struct sl_snapshot *snap, uint32_t job,
		     int64_t now, int64_t waited, double stretch, struct sl_order_job *known, double *overdue_s,
		     struct sl_error *err)
{
	uint32_t prospect;
	double shortest, wait_s;

	*overdue_s = -1;
	if ((double) waited < by->wait_s)
		return 0;
	prospect = sl_order_prospect(h, snap, job, known, err);
	if (prospect == SL_NONE || sl_history_shortest(h, prospect, stretch, now, &shortest, err))
		return -1;
	wait_s = by->slowdown * shortest;
	*overdue_s = (double) waited - (wait_s > by->wait_s ? wait_s : by->wait_s);
	return 0;
}
