/* SPDX-License-Identifier: MIT */
/*
 * mip/library.c - a solver's library: opened when the first model is solved, and not
 * linked, so that programs that solve nothing need not load the dozen libraries behind it,
 * whose BLAS may start threads.
 */
#include "mip/private.h"

#include <dlfcn.h>
#include <stdlib.h>

int sl_mip_library_open(struct sl_mip_library *l, struct sl_error *err)
{
	if (l->complete)
		return 0;
	if (l->tried)
		return sl_fail(err, SL_EIO, "%s cannot be loaded", l->soname);
	l->tried = true;
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	l->handle = dlopen(l->soname, RTLD_NOW | RTLD_LOCAL);
	return l->handle ? 1 : sl_fail(err, SL_EIO, "%s", dlerror());
}

void *sl_mip_library_find(const struct sl_mip_library *l, const char *name, struct sl_error *err)
{
	void *function = dlsym(l->handle, name);

	if (!function)
		sl_fail(err, SL_EIO, "%s has no %s", l->soname, name);
	return function;
}
