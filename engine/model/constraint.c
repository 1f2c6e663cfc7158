/* SPDX-License-Identifier: MIT */
/* constraint.c - see constraint.h */
#include "model/constraint.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#define JOINTS "&|,"
#define NO_NAME "&|,()[]*!"
#define MOST_TERMS 8
#define MOST_CHOICES 16	/* each is tried; where there are more, select chooses */

/* -- what it is ----------------------------------------------------------- */

/* Each bracket and parenthesis is closed, the last one first. */
static bool is_balanced(const char *at)
{
	char open[2];
	size_t depth = 0;

	for (; *at; at++) {
		if (strchr("([", *at)) {
			if (depth == sizeof(open))	/* deeper than Slurm reads */
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
	char joint;		/* that came last; 0: none yet */
	uint32_t choices;
};

/* What opens before a name; false: nothing that is placed by. */
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

/* What closes behind a name, and the joint; false as above. */
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
	return s->choices <= MOST_CHOICES;
}

/* -- counts ---------------------------------------------------------------- */

/* Are all counts in it numbers from 1 on? */
static bool has_good_counts(const char *at)
{
	while ((at = strchr(at, '*'))) {
		size_t digits = strspn(++at, "0123456789");

		if (!digits || digits > 9 || !strtoul(at, NULL, 10))
			return false;
	}
	return true;
}

/* From the name or parenthesis at *at on; what is behind it, NULL where it is neither. */
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
	const char *term[MOST_TERMS];	/* where those with a count stand */
	uint32_t terms;
};

/* Is it one with counts?  (At what is joined to them without one Slurm does not look.) */
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
			if ((c->terms || had_list) && (!inside || c->terms == MOST_TERMS))
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

/* -- all of it ------------------------------------------------------------- */

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

/* -- does it hold --------------------------------------------------------- */

struct reading {
	const char *at, *features;
	uint32_t choice;
	bool chosen;		/* the choice of the list holds */
};

static bool read_name(struct reading *r)
{
	size_t n = strcspn(r->at, NO_NAME);
	bool has = sl_list_has(r->features, ",", r->at, n);

	r->at += n;
	return has;
}

/* The list says nothing in its place: it binds the whole. */
static bool read_list(struct reading *r)
{
	for (uint32_t i = 0; *r->at && *r->at != ']'; i++) {
		bool has;

		r->at++;
		has = read_name(r);
		if (i == r->choice)
			r->chosen = has;
	}
	r->at += *r->at != 0;
	return true;
}

static bool read_chain(struct reading *r);

static bool read_parenthesis(struct reading *r)
{
	size_t n = strcspn(r->at, ")");
	struct reading inner = *r;

	inner.at++;
	r->at += n + (r->at[n] != 0);
	return read_chain(&inner);
}

static bool read_chain(struct reading *r)
{
	bool holds = true, any = false;

	for (;;) {
		bool one;

		one = *r->at == '(' ? read_parenthesis(r) : *r->at == '[' ? read_list(r) : read_name(r);
		holds = any ? holds || one : holds && one;
		if (!*r->at || !strchr(JOINTS, *r->at))
			return holds;
		any = *r->at++ == '|';
	}
}

bool sl_constraint_holds(const char *constraint, uint32_t choice, const char *features)
{
	struct reading r = { .at = constraint, .features = features, .choice = choice, .chosen = true };
	struct counts counts;

	if (read_counts(constraint, &counts) && choice < counts.terms) {
		r.at = counts.term[choice];
		return *r.at == '(' ? read_parenthesis(&r) : read_name(&r);
	}
	return !*constraint || (read_chain(&r) && r.chosen);
}
