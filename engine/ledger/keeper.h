/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - the ledger keeper: the process that owns the ledger's file.
 *
 * The engine that decides is hardened and can write no file (process/harden.h), so it starts
 * the keeper before that.  The keeper has a milder confinement: it becomes the owner of
 * the directory, loses all capabilities, and can run no program and make no connection.
 * They talk through a packet socket of their own:
 *
 *	engine -> keeper                          keeper -> engine
 *	FEED  sequence, + snapshot                STATE  which snapshot is safe, why stale
 *	ASK   id, question                        ANSWER id, state, + totals | error text
 *	RUNS  id, + who, since when               ANSWER id, state, + runs of those that have new ones
 *
 * A snapshot is fed as the memfd in which the plug-in sent it.  The keeper reads it, answers
 * the questions that came with it, and then writes; so the answers include what ended
 * just now, and no question waits for a disk.  FEED is never waited for: a keeper that is behind misses
 * a snapshot, which loses nothing, since the plug-in repeats what has ended until it
 * is safe.  Answers are waited for, SL_KEEPER_WAIT_MS in a cycle in all; then the last
 * answer to the same question is what there is, and sl_keeper_stale() says so.
 *
 * Two processes: one does nothing but start the other again when it has ended, which the
 * hardened engine could not.  Both end with the engine.
 *
 * A ledger that is damaged is set aside; no other is made but on order (schedlua ledger
 * create or import).  What ends meanwhile is kept in memory, bounded.
 *
 * Ownership: a keeper owns its socket and its answers.  Threads: none.
 */
#ifndef SL_KEEPER_H
#define SL_KEEPER_H

#include "usage/history.h"

#define SL_KEEPER_WAIT_MS 200
#define SL_KEEPER_QUESTIONS 64		/* different ones that are remembered */

struct sl_keeper;

/*
 * Start the keeper of the ledger in *dir*.  Call it before sl_harden(), while there is one thread.
 * Descriptors above 2 are closed in it.  NULL with *err.
 */
struct sl_keeper *sl_keeper_start(const char *dir, struct sl_error *err);
void sl_keeper_destroy(struct sl_keeper *k);

/* A cycle begins: feed its snapshot (a sealed memfd), never waiting.  */
void sl_keeper_feed(struct sl_keeper *k, int fd, int64_t sequence);

/* Read what the keeper has said meanwhile, not waiting. */
void sl_keeper_poll(struct sl_keeper *k);

/* All that had ended by this snapshot is safe; 0: nothing is known to be. */
int64_t sl_keeper_safe(const struct sl_keeper *k);

/* Why what was used may be out of date, or NULL. */
const char *sl_keeper_stale(const struct sl_keeper *k);

/* What policies see as cluster.history; from the first cycle after a feed on.  NULL: out of memory. */
struct sl_history *sl_keeper_history(struct sl_keeper *k);

/* Who answers cluster.usage. */
struct sl_usage_provider sl_keeper_provider(struct sl_keeper *k);

#endif
