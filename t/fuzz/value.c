/* SPDX-License-Identifier: MIT */
/* Remembered values as text: sl_value_check(), and the walk that Lua's reader makes. */
#include <math.h>
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "image/value.h"

const char fuzz_name[] = "value";

/* What is canonical comes out as it went in, token by token. */
static void walk(const char *text, bool good)
{
	struct sl_value_reader r = { .at = text };
	size_t length = strlen(text);
	char number[SL_VALUE_NUMBER_MAX], *bytes = malloc(length + 1);
	enum sl_value_token token;

	MUST(bytes);
	do {
		const char *before = r.at;

		token = sl_value_next(&r);
		MUST(r.at >= before && r.at <= text + length);
		if (token == SL_VALUE_END)
			break;
		MUST(r.from >= text && r.from + r.length <= text + length);
		if (token == SL_VALUE_STRING || token == SL_VALUE_NAME)
			MUST(sl_value_unquote(&r, bytes) <= r.length);
		*number = 0;
		if (token == SL_VALUE_INTEGER)
			sl_value_integer(number, r.integer);
		else if (token == SL_VALUE_NUMBER)
			sl_value_number(number, r.number);
		if (good && *number)
			MUST(strlen(number) == r.length && !memcmp(number, r.from, r.length));
	} while (token != SL_VALUE_END && token != SL_VALUE_BAD);
	MUST(!good || token == SL_VALUE_END);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_error err = { .code = SL_OK };
	char *text = strndup((const char *) data, size);
	bool good;

	MUST(text);
	good = sl_value_check(text, &err) == 0;
	if (good)
		fuzz_accepted++;
	else
		fuzz_refused(&err);
	walk(text, good);
	free(text);
	return 0;
}

static void make_value(FILE *out, uint64_t *seed, int depth)
{
	static const char *const plain[] = { "true", "false", "\"a\\x0ab\"", "1e999", "-1e999", "\"\"", "\"\\\"\\\\\"",
					     "0x8000000000000000" };
	char number[SL_VALUE_NUMBER_MAX];

	switch (make_below(seed, depth < 4 ? 5 : 3)) {
	case 0:
		fputs(plain[make_below(seed, 8)], out);
		return;
	case 1:
		sl_value_integer(number, (int64_t) (make_random(seed) >> make_below(seed, 64)));
		fputs(number, out);
		return;
	case 2:
		sl_value_number(number, (double) make_random(seed) / (1 + (double) make_below(seed, 1000)));
		fputs(number, out);
		return;
	case 3:
		fputs("{", out);
		for (uint32_t i = make_below(seed, 4); i > 0; i--) {
			make_value(out, seed, depth + 1);
			fputs(i > 1 ? "," : "", out);
		}
		fputs("}", out);
		return;
	default:
		fputs("{[-3]=1,[7]=", out);
		make_value(out, seed, depth + 1);
		fputs(",[\"a b\"]=", out);
		make_value(out, seed, depth + 1);
		fputs(",count=", out);
		make_value(out, seed, depth + 1);
		fputs("}", out);
	}
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	char *text = NULL;
	size_t n = 0, size;
	FILE *out = open_memstream(&text, &n);

	MUST(out);
	make_value(out, seed, 0);
	fclose(out);
	size = fuzz_text(to, text);
	free(text);
	return size;
}
