/* SPDX-License-Identifier: MIT */
#include "image/remember.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"
#include "image/value.h"

/* -- rows of an image ----------------------------------------------------- */

struct rows {
	const struct sl_image *image;
	const struct sl_remembered_view *v;
	struct sl_error *err;
};

static int fail_row(const struct rows *x, uint32_t row, enum sl_errno code, const char *what)
{
	return sl_fail(x->err, code, "%s: remembered[%" PRIu32 "]%s", x->image->schema->name, row, what);
}

static bool is_key(const char *key)
{
	for (const char *p = key; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			return false;
	return *key && strlen(key) <= SL_REMEMBERED_KEY;
}

/* Names of a row. */
static int check_names(const struct rows *x, uint32_t r)
{
	if (strlen(sl_image_str(x->image, x->v->set[r])) > SL_REMEMBERED_SET)
		return fail_row(x, r, SL_ELIMIT, ".set: the name of a set is too long");
	if (strlen(sl_image_str(x->image, x->v->group[r])) > SL_REMEMBERED_GROUP)
		return fail_row(x, r, SL_ELIMIT, ".group: the name of a group is too long");
	if (!is_key(sl_image_str(x->image, x->v->key[r])))
		return fail_row(x, r, SL_EFORMAT, ".key: expected 1 to 64 printable characters");
	return 0;
}

/* Does a row come after the one before?  *same: in the same group. */
static bool in_order(const struct rows *x, uint32_t r, bool *same)
{
	const uint32_t *column[] = { x->v->set, x->v->group, x->v->key };

	*same = true;
	for (int i = 0; i < 3; i++) {
		int order = strcmp(sl_image_str(x->image, column[i][r - 1]), sl_image_str(x->image, column[i][r]));

		if (order)
			*same = i == 2;
		if (order)
			return order < 0;
	}
	return false;
}

static int check_value(const struct rows *x, uint32_t r, size_t length)
{
	struct sl_error why;

	if (length > SL_REMEMBERED_VALUE)
		return fail_row(x, r, SL_ELIMIT, ".value: more than 256 KiB");
	if (!sl_value_check(sl_image_str(x->image, x->v->value[r]), &why))
		return 0;
	return sl_fail(x->err, why.code, "%s: remembered[%" PRIu32 "].value: %s", x->image->schema->name, r, why.text);
}

int sl_remembered_check(const struct sl_image *image, const struct sl_remembered_view *rows, struct sl_error *err)
{
	struct rows x = { image, rows, err };
	uint32_t keys = 0;
	size_t all = 0;
	bool same;

	for (uint32_t r = 0; r < rows->rows; r++) {
		size_t length = strlen(sl_image_str(image, rows->value[r]));

		if (check_names(&x, r))
			return -1;
		if (r && !in_order(&x, r, &same))
			return fail_row(&x, r, SL_EFORMAT, ": expected rising order of set, group and key");
		keys = r && same ? keys + 1 : 1;
		if (keys > SL_REMEMBERED_KEYS)
			return fail_row(&x, r, SL_ELIMIT, ": more than 256 keys in a group");
		all += SL_REMEMBERED_ROW + strlen(sl_image_str(image, rows->key[r])) + length;
		if (all > SL_REMEMBERED_ALL)
			return fail_row(&x, r, SL_ELIMIT, ": more than 1 MiB in all");
		if (check_value(&x, r, length))
			return -1;
	}
	return 0;
}

/* -- a memory --------------------------------------------------------------- */

struct entry {
	char *set, *group, *key, *value;	/* one block, set first */
	size_t cost;				/* of key, value and row */
};

struct sl_remember {
	char set[SL_REMEMBERED_SET + 1];
	struct entry *entry;			/* in rising order */
	uint32_t entries;
	size_t all;
};

struct sl_remember *sl_remember_create(struct sl_error *err)
{
	struct sl_remember *m = calloc(1, sizeof(*m));

	if (!m)
		sl_fail(err, SL_ENOMEM, "out of memory");
	return m;
}

void sl_remember_clear(struct sl_remember *m)
{
	for (size_t i = 0; i < m->entries; i++)
		free(m->entry[i].set);
	m->entries = m->all = 0;
}

void sl_remember_destroy(struct sl_remember *m)
{
	if (!m)
		return;
	sl_remember_clear(m);
	free(m->entry);
	free(m);
}

bool sl_remember_empty(const struct sl_remember *m)
{
	return !m->entries;
}

static char *put_text(char **to, const char *text)
{
	size_t n = strlen(text) + 1;
	char *at = memcpy(*to, text, n);

	*to += n;
	return at;
}

static int make_entry(struct entry *e, const char *set, const char *group, const char *key, const char *value,
		      struct sl_error *err)
{
	char *block = malloc(strlen(set) + strlen(group) + strlen(key) + strlen(value) + 4);

	if (!block)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	e->set = put_text(&block, set);
	e->group = put_text(&block, group);
	e->key = put_text(&block, key);
	e->value = put_text(&block, value);
	e->cost = SL_REMEMBERED_ROW + strlen(key) + strlen(value);
	return 0;
}

static int compare_entry(const struct entry *e, const char *set, const char *group, const char *key)
{
	int order = strcmp(e->set, set);

	if (!order)
		order = strcmp(e->group, group);
	return order ? order : strcmp(e->key, key);
}

/* Where an entry is (*found), or would be. */
static uint32_t find_entry(const struct sl_remember *m, const char *set, const char *group, const char *key, bool *found)
{
	uint32_t at = SL_FIRST(i, 0, m->entries, compare_entry(&m->entry[i], set, group, key) < 0);

	*found = at < m->entries && !compare_entry(&m->entry[at], set, group, key);
	return at;
}

static void take_out(struct sl_remember *m, size_t at)
{
	m->all -= m->entry[at].cost;
	free(m->entry[at].set);
	memmove(&m->entry[at], &m->entry[at + 1], (m->entries - at - 1) * sizeof(*m->entry));
	m->entries--;
}

/* Put one in, in place of the one that is there. */
static int put_entry(struct sl_remember *m, const char *set, const char *group, const char *key, const char *value,
		     struct sl_error *err)
{
	struct entry e;
	bool found;
	uint32_t at;

	if (sl_grow_list(&m->entry, m->entries, sizeof(*m->entry), err) || make_entry(&e, set, group, key, value, err))
		return -1;
	at = find_entry(m, set, group, key, &found);
	if (found)
		take_out(m, at);
	memmove(&m->entry[at + 1], &m->entry[at], (m->entries - at) * sizeof(e));
	m->entry[at] = e;
	m->entries++;
	m->all += e.cost;
	return 0;
}

int sl_remember_load(struct sl_remember *m, const struct sl_image *image, const struct sl_remembered_view *rows,
		     const char *set, struct sl_error *err)
{
	sl_remember_clear(m);
	m->set[0] = 0;
	if (set)
		strncat(m->set, set, SL_REMEMBERED_SET);
	for (uint32_t r = 0; r < rows->rows; r++) {
		const char *of = sl_image_str(image, rows->set[r]);

		if (set && *of && strcmp(of, m->set))
			continue;
		if (put_entry(m, set ? m->set : of, sl_image_str(image, rows->group[r]),
			      sl_image_str(image, rows->key[r]),
			      sl_image_str(image, rows->value[r]), err)) {
			sl_remember_clear(m);
			return -1;
		}
	}
	return 0;
}

const char *sl_remember_get(const struct sl_remember *m, const char *group, const char *key)
{
	bool found;
	uint32_t at = find_entry(m, m->set, group, key, &found);

	return found ? m->entry[at].value : NULL;
}

/* The keys of a group, from its first entry on. */
static uint32_t count_keys(const struct sl_remember *m, const char *group, uint32_t *first)
{
	bool found;
	uint32_t n = 0;

	*first = find_entry(m, m->set, group, "", &found);
	while (*first + n < m->entries && !strcmp(m->entry[*first + n].set, m->set) &&
	       !strcmp(m->entry[*first + n].group, group))
		n++;
	return n;
}

int sl_remember_set(struct sl_remember *m, const char *group, const char *key, const char *text, struct sl_error *err)
{
	bool found;
	uint32_t at = find_entry(m, m->set, group, key, &found), first;
	size_t was = found ? m->entry[at].cost : 0;

	if (!text) {
		if (found)
			take_out(m, at);
		return 0;
	}
	if (strlen(group) > SL_REMEMBERED_GROUP)
		return sl_fail(err, SL_ELIMIT, "the name of the group is longer than %d bytes", SL_REMEMBERED_GROUP);
	if (!is_key(key))
		return sl_fail(err, SL_EINVAL, "key: expected 1 to %d printable characters", SL_REMEMBERED_KEY);
	if (strlen(text) > SL_REMEMBERED_VALUE)
		return sl_fail(err, SL_ELIMIT, "the value of '%s' comes to more than %d KiB", key,
			       SL_REMEMBERED_VALUE >> 10);
	if (m->all - was + SL_REMEMBERED_ROW + strlen(key) + strlen(text) > SL_REMEMBERED_ALL)
		return sl_fail(err, SL_ELIMIT, "with the value of '%s' more than %d KiB would be remembered in all", key,
			       SL_REMEMBERED_ALL >> 10);
	if (!found && count_keys(m, group, &first) >= SL_REMEMBERED_KEYS)
		return sl_fail(err, SL_ELIMIT, "'%s' would be more than %d keys", key, SL_REMEMBERED_KEYS);
	return put_entry(m, m->set, group, key, text, err);
}

void sl_remember_forget(struct sl_remember *m, const char *group)
{
	uint32_t first, n = count_keys(m, group, &first);

	while (n--)
		take_out(m, first + n);
}

void sl_remember_encode(const struct sl_remember *m, struct sl_builder *b, int table)
{
	for (size_t i = 0; i < m->entries; i++) {
		const struct entry *e = &m->entry[i];
		struct sl_remembered_row row = {
			.set = sl_builder_str(b, e->set), .group = sl_builder_str(b, e->group),
			.key = sl_builder_str(b, e->key), .value = sl_builder_str(b, e->value),
		};

		sl_builder_append(b, table, &row);
	}
}
