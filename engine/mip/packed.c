/* SPDX-License-Identifier: MIT */
/* mip/packed.c - a model and the options of a solve as bytes, for a solver that is no copy of this process. */
#include "mip/private.h"

#include <string.h>

/* Where each array begins; arrays of doubles come first. */
struct layout {
	size_t lb, ub, obj, lo, hi, coefficient, start, begin, column, integer, end;
};

static struct layout lay_out_model(const struct sl_mip_question *q)
{
	const size_t n = q->columns, m = q->rows, t = q->terms;
	struct layout l = { 0 };

	l.ub = l.lb + n * sizeof(double);
	l.obj = l.ub + n * sizeof(double);
	l.lo = l.obj + n * sizeof(double);
	l.hi = l.lo + m * sizeof(double);
	l.coefficient = l.hi + m * sizeof(double);
	l.start = l.coefficient + t * sizeof(double);
	l.begin = l.start + (q->has_start ? n : 0) * sizeof(double);
	l.column = l.begin + (m + 1) * sizeof(uint32_t);
	l.integer = l.column + t * sizeof(uint32_t);
	l.end = l.integer + n;
	return l;
}

size_t sl_mip_packed_size(const struct sl_mip_question *q)
{
	return lay_out_model(q).end;
}

void sl_mip_pack(const struct sl_mip_question *q, const struct sl_mip *m, const double *start, void *to)
{
	struct layout l = lay_out_model(q);
	char *bytes = to;

	memcpy(bytes + l.lb, m->lb, m->columns * sizeof(double));
	memcpy(bytes + l.ub, m->ub, m->columns * sizeof(double));
	memcpy(bytes + l.obj, m->obj, m->columns * sizeof(double));
	memcpy(bytes + l.lo, m->lo, m->rows * sizeof(double));
	memcpy(bytes + l.hi, m->hi, m->rows * sizeof(double));
	memcpy(bytes + l.coefficient, m->coefficient, m->terms * sizeof(double));
	if (start)
		memcpy(bytes + l.start, start, m->columns * sizeof(double));
	memcpy(bytes + l.begin, m->begin, (m->rows + (size_t) 1) * sizeof(uint32_t));
	memcpy(bytes + l.column, m->column, m->terms * sizeof(uint32_t));
	memcpy(bytes + l.integer, m->integer, m->columns);
}

void sl_mip_unpack(const struct sl_mip_question *q, void *from, struct sl_mip *m, const double **start)
{
	struct layout l = lay_out_model(q);
	char *bytes = from;

	*m = (struct sl_mip) {
		.maximize = q->maximize, .columns = q->columns, .rows = q->rows, .terms = q->terms,
		.lb = (double *) (bytes + l.lb), .ub = (double *) (bytes + l.ub), .obj = (double *) (bytes + l.obj),
		.lo = (double *) (bytes + l.lo), .hi = (double *) (bytes + l.hi),
		.coefficient = (double *) (bytes + l.coefficient), .begin = (uint32_t *) (bytes + l.begin),
		.column = (uint32_t *) (bytes + l.column), .integer = (uint8_t *) (bytes + l.integer),
		.relaxed = q->relaxed,
	};
	*start = q->has_start ? (double *) (bytes + l.start) : NULL;
}

struct sl_mip_question sl_mip_question_of(const struct sl_mip *m, const struct sl_mip_options *o, bool has_start,
					  double start_objective)
{
	return (struct sl_mip_question) {
		.columns = m->columns, .rows = m->rows, .terms = m->terms, .memory_mb = o->memory_mb,
		.maximize = m->maximize, .relax = o->relax, .has_start = has_start, .clock = o->clock,
		.start_objective = start_objective, .time_limit = o->time_limit, .hangs_s = o->hangs_s, .gap = o->gap,
		.max_nodes = o->max_nodes, .deadline_ns = o->deadline_ns, .relaxed = m->relaxed,
	};
}

struct sl_mip_options sl_mip_options_of(const struct sl_mip_question *q)
{
	return (struct sl_mip_options) {
		.time_limit = q->time_limit, .gap = q->gap, .max_nodes = q->max_nodes, .memory_mb = q->memory_mb,
		.relax = q->relax, .clock = q->clock, .hangs_s = q->hangs_s, .deadline_ns = q->deadline_ns,
	};
}
