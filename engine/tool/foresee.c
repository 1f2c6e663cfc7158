/* SPDX-License-Identifier: MIT */
#include "tool/foresee.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "tool/tool.h"

#define LAB "schedlab"
#define SNAPSHOT_FD 3		/* the lab's */
#define ANSWER_MAX 4096		/* bytes that are read: one job's forecast, or an error */
#define MERCY_S 5		/* after --seconds, for loading policies and the ledger */
#define ARGUMENTS 12

/* The lab at work. */
struct lab {
	pid_t pid;
	int out, err;		/* what it prints: a pipe, and a memfd */
	char answer[ANSWER_MAX + 1];
	size_t size;
};

static int put_image(const struct sl_snapshot *snap, int fd)
{
	const unsigned char *bytes = snap->image.base;
	size_t left = snap->image.size;

	while (left) {
		ssize_t n = write(fd, bytes, left);

		if (n < 0 && errno != EINTR)
			return -1;
		bytes += n > 0 ? n : 0;
		left -= n > 0 ? (size_t) n : 0;
	}
	return 0;
}

/* -- its command line ---------------------------------------------------------- */

struct command {
	char *argv[ARGUMENTS + 1];
	char text[ARGUMENTS][PATH_MAX + 32];
	int n;
};

/* An option whose value is NULL is left out. */
static void add(struct command *c, const char *option, const char *value)
{
	if (!value)
		return;
	snprintf(c->text[c->n], sizeof(c->text[c->n]), "%s%s", option, value);
	c->argv[c->n] = c->text[c->n];
	c->n++;
}

static void write_command(struct command *c, const struct sl_foresee *ask)
{
	char job[16], seconds[24], snapshot[32];

	*c = (struct command) { .n = 0 };
	snprintf(job, sizeof(job), "%" PRIu32, ask->job);
	snprintf(seconds, sizeof(seconds), "%" PRId64, ask->seconds);
	snprintf(snapshot, sizeof(snapshot), "/proc/self/fd/%d", SNAPSHOT_FD);
	add(c, LAB, "");
	add(c, "forecast", "");
	add(c, "--json", "");
	add(c, "--snapshot=", snapshot);
	add(c, "--seconds=", seconds);
	add(c, "--site=", ask->site);
	add(c, "--policy=", ask->policy);
	add(c, "--path=", ask->path);
	add(c, "--ledger=", ask->ledger);
	add(c, "--calibration=", ask->calibration);
	add(c, job, "");
}

/* -- at work --------------------------------------------------------------------- */

/* 0, or the error's number. */
static int spawn(struct lab *l, struct command *c, int image, int answer)
{
	extern char **environ;
	posix_spawn_file_actions_t fa;
	char program[PATH_MAX];
	int rc;

	sl_tool_beside(LAB, program);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, answer, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&fa, l->err, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&fa, image, SNAPSHOT_FD);
	rc = posix_spawnp(&l->pid, program, &fa, NULL, c->argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

/* A descriptor above those that the lab is given, so that none of them is closed over another. */
static int above(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, SNAPSHOT_FD + 1);

	if (fd >= 0)
		close(fd);
	return high;
}

static int begin(struct lab *l, const struct sl_snapshot *snap, const struct sl_foresee *ask)
{
	struct command c;
	int image = above(memfd_create("snapshot", MFD_CLOEXEC)), way[2] = { -1, -1 }, rc = -1;

	l->err = above(memfd_create("errors", MFD_CLOEXEC));
	if (!pipe2(way, O_CLOEXEC))
		way[1] = above(way[1]);
	l->out = way[0];
	write_command(&c, ask);
	if (image < 0 || l->err < 0 || way[1] < 0 || put_image(snap, image))
		rc = errno;
	else
		rc = spawn(l, &c, image, way[1]);
	if (image >= 0)
		close(image);
	if (way[1] >= 0)
		close(way[1]);
	return rc;
}

/* Read what it prints until it closes its end, or prints more than anybody reads.  False: it takes too long. */
static bool read_answer(struct lab *l, int64_t until_us)
{
	for (;;) {
		struct pollfd p = { .fd = l->out, .events = POLLIN };
		int64_t left = until_us - sl_clock_us();
		ssize_t n;

		if (left <= 0)
			return false;
		if (l->size == ANSWER_MAX)
			return true;
		if (poll(&p, 1, (int) (left / 1000) + 1) <= 0)
			continue;
		n = read(l->out, l->answer + l->size, ANSWER_MAX - l->size);
		if (!n)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
		l->size += n > 0 ? (size_t) n : 0;
	}
}

/* Its exit status; -1: it was ended. */
static int end(struct lab *l, bool kill_it)
{
	int status = 0;

	if (kill_it)
		kill(l->pid, SIGKILL);
	while (waitpid(l->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* -- what it says -------------------------------------------------------------------- */

/* The last line that it complained with, without "schedlua: ". */
static void read_complaint(const struct lab *l, char *why, size_t room)
{
	char text[ANSWER_MAX + 1], *line;
	ssize_t n = pread(l->err, text, ANSWER_MAX, 0);

	text[n > 0 ? n : 0] = 0;
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = 0;
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (!strncmp(line, "schedlua: ", 10))
		line += 10;
	snprintf(why, room, "%.300s", *line ? line : "the simulator said nothing");
}

static int64_t time_of(const json_t *job, const char *key)
{
	return json_integer_value(json_object_get(job, key));
}

static void read_forecast(const struct lab *l, struct sl_foreseen *f)
{
	json_t *all = json_loads(l->answer, 0, NULL), *job = json_array_get(json_object_get(all, "jobs"), 0);

	if (!json_is_object(job)) {
		snprintf(f->why, sizeof(f->why), "the simulator printed no forecast");
	} else if (!json_integer_value(json_object_get(all, "known"))) {
		snprintf(f->why, sizeof(f->why), "how long jobs of these users ran is not known (there is no ledger that may be read here)");
	} else {
		f->when = (struct sl_standing) { .ahead = -1, .low = time_of(job, "not_before"), .likely = time_of(job, "likely"),
						 .high = time_of(job, "not_after"),
						 .confidence = json_number_value(json_object_get(all, "confidence")) };
		f->calibrated = json_is_true(json_object_get(all, "calibrated"));
	}
	json_decref(all);
}

void sl_foresee(const struct sl_snapshot *snap, const struct sl_foresee *ask, struct sl_foreseen *f)
{
	struct lab l = { .out = -1, .err = -1 };
	bool whole;
	int rc;

	*f = (struct sl_foreseen) { .when = { .ahead = -1 } };
	rc = begin(&l, snap, ask);
	if (rc == ENOENT) {
		snprintf(f->why, sizeof(f->why), "the simulator (" LAB ") is not installed");
	} else if (rc) {
		snprintf(f->why, sizeof(f->why), LAB ": %s", strerror(rc));
	} else {
		whole = read_answer(&l, sl_clock_us() + (ask->seconds + MERCY_S) * 1000000);
		rc = end(&l, !whole || l.size == ANSWER_MAX);
		if (!whole)
			snprintf(f->why, sizeof(f->why), "the simulator did not come to an end within %" PRId64 " s",
				 ask->seconds + MERCY_S);
		else if (rc && l.size < ANSWER_MAX)
			read_complaint(&l, f->why, sizeof(f->why));
		else
			read_forecast(&l, f);
	}
	if (l.out >= 0)
		close(l.out);
	if (l.err >= 0)
		close(l.err);
}
