/* SPDX-License-Identifier: MIT */
/*
 * workload/store_real.c - when jobs of a log really started, beside the drafts of the store.
 *
 * A log of accounting begins somewhere.  Jobs that had ended by then are not in it, so what is known of the machine is
 * whole only since its first end: what had started before runs when the log begins, and is not compared with anything.
 */
#include "workload/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "image/nodelist.h"

void sl_reals_fail(struct sl_reals *r, enum sl_errno code, const char *fmt, ...)
{
	va_list ap;

	if (r->err.code)
		return;
	va_start(ap, fmt);
	vsnprintf(r->err.text, sizeof(r->err.text), fmt, ap);
	va_end(ap);
	r->err.code = code;
}

void sl_reals_add(struct sl_reals *r, struct sl_draft *j, int64_t eligible_s, int64_t start_s, uint32_t priority, uint32_t why,
		  const char *nodes)
{
	struct sl_real real = { .submit_s = j->submit_s, .start_s = start_s, .priority = priority, .why = why };
	int64_t enters = eligible_s > j->submit_s ? eligible_s : j->submit_s;

	if (start_s < enters) {
		real.negative = true;
		r->negative_line = r->negative++ ? r->negative_line : j->line;
		enters = start_s;
	} else if (enters > j->submit_s) {
		real.why |= SL_REAL_LATER;
	}
	if (sl_grow(&r->real, &r->room, r->count + UINT64_C(1), sizeof(*r->real), &r->err) < 0 ||
	    sl_grow(&r->nodes, &r->nodes_room, r->count + UINT64_C(1), sizeof(*r->nodes), &r->err) < 0)
		return;
	r->nodes[r->count] = *nodes ? strdup(nodes) : NULL;
	if (*nodes && !r->nodes[r->count]) {
		sl_reals_fail(r, SL_ENOMEM, "out of memory");
		return;
	}
	r->real[r->count++] = real;
	j->submit_s = enters;
	j->real = r->count;
}

int sl_reals_settle(struct sl_reals *r, const char *name, struct sl_draft *job, uint32_t jobs, struct sl_error *err)
{
	int64_t first_end = INT64_MAX;

	if (r->err.code)
		return sl_fail(err, r->err.code, "%s", r->err.text);
	if (!r->count)
		return sl_fail(err, SL_EFORMAT, "%s: it does not say when jobs really started: expected what sacct prints, a log with "
			       "waits, or a recording (schedlua-capture --record)", name);
	if (r->negative > r->count / 2)
		return sl_fail(err, SL_EFORMAT, "%s:%" PRIu64 ": the job starts before it is eligible, as %" PRIu32 " of %" PRIu32
			       " do: expected times of one clock (TZ=UTC)", name, r->negative_line, r->negative, r->count);
	for (uint32_t i = 0; i < jobs; i++) {
		int64_t end = job[i].real ? r->real[job[i].real - 1].start_s + job[i].runtime_s : INT64_MAX;

		first_end = end < first_end ? end : first_end;
	}
	for (uint32_t i = 0; i < jobs; i++) {
		struct sl_real *real = job[i].real ? &r->real[job[i].real - 1] : NULL;

		if (!real || real->start_s > first_end)
			continue;
		real->ran = true;
		job[i].submit_s = real->start_s;
	}
	return 0;
}

struct finding {
	const struct sl_snapshot *s;
	struct sl_map by_name;		/* the rows of its nodes */
	struct sl_nodeset nodes;	/* found */
	struct sl_error err;
};

static const char *node_name(const struct sl_snapshot *s, uint32_t row)
{
	return sl_snapshot_str(s, s->node.name[row]);
}

static int begin_finding(struct finding *f, const struct sl_snapshot *s, struct sl_error *err)
{
	*f = (struct finding) { .s = s };
	for (uint32_t row = 0; row < s->node.rows; row++)
		if (sl_map_put(&f->by_name, sl_hash_text(SL_HASH, node_name(s, row)), row, err) < 0)
			return -1;
	return 0;
}

/* 1: the machine has no node of that name. */
static int find_node(const char *name, void *arg)
{
	struct finding *f = arg;

	SL_MAP_EACH(&f->by_name, sl_hash_text(SL_HASH, name), at)
		if (!strcmp(node_name(f->s, at.value), name))
			return sl_nodeset_add(&f->nodes, at.value, at.value, &f->err);
	return 1;
}

/* The nodes of a job that ran; those of another machine than this one are none.  0, or -1 with *err. */
static int place_real(struct sl_real *real, const char *nodes, struct finding *f, struct sl_error *err)
{
	int rc;

	if (!nodes || !real->ran)
		return 0;
	f->nodes = (struct sl_nodeset) SL_NODESET_EMPTY;
	f->err.code = SL_OK;
	rc = sl_nodelist_split(nodes, find_node, f, &f->err);
	if (!rc) {
		real->nodes = f->nodes;
		return 0;
	}
	sl_nodeset_free(&f->nodes);
	return rc < 0 && f->err.code == SL_ENOMEM ? sl_fail(err, SL_ENOMEM, "%s", f->err.text) : 0;
}

void sl_reals_free(struct sl_reals *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		free(r->nodes[i]);
	free(r->nodes);
	free(r->real);
}

void sl_real_free(struct sl_real *real, uint32_t rows)
{
	for (uint32_t row = 0; real && row < rows; row++)
		sl_nodeset_free(&real[row].nodes);
	free(real);
}

int sl_reals_fill(struct sl_reals *r, struct sl_workload *w, const struct sl_draft *job, const uint32_t *order, int64_t origin,
		  struct sl_error *err)
{
	struct finding f;
	int rc;

	w->real = calloc((size_t) w->snap.job.rows + 1, sizeof(*w->real));
	if (!w->real)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", w->name);
	w->real_from_s = INT64_MAX;
	w->real_lacks = r->lacks;
	w->real_negative = r->negative;
	rc = begin_finding(&f, &w->snap, err);
	for (uint32_t row = 0; !rc && row < w->snap.job.rows; row++) {
		const struct sl_draft *j = &job[order[row]];
		struct sl_real *real = &w->real[row];

		if (!j->real)
			continue;
		*real = r->real[j->real - 1];
		real->submit_s += origin;
		real->start_s += origin;
		if (real->start_s + j->runtime_s < w->real_from_s)
			w->real_from_s = real->start_s + j->runtime_s;
		rc = place_real(real, r->nodes[j->real - 1], &f, err);
	}
	sl_map_free(&f.by_name);
	return rc;
}
