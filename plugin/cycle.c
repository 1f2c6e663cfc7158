/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cycle.c - see cycle.h */
#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "plugin/cycle.h"
#include "plugin/diag.h"
#include "plugin/due.h"
#include "plugin/fallback.h"
#include "plugin/hidden.h"
#include "plugin/commit/commit.h"
#include "plugin/commit/planned.h"
#include "plugin/commit/reasons.h"
#include "plugin/host/captures.h"
#include "plugin/host/host.h"
#include "plugin/host/journals.h"
#include "plugin/host/ladder.h"
#include "plugin/host/options.h"
#include "base/plain.h"
#include "image/plan_image.h"
#include "plugin/host/refused.h"
#include "plugin/host/remembered.h"
#include "plugin/host/shadow.h"

struct sl_cycler {
	atomic_bool stop, reconfigured;
	struct sl_collector *collector;
	struct sl_host *host;
	struct sl_journals journals;
	struct sl_captures captures;
	struct sl_refused_log refused;
	struct sl_notes notes;		/* of jobs: the collector reads them, the commit writes them */
	struct sl_asked_book *asked;
	struct sl_held_book *held;	/* places that are held */
	struct sl_remember *remembered;	/* by the site's policies: from their last plan into the next snapshot */
	struct sl_status status;
	struct sl_options options;
	char shadow[16];		/* who decides in place of us; "": nobody does */
	struct sl_shadow *book;		/* of what both do, in shadow mode */
	char failed[300];		/* in the decision at hand, or empty */
	struct sl_host_options host_options;
	char site[3072], dir[2048], keep[2100];
	bool configured, ready;		/* options read; allowed to act */
	bool hide;			/* Slurm hides jobs from users: nothing may be published */
	time_t conf_update;
	struct sl_due due;
	double last_status, idle_until;
	bool status_owed;		/* status.json is older than the last cycle */
	int64_t sequence;
	struct sl_ladder ladder;
};

static void log_line(int level, const char *text)
{
	char *line = sl_plain(xstrdup(text));

	if (level == 0)
		error("sched/lua: %s", line);
	else if (level == 1)
		info("sched/lua: %s", line);
	else
		debug("sched/lua: %s", line);
	xfree(line);
}

/* Something is wrong with the configuration, which is read when somebody changes it. */
static void say_wrong(struct sl_cycler *y, const char *text)
{
	log_line(0, text);
	sl_status_error(&y->status, text);
}

/* Something fails that the next cycle tries again: told of once. */
static void complain(void *arg, enum sl_trouble what, const char *text)
{
	struct sl_cycler *y = arg;

	if (sl_status_trouble(&y->status, what, text))
		log_line(0, text);
}

/* -- configuration ---------------------------------------------------------- */

static void log_wrong(const char *text)
{
	error("sched/lua: %s; its default is used", text);
}

static void read_conf(struct sl_cycler *y)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK };
	struct sl_error err = { SL_OK, "" };
	char *beside;

	lock_slurmctld(locks);
	y->hide = sl_hidden_jobs();
	sl_hidden_words(y->status.private_data, sizeof(y->status.private_data));
	sl_sched_params_parse(&y->options, SCHEDLUA_ENGINE, slurm_conf.sched_params, log_wrong, &err);
	beside = get_extra_conf_path("sched.lua");
	snprintf(y->site, sizeof(y->site), "%s", *y->options.site ? y->options.site : beside);
	xfree(beside);
	snprintf(y->dir, sizeof(y->dir), "%s/schedlua", slurm_conf.state_save_location);
	snprintf(y->keep, sizeof(y->keep), "%s/last-good", y->dir);
	y->host_options = (struct sl_host_options) {
		.engine = y->options.engine, .site = y->site, .policy_path = y->options.policy_path,
		.keep = y->keep, .state = y->dir, .user = y->options.user,
		.trusted_uid = slurm_conf.slurm_user_id, .log = log_line,
	};
	y->conf_update = slurm_conf.last_update;
	unlock_slurmctld(locks);
	if (err.code)
		sl_status_error(&y->status, err.text);
	snprintf(y->status.site, sizeof(y->status.site), "%.1023s", y->site);
}

static void open_state(struct sl_cycler *y)
{
	struct sl_error err = { SL_OK, "" };
	char path[2200];
	int bad;

	if (sl_journals_open(&y->journals, &err))
		complain(y, SL_TROUBLE_JOURNAL, err.text);
	snprintf(path, sizeof(path), "%s/remembered", y->dir);
	if (sl_remembered_load(y->remembered, path, &err))
		info("sched/lua: %s; policies begin without", err.text);
	snprintf(path, sizeof(path), "%s/held", y->dir);
	if ((bad = sl_held_open(y->held, path, &err)) < 0)
		error("sched/lua: %s: no place is held that was held before", err.text);
	else if (bad)
		error("sched/lua: %s: %d lines make no sense and are left out", path, bad);
	snprintf(path, sizeof(path), "%s/requests", y->dir);
	if ((bad = sl_asked_open(y->asked, path, &err)) < 0)
		error("sched/lua: %s: jobs that run as something else than they asked for keep that when requeued",
		      err.text);
	else if (bad)
		error("sched/lua: %s: %d lines make no sense and are left out", path, bad);
}

/* Only with the main scheduler off may we act: two would start jobs twice as
 * fast, and each other's. */
static bool is_allowed_to_act(struct sl_cycler *y)
{
	const char *missing = sl_options_missing(&y->options);
	char text[512];

	if (*y->shadow || !missing)
		return true;
	snprintf(text, sizeof(text), "slurmctld's own scheduler is not switched off: add SchedulerParameters=%s to "
		 "slurm.conf and run scontrol reconfigure; until then sched/lua starts nothing", missing);
	snprintf(y->status.idle_why, sizeof(y->status.idle_why), "%s", text);
	y->status.source = SL_SOURCE_IDLE;
	say_wrong(y, text);
	return false;
}

/* Who schedules was settled when slurmctld began. */
static void tell_mode(struct sl_cycler *y)
{
	if (strcmp(y->shadow, y->options.shadow))
		log_line(0, "lua_shadow is not what it was when slurmctld began: this takes effect when it is started anew");
	if (!*y->shadow)
		return;
	info("sched/lua: shadow mode: sched/%s decides, nothing of ours is carried out", y->shadow);
	if (y->options.main_off)
		log_line(1, "shadow mode with sched_interval=-1: Slurm's main scheduler is off, as that word says");
}

static void configure(struct sl_cycler *y)
{
	struct sl_error err = { SL_OK, "" };
	bool first = !y->configured;

	read_conf(y);
	if (sl_journals_set(&y->journals, y->dir, y->options.publish, slurm_conf.slurm_user_id, y->hide, &err))
		say_wrong(y, err.text);
	else if (*y->options.publish && y->hide)
		log_line(1, "nothing is published (lua_publish): PrivateData, or MCSParameters, hides jobs from users");
	if (first)
		open_state(y);
	if (sl_host_reconfigure(y->host, &y->host_options, &err))
		say_wrong(y, err.text);
	y->configured = true;
	y->ladder = (struct sl_ladder) { 0 };
	y->idle_until = 0;
	y->ready = is_allowed_to_act(y);
	tell_mode(y);
}

/* -- what the site may say, too ------------------------------------------------------------------- */

static double interval_s(const struct sl_cycler *y)
{
	double site = sl_host_state(y->host)->interval_s;

	return y->options.interval_s > 0 ? y->options.interval_s : site > 0 ? site : SL_DEFAULT_INTERVAL_S;
}

static double budget_s(const struct sl_cycler *y)
{
	double site = sl_host_state(y->host)->budget_s;

	return y->options.budget_s > 0 ? y->options.budget_s : site > 0 ? site : SL_DEFAULT_BUDGET_S;
}

/* -- decide ------------------------------------------------------------------- */

static bool ask_engine(struct sl_cycler *y, bool bundled, struct sl_host_answer *a, struct sl_plan_image *plan,
		       struct sl_error *err)
{
	const struct sl_host_state *hs = sl_host_state(y->host);
	uint64_t refused = hs->refused;
	double t0 = sl_clock_s();
	int rc;

	rc = sl_host_decide(y->host, &y->collector->snap, (int64_t) (budget_s(y) * 1e6), bundled, a, err);
	if (hs->refused != refused)
		sl_status_error(&y->status, hs->refusal);
	if (rc)
		return false;
	sl_times_add(&y->status.decide, (uint64_t) ((sl_clock_s() - t0) * 1e6));
	*plan = a->plan;
	return true;
}

/*
 * What the site's set remembers goes into the next snapshot.  The engine sees to it that
 * a policy which failed begins anew; a set that fails again and again, whatever the way,
 * does so as a whole, since what it remembers may be why.
 */
static void take_remembered(struct sl_cycler *y, const struct sl_plan_image *plan)
{
	struct sl_error err = { SL_OK, "" };

	if (sl_remember_load(y->remembered, &plan->image, &plan->remembered, NULL, &err))
		complain(y, SL_TROUBLE_REMEMBERED, err.text);
}

/* A failure of the site's policies: counted, and told of while that is news. */
static void tell_failure(struct sl_cycler *y, const char *what, const char *text, const struct sl_try_end *end)
{
	char line[700], rests[160] = "";

	y->status.policy_errors++;
	if (end->rests_s > 0) {
		sl_remember_clear(y->remembered);
		snprintf(rests, sizeof(rests), "; the set rests for %g s, repaired or not, and twice as long each time it fails again; "
			 "scontrol reconfigure ends that", end->rests_s);
	}
	snprintf(line, sizeof(line), "%s failed: %.*s", what, (int) MIN(strcspn(text, "\n"), 480), text);
	sl_status_error(&y->status, line);
	snprintf(y->failed, sizeof(y->failed), "%.*s", (int) sizeof(y->failed) - 1, line);
	sl_plain(line);
	if (end->log)
		error("sched/lua: %s%s%s", line, end->ends, rests);
}

/* What the answer of the site's policies is worth. */
static enum sl_try weigh(struct sl_cycler *y, const struct sl_host_answer *a, const struct sl_plan_image *plan)
{
	if (!a->policy_failed)
		return SL_TRY_DECIDED;
	if (plan->meta.truncated[0]) {
		y->status.truncated++;
		y->status.truncated_time = time(NULL);
	}
	if (plan->start.rows)
		return plan->meta.truncated[0] ? SL_TRY_CUT_SHORT : SL_TRY_FAILED_LATE;
	return y->collector->queued ? SL_TRY_FAILED : SL_TRY_FAILED_IDLE;
}

/* The site's policies.  False: the next rung is to decide. */
static bool ask_site(struct sl_cycler *y, struct sl_host_answer *a, struct sl_plan_image *plan, struct sl_error *err)
{
	uint64_t failures = sl_host_state(y->host)->failures;
	const char *what = "policy", *text;
	struct sl_try_end end;
	enum sl_try try;
	bool planned;

	if (sl_ladder_rests(&y->ladder, SL_RUNG_SITE, sl_clock_s()))
		return false;
	planned = ask_engine(y, false, a, plan, err);
	if (planned) {
		take_remembered(y, plan);
		try = weigh(y, a, plan);
		text = a->text;
	} else {
		/* a policy that ends or hangs the engine is to blame as well */
		try = err->code == SL_EBUSY ? SL_TRY_NOT_ASKED : SL_TRY_NO_PLAN;
		what = sl_host_state(y->host)->failures > failures ? "engine" : "policy";
		text = err->text;
	}
	end = sl_ladder_note(&y->ladder, try, sl_clock_s());
	if (end.failure)
		tell_failure(y, what, text, &end);
	else if (try == SL_TRY_CUT_SHORT)
		sl_status_error(&y->status, text);
	if (planned && !end.decides)
		sl_host_release(y->host, a);
	return end.decides;
}

static void note_barren(struct sl_cycler *y, const struct sl_commit *m)
{
	bool barren = m->plan->start.rows && !m->started && !m->refused;
	struct sl_try_end end;

	if (m->cut_short)	/* that says nothing of the plan */
		return;
	if (sl_ladder_note_plan(&y->ladder, barren, sl_clock_s(), &end))
		tell_failure(y, "policy", "none of the starts that it planned was possible", &end);
}

/* The first two rungs (plugin/host/ladder.h); the source says which.  False: neither. */
static bool get_plan(struct sl_cycler *y, struct sl_host_answer *a, struct sl_plan_image *plan)
{
	struct sl_error err = { SL_OK, "" };
	const struct sl_host_state *hs;

	if (ask_site(y, a, plan, &err)) {
		hs = sl_host_state(y->host);
		y->status.source = !hs->site_live ? SL_SOURCE_BUNDLED :
			hs->site_refused ? SL_SOURCE_LAST_GOOD : SL_SOURCE_SITE;
		return true;
	}
	if (atomic_load(&y->stop))
		return false;
	if (err.code != SL_EBUSY && !sl_ladder_rests(&y->ladder, SL_RUNG_BUNDLED, sl_clock_s()) &&
	    ask_engine(y, true, a, plan, &err)) {
		y->status.source = SL_SOURCE_BUNDLED;
		y->status.bundled_cycles++;
		return true;
	}
	if (!atomic_load(&y->stop)) {
		if (!err.code)
			sl_fail(&err, SL_EBUSY, "what was planned was never possible");
		sl_fail_in(&err, "no plan, %s", *y->shadow ? "and Slurm schedules as ever" :
			   "the plug-in starts jobs in priority order");
		complain(y, (enum sl_trouble) ((int) SL_TROUBLE_NO_PLAN + (int) err.code), err.text);
		snprintf(y->failed, sizeof(y->failed), "%.*s", (int) sizeof(y->failed) - 1, err.text);
	}
	return false;
}

/* Where nothing starts, since what guards it failed; the log is told when that changes.
 * What failed may name another job each time: that is no news. */
static void note_held(struct sl_cycler *y, const char *text)
{
	char *was = y->status.held, line[700];
	size_t n = strcspn(text, ":");

	if (*text && (strcspn(was, ":") != n || strncmp(was, text, n))) {
		snprintf(line, sizeof(line), "held: nothing starts in %s", text);
		log_line(0, line);
		sl_status_error(&y->status, line);
	} else if (!*text && *was) {
		log_line(1, "nothing is held any more");
	}
	snprintf(y->status.held, sizeof(y->status.held), "%s", text);
}

/* Neither the site's policies nor the engine: in priority order, where that is allowed. */
static void fall_back(struct sl_cycler *y, struct sl_commit *m)
{
	const struct sl_fence *hold = &sl_host_state(y->host)->hold;
	char text[SL_FENCE_TEXT], held[512] = "";

	y->status.source = SL_SOURCE_FALLBACK;
	y->status.fallback_cycles++;
	sl_status_count_reasons(&y->status, NULL);
	snprintf(y->status.policy, sizeof(y->status.policy), "priority order in the plug-in");
	if (sl_fence_any(hold))
		snprintf(held, sizeof(held), "%.400s: the site's policies do not run", sl_fence_text(hold, text));
	note_held(y, held);
	sl_fallback_run(m, hold);
	sl_planned_mark(m);
	sl_commit_save(m);
}

/* -- commit and tell ------------------------------------------------------------ */

static void log_plan(const struct sl_plan_image *plan)
{
	uint32_t i;

	for (i = 0; i < plan->log.rows && i < 50; i++)
		log_line((int) plan->log.level[i], sl_image_str(&plan->image, plan->log.text[i]));
}

static void carry_out(struct sl_cycler *y, struct sl_commit *m, const struct sl_plan_image *plan)
{
	m->plan = plan;
	log_plan(plan);
	sl_status_count_reasons(&y->status, plan);
	sl_commit_run(m);
	note_barren(y, m);
	if (!atomic_load(&y->stop))
		sl_commit_reasons(m);
	sl_journals_write(&y->journals, &y->collector->snap, plan, m->carried, complain, y);
}

/* Shadow mode: as if each decision had been looked at, and not carried out. */
static void look_on(struct sl_cycler *y, const struct sl_plan_image *plan)
{
	uint32_t i, decisions = plan->start.rows + plan->action.rows + plan->stop.rows;
	struct sl_carried *carried = xcalloc(MAX(decisions, 1), sizeof(*carried));

	for (i = 0; i < decisions; i++)
		carried[i] = (struct sl_carried) { .fate = SL_FATE_SHADOW, .text = "shadow mode: Slurm decides" };
	log_plan(plan);
	sl_status_count_reasons(&y->status, plan);
	sl_journals_write(&y->journals, &y->collector->snap, plan, carried, complain, y);
	xfree(carried);
}

/*
 * The one place where a decision becomes a deed.  In shadow mode it does not: no start, no
 * order, no reason, no mark on a node, no figure of sdiag.
 */
static void act(struct sl_cycler *y, struct sl_commit *m, const struct sl_plan_image *plan)
{
	if (!*y->shadow && plan)
		carry_out(y, m, plan);
	else if (!*y->shadow)
		fall_back(y, m);
	else if (plan)
		look_on(y, plan);
	else {
		y->status.source = SL_SOURCE_IDLE;
		snprintf(y->status.idle_why, sizeof(y->status.idle_why), "%s", y->failed);
	}
	if (*y->shadow)
		sl_commit_save(m);	/* what jobs of an earlier time asked for may have been put back */
}

/* Rows that the engine's checker refused: the plan has none of them any more. */
static void note_refused(struct sl_cycler *y, const struct sl_plan_image *plan)
{
	const struct sl_refused_in in = { plan, y->collector->bytes, y->collector->size, y->dir };
	char line[1024];

	if (sl_refused_note(&y->refused, &y->status, &in, line, sizeof(line), complain, y))
		log_line(0, line);
}

static void write_book(struct sl_cycler *y, const struct sl_plan_image *plan)
{
	struct sl_shadow_cycle c = {
		.snap = &y->collector->snap, .plan = plan, .policy = plan ? y->status.policy : "", .failed = y->failed,
		.decide_us = plan ? (uint64_t) plan->meta.total_us[0] : 0, .deaths = sl_host_state(y->host)->failures,
	};
	struct sl_error err = { SL_OK, "" };

	if (y->book && sl_shadow_note(y->book, y->dir, &c, &err))
		complain(y, SL_TROUBLE_JOURNAL, err.text);
}

static void write_status(struct sl_cycler *y, bool now)
{
	struct sl_error err = { SL_OK, "" };
	struct sl_status *s = &y->status;
	const struct sl_host_state *hs = sl_host_state(y->host);

	y->status_owed = !now && sl_clock_s() - y->last_status < 1;
	if (y->status_owed)
		return;
	y->last_status = sl_clock_s();
	sl_diag_read(&s->sdiag);
	s->pid = getpid();
	s->written = time(NULL);
	s->interval_s = interval_s(y);
	s->budget_s = budget_s(y);
	s->engine_pid = hs->pid;
	s->engine_starts = hs->starts;
	s->engine_kills = hs->kills;
	s->engine_failures = hs->failures;
	s->strikes = hs->strikes;
	s->next_try_s = hs->next_try_s;
	s->odd = hs->odd;
	s->usage_stale = hs->stale;
	s->engine_holds = hs->holds;
	s->reloads = hs->reloads;
	s->refused = hs->refused;
	snprintf(s->refusal, sizeof(s->refusal), "%.*s", (int) MIN(strcspn(hs->refusal, "\n"), 1000),
		 hs->site_refused ? hs->refusal : "");
	if (y->configured && sl_status_write(s, y->dir, &err))
		complain(y, SL_TROUBLE_STATUS, err.text);
}

static void note_collected(struct sl_cycler *y)
{
	const struct sl_collector *c = y->collector;

	sl_times_add(&y->status.queue_hold, c->queue_us);
	sl_times_add(&y->status.queue_own, c->queue_us - c->build_us);
	sl_times_add(&y->status.copy_hold, c->copy_us);
	y->status.queued = c->queued;
	y->status.running = c->running;
	y->status.nodes = c->nodes;
	sl_status_count_queue(&y->status, &c->snap);
}

static bool take_snapshot(struct sl_cycler *y)
{
	struct sl_collect_in in = { .sequence = y->sequence, .finished_s = sl_captures_finished_s(&y->captures, &y->options),
				    .ledger_safe = sl_host_state(y->host)->ledger_safe,
				    .shapes_off = !strcmp(y->options.shapes, "off"),
				    .shapes_any = !strcmp(y->options.shapes, "any"),
				    .notes = &y->notes, .asked = y->asked, .remembered = y->remembered, .held = y->held,
				    .aside = *y->shadow };
	struct sl_error err = { SL_OK, "" };

	if (!sl_collect(y->collector, &in, &err)) {
		note_collected(y);
		return true;
	}
	if (err.code == SL_EBUSY) {
		debug2("sched/lua: %s", err.text);
		return false;
	}
	y->status.source = SL_SOURCE_IDLE;
	snprintf(y->status.idle_why, sizeof(y->status.idle_why), "%s", err.text);
	y->idle_until = sl_clock_s() + 10;
	complain(y, SL_TROUBLE_COLLECT, err.text);
	return false;
}

/* Were there jobs to which the policy did not come: behind its window, or when its time was up? */
static bool left_unseen(const struct sl_plan_image *plan)
{
	uint32_t i;

	for (i = 0; i < plan->pending.rows; i++)
		if (plan->pending.why[i] == SL_WHY_WINDOW || plan->pending.why[i] == SL_WHY_BUDGET)
			return true;
	return false;
}

static void run_cycle(struct sl_cycler *y)
{
	struct sl_commit m = { .c = y->collector, .status = &y->status, .notes = &y->notes, .asked = y->asked, .held = y->held,
			       .batch_ms = y->options.batch_ms,
			       .reason_text = y->options.reason_text > 0, .stop = &y->stop };
	struct sl_host_answer a = { 0 };
	struct sl_plan_image plan, *decided = NULL;
	struct sl_error err = { SL_OK, "" };
	struct sl_diag_cycle diag = { 0 };
	bool unseen = false;
	time_t before;

	sl_due_begin(&y->due);
	sl_captures_begin(&y->captures, y->due.last_start);
	y->sequence++;
	if (!take_snapshot(y))
		goto done;
	before = last_job_update;
	*y->failed = '\0';
	if (get_plan(y, &a, &plan)) {
		snprintf(y->status.policy, sizeof(y->status.policy), "%s", a.policy);
		note_held(y, a.held);
		decided = &plan;
		note_refused(y, decided);
	}
	y->status.shortages = decided ? decided->shortage.rows : 0;
	diag.examined = decided ? plan.meta.examined[0] : y->collector->queued;
	if (decided || !atomic_load(&y->stop)) {
		act(y, &m, decided);
		y->status.held_places = y->held->places;
		sl_held_tell(y->held, y->status.places, sizeof(y->status.places));
		write_book(y, decided);
	}
	if (decided) {
		unseen = left_unseen(decided);
		diag.planned = decided->start.rows + decided->reserve.rows;
		diag.unseen = unseen;
		diag.out_of_time = decided->meta.truncated[0];
		diag.backfilled = sl_diag_backfilled(&y->collector->snap, decided, m.carried);
		sl_due_wake(&y->due, (time_t) decided->meta.wake_time[0]);
		if (sl_captures_note_asked(&y->captures, &y->options, &y->collector->snap, decided, &err))
			complain(y, SL_TROUBLE_RECORD, err.text);
		sl_host_release(y->host, &a);
	}
	sl_commit_free(&m);
	y->status.cycles++;
	y->status.last_cycle = y->due.snapshot_second;
	sl_due_done(&y->due, before, m.started > 0, unseen);
	sl_captures_write(&y->captures, &y->options, y->dir, y->sequence, y->collector->bytes, y->collector->size,
			  complain, y);
done:
	diag.us = sl_due_end(&y->due);
	diag.began = y->due.snapshot_second;
	diag.queued = y->collector->queued;
	sl_times_add(&y->status.cycle, diag.us);
	if (!*y->shadow)
		sl_diag_add(&diag);
}

/* -- outside --------------------------------------------------------------------- */

struct sl_cycler *sl_cycler_create(const char *shadow, struct sl_error *err)
{
	struct sl_cycler *y = xmalloc(sizeof(*y));

	snprintf(y->shadow, sizeof(y->shadow), "%s", shadow);
	y->status.shadow = y->shadow;
	y->status.version = SCHEDLUA_VERSION;
	y->status.slurm_version = SLURM_VERSION_STRING;
	y->status.started = time(NULL);
	y->sequence = (int64_t) time(NULL) * 1000;	/* goes on growing after a restart */
	snprintf(y->status.idle_why, sizeof(y->status.idle_why), "slurmctld has not loaded its nodes yet");
	y->host_options = (struct sl_host_options) { .engine = SCHEDLUA_ENGINE, .site = "", .policy_path = "", .keep = "",
						      .log = log_line };
	/* made here, so that sl_cycler_stop() finds it at any time */
	y->asked = sl_asked_create();
	y->held = sl_held_create();
	if ((!y->held && sl_fail(err, SL_ENOMEM, "no memory")) || (*shadow && !(y->book = sl_shadow_create(shadow, err))) ||
	    !(y->remembered = sl_remember_create(err)) || !(y->collector = sl_collector_create(err)) ||
	    !(y->host = sl_host_create(&y->host_options, err))) {
		sl_cycler_destroy(y);
		return NULL;
	}
	return y;
}

static void save_remembered(const struct sl_cycler *y)
{
	struct sl_error err = { SL_OK, "" };
	char path[2200];

	snprintf(path, sizeof(path), "%s/remembered", y->dir);
	if (y->configured && sl_remembered_save(y->remembered, path, &err))
		error("sched/lua: %s: policies begin without what they remember", err.text);
}

void sl_cycler_destroy(struct sl_cycler *y)
{
	if (!y)
		return;
	save_remembered(y);
	sl_host_destroy(y->host);
	sl_journals_close(&y->journals);
	sl_shadow_destroy(y->book);
	sl_collector_destroy(y->collector);
	sl_captures_end(&y->captures);
	sl_asked_destroy(y->asked);
	sl_held_destroy(y->held);
	sl_remember_destroy(y->remembered);
	sl_status_clear(&y->status);
	xfree(y);
}

void sl_cycler_stop(struct sl_cycler *y)
{
	atomic_store(&y->stop, true);
	sl_host_interrupt(y->host);
}

void sl_cycler_reconfigure(struct sl_cycler *y)
{
	atomic_store(&y->reconfigured, true);
}

unsigned sl_cycler_pause_ms(const struct sl_cycler *y)
{
	return y->configured ? (unsigned) y->options.wake_ms : 100;
}

void sl_cycler_tick(struct sl_cycler *y)
{
	/* init() comes long before the nodes do */
	if (!node_record_count || !job_list || slurmctld_config.shutdown_time)
		return;
	if (atomic_exchange(&y->reconfigured, false) || !y->configured || y->conf_update != slurm_conf.last_update) {
		configure(y);
		write_status(y, true);
	}
	sl_host_poll(y->host);
	/* the next cycle may be an interval away */
	if (y->status_owed)
		write_status(y, false);
	if (!y->ready || slurmctld_config.scheduling_disabled || sl_clock_s() < y->idle_until ||
	    !sl_due_now(&y->due, interval_s(y)) || sl_due_waits(&y->options) || !fed_mgr_sibs_synced())
		return;
	run_cycle(y);
	/* the next look comes late: what is wrong is told now */
	write_status(y, sl_clock_s() < y->idle_until);
}
