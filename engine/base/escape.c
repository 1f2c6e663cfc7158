/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include <string.h>

#include "base/plain.h"

/* The length of the character at *s* if it is written as it is, else 0. */
static unsigned bare_length(const char *s, const char *separators)
{
	unsigned n = sl_utf8_length(s);

	return n && *s != '\\' && !strchr(separators, *s) && !sl_utf8_unsafe(s) ? n : 0;
}

void sl_escape_put(FILE *out, const char *text, const char *separators)
{
	while (*text) {
		unsigned bare = bare_length(text, separators), whole = sl_utf8_length(text);

		if (bare)
			fwrite(text, 1, bare, out);
		for (unsigned i = bare; i < (whole ? whole : 1); i++)
			fprintf(out, "\\x%02x", (unsigned char) text[i]);
		text += whole ? whole : 1;
	}
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that the escape at *s* stands for; -1: it is none. */
static int escaped_byte(const char *s)
{
	int high, low;

	if (s[0] != '\\' || s[1] != 'x' || (high = digit_of(s[2])) < 0 || (low = digit_of(s[3])) < 0)
		return -1;
	return high << 4 | low;
}

bool sl_unescape(char *text, const char *separators)
{
	char *to = text;

	while (*text) {
		unsigned n = bare_length(text, separators);
		int byte = n ? 0 : escaped_byte(text);

		if (!n && byte <= 0)
			return false;
		if (n)
			memmove(to, text, n);
		else
			*to = (char) byte;
		to += n ? n : 1;
		text += n ? n : 4;
	}
	*to = '\0';
	return true;
}

void sl_csv_put(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

bool sl_text_is_unsafe(const char *text)
{
	for (unsigned n; *text; text += n)
		if (!(n = sl_utf8_length(text)) || sl_utf8_unsafe(text))
			return true;
	return false;
}
