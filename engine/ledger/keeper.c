/* SPDX-License-Identifier: MIT */
/*
 * keeper.c - the engine's side of the keeper.
 */
#include "ledger/keeper_private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/packet.h"
#include "ledger/ledger.h"
#include "image/wire.h"

#define MOST_NAMES (1u << 24)

/* A question, and the last answer to it. */
struct known {
	struct sl_usage_query q;
	char partition[KEEPER_PARTITION];
	struct sl_usage_total *total;	/* names point into bytes */
	uint32_t count;
	const void *bytes;
	size_t size;
	bool answered;
	int64_t cycle;			/* of the answer */
	uint64_t used;
};

struct sl_keeper {
	int sock;
	pid_t pid;
	uint64_t id, clock;
	int64_t safe, cycle;
	int64_t left_ms;		/* of this cycle's patience */
	bool gone;
	char said[256];			/* by the keeper: why why_stale */
	char late[256];			/* by us */
	struct sl_history *history;
	struct known known[SL_KEEPER_QUESTIONS];
};

/* -- packets --------------------------------------------------------------- */

int keeper_send(int sock, const struct keeper_packet *p, int fd, int timeout_ms)
{
	struct sl_error err;

	if (!sl_packet_send(sock, p, sizeof(*p), &fd, fd >= 0, timeout_ms, &err))
		return 1;
	return err.code == SL_ETIME || err.code == SL_EBUSY ? 0 : -1;
}

int keeper_recv(int sock, struct keeper_packet *p, int *fd, int timeout_ms)
{
	struct sl_packet_fds fds;
	struct sl_error err;
	size_t size;
	int rc = sl_packet_recv(sock, p, sizeof(*p), &size, &fds, timeout_ms, &err);

	*fd = -1;
	if (rc <= 0)
		return rc < 0 && err.code == SL_ETIME ? 0 : -1;
	if (size != sizeof(*p) || p->magic != KEEPER_MAGIC || fds.count > 1) {
		sl_packet_close(&fds);
		return -1;
	}
	p->partition[sizeof(p->partition) - 1] = p->stale[sizeof(p->stale) - 1] = p->error[sizeof(p->error) - 1] = 0;
	if (fds.count)
		*fd = fds.fd[0];
	return 1;
}

/* -- starting it ------------------------------------------------------------ */

/* The process that starts the keeper, and starts it again. */
static void watch_over(int sock, const char *dir, pid_t engine)
{
	unsigned ends = 0;
	struct sl_error err;
	int status;
	pid_t pid;

	prctl(PR_SET_NAME, "ledger-watch", 0, 0, 0);
	if (keeper_confine(dir, true, &err)) {
		dprintf(2, "ledger keeper: %s\n", err.text);
		_exit(1);
	}
	if (getppid() != engine)
		_exit(0);
	for (;;) {
		pid_t us = getpid();

		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
			if (getppid() != us)
				_exit(0);
			_exit(keeper_serve(sock, dir));
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
			_exit(0);	/* the engine is gone */
		if (pid > 0)
			dprintf(2, "the ledger keeper ended by %s %d; another is started\n",
				WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) :
				WEXITSTATUS(status));
		poll(NULL, 0, 100 << (ends < 7 ? ends++ : 7));
	}
}

struct sl_keeper *sl_keeper_start(const char *dir, struct sl_error *err)
{
	struct sl_keeper *k = calloc(1, sizeof(*k));
	int sv[2] = { -1, -1 }, up;
	pid_t engine = getpid();

	if (!k) {
		sl_fail(err, SL_ENOMEM, "ledger keeper: out of memory");
		return NULL;
	}
	k->sock = -1;
	if (!sl_ledger_available()) {
		snprintf(k->said, sizeof(k->said), "there is no ledger: built without SQLite");
		k->gone = true;
		return k;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) || (k->pid = fork()) < 0) {
		sl_fail(err, SL_EIO, "ledger keeper: %s", strerror(errno));
		if (sv[0] >= 0) {
			close(sv[0]);
			close(sv[1]);
		}
		free(k);
		return NULL;
	}
	if (!k->pid) {
		/* nothing of the engine's stays open but stderr */
		up = dup2(sv[1], 3);
		close_range(4, ~0u, 0);
		watch_over(up, dir, engine);
	}
	close(sv[1]);
	k->sock = sv[0];
	return k;
}

static void forget_answer(struct known *a)
{
	sl_wire_unmap(a->bytes, a->size);
	free(a->total);
	a->bytes = NULL;
	a->total = NULL;
	a->count = 0;
	a->answered = false;
}

void sl_keeper_destroy(struct sl_keeper *k)
{
	if (!k)
		return;
	if (k->sock >= 0)
		close(k->sock);
	for (int i = 0; i < SL_KEEPER_QUESTIONS; i++)
		forget_answer(&k->known[i]);
	sl_history_destroy(k->history);
	free(k);
}

/* -- what it says ------------------------------------------------------------ */

static void end_keeper(struct sl_keeper *k)
{
	k->gone = true;
	snprintf(k->said, sizeof(k->said), "the ledger keeper has ended");
}

/* Totals are believed when all of them lie inside what came. */
static int take_totals(void *to, const struct keeper_packet *p, int fd)
{
	struct known *a = to;
	const struct keeper_total *from;
	struct sl_usage_total *total = NULL;
	const void *bytes = NULL;
	size_t size = 0;

	if (p->count) {
		if (fd < 0 || p->count > MOST_NAMES || sl_wire_map(fd, &bytes, &size, NULL))
			return -1;
		total = calloc(p->count, sizeof(*total));
		from = bytes;
		if (!total || size < (size_t) p->count * sizeof(*from) + 1 || ((const char *) bytes)[size - 1])
			goto error;
		for (uint32_t i = 0; i < p->count; i++) {
			if (from[i].name >= size)
				goto error;
			total[i] = (struct sl_usage_total) { (const char *) bytes + from[i].name, from[i].seconds,
							     from[i].decayed };
		}
	}
	forget_answer(a);
	a->bytes = bytes;
	a->size = size;
	a->total = total;
	a->count = p->count;
	a->answered = true;
	return 0;
error:
	sl_wire_unmap(bytes, size);
	free(total);
	return -1;
}

static void note_state(struct sl_keeper *k, const struct keeper_packet *p)
{
	if (p->sequence > k->safe || !p->sequence)
		k->safe = p->sequence;
	snprintf(k->said, sizeof(k->said), "%s", p->stale);
}

/* What to do with an answer: 0, or -1 if it makes no sense. */
typedef int take_answer(void *to, const struct keeper_packet *p, int fd);

/*
 * Receive until the answer *id comes or time is up.  1: it came, and was taken; 0: not in
 * time; -1 with *err: it says no.
 */
static int wait_answer(struct sl_keeper *k, uint64_t id, take_answer *take, void *to, int64_t wait_ms,
		       struct sl_error *err)
{
	int64_t until = sl_clock_ms() + wait_ms, left;
	struct keeper_packet p;
	int fd, rc;

	for (;;) {
		left = until - sl_clock_ms();
		rc = keeper_recv(k->sock, &p, &fd, left > 0 ? (int) left : 0);
		if (rc < 0)
			end_keeper(k);
		if (rc <= 0)
			return 0;
		note_state(k, &p);
		rc = 0;
		if (take && p.type == KEEPER_ANSWER && p.id == id) {
			if (!p.ok)
				rc = sl_fail(err, SL_EIO, "%s", p.error);
			else if (take(to, &p, fd))
				rc = sl_fail(err, SL_EFORMAT, "the ledger keeper's answer makes no sense");
			else
				rc = 1;
		}
		if (fd >= 0)
			close(fd);
		if (rc)
			return rc;
	}
}

void sl_keeper_poll(struct sl_keeper *k)
{
	if (!k->gone)
		wait_answer(k, 0, NULL, NULL, 0, NULL);
}

void sl_keeper_feed(struct sl_keeper *k, int fd, int64_t sequence)
{
	struct keeper_packet p = { .magic = KEEPER_MAGIC, .type = KEEPER_FEED, .sequence = sequence };

	k->cycle++;
	k->left_ms = SL_KEEPER_WAIT_MS;
	*k->late = 0;
	if (k->gone)
		return;
	sl_keeper_poll(k);
	switch (keeper_send(k->sock, &p, fd, 0)) {
	case 0:
		snprintf(k->late, sizeof(k->late), "the ledger keeper is behind: it is stuck, or its disk is slow");
		break;
	case -1:
		end_keeper(k);
	}
}

int64_t sl_keeper_safe(const struct sl_keeper *k)
{
	return k->safe;
}

const char *sl_keeper_stale(const struct sl_keeper *k)
{
	return *k->late ? k->late : *k->said ? k->said : NULL;
}

/* -- questions ---------------------------------------------------------------- */

static bool same_question(const struct known *a, const struct sl_usage_query *q)
{
	return a->used && a->q.by == q->by && a->q.unit == q->unit && a->q.without == q->without &&
		a->q.half_life == q->half_life && (q->half_life > 0 || a->q.until == q->until) &&
		!a->q.partition == !q->partition && (!q->partition || !strcmp(a->partition, q->partition));
}

/*
 * Where the answer to a question is kept.  A question whose beginning moves on with the clock
 * is the same question: what it was told last is the best there is, should no answer
 * come.  Of those that are asked in this cycle, none takes another's place.
 */
static struct known *find_known(struct sl_keeper *k, const struct sl_usage_query *q)
{
	struct known *best = NULL, *oldest = &k->known[0];

	for (int i = 0; i < SL_KEEPER_QUESTIONS; i++) {
		struct known *a = &k->known[i];

		if (same_question(a, q) && a->q.since == q->since)
			return a;
		if (same_question(a, q) && a->cycle < k->cycle && (!best || a->used > best->used))
			best = a;
		if (a->used < oldest->used)
			oldest = a;
	}
	if (best)
		return best;
	forget_answer(oldest);
	return oldest;
}

static int send_question(struct sl_keeper *k, const struct sl_usage_query *q)
{
	struct keeper_packet p = {
		.magic = KEEPER_MAGIC, .type = KEEPER_ASK, .id = ++k->id, .by = (uint32_t) q->by,
		.unit = (uint32_t) q->unit, .without = q->without, .has_partition = q->partition != NULL,
		.since = q->since, .until = q->until, .now = q->now, .half_life = q->half_life,
	};

	if (q->partition)
		snprintf(p.partition, sizeof(p.partition), "%s", q->partition);
	return keeper_send(k->sock, &p, -1, (int) k->left_ms);
}

/* Is there somebody to ask, and time left in this cycle? */
static bool may_ask(struct sl_keeper *k)
{
	if (!k->gone && k->left_ms <= 0)
		snprintf(k->late, sizeof(k->late), "the ledger keeper does not answer in time");
	return !k->gone && k->left_ms > 0;
}

/* What asking took and came to (wait_answer()); returns that. */
static int settle(struct sl_keeper *k, int64_t began_ms, int rc, const struct sl_error *why)
{
	k->left_ms -= sl_clock_ms() - began_ms;
	if (rc < 0)
		snprintf(k->late, sizeof(k->late), "%.250s", why->text);
	else if (!rc)
		snprintf(k->late, sizeof(k->late), "the ledger keeper does not answer in time");
	return rc;
}

static int ask_keeper(void *arg, const struct sl_usage_query *q, const struct sl_usage_total **total,
		      uint32_t *count, struct sl_error *err)
{
	struct sl_keeper *k = arg;
	struct known *a;
	struct sl_error why = { 0 };
	int64_t began = sl_clock_ms();
	int rc = 0;

	if (q->partition && strlen(q->partition) >= KEEPER_PARTITION)
		return sl_fail(err, SL_EINVAL, "usage: a partition's name of %zu characters", strlen(q->partition));
	a = find_known(k, q);
	a->q = *q;
	a->q.partition = q->partition ? a->partition : NULL;
	snprintf(a->partition, sizeof(a->partition), "%s", q->partition ? q->partition : "");
	a->used = ++k->clock;
	if (may_ask(k))
		rc = settle(k, began, send_question(k, q) == 1 ? wait_answer(k, k->id, take_totals, a, k->left_ms, &why) : 0, &why);
	if (rc > 0)
		a->cycle = k->cycle;
	*total = a->total;
	*count = a->count;
	return 0;
}

static const char *why_stale(void *arg)
{
	return sl_keeper_stale(arg);
}

struct sl_usage_provider sl_keeper_provider(struct sl_keeper *k)
{
	return (struct sl_usage_provider) { .arg = k, .ask = ask_keeper, .stale = why_stale };
}

/* -- runs ------------------------------------------------------------------------- */

struct wanted {
	struct sl_history *h;
	struct keeper_key *key;
	char *names;			/* offsets as in the question: from the first key on */
	size_t size;
	uint32_t keys;
};

/* All that are to be loaded, laid out as they are sent. */
static int collect_wanted(struct wanted *w, struct sl_error *err)
{
	enum sl_usage_by by;
	const char *name;
	size_t text = 1;
	char *to;

	for (uint32_t at = 0; sl_history_next_asked(w->h, &at, &by, &name); w->keys++)
		text += strlen(name) + 1;
	w->size = w->keys * sizeof(*w->key) + text;
	w->key = calloc(1, w->size);
	if (!w->key)
		return sl_fail(err, SL_ENOMEM, "history: out of memory");
	w->names = (char *) w->key;
	to = w->names + w->keys * sizeof(*w->key);
	w->keys = 0;
	for (uint32_t at = 0; sl_history_next_asked(w->h, &at, &by, &name); w->keys++) {
		w->key[w->keys] = (struct keeper_key) { *sl_history_mark(w->h, by, name), (uint64_t) (to - w->names), by, 0 };
		to = stpcpy(to, name) + 1;
	}
	return 0;
}

static int take_runs(void *to, const struct keeper_packet *p, int fd)
{
	struct wanted *w = to;

	return keeper_take_runs(w->h, w->key, w->keys, w->names, p->count, fd) ? 0 : -1;
}

static int send_wanted(struct sl_keeper *k, const struct wanted *w)
{
	struct keeper_packet p = { .magic = KEEPER_MAGIC, .type = KEEPER_RUNS, .id = ++k->id, .count = w->keys };
	int fd = sl_wire_memfd("names", w->key, w->size, NULL), rc;

	if (fd < 0)
		return -1;
	rc = keeper_send(k->sock, &p, fd, (int) k->left_ms);
	close(fd);
	return rc;
}

/* Whoever is not answered about in time has the runs that he had. */
static int load_runs(void *arg, struct sl_history *h, enum sl_usage_by by, const char *name, struct sl_error *err)
{
	struct sl_keeper *k = arg;
	struct wanted w = { .h = h };
	struct sl_error why = { 0 };
	int64_t began = sl_clock_ms();

	if (!may_ask(k)) {
		sl_history_loaded(h, by, name);
		return 0;
	}
	if (collect_wanted(&w, err))
		return -1;
	settle(k, began, send_wanted(k, &w) == 1 ? wait_answer(k, k->id, take_runs, &w, k->left_ms, &why) : 0, &why);
	for (uint32_t i = 0; i < w.keys; i++)
		sl_history_loaded(h, (enum sl_usage_by) w.key[i].by, w.names + w.key[i].name);
	free(w.key);
	return 0;
}

struct sl_history *sl_keeper_history(struct sl_keeper *k)
{
	/* texts are never forgotten: with so many of them it begins anew */
	if (k->history && sl_history_texts(k->history) >= SL_HISTORY_TEXTS) {
		sl_history_destroy(k->history);
		k->history = NULL;
	}
	if (!k->history)
		k->history = sl_history_create(load_runs, k, NULL);
	return k->history;
}
