/* SPDX-License-Identifier: MIT */
/*
 * main.c - schedlua-serve: the program that schedlua serve becomes (tool/serve.h).  It calls itself schedlua in all that it
 * prints.
 */
#include "tool/serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "web/listen.h"
#include "web/server.h"

#define WAIT_MS 1000
#define WAIT_CAPTURE_MS 100	/* ... while a capture is under way */

/* Until somebody ends it. */
static void serve(struct sl_http *http, struct sl_server *server, const volatile sig_atomic_t *ended)
{
	while (!*ended)
		sl_http_run(http, sl_server_tick(server) ? WAIT_CAPTURE_MS : WAIT_MS);
}

static int serve_on(const struct sl_serve *v, const struct sl_listener *l, struct sl_server *server, struct sl_error *err)
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
	struct sl_serve v;
	int status;

	if (sl_serve_parse(verb, &v, argc, argv, &status))
		return status;
	signal(SIGPIPE, SIG_IGN);
	server.ignore_private_data = v.ignore_private_data;
	if ((v.socket ? sl_listen_unix(&l, v.socket, &err) :
	     sl_listen_loopback(&l, v.listen ? v.listen : SL_SERVE_STANDARD, &err)) ||
	    serve_on(&v, &l, &server, &err))
		status = sl_tool_fail(&err);
	else
		status = SL_EXIT_FINE;
	sl_listener_close(&l);
	sl_server_close(&server);
	return sl_tool_end(status);
}

/* schedlua-serve [OPTION]... is schedlua serve [OPTION]... */
int main(int argc, char **argv)
{
	struct sl_verb verb = sl_verb_serve;
	const struct sl_verb *const verbs[] = { &verb, NULL };
	const struct sl_program program = { .verbs = verbs };
	char **words = calloc((size_t) argc + 2, sizeof(*words));
	int status;

	if (!words) {
		perror("schedlua");
		return SL_EXIT_FAILED;
	}
	verb.run = run;
	words[0] = argv[0];
	words[1] = (char *) verb.name;
	for (int i = 1; i < argc; i++)
		words[i + 1] = argv[i];
	status = sl_tool_main(&program, argc + 1, words);
	free(words);
	return status;
}
