/* SPDX-License-Identifier: MIT */
#include "harden.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "call_filter.h"

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
static int leave_root(const struct sl_harden *h, struct sl_error *err)
{
	bool keeper = h->role == SL_HARDEN_KEEPER;
	uid_t uid = keeper ? h->uid : NOBODY;
	gid_t gid = keeper ? h->gid : NOBODY;

	if (geteuid() || (keeper && !uid))
		return keep_capabilities(0, err);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return failed(err, "PR_SET_KEEPCAPS");
	if ((setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid)) &&
	    errno != EPERM && errno != EINVAL)
		return failed(err, "setresuid");
	return keep_capabilities(keeper ? 0 : 1u << CAP_DAC_READ_SEARCH, err);
}

/* -- system calls ------------------------------------------------------- */

#define CALL(name) { .number = SYS_##name }
#define CALL_IF(name, how, n, v) { .number = SYS_##name, .test = (how), .argument = (n), .value = (v) }

#ifdef __x86_64__
#define OLD_CALLS CALL(poll), CALL(select), CALL(stat), CALL(lstat), CALL(access), CALL(readlink), CALL(time),
#define OLD_WRITING_CALLS CALL(open), CALL(unlink), CALL(rename),
#else
#define OLD_CALLS
#define OLD_WRITING_CALLS
#endif

/* What any process needs that computes, reads files and has a socket. */
#define CALLS_OF_ALL \
	CALL(read), CALL(write), CALL(readv), CALL(writev), CALL(pread64), CALL(lseek), CALL(close), \
	CALL(fcntl), CALL(dup), CALL(sendmsg), CALL(recvmsg), CALL(ppoll), CALL(pselect6), CALL(fstat), \
	CALL(newfstatat), CALL(statx), CALL(faccessat), CALL(readlinkat), CALL(getdents64), CALL(getcwd), \
	CALL(memfd_create), CALL(ftruncate), CALL(mmap), CALL(munmap), CALL(mremap), CALL(mprotect), \
	CALL(madvise), CALL(brk), CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), \
	CALL(sigaltstack), CALL(restart_syscall), CALL(timer_create), CALL(timer_settime), \
	CALL(timer_gettime), CALL(timer_getoverrun), CALL(timer_delete), CALL(setitimer), \
	CALL(clock_gettime), CALL(clock_getres), CALL(clock_nanosleep), CALL(gettimeofday), CALL(times), \
	CALL(getrandom), CALL(futex), CALL(sched_yield), CALL(sched_getaffinity), CALL(sysinfo), \
	CALL(uname), CALL(getrusage), CALL(getpid), CALL(getppid), CALL(gettid), CALL(getuid), \
	CALL(geteuid), CALL(getgid), CALL(getegid), CALL(exit), CALL(exit_group), \
	OLD_CALLS

static int filter_engine(struct sl_error *err)
{
	const uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
	const struct sl_call call[] = {
		CALLS_OF_ALL
		/* open a file, but for reading only */
		CALL_IF(openat, SL_CALL_WITHOUT, 2, writing),
		/* raise a signal, but only here: abort() */
		CALL_IF(tgkill, SL_CALL_EQUAL, 0, (uint32_t) getpid()),
		/*
		 * A solver's process (mip_child.c): a copy of this one, with no flag that
		 * would share anything or make a namespace.  It is ended through its own
		 * descriptor, which clone() gave: there is no pidfd_open(), no kill().  It
		 * has limits and a filter of its own, and ends when this process does.
		 */
		CALL_IF(clone, SL_CALL_EQUAL, 0, CLONE_PIDFD | SIGCHLD),
		CALL(wait4), CALL(pidfd_send_signal),
		CALL_IF(prlimit64, SL_CALL_EQUAL, 0, 0),
		{ SYS_prctl, SL_CALL_BOTH, 0, PR_SET_PDEATHSIG, SIGKILL },
		CALL_IF(prctl, SL_CALL_EQUAL, 0, PR_SET_NO_NEW_PRIVS),
		CALL_IF(prctl, SL_CALL_EQUAL, 0, PR_SET_SECCOMP),
	};

	return sl_call_filter(call, sizeof(call) / sizeof(call[0]), err) ? sl_fail_in(err, "engine") : 0;
}

/* The ledger's keeper: a database in files.  It starts nothing. */
static int filter_keeper(struct sl_error *err)
{
	const struct sl_call call[] = {
		CALLS_OF_ALL
		OLD_WRITING_CALLS
		CALL(openat), CALL(pwrite64), CALL(fsync), CALL(fdatasync), CALL(unlinkat), CALL(renameat),
		CALL(renameat2), CALL(fchmod), CALL(fchown), CALL(fstatfs), CALL(flock),
		CALL_IF(tgkill, SL_CALL_EQUAL, 0, (uint32_t) getpid()),
	};

	return sl_call_filter(call, sizeof(call) / sizeof(call[0]), err) ? sl_fail_in(err, "ledger keeper") : 0;
}

int sl_harden(const struct sl_harden *h, struct sl_error *err)
{
	reset_signals();
	if (limit(RLIMIT_CORE, 0, "RLIMIT_CORE", err) || limit(RLIMIT_NOFILE, h->files, "RLIMIT_NOFILE", err) ||
	    (h->role != SL_HARDEN_KEEPER && limit(RLIMIT_FSIZE, h->file_size, "RLIMIT_FSIZE", err)))
		return -1;
	/* a limit on files that somebody else set is an error to tell, not an end */
	if (h->role == SL_HARDEN_KEEPER)
		signal(SIGXFSZ, SIG_IGN);
	if (!sanitized && limit(RLIMIT_AS, h->address_space, "RLIMIT_AS", err))
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return failed(err, "PR_SET_NO_NEW_PRIVS");
	/* these two are undone by a change of user: after it */
	if (leave_root(h, err))
		return -1;
	if (!sanitized && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return failed(err, "PR_SET_DUMPABLE");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return failed(err, "PR_SET_PDEATHSIG");
	if (sanitized)
		return 0;
	return h->role == SL_HARDEN_KEEPER ? filter_keeper(err) : filter_engine(err);
}
