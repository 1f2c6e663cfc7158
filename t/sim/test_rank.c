/* SPDX-License-Identifier: MIT */
/*
 * Policies that are a rank() and nothing else, in a simulation that follows what the function does without Lua
 * (model/rank_code.h): the same schedule and figures, byte for byte, as when Lua is asked at each instant.  Random functions on
 * random workloads; and functions that must be left to Lua.  SL_SEED and SL_ROUNDS choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/sim/both.h"

/* Forty jobs on 8 cores: so many arrive at once, the others later. */
static const char *crowd_of(uint32_t at_once)
{
	static struct text t;

	random_state = 7;
	t.n = 0;
	put(&t, "{\"meta\": {\"now\": 1000000}, \"nodes\": [{\"name\": \"n1\", \"cores\": 8}], \"partitions\": ["
	    "{\"name\": \"p\", \"nodes\": \"n1\", \"flags\": [\"UP\", \"DEFAULT\"]}], \"jobs\": [");
	for (uint32_t i = 1; i <= 40; i++)
		put(&t, "%s{\"id\": %u, \"submit_time\": %u, \"user\": \"u%u\", \"min_cpus\": %u, \"num_tasks\": %u, \"time_limit\": %u, "
		    "\"runtime_s\": %u, \"priority\": %u}", i > 1 ? ", " : "", i, 1000000 + (i > at_once ? i * 20 : 0), i % 4, 1 + i % 5, 1 + i % 5,
		    60 + below(300), 20 + below(60), i % 3);
	put(&t, "]}");
	return file(t.buf);
}

static const char *crowd(void)
{
	return crowd_of(15);
}

static struct outcome simulate_policy(const char *workload, const char *lua)
{
	struct sl_bundle_text text = { "mine", lua };
	struct sl_trial_options opt = { .workload = workload, .source = { .policy = "mine", .text = &text, .texts = 1 } };

	return simulate_both(&opt, lua);
}

#define POLICY(before, body) before " return { api = 1, name = 'mine', options = { p = { default = 100, min = 0, max = 1e9 } }, "	\
	"rank = function(job, cluster, opt) " body " end }"

static void a_rank_that_only_reads_is_asked_once(void **state)
{
	static const char *const policy[] = {
		POLICY("", "return 1"),
		POLICY("", "return job.time_limit, -job.submit_time"),
		POLICY("", "return -job.cpus * job.time_limit"),
		POLICY("", "if job.waited > opt.p then return job.waited end return -job.time_limit"),
		POLICY("", "local w, r = cluster.now - job.submit_time, math.max(1, job.time_limit) return (w / r) ^ 3 * job.cpus"),
		POLICY("", "local w, r = cluster.now - job.submit_time, math.max(1, job.time_limit) "
		       "return (w + 1e-15) / (math.log(job.cpus + 1e-15, 2) * r), -job.submit_time"),
		POLICY("", "local n, r = job.cpus, math.max(1, job.time_limit) "
		       "local s = math.log(math.max(0.1, job.submit_time - cluster.origin), 10) "
		       "return -(math.log(r, 10) * n + 870 * s), -job.submit_time"),
		POLICY("local function area(job) return job.cpus * job.time_limit end", "return -area(job)"),
		POLICY("local weight = { cpus = 3, wait = 0.1 }", "return weight.cpus * job.cpus + weight.wait * job.waited"),
		POLICY("local floor, max <const> = math.floor, 50", "return floor(job.waited / 60) > max and 1 or -job.id"),
		POLICY("", "return job.user == 'u1' and 10 or job.user and 5 or 0"),
		POLICY("", "return math.floor(math.sqrt(job.waited)) // 2 % 7"),
		POLICY("", "return math.max(job.cpus, math.min(job.id, 7, job.priority))"),
		POLICY("", "return (job.num_tasks or 0) * (job.exclusive and 2 or 1)"),
		POLICY("", "local v if job.cpus > 2 then v = job.id elseif job.cpus == 2 then v = 100 else v = -1 end return v"),
		"local M = { api = 1, name = 'mine' } local function of(job) return job.time_limit end "
			"function M.rank(job) return of(job) end return M",
	};
	const char *workload = crowd();

	(void) state;
	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
		struct outcome o = simulate_policy(workload, policy[i]);

		if (o.rc || o.asked != 1)
			fail_msg("%s: %s, asked %llu times", policy[i], o.err.text, (unsigned long long) o.asked);
	}
}

static void a_rank_that_does_more_is_left_to_lua(void **state)
{
	static const char *const policy[] = {
		POLICY("local n = 0", "n = n + 1 return -n"),
		POLICY("local seen = {}", "seen[job.id] = true return 1"),
		POLICY("local seen = {}", "seen.last = job.id return 1"),
		POLICY("", "local s = 0 for i = 1, 3 do s = s + i end return s"),
		POLICY("", "local n = job.id while n > 5 do n = n - 3 end return n"),
		POLICY("", "return #job.user"),
		POLICY("", "local f = function() return 1 end return f()"),
		POLICY("", "return tonumber('7')"),
		POLICY("", "return job.user .. '' == 'u1' and 1 or 0"),
		POLICY("", "return job.id & 3"),
		POLICY("", "slurm.log_debug('ranked') return 1"),
		POLICY("", "return ({ u1 = 1 })[job.user] or 0"),
		POLICY("", "return job.state == 'PENDING' and 1 or 0"),
		POLICY("", "return cluster:random(10)"),
		POLICY("", "local ok = pcall(error) return ok and 1 or 0"),
		POLICY("local t = setmetatable({}, { __index = function() return 1 end })", "return t.x"),
		POLICY("local function sum(...) return select('#', ...) end", "return sum(1, 2)"),
		/* other functions of the policy have a say, too */
		"return { api = 1, name = 'mine', rank = function(job) return job.id end, admit = function() return true end }",
		"return { api = 1, name = 'mine', rank = function(job) return job.id end, rerank = true }",
		"return { api = 1, name = 'mine', rank = function(job) return job.id end, place = function() end }",
		"local n = 0 return { api = 1, name = 'mine', rank = function(job) return n * job.id end, "
			"prepare = function() n = 1 - n end }",
		"return { api = 1, name = 'mine', rank = function(job, c, o, s) return s.x end, serve = function() return { x = 1 } end }",
	};
	const char *workload = crowd();

	(void) state;
	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
		struct outcome o = simulate_policy(workload, policy[i]);

		if (o.rc || o.asked < 2)
			fail_msg("%s: %s, asked %llu times", policy[i], o.err.text, (unsigned long long) o.asked);
	}
}

/* What it does with the first jobs is known, and what it does later is not. */
static void lua_goes_on_where_the_code_cannot_say(void **state)
{
	static const char *const policy[] = {
		POLICY("", "if job.waited > 200 and job.state == 'PENDING' then return job.id end return -job.time_limit"),
		POLICY("", "return job.id == 30 and job.partitions and 1 or job.cpus"),
	};
	const char *workload = crowd();

	(void) state;
	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
		struct outcome o = simulate_policy(workload, policy[i]), always = simulate_policy(workload, POLICY("", "return #job.user"));

		assert_int_equal(o.rc, 0);
		assert_true(o.asked > 1 && o.asked < always.asked);
	}
}

static void what_lua_raises_is_raised(void **state)
{
	static const struct {
		const char *policy, *text;
	} wrong[] = {
		{ POLICY("", "return job.waited > 50 and 0 / 0 or 1"), "not-a-number" },
		{ POLICY("", "if job.waited > 50 then return job.nothing end return 1"), "nothing" },
		{ POLICY("", "return job.waited > 50 and 1 // 0 or 1"), "divide by zero" },
		{ POLICY("", "if job.waited > 50 then return 'x' end return 1"), "rank returned" },
		{ POLICY("", "if job.waited > 50 then return end return 1"), "rank returned" },
		{ POLICY("", "if job.waited > 50 then return 1, false end return 1"), "rank returned" },
	};
	const char *workload = crowd();

	(void) state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct sl_bundle_text text = { "mine", wrong[i].policy };
		struct sl_trial_options opt = { .workload = workload, .source = { .policy = "mine", .text = &text, .texts = 1 } };
		struct outcome o = simulate(&opt, false);

		if (o.rc != -1 || !strstr(o.err.text, wrong[i].text))
			fail_msg("%s: %d %s", wrong[i].policy, o.rc, o.err.text);
	}
}

/* -- numbers at the edges of what they can be ------------------------------------- */

/* Another one for each job. */
static void put_edge(struct text *t, const char *name)
{
	static const char *const edge[] = {
		"0", "1", "-1", "2", "-2", "3", "-7", "10", "9007199254740992", "9007199254740993", "-9007199254740993",
		"math.maxinteger", "math.mininteger", "math.mininteger + 1", "0.0", "-0.0", "0.5", "-0.5", "1.0", "-1.0", "2.0", "-3.0",
		"7.25", "-7.25", "1e-320", "1e15", "9007199254740993.0", "9223372036854775808.0", "-9223372036854775808.0", "1e300",
		"-1e300", "math.huge", "-math.huge", "math.pi", "4503599627370497.5",
	};

	put(t, "local %s if job.id < 0 then %s = 0\n", name, name);
	for (int i = 1; i <= 40; i++)
		put(t, "elseif job.id == %d then %s = %s\n", i, name, edge[below(sizeof(edge) / sizeof(edge[0]))]);
	put(t, "end\n");
}

/* The promise is made only where the code says of each job what Lua says (bind/settle.c): then the policy is asked once. */
static void numbers_are_those_of_lua(void **state)
{
	static const char *const expression[] = {
		"a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ^ b", "-a", "a < b and 1 or 0", "a <= b and 1 or 0",
		"a > b and 1 or 0", "a == b and 1 or 0", "a ~= b and 1 or 0", "math.max(a, b)", "math.min(a, b, 1)", "math.floor(a)",
		"math.ceil(a)", "math.abs(a)", "math.exp(a)", "math.sqrt(a)", "math.log(a)", "math.log(a, b)", "math.log(a, 10)",
		"a < 3 and 1 or 0", "a >= -2 and 1 or 0", "a > 100 and 1 or 0", "a <= 7 and 1 or 0", "a == 1 and 1 or 0", "a == 0.5 and 1 or 0",
		"a + 1", "a - 100", "a * 3", "a % 7", "a // -2", "a ^ 2", "a ^ 0.5", "a / 3",
	};
	const uint64_t seed = number_from("SL_SEED", 1), runs = rounds_of(5);
	const char *workload;
	static struct text t;

	(void) state;
	workload = crowd_of(40);
	for (uint64_t i = seed; i < seed + runs; i++)
		for (size_t k = 0; k < sizeof(expression) / sizeof(expression[0]); k++) {
			struct sl_bundle_text text = { "mine", t.buf };
			struct sl_trial_options opt = { .workload = workload, .source = { .policy = "mine", .text = &text, .texts = 1 } };
			struct outcome o;

			failing_seed = random_state = i;
			t.n = 0;
			put(&t, "return { api = 1, name = 'mine', rank = function(job)\n");
			put_edge(&t, "a");
			put_edge(&t, "b");
			put(&t, "if b == 0 then b = 1 end local v = %s if v ~= v then v = -1 end return v, -job.id end }", expression[k]);
			o = simulate(&opt, false);
			if (o.rc || o.asked != 1)
				fail_msg("%s: %s, asked %llu times (SL_SEED=%llu)", expression[k], o.err.text,
					 (unsigned long long) o.asked, (unsigned long long) i);
		}
	failing_seed = 0;
}

/* -- random functions ------------------------------------------------------------- */

static void put_condition(struct text *t, int depth);

static void put_leaf(struct text *t)
{
	static const char *const leaf[] = {
		"job.cpus", "job.time_limit", "job.waited", "job.waited", "job.id", "job.submit_time", "job.priority", "job.min_nodes",
		"job.tasks", "job.gpus", "(job.num_tasks or k)", "cluster.now", "(cluster.now - cluster.origin)", "opt.p", "k",
		"weight.x", "weight.y", "area(job)", "0", "1", "2", "-1", "3", "127", "128", "-128", "1000000", "9007199254740993",
		"math.maxinteger", "math.mininteger", "0.5", "1e-15", "2.0", "-0.0", "1e300", "math.pi", "36.0",
	};

	put(t, "%s", leaf[below(sizeof(leaf) / sizeof(leaf[0]))]);
}

static void put_number(struct text *t, int depth)
{
	static const char *const operator[] = { "+", "-", "*", "/", "//", "%", "^", "+", "-", "*" };
	static const char *const function[] = { "math.floor", "math.ceil", "math.abs", "math.sqrt", "floor", "math.log", "math.exp", "- " };
	static const char *const pair[] = { "math.max", "math.min", "blend", "math.log" };
	uint32_t kind = depth ? below(8) : 0;

	if (kind < 2) {
		put_leaf(t);
	} else if (kind < 5) {
		put(t, "(");
		put_number(t, depth - 1);
		put(t, " %s ", operator[below(10)]);
		put_number(t, depth - 1);
		put(t, ")");
	} else if (kind == 5) {
		put(t, "%s(", function[below(8)]);
		put_number(t, depth - 1);
		put(t, ")");
	} else if (kind == 6) {
		put(t, "%s(", pair[below(4)]);
		put_number(t, depth - 1);
		put(t, ", ");
		put_number(t, depth - 1);
		put(t, ")");
	} else {
		put(t, "(");
		put_condition(t, depth - 1);
		put(t, " and ");
		put_number(t, depth - 1);
		put(t, " or ");
		put_number(t, depth - 1);
		put(t, ")");
	}
}

static void put_condition(struct text *t, int depth)
{
	static const char *const compare[] = { "<", "<=", ">", ">=", "==", "~=" };
	static const char *const fact[] = { "job.user == 'u3'", "job.exclusive", "job.num_tasks == nil", "weight.none", "job.account",
		"weight.name == job.user", "true", "opt.p ~= 'x'", "job.contiguous == false" };
	uint32_t kind = depth ? below(6) : below(4);

	if (kind < 2) {
		put_number(t, depth / 2);
		put(t, " %s ", compare[below(6)]);
		if (one_in(2))
			put(t, "%d", (int) between(-200, 200));
		else
			put_number(t, depth / 2);
	} else if (kind < 4) {
		put(t, "%s", fact[below(sizeof(fact) / sizeof(fact[0]))]);
	} else {
		put(t, kind == 4 ? "not (" : "((");
		put_condition(t, depth - 1);
		if (kind == 5) {
			put(t, one_in(2) ? ") and (" : ") or (");
			put_condition(t, depth - 1);
			put(t, ")");
		}
		put(t, ")");
	}
}

static void put_return(struct text *t)
{
	put(t, "return ");
	put_number(t, (int) between(0, 4));
	if (one_in(3)) {
		put(t, ", ");
		put_number(t, 2);
	}
}

static void put_statement(struct text *t)
{
	switch (below(4)) {
	case 0:
		put(t, "k1 = ");
		put_number(t, 3);
		break;
	case 1:
		put(t, "local k = k1 + ");
		put_number(t, 2);
		break;
	case 2:
		put(t, "if ");
		put_condition(t, 2);
		put(t, " then k1 = ");
		put_number(t, 2);
		put(t, one_in(2) ? " else k1 = k1 * 2 end" : " end");
		break;
	default:
		put(t, "if ");
		put_condition(t, 3);
		put(t, " then ");
		put_return(t);
		put(t, " end");
	}
	put(t, "\n");
}

static void put_policy(struct text *t)
{
	t->n = 0;
	put(t, "local k, floor, weight = %s, math.floor, { x = 2, y = 0.25, name = 'u1' }\n"
	    "local function area(job) return job.cpus * job.time_limit end\n"
	    "local function blend(a, b) if a > b then return a - b end return (a + b) / 2 end\n"
	    "return { api = 1, name = 'mine', options = { p = { default = %d, min = 0, max = 1000 } },\n"
	    "rank = function(job, cluster, opt) local k1 = 1\n", one_in(2) ? "7" : "3.5", (int) below(500));
	for (uint32_t i = below(4); i; i--)
		put_statement(t);
	put_return(t);
	put(t, " end }");
}

/* Is it a workload of which nothing is asked but a count of cores? */
static bool is_plain(const struct sl_trial_options *opt)
{
	struct sl_trial_options o = { .workload = opt->workload, .workload_options = opt->workload_options, .source = { .policy = "easy" } };

	return simulate(&o, false).asked <= 1;
}

/* That a rank is no number is told when it is asked: in a pool not before there is room for somebody. */
static bool has_failed(const struct sl_trial_options *opt)
{
	struct outcome o = simulate(opt, true);

	return o.rc < 0 && !strstr(o.err.text, "starts none") && !strstr(o.err.text, "no job") && !strstr(o.err.text, "no node");
}

static void a_random_rank_is_as_if_lua_were_asked(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), runs = rounds_of(300), cycles = 0, asked = 0, once = 0, failed = 0;
	static struct text workload, policy;

	(void) state;
	for (uint64_t i = seed; i < seed + runs; i++) {
		struct sl_bundle_text text = { "mine", policy.buf };
		struct sl_trial_options opt = { .source = { .policy = "mine", .text = &text, .texts = 1 } };
		struct outcome o;
		char what[60];

		failing_seed = random_state = i;
		put_workload(&workload, 60);
		put_policy(&policy);
		opt.workload = file(workload.buf);
		opt.workload_options.overrun = one_in(3) ? SL_OVERRUN_RAISES : SL_OVERRUN_ENDS;
		snprintf(what, sizeof(what), "SL_SEED=%llu", (unsigned long long) i);
		if (has_failed(&opt)) {
			failed++;
			continue;
		}
		o = simulate_both(&opt, what);
		cycles += o.result.cycles;
		asked += o.asked;
		once += o.asked <= 1;
		if (o.asked > 1 && is_plain(&opt))
			fail_msg("%s: asked %llu times: %s", what, (unsigned long long) o.asked, policy.buf);
	}
	failing_seed = 0;
	print_message("# %llu functions, %llu failed, %llu asked once; %llu cycles, asked at %llu\n", (unsigned long long) runs,
		      (unsigned long long) failed, (unsigned long long) once, (unsigned long long) cycles, (unsigned long long) asked);
	assert_true(failed * 2 <= runs && once * 2 >= runs - failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_only_reads_is_asked_once),
		cmocka_unit_test(a_rank_that_does_more_is_left_to_lua),
		cmocka_unit_test(lua_goes_on_where_the_code_cannot_say),
		cmocka_unit_test(what_lua_raises_is_raised),
		cmocka_unit_test(numbers_are_those_of_lua),
		cmocka_unit_test(a_random_rank_is_as_if_lua_were_asked),
	};

	return cmocka_run_group_tests(tests, both_set_up, both_tear_down);
}
