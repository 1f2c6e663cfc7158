/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scheduler.c - see scheduler.h */
#include "plugin/host/scheduler.h"

#include <dlfcn.h>
#include <stddef.h>

#include "plugin/host/whole.h"

#define RELEASE_MASK 0xffffffu		/* as slurmctld compares them */

/* NULL with *err where it has no such name. */
static void *symbol_of(const struct sl_scheduler *s, const char *path, const char *name, struct sl_error *err)
{
	void *p = dlsym(s->handle, name);

	if (!p)
		sl_fail(err, SL_EFORMAT, "%s: no scheduler plug-in: it has no %s", path, name);
	return p;
}

int sl_scheduler_open(struct sl_scheduler *s, const char *path, int flags, struct sl_error *err)
{
	*s = (struct sl_scheduler) { 0 };
	if (sl_whole_elf(path, err))
		return -1;
	s->handle = dlopen(path, flags | RTLD_LOCAL);
	if (!s->handle)
		return sl_fail(err, SL_EFORMAT, "%s", dlerror());
	if ((s->release = symbol_of(s, path, "plugin_version", err)) && (s->init = symbol_of(s, path, "init", err)) &&
	    (s->fini = symbol_of(s, path, "fini", err)) &&
	    (s->reconfigure = symbol_of(s, path, "sched_p_reconfig", err)))
		return 0;
	sl_scheduler_close(s);
	return -1;
}

int sl_scheduler_check_release(const struct sl_scheduler *s, const char *path, uint32_t release, struct sl_error *err)
{
	uint32_t its = *s->release;

	if (!((its ^ release) & RELEASE_MASK))
		return 0;
	return sl_fail(err, SL_EVERSION, "%s: built for Slurm %u.%02u.%u", path, its >> 16 & 0xff, its >> 8 & 0xff,
		       its & 0xff);
}

void sl_scheduler_close(struct sl_scheduler *s)
{
	if (s->handle)
		dlclose(s->handle);
	*s = (struct sl_scheduler) { 0 };
}
