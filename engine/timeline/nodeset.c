/* SPDX-License-Identifier: MIT */
#include "timeline/nodeset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"

/* If one set has at most 1/8 of the runs of the other, its runs are inserted or removed one by one. */
#define SMALL_SHARE 8

static int reserve(struct sl_nodeset *s, uint64_t runs, struct sl_error *err)
{
	return sl_grow(&s->run, &s->room, runs, sizeof(*s->run), err);
}

static uint32_t length(const struct sl_run *r)
{
	return r->last - r->first + 1;
}

/* The first run from number *i* on that ends at or after *node*.  Gallops: a walk through the set costs at most its runs,
 * a long skip costs a logarithm. */
static uint32_t seek(const struct sl_nodeset *s, uint32_t i, uint32_t node)
{
	uint32_t step = 1, lo = i;

	if (i >= s->runs || s->run[i].last >= node)
		return i;
	while (s->runs - lo > step && s->run[lo + step].last < node) {
		lo += step;
		step *= 2;
	}
	/* run[lo] ends before *node*; run[lo + step], if it exists, does not */
	return SL_FIRST(k, lo + 1, s->runs - lo > step ? lo + step : s->runs, s->run[k].last < node);
}

uint32_t sl_nodeset_find(const struct sl_nodeset *s, uint32_t node)
{
	return SL_FIRST(i, 0, s->runs, s->run[i].last < node);
}

void sl_nodeset_free(struct sl_nodeset *s)
{
	free(s->run);
	*s = (struct sl_nodeset) SL_NODESET_EMPTY;
}

void sl_nodeset_clear(struct sl_nodeset *s)
{
	s->runs = 0;
	s->count = 0;
}

int sl_nodeset_copy(struct sl_nodeset *to, const struct sl_nodeset *from, struct sl_error *err)
{
	if (to == from)
		return 0;
	if (reserve(to, from->runs, err))
		return -1;
	if (from->runs)
		memcpy(to->run, from->run, from->runs * sizeof(*to->run));
	to->runs = from->runs;
	to->count = from->count;
	return 0;
}

static int check_run(uint32_t first, uint32_t last, struct sl_error *err)
{
	if (first > last)
		return sl_fail(err, SL_EINVAL, "nodeset: run %u-%u: ends before it begins", first, last);
	if (last >= SL_MAX_NODES)
		return sl_fail(err, SL_ELIMIT, "nodeset: node %u: at most %u nodes", last, SL_MAX_NODES);
	return 0;
}

/* Replace the runs i..j-1 by the *runs* runs at *run*.  There must be room. */
static void splice(struct sl_nodeset *s, uint32_t i, uint32_t j, const struct sl_run *run, uint32_t runs)
{
	for (uint32_t k = i; k < j; k++)
		s->count -= length(&s->run[k]);
	if (i + runs != j)
		memmove(s->run + i + runs, s->run + j, (s->runs - j) * sizeof(*run));
	for (uint32_t k = 0; k < runs; k++) {
		s->run[i + k] = run[k];
		s->count += length(&run[k]);
	}
	s->runs = s->runs - (j - i) + runs;
}

/* There must be room for one more run. */
static void add_run(struct sl_nodeset *s, uint32_t first, uint32_t last)
{
	struct sl_run run = { first, last };
	uint32_t i, j;

	if (!s->runs || first > s->run[s->runs - 1].last + 1) {
		s->run[s->runs++] = run;
		s->count += length(&run);
		return;
	}
	i = sl_nodeset_find(s, first ? first - 1 : 0);
	for (j = i; j < s->runs && s->run[j].first <= last + 1; j++)
		;
	if (i < j) {
		if (s->run[i].first < run.first)
			run.first = s->run[i].first;
		if (s->run[j - 1].last > run.last)
			run.last = s->run[j - 1].last;
	}
	splice(s, i, j, &run, 1);
}

/* There must be room for one more run. */
static void remove_run(struct sl_nodeset *s, uint32_t first, uint32_t last)
{
	struct sl_run rest[2];
	uint32_t i = sl_nodeset_find(s, first), j, n = 0;

	for (j = i; j < s->runs && s->run[j].first <= last; j++)
		;
	if (i == j)
		return;
	if (s->run[i].first < first)
		rest[n++] = (struct sl_run) { s->run[i].first, first - 1 };
	if (s->run[j - 1].last > last)
		rest[n++] = (struct sl_run) { last + 1, s->run[j - 1].last };
	splice(s, i, j, rest, n);
}

int sl_nodeset_add(struct sl_nodeset *s, uint32_t first, uint32_t last, struct sl_error *err)
{
	if (check_run(first, last, err) || reserve(s, (uint64_t) s->runs + 1, err))
		return -1;
	add_run(s, first, last);
	return 0;
}

/* Merge from the end, so that runs of s are read before they are overwritten. */
static void merge_back(struct sl_nodeset *s, const struct sl_nodeset *b)
{
	uint32_t i = s->runs, j = b->runs, total = s->runs + b->runs, w = total;

	s->count = 0;
	while (i || j) {
		const struct sl_run *from;
		struct sl_run run;

		/* take the run that ends last */
		if (!j || (i && s->run[i - 1].last >= b->run[j - 1].last))
			from = &s->run[--i];
		else
			from = &b->run[--j];
		run = *from;
		if (w < total && run.last + 1 >= s->run[w].first) {
			if (run.first < s->run[w].first)
				s->run[w].first = run.first;
		} else {
			s->run[--w] = run;
		}
	}
	s->runs = total - w;
	memmove(s->run, s->run + w, s->runs * sizeof(*s->run));
	for (i = 0; i < s->runs; i++)
		s->count += length(&s->run[i]);
}

int sl_nodeset_union(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err)
{
	if (s == b || !b->runs)
		return 0;
	if (reserve(s, (uint64_t) s->runs + b->runs, err))
		return -1;
	if (b->runs <= s->runs / SMALL_SHARE || b->runs == 1) {
		for (uint32_t j = 0; j < b->runs; j++)
			add_run(s, b->run[j].first, b->run[j].last);
	} else if (!s->runs || b->run[0].first > s->run[s->runs - 1].last + 1) {
		memcpy(s->run + s->runs, b->run, b->runs * sizeof(*b->run));
		s->runs += b->runs;
		s->count += b->count;
	} else {
		merge_back(s, b);
	}
	return 0;
}

/* Move the runs to the end of the array and return them.  The caller can then write runs from the front, at most *extra*
 * more than it has read. */
static const struct sl_run *move_up(struct sl_nodeset *s, uint32_t extra)
{
	memmove(s->run + extra, s->run, s->runs * sizeof(*s->run));
	return s->run + extra;
}

static void push(struct sl_nodeset *s, uint32_t first, uint32_t last)
{
	s->run[s->runs++] = (struct sl_run) { first, last };
	s->count += last - first + 1;
}

static void subtract_runs(struct sl_nodeset *s, const struct sl_nodeset *b)
{
	uint32_t n = s->runs, j = 0;
	const struct sl_run *run = move_up(s, b->runs);

	sl_nodeset_clear(s);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = run[i].first, last = run[i].last;
		bool rest = true;

		j = seek(b, j, first);
		while (rest && j < b->runs && b->run[j].first <= last) {
			if (b->run[j].first > first)
				push(s, first, b->run[j].first - 1);
			rest = b->run[j].last < last;
			if (rest)
				first = b->run[j++].last + 1;
		}
		if (rest)
			push(s, first, last);
	}
}

int sl_nodeset_subtract(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err)
{
	if (s == b) {
		sl_nodeset_clear(s);
		return 0;
	}
	if (!b->runs || !s->runs)
		return 0;
	if (reserve(s, (uint64_t) s->runs + b->runs, err))
		return -1;
	if (b->runs <= s->runs / SMALL_SHARE || b->runs == 1) {
		for (uint32_t j = 0; j < b->runs; j++)
			remove_run(s, b->run[j].first, b->run[j].last);
	} else {
		subtract_runs(s, b);
	}
	return 0;
}

/* Find the next overlap of a and b from the runs *i and *j on, and advance both. */
static bool next_common(const struct sl_nodeset *a, uint32_t *i, const struct sl_nodeset *b, uint32_t *j,
			struct sl_run *common)
{
	while (*i < a->runs && *j < b->runs) {
		const struct sl_run *x = &a->run[*i], *y = &b->run[*j];

		if (x->last < y->first) {
			*i = seek(a, *i, y->first);
		} else if (y->last < x->first) {
			*j = seek(b, *j, x->first);
		} else {
			common->first = x->first > y->first ? x->first : y->first;
			common->last = x->last < y->last ? x->last : y->last;
			if (x->last <= y->last)
				++*i;
			if (y->last <= x->last)
				++*j;
			return true;
		}
	}
	return false;
}

int sl_nodeset_meet(struct sl_nodeset *out, const struct sl_nodeset *a, const struct sl_nodeset *b,
		    struct sl_error *err)
{
	uint32_t i = 0, j = 0;
	struct sl_run run;

	if (reserve(out, (uint64_t) a->runs + b->runs, err))
		return -1;
	sl_nodeset_clear(out);
	while (next_common(a, &i, b, &j, &run))
		push(out, run.first, run.last);
	return 0;
}

int sl_nodeset_intersect(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err)
{
	struct sl_nodeset from;
	uint32_t i = 0, j = 0;
	struct sl_run run;

	if (s == b || !s->runs)
		return 0;
	if (reserve(s, (uint64_t) s->runs + b->runs, err))
		return -1;
	from = *s;
	from.run = (struct sl_run *) move_up(s, b->runs);
	sl_nodeset_clear(s);
	/* push() never overwrites an unread run of *from*: it has written fewer than i + j runs */
	while (next_common(&from, &i, b, &j, &run))
		push(s, run.first, run.last);
	return 0;
}

uint32_t sl_nodeset_common(const struct sl_nodeset *a, const struct sl_nodeset *b)
{
	uint32_t i = 0, j = 0, count = 0;
	struct sl_run run;

	while (next_common(a, &i, b, &j, &run))
		count += length(&run);
	return count;
}

bool sl_nodeset_contains(const struct sl_nodeset *s, uint32_t node)
{
	uint32_t i = sl_nodeset_find(s, node);

	return i < s->runs && s->run[i].first <= node;
}

bool sl_nodeset_includes(const struct sl_nodeset *s, const struct sl_nodeset *b)
{
	uint32_t i = 0;

	if (b->count > s->count)
		return false;
	for (uint32_t j = 0; j < b->runs; j++) {
		i = seek(s, i, b->run[j].first);
		if (i == s->runs || s->run[i].first > b->run[j].first || s->run[i].last < b->run[j].last)
			return false;
	}
	return true;
}

bool sl_nodeset_overlaps(const struct sl_nodeset *s, const struct sl_nodeset *b)
{
	uint32_t i = 0, j = 0;
	struct sl_run run;

	return next_common(s, &i, b, &j, &run);
}

bool sl_nodeset_equal(const struct sl_nodeset *a, const struct sl_nodeset *b)
{
	return a->count == b->count && a->runs == b->runs &&
	       (!a->runs || !memcmp(a->run, b->run, a->runs * sizeof(*a->run)));
}

uint32_t sl_nodeset_next(const struct sl_nodeset *s, uint32_t from)
{
	uint32_t i = sl_nodeset_find(s, from);

	if (i == s->runs)
		return SL_MAX_NODES;
	return s->run[i].first > from ? s->run[i].first : from;
}
