/* SPDX-License-Identifier: MIT */
/*
 * conf/text.c - from files to lines, as _get_next_line() and _parse_include_directive() of
 * src/common/parse_config.c make them; see conf/private.h.
 *
 * A comment is cut off first, then a backslash at the end of the line (blanks may follow it) joins the
 * next one to it with nothing in between, and last every backslash that is left is dropped and what
 * follows it kept.  So "\#" is a "#", and a comment cannot be continued.
 */
#include "conf/private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/lines.h"

#define MOST_DEPTH 8		/* of files that include files */
#define MOST_FILES 1000		/* in all: eight levels of ten would be a hundred million */
#define MOST_BYTES ((uint64_t) 256 << 20)	/* in all */
#define MOST_LINE ((uint32_t) 16 << 20)

struct reader {			/* of one file */
	const struct sl_conf_source *source;
	struct sl_conf_where where;
	const char *top;	/* the first file */
	int depth;
	struct sl_error *err;
};

static int read_file(const struct sl_conf_source *source, const char *path, const char *top, int depth, struct sl_error *err);

void sl_conf_files_free(struct sl_conf_files *f)
{
	for (uint32_t i = 0; i < f->files; i++)
		free(f->path[i]);
	free(f->path);
	*f = (struct sl_conf_files) { 0 };
}

char *sl_conf_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	char *beside;

	if (*name == '/' || !slash)
		return strdup(name);
	return asprintf(&beside, "%.*s/%s", (int) (slash - path), path, name) < 0 ? NULL : beside;
}

/* Cut off a comment: from the first "#" with an even number of backslashes before it. */
static void cut_comment(char *line)
{
	for (size_t i = 0, escapes = 0; line[i]; i++) {
		if (line[i] == '#' && escapes % 2 == 0) {
			line[i] = 0;
			return;
		}
		escapes = line[i] == '\\' ? escapes + 1 : 0;
	}
}

/* The length without a backslash that continues the line, or *length* where there is none. */
static size_t cut_continuation(const char *line, size_t length)
{
	size_t end = length, escapes = 0;

	while (end && isspace((unsigned char) line[end - 1]))
		end--;
	while (escapes < end && line[end - escapes - 1] == '\\')
		escapes++;
	return escapes % 2 ? end - 1 : length;
}

static void drop_escapes(char *line)
{
	char *to = line;

	for (; *line; line++) {
		if (*line == '\\' && !*++line)
			break;
		*to++ = *line;
	}
	*to = 0;
}

/* -- Include ------------------------------------------------------------------ */

/* The name of a file with "%c" replaced by the cluster's: malloc'ed, or NULL with the error set. */
static char *expand_name(const struct reader *r, const char *name)
{
	const char *cluster = r->source->cluster ? r->source->cluster(r->source->arg) : NULL, *at = strstr(name, "%c");
	char *expanded, *rest;

	if (!at) {
		expanded = strdup(name);
	} else if (!cluster) {
		sl_conf_fail(r->where, r->err, "Include %s: expected ClusterName above it, for its %%c", name);
		return NULL;
	} else {
		rest = expand_name(r, at + 2);
		if (!rest || asprintf(&expanded, "%.*s%s%s", (int) (at - name), name, cluster, rest) < 0)
			expanded = NULL;
		for (char *p = expanded ? expanded + (at - name) : NULL; p && p < expanded + (at - name) + strlen(cluster); p++)
			*p = (char) tolower((unsigned char) *p);
		free(rest);
		if (!rest)
			return NULL;
	}
	if (!expanded)
		sl_fail(r->err, SL_ENOMEM, "out of memory");
	return expanded;
}

static bool is_there(const char *path)
{
	return path && access(path, F_OK) == 0;
}

/*
 * Which file is meant: beside the one that includes it (up to 22.05), or beside slurm.conf (later).
 * Of a copy of a site's files whose includes name the place where they were, as those of ParallelCluster do, the same
 * file below here.  malloc'ed; NULL without memory.
 */
static char *find_include(const struct reader *r, const char *name)
{
	char *path = sl_conf_beside(r->where.path, name), *other;

	if (is_there(path))
		return path;
	other = sl_conf_beside(r->top, name);
	for (const char *rest = strchr(name, '/'); other && !is_there(other) && rest; rest = strchr(rest + 1, '/')) {
		free(other);
		other = sl_conf_beside(r->top, rest + 1);
		if (is_there(other))
			sl_notes_add(r->source->notes, "%s:%llu: Include %s: there is no such file; %s is read in its place",
				     r->where.path, (unsigned long long) r->where.line, name, other);
	}
	if (!is_there(other)) {
		free(other);
		return path;
	}
	free(path);
	return other;
}

/* Is this line an Include, which has to begin with the line? */
static bool is_include(const char *text)
{
	return !strncasecmp(text, "include", 7) && isspace((unsigned char) text[7]);
}

static int read_include(const struct reader *r, char *text)
{
	char *name = text + 7 + strspn(text + 7, " \t\v\f\r"), *end = name + strcspn(name, " \t\v\f\r"), *expanded, *path;
	int rc;

	if (end[strspn(end, " \t\v\f\r")])
		return sl_conf_fail(r->where, r->err, "Include: expected one file in the line");
	*end = 0;
	if (!*name)
		return sl_conf_fail(r->where, r->err, "Include: expected a file");
	if (strchr(name, '*'))
		return sl_conf_fail(r->where, r->err, "Include %s: expected the name of one file, since Slurm expands no patterns",
				    name);
	if (r->depth == MOST_DEPTH)
		return sl_conf_fail(r->where, r->err, "files that include files more than %d deep", MOST_DEPTH);
	expanded = expand_name(r, name);
	if (!expanded)
		return -1;
	path = find_include(r, expanded);
	free(expanded);
	if (!path)
		return sl_fail(r->err, SL_ENOMEM, "out of memory");
	rc = read_file(r->source, path, r->top, r->depth + 1, r->err);
	if (rc < 0 && r->err && r->err->code == SL_ENOENT)
		sl_fail_in(r->err, "%s:%llu: Include", r->where.path, (unsigned long long) r->where.line);
	free(path);
	return rc;
}

/* -- files --------------------------------------------------------------------- */

static int take_line(struct reader *r, char *text)
{
	drop_escapes(text);
	if (!text[strspn(text, " \t\n\v\f\r")])
		return 0;
	if (is_include(text))
		return read_include(r, text);
	if (is_include(text + strspn(text, " \t")))
		return sl_conf_fail(r->where, r->err, "Include: expected at the beginning of the line; Slurm takes no blanks before it");
	if (strstr(text, "{{") || strstr(text, "{%"))
		return sl_conf_fail(r->where, r->err, "\"%.60s\": this is a template; expected the file that is made of it", text);
	return r->source->line(r->source->arg, r->where, text, r->err);
}

static int read_lines(struct reader *r, struct sl_lines *lines)
{
	char *line, *joined = NULL;
	uint32_t room = 0;
	size_t size = 0, whole;
	int64_t n;
	int rc = 0;
	bool more = false;

	while (!rc && (n = sl_lines_next(lines, &line, r->err)) > 0) {
		if (!more)
			r->where.line = sl_lines_number(lines);
		r->source->files->bytes += (uint64_t) n;
		if (r->source->files->bytes > MOST_BYTES)
			rc = sl_conf_fail(r->where, r->err, "more than %u MiB in all", (unsigned) (MOST_BYTES >> 20));
		cut_comment(line);
		whole = strlen(line);
		n = (int64_t) cut_continuation(line, whole);
		if (!rc && size + whole > MOST_LINE)
			rc = sl_conf_fail(r->where, r->err, "a line of more than %u MiB", MOST_LINE >> 20);
		if (rc || sl_grow(&joined, &room, size + whole + 1, 1, r->err)) {
			rc = -1;
			break;
		}
		memcpy(joined + size, line, (size_t) n);
		size += (size_t) n;
		joined[size] = 0;
		more = (size_t) n < whole;
		if (!more) {
			rc = take_line(r, joined);
			size = 0;
		}
	}
	if (!rc && n < 0)
		rc = -1;
	if (!rc && more)
		rc = take_line(r, joined);
	free(joined);
	return rc;
}

static int read_file(const struct sl_conf_source *source, const char *path, const char *top, int depth, struct sl_error *err)
{
	struct sl_conf_files *f = source->files;
	struct reader r = { .source = source, .top = top, .depth = depth, .err = err };
	struct sl_lines *lines;
	char *copy;
	int rc;

	if (f->files == MOST_FILES)
		return sl_fail(err, SL_ELIMIT, "%s: more than %d files", path, MOST_FILES);
	lines = sl_lines_open(path, err);
	if (!lines || sl_lines_must_be_file(lines, err)) {
		sl_lines_close(lines);
		return -1;
	}
	sl_lines_limit(lines, MOST_LINE);
	copy = strdup(path);
	if (!copy || sl_grow(&f->path, &f->room, f->files + UINT64_C(1), sizeof(*f->path), err)) {
		free(copy);
		sl_lines_close(lines);
		return sl_fail(err, SL_ENOMEM, "%s: out of memory", path);
	}
	f->path[f->files++] = copy;
	r.where.path = copy;
	rc = read_lines(&r, lines);
	sl_lines_close(lines);
	return rc;
}

int sl_conf_each_line(const char *path, const struct sl_conf_source *source, struct sl_error *err)
{
	return read_file(source, path, path, 0, err);
}
