/* SPDX-License-Identifier: MIT */
#include "verbs/evolve_host.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <lauxlib.h>

#include "base/grow.h"
#include "base/map.h"
#include "report/interval.h"
#include "verbs/ask_command.h"

#define PROGRAM "evolve_program"
#define JUDGE "evolve_judge"

/* Part of a workload, read once and inherited by all simulations. */
struct sl_evolve_window {
	char *name;
	uint32_t skip, first;
	struct sl_workload *workload;
};

/*
 * What is simulated of a program: itself, but a rank or a score that is infinite becomes NaN, which is an error.  (The engine would
 * order jobs by an infinite rank.)  A rank that only calculates remains one, so that simulations can follow it without Lua.
 */
static const char judge[] =
	"local M = require '" PROGRAM "'\n"
	"if type(M) ~= 'table' then\n"
	"	return M\n"
	"end\n"
	"local copy, rank, score = {}, M.rank, M.score\n"
	"for key, value in pairs(M) do\n"
	"	copy[key] = value\n"
	"end\n"
	"copy.rank = rank and function(job, cluster, opt, state)\n"
	"	local a, b = rank(job, cluster, opt, state)\n"
	"	return a + (a - a), b\n"
	"end\n"
	"copy.score = score and function(job, class, cluster, opt, state)\n"
	"	local a = score(job, class, cluster, opt, state)\n"
	"	return a and a + (a - a)\n"
	"end\n"
	"return copy\n";

static struct sl_evolve_host *host_of(lua_State *L)
{
	return lua_touserdata(L, lua_upvalueindex(1));
}

static int push_failure(lua_State *L, const struct sl_error *err)
{
	lua_pushnil(L);
	lua_pushstring(L, err->text);
	return 2;
}

/* -- windows -------------------------------------------------------------------- */

/* NULL with *err. */
static const struct sl_workload *read_window(struct sl_evolve_host *host, const char *name, uint32_t skip, uint32_t first,
					     struct sl_error *err)
{
	struct sl_workload_options opt = host->trial.workload_options;
	struct sl_evolve_window *w;

	for (uint32_t i = 0; i < host->windows; i++) {
		w = &host->window[i];
		if (w->skip == skip && w->first == first && !strcmp(w->name, name))
			return w->workload;
	}
	if (sl_grow_list(&host->window, host->windows, sizeof(*host->window), err) < 0)
		return NULL;
	opt.skip = skip;
	opt.jobs = first;
	w = &host->window[host->windows];
	*w = (struct sl_evolve_window) { strdup(name), skip, first, sl_workload_load(name, &opt, err) };
	if (w->name && w->workload) {
		host->windows++;
		return w->workload;
	}
	if (!w->name)
		sl_fail(err, SL_ENOMEM, "evolve: out of memory");
	sl_workload_destroy(w->workload);
	free(w->name);
	return NULL;
}

static int host_jobs(lua_State *L)
{
	struct sl_evolve_host *host = host_of(L);
	struct sl_error err = { 0 };
	struct sl_workload *w = sl_workload_load(luaL_checkstring(L, 1), &host->trial.workload_options, &err);

	if (!w)
		return push_failure(L, &err);
	lua_pushinteger(L, w->snap.job.rows);
	sl_workload_destroy(w);
	return 1;
}

/* -- simulations ------------------------------------------------------------------ */

/* A list of them, freed with its userdata whatever happens. */
struct batch {
	struct sl_trial_options *trial;
	struct sl_trial_outcome *outcome;
	struct sl_bundle_text *text;	/* two of each: the program, and its judge */
	lua_State *L;
	bool failed;			/* what is told of those that end has raised an error, which is on the stack */
};

static int batch_gc(lua_State *L)
{
	struct batch *b = lua_touserdata(L, 1);

	free(b->trial);
	free(b->outcome);
	free(b->text);
	*b = (struct batch) { 0 };
	return 0;
}

/* The text in the field of the table at the top, which keeps it alive; NULL: there is none. */
static const char *text_field(lua_State *L, const char *name)
{
	const char *text;

	lua_getfield(L, -1, name);
	text = lua_tostring(L, -1);
	lua_pop(L, 1);
	return text;
}

static uint32_t number_field(lua_State *L, const char *name)
{
	uint32_t n;

	lua_getfield(L, -1, name);
	n = (uint32_t) lua_tointeger(L, -1);
	lua_pop(L, 1);
	return n;
}

/* Of the request at the top of the stack. */
static int fill_trial(struct sl_evolve_host *host, struct batch *b, uint32_t i, lua_State *L, struct sl_error *err)
{
	const char *text = text_field(L, "text"), *policy = text_field(L, "policy"), *name = text_field(L, "workload");
	struct sl_bundle_text *files = b->text + (size_t) 2 * i;
	struct sl_trial_options *t = &b->trial[i];

	if (!name || !text == !policy)
		return sl_fail(err, SL_EINVAL, "evolve: a simulation without a workload or a policy");
	*t = host->trial;
	t->workload = name;
	t->loaded = read_window(host, name, number_field(L, "skip"), number_field(L, "first"), err);
	if (!t->loaded)
		return -1;
	t->source.policy = policy;
	if (text) {
		files[0] = (struct sl_bundle_text) { PROGRAM, text };
		files[1] = (struct sl_bundle_text) { JUDGE, judge };
		t->source.policy = JUDGE;
		t->source.text = files;
		t->source.texts = 2;
	}
	return 0;
}

static void push_figures(lua_State *L, const struct sl_trial_outcome *o)
{
	const struct sl_result *r = &o->result;
	const struct { const char *name; double value; } figure[] = {
		{ "bsld", r->bsld.mean }, { "largest", r->bsld.max }, { "wait", r->wait_s.mean }, { "longest", r->wait_s.max },
		{ "utilization", r->utilization }, { "gpu_utilization", r->gpu_utilization }, { "gini", r->user_wait_gini },
		{ "jobs", (double) r->jobs }, { "unfinished", (double) r->unfinished },
	};

	lua_newtable(L);
	if (o->err.code) {
		lua_pushstring(L, o->err.text);
		lua_setfield(L, -2, "error");
		return;
	}
	for (size_t i = 0; i < sizeof(figure) / sizeof(*figure); i++) {
		lua_pushnumber(L, figure[i].value);
		lua_setfield(L, -2, figure[i].name);
	}
}

/* Tell Lua, without leaving the sweep: its error is raised afterwards. */
static void tell_ended(uint32_t i, void *arg)
{
	struct batch *b = arg;

	if (b->failed)
		return;
	lua_pushvalue(b->L, 2);
	lua_pushinteger(b->L, (lua_Integer) i + 1);
	push_figures(b->L, &b->outcome[i]);
	b->failed = lua_pcall(b->L, 2, 0, 0) != LUA_OK;
}

static int host_simulate(lua_State *L)
{
	struct sl_evolve_host *host = host_of(L);
	struct batch *b;
	struct sl_error err = { 0 };
	uint32_t count;

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_settop(L, 2);
	count = (uint32_t) lua_rawlen(L, 1);
	b = lua_newuserdatauv(L, sizeof(*b), 0);
	*b = (struct batch) { .L = L };
	luaL_setmetatable(L, JUDGE);
	b->trial = calloc(count + 1, sizeof(*b->trial));
	b->outcome = calloc(count + 1, sizeof(*b->outcome));
	b->text = calloc(2 * ((size_t) count + 1), sizeof(*b->text));
	if (!b->trial || !b->outcome || !b->text)
		return luaL_error(L, "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		lua_rawgeti(L, 1, (lua_Integer) i + 1);
		luaL_checktype(L, -1, LUA_TTABLE);
		if (fill_trial(host, b, i, L, &err) < 0)
			return push_failure(L, &err);
		lua_pop(L, 1);
	}
	if (sl_sweep_run(&(struct sl_sweep) { .trial = b->trial, .outcome = b->outcome, .trials = count, .workers = host->workers,
			.cpu_s = host->cpu_s, .stop = host->stop, .progress = host->progress, .progress_arg = host->progress_arg,
			.ended = tell_ended, .ended_arg = b }, &err) < 0)
		return push_failure(L, &err);
	if (b->failed)
		return lua_error(L);
	lua_pushboolean(L, !(host->stop && *host->stop));
	return 1;
}

/* -- the rest ----------------------------------------------------------------------- */

static int host_ask(lua_State *L)
{
	struct sl_evolve_host *host = host_of(L);
	size_t input_length, length;
	const char *command = luaL_checkstring(L, 1), *input = luaL_checklstring(L, 2, &input_length);
	struct sl_error err = { 0 };
	char *answer;

	if (sl_ask_command(command, input, input_length, luaL_checknumber(L, 3), (size_t) luaL_checkinteger(L, 4), host->stop,
			   &answer, &length, &err) < 0)
		return push_failure(L, &err);
	lua_pushlstring(L, answer, length);
	free(answer);
	return 1;
}

static int host_stopped(lua_State *L)
{
	const volatile sig_atomic_t *stop = host_of(L)->stop;

	lua_pushboolean(L, stop && *stop);
	return 1;
}

/* files(directory, tail): names of what is in it and ends in *tail*, sorted.  The directory is made where there is none. */
static int host_files(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1), *tail = luaL_checkstring(L, 2);
	struct dirent **entry;
	int n = mkdir(path, 0777) && errno != EEXIST ? -1 : scandir(path, &entry, NULL, alphasort);
	lua_Integer count = 0;

	if (n < 0) {
		lua_pushnil(L);
		lua_pushfstring(L, "%s: %s", path, strerror(errno));
		return 2;
	}
	lua_newtable(L);
	for (int i = 0; i < n; i++) {
		size_t length = strlen(entry[i]->d_name), its = strlen(tail);

		if (length > its && !strcmp(entry[i]->d_name + length - its, tail)) {
			lua_pushstring(L, entry[i]->d_name);
			lua_rawseti(L, -2, ++count);
		}
		free(entry[i]);
	}
	free(entry);
	return 1;
}

static int host_digest(lua_State *L)
{
	size_t length;
	const char *text = luaL_checklstring(L, 1, &length);
	char digits[17];

	snprintf(digits, sizeof(digits), "%016" PRIx64, sl_digest(SL_HASH, text, length));
	lua_pushstring(L, digits);
	return 1;
}

static int host_student95(lua_State *L)
{
	lua_pushnumber(L, sl_student95((unsigned) luaL_checkinteger(L, 1)));
	return 1;
}

void sl_evolve_push(lua_State *L, struct sl_evolve_host *host)
{
	static const luaL_Reg functions[] = {
		{ "jobs", host_jobs }, { "simulate", host_simulate }, { "ask", host_ask }, { "stopped", host_stopped },
		{ "files", host_files }, { "digest", host_digest }, { "student95", host_student95 }, { NULL, NULL }
	};

	luaL_newmetatable(L, JUDGE);
	lua_pushcfunction(L, batch_gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
	luaL_newlibtable(L, functions);
	lua_pushlightuserdata(L, host);
	luaL_setfuncs(L, functions, 1);
}

void sl_evolve_close(struct sl_evolve_host *host)
{
	for (uint32_t i = 0; i < host->windows; i++) {
		sl_workload_destroy(host->window[i].workload);
		free(host->window[i].name);
	}
	free(host->window);
	host->window = NULL;
	host->windows = 0;
}
