/* SPDX-License-Identifier: MIT */
/* engine_client.c - see engine_client.h */
#include "bench/engine_client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/plan_image.h"
#include "image/snapshot.h"

#define ANSWER_MS 120000	/* to decide; a measurement may take long, not for ever */
#define END_MS 2000

extern char **environ;

static int spawn(struct engine_client *c, const char *program, struct sl_error *err)
{
	char *argv[] = { (char *) program, (char *) "engine", NULL };
	posix_spawn_file_actions_t fa;
	int sv[2], child, rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return sl_fail(err, SL_EIO, "socketpair: %s", strerror(errno));
	child = fcntl(sv[1], F_DUPFD_CLOEXEC, 10);	/* dup2() to itself would keep CLOEXEC */
	close(sv[1]);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, child, 3);
	rc = posix_spawn(&c->pid, program, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	close(child);
	c->sock = sv[0];
	if (rc) {
		c->pid = 0;
		return sl_fail(err, SL_EIO, "%s: %s", program, strerror(rc));
	}
	return 0;
}

/* One request, one answer of the type. */
static int ask(struct engine_client *c, const struct sl_frame *request, enum sl_frame_type type, struct sl_frame *answer,
	       struct sl_error *err)
{
	int rc;

	if (sl_wire_send(c->sock, request, 1000, err))
		return -1;
	rc = sl_wire_recv(c->sock, answer, ANSWER_MS, err);
	if (rc < 0)
		return -1;
	if (rc == 0 || answer->type != type)
		return sl_fail(err, SL_EIO, rc ? "another frame than expected" : "the engine ended");
	return 0;
}

static int hello(struct engine_client *c, struct sl_error *err)
{
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 }, answer;

	f.body.hello.wire_version = SL_WIRE_VERSION;
	f.body.hello.snapshot_version = sl_snapshot_schema.version;
	f.body.hello.plan_version = sl_plan_schema.version;
	f.body.hello.pid = (int32_t) getpid();
	return ask(c, &f, SL_FRAME_HELLO, &answer, err);
}

static int write_site(struct engine_client *c, const char *policy, const char *options, char *path, size_t size,
		      struct sl_error *err)
{
	const char *tmp = getenv("TMPDIR");
	FILE *f;

	snprintf(c->dir, sizeof(c->dir), "%.40s/schedlua.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(c->dir)) {
		sl_fail(err, SL_EIO, "%s: %s", c->dir, strerror(errno));
		*c->dir = '\0';
		return -1;
	}
	chmod(c->dir, 0755);	/* the engine gives up root before it reads */
	snprintf(path, size, "%s/sched.lua", c->dir);
	if (!(f = fopen(path, "we")))
		return sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	fchmod(fileno(f), 0644);
	fprintf(f, "local sched = require \"sched\"\nreturn sched.site { budget = 60, default = { { \"%s\", %s } } }\n",
		policy, options);
	if (fclose(f))
		return sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	return 0;
}

static int load(struct engine_client *c, const char *path, struct sl_error *err)
{
	struct sl_frame f = { .type = SL_FRAME_LOAD, .fd = -1 }, answer;

	f.body.load.trusted_uid = (uint32_t) getuid();
	snprintf(f.body.load.site, sizeof(f.body.load.site), "%s", path);
	if (ask(c, &f, SL_FRAME_LOADED, &answer, err))
		return -1;
	if (!answer.body.loaded.ok)
		return sl_fail(err, SL_ESCRIPT, "%.200s", answer.body.loaded.text);
	return 0;
}

int engine_start(struct engine_client *c, const char *program, const char *policy, const char *options,
		 struct sl_error *err)
{
	char path[256];

	*c = (struct engine_client) { .sock = -1 };
	if (write_site(c, policy, options, path, sizeof(path), err) || spawn(c, program, err) || hello(c, err) ||
	    load(c, path, err))
		return -1;
	return 0;
}

int engine_decide(struct engine_client *c, const void *bytes, size_t size, int64_t sequence, int64_t budget_us,
		  struct engine_times *t, struct sl_error *err)
{
	struct sl_frame f = { .type = SL_FRAME_DECIDE }, answer;
	struct sl_frame_plan *p = &answer.body.plan;
	int64_t at[4];
	int rc;

	f.body.decide.sequence = sequence;
	f.body.decide.budget_us = budget_us;
	at[0] = sl_clock_us();
	f.fd = sl_wire_memfd("snapshot", bytes, size, err);
	if (f.fd < 0)
		return -1;
	at[1] = sl_clock_us();
	rc = sl_wire_send(c->sock, &f, 1000, err);
	close(f.fd);
	if (rc)
		return -1;
	at[2] = sl_clock_us();
	rc = sl_wire_recv(c->sock, &answer, ANSWER_MS, err);
	if (rc <= 0 || answer.type != SL_FRAME_PLAN)
		return rc < 0 ? -1 : sl_fail(err, SL_EIO, rc ? "another frame than expected" : "the engine ended");
	at[3] = sl_clock_us();
	*t = (struct engine_times) { at[1] - at[0], at[2] - at[1], at[3] - at[1], NULL, 0 };
	rc = p->ok && !p->code ? sl_wire_map(answer.fd, &t->plan, &t->plan_size, err) :
		sl_fail(err, SL_ESCRIPT, "no plan: %.200s", p->text);
	if (answer.fd >= 0)
		close(answer.fd);
	return rc;
}

long engine_peak_kib(const struct engine_client *c)
{
	char path[64], line[128];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int) c->pid);
	if (!(f = fopen(path, "re")))
		return -1;
	while (kib < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kib) != 1)
			kib = -1;
	fclose(f);
	return kib;
}

int64_t engine_cpu_us(const struct engine_client *c)
{
	char path[64];
	long long ns = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int) c->pid);
	if (!(f = fopen(path, "re")))
		return -1;
	if (fscanf(f, "%lld", &ns) != 1)
		ns = -1;
	fclose(f);
	return ns < 0 ? -1 : ns / 1000;
}

static void reap(pid_t pid)
{
	const struct timespec tick = { .tv_nsec = 1000000 };

	for (int ms = 0; ms < END_MS; ms++) {
		if (waitpid(pid, NULL, WNOHANG))
			return;
		nanosleep(&tick, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void engine_stop(struct engine_client *c)
{
	struct sl_frame bye = { .type = SL_FRAME_BYE, .fd = -1 };
	struct sl_error err;
	char path[256];

	if (c->sock >= 0) {
		sl_wire_send(c->sock, &bye, 100, &err);
		close(c->sock);
		c->sock = -1;
	}
	if (c->pid > 0)
		reap(c->pid);
	c->pid = 0;
	if (*c->dir) {
		snprintf(path, sizeof(path), "%s/sched.lua", c->dir);
		unlink(path);
		rmdir(c->dir);
		*c->dir = '\0';
	}
}
