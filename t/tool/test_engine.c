/* SPDX-License-Identifier: MIT */
/*
 * The engine as the plug-in meets it: the real program, started with a socket,
 * asked in frames.  Each test has an engine of its own, ended by pid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/fence.h"
#include "image/plan_image.h"
#include "image/snapshot.h"
#include "image/wire.h"

#define TIMEOUT_MS 60000	/* of an answer that never comes */
#define BUDGET_US 2000000

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;	/* process/harden.h: without Landlock */
#else
static const bool sanitized = false;
#endif

extern char **environ;

struct engine {
	pid_t pid;
	int sock;
	char dir[64];		/* of the site file, in the directory the test runs in */
	char site[256];
};

/* -- an engine ---------------------------------------------------------- */

/*
 * Started by root the engine becomes nobody, who has to come as far as where this runs; for a tree
 * in root's own directory the tests say --user=root, as an administrator would.
 */
static const char *engine_user(void)
{
	char path[4096];
	struct stat st;

	assert_non_null(getcwd(path, sizeof(path)));
	for (char *slash; (slash = strrchr(path, '/')); *slash = 0)
		if (*path && (stat(path, &st) || !(st.st_mode & S_IXOTH)))
			return "--user=root";
	return NULL;
}

/* *dir*: of the site file. */
static pid_t spawn_engine(int sock, const char *dir)
{
	const char *program = getenv("SCHEDLUA");
	char read[400], cwd[300];
	char *argv[] = { (char *) (program ? program : "./schedlua"), (char *) "engine", read, (char *) engine_user(), NULL };
	posix_spawn_file_actions_t fa;
	pid_t pid;

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	snprintf(read, sizeof(read), "--read=%s/%s", cwd, dir);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, sock, 3);
	assert_int_equal(posix_spawn(&pid, argv[0], &fa, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&fa);
	return pid;
}

static int start(void **state)
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

/* Wait for the engine's end: its exit status, or minus the signal. */
static int reap(struct engine *e)
{
	int status;

	assert_int_equal(waitpid(e->pid, &status, 0), e->pid);
	e->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int stop(void **state)
{
	struct engine *e = *state;

	if (e->pid > 0) {
		kill(e->pid, SIGKILL);
		reap(e);
	}
	close(e->sock);
	unlink(e->site);
	rmdir(e->dir);
	free(e);
	return 0;
}

static void ask(struct engine *e, struct sl_frame *f)
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

/* Write a site file; a changed one has another size or time. */
static void write_site(struct engine *e, const char *text)
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

#define SITE(decide) \
	"local sched = require \"sched\"\n" \
	"local mine = { api = 1, name = \"mine\", doc = \"for a test\" }\n" \
	"function mine.decide(cluster, plan)\n" decide "end\n" \
	"return sched.site { interval = 7, budget = 1.5, default = { mine } }\n"

#define START_ALL SITE("for job in cluster:queue() do plan:start(job) end\n")
#define START_NONE SITE("for job in cluster:queue() do plan:refuse(job, \"not today\") end\n")

static const char tiny[] =
	"{ \"meta\": { \"now\": 1000000, \"cluster\": \"tiny\", \"source\": \"spec\", \"sequence\": 5 },"
	"  \"nodes\": [ { \"name\": \"n1\", \"cores\": 4 }, { \"name\": \"n2\", \"cores\": 4 } ],"
	"  \"partitions\": [ { \"name\": \"p\", \"nodes\": \"n[1-2]\" } ],"
	"  \"jobs\": [ { \"id\": 7, \"partition\": \"p\", \"time_limit\": 600, \"eligible_time\": 1,"
	"                \"submit_time\": 1, \"num_tasks\": 1 } ],"
	"  \"queue\": [ { \"job\": 7, \"partition\": \"p\" } ] }";

static int snapshot_fd(void)
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

static struct sl_frame_loaded load(struct engine *e, const char *site, int snapshot)
{
	struct sl_frame f = { .type = SL_FRAME_LOAD, .fd = snapshot };

	f.body.load.trusted_uid = getuid();
	snprintf(f.body.load.site, sizeof(f.body.load.site), "%s", site);
	ask(e, &f);
	assert_int_equal(f.type, SL_FRAME_LOADED);
	return f.body.loaded;
}

/* The answer to a DECIDE such as that; *started gets the job it starts (0: none), *reason why
 * the first of those that wait does so. */
static struct sl_frame_plan decide_as(struct engine *e, struct sl_frame f, uint32_t *started, char reason[256])
{
	struct sl_plan_image plan;
	struct sl_error err;
	const void *bytes;
	size_t size;

	f.type = SL_FRAME_DECIDE;
	f.body.decide.sequence = 5;
	if (!f.body.decide.budget_us)
		f.body.decide.budget_us = BUDGET_US;
	ask(e, &f);
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

static struct sl_frame_plan decide(struct engine *e, int snapshot, uint32_t *started)
{
	char reason[256];

	return decide_as(e, (struct sl_frame) { .fd = snapshot }, started, reason);
}

/* Easy is to decide, since the site's own policy failed. */
static struct sl_frame_plan decide_bundled(struct engine *e, int snapshot, uint32_t *started, char reason[256])
{
	struct sl_frame f = { .fd = snapshot };

	f.body.decide.bundled = 1;
	return decide_as(e, f, started, reason);
}

#define CONTAINS(text, part) do { \
	if (!strstr((text), (part))) \
		fail_msg("\"%s\" does not contain \"%s\"", (text), (part)); \
} while (0)

/* -- talking ------------------------------------------------------------ */

static void it_says_hello_with_its_versions(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };

	ask(e, &f);
	assert_int_equal(f.type, SL_FRAME_HELLO);
	assert_int_equal(f.body.hello.wire_version, SL_WIRE_VERSION);
	assert_int_equal(f.body.hello.snapshot_version, sl_snapshot_schema.version);
	assert_int_equal(f.body.hello.plan_version, sl_plan_schema.version);
	assert_int_equal(f.body.hello.pid, e->pid);
	CONTAINS(f.body.hello.holds, "no capabilities");
}

static void before_any_site_the_bundled_easy_decides(void **state)
{
	struct sl_frame_plan plan;
	uint32_t started;

	plan = decide(*state, snapshot_fd(), &started);
	assert_string_equal(plan.text, "");
	assert_int_equal(plan.ok, 1);
	assert_string_equal(plan.policy, "easy");
	assert_int_equal(started, 7);
}

static void a_closed_socket_ends_it(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };

	ask(e, &f);
	shutdown(e->sock, SHUT_RDWR);
	assert_int_equal(reap(e), 0);
}

static void bye_ends_it(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_BYE, .fd = -1 };

	assert_int_equal(sl_wire_send(e->sock, &f, TIMEOUT_MS, NULL), 0);
	assert_int_equal(reap(e), 0);
}

static void a_packet_that_is_no_frame_ends_it_with_a_message(void **state)
{
	struct engine *e = *state;

	assert_int_equal(send(e->sock, "nonsense", 8, 0), 8);
	assert_int_equal(reap(e), 1);
}

static void sigterm_ends_it(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };

	ask(e, &f);
	kill(e->pid, SIGTERM);
	assert_int_equal(reap(e), -SIGTERM);
}

static void it_ends_when_its_parent_ends(void **state)
{
	struct engine *e = *state;
	struct sl_error err;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };
	int pair[2], status;
	pid_t parent;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	parent = fork();
	assert_true(parent >= 0);
	if (!parent) {
		spawn_engine(pair[1], e->dir);
		close(pair[1]);
		/* stay until the engine has answered: it is hardened then */
		if (sl_wire_send(pair[0], &f, TIMEOUT_MS, &err) || sl_wire_recv(pair[0], &f, TIMEOUT_MS, &err) != 1)
			_exit(1);
		_exit(0);
	}
	close(pair[1]);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_int_equal(status, 0);
	/* our end of the socket is still open: only the engine can close the other */
	assert_int_equal(sl_wire_recv(pair[0], &f, TIMEOUT_MS, &err), 0);
	close(pair[0]);
}

/* -- loading ------------------------------------------------------------ */

static void a_good_site_goes_live_and_decides(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, START_NONE);
	loaded = load(e, e->site, snapshot_fd());
	assert_string_equal(loaded.text, "");
	assert_int_equal(loaded.ok, 1);
	assert_true(loaded.interval_s == 7 && loaded.budget_s == 1.5);
	CONTAINS(loaded.policy, "mine");
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(plan.code, SL_OK);
	assert_int_equal(plan.reload, SL_RELOAD_NONE);
	assert_int_equal(started, 0);
}

static void a_syntax_error_is_refused_with_its_line_and_easy_stays(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;
	uint32_t started;

	write_site(e, "local sched = require \"sched\"\nreturn sched.site { default = = }\n");
	loaded = load(e, e->site, -1);
	assert_int_equal(loaded.ok, 0);
	assert_int_equal(loaded.code, SL_ESCRIPT);
	CONTAINS(loaded.text, "sched.lua:2:");
	assert_string_equal(loaded.policy, "easy");
	decide(e, snapshot_fd(), &started);
	assert_int_equal(started, 7);
}

static void a_set_that_fails_on_the_clusters_snapshot_is_refused(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, SITE("if cluster.name == \"tiny\" then error(\"not here\") end\n"));
	loaded = load(e, e->site, snapshot_fd());
	assert_int_equal(loaded.ok, 0);
	CONTAINS(loaded.text, "sched.lua:4:");
	CONTAINS(loaded.text, "not here");
}

static void a_missing_site_is_refused_and_found_later(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded = load(e, e->site, -1);
	struct sl_frame_plan plan;
	uint32_t started;

	assert_int_equal(loaded.ok, 0);
	assert_int_equal(loaded.code, SL_ENOENT);
	write_site(e, START_NONE);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_LIVE);
	assert_int_equal(started, 0);
}

static void a_site_others_may_write_to_is_refused(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, START_NONE);
	assert_int_equal(chmod(e->site, 0666), 0);
	loaded = load(e, e->site, -1);
	assert_int_equal(loaded.ok, 0);
	assert_int_equal(loaded.code, SL_ETRUST);
}

/* Whoever starts it: it keeps no right to read what its user may not. */
static void a_site_that_cannot_be_read_is_refused_with_what_to_do(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, START_NONE);
	assert_int_equal(chmod(e->site, 0), 0);
	loaded = load(e, e->site, -1);
	assert_int_equal(loaded.ok, 0);
	assert_int_equal(loaded.code, SL_EIO);
	CONTAINS(loaded.text, e->site);
	CONTAINS(loaded.text, "mode 644");
	assert_int_equal(chmod(e->site, 0644), 0);
	loaded = load(e, e->site, -1);
	assert_string_equal(loaded.text, "");
}

static void no_site_means_the_bundled_easy(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, START_NONE);
	assert_int_equal(load(e, e->site, -1).ok, 1);
	loaded = load(e, "", -1);
	assert_int_equal(loaded.ok, 1);
	assert_string_equal(loaded.policy, "easy");
}

/* -- files that change -------------------------------------------------- */

static void a_changed_site_decides_at_once_and_says_so_once(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, START_NONE);
	assert_int_equal(load(e, e->site, -1).ok, 1);
	decide(e, snapshot_fd(), &started);
	assert_int_equal(started, 0);
	write_site(e, START_ALL);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_LIVE);
	assert_true(plan.interval_s == 7);
	assert_int_equal(started, 7);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_NONE);
}

static void a_broken_change_is_refused_once_and_its_repair_goes_live(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, START_ALL);
	assert_int_equal(load(e, e->site, -1).ok, 1);
	write_site(e, "return 17\n");
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_REFUSED);
	CONTAINS(plan.reload_text, "sched.lua");
	assert_int_equal(plan.ok, 1);
	assert_int_equal(plan.code, SL_OK);
	assert_int_equal(started, 7);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_NONE);
	write_site(e, START_NONE);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_LIVE);
	assert_int_equal(started, 0);
}

static void a_change_that_never_ends_is_refused_and_the_old_set_still_decides(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, START_ALL);
	assert_int_equal(load(e, e->site, -1).ok, 1);
	write_site(e, "while true do pcall(function() while true do end end) end\n");
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_REFUSED);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(started, 7);
}

/* -- deciding ----------------------------------------------------------- */

static void what_a_failing_policy_has_booked_stands(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, SITE("for job in cluster:queue() do plan:start(job) end\n"
			   "if cluster.name == \"tiny\" then error(\"late\") end\n"));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(plan.code, SL_ESCRIPT);
	CONTAINS(plan.text, "sched.lua:5:");
	assert_int_equal(started, 7);
}

static void a_policy_that_never_ends_is_stopped_and_its_bookings_stand(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, SITE("for job in cluster:queue() do plan:start(job) end\n"
			   "while cluster.name == \"tiny\" do pcall(function() while true do end end) end\n"));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(plan.code, SL_ETIME);
	assert_int_equal(started, 7);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
}

/* -- when what decides or what guards fails -------------------------------- */

/* A quota of one CPU-hour that job 7 (10 minutes of one core) is within, or is over. */
#define GUARDED(most, list) \
	"local sched = require \"sched\"\n" \
	"local bomb = { api = 1, name = \"bomb\", doc = \"fails on the real cluster\" }\n" \
	"function bomb.decide(cluster) if cluster.name == \"tiny\" then error(\"bang\") end end\n" \
	"local guard = { api = 1, name = \"guard\", doc = \"fails on the real cluster\" }\n" \
	"function guard.admit(_, cluster) if cluster.name == \"tiny\" then error(\"lost\") end return true end\n" \
	"local loop = { api = 1, name = \"loop\", doc = \"never ends on the real cluster\" }\n" \
	"function loop.allow(_, cluster) while cluster.name == \"tiny\" do end return true end\n" \
	"local quota = sched.quota { per_user = \"" most " cpu-hours\" }\n" \
	"return sched.site { default = { " list " } }\n"

static void when_a_policy_fails_easy_decides_within_the_sites_limits(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	write_site(e, GUARDED("0.1", "quota, bomb"));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.code, SL_ESCRIPT);
	assert_int_equal(started, 0);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(started, 0);
	CONTAINS(reason, "quota");
	CONTAINS(plan.policy, "easy");

	write_site(e, GUARDED("1", "quota, bomb"));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(started, 7);
	assert_string_equal(plan.held, "");
}

static void when_what_guards_fails_nothing_starts_where_the_site_says_hold(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	write_site(e, GUARDED("1", "quota, guard"));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(started, 0);
	CONTAINS(reason, "lost");
	CONTAINS(plan.held, "p: ");
	CONTAINS(plan.held, "lost");
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(started, 0);
	CONTAINS(plan.held, "lost");

	write_site(e, GUARDED("1", "quota, guard, on_failure = \"easy\""));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(started, 7);
	assert_string_equal(plan.held, "");
}

static void without_a_quota_a_failing_admit_holds_only_if_the_site_says_so(void **state)
{
	struct engine *e = *state;
	char reason[256];
	uint32_t started;

	write_site(e, GUARDED("1", "guard"));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(started, 7);
	write_site(e, GUARDED("1", "guard, on_failure = \"hold\""));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(started, 0);
	CONTAINS(reason, "held");
}

static void an_allow_that_never_ends_holds_what_it_guards(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .fd = snapshot_fd() };
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	f.body.decide.bundled = 1;
	f.body.decide.budget_us = 200000;
	write_site(e, GUARDED("1", "quota, loop"));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	plan = decide_as(e, f, &started, reason);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(started, 0);
	CONTAINS(reason, "held");
	f.fd = snapshot_fd();
	write_site(e, GUARDED("1", "loop"));
	assert_int_equal(load(e, e->site, -1).ok, 1);
	decide_as(e, f, &started, reason);
	assert_int_equal(started, 7);
}

static void without_a_set_easy_leaves_alone_what_it_is_told_to_hold(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .fd = snapshot_fd() };
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	sl_fence_set(&f.body.decide.hold, false, "p");
	plan = decide_as(e, f, &started, reason);
	assert_int_equal(started, 0);
	CONTAINS(reason, "held");
	CONTAINS(plan.held, "p: ");
	f.fd = snapshot_fd();
	sl_fence_set(&f.body.decide.hold, true, "p");
	decide_as(e, f, &started, reason);
	assert_int_equal(started, 7);
}

static void a_set_tells_which_partitions_are_to_be_held(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, GUARDED("1", "quota, guard"));
	loaded = load(e, e->site, -1);
	assert_true(sl_fence_has(&loaded.hold, "p") && sl_fence_has(&loaded.hold, "another"));
	write_site(e, "local sched = require \"sched\"\nreturn sched.site { default = \"easy\",\n"
		   "partitions = { [\"a,b\"] = { sched.quota { per_user = \"1 cpu-hour\" } } } }\n");
	loaded = load(e, e->site, -1);
	assert_true(sl_fence_has(&loaded.hold, "a") && sl_fence_has(&loaded.hold, "b"));
	assert_false(sl_fence_has(&loaded.hold, "p"));
}

static void a_set_whose_first_real_decision_never_ends_is_refused(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, START_ALL);
	assert_int_equal(load(e, e->site, snapshot_fd()).ok, 1);
	write_site(e, SITE("while cluster.name == \"tiny\" do end\n"));
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_REFUSED);
	CONTAINS(plan.reload_text, "budget");
	assert_int_equal(started, 7);
	loaded = load(e, e->site, snapshot_fd());
	assert_int_equal(loaded.ok, 0);
	assert_int_equal(loaded.code, SL_ETIME);
	decide(e, snapshot_fd(), &started);
	assert_int_equal(started, 7);
}

/* -- the last good set ---------------------------------------------------- */

/* The live set as bytes in a sealed memfd; -1: there is none to keep. */
static int kept(struct engine *e)
{
	struct sl_frame f = { .type = SL_FRAME_KEEP, .fd = -1 };

	ask(e, &f);
	assert_int_equal(f.type, SL_FRAME_KEPT);
	return f.fd;
}

static struct sl_frame_loaded restore(struct engine *e, int fd)
{
	struct sl_frame f = { .type = SL_FRAME_RESTORE, .fd = fd };

	f.body.load.trusted_uid = getuid();
	snprintf(f.body.load.site, sizeof(f.body.load.site), "%s", e->site);
	ask(e, &f);
	assert_int_equal(f.type, SL_FRAME_LOADED);
	return f.body.loaded;
}

static void restart(struct engine *e)
{
	int pair[2];

	kill(e->pid, SIGKILL);
	reap(e);
	close(e->sock);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	e->pid = spawn_engine(pair[1], e->dir);
	close(pair[1]);
	e->sock = pair[0];
}

static void the_last_good_set_outlives_the_engine(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;
	uint32_t started;
	int set;

	write_site(e, START_NONE);
	assert_int_equal(load(e, e->site, -1).ok, 1);
	set = kept(e);
	assert_true(set >= 0);
	restart(e);
	write_site(e, "this is not Lua");
	assert_int_equal(load(e, e->site, -1).ok, 0);
	loaded = restore(e, set);
	assert_string_equal(loaded.text, "");
	assert_int_equal(loaded.ok, 1);
	assert_true(loaded.interval_s == 7);
	CONTAINS(loaded.policy, "mine");
	decide(e, snapshot_fd(), &started);
	assert_int_equal(started, 0);		/* easy would */
	assert_int_equal(kept(e), -1);		/* it is kept already */
	write_site(e, START_ALL);
	assert_int_equal(decide(e, snapshot_fd(), &started).reload, SL_RELOAD_LIVE);
	assert_int_equal(started, 7);
}

static void only_a_kept_set_that_is_whole_and_of_this_site_is_taken(void **state)
{
	struct engine *e = *state;
	struct sl_error err;
	const void *bytes;
	uint32_t started;
	size_t size;
	int set;

	write_site(e, START_NONE);
	load(e, e->site, -1);
	set = kept(e);
	assert_int_equal(sl_wire_map(set, &bytes, &size, &err), 0);
	CONTAINS(restore(e, set).text, "there is a set");
	restart(e);
	write_site(e, "this is not Lua");
	load(e, e->site, -1);
	CONTAINS(restore(e, sl_wire_memfd("cut", bytes, size - 1, &err)).text, "damaged");
	CONTAINS(restore(e, sl_wire_memfd("none", "nonsense", 8, &err)).text, "damaged");
	CONTAINS(restore(e, sl_wire_memfd("other", "schedlua set 1\n0 2 1\n/x1", 24, &err)).text, "that of /x");
	decide(e, snapshot_fd(), &started);
	assert_int_equal(started, 7);		/* the bundled easy */
	sl_wire_unmap(bytes, size);
}

static void a_snapshot_that_is_none_gets_an_answer(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	struct sl_error err;
	uint32_t started;

	plan = decide(e, sl_wire_memfd("snapshot", "nonsense", 8, &err), &started);
	assert_int_equal(plan.ok, 0);
	assert_int_equal(plan.code, SL_EFORMAT);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
}

static void an_unsealed_snapshot_is_refused(void **state)
{
	struct engine *e = *state;
	uint32_t started;
	int fd = memfd_create("snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(write(fd, tiny, sizeof(tiny)), sizeof(tiny));
	assert_int_equal(decide(e, fd, &started).ok, 0);
}

/* Has this engine Landlock?  Then it ends when a directory that it reads is another one, so that
 * the next one reads that. */
static void it_ends_when_its_directory_is_another_one(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;
	struct stat st;
	char old[sizeof(e->dir) + 8], file[sizeof(old) + 16];
	bool landlock = syscall(444, NULL, (size_t) 0, 1u) > 0 && !sanitized;

	write_site(e, START_NONE);
	assert_int_equal(load(e, e->site, -1).ok, 1);
	snprintf(old, sizeof(old), "%s.old", e->dir);
	snprintf(file, sizeof(file), "%s/sched.lua", old);
	assert_int_equal(rename(e->dir, old) | mkdir(e->dir, 0755), 0);
	write_site(e, START_ALL);
	loaded = load(e, e->site, -1);
	assert_int_equal(loaded.ok, !landlock);
	if (landlock)
		assert_int_equal(reap(e), 1);
	assert_int_equal(unlink(file) | rmdir(old) | stat(e->dir, &st), 0);
}

/* -- what it gave up ---------------------------------------------------- */

static void it_has_given_up_its_privileges(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };
	char path[64], text[4096] = "";
	FILE *in;
	size_t n;

	ask(e, &f);
	snprintf(path, sizeof(path), "/proc/%d/status", (int) e->pid);
	in = fopen(path, "r");
	assert_non_null(in);
	n = fread(text, 1, sizeof(text) - 1, in);
	text[n] = 0;
	fclose(in);
	CONTAINS(text, "\nNoNewPrivs:\t1\n");
	CONTAINS(text, "\nCapEff:\t0000000000000000\n");
	CONTAINS(text, "\nCapPrm:\t0000000000000000\n");
	if (!getuid() && !engine_user())
		CONTAINS(text, "\nUid:\t65534\t65534\t65534\t65534\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_says_hello_with_its_versions),
		TEST(before_any_site_the_bundled_easy_decides),
		TEST(a_closed_socket_ends_it),
		TEST(bye_ends_it),
		TEST(a_packet_that_is_no_frame_ends_it_with_a_message),
		TEST(sigterm_ends_it),
		TEST(it_ends_when_its_parent_ends),
		TEST(a_good_site_goes_live_and_decides),
		TEST(a_syntax_error_is_refused_with_its_line_and_easy_stays),
		TEST(a_set_that_fails_on_the_clusters_snapshot_is_refused),
		TEST(a_missing_site_is_refused_and_found_later),
		TEST(a_site_others_may_write_to_is_refused),
		TEST(a_site_that_cannot_be_read_is_refused_with_what_to_do),
		TEST(no_site_means_the_bundled_easy),
		TEST(a_changed_site_decides_at_once_and_says_so_once),
		TEST(a_broken_change_is_refused_once_and_its_repair_goes_live),
		TEST(a_change_that_never_ends_is_refused_and_the_old_set_still_decides),
		TEST(what_a_failing_policy_has_booked_stands),
		TEST(a_policy_that_never_ends_is_stopped_and_its_bookings_stand),
		TEST(when_a_policy_fails_easy_decides_within_the_sites_limits),
		TEST(when_what_guards_fails_nothing_starts_where_the_site_says_hold),
		TEST(without_a_quota_a_failing_admit_holds_only_if_the_site_says_so),
		TEST(an_allow_that_never_ends_holds_what_it_guards),
		TEST(without_a_set_easy_leaves_alone_what_it_is_told_to_hold),
		TEST(a_set_tells_which_partitions_are_to_be_held),
		TEST(a_set_whose_first_real_decision_never_ends_is_refused),
		TEST(the_last_good_set_outlives_the_engine),
		TEST(only_a_kept_set_that_is_whole_and_of_this_site_is_taken),
		TEST(a_snapshot_that_is_none_gets_an_answer),
		TEST(an_unsealed_snapshot_is_refused),
		TEST(it_ends_when_its_directory_is_another_one),
		TEST(it_has_given_up_its_privileges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
