/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child.c - see child.h */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/host/child.h"
#include "base/plain.h"

extern char **environ;

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* -- its stderr ---------------------------------------------------------- */

static void say(const struct sl_child *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct sl_child *c, const char *fmt, ...)
{
	char buf[sizeof(c->line) + 64];
	va_list ap;

	if (!c->log)
		return;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	c->log(1, sl_plain(buf));
}

static void end_line(struct sl_child *c)
{
	c->line[c->line_len] = '\0';
	if (c->line_len && c->lines++ < SL_LOG_LINES)
		say(c, "engine: %s", c->line);
	else if (c->line_len)
		c->dropped++;
	c->line_len = 0;
}

void sl_child_listen(struct sl_child *c)
{
	char buf[2048];
	ssize_t n, i;
	int rounds = 16;	/* a babbling engine must not keep us here */

	while (c->err_pipe >= 0 && rounds-- && (n = read(c->err_pipe, buf, sizeof(buf))) > 0)
		for (i = 0; i < n; i++) {
			if (buf[i] == '\n' || c->line_len == sizeof(c->line) - 1)
				end_line(c);
			if (buf[i] != '\n')
				c->line[c->line_len++] = buf[i] & 0x80 || buf[i] >= ' ' ? buf[i] : ' ';
		}
}

void sl_child_new_cycle(struct sl_child *c)
{
	if (c->dropped)
		say(c, "engine: %u more lines not shown", c->dropped);
	c->lines = c->dropped = 0;
}

/* -- starting and ending ------------------------------------------------- */

void sl_child_end(struct sl_child *c)
{
	int status;

	if (c->pid > 0) {
		kill(-c->pid, SIGKILL);		/* its solver children, too */
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	sl_child_listen(c);
	if (c->line_len)
		end_line(c);
	c->pid = 0;
	close_fd(&c->sock);
	close_fd(&c->err_pipe);
}

/* PATH, locale and time zone; and what fakes the clock, where it is faked for
 * slurmctld, so that both agree on how long a budget is. */
static char **make_env(char *env[], size_t max, char *path)
{
	static const char *const keep[] = { "TZ=", "LANG=", "FAKETIME", "ASAN_OPTIONS=", "UBSAN_OPTIONS=" };
	bool faked = false;
	size_t n = 0, i;
	char **e;

	env[n++] = path;
	for (e = environ; *e; e++)
		for (i = 0; i < sizeof(keep) / sizeof(keep[0]) && n + 2 < max; i++)
			if (!strncmp(*e, keep[i], strlen(keep[i]))) {
				env[n++] = *e;
				faked |= !strncmp(*e, "FAKETIME", 8);
			}
	for (e = environ; faked && *e; e++)
		if (!strncmp(*e, "LD_PRELOAD=", 11) && n + 1 < max)
			env[n++] = *e;
	env[n] = NULL;
	return env;
}

static int spawn(struct sl_child *c, char *const argv[], int sock, int err_fd)
{
	char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", *env[32];
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none, all;
	int rc;

	posix_spawnattr_init(&at);
	posix_spawn_file_actions_init(&fa);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setsigdefault(&at, &all);
	posix_spawnattr_setpgroup(&at, 0);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	/* both were opened above 3, so nothing is overwritten on the way */
	posix_spawn_file_actions_adddup2(&fa, sock, 3);
	posix_spawn_file_actions_adddup2(&fa, err_fd, 2);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclosefrom_np(&fa, 4);
	rc = posix_spawn(&c->pid, argv[0], &fa, &at, argv, make_env(env, 32, path));
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	if (rc)
		c->pid = 0;
	return rc;
}

/* Move a descriptor above the ones the child gets. */
static int lift_fd(int fd)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, 10);

	close(fd);
	return up;
}

int sl_child_start(struct sl_child *c, char *const argv[], struct sl_error *err)
{
	int sv[2], pv[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return sl_fail(err, SL_EIO, "socketpair: %s", strerror(errno));
	if (pipe2(pv, O_CLOEXEC)) {
		rc = errno;
		close(sv[0]);
		close(sv[1]);
		return sl_fail(err, SL_EIO, "pipe: %s", strerror(rc));
	}
	sv[1] = lift_fd(sv[1]);
	pv[1] = lift_fd(pv[1]);
	c->sock = sv[0];
	c->err_pipe = pv[0];
	fcntl(c->err_pipe, F_SETFL, O_NONBLOCK);
	rc = sv[1] < 0 || pv[1] < 0 ? EMFILE : spawn(c, argv, sv[1], pv[1]);
	close_fd(&sv[1]);
	close_fd(&pv[1]);
	if (rc) {
		close_fd(&c->sock);
		close_fd(&c->err_pipe);
		return sl_fail(err, SL_EIO, "%s: %s", argv[0], strerror(rc));
	}
	return 0;
}

bool sl_child_has_ended(const struct sl_child *c, char how[SL_CHILD_HOW])
{
	siginfo_t info = { 0 };

	if (c->pid <= 0 || waitid(P_PID, (id_t) c->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return false;
	snprintf(how, SL_CHILD_HOW, "%s %d", info.si_code == CLD_EXITED ? "exit" : "signal", info.si_status);
	return true;
}
