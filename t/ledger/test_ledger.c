/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/ledger/ledgers.h"
#include "t/random.h"

#define MOST 4000

/* -- by hand ------------------------------------------------------------- */

static void a_run_counts_once_however_often_it_is_told(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);

	(void) state;
	assert_int_equal(add(l, run_of(1, T0 + 100, T0 + 200, 4)), 1);
	assert_int_equal(add(l, run_of(1, T0 + 100, T0 + 200, 4)), 0);
	assert_int_equal(CPU(l, "anna"), 400);
	OK(sl_ledger_commit(l, &err));
	assert_int_equal(add(l, run_of(1, T0 + 100, T0 + 200, 4)), 0);
	/* the same number at another time is another run: requeued, or numbers began anew */
	assert_int_equal(add(l, run_of(1, T0 + 500, T0 + 600, 4)), 1);
	assert_int_equal(CPU(l, "anna"), 800);
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_READ);
	assert_int_equal(CPU(l, "anna"), 800);
	assert_int_equal(CPU(l, "anna", .since = T0 + 150, .until = T0 + 550), 400);
	assert_int_equal(CPU(l, "anna", .since = INT64_MIN, .until = SL_FOREVER, .partition = "other"), 0);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
}

static void who_knows_better_is_believed(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run r = run_of(1, T0 - 50, T0 + 50, 2);

	(void) state;
	r.source = SL_RUN_GUESSED;
	assert_int_equal(add(l, r), 1);
	OK(sl_ledger_commit(l, &err));
	r.end = T0 + 3 * SL_DAY;
	r.seconds = 1000;
	r.dim.state = SL_JOB_FAILED;
	r.source = SL_RUN_SACCT;
	assert_int_equal(add(l, r), 1);
	assert_int_equal(CPU(l, "anna"), 2000);
	OK(sl_ledger_commit(l, &err));
	assert_int_equal(CPU(l, "anna"), 2000);
	assert_int_equal(CPU(l, "anna", .since = T0, .until = T0 + SL_DAY), 666);	/* floor(2000 x 86450 / 259250) - 0 */
	assert_int_equal(CPU(l, "anna", .since = INT64_MIN, .until = SL_FOREVER, .without = 1u << SL_JOB_FAILED), 0);
	/* slurmctld's word of it comes too late */
	assert_int_equal(add(l, run_of(1, T0 - 50, T0 + 60, 2)), 0);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
}

static void runs_that_cannot_be_are_refused(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run r[] = { run_of(1, 0, 5, 1), run_of(1, 10, 5, 1), run_of(1, T0, T0 + 4000 * SL_DAY, 1),
			      run_of(1, T0, T0 + 5, 1) };

	(void) state;
	r[3].seconds = -1;
	for (size_t i = 0; i < sizeof(r) / sizeof(r[0]); i++) {
		assert_int_equal(sl_ledger_add(l, &r[i], &err), -1);
		assert_int_equal(err.code, SL_EINVAL);
	}
	assert_int_equal(sl_ledger_waiting(l), 0);
	sl_ledger_close(l);
}

static int one_adjustment(void *to, const struct sl_adjustment *a)
{
	assert_int_equal(a->amount[SL_UNIT_CPU], -3600);
	assert_string_equal(a->who, "root");
	assert_string_equal(a->why, "node n3 was broken; \"sorry\"");
	assert_int_equal(a->made, T0 + 9);
	++*(int *) to;
	return 0;
}

static void adjustments_are_journalled(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_adjustment a = { .at = T0 + 5, .amount = { -3600, 0, 0 }, .dim = { "anna", "chem", "", SL_JOB_COMPLETE },
				   .made = T0 + 9, .who = "root", .why = "node n3 was broken; \"sorry\"" };
	int seen = 0;

	(void) state;
	add(l, run_of(1, T0, T0 + 100, 72));
	OK(sl_ledger_adjust(l, &a, &err));
	assert_int_equal(CPU(l, "anna"), 3600);
	a.at = SL_LEDGER_MAX_SECONDS;	/* verify could not add it up */
	assert_int_equal(sl_ledger_adjust(l, &a, &err), -1);
	a.at = T0 + 5;
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_READ);
	assert_int_equal(CPU(l, "anna"), 3600);
	assert_int_equal(CPU(l, "anna", .since = T0 + 6, .until = SL_FOREVER), 7200 - 432);
	assert_int_equal(CPU(l, "anna", .since = T0 + 4, .until = T0 + 6), 144 - 3600);
	OK(sl_ledger_adjustments(l, one_adjustment, &seen, &err));
	assert_int_equal(seen, 1);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
}

static void a_name_of_300_characters_is_a_name(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run r = run_of(1, T0, T0 + 10, 1);
	char name[301];

	(void) state;
	memset(name, 'n', 300);
	name[300] = 0;
	r.dim = (struct sl_dim) { name, name, name, SL_JOB_COMPLETE };
	add(l, r);
	name[299] = '\'';
	r.job = 2;
	add(l, r);
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_READ);
	assert_int_equal(CPU(l, name), 10);
	name[299] = 'n';
	assert_int_equal(CPU(l, name), 10);
	sl_ledger_close(l);
}

static void open_runs_are_remembered(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run r = run_of(7, T0, T0 + 10, 1);
	int64_t sum = 0;

	(void) state;
	OK(sl_ledger_keep_open(l, 7, &r, &err));
	r.job = 8;
	OK(sl_ledger_keep_open(l, 8, &r, &err));
	OK(sl_ledger_commit(l, &err));
	OK(sl_ledger_keep_open(l, 7, NULL, &err));
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_WRITE);
	OK(sl_ledger_open_runs(l, add_job_number, &sum, &err));
	assert_int_equal(sum, 8);
	assert_int_equal(CPU(l, "anna"), 0);
	sl_ledger_close(l);
}

/* -- against a recount --------------------------------------------------- */

struct model {
	struct sl_job_run run[MOST];
	int runs;
};

static const char *const users[] = { "anna", "bob", "carl", "dora" };
static const char *const accounts[] = { "chem", "phys" };
static const char *const partitions[] = { "main", "gpu", "" };

static struct sl_job_run random_run(void)
{
	struct sl_job_run r = { .job = 1 + below(300), .start = T0 + between(0, 40) * 21600 + below(2) * below(5000) };

	r.end = r.start + (one_in(4) ? between(0, 9 * SL_DAY) : between(0, 20000));
	r.seconds = one_in(3) ? (int64_t) below((uint32_t) (r.end - r.start) + 1) : r.end - r.start;
	r.count[0] = 1 + below(100);
	r.count[1] = below(3);
	r.count[2] = 1 + below(4);
	r.dim = (struct sl_dim) { users[below(4)], accounts[below(2)], partitions[below(3)],
				  one_in(3) ? SL_JOB_FAILED : SL_JOB_COMPLETE };
	r.source = (enum sl_run_source) below(SL_RUN_SOURCES);
	return r;
}

static void tell_model(struct model *m, const struct sl_job_run *r)
{
	static const int trust[SL_RUN_SOURCES] = { [SL_RUN_SEEN] = 1, [SL_RUN_WATCHED] = 2, [SL_RUN_SACCT] = 3 };

	for (int i = 0; i < m->runs; i++)
		if (m->run[i].job == r->job && m->run[i].start == r->start) {
			if (trust[r->source] >= trust[m->run[i].source])
				m->run[i] = *r;
			return;
		}
	assert_true(m->runs < MOST);
	m->run[m->runs++] = *r;
}

static int64_t recount(const struct model *m, const char *user, const struct sl_usage_query *q)
{
	int64_t sum = 0;

	for (int i = 0; i < m->runs; i++) {
		const struct sl_job_run *r = &m->run[i];
		struct sl_piece p = { .start = r->start, .end = r->end };

		if (strcmp(q->by == SL_BY_USER ? r->dim.user : r->dim.account, user) ||
		    (q->partition && strcmp(q->partition, r->dim.partition)) || q->without >> r->dim.state & 1)
			continue;
		p.amount[q->unit] = r->count[q->unit] * r->seconds;
		sum += sl_piece_part(&p, q->unit, q->since, q->until);
	}
	return sum;
}

static void compare(struct sl_ledger *l, const struct model *m, uint64_t seed)
{
	for (int i = 0; i < 8; i++) {
		struct sl_usage_query q = { .by = (enum sl_usage_by) below(2), .unit = (enum sl_unit) below(3) };
		const struct sl_usage_total *t;
		uint32_t n;

		q.since = one_in(4) ? INT64_MIN / 4 : T0 + between(-86400, 20 * SL_DAY);
		q.until = one_in(4) ? SL_FOREVER : T0 + between(-86400, 60 * SL_DAY);
		if (one_in(3))
			q.since -= q.since % SL_DAY;
		q.partition = one_in(3) ? (char *) partitions[below(3)] : NULL;
		q.without = one_in(3) ? 1u << SL_JOB_FAILED : 0;
		OK(sl_usage_ask(sl_ledger_usage(l), &q, &t, &n, &err));
		for (int k = 0; k < 6; k++) {
			const char *name = k < 4 ? users[k] : accounts[k - 4];
			int64_t is = 0, expected = recount(m, name, &q);

			for (uint32_t j = 0; j < n; j++)
				if (!strcmp(t[j].name, name))
					is = t[j].seconds;
			if (is != expected)
				fail_msg("seed %llu: %s has %lld, expected %lld", (unsigned long long) seed, name,
					 (long long) is, (long long) expected);
		}
	}
}

static void random_histories_equal_a_recount(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), rounds = rounds_of(12);
	struct model *m = malloc(sizeof(*m));

	(void) state;
	for (; rounds--; seed++) {
		struct sl_ledger *l;

		random_state = seed;
		unlink(path);
		m->runs = 0;
		l = open_ledger(SL_LEDGER_CREATE);
		for (int step = 0; step < 40; step++) {
			for (int i = below(20); i > 0; i--) {
				/* news, or something that was told before */
				struct sl_job_run r = m->runs && one_in(3) ? m->run[below((uint32_t) m->runs)] : random_run();

				add(l, r);
				tell_model(m, &r);
			}
			if (one_in(2))
				compare(l, m, seed);
			if (one_in(3))
				OK(sl_ledger_commit(l, &err));
			if (one_in(12)) {
				OK(sl_ledger_commit(l, &err));
				sl_ledger_close(l);
				l = open_ledger(SL_LEDGER_WRITE);
			}
		}
		OK(sl_ledger_commit(l, &err));
		compare(l, m, seed);
		OK(sl_ledger_verify(l, &err));
		sl_ledger_close(l);
	}
	free(m);
}

/* -- two at once ---------------------------------------------------------- */

static void another_process_may_write_the_same(void **state)
{
	struct sl_ledger *a = open_ledger(SL_LEDGER_CREATE), *b;
	struct sl_job_run r = run_of(5, T0 + 7, T0 + 9, 50);

	(void) state;
	add(a, run_of(1, T0, T0 + 10, 1));
	OK(sl_ledger_commit(a, &err));
	b = open_ledger(SL_LEDGER_WRITE);
	assert_int_equal(CPU(b, "anna"), 10);
	r.dim.user = "bob";
	add(a, r);		/* the same new name and run on both sides */
	add(b, r);
	r.job++;
	r.dim.user = "carl";
	add(b, r);
	OK(sl_ledger_commit(b, &err));
	OK(sl_ledger_commit(a, &err));
	assert_int_equal(CPU(a, "bob"), 100);
	assert_int_equal(CPU(a, "carl"), 100);
	OK(sl_ledger_refresh(b, &err));
	assert_int_equal(CPU(b, "bob"), 100);
	OK(sl_ledger_verify(a, &err));
	OK(sl_ledger_verify(b, &err));
	sl_ledger_close(a);
	sl_ledger_close(b);
}

static void a_lock_of_another_process_is_waited_for_and_then_reported(void **state)
{
	struct sl_ledger *a = open_ledger(SL_LEDGER_CREATE), *b;
	struct sl_usage_query q = { .since = INT64_MIN, .until = SL_FOREVER };
	const struct sl_usage_total *t;
	int ready[2], go[2], status;
	uint32_t n;
	char c = 0;
	pid_t pid;

	(void) state;
	add(a, run_of(1, T0, T0 + 10, 1));
	OK(sl_ledger_commit(a, &err));
	sl_ledger_close(a);
	b = open_ledger(SL_LEDGER_READ);
	sl_ledger_set_patience(b, 10);
	assert_int_equal(pipe(ready) | pipe(go), 0);
	if (!(pid = fork())) {
		/* what SQLite's PENDING and RESERVED locks are: bytes at 2^30 */
		struct flock f = { .l_type = F_WRLCK, .l_start = 0x40000000, .l_len = 512 };
		int fd = open(path, O_RDWR);

		_exit(fcntl(fd, F_SETLK, &f) || write(ready[1], "x", 1) != 1 || read(go[0], &c, 1) != 1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(sl_usage_ask(sl_ledger_usage(b), &q, &t, &n, &err), -1);
	assert_int_equal(err.code, SL_EBUSY);
	sl_ledger_close(b);
	assert_int_equal(write(go[1], "x", 1), 1);
	waitpid(pid, &status, 0);
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_run_counts_once_however_often_it_is_told),
		TEST(who_knows_better_is_believed),
		TEST(runs_that_cannot_be_are_refused),
		TEST(adjustments_are_journalled),
		TEST(a_name_of_300_characters_is_a_name),
		TEST(open_runs_are_remembered),
		TEST(random_histories_equal_a_recount),
		TEST(another_process_may_write_the_same),
		TEST(a_lock_of_another_process_is_waited_for_and_then_reported),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
