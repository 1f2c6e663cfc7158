/* SPDX-License-Identifier: MIT */
#include "plan_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "plan: out of memory");
}

/* -- making one ---------------------------------------------------------- */

static int index_queue(struct sl_plan *p, struct sl_error *err)
{
	const struct sl_cluster *c = p->c;

	p->queue_next = malloc(((size_t) c->queued + 1) * sizeof(*p->queue_next));
	if (!p->queue_next)
		return no_memory(err);
	p->starts = c->plan_starts;
	p->notes_of = c->plan_notes;
	p->queue_of = c->plan_queue;
	for (uint32_t i = c->queued; i-- > 0; ) {
		p->queue_next[i] = p->queue_of[c->queue[i].job];
		p->queue_of[c->queue[i].job] = i + 1;
	}
	return 0;
}

/* Hand back what the cluster lent as it was: all zero. */
static void forget_rows(struct sl_plan *p)
{
	for (uint32_t i = 0; p->queue_of && i < p->c->queued; i++)
		p->queue_of[p->c->queue[i].job] = 0;
	for (uint32_t i = 0; i < p->started.count; i++)
		p->starts[p->started.entry[i].job] = 0;
	for (uint32_t i = 0; i < p->notes; i++)
		p->notes_of[p->note[i].job] = 0;
}

struct sl_plan *sl_plan_create(struct sl_cluster *c, struct sl_error *err)
{
	struct sl_plan *p = calloc(1, sizeof(*p));

	if (p)
		p->by = calloc(1, sizeof(*p->by));
	if (p && p->by)
		p->by[0] = strdup("");
	if (!p || !p->by || !p->by[0]) {
		no_memory(err);
		if (p)
			free(p->by);
		free(p);
		return NULL;
	}
	p->bys = 1;
	p->c = c;
	p->mark = sl_timeline_mark(c->tl);
	if (index_queue(p, err) < 0) {
		sl_plan_destroy(p);
		return NULL;
	}
	return p;
}

static void free_booking(struct booking *b)
{
	if (!b)
		return;
	sl_layout_free(&b->layout);
	free(b->places);
	free(b);
}

static void free_bookings(struct sl_plan *p, struct bookings *list)
{
	const struct sl_snapshot *s = p->c->snap;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct booking *b = list->item[i];

		/* Timelines are rolled back; tallies are not. */
		for (uint32_t l = 0; !b->want->enclave && l < s->license.rows; l++)
			sl_tally_add(&p->c->license[l], b->t0, b->t1,
				     -(int64_t) cluster_licenses(p->c, b->entry.job, l), NULL);
		free_booking(list->item[i]);
	}
	free(list->item);
	free(list->entry);
}

void sl_plan_destroy(struct sl_plan *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->mark_count; i++)
		sl_timeline_rollback(p->marks[i].enclave->tl, p->marks[i].mark);
	sl_timeline_rollback(p->c->tl, p->mark);
	forget_rows(p);
	free_bookings(p, &p->started);
	free_bookings(p, &p->reserved);
	for (uint32_t i = 0; i < p->bys; i++)
		free(p->by[i]);
	for (uint32_t i = 0; i < p->orders; i++)
		free(p->order[i].text);
	for (uint32_t i = 0; i < p->lines; i++)
		free(p->line[i].text);
	free(p->marks);
	free(p->by);
	free(p->note);
	free(p->queue_next);
	free(p->throttle);
	free(p->order);
	free(p->line);
	free(p);
}

void sl_plan_set_policy(struct sl_plan *p, const char *by)
{
	char *name = strdup(by), **names;

	p->head_at = p->reserved.count;
	plan_memo_forget(p);
	names = name ? realloc(p->by, (p->bys + 1) * sizeof(*names)) : NULL;
	if (!names) {
		free(name);
		return;
	}
	p->by = names;
	names[p->bys++] = name;
}

/* -- lists --------------------------------------------------------------- */

/* Room for one more, so that putting it in cannot fail afterwards. */
static int make_room(struct bookings *list, struct sl_error *err)
{
	uint32_t room = list->room ? list->room * 2 : 64;
	struct booking **item;
	struct sl_entry *entry;

	if (list->count < list->room)
		return 0;
	item = realloc(list->item, room * sizeof(*item));
	if (item)
		list->item = item;
	entry = item ? realloc(list->entry, room * sizeof(*entry)) : NULL;
	if (!entry)
		return no_memory(err);
	list->entry = entry;
	list->room = room;
	return 0;
}

static void insert(struct bookings *list, uint32_t at, struct booking *b)
{
	memmove(list->item + at + 1, list->item + at, (list->count - at) * sizeof(*list->item));
	memmove(list->entry + at + 1, list->entry + at, (list->count - at) * sizeof(*list->entry));
	list->item[at] = b;
	list->entry[at] = b->entry;
	list->count++;
}

static void take_out(struct bookings *list, uint32_t at)
{
	list->count--;
	memmove(list->item + at, list->item + at + 1, (list->count - at) * sizeof(*list->item));
	memmove(list->entry + at, list->entry + at + 1, (list->count - at) * sizeof(*list->entry));
}

/* The last booking of a job in a list, SL_NONE if it has none. */
static uint32_t find(const struct bookings *list, uint32_t job)
{
	for (uint32_t i = list->count; i-- > 0; )
		if (list->entry[i].job == job)
			return i;
	return SL_NONE;
}

/* -- notes --------------------------------------------------------------- */

static struct note *note_of(const struct sl_plan *p, uint32_t job)
{
	return p->notes_of[job] ? &p->note[p->notes_of[job] - 1] : NULL;
}

static int put_note(struct sl_plan *p, uint32_t job, enum sl_why why, const char *text, bool own,
		    struct sl_error *err)
{
	struct note *n = note_of(p, job);

	if (!n && p->notes == p->notes_room) {
		uint32_t room = p->notes_room ? p->notes_room * 2 : 64;

		n = realloc(p->note, room * sizeof(*n));
		if (!n)
			return no_memory(err);
		p->note = n;
		p->notes_room = room;
		n = NULL;
	}
	if (!n) {
		n = &p->note[p->notes++];
		n->job = job;
		p->notes_of[job] = p->notes;
	} else if (!own) {
		bool worse = why == SL_WHY_NEVER || why == SL_WHY_PARTITION;

		/* Of several partitions, the one it can run in has the word. */
		if (n->own || (worse && n->why != SL_WHY_NEVER && n->why != SL_WHY_PARTITION))
			return 0;
	}
	n->why = why;
	n->own = own;
	n->by = p->bys - 1;
	strncpy(n->text, text, sizeof(n->text) - 1);
	n->text[sizeof(n->text) - 1] = 0;
	return 0;
}

/* Hand a refusal to the caller, and keep it for the user.  Returns 0, or -1. */
static int refuse(struct sl_plan *p, uint32_t job, const struct sl_refusal *why, struct sl_refusal *out,
		  struct sl_error *err)
{
	if (out)
		*out = *why;
	if (why->why == SL_WHY_NONE)
		return 0;
	return put_note(p, job, why->why, why->text, false, err);
}

/* -- may it be started at all -------------------------------------------- */

static const struct want *look_up(struct sl_plan *p, struct sl_entry e, const struct sl_how *how,
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
	return cluster_want(p->c, e, err);
}

/* Tasks of the job's array that run or were started here. */
static struct throttle *throttle_of(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct sl_job_view *v = &p->c->snap->job;
	struct throttle *t;

	for (uint32_t i = 0; i < p->throttles; i++)
		if (p->throttle[i].array == v->array_job_id[job])
			return &p->throttle[i];
	t = realloc(p->throttle, (p->throttles + 1) * sizeof(*t));
	if (!t) {
		no_memory(err);
		return NULL;
	}
	p->throttle = t;
	t += p->throttles++;
	*t = (struct throttle) { .array = v->array_job_id[job] };
	for (uint32_t i = 0; i < p->c->runs; i++)
		t->running += v->array_job_id[p->c->running[i]] == t->array;
	for (uint32_t i = 0; i < p->started.count; i++)
		t->running += v->array_job_id[p->started.entry[i].job] == t->array;
	return t;
}

static bool throttled(const struct sl_plan *p, uint32_t job)
{
	return p->c->snap->job.array_max_running[job] && p->c->snap->job.array_job_id[job] != SL_NONE;
}

/* Keep the count of an array's tasks; those not looked at yet need none. */
static void count_task(struct sl_plan *p, uint32_t job, int by)
{
	uint32_t array = p->c->snap->job.array_job_id[job];

	for (uint32_t i = 0; array != SL_NONE && i < p->throttles; i++)
		if (p->throttle[i].array == array)
			p->throttle[i].running += (uint32_t) by;
	p->starts[job] += (uint32_t) by;
}

/* What forbids a start or a reservation whatever is free.  1: nothing. */
static int gate(struct sl_plan *p, const struct want *w, const struct sl_how *how, struct sl_refusal *r)
{
	if (p->starts[w->entry.job] >= plan_tasks(p, w->entry.job)) {
		plan_say(r, SL_WHY_NONE, "is started already");
		return 0;
	}
	if (w->pub.why) {
		plan_say(r, w->pub.why, "%s", w->pub.text);
		return 0;
	}
	if (how && how->method == SL_PLACE_EXPLICIT && w->pub.native) {
		plan_say(r, SL_WHY_NOT_MODELLED, "only Slurm's select can place it (%s)", w->pub.native);
		return 0;
	}
	return 1;
}

static int gate_now(struct sl_plan *p, const struct want *w, struct sl_refusal *r, struct sl_error *err)
{
	const struct sl_job_view *job = &p->c->snap->job;
	uint32_t j = w->entry.job;

	if (job->begin_time[j] > p->c->now) {
		plan_say(r, SL_WHY_BEGIN, "may not start yet: its begin time is in %" PRId64 " s",
			 job->begin_time[j] - p->c->now);
		return 0;
	}
	if (w->enclave && p->c->snap->reservation.start_time[w->enclave->resv] > p->c->now) {
		plan_say(r, SL_WHY_RESERVATION, "its reservation %s has not begun",
			 cluster_str(p->c, p->c->snap->reservation.name[w->enclave->resv]));
		return 0;
	}
	if (throttled(p, j)) {
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
		no_memory(err);
		return NULL;
	}
	b->entry = a->w->entry;
	b->want = a->w;
	b->t0 = t;
	b->limit = seconds;
	b->method = a->how.method;
	b->by = a->p->bys - 1;
	b->layout = a->layout;
	a->layout = (struct sl_layout) SL_LAYOUT_EMPTY;
	return b;
}

/* Book what the attempt found.  1 with *out; 0; -1. */
static int take(struct attempt *a, int64_t t, int64_t seconds, struct booking **out, struct sl_error *err)
{
	struct booking *b = make_booking(a, t, seconds, err);
	int rc = b ? plan_book(a->p, b, err) : -1;

	if (rc <= 0) {
		free_booking(b);
		return rc;
	}
	*out = b;
	return 1;
}

/* Find and book a start now for so many seconds. */
static int start_for(struct attempt *a, int64_t seconds, struct booking **out, struct sl_error *err)
{
	int rc = plan_fits(a, a->p->c->now, seconds, true, err);

	return rc > 0 ? take(a, a->p->c->now, seconds, out, err) : rc;
}

/* ... for as long as fits, down to the shortest time that the job accepts. */
static int start_shorter(struct attempt *a, int64_t seconds, struct booking **out, struct sl_error *err)
{
	int64_t floor = a->w->pub.time_floor;

	if (floor >= seconds)
		return 0;
	seconds = plan_longest(a, a->p->c->now, floor, seconds, err);
	return seconds > 0 ? take(a, a->p->c->now, seconds, out, err) : (int) seconds;
}

static void keep_start(struct sl_plan *p, struct booking *b)
{
	insert(&p->started, p->started.count, b);
	count_task(p, b->entry.job, 1);
}

/* Take a job's reservation off the timeline while something else is tried for it. */
static int lift(struct sl_plan *p, uint32_t job, uint32_t *at, struct sl_error *err)
{
	*at = p->reserved.count ? find(&p->reserved, job) : SL_NONE;
	if (*at == SL_NONE)
		return 0;
	plan_memo_forget(p);
	return plan_unbook(p, p->reserved.item[*at], err);
}

static int put_back(struct sl_plan *p, uint32_t at, struct sl_error *err)
{
	if (at == SL_NONE)
		return 0;
	return plan_book(p, p->reserved.item[at], err) < 0 ? -1 : 0;
}

static void drop(struct sl_plan *p, uint32_t at)
{
	if (at == SL_NONE)
		return;
	plan_memo_forget(p);
	free_booking(p->reserved.item[at]);
	take_out(&p->reserved, at);
	if (at < p->head_at)
		p->head_at--;
}

/* -- EASY backfill ------------------------------------------------------- */

/* Book the head anew at its time, beside what was booked meanwhile. */
static int move_head(struct sl_plan *p, struct booking *head, struct sl_error *err)
{
	struct sl_how how = { .method = head->method };
	struct sl_layout old = head->layout;
	struct attempt a;
	int rc;

	if (plan_attempt(&a, p, head->want, &how, err) < 0)
		return -1;
	rc = plan_fits(&a, head->t0, head->limit, true, err);
	if (rc > 0) {
		head->layout = a.layout;
		rc = plan_book(p, head, err);
		a.layout = rc > 0 ? old : head->layout;
		head->layout = rc > 0 ? head->layout : old;
	}
	if (rc > 0) {
		free(head->places);
		head->places = NULL;
	}
	plan_attempt_end(&a);
	return rc;
}

/*
 * Start it where the head is booked now, and find the head other nodes for the same
 * time.  When that fails everything is as it was.
 */
static int try_beside_head(struct attempt *a, struct booking *head, struct booking **b, struct sl_error *err)
{
	struct sl_plan *p = a->p;
	uint32_t mark = sl_timeline_mark(a->tl);
	bool lifted = false;
	int rc = -1;

	if (plan_unbook(p, head, err) < 0)
		goto undo;
	lifted = true;
	rc = start_for(a, plan_time(p, a->w, p->c->now), b, err);
	if (rc > 0)
		rc = move_head(p, head, err);
	if (rc > 0) {
		sl_timeline_release(a->tl, mark);
		plan_memo_forget(p);
		return 1;
	}
undo:
	sl_timeline_rollback(a->tl, mark);
	if (lifted)
		plan_count_licenses(p, head, 1, NULL);
	if (*b)
		plan_count_licenses(p, *b, -1, NULL);
	free_booking(*b);
	*b = NULL;
	return rc;
}

/* Whether the head may be what keeps it from running for so many seconds. */
static int head_in_the_way(struct attempt *a, const struct booking *head, int64_t seconds, struct sl_error *err)
{
	int64_t until = head ? head->t0 - a->p->c->now : 0;

	if (!head || head->entry.job == a->w->entry.job || head->method == SL_PLACE_EXPLICIT || seconds <= until ||
	    head->want->enclave != a->w->enclave || (a->w->enclave && a->w->enclave->partial))
		return 0;
	return until > 0 ? plan_fits(a, a->p->c->now, until, false, err) : 1;
}

/* Too few cores are left at the head's time for both, wherever they are placed. */
static bool no_room_beside(const struct attempt *a, const struct booking *head)
{
	return sl_timeline_cores_at(a->tl, head->t0) + head->layout.cores <
	       sl_fit_least_cores(a->tl, &a->w->pub.request) + sl_fit_least_cores(a->tl, &head->want->pub.request);
}

/* It fits at this moment, but not for all its time. */
static int try_harder(struct attempt *a, struct booking *head, int64_t seconds, struct booking **b,
		      struct sl_refusal *why, struct sl_error *err)
{
	struct lack lack = a->lack;
	int rc = head_in_the_way(a, head, seconds, err);

	if (rc > 0 && (no_room_beside(a, head) || plan_memo_find(a, MEMO_BESIDE_HEAD, seconds, &a->lack)))
		rc = 0;
	else if (rc > 0 && !(rc = try_beside_head(a, head, b, err)))
		plan_memo_keep(a, MEMO_BESIDE_HEAD, seconds);
	if (!rc)
		rc = start_shorter(a, seconds, b, err);
	a->lack = lack;
	return rc ? rc : plan_explain_later(a, seconds, why, err);
}

/* Does it fit at this moment?  1, 0 or -1. */
static int fits_now(struct attempt *a, struct sl_error *err)
{
	int rc;

	if (plan_memo_find(a, MEMO_FIT, 1, &a->lack))
		return 0;
	rc = plan_fits(a, a->p->c->now, 1, false, err);
	if (!rc)
		plan_memo_keep(a, MEMO_FIT, 1);
	return rc;
}

/*
 * Start it if it fits, beside the head (EASY) or whatever is booked.  Most jobs of a
 * long queue are refused because too little is free at this moment.  That is the
 * cheapest question, and asked first after a refusal.
 */
static int try(struct attempt *a, bool easy, struct booking **b, struct sl_refusal *why, struct sl_error *err)
{
	struct sl_plan *p = a->p;
	struct booking *head = easy && p->reserved.count > p->head_at ? p->reserved.item[p->head_at] : NULL;
	int64_t seconds = plan_time(p, a->w, p->c->now);
	bool asked = p->refusing;
	struct lack lack;
	int rc = asked ? fits_now(a, err) : 1;

	if (rc > 0) {
		if (plan_memo_find(a, MEMO_FIT, seconds, &a->lack))
			rc = 0;
		else if (!(rc = start_for(a, seconds, b, err)))
			plan_memo_keep(a, MEMO_FIT, seconds);
		if (rc)
			p->refusing = false;
		if (rc || asked)
			return rc ? rc : try_harder(a, head, seconds, b, why, err);
		lack = a->lack;
		rc = fits_now(a, err);
		if (rc > 0) {
			a->lack = lack;
			return try_harder(a, head, seconds, b, why, err);
		}
	}
	p->refusing = true;
	return rc < 0 ? -1 : plan_explain_now(a, why, err);
}

static int start(struct sl_plan *p, struct sl_entry e, const struct sl_how *how, struct sl_refusal *refusal,
		 bool easy, struct sl_error *err)
{
	const struct want *w = look_up(p, e, how, err);
	struct sl_refusal why = { .why = SL_WHY_NONE };
	struct booking *b = NULL;
	struct attempt a;
	uint32_t at;
	int rc;

	if (!w)
		return -1;
	rc = gate(p, w, how, &why);
	if (rc > 0)
		rc = gate_now(p, w, &why, err);
	if (rc <= 0)
		return rc < 0 ? -1 : refuse(p, e.job, &why, refusal, err);
	if (make_room(&p->started, err) < 0 || plan_attempt(&a, p, w, how, err) < 0 || lift(p, e.job, &at, err) < 0)
		return -1;
	rc = try(&a, easy, &b, &why, err);
	if (rc > 0) {
		drop(p, at);
		keep_start(p, b);
	} else if (put_back(p, at, rc < 0 ? NULL : err) < 0) {
		rc = -1;
	}
	plan_attempt_end(&a);
	return rc ? rc : refuse(p, e.job, &why, refusal, err);
}

int sl_plan_start(struct sl_plan *p, struct sl_entry e, const struct sl_how *how, struct sl_refusal *refusal,
		  struct sl_error *err)
{
	return start(p, e, how, refusal, false, err);
}

int sl_plan_backfill(struct sl_plan *p, struct sl_entry e, const struct sl_how *how, struct sl_refusal *refusal,
		     struct sl_error *err)
{
	return start(p, e, how, refusal, true, err);
}

/* -- reservations -------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* When the job's array has a task less than may run: now, or as its tasks end. */
static int64_t array_from(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct sl_cluster *c = p->c;
	uint32_t array = c->snap->job.array_job_id[job], n = 0, most = c->snap->job.array_max_running[job];
	int64_t *end, from = c->now;

	if (!throttled(p, job))
		return from;
	end = malloc(((size_t) c->runs + p->started.count + 1) * sizeof(*end));
	if (!end)
		return no_memory(err);
	for (uint32_t i = 0; i < c->runs; i++)
		if (c->snap->job.array_job_id[c->running[i]] == array)
			end[n++] = c->held[c->running[i]]->end;
	for (uint32_t i = 0; i < p->started.count; i++)
		if (c->snap->job.array_job_id[p->started.entry[i].job] == array)
			end[n++] = p->started.item[i]->t1;
	qsort(end, n, sizeof(*end), ascending);
	if (n >= most)
		from = end[n - most];
	free(end);
	return from;
}

/* Reserve, or just ask when: *out NULL. */
static int reserve(struct sl_plan *p, struct sl_entry e, const struct sl_how *how, int64_t *start_time,
		   struct booking **out, uint32_t *at, struct sl_refusal *why, struct sl_error *err)
{
	const struct want *w = look_up(p, e, how, err);
	int64_t from, seconds, begin;
	struct attempt a;
	int rc;

	*at = SL_NONE;
	if (!w)
		return -1;
	rc = gate(p, w, how, why);
	if (rc <= 0)
		return rc;
	from = array_from(p, e.job, err);
	begin = p->c->snap->job.begin_time[e.job];
	if (from < 0)
		return -1;
	if (from < begin)
		from = begin;
	if (make_room(&p->reserved, err) < 0 || plan_attempt(&a, p, w, how, err) < 0 || lift(p, e.job, at, err) < 0)
		return -1;
	rc = from == SL_FOREVER ? 0 : plan_earliest(&a, from, start_time, &seconds, err);
	if (!rc && from == SL_FOREVER)
		plan_say(why, SL_WHY_ARRAY, "as many tasks of its array run as may, without an end");
	else if (!rc)
		rc = plan_explain_never(&a, why, err);
	else if (rc > 0 && (out || (w->enclave && w->enclave->partial))) {
		struct booking *b = NULL;

		rc = take(&a, *start_time, seconds, &b, err);
		if (!rc)
			plan_say(why, SL_WHY_RESERVATION, "memory or gres of its reservation's nodes are in use");
		if (out) {
			*out = b;
		} else if (rc > 0) {	/* it was just to be sure */
			rc = plan_unbook(p, b, err) < 0 ? -1 : 1;
			free_booking(b);
		}
	}
	if ((rc <= 0 || !out) && put_back(p, *at, rc < 0 ? NULL : err) < 0)
		rc = -1;
	plan_attempt_end(&a);
	return rc;
}

int sl_plan_reserve(struct sl_plan *p, struct sl_entry e, const struct sl_how *how, int64_t *start_time,
		    struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal why = { .why = SL_WHY_NONE };
	struct booking *b = NULL;
	uint32_t at;
	int rc = reserve(p, e, how, start_time, &b, &at, &why, err);

	if (rc < 0)
		return -1;
	if (!rc)
		return refuse(p, e.job, &why, refusal, err);
	if (at == SL_NONE) {
		insert(&p->reserved, p->reserved.count, b);
	} else {
		plan_memo_forget(p);
		free_booking(p->reserved.item[at]);
		p->reserved.item[at] = b;
		p->reserved.entry[at] = b->entry;
	}
	return 1;
}

int sl_plan_earliest(struct sl_plan *p, struct sl_entry e, const struct sl_how *how, int64_t *start_time,
		     struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal why = { .why = SL_WHY_NONE };
	uint32_t at;
	int rc = reserve(p, e, how, start_time, NULL, &at, &why, err);

	if (!rc && refusal)
		*refusal = why;
	return rc;
}

int sl_plan_undo(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	uint32_t at = job < p->c->snap->job.rows ? find(&p->reserved, job) : SL_NONE;

	if (at != SL_NONE) {
		if (plan_unbook(p, p->reserved.item[at], err) < 0)
			return -1;
		drop(p, at);
		return 0;
	}
	at = job < p->c->snap->job.rows ? find(&p->started, job) : SL_NONE;
	if (at == SL_NONE)
		return sl_fail(err, SL_ENOENT, "undo: job row %" PRIu32 " was neither started nor reserved", job);
	if (plan_unbook(p, p->started.item[at], err) < 0)
		return -1;
	plan_memo_forget(p);
	free_booking(p->started.item[at]);
	take_out(&p->started, at);
	count_task(p, job, -1);
	return 0;
}

/* -- words and orders ---------------------------------------------------- */

int sl_plan_refuse(struct sl_plan *p, uint32_t job, enum sl_why why, const char *text, struct sl_error *err)
{
	if (job >= p->c->snap->job.rows)
		return sl_fail(err, SL_EINVAL, "refuse: there is no job row %" PRIu32, job);
	if ((unsigned) why >= SL_WHYS)
		return sl_fail(err, SL_EINVAL, "refuse: there is no reason %u", (unsigned) why);
	return put_note(p, job, why, text ? text : "", true, err);
}

static int check_order(const struct sl_plan *p, enum sl_do verb, uint32_t job, int64_t number, const char *text,
		       struct sl_error *err)
{
	const struct sl_snapshot *s = p->c->snap;
	uint32_t i = 0;

	if ((unsigned) verb >= SL_DOS)
		return sl_fail(err, SL_EINVAL, "there is no order %u", (unsigned) verb);
	if (job >= s->job.rows)
		return sl_fail(err, SL_EINVAL, "%s: there is no job row %" PRIu32, sl_do_word(verb), job);
	if (verb == SL_DO_SIGNAL && (number < 1 || number > 64))
		return sl_fail(err, SL_EINVAL, "signal: there is no signal %" PRId64, number);
	if (verb == SL_DO_PRIORITY && (number < 0 || number > UINT32_MAX - 2))
		return sl_fail(err, SL_EINVAL, "priority: %" PRId64 " is not between 0 and %u", number,
			       UINT32_MAX - 2);
	if (verb == SL_DO_TIME_LIMIT && number < 60)
		return sl_fail(err, SL_EINVAL, "time_limit: %" PRId64 " s is less than a minute", number);
	if (verb == SL_DO_NOTIFY && (!text || !*text))
		return sl_fail(err, SL_EINVAL, "notify: there is no message");
	if (verb != SL_DO_PARTITION)
		return 0;
	while (i < s->partition.rows && (!text || strcmp(cluster_str(p->c, s->partition.name[i]), text)))
		i++;
	return i < s->partition.rows ? 0 : sl_fail(err, SL_EINVAL, "partition: there is no partition \"%s\"",
						   text ? text : "");
}

int sl_plan_do(struct sl_plan *p, enum sl_do verb, uint32_t job, int64_t number, const char *text,
	       struct sl_error *err)
{
	struct order *o;
	char *copy;

	if (check_order(p, verb, job, number, text, err) < 0)
		return -1;
	copy = strdup(text ? text : "");
	o = copy ? realloc(p->order, (p->orders + 1) * sizeof(*o)) : NULL;
	if (!o) {
		free(copy);
		return no_memory(err);
	}
	p->order = o;
	o[p->orders++] = (struct order) { verb, job, p->bys - 1, number, copy };
	return 0;
}

int sl_plan_log(struct sl_plan *p, unsigned level, const char *text)
{
	struct line *l;
	char *copy = strdup(text);

	l = copy ? realloc(p->line, (p->lines + 1) * sizeof(*l)) : NULL;
	if (!l) {
		free(copy);
		return -1;
	}
	p->line = l;
	l[p->lines++] = (struct line) { level > 2 ? 2 : level, copy };
	return 0;
}

/* -- reading it back ----------------------------------------------------- */

enum sl_plan_state sl_plan_job(const struct sl_plan *p, uint32_t job)
{
	if (job >= p->c->snap->job.rows)
		return SL_PLAN_OPEN;
	if (p->starts[job] >= plan_tasks(p, job))
		return SL_PLAN_STARTED;
	if (p->reserved.count && find(&p->reserved, job) != SL_NONE)
		return SL_PLAN_RESERVED;
	return p->notes_of[job] ? SL_PLAN_REFUSED : SL_PLAN_OPEN;
}

static const struct sl_place *places_of(struct booking *b, struct sl_error *err)
{
	if (!b->places) {
		b->places = calloc((size_t) b->layout.nodes + 1, sizeof(*b->places));
		if (b->places)
			sl_layout_places(&b->layout, b->places);
		else
			no_memory(err);
	}
	return b->places;
}

const struct sl_place *sl_plan_places(struct sl_plan *p, uint32_t job, uint32_t *count, int64_t *start_time)
{
	const struct bookings *list = &p->reserved;
	uint32_t at = find(list, job);

	if (at == SL_NONE) {
		list = &p->started;
		at = find(list, job);
	}
	*count = 0;
	if (at == SL_NONE || !places_of(list->item[at], NULL))
		return NULL;
	*count = list->item[at]->layout.nodes;
	*start_time = list->item[at]->t0;
	return list->item[at]->places;
}

const struct sl_entry *sl_plan_started(const struct sl_plan *p, uint32_t *count)
{
	*count = p->started.count;
	return p->started.entry;
}

const struct sl_entry *sl_plan_reserved(const struct sl_plan *p, uint32_t *count)
{
	*count = p->reserved.count;
	return p->reserved.entry;
}

const struct sl_entry *sl_plan_head(const struct sl_plan *p)
{
	return p->reserved.count > p->head_at ? &p->reserved.entry[p->head_at] : NULL;
}

int sl_plan_booking(struct sl_plan *p, bool reserved, uint32_t i, struct sl_booking *out, struct sl_error *err)
{
	struct bookings *list = reserved ? &p->reserved : &p->started;
	struct booking *b;

	if (i >= list->count)
		return sl_fail(err, SL_EINVAL, "there is no %s %" PRIu32, reserved ? "reservation" : "start", i);
	b = list->item[i];
	if (!places_of(b, err))
		return -1;
	*out = (struct sl_booking) {
		.entry = b->entry, .start_time = b->t0, .end_time = b->t1,
		.time_limit = b->limit == b->want->asked ? 0 : b->limit,
		.native = b->method == SL_PLACE_NATIVE, .by = p->by[b->by],
		.places = b->places, .count = b->layout.nodes,
	};
	return 0;
}
