/* SPDX-License-Identifier: MIT */
/*
 * image/file.c - writing files that are there as a whole or not at all.  Reading
 * them is image/json.c, since they may be JSON.
 */
#include "image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* Make the rename itself durable.  Not every file system can; that is no reason
 * to say that the file was not written. */
static void sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash == path ? strdup("/") : slash ? strndup(path, slash - path) : strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		(void) fsync(fd);
		close(fd);
	}
	free(dir);
}

int sl_image_save(const char *path, const void *bytes, size_t size, struct sl_error *err)
{
	size_t n = strlen(path) + sizeof(".XXXXXX");
	char *tmp = malloc(n);
	int fd = -1;

	if (!tmp)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", path);
	snprintf(tmp, n, "%s.XXXXXX", path);
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0) {
		sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
		goto error;
	}
	if (fchmod(fd, 0640) < 0 || sl_write_all(fd, bytes, size) < 0 || fsync(fd) < 0)
		goto unlink;
	if (close(fd) < 0) {
		fd = -1;
		goto unlink;
	}
	fd = -1;
	if (rename(tmp, path) < 0)
		goto unlink;
	sync_directory(path);
	free(tmp);
	return 0;
unlink:
	sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	unlink(tmp);
error:
	free(tmp);
	return -1;
}
