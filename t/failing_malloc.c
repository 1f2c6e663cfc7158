/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "t/failing_malloc.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

long countdown = -1, more;

static int fails(void)
{
	if (countdown < 0 || countdown-- > 0)
		return 0;
	if (more > 0) {
		more--;
		countdown = 0;
	}
	return 1;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}
