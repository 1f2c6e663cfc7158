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
#include "tool/when.h"

/* Look at a snapshot: a capture or its JSON form; NULL: the cluster as it is, captured with
 * schedlua-capture, which is looked for beside this program and in $PATH.  Returns what *look* does, or
 * -1 with *err. */
typedef int sl_explain_look(const struct sl_snapshot *snap, void *arg, struct sl_error *err);
int sl_explain_snapshot(const char *snapshot, sl_explain_look *look, void *arg, struct sl_error *err);

/* What is asked. */
struct sl_explain_ask {
	const char *site, *path;	/* the site file, searched as with *path* (may be NULL); NULL: only the line is asked for */
	const char *snapshot;		/* as above */
	const char *ledger;		/* the file that knows the past; NULL: the snapshot does */
	uint32_t job;
	bool sooner;			/* instead: which change would start it sooner (tool/sooner.h) */
	struct sl_when *when;		/* for the line: what is known of the job; NULL: no line.  Its standing is filled in */
};

/* The answer.  All are malloc'ed; NULL: there is none. */
struct sl_explained {
	char *line;			/* what users are to read first (tool/when.h) */
	char *text;			/* where the job stands in the order, or what would start it sooner */
	char *trace;			/* of a policy that failed */
	double idle_core_s;		/* sl_when_idle() */
};

/* 0, also where there is a line and the job is not queued, or -1 with *err, and the line where that is known.  To be
 * freed in either case. */
int sl_explain_order(const struct sl_explain_ask *ask, struct sl_explained *answer, struct sl_error *err);
void sl_explained_free(struct sl_explained *answer);

/* The site file that decides, as status.json in the directory says.  malloc'ed; NULL: it
 * does not say. */
char *sl_explain_site(const char *dir);

#endif
