/* SPDX-License-Identifier: MIT */
#include "sandbox/pattern.h"

#include <string.h>

/* Units of work between two looks at the flag: some microseconds. */
#define FUEL 4096

enum op {
	OP_CHAR, OP_ANY, OP_SET,		/* one character */
	OP_OPEN, OP_POSITION, OP_CLOSE,		/* captures */
	OP_BACK, OP_BALANCE, OP_FRONTIER, OP_TAIL, OP_DONE
};

enum rep { REP_ONE, REP_OPTIONAL, REP_STAR, REP_PLUS, REP_LAZY };

struct item {
	uint8_t op, rep;
	unsigned char c, d;	/* character; both of a balance */
	uint32_t index;		/* of the set or the capture */
};

struct set {
	uint64_t bits[4];
};

/* An alternative to come back to. */
struct choice {
	const struct item *item;	/* what the alternative concerns */
	size_t at;			/* greedy: end of the run; lazy: begin */
	size_t low;			/* greedy: shortest end */
};

struct sl_pattern {
	bool anchored;
	unsigned captures;
	struct item *item;
	struct set *set;
	struct choice *stack;
	size_t items, sets;
};

/* Compiling: where it is in the text and what is still open. */
struct parser {
	struct sl_pattern *p;
	const unsigned char *at, *end;
	bool open[SL_PATTERN_CAPTURES];
	struct sl_error *err;
};

/* Every set and every item but the last takes a byte of the text at least, a set
 * two ("%a"). */
size_t sl_pattern_size(size_t length)
{
	return sizeof(struct sl_pattern) + (length + 1) * (sizeof(struct item) + sizeof(struct choice)) +
	       (length / 2 + 1) * sizeof(struct set);
}

static void set_add(struct set *set, unsigned c)
{
	set->bits[c >> 6] |= UINT64_C(1) << (c & 63);
}

static bool set_has(const struct set *set, unsigned c)
{
	return set->bits[c >> 6] >> (c & 63) & 1;
}

/* -- classes ----------------------------------------------------------- */

static bool is_between(unsigned c, unsigned a, unsigned b)
{
	return c >= a && c <= b;
}

/* Is c in the class of this (lower-case) letter?  -1: the letter names none. */
static int in_class(unsigned c, unsigned char letter)
{
	bool lower = is_between(c, 'a', 'z'), upper = is_between(c, 'A', 'Z');
	bool digit = is_between(c, '0', '9'), graph = is_between(c, 33, 126);

	switch (letter) {
	case 'a': return lower || upper;
	case 'c': return c < 32 || c == 127;
	case 'd': return digit;
	case 'g': return graph;
	case 'l': return lower;
	case 'p': return graph && !lower && !upper && !digit;
	case 's': return c == ' ' || is_between(c, 9, 13);
	case 'u': return upper;
	case 'w': return lower || upper || digit;
	case 'x': return digit || is_between(c, 'a', 'f') || is_between(c, 'A', 'F');
	case 'z': return c == 0;
	default: return -1;
	}
}

/* Add the class that follows a '%': "a", "A", or the character itself. */
static void set_add_class(struct set *set, unsigned char letter)
{
	bool other = is_between(letter, 'A', 'Z');
	unsigned char name = other ? letter + 32 : letter;

	if (in_class(0, name) < 0) {
		set_add(set, letter);
		return;
	}
	for (unsigned c = 0; c < 256; c++)
		if (in_class(c, name) != other)
			set_add(set, c);
}

/* -- compiling --------------------------------------------------------- */

static struct item *add_item(struct parser *in, enum op op)
{
	struct item *item = &in->p->item[in->p->items++];

	*item = (struct item) { .op = op, .rep = REP_ONE };
	return item;
}

static uint32_t add_set(struct parser *in)
{
	memset(&in->p->set[in->p->sets], 0, sizeof(struct set));
	return in->p->sets++;
}

/* The ']' that ends the set at in->at: not its first character, not one behind
 * a '%'.  NULL when there is none. */
static const unsigned char *set_end(const struct parser *in)
{
	const unsigned char *p = in->at;

	do {
		if (p < in->end && *p == '%')
			p++;
		if (p >= in->end)
			return NULL;
		p++;
	} while (p < in->end && *p != ']');
	return p < in->end ? p : NULL;
}

/* What stands between brackets; in->at is behind the '['. */
static int parse_set(struct parser *in, uint32_t index)
{
	struct set *set = &in->p->set[index];
	bool negate = in->at < in->end && *in->at == '^';
	const unsigned char *end;

	if (negate)
		in->at++;
	end = set_end(in);
	if (!end)
		return sl_fail(in->err, SL_EINVAL, "malformed pattern (missing ']')");
	while (in->at < end) {
		unsigned char c = *in->at++;

		if (c == '%') {
			set_add_class(set, *in->at++);
		} else if (end - in->at >= 2 && in->at[0] == '-') {
			for (unsigned k = c; k <= in->at[1]; k++)
				set_add(set, k);
			in->at += 2;
		} else {
			set_add(set, c);
		}
	}
	in->at = end + 1;
	if (negate)
		for (int i = 0; i < 4; i++)
			set->bits[i] = ~set->bits[i];
	return 0;
}

/* One character or class, and how often it may be repeated. */
static int parse_single(struct parser *in)
{
	unsigned char c = *in->at++;
	struct item *item = add_item(in, OP_CHAR);

	item->c = c;
	if (c == '.') {
		item->op = OP_ANY;
	} else if (c == '[') {
		item->op = OP_SET;
		item->index = add_set(in);
		if (parse_set(in, item->index))
			return -1;
	} else if (c == '%') {
		if (in->at == in->end)
			return sl_fail(in->err, SL_EINVAL, "malformed pattern (ends with '%%')");
		item->c = *in->at++;
		if (in_class(0, item->c | 32) >= 0 && is_between(item->c | 32, 'a', 'z')) {
			item->op = OP_SET;
			item->index = add_set(in);
			set_add_class(&in->p->set[item->index], item->c);
		}
	}
	if (in->at == in->end)
		return 0;
	switch (*in->at) {
	case '?': item->rep = REP_OPTIONAL; break;
	case '*': item->rep = REP_STAR; break;
	case '+': item->rep = REP_PLUS; break;
	case '-': item->rep = REP_LAZY; break;
	default: return 0;
	}
	in->at++;
	return 0;
}

static int parse_open(struct parser *in)
{
	struct item *item;

	if (in->p->captures == SL_PATTERN_CAPTURES)
		return sl_fail(in->err, SL_EINVAL, "too many captures (at most %d)", SL_PATTERN_CAPTURES);
	in->at++;
	if (in->at < in->end && *in->at == ')') {
		in->at++;
		item = add_item(in, OP_POSITION);
	} else {
		item = add_item(in, OP_OPEN);
		in->open[in->p->captures] = true;
	}
	item->index = in->p->captures++;
	return 0;
}

static int parse_close(struct parser *in)
{
	unsigned k = in->p->captures;

	while (k && !in->open[k - 1])
		k--;
	if (!k)
		return sl_fail(in->err, SL_EINVAL, "invalid pattern capture");
	in->at++;
	in->open[k - 1] = false;
	add_item(in, OP_CLOSE)->index = k - 1;
	return 0;
}

/* "%1", "%bxy", "%f[set]"; in->at is on the '%'.  Returns 1 when it was one. */
static int parse_special(struct parser *in)
{
	unsigned char c = in->end - in->at >= 2 ? in->at[1] : 0;
	struct item *item;
	unsigned k;

	if (is_between(c, '0', '9')) {
		k = c - '1';
		if (c == '0' || k >= in->p->captures || in->open[k])
			return sl_fail(in->err, SL_EINVAL, "invalid capture index %%%c in pattern", c);
		in->at += 2;
		add_item(in, OP_BACK)->index = k;
		return 1;
	}
	if (c == 'b') {
		if (in->end - in->at < 4)
			return sl_fail(in->err, SL_EINVAL, "malformed pattern (missing arguments to '%%b')");
		item = add_item(in, OP_BALANCE);
		item->c = in->at[2];
		item->d = in->at[3];
		in->at += 4;
		return 1;
	}
	if (c == 'f') {
		if (in->end - in->at < 3 || in->at[2] != '[')
			return sl_fail(in->err, SL_EINVAL, "missing '[' after '%%f' in pattern");
		item = add_item(in, OP_FRONTIER);
		item->index = add_set(in);
		in->at += 3;
		return parse_set(in, item->index) ? -1 : 1;
	}
	return 0;
}

static int parse_next(struct parser *in)
{
	int special;

	switch (*in->at) {
	case '(':
		return parse_open(in);
	case ')':
		return parse_close(in);
	case '$':
		if (in->at + 1 < in->end)
			return parse_single(in);
		in->at++;
		add_item(in, OP_TAIL);
		return 0;
	case '%':
		special = parse_special(in);
		if (special)
			return special < 0 ? -1 : 0;
		return parse_single(in);
	default:
		return parse_single(in);
	}
}

struct sl_pattern *sl_pattern_compile(void *memory, const char *text, size_t length, bool anchors,
				      struct sl_error *err)
{
	struct sl_pattern *p = memory;
	struct parser in = { .p = p, .at = (const unsigned char *) text, .err = err };

	if (length > SL_PATTERN_MAX) {
		sl_fail(err, SL_ELIMIT, "pattern of %zu bytes, the limit is %d", length, SL_PATTERN_MAX);
		return NULL;
	}
	in.end = in.at + length;
	memset(p, 0, sizeof(*p));
	/* From the largest alignment down. */
	p->set = (struct set *) (p + 1);
	p->stack = (struct choice *) (p->set + length / 2 + 1);
	p->item = (struct item *) (p->stack + length + 1);
	if (anchors && length && *text == '^') {
		p->anchored = true;
		in.at++;
	}
	while (in.at < in.end)
		if (parse_next(&in))
			return NULL;
	for (unsigned k = 0; k < p->captures; k++)
		if (in.open[k]) {
			sl_fail(err, SL_EINVAL, "unfinished capture");
			return NULL;
		}
	add_item(&in, OP_DONE);
	return p;
}

bool sl_pattern_anchored(const struct sl_pattern *p)
{
	return p->anchored;
}

/* -- matching ---------------------------------------------------------- */

struct matcher {
	const struct sl_pattern *p;
	const unsigned char *s;
	size_t length;
	const volatile sig_atomic_t *stop;
	int64_t fuel;
	size_t choices;
	struct sl_match *m;
};

/* Count so many units of work; false when the time limit has expired. */
static bool use_up(struct matcher *go, size_t units)
{
	go->fuel -= units;
	if (go->fuel > 0)
		return true;
	go->fuel = FUEL;
	return !*go->stop;
}

static bool matches_one(const struct matcher *go, const struct item *item, size_t at)
{
	unsigned char c;

	if (at >= go->length)
		return false;
	c = go->s[at];
	switch (item->op) {
	case OP_CHAR: return c == item->c;
	case OP_ANY: return true;
	default: return set_has(&go->p->set[item->index], c);
	}
}

static void push_choice(struct matcher *go, const struct item *item, size_t at, size_t low)
{
	go->p->stack[go->choices++] = (struct choice) { item, at, low };
}

/*
 * Every step function moves *at on and returns 1, or returns 0 where the item
 * does not match, or -1 to give up.
 */
static int step_single(struct matcher *go, const struct item *item, size_t *at)
{
	size_t low = *at, end = *at;

	switch (item->rep) {
	case REP_ONE:
		if (!matches_one(go, item, *at))
			return 0;
		++*at;
		return 1;
	case REP_LAZY:
		push_choice(go, item, *at, 0);
		return 1;
	case REP_OPTIONAL:
		if (matches_one(go, item, end))
			end++;
		break;
	default:
		while (matches_one(go, item, end)) {
			if (!use_up(go, 1))
				return -1;
			end++;
		}
		if (item->rep == REP_PLUS && ++low > end)
			return 0;
	}
	if (end > low)
		push_choice(go, item, end, low);
	*at = end;
	return 1;
}

static int step_balance(struct matcher *go, const struct item *item, size_t *at)
{
	size_t depth = 1, k = *at;

	if (k >= go->length || go->s[k] != item->c)
		return 0;
	while (++k < go->length) {
		if (!use_up(go, 1))
			return -1;
		if (go->s[k] == item->d) {
			if (!--depth) {
				*at = k + 1;
				return 1;
			}
		} else if (go->s[k] == item->c) {
			depth++;
		}
	}
	return 0;
}

static int step_back(struct matcher *go, const struct item *item, size_t *at)
{
	size_t start = go->m->capture[item->index].start, length = go->m->capture[item->index].length;

	/* A position has no text: Lua finds that such a reference never matches. */
	if (length == SL_CAPTURE_POSITION || length > go->length - *at)
		return 0;
	if (!use_up(go, length / 16 + 1))
		return -1;
	if (memcmp(go->s + start, go->s + *at, length))
		return 0;
	*at += length;
	return 1;
}

static int take_step(struct matcher *go, const struct item *item, size_t *at)
{
	struct sl_match *m = go->m;
	unsigned char before, here;

	switch (item->op) {
	case OP_OPEN:
		m->capture[item->index].start = *at;
		return 1;
	case OP_POSITION:
		m->capture[item->index].start = *at;
		m->capture[item->index].length = SL_CAPTURE_POSITION;
		return 1;
	case OP_CLOSE:
		m->capture[item->index].length = *at - m->capture[item->index].start;
		return 1;
	case OP_BACK:
		return step_back(go, item, at);
	case OP_BALANCE:
		return step_balance(go, item, at);
	case OP_FRONTIER:
		before = *at ? go->s[*at - 1] : 0;
		here = *at < go->length ? go->s[*at] : 0;
		return !set_has(&go->p->set[item->index], before) && set_has(&go->p->set[item->index], here);
	case OP_TAIL:
		return *at == go->length;
	default:
		return step_single(go, item, at);
	}
}

/* Back to the newest alternative: the item to go on with, or NULL.  What was
 * captured before it still holds, what comes after is captured anew. */
static const struct item *step_back_track(struct matcher *go, size_t *at)
{
	while (go->choices) {
		struct choice *choice = &go->p->stack[go->choices - 1];

		if (choice->item->rep == REP_LAZY) {
			if (matches_one(go, choice->item, choice->at)) {
				*at = ++choice->at;
				return choice->item + 1;
			}
			go->choices--;
		} else {
			*at = --choice->at;
			if (choice->at == choice->low)
				go->choices--;
			return choice->item + 1;
		}
	}
	return NULL;
}

/* Does it match from here?  1, 0 or -1. */
static int match_at(struct matcher *go, size_t at)
{
	const struct item *item = go->p->item;
	int r;

	go->choices = 0;
	go->m->start = at;
	while (item->op != OP_DONE) {
		if (!use_up(go, 1))
			return -1;
		r = take_step(go, item, &at);
		if (r < 0)
			return -1;
		item = r ? item + 1 : step_back_track(go, &at);
		if (!item)
			return 0;
	}
	go->m->end = at;
	return 1;
}

int sl_pattern_match(struct sl_pattern *p, const char *subject, size_t length, size_t init, bool only_here,
		     const volatile sig_atomic_t *stop, struct sl_match *m)
{
	struct matcher go = { .p = p, .s = (const unsigned char *) subject, .length = length,
			      .stop = stop, .fuel = FUEL, .m = m };
	int r;

	m->captures = p->captures;
	for (size_t at = init; at <= length; at++) {
		r = match_at(&go, at);
		if (r)
			return r;
		if (p->anchored || only_here)
			break;
	}
	return 0;
}
