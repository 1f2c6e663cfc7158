/* SPDX-License-Identifier: MIT */
#include "t/hostile.h"

#include <string.h>

#include "t/random.h"

static const char *const pieces[] = {
	"\n", "\n", "\r", "\r\n", "\t", "\t", "|", ",", ";", ":", " ", "=", "-", "#", "'", "\"", "\\", "\\n", "\\x0a", "\\x0A", "\\x00",
	"\\x", "\\xg", "\\x5c", "%s%n", "\"}", "\"},{\"", "]]>", "</script>", "<!--", "&#10;", "{", "}", "NULL", "(null)", "../", "$(id)",
	"`id`", "sched:", "; sched: -n1", "\001", "\b", "\v", "\f", "\033[31m", "\033]0;x\007", "\177", "\xc2\x85", "\xc2\x9b", "\xe2\x80\xae",
	"\xe2\x80\xa8", "\xe2\x81\xa6", "\xd8\x9c", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98\x80",
	"\xc3\xa4", "a", "gpu", "n001", "0", "1", "-1", "4294967295", "18446744073709551616", "1e309", "nan",
};

char *hostile_text(char text[HOSTILE_SIZE], const char *row)
{
	size_t most = one_in(8) ? HOSTILE_SIZE - 1 : 1 + below(60), used = 0;

	if (one_in(16))
		most = 0;
	while (used < most) {
		const char *piece = row && one_in(6) ? row : pieces[below(sizeof(pieces) / sizeof(pieces[0]))];
		char byte[2] = { (char) (1 + below(255)), 0 };
		size_t n;

		if (one_in(10))
			piece = byte;
		n = strlen(piece);
		if (n > most - used)
			n = most - used;
		memcpy(text + used, piece, n);
		used += n;
	}
	text[used] = '\0';
	return text;
}
