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

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"

/*
 * The whole file in malloc'ed *bytes, with a NUL after them; *st (if not NULL) tells whose it
 * is.  1; 0: there is none; -1 with *err: SL_EIO for what cannot be read or is not a regular
 * file, SL_ELIMIT for more than *most* bytes, SL_ENOMEM.
 */
int sl_state_read(const char *path, size_t most, char **bytes, size_t *size, struct stat *st, struct sl_error *err);

/*
 * Write a file that is there as a whole or not at all: as PATH.new, in place of whatever has
 * that name, then renamed.  *durable*: it is on the disk before that.  0, or -1 with *err (SL_EIO).
 */
int sl_state_write(const char *path, mode_t mode, const void *bytes, size_t size, bool durable, struct sl_error *err);

/*
 * Likewise a file that a user named, onto the disk: what is no regular file, a device or a link, is left alone
 * (SL_EINVAL), and of several processes that write it at once one has its way, as a whole.
 */
int sl_state_put(const char *path, mode_t mode, const void *bytes, size_t size, struct sl_error *err);

/*
 * Likewise, with mode, owner and group of another file.  Who may not give it to that group gives the group no more than
 * all others have.
 */
int sl_state_put_like(const char *path, const struct stat *like, const void *bytes, size_t size, struct sl_error *err);

#endif
