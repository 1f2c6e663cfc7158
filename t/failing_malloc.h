/* SPDX-License-Identifier: MIT */
/*
 * failing_malloc.h - an allocator that can be made to fail.
 *
 * For programs linked with $(WRAP_MALLOC): the linker's --wrap puts it between
 * what is linked statically and the C library's.
 */
#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

extern long countdown;		/* allocations until one fails; -1: none does */
extern long more;		/* of those after it so many fail, too */

#endif
