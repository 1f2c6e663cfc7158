/* SPDX-License-Identifier: MIT */
/* packet.c - see packet.h */
#include "base/packet.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(SL_PACKET_FDS * sizeof(int))];
};

static int64_t deadline_of(int timeout_ms)
{
	return timeout_ms < 0 ? -1 : sl_clock_ms() + timeout_ms;
}

/* Wait until the socket can be read or written; deadline -1: for ever. */
static int wait_for(int sock, short events, int64_t deadline, struct sl_error *err)
{
	struct pollfd p = { .fd = sock, .events = events };
	int64_t left;
	int n;

	for (;;) {
		left = deadline < 0 ? -1 : deadline - sl_clock_ms();
		if (deadline >= 0 && left < 0)
			left = 0;
		n = poll(&p, 1, left > INT32_MAX ? INT32_MAX : (int) left);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return sl_fail(err, SL_EIO, "socket: %s", strerror(errno));
		if (n == 0 && left <= INT32_MAX)
			return sl_fail(err, SL_ETIME, "the other side did not %s in time",
				       events == POLLIN ? "answer" : "listen");
	}
}

int sl_packet_send(int sock, const void *bytes, size_t size, const int *fd, int count, int timeout_ms,
		   struct sl_error *err)
{
	union control control = { .bytes = { 0 } };
	struct cmsghdr *c = &control.align;
	struct iovec iov = { (void *) bytes, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int64_t deadline = deadline_of(timeout_ms);

	if (count) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE((size_t) count * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t) count * sizeof(int));
		memcpy(CMSG_DATA(c), fd, (size_t) count * sizeof(int));
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno == EINTR)
			continue;
		if (errno == EPIPE || errno == ECONNRESET)
			return sl_fail(err, SL_EIO, "the other side is gone: %s", strerror(errno));
		if (errno != EAGAIN)
			return sl_fail(err, errno == ENOBUFS ? SL_EBUSY : SL_EIO, "socket: %s", strerror(errno));
		if (wait_for(sock, POLLOUT, deadline, err) < 0)
			return -1;
	}
	return 0;
}

static void take_fds(struct msghdr *msg, struct sl_packet_fds *fds)
{
	fds->count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(0))
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n && fds->count < SL_PACKET_FDS; i++)
			memcpy(&fds->fd[fds->count++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
}

int sl_packet_recv(int sock, void *bytes, size_t room, size_t *size, struct sl_packet_fds *fds, int timeout_ms,
		   struct sl_error *err)
{
	union control control;
	struct iovec iov = { bytes, room };
	struct msghdr msg;
	int64_t deadline = deadline_of(timeout_ms);
	ssize_t n;

	fds->count = 0;
	do {
		if (wait_for(sock, POLLIN, deadline, err) < 0)
			return -1;
		msg = (struct msghdr) { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
					.msg_controllen = sizeof(control) };
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)	/* reset: closed with a packet of ours unread */
		return errno == ECONNRESET ? 0 : sl_fail(err, SL_EIO, "socket: %s", strerror(errno));
	take_fds(&msg, fds);
	*size = (size_t) n;
	if (!(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return n || fds->count;
	sl_packet_close(fds);
	return sl_fail(err, SL_EFORMAT, "longer than %zu bytes, or too many descriptors", room);
}

void sl_packet_close(struct sl_packet_fds *fds)
{
	while (fds->count)
		close(fds->fd[--fds->count]);
}
