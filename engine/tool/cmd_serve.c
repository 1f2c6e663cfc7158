/* SPDX-License-Identifier: MIT */
/*
 * cmd_serve.c - schedlua serve: a live page of the cluster, figures for monitoring, and why a job waits, over HTTP on
 * this machine alone.  What is asked for is checked here; schedlua-serve (web/main.c) does it.
 */
#include "tool/serve.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "schedlua-serve"

static const struct sl_option options[] = {
	{ .name = "listen", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_serve, listen), .argument = "ADDRESS:PORT",
	  .doc = "serve there; an address of this machine alone: 127.0.0.1, [::1]; default: " SL_SERVE_STANDARD },
	{ .name = "socket", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_serve, socket), .argument = "PATH",
	  .doc = "serve on a Unix socket instead, which user and group may use" },
	{ .name = "host", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_serve, host), .argument = "NAME[,NAME]...",
	  .doc = "on a port: answer requests for these names too, not for localhost alone (a proxy that passes the client's Host on)" },
	{ .name = "user-header", .type = SL_OPTION_TEXT, .offset = offsetof(struct sl_serve, user_header), .argument = "NAME",
	  .doc = "with --socket: believe the proxy that names the user in this header, and show each his own jobs" },
	{ .name = "ignore-private-data", .type = SL_OPTION_FLAG, .offset = offsetof(struct sl_serve, ignore_private_data),
	  .doc = "/metrics counts jobs, nodes and partitions in spite of PrivateData" },
	SL_DIR_OPTION(sl_serve),
	{ 0 }
};

/* Letters, digits and dashes. */
static bool is_header(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char) *c) && *c != '-')
			return false;
	return *name && strlen(name) < 64;
}

int sl_serve_parse(const struct sl_verb *verb, struct sl_serve *v, int argc, char **argv, int *status)
{
	const char *wrong = NULL;

	if (sl_tool_parse(verb, v, argc, argv, 0, 0, status) < 0)
		return -1;
	if (v->listen && v->socket)
		wrong = "--listen and --socket: expected one of them";
	else if (v->user_header && !v->socket)
		wrong = "--user-header: expected --socket as well: whoever reaches a port can name any user";
	else if (v->host && v->socket)
		wrong = "--host: expected no --socket: which names a proxy serves is the proxy's to say";
	else if (v->user_header && !is_header(v->user_header))
		wrong = "--user-header: expected the name of a header, X-Remote-User say";
	if (!wrong)
		return 0;
	*status = sl_tool_usage(verb, "%s", wrong);
	return -1;
}

/* Become schedlua-serve: no other program loads an HTTP server. */
static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	char path[PATH_MAX], **words;
	struct sl_serve v;
	int status;

	if (sl_serve_parse(verb, &v, argc, argv, &status))
		return status;
	words = calloc((size_t) argc + 2, sizeof(*words));
	if (!words) {
		sl_fail(&err, SL_ENOMEM, "serve: out of memory");
		return sl_tool_fail(&err);
	}
	words[0] = (char *) PROGRAM;
	memcpy(words + 1, argv, (size_t) argc * sizeof(*words));
	sl_tool_beside(PROGRAM, path);
	execvp(path, words);
	if (errno == ENOENT)
		sl_fail(&err, SL_ENOENT, "serve: there is no %s beside this program: perhaps it was built without libmicrohttpd; install "
			"that (apt-get install libmicrohttpd-dev), configure and build again", PROGRAM);
	else
		sl_fail(&err, SL_EIO, "serve: %s: %s", path, strerror(errno));
	free(words);
	return sl_tool_fail(&err);
}

const struct sl_verb sl_verb_serve = {
	.name = "serve",
	.operands = "[OPTION]...",
	.summary = "serve a live page, metrics and explain over HTTP, on this machine alone",
	.options = options,
	.run = run,
};
