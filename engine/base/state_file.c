/* SPDX-License-Identifier: MIT */
/* state_file.c - see state_file.h */
#include "base/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int sl_state_create(const char *path, mode_t mode)
{
	if (unlink(path) && errno != ENOENT)
		return -1;
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}
