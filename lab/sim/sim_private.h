/* SPDX-License-Identifier: MIT */
/*
 * sim/sim_private.h - the inside of a simulation, for sim.c (passes and the clock) and sim_job.c (jobs that start and end) only.
 */
#ifndef SL_SIM_PRIVATE_H
#define SL_SIM_PRIVATE_H

#include "sim/audit.h"
#include "sim/by_rule.h"
#include "sim/past.h"
#include "sim/pool.h"
#include "sim/sim.h"
#include "sim/stops.h"

#define NEVER INT64_MAX

struct ending {
	int64_t start, end;
	uint32_t job, shape;
};

/* What a pass decided to start, until it is carried out. */
struct starting {
	struct sl_entry entry;
	int64_t limit;			/* seconds */
	uint32_t first_place, places;
};

struct sl_sim {
	const struct sl_workload *w;
	struct sl_script *script;
	struct sl_sim_options opt;
	struct sl_cluster *cluster;
	struct sl_metrics *metrics;
	struct sl_past *past;		/* the jobs that have ended */
	int64_t now;
	uint32_t next;			/* job row that arrives next */
	uint32_t next_wake;		/* of opt.wake_s */
	int64_t wake_time;		/* a policy asked for a pass then; NEVER */
	uint32_t idle_wakes;		/* such passes since anything else happened */
	uint32_t initial;		/* rows that ran when the workload began */
	bool changed;			/* something happened since the last pass */
	uint64_t ended;
	bool stopped;			/* by opt.stop */
	bool may_settle;		/* nothing but starts, ends and arrivals changes what a policy sees */
	bool timed;			/* jobs that may not start at any time are among them */
	bool punctual;			/* all jobs start as decided, and end when they are to at the latest */
	struct settled {		/* what waits for room, by the policy's word (plan:settle()) */
		bool is;
		bool full;		/* at least where nobody who waits has room at all */
		bool all;		/* asked again, it would look at nobody else */
		struct sl_promise promise;	/* it would do by that, from now on */
		uint64_t moment;	/* of the timeline then */
		uint32_t entries;	/* of the queue then */
		uint32_t window;	/* of the policy */
		struct sl_room room;	/* beside the first job that waits */
	} settled;
	struct sl_stops *stops;		/* jobs may be stopped for others; NULL: none may */
	int stopping;			/* the last plan stops or holds something */
	struct sl_sim_stop *stop;	/* with keep_schedule: the runs that were */
	uint32_t stop_count, stop_room;
	struct returning {		/* requeued jobs that may not start yet, by time */
		int64_t at;
		uint32_t job;
	} *returning;
	uint32_t returns, returned, return_room;	/* how many ever were; how many of these wait in the queue again */
	struct sl_pool *pool;		/* that may decide in the policy's place, or NULL */
	struct sl_by_rule *by_rule;	/* likewise, with a plan; or NULL */
	uint16_t gpu_kinds;		/* mask of the gres kinds called "gpu" */

	struct ending *heap;		/* running jobs, the first to end on top */
	uint32_t heap_size, heap_room;

	struct starting *starting;
	uint32_t starts, starting_room;
	struct sl_place *place;		/* of starting[] */
	uint32_t places, place_room;
	int64_t starts_at;		/* when they are carried out */

	struct sl_audit *audit;
	struct sl_sim_job *schedule;
	struct sl_stretch *stretch;
	uint32_t stretches, stretch_room;

	uint64_t progress_ns;
	char **trace;			/* of a policy that fails, or NULL */
};

/* sim_job.c.  All return 0, or -1 with *err. */

/* A job that runs, and its end; the first of them to end, taken off. */
int sim_push_ending(struct sl_sim *s, struct ending e, struct sl_error *err);
struct ending sim_pop_ending(struct sl_sim *s);

/* Those on top of the heap that do not hold any more: the jobs were told to end earlier. */
void sim_drop_outdated(struct sl_sim *s);

/* A job waits, in the queue's order. */
int sim_submit(struct sl_sim *s, uint32_t job, struct sl_error *err);

/* Jobs that are suspended go on, if they can. */
int sim_settle(struct sl_sim *s, struct sl_error *err);

int sim_start_job(struct sl_sim *s, const struct starting *st, struct sl_error *err);
int sim_end_job(struct sl_sim *s, struct ending e, struct sl_error *err);

#endif
