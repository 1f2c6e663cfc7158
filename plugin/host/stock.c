/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stock.c - see stock.h */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/host/scheduler.h"
#include "plugin/host/stock.h"

struct sl_stock {
	struct sl_scheduler its;
};

/* Is it that scheduler, for that release?  1; 0: it is ours; -1 with *err. */
static int check_stock(const struct sl_stock *s, const char *path, const char *name, uint32_t release,
		       struct sl_error *err)
{
	const char *called = dlsym(s->its.handle, "plugin_name"), *type = dlsym(s->its.handle, "plugin_type");

	if (called && !strncmp(called, SL_OWN_NAME, strlen(SL_OWN_NAME)))
		return 0;
	if (!called || !type || strncmp(type, "sched/", 6) || strcmp(type + 6, name))
		return sl_fail(err, SL_EFORMAT, "%s: not Slurm's scheduler sched/%s", path, name);
	return sl_scheduler_check_release(&s->its, path, release, err) ? -1 : 1;
}

/* 1: it runs; 0: there is none, or it is ours; -1 with *err. */
static int try_path(struct sl_stock *s, const char *path, const char *name, uint32_t release, struct sl_error *err)
{
	int rc;

	if (access(path, R_OK))
		return 0;
	if (sl_scheduler_open(&s->its, path, RTLD_LAZY, err))	/* as slurmctld loads its plug-ins */
		return -1;
	rc = check_stock(s, path, name, release, err);
	if (rc > 0 && s->its.init())
		rc = sl_fail(err, SL_EIO, "%s: its init() fails", path);
	if (rc <= 0)
		sl_scheduler_close(&s->its);
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
	return s->its.reconfigure();
}

void sl_stock_end(struct sl_stock *s)
{
	if (!s)
		return;
	s->its.fini();
	sl_scheduler_close(&s->its);
	free(s);
}
