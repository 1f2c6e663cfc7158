/* SPDX-License-Identifier: MIT */
/*
 * fence.h - which partitions a site wants held when what guards them fails.
 *
 * The site file says so for each of its lists (on_failure); what is kept of it is a rule
 * about names, so that it says something of partitions that are made later, too.  The
 * engine tells it of each set that goes live, and the plug-in keeps it, for the time
 * when that set cannot be asked.
 */
#ifndef SL_FENCE_H
#define SL_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sl_fence {
	uint32_t rest;		/* 1: all partitions but those named; 0: those named */
	uint32_t zero;
	char names[1024];	/* "gpu,long" */
};

/* Make the rule.  More names than there is room for: all partitions are held. */
void sl_fence_set(struct sl_fence *hold, bool rest, const char *names);

bool sl_fence_has(const struct sl_fence *hold, const char *partition);

/* Can it be that a partition is held? */
bool sl_fence_any(const struct sl_fence *hold);

/* As a line for people and for a file: "all", "all but debug", "only gpu,long", "none". */
#define SL_FENCE_TEXT (sizeof(((struct sl_fence *) 0)->names) + 16)
const char *sl_fence_text(const struct sl_fence *hold, char text[SL_FENCE_TEXT]);

/* The rule of such a line of *size* bytes.  0, or -1 with *err. */
int sl_fence_parse(struct sl_fence *hold, const char *text, size_t size, struct sl_error *err);

#endif
