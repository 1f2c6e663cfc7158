/* SPDX-License-Identifier: MIT */
#include "plain.h"

unsigned sl_utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *) text;
	unsigned n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		     s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

char *sl_plain(char *text)
{
	for (char *s = text; *s; ) {
		unsigned char c = (unsigned char) *s;
		unsigned n = sl_utf8_length(s);

		if (!n) {
			*s++ = '?';
		} else if (c < 0x20 || c == 0x7f) {
			*s++ = ' ';
		} else if (c == 0xc2 && (unsigned char) s[1] < 0xa0) {
			/* U+0080 to U+009F: some terminals obey these too */
			*s++ = ' ';
			*s++ = ' ';
		} else {
			s += n;
		}
	}
	return text;
}
