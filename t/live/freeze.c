/* SPDX-License-Identifier: MIT */
/*
 * freeze.c - stop one thread of a process at a chosen moment, the others go on.
 *
 *	freeze PID THREAD-NAME FILE TEXT
 *
 * Waits until TEXT is written to FILE (what stands there already does not count) and
 * stops the thread at once; then writes "frozen" to stdout.  A line on stdin lets the
 * thread run up to where it next enters or leaves the kernel, and is answered by "frozen"
 * again: a thread that was stopped while it held a lock gets out of it so.  (Not for a while:
 * that would be as long as the machine is busy.)  At the end of stdin, or after a minute, the
 * thread goes on.  Exits 1 when that cannot be done.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GLANCE_NS 100000
#define GLANCES 200		/* for a thread that waits in the kernel */
#define PATIENCE_MS 60000

static void nap(long ns)
{
	const struct timespec t = { 0, ns };

	nanosleep(&t, NULL);
}

/* The thread of that name; 0: there is none. */
static pid_t find_thread(const char *pid, const char *name)
{
	char path[300], comm[32];
	struct dirent *e;
	pid_t tid = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	d = opendir(path);
	while (d && !tid && (e = readdir(d))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/comm", pid, e->d_name);
		f = fopen(path, "r");
		if (f && fgets(comm, sizeof(comm), f) && !strncmp(comm, name, strlen(name)))
			tid = atoi(e->d_name);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return tid;
}

/* Until the text stands in what is added to the file.  0, or -1 after PATIENCE_MS. */
static int wait_for_text(const char *path, const char *text)
{
	static char buffer[65536];
	size_t keep = strlen(text) - 1, have = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	time_t end = time(NULL) + PATIENCE_MS / 1000;
	int rc = -1;

	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
		return -1;
	puts("waiting");
	fflush(stdout);
	while (rc && time(NULL) < end) {
		ssize_t n = read(fd, buffer + have, sizeof(buffer) - 1 - have);

		if (n <= 0) {
			nap(20000);
			continue;
		}
		have += (size_t) n;
		buffer[have] = '\0';
		if (strstr(buffer, text))
			rc = 0;
		else if (have > keep) {
			memmove(buffer, buffer + have - keep, keep);
			have = keep;
		}
	}
	close(fd);
	return rc;
}

static int stop(pid_t tid)
{
	int status;

	return ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status) ? -1 : 0;
}

/* Let it run up to its next system call, or out of one. */
static int step(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SYSCALL, tid, 0, 0))
		return -1;
	for (int i = 0; i < GLANCES; i++) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got)
			return got != tid || !WIFSTOPPED(status) ? -1 : 0;
		nap(GLANCE_NS);
	}
	return stop(tid);
}

static int fail(const char *what)
{
	fprintf(stderr, "freeze: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	char line[64];
	pid_t tid;

	if (argc != 5 || !*argv[4]) {
		fputs("usage: freeze PID THREAD-NAME FILE TEXT\n", stderr);
		return 2;
	}
	tid = find_thread(argv[1], argv[2]);
	if (!tid || ptrace(PTRACE_SEIZE, tid, 0, 0))
		return fail(argv[2]);
	if (wait_for_text(argv[3], argv[4]))
		return fail(argv[4]);
	if (stop(tid))
		return fail("stop");
	do {
		puts("frozen");
		fflush(stdout);
		if (poll(&in, 1, PATIENCE_MS) <= 0 || read(0, line, sizeof(line)) <= 0)
			return 0;	/* which lets it go on */
	} while (!step(tid));
	return fail("step");
}
