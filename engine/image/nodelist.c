/* SPDX-License-Identifier: MIT */
#include "image/nodelist.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define NAME_MAX_BYTES 255
#define DIGITS_MAX 18		/* fit an int64 */
#define SEPARATORS ", \t"

/* -- joining ------------------------------------------------------------- */

/* A name taken apart: "gpu07" is "gpu", 7, two digits. */
struct split_name {
	const char *name;
	size_t prefix, digits;	/* lengths; digits 0: no number at the end */
	uint64_t number;
	bool zero;		/* the number begins with a zero that means nothing */
};

struct text {
	char *s;
	size_t size;
	uint32_t room;
};

static struct split_name split(const char *name)
{
	struct split_name p = { .name = name, .prefix = strlen(name) };

	while (p.prefix && p.digits < DIGITS_MAX && name[p.prefix - 1] >= '0' && name[p.prefix - 1] <= '9') {
		p.prefix--;
		p.digits++;
	}
	for (size_t i = 0; i < p.digits; i++)
		p.number = p.number * 10 + (name[p.prefix + i] - '0');
	p.zero = p.digits > 1 && name[p.prefix] == '0';
	return p;
}

static bool same_prefix(const struct split_name *a, const struct split_name *b)
{
	return a->digits && b->digits && a->prefix == b->prefix && !memcmp(a->name, b->name, a->prefix);
}

/* b is the name that a range from a on has next. */
static bool comes_next(const struct split_name *a, const struct split_name *b)
{
	return same_prefix(a, b) && b->number == a->number + 1 &&
	       (a->digits == b->digits || (!a->zero && !b->zero));
}

static int put_bytes(struct text *t, const char *s, size_t n)
{
	if (sl_grow(&t->s, &t->room, t->size + n + 1, 1, NULL))
		return -1;
	memcpy(t->s + t->size, s, n);
	t->size += n;
	t->s[t->size] = 0;
	return 0;
}

/* The number after the last of the names that follow one another from i on. */
static uint32_t run_end(const char *const *name, uint32_t i, uint32_t end)
{
	struct split_name last = split(name[i]), next;

	for (i++; i < end; i++, last = next) {
		next = split(name[i]);
		if (!comes_next(&last, &next))
			break;
	}
	return i;
}

static uint32_t prefix_end(const char *const *name, uint32_t i, uint32_t end)
{
	struct split_name first = split(name[i]), next;

	for (i++; i < end; i++) {
		next = split(name[i]);
		if (!same_prefix(&first, &next))
			break;
	}
	return i;
}

/* Names i..end-1, which share a prefix, in brackets. */
static int put_brackets(struct text *t, const char *const *name, uint32_t i, uint32_t end)
{
	struct split_name p = split(name[i]);

	if (put_bytes(t, p.name, p.prefix) < 0)
		return -1;
	for (const char *before = "["; i < end; before = ",") {
		uint32_t next = run_end(name, i, end);

		p = split(name[i]);
		if (put_bytes(t, before, 1) < 0 || put_bytes(t, p.name + p.prefix, p.digits) < 0)
			return -1;
		if (next - i > 1) {
			p = split(name[next - 1]);
			if (put_bytes(t, "-", 1) < 0 || put_bytes(t, p.name + p.prefix, p.digits) < 0)
				return -1;
		}
		i = next;
	}
	return put_bytes(t, "]", 1);
}

char *sl_nodelist_join(const char *const *name, uint32_t n, struct sl_error *err)
{
	struct text t = { 0 };
	uint32_t i = 0, end;

	if (put_bytes(&t, "", 0) < 0)
		goto error;
	while (i < n) {
		if (i && put_bytes(&t, ",", 1) < 0)
			goto error;
		end = prefix_end(name, i, n);
		if (end - i == 1) {
			if (put_bytes(&t, name[i], strlen(name[i])) < 0)
				goto error;
		} else if (put_brackets(&t, name, i, end) < 0) {
			goto error;
		}
		i = end;
	}
	return t.s;
error:
	free(t.s);
	sl_fail(err, SL_ENOMEM, "no memory for a list of %" PRIu32 " nodes", n);
	return NULL;
}

/* -- splitting ----------------------------------------------------------- */

struct visitor {
	int (*visit)(const char *name, void *arg);
	void *arg;
	const char *text;		/* the whole list, for messages */
	struct sl_error *err;
	char name[NAME_MAX_BYTES + 1];	/* being put together */
};

static int fail_at(const struct visitor *v, const char *at, const char *what)
{
	return sl_fail(v->err, SL_EINVAL, "node list \"%.200s\": %s at \"%.40s\"", v->text, what, at);
}

/* One number; *digits tells how it was written.  NULL when there is none. */
static const char *read_number(const char *s, uint64_t *value, size_t *digits)
{
	const char *from = s;

	for (*value = 0; *s >= '0' && *s <= '9' && s - from < DIGITS_MAX; s++)
		*value = *value * 10 + (*s - '0');
	*digits = s - from;
	return *digits && !(*s >= '0' && *s <= '9') ? s : NULL;
}

static int split_rest(struct visitor *v, size_t length, const char *s);

/* A range of what stands in brackets, and for each of its numbers what follows the brackets at *rest*. */
static int split_range(struct visitor *v, size_t length, const char **s, const char *rest)
{
	const char *at = *s, *p;
	uint64_t from, to;
	size_t digits, ignored;
	int rc = 0;

	p = read_number(at, &from, &digits);
	if (!p)
		return fail_at(v, at, "no number");
	to = from;
	if (*p == '-') {
		p = read_number(p + 1, &to, &ignored);
		if (!p || to < from)
			return fail_at(v, at, "no range");
	}
	if (length + DIGITS_MAX > NAME_MAX_BYTES)
		return fail_at(v, at, "a name that is too long");
	*s = p;
	for (uint64_t i = from; !rc; i++) {
		int n = snprintf(v->name + length, sizeof(v->name) - length, "%0*" PRIu64, (int) digits, i);

		rc = split_rest(v, length + (size_t) n, rest);
		if (i == to)
			break;
	}
	return rc;
}

/* The rest of a name, from its literal bytes to its end, behind *length* bytes of v->name. */
static int split_rest(struct visitor *v, size_t length, const char *s)
{
	size_t n = strcspn(s, SEPARATORS "[]");
	const char *open = s + n, *close;
	int rc;

	if (length + n > NAME_MAX_BYTES)
		return fail_at(v, s, "a name that is too long");
	memcpy(v->name + length, s, n);
	v->name[length + n] = 0;
	if (*open == ']')
		return fail_at(v, open, "no \"[\" before \"]\"");
	if (*open != '[')
		return v->visit(v->name, v->arg);
	close = strchr(open, ']');
	if (!close)
		return fail_at(v, open, "no \"]\"");
	for (s = open + 1;; s++) {
		rc = split_range(v, length + n, &s, close + 1);
		if (rc || *s == ']')
			return rc;
		if (*s != ',')
			return fail_at(v, s, "neither \",\" nor \"]\"");
	}
}

/* Where a name ends: at a separator outside of its brackets. */
static const char *name_end(const char *s)
{
	for (bool inside = false; *s && (inside || !strchr(SEPARATORS, *s)); s++)
		inside = *s == '[' || (inside && *s != ']');
	return s;
}

int sl_nodelist_split(const char *text, int (*visit)(const char *name, void *arg), void *arg, struct sl_error *err)
{
	struct visitor v = { .visit = visit, .arg = arg, .text = text, .err = err };
	int rc = 0;

	for (const char *s = text + strspn(text, SEPARATORS); *s && !rc; s += strspn(s, SEPARATORS)) {
		rc = split_rest(&v, 0, s);
		s = name_end(s);
	}
	return rc;
}
