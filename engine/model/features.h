/* SPDX-License-Identifier: MIT */
/*
 * features.h - which nodes of a snapshot satisfy a constraint.
 *
 * Many nodes have the same features.  Each distinct set of features is one bit; each feature has a bit mask of the sets that
 * include it; a constraint (constraint.h) is parsed once and combines such masks.  So the cost of a constraint does not
 * depend on how nodes with these features are spread.  Answers are kept by constraint.
 *
 * Ownership: an object owns what it returns, valid until the next call; it borrows the snapshot and the effort.  Threads: one
 * per object.
 */
#ifndef SL_FEATURES_H
#define SL_FEATURES_H

#include "base/effort.h"
#include "image/snapshot.h"
#include "model/constraint.h"
#include "timeline/nodeset.h"

/* Results of sl_constraint_read() and sl_constraint_count(). */
struct sl_constraint_says {
	enum sl_constraint kind;
	uint32_t choices;
	uint32_t count[SL_CONSTRAINT_TERMS];	/* nodes of each term; for COUNTED only */
};

struct sl_features;

/* NULL with *err: out of memory.  Work is counted in *effort* (may be NULL), except what is done once for all constraints. */
struct sl_features *sl_features_create(const struct sl_snapshot *snap, struct sl_effort *effort, struct sl_error *err);
void sl_features_destroy(struct sl_features *f);

/* What a constraint says, given by its offset in the snapshot's strings.  Each text is parsed once. */
struct sl_constraint_says sl_features_says(struct sl_features *f, uint32_t constraint);

/* The nodes that satisfy a constraint with its *choice*-th choice or term.  NULL with *err: SL_ENOMEM, SL_EEFFORT,
 * SL_ETIME; SL_EINVAL if it is neither PLACED nor COUNTED, or has no such choice. */
const struct sl_nodeset *sl_features_nodes(struct sl_features *f, uint32_t constraint, uint32_t choice,
					   struct sl_error *err);

#endif
