/* SPDX-License-Identifier: MIT */
#include "t/process/hardened.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

char dir[64], inside[96], outside[96], secret[96];

static struct sl_landlock_path readable[] = { { inside, false }, { "/nonexistent/policies", false } };
const struct sl_harden usual = {
	.address_space = (size_t) 1 << 30, .file_size = 1 << 20, .files = 32, .uid = NOBODY, .gid = NOBODY,
	.path = readable, .paths = 2,
};
struct sl_harden_holds holds;
pid_t victim;
int victim_proc = -1;

void forget_landlock(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), 444, 0) || seccomp_load(filter))
		_exit(98);
	seccomp_release(filter);
}

void become_user(void)
{
	if (!getuid() && (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(97);
	/* as after exec(): what a process has in /proc is its user's */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* A process of the user that a hardened one will be. */
static void start_victim(void)
{
	char path[64], ready;
	int up[2];

	assert_int_equal(pipe(up), 0);
	victim = fork();
	assert_true(victim >= 0);
	if (!victim) {
		become_user();
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (write(up[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(up[0], &ready, 1), 1);
	close(up[0]);
	close(up[1]);
	snprintf(path, sizeof(path), "/proc/%d", (int) victim);
	victim_proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(victim_proc >= 0);
}

int hardened_set_up(void **state)
{
	FILE *out;

	(void) state;
	strcpy(dir, "/tmp/test_harden.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(inside, sizeof(inside), "%s/policies", dir);
	snprintf(outside, sizeof(outside), "%s/other", dir);
	snprintf(secret, sizeof(secret), "%s/secret", dir);
	assert_int_equal(mkdir(inside, 0755) | chmod(dir, 0755), 0);
	out = fopen(outside, "w");
	assert_non_null(out);
	fclose(out);
	out = fopen(secret, "w");
	assert_non_null(out);
	fclose(out);
	assert_int_equal(chmod(outside, 0644) | chmod(secret, 0400), 0);
	strcat(inside, "/easy.lua");
	out = fopen(inside, "w");
	assert_non_null(out);
	fclose(out);
	assert_int_equal(chmod(inside, 0644), 0);
	*strrchr(inside, '/') = 0;
	start_victim();
	return 0;
}

int hardened_tear_down(void **state)
{
	char command[128];
	int status;

	(void) state;
	assert_int_equal(kill(victim, SIGKILL), 0);
	assert_int_equal(waitpid(victim, &status, 0), victim);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

int hardened_after(int how, int (*prepare)(struct sl_error *err), const struct sl_harden *h, int (*attempt)(void))
{
	struct sl_error err;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (how & AS_USER)
			become_user();
		if (how & NO_LANDLOCK)
			forget_landlock();
		if ((prepare && prepare(&err)) || (h && sl_harden(h, &holds, &err))) {
			dprintf(1, "# %s\n", err.text);
			_exit(99);
		}
		_exit(attempt());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int hardened_as(int how, const struct sl_harden *h, int (*attempt)(void))
{
	return hardened_after(how, NULL, h, attempt);
}

void everywhere(const struct sl_harden *h, int (*attempt)(void))
{
	for (int how = AS_ROOT; how <= (AS_USER | NO_LANDLOCK); how++) {
		int rc;

		if (!(how & (AS_ROOT | AS_USER)) || (how & (AS_ROOT | AS_USER)) == (AS_ROOT | AS_USER))
			continue;
		if ((rc = hardened_as(how, h, attempt)) && rc != SKIPPED)
			fail_msg("%s%s: %d", how & AS_USER ? "as a plain user" : "as root, or whoever this is",
				 how & NO_LANDLOCK ? ", without Landlock" : "", rc);
	}
}
