/* SPDX-License-Identifier: MIT */
/*
 * cmd_engine.c - schedlua engine: the server that the plug-in talks to (image/wire.h).
 *
 * One process, one thread, one request at a time on descriptor 3.  The set that
 * decides is swapped only when another one was loaded, validated and tried; a
 * policy's failure is an answer, never the engine's end.  What does end it is a
 * closed socket, BYE, a frame that is none, SIGTERM and SIGKILL.
 */
#include "tool/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tool/confine.h"
#include "script/decide.h"
#include "ledger/keeper.h"
#include "base/plain.h"
#include "base/watch.h"
#include "image/wire.h"

#define SOCKET 3
#define SEND_TIMEOUT_MS 1000
#define DEFAULT_BUDGET_S 2.0
#define RETRY_US INT64_C(10000000)	/* a refused set is tried again at least this often */

/* Shares of a request's budget: to load a changed set, to try it, and the end
 * of it all, so that the plug-in, which kills at twice the budget, need not. */
#define SHARE_LOAD 0.25
#define SHARE_TRY 1.0
#define SHARE_ALL 1.5

static const char unguarded[] = "no policy set of the site is live that could say what may start";

struct engine {
	int sock;
	struct sl_confined confined;
	size_t lua_memory;
	struct sl_bundle *bundled;	/* easy, as installed; NULL: not even that */
	struct sl_error bundled_error;
	struct sl_bundle *live;		/* the site's; NULL: the bundled one decides */
	bool wanted;			/* a site was asked for */
	char site[3072], path[1024];	/* which */
	uint32_t trusted_uid;
	bool restored;			/* the live set is one that was kept */
	bool refused;			/* the last attempt to load it failed */
	struct sl_error refused_error;
	uint64_t refused_mark;		/* its files as they were then */
	int64_t refused_at;
	struct sl_keeper *keeper;	/* of the ledger; NULL: there is none */
	struct sl_usage_provider usage;
	struct sl_decision decision;
};

struct values {
	int64_t memory, lua_memory;
	const char *state, *user, *read;
};

static const struct sl_option options[] = {
	{ .name = "memory", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, memory), .argument = "MIB",
	  .min = 256, .max = 1048576, .standard = "4096", .doc = "most memory that the process may use" },
	{ .name = "lua-memory", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, lua_memory),
	  .argument = "MIB", .min = 1, .max = 65536, .standard = "512", .doc = "most memory that Lua may use" },
	{ .name = "read", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, read), .argument = "DIRS",
	  .doc = "read files below these directories only, colon-separated, where the kernel has Landlock" },
	{ .name = "state", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, state), .argument = "DIR",
	  .doc = "keep the ledger of what was used in this directory" },
	{ .name = "user", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, user), .argument = "NAME",
	  .doc = "become this user when started by root; default: nobody" },
	{ 0 }
};

/* -- text for answers --------------------------------------------------- */

/* "error\ntraceback", cut to size. */
static void say(char *text, size_t size, const struct sl_error *err, const char *trace)
{
	snprintf(text, size, "%s%s%s", err->text, trace && *trace ? "\n" : "", trace ? trace : "");
}

/* -- loading ------------------------------------------------------------ */

/* The files that came with the program belong to root, or to who started it. */
static struct sl_bundle *load_bundled(size_t memory, uint32_t uid, struct sl_error *err)
{
	struct sl_bundle_source source = { .policy = "easy", .check_trust = true, .trusted_uid = uid };
	struct sl_limits limits = { .memory = memory, .budget_us = (int64_t) (DEFAULT_BUDGET_S * 1e6) };

	return sl_bundle_load(&source, &limits, NULL, err);
}

/* The set that was asked for, freshly read. */
static struct sl_bundle *load_wanted(const struct engine *e, int64_t budget_us, char **trace, struct sl_error *err)
{
	struct sl_bundle_source source = {
		.site = e->site, .path = *e->path ? e->path : NULL, .check_trust = true,
		.trusted_uid = e->trusted_uid,
	};
	struct sl_limits limits = { .memory = e->lua_memory, .budget_us = budget_us };

	return sl_bundle_load(&source, &limits, trace, err);
}

/* Which state the files of the wanted set are in: the site file's and those of
 * the live set, which is all that is known of them. */
static uint64_t mark_files(const struct engine *e)
{
	uint64_t mark = sl_watch_mark(0, e->site);
	const char *file;

	for (unsigned i = 0; e->live && (file = sl_bundle_file(e->live, i)); i++)
		mark = sl_watch_mark(mark, file);
	return mark;
}

static void note_refusal(struct engine *e, const struct sl_error *err)
{
	e->refused = true;
	e->refused_error = *err;
	e->refused_mark = mark_files(e);
	e->refused_at = sl_clock_us();
}

/* On stderr, which the plug-in reads into slurmctld's log. */
static void tell_undefined(const char *what, void *arg)
{
	(void) arg;
	fprintf(stderr, "%s\n", what);
}

/* A name that is misspelt on a line that no trial came to is no reason to refuse the
 * set, but worth knowing now: within that budget, which began then. */
static void go_live(struct engine *e, struct sl_bundle *bundle, int64_t since, int64_t budget_us)
{
	const struct sl_limits limits = { .memory = e->lua_memory, .budget_us = budget_us };
	struct sl_limits left;
	struct sl_error err;

	if (bundle && (sl_limits_left(&limits, since, &left, &err) ||
		       sl_bundle_undefined(bundle, &left, tell_undefined, NULL, &err) < 0))
		fprintf(stderr, "names that are not there were not looked for: %s\n", err.text);
	sl_bundle_destroy(e->live);
	e->live = bundle;
	e->refused = e->restored = false;
}

static const struct sl_bundle *current_bundle(const struct engine *e)
{
	return e->live ? e->live : e->bundled;
}

static void say_policy(char *text, size_t size, const struct sl_bundle *bundle)
{
	snprintf(text, size, "%s", bundle ? sl_bundle_figures(bundle)->policy : "");
}

/* -- deciding ----------------------------------------------------------- */

/* Map and validate the snapshot attached to a frame. */
static int open_snapshot(const struct sl_frame *frame, struct sl_snapshot *snap, const void **bytes, size_t *size,
			 struct sl_error *err)
{
	*bytes = NULL;
	*size = 0;
	if (frame->fd < 0)
		return sl_fail(err, SL_EFORMAT, "the request has no snapshot");
	if (sl_wire_map(frame->fd, bytes, size, err))
		return -1;
	if (!sl_snapshot_open(snap, *bytes, *size, err))
		return 0;
	sl_wire_unmap(*bytes, *size);
	*bytes = NULL;
	return -1;
}

static void close_snapshot(const void *bytes, size_t size)
{
	if (bytes)
		sl_wire_unmap(bytes, size);
}

/* Does it decide already?  It may have been slow for long, and is no worse than itself. */
static bool is_live(const struct engine *e, const struct sl_bundle *bundle)
{
	return e->live && !strcmp(sl_bundle_digest(e->live), sl_bundle_digest(bundle));
}

/* Try a set on a snapshot: its first decision is a whole one, and in time.  0, or -1. */
static int try_set(struct engine *e, const struct sl_bundle *bundle, const struct sl_snapshot *snap,
		   int64_t since, int64_t budget_us, char **trace, struct sl_error *err)
{
	struct sl_limits limits = { .memory = e->lua_memory, .budget_us = budget_us };
	struct sl_decision *d = &e->decision;

	d->stand_in = false;
	d->hold = NULL;
	if (sl_decide(bundle, snap, &limits, since, d, err))
		return -1;
	if (d->policy.code && !(d->policy.code == SL_ETIME && is_live(e, bundle))) {
		*err = d->policy;
		*trace = d->trace;
		d->trace = NULL;
		return d->policy.code == SL_ETIME ? sl_fail_in(err, "the first decision on this cluster") : -1;
	}
	if (d->check.code) {
		*err = d->check;
		return sl_fail_in(err, "the plan is not feasible");
	}
	return 0;
}

/* -- LOAD --------------------------------------------------------------- */

static double budget_of(const struct sl_bundle *bundle)
{
	double s = sl_bundle_figures(bundle)->budget_s;

	return s > 0 ? s : DEFAULT_BUDGET_S;
}

/* Load what was asked for, try it on the attached snapshot if there is one, and go over to it.
 * 0, or -1. */
static int load_and_try(struct engine *e, const struct sl_frame *frame, char **trace, struct sl_error *err)
{
	struct sl_bundle *bundle = load_wanted(e, (int64_t) (DEFAULT_BUDGET_S * 1e6), trace, err);
	int64_t budget_us = frame->body.load.budget_us;
	const void *bytes = NULL;
	struct sl_snapshot snap;
	size_t size = 0;
	int rc = bundle ? 0 : -1;

	if (!rc && frame->fd >= 0) {
		rc = open_snapshot(frame, &snap, &bytes, &size, err);
		if (!rc)
			rc = try_set(e, bundle, &snap, sl_clock_us(),
				     budget_us ? budget_us : llround(budget_of(bundle) * 1e6), trace, err);
	}
	if (rc) {
		sl_bundle_destroy(bundle);
	} else {
		sl_bundle_retell(bundle);
		go_live(e, bundle, sl_clock_us(), (int64_t) (DEFAULT_BUDGET_S * 1e6));
	}
	close_snapshot(bytes, size);
	return rc;
}

static void answer_load(struct engine *e, const struct sl_frame *frame, struct sl_frame *answer)
{
	const struct sl_frame_load *load = &frame->body.load;
	struct sl_frame_loaded *loaded = &answer->body.loaded;
	struct sl_error err = { 0 };
	char *trace = NULL;

	answer->type = SL_FRAME_LOADED;
	snprintf(e->site, sizeof(e->site), "%s", load->site);
	snprintf(e->path, sizeof(e->path), "%s", load->policy_path);
	e->trusted_uid = load->trusted_uid;
	e->wanted = *e->site;
	loaded->ok = 1;
	if (!e->wanted) {
		go_live(e, NULL, 0, 0);
		if (!e->bundled) {
			loaded->ok = 0;
			err = e->bundled_error;
		}
	} else if (load_and_try(e, frame, &trace, &err)) {
		loaded->ok = 0;
		note_refusal(e, &err);
	}
	loaded->code = (int32_t) err.code;
	if (err.code)
		say(loaded->text, sizeof(loaded->text), &err, trace);
	say_policy(loaded->policy, sizeof(loaded->policy), current_bundle(e));
	if (current_bundle(e)) {
		loaded->interval_s = sl_bundle_figures(current_bundle(e))->interval_s;
		loaded->budget_s = sl_bundle_figures(current_bundle(e))->budget_s;
		loaded->hold = sl_bundle_figures(current_bundle(e))->hold;
	}
	free(trace);
}

/* -- KEEP and RESTORE: the last good set outlives the process ------------- */

static void answer_keep(const struct engine *e, struct sl_frame *answer)
{
	struct sl_error err;
	size_t size;
	void *bytes;

	answer->type = SL_FRAME_KEPT;
	if (!e->live || e->restored || sl_bundle_keep(e->live, &bytes, &size, &err))
		return;
	answer->fd = sl_wire_memfd("schedlua-set", bytes, size, &err);
	free(bytes);
}

static struct sl_bundle *load_kept(struct engine *e, const struct sl_frame *frame, struct sl_error *err)
{
	struct sl_bundle_source source = {
		.site = e->site, .path = *e->path ? e->path : NULL, .check_trust = true,
		.trusted_uid = e->trusted_uid,
	};
	struct sl_limits limits = { .memory = e->lua_memory, .budget_us = (int64_t) (DEFAULT_BUDGET_S * 1e6) };
	struct sl_bundle *bundle;

	if (sl_wire_map(frame->fd, &source.kept, &source.kept_size, err))
		return NULL;
	bundle = sl_bundle_load(&source, &limits, NULL, err);
	sl_wire_unmap(source.kept, source.kept_size);
	return bundle;
}

/* Only where nothing is live: a set from these files goes before one that was kept.
 * The files stay refused, and are looked at as ever. */
static void answer_restore(struct engine *e, const struct sl_frame *frame, struct sl_frame *answer)
{
	struct sl_frame_loaded *loaded = &answer->body.loaded;
	struct sl_error err = { 0 };
	struct sl_bundle *bundle;

	answer->type = SL_FRAME_LOADED;
	if (e->live || !e->refused)
		sl_fail(&err, SL_EBUSY, "there is a set");
	else if ((bundle = load_kept(e, frame, &err))) {
		e->live = bundle;
		e->restored = true;
		e->refused_mark = mark_files(e);
		loaded->ok = 1;
		loaded->interval_s = sl_bundle_figures(bundle)->interval_s;
		loaded->budget_s = sl_bundle_figures(bundle)->budget_s;
		loaded->hold = sl_bundle_figures(bundle)->hold;
	}
	loaded->code = (int32_t) err.code;
	if (err.code)
		say(loaded->text, sizeof(loaded->text), &err, NULL);
	say_policy(loaded->policy, sizeof(loaded->policy), current_bundle(e));
}

/* -- DECIDE ------------------------------------------------------------- */

/* Is it time to load the wanted set (again)? */
static bool should_load(const struct engine *e, bool *files_changed)
{
	*files_changed = false;
	if (!e->wanted)
		return false;
	if (!e->refused)
		return *files_changed = e->live && sl_bundle_changed(e->live) == 1;
	*files_changed = mark_files(e) != e->refused_mark;
	return *files_changed || sl_clock_us() - e->refused_at >= RETRY_US;
}

/*
 * Load a changed set and let it decide.  Returns 1 when it went live and
 * e->decision is its; 0 when it was refused or nothing had changed.
 */
static int reload_and_decide(struct engine *e, const struct sl_snapshot *snap, int64_t since, int64_t budget_us,
			     struct sl_frame_plan *plan)
{
	struct sl_bundle *bundle;
	struct sl_error err = { 0 };
	char *trace = NULL;
	bool files_changed, again;

	if (!should_load(e, &files_changed))
		return 0;
	bundle = load_wanted(e, (int64_t) ((double) budget_us * SHARE_LOAD), &trace, &err);
	if (bundle && !try_set(e, bundle, snap, since, (int64_t) ((double) budget_us * SHARE_TRY), &trace, &err)) {
		go_live(e, bundle, since, (int64_t) ((double) budget_us * SHARE_ALL));
		plan->reload = SL_RELOAD_LIVE;
		plan->interval_s = sl_bundle_figures(bundle)->interval_s;
		plan->budget_s = sl_bundle_figures(bundle)->budget_s;
		plan->hold = sl_bundle_figures(bundle)->hold;
		return 1;
	}
	sl_bundle_destroy(bundle);
	again = e->refused && !files_changed && err.code == e->refused_error.code &&
		sl_same_but_numbers(err.text, e->refused_error.text);
	if (!again) {
		plan->reload = SL_RELOAD_REFUSED;
		say(plan->reload_text, sizeof(plan->reload_text), &err, trace);
	}
	note_refusal(e, &err);
	free(trace);
	return 0;
}

/* Let a set decide into e->decision; the bundled one keeps off what is to be held.  0, or -1. */
static int decide_by(struct engine *e, const struct sl_bundle *bundle, const struct sl_fence *hold, const char *why,
		     const struct sl_snapshot *snap, int64_t since, int64_t budget_us, struct sl_error *err)
{
	struct sl_limits limits = { .memory = e->lua_memory, .budget_us = budget_us };
	struct sl_decision *d = &e->decision;

	if (!bundle) {
		*err = e->bundled_error;
		return -1;
	}
	d->hold = bundle == e->bundled ? hold : NULL;
	d->hold_why = why;
	return sl_decide(bundle, snap, &limits, since, d, err);
}

/*
 * The site's own policies failed: easy decides within what the live set admits and allows.
 * Where that takes all the time there is, easy decides where nothing has to be held.
 */
static int decide_instead(struct engine *e, const struct sl_frame_decide *request, const struct sl_snapshot *snap,
			  int64_t since, struct sl_frame_plan *plan, struct sl_error *err)
{
	struct sl_decision *d = &e->decision;
	char why[sizeof(d->policy.text)];
	int rc;

	say_policy(plan->policy, sizeof(plan->policy), e->bundled);
	if (!e->live)
		return decide_by(e, e->bundled, &request->hold, unguarded, snap, since, request->budget_us, err);
	d->stand_in = true;
	rc = decide_by(e, e->live, NULL, NULL, snap, since, request->budget_us, err);
	d->stand_in = false;
	if (!rc && (!d->policy.code || d->plan.start.rows || d->policy.code != SL_ETIME))
		return 0;
	snprintf(why, sizeof(why), "%s", rc ? err->text : d->policy.text);
	return decide_by(e, e->bundled, &sl_bundle_figures(e->live)->hold, why, snap, since,
			 (int64_t) ((double) request->budget_us * SHARE_ALL), err);
}

/* The first thing said stands, and how many more there are. */
struct odd {
	char first[200];
	unsigned more;
};

static void note_odd(const char *what, void *arg)
{
	struct odd *odd = arg;

	if (*odd->first)
		odd->more++;
	else
		snprintf(odd->first, sizeof(odd->first), "%s", what);
}

/* A partition that is not there is no reason to refuse a set either.  It may come and go
 * while the set lives. */
static void say_odd(const struct engine *e, const struct sl_snapshot *snap, struct sl_frame_plan *plan)
{
	struct odd odd = { .more = 0 };

	if (e->live)
		sl_bundle_strangers(e->live, snap, note_odd, &odd);
	snprintf(plan->odd, sizeof(plan->odd), odd.more ? "%s (and %u more)" : "%s", odd.first, odd.more);
}

/* Decide into e->decision.  0, or -1 with *err. */
static int decide(struct engine *e, const struct sl_frame_decide *request, const struct sl_snapshot *snap,
		  int64_t since, struct sl_frame_plan *plan, struct sl_error *err)
{
	int64_t budget_us = request->budget_us;

	if (snap->meta.sequence[0] != request->sequence)
		return sl_fail(err, SL_EFORMAT, "request %lld came with snapshot %lld", (long long) request->sequence,
			       (long long) snap->meta.sequence[0]);
	if (budget_us <= 0)
		return sl_fail(err, SL_EINVAL, "a budget of %lld microseconds", (long long) budget_us);
	if (request->bundled)
		return decide_instead(e, request, snap, since, plan, err);
	if (reload_and_decide(e, snap, since, budget_us, plan)) {
		say_policy(plan->policy, sizeof(plan->policy), e->live);
		return 0;
	}
	say_policy(plan->policy, sizeof(plan->policy), current_bundle(e));
	if (plan->reload == SL_RELOAD_REFUSED)
		budget_us = (int64_t) ((double) budget_us * SHARE_ALL);
	return decide_by(e, current_bundle(e), &request->hold, unguarded, snap, since, budget_us, err);
}

static void answer_decide(struct engine *e, const struct sl_frame *frame, struct sl_frame *answer)
{
	struct sl_frame_plan *plan = &answer->body.plan;
	struct sl_decision *d = &e->decision;
	int64_t since = sl_clock_us();
	struct sl_error err = { 0 };
	struct sl_snapshot snap;
	const void *bytes;
	size_t size;

	answer->type = SL_FRAME_PLAN;
	plan->sequence = frame->body.decide.sequence;
	if (e->keeper)
		sl_keeper_feed(e->keeper, frame->fd, plan->sequence);
	d->history = e->keeper ? sl_keeper_history(e->keeper) : NULL;
	if (open_snapshot(frame, &snap, &bytes, &size, &err) ||
	    decide(e, &frame->body.decide, &snap, since, plan, &err))
		goto error;
	say_odd(e, &snap, plan);
	if (d->check.code) {
		err = d->check;
		sl_fail_in(&err, "the plan is not feasible");
		goto error;
	}
	answer->fd = sl_wire_memfd("schedlua-plan", d->bytes, d->size, &err);
	if (answer->fd < 0)
		goto error;
	plan->ok = 1;
	plan->code = (int32_t) d->policy.code;
	snprintf(plan->held, sizeof(plan->held), "%s", d->held);
	if (d->policy.code)
		say(plan->text, sizeof(plan->text), &d->policy, d->trace);
	close_snapshot(bytes, size);
	return;
error:
	plan->code = (int32_t) err.code;
	say(plan->text, sizeof(plan->text), &err, NULL);
	close_snapshot(bytes, size);
}

/* -- the loop ----------------------------------------------------------- */

static void answer_hello(const struct engine *e, struct sl_frame *answer)
{
	struct sl_frame_hello *hello = &answer->body.hello;

	answer->type = SL_FRAME_HELLO;
	hello->wire_version = SL_WIRE_VERSION;
	hello->snapshot_version = sl_snapshot_schema.version;
	hello->plan_version = sl_plan_schema.version;
	hello->pid = (int32_t) getpid();
	snprintf(hello->version, sizeof(hello->version), "%s", SCHEDLUA_VERSION);
	sl_harden_say(&e->confined.holds, hello->holds);
}

/* What the ledger's keeper has said so far. */
static void tell_ledger(struct engine *e, struct sl_frame_plan *plan)
{
	const char *stale;

	plan->ledger_safe = -1;
	if (!e->keeper)
		return;
	sl_keeper_poll(e->keeper);
	plan->ledger_safe = sl_keeper_safe(e->keeper);
	stale = sl_keeper_stale(e->keeper);
	snprintf(plan->stale, sizeof(plan->stale), "%s", stale ? stale : "");
}

/* The keeper is started before privileges are given up; the engine decides without, too. */
static void start_keeper(struct engine *e, const char *dir)
{
	struct sl_error err;

	if (!dir)
		return;
	e->keeper = sl_keeper_start(dir, &err);
	if (!e->keeper) {
		fprintf(stderr, "schedlua: %s\n", err.text);
		return;
	}
	e->usage = sl_keeper_provider(e->keeper);
	e->decision.usage = &e->usage;
}

/* Serve one request.  Returns 1; 0 when it is time to end; -1 with *err. */
static int serve(struct engine *e, struct sl_error *err)
{
	struct sl_frame frame, answer;
	int rc = sl_wire_recv(e->sock, &frame, -1, err);

	if (rc <= 0)
		return rc;
	memset(&answer, 0, sizeof(answer));
	answer.fd = -1;
	switch (frame.type) {
	case SL_FRAME_HELLO:
		answer_hello(e, &answer);
		break;
	case SL_FRAME_LOAD:
		answer_load(e, &frame, &answer);
		break;
	case SL_FRAME_DECIDE:
		answer_decide(e, &frame, &answer);
		break;
	case SL_FRAME_KEEP:
		answer_keep(e, &answer);
		break;
	case SL_FRAME_RESTORE:
		answer_restore(e, &frame, &answer);
		break;
	default:
		rc = frame.type == SL_FRAME_BYE ? 0 :
			sl_fail(err, SL_EFORMAT, "a frame of type %d is no request", (int) frame.type);
	}
	if (frame.fd >= 0)
		close(frame.fd);
	if (answer.type == SL_FRAME_PLAN)
		tell_ledger(e, &answer.body.plan);
	if (rc > 0) {
		bool whole = !sl_confined_check(&e->confined, err);	/* it ends after this answer if not */

		rc = sl_wire_send(e->sock, &answer, SEND_TIMEOUT_MS, err) || !whole ? -1 : 1;
	}
	if (answer.fd >= 0)
		close(answer.fd);
	return rc;
}

static int check_socket(struct sl_error *err)
{
	int type;
	socklen_t size = sizeof(type);

	if (getsockopt(SOCKET, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET)
		return sl_fail(err, SL_EINVAL, "engine: descriptor 3 is no packet socket: slurmctld's plug-in "
			       "starts the engine, people do not");
	return 0;
}

/* The parent may have gone before PR_SET_PDEATHSIG: then its end is closed. */
static int check_peer(struct sl_error *err)
{
	struct pollfd p = { .fd = SOCKET };

	if (poll(&p, 1, 0) < 0 || (p.revents & (POLLHUP | POLLERR | POLLNVAL)))
		return sl_fail(err, SL_EIO, "engine: nobody is at the other end of descriptor 3");
	return 0;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct engine e = { .sock = SOCKET, .decision = { .forecasts = SL_FORECASTS, .forecast_us = SL_FORECAST_US } };
	uint32_t uid = (uint32_t) getuid();
	struct sl_error err;
	struct values v;
	int status, rc;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &status) < 0)
		return status;
	e.lua_memory = (size_t) v.lua_memory << 20;
	rc = check_socket(&err);
	if (!rc) {
		start_keeper(&e, v.state);
		rc = sl_confine(&e.confined, (size_t) v.memory << 20, v.user, v.read, &err);
	}
	if (!rc)
		rc = check_peer(&err);
	if (!rc) {
		e.bundled = load_bundled(e.lua_memory, uid, &e.bundled_error);
		while ((rc = serve(&e, &err)) > 0)
			;
	}
	sl_confined_clear(&e.confined);
	sl_decision_clear(&e.decision);
	sl_keeper_destroy(e.keeper);
	sl_bundle_destroy(e.live);
	sl_bundle_destroy(e.bundled);
	return rc < 0 ? sl_tool_fail(&err) : SL_EXIT_FINE;
}

const struct sl_verb sl_verb_engine = {
	.name = "engine",
	.operands = "[OPTION]...",
	.summary = "serve decisions to slurmctld's plug-in (it starts this, people do not)",
	.options = options,
	.run = run,
};
