/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "sandbox/pattern.h"

static const volatile sig_atomic_t never, at_once = 1;

static int match(const char *pattern, const char *subject, const volatile sig_atomic_t *stop,
		 struct sl_match *m, struct sl_error *err)
{
	void *memory = malloc(sl_pattern_size(strlen(pattern)));
	struct sl_pattern *p = sl_pattern_compile(memory, pattern, strlen(pattern), true, err);
	int r = p ? sl_pattern_match(p, subject, strlen(subject), 0, false, stop, m) : -2;

	free(memory);
	return r;
}

static void what_matched_and_was_captured_is_reported(void **state)
{
	struct sl_match m;

	(void) state;
	assert_int_equal(match("(%a+)%-()(%d+)$", "node gpu-017", &never, &m, NULL), 1);
	assert_int_equal(m.start, 5);
	assert_int_equal(m.end, 12);
	assert_int_equal(m.captures, 3);
	assert_int_equal(m.capture[0].length, 3);
	assert_int_equal(m.capture[1].length, SL_CAPTURE_POSITION);
	assert_int_equal(m.capture[1].start, 9);
	assert_int_equal(m.capture[2].start, 9);
	assert_int_equal(match("^gpu", "a gpu", &never, &m, NULL), 0);
}

static void a_malformed_pattern_is_refused_with_the_reason(void **state)
{
	static const char *const bad[][2] = {
		{ "%", "ends with" }, { "[a", "missing ']'" }, { "[]", "missing ']'" }, { "[%", "missing ']'" },
		{ "(a", "unfinished" }, { "a)", "invalid pattern capture" }, { "%1", "invalid capture index" },
		{ "(%1)", "invalid capture index" }, { "%b(", "missing arguments" }, { "%fa", "missing '['" },
	};
	struct sl_error err;
	struct sl_match m;

	(void) state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(match(bad[i][0], "aaa", &never, &m, &err), -2);
		assert_non_null(strstr(err.text, bad[i][1]));
	}
}

static void a_pattern_that_would_never_come_to_an_end_is_stopped(void **state)
{
	char pattern[512] = "", subject[600];
	struct sl_match m;

	(void) state;
	for (int i = 0; i < 100; i++)
		strcat(pattern, "a*");
	strcat(pattern, "b");
	memset(subject, 'a', sizeof(subject) - 1);
	subject[sizeof(subject) - 1] = 0;
	assert_int_equal(match(pattern, subject, &at_once, &m, NULL), -1);
}

static void a_pattern_over_the_limit_is_refused(void **state)
{
	struct sl_error err;
	char *text = malloc(SL_PATTERN_MAX + 1);
	char memory[8];

	(void) state;
	memset(text, 'a', SL_PATTERN_MAX + 1);
	assert_null(sl_pattern_compile(memory, text, SL_PATTERN_MAX + 1, true, &err));
	assert_int_equal(err.code, SL_ELIMIT);
	free(text);
}

static void every_pattern_up_to_the_limit_fits_into_the_size_stated(void **state)
{
	static const char *const unit[] = { "a", "%a", "a*", "%%", "[a]", "%f[a]", "%bxy", ".", "()" };
	char text[300];
	struct sl_match m;

	(void) state;
	for (size_t u = 0; u < sizeof(unit) / sizeof(unit[0]); u++) {
		text[0] = 0;
		for (int i = 0; i < 32; i++) {
			strcat(text, unit[u]);
			assert_int_not_equal(match(text, "aaxxyyaaaa", &never, &m, NULL), -2);
		}
	}
}

static unsigned pick(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345;
	return (*seed >> 16) % n;
}

/* Compare with string.find of the Lua library: -1, 0, 1 as above; every capture. */
static int lua_find(lua_State *L, const char *pattern, const char *subject, struct sl_match *m)
{
	int n, status;

	lua_settop(L, 0);
	lua_getglobal(L, "string");
	lua_getfield(L, 1, "find");
	lua_pushstring(L, subject);
	lua_pushstring(L, pattern);
	status = lua_pcall(L, 2, LUA_MULTRET, 0);
	if (status != LUA_OK)
		return -2;
	n = lua_gettop(L) - 1;
	if (lua_isnil(L, 2))
		return 0;
	m->start = lua_tointeger(L, 2) - 1;
	m->end = lua_tointeger(L, 3);
	m->captures = n - 2;
	return 1;
}

static void same_captures(lua_State *L, const struct sl_match *m, const char *subject)
{
	for (unsigned k = 0; k < m->captures; k++) {
		if (m->capture[k].length == SL_CAPTURE_POSITION) {
			assert_int_equal(lua_tointeger(L, 4 + k), m->capture[k].start + 1);
			continue;
		}
		assert_int_equal(lua_rawlen(L, 4 + k), m->capture[k].length);
		assert_memory_equal(lua_tostring(L, 4 + k), subject + m->capture[k].start, m->capture[k].length);
	}
}

static void it_agrees_with_the_library_on_random_patterns(void **state)
{
	static const char *const piece[] = { "a", "b", ".", "%a", "%d", "%A", "[ab]", "[^a]", "[a-c%d]", "[]a]", "[a-]",
					     "*", "+", "-", "?", "(", ")", "()", "%1", "%2", "%bab", "%f[b]", "%f[%z]",
					     "$", "^", "%.", "[%a-z]", "[a-%%]" };
	static const char letter[] = "aabbc1. ";
	unsigned seed = time(NULL), said = seed, agreed = 0;
	lua_State *L = luaL_newstate();

	(void) state;
	luaL_openlibs(L);
	print_message("# seed %u\n", said);
	for (int i = 0; i < 60000; i++) {
		char pattern[128] = "", subject[32];
		struct sl_match ours, theirs = { 0 };
		int n = pick(&seed, 9), len = pick(&seed, 12), r;

		for (int k = 0; k < n; k++)
			strcat(pattern, piece[pick(&seed, sizeof(piece) / sizeof(piece[0]))]);
		for (int k = 0; k < len; k++)
			subject[k] = letter[pick(&seed, sizeof(letter) - 1)];
		subject[len] = 0;
		r = match(pattern, subject, &never, &ours, NULL);
		/* Lua finds out about a malformed rest only when it comes there. */
		if (r == -2)
			continue;
		if (lua_find(L, pattern, subject, &theirs) != r || (r == 1 &&
		    (theirs.start != ours.start || theirs.end != ours.end || theirs.captures != ours.captures)))
			fail_msg("seed %u: pattern '%s' subject '%s': %d", said, pattern, subject, r);
		if (r == 1)
			same_captures(L, &ours, subject);
		agreed++;
	}
	lua_close(L);
	assert_true(agreed > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_matched_and_was_captured_is_reported),
		cmocka_unit_test(a_malformed_pattern_is_refused_with_the_reason),
		cmocka_unit_test(a_pattern_that_would_never_come_to_an_end_is_stopped),
		cmocka_unit_test(a_pattern_over_the_limit_is_refused),
		cmocka_unit_test(every_pattern_up_to_the_limit_fits_into_the_size_stated),
		cmocka_unit_test(it_agrees_with_the_library_on_random_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
