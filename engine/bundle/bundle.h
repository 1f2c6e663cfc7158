/* SPDX-License-Identifier: MIT */
/*
 * bundle.h - the text of a policy set, read through one door.
 *
 * A set is the site file and the modules that it requires, directly or not.
 * Each file is read once, by descriptor, and kept: a cycle's Lua state is made
 * from memory.  What decides is therefore what was checked.
 *
 * Trust (check_trust, in production): bundle/trust.h.
 *
 * Search path, for a module or a policy "a.b": the directory of the site file, the
 * directories of sl_bundle_source.path, then the bundled one; in each of them
 * a/b.lua, policies/a/b.lua, lib/a/b.lua, lib/a/b/init.lua.  The names "sched"
 * and "sched.*" are the project's own and found in the bundled one only.
 *
 * The bundled directory: $SCHEDLUA_PATH (not with check_trust); the source tree
 * for a program that runs from its build tree; else $(pkgdatadir)/lua, or where
 * that does not exist share/schedlua/lua above the program.
 *
 * Ownership: a bundle owns everything; texts and names live as long as it does.
 * Threads: none.
 */
#ifndef SL_BUNDLE_H
#define SL_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "bundle/trust.h"
#include "image/fence.h"

#define SL_BUNDLE_FILES 256			/* files of a set */

/* A file that is not on disk (specs): a module's name, or the site's path. */
struct sl_bundle_text {
	const char *name, *text;
};

struct sl_bundle_source {
	const char *site;		/* path of a site file, or NULL */
	const char *policy;		/* "easy" or "easy,window=100", or a path ending in .lua: a site of one
					 * policy; used when site is NULL */
	const char *path;		/* colon-separated directories searched before the bundled ones, or NULL */
	bool check_trust;		/* owner, mode and symlink rules (production) */
	uint32_t trusted_uid;		/* owner allowed beside root */
	const struct sl_bundle_text *text;	/* found before anything on disk */
	unsigned texts;
	const void *kept;		/* a kept set of that site: its own files come from there; or NULL */
	size_t kept_size;
	bool look_up_users;		/* warn of users that this machine does not know */
};

/* What the site file says of the cycle; 0 where it says nothing. */
struct sl_site_figures {
	double interval_s, budget_s;
	double wake_after_s;		/* jobs wait for so long for nodes that are up rather than to have others boot */
	char policy[256];		/* "easy", or "site: auction, easy" */
	unsigned variants;		/* the most lists of which one holds at a time (sched.when); 1: there are none such */
	struct sl_fence hold;		/* partitions that are held when what guards them fails */
};

struct sl_code;
struct sl_root;

struct sl_bundle_file {
	char *name;		/* of the module; "" for the site file */
	char *path;		/* as messages show it */
	char *text;
	size_t length;
	struct sl_code *code;	/* what the text compiled to (sandbox/sandbox.h), or NULL so far */
	bool library;		/* from the bundled directory: may be a sched.* module */
	bool in_memory;		/* never was on disk (tests) */
	struct stat st;		/* as it was read */
};

struct sl_data;
struct sl_data_file;
struct sl_zone;

struct sl_bundle_zone {
	char *name;
	struct sl_zone *zone;
};

struct sl_bundle {
	struct sl_trust trust;
	char *site;			/* path of the site file, or NULL */
	char *policy;			/* module of a site of one policy, or NULL */
	char *options;			/* "window=100", or NULL */
	struct sl_root *root;		/* search path, the bundled directory last */
	unsigned roots;
	struct sl_bundle_file **file;
	unsigned files;
	bool sealed;
	/* Of a sealed set: its files' names and texts, the policy and its options.  Plain
	 * files are left out, as they change while the set lives.  The same for a set that is
	 * made from what was kept of it. */
	char digest[17];
	bool look_up_users;		/* ask the system about users in data files */
	struct sl_data *data;		/* the set's plain files: what changes in a sealed set */
	struct sl_bundle_zone *zone;	/* time zones that the set asks for */
	unsigned zones;
	struct sl_site_figures figures;
	char *tunables;			/* a line for each option: policy, name, value, values to try, by tabs; or NULL */
	char *partitions;		/* that the site file names, each "FILE:LINE: NAME\n"; or NULL */
};

/* Set up the search path and read the site file if there is one.  NULL with *err. */
struct sl_bundle *sl_bundle_open(const struct sl_bundle_source *src, struct sl_error *err);
void sl_bundle_destroy(struct sl_bundle *b);
const struct sl_site_figures *sl_bundle_figures(const struct sl_bundle *b);

/* Equal for sets of the same files: a text. */
const char *sl_bundle_digest(const struct sl_bundle *b);

/* Add a file that is not on disk; all is copied. */
int sl_bundle_add_text(struct sl_bundle *b, const char *name, const char *path, const char *text, size_t length,
		       struct sl_error *err);

/* The site file, or NULL in a set of one policy. */
const struct sl_bundle_file *sl_bundle_site(const struct sl_bundle *b);

/*
 * A module of the set; read from disk the first time, unless the set is sealed.
 * NULL with *err: SL_ENOENT (the text says where it was looked for), SL_ETRUST,
 * SL_EIO, SL_ELIMIT, SL_EINVAL for what is no module name.
 */
const struct sl_bundle_file *sl_bundle_module(struct sl_bundle *b, const char *name, struct sl_error *err);

/*
 * The file PATH ("policies/easy.lua") of the bundled directory as the module *name* of
 * the set, whatever the site has of that name.  NULL with *err.
 */
const struct sl_bundle_file *sl_bundle_own(struct sl_bundle *b, const char *name, const char *path,
					   struct sl_error *err);

/* Where the bundled policies are, with check_trust.  The caller's to free; NULL without memory. */
char *sl_bundle_bundled_directory(void);

/*
 * A plain file of the set (data.h), from the directory of the site file or one of the policy
 * path; declared and read the first time, unless the set is sealed.  NULL with *err:
 * SL_ENOENT, SL_EINVAL for what is no relative path, SL_ETRUST, SL_EIO, SL_ELIMIT.
 */
struct sl_data_file *sl_bundle_data(struct sl_bundle *b, const char *name, struct sl_error *err);

/* As sl_bundle_data(), but the file need not exist: one that is missing or half written counts as empty, and is read when it
 * is complete. */
struct sl_data_file *sl_bundle_awaited(struct sl_bundle *b, const char *name, struct sl_error *err);

/*
 * A time zone by name, "": the machine's (base/zone.h); read the first time, unless the set is sealed.  NULL with *err:
 * SL_ENOENT, SL_EFORMAT, SL_ENOMEM.
 */
const struct sl_zone *sl_bundle_zone(struct sl_bundle *b, const char *name, struct sl_error *err);

/* From now on no module and no time zone is read: what was not loaded with the set is not there. */
void sl_bundle_seal(struct sl_bundle *b);

/* Call visit(name, arg) for the policies on the search path, bundled ones last; for
 * messages.  A name may come twice. */
void sl_bundle_policies(const struct sl_bundle *b, void (*visit)(const char *name, void *arg), void *arg);

/* -- watching ----------------------------------------------------------- */

/* The files of the set, for watching them: path i, or NULL past the end. */
const char *sl_bundle_file(const struct sl_bundle *b, unsigned i);

/* 1 when a file of the set differs from what was read (mtime, size, inode). */
int sl_bundle_changed(const struct sl_bundle *b);

/* Read those of the set's plain files (sched.file) that changed: before each decision. */
void sl_bundle_refresh(const struct sl_bundle *b);

/* What was logged about plain files is logged once more, as of a set that was only tried. */
void sl_bundle_retell(const struct sl_bundle *b);

/* Call tell() for all that there is to say about plain files: "FILE:LINE: what". */
void sl_bundle_warnings(const struct sl_bundle *b, void (*tell)(const char *what, void *arg), void *arg);

/* -- bundle/keep.c -------------------------------------------------------- */

/*
 * The set's own files as bytes, from which sl_bundle_source.kept makes it again.  0 with
 * *bytes to be freed, or -1 with *err.
 */
int sl_bundle_keep(const struct sl_bundle *b, void **bytes, size_t *size, struct sl_error *err);

/*
 * Is that kept set what stands in the files?  Each of its modules and plain files is looked
 * for where *src* says (src->kept is not read) and must have that path and that text: who
 * asks need not believe who hands it over.  0, or -1 with *err: SL_ETRUST, or why it is no
 * set or a file cannot be read.
 */
int sl_bundle_vouch(const struct sl_bundle_source *src, const void *bytes, size_t size, struct sl_error *err);

/* Add the files of a kept set (sl_bundle_keep()), which must be that of b->site.  0, or
 * -1 with *err: SL_EFORMAT, SL_EINVAL when it is another site's. */
int sl_bundle_add_kept(struct sl_bundle *b, const void *bytes, size_t size, struct sl_error *err);

/* A plain file as it was when the set was kept, or NULL. */
const struct sl_bundle_file *sl_bundle_kept_data(const struct sl_bundle *b, const char *name);

#endif
