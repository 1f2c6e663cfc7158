/* SPDX-License-Identifier: MIT */
#include "t/web/openmetrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The family that is read. */
struct family {
	char name[200], type[20];
	bool has_help;
	unsigned samples;
};

static bool is_name(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(s[i] == '_' || s[i] == ':' || (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		      (i && s[i] >= '0' && s[i] <= '9')))
			return false;
	return n;
}

static void begin_family(struct metrics *m, struct family *f, const char *name, size_t n)
{
	char copy[200];

	snprintf(copy, sizeof(copy), "%.*s", (int) n, name);
	if (!strcmp(f->name, copy))
		return;
	for (size_t i = 0; i < m->families; i++)
		if (!strcmp(m->family[i], copy))
			fail_msg("%s: the family is there twice, or not in one piece", copy);
	*f = (struct family) { 0 };
	strcpy(f->name, copy);
	m->family[m->families++] = strdup(copy);
}

/* "HELP name text", "TYPE name type" */
static void read_comment(struct metrics *m, struct family *f, const char *line, size_t n)
{
	const char *name = line + 7, *after = memchr(name, ' ', n - 7);

	assert_true(n > 7 && after && is_name(name, (size_t) (after - name)));
	begin_family(m, f, name, (size_t) (after - name));
	assert_int_equal(f->samples, 0);
	after++;
	if (!strncmp(line, "# TYPE ", 7)) {
		static const char *const types[] = { "gauge", "counter", "summary" };
		bool known = false;

		assert_string_equal(f->type, "");
		snprintf(f->type, sizeof(f->type), "%.*s", (int) (line + n - after), after);
		for (size_t i = 0; i < 3; i++)
			known |= !strcmp(f->type, types[i]);
		if (!known)
			fail_msg("%s: type \"%s\"", f->name, f->type);
	} else if (!strncmp(line, "# HELP ", 7)) {
		assert_false(f->has_help);
		assert_true(after < line + n);
		f->has_help = true;
	} else {
		fail_msg("expected HELP or TYPE: %.*s", (int) n, line);
	}
}

/* {name="value",...}; returns what follows. */
static const char *read_labels(const char *s, bool *quantile)
{
	*quantile = false;
	for (s++; *s != '}'; s += *s == ',') {
		size_t n = strcspn(s, "=");

		assert_true(is_name(s, n) && s[n + 1] == '"');
		*quantile |= n == 8 && !strncmp(s, "quantile", 8);
		for (s += n + 2; *s != '"'; s++) {
			assert_true(*s && *s != '\n');
			if (*s == '\\' && !strchr("\\\"n", *++s))
				fail_msg("an escape that there is not: %.40s", s - 1);
		}
		s++;
		assert_true(*s == ',' || *s == '}');
	}
	return s + 1;
}

/* May a family of that type have a sample of that name? */
static bool is_allowed(const struct family *f, const char *name, size_t n, bool quantile)
{
	size_t length = strlen(f->name);
	const char *tail = name + length;

	n -= length;
	if (!strcmp(f->type, "gauge"))
		return !n && !quantile;
	if (!strcmp(f->type, "counter"))
		return n == 6 && !strncmp(tail, "_total", n);
	return quantile ? !n : (n == 4 && !strncmp(tail, "_sum", n)) || (n == 6 && !strncmp(tail, "_count", n));
}

static void read_sample(struct metrics *m, struct family *f, const char *line, size_t n)
{
	size_t name = strcspn(line, "{ "), sample;
	const char *after = line + name;
	bool quantile = false;
	char *end;

	assert_true(is_name(line, name));
	if (*after == '{')
		after = read_labels(after, &quantile);
	assert_true(*after == ' ' && after < line + n);
	sample = (size_t) (after - line);
	if (strncmp(line, f->name, strlen(f->name)) || !is_allowed(f, line, name, quantile))
		fail_msg("%s of type %s has no sample %.*s", f->name, f->type, (int) name, line);
	for (size_t i = 0; i < m->samples; i++)
		if (strlen(m->sample[i]) == sample && !strncmp(m->sample[i], line, sample))
			fail_msg("twice: %s", m->sample[i]);
	assert_true(m->samples < METRICS_MOST);
	m->value[m->samples] = strtod(after + 1, &end);
	if (end != line + n || end == after + 1)
		fail_msg("no number: %.*s", (int) n, line);
	if (strcmp(f->type, "gauge") && m->value[m->samples] < 0)
		fail_msg("below 0: %.*s", (int) n, line);
	m->sample[m->samples++] = strndup(line, sample);
	f->samples++;
}

void metrics_read(struct metrics *m, const char *text, size_t size)
{
	struct family f = { 0 };
	const char *line = text;

	*m = (struct metrics) { 0 };
	assert_int_equal(strlen(text), size);
	for (;;) {
		size_t n = strcspn(line, "\n");

		assert_true(line[n] == '\n');
		if (n == 5 && !strncmp(line, "# EOF", 5))
			break;
		assert_true(n > 0);
		(*line == '#' ? read_comment : read_sample)(m, &f, line, n);
		line += n + 1;
	}
	assert_int_equal(line + 6 - text, size);
}

void metrics_free(struct metrics *m)
{
	for (size_t i = 0; i < m->samples; i++)
		free(m->sample[i]);
	for (size_t i = 0; i < m->families; i++)
		free(m->family[i]);
}

bool metrics_has(const struct metrics *m, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < m->samples; i++)
		if (!strncmp(m->sample[i], name, n) && (!m->sample[i][n] || m->sample[i][n] == '{'))
			return true;
	return false;
}

double metrics_value(const struct metrics *m, const char *sample)
{
	for (size_t i = 0; i < m->samples; i++)
		if (!strcmp(m->sample[i], sample))
			return m->value[i];
	fail_msg("no %s", sample);
	return 0;
}
