/* SPDX-License-Identifier: MIT */
/*
 * state_file.h - files of the program's own under StateSaveLocation.
 *
 * What has their name may be something else, put there by mistake or by somebody: a pipe
 * that nobody writes to, a link, a sparse file of terabytes.  None of it may keep who reads
 * or writes waiting, or eat memory.
 *
 * Threads: none; no state.
 */
#ifndef SL_STATE_FILE_H
#define SL_STATE_FILE_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"

/*
 * The whole file in malloc'ed *bytes, with a NUL after them; *st (if not NULL) tells whose it
 * is.  1; 0: there is none; -1 with *err: SL_EIO for what cannot be read or is not a regular
 * file, SL_ELIMIT for more than *most* bytes, SL_ENOMEM.
 */
int sl_state_read(const char *path, size_t most, char **bytes, size_t *size, struct stat *st, struct sl_error *err);

/* A new file, to be written and renamed; what has its name is removed.  A descriptor, or -1
 * with errno. */
int sl_state_create(const char *path, mode_t mode);

#endif
