/* SPDX-License-Identifier: MIT */
/*
 * trust.h - opening files that decide what the cluster does: policies and what they read.
 *
 * Trust (check, in production).  The path is absolute.  Every directory
 * from the root down and every file is owned by root or the trusted user and not
 * writable by group or others; directories with the sticky bit may be (nobody can
 * replace an entry that root owns there).  Directories on the way to the site
 * file or a search directory may be symbolic links that root or the trusted user
 * owns; what they lead to is checked like the rest.  Below a search directory, and
 * for the site file itself, symbolic links are refused.  Files are regular and
 * at most SL_BUNDLE_FILE_MAX bytes.  Each component is opened with O_NOFOLLOW
 * relative to the one before, and the descriptor is what is checked.
 *
 * Threads: safe.
 */
#ifndef SL_TRUST_H
#define SL_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"

#define SL_BUNDLE_FILE_MAX ((size_t) 1 << 20)	/* bytes of one file */

struct sl_trust {
	bool check;
	uint32_t uid;		/* owner allowed beside root */
	bool no_sticky;		/* for what is to be written: a directory that others may write to is refused
				 * also with the sticky bit, because they could make an entry there first */
};

/* Open a directory for reading.  A descriptor, or -1 with *err. */
int sl_trust_dir(const struct sl_trust *trust, const char *path, struct sl_error *err);

/*
 * Open a regular file *path* ("policies/easy.lua") below the directory *dir*.
 * *shown* is the directory's path for messages.  A descriptor with *st filled;
 * -1 with *err, SL_ENOENT when it is not there.
 */
int sl_trust_file(const struct sl_trust *trust, int dir, const char *shown, const char *path,
		  struct stat *st, struct sl_error *err);

#endif
