/* SPDX-License-Identifier: MIT */
#include "web/http.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "base/clock.h"
#include "web/listen.h"

#define MUTE_S 0.5
#define MISDIRECTED 421		/* for another server: a name that not all libmicrohttpds have */
#define BODY_REFUSED 413	/* "content too large": libmicrohttpd's name for it has changed */

/* A connection, in the order in which they came. */
struct caller {
	struct caller *older, *newer;
	int fd;
	double since_s;
	bool answered;		/* its request is whole, and the answer under way */
	bool ended;		/* it was shut down, and is about to be closed */
};

struct sl_http {
	struct MHD_Daemon *daemon;
	int epoll;
	const char *user_header, *hosts;
	sl_http_handler *handler;
	void *arg;
	struct caller *oldest, *newest;
	unsigned callers;
	double looked_s;	/* when those were sought who have hung up */
};

/* -- connections ------------------------------------------------------------- */

static void add_caller(struct sl_http *h, int fd, void **context)
{
	struct caller *c = calloc(1, sizeof(*c));

	*context = c;
	if (!c) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	*c = (struct caller) { .older = h->newest, .fd = fd, .since_s = sl_clock_s() };
	*(h->newest ? &h->newest->newer : &h->oldest) = c;
	h->newest = c;
	h->callers++;
}

static void remove_caller(struct sl_http *h, struct caller *c)
{
	if (!c)
		return;
	*(c->older ? &c->older->newer : &h->oldest) = c->newer;
	*(c->newer ? &c->newer->older : &h->newest) = c->older;
	h->callers--;
	free(c);
}

static void notice(void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (what == MHD_CONNECTION_NOTIFY_STARTED && info)
		add_caller(arg, info->connect_fd, context);
	else if (what == MHD_CONNECTION_NOTIFY_CLOSED)
		remove_caller(arg, *context);
}

/* Seconds that a connection may last now. */
static double life_s(const struct sl_http *h)
{
	return h->callers > SL_HTTP_CONNECTIONS * 3 / 4 ? SL_HTTP_HURRY_S : SL_HTTP_LIFE_S;
}

static void end_caller(struct caller *c)
{
	if (!c->ended)
		shutdown(c->fd, SHUT_RDWR);
	c->ended = true;
}

/* End those that have lasted too long; libmicrohttpd closes them when it next looks. */
static void end_old(struct sl_http *h)
{
	double now = sl_clock_s(), life = life_s(h);

	for (struct caller *c = h->oldest; c && now - c->since_s > life; c = c->newer)
		end_caller(c);
}

/*
 * End those that will say no more and have not asked yet: of an end that comes with the last bytes libmicrohttpd
 * hears nothing.
 */
static void end_mute(struct sl_http *h)
{
	double now = sl_clock_s();
	char byte;

	if (now - h->looked_s < MUTE_S)
		return;
	h->looked_s = now;
	for (struct caller *c = h->oldest; c; c = c->newer)
		if (!c->answered && !recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT))
			end_caller(c);
}

/* Milliseconds until the oldest connection has lasted too long. */
static int until_end_ms(const struct sl_http *h, int wait_ms)
{
	const struct caller *c = h->oldest;
	double left;

	while (c && c->ended)
		c = c->newer;
	if (!c)
		return wait_ms;
	left = (c->since_s + life_s(h) - sl_clock_s()) * 1e3 + 1;
	return left < 0 ? 0 : left < wait_ms ? (int) left : wait_ms;
}

/* -- answers ------------------------------------------------------------------- */

/* No script but ours, nothing from elsewhere, in nobody's frame. */
static const char *const headers[][2] = {
	{ "Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
	  "img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
};

static enum MHD_Result answer_with(struct MHD_Connection *connection, const struct sl_http_answer *a, bool end)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(a->size, (void *) a->text,
								 a->owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc = MHD_YES;

	if (!r) {
		free(a->owned);
		return MHD_NO;
	}
	for (size_t i = 0; rc && i < sizeof(headers) / sizeof(headers[0]); i++)
		rc = MHD_add_response_header(r, headers[i][0], headers[i][1]);
	if (rc)
		rc = MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
	if (rc && a->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		rc = MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (rc && end)
		rc = MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	if (rc)
		rc = MHD_queue_response(connection, (unsigned) a->status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int status, const char *text)
{
	struct sl_http_answer a = { .status = status, .type = "text/plain; charset=utf-8", .text = text, .size = strlen(text) };

	return answer_with(connection, &a, true);
}

/* -- requests -------------------------------------------------------------------- */

/* The one value of a header or argument; *values counts how many there were. */
struct sought {
	const char *name, *value;
	bool anycase;
	unsigned values;
};

static enum MHD_Result seek(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct sought *s = arg;

	(void) kind;
	if (s->anycase ? strcasecmp(key, s->name) : strcmp(key, s->name))
		return MHD_YES;
	s->values++;
	s->value = value ? value : "";
	return MHD_YES;
}

static struct sought find_value(struct MHD_Connection *connection, enum MHD_ValueKind kind, const char *name)
{
	struct sought s = { .name = name, .anycase = kind == MHD_HEADER_KIND };

	MHD_get_connection_values(connection, kind, seek, &s);
	return s;
}

static bool has_body(struct MHD_Connection *connection)
{
	struct sought length = find_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return find_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING).values ||
	       length.values > 1 || (length.values && strcmp(length.value, "0"));
}

/* HTTP before 1.1, which no browser speaks, may say nothing. */
static bool is_for_us(const struct sl_http *h, struct MHD_Connection *connection)
{
	struct sought host = h->hosts ? find_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST) : (struct sought) { 0 };

	return !host.values || (host.values == 1 && sl_listen_is_host(host.value, h->hosts));
}

/* A name as Slurm has them, that can neither end a line nor be mistaken for another. */
static bool is_user(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isgraph((unsigned char) name[i]) || (unsigned char) name[i] >= 0x7f || strchr("\"'<>&,;\\/", name[i]))
			return false;
	return n && n < SL_HTTP_USER;
}

static void set_answered(struct MHD_Connection *connection, bool answered)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (info && info->socket_context)
		((struct caller *) info->socket_context)->answered = answered;
}

static void note_completed(void *arg, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode how)
{
	(void) arg;
	(void) state;
	(void) how;
	set_answered(connection, false);
}

static enum MHD_Result handle(struct sl_http *h, struct MHD_Connection *connection, const char *path)
{
	struct sought job = find_value(connection, MHD_GET_ARGUMENT_KIND, "job"), user = { 0 };
	struct sl_http_request q = { .path = path, .job = job.value };
	struct sl_http_answer a = { 0 };

	set_answered(connection, true);
	if (h->user_header)
		user = find_value(connection, MHD_HEADER_KIND, h->user_header);
	if (user.values > 1 || (user.values && *user.value && !is_user(user.value)))
		return refuse(connection, MHD_HTTP_BAD_REQUEST, "the proxy is expected to name one user, once\n");
	if (job.values > 1)
		return refuse(connection, MHD_HTTP_BAD_REQUEST, "expected one job\n");
	q.user = user.values && *user.value ? user.value : NULL;
	h->handler(h->arg, &q, &a);
	if (!a.text)
		return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	return answer_with(connection, &a, false);
}

/* Called with the header, and again when the request is whole: an answer to the first call ends the connection. */
static enum MHD_Result accept_request(void *arg, struct MHD_Connection *connection, const char *path, const char *method,
				      const char *version, const char *upload, size_t *upload_size, void **state)
{
	(void) version;
	(void) upload;
	if (*state)
		return *upload_size ? MHD_NO : handle(arg, connection, path);
	*state = arg;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "this server is for reading: expected GET\n");
	if (!is_for_us(arg, connection))
		return refuse(connection, MISDIRECTED, "this is no server of that name: expected localhost, or what --host names\n");
	if (has_body(connection))
		return refuse(connection, BODY_REFUSED, "a request here has no body\n");
	return MHD_YES;
}

/* -- from outside ------------------------------------------------------------------ */

/* What clients do wrong is theirs to know. */
static void say_nothing(void *arg, const char *format, va_list args)
{
	(void) arg;
	(void) format;
	(void) args;
}

struct sl_http *sl_http_start(int fd, const char *user_header, const char *hosts, sl_http_handler *handler, void *arg,
			      struct sl_error *err)
{
	struct sl_http *h = calloc(1, sizeof(*h));
	const union MHD_DaemonInfo *info = NULL;

	if (!h) {
		sl_fail(err, SL_ENOMEM, "serve: out of memory");
		return NULL;
	}
	*h = (struct sl_http) { .user_header = user_header, .hosts = hosts, .handler = handler, .arg = arg };
	if ((fd = fcntl(fd, F_DUPFD_CLOEXEC, 3)) < 0) {	/* which the daemon closes */
		sl_fail(err, SL_EIO, "serve: %s", strerror(errno));
		sl_http_stop(h);
		return NULL;
	}
	h->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, accept_request, h,
				     MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
				     MHD_OPTION_LISTEN_SOCKET, fd,
				     MHD_OPTION_CONNECTION_LIMIT, (unsigned) SL_HTTP_CONNECTIONS,
				     MHD_OPTION_CONNECTION_MEMORY_LIMIT, SL_HTTP_MEMORY,
				     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned) SL_HTTP_LIFE_S,
				     MHD_OPTION_STRICT_FOR_CLIENT, 1,
				     MHD_OPTION_NOTIFY_CONNECTION, notice, h,
				     MHD_OPTION_NOTIFY_COMPLETED, note_completed, h,
				     MHD_OPTION_END);
	if (h->daemon)
		info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info) {
		sl_fail(err, SL_EIO, "serve: libmicrohttpd %s does not start: %s", MHD_get_version(), strerror(errno));
		sl_http_stop(h);
		return NULL;
	}
	h->epoll = info->listen_fd;
	return h;
}

void sl_http_run(struct sl_http *h, int wait_ms)
{
	struct pollfd p = { .fd = h->epoll, .events = POLLIN };
	MHD_UNSIGNED_LONG_LONG soon;

	wait_ms = until_end_ms(h, wait_ms);
	if (h->oldest && wait_ms > MUTE_S * 1000)
		wait_ms = (int) (MUTE_S * 1000);
	if (MHD_get_timeout(h->daemon, &soon) && soon < (MHD_UNSIGNED_LONG_LONG) wait_ms)
		wait_ms = (int) soon;
	poll(&p, 1, wait_ms);
	end_old(h);
	end_mute(h);
	MHD_run(h->daemon);
}

void sl_http_stop(struct sl_http *h)
{
	if (h && h->daemon)
		MHD_stop_daemon(h->daemon);
	free(h);
}
