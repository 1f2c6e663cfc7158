/* SPDX-License-Identifier: MIT */
/*
 * cmd_version.c - schedlua version: what this program is made of.
 */
#include "tool/tool.h"

#include <lua.h>

#include <jansson.h>

#include "image/json_out.h"
#include "mip/mip.h"
#include "image/plan_image.h"
#include "image/snapshot.h"
#include "image/wire.h"

struct values {
	bool json;
};

static const struct sl_option options[] = {
	{ .name = "json", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, json),
	  .doc = "print one JSON object" },
	{ 0 }
};

static int print_json(void)
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
		return print_json();
	printf("schedlua %s\n", SCHEDLUA_VERSION);
	printf("formats: snapshot %u, plan %u, wire %d\n", sl_snapshot_schema.version, sl_plan_schema.version,
	       SL_WIRE_VERSION);
	printf("%s, jansson %s\n", LUA_RELEASE, JANSSON_VERSION);
	printf("integer programs:");
	for (unsigned i = 0; sl_mip_backend_name(i) || !i; i++)
		printf(" %s", sl_mip_backend_name(i) ? sl_mip_backend_name(i) : "no solver");
	printf("\n");
	return sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_version = {
	.name = "version",
	.operands = "[--json]",
	.summary = "print the versions of the program and of its formats",
	.options = options,
	.run = run,
};
