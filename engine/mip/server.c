/* SPDX-License-Identifier: MIT */
/*
 * mip/server.c - solvers for a process that may start none.
 *
 * The engine that decides cannot make processes (process/harden.h).  Before it loses that right it starts this server, which
 * does nothing else: it receives a model as a sealed memfd, has it solved in a process of its own (mip/child.c), one at a
 * time, and reports how that process ended.  The answer goes from the solver to the engine in memory that the engine made.
 * The content of a model is read by the solver's process only; the server just compares its size with its counts.
 */
#include "mip/private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/packet.h"
#include "image/wire.h"

#define MAGIC 0x4d495031u
#define BACKENDS 8
#define LATE_NS INT64_C(2000000000)	/* the server replies at most so long after the latest end of a solve */
#define MOST_TIME 1e6			/* seconds, as in sl_mip_solve() */

enum { MODEL, ANSWER, DESCRIPTORS };	/* numbers of the descriptors that come with a question */

struct question {
	uint32_t magic, backend;
	struct sl_mip_question of;
};

/* Sent once at the start: the available backends. */
struct greeting {
	uint32_t magic;
	struct {
		uint32_t usable;
		char why_not[160];
	} backend[BACKENDS];
};

struct reply {
	uint32_t magic;
	struct sl_mip_report report;
};

/* The server of this process: at most one in the life of the process. */
static struct {
	bool started, gone;
	int sock;
	struct greeting greeting;
} server = { .sock = -1 };

/* -- models as bytes ------------------------------------------------------ */

static int pack_model(const struct sl_mip_question *q, const struct sl_mip *m, const double *start)
{
	size_t size = sl_mip_packed_size(q);
	char *bytes = malloc(size);
	int fd;

	if (!bytes)
		return -1;
	sl_mip_pack(q, m, start, bytes);
	fd = sl_wire_memfd("schedlua-model", bytes, size, NULL);
	free(bytes);
	return fd;
}

/* -- answers ---------------------------------------------------------------- */

/* Memory of a fixed size that both sides map.  A descriptor, or -1. */
static int make_answer(size_t size)
{
	int fd = memfd_create("schedlua-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, (off_t) size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void *map_answer(int fd, size_t size)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) || (size_t) st.st_size < size)
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* -- packets ------------------------------------------------------------------ */

static bool send_packet(int sock, const void *packet, size_t size, const int fd[DESCRIPTORS])
{
	return !sl_packet_send(sock, packet, size, fd, fd ? DESCRIPTORS : 0, -1, NULL);
}

/* Receive a packet of exactly that size.  fd[] gets its descriptors, -1 where one is missing; NULL: none is accepted. */
static bool receive_packet(int sock, void *packet, size_t size, int fd[DESCRIPTORS], int timeout_ms)
{
	struct sl_packet_fds fds;
	size_t n = 0;

	if (sl_packet_recv(sock, packet, size, &n, &fds, timeout_ms, NULL) <= 0)
		return false;
	for (int i = 0; fd && i < DESCRIPTORS; i++)
		fd[i] = i < fds.count ? fds.fd[i] : -1;
	if (fds.count > (fd ? DESCRIPTORS : 0)) {
		sl_packet_close(&fds);
		return false;
	}
	return n == size && *(uint32_t *) packet == MAGIC;
}

/* -- the server's side ---------------------------------------------------------- */

static bool makes_sense(const struct question *q)
{
	return q->of.columns && q->of.rows && q->backend < BACKENDS && sl_mip_backend(q->backend) &&
		server.greeting.backend[q->backend].usable && q->of.time_limit > 0 && q->of.time_limit <= MOST_TIME;
}

static void solve_one(const struct question *q, const int fd[DESCRIPTORS], struct sl_mip_report *report)
{
	struct sl_mip_options o = sl_mip_options_of(&q->of);
	size_t answer_size = sl_mip_answer_size(q->of.columns), size = 0;
	struct sl_mip_answer *a = MAP_FAILED;
	const void *bytes = NULL;
	const double *start;
	struct sl_mip m;

	*report = (struct sl_mip_report) { .end = SL_END_NOT_STARTED, .status = EINVAL };
	if (!makes_sense(q) || fd[MODEL] < 0 || fd[ANSWER] < 0 || sl_wire_map(fd[MODEL], &bytes, &size, NULL))
		return;
	if (size == sl_mip_packed_size(&q->of))
		a = map_answer(fd[ANSWER], answer_size);
	if (a != MAP_FAILED) {
		sl_mip_unpack(&q->of, (void *) bytes, &m, &start);
		sl_mip_run(&m, &o, sl_mip_backend(q->backend), start, q->of.start_objective, a, report);
		munmap(a, answer_size);
	}
	sl_wire_unmap(bytes, size);
}

static void load_backends(struct greeting *g)
{
	struct sl_error err;

	*g = (struct greeting) { .magic = MAGIC };
	for (unsigned k = 0; k < BACKENDS && sl_mip_backend(k); k++) {
		err.text[0] = 0;
		g->backend[k].usable = !sl_mip_library_load(sl_mip_backend(k)->library, &err);
		snprintf(g->backend[k].why_not, sizeof(g->backend[k].why_not), "%.159s", err.text);
	}
}

static _Noreturn void serve_engine(int sock, int (*confine)(void *arg, struct sl_error *err), void *arg)
{
	struct question q;
	struct reply r = { .magic = MAGIC };
	struct sl_error err;
	int fd[DESCRIPTORS];

	prctl(PR_SET_NAME, "solver-starter", 0, 0, 0);
	load_backends(&server.greeting);
	sl_mip_know_size();
	if (confine(arg, &err)) {
		dprintf(2, "schedlua: solvers: %s\n", err.text);
		_exit(1);
	}
	if (!send_packet(sock, &server.greeting, sizeof(server.greeting), NULL))
		_exit(0);
	while (receive_packet(sock, &q, sizeof(q), fd, -1)) {
		solve_one(&q, fd, &r.report);
		for (int i = 0; i < DESCRIPTORS; i++)
			if (fd[i] >= 0)
				close(fd[i]);
		if (!send_packet(sock, &r, sizeof(r), NULL))
			break;
	}
	_exit(0);
}

/* -- the engine's side ------------------------------------------------------------ */

int sl_mip_start_server(int (*confine)(void *arg, struct sl_error *err), void *arg, struct sl_error *err)
{
	int sv[2];
	pid_t engine = getpid(), pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return sl_fail(err, SL_EIO, "solvers: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		/* the server keeps no descriptor of the engine's but stderr */
		dup2(sv[1], 3);
		close_range(4, ~0u, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (getppid() != engine)
			_exit(0);
		serve_engine(3, confine, arg);
	}
	close(sv[1]);
	server.sock = sv[0];
	server.started = true;
	if (pid < 0 || !receive_packet(server.sock, &server.greeting, sizeof(server.greeting), NULL, -1)) {
		sl_fail(err, SL_EIO, "solvers: the process that starts them %s", pid < 0 ? "cannot be made" : "has ended");
		close(server.sock);
		server.gone = true;
		return -1;
	}
	return 0;
}

bool sl_mip_server_gone(void)
{
	struct pollfd p = { .fd = server.sock };

	if (server.started && !server.gone && poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)))
		server.gone = true;
	return server.gone;
}

bool sl_mip_has_server(void)
{
	return server.started;
}

int sl_mip_server_has(unsigned k, struct sl_error *err)
{
	if (server.gone)
		return sl_fail(err, SL_EIO, "the process that starts solvers has ended");
	return server.greeting.backend[k].usable ? 0 : sl_fail(err, SL_EIO, "%s", server.greeting.backend[k].why_not);
}

/* Receive the reply, which comes before *until* if the server is alive. */
static bool wait_reply(struct reply *r, int64_t until)
{
	int64_t left = (until - sl_clock_ns()) / 1000000;

	return receive_packet(server.sock, r, sizeof(*r), NULL, left < 0 ? 0 : left < INT32_MAX ? (int) left : INT32_MAX);
}

void sl_mip_ask(const struct sl_mip *m, const struct sl_mip_options *o, unsigned backend, const double *start,
		double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report)
{
	struct question q = { MAGIC, backend, sl_mip_question_of(m, o, start != NULL, start_objective) };
	size_t size = sl_mip_answer_size(m->columns);
	int fd[DESCRIPTORS] = { pack_model(&q.of, m, start), make_answer(size) };
	struct sl_mip_answer *shared = fd[ANSWER] < 0 ? MAP_FAILED : map_answer(fd[ANSWER], size);
	int64_t until = sl_clock_ns() + sl_mip_longest_ns(o) + LATE_NS;
	struct reply r;

	memset(a, 0, sizeof(*a));
	a->bound = NAN;
	*report = (struct sl_mip_report) { .end = SL_END_NOT_STARTED, .status = ENOMEM };
	if (fd[MODEL] >= 0 && shared != MAP_FAILED) {
		if (send_packet(server.sock, &q, sizeof(q), fd) && wait_reply(&r, until)) {
			*report = r.report;
			memcpy(a, shared, size);
		} else {
			/* a late reply would be taken for the answer to the next question */
			shutdown(server.sock, SHUT_RDWR);
			server.gone = true;
			report->status = ECONNRESET;
		}
	}
	if (shared != MAP_FAILED)
		munmap(shared, size);
	for (int i = 0; i < DESCRIPTORS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}
