/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>

#include "sandbox/limit.h"
#include "sandbox/sandbox.h"

#define MIB ((size_t) 1 << 20)

/* Run a text in a sandbox.  0, or -1 with *err. */
static int run_in(struct sl_limit *limit, const char *text, size_t cap, int64_t budget_us, struct sl_error *err)
{
	lua_State *L = sl_limit_newstate(limit, cap, err);
	int status, r = 0;

	assert_non_null(L);
	lua_settop(L, 0);
	sl_sandbox_open(L);
	assert_int_equal(sl_limit_arm(limit, budget_us, err), 0);
	status = sl_sandbox_load(L, "policy.lua", text, strlen(text), NULL);
	if (status == LUA_OK)
		status = lua_pcall(L, 0, 0, 0);
	if (status != LUA_OK)
		r = sl_limit_fail(limit, status, err);
	sl_limit_disarm(limit);
	return r;
}

static int run(const char *text, size_t cap, int64_t budget_us, struct sl_error *err)
{
	struct sl_limit limit;
	int r = run_in(&limit, text, cap, budget_us, err);

	sl_limit_close(&limit);
	return r;
}

static void needs_time(const char *text)
{
	struct sl_error err = { 0 };

	if (run(text, 64 * MIB, 100000, &err) != -1)
		fail_msg("came to an end: %s", text);
	if (err.code != SL_ETIME)
		fail_msg("%s: %s", text, err.text);
	assert_non_null(strstr(err.text, "time budget of 100 ms is used up"));
	assert_non_null(strstr(err.text, "policy.lua:1"));
}

static void needs_memory(const char *text)
{
	struct sl_error err = { 0 };

	if (run(text, 16 * MIB, 120000000, &err) != -1)
		fail_msg("came to an end: %s", text);
	if (err.code != SL_ENOMEM)
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(err.text, "memory limit of 16 MiB is used up");
}

static void raises(const char *text, const char *message)
{
	struct sl_error err = { 0 };

	if (run(text, 256 * MIB, 120000000, &err) != -1)
		fail_msg("came to an end: %s", text);
	if (err.code != SL_ESCRIPT || !strstr(err.text, message))
		fail_msg("%s: %s", text, err.text);
}

static void is_fine(const char *text)
{
	struct sl_error err = { 0 };

	if (run(text, 64 * MIB, 120000000, &err))
		fail_msg("%s: %s", text, err.text);
}

static void a_loop_that_never_ends_is_ended(void **state)
{
	(void) state;
	needs_time("while true do end");
	needs_time("repeat local x = 1 until false");
	needs_time("for i = 1, math.huge do end");
	needs_time("local function f() return f() end f()");
	needs_time("::top:: goto top");
}

static void pcall_cannot_swallow_the_deadline(void **state)
{
	(void) state;
	needs_time("while true do pcall(function() while true do end end) end");
	needs_time("local function f() pcall(f) f() end while true do pcall(f) end");
	needs_time("while true do xpcall(function() while true do end end, function() while true do end end) end");
	needs_time("while true do pcall(error, {}) end");
	needs_time("local t = setmetatable({}, { __close = function() while true do end end }) "
		    "pcall(function() local x <close> = t; while true do end end) while true do end");
}

static void a_loop_inside_a_library_function_is_ended(void **state)
{
	(void) state;
	needs_time("local t = setmetatable({}, { __lt = function() while true do end end }) return t < t");
	needs_time("local t = setmetatable({}, { __index = function() while true do end end }) return t.x");
	needs_time("table.sort({ 3, 1, 2 }, function() while true do end end)");
	needs_time("('x'):gsub('x', function() while true do end end)");
	needs_time("local t = setmetatable({}, { __len = function() return math.maxinteger - 1 end }) table.insert(t, 1, 0)");
	needs_time("local t = setmetatable({}, { __len = function() return math.maxinteger - 1 end }) table.remove(t, 1)");
	needs_time("table.move({}, 1, math.maxinteger - 1, 1)");
	needs_time("local t = setmetatable({}, { __index = function() return '' end }) table.concat(t, '', 1, math.maxinteger)");
	needs_time("local t = setmetatable({}, { __index = rawlen, __len = function() return math.maxinteger end }) "
		    "table.concat(t, '', 1, 1 << 40)");
	needs_time("local t = {} for i = 1, 200000 do t[i] = -i % 777 end while true do table.sort(t) table.sort(t, function(a, b) return a > b end) end");
	needs_time("string.format('%s', setmetatable({}, { __tostring = function() while true do end end }))");
}

static void a_pattern_that_backtracks_without_bound_is_ended(void **state)
{
	(void) state;
	needs_time("local s = ('a'):rep(10000) return s:find(('a*'):rep(50) .. 'b')");
	needs_time("local s = ('a'):rep(3000) return s:match(('(.-)'):rep(30) .. 'b')");
	needs_time("local s = ('a'):rep(10000) return s:gsub(('a-'):rep(20) .. 'b', '')");
	needs_time("local s = ('('):rep(1000000) for _ in s:gmatch('%b()') do end");
	needs_time("local s = ('a'):rep(1000000) while true do s:find('aab', 1, true) end");
	needs_time("local s = ('ab'):rep(20000) return s:find('(a.*)b%1%1.-.-.-.-c')");
}

static void a_result_as_large_as_nothing_is_not_repeated_for_ever(void **state)
{
	(void) state;
	is_fine("assert((''):rep(math.maxinteger) == '')");
	is_fine("assert(('ab'):rep(3, ',') == 'ab,ab,ab' and ('x'):rep(-1) == '')");
	raises("return ('x'):rep(1 << 40)", "resulting string too large");
}

static void eating_memory_ends_in_a_clean_error(void **state)
{
	(void) state;
	needs_memory("local t = {} for i = 1, math.huge do t[i] = i end");
	needs_memory("local s = 'x' while true do s = s .. s end");
	needs_memory("local t = {} while true do t = { t } end");
	needs_memory("while true do pcall(function() local t = {} for i = 1, math.huge do t[i] = { i } end end) end");
	needs_memory("return ('x'):rep(15 << 20):gsub('.', 'yyyyyyyyyyyyyyyyyyy')");
	needs_memory("local t = {} for i = 1, 1000 do t[i] = ('x'):rep(100000) .. i end return table.concat(t)");
	needs_memory("local t = {} for i = 1, 400000 do t[i .. ''] = i end for k in pairs(t) do end");
}

static void recursion_ends_in_a_clean_error(void **state)
{
	(void) state;
	raises("local function f() return 1 + f() end f()", "stack overflow");
	raises("local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()", "stack overflow");
	raises("local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x",
		     "stack overflow");
	raises("local n = 0 local function f() n = n + 1 if n > 900000 then while true do end end f() end f()",
	       "policy.lua:1: stack overflow (more than 100000 calls inside each other)");
	raises("local s = string.rep('(', 300) .. string.rep(')', 300) return ('x'):find(s)", "too many captures");
}

/* What pairs() returns is a function like any other: it may be called with anything. */
static void an_iterator_looks_at_nothing_but_its_own_table(void **state)
{
	static const char *const table[] = { "{ 'a', 'b' }", "{ a = 1, b = 2 }", "{ 'a', x = 1 }", "string" };
	static const char *const argument[] = { "", "0x41414141", "nil", "'x'", "1.5, 2", "print", "setmetatable({}, {})" };
	char text[400];

	(void) state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		for (size_t k = 0; k < sizeof(argument) / sizeof(argument[0]); k++) {
			snprintf(text, sizeof(text), "local print, n, each = tostring, 0, pairs(%s) "
				 "for _ = 1, 2 do local k, v = each(%s) assert(k ~= nil and v ~= nil) end "
				 "while each(%s) do end assert(each(%s) == nil)",
				 table[i], argument[k], argument[k], argument[k]);
			is_fine(text);
		}
	is_fine("local t, n = { 1, 2, 3, x = 4 }, 0 for k in pairs(t) do t[k] = nil n = n + 1 end assert(n == 4)");
}

/* The collector may take fields away while their keys are being listed. */
static void a_table_that_shrinks_while_its_keys_are_sorted_is_traversed(void **state)
{
	(void) state;
	is_fine("for round = 1, 300 do "
		"  local meta = {} local t = setmetatable({}, meta) rawset(meta, '__mode', 'v') "
		"  for i = 1, 2000 do t['k' .. i] = { i } end "
		"  for k, v in pairs(t) do assert(v[1]) end "
		"end");
}

static void a_library_cannot_be_written_through_its_iterator(void **state)
{
	(void) state;
	is_fine("local _, of = pairs(string) assert(rawequal(of, string))");
	raises("local _, of = pairs(string) of.rep = 1", "'string' is read-only");
	raises("local _, of = pairs(math) rawset(of, 'pi', 3)", "rawset: this table is read-only");
	is_fine("local n = 0 for k, v in pairs(utf8) do assert(utf8[k] == v) n = n + 1 end assert(n == 6)");
}

/* A policy that finds nothing in what is not empty decides the contrary of what it means. */
static void all_that_reads_finds_in_a_view_what_is_in_the_table(void **state)
{
	(void) state;
	is_fine("local k, v = next(utf8) assert(k == 'char' and v == utf8.char)");
	is_fine("local n, k = 0, next(utf8) while k do n = n + 1 k = next(utf8, k) end assert(n == 6)");
	is_fine("assert(rawget(math, 'pi') == math.pi and rawget(math, 'no') == nil)");
	is_fine("assert(rawlen(math) == 0 and #math == 0 and rawlen('abc') == 3 and rawlen({ 1, 2 }) == 2)");
	is_fine("local t = setmetatable({ 1 }, { __index = { a = 1 }, __len = function() return 5 end }) "
		"assert(rawget(t, 'a') == nil and rawlen(t) == 1 and next(t) == 1 and next(t, 1) == nil)");
	raises("rawget(1, 2)", "table expected");
	raises("rawlen(1)", "table or string expected");
}

/* Whatever looks at the stack after the deadline must not take longer than the stack took to grow. */
static void the_deadline_is_kept_deep_inside_calls(void **state)
{
	static const char dive[] = "local function f(n) if n > 0 then f(n - 1) return end while true do end end f(90000)";
	struct sl_limit limit;
	struct sl_error err = { 0 };

	(void) state;
	assert_int_equal(run_in(&limit, dive, 64 * MIB, 100000, &err), -1);
	assert_int_equal(err.code, SL_ETIME);
	assert_non_null(limit.trace);
	assert_non_null(strstr(limit.trace, "policy.lua:1: in upvalue 'f'"));
	assert_non_null(strstr(limit.trace, "(more than 1000 calls)"));
	assert_true(strlen(limit.trace) < 4096);
	sl_limit_close(&limit);
	needs_time("local function f(n) pcall(f, n) end while true do f(1) end");
}

/* Else a script would get deeper with every overflow that it catches. */
static void an_overflow_of_the_stack_cannot_be_caught(void **state)
{
	(void) state;
	raises("local function f(n) if n > 0 then f(n - 1) return end end "
	       "while true do pcall(f, 400000) end", "stack overflow");
	raises("local function f() f() end while true do xpcall(f, function() return 'mine' end) end", "stack overflow");
	is_fine("local function f(n) if n > 0 then f(n - 1) return end end for i = 1, 10 do f(90000) end");
	is_fine("local t = {} for i = 1, 500000 do t[i] = i end assert(select('#', table.unpack(t)) == 500000)");
}

static void what_a_budget_suffices_for_is_not_disturbed(void **state)
{
	(void) state;
	is_fine("local n = 0 for i = 1, 1000000 do n = n + i end assert(n == 500000500000)");
	is_fine("local ok, e = pcall(error, 'caught') assert(not ok and e == 'caught')");
	is_fine("local ok, e = xpcall(function(a) error(a, 0) end, function(m) return m .. '!' end, 'x') assert(e == 'x!')");
	is_fine("assert(select('#', pcall(function() return 1, nil, 3 end)) == 4)");
	/* results that fill the stack: a Lua with assertions sees what is pushed on top of them */
	is_fine("local t = {} for i = 1, 600 do\n"
		"  t[i] = i\n"
		"  local ok = pcall(table.unpack, t)\n"
		"  assert(ok and select('#', pcall(table.unpack, t)) == i + 1 and select(-1, pcall(table.unpack, t)) == i)\n"
		"  assert(select('#', xpcall(table.unpack, tostring, t)) == i + 1 and select(2, xpcall(table.unpack, tostring, t)) == 1)\n"
		"end");
}

static void a_state_serves_again_after_the_deadline(void **state)
{
	struct sl_limit limit;
	struct sl_error err;

	(void) state;
	assert_int_equal(run_in(&limit, "while true do end", 64 * MIB, 10000, &err), -1);
	assert_non_null(limit.trace);
	assert_int_equal(sl_limit_arm(&limit, 10000000, &err), 0);
	assert_int_equal(sl_sandbox_load(limit.L, "policy.lua", "for i = 1, 1e6 do end", 21, NULL), LUA_OK);
	assert_int_equal(lua_pcall(limit.L, 0, 0, 0), LUA_OK);
	assert_null(limit.trace);
	sl_limit_close(&limit);
}

static void one_limit_a_thread_is_armed(void **state)
{
	struct sl_limit a, b;
	struct sl_error err;

	(void) state;
	assert_non_null(sl_limit_newstate(&a, MIB, &err));
	assert_non_null(sl_limit_newstate(&b, MIB, &err));
	assert_int_equal(sl_limit_arm(&a, 1000000, &err), 0);
	assert_int_equal(sl_limit_arm(&b, 1000000, &err), -1);
	assert_int_equal(err.code, SL_EBUSY);
	sl_limit_disarm(&a);
	assert_int_equal(sl_limit_arm(&b, 1000000, &err), 0);
	sl_limit_close(&b);
	assert_int_equal(sl_limit_arm(&a, -1, &err), -1);
	assert_int_equal(err.code, SL_EINVAL);
	sl_limit_close(&a);
}

static void *loop_in_a_thread(void *arg)
{
	struct sl_error *err = arg;
	sigset_t all;

	/* As slurmctld's children inherit them. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	run("while true do end", 16 * MIB, 20000, err);
	return NULL;
}

static void each_thread_has_its_own_deadline_even_with_blocked_signals(void **state)
{
	struct sl_error err[2] = { 0 };
	pthread_t thread[2];

	(void) state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, loop_in_a_thread, &err[i]), 0);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(err[i].code, SL_ETIME);
	}
}

/* Fail every allocation in turn by raising the cap byte by byte. */
static void any_allocation_may_fail(void **state)
{
	static const char text[] =
		"local t = {} for i = 1, 20 do t[#t + 1] = ('k%d'):format(i) t[t[i]] = i end "
		"table.sort(t, function(a, b) return a > b end) "
		"for k, v in pairs({ b = 1, a = 2, [{}] = nil }) do t[k] = v end "
		"return (table.concat(t, ','):gsub('%d+', { ['1'] = 'one' }))";
	struct sl_limit limit;
	struct sl_error err;
	lua_State *L;
	int done = 0, failed = 0;

	(void) state;
	for (size_t room = 0; !done; room += 64) {
		int status;

		L = sl_limit_newstate(&limit, 16 * MIB, &err);
		assert_non_null(L);
		lua_settop(L, 0);
		sl_sandbox_open(L);
		sl_limit_set_cap(&limit, limit.used + room);
		assert_int_equal(sl_limit_arm(&limit, 0, &err), 0);
		status = sl_sandbox_load(L, "policy.lua", text, sizeof(text) - 1, NULL);
		if (status == LUA_OK)
			status = lua_pcall(L, 0, 0, 0);
		if (status == LUA_OK) {
			done = 1;
		} else {
			failed++;
			assert_int_equal(sl_limit_fail(&limit, status, &err), -1);
			assert_int_equal(err.code, SL_ENOMEM);
		}
		sl_limit_close(&limit);
		assert_int_equal(limit.used, 0);
	}
	assert_true(failed > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_that_never_ends_is_ended),
		cmocka_unit_test(pcall_cannot_swallow_the_deadline),
		cmocka_unit_test(a_loop_inside_a_library_function_is_ended),
		cmocka_unit_test(a_pattern_that_backtracks_without_bound_is_ended),
		cmocka_unit_test(a_result_as_large_as_nothing_is_not_repeated_for_ever),
		cmocka_unit_test(eating_memory_ends_in_a_clean_error),
		cmocka_unit_test(recursion_ends_in_a_clean_error),
		cmocka_unit_test(an_iterator_looks_at_nothing_but_its_own_table),
		cmocka_unit_test(a_table_that_shrinks_while_its_keys_are_sorted_is_traversed),
		cmocka_unit_test(a_library_cannot_be_written_through_its_iterator),
		cmocka_unit_test(all_that_reads_finds_in_a_view_what_is_in_the_table),
		cmocka_unit_test(the_deadline_is_kept_deep_inside_calls),
		cmocka_unit_test(an_overflow_of_the_stack_cannot_be_caught),
		cmocka_unit_test(what_a_budget_suffices_for_is_not_disturbed),
		cmocka_unit_test(a_state_serves_again_after_the_deadline),
		cmocka_unit_test(one_limit_a_thread_is_armed),
		cmocka_unit_test(each_thread_has_its_own_deadline_even_with_blocked_signals),
		cmocka_unit_test(any_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
