/* SPDX-License-Identifier: MIT */
/*
 * features.h - which nodes of a snapshot satisfy a constraint.
 *
 * Many nodes have the same features.  Each distinct set of features is looked at once, and becomes one bit; the
 * sets that have a feature are a row of bits; and a constraint (constraint.h), read once, joins such rows.  So what a
 * constraint costs does not depend on how the nodes with these features lie.  Answers are kept, by the constraint.
 *
 * Ownership: an object owns what it returns, which stays until the next call; it borrows the snapshot and
 * the effort.  Threads: one object, one thread.
 */
#ifndef SL_FEATURES_H
#define SL_FEATURES_H

#include "base/effort.h"
#include "image/snapshot.h"
#include "model/constraint.h"
#include "timeline/nodeset.h"

/* What sl_constraint_read() and sl_constraint_count() say of a constraint. */
struct sl_constraint_says {
	enum sl_constraint kind;
	uint32_t choices;
	uint32_t count[SL_CONSTRAINT_TERMS];	/* of nodes, by term; of one with counts only */
};

struct sl_features;

/* NULL with *err: out of memory.  Work is counted in *effort* (may be NULL), but for what is done
 * once for all constraints. */
struct sl_features *sl_features_create(const struct sl_snapshot *snap, struct sl_effort *effort, struct sl_error *err);
void sl_features_destroy(struct sl_features *f);

/* Of a constraint, by its offset in the snapshot's strings.  Its text is read once. */
struct sl_constraint_says sl_features_says(struct sl_features *f, uint32_t constraint);

/* The nodes that satisfy it, its *choice*-th choice or term taken.  NULL with *err: SL_ENOMEM, SL_EEFFORT, SL_ETIME;
 * SL_EINVAL for one that is neither PLACED nor COUNTED, or has no such choice. */
const struct sl_nodeset *sl_features_nodes(struct sl_features *f, uint32_t constraint, uint32_t choice,
					   struct sl_error *err);

#endif
