/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sl_fail(struct sl_error *err, enum sl_errno code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

int sl_fail_in(struct sl_error *err, const char *fmt, ...)
{
	char inner[sizeof(err->text)];
	size_t n;
	va_list ap;

	if (!err)
		return -1;
	memcpy(inner, err->text, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", inner);
	return -1;
}
