/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journals.h - the decision journal beside slurmctld's state, and the one that everybody may
 * read (lua_publish), where the site wants it.
 *
 * Knows nothing of Slurm.  Only the cycle thread touches it.  What cannot be written is
 * told of and tried again with the next cycle.
 */
#ifndef SL_JOURNALS_H
#define SL_JOURNALS_H

#include "image/journal.h"
#include "plugin/host/status.h"

struct sl_journals {
	char dir[2048], publish[1024];
	uint32_t trusted_uid;
	struct sl_journal *own, *published;
};

/*
 * Where to write from now on; *publish* may be empty.  That directory and all above it have to belong
 * to root or trusted_uid, with nobody else writing there: who could put a link in the
 * journal's place would choose what root writes to.  With *hide* nothing is published,
 * and what was before is removed.  0, or -1 with *err.
 */
int sl_journals_set(struct sl_journals *js, const char *dir, const char *publish, uint32_t trusted_uid, bool hide,
		    struct sl_error *err);

/* Make the directory of slurmctld's own journal, and open it.  0, or -1 with *err. */
int sl_journals_open(struct sl_journals *js, struct sl_error *err);

/* Write the record of a cycle to both; tell() of each that fails. */
void sl_journals_write(struct sl_journals *js, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		       const struct sl_carried *carried,
		       void (*tell)(void *arg, enum sl_trouble what, const char *text), void *arg);

void sl_journals_close(struct sl_journals *js);

#endif
