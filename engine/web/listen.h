/* SPDX-License-Identifier: MIT */
/*
 * listen.h - a socket to listen on that nobody outside of this machine can reach.
 *
 * Ownership: the listener owns its descriptor and the file of its Unix socket.  Threads: none.
 */
#ifndef SL_WEB_LISTEN_H
#define SL_WEB_LISTEN_H

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
 * Listen on a Unix socket, for this user and group (mode 0660).  One that a server left behind is removed; one on which
 * somebody listens, and a file that is no socket, are not.  *path* is to outlive the listener.  0, or -1 with *err.
 */
int sl_listen_unix(struct sl_listener *l, const char *path, struct sl_error *err);

void sl_listener_close(struct sl_listener *l);

#endif
