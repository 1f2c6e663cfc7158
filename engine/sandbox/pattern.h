/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - Lua's patterns, in a form that can be stopped.
 *
 * A pattern such as "(.-)(.-)(.-)(.-)b" takes time that grows with a power of
 * the subject's length, inside one C call.  This matcher does the same work as
 * Lua's and gives up as soon as a flag is set.
 *
 * A pattern is compiled into a list of items.  There are no loops over groups
 * in Lua's patterns, so that an item is entered at most once along a match, and
 * the stack of alternatives is never deeper than the list is long.
 *
 * Differences from string.find and friends: a malformed pattern is refused as
 * such, also where Lua would not come to the malformed part; classes are those
 * of the C locale; a pattern has at most SL_PATTERN_MAX bytes.
 *
 * Ownership: a compiled pattern lives in memory that the caller gives and
 * borrows nothing.  Threads: one pattern, one thread (it holds the stack).
 */
#ifndef SL_PATTERN_H
#define SL_PATTERN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SL_PATTERN_MAX 8192
#define SL_PATTERN_CAPTURES 32

struct sl_pattern;

#define SL_CAPTURE_POSITION ((size_t) -1)

struct sl_match {
	size_t start, end;		/* of the whole match, offsets from 0 */
	unsigned captures;
	struct {
		size_t start, length;	/* length SL_CAPTURE_POSITION: "()" */
	} capture[SL_PATTERN_CAPTURES];
};

/* Bytes that a pattern of this length needs when compiled. */
size_t sl_pattern_size(size_t length);

/*
 * Compile into *memory* (sl_pattern_size() bytes, 8-aligned).  With *anchors* a
 * leading "^" ties the match to where it begins; gmatch has none.  NULL with
 * *err (SL_EINVAL, SL_ELIMIT).
 */
struct sl_pattern *sl_pattern_compile(void *memory, const char *text, size_t length, bool anchors,
				      struct sl_error *err);

/*
 * Find the first match in subject[0, length) that begins at *init* or after.
 * With *only_here* it begins exactly there.  Returns 1 with *m filled, 0, or -1
 * when *stop was set.
 */
int sl_pattern_match(struct sl_pattern *p, const char *subject, size_t length, size_t init, bool only_here,
		     const volatile sig_atomic_t *stop, struct sl_match *m);

/* Does the pattern begin with an anchor that counts? */
bool sl_pattern_anchored(const struct sl_pattern *p);

#endif
