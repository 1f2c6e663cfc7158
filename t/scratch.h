/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - a directory for what a group of tests writes: made and removed by the group's set-up
 * and tear-down.
 *
 *	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
 */
#ifndef SCRATCH_H
#define SCRATCH_H

extern char scratch[32];		/* its path */

int scratch_make(void **state);
int scratch_remove(void **state);

#endif
