/* SPDX-License-Identifier: MIT */
/* plan_encode.c - encoding a plan as an image. */
#include "model/devices.h"
#include "model/plan_needless.h"
#include "model/plan_private.h"
#include "model/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The policy's name, or "site" if several policies decided. */
static const char *name_decider(const struct sl_plan *p)
{
	for (uint32_t i = 2; i < p->bys; i++)
		if (strcmp(p->by[i], p->by[1]))
			return "site";
	return p->by[p->bys > 1 ? 1 : 0];
}

/* Image builder, and the number of bytes left for texts. */
struct pen {
	struct sl_builder *b;
	size_t left;
};

/* Add a text, truncated if necessary. */
static uint32_t put_text(struct pen *pen, const char *s)
{
	char cut[SL_PLAN_TEXT_MAX + 1];
	size_t n = strlen(s);

	if (n > SL_PLAN_TEXT_MAX)
		n = SL_PLAN_TEXT_MAX;
	if (n > pen->left)
		n = pen->left;
	pen->left -= n;
	memcpy(cut, s, n);
	cut[n] = 0;
	return sl_builder_str(pen->b, cut);
}

/* Gres kinds that a job asks for.  A job with whole nodes is given only these, although no other job can use the rest. */
static uint16_t kinds_asked(const struct sl_request *r)
{
	uint16_t kinds = 0;

	for (uint32_t i = 0; i < r->gres_needs; i++)
		kinds |= r->gres[i].kinds;
	return kinds;
}

static struct sl_range gres_rows(const struct sl_plan *p, const struct booking *bk, const struct sl_resources *r,
				 struct sl_builder *b)
{
	struct sl_range range = { sl_builder_rows(b, SL_P_PLACE_GRES), 0 };
	uint16_t asked = kinds_asked(&bk->want->pub.request);
	uint32_t kinds = p->c->snap->gres_kind.rows;

	for (uint32_t k = 0; k < kinds && k < SL_MAX_GRES; k++) {
		struct sl_plan_place_gres_row row = { .kind = k, .count = r->gres[k] };

		if (!row.count || !(asked >> k & 1))
			continue;
		row.devices = sl_cluster_devices(p->c, r->gres, k, &row.of);
		sl_builder_append(b, SL_P_PLACE_GRES, &row);
		range.count++;
	}
	return range;
}

static bool brings_cpus(const struct sl_snapshot *snap, struct sl_range gres)
{
	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (snap->job_gres.cpus[g])
			return true;
	return false;
}

/* True if select, given exactly these nodes, has only one way to distribute the cores: whole nodes; one node; nodes used
 * completely; the number of tasks per node that the request states (or one); CPUs that come with each node's gres. */
static bool are_settled(const struct sl_plan *p, const struct booking *bk, const struct sl_place *place, uint32_t n)
{
	const struct sl_snapshot *s = p->c->snap;
	struct sl_ask a = sl_request_read(s, bk->entry.job, bk->entry.shape);
	uint32_t per_task = bk->entry.shape ? s->shape.cpus_per_task[s->job.shapes[bk->entry.job].first + bk->entry.shape - 1] :
		s->job.cpus_per_task[bk->entry.job];
	uint64_t own = (uint64_t) a.tasks * (per_task ? per_task : 1), all = own > a.min_cpus ? own : a.min_cpus;
	uint64_t each = (uint64_t) (a.tasks_per_node ? a.tasks_per_node : 1) * (per_task ? per_task : 1), cpus = 0, first = 0;
	bool full = true, same = true;

	if (bk->want->pub.request.whole_nodes || n == 1)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t here = (uint64_t) place[i].cores * (s->node.threads[place[i].node] ? s->node.threads[place[i].node] : 1);

		first = i ? first : here;
		same &= here == first;
		full &= place[i].cores >= s->node.cores[place[i].node];
		cpus += here;
	}
	if (full && cpus <= all)
		return true;
	if (same && first == each && (a.tasks_per_node ? a.tasks == (uint64_t) n * a.tasks_per_node : all == n * each))
		return true;
	return same && cpus > own && brings_cpus(s, a.gres);
}

/* *dealt, if not NULL: whether select must be told the tasks of each place. */
static struct sl_range place_rows(const struct sl_plan *p, const struct booking *bk, uint32_t *dealt, struct sl_builder *b)
{
	struct sl_range range = { sl_builder_rows(b, SL_P_PLACE), 0 };
	struct sl_place *places = calloc((size_t) bk->layout.nodes + 1, sizeof(*places));

	if (!places || sl_layout_places(&bk->layout, places, NULL)) {
		free(places);
		return (struct sl_range) { 0, SL_NONE };
	}
	if (dealt)
		*dealt = bk->method != SL_PLACE_NATIVE && !are_settled(p, bk, places, bk->layout.nodes);
	for (uint32_t i = 0; i < bk->layout.nodes; i++) {
		struct sl_plan_place_row row = { .node = places[i].node, .cores = places[i].cores,
			.tasks = bk->method == SL_PLACE_NATIVE ? 0 : places[i].tasks, .memory = places[i].memory };
		int64_t memory = p->c->snap->node.memory[row.node];
		uint32_t cores = p->c->snap->node.cores[row.node];
		struct sl_resources r;

		/* shared whole nodes are booked n times */
		if (row.cores > cores)
			row.cores = cores;
		if (bk->want->pub.request.extra_cores && bk->method != SL_PLACE_NATIVE)
			row.cores = sl_request_node_cores(p->c->snap, bk->entry.job, row.node);
		/* whole nodes of unknown memory */
		if (row.memory > memory)
			row.memory = memory > 0 ? memory : 0;
		memcpy(r.gres, places[i].gres, sizeof(r.gres));
		row.gres = gres_rows(p, bk, &r, b);
		sl_builder_append(b, SL_P_PLACE, &row);
	}
	range.count = bk->layout.nodes;
	free(places);
	return range;
}

/* Rows for the lenders of a loan. */
static struct sl_range lender_rows(const struct sl_loan *loan, struct sl_builder *b)
{
	struct sl_range range = { sl_builder_rows(b, SL_P_LENDER), loan->lenders };

	for (uint32_t i = 0; i < loan->lenders; i++) {
		struct sl_plan_lender_row row = { .partition = loan->lender[i] };

		sl_builder_append(b, SL_P_LENDER, &row);
	}
	return range;
}

/* Number of current reservations among the first *reservations* that were made. */
static uint32_t made_before(const struct sl_plan *p, uint32_t reservations)
{
	uint32_t n = 0;

	while (n < p->reserved.count && p->reserved.item[n]->reserved < reservations)
		n++;
	return n;
}

static int encode_booking(const struct sl_plan *p, const struct booking *bk, bool start, struct pen *pen,
			  struct sl_error *err)
{
	const struct sl_job_view *job = &p->c->snap->job;
	struct sl_plan_start_row s = sl_plan_start_row();
	struct sl_plan_reserve_row r = sl_plan_reserve_row();
	const struct sl_loan *loan = sl_cluster_loan(p->c, bk->entry.loan);

	s.job = r.job = job->id[bk->entry.job];
	s.stamp = job->stamp[bk->entry.job];
	s.partition = r.partition = bk->entry.partition;
	s.native = r.native = bk->method == SL_PLACE_NATIVE;
	s.behind = start && s.native ? made_before(p, bk->reserved) : 0;
	s.blocks = r.blocks = bk->blocks;
	if (bk->entry.resv)
		s.reservation = r.reservation = bk->entry.resv - 1;
	s.shape = r.shape = bk->entry.shape;
	s.time_limit = r.time_limit = bk->limit == bk->want->asked ? 0 : bk->limit;
	s.expected = r.expected = bk->expected;
	if (cluster_any_license(p->c, bk->entry.job) && !cluster_brings_licenses(p->c, bk->want->resv))
		s.license = r.license = p->c->snap->job_license.license[bk->licenses.first];
	s.places = r.places = place_rows(p, bk, start ? &s.dealt : NULL, pen->b);
	s.by = r.by = put_text(pen, p->by[bk->by]);
	if (bk->because)
		s.because = put_text(pen, bk->because);
	if (loan) {
		s.through = r.through = loan->through;
		s.lenders = r.lenders = lender_rows(loan, pen->b);
	}
	r.start_time = bk->t0;
	if (s.places.count == SL_NONE)
		return sl_fail(err, SL_ENOMEM, "plan: out of memory");
	if (start)
		sl_builder_append(pen->b, SL_P_START, &s);
	else
		sl_builder_append(pen->b, SL_P_RESERVE, &r);
	return 0;
}

static int encode_forecast(const struct sl_plan *p, const struct booking *bk, struct pen *pen, struct sl_error *err)
{
	struct sl_plan_forecast_row row = { .job = p->c->snap->job.id[bk->entry.job], .start_time = bk->t0,
		.partition = bk->entry.partition, .native = bk->method == SL_PLACE_NATIVE,
		.places = place_rows(p, bk, NULL, pen->b) };

	if (row.places.count == SL_NONE)
		return sl_fail(err, SL_ENOMEM, "plan: out of memory");
	sl_builder_append(pen->b, SL_P_FORECAST, &row);
	return 0;
}

static void encode_expected(const struct sl_plan *p, struct pen *pen)
{
	for (uint32_t job = 0; p->expected && job < p->c->snap->job.rows; job++) {
		struct sl_plan_forecast_row row = { .job = p->c->snap->job.id[job], .start_time = p->expected[job],
			.partition = SL_NONE, .native = 1 };

		if (row.start_time && p->queue_of[job] && p->starts[job] < plan_tasks(p, job))
			sl_builder_append(pen->b, SL_P_FORECAST, &row);
	}
}

static bool has_reservation(const struct sl_plan *p, uint32_t job)
{
	for (uint32_t i = 0; i < p->reserved.count - p->forecasts; i++)
		if (p->reserved.entry[i].job == job)
			return true;
	return false;
}

static void encode_pending(const struct sl_plan *p, bool truncated, struct pen *pen)
{
	const struct sl_cluster *c = p->c;

	for (uint32_t i = 0; i < c->queued; i++) {
		uint32_t job = c->queue[i].job;
		struct note *n = p->notes_of[job] ? &p->note[p->notes_of[job] - 1] : NULL;
		struct sl_plan_pending_row row = sl_plan_pending_row();
		const struct closing *closing;

		if (p->queue_of[job] != i + 1 || p->starts[job] >= plan_tasks(p, job))
			continue;
		row.job = c->snap->job.id[job];
		if (n) {
			row.why = n->said.why;
			row.text = put_text(pen, sl_refusal_text(&n->said));
			row.by = put_text(pen, p->by[n->by]);
		} else if (p->starts[job] || has_reservation(p, job)) {
			continue;
		} else if (sl_cluster_is_led(c, job)) {
			row.why = SL_WHY_RESOURCES;
			row.text = put_text(pen, "starts when all components of its heterogeneous job can");
			row.by = put_text(pen, p->by[p->bys - 1]);
		} else if ((closing = plan_closing(p, job))) {
			row.why = closing->why;
			row.text = put_text(pen, closing->text);
			row.by = put_text(pen, p->by[closing->by]);
		} else {
			row.why = truncated ? SL_WHY_BUDGET : SL_WHY_WINDOW;
			row.by = put_text(pen, p->by[p->bys - 1]);
		}
		sl_builder_append(pen->b, SL_P_PENDING, &row);
	}
}

static void encode_preempting(const struct sl_plan *p, struct sl_builder *b)
{
	const struct sl_job_view *job = &p->c->snap->job;
	uint32_t count;
	const struct sl_entry *e = sl_plan_preempting(p, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct sl_plan_preempt_row row = { .job = job->id[e[i].job], .stamp = job->stamp[e[i].job],
			.partition = e[i].partition, .behind = made_before(p, p->confirmed.reserved[i]),
			.blocks = p->confirmed.blocks[i] };

		sl_builder_append(b, SL_P_PREEMPT, &row);
	}
}

static void encode_blocks(const struct sl_plan *p, struct sl_builder *b)
{
	for (uint32_t i = 0; i < p->kept_frees; i++) {
		const struct kept_free *k = &p->kept_free[i];
		struct sl_plan_block_row row = { .start_time = k->from, .end_time = k->to,
			.nodes = { sl_builder_rows(b, SL_P_NODE_RUN), k->nodes.runs } };

		for (uint32_t r = 0; r < k->nodes.runs; r++) {
			struct sl_plan_node_run_row run = { .first = k->nodes.run[r].first, .last = k->nodes.run[r].last };

			sl_builder_append(b, SL_P_NODE_RUN, &run);
		}
		sl_builder_append(b, SL_P_BLOCK, &row);
	}
}

static void encode_holds(const struct sl_plan *p, struct pen *pen)
{
	const struct sl_job_view *job = &p->c->snap->job;

	for (uint32_t i = 0; i < p->holds; i++) {
		const struct hold *h = &p->hold[i];
		struct sl_plan_hold_row row = { .job = job->id[h->job], .stamp = job->stamp[h->job], .release = h->released };

		/* skip holds made and released in this plan, and holds of the snapshot that simply go on */
		if (h->fresh == h->released || p->starts[h->job])
			continue;
		if (h->released && plan_hold_of(p, h->job))
			continue;
		row.until = h->released ? 0 : h->until;
		row.verdict = h->verdict;
		row.cost = h->cost;
		row.bound = h->bound;
		row.starts = h->released ? 0 : h->starts;
		row.behind = h->released ? 0 : made_before(p, h->reservations);
		row.because = put_text(pen, h->because ? h->because : "");
		row.by = put_text(pen, p->by[h->by]);
		sl_builder_append(pen->b, SL_P_HOLD, &row);
	}
	for (uint32_t i = 0; i < p->stops; i++) {
		const struct stop *s = &p->stop[i];
		struct sl_plan_stop_row row = { .job = job->id[s->job], .start_time = job->start_time[s->job],
			.preemptor = job->id[s->preemptor], .group = s->group, .cost = s->cost, .mode = s->mode, .moves = s->moves };

		row.by = put_text(pen, p->by[s->by]);
		sl_builder_append(pen->b, SL_P_STOP, &row);
	}
}

static void encode_shortage(const struct sl_plan *p, const struct shortage *s, struct pen *pen)
{
	const struct sl_job_view *job = &p->c->snap->job;
	struct sl_plan_shortage_row row = sl_plan_shortage_row();

	row.job = job->id[s->entry.job];
	row.stamp = job->stamp[s->entry.job];
	row.partition = s->entry.partition;
	if (s->entry.resv)
		row.reservation = s->entry.resv - 1;
	row.shape = s->entry.shape;
	row.start_time = s->at;
	row.seconds = s->seconds;
	row.what = s->what;
	row.which = s->which;
	row.needs = s->needs;
	row.has = s->has;
	row.shorts = (struct sl_range) { sl_builder_rows(pen->b, SL_P_SHORT), s->short_count };
	for (uint32_t i = 0; i < s->short_count; i++)
		sl_builder_append(pen->b, SL_P_SHORT, &s->shorts[i]);
	row.spared = (struct sl_range) { sl_builder_rows(pen->b, SL_P_SPARED), s->spared_count };
	for (uint32_t i = 0; i < s->spared_count; i++)
		sl_builder_append(pen->b, SL_P_SPARED, &(struct sl_plan_spared_row) { .job = job->id[s->spared[i]] });
	row.stoppable = s->stoppable;
	row.by = put_text(pen, p->by[s->by]);
	sl_builder_append(pen->b, SL_P_SHORTAGE, &row);
}

static void encode_shortages(const struct sl_plan *p, struct pen *pen)
{
	for (uint32_t i = 0; i < p->shortages; i++) {
		const struct shortage *s = &p->shortage[i];
		bool again = false;

		for (uint32_t k = i + 1; k < p->shortages; k++)
			again |= p->shortage[k].entry.job == s->entry.job;
		/* resources released since may help the job */
		if (!again && s->given_back == p->given_back && !p->starts[s->entry.job])
			encode_shortage(p, s, pen);
	}
}

bool sl_plan_changes_runs(const struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->holds; i++)
		if (p->hold[i].fresh != p->hold[i].released)
			return true;
	return p->stops || p->actions;
}

static void encode_words(const struct sl_plan *p, struct pen *pen)
{
	const struct sl_job_view *job = &p->c->snap->job;

	for (uint32_t i = 0; i < p->actions; i++) {
		const struct action *o = &p->action[i];
		struct sl_plan_action_row row = { .verb = o->verb, .job = job->id[o->job],
			.stamp = job->stamp[o->job], .number = o->number };

		row.text = put_text(pen, o->text);
		row.by = put_text(pen, p->by[o->by]);
		sl_builder_append(pen->b, SL_P_ACTION, &row);
	}
	for (uint32_t i = 0; i < p->lines; i++) {
		struct sl_plan_log_row row = { .level = p->line[i].level };

		row.text = put_text(pen, p->line[i].text);
		sl_builder_append(pen->b, SL_P_LOG, &row);
	}
}

/* Rows of the table of refusals, here for jobs at which the planner failed.  The checker's refusals are added later. */
static void encode_failed(const struct sl_plan *p, struct pen *pen)
{
	for (uint32_t i = 0; i < p->left.count; i++) {
		const struct sl_left_out *l = &p->left.out[i];
		struct sl_plan_refused_row row = { .job = l->id, .was = SL_REFUSED_START, .start_time = p->c->now,
			.partition = SL_NONE, .reservation = SL_NONE, .license = SL_NONE, .through = SL_NONE };

		if (!l->failed)
			continue;
		row.text = put_text(pen, l->text);
		row.by = put_text(pen, name_decider(p));
		sl_builder_append(pen->b, SL_P_REFUSED, &row);
	}
}

int sl_plan_encode(struct sl_plan *p, const struct sl_plan_figures *fig, struct sl_builder *b,
		   struct sl_error *err)
{
	struct pen here = { b, SL_PLAN_TEXTS_MAX }, *pen = &here;
	struct sl_plan_meta_row meta = sl_plan_meta_row();

	if (plan_settle(p, err) < 0)
		return -1;
	meta.sequence = p->c->snap->meta.sequence[0];
	meta.now = p->c->now;
	meta.policy = put_text(pen, name_decider(p));
	meta.examined = fig->examined;
	meta.truncated = fig->truncated;
	meta.wake_time = fig->wake_time;
	meta.error = put_text(pen, fig->error ? fig->error : "");
	meta.decide_us = fig->decide_us;
	meta.total_us = fig->total_us;
	sl_builder_append(b, SL_P_META, &meta);
	for (uint32_t i = 0; i < p->started.count; i++)
		if (encode_booking(p, p->started.item[i], true, pen, err) < 0)
			return -1;
	for (uint32_t i = 0; i < p->reserved.count; i++)
		if ((i < p->reserved.count - p->forecasts ? encode_booking(p, p->reserved.item[i], false, pen, err) :
		     encode_forecast(p, p->reserved.item[i], pen, err)) < 0)
			return -1;
	encode_expected(p, pen);
	encode_pending(p, fig->truncated, pen);
	encode_preempting(p, pen->b);
	encode_blocks(p, pen->b);
	encode_holds(p, pen);
	encode_shortages(p, pen);
	encode_words(p, pen);
	encode_failed(p, pen);
	return 0;
}
