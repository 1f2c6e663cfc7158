/* SPDX-License-Identifier: MIT */
/* A start is the answer unless there is something better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mip/private.h"

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
	struct sl_mip_row row = { column, size, columns, lo, hi, NULL };
	struct sl_error err;

	for (uint32_t c = 0; c < columns; c++)
		column[c] = c;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_equal_solutions_the_start_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
