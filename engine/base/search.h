/* SPDX-License-Identifier: MIT */
/*
 * search.h - where something changes, found by halving; and a word in a list.
 *
 * SL_FIRST(i, from, to, before) is the first i of [from, to) for which the expression *before*, of
 * i, does not hold, or *to* where it holds for all.  It holds for those in front and for none
 * behind; evaluated for as many as the logarithm of their number.  Of the type of *to*.
 *
 *	SL_FIRST(i, 0, n, entry[i].id < id)	where id stands, or would
 */
#ifndef SL_SEARCH_H
#define SL_SEARCH_H

#include <stdbool.h>
#include <string.h>

#define SL_FIRST(i, from, to, before) __extension__ ({ \
	__auto_type end_ = (to); \
	__typeof__(end_) first_ = (from); \
\
	while (first_ < end_) { \
		__typeof__(end_) i = first_ + (end_ - first_) / 2; \
\
		if (before) \
			first_ = i + 1; \
		else \
			end_ = i; \
	} \
	first_; \
})

/* Is the word of *length* bytes in a list such as "a,b" or "a, b", with these *separators*? */
static inline bool sl_list_has(const char *list, const char *separators, const char *word, size_t length)
{
	while (*list) {
		size_t n = strcspn(list, separators);

		if (n && n == length && !memcmp(list, word, n))
			return true;
		list += n + strspn(list + n, separators);
	}
	return false;
}

#endif
