/* SPDX-License-Identifier: MIT */
/*
 * check/features.c - whether the nodes of a job have the features that it asks for.
 *
 * A constraint is evaluated once for each distinct feature set of the nodes and each choice in its brackets.  A constraint
 * that cannot be evaluated is left to select and not checked.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *at, *have;		/* constraint; features of the node */
	uint32_t choice, choices;	/* index of the choice in brackets; number of choices */
	bool chosen;			/* the node has the chosen feature; true without brackets */
	bool inside, bad;		/* inside parentheses; syntax error */
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

/* Parse "[a|b]", from the bracket on. */
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

/* Evaluate terms from left to right; a list in brackets applies to the whole. */
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

/* True if the features satisfy the constraint; *of: number of choices, 0: it cannot be parsed. */
static bool satisfies(const char *have, const char *want, uint32_t choice, uint32_t *of)
{
	struct reader r = { .at = want, .have = have, .choice = choice, .chosen = true };
	bool all = !*want || read_terms(&r);

	r.bad |= *r.at != '\0';
	*of = r.bad ? 0 : r.choices ? r.choices : 1;
	return all && r.chosen && !r.bad;
}

/* -- counts ---------------------------------------------------------------- */

#define TERMS 8

struct term {
	const char *at;
	uint32_t count;
};

/* True if the features satisfy the term at *at; *end is its "*", NULL: it cannot be parsed. */
static bool satisfies_term(const char *have, const char *at, const char **end)
{
	struct reader r = { .at = at, .have = have };
	bool had = read_term(&r);

	*end = r.bad || *r.at != '*' ? NULL : r.at;
	return had;
}

/* Parse "a*2", "[a*2&(b|c)*1]", and what is joined to it by "&" without a count.  Returns the number of terms with a
 * count; 0: another form. */
static uint32_t read_counts(const char *want, struct term term[TERMS])
{
	uint32_t terms = 0, lists = 0, outside = 0;
	bool list = false;

	for (const char *at = want, *end;; at++) {
		struct reader r = { .have = "" };
		size_t digits;

		if (*at == '[') {
			list = true;
			lists++;
			at++;
		}
		r.at = at;
		read_term(&r);
		if (r.bad)
			return 0;
		satisfies_term("", at, &end);
		if (end) {
			digits = strspn(end + 1, "0123456789");
			if (terms == TERMS || !digits || digits > 9)
				return 0;
			term[terms] = (struct term) { at, (uint32_t) strtoul(end + 1, NULL, 10) };
			if (!term[terms++].count)
				return 0;
			outside += !list;
			r.at = end + 1 + digits;
		} else if (list) {
			return 0;
		}
		at = r.at;
		if (list && *at == ']') {
			list = false;
			at++;
		}
		if (!*at)
			return list || lists + outside != 1 ? 0 : terms;
		if (*at != '&' && *at != ',')
			return 0;
	}
}

/* True if the constraint has counts of the kind that the engine places (check.h, "Features"). */
static bool is_counted(const struct check *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	struct term term[TERMS];

	return read_counts(check_str(c, job->features[j]), term) && !*check_str(c, job->prefer[j]) &&
		!job->req_nodes[j].count && !job->switches[j] && !(job->flags[j] & SL_JOBF_CONTIGUOUS);
}

uint32_t check_counted_nodes(const struct check *c, uint32_t j)
{
	struct term term[TERMS];
	uint32_t terms = read_counts(check_str(c, c->snap->job.features[j]), term);
	uint64_t nodes = 0;

	while (terms)
		nodes += term[--terms].count;
	return nodes < UINT32_MAX ? (uint32_t) nodes : UINT32_MAX;
}

/* Bits: the terms that these features satisfy. */
static uint32_t satisfied(const char *have, const struct term *term, uint32_t terms)
{
	uint32_t set = 0;
	const char *end;

	for (uint32_t t = 0; t < terms; t++)
		set |= (uint32_t) satisfies_term(have, term[t].at, &end) << t;
	return set;
}

/* For every subset of terms, the nodes that satisfy one of them must be at least as many as the terms ask for.  Then each
 * node can be assigned to one term (Hall's marriage theorem).  With several terms, every node must satisfy one. */
static int check_counts(struct check *c, const struct row *r)
{
	const uint32_t *node = &c->plan->place.node[r->places.first];
	const char *want = check_str(c, c->snap->job.features[r->job]);
	uint32_t nodes[1u << TERMS] = { 0 };	/* [satisfied terms] number of nodes */
	struct term term[TERMS];
	uint32_t terms = read_counts(want, term), set = 0;

	for (uint32_t i = 0; i < r->places.count; i++) {
		const uint32_t *features = c->snap->node.features;

		if (!i || features[node[i]] != features[node[i - 1]])
			set = satisfied(check_str(c, features[node[i]]), term, terms);
		nodes[set]++;
	}
	for (set = 1; set < 1u << terms; set++) {
		uint64_t needs = 0, has = 0;

		for (uint32_t t = 0; t < terms; t++)
			needs += set >> t & 1 ? term[t].count : 0;
		for (uint32_t some = 1; some < 1u << terms; some++)
			has += some & set ? nodes[some] : 0;
		if (has < needs)
			return check_fail(c, r, "has %" PRIu64 " of %" PRIu64 " nodes with features, needs %s", has, needs,
					  want);
	}
	if (terms > 1 && nodes[0])
		return check_fail(c, r, "has %" PRIu32 " nodes with no feature that is counted, needs %s", nodes[0], want);
	return 0;
}

/* -- cache ------------------------------------------------------------------- */

/* Answers for feature sets, kept while one job is checked: most nodes have equal features, a constraint may have a
 * thousand bytes, and a job ten thousand nodes. */
#define ANSWERS 256

struct answers {
	struct {
		uint32_t str;
		bool known, yes;
	} of[ANSWERS];
};

static bool node_satisfies(const struct check *c, uint32_t n, const char *want, uint32_t choice, uint32_t *choices,
			   struct answers *kept)
{
	uint32_t str = c->snap->node.features[n], at = str % ANSWERS;

	if (!kept->of[at].known || kept->of[at].str != str) {
		kept->of[at].yes = satisfies(check_str(c, str), want, choice, choices);
		kept->of[at].known = true;
		kept->of[at].str = str;
	}
	return kept->of[at].yes;
}

/* -- constraint and preference ------------------------------------------------- */

/* True if the checker can tell from the constraint and the preference which nodes satisfy them. */
static bool reads_features(const struct check *c, uint32_t j)
{
	uint32_t choices, prefer;

	satisfies("", check_str(c, c->snap->job.features[j]), 0, &choices);
	satisfies("", check_str(c, c->snap->job.prefer[j]), 0, &prefer);
	return choices && prefer;
}

/* True if all nodes of the job satisfy the constraint with the same choice; *at: a node that does not. */
static bool have_features(const struct check *c, const struct row *r, const char *want, uint32_t *at)
{
	const uint32_t *node = &c->plan->place.node[r->places.first];
	uint32_t choices = 1, i = 0;

	for (uint32_t choice = 0; choice < choices; choice++) {
		struct answers kept = { 0 };

		for (i = 0; i < r->places.count; i++)
			if (!node_satisfies(c, node[i], want, choice, &choices, &kept))
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

	if (is_counted(c, r->job))
		return check_counts(c, r);
	if (!reads_features(c, r->job))
		return check_fail(c, r, "its nodes cannot be checked against its constraint \"%s\"", want);
	if ((*prefer && have_features(c, r, prefer, &at)) || have_features(c, r, want, &at))
		return 0;
	return check_fail_at(c, r, at, "has features %s, needs %s", check_str(c, c->snap->node.features[at]), want);
}

bool check_may_satisfy(const struct check *c, uint32_t j, uint32_t node)
{
	const char *have = check_str(c, c->snap->node.features[node]), *want = check_str(c, c->snap->job.features[j]);
	const char *prefer = check_str(c, c->snap->job.prefer[j]);
	uint32_t choices = 1, any;

	if (is_counted(c, j) || !reads_features(c, j) || (*prefer && satisfies(have, prefer, 0, &any)))
		return true;
	for (uint32_t choice = 0; choice < choices; choice++)
		if (satisfies(have, want, choice, &choices))
			return true;
	return *prefer && any > 1;
}
