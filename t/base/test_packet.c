/* SPDX-License-Identifier: MIT */
/* test_packet.c - packets, with what goes wrong between two processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/socket.h>

#include "base/packet.h"

static struct {
	int sock[2];
	char bytes[16];
	size_t size;
	struct sl_packet_fds fds;
	struct sl_error err;
} x;

static int set_up(void **state)
{
	(void) state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, x.sock);
}

static int tear_down(void **state)
{
	(void) state;
	for (int i = 0; i < 2; i++)
		if (x.sock[i] >= 0)
			close(x.sock[i]);
	return 0;
}

static int receive(int timeout_ms)
{
	return sl_packet_recv(x.sock[1], x.bytes, sizeof(x.bytes), &x.size, &x.fds, timeout_ms, &x.err);
}

static void refused(enum sl_errno code)
{
	assert_int_equal(receive(0), -1);
	assert_int_equal(x.err.code, code);
	assert_int_equal(x.fds.count, 0);
}

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void a_packet_arrives_with_its_descriptors(void **state)
{
	int sent[2] = { x.sock[0], x.sock[1] };

	(void) state;
	assert_int_equal(sl_packet_send(x.sock[0], "first", 5, NULL, 0, 0, &x.err), 0);
	assert_int_equal(sl_packet_send(x.sock[0], "second", 6, sent, 2, 0, &x.err), 0);
	assert_int_equal(receive(0), 1);
	assert_int_equal(x.size, 5);
	assert_int_equal(x.fds.count, 0);
	assert_int_equal(receive(-1), 1);
	assert_memory_equal(x.bytes, "second", 6);
	assert_int_equal(x.fds.count, 2);
	sl_packet_close(&x.fds);
	assert_int_equal(x.fds.count, 0);
}

static void what_does_not_fit_is_refused_and_leaves_no_descriptor_open(void **state)
{
	const char large[17] = "";
	int sent[SL_PACKET_FDS];
	unsigned before = open_files();

	(void) state;
	for (int i = 0; i < SL_PACKET_FDS; i++)
		sent[i] = x.sock[0];
	assert_int_equal(sl_packet_send(x.sock[0], large, sizeof(large), sent, SL_PACKET_FDS, 0, &x.err), 0);
	refused(SL_EFORMAT);
	assert_int_equal(open_files(), before);
}

static void nobody_waits_longer_than_was_said(void **state)
{
	char bytes[4096] = "";
	int rc;

	(void) state;
	refused(SL_ETIME);
	while (!(rc = sl_packet_send(x.sock[0], bytes, sizeof(bytes), NULL, 0, 0, &x.err)))
		;
	assert_int_equal(rc, -1);
	assert_int_equal(x.err.code, SL_ETIME);
}

static void an_end_that_is_closed_is_told_from_a_failure(void **state)
{
	(void) state;
	close(x.sock[0]);
	assert_int_equal(receive(-1), 0);
	assert_int_equal(sl_packet_send(x.sock[1], "x", 1, NULL, 0, -1, &x.err), -1);
	assert_int_equal(x.err.code, SL_EIO);
	x.sock[0] = -1;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_packet_arrives_with_its_descriptors),
		TEST(what_does_not_fit_is_refused_and_leaves_no_descriptor_open),
		TEST(nobody_waits_longer_than_was_said),
		TEST(an_end_that_is_closed_is_told_from_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
