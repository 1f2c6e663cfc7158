/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.c - see host.h */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "plugin/host/host.h"
#include "plugin/host/child.h"
#include "plugin/host/keep.h"
#include "plugin/host/ladder.h"
#include "base/plain.h"
#include "image/plan_answer.h"
#include "bundle/bundle.h"
#include "image/snapshot.h"
#include "image/wire.h"

struct sl_host {
	char engine[1024], state_dir[2048], site[3072], policy_path[1024], user[64];
	uint32_t trusted_uid;
	void (*log)(int level, const char *line);
	struct sl_child child;
	int stop;			/* an eventfd */
	bool load_due;			/* HELLO done, LOAD not yet or again */
	bool ever_loaded;		/* by this process */
	bool keep_due;			/* a set went live and is to be kept */
	double keep_at;			/* could not be written: try again then */
	bool restore_failed;		/* said once for each engine */
	struct sl_keep keep, keep_hold;
	bool hold_known;		/* read from its file, or of a set that went live */
	double reload_at;		/* no set was ever good: try again then */
	double next_try;		/* monotonic, seconds */
	char failure[256];		/* what the engine failed of, last time */
	struct sl_host_state state;
	struct sl_frame frame;		/* last received; answers point into it */
};

static void say(struct sl_host *h, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(struct sl_host *h, int level, const char *fmt, ...)
{
	char buf[4096];
	va_list ap;

	if (!h->log)
		return;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	h->log(level, sl_plain(buf));	/* much of it is the engine's */
}

/* -- starting and ending ------------------------------------------------- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The engine is gone or must go. */
static void end_engine(struct sl_host *h)
{
	sl_child_end(&h->child);
	h->state.pid = 0;
	h->ever_loaded = h->keep_due = h->restore_failed = false;
	h->state.site_live = false;
	h->state.ledger_safe = 0;
}

/* One failure more: end it, and say how long it rests. */
static int end_after_failure(struct sl_host *h, struct sl_error *err)
{
	double rest;

	if (h->child.pid > 0)
		h->state.kills++;
	end_engine(h);
	h->state.failures++;
	rest = sl_ladder_rest_s(++h->state.strikes, 1);
	if (rest > 0)
		say(h, 0, "engine failed %u times in a row; next try in %.0f s", h->state.strikes, rest);
	h->next_try = sl_clock_s() + rest;
	snprintf(h->failure, sizeof(h->failure), "%.255s", err ? err->text : "it ended between two cycles");
	return -1;
}

/* Where it will read: beside the site file, and along the search path. */
static void list_directories(const struct sl_host *h, char *text, size_t size)
{
	const char *slash = strrchr(h->site, '/');

	snprintf(text, size, "--read=%.*s:%s", slash == h->site ? 1 : slash ? (int) (slash - h->site) : 0, h->site,
		 h->policy_path);
}

static int start_engine(struct sl_host *h, struct sl_error *err)
{
	char verb[] = "engine", state[sizeof(h->state_dir) + 16], user[sizeof(h->user) + 16];
	char read[sizeof(h->site) + sizeof(h->policy_path) + 16], *argv[6] = { h->engine, verb, read };
	int args = 3;

	list_directories(h, read, sizeof(read));
	snprintf(state, sizeof(state), "--state=%s", h->state_dir);
	snprintf(user, sizeof(user), "--user=%s", h->user);
	if (*h->state_dir)
		argv[args++] = state;
	if (*h->user)
		argv[args++] = user;
	if (sl_child_start(&h->child, argv, err))
		return -1;
	h->state.starts++;
	h->state.pid = h->child.pid;
	return 0;
}

/* -- talking ------------------------------------------------------------- */

/* Wait for a frame: 0, or -1 with *err when the deadline passes, the engine is
 * gone or sl_host_interrupt() was called. */
static int wait_frame(struct sl_host *h, double deadline, enum sl_frame_type type, struct sl_error *err)
{
	struct pollfd p[3] = { { h->child.sock, POLLIN, 0 }, { h->stop, POLLIN, 0 }, { h->child.err_pipe, POLLIN, 0 } };
	int rc, left;

	for (;;) {
		left = (int) ((deadline - sl_clock_s()) * 1000 + 1);
		if (left <= 0)
			return sl_fail(err, SL_ETIME, "no answer in time");
		rc = poll(p, 3, left);
		if (rc < 0 && errno != EINTR)
			return sl_fail(err, SL_EIO, "poll: %s", strerror(errno));
		if (rc <= 0)
			continue;
		if (p[1].revents)
			return sl_fail(err, SL_EBUSY, "interrupted");
		if (p[2].revents & POLLIN)
			sl_child_listen(&h->child);
		else if (p[2].revents)
			p[2].fd = -1;	/* closed: the socket tells the rest */
		if (p[0].revents)
			break;
	}
	rc = sl_wire_recv(h->child.sock, &h->frame, 100, err);
	if (rc == 0)
		return sl_fail(err, SL_EIO, "it ended");
	if (rc > 0 && h->frame.type != type) {
		close_fd(&h->frame.fd);
		return sl_fail(err, SL_EFORMAT, "expected frame %d, got %d", type, h->frame.type);
	}
	return rc > 0 ? 0 : -1;
}

static int say_hello(struct sl_host *h, struct sl_error *err)
{
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };

	f.body.hello.wire_version = SL_WIRE_VERSION;
	f.body.hello.snapshot_version = sl_snapshot_schema.version;
	f.body.hello.plan_version = sl_plan_schema.version;
	f.body.hello.pid = getpid();
	snprintf(f.body.hello.version, sizeof(f.body.hello.version), "%s", SCHEDLUA_VERSION);
	if (sl_wire_send(h->child.sock, &f, SL_HELLO_TIMEOUT_MS, err) ||
	    wait_frame(h, sl_clock_s() + SL_HELLO_TIMEOUT_MS / 1e3, SL_FRAME_HELLO, err))
		return -1;
	close_fd(&h->frame.fd);
	if (h->frame.body.hello.wire_version != SL_WIRE_VERSION ||
	    h->frame.body.hello.snapshot_version != sl_snapshot_schema.version ||
	    h->frame.body.hello.plan_version != sl_plan_schema.version)
		return sl_fail(err, SL_EVERSION, "%s is version %.31s, the plug-in %s: install both from one build",
			       h->engine, h->frame.body.hello.version, SCHEDLUA_VERSION);
	if (strcmp(h->state.holds, sl_plain(h->frame.body.hello.holds))) {
		snprintf(h->state.holds, sizeof(h->state.holds), "%s", h->frame.body.hello.holds);
		say(h, 1, "the engine runs as %s", h->state.holds);
	}
	h->load_due = true;
	return 0;
}

/* A set from the files is live. */
static void note_live(struct sl_host *h, const char *policy, double interval_s, double budget_s,
		      const struct sl_fence *hold)
{
	h->ever_loaded = true;
	h->state.hold = *hold;
	h->hold_known = true;
	h->keep_due = *h->site != '\0';
	h->state.site_live = *h->site != '\0';
	h->state.site_refused = false;
	h->state.interval_s = interval_s;
	h->state.budget_s = budget_s;
	*h->state.refusal = '\0';
	h->state.reloads++;
	say(h, 1, "policy %s loaded from %s", policy, *h->site ? h->site : "the bundled policies");
}

static void note_refused(struct sl_host *h, const char *text, const char *instead)
{
	if (h->state.site_refused && sl_same_but_numbers(h->state.refusal, text))
		return;		/* said before */
	h->state.refused++;
	h->state.site_refused = true;
	snprintf(h->state.refusal, sizeof(h->state.refusal), "%s", text);
	say(h, 0, "policy set refused: %.*s; %s", (int) strcspn(text, "\n"), text, instead);
}

/* Ask for something that is answered by a frame of that type, in so many seconds. */
static int ask_engine(struct sl_host *h, const struct sl_frame *f, double timeout_s, enum sl_frame_type answer,
		   struct sl_error *err)
{
	if (sl_wire_send(h->child.sock, f, SL_LOAD_TIMEOUT_MS, err))
		return -1;
	return wait_frame(h, sl_clock_s() + timeout_s, answer, err);
}

static void fill_load(const struct sl_host *h, struct sl_frame *f)
{
	f->body.load.trusted_uid = h->trusted_uid;
	snprintf(f->body.load.site, sizeof(f->body.load.site), "%s", h->site);
	snprintf(f->body.load.policy_path, sizeof(f->body.load.policy_path), "%s", h->policy_path);
}

/* Only what stands in the files is kept: the engine could hand over anything, and what is
 * kept goes into the next engine past the checks of who may write a policy. */
static int keep_vouched(struct sl_host *h, const void *bytes, size_t size, struct sl_error *err)
{
	struct sl_bundle_source source = {
		.site = h->site, .path = *h->policy_path ? h->policy_path : NULL, .check_trust = true,
		.trusted_uid = h->trusted_uid,
	};

	return sl_bundle_vouch(&source, bytes, size, err) || sl_keep_set(&h->keep, bytes, size, err) ? -1 : 0;
}

/* What a set that went live wants held, in a file of its own: the plug-in reads it. */
static void keep_hold(struct sl_host *h, struct sl_error *why)
{
	char text[SL_FENCE_TEXT + 1];

	sl_fence_text(&h->state.hold, text);
	strcat(text, "\n");
	sl_keep_set(&h->keep_hold, text, strlen(text), why);
}

/* What the last set that was accepted wants held.  If that cannot be read it may be anything. */
static void recall_hold(struct sl_host *h)
{
	struct sl_error why = { SL_OK, "" };
	int rc;

	if (h->hold_known)
		return;
	h->hold_known = true;
	rc = sl_keep_get(&h->keep_hold, &why);
	if (rc > 0)
		rc = sl_fence_parse(&h->state.hold, h->keep_hold.bytes, h->keep_hold.size, &why);
	if (rc >= 0)
		return;
	sl_fence_set(&h->state.hold, true, "");
	say(h, 0, "which partitions are held when policies fail: %s; all are", why.text);
}

/* Keep the set that went live.  What cannot be kept is said, and is no failure. */
static int keep_set(struct sl_host *h, struct sl_error *err)
{
	struct sl_frame f = { .type = SL_FRAME_KEEP, .fd = -1 };
	struct sl_error why = { SL_OK, "" };
	bool unsaved = h->keep.unsaved;		/* said before */
	const void *bytes;
	size_t size;

	h->keep_due = false;
	if (ask_engine(h, &f, SL_LOAD_TIMEOUT_MS / 1e3, SL_FRAME_KEPT, err))
		return -1;
	keep_hold(h, &why);
	if (h->frame.fd >= 0 && !sl_wire_map(h->frame.fd, &bytes, &size, &why)) {
		keep_vouched(h, bytes, size, &why);
		sl_wire_unmap(bytes, size);
	}
	close_fd(&h->frame.fd);
	if (why.code && !unsaved)
		say(h, 0, "the policy set is not kept for the next start: %s", why.text);
	h->keep_at = sl_clock_s() + SL_KEEP_AGAIN_S;
	return 0;
}

/* The disk may have room by now. */
static void keep_again(struct sl_host *h)
{
	struct sl_error why;

	if ((!h->keep.unsaved && !h->keep_hold.unsaved) || sl_clock_s() < h->keep_at)
		return;
	h->keep_at = sl_clock_s() + SL_KEEP_AGAIN_S;
	if (!sl_keep_again(&h->keep, &why) && !sl_keep_again(&h->keep_hold, &why))
		say(h, 1, "the policy set is kept for the next start");
}

/* Bring back the last good set.  1: it is live; 0: it is not; -1 with *err when the engine failed. */
static int restore_set(struct sl_host *h, struct sl_error *err)
{
	struct sl_frame f = { .type = SL_FRAME_RESTORE, .fd = -1 };
	struct sl_error why = { SL_OK, "" };
	int rc = sl_keep_get(&h->keep, &why);

	if (rc > 0)
		rc = (f.fd = sl_wire_memfd("set", h->keep.bytes, h->keep.size, &why)) < 0 ? -1 : 1;
	if (rc <= 0) {
		if (rc)
			say(h, 0, "last good policy set: %s", why.text);
		return 0;
	}
	fill_load(h, &f);
	rc = ask_engine(h, &f, SL_LOAD_TIMEOUT_MS / 1e3, SL_FRAME_LOADED, err);
	close(f.fd);
	if (rc)
		return -1;
	if (h->frame.body.loaded.ok) {
		h->state.hold = h->frame.body.loaded.hold;
		return 1;
	}
	say(h, 0, "last good policy set: %.*s", (int) strcspn(h->frame.body.loaded.text, "\n"),
	    h->frame.body.loaded.text);
	return 0;
}

/* The set that was asked for was refused.  0, or -1 with *err when the engine failed. */
static int go_on_without(struct sl_host *h, struct sl_error *err)
{
	const struct sl_frame_loaded *l = &h->frame.body.loaded;
	char text[sizeof(l->text)];
	bool restored = false;
	int rc;

	snprintf(text, sizeof(text), "%s", l->text);
	if (!h->ever_loaded && *h->site && !h->restore_failed) {
		if ((rc = restore_set(h, err)) < 0)
			return -1;
		h->ever_loaded = restored = rc > 0;
		h->restore_failed = !restored;
	}
	h->state.site_live = h->ever_loaded && *h->site;
	h->reload_at = h->state.site_live ? 0 : sl_clock_s() + SL_RELOAD_S;
	if (restored) {
		h->state.interval_s = l->interval_s;
		h->state.budget_s = l->budget_s;
	}
	snprintf(h->state.policy, sizeof(h->state.policy), "%s", l->policy);
	note_refused(h, text, restored ? "the last good one, which was kept, decides" :
		     h->state.site_live ? "the old one stays" : "the bundled easy decides");
	return 0;
}

/* It is tried on the snapshot, within the budget that it will have. */
static int load_set(struct sl_host *h, int snapshot, int64_t budget_us, struct sl_error *err)
{
	struct sl_frame f = { .type = SL_FRAME_LOAD, .fd = snapshot };
	const struct sl_frame_loaded *l = &h->frame.body.loaded;

	fill_load(h, &f);
	f.body.load.budget_us = budget_us;
	if (ask_engine(h, &f, SL_LOAD_TIMEOUT_MS / 1e3 + 2 * (double) budget_us / 1e6, SL_FRAME_LOADED, err))
		return -1;
	close_fd(&h->frame.fd);
	h->load_due = false;
	h->reload_at = 0;
	if (!l->ok)
		return go_on_without(h, err);
	snprintf(h->state.policy, sizeof(h->state.policy), "%s", l->policy);
	note_live(h, l->policy, l->interval_s, l->budget_s, &l->hold);
	return 0;
}

/* The engine runs, is of our version and has been told what to load. */
static int make_ready(struct sl_host *h, int snapshot, int64_t budget_us, bool bundled, struct sl_error *err)
{
	if (h->child.pid <= 0) {
		if (sl_clock_s() < h->next_try)
			return sl_fail(err, SL_EBUSY, "the engine rests after %u failures: %s", h->state.strikes,
				       h->failure);
		if (start_engine(h, err))
			goto error;
		if (say_hello(h, err)) {
			if (err->code != SL_EVERSION)
				sl_fail_in(err, "%s does not answer as an engine does", h->engine);
			goto error;
		}
	}
	if (h->reload_at && sl_clock_s() >= h->reload_at)
		h->load_due = true;
	if (h->load_due && !bundled && load_set(h, snapshot, budget_us, err)) {
		sl_fail_in(err, "load");
		goto error;
	}
	if (h->keep_due && keep_set(h, err)) {
		sl_fail_in(err, "keep");
		goto error;
	}
	keep_again(h);
	return 0;
error:
	return end_after_failure(h, err);
}

static void note_plan(struct sl_host *h, struct sl_host_answer *a)
{
	struct sl_frame_plan *p = &h->frame.body.plan;

	if (p->reload == SL_RELOAD_LIVE)
		note_live(h, p->policy, p->interval_s, p->budget_s, &p->hold);
	else if (p->reload == SL_RELOAD_REFUSED)
		note_refused(h, p->reload_text, "the old one stays");
	snprintf(h->state.policy, sizeof(h->state.policy), "%s", p->policy);
	h->state.ledger_safe = p->ledger_safe;
	if (!sl_same_but_numbers(h->state.stale, p->stale))
		say(h, *p->stale ? 0 : 1, "%s%s", *p->stale ? "what was used may be out of date: " :
		    "what was used is up to date again", p->stale);
	snprintf(h->state.stale, sizeof(h->state.stale), "%s", p->stale);
	if (strcmp(h->state.odd, p->odd) && *p->odd)
		say(h, 1, "%s", p->odd);
	snprintf(h->state.odd, sizeof(h->state.odd), "%s", p->odd);
	a->policy = h->state.policy;
	a->held = p->held;
	a->policy_failed = p->code != SL_OK;
	a->text = p->text;
}

static int send_decide(struct sl_host *h, int fd, int64_t sequence, int64_t budget_us, bool bundled,
		       struct sl_error *err)
{
	struct sl_frame f = { .type = SL_FRAME_DECIDE, .fd = fd };

	f.body.decide.sequence = sequence;
	f.body.decide.budget_us = budget_us;
	f.body.decide.bundled = bundled;
	f.body.decide.hold = h->state.hold;
	return sl_wire_send(h->child.sock, &f, 1000, err);
}

int sl_host_decide(struct sl_host *h, const struct sl_snapshot *snap, int64_t budget_us, bool bundled,
		   struct sl_host_answer *a, struct sl_error *err)
{
	struct sl_frame_plan *p = &h->frame.body.plan;
	int64_t sequence = snap->meta.sequence[0];
	int fd, rc;

	memset(a, 0, sizeof(*a));
	sl_child_new_cycle(&h->child);
	recall_hold(h);
	if ((fd = sl_wire_memfd("snapshot", snap->image.base, snap->image.size, err)) < 0) {
		/* slurmctld lacks descriptors or memory: no fault of the engine, nor of a policy */
		err->code = SL_EBUSY;
		return -1;
	}
	if (make_ready(h, fd, budget_us, bundled, err)) {
		close(fd);
		return -1;
	}
	rc = send_decide(h, fd, sequence, budget_us, bundled, err);
	close(fd);
	if (rc || wait_frame(h, sl_clock_s() + 2 * (double) budget_us / 1e6 + 0.05, SL_FRAME_PLAN, err)) {
		sl_fail_in(err, "decide");
		return end_after_failure(h, err);
	}
	if (p->sequence != sequence) {
		close_fd(&h->frame.fd);
		sl_fail(err, SL_EFORMAT, "decide: asked for cycle %lld, got %lld", (long long) sequence,
			(long long) p->sequence);
		return end_after_failure(h, err);
	}
	note_plan(h, a);
	if (!p->ok || h->frame.fd < 0) {
		/* An honest "no": the engine is fine, this set is not. */
		close_fd(&h->frame.fd);
		return sl_fail(err, p->code > SL_OK && p->code <= SL_EBUSY ? (enum sl_errno) p->code : SL_ESCRIPT,
			       "%.480s", *p->text ? p->text : "no plan, and no reason");
	}
	if (sl_wire_map(h->frame.fd, &a->bytes, &a->size, err)) {
		close_fd(&h->frame.fd);
		return end_after_failure(h, err);
	}
	close_fd(&h->frame.fd);
	/* the engine checks each plan before it sends it: one that is none is its fault */
	if (sl_plan_image_open(&a->plan, a->bytes, a->size, err) || sl_plan_answers(&a->plan, snap, err)) {
		sl_host_release(h, a);
		return end_after_failure(h, err);
	}
	h->state.strikes = 0;
	return 0;
}

void sl_host_release(struct sl_host *h, struct sl_host_answer *a)
{
	(void) h;
	if (a->bytes)
		sl_wire_unmap(a->bytes, a->size);
	a->bytes = NULL;
}

/* -- life ------------------------------------------------------------------ */

static int set_options(struct sl_host *h, const struct sl_host_options *opt, struct sl_error *err)
{
	char hold[sizeof(h->keep_hold.file)];

	if (strlen(opt->engine) >= sizeof(h->engine) || strlen(opt->site) >= sizeof(h->site) ||
	    strlen(opt->policy_path) >= sizeof(h->policy_path) || (opt->user && strlen(opt->user) >= sizeof(h->user)) ||
	    (opt->state && strlen(opt->state) >= sizeof(h->state_dir)) || strlen(opt->keep) + 8 >= sizeof(h->keep.file))
		return sl_fail(err, SL_EINVAL, "path too long: %.80s", opt->site);
	strcpy(h->engine, opt->engine);
	strcpy(h->state_dir, opt->state ? opt->state : "");
	strcpy(h->site, opt->site);
	strcpy(h->policy_path, opt->policy_path);
	strcpy(h->user, opt->user ? opt->user : "");
	sl_keep_file(&h->keep, opt->keep);
	snprintf(hold, sizeof(hold), "%.*s%s", (int) sizeof(hold) - 8, opt->keep, *opt->keep ? ".hold" : "");
	if (strcmp(h->keep_hold.file, hold))
		h->hold_known = false;
	sl_keep_file(&h->keep_hold, hold);
	h->trusted_uid = opt->trusted_uid;
	h->log = h->child.log = opt->log;
	return 0;
}

struct sl_host *sl_host_create(const struct sl_host_options *opt, struct sl_error *err)
{
	struct sl_host *h = calloc(1, sizeof(*h));

	if (!h) {
		sl_fail(err, SL_ENOMEM, "host: out of memory");
		return NULL;
	}
	h->child = (struct sl_child) SL_CHILD_NONE;
	h->stop = -1;
	if (set_options(h, opt, err))
		goto error;
	if ((h->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
		sl_fail(err, SL_EIO, "eventfd: %s", strerror(errno));
		goto error;
	}
	return h;
error:
	sl_host_destroy(h);
	return NULL;
}

void sl_host_destroy(struct sl_host *h)
{
	if (!h)
		return;
	end_engine(h);
	close_fd(&h->stop);
	sl_keep_clear(&h->keep);
	sl_keep_clear(&h->keep_hold);
	free(h);
}

int sl_host_reconfigure(struct sl_host *h, const struct sl_host_options *opt, struct sl_error *err)
{
	bool other = strcmp(h->engine, opt->engine) || strcmp(h->state_dir, opt->state ? opt->state : "");
	bool other_site = strcmp(h->site, opt->site);

	other |= other_site || strcmp(h->policy_path, opt->policy_path) || strcmp(h->user, opt->user ? opt->user : "");
	if (set_options(h, opt, err))
		return -1;
	if (other_site) {
		h->state.site_refused = false;
		*h->state.refusal = '\0';
	}
	if (other)
		end_engine(h);
	h->load_due = true;
	h->state.strikes = 0;
	h->next_try = 0;
	return 0;
}

void sl_host_poll(struct sl_host *h)
{
	char how[SL_CHILD_HOW];

	sl_child_listen(&h->child);
	if (sl_child_has_ended(&h->child, how)) {
		say(h, 0, "engine %d ended by %s", (int) h->child.pid, how);
		end_after_failure(h, NULL);
	}
}

void sl_host_interrupt(struct sl_host *h)
{
	uint64_t one = 1;
	ssize_t n = write(h->stop, &one, sizeof(one));

	(void) n;
}

const struct sl_host_state *sl_host_state(struct sl_host *h)
{
	double rest = h->next_try - sl_clock_s();

	h->state.next_try_s = h->child.pid <= 0 && rest > 0 ? rest : 0;
	return &h->state;
}
