/* SPDX-License-Identifier: MIT */
/*
 * capture.h - schedlua-capture, run beside something else: whoever draws a screen does not wait for slurmctld.
 *
 * Ownership: the capture owns its process, which is ended with it.  Threads: none.
 */
#ifndef SL_TOOL_CAPTURE_H
#define SL_TOOL_CAPTURE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* *capture = {0} is one that does not run. */
struct sl_capture {
	pid_t pid;	/* 0: none runs */
	int fd;		/* where its image goes: a memfd */
};

/* Begin; one that runs goes on.  0, or -1 with *err. */
int sl_capture_begin(struct sl_capture *c, struct sl_error *err);

/*
 * Wait for it *seconds* at most.  1: it has ended, and *fd is the image, which the caller closes; 0: it still runs;
 * -1: it failed, with *err.
 */
int sl_capture_take(struct sl_capture *c, double seconds, int *fd, struct sl_error *err);

/* End it, if it runs. */
void sl_capture_end(struct sl_capture *c);

#endif
