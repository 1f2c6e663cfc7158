/* SPDX-License-Identifier: MIT */
#include "t/tool/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/plan_image.h"
#include "image/snapshot.h"

#define BUDGET_US 2000000

extern char **environ;

/* -- an engine ---------------------------------------------------------- */

/*
 * Started by root the engine becomes nobody, who has to come as far as where this runs; for a tree
 * in root's own directory the tests say --user=root, as an administrator would.
 */
const char *engine_user(void)
{
	char path[4096];
	struct stat st;

	assert_non_null(getcwd(path, sizeof(path)));
	for (char *slash; (slash = strrchr(path, '/')); *slash = 0)
		if (*path && (stat(path, &st) || !(st.st_mode & S_IXOTH)))
			return "--user=root";
	return NULL;
}

const char *engine_option;
int engine_occupied;

pid_t spawn_engine(int sock, const char *dir)
{
	const char *program = getenv("SCHEDLUA");
	char read[400], cwd[300];
	char *argv[] = { (char *) (program ? program : "./schedlua"), (char *) "engine", read, NULL, NULL, NULL };
	posix_spawn_file_actions_t fa;
	int n = 3;
	pid_t pid;

	if ((argv[n] = (char *) engine_user()))
		n++;
	argv[n] = (char *) engine_option;
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	snprintf(read, sizeof(read), "--read=%s/%s", cwd, dir);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, sock, 3);
	for (int i = 0; i < engine_occupied; i++)
		posix_spawn_file_actions_addopen(&fa, 4 + i, "/dev/null", O_RDONLY, 0);
	assert_int_equal(posix_spawn(&pid, argv[0], &fa, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&fa);
	return pid;
}

int start_engine(void **state)
{
	struct engine *e = calloc(1, sizeof(*e));
	char cwd[160];
	int pair[2];

	assert_non_null(e);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	strcpy(e->dir, "test_engine.XXXXXX");
	assert_non_null(mkdtemp(e->dir));
	assert_int_equal(chmod(e->dir, 0755), 0);
	e->pid = spawn_engine(pair[1], e->dir);
	close(pair[1]);
	e->sock = pair[0];
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	snprintf(e->site, sizeof(e->site), "%s/%s/sched.lua", cwd, e->dir);
	*state = e;
	return 0;
}

int reap_engine(struct engine *e)
{
	int status;

	assert_int_equal(waitpid(e->pid, &status, 0), e->pid);
	e->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int stop_engine(void **state)
{
	struct engine *e = *state;

	if (e->pid > 0) {
		kill(e->pid, SIGKILL);
		reap_engine(e);
	}
	close(e->sock);
	unlink(e->site);
	rmdir(e->dir);
	free(e);
	return 0;
}

void ask_engine(struct engine *e, struct sl_frame *f)
{
	struct sl_error err = { 0 };

	if (sl_wire_send(e->sock, f, TIMEOUT_MS, &err))
		fail_msg("send: %s", err.text);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	if (sl_wire_recv(e->sock, f, TIMEOUT_MS, &err) != 1)
		fail_msg("receive: %s", err.text);
}

/* -- sites and snapshots ------------------------------------------------ */

void write_site(struct engine *e, const char *text)
{
	char next[sizeof(e->site) + 8];
	FILE *out;

	snprintf(next, sizeof(next), "%s.new", e->site);
	out = fopen(next, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(next, 0644), 0);
	assert_int_equal(rename(next, e->site), 0);	/* another inode */
}

const char tiny[] =
	"{ \"meta\": { \"now\": 1000000, \"cluster\": \"tiny\", \"source\": \"spec\", \"sequence\": 5 },"
	"  \"nodes\": [ { \"name\": \"n1\", \"cores\": 4 }, { \"name\": \"n2\", \"cores\": 4 } ],"
	"  \"partitions\": [ { \"name\": \"p\", \"nodes\": \"n[1-2]\" } ],"
	"  \"jobs\": [ { \"id\": 7, \"partition\": \"p\", \"time_limit\": 600, \"eligible_time\": 1,"
	"                \"submit_time\": 1, \"num_tasks\": 1 } ],"
	"  \"queue\": [ { \"job\": 7, \"partition\": \"p\" } ] }";

int snapshot_fd(void)
{
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	const void *bytes;
	size_t size = 0;
	int fd;

	assert_non_null(b);
	if (sl_builder_from_json(b, "tiny", tiny, sizeof(tiny) - 1, &err) ||
	    sl_builder_finish(b, &bytes, &size, &err))
		fail_msg("%s", err.text);
	fd = sl_wire_memfd("snapshot", bytes, size, &err);
	assert_true(fd >= 0);
	sl_builder_destroy(b);
	return fd;
}

struct sl_frame_loaded load_site(struct engine *e, const char *site, int snapshot)
{
	struct sl_frame f = { .type = SL_FRAME_LOAD, .fd = snapshot };

	f.body.load.trusted_uid = getuid();
	snprintf(f.body.load.site, sizeof(f.body.load.site), "%s", site);
	ask_engine(e, &f);
	assert_int_equal(f.type, SL_FRAME_LOADED);
	return f.body.loaded;
}

struct sl_frame_plan decide_as(struct engine *e, struct sl_frame f, uint32_t *started, char reason[256])
{
	struct sl_plan_image plan;
	struct sl_error err;
	const void *bytes;
	size_t size;

	f.type = SL_FRAME_DECIDE;
	f.body.decide.sequence = 5;
	if (!f.body.decide.budget_us)
		f.body.decide.budget_us = BUDGET_US;
	ask_engine(e, &f);
	assert_int_equal(f.type, SL_FRAME_PLAN);
	*started = 0;
	*reason = '\0';
	if (f.body.plan.ok) {
		if (sl_wire_map(f.fd, &bytes, &size, &err) || sl_plan_image_open(&plan, bytes, size, &err))
			fail_msg("plan: %s", err.text);
		if (plan.start.rows)
			*started = plan.start.job[0];
		if (plan.pending.rows)
			snprintf(reason, 256, "%.255s", sl_image_str(&plan.image, plan.pending.text[0]));
		assert_int_equal(plan.meta.sequence[0], 5);
		sl_wire_unmap(bytes, size);
		close(f.fd);
	} else {
		assert_int_equal(f.fd, -1);
	}
	return f.body.plan;
}

struct sl_frame_plan decide(struct engine *e, int snapshot, uint32_t *started)
{
	char reason[256];

	return decide_as(e, (struct sl_frame) { .fd = snapshot }, started, reason);
}

struct sl_frame_plan decide_bundled(struct engine *e, int snapshot, uint32_t *started, char reason[256])
{
	struct sl_frame f = { .fd = snapshot };

	f.body.decide.bundled = 1;
	return decide_as(e, f, started, reason);
}
