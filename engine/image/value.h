/* SPDX-License-Identifier: MIT */
/*
 * value.h - plain values as text: what policies remember (remember.h) travels so.
 *
 * The text is that of a Lua constructor, on one line, in printable ASCII and in one
 * canonical form, so that equal values are equal bytes:
 *
 *	true	-17	0.25	1e999	"a\x0ab"	{1,2,{},[7]=true,count=3,["a b"]={}}
 *
 * An integer has no point and no exponent, a number has one of them or is 1e999 (without
 * a limit).  The smallest integer is 0x8000000000000000, as Lua has no other constant for
 * it.  In a table come first the elements from 1 on without a gap, then other
 * integers in rising order, then strings in rising order of their bytes; so no key
 * stands there twice.  A string that is a name and no word of Lua's is written bare.
 *
 * Both the validator and Lua's reader (bind/remember.c) see a text through
 * sl_value_next(), which never reads beyond its NUL.
 *
 * Threads: pure functions.
 */
#ifndef SL_VALUE_H
#define SL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SL_VALUE_DEPTH 16		/* tables in tables */

enum sl_value_token {
	SL_VALUE_END,			/* of the text */
	SL_VALUE_TRUE, SL_VALUE_FALSE, SL_VALUE_INTEGER, SL_VALUE_NUMBER,
	SL_VALUE_STRING,		/* escapes and quotes and all: sl_value_unquote() */
	SL_VALUE_NAME,			/* a bare key */
	SL_VALUE_OPEN, SL_VALUE_CLOSE,	/* { } */
	SL_VALUE_KEY, SL_VALUE_YEK,	/* [ ] */
	SL_VALUE_IS, SL_VALUE_COMMA,
	SL_VALUE_BAD
};

struct sl_value_reader {
	const char *at;			/* the next token begins here */
	/* of the token read last: */
	const char *from;
	size_t length;
	int64_t integer;
	double number;
};

enum sl_value_token sl_value_next(struct sl_value_reader *r);

/* The bytes of a string token or a name into *to*, which has room for r->length of them;
 * how many they are. */
size_t sl_value_unquote(const struct sl_value_reader *r, char *to);

/* Is this text one value in canonical form?  0, or -1 with *err: what was expected at
 * which byte (SL_EFORMAT), or SL_ELIMIT for tables that are nested too deeply. */
int sl_value_check(const char *text, struct sl_error *err);

/* The canonical text of an integer, and of a number that is no not-a-number. */
#define SL_VALUE_NUMBER_MAX 32
void sl_value_integer(char text[SL_VALUE_NUMBER_MAX], int64_t v);
void sl_value_number(char text[SL_VALUE_NUMBER_MAX], double v);

/* A byte of a string as it stands between the quotes: how many bytes of *to* that takes, with no NUL behind. */
size_t sl_value_escape(char to[4], unsigned char c);

/* Can a key of so many bytes be written bare? */
bool sl_value_is_name(const char *key, size_t length);

#endif
