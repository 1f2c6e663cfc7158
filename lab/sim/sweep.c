/* SPDX-License-Identifier: MIT */
#include "sim/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

#define TICK_MS 100		/* how often progress is told */
#define WHOLE 1000000

struct worker {
	pid_t pid;
	int fd, schedule_fd;		/* of the outcome; of the schedule, or -1 */
	uint32_t trial;
	size_t got;			/* bytes of the outcome */
	_Atomic uint32_t *share;	/* how far it is, of WHOLE; written by the child */
};

/* -- in the child --------------------------------------------------------- */

/* The schedule as the parent maps it: four numbers, jobs, stops, stretches. */
static bool write_schedule(int fd, const struct sl_sim *sim)
{
	const struct sl_schedule s = sl_sim_whole_schedule(sim);
	const uint64_t head[4] = { s.jobs, s.stops, s.stretches };

	return !sl_write_all(fd, head, sizeof(head)) && !sl_write_all(fd, s.job, s.jobs * sizeof(*s.job)) &&
		!sl_write_all(fd, s.stop, s.stops * sizeof(*s.stop)) &&
		!sl_write_all(fd, s.stretch, s.stretches * sizeof(*s.stretch));
}

static void note_share(uint64_t ended, uint64_t jobs, int64_t now, void *arg)
{
	(void) now;
	atomic_store_explicit((_Atomic uint32_t *) arg, jobs ? (uint32_t) (ended * WHOLE / jobs) : 0,
			      memory_order_relaxed);
}

static void run_trial(const struct sl_trial_options *given, bool bound, uint32_t cpu_s, const struct worker *w, int fd,
		      int schedule_fd)
{
	struct sl_trial_options told = *given, *opt = &told;
	struct sl_trial_outcome out = { .err = { .code = SL_OK } };
	struct sl_trial t;

	if (cpu_s)
		setrlimit(RLIMIT_CPU, &(struct rlimit) { cpu_s, cpu_s + 1 });
	told.sim.progress = note_share;
	told.sim.progress_arg = (void *) w->share;
	if (!sl_trial_open(&t, opt, &out.err) && sl_trial_go(&t, bound, &out.err) >= 0)
		out.result = t.result;
	if (t.workload)
		memcpy(out.issue, t.workload->issue, sizeof(out.issue));
	if (!out.err.code && schedule_fd >= 0 && !write_schedule(schedule_fd, t.sim))
		sl_fail(&out.err, SL_EIO, "sweep: schedule: %s", strerror(errno));
	_exit(sl_write_all(fd, &out, sizeof(out)) ? 1 : 0);
}

/* -- in the parent --------------------------------------------------------- */

static int start_worker(struct sl_sweep *sweep, struct worker *w, uint32_t trial, struct sl_error *err)
{
	bool keep = sweep->schedule && sweep->trial[trial].sim.keep_schedule;
	int fd[2], schedule_fd = keep ? memfd_create("schedule", MFD_CLOEXEC) : -1;

	if (keep && schedule_fd < 0)
		return sl_fail(err, SL_EIO, "sweep: memfd_create: %s", strerror(errno));
	if (pipe2(fd, O_CLOEXEC)) {
		if (keep)
			close(schedule_fd);
		return sl_fail(err, SL_EIO, "sweep: pipe: %s", strerror(errno));
	}
	atomic_store(w->share, 0);
	*w = (struct worker) { .pid = fork(), .fd = fd[0], .schedule_fd = schedule_fd, .trial = trial, .share = w->share };
	if (!w->pid) {
		close(fd[0]);
		run_trial(&sweep->trial[trial], sweep->bound, sweep->cpu_s, w, fd[1], schedule_fd);
	}
	close(fd[1]);
	if (w->pid > 0)
		return 0;
	close(fd[0]);
	if (keep)
		close(schedule_fd);
	w->pid = 0;
	return sl_fail(err, SL_EIO, "sweep: fork: %s", strerror(errno));
}

/* The child's schedule; counts are looked at, since a child that failed may have
 * written a part of it. */
static int map_schedule(struct sl_mapped_schedule *k, int fd, struct sl_error *err)
{
	const uint64_t *head;
	struct stat st;

	if (fstat(fd, &st) || (size_t) st.st_size < sizeof(uint64_t[4]))
		return sl_fail(err, SL_EIO, "sweep: a schedule is missing");
	k->size = (size_t) st.st_size;
	k->map = mmap(NULL, k->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (k->map == MAP_FAILED) {
		k->map = NULL;
		return sl_fail(err, SL_ENOMEM, "sweep: schedule: %s", strerror(errno));
	}
	head = k->map;
	k->schedule.jobs = (uint32_t) head[0];
	k->schedule.stops = (uint32_t) head[1];
	k->schedule.stretches = (uint32_t) head[2];
	k->schedule.job = (const void *) (head + 4);
	k->schedule.stop = (const void *) (k->schedule.job + head[0]);
	k->schedule.stretch = (const void *) (k->schedule.stop + head[1]);
	if (k->size == sizeof(uint64_t[4]) + head[0] * sizeof(struct sl_sim_job) + head[1] * sizeof(struct sl_sim_stop) +
		       head[2] * sizeof(struct sl_stretch))
		return 0;
	sl_sweep_unmap(k);
	return sl_fail(err, SL_EIO, "sweep: a schedule is cut short");
}

void sl_sweep_unmap(struct sl_mapped_schedule *k)
{
	if (k->map)
		munmap(k->map, k->size);
	memset(k, 0, sizeof(*k));
}

static void end_worker(struct sl_sweep *sweep, struct worker *w)
{
	struct sl_trial_outcome *out = &sweep->outcome[w->trial];
	int status = 0;

	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (w->got < sizeof(*out) && WIFSIGNALED(status))
		sl_fail(&out->err, SL_EIO, "simulation ended by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (w->got < sizeof(*out))
		sl_fail(&out->err, SL_EIO, "simulation ended without a result");
	if (w->schedule_fd >= 0 && !out->err.code)
		map_schedule(&sweep->schedule[w->trial], w->schedule_fd, &out->err);
	if (w->schedule_fd >= 0)
		close(w->schedule_fd);
	close(w->fd);
	w->pid = 0;
	if (sweep->ended)
		sweep->ended(w->trial, sweep->ended_arg);
}

/* Returns whether the worker is done. */
static bool read_outcome(struct sl_sweep *sweep, struct worker *w)
{
	struct sl_trial_outcome *out = &sweep->outcome[w->trial];
	ssize_t n = read(w->fd, (char *) out + w->got, sizeof(*out) - w->got);

	if (n < 0 && errno == EINTR)
		return false;
	if (n > 0)
		w->got += (size_t) n;
	if (n > 0 && w->got < sizeof(*out))
		return false;
	end_worker(sweep, w);
	return true;
}

/* Wait for something from somebody, no longer than a tick where progress is told; returns
 * how many are done by that. */
static uint32_t wait_for_workers(struct sl_sweep *sweep, struct worker *w, struct pollfd *poll_for, uint32_t workers)
{
	uint32_t n = 0, done = 0;

	for (uint32_t i = 0; i < workers; i++)
		if (w[i].pid)
			poll_for[n++] = (struct pollfd) { .fd = w[i].fd, .events = POLLIN };
	if (poll(poll_for, n, sweep->progress ? TICK_MS : -1) <= 0)
		return 0;
	n = 0;
	for (uint32_t i = 0; i < workers; i++)
		if (w[i].pid && poll_for[n++].revents)
			done += read_outcome(sweep, &w[i]);
	return done;
}

static uint32_t count_workers(const struct sl_sweep *sweep)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t n = sweep->workers ? sweep->workers : cores > 0 ? (uint32_t) cores : 1;

	return n < sweep->trials ? n : sweep->trials;
}

/* What is done, with the parts of those that run. */
static void report_progress(const struct sl_sweep *sweep, const struct worker *w, uint32_t workers, uint32_t done)
{
	double share = done;

	if (!sweep->progress)
		return;
	for (uint32_t i = 0; i < workers; i++)
		if (w[i].pid)
			share += (double) atomic_load_explicit(w[i].share, memory_order_relaxed) / WHOLE;
	sweep->progress(share / sweep->trials, done, sweep->trials, sweep->progress_arg);
}

/* Workers and what they share with their children; NULL without memory. */
static struct worker *make_workers(uint32_t workers)
{
	_Atomic uint32_t *share = mmap(NULL, (workers + 1) * sizeof(*share), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct worker *w = share == MAP_FAILED ? NULL : calloc(workers + 1, sizeof(*w));

	for (uint32_t i = 0; w && i <= workers; i++)
		w[i].share = share + i;
	if (!w && share != MAP_FAILED)
		munmap((void *) share, (workers + 1) * sizeof(*share));
	return w;
}

static void free_workers(struct worker *w, uint32_t workers)
{
	if (w)
		munmap((void *) w[0].share, (workers + 1) * sizeof(*w[0].share));
	free(w);
}

static bool is_stopped(const struct sl_sweep *sweep)
{
	return sweep->stop && *sweep->stop;
}

int sl_sweep_run(struct sl_sweep *sweep, struct sl_error *err)
{
	uint32_t workers = count_workers(sweep), next = 0, done = 0, busy = 0;
	struct worker *w = make_workers(workers);
	struct pollfd *poll_for = calloc(workers + 1, sizeof(*poll_for));
	int rc = w && poll_for ? 0 : sl_fail(err, SL_ENOMEM, "sweep: out of memory");

	if (sweep->schedule)
		memset(sweep->schedule, 0, sweep->trials * sizeof(*sweep->schedule));
	memset(sweep->outcome, 0, sweep->trials * sizeof(*sweep->outcome));
	while (!rc && !is_stopped(sweep) ? done < sweep->trials : busy > 0) {
		uint32_t n;

		for (uint32_t i = 0; !rc && i < workers && next < sweep->trials && !is_stopped(sweep); i++) {
			if (w[i].pid)
				continue;
			rc = start_worker(sweep, &w[i], next, err);
			busy += !rc;
			next += !rc;
		}
		n = busy ? wait_for_workers(sweep, w, poll_for, workers) : 0;
		busy -= n;
		done += n;
		report_progress(sweep, w, workers, done);
	}
	free_workers(w, workers);
	free(poll_for);
	return rc;
}
