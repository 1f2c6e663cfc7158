/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journals.c - see journals.h */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/trust.h"
#include "plugin/host/journals.h"

int sl_journals_open(struct sl_journals *js, struct sl_error *err)
{
	if (mkdir(js->dir, 0755) && errno != EEXIST)
		return sl_fail(err, SL_EIO, "%.400s: %s: no journal, no status", js->dir, strerror(errno));
	if (!js->own && !(js->own = sl_journal_open(js->dir, err)))
		return sl_fail_in(err, "journal");
	return 0;
}

/* May what is ours be written there? */
static int check_place(const struct sl_journals *js, struct sl_error *err)
{
	const struct sl_trust trust = { .check = true, .uid = js->trusted_uid, .no_sticky = true };
	int fd = sl_trust_dir(&trust, js->publish, err);

	if (fd < 0)
		return sl_fail_in(err, "lua_publish");
	close(fd);
	return 0;
}

int sl_journals_set(struct sl_journals *js, const char *dir, const char *publish, uint32_t trusted_uid, bool hide,
		    struct sl_error *err)
{
	if (strcmp(js->publish, publish) || hide) {
		sl_journal_close(js->published);
		js->published = NULL;
	}
	snprintf(js->dir, sizeof(js->dir), "%s", dir);
	snprintf(js->publish, sizeof(js->publish), "%s", publish);
	js->trusted_uid = trusted_uid;
	if (!*publish || !hide)
		return 0;
	if (check_place(js, err) || sl_journal_remove(publish, err))
		return -1;
	*js->publish = '\0';
	return 0;
}

static int publish(struct sl_journals *js, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		   const struct sl_carried *carried, struct sl_error *err)
{
	if (!*js->publish)
		return 0;
	if (!js->published && (check_place(js, err) || !(js->published = sl_journal_publish(js->publish, err))))
		return -1;
	return sl_journal_write(js->published, snap, plan, carried, err);
}

void sl_journals_write(struct sl_journals *js, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		       const struct sl_carried *carried,
		       void (*tell)(void *arg, enum sl_trouble what, const char *text), void *arg)
{
	struct sl_error err;

	if ((!js->own && sl_journals_open(js, &err)) || sl_journal_write(js->own, snap, plan, carried, &err))
		tell(arg, SL_TROUBLE_JOURNAL, err.text);
	if (publish(js, snap, plan, carried, &err))
		tell(arg, SL_TROUBLE_PUBLISH, err.text);
}

void sl_journals_close(struct sl_journals *js)
{
	sl_journal_close(js->own);
	sl_journal_close(js->published);
	js->own = js->published = NULL;
}
