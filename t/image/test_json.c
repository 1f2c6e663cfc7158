/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/json_out.h"
#include "t/make_image.h"
#include "image/nodelist.h"

/* -- the writer ------------------------------------------------------------ */

static void values_are_separated_by_commas_and_keys_by_colons(void **state)
{
	struct sl_json *j = sl_json_create(NULL, NULL);
	struct sl_error err;
	const char *text;
	size_t size;

	(void) state;
	sl_json_begin_object(j);
	sl_json_put_int(j, "a", INT64_MIN);
	sl_json_open_array(j, "b");
	sl_json_bool(j, true);
	sl_json_null(j);
	sl_json_real(j, 0.1);
	sl_json_real(j, 1e300 * 1e300);
	sl_json_begin_object(j);
	sl_json_end_object(j);
	sl_json_end_array(j);
	sl_json_end_object(j);
	assert_int_equal(sl_json_finish(j, &text, &size, &err), 0);
	assert_string_equal(text, "{\"a\": -9223372036854775808, \"b\": [true, null, 0.1, null, {}]}");
	assert_int_equal(size, strlen(text));
	sl_json_destroy(j);
}

static void strings_are_escaped_and_always_utf8(void **state)
{
	static const struct {
		const char *in, *out;
	} example[] = {
		{ "", "\"\"" },
		{ "a\"b\\c\n\t\x01\x7f", "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"" },
		{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"" },
		{ "\xff", "\"\xef\xbf\xbd\"" },
		{ "x\xc3", "\"x\xef\xbf\xbd\"" },			/* cut short */
		{ "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },		/* overlong */
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },	/* surrogate */
		{ "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};
	struct sl_json *j = sl_json_create(NULL, NULL);
	const char *text;

	(void) state;
	for (size_t i = 0; i < sizeof(example) / sizeof(example[0]); i++) {
		sl_json_reset(j);
		sl_json_str(j, example[i].in);
		assert_int_equal(sl_json_finish(j, &text, NULL, NULL), 0);
		assert_string_equal(text, example[i].out);
	}
	sl_json_destroy(j);
}

static void a_real_number_reads_back_as_itself(void **state)
{
	static const double v[] = { 0, 1, 0.1, 1.0 / 3, 1e-300, 1.7976931348623157e308, 5e-324, 123456789012345678.0 };
	struct sl_json *j = sl_json_create(NULL, NULL);
	const char *text;

	(void) state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		sl_json_reset(j);
		sl_json_real(j, v[i]);
		assert_int_equal(sl_json_finish(j, &text, NULL, NULL), 0);
		assert_true(strtod(text, NULL) == v[i]);
	}
	sl_json_destroy(j);
}

static void calls_that_make_no_json_are_refused_at_the_end(void **state)
{
	struct sl_json *j = sl_json_create(NULL, NULL);
	struct sl_error err;

	(void) state;
	sl_json_begin_object(j);
	sl_json_int(j, 1);
	sl_json_end_object(j);
	assert_int_equal(sl_json_finish(j, NULL, NULL, &err), -1);
	assert_string_equal(err.text, "JSON: a value without a key in an object");
	sl_json_reset(j);
	sl_json_begin_array(j);
	assert_int_equal(sl_json_finish(j, NULL, NULL, &err), -1);
	sl_json_reset(j);
	sl_json_begin_array(j);
	sl_json_end_object(j);
	assert_int_equal(sl_json_finish(j, NULL, NULL, &err), -1);
	sl_json_reset(j);
	sl_json_int(j, 1);
	sl_json_int(j, 2);
	assert_int_equal(sl_json_finish(j, NULL, NULL, &err), -1);
	sl_json_reset(j);
	for (int i = 0; i < 100; i++)
		sl_json_begin_array(j);
	for (int i = 0; i < 100; i++)
		sl_json_end_array(j);
	assert_int_equal(sl_json_finish(j, NULL, NULL, &err), -1);
	assert_string_equal(err.text, "JSON: too deep");
	sl_json_destroy(j);
}

static void a_full_disk_is_reported(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct sl_json *j;
	struct sl_error err;

	(void) state;
	if (!full) {
		print_message("# skipped: no device that is always full\n");
		return;
	}
	j = sl_json_create(full, NULL);
	sl_json_str(j, "lost");
	assert_int_equal(sl_json_finish(j, NULL, NULL, &err), -1);
	assert_int_equal(err.code, SL_EIO);
	sl_json_destroy(j);
	fclose(full);
}

/* -- node lists -------------------------------------------------------------- */

struct names {
	char *name[100];
	int n;
};

static int keep(const char *name, void *arg)
{
	struct names *names = arg;

	names->name[names->n++] = strdup(name);
	return names->n == 100 ? 7 : 0;
}

static void forget(struct names *names)
{
	while (names->n)
		free(names->name[--names->n]);
}

static void node_lists_join_neighbours_and_split_again(void **state)
{
	static const char *const list[] = {
		"", "n1", "n[1-4]", "n[1-4,7]", "n[8-11]", "n[08-11]", "n[098-101]", "n[1,01,001]", "a,b,c",
		"n1,m1,n2", "rack1-n[1-2],rack2-n[1-2]", "x[7-9]", "n[9,8,7]", "gpu[0-7],login,n[1-3]",
		"n00000000000000000000[1-3]", "login1a,login2a",
	};
	struct names names = { .n = 0 };
	struct sl_error err;

	(void) state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		char *joined;

		if (sl_nodelist_split(list[i], keep, &names, &err))
			fail_msg("%s: %s", list[i], err.text);
		joined = sl_nodelist_join((const char *const *) names.name, names.n, &err);
		if (strstr(list[i], "0000000000"))	/* the digits may be divided elsewhere */
			assert_non_null(strstr(joined, "1-"));
		else
			assert_string_equal(joined, list[i]);
		free(joined);
		forget(&names);
	}
	assert_int_equal(sl_nodelist_split("r[1-2]n,x", keep, &names, &err), 0);
	assert_int_equal(names.n, 3);
	assert_string_equal(names.name[1], "r2n");
	forget(&names);
}

/* All names of a list, with a blank between two. */
static void assert_names(const char *list, const char *expected)
{
	struct names names = { .n = 0 };
	struct sl_error err;
	char all[400] = "";

	if (sl_nodelist_split(list, keep, &names, &err))
		fail_msg("%s: %s", list, err.text);
	for (int i = 0; i < names.n; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? " " : "", names.name[i]);
	assert_string_equal(all, expected);
	forget(&names);
}

static void a_name_may_have_several_brackets_and_the_last_runs_fastest(void **state)
{
	(void) state;
	assert_names("r[0-1]n[0-2]", "r0n0 r0n1 r0n2 r1n0 r1n1 r1n2");
	assert_names("a[1-2][08-09]", "a108 a109 a208 a209");
	assert_names("x[1,3]y[2]z[7-8],w", "x1y2z7 x1y2z8 x3y2z7 x3y2z8 w");
	assert_names("r[1-2]c[1-2]-ib", "r1c1-ib r1c2-ib r2c1-ib r2c2-ib");
}

static void separators_may_be_blanks_and_several(void **state)
{
	(void) state;
	assert_names(",", "");
	assert_names("a,", "a");
	assert_names(" a,, b\tn[1,2] ", "a b n1 n2");
}

static void random_names_survive_joining_and_splitting(void **state)
{
	uint64_t seed = 20261120;

	(void) state;
	print_message("# seed %llu\n", (unsigned long long) seed);
	for (int round = 0; round < 2000; round++) {
		struct names in = { .n = 0 }, out = { .n = 0 };
		struct sl_error err;
		char name[32], *joined;
		uint32_t number = make_below(&seed, 12);

		for (int n = make_below(&seed, 20); n > 0; n--) {
			snprintf(name, sizeof(name), "%s%0*u", make_below(&seed, 6) ? "n" : "m0",
				 make_below(&seed, 4) ? 1 : 2, number);
			in.name[in.n++] = strdup(name);
			number += make_below(&seed, 5) ? 1 : 7;
		}
		joined = sl_nodelist_join((const char *const *) in.name, in.n, &err);
		assert_int_equal(sl_nodelist_split(joined, keep, &out, &err), 0);
		assert_int_equal(in.n, out.n);
		for (int i = 0; i < in.n; i++)
			assert_string_equal(in.name[i], out.name[i]);
		free(joined);
		forget(&in);
		forget(&out);
	}
}

static void what_is_no_node_list_is_refused(void **state)
{
	static const char *const list[] = {
		"n[", "n[]", "n[1", "n[1-]", "n[2-1]", "n[a]", "n]", "n[1]]", "n[1-2-3]", "n[1,]", "n[1][", "n[1]m[",
		"n[1][2-1]", "n[9999999999999999999]",
	};
	struct names names = { .n = 0 };
	struct sl_error err;

	(void) state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		assert_int_equal(sl_nodelist_split(list[i], keep, &names, &err), -1);
		assert_int_equal(err.code, SL_EINVAL);
		forget(&names);
	}
	assert_int_equal(sl_nodelist_split("n[1-999999999999]", keep, &names, &err), 7);
	forget(&names);
}

/* -- images ------------------------------------------------------------------ */

/* JSON of an image, malloc'ed. */
static char *to_json(const struct sl_schema *schema, const void *bytes, size_t size)
{
	union {
		struct sl_snapshot snapshot;
		struct sl_plan_image plan;
	} view;
	struct sl_image image;
	struct sl_error err;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (sl_image_open(&image, &view, schema, bytes, size, &err) < 0 ||
	    sl_image_to_json(&image, &view, out, &err) < 0)
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

static void check_round_trip(const struct sl_schema *schema, struct sl_builder *b)
{
	struct sl_builder *again = sl_builder_create(schema, NULL);
	const void *bytes, *more;
	size_t size, more_size = 0;
	struct sl_error err;
	char *json, *json_again;

	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	json = to_json(schema, bytes, size);
	if (sl_builder_from_json(again, "test", json, strlen(json), &err) < 0 ||
	    sl_builder_finish(again, &more, &more_size, &err) < 0)
		fail_msg("%s", err.text);
	json_again = to_json(schema, more, more_size);
	assert_string_equal(json, json_again);
	assert_int_equal(size, more_size);
	assert_memory_equal(bytes, more, size);
	free(json);
	free(json_again);
	sl_builder_destroy(again);
}

static void an_image_survives_the_way_through_json_byte_for_byte(void **state)
{
	struct sl_builder *snapshot = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_builder *plan = sl_builder_create(&sl_plan_schema, NULL);

	(void) state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		sl_builder_reset(snapshot);
		make_snapshot(snapshot, seed, seed % 40, seed % 23);
		check_round_trip(&sl_snapshot_schema, snapshot);
		sl_builder_reset(plan);
		make_plan(plan, seed, 1 + seed % 40, seed % 31);
		check_round_trip(&sl_plan_schema, plan);
	}
	sl_builder_destroy(snapshot);
	sl_builder_destroy(plan);
}

/* JSON to image and back. */
static char *normalise(const char *json, struct sl_error *err)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	const void *bytes;
	size_t size;
	char *text = NULL;

	if (!sl_builder_from_json(b, "t.json", json, strlen(json), err) &&
	    !sl_builder_finish(b, &bytes, &size, err))
		text = to_json(&sl_snapshot_schema, bytes, size);
	sl_builder_destroy(b);
	return text;
}

static void people_write_names_and_words_and_leave_defaults_out(void **state)
{
	static const char json[] =
		"{\"queue\": [{\"job\": 7, \"partition\": \"batch\"}],\n"
		" \"jobs\": [{\"id\": 7, \"partition\": \"batch\", \"state\": \"PENDING\", \"time_limit\": \"unlimited\",\n"
		"   \"flags\": [\"BATCH\", \"CONTIGUOUS\"], \"exc_nodes\": \"n[3,2]\", \"partitions\": [\"batch\"]},\n"
		"  {\"id\": 8, \"state\": \"RUNNING\", \"time_limit\": 60, \"alloc\": [{\"node\": \"n2\", \"cores\": 4,\n"
		"    \"gres\": [{\"kind\": \"gpu\", \"count\": 1}]}]}],\n"
		" \"partitions\": [{\"name\": \"batch\", \"nodes\": \"n[1-3]\", \"flags\": []}],\n"
		" \"nodes\": [{\"name\": \"n1\", \"cores\": 1}, {\"name\": \"n2\", \"cores\": 8}, {\"name\": \"n3\", \"state\": [\"DOWN\"]}],\n"
		" \"gres_kinds\": [{\"key\": \"gpu\", \"name\": \"gpu\"}]}";
	struct sl_error err;
	char *text = normalise(json, &err);

	(void) state;
	if (!text)
		fail_msg("%s", err.text);
	assert_string_equal(text,
		"{\n  \"format\": \"snapshot\",\n  \"version\": 2,\n  \"meta\": {},\n"
		"  \"gres_kinds\": [\n    {\"key\": \"gpu\", \"name\": \"gpu\"}\n  ],\n"
		"  \"nodes\": [\n    {\"name\": \"n1\"},\n    {\"name\": \"n2\", \"cores\": 8},\n"
		"    {\"name\": \"n3\", \"state\": [\"DOWN\"]}\n  ],\n"
		"  \"partitions\": [\n    {\"name\": \"batch\", \"nodes\": \"n[1-3]\", \"flags\": []}\n  ],\n"
		"  \"jobs\": [\n    {\"id\": 7, \"partition\": \"batch\", \"partitions\": [\"batch\"], "
		"\"flags\": [\"BATCH\", \"CONTIGUOUS\"], \"exc_nodes\": \"n[2-3]\"},\n"
		"    {\"id\": 8, \"state\": \"RUNNING\", \"time_limit\": 60, \"alloc\": [{\"node\": \"n2\", \"cores\": 4, "
		"\"gres\": [{\"kind\": \"gpu\", \"count\": 1}]}]}\n  ],\n"
		"  \"queue\": [\n    {\"job\": 7, \"partition\": \"batch\"}\n  ]\n}\n");
	free(text);
}

static void what_is_wrong_in_json_is_named_with_its_place(void **state)
{
	static const struct {
		const char *json, *error;
	} example[] = {
		{ "{\"nodes\": [}", "t.json:1:12: unexpected token near '}'" },
		{ "[]", "t.json: an array, expected an object" },
		{ "{\"nodez\": []}", "t.json: unknown key \"nodez\"" },
		{ "{\"runs\": []}", "t.json: unknown key \"runs\"" },
		{ "{\"format\": \"plan\"}", "t.json: format: expected \"snapshot\"" },
		{ "{\"version\": 99}", "t.json: version 99, expected 2" },
		{ "{\"nodes\": {}}", "t.json: nodes: an object, expected an array" },
		{ "{\"meta\": []}", "t.json: meta: an array, expected an object" },
		{ "{\"nodes\": [3]}", "t.json: nodes[0]: an integer, expected an object" },
		{ "{\"nodes\": [{}]}", "t.json: nodes[0]: has no \"name\"" },
		{ "{\"nodes\": [{\"name\": \"\"}]}", "t.json: nodes[0].name: a string, expected a string that is not empty" },
		{ "{\"nodes\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", "t.json: nodes[1].name: a second \"a\"" },
		{ "{\"nodes\": [{\"name\": \"a\", \"core\": 1}]}", "t.json: nodes[0]: unknown key \"core\"" },
		{ "{\"nodes\": [{\"name\": \"a\", \"cores\": -1}]}", "t.json: nodes[0].cores: -1, expected 0 to 4294967295" },
		{ "{\"nodes\": [{\"name\": \"a\", \"cores\": 1.5}]}", "t.json: nodes[0].cores: a real number, expected an integer" },
		{ "{\"nodes\": [{\"name\": \"a\", \"memory\": \"8G\"}]}",
		  "t.json: nodes[0].memory: a string, expected an integer or \"unlimited\"" },
		{ "{\"nodes\": [{\"name\": \"a\", \"state\": [\"UP\"]}]}",
		  "t.json: nodes[0].state[0]: UP, expected a word such as \"DOWN\"" },
		{ "{\"jobs\": [{\"id\": 1, \"state\": \"WAITING\"}]}",
		  "t.json: jobs[0].state: WAITING, expected a word such as \"PENDING\"" },
		{ "{\"jobs\": [{\"id\": 1, \"partition\": \"x\"}]}", "t.json: jobs[0].partition: no partition \"x\"" },
		{ "{\"jobs\": [{\"id\": 1}, {\"id\": 2, \"alloc\": [{\"cores\": 1}, {\"node\": \"n9\"}]}]}",
		  "t.json: jobs[1].alloc[1].node: no node \"n9\"" },
		{ "{\"jobs\": [{\"id\": 1, \"req_nodes\": \"n[1-2]\"}]}", "t.json: jobs[0].req_nodes: no node \"n1\"" },
		{ "{\"jobs\": [{\"id\": 1, \"req_nodes\": \"n[\"}]}",
		  "t.json: jobs[0].req_nodes: node list \"n[\": no \"]\" at \"[\"" },
		{ "{\"queue\": [{\"job\": 4}]}", "t.json: queue[0].job: no job \"4\"" },
	};
	struct sl_error err;

	(void) state;
	for (size_t i = 0; i < sizeof(example) / sizeof(example[0]); i++) {
		assert_null(normalise(example[i].json, &err));
		assert_string_equal(err.text, example[i].error);
	}
}

/* -- files ------------------------------------------------------------------- */

static void files_of_either_form_are_loaded(void **state)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	char dir[] = "test_json.XXXXXX", path[64], *json;
	const void *bytes;
	void *binary, *text;
	size_t size, binary_size, text_size;
	struct sl_error err;

	(void) state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	make_snapshot(b, 1, 30, 30);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	assert_int_equal(sl_image_save(path, bytes, size, &err), 0);
	assert_int_equal(sl_image_load(&sl_snapshot_schema, path, &binary, &binary_size, &err), 0);
	json = to_json(&sl_snapshot_schema, bytes, size);
	assert_int_equal(sl_image_save(path, json, strlen(json), &err), 0);
	assert_int_equal(sl_image_load(&sl_snapshot_schema, path, &text, &text_size, &err), 0);
	assert_int_equal(binary_size, size);
	assert_int_equal(text_size, size);
	assert_memory_equal(binary, bytes, size);
	assert_memory_equal(text, bytes, size);
	assert_int_equal(sl_image_save(path, bytes, size - 8, &err), 0);
	assert_int_equal(sl_image_load(&sl_snapshot_schema, path, &text, &text_size, &err), -1);
	assert_int_equal(err.code, SL_EFORMAT);
	assert_ptr_equal(strstr(err.text, path), err.text);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sl_image_load(&sl_snapshot_schema, path, &text, &text_size, &err), -1);
	assert_int_equal(err.code, SL_ENOENT);
	assert_int_equal(sl_image_save("/nonexistent/dir/file", bytes, size, &err), -1);
	assert_int_equal(err.code, SL_EIO);
	assert_int_equal(rmdir(dir), 0);		/* no temporary file stays */
	free(json);
	free(binary);
	free(text);
	sl_builder_destroy(b);
}

static void the_example_is_a_snapshot(void **state)
{
	const char *srcdir = getenv("srcdir");
	char path[4096];
	struct sl_snapshot snap;
	struct sl_error err;
	void *bytes;
	size_t size;

	(void) state;
	snprintf(path, sizeof(path), "%s/examples/cluster.json", srcdir ? srcdir : ".");
	if (access(path, R_OK) < 0) {
		print_message("# skipped: no example to read\n");
		return;
	}
	if (sl_image_load(&sl_snapshot_schema, path, &bytes, &size, &err) < 0 ||
	    sl_snapshot_open(&snap, bytes, size, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(snap.node.rows, 4);
	assert_int_equal(snap.queue.rows, 2);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_separated_by_commas_and_keys_by_colons),
		cmocka_unit_test(strings_are_escaped_and_always_utf8),
		cmocka_unit_test(a_real_number_reads_back_as_itself),
		cmocka_unit_test(calls_that_make_no_json_are_refused_at_the_end),
		cmocka_unit_test(a_full_disk_is_reported),
		cmocka_unit_test(node_lists_join_neighbours_and_split_again),
		cmocka_unit_test(a_name_may_have_several_brackets_and_the_last_runs_fastest),
		cmocka_unit_test(separators_may_be_blanks_and_several),
		cmocka_unit_test(random_names_survive_joining_and_splitting),
		cmocka_unit_test(what_is_no_node_list_is_refused),
		cmocka_unit_test(an_image_survives_the_way_through_json_byte_for_byte),
		cmocka_unit_test(people_write_names_and_words_and_leave_defaults_out),
		cmocka_unit_test(what_is_wrong_in_json_is_named_with_its_place),
		cmocka_unit_test(files_of_either_form_are_loaded),
		cmocka_unit_test(the_example_is_a_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
