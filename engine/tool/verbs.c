/* SPDX-License-Identifier: MIT */
/* verbs.c - all verbs, in the order in which --help lists them */
#include "tool/tool.h"

#include <string.h>

const struct sl_verb *const sl_verbs[] = {
	&sl_verb_check,
	&sl_verb_plan,
	&sl_verb_show,
	&sl_verb_explain,
	&sl_verb_forecast,
	&sl_verb_predict,
	&sl_verb_willrun,
	&sl_verb_status,
	&sl_verb_top,
	&sl_verb_report,
	&sl_verb_shadow,
	&sl_verb_ledger,
	&sl_verb_sim,
	&sl_verb_compare,
	&sl_verb_tune,
	&sl_verb_replay,
	&sl_verb_workload,
	&sl_verb_import_conf,
	&sl_verb_engine,
	&sl_verb_completion,
	&sl_verb_version,
	NULL,
};

const struct sl_verb *sl_verb_find(const char *name)
{
	for (const struct sl_verb *const *v = sl_verbs; *v; v++)
		if (!strcmp((*v)->name, name))
			return *v;
	return NULL;
}
