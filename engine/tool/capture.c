/* SPDX-License-Identifier: MIT */
#include "tool/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tool/tool.h"

#define CAPTURE "schedlua-capture"
#define LOOK_NS 10000000	/* between two looks at a process that is waited for */

extern char **environ;

int sl_capture_begin(struct sl_capture *c, struct sl_error *err)
{
	char program[PATH_MAX];
	char *argv[] = { (char *) CAPTURE, (char *) "-", NULL };
	posix_spawn_file_actions_t fa;
	int rc;

	if (c->pid)
		return 0;
	c->fd = memfd_create(CAPTURE, MFD_CLOEXEC);
	if (c->fd < 0)
		return sl_fail(err, SL_EIO, "%s: %s", CAPTURE, strerror(errno));
	sl_tool_beside(CAPTURE, program);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, c->fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&c->pid, program, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (!rc)
		return 0;
	close(c->fd);
	*c = (struct sl_capture) { 0 };
	return sl_fail(err, SL_EIO, "%s: %s", program, strerror(rc));
}

/* Has it ended?  Waits for *seconds* at most. */
static bool has_ended(const struct sl_capture *c, double seconds, int *status)
{
	int64_t until = sl_clock_us() + (int64_t) (seconds * 1e6);
	pid_t pid;

	while (!(pid = waitpid(c->pid, status, WNOHANG)) && sl_clock_us() < until)
		nanosleep(&(struct timespec) { .tv_nsec = LOOK_NS }, NULL);
	if (pid < 0)
		*status = -1;
	return pid != 0;
}

int sl_capture_take(struct sl_capture *c, double seconds, int *fd, struct sl_error *err)
{
	int status;

	if (!c->pid || !has_ended(c, seconds, &status))
		return 0;
	*fd = c->fd;
	*c = (struct sl_capture) { 0 };
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 1;
	close(*fd);
	return sl_fail(err, SL_EIO, "slurmctld does not answer " CAPTURE);
}

void sl_capture_end(struct sl_capture *c)
{
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(c->fd);
	*c = (struct sl_capture) { 0 };
}
