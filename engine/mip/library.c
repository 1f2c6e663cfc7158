/* SPDX-License-Identifier: MIT */
/* mip/library.c - loads a solver's library when the first model is solved.  It is not linked: otherwise every program
 * would load the dozen libraries behind it, whose BLAS may start threads. */
#include "mip/private.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int sl_mip_library_load(struct sl_mip_library *l, struct sl_error *err)
{
	void *handle;

	if (l->complete)
		return 0;
	if (l->tried)
		return sl_fail(err, SL_EIO, "%s cannot be loaded", l->soname);
	l->tried = true;
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	handle = dlopen(l->soname, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return sl_fail(err, SL_EIO, "%s", dlerror());
	for (const struct sl_mip_function *f = l->function; f->name; f++) {
		void *found = dlsym(handle, f->name);

		if (!found)
			return sl_fail(err, SL_EIO, "%s has no %s", l->soname, f->name);
		memcpy(f->pointer, &found, sizeof(found));
	}
	l->complete = true;
	return 0;
}
