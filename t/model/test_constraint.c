/* SPDX-License-Identifier: MIT */
/* Constraints: what can be placed by, and which nodes satisfy it; as valid_feature_counts() of slurmctld reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/constraint.h"

static void what_can_be_placed_by(void **state)
{
	static const struct {
		const char *constraint;
		enum sl_constraint is;
		uint32_t choices;
	} known[] = {
		{ "", SL_CONSTRAINT_PLACED, 1 },
		{ "a", SL_CONSTRAINT_PLACED, 1 },
		{ "a&b|c,d", SL_CONSTRAINT_PLACED, 1 },
		{ "(a|b)&(c&d)|e", SL_CONSTRAINT_PLACED, 1 },
		{ "(a)", SL_CONSTRAINT_PLACED, 1 },
		{ "[a|b|c]", SL_CONSTRAINT_PLACED, 3 },
		{ "[a]&b", SL_CONSTRAINT_PLACED, 1 },
		{ "(a|b)&[c|d]&e|f", SL_CONSTRAINT_PLACED, 2 },
		{ "[a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p]", SL_CONSTRAINT_PLACED, 16 },
		{ "[a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q]", SL_CONSTRAINT_OTHER, 1 },
		{ "a*2", SL_CONSTRAINT_COUNTED, 1 },
		{ "(a|b&c)*2", SL_CONSTRAINT_COUNTED, 1 },
		{ "[a*1&b*2]", SL_CONSTRAINT_COUNTED, 2 },
		{ "[a*1,(b,c)*2]", SL_CONSTRAINT_COUNTED, 2 },
		{ "[a*2]", SL_CONSTRAINT_COUNTED, 1 },
		{ "[a*1&b*1&c*1&d*1&e*1&f*1&g*1&h*1]", SL_CONSTRAINT_COUNTED, 8 },
		{ "[a*1&b*1&c*1&d*1&e*1&f*1&g*1&h*1&i*1]", SL_CONSTRAINT_OTHER, 1 },
		{ "a*2&b*3", SL_CONSTRAINT_OTHER, 1 },
		{ "[a*2&b]", SL_CONSTRAINT_OTHER, 1 },
		{ "[a*2|b*1]", SL_CONSTRAINT_OTHER, 1 },
		{ "[a*2]&b", SL_CONSTRAINT_COUNTED, 1 },
		{ "(a*2&b)", SL_CONSTRAINT_OTHER, 1 },
		{ "[a*2&((b))*1]", SL_CONSTRAINT_OTHER, 1 },
		{ "a*2b", SL_CONSTRAINT_OTHER, 1 },
		{ "*2", SL_CONSTRAINT_OTHER, 1 },
		{ "a*", SL_CONSTRAINT_NO_COUNT, 1 },
		{ "a*0", SL_CONSTRAINT_NO_COUNT, 1 },
		{ "[a*1&b*-1]", SL_CONSTRAINT_NO_COUNT, 1 },
		{ "a*9999999999", SL_CONSTRAINT_NO_COUNT, 1 },
		{ "[a*2&b*1", SL_CONSTRAINT_BROKEN, 1 },
		{ "!a", SL_CONSTRAINT_OTHER, 1 },
		{ "a&!b", SL_CONSTRAINT_OTHER, 1 },
		{ "a||b", SL_CONSTRAINT_OTHER, 1 },
		{ "&a", SL_CONSTRAINT_OTHER, 1 },
		{ "a&", SL_CONSTRAINT_OTHER, 1 },
		{ "a(b)", SL_CONSTRAINT_OTHER, 1 },
		{ "(a)b", SL_CONSTRAINT_OTHER, 1 },
		{ "()", SL_CONSTRAINT_OTHER, 1 },
		{ "[]", SL_CONSTRAINT_OTHER, 1 },
		{ "((a))", SL_CONSTRAINT_OTHER, 1 },
		{ "(((((a)))))", SL_CONSTRAINT_OTHER, 1 },
		{ "([a|b])", SL_CONSTRAINT_OTHER, 1 },
		{ "[(a&b)|c]", SL_CONSTRAINT_OTHER, 1 },
		{ "a|[b|c]", SL_CONSTRAINT_OTHER, 1 },
		{ "[a|b]|c", SL_CONSTRAINT_OTHER, 1 },
		{ "[a|b]&[c|d]", SL_CONSTRAINT_OTHER, 1 },
		{ "a*2&b", SL_CONSTRAINT_COUNTED, 1 },
		{ "(a|b)&c,d*3", SL_CONSTRAINT_COUNTED, 1 },
		{ "a&[b*1&c*1]", SL_CONSTRAINT_COUNTED, 2 },
		{ "[b*1&c*1]&a", SL_CONSTRAINT_COUNTED, 2 },
		{ "a|b*2", SL_CONSTRAINT_OTHER, 1 },
		{ "[a*1&b]", SL_CONSTRAINT_OTHER, 1 },
		{ "a*1&[b*1&c*1]", SL_CONSTRAINT_OTHER, 1 },
		{ "[b*1&c*1]&a*1", SL_CONSTRAINT_OTHER, 1 },
		{ "[a*1]&[b*1]", SL_CONSTRAINT_OTHER, 1 },
		{ "[a|b", SL_CONSTRAINT_BROKEN, 1 },
		{ "a]", SL_CONSTRAINT_BROKEN, 1 },
		{ "(a", SL_CONSTRAINT_BROKEN, 1 },
		{ "a)(b", SL_CONSTRAINT_BROKEN, 1 },
		{ "([a)]", SL_CONSTRAINT_BROKEN, 1 },
	};
	uint32_t choices;

	(void) state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (sl_constraint_read(known[i].constraint, &choices) != known[i].is || choices != known[i].choices)
			fail_msg("%s: %u, %u choices", known[i].constraint,
				 (unsigned) sl_constraint_read(known[i].constraint, &choices), choices);
	}
}

static void who_satisfies_it(void **state)
{
	static const struct {
		const char *constraint;
		uint32_t choice;
		const char *yes, *no;
	} known[] = {
		{ "a", 0, "a", "ab" },
		{ "a&b", 0, "b,a", "a" },
		{ "a,b", 0, "b,a", "b" },
		{ "a|b", 0, "b", "c" },
		{ "a|b&c", 0, "a,c", "a" },		/* (a|b)&c */
		{ "a&b|c", 0, "c", "b" },
		{ "a|(b&c)", 0, "a", "b" },
		{ "(a|b)&(c|d)", 0, "b,c", "a,b" },
		{ "(a&b)|(c&d)", 0, "c,d", "a,d" },
		{ "(a&b)|c&d", 0, "a,b,d", "a,b,c" },
		{ "[a|b]", 0, "a", "b" },
		{ "[a|b]", 1, "b", "a" },
		{ "c&[a|b]", 1, "b,c", "b" },
		{ "[a|b]&c", 0, "a,c", "b,c" },
		{ "[a|b]&c|d", 0, "a,d", "c,d" },	/* the list binds all of it */
		{ "a*2", 0, "a", "b" },
		{ "(a&b)*2", 0, "b,a", "a" },
		{ "[a*1&(b|c)*12]", 0, "a", "b" },
		{ "[a*1&(b|c)*12]", 1, "c", "a" },
		{ "d&(a&b)*2", 0, "b,a", "a,d" },
		{ "d&[a*1&b*1]", 1, "b", "a,d" },
	};

	(void) state;
	assert_int_equal(sl_constraint_count("[a*1&(b|c)*12]", 0), 1);
	assert_int_equal(sl_constraint_count("[a*1&(b|c)*12]", 1), 12);
	assert_true(sl_constraint_holds("", 0, ""));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *constraint = known[i].constraint;

		if (!sl_constraint_holds(constraint, known[i].choice, known[i].yes))
			fail_msg("%s: not %s", constraint, known[i].yes);
		if (sl_constraint_holds(constraint, known[i].choice, known[i].no))
			fail_msg("%s: %s", constraint, known[i].no);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_placed_by),
		cmocka_unit_test(who_satisfies_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
