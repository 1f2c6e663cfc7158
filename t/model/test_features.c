/* SPDX-License-Identifier: MIT */
/* Who satisfies a constraint: the same nodes as when each is asked by itself, at a cost that does not depend on how they lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/features.h"
#include "t/build.h"

/* "f3,f0", or nothing. */
static uint32_t random_features(struct build *b, uint64_t *seed, uint32_t names)
{
	char text[256] = "";

	for (uint32_t i = build_below(seed, 4); i; i--)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sf%u", *text ? "," : "",
			 build_below(seed, names));
	return sl_builder_str(b->builder, text);
}

/* A job that asks for it; strings are found by the rows that have them. */
static void ask_for(struct build *b, uint32_t id, const char *constraint)
{
	struct sl_job_row row = build_row(b, (struct build_job) { .id = id });

	row.features = sl_builder_str(b->builder, constraint);
	build_append(b, &row);
}

static void give_features(struct build *b, uint32_t node, uint32_t str)
{
	build_change(b, SL_T_NODE, node, sl_node_row, .features = str);
}

/* A name, or some in parentheses. */
static void put_term(char *text, size_t size, uint64_t *seed, uint32_t names)
{
	uint32_t more = build_below(seed, 5) ? 0 : 1 + build_below(seed, 3);

	snprintf(text + strlen(text), size - strlen(text), "%sf%u", more ? "(" : "", build_below(seed, names));
	for (uint32_t i = 0; i < more; i++)
		snprintf(text + strlen(text), size - strlen(text), "%cf%u", "&|"[build_below(seed, 2)],
			 build_below(seed, names));
	if (more)
		strcat(text, ")");
}

static void put_list(char *text, size_t size, uint64_t *seed, uint32_t names)
{
	uint32_t choices = 1 + build_below(seed, SL_CONSTRAINT_CHOICES);

	for (uint32_t i = 0; i < choices; i++)
		snprintf(text + strlen(text), size - strlen(text), "%cf%u", i ? '|' : '[', build_below(seed, names));
	strcat(text, "]");
}

static void put_counts(char *text, size_t size, uint64_t *seed, uint32_t names)
{
	uint32_t terms = 1 + build_below(seed, SL_CONSTRAINT_TERMS);

	strcat(text, "[");
	for (uint32_t i = 0; i < terms; i++) {
		strcat(text, i ? "&" : "");
		put_term(text, size, seed, names);
		snprintf(text + strlen(text), size - strlen(text), "*%u", 1 + build_below(seed, 9));
	}
	strcat(text, "]");
}

static void random_constraint(char *text, size_t size, uint64_t *seed, uint32_t names)
{
	uint32_t terms = 1 + build_below(seed, 6), kind = build_below(seed, 3);

	*text = 0;
	if (kind == 0) {
		put_counts(text, size, seed, names);
		return;
	}
	for (uint32_t i = 0; i < terms; i++) {
		if (i)
			strcat(text, build_below(seed, 2) ? "&" : "|");
		put_term(text, size, seed, names);
	}
	if (kind == 1) {
		strcat(text, "&");
		put_list(text, size, seed, names);
	}
}

static void assert_same_as_each_node(const struct sl_snapshot *snap, struct sl_features *f, uint32_t constraint, uint64_t seed)
{
	const char *text = sl_snapshot_str(snap, constraint);
	struct sl_constraint_says says = sl_features_says(f, constraint);
	uint32_t choices;

	assert_int_equal(says.kind, sl_constraint_read(text, &choices));
	assert_int_equal(says.choices, choices);
	for (uint32_t choice = 0; choice < choices; choice++) {
		struct sl_error err = { 0 };
		const struct sl_nodeset *nodes = sl_features_nodes(f, constraint, choice, &err);

		if (!nodes)
			fail_msg("%s", err.text);
		assert_int_equal(says.count[choice < SL_CONSTRAINT_TERMS ? choice : 0],
				 sl_constraint_count(text, choice < SL_CONSTRAINT_TERMS ? choice : 0));
		for (uint32_t n = 0; n < snap->node.rows; n++)
			if (sl_nodeset_contains(nodes, n) !=
			    sl_constraint_holds(text, choice, sl_snapshot_str(snap, snap->node.features[n])))
				fail_msg("seed %llu: %s, choice %u, node %u with %s", (unsigned long long) seed, text, choice, n,
					 sl_snapshot_str(snap, snap->node.features[n]));
	}
}

static void a_constraint_has_the_nodes_that_satisfy_it_one_by_one(void **state)
{
	(void) state;
	for (uint64_t round = 1; round <= 60; round++) {
		uint64_t seed = round;
		uint32_t names = 2 + build_below(&seed, 100);
		struct build *b = build_create(build_below(&seed, 2) ? "150x1c" : "7x1c");
		const struct sl_snapshot *snap;
		struct sl_features *f;
		char text[1024];

		for (uint32_t n = 0; n < b->nodes; n++)
			give_features(b, n, random_features(b, &seed, names));
		for (uint32_t i = 0; i < 20; i++) {
			random_constraint(text, sizeof(text), &seed, names);
			ask_for(b, i + 1, text);
		}
		snap = build_open(b);
		f = sl_features_create(snap, NULL, NULL);
		for (uint32_t i = 0; i < 20; i++)
			assert_same_as_each_node(snap, f, snap->job.features[i], round);
		sl_features_destroy(f);
		build_destroy(b);
	}
}

static void what_nobody_can_place_by_has_no_nodes(void **state)
{
	struct build *b = build_create("2x1c");
	const struct sl_snapshot *snap;
	struct sl_features *f;
	struct sl_error err;

	(void) state;
	ask_for(b, 1, "!a");
	ask_for(b, 2, "a");
	snap = build_open(b);
	f = sl_features_create(snap, NULL, NULL);
	assert_null(sl_features_nodes(f, snap->job.features[0], 0, &err));
	assert_int_equal(err.code, SL_EINVAL);
	assert_null(sl_features_nodes(f, snap->job.features[1], 1, &err));
	assert_int_equal(err.code, SL_EINVAL);
	sl_features_destroy(f);
	build_destroy(b);
}

/* 1,023 bytes of names in 16 choices. */
static void ask_for_longest(struct build *b)
{
	char text[1024] = "";

	while (strlen(text) < 900)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "f%u|", (unsigned) (strlen(text) % 50));
	text[strlen(text) - 1] = 0;
	strcat(text, "&");
	for (uint32_t i = 0; i < 16; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%cf%u", i ? '|' : '[', i);
	strcat(text, "]");
	ask_for(b, 1, text);
}

/* Units for all choices of the longest constraint, on nodes of which *distinct* sets of features take turns. */
static uint64_t cost_on(uint32_t distinct)
{
	struct build *b = build_create("3000x1c");
	struct sl_effort effort = { 0 };
	const struct sl_snapshot *snap;
	struct sl_features *f;

	for (uint32_t n = 0; n < b->nodes; n++) {
		char text[64];

		snprintf(text, sizeof(text), "f%u,own%u", n % distinct % 50, n % distinct);
		give_features(b, n, sl_builder_str(b->builder, text));
	}
	ask_for_longest(b);
	snap = build_open(b);
	f = sl_features_create(snap, &effort, NULL);
	for (uint32_t choice = 0; choice < 16; choice++)
		assert_non_null(sl_features_nodes(f, snap->job.features[0], choice, NULL));
	sl_features_destroy(f);
	build_destroy(b);
	return effort.spent;
}

static void the_longest_constraint_costs_a_few_steps_for_each_node(void **state)
{
	(void) state;
	/* 16 choices of some 300 names on 3,000 nodes are 14 million names looked at, node by node */
	assert_in_range(cost_on(2), 1, 40 * 3000);
	assert_in_range(cost_on(50), 1, 40 * 3000);
	assert_in_range(cost_on(3000), 1, 150 * 3000);
}

static void a_limit_ends_it(void **state)
{
	struct build *b = build_create("100x1c");
	struct sl_effort effort = { .limit = 5 };
	const struct sl_snapshot *snap;
	struct sl_features *f;
	struct sl_error err;

	(void) state;
	for (uint32_t n = 0; n < 100; n += 2)
		give_features(b, n, sl_builder_str(b->builder, "a"));
	ask_for(b, 1, "a|b");
	snap = build_open(b);
	f = sl_features_create(snap, &effort, NULL);
	assert_null(sl_features_nodes(f, snap->job.features[0], 0, &err));
	assert_int_equal(err.code, SL_EEFFORT);
	effort.limit = 0;
	assert_non_null(sl_features_nodes(f, snap->job.features[0], 0, &err));
	sl_features_destroy(f);
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_constraint_has_the_nodes_that_satisfy_it_one_by_one),
		cmocka_unit_test(what_nobody_can_place_by_has_no_nodes),
		cmocka_unit_test(the_longest_constraint_costs_a_few_steps_for_each_node),
		cmocka_unit_test(a_limit_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
