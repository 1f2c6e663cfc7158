/* SPDX-License-Identifier: MIT */
/*
 * mip/proven.c - proves quickly, without a solver, that the start of a small packing is the best solution.
 *
 * Most programs of an auction are small, and greedy, whose choice a policy passes as the start, has already solved them.  A
 * solver's process then spends a millisecond on a proof that takes some microseconds here.  The proof is a depth-first search
 * for something better, with a fixed amount of work.  If it finds something, or runs out of work, the solver is used as
 * otherwise: no other value than the start's comes from here.
 *
 * A packing: each column is taken or not; rows have no negative coefficient and only an upper end.  If the columns of a row
 * exclude each other they form a group, of which at most one is taken (the groups of an auction are its bidders).  Every
 * other column is a group by itself.
 *
 * The rest of a subtree is worth at most the sum of the best columns of its open groups, less the losses that rows cause.  A
 * row causes a loss if the least amounts of its groups do not all fit into it.  These groups are then worth at most what the
 * row's knapsack with fractions gives, and at most the best of as many groups as there is room for.  Losses of rows with
 * different groups add up.
 */
#include "mip/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

#define NO_GROUP UINT32_MAX
#define MOST_COLUMNS 4096u
#define MOST_TERMS 65536u
#define MOST_WORK 100000	/* terms looked at, about 5 ns each plus sorting */

/* A group in a row. */
struct item {
	double value;		/* value of its best column */
	double amount;		/* the least that any of its columns takes */
	uint32_t group;
};

struct loss {
	double loss;
	uint32_t row;
};

struct proof {
	const struct sl_mip *m;
	double target;			/* value that a better solution must exceed */
	int64_t work;			/* that is left */
	uint32_t groups;
	double *value;			/* by column; above 0 if it is worth taking */
	bool *fits;			/* by column: worth taking, in an open group, with room in all its rows */
	uint32_t *group;		/* by column */
	uint32_t *begin, *member;	/* columns of group g: member[begin[g]] up to member[begin[g + 1]] */
	uint32_t *row_begin;		/* likewise the rows of a column, */
	uint32_t *row;
	double *amount;			/* and the amount that it takes there */
	double *left;			/* by row: room */
	bool *closed;			/* by group */
	double *best;			/* by group: value of its best column that fits; 0: none fits */
	uint32_t *fitting;		/* by group: number of columns that fit */
	uint32_t *met, *meetings;	/* by group: the row in which it was met last, + 1; and how often */
	double *least;			/* by group: the least amount that it takes in that row */
	bool *counted;			/* by group: a loss that includes it has been added */
	struct item *item;		/* scratch space for all groups */
	double *number;			/* likewise */
	struct loss *loss;		/* scratch space, by row */
};

/* -- reading the program -------------------------------------------------- */

static bool is_packing(const struct sl_mip *m)
{
	if (m->columns > MOST_COLUMNS || m->terms > MOST_TERMS || m->rows > MOST_TERMS)
		return false;
	for (uint32_t c = 0; c < m->columns; c++)
		if (!m->integer[c] || m->lb[c] != 0 || m->ub[c] != 1)
			return false;
	for (uint32_t r = 0; r < m->rows; r++)
		if (m->lo[r] > 0 || m->hi[r] < 0)
			return false;
	for (uint32_t i = 0; i < m->terms; i++)
		if (m->coefficient[i] < 0)
			return false;
	return true;
}

/* An array of *n* zeroes within the block.  With a NULL block only *size is added up. */
static void *part(char *block, size_t *size, size_t n, size_t each)
{
	void *array = block ? block + *size : NULL;

	*size += (n * each + 15) / 16 * 16;
	return array;
}

static size_t lay_out(struct proof *p, char *block)
{
	size_t columns = p->m->columns, rows = p->m->rows, terms = p->m->terms, size = 0;

	p->value = part(block, &size, columns, sizeof(*p->value));
	p->fits = part(block, &size, columns, sizeof(*p->fits));
	p->group = part(block, &size, columns, sizeof(*p->group));
	p->begin = part(block, &size, columns + 2, sizeof(*p->begin));
	p->member = part(block, &size, columns, sizeof(*p->member));
	p->row_begin = part(block, &size, columns + 2, sizeof(*p->row_begin));
	p->row = part(block, &size, terms, sizeof(*p->row));
	p->amount = part(block, &size, terms, sizeof(*p->amount));
	p->left = part(block, &size, rows, sizeof(*p->left));
	p->closed = part(block, &size, columns, sizeof(*p->closed));
	p->best = part(block, &size, columns, sizeof(*p->best));
	p->fitting = part(block, &size, columns, sizeof(*p->fitting));
	p->met = part(block, &size, columns, sizeof(*p->met));
	p->meetings = part(block, &size, columns, sizeof(*p->meetings));
	p->least = part(block, &size, columns, sizeof(*p->least));
	p->counted = part(block, &size, columns, sizeof(*p->counted));
	p->item = part(block, &size, columns, sizeof(*p->item));
	p->number = part(block, &size, columns, sizeof(*p->number));
	p->loss = part(block, &size, rows, sizeof(*p->loss));
	return size;
}

/* True if the columns of the row exclude each other and none of them has a group yet. */
static bool makes_group(const struct proof *p, uint32_t r)
{
	const struct sl_mip *m = p->m;

	for (uint32_t i = m->begin[r]; i < m->begin[r + 1]; i++)
		if (p->group[m->column[i]] || !(m->coefficient[i] * 2 > p->left[r]))
			return false;
	return m->begin[r + 1] - m->begin[r] > 1;
}

static void make_groups(struct proof *p)
{
	const struct sl_mip *m = p->m;

	/* numbered from 1 while they are made: 0 means no group */
	for (uint32_t r = 0; r < m->rows; r++) {
		if (!makes_group(p, r))
			continue;
		p->groups++;
		for (uint32_t i = m->begin[r]; i < m->begin[r + 1]; i++)
			p->group[m->column[i]] = p->groups;
	}
	for (uint32_t c = 0; c < m->columns; c++) {
		if (!p->group[c])
			p->group[c] = ++p->groups;
		p->group[c]--;
		p->begin[p->group[c] + 2]++;
	}
	for (uint32_t g = 2; g <= p->groups; g++)
		p->begin[g] += p->begin[g - 1];
	for (uint32_t c = 0; c < m->columns; c++)
		p->member[p->begin[p->group[c] + 1]++] = c;
}

/* The upper end of the row with the tolerance that verify() allows. */
static double room_of(const struct sl_mip *m, uint32_t r)
{
	double size = 1;

	for (uint32_t i = m->begin[r]; i < m->begin[r + 1]; i++)
		size = fmax(size, m->coefficient[i]);
	return m->hi[r] + SL_MIP_FEASIBILITY * size;
}

static void read_program(struct proof *p)
{
	const struct sl_mip *m = p->m;

	for (uint32_t c = 0; c < m->columns; c++)
		p->value[c] = m->maximize ? m->obj[c] : -m->obj[c];
	for (uint32_t i = 0; i < m->terms; i++)
		p->row_begin[m->column[i] + 2]++;
	for (uint32_t c = 2; c <= m->columns; c++)
		p->row_begin[c] += p->row_begin[c - 1];
	for (uint32_t r = 0; r < m->rows; r++) {
		p->left[r] = room_of(m, r);
		for (uint32_t i = m->begin[r]; i < m->begin[r + 1]; i++) {
			uint32_t to = p->row_begin[m->column[i] + 1]++;

			p->row[to] = r;
			p->amount[to] = m->coefficient[i];
		}
	}
	make_groups(p);
}

/* -- what the rest can be worth ------------------------------------------- */

static bool has_room(const struct proof *p, uint32_t c)
{
	for (uint32_t i = p->row_begin[c]; i < p->row_begin[c + 1]; i++)
		if (p->amount[i] > p->left[p->row[i]])
			return false;
	return true;
}

/* Find the columns that fit and the best one of each group.  Returns the sum of the best. */
static double look_at_columns(struct proof *p)
{
	double sum = 0;

	for (uint32_t g = 0; g < p->groups; g++) {
		p->best[g] = 0;
		p->fitting[g] = 0;
		for (uint32_t i = p->begin[g]; i < p->begin[g + 1]; i++) {
			uint32_t c = p->member[i];

			p->fits[c] = !p->closed[g] && p->value[c] > 0 && has_room(p, c);
			p->fitting[g] += p->fits[c];
			if (p->fits[c])
				p->best[g] = fmax(p->best[g], p->value[c]);
		}
		sum += p->best[g];
	}
	return sum;
}

/* List in p->item the groups that take something of the row whichever of their columns is chosen.  Returns how many. */
static uint32_t list_items(struct proof *p, uint32_t r)
{
	const struct sl_mip *m = p->m;
	uint32_t n = 0, items = 0;

	for (uint32_t i = m->begin[r]; i < m->begin[r + 1]; i++) {
		uint32_t g = p->group[m->column[i]];

		if (!p->fits[m->column[i]] || p->counted[g])
			continue;
		if (p->met[g] != r + 1) {
			p->met[g] = r + 1;
			p->meetings[g] = 0;
			p->least[g] = INFINITY;
			p->item[n++].group = g;
		}
		p->meetings[g]++;
		p->least[g] = fmin(p->least[g], m->coefficient[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = p->item[i].group;

		p->met[g] = 0;
		if (p->meetings[g] == p->fitting[g] && p->least[g] > 0)
			p->item[items++] = (struct item) { p->best[g], p->least[g], g };
	}
	return items;
}

static int by_worth(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;
	double x = a->value * b->amount, y = b->value * a->amount;

	return SL_ORDER(y, x) ?: SL_ORDER(a->group, b->group);
}

/* The number of items for which there is room is bounded by the smallest amounts; returns the value of as many of the best
 * items. */
static double best_of_number(const struct proof *p, uint32_t items, double left)
{
	double sum = 0;
	uint32_t room = 0;

	for (uint32_t i = 0; i < items; i++)
		p->number[i] = p->item[i].amount;
	qsort(p->number, items, sizeof(*p->number), sl_order_double);
	for (; room < items && p->number[room] <= left; room++)
		left -= p->number[room];
	for (uint32_t i = 0; i < items; i++)
		p->number[i] = p->item[i].value;
	qsort(p->number, items, sizeof(*p->number), sl_order_double);
	for (uint32_t i = items - room; i < items; i++)
		sum += p->number[i];
	return sum;
}

/* The value of the items if fractions of them can be taken. */
static double best_of_fractions(const struct proof *p, uint32_t items, double left)
{
	double sum = 0;

	qsort(p->item, items, sizeof(*p->item), by_worth);
	for (uint32_t i = 0; i < items; i++) {
		const struct item *item = &p->item[i];

		if (item->amount > left)
			return sum + item->value * left / item->amount;
		left -= item->amount;
		sum += item->value;
	}
	return sum;
}

/* By how much the items of the row are worth less than their sum, because there is no room for all.  0 if there is. */
static double loss_of_row(struct proof *p, uint32_t r, uint32_t *items)
{
	double amount = 0, value = 0, most;

	*items = list_items(p, r);
	for (uint32_t i = 0; i < *items; i++) {
		amount += p->item[i].amount;
		value += p->item[i].value;
	}
	if (amount <= p->left[r])
		return 0;
	most = best_of_number(p, *items, p->left[r]);
	return value - fmin(most, best_of_fractions(p, *items, p->left[r]));
}

static int by_loss(const void *va, const void *vb)
{
	const struct loss *a = va, *b = vb;

	return SL_ORDER(b->loss, a->loss) ?: SL_ORDER(a->row, b->row);
}

/* Add the losses of rows, the largest first.  A row does not count groups that an earlier row has counted. */
static double add_losses(struct proof *p, uint32_t losses, double enough)
{
	double sum = 0;

	qsort(p->loss, losses, sizeof(*p->loss), by_loss);
	for (uint32_t k = 0; k < losses && sum < enough; k++) {
		uint32_t items;
		double loss = loss_of_row(p, p->loss[k].row, &items);

		sum += loss;
		for (uint32_t i = 0; loss > 0 && i < items; i++)
			p->counted[p->item[i].group] = true;
	}
	memset(p->counted, 0, p->groups * sizeof(*p->counted));
	return sum;
}

/* The group to decide next: in the row with the largest loss, the one with the most value per amount.  If no row has a
 * loss, a group of which several columns fit; NO_GROUP if there is none, so that all columns that fit can be taken. */
static uint32_t choose_group(struct proof *p, uint32_t row, bool any_loss)
{
	uint32_t items = any_loss ? list_items(p, row) : 0, best = 0;

	for (uint32_t g = 0; !any_loss && g < p->groups; g++)
		if (p->fitting[g] > 1)
			return g;
	if (!items)
		return NO_GROUP;
	for (uint32_t i = 1; i < items; i++)
		if (by_worth(&p->item[i], &p->item[best]) < 0)
			best = i;
	return p->item[best].group;
}

/* -- the search ------------------------------------------------------------ */

/* True if no solution better than the target remains when columns worth *sum* are taken.  Else false, with the group to
 * decide next in *group. */
static bool nothing_is_left(struct proof *p, double sum, uint32_t *group)
{
	double surplus = sum + look_at_columns(p) - p->target, most = 0;
	uint32_t losses = 0, row = 0;

	p->work -= 2 * (int64_t) p->m->terms + p->m->columns + p->m->rows;
	if (surplus <= 0)
		return true;
	for (uint32_t r = 0; r < p->m->rows; r++) {
		uint32_t items;
		double loss = loss_of_row(p, r, &items);

		if (loss >= surplus)
			return true;
		if (loss > 0)
			p->loss[losses++] = (struct loss) { loss, r };
		if (loss > most) {
			most = loss;
			row = r;
		}
	}
	if (losses > 1 && add_losses(p, losses, surplus) >= surplus)
		return true;
	*group = choose_group(p, row, losses > 0);
	return false;
}

static void take(struct proof *p, uint32_t c, double sign)
{
	for (uint32_t i = p->row_begin[c]; i < p->row_begin[c + 1]; i++)
		p->left[p->row[i]] -= sign * p->amount[i];
}

/* True if no solution with the taken columns, worth *sum*, is better than the target. */
static bool search(struct proof *p, double sum)
{
	bool none = true;
	uint32_t group;

	if (nothing_is_left(p, sum, &group))
		return true;
	if (group == NO_GROUP || p->work < 0)
		return false;
	p->closed[group] = true;
	for (uint32_t i = p->begin[group]; none && i < p->begin[group + 1]; i++) {
		uint32_t c = p->member[i];

		if (p->value[c] <= 0 || !has_room(p, c))
			continue;
		take(p, c, 1);
		none = search(p, sum + p->value[c]);
		take(p, c, -1);
	}
	none = none && search(p, sum);
	p->closed[group] = false;
	return none;
}

bool sl_mip_is_best(const struct sl_mip *m, double objective, double slack)
{
	struct proof p = { .m = m, .work = MOST_WORK };
	bool is_best = false;
	char *block;

	if (!is_packing(m))
		return false;
	p.target = (m->maximize ? objective : -objective) + slack;
	block = calloc(1, lay_out(&p, NULL));
	if (block) {
		lay_out(&p, block);
		read_program(&p);
		is_best = search(&p, 0);
	}
	free(block);
	return is_best;
}
