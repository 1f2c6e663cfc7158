/* SPDX-License-Identifier: MIT */
/*
 * cmd_top.c - schedlua top: the cluster, its queue and what was decided last, on the whole
 * terminal, from what the plug-in writes: status.json, the journal, last.snap.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/order.h"
#include "base/text.h"
#include "image/snapshot.h"
#include "tool/job_index.h"
#include "tool/recent.h"
#include "tool/screen.h"
#include "tool/statedir.h"
#include "tool/status.h"
#include "tool/member.h"

#define STALE_S 300
#define LEFT 30			/* cells before a partition's bar */
#define NOTES 10		/* lines of --notes */

struct values {
	const char *dir, *notes;
	double interval;
	bool once;
};

static const struct sl_option options[] = {
	SL_DIR_OPTION(values),
	{ .name = "interval", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, interval), .argument = "SECONDS",
	  .min = 0.1, .max = 86400, .standard = "2", .doc = "how often it is drawn anew" },
	{ .name = "notes", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, notes), .argument = "FILE",
	  .doc = "show the last lines of this text too, as of what somebody does to the cluster" },
	{ .name = "once", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, once),
	  .doc = "print it once, as plain text, as is done where stdout is no terminal" },
	{ 0 }
};

struct waiting {
	uint32_t job, row;		/* row of the snapshot, SL_NONE: it is newer */
	int64_t start_time;
	const json_t *record;
};

struct top {
	const struct values *v;
	char dir[PATH_MAX];
	struct sl_screen screen;
	struct sl_recent recent;
	json_t *status;
	struct sl_error status_err, recent_err, snap_err;

	struct timespec taken;		/* when the snapshot was written that is here */
	void *bytes;
	struct sl_snapshot snap;	/* where there are bytes */
	uint32_t *used, *gpus;		/* per node: cores, GPUs that jobs hold */
	struct sl_map row_of;		/* job id -> row */
};

/* -- what there is ------------------------------------------------------------ */

static void forget_snapshot(struct top *t)
{
	free(t->bytes);
	free(t->used);
	free(t->gpus);
	sl_map_free(&t->row_of);
	t->bytes = NULL;
	t->used = t->gpus = NULL;
}

static void count_use(struct top *t)
{
	const struct sl_snapshot *s = &t->snap;

	for (uint32_t j = 0; j < s->job.rows; j++) {
		struct sl_range alloc = s->job.alloc[j];

		if (s->job.state[j] == SL_JOB_SUSPENDED)
			continue;
		for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++) {
			t->used[s->alloc.node[a]] += s->alloc.cores[a];
			for (uint32_t g = s->alloc.gres[a].first; g < s->alloc.gres[a].first + s->alloc.gres[a].count; g++)
				t->gpus[s->alloc.node[a]] += s->alloc_gres.count[g];
		}
	}
}

/* Nothing is read twice.  One that cannot be read leaves the last one standing. */
static void read_snapshot(struct top *t)
{
	char path[PATH_MAX + 16];
	struct sl_snapshot snap;
	struct stat st;
	size_t size;
	void *bytes;

	snprintf(path, sizeof(path), "%s/last.snap", t->dir);
	if (!stat(path, &st) && t->bytes && !memcmp(&st.st_mtim, &t->taken, sizeof(t->taken)))
		return;
	if (sl_image_load(&sl_snapshot_schema, path, &bytes, &size, &t->snap_err))
		return;
	if (sl_snapshot_open(&snap, bytes, size, &t->snap_err)) {
		free(bytes);
		return;
	}
	forget_snapshot(t);
	t->bytes = bytes;
	t->snap = snap;
	t->taken = st.st_mtim;
	t->used = calloc(snap.node.rows + 1u, sizeof(*t->used));
	t->gpus = calloc(snap.node.rows + 1u, sizeof(*t->gpus));
	if (t->used && t->gpus && !sl_job_index(&t->row_of, &t->snap))
		count_use(t);
	else
		forget_snapshot(t);
}

/* -- words -------------------------------------------------------------------- */

/* "3m20s", "6h34m", "12d4h" */
static const char *span_text(char text[SL_TEXT_SIZE], int64_t seconds)
{
	static const struct { int64_t size, part; const char *form; } unit[] = {
		{ 86400, 3600, "%" PRId64 "d%" PRId64 "h" }, { 3600, 60, "%" PRId64 "h%02" PRId64 "m" },
		{ 60, 1, "%" PRId64 "m%02" PRId64 "s" }, { 1, 1, "%" PRId64 "s" },
	};
	int i = seconds >= 86400 ? 0 : seconds >= 3600 ? 1 : seconds >= 60 ? 2 : 3;

	snprintf(text, SL_TEXT_SIZE, unit[i].form, seconds / unit[i].size, seconds % unit[i].size / unit[i].part);
	return text;
}

/* "14:22:01" of today, else "Sun 14:22" within a week, else "22 Nov". */
static const char *clock_text(char text[SL_TEXT_SIZE], int64_t when, int64_t now)
{
	time_t t = when, n = now;
	struct tm tm, today;

	if (!when || !localtime_r(&t, &tm) || !localtime_r(&n, &today) ||
	    !strftime(text, SL_TEXT_SIZE, tm.tm_yday == today.tm_yday && tm.tm_year == today.tm_year ? "%H:%M:%S" :
		      llabs(when - now) < 6 * 86400 ? "%a %H:%M" : "%e %b", &tm))
		snprintf(text, SL_TEXT_SIZE, "-");
	return text;
}

/* -- the page ----------------------------------------------------------------- */

static void put_head(struct top *t, int64_t now)
{
	const char *shadow = sl_member_text(t->status, "shadow");
	char text[2000], title[700], who[300], at[SL_TEXT_SIZE];
	struct sl_screen *s = &t->screen;
	enum sl_state state = SL_STATE_UNKNOWN;

	snprintf(text, sizeof(text), "%s", t->status_err.text);
	if (t->status)
		state = sl_status_judge(t->status, sl_status_alive(t->status), now, STALE_S, text, sizeof(text));
	if (*shadow)
		snprintf(who, sizeof(who), "Slurm's %s decides; shadow: %s (%s)", shadow, sl_member_text(t->status, "policy"),
			 sl_member_text(t->status, "source"));
	else
		snprintf(who, sizeof(who), "decided by %s (%s)", sl_member_text(t->status, "policy"), sl_member_text(t->status, "source"));
	snprintf(title, sizeof(title), " %s  %s  %s  slurmctld %.0f", sl_text_time(at, now),
		 t->bytes ? sl_snapshot_str(&t->snap, t->snap.meta.cluster[0]) : "sched/lua", who, sl_member_number(t->status, "pid"));
	sl_screen_put(s, SL_STYLE_TITLE, 0, "%-*s", s->drawn ? s->columns : 0, title);
	sl_screen_next(s);
	sl_screen_put(s, state == SL_STATE_FINE ? SL_STYLE_GREEN : SL_STYLE_RED, 10, " %s", sl_state_word(state));
	if (t->status)
		sl_screen_put(s, SL_STYLE_PLAIN, 0, "%.0f running, %.0f queued, %.0f started; cycle %.1f ms, decide %.1f ms",
			      sl_member_number(t->status, "running"), sl_member_number(t->status, "queued"),
			      sl_member_number(t->status, "starts"), sl_member_number(json_object_get(t->status, "cycle_us"), "last") / 1e3,
			      sl_member_number(json_object_get(t->status, "decide_us"), "last") / 1e3);
	sl_screen_next(s);
	if (state != SL_STATE_FINE)
		sl_screen_wrap(s, SL_STYLE_RED, 1, text);
	if (t->recent_err.code)
		sl_screen_wrap(s, SL_STYLE_RED, 1, t->recent_err.text);
}

static uint32_t count_nodes(const struct sl_snapshot *s, uint32_t partition)
{
	struct sl_range runs = s->partition.nodes[partition];
	uint32_t n = 0;

	for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
		n += s->run.last[i] - s->run.first[i] + 1;
	return n;
}

/* A part of a bar: some nodes, how full they are together. */
struct cell {
	uint64_t used, cores;
	uint32_t nodes, unusable, gpus;
};

static void put_cell(struct top *t, const struct cell *c)
{
	static const char *const bar[] = { "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const digit[] = { ".", "1", "2", "3", "4", "5", "6", "7", "8" };
	unsigned level = !c->used ? 0 : 1 + (unsigned) (7 * c->used / (c->cores ? c->cores : 1));

	level = level > 8 ? 8 : level;
	if (c->unusable == c->nodes && !c->used)
		sl_screen_put(&t->screen, SL_STYLE_RED, 1, "x");
	else
		sl_screen_put(&t->screen, c->unusable ? SL_STYLE_RED : c->gpus ? SL_STYLE_MAGENTA : SL_STYLE_GREEN, 1, "%s",
			      (t->screen.utf8 ? bar : digit)[level]);
}

static void add_node(struct cell *c, const struct top *t, uint32_t node)
{
	c->nodes++;
	c->used += t->used[node];
	c->cores += t->snap.node.cores[node];
	c->unusable += (t->snap.node.state[node] & SL_NODE_UNUSABLE) != 0;
	c->gpus += t->gpus[node] != 0;
}

/* Draw the bar, or only (*all*) sum it up. */
static void put_bar(struct top *t, uint32_t partition, uint32_t a_cell, int width, struct cell *all)
{
	struct sl_range runs = t->snap.partition.nodes[partition];
	struct sl_screen *s = &t->screen;
	struct cell c = { 0 };

	for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
		for (uint32_t n = t->snap.run.first[i]; n <= t->snap.run.last[i]; n++) {
			if (all) {
				add_node(all, t, n);
				continue;
			}
			if (c.nodes == a_cell) {
				put_cell(t, &c);
				c = (struct cell) { 0 };
			}
			if (!c.nodes && s->x >= LEFT + width) {
				sl_screen_next(s);
				sl_screen_put(s, SL_STYLE_PLAIN, LEFT, "%s", "");
			}
			add_node(&c, t, n);
		}
	if (c.nodes)
		put_cell(t, &c);
	if (!all)
		sl_screen_next(s);
}

static void put_partitions(struct top *t, int64_t now, int rows)
{
	const uint32_t shown = t->snap.partition.rows < (uint32_t) rows - 1 ? t->snap.partition.rows : (uint32_t) rows - 1;
	int width = t->screen.columns - LEFT - 1, each = shown ? (rows - 1) / (int) shown : 1;
	struct sl_screen *s = &t->screen;
	char at[SL_TEXT_SIZE];

	width = width < 1 ? 1 : width;
	sl_screen_put(s, SL_STYLE_BOLD, 0, "NODES at %s", clock_text(at, t->snap.meta.now[0], now));
	sl_screen_put(s, SL_STYLE_DIM, 0, "  cores in use; red: down or drained%s", s->drawn ? "; magenta: GPUs too" : "");
	sl_screen_next(s);
	for (uint32_t p = 0; p < shown; p++) {
		uint32_t a_cell = (count_nodes(&t->snap, p) + (uint32_t) (width * each) - 1) / (uint32_t) (width * each);
		struct cell all = { 0 };

		put_bar(t, p, 0, 0, &all);
		sl_screen_put(s, SL_STYLE_PLAIN, 11, "%s", sl_snapshot_str(&t->snap, t->snap.partition.name[p]));
		sl_screen_put(s, SL_STYLE_PLAIN, -12, "%" PRIu64 "/%" PRIu64, all.used, all.cores);
		sl_screen_put(s, SL_STYLE_PLAIN, -5, "%.0f%%", all.cores ? 100.0 * (double) all.used / (double) all.cores : 0.0);
		sl_screen_put(s, SL_STYLE_PLAIN, 2, "%s", "");
		put_bar(t, p, a_cell, width, NULL);
	}
	if (shown < t->snap.partition.rows) {
		sl_screen_put(s, SL_STYLE_DIM, 0, "and %u more partitions", t->snap.partition.rows - shown);
		sl_screen_next(s);
	}
}

/* First who is expected to start first, then as Slurm has them. */
static int compare_waiting(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->start_time != y->start_time)
		return !x->start_time ? 1 : !y->start_time ? -1 : x->start_time < y->start_time ? -1 : 1;
	return SL_ORDER(x->row, y->row) ?: SL_ORDER(x->job, y->job);
}

static struct waiting *list_waiting(struct top *t, size_t *n)
{
	struct waiting *w = calloc(json_object_size(t->recent.waiting) + 1, sizeof(*w));
	const char *key;
	json_t *record;

	*n = 0;
	if (!w)
		return NULL;
	json_object_foreach(t->recent.waiting, key, record) {
		uint32_t id = (uint32_t) strtoul(key, NULL, 10), row = sl_map_by_id(&t->row_of, id);
		int64_t start = json_integer_value(json_object_get(record, "start_time"));

		/* a forecast, which nothing is kept free for, is in the snapshot alone */
		if (!start && row != SL_NONE && t->snap.job.start_time[row] > t->snap.meta.now[0])
			start = t->snap.job.start_time[row];
		w[(*n)++] = (struct waiting) { id, row, start, record };
	}
	qsort(w, *n, sizeof(*w), compare_waiting);
	return w;
}

static void put_waiting(struct top *t, const struct waiting *w, int64_t now, bool partition)
{
	const struct sl_job_view *job = &t->snap.job;
	const char *text = sl_member_text(w->record, "text"), *why = sl_member_text(w->record, "why");
	char waited[SL_TEXT_SIZE], at[SL_TEXT_SIZE];
	struct sl_screen *s = &t->screen;
	bool here = w->row != SL_NONE;

	sl_screen_put(s, SL_STYLE_BOLD, -8, "%u", w->job);
	sl_screen_put(s, SL_STYLE_PLAIN, 9, " %s", here ? sl_snapshot_str(&t->snap, job->user[w->row]) : "");
	if (partition)
		sl_screen_put(s, SL_STYLE_PLAIN, 12, " %s", here ? sl_snapshot_str(&t->snap, t->snap.partition.name[job->partition[w->row]]) :
			      sl_member_text(w->record, "partition"));
	sl_screen_put(s, SL_STYLE_PLAIN, -6, here ? "%u" : "-", here ? job->min_nodes[w->row] : 0);
	sl_screen_put(s, SL_STYLE_PLAIN, -7, here ? "%u" : "-", here ? job->min_cpus[w->row] : 0);
	sl_screen_put(s, SL_STYLE_PLAIN, -8, "%s", here ? span_text(waited, now - job->submit_time[w->row]) : "-");
	sl_screen_put(s, SL_STYLE_PLAIN, -10, "%s", clock_text(at, w->start_time, now));
	sl_screen_put(s, SL_STYLE_PLAIN, 0, "  %s", *text ? text : *why ? why : "-");
	sl_screen_next(s);
}

/* In so many lines; returns those that it took. */
static int put_queue(struct top *t, int64_t now, int rows)
{
	bool partition = t->bytes && t->snap.partition.rows > 1 && t->screen.columns >= 90;
	struct sl_screen *s = &t->screen;
	struct waiting *w;
	size_t n, shown;

	w = list_waiting(t, &n);
	shown = !w ? 0 : (int) n <= rows - 2 ? n : rows > 2 ? (size_t) rows - 2 : 0;
	sl_screen_put(s, SL_STYLE_BOLD, 0, "QUEUE");
	sl_screen_put(s, SL_STYLE_DIM, 0, "  %zu wait%s%s", n, n == 1 ? "s" : "", shown < n ? "; first those that are expected to start first" : "");
	sl_screen_next(s);
	if (shown) {
		sl_screen_put(s, SL_STYLE_DIM, 0, "     JOB USER    %s NODES   CPUS  WAITED  EXPECTED  REASON", partition ? " PARTITION  " : "");
		sl_screen_next(s);
	}
	for (size_t i = 0; i < shown; i++)
		put_waiting(t, &w[i], now, partition);
	free(w);
	return 1 + (int) shown + (shown > 0);
}

static void put_events(struct top *t, int64_t now, int rows)
{
	struct sl_screen *s = &t->screen;
	char at[SL_TEXT_SIZE];
	json_t *event;
	size_t i;

	if (rows < 2)
		return;
	sl_screen_put(s, SL_STYLE_BOLD, 0, "LAST");
	sl_screen_next(s);
	json_array_foreach(t->recent.events, i, event) {
		if ((int) i >= rows - 1)
			break;
		sl_screen_put(s, SL_STYLE_DIM, -9, "%s", clock_text(at, json_integer_value(json_array_get(event, 0)), now));
		sl_screen_put(s, SL_STYLE_PLAIN, 0, "  %s", json_string_value(json_array_get(event, 1)));
		sl_screen_next(s);
	}
}

/* The last lines of a text, as many as there is room for: none of them is cut. */
static void put_notes(struct top *t)
{
	FILE *in = t->v->notes ? fopen(t->v->notes, "re") : NULL;
	char *line = NULL, *last[NOTES] = { NULL };
	int n = 0, first, room = t->screen.rows / 4;
	size_t size = 0;

	while (in && getline(&line, &size, in) > 0) {
		line[strcspn(line, "\n")] = 0;
		free(last[n % NOTES]);
		last[n++ % NOTES] = strdup(line);
	}
	for (first = n; first > 0 && first > n - NOTES && last[(first - 1) % NOTES]; first--) {
		room -= sl_screen_height(&t->screen, 1, last[(first - 1) % NOTES]);
		if (room < 0 && first < n)
			break;
	}
	for (; first < n; first++)
		sl_screen_wrap(&t->screen, SL_STYLE_PLAIN, 1, last[first % NOTES]);
	for (int i = 0; i < NOTES; i++)
		free(last[i]);
	free(line);
	if (in)
		fclose(in);
}

static void compose(struct top *t)
{
	const int64_t now = time(NULL);
	struct sl_screen *s = &t->screen;
	int rows, last;

	sl_screen_begin(s);
	put_head(t, now);
	put_notes(t);
	if (t->bytes) {
		put_partitions(t, now, s->rows < 12 ? 2 : s->rows / 3);
	} else {
		sl_screen_put(s, SL_STYLE_DIM, 0, "no nodes: %s", t->snap_err.text);
		sl_screen_next(s);
	}
	rows = s->rows - s->y;
	rows = rows < 4 ? 4 : rows;
	last = 1 + (int) json_array_size(t->recent.events);
	last = last < rows / 3 ? last : rows / 3;
	put_events(t, now, rows - put_queue(t, now, rows - last));
}

static void look(struct top *t)
{
	json_decref(t->status);
	t->status_err = t->recent_err = (struct sl_error) { 0 };
	t->status = sl_status_read(t->dir, &t->status_err);
	sl_recent_read(&t->recent, t->dir, &t->recent_err);
	read_snapshot(t);
}

/* -- the verb ----------------------------------------------------------------- */

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct values v;
	struct top t = { .v = &v };
	struct sl_error err;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &status) < 0)
		return status;
	if (sl_statedir_find(v.dir, t.dir, sizeof(t.dir), &err) || sl_recent_open(&t.recent, &err))
		return sl_tool_fail(&err);
	look(&t);
	/* where there is nothing yet, say so; what goes away later is told on the page */
	status = t.status ? SL_EXIT_FINE : sl_tool_fail(&t.status_err);
	if (!status && sl_screen_open(&t.screen, v.once, &err))
		status = sl_tool_fail(&err);
	if (!status) {
		for (compose(&t); sl_screen_show(&t.screen, v.interval); compose(&t))
			look(&t);
		sl_screen_close(&t.screen);
	}
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
