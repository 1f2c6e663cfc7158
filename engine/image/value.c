/* SPDX-License-Identifier: MIT */
#include "image/value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ctype.h goes by the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_digit(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* -- names and numbers ----------------------------------------------------- */

static bool is_word(const char *key, size_t length)
{
	static const char *const words[] = {
		"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
		"local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == length && !memcmp(words[i], key, length))
			return true;
	return false;
}

bool sl_value_is_name(const char *key, size_t length)
{
	if (!length || !is_letter(key[0]))
		return false;
	for (size_t i = 1; i < length; i++)
		if (!is_letter(key[i]) && !is_digit(key[i]))
			return false;
	return !is_word(key, length);
}

static const char smallest[] = "0x8000000000000000";

void sl_value_integer(char text[SL_VALUE_NUMBER_MAX], int64_t v)
{
	if (v == INT64_MIN)
		memcpy(text, smallest, sizeof(smallest));
	else
		snprintf(text, SL_VALUE_NUMBER_MAX, "%" PRId64, v);
}

/* The shortest text that is this number again. */
void sl_value_number(char text[SL_VALUE_NUMBER_MAX], double v)
{
	int n = 0;

	if (isinf(v)) {
		snprintf(text, SL_VALUE_NUMBER_MAX, "%s1e999", v < 0 ? "-" : "");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		n = snprintf(text, SL_VALUE_NUMBER_MAX, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	if (!strpbrk(text, ".e"))
		snprintf(text + n, SL_VALUE_NUMBER_MAX - (size_t) n, ".0");
}

/* Most of what is remembered is integers of a few digits.  True, or it is something else. */
static bool read_short_integer(struct sl_value_reader *r)
{
	const char *p = r->at + (*r->at == '-'), *first = p;
	int64_t v = 0;

	while (is_digit(*p) && p - first < 18)
		v = v * 10 + (*p++ - '0');
	if (p == first || (*first == '0' && (p - first > 1 || first > r->at)) || is_digit(*p) || is_letter(*p) ||
	    *p == '.' || *p == '+' || *p == '-')
		return false;
	r->integer = first > r->at ? -v : v;
	r->length = (size_t) (p - r->at);
	return true;
}

static enum sl_value_token read_number(struct sl_value_reader *r)
{
	char text[SL_VALUE_NUMBER_MAX];
	char canonical[SL_VALUE_NUMBER_MAX];
	bool integer;
	char *end;
	size_t n;

	if (read_short_integer(r))
		return SL_VALUE_INTEGER;
	n = strspn(r->at, "-+.0123456789ex");
	integer = strspn(r->at, "-0123456789x") == n;
	if (n >= sizeof(text))
		return SL_VALUE_BAD;
	memcpy(text, r->at, n);
	text[n] = 0;
	errno = 0;
	if (integer) {
		r->integer = strtoll(text, &end, 10);
		if (!strcmp(text, smallest)) {
			r->integer = INT64_MIN;
			end = text + n;
		}
		sl_value_integer(canonical, r->integer);
		if (errno)
			return SL_VALUE_BAD;
	} else {
		r->number = strtod(text, &end);
		sl_value_number(canonical, r->number);
	}
	if (*end || strcmp(text, canonical))
		return SL_VALUE_BAD;
	r->length = n;
	return integer ? SL_VALUE_INTEGER : SL_VALUE_NUMBER;
}

/* -- strings ---------------------------------------------------------------- */

/* Which bytes stand for themselves. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\';
}

static enum sl_value_token read_string(struct sl_value_reader *r)
{
	const char *p = r->at + 1;
	int high, low;

	for (; *p != '"'; p++) {
		if (is_plain((unsigned char) *p))
			continue;
		if (*p != '\\')
			return SL_VALUE_BAD;	/* the end of the text, too */
		p++;
		if (*p == '"' || *p == '\\')
			continue;
		/* what can be written plainly is not written so */
		if (*p != 'x' || (high = hex_digit(p[1])) < 0 || (low = hex_digit(p[2])) < 0 ||
		    (high * 16 + low >= 0x20 && high * 16 + low <= 0x7e))
			return SL_VALUE_BAD;
		p += 2;
	}
	r->length = (size_t) (p + 1 - r->at);
	return SL_VALUE_STRING;
}

size_t sl_value_unquote(const struct sl_value_reader *r, char *to)
{
	const char *p = r->from, *end = p + r->length;
	size_t n = 0;

	if (*p != '"') {
		memcpy(to, p, r->length);
		return r->length;
	}
	for (p++, end--; p < end; p++) {
		if (*p != '\\') {
			to[n++] = *p;
		} else if (*++p != 'x') {
			to[n++] = *p;
		} else {
			to[n++] = (char) (hex_digit(p[1]) * 16 + hex_digit(p[2]));
			p += 2;
		}
	}
	return n;
}

size_t sl_value_escape(char to[4], unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		memcpy(to, (char[]) { '\\', (char) c }, 2);
		return 2;
	}
	if (c < 0x20 || c > 0x7e) {
		memcpy(to, (char[]) { '\\', 'x', digits[c >> 4], digits[c & 15] }, 4);
		return 4;
	}
	*to = (char) c;
	return 1;
}

/* -- tokens ------------------------------------------------------------------ */

static enum sl_value_token read_name(struct sl_value_reader *r)
{
	size_t n = 0;

	while (is_letter(r->at[n]) || is_digit(r->at[n]))
		n++;
	r->length = n;
	if (n == 4 && !memcmp(r->at, "true", 4))
		return SL_VALUE_TRUE;
	if (n == 5 && !memcmp(r->at, "false", 5))
		return SL_VALUE_FALSE;
	return is_word(r->at, n) ? SL_VALUE_BAD : SL_VALUE_NAME;
}

enum sl_value_token sl_value_next(struct sl_value_reader *r)
{
	static const char marks[] = "{}[]=,";
	static const enum sl_value_token mark_tokens[] = {
		SL_VALUE_OPEN, SL_VALUE_CLOSE, SL_VALUE_KEY, SL_VALUE_YEK, SL_VALUE_IS, SL_VALUE_COMMA,
	};
	enum sl_value_token token = SL_VALUE_BAD;
	char c = *r->at;
	const char *mark = c ? strchr(marks, c) : NULL;

	r->from = r->at;
	r->length = 1;
	if (!c)
		return SL_VALUE_END;
	if (mark)
		token = mark_tokens[mark - marks];
	else if (c == '"')
		token = read_string(r);
	else if (is_digit(c) || c == '-')
		token = read_number(r);
	else if (is_letter(c))
		token = read_name(r);
	if (token != SL_VALUE_BAD)
		r->at += r->length;
	return token;
}

/* -- is it well formed? ------------------------------------------------------- */

struct checker {
	struct sl_value_reader r;
	const char *text;
	struct sl_error *err;
};

static int fail_expected(struct checker *c, const char *what)
{
	return sl_fail(c->err, SL_EFORMAT, "byte %zu: expected %s", (size_t) (c->r.from - c->text), what);
}

/* A key of the table that is read: they rise, integers before strings. */
struct key {
	bool some, is_string;
	int64_t integer;
	struct sl_value_reader string;
};

/* Compare the bytes that two string tokens stand for. */
static int compare_strings(const struct sl_value_reader *a, const struct sl_value_reader *b)
{
	struct sl_value_reader x = *a, y = *b;
	const char *p = x.from, *q = y.from, *p_end = p + x.length, *q_end = q + y.length;

	if (*p == '"') {
		p++;
		p_end--;
	}
	if (*q == '"') {
		q++;
		q_end--;
	}
	while (p < p_end && q < q_end) {
		unsigned char m = (unsigned char) *p++, n = (unsigned char) *q++;

		if (m == '\\' && *p == 'x') {
			m = (unsigned char) (hex_digit(p[1]) * 16 + hex_digit(p[2]));
			p += 3;
		} else if (m == '\\') {
			m = (unsigned char) *p++;
		}
		if (n == '\\' && *q == 'x') {
			n = (unsigned char) (hex_digit(q[1]) * 16 + hex_digit(q[2]));
			q += 3;
		} else if (n == '\\') {
			n = (unsigned char) *q++;
		}
		if (m != n)
			return m < n ? -1 : 1;
	}
	return p < p_end ? 1 : q < q_end ? -1 : 0;
}

/* Does *key follow *last, in a table with so many elements from 1 on? */
static bool comes_after(const struct key *last, const struct key *key, int64_t elements)
{
	if (!key->is_string && key->integer >= 1 && key->integer <= elements + 1)
		return false;	/* stands among the elements, or would */
	if (!last->some)
		return true;
	if (last->is_string != key->is_string)
		return key->is_string;
	return key->is_string ? compare_strings(&last->string, &key->string) < 0 : last->integer < key->integer;
}

static int check_value(struct checker *c, enum sl_value_token token, int depth);

/* [7]=, ["a b"]= or name=, whose first token is read.  Returns 0, or -1. */
static int check_key(struct checker *c, enum sl_value_token token, struct key *last, int64_t elements)
{
	struct key key = { .some = true };

	if (token == SL_VALUE_KEY) {
		token = sl_value_next(&c->r);
		if (token != SL_VALUE_INTEGER && token != SL_VALUE_STRING)
			return fail_expected(c, "an integer or a string as key");
		key.is_string = token == SL_VALUE_STRING;
		if (key.is_string && c->r.length > 2 && sl_value_is_name(c->r.from + 1, c->r.length - 2))
			return fail_expected(c, "the bare name as key");
	} else {
		key.is_string = true;
	}
	key.integer = c->r.integer;
	key.string = c->r;
	if (!comes_after(last, &key, elements))
		return fail_expected(c, "a key that comes after the one before");
	if (token != SL_VALUE_NAME && sl_value_next(&c->r) != SL_VALUE_YEK)
		return fail_expected(c, "']'");
	if (sl_value_next(&c->r) != SL_VALUE_IS)
		return fail_expected(c, "'='");
	*last = key;
	return 0;
}

/* What follows '{'. */
static int check_table(struct checker *c, int depth)
{
	enum sl_value_token token = sl_value_next(&c->r);
	struct key last = { false };
	int64_t elements = 0;

	if (depth > SL_VALUE_DEPTH)
		return sl_fail(c->err, SL_ELIMIT, "tables in tables more than %d deep", SL_VALUE_DEPTH);
	if (token == SL_VALUE_CLOSE)
		return 0;
	for (;;) {
		if (token == SL_VALUE_KEY || token == SL_VALUE_NAME) {
			if (check_key(c, token, &last, elements))
				return -1;
			token = sl_value_next(&c->r);
		} else if (last.some) {
			return fail_expected(c, "a key");
		} else {
			elements++;
		}
		if (check_value(c, token, depth))
			return -1;
		token = sl_value_next(&c->r);
		if (token == SL_VALUE_CLOSE)
			return 0;
		if (token != SL_VALUE_COMMA)
			return fail_expected(c, "',' or '}'");
		token = sl_value_next(&c->r);
	}
}

static int check_value(struct checker *c, enum sl_value_token token, int depth)
{
	switch (token) {
	case SL_VALUE_TRUE:
	case SL_VALUE_FALSE:
	case SL_VALUE_INTEGER:
	case SL_VALUE_NUMBER:
	case SL_VALUE_STRING:
		return 0;
	case SL_VALUE_OPEN:
		return check_table(c, depth + 1);
	default:
		return fail_expected(c, "a value");
	}
}

int sl_value_check(const char *text, struct sl_error *err)
{
	struct checker c = { .r.at = text, .text = text, .err = err };

	if (check_value(&c, sl_value_next(&c.r), 0))
		return -1;
	return sl_value_next(&c.r) == SL_VALUE_END ? 0 : fail_expected(&c, "the end");
}
