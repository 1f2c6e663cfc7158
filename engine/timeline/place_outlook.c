/* SPDX-License-Identifier: MIT */
/*
 * place_outlook.c - upper and lower bounds of each class's free cores over time, so that a sweep can skip classes with too
 * few.
 *
 * On a large busy machine most classes have nothing for a request most of the time, and looking at the steps of each is the
 * main cost of finding the earliest start.  The outlook divides time into slots, longer the later they are, and keeps one
 * byte per class and slot for the most and the fewest free cores in it.  A sweep goes from slot to slot and adds a class when
 * it may have enough for long enough.
 *
 * An outlook holds for one now, and pays if several sweeps are made at that time.  The timeline notes which classes gain or
 * lose their nodes.
 */
#include "timeline/place_outlook.h"

#include <stdlib.h>
#include <string.h>

#define FEW_CLASSES 256
#define FEW_SWEEPS 4			/* sweeps at the same time that are made without an outlook */
#define FIRST_BITS 6			/* the first slots are 2^FIRST_BITS = 64 seconds long; then 2^PART_BITS = 8 slots
					 * per power of two */
#define PART_BITS 3
#define MOST_TOLD UINT8_MAX		/* stands for this many cores or more */
#define PAGES (SL_SLOTS / SL_PAGE)

/* -- slots ----------------------------------------------------------------- */

static uint32_t slot_of(const struct sl_outlook *o, int64_t t)
{
	uint64_t v = t > o->base ? ((uint64_t) t - (uint64_t) o->base) >> FIRST_BITS : 0;
	uint32_t power, slot;

	if (v < 1 << PART_BITS)
		return (uint32_t) v;
	power = 63 - (uint32_t) __builtin_clzll(v);
	slot = ((power - PART_BITS + 1) << PART_BITS) + (uint32_t) (v >> (power - PART_BITS) & ((1 << PART_BITS) - 1));
	return slot < SL_SLOTS ? slot : SL_SLOTS - 1;
}

uint32_t sl_outlook_slot(const struct sl_outlook *o, int64_t t)
{
	return slot_of(o, t);
}

int64_t sl_outlook_end(const struct sl_outlook *o, uint32_t slot)
{
	uint32_t next = slot + 1, power = (next >> PART_BITS) + PART_BITS - 1;
	uint64_t v = next;

	if (next == SL_SLOTS)
		return SL_FOREVER;
	if (next >= 1 << PART_BITS)
		v = (uint64_t) ((1 << PART_BITS) + (next & ((1 << PART_BITS) - 1))) << (power - PART_BITS);
	return sl_later(o->base, (int64_t) (v << FIRST_BITS));
}

static uint8_t as_byte(int64_t cores)
{
	return cores < MOST_TOLD ? (uint8_t) cores : MOST_TOLD;
}

/* -- of each class --------------------------------------------------------- */

static uint32_t row_of(struct sl_outlook *o, uint32_t class)
{
	if (o->row_of[class] == SL_NO_CLASS)
		o->row_of[class] = o->rows++;
	return o->row_of[class];
}

static void learn(struct sl_outlook *o, const struct sl_timeline *tl, uint32_t class)
{
	const struct sl_node_class *g = &tl->class[class];
	uint32_t row = row_of(o, class);
	uint8_t most[SL_SLOTS] = { 0 }, least[SL_SLOTS];

	o->row[row] = (struct sl_outlook_row) { class, g->nodes.count };
	memset(least, MOST_TOLD, sizeof(least));
	for (uint32_t k = 0; k < g->steps; k++) {
		uint8_t cores = g->step[k].blocks ? 0 : as_byte(g->step[k].free.cores);
		uint32_t slot = k ? slot_of(o, g->step[k].t) : 0;
		uint32_t last = k + 1 < g->steps ? slot_of(o, g->step[k + 1].t - 1) : SL_SLOTS - 1;

		for (; slot <= last; slot++) {
			most[slot] = cores > most[slot] ? cores : most[slot];
			least[slot] = cores < least[slot] ? cores : least[slot];
		}
	}
	for (uint32_t p = 0; p < PAGES; p++) {
		memcpy(o->most[p][row].cores, most + p * SL_PAGE, SL_PAGE);
		memcpy(o->least[p][row].cores, least + p * SL_PAGE, SL_PAGE);
	}
}

/* The last row moves to the freed place. */
static void forget(struct sl_outlook *o, uint32_t class)
{
	uint32_t row = o->row_of[class], last;

	if (row == SL_NO_CLASS)
		return;
	last = --o->rows;
	for (uint32_t p = 0; p < PAGES; p++) {
		o->most[p][row] = o->most[p][last];
		o->least[p][row] = o->least[p][last];
	}
	o->row[row] = o->row[last];
	o->row_of[o->row[row].class] = row;
	o->row_of[class] = SL_NO_CLASS;
}

static uint32_t power_of_two(uint32_t least)
{
	uint32_t n = 64;

	while (n < least)
		n *= 2;
	return n;
}

static int grow(void *array, uint32_t had, uint32_t room, size_t size)
{
	return sl_grow(array, &had, room, size, NULL);
}

static int grow_rows(struct sl_outlook *o, uint32_t room)
{
	for (uint32_t p = 0; p < PAGES; p++)
		if (grow(&o->most[p], o->room, room, sizeof(*o->most[p])) ||
		    grow(&o->least[p], o->room, room, sizeof(*o->least[p])))
			return -1;
	if (grow(&o->row, o->room, room, sizeof(*o->row)) || grow(&o->in, o->room / 64, room / 64, sizeof(*o->in)))
		return -1;
	o->room = room;
	return 0;
}

static int grow_classes(struct sl_outlook *o, uint32_t classes)
{
	if (grow(&o->row_of, o->classes, classes, sizeof(*o->row_of)))
		return -1;
	memset(o->row_of + o->classes, 0xff, (classes - o->classes) * sizeof(*o->row_of));
	o->classes = classes;
	return 0;
}

/* Make room for all classes, and for a row of each class that has nodes. */
static int make_room(struct sl_outlook *o, struct sl_timeline *tl)
{
	uint32_t classes = power_of_two(tl->classes), room = power_of_two(tl->lives > o->rows ? tl->lives : o->rows);
	uint64_t bytes;

	classes = classes > o->classes ? classes : o->classes;
	room = room > o->room ? room : o->room;
	bytes = classes * sizeof(*o->row_of) + room / 64 * sizeof(*o->in) +
		room * (sizeof(*o->row) + 2 * PAGES * sizeof(*o->most[0]));
	if (bytes > o->bytes && !sl_shelf_claim(o->shelf, bytes - o->bytes))
		return -1;
	o->bytes = bytes > o->bytes ? bytes : o->bytes;
	return (room > o->room && grow_rows(o, room)) || (classes > o->classes && grow_classes(o, classes)) ? -1 : 0;
}

void sl_outlook_free(struct sl_outlook *o)
{
	if (!o)
		return;
	o->shelf->bytes -= o->bytes;
	o->shelf->firm -= o->bytes;
	for (uint32_t p = 0; p < PAGES; p++) {
		free(o->most[p]);
		free(o->least[p]);
	}
	free(o->row_of);
	free(o->row);
	free(o->in);
	free(o);
}

/* -- for a sweep ----------------------------------------------------------- */

static void begin_anew(struct sl_outlook *o, struct sl_timeline *tl)
{
	tl->notes_turns = true;
	memset(o->row_of, 0xff, o->classes * sizeof(*o->row_of));
	o->rows = 0;
	for (uint32_t i = 0; i < tl->lives; i++)
		learn(o, tl, tl->live[i].class);
	o->ready = true;
}

/* Update the rows of classes that gained or lost their nodes.  Classes without nodes come first, so that their rows can be
 * reused. */
static void mend(struct sl_outlook *o, const struct sl_timeline *tl)
{
	for (uint32_t i = 0; i < tl->turns; i++)
		if (tl->class[tl->turned[i]].live == SL_NO_CLASS)
			forget(o, tl->turned[i]);
	for (uint32_t i = 0; i < tl->turns; i++)
		if (tl->class[tl->turned[i]].live != SL_NO_CLASS)
			learn(o, tl, tl->turned[i]);
}

static bool catch_up(struct sl_outlook *o, struct sl_timeline *tl)
{
	if (make_room(o, tl))
		return false;
	if (o->ready)
		mend(o, tl);
	else
		begin_anew(o, tl);
	for (uint32_t i = 0; i < tl->turns; i++)
		tl->class[tl->turned[i]].turned = false;
	tl->turns = 0;
	return true;
}

struct sl_outlook *sl_outlook_of(struct sl_timeline *tl)
{
	struct sl_space *sp = tl->space;
	struct sl_outlook *o = sp->outlook;

	if (tl->lives <= FEW_CLASSES)
		return NULL;
	if (!o)
		o = sp->outlook = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->shelf = sl_shelf_of(tl);
	if (o->base != tl->now) {
		o->base = tl->now;
		o->sweeps = 0;
		o->ready = false;
	}
	if (++o->sweeps <= FEW_SWEEPS || !catch_up(o, tl))
		return NULL;
	return o;
}

void sl_outlook_in(const struct sl_outlook *o, struct sl_prospect *p, uint32_t slot)
{
	int64_t begin = slot ? sl_outlook_end(o, slot - 1) : o->base;

	p->slot = slot;
	p->last = slot_of(o, sl_later(begin, p->seconds));
}

void sl_outlook_begin(struct sl_outlook *o)
{
	memset(o->in, 0, (o->rows + 63) / 64 * sizeof(*o->in));
}

/* True if, by these bounds, the class may have enough for the prospect. */
static inline bool may_have(const struct sl_outlook *o, uint32_t row, const struct sl_prospect *p, uint8_t least)
{
	if (o->most[p->slot / SL_PAGE][row].cores[p->slot % SL_PAGE] < least)
		return false;
	for (uint32_t slot = p->slot + 1; slot < p->last; slot++)
		if (o->least[slot / SL_PAGE][row].cores[slot % SL_PAGE] < least)
			return false;
	return true;
}

bool sl_outlook_enough(const struct sl_outlook *o, const struct sl_prospect *p)
{
	uint8_t least = as_byte(p->cores);
	int64_t nodes = 0;

	for (uint32_t i = 0; i < o->rows && nodes < p->nodes; i++)
		nodes += may_have(o, i, p, least) ? o->row[i].nodes : 0;
	return nodes >= p->nodes;
}

uint32_t sl_outlook_next(struct sl_outlook *o, const struct sl_prospect *p, uint32_t *row)
{
	uint8_t least = as_byte(p->cores);

	for (uint32_t i = *row; i < o->rows; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;

		if (!may_have(o, i, p, least) || o->in[i / 64] & bit)
			continue;
		o->in[i / 64] |= bit;
		*row = i + 1;
		return o->row[i].class;
	}
	return SL_NO_CLASS;
}
