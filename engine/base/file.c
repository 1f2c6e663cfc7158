/* SPDX-License-Identifier: MIT */
/* file.c - see file.h */
#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"

/* read(), which a signal does not interrupt. */
static ssize_t read_some(int fd, char *bytes, size_t size)
{
	ssize_t n;

	do
		n = read(fd, bytes, size);
	while (n < 0 && errno == EINTR);
	return n;
}

int sl_read_all(int fd, const char *name, size_t most, char **bytes, size_t *size, struct sl_error *err)
{
	uint32_t room = 0;
	char *all = NULL;
	size_t n = 0;
	ssize_t got;

	do {
		if (sl_grow(&all, &room, n + 4096, 1, err)) {
			sl_fail_in(err, "%s", name);
			goto error;
		}
		got = read_some(fd, all + n, room - n - 1);
		if (got < 0) {
			sl_fail(err, SL_EIO, "%s: %s", name, strerror(errno));
			goto error;
		}
		n += (size_t) got;
		if (n > most) {
			sl_fail(err, SL_ELIMIT, "%s: larger than %zu KiB", name, most >> 10);
			goto error;
		}
	} while (got);
	all[n] = 0;
	*bytes = all;
	*size = n;
	return 0;
error:
	free(all);
	return -1;
}

int sl_write_all(int fd, const void *bytes, size_t size)
{
	for (const char *p = bytes; size; ) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		size -= (size_t) n;
	}
	return 0;
}

bool sl_is_below(const char *path, const char *dir)
{
	char real[PATH_MAX];
	size_t n;

	if (!realpath(dir, real))
		return false;
	n = strlen(real);
	return !strncmp(path, real, n) && path[n] == '/';
}
