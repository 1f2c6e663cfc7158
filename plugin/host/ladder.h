/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ladder.h - who decides a cycle: the first of these that does not rest and has an answer.
 *
 *	rung		what decides					rests
 *	site		the site's policies, in the engine		after 3 failures in a row 5 s, then twice as
 *									long each time, up to 60 s; after 2 barren
 *									plans in a row 10 s
 *	bundled		easy, in the engine				after 4 barren plans in a row 10 s
 *	plug-in		priority order, without the engine		never
 *			(plugin/fallback.h)
 *
 * A plan is barren if it has starts of which none was possible, each because its job or its nodes were not
 * there or not as the plan said; once may be chance.  (A job of which Slurm says that it may not run is the job's affair:
 * it rests, commit/start.c.)
 *
 * Within a rung there are steps that this file does not see.  For "site" the engine takes the set in the
 * site's files; if that is refused, the set before it; after a restart, the set that was kept (plugin/host/keep.h).
 * For "bundled" it lets easy decide within what the live set admits and allows; if that fails, easy keeps off the
 * partitions that the set wants held (tool/cmd_engine.c, decide_instead()).  "plug-in" keeps off these, too.  The
 * engine itself rests after 3 failures in a row, 1 s at first (plugin/host/host.h): then neither of the first two is
 * asked.
 *
 * Knows nothing of Slurm.  Threads: the cycle thread only.
 */
#ifndef SL_LADDER_H
#define SL_LADDER_H

#include <stdbool.h>

enum sl_rung { SL_RUNG_SITE, SL_RUNG_BUNDLED, SL_RUNG_PLUGIN, SL_RUNGS };

/* What came of asking the site's policies. */
enum sl_try {
	SL_TRY_DECIDED,
	SL_TRY_CUT_SHORT,	/* time was up, with starts booked: slow is not wrong */
	SL_TRY_FAILED_LATE,	/* a policy failed, with starts booked */
	SL_TRY_FAILED_IDLE,	/* a policy failed, and no job is queued */
	SL_TRY_FAILED,		/* a policy failed before it had booked a start */
	SL_TRY_NO_PLAN,		/* the engine ended, hung, or sent something else */
	SL_TRY_NOT_ASKED,	/* the engine rests */
	SL_TRY_BARREN,		/* two plans in a row were barren, or four, six ... */
	SL_TRIES
};

/* What follows from a try. */
struct sl_try_end {
	bool decides;		/* this plan is carried out; else the next rung is asked */
	bool failure;		/* it counts as a failure of the site's policies */
	bool log;		/* the failure is to be logged: false from the fourth in a row on */
	double rests_s;		/* > 0: the rung rests, because of this and the failures before it */
	const char *ends;	/* what becomes of the cycle, to be put behind the text of the failure; may be "" */
};

/*
 * How long to rest after that many failures in a row: 0 before the third, then first_s, twice as long after each
 * further one, and 60 s at most.
 */
#define SL_LADDER_FAILURES 3
double sl_ladder_rest_s(unsigned failures, unsigned first_s);

struct sl_ladder {		/* all zero: everybody is to be asked */
	double rests_until[SL_RUNGS];	/* sl_clock_s() */
	unsigned failures;		/* of the site's policies, in a row */
	unsigned barren;		/* plans in a row */
};

/* True if the rung is not to be asked now. */
bool sl_ladder_rests(const struct sl_ladder *l, enum sl_rung rung, double now);

/* Note what came of asking the site's policies, and say what follows. */
struct sl_try_end sl_ladder_note(struct sl_ladder *l, enum sl_try what, double now);

/*
 * Note what became of a plan, whoever made it.  Returns true if this was one barren plan too many: the rungs
 * rest then, and the end of a SL_TRY_BARREN is put in *end.
 */
bool sl_ladder_note_plan(struct sl_ladder *l, bool barren, double now, struct sl_try_end *end);

#endif
