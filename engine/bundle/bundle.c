/* SPDX-License-Identifier: MIT */
#include "bundle/bundle.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/zone.h"
#include "bundle/data.h"

#define MAX_ROOTS 16
#define MAX_NAME 128		/* of a module */

/* A directory of the search path. */
struct sl_root {
	char *path;
	int fd;			/* -1 once the set is sealed */
	bool library;		/* the bundled one */
};

/* Where a module "a.b" is looked for in a directory; %s is "a/b". */
static const char *const form[] = { "%s.lua", "policies/%s.lua", "lib/%s.lua", "lib/%s/init.lua" };
#define FORMS (sizeof(form) / sizeof(form[0]))

/* -- where the bundled files are --------------------------------------- */

/* The absolute path of the program or the module that this code is in. */
static bool own_path(char path[PATH_MAX])
{
	char text[PATH_MAX];
	Dl_info info;
	ssize_t n;

	/* For a program dladdr() says argv[0], which may be anything. */
	if (dladdr((const void *) (uintptr_t) own_path, &info) && info.dli_fname && strstr(info.dli_fname, ".so") &&
	    realpath(info.dli_fname, path))
		return true;
	n = readlink("/proc/self/exe", text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = 0;
	return realpath(text, path);
}

/*
 * share/schedlua/lua in the directory above the program (PREFIX/bin/schedlua) or
 * the module (PREFIX/lib/TRIPLET/lua/5.4/sched_core.so): an installation that is not
 * where it was configured to be.
 */
static char *directory_above(char *path)
{
	char text[PATH_MAX + 32], *slash;

	for (int up = 0; up < 6 && (slash = strrchr(path, '/')); up++) {
		*slash = 0;
		snprintf(text, sizeof(text), "%s/share/schedlua/lua", path);
		if (!access(text, F_OK))
			return strdup(text);
	}
	return strdup(SL_PKGDATA_DIR "/lua");
}

/* Returns malloc'ed text, NULL without memory. */
static char *bundled_directory(bool check_trust)
{
	const char *env = check_trust ? NULL : getenv("SCHEDLUA_PATH");
	char path[PATH_MAX], *text;

	if (env && *env)
		return strdup(env);
	if (own_path(path)) {
		if (sl_is_below(path, SL_BUILD_DIR)) {
			text = realpath(SL_SOURCE_DIR "/lua", NULL);
			return text ? text : strdup(SL_SOURCE_DIR "/lua");
		}
		if (access(SL_PKGDATA_DIR "/lua", F_OK))
			return directory_above(path);
	}
	return strdup(SL_PKGDATA_DIR "/lua");
}

char *sl_bundle_bundled_directory(void)
{
	return bundled_directory(true);
}

/* -- the search path --------------------------------------------------- */

static int no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "out of memory");
}

static int add_root(struct sl_bundle *b, const char *path, size_t length, bool library, struct sl_error *err)
{
	struct sl_root *root = &b->root[b->roots];

	if (b->roots == MAX_ROOTS)
		return sl_fail(err, SL_ELIMIT, "policy path: more than %d directories", MAX_ROOTS);
	while (length > 1 && path[length - 1] == '/')
		length--;
	root->path = strndup(path, length);
	if (!root->path)
		return no_memory(err);
	root->library = library;
	root->fd = sl_trust_dir(&b->trust, root->path, err);
	if (root->fd < 0) {
		free(root->path);
		return sl_fail_in(err, library ? "directory of the bundled policies" : "policy path");
	}
	b->roots++;
	return 0;
}

static int add_roots(struct sl_bundle *b, const char *list, bool library, struct sl_error *err)
{
	while (list && *list) {
		size_t n = strcspn(list, ":");

		if (n && add_root(b, list, n, library, err))
			return -1;
		list += n;
		list += *list == ':';
	}
	return 0;
}

static int add_directory_of(struct sl_bundle *b, const char *path, struct sl_error *err)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return add_root(b, ".", 1, false, err);
	return add_root(b, path, slash == path ? 1 : slash - path, false, err);
}

/* -- files ------------------------------------------------------------- */

static void free_file(struct sl_bundle_file *f)
{
	if (!f)
		return;
	free(f->name);
	free(f->path);
	free(f->text);
	free(f->code);
	free(f);
}

/* Take over a file; frees it on failure. */
static struct sl_bundle_file *add_file(struct sl_bundle *b, struct sl_bundle_file *f, struct sl_error *err)
{
	if (b->files == SL_BUNDLE_FILES) {
		sl_fail(err, SL_ELIMIT, "%s: more than %d files in a policy set", f->path, SL_BUNDLE_FILES);
		free_file(f);
		return NULL;
	}
	return b->file[b->files++] = f;
}

/* name and path are copied; text is taken over. */
static struct sl_bundle_file *new_file(const char *name, const char *path, char *text, size_t length,
				       struct sl_error *err)
{
	struct sl_bundle_file *f = calloc(1, sizeof(*f));

	if (!f || !(f->name = strdup(name)) || !(f->path = strdup(path))) {
		free(text);
		free_file(f);
		no_memory(err);
		return NULL;
	}
	f->text = text;
	f->length = length;
	return f;
}

static bool is_site_file(const struct sl_bundle *b, const struct stat *st)
{
	const struct sl_bundle_file *site = sl_bundle_site(b);

	return site && !site->in_memory && site->st.st_dev == st->st_dev && site->st.st_ino == st->st_ino;
}

/* Read DIR/relative as a file of the set.  NULL with *err, SL_ENOENT if it is not
 * there. */
static struct sl_bundle_file *read_file(struct sl_bundle *b, const struct sl_root *root, const char *name,
					const char *relative, struct sl_error *err)
{
	struct sl_bundle_file *f = NULL;
	char path[PATH_MAX], *text;
	struct stat st;
	size_t length;
	int fd;

	fd = sl_trust_file(&b->trust, root->fd, root->path, relative, &st, err);
	if (fd < 0)
		return NULL;
	/* A site file easy.lua that names "easy" does not mean itself. */
	if (is_site_file(b, &st)) {
		close(fd);
		sl_fail(err, SL_ENOENT, "%s/%s: the site file", root->path, relative);
		return NULL;
	}
	if (!strcmp(root->path, "."))
		snprintf(path, sizeof(path), "%s", relative);
	else
		snprintf(path, sizeof(path), "%s/%s", root->path, relative);
	if (!sl_read_all(fd, path, SL_BUNDLE_FILE_MAX, &text, &length, err))
		f = new_file(name, path, text, length, err);
	close(fd);
	if (!f)
		return NULL;
	f->library = root->library;
	f->st = st;
	return add_file(b, f, err);
}

int sl_bundle_add_text(struct sl_bundle *b, const char *name, const char *path, const char *text, size_t length,
		       struct sl_error *err)
{
	struct sl_bundle_file *f;
	char *copy = malloc(length + 1);

	if (!copy)
		return no_memory(err);
	memcpy(copy, text, length);
	copy[length] = 0;
	f = new_file(name, path, copy, length, err);
	if (!f)
		return -1;
	f->in_memory = true;
	return add_file(b, f, err) ? 0 : -1;
}

static int add_texts(struct sl_bundle *b, const struct sl_bundle_source *src, struct sl_error *err)
{
	for (unsigned i = 0; i < src->texts; i++) {
		const char *name = src->text[i].name, *text = src->text[i].text;
		bool site = b->site && !strcmp(name, b->site);
		char path[PATH_MAX];

		snprintf(path, sizeof(path), site ? "%s" : "%s.lua", name);
		if (sl_bundle_add_text(b, site ? "" : name, path, text, strlen(text), err))
			return -1;
	}
	return src->kept ? sl_bundle_add_kept(b, src->kept, src->kept_size, err) : 0;
}

/* -- opening ----------------------------------------------------------- */

/* "easy,window=100", "dir/mine.lua,window=100" */
static int open_policy(struct sl_bundle *b, const char *text, struct sl_error *err)
{
	size_t n = strcspn(text, ",");
	const char *slash;

	b->policy = strndup(text, n);
	b->options = strdup(text[n] ? text + n + 1 : "");
	if (!b->policy || !b->options)
		return no_memory(err);
	if (n < 5 || strcmp(b->policy + n - 4, ".lua"))
		return 0;
	slash = strrchr(b->policy, '/');
	if (add_directory_of(b, b->policy, err))
		return -1;
	if (faccessat(b->root[0].fd, slash ? slash + 1 : b->policy, F_OK, 0))
		return sl_fail(err, errno == ENOENT ? SL_ENOENT : SL_EIO, "%s: %s", b->policy, strerror(errno));
	/* From here on the name of a module, found first in that directory. */
	b->policy[n - 4] = 0;
	if (slash)
		memmove(b->policy, slash + 1, strlen(slash));
	return 0;
}

static int open_site(struct sl_bundle *b, struct sl_error *err)
{
	const char *slash = strrchr(b->site, '/');

	if (sl_bundle_site(b))
		return 0;	/* in memory */
	if (add_directory_of(b, b->site, err)) {
		if (err && err->code == SL_ENOENT)
			sl_fail(err, SL_ENOENT, "%s: no such file or directory", b->site);
		return -1;
	}
	return read_file(b, &b->root[0], "", slash ? slash + 1 : b->site, err) ? 0 : -1;
}

struct sl_bundle *sl_bundle_open(const struct sl_bundle_source *src, struct sl_error *err)
{
	struct sl_bundle *b = calloc(1, sizeof(*b));
	char *bundled = NULL;

	if (!b || !(b->root = calloc(MAX_ROOTS, sizeof(*b->root))) ||
	    !(b->file = calloc(SL_BUNDLE_FILES, sizeof(*b->file))) ||
	    (src->site && !(b->site = strdup(src->site)))) {
		no_memory(err);
		goto error;
	}
	b->trust.check = src->check_trust;
	b->trust.uid = src->trusted_uid;
	b->data = sl_data_create(&b->trust);
	if (!b->data) {
		no_memory(err);
		goto error;
	}
	b->look_up_users = src->look_up_users;
	if (add_texts(b, src, err))
		goto error;
	if (b->site ? open_site(b, err) : open_policy(b, src->policy ? src->policy : "easy", err))
		goto error;
	if (add_roots(b, src->path, false, err))
		goto error;
	bundled = bundled_directory(src->check_trust);
	if (!bundled) {
		no_memory(err);
		goto error;
	}
	if (add_roots(b, bundled, true, err))
		goto error;
	free(bundled);
	return b;
error:
	free(bundled);
	sl_bundle_destroy(b);
	return NULL;
}

static uint64_t digest_bytes(uint64_t hash, const char *bytes, size_t n)	/* FNV-1a */
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char) bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t digest_text(uint64_t hash, const char *text)
{
	return digest_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* The digest of a set is the sum of its files' digests, so that it does not depend on the order in
 * which they are required. */
static void make_digest(struct sl_bundle *b)
{
	const uint64_t start = UINT64_C(0xcbf29ce484222325);
	uint64_t sum = digest_text(digest_text(start, b->policy), b->options);

	for (unsigned i = 0; i < b->files; i++) {
		const struct sl_bundle_file *f = b->file[i];
		uint64_t hash = digest_bytes(digest_text(start, f->name), f->text, f->length);

		if (f->name[0] != ':')
			sum += (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	}
	snprintf(b->digest, sizeof(b->digest), "%016" PRIx64, sum);
}

void sl_bundle_seal(struct sl_bundle *b)
{
	for (unsigned i = 0; i < b->roots; i++)
		if (b->root[i].fd >= 0) {
			close(b->root[i].fd);
			b->root[i].fd = -1;
		}
	make_digest(b);
	b->sealed = true;
}

const struct sl_zone *sl_bundle_zone(struct sl_bundle *b, const char *name, struct sl_error *err)
{
	struct sl_bundle_zone z = { 0 };

	for (unsigned i = 0; i < b->zones; i++)
		if (!strcmp(b->zone[i].name, name))
			return b->zone[i].zone;
	if (b->sealed) {
		sl_fail(err, SL_ENOENT, "the time zone '%.80s' was not asked for when the set was loaded", name);
		return NULL;
	}
	if (!(z.zone = sl_zone_read(name, err)))
		return NULL;
	if (!(z.name = strdup(name)) || sl_grow_list(&b->zone, b->zones, sizeof(*b->zone), err)) {
		if (!z.name)
			sl_fail(err, SL_ENOMEM, "out of memory");
		free(z.name);
		sl_zone_destroy(z.zone);
		return NULL;
	}
	b->zone[b->zones++] = z;
	return z.zone;
}

void sl_bundle_destroy(struct sl_bundle *b)
{
	if (!b)
		return;
	if (b->root)
		sl_bundle_seal(b);
	for (unsigned i = 0; i < b->roots; i++)
		free(b->root[i].path);
	for (unsigned i = 0; i < b->files; i++)
		free_file(b->file[i]);
	for (unsigned i = 0; i < b->zones; i++) {
		free(b->zone[i].name);
		sl_zone_destroy(b->zone[i].zone);
	}
	free(b->zone);
	free(b->root);
	free(b->file);
	free(b->site);
	free(b->policy);
	free(b->options);
	free(b->partitions);
	free(b->tunables);
	sl_data_destroy(b->data);
	free(b);
}

/* -- looking up -------------------------------------------------------- */

static const char *text_in_memory(const struct sl_bundle *b, const char *name)
{
	for (unsigned i = 0; i < b->files; i++)
		if (b->file[i]->in_memory && !strcmp(b->file[i]->name, name))
			return b->file[i]->text;
	return NULL;
}

static struct sl_data_file *open_data(struct sl_bundle *b, const char *name, bool may_lack, struct sl_error *err)
{
	const struct sl_bundle_file *kept = sl_bundle_kept_data(b, name);
	const char *dir[MAX_ROOTS];
	struct sl_data_places at = {
		.kept_path = kept ? kept->path : NULL, .kept = kept ? kept->text : NULL,
		.text = text_in_memory(b, name), .dir = dir, .may_lack = may_lack,
	};

	/* the bundled directory has none */
	for (unsigned i = 0; i < b->roots && !b->root[i].library; i++)
		dir[at.dirs++] = b->root[i].path;
	return sl_data_open(b->data, name, b->sealed ? NULL : &at, err);
}

struct sl_data_file *sl_bundle_data(struct sl_bundle *b, const char *name, struct sl_error *err)
{
	return open_data(b, name, false, err);
}

struct sl_data_file *sl_bundle_awaited(struct sl_bundle *b, const char *name, struct sl_error *err)
{
	return open_data(b, name, true, err);
}

const struct sl_bundle_file *sl_bundle_site(const struct sl_bundle *b)
{
	if (b->site)
		for (unsigned i = 0; i < b->files; i++)
			if (!b->file[i]->name[0])
				return b->file[i];
	return NULL;
}

/* "a.b-c_1": no empty parts, nothing that means something in a path. */
static int check_name(const char *name, struct sl_error *err)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++) {
		bool dot = name[i] == '.';

		if (!isalnum((unsigned char) name[i]) && !strchr("_-.", name[i]))
			n = 0;
		else if (dot && (i == 0 || i == n - 1 || name[i - 1] == '.'))
			n = 0;
	}
	if (n && n <= MAX_NAME)
		return 0;
	return sl_fail(err, SL_EINVAL, "'%.150s' is no module name; expected something like easy or site.fairness", name);
}

static bool is_reserved(const char *name)
{
	return !strncmp(name, "sched", 5) && (!name[5] || name[5] == '.');
}

static int not_found(const struct sl_bundle *b, const char *name, struct sl_error *err)
{
	bool reserved = is_reserved(name);
	char dirs[300] = "";

	if (b->sealed)
		return sl_fail(err, SL_ENOENT, "module '%s' was not loaded with the policy set; "
			       "require it where the file is loaded, not in a function", name);
	for (unsigned i = 0; i < b->roots; i++) {
		size_t n = strlen(dirs);

		if (!reserved || b->root[i].library)
			snprintf(dirs + n, sizeof(dirs) - n, "%s%s", n ? ", " : "", b->root[i].path);
	}
	return sl_fail(err, SL_ENOENT, "no module '%s'; looked in %s%s", name, dirs,
		       reserved ? " (sched.* is the project's own)" : "");
}

const struct sl_bundle_file *sl_bundle_module(struct sl_bundle *b, const char *name, struct sl_error *err)
{
	struct sl_bundle_file *f;
	struct sl_error why = { 0 };
	char part[MAX_NAME + 1], path[MAX_NAME + 32];

	if (check_name(name, err))
		return NULL;
	for (unsigned i = 0; i < b->files; i++)
		if (!strcmp(b->file[i]->name, name))
			return b->file[i];
	strcpy(part, name);
	for (char *p = part; *p; p++)
		if (*p == '.')
			*p = '/';
	for (unsigned i = 0; i < b->roots && !b->sealed; i++)
		for (unsigned k = 0; k < FORMS; k++) {
			if (is_reserved(name) && !b->root[i].library)
				continue;
			snprintf(path, sizeof(path), form[k], part);
			f = read_file(b, &b->root[i], name, path, &why);
			if (f)
				return f;
			if (why.code == SL_ENOENT)
				continue;
			if (err)
				*err = why;
			return NULL;
		}
	not_found(b, name, err);
	return NULL;
}

const struct sl_bundle_file *sl_bundle_own(struct sl_bundle *b, const char *name, const char *path,
					   struct sl_error *err)
{
	struct sl_bundle_file *f;

	sl_fail(err, SL_ENOENT, "no bundled file %s", path);
	for (unsigned i = 0; i < b->roots; i++)
		if (b->root[i].library && (f = read_file(b, &b->root[i], name, path, err)))
			return f;
	return NULL;
}

/* What a directory has under *sub*, by name. */
static void visit_directory(const struct sl_root *root, const char *sub, void (*visit)(const char *, void *), void *arg)
{
	struct dirent **entry;
	char path[PATH_MAX];
	int n;

	snprintf(path, sizeof(path), "%s%s", root->path, sub);
	n = scandir(path, &entry, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		size_t length = strlen(entry[i]->d_name);

		if (length > 4 && !strcmp(entry[i]->d_name + length - 4, ".lua")) {
			entry[i]->d_name[length - 4] = 0;
			visit(entry[i]->d_name, arg);
		}
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

void sl_bundle_policies(const struct sl_bundle *b, void (*visit)(const char *name, void *arg), void *arg)
{
	for (unsigned i = 0; i < b->files; i++)
		if (b->file[i]->in_memory && b->file[i]->name[0])
			visit(b->file[i]->name, arg);
	for (unsigned i = 0; i < b->roots; i++)
		visit_directory(&b->root[i], "/policies", visit, arg);
}

/* -- watching ---------------------------------------------------------- */

void sl_bundle_refresh(const struct sl_bundle *b)
{
	sl_data_refresh(b->data);
}

void sl_bundle_retell(const struct sl_bundle *b)
{
	sl_data_retell(b->data);
}

struct teller {
	void (*tell)(const char *what, void *arg);
	void *arg;
};

static void tell_text(bool error, const char *text, void *arg)
{
	const struct teller *t = arg;

	(void) error;
	t->tell(text, t->arg);
}

void sl_bundle_warnings(const struct sl_bundle *b, void (*tell)(const char *what, void *arg), void *arg)
{
	struct teller t = { tell, arg };

	sl_data_retell(b->data);
	sl_data_tell(b->data, tell_text, &t);
}

const struct sl_site_figures *sl_bundle_figures(const struct sl_bundle *b)
{
	return &b->figures;
}

const char *sl_bundle_digest(const struct sl_bundle *b)
{
	return b->digest;
}

const char *sl_bundle_file(const struct sl_bundle *b, unsigned i)
{
	for (unsigned k = 0; k < b->files; k++)
		if (!b->file[k]->in_memory && !i--)
			return b->file[k]->path;
	return NULL;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

int sl_bundle_changed(const struct sl_bundle *b)
{
	for (unsigned i = 0; i < b->files; i++) {
		const struct sl_bundle_file *f = b->file[i];
		struct stat st;

		if (f->in_memory)
			continue;
		/* ctime: owner and mode count too */
		if (stat(f->path, &st) || st.st_ino != f->st.st_ino || st.st_dev != f->st.st_dev ||
		    st.st_size != f->st.st_size || !same_time(&st.st_mtim, &f->st.st_mtim) ||
		    !same_time(&st.st_ctim, &f->st.st_ctim))
			return 1;
	}
	return 0;
}
