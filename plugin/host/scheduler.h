/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scheduler.h - a scheduler plug-in in a file, opened: ours by the loader, Slurm's own by both.
 *
 * Knows nothing of Slurm but the names that each of its scheduler plug-ins has.
 *
 * Ownership: whoever opens one closes it.  Threads: none.
 */
#ifndef SL_SCHEDULER_H
#define SL_SCHEDULER_H

#include <stdint.h>

#include "base/error.h"

struct sl_scheduler {
	void *handle;			/* NULL: none */
	const uint32_t *release;	/* that it was made for */
	int (*init)(void);
	void (*fini)(void);
	int (*reconfigure)(void);
};

/* Open it with these flags of dlopen(), and call nothing of it yet.  A file that was cut off is refused.
 * 0, or -1 with *err, which names the file; then there is nothing to close. */
int sl_scheduler_open(struct sl_scheduler *s, const char *path, int flags, struct sl_error *err);

/* Is it for that release of Slurm?  0, or -1 with *err. */
int sl_scheduler_check_release(const struct sl_scheduler *s, const char *path, uint32_t release,
			       struct sl_error *err);

/* None is fine. */
void sl_scheduler_close(struct sl_scheduler *s);

#endif
