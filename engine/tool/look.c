/* SPDX-License-Identifier: MIT */
#include "tool/look.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tool/job_index.h"
#include "tool/statedir.h"
#include "tool/status.h"
#include "tool/stops.h"

#define RESTART_S 120		/* after which all nodes have registered with a slurmctld that began anew */

/* -- what the snapshot says ---------------------------------------------------- */

uint32_t sl_look_gpus_asked(const struct sl_snapshot *s, uint32_t row)
{
	struct sl_range asked = s->job.gres[row];
	uint32_t n = 0;

	for (uint32_t i = asked.first; i < asked.first + asked.count; i++) {
		uint32_t per = s->job_gres.per[i], times = per == SL_PER_NODE ? s->job.min_nodes[row] :
			per == SL_PER_TASK && s->job.num_tasks[row] ? s->job.num_tasks[row] : 1;

		if (!strcmp(sl_snapshot_str(s, s->job_gres.name[i]), "gpu"))
			n += times * s->job_gres.count[i];
	}
	return n;
}

static bool is_gpu(const struct sl_snapshot *s, uint32_t kind)
{
	return !strcmp(sl_snapshot_str(s, s->gres_kind.name[kind]), "gpu");
}

uint32_t sl_look_node_gpus(const struct sl_snapshot *s, uint32_t node)
{
	struct sl_range gres = s->node.gres[node];
	uint32_t n = 0;

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (is_gpu(s, s->node_gres.kind[g]))
			n += s->node_gres.count[g];
	return n;
}

uint32_t sl_look_gpus_held(const struct sl_snapshot *s, uint32_t row)
{
	struct sl_range alloc = s->job.alloc[row];
	uint32_t n = 0;

	for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++)
		for (uint32_t g = s->alloc.gres[a].first; g < s->alloc.gres[a].first + s->alloc.gres[a].count; g++)
			if (is_gpu(s, s->alloc_gres.kind[g]))
				n += s->alloc_gres.count[g];
	return n;
}

uint32_t sl_look_cores_held(const struct sl_snapshot *s, uint32_t row)
{
	struct sl_range alloc = s->job.alloc[row];
	uint32_t n = 0;

	for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++)
		n += s->alloc.cores[a];
	return n;
}

/* A start that is expected, and for which nothing is kept free, is in the snapshot alone. */
int64_t sl_look_expected(const struct sl_snapshot *s, uint32_t job)
{
	return s->job.start_time[job] > s->meta.now[0] ? s->job.start_time[job] : 0;
}

/* -- reading ------------------------------------------------------------------ */

static void forget_snapshot(struct sl_look *l)
{
	free(l->bytes);
	free(l->used);
	free(l->gpus);
	sl_map_free(&l->row_of);
	l->bytes = NULL;
	l->used = l->gpus = NULL;
}

static void count_use(struct sl_look *l)
{
	const struct sl_snapshot *s = &l->snap;

	for (uint32_t j = 0; j < s->job.rows; j++) {
		struct sl_range alloc = s->job.alloc[j];

		if (s->job.state[j] == SL_JOB_SUSPENDED)
			continue;
		for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++) {
			l->used[s->alloc.node[a]] += s->alloc.cores[a];
			for (uint32_t g = s->alloc.gres[a].first; g < s->alloc.gres[a].first + s->alloc.gres[a].count; g++)
				if (!strcmp(sl_snapshot_str(s, s->gres_kind.name[s->alloc_gres.kind[g]]), "gpu"))
					l->gpus[s->alloc.node[a]] += s->alloc_gres.count[g];
		}
	}
}

static void keep_stops(struct sl_look *l, const struct sl_snapshot *s)
{
	json_decref(l->stops);
	l->stops = sl_stops_read(s);
}

/*
 * Read one that is newer than what is known by so many seconds at least; *is_capture*: it is not the plug-in's own.
 * 0, or -1 with *err, and what was known stays.
 */
static int read_snapshot(struct sl_look *l, const char *path, bool is_capture, int64_t newer_s, struct sl_error *err)
{
	struct sl_snapshot snap;
	size_t size;
	void *bytes;

	if (sl_image_load(&sl_snapshot_schema, path, &bytes, &size, err))
		return -1;
	if (sl_snapshot_open(&snap, bytes, size, err)) {
		free(bytes);
		return -1;
	}
	if (!is_capture)
		keep_stops(l, &snap);
	if (l->bytes && snap.meta.now[0] < l->snap.meta.now[0] + newer_s) {
		free(bytes);
		return 0;
	}
	forget_snapshot(l);
	l->bytes = bytes;
	l->size = size;
	l->snap = snap;
	l->used = calloc(snap.node.rows + 1u, sizeof(*l->used));
	l->gpus = calloc(snap.node.rows + 1u, sizeof(*l->gpus));
	if (l->used && l->gpus && !sl_job_index(&l->row_of, &l->snap)) {
		count_use(l);
		return 0;
	}
	forget_snapshot(l);
	return sl_fail(err, SL_ENOMEM, "snapshot: out of memory");
}

/*
 * Is what is known new enough?  The first page is of now; so is each one while nodes register after a restart of
 * slurmctld: all of them are down in a snapshot of seconds ago.
 */
static bool is_fresh(const struct sl_look *l)
{
	int64_t now = time(NULL), begun = json_integer_value(json_object_get(l->status, "started"));
	int64_t most = !l->captured || now - begun < RESTART_S ? 1 : SL_LOOK_FRESH_S;

	return l->bytes && now - l->snap.meta.now[0] <= most && (l->captured || !l->may_capture);
}

/* slurmctld, which may have just begun and be busy, is not asked again and again. */
static bool is_resting(const struct sl_look *l)
{
	return l->ended_s > 0 && sl_clock_s() - l->ended_s < SL_LOOK_REST * (l->ended_s - l->began_s);
}

static int begin_capture(struct sl_look *l)
{
	l->began_s = sl_clock_s();
	return sl_capture_begin(&l->capture, &l->snap_err);
}

/* Have the capture that runs, waiting for so long at most, and begin the next one if there is need of it. */
static void capture(struct sl_look *l, double wait_s)
{
	char path[sizeof("/proc/self/fd/") + 12];
	int fd, got;

	got = sl_capture_take(&l->capture, 0, &fd, &l->snap_err);
	if (!got && !l->capture.pid && !is_fresh(l) && !is_resting(l) && !begin_capture(l))
		got = sl_capture_take(&l->capture, wait_s, &fd, &l->snap_err);
	l->captured |= got != 0;
	l->ended_s = got ? sl_clock_s() : l->ended_s;
	if (got <= 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	l->snap_err.code = SL_OK;
	*l->snap_err.text = 0;
	read_snapshot(l, path, true, 0, &l->snap_err);	/* of two of one second it is the later one */
	close(fd);
}

/* The nodes, no older than they have to be.  One that cannot be read leaves the last one standing. */
static void look_at_nodes(struct sl_look *l, double wait_s)
{
	char path[PATH_MAX + 16];
	struct sl_error err = { 0 };

	snprintf(path, sizeof(path), "%s/last.snap", l->dir);
	if (!is_fresh(l) && read_snapshot(l, path, false, 1, &err) && !l->bytes && !l->capture.pid && !l->snap_err.code)
		l->snap_err = err;
	if (l->may_capture)
		capture(l, wait_s);
}

void sl_look(struct sl_look *l, double wait_s)
{
	json_decref(l->status);
	l->status_err = l->recent_err = (struct sl_error) { 0 };
	l->status = sl_status_read(l->dir, &l->status_err);
	if (*l->journal_dir)
		sl_recent_read(&l->recent, l->journal_dir, &l->recent_err);
	look_at_nodes(l, wait_s);
}

/* A user who may read neither has what is published, or captures alone. */
static int find_places(struct sl_look *l, const char *dir, struct sl_error *err)
{
	char path[PATH_MAX + 16];

	if (sl_statedir_find(dir, l->dir, sizeof(l->dir), err))
		return -1;
	if (sl_statedir_find_journal(dir, l->journal_dir, sizeof(l->journal_dir), err)) {
		if (err->code != SL_ETRUST)
			return -1;
		*l->journal_dir = 0;
	}
	snprintf(path, sizeof(path), "%s/status.json", l->dir);
	l->secret = access(path, R_OK) && errno == EACCES;
	l->may_capture = !dir;	/* another cluster's directory says nothing of this one */
	return 0;
}


int sl_look_open(struct sl_look *l, const char *dir, struct sl_error *err)
{
	return find_places(l, dir, err) || sl_recent_open(&l->recent, err) ? -1 : 0;
}

void sl_look_close(struct sl_look *l)
{
	sl_capture_end(&l->capture);
	forget_snapshot(l);
	sl_recent_close(&l->recent);
	json_decref(l->status);
	json_decref(l->stops);
	*l = (struct sl_look) { 0 };
}
