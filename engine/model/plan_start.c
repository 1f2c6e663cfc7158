/* SPDX-License-Identifier: MIT */
/*
 * plan_start.c - starting jobs, and EASY backfill.
 */
#include "model/native.h"
#include "model/plan_private.h"
#include "model/prospect.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"

/* -- gates ------------------------------------------------------------------ */

const struct want *plan_look_up(struct sl_plan *p, struct sl_entry e, const struct sl_how *how,
				  struct sl_error *err)
{
	uint32_t i;

	if (e.job >= p->c->snap->job.rows) {
		sl_fail(err, SL_EINVAL, "there is no job row %" PRIu32, e.job);
		return NULL;
	}
	if (how && how->method >= SL_PLACE_METHODS) {
		sl_fail(err, SL_EINVAL, "there is no place method %u", (unsigned) how->method);
		return NULL;
	}
	for (i = p->queue_of[e.job]; i && p->c->queue[i - 1].partition != e.partition; )
		i = p->queue_next[i - 1];
	if (!i) {
		sl_fail(err, SL_EINVAL, "job %" PRIu32 " is not queued in that partition", p->c->snap->job.id[e.job]);
		return NULL;
	}
	e.freed = plan_hold_of(p, e.job) != NULL || plan_knows_blocks_for(p, e);
	/* an explicit place may not exist */
	p->cost.is_well_asked = !how || how->method != SL_PLACE_EXPLICIT;
	return cluster_want(p->c, e, err);
}

/* The throttle of an array, created with count 0 if necessary; NULL with *err. */
static struct throttle *find_throttle(struct sl_plan *p, uint32_t array, struct sl_error *err)
{
	uint32_t at = sl_map_by_id(&p->throttle_of, array);

	if (at != SL_MAP_NOTHING)
		return &p->throttle[at];
	if (sl_grow_list(&p->throttle, p->throttles, sizeof(*p->throttle), err) ||
	    sl_map_put(&p->throttle_of, sl_hash_id(array), p->throttles, err))
		return NULL;
	p->throttle[p->throttles] = (struct throttle) { .array = array };
	return &p->throttle[p->throttles++];
}

static int count_running(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	uint32_t array = p->c->snap->job.array_job_id[job];
	struct throttle *t = array == SL_NONE ? NULL : find_throttle(p, array, err);

	if (t)
		t->running++;
	return t || array == SL_NONE ? 0 : -1;
}

/* The throttle of the job's array.  The tasks of all arrays are counted on the first call. */
static struct throttle *throttle_of(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	int rc = 0;

	if (!p->counts_arrays) {
		p->throttles = 0;
		sl_map_clear(&p->throttle_of);
		for (uint32_t i = 0; !rc && i < p->c->runs; i++)
			rc = count_running(p, p->c->running[i], err);
		for (uint32_t i = 0; !rc && i < p->started.count; i++)
			rc = count_running(p, p->started.entry[i].job, err);
		p->counts_arrays = !rc;
	}
	return rc ? NULL : find_throttle(p, p->c->snap->job.array_job_id[job], err);
}

bool plan_throttled(const struct sl_plan *p, uint32_t job)
{
	return p->c->snap->job.array_max_running[job] && p->c->snap->job.array_job_id[job] != SL_NONE;
}

int64_t sl_plan_tasks_left(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct throttle *t = plan_throttled(p, job) ? throttle_of(p, job, err) : NULL;
	uint32_t most = p->c->snap->job.array_max_running[job];

	if (!plan_throttled(p, job))
		return INT64_MAX;
	return !t ? -1 : t->running < most ? (int64_t) most - t->running : 0;
}

/* Count a task of an array that is started or undone.  An array that is not listed has no throttle, or memory was lacking:
 * its tasks are counted when needed. */
void plan_count_task(struct sl_plan *p, uint32_t job, int by)
{
	uint32_t array = p->c->snap->job.array_job_id[job];
	uint32_t at = array == SL_NONE ? SL_MAP_NOTHING : sl_map_by_id(&p->throttle_of, array);

	if (at != SL_MAP_NOTHING)
		p->throttle[at].running += (uint32_t) by;
	else if (array != SL_NONE && plan_throttled(p, job))
		p->counts_arrays = false;
	p->starts[job] += (uint32_t) by;
}

/* The property of the request by which a policy may not name its nodes; NULL: a policy may. */
static const char *says_itself(const struct sl_want *w)
{
	return sl_request_may_be_named(&w->request) && !w->shares ? NULL :
		w->request.parts ? "its constraint has counts: which nodes are of which feature" :
		w->request.plane ? "its tasks go round its nodes in planes: what each gives" :
		w->request.picks ? "its distribution is arbitrary: what each of its nodes gives" :
		w->shares ? "its cores may be others', too: which nodes have some for it" : "what each of its nodes gives";
}

/* True if other jobs are stopped for this job in this plan: it must start at its reserved place, because later bookings
 * count on the victims' nodes. */
static bool is_awaited(const struct sl_plan *p, uint32_t job, struct sl_refusal *r)
{
	uint32_t at = plan_stops_others(p, job) ? plan_find(&p->reserved, job) : SL_NONE;

	if (at == SL_NONE || p->reserved.item[at]->t0 <= p->c->now)
		return false;
	plan_say(r, SL_WHY_RESOURCES, "others are stopped for it: starts in %" PRId64 " s", p->reserved.item[at]->t0 - p->c->now);
	return true;
}

/* Refuse what may not be started or reserved, whatever is free.  1: it may. */
int plan_gate(struct sl_plan *p, const struct want *w, const struct sl_how *how, struct sl_refusal *r)
{
	const struct sl_left_out *left;

	if (p->starts[w->entry.job] >= plan_tasks(p, w->entry.job)) {
		plan_say(r, SL_WHY_NONE, "is started already");
		return 0;
	}
	if ((left = plan_find_left_out(p, w->entry.job))) {
		plan_say_left_out(left, r);
		return 0;
	}
	if (w->pub.why) {
		plan_say(r, w->pub.why, "%s", w->pub.text);
		return 0;
	}
	if (how && how->method == SL_PLACE_NATIVE && (w->entry.loan || w->entry.confine)) {
		plan_say(r, SL_WHY_NOT_MODELLED, "Slurm's select cannot place it on %s",
			 w->entry.loan ? "borrowed nodes" : "nodes that the policy names");
		return 0;
	}
	if (how && how->method == SL_PLACE_EXPLICIT && says_itself(&w->pub)) {
		plan_say(r, SL_WHY_NOT_MODELLED, "%s is found where no place is named", says_itself(&w->pub));
		return 0;
	}
	if (how && how->method == SL_PLACE_EXPLICIT && w->pub.native) {
		char text[SL_WORDS_TEXT];

		plan_say_now(r, SL_WHY_NOT_MODELLED, "only Slurm's select can place it (%s)",
			 sl_words_text(w->pub.native, w->pub.asked, text, sizeof(text)));
		return 0;
	}
	return 1;
}

int plan_gate_now(struct sl_plan *p, const struct want *w, struct sl_refusal *r, struct sl_error *err)
{
	const struct sl_job_view *job = &p->c->snap->job;
	uint32_t j = w->entry.job;

	if (job->begin_time[j] > p->c->now) {
		plan_say(r, SL_WHY_BEGIN, "may not start yet: its begin time is in %" PRId64 " s",
			 job->begin_time[j] - p->c->now);
		return 0;
	}
	if (w->resv != SL_NONE && !w->any_time && p->c->snap->reservation.start_time[w->resv] > p->c->now) {
		plan_say(r, SL_WHY_RESERVATION, "its reservation %s has not begun",
			 cluster_str(p->c, p->c->snap->reservation.name[w->resv]));
		return 0;
	}
	if (plan_throttled(p, j)) {
		const struct throttle *t = throttle_of(p, j, err);

		if (!t)
			return -1;
		if (t->running >= job->array_max_running[j]) {
			plan_say(r, SL_WHY_ARRAY, "%" PRIu32 " tasks of its array run, as many as may",
				 t->running);
			return 0;
		}
	}
	if (!plan_time(p, w, p->c->now)) {
		plan_say(r, SL_WHY_DEADLINE, "needs %" PRId64 " minutes, its deadline is in %" PRId64,
			 w->pub.time_floor / 60,
			 job->deadline[j] > p->c->now ? (job->deadline[j] - p->c->now) / 60 : 0);
		return 0;
	}
	return 1;
}

/* -- starting ------------------------------------------------------------ */

static struct booking *make_booking(struct attempt *a, int64_t t, int64_t seconds, struct sl_error *err)
{
	struct booking *b = calloc(1, sizeof(*b));

	if (!b) {
		plan_no_memory(err);
		return NULL;
	}
	b->entry = a->w->entry;
	b->want = a->w;
	b->t0 = t;
	b->limit = seconds;
	b->expected = plan_booked(a, seconds) < seconds ? a->expected : 0;
	b->method = a->how.method;
	b->segment = a->how.segment;
	b->by = a->p->bys - 1;
	b->reserved = a->p->reservations;
	b->blocks = plan_blocks_of(a->p, b->entry.job, b->want);
	b->licenses = a->licenses;
	b->layout = a->layout;
	a->layout = (struct sl_layout) SL_LAYOUT_EMPTY;
	return b;
}

/* Book what the attempt found.  1 with *out; 0; -1. */
int plan_take(struct attempt *a, int64_t t, int64_t seconds, struct booking **out, struct sl_error *err)
{
	struct booking *b = make_booking(a, t, seconds, err);
	int rc = b ? plan_book(a->p, b, err) : -1;

	if (rc <= 0) {
		plan_free_booking(b);
		return rc;
	}
	*out = b;
	return 1;
}

/* Book a start now for that many seconds, if it fits. */
static int start_for(struct attempt *a, int64_t seconds, struct booking **out, struct sl_error *err)
{
	int64_t booked = plan_booked(a, seconds);
	int rc = plan_refusals_find(a, REFUSED_NOW, booked, &a->lack) ? 0 : plan_fits_now(a, booked, true, err);

	return rc > 0 ? plan_take(a, a->p->c->now, seconds, out, err) : rc;
}

/* The same for the longest time that fits, down to the shortest that the job accepts. */
static int start_shorter(struct attempt *a, int64_t seconds, struct booking **out, struct sl_error *err)
{
	int64_t floor = a->w->pub.time_floor;

	if (floor >= seconds)
		return 0;
	seconds = plan_longest(a, a->p->c->now, floor, seconds, err);
	return seconds > 0 ? plan_take(a, a->p->c->now, seconds, out, err) : (int) seconds;
}

/* Take a job's reservation off the timeline while something else is tried for it. */
int plan_lift(struct sl_plan *p, uint32_t job, uint32_t *at, struct sl_error *err)
{
	*at = p->reserved.count ? plan_find(&p->reserved, job) : SL_NONE;
	if (*at == SL_NONE)
		return 0;
	plan_refusals_forget(p);
	return plan_unbook(p, p->reserved.item[*at], err);
}

int plan_put_back(struct sl_plan *p, uint32_t at, struct sl_error *err)
{
	if (at == SL_NONE)
		return 0;
	return plan_book_again(p, p->reserved.item[at], err);
}

void plan_drop(struct sl_plan *p, uint32_t at)
{
	uint32_t job = at == SL_NONE ? SL_NONE : p->reserved.entry[at].job;

	if (at == SL_NONE)
		return;
	plan_refusals_forget(p);
	p->given_back++;
	plan_cancel_stops(p, job);
	plan_free_booking(p->reserved.item[at]);
	plan_take_out(&p->reserved, at);
	if (at < p->head_at)
		p->head_at--;
	plan_hold_on(p, job);
}

/* -- EASY backfill ------------------------------------------------------- */

/* Place the head again at its time, beside what was booked meanwhile. */
static int move_head(struct sl_plan *p, struct booking *head, struct sl_error *err)
{
	struct sl_how how = { .method = head->method, .segment = head->segment };
	const struct sl_terms terms = { .how = &how };
	struct sl_layout old = head->layout;
	int64_t until = head->t1;
	struct sl_range licenses = head->licenses;
	struct attempt a;
	struct opened was;
	int rc = -1;

	if (plan_open_for(p, head->entry.job, &was, err) < 0 || plan_attempt(&a, p, head->want, &terms, err) < 0)
		goto done;
	rc = plan_fits(&a, head->t0, head->expected ? head->expected : head->limit, true, err);
	if (rc > 0) {
		head->layout = a.layout;
		head->licenses = a.licenses;
		rc = plan_book(p, head, err);
		a.layout = rc > 0 ? old : head->layout;
		head->layout = rc > 0 ? head->layout : old;
		head->licenses = rc > 0 ? head->licenses : licenses;
		head->t1 = rc > 0 ? head->t1 : until;
	}
	if (rc > 0) {
		free(head->places);
		head->places = NULL;
	}
	plan_attempt_end(&a);
done:
	plan_as_before(p, was);
	return rc;
}

/* Start the job as if the head were not booked, then find other nodes for the head at the same time.  If that fails,
 * everything is restored. */
static int exchange_with_head(struct attempt *a, struct booking *head, int64_t seconds, struct booking **b,
			      struct sl_error *err)
{
	struct sl_plan *p = a->p;
	uint32_t *mark = plan_mark(p, err);
	bool lifted = false;
	int rc = -1;

	if (!mark)
		return -1;
	if (plan_unbook(p, head, err) < 0)
		goto undo;
	lifted = true;
	rc = plan_fits(a, p->c->now, plan_booked(a, seconds), true, err);
	if (rc > 0)
		rc = plan_take(a, p->c->now, seconds, b, err);
	if (rc > 0)
		rc = move_head(p, head, err);
	if (rc > 0) {
		p->given_back++;
		plan_unmark(p, mark, false);
		plan_refusals_forget(p);
		return 1;
	}
undo:
	plan_unmark(p, mark, true);
	if (lifted)
		plan_count_licenses(p, head, 1, NULL);
	if (*b)
		plan_count_licenses(p, *b, -1, NULL);
	plan_free_booking(*b);
	*b = NULL;
	return rc;
}

/* 1 if only the head may keep the job from running for that many seconds; 0; -1. */
static int head_in_the_way(struct attempt *a, const struct booking *head, int64_t seconds, struct sl_error *err)
{
	int64_t until = head ? head->t0 - a->p->c->now : 0;

	if (!head || head->entry.job == a->w->entry.job || head->method == SL_PLACE_EXPLICIT || seconds <= until ||
	    a->how.method == SL_PLACE_NATIVE ||	/* it is unknown which nodes would have to be freed */
	    head->want->enclave != a->w->enclave || (a->w->enclave && a->w->enclave->partial))
		return 0;
	return until > 0 ? plan_fits(a, a->p->c->now, until, false, err) : 1;
}

/* True if too few cores are left at the head's time for both, wherever they are placed. */
static bool no_room_beside(const struct attempt *a, const struct booking *head)
{
	return sl_timeline_cores_at(a->tl, head->t0) + head->layout.cores <
	       sl_fit_least_cores(a->tl, &a->w->pub.request) + sl_fit_least_cores(a->tl, &head->want->pub.request);
}

/*
 * True if the head has no other nodes at its time.  It would get the same nodes again, and the job would not fit there
 * either.  Requires an exact misfit of the job (no gres of the job), and no held places, since only the head sees its own as
 * free.
 */
static bool is_stuck(const struct attempt *a, const struct booking *head)
{
	enum sl_lack lack = a->lack.misfit.lack;
	struct sl_request of_head = head->want->pub.request;

	if ((lack != SL_LACK_NODES && lack != SL_LACK_CORES) || a->lack.license != SL_NONE || a->p->holds || a->how.segment || head->segment ||
	    !sl_request_has_first_start(&a->w->pub.request) || a->w->pub.variants > 1 || head->want->pub.variants > 1)
		return false;
	of_head.duration = head->t1 - head->t0;
	if (a->p->stuck != head && !sl_fit_may_move(a->tl, &of_head, &head->layout, head->t0))
		a->p->stuck = head;
	return a->p->stuck == head;
}

/* EASY: the job fits now, but not for all its time.  Give the head other nodes, if possible. */
static int start_beside_head(struct attempt *a, struct booking *head, int64_t seconds, struct booking **b,
			     struct sl_error *err)
{
	int64_t booked = plan_booked(a, seconds);
	int rc = head_in_the_way(a, head, booked, err);

	if (rc <= 0 || no_room_beside(a, head) || plan_refusals_find(a, REFUSED_BESIDE_HEAD, booked, &a->lack))
		return rc < 0 ? -1 : 0;
	rc = is_stuck(a, head) ? 0 : exchange_with_head(a, head, seconds, b, err);
	if (!rc)
		plan_refusals_keep(a, REFUSED_BESIDE_HEAD, booked);
	return rc;
}

/* -- starting ------------------------------------------------------------ */

/* Refuse a job that does not fit now. */
static int refuse_now(struct attempt *a, int64_t seconds, struct sl_refusal *why, struct sl_error *err)
{
	int rc = plan_explain_now(a, seconds, why, err);

	if (!rc)
		plan_preempt_tried(a->p, a->w, why->why);
	return rc;
}

/* Refuse a job that fits now, but not for all its time.  A reservation with MaxStartDelay may be in its way. */
static int refuse_for_later(struct attempt *a, int64_t seconds, struct sl_refusal *why, struct sl_error *err)
{
	int rc = plan_explain_later(a, seconds, why, err);

	if (!rc && a->p->c->snap->job.flags[a->w->entry.job] & SL_JOBF_BORROWS)
		plan_preempt_tried(a->p, a->w, why->why);
	return rc;
}

/* Find and book a place from now on: for its whole time, beside the head, or for a shorter time. */
static int find_start(struct attempt *a, struct booking *head, struct booking **b, struct sl_refusal *why,
		      struct sl_error *err)
{
	int64_t seconds = plan_time(a->p, a->w, a->p->c->now);
	struct lack lack;
	int rc;

	/* this is already known for most jobs of a long queue */
	if (plan_refusals_find(a, REFUSED_NOW, 1, &a->lack))
		return refuse_now(a, plan_booked(a, seconds), why, err);
	rc = start_for(a, seconds, b, err);
	if (rc)
		return rc;
	lack = a->lack;
	rc = plan_fits_now(a, 1, false, err);
	if (!rc)
		return refuse_now(a, plan_booked(a, seconds), why, err);
	if (rc > 0)
		rc = start_beside_head(a, head, seconds, b, err);
	if (!rc)
		rc = start_shorter(a, seconds, b, err);
	a->lack = lack;
	return rc ? rc : refuse_for_later(a, plan_booked(a, seconds), why, err);
}

int plan_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy, struct sl_refusal *refusal,
	       struct sl_error *err)
{
	const struct sl_how *how = terms->how;
	const struct want *w = plan_look_up(p, e, how, err);
	struct booking *head, *b = NULL;
	struct sl_refusal why;
	struct attempt a;
	uint32_t at;
	struct opened was;
	int rc;

	if (!w)
		return -1;
	plan_say_nothing(&why);
	rc = plan_gate(p, w, how, &why);
	if (rc > 0)
		rc = plan_gate_now(p, w, &why, err);
	if (rc > 0 && is_awaited(p, e.job, &why))
		rc = 0;
	if (rc <= 0)
		return rc < 0 ? -1 : plan_refuse(p, &e, &why, refusal, err);
	head = easy && p->reserved.count > p->head_at ? p->reserved.item[p->head_at] : NULL;
	/* the head may be placed again: show the timeline as it must see it (a start now sees the same whichever job it is) */
	if (plan_make_room(&p->started, err) < 0 || (head && plan_look_for(p, head->want, err) < 0) ||
	    plan_attempt(&a, p, w, terms, err) < 0 || plan_lift(p, e.job, &at, err) < 0)
		return -1;
	plan_attempt_now(&a);
	rc = plan_open_for(p, e.job, &was, err) < 0 ? -1 : find_start(&a, head, &b, &why, err);
	if (!rc && a.wakes == WAKES_NONE)
		plan_say(&why, SL_WHY_RESOURCES, "waits for nodes that are up, for %" PRId64 " s at most, and wakes no others",
			 a.wake_after);
	if (rc > 0) {
		plan_drop(p, at);
		plan_preempt_outdated(p);
		plan_insert(&p->started, p->started.count, b);
		plan_count_task(p, e.job, 1);
	} else if (plan_put_back(p, at, rc < 0 ? NULL : err) < 0) {
		rc = -1;
	}
	plan_as_before(p, was);
	plan_attempt_end(&a);
	return rc ? rc : plan_refuse(p, &e, &why, refusal, err);
}
