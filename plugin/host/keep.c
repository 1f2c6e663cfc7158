/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep.c - see keep.h */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/host/keep.h"
#include "base/state_file.h"

#define MAX_SIZE ((size_t) 64 << 20)

void sl_keep_clear(struct sl_keep *k)
{
	free(k->bytes);
	k->bytes = NULL;
	k->size = 0;
	k->unsaved = false;
}

void sl_keep_file(struct sl_keep *k, const char *file)
{
	if (!strcmp(k->file, file))
		return;
	snprintf(k->file, sizeof(k->file), "%s", file);
	sl_keep_clear(k);
}

int sl_keep_set(struct sl_keep *k, const void *bytes, size_t size, struct sl_error *err)
{
	struct sl_error unread;
	void *copy;

	if (sl_keep_get(k, &unread) == 1 && k->size == size && !memcmp(k->bytes, bytes, size))
		return sl_keep_again(k, err);
	if (!(copy = malloc(size ? size : 1)))
		return sl_fail(err, SL_ENOMEM, "out of memory");
	memcpy(copy, bytes, size);
	sl_keep_clear(k);
	k->bytes = copy;
	k->size = size;
	k->unsaved = *k->file != '\0';
	return sl_keep_again(k, err);
}

int sl_keep_again(struct sl_keep *k, struct sl_error *err)
{
	if (k->unsaved && sl_state_write(k->file, 0600, k->bytes, k->size, true, err))
		return -1;
	k->unsaved = false;
	return 0;
}

/* It is ours (or root's), and nobody else could have written it. */
static bool is_ours(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & 022) && st->st_size > 0;
}

int sl_keep_get(struct sl_keep *k, struct sl_error *err)
{
	struct stat st;
	char *bytes;
	int rc;

	if (k->bytes)
		return 1;
	if (!*k->file || (rc = sl_state_read(k->file, MAX_SIZE, &bytes, &k->size, &st, err)) == 0)
		return 0;
	if (rc < 0)
		return -1;
	if (!is_ours(&st)) {
		free(bytes);
		return sl_fail(err, SL_ETRUST, "%s: not a file that only SlurmUser can write", k->file);
	}
	k->bytes = bytes;
	return 1;
}
