/* SPDX-License-Identifier: MIT */
/* state_file.c - see state_file.h */
#include "base/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static int io_error(struct sl_error *err, const char *path)
{
	return sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
}

static int read_all(int fd, char *bytes, size_t size)
{
	while (size) {
		ssize_t n = read(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (!n)
			errno = EIO;	/* it became shorter */
		if (n <= 0)
			return -1;
		bytes += n;
		size -= (size_t) n;
	}
	return 0;
}

static int read_file(int fd, const char *path, size_t most, char **bytes, struct stat *st, struct sl_error *err)
{
	if (fstat(fd, st))
		return io_error(err, path);
	if (!S_ISREG(st->st_mode))
		return sl_fail(err, SL_EIO, "%s: not a regular file", path);
	if ((uintmax_t) st->st_size > most)
		return sl_fail(err, SL_ELIMIT, "%s: larger than %zu bytes", path, most);
	if (!(*bytes = malloc((size_t) st->st_size + 1)))
		return sl_fail(err, SL_ENOMEM, "%s: out of memory", path);
	if (read_all(fd, *bytes, (size_t) st->st_size)) {
		io_error(err, path);
		free(*bytes);
		*bytes = NULL;
		return -1;
	}
	(*bytes)[st->st_size] = '\0';
	return 1;
}

int sl_state_read(const char *path, size_t most, char **bytes, size_t *size, struct stat *st, struct sl_error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC), rc;
	struct stat own;

	if (fd < 0)
		return errno == ENOENT ? 0 : io_error(err, path);
	st = st ? st : &own;
	rc = read_file(fd, path, most, bytes, st, err);
	if (rc > 0)
		*size = (size_t) st->st_size;
	close(fd);
	return rc;
}

/* Owner and group of another file, as far as we may give it to them, and its mode: not for a group that is not its. */
static int make_like(int fd, const struct stat *like)
{
	mode_t mode = like->st_mode & 0777;

	if (fchown(fd, like->st_uid, like->st_gid) && fchown(fd, (uid_t) -1, like->st_gid))
		mode &= 0707 | (mode & 07) << 3;
	return fchmod(fd, mode);
}

static int write_file(const char *path, mode_t mode, const struct stat *like, const void *bytes, size_t size, bool durable)
{
	int fd, rc;

	if ((unlink(path) && errno != ENOENT) ||
	    (fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, like ? 0600 : mode)) < 0)
		return -1;
	rc = (like ? make_like(fd, like) : fchmod(fd, mode)) || sl_write_all(fd, bytes, size) || (durable && fsync(fd)) ? -1 : 0;
	return close(fd) ? -1 : rc;
}

static int replace(const char *path, const char *new, mode_t mode, const struct stat *like, const void *bytes, size_t size,
		   bool durable, struct sl_error *err)
{
	if (!write_file(new, mode, like, bytes, size, durable) && !rename(new, path))
		return 0;
	io_error(err, path);
	unlink(new);
	return -1;
}

int sl_state_write(const char *path, mode_t mode, const void *bytes, size_t size, bool durable, struct sl_error *err)
{
	char new[PATH_MAX];

	if (snprintf(new, sizeof(new), "%s.new", path) >= (int) sizeof(new))
		return sl_fail(err, SL_EINVAL, "%.80s...: path too long", path);
	return replace(path, new, mode, NULL, bytes, size, durable, err);
}

static int put(const char *path, mode_t mode, const struct stat *like, const void *bytes, size_t size, struct sl_error *err)
{
	char new[PATH_MAX];
	struct stat st;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return sl_fail(err, SL_EINVAL, "%s: not a regular file; expected one to replace, or none", path);
	if (snprintf(new, sizeof(new), "%s.%ld.new", path, (long) getpid()) >= (int) sizeof(new))
		return sl_fail(err, SL_EINVAL, "%.80s...: path too long", path);
	return replace(path, new, mode, like, bytes, size, true, err);
}

int sl_state_put(const char *path, mode_t mode, const void *bytes, size_t size, struct sl_error *err)
{
	return put(path, mode, NULL, bytes, size, err);
}

int sl_state_put_like(const char *path, const struct stat *like, const void *bytes, size_t size, struct sl_error *err)
{
	return put(path, 0, like, bytes, size, err);
}
