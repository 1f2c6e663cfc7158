/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stock.c - see stock.h */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/host/stock.h"

struct sl_stock {
	void *object;
	int (*init)(void);
	void (*fini)(void);
	int (*reconfigure)(void);
};

/* A function of it.  (An object pointer is no function pointer in C, but is on all that Slurm runs on.) */
static void find_function(void *object, const char *name, void *function)
{
	void *at = dlsym(object, name);

	memcpy(function, &at, sizeof(at));
}

/* Is it that scheduler, for that release?  1; 0: it is ours; -1 with *err. */
static int check_stock(struct sl_stock *s, const char *path, const char *name, uint32_t release, struct sl_error *err)
{
	const char *called = dlsym(s->object, "plugin_name"), *type = dlsym(s->object, "plugin_type");
	const uint32_t *made_for = dlsym(s->object, "plugin_version");

	if (called && !strncmp(called, SL_OWN_NAME, strlen(SL_OWN_NAME)))
		return 0;
	if (!called || !type || strncmp(type, "sched/", 6) || strcmp(type + 6, name) || !made_for)
		return sl_fail(err, SL_EFORMAT, "%s: not Slurm's scheduler sched/%s", path, name);
	if (*made_for != release)
		return sl_fail(err, SL_EVERSION, "%s: made for another release of Slurm", path);
	find_function(s->object, "init", &s->init);
	find_function(s->object, "fini", &s->fini);
	find_function(s->object, "sched_p_reconfig", &s->reconfigure);
	if (!s->init || !s->fini || !s->reconfigure)
		return sl_fail(err, SL_EFORMAT, "%s: init, fini or sched_p_reconfig is missing", path);
	return 1;
}

/* 1: it runs; 0: there is none, or it is ours; -1 with *err. */
static int try_path(struct sl_stock *s, const char *path, const char *name, uint32_t release, struct sl_error *err)
{
	int rc;

	if (access(path, R_OK))
		return 0;
	if (!(s->object = dlopen(path, RTLD_LAZY | RTLD_LOCAL)))	/* as slurmctld loads its plug-ins */
		return sl_fail(err, SL_EIO, "%s", dlerror());
	rc = check_stock(s, path, name, release, err);
	if (rc > 0 && s->init())
		rc = sl_fail(err, SL_EIO, "%s: its init() fails", path);
	if (rc <= 0)
		dlclose(s->object);
	return rc;
}

struct sl_stock *sl_stock_load(const char *name, const char *dirs, uint32_t release, struct sl_error *err)
{
	struct sl_stock *s = calloc(1, sizeof(*s));
	const char *dir = dirs;
	char path[PATH_MAX];
	int rc = 0;

	if (!s) {
		sl_fail(err, SL_ENOMEM, "sched/%s: no memory", name);
		return NULL;
	}
	while (!rc && *dir) {
		size_t n = strcspn(dir, ":");

		if (snprintf(path, sizeof(path), "%.*s/sched_%s.so", (int) n, dir, name) < (int) sizeof(path))
			rc = try_path(s, path, name, release, err);
		dir += n + (dir[n] == ':');
	}
	if (rc > 0)
		return s;
	if (!rc)
		sl_fail(err, SL_ENOENT, "no sched_%s.so of Slurm's own in PluginDir (%s)", name, dirs);
	free(s);
	return NULL;
}

int sl_stock_reconfigure(const struct sl_stock *s)
{
	return s->reconfigure();
}

void sl_stock_end(struct sl_stock *s)
{
	if (!s)
		return;
	s->fini();
	dlclose(s->object);
	free(s);
}
