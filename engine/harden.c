/* SPDX-License-Identifier: MIT */
#include "harden.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

#define NOBODY 65534

static int failed(struct sl_error *err, const char *what)
{
	return sl_fail(err, SL_EIO, "engine: %s: %s", what, strerror(errno));
}

/* slurmctld blocks and handles signals; a child inherits the mask. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int limit(int resource, size_t value, const char *what, struct sl_error *err)
{
	struct rlimit r = { value, value }, old;

	if (getrlimit(resource, &old))
		return failed(err, what);
	if (old.rlim_max != RLIM_INFINITY && old.rlim_max < r.rlim_max)
		r.rlim_cur = r.rlim_max = old.rlim_max;
	return setrlimit(resource, &r) ? failed(err, what) : 0;
}

/* Keep the capabilities in *keep* (a mask of the first 32), lose all others. */
static int keep_capabilities(uint32_t keep, struct sl_error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return failed(err, "capget");
	data[0].effective = data[0].permitted = data[0].permitted & keep;
	data[1].effective = data[1].permitted = 0;
	data[0].inheritable = data[1].inheritable = 0;
	return syscall(SYS_capset, &header, data) ? failed(err, "capset") : 0;
}

/*
 * A process of user 0 may write what root owns even without capabilities, so
 * it has to be somebody else.  Where that is not possible (a container without
 * the capability, a user namespace without "nobody"), losing the capabilities
 * must do.
 */
static int leave_root(struct sl_error *err)
{
	if (geteuid())
		return keep_capabilities(0, err);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return failed(err, "PR_SET_KEEPCAPS");
	if ((setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)) &&
	    errno != EPERM && errno != EINVAL)
		return failed(err, "setresuid");
	return keep_capabilities(1u << CAP_DAC_READ_SEARCH, err);
}

/* -- system calls ------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
/* What a decision needs.  Everything else "does not exist" (ENOSYS), which the
 * C library takes as a reason to do without. */
static const unsigned allowed[] = {
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_lseek, SYS_close, SYS_fcntl, SYS_dup,
	SYS_sendmsg, SYS_recvmsg, SYS_ppoll, SYS_pselect6,
	SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_getdents64, SYS_getcwd,
	SYS_memfd_create, SYS_ftruncate, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_restart_syscall,
	SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete,
	SYS_setitimer, SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_gettimeofday, SYS_times,
	SYS_getrandom, SYS_futex, SYS_sched_yield, SYS_sched_getaffinity, SYS_sysinfo, SYS_uname, SYS_getrusage,
	SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
	SYS_exit, SYS_exit_group,
#ifdef __x86_64__
	SYS_poll, SYS_select, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_time,
#endif
};
#define ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t) offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(n) LOAD(args[n])	/* its low half: little-endian machines only */
#define UNLESS_EQUAL(k, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), 0, (skip))
#define SAY(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE(e) (SECCOMP_RET_ERRNO | (e))

static int filter_calls(struct sl_error *err)
{
	const uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
	const struct sock_filter head[] = {
		LOAD(arch),
		UNLESS_EQUAL(ARCHITECTURE, 1),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1),	/* another ABI of x86-64 */
		SAY(REFUSE(ENOSYS)),
		/* open a file, but for reading only */
		UNLESS_EQUAL(SYS_openat, 4),
		LOAD_ARGUMENT(2),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, writing, 0, 1),
		SAY(REFUSE(EPERM)),
		SAY(SECCOMP_RET_ALLOW),
		/* raise a signal, but only here: abort() */
		UNLESS_EQUAL(SYS_tgkill, 4),
		LOAD_ARGUMENT(0),
		UNLESS_EQUAL((uint32_t) getpid(), 1),
		SAY(SECCOMP_RET_ALLOW),
		SAY(REFUSE(EPERM)),
	};
	struct sock_filter code[sizeof(head) / sizeof(head[0]) + 2 * ALLOWED + 1];
	struct sock_fprog program = { .filter = code };
	size_t n = sizeof(head) / sizeof(head[0]);

	memcpy(code, head, sizeof(head));
	for (size_t i = 0; i < ALLOWED; i++) {
		code[n++] = (struct sock_filter) UNLESS_EQUAL(allowed[i], 1);
		code[n++] = (struct sock_filter) SAY(SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter) SAY(REFUSE(ENOSYS));
	program.len = (unsigned short) n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) && errno != EINVAL)
		return failed(err, "PR_SET_SECCOMP");
	return 0;
}
#else
static int filter_calls(struct sl_error *err)
{
	(void) err;
	return 0;
}
#endif

int sl_harden(const struct sl_harden *h, struct sl_error *err)
{
	reset_signals();
	if (limit(RLIMIT_CORE, 0, "RLIMIT_CORE", err) || limit(RLIMIT_NOFILE, h->files, "RLIMIT_NOFILE", err) ||
	    limit(RLIMIT_FSIZE, h->file_size, "RLIMIT_FSIZE", err))
		return -1;
	if (!sanitized && limit(RLIMIT_AS, h->address_space, "RLIMIT_AS", err))
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return failed(err, "PR_SET_NO_NEW_PRIVS");
	/* these two are undone by a change of user: after it */
	if (leave_root(err))
		return -1;
	if (!sanitized && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return failed(err, "PR_SET_DUMPABLE");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return failed(err, "PR_SET_PDEATHSIG");
	return sanitized ? 0 : filter_calls(err);
}
