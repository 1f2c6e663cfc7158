/* SPDX-License-Identifier: MIT */
/*
 * engine_client.h - a real `schedlua engine`, started and asked as the plug-in does.
 *
 * Ownership: the client owns process and socket; a plan is the caller's to unmap.
 * Threads: none.
 */
#ifndef ENGINE_CLIENT_H
#define ENGINE_CLIENT_H

#include <sys/types.h>

#include "base/error.h"
#include "image/wire.h"

struct engine_client {
	pid_t pid;
	int sock;
	char dir[64];		/* of the site file; "" without one */
};

/* What one decision cost, in microseconds, and what came of it. */
struct engine_times {
	int64_t memfd, send;	/* the snapshot into a memfd; the frame sent */
	int64_t trip;		/* from the frame being sent to the answer */
	const void *plan;		/* mapped; sl_wire_unmap() it */
	size_t plan_size;
};

/*
 * Start *program* and let it load a site that is *policy* with *options*
 * ("window=500,reserved=10" or "").  Returns 0, or -1 with *err; stop it in any case.
 */
int engine_start(struct engine_client *c, const char *program, const char *policy, const char *options,
		 struct sl_error *err);

/* One decision on an image.  Returns 0, or -1 with *err: also when the policy failed. */
int engine_decide(struct engine_client *c, const void *bytes, size_t size, int64_t sequence, int64_t budget_us,
		  struct engine_times *t, struct sl_error *err);

/* The most memory that it has had, KiB, what it shares included; -1 where that is not to be had. */
long engine_peak_kib(const struct engine_client *c);

/* CPU time that it has used; -1 where that is not to be had. */
int64_t engine_cpu_us(const struct engine_client *c);

/* Say BYE, wait for the end (bounded, then SIGKILL), remove the site file. */
void engine_stop(struct engine_client *c);

#endif
