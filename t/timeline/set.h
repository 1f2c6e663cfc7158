/* SPDX-License-Identifier: MIT */
/* set.h - sets of nodes in a few words: "0-3,7". */
#ifndef SET_H
#define SET_H

#include "timeline/nodeset.h"

/* The caller's to free. */
struct sl_nodeset set(const char *text);

/* Good until the next call. */
const char *set_text(const struct sl_nodeset *s);

#endif
