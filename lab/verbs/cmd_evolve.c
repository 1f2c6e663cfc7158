/* SPDX-License-Identifier: MIT */
/*
 * cmd_evolve.c - schedlua evolve: policies found by search over programs.
 *
 * The search is Lua (lib/sched/evolve.lua); here are its options, and a state in which it runs.
 */
#include "tool/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <lauxlib.h>
#include <lualib.h>

#include "bundle/bundle.h"
#include "tool/progress.h"
#include "verbs/evolve_host.h"
#include "verbs/sim_args.h"

struct values {
	struct sl_workload_args args;
	struct sl_sim_args sim;
	const char *judge, *search, *objective, *baseline, *bound, *proposer, *trial, *state, *part, *output, *name;
	int64_t windows, window, population, generations, length, proposals, cpu, workers;
	double parsimony, guard, patience, hours;
	bool quiet;
};

#define OPTION_OF(n, t) .name = #n, .type = SL_OPTION_##t, .offset = offsetof(struct values, n)

static const struct sl_option options[] = {
	{ OPTION_OF(judge, TEXT), .argument = "\"WORKLOAD...\"", .doc = "workloads that only judge, separated by blanks" },
	{ OPTION_OF(search, TEXT), .argument = "WHAT", .standard = "rank",
	  .doc = "rank, the order of jobs, or score, where they are placed" },
	{ OPTION_OF(objective, TEXT), .argument = "FIGURE", .standard = "bsld",
	  .doc = "what is to become better: bsld, wait, longest, utilization, gpus or fairness" },
	{ OPTION_OF(baseline, TEXT), .argument = "POLICY", .standard = "predictive", .doc = "the policy that is to be beaten" },
	{ OPTION_OF(bound, TEXT), .argument = "POLICY", .standard = "easy",
	  .doc = "the policy whose largest bounded slowdown is not to be exceeded" },
	{ OPTION_OF(guard, NUMBER), .min = 0, .max = 1000, .standard = "0.3", .argument = "X",
	  .doc = "how much that counts: X times the logarithm of what is above; 0: nothing" },
	{ OPTION_OF(window, INTEGER), .min = 2, .max = SL_WORKLOAD_MAX_JOBS, .standard = "500", .argument = "JOBS",
	  .doc = "jobs of a window" },
	{ OPTION_OF(windows, INTEGER), .min = 2, .max = 1000, .standard = "12", .argument = "N",
	  .doc = "windows of each workload, at most; every other one judges" },
	{ OPTION_OF(population, INTEGER), .min = 4, .max = 100000, .standard = "48", .argument = "N",
	  .doc = "new programs of a generation" },
	{ OPTION_OF(generations, INTEGER), .min = 1, .max = 100000, .standard = "8", .argument = "N", .doc = "how many there are" },
	{ OPTION_OF(length, INTEGER), .min = 1, .max = 1000, .standard = "40", .argument = "N",
	  .doc = "the most operators, fields and constants of an expression" },
	{ OPTION_OF(parsimony, NUMBER), .min = 0, .max = 10, .standard = "0.002", .argument = "X",
	  .doc = "what each of them costs, in parts of the objective" },
	{ OPTION_OF(proposer, TEXT), .argument = "COMMAND",
	  .doc = "a program that is given the best programs and prints a new one" },
	{ OPTION_OF(proposals, INTEGER), .min = 1, .max = 1000, .standard = "4", .argument = "N",
	  .doc = "how often it is asked in a generation" },
	{ OPTION_OF(patience, NUMBER), .min = 0.01, .max = 86400, .standard = "60", .argument = "SECONDS",
	  .doc = "how long it may take to answer" },
	{ OPTION_OF(trial, TEXT), .argument = "COMMAND",
	  .doc = "judge programs by what it prints, in place of simulations" },
	{ OPTION_OF(cpu, INTEGER), .min = 1, .max = 86400, .standard = "60", .argument = "SECONDS",
	  .doc = "a program that needs more CPU time to simulate a window loses" },
	{ OPTION_OF(hours, NUMBER), .min = 0, .max = 10000, .argument = "N",
	  .doc = "begin no simulation after so many hours; 0: however long it takes" },
	{ OPTION_OF(state, TEXT), .argument = "DIRECTORY", .doc = "keep results there, and go on from those that are there" },
	{ OPTION_OF(part, TEXT), .argument = "I/N",
	  .doc = "with --state: do part I of N, I from 0 on, of the next step and end: for job arrays" },
	{ OPTION_OF(output, TEXT), .argument = "DIRECTORY", .doc = "write the policy, its spec and its evidence there" },
	{ OPTION_OF(name, TEXT), .argument = "NAME", .standard = "evolved", .doc = "what the policy is called" },
	{ OPTION_OF(workers, INTEGER), .min = 0, .max = 4096, .standard = "0", .argument = "N",
	  .doc = "simulations at a time; 0: as many as there are processors" },
	SL_WORKLOAD_ARGS(values, args),
	SL_SIM_ARGS(values, sim),
	{ OPTION_OF(quiet, FLAG), .doc = "no progress bar, and nothing about generations" },
	{ 0 }
};

/* The options as a table, each by its name; what has no value is left out. */
static void push_options(lua_State *L, const struct values *v)
{
	lua_newtable(L);
	for (const struct sl_option *o = options; o->name; o++) {
		const char *at = (const char *) v + o->offset;

		if (o->type == SL_OPTION_FLAG)
			lua_pushboolean(L, *(const bool *) at);
		else if (o->type == SL_OPTION_INTEGER)
			lua_pushinteger(L, *(const int64_t *) at);
		else if (o->type == SL_OPTION_NUMBER)
			lua_pushnumber(L, *(const double *) at);
		else
			lua_pushstring(L, *(const char *const *) at);
		lua_setfield(L, -2, o->name);
	}
}

static void push_words(lua_State *L, char **word, int words)
{
	lua_createtable(L, words, 0);
	for (int i = 0; i < words; i++) {
		lua_pushstring(L, word[i]);
		lua_rawseti(L, -2, i + 1);
	}
}

/* The search's own files, of the project, are found where policies find theirs (bundle/bundle.h). */
static void set_path(lua_State *L)
{
	const char *env = getenv("SCHEDLUA_PATH");
	char *bundled = env && *env ? strdup(env) : sl_bundle_bundled_directory();

	lua_getglobal(L, "package");
	lua_pushfstring(L, "%s/lib/?.lua", bundled ? bundled : ".");
	lua_setfield(L, -2, "path");
	lua_pushstring(L, "");
	lua_setfield(L, -2, "cpath");
	lua_pop(L, 1);
	free(bundled);
}

struct call {
	struct sl_evolve_host *host;
	const struct values *v;
	char **workload;
	int workloads;
};

/* Protected: whatever raises ends up in search(). */
static int call_search(lua_State *L)
{
	struct call *c = lua_touserdata(L, 1);

	luaL_openlibs(L);
	set_path(L);
	lua_getglobal(L, "require");
	lua_pushstring(L, "sched.evolve");
	lua_call(L, 1, 1);
	lua_getfield(L, -1, "run");
	sl_evolve_push(L, c->host);
	push_options(L, c->v);
	push_words(L, c->workload, c->workloads);
	lua_call(L, 3, 1);
	return 1;
}

static int with_trace(lua_State *L)
{
	/* what is wrong with the input is a table { why = }; what is wrong with the search a text */
	if (lua_type(L, 1) == LUA_TSTRING)
		luaL_traceback(L, L, lua_tostring(L, 1), 1);
	else
		lua_getfield(L, 1, "why");
	return 1;
}

static int search(struct call *c)
{
	lua_State *L = luaL_newstate();
	int status = SL_EXIT_FAILED;

	if (!L) {
		fprintf(stderr, "schedlua: out of memory\n");
		return status;
	}
	lua_pushcfunction(L, with_trace);
	lua_pushcfunction(L, call_search);
	lua_pushlightuserdata(L, c);
	if (lua_pcall(L, 1, 1, 1) == LUA_OK)
		status = lua_toboolean(L, -1) ? SL_EXIT_FINE : SL_EXIT_FAILED;
	else
		fprintf(stderr, "schedlua: %s\n", lua_isstring(L, -1) ? lua_tostring(L, -1) : "evolve failed");
	lua_close(L);
	return status;
}

/* Ctrl-C, or the end of the hours, ends it when the simulations that run are done. */
static const volatile sig_atomic_t *stop_on_signals(double hours)
{
	struct itimerval when = { .it_value = { (time_t) (hours * 3600), (suseconds_t) (fmod(hours * 3600, 1) * 1e6) } };

	sl_tool_stop_on(SIGTERM);
	sl_tool_stop_on(SIGALRM);
	if (hours > 0)
		setitimer(ITIMER_REAL, &when, NULL);
	return sl_tool_stop_on(SIGINT);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_progress bar;
	struct values v;
	int status, n = sl_tool_parse(verb, &v, argc, argv, 1, -1, &status);
	struct sl_evolve_host host;

	if (n < 0)
		return status;
	if (sl_sim_args_wrong(&v.sim))
		return sl_tool_usage(verb, "%s", sl_sim_args_wrong(&v.sim));
	if (v.part && !v.state)
		return sl_tool_usage(verb, "--part: expected --state as well: parts meet there");
	if (v.args.skip || v.args.first)
		return sl_tool_usage(verb, "--skip and --first: expected --window and --windows, or --from and --to");
	host = (struct sl_evolve_host) {
		.trial = { .workload_options = sl_workload_args(&v.args), .source = { .path = v.sim.path }, .sim = sl_sim_args(&v.sim) },
		.workers = (uint32_t) v.workers, .cpu_s = (uint32_t) v.cpu, .stop = stop_on_signals(v.hours),
		.progress = sl_progress_trials, .progress_arg = &bar,
	};
	sl_progress_begin(&bar, "simulations", v.quiet);
	status = search(&(struct call) { &host, &v, argv, n });
	sl_progress_end(&bar);
	sl_evolve_close(&host);
	return sl_tool_end(status);
}

const struct sl_verb sl_verb_evolve = {
	.name = "evolve",
	.operands = "[OPTION]... WORKLOAD...",
	.summary = "search for a policy: expressions bred by simulation",
	.options = options,
	.run = run,
};
