/* SPDX-License-Identifier: MIT */
/* Frames, and the descriptors that come with them: sl_wire_recv(), sl_wire_map().  The
 * first byte says how many descriptors there are and of what; the rest is the frame. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t/fuzz/fuzz.h"
#include "image/wire.h"

const char fuzz_name[] = "frame";

enum kind { SEALED, UNSEALED, HALF_SEALED, EMPTY, HOLES, SOCKET, DIRECTORY, ZERO, KINDS };

static int make_fd(enum kind kind, int sock)
{
	static const char text[] = "whatever";
	struct sl_error err;
	int fd;

	switch (kind) {
	case SEALED:
		return sl_wire_memfd("fuzz", text, sizeof(text), &err);
	case SOCKET:
		return fcntl(sock, F_DUPFD_CLOEXEC, 0);
	case DIRECTORY:
		return open("/", O_RDONLY | O_CLOEXEC);
	case ZERO:
		return open("/dev/zero", O_RDONLY | O_CLOEXEC);
	default:
		fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		MUST(fd >= 0);
		if (kind == HOLES)
			MUST(ftruncate(fd, 1 << 20) == 0);
		else if (kind != EMPTY)
			MUST(write(fd, text, sizeof(text)) == sizeof(text));
		if (kind == HALF_SEALED)
			MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
		else if (kind != UNSEALED)
			MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0);
		return fd;
	}
}

static void send_raw(int sock, const uint8_t *bytes, size_t size, int fds, enum kind kind)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *) (uintptr_t) bytes, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd = fds ? make_fd(kind, sock) : -1;

	if (fds) {
		MUST(fd >= 0);
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE((size_t) fds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN((size_t) fds * sizeof(int));
		for (int i = 0; i < fds; i++)
			memcpy(CMSG_DATA(&control.align) + (size_t) i * sizeof(int), &fd, sizeof(int));
	}
	MUST(sendmsg(sock, &msg, 0) >= 0);
	if (fd >= 0)
		close(fd);
}

static void must_be_a_frame(int sock, struct sl_frame *f, enum kind kind)
{
	struct sl_error err = { .code = SL_OK };
	const void *bytes;
	size_t size;

	MUST(f->type >= SL_FRAME_HELLO && f->type <= SL_FRAME_RESTORE && f->length <= sizeof(f->body));
	MUST(sl_wire_send(sock, f, 0, &err) == 0);	/* what is accepted may be said */
	if (f->type == SL_FRAME_LOAD || f->type == SL_FRAME_RESTORE)
		MUST(memchr(f->body.load.site, 0, sizeof(f->body.load.site)) &&
		     memchr(f->body.load.policy_path, 0, sizeof(f->body.load.policy_path)));
	if (f->type == SL_FRAME_LOADED)
		MUST(memchr(f->body.loaded.policy, 0, sizeof(f->body.loaded.policy)) &&
		     memchr(f->body.loaded.text, 0, sizeof(f->body.loaded.text)) &&
		     f->body.loaded.interval_s >= 0 && f->body.loaded.interval_s <= SL_INTERVAL_MAX_S);
	if (f->type == SL_FRAME_PLAN)
		MUST(memchr(f->body.plan.stale, 0, sizeof(f->body.plan.stale)) &&
		     memchr(f->body.plan.odd, 0, sizeof(f->body.plan.odd)) &&
		     memchr(f->body.plan.policy, 0, sizeof(f->body.plan.policy)) &&
		     memchr(f->body.plan.text, 0, sizeof(f->body.plan.text)) &&
		     memchr(f->body.plan.reload_text, 0, sizeof(f->body.plan.reload_text)) &&
		     f->body.plan.budget_s >= 0 && f->body.plan.budget_s <= SL_BUDGET_MAX_S);
	if (f->fd < 0)
		return;
	if (sl_wire_map(f->fd, &bytes, &size, &err) == 0) {
		MUST(kind == SEALED && size == sizeof("whatever"));
		sl_wire_unmap(bytes, size);
	} else {
		MUST(kind != SEALED);
		fuzz_refused(&err);
	}
	close(f->fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fds = size ? data[0] % 4 : 0, sock[2], rc, last;
	enum kind kind = size ? data[0] / 4 % KINDS : SEALED;
	struct sl_frame f;
	struct sl_error err = { .code = SL_OK };

	if (!size || size > 2 * SL_FRAME_MAX)
		return 0;
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) == 0);
	send_raw(sock[0], data + 1, size - 1, fds, kind);
	last = fcntl(sock[1], F_DUPFD_CLOEXEC, 0);
	close(last);
	rc = sl_wire_recv(sock[1], &f, 0, &err);
	MUST(rc == 1 ? err.code == SL_OK : f.fd == -1);
	if (rc == 1) {
		fuzz_accepted++;
		must_be_a_frame(sock[1], &f, kind);
	} else if (rc < 0) {
		fuzz_refused(&err);
	}
	MUST(fcntl(last, F_GETFD) < 0);		/* nothing that came stays open */
	close(sock[0]);
	close(sock[1]);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	struct sl_frame f = { .type = (enum sl_frame_type) (1 + make_below(seed, SL_FRAME_RESTORE)), .fd = -1 };
	struct sl_error err;
	int sock[2], fd = make_fd(SEALED, -1);
	bool attached = f.type == SL_FRAME_DECIDE || f.type == SL_FRAME_RESTORE;
	ssize_t n;

	switch (f.type) {
	case SL_FRAME_HELLO:
		f.body.hello.wire_version = SL_WIRE_VERSION;
		strcpy(f.body.hello.version, "0.1.0");
		break;
	case SL_FRAME_LOAD: case SL_FRAME_RESTORE:
		strcpy(f.body.load.site, "/etc/slurm/sched.lua");
		break;
	case SL_FRAME_LOADED:
		f.body.loaded.ok = 1;
		strcpy(f.body.loaded.policy, "site: easy");
		break;
	case SL_FRAME_PLAN:
		f.body.plan.code = SL_EINVAL;
		strcpy(f.body.plan.text, "sched.lua:1: no");
		break;
	default:
		break;
	}
	if (attached)
		f.fd = fd;
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) == 0);
	MUST(sl_wire_send(sock[0], &f, 0, &err) == 0);
	n = recv(sock[1], to + 1, FUZZ_MAX - 1, 0);
	MUST(n > 0);
	to[0] = attached ? 1 : 0;
	close(sock[0]);
	close(sock[1]);
	close(fd);
	return 1 + (size_t) n;
}
