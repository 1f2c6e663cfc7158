/* SPDX-License-Identifier: MIT */
/* explain_words.h - what schedlua explain prints of some events, without an end of the line. */
#ifndef SL_EXPLAIN_WORDS_H
#define SL_EXPLAIN_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Of a start on borrowed nodes: whose, and why. */
void sl_explain_loan(const json_t *event, FILE *out);

/* Of a job that is stopped for another (which the event need not name), and whether it was done; of one whose place is held. */
void sl_explain_stop(const json_t *event, bool done, FILE *out);

#endif
