/* SPDX-License-Identifier: MIT */
/*
 * script_load.c - loading a policy set: read, compile, run, validate, probe.
 */
#include "script_private.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MAX_PROBED 64	/* partitions of the canned cluster */

/* Copy a figure of the site object, which is on the top of the stack. */
static double figure(lua_State *L, const char *name)
{
	double value;

	lua_getfield(L, -1, name);
	value = lua_tonumber(L, -1);
	lua_pop(L, 1);
	return value;
}

static void read_figures(struct sl_script *s, struct sl_site_figures *f)
{
	lua_State *L = s->x.L;

	sl_script_push_site(s);
	f->interval_s = figure(L, "interval");
	f->budget_s = figure(L, "budget");
	lua_getfield(L, -1, "policy");
	strncpy(f->policy, lua_tostring(L, -1), sizeof(f->policy) - 1);
	lua_pop(L, 2);
}

/* Names of the partitions that the site has sets for; they live in the site object. */
static unsigned named_partitions(struct sl_script *s, const char *name[MAX_PROBED])
{
	lua_State *L = s->x.L;
	unsigned n = 0;

	sl_script_push_site(s);
	lua_getfield(L, -1, "sets");
	for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TTABLE; i++) {
		lua_getfield(L, -1, "partitions");
		for (lua_Integer k = 1; n < MAX_PROBED - 1 && lua_rawgeti(L, -1, k) == LUA_TSTRING; k++) {
			name[n++] = lua_tostring(L, -1);
			lua_pop(L, 1);
		}
		lua_settop(L, 3);
		lua_settop(L, 2);
	}
	lua_settop(L, 0);
	/* and one that falls to the default set */
	name[n++] = "the default";
	return n;
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

static int probe(struct sl_script *s, const struct sl_limits *limits, char **trace, struct sl_error *err)
{
	struct sl_limits defaults = { .memory = 0, .budget_us = SL_LOAD_BUDGET_US };
	const char *name[MAX_PROBED];
	struct sl_snapshot snap;
	size_t size;
	void *bytes = sl_probe_snapshot(name, named_partitions(s, name), &size, err);
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
	/* no policy requires it: for sl_script_explain() */
	sl_bundle_module(b, "sched.explain", NULL);
	read_figures(s, &b->figures);
	r = probe(s, limits, trace, err);
	sl_script_destroy(s);
	sl_bundle_seal(b);
	if (!r)
		return b;
	sl_bundle_destroy(b);
	return NULL;
}
