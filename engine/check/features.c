/* SPDX-License-Identifier: MIT */
/*
 * check/features.c - do the nodes of a job have the features that it asks for?
 *
 * A constraint is read once for each node, and once for each choice in its brackets.  What cannot be
 * read so is select's.
 */
#include "check/private.h"

#include <inttypes.h>
#include <string.h>

struct reader {
	const char *at, *have;		/* the constraint; the features of the node */
	uint32_t choice, choices;	/* in brackets: which one counts, of how many */
	bool chosen;			/* it is had; true without brackets */
	bool inside, bad;		/* parentheses; it cannot be read */
};

static bool read_feature(struct reader *r)
{
	size_t n = strcspn(r->at, "&|,()[]*!"), m;
	const char *f = r->have, *name = r->at;

	r->at += n;
	r->bad |= !n;
	for (; *f; f += m + (f[m] == ',')) {
		m = strcspn(f, ",");
		if (m == n && !memcmp(f, name, n))
			return true;
	}
	return false;
}

/* "[a|b]", from the bracket on. */
static void read_choices(struct reader *r)
{
	r->bad |= r->inside || r->choices;
	do {
		bool had;

		r->at++;
		had = read_feature(r);
		if (r->choices++ == r->choice)
			r->chosen = had;
	} while (!r->bad && *r->at == '|');
	r->bad |= *r->at != ']';
	r->at += !r->bad;
}

static bool read_terms(struct reader *r);

static bool read_term(struct reader *r)
{
	bool had;

	if (*r->at != '(')
		return read_feature(r);
	r->bad |= r->inside;
	r->inside = true;
	r->at++;
	had = !r->bad && read_terms(r);
	r->inside = false;
	r->bad |= *r->at != ')';
	r->at += !r->bad;
	return had;
}

/* One after the other; what is in brackets holds for all. */
static bool read_terms(struct reader *r)
{
	bool had = true;
	char op = '&';

	while (!r->bad) {
		bool list = *r->at == '[', it = true;

		if (list)
			read_choices(r);
		else
			it = read_term(r);
		r->bad |= list && (op == '|' || (!r->bad && *r->at == '|'));
		had = op == '|' ? had || it : had && it;
		if (r->bad || !*r->at || *r->at == ')')
			break;
		op = *r->at++;
		r->bad |= op != '&' && op != ',' && op != '|';
	}
	return had;
}

/* Whether the features satisfy the constraint; *of says how many choices it has, 0: it cannot be read. */
static bool satisfies(const char *have, const char *want, uint32_t choice, uint32_t *of)
{
	struct reader r = { .at = want, .have = have, .choice = choice, .chosen = true };
	bool all = !*want || read_terms(&r);

	r.bad |= *r.at != '\0';
	*of = r.bad ? 0 : r.choices ? r.choices : 1;
	return all && r.chosen && !r.bad;
}

bool check_reads_features(const char *want)
{
	uint32_t choices;

	satisfies("", want, 0, &choices);
	return choices;
}

/* Whether all of its nodes satisfy the constraint, with the same choice; *at is one of those that do not. */
static bool have_features(const struct check *c, const struct row *r, const char *want, uint32_t *at)
{
	const uint32_t *node = &c->plan->place.node[r->places.first];
	uint32_t choices = 1, i = 0;

	for (uint32_t choice = 0; choice < choices; choice++) {
		for (i = 0; i < r->places.count; i++)
			if (!satisfies(check_str(c, c->snap->node.features[node[i]]), want, choice, &choices))
				break;
		if (i == r->places.count)
			return true;
		*at = node[i];
	}
	return false;
}

int check_features(struct check *c, const struct row *r)
{
	const char *want = check_str(c, c->snap->job.features[r->job]), *prefer = check_str(c, c->snap->job.prefer[r->job]);
	uint32_t at = 0;

	if ((*prefer && have_features(c, r, prefer, &at)) || have_features(c, r, want, &at))
		return 0;
	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has features %s, needs %s", c->snap->job.id[r->job],
		       check_str(c, c->snap->node.name[at]), check_str(c, c->snap->node.features[at]), want);
}
