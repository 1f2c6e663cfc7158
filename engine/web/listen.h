/* SPDX-License-Identifier: MIT */
/*
 * listen.h - a socket to listen on that nobody outside of this machine can reach.
 *
 * Ownership: the listener owns its descriptor and the file of its Unix socket.  Threads: none.
 */
#ifndef SL_WEB_LISTEN_H
#define SL_WEB_LISTEN_H

#include <stdbool.h>

#include "base/error.h"

struct sl_listener {
	int fd;
	const char *path;	/* of the Unix socket, or NULL */
	char name[300];		/* what it listens on, for people: "http://127.0.0.1:8080/" */
};

/*
 * Listen on *address*: 127.0.0.1:PORT (or any of 127.0.0.0/8), [::1]:PORT, or PORT alone, which is on 127.0.0.1; port 0
 * is one that is free.  Every other address is refused, names included.  0, or -1 with *err.
 */
int sl_listen_loopback(struct sl_listener *l, const char *address, struct sl_error *err);

/*
 * True if a browser that speaks to a loopback port may have named it so in its Host header: localhost, an address of
 * 127.0.0.0/8, [::1], or one of *others* (comma-separated, may be ""), each with or without a port.  A page of another site
 * whose name leads to 127.0.0.1 (DNS rebinding) has that name in the header.
 */
bool sl_listen_is_host(const char *host, const char *others);

/*
 * Listen on a Unix socket, for this user and group (mode 0660).  One that a server left behind is removed; one on which
 * somebody listens, and a file that is no socket, are not.  *path* is to outlive the listener.  0, or -1 with *err.
 */
int sl_listen_unix(struct sl_listener *l, const char *path, struct sl_error *err);

void sl_listener_close(struct sl_listener *l);

#endif
