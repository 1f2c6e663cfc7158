/* SPDX-License-Identifier: MIT */
/*
 * verbs.h - the commands of schedlua itself, in the order in which --help lists them.
 *
 * schedlab has these, too, and those of the lab (lab/verbs/verbs.c).
 */
#ifndef SL_VERBS_H
#define SL_VERBS_H

#include "tool/options.h"

#define SL_TOOL_VERBS(X) \
	X(check) \
	X(deploy) \
	X(plan) \
	X(show) \
	X(explain) \
	X(willrun) \
	X(status) \
	X(top) \
	X(serve) \
	X(shadow) \
	X(ledger) \
	X(import_conf) \
	X(engine) \
	X(version)

#define SL_DECLARE_VERB(name) extern const struct sl_verb sl_verb_##name;
SL_TOOL_VERBS(SL_DECLARE_VERB)

/* An entry of a list of verbs, which ends with NULL. */
#define SL_LIST_VERB(name) &sl_verb_##name,

#endif
