/* SPDX-License-Identifier: MIT */
/* shortage.c - see shortage.h */
#include "image/shortage.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

struct words {
	const struct sl_snapshot *snap;
	const struct sl_plan_image *plan;
	uint32_t i;
	char *text;
	size_t size, at;
};

static void add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *w, const char *fmt, ...)
{
	va_list args;
	int n;

	if (w->at >= w->size)
		return;
	va_start(args, fmt);
	n = vsnprintf(w->text + w->at, w->size - w->at, fmt, args);
	va_end(args);
	w->at += n > 0 ? (size_t) n : 0;
}

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* The running jobs that Slurm lets be stopped for the job, but for those that the policy spares. */
static void add_stoppable(struct words *w)
{
	uint32_t all = w->plan->shortage.stoppable[w->i], spared = w->plan->shortage.spared[w->i].count, n = all > spared ? all - spared : 0;

	if (n > 1)
		add(w, "with all %" PRIu32 " jobs that may be stopped gone, ", n);
	else
		add(w, n ? "with the one job that may be stopped gone, " : "no job may be stopped for it, and ");
}

/* An amount of what is short: "4 GPUs of type a100". */
static void add_amount(struct words *w, int64_t n, uint32_t what, uint32_t which)
{
	const struct sl_job_gres_view *gres = &w->snap->job_gres;
	const char *name = "", *type = "";

	if (what == SL_SHORT_CORES) {
		add(w, "%" PRId64 " core%s", n, plural(n));
	} else if (what == SL_SHORT_MEMORY) {
		add(w, "%" PRId64 " MiB of memory", n);
	} else if (what == SL_SHORT_LICENSE) {
		add(w, "%" PRId64 " licence%s %s", n, plural(n),
		    which < w->snap->license.rows ? sl_snapshot_str(w->snap, w->snap->license.name[which]) : "?");
	} else {
		if (which < gres->rows) {
			name = sl_snapshot_str(w->snap, gres->name[which]);
			type = sl_snapshot_str(w->snap, gres->type[which]);
		}
		if (!strcmp(name, "gpu"))
			add(w, "%" PRId64 " GPU%s", n, plural(n));
		else
			add(w, "%" PRId64 " of resource %s", n, *name ? name : "?");
		if (*type)
			add(w, " of type %s", type);
	}
}

static bool is_same(const struct sl_plan_short_view *s, uint32_t a, uint32_t b)
{
	return s->what[a] == s->what[b] && (s->what[a] != SL_SHORT_GRES || s->which[a] == s->which[b]);
}

/* The least of what each node would need, for each resource of which some node has too little. */
static void add_each(struct words *w, struct sl_range range)
{
	const struct sl_plan_short_view *s = &w->plan->short_;
	const char *joint = " would have ";

	for (uint32_t r = range.first; r < range.first + range.count; r++) {
		int64_t least = s->needs[r];
		uint32_t before = range.first;

		while (before < r && !is_same(s, before, r))
			before++;
		if (before < r)
			continue;
		for (uint32_t k = r; k < range.first + range.count; k++)
			if (is_same(s, k, r) && s->needs[k] < least)
				least = s->needs[k];
		add(w, "%s", joint);
		add_amount(w, least, s->what[r], s->which[r]);
		joint = " and ";
	}
}

static void add_nodes(struct words *w, uint32_t job, int64_t needs, int64_t has)
{
	struct sl_range shorts = w->plan->shortage.shorts[w->i];
	bool in_a_row = job != SL_NONE && w->snap->job.flags[job] & SL_JOBF_CONTIGUOUS;
	uint32_t switches = job == SL_NONE ? 0 : w->snap->job.switches[job];

	if (!shorts.count)
		add(w, "it could have ");
	if (has)
		add(w, "%" PRId64 "%s node%s", has, in_a_row ? " consecutive" : "", plural(has));
	else
		add(w, "no node");
	if (switches)
		add(w, " below %" PRIu32 " switch%s", switches, switches == 1 ? "" : "es");
	if (needs > 1)
		add(w, " of the %" PRId64 " that it needs", needs);
	add_each(w, shorts);
}

int sl_shortage_jobs(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t **jobs, struct sl_error *err)
{
	const struct sl_plan_shortage_view *v = &plan->shortage;
	struct sl_map row_of = { 0 };
	int rc = 0;

	if (!(*jobs = malloc(((size_t) v->rows + 1) * sizeof(**jobs))))
		return sl_fail(err, SL_ENOMEM, "out of memory");
	if (sl_map_reserve(&row_of, v->rows, err))
		rc = -1;
	for (uint32_t i = 0; !rc && i < v->rows; i++) {
		(*jobs)[i] = SL_NONE;
		rc = sl_map_put(&row_of, sl_hash_id(v->job[i]), i, err) ? -1 : 0;
	}
	for (uint32_t j = 0; !rc && v->rows && j < snap->job.rows; j++)
		SL_MAP_EACH(&row_of, sl_hash_id(snap->job.id[j]), at)
			(*jobs)[at.value] = (*jobs)[at.value] == SL_NONE ? j : (*jobs)[at.value];
	sl_map_free(&row_of);
	if (rc) {
		free(*jobs);
		*jobs = NULL;
	}
	return rc;
}

const char *sl_shortage_text(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t i, uint32_t job, char *text,
			     size_t size)
{
	const struct sl_plan_shortage_view *v = &plan->shortage;
	struct words w = { .snap = snap, .plan = plan, .i = i, .text = text, .size = size };
	uint32_t spared = v->spared[i].count;

	text[0] = '\0';
	add_stoppable(&w);
	if (v->what[i] == SL_SHORT_NODES) {
		add_nodes(&w, job, v->needs[i], v->has[i]);
	} else {
		add(&w, v->what[i] == SL_SHORT_LICENSE ? "there would be " : "its nodes would have ");
		add_amount(&w, v->has[i], v->what[i], v->which[i]);
		add(&w, " of the %" PRId64 " that it needs", v->needs[i]);
	}
	if (spared)
		add(&w, " (the policy spares %" PRIu32 " that Slurm would let be stopped)", spared);
	return text;
}

uint64_t sl_shortage_digest(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t i)
{
	const struct sl_plan_shortage_view *v = &plan->shortage;
	struct sl_range shorts = v->shorts[i];
	uint64_t digest = sl_hash_number(sl_hash_text(SL_HASH, sl_image_str(&plan->image, v->by[i])), v->what[i]);

	if (v->what[i] == SL_SHORT_LICENSE && v->which[i] < snap->license.rows)
		digest = sl_hash_text(digest, sl_snapshot_str(snap, snap->license.name[v->which[i]]));
	/* (which nodes are short of what else the plan decides as well: of the first one it is enough) */
	if (shorts.count)
		digest = sl_hash_number(digest, plan->short_.what[shorts.first]);
	return digest ? digest : 1;
}
