/* SPDX-License-Identifier: MIT */
/*
 * http.h - a small read-only HTTP server: one process, one thread, one handler, everything bounded.
 *
 * The protocol is libmicrohttpd's.  This unit only sets its limits and adds the one that it lacks: how long a connection
 * may last, whatever its client sends or reads (SL_HTTP_LIFE_S, and much less while most places are taken).  Requests
 * other than GET and HEAD, requests with a body and those whose header is larger than SL_HTTP_MEMORY are refused before
 * the handler sees them.  A path is a name that the handler knows, and never one of a file.
 *
 * Ownership: as each function says.  Threads: none.
 */
#ifndef SL_WEB_HTTP_H
#define SL_WEB_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define SL_HTTP_CONNECTIONS 256		/* at a time; further ones are closed */
#define SL_HTTP_MEMORY ((size_t) 16 << 10)	/* of a connection: its request line and header have to fit */
#define SL_HTTP_LIFE_S 30		/* a connection is closed after that, idle or not */
#define SL_HTTP_HURRY_S 2		/* ... while three quarters of the places are taken */
#define SL_HTTP_USER 64			/* of the name of a user that a proxy passes */

struct sl_http_request {
	const char *path;		/* "/explain", percent signs decoded */
	const char *job;		/* ?job=, or NULL */
	const char *user;		/* whom the proxy names, or NULL */
};

struct sl_http_answer {
	int status;			/* 200 */
	const char *type;		/* Content-Type */
	const char *text;
	size_t size;
	char *owned;			/* what of it is to be freed afterwards, or NULL */
};

/* Fill in *answer, which is {0}.  Without a text the answer is 500. */
typedef void sl_http_handler(void *arg, const struct sl_http_request *request, struct sl_http_answer *answer);

struct sl_http;

/*
 * *hosts* is NULL on a Unix socket, which no browser reaches.  On a port a request whose Host header names neither this machine nor
 * one of *hosts* (sl_listen_is_host()) is refused: it is of a page of another site.
 *
 * Serve what comes in through the listening socket *fd*, which stays the caller's.  *user_header*: the name of the header
 * in which a proxy names the user, which is believed; NULL: no header is.  NULL on failure, with *err.
 */
struct sl_http *sl_http_start(int fd, const char *user_header, const char *hosts, sl_http_handler *handler, void *arg,
			      struct sl_error *err);
void sl_http_stop(struct sl_http *h);

/* Serve what there is to serve, waiting for it so many milliseconds at most. */
void sl_http_run(struct sl_http *h, int wait_ms);

#endif
