/* SPDX-License-Identifier: MIT */
#include "usage/history_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"

/* -- texts and lists ------------------------------------------------------- */

static uint32_t find_text(const struct sl_history *h, const char *text, size_t n)
{
	SL_MAP_EACH(&h->by_text, sl_hash_bytes(SL_HASH, text, n), at)
		if (!strncmp(h->text[at.value], text, n) && !h->text[at.value][n])
			return at.value;
	return SL_NONE;
}

static uint32_t intern(struct sl_history *h, const char *text, size_t most, struct sl_error *err)
{
	size_t n = text ? strnlen(text, most) : 0;
	uint32_t found = find_text(h, text ? text : "", n);
	char *copy;

	if (found != SL_NONE)
		return found;
	if (sl_grow(&h->text, &h->text_room, h->texts + UINT64_C(1), sizeof(*h->text), err) ||
	    sl_map_reserve(&h->by_text, h->texts + UINT64_C(1), err))
		return SL_NONE;
	copy = strndup(text ? text : "", n);
	if (!copy) {
		sl_fail(err, SL_ENOMEM, "history: out of memory");
		return SL_NONE;
	}
	sl_map_put(&h->by_text, sl_hash_bytes(SL_HASH, copy, n), h->texts, NULL);
	h->text[h->texts] = copy;
	return h->texts++;
}

static uint64_t hash_list(enum sl_usage_by by, uint32_t text)
{
	return sl_hash_number(sl_hash_number(SL_HASH, by), text);
}

struct history_list *history_find_list(const struct sl_history *h, enum sl_usage_by by, const char *name)
{
	uint32_t text = find_text(h, name, strlen(name));

	if (text != SL_NONE)
		SL_MAP_EACH(&h->by_name, hash_list(by, text), at)
			if (h->list[at.value].by == by && h->list[at.value].text == text)
				return &h->list[at.value];
	return NULL;
}

struct history_list *history_make_list(struct sl_history *h, enum sl_usage_by by, const char *name, struct sl_error *err)
{
	struct history_list *l = history_find_list(h, by, name);
	uint32_t text;

	if (l)
		return l;
	text = intern(h, name, SIZE_MAX, err);
	if (text == SL_NONE || sl_grow(&h->list, &h->list_room, h->lists + UINT64_C(1), sizeof(*h->list), err) ||
	    sl_map_put(&h->by_name, hash_list(by, text), h->lists, err))
		return NULL;
	h->list[h->lists] = (struct history_list) { .by = by, .text = text };
	return &h->list[h->lists++];
}

const char *sl_history_text(const struct sl_history *h, uint32_t text)
{
	return h->text[text];
}

uint32_t sl_history_texts(const struct sl_history *h)
{
	return h->texts;
}

/* -- runs ------------------------------------------------------------------- */

static int by_end(const struct sl_past_run *a, const struct sl_past_run *b)
{
	return SL_ORDER(a->end, b->end) ?: SL_ORDER(a->start, b->start) ?: SL_ORDER(a->job, b->job);
}

static int make_run(struct sl_history *h, const struct sl_job_run *run, struct sl_past_run *p, struct sl_error *err)
{
	*p = (struct sl_past_run) {
		.start = run->start, .end = run->end, .seconds = run->seconds, .limit = run->limit, .job = run->job,
		.expected = run->expected, .state = run->dim.state, .user = intern(h, run->dim.user, SIZE_MAX, err),
		.account = intern(h, run->dim.account, SIZE_MAX, err),
		.partition = intern(h, run->dim.partition, SIZE_MAX, err),
		.name = intern(h, run->name, SL_RUN_NAME - 1, err),
	};
	memcpy(p->count, run->count, sizeof(p->count));
	return p->user == SL_NONE || p->account == SL_NONE || p->partition == SL_NONE || p->name == SL_NONE ? -1 : 0;
}

/* The same run, told before: with another end where somebody knows it better by now.  What was expected of it stands. */
static void drop_older_word(struct history_list *l, struct sl_past_run *p)
{
	for (uint32_t i = l->count; i-- > 0 && l->run[i].end >= p->start; )
		if (l->run[i].job == p->job && l->run[i].start == p->start) {
			p->expected = p->expected ? p->expected : l->run[i].expected;
			memmove(&l->run[i], &l->run[i + 1], (l->count - i - 1) * sizeof(*p));
			l->count--;
			return;
		}
}

static int insert(struct history_list *l, const struct sl_past_run *run, struct sl_error *err)
{
	struct sl_past_run copy = *run, *p = &copy;
	uint32_t at;

	l->version++;
	drop_older_word(l, p);
	if (l->count == ROOM) {
		memmove(l->run, l->run + SL_HISTORY_KEPT, SL_HISTORY_KEPT * sizeof(*p));
		l->count = SL_HISTORY_KEPT;
		l->dropped++;
	}
	if (sl_grow(&l->run, &l->room, l->count + UINT64_C(1), sizeof(*p), err))
		return -1;
	for (at = l->count; at && by_end(&l->run[at - 1], p) > 0; at--)
		l->run[at] = l->run[at - 1];
	l->run[at] = *p;
	l->count++;
	return 0;
}

static int put_run(struct sl_history *h, enum sl_usage_by by, const char *name, const struct sl_past_run *p,
		   struct sl_error *err)
{
	struct history_list *l = history_make_list(h, by, name, err);

	return l ? insert(l, p, err) : -1;
}

int sl_history_add(struct sl_history *h, const struct sl_job_run *run, struct sl_error *err)
{
	const char *of[SL_BYS] = { [SL_BY_USER] = run->dim.user, [SL_BY_ACCOUNT] = run->dim.account };
	struct sl_past_run p;

	if (make_run(h, run, &p, err))
		return -1;
	for (int by = 0; by < SL_BYS; by++)
		if (of[by] && *of[by] && put_run(h, (enum sl_usage_by) by, of[by], &p, err))
			return -1;
	if (put_run(h, SL_BY_ACCOUNT, SL_HISTORY_EVERYBODY, &p, err))
		return -1;
	if ((of[SL_BY_USER] && *of[SL_BY_USER]) || (of[SL_BY_ACCOUNT] && *of[SL_BY_ACCOUNT]))
		return 0;
	return put_run(h, SL_BY_ACCOUNT, SL_HISTORY_NOBODY, &p, err);
}

void sl_history_replace(struct sl_history *h, enum sl_usage_by by, const char *name)
{
	struct history_list *l = history_find_list(h, by, name);

	if (!l)
		return;
	l->count = 0;
	l->version++;
}

int sl_history_put(struct sl_history *h, enum sl_usage_by by, const char *name, const struct sl_job_run *run,
		   struct sl_error *err)
{
	struct sl_past_run p;

	return make_run(h, run, &p, err) ? -1 : put_run(h, by, name, &p, err);
}

/* -- loading ----------------------------------------------------------------- */

bool sl_history_next_asked(const struct sl_history *h, uint32_t *at, enum sl_usage_by *by, const char **name)
{
	for (; *at < h->lists; ++*at) {
		const struct history_list *l = &h->list[*at];

		if (l->asked && l->asked + 1 >= h->cycle && l->loaded != h->cycle) {
			*by = l->by;
			*name = h->text[l->text];
			++*at;
			return true;
		}
	}
	return false;
}

uint64_t *sl_history_mark(struct sl_history *h, enum sl_usage_by by, const char *name)
{
	struct history_list *l = history_find_list(h, by, name);

	return l ? &l->mark : NULL;
}

void sl_history_loaded(struct sl_history *h, enum sl_usage_by by, const char *name)
{
	struct history_list *l = history_find_list(h, by, name);

	if (l)
		l->loaded = h->cycle;
}

void sl_history_begin(struct sl_history *h)
{
	h->cycle++;
	h->askeds = 0;
	history_limit_prospects(h);
}

/* -- questions ----------------------------------------------------------------- */

void history_note_asked(struct sl_history *h, struct sl_past_run *p)
{
	if (p->asked == h->cycle || h->unrecorded)
		return;
	p->asked = h->cycle;
	if (!sl_grow(&h->asked, &h->asked_room, h->askeds + UINT64_C(1), sizeof(*p), NULL))
		h->asked[h->askeds++] = *p;
}

int history_load(struct sl_history *h, enum sl_usage_by by, const char *of, struct history_list **list,
		 struct sl_error *err)
{
	struct history_list *l = history_find_list(h, by, of);

	*list = l;
	if (!l && h->texts >= SL_HISTORY_TEXTS)
		return 0;
	if (!l && !(l = history_make_list(h, by, of, err)))
		return -1;
	l->asked = h->cycle;
	if (h->load && l->loaded != h->cycle) {
		if (h->load(h->arg, h, by, of, err))
			return -1;
		l = history_find_list(h, by, of);
	}
	*list = l;
	return 0;
}

int sl_history_ask(struct sl_history *h, const struct sl_history_query *q, const struct sl_past_run *const **run,
		   uint32_t *count, struct sl_error *err)
{
	enum sl_usage_by by = q->user ? SL_BY_USER : SL_BY_ACCOUNT;
	const char *of = q->user ? q->user : q->account;
	uint32_t account = SL_NONE, name = SL_NONE, n = 0;
	struct history_list *l;

	*run = h->found;
	*count = 0;
	if (history_load(h, by, of, &l, err))
		return -1;
	if (!l)
		return 0;
	if (q->user && q->account && (account = find_text(h, q->account, strlen(q->account))) == SL_NONE)
		return 0;
	if (q->name && (name = find_text(h, q->name, strnlen(q->name, SL_RUN_NAME - 1))) == SL_NONE)
		return 0;
	for (uint32_t i = l->count; i-- > 0 && n < q->last && l->count - i <= SL_HISTORY_KEPT; ) {
		struct sl_past_run *p = &l->run[i];

		if (p->end > q->now || (account != SL_NONE && p->account != account) || (q->name && p->name != name) ||
		    p->count[SL_UNIT_CPU] < q->least_cpus || p->count[SL_UNIT_CPU] > q->most_cpus ||
		    p->limit < q->least_limit || p->limit > q->most_limit)
			continue;
		history_note_asked(h, p);
		h->found[n++] = p;
	}
	*count = n;
	return 0;
}

/* -- snapshots -------------------------------------------------------------------- */

static int by_job(const void *x, const void *y)
{
	const struct sl_past_run *a = x, *b = y;

	return SL_ORDER(a->job, b->job) ?: SL_ORDER(a->start, b->start) ?: SL_ORDER(b->expected, a->expected);
}

/* True if the row before it is of the same run, which a user's list has and everybody's, too. */
static bool is_told(const struct sl_past_run *p, uint32_t at)
{
	return at && p[-1].job == p->job && p[-1].start == p->start;
}

void sl_history_encode(struct sl_history *h, struct sl_builder *b, int table)
{
	if (h->askeds)
		qsort(h->asked, h->askeds, sizeof(*h->asked), by_job);
	for (uint32_t i = 0; i < h->askeds; i++) {
		const struct sl_past_run *p = &h->asked[i];

		if (is_told(p, i))
			continue;

		sl_builder_append(b, table, &(struct sl_history_row) {
			.job = p->job, .user = sl_builder_str(b, h->text[p->user]),
			.account = sl_builder_str(b, h->text[p->account]), .partition = sl_builder_str(b, h->text[p->partition]),
			.name = sl_builder_str(b, h->text[p->name]), .state = p->state, .start_time = p->start,
			.end_time = p->end, .runtime = p->seconds, .time_limit = p->limit, .cpus = p->count[SL_UNIT_CPU],
			.gpus = p->count[SL_UNIT_GPU], .nodes = p->count[SL_UNIT_NODE], .expected = p->expected,
		});
	}
}

struct sl_history *sl_history_of_snapshot(const struct sl_snapshot *snap, struct sl_error *err)
{
	const struct sl_history_view *v = &snap->history;
	struct sl_history *h = sl_history_create(NULL, NULL, err);

	for (uint32_t i = 0; h && i < v->rows; i++) {
		struct sl_job_run run = {
			.job = v->job[i], .start = v->start_time[i], .end = v->end_time[i], .seconds = v->runtime[i],
			.limit = v->time_limit[i], .count = { v->cpus[i], v->gpus[i], v->nodes[i] },
			.dim = { sl_snapshot_str(snap, v->user[i]), sl_snapshot_str(snap, v->account[i]),
				 sl_snapshot_str(snap, v->partition[i]), v->state[i] },
			.name = sl_snapshot_str(snap, v->name[i]), .expected = v->expected[i],
		};

		if (sl_history_add(h, &run, err)) {
			sl_history_destroy(h);
			return NULL;
		}
	}
	return h;
}

/* -- life ---------------------------------------------------------------------------- */

struct sl_history *sl_history_create(sl_history_load *load, void *arg, struct sl_error *err)
{
	struct sl_history *h = calloc(1, sizeof(*h));

	if (!h) {
		sl_fail(err, SL_ENOMEM, "history: out of memory");
		return NULL;
	}
	h->load = load;
	h->arg = arg;
	h->cycle = 1;
	history_number_anew(h);
	return h;
}

void sl_history_destroy(struct sl_history *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; i < h->lists; i++)
		free(h->list[i].run);
	for (uint32_t i = 0; i < h->texts; i++)
		free(h->text[i]);
	free(h->list);
	free(h->text);
	free(h->asked);
	history_free_prospects(h);
	sl_map_free(&h->by_name);
	sl_map_free(&h->by_text);
	free(h);
}
