/* SPDX-License-Identifier: MIT */
#include "ledger/tracker.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

#define KEEP_EVERY_S 600	/* how far what the ledger remembers may lag behind */

struct going {
	struct sl_job_run run;		/* the piece under way.  dim: its own strings; end: where it was seen last */
	bool fresh;			/* no snapshot before this one had it */
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

/* When the run began that a piece belongs to. */
static int64_t began_at(const struct sl_job_run *run)
{
	return run->began ? run->began : run->start;
}

/* The run of a row, until *end*, as if it had always had the size that it has; false for one that used nothing. */
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

/* -- pieces --------------------------------------------------------------- */

/* The piece under way is over at *at*, having run for *seconds* more; the next one begins, of the same size. */
static int end_piece(struct sl_tracker *t, struct going *g, int64_t at, int64_t seconds, struct sl_error *err)
{
	struct sl_job_run piece = g->run;

	piece.end = at;
	piece.seconds += seconds;
	if (piece.seconds > piece.end - piece.start)
		piece.seconds = piece.end - piece.start;
	piece.began = began_at(&g->run);
	if (piece.most_cpus < piece.count[SL_UNIT_CPU])
		piece.most_cpus = piece.count[SL_UNIT_CPU];
	piece.dim.state = SL_JOB_RUNNING;	/* the run goes on */
	piece.source = g->fresh ? SL_RUN_SEEN : SL_RUN_WATCHED;
	if (piece.end > piece.start && sl_ledger_add(t->l, &piece, err) < 0)
		return -1;
	g->run.began = piece.began;
	g->run.before_s += piece.seconds;
	g->run.most_cpus = piece.most_cpus;
	g->run.source = piece.source;
	g->run.start = g->run.end = piece.end;
	g->run.seconds = 0;
	g->kept = 0;	/* what the ledger remembers is over */
	return 0;
}

/* *count becomes the larger numbers; true if any of them was less. */
static bool raise_to(uint32_t count[SL_UNITS], const uint32_t more[SL_UNITS])
{
	bool raised = false;

	for (int k = 0; k < SL_UNITS; k++)
		if (more[k] > count[k]) {
			count[k] = more[k];
			raised = true;
		}
	return raised;
}

/*
 * Its size is another one than when it was seen last, or was changed back, in a run that *now* tells of as a whole.
 * The last change was *at*; 0: nobody knows when.
 */
static int resize(struct sl_tracker *t, struct going *g, const struct sl_job_run *now, int64_t at, bool is_over,
		  struct sl_error *err)
{
	int64_t seconds = now->seconds - g->run.before_s - g->run.seconds;
	uint32_t more[SL_UNITS];

	memcpy(more, g->run.count, sizeof(more));
	if (raise_to(more, now->count)) {
		if (end_piece(t, g, g->run.end, 0, err))
			return -1;
		memcpy(g->run.count, more, sizeof(more));
	}
	if (!at && is_over)
		return 0;
	if (!at || at > now->end)
		at = now->end;
	if (at < g->run.end)
		at = g->run.end;
	seconds = seconds < 0 ? 0 : seconds < at - g->run.end ? seconds : at - g->run.end;
	if (end_piece(t, g, at, seconds, err))
		return -1;
	memcpy(g->run.count, now->count, sizeof(now->count));
	return 0;
}

/* The run goes on as *now* tells of it as a whole; pieces that are over are added. */
static int advance(struct sl_tracker *t, struct going *g, const struct sl_job_run *now, int64_t resized, bool is_over,
		   struct sl_error *err)
{
	bool same = !memcmp(g->run.count, now->count, sizeof(now->count));
	bool is_dated;
	int64_t seconds;

	if (resized > now->end)		/* by a clock that was set back */
		resized = 0;
	is_dated = resized > g->run.start || (resized && resized == g->run.end);
	if ((!same || resized > g->run.start) && resize(t, g, now, is_dated ? resized : 0, is_over, err))
		return -1;
	seconds = now->seconds - g->run.before_s;
	g->run.end = now->end > g->run.start ? now->end : g->run.start;
	g->run.seconds = seconds < 0 ? 0 : seconds < g->run.end - g->run.start ? seconds : g->run.end - g->run.start;
	if (now->limit < g->run.limit || strcmp(now->name, g->run.name))
		g->run.source = g->fresh ? SL_RUN_SEEN : SL_RUN_WATCHED;
	else
		g->run.limit = now->limit;
	return 0;
}

/* One of which no snapshot has told before: what *now* tells of as a whole, at its start. */
static struct going begin_run(const struct sl_job_run *now)
{
	struct going g = { .run = *now, .fresh = true };

	g.run.end = g.run.start;
	g.run.seconds = 0;
	return g;
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
	struct sl_job_run run, last;
	struct going unseen;
	bool used = read_run(snap, j, snap->job.end_time[j], state, &run);

	if (g && began_at(&g->run) != run.start) {
		if (close_earlier(t, snap, j, err))
			return -1;
		g = NULL;
	}
	if (!used)
		return g ? forget_going(t, g, err) : 0;
	if (state == SL_JOB_PENDING && g) {
		/* how long it was suspended is no longer known, how long it ran when seen last is */
		run.seconds = g->run.before_s + g->run.seconds;
		if (!g->sleeps && run.end > g->run.end)
			run.seconds += run.end - g->run.end;
	}
	unseen = begin_run(&run);
	if (advance(t, g ? g : &unseen, &run, snap->job.resize_time[j], true, err))
		return -1;
	last = g ? g->run : unseen.run;
	last.dim = run.dim;
	if (sl_ledger_add(t->l, &last, err) < 0)
		return -1;
	return g ? forget_going(t, g, err) : 0;
}

static int take_going(struct sl_tracker *t, const struct sl_snapshot *snap, uint32_t j, struct sl_error *err)
{
	struct going *g = find_going(t, snap->job.id[j]);
	struct going unseen;
	struct sl_job_run now;

	if (!read_run(snap, j, snap->meta.now[0], snap->job.state[j], &now))
		return 0;
	if (g && began_at(&g->run) != now.start && close_earlier(t, snap, j, err))
		return -1;
	g = find_going(t, now.job);
	if (!g) {
		unseen = begin_run(&now);
		g = add_going(t, &unseen.run);
		if (!g)
			return sl_fail(err, SL_ENOMEM, "ledger: out of memory");
		g->fresh = true;
	}
	if (advance(t, g, &now, snap->job.resize_time[j], false, err))
		return -1;
	g->run.dim.state = now.dim.state;
	g->sleeps = now.dim.state == SL_JOB_SUSPENDED;
	g->round = t->round;
	g->fresh = false;
	/* a sleep that it forgot would count as running */
	if (g->kept && g->sleeps == g->kept_asleep && g->run.end >= g->kept && g->run.end - g->kept < KEEP_EVERY_S)
		return 0;
	if (sl_ledger_keep_open(t->l, g->run.job, &g->run, err))
		return -1;
	g->kept = g->run.end;
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
