/* SPDX-License-Identifier: MIT */
/*
 * cmd_top.c - schedlua top: the cluster, its queue and what was decided last, on the whole
 * terminal, from what the plug-in writes (status.json, the journal, last.snap) and, where that is older than
 * it may be or not this user's to read, from captures.
 */
#include "tool/tool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool/job_index.h"
#include "tool/statedir.h"
#include "tool/status.h"
#include "tool/top.h"

#define ONCE_S 20.0		/* that a page which is printed once waits for a capture */
#define RESTART_S 120		/* after which all nodes have registered with a slurmctld that began anew */
#define PAGE 10			/* lines of PgUp and PgDn */

struct values {
	const char *dir, *notes, *user, *partition;
	double interval;
	bool once, running;
};

static const struct sl_option options[] = {
	SL_DIR_OPTION(values),
	{ .name = "interval", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, interval), .argument = "SECONDS",
	  .min = 0.1, .max = 86400, .standard = "2", .doc = "how often it is drawn anew" },
	{ .name = "user", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, user), .argument = "NAME",
	  .doc = "show only the jobs of that user", .letter = 'u' },
	{ .name = "partition", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, partition), .argument = "NAME",
	  .doc = "show only the jobs of that partition", .letter = 'p' },
	{ .name = "running", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, running),
	  .doc = "show the jobs that run, with their ends, in place of those that wait" },
	{ .name = "notes", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, notes), .argument = "FILE",
	  .doc = "show the last lines of this text too, as of what somebody does to the cluster" },
	{ .name = "once", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, once),
	  .doc = "print it once, as plain text, as is done where stdout is no terminal" },
	{ 0 }
};

/* -- what there is ------------------------------------------------------------ */

static void forget_snapshot(struct sl_top *t)
{
	free(t->bytes);
	free(t->used);
	free(t->gpus);
	sl_map_free(&t->row_of);
	t->bytes = NULL;
	t->used = t->gpus = NULL;
}

static void count_use(struct sl_top *t)
{
	const struct sl_snapshot *s = &t->snap;

	for (uint32_t j = 0; j < s->job.rows; j++) {
		struct sl_range alloc = s->job.alloc[j];

		if (s->job.state[j] == SL_JOB_SUSPENDED)
			continue;
		for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++) {
			t->used[s->alloc.node[a]] += s->alloc.cores[a];
			for (uint32_t g = s->alloc.gres[a].first; g < s->alloc.gres[a].first + s->alloc.gres[a].count; g++)
				if (!strcmp(sl_snapshot_str(s, s->gres_kind.name[s->alloc_gres.kind[g]]), "gpu"))
					t->gpus[s->alloc.node[a]] += s->alloc_gres.count[g];
		}
	}
}

/* Read one that is newer than what is known by so many seconds at least.  0, or -1 with *err, and what was known stays. */
static int read_snapshot(struct sl_top *t, const char *path, int64_t newer_s, struct sl_error *err)
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
	if (t->bytes && snap.meta.now[0] < t->snap.meta.now[0] + newer_s) {
		free(bytes);
		return 0;
	}
	forget_snapshot(t);
	t->bytes = bytes;
	t->snap = snap;
	t->used = calloc(snap.node.rows + 1u, sizeof(*t->used));
	t->gpus = calloc(snap.node.rows + 1u, sizeof(*t->gpus));
	if (t->used && t->gpus && !sl_job_index(&t->row_of, &t->snap)) {
		count_use(t);
		return 0;
	}
	forget_snapshot(t);
	return sl_fail(err, SL_ENOMEM, "top: out of memory");
}

/*
 * Is what is known new enough?  The first page is of now; so is each one while nodes register after a restart of
 * slurmctld: all of them are down in a snapshot of seconds ago.
 */
static bool is_fresh(const struct sl_top *t)
{
	int64_t now = time(NULL), begun = json_integer_value(json_object_get(t->status, "started"));
	int64_t most = !t->captured || now - begun < RESTART_S ? 1 : SL_TOP_FRESH_S;

	return t->bytes && now - t->snap.meta.now[0] <= most && (t->captured || !t->may_capture);
}

/* Have the capture that runs, waiting for so long at most, and begin the next one if there is need of it. */
static void capture(struct sl_top *t, double wait_s)
{
	char path[sizeof("/proc/self/fd/") + 12];
	int fd, got;

	got = sl_capture_take(&t->capture, 0, &fd, &t->snap_err);
	if (!got && !t->capture.pid && !is_fresh(t) && !sl_capture_begin(&t->capture, &t->snap_err))
		got = sl_capture_take(&t->capture, wait_s, &fd, &t->snap_err);
	t->captured |= got != 0;
	if (got <= 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	t->snap_err.code = SL_OK;
	*t->snap_err.text = 0;
	read_snapshot(t, path, 0, &t->snap_err);	/* of two of one second it is the later one */
	close(fd);
}

/* The nodes, no older than they have to be.  One that cannot be read leaves the last one standing. */
static void look_at_nodes(struct sl_top *t, double wait_s)
{
	char path[PATH_MAX + 16];
	struct sl_error err = { 0 };

	snprintf(path, sizeof(path), "%s/last.snap", t->dir);
	if (!is_fresh(t) && read_snapshot(t, path, 1, &err) && !t->bytes && !t->capture.pid && !t->snap_err.code)
		t->snap_err = err;
	if (t->may_capture)
		capture(t, wait_s);
}

static void look(struct sl_top *t, double wait_s)
{
	json_decref(t->status);
	t->status_err = t->recent_err = (struct sl_error) { 0 };
	t->status = sl_status_read(t->dir, &t->status_err);
	if (*t->journal_dir)
		sl_recent_read(&t->recent, t->journal_dir, &t->recent_err);
	look_at_nodes(t, wait_s);
}

/* -- keys ---------------------------------------------------------------------- */

/* A name that is being typed. */
static void type_key(struct sl_top *t, int key)
{
	size_t n = strlen(t->typing);

	if (key == '\n' || key == '\r')
		t->typing = NULL;
	else if (key == SL_KEY_BACK && n)
		t->typing[n - 1] = 0;
	else if (key == 27)	/* Esc: all */
		*t->typing = 0, t->typing = NULL;
	else if (key < 0x100 && isgraph(key) && n + 1 < SL_TOP_NAME)
		t->typing[n] = (char) key, t->typing[n + 1] = 0;
	t->first = 0;
}

static void begin_typing(struct sl_top *t, char *name)
{
	t->typing = name;
	*name = 0;
}

/* False: that was to quit. */
static bool heed(struct sl_top *t, int key)
{
	if (key == SL_KEY_END)
		return false;
	if (key == SL_KEY_NONE)
		return true;
	if (t->typing) {
		type_key(t, key);
		return true;
	}
	switch (key) {
	case 'q': case 'Q':
		return false;
	case '?': case 'h':
		t->help = !t->help;
		break;
	case 'r':
		t->running = !t->running;
		t->first = 0;
		break;
	case 'u':
		begin_typing(t, t->user);
		break;
	case 'p':
		begin_typing(t, t->partition);
		break;
	case SL_KEY_UP: case 'k':
		t->first--;
		break;
	case SL_KEY_DOWN: case 'j':
		t->first++;
		break;
	case SL_KEY_PAGE_UP:
		t->first -= PAGE;
		break;
	case SL_KEY_PAGE_DOWN: case ' ':
		t->first += PAGE;
		break;
	case SL_KEY_HOME: case 'g':
		t->first = 0;
		break;
	}
	return true;
}

/* -- the verb ----------------------------------------------------------------- */

/*
 * Where the decisions and the status are; a user who may read neither has what is published, or captures alone.
 * 0, or -1 with *err.
 */
static int find_places(struct sl_top *t, const char *dir, struct sl_error *err)
{
	char path[PATH_MAX + 16];

	if (sl_statedir_find(dir, t->dir, sizeof(t->dir), err))
		return -1;
	if (sl_statedir_find_journal(dir, t->journal_dir, sizeof(t->journal_dir), err)) {
		if (err->code != SL_ETRUST)
			return -1;
		*t->journal_dir = 0;
	}
	snprintf(path, sizeof(path), "%s/status.json", t->dir);
	t->secret = access(path, R_OK) && errno == EACCES;
	t->may_capture = !dir;	/* another cluster's directory says nothing of this one */
	return 0;
}

static int show(struct sl_top *t, const struct values *v, struct sl_error *err)
{
	double wait_s = 0;

	if (sl_screen_open(&t->screen, v->once, err))
		return sl_tool_fail(err);
	if (!t->screen.drawn)
		wait_s = ONCE_S;
	do {
		look(t, wait_s);
		sl_top_compose(t);
	} while (heed(t, sl_screen_show(&t->screen, t->capture.pid && v->interval > 0.5 ? 0.5 : v->interval)));
	sl_screen_close(&t->screen);
	return SL_EXIT_FINE;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_top t = { 0 };
	struct sl_error err;
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &status) < 0)
		return status;
	t.notes = v.notes;
	t.running = v.running;
	snprintf(t.user, sizeof(t.user), "%s", v.user ? v.user : "");
	snprintf(t.partition, sizeof(t.partition), "%s", v.partition ? v.partition : "");
	if (find_places(&t, v.dir, &err) || sl_recent_open(&t.recent, &err))
		return sl_tool_fail(&err);
	/* where there is nothing yet, say so; what goes away later is told on the page */
	t.status = sl_status_read(t.dir, &t.status_err);
	status = t.status || t.secret ? show(&t, &v, &err) : sl_tool_fail(&t.status_err);
	sl_capture_end(&t.capture);
	forget_snapshot(&t);
	sl_recent_close(&t.recent);
	json_decref(t.status);
	return sl_tool_end(status);
}

const struct sl_verb sl_verb_top = {
	.name = "top",
	.operands = "[OPTION]...",
	.summary = "show nodes, queue and last decisions on the whole terminal, redrawn",
	.options = options,
	.run = run,
};
