/* SPDX-License-Identifier: MIT */
/*
 * kill_at.c - slurmctld, or the engine under it, is killed at a chosen step. Loaded into slurmctld with LD_PRELOAD:
 *
 *	SL_KILL_AT=TEXT[|TEXT...]	what is to have happened, one after the other: a line of its log that has the text, or
 *					"renamed PATH;" when a file has come to stand there. At the last of them slurmctld is
 *					killed before it does anything else
 *	SL_KILL_WHOM=engine		the engine is killed instead, and slurmctld goes on
 *	SL_KILL_FROM=FILE		nothing counts before this file is there
 *	SL_KILL_SAYS=FILE		is made at that moment
 *
 * Nobody is killed twice. (The log is what Slurm prints with vfprintf().)
 */
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 4096

int __vfprintf_chk(FILE *f, int flag, const char *format, va_list args);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *next;		/* of the steps; NULL: nothing is waited for */

static bool is_program(const char *pid, const char *name)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	if ((f = fopen(path, "r"))) {
		(void) !fgets(comm, sizeof(comm), f);
		fclose(f);
	}
	return !strncmp(comm, name, strlen(name));
}

__attribute__((constructor))
static void begin(void)
{
	if (is_program("self", "slurmctld"))
		next = getenv("SL_KILL_AT");
}

/* All children of that thread which are an engine. */
static void kill_engines_of(const char *tid)
{
	char path[80], pid[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/children", tid);
	f = fopen(path, "r");
	while (f && fscanf(f, "%31s", pid) == 1)
		if (is_program(pid, "schedlua") || is_program(pid, "fake_engine") || is_program(pid, "sched/lua"))
			kill(atoi(pid), SIGKILL);
	if (f)
		fclose(f);
}

static void kill_engines(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;

	while (d && (e = readdir(d)))
		kill_engines_of(e->d_name);
	if (d)
		closedir(d);
}

static void kill_now(void)
{
	const char *says = getenv("SL_KILL_SAYS"), *whom = getenv("SL_KILL_WHOM");
	int fd = says ? open(says, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
	if (whom && !strcmp(whom, "engine"))
		kill_engines();
	else
		kill(getpid(), SIGKILL);
}

/* That has happened: is it what is waited for? */
static void look_at(const char *what)
{
	const char *from = getenv("SL_KILL_FROM");
	bool now = false;

	pthread_mutex_lock(&lock);
	if (next && (!from || !access(from, F_OK))) {
		size_t n = strcspn(next, "|");
		char text[LONGEST];

		snprintf(text, sizeof(text), "%.*s", (int) n, next);
		if (strstr(what, text)) {
			now = !next[n];
			next = now ? NULL : next + n + 1;
		}
	}
	pthread_mutex_unlock(&lock);
	if (now)
		kill_now();
}

int vfprintf(FILE *f, const char *format, va_list args)
{
	static int (*real)(FILE *, const char *, va_list);
	char line[LONGEST];
	va_list copy;
	int n;

	if (!real)
		real = (int (*)(FILE *, const char *, va_list)) dlsym(RTLD_NEXT, "vfprintf");
	if (!next)
		return real(f, format, args);
	va_copy(copy, args);
	n = real(f, format, args);
	fflush(f);
	vsnprintf(line, sizeof(line), format, copy);
	va_end(copy);
	look_at(line);
	return n;
}

int __vfprintf_chk(FILE *f, int flag, const char *format, va_list args)
{
	(void) flag;
	return vfprintf(f, format, args);
}

static int look_at_move(const char *name, const char *from, const char *to)
{
	int (*real)(const char *, const char *) = (int (*)(const char *, const char *)) dlsym(RTLD_NEXT, name);
	char text[LONGEST];
	int rc = real(from, to);

	if (!rc && next) {
		snprintf(text, sizeof(text), "renamed %s;", to);
		look_at(text);
	}
	return rc;
}

int rename(const char *from, const char *to)
{
	return look_at_move("rename", from, to);
}

/* (Slurm puts its state in place with link() in older releases.) */
int link(const char *from, const char *to)
{
	return look_at_move("link", from, to);
}
