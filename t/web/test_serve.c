/* SPDX-License-Identifier: MIT */
/*
 * test_serve.c - schedlua serve, the real program, before clients that mean harm: what it answers, what it refuses, and
 * that it goes on.  Each test has a server of its own on a Unix socket, ended by pid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/snapshot.h"
#include "t/hostile.h"
#include "t/random.h"
#include "t/scratch.h"
#include "t/web/served.h"
#include "web/http.h"

static void on_a_port_a_page_of_another_site_learns_nothing(void **state)
{
	static const struct {
		const char *host;
		int status;
	} tries[] = { { "Host: localhost", 200 }, { "Host: 127.0.0.1:6822", 200 }, { "Host: [::1]", 200 }, { "Host: slurm.home", 200 },
		      { "Host: rebound.example.org", 421 }, { "Host: rebound.example.org:6822", 421 }, { "Host: ", 421 },
		      { "Host: localhost.example.org", 421 } };
	static const char *const paths[] = { "/", "/data", "/explain?job=7", "/metrics", "/healthz", "/nothing" };
	struct server s = serve("", NULL), port;
	char text[300];

	(void) state;
	end_server_well(&s);
	port = serve_on(s.dir, "", "--host=other.home,slurm.home");
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
			char *answer;

			snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n", paths[k], tries[i].host);
			answer = say(&port, text, strlen(text));
			if (status_of(answer) != (tries[i].status == 200 && k == 5 ? 404 : tries[i].status))
				fail_msg("%s of %s: got %.300s", paths[k], tries[i].host, answer);
			if (tries[i].status != 200)
				assert_null(strstr(answer, "bobs"));
			free(answer);
		}
	end_server_well(&port);
}

/* -- what it answers ----------------------------------------------------------------- */

static void every_path_has_its_answer_with_a_strict_policy_of_content(void **state)
{
	static const char *const paths[][2] = {
		{ "/", "text/html" }, { "/page.css", "text/css" }, { "/page.js", "text/javascript" }, { "/data", "application/json" },
		{ "/explain?job=7", "application/json" }, { "/metrics", "application/openmetrics-text; version=1.0.0" },
		{ "/healthz", "application/json" }, { "/?x=1", "text/html" },
	};
	struct server s = serve("", NULL);

	(void) state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		expect(&s, paths[i][0], "", 200, paths[i][1]);
		expect(&s, paths[i][0], "", 200, "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';");
		expect(&s, paths[i][0], "", 200, "X-Content-Type-Options: nosniff");
	}
	expect(&s, "/data", "", 200, "\"label\": \"7\"");
	expect(&s, "/data", "", 200, "<script>alert(1)</script>\\n");		/* JSON, which nobody reads as HTML */
	expect(&s, "/explain?job=7", "", 200, "Job 7 waits for 2 nodes");
	expect(&s, "/explain?job=7", "", 200, "nobody is stopped for it: with all 9 jobs");
	expect(&s, "/explain?job=1", "", 200, "Job 1 runs since");
	expect(&s, "/explain?job=4711", "", 404, "no such job");
	expect(&s, "/explain", "", 400, "expected ?job=ID");
	expect(&s, "/explain?job=7&job=1", "", 400, "expected one job");
	expect(&s, "/metrics", "", 200, "schedlua_partition_gpus_used{partition=\"p\"} 1\n");
	end_server_well(&s);
}

static void a_path_never_names_a_file(void **state)
{
	static const char *const paths[] = {
		"/etc/passwd", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/page.html",
		"/status.json", "/last.snap", "/decisions.jsonl", "/page.js/", "/./", "/data/..", "*", "/favicon.ico",
	};
	struct server s = serve("", NULL);

	(void) state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char *answer = get(&s, paths[i], "");

		if (status_of(answer) == 200 || strstr(answer, "root:"))
			fail_msg("%s: %.300s", paths[i], answer);
		free(answer);
	}
	expect_health(&s);
	end_server_well(&s);
}

static void only_reading_is_answered_and_a_body_is_refused(void **state)
{
	static const struct { const char *text; int status; } asked[] = {
		{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405 },
		{ "PUT /data HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405 },
		{ "DELETE /data HTTP/1.1\r\nHost: x\r\n\r\n", 405 },
		{ "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 405 },
		{ "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 413 },
		{ "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n", 413 },
		{ "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 413 },
		{ "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200 },
	};
	struct server s = serve("", NULL);

	(void) state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		char *answer = say(&s, asked[i].text, strlen(asked[i].text));

		if (status_of(answer) != asked[i].status)
			fail_msg("%s\nexpected %d, got %.300s", asked[i].text, asked[i].status, answer);
		if (asked[i].status == 200)
			assert_null(strstr(answer, "<html"));
		free(answer);
	}
	expect_health(&s);
	end_server_well(&s);
}

static void a_request_that_is_too_large_is_refused(void **state)
{
	const size_t sizes[] = { 20000, 200000, 5000000 };
	struct server s = serve("", NULL);

	(void) state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int kind = 0; kind < 2; kind++) {
			char *text = malloc(sizes[i] + 100), *answer;
			size_t n = (size_t) sprintf(text, "%s", kind ? "GET / HTTP/1.1\r\nHost: x\r\nX: " : "GET /explain?job=");

			assert_non_null(text);
			memset(text + n, '7', sizes[i]);
			strcpy(text + n + sizes[i], kind ? "\r\n\r\n" : " HTTP/1.1\r\nHost: x\r\n\r\n");
			answer = say(&s, text, strlen(text));
			if (status_of(answer) / 100 == 2)
				fail_msg("%zu bytes were taken", sizes[i]);
			free(answer);
			free(text);
		}
	expect_health(&s);
	end_server_well(&s);
}

static void requests_in_a_row_on_one_connection_are_answered_in_their_order(void **state)
{
	static const char text[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /page.css HTTP/1.1\r\nHost: x\r\n\r\n"
		"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /explain?job=7 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	struct server s = serve("", NULL);
	char *answer = say(&s, text, strlen(text)), *health, *css, *nothing, *job;

	(void) state;
	health = strstr(answer, "\"state\":\"OK\"");
	css = health ? strstr(health, "text/css") : NULL;
	nothing = css ? strstr(css, "HTTP/1.1 404") : NULL;
	job = nothing ? strstr(nothing, "\"job\":7") : NULL;
	assert_non_null(job);
	free(answer);
	end_server_well(&s);
}

/* -- who may see what ------------------------------------------------------------------ */

static void under_private_jobs_only_the_user_whom_the_proxy_names_sees_his(void **state)
{
	static const char *const texts[] = { "/data", "/explain?job=7", "/explain?job=1", "/metrics", "/healthz" };
	static const char *const nobody[] = { "", "X-Remote-User: \r\n", "X-Remote-User: eve\r\n", "X-Other: bob\r\n", "Authorization: bob\r\n" };
	struct server s = serve("jobs", "--user-header=X-Remote-User");

	(void) state;
	for (size_t h = 0; h < sizeof(nobody) / sizeof(nobody[0]); h++)
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
			expect_without(&s, texts[i], nobody[h], "bob");
			expect_without(&s, texts[i], nobody[h], "ann");
			expect_without(&s, texts[i], nobody[h], "alert(1)");
		}
	expect(&s, "/data", "x-remote-USER: bob\r\n", 200, "\"bobs\"");
	expect_without(&s, "/data", "X-Remote-User: bob\r\n", "ann");
	expect(&s, "/data", "X-Remote-User: bob\r\n", 200, "\"used\": 4");	/* sinfo says so, too */
	expect(&s, "/explain?job=7", "X-Remote-User: bob\r\n", 200, "Job 7 waits");
	expect_without(&s, "/explain?job=7", "X-Remote-User: bob\r\n", "would delay");
	expect_without(&s, "/explain?job=7", "X-Remote-User: bob\r\n", "may be stopped");	/* others' jobs are counted there */
	expect(&s, "/explain?job=1", "X-Remote-User: bob\r\n", 404, "no such job");
	expect(&s, "/explain?job=7", "", 404, "no such job");
	expect(&s, "/metrics", "", 200, "schedlua_up 1");
	expect_without(&s, "/metrics", "X-Remote-User: bob\r\n", "partition=");
	end_server_well(&s);
}

/* Job 1 of ann's is stopped for 7 of bob's, whose place is held: each is told of his own job alone. */
static void under_private_jobs_a_stop_is_told_without_the_other_users_job(void **state)
{
	static const char *const of_others[] = { "preemptor", "\"group\"", "\"bound\"", "because", "31337.5", "3.134e" };
	const char *const ann = "X-Remote-User: ann\r\n", *const bob = "X-Remote-User: bob\r\n";
	const long long now = time(NULL);

	(void) state;
	for (int hidden = 0; hidden < 2; hidden++) {
		struct server s = serve(hidden ? "jobs" : "", hidden ? "--user-header=X-Remote-User" : NULL);

		write_file(&s, "decisions.jsonl", "{ \"sequence\": 1, \"now\": %lld, \"policy\": \"easy\", \"full\": true,"
			   " \"held\": [{ \"job\": 7, \"until\": %lld, \"verdict\": \"optimal\", \"cost\": 31337.5, \"bound\": 31337.5,"
			   " \"because\": \"stops 1 of 9\" }], \"reserved\": [{ \"job\": 7, \"start_time\": %lld }], \"stopped\": [{ \"job\": 1, \"preemptor\": 7, \"group\": 3, \"cost\": 31337.5,"
			   " \"mode\": \"requeue\" }] }\n", now, now + 600, now + 300);
		expect(&s, "/explain?job=7", hidden ? bob : "", 200, "(reserved, by walltimes)");
		expect(&s, "/explain?job=1", hidden ? ann : "", 200, hidden ? "stopped for a job that you may not see, or that is gone" : "stopped for job 7");
		expect(&s, "/explain?job=7", hidden ? bob : "", 200, "its place is held until");
		if (!hidden)
			expect(&s, "/explain?job=7", "", 200, "stopped for it: job 1");
		for (size_t i = 0; hidden && i < sizeof(of_others) / sizeof(of_others[0]); i++) {
			expect_without(&s, "/explain?job=1", ann, of_others[i]);
			expect_without(&s, "/explain?job=7", bob, of_others[i]);
		}
		if (hidden) {
			expect_without(&s, "/explain?job=1", ann, "job 7");
			expect_without(&s, "/explain?job=7", bob, "stopped");
			write_file(&s, "decisions.jsonl", "{ \"sequence\": 2, \"now\": %lld, \"policy\": \"easy\", \"full\": true,"
				   " \"held\": [{ \"job\": 7, \"until\": %lld, \"cost\": 7.25, \"bound\": 6.5 }] }\n", now, now + 600);
			expect(&s, "/explain?job=7", bob, 200, "7.25");
			expect_without(&s, "/explain?job=7", bob, "\"bound\"");
		}
		end_server_well(&s);
	}
}

static void a_header_that_names_nobody_or_two_is_refused(void **state)
{
	static const char *const bad[] = {
		"X-Remote-User: bob\r\nX-Remote-User: ann\r\n", "X-Remote-User: bob\r\nx-remote-user: bob\r\n", "X-Remote-User: bob,ann\r\n",
		"X-Remote-User: <b>\r\n", "X-Remote-User: bob ann\r\n", "X-Remote-User: b\xc3\xb6\r\n", "X-Remote-User: b\x01\r\n",
		"X-Remote-User: 0123456789012345678901234567890123456789012345678901234567890123456789\r\n",
	};
	struct server s = serve("jobs", "--user-header=X-Remote-User");

	(void) state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect(&s, "/data", bad[i], 400, "name one user");
	expect_health(&s);
	end_server_well(&s);
}

static void without_that_option_no_header_is_believed(void **state)
{
	struct server s = serve("jobs", NULL);

	(void) state;
	expect_without(&s, "/data", "X-Remote-User: bob\r\nRemote-User: bob\r\nX-Forwarded-User: bob\r\n", "bobs");
	end_server_well(&s);
}

static void where_nothing_says_what_is_private_all_is(void **state)
{
	struct server s = serve("", NULL);

	(void) state;
	write_file(&s, "status.json", "{ \"source\": \"site\", \"pid\": 0, \"written\": %lld }\n", (long long) time(NULL));
	for (int tries = 0; tries < 600; tries++) {	/* it looks again within a second */
		char *answer = get(&s, "/data", "");
		bool hidden = !strstr(answer, "bobs");

		free(answer);
		if (hidden)
			break;
		assert_true(tries < 599);
		poll(NULL, 0, 100);
	}
	expect(&s, "/data", "", 200, "\"hides\": [\"jobs\", \"nodes\", \"partitions\", \"reservations\"]");
	expect_without(&s, "/data", "", "\"n1\"");
	expect_without(&s, "/metrics", "", "partition=");
	end_server_well(&s);
}

static void figures_are_counted_in_spite_of_private_data_where_that_is_said(void **state)
{
	struct server s = serve("jobs,partitions", "--ignore-private-data");

	(void) state;
	expect(&s, "/metrics", "", 200, "slurm_partition_jobs_running{partition=\"p\"} 1\n");
	expect_without(&s, "/metrics", "", "bob");
	expect_without(&s, "/data", "", "bobs");
	end_server_well(&s);
}

/* -- who means harm ---------------------------------------------------------------------- */

static void thousands_who_connect_and_say_nothing_keep_nobody_out(void **state)
{
	static const char *const begun[] = { "", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX: y", "\r\n" };
	struct server s = serve("", NULL);
	int held[700], n = 0;

	(void) state;
	for (int calls = 0; calls < 10000; calls++) {
		int fd = try_call(&s);

		if (fd < 0)
			continue;
		send_text(fd, begun[calls % 5], strlen(begun[calls % 5]));
		if (n < 700)
			held[n++] = fd;
		else
			close(fd);
	}
	assert_true(count_files(&s) < SL_HTTP_CONNECTIONS + 40);
	expect_health(&s);
	for (int i = 0; i < n; i++)
		close(held[i]);
	expect_health(&s);
	assert_true(count_files(&s) < SL_HTTP_CONNECTIONS + 40);
	end_server_well(&s);
}

/* A client that always has one more byte to say, and one that reads nothing of what it asked for. */
static void whoever_is_slow_is_ended_while_many_wait(void **state)
{
	struct server s = serve("", NULL);
	int slow = call(&s), deaf = call(&s), others[SL_HTTP_CONNECTIONS];
	struct pollfd p = { .fd = slow, .events = POLLIN };

	(void) state;
	for (int i = 0; i < 200; i++)
		send_text(deaf, "GET /page.js HTTP/1.1\r\nHost: x\r\n\r\n", 35);
	for (int i = 0; i < SL_HTTP_CONNECTIONS * 7 / 8; i++)
		others[i] = call(&s);
	send_text(slow, "GET / HTTP/1.1\r\nX: ", 19);
	for (int tries = 0; !poll(&p, 1, 100); tries++) {
		assert_true(tries < LIMIT_MS / 100);
		send_text(slow, "y", 1);
	}
	for (int i = 0; i < SL_HTTP_CONNECTIONS * 7 / 8; i++)
		close(others[i]);
	close(slow);
	close(deaf);
	expect_health(&s);
	end_server_well(&s);
}

static void half_a_request_is_not_answered(void **state)
{
	static const char *const halves[] = { "GET /data HTTP/1.1\r\nHost: x\r\n", "GET /data", "GET /data HTTP/1.1\r\nHost", "", "\r\n\r\n" };
	struct server s = serve("", NULL);

	(void) state;
	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
		char *answer = say(&s, halves[i], strlen(halves[i]));

		assert_int_not_equal(status_of(answer), 200);
		free(answer);
	}
	expect_health(&s);
	end_server_well(&s);
}

/* A request of pieces of requests, and of what nobody expects. */
static size_t random_request(char *text, size_t most)
{
	static const char *const pieces[] = {
		"GET ", "/data", "/explain?job=7", " HTTP/1.1\r\n", " HTTP/1.0\r\n", "Host: x\r\n", "\r\n\r\n", "\r\n", "\n", "Content-Length: 5\r\n",
		"Content-Length: -1\r\n", "Transfer-Encoding: chunked\r\n", "5\r\nabcde\r\n", "0\r\n\r\n", "Connection: close\r\n", "%", "%zz", "%00", "?", "&&", "=",
		"X-Remote-User: ann\r\n", " folded\r\n", ":\r\n", "\t", "HEAD ", "POST ", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01", "Expect: 100-continue\r\n",
		"Range: bytes=0-\r\n", "Upgrade: websocket\r\n", "http://elsewhere/", "Cookie: $a=\"b\\\"\r\n",
	};
	char hostile[HOSTILE_SIZE];
	size_t n = 0;

	for (uint32_t k = 1 + below(12); k && n < most - HOSTILE_SIZE; k--) {
		const char *piece = one_in(6) ? hostile_text(hostile, "GET /data HTTP/1.1\r\n\r\n") : pieces[below(sizeof(pieces) / sizeof(pieces[0]))];

		n += (size_t) sprintf(text + n, "%s", piece);
	}
	return n;
}

static void whatever_is_sent_the_server_goes_on(void **state)
{
	const uint64_t rounds = rounds_of(1000);
	struct server s = serve("jobs", "--user-header=X-Remote-User");

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		char text[20000];
		int fd = call(&s);

		random_state = failing_seed;
		send_text(fd, text, random_request(text, sizeof(text)));
		if (one_in(4))
			shutdown(fd, SHUT_WR);
		if (one_in(2))
			recv(fd, text, sizeof(text), MSG_DONTWAIT);
		if (one_in(50))
			expect_without(&s, "/data", "", "bobs");
		close(fd);
		assert_int_equal(waitpid(s.pid, NULL, WNOHANG), 0);
	}
	failing_seed = 0;
	expect_health(&s);
	end_server_well(&s);
}

static void what_lies_in_the_directory_may_be_torn_or_gone(void **state)
{
	struct server s = serve("", NULL);

	(void) state;
	write_file(&s, "status.json", "{ \"source\": ");
	write_file(&s, "decisions.jsonl", "{ \"sequence\": 1, \"now\": 5, \"pend");
	write_file(&s, "last.snap", "torn");
	for (int tries = 0; tries < 600; tries++) {
		char *answer = get(&s, "/healthz", "");
		bool noticed = status_of(answer) == 503;

		free(answer);
		if (noticed)
			break;
		assert_true(tries < 599);
		poll(NULL, 0, 100);
	}
	expect(&s, "/healthz", "", 503, "\"state\":\"UNKNOWN\"");
	expect(&s, "/", "", 200, "<html");
	expect(&s, "/data", "", 200, "\"state\": \"UNKNOWN\"");
	expect_without(&s, "/data", "", "bobs");		/* nobody knows what is private now */
	expect(&s, "/metrics", "", 200, "# EOF\n");
	end_server_well(&s);
}

static void a_server_that_was_killed_leaves_a_socket_that_the_next_one_takes(void **state)
{
	struct server s = serve("", NULL);
	const char *program = getenv("SCHEDLUA");
	char command[400];

	(void) state;
	snprintf(command, sizeof(command), "%s serve --dir=%s --socket=%s 2>&1 | grep -q 'another server listens there'",
		 program ? program : "./schedlua", s.dir, s.path);
	assert_int_equal(system(command), 0);
	assert_int_equal(end_server(&s, SIGKILL), -SIGKILL);
	assert_int_equal(access(s.path, F_OK), 0);
	s = serve_on(s.dir, s.path, NULL);
	expect_health(&s);
	end_server_well(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(on_a_port_a_page_of_another_site_learns_nothing, end_left_server),
		cmocka_unit_test_teardown(every_path_has_its_answer_with_a_strict_policy_of_content, end_left_server),
		cmocka_unit_test_teardown(a_path_never_names_a_file, end_left_server),
		cmocka_unit_test_teardown(only_reading_is_answered_and_a_body_is_refused, end_left_server),
		cmocka_unit_test_teardown(a_request_that_is_too_large_is_refused, end_left_server),
		cmocka_unit_test_teardown(requests_in_a_row_on_one_connection_are_answered_in_their_order, end_left_server),
		cmocka_unit_test_teardown(under_private_jobs_only_the_user_whom_the_proxy_names_sees_his, end_left_server),
		cmocka_unit_test_teardown(under_private_jobs_a_stop_is_told_without_the_other_users_job, end_left_server),
		cmocka_unit_test_teardown(a_header_that_names_nobody_or_two_is_refused, end_left_server),
		cmocka_unit_test_teardown(without_that_option_no_header_is_believed, end_left_server),
		cmocka_unit_test_teardown(where_nothing_says_what_is_private_all_is, end_left_server),
		cmocka_unit_test_teardown(figures_are_counted_in_spite_of_private_data_where_that_is_said, end_left_server),
		cmocka_unit_test_teardown(thousands_who_connect_and_say_nothing_keep_nobody_out, end_left_server),
		cmocka_unit_test_teardown(whoever_is_slow_is_ended_while_many_wait, end_left_server),
		cmocka_unit_test_teardown(half_a_request_is_not_answered, end_left_server),
		cmocka_unit_test_teardown(whatever_is_sent_the_server_goes_on, end_left_server),
		cmocka_unit_test_teardown(what_lies_in_the_directory_may_be_torn_or_gone, end_left_server),
		cmocka_unit_test_teardown(a_server_that_was_killed_leaves_a_socket_that_the_next_one_takes, end_left_server),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
