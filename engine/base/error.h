/* SPDX-License-Identifier: MIT */
/*
 * error.h - an error that is returned in one expression.
 *
 * The library never logs, exits or aborts: a function that can fail takes a
 * struct sl_error and has no side effect on failure.  Callers that do not care
 * pass NULL.  No ownership, no threads: an error is a value on a stack.
 */
#ifndef SL_ERROR_H
#define SL_ERROR_H

enum sl_errno {
	SL_OK = 0,
	SL_EINVAL,	/* what was given is wrong: the text names the place and what was expected */
	SL_ENOMEM,	/* out of memory, or over the memory limit */
	SL_EIO,		/* a file or a socket failed: the text ends with strerror() */
	SL_EFORMAT,	/* an image, a frame or a file is corrupt */
	SL_EVERSION,	/* well-formed, but of another version */
	SL_ETRUST,	/* owner or mode of a file that must be trusted */
	SL_ESCRIPT,	/* Lua: syntax error, run-time error, wrong return value */
	SL_ETIME,	/* a deadline passed */
	SL_ELIMIT,	/* a stated cap was exceeded: the text names the cap */
	SL_ENOENT,	/* no such thing */
	SL_EBUSY,	/* not free; try later */
	SL_EEFFORT,	/* more work than one request may be (base/effort.h) */
};

struct sl_error {
	enum sl_errno code;
	char text[512];
};

/* Set *err (if not NULL) and return -1. */
int sl_fail(struct sl_error *err, enum sl_errno code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "context: " before the text of *err and return -1. */
int sl_fail_in(struct sl_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
