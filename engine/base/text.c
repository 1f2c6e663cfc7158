/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/duration.h"
#include "base/grow.h"
#include "base/plain.h"

#define MAX_COLUMNS 16

const char *sl_text_duration(char text[SL_TEXT_SIZE], int64_t seconds)
{
	const char *sign = seconds < 0 ? "-" : "";
	int64_t s = seconds < 0 ? -(seconds + (seconds == INT64_MIN)) : seconds;

	if (seconds == SL_UNLIMITED)
		snprintf(text, SL_TEXT_SIZE, "UNLIMITED");
	else if (s >= 86400)
		snprintf(text, SL_TEXT_SIZE, "%s%lld-%02d:%02d:%02d", sign, (long long) (s / 86400),
			 (int) (s / 3600 % 24), (int) (s / 60 % 60), (int) (s % 60));
	else
		snprintf(text, SL_TEXT_SIZE, "%s%02d:%02d:%02d", sign, (int) (s / 3600), (int) (s / 60 % 60),
			 (int) (s % 60));
	return text;
}

const char *sl_text_time(char text[SL_TEXT_SIZE], int64_t when)
{
	time_t t = when;
	struct tm tm;

	if (!when || !localtime_r(&t, &tm) || !strftime(text, SL_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(text, SL_TEXT_SIZE, "-");
	return text;
}

const char *sl_text_clock(char text[SL_TEXT_SIZE], int64_t when, int64_t now)
{
	time_t t = when, n = now;
	struct tm tm, today;
	bool same_day;

	if (!when || !localtime_r(&t, &tm) || !localtime_r(&n, &today)) {
		snprintf(text, SL_TEXT_SIZE, "-");
		return text;
	}
	same_day = tm.tm_yday == today.tm_yday && tm.tm_year == today.tm_year;
	if (!strftime(text, SL_TEXT_SIZE, same_day ? "%H:%M" : llabs(when - now) < 6 * 86400 ? "%a %H:%M" :
		      tm.tm_year == today.tm_year ? "%e %b %H:%M" : "%Y-%m-%d %H:%M", &tm))
		snprintf(text, SL_TEXT_SIZE, "-");
	if (*text == ' ')
		memmove(text, text + 1, strlen(text));
	return text;
}

struct sl_text_table {
	size_t columns, cells;
	uint32_t room;
	bool right[MAX_COLUMNS];
	char **cell;		/* the titles first */
	bool failed;
};

struct sl_text_table *sl_text_table_create(const char *titles)
{
	struct sl_text_table *t = calloc(1, sizeof(*t));
	char title[80];

	if (!t)
		return NULL;
	while (*titles && t->columns < MAX_COLUMNS) {
		size_t length = strcspn(titles, ",");

		t->right[t->columns] = *titles == '>';
		snprintf(title, sizeof(title), "%.*s", (int) length - (*titles == '>'), titles + (*titles == '>'));
		t->columns++;
		sl_text_table_add(t, title);
		titles += length + (titles[length] == ',');
	}
	return t;
}

void sl_text_table_destroy(struct sl_text_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->cells; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t);
}

void sl_text_table_add(struct sl_text_table *t, const char *text)
{
	char *copy;

	if (!t || t->failed)
		return;
	copy = strdup(text ? text : "");
	if (copy && !sl_grow(&t->cell, &t->room, t->cells + 1, sizeof(*t->cell), NULL))
		t->cell[t->cells++] = sl_plain(copy);
	else
		t->failed = true;
}

void sl_text_table_addf(struct sl_text_table *t, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		if (t)
			t->failed = true;
	}
	va_end(ap);
	sl_text_table_add(t, text);
	free(text);
}

int sl_text_table_print(const struct sl_text_table *t, int indent, FILE *out)
{
	int width[MAX_COLUMNS] = { 0 };

	if (!t || t->failed)
		return -1;
	for (size_t i = 0; i < t->cells; i++) {
		int length = (int) strlen(t->cell[i]);

		if (length > width[i % t->columns])
			width[i % t->columns] = length;
	}
	for (size_t row = 0; row + t->columns <= t->cells; row += t->columns) {
		size_t last = t->columns;

		while (last > 1 && !*t->cell[row + last - 1])
			last--;		/* no blanks at the end of a line */
		fprintf(out, "%*s", indent, "");
		for (size_t c = 0; c < last; c++) {
			int pad = c + 1 < last || t->right[c] ? width[c] : 0;

			fprintf(out, "%*s%s", t->right[c] ? pad : -pad, t->cell[row + c], c + 1 < last ? "  " : "");
		}
		fputc('\n', out);
	}
	return 0;
}
