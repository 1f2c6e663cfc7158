/* SPDX-License-Identifier: MIT */
#include "base/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

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

uint32_t sl_utf8_unsafe(const char *text)
{
	const unsigned char *s = (const unsigned char *) text;
	unsigned n = sl_utf8_length(text);
	uint32_t c = n < 2 ? s[0] : n == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu) :
		     n == 3 ? (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu) : 0x10000;

	if (!n || (c >= 0x20 && c < 0x7f))
		return 0;
	/* some terminals obey U+0080 to U+009F as well; what follows them turns the writing
	 * round, or ends a line */
	return c < 0xa0 || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) ? c : 0;
}

/* The same, but for what is in *keep*. */
static char *make_plain(char *text, const char *keep)
{
	for (char *s = text; *s; ) {
		unsigned n = sl_utf8_length(s);

		if (!n)
			*s = '?';
		else if (sl_utf8_unsafe(s) && !strchr(keep, *s))
			memset(s, ' ', n);
		s += n ? n : 1;
	}
	return text;
}

char *sl_plain(char *text)
{
	return make_plain(text, "");
}

/* -- streams --------------------------------------------------------------- */

#define PIECE 4096

struct stream {
	int fd;
	char text[PIECE + 4];		/* begins with what is left of a character */
	size_t left;
};

/* How many bytes at the end begin a character that is not there as a whole. */
static size_t unfinished(const char *text, size_t n)
{
	for (size_t k = 1; k < 4 && k <= n; k++) {
		unsigned char c = (unsigned char) text[n - k];

		if (c >= 0xc0)
			return k < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? k : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

static ssize_t write_plain(void *cookie, const char *from, size_t size)
{
	struct stream *s = cookie;
	char tail[4];

	for (size_t at = 0, n; at < size; at += n) {
		size_t all, left;

		n = size - at < PIECE ? size - at : PIECE;
		memcpy(s->text + s->left, from + at, n);
		all = s->left + n;
		for (size_t i = s->left; i < all; i++)
			if (!s->text[i])
				s->text[i] = '?';
		left = unfinished(s->text, all);
		memcpy(tail, s->text + all - left, left);
		s->text[all - left] = 0;
		if (sl_write_all(s->fd, make_plain(s->text, "\n\t"), all - left))
			return 0;	/* with errno: how a cookie says so */
		memcpy(s->text, tail, left);
		s->left = left;
	}
	return (ssize_t) size;
}

static int close_plain(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *sl_plain_stream(int fd, int buffering)
{
	struct stream *s = calloc(1, sizeof(*s));
	FILE *f;

	if (!s)
		return NULL;
	s->fd = fd;
	f = fopencookie(s, "w", (cookie_io_functions_t) { .write = write_plain, .close = close_plain });
	if (!f) {
		free(s);
		return NULL;
	}
	setvbuf(f, NULL, buffering, BUFSIZ);
	return f;
}

bool sl_same_but_numbers(const char *a, const char *b)
{
	for (;;) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b || !*a)
			return *a == *b;
		a++;
		b++;
	}
}
