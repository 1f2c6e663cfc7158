/* SPDX-License-Identifier: MIT */
#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"

#define LONGEST 63

static bool same_letter(char a, char b)
{
	return tolower((unsigned char) a) == tolower((unsigned char) b);
}

/* Edits (insert, delete, replace, swap neighbours) that make one word of the other. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t row[3][LONGEST + 1];	/* of this character of a, the last, the one before */

	for (size_t j = 0; j <= m; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		memcpy(row[2], row[1], sizeof(row[2]));
		memcpy(row[1], row[0], sizeof(row[1]));
		row[0][0] = i;
		for (size_t j = 1; j <= m; j++) {
			row[0][j] = sl_min(sl_min(row[1][j], row[0][j - 1]) + 1,
					  row[1][j - 1] + !same_letter(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
				row[0][j] = sl_min(row[0][j], row[2][j - 2] + 1);
		}
	}
	return row[0][m];
}

void sl_nearest_try(struct sl_nearest *n, const char *known)
{
	size_t length = strnlen(known, LONGEST), near = length / 3 > 1 ? length / 3 : 1;
	size_t d = edit_distance(n->word, strnlen(n->word, LONGEST), known, length);

	if (d > near || (n->best && d >= n->distance))
		return;
	n->best = known;
	n->distance = d;
}
