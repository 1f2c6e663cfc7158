/* SPDX-License-Identifier: MIT */
/*
 * explain_order.h - where a job stands in the order, computed on demand.
 *
 * Nothing of this is recorded: it is worked out anew, by the site's own policies, from a
 * picture of the cluster as it is when somebody asks.  Threads: none.
 */
#ifndef SL_EXPLAIN_ORDER_H
#define SL_EXPLAIN_ORDER_H

#include <stdint.h>

#include "base/error.h"

/*
 * Load a site file (searched as with *path*, may be NULL) and say where a job of the
 * snapshot stands.  *snapshot*: a capture or its JSON form; NULL: the cluster as it is,
 * captured with schedlua-capture, which is looked for beside this program and in $PATH.
 * *ledger*: the file that knows the past; NULL: the snapshot does.  *text and *trace are
 * malloc'ed.  0, or -1 with *err.
 */
int sl_explain_order(const char *site, const char *path, const char *snapshot, const char *ledger, uint32_t job, char **text,
		     char **trace, struct sl_error *err);

/* The site file that decides, as status.json in the directory says.  malloc'ed; NULL: it
 * does not say. */
char *sl_explain_site(const char *dir);

#endif
