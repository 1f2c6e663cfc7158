/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loader.c - the plug-in that slurmctld loads, whatever its release: it opens the real one,
 * or Slurm's own backfill where there is none to be used.
 *
 * A scheduler plug-in that does not load ends slurmctld, and one that was built for another
 * release does not load.  This one needs nothing of a release: no header, no record.  What it
 * asks of slurmctld are three names that have been the same from 22.05 on; all of them may be
 * missing.  Its plugin_version is written when it is opened, before slurmctld compares it.
 *
 * Threads: slurmctld calls init, fini and sched_p_reconfig one at a time.
 */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/state_file.h"
#include "image/fence.h"
#include "plugin/host/scheduler.h"
#include "plugin/host/status.h"

#ifndef SL_PLUGIN_TYPE
#define SL_PLUGIN_TYPE "sched/lua"
#endif
#define SL_EXPORT __attribute__((visibility("default")))

SL_EXPORT extern const char plugin_name[], plugin_type[];
SL_EXPORT extern uint32_t plugin_version;
SL_EXPORT extern const int schedlua_loader;
SL_EXPORT extern int init(void);
SL_EXPORT extern void fini(void);
SL_EXPORT extern int sched_p_reconfig(void);

const char plugin_name[] = "Lua policy scheduler (loader)";
const char plugin_type[] = SL_PLUGIN_TYPE;
uint32_t plugin_version;
const int schedlua_loader = 1;		/* a loader is not to open a loader */

/* slurmctld's. */
extern int slurm_error(const char *fmt, ...) __attribute__((weak, format(printf, 1, 2)));
extern void slurm_print_ctl_conf(FILE *out, void *conf) __attribute__((weak));
extern char slurm_conf[] __attribute__((weak));

#define RELEASE_FORMAT "%u.%02u.%u"
#define RELEASE_ARGS plugin_version >> 16 & 0xff, plugin_version >> 8 & 0xff, plugin_version & 0xff

static struct sl_scheduler hosted;	/* the plug-in that schedules */
static char trouble[1400];		/* what was said when no policy decides, else empty */

/* The release that an object has which slurmctld loaded as a plug-in, and found to be its own; else 0. */
static uint32_t release_of(const struct link_map *object)
{
	void *h = *object->l_name ? dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	const uint32_t *version = h ? dlsym(h, "plugin_version") : NULL;
	const char *type = h ? dlsym(h, "plugin_type") : NULL;
	uint32_t release = 0;

	if (version && version != &plugin_version && type && strcmp(type, "spank"))
		release = *version;
	if (h)
		dlclose(h);
	return release;
}

/* slurmctld has loaded others before: auth, cred, select. */
__attribute__((constructor)) static void take_release(void)
{
	struct link_map *object = NULL;
	void *self = dlopen(NULL, RTLD_LAZY);

	if (self && !dlinfo(self, RTLD_DI_LINKMAP, &object))
		for (; object && !plugin_version; object = object->l_next)
			plugin_version = release_of(object);
	if (self)
		dlclose(self);
}

/* Open a plug-in of the running release, and call nothing of it yet.  0, or -1 with *err. */
static int open_hosted(struct sl_scheduler *h, const char *path, int flags, struct sl_error *err)
{
	if (sl_scheduler_open(h, path, flags, err))
		return -1;
	if (dlsym(h->handle, "schedlua_loader"))
		sl_fail(err, SL_EFORMAT, "%s: a loader, expected what it loads", path);
	else if (!sl_scheduler_check_release(h, path, plugin_version, err))
		return 0;
	sl_scheduler_close(h);
	return -1;
}

/* -- the real one ---------------------------------------------------------- */

/* What there is for other releases: " (there is 22.05.8 24.11.5)". */
static void tell_others(const char *dir, char *text, size_t size)
{
	char pattern[PATH_MAX];
	glob_t found;
	size_t used = 0;

	*text = '\0';
	snprintf(pattern, sizeof(pattern), "%s/sched_lua-*.so", dir);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc && used < size; i++) {
		const char *release = strrchr(found.gl_pathv[i], '/') + strlen("/sched_lua-");

		used += (size_t) snprintf(text + used, size - used, "%s %.*s", i ? "" : "; there is",
					  (int) (strlen(release) - strlen(".so")), release);
	}
	globfree(&found);
}

/* Beside this file, in schedlua/; or here, when this is the file in schedlua/ that has Slurm's name. */
static int open_real(struct sl_scheduler *h, struct sl_error *err)
{
	char dir[PATH_MAX], path[PATH_MAX + 64], others[160];
	Dl_info self;
	size_t n;

	if (!dladdr(&plugin_version, &self) || strlen(self.dli_fname) + sizeof("/schedlua") > sizeof(dir))
		return sl_fail(err, SL_EINVAL, "the loader's own directory cannot be told");
	strcpy(dir, self.dli_fname);
	n = strrchr(dir, '/') ? (size_t) (strrchr(dir, '/') - dir) : 0;
	dir[n] = '\0';
	if (n < strlen("/schedlua") || strcmp(dir + n - strlen("/schedlua"), "/schedlua"))
		strcpy(dir + n, "/schedlua");
	snprintf(path, sizeof(path), "%s/sched_lua-" RELEASE_FORMAT ".so", dir, RELEASE_ARGS);
	if (access(path, F_OK) && errno == ENOENT) {
		tell_others(dir, others, sizeof(others));
		return sl_fail(err, SL_ENOENT, "there is no %s%s", path, others);
	}
	return open_hosted(h, path, RTLD_NOW, err);
}

/* -- who stands in --------------------------------------------------------- */

/* slurmctld's configuration, as `scontrol show config` prints it; NULL: cannot be had. */
static char *print_conf(void)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!slurm_print_ctl_conf || !slurm_conf || !(out = open_memstream(&text, &size)))
		return NULL;
	slurm_print_ctl_conf(out, slurm_conf);
	fclose(out);
	return text;
}

/* The value of *key* in it, copied; *value* is empty where there is none. */
static void read_conf(const char *conf, const char *key, char *value, size_t size)
{
	size_t n = strlen(key);

	*value = '\0';
	for (const char *line = conf; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		const char *at = line + n;

		if (strncmp(line, key, n) || (*at != ' ' && *at != '='))
			continue;
		at += strspn(at, " =");
		snprintf(value, size, "%.*s", (int) strcspn(at, "\n"), at);
		return;
	}
}

/* Partitions that are to be held while nobody can ask the site's policies.  What cannot be read is a
 * reason to hold. */
static bool wants_hold(const char *dir, char text[SL_FENCE_TEXT])
{
	char path[PATH_MAX], *bytes;
	struct sl_fence hold;
	bool wants = true;
	size_t size;
	int found;

	strcpy(text, "all");
	if (snprintf(path, sizeof(path), "%s/last-good.hold", dir) >= (int) sizeof(path))
		return true;
	found = sl_state_read(path, SL_FENCE_TEXT, &bytes, &size, NULL, NULL);
	if (found <= 0)
		return found < 0;
	if (!sl_fence_parse(&hold, bytes, size, NULL)) {
		wants = sl_fence_any(&hold);
		sl_fence_text(&hold, text);
	}
	free(bytes);
	return wants;
}

/* Slurm's own, from where slurmctld looks for plug-ins. */
static int open_stock(struct sl_scheduler *h, const char *name, char *dirs, struct sl_error *err)
{
	char path[PATH_MAX], *next = NULL;

	sl_fail(err, SL_ENOENT, "there is no sched_%s.so in PluginDir", name);
	for (char *dir = strtok_r(dirs, ":", &next); dir; dir = strtok_r(NULL, ":", &next))
		if (snprintf(path, sizeof(path), "%s/sched_%s.so", dir, name) < (int) sizeof(path) &&
		    !access(path, F_OK) && !open_hosted(h, path, RTLD_LAZY, err))
			return 0;
	return -1;
}

static void write_status(const char *dir, enum sl_source source, const char *policy)
{
	char release[32];
	struct sl_status s = { .version = SCHEDLUA_VERSION, .slurm_version = release, .pid = getpid(),
			       .started = time(NULL), .written = time(NULL), .source = source };
	struct sl_error err;

	snprintf(release, sizeof(release), RELEASE_FORMAT, RELEASE_ARGS);
	snprintf(s.policy, sizeof(s.policy), "%s", policy);
	snprintf(s.idle_why, sizeof(s.idle_why), "%.*s", (int) sizeof(s.idle_why) - 1, trouble);
	sl_status_error(&s, trouble);
	if ((mkdir(dir, 0755) && errno != EEXIST) || sl_status_write(&s, dir, &err))
		slurm_error("sched/lua: %s: no status can be written there", dir);
}

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* In the log, and in the status. */
static void say(const char *fmt, ...)
{
	size_t used = strlen(trouble);
	va_list args;

	va_start(args, fmt);
	vsnprintf(trouble + used, sizeof(trouble) - used, fmt, args);
	va_end(args);
}

/*
 * There is no plug-in to be used, and *why*: let Slurm's backfill schedule, or nobody.  In shadow mode
 * Slurm's own decides anyway, and nothing that policies want is held.
 */
static void stand_in(const char *why)
{
	char params[4 * PATH_MAX], *shadow;
	const char *stock = "backfill";
	char policy[32];
	char state[PATH_MAX], dir[PATH_MAX + 16], dirs[4 * PATH_MAX], held[SL_FENCE_TEXT];
	char *conf = print_conf();
	enum sl_source source = SL_SOURCE_IDLE;
	struct sl_error err;

	read_conf(conf, "StateSaveLocation", state, sizeof(state));
	read_conf(conf, "PluginDir", dirs, sizeof(dirs));
	read_conf(conf, "SchedulerParameters", params, sizeof(params));
	if ((shadow = strstr(params, "lua_shadow")) && !strncmp(shadow, "lua_shadow=builtin", strlen("lua_shadow=builtin")))
		stock = "builtin";
	snprintf(policy, sizeof(policy), "sched/%s", stock);
	free(conf);
	snprintf(dir, sizeof(dir), "%s/schedlua", state);
	say("no policy decides on Slurm " RELEASE_FORMAT ": %s; ", RELEASE_ARGS, why);
	if (!*state)
		say("nothing is started, as slurmctld's configuration cannot be read");
	else if (!shadow && wants_hold(dir, held))
		say("nothing is started, as %.400s is to be held then (%s/last-good.hold)", held, dir);
	else if (open_stock(&hosted, stock, dirs, &err))
		say("nothing is started: %s", err.text);
	else {
		say("Slurm's own %s schedules", stock);
		source = SL_SOURCE_STOCK;
	}
	slurm_error("sched/lua: %s.  Install the plug-in for this release and restart slurmctld", trouble);
	if (*state)
		write_status(dir, source, hosted.handle ? policy : "none");
}

/* -- what slurmctld calls --------------------------------------------------- */

int init(void)
{
	struct sl_error err;

	trouble[0] = '\0';
	if (!slurm_error)
		return -1;	/* no slurmctld: nothing could be said */
	if (open_real(&hosted, &err))
		stand_in(err.text);
	if (hosted.handle && hosted.init()) {
		slurm_error("sched/lua: the plug-in that the loader opened does not begin: nothing is started");
		sl_scheduler_close(&hosted);
	}
	return 0;
}

void fini(void)
{
	if (hosted.handle)
		hosted.fini();
	sl_scheduler_close(&hosted);
}

int sched_p_reconfig(void)
{
	if (*trouble)
		slurm_error("sched/lua: %s", trouble);
	return hosted.handle ? hosted.reconfigure() : 0;
}
