/* SPDX-License-Identifier: MIT */
/* top_view.c - the page of schedlua top (tool/top.h). */
#include "tool/top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/member.h"
#include "tool/status.h"

#define STALE_S 300
#define OLD_S (2 * SL_LOOK_FRESH_S)	/* nodes that are older are said to be */
#define GPU_CELLS 9
#define NOTES 10		/* lines of --notes */
#define HELP_ROWS 10		/* a lower terminal has no line of keys */
#define MACHINE_ROWS 16		/* a lower one has no GPUs and blocks */

/* "14:22:01" of today, else "Sun 14:22" within a week, else "22 Nov". */
const char *sl_top_clock(char text[SL_TEXT_SIZE], int64_t when, int64_t now)
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

/* Jobs, as the snapshot has them: who decides is for root and SlurmUser to know. */
static void put_counts(struct sl_top *t)
{
	uint32_t running = 0, pending = 0;

	for (uint32_t j = 0; t->seen.bytes && j < t->seen.snap.job.rows; j++) {
		running += t->seen.snap.job.state[j] == SL_JOB_RUNNING;
		pending += t->seen.snap.job.state[j] == SL_JOB_PENDING;
	}
	if (t->seen.bytes)
		sl_screen_put(&t->screen, SL_STYLE_PLAIN, 0, " %" PRIu32 " running, %" PRIu32 " waiting", running, pending);
}

static void put_head(struct sl_top *t, int64_t now)
{
	const char *shadow = sl_member_text(t->seen.status, "shadow");
	char text[2000], title[700], who[300] = "", at[SL_TEXT_SIZE];
	struct sl_screen *s = &t->screen;
	enum sl_state state = SL_STATE_UNKNOWN;

	snprintf(text, sizeof(text), "%s", t->seen.status_err.text);
	if (t->seen.secret)
		state = SL_STATE_FINE;
	if (t->seen.status)
		state = sl_status_judge(t->seen.status, sl_status_alive(t->seen.status), now, STALE_S, text, sizeof(text));
	if (*shadow)
		snprintf(who, sizeof(who), "Slurm's %s decides; shadow: %s (%s)", shadow, sl_member_text(t->seen.status, "policy"),
			 sl_member_text(t->seen.status, "source"));
	else if (t->seen.status)
		snprintf(who, sizeof(who), "decided by %s (%s)", sl_member_text(t->seen.status, "policy"), sl_member_text(t->seen.status, "source"));
	snprintf(title, sizeof(title), " %s  %s  %s", sl_text_time(at, now),
		 t->seen.bytes ? sl_snapshot_str(&t->seen.snap, t->seen.snap.meta.cluster[0]) : "sched/lua", who);
	sl_screen_put(s, SL_STYLE_TITLE, 0, "%-*s", s->drawn ? s->columns : 0, title);
	sl_screen_next(s);
	if (!t->seen.secret)
		sl_screen_put(s, state == SL_STATE_FINE ? SL_STYLE_GREEN : SL_STYLE_RED, 10, " %s", sl_state_word(state));
	if (t->seen.secret)
		put_counts(t);
	else if (t->seen.status)
		sl_screen_put(s, SL_STYLE_PLAIN, 0, "%.0f running, %.0f queued, %.0f started; cycle %.1f ms, decide %.1f ms",
			      sl_member_number(t->seen.status, "running"), sl_member_number(t->seen.status, "queued"),
			      sl_member_number(t->seen.status, "starts"), sl_member_number(json_object_get(t->seen.status, "cycle_us"), "last") / 1e3,
			      sl_member_number(json_object_get(t->seen.status, "decide_us"), "last") / 1e3);
	sl_screen_next(s);
	if (state != SL_STATE_FINE)
		sl_screen_wrap(s, SL_STYLE_RED, 1, text);
	if (t->seen.recent_err.code)
		sl_screen_wrap(s, SL_STYLE_RED, 1, t->seen.recent_err.text);
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
	uint32_t nodes, unusable, gpus, has_gpus;
};

void sl_top_put_level(struct sl_top *t, enum sl_style style, uint64_t used, uint64_t all)
{
	static const char *const bar[] = { "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const digit[] = { ".", "1", "2", "3", "4", "5", "6", "7", "8" };
	unsigned level = !used ? 0 : 1 + (unsigned) (7 * used / (all ? all : 1));

	sl_screen_put(&t->screen, style, 1, "%s", (t->screen.utf8 ? bar : digit)[level > 8 ? 8 : level]);
}

static void put_cell(struct sl_top *t, const struct cell *c)
{
	if (c->unusable == c->nodes && !c->used)
		sl_screen_put(&t->screen, SL_STYLE_RED, 1, "x");
	else
		sl_top_put_level(t, c->unusable ? SL_STYLE_RED : c->gpus ? SL_STYLE_MAGENTA : SL_STYLE_GREEN, c->used, c->cores);
}

static void add_node(struct cell *c, const struct sl_top *t, uint32_t node)
{
	c->nodes++;
	c->used += t->seen.used[node];
	c->cores += t->seen.snap.node.cores[node];
	c->unusable += (t->seen.snap.node.state[node] & SL_NODE_UNUSABLE) != 0;
	c->gpus += t->seen.gpus[node];
	c->has_gpus += sl_look_node_gpus(&t->seen.snap, node);
}

/* Draw the bar, or only (*all*) sum it up. */
static void put_bar(struct sl_top *t, uint32_t partition, uint32_t a_cell, int left, struct cell *all)
{
	struct sl_range runs = t->seen.snap.partition.nodes[partition];
	struct sl_screen *s = &t->screen;
	struct cell c = { 0 };

	for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
		for (uint32_t n = t->seen.snap.run.first[i]; n <= t->seen.snap.run.last[i]; n++) {
			if (all) {
				add_node(all, t, n);
				continue;
			}
			if (c.nodes == a_cell) {
				put_cell(t, &c);
				c = (struct cell) { 0 };
			}
			if (!c.nodes && s->x >= s->columns - 1 && s->x > left) {
				sl_screen_next(s);
				sl_screen_put(s, SL_STYLE_PLAIN, left, "%s", "");
			}
			add_node(&c, t, n);
		}
	if (c.nodes)
		put_cell(t, &c);
	if (!all)
		sl_screen_next(s);
}

static bool has_gpus(const struct sl_snapshot *s)
{
	uint32_t n = 0;

	while (n < s->node.rows && !sl_look_node_gpus(s, n))
		n++;
	return n < s->node.rows;
}

static void put_partitions(struct sl_top *t, int64_t now, int rows)
{
	const uint32_t shown = t->seen.snap.partition.rows < (uint32_t) rows - 1 ? t->seen.snap.partition.rows : (uint32_t) rows - 1;
	const bool gpus = has_gpus(&t->seen.snap);
	const int left = 30 + (gpus ? GPU_CELLS : 0);	/* cells before a partition's bar */
	int width = t->screen.columns - left - 1, each = shown ? (rows - 1) / (int) shown : 1;
	struct sl_screen *s = &t->screen;
	const int64_t age = now - t->seen.snap.meta.now[0];
	char at[SL_TEXT_SIZE];

	width = width < 1 ? 1 : width;
	sl_screen_put(s, SL_STYLE_BOLD, 0, "NODES at %s", sl_top_clock(at, t->seen.snap.meta.now[0], now));
	if (age > OLD_S)
		sl_screen_put(s, SL_STYLE_RED, 0, ", %s ago%s%s", sl_text_duration(at, age), t->seen.snap_err.code ? ": " : "", t->seen.snap_err.text);
	sl_screen_put(s, SL_STYLE_DIM, 0, "  cores%s in use; red: down or drained%s", gpus ? ", GPUs" : "", s->drawn && gpus ? "; magenta: GPUs too" : "");
	sl_screen_next(s);
	for (uint32_t p = 0; p < shown; p++) {
		uint32_t a_cell = (count_nodes(&t->seen.snap, p) + (uint32_t) (width * each) - 1) / (uint32_t) (width * each);
		struct cell all = { 0 };

		put_bar(t, p, 0, 0, &all);
		sl_screen_put(s, SL_STYLE_PLAIN, 11, "%s", sl_snapshot_str(&t->seen.snap, t->seen.snap.partition.name[p]));
		sl_screen_put(s, SL_STYLE_PLAIN, -12, "%" PRIu64 "/%" PRIu64, all.used, all.cores);
		sl_screen_put(s, SL_STYLE_PLAIN, -5, "%.0f%%", all.cores ? 100.0 * (double) all.used / (double) all.cores : 0.0);
		if (gpus && all.has_gpus)
			sl_screen_put(s, SL_STYLE_PLAIN, -GPU_CELLS, "%" PRIu32 "/%" PRIu32, all.gpus, all.has_gpus);
		else
			sl_screen_put(s, SL_STYLE_PLAIN, gpus ? GPU_CELLS : 0, "%s", "");
		sl_screen_put(s, SL_STYLE_PLAIN, 2, "%s", "");
		put_bar(t, p, a_cell, left, NULL);
	}
	if (shown < t->seen.snap.partition.rows) {
		sl_screen_put(s, SL_STYLE_DIM, 0, "and %u more partitions", t->seen.snap.partition.rows - shown);
		sl_screen_next(s);
	}
}

static void put_events(struct sl_top *t, int64_t now, int rows)
{
	struct sl_screen *s = &t->screen;
	char at[SL_TEXT_SIZE];
	json_t *event;
	size_t i;

	if (rows < 2)
		return;
	sl_screen_put(s, SL_STYLE_BOLD, 0, "LAST");
	sl_screen_next(s);
	json_array_foreach(t->seen.recent.events, i, event) {
		if ((int) i >= rows - 1)
			break;
		sl_screen_put(s, SL_STYLE_DIM, -9, "%s", sl_top_clock(at, json_integer_value(json_array_get(event, 0)), now));
		sl_screen_put(s, SL_STYLE_PLAIN, 0, "  %s", json_string_value(json_array_get(event, 1)));
		sl_screen_next(s);
	}
}

/* The last lines of a text, as many as there is room for: none of them is cut. */
static void put_notes(struct sl_top *t)
{
	FILE *in = t->notes ? fopen(t->notes, "re") : NULL;
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

/* What the keys have set, and which there are. */
static void put_keys(struct sl_top *t)
{
	struct sl_screen *s = &t->screen;

	if (*t->user || *t->partition || t->typing) {
		sl_screen_put(s, SL_STYLE_BOLD, 0, " only");
		if (*t->user || t->typing == t->user)
			sl_screen_put(s, SL_STYLE_BOLD, 0, " user %s%s", t->user, t->typing == t->user ? "_" : "");
		if (*t->partition || t->typing == t->partition)
			sl_screen_put(s, SL_STYLE_BOLD, 0, " partition %s%s", t->partition, t->typing == t->partition ? "_" : "");
		sl_screen_next(s);
	}
	if (s->drawn && s->rows >= HELP_ROWS) {
		sl_screen_put(s, SL_STYLE_DIM, 0, " %s", t->typing ? "type a name, then Enter; an empty one is all" :
			      "q quit  ? help  r running or waiting  u user  p partition  arrows, PgUp, PgDn scroll");
		sl_screen_next(s);
	}
}

static void put_help(struct sl_top *t)
{
	static const char *const lines[] = {
		"q             quit", "? h           this help, and back", "r             jobs that run, with their ends; jobs that wait",
		"u             only the jobs of one user; an empty name: of all", "p             only the jobs of one partition",
		"Up Down j k   scroll by a line", "PgUp PgDn     scroll by ten", "Home          back to the first", "^L            draw all of it anew",
		"", "A cell of a bar is a node, or as many as fit; it is as high as cores of it are in use.",
		"GPUS: by type, in use and free; BLOCKS: a cell is a block, as high as nodes of it have a job.",
		"x, red: down or drained.  EXPECTED: when the job is expected to start, by walltimes or the site's forecast.",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		sl_screen_put(&t->screen, SL_STYLE_PLAIN, 0, "  %s", lines[i]);
		sl_screen_next(&t->screen);
	}
}

void sl_top_compose(struct sl_top *t)
{
	const int64_t now = time(NULL);
	struct sl_screen *s = &t->screen;
	int rows, last;

	sl_screen_begin(s);
	put_head(t, now);
	put_keys(t);
	if (t->help) {
		put_help(t);
		return;
	}
	put_notes(t);
	if (t->seen.bytes) {
		put_partitions(t, now, s->rows < 12 ? 2 : s->rows / 3);
		if (s->rows >= MACHINE_ROWS)
			sl_top_put_machine(t);
	} else {
		sl_screen_put(s, SL_STYLE_DIM, 0, "no nodes: %s", t->seen.snap_err.text);
		sl_screen_next(s);
	}
	rows = s->rows - s->y;
	rows = rows < 4 ? 4 : rows;
	last = 1 + (int) json_array_size(t->seen.recent.events);
	last = last < rows / 3 ? last : rows / 3;
	rows -= t->running ? sl_top_put_running(t, now, rows - last) : sl_top_put_queue(t, now, rows - last);
	if (*t->seen.journal_dir)
		put_events(t, now, rows);
}
