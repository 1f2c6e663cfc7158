/* SPDX-License-Identifier: MIT */
/*
 * mip/kept.c - a solver's process that is kept for the next solve.
 *
 * A simulation with small programs spends half of its time on making a process for each (child.c).  Here one process solves
 * one program after the other.  It has the same limit on memory and the same filter of system calls; its time is limited by
 * its parent alone.  In addition it has a socket to its parent and its own /proc/self/statm open.  Programs and answers are
 * in memory that both share.  On the socket each side tells the other that it is its turn, by a packet with the number of the
 * solve.  As always the parent does not trust the answer (solve.c), and it kills the process when a solve hangs.
 *
 * An answer must not depend on earlier programs.  Therefore a kept process only saves time: if it crashes, says that it
 * failed, or ends for any other reason, the caller solves the program again in a process of its own.  It ends by itself when
 * it has leaked a part of its memory, or has solved many programs.
 *
 * Threads: as child.c, a process of one thread.
 */
#include "mip/private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define LEAST_ROOM ((size_t) 1 << 20)
#define MOST_SOLVES 1000	/* after that many the process ends */
#define LEAKED_SHARE 16		/* the process ends when it has grown by memory_mb divided by this */
#define LAST 0x80000000u	/* in a reply: the process ends now */

/* The beginning of the shared memory.  After it come the model and the answer. */
struct exchange {
	struct sl_mip_question q;
	double seconds;			/* CPU time of this solve */
};

static struct {
	unsigned wanted;		/* calls of sl_mip_keep() minus those of sl_mip_release() */
	pid_t owner;			/* process that started it; a copy of that process has no kept one */
	pid_t pid;			/* 0: none */
	int sock;
	uint32_t number, memory_mb;
	double counted_s;		/* its CPU time until the end of its last solve */
	struct sl_mip_backend backend;
	struct exchange *shared;
	size_t room;
} kept;

static size_t model_at(void)
{
	return (sizeof(struct exchange) + 15) / 16 * 16;
}

static size_t answer_at(const struct sl_mip_question *q)
{
	return model_at() + (sl_mip_packed_size(q) + 15) / 16 * 16;
}

/* -- the kept process ----------------------------------------------------- */

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static void solve_one(const struct sl_mip_backend *backend)
{
	struct sl_mip_question q = kept.shared->q;
	struct sl_mip_options o = sl_mip_options_of(&q);
	const double *start;
	struct sl_mip m;

	sl_mip_unpack(&q, (char *) kept.shared + model_at(), &m, &start);
	sl_mip_solve_here(&m, &o, backend, start, q.start_objective, INFINITY, sl_clock_ns(),
			  (struct sl_mip_answer *) ((char *) kept.shared + answer_at(&q)));
	kept.shared->seconds = cpu_s() - kept.counted_s;
	kept.counted_s += kept.shared->seconds;
}

/* True if the process has lost too much memory by leaks. */
static bool has_leaked(uint64_t size)
{
	uint64_t now = sl_mip_own_size();

	return now > size && now - size > ((uint64_t) kept.memory_mb << 20) / LEAKED_SHARE;
}

static _Noreturn void serve(const struct sl_mip_backend *backend)
{
	uint64_t size = 0;
	uint32_t number;

	for (uint32_t solves = 1; read(kept.sock, &number, sizeof(number)) == sizeof(number); solves++) {
		bool last;

		solve_one(backend);
		/* the first solve allocates what all solves need */
		if (solves == 1)
			size = sl_mip_own_size();
		last = solves == MOST_SOLVES || (kept.memory_mb && has_leaked(size));
		number |= last ? LAST : 0;
		if (write(kept.sock, &number, sizeof(number)) != sizeof(number) || last)
			break;
		if (backend->forget)
			backend->forget();
	}
	_exit(0);
}

/* Close all descriptors except the socket.  /proc/self/statm is opened as descriptor 0. */
static void close_others(void)
{
	dup2(kept.sock, 3);
	kept.sock = 3;
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	sl_mip_close_from(4);
	sl_mip_know_size();
}

static _Noreturn void begin_serving(const struct sl_mip_backend *backend, uint64_t size, pid_t parent)
{
	close_others();
	if (sl_mip_confine(kept.memory_mb, size, parent, NULL) || sl_mip_filter_calls(NULL))
		_exit(1);
	serve(backend);
}

/* -- the parent's side ------------------------------------------------------ */

/* Release this process's side.  The kept process ends when it notices. */
static void drop(void)
{
	close(kept.sock);
	munmap(kept.shared, kept.room);
	kept.pid = 0;
}

/* Kill the kept process and wait for it.  *until*: the end of its time. */
static void end(int64_t until, struct sl_mip_report *report)
{
	struct sl_mip_report unused;

	kill(kept.pid, SIGKILL);
	sl_mip_reap(kept.pid, until, report ? report : &unused);
	drop();
}

static bool start(const struct sl_mip_options *o, const struct sl_mip_backend *backend, size_t room)
{
	uint64_t size = sl_mip_own_size();
	pid_t parent = getpid();
	int sv[2];

	kept.room = room * 2 > LEAST_ROOM ? room * 2 : LEAST_ROOM;
	kept.shared = mmap(NULL, kept.room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (kept.shared == MAP_FAILED)
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv)) {
		munmap(kept.shared, kept.room);
		return false;
	}
	kept.memory_mb = o->memory_mb;
	kept.backend = *backend;
	kept.owner = parent;
	kept.counted_s = 0;
	kept.sock = sv[1];
	kept.pid = sl_mip_copy_process();
	if (!kept.pid)
		begin_serving(backend, size ? size + kept.room : 0, parent);
	close(sv[1]);
	kept.sock = sv[0];
	if (kept.pid > 0)
		return true;
	drop();
	return false;
}

static bool is_for(const struct sl_mip_options *o, const struct sl_mip_backend *backend, size_t room)
{
	return kept.memory_mb == o->memory_mb && kept.room >= room && kept.backend.name == backend->name &&
		kept.backend.solve == backend->solve && kept.backend.library == backend->library;
}

/* Make sure that there is a suitable kept process: the present one or a new one. */
static bool have_one(const struct sl_mip_options *o, const struct sl_mip_backend *backend, size_t room)
{
	if (kept.pid && kept.owner != getpid())
		drop();
	if (kept.pid && !is_for(o, backend, room))
		end(0, NULL);
	return kept.pid || start(o, backend, room);
}

/* Wait for the reply to question *number* until *until*.  1; 0 if it is late; -1 if there is none. */
static int wait_reply(uint32_t number, int64_t until, bool *last)
{
	struct pollfd p = { .fd = kept.sock, .events = POLLIN };
	uint32_t reply = 0;
	int ready;

	/* wait until the time is really over: a process that is killed before looks as if somebody else had killed it */
	do {
		int64_t left = (until - sl_clock_ns() + 999999) / 1000000;

		ready = poll(&p, 1, left < 0 ? 0 : left < INT32_MAX ? (int) left : INT32_MAX);
	} while (ready < 0 ? errno == EINTR : !ready && sl_clock_ns() < until);
	if (ready <= 0)
		return ready;
	if (recv(kept.sock, &reply, sizeof(reply), MSG_DONTWAIT) != sizeof(reply) || (reply & ~LAST) != number)
		return -1;
	*last = reply & LAST;
	return 1;
}

bool sl_mip_run_kept(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		     const double *start_values, double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report)
{
	struct sl_mip_question q = sl_mip_question_of(m, o, start_values != NULL, start_objective);
	size_t size = sl_mip_answer_size(m->columns), at = answer_at(&q);
	int64_t begin = sl_clock_ns(), until = begin + sl_mip_longest_ns(o);
	uint32_t number = ++kept.number & ~LAST;
	bool last = false;
	int rc;

	if (!kept.wanted || o->clock || o->deadline_ns || !have_one(o, backend, at + size))
		return false;
	memset(a, 0, sizeof(*a));
	a->bound = NAN;
	kept.shared->q = q;
	sl_mip_pack(&q, m, start_values, (char *) kept.shared + model_at());
	memcpy((char *) kept.shared + at, a, sizeof(*a));
	*report = (struct sl_mip_report) { .end = SL_END_ANSWERED };
	rc = send(kept.sock, &number, sizeof(number), MSG_NOSIGNAL) == sizeof(number) ? wait_reply(number, until, &last) : -1;
	memcpy(a, (char *) kept.shared + at, size);
	if (rc <= 0) {
		double counted_s = kept.counted_s;

		end(until, report);
		report->seconds = fmax(report->seconds - counted_s, 0);
	} else {
		report->seconds = kept.shared->seconds;
		kept.counted_s += report->seconds;
		if (last || a->claim == SL_CLAIM_FAILED)
			end(until, NULL);
	}
	report->wall = (double) (sl_clock_ns() - begin) / 1e9;
	return rc == 0 || (rc > 0 && a->claim != SL_CLAIM_FAILED);
}

void sl_mip_keep(void)
{
	kept.wanted++;
}

void sl_mip_release(void)
{
	if (kept.wanted && --kept.wanted)
		return;
	if (kept.pid && kept.owner == getpid())
		end(0, NULL);
}
