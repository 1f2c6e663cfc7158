/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched_lua.c - what slurmctld calls, through plugin/loader: init, fini,
 * sched_p_reconfig; and the thread that schedules.
 *
 * init() never fails on account of a policy, a missing engine or a wrong option:
 * a scheduler plug-in that fails takes slurmctld down with it.  It runs before
 * nodes and jobs are loaded, and may be called again after fini() in the same
 * process, when a reconfiguration is abandoned.
 */
#include <stdatomic.h>

#include "plugin/records/compat.h"
#include "plugin/cycle.h"

/* The only symbols that are seen from outside. */
#define SL_EXPORT __attribute__((visibility("default")))

SL_EXPORT extern const char plugin_name[], plugin_type[];
SL_EXPORT extern const uint32_t plugin_version;
SL_EXPORT extern int init(void);
SL_EXPORT extern void fini(void);
SL_EXPORT extern int sched_p_reconfig(void);

const char plugin_name[] = "Lua policy scheduler";
const char plugin_type[] = "sched/lua";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool running;
static atomic_bool stop;
static struct sl_cycler *cycler;

static void pause_ms(unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long) (ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	slurm_mutex_lock(&lock);
	if (!atomic_load(&stop))
		pthread_cond_timedwait(&wake, &lock, &t);
	slurm_mutex_unlock(&lock);
}

static void *run_cycles(void *arg)
{
	struct sl_cycler *y = arg;

	pthread_setname_np(pthread_self(), "sched_lua");	/* for top -H */
	while (!atomic_load(&stop)) {
		sl_cycler_tick(y);
		pause_ms(sl_cycler_pause_ms(y));
	}
	return NULL;
}

int init(void)
{
	struct sl_error err = { SL_OK, "" };

	slurm_mutex_lock(&lock);
	if (!running) {
		atomic_store(&stop, false);
		if (!(cycler = sl_cycler_create(&err)))
			error("sched/lua: %s: nothing will be scheduled", err.text);
		else if (pthread_create(&thread, NULL, run_cycles, cycler))
			error("sched/lua: no thread: nothing will be scheduled: %m");
		else
			running = true;
	}
	slurm_mutex_unlock(&lock);
	verbose("sched/lua %s for Slurm %s", SCHEDLUA_VERSION, SLURM_VERSION_STRING);
	return SLURM_SUCCESS;
}

void fini(void)
{
	pthread_t t;
	bool was;

	slurm_mutex_lock(&lock);
	atomic_store(&stop, true);
	if (cycler)
		sl_cycler_stop(cycler);
	pthread_cond_broadcast(&wake);
	was = running;
	t = thread;
	running = false;
	slurm_mutex_unlock(&lock);
	if (was)
		pthread_join(t, NULL);
	sl_cycler_destroy(cycler);
	cycler = NULL;
}

/* Comes with write locks held, also for setdebugflags: only remember it. */
int sched_p_reconfig(void)
{
	slurm_mutex_lock(&lock);
	if (cycler)
		sl_cycler_reconfigure(cycler);
	slurm_mutex_unlock(&lock);
	return SLURM_SUCCESS;
}
