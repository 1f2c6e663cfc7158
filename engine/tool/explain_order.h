/* SPDX-License-Identifier: MIT */
/*
 * explain_order.h - where a job stands in the order, computed on demand.
 *
 * Nothing of this is recorded: it is worked out anew, by the site's own policies, from a
 * picture of the cluster as it is when somebody asks.  Threads: none.
 */
#ifndef SL_EXPLAIN_ORDER_H
#define SL_EXPLAIN_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "image/snapshot.h"

#define SL_EXPLAIN_BUDGET_US INT64_C(30000000)	/* of one decision that somebody waits for */

/* Look at a snapshot: a capture or its JSON form; NULL: the cluster as it is, captured with
 * schedlua-capture, which is looked for beside this program and in $PATH.  Returns what *look* does, or
 * -1 with *err. */
typedef int sl_explain_look(const struct sl_snapshot *snap, void *arg, struct sl_error *err);
int sl_explain_snapshot(const char *snapshot, sl_explain_look *look, void *arg, struct sl_error *err);

/*
 * Load a site file (searched as with *path*, may be NULL) and say where a job of the
 * snapshot stands; *sooner*: instead, which change would start it sooner (tool/sooner.h).
 * *snapshot*: as above.  *ledger*: the file that knows the past; NULL: the snapshot does.
 * *text and *trace are malloc'ed.  0, or -1 with *err.
 */
int sl_explain_order(const char *site, const char *path, const char *snapshot, const char *ledger, uint32_t job,
		     bool sooner, char **text, char **trace, struct sl_error *err);

/* The site file that decides, as status.json in the directory says.  malloc'ed; NULL: it
 * does not say. */
char *sl_explain_site(const char *dir);

#endif
