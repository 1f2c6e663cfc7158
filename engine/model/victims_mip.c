/* SPDX-License-Identifier: MIT */
/*
 * victims_mip.c - the search for victims as an integer program; see victims.h
 *
 *	minimise the cost of the stopped groups, subject to:
 *	each node that the job uses is covered: the stops there free what its claim lacks, in each dimension;
 *	the job uses at least min_nodes and at most max_nodes nodes;
 *	the used nodes together have the total, in each dimension in which the claims do not imply that.
 *
 * The numbers may be too low (victims.h), so the program's optimum is a lower bound, and its solution only a proposal.
 */
#include "mip/mip.h"
#include "model/victims_private.h"

#include <stdlib.h>
#include <string.h>

#define HANGS_S 3		/* seconds of wall time, however fast the machine is */

struct program {
	const struct sl_victims *v;
	const struct victim_bounds *b;
	struct sl_mip *m;
	int64_t *group, *node;		/* column numbers; -1: none */
	uint32_t *column;		/* terms of the row being built */
	double *coefficient;
	double scale;			/* largest cost */
	uint32_t terms;
};

static void add_term(struct program *x, int64_t column, double coefficient)
{
	if (column < 0 || coefficient == 0)
		return;
	x->column[x->terms] = (uint32_t) column;
	x->coefficient[x->terms++] = coefficient;
}

/* Add the collected terms as a row. */
static int add_row(struct program *x, double lo, double hi, struct sl_error *err)
{
	struct sl_mip_row r = { .column = x->column, .coefficient = x->coefficient, .terms = x->terms, .lo = lo, .hi = hi };

	x->terms = 0;
	return sl_mip_add(x->m, &r, err) < 0 ? -1 : 0;
}

static int64_t add_column(struct program *x, double ub, double obj, bool integer, struct sl_error *err)
{
	return sl_mip_var(x->m, &(struct sl_mip_column) { .ub = ub, .obj = obj, .integer = integer }, err);
}

static int64_t least_free(const struct sl_victim_node *n, uint32_t d)
{
	return n->free[d] > 0 ? n->free[d] : 0;
}

/* What is available on the node in this dimension if all groups there are stopped. */
static int64_t most_on(const struct program *x, uint32_t n, uint32_t d)
{
	int64_t sum = x->v->node[n].free[d];

	for (uint32_t i = x->b->first[n]; i < x->b->first[n + 1]; i++)
		sum += x->v->piece[i].amount[d];
	return sum;
}

static bool is_of_use(const struct program *x, uint32_t n)
{
	for (uint32_t d = 0; d < x->v->dims; d++)
		if (most_on(x, n, d) < x->v->node[n].claim[d])
			return false;
	return true;
}

/* Add columns for the useful nodes and the groups on them. */
static int add_columns(struct program *x, struct sl_error *err)
{
	const struct sl_victims *v = x->v;

	for (uint32_t g = 0; g < v->groups; g++)
		x->group[g] = -1;
	for (uint32_t n = 0; n < v->nodes; n++) {
		x->node[n] = -1;
		if (!is_of_use(x, n))
			continue;
		if ((x->node[n] = add_column(x, 1, 0, true, err)) < 0)
			return -1;
		for (uint32_t i = x->b->first[n]; i < x->b->first[n + 1]; i++) {
			uint32_t g = v->piece[i].group;

			if (x->group[g] < 0 && (x->group[g] = add_column(x, 1, v->cost[g] / x->scale, true, err)) < 0)
				return -1;
		}
	}
	return 0;
}

/* A node can be used only if what it lacks is freed. */
static int cover_node(struct program *x, uint32_t n, uint32_t d, struct sl_error *err)
{
	const struct sl_victims *v = x->v;
	double lack = (double) (v->node[n].claim[d] - v->node[n].free[d]);

	if (x->node[n] < 0 || lack <= 0)
		return 0;
	for (uint32_t i = x->b->first[n]; i < x->b->first[n + 1]; i++) {
		double gives = (double) v->piece[i].amount[d] / lack;

		add_term(x, x->group[v->piece[i].group], gives < 1 ? gives : 1);
	}
	add_term(x, x->node[n], -1);
	return add_row(x, 0, INFINITY, err);
}

static int count_nodes(struct program *x, struct sl_error *err)
{
	const struct sl_victims *v = x->v;

	for (uint32_t n = 0; n < v->nodes; n++)
		add_term(x, x->node[n], 1);
	return add_row(x, v->min_nodes, v->max_nodes ? v->max_nodes : INFINITY, err);
}

/* Total of the used nodes: what is free and what is freed there; an unused node contributes nothing. */
static int cover_total(struct program *x, uint32_t d, struct sl_error *err)
{
	const struct sl_victims *v = x->v;
	double total = (double) v->total[d];
	int64_t *part = calloc((size_t) v->nodes + 1, sizeof(*part));
	int rc = part ? 0 : sl_fail(err, SL_ENOMEM, "preempt: out of memory");

	for (uint32_t n = 0; !rc && n < v->nodes; n++) {
		double most = (double) most_on(x, n, d) / total;

		part[n] = -1;
		if (x->node[n] < 0 || most <= 0)
			continue;
		if ((part[n] = add_column(x, most, 0, false, err)) < 0) {
			rc = -1;
			break;
		}
		add_term(x, part[n], 1);
		add_term(x, x->node[n], -most);
		rc = add_row(x, -INFINITY, 0, err);
		add_term(x, part[n], 1);
		for (uint32_t i = x->b->first[n]; i < x->b->first[n + 1]; i++)
			add_term(x, x->group[v->piece[i].group], -(double) v->piece[i].amount[d] / total);
		if (!rc)
			rc = add_row(x, -INFINITY, (double) least_free(&v->node[n], d) / total, err);
	}
	for (uint32_t n = 0; !rc && n < v->nodes; n++)
		add_term(x, part[n], 1);
	if (!rc)
		rc = add_row(x, 1, INFINITY, err);
	free(part);
	return rc;
}

/* True if the claims do not imply the total. */
static bool has_to_be_summed(const struct program *x, uint32_t d)
{
	const struct sl_victims *v = x->v;
	int64_t least = INT64_MAX;

	for (uint32_t n = 0; n < v->nodes; n++)
		if (x->node[n] >= 0 && v->node[n].claim[d] < least)
			least = v->node[n].claim[d];
	return v->total[d] > 0 && least != INT64_MAX && (double) least * v->min_nodes < (double) v->total[d];
}

/* Build the integer program.  1; 0 if too few nodes can become useful; -1 with *err. */
static int write_program(struct program *x, struct sl_error *err)
{
	const struct sl_victims *v = x->v;
	uint32_t use = 0;

	if (add_columns(x, err) < 0)
		return -1;
	for (uint32_t n = 0; n < v->nodes; n++)
		use += x->node[n] >= 0;
	if (use < v->min_nodes || !use)
		return 0;
	for (uint32_t n = 0; n < v->nodes; n++)
		for (uint32_t d = 0; d < v->dims; d++)
			if (cover_node(x, n, d, err) < 0)
				return -1;
	if (count_nodes(x, err) < 0)
		return -1;
	for (uint32_t d = 0; d < v->dims; d++)
		if (has_to_be_summed(x, d) && cover_total(x, d, err) < 0)
			return -1;
	return 1;
}

static int solve(struct program *x, bool *chosen, struct sl_proposal *out, struct sl_error *err)
{
	struct sl_mip_options o = { .time_limit = x->v->most_mip, .max_nodes = -1, .memory_mb = 512, .hangs_s = HANGS_S };
	double *bound = &out->bound;
	struct sl_mip_result r;
	int rc = 0;

	if (sl_mip_solve(x->m, &o, &r, err) < 0)
		return -1;
	out->work = r.work;
	out->hung = r.hung;
	if (r.status == SL_MIP_OPTIMAL || r.status == SL_MIP_FEASIBLE) {
		rc = 1;
		for (uint32_t g = 0; g < x->v->groups; g++)
			chosen[g] = x->group[g] >= 0 && r.values[x->group[g]] > 0.5;
	}
	if (!isnan(r.bound))
		*bound = r.bound * x->scale;
	else if (r.status == SL_MIP_OPTIMAL)
		*bound = r.objective * x->scale;
	sl_mip_result_clear(&r);
	return rc;
}

int victims_solve(const struct victim_bounds *b, bool *chosen, struct sl_proposal *out, struct sl_error *err)
{
	const struct sl_victims *v = b->v;
	struct program x = { .v = v, .b = b, .m = sl_mip_create(false, NULL, NULL), .scale = 1 };
	size_t terms = (size_t) v->groups + v->nodes + v->pieces + 2;
	int rc;

	*out = (struct sl_proposal) { .bound = 0 };
	for (uint32_t g = 0; g < v->groups; g++)
		x.scale = v->cost[g] > x.scale ? v->cost[g] : x.scale;
	x.group = malloc(((size_t) v->groups + 1) * sizeof(*x.group));
	x.node = malloc(((size_t) v->nodes + 1) * sizeof(*x.node));
	x.column = malloc(terms * sizeof(*x.column));
	x.coefficient = malloc(terms * sizeof(*x.coefficient));
	rc = x.m && x.group && x.node && x.column && x.coefficient ? write_program(&x, err) :
		sl_fail(err, SL_ENOMEM, "preempt: out of memory");
	if (rc > 0)
		rc = solve(&x, chosen, out, err);
	free(x.group);
	free(x.node);
	free(x.column);
	free(x.coefficient);
	sl_mip_destroy(x.m);
	return rc;
}
