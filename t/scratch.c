/* SPDX-License-Identifier: MIT */
#include "t/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char scratch[32];

int scratch_make(void **state)
{
	(void) state;
	strcpy(scratch, "/tmp/schedlua-test.XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

int scratch_remove(void **state)
{
	char command[64];

	(void) state;
	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	return system(command);
}
