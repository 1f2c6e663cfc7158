/* SPDX-License-Identifier: MIT */
/* verbs.h - all commands, in the order in which --help lists them */
#ifndef SL_LAB_VERBS_H
#define SL_LAB_VERBS_H

#include "tool/options.h"

/* Those of schedlua itself, then from sl_lab_own on those of the lab; NULL at the end. */
extern const struct sl_verb *const sl_lab_verbs[];
extern const size_t sl_lab_own;

/* Call tell() for each word that "tune --objective" takes. */
void sl_tune_figures(void (*tell)(const char *word, void *arg), void *arg);

#endif
