/* SPDX-License-Identifier: MIT */
/*
 * page_data.h - what the live page shows, as JSON: the page asks for it every few seconds.
 *
 * All of it comes from a visible snapshot (web/visible.h), from sums over the whole one that sinfo prints, too, and from
 * records of the journal, and stops and held places (tool/stops.h), of jobs that are in the visible one.  Lists end at SL_PAGE_JOBS jobs, SL_PAGE_NODES nodes and
 * SL_PAGE_RUNS runs of nodes; the counts beside them are of all.
 *
 * Ownership: as each function says.  Threads: none.
 */
#ifndef SL_WEB_PAGE_DATA_H
#define SL_WEB_PAGE_DATA_H

#include "image/json_out.h"
#include "tool/look.h"
#include "web/visible.h"

#define SL_PAGE_JOBS 1000	/* of those that run, and of those that wait */
#define SL_PAGE_NODES 20000
#define SL_PAGE_RUNS 20000
#define SL_PAGE_STOPS 200	/* jobs that were stopped, and places that are held */
#define SL_PAGE_EVENTS 50
#define SL_PAGE_STALE_S 300	/* a status that is older is critical */

/* What is known, and for whom. */
struct sl_page {
	const struct sl_look *look;
	const struct sl_visible *seen;	/* NULL: there is no snapshot */
	unsigned hides;
	int64_t now;
};

/* malloc'ed, with its size; NULL with *err. */
char *sl_page_data(const struct sl_page *p, size_t *size, struct sl_error *err);

/* GPUs by type and blocks, as members "gpus" and "blocks" of the object that is open; nothing where the cluster has none. */
void sl_page_put_machine(const struct sl_page *p, struct sl_json *j);

/* The text of a record of the journal, where it may be shown: squeue shows it to the job's user, or nothing is hidden. */
const char *sl_page_text(const struct sl_page *p, const json_t *record);

#endif
