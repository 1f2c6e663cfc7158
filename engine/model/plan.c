/* SPDX-License-Identifier: MIT */
#include "model/plan_private.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define MAX_ACTIONS 100000

int plan_no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "plan: out of memory");
}

/* -- creation -------------------------------------------------------------- */

static int index_queue(struct sl_plan *p, struct sl_error *err)
{
	const struct sl_cluster *c = p->c;

	p->queue_next = malloc(((size_t) c->queued + 1) * sizeof(*p->queue_next));
	if (!p->queue_next)
		return plan_no_memory(err);
	p->starts = c->plan_starts;
	p->notes_of = c->plan_notes;
	p->queue_of = c->plan_queue;
	for (uint32_t i = c->queued; i-- > 0; ) {
		p->queue_next[i] = p->queue_of[c->queue[i].job];
		p->queue_of[c->queue[i].job] = i + 1;
	}
	return 0;
}

/* Clear the arrays lent by the cluster. */
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
	struct sl_plan *p = c->spare_plan ? c->spare_plan : malloc(sizeof(*p));

	c->spare_plan = NULL;
	if (p) {
		memset(p, 0, offsetof(struct sl_plan, tried));
		p->tried.count = p->confirmed.count = 0;
		p->by = calloc(1, sizeof(*p->by));
	}
	if (p && p->by)
		p->by[0] = strdup("");
	if (!p || !p->by || !p->by[0]) {
		plan_no_memory(err);
		if (p)
			free(p->by);
		free(p);
		return NULL;
	}
	p->bys = 1;
	p->c = c;
	plan_bound_costs(p);
	p->mark = sl_timeline_mark(c->tl);
	if (index_queue(p, err) < 0 || plan_hold_all(p, err) < 0) {
		sl_plan_destroy(p);
		return NULL;
	}
	return p;
}

void plan_free_booking(struct booking *b)
{
	if (!b)
		return;
	sl_layout_free(&b->layout);
	free(b->places);
	free(b->because);
	free(b);
}

static void free_bookings(struct sl_plan *p, struct bookings *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		/* timelines are rolled back, but licence counts are not */
		plan_count_licenses(p, list->item[i], -1, NULL);
		plan_free_booking(list->item[i]);
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
	plan_free_blocked(p);
	plan_free_stops(p);
	free(p->backoff);
	plan_free_shortages(p);
	plan_hold_free(p);
	forget_rows(p);
	free_bookings(p, &p->started);
	free_bookings(p, &p->reserved);
	for (uint32_t i = 0; i < p->bys; i++)
		free(p->by[i]);
	for (uint32_t i = 0; i < p->actions; i++)
		free(p->action[i].text);
	free(p->acted);
	for (uint32_t i = 0; i < p->lines; i++)
		free(p->line[i].text);
	free(p->marks);
	free(p->closing);
	free(p->by);
	free(p->note);
	free(p->queue_next);
	free(p->passed);
	plan_free_tails(p);
	free(p->expected);
	plan_free_costs(p);
	plan_free_left_outs(p);
	free(p->throttle);
	sl_map_free(&p->throttle_of);
	free(p->action);
	free(p->line);
	free(p->c->spare_plan);
	p->c->spare_plan = p;
}

void sl_plan_set_policy(struct sl_plan *p, const char *by)
{
	char *name = strdup(by);

	p->head_at = p->reserved.count;
	p->tried.count = 0;
	plan_refusals_forget(p);
	if (!name || sl_grow_list(&p->by, p->bys, sizeof(*p->by), NULL))
		free(name);
	else
		p->by[p->bys++] = name;
}

/* -- lists --------------------------------------------------------------- */

/* Make room for one more, so that inserting cannot fail. */
int plan_make_room(struct bookings *list, struct sl_error *err)
{
	uint32_t room = list->room;

	if (list->count < room)
		return 0;
	if (sl_grow(&list->item, &room, list->count + UINT64_C(1), sizeof(*list->item), err))
		return -1;
	room = list->room;
	if (sl_grow(&list->entry, &room, list->count + UINT64_C(1), sizeof(*list->entry), err))
		return -1;
	list->room = room;
	return 0;
}

void plan_insert(struct bookings *list, uint32_t at, struct booking *b)
{
	memmove(list->item + at + 1, list->item + at, (list->count - at) * sizeof(*list->item));
	memmove(list->entry + at + 1, list->entry + at, (list->count - at) * sizeof(*list->entry));
	list->item[at] = b;
	list->entry[at] = b->entry;
	list->count++;
}

void plan_take_out(struct bookings *list, uint32_t at)
{
	list->count--;
	memmove(list->item + at, list->item + at + 1, (list->count - at) * sizeof(*list->item));
	memmove(list->entry + at, list->entry + at + 1, (list->count - at) * sizeof(*list->entry));
}

/* Index of a job's last booking in a list, SL_NONE if there is none. */
uint32_t plan_find(const struct bookings *list, uint32_t job)
{
	const struct sl_entry *first = list->entry, *e = first + list->count;

	while (e > first)
		if ((--e)->job == job)
			return (uint32_t) (e - first);
	return SL_NONE;
}

/* -- notes --------------------------------------------------------------- */

/* Origin of a note: the policy; an attempt at the job as it asks; an attempt at an alternative. */
enum word { OF_POLICY, OF_ATTEMPT, OF_ALTERNATIVE };

static struct note *note_of(const struct sl_plan *p, uint32_t job)
{
	return p->notes_of[job] ? &p->note[p->notes_of[job] - 1] : NULL;
}

static bool is_hopeless(enum sl_why why)
{
	return why == SL_WHY_NEVER || why == SL_WHY_PARTITION;
}

bool sl_refusal_yields(enum sl_why before, enum sl_why now)
{
	return is_hopeless(before) && !is_hopeless(now);
}

/* True if the existing note is kept. */
static bool note_stands(const struct note *n, enum sl_why why, enum word of)
{
	if (of == OF_POLICY)
		return false;
	/* prefer the partition in which the job can run, and the shape that was asked for */
	return n->own || sl_refusal_yields(why, n->said.why) ||
	       (of == OF_ALTERNATIVE && !sl_refusal_yields(n->said.why, why));
}

static int put_note(struct sl_plan *p, uint32_t job, const struct sl_refusal *why, enum word of, struct sl_error *err)
{
	struct note *n = note_of(p, job);

	if (!n) {
		if (sl_grow_list(&p->note, p->notes, sizeof(*n), err))
			return -1;
		n = &p->note[p->notes++];
		n->job = job;
		n->barred_by = 0;
		p->notes_of[job] = p->notes;
	} else if (note_stands(n, why->why, of)) {
		return 0;
	}
	n->own = of == OF_POLICY;
	n->by = p->bys - 1;
	plan_copy_refusal(&n->said, why);
	return 0;
}

int plan_refuse(struct sl_plan *p, const struct sl_entry *e, const struct sl_refusal *why, struct sl_refusal *out,
		struct sl_error *err)
{
	if (out)
		plan_copy_refusal(out, why);
	/* the user need not know that borrowed nodes were not available either */
	if (why->why == SL_WHY_NONE || e->loan)
		return 0;
	return put_note(p, e->job, why, e->shape ? OF_ALTERNATIVE : OF_ATTEMPT, err);
}

void plan_forget_attempts(struct sl_plan *p, uint32_t job)
{
	const struct note *n = note_of(p, job);

	if (n && !n->own && !n->barred_by)
		p->notes_of[job] = 0;
}

int plan_bar(struct sl_plan *p, uint32_t job, const struct sl_refusal *why, struct sl_error *err)
{
	if (put_note(p, job, why, OF_POLICY, err) < 0)
		return -1;
	plan_preempt_drop(p, job);
	note_of(p, job)->barred_by = p->bys;
	return 0;
}

bool plan_is_barred(const struct sl_plan *p, uint32_t job)
{
	const struct note *n = note_of(p, job);

	return n && n->barred_by == p->bys;
}

/* -- reasons and actions ----------------------------------------------------- */

int sl_plan_refuse(struct sl_plan *p, uint32_t job, enum sl_why why, const char *text, struct sl_error *err)
{
	struct sl_refusal said;

	if (job >= p->c->snap->job.rows)
		return sl_fail(err, SL_EINVAL, "refuse: there is no job row %" PRIu32, job);
	if ((unsigned) why >= SL_WHYS)
		return sl_fail(err, SL_EINVAL, "refuse: there is no reason %u", (unsigned) why);
	if (plan_check_idle(p, "refuse", err) < 0)
		return -1;
	plan_preempt_drop(p, job);
	plan_say_now(&said, why, "%s", text ? text : "");
	return put_note(p, job, &said, OF_POLICY, err);
}

void sl_plan_wake_after(struct sl_plan *p, int64_t seconds)
{
	p->wake_after = seconds;
}

int sl_plan_expect(struct sl_plan *p, uint32_t job, int64_t start, struct sl_error *err)
{
	uint32_t rows = p->c->snap->job.rows;

	if (job >= rows)
		return sl_fail(err, SL_EINVAL, "expect: there is no job row %" PRIu32, job);
	if (!p->expected && !(p->expected = calloc(rows, sizeof(*p->expected))))
		return sl_fail(err, SL_ENOMEM, "plan: out of memory");
	p->expected[job] = start > p->c->now ? start : p->c->now;
	return 0;
}

int sl_plan_close(struct sl_plan *p, uint32_t partition, enum sl_why why, const char *text, struct sl_error *err)
{
	uint32_t partitions = p->c->snap->partition.rows;
	struct closing *c;

	if (partition >= partitions)
		return sl_fail(err, SL_EINVAL, "close: there is no partition row %" PRIu32, partition);
	if (why == SL_WHY_NONE || (unsigned) why >= SL_WHYS)
		return sl_fail(err, SL_EINVAL, "close: there is no reason %u", (unsigned) why);
	if (plan_check_idle(p, "close", err) < 0)
		return -1;
	if (!p->closing)
		p->closing = calloc(partitions, sizeof(*p->closing));
	if (!p->closing)
		return plan_no_memory(err);
	c = &p->closing[partition];
	*c = (struct closing) { .why = why, .by = p->bys - 1 };
	strncpy(c->text, text ? text : "", sizeof(c->text) - 1);
	return 0;
}

const struct closing *plan_closing(const struct sl_plan *p, uint32_t job)
{
	for (uint32_t i = p->closing ? p->queue_of[job] : 0; i; i = p->queue_next[i - 1])
		if (p->closing[p->c->queue[i - 1].partition].why != SL_WHY_NONE)
			return &p->closing[p->c->queue[i - 1].partition];
	return NULL;
}

int sl_plan_because(struct sl_plan *p, uint32_t job, const char *text, struct sl_error *err)
{
	uint32_t at = job < p->c->snap->job.rows ? plan_find(&p->started, job) : SL_NONE;
	char *copy;

	if (at == SL_NONE)
		return sl_fail(err, SL_ENOENT, "job row %" PRIu32 " was not started", job);
	copy = strdup(text);
	if (!copy)
		return plan_no_memory(err);
	free(p->started.item[at]->because);
	p->started.item[at]->because = copy;
	return 0;
}

static int check_action(const struct sl_plan *p, enum sl_action verb, uint32_t job, int64_t number, const char *text,
		       struct sl_error *err)
{
	const struct sl_snapshot *s = p->c->snap;
	uint32_t i = 0;

	if ((unsigned) verb >= SL_ACTIONS)
		return sl_fail(err, SL_EINVAL, "there is no action %u", (unsigned) verb);
	if (job >= s->job.rows)
		return sl_fail(err, SL_EINVAL, "%s: there is no job row %" PRIu32, sl_action_word(verb), job);
	if (verb == SL_ACTION_SIGNAL && (number < 1 || number > 64))
		return sl_fail(err, SL_EINVAL, "signal: there is no signal %" PRId64, number);
	if (verb == SL_ACTION_PRIORITY && (number < 0 || number > UINT32_MAX - 2))
		return sl_fail(err, SL_EINVAL, "priority: %" PRId64 " is not between 0 and %u", number,
			       UINT32_MAX - 2);
	if (verb == SL_ACTION_TIME_LIMIT && number < 60)
		return sl_fail(err, SL_EINVAL, "time_limit: %" PRId64 " s is less than a minute", number);
	if (verb == SL_ACTION_NOTIFY && (!text || !*text))
		return sl_fail(err, SL_EINVAL, "notify: there is no message");
	if (p->acted && p->acted[job] >= SL_PLAN_ACTIONS_MAX)
		return sl_fail(err, SL_EINVAL, "%s: more than %d actions for job %" PRIu32 " in a cycle",
			       sl_action_word(verb), SL_PLAN_ACTIONS_MAX, s->job.id[job]);
	if (p->actions == MAX_ACTIONS)
		return sl_fail(err, SL_EINVAL, "%s: more than %d actions in a cycle", sl_action_word(verb), MAX_ACTIONS);
	if (verb != SL_ACTION_PARTITION)
		return 0;
	while (i < s->partition.rows && (!text || strcmp(cluster_str(p->c, s->partition.name[i]), text)))
		i++;
	return i < s->partition.rows ? 0 : sl_fail(err, SL_EINVAL, "partition: there is no partition \"%s\"",
						   text ? text : "");
}

int sl_plan_act(struct sl_plan *p, enum sl_action verb, uint32_t job, int64_t number, const char *text,
	       struct sl_error *err)
{
	char *copy;

	if (check_action(p, verb, job, number, text, err) < 0)
		return -1;
	if (!p->acted && !(p->acted = calloc((size_t) p->c->snap->job.rows + 1, sizeof(*p->acted))))
		return plan_no_memory(err);
	copy = strdup(text ? text : "");
	if (!copy || sl_grow_list(&p->action, p->actions, sizeof(*p->action), NULL)) {
		free(copy);
		return plan_no_memory(err);
	}
	p->acted[job]++;
	p->action[p->actions++] = (struct action) { verb, job, p->bys - 1, number, copy };
	return 0;
}

int sl_plan_log(struct sl_plan *p, unsigned level, const char *text)
{
	char *copy;

	if (p->lines == SL_PLAN_LOG_MAX)
		return 0;
	if (p->lines == SL_PLAN_LOG_MAX - 1)
		text = "further lines of this cycle are dropped";
	copy = strdup(text);
	if (!copy || sl_grow_list(&p->line, p->lines, sizeof(*p->line), NULL)) {
		free(copy);
		return -1;
	}
	p->line[p->lines++] = (struct line) { level > 2 ? 2 : level, copy };
	return 0;
}

/* -- results ----------------------------------------------------------------- */

enum sl_plan_state sl_plan_job(const struct sl_plan *p, uint32_t job)
{
	if (job >= p->c->snap->job.rows)
		return SL_PLAN_OPEN;
	if (p->starts[job] >= plan_tasks(p, job))
		return SL_PLAN_STARTED;
	if (p->reserved.count && plan_find(&p->reserved, job) != SL_NONE)
		return SL_PLAN_RESERVED;
	return p->notes_of[job] || plan_is_passed(p, job) ? SL_PLAN_REFUSED : SL_PLAN_OPEN;
}

static const struct sl_place *places_of(struct booking *b, struct sl_error *err)
{
	if (b->places)
		return b->places;
	b->places = calloc((size_t) b->layout.nodes + 1, sizeof(*b->places));
	if (!b->places) {
		plan_no_memory(err);
	} else if (sl_layout_places(&b->layout, b->places, err)) {
		free(b->places);
		b->places = NULL;
	}
	return b->places;
}

const struct sl_place *sl_plan_places(struct sl_plan *p, uint32_t job, uint32_t *count, int64_t *start_time)
{
	const struct bookings *list = &p->reserved;
	uint32_t at = plan_find(list, job);

	if (at == SL_NONE) {
		list = &p->started;
		at = plan_find(list, job);
	}
	*count = 0;
	if (at == SL_NONE || !places_of(list->item[at], NULL))
		return NULL;
	*count = list->item[at]->layout.nodes;
	*start_time = list->item[at]->t0;
	return list->item[at]->places;
}

uint32_t sl_plan_shape(const struct sl_plan *p, uint32_t job)
{
	const struct bookings *list = &p->reserved;
	uint32_t at = plan_find(list, job);

	if (at == SL_NONE) {
		list = &p->started;
		at = plan_find(list, job);
	}
	return at == SL_NONE ? 0 : list->entry[at].shape;
}

const struct sl_entry *sl_plan_started(const struct sl_plan *p, uint32_t *count)
{
	*count = p->started.count - p->on_trial;
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

uint32_t sl_plan_hidden(const struct sl_plan *p, uint32_t examined)
{
	return !p->closing && examined < p->c->queued ? p->c->queued - examined : 0;
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
		.entry = b->entry, .start_time = b->t0, .end_time = sl_later(b->t0, b->limit),
		.time_limit = b->limit == b->want->asked ? 0 : b->limit,
		.native = b->method == SL_PLACE_NATIVE, .by = p->by[b->by],
		.places = b->places, .count = b->layout.nodes,
	};
	return 0;
}

int sl_plan_last_start(struct sl_plan *p, uint32_t job, struct sl_booking *b, struct sl_error *err)
{
	uint32_t at = job < p->c->snap->job.rows && p->starts[job] ? plan_find(&p->started, job) : SL_NONE;

	if (at == SL_NONE)
		return 0;
	return sl_plan_booking(p, false, at, b, err) < 0 ? -1 : 1;
}
