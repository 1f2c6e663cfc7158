/* SPDX-License-Identifier: MIT */
/*
 * bundle/keep.c - a set as bytes, so that it outlives its files and this process.
 *
 * A first line, and for each file a line with three lengths followed by the name
 * of the module, the path that messages show, and the text.  What comes with the
 * project is not in it: that is read where it is installed.  Plain files (data.h) stand
 * there too, as they were accepted last, under a name that no module has: ":limits.conf".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"
#include "bundle/data.h"

static const char first_line[] = "schedlua set 1\n";
#define FIRST (sizeof(first_line) - 1)
#define MAX_PATH_LENGTH 8192

int sl_bundle_keep(const struct sl_bundle *b, void **bytes, size_t *size, struct sl_error *err)
{
	struct sl_data_accepted data;
	char *text = NULL;
	FILE *f;

	*size = 0;
	if (!b->site)
		return sl_fail(err, SL_EINVAL, "a set without a site file is not kept");
	if (!(f = open_memstream(&text, size)))
		return sl_fail(err, SL_ENOMEM, "out of memory");
	fputs(first_line, f);
	for (unsigned i = 0; i < b->files; i++) {
		const struct sl_bundle_file *file = b->file[i];

		if (file->library)
			continue;
		fprintf(f, "%zu %zu %zu\n%s%s", strlen(file->name), strlen(file->path), file->length, file->name,
			file->path);
		fwrite(file->text, 1, file->length, f);
	}
	for (unsigned i = 0; sl_data_accepted(b->data, i, &data); i++)
		if (data.text) {
			fprintf(f, "%zu %zu %zu\n:%s%s", strlen(data.name) + 1, strlen(data.path), data.length,
				data.name, data.path);
			fwrite(data.text, 1, data.length, f);
		}
	if (fclose(f)) {
		free(text);
		return sl_fail(err, SL_ENOMEM, "out of memory");
	}
	*bytes = text;
	return 0;
}

/* Where reading is; all of it lies before *end. */
struct reader {
	const char *at, *end;
};

static int fail_damaged(struct sl_error *err)
{
	return sl_fail(err, SL_EFORMAT, "the kept policy set is damaged");
}

/* A length and the character after it. */
static bool read_length(struct reader *r, size_t max, char after, size_t *length)
{
	*length = 0;
	if (r->at == r->end || *r->at < '0' || *r->at > '9')
		return false;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
		*length = *length * 10 + (size_t) (*r->at++ - '0');
		if (*length > max)
			return false;
	}
	return r->at < r->end && *r->at++ == after;
}

/* malloc'ed, with a terminator; NULL when there are not so many bytes. */
static char *read_bytes(struct reader *r, size_t length)
{
	char *text = (size_t) (r->end - r->at) < length ? NULL : malloc(length + 1);

	if (!text)
		return NULL;
	memcpy(text, r->at, length);
	text[length] = 0;
	r->at += length;
	return text;
}

static int read_one(struct reader *r, struct sl_bundle *b, struct sl_error *err)
{
	char *name = NULL, *path = NULL, *text = NULL;
	size_t n[3];
	int rc = -1;

	if (!read_length(r, SL_BUNDLE_FILE_MAX, ' ', &n[0]) || !read_length(r, MAX_PATH_LENGTH, ' ', &n[1]) ||
	    !read_length(r, SL_BUNDLE_FILE_MAX, '\n', &n[2]) || !(name = read_bytes(r, n[0])) ||
	    !(path = read_bytes(r, n[1])) || !(text = read_bytes(r, n[2])))
		fail_damaged(err);
	else if (!*name && strcmp(path, b->site))
		sl_fail(err, SL_EINVAL, "the kept policy set is that of %s", path);
	else
		rc = sl_bundle_add_text(b, name, path, text, n[2], err);
	free(name);
	free(path);
	free(text);
	return rc;
}

int sl_bundle_add_kept(struct sl_bundle *b, const void *bytes, size_t size, struct sl_error *err)
{
	struct reader r = { bytes, (const char *) bytes + size };

	if (size < FIRST || memcmp(bytes, first_line, FIRST))
		return fail_damaged(err);
	r.at += FIRST;
	while (r.at < r.end)
		if (read_one(&r, b, err))
			return -1;
	return sl_bundle_site(b) ? 0 : fail_damaged(err);
}

const struct sl_bundle_file *sl_bundle_kept_data(const struct sl_bundle *b, const char *name)
{
	for (unsigned i = 0; i < b->files; i++)
		if (b->file[i]->name[0] == ':' && !strcmp(b->file[i]->name + 1, name))
			return b->file[i];
	return NULL;
}

/* -- is it what stands in the files? ------------------------------------------ */

static int fail_differs(const struct sl_bundle_file *theirs, struct sl_error *err)
{
	return sl_fail(err, SL_ETRUST, "%s: is not what the set that was handed over has under that path", theirs->path);
}

static int vouch_data(struct sl_bundle *own, const struct sl_bundle_file *theirs, struct sl_error *err)
{
	struct sl_data_file *f = sl_bundle_awaited(own, theirs->name + 1, err);
	const char *text;
	size_t length;

	if (!f)
		return -1;
	text = sl_data_text(f, &length);
	return text && length == theirs->length && !memcmp(text, theirs->text, length) &&
		!strcmp(sl_data_path(f), theirs->path) ? 0 : fail_differs(theirs, err);
}

static int vouch_file(struct sl_bundle *own, const struct sl_bundle_file *theirs, struct sl_error *err)
{
	const struct sl_bundle_file *f;

	if (theirs->name[0] == ':')
		return vouch_data(own, theirs, err);
	f = *theirs->name ? sl_bundle_module(own, theirs->name, err) : sl_bundle_site(own);
	if (!f)
		return -1;
	return f->length == theirs->length && !memcmp(f->text, theirs->text, f->length) &&
		!strcmp(f->path, theirs->path) ? 0 : fail_differs(theirs, err);
}

int sl_bundle_vouch(const struct sl_bundle_source *src, const void *bytes, size_t size, struct sl_error *err)
{
	struct sl_bundle_source from_files = *src, from_bytes = *src;
	struct sl_bundle *own, *theirs;
	int rc = -1;

	from_files.kept = NULL;
	from_bytes.kept = bytes;
	from_bytes.kept_size = size;
	own = sl_bundle_open(&from_files, err);
	theirs = own ? sl_bundle_open(&from_bytes, err) : NULL;
	if (theirs)
		rc = 0;
	for (unsigned i = 0; !rc && i < theirs->files; i++)
		rc = vouch_file(own, theirs->file[i], err);
	sl_bundle_destroy(theirs);
	sl_bundle_destroy(own);
	return rc;
}
