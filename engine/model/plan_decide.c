/* SPDX-License-Identifier: MIT */
/* plan_decide.c - the functions by which policies decide, and the rules for all of them: the guard, which shape is used,
 * which of several reservations is kept. */
#include "model/plan_private.h"
#include "model/preempt.h"

#include <inttypes.h>

static const struct sl_terms as_asked;

int plan_check_idle(const struct sl_plan *p, const char *verb, struct sl_error *err)
{
	if (p->choosing)
		return sl_fail(err, SL_EBUSY, "%s: not while a policy is asked whom to stop", verb);
	return cluster_asks_score(p->c) ? sl_fail(err, SL_EBUSY, "%s: not while a policy is asked for a score", verb) : 0;
}

static int check_decision(const struct sl_plan *p, uint32_t job, const char *verb, struct sl_error *err)
{
	const struct sl_job_view *v = &p->c->snap->job;

	if (job >= v->rows)
		return sl_fail(err, SL_EINVAL, "%s: there is no job row %" PRIu32, verb, job);
	if (plan_check_idle(p, verb, err) < 0)
		return -1;
	if (p->on_trial)
		return sl_fail(err, SL_EBUSY, "%s: job %" PRIu32 ": whether job %" PRIu32 " may start is being asked; "
			       "expected no other decision until that is answered", verb, v->id[job],
			       v->id[p->started.entry[p->started.count - 1].job]);
	return 0;
}

/* -- the guard ----------------------------------------------------------- */

void sl_plan_set_guard(struct sl_plan *p, sl_plan_guard *guard, void *arg)
{
	p->guard = guard;
	p->guard_arg = arg;
}

static int ask_guard(struct sl_plan *p, struct sl_entry e, struct sl_refusal *why, struct sl_error *err)
{
	return p->guard ? p->guard(p->guard_arg, e, why, err) : 1;
}

static int take_back_start(struct sl_plan *p, uint32_t at, struct sl_error *err)
{
	uint32_t job = p->started.entry[at].job;

	if (plan_unbook(p, p->started.item[at], err) < 0)
		return -1;
	plan_refusals_forget(p);
	plan_free_booking(p->started.item[at]);
	plan_take_out(&p->started, at);
	plan_hold_start_gone(p, at);
	p->given_back++;
	plan_count_task(p, job, -1);
	return 0;
}

/* Before the place was known, the guard was asked with lower bounds.  Ask it again about the last start, with its place,
 * and undo the start if it is rejected. */
static int stand_trial(struct sl_plan *p, struct sl_refusal *why, struct sl_error *err)
{
	uint32_t last = p->started.count - 1;
	struct sl_entry e = p->started.entry[last];
	int rc;

	p->on_trial = true;
	rc = ask_guard(p, e, why, err);
	p->on_trial = false;
	if (rc > 0) {
		p->revision++;
		return 1;
	}
	if (take_back_start(p, last, rc < 0 ? NULL : err) < 0 || rc < 0)
		return -1;
	return plan_bar(p, e.job, why, err);
}

bool sl_plan_trial(struct sl_plan *p, struct sl_booking *b)
{
	return p->on_trial && !sl_plan_booking(p, false, p->started.count - 1, b, NULL);
}

uint64_t sl_plan_revision(const struct sl_plan *p)
{
	return p->revision;
}

/* -- turns: the alternatives of an entry, each in its reservations ------------ */

/* Value of entry.resv for the nth reservation in which the entry may start; SL_NONE after the last. */
static uint32_t nth_way(const struct sl_plan *p, const struct sl_entry *e, uint32_t n)
{
	const struct sl_snapshot *s = p->c->snap;
	uint32_t i = p->queue_of[e->job], row, own;

	if (!s->reservation.rows)
		return n ? SL_NONE : 0;
	while (i && p->c->queue[i - 1].partition != e->partition)
		i = p->queue_next[i - 1];
	row = i ? p->c->queue[i - 1].row : 0;
	if (row && s->queue.ways[row - 1].count) {
		struct sl_range ways = s->queue.ways[row - 1];

		if (n >= ways.count)
			return SL_NONE;
		own = s->way.reservation[ways.first + n];
		return own == SL_NONE ? 0 : own + 1;
	}
	return n ? SL_NONE : 0;
}

struct turns {
	struct sl_entry e;		/* entry to try now */
	uint32_t last, n, taken;	/* last alternative; number of reservations of this alternative tried, and of turns
					 * taken */
};

static struct turns turns_of(const struct sl_plan *p, const struct sl_entry *e, const struct sl_terms *terms)
{
	struct turns t = { .e = *e, .last = e->shape };

	if (terms->any_shape) {
		t.e.shape = 0;
		t.last = p->c->snap->job.shapes[e->job].count;
	}
	return t;
}

static bool next_turn(const struct sl_plan *p, struct turns *t)
{
	for (; t->e.shape <= t->last; t->e.shape++, t->n = 0) {
		t->e.resv = nth_way(p, &t->e, t->n++);
		if (t->e.resv != SL_NONE)
			return ++t->taken;
	}
	return false;
}

/* Find the loan for the entry in its shape.  1 with e->loan; 0 with *why; -1 with *err. */
static int find_loan(struct sl_plan *p, struct sl_entry *e, const struct sl_terms *terms, struct sl_refusal *why,
		     struct sl_error *err)
{
	int rc;

	why->format = NULL;
	rc = terms->borrow ? sl_cluster_borrow(p->c, *e, terms->borrow, &e->loan, why->text, err) : 1;

	if (!rc)
		why->why = SL_WHY_PARTITION;
	return rc;
}

/* Of several refusals keep the first, unless a later one tells the user more. */
static void merge_refusal(struct sl_refusal *why, const struct sl_refusal *now, bool first)
{
	if (first || sl_refusal_yields(why->why, now->why))
		plan_copy_refusal(why, now);
}

/* -- starting ------------------------------------------------------------ */

static int start_in_shape(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
			  struct sl_refusal *why, struct sl_error *err)
{
	int rc = find_loan(p, &e, terms, why, err);

	if (rc > 0)
		rc = plan_start(p, e, terms, easy, why, err);
	return rc > 0 ? stand_trial(p, why, err) : rc;
}

int plan_start_alone(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
		     struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal unread, *why = refusal ? refusal : &unread;
	struct turns t;
	int rc;

	if (check_decision(p, e.job, "start", err) < 0)
		return -1;
	if (!terms)
		terms = &as_asked;
	plan_say_nothing(why);
	rc = ask_guard(p, e, why, err);
	if (rc <= 0)
		return rc;
	t = turns_of(p, &e, terms);
	for (rc = 0; !rc && next_turn(p, &t);) {
		struct sl_refusal now;

		plan_say_nothing(&now);
		rc = start_in_shape(p, t.e, terms, easy, &now, err);
		if (!rc)
			merge_refusal(why, &now, t.taken == 1);
	}
	if (rc > 0)
		plan_forget_attempts(p, e.job);
	return rc;
}

static int decide_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
			struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_error unread;
	int rc;

	err = err ? err : &unread;
	if (!plan_begin_work(p, e.job))
		return plan_refuse_work(p, &e, refusal, err);
	rc = plan_is_component(p->c, e.job) ? plan_start_het(p, e, terms, easy, refusal, err) :
					      plan_start_alone(p, e, terms, easy, refusal, err);
	return plan_end_work(p, &e, rc, refusal, err);
}

int sl_plan_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, struct sl_refusal *refusal,
		  struct sl_error *err)
{
	return decide_start(p, e, terms, false, refusal, err);
}

int sl_plan_backfill(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, struct sl_refusal *refusal,
		     struct sl_error *err)
{
	return decide_start(p, e, terms, true, refusal, err);
}

/* -- reserving ----------------------------------------------------------- */

/* Set *e to the alternative and reservation that can start first, of equal ones the first.  1 with *start_time; 0 with
 * *why, and *e the first of them; -1 with *err. */
static int find_soonest(struct sl_plan *p, struct sl_entry *e, const struct sl_terms *terms, int64_t *start_time,
			struct sl_refusal *why, struct sl_error *err)
{
	struct turns turns = turns_of(p, e, terms);
	int found = 0;

	while (next_turn(p, &turns)) {
		struct sl_refusal now = { .why = SL_WHY_NONE };
		struct sl_entry at = turns.e;
		int64_t t;
		int rc = find_loan(p, &at, terms, &now, err);

		if (rc > 0)
			rc = plan_earliest_start(p, at, terms, &t, &now, err);
		if (rc < 0)
			return -1;
		if (turns.taken == 1)
			*e = turns.e;
		if (!rc && !found)
			merge_refusal(why, &now, turns.taken == 1);
		if (!rc || (found && t >= *start_time))
			continue;
		found = 1;
		*start_time = t;
		*e = at;
	}
	return found;
}

/* The job's reservation in another partition, or NULL. */
static const struct booking *reserved_elsewhere(const struct sl_plan *p, struct sl_entry e)
{
	uint32_t at = p->reserved.count ? plan_find(&p->reserved, e.job) : SL_NONE;

	return at == SL_NONE || p->reserved.entry[at].partition == e.partition ? NULL : p->reserved.item[at];
}

/* A job that waits in several partitions keeps its earliest reservation; only an earlier start in another partition
 * replaces it.  1 with *why: it is kept; 0; -1 with *err. */
static int keeps_its_reservation(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
				 struct sl_refusal *why, struct sl_error *err)
{
	const struct booking *other = reserved_elsewhere(p, e);
	int64_t here;
	int rc;

	if (!other)
		return 0;
	rc = plan_earliest_start(p, e, terms, &here, why, err);
	if (rc <= 0 || here < other->t0)
		return rc < 0 ? -1 : 0;
	plan_say(why, SL_WHY_PRIORITY, "expected to start in partition %s no later",
		 cluster_str(p->c, p->c->snap->partition.name[other->entry.partition]));
	return 1;
}

static int decide_reservation(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
		    struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal why = { .why = SL_WHY_NONE };
	int rc;

	if (check_decision(p, e.job, "reserve", err) < 0)
		return -1;
	if (!terms)
		terms = &as_asked;
	if (terms->borrow)
		return sl_fail(err, SL_EINVAL, "borrow: a reservation is for nodes of the job's own partition");
	if (p->c->snap->job.flags[e.job] & SL_JOBF_NO_RESERVE) {
		plan_say(&why, SL_WHY_NONE, "no nodes are kept free for it (QOS NoReserve, or MinPrioThreshold)");
		return plan_refuse(p, &e, &why, refusal, err);
	}
	if (plan_is_component(p->c, e.job) && !plan_is_barred(p, e.job))
		return plan_reserve_het(p, e, terms, start_time, refusal, err);
	if (plan_is_barred(p, e.job)) {
		plan_say(&why, SL_WHY_POLICY, "has no place that the policy allows");
		rc = 1;
	} else {
		const struct turns t = turns_of(p, &e, terms);

		e = t.e;
		/* with one alternative and one reservation there is nothing to compare */
		if ((t.last > e.shape || nth_way(p, &e, 1) != SL_NONE) &&
		    find_soonest(p, &e, terms, start_time, &why, err) < 0)
			return -1;
		rc = keeps_its_reservation(p, e, terms, &why, err);
	}
	if (rc > 0 && refusal)
		plan_copy_refusal(refusal, &why);
	return rc ? (rc > 0 ? 0 : -1) : plan_reserve(p, e, terms, p->c->now, start_time, refusal, err);
}

int sl_plan_reserve(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
		    struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_error unread;

	err = err ? err : &unread;
	if (!plan_begin_work(p, e.job))
		return plan_refuse_work(p, &e, refusal, err);
	return plan_end_work(p, &e, decide_reservation(p, e, terms, start_time, refusal, err), refusal, err);
}

static int find_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
		      struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal why = { .why = SL_WHY_NONE };
	int rc;

	if (e.job >= p->c->snap->job.rows)
		return sl_fail(err, SL_EINVAL, "earliest: there is no job row %" PRIu32, e.job);
	if (plan_check_idle(p, "earliest", err) < 0)
		return -1;
	if (plan_is_component(p->c, e.job)) {
		rc = plan_reserve_het(p, e, terms, start_time, refusal, err);
		return rc > 0 && plan_drop_het(p, e.job, err) < 0 ? -1 : rc;
	}
	rc = find_soonest(p, &e, terms ? terms : &as_asked, start_time, &why, err);
	if (!rc && refusal)
		plan_copy_refusal(refusal, &why);
	return rc;
}

int sl_plan_earliest(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
		     struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_error unread;

	err = err ? err : &unread;
	if (!plan_begin_work(p, e.job))
		return plan_refuse_work(p, &e, refusal, err);
	return plan_end_work(p, &e, find_start(p, e, terms, start_time, refusal, err), refusal, err);
}

/* -- stopping others ------------------------------------------------------- */

int sl_plan_preempt(struct sl_plan *p, struct sl_entry e, const struct sl_preempt_terms *terms,
		    struct sl_preempt_answer *answer, struct sl_error *err)
{
	static const struct sl_preempt_terms plain = { .wait_price = -1 };
	struct sl_error unread;
	uint64_t begun = p->c->effort.spent;
	int rc;

	err = err ? err : &unread;
	*answer = (struct sl_preempt_answer) { .verdict = SL_VERDICT_NONE };
	plan_say_nothing(&answer->why);
	if (check_decision(p, e.job, "preempt", err) < 0)
		return -1;
	if (p->starts[e.job] >= plan_tasks(p, e.job)) {
		plan_say(&answer->why, SL_WHY_NONE, "is started already");
		return 0;
	}
	if (p->cost.bounded && plan_find_left_out(p, e.job))
		return plan_refuse_work(p, &e, &answer->why, err);
	p->cost.is_well_asked = false;
	rc = ask_guard(p, e, &answer->why, err);
	if (rc > 0)
		rc = plan_preempt(p, e, terms ? terms : &plain, answer, err);
	plan_charge_nobody(p, p->c->effort.spent - begun);
	if (rc < 0) {
		answer->verdict = SL_VERDICT_UNPROVEN;
		return plan_spare_others(p, &e, &answer->why, err);
	}
	return rc ? rc : plan_refuse(p, &e, &answer->why, NULL, err);
}

/* -- hopeless entries -------------------------------------------------------- */

/* sl_plan_refuse_hopeless() for one entry. */
static int refuse_hopeless(struct sl_plan *p, struct sl_entry e, struct sl_error *err)
{
	const struct want *w = cluster_want(p->c, e, err);
	struct sl_refusal why;
	struct attempt a;
	int rc;

	if (!w)
		return -1;
	plan_say_nothing(&why);
	if (w->pub.why) {
		plan_say(&why, w->pub.why, "%s", w->pub.text);
		rc = 1;
	} else {
		if (plan_attempt(&a, p, w, NULL, err) < 0)
			return -1;
		rc = plan_explain_hopeless(&a, &why, err);
		plan_attempt_end(&a);
	}
	return rc > 0 && plan_refuse(p, &e, &why, NULL, err) < 0 ? -1 : rc;
}

int sl_plan_refuse_hopeless(struct sl_plan *p, struct sl_entry e, struct sl_error *err)
{
	struct sl_error unread;
	int rc;

	err = err ? err : &unread;
	if (e.job >= p->c->snap->job.rows)
		return sl_fail(err, SL_EINVAL, "there is no job row %" PRIu32, e.job);
	if (p->choosing || cluster_asks_score(p->c) || p->c->snap->job.shapes[e.job].count || plan_is_component(p->c, e.job) || nth_way(p, &e, 0) != 0 ||
	    nth_way(p, &e, 1) != SL_NONE || sl_plan_job(p, e.job) == SL_PLAN_RESERVED)
		return 0;
	if (!plan_begin_work(p, e.job))
		return plan_refuse_work(p, &e, NULL, err) < 0 ? -1 : 1;
	p->cost.is_well_asked = true;
	rc = refuse_hopeless(p, e, err);
	/* a job that turns out to cost too much is refused, too */
	return plan_end_work(p, &e, rc, NULL, err) < 0 ? -1 : rc != 0;
}

/* -- taking back --------------------------------------------------------- */

int plan_undo_one(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	uint32_t at = plan_find(&p->reserved, job);

	if (at != SL_NONE) {
		if (plan_unbook(p, p->reserved.item[at], err) < 0)
			return -1;
		plan_drop(p, at);
		return 0;
	}
	at = plan_find(&p->started, job);
	if (at == SL_NONE)
		return sl_fail(err, SL_ENOENT, "undo: job %" PRIu32 " was neither started nor reserved",
			       p->c->snap->job.id[job]);
	if (take_back_start(p, at, err) < 0)
		return -1;
	p->revision++;
	return 0;
}

int sl_plan_undo(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	if (check_decision(p, job, "undo", err) < 0)
		return -1;
	return plan_is_component(p->c, job) ? plan_undo_het(p, job, err) : plan_undo_one(p, job, err);
}
