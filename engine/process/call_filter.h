/* SPDX-License-Identifier: MIT */
/*
 * call_filter.h - which system calls a process may still make (seccomp, by libseccomp).
 *
 * A list of what is allowed.  Everything else, and a listed call with other arguments,
 * "does not exist" (ENOSYS), which the C library takes as a reason to do without.
 * A filter is never taken back, later ones only narrow it.
 *
 * Threads: holds for the calling thread and those that it makes.
 */
#ifndef SL_CALL_FILTER_H
#define SL_CALL_FILTER_H

#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct sl_call {
	int number;			/* SCMP_SYS(name); one that this machine lacks is left out */
	unsigned tests;			/* of its arguments: all have to hold; 0: whatever they are */
	struct scmp_arg_cmp test[2];
};

/* Lines of a list: a call, a call whose argument n is v, has no bit of v, and two such tests. */
#define SL_IS(n, v) SCMP_CMP64(n, SCMP_CMP_EQ, (uint64_t) (v), 0)
#define SL_WITHOUT(n, v) SCMP_CMP64(n, SCMP_CMP_MASKED_EQ, (uint64_t) (v), 0)
#define SL_CALL(name) { .number = SCMP_SYS(name) }
#define SL_CALL_IF(name, a) { SCMP_SYS(name), 1, { a } }
#define SL_CALL_BOTH(name, a, b) { SCMP_SYS(name), 2, { a, b } }

/* Memory, none of which will ever be code. */
#define SL_CALLS_MEMORY \
	SL_CALL_IF(mmap, SL_WITHOUT(2, PROT_EXEC)), SL_CALL_IF(mprotect, SL_WITHOUT(2, PROT_EXEC)), \
	SL_CALL(munmap), SL_CALL(mremap), SL_CALL(madvise), SL_CALL(brk), SL_CALL(futex)

/* Clocks, signals to oneself, an end. */
#define SL_CALLS_SELF \
	SL_CALL(clock_gettime), SL_CALL(clock_getres), SL_CALL(clock_nanosleep), SL_CALL(gettimeofday), \
	SL_CALL(time), SL_CALL(times), SL_CALL(getrusage), SL_CALL(sysinfo), SL_CALL(uname), SL_CALL(getrandom), \
	SL_CALL(sched_yield), SL_CALL(rt_sigaction), SL_CALL(rt_sigprocmask), SL_CALL(rt_sigreturn), \
	SL_CALL(sigaltstack), SL_CALL(restart_syscall), SL_CALL(getpid), SL_CALL(gettid), SL_CALL(getppid), \
	SL_CALL(getcwd), SL_CALL(exit), SL_CALL(exit_group), SL_CALL_IF(tgkill, SL_IS(0, getpid()))

/*
 * Allow these calls and no others from now on.  The process gets PR_SET_NO_NEW_PRIVS with it.
 * Returns 1; 0 where there are none: a kernel without, and sanitizer builds, whose run time could
 * not live with one; -1 with *err.
 */
int sl_call_filter(const struct sl_call *call, size_t calls, struct sl_error *err);

#endif
