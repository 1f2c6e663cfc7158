/* SPDX-License-Identifier: MIT */
/* mip/solve.c - solves a model: finds what needs no solver, and verifies the solver's answer. */
#include "mip/private.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sl_mip_status_word(enum sl_mip_status status)
{
	static const char *const word[] = {
		[SL_MIP_OPTIMAL] = "optimal", [SL_MIP_FEASIBLE] = "feasible", [SL_MIP_INFEASIBLE] = "infeasible",
		[SL_MIP_NO_SOLUTION] = "no_solution", [SL_MIP_ERROR] = "error",
	};

	return word[status];
}

/* -- backends ---------------------------------------------------------- */

static const struct sl_mip_backend *const backends[] = {
#ifdef HAVE_COINMP
	&sl_mip_coinmp,
#endif
#ifdef HAVE_CBC
	&sl_mip_cbc,
#endif
	NULL
};

const struct sl_mip_backend *sl_mip_backend(unsigned k)
{
	return k < sizeof(backends) / sizeof(backends[0]) ? backends[k] : NULL;
}

static int load_backend(unsigned k, struct sl_error *err)
{
	return sl_mip_has_server() ? sl_mip_server_has(k, err) : sl_mip_library_load(backends[k]->library, err);
}

const char *sl_mip_backend_name(unsigned i)
{
	for (unsigned k = 0; backends[k]; k++)
		if (!load_backend(k, NULL) && !i--)
			return backends[k]->name;
	return NULL;
}

static unsigned number_of(const struct sl_mip_backend *backend)
{
	unsigned k = 0;

	while (backends[k] != backend)
		k++;
	return k;
}

static void no_backend(const char *name, struct sl_error *why)
{
	char known[64] = "";

	for (unsigned i = 0; sl_mip_backend_name(i); i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s, ", sl_mip_backend_name(i));
	sl_fail(why, SL_ENOENT, "no backend '%s' in this program; there is %snone", name, known);
}

/* The backend, or NULL; without an error in *why for "none", or if none was compiled in. */
static const struct sl_mip_backend *find_backend(const char *name, struct sl_error *why)
{
	why->code = SL_OK;
	if (name && !strcmp(name, "none"))
		return NULL;
	for (unsigned k = 0; backends[k]; k++) {
		if (name && strcmp(backends[k]->name, name))
			continue;
		if (!load_backend(k, why)) {
			why->code = SL_OK;
			return backends[k];
		}
		if (name)
			return NULL;
	}
	if (name)
		no_backend(name, why);
	return NULL;
}

/* -- verification ------------------------------------------------------ */

static double row_size(const struct sl_mip *m, uint32_t row, const double *x, double *activity)
{
	double size = 1;

	*activity = 0;
	for (uint32_t i = m->begin[row]; i < m->begin[row + 1]; i++) {
		double term = m->coefficient[i] * x[m->column[i]];

		*activity += term;
		size = fmax(size, fabs(term));
	}
	return size;
}

static bool check_bounds(const struct sl_mip *m, double *x, bool relax, struct sl_error *err)
{
	char buffer[64];

	for (uint32_t c = 0; c < m->columns; c++) {
		double slack = SL_MIP_FEASIBILITY * fmax(1, fabs(x[c])), whole = nearbyint(x[c]);

		if (!isfinite(x[c]))
			return !sl_fail(err, SL_EINVAL, "%s is %g", sl_mip_column_text(m, c, buffer), x[c]);
		if (m->integer[c] && !relax) {
			if (fabs(x[c] - whole) > SL_MIP_INTEGRALITY)
				return !sl_fail(err, SL_EINVAL, "%s is %.9g, expected an integer",
						sl_mip_column_text(m, c, buffer), x[c]);
			x[c] = whole;
		}
		if (x[c] < m->lb[c] - slack || x[c] > m->ub[c] + slack)
			return !sl_fail(err, SL_EINVAL, "%s is %.9g, expected %.9g to %.9g",
					sl_mip_column_text(m, c, buffer), x[c], m->lb[c], m->ub[c]);
		if (!m->integer[c] || relax)
			x[c] = fmin(fmax(x[c], m->lb[c]), m->ub[c]);
	}
	return true;
}

/* True if x keeps bounds, rows and (unless *relax*) integrality; then its objective is in *objective.  Rounds integer
 * columns in place.  False: *err names a violation. */
static bool verify(const struct sl_mip *m, double *x, bool relax, double *objective, struct sl_error *err)
{
	char buffer[64];
	double sum = 0;

	if (!check_bounds(m, x, relax, err))
		return false;
	for (uint32_t row = 0; row < m->rows; row++) {
		double activity, slack = SL_MIP_FEASIBILITY * row_size(m, row, x, &activity);

		if (activity < m->lo[row] - slack || activity > m->hi[row] + slack)
			return !sl_fail(err, SL_EINVAL, "%s is %.9g, expected %.9g to %.9g",
					sl_mip_row_text(m, row, buffer), activity, m->lo[row], m->hi[row]);
	}
	for (uint32_t c = 0; c < m->columns; c++)
		sum += m->obj[c] * x[c];
	*objective = sum;
	return true;
}

/* -- without a solver ------------------------------------------------------ */

static double best_value(const struct sl_mip *m, uint32_t c)
{
	bool up = (m->obj[c] > 0) == m->maximize;

	if (m->obj[c] == 0)
		return fmin(fmax(0, m->lb[c]), m->ub[c]);
	return up ? m->ub[c] : m->lb[c];
}

/* The objective with every column at its best bound; NAN if that is infinite. */
static double trivial_bound(const struct sl_mip *m)
{
	double sum = 0;

	for (uint32_t c = 0; c < m->columns; c++)
		sum += m->obj[c] == 0 ? 0 : m->obj[c] * best_value(m, c);
	return isfinite(sum) ? sum : NAN;
}

/* True if no solution can exist: a row cannot reach its range, or an integer column has no integer within its bounds.  The
 * message says which. */
static bool proven_infeasible(const struct sl_mip *m, bool relax, char message[256])
{
	char buffer[64];

	for (uint32_t c = 0; c < m->columns; c++)
		if (m->integer[c] && !relax &&
		    floor(m->ub[c] + SL_MIP_INTEGRALITY) < ceil(m->lb[c] - SL_MIP_INTEGRALITY)) {
			snprintf(message, 256, "%s has no integer between %.9g and %.9g",
				 sl_mip_column_text(m, c, buffer), m->lb[c], m->ub[c]);
			return true;
		}
	for (uint32_t row = 0; row < m->rows; row++) {
		double least = 0, most = 0, size = 1;

		for (uint32_t i = m->begin[row]; i < m->begin[row + 1]; i++) {
			double a = m->coefficient[i], lb = m->lb[m->column[i]], ub = m->ub[m->column[i]];

			if (a == 0)
				continue;
			least += a > 0 ? a * lb : a * ub;
			most += a > 0 ? a * ub : a * lb;
			size = fmax(size, fabs(a) * fmax(isfinite(lb) ? fabs(lb) : 0, isfinite(ub) ? fabs(ub) : 0));
		}
		size *= SL_MIP_FEASIBILITY;
		if (least > m->hi[row] + size || most < m->lo[row] - size) {
			snprintf(message, 256, "%s is %.9g to %.9g with every column at a bound, expected %.9g to %.9g",
				 sl_mip_row_text(m, row, buffer), least, most, m->lo[row], m->hi[row]);
			return true;
		}
	}
	return false;
}

static double *new_values(const struct sl_mip *m, struct sl_error *err)
{
	double *x = malloc(m->columns * sizeof(*x));

	if (!x)
		sl_fail(err, SL_ENOMEM, "out of memory for %u values", m->columns);
	return x;
}

/* Solve a model without rows. */
static int solve_bounds(const struct sl_mip *m, bool relax, struct sl_mip_result *r, struct sl_error *err)
{
	char buffer[64];

	r->source = "bounds";
	r->values = new_values(m, err);
	if (!r->values)
		return -1;
	for (uint32_t c = 0; c < m->columns; c++) {
		double v = best_value(m, c);

		if (m->integer[c] && !relax && isfinite(v))
			v = v == m->ub[c] ? floor(v + SL_MIP_INTEGRALITY) : ceil(v - SL_MIP_INTEGRALITY);
		if (!isfinite(v)) {
			r->status = SL_MIP_ERROR;
			snprintf(r->message, sizeof(r->message), "unbounded: nothing limits %s",
				 sl_mip_column_text(m, c, buffer));
			free(r->values);
			r->values = NULL;
			return 0;
		}
		r->values[c] = v;
	}
	verify(m, r->values, relax, &r->objective, NULL);
	r->bound = r->objective;
	r->gap = 0;
	r->status = SL_MIP_OPTIMAL;
	return 0;
}

double sl_mip_iteration_s(const struct sl_mip *m)
{
	return ((double) m->columns + m->rows + m->terms) / SL_MIP_WORK_A_SECOND;
}

static uint64_t hung;

uint64_t sl_mip_hung(void)
{
	return hung;
}

static double solver_s;

double sl_mip_solver_s(void)
{
	return solver_s;
}

/* -- judging an answer --------------------------------------------------- */

struct judgement {
	const struct sl_mip *m;
	const struct sl_mip_options *o;
	const struct sl_mip_backend *backend;	/* NULL: none */
	const double *start;			/* verified, or NULL */
	double start_objective;
	const struct sl_mip_answer *a;
	const struct sl_mip_report *report;
	struct sl_mip_result *r;
	bool wrong;				/* the answer contradicts itself or the model */
	bool as_good;				/* the start was taken although the solver's solution is as good */
};

static void add_message(struct sl_mip_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_message(struct sl_mip_result *r, const char *fmt, ...)
{
	size_t n = strlen(r->message);
	va_list ap;

	if (n && n < sizeof(r->message) - 3)
		n += (size_t) snprintf(r->message + n, sizeof(r->message) - n, "; ");
	va_start(ap, fmt);
	vsnprintf(r->message + n, sizeof(r->message) - n, fmt, ap);
	va_end(ap);
}

/* The least difference by which a solution is better than one worth *objective*. */
static double slack_of(double objective)
{
	return 1e-9 * fmax(1, fabs(objective));
}

static bool is_better(const struct sl_mip *m, double a, double b)
{
	return m->maximize ? a > b + slack_of(b) : a < b - slack_of(b);
}

/* Take the solver's values if they are a solution. */
static bool take_values(struct judgement *j)
{
	struct sl_error err;
	double objective;

	if (!j->a->has_values)
		return false;
	memcpy(j->r->values, j->a->x, j->m->columns * sizeof(double));
	if (!verify(j->m, j->r->values, j->o->relax, &objective, &err)) {
		j->wrong = true;
		add_message(j->r, "%s gave a wrong answer: %s", j->backend->name, err.text);
		return false;
	}
	j->r->objective = objective;
	j->r->source = j->backend->name;
	return true;
}

/* Take the start unless the solver has something better.  *have*: the solver's values were taken.  Of equal solutions the
 * start is preferred, because which of them a solver finds depends on its version. */
static bool take_start(struct judgement *j, bool have)
{
	if (!j->start || j->o->relax || (have && is_better(j->m, j->r->objective, j->start_objective)))
		return have;
	j->as_good = have && !is_better(j->m, j->start_objective, j->r->objective);
	memcpy(j->r->values, j->start, j->m->columns * sizeof(double));
	j->r->objective = j->start_objective;
	j->r->source = "start";
	return true;
}

/* Take the tightest known bound, or NAN.  If the solution is better than the solver's bound, that bound is wrong. */
static void take_bound(struct judgement *j, bool have)
{
	double own = trivial_bound(j->m), bound = j->wrong || !isfinite(j->a->bound) ? NAN : j->a->bound;
	struct sl_mip_result *r = j->r;

	if (have && !isnan(bound) &&
	    (j->m->maximize ? bound < r->objective : bound > r->objective)) {
		if (fabs(bound - r->objective) > 1e-6 * fmax(1, fabs(r->objective))) {
			j->wrong = true;
			add_message(r, "%s gave a wrong bound: %.9g", j->backend->name, bound);
			bound = NAN;
		} else {
			bound = r->objective;
		}
	}
	if (isnan(bound) || (!isnan(own) && is_better(j->m, bound, own)))
		bound = own;
	r->bound = bound;
	if (have && !isnan(bound))
		r->gap = bound == r->objective ? 0 : fabs(bound - r->objective) / fmax(fabs(r->objective), 1e-10);
}

static void tell_end(struct judgement *j)
{
	const struct sl_mip_report *e = j->report;
	struct sl_mip_result *r = j->r;

	if (j->a->message[0])
		add_message(r, "%.*s", (int) strnlen(j->a->message, sizeof(j->a->message)), j->a->message);
	switch (e->end) {
	case SL_END_ANSWERED:
		break;
	case SL_END_DEADLINE:
		r->hung = !j->o->clock;
		hung += r->hung;
		add_message(r, r->hung ? "the solver was ended by the clock, before its work was done" :
			    "the solver was ended at its time limit");
		break;
	case SL_END_SIGNAL:
		add_message(r, "the solver was ended by signal %d (%s)%s", e->status, strsignal(e->status),
			    e->status == SIGABRT || e->status == SIGSEGV ? ", as when memory_mb is too little" :
			    e->status == SIGKILL ? ", as by the kernel when memory runs out" : "");
		break;
	case SL_END_EXIT:
		add_message(r, "the solver ended with status %d", e->status);
		break;
	case SL_END_NOT_STARTED:
		add_message(r, "no process for the solver: %s", strerror(e->status));
		break;
	}
}

/* The status if there is a solution. */
static enum sl_mip_status status_with(const struct judgement *j)
{
	const struct sl_mip_result *r = j->r;
	bool all = j->report->end == SL_END_ANSWERED && !j->wrong, from_start = !strcmp(r->source, "start");

	if (!isnan(r->gap) && r->gap <= j->o->gap + 1e-9)
		return SL_MIP_OPTIMAL;
	/* the claim "optimal" is about the solver's own solution: if the start was better it proves nothing */
	if (all && (!from_start || j->as_good) && j->a->claim == SL_CLAIM_OPTIMAL)
		return SL_MIP_OPTIMAL;
	/* the solver was asked for something better than the start and has proven that nothing is */
	if (all && from_start && j->a->claim == SL_CLAIM_INFEASIBLE && j->backend->proves_infeasible)
		return SL_MIP_OPTIMAL;
	return SL_MIP_FEASIBLE;
}

static enum sl_mip_status status_without(const struct judgement *j)
{
	if (j->wrong || j->report->end == SL_END_SIGNAL || j->report->end == SL_END_EXIT ||
	    j->report->end == SL_END_NOT_STARTED)
		return SL_MIP_ERROR;
	if (j->report->end == SL_END_DEADLINE)
		return SL_MIP_NO_SOLUTION;
	switch (j->a->claim) {
	case SL_CLAIM_INFEASIBLE:
		if (j->backend->proves_infeasible)
			return SL_MIP_INFEASIBLE;
		add_message(j->r, "%s says infeasible or unbounded, and cannot tell", j->backend->name);
		return SL_MIP_NO_SOLUTION;
	case SL_CLAIM_UNBOUNDED:
		add_message(j->r, "unbounded");
		return SL_MIP_ERROR;
	case SL_CLAIM_STOPPED:
		if (j->backend->proves_infeasible)
			add_message(j->r, "no solution within the limits");
		else
			add_message(j->r, "%s found none and does not tell why: infeasible, unbounded, or a limit",
				    j->backend->name);
		return SL_MIP_NO_SOLUTION;
	case SL_CLAIM_FAILED:
		return SL_MIP_ERROR;
	default:
		add_message(j->r, "%s ended without an answer", j->backend->name);
		return SL_MIP_ERROR;
	}
}

static void judge_answer(struct judgement *j)
{
	struct sl_mip_result *r = j->r;
	bool have;

	r->nodes = j->a->nodes > 0 ? j->a->nodes : 0;
	r->work = (double) (j->a->iterations > 0 ? j->a->iterations : 0) * sl_mip_iteration_s(j->m);
	r->seconds = j->report->seconds;
	r->wall = j->report->wall;
	tell_end(j);
	have = take_start(j, take_values(j));
	take_bound(j, have);
	if (have) {
		r->status = status_with(j);
		/* the solver gave no bound but says "optimal": the objective is the bound */
		if (r->status == SL_MIP_OPTIMAL && isnan(r->bound)) {
			r->bound = r->objective;
			r->gap = 0;
		}
		return;
	}
	r->objective = r->gap = NAN;
	r->status = status_without(j);
	free(r->values);
	r->values = NULL;
}

/* -- solving ------------------------------------------------------------- */

static int check_options(const struct sl_mip *m, const struct sl_mip_options *o, struct sl_error *err)
{
	if (!m->columns)
		return sl_fail(err, SL_EINVAL, "the model is empty: it has no column");
	if (!(o->time_limit > 0 && o->time_limit <= 1e6))
		return sl_fail(err, SL_EINVAL, "time_limit: expected more than 0 and up to 1e6 seconds, got %g",
			       o->time_limit);
	if (!(o->gap >= 0 && o->gap <= 1))
		return sl_fail(err, SL_EINVAL, "gap: expected 0 to 1, got %g", o->gap);
	return 0;
}

/* Make a verified copy of the start; NULL if there is none.  A wrong one is reported and left out. */
static int make_start(const struct sl_mip *m, const struct sl_mip_options *o, double **start, double *objective,
		      struct sl_mip_result *r, struct sl_error *err)
{
	struct sl_error why;

	*start = NULL;
	if (!m->start || o->relax)
		return 0;
	if (m->start_columns != m->columns) {
		add_message(r, "the start is left out: %u values, %u columns", m->start_columns, m->columns);
		return 0;
	}
	*start = new_values(m, err);
	if (!*start)
		return -1;
	memcpy(*start, m->start, m->columns * sizeof(double));
	if (verify(m, *start, false, objective, &why))
		return 0;
	add_message(r, "the start is left out: %s", why.text);
	free(*start);
	*start = NULL;
	return 0;
}

/* Without a backend: the start, if there is one, is the result. */
static void solve_without(const struct sl_mip *m, const struct sl_mip_options *o, double *start, double objective,
			  const struct sl_error *why, struct sl_mip_result *r)
{
	r->bound = trivial_bound(m);
	add_message(r, "%s", why->code ? why->text : "no solver in this program");
	r->status = why->code ? SL_MIP_ERROR : SL_MIP_NO_SOLUTION;
	if (!start)
		return;
	r->values = start;
	r->objective = objective;
	r->source = "start";
	r->gap = isnan(r->bound) ? NAN : fabs(r->bound - objective) / fmax(fabs(objective), 1e-10);
	r->status = r->gap <= o->gap ? SL_MIP_OPTIMAL : SL_MIP_FEASIBLE;
}

/* Keep the relaxation's result for a later search of the same model. */
static void note_relaxed(struct sl_mip *m, const struct sl_mip_backend *backend, const struct sl_mip_answer *a,
			 const struct sl_mip_report *report)
{
	if (report->end == SL_END_ANSWERED && a->claim == SL_CLAIM_OPTIMAL && isfinite(a->bound) && a->iterations >= 0)
		m->relaxed = (struct sl_mip_relaxed) { backend, a->bound, a->iterations };
}

/* Take the start if it is proven that nothing is better. */
static bool take_proven(const struct sl_mip *m, double *start, double objective, struct sl_mip_result *r)
{
	if (!start || !sl_mip_is_best(m, objective, slack_of(objective)))
		return false;
	r->values = start;
	r->objective = r->bound = objective;
	r->gap = 0;
	r->status = SL_MIP_OPTIMAL;
	r->source = "start";
	return true;
}

static int solve_with(struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		      const double *start, double objective, struct sl_mip_result *r, struct sl_error *err)
{
	struct sl_mip_answer *a = sl_mip_answer_map(m->columns, err);
	struct sl_mip_report report = { 0 };
	struct judgement j = { m, o, backend, start, objective, a, &report, r, false, false };

	r->values = new_values(m, err);
	if (!a || !r->values) {
		sl_mip_answer_unmap(a, m->columns);
		sl_mip_result_clear(r);
		return -1;
	}
	if (sl_mip_has_server() && !o->fake) {
		sl_mip_ask(m, o, number_of(backend), start, objective, a, &report);
	} else if (!sl_mip_run_kept(m, o, backend, start, objective, a, &report)) {
		solver_s += report.seconds;
		sl_mip_run(m, o, backend, start, objective, a, &report);
	}
	solver_s += report.seconds;
	if (o->relax)
		note_relaxed(m, backend, a, &report);
	judge_answer(&j);
	sl_mip_answer_unmap(a, m->columns);
	return 0;
}

int sl_mip_solve(struct sl_mip *m, const struct sl_mip_options *o, struct sl_mip_result *r, struct sl_error *err)
{
	const struct sl_mip_backend *backend;
	struct sl_error why = { 0 };
	double *start, objective = NAN;
	int rc = 0;

	*r = (struct sl_mip_result) { .objective = NAN, .bound = NAN, .gap = NAN, .source = "",
				      .columns = m->columns };
	if (check_options(m, o, err))
		return -1;
	backend = o->fake ? o->fake : find_backend(o->backend, &why);
	if (why.code == SL_ENOENT) {
		*err = why;
		return -1;
	}
	if (proven_infeasible(m, o->relax, r->message)) {
		r->status = SL_MIP_INFEASIBLE;
		r->source = "bounds";
		return 0;
	}
	if (!m->rows)
		return solve_bounds(m, o->relax, r, err);
	if (make_start(m, o, &start, &objective, r, err))
		return -1;
	if (take_proven(m, start, objective, r))
		return 0;
	if (!backend) {
		solve_without(m, o, start, objective, &why, r);
		return 0;
	}
	rc = solve_with(m, o, backend, start, objective, r, err);
	free(start);
	return rc;
}

void sl_mip_result_clear(struct sl_mip_result *r)
{
	free(r->values);
	r->values = NULL;
}
