/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched_lua.c - what slurmctld calls, through plugin/loader: init, fini,
 * sched_p_reconfig; and the thread that schedules.
 *
 * init() never fails on account of a policy, a missing engine or a wrong option:
 * a scheduler plug-in that fails takes slurmctld down with it.  It runs before
 * nodes and jobs are loaded, and may be called again after fini() in the same
 * process, when a reconfiguration is abandoned.
 *
 * In shadow mode a scheduler of Slurm's own is loaded, which decides as ever, and ours looks on.
 */
#include <stdatomic.h>

#include "plugin/records/compat.h"
#include "plugin/cycle.h"
#include "plugin/host/options.h"
#include "plugin/host/stock.h"

/* The only symbols that are seen from outside. */
#define SL_EXPORT __attribute__((visibility("default")))

SL_EXPORT extern const char plugin_name[], plugin_type[];
SL_EXPORT extern const uint32_t plugin_version;
SL_EXPORT extern int init(void);
SL_EXPORT extern void fini(void);
SL_EXPORT extern int sched_p_reconfig(void);

const char plugin_name[] = SL_OWN_NAME;
const char plugin_type[] = "sched/lua";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool running;
static atomic_bool stop;
static struct sl_cycler *cycler;
static struct sl_stock *stock;	/* decides in place of us */

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

/* Slurm's own scheduler, where slurm.conf wants that one to decide.  (Nobody changes the
 * configuration now: what reads it anew calls fini() before, or us for the first time.) */
static void load_stock(char name[16])
{
	struct sl_error err = { SL_OK, "" };
	struct sl_options *opt = xmalloc(sizeof(*opt));

	sl_sched_params_parse(opt, "", slurm_conf.sched_params, NULL, NULL);
	snprintf(name, 16, "%s", opt->shadow);
	xfree(opt);
	if (*name && !stock && !(stock = sl_stock_load(name, slurm_conf.plugindir, SLURM_VERSION_NUMBER, &err)))
		error("sched/lua: shadow mode: %s: only Slurm's main scheduler starts jobs", err.text);
}

int init(void)
{
	struct sl_error err = { SL_OK, "" };
	char shadow[16];

	slurm_mutex_lock(&lock);
	if (!running) {
		atomic_store(&stop, false);
		load_stock(shadow);
		if (!(cycler = sl_cycler_create(shadow, &err)))
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
	sl_stock_end(stock);
	stock = NULL;
}

/* Comes with write locks held, also for setdebugflags: only remember it. */
int sched_p_reconfig(void)
{
	int rc;

	slurm_mutex_lock(&lock);
	if (cycler)
		sl_cycler_reconfigure(cycler);
	rc = stock ? sl_stock_reconfigure(stock) : SLURM_SUCCESS;
	slurm_mutex_unlock(&lock);
	return rc;
}
