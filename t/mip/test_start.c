/* SPDX-License-Identifier: MIT */
/* A start is the answer unless there is something better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <string.h>

#include <cmocka.h>

#include "mip/private.h"
#include "t/failing_malloc.h"
#include "t/random.h"

#define FAKE(named, what) static const struct sl_mip_backend named = { .name = #named, .solve = what }

static struct sl_mip_options options(const struct sl_mip_backend *fake)
{
	return (struct sl_mip_options) { .time_limit = 60, .max_nodes = -1, .memory_mb = 512, .fake = fake };
}

static void add_column(struct sl_mip *m, double ub, double worth)
{
	struct sl_mip_column c = { .ub = ub, .obj = worth, .integer = true };
	struct sl_error err;

	assert_true(sl_mip_var(m, &c, &err) >= 0);
}

static void add_row(struct sl_mip *m, const double *size, uint32_t columns, double lo, double hi)
{
	uint32_t column[64];
	double coefficient[64];
	struct sl_mip_row row = { column, coefficient, 0, lo, hi, NULL };
	struct sl_error err;

	for (uint32_t c = 0; c < columns; c++) {
		if (size[c] == 0)
			continue;
		column[row.terms] = c;
		coefficient[row.terms++] = size[c];
	}
	assert_true(sl_mip_add(m, &row, &err) >= 0);
}

static struct sl_mip_result solve_from(struct sl_mip *m, const double *start, const struct sl_mip_options *o)
{
	struct sl_mip_result r;
	struct sl_error err;

	assert_int_equal(sl_mip_start(m, start, sl_mip_columns(m), &err), 0);
	assert_int_equal(sl_mip_solve(m, o, &r, &err), 0);
	return r;
}

/* -- equal solutions -------------------------------------------------------- */

/* max 2 a + b, 2 a + b <= 2, a up to 1, b up to 2: {1, 0} and {0, 2} */
static struct sl_mip *two_solutions(void)
{
	static const double size[] = { 2, 1 };
	struct sl_mip *m = sl_mip_create(true, NULL, NULL);

	add_column(m, 1, 2);
	add_column(m, 2, 1);
	add_row(m, size, 2, -INFINITY, 2);
	return m;
}

static void answer(const struct sl_mip_problem *p, struct sl_mip_answer *a, double x, double y)
{
	a->claim = p->relax ? SL_CLAIM_STOPPED : SL_CLAIM_OPTIMAL;
	a->has_values = !p->relax;
	a->x[0] = x;
	a->x[1] = y;
}

static void take_first(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	answer(p, a, 1, 0);
}
FAKE(first, take_first);

static void take_second(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	answer(p, a, 0, 2);
}
FAKE(second, take_second);

static void take_little(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	answer(p, a, 0, 1);
}
FAKE(modest, take_little);

static void check_answer(const struct sl_mip_backend *fake, const double start[2], const double expected[2],
			 const char *source, enum sl_mip_status status)
{
	struct sl_mip_options o = options(fake);
	struct sl_mip *m = two_solutions();
	struct sl_mip_result r = solve_from(m, start, &o);

	assert_string_equal(r.source, source);
	assert_string_equal(sl_mip_status_word(r.status), sl_mip_status_word(status));
	assert_true(r.values[0] == expected[0] && r.values[1] == expected[1]);
	sl_mip_result_clear(&r);
	sl_mip_destroy(m);
}

static void of_equal_solutions_the_start_is_taken(void **state)
{
	static const double one[] = { 1, 0 }, other[] = { 0, 2 }, none[] = { 0, 0 };

	(void) state;
	check_answer(&second, one, one, "start", SL_MIP_OPTIMAL);
	check_answer(&first, other, other, "start", SL_MIP_OPTIMAL);
	/* what is better than the start is not lost */
	check_answer(&second, none, other, "second", SL_MIP_OPTIMAL);
	/* "optimal" is not believed of a worse one */
	check_answer(&modest, one, one, "start", SL_MIP_FEASIBLE);
}

/* -- proofs ------------------------------------------------------------------ */

#define MOST 10		/* columns that every choice of is tried */
#define MOST_ROWS 8

/* Columns that are taken or not, and rows of them, in the form that tests can look into. */
struct program {
	bool maximize;
	uint32_t columns, rows;
	double worth[64], size[MOST_ROWS][64], lo[MOST_ROWS], hi[MOST_ROWS];
};

static struct sl_mip *model_of(const struct program *p)
{
	struct sl_mip *m = sl_mip_create(p->maximize, NULL, NULL);

	for (uint32_t c = 0; c < p->columns; c++)
		add_column(m, 1, p->worth[c]);
	for (uint32_t r = 0; r < p->rows; r++)
		add_row(m, p->size[r], p->columns, p->lo[r], p->hi[r]);
	return m;
}

/* Numbers as of an auction of *kind*: whole, all the same, or fractions; or what no auction has. */
static double random_number(uint32_t kind)
{
	if (kind == 0)
		return (double) below(12);
	if (kind == 1)
		return 7;
	return (double) below(1000) / 8 + (kind == 3 && one_in(3) ? -60 : 0);
}

static void random_row(struct program *p, uint32_t kind)
{
	double sum = 0, *size = p->size[p->rows];

	for (uint32_t c = 0; c < p->columns; c++) {
		size[c] = one_in(3) ? 0 : fmax(random_number(kind), 0);
		sum += size[c];
	}
	p->lo[p->rows] = one_in(4) ? 0 : -INFINITY;
	p->hi[p->rows] = one_in(10) ? INFINITY : floor(sum * (1 + below(10)) / 11);
	p->rows++;
}

/* Some columns exclude each other, as bids of a job do. */
static void random_choice(struct program *p)
{
	uint32_t from = below(p->columns), to = from + 1 + below(4);

	for (uint32_t c = 0; c < p->columns; c++)
		p->size[p->rows][c] = c >= from && c < to;
	p->lo[p->rows] = -INFINITY;
	p->hi[p->rows++] = 1;
}

static struct program random_program(uint32_t columns)
{
	struct program p = { .maximize = !one_in(4), .columns = columns };
	uint32_t kind = below(4), rows = 1 + below(4);

	for (uint32_t c = 0; c < columns; c++)
		p.worth[c] = random_number(one_in(2) ? 1 : kind) * (p.maximize ? 1 : -1);
	for (uint32_t choices = below(4); choices; choices--)
		random_choice(&p);
	while (rows--)
		random_row(&p, below(3));
	return p;
}

/* What these columns, a bit for each, are worth; NAN where a row does not allow them. */
static double worth_of(const struct program *p, uint32_t columns)
{
	double worth = 0;

	for (uint32_t c = 0; c < p->columns; c++)
		worth += columns >> c & 1 ? p->worth[c] : 0;
	for (uint32_t r = 0; r < p->rows; r++) {
		double sum = 0;

		for (uint32_t c = 0; c < p->columns; c++)
			sum += columns >> c & 1 ? p->size[r][c] : 0;
		if (sum > p->hi[r])
			return NAN;
	}
	return worth;
}

static double better_of(const struct program *p, double a, double b)
{
	return isnan(b) ? a : p->maximize ? fmax(a, b) : fmin(a, b);
}

static double best_of_all(const struct program *p)
{
	double best = 0;

	for (uint32_t columns = 1; columns < 1u << p->columns; columns++)
		best = better_of(p, best, worth_of(p, columns));
	return best;
}

/* Of small packings all is known: a proof is found where there is one, and none where there is not. */
static void a_small_packing_is_proven_where_nothing_is_better(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), proven = 0, rounds = rounds_of(3000);

	(void) state;
	for (uint64_t i = 0; i < rounds; i++) {
		struct program p;
		struct sl_mip *m;
		double best;

		random_state = failing_seed = seed + i;
		p = random_program(1 + below(MOST));
		m = model_of(&p);
		best = best_of_all(&p);
		assert_true(sl_mip_is_best(m, best, 1e-9));
		assert_true(sl_mip_is_best(m, best + (p.maximize ? 1 : -1), 1e-9));
		for (uint32_t k = 0; k < 5; k++) {
			double some = worth_of(&p, below(1u << p.columns));

			if (isnan(some))
				continue;
			assert_int_equal(sl_mip_is_best(m, some, 1e-9), some == best);
			proven += some == best;
		}
		sl_mip_destroy(m);
	}
	failing_seed = 0;
	assert_true(proven > rounds / 20);
}

static void what_is_no_packing_is_not_judged(void **state)
{
	static const double size[] = { 1, 1 }, negative[] = { 1, -1 };
	struct sl_mip_column fraction = { .ub = 1, .obj = 1 };
	struct sl_error err;

	(void) state;
	for (int what = 0; what < 5; what++) {
		struct sl_mip *m = sl_mip_create(true, NULL, NULL);

		add_column(m, 1, 1);
		if (what == 1)
			assert_int_equal(sl_mip_var(m, &fraction, &err), 1);
		else
			add_column(m, what == 2 ? 2 : 1, 1);
		add_row(m, what == 3 ? negative : size, 2, what == 4 ? 1 : -INFINITY, 2);
		/* it would be true of all of them */
		assert_int_equal(sl_mip_is_best(m, 100, 1e-9), what == 0);
		sl_mip_destroy(m);
	}
}

/* The same program, and one column more that makes it no packing: the slow way is a search, whose start is only a start. */
static struct sl_mip *slow_model_of(const struct program *p)
{
	struct sl_mip *m = model_of(p);

	add_column(m, 2, 0);
	return m;
}

/* One after the other, whatever fits. */
static void take_in_turn(const struct program *p, double start[64])
{
	uint32_t taken = 0;

	for (uint32_t c = 0; c < p->columns; c++) {
		start[c] = p->worth[c] != 0 && !isnan(worth_of(p, taken | 1u << c)) &&
			better_of(p, 0, p->worth[c]) != 0;
		taken |= start[c] > 0 ? 1u << c : 0;
	}
	start[p->columns] = 0;
}

static void check_both_ways(const struct program *p, const struct sl_mip_options *o, uint64_t *proven)
{
	struct sl_mip *quick = model_of(p), *slow = slow_model_of(p);
	double start[64];
	struct sl_mip_result a, b;

	take_in_turn(p, start);
	a = solve_from(quick, start, o);
	b = solve_from(slow, start, o);
	assert_int_equal(a.status, SL_MIP_OPTIMAL);
	assert_int_equal(b.status, SL_MIP_OPTIMAL);
	assert_string_equal(a.source, b.source);
	assert_true(fabs(a.objective - b.objective) <= 1e-9 * fmax(1, fabs(a.objective)));
	if (!strcmp(a.source, "start")) {
		assert_memory_equal(a.values, b.values, p->columns * sizeof(double));
		assert_true(a.gap == 0 && a.bound == a.objective && a.nodes == 0);
		*proven += a.work == 0;
	}
	sl_mip_result_clear(&a);
	sl_mip_result_clear(&b);
	sl_mip_destroy(quick);
	sl_mip_destroy(slow);
}

static void a_proven_start_is_what_each_solver_ends_at(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), proven = 0, rounds = rounds_of(100);
	struct sl_mip_options o = options(NULL);

	(void) state;
	sl_mip_keep();
	for (unsigned k = 0; sl_mip_backend_name(k); k++) {
		o.backend = sl_mip_backend_name(k);
		for (uint64_t i = 0; i < rounds; i++) {
			struct program p;

			random_state = failing_seed = seed + i;
			p = random_program(1 + below(14));
			check_both_ways(&p, &o, &proven);
		}
	}
	sl_mip_release();
	failing_seed = 0;
	assert_true(!sl_mip_backend_name(0) || proven > rounds / 4);
}

static void crash(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
	raise(SIGSEGV);
}
FAKE(crashing, crash);

static void a_proven_start_needs_no_solver(void **state)
{
	static const double start[] = { 1, 0, 0 }, worse[] = { 0, 0, 0 };
	struct program p = { .maximize = true, .columns = 3, .rows = 1, .worth = { 5, 5, 5 }, .size = { { 4, 3, 2 } },
			     .lo = { -INFINITY }, .hi = { 4 } };
	struct sl_mip_options o = options(&crashing);
	struct sl_mip *m = model_of(&p);
	struct sl_mip_result r = solve_from(m, start, &o);

	(void) state;
	assert_int_equal(r.status, SL_MIP_OPTIMAL);
	assert_string_equal(r.source, "start");
	assert_true(r.objective == 5 && r.bound == 5 && r.gap == 0 && r.work == 0 && r.values[0] == 1);
	sl_mip_result_clear(&r);
	/* the solver is asked where there is something better */
	r = solve_from(m, worse, &o);
	assert_int_equal(r.status, SL_MIP_FEASIBLE);
	assert_non_null(strstr(r.message, "ended by signal 11"));
	sl_mip_result_clear(&r);
	/* and a relaxation has no start */
	o.relax = true;
	r = solve_from(m, start, &o);
	assert_int_equal(r.status, SL_MIP_ERROR);
	sl_mip_destroy(m);
}

/* Forty columns of about the same worth and random sizes: too many choices for the work that a proof may do. */
static void a_large_program_is_given_up_after_some_work(void **state)
{
	struct program p = { .maximize = true, .columns = 40, .rows = MOST_ROWS };
	struct sl_mip *m;

	(void) state;
	random_state = 7;
	for (uint32_t c = 0; c < p.columns; c++)
		p.worth[c] = 100 + below(2000) / 100.0;
	for (uint32_t r = 0; r < p.rows; r++) {
		p.lo[r] = -INFINITY;
		p.hi[r] = 1000;
		for (uint32_t c = 0; c < p.columns; c++)
			p.size[r][c] = 10 + below(90);
	}
	m = model_of(&p);
	/* no choice is worth as much, but the work that is allowed does not show it */
	assert_false(sl_mip_is_best(m, 2350, 1e-9));
	assert_true(sl_mip_is_best(m, 40 * 120, 1e-9));
	sl_mip_destroy(m);
}

/* Every allocation fails in turn.  No solver is there, so that a start that is not proven is only feasible. */
static void a_proof_without_memory_is_none(void **state)
{
	static const double start[] = { 1, 0, 0 };
	struct program p = { .maximize = true, .columns = 3, .rows = 1, .worth = { 5, 5, 5 }, .size = { { 4, 3, 2 } },
			     .lo = { -INFINITY }, .hi = { 4 } };
	struct sl_mip_options o = options(NULL);
	struct sl_mip *m = model_of(&p);
	unsigned feasible = 0;
	struct sl_error err;

	(void) state;
	o.backend = "none";
	assert_int_equal(sl_mip_start(m, start, sl_mip_columns(m), &err), 0);
	for (long n = 0, left = -1; left < 0; n++) {
		struct sl_mip_result r;
		int rc;

		countdown = n;
		rc = sl_mip_solve(m, &o, &r, &err);
		left = countdown;
		countdown = -1;
		if (rc) {
			assert_true(left < 0 && err.code == SL_ENOMEM);
			continue;
		}
		assert_true(r.objective == 5 && r.values[0] == 1);
		assert_string_equal(r.source, "start");
		assert_int_equal(r.status, left < 0 ? SL_MIP_FEASIBLE : SL_MIP_OPTIMAL);
		feasible += left < 0;
		sl_mip_result_clear(&r);
	}
	assert_int_equal(feasible, 1);
	sl_mip_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_equal_solutions_the_start_is_taken),
		cmocka_unit_test_teardown(a_small_packing_is_proven_where_nothing_is_better, say_seed),
		cmocka_unit_test(what_is_no_packing_is_not_judged),
		cmocka_unit_test_teardown(a_proven_start_is_what_each_solver_ends_at, say_seed),
		cmocka_unit_test(a_proven_start_needs_no_solver),
		cmocka_unit_test(a_large_program_is_given_up_after_some_work),
		cmocka_unit_test(a_proof_without_memory_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
