/* SPDX-License-Identifier: MIT */
/* constraint.c - see constraint.h */
#include "model/constraint.h"

#include <string.h>

#include "base/search.h"

#define JOINTS "&|,"
#define NO_NAME "&|,()[]*!"
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

enum sl_constraint sl_constraint_read(const char *constraint, uint32_t *choices)
{
	struct shape s = { .choices = 1 };
	const char *at = constraint;

	*choices = 1;
	if (!*at)
		return SL_CONSTRAINT_PLACED;
	if (!is_balanced(at))
		return SL_CONSTRAINT_BROKEN;
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

static bool read_chain(struct reading *r)
{
	bool holds = true, any = false;

	for (;;) {
		bool one;

		if (*r->at == '(') {
			size_t n = strcspn(r->at, ")");
			struct reading inner = *r;

			inner.at++;
			one = read_chain(&inner);
			r->at += n + (r->at[n] != 0);
		} else {
			one = *r->at == '[' ? read_list(r) : read_name(r);
		}
		holds = any ? holds || one : holds && one;
		if (!*r->at || !strchr(JOINTS, *r->at))
			return holds;
		any = *r->at++ == '|';
	}
}

bool sl_constraint_holds(const char *constraint, uint32_t choice, const char *features)
{
	struct reading r = { .at = constraint, .features = features, .choice = choice, .chosen = true };

	return !*constraint || (read_chain(&r) && r.chosen);
}
