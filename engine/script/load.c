/* SPDX-License-Identifier: MIT */
/*
 * script/load.c - loading a policy set: read, compile, run, validate, probe.
 */
#include "script/private.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"

#define MAX_PROBED 64	/* partitions of the canned cluster */

/* What C needs of the site object. */
struct site {
	struct sl_site_figures *figures;
	const char *partition[MAX_PROBED];	/* the object keeps them */
	unsigned partitions;
};

/* Push a field of the table at *index*; raises if it is of another type. */
static void push_field(lua_State *L, int index, const char *name, int type)
{
	if (lua_getfield(L, index, name) != type)
		luaL_error(L, "the site's %s: expected %s, got %s", name, lua_typename(L, type), luaL_typename(L, -1));
}

static double figure(lua_State *L, const char *name)
{
	double value;

	push_field(L, -1, name, LUA_TNUMBER);
	value = lua_tonumber(L, -1);
	lua_pop(L, 1);
	return value;
}

/* Names of the partitions of the set on the top. */
static void read_partitions(lua_State *L, struct site *site)
{
	push_field(L, -1, "partitions", LUA_TTABLE);
	for (lua_Integer i = 1; site->partitions < MAX_PROBED - 1 && lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
		site->partition[site->partitions++] = lua_tostring(L, -1);
		lua_pop(L, 1);
	}
}

static int read_site(lua_State *L)
{
	struct site *site = lua_touserdata(L, 1);
	struct sl_site_figures *f = site->figures;
	int sets;

	sl_script_push_site(L);
	f->interval_s = figure(L, "interval");
	f->budget_s = figure(L, "budget");
	lua_getfield(L, -1, "hold_rest");
	push_field(L, -2, "hold_names", LUA_TSTRING);
	sl_fence_set(&f->hold, lua_toboolean(L, -2), lua_tostring(L, -1));
	lua_pop(L, 2);
	push_field(L, -1, "policy", LUA_TSTRING);
	strncpy(f->policy, lua_tostring(L, -1), sizeof(f->policy) - 1);
	lua_pop(L, 1);
	push_field(L, -1, "sets", LUA_TTABLE);
	sets = lua_gettop(L);
	for (lua_Integer i = 1; lua_rawgeti(L, sets, i) == LUA_TTABLE; i++) {
		read_partitions(L, site);
		lua_settop(L, sets);
	}
	/* and one that falls to the default set */
	site->partition[site->partitions++] = "the default";
	return 0;
}

static bool has_partition(const struct sl_snapshot *snap, const char *name)
{
	for (uint32_t p = 0; p < snap->partition.rows; p++)
		if (!strcmp(sl_snapshot_str(snap, snap->partition.name[p]), name))
			return true;
	return false;
}

int sl_bundle_strangers(const struct sl_bundle *b, const struct sl_snapshot *snap,
			void (*tell)(const char *what, void *arg), void *arg, struct sl_error *err)
{
	struct sl_script *s = sl_script_create(b, NULL, err);
	struct sl_site_figures figures;
	struct site site = { .figures = &figures };
	char text[512];
	int found = 0;

	if (!s)
		return -1;
	if (sl_script_call(s, read_site, &site, err))
		found = -1;
	for (unsigned i = 0; !found && i + 1 < site.partitions; i++) {	/* the last one stands for all others */
		if (has_partition(snap, site.partition[i]))
			continue;
		snprintf(text, sizeof(text), "%.300s: no partition '%.64s' in this cluster: what is said of it has no effect",
			 b->site ? b->site : b->policy, site.partition[i]);
		tell(text, arg);
	}
	sl_script_destroy(s);
	return found;
}

/* Let the script decide about a snapshot and check what it decided. */
static int try_on(struct sl_script *s, const struct sl_snapshot *snap, const struct sl_limits *limits, char **trace,
		  struct sl_error *err)
{
	struct sl_plan_figures fig = { 0 };
	struct sl_cluster *c = sl_cluster_create(snap, err);
	struct sl_plan *p = c ? sl_plan_create(c, err) : NULL;
	struct sl_builder *b = p ? sl_builder_create(&sl_plan_schema, err) : NULL;
	struct sl_plan_image image;
	const void *bytes;
	size_t size;
	int r = -1;

	if (!b)
		goto done;
	if (sl_script_decide(s, c, p, limits, &fig, trace, err))
		goto done;
	if (sl_plan_encode(p, &fig, b, err) || sl_builder_finish(b, &bytes, &size, err) ||
	    sl_plan_image_open(&image, bytes, size, err) || sl_check_plan(snap, &image, err)) {
		sl_fail_in(err, "the plan");
		goto done;
	}
	r = 0;
done:
	sl_builder_destroy(b);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
	return r;
}

static int probe(struct sl_script *s, const struct site *site, const struct sl_limits *limits, char **trace,
		 struct sl_error *err)
{
	struct sl_limits defaults = { .memory = 0, .budget_us = SL_LOAD_BUDGET_US };
	struct sl_snapshot snap;
	size_t size;
	void *bytes = sl_probe_snapshot(site->partition, site->partitions, &size, err);
	int r = -1;

	if (bytes && !sl_snapshot_open(&snap, bytes, size, err))
		r = try_on(s, &snap, limits ? limits : &defaults, trace, err);
	free(bytes);
	if (r && err) {
		size_t n = strlen(err->text);

		snprintf(err->text + n, sizeof(err->text) - n, " (while probed on a canned cluster)");
	}
	return r;
}

struct sl_bundle *sl_bundle_load(const struct sl_bundle_source *src, const struct sl_limits *limits,
				 char **trace, struct sl_error *err)
{
	struct sl_bundle *b;
	struct site site = { 0 };
	struct sl_script *s;
	int r;

	if (trace)
		*trace = NULL;
	b = sl_bundle_open(src, err);
	if (!b)
		return NULL;
	s = sl_script_new(b, limits, trace, err);
	if (!s) {
		sl_bundle_destroy(b);
		return NULL;
	}
	/* no policy requires them: for sl_script_explain() and sl_script_stand_in() */
	sl_bundle_module(b, "sched.explain", NULL);
	sl_bundle_own(b, "sched.stand_in", "policies/easy.lua", NULL);
	site.figures = &b->figures;
	r = sl_script_call(s, read_site, &site, err);
	if (!r)
		r = probe(s, &site, limits, trace, err);
	sl_script_destroy(s);
	sl_bundle_seal(b);
	if (!r)
		return b;
	sl_bundle_destroy(b);
	return NULL;
}
