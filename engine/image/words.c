/* SPDX-License-Identifier: MIT */
/* words.c - see words.h */
#include "image/words.h"

#include <stdint.h>
#include <stdio.h>

const struct sl_word_line sl_word_line[SL_WORD_IDS] = {
#define LINE(id, text, beside, since, until, why) { #id, text, beside, since, until, why },
	SL_WORDS(LINE)
#undef LINE
};

/* Words that are ever left to select themselves. */
static const sl_word_set owners = 0
#define OWNER(id, text, beside, ...) | ((beside) ? SL_W(id) : 0)
	SL_WORDS(OWNER);
#undef OWNER

/* The lowest word of a set that is not empty. */
static int first_word(sl_word_set words)
{
	uint64_t low = (uint64_t) words;

	return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t) (words >> 64));
}

sl_word_set sl_words_left(sl_word_set asked)
{
	sl_word_set left = 0;

	for (sl_word_set rest = asked & owners; rest; rest &= rest - 1) {
		int w = first_word(rest);

		if (sl_word_line[w].beside & asked)
			left |= (sl_word_set) 1 << w;
	}
	return left;
}

const char *sl_words_text(sl_word_set left, sl_word_set asked, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (; left && at < size; left &= left - 1) {
		const struct sl_word_line *line = &sl_word_line[first_word(left)];
		sl_word_set beside = line->beside == SL_ALONE ? 0 : line->beside & asked;
		const char *joint = " beside ";

		at += (size_t) snprintf(text + at, size - at, "%s%s", at ? "; " : "", line->text);
		for (; beside && at < size; beside &= beside - 1) {
			at += (size_t) snprintf(text + at, size - at, "%s%s", joint, sl_word_line[first_word(beside)].text);
			joint = ", ";
		}
	}
	return text;
}
