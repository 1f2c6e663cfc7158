/* SPDX-License-Identifier: MIT */
/*
 * cmd_serve.c - schedlua serve: a live page of the cluster, figures for monitoring, and why a job waits, over HTTP on
 * this machine alone.
 */
#include "tool/tool.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "web/listen.h"
#include "web/server.h"

#define STANDARD "127.0.0.1:6822"
#define WAIT_MS 1000
#define WAIT_CAPTURE_MS 100	/* ... while a capture is under way */

struct values {
	const char *dir, *listen, *socket, *user_header, *host;
	bool ignore_private_data;
};

static const struct sl_option options[] = {
	{ .name = "listen", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, listen), .argument = "ADDRESS:PORT",
	  .doc = "serve there; an address of this machine alone: 127.0.0.1, [::1]; default: " STANDARD },
	{ .name = "socket", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, socket), .argument = "PATH",
	  .doc = "serve on a Unix socket instead, which user and group may use" },
	{ .name = "host", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, host), .argument = "NAME[,NAME]...",
	  .doc = "on a port: answer requests for these names too, not for localhost alone (a proxy that passes the client's Host on)" },
	{ .name = "user-header", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, user_header), .argument = "NAME",
	  .doc = "with --socket: believe the proxy that names the user in this header, and show each his own jobs" },
	{ .name = "ignore-private-data", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, ignore_private_data),
	  .doc = "/metrics counts jobs, nodes and partitions in spite of PrivateData" },
	SL_DIR_OPTION(values),
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

/* Until somebody ends it. */
static void serve(struct sl_http *http, struct sl_server *server, const volatile sig_atomic_t *ended)
{
	while (!*ended)
		sl_http_run(http, sl_server_tick(server) ? WAIT_CAPTURE_MS : WAIT_MS);
}

static int serve_on(const struct values *v, const struct sl_listener *l, struct sl_server *server, struct sl_error *err)
{
	const char *hosts = v->socket ? NULL : v->host ? v->host : "";
	const volatile sig_atomic_t *ended;
	struct sl_http *http;

	if (sl_server_open(server, v->dir, err) ||
	    !(http = sl_http_start(l->fd, v->user_header, hosts, sl_server_answer, server, err)))
		return -1;
	if (!geteuid())
		fputs("schedlua: serve runs as root; an ordinary user, or SlurmUser, is enough\n", stderr);
	/* before it is said that somebody serves: whoever reads that may end it */
	ended = sl_tool_stop_on(SIGTERM);
	sl_tool_stop_on(SIGINT);
	printf("serving on %s\n", l->name);
	if (sl_tool_end(SL_EXIT_FINE) == SL_EXIT_FINE)
		serve(http, server, ended);
	sl_http_stop(http);
	return 0;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_server server = { 0 };
	struct sl_listener l = { .fd = -1 };
	struct sl_error err;
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &status) < 0)
		return status;
	if (v.listen && v.socket)
		return sl_tool_usage(verb, "--listen and --socket: expected one of them");
	if (v.user_header && !v.socket)
		return sl_tool_usage(verb, "--user-header: expected --socket as well: whoever reaches a port can name any user");
	if (v.host && v.socket)
		return sl_tool_usage(verb, "--host: expected no --socket: which names a proxy serves is the proxy's to say");
	if (v.user_header && !is_header(v.user_header))
		return sl_tool_usage(verb, "--user-header: expected the name of a header, X-Remote-User say");
	if (!sl_http_available()) {
		sl_fail(&err, SL_ENOENT, "serve: this program was built without libmicrohttpd: install it "
			"(apt-get install libmicrohttpd-dev), configure and build again");
		return sl_tool_fail(&err);
	}
	signal(SIGPIPE, SIG_IGN);
	server.ignore_private_data = v.ignore_private_data;
	if ((v.socket ? sl_listen_unix(&l, v.socket, &err) : sl_listen_loopback(&l, v.listen ? v.listen : STANDARD, &err)) ||
	    serve_on(&v, &l, &server, &err))
		status = sl_tool_fail(&err);
	else
		status = SL_EXIT_FINE;
	sl_listener_close(&l);
	sl_server_close(&server);
	return sl_tool_end(status);
}

const struct sl_verb sl_verb_serve = {
	.name = "serve",
	.operands = "[OPTION]...",
	.summary = "serve a live page, metrics and explain over HTTP, on this machine alone",
	.options = options,
	.run = run,
};
