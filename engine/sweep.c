/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
	pid_t pid;
	int fd;
	uint32_t trial;
	size_t got;			/* bytes of the outcome */
};

/* -- in the child --------------------------------------------------------- */

static void work(const struct sl_trial_options *opt, bool bound, int fd)
{
	struct sl_outcome out = { .err = { .code = SL_OK } };
	const char *p = (const char *) &out;
	struct sl_trial t;
	size_t left = sizeof(out);
	ssize_t n;

	if (!sl_trial_open(&t, opt, &out.err) && sl_trial_go(&t, bound, &out.err) >= 0)
		out.result = t.result;
	while (left && ((n = write(fd, p, left)) > 0 || errno == EINTR)) {
		if (n <= 0)
			continue;
		p += n;
		left -= (size_t) n;
	}
	_exit(left ? 1 : 0);
}

/* -- in the parent --------------------------------------------------------- */

static int begin(struct sl_sweep *sweep, struct worker *w, uint32_t trial, struct sl_error *err)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return sl_fail(err, SL_EIO, "sweep: pipe: %s", strerror(errno));
	*w = (struct worker) { .pid = fork(), .fd = fd[0], .trial = trial };
	if (!w->pid) {
		close(fd[0]);
		work(&sweep->trial[trial], sweep->bound, fd[1]);
	}
	close(fd[1]);
	if (w->pid > 0)
		return 0;
	close(fd[0]);
	w->pid = 0;
	return sl_fail(err, SL_EIO, "sweep: fork: %s", strerror(errno));
}

static void end(struct sl_sweep *sweep, struct worker *w)
{
	struct sl_outcome *out = &sweep->outcome[w->trial];
	int status = 0;

	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (w->got < sizeof(*out) && WIFSIGNALED(status))
		sl_fail(&out->err, SL_EIO, "simulation ended by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (w->got < sizeof(*out))
		sl_fail(&out->err, SL_EIO, "simulation ended without a result");
	close(w->fd);
	w->pid = 0;
}

/* Returns whether the worker is done. */
static bool take(struct sl_sweep *sweep, struct worker *w)
{
	struct sl_outcome *out = &sweep->outcome[w->trial];
	ssize_t n = read(w->fd, (char *) out + w->got, sizeof(*out) - w->got);

	if (n < 0 && errno == EINTR)
		return false;
	if (n > 0)
		w->got += (size_t) n;
	if (n > 0 && w->got < sizeof(*out))
		return false;
	end(sweep, w);
	return true;
}

/* Wait for something from somebody; returns how many are done by that. */
static uint32_t attend(struct sl_sweep *sweep, struct worker *w, struct pollfd *poll_for, uint32_t workers)
{
	uint32_t n = 0, done = 0;

	for (uint32_t i = 0; i < workers; i++)
		if (w[i].pid)
			poll_for[n++] = (struct pollfd) { .fd = w[i].fd, .events = POLLIN };
	if (poll(poll_for, n, -1) <= 0)
		return 0;
	n = 0;
	for (uint32_t i = 0; i < workers; i++)
		if (w[i].pid && poll_for[n++].revents)
			done += take(sweep, &w[i]);
	return done;
}

static uint32_t count_workers(const struct sl_sweep *sweep)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t n = sweep->workers ? sweep->workers : cores > 0 ? (uint32_t) cores : 1;

	return n < sweep->trials ? n : sweep->trials;
}

int sl_sweep_run(struct sl_sweep *sweep, struct sl_error *err)
{
	uint32_t workers = count_workers(sweep), next = 0, done = 0, busy = 0;
	struct worker *w = calloc(workers + 1, sizeof(*w));
	struct pollfd *poll_for = calloc(workers + 1, sizeof(*poll_for));
	int rc = w && poll_for ? 0 : sl_fail(err, SL_ENOMEM, "sweep: out of memory");

	memset(sweep->outcome, 0, sweep->trials * sizeof(*sweep->outcome));
	while (!rc ? done < sweep->trials : busy > 0) {
		uint32_t n;

		for (uint32_t i = 0; !rc && i < workers && next < sweep->trials; i++) {
			if (w[i].pid)
				continue;
			rc = begin(sweep, &w[i], next, err);
			busy += !rc;
			next += !rc;
		}
		n = busy ? attend(sweep, w, poll_for, workers) : 0;
		busy -= n;
		done += n;
		if (n && sweep->progress)
			sweep->progress(done, sweep->trials, sweep->progress_arg);
	}
	free(w);
	free(poll_for);
	return rc;
}
