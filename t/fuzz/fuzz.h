/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - fuzz targets: whatever bytes arrive, they are refused with a message or
 * hold what is promised.
 *
 * A target is one file, t/fuzz/NAME.c, linked with common.c and with one of two
 * drivers.  In a build with --enable-libfuzzer (`make fuzz`) libFuzzer explores by
 * itself.  Otherwise driver.c, part of `make check`, tries what the target makes, all
 * of the corpus, and a bounded number of mutations of both.
 *
 * The corpus, t/fuzz/corpus/NAME/, holds small inputs that reach different code and
 * those that once were fatal; `make fuzz` adds to it.  Snapshots and plans have none: they
 * change with each column, and what the target makes reaches the same code.
 *
 * Threads: none.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "image/image.h"
#include "t/make_image.h"

#define FUZZ_MAX ((size_t) 64 << 10)	/* bytes of an input that a target makes */
#define FUZZ_ROOM (2 * FUZZ_MAX)	/* bytes of the buffer that it makes them in */

/* Of each target: */
extern const char fuzz_name[];

/* Try these bytes; a broken promise aborts.  Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Make a valid input, by the project's own writers where there are any; its size, at
 * most FUZZ_MAX. */
size_t fuzz_make(uint8_t *to, uint64_t *seed);

/* Inputs that were accepted so far: a target counts them, the driver wants some. */
extern unsigned long long fuzz_accepted;

/* -- common.c ------------------------------------------------------------- */

#define MUST(condition) do {						\
	if (!(condition)) {						\
		fprintf(stderr, "fuzz: %s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
		abort();						\
	}								\
} while (0)

/* Write the inputs that the target makes of seeds 1 to n, DIRECTORY/made-1 and so on. */
void fuzz_write_made(int n, const char *directory);

/* libFuzzer calls it before everything else.  With FUZZ_MADE=DIRECTORY in the environment it
 * writes forty made inputs there and ends the program. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* A copy, 8-aligned, that ends where its memory ends, or up to 7 bytes before: reading
 * behind it is fatal in every build. */
struct fuzz_guard {
	unsigned char *map, *bytes;
	size_t mapped;
};
struct fuzz_guard fuzz_guard(const uint8_t *data, size_t size);
void fuzz_unguard(struct fuzz_guard *g);

/* The input as a file of that name in a directory of this process, which goes with it.
 * The directory, or the file's path, until the next call. */
const char *fuzz_dir(void);
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);

/* Text as an input; its size. */
size_t fuzz_text(uint8_t *to, const char *text);

/* A refusal says why, in one line. */
void fuzz_refused(const struct sl_error *err);

/* All that an opened image promises, judged by code that shares nothing with the
 * validator; and it can be written as JSON and read back. */
void fuzz_hold_image(const struct sl_image *image, const void *view);

/* A workload in a file of that name: accepted, it is in order, and what is written of it
 * is accepted again.  The machine may be NULL.  And one to begin with, as JSON or SWF. */
void fuzz_try_workload(const char *name, const char *machine, const uint8_t *data, size_t size);
size_t fuzz_make_workload(uint8_t *to, uint64_t *seed, bool swf);

/* What was built is a valid snapshot, if a meta row is added where there is none. */
void fuzz_hold_builder(struct sl_builder *b);

/* The image as JSON: malloc'ed. */
char *fuzz_json(const struct sl_image *image, const void *view);

#endif
