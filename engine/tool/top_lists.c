/* SPDX-License-Identifier: MIT */
/* top_lists.c - the lists of jobs that schedlua top shows (tool/top.h). */
#include "tool/top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "tool/member.h"

/* A job of a list. */
struct item {
	uint32_t job, row;		/* row of the snapshot, SL_NONE: it is newer */
	int64_t when;			/* it is expected to start, or ends; 0: not known */
	const json_t *record;		/* of the journal; NULL: it says nothing */
};

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

/* -- which jobs ----------------------------------------------------------------- */

static bool is_among(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = names; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
		if (!strncmp(s, name, n) && (!s[n] || s[n] == ','))
			return true;
	return false;
}

static bool is_in_partition(const struct sl_top *t, const struct item *x)
{
	const struct sl_snapshot *s = &t->seen.snap;
	struct sl_range all;

	if (x->record && is_among(sl_member_text(x->record, "partition"), t->partition))
		return true;
	if (x->row == SL_NONE)
		return false;
	if (!strcmp(sl_snapshot_str(s, s->partition.name[s->job.partition[x->row]]), t->partition))
		return true;
	all = s->job.partitions[x->row];
	for (uint32_t i = all.first; i < all.first + all.count; i++)
		if (!strcmp(sl_snapshot_str(s, s->partition.name[s->job_partition.partition[i]]), t->partition))
			return true;
	return false;
}

/* Do the filters let it through?  Of a job that is newer than the snapshot nobody knows the user. */
static bool passes(const struct sl_top *t, const struct item *x)
{
	if (*t->user && (x->row == SL_NONE || strcmp(sl_snapshot_str(&t->seen.snap, t->seen.snap.job.user[x->row]), t->user)))
		return false;
	return !*t->partition || is_in_partition(t, x);
}

/* First who is expected to start, or ends, first; then as Slurm has them. */
static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->when != y->when)
		return !x->when ? 1 : !y->when ? -1 : x->when < y->when ? -1 : 1;
	return SL_ORDER(x->row, y->row) ?: SL_ORDER(x->job, y->job);
}

static void add_item(const struct sl_top *t, struct item *list, size_t *n, struct item x)
{
	if (passes(t, &x))
		list[(*n)++] = x;
}

static int64_t expected_start(const struct sl_top *t, uint32_t row)
{
	return row != SL_NONE ? sl_look_expected(&t->seen.snap, row) : 0;
}

/* Those of the journal; where it is not this user's to read, those of the snapshot. */
static struct item *list_waiting(struct sl_top *t, size_t *n)
{
	size_t jobs = t->seen.bytes ? t->seen.snap.job.rows : 0;
	struct item *list = calloc(json_object_size(t->seen.recent.waiting) + jobs + 1, sizeof(*list));
	const char *key;
	json_t *record;

	*n = 0;
	if (!list)
		return NULL;
	json_object_foreach(t->seen.recent.waiting, key, record) {
		uint32_t id = (uint32_t) strtoul(key, NULL, 10), row = t->seen.bytes ? sl_map_by_id(&t->seen.row_of, id) : SL_NONE;
		int64_t start = json_integer_value(json_object_get(record, "start_time"));

		add_item(t, list, n, (struct item) { id, row, start ? start : expected_start(t, row), record });
	}
	for (uint32_t row = 0; !*t->seen.journal_dir && row < jobs; row++)
		if (t->seen.snap.job.state[row] == SL_JOB_PENDING)
			add_item(t, list, n, (struct item) { t->seen.snap.job.id[row], row, expected_start(t, row), NULL });
	qsort(list, *n, sizeof(*list), compare_items);
	return list;
}

static struct item *list_running(struct sl_top *t, size_t *n)
{
	size_t jobs = t->seen.bytes ? t->seen.snap.job.rows : 0;
	struct item *list = calloc(jobs + 1, sizeof(*list));

	*n = 0;
	for (uint32_t row = 0; list && row < jobs; row++)
		if (t->seen.snap.job.state[row] == SL_JOB_RUNNING || t->seen.snap.job.state[row] == SL_JOB_SUSPENDED)
			add_item(t, list, n, (struct item) { t->seen.snap.job.id[row], row,
				t->seen.snap.job.end_time[row] == SL_UNLIMITED ? 0 : t->seen.snap.job.end_time[row], NULL });
	if (list)
		qsort(list, *n, sizeof(*list), compare_items);
	return list;
}

/* -- drawing ---------------------------------------------------------------------- */

/* What both lists begin with. */
static void put_who(struct sl_top *t, const struct item *x, bool partition)
{
	const struct sl_snapshot *snap = &t->seen.snap;
	struct sl_screen *s = &t->screen;
	bool here = x->row != SL_NONE;

	sl_screen_put(s, SL_STYLE_BOLD, -8, "%u", x->job);
	sl_screen_put(s, SL_STYLE_PLAIN, 9, " %s", here ? sl_snapshot_str(snap, snap->job.user[x->row]) : "");
	if (partition)
		sl_screen_put(s, SL_STYLE_PLAIN, 12, " %s", here ? sl_snapshot_str(snap, snap->partition.name[snap->job.partition[x->row]]) :
			      sl_member_text(x->record, "partition"));
}

static void put_size(struct sl_top *t, uint32_t nodes, uint32_t cpus, uint32_t gpus, bool here)
{
	struct sl_screen *s = &t->screen;

	sl_screen_put(s, SL_STYLE_PLAIN, -6, here ? "%u" : "-", nodes);
	sl_screen_put(s, SL_STYLE_PLAIN, -7, here ? "%u" : "-", cpus);
	sl_screen_put(s, SL_STYLE_PLAIN, -5, gpus ? "%u" : "", gpus);
}

static void put_waiting(struct sl_top *t, const struct item *w, int64_t now, bool partition)
{
	const struct sl_job_view *job = &t->seen.snap.job;
	const char *text = sl_member_text(w->record, "text"), *why = sl_member_text(w->record, "why");
	char waited[SL_TEXT_SIZE], at[SL_TEXT_SIZE];
	struct sl_screen *s = &t->screen;
	bool here = w->row != SL_NONE;

	if (!w->record)
		why = sl_snapshot_str(&t->seen.snap, job->state_reason[w->row]);
	put_who(t, w, partition);
	put_size(t, here ? job->min_nodes[w->row] : 0, here ? job->min_cpus[w->row] : 0, here ? sl_look_gpus_asked(&t->seen.snap, w->row) : 0, here);
	sl_screen_put(s, SL_STYLE_PLAIN, -8, "%s", here ? span_text(waited, now - job->submit_time[w->row]) : "-");
	sl_screen_put(s, SL_STYLE_PLAIN, -10, "%s", sl_top_clock(at, w->when, now));
	sl_screen_put(s, SL_STYLE_PLAIN, 0, "  %s", *text ? text : *why ? why : "-");
	sl_screen_next(s);
}

static void put_running(struct sl_top *t, const struct item *w, int64_t now, bool partition)
{
	const struct sl_job_view *job = &t->seen.snap.job;
	char ran[SL_TEXT_SIZE], at[SL_TEXT_SIZE];
	struct sl_screen *s = &t->screen;

	put_who(t, w, partition);
	put_size(t, job->alloc[w->row].count, sl_look_cores_held(&t->seen.snap, w->row), sl_look_gpus_held(&t->seen.snap, w->row), true);
	sl_screen_put(s, SL_STYLE_PLAIN, -8, "%s", span_text(ran, now - job->start_time[w->row]));
	sl_screen_put(s, SL_STYLE_PLAIN, -10, "%s", w->when ? sl_top_clock(at, w->when, now) : "no limit");
	sl_screen_put(s, SL_STYLE_PLAIN, 0, "  %s", sl_snapshot_str(&t->seen.snap, job->name[w->row]));
	sl_screen_next(s);
}

/* Where the list begins: no further than its last line. */
static size_t first_shown(struct sl_top *t, size_t n)
{
	if (t->first < 0 || !n)
		t->first = 0;
	if (n && (size_t) t->first >= n)
		t->first = (int) n - 1;
	return (size_t) t->first;
}

typedef void put_item(struct sl_top *t, const struct item *x, int64_t now, bool partition);

/* The items under their titles, in so many lines; returns those that it took. */
static int put_list(struct sl_top *t, const struct item *list, size_t n, int64_t now, int rows, const char *titles, put_item *put)
{
	bool partition = t->seen.bytes && t->seen.snap.partition.rows > 1 && t->screen.columns >= 90;
	struct sl_screen *s = &t->screen;
	size_t first = first_shown(t, n), left = n - first, shown = !list ? 0 : (int) left <= rows - 2 ? left : rows > 2 ? (size_t) rows - 2 : 0;

	if (first)
		sl_screen_put(s, SL_STYLE_DIM, 0, ", from number %zu on", first + 1);
	sl_screen_next(s);
	if (shown) {
		sl_screen_put(s, SL_STYLE_DIM, 0, "     JOB USER    %s NODES   CPUS GPUS%s", partition ? " PARTITION  " : "", titles);
		sl_screen_next(s);
	}
	for (size_t i = first; i < first + shown; i++)
		put(t, &list[i], now, partition);
	return 1 + (int) shown + (shown > 0);
}

int sl_top_put_queue(struct sl_top *t, int64_t now, int rows)
{
	struct item *list;
	size_t n;
	int took;

	list = list_waiting(t, &n);
	sl_screen_put(&t->screen, SL_STYLE_BOLD, 0, "QUEUE");
	sl_screen_put(&t->screen, SL_STYLE_DIM, 0, "  %zu wait%s%s", n, n == 1 ? "s" : "",
		      (int) n > rows - 2 ? "; first those that are expected to start first" : "");
	took = put_list(t, list, n, now, rows, "  WAITED  EXPECTED  REASON", put_waiting);
	free(list);
	return took;
}

int sl_top_put_running(struct sl_top *t, int64_t now, int rows)
{
	struct item *list;
	size_t n;
	int took;

	list = list_running(t, &n);
	sl_screen_put(&t->screen, SL_STYLE_BOLD, 0, "RUNNING");
	sl_screen_put(&t->screen, SL_STYLE_DIM, 0, "  %zu job%s; first those that end first", n, n == 1 ? "" : "s");
	took = put_list(t, list, n, now, rows, "     RAN      ENDS  NAME", put_running);
	free(list);
	return took;
}
