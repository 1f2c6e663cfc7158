/* SPDX-License-Identifier: MIT */
/* Files are made in a directory of the test's own, under $TMPDIR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "ledger/ledger.h"
#include "t/random.h"

#define T0 INT64_C(1699920000)	/* a UTC midnight */
#define MOST 4000

static struct sl_error err;
static char dir[256], path[300];

#define OK(call) do { err.text[0] = 0; if (call) fail_msg("%s: %s", #call, err.text); } while (0)

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void) state;
	snprintf(dir, sizeof(dir), "%s/schedlua-ledger-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%s", dir, SL_LEDGER_FILE);
	return 0;
}

static int remove_dir(void **state)
{
	char pattern[300];
	glob_t found;

	(void) state;
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	return rmdir(dir);
}

static struct sl_ledger *open_ledger(enum sl_ledger_mode mode)
{
	struct sl_ledger *l = sl_ledger_open(path, mode, &err);

	if (!l)
		fail_msg("%s", err.text);
	return l;
}

static struct sl_job_run run_of(uint32_t job, int64_t start, int64_t end, uint32_t cpus)
{
	return (struct sl_job_run) { .job = job, .start = start, .end = end, .seconds = end - start, .count = { cpus, 0, 1 },
				 .dim = { "anna", "chem", "main", SL_JOB_COMPLETE }, .source = SL_RUN_SEEN };
}

static int add(struct sl_ledger *l, struct sl_job_run r)
{
	int rc = sl_ledger_add(l, &r, &err);

	if (rc < 0)
		fail_msg("%s", err.text);
	return rc;
}

static int64_t total(struct sl_ledger *l, const char *name, struct sl_usage_query q)
{
	const struct sl_usage_total *t;
	uint32_t n;

	if (!q.since && !q.until)
		q.until = SL_FOREVER;
	OK(sl_usage_ask(sl_ledger_usage(l), &q, &t, &n, &err));
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(t[i].name, name))
			return t[i].seconds;
	return 0;
}

#define CPU(l, name, ...) total(l, name, (struct sl_usage_query) { .by = SL_BY_USER, .unit = SL_UNIT_CPU, __VA_ARGS__ })

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

static int count_runs(void *to, const struct sl_job_run *r)
{
	*(int64_t *) to += r->job;
	return 0;
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
	OK(sl_ledger_open_runs(l, count_runs, &sum, &err));
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
	for (int i = 0; i < m->runs; i++)
		if (m->run[i].job == r->job && m->run[i].start == r->start) {
			if (r->source >= m->run[i].source)
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

/* -- what goes wrong ------------------------------------------------------ */

static void killed_at_any_instant_it_has_all_of_a_commit_or_nothing(void **state)
{
	uint64_t rounds = rounds_of(25);
	int told[2];

	(void) state;
	sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	random_state = number_from("SL_SEED", 1);
	for (uint32_t round = 0; round < rounds; round++) {
		struct sl_ledger *l;
		int status, safe = 0, got;
		int64_t sum;
		pid_t pid;

		assert_int_equal(pipe(told), 0);
		if (!(pid = fork())) {
			/* batches of ten, and word of each that is safe */
			if (!(l = sl_ledger_open(path, SL_LEDGER_WRITE, &err)))
				_exit(1);
			for (int i = 0; i < 1000; i++) {
				for (uint32_t k = 0; k < 10; k++) {
					struct sl_job_run r = run_of(round * 10000 + (uint32_t) i * 10 + k + 1, T0 + i, T0 + i + 1, 1);

					if (sl_ledger_add(l, &r, &err) < 0)
						_exit(1);
				}
				if (sl_ledger_commit(l, &err) || write(told[1], "x", 1) != 1)
					_exit(1);
			}
			_exit(0);
		}
		close(told[1]);
		while (safe < 1 + (int) below(3)) {
			char c;

			assert_int_equal(read(told[0], &c, 1), 1);
			safe++;
		}
		for (volatile uint32_t spin = below(200000); spin; spin--)
			;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		for (char c; read(told[0], &c, 1) == 1; )
			safe++;
		close(told[0]);
		l = open_ledger(SL_LEDGER_WRITE);
		sum = CPU(l, "anna");
		OK(sl_ledger_verify(l, &err));
		got = (int) (sum % 10);
		assert_int_equal(got, 0);		/* whole batches */
		assert_true(sum >= 10 * safe);
		sl_ledger_close(l);
		unlink(path);
		sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	}
}

static void a_full_disk_loses_nothing(void **state)
{
	struct rlimit old, small = { 120 << 10, RLIM_INFINITY };
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	uint32_t job = 0;
	int failed = 0;

	(void) state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 200 && failed < 3; i++) {
		for (int k = 0; k < 100; k++, job++)
			add(l, run_of(job + 1, T0 + job, T0 + job + 10, 1));
		if (sl_ledger_commit(l, &err)) {
			failed++;
			assert_int_equal(err.code, SL_EIO);
		}
		assert_int_equal(CPU(l, "anna"), 10 * job);	/* what waits counts */
	}
	assert_int_equal(failed, 3);
	assert_int_equal(sl_ledger_waiting(l), 300);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	OK(sl_ledger_commit(l, &err));
	assert_int_equal(sl_ledger_waiting(l), 0);
	assert_int_equal(CPU(l, "anna"), 10 * job);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_READ);
	assert_int_equal(CPU(l, "anna"), 10 * job);
	sl_ledger_close(l);
}

/* A ledger of some pages. */
static void fill(void)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);

	for (uint32_t i = 0; i < 2000; i++)
		add(l, run_of(i + 1, T0 + i * 100, T0 + i * 100 + 50, 1));
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
}

static void damage(off_t at, const char *with, size_t size)
{
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, with, size, at), size);
	close(fd);
}

/* Open and read all of it: the code of the first error. */
static enum sl_errno read_all(void)
{
	struct sl_ledger *l = sl_ledger_open(path, SL_LEDGER_WRITE, &err);
	enum sl_errno code = err.code;
	int64_t sum = 0;

	if (!l)
		return code;
	code = sl_ledger_runs(l, INT64_MIN, INT64_MAX, count_runs, &sum, &err) || sl_ledger_verify(l, &err) ?
		err.code : SL_OK;
	sl_ledger_close(l);
	return code;
}

static void a_damaged_file_is_recognized(void **state)
{
	static const char junk[4096] = "this is not what was here";
	struct stat st;

	(void) state;
	fill();
	assert_int_equal(read_all(), SL_OK);
	damage(0, junk, 100);			/* no database */
	assert_int_equal(read_all(), SL_EFORMAT);
	unlink(path);
	fill();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size / 2 / 4096 * 4096), 0);	/* half-written */
	assert_int_equal(read_all(), SL_EFORMAT);
	unlink(path);
	fill();
	for (off_t page = 2; page < 40; page++)
		damage(page * 4096, junk, sizeof(junk));
	assert_int_equal(read_all(), SL_EFORMAT);
	/* another program's database */
	unlink(path);
	sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	damage(68, "\0\0\0\7", 4);
	assert_int_equal(read_all(), SL_EFORMAT);
}

static void an_empty_file_is_a_ledger_that_was_not_begun(void **state)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	(void) state;
	close(fd);
	assert_null(sl_ledger_open(path, SL_LEDGER_WRITE, &err));
	assert_int_equal(err.code, SL_ENOENT);
	sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	assert_int_equal(read_all(), SL_OK);
}

/* -- who ran what lately --------------------------------------------------- */

static int64_t last_limit;

static int add_number(void *to, const struct sl_job_run *run)
{
	char *text = to;

	last_limit = run->limit;
	sprintf(text + strlen(text), "%s%u%s", *text ? " " : "", run->job, run->name);
	return 0;
}

static const char *newest(struct sl_ledger *l, enum sl_usage_by by, const char *name, uint32_t most)
{
	static char text[4000];

	*text = 0;
	OK(sl_ledger_newest(l, by, name, most, add_number, text, &err));
	return text;
}

static struct sl_job_run named_run(uint32_t job, const char *user, const char *name, int64_t end)
{
	struct sl_job_run r = run_of(job, end - 100, end, 4);

	r.dim.user = user;
	r.dim.state = job % 3 ? SL_JOB_COMPLETE : SL_JOB_FAILED;
	r.dim.partition = job % 2 ? "main" : "long";
	r.name = name;
	r.limit = 3600;
	return r;
}

static void the_newest_runs_of_somebody_are_found(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	uint64_t before;

	(void) state;
	for (uint32_t i = 1; i <= 6; i++)
		add(l, named_run(i, i == 2 ? "bert" : "anna", "a", T0 + 1000 * i));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 3), "4a 5a 6a");
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 3), "4a 5a 6a");
	assert_string_equal(newest(l, SL_BY_ACCOUNT, "chem", 10), "1a 2a 3a 4a 5a 6a");
	assert_string_equal(newest(l, SL_BY_USER, "carl", 10), "");
	before = sl_ledger_stamp(l, SL_BY_USER, "bert");
	add(l, named_run(7, "anna", "b", T0 + 500));		/* what waits, and ended long ago */
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "7b 1a 3a 4a 5a 6a");
	assert_true(sl_ledger_stamp(l, SL_BY_USER, "anna") > before);
	assert_int_equal(sl_ledger_stamp(l, SL_BY_USER, "bert"), before);
	sl_ledger_close(l);
}

static void a_run_that_is_known_better_by_now_is_one_run(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run r = named_run(1, "anna", "a", T0 + 5000);

	(void) state;
	r.source = SL_RUN_GUESSED;
	add(l, r);
	OK(sl_ledger_commit(l, &err));
	r.source = SL_RUN_SEEN;
	r.end -= 50;
	r.seconds -= 50;
	assert_int_equal(add(l, r), 1);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "1a");
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "1a");
	sl_ledger_close(l);
}

/* Such a file is as those were that knew no names: without the columns and the index. */
static void make_old(void)
{
	sqlite3 *db;

	if (sqlite3_libversion_number() < 3035000)	/* it cannot drop columns */
		skip();
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DROP INDEX run_dim; ALTER TABLE run DROP COLUMN name; ALTER TABLE run DROP COLUMN "
				      "walltime; ALTER TABLE open DROP COLUMN name; ALTER TABLE open DROP COLUMN walltime",
				      NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void a_ledger_without_names_is_read_and_gets_them(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);

	(void) state;
	for (uint32_t i = 1; i <= 3; i++)
		add(l, named_run(i, "anna", "a", T0 + 1000 * i));
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	make_old();
	l = open_ledger(SL_LEDGER_READ);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "2 3");
	assert_int_equal(CPU(l, "anna"), 1200);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_WRITE);
	add(l, named_run(4, "anna", "b", T0 + 4000));
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "3 4b");
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_READ);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "3 4b");
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
}

/* Another program upgrades the file just when this one is about to. */
static int upgrade_first(unsigned what, void *done, void *statement, void *text)
{
	(void) what, (void) statement;
	if (!strncmp(text, "BEGIN EXCLUSIVE", strlen("BEGIN EXCLUSIVE")) && !*(int *) done) {
		*(int *) done = 1;
		sl_ledger_close(open_ledger(SL_LEDGER_WRITE));
	}
	return 0;
}

static int others_upgrades;

static int watch_connection(sqlite3 *db, char **message, const void *api)
{
	(void) message, (void) api;
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, upgrade_first, &others_upgrades);
}

static void two_programs_may_upgrade_a_ledger_at_once(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);

	(void) state;
	add(l, named_run(1, "anna", "a", T0 + 1000));
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	make_old();
	others_upgrades = 0;
	assert_int_equal(sqlite3_auto_extension((void (*)(void)) watch_connection), SQLITE_OK);
	l = sl_ledger_open(path, SL_LEDGER_WRITE, &err);
	sqlite3_cancel_auto_extension((void (*)(void)) watch_connection);
	if (!l)
		fail_msg("%s", err.text);
	assert_int_equal(others_upgrades, 1);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "1");
	sl_ledger_close(l);
}

static void names_and_walltimes_outlive_a_dump_without_them(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run r = named_run(1, "anna", "a", T0 + 5000);

	(void) state;
	for (int in_file = 0; in_file < 2; in_file++) {
		r = named_run(1 + in_file, "anna", "a", T0 + 5000 + 100 * in_file);
		r.source = SL_RUN_SEEN;
		add(l, r);
		if (in_file)
			OK(sl_ledger_commit(l, &err));
		r.source = SL_RUN_SACCT;
		r.name = NULL;
		r.limit = 0;
		assert_int_equal(add(l, r), 1);
		assert_int_equal(add(l, r), 0);
	}
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "1a 2a");
	assert_int_equal(last_limit, 3600);
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "1a 2a");
	assert_int_equal(last_limit, 3600);
	sl_ledger_close(l);
}

static void a_damaged_file_is_set_aside_and_none_made_silently(void **state)
{
	char to[400];
	struct stat st;

	(void) state;
	assert_false(sl_ledger_was_set_aside(path));
	fill();
	assert_false(sl_ledger_was_set_aside(path));
	OK(sl_ledger_set_aside(path, to, sizeof(to), &err));
	assert_int_equal(stat(to, &st), 0);
	assert_int_equal(stat(path, &st), -1);
	assert_true(sl_ledger_was_set_aside(path));
	sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	assert_false(sl_ledger_was_set_aside(path));
}

static void a_missing_ledger_is_said_to_be_missing(void **state)
{
	(void) state;
	assert_null(sl_ledger_open(path, SL_LEDGER_READ, &err));
	assert_int_equal(err.code, SL_ENOENT);
	assert_null(sl_ledger_open("/nonexistent/ledger.db", SL_LEDGER_CREATE, &err));
	assert_int_equal(err.code, SL_EIO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

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
		TEST(killed_at_any_instant_it_has_all_of_a_commit_or_nothing),
		TEST(a_full_disk_loses_nothing),
		TEST(a_damaged_file_is_recognized),
		TEST(the_newest_runs_of_somebody_are_found),
		TEST(a_run_that_is_known_better_by_now_is_one_run),
		TEST(a_ledger_without_names_is_read_and_gets_them),
		TEST(two_programs_may_upgrade_a_ledger_at_once),
		TEST(names_and_walltimes_outlive_a_dump_without_them),
		TEST(an_empty_file_is_a_ledger_that_was_not_begun),
		TEST(a_damaged_file_is_set_aside_and_none_made_silently),
		TEST(a_missing_ledger_is_said_to_be_missing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
