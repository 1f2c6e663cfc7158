/* SPDX-License-Identifier: MIT */
/*
 * fake_plugin.c - a scheduler plug-in that schedules nothing: it tells the test which file
 * was called for what.  Its release is what FAKE_RELEASE says when it is opened.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

extern void fake_called(const char *file, const char *what);

extern const char plugin_name[], plugin_type[];
extern uint32_t plugin_version;
extern int init(void);
extern void fini(void);
extern int sched_p_reconfig(void);

const char plugin_name[] = "fake", plugin_type[] = "sched/fake";
uint32_t plugin_version;

__attribute__((constructor)) static void take_release(void)
{
	plugin_version = (uint32_t) strtoul(getenv("FAKE_RELEASE"), NULL, 0);
}

static void tell(const char *what)
{
	Dl_info self;

	if (dladdr(&plugin_version, &self))
		fake_called(self.dli_fname, what);
}

int init(void)
{
	tell("init");
	return getenv("FAKE_FAILS") ? -1 : 0;
}

void fini(void)
{
	tell("fini");
}

int sched_p_reconfig(void)
{
	tell("reconfigure");
	return 0;
}
