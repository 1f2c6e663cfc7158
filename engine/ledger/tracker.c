/* SPDX-License-Identifier: MIT */
#include "ledger/tracker.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

#define KEEP_EVERY_S 600	/* how far what the ledger remembers may lag behind */

struct going {
	struct sl_job_run run;		/* dim: its own strings; end: where it was seen last */
	bool sleeps;			/* ... suspended */
	int64_t kept;			/* run.end as the ledger remembers it, 0: not at all */
	bool kept_asleep;
	uint64_t round;			/* the snapshot that it was seen in */
};

struct sl_tracker {
	struct sl_ledger *l;
	struct going **going;
	uint32_t count, room;
	struct sl_map by_job;		/* -> index of going */
	uint64_t round;
	struct sl_error err;		/* of a callback */
};

/* -- what goes on -------------------------------------------------------- */

/* NULL: it is not known to run. */
static struct going *find_going(const struct sl_tracker *t, uint32_t job)
{
	uint32_t at = sl_map_by_id(&t->by_job, job);

	return at == SL_MAP_NOTHING ? NULL : t->going[at];
}

static void free_going(struct going *g)
{
	if (!g)
		return;
	free((char *) g->run.dim.user);
	free((char *) g->run.dim.account);
	free((char *) g->run.dim.partition);
	free((char *) g->run.name);
	free(g);
}

/* The last one moves to its place. */
static void remove_going(struct sl_tracker *t, struct going *g)
{
	uint32_t at = sl_map_by_id(&t->by_job, g->run.job);
	struct going *last = t->going[--t->count];

	sl_map_remove(&t->by_job, sl_hash_id(g->run.job), at);
	if (last != g) {
		sl_map_remove(&t->by_job, sl_hash_id(last->run.job), t->count);
		(void) sl_map_put(&t->by_job, sl_hash_id(last->run.job), at, NULL);	/* there is room */
		t->going[at] = last;
	}
	free_going(g);
}

static struct going *new_going(const struct sl_job_run *run)
{
	struct going *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->run = *run;
	g->run.dim.user = strdup(run->dim.user);
	g->run.dim.account = strdup(run->dim.account);
	g->run.dim.partition = strdup(run->dim.partition);
	g->run.name = strdup(run->name ? run->name : "");
	if (g->run.dim.user && g->run.dim.account && g->run.dim.partition && g->run.name)
		return g;
	free_going(g);
	return NULL;
}

static struct going *add_going(struct sl_tracker *t, const struct sl_job_run *run)
{
	struct going *g;

	if (sl_grow(&t->going, &t->room, t->count + UINT64_C(1), sizeof(*t->going), NULL) || !(g = new_going(run)))
		return NULL;
	if (sl_map_put(&t->by_job, sl_hash_id(run->job), t->count, NULL)) {
		free_going(g);
		return NULL;
	}
	t->going[t->count++] = g;
	return g;
}

static int load_going(void *to, const struct sl_job_run *run)
{
	struct sl_tracker *t = to;
	struct going *g = add_going(t, run);

	if (!g)
		return sl_fail(&t->err, SL_ENOMEM, "ledger: out of memory");
	/* in an open run the state says whether it sleeps */
	g->sleeps = g->kept_asleep = run->dim.state == SL_JOB_SUSPENDED;
	g->kept = run->end;
	return 0;
}

struct sl_tracker *sl_tracker_create(struct sl_ledger *l, struct sl_error *err)
{
	struct sl_tracker *t = calloc(1, sizeof(*t));

	if (!t) {
		sl_fail(err, SL_ENOMEM, "ledger: out of memory");
		goto error;
	}
	t->l = l;
	if (sl_ledger_open_runs(l, load_going, t, err))
		goto error;
	if (!t->err.code)
		return t;
	if (err)
		*err = t->err;
error:
	sl_tracker_destroy(t);
	return NULL;
}

void sl_tracker_destroy(struct sl_tracker *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->count; i++)
		free_going(t->going[i]);
	free(t->going);
	sl_map_free(&t->by_job);
	free(t);
}

/* -- rows ----------------------------------------------------------------- */

static int64_t seconds_run(const struct sl_snapshot *snap, uint32_t j, int64_t end)
{
	const struct sl_job_view *job = &snap->job;
	int64_t ran = end - job->start_time[j];

	/* suspend_time is also when it was resumed; one that ends suspended "ends" then */
	if (job->suspend_time[j] && job->state[j] == SL_JOB_SUSPENDED)
		ran = job->pre_suspend_s[j];
	else if (job->suspend_time[j])
		ran = job->pre_suspend_s[j] + (end > job->suspend_time[j] ? end - job->suspend_time[j] : 0);
	return ran > 0 ? ran : 0;
}

/* The run of a row, until *end; false for one that used nothing. */
static bool read_run(const struct sl_snapshot *snap, uint32_t j, int64_t end, uint32_t state, struct sl_job_run *run)
{
	const struct sl_job_view *job = &snap->job;
	uint32_t p = sl_snapshot_home(snap, j);

	*run = (struct sl_job_run) {
		.job = job->id[j], .start = job->start_time[j], .end = end > job->start_time[j] ? end : job->start_time[j],
		.seconds = seconds_run(snap, j, end), .limit = job->time_limit[j],
		.name = sl_snapshot_str(snap, job->name[j]),
		.count = { job->alloc_cpus[j], job->alloc_gpus[j], job->alloc_nodes[j] },
		.dim = { sl_snapshot_str(snap, job->user[j]), sl_snapshot_str(snap, job->account[j]),
			 p == SL_NONE ? "" : sl_snapshot_str(snap, snap->partition.name[p]), state },
		.source = SL_RUN_SEEN,
	};
	if (run->seconds > run->end - run->start)	/* a clock that was set back in between */
		run->seconds = run->end - run->start;
	return run->start > 0 && run->count[SL_UNIT_NODE];
}

/* -- closing a run --------------------------------------------------------- */

static int forget_going(struct sl_tracker *t, struct going *g, struct sl_error *err)
{
	if (sl_ledger_keep_open(t->l, g->run.job, NULL, err))
		return -1;
	remove_going(t, g);
	return 0;
}

/* Close a run: it ended at *end*, or when it was seen last if that was later. */
static int close_at(struct sl_tracker *t, struct going *g, int64_t end, uint32_t state, struct sl_error *err)
{
	struct sl_job_run run = g->run;

	if (end > run.end) {
		if (!g->sleeps)
			run.seconds += end - run.end;
		run.end = end;
	}
	run.source = SL_RUN_GUESSED;
	run.dim.state = state;
	if (run.seconds > run.end - run.start)
		run.seconds = run.end - run.start;
	if (sl_ledger_add(t->l, &run, err) < 0)
		return -1;
	return forget_going(t, g, err);
}

/* -- one job --------------------------------------------------------------- */

static bool has_ended(uint32_t state)
{
	return state != SL_JOB_PENDING && state != SL_JOB_RUNNING && state != SL_JOB_SUSPENDED;
}

/* The earlier run of a job that waits or runs anew. */
static int close_earlier(struct sl_tracker *t, const struct sl_snapshot *snap, uint32_t j, struct sl_error *err)
{
	const struct sl_job_view *job = &snap->job;
	int64_t again = job->submit_time[j], now = snap->meta.now[0];

	if (again > now)
		again = now;
	return close_at(t, find_going(t, job->id[j]), again, SL_JOB_PENDING, err);
}

/* It has ended, or it is being requeued and still says when it ended. */
static int take_ended(struct sl_tracker *t, const struct sl_snapshot *snap, uint32_t j, struct sl_error *err)
{
	uint32_t state = snap->job.state[j];
	struct going *g = find_going(t, snap->job.id[j]);
	struct sl_job_run run;
	bool used = read_run(snap, j, snap->job.end_time[j], state, &run);

	if (g && g->run.start != run.start && close_earlier(t, snap, j, err))
		return -1;
	if (state == SL_JOB_PENDING && g) {
		/* how long it was suspended is no longer known, how long it ran when seen last is */
		run.seconds = g->run.seconds;
		if (!g->sleeps && run.end > g->run.end)
			run.seconds += run.end - g->run.end;
		if (run.seconds > run.end - run.start)
			run.seconds = run.end - run.start;
	}
	if (used && sl_ledger_add(t->l, &run, err) < 0)
		return -1;
	g = find_going(t, snap->job.id[j]);
	return g ? forget_going(t, g, err) : 0;
}

static int take_going(struct sl_tracker *t, const struct sl_snapshot *snap, uint32_t j, struct sl_error *err)
{
	struct going *g = find_going(t, snap->job.id[j]);
	struct sl_job_run run;

	if (!read_run(snap, j, snap->meta.now[0], snap->job.state[j], &run))
		return 0;
	if (g && g->run.start != run.start && close_earlier(t, snap, j, err))
		return -1;
	g = find_going(t, run.job);
	if (!g) {
		g = add_going(t, &run);
		if (!g)
			return sl_fail(err, SL_ENOMEM, "ledger: out of memory");
	} else {	/* names do not change while it runs, but for the partition's and account's */
		const char *user = g->run.dim.user, *account = g->run.dim.account, *partition = g->run.dim.partition;
		const char *name = g->run.name;

		g->run = run;
		g->run.name = name;
		g->run.dim = (struct sl_dim) { user, account, partition, run.dim.state };
	}
	g->sleeps = snap->job.state[j] == SL_JOB_SUSPENDED;
	g->round = t->round;
	/* a sleep that it forgot would count as running */
	if (g->kept && g->sleeps == g->kept_asleep && run.end >= g->kept && run.end - g->kept < KEEP_EVERY_S)
		return 0;
	if (sl_ledger_keep_open(t->l, run.job, &run, err))
		return -1;
	g->kept = run.end;
	g->kept_asleep = g->sleeps;
	return 0;
}

static int take_job(struct sl_tracker *t, const struct sl_snapshot *snap, uint32_t j, struct sl_error *err)
{
	uint32_t state = snap->job.state[j];

	if (has_ended(state) || (state == SL_JOB_PENDING && snap->job.flags[j] & SL_JOBF_COMPLETING &&
				 snap->job.end_time[j] && snap->job.alloc_nodes[j]))
		return take_ended(t, snap, j, err);
	if (state != SL_JOB_PENDING)
		return take_going(t, snap, j, err);
	return find_going(t, snap->job.id[j]) ? close_earlier(t, snap, j, err) : 0;
}

/* Runs whose job was not in the snapshot at all. */
static int close_lost(struct sl_tracker *t, struct sl_error *err)
{
	for (uint32_t i = 0; i < t->count; ) {
		struct going *g = t->going[i];

		if (g->round == t->round)
			i++;	/* else another moves into this place */
		else if (close_at(t, g, g->run.end, SL_JOB_COMPLETE, err))
			return -1;
	}
	return 0;
}

int sl_tracker_feed(struct sl_tracker *t, const struct sl_snapshot *snap, uint32_t *strange, struct sl_error *err)
{
	struct sl_error why;

	t->round++;
	for (uint32_t j = 0; j < snap->job.rows; j++) {
		struct going *g;

		if (!take_job(t, snap, j, &why))
			continue;
		if (why.code != SL_EINVAL) {
			if (err)
				*err = why;
			return -1;
		}
		if (strange)
			++*strange;
		g = find_going(t, snap->job.id[j]);
		if (g && forget_going(t, g, err))
			return -1;
	}
	return close_lost(t, err);
}
