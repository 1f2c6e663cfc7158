/* SPDX-License-Identifier: MIT */
/*
 * script/load.c - loading a policy set: read, compile, run, validate, probe.
 */
#include "script/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/suggest.h"
#include "check/check.h"

#define MAX_PROBED 64	/* partitions of the canned cluster */
#define NAME_SIZE 256	/* of a partition */

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

static int read_site(lua_State *L)
{
	struct sl_bundle *b = lua_touserdata(L, 1);
	struct sl_site_figures *f = &b->figures;

	sl_script_push_site(L);
	f->interval_s = figure(L, "interval");
	f->budget_s = figure(L, "budget");
	f->wake_after_s = figure(L, "wake_after");
	f->variants = (unsigned) figure(L, "variants");
	lua_getfield(L, -1, "hold_rest");
	push_field(L, -2, "hold_names", LUA_TSTRING);
	sl_fence_set(&f->hold, lua_toboolean(L, -2), lua_tostring(L, -1));
	lua_pop(L, 2);
	push_field(L, -1, "policy", LUA_TSTRING);
	strncpy(f->policy, lua_tostring(L, -1), sizeof(f->policy) - 1);
	lua_pop(L, 1);
	push_field(L, -1, "named", LUA_TSTRING);
	if (!(b->partitions = strdup(lua_tostring(L, -1))))
		luaL_error(L, "out of memory");
	lua_pop(L, 1);
	push_field(L, -1, "tunables", LUA_TFUNCTION);
	lua_pushvalue(L, -2);
	lua_call(L, 1, 1);
	if (!(b->tunables = strdup(lua_tostring(L, -1))))
		luaL_error(L, "out of memory");
	return 0;
}

/* No policy requires what sl_script_stand_in() runs: it comes in here, with all that it requires in turn.  What
 * cluster.clock, sl_script_explain() and sl_bundle_undefined() need is only read, since few cycles ask for it; a module of
 * the list requires none but those in it, and those that each site requires. */
static int read_own(lua_State *L)
{
	static const char *const later[] = { "sched.clock", "sched.component", "sched.data_file", "sched.explain", "sched.lint" };
	struct sl_bundle *b = lua_touserdata(L, 1);
	struct sl_error err;
	bool ok = sl_bundle_own(b, "sched.stand_in", "policies/easy.lua", &err) && sl_bundle_zone(b, "", &err);

	for (size_t i = 0; ok && i < sizeof(later) / sizeof(later[0]); i++)
		ok = sl_bundle_module(b, later[i], &err);
	if (!ok)
		luaL_error(L, "%s", err.text);
	sl_lua_require(L, "sched.stand_in");
	return 0;
}

/* -- partitions that the site file names ------------------------------------ */

/* The next one of "FILE:LINE: NAME\n"...; *where* is the length of the part before ": NAME".
 * NULL past the last. */
static const char *next_named(const char **at, int *where, char name[NAME_SIZE])
{
	const char *line = *at, *end = strchr(line, '\n'), *colon;

	if (!end)
		return NULL;
	for (colon = end; colon > line && strncmp(colon, ": ", 2);)
		colon--;
	*where = (int) (colon - line);
	snprintf(name, NAME_SIZE, "%.*s", (int) (end - colon - 2), colon + 2);
	*at = end + 1;
	return line;
}

static bool has_partition(const struct sl_snapshot *snap, struct sl_nearest *near)
{
	for (uint32_t p = 0; p < snap->partition.rows; p++) {
		const char *name = sl_snapshot_str(snap, snap->partition.name[p]);

		if (!strcmp(name, near->word))
			return true;
		sl_nearest_try(near, name);
	}
	return false;
}

void sl_bundle_strangers(const struct sl_bundle *b, const struct sl_snapshot *snap,
			 void (*tell)(const char *what, void *arg), void *arg)
{
	const char *at = b->partitions, *line;
	char name[NAME_SIZE], text[1024], hint[NAME_SIZE + 20];
	int where;

	while ((line = next_named(&at, &where, name))) {
		struct sl_nearest near = { .word = name };

		if (has_partition(snap, &near))
			continue;
		snprintf(hint, sizeof(hint), near.best ? "; did you mean '%s'?" : "%s", near.best ? near.best : "");
		snprintf(text, sizeof(text), "%.*s: no partition '%s' in this cluster: what is said of it has no effect%s",
			 where < 300 ? where : 300, line, name, hint);
		tell(text, arg);
	}
}

/* Let the script decide about a snapshot and check what it decided.  A row that the checker refuses is a
 * mistake of the planner: no reason to refuse the set. */
static int try_on(struct sl_script *s, const struct sl_snapshot *snap, const struct sl_limits *limits, char **trace,
		  struct sl_error *err)
{
	struct sl_plan_figures fig = { 0 };
	struct sl_cluster *c = sl_cluster_create(snap, err);
	struct sl_plan *p = c ? sl_plan_create(c, err) : NULL;
	struct sl_builder *b = p ? sl_builder_create(&sl_plan_schema, err) : NULL;
	struct sl_plan_image image;
	struct sl_cuts cuts = { 0 };
	const void *bytes;
	size_t size;
	int r = -1;

	if (!b)
		goto done;
	if (sl_script_decide(s, c, p, limits, &fig, trace, err))
		goto done;
	if (sl_plan_encode(p, &fig, b, err) || sl_builder_finish(b, &bytes, &size, err) ||
	    sl_plan_image_open(&image, bytes, size, err) || sl_check_rows(snap, &image, &cuts, err)) {
		sl_fail_in(err, "the plan");
		goto done;
	}
	r = 0;
done:
	sl_cuts_free(&cuts);
	sl_builder_destroy(b);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
	return r;
}

/* Each of the lists by time decides once, all within the limits. */
static int try_variants(struct sl_script *s, const struct sl_snapshot *snap, const struct sl_limits *limits, char **trace,
			struct sl_error *err)
{
	unsigned variants = s->x.bundle->figures.variants;
	int64_t since = sl_clock_us();
	struct sl_limits left;
	int r = 0;

	for (unsigned i = 1; !r && i <= variants; i++) {
		s->x.variant = variants > 1 ? i : 0;
		r = sl_limits_left(limits, since, &left, err) ? -1 : try_on(s, snap, &left, trace, err);
	}
	s->x.variant = 0;
	return r;
}

/* Where the site's sets decide in turn, and the default one. */
static int probe(struct sl_script *s, const struct sl_bundle *b, const struct sl_limits *limits, char **trace,
		 struct sl_error *err)
{
	char name[MAX_PROBED][NAME_SIZE] = { "the default" };
	const char *partition[MAX_PROBED] = { name[0] }, *at = b->partitions;
	struct sl_snapshot snap;
	unsigned n = 1;
	int r = -1, where;
	size_t size;
	void *bytes;

	while (n < MAX_PROBED && next_named(&at, &where, name[n])) {
		partition[n] = name[n];
		n++;
	}
	bytes = sl_probe_snapshot(partition, n, &size, err);
	if (bytes && !sl_snapshot_open(&snap, bytes, size, err))
		r = try_variants(s, &snap, limits, trace, err);
	free(bytes);
	if (r && err) {
		size_t length = strlen(err->text);

		snprintf(err->text + length, sizeof(err->text) - length, " (while probed on a canned cluster)");
	}
	return r;
}

/* Read what the script says of itself and try it, in what is left of the limits since then. */
static int read_and_probe(struct sl_script *s, struct sl_bundle *b, const struct sl_limits *limits, int64_t since,
			  char **trace, struct sl_error *err)
{
	struct sl_limits left;

	if (sl_limits_left(limits, since, &left, err) || sl_script_call(s, &left, read_site, b, err) ||
	    sl_limits_left(limits, since, &left, err) || sl_script_call(s, &left, read_own, b, err) ||
	    sl_limits_left(limits, since, &left, err))
		return -1;
	return probe(s, b, &left, trace, err);
}

struct sl_bundle *sl_bundle_load(const struct sl_bundle_source *src, const struct sl_limits *limits,
				 char **trace, struct sl_error *err)
{
	const struct sl_limits defaults = { .memory = 0, .budget_us = SL_LOAD_BUDGET_US };
	int64_t since = sl_clock_us();
	struct sl_bundle *b;
	struct sl_script *s;
	int r;

	if (!limits)
		limits = &defaults;
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
	r = read_and_probe(s, b, limits, since, trace, err);
	sl_script_destroy(s);
	sl_bundle_seal(b);
	if (!r)
		return b;
	sl_bundle_destroy(b);
	return NULL;
}
