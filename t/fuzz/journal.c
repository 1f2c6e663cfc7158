/* SPDX-License-Identifier: MIT */
/*
 * The decision journal: whatever stands in its file, the lines that are whole are read from
 * the newest back, a torn one is cut off, and what is written then is the newest.
 */
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "image/journal.h"

const char fuzz_name[] = "journal";

struct lines {
	char *line[2000];
	int n;
};

static int keep(const char *line, size_t length, void *arg)
{
	struct lines *l = arg;

	MUST(l->n < 2000 && length >= 2 && line[0] == '{' && line[length - 1] == '}' && !memchr(line, 0, length) &&
	     !memchr(line, '\n', length));
	l->line[l->n++] = strndup(line, length);
	return l->n == 2000;
}

static void free_lines(struct lines *l)
{
	while (l->n)
		free(l->line[--l->n]);
}

/* The same, from the front. */
static void must_be_all(const struct lines *l, const uint8_t *data, size_t size)
{
	int n = l->n;
	const uint8_t *end;

	for (size_t at = 0; at < size && (end = memchr(data + at, '\n', size - at)); at = (size_t) (end - data) + 1) {
		size_t length = (size_t) (end - data) - at;

		if (length < 2 || data[at] != '{' || end[-1] != '}' || memchr(data + at, 0, length))
			continue;
		n--;
		MUST(n >= 0 && strlen(l->line[n]) == length && !memcmp(l->line[n], data + at, length));
	}
	MUST(n == 0);
}

/* A snapshot and a plan about it, always the same. */
static void write_record(struct sl_journal *j)
{
	static struct sl_builder *s, *p;
	struct sl_snapshot snap;
	struct sl_plan_image plan;
	struct sl_error err;
	const void *bytes;
	size_t size;

	if (!s) {
		s = sl_builder_create(&sl_snapshot_schema, NULL);
		p = sl_builder_create(&sl_plan_schema, NULL);
		MUST(s && p);
		make_snapshot(s, 1, 4, 6);
		make_plan(p, 2, 4, 6);
	}
	MUST(sl_builder_finish(s, &bytes, &size, &err) == 0 && sl_snapshot_open(&snap, bytes, size, &err) == 0);
	MUST(sl_builder_finish(p, &bytes, &size, &err) == 0 && sl_plan_image_open(&plan, bytes, size, &err) == 0);
	MUST(sl_journal_write(j, &snap, &plan, NULL, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines l = { .n = 0 };
	struct sl_error err;
	struct sl_journal *j;
	int before;

	if (size > FUZZ_MAX)
		return 0;
	fuzz_file("decisions.jsonl", data, size);
	MUST(sl_journal_read(fuzz_dir(), keep, &l, &err) == 0);
	if (l.n == 2000) {
		free_lines(&l);
		return 0;
	}
	must_be_all(&l, data, size);
	before = l.n;
	fuzz_accepted += before > 0;
	free_lines(&l);
	j = sl_journal_open(fuzz_dir(), &err);
	MUST(j);
	write_record(j);
	sl_journal_close(j);
	MUST(sl_journal_read(fuzz_dir(), keep, &l, &err) == 0);
	MUST(l.n == before + 1 && strstr(l.line[0], "\"full\""));
	free_lines(&l);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	struct sl_error err;
	struct sl_journal *j;
	char path[320];
	FILE *f;
	size_t n;

	fuzz_file("decisions.jsonl", to, 0);
	j = sl_journal_open(fuzz_dir(), &err);
	MUST(j);
	for (uint32_t i = 1 + make_below(seed, 3); i > 0; i--) {
		sl_journal_close(j);
		j = sl_journal_open(fuzz_dir(), &err);
		MUST(j);
		write_record(j);
	}
	sl_journal_close(j);
	snprintf(path, sizeof(path), "%s/decisions.jsonl", fuzz_dir());
	f = fopen(path, "r");
	MUST(f);
	n = fread(to, 1, FUZZ_MAX, f);
	fclose(f);
	return n;
}
