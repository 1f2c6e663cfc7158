/* SPDX-License-Identifier: MIT */
/*
 * data.h - plain files that a policy set reads: limits, layers, whatever a site keeps
 * beside its policies and edits while the scheduler runs.
 *
 * A file is declared while the set is loaded (sched.file() in Lua) and belongs to the
 * set from then on; it comes through the same door as policies (trust.h), from the
 * directory of the site file or one of the policy path.  Before each decision
 * sl_data_refresh() looks whether a file changed (one stat(2)); one that did is read
 * and handed to its parser, a Lua function, in that cycle.  What the parser returns, a
 * flat map from strings to numbers, strings and booleans, is kept here, so that a
 * file is parsed once for each change and not once for each cycle's fresh Lua state.
 *
 * A changed file that is not good (cannot be read, refused by its parser, still being
 * written) leaves what was there before in force; that is said once, until it changes
 * again.  A file with no byte in it, and one whose last line has no end, count as being
 * written.  One that something else writes from time to time need not be there when the set
 * is loaded (sl_data_places.may_lack).
 *
 * Ownership: the bundle owns its data.  Threads: none.
 */
#ifndef SL_DATA_H
#define SL_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "bundle/trust.h"

struct sl_data;			/* the files of a set */
struct sl_data_file;

#define SL_DATA_FILES 64	/* of a set */
#define SL_DATA_NAME 255	/* bytes of a file's name, directories included */
#define SL_DATA_KEY 1024	/* bytes of a key or a string */
#define SL_DATA_KEYS 1000000	/* of a file */

struct sl_data_value {
	enum { SL_DATA_NONE, SL_DATA_NUMBER, SL_DATA_INTEGER, SL_DATA_BOOLEAN, SL_DATA_TEXT } type;
	double number;
	long long integer;	/* also a boolean */
	const char *text;	/* lives until the file is parsed again */
};

struct sl_data *sl_data_create(const struct sl_trust *trust);
void sl_data_destroy(struct sl_data *d);

/* Where a file may be, what comes first first; NULL: not there. */
struct sl_data_places {
	const char *kept_path, *kept;	/* as it was when the set was kept */
	const char *text;		/* in memory */
	const char *const *dir;		/* of the search path */
	unsigned dirs;
	bool may_lack;			/* none, or one that is being written, is one without a line, which is said */
};

/*
 * The file called so; declared and read the first time, unless *at* is NULL: no more may be
 * declared.  NULL with *err: SL_ENOENT, SL_EINVAL for what is no relative path, SL_ETRUST,
 * SL_EIO, SL_ELIMIT.
 */
struct sl_data_file *sl_data_open(struct sl_data *d, const char *name, const struct sl_data_places *at,
				  struct sl_error *err);

/* Look which files changed, and read those. */
void sl_data_refresh(struct sl_data *d);

const char *sl_data_path(const struct sl_data_file *f);

/* Text that waits for its parser, NULL if there is none. */
const char *sl_data_text(const struct sl_data_file *f, size_t *length);

/* How often a text of the file was accepted; 0: not yet. */
unsigned long sl_data_version(const struct sl_data_file *f);

/* The text of file *i* that holds (NULL: none was accepted), for keeping a set.  False past
 * the end. */
struct sl_data_accepted {
	const char *name, *path, *text;
	size_t length;
};
bool sl_data_accepted(const struct sl_data *d, unsigned i, struct sl_data_accepted *a);

/* -- parsing: begin, put what there is, end ------------------------------ */

/* A parser is at work on the file; or no longer.  False when it is at work already: what it
 * calls cannot have the file parsed once more. */
bool sl_data_enter(struct sl_data_file *f);
void sl_data_leave(struct sl_data_file *f);

void sl_data_begin(struct sl_data_file *f);

/* SL_ELIMIT for what is too long or too much; a key given twice keeps the last value. */
int sl_data_put(struct sl_data_file *f, const char *key, const struct sl_data_value *v, struct sl_error *err);

/* Accept what was put, or drop it and keep what was there before.  The text is gone. */
void sl_data_end(struct sl_data_file *f, bool accept);

/* -- reading -------------------------------------------------------------- */

/* SL_DATA_NONE where there is none. */
struct sl_data_value sl_data_get(const struct sl_data_file *f, const char *key);

/* Key *i* in the order in which they were put, NULL past the end. */
const char *sl_data_key(const struct sl_data_file *f, unsigned i, struct sl_data_value *v);

/* -- what is to be said about a file --------------------------------------- */

/* Note a line, unless it is noted already; error: as such.  At most a hundred of one text of the file. */
void sl_data_say(struct sl_data_file *f, bool error, const char *text);

/* Call tell() for each line that was not told yet. */
void sl_data_tell(struct sl_data *d, void (*tell)(bool error, const char *text, void *arg), void *arg);

/* What was told is to be told again. */
void sl_data_retell(struct sl_data *d);

#endif
