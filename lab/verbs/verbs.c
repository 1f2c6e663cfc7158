/* SPDX-License-Identifier: MIT */
#include "verbs/verbs.h"

#include "tool/verbs.h"

#define COUNT_VERB(name) + 1

#define LAB_VERBS(X) \
	X(forecast) \
	X(predict) \
	X(report) \
	X(sim) \
	X(compare) \
	X(tune) \
	X(evolve) \
	X(replay) \
	X(workload) \
	X(completion)

LAB_VERBS(SL_DECLARE_VERB)

const struct sl_verb *const sl_lab_verbs[] = { SL_TOOL_VERBS(SL_LIST_VERB) LAB_VERBS(SL_LIST_VERB) NULL };
const size_t sl_lab_own = 0 SL_TOOL_VERBS(COUNT_VERB);
