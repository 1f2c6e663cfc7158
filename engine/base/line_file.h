/* SPDX-License-Identifier: MIT */
/*
 * line_file.h - a file of lines that grows, for who writes it and who reads it meanwhile.
 *
 * DIR/NAME, rotated to NAME.1 and so on before it would exceed its size.  Kept are SL_LINE_FILE_KEEP of those, and
 * up to SL_LINE_FILE_MOST while they are younger than SL_LINE_FILE_DAYS, so that a day with much to say does not
 * wash out the days before.  A line
 * is written with one write(2), so that a crash leaves at most one torn line at the end, which
 * readers skip and the next writer cuts off.
 *
 * Ownership: the file is the caller's structure, its descriptor its own.  Threads: none;
 * processes that overlap (slurmctld while it restarts itself) lock the file for each line.
 */
#ifndef SL_LINE_FILE_H
#define SL_LINE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define SL_LINE_FILE_SIZE ((size_t) 64 << 20)
#define SL_LINE_FILE_KEEP 4
#define SL_LINE_FILE_MOST 9
#define SL_LINE_FILE_DAYS 14

struct sl_line_file {
	char path[PATH_MAX];
	size_t limit;		/* bytes; SL_LINE_FILE_SIZE unless the caller sets another */
	int fd;
	bool published;		/* everybody may read it: mode 0644, not locked */
	bool fresh;		/* nothing was appended since it was opened or rotated */
};

/*
 * Open or create it (mode 0640) in a directory that exists; a line that a crash left torn is cut
 * off.  A *published* one is not locked, as readers could hold the lock for ever: one process
 * writes it.  0, or -1 with *err; it is to be closed in either case.
 */
int sl_line_file_open(struct sl_line_file *f, const char *dir, const char *name, bool published, struct sl_error *err);
void sl_line_file_close(struct sl_line_file *f);

/*
 * Lock the file before a line is written.  If the path names another file than the open one (somebody rotated it),
 * that file is opened, and *fresh* is set.  0, or -1 with *err (SL_EBUSY: another process is writing or rotating it).
 */
int sl_line_file_lock(struct sl_line_file *f, struct sl_error *err);
void sl_line_file_unlock(struct sl_line_file *f);

/* Make room for *size* bytes.  1: there was room; 0: the file was rotated first, and is fresh; -1 with *err. */
int sl_line_file_room(struct sl_line_file *f, size_t size, struct sl_error *err);

/* Append whole lines.  0, or -1 with *err: then no part of them is left in the file. */
int sl_line_file_append(struct sl_line_file *f, const char *text, size_t size, struct sl_error *err);

/* Remove all files of that name.  0, also when there are none; -1 with *err. */
int sl_line_file_remove(const char *dir, const char *name, struct sl_error *err);

/*
 * Call visit(line, length, arg) for each whole line that looks like a JSON object, from the newest
 * back, until it returns non-zero or there is none left; the line feed is not part of the line.
 * Returns 0 (also where there is no line), or -1 with *err (SL_ENOENT: no such file).
 */
int sl_line_file_read(const char *dir, const char *name, int (*visit)(const char *line, size_t length, void *arg),
		      void *arg, struct sl_error *err);

#endif
