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

#include "image/plan_image.h"
#include "image/snapshot.h"
#include "t/tool/engine.h"

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;	/* process/harden.h: without Landlock */
#else
static const bool sanitized = false;
#endif

/* -- talking ------------------------------------------------------------ */

static void it_says_hello_with_its_versions(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };

	ask_engine(e, &f);
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

	ask_engine(e, &f);
	shutdown(e->sock, SHUT_RDWR);
	assert_int_equal(reap_engine(e), 0);
}

static void bye_ends_it(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_BYE, .fd = -1 };

	assert_int_equal(sl_wire_send(e->sock, &f, TIMEOUT_MS, NULL), 0);
	assert_int_equal(reap_engine(e), 0);
}

static void a_packet_that_is_no_frame_ends_it_with_a_message(void **state)
{
	struct engine *e = *state;

	assert_int_equal(send(e->sock, "nonsense", 8, 0), 8);
	assert_int_equal(reap_engine(e), 1);
}

static void sigterm_ends_it(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };

	ask_engine(e, &f);
	kill(e->pid, SIGTERM);
	assert_int_equal(reap_engine(e), -SIGTERM);
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
	loaded = load_site(e, e->site, snapshot_fd());
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

static void partitions_that_are_not_there_are_told_of_with_each_plan(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, "return (require \"sched\").site { partitions = {\np = \"easy\",\nqqq = \"easy\",\n"
		      "[\"qq,pp\"] = \"easy\" } }\n");
	assert_int_equal(load_site(e, e->site, snapshot_fd()).ok, 1);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
	CONTAINS(plan.odd, "sched.lua:");
	CONTAINS(plan.odd, "in this cluster: what is said of it has no effect");
	CONTAINS(plan.odd, " (and 2 more)");
	write_site(e, "return (require \"sched\").site { partitions = { p = \"easy\" } }\n");
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_LIVE);
	assert_string_equal(plan.odd, "");
}

static void a_syntax_error_is_refused_with_its_line_and_easy_stays(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;
	uint32_t started;

	write_site(e, "local sched = require \"sched\"\nreturn sched.site { default = = }\n");
	loaded = load_site(e, e->site, -1);
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
	loaded = load_site(e, e->site, snapshot_fd());
	assert_int_equal(loaded.ok, 0);
	CONTAINS(loaded.text, "sched.lua:4:");
	CONTAINS(loaded.text, "not here");
}

static void a_missing_site_is_refused_and_found_later(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded = load_site(e, e->site, -1);
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
	loaded = load_site(e, e->site, -1);
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
	loaded = load_site(e, e->site, -1);
	assert_int_equal(loaded.ok, 0);
	assert_int_equal(loaded.code, SL_EIO);
	CONTAINS(loaded.text, e->site);
	CONTAINS(loaded.text, "mode 644");
	assert_int_equal(chmod(e->site, 0644), 0);
	loaded = load_site(e, e->site, -1);
	assert_string_equal(loaded.text, "");
}

static void no_site_means_the_bundled_easy(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, START_NONE);
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	loaded = load_site(e, "", -1);
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
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
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
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
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
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	write_site(e, "while true do pcall(function() while true do end end) end\n");
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_REFUSED);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(started, 7);
}

/* -- the last good set ---------------------------------------------------- */

/* The live set as bytes in a sealed memfd; -1: there is none to keep. */
static int kept(struct engine *e)
{
	struct sl_frame f = { .type = SL_FRAME_KEEP, .fd = -1 };

	ask_engine(e, &f);
	assert_int_equal(f.type, SL_FRAME_KEPT);
	return f.fd;
}

static struct sl_frame_loaded restore(struct engine *e, int fd)
{
	struct sl_frame f = { .type = SL_FRAME_RESTORE, .fd = fd };

	f.body.load.trusted_uid = getuid();
	snprintf(f.body.load.site, sizeof(f.body.load.site), "%s", e->site);
	ask_engine(e, &f);
	assert_int_equal(f.type, SL_FRAME_LOADED);
	return f.body.loaded;
}

static void restart(struct engine *e)
{
	int pair[2];

	kill(e->pid, SIGKILL);
	reap_engine(e);
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
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	set = kept(e);
	assert_true(set >= 0);
	restart(e);
	write_site(e, "this is not Lua");
	assert_int_equal(load_site(e, e->site, -1).ok, 0);
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
	load_site(e, e->site, -1);
	set = kept(e);
	assert_int_equal(sl_wire_map(set, &bytes, &size, &err), 0);
	CONTAINS(restore(e, set).text, "there is a set");
	restart(e);
	write_site(e, "this is not Lua");
	load_site(e, e->site, -1);
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

	assert_int_equal(write(fd, tiny, strlen(tiny)), strlen(tiny));
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
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	snprintf(old, sizeof(old), "%s.old", e->dir);
	snprintf(file, sizeof(file), "%s/sched.lua", old);
	assert_int_equal(rename(e->dir, old) | mkdir(e->dir, 0755), 0);
	write_site(e, START_ALL);
	loaded = load_site(e, e->site, -1);
	assert_int_equal(loaded.ok, !landlock);
	if (landlock)
		assert_int_equal(reap_engine(e), 1);
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

	ask_engine(e, &f);
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

/* The file of that name in the engine's /proc, behind *word*: a number. */
static long long number_in(const struct engine *e, const char *name, const char *word)
{
	char path[64], text[4096] = "";
	const char *at;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) e->pid, name);
	in = fopen(path, "r");
	assert_non_null(in);
	text[fread(text, 1, sizeof(text) - 1, in)] = 0;
	fclose(in);
	at = strstr(text, word);
	assert_non_null(at);
	return strtoll(at + strlen(word), NULL, 10);
}

static void what_it_can_hold_is_bounded(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };
	const long long all = INT64_C(4) << 30;
	long long files, size;

	ask_engine(e, &f);
	files = number_in(e, "limits", "Max open files");
	size = number_in(e, "limits", "Max file size");
	assert_true(files > 0 && size > 0 && files * size <= all);
#ifndef __SANITIZE_ADDRESS__
	assert_int_equal(number_in(e, "limits", "Max address space"), all);
#endif
	assert_int_equal(number_in(e, "oom_score_adj", ""), 1000);
}

static void the_snapshot_of_a_large_cluster_has_room_where_memory_is_little(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };

	engine_option = "--memory=512";
	restart(e);
	engine_option = NULL;
	ask_engine(e, &f);
	assert_int_equal(number_in(e, "limits", "Max file size"), 64 << 20);
}

#define WITH_MODELS "local sched = require \"sched\"\n" \
	"return sched.site { default = { sched.quota { per_user = \"1000 cpu-hours\" }, \"ip_window\" } }\n"

/* Two more than the engine needs are taken, and it still does all that it does. */
static void it_has_descriptors_to_spare(void **state)
{
	struct engine *e = *state;
	uint32_t started;

	engine_occupied = 2;
	restart(e);
	engine_occupied = 0;
	for (int round = 0; round < 4; round++) {
		struct sl_frame_loaded loaded;

		write_site(e, round % 2 ? START_ALL : WITH_MODELS);
		loaded = load_site(e, e->site, snapshot_fd());
		assert_string_equal(loaded.text, "");
		assert_int_equal(loaded.ok, 1);
		decide(e, snapshot_fd(), &started);
		assert_int_equal(started, 7);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_engine, stop_engine)

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
		TEST(partitions_that_are_not_there_are_told_of_with_each_plan),
		TEST(a_syntax_error_is_refused_with_its_line_and_easy_stays),
		TEST(a_set_that_fails_on_the_clusters_snapshot_is_refused),
		TEST(a_missing_site_is_refused_and_found_later),
		TEST(a_site_others_may_write_to_is_refused),
		TEST(a_site_that_cannot_be_read_is_refused_with_what_to_do),
		TEST(no_site_means_the_bundled_easy),
		TEST(a_changed_site_decides_at_once_and_says_so_once),
		TEST(a_broken_change_is_refused_once_and_its_repair_goes_live),
		TEST(a_change_that_never_ends_is_refused_and_the_old_set_still_decides),
		TEST(the_last_good_set_outlives_the_engine),
		TEST(only_a_kept_set_that_is_whole_and_of_this_site_is_taken),
		TEST(a_snapshot_that_is_none_gets_an_answer),
		TEST(an_unsealed_snapshot_is_refused),
		TEST(it_ends_when_its_directory_is_another_one),
		TEST(it_has_given_up_its_privileges),
		TEST(what_it_can_hold_is_bounded),
		TEST(the_snapshot_of_a_large_cluster_has_room_where_memory_is_little),
		TEST(it_has_descriptors_to_spare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
