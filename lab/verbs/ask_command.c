/* SPDX-License-Identifier: MIT */
#include "verbs/ask_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "process/harden.h"

#define TICK_MS 20

struct asked {
	pid_t pid;
	int out;			/* what it prints */
	double until;			/* seconds of sl_clock_s() */
	const volatile sig_atomic_t *stop;
	char *text;
	size_t length, most;
};

static bool is_over(const struct asked *a)
{
	return sl_clock_s() >= a->until || (a->stop && *a->stop);
}

/* The input in memory, to be read from its beginning: so nobody has to write while the program runs. */
static int input_file(const char *input, size_t length, struct sl_error *err)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || sl_write_all(fd, input, length) || lseek(fd, 0, SEEK_SET)) {
		sl_fail(err, SL_EIO, "cannot be given its input: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static int start(struct asked *a, const char *command, int in, struct sl_error *err)
{
	int out[2];

	if (pipe2(out, O_CLOEXEC))
		return sl_fail(err, SL_EIO, "cannot be started: %s", strerror(errno));
	a->pid = fork();
	if (!a->pid) {
		setpgid(0, 0);
		sl_reset_signals();
		if (dup2(in, STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0)
			execl("/bin/sh", "sh", "-c", command, (char *) NULL);
		_exit(127);
	}
	close(out[1]);
	if (a->pid < 0) {
		close(out[0]);
		return sl_fail(err, SL_EIO, "cannot be started: %s", strerror(errno));
	}
	setpgid(a->pid, a->pid);	/* whoever of the two is first */
	a->out = out[0];
	return 0;
}

/* Read all that it prints.  0, or -1 with *err. */
static int read_answer(struct asked *a, struct sl_error *err)
{
	for (;;) {
		struct pollfd p = { .fd = a->out, .events = POLLIN };
		ssize_t n;

		if (is_over(a))
			return sl_fail(err, SL_EINVAL, "took too long");
		if (poll(&p, 1, TICK_MS) <= 0)
			continue;
		n = read(a->out, a->text + a->length, a->most + 1 - a->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sl_fail(err, SL_EIO, "cannot be read: %s", strerror(errno));
		if (!n)
			return 0;
		a->length += (size_t) n;
		if (a->length > a->most)
			return sl_fail(err, SL_EINVAL, "printed more than %zu bytes", a->most);
	}
}

/* It has closed its output: its status.  0, or -1 with *err. */
static int await_end(struct asked *a, struct sl_error *err)
{
	int status;
	pid_t ended;

	while (!(ended = waitpid(a->pid, &status, WNOHANG)) && !is_over(a))
		poll(NULL, 0, TICK_MS);
	if (ended != a->pid)
		return sl_fail(err, SL_EINVAL, "took too long");
	a->pid = 0;
	if (WIFSIGNALED(status))
		return sl_fail(err, SL_EINVAL, "was ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status) ? sl_fail(err, SL_EINVAL, "exit status %d", WEXITSTATUS(status)) : 0;
}

int sl_ask_command(const char *command, const char *input, size_t input_length, double timeout_s, size_t most,
		   const volatile sig_atomic_t *stop, char **answer, size_t *length, struct sl_error *err)
{
	struct asked a = { .out = -1, .until = sl_clock_s() + timeout_s, .stop = stop, .most = most, .text = malloc(most + 2) };
	int rc = a.text ? 0 : sl_fail(err, SL_ENOMEM, "out of memory"), in = rc ? -1 : input_file(input, input_length, err);
	pid_t group;

	if (in < 0 || start(&a, command, in, err) < 0) {
		if (in >= 0)
			close(in);
		free(a.text);
		return -1;
	}
	close(in);
	group = a.pid;
	rc = read_answer(&a, err);
	if (!rc)
		rc = await_end(&a, err);
	close(a.out);
	kill(-group, SIGKILL);	/* it, or what it has left behind */
	while (a.pid && waitpid(a.pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (rc) {
		free(a.text);
		return -1;
	}
	a.text[a.length] = '\0';
	*answer = a.text;
	*length = a.length;
	return 0;
}
