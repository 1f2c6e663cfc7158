/* SPDX-License-Identifier: MIT */
/* want_nodes.c - the eligible and the required nodes of a pending job. */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"
#include "timeline/choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"

/* -- features ------------------------------------------------------------ */

/* True if the job is left to select because of its features. */
static bool leaves_features(const struct want *w)
{
	const sl_word_set words = SL_W(COUNTS) | SL_W(UNPLACED) | SL_W(REBOOT);

	return w->pub.asked & words && !want_can_place(w, words);
}

int cluster_lacks_features(struct sl_cluster *c, const struct want *w, const struct sl_nodeset *nodes,
			   struct sl_error *err)
{
	uint32_t str = c->snap->job.features[w->entry.job];
	struct sl_constraint_says says;
	bool counted;

	if (!*cluster_str(c, str) || *cluster_str(c, c->snap->job.prefer[w->entry.job]) ||
	    leaves_features(w))
		return 0;
	says = cluster_constraint(c, str);
	counted = says.kind == SL_CONSTRAINT_COUNTED;
	for (uint32_t i = 0; i < says.choices; i++) {
		const struct sl_nodeset *having = sl_features_nodes(c->features, str, i, err);

		if (!having)
			return -1;
		if (sl_nodeset_overlaps(having, nodes) != counted)
			return counted;
	}
	return !counted;
}

/* -- eligible nodes --------------------------------------------------------- */

/* Properties that a job may require of each node: does the job require it, and does a node have it?  Nodes are tested only
 * for what is required. */
static bool asks_disk(const struct sl_cluster *c, const struct want *w)
{
	return c->snap->job.tmp_disk[w->entry.job] > 0;
}

static bool has_disk(const struct sl_cluster *c, const struct want *w, uint32_t n)
{
	return c->snap->node.tmp_disk[n] >= c->snap->job.tmp_disk[w->entry.job];
}

static bool asks_no_consume(const struct sl_cluster *c, const struct want *w)
{
	(void) c;
	return w->asks_no_consume;
}

/* Number of gres on the node that match the row and are not used up. */
static uint64_t count_no_consume(const struct sl_snapshot *s, uint32_t row, uint32_t n)
{
	struct sl_range gres = s->node.gres[n];
	uint64_t count = 0;

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (s->node_gres.no_consume[g] && sl_gres_matches(s, row, s->node_gres.kind[g]))
			count += s->node_gres.count[g];
	return count;
}

static bool is_no_consume(const struct sl_cluster *c, uint32_t row)
{
	for (uint32_t k = 0; k < c->snap->gres_kind.rows && k < SL_MAX_GRES; k++)
		if (c->no_consume[k] && sl_gres_matches(c->snap, row, k))
			return true;
	return false;
}

static bool has_no_consume(const struct sl_cluster *c, const struct want *w, uint32_t n)
{
	for (uint32_t row = w->gres.first; row < w->gres.first + w->gres.count; row++)
		if (is_no_consume(c, row) && count_no_consume(c->snap, row, n) < c->snap->job_gres.count[row])
			return false;
	return true;
}

static bool is_capped(const struct sl_cluster *c, const struct want *w)
{
	const struct part *part = cluster_part(c, &w->entry);

	return w->pub.request.whole_nodes && part->cap && part->share == 1;
}

static bool is_below_cap(const struct sl_cluster *c, const struct want *w, uint32_t n)
{
	uint32_t threads = c->snap->node.threads[n];

	return (uint64_t) c->snap->node.cores[n] * (threads ? threads : 1) <= cluster_part(c, &w->entry)->cap;
}

/* Whole nodes need memory for all their CPUs. */
static bool asks_whole_memory(const struct sl_cluster *c, const struct want *w)
{
	(void) c;
	return w->pub.request.whole_nodes && w->pub.request.memory_per_core;
}

static bool has_memory(const struct sl_cluster *c, const struct want *w, uint32_t n)
{
	const struct sl_request *r = &w->pub.request;

	return c->snap->node.memory[n] <= 0 ||
		r->memory_per_core * (int64_t) sl_request_node_cores(c->snap, w->entry.job, n) <= c->snap->node.memory[n];
}

#define EFFORT_OF_RUN 4		/* for each run of nodes in a set operation */

static const struct rule {
	bool (*asks)(const struct sl_cluster *c, const struct want *w);
	bool (*has)(const struct sl_cluster *c, const struct want *w, uint32_t n);
} rules[] = {
	{ asks_disk, has_disk },
	{ asks_whole_memory, has_memory },
	{ is_capped, is_below_cap },
	{ want_brings_with_gres, want_has_brought },
	{ asks_no_consume, has_no_consume },
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

/* Remove the nodes without the property. */
static int sift(struct sl_cluster *c, struct want *w, const struct rule *rule, struct sl_error *err)
{
	struct sl_nodeset out = SL_NODESET_EMPTY;
	int rc = sl_effort_spend(&c->effort, EFFORT_OF_RUN * (uint64_t) w->eligible.count, err);

	for (uint32_t n = sl_nodeset_next(&w->eligible, 0); !rc && n < SL_MAX_NODES;
	     n = sl_nodeset_next(&w->eligible, n + 1))
		if (!rule->has(c, w, n))
			rc = sl_nodeset_add(&out, n, n, err);
	if (!rc)
		rc = sl_nodeset_subtract(&w->eligible, &out, err);
	sl_nodeset_free(&out);
	return rc;
}

/* Add the nodes of w->eligible that satisfy the constraint as another choice, if there are any. */
static int add_choice(struct sl_cluster *c, struct want *w, uint32_t str, uint32_t choice, struct sl_error *err)
{
	const struct sl_nodeset *f = sl_features_nodes(c->features, str, choice, err);
	struct sl_nodeset nodes = SL_NODESET_EMPTY;

	if (!f || sl_effort_spend(&c->effort, EFFORT_OF_RUN * ((uint64_t) w->eligible.runs + f->runs), err) < 0)
		return -1;
	if (sl_nodeset_meet(&nodes, &w->eligible, f, err) < 0) {
		sl_nodeset_free(&nodes);
		return -1;
	}
	if (!nodes.count || sl_grow_list(&w->choice, w->choices, sizeof(*w->choice), err)) {
		bool none = !nodes.count;

		sl_nodeset_free(&nodes);
		return none ? 0 : -1;
	}
	w->choice[w->choices++] = nodes;
	return 0;
}

static int add_choices(struct sl_cluster *c, struct want *w, uint32_t str, struct sl_error *err)
{
	uint32_t choices = cluster_constraint(c, str).choices;

	for (uint32_t i = 0; i < choices; i++)
		if (add_choice(c, w, str, i, err) < 0)
			return -1;
	return 0;
}

/* Sort parts by number of nodes, fewest first.  Nodes are taken part by part (timeline/place_parts.c), and nodes that fit
 * several parts must not be gone when a part with fewer nodes has its turn. */
static void sort_parts(struct sl_part *part, uint32_t parts)
{
	for (uint32_t i = 1; i < parts; i++)
		for (uint32_t k = i; k && part[k].nodes.count < part[k - 1].nodes.count; k--) {
			struct sl_part other = part[k];

			part[k] = part[k - 1];
			part[k - 1] = other;
		}
}

/* Make parts from a constraint with counts.  With several counts each node must be in one of them, as Slurm builds its
 * node sets. */
static int add_parts(struct sl_cluster *c, struct want *w, uint32_t str, const struct sl_constraint_says *says,
		     struct sl_error *err)
{
	struct sl_nodeset any = SL_NODESET_EMPTY;
	int rc = 0;

	w->part = calloc(says->choices + 1, sizeof(*w->part));
	if (!w->part)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	for (; !rc && w->parts < says->choices; w->parts++) {
		const struct sl_nodeset *f = sl_features_nodes(c->features, str, w->parts, err);

		w->part[w->parts].count = says->count[w->parts];
		if (!f || sl_nodeset_copy(&w->part[w->parts].nodes, f, err) < 0 || sl_nodeset_union(&any, f, err) < 0)
			rc = -1;
	}
	if (!rc && w->parts > 1)
		rc = sl_nodeset_intersect(&w->eligible, &any, err);
	sl_nodeset_free(&any);
	sort_parts(w->part, w->parts);
	w->pub.request.part = w->part;
	w->pub.request.parts = w->parts;
	return rc;
}

/* Apply the constraint.  If there are several choices, w->eligible becomes their union.  Those of --prefer come first;
 * they replace the constraint, as in Slurm. */
static int narrow_by_features(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	uint32_t str = c->snap->job.features[w->entry.job], prefer = c->snap->job.prefer[w->entry.job];
	struct sl_constraint_says says = cluster_constraint(c, str);

	if (says.kind == SL_CONSTRAINT_COUNTED)
		return add_parts(c, w, str, &says, err);
	if (says.choices == 1 && !*cluster_str(c, prefer)) {
		const struct sl_nodeset *f = sl_features_nodes(c->features, str, 0, err);

		return f ? sl_nodeset_intersect(&w->eligible, f, err) : -1;
	}
	if ((*cluster_str(c, prefer) && add_choices(c, w, prefer, err) < 0) || add_choices(c, w, str, err) < 0)
		return -1;
	sl_nodeset_clear(&w->eligible);
	for (uint32_t i = 0; i < w->choices; i++)
		if (sl_nodeset_union(&w->eligible, &w->choice[i], err) < 0)
			return -1;
	return 0;
}

/* True if the job names features and the engine places it by them. */
static bool names_features(const struct sl_cluster *c, const struct want *w)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = w->entry.job;

	return (*cluster_str(c, job->features[j]) || *cluster_str(c, job->prefer[j])) &&
		!leaves_features(w);
}

/* Set w->eligible to the nodes in *base* that the job may use. */
static int narrow(struct sl_cluster *c, struct want *w, const struct sl_nodeset *base, struct sl_error *err)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = w->entry.job;

	if (sl_effort_spend(&c->effort, EFFORT_OF_RUN * ((uint64_t) base->runs + job->exc_nodes[j].count), err) < 0 ||
	    sl_nodeset_copy(&w->eligible, base, err) < 0)
		return -1;
	if (job->exc_nodes[j].count) {
		struct sl_nodeset exc = SL_NODESET_EMPTY;
		int rc = cluster_nodes(c, job->exc_nodes[j], &exc, err);

		if (!rc)
			rc = sl_nodeset_subtract(&w->eligible, &exc, err);
		sl_nodeset_free(&exc);
		if (rc < 0)
			return -1;
	}
	if (w->resv_nodes && sl_nodeset_intersect(&w->eligible, w->resv_nodes, err) < 0)
		return -1;
	if (w->entry.confine && sl_nodeset_intersect(&w->eligible, sl_cluster_confined_to(c, w->entry.confine), err) < 0)
		return -1;
	for (size_t i = 0; i < RULES; i++)
		if (rules[i].asks(c, w) && sift(c, w, &rules[i], err) < 0)
			return -1;
	return names_features(c, w) ? narrow_by_features(c, w, err) : 0;
}

/* True if the job may not use all nodes of its partition. */
static bool is_narrowed(const struct sl_cluster *c, const struct want *w)
{
	bool asks = w->resv_nodes || w->entry.confine || c->snap->job.exc_nodes[w->entry.job].count || names_features(c, w);

	for (size_t i = 0; !asks && i < RULES; i++)
		asks = rules[i].asks(c, w);
	return asks;
}

int want_choose_nodes(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	const struct sl_job_view *job = &c->snap->job;
	struct part *part = cluster_part(c, &w->entry);
	struct sl_request *r = &w->pub.request;
	uint32_t j = w->entry.job;

	if (job->req_nodes[j].count) {
		if (sl_effort_spend(&c->effort, EFFORT_OF_RUN * (uint64_t) job->req_nodes[j].count, err) < 0 ||
		    cluster_nodes(c, job->req_nodes[j], &w->required, err) < 0)
			return -1;
		r->required = &w->required;
	}
	r->eligible = is_narrowed(c, w) ? &w->eligible : &part->usable;
	return r->eligible == &part->usable ? 0 : narrow(c, w, &part->usable, err);
}

/* -- reservation ------------------------------------------------------------ */

static int choose_reservation(struct sl_cluster *c, struct want *w)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	const char *names = cluster_str(c, c->snap->job.reservation[w->entry.job]);
	uint32_t r = cluster_entry_reservation(c, &w->entry);

	w->valid_until = INT64_MAX;
	w->enclave = NULL;
	w->resv_nodes = NULL;
	w->resv = SL_NONE;
	if (r == SL_NONE && !*names)
		return 0;
	if (r == SL_NONE)
		return want_refuse(w, SL_WHY_RESERVATION, "there is no reservation %s", names);
	w->resv = r;
	w->any_time = v->flags[r] & SL_RESV_FLEX;
	if (w->any_time)
		return 0;
	if (v->end_time[r] <= c->now)
		return want_refuse(w, SL_WHY_RESERVATION, "reservation %s has ended", cluster_str(c, v->name[r]));
	w->valid_until = v->end_time[r];
	if (v->flags[r] & SL_RESV_ANY_NODES)
		return 0;
	if (!c->resv_nodes[r].count)
		return want_refuse(w, SL_WHY_RESERVATION, "reservation %s has no nodes", cluster_str(c, v->name[r]));
	w->resv_nodes = &c->resv_nodes[r];
	return 0;
}

int want_choose_enclave(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	bool shared = cluster_sharing(c, w->entry.job, w->entry.partition) > 1;
	uint32_t tenant = cluster_tenant(c, w->entry.job, w->entry.partition);
	bool flexible;

	if (choose_reservation(c, w) < 0 || w->pub.why)
		return 0;
	flexible = w->any_time && c->resv_nodes[w->resv].count;
	if (!w->resv_nodes && !shared && !tenant && !flexible)
		return 0;
	w->enclave = cluster_enclave(c, &(struct enclave) { .resv = w->resv_nodes || flexible ? w->resv : SL_NONE,
							    .shared = shared, .tenant = tenant }, err);
	return w->enclave ? 0 : -1;
}

/* -- chances on an empty machine --------------------------------------------- */

/* Number of down or drained nodes that the request could use. */
static uint32_t count_down(const struct sl_cluster *c, const struct sl_request *r)
{
	struct sl_need need;
	uint32_t down = 0;

	if (sl_need_of(c->empty, r, &need, NULL) < 0)
		return 0;
	for (uint32_t n = sl_nodeset_next(&c->unusable, 0); n < SL_MAX_NODES; n = sl_nodeset_next(&c->unusable, n + 1)) {
		const struct sl_resources *all = &sl_timeline_kind(c->empty, n)->capacity;

		down += sl_nodeset_contains(r->eligible, n) && sl_need_units(&need.node, all, all);
	}
	return down;
}

int cluster_fits_alone(struct sl_cluster *c, const struct want *w, const struct sl_nodeset *among, struct sl_misfit *misfit,
		       struct sl_error *err)
{
	const struct sl_how how = { .method = SL_PLACE_NATIVE };
	struct sl_nodeset nodes = SL_NODESET_EMPTY;
	struct telling told = { .of = NULL };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < w->pub.variants; i++) {
		const struct sl_variant *v = &w->pub.variant[i];
		struct sl_request r = v->request;

		if (!cluster_tries(w, v, true, SL_PLACE_NATIVE))
			continue;
		r.duration = 1;
		r.max_leaves = 0;		/* it does not insist on these for ever */
		rc = among ? sl_nodeset_meet(&nodes, r.eligible, among, err) : 0;
		r.eligible = among ? &nodes : r.eligible;
		rc = rc ? rc : sl_fit_at(c->empty, &r, &how, c->now, NULL, misfit, err);
		cluster_tell_misfit(w, &told, v, misfit);
	}
	sl_nodeset_free(&nodes);
	return rc;
}

/* True if it fits on the empty machine including down and drained nodes. */
static int fits_somewhere(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	struct want all = { .entry = w->entry, .resv_nodes = w->resv_nodes, .gres = w->gres, .asks_no_consume = w->asks_no_consume };
	struct exact same = { .narrower = false };
	struct sl_misfit misfit;
	int rc;

	all.pub.native = w->pub.native;
	all.pub.asked = w->pub.asked;
	all.pub.request = w->pub.request;
	rc = narrow(c, &all, &cluster_part(c, &w->entry)->nodes, err);
	all.pub.request = w->pub.request;	/* including its parts, unless it is native */
	all.pub.request.eligible = &all.eligible;
	all.pub.request.max_leaves = 0;
	all.count = w->count;
	all.counts = w->counts;
	same.request = all.pub.request;
	if (!rc)
		rc = want_list(&all, &same, err);
	all.count = NULL;
	if (!rc)
		rc = cluster_fits_alone(c, &all, NULL, &misfit, err);
	if (rc > 0)
		w->down = count_down(c, &all.pub.request);
	want_free_nodes(&all);
	return rc;
}

int cluster_chance(struct sl_cluster *c, const struct want *constant, struct sl_error *err)
{
	struct want *w = (struct want *) constant;
	int rc;

	if (w->chance != CHANCE_UNKNOWN)
		return 0;
	if (!c->empty)
		c->empty = cluster_new_timeline(c, err);
	if (!c->empty)
		return -1;
	rc = cluster_fits_alone(c, w, NULL, &w->misfit, err);
	if (rc > 0)
		w->chance = CHANCE_GOOD;
	if (rc)
		return rc < 0 ? -1 : 0;
	rc = fits_somewhere(c, w, err);
	if (rc >= 0)
		w->chance = rc ? CHANCE_DOWN : CHANCE_NONE;
	return rc < 0 ? -1 : 0;
}

int want_find_up(const struct sl_cluster *c, struct want *w, const struct sl_nodeset *eligible, struct sl_error *err)
{
	if (!c->sleepers.count || !eligible || !sl_nodeset_overlaps(eligible, &c->sleepers))
		return 0;
	if (sl_nodeset_copy(&w->up, eligible, err) < 0 || sl_nodeset_subtract(&w->up, &c->sleepers, err) < 0)
		return -1;
	w->pub.up = &w->up;
	w->pub.boots = w->resv == SL_NONE ? c->longest_boot : 0;
	return 0;
}

void want_free_nodes(struct want *w)
{
	for (uint32_t i = 0; i < w->choices; i++)
		sl_nodeset_free(&w->choice[i]);
	free(w->choice);
	free(w->list);
	free(w->count);
	free(w->pick);
	for (uint32_t i = 0; w->part && i <= w->parts; i++)
		sl_nodeset_free(&w->part[i].nodes);
	free(w->part);
	sl_nodeset_free(&w->eligible);
	sl_nodeset_free(&w->required);
	sl_nodeset_free(&w->active);
	sl_nodeset_free(&w->up);
}
