/* SPDX-License-Identifier: MIT */
/*
 * answers.h - what the server says beside the page: why a job waits, how the scheduler is.
 *
 * Ownership: texts are malloc'ed, and the caller's.  Threads: none.
 */
#ifndef SL_WEB_ANSWERS_H
#define SL_WEB_ANSWERS_H

#include "web/budget.h"
#include "web/page_data.h"

#define SL_WEB_EVENTS 20		/* of a job */
#define SL_WEB_JOURNAL ((size_t) 16 << 20)	/* bytes of the journal that are read back for one answer */

#define SL_WEB_JOURNAL_MOST (8.0 * SL_WEB_JOURNAL)	/* for all answers at a stretch */
#define SL_WEB_JOURNAL_PER_S (0.5 * SL_WEB_JOURNAL)	/* and a second after that */

/*
 * What was decided about the job *id* ("4711", "4711_3"), as JSON: "job", "when" (one line), "events" (newest first),
 * "lines" (the same for people); "error" in place of them.  *status*: 200; 400, 404.  A job that the viewer may not see is
 * one that is not known.  No policy runs, and no more than SL_WEB_JOURNAL is read, which *budget* bounds for all
 * answers: *status* 503 where nothing of that is left.  *look* is looked at again.
 */
char *sl_web_explain(const struct sl_page *p, struct sl_look *look, struct sl_budget *budget, const char *id, int *status);

/*
 * How the scheduler is, as JSON: "state" (as status --check), "say", "slurmctld" (it runs here), "status_age_s",
 * "journal_age_s", "snapshot_age_s"; null where there is none.  *status*: 200, or 503 where the state is critical or not known.
 */
char *sl_web_health(const struct sl_page *p, int *status);

#endif
