/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units.h - numbers of Slurm's records in the units of a snapshot, where the plug-in and
 * schedlua-capture read the same fields.  Needs the public slurm.h only.
 */
#ifndef SL_UNITS_H
#define SL_UNITS_H

#include <string.h>

#include <slurm/slurm.h>

#include "image/snapshot.h"
#include "plugin/records/release.h"

/* Was it asked for, and how much?  0 where Slurm means "not said". */
static inline bool sl_said16(uint16_t v)
{
	return v && v != (uint16_t) NO_VAL16 && v != (uint16_t) INFINITE16;
}

static inline uint32_t sl_set16(uint16_t v)
{
	return sl_said16(v) ? v : 0;
}

static inline uint32_t sl_set32(uint32_t v)
{
	return v == NO_VAL || v == INFINITE ? 0 : v;
}

/* A bound of a partition, SL_NONE where there is none. */
static inline uint32_t sl_bound32(uint32_t v)
{
	return v == INFINITE ? SL_NONE : v;
}

/* A walltime: minutes in seconds, and what is not said has no end. */
static inline int64_t sl_walltime(uint32_t minutes)
{
	return minutes == INFINITE || minutes == NO_VAL ? SL_UNLIMITED : (int64_t) minutes * 60;
}

/* A partition's DefaultTime, 0 where it has none. */
static inline int64_t sl_default_time(uint32_t minutes)
{
	return minutes == NO_VAL ? 0 : sl_walltime(minutes);
}

/* An OverTimeLimit: minutes in seconds; -1 where a partition has none of its own. */
static inline int64_t sl_over_time(uint16_t minutes)
{
	return minutes == NO_VAL16 ? -1 : minutes == INFINITE16 ? SL_UNLIMITED : (int64_t) minutes * 60;
}

/* ResumeTimeout and the like; and SuspendTime, in seconds.  What is not said has no end. */
static inline int64_t sl_timeout(uint16_t seconds)
{
	return seconds == NO_VAL16 || seconds == INFINITE16 ? SL_UNLIMITED : (int64_t) seconds;
}

static inline int64_t sl_suspend_time(uint32_t seconds)
{
	return seconds == NO_VAL || seconds == INFINITE ? SL_UNLIMITED : (int64_t) seconds;
}

/* When processes of jobs that are over are gone, from slurm_conf_t, of which the library has one of its own. */
#define SL_FILL_ENDS(row, conf)									\
	do {											\
		(row)->over_time_limit = sl_over_time((conf)->over_time_limit);		\
		(row)->kill_wait = (conf)->kill_wait;						\
		(row)->unkillable_timeout = (conf)->unkillable_timeout;				\
	} while (0)

/* True if parameters (SchedulerParameters, TopologyParam) have the word, as Slurm looks for it; NULL: there are none. */
static inline bool sl_has_word(const char *parameters, const char *word)
{
	return parameters && strcasestr(parameters, word);
}

/* SL_SELECT_* of slurm_conf_t. */
#define SL_FILL_SELECT(row, conf)								\
	((row)->select_flags = sl_select_flags((conf)->select_type, (conf)->select_type_param,	\
					       (conf)->sched_params, (conf)->topology_param))

static inline uint32_t sl_select_flags(const char *select, uint16_t type, const char *sched, const char *topology)
{
	return (type & CR_MEMORY ? SL_SELECT_MEMORY : 0) |
		(select && !strcmp(select, "select/linear") ? SL_SELECT_WHOLE_NODE : 0) |
		(type & CR_ONE_TASK_PER_CORE ? SL_SELECT_ONE_TASK_PER_CORE : 0) |
		(type & CR_PACK_NODES ? SL_SELECT_PACK_NODES : 0) | (type & CR_LLN ? SL_SELECT_LLN : 0) |
		(type & CR_SOCKET ? SL_SELECT_SOCKET : 0) | (SL_LLN_DEALS ? SL_SELECT_LLN_DEALS : 0) |
		(SL_GRES_IN_TURN ? SL_SELECT_GRES_IN_TURN : 0) | (SL_DEALS_ALL ? SL_SELECT_DEALS_ALL : 0) |
		(SL_PARTS_OF_TASKS ? SL_SELECT_PARTS_OF_TASKS : 0) | (SL_DEALS_TO_NODES ? SL_SELECT_DEALS_TO_NODES : 0) |
		(SL_HAVE_SOFT_LIMIT && sl_has_word(sched, "time_min_as_soft_limit") ? SL_SELECT_SOFT_LIMIT : 0) |
		(sl_has_word(topology, "TopoOptional") ? SL_SELECT_TOPO_OPTIONAL : 0) |
		(sl_has_word(sched, "pack_serial_at_end") ? SL_SELECT_SERIAL_AT_END : 0);
}

/* What slurm.conf says of a partition that is yes or no. */
static inline uint32_t sl_part_flags(uint16_t state_up, uint32_t flags, uint16_t max_share)
{
	return (state_up & PARTITION_SCHED ? SL_PART_UP : 0) | (flags & PART_FLAG_DEFAULT ? SL_PART_DEFAULT : 0) |
		(flags & PART_FLAG_EXCLUSIVE_USER ? SL_PART_EXCLUSIVE_USER : 0) |
		(flags & PART_FLAG_EXCLUSIVE_TOPO ? SL_PART_EXCLUSIVE_TOPO : 0) |
		(flags & PART_FLAG_LLN ? SL_PART_LLN : 0) | (flags & PART_FLAG_HIDDEN ? SL_PART_HIDDEN : 0) |
		(flags & PART_FLAG_ROOT_ONLY ? SL_PART_ROOT_ONLY : 0) |
		(max_share & SHARED_FORCE ? SL_PART_FORCE : 0);
}

/* Its SelectTypeParameters, which may be other ones than the cluster's; 0: it has none (get_cr_type() of select/cons_tres). */
static inline uint32_t sl_part_select(uint16_t cr_type)
{
	return cr_type & CR_SOCKET ? SL_PART_BY_SOCKET : cr_type & CR_CORE ? SL_PART_BY_CORE : 0;
}

/* Those of a reservation's flags that a plan heeds. */
static inline uint32_t sl_resv_flags(uint64_t flags)
{
	return (flags & RESERVE_FLAG_MAINT ? SL_RESV_MAINT : 0) | (flags & RESERVE_FLAG_FLEX ? SL_RESV_FLEX : 0) |
		(flags & RESERVE_FLAG_IGN_JOBS ? SL_RESV_IGNORE_JOBS : 0) |
		(flags & RESERVE_FLAG_OVERLAP ? SL_RESV_OVERLAP : 0) |
		(flags & RESERVE_FLAG_ANY_NODES ? SL_RESV_ANY_NODES : 0) |
		(flags & RESERVE_FLAG_GRES_REQ ? SL_RESV_GRES : 0);
}

/* The fields of a partition's row that have the same names in slurmctld's record and in the API's. */
#define SL_FILL_PARTITION(row, p)								\
	do {											\
		(row)->flags = sl_part_flags((p)->state_up, (p)->flags, (p)->max_share) |	\
			sl_part_select((p)->cr_type);						\
		(row)->priority_tier = (p)->priority_tier;					\
		(row)->max_time = sl_walltime((p)->max_time);					\
		(row)->default_time = sl_default_time((p)->default_time);			\
		(row)->min_nodes = (p)->min_nodes;						\
		(row)->max_nodes = sl_bound32((p)->max_nodes);					\
		(row)->max_cpus_per_node = (p)->max_cpus_per_node ? sl_bound32((p)->max_cpus_per_node) : SL_NONE;	\
		(row)->max_cpus_per_socket = SL_MAX_CPUS_PER_SOCKET(p) ? sl_bound32(SL_MAX_CPUS_PER_SOCKET(p)) : SL_NONE; \
		(row)->oversubscribe = (p)->max_share & ~SHARED_FORCE;				\
		(row)->over_time_limit = sl_over_time((p)->over_time_limit);			\
	} while (0)

#endif
