/* SPDX-License-Identifier: MIT */
/*
 * trust.c - opening files that decide what the cluster does.
 *
 * Component by component, each opened relative to the one before and checked
 * through its descriptor, so that nothing can be swapped between check and use.
 */
#include "bundle/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINKS 16

/* A path on its way down: what is left, and what was passed, for messages. */
struct walk {
	const struct sl_trust *trust;
	int fd;				/* the directory reached, O_PATH */
	char rest[PATH_MAX];
	char done[PATH_MAX];
	unsigned links;
	struct sl_error *err;
};

static bool is_trusted(const struct sl_trust *trust, uid_t uid)
{
	return uid == 0 || uid == trust->uid;
}

static int check_owner(const struct sl_trust *trust, const struct stat *st, const char *path, struct sl_error *err)
{
	if (is_trusted(trust, st->st_uid))
		return 0;
	if (trust->uid)
		return sl_fail(err, SL_ETRUST, "%s: owned by uid %u, must be owned by root or uid %u",
			       path, st->st_uid, trust->uid);
	return sl_fail(err, SL_ETRUST, "%s: owned by uid %u, must be owned by root", path, st->st_uid);
}

/* Nobody else can change it; in a sticky directory nobody else can replace what
 * we own. */
static int check_mode(const struct sl_trust *trust, const struct stat *st, const char *path, struct sl_error *err)
{
	const char *who = st->st_mode & S_IWOTH ? "everybody" : "its group";

	if (!(st->st_mode & (S_IWGRP | S_IWOTH)) || (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX && !trust->no_sticky))
		return 0;
	return sl_fail(err, SL_ETRUST, "%s: writable by %s (mode %04o), must be writable by its owner only",
		       path, who, st->st_mode & 07777);
}

static int check_component(const struct sl_trust *trust, const struct stat *st, const char *path,
			   struct sl_error *err)
{
	return check_owner(trust, st, path, err) || check_mode(trust, st, path, err) ? -1 : 0;
}

static int fail_open(const char *path, struct sl_error *err)
{
	if (errno == EACCES)
		return sl_fail(err, SL_EIO, "%s: Permission denied for uid %u, as whom this runs; expected a file of mode "
			       "644 below directories of mode 755 (chmod o+rX)", path, geteuid());
	return sl_fail(err, errno == ENOENT ? SL_ENOENT : SL_EIO, "%s: %s", path, strerror(errno));
}

/* Take the first component off w->rest into name.  False at the end. */
static bool next_name(struct walk *w, char name[NAME_MAX + 1])
{
	char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (!n || n > NAME_MAX)
		return false;
	memcpy(name, p, n);
	name[n] = 0;
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return true;
}

static int start_at_root(struct walk *w)
{
	struct stat st;

	if (w->fd >= 0)
		close(w->fd);
	strcpy(w->done, "/");
	w->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->fd < 0 || fstat(w->fd, &st))
		return fail_open("/", w->err);
	return check_component(w->trust, &st, "/", w->err);
}

/* The component is a symbolic link: go on with what it says. */
static int follow_link(struct walk *w, int link, const struct stat *st, const char *shown)
{
	char target[PATH_MAX];
	ssize_t n;

	if (check_owner(w->trust, st, shown, w->err))
		return -1;
	if (++w->links > MAX_LINKS)
		return sl_fail(w->err, SL_ETRUST, "%s: more than %d symbolic links", shown, MAX_LINKS);
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n < 0)
		return fail_open(shown, w->err);
	target[n] = 0;
	if (n + 1 + strlen(w->rest) + 1 > sizeof(w->rest))
		return sl_fail(w->err, SL_ETRUST, "%s: leads to a path that is too long", shown);
	memmove(w->rest + n + 1, w->rest, strlen(w->rest) + 1);
	memcpy(w->rest, target, n);
	w->rest[n] = '/';
	return target[0] == '/' ? start_at_root(w) : 0;
}

static int enter_component(struct walk *w, const char *name)
{
	char shown[PATH_MAX];
	struct stat st;
	int fd;

	if (snprintf(shown, sizeof(shown), "%s%s%s", w->done, strcmp(w->done, "/") ? "/" : "", name) >=
	    (int) sizeof(shown))
		return sl_fail(w->err, SL_ETRUST, "path is too long: %.200s...", shown);
	fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail_open(shown, w->err);
	if (fstat(fd, &st)) {
		fail_open(shown, w->err);
	} else if (S_ISLNK(st.st_mode)) {
		if (!follow_link(w, fd, &st, shown)) {
			close(fd);
			return 0;
		}
	} else if (!S_ISDIR(st.st_mode)) {
		sl_fail(w->err, SL_EIO, "%s: not a directory", shown);
	} else if (!check_component(w->trust, &st, shown, w->err)) {
		close(w->fd);
		w->fd = fd;
		strcpy(w->done, shown);
		return 0;
	}
	close(fd);
	return -1;
}

int sl_trust_dir(const struct sl_trust *trust, const char *path, struct sl_error *err)
{
	struct walk w = { .trust = trust, .fd = -1, .err = err };
	char name[NAME_MAX + 1];
	int fd = -1;

	if (!trust->check) {
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? fail_open(path, err) : fd;
	}
	if (path[0] != '/')
		return sl_fail(err, SL_ETRUST, "%s: must be an absolute path", path);
	if (strlen(path) >= sizeof(w.rest))
		return sl_fail(err, SL_ETRUST, "path is too long: %.200s...", path);
	strcpy(w.rest, path);
	if (start_at_root(&w))
		goto done;
	while (next_name(&w, name))
		if (strcmp(name, ".") && enter_component(&w, name))
			goto done;
	fd = openat(w.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail_open(path, err);
done:
	if (w.fd >= 0)
		close(w.fd);
	return fd;
}

/* Why a component below a search directory could not be opened. */
static int fail_below(const struct sl_trust *trust, int dir, const char *name, const char *shown, struct sl_error *err)
{
	int saved = errno;
	struct stat st;

	/* O_NOFOLLOW says ELOOP, and ENOTDIR together with O_DIRECTORY. */
	if (trust->check && (saved == ELOOP || saved == ENOTDIR) &&
	    !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
		return sl_fail(err, SL_ETRUST, "%s: a symbolic link, must be the thing itself", shown);
	if (saved == ENOTDIR)
		saved = ENOENT;		/* "lib" is a file: then lib/x.lua is not there */
	errno = saved;
	return fail_open(shown, err);
}

static int open_below(const struct sl_trust *trust, int dir, const char *name, const char *shown, bool last,
		      struct stat *st, struct sl_error *err)
{
	int flags = last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
	int fd = openat(dir, name, flags | O_CLOEXEC | (trust->check ? O_NOFOLLOW : 0));

	if (fd < 0)
		return fail_below(trust, dir, name, shown, err);
	if (fstat(fd, st)) {
		fail_open(shown, err);
		goto error;
	}
	if (last && !S_ISREG(st->st_mode)) {
		sl_fail(err, SL_ETRUST, "%s: not a regular file", shown);
		goto error;
	}
	if (trust->check && check_component(trust, st, shown, err))
		goto error;
	return fd;
error:
	close(fd);
	return -1;
}

int sl_trust_file(const struct sl_trust *trust, int dir, const char *shown, const char *path,
		  struct stat *st, struct sl_error *err)
{
	char text[PATH_MAX], name[NAME_MAX + 1];
	size_t length = strlen(shown);
	int at = dir, fd;

	if (length + 1 + strlen(path) >= sizeof(text))
		return sl_fail(err, SL_EINVAL, "%.200s/%.200s: path is too long", shown, path);
	strcpy(text, shown);
	for (;;) {
		size_t n = strcspn(path, "/");
		bool last = !path[n];

		if (!n || n > NAME_MAX) {
			fd = sl_fail(err, SL_EINVAL, "%s/%s: not a path", shown, path);
			break;
		}
		memcpy(name, path, n);
		name[n] = 0;
		text[length++] = '/';
		strcpy(text + length, name);
		length += n;
		fd = open_below(trust, at, name, text, last, st, err);
		if (fd < 0 || last)
			break;
		if (at != dir)
			close(at);
		at = fd;
		path += n + 1;
	}
	if (at != dir)
		close(at);
	return fd;
}
