/* SPDX-License-Identifier: MIT */
#include "image/json_out.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/plain.h"

#define PIECE 65536	/* bytes handed to a FILE at a time */

struct sl_json {
	FILE *out;
	char *text;
	size_t size;
	uint32_t room;
	unsigned depth;
	bool object[SL_JSON_DEPTH + 1];	/* what is open at each depth */
	bool some[SL_JSON_DEPTH + 1];	/* it has a member already */
	bool keyed;			/* a key was written, its value is due */
	bool broken;			/* a new line is due */
	struct sl_error err;
};

static void note_failure(struct sl_json *j, enum sl_errno code, const char *what)
{
	if (!j->err.code)
		sl_fail(&j->err, code, "JSON: %s", what);
}

static bool make_room(struct sl_json *j, size_t n)
{
	if (!j->err.code && sl_grow(&j->text, &j->room, j->size + n + 1, 1, NULL))
		note_failure(j, SL_ENOMEM, "no memory");
	return !j->err.code;
}

static void put_bytes(struct sl_json *j, const char *s, size_t n)
{
	if (!make_room(j, n))
		return;
	memcpy(j->text + j->size, s, n);
	j->size += n;
}

static void hand_on(struct sl_json *j, size_t at_least)
{
	if (!j->out || j->err.code || j->size < at_least)
		return;
	if (j->size && fwrite(j->text, 1, j->size, j->out) != j->size && !j->err.code)
		sl_fail(&j->err, SL_EIO, "JSON: %s", strerror(errno));
	j->size = 0;
}

struct sl_json *sl_json_create(FILE *out, struct sl_error *err)
{
	struct sl_json *j = calloc(1, sizeof(*j));

	if (!j) {
		sl_fail(err, SL_ENOMEM, "JSON: no memory");
		return NULL;
	}
	j->out = out;
	return j;
}

void sl_json_destroy(struct sl_json *j)
{
	if (!j)
		return;
	free(j->text);
	free(j);
}

void sl_json_reset(struct sl_json *j)
{
	j->size = 0;
	j->depth = 0;
	j->some[0] = false;
	j->keyed = j->broken = false;
	j->err.code = SL_OK;
}

static void new_line(struct sl_json *j)
{
	if (!j->broken)
		return;
	put_bytes(j, "\n", 1);
	for (unsigned i = 0; i < j->depth; i++)
		put_bytes(j, "  ", 2);
	j->broken = false;
}

/* What goes before a value: nothing after a key, else a comma after a value. */
static void put_separator(struct sl_json *j)
{
	if (j->depth && j->object[j->depth] && !j->keyed)
		note_failure(j, SL_EINVAL, "a value without a key in an object");
	if (!j->depth && j->some[0])
		note_failure(j, SL_EINVAL, "a second value at the top");
	if (!j->keyed) {
		if (j->some[j->depth])
			put_bytes(j, j->broken ? "," : ", ", j->broken ? 1 : 2);
		new_line(j);
	}
	j->keyed = false;
	j->some[j->depth] = true;
}

static void begin_group(struct sl_json *j, bool object)
{
	put_separator(j);
	if (j->depth == SL_JSON_DEPTH) {
		note_failure(j, SL_EINVAL, "too deep");
		return;
	}
	j->depth++;
	j->object[j->depth] = object;
	j->some[j->depth] = false;
	put_bytes(j, object ? "{" : "[", 1);
}

static void end_group(struct sl_json *j, bool object)
{
	if (!j->depth || j->object[j->depth] != object || j->keyed) {
		note_failure(j, SL_EINVAL, object ? "no object to end" : "no array to end");
		return;
	}
	j->depth--;
	new_line(j);
	put_bytes(j, object ? "}" : "]", 1);
	hand_on(j, PIECE);
}

void sl_json_begin_object(struct sl_json *j)
{
	begin_group(j, true);
}

void sl_json_end_object(struct sl_json *j)
{
	end_group(j, true);
}

void sl_json_begin_array(struct sl_json *j)
{
	begin_group(j, false);
}

void sl_json_end_array(struct sl_json *j)
{
	end_group(j, false);
}

static void put_string(struct sl_json *j, const char *text)
{
	static const char *const short_escape[] = {
		['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r",
		['"'] = "\\\"", ['\\'] = "\\\\",
	};
	const unsigned char *s = (const unsigned char *) text, *from = s;
	char escape[12];
	uint32_t unsafe;

	put_bytes(j, "\"", 1);
	while (*s) {
		unsigned n = sl_utf8_length((const char *) s);
		const char *with = NULL;

		if (!n)
			with = "\xef\xbf\xbd";
		else if (*s < sizeof(short_escape) / sizeof(short_escape[0]) && short_escape[*s])
			with = short_escape[*s];
		else if ((unsafe = sl_utf8_unsafe((const char *) s))) {
			snprintf(escape, sizeof(escape), "\\u%04x", unsafe);
			with = escape;
		}
		if (!with) {
			s += n;
			continue;
		}
		put_bytes(j, (const char *) from, s - from);
		put_bytes(j, with, strlen(with));
		s += n ? n : 1;
		from = s;
	}
	put_bytes(j, (const char *) from, s - from);
	put_bytes(j, "\"", 1);
}

void sl_json_key(struct sl_json *j, const char *key)
{
	if (!j->depth || !j->object[j->depth] || j->keyed) {
		note_failure(j, SL_EINVAL, "a key where none can be");
		return;
	}
	if (j->some[j->depth])
		put_bytes(j, j->broken ? "," : ", ", j->broken ? 1 : 2);
	new_line(j);
	put_string(j, key);
	put_bytes(j, ": ", 2);
	j->keyed = true;
}

void sl_json_str(struct sl_json *j, const char *s)
{
	if (!s) {
		sl_json_null(j);
		return;
	}
	put_separator(j);
	put_string(j, s);
}

void sl_json_int(struct sl_json *j, int64_t v)
{
	char digits[24];

	put_separator(j);
	put_bytes(j, digits, snprintf(digits, sizeof(digits), "%" PRId64, v));
}

/* The shortest form that reads back as the same number, whatever the locale
 * takes for a decimal point. */
void sl_json_real(struct sl_json *j, double v)
{
	char digits[32];
	int n = 0;

	if (!isfinite(v)) {
		sl_json_null(j);
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		n = snprintf(digits, sizeof(digits), "%.*g", precision, v);
		if (strtod(digits, NULL) == v)
			break;
	}
	for (int i = 0; i < n; i++)
		if (!strchr("0123456789+-e", digits[i]))
			digits[i] = '.';
	put_separator(j);
	put_bytes(j, digits, n);
}

void sl_json_bool(struct sl_json *j, bool v)
{
	put_separator(j);
	put_bytes(j, v ? "true" : "false", v ? 4 : 5);
}

void sl_json_null(struct sl_json *j)
{
	put_separator(j);
	put_bytes(j, "null", 4);
}

void sl_json_put_str(struct sl_json *j, const char *key, const char *s)
{
	sl_json_key(j, key);
	sl_json_str(j, s);
}

void sl_json_put_int(struct sl_json *j, const char *key, int64_t v)
{
	sl_json_key(j, key);
	sl_json_int(j, v);
}

void sl_json_put_real(struct sl_json *j, const char *key, double v)
{
	sl_json_key(j, key);
	sl_json_real(j, v);
}

void sl_json_put_bool(struct sl_json *j, const char *key, bool v)
{
	sl_json_key(j, key);
	sl_json_bool(j, v);
}

void sl_json_open_object(struct sl_json *j, const char *key)
{
	sl_json_key(j, key);
	sl_json_begin_object(j);
}

void sl_json_open_array(struct sl_json *j, const char *key)
{
	sl_json_key(j, key);
	sl_json_begin_array(j);
}

void sl_json_break(struct sl_json *j)
{
	j->broken = true;
}

void sl_json_end_line(struct sl_json *j)
{
	if (j->depth || !j->some[0]) {
		note_failure(j, SL_EINVAL, "the end of a line inside a value");
		return;
	}
	put_bytes(j, "\n", 1);
	j->some[0] = false;
	j->broken = false;
}

int sl_json_finish(struct sl_json *j, const char **text, size_t *size, struct sl_error *err)
{
	if (j->depth || j->keyed)
		note_failure(j, SL_EINVAL, "an object or array was not ended");
	hand_on(j, 0);
	if (j->out && !j->err.code && fflush(j->out))
		sl_fail(&j->err, SL_EIO, "JSON: %s", strerror(errno));
	if (!make_room(j, 1))
		return sl_fail(err, j->err.code, "%s", j->err.text);
	j->text[j->size] = 0;
	if (text)
		*text = j->text;
	if (size)
		*size = j->size;
	return 0;
}

int sl_json_end(struct sl_json *j, struct sl_error *err)
{
	int rc;

	sl_json_end_line(j);
	rc = sl_json_finish(j, NULL, NULL, err);
	sl_json_destroy(j);
	return rc;
}
