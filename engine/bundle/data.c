/* SPDX-License-Identifier: MIT */
#include "bundle/data.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/map.h"

#define LINES 100	/* said about one text of a file */

struct value {
	uint32_t key;		/* offset in the pool */
	struct sl_data_value v;
	uint32_t text;		/* offset, where v is a text */
};

/* A parsed text. */
struct map {
	struct value *value;	/* in the order put */
	uint32_t values, room;
	struct sl_map by_key;	/* -> index of the value */
	char *pool;
	uint32_t used, pool_room;
};

struct line {
	bool error;
	char *text;
};

struct sl_data_file {
	char *name, *path;
	char *dir;		/* of the search path */
	bool in_memory;
	struct stat st;		/* as last looked at */
	bool missing;		/* there was none then */
	char *text;		/* waits for its parser */
	size_t length;
	char *accepted;		/* the text that holds */
	size_t accepted_length;
	struct map good, next;
	bool parsing;
	unsigned long version;
	struct line line[LINES];
	unsigned lines, told;
};

struct sl_data {
	struct sl_trust trust;
	struct sl_data_file *file[SL_DATA_FILES];
	unsigned files;
};

static int no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "out of memory");
}

/* -- maps ---------------------------------------------------------------- */

static void free_map(struct map *m)
{
	free(m->value);
	sl_map_free(&m->by_key);
	free(m->pool);
	memset(m, 0, sizeof(*m));
}

/* NULL: there is none. */
static struct value *find_value(const struct map *m, const char *key)
{
	SL_MAP_EACH(&m->by_key, sl_hash_text(SL_HASH, key), at)
		if (!strcmp(m->pool + m->value[at.value].key, key))
			return &m->value[at.value];
	return NULL;
}

/* Offset of a copy of the text, SIZE_MAX without memory. */
static size_t add_text(struct map *m, const char *text)
{
	size_t n = strlen(text) + 1, at = m->used;

	if (sl_grow(&m->pool, &m->pool_room, at + n, 1, NULL))
		return SIZE_MAX;
	memcpy(m->pool + at, text, n);
	m->used += n;
	return at;
}

static struct value *add_value(struct map *m, const char *key)
{
	struct value *there = find_value(m, key);
	size_t at;

	if (there)
		return there;
	if (sl_grow(&m->value, &m->room, m->values + UINT64_C(1), sizeof(*m->value), NULL))
		return NULL;
	at = add_text(m, key);
	if (at == SIZE_MAX || sl_map_put(&m->by_key, sl_hash_text(SL_HASH, key), m->values, NULL))
		return NULL;
	m->value[m->values] = (struct value) { .key = at };
	return &m->value[m->values++];
}

static struct sl_data_value value_of(const struct map *m, const struct value *value)
{
	struct sl_data_value v = value->v;

	if (v.type == SL_DATA_TEXT)
		v.text = m->pool + value->text;
	return v;
}

/* -- reading a file -------------------------------------------------------- */

/* A relative path that stays below where it starts: no empty parts, none that begins
 * with a dot. */
static int check_name(const char *name, struct sl_error *err)
{
	size_t n = strlen(name);
	bool bad = !n || n > SL_DATA_NAME || name[n - 1] == '/';

	for (size_t i = 0; i < n && !bad; i++)
		bad = (unsigned char) name[i] < ' ' ||
		      ((i == 0 || name[i - 1] == '/') && (name[i] == '/' || name[i] == '.'));
	if (!bad)
		return 0;
	return sl_fail(err, SL_EINVAL, "'%.100s' is no file beside the site file; expected something like limits.conf",
		       name);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Is the file complete?  Its last line has to end: an editor or cp may still be writing it. */
static int check_whole(const char *text, size_t length, const char *path, struct sl_error *err)
{
	unsigned line = 1;

	if (!length)
		return sl_fail(err, SL_EFORMAT, "%s: is empty, as while it is being written; "
			       "a file with nothing to say has a comment", path);
	if (memchr(text, 0, length))
		return sl_fail(err, SL_EFORMAT, "%s: has a byte 0 in it, expected text", path);
	if (text[length - 1] == '\n')
		return 0;
	for (size_t i = 0; i < length; i++)
		line += text[i] == '\n';
	return sl_fail(err, SL_EFORMAT, "%s:%u: the line has no end, as while it is being written; "
		       "expected a newline", path, line);
}

/* Read the file below a directory of the search path into f->text.  f->st is what was
 * looked at, also on failure. */
static int read_file(const struct sl_trust *trust, struct sl_data_file *f, struct sl_error *err)
{
	struct stat st, after;
	size_t length;
	char *text = NULL;
	int root = sl_trust_dir(trust, f->dir, err), fd;

	if (root < 0)
		return -1;
	fd = sl_trust_file(trust, root, f->dir, f->name, &st, err);
	close(root);
	if (fd < 0)
		return -1;
	if (sl_read_all(fd, f->path, SL_BUNDLE_FILE_MAX, &text, &length, err))
		goto error;
	if (fstat(fd, &after) || !same_file(&st, &after)) {
		sl_fail(err, SL_EFORMAT, "%s: changed while it was read", f->path);
		st = after;
		/* not what it is now, so that it is looked at again */
		st.st_size = -1;
		goto error;
	}
	if (check_whole(text, length, f->path, err))
		goto error;
	close(fd);
	free(f->text);
	f->text = text;
	f->length = length;
	f->st = st;
	return 0;
error:
	close(fd);
	free(text);
	f->st = st;
	return -1;
}

static void free_lines(struct sl_data_file *f)
{
	for (unsigned i = 0; i < f->lines; i++)
		free(f->line[i].text);
	f->lines = f->told = 0;
}

static void free_file(struct sl_data_file *f)
{
	if (!f)
		return;
	free_map(&f->good);
	free_map(&f->next);
	free_lines(f);
	free(f->name);
	free(f->path);
	free(f->dir);
	free(f->text);
	free(f->accepted);
	free(f);
}

/* -- declaring -------------------------------------------------------------- */

struct sl_data *sl_data_create(const struct sl_trust *trust)
{
	struct sl_data *d = calloc(1, sizeof(*d));

	if (d)
		d->trust = *trust;
	return d;
}

void sl_data_destroy(struct sl_data *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < d->files; i++)
		free_file(d->file[i]);
	free(d);
}

static int set_path(struct sl_data_file *f, const char *dir)
{
	char path[PATH_MAX + SL_DATA_NAME + 2];

	if (!strcmp(dir, "."))
		snprintf(path, sizeof(path), "%s", f->name);
	else
		snprintf(path, sizeof(path), "%s/%s", dir, f->name);
	free(f->path);
	free(f->dir);
	f->path = strdup(path);
	f->dir = strdup(dir);
	return f->path && f->dir ? 0 : -1;
}

/* As it was in a set that was kept: what is on disk is looked at before the first
 * decision, and holds if it is good. */
static int take_kept(struct sl_data_file *f, const char *path, const char *text, struct sl_error *err)
{
	size_t n = strlen(path), tail = strlen(f->name);
	char *dir = n > tail + 1 ? strndup(path, n - tail - 1) : strdup(".");

	if (!dir || set_path(f, dir)) {
		free(dir);
		return no_memory(err);
	}
	free(dir);
	f->text = strdup(text);
	f->length = strlen(text);
	return f->text ? 0 : no_memory(err);
}

/* From memory, or else the first that there is on the search path. */
static int find_file(const struct sl_trust *trust, const struct sl_data_places *at, struct sl_data_file *f,
		     struct sl_error *err)
{
	struct sl_error why = { 0 };

	if (at->kept)
		return take_kept(f, at->kept_path, at->kept, err);
	if (at->text) {
		f->in_memory = true;
		f->length = strlen(at->text);
		if (set_path(f, ".") || !(f->text = strdup(at->text)))
			return no_memory(err);
		return check_whole(f->text, f->length, f->path, err);
	}
	for (unsigned i = 0; i < at->dirs; i++) {
		if (set_path(f, at->dir[i]))
			return no_memory(err);
		if (!read_file(trust, f, &why))
			return 0;
		if (why.code != SL_ENOENT) {
			*err = why;
			return -1;
		}
	}
	return sl_fail(err, SL_ENOENT, "there is no file '%s'; expected one beside the site file", f->name);
}

/* It is not there, or not whole: watched from now on where it is expected, and without a line until then. */
static int begin_without(const struct sl_data_places *at, struct sl_data_file *f, const struct sl_error *why,
			 struct sl_error *err)
{
	char text[sizeof(why->text) + 80];

	f->missing = why->code == SL_ENOENT;
	f->in_memory = !at->dirs;
	free(f->text);
	f->text = strdup("\n");
	f->length = 1;
	if (!f->text || (f->missing && set_path(f, at->dirs ? at->dir[0] : ".")))
		return no_memory(err);
	snprintf(text, sizeof(text), "%s; nothing is known until it is there", why->text);
	sl_data_say(f, true, text);
	return 0;
}

struct sl_data_file *sl_data_open(struct sl_data *d, const char *name, const struct sl_data_places *at,
				  struct sl_error *err)
{
	struct sl_data_file *f;
	struct sl_error why = { 0 };

	if (check_name(name, err))
		return NULL;
	for (unsigned i = 0; i < d->files; i++)
		if (!strcmp(d->file[i]->name, name))
			return d->file[i];
	if (!at) {
		sl_fail(err, SL_ENOENT, "file '%s' was not named while the policy set was loaded", name);
		return NULL;
	}
	if (d->files == SL_DATA_FILES) {
		sl_fail(err, SL_ELIMIT, "more than %d files named with sched.file", SL_DATA_FILES);
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	if (!f || !(f->name = strdup(name))) {
		free_file(f);
		no_memory(err);
		return NULL;
	}
	if (find_file(&d->trust, at, f, &why)) {
		bool lacks = at->may_lack && (why.code == SL_ENOENT || why.code == SL_EFORMAT);

		*err = why;
		if (!lacks || begin_without(at, f, &why, err)) {
			free_file(f);
			return NULL;
		}
	}
	return d->file[d->files++] = f;
}

bool sl_data_accepted(const struct sl_data *d, unsigned i, struct sl_data_accepted *a)
{
	const struct sl_data_file *f = i < d->files ? d->file[i] : NULL;

	if (f)
		*a = (struct sl_data_accepted) { f->name, f->path, f->accepted, f->accepted_length };
	return f;
}

/* -- watching --------------------------------------------------------------- */

void sl_data_say(struct sl_data_file *f, bool error, const char *text)
{
	struct line *line = &f->line[f->lines];

	for (unsigned i = 0; i < f->lines; i++)
		if (!strcmp(f->line[i].text, text))
			return;
	if (f->lines == LINES)
		return;
	if (f->lines == LINES - 1)
		text = "further lines about this file are dropped";
	line->error = error;
	line->text = strdup(text);
	if (line->text)
		f->lines++;
}

/* It cannot be read as it is: what was there stays in force. */
static void keep_old_text(struct sl_data_file *f, const struct sl_error *why)
{
	char text[sizeof(why->text) + 80];

	free_lines(f);
	snprintf(text, sizeof(text), "%s; what it said before stays in force", why->text);
	sl_data_say(f, true, text);
}

static void refresh_file(const struct sl_trust *trust, struct sl_data_file *f)
{
	struct sl_error why = { 0 };
	struct stat st;

	if (f->in_memory)
		return;
	if (stat(f->path, &st)) {
		if (!f->missing) {
			sl_fail(&why, SL_EIO, "%s: %s", f->path, strerror(errno));
			keep_old_text(f, &why);
		}
		f->missing = true;
		return;
	}
	if (!f->missing && same_file(&st, &f->st))
		return;
	/* also when it cannot be opened: once for each change */
	f->st = st;
	f->missing = false;
	free_lines(f);
	if (read_file(trust, f, &why))
		keep_old_text(f, &why);
}

void sl_data_refresh(struct sl_data *d)
{
	for (unsigned i = 0; i < d->files; i++)
		refresh_file(&d->trust, d->file[i]);
}

void sl_data_tell(struct sl_data *d, void (*tell)(bool error, const char *text, void *arg), void *arg)
{
	for (unsigned i = 0; i < d->files; i++) {
		struct sl_data_file *f = d->file[i];

		for (; f->told < f->lines; f->told++)
			tell(f->line[f->told].error, f->line[f->told].text, arg);
	}
}

void sl_data_retell(struct sl_data *d)
{
	for (unsigned i = 0; i < d->files; i++)
		d->file[i]->told = 0;
}

/* -- parsing ------------------------------------------------------------------ */

const char *sl_data_path(const struct sl_data_file *f)
{
	return f->path;
}

const char *sl_data_text(const struct sl_data_file *f, size_t *length)
{
	*length = f->length;
	return f->text;
}

unsigned long sl_data_version(const struct sl_data_file *f)
{
	return f->version;
}

bool sl_data_enter(struct sl_data_file *f)
{
	if (f->parsing)
		return false;
	f->parsing = true;
	return true;
}

void sl_data_leave(struct sl_data_file *f)
{
	f->parsing = false;
}

void sl_data_begin(struct sl_data_file *f)
{
	free_map(&f->next);
}

int sl_data_put(struct sl_data_file *f, const char *key, const struct sl_data_value *v, struct sl_error *err)
{
	struct map *m = &f->next;
	struct value *value;
	size_t at = 0;

	if (strlen(key) > SL_DATA_KEY)
		return sl_fail(err, SL_ELIMIT, "a key of %zu bytes, expected at most %d", strlen(key), SL_DATA_KEY);
	if (v->type == SL_DATA_TEXT && strlen(v->text) > SL_DATA_KEY)
		return sl_fail(err, SL_ELIMIT, "a text of %zu bytes, expected at most %d", strlen(v->text), SL_DATA_KEY);
	if (m->values == SL_DATA_KEYS)
		return sl_fail(err, SL_ELIMIT, "more than %d keys", SL_DATA_KEYS);
	if (v->type == SL_DATA_TEXT && (at = add_text(m, v->text)) == SIZE_MAX)
		return no_memory(err);
	value = add_value(m, key);
	if (!value)
		return no_memory(err);
	value->v = *v;
	value->text = at;
	return 0;
}

void sl_data_end(struct sl_data_file *f, bool accept)
{
	if (accept) {
		free_map(&f->good);
		f->good = f->next;
		memset(&f->next, 0, sizeof(f->next));
		f->version++;
		free(f->accepted);
		f->accepted = f->text;
		f->accepted_length = f->length;
	} else {
		free_map(&f->next);
		free(f->text);
	}
	f->text = NULL;
	f->length = 0;
}

struct sl_data_value sl_data_get(const struct sl_data_file *f, const char *key)
{
	const struct value *value = find_value(&f->good, key);

	return value ? value_of(&f->good, value) : (struct sl_data_value) { 0 };
}

const char *sl_data_key(const struct sl_data_file *f, unsigned i, struct sl_data_value *v)
{
	if (i >= f->good.values)
		return NULL;
	*v = value_of(&f->good, &f->good.value[i]);
	return f->good.pool + f->good.value[i].key;
}
