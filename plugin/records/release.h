/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * release.h - which Slurm this is built for, and what its public header calls otherwise
 * from one release to the next.  For the plug-in (through compat.h) and schedlua-capture.
 *
 * Names change within a series, too: SL_SLURM_POINT() asks for a point release.
 */
#ifndef SL_RELEASE_H
#define SL_RELEASE_H

#include <slurm/slurm.h>

#define SL_SLURM_POINT(major, minor, micro) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, micro))
#define SL_SLURM(major, minor) SL_SLURM_POINT(major, minor, 0)

/* With CR_LLN or a partition's LLN select takes no arbitrary_tpn. */
#define SL_LLN_DEALS SL_SLURM(23, 11)

/* Where sockets are allocated, it looks for cores near gres in each socket in turn. */
#define SL_GRES_IN_TURN !SL_SLURM(23, 11)

/* Of whole nodes, and of something for each task, it refuses tasks that it finds no CPU for. */
#define SL_DEALS_ALL SL_SLURM(24, 11)

/* It takes CPUs of a node that make no whole task, and cannot be told by arbitrary_tpn how many tasks the node is to have. */
#define SL_PARTS_OF_TASKS !SL_SLURM(23, 11)

/* It deals out as many tasks as --ntasks-per-node says of all nodes, though the job has fewer. */
#define SL_DEALS_TO_NODES SL_SLURM(25, 11)

/* A magnetic reservation draws in no job that would end after it. */
#define SL_MAGNETS_LET_NONE_OUTLAST SL_SLURM_POINT(25, 11, 1)

#if SL_SLURM(25, 11)
#define CR_MEMORY SELECT_MEMORY
#define CR_ONE_TASK_PER_CORE SELECT_ONE_TASK_PER_CORE
#define CR_PACK_NODES SELECT_PACK_NODES
#define CR_LLN SELECT_LLN
#define CR_SOCKET SELECT_SOCKET
#define CR_CORE SELECT_CORE
#define CR_CPU SELECT_CPU
#endif

/* --exclusive=topo, as it is numbered since there is such a thing.  (NO_VAL16 is what most jobs have.) */
#ifndef JOB_SHARED_TOPO
#define JOB_SHARED_TOPO 0x0004
#endif

/* ExclusiveTopo of a partition, likewise. */
#ifndef PART_FLAG_EXCLUSIVE_TOPO
#define PART_FLAG_EXCLUSIVE_TOPO 0
#endif

/* MaxCPUsPerSocket of a partition, RestrictedCoresPerGPU of a node; of slurmctld's records and of the API's. */
#if SL_SLURM(23, 2)
#define SL_MAX_CPUS_PER_SOCKET(part) ((part)->max_cpus_per_socket)
#else
#define SL_MAX_CPUS_PER_SOCKET(part) INFINITE
#endif
#if SL_SLURM(24, 5)
#define SL_RES_CORES_PER_GPU(node) ((node)->res_cores_per_gpu)
#else
#define SL_RES_CORES_PER_GPU(node) 0
#endif

/* A reservation of gres, as it is numbered since there is such a thing. */
#ifndef RESERVE_FLAG_GRES_REQ
#define RESERVE_FLAG_GRES_REQ 0
#endif

/* --gres-flags=one-task-per-sharing, likewise. */
#ifndef GRES_ONE_TASK_PER_SHARING
#define GRES_ONE_TASK_PER_SHARING 0
#endif

/* time_min_as_soft_limit */
#define SL_HAVE_SOFT_LIMIT SL_SLURM(23, 11)

/* Lists of node counts: details->job_size_bitmap, job_size_str. */
#define SL_HAVE_NODE_COUNTS SL_SLURM(23, 2)

/* Text of a list of node counts is not as long: it has too many of them. */
#define SL_NODE_COUNTS_TEXT 256

/* Does the library tell which of a job's nodes has how many CPUs? */
#define SL_HAVE_CPUS_ON_NODE !SL_SLURM(24, 11)

/* Slurm's word for why a job waits: libslurm has it, and no header that is installed declares it. */
#if SL_SLURM(24, 5)
extern const char *slurm_job_state_reason_string(enum job_state_reason reason);
#define sl_reason_word(reason) slurm_job_state_reason_string(reason)
#else
extern char *slurm_job_reason_string(enum job_state_reason reason);
#define sl_reason_word(reason) slurm_job_reason_string(reason)
#endif

#endif
