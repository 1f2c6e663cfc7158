/* SPDX-License-Identifier: MIT */
/*
 * cmd_version.c - schedlua version: what this program is made of.
 */
#include "tool/tool.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

#include <jansson.h>

#include "base/state_file.h"
#include "image/json_out.h"
#include "mip/mip.h"
#include "image/plan_image.h"
#include "image/snapshot.h"
#include "image/wire.h"
#include "tool/statedir.h"

/* The first line of the file "requests" by versions that wrote into it what users wrote, unescaped. */
#define UNSAFE_REQUESTS "schedlua requests 1\n"
#define MOST_BYTES ((size_t) 256 << 20)

struct values {
	const char *dir;
	bool json;
};

static const struct sl_option options[] = {
	{ .name = "dir", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, dir), .argument = "DIR",
	  .doc = "where the plug-in's files are, if that is not \"schedlua\" in StateSaveLocation" },
	{ .name = "json", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, json),
	  .doc = "print one JSON object" },
	{ 0 }
};

/* True, with its path, if the plug-in's file "requests" is one that an unsafe version wrote. A file that is not there,
 * or not for this user to read, is none. */
static bool has_unsafe_requests(const char *dir, char path[PATH_MAX])
{
	struct sl_error err;
	char found[PATH_MAX - 16], *text;
	size_t size;
	bool unsafe;

	if (sl_statedir_find_here(dir, found, sizeof(found), &err))
		return false;
	snprintf(path, PATH_MAX, "%s/requests", found);
	if (sl_state_read(path, MOST_BYTES, &text, &size, NULL, &err) <= 0)
		return false;
	unsafe = !strncmp(text, UNSAFE_REQUESTS, strlen(UNSAFE_REQUESTS));
	free(text);
	return unsafe;
}

static void put_unsafe_files(struct sl_json *j, const char *dir)
{
	char path[PATH_MAX];

	sl_json_open_array(j, "unsafe_files");
	if (has_unsafe_requests(dir, path))
		sl_json_str(j, path);
	sl_json_end_array(j);
}

static void warn_of_unsafe_files(const char *dir)
{
	char path[PATH_MAX];

	if (has_unsafe_requests(dir, path))
		fprintf(stderr, "schedlua: warning: %s was written by a version with which users could change others' pending "
			"jobs (SECURITY.md): install this plug-in and restart slurmctld, which then believes nothing of that "
			"file\n", path);
}

static int print_json(const char *dir)
{
	struct sl_error err;
	struct sl_json *j = sl_json_create(stdout, &err);

	if (!j)
		return sl_tool_fail(&err);
	sl_json_begin_object(j);
	sl_json_put_str(j, "version", SCHEDLUA_VERSION);
	sl_json_put_int(j, "snapshot_version", sl_snapshot_schema.version);
	sl_json_put_int(j, "plan_version", sl_plan_schema.version);
	sl_json_put_int(j, "wire_version", SL_WIRE_VERSION);
	sl_json_put_str(j, "lua", LUA_RELEASE);
	sl_json_open_array(j, "solvers");
	for (unsigned i = 0; sl_mip_backend_name(i); i++)
		sl_json_str(j, sl_mip_backend_name(i));
	sl_json_end_array(j);
	put_unsafe_files(j, dir);
	sl_json_end_object(j);
	return sl_json_end(j, &err) ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &status) < 0)
		return status;
	if (v.json)
		return print_json(v.dir);
	printf("schedlua %s\n", SCHEDLUA_VERSION);
	printf("formats: snapshot %u, plan %u, wire %d\n", sl_snapshot_schema.version, sl_plan_schema.version,
	       SL_WIRE_VERSION);
	printf("%s, jansson %s\n", LUA_RELEASE, JANSSON_VERSION);
	printf("integer programs:");
	for (unsigned i = 0; sl_mip_backend_name(i) || !i; i++)
		printf(" %s", sl_mip_backend_name(i) ? sl_mip_backend_name(i) : "no solver");
	printf("\n");
	warn_of_unsafe_files(v.dir);
	return sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_version = {
	.name = "version",
	.operands = "[--json] [--dir=DIR]",
	.summary = "print the versions of the program and of its formats",
	.options = options,
	.run = run,
};
