/* SPDX-License-Identifier: MIT */
#include "image/gres_word.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool sl_gres_count(const char *text, uint64_t *n)
{
	static const char letters[] = "kmgtp";
	const char *at;
	uint64_t base = 1024, v;
	char *end;

	v = strtoull(text, &end, 10);
	if (end == text || !isdigit((unsigned char) *text) || v > SL_GRES_MOST)
		return false;
	at = *end ? strchr(letters, tolower((unsigned char) *end)) : NULL;
	if (*end) {
		if (!at)
			return false;
		end++;
		if (!strcasecmp(end, "b"))
			base = 1000;
		else if (*end && strcasecmp(end, "ib"))
			return false;
		for (; at >= letters; at--)
			if (__builtin_mul_overflow(v, base, &v) || v > SL_GRES_MOST)
				return false;
	}
	*n = v;
	return true;
}

/* Cut at colons in place; how many there are, at most *most* + 1. */
static int cut_parts(char *text, char **part, int most)
{
	int parts = 0;

	for (char *p = text; p && parts <= most; parts++) {
		part[parts] = p;
		p = strchr(p, ':');
		if (p)
			*p++ = 0;
	}
	return parts;
}

bool sl_gres_word(const char *text, size_t length, struct sl_gres_word *w)
{
	char copy[160], *part[5];
	int parts;

	memset(w, 0, sizeof(*w));
	if (length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = 0;
	copy[strcspn(copy, "(")] = 0;
	parts = cut_parts(copy, part, 4);
	w->count = 1;
	if (parts > 1 && isdigit((unsigned char) *part[parts - 1]) && !sl_gres_count(part[--parts], &w->count))
		return false;
	for (int i = 1; i < parts; i++) {
		if (!strcasecmp(part[i], "no_consume"))
			w->no_consume = true;
		else if (*w->type || !*part[i] || snprintf(w->type, sizeof(w->type), "%s", part[i]) >= (int) sizeof(w->type))
			return false;
	}
	return *part[0] && parts <= 4 && snprintf(w->name, sizeof(w->name), "%s", part[0]) < (int) sizeof(w->name);
}

size_t sl_gres_word_length(const char *text)
{
	size_t n = 0;

	for (int depth = 0; text[n] && (depth > 0 || text[n] != ','); n++)
		depth += (text[n] == '(') - (text[n] == ')');
	return n;
}
