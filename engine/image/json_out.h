/* SPDX-License-Identifier: MIT */
/*
 * json_out.h - writing JSON, one value after the other.
 *
 * The writer puts commas and colons where they belong.  It keeps the text in
 * memory, or, with a FILE, hands it on in pieces.  Failure is sticky and reported by
 * sl_json_finish(), so that callers need not check each call.  Output is UTF-8
 * whatever the strings hold: each byte that is no UTF-8 becomes U+FFFD.
 *
 * Ownership: the text belongs to the writer.  Threads: none.
 */
#ifndef SL_JSON_OUT_H
#define SL_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define SL_JSON_DEPTH 32	/* of objects and arrays in one another */

struct sl_json;

/* *out* NULL: keep the text.  Returns NULL on failure with *err set. */
struct sl_json *sl_json_create(FILE *out, struct sl_error *err);
void sl_json_destroy(struct sl_json *j);

/* Forget text and failure, keep the memory. */
void sl_json_reset(struct sl_json *j);

void sl_json_begin_object(struct sl_json *j);
void sl_json_end_object(struct sl_json *j);
void sl_json_begin_array(struct sl_json *j);
void sl_json_end_array(struct sl_json *j);

/* Inside an object, before each value. */
void sl_json_key(struct sl_json *j, const char *key);

void sl_json_str(struct sl_json *j, const char *s);	/* NULL: null */
void sl_json_int(struct sl_json *j, int64_t v);
void sl_json_real(struct sl_json *j, double v);		/* not finite: null */
void sl_json_bool(struct sl_json *j, bool v);
void sl_json_null(struct sl_json *j);

/* Inside an object, a key and its value; a key and the begin of it. */
void sl_json_put_str(struct sl_json *j, const char *key, const char *s);
void sl_json_put_int(struct sl_json *j, const char *key, int64_t v);
void sl_json_put_real(struct sl_json *j, const char *key, double v);
void sl_json_put_bool(struct sl_json *j, const char *key, bool v);
void sl_json_open_object(struct sl_json *j, const char *key);
void sl_json_open_array(struct sl_json *j, const char *key);

/* The next key, value or end begins a new line, indented by its depth. */
void sl_json_break(struct sl_json *j);

/* A line feed after a whole value: what separates records in JSON lines. */
void sl_json_end_line(struct sl_json *j);

/*
 * The text is whole: every object and array is closed.  *text (if not NULL) is
 * NUL-terminated, and valid until the next call; with a FILE it is what was not yet
 * handed on, i.e. empty.  Returns 0, or -1 with *err (memory, a failed write, or
 * calls that make no JSON).
 */
int sl_json_finish(struct sl_json *j, const char **text, size_t *size, struct sl_error *err);

/* The end of a document that goes to a FILE: a line feed, sl_json_finish(), sl_json_destroy(). */
int sl_json_end(struct sl_json *j, struct sl_error *err);

#endif
