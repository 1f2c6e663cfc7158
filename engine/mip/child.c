/* SPDX-License-Identifier: MIT */
/*
 * mip/child.c - a solver's process: it solves once and ends.
 *
 * CoinMP and Cbc leak memory, abort on input that they do not like, print, replace signal handlers and exceed their time
 * limits; in a process of its own all of that is harmless.  The child is a copy of this process (a plain clone(), no exec).
 * It ends when its parent ends.  It has no descriptors, limits on memory, CPU and wall time, and a filter that leaves it
 * little but memory and clocks.  Its only output is the answer, in memory shared with its parent.
 *
 * At the end of its time the kernel kills it, by a timer that it sets at the beginning and cannot reach after that.  The
 * parent only waits, and needs no right to send signals.
 */
#include "mip/private.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/call_filter.h"
#include "process/harden.h"

#define DESCRIPTORS 4096	/* closed one by one if the kernel has no close_range() */

/* Shares of what is left of the policy's budget: what the solver is told that it may use, and when it is killed.  The rest
 * is for the policy, to use the answer. */
#define SHARE_SOLVER 0.8
#define SHARE_ALL 0.95

/* A solver is killed when it exceeds the limit that it was told by this share of it plus so many seconds. */
#define GRACE_SHARE 0.5
#define GRACE_S 0.25

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;	/* because the sanitizer's shadow memory takes terabytes of addresses */
#else
static const bool sanitized = false;
#endif

/* -- the answer -------------------------------------------------------- */

size_t sl_mip_answer_size(uint32_t columns)
{
	return sizeof(struct sl_mip_answer) + columns * sizeof(double);
}

struct sl_mip_answer *sl_mip_answer_map(uint32_t columns, struct sl_error *err)
{
	void *a = mmap(NULL, sl_mip_answer_size(columns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (a != MAP_FAILED)
		return a;
	sl_fail(err, SL_ENOMEM, "out of memory for an answer of %u columns", columns);
	return NULL;
}

void sl_mip_answer_unmap(struct sl_mip_answer *a, uint32_t columns)
{
	if (a)
		munmap(a, sl_mip_answer_size(columns));
}

/* -- in the child: confinement ------------------------------------------ */

static void set_limit(int resource, rlim_t value)
{
	struct rlimit r;

	if (getrlimit(resource, &r))
		return;
	if (r.rlim_max == RLIM_INFINITY || r.rlim_max > value)
		r.rlim_max = value;
	r.rlim_cur = r.rlim_max;
	setrlimit(resource, &r);
}

static int statm = -1;	/* /proc/self/statm if sl_mip_know_size() has opened it, else -1 */

void sl_mip_know_size(void)
{
	statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

uint64_t sl_mip_own_size(void)
{
	char text[64];
	int fd = statm >= 0 ? statm : open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (fd >= 0 && fd != statm)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	return strtoull(text, NULL, 10) * (uint64_t) sysconf(_SC_PAGESIZE);
}

/* Let the kernel kill this process in *left* nanoseconds. */
static int set_timer(int64_t left, struct sl_error *err)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec when = { .it_value = { left / 1000000000, left % 1000000000 } };
	timer_t timer;

	if (left <= 0)
		when.it_value = (struct timespec) { 0, 1 };
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
		return sl_fail(err, SL_EIO, "a timer: %s", strerror(errno));
	return 0;
}

void sl_mip_close_from(unsigned first)
{
	struct rlimit r;
	unsigned most = DESCRIPTORS;

	if (!syscall(SYS_close_range, first, ~0u, 0u))
		return;
	if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < most)
		most = (unsigned) r.rlim_cur;
	for (unsigned fd = first; fd < most; fd++)
		close((int) fd);
}

int sl_mip_filter_calls(struct sl_error *err)
{
	const struct sl_call call[] = {
		SL_CALLS_MEMORY, SL_CALLS_SELF,
		/* (mostly no descriptor is open: these calls then fail, which libraries expect) */
		SL_CALL(read), SL_CALL(write), SL_CALL(close), SL_CALL(fstat), SL_CALL(lseek), SL_CALL(pread64),
	};

	return sl_call_filter(call, sizeof(call) / sizeof(call[0]), err) < 0 ? -1 : 0;
}

int sl_mip_confine(uint32_t memory_mb, uint64_t size, pid_t parent, struct sl_error *err)
{
	sl_reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		return sl_fail(err, SL_EIO, "its parent is gone");
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, 0);
	set_limit(RLIMIT_NPROC, 0);
	if (!sanitized && memory_mb && size)
		set_limit(RLIMIT_AS, (rlim_t) size + ((rlim_t) memory_mb << 20));
	return 0;
}

static int confine(const struct sl_mip_options *o, double hard_s, int64_t end, uint64_t size, pid_t parent,
		   struct sl_error *err)
{
	if (sl_mip_confine(o->memory_mb, size, parent, err))
		return -1;
	set_limit(RLIMIT_CPU, (rlim_t) hard_s + 2);
	if (set_timer(end - sl_clock_ns(), err))
		return -1;
	sl_mip_close_from(0);
	return sl_mip_filter_calls(err);
}

/* -- in the child: the problem ------------------------------------------ */

static bool make_room(struct sl_mip_problem *p, const struct sl_mip *m)
{
	p->integer = malloc(m->columns);
	p->begin = calloc((size_t) m->columns + 2, sizeof(*p->begin));
	p->index = malloc(((size_t) m->terms + 1) * sizeof(*p->index));
	p->value = malloc(((size_t) m->terms + 1) * sizeof(*p->value));
	return p->integer && p->begin && p->index && p->value;
}

/* Rows become columns.  While column c is being filled, begin[c + 1] is where its next term goes; so in the end it is the
 * end of column c. */
static void transpose(struct sl_mip_problem *p, const struct sl_mip *m)
{
	int *begin = p->begin;

	for (uint32_t i = 0; i < m->terms; i++)
		begin[m->column[i] + 2]++;
	for (uint32_t c = 2; c <= m->columns + 1; c++)
		begin[c] += begin[c - 1];
	for (uint32_t row = 0; row < m->rows; row++)
		for (uint32_t i = m->begin[row]; i < m->begin[row + 1]; i++) {
			int to = begin[m->column[i] + 1]++;

			p->index[to] = (int) row;
			p->value[to] = m->coefficient[i];
		}
}

static void free_problem(struct sl_mip_problem *p)
{
	free(p->integer);
	free(p->begin);
	free(p->index);
	free(p->value);
}

static bool make_problem(struct sl_mip_problem *p, const struct sl_mip *m, const struct sl_mip_options *o)
{
	*p = (struct sl_mip_problem) {
		.maximize = m->maximize, .relax = o->relax, .columns = (int) m->columns, .rows = (int) m->rows,
		.terms = (int) m->terms, .lb = m->lb, .ub = m->ub, .obj = m->obj, .lo = m->lo, .hi = m->hi,
		.gap = o->gap, .relaxed = m->relaxed,
	};
	if (!make_room(p, m))
		return false;
	transpose(p, m);
	for (uint32_t c = 0; c < m->columns; c++)
		p->integer[c] = (char) m->integer[c];
	return true;
}

/* -- in the child: solving ---------------------------------------------- */

static double tighter_bound(bool maximize, double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	return maximize ? fmin(a, b) : fmax(a, b);
}

/* Solve the relaxation, or use its known result if that took no more iterations than are left. */
static void relax(struct sl_mip_problem *p, const struct sl_mip_backend *backend, struct sl_mip_answer *a)
{
	if (p->relaxed.backend == backend && p->relaxed.iterations < p->iterations) {
		a->claim = SL_CLAIM_OPTIMAL;
		a->bound = p->relaxed.bound;
		a->iterations += p->relaxed.iterations;
		return;
	}
	p->relax = true;
	backend->solve(p, a);
	p->relax = false;
}

/* With a start, solve the relaxation first: if the start is within the gap of its bound, the start is good enough. */
static bool start_is_enough(struct sl_mip_problem *p, const struct sl_mip_backend *backend, struct sl_mip_answer *a)
{
	double distance;

	relax(p, backend, a);
	a->has_values = 0;
	if (a->claim != SL_CLAIM_OPTIMAL || isnan(a->bound)) {
		a->bound = NAN;
		return false;
	}
	distance = p->maximize ? a->bound - p->start_objective : p->start_objective - a->bound;
	return distance <= (p->gap + 1e-9) * fmax(fabs(p->start_objective), 1e-10);
}

/* The limits of a solve. */
struct allowance {
	double time_limit;		/* seconds from *begin* on */
	int64_t begin, iterations, max_nodes;
};

/* Set the problem's limits to what is left.  False if nothing is left. */
static bool has_time(struct sl_mip_problem *p, const struct allowance *all, const struct sl_mip_answer *a)
{
	int64_t nodes;

	p->time_limit = all->time_limit - (double) (sl_clock_ns() - all->begin) / 1e9;
	p->iterations = all->iterations - a->iterations;
	nodes = p->iterations / SL_MIP_ITERATIONS_A_NODE;
	if (all->max_nodes >= 0 && all->max_nodes < nodes)
		nodes = all->max_nodes;
	p->max_nodes = nodes < INT32_MAX ? (int32_t) nodes : INT32_MAX;
	return p->time_limit > 0 && p->iterations > 0;
}

/* What is left is checked before each call of the backend, which may look at the clock only after some work. */
static void solve_in_child(struct sl_mip_problem *p, const struct sl_mip_backend *backend,
			   const struct allowance *all, struct sl_mip_answer *a)
{
	double relaxed = NAN;

	a->claim = SL_CLAIM_STOPPED;
	if (!has_time(p, all, a))
		return;
	if (p->start && !p->relax) {
		if (start_is_enough(p, backend, a))
			return;
		relaxed = a->bound;
		a->claim = SL_CLAIM_STOPPED;	/* the claim so far is about the relaxation */
		if (!has_time(p, all, a))
			return;
	}
	a->claim = SL_CLAIM_NONE;
	backend->solve(p, a);
	a->bound = tighter_bound(p->maximize, a->bound, relaxed);
}

int sl_mip_solve_here(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		      const double *start, double start_objective, double soft_s, int64_t begin, struct sl_mip_answer *a)
{
	const struct allowance all = {
		soft_s, begin, (int64_t) fmin(o->time_limit / sl_mip_iteration_s(m), 1e15), o->max_nodes,
	};
	struct sl_mip_problem p;
	bool made = make_problem(&p, m, o);

	if (made) {
		p.start = start;
		p.start_objective = start_objective;
		solve_in_child(&p, backend, &all, a);
	} else {
		a->claim = SL_CLAIM_FAILED;
		snprintf(a->message, sizeof(a->message), "out of memory: memory_mb is %u", o->memory_mb);
	}
	free_problem(&p);
	return made ? 0 : -1;
}

static _Noreturn void run_child(const struct sl_mip *m, const struct sl_mip_options *o,
				const struct sl_mip_backend *backend, const double *start, double start_objective,
				double soft_s, double hard_s, int64_t begin, uint64_t size, pid_t parent,
				struct sl_mip_answer *a)
{
	struct sl_error err;

	if (confine(o, hard_s, begin + (int64_t) (hard_s * 1e9), size, parent, &err)) {
		a->claim = SL_CLAIM_FAILED;
		snprintf(a->message, sizeof(a->message), "%.120s", err.text);
		_exit(1);
	}
	sl_mip_solve_here(m, o, backend, start, start_objective, soft_s, begin, a);
	_exit(0);
}

/* -- in the parent ------------------------------------------------------ */

/* Not fork(): its clone() flags differ between C libraries, and a filter of system calls names them (process/harden.c).
 * What fork() does in addition is only needed with threads. */
pid_t sl_mip_copy_process(void)
{
	return (pid_t) syscall(SYS_clone, (unsigned long) SIGCHLD, NULL, NULL, NULL, NULL);
}

void sl_mip_reap(pid_t pid, int64_t until, struct sl_mip_report *report)
{
	struct rusage usage = { 0 };
	int status = 0;
	bool late;
	pid_t gone;

	do
		gone = wait4(pid, &status, 0, &usage);	/* by *until* the process has ended, whatever it does */
	while (gone < 0 && errno == EINTR);
	report->seconds = (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			  (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	if (gone < 0) {
		/* another part of the program has reaped it (SIGCHLD ignored): how it ended is unknown */
		report->end = SL_END_EXIT;
		report->status = -1;
	} else if (WIFEXITED(status)) {
		report->end = WEXITSTATUS(status) ? SL_END_EXIT : SL_END_ANSWERED;
		report->status = WEXITSTATUS(status);
	} else {
		report->status = WTERMSIG(status);
		/* its own timer and limits kill it after *until*; an earlier SIGKILL came from elsewhere */
		late = report->status == SIGXCPU || (report->status == SIGKILL && sl_clock_ns() >= until);
		report->end = late ? SL_END_DEADLINE : SL_END_SIGNAL;
	}
}

static double longest_s(const struct sl_mip_options *o)
{
	if (!o->clock)
		return o->hangs_s > 0 ? o->hangs_s : fmax(SL_MIP_HANGS_S, SL_MIP_HANGS_TIMES * o->time_limit);
	return o->time_limit * (1 + GRACE_SHARE) + GRACE_S;
}

int64_t sl_mip_longest_ns(const struct sl_mip_options *o)
{
	int64_t longest_ns = (int64_t) (longest_s(o) * 1e9), left = o->deadline_ns - sl_clock_ns();

	return !o->deadline_ns || longest_ns < left ? longest_ns : left > 0 ? left : 0;
}

void sl_mip_run(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		const double *start, double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report)
{
	int64_t begin = sl_clock_ns();
	double soft_s = o->clock ? o->time_limit : INFINITY, hard_s = longest_s(o);
	pid_t parent = getpid(), pid;
	uint64_t size = sl_mip_own_size();

	memset(a, 0, sizeof(*a));
	a->bound = NAN;
	*report = (struct sl_mip_report) { .end = SL_END_DEADLINE };
	if (o->deadline_ns) {
		double left = (double) (o->deadline_ns - begin) / 1e9;

		if (left <= 0)
			return;
		soft_s = fmin(soft_s, left * SHARE_SOLVER);
		hard_s = fmin(hard_s, left * SHARE_ALL);
	}
	pid = sl_mip_copy_process();
	if (!pid)
		run_child(m, o, backend, start, start_objective, soft_s, hard_s, begin, size, parent, a);
	if (pid < 0) {
		report->end = SL_END_NOT_STARTED;
		report->status = errno;
		return;
	}
	sl_mip_reap(pid, begin + (int64_t) (hard_s * 1e9), report);
	report->wall = (double) (sl_clock_ns() - begin) / 1e9;
}
