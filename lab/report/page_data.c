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
 *				if the JSON has "shapes", the number of its shape, from 1 on; 0: it asks for no GPU
 *	run, per job:		0: never started; else wait in seconds + 1, and
 *				seconds that it ran
 *				GPUs
 *				number of rectangles, and for each of them
 *				  first node - one past the last of the rectangle before, signed
 *				  number of nodes
 *				  cores of each; 0: all of them, else also
 *				  the first of them
 *				if it has GPUs, the same of GPUs
 *	then, per run that was stopped for another job, in the order of "stops" of the JSON:
 *				GPUs, rectangles, and if it has GPUs those of GPUs, as above
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
	free(p->planned);
	free(p->stop);
	p->label = NULL;
	p->start = NULL;
	p->stretch = NULL;
	p->planned = NULL;
	p->stop = NULL;
	p->stops = p->stop_room = 0;
	p->starts = p->stretches = p->plans = 0;
	p->start_room = p->stretch_room = p->planned_room = 0;
	sl_page_forget_lanes(p);
}

void sl_page_forget(struct sl_page *p)
{
	forget_run(p);
	sl_page_forget_units(p);
	free(p->start_of);
	free(p->shape_of);
	p->start_of = p->shape_of = NULL;
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

/* How many units each node has, as runs of nodes with equal numbers. */
static void put_units(struct sl_page *p, const char *key, enum page_unit unit)
{
	uint32_t nodes = p->w->snap.node.rows;

	sl_json_open_array(p->json, key);
	for (uint32_t i = 0, n; i < nodes; i += n) {
		for (n = 1; i + n < nodes && sl_page_units(p, unit, i + n) == sl_page_units(p, unit, i); n++)
			;
		sl_json_begin_array(p->json);
		sl_json_int(p->json, n);
		sl_json_int(p->json, sl_page_units(p, unit, i));
		sl_json_end_array(p->json);
	}
	sl_json_end_array(p->json);
}

/* The leaf of a node's topology: the switch or block that it is in. */
static const char *leaf_of(const struct sl_snapshot *snap, uint32_t node)
{
	const char *path = sl_snapshot_str(snap, snap->node.topology[node]), *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

/* Switches or blocks, as runs of nodes; none where the machine has no topology. */
static void put_blocks(struct sl_page *p)
{
	const struct sl_snapshot *snap = &p->w->snap;
	uint32_t nodes = snap->node.rows;
	bool known = false;

	for (uint32_t i = 0; i < nodes && !known; i++)
		known = *leaf_of(snap, i);
	if (!known)
		return;
	sl_json_open_array(p->json, "blocks");
	for (uint32_t i = 0, n; i < nodes; i += n) {
		for (n = 1; i + n < nodes && !strcmp(leaf_of(snap, i + n), leaf_of(snap, i)); n++)
			;
		sl_json_begin_array(p->json);
		sl_json_int(p->json, n);
		sl_json_str(p->json, leaf_of(snap, i));
		sl_json_end_array(p->json);
	}
	sl_json_end_array(p->json);
}

static void put_nodes(struct sl_page *p)
{
	const struct sl_snapshot *snap = &p->w->snap;

	sl_json_open_array(p->json, "nodes");
	for (uint32_t i = 0; i < snap->node.rows; i++)
		sl_json_str(p->json, sl_snapshot_str(snap, snap->node.name[i]));
	sl_json_end_array(p->json);
	put_units(p, "cores", PAGE_CORES);
	if (p->unit[PAGE_GPUS].first[snap->node.rows])
		put_units(p, "gpus", PAGE_GPUS);
	put_blocks(p);
}

/* Reservations that end after the time shown begins. */
static void put_reservations(struct sl_page *p, int64_t from)
{
	const struct sl_snapshot *snap = &p->w->snap;
	const struct sl_reservation_view *v = &snap->reservation;

	sl_json_open_array(p->json, "reservations");
	for (uint32_t i = 0; i < v->rows; i++) {
		if (v->end_time[i] <= from || v->flags[i] & SL_RESV_ANY_NODES)
			continue;
		sl_json_begin_object(p->json);
		sl_json_put_str(p->json, "name", sl_snapshot_str(snap, v->name[i]));
		sl_json_put_int(p->json, "start_s", v->start_time[i]);
		sl_json_put_int(p->json, "end_s", v->end_time[i]);
		sl_json_open_array(p->json, "nodes");
		for (uint32_t k = v->nodes[i].first; k < v->nodes[i].first + v->nodes[i].count; k++) {
			sl_json_int(p->json, snap->run.first[k]);
			sl_json_int(p->json, snap->run.last[k] - snap->run.first[k] + 1);
		}
		sl_json_end_array(p->json);
		sl_json_end_object(p->json);
	}
	sl_json_end_array(p->json);
}

/* True if a job waited for the word's cause. */
static bool is_reason(const struct sl_page_reasons *r, uint32_t word)
{
	for (uint32_t k = 0; k < r->parts; k++)
		if (r->jobs[word * r->parts + k] > 0)
			return true;
	return false;
}

/* The first word always, so that a time without waiting has its zeros; of the others those that are reasons. */
static void put_reasons(struct sl_json *j, const struct sl_page_reasons *r)
{
	sl_json_open_object(j, "reasons");
	for (uint32_t i = 0; i < r->words; i++) {
		if (i && !is_reason(r, i))
			continue;
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
	if (about->user)
		sl_json_put_str(j, "only", about->user);
	put_nodes(p);
	if (!about->user)
		put_reservations(p, about->until_s ? about->from_s : INT64_MIN);
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
		if (p->shape_of)
			pack_number(&pk, p->shape_of[i]);
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
	p->start_of = calloc(w->snap.job.rows + 1, sizeof(*p->start_of));
	if (!user || !p->start_of || sl_page_count_units(p, err) < 0) {
		free(user);
		sl_page_forget(p);
		return no_memory(err);
	}
	put_workload(p, about);
	sl_json_open_array(p->json, "users");
	for (uint32_t i = 0; i < users; i++)
		sl_json_str(p->json, sl_snapshot_str(&w->snap, user[i]));
	sl_json_end_array(p->json);
	rc = p->unit[PAGE_GPUS].first[w->snap.node.rows] ? sl_page_put_gpus(p, !about->user, err) : 0;
	sl_json_end_object(p->json);
	if (rc == 0)
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
	for (int u = 0; u < PAGE_UNITS; u++)
		memset(p->unit[u].free_at, 0, p->unit[u].first[p->w->snap.node.rows] * sizeof(*p->unit[u].free_at));
	return 0;
}

static int check_stretches(const struct sl_page *p, uint32_t row, const struct sl_stretch *stretch, uint32_t stretches,
			   struct sl_error *err)
{
	const struct sl_snapshot *snap = &p->w->snap;
	uint32_t past = 0;

	for (uint32_t i = 0; i < stretches; i++) {
		const struct sl_stretch *s = &stretch[i];

		if (s->first < past || !s->count || !s->cores || s->first >= snap->node.rows || s->count > snap->node.rows - s->first)
			return sl_fail(err, SL_EINVAL, "report: job %" PRIu32 ": %" PRIu32 " nodes from row %" PRIu32
				       " are not on the machine, or not in order", snap->job.id[row], s->count, s->first);
		past = s->first + s->count;
	}
	return 0;
}

static int check_row(const struct sl_page *p, uint32_t row, struct sl_error *err)
{
	if (!p->label)
		return sl_fail(err, SL_EINVAL, "report: a job outside of a run");
	if (row >= p->w->snap.job.rows)
		return sl_fail(err, SL_EINVAL, "report: job row %" PRIu32 " of %" PRIu32, row, p->w->snap.job.rows);
	return 0;
}

static int check_job(const struct sl_page *p, const struct sl_page_job *job, struct sl_error *err)
{
	const struct sl_snapshot *snap;

	if (check_row(p, job->job, err) < 0)
		return -1;
	snap = &p->w->snap;
	if (p->start_of[job->job])
		return sl_fail(err, SL_EINVAL, "report: job %" PRIu32 " was given twice", snap->job.id[job->job]);
	if (job->start_s < snap->job.submit_time[job->job] || (job->end_s && job->end_s < job->start_s))
		return sl_fail(err, SL_EINVAL, "report: job %" PRIu32 " starts before its submission or ends before its start",
			       snap->job.id[job->job]);
	return 0;
}

int sl_page_keep_stretches(struct sl_page *p, uint32_t row, const struct sl_stretch *stretch, uint32_t stretches, struct sl_error *err)
{
	if (check_stretches(p, row, stretch, stretches, err) < 0 ||
	    sl_grow(&p->stretch, &p->stretch_room, p->stretches + stretches, sizeof(*p->stretch), err) < 0)
		return -1;
	if (stretches)
		memcpy(p->stretch + p->stretches, stretch, stretches * sizeof(*stretch));
	p->stretches += stretches;
	return 0;
}

int sl_page_job(struct sl_page *p, const struct sl_page_job *job, struct sl_error *err)
{
	uint32_t first = p->stretches;

	if (check_job(p, job, err) < 0 ||
	    sl_grow(&p->start, &p->start_room, p->starts + 1, sizeof(*p->start), err) < 0 ||
	    sl_page_keep_stretches(p, job->job, job->stretch, job->stretches, err) < 0)
		return -1;
	p->start[p->starts++] = (struct page_start) {
		.start = job->start_s, .end = job->end_s, .job = job->job, .gpus = job->gpus,
		.first = first, .stretches = job->stretches,
	};
	p->start_of[job->job] = p->starts;
	return 0;
}

int sl_page_plan(struct sl_page *p, const struct sl_page_planned *planned, struct sl_error *err)
{
	uint32_t first = p->stretches;

	if (check_row(p, planned->job, err) < 0)
		return -1;
	if (planned->end_s < planned->start_s)
		return sl_fail(err, SL_EINVAL, "report: job %" PRIu32 " is planned to end before its start", p->w->snap.job.id[planned->job]);
	if (sl_grow(&p->planned, &p->planned_room, p->plans + 1, sizeof(*p->planned), err) < 0 ||
	    sl_page_keep_stretches(p, planned->job, planned->stretch, planned->stretches, err) < 0)
		return -1;
	p->planned[p->plans++] = (struct page_planned) {
		.start = planned->start_s, .end = planned->end_s, .job = planned->job, .first = first, .stretches = planned->stretches,
	};
	return 0;
}

/* -- written -------------------------------------------------------------------- */

static void put_lanes(const struct sl_page *p, struct packer *pk, const struct page_start *st, enum page_unit unit)
{
	const struct page_units *u = &p->unit[unit];
	uint32_t past = 0, first = st->drawn[unit].first, count = st->drawn[unit].count;

	pack_number(pk, count);
	for (uint32_t i = first; i < first + count; i++) {
		const struct page_lane *lane = &u->lane[i];
		bool whole = lane->units == sl_page_units(p, unit, lane->first);

		pack_signed(pk, (int64_t) lane->first - past);
		pack_number(pk, lane->count);
		pack_number(pk, whole ? 0 : lane->units);
		if (!whole)
			pack_number(pk, lane->unit);
		past = lane->first + lane->count;
	}
}

static void put_units_held(const struct sl_page *p, struct packer *pk, const struct page_start *st)
{
	pack_number(pk, st->gpus);
	put_lanes(p, pk, st, PAGE_CORES);
	if (st->gpus)
		put_lanes(p, pk, st, PAGE_GPUS);
}

static void put_start(const struct sl_page *p, struct packer *pk, const struct page_start *st)
{
	pack_number(pk, (uint64_t) (st->start - p->w->snap.job.submit_time[st->job]) + 1);
	pack_number(pk, (uint64_t) (st->end - st->start));
	put_units_held(p, pk, st);
}

/* What is planned, an array each: row of the job, start, end, then first node and number of nodes of each stretch. */
static void put_planned(struct sl_page *p)
{
	sl_json_open_array(p->json, "planned");
	for (uint32_t i = 0; i < p->plans; i++) {
		const struct page_planned *pl = &p->planned[i];

		sl_json_begin_array(p->json);
		sl_json_int(p->json, pl->job);
		sl_json_int(p->json, pl->start);
		sl_json_int(p->json, pl->end);
		for (uint32_t k = pl->first; k < pl->first + pl->stretches; k++) {
			sl_json_int(p->json, p->stretch[k].first);
			sl_json_int(p->json, p->stretch[k].count);
		}
		sl_json_end_array(p->json);
	}
	sl_json_end_array(p->json);
}

int sl_page_end_run(struct sl_page *p, const struct sl_result *r, int64_t now_s, struct sl_error *err)
{
	struct packer pk;
	int rc;

	if (!p->label)
		return sl_fail(err, SL_EINVAL, "report: the end of a run that did not begin");
	rc = sl_page_place(p, now_s, err);
	if (rc == 0) {
		sl_json_begin_object(p->json);
		sl_json_put_str(p->json, "label", p->label);
		sl_json_put_int(p->json, "now_s", now_s);
		sl_json_open_object(p->json, "result");
		if (r)
			sl_result_json(p->json, r, false);	/* no timing: same input, same bytes */
		sl_json_end_object(p->json);
		if (p->plans)
			put_planned(p);
		if (p->stops)
			sl_page_put_stops(p);
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
		for (uint32_t i = 0; i < p->stops; i++)
			put_units_held(p, &pk, &p->start[p->stop[i].start - 1]);
		end_rows(&pk);
		p->runs++;
		rc = check_written(p, err);
	}
	forget_run(p);
	return rc;
}
