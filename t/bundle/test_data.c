/* SPDX-License-Identifier: MIT */
/* Plain files of a policy set: reading, changing, keeping.  What Lua sees of them is in
 * spec/data_spec.lua. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "bundle/data.h"

static char dir[] = "/tmp/test_data.XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* Another file each time, as editors do. */
static void write_text(const char *name, const char *text)
{
	char new[512];
	FILE *f;

	strcpy(new, in_dir("new"));
	f = fopen(new, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(rename(new, in_dir(name)), 0);
}

static int set_up(void **state)
{
	(void) state;
	strcpy(dir, "/tmp/test_data.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	write_text("site.lua", "return 1");
	write_text("limits.conf", "first\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[600];

	(void) state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static struct sl_bundle *open_set(const void *kept, size_t size)
{
	char site[512];
	struct sl_bundle_source src = { .site = site, .kept = kept, .kept_size = size };
	struct sl_error err;
	struct sl_bundle *b;

	strcpy(site, in_dir("site.lua"));
	b = sl_bundle_open(&src, &err);
	if (!b)
		fail_msg("%s", err.text);
	return b;
}

/* A parser: the whole text under one key. */
static void accept_text(struct sl_data_file *f)
{
	struct sl_data_value v = { .type = SL_DATA_TEXT };
	struct sl_error err;
	size_t length;

	v.text = sl_data_text(f, &length);
	if (!v.text)
		return;
	assert_int_equal(length, strlen(v.text));
	sl_data_begin(f);
	assert_int_equal(sl_data_put(f, "text", &v, &err), 0);
	sl_data_end(f, true);
}

static void count(bool error, const char *text, void *arg)
{
	int *n = arg;

	(void) text;
	*n += error ? 100 : 1;
}

static void a_file_is_declared_while_the_set_is_loaded_and_never_later(void **state)
{
	struct sl_bundle *b = open_set(NULL, 0);
	struct sl_error err;
	struct sl_data_file *f = sl_bundle_data(b, "limits.conf", &err);

	(void) state;
	assert_non_null(f);
	assert_null(sl_bundle_data(b, "nothing.conf", &err));
	assert_int_equal(err.code, SL_ENOENT);
	sl_bundle_seal(b);
	assert_ptr_equal(sl_bundle_data(b, "limits.conf", &err), f);
	write_text("layers.conf", "x\n");
	assert_null(sl_bundle_data(b, "layers.conf", &err));
	sl_bundle_destroy(b);
}

static void names_stay_below_the_directory_of_the_site_file(void **state)
{
	static const char *const bad[] = { "", "/etc/passwd", "../x", "a/../x", "a//b", "./a", ".hidden", "a/", "a\nb" };
	struct sl_bundle *b = open_set(NULL, 0);
	struct sl_error err;
	char longest[400];

	(void) state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(sl_bundle_data(b, bad[i], &err));
		assert_int_equal(err.code, SL_EINVAL);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	assert_null(sl_bundle_data(b, longest, &err));
	assert_int_equal(err.code, SL_EINVAL);
	sl_bundle_destroy(b);
}

static void what_was_put_is_found_and_the_last_of_a_key_holds(void **state)
{
	struct sl_bundle *b = open_set(NULL, 0);
	struct sl_error err;
	struct sl_data_file *f = sl_bundle_data(b, "limits.conf", &err);
	char key[32];

	(void) state;
	sl_data_begin(f);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			struct sl_data_value v = { .type = SL_DATA_INTEGER, .integer = 10000 * round + i };

			snprintf(key, sizeof(key), "user u%d", i);
			assert_int_equal(sl_data_put(f, key, &v, &err), 0);
		}
	assert_int_equal(sl_data_get(f, "user u1").type, SL_DATA_NONE);
	sl_data_end(f, true);
	for (int i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "user u%d", i);
		assert_int_equal(sl_data_get(f, key).integer, 10000 + i);
	}
	assert_int_equal(sl_data_get(f, "user u5000").type, SL_DATA_NONE);
	sl_bundle_destroy(b);
}

static void what_is_too_long_is_refused(void **state)
{
	struct sl_bundle *b = open_set(NULL, 0);
	struct sl_error err;
	struct sl_data_file *f = sl_bundle_data(b, "limits.conf", &err);
	char longest[SL_DATA_KEY + 2];
	struct sl_data_value v = { .type = SL_DATA_TEXT, .text = longest };

	(void) state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	sl_data_begin(f);
	assert_int_equal(sl_data_put(f, "key", &v, &err), -1);
	assert_int_equal(err.code, SL_ELIMIT);
	assert_int_equal(sl_data_put(f, longest, &v, &err), -1);
	sl_data_end(f, false);
	assert_int_equal(sl_data_version(f), 0);
	sl_bundle_destroy(b);
}

static void a_change_is_noticed_once_and_a_bad_file_is_told_once(void **state)
{
	struct sl_bundle *b = open_set(NULL, 0);
	struct sl_error err;
	struct sl_data_file *f = sl_bundle_data(b, "limits.conf", &err);
	size_t length;
	int told = 0;

	(void) state;
	accept_text(f);
	sl_bundle_seal(b);
	sl_bundle_refresh(b);
	assert_null(sl_data_text(f, &length));
	write_text("limits.conf", "second\n");
	sl_bundle_refresh(b);
	assert_string_equal(sl_data_text(f, &length), "second\n");
	accept_text(f);
	assert_int_equal(sl_data_version(f), 2);
	write_text("limits.conf", "no end");
	for (int i = 0; i < 3; i++) {
		sl_bundle_refresh(b);
		assert_null(sl_data_text(f, &length));
		sl_data_tell(b->data, count, &told);
	}
	assert_int_equal(told, 100);
	assert_string_equal(sl_data_get(f, "text").text, "second\n");
	sl_data_retell(b->data);
	sl_data_tell(b->data, count, &told);
	assert_int_equal(told, 200);
	sl_bundle_destroy(b);
}

static void an_awaited_file_is_empty_until_it_is_there(void **state)
{
	static const char *const late[] = { "forecasts.txt", "half.txt" };
	struct sl_bundle *b = open_set(NULL, 0);
	struct sl_data_file *f[2];
	struct sl_error err;
	size_t length;
	int told = 0;

	(void) state;
	write_text("half.txt", "no end");
	for (int i = 0; i < 2; i++) {
		f[i] = sl_bundle_awaited(b, late[i], &err);
		assert_non_null(f[i]);
		assert_string_equal(sl_data_path(f[i]), in_dir(late[i]));
		assert_string_equal(sl_data_text(f[i], &length), "\n");
		accept_text(f[i]);
	}
	sl_bundle_seal(b);
	for (int i = 0; i < 2; i++) {
		sl_bundle_refresh(b);
		sl_data_tell(b->data, count, &told);
	}
	assert_int_equal(told, 200);
	for (int i = 0; i < 2; i++) {
		write_text(late[i], "whole\n");
		sl_bundle_refresh(b);
		assert_string_equal(sl_data_text(f[i], &length), "whole\n");
		accept_text(f[i]);
	}
	sl_bundle_destroy(b);
}

static void what_is_said_twice_of_a_file_is_told_once(void **state)
{
	struct sl_bundle *b = open_set(NULL, 0);
	struct sl_error err;
	struct sl_data_file *f = sl_bundle_data(b, "limits.conf", &err);
	int told = 0;

	(void) state;
	for (int i = 0; i < 3; i++) {
		sl_data_say(f, false, "one");
		sl_data_say(f, false, i ? "two" : "one");
		sl_data_tell(b->data, count, &told);
	}
	assert_int_equal(told, 2);
	sl_bundle_destroy(b);
}

static void a_symbolic_link_is_refused_in_production(void **state)
{
	struct sl_bundle_source src = { .check_trust = true, .trusted_uid = getuid() };
	char site[512], link[512];
	struct sl_error err;
	struct sl_bundle *b;

	(void) state;
	strcpy(site, in_dir("site.lua"));
	strcpy(link, in_dir("link.conf"));
	src.site = site;
	assert_int_equal(symlink(in_dir("limits.conf"), link), 0);
	b = sl_bundle_open(&src, &err);
	if (!b) {
		print_message("# skipped: no trusted place for temporary files here, or nothing installed\n");
		return;
	}
	assert_null(sl_bundle_data(b, "link.conf", &err));
	assert_int_equal(err.code, SL_ETRUST);
	assert_non_null(sl_bundle_data(b, "limits.conf", &err));
	sl_bundle_destroy(b);
}

static void a_kept_set_has_its_files_as_they_were_accepted_until_there_are_good_ones(void **state)
{
	struct sl_bundle *b = open_set(NULL, 0), *again;
	struct sl_error err;
	struct sl_data_file *f = sl_bundle_data(b, "limits.conf", &err);
	void *bytes;
	size_t size, length;

	(void) state;
	accept_text(f);
	sl_bundle_seal(b);
	write_text("limits.conf", "bad");
	sl_bundle_refresh(b);
	assert_int_equal(sl_bundle_keep(b, &bytes, &size, &err), 0);
	sl_bundle_destroy(b);
	again = open_set(bytes, size);
	f = sl_bundle_data(again, "limits.conf", &err);
	if (!f)
		fail_msg("%s", err.text);
	assert_string_equal(sl_data_path(f), in_dir("limits.conf"));
	assert_string_equal(sl_data_text(f, &length), "first\n");
	accept_text(f);
	sl_bundle_seal(again);
	sl_bundle_refresh(again);
	assert_null(sl_data_text(f, &length));
	write_text("limits.conf", "good\n");
	sl_bundle_refresh(again);
	assert_string_equal(sl_data_text(f, &length), "good\n");
	sl_bundle_destroy(again);
	free(bytes);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_declared_while_the_set_is_loaded_and_never_later),
		TEST(names_stay_below_the_directory_of_the_site_file),
		TEST(what_was_put_is_found_and_the_last_of_a_key_holds),
		TEST(what_is_too_long_is_refused),
		TEST(a_change_is_noticed_once_and_a_bad_file_is_told_once),
		TEST(an_awaited_file_is_empty_until_it_is_there),
		TEST(what_is_said_twice_of_a_file_is_told_once),
		TEST(a_symbolic_link_is_refused_in_production),
		TEST(a_kept_set_has_its_files_as_they_were_accepted_until_there_are_good_ones),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
