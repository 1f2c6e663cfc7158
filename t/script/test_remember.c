/* SPDX-License-Identifier: MIT */
/* What policies remember: as rows, as text, and from one decision to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "t/build.h"
#include "bundle/bundle.h"
#include "script/decide.h"
#include "t/random.h"
#include "image/value.h"

/* -- a memory ---------------------------------------------------------------- */

static struct sl_remember *fresh(const char *set)
{
	static const struct sl_image image;
	static const struct sl_remembered_view none;
	struct sl_remember *m = sl_remember_create(NULL);

	assert_non_null(m);
	assert_int_equal(sl_remember_load(m, &image, &none, set, NULL), 0);
	return m;
}

static void put(struct sl_remember *m, const char *group, const char *key, const char *text)
{
	struct sl_error err;

	if (sl_remember_set(m, group, key, text, &err))
		fail_msg("%s/%s: %s", group, key, err.text);
}

static void what_is_remembered_is_there_until_it_is_forgotten(void **state)
{
	struct sl_remember *m = fresh("s");

	(void) state;
	assert_true(sl_remember_empty(m));
	put(m, "b", "x", "1");
	put(m, "a", "x", "2");
	put(m, "a", "w", "3");
	put(m, "ab", "x", "4");
	put(m, "a", "x", "5");
	assert_string_equal(sl_remember_get(m, "a", "x"), "5");
	assert_string_equal(sl_remember_get(m, "b", "x"), "1");
	assert_null(sl_remember_get(m, "b", "w"));
	put(m, "a", "none", NULL);
	put(m, "a", "w", NULL);
	assert_null(sl_remember_get(m, "a", "w"));
	put(m, "a", "y", "6");
	sl_remember_forget(m, "a");
	assert_null(sl_remember_get(m, "a", "x"));
	assert_null(sl_remember_get(m, "a", "y"));
	assert_string_equal(sl_remember_get(m, "ab", "x"), "4");
	sl_remember_forget(m, "a");
	sl_remember_clear(m);
	assert_true(sl_remember_empty(m));
	sl_remember_destroy(m);
	sl_remember_destroy(NULL);
}

static char *text_of(size_t length)
{
	char *text = malloc(length + 1);

	memset(text, 'x', length);
	text[0] = text[length - 1] = '"';
	text[length] = 0;
	return text;
}

static void refuses(struct sl_remember *m, const char *key, const char *text, enum sl_errno code, const char *says)
{
	struct sl_error err;

	assert_int_equal(sl_remember_set(m, "a", key, text, &err), -1);
	assert_int_equal(err.code, code);
	assert_string_equal(err.text, says);
}

static void more_than_the_ceilings_is_refused_and_changes_nothing(void **state)
{
	struct sl_remember *m = fresh("s");
	char *most = text_of(SL_REMEMBERED_VALUE), *more = text_of(SL_REMEMBERED_VALUE + 1);
	char key[66];

	(void) state;
	put(m, "a", "x", "1");
	refuses(m, "x", more, SL_ELIMIT, "the value of 'x' comes to more than 256 KiB");
	refuses(m, "", "1", SL_EINVAL, "key: expected 1 to 64 printable characters");
	refuses(m, "a\nb", "1", SL_EINVAL, "key: expected 1 to 64 printable characters");
	memset(key, 'k', 65);
	key[65] = 0;
	refuses(m, key, "1", SL_EINVAL, "key: expected 1 to 64 printable characters");
	key[64] = 0;
	put(m, "a", key, "1");
	assert_string_equal(sl_remember_get(m, "a", "x"), "1");
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof(key), "v%d", i);
		put(m, "b", key, most);
	}
	refuses(m, "x", most, SL_ELIMIT, "with the value of 'x' more than 1024 KiB would be remembered in all");
	/* one takes the place of another */
	put(m, "b", "v0", "1");
	put(m, "a", "x", most);
	put(m, "a", "x", most);
	put(m, "b", "v1", "1");
	for (int i = 0; i < SL_REMEMBERED_KEYS - 2; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		put(m, "a", key, "1");
	}
	refuses(m, "another", "1", SL_ELIMIT, "'another' would be more than 256 keys");
	put(m, "a", "x", "2");
	put(m, "b", "another", "1");
	free(most);
	free(more);
	sl_remember_destroy(m);
}

/* -- rows ---------------------------------------------------------------------- */

struct row {
	const char *set, *group, *key, *value;
};

/* A plan with these rows: opened, or refused with this text. */
static void open_rows(const struct row *row, unsigned rows, struct sl_remember *m, const char *set, const char *says)
{
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, NULL);
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	struct sl_plan_image plan;
	struct sl_error err;
	const void *bytes;
	size_t size;
	int rc;

	sl_builder_append(b, SL_P_META, &meta);
	for (unsigned i = 0; i < rows; i++) {
		struct sl_remembered_row r = { sl_builder_str(b, row[i].set), sl_builder_str(b, row[i].group),
					       sl_builder_str(b, row[i].key), sl_builder_str(b, row[i].value) };

		sl_builder_append(b, SL_P_REMEMBERED, &r);
	}
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	rc = sl_plan_image_open(&plan, bytes, size, &err);
	if (rc && !says)
		fail_msg("%s", err.text);
	if (says) {
		assert_int_equal(rc, -1);
		assert_string_equal(err.text, says);
	} else {
		assert_int_equal(sl_remember_load(m, &plan.image, &plan.remembered, set, &err), 0);
	}
	sl_builder_destroy(b);
}

static void a_set_has_its_own_rows_and_those_of_any(void **state)
{
	static const struct row rows[] = {
		{ "", "a", "x", "1" }, { "", "a", "y", "2" }, { "one", "a", "x", "3" }, { "two", "a", "z", "4" },
	};
	struct sl_remember *m = fresh(NULL);

	(void) state;
	open_rows(rows, 4, m, "one", NULL);
	assert_string_equal(sl_remember_get(m, "a", "x"), "3");
	assert_string_equal(sl_remember_get(m, "a", "y"), "2");
	assert_null(sl_remember_get(m, "a", "z"));
	open_rows(rows, 4, m, "three", NULL);
	assert_string_equal(sl_remember_get(m, "a", "x"), "1");
	sl_remember_destroy(m);
}

static void all_rows_go_on_as_they_came(void **state)
{
	static const struct row rows[] = {
		{ "", "a", "x", "1" }, { "one", "", "x", "3" }, { "one", "a", "x", "{}" }, { "two", "a", "z", "true" },
	};
	struct sl_remember *m = fresh(NULL);
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, NULL);

	(void) state;
	open_rows(rows, 4, m, NULL, NULL);
	sl_remember_encode(m, b, SL_P_REMEMBERED);
	assert_int_equal(sl_builder_rows(b, SL_P_REMEMBERED), 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct sl_remembered_row r;

		assert_int_equal(sl_builder_row(b, SL_P_REMEMBERED, i, &r), 0);
		assert_string_equal(sl_builder_text(b, r.set), rows[i].set);
		assert_string_equal(sl_builder_text(b, r.group), rows[i].group);
		assert_string_equal(sl_builder_text(b, r.key), rows[i].key);
		assert_string_equal(sl_builder_text(b, r.value), rows[i].value);
	}
	sl_builder_destroy(b);
	sl_remember_destroy(m);
}

static void wrong_rows_are_refused_with_their_place(void **state)
{
	char *more = text_of(SL_REMEMBERED_VALUE + 1), *much = text_of(SL_REMEMBERED_VALUE - 100), many[257][8];
	struct row big[5], keys[257];

	(void) state;
#define REFUSED(says, ...) do {							\
	const struct row r_[] = { __VA_ARGS__ };				\
	open_rows(r_, sizeof(r_) / sizeof(r_[0]), NULL, NULL, "plan: remembered" says);	\
} while (0)
	REFUSED("[0].set: the name of a set is too long", { "123456789012345678901234567890123", "a", "x", "1" });
	REFUSED("[0].key: expected 1 to 64 printable characters", { "", "a", "", "1" });
	REFUSED("[0].key: expected 1 to 64 printable characters", { "", "a", "\xc3\xa4", "1" });
	REFUSED("[1]: expected rising order of set, group and key", { "b", "a", "x", "1" }, { "a", "b", "y", "1" });
	REFUSED("[1]: expected rising order of set, group and key", { "b", "b", "x", "1" }, { "b", "a", "y", "1" });
	REFUSED("[1]: expected rising order of set, group and key", { "b", "b", "x", "1" }, { "b", "b", "x", "1" });
	REFUSED("[1].value: byte 4: expected ',' or '}'", { "", "a", "x", "1" }, { "", "a", "y", "{1,2" });
	REFUSED("[0].value: more than 256 KiB", { "", "a", "x", more });
	for (int i = 0; i < 5; i++)
		big[i] = (struct row) { "", "a", &"v\0w\0x\0y\0z"[2 * i], much };
	open_rows(big, 5, NULL, NULL, "plan: remembered[4]: more than 1 MiB in all");
	for (int i = 0; i < 257; i++) {
		snprintf(many[i], sizeof(many[i]), "%03d", i);
		keys[i] = (struct row) { "", "a", many[i], "1" };
	}
	open_rows(keys, 257, NULL, NULL, "plan: remembered[256]: more than 256 keys in a group");
	free(more);
	free(much);
}

/* -- text of values -------------------------------------------------------------- */

static void values_have_one_form(void **state)
{
	static const char *const good[] = {
		"true", "false", "0", "-1", "9223372036854775807", "0x8000000000000000", "0.1", "-0.0", "1e+20", "4.94065645841247e-324",
		"1.7976931348623157e+308", "1e999", "-1e999", "\"\"", "\"a b\"", "\"\\x00\\\"\\\\\\xff\"", "{}", "{{}}",
		"{1,true,{a=1}}", "{[-1]=1,[2]=2,a=3,[\"end\"]=4}", "{[0]=1,[\"\\x01\"]=2}", "{1,2,[4]=4}",
	};
	static const char *const bad[] = {
		"", " 1", "1 ", "nil", "01", "-0", "+1", "1.50", "1e5", ".5", "1.", "0x10", "-9223372036854775808", "inf",
		"nan", "1e1000", "0.30000000000000004441", "\"", "\"\n\"", "\"\xc3\xa4\"", "\"\\n\"", "\"\\x41\"", "\"\\xFF\"", "{",
		"}", "{1,}", "{,}", "{1 ,2}", "{a}", "{a=}", "{a=1,1}", "{b=1,a=1}", "{a=1,a=1}", "{[\"a\"]=1}", "{end=1}",
		"{[1]=1}", "{1,[2]=2}", "{1,[1]=2}", "{[3]=1,[2]=1}", "{a=1,[3]=1}", "{[1.5]=1}", "{[true]=1}", "{[{}]=1}", "{a==1}",
		"a", "print()", "{[\"b\"=1}", "{[1=1}",
	};
	struct sl_error err;

	(void) state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (sl_value_check(good[i], &err))
			fail_msg("%s: %s", good[i], err.text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!sl_value_check(bad[i], &err))
			fail_msg("%s is accepted", bad[i]);
}

/* Append a random value. */
static void make_value(char **to, char *end, int depth)
{
	static const char *const leaf[] = { "true", "false", "0", "-17", "0.25", "1e999", "\"a\\x0a\"", "\"\"", "{}" };
	int64_t key = -3;

	if (depth > 3 || end - *to < 400 || below(3)) {
		*to += sprintf(*to, "%s", leaf[below(9)]);
		return;
	}
	*(*to)++ = '{';
	for (uint32_t i = below(4); i > 0; i--) {
		make_value(to, end, depth + 1);
		*(*to)++ = ',';
	}
	for (uint32_t i = below(4); i > 0; i--) {
		key += 1 + below(2);
		*to += key < 1 ? sprintf(*to, "[%d]=", (int) key) : sprintf(*to, "[%d]=", (int) key + 100);
		make_value(to, end, depth + 1);
		*(*to)++ = ',';
	}
	for (char c = 'a'; c < 'a' + (char) below(4); c++) {
		*to += sprintf(*to, "%c=", c);
		make_value(to, end, depth + 1);
		*(*to)++ = ',';
	}
	if ((*to)[-1] == ',')
		(*to)--;
	*(*to)++ = '}';
	**to = 0;
}

static void random_values_are_accepted_and_damaged_ones_do_no_harm(void **state)
{
	uint64_t first = number_from("SL_SEED", 1);
	char text[4096], *to;

	(void) state;
	for (uint64_t n = 0; n < 2000; n++) {
		struct sl_error err;
		size_t length;

		random_state = first + n;
		to = text;
		make_value(&to, text + sizeof(text), 0);
		if (sl_value_check(text, &err))
			fail_msg("SL_SEED=%d: %s: %s", (int) (first + n), text, err.text);
		length = strlen(text);
		for (int k = 0; k < 20; k++) {
			char *at = &text[below((uint32_t) length)], was = *at;

			*at = (char) below(256);
			sl_value_check(text, &err);
			*at = was;
		}
	}
}

/* -- decisions -------------------------------------------------------------------- */

static struct sl_bundle *load(const char *text)
{
	const struct sl_bundle_text module = { "policy", text };
	struct sl_bundle_source src = { .policy = "policy", .text = &module, .texts = 1 };
	struct sl_error err;
	struct sl_bundle *b = sl_bundle_load(&src, NULL, NULL, &err);

	if (!b)
		fail_msg("%s", err.text);
	return b;
}

static void decide(struct sl_bundle *set, const struct sl_snapshot *snap, struct sl_decision *d)
{
	struct sl_limits limits = { .memory = 0 };
	struct sl_error err;

	if (sl_decide(set, snap, &limits, sl_clock_us(), d, &err))
		fail_msg("%s", err.text);
	if (d->check.code)
		fail_msg("%s", d->check.text);
	/* all but how long it took */
	*(int64_t *) (uintptr_t) d->plan.meta.decide_us = 0;
	*(int64_t *) (uintptr_t) d->plan.meta.total_us = 0;
}

/* What who carries a plan out does: its rows go into the next snapshot. */
static void echo(struct build *b, struct sl_remember *m, const struct sl_decision *d)
{
	assert_int_equal(sl_remember_load(m, &d->plan.image, &d->plan.remembered, NULL, NULL), 0);
	sl_remember_encode(m, b->builder, SL_T_REMEMBERED);
}

static struct build *one_cycle(int64_t sequence)
{
	struct build *b = build_create("2x4c");

	b->meta.sequence = sequence;
	for (uint32_t id = 1; id <= 4; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .exclusive = true, .limit = 3600 });
	return b;
}

/* Starts another job each cycle, and lets the one from before wait. */
static const char takes_turns[] =
	"return { api = 1, decide = function(cluster, plan)\n"
	"  local seen = cluster:recall('seen') or {}\n"
	"  for job in cluster:queue() do\n"
	"    if not seen[job.id] then seen[job.id] = cluster:random() plan:start(job) break end\n"
	"  end\n"
	"  plan:remember('seen', seen)\n"
	"end }\n";

static void decisions_go_on_from_what_was_remembered_and_replay_byte_for_byte(void **state)
{
	struct sl_bundle *set = load(takes_turns), *again = load(takes_turns);
	struct sl_remember *m = fresh(NULL);
	struct build *cycle[4];
	void *bytes[4];
	size_t size[4];
	struct sl_decision d = { 0 }, replayed = { 0 };

	(void) state;
	for (int i = 0; i < 4; i++) {
		cycle[i] = one_cycle(100 + i);
		if (i)
			echo(cycle[i], m, &d);
		decide(set, build_open(cycle[i]), &d);
		assert_int_equal(d.plan.start.rows, 1);
		assert_int_equal(d.plan.start.job[0], i + 1);
		assert_int_equal(d.plan.remembered.rows, 1);
		assert_string_equal(sl_image_str(&d.plan.image, d.plan.remembered.set[0]), set->digest);
		bytes[i] = memcpy(malloc(d.size), d.bytes, d.size);
		size[i] = d.size;
	}
	/* by another process, in another order, from the recorded snapshots alone */
	for (int i = 3; i >= 0; i--) {
		decide(again, &cycle[i]->snap, &replayed);
		assert_int_equal(replayed.size, size[i]);
		assert_memory_equal(replayed.bytes, bytes[i], size[i]);
		free(bytes[i]);
		build_destroy(cycle[i]);
	}
	sl_remember_destroy(m);
	sl_decision_clear(&d);
	sl_decision_clear(&replayed);
	sl_bundle_destroy(set);
	sl_bundle_destroy(again);
}

static void another_set_begins_anew_and_leaves_nothing_of_the_first(void **state)
{
	struct sl_bundle *set = load(takes_turns);
	struct sl_bundle *other = load("return { api = 1, decide = function(cluster, plan)\n"
				       "  assert(cluster:recall('seen') == nil)\n"
				       "end }\n");
	struct sl_remember *m = fresh(NULL);
	struct build *b = one_cycle(1), *next = one_cycle(2);
	struct sl_decision d = { 0 };

	(void) state;
	decide(set, build_open(b), &d);
	echo(next, m, &d);
	decide(other, build_open(next), &d);
	assert_int_equal(d.policy.code, 0);
	assert_int_equal(d.plan.remembered.rows, 0);
	build_destroy(b);
	build_destroy(next);
	sl_remember_destroy(m);
	sl_decision_clear(&d);
	sl_bundle_destroy(set);
	sl_bundle_destroy(other);
}

static void what_makes_a_policy_fail_is_forgotten(void **state)
{
	struct sl_bundle *set = load("return { api = 1, decide = function(cluster, plan)\n"
				     "  if cluster.name == 'probe' then return end\n"
				     "  local n = cluster:recall('n') or 0\n"
				     "  plan:remember('n', n + 1)\n"
				     "  if n == 1 then error('one is too much') end\n"
				     "end }\n");
	struct sl_remember *m = fresh(NULL);
	struct sl_decision d = { 0 };

	(void) state;
	for (int i = 0; i < 6; i++) {
		struct build *b = one_cycle(i);

		if (i)
			echo(b, m, &d);
		decide(set, build_open(b), &d);
		/* every second one, not all from the second on */
		assert_int_equal(d.policy.code, i % 2 ? SL_ESCRIPT : SL_OK);
		assert_int_equal(d.plan.remembered.rows, i % 2 ? 0 : 1);
		build_destroy(b);
	}
	sl_remember_destroy(m);
	sl_decision_clear(&d);
	sl_bundle_destroy(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_remembered_is_there_until_it_is_forgotten),
		cmocka_unit_test(more_than_the_ceilings_is_refused_and_changes_nothing),
		cmocka_unit_test(a_set_has_its_own_rows_and_those_of_any),
		cmocka_unit_test(all_rows_go_on_as_they_came),
		cmocka_unit_test(wrong_rows_are_refused_with_their_place),
		cmocka_unit_test(values_have_one_form),
		cmocka_unit_test(random_values_are_accepted_and_damaged_ones_do_no_harm),
		cmocka_unit_test(decisions_go_on_from_what_was_remembered_and_replay_byte_for_byte),
		cmocka_unit_test(another_set_begins_anew_and_leaves_nothing_of_the_first),
		cmocka_unit_test(what_makes_a_policy_fail_is_forgotten),
	};

	return cmocka_run_group_tests_name("remember", tests, NULL, NULL);
}
