/* SPDX-License-Identifier: MIT */
/*
 * page_data.c - workloads and runs, as the page keeps them.
 *
 * Each is two elements: <script type="application/json"> with names and figures,
 * and <script type="text/plain"> with a row per job, as base64 of LEB128 numbers
 * (7 bits a byte, the least significant first; "signed" ones are zigzag-coded):
 *
 *	workload, per job:	submit time - the one of the row above, signed
 *				id - the one of the row above, signed
 *				row of the user, of the partition
 *				walltime, seconds; 0: none
 *	run, per job:		0: never started; else wait in seconds + 1, and
 *				seconds that it ran
 *				GPUs
 *				number of rectangles, and for each of them
 *				  first node - one past the last of the rectangle before, signed
 *				  number of nodes
 *				  cores of each; 0: all of them, else also
 *				  the first of them
 *
 * The first submit time is counted from the workload's origin.
 */
#include "report/page_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"

#define LINE 120	/* characters of base64 in a line: 90 bytes */

/* -- numbers -------------------------------------------------------------------- */

struct packer {
	FILE *out;
	uint8_t byte[LINE / 4 * 3];
	unsigned bytes;
};

static void pack_line(struct packer *pk)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char line[LINE + 1];
	unsigned n = 0;

	for (unsigned i = 0; i < pk->bytes; i += 3) {
		unsigned have = pk->bytes - i;
		uint32_t v = (uint32_t) pk->byte[i] << 16;

		v |= have > 1 ? (uint32_t) pk->byte[i + 1] << 8 : 0;
		v |= have > 2 ? pk->byte[i + 2] : 0;
		line[n++] = digit[v >> 18];
		line[n++] = digit[v >> 12 & 63];
		line[n++] = have > 1 ? digit[v >> 6 & 63] : '=';
		line[n++] = have > 2 ? digit[v & 63] : '=';
	}
	line[n++] = '\n';
	fwrite(line, 1, n, pk->out);
	pk->bytes = 0;
}

static void pack_byte(struct packer *pk, uint8_t b)
{
	pk->byte[pk->bytes++] = b;
	if (pk->bytes == sizeof(pk->byte))
		pack_line(pk);
}

static void pack_number(struct packer *pk, uint64_t v)
{
	for (; v > 127; v >>= 7)
		pack_byte(pk, (uint8_t) (v | 128));
	pack_byte(pk, (uint8_t) v);
}

static void pack_signed(struct packer *pk, int64_t v)
{
	pack_number(pk, v < 0 ? ~((uint64_t) v << 1) : (uint64_t) v << 1);
}

static void begin_rows(struct packer *pk, FILE *out, const char *class)
{
	*pk = (struct packer) { .out = out };
	fprintf(out, "<script type=\"text/plain\" class=\"%s\">\n", class);
}

static void end_rows(struct packer *pk)
{
	if (pk->bytes)
		pack_line(pk);
	fputs("</script>\n", pk->out);
}

/* -- JSON ----------------------------------------------------------------------- */

/* Write the JSON with each "<" escaped (only strings have one), so that no text in it can end the
 * element. */
static void put_text(struct sl_page *p, const char *class, const char *text, size_t size)
{
	fprintf(p->out, "<script type=\"application/json\" class=\"%s\">\n", class);
	for (size_t i = 0; i < size; i++)
		if (text[i] == '<')
			fputs("\\u003c", p->out);
		else
			putc(text[i], p->out);
	fputs("\n</script>\n", p->out);
}

static int put_json(struct sl_page *p, const char *class, struct sl_error *err)
{
	const char *text;
	size_t size;

	if (sl_json_finish(p->json, &text, &size, err) < 0)
		return -1;
	put_text(p, class, text, size);
	sl_json_reset(p->json);
	return 0;
}

/* -- memory --------------------------------------------------------------------- */

static int no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "report: out of memory");
}

static void forget_run(struct sl_page *p)
{
	free(p->label);
	free(p->start);
	free(p->stretch);
	free(p->lane);
	p->label = NULL;
	p->start = NULL;
	p->stretch = NULL;
	p->lane = NULL;
	p->starts = p->stretches = p->lanes = 0;
	p->start_room = p->stretch_room = p->lane_room = 0;
}

void sl_page_forget(struct sl_page *p)
{
	forget_run(p);
	free(p->free_at);
	free(p->first_core);
	free(p->start_of);
	p->free_at = NULL;
	p->first_core = NULL;
	p->start_of = NULL;
	p->w = NULL;
}

static int check_written(struct sl_page *p, struct sl_error *err)
{
	if (!ferror(p->out))
		return 0;
	p->failed = true;
	return sl_fail(err, SL_EIO, "report: %s: %s", p->path, errno ? strerror(errno) : "cannot be written");
}

/* -- a workload ----------------------------------------------------------------- */

static uint32_t cores_of(const struct sl_page *p, uint32_t node)
{
	return (uint32_t) (p->first_core[node + 1] - p->first_core[node]);
}

static int count_cores(struct sl_page *p, struct sl_error *err)
{
	const struct sl_node_view *node = &p->w->snap.node;

	p->first_core = calloc(node->rows + 1, sizeof(*p->first_core));
	p->start_of = calloc(p->w->snap.job.rows + 1, sizeof(*p->start_of));
	if (!p->first_core || !p->start_of)
		return no_memory(err);
	for (uint32_t i = 0; i < node->rows; i++)
		p->first_core[i + 1] = p->first_core[i] + (node->cores[i] ? node->cores[i] : 1);
	p->free_at = calloc(p->first_core[node->rows] + 1, sizeof(*p->free_at));
	return p->free_at ? 0 : no_memory(err);
}

/* Node names, and cores as runs of nodes with equal ones. */
static void put_nodes(struct sl_page *p)
{
	const struct sl_snapshot *snap = &p->w->snap;

	sl_json_open_array(p->json, "nodes");
	for (uint32_t i = 0; i < snap->node.rows; i++)
		sl_json_str(p->json, sl_snapshot_str(snap, snap->node.name[i]));
	sl_json_end_array(p->json);
	sl_json_open_array(p->json, "cores");
	for (uint32_t i = 0, n; i < snap->node.rows; i += n) {
		for (n = 1; i + n < snap->node.rows && cores_of(p, i + n) == cores_of(p, i); n++)
			;
		sl_json_begin_array(p->json);
		sl_json_int(p->json, n);
		sl_json_int(p->json, cores_of(p, i));
		sl_json_end_array(p->json);
	}
	sl_json_end_array(p->json);
}

static void put_reasons(struct sl_json *j, const struct sl_page_reasons *r)
{
	sl_json_open_object(j, "reasons");
	for (uint32_t i = 0; i < r->words; i++) {
		sl_json_open_array(j, r->word[i]);
		for (uint32_t k = 0; k < r->parts; k++)
			sl_json_real(j, r->jobs[i * r->parts + k]);
		sl_json_end_array(j);
	}
	sl_json_end_object(j);
}

static void put_workload(struct sl_page *p, const struct sl_page_about *about)
{
	struct sl_json *j = p->json;
	const struct sl_workload *w = p->w;
	char seed[24];

	sl_json_begin_object(j);
	sl_json_put_str(j, "name", w->name);
	sl_json_put_str(j, "command", about->command ? about->command : "");
	sl_json_put_str(j, "notes", about->notes ? about->notes : "");
	sl_json_put_str(j, "machine", about->machine);
	sl_json_put_str(j, "options", about->options ? about->options : "");
	sl_json_put_str(j, "version", SCHEDLUA_VERSION);
	snprintf(seed, sizeof(seed), "%" PRIu64, about->seed);
	sl_json_put_str(j, "seed", seed);	/* as text: JavaScript's numbers have 53 bits */
	sl_json_put_int(j, "origin_s", w->origin_s);
	sl_json_put_int(j, "jobs", w->snap.job.rows);
	sl_json_open_array(j, "issues");
	for (int i = 0; i < SL_ISSUES; i++) {
		if (!w->issue[i].count)
			continue;
		sl_json_begin_array(j);
		sl_json_int(j, (int64_t) w->issue[i].count);
		sl_json_str(j, sl_issue_words((enum sl_issue) i));
		sl_json_end_array(j);
	}
	sl_json_end_array(j);
	if (about->until_s) {
		sl_json_put_int(j, "from_s", about->from_s);
		sl_json_put_int(j, "until_s", about->until_s);
		put_reasons(j, &about->reasons);
	}
	put_nodes(p);
	sl_json_open_array(j, "partitions");
	for (uint32_t i = 0; i < w->snap.partition.rows; i++)
		sl_json_str(j, sl_snapshot_str(&w->snap, w->snap.partition.name[i]));
	sl_json_end_array(j);
}

/* The users, each once: their offsets in the snapshot's pool, where equal names
 * may stand twice, which does no harm here but a second row of the legend. */
static uint32_t *find_users(const struct sl_page *p, uint32_t *users)
{
	const struct sl_job_view *job = &p->w->snap.job;
	uint32_t *u = malloc(((size_t) job->rows + 1) * sizeof(*u)), n = 0;

	if (!u)
		return NULL;
	if (job->rows)
		memcpy(u, job->user, job->rows * sizeof(*u));
	qsort(u, job->rows, sizeof(*u), sl_order_u32);
	for (uint32_t i = 0; i < job->rows; i++)
		if (!i || u[i] != u[i - 1])
			u[n++] = u[i];
	*users = n;
	return u;
}

static void put_jobs(struct sl_page *p, const uint32_t *user, uint32_t users)
{
	const struct sl_job_view *job = &p->w->snap.job;
	int64_t before = p->w->origin_s, id = 0;
	struct packer pk;

	begin_rows(&pk, p->out, "workload-jobs");
	for (uint32_t i = 0; i < job->rows; i++) {
		const uint32_t *u = bsearch(&job->user[i], user, users, sizeof(*user), sl_order_u32);

		pack_signed(&pk, job->submit_time[i] - before);
		pack_signed(&pk, (int64_t) job->id[i] - id);
		pack_number(&pk, u ? (uint64_t) (u - user) : 0);
		pack_number(&pk, job->partition[i]);
		pack_number(&pk, job->time_limit[i] > 0 && job->time_limit[i] < SL_WORKLOAD_MAX_SECONDS ?
			    (uint64_t) job->time_limit[i] : 0);
		before = job->submit_time[i];
		id = job->id[i];
	}
	end_rows(&pk);
}

int sl_page_workload(struct sl_page *p, const struct sl_workload *w, const struct sl_page_about *about,
		     struct sl_error *err)
{
	uint32_t *user, users;
	int rc;

	if (!p->out || p->label)
		return sl_fail(err, SL_EINVAL, "report: a workload within a run, or after the end");
	sl_page_forget(p);
	p->w = w;
	user = find_users(p, &users);
	if (!user || count_cores(p, err) < 0) {
		free(user);
		sl_page_forget(p);
		return no_memory(err);
	}
	put_workload(p, about);
	sl_json_open_array(p->json, "users");
	for (uint32_t i = 0; i < users; i++)
		sl_json_str(p->json, sl_snapshot_str(&w->snap, user[i]));
	sl_json_end_array(p->json);
	sl_json_end_object(p->json);
	rc = put_json(p, "workload", err);
	if (rc == 0)
		put_jobs(p, user, users);
	if (rc == 0 && about->shadow)
		put_text(p, "shadow", about->shadow, strlen(about->shadow));
	free(user);
	p->workloads++;
	return rc < 0 ? -1 : check_written(p, err);
}

/* -- a run ---------------------------------------------------------------------- */

int sl_page_begin_run(struct sl_page *p, const char *label, struct sl_error *err)
{
	if (!p->out || !p->w || p->label)
		return sl_fail(err, SL_EINVAL, "report: a run before its workload, or within another");
	p->label = strdup(label);
	if (!p->label)
		return no_memory(err);
	memset(p->start_of, 0, p->w->snap.job.rows * sizeof(*p->start_of));
	memset(p->free_at, 0, p->first_core[p->w->snap.node.rows] * sizeof(*p->free_at));
	return 0;
}

static int check_job(const struct sl_page *p, const struct sl_page_job *job, struct sl_error *err)
{
	const struct sl_snapshot *snap;
	uint32_t past = 0;

	if (!p->label)
		return sl_fail(err, SL_EINVAL, "report: a job outside of a run");
	snap = &p->w->snap;
	if (job->job >= snap->job.rows)
		return sl_fail(err, SL_EINVAL, "report: job row %" PRIu32 " of %" PRIu32, job->job, snap->job.rows);
	if (p->start_of[job->job])
		return sl_fail(err, SL_EINVAL, "report: job %" PRIu32 " was given twice", snap->job.id[job->job]);
	if (job->start_s < snap->job.submit_time[job->job] || (job->end_s && job->end_s < job->start_s))
		return sl_fail(err, SL_EINVAL, "report: job %" PRIu32 " starts before its submission or ends before its start",
			       snap->job.id[job->job]);
	for (uint32_t i = 0; i < job->stretches; i++) {
		const struct sl_stretch *stretch = &job->stretch[i];

		if (stretch->first < past || !stretch->count || !stretch->cores || stretch->first >= snap->node.rows ||
		    stretch->count > snap->node.rows - stretch->first)
			return sl_fail(err, SL_EINVAL, "report: job %" PRIu32 ": %" PRIu32 " nodes from row %" PRIu32
				       " are not on the machine, or not in order", snap->job.id[job->job], stretch->count,
				       stretch->first);
		past = stretch->first + stretch->count;
	}
	return 0;
}

int sl_page_job(struct sl_page *p, const struct sl_page_job *job, struct sl_error *err)
{
	if (check_job(p, job, err) < 0 ||
	    sl_grow(&p->start, &p->start_room, p->starts + 1, sizeof(*p->start), err) < 0 ||
	    sl_grow(&p->stretch, &p->stretch_room, p->stretches + job->stretches, sizeof(*p->stretch), err) < 0)
		return -1;
	if (job->stretches)
		memcpy(p->stretch + p->stretches, job->stretch, job->stretches * sizeof(*job->stretch));
	p->start[p->starts++] = (struct page_start) {
		.start = job->start_s, .end = job->end_s, .job = job->job, .gpus = job->gpus,
		.first = p->stretches, .stretches = job->stretches,
	};
	p->stretches += job->stretches;
	p->start_of[job->job] = p->starts;
	return 0;
}

/* -- which cores are drawn ------------------------------------------------------ */

/* Add a rectangle of one node, or make the last one of the job a node taller. */
static int add_lane(struct sl_page *p, struct page_start *st, struct page_lane lane, struct sl_error *err)
{
	struct page_lane *last = st->lanes ? &p->lane[p->lanes - 1] : NULL;

	if (last && last->first + last->count == lane.first && last->core == lane.core && last->cores == lane.cores &&
	    cores_of(p, last->first) == cores_of(p, lane.first)) {
		last->count++;
		return 0;
	}
	if (sl_grow(&p->lane, &p->lane_room, p->lanes + 1, sizeof(*p->lane), err) < 0)
		return -1;
	p->lane[p->lanes++] = lane;
	st->lanes++;
	return 0;
}

/* The first core of *want* adjacent ones that are free, or all cores when there
 * are none. */
static uint32_t first_fit(const int64_t *free_at, uint32_t all, uint32_t want, int64_t now)
{
	for (uint32_t k = 0, n = 0; k < all; k++) {
		n = free_at[k] <= now ? n + 1 : 0;
		if (n == want)
			return k + 1 - want;
	}
	return all;
}

static int take_cores(struct sl_page *p, struct page_start *st, uint32_t node, uint32_t core, uint32_t cores,
		      struct sl_error *err)
{
	int64_t *free_at = p->free_at + p->first_core[node];

	for (uint32_t k = core; k < core + cores; k++)
		if (free_at[k] < st->end)
			free_at[k] = st->end;
	return add_lane(p, st, (struct page_lane) { node, 1, core, cores }, err);
}

/* Cores of one node for one job: adjacent ones, else the lowest that are free,
 * else (where the schedule has more on the node than it has cores) the lowest. */
static int place_on_node(struct sl_page *p, struct page_start *st, uint32_t node, uint32_t want,
			 struct sl_error *err)
{
	const int64_t *free_at = p->free_at + p->first_core[node];
	uint32_t all = cores_of(p, node), k, n;

	if (want > all)
		want = all;
	k = first_fit(free_at, all, want, st->start);
	if (k < all)
		return take_cores(p, st, node, k, want, err);
	for (k = 0; k < all && want; k += n ? n : 1) {
		for (n = 0; n < want && k + n < all && free_at[k + n] <= st->start; n++)
			;
		if (n && take_cores(p, st, node, k, n, err) < 0)
			return -1;
		want -= n;
	}
	return want ? take_cores(p, st, node, 0, want, err) : 0;
}

static int start_order(const void *a, const void *b)
{
	const struct page_start *x = a, *y = b;

	return SL_ORDER(x->start, y->start) ?: SL_ORDER(x->job, y->job);
}

static int place_starts(struct sl_page *p, int64_t now, struct sl_error *err)
{
	if (p->starts)
		qsort(p->start, p->starts, sizeof(*p->start), start_order);
	for (uint32_t i = 0; i < p->starts; i++) {
		struct page_start *st = &p->start[i];

		if (!st->end)
			st->end = now > st->start ? now : st->start;
		p->start_of[st->job] = i + 1;
		st->lane = p->lanes;
		for (uint32_t k = st->first; k < st->first + st->stretches; k++)
			for (uint32_t n = 0; n < p->stretch[k].count; n++)
				if (place_on_node(p, st, p->stretch[k].first + n, p->stretch[k].cores, err) < 0)
					return -1;
	}
	return 0;
}

/* -- written -------------------------------------------------------------------- */

static void put_start(const struct sl_page *p, struct packer *pk, const struct page_start *st)
{
	uint32_t past = 0;

	pack_number(pk, (uint64_t) (st->start - p->w->snap.job.submit_time[st->job]) + 1);
	pack_number(pk, (uint64_t) (st->end - st->start));
	pack_number(pk, st->gpus);
	pack_number(pk, st->lanes);
	for (uint32_t i = st->lane; i < st->lane + st->lanes; i++) {
		const struct page_lane *lane = &p->lane[i];
		bool whole = lane->cores == cores_of(p, lane->first);

		pack_signed(pk, (int64_t) lane->first - past);
		pack_number(pk, lane->count);
		pack_number(pk, whole ? 0 : lane->cores);
		if (!whole)
			pack_number(pk, lane->core);
		past = lane->first + lane->count;
	}
}

int sl_page_end_run(struct sl_page *p, const struct sl_result *r, int64_t now_s, struct sl_error *err)
{
	struct packer pk;
	int rc;

	if (!p->label)
		return sl_fail(err, SL_EINVAL, "report: the end of a run that did not begin");
	rc = place_starts(p, now_s, err);
	if (rc == 0) {
		sl_json_begin_object(p->json);
		sl_json_put_str(p->json, "label", p->label);
		sl_json_put_int(p->json, "now_s", now_s);
		sl_json_open_object(p->json, "result");
		if (r)
			sl_result_json(p->json, r, false);	/* no timing: same input, same bytes */
		sl_json_end_object(p->json);
		sl_json_end_object(p->json);
		rc = put_json(p, "run", err);
	}
	if (rc == 0) {
		begin_rows(&pk, p->out, "run-jobs");
		for (uint32_t i = 0; i < p->w->snap.job.rows; i++)
			if (p->start_of[i])
				put_start(p, &pk, &p->start[p->start_of[i] - 1]);
			else
				pack_number(&pk, 0);
		end_rows(&pk);
		p->runs++;
		rc = check_written(p, err);
	}
	forget_run(p);
	return rc;
}
