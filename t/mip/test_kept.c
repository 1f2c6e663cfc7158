/* SPDX-License-Identifier: MIT */
/* A solver's process that is kept gives the answers of one that is not, whatever happens to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "mip/private.h"
#include "t/random.h"

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static struct sl_mip_options options(const struct sl_mip_backend *fake)
{
	return (struct sl_mip_options) { .time_limit = 60, .max_nodes = -1, .memory_mb = 512, .fake = fake };
}

/* max a + b, a + b <= 1, binary: two solutions, of which a solver has to say which */
static struct sl_mip *make_twins(void)
{
	static const uint32_t column[] = { 0, 1 };
	static const double one[] = { 1, 1 };
	struct sl_mip *m = sl_mip_create(true, NULL, NULL);
	struct sl_mip_row row = { column, one, 2, -INFINITY, 1, NULL };
	struct sl_error err;

	for (int i = 0; i < 2; i++)
		assert_int_equal(sl_mip_var(m, &(struct sl_mip_column) { .ub = 1, .obj = 1, .integer = true }, &err), i);
	assert_int_equal(sl_mip_add(m, &row, &err), 0);
	return m;
}

static struct sl_mip_result solve_twins(const struct sl_mip_backend *fake, double hangs_s)
{
	struct sl_mip *m = make_twins();
	struct sl_mip_options o = options(fake);
	struct sl_mip_result r;
	struct sl_error err;

	o.hangs_s = hangs_s;
	assert_int_equal(sl_mip_solve(m, &o, &r, &err), 0);
	sl_mip_destroy(m);
	return r;
}

/* -- what solvers may do; *solves*: of this process ------------------------- */

#define FAKE(named, what) static const struct sl_mip_backend named = { .name = #named, .solve = what }

static int solves;

/* b, and as the number of nodes who it was */
static void answer(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p;
	a->x[0] = 0;
	a->x[1] = 1;
	a->bound = 1;
	a->nodes = getpid();
	a->has_values = 1;
	a->claim = SL_CLAIM_OPTIMAL;
	solves++;
}
FAKE(honest, answer);

#define BURNT_S 0.02

static void burn(void)
{
	clock_t begin = clock();

	while ((double) (clock() - begin) < BURNT_S * CLOCKS_PER_SEC)
		;
}

static void crash_in_the_third(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	if (solves == 2) {
		burn();
		raise(SIGSEGV);
	}
	answer(p, a);
}
FAKE(crashing, crash_in_the_third);

static void give_up_after_the_first(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	answer(p, a);
	if (solves > 1) {
		burn();
		a->claim = SL_CLAIM_FAILED;
	}
}
FAKE(failing, give_up_after_the_first);

static void leave_after_the_first(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	if (solves == 1)
		_exit(0);
	answer(p, a);
}
FAKE(leaving, leave_after_the_first);

static void crash(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
	raise(SIGSEGV);
}
FAKE(always_crashing, crash);

static void hang_in_the_second(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	while (solves == 1)
		pause();
	answer(p, a);
}
FAKE(hanging, hang_in_the_second);

static _Atomic pid_t *stuck_one;		/* shared */

static void say_who_and_hang(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
	*stuck_one = getpid();
	for (;;)
		pause();
}
FAKE(stuck, say_who_and_hang);

static void leak(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	char *block = malloc((size_t) 40 << 20);

	if (!block)
		abort();
	memset(block, 1, (size_t) 40 << 20);
	answer(p, a);
}
FAKE(leaking, leak);

/* Takes more than an options' memory_mb, and gives it back. */
static void take_much(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	char *volatile block = malloc((size_t) 600 << 20);

	if (!block)
		abort();
	free(block);
	answer(p, a);
}
FAKE(large, take_much);

static _Atomic int *relaxations;		/* that were asked for; shared */

static void count_relaxations(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	*relaxations += p->relax;
	answer(p, a);
}
FAKE(counting, count_relaxations);

/* Says on the socket that it is done before it is, and with another number. */
static void speak_out_of_turn(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	uint32_t junk = 12345;

	answer(p, a);
	if (write(3, &junk, sizeof(junk)) == sizeof(junk))
		a->x[1] = 5;		/* which nobody may believe */
}
FAKE(babbling, speak_out_of_turn);

static void reach_out(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	answer(p, a);
	a->nodes = (kill(getppid(), 0) == 0 ? 1 : 0) | (fork() >= 0 ? 2 : 0) | (write(1, "#\n", 2) > 0 ? 4 : 0) |
		(write(2, "#\n", 2) > 0 ? 8 : 0) | (dup(3) >= 0 ? 16 : 0);
}
FAKE(escaping, reach_out);

/* -- the process ------------------------------------------------------------ */

static int64_t solved_by(const struct sl_mip_backend *fake)
{
	struct sl_mip_result r = solve_twins(fake, 0);
	int64_t who = r.nodes;

	assert_int_equal(r.status, SL_MIP_OPTIMAL);
	assert_true(r.values[0] == 0 && r.values[1] == 1 && r.objective == 1);
	sl_mip_result_clear(&r);
	return who;
}

static void nobody_is_left(void)
{
	assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void a_process_solves_one_program_after_the_other_where_that_is_wanted(void **state)
{
	int64_t first, second;

	(void) state;
	first = solved_by(&honest);
	assert_int_not_equal(solved_by(&honest), first);
	nobody_is_left();
	sl_mip_keep();
	first = solved_by(&honest);
	for (int i = 0; i < 5; i++)
		assert_int_equal(solved_by(&honest), first);
	/* calls nest */
	sl_mip_keep();
	sl_mip_release();
	assert_int_equal(solved_by(&honest), first);
	sl_mip_release();
	nobody_is_left();
	sl_mip_keep();
	second = solved_by(&honest);
	assert_int_not_equal(second, first);
	sl_mip_release();
	nobody_is_left();
}

static void another_solver_gets_a_process_of_its_own(void **state)
{
	int64_t first, other;

	(void) state;
	sl_mip_keep();
	first = solved_by(&honest);
	other = solved_by(&failing);
	assert_int_not_equal(other, first);
	/* the first one is gone, and waited for */
	assert_true(kill((pid_t) first, 0) < 0 && errno == ESRCH);
	sl_mip_release();
	nobody_is_left();
}

static void after_many_solves_there_is_a_new_one(void **state)
{
	int64_t first, other = 0;
	int n = 0;

	(void) state;
	sl_mip_keep();
	first = solved_by(&honest);
	for (; n < 5000 && (!other || other == first); n++)
		other = solved_by(&honest);
	assert_in_range(n, 10, 4999);
	sl_mip_release();
	nobody_is_left();
}

static void a_kept_one_that_fails_is_asked_no_more_and_its_program_is_solved_all_the_same(void **state)
{
	const struct sl_mip_backend *const all[] = { &crashing, &failing, &leaving, &babbling };

	(void) state;
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		int64_t last = 0;

		sl_mip_keep();
		for (int i = 0; i < 12; i++) {
			int64_t who = solved_by(all[k]);

			/* who answered until now is gone */
			assert_true(!last || who == last || (kill((pid_t) last, 0) < 0 && errno == ESRCH));
			last = who;
		}
		sl_mip_release();
		nobody_is_left();
	}
}

static void the_time_of_one_that_fails_is_counted(void **state)
{
	const struct sl_mip_backend *const all[] = { &crashing, &failing };

	(void) state;
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		double before = sl_mip_solver_s();

		sl_mip_keep();
		for (int i = 0; i < 3; i++)
			solved_by(all[k]);
		assert_true(sl_mip_solver_s() - before > 0.9 * BURNT_S);
		sl_mip_release();
	}
}

static void what_fails_by_itself_fails_as_in_a_process_of_its_own(void **state)
{
	struct sl_mip_result alone, kept;

	(void) state;
	alone = solve_twins(&always_crashing, 0);
	sl_mip_keep();
	kept = solve_twins(&always_crashing, 0);
	assert_int_equal(kept.status, SL_MIP_ERROR);
	assert_string_equal(kept.message, alone.message);
	/* and the next one is none the worse */
	solved_by(&honest);
	sl_mip_release();
	nobody_is_left();
}

static void a_kept_one_that_hangs_is_ended_and_it_is_said(void **state)
{
	uint64_t hung = sl_mip_hung();
	struct sl_mip_result r;

	(void) state;
	sl_mip_keep();
	/* times that are no whole milliseconds */
	for (unsigned round = 0; round < 20; round++) {
		r = solve_twins(&hanging, 60);
		assert_int_equal(r.status, SL_MIP_OPTIMAL);
		sl_mip_result_clear(&r);
		r = solve_twins(&hanging, 0.01 + 0.00037 * round);
		assert_int_equal(r.status, SL_MIP_NO_SOLUTION);
		assert_true(r.hung && r.values == NULL);
		assert_int_equal(sl_mip_hung(), hung + round + 1);
	}
	solved_by(&hanging);
	sl_mip_release();
	nobody_is_left();
}

static void one_that_leaks_is_replaced_before_it_has_too_little(void **state)
{
	int64_t last = 0;
	int changes = 0;

	(void) state;
	sl_mip_keep();
	for (int i = 0; i < (sanitized ? 4 : 40); i++) {
		int64_t who = solved_by(&leaking);

		changes += who != last;
		last = who;
	}
	/* two solves of each; a process that ends when it has nothing left does a dozen */
	assert_true(sanitized || changes > 15);
	sl_mip_release();
	nobody_is_left();
}

/* True if it is so from now on. */
static bool forget_own_size(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), next = dup(null);

	close(next);
	sl_mip_know_size();
	return dup2(null, next) == next && sl_mip_own_size() == 0;
}

static void where_the_size_of_this_process_is_not_known_memory_has_no_limit(void **state)
{
	int status;
	pid_t pid;

	(void) state;
	pid = fork();
	if (!pid) {
		bool good = forget_own_size();
		int64_t first;

		sl_mip_keep();
		first = solved_by(&large);
		good = good && solved_by(&large) == first;
		sl_mip_release();
		_exit(good ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_relaxation_that_is_known_is_not_solved_again(void **state)
{
	struct sl_mip_options o = options(&counting), relax = o;
	struct sl_mip *m = make_twins();
	struct sl_mip_result r;
	struct sl_error err;

	(void) state;
	relax.relax = true;
	relaxations = mmap(NULL, sizeof(*relaxations), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(relaxations != MAP_FAILED);
	sl_mip_keep();
	assert_int_equal(sl_mip_start(m, (double[]) { 1, 0 }, 2, &err), 0);
	assert_int_equal(sl_mip_solve(m, &relax, &r, &err), 0);
	sl_mip_result_clear(&r);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(sl_mip_solve(m, &o, &r, &err), 0);
		assert_int_equal(r.status, SL_MIP_OPTIMAL);
		assert_string_equal(r.source, "start");
		sl_mip_result_clear(&r);
	}
	assert_int_equal(*relaxations, 1);
	sl_mip_release();
	munmap((void *) relaxations, sizeof(*relaxations));
	sl_mip_destroy(m);
}

static void a_kept_one_reaches_nothing_but_its_socket(void **state)
{
	(void) state;
	if (sanitized) {
		print_message("# skipped: the sanitizer needs its files\n");
		return;
	}
	sl_mip_keep();
	for (int i = 0; i < 3; i++)
		assert_int_equal(solved_by(&escaping), 0);
	sl_mip_release();
}

static void a_copy_of_the_process_leaves_the_kept_one_alone(void **state)
{
	int64_t first;
	int status;
	pid_t pid;

	(void) state;
	sl_mip_keep();
	first = solved_by(&honest);
	pid = fork();
	if (!pid) {
		int64_t own = solved_by(&honest);
		bool good = own != first && solved_by(&honest) == own;

		sl_mip_release();
		_exit(good && waitpid(-1, NULL, WNOHANG) < 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(solved_by(&honest), first);
	sl_mip_release();
	nobody_is_left();
}

/* *how*: a signal, or 0: by itself.  Returns how the kept one ended. */
static int end_an_owner(const struct sl_mip_backend *fake, int how)
{
	int status, kept_status;
	pid_t owner;

	*stuck_one = 0;
	owner = fork();
	if (!owner) {
		signal(how, SIG_DFL);	/* who runs the tests in the background may ignore SIGINT */
		sl_mip_keep();
		*stuck_one = (pid_t) solve_twins(fake, 3600).nodes;
		while (how)
			pause();
		_exit(0);
	}
	while (!*stuck_one)
		sched_yield();
	if (how)
		kill(owner, how);
	assert_int_equal(waitpid(owner, &status, 0), owner);
	assert_int_equal(how ? WTERMSIG(status) : WEXITSTATUS(status), how);
	assert_int_equal(waitpid(*stuck_one, &kept_status, 0), *stuck_one);
	return kept_status;
}

static void one_that_is_kept_ends_with_its_owner_however_that_ends(void **state)
{
	static const int how[] = { 0, SIGINT, SIGTERM, SIGXCPU, SIGKILL };

	(void) state;
	stuck_one = mmap(NULL, sizeof(*stuck_one), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(stuck_one != MAP_FAILED && !prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		int status = end_an_owner(&honest, how[i]);

		/* it saw that its socket was closed, or the kernel ended it */
		assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
		/* and one that looks at nothing */
		if (how[i])
			assert_int_equal(WTERMSIG(end_an_owner(&stuck, how[i])), SIGKILL);
		nobody_is_left();
	}
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	munmap((void *) stuck_one, sizeof(*stuck_one));
}

static void where_the_clock_counts_none_is_kept(void **state)
{
	struct sl_mip_options o = options(&honest);
	struct sl_mip_result r;
	struct sl_mip *m = make_twins();
	struct sl_error err;

	(void) state;
	o.clock = true;
	sl_mip_keep();
	assert_int_equal(sl_mip_solve(m, &o, &r, &err), 0);
	sl_mip_result_clear(&r);
	nobody_is_left();
	sl_mip_destroy(m);
	sl_mip_release();
}

/* -- programs ---------------------------------------------------------------- */

/* Up to *most* jobs, some of them alike, on up to three resources, as rows or as a pool that an equation fills. */
static struct sl_mip *random_program(uint32_t most, uint32_t *jobs, double *worth)
{
	uint32_t n = *jobs = 2 + below(most - 1), rows = 1 + below(3), column[33];
	struct sl_mip *m = sl_mip_create(true, NULL, NULL);
	double size[33], scale = one_in(2) ? 1 : 1.0 / (1 + below(1000)), sum;
	bool alike = one_in(3);
	struct sl_error err;

	for (uint32_t c = 0; c < n; c++) {
		worth[c] = (alike ? 7 : 1 + below(one_in(2) ? 5 : 1000)) * scale;
		column[c] = c;
		assert_int_equal(sl_mip_var(m, &(struct sl_mip_column) { .ub = 1, .obj = worth[c], .integer = true }, &err), c);
	}
	for (uint32_t row = 0; row < rows; row++) {
		sum = 0;
		for (uint32_t c = 0; c < n; c++)
			sum += size[c] = 1 + below(alike ? 4 : 40);
		struct sl_mip_row r = { column, size, n, -INFINITY, floor(sum * (1 + below(9)) / 10), NULL };
		if (one_in(3)) {
			column[n] = sl_mip_columns(m);
			size[n] = -1;
			assert_true(sl_mip_var(m, &(struct sl_mip_column) { .ub = r.hi }, &err) >= 0);
			r.terms++;
			r.lo = r.hi = 0;
		}
		assert_true(sl_mip_add(m, &r, &err) >= 0);
	}
	return m;
}

/* The first few that fit, or nothing. */
static void start_somewhere(struct sl_mip *m, uint32_t jobs)
{
	double *values = calloc(sl_mip_columns(m), sizeof(*values));
	struct sl_error err;

	for (uint32_t c = 0; c < jobs && one_in(2); c++) {
		bool fits = m->columns == jobs;

		values[c] = 1;
		for (uint32_t row = 0; row < m->rows && fits; row++) {
			double sum = 0;

			for (uint32_t i = m->begin[row]; i < m->begin[row + 1]; i++)
				sum += m->coefficient[i] * values[m->column[i]];
			fits = sum <= m->hi[row];
		}
		values[c] = fits;
	}
	assert_int_equal(sl_mip_start(m, values, m->columns, &err), 0);
	free(values);
}

static struct sl_mip_result solve(struct sl_mip *m, const struct sl_mip_options *o)
{
	struct sl_mip_result r;
	struct sl_error err;

	m->relaxed.backend = NULL;
	assert_int_equal(sl_mip_solve(m, o, &r, &err), 0);
	return r;
}

static void assert_same(const struct sl_mip_result *a, const struct sl_mip_result *b, uint32_t jobs)
{
	assert_int_equal(a->status, b->status);
	assert_int_equal(!a->values, !b->values);
	if (!a->values)
		return;
	assert_true(fabs(a->objective - b->objective) <= 1e-9 * fmax(1, fabs(a->objective)));
	assert_memory_equal(a->values, b->values, jobs * sizeof(double));
}

static void a_kept_solver_says_what_one_says_that_is_not_kept(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1);
	unsigned rounds = sanitized ? 40 : 200 * (unsigned) number_from("SL_ROUNDS", 1);
	double worth[32];
	const char *name;

	(void) state;
	for (unsigned k = 0; (name = sl_mip_backend_name(k)); k++) {
		sl_mip_keep();
		for (unsigned round = 0; round < rounds; round++) {
			struct sl_mip_options o = options(NULL);
			struct sl_mip_result alone, kept, again;
			struct sl_mip *m;
			uint32_t jobs;

			failing_seed = random_state = seed + round;
			m = random_program(14, &jobs, worth);
			if (one_in(2))
				start_somewhere(m, jobs);
			o.backend = name;
			o.gap = one_in(2) ? 0.005 : 0;
			kept = solve(m, &o);
			o.clock = true;		/* none is kept */
			alone = solve(m, &o);
			o.clock = false;
			again = solve(m, &o);
			assert_same(&kept, &alone, jobs);
			assert_same(&again, &alone, jobs);
			sl_mip_result_clear(&alone);
			sl_mip_result_clear(&kept);
			sl_mip_result_clear(&again);
			sl_mip_destroy(m);
		}
		sl_mip_release();
	}
	failing_seed = 0;
	nobody_is_left();
}

static void a_search_after_its_relaxation_is_the_one_that_there_is_without_it(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1);
	double worth[32];

	(void) state;
	for (unsigned round = 0; round < 60 && sl_mip_backend_name(0); round++) {
		struct sl_mip_options o = options(NULL), relax = o;
		struct sl_mip_result r, before, after;
		struct sl_error err;
		struct sl_mip *m;
		uint32_t jobs;

		failing_seed = random_state = seed + round;
		m = random_program(14, &jobs, worth);
		start_somewhere(m, jobs);
		o.gap = one_in(2) ? 0.2 : 0.005;
		before = solve(m, &o);
		relax.relax = true;
		assert_int_equal(sl_mip_solve(m, &relax, &r, &err), 0);
		sl_mip_result_clear(&r);
		assert_non_null(m->relaxed.backend);
		assert_int_equal(sl_mip_solve(m, &o, &after, &err), 0);
		assert_same(&before, &after, jobs);
		assert_true(before.work == after.work && (before.bound == after.bound || isnan(before.bound)));
		sl_mip_result_clear(&before);
		sl_mip_result_clear(&after);
		/* a model that has changed has another relaxation */
		assert_true(sl_mip_add(m, &(struct sl_mip_row) { (uint32_t[]) { 0 }, (double[]) { 1 }, 1, 0, 0, NULL }, &err) >= 0);
		assert_null(m->relaxed.backend);
		sl_mip_destroy(m);
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_solves_one_program_after_the_other_where_that_is_wanted),
		cmocka_unit_test(another_solver_gets_a_process_of_its_own),
		cmocka_unit_test(after_many_solves_there_is_a_new_one),
		cmocka_unit_test(a_kept_one_that_fails_is_asked_no_more_and_its_program_is_solved_all_the_same),
		cmocka_unit_test(the_time_of_one_that_fails_is_counted),
		cmocka_unit_test(what_fails_by_itself_fails_as_in_a_process_of_its_own),
		cmocka_unit_test(a_kept_one_that_hangs_is_ended_and_it_is_said),
		cmocka_unit_test(one_that_leaks_is_replaced_before_it_has_too_little),
		cmocka_unit_test(where_the_size_of_this_process_is_not_known_memory_has_no_limit),
		cmocka_unit_test(a_relaxation_that_is_known_is_not_solved_again),
		cmocka_unit_test(a_kept_one_reaches_nothing_but_its_socket),
		cmocka_unit_test(a_copy_of_the_process_leaves_the_kept_one_alone),
		cmocka_unit_test(one_that_is_kept_ends_with_its_owner_however_that_ends),
		cmocka_unit_test(where_the_clock_counts_none_is_kept),
		cmocka_unit_test(a_kept_solver_says_what_one_says_that_is_not_kept),
		cmocka_unit_test(a_search_after_its_relaxation_is_the_one_that_there_is_without_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
