/* SPDX-License-Identifier: MIT */
#include "process/harden.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/seccomp.h>

#include "process/call_filter.h"

/* The sanitizers map terabytes, call what they like, and look for leaks from a process of their
 * own that traces this one. */
#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static int fail_errno(struct sl_error *err, const char *what)
{
	return sl_fail(err, SL_EIO, "engine: %s: %s", what, strerror(errno));
}

void sl_reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_limit(int resource, size_t value, const char *what, struct sl_error *err)
{
	struct rlimit r = { value, value }, old;

	if (getrlimit(resource, &old))
		return fail_errno(err, what);
	if (old.rlim_max != RLIM_INFINITY && old.rlim_max < r.rlim_max)
		r.rlim_cur = r.rlim_max = old.rlim_max;
	return setrlimit(resource, &r) ? fail_errno(err, what) : 0;
}

static int drop_capabilities(struct sl_error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return syscall(SYS_capset, &header, none) ? fail_errno(err, "capset") : 0;
}

/*
 * A process of user 0 may write what root owns even without capabilities, so
 * it has to be somebody else.  Where that is not possible (a container without
 * the capability, a user namespace without that user), losing the capabilities
 * must do, unless somebody has asked for the user.
 */
static int leave_root(const struct sl_harden *h, struct sl_error *err)
{
	if (!geteuid() && h->uid &&
	    (setgroups(0, NULL) || setresgid(h->gid, h->gid, h->gid) || setresuid(h->uid, h->uid, h->uid)) &&
	    (h->must || (errno != EPERM && errno != EINVAL)))
		return sl_fail(err, SL_EIO, "engine: cannot become uid %u: %s", h->uid, strerror(errno));
	return drop_capabilities(err);
}

/* -- system calls ------------------------------------------------------- */

/* Packets, memfds and what is open; the first descriptor's flags and seals. */
#define CALLS_OF_DESCRIPTORS \
	SL_CALL(read), SL_CALL(write), SL_CALL(readv), SL_CALL(writev), SL_CALL(pread64), SL_CALL(lseek), \
	SL_CALL(close), SL_CALL(sendmsg), SL_CALL(recvmsg), SL_CALL(poll), SL_CALL(ppoll), SL_CALL(fstat), \
	SL_CALL_IF(newfstatat, SL_IS(3, AT_EMPTY_PATH)), \
	SL_CALL(memfd_create), SL_CALL(ftruncate), \
	SL_CALL_IF(fcntl, SL_IS(1, F_GETFD)), SL_CALL_IF(fcntl, SL_IS(1, F_SETFD)), \
	SL_CALL_IF(fcntl, SL_IS(1, F_GETFL)), SL_CALL_IF(fcntl, SL_IS(1, F_DUPFD_CLOEXEC)), \
	SL_CALL_IF(fcntl, SL_IS(1, F_ADD_SEALS)), SL_CALL_IF(fcntl, SL_IS(1, F_GET_SEALS))

/* What files there are. */
#define CALLS_OF_PATHS \
	SL_CALL(newfstatat), SL_CALL(statx), SL_CALL(stat), SL_CALL(lstat), SL_CALL(faccessat), SL_CALL(access), \
	SL_CALL(readlinkat), SL_CALL(readlink), SL_CALL(getdents64)

#define CALLS_OF_TIMERS \
	SL_CALL(timer_create), SL_CALL(timer_settime), SL_CALL(timer_gettime), SL_CALL(timer_getoverrun), \
	SL_CALL(timer_delete), SL_CALL(setitimer)

/* One's own limits, to read. */
#define CALLS_OF_LIMITS SL_CALL_BOTH(prlimit64, SL_IS(0, 0), SL_IS(2, 0))

#define FILTER(call, err) sl_call_filter(call, sizeof(call) / sizeof(call[0]), err)

static int filter_engine(struct sl_error *err)
{
	const uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
	const struct sl_call call[] = {
		SL_CALLS_MEMORY, SL_CALLS_SELF, CALLS_OF_DESCRIPTORS, CALLS_OF_PATHS, CALLS_OF_TIMERS, CALLS_OF_LIMITS,
		SL_CALL(getuid), SL_CALL(geteuid), SL_CALL(getgid), SL_CALL(getegid),
		SL_CALL_IF(openat, SL_WITHOUT(2, writing)),
	};

	return FILTER(call, err);
}

/*
 * The process that starts solvers: a plain copy of this one, with no flag that would share
 * anything or make a namespace.  What the copy does to itself before it solves is allowed here.
 */
static int filter_solver(struct sl_error *err)
{
	const struct sl_call call[] = {
		SL_CALLS_MEMORY, SL_CALLS_SELF, CALLS_OF_DESCRIPTORS, CALLS_OF_TIMERS,
		SL_CALL_IF(clone, SL_IS(0, SIGCHLD)), SL_CALL(wait4), SL_CALL(close_range),
		SL_CALL_IF(prlimit64, SL_IS(0, 0)),
		SL_CALL_BOTH(prctl, SL_IS(0, PR_SET_PDEATHSIG), SL_IS(1, SIGKILL)),
		SL_CALL_IF(prctl, SL_IS(0, PR_SET_NO_NEW_PRIVS)), SL_CALL_IF(prctl, SL_IS(0, PR_SET_SECCOMP)),
		SL_CALL_IF(prctl, SL_IS(0, PR_GET_SECCOMP)),
		SL_CALL_IF(seccomp, SL_IS(0, SECCOMP_SET_MODE_FILTER)),
		SL_CALL_IF(seccomp, SL_IS(0, SECCOMP_GET_ACTION_AVAIL)),
	};

	return FILTER(call, err);
}

/* The ledger's keeper: a database in files.  It starts nothing. */
static int filter_keeper(struct sl_error *err)
{
	const struct sl_call call[] = {
		SL_CALLS_MEMORY, SL_CALLS_SELF, CALLS_OF_DESCRIPTORS, CALLS_OF_PATHS, CALLS_OF_TIMERS, CALLS_OF_LIMITS,
		SL_CALL(getuid), SL_CALL(geteuid), SL_CALL(getgid), SL_CALL(getegid),
		SL_CALL(openat), SL_CALL(open), SL_CALL(pwrite64), SL_CALL(fsync), SL_CALL(fdatasync),
		SL_CALL(unlink), SL_CALL(unlinkat), SL_CALL(rename), SL_CALL(renameat), SL_CALL(renameat2),
		SL_CALL(fchmod), SL_CALL(fchown), SL_CALL(fstatfs),
		SL_CALL_IF(fcntl, SL_IS(1, F_GETLK)), SL_CALL_IF(fcntl, SL_IS(1, F_SETLK)),
		SL_CALL_IF(fcntl, SL_IS(1, F_SETLKW)), SL_CALL_IF(fcntl, SL_IS(1, F_DUPFD)),
	};

	return FILTER(call, err);
}

static int filter_role(enum sl_harden_role role, struct sl_error *err)
{
	switch (role) {
	case SL_HARDEN_ENGINE:
		return filter_engine(err);
	case SL_HARDEN_SOLVER:
		return filter_solver(err);
	case SL_HARDEN_KEEPER:
		return filter_keeper(err);
	default:
		return 0;
	}
}

/*
 * Become the process that the kernel ends first when memory runs out.  Pages of memfds that are not
 * mapped count for nobody, so that the kernel would find slurmctld the larger one.  Anybody may
 * raise his own score; to lower it again takes a capability.  True if it is so.
 */
static bool go_first(void)
{
	static const char most[] = "1000";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, most, sizeof(most) - 1) == sizeof(most) - 1;

	if (fd >= 0)
		close(fd);
	return done;
}

/* -- all of it ------------------------------------------------------------ */

static int set_limits(const struct sl_harden *h, struct sl_error *err)
{
	bool writes = h->role == SL_HARDEN_KEEPER || h->role == SL_HARDEN_WATCH;

	if (set_limit(RLIMIT_CORE, 0, "RLIMIT_CORE", err) || set_limit(RLIMIT_NOFILE, h->files, "RLIMIT_NOFILE", err) ||
	    (!writes && set_limit(RLIMIT_FSIZE, h->file_size, "RLIMIT_FSIZE", err)))
		return -1;
	/* an error to tell, not an end */
	signal(SIGXFSZ, SIG_IGN);
	return sanitized ? 0 : set_limit(RLIMIT_AS, h->address_space, "RLIMIT_AS", err);
}

/* Files and system calls, once everything else is as it shall be. */
static int confine_process(const struct sl_harden *h, struct sl_harden_holds *holds, struct sl_error *err)
{
	bool starts = h->role == SL_HARDEN_SOLVER || h->role == SL_HARDEN_WATCH;
	int rc;

	if (sanitized)
		return 0;
	if (!starts && set_limit(RLIMIT_NPROC, 0, "RLIMIT_NPROC", err))
		return -1;
	if (h->role == SL_HARDEN_WATCH)
		return 0;
	if (h->paths || h->role == SL_HARDEN_SOLVER) {
		if ((holds->landlock = sl_landlock(h->path, h->paths, err)) < 0)
			return sl_fail_in(err, "engine");
	}
	if ((rc = filter_role(h->role, err)) < 0)
		return sl_fail_in(err, "engine");
	holds->filter = rc > 0;
	return 0;
}

int sl_harden(const struct sl_harden *h, struct sl_harden_holds *holds, struct sl_error *err)
{
	struct sl_harden_holds mine = { 0 };

	sl_reset_signals();
	mine.first = go_first();
	if (set_limits(h, err))
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fail_errno(err, "PR_SET_NO_NEW_PRIVS");
	/* the next two are undone by a change of user: after it */
	if (leave_root(h, err))
		return -1;
	if (prctl(PR_SET_DUMPABLE, sanitized, 0, 0, 0))
		return fail_errno(err, "PR_SET_DUMPABLE");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return fail_errno(err, "PR_SET_PDEATHSIG");
	mine.uid = geteuid();
	if (confine_process(h, &mine, err))
		return -1;
	if (holds)
		*holds = mine;
	return 0;
}

void sl_harden_say(const struct sl_harden_holds *holds, char text[SL_HARDEN_TEXT])
{
	char files[48] = "files: all that this user may read";

	if (holds->landlock)
		snprintf(files, sizeof(files), "files by Landlock %d", holds->landlock);
	snprintf(text, SL_HARDEN_TEXT, "uid %u, no capabilities, system calls %s, %s%s", holds->uid,
		 holds->filter ? "filtered" : "not filtered", files,
		 holds->first ? "" : ", oom_score_adj not set");
}
