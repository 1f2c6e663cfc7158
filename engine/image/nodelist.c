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

/* -- joining ------------------------------------------------------------- */

/* A name taken apart: "gpu07" is "gpu", 7, two digits. */
struct part {
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

static struct part take_apart(const char *name)
{
	struct part p = { .name = name, .prefix = strlen(name) };

	while (p.prefix && p.digits < DIGITS_MAX && name[p.prefix - 1] >= '0' && name[p.prefix - 1] <= '9') {
		p.prefix--;
		p.digits++;
	}
	for (size_t i = 0; i < p.digits; i++)
		p.number = p.number * 10 + (name[p.prefix + i] - '0');
	p.zero = p.digits > 1 && name[p.prefix] == '0';
	return p;
}

static bool same_prefix(const struct part *a, const struct part *b)
{
	return a->digits && b->digits && a->prefix == b->prefix && !memcmp(a->name, b->name, a->prefix);
}

/* b is the name that a range from a on has next. */
static bool comes_next(const struct part *a, const struct part *b)
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
	struct part last = take_apart(name[i]), next;

	for (i++; i < end; i++, last = next) {
		next = take_apart(name[i]);
		if (!comes_next(&last, &next))
			break;
	}
	return i;
}

static uint32_t prefix_end(const char *const *name, uint32_t i, uint32_t end)
{
	struct part first = take_apart(name[i]), next;

	for (i++; i < end; i++) {
		next = take_apart(name[i]);
		if (!same_prefix(&first, &next))
			break;
	}
	return i;
}

/* Names i..end-1, which share a prefix, in brackets. */
static int put_brackets(struct text *t, const char *const *name, uint32_t i, uint32_t end)
{
	struct part p = take_apart(name[i]);

	if (put_bytes(t, p.name, p.prefix) < 0)
		return -1;
	for (const char *before = "["; i < end; before = ",") {
		uint32_t next = run_end(name, i, end);

		p = take_apart(name[i]);
		if (put_bytes(t, before, 1) < 0 || put_bytes(t, p.name + p.prefix, p.digits) < 0)
			return -1;
		if (next - i > 1) {
			p = take_apart(name[next - 1]);
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

/* prefix[...]suffix */
static int split_brackets(const struct visitor *v, const char *prefix, size_t prefix_n, const char *s,
			  const char *suffix, size_t suffix_n)
{
	char name[NAME_MAX_BYTES + 1];
	uint64_t from, to;
	size_t digits, ignored;
	int rc;

	for (;; s++) {
		const char *at = s;

		s = read_number(s, &from, &digits);
		if (!s)
			return fail_at(v, at, "no number");
		to = from;
		if (*s == '-') {
			s = read_number(s + 1, &to, &ignored);
			if (!s || to < from)
				return fail_at(v, at, "no range");
		}
		if (prefix_n + suffix_n + DIGITS_MAX > NAME_MAX_BYTES)
			return fail_at(v, at, "a name that is too long");
		for (uint64_t i = from; i <= to; i++) {
			snprintf(name, sizeof(name), "%.*s%0*" PRIu64 "%.*s", (int) prefix_n, prefix,
				 (int) digits, i, (int) suffix_n, suffix);
			rc = v->visit(name, v->arg);
			if (rc)
				return rc;
		}
		if (*s == ']')
			return 0;
		if (*s != ',')
			return fail_at(v, s, "neither \",\" nor \"]\"");
	}
}

static int split_plain(const struct visitor *v, const char *s, size_t n)
{
	char name[NAME_MAX_BYTES + 1];

	if (n == 0)
		return fail_at(v, s, "no name");
	if (n > NAME_MAX_BYTES)
		return fail_at(v, s, "a name that is too long");
	memcpy(name, s, n);
	name[n] = 0;
	return v->visit(name, v->arg);
}

int sl_nodelist_split(const char *text, int (*visit)(const char *name, void *arg), void *arg, struct sl_error *err)
{
	struct visitor v = { visit, arg, text, err };
	const char *s = text;
	int rc;

	if (!*s)
		return 0;
	for (;; s++) {
		size_t n = strcspn(s, ",[]"), suffix_n;
		const char *open = s + n, *suffix;

		if (*open == '[') {
			suffix = strchr(open, ']');
			if (!suffix)
				return fail_at(&v, open, "no \"]\"");
			suffix_n = strcspn(++suffix, ",[]");
			rc = split_brackets(&v, s, n, open + 1, suffix, suffix_n);
			s = suffix + suffix_n;
		} else {
			rc = split_plain(&v, s, n);
			s = open;
		}
		if (rc)
			return rc;
		if (!*s)
			return 0;
		if (*s != ',')
			return fail_at(&v, s, "no \",\"");
	}
}
