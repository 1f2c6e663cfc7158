/* SPDX-License-Identifier: MIT */
#include "web/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

/* -- loopback --------------------------------------------------------------- */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* A port at the end of *text*, which is cut off there; -1: there is none. */
static int take_port(char *text)
{
	char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text, *end;
	unsigned long port = strtoul(digits, &end, 10);

	if (!*digits || *end || strspn(digits, "0123456789") != strlen(digits) || port > 65535)
		return -1;
	*(colon ? colon : text) = 0;
	return (int) port;
}

/* Fill in *a; false: it is no loopback address. */
static bool read_host(union address *a, char *host, uint16_t port)
{
	size_t n = strlen(host);

	if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = 0;
		a->in6 = (struct sockaddr_in6) { .sin6_family = AF_INET6, .sin6_port = htons(port) };
		return inet_pton(AF_INET6, host + 1, &a->in6.sin6_addr) == 1 && IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr);
	}
	a->in = (struct sockaddr_in) { .sin_family = AF_INET, .sin_port = htons(port) };
	return inet_pton(AF_INET, n ? host : "127.0.0.1", &a->in.sin_addr) == 1 &&
	       ntohl(a->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool sl_listen_is_host(const char *host, const char *others)
{
	size_t n = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	char name[256];
	union address a;

	if (n >= sizeof(name) || n > strlen(host) || (host[n] && (host[n] != ':' || strspn(host + n + 1, "0123456789") != strlen(host + n + 1))))
		return false;
	memcpy(name, host, n);
	name[n] = 0;
	if (*name && (!strcasecmp(name, "localhost") || read_host(&a, name, 0)))
		return true;
	for (const char *at = others; *at; at += strcspn(at, ","), at += *at == ',')
		if (n && n == strcspn(at, ",") && !strncasecmp(at, host, n))
			return true;
	return false;
}

static socklen_t size_of(const union address *a)
{
	return a->any.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

/* What it got, for people. */
static void name_loopback(struct sl_listener *l)
{
	union address a = { 0 };
	socklen_t size = sizeof(a);
	char host[INET6_ADDRSTRLEN] = "";

	getsockname(l->fd, &a.any, &size);
	if (a.any.sa_family == AF_INET)
		snprintf(l->name, sizeof(l->name), "http://%s:%u/", inet_ntop(AF_INET, &a.in.sin_addr, host, sizeof(host)),
			 ntohs(a.in.sin_port));
	else
		snprintf(l->name, sizeof(l->name), "http://[%s]:%u/", inet_ntop(AF_INET6, &a.in6.sin6_addr, host, sizeof(host)),
			 ntohs(a.in6.sin6_port));
}

int sl_listen_loopback(struct sl_listener *l, const char *address, struct sl_error *err)
{
	union address a = { 0 };
	char host[100];
	int port, on = 1;

	*l = (struct sl_listener) { .fd = -1 };
	if (snprintf(host, sizeof(host), "%s", address) >= (int) sizeof(host) || (port = take_port(host)) < 0)
		return sl_fail(err, SL_EINVAL, "--listen: \"%.100s\": expected 127.0.0.1:PORT or [::1]:PORT", address);
	if (!read_host(&a, host, (uint16_t) port))
		return sl_fail(err, SL_EINVAL, "--listen: \"%.100s\" is not an address of this machine alone: expected "
			       "127.0.0.1:PORT, [::1]:PORT or --socket=PATH, and the site's own web server before it", address);
	l->fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return sl_fail(err, SL_EIO, "--listen: %s: %s", address, strerror(errno));
	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(l->fd, &a.any, size_of(&a)) || listen(l->fd, BACKLOG)) {
		sl_fail(err, SL_EIO, "--listen: %s: %s%s", address, strerror(errno),
			errno == EADDRINUSE ? ": another program listens there; choose another port" :
			errno == EACCES ? ": ports below 1024 are root's; choose another port" : "");
		sl_listener_close(l);
		return -1;
	}
	name_loopback(l);
	return 0;
}

/* -- Unix -------------------------------------------------------------------- */

/* Remove a socket on which nobody listens.  0, also where there is none, or -1 with *err. */
static int remove_left(const struct sockaddr_un *a, struct sl_error *err)
{
	struct stat st;
	int fd, rc;

	if (lstat(a->sun_path, &st))
		return 0;	/* bind() will say why */
	if (!S_ISSOCK(st.st_mode))
		return sl_fail(err, SL_EINVAL, "--socket: %s is there and no socket", a->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = fd < 0 ? -1 : connect(fd, (const struct sockaddr *) a, sizeof(*a));
	if (!rc || errno == EAGAIN) {
		errno = EADDRINUSE;
		rc = -1;
	} else if (errno == ECONNREFUSED) {
		rc = unlink(a->sun_path);
	}
	if (fd >= 0)
		close(fd);
	return rc ? sl_fail(err, SL_EIO, "--socket: %s: %s", a->sun_path,
			    errno == EADDRINUSE ? "another server listens there" : strerror(errno)) : 0;
}

int sl_listen_unix(struct sl_listener *l, const char *path, struct sl_error *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	mode_t before;
	int rc;

	*l = (struct sl_listener) { .fd = -1 };
	if (snprintf(a.sun_path, sizeof(a.sun_path), "%s", path) >= (int) sizeof(a.sun_path))
		return sl_fail(err, SL_EINVAL, "--socket: expected a path of at most %zu bytes", sizeof(a.sun_path) - 1);
	if (remove_left(&a, err))
		return -1;
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return sl_fail(err, SL_EIO, "--socket: %s", strerror(errno));
	before = umask(0117);
	rc = bind(l->fd, (const struct sockaddr *) &a, sizeof(a));
	umask(before);
	if (!rc)
		l->path = path;
	if (rc || listen(l->fd, BACKLOG)) {
		sl_fail(err, SL_EIO, "--socket: %s: %s", path, strerror(errno));
		sl_listener_close(l);
		return -1;
	}
	snprintf(l->name, sizeof(l->name), "unix:%s", path);
	return 0;
}

void sl_listener_close(struct sl_listener *l)
{
	if (l->path)
		unlink(l->path);
	if (l->fd >= 0)
		close(l->fd);
	*l = (struct sl_listener) { .fd = -1 };
}
