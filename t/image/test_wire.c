/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/wire.h"

struct pair {
	int a, b;
	int fds;		/* open when the pair was made */
};

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int make_pair(void **state)
{
	static struct pair pair;
	int sock[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return -1;
	pair = (struct pair) { sock[0], sock[1], open_fds() };
	*state = &pair;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *p = *state;

	if (p->b >= 0)
		close(p->b);
	close(p->a);
	return 0;
}

static struct sl_frame frame_of(enum sl_frame_type type)
{
	struct sl_frame f;

	memset(&f, 0, sizeof(f));
	f.type = type;
	f.fd = -1;
	return f;
}

static void frames_arrive_as_they_were_sent(void **state)
{
	struct pair *p = *state;
	struct sl_frame in = frame_of(SL_FRAME_LOAD), out;
	struct sl_error err;

	in.body.load.trusted_uid = 64030;
	strcpy(in.body.load.site, "/etc/slurm/sched.lua");
	assert_int_equal(sl_wire_send(p->a, &in, 1000, &err), 0);
	assert_int_equal(sl_wire_recv(p->b, &out, 1000, &err), 1);
	assert_int_equal(out.type, SL_FRAME_LOAD);
	assert_int_equal(out.fd, -1);
	assert_memory_equal(&in.body, &out.body, sizeof(in.body.load));
	in = frame_of(SL_FRAME_BYE);
	assert_int_equal(sl_wire_send(p->a, &in, 1000, &err), 0);
	assert_int_equal(sl_wire_recv(p->b, &out, 1000, &err), 1);
	assert_int_equal(out.type, SL_FRAME_BYE);
	assert_int_equal(out.length, 0);
}

static void every_type_of_frame_fits(void **state)
{
	struct pair *p = *state;
	struct sl_error err;
	struct sl_frame out;

	for (int type = SL_FRAME_HELLO; type <= SL_FRAME_BYE; type++) {
		struct sl_frame in = frame_of(type);

		if (type == SL_FRAME_DECIDE)
			in.fd = p->a;
		assert_int_equal(sl_wire_send(p->a, &in, 1000, &err), 0);
		assert_int_equal(sl_wire_recv(p->b, &out, 1000, &err), 1);
		assert_int_equal(out.type, type);
		if (out.fd >= 0)
			close(out.fd);
	}
	assert_int_equal(open_fds(), p->fds);
}

static void an_image_travels_in_a_sealed_memfd(void **state)
{
	struct pair *p = *state;
	struct sl_frame in = frame_of(SL_FRAME_DECIDE), out;
	struct sl_error err;
	const void *bytes;
	size_t size;
	char data[100000];

	memset(data, 'x', sizeof(data));
	in.fd = sl_wire_memfd("snapshot", data, sizeof(data), &err);
	assert_true(in.fd >= 0);
	assert_int_equal(write(in.fd, "y", 1), -1);
	assert_int_equal(ftruncate(in.fd, 10), -1);
	in.body.decide.sequence = 42;
	assert_int_equal(sl_wire_send(p->a, &in, 1000, &err), 0);
	close(in.fd);
	assert_int_equal(sl_wire_recv(p->b, &out, 1000, &err), 1);
	assert_int_equal(out.body.decide.sequence, 42);
	assert_true(fcntl(out.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(sl_wire_map(out.fd, &bytes, &size, &err), 0);
	close(out.fd);
	assert_int_equal(size, sizeof(data));
	assert_memory_equal(bytes, data, size);
	sl_wire_unmap(bytes, size);
	sl_wire_unmap(NULL, 0);
	assert_int_equal(open_fds(), p->fds);
}

static void what_stands_behind_the_end_of_a_string_is_not_sent(void **state)
{
	struct pair *p = *state;
	struct sl_frame in = frame_of(SL_FRAME_HELLO);
	unsigned char raw[SL_FRAME_MAX];
	struct sl_error err;
	ssize_t n;

	strcpy(in.body.hello.version, "0.1.0");
	strcpy(in.body.hello.version + 10, "secret");
	assert_int_equal(sl_wire_send(p->a, &in, 1000, &err), 0);
	n = recv(p->b, raw, sizeof(raw), 0);
	assert_true(n > 0);
	assert_null(memmem(raw, n, "secret", 6));
	assert_non_null(memmem(raw, n, "0.1.0", 5));
}

static void a_silent_peer_runs_into_the_deadline(void **state)
{
	struct pair *p = *state;
	struct sl_frame f = frame_of(SL_FRAME_BYE);
	struct sl_error err;
	int sent = 0;

	assert_int_equal(sl_wire_recv(p->a, &f, 0, &err), -1);
	assert_int_equal(err.code, SL_ETIME);
	assert_int_equal(sl_wire_recv(p->a, &f, 20, &err), -1);
	assert_int_equal(err.code, SL_ETIME);
	f = frame_of(SL_FRAME_BYE);
	while (sent < 100000 && sl_wire_send(p->a, &f, 5, &err) == 0)
		sent++;
	assert_true(sent < 100000);
	assert_int_equal(err.code, SL_ETIME);
}

static volatile sig_atomic_t ticks;

static void tick(int sig)
{
	(void) sig;
	ticks++;
}

static void a_signal_neither_shortens_nor_lengthens_the_wait(void **state)
{
	struct pair *p = *state;
	struct sigaction old, sa = { .sa_handler = tick };	/* no SA_RESTART */
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sl_error err;
	struct sl_frame f;

	sigaction(SIGALRM, &sa, &old);
	setitimer(ITIMER_REAL, &every, NULL);
	assert_int_equal(sl_wire_recv(p->a, &f, 60, &err), -1);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_int_equal(err.code, SL_ETIME);
	assert_true(ticks > 0);
}

static void a_peer_that_is_gone_is_told_apart_and_raises_no_sigpipe(void **state)
{
	struct pair *p = *state;
	struct sl_frame f = frame_of(SL_FRAME_BYE);
	struct sl_error err;

	close(p->b);
	p->b = -1;
	assert_int_equal(sl_wire_recv(p->a, &f, 1000, &err), 0);
	f = frame_of(SL_FRAME_BYE);
	assert_int_equal(sl_wire_send(p->a, &f, 1000, &err), -1);
	assert_int_equal(err.code, SL_EIO);
}

static void a_peer_that_closed_with_our_frame_unread_is_gone_too(void **state)
{
	struct pair *p = *state;
	struct sl_frame f = frame_of(SL_FRAME_BYE);
	struct sl_error err;

	assert_int_equal(sl_wire_send(p->a, &f, 1000, &err), 0);
	close(p->b);
	p->b = -1;
	assert_int_equal(sl_wire_recv(p->a, &f, 1000, &err), 0);
}

/* Send raw bytes with so many descriptors. */
static void send_raw(int sock, const void *bytes, size_t size, int fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *) (uintptr_t) bytes, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fds) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(fds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(fds * sizeof(int));
		for (int i = 0; i < fds; i++)
			memcpy(CMSG_DATA(&control.align) + i * sizeof(int), &sock, sizeof(int));
	}
	assert_int_equal(sendmsg(sock, &msg, 0), size);
}

struct raw {			/* a header as it is on the wire */
	uint16_t magic, version;
	uint32_t type, length, zero;
	unsigned char body[SL_FRAME_MAX];
};

static void expect_refusal(struct pair *p, const struct raw *raw, size_t size, int fds, enum sl_errno code,
			   const char *text)
{
	struct sl_frame out;
	struct sl_error err = { .code = SL_OK };

	send_raw(p->a, raw, size, fds);
	assert_int_equal(sl_wire_recv(p->b, &out, 1000, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(err.code, code);
	assert_int_equal(out.fd, -1);
	assert_int_equal(open_fds(), p->fds);
}

static struct raw raw_of(uint32_t type, const void *body, size_t size)
{
	struct raw r = { SL_WIRE_MAGIC, SL_WIRE_VERSION, type, size, 0, { 0 } };

	if (size)
		memcpy(r.body, body, size);
	return r;
}

static void malformed_headers_are_refused_and_leak_no_descriptor(void **state)
{
	struct pair *p = *state;
	struct raw r = raw_of(SL_FRAME_BYE, NULL, 0);

	expect_refusal(p, &r, 3, 0, SL_EFORMAT, "frame: 3 bytes are too few for one");
	expect_refusal(p, &r, 3, 1, SL_EFORMAT, "frame: 3 bytes are too few for one");
	expect_refusal(p, &r, 0, 1, SL_EFORMAT, "frame: 0 bytes are too few for one");
	expect_refusal(p, &r, 16, 1, SL_EFORMAT, "frame BYE: a descriptor is attached");
	expect_refusal(p, &r, 16, 2, SL_EFORMAT, "frame: 2 descriptors are attached, expected at most one");
	expect_refusal(p, &r, 16, 50, SL_EFORMAT, "frame: longer than 16384 bytes, or too many descriptors");
	expect_refusal(p, &r, SL_FRAME_MAX + 1, 1, SL_EFORMAT,
		       "frame: longer than 16384 bytes, or too many descriptors");
	expect_refusal(p, &r, 17, 0, SL_EFORMAT, "frame BYE: 1 bytes, the header says 0, expected 0");
	r.length = 1;
	expect_refusal(p, &r, 17, 0, SL_EFORMAT, "frame BYE: 1 bytes, the header says 1, expected 0");
	r = raw_of(0, NULL, 0);
	expect_refusal(p, &r, 16, 0, SL_EFORMAT, "frame: unknown type 0");
	r = raw_of(10, NULL, 0);
	expect_refusal(p, &r, 16, 0, SL_EFORMAT, "frame: unknown type 10");
	r = raw_of(UINT32_MAX, NULL, 0);
	expect_refusal(p, &r, 16, 1, SL_EFORMAT, "frame: unknown type 4294967295");
	r = raw_of(SL_FRAME_BYE, NULL, 0);
	r.magic = 0x1234;
	expect_refusal(p, &r, 16, 0, SL_EFORMAT, "frame: magic 0x1234, expected 0x4c53");
	r = raw_of(SL_FRAME_BYE, NULL, 0);
	r.version = 9;
	expect_refusal(p, &r, 16, 0, SL_EVERSION, "frame: version 9, expected 5");
}

static void bodies_that_break_a_rule_are_refused(void **state)
{
	struct pair *p = *state;
	struct sl_frame_plan plan = { .ok = 1 };
	struct sl_frame_decide decide = { .bundled = 2 };
	struct sl_frame_loaded loaded = { .code = SL_EBUSY + 1 };
	struct sl_frame_hello hello = { .pid = 1 };
	struct raw r = raw_of(SL_FRAME_PLAN, &plan, sizeof(plan));

	expect_refusal(p, &r, 16 + sizeof(plan), 0, SL_EFORMAT, "frame PLAN: no descriptor is attached");
	plan.ok = 0;
	r = raw_of(SL_FRAME_PLAN, &plan, sizeof(plan));
	expect_refusal(p, &r, 16 + sizeof(plan), 1, SL_EFORMAT, "frame PLAN: a descriptor is attached");
	plan.budget_s = NAN;
	r = raw_of(SL_FRAME_PLAN, &plan, sizeof(plan));
	expect_refusal(p, &r, 16 + sizeof(plan), 0, SL_EFORMAT,
		       "frame PLAN: an interval or budget that is no number of seconds");
	plan.budget_s = 1e300;
	r = raw_of(SL_FRAME_PLAN, &plan, sizeof(plan));
	expect_refusal(p, &r, 16 + sizeof(plan), 0, SL_EFORMAT,
		       "frame PLAN: an interval or budget that is no number of seconds");
	plan.budget_s = 0;
	plan.interval_s = 1e-9;
	r = raw_of(SL_FRAME_PLAN, &plan, sizeof(plan));
	expect_refusal(p, &r, 16 + sizeof(plan), 0, SL_EFORMAT,
		       "frame PLAN: an interval or budget that is no number of seconds");
	plan.interval_s = 0;
	plan.reload = 3;
	r = raw_of(SL_FRAME_PLAN, &plan, sizeof(plan));
	expect_refusal(p, &r, 16 + sizeof(plan), 0, SL_EFORMAT, "frame PLAN: an unknown outcome of a reload");
	plan.reload = 0;
	memset(plan.text, 'x', sizeof(plan.text));
	r = raw_of(SL_FRAME_PLAN, &plan, sizeof(plan));
	expect_refusal(p, &r, 16 + sizeof(plan), 0, SL_EFORMAT, "frame PLAN: a string without an end");
	r = raw_of(SL_FRAME_DECIDE, &decide, sizeof(decide));
	expect_refusal(p, &r, 16 + sizeof(decide), 1, SL_EFORMAT, "frame DECIDE: bundled is neither 0 nor 1");
	decide.bundled = 1;
	r = raw_of(SL_FRAME_DECIDE, &decide, sizeof(decide));
	expect_refusal(p, &r, 16 + sizeof(decide), 0, SL_EFORMAT, "frame DECIDE: no descriptor is attached");
	r = raw_of(SL_FRAME_LOADED, &loaded, sizeof(loaded));
	expect_refusal(p, &r, 16 + sizeof(loaded), 0, SL_EFORMAT, "frame LOADED: an unknown error code");
	memset(hello.version, 'x', sizeof(hello.version));
	r = raw_of(SL_FRAME_HELLO, &hello, sizeof(hello));
	expect_refusal(p, &r, 16 + sizeof(hello), 0, SL_EFORMAT, "frame HELLO: a string without an end");
}

static void a_frame_that_would_be_refused_is_not_sent(void **state)
{
	struct pair *p = *state;
	struct sl_frame f = frame_of(SL_FRAME_DECIDE);
	struct sl_error err;

	assert_int_equal(sl_wire_send(p->a, &f, 1000, &err), -1);
	assert_int_equal(err.code, SL_EINVAL);
	f = frame_of(0);
	assert_int_equal(sl_wire_send(p->a, &f, 1000, &err), -1);
	f = frame_of(SL_FRAME_HELLO);
	memset(f.body.hello.version, 'x', sizeof(f.body.hello.version));
	assert_int_equal(sl_wire_send(p->a, &f, 1000, &err), -1);
	assert_int_equal(sl_wire_recv(p->b, &f, 0, &err), -1);
	assert_int_equal(err.code, SL_ETIME);
}

static void expect_no_map(int fd, const char *text)
{
	const void *bytes;
	size_t size;
	struct sl_error err;

	assert_int_equal(sl_wire_map(fd, &bytes, &size, &err), -1);
	assert_string_equal(err.text, text);
	close(fd);
}

static void what_could_change_under_the_reader_is_not_mapped(void **state)
{
	struct sl_error err;
	int fd = memfd_create("t", MFD_ALLOW_SEALING);

	(void) state;
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	expect_no_map(fd, "memfd: not sealed against shrinking and writing");
	expect_no_map(memfd_create("t", 0), "memfd: not sealed against shrinking and writing");
	expect_no_map(open("/dev/zero", O_RDONLY), "memfd: not sealed against shrinking and writing");
	expect_no_map(open("/", O_RDONLY), "memfd: not sealed against shrinking and writing");
	expect_no_map(sl_wire_memfd("t", "", 0, &err), "memfd: empty");
	fd = memfd_create("t", MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE), 0);
	expect_no_map(fd, "memfd: has holes");
	fd = memfd_create("t", MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, ((off_t) 1 << 30) + 1), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE), 0);
	expect_no_map(fd, "memfd: 1073741825 bytes, the most is 1073741824");
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, make_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAIR(frames_arrive_as_they_were_sent),
		WITH_PAIR(every_type_of_frame_fits),
		WITH_PAIR(an_image_travels_in_a_sealed_memfd),
		WITH_PAIR(what_stands_behind_the_end_of_a_string_is_not_sent),
		WITH_PAIR(a_silent_peer_runs_into_the_deadline),
		WITH_PAIR(a_signal_neither_shortens_nor_lengthens_the_wait),
		WITH_PAIR(a_peer_that_is_gone_is_told_apart_and_raises_no_sigpipe),
		WITH_PAIR(a_peer_that_closed_with_our_frame_unread_is_gone_too),
		WITH_PAIR(malformed_headers_are_refused_and_leak_no_descriptor),
		WITH_PAIR(bodies_that_break_a_rule_are_refused),
		WITH_PAIR(a_frame_that_would_be_refused_is_not_sent),
		cmocka_unit_test(what_could_change_under_the_reader_is_not_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
