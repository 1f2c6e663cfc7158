/* SPDX-License-Identifier: MIT */
/*
 * evolve_host.h - what schedlua evolve, which is Lua (lib/sched/evolve.lua), is given: simulations, windows of workloads, and
 * answers of a program of the user's.
 *
 * Ownership: the host is the caller's, until sl_evolve_close(); strings in *trial* are borrowed.  Threads: none, since it forks.
 */
#ifndef SL_EVOLVE_HOST_H
#define SL_EVOLVE_HOST_H

#include "sim/sweep.h"

#include <lua.h>

struct sl_evolve_window;

struct sl_evolve_host {
	struct sl_trial_options trial;	/* how all is simulated; each has a workload and a policy of its own */
	uint32_t workers, cpu_s;
	const volatile sig_atomic_t *stop;
	void (*progress)(double share, uint32_t done, uint32_t trials, void *arg);
	void *progress_arg;
	struct sl_evolve_window *window;	/* those that were read so far */
	uint32_t windows;
};

/*
 * Push a table of functions; *host* has to outlive the state.
 *
 *   jobs(workload)	how many there are; nil and why it cannot be read
 *   simulate(list, ended)	runs { workload =, skip =, first =, policy = NAME or text = LUA }, each a simulation; ended(i, figures) is
 *			called when one has ended, in any order, where figures has bsld, largest, wait, longest, utilization, gpu_utilization, gini, jobs,
 *			unfinished, or error.  true; false: it was stopped; nil and why it could not be done
 *   ask(command, input, seconds, bytes)	what the program prints; nil and why not
 *   files(directory, tail)	names of its files that end in tail, sorted; the directory is made where there is none; nil and why not
 *   stopped()		true once it is to end
 *   digest(text)	16 hexadecimal digits
 *   student95(n)	Student's t for n degrees of freedom
 */
void sl_evolve_push(lua_State *L, struct sl_evolve_host *host);

void sl_evolve_close(struct sl_evolve_host *host);

#endif
