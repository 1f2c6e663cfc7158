/* SPDX-License-Identifier: MIT */
/*
 * Each test hardens a child of its own and has it try something.  The lines of the table in
 * doc/operating.md ("What the engine may do") are tried here: as root and as a plain user, with
 * Landlock and as in a kernel without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <asm/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/call_filter.h"
#include "process/harden.h"
#include "mip/mip.h"
#include "t/process/hardened.h"

/* -- what it needs ---------------------------------------------------------- */

static int read_and_compute(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	char path[128], buffer[16];
	timer_t timer;
	int fd;

	snprintf(path, sizeof(path), "%s/easy.lua", inside);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT(1, fd >= 0 && read(fd, buffer, sizeof(buffer)) == 0);
	close(fd);
	fd = memfd_create("plan", MFD_ALLOW_SEALING);
	EXPECT(2, fd >= 0 && write(fd, "x", 1) == 1 && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	EXPECT(3, mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
	EXPECT(4, !timer_create(CLOCK_MONOTONIC, &event, &timer));
	free(malloc(1 << 20));
	return 0;
}

/* -- memory that is in no address space ---------------------------------------- */

static int pair[2];		/* before it was hardened */

/* A memfd of as many bytes as one may have; -1 with errno. */
static int large_memfd(void)
{
	int fd = memfd_create("large", MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, usual.file_size)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int fill_with_memfds(void)
{
	unsigned open_ones = 0;
	int fd = memfd_create("larger", MFD_CLOEXEC);

	EXPECT(1, fd >= 0 && ftruncate(fd, usual.file_size + 1) < 0 && errno == EFBIG);
	EXPECT(2, lseek(fd, usual.file_size, SEEK_SET) >= 0 && write(fd, "x", 1) < 0 && errno == EFBIG);
	close(fd);
	while (large_memfd() >= 0)
		open_ones++;
	EXPECT(3, errno == EMFILE && open_ones && open_ones < usual.files);
	return 0;
}

/* Send memfds, one in a packet, for as long as the kernel takes them: nobody receives. */
static int fill_socket_with_memfds(void)
{
	union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control = { 0 };
	struct iovec one = { "x", 1 };
	struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	unsigned sent = 0;

	*c = (struct cmsghdr) { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
	for (int fd; sent < 100 * usual.files && (fd = large_memfd()) >= 0; sent++) {
		ssize_t n;

		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		n = sendmsg(pair[0], &m, MSG_DONTWAIT);
		close(fd);
		if (n < 0)
			break;
	}
	EXPECT(1, sent && sent <= usual.files + 1);
	return 0;
}

static void memfds_hold_no_more_than_descriptors_times_the_size_of_a_file(void **state)
{
	(void) state;
	everywhere(&usual, fill_with_memfds);
	for (int how = AS_ROOT; how <= AS_USER; how++) {
		int rc;

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
		rc = hardened_as(how, &usual, fill_socket_with_memfds);
		close(pair[0]);
		close(pair[1]);
		assert_int_equal(rc, 0);
	}
}

static int look_at_oom_score(void)
{
	char text[16] = "";
	int fd = openat(AT_FDCWD, "/proc/self/oom_score_adj", O_RDONLY);

	EXPECT(1, fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	EXPECT(2, atoi(text) == 1000 && holds.first);
	/* and not back again */
	EXPECT(3, sanitized || openat(AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY) < 0);
	return 0;
}

static void it_is_the_first_to_end_when_memory_runs_out(void **state)
{
	struct sl_harden h = usual;

	(void) state;
	h.paths = 0;	/* to look into /proc */
	everywhere(&h, look_at_oom_score);
}

static void a_decision_can_do_its_work(void **state)
{
	(void) state;
	everywhere(&usual, read_and_compute);
}

/* -- system calls -------------------------------------------------------------- */

/* Calls that are not there, with arguments that would do harm. */
#define NOWHERE "/nonexistent"
#define LINE(name, ...) { #name, SYS_##name, { __VA_ARGS__ } }
#define P(pointer) (long) (intptr_t) (pointer)
static int attempt_calls(void)
{
	static char *argv[] = { (char *) "true", NULL };
	static char word[16];
	static struct iovec iov = { word, sizeof(word) };
	static struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	static siginfo_t info = { .si_signo = SIGKILL, .si_code = SI_QUEUE };
	long us = getpid(), them = victim, pipe_in = 0;
	const struct { const char *name; long number, a[6]; } line[] = {
		/* signals */
		LINE(kill, them, SIGKILL), LINE(tkill, them, SIGKILL), LINE(tgkill, them, them, SIGKILL),
		LINE(rt_sigqueueinfo, them, SIGKILL, P(&info)), LINE(rt_tgsigqueueinfo, them, them, SIGKILL, P(&info)),
		{ "pidfd_open", 434, { them, 0 } }, { "pidfd_getfd", 438, { victim_proc, 3, 0 } },
		{ "pidfd_send_signal", 424, { victim_proc, SIGKILL, 0, 0 } },
		LINE(fcntl, pipe_in, F_SETOWN, them), LINE(fcntl, pipe_in, F_SETSIG, SIGKILL), LINE(fcntl, pipe_in, 15),
		LINE(fcntl, pipe_in, F_SETFL, O_ASYNC), LINE(fcntl, pipe_in, F_NOTIFY, 1), LINE(fcntl, pipe_in, F_SETLEASE, 0),
		LINE(ioctl, pipe_in, FIOASYNC, P(&us)), LINE(ioctl, pipe_in, FIOSETOWN, P(&them)),
		/* other processes */
		LINE(ptrace, PTRACE_ATTACH, them, 0, 0), LINE(process_vm_readv, them, P(&iov), 1, P(&iov), 1, 0),
		LINE(process_vm_writev, them, P(&iov), 1, P(&iov), 1, 0), { "process_madvise", 440, { victim_proc } },
		LINE(prlimit64, them, RLIMIT_NOFILE, 0, P(&unlimited)), LINE(prlimit64, 0, RLIMIT_NOFILE, P(&unlimited), 0),
		LINE(setpriority, PRIO_PROCESS, them, 19), LINE(sched_setaffinity, them, 8, P(word)), LINE(kcmp, us, them, 0, 0, 0),
		/* processes and programs of its own */
		LINE(clone, SIGCHLD, 0, 0, 0, 0), { "clone3", 435, { 0, 0 } }, LINE(clone, CLONE_PIDFD | SIGCHLD, 0, P(word), 0, 0),
		LINE(clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0),
		LINE(clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), LINE(execve, P("/bin/true"), P(argv), 0),
		LINE(execveat, AT_FDCWD, P("/bin/true"), P(argv), 0, 0), LINE(unshare, CLONE_NEWUSER), LINE(setns, victim_proc, 0),
		LINE(setpgid, 0, 0), LINE(setsid),
		/* memory that is code */
		LINE(mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		LINE(mprotect, (intptr_t) word & ~4095L, 4096, PROT_READ | PROT_EXEC), LINE(pkey_mprotect, 0, 0, PROT_EXEC, 0),
		LINE(personality, 0x0400000), LINE(shmat, 0, 0, SHM_EXEC), LINE(shmget, 0, 4096, 0600), LINE(msgget, 0, 0600),
		/* files */
		LINE(openat, AT_FDCWD, P("/dev/null"), O_WRONLY), LINE(openat, AT_FDCWD, P("/dev/null"), O_RDWR),
		LINE(openat, AT_FDCWD, P("/tmp"), O_TMPFILE | O_RDWR, 0600), { "openat2", 437, { AT_FDCWD, P(outside), 0, 0 } },
		LINE(openat, AT_FDCWD, P(NOWHERE), O_RDONLY | O_CREAT, 0600), LINE(openat, AT_FDCWD, P(outside), O_RDONLY | O_TRUNC),
		LINE(unlinkat, AT_FDCWD, P(NOWHERE), 0), LINE(mkdirat, AT_FDCWD, P(NOWHERE), 0700),
		LINE(renameat2, AT_FDCWD, P(NOWHERE), AT_FDCWD, P(NOWHERE "2"), 0), LINE(linkat, AT_FDCWD, P(outside), AT_FDCWD, P(NOWHERE), 0),
		LINE(symlinkat, P("/"), AT_FDCWD, P(NOWHERE)), LINE(fchmodat, AT_FDCWD, P(outside), 0777), LINE(fchownat, AT_FDCWD, P(outside), 0, 0, 0),
		LINE(truncate, P(outside), 0), LINE(mknodat, AT_FDCWD, P(NOWHERE), S_IFIFO | 0600, 0), LINE(utimensat, AT_FDCWD, P(outside), 0, 0),
		LINE(setxattr, P(outside), P("user.x"), P("x"), 1, 0), LINE(open_by_handle_at, AT_FDCWD, P(word), 0), LINE(chdir, P("/")),
		LINE(inotify_init1, 0), LINE(fanotify_init, 0, 0), LINE(mount, P(NOWHERE), P(NOWHERE), 0, 0, 0), LINE(chroot, P("/")),
		/* connections and the kernel's larger doors */
		LINE(socket, AF_UNIX, SOCK_STREAM, 0), LINE(socketpair, AF_UNIX, SOCK_STREAM, 0, P(word)), LINE(connect, 0, P(word), 2),
		LINE(bpf, 0, P(word), sizeof(word)), { "io_uring_setup", 425, { 1, P(word) } }, LINE(userfaultfd, 0),
		LINE(perf_event_open, P(word), 0, -1, -1, 0), LINE(keyctl, 0, 0), LINE(add_key, P("user"), P("x"), P("x"), 1, 0),
		/* what it gave up */
		LINE(setuid, 0), LINE(setresuid, 0, 0, 0), LINE(capset, P(word), P(word)), LINE(prctl, PR_SET_DUMPABLE, 1, 0, 0, 0),
		LINE(prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0), LINE(prctl, PR_SET_PTRACER, -1L, 0, 0, 0), LINE(seccomp, 1, 0, 0), LINE(dup3, 0, 1, 0),
	};

	EXPECT(SKIPPED, holds.filter);
	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		const long *a = line[i].a;

		errno = 0;
		if (syscall(line[i].number, a[0], a[1], a[2], a[3], a[4], a[5]) == -1 && errno == ENOSYS)
			continue;
		dprintf(1, "# line %zu, %s: %s\n", i, line[i].name, errno ? strerror(errno) : "was done");
		return 1;
	}
	return 0;
}

static void no_call_reaches_out(void **state)
{
	(void) state;
	everywhere(&usual, attempt_calls);
	if (!getuid()) {
		struct sl_harden h = usual;

		h.uid = h.gid = 0;	/* lua_user=root */
		assert_int_equal(hardened_as(AS_ROOT, &h, attempt_calls), sanitized ? SKIPPED : 0);
	}
	if (!sanitized)
		assert_int_equal(hardened_as(AS_ROOT, &usual, attempt_calls), 0);	/* and was not skipped */
	assert_int_equal(waitpid(victim, NULL, WNOHANG), 0);
}

/* The process that starts solvers may make plain copies of itself, and open nothing. */
static int attempt_as_solver(void)
{
	int status;
	pid_t pid;

	EXPECT(SKIPPED, holds.filter);
	EXPECT(1, open(outside, O_RDONLY) < 0 && open("/dev/null", O_RDONLY) < 0);
	EXPECT(2, kill(victim, SIGKILL) < 0 && errno == ENOSYS);
	EXPECT(3, syscall(424, victim_proc, SIGKILL, NULL, 0) < 0 && errno == ENOSYS);
	EXPECT(4, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) < 0 && errno == ENOSYS);
	EXPECT(5, fcntl(0, F_SETOWN, victim) < 0 && errno == ENOSYS);
	EXPECT(6, socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == ENOSYS);
	EXPECT(7, syscall(SYS_execve, "/bin/true", NULL, NULL) < 0 && errno == ENOSYS);
	EXPECT(8, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 && errno == ENOSYS);
	pid = (pid_t) syscall(SYS_clone, (long) SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(5);
	EXPECT(9, pid > 0 && wait4(pid, &status, 0, NULL) == pid && WEXITSTATUS(status) == 5);
	return 0;
}

static void what_starts_solvers_opens_nothing_and_signals_nobody(void **state)
{
	struct sl_harden h = usual;

	(void) state;
	h.role = SL_HARDEN_SOLVER;
	everywhere(&h, attempt_as_solver);
}

/* -- files ------------------------------------------------------------------------ */

static int open_paths(void)
{
	char mem[64];

	EXPECT(SKIPPED, holds.landlock);
	EXPECT(1, open(outside, O_RDONLY) < 0 && errno == EACCES);
	EXPECT(2, open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
	EXPECT(3, open(dir, O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES);
	snprintf(mem, sizeof(mem), "/proc/%d/mem", (int) victim);
	EXPECT(4, open(mem, O_RDONLY) < 0 && errno == EACCES);
	EXPECT(5, openat(victim_proc, "environ", O_RDONLY) < 0 && errno == EACCES);
	EXPECT(6, read_and_compute() == 0);
	return 0;
}

static void with_landlock_only_the_named_directories_are_read(void **state)
{
	int rc;

	(void) state;
	rc = hardened_as(AS_ROOT, &usual, open_paths);
	if (rc == SKIPPED)
		skip();
	assert_int_equal(rc, 0);
	assert_int_equal(hardened_as(AS_USER, &usual, open_paths), 0);
}

static bool yama;	/* this kernel lets nobody trace but parents */

/* Without it: what the user may.  The memory of a process of the same user can be read then,
 * but for where Yama is in the way. */
static int open_as_user(void)
{
	char mem[64];

	snprintf(mem, sizeof(mem), "/proc/%d/mem", (int) victim);
	EXPECT(1, holds.landlock == 0);
	EXPECT(2, open(outside, O_RDONLY) >= 0);
	EXPECT(5, getuid() != NOBODY || (open(mem, O_RDONLY) >= 0) == !yama);
	if (!geteuid() || geteuid() == holds.uid) {
		EXPECT(3, geteuid() != NOBODY || (open(secret, O_RDONLY) < 0 && errno == EACCES));
		EXPECT(4, geteuid() != NOBODY || (open("/etc/shadow", O_RDONLY) < 0 && (errno == EACCES || errno == ENOENT)));
	}
	return 0;
}

static void without_landlock_files_are_what_the_user_may_read(void **state)
{
	FILE *in = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");

	(void) state;
	yama = in && fgetc(in) > '0';
	if (in)
		fclose(in);
	if (sanitized)
		skip();
	assert_int_equal(hardened_as(AS_ROOT | NO_LANDLOCK, &usual, open_as_user), 0);
	assert_int_equal(hardened_as(AS_USER | NO_LANDLOCK, &usual, open_as_user), 0);
}

/* The keeper writes in its directory; with Landlock nowhere else. */
static int write_as_keeper(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/ledger.db", inside);
	EXPECT(1, open(path, O_RDWR | O_CREAT, 0600) >= 0);
	EXPECT(2, !unlink(path));
	if (holds.landlock) {
		EXPECT(3, open(outside, O_RDWR) < 0 && errno == EACCES);
		EXPECT(4, open("/tmp/test_harden.made", O_RDWR | O_CREAT, 0600) < 0 && errno == EACCES);
	}
	EXPECT(5, !holds.filter || (fork() < 0 && errno == ENOSYS));
	EXPECT(6, !holds.filter || (kill(victim, 0) < 0 && errno == ENOSYS));
	return 0;
}

static void the_keeper_writes_in_its_directory_only(void **state)
{
	struct sl_landlock_path path = { inside, true };
	struct sl_harden h = usual;

	(void) state;
	h.role = SL_HARDEN_KEEPER;
	h.path = &path;
	h.paths = 1;
	if (!getuid())
		assert_int_equal(chown(inside, NOBODY, NOBODY), 0);
	everywhere(&h, write_as_keeper);
	assert_int_equal(hardened_as(AS_ROOT, &h, write_as_keeper), 0);
	if (!getuid())
		assert_int_equal(chown(inside, 0, 0), 0);
}

/* -- solvers ---------------------------------------------------------------------------- */

/* A knapsack. */
static int solve(enum sl_mip_status *status)
{
	const uint32_t column[] = { 0, 1, 2 };
	const double worth[] = { 10, 25, 24 }, size[] = { 2, 6, 5 };
	struct sl_mip *m = sl_mip_create(true, NULL, NULL);
	struct sl_mip_options o = { .time_limit = 60, .clock = true, .max_nodes = -1, .memory_mb = 512 };
	struct sl_mip_result r;
	struct sl_error err;
	int rc = 0;

	for (int i = 0; i < 3; i++)
		EXPECT(1, sl_mip_var(m, &(struct sl_mip_column) { .ub = 1, .obj = worth[i], .integer = true }, &err) == i);
	EXPECT(2, !sl_mip_add(m, &(struct sl_mip_row) { column, size, 3, -INFINITY, 7, NULL }, &err));
	EXPECT(3, !sl_mip_solve(m, &o, &r, &err));
	*status = r.status;
	if (r.status == SL_MIP_OPTIMAL)
		rc = r.objective != 34 || !r.values[0] || r.values[1] ? 4 : 0;
	else
		dprintf(1, "# %s: %s\n", sl_mip_status_word(r.status), r.message);
	sl_mip_result_clear(&r);
	sl_mip_destroy(m);
	return rc;
}

static int harden_server(void *arg, struct sl_error *err)
{
	struct sl_harden h = usual;

	(void) arg;
	h.role = SL_HARDEN_SOLVER;
	return sl_harden(&h, NULL, err);
}

static int solve_hardened(void)
{
	enum sl_mip_status status;

	for (int i = 0; i < 3; i++) {
		EXPECT(10, !solve(&status));
		EXPECT(11, status == (sl_mip_backend_name(0) ? SL_MIP_OPTIMAL : SL_MIP_NO_SOLUTION));
	}
	EXPECT(12, !sl_mip_server_gone());
	return 0;
}

static int start_server(struct sl_error *err)
{
	return sl_mip_start_server(harden_server, NULL, err);
}

/* Run *then* in a child that has a server.  Its exit status. */
static int with_server(int how, bool harden, int (*then)(void))
{
	return hardened_after(how, start_server, harden ? &usual : NULL, then);
}

static void models_are_solved_by_another_process(void **state)
{
	(void) state;
	assert_int_equal(with_server(AS_ROOT, true, solve_hardened), 0);
	assert_int_equal(with_server(AS_USER, true, solve_hardened), 0);
	assert_int_equal(with_server(AS_ROOT | NO_LANDLOCK, true, solve_hardened), 0);
}

static int kill_server(void)
{
	enum sl_mip_status status;
	char text[32] = "";
	int fd = open("/proc/thread-self/children", O_RDONLY), end;

	EXPECT(SKIPPED, fd >= 0 && sl_mip_backend_name(0));
	EXPECT(1, read(fd, text, sizeof(text) - 1) > 0);
	EXPECT(2, !kill(atoi(text), SIGKILL) && wait(&end) > 0);
	EXPECT(3, !solve(&status) && status == SL_MIP_ERROR);
	EXPECT(4, sl_mip_server_gone());
	return 0;
}

static void when_that_process_is_gone_it_is_said(void **state)
{
	int rc;

	(void) state;
	rc = with_server(AS_ROOT, false, kill_server);
	if (rc == SKIPPED)
		skip();
	assert_int_equal(rc, 0);
}

/* -- what is left of its rights ------------------------------------------------------------ */

static int give_up(void)
{
	abort();
}

/* The value of a field in a /proc/PID/status, as a number to that base. */
static unsigned long long field(const char *text, const char *key, int base)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, base) : 12345;
}

static int look_at_privileges(void)
{
	char text[4096];
	int fd = openat(AT_FDCWD, "/proc/self/status", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	struct rlimit processes, core;

	text[n > 0 ? n : 0] = 0;
	EXPECT(1, field(text, "\nNoNewPrivs:", 10) == 1);
	EXPECT(2, !field(text, "\nCapEff:", 16) && !field(text, "\nCapPrm:", 16) && !field(text, "\nCapInh:", 16));
	EXPECT(3, field(text, "\nSigBlk:", 16) == 0);
	EXPECT(4, sanitized || (!getrlimit(RLIMIT_NPROC, &processes) && !processes.rlim_max));
	EXPECT(5, !getrlimit(RLIMIT_CORE, &core) && !core.rlim_max);
	EXPECT(6, geteuid() && field(text, "\nUid:", 10) == geteuid() && holds.uid == geteuid());
	return 0;
}

static void abort_still_ends_the_process(void **state)
{
	(void) state;
	assert_int_equal(hardened_as(AS_ROOT, &usual, give_up), -SIGABRT);
}

static void privileges_are_gone(void **state)
{
	struct sl_harden h = usual;
	sigset_t term;

	(void) state;
	h.paths = 0;	/* to look into /proc */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &term, NULL), 0);
	everywhere(&h, look_at_privileges);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &term, NULL), 0);
}

static void what_holds_is_told(void **state)
{
	struct sl_harden_holds h = { .uid = 12, .filter = true, .first = true, .landlock = 4 };
	char text[SL_HARDEN_TEXT];

	(void) state;
	sl_harden_say(&h, text);
	assert_string_equal(text, "uid 12, no capabilities, system calls filtered, files by Landlock 4");
	sl_harden_say(&(struct sl_harden_holds) { .uid = 4294967294u }, text);
	assert_string_equal(text, "uid 4294967294, no capabilities, system calls not filtered, files: all that this user may read, "
			    "oom_score_adj not set");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_decision_can_do_its_work),
		cmocka_unit_test(memfds_hold_no_more_than_descriptors_times_the_size_of_a_file),
		cmocka_unit_test(it_is_the_first_to_end_when_memory_runs_out),
		cmocka_unit_test(no_call_reaches_out),
		cmocka_unit_test(what_starts_solvers_opens_nothing_and_signals_nobody),
		cmocka_unit_test(with_landlock_only_the_named_directories_are_read),
		cmocka_unit_test(without_landlock_files_are_what_the_user_may_read),
		cmocka_unit_test(the_keeper_writes_in_its_directory_only),
		cmocka_unit_test(models_are_solved_by_another_process),
		cmocka_unit_test(when_that_process_is_gone_it_is_said),
		cmocka_unit_test(abort_still_ends_the_process),
		cmocka_unit_test(privileges_are_gone),
		cmocka_unit_test(what_holds_is_told),
	};

	return cmocka_run_group_tests(tests, hardened_set_up, hardened_tear_down);
}
