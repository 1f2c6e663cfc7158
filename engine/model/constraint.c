/* SPDX-License-Identifier: MIT */
/* constraint.c - see constraint.h */
#include "model/constraint.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#define JOINTS "&|,"
#define NO_NAME "&|,()[]*!"

/* -- parsing ----------------------------------------------------------------- */

/* True if brackets and parentheses match and nest properly. */
static bool is_balanced(const char *at)
{
	char open[2];
	size_t depth = 0;

	for (; *at; at++) {
		if (strchr("([", *at)) {
			if (depth == sizeof(open))	/* nested deeper than Slurm supports */
				return true;
			open[depth++] = *at == '(' ? ')' : ']';
		} else if (strchr(")]", *at) && (!depth || open[--depth] != *at)) {
			return false;
		}
	}
	return !depth;
}

struct shape {
	bool in_paren, in_list, had_list;
	char joint;		/* the last joint read; 0: none yet */
	uint32_t choices;
};

/* Read what may open before a name; false: not a form that can be placed. */
static bool read_opening(struct shape *s, const char **at)
{
	if (**at == '(') {
		if (s->in_paren || s->in_list)
			return false;
		s->in_paren = true;
		++*at;
	} else if (**at == '[') {
		if (s->in_paren || s->had_list || s->joint == '|')
			return false;
		s->in_list = s->had_list = true;
		++*at;
	}
	return true;
}

/* Read what may close after a name, and the joint; false: likewise. */
static bool read_closing(struct shape *s, const char **at)
{
	bool was_list = s->in_list && **at == ']';

	if (was_list || (s->in_paren && **at == ')')) {
		s->in_list = s->in_paren = false;
		++*at;
	}
	if (!**at)
		return !s->in_list && !s->in_paren;
	if (!strchr(JOINTS, **at) || (s->in_list && **at != '|') || (was_list && **at == '|'))
		return false;
	s->choices += s->in_list;
	s->joint = *(*at)++;
	return s->choices <= SL_CONSTRAINT_CHOICES;
}

/* -- counts ---------------------------------------------------------------- */

/* True if all counts are numbers >= 1. */
static bool has_good_counts(const char *at)
{
	while ((at = strchr(at, '*'))) {
		size_t digits = strspn(++at, "0123456789");

		if (!digits || digits > 9 || !strtoul(at, NULL, 10))
			return false;
	}
	return true;
}

/* Skip the name or parenthesis at *at*; returns what follows, NULL if there is none. */
static const char *skip_term(const char *at)
{
	bool inside = *at == '(';
	size_t n;

	at += inside;
	while ((n = strcspn(at, NO_NAME)) && inside && strchr(JOINTS, at[n]) && at[n])
		at += n + 1;
	if (!n || (inside && at[n] != ')'))
		return NULL;
	return at + n + inside;
}

struct counts {
	const char *term[SL_CONSTRAINT_TERMS];	/* begins of the terms that have a count */
	uint32_t terms;
};

/* True if the constraint has counts.  Slurm ignores terms without a count that are joined to them. */
static bool read_counts(const char *at, struct counts *c)
{
	bool inside = false, had_list = false;

	c->terms = 0;
	for (;; at++) {
		const char *name;

		if (*at == '[') {
			if (had_list || c->terms)
				return false;
			inside = had_list = true;
			at++;
		}
		name = at;
		at = skip_term(at);
		if (!at || (inside && *at != '*'))
			return false;
		if (*at == '*') {
			if ((c->terms || had_list) && (!inside || c->terms == SL_CONSTRAINT_TERMS))
				return false;
			c->term[c->terms++] = name;
			at += 1 + strspn(at + 1, "0123456789");
		}
		if (inside && *at == ']') {
			inside = false;
			at++;
		}
		if (!*at)
			return c->terms && !inside;
		if (*at != '&' && *at != ',')
			return false;
	}
}

uint32_t sl_constraint_count(const char *constraint, uint32_t n)
{
	struct counts c;

	return read_counts(constraint, &c) && n < c.terms ? (uint32_t) strtoul(skip_term(c.term[n]) + 1, NULL, 10) : 0;
}

/* -- the whole constraint ------------------------------------------------------ */

enum sl_constraint sl_constraint_read(const char *constraint, uint32_t *choices)
{
	struct shape s = { .choices = 1 };
	const char *at = constraint;
	struct counts counts;

	*choices = 1;
	if (!*at)
		return SL_CONSTRAINT_PLACED;
	if (!is_balanced(at))
		return SL_CONSTRAINT_BROKEN;
	if (!has_good_counts(at))
		return SL_CONSTRAINT_NO_COUNT;
	if (read_counts(at, &counts)) {
		*choices = counts.terms;
		return SL_CONSTRAINT_COUNTED;
	}
	do {
		size_t n;

		if (!read_opening(&s, &at) || !(n = strcspn(at, NO_NAME)))
			return SL_CONSTRAINT_OTHER;
		at += n;
		if (!read_closing(&s, &at))
			return SL_CONSTRAINT_OTHER;
	} while (*at || strchr(JOINTS, at[-1]));
	*choices = s.choices;
	return SL_CONSTRAINT_PLACED;
}

/* -- evaluation --------------------------------------------------------------- */

struct reading {
	const char *at;
	const struct sl_feature_bits *bits;
	uint32_t choice;
	uint64_t *chosen;	/* bit per set of features: it has the chosen feature of the list */
};

static void fill(uint64_t *out, const uint64_t *bits, uint32_t words)
{
	if (bits)
		memcpy(out, bits, words * sizeof(*out));
	else
		memset(out, 0, words * sizeof(*out));
}

/* *out |= *bits if *any*, else *out &= *bits; bits NULL: the empty set. */
static void join(uint64_t *out, const uint64_t *bits, bool any, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		out[i] = any ? out[i] | (bits ? bits[i] : 0) : out[i] & (bits ? bits[i] : 0);
}

static const uint64_t *read_name(struct reading *r)
{
	size_t n = strcspn(r->at, NO_NAME);
	const uint64_t *bits = r->bits->having(r->bits->arg, r->at, n);

	r->at += n;
	return bits;
}

/* The list stands for "true" at its position: it applies to the whole constraint. */
static void read_list(struct reading *r)
{
	for (uint32_t i = 0; *r->at && *r->at != ']'; i++) {
		const uint64_t *bits;

		r->at++;
		bits = read_name(r);
		if (i == r->choice)
			fill(r->chosen, bits, r->bits->words);
	}
	r->at += *r->at != 0;
}

/* Evaluate names and joints up to the next other character. */
static void read_names(struct reading *r, uint64_t *out)
{
	bool any = false;

	memset(out, 0xff, r->bits->words * sizeof(*out));
	for (;;) {
		join(out, read_name(r), any, r->bits->words);
		if (!*r->at || !strchr(JOINTS, *r->at))
			return;
		any = *r->at++ == '|';
	}
}

static const uint64_t *read_parenthesis(struct reading *r, uint64_t *room)
{
	r->at++;
	read_names(r, room);
	r->at += *r->at == ')';
	return room;
}

void sl_constraint_mark(const char *constraint, uint32_t choice, const struct sl_feature_bits *bits, uint64_t *out)
{
	uint64_t *inner = out + bits->words;
	struct reading r = { .at = constraint, .bits = bits, .choice = choice, .chosen = inner + bits->words };
	struct counts counts;
	bool any = false;

	memset(out, 0xff, bits->words * sizeof(*out));
	memset(r.chosen, 0xff, bits->words * sizeof(*out));
	if (read_counts(constraint, &counts) && choice < counts.terms) {
		r.at = counts.term[choice];
		fill(out, *r.at == '(' ? read_parenthesis(&r, inner) : read_name(&r), bits->words);
		return;
	}
	while (*r.at) {
		if (*r.at == '[')
			read_list(&r);
		else
			join(out, *r.at == '(' ? read_parenthesis(&r, inner) : read_name(&r), any, bits->words);
		if (!*r.at || !strchr(JOINTS, *r.at))
			break;
		any = *r.at++ == '|';
	}
	join(out, r.chosen, false, bits->words);
}

static const uint64_t *has_feature(void *features, const char *name, size_t length)
{
	static const uint64_t yes = 1;

	return sl_list_has(features, ",", name, length) ? &yes : NULL;
}

bool sl_constraint_holds(const char *constraint, uint32_t choice, const char *features)
{
	struct sl_feature_bits one = { .words = 1, .having = has_feature, .arg = (void *) features };
	uint64_t work[SL_CONSTRAINT_WORK];

	sl_constraint_mark(constraint, choice, &one, work);
	return work[0] & 1;
}
