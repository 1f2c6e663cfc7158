/* SPDX-License-Identifier: MIT */
/* Solvers that do everything a solver should not; and the real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "mip/private.h"
#include "t/random.h"

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static struct sl_mip_options options(const struct sl_mip_backend *fake)
{
	return (struct sl_mip_options) { .time_limit = 60, .clock = true, .max_nodes = -1, .memory_mb = 512, .fake = fake };
}

/* max 10 a + 7 b + 25 c + 24 d, 2 a + b + 6 c + 5 d <= 7, binary: a and d, 34 */
static struct sl_mip *knapsack(void)
{
	static const double worth[] = { 10, 7, 25, 24 }, size[] = { 2, 1, 6, 5 };
	static const uint32_t column[] = { 0, 1, 2, 3 };
	static const char *const name[] = { "a", "b", "c", "d" };
	struct sl_mip *m = sl_mip_create(true, NULL, NULL);
	struct sl_mip_row cap = { column, size, 4, -INFINITY, 7, "cap" };
	struct sl_error err;

	for (int i = 0; i < 4; i++) {
		struct sl_mip_column c = { .ub = 1, .obj = worth[i], .integer = true, .name = name[i] };

		assert_int_equal(sl_mip_var(m, &c, &err), i);
	}
	assert_int_equal(sl_mip_add(m, &cap, &err), 0);
	return m;
}

/* Solve the knapsack, with a start worth 17 or without. */
static struct sl_mip_result solve(const struct sl_mip_options *o, bool start)
{
	static const double values[] = { 1, 1, 0, 0 };
	struct sl_mip *m = knapsack();
	struct sl_mip_result r;
	struct sl_error err;

	if (start)
		assert_int_equal(sl_mip_start(m, values, 4, &err), 0);
	assert_int_equal(sl_mip_solve(m, o, &r, &err), 0);
	sl_mip_destroy(m);
	return r;
}

static void check(const struct sl_mip_backend *fake, enum sl_mip_status expected, const char *message)
{
	struct sl_mip_options o = options(fake);
	struct sl_mip_result r = solve(&o, false);

	assert_string_equal(sl_mip_status_word(r.status), sl_mip_status_word(expected));
	assert_non_null(strstr(r.message, message));
	assert_true(r.values == NULL && isnan(r.objective));
	assert_true(r.bound == 66);		/* everything at its bound */
	/* with a start there is always something */
	r = solve(&o, true);
	assert_int_equal(r.status, SL_MIP_FEASIBLE);
	assert_string_equal(r.source, "start");
	assert_true(r.objective == 17 && r.values[0] == 1 && r.values[3] == 0);
	sl_mip_result_clear(&r);
	assert_true(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
}

/* -- what solvers may do ------------------------------------------------- */

#define FAKE(named, what) static const struct sl_mip_backend named = { .name = #named, .solve = what }

static void crash(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
	raise(SIGSEGV);
}
FAKE(crashing, crash);

static void leave(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	a->has_values = 0;
	_exit(3);
}
FAKE(leaving, leave);

static void do_nothing(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
}
FAKE(silent, do_nothing);

static void sleep_on(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		sleep(1);
}
FAKE(asleep, sleep_on);

static void eat_memory(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
	for (;;) {
		char *block = malloc(1 << 20);

		if (!block)
			abort();
		memset(block, 1, 1 << 20);
	}
}
FAKE(hungry, eat_memory);

static void say(struct sl_mip_answer *a, double a1, double b, double c, double d, double bound)
{
	a->x[0] = a1;
	a->x[1] = b;
	a->x[2] = c;
	a->x[3] = d;
	a->bound = bound;
	a->has_values = 1;
	a->claim = SL_CLAIM_OPTIMAL;
}

static void break_a_row(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	say(a, 1, 1, 1, 1, 66);
}
FAKE(greedy, break_a_row);

static void break_a_bound(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	say(a, 3, 0, 0, 0, 66);
}
FAKE(bold, break_a_bound);

static void be_fractional(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	say(a, 1, 1, 0, 0.8, 36.2);
}
FAKE(fractional, be_fractional);

static void say_nonsense(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	say(a, NAN, INFINITY, -1e300, 5, NAN);
	memset(a->message, 'x', sizeof(a->message));	/* no end */
	a->nodes = INT64_MIN;
	a->claim = 77;
}
FAKE(babbling, say_nonsense);

static void claim_infeasible(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	a->claim = SL_CLAIM_INFEASIBLE;
}
FAKE(pessimist, claim_infeasible);

static void understate_the_bound(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	if (p->relax)
		return;
	say(a, 1, 1, 0, 0, 12);
}
FAKE(modest, understate_the_bound);

/* Each thing that it can do sets a bit. */
static void reach_out(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	a->nodes |= open("/etc/passwd", O_RDONLY) >= 0 ? 1 : 0;
	a->nodes |= socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 2 : 0;
	a->nodes |= kill(getppid(), 0) == 0 ? 4 : 0;
	a->nodes |= fork() >= 0 ? 8 : 0;
	a->nodes |= write(1, "# a solver speaks\n", 18) > 0 ? 16 : 0;
	a->nodes |= fcntl(2, F_GETFD) >= 0 ? 32 : 0;
	a->claim = SL_CLAIM_STOPPED;
}
FAKE(escaping, reach_out);

/* As by the kernel when memory runs out, or by somebody. */
static void be_killed(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	(void) a;
	raise(SIGKILL);
}
FAKE(killed, be_killed);

static void know_it(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	say(a, 1, 0, 0, 1, 34);
}
FAKE(honest, know_it);

/* Of the relaxation only, and when time is up. */
static void answer_late(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	int64_t end = sl_clock_ns() + (int64_t) (p->time_limit * 1e9);

	while (sl_clock_ns() <= end)
		;
	a->claim = p->relax ? SL_CLAIM_INFEASIBLE : SL_CLAIM_STOPPED;
}
static const struct sl_mip_backend late = { .name = "late", .proves_infeasible = true, .solve = answer_late };

/* -- the tests ------------------------------------------------------------ */

static void a_solver_that_crashes_is_an_error(void **state)
{
	(void) state;
	check(&crashing, SL_MIP_ERROR, "ended by signal 11");
	check(&leaving, SL_MIP_ERROR, "ended with status 3");
	check(&killed, SL_MIP_ERROR, "ended by signal 9");
	check(&silent, SL_MIP_ERROR, "without an answer");
}

static void a_solver_that_sleeps_is_ended(void **state)
{
	struct sl_mip_options o = options(&asleep);
	struct sl_mip_result r;

	(void) state;
	o.time_limit = 0.5;	/* so long that it begins: a child without any time left does not */
	r = solve(&o, false);
	assert_int_equal(r.status, SL_MIP_NO_SOLUTION);
	assert_non_null(strstr(r.message, "ended at its time limit"));
	/* whatever its time limit is, it is over with the deadline */
	o.time_limit = 1e6;
	o.deadline_ns = sl_clock_ns() + 50000000;
	r = solve(&o, true);
	assert_int_equal(r.status, SL_MIP_FEASIBLE);
	assert_true(r.objective == 17);
	sl_mip_result_clear(&r);
	/* and not even begun after it */
	r = solve(&o, false);
	assert_int_equal(r.status, SL_MIP_NO_SOLUTION);
	assert_true(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
}

static void without_the_clock_a_net_ends_what_hangs_and_it_is_said(void **state)
{
	struct sl_mip_options o = options(&asleep);
	uint64_t hung = sl_mip_hung();
	struct sl_mip_result r;

	(void) state;
	o.clock = false;
	o.time_limit = 0.01;
	o.hangs_s = 0.05;
	r = solve(&o, false);
	assert_int_equal(r.status, SL_MIP_NO_SOLUTION);
	assert_non_null(strstr(r.message, "ended by the clock, before its work was done"));
	assert_true(r.hung);
	assert_int_equal(sl_mip_hung(), hung + 1);
	/* what the clock may end is no such case */
	o.clock = true;
	r = solve(&o, false);
	assert_false(r.hung);
	assert_int_equal(sl_mip_hung(), hung + 1);
}

/* max sum of c x, rows of random weights at most half of their sum: a search of many nodes */
static struct sl_mip *hard_program(void)
{
	struct sl_mip *m = sl_mip_create(true, NULL, NULL);
	uint32_t column[40];
	double weight[40];
	struct sl_error err;

	random_state = 7;
	for (uint32_t c = 0; c < 40; c++) {
		struct sl_mip_column col = { .ub = 1, .obj = 100 + below(2000) / 100.0, .integer = true };

		column[c] = c;
		assert_int_equal(sl_mip_var(m, &col, &err), c);
	}
	for (int r = 0; r < 8; r++) {
		struct sl_mip_row row = { column, weight, 40, -INFINITY, 0, NULL };

		for (uint32_t c = 0; c < 40; c++)
			row.hi += (weight[c] = 100 + below(5000) / 100.0) / 2;
		assert_true(sl_mip_add(m, &row, &err) >= 0);
	}
	return m;
}

static void work_ends_a_solve_and_is_the_same_each_time(void **state)
{
	struct sl_mip *m = hard_program();
	struct sl_mip_options o = options(NULL);
	struct sl_mip_result r, again;
	struct sl_error err;

	(void) state;
	o.clock = false;
	for (unsigned i = 0; sl_mip_backend_name(i); i++) {
		o.backend = sl_mip_backend_name(i);
		o.time_limit = 0.05;
		assert_int_equal(sl_mip_solve(m, &o, &r, &err), 0);
		assert_int_equal(sl_mip_solve(m, &o, &again, &err), 0);
		assert_int_equal(r.status, SL_MIP_FEASIBLE);
		assert_true(r.work > 0 && r.work == again.work && r.nodes == again.nodes);
		assert_memory_equal(r.values, again.values, r.columns * sizeof(*r.values));
		sl_mip_result_clear(&again);
		/* more work, more nodes */
		o.time_limit = 0.2;
		assert_int_equal(sl_mip_solve(m, &o, &again, &err), 0);
		assert_true(again.nodes > r.nodes && again.work > r.work);
		sl_mip_result_clear(&again);
		sl_mip_result_clear(&r);
		/* not even one iteration */
		o.time_limit = 1e-9;
		assert_int_equal(sl_mip_solve(m, &o, &r, &err), 0);
		assert_int_equal(r.status, SL_MIP_NO_SOLUTION);
		sl_mip_result_clear(&r);
	}
	sl_mip_destroy(m);
}

/* From so many places to as many others at the least cost: no integers, and more than a hundred iterations. */
#define PLACES 60

static struct sl_mip *transport(void)
{
	struct sl_mip *m = sl_mip_create(false, NULL, NULL);
	static const double one[PLACES] = { [0 ... PLACES - 1] = 1 };
	struct sl_error err;

	random_state = 7;
	for (uint32_t c = 0; c < PLACES * PLACES; c++) {
		struct sl_mip_column col = { .ub = 10, .obj = 1 + below(1000) };

		assert_int_equal(sl_mip_var(m, &col, &err), c);
	}
	for (uint32_t i = 0; i < 2 * PLACES; i++) {
		uint32_t column[PLACES];
		bool from = i < PLACES;
		struct sl_mip_row row = { column, one, PLACES, from ? -INFINITY : 5 + below(10), from ? 11 : INFINITY, NULL };

		for (uint32_t k = 0; k < PLACES; k++)
			column[k] = from ? i * PLACES + k : k * PLACES + i - PLACES;
		assert_true(sl_mip_add(m, &row, &err) >= 0);
	}
	return m;
}

static void a_relaxation_may_make_more_iterations_than_a_search(void **state)
{
	struct sl_mip *m = transport();
	struct sl_mip_options o = options(NULL);
	struct sl_mip_result r;
	struct sl_error err;

	(void) state;
	o.clock = false;
	o.relax = true;
	for (unsigned i = 0; sl_mip_backend_name(i); i++) {
		o.backend = sl_mip_backend_name(i);
		o.time_limit = 20 * sl_mip_iteration_s(m);
		assert_int_equal(sl_mip_solve(m, &o, &r, &err), 0);
		assert_int_equal(r.status, SL_MIP_OPTIMAL);
		assert_true(r.work < o.time_limit);
		sl_mip_result_clear(&r);
		/* it stops at its last one, but for Cbc */
		o.time_limit = 1.5 * sl_mip_iteration_s(m);
		assert_int_equal(sl_mip_solve(m, &o, &r, &err), 0);
		assert_int_equal(r.status, strcmp(o.backend, "cbc") ? SL_MIP_NO_SOLUTION : SL_MIP_OPTIMAL);
		sl_mip_result_clear(&r);
	}
	sl_mip_destroy(m);
}

static void what_is_said_of_the_relaxation_is_not_said_of_the_program(void **state)
{
	struct sl_mip_options o = options(&late);
	struct sl_mip_result r;

	(void) state;
	o.time_limit = 0.02;
	r = solve(&o, true);
	assert_int_equal(r.status, SL_MIP_FEASIBLE);
	assert_string_equal(r.source, "start");
	sl_mip_result_clear(&r);
}

static void a_solver_has_so_much_memory_and_no_more(void **state)
{
	struct sl_mip_options o = options(&hungry);
	struct sl_mip_result r;

	(void) state;
	if (sanitized) {
		print_message("# skipped: the sanitizer needs its memory\n");
		return;
	}
	o.memory_mb = 64;
	r = solve(&o, false);
	assert_int_equal(r.status, SL_MIP_ERROR);
	assert_non_null(strstr(r.message, "memory_mb is too little"));
}

static void wrong_answers_are_not_believed(void **state)
{
	(void) state;
	check(&greedy, SL_MIP_ERROR, "greedy gave a wrong answer: cap is 14, expected -inf to 7");
	check(&bold, SL_MIP_ERROR, "bold gave a wrong answer: a is 3, expected 0 to 1");
	check(&fractional, SL_MIP_ERROR, "fractional gave a wrong answer: d is 0.8, expected an integer");
	check(&babbling, SL_MIP_ERROR, "babbling gave a wrong answer: a is nan");
}

static void a_bound_that_the_solution_passes_is_none(void **state)
{
	struct sl_mip_options o = options(&modest);
	struct sl_mip_result r = solve(&o, false);

	(void) state;
	assert_int_equal(r.status, SL_MIP_FEASIBLE);
	assert_true(r.objective == 17 && r.bound == 66);
	assert_non_null(strstr(r.message, "modest gave a wrong bound: 12"));
	sl_mip_result_clear(&r);
}

static void infeasible_is_not_taken_from_who_cannot_prove_it(void **state)
{
	(void) state;
	check(&pessimist, SL_MIP_NO_SOLUTION, "cannot tell");
}

static void a_solver_reaches_nothing(void **state)
{
	struct sl_mip_options o = options(&escaping);
	struct sl_mip_result r;

	(void) state;
	if (sanitized) {
		print_message("# skipped: the sanitizer needs its files\n");
		return;
	}
	r = solve(&o, false);
	assert_int_equal(r.status, SL_MIP_NO_SOLUTION);
	assert_int_equal(r.nodes, 0);
}

static void a_good_answer_is_verified_and_rounded(void **state)
{
	struct sl_mip_options o = options(&honest);
	struct sl_mip_result r = solve(&o, false);

	(void) state;
	assert_int_equal(r.status, SL_MIP_OPTIMAL);
	assert_true(r.objective == 34 && r.bound == 34 && r.gap == 0 && r.values[3] == 1);
	assert_string_equal(r.source, "honest");
	sl_mip_result_clear(&r);
}

/* Resident memory in pages. */
static long pages(void)
{
	long total, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &total, &resident), 2);
	fclose(f);
	return resident;
}

static void nothing_is_left_of_many_solves(void **state)
{
	const struct sl_mip_backend *const all[] = { &honest, &crashing, &greedy, &leaving, &killed };
	const char *name = sl_mip_backend_name(0);
	const int solves = sanitized ? 500 : 10000;
	long before = 0;

	(void) state;
	for (int i = 0; i < solves; i++) {
		struct sl_mip_options o = options(all[i % 5]);
		struct sl_mip_result r;

		if (name && i % 25 == 0)
			o.fake = NULL;
		r = solve(&o, i % 3 == 0);
		sl_mip_result_clear(&r);
		if (i == 100)
			before = pages();
	}
	assert_true(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
	if (!sanitized)
		assert_in_range(pages(), 1, before + 64);
	/* no descriptor either: the next one is low */
	int fd = dup(0);
	assert_in_range(fd, 3, 16);
	close(fd);
}

/* The best of all 2^n choices. */
static double brute_force(const double *worth, const double *size, int n, double cap)
{
	double best = 0;

	for (int set = 0; set < 1 << n; set++) {
		double value = 0, taken = 0;

		for (int i = 0; i < n; i++)
			if (set >> i & 1) {
				value += worth[i];
				taken += size[i];
			}
		if (taken <= cap && value > best)
			best = value;
	}
	return best;
}

static void solvers_find_the_best_of_small_knapsacks(void **state)
{
	uint64_t seed = number_from("SL_SEED", 11);
	struct sl_error err;
	const char *name;

	(void) state;
	random_state = seed;
	print_message("# SL_SEED=%llu\n", (unsigned long long) seed);
	for (unsigned k = 0; (name = sl_mip_backend_name(k)); k++)
		for (int round = 0; round < 25; round++) {
			struct sl_mip *m = sl_mip_create(true, NULL, NULL);
			struct sl_mip_options o = options(NULL);
			struct sl_mip_result r;
			double worth[10], size[10], cap = 0;
			uint32_t column[10];

			for (int i = 0; i < 10; i++) {
				worth[i] = below(50);
				size[i] = below(30);
				cap += size[i] / 2;
				column[i] = (uint32_t) i;
				struct sl_mip_column c = { .ub = 1, .obj = worth[i], .integer = true };
				assert_int_equal(sl_mip_var(m, &c, &err), i);
			}
			struct sl_mip_row row = { column, size, 10, -INFINITY, cap, NULL };
			assert_int_equal(sl_mip_add(m, &row, &err), 0);
			o.backend = name;
			assert_int_equal(sl_mip_solve(m, &o, &r, &err), 0);
			assert_int_equal(r.status, SL_MIP_OPTIMAL);
			assert_true(fabs(r.objective - brute_force(worth, size, 10, cap)) < 1e-6);
			sl_mip_result_clear(&r);
			sl_mip_destroy(m);
		}
}

static void a_model_stays_as_it_was_when_something_is_refused(void **state)
{
	const uint32_t twice[] = { 0, 1, 0 };
	const double one[] = { 1, 1, 1 };
	struct sl_mip_row row = { twice, one, 3, -INFINITY, 1, "row" };
	struct sl_mip *m = knapsack();
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_mip_add(m, &row, &err), -1);
	assert_string_equal(err.text, "row: a is there twice");
	assert_int_equal(sl_mip_rows(m), 1);
	assert_int_equal(sl_mip_terms(m), 4);
	row.terms = 2;
	assert_int_equal(sl_mip_add(m, &row, &err), 1);
	assert_int_equal(sl_mip_terms(m), 6);
	sl_mip_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_stays_as_it_was_when_something_is_refused),
		cmocka_unit_test(a_good_answer_is_verified_and_rounded),
		cmocka_unit_test(wrong_answers_are_not_believed),
		cmocka_unit_test(a_bound_that_the_solution_passes_is_none),
		cmocka_unit_test(infeasible_is_not_taken_from_who_cannot_prove_it),
		cmocka_unit_test(a_solver_that_crashes_is_an_error),
		cmocka_unit_test(a_solver_that_sleeps_is_ended),
		cmocka_unit_test(without_the_clock_a_net_ends_what_hangs_and_it_is_said),
		cmocka_unit_test(work_ends_a_solve_and_is_the_same_each_time),
		cmocka_unit_test(a_relaxation_may_make_more_iterations_than_a_search),
		cmocka_unit_test(what_is_said_of_the_relaxation_is_not_said_of_the_program),
		cmocka_unit_test(a_solver_has_so_much_memory_and_no_more),
		cmocka_unit_test(a_solver_reaches_nothing),
		cmocka_unit_test(solvers_find_the_best_of_small_knapsacks),
		cmocka_unit_test(nothing_is_left_of_many_solves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
