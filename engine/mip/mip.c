/* SPDX-License-Identifier: MIT */
/*
 * mip.c - building a model.
 */
#include "mip/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

/* -- memory ------------------------------------------------------------ */

static void *plain_alloc(void *ud, void *block, size_t old_size, size_t new_size)
{
	(void) ud, (void) old_size;
	if (new_size)
		return realloc(block, new_size);
	free(block);
	return NULL;
}

/* Resize one of the arrays that grow together.  0, or -1 and it is unchanged. */
static int resize(struct sl_mip *m, void *array, size_t size, size_t old_room, size_t room)
{
	void *old, *block;

	memcpy(&old, array, sizeof(old));
	block = m->alloc(m->ud, old, old_room * size, room * size);
	if (!block)
		return -1;
	memcpy(array, &block, sizeof(block));
	return 0;
}

struct array {
	void *pointer;		/* address of the pointer to the array */
	size_t size;		/* of an element */
};

/* Make room for *need* elements in arrays that share one *room*.  If one of them cannot be enlarged the others are shrunk
 * again, so that *room* is right for all: the allocator may count bytes and is told the old size at each call. */
static int grow(struct sl_mip *m, const struct array *array, size_t arrays, size_t *room, size_t need,
		struct sl_error *err)
{
	size_t to = *room ? *room : FIRST_ROOM, i, back;

	if (need <= *room)
		return 0;
	while (to < need)
		to *= 2;
	for (i = 0; i < arrays; i++)
		if (resize(m, array[i].pointer, array[i].size, *room, to))
			goto error;
	*room = to;
	return 0;
error:
	for (back = 0; back < i && *room; back++)
		resize(m, array[back].pointer, array[back].size, to, *room);
	for (back = 0; back < i && !*room; back++) {
		void *block;

		memcpy(&block, array[back].pointer, sizeof(block));
		m->alloc(m->ud, block, to * array[back].size, 0);
		memset(array[back].pointer, 0, sizeof(block));
	}
	return sl_fail(err, SL_ENOMEM, "out of memory for a model of %u columns, %u rows and %u terms", m->columns,
		       m->rows, m->terms);
}

static int grow_columns(struct sl_mip *m, struct sl_error *err)
{
	const struct array array[] = {
		{ &m->lb, sizeof(double) }, { &m->ub, sizeof(double) }, { &m->obj, sizeof(double) },
		{ &m->integer, 1 }, { &m->column_name, sizeof(uint32_t) }, { &m->seen, sizeof(uint32_t) },
	};

	return grow(m, array, sizeof(array) / sizeof(array[0]), &m->column_room, (size_t) m->columns + 1, err);
}

/* begin has one element more than there are rows */
static int grow_rows(struct sl_mip *m, struct sl_error *err)
{
	const struct array array[] = {
		{ &m->lo, sizeof(double) }, { &m->hi, sizeof(double) }, { &m->begin, sizeof(uint32_t) },
		{ &m->row_name, sizeof(uint32_t) },
	};

	return grow(m, array, sizeof(array) / sizeof(array[0]), &m->row_room, (size_t) m->rows + 2, err);
}

static int grow_terms(struct sl_mip *m, uint32_t more, struct sl_error *err)
{
	const struct array array[] = { { &m->column, sizeof(uint32_t) }, { &m->coefficient, sizeof(double) } };

	return grow(m, array, sizeof(array) / sizeof(array[0]), &m->term_room, (size_t) m->terms + more, err);
}

/* Keep a name and return its offset; 0 for none. */
static int keep_name(struct sl_mip *m, const char *name, uint32_t *offset, struct sl_error *err)
{
	const struct array array[] = { { &m->name, 1 } };
	size_t n;

	*offset = 0;
	if (!name || !*name)
		return 0;
	if (!m->names)
		m->names = 1;
	n = strnlen(name, 63);
	if (m->names + n + 1 > UINT32_MAX)
		return sl_fail(err, SL_ELIMIT, "names of a model: more than 4 GiB");
	if (grow(m, array, 1, &m->name_room, m->names + n + 1, err))
		return -1;
	memcpy(m->name + m->names, name, n);
	m->name[m->names + n] = 0;
	*offset = (uint32_t) m->names;
	m->names += n + 1;
	return 0;
}

struct sl_mip *sl_mip_create(bool maximize, sl_mip_alloc *alloc, void *ud)
{
	struct sl_mip *m;

	if (!alloc)
		alloc = plain_alloc;
	m = alloc(ud, NULL, 0, sizeof(*m));
	if (!m)
		return NULL;
	memset(m, 0, sizeof(*m));
	m->maximize = maximize;
	m->alloc = alloc;
	m->ud = ud;
	return m;
}

void sl_mip_destroy(struct sl_mip *m)
{
	if (!m)
		return;
	const struct {
		void *block;
		size_t size;
	} all[] = {
		{ m->lb, m->column_room * sizeof(double) }, { m->ub, m->column_room * sizeof(double) },
		{ m->obj, m->column_room * sizeof(double) }, { m->integer, m->column_room },
		{ m->column_name, m->column_room * sizeof(uint32_t) }, { m->seen, m->column_room * sizeof(uint32_t) },
		{ m->lo, m->row_room * sizeof(double) }, { m->hi, m->row_room * sizeof(double) },
		{ m->begin, m->row_room * sizeof(uint32_t) }, { m->row_name, m->row_room * sizeof(uint32_t) },
		{ m->column, m->term_room * sizeof(uint32_t) }, { m->coefficient, m->term_room * sizeof(double) },
		{ m->name, m->name_room }, { m->start, m->start_columns * sizeof(double) },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].block)
			m->alloc(m->ud, all[i].block, all[i].size, 0);
	m->alloc(m->ud, m, sizeof(*m), 0);
}

/* -- names ------------------------------------------------------------- */

static const char *text_of(const struct sl_mip *m, uint32_t name, const char *what, uint32_t number, char buffer[64])
{
	if (name)
		return m->name + name;
	snprintf(buffer, 64, "%s %u", what, number + 1);
	return buffer;
}

const char *sl_mip_column_text(const struct sl_mip *m, uint32_t column, char buffer[64])
{
	return text_of(m, m->column_name[column], "column", column, buffer);
}

const char *sl_mip_row_text(const struct sl_mip *m, uint32_t row, char buffer[64])
{
	return text_of(m, m->row_name[row], "row", row, buffer);
}

static const char *shown_name(const char *name, const char *what, uint32_t number, char buffer[64])
{
	if (name && *name)
		return name;
	snprintf(buffer, 64, "%s %u", what, number + 1);
	return buffer;
}

/* -- columns ----------------------------------------------------------- */

static bool is_number(double v)
{
	return isfinite(v) && fabs(v) <= SL_MIP_MAX_NUMBER;
}

static bool is_bound(double v)
{
	return is_number(v) || isinf(v);
}

static int check_column(const struct sl_mip *m, const struct sl_mip_column *c, struct sl_error *err)
{
	char buffer[64];
	const char *name = shown_name(c->name, "column", m->columns, buffer);

	if (m->columns >= SL_MIP_MAX_COLUMNS)
		return sl_fail(err, SL_ELIMIT, "a model has at most %u columns", SL_MIP_MAX_COLUMNS);
	if (!is_number(c->obj))
		return sl_fail(err, SL_EINVAL, "%s: obj is %g, expected a number between -1e15 and 1e15", name, c->obj);
	if (!is_bound(c->lb) || c->lb == INFINITY)
		return sl_fail(err, SL_EINVAL, "%s: lb is %g, expected a number up to 1e15 or minus infinity", name,
			       c->lb);
	if (!is_bound(c->ub) || c->ub == -INFINITY)
		return sl_fail(err, SL_EINVAL, "%s: ub is %g, expected a number up to 1e15 or infinity", name, c->ub);
	if (c->lb > c->ub)
		return sl_fail(err, SL_EINVAL, "%s: lb %g is above ub %g", name, c->lb, c->ub);
	return 0;
}

int64_t sl_mip_var(struct sl_mip *m, const struct sl_mip_column *c, struct sl_error *err)
{
	uint32_t name, at = m->columns;

	if (check_column(m, c, err) || grow_columns(m, err) || keep_name(m, c->name, &name, err))
		return -1;
	m->lb[at] = c->lb;
	m->ub[at] = c->ub;
	m->obj[at] = c->obj;
	m->integer[at] = c->integer;
	m->column_name[at] = name;
	m->seen[at] = 0;
	m->columns++;
	m->relaxed.backend = NULL;
	return at;
}

/* -- rows -------------------------------------------------------------- */

/* Check the terms of a new row and mark its columns in *seen*; each may be there once. */
static int check_terms(struct sl_mip *m, const struct sl_mip_row *r, const char *name, struct sl_error *err)
{
	char buffer[64];

	for (uint32_t i = 0; i < r->terms; i++) {
		uint32_t c = r->column[i];

		if (c >= m->columns)
			return sl_fail(err, SL_EINVAL, "%s: there is no column %u, the model has %u", name, c + 1,
				       m->columns);
		if (!is_number(r->coefficient[i]))
			return sl_fail(err, SL_EINVAL, "%s: the coefficient of %s is %g, expected a number between "
				       "-1e15 and 1e15", name, sl_mip_column_text(m, c, buffer), r->coefficient[i]);
		if (m->seen[c] == m->rows + 1)
			return sl_fail(err, SL_EINVAL, "%s: %s is there twice", name,
				       sl_mip_column_text(m, c, buffer));
		m->seen[c] = m->rows + 1;
	}
	return 0;
}

static int check_row(struct sl_mip *m, const struct sl_mip_row *r, struct sl_error *err)
{
	char buffer[64];
	const char *name = shown_name(r->name, "row", m->rows, buffer);

	if (m->rows >= SL_MIP_MAX_ROWS)
		return sl_fail(err, SL_ELIMIT, "a model has at most %u rows", SL_MIP_MAX_ROWS);
	if (r->terms > SL_MIP_MAX_TERMS - m->terms)
		return sl_fail(err, SL_ELIMIT, "%s: a model has at most %u terms", name, SL_MIP_MAX_TERMS);
	if (!is_bound(r->lo) || r->lo == INFINITY)
		return sl_fail(err, SL_EINVAL, "%s: lo is %g, expected a number up to 1e15 or none", name, r->lo);
	if (!is_bound(r->hi) || r->hi == -INFINITY)
		return sl_fail(err, SL_EINVAL, "%s: hi is %g, expected a number up to 1e15 or none", name, r->hi);
	if (r->lo > r->hi)
		return sl_fail(err, SL_EINVAL, "%s: lo %g is above hi %g", name, r->lo, r->hi);
	if (!check_terms(m, r, name, err))
		return 0;
	/* clear the marks of a refused row: the next row has the same number */
	for (uint32_t i = 0; i < r->terms; i++)
		if (r->column[i] < m->columns && m->seen[r->column[i]] == m->rows + 1)
			m->seen[r->column[i]] = 0;
	return -1;
}

static void put_row(struct sl_mip *m, const struct sl_mip_row *r, uint32_t name)
{
	m->begin[m->rows] = m->terms;
	for (uint32_t i = 0; i < r->terms; i++) {
		m->column[m->terms + i] = r->column[i];
		m->coefficient[m->terms + i] = r->coefficient[i];
	}
	m->terms += r->terms;
	m->lo[m->rows] = r->lo;
	m->hi[m->rows] = r->hi;
	m->row_name[m->rows] = name;
	m->begin[++m->rows] = m->terms;
}

int64_t sl_mip_add(struct sl_mip *m, const struct sl_mip_row *r, struct sl_error *err)
{
	uint32_t name;

	if (check_row(m, r, err))
		return -1;
	if (grow_rows(m, err) || grow_terms(m, r->terms, err) || keep_name(m, r->name, &name, err)) {
		for (uint32_t i = 0; i < r->terms; i++)
			m->seen[r->column[i]] = 0;
		return -1;
	}
	put_row(m, r, name);
	m->relaxed.backend = NULL;
	return m->rows - 1;
}

/* -- the rest ---------------------------------------------------------- */

int sl_mip_start(struct sl_mip *m, const double *values, uint32_t columns, struct sl_error *err)
{
	char buffer[64];
	double *start;

	if (columns != m->columns)
		return sl_fail(err, SL_EINVAL, "start: %u values, the model has %u columns", columns, m->columns);
	for (uint32_t i = 0; i < columns; i++)
		if (!is_number(values[i]))
			return sl_fail(err, SL_EINVAL, "start: %s is %g, expected a number",
				       sl_mip_column_text(m, i, buffer), values[i]);
	if (!columns)
		return 0;
	start = m->alloc(m->ud, m->start, m->start_columns * sizeof(*start), columns * sizeof(*start));
	if (!start)
		return sl_fail(err, SL_ENOMEM, "out of memory for a start of %u columns", columns);
	memcpy(start, values, columns * sizeof(*start));
	m->start = start;
	m->start_columns = columns;
	return 0;
}

uint32_t sl_mip_columns(const struct sl_mip *m)
{
	return m->columns;
}

uint32_t sl_mip_rows(const struct sl_mip *m)
{
	return m->rows;
}

uint32_t sl_mip_terms(const struct sl_mip *m)
{
	return m->terms;
}

bool sl_mip_is_integer(const struct sl_mip *m, uint32_t column)
{
	return m->integer[column];
}
