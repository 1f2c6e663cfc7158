/* SPDX-License-Identifier: MIT */
/*
 * keeper_serve.c - the keeper's own process.
 */
#include "base/plain.h"
#include "ledger/keeper_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/harden.h"
#include "ledger/ledger.h"
#include "ledger/tracker.h"
#include "image/wire.h"

#define MEMORY ((size_t) 2 << 30)
#define FILES 32
#define PATIENCE_MS 100		/* with another process that has the file */
#define QUIET_MS 50		/* without a question, and it is written; */
#define LATEST_MS 300		/* or so long after what came first */
#define RETRY_S 2		/* between two tries to open a ledger, or to write after a failure */

struct keeper {
	int sock;
	char path[4200];
	struct sl_ledger *l;
	bool standing_in;		/* it is one in memory, since there is none */
	struct sl_tracker *t;
	int64_t fed, safe;		/* snapshots */
	time_t retry;			/* after a failure: not before */
	char stale[256], said[512];
	uint32_t strange;
};

/* Set why the ledger is behind ("": it is not); the log gets it when it is another reason than
 * before. */
static void log_state(struct keeper *k, const char *text)
{
	snprintf(k->stale, sizeof(k->stale), "%.255s", text);
	if (sl_same_but_numbers(k->said, text))
		return;
	snprintf(k->said, sizeof(k->said), "%s", text);
	dprintf(2, "ledger: %s\n", *text ? text : "what was used is up to date again");
}

/* -- the file ----------------------------------------------------------------- */

static void close_ledger(struct keeper *k)
{
	sl_tracker_destroy(k->t);
	sl_ledger_close(k->l);
	k->t = NULL;
	k->l = NULL;
}

static int use_ledger(struct keeper *k, struct sl_ledger *l, bool standing_in, struct sl_error *err)
{
	struct sl_tracker *t = sl_tracker_create(l, err);

	if (!t) {
		sl_ledger_close(l);
		return -1;
	}
	k->l = l;
	k->t = t;
	k->standing_in = standing_in;
	if (!standing_in)
		sl_ledger_set_patience(l, PATIENCE_MS);
	return 0;
}

static int move_run(void *to, const struct sl_job_run *run)
{
	return sl_ledger_add(to, run, NULL) < 0;
}

static int move_open_run(void *to, const struct sl_job_run *run)
{
	return sl_ledger_keep_open(to, run->job, run, NULL);
}

/* What was kept in memory, and what is known there of runs that go on. */
static int move_runs(struct sl_ledger *from, struct sl_ledger *to, struct sl_error *err)
{
	return sl_ledger_runs(from, INT64_MIN, INT64_MAX, move_run, to, err) ||
		sl_ledger_commit(from, err) || sl_ledger_open_runs(from, move_open_run, to, err) ||
		sl_ledger_commit(to, err) ? -1 : 0;
}

/* The ledger is damaged: rename it, so that nobody opens it again. */
static void set_aside(struct keeper *k, const char *why)
{
	char to[4300], text[700];
	struct sl_error err;

	close_ledger(k);
	if (sl_ledger_set_aside(k->path, to, sizeof(to), &err))
		snprintf(text, sizeof(text), "damaged (%.100s), and cannot be set aside: %.120s", why, err.text);
	else
		snprintf(text, sizeof(text), "was damaged and is now %.120s: schedlua ledger import or create", to);
	dprintf(2, "ledger: %s\n", why);
	log_state(k, text);
}

/* Open the file, made if there never was one; what was kept in memory meanwhile moves there. */
static int open_ledger(struct keeper *k, struct sl_error *err)
{
	struct sl_ledger *l, *before = k->standing_in ? k->l : NULL;

	if (sl_ledger_was_set_aside(k->path))
		return sl_fail(err, SL_ENOENT, "there is none since a damaged one was set aside: "
			       "schedlua ledger import or create");
	l = sl_ledger_open(k->path, SL_LEDGER_CREATE, err);
	if (!l)
		return -1;
	if (before && move_runs(before, l, err)) {
		sl_ledger_close(l);
		return -1;
	}
	close_ledger(k);
	return use_ledger(k, l, false, err);
}

/* There is a ledger to feed: the file, or one in memory.  0, or -1: not even that. */
static int make_ready(struct keeper *k)
{
	struct sl_error err;

	if (k->l && !k->standing_in)
		return 0;
	if (time(NULL) >= k->retry) {
		k->retry = time(NULL) + RETRY_S;
		if (!open_ledger(k, &err)) {
			k->retry = 0;
			log_state(k, "");
			return 0;
		}
		if (err.code == SL_EFORMAT)
			set_aside(k, err.text);
		else
			log_state(k, err.text);
	}
	if (!k->l) {
		struct sl_ledger *l = sl_ledger_open(NULL, SL_LEDGER_CREATE, &err);

		if (!l || use_ledger(k, l, true, &err))
			return -1;
	}
	return 0;
}

/* -- feeding -------------------------------------------------------------------- */

static void report_failure(struct keeper *k, const struct sl_error *err)
{
	char text[400];

	if (err->code == SL_EFORMAT && !k->standing_in) {
		set_aside(k, err->text);
		return;
	}
	snprintf(text, sizeof(text), "%.200s (%u runs wait)", err->text, k->l ? sl_ledger_waiting(k->l) : 0);
	/* a number that grows is no news */
	snprintf(k->stale, sizeof(k->stale), "%.255s", text);
	if (strncmp(k->said, err->text, strlen(k->said)) || !*k->said) {
		snprintf(k->said, sizeof(k->said), "%s", err->text);
		dprintf(2, "ledger: %s\n", text);
	}
	k->retry = time(NULL) + RETRY_S;
}

static void take_snapshot(struct keeper *k, int fd, int64_t sequence)
{
	struct sl_snapshot snap;
	struct sl_error err;
	const void *bytes;
	size_t size;
	int rc;

	if (sl_wire_map(fd, &bytes, &size, &err)) {
		report_failure(k, &err);
		return;
	}
	rc = sl_snapshot_open(&snap, bytes, size, &err);
	if (rc)		/* the engine refuses it as well: not the ledger's fault */
		dprintf(2, "ledger: %s\n", err.text);
	else if (!make_ready(k)) {
		if ((!k->standing_in && sl_ledger_refresh(k->l, &err)) || sl_tracker_feed(k->t, &snap, &k->strange, &err))
			report_failure(k, &err);
		else
			k->fed = sequence;
	}
	sl_wire_unmap(bytes, size);
}

/* Write what waits.  Until that succeeds nothing is safe that came after. */
static void write_out(struct keeper *k)
{
	struct sl_error err;

	if (!k->l || (k->fed == k->safe && !sl_ledger_waiting(k->l)))
		return;
	if (k->standing_in) {
		/* in memory: bounded by what may wait for a file */
		struct sl_ledger_figures f;

		if (!sl_ledger_figures(k->l, &f, &err) && f.runs < SL_LEDGER_BACKLOG)
			sl_ledger_commit(k->l, &err);
		return;
	}
	if (time(NULL) < k->retry)
		return;
	if (sl_ledger_commit(k->l, &err)) {
		report_failure(k, &err);
		return;
	}
	k->retry = 0;
	k->safe = k->fed;
	log_state(k, "");
}

/* -- answering ------------------------------------------------------------------- */

static int send_totals(const struct sl_usage_total *total, uint32_t count, struct sl_error *err)
{
	size_t size = (size_t) count * sizeof(struct keeper_total), at = size;
	struct keeper_total *row;
	char *bytes;
	int fd;

	for (uint32_t i = 0; i < count; i++)
		size += strlen(total[i].name) + 1;
	bytes = malloc(size);
	if (!bytes)
		return sl_fail(err, SL_ENOMEM, "ledger: out of memory");
	row = (struct keeper_total *) bytes;
	for (uint32_t i = 0; i < count; i++) {
		row[i] = (struct keeper_total) { total[i].seconds, total[i].decayed, at };
		at += (size_t) (stpcpy(bytes + at, total[i].name) - (bytes + at)) + 1;
	}
	fd = sl_wire_memfd("totals", bytes, size, err);
	free(bytes);
	return fd;
}

/* Answer with *fd, which is closed, or -1; *err says why not where the answer is not ok. */
static void send_answer(struct keeper *k, struct keeper_packet *a, int fd, const struct sl_error *err)
{
	snprintf(a->error, sizeof(a->error), "%.250s", a->ok ? "" : err->text);
	snprintf(a->stale, sizeof(a->stale), "%s", k->stale);
	keeper_send(k->sock, a, fd, 1000);
	if (fd >= 0)
		close(fd);
}

static void answer_question(struct keeper *k, const struct keeper_packet *p)
{
	struct sl_usage_query q = {
		.by = (enum sl_usage_by) p->by, .unit = (enum sl_unit) p->unit, .since = p->since, .until = p->until,
		.now = p->now, .half_life = p->half_life, .without = p->without,
		.partition = p->has_partition ? (char *) p->partition : NULL,
	};
	struct keeper_packet a = { .magic = KEEPER_MAGIC, .type = KEEPER_ANSWER, .id = p->id, .sequence = k->safe };
	const struct sl_usage_total *total;
	struct sl_error err = { .text = "there is no ledger" };
	int fd = -1;

	if (!make_ready(k) && !sl_usage_ask(sl_ledger_usage(k->l), &q, &total, &a.count, &err) &&
	    (!a.count || (fd = send_totals(total, a.count, &err)) >= 0))
		a.ok = 1;
	else
		report_failure(k, &err);
	send_answer(k, &a, fd, &err);
}

static void answer_runs(struct keeper *k, const struct keeper_packet *p, int question)
{
	struct keeper_packet a = { .magic = KEEPER_MAGIC, .type = KEEPER_ANSWER, .id = p->id, .sequence = k->safe };
	struct sl_error err = { .text = "there is no ledger" };
	int fd = -1;

	if (!make_ready(k) && !keeper_answer_runs(k->l, question, p->count, &a.count, &fd, &err))
		a.ok = 1;
	else
		report_failure(k, &err);
	send_answer(k, &a, fd, &err);
}

static void tell_state(struct keeper *k)
{
	struct keeper_packet p = { .magic = KEEPER_MAGIC, .type = KEEPER_STATE, .sequence = k->safe };

	snprintf(p.stale, sizeof(p.stale), "%s", k->stale);
	keeper_send(k->sock, &p, -1, 0);
}

/* -- the process ------------------------------------------------------------------ */

/* As whom the files are written: who owns the directory.  No others are opened. */
int keeper_confine(const char *dir, bool watch, struct sl_error *err)
{
	struct sl_landlock_path path[] = { { dir, true }, { "/etc/localtime", false }, { "/usr/share/zoneinfo", false } };
	struct stat st;

	if (stat(dir, &st))
		return sl_fail(err, SL_EIO, "%s: %s", dir, strerror(errno));
	return sl_harden(&(struct sl_harden) { .role = watch ? SL_HARDEN_WATCH : SL_HARDEN_KEEPER,
					       .address_space = MEMORY, .files = FILES, .uid = st.st_uid,
					       .gid = st.st_gid, .path = path, .paths = 3 }, NULL, err);
}

int keeper_serve(int sock, const char *dir)
{
	struct keeper k = { .sock = sock };
	struct keeper_packet p;
	struct sl_error err;
	int64_t first = 0;	/* when what is to be written came */
	int fd, rc;

	prctl(PR_SET_NAME, "ledger-keeper", 0, 0, 0);
	snprintf(k.path, sizeof(k.path), "%s/%s", dir, SL_LEDGER_FILE);
	umask(027);
	if (keeper_confine(dir, false, &err)) {
		dprintf(2, "ledger keeper: %s\n", err.text);
		return 1;
	}
	make_ready(&k);
	tell_state(&k);
	for (;;) {
		/* what is asked goes before what is written */
		rc = keeper_recv(sock, &p, &fd, first ? QUIET_MS : 1000);
		if (rc < 0)
			break;
		if (!rc || (first && sl_clock_ms() - first >= LATEST_MS)) {
			write_out(&k);
			first = 0;
			tell_state(&k);
		}
		if (!rc)
			continue;
		if (p.type == KEEPER_FEED && fd >= 0) {
			take_snapshot(&k, fd, p.sequence);
			first = first ? first : sl_clock_ms();
		} else if (p.type == KEEPER_ASK) {
			answer_question(&k, &p);
		} else if (p.type == KEEPER_RUNS && fd >= 0) {
			answer_runs(&k, &p, fd);
		}
		if (fd >= 0)
			close(fd);
	}
	write_out(&k);
	close_ledger(&k);
	return 0;
}
