/* SPDX-License-Identifier: MIT */
#include "tool/switch_words.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"

/* What goes; one ending in "*" is of all that begin so. */
static const struct {
	const char *name, *why;
} going[] = {
	{ "bf_max_job_test", "the policy's window, and how many of it get a reservation" },
	{ "max_job_bf", "the old name of bf_max_job_test: the policy's window, and how many of it get a reservation" },
	{ "bf_interval", "not needed: a cycle follows each change, and at the latest interval (3 s) after the last" },
	{ "bf_window", "not needed: the timeline has no end" },
	{ "bf_window_linear", "not needed: the timeline is exact" },
	{ "bf_resolution", "not needed: the timeline is exact" },
	{ "bf_max_time", "no counterpart: budget is what a decision may take (2 s), of all jobs of the window" },
	{ "bf_max_job_start", "no counterpart: all that fit start; lua_batch bounds how many at a time" },
	{ "bf_continue", "not needed: a decision is never begun anew half-way" },
	{ "bf_yield_*", "not needed: no lock is held while a policy decides" },
	{ "bf_busy_nodes", "no counterpart: nodes are chosen by best fit" },
	{ "bf_node_space_size", "not needed: the timeline grows as it has to" },
	{ "bf_one_resv_per_job", "always so: a job has one reservation, the earliest of its partitions" },
	{ "bf_licenses", "always so: licences are part of the timeline" },
	{ "bf_running_job_reserve", "no counterpart: whole nodes of jobs that run are not kept for their successors" },
	{ "bf_allow_magnetic_slot", "always so: magnetic reservations are planned for" },
	{ "bf_max_job_array_resv", "always 1: the next task of an array has a reservation" },
	{ "bf_hetjob_immediate", "not needed: the components of a heterogeneous job are planned together" },
	{ "bf_topopt_*", "no counterpart: places are chosen once" },
	{ "default_queue_depth", "the policy's window, which is the greater of this and bf_max_job_test" },
	{ "partition_job_depth", "no counterpart" },
	{ "max_sched_time", "no counterpart: lua_batch bounds how long starts hold slurmctld's locks" },
	{ "sched_max_job_start", "not needed: starts are carried out a few at a time (lua_batch)" },
	{ "sched_min_interval", "not needed: changes are noticed every lua_wake (100 ms)" },
	{ "build_queue_timeout", "not needed: the queue is built in steps that let others in" },
	{ "sched_interval", "must be -1" },
	{ "defer_batch", "must not be there" },
	{ "defer", "is there" },
	{ "assoc_limit_stop", "no counterpart: a job over a limit holds up nobody" },
	{ "assoc_limit_continue", "always so: a job over a limit holds up nobody" },
};

static const char *const options[] = {
	"bf_max_job_user_part", "bf_max_job_user", "bf_max_job_part", "bf_max_job_assoc", "bf_min_prio_reserve",
	"bf_min_age_reserve", "bf_job_part_count_reserve", NULL,
};

static const char *const staying[] = {
	"allow_zero_lic", "batch_sched_delay", "bb_array_stage_cnt", "bf_hetjob_prio", "correspond_after_task_cnt", "delay_boot",
	"disable_hetjob_steps", "disable_job_shrink", "disable_user_top", "enable_hetjob_steps", "enable_job_state_cache",
	"enable_user_top", "extra_constraints", "Ignore_NUMA", "ignore_constraint_validation", "ignore_prefer_validation",
	"inventory_interval", "kill_invalid_depend", "max_array_tasks", "max_depend_depth", "max_rpc_cnt", "max_script_size",
	"max_submit_line_size", "max_switch_wait", "no_backup_scheduling", "no_env_cache", "nohold_on_prolog_fail",
	"pack_serial_at_end", "preempt_reorder_count", "preempt_strict_order", "preempt_youngest_first",
	"reduce_completing_frag", "requeue_delay", "requeue_on_resume_failure", "requeue_setup_env_fail", "salloc_wait_nodes",
	"sbatch_wait_nodes", "spec_cores_first", "step_retry_count", "step_retry_time", "time_min_as_soft_limit",
	"whole_hetjob", "whole_pack", NULL,
};

/* Is the word this one, or one of those that begin so? */
static bool is_word(const char *word, const char *name)
{
	size_t n = strlen(name);

	if (name[n - 1] == '*')
		return !strncasecmp(word, name, n - 1);
	return !strncasecmp(word, name, n) && (!word[n] || word[n] == '=');
}

enum sl_switch_fate sl_switch_fate(const char *word, const char **why)
{
	*why = "the policy's option of that name";
	for (size_t i = 0; options[i]; i++)
		if (is_word(word, options[i]))
			return SL_SWITCH_OPTION;
	for (size_t i = 0; i < sizeof(going) / sizeof(going[0]); i++)
		if (is_word(word, going[i].name)) {
			*why = going[i].why;
			return SL_SWITCH_ELSE;
		}
	for (size_t i = 0; staying[i]; i++)
		if (is_word(word, staying[i]))
			return SL_SWITCH_STAYS;
	return SL_SWITCH_UNKNOWN;
}

const char *sl_switch_option(size_t n)
{
	return options[n];
}

const char *sl_switch_nearest(const char *word)
{
	char name[64];
	struct sl_nearest near = { .word = name };
	size_t n = strcspn(word, "=");

	if (n >= sizeof(name))
		return NULL;
	memcpy(name, word, n);
	name[n] = 0;
	for (size_t i = 0; options[i]; i++)
		sl_nearest_try(&near, options[i]);
	for (size_t i = 0; i < sizeof(going) / sizeof(going[0]); i++)
		if (!strchr(going[i].name, '*'))
			sl_nearest_try(&near, going[i].name);
	for (size_t i = 0; staying[i]; i++)
		sl_nearest_try(&near, staying[i]);
	return near.best;
}
