/* SPDX-License-Identifier: MIT */
/*
 * job_submit.h - for who gives a job_submit.lua or cli_filter.lua to schedlua check: what it is, and what of it could
 * be a policy.
 *
 * Threads: none.
 */
#ifndef SL_JOB_SUBMIT_H
#define SL_JOB_SUBMIT_H

#include <stdbool.h>
#include <stdio.h>

/* Say so if the file defines a function that Slurm calls (slurm_job_submit, slurm_cli_pre_submit, ...). */
bool sl_job_submit_tell(const char *path, FILE *out);

#endif
