/* SPDX-License-Identifier: MIT */
/* Each test hardens a child of its own and has it try something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "harden.h"
#include "mip.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__)
#define FILTERED	/* harden.h says where there is no filter on system calls */
#endif

static const struct sl_harden usual = {
	.address_space = (size_t) 1 << 30, .file_size = 1 << 20, .files = 16,
};

/* Run *attempt* in a hardened child.  Returns its exit status, or minus the signal. */
static int hardened(int (*attempt)(void))
{
	struct sl_error err;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (sl_harden(&usual, &err)) {
			dprintf(1, "# %s\n", err.text);
			_exit(99);
		}
		_exit(attempt());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define EXPECT(n, condition) do { if (!(condition)) return (n); } while (0)

static int read_and_compute(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	char buffer[16];
	timer_t timer;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	EXPECT(1, fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0);
	close(fd);
	fd = memfd_create("plan", MFD_ALLOW_SEALING);
	EXPECT(2, fd >= 0 && write(fd, "x", 1) == 1 && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	EXPECT(3, mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
	EXPECT(4, !timer_create(CLOCK_MONOTONIC, &event, &timer));
	free(malloc(1 << 20));
	return 0;
}

#ifdef FILTERED
static int write_files(void)
{
	errno = 0;
	EXPECT(1, open("/dev/null", O_WRONLY) < 0 && errno == EPERM);
	EXPECT(2, open("./hardened", O_RDONLY | O_CREAT, 0600) < 0 && errno == EPERM);
	EXPECT(3, open("/tmp", O_TMPFILE | O_RDWR, 0600) < 0 && errno == EPERM);
	EXPECT(4, unlink("./nothing") < 0 && errno == ENOSYS);
	EXPECT(5, mkdir("./hardened", 0700) < 0 && errno == ENOSYS);
	EXPECT(6, rename("./nothing", "./hardened") < 0 && errno == ENOSYS);
	return 0;
}

static int reach_out(void)
{
	char *argv[] = { (char *) "true", NULL };

	EXPECT(1, execv("/bin/true", argv) < 0 && errno == ENOSYS);
	EXPECT(2, fork() < 0 && errno == EPERM);
	EXPECT(7, syscall(SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0) < 0 &&
	       errno == EPERM);
	EXPECT(8, syscall(SYS_clone, CLONE_PIDFD | CLONE_NEWUSER | SIGCHLD, 0, NULL, 0, 0) < 0 && errno == EPERM);
	EXPECT(9, syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS);
	EXPECT(10, syscall(SYS_pidfd_open, getppid(), 0) < 0 && errno == ENOSYS);
	EXPECT(11, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 && errno == EPERM);
	EXPECT(12, prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) < 0 && errno == EPERM);
	EXPECT(3, socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == ENOSYS);
	EXPECT(4, kill(getppid(), 0) < 0 && errno == ENOSYS);
	EXPECT(5, syscall(SYS_tgkill, getppid(), getppid(), 0) < 0 && errno == EPERM);
	EXPECT(6, syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, NULL, NULL) < 0 && errno == EPERM);
	return 0;
}
#endif

/* A knapsack, with a solver's process of its own. */
static int solve_a_program(void)
{
	const uint32_t column[] = { 0, 1, 2 };
	const double worth[] = { 10, 25, 24 }, size[] = { 2, 6, 5 };
	struct sl_mip *m = sl_mip_create(true, NULL, NULL);
	struct sl_mip_options o = { .time_limit = 60, .max_nodes = -1, .memory_mb = 512 };
	struct sl_mip_result r;
	struct sl_error err;
	int rc = 0;

	for (int i = 0; i < 3; i++)
		EXPECT(1, sl_mip_var(m, &(struct sl_mip_column) { .ub = 1, .obj = worth[i], .integer = true }, &err) == i);
	EXPECT(2, !sl_mip_add(m, &(struct sl_mip_row) { column, size, 3, -INFINITY, 7, NULL }, &err));
	EXPECT(3, !sl_mip_solve(m, &o, &r, &err));
	if (sl_mip_backend_name(0))
		rc = r.status != SL_MIP_OPTIMAL || r.objective != 34 || !r.values[0] || r.values[1];
	else
		rc = r.status != SL_MIP_NO_SOLUTION;
	if (rc)
		dprintf(1, "# %s: %s\n", sl_mip_status_word(r.status), r.message);
	sl_mip_result_clear(&r);
	sl_mip_destroy(m);
	EXPECT(4, wait(NULL) < 0 && errno == ECHILD);
	return rc ? 5 : 0;
}

static int give_up(void)
{
	abort();
}

/* The value of a field in /proc/self/status, as a number to that base. */
static unsigned long long field(const char *key, int base)
{
	char text[4096], *at;
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, base) : 12345;
}

static int look_at_privileges(void)
{
	unsigned long long capabilities = field("\nCapEff:", 16), dac_read_search = 1 << 2;

	EXPECT(1, field("\nNoNewPrivs:", 10) == 1);
	EXPECT(2, !(capabilities & ~dac_read_search));
	EXPECT(3, field("\nCapPrm:", 16) == capabilities && field("\nCapInh:", 16) == 0);
	EXPECT(4, field("\nSigBlk:", 16) == 0);
	return 0;
}

static int who_am_i(void)
{
	return geteuid() == 0 ? 1 : field("\nUid:", 10) != geteuid();
}

static void a_decision_can_do_its_work(void **state)
{
	(void) state;
	assert_int_equal(hardened(read_and_compute), 0);
}

static void a_solver_gets_a_process_of_its_own(void **state)
{
	(void) state;
	assert_int_equal(hardened(solve_a_program), 0);
}

#ifdef FILTERED
static void no_file_can_be_written_made_or_removed(void **state)
{
	(void) state;
	assert_int_equal(hardened(write_files), 0);
}

static void no_program_process_connection_or_signal_to_others(void **state)
{
	(void) state;
	assert_int_equal(hardened(reach_out), 0);
}
#endif

static void abort_still_ends_the_process(void **state)
{
	(void) state;
	assert_int_equal(hardened(give_up), -SIGABRT);
}

static void privileges_are_gone_but_for_reading(void **state)
{
	sigset_t term;

	(void) state;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &term, NULL), 0);
	assert_int_equal(hardened(look_at_privileges), 0);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &term, NULL), 0);
}

static void root_becomes_somebody_else(void **state)
{
	(void) state;
	assert_int_equal(hardened(who_am_i), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_decision_can_do_its_work),
		cmocka_unit_test(a_solver_gets_a_process_of_its_own),
#ifdef FILTERED
		cmocka_unit_test(no_file_can_be_written_made_or_removed),
		cmocka_unit_test(no_program_process_connection_or_signal_to_others),
#endif
		cmocka_unit_test(abort_still_ends_the_process),
		cmocka_unit_test(privileges_are_gone_but_for_reading),
		cmocka_unit_test(root_becomes_somebody_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
