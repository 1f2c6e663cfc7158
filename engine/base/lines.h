/* SPDX-License-Identifier: MIT */
/*
 * lines.h - the lines of a text file, compressed or not, and what stands in them.
 *
 * Ownership: a reader owns its buffer; a line is valid until the next one is asked
 * for, and may be written to.  Threads: none.
 */
#ifndef SL_LINES_H
#define SL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/duration.h"
#include "base/error.h"

#define SL_LINE_MAX (1u << 20)	/* bytes of one line, unless sl_lines_limit() says otherwise */

struct sl_lines;

/* Open a file, plain or gzip (told apart by what is in it).  NULL with *err:
 * SL_ENOENT, SL_EIO.  A pipe that nobody writes to is one that has ended. */
struct sl_lines *sl_lines_open(const char *path, struct sl_error *err);

/* 0 if it is an ordinary file, which can be read again; -1 with *err (SL_EIO) for a pipe or a device. */
int sl_lines_must_be_file(const struct sl_lines *l, struct sl_error *err);

/* The most bytes of a line, instead of SL_LINE_MAX. */
void sl_lines_limit(struct sl_lines *l, uint32_t most);
void sl_lines_close(struct sl_lines *l);

/*
 * The whole file, plain or gzip, malloc'ed, with a NUL after it that *size does not count.
 * 0; -1 with *err: SL_ENOENT, SL_EIO, SL_EFORMAT, SL_ENOMEM, SL_ELIMIT for more than *most* bytes.
 */
int sl_lines_whole(const char *path, size_t most, char **bytes, size_t *size, struct sl_error *err);

/*
 * The first byte from here on that is no blank and no end of a line; it stays to be read.  0 where there is none, or none
 * in as many bytes as a line may have; -1 with *err.
 */
int sl_lines_first(struct sl_lines *l, struct sl_error *err);

/*
 * The next line, without its end (LF or CR LF), NUL-terminated, in *line.  Returns
 * its length + 1, 0 at the end of the file, or -1 with *err: a line that is
 * too long, a NUL in it, compressed data that are corrupt, end too early or have something
 * behind them.
 */
int64_t sl_lines_next(struct sl_lines *l, char **line, struct sl_error *err);

/* The number of the line read last, from 1 on. */
uint64_t sl_lines_number(const struct sl_lines *l);
const char *sl_lines_path(const struct sl_lines *l);

/*
 * A number at *p, perhaps with a fraction, which is cut off; *p moves behind it.  A duration is
 * rounded up instead, so that what ran for a moment did run.
 * False where there is none, or one beyond +-2^62.
 */
bool sl_scan_int(const char **p, int64_t *value);
bool sl_scan_seconds(const char **p, int64_t *value);

/* Such a number that is all of *text*. */
bool sl_scan_whole(const char *text, int64_t *value);

/*
 * A duration as Slurm writes it: "minutes", "minutes:seconds", "h:m:s", "d-h",
 * "d-h:m", "d-h:m:s", "UNLIMITED", "INFINITE"; fractions of seconds are cut off.
 * Seconds, or SL_UNLIMITED.  False where it is none.
 */
bool sl_scan_duration(const char *text, int64_t *seconds);

/* "7d", "12h", "90m", "30s", "2w", or as above but not without an end. */
bool sl_scan_span(const char *text, int64_t *seconds);

/*
 * An instant: "2024-01-31T12:00:00", with a blank for the T, with a fraction, which is cut off, with "Z" or an offset
 * ("+01:00", "-0500"), without which it is UTC; "2024-01-31", or seconds since the epoch.
 */
bool sl_scan_time(const char *text, int64_t *t);

/*
 * An amount of memory, MiB: "4000M", "16G", "1.5T", "64000" (of *unit*: 'K', 'M',
 * 'G', 'T').  Rounded up.  *end (may be NULL) is what follows.
 */
bool sl_scan_memory(const char *text, char unit, int64_t *mb, const char **end);

#endif
