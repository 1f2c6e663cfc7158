/* SPDX-License-Identifier: MIT */
/*
 * file.h - reading and writing all there is, which read() and write() do not promise.
 *
 * Threads: safe; no state.
 */
#ifndef SL_FILE_H
#define SL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * What is left of a file or a pipe, malloc'ed, with a NUL after it that *size does not count.
 * 0; -1 with *err, which begins with *name*: SL_EIO, SL_ENOMEM, SL_ELIMIT for more than *most* bytes.
 */
int sl_read_all(int fd, const char *name, size_t most, char **bytes, size_t *size, struct sl_error *err);

/* 0, or -1 with errno. */
int sl_write_all(int fd, const void *bytes, size_t size);

/* Is *path*, which has no links in it, somewhere below the directory? */
bool sl_is_below(const char *path, const char *dir);

#endif
