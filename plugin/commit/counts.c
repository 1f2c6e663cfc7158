/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counts.c - see counts.h */
#include "plugin/commit/counts.h"
#include "base/search.h"

#define TERMS 8		/* the engine does not place jobs with more */

/* The terms of the constraint that have a count, and which of them one node satisfies. */
struct reading {
	const char *have;		/* features of the node */
	bool inside, holds;		/* the feature read last is inside parentheses; the node satisfies what has been
					 * read of them */
	int op;				/* operator between those and the next feature */
	uint32_t terms, satisfied;	/* number of terms; bit i: the node satisfies term i */
	uint32_t count[TERMS];
};

/* Count a feature of the constraint. In the job's feature list Slurm keeps the last feature inside parentheses as if it stood behind
 * them, with the count of the whole group. */
static int each_feature(void *x, void *arg)
{
	const job_feature_t *f = x;
	struct reading *r = arg;
	bool holds = sl_list_has(r->have, ",", f->name, strlen(f->name));

	if (r->inside)
		holds = r->op == FEATURE_OP_AND ? r->holds && holds : r->holds || holds;
	r->inside = f->paren;
	r->holds = holds;
	r->op = f->op_code;
	if (r->inside || !f->count)
		return 0;
	if (r->terms < TERMS) {
		r->count[r->terms] = f->count;
		r->satisfied |= (uint32_t) holds << r->terms;
	}
	r->terms++;
	return 0;
}

static struct reading read_node(const sl_details_t *d, const node_record_t *node)
{
	const char *have = node->features_act ? node->features_act : node->features;
	struct reading r = { .have = have ? have : "" };

	list_for_each(d->feature_list_use, each_feature, &r);
	return r;
}

static int has_count(void *x, void *key)
{
	(void) key;
	return ((job_feature_t *) x)->count != 0;
}

/* The nodes can be divided among the terms if, for every set of terms, at least as many nodes satisfy one of its terms as
 * the terms count together (Hall's marriage theorem). */
const char *sl_counts_lack(const sl_details_t *d, const struct sl_layout_place *place, uint32_t count)
{
	uint32_t nodes[1u << TERMS] = { 0 }, i, t, set, some;	/* [set of terms] number of nodes that satisfy just these */
	struct reading r = { 0 };

	if (!d->feature_list_use || !list_find_first(d->feature_list_use, has_count, NULL))
		return NULL;
	for (i = 0; i < count; i++) {
		r = read_node(d, node_record_table_ptr[place[i].node]);
		nodes[r.satisfied]++;
	}
	if (r.terms > TERMS)
		return "it counts more features than a plan can";
	if (r.terms > 1 && nodes[0])
		return "the plan has a node with none of the features that it counts";
	for (set = 1; set < 1u << r.terms; set++) {
		uint64_t needs = 0, has = 0;

		for (t = 0; t < r.terms; t++)
			needs += set >> t & 1 ? r.count[t] : 0;
		for (some = 1; some < 1u << r.terms; some++)
			has += some & set ? nodes[some] : 0;
		if (has < needs)
			return "the plan lacks nodes with the features that it counts";
	}
	return NULL;
}
