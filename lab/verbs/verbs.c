/* SPDX-License-Identifier: MIT */
/* verbs.c - all verbs, in the order in which --help lists them */
#include "tool/tool.h"

#include <string.h>

#define VERBS(X) \
	X(check) \
	X(plan) \
	X(show) \
	X(explain) \
	X(forecast) \
	X(predict) \
	X(willrun) \
	X(status) \
	X(top) \
	X(report) \
	X(shadow) \
	X(ledger) \
	X(sim) \
	X(compare) \
	X(tune) \
	X(replay) \
	X(workload) \
	X(import_conf) \
	X(engine) \
	X(completion) \
	X(version)

#define DECLARE(name) extern const struct sl_verb sl_verb_##name;
VERBS(DECLARE)

#define ADDRESS(name) &sl_verb_##name,
const struct sl_verb *const sl_verbs[] = { VERBS(ADDRESS) NULL };

const struct sl_verb *sl_verb_find(const char *name)
{
	for (const struct sl_verb *const *v = sl_verbs; *v; v++)
		if (!strcmp((*v)->name, name))
			return *v;
	return NULL;
}
