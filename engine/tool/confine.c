/* SPDX-License-Identifier: MIT */
#include "tool/confine.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "image/image.h"
#include "mip/mip.h"

#define NOBODY 65534

/* -- directories ---------------------------------------------------------- */

/* Takes the path over. */
static int add_place(struct sl_confined *c, char *path, struct sl_error *err)
{
	struct stat st;

	if (!path)
		return sl_fail(err, SL_ENOMEM, "engine: out of memory");
	if (c->places == SL_CONFINE_PLACES) {
		free(path);
		return sl_fail(err, SL_ELIMIT, "engine: --read: more than %d directories", SL_CONFINE_PLACES);
	}
	if (stat(path, &st))
		st.st_ino = 0, st.st_dev = 0;
	c->place[c->places].path = path;
	c->place[c->places].device = st.st_dev;
	c->place[c->places++].inode = st.st_ino;
	return 0;
}

/* What was said, and what comes with the program. */
static int list_places(struct sl_confined *c, const char *list, struct sl_error *err)
{
	if (!list)
		return 0;
	while (*list) {
		size_t n = strcspn(list, ":");

		if (n && add_place(c, strndup(list, n), err))
			return -1;
		list += n + (list[n] == ':');
	}
	return add_place(c, sl_bundle_bundled_directory(), err);
}

void sl_confined_clear(struct sl_confined *c)
{
	while (c->places)
		free(c->place[--c->places].path);
}

/* Another directory stands where one was: Landlock knows the old one only. */
static const char *moved_place(const struct sl_confined *c)
{
	struct stat st;

	for (unsigned i = 0; c->holds.landlock && i < c->places; i++)
		if (stat(c->place[i].path, &st) ? errno == ENOENT && c->place[i].inode :
		    st.st_ino != c->place[i].inode || st.st_dev != c->place[i].device)
			return c->place[i].path;
	return NULL;
}

/* -- who it is --------------------------------------------------------------- */

int sl_confine_user(const char *name, unsigned *uid, unsigned *gid, struct sl_error *err)
{
	const struct passwd *pw = name ? getpwnam(name) : NULL;
	char *end;

	*uid = *gid = NOBODY;
	if (pw) {
		*uid = pw->pw_uid;
		*gid = pw->pw_gid;
	} else if (name) {
		*uid = *gid = (unsigned) strtoul(name, &end, 10);
		if (*name < '0' || *name > '9' || *end)
			return sl_fail(err, SL_EINVAL, "there is no user \"%s\" (lua_user)", name);
	}
	return 0;
}

static int find_user(const char *name, struct sl_harden *h, struct sl_error *err)
{
	struct sl_error why;

	if (sl_confine_user(name, &h->uid, &h->gid, &why))
		return sl_fail(err, why.code, "engine: %s", why.text);
	h->must = name != NULL;
	if (name && geteuid() && geteuid() != h->uid)
		fprintf(stderr, "lua_user=%s has no effect: slurmctld is not root, and its engine runs as it does, "
			"as uid %u\n", name, (unsigned) geteuid());
	return 0;
}

/* -- all of it ------------------------------------------------------------------ */

static int harden_solvers(void *arg, struct sl_error *err)
{
	struct sl_harden h = *(const struct sl_harden *) arg;

	h.role = SL_HARDEN_SOLVER;
	return sl_harden(&h, NULL, err);
}

static size_t largest_memfd(size_t memory)
{
	size_t part = memory / SL_CONFINE_FILES;

	return part > SL_CONFINE_LEAST_MEMFD ? part : SL_CONFINE_LEAST_MEMFD;
}

int sl_confine(struct sl_confined *c, size_t memory, const char *user, const char *read, struct sl_error *err)
{
	struct sl_landlock_path path[SL_CONFINE_PLACES + 2] = { { "/etc/localtime", false },
								{ "/usr/share/zoneinfo", false } };
	struct sl_harden h = { .address_space = memory, .files = SL_CONFINE_FILES,
			       .file_size = largest_memfd(memory) };
	struct sl_error why;

	if (find_user(user, &h, err) || list_places(c, read, err))
		return -1;
	if (sl_mip_start_server(harden_solvers, &h, &why))
		fprintf(stderr, "%s: no model will be solved\n", why.text);
	for (unsigned i = 0; i < c->places; i++)
		path[i + 2].path = c->place[i].path;
	h.path = path;
	h.paths = c->places ? c->places + 2 : 0;
	return sl_harden(&h, &c->holds, err);
}

int sl_confined_check(const struct sl_confined *c, struct sl_error *err)
{
	const char *moved = moved_place(c);

	if (moved)
		return sl_fail(err, SL_EBUSY, "engine: %s is another directory now: another engine reads it", moved);
	if (sl_mip_server_gone())
		return sl_fail(err, SL_EBUSY, "engine: the process that starts solvers has ended: another engine has one");
	return 0;
}
