/* SPDX-License-Identifier: MIT */
#include "t/web/served.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/scratch.h"

#define ANSWER_MOST (4 << 20)

/* -- a server ------------------------------------------------------------------ */

static const char cluster[] =
	"{ \"meta\": { \"now\": %lld, \"cluster\": \"home\" }, \"gres_kinds\": [{ \"key\": \"gpu\", \"name\": \"gpu\" }],\n"
	"  \"nodes\": [{ \"name\": \"n1\", \"cores\": 8, \"gres\": [{ \"kind\": \"gpu\", \"count\": 2 }] }, { \"name\": \"n2\", \"cores\": 8 }],\n"
	"  \"partitions\": [{ \"name\": \"p\", \"nodes\": \"n[1-2]\" }],\n"
	"  \"jobs\": [{ \"id\": 1, \"user\": \"ann\", \"name\": \"<script>alert(1)</script>\\n\", \"state\": \"RUNNING\", \"partition\": \"p\",\n"
	"      \"start_time\": 1, \"end_time\": %lld, \"alloc\": [{ \"node\": \"n1\", \"cores\": 4, \"gres\": [{ \"kind\": \"gpu\", \"count\": 1 }] }] },\n"
	"    { \"id\": 7, \"user\": \"bob\", \"name\": \"bobs\", \"partition\": \"p\", \"submit_time\": 5, \"time_limit\": 60, \"min_nodes\": 2 }],\n"
	"  \"queue\": [{ \"job\": 7, \"partition\": \"p\", \"priority\": 1 }] }\n";
static const char journal[] =
	"{ \"sequence\": 1, \"now\": %lld, \"policy\": \"easy\", \"full\": true, \"reserved\": [{ \"job\": 7, \"start_time\": %lld, \"nodes\": \"n[1-2]\" }],"
	" \"pending\": [{ \"job\": 7, \"why\": \"priority\", \"text\": \"would delay job 1 of <b>ann</b>\" }],"
	" \"shortages\": [{ \"job\": 7, \"text\": \"with all 9 jobs that may be stopped gone\" }] }\n";

void write_file(const struct server *s, const char *name, const char *format, ...)
{
	char path[200];
	va_list args;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
	assert_int_equal(fclose(f), 0);
}

static void write_state(const struct server *s, const char *private_data)
{
	const long long now = time(NULL);

	write_file(s, "last.snap", cluster, now, now + 600);
	write_file(s, "decisions.jsonl", journal, now, now + 600);
	write_file(s, "status.json", "{ \"source\": \"site\", \"policy\": \"easy\", \"pid\": 0, \"written\": %lld, \"last_cycle\": %lld,"
		   " \"private_data\": \"%s\" }\n", now, now, private_data);
}

static pid_t left;		/* the server of the test that runs, which a failure would leave behind */

int end_left_server(void **state)
{
	(void) state;
	if (left) {
		kill(left, SIGKILL);
		waitpid(left, NULL, 0);
	}
	left = 0;
	return say_seed(state);
}

struct server serve_on(const char *state, const char *path, const char *option)
{
	const char *program = getenv("SCHEDLUA");
	char dir[80], to[100], line[200];
	char *argv[] = { (char *) (program ? program : "./schedlua"), (char *) "serve", dir, to, (char *) option, NULL };
	struct server s = { 0 };
	posix_spawn_file_actions_t fa;
	size_t n = 0;
	int pair[2];

	snprintf(s.dir, sizeof(s.dir), "%s", state);
	snprintf(s.path, sizeof(s.path), "%s", path);
	snprintf(dir, sizeof(dir), "--dir=%s", state);
	snprintf(to, sizeof(to), *path ? "--socket=%s" : "--listen=127.0.0.1:0%s", path);
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, pair[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	assert_int_equal(posix_spawn(&s.pid, argv[0], &fa, NULL, argv, environ), 0);
	left = s.pid;
	posix_spawn_file_actions_destroy(&fa);
	close(pair[1]);
	s.said = pair[0];
	while (n < sizeof(line) - 1 && read(s.said, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = 0;
	assert_non_null(strstr(line, *path ? "serving on unix:" : "serving on http://127.0.0.1:"));
	s.port = *path ? 0 : (uint16_t) atoi(strrchr(line, ':') + 1);
	return s;
}

struct server serve(const char *private_data, const char *option)
{
	static unsigned number;
	struct server s = { 0 };

	snprintf(s.dir, sizeof(s.dir), "%s/%u", scratch, ++number);
	snprintf(s.path, sizeof(s.path), "%s/%u.sock", scratch, number);
	assert_int_equal(mkdir(s.dir, 0700), 0);
	write_state(&s, private_data);
	return serve_on(s.dir, s.path, option);
}

int end_server(struct server *s, int signal)
{
	int status;

	kill(s->pid, signal);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	left = 0;
	close(s->said);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void end_server_well(struct server *s)
{
	assert_int_equal(end_server(s, SIGTERM), 0);
	assert_int_equal(access(s->path, F_OK), -1);
}

/* -- a client -------------------------------------------------------------------- */

int try_call(const struct server *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(s->port), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(s->port ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = { .tv_sec = LIMIT_MS / 1000 };

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", s->path);
	if (!connect(fd, s->port ? (const struct sockaddr *) &in : (const struct sockaddr *) &a, s->port ? sizeof(in) : sizeof(a)))
		return fd;
	close(fd);
	return -1;
}

int call(const struct server *s)
{
	int fd = try_call(s);

	assert_true(fd >= 0);
	return fd;
}

void send_text(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = send(fd, text, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;		/* it has hung up, which is its right */
		text += n;
		size -= (size_t) n;
	}
}

/* Everything until it hangs up; malloc'ed. */
static char *hear(int fd)
{
	char *text = malloc(ANSWER_MOST + 1);
	size_t size = 0;
	ssize_t n;

	assert_non_null(text);
	while (size < ANSWER_MOST && (n = recv(fd, text + size, ANSWER_MOST - size, 0)) != 0) {
		if (n < 0 && errno != ECONNRESET)
			fail_msg("no answer, and no end: %s", strerror(errno));
		if (n < 0)
			break;
		size += (size_t) n;
	}
	text[size] = 0;
	close(fd);
	return text;
}

char *say(const struct server *s, const char *text, size_t size)
{
	int fd = call(s);

	send_text(fd, text, size);
	shutdown(fd, SHUT_WR);
	return hear(fd);
}

char *get(const struct server *s, const char *path, const char *header)
{
	char text[1000];

	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", path, header);
	return say(s, text, strlen(text));
}

int status_of(const char *answer)
{
	int status = 0;

	return sscanf(answer, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

void expect(const struct server *s, const char *path, const char *header, int status, const char *has)
{
	char *answer = get(s, path, header);

	if (status_of(answer) != status || !strstr(answer, has))
		fail_msg("GET %s: expected %d and \"%s\", got %.600s", path, status, has, answer);
	free(answer);
}

void expect_without(const struct server *s, const char *path, const char *header, const char *has_not)
{
	char *answer = get(s, path, header);

	if (strstr(answer, has_not))
		fail_msg("GET %s has \"%s\"", path, has_not);
	free(answer);
}

void expect_health(const struct server *s)
{
	expect(s, "/healthz", "", 200, "\"state\":\"OK\"");
}

unsigned count_files(const struct server *s)
{
	char path[40];
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) s->pid);
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}
