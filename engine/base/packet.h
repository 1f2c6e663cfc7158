/* SPDX-License-Identifier: MIT */
/*
 * packet.h - packets through a socket that keeps them apart (SOCK_SEQPACKET), descriptors with them.
 *
 * A timeout is in milliseconds; negative: for ever, 0: only what is possible at once.
 *
 * Threads: safe; no state.
 */
#ifndef SL_PACKET_H
#define SL_PACKET_H

#include <stddef.h>

#include "base/error.h"

#define SL_PACKET_FDS 8		/* most descriptors that are taken with a packet */

struct sl_packet_fds {
	int count, fd[SL_PACKET_FDS];
};

/* Send one, with *count* descriptors, which stay the caller's.  0; -1 with *err: SL_ETIME, SL_EIO,
 * SL_EBUSY where the kernel has no room. */
int sl_packet_send(int sock, const void *bytes, size_t size, const int *fd, int count, int timeout_ms,
		   struct sl_error *err);

/*
 * Receive one of at most *room* bytes; its descriptors are the caller's.  1; 0: the other side has
 * closed; -1 with *err, and no descriptors: SL_ETIME, SL_EIO, SL_EFORMAT for what is larger or comes
 * with too many of them.
 */
int sl_packet_recv(int sock, void *bytes, size_t room, size_t *size, struct sl_packet_fds *fds, int timeout_ms,
		   struct sl_error *err);

void sl_packet_close(struct sl_packet_fds *fds);

#endif
