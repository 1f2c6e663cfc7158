/* SPDX-License-Identifier: MIT */
/*
 * call_filter.h - which system calls a process may still make (seccomp).
 *
 * Everything that is not listed "does not exist" (ENOSYS), which the C library
 * takes as a reason to do without; a listed call with other arguments is
 * refused with EPERM.  A filter is never taken back, later ones only narrow it.
 *
 * Threads: holds for the calling thread and those that it makes.  There is no
 * filter on machines other than x86-64 and arm64, nor in sanitizer builds, whose
 * run time could not live with it.
 */
#ifndef SL_CALL_FILTER_H
#define SL_CALL_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum sl_call_test {
	SL_CALL_ANY,		/* whatever its arguments */
	SL_CALL_EQUAL,		/* argument == value */
	SL_CALL_BOTH,		/* argument == value, and the next one == next */
	SL_CALL_WITHOUT,	/* none of the bits of value in the argument */
};

/* The low half of an argument is looked at. */
struct sl_call {
	uint32_t number;	/* SYS_... */
	enum sl_call_test test;
	uint32_t argument, value, next;
};

#define SL_CALL_MAX 160		/* of a filter */

/*
 * Allow these calls and no others from now on.  Calls with the same number stand
 * beside each other; one of their tests has to hold.  The process needs
 * PR_SET_NO_NEW_PRIVS.  Returns 0, also where there are no filters; -1 with *err.
 */
int sl_call_filter(const struct sl_call *call, size_t calls, struct sl_error *err);

#endif
