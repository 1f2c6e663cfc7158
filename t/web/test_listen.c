/* SPDX-License-Identifier: MIT */
/* test_listen.c - where the server listens, and where it does not */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/scratch.h"
#include "web/listen.h"

static void loopback_addresses_are_listened_on(void **state)
{
	static const char *const good[] = { "127.0.0.1:0", "127.9.8.7:0", "0", ":0" };
	struct sl_listener l;
	struct sl_error err;

	(void) state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(sl_listen_loopback(&l, good[i], &err), 0);
		assert_int_equal(strncmp(l.name, "http://127.", 11), 0);
		sl_listener_close(&l);
	}
}

static void every_other_address_is_refused_and_the_text_says_what_was_expected(void **state)
{
	static const char *const bad[] = {
		"0.0.0.0:80", "10.0.0.1:80", "192.168.1.1:8080", "128.0.0.1:80", "localhost:80", "[::]:80", "[::2]:80", "::1:80",
		"[fe80::1]:80", "[::ffff:10.0.0.1]:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
		"127.0.0.1: 80", "127.1:80", "0x7f.0.0.1:80", "", ":", "[]:80", "127.0.0.1:99999999999999999999", "example.org:80",
	};
	struct sl_listener l;
	struct sl_error err;

	(void) state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(sl_listen_loopback(&l, bad[i], &err), -1);
		assert_int_equal(err.code, SL_EINVAL);
		assert_non_null(strstr(err.text, "expected 127.0.0.1:PORT"));
	}
}

static void a_page_of_another_site_is_told_by_its_name(void **state)
{
	static const char *const good[] = { "localhost", "LocalHost:6822", "127.0.0.1", "127.0.0.1:1", "127.9.9.9:6822", "[::1]", "[::1]:80",
		"slurm.example.org", "SLURM.example.org:443", "b" };
	static const char *const bad[] = { "", ":80", "evil.example.org", "localhost.evil.org", "127.0.0.1.evil.org", "127.0.0.1:80@evil.org",
		"localhost:80x", "10.0.0.1", "[::2]", "[::1", "[::1]x", "[fe80::1]:80", "0x7f.1", "slurm.example.or", "slurm.example.org.", "a,b", "," };

	(void) state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!sl_listen_is_host(good[i], "slurm.example.org,b"))
			fail_msg("\"%s\" is refused", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (sl_listen_is_host(bad[i], "slurm.example.org,b") || sl_listen_is_host(bad[i], ""))
			fail_msg("\"%s\" is taken", bad[i]);
	assert_false(sl_listen_is_host("slurm.example.org", ""));
}

static void a_port_in_use_is_named(void **state)
{
	struct sl_listener first, second;
	char address[300], *port;
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_listen_loopback(&first, "127.0.0.1:0", &err), 0);
	port = strrchr(first.name, ':') + 1;
	snprintf(address, sizeof(address), "127.0.0.1:%.*s", (int) strcspn(port, "/"), port);
	assert_int_equal(sl_listen_loopback(&second, address, &err), -1);
	assert_non_null(strstr(err.text, "another program listens there"));
	sl_listener_close(&first);
}

static void a_socket_is_for_user_and_group_and_goes_away_with_its_server(void **state)
{
	struct sl_listener l, second;
	struct sl_error err;
	char path[80];
	struct stat st;

	(void) state;
	snprintf(path, sizeof(path), "%s/s.sock", scratch);
	assert_int_equal(sl_listen_unix(&l, path, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	assert_int_equal(sl_listen_unix(&second, path, &err), -1);
	assert_non_null(strstr(err.text, "another server listens there"));
	assert_int_equal(access(path, F_OK), 0);
	sl_listener_close(&l);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_socket_that_was_left_behind_is_replaced_and_a_file_is_not(void **state)
{
	struct sl_listener l;
	struct sl_error err;
	char path[80], longer[300];
	FILE *f;

	(void) state;
	snprintf(path, sizeof(path), "%s/left.sock", scratch);
	assert_int_equal(sl_listen_unix(&l, path, &err), 0);
	close(l.fd);		/* as when the server was killed */
	assert_int_equal(sl_listen_unix(&l, path, &err), 0);
	sl_listener_close(&l);
	snprintf(path, sizeof(path), "%s/file", scratch);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(sl_listen_unix(&l, path, &err), -1);
	assert_non_null(strstr(err.text, "is there and no socket"));
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	assert_int_equal(sl_listen_unix(&l, longer, &err), -1);
	assert_int_equal(sl_listen_unix(&l, "/nowhere/at/all.sock", &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loopback_addresses_are_listened_on),
		cmocka_unit_test(every_other_address_is_refused_and_the_text_says_what_was_expected),
		cmocka_unit_test(a_page_of_another_site_is_told_by_its_name),
		cmocka_unit_test(a_port_in_use_is_named),
		cmocka_unit_test(a_socket_is_for_user_and_group_and_goes_away_with_its_server),
		cmocka_unit_test(a_socket_that_was_left_behind_is_replaced_and_a_file_is_not),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
