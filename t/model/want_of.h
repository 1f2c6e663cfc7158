/* SPDX-License-Identifier: MIT */
/*
 * want_of.h - what a job of a build wants, by its id.
 */
#ifndef WANT_OF_H
#define WANT_OF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/build.h"
#include "model/cluster.h"

/* Of a job, by its id, in that partition. */
static inline const struct sl_want *want_in(struct sl_cluster *c, uint32_t id, uint32_t partition)
{
	const struct sl_job_view *job = &sl_cluster_snapshot(c)->job;
	const struct sl_want *w;
	struct sl_error err;
	uint32_t row = 0;

	while (row < job->rows && job->id[row] != id)
		row++;
	w = sl_cluster_want(c, (struct sl_entry) { .job = row, .partition = partition }, &err);
	if (!w)
		fail_msg("%s", err.text);
	return w;
}

static inline const struct sl_want *want(struct sl_cluster *c, uint32_t id)
{
	return want_in(c, id, 0);
}

/* Those words of it are left to select, and no others. */
static inline void assert_left(const struct sl_want *w, sl_word_set words)
{
	char left[SL_WORDS_TEXT], text[SL_WORDS_TEXT];

	if (w->native != words)
		fail_msg("left to select: \"%s\", not \"%s\"", sl_words_text(w->native, w->asked, left, sizeof(left)),
			 sl_words_text(words, w->asked, text, sizeof(text)));
}

#endif
