/* SPDX-License-Identifier: GPL-2.0-or-later */
/* remembered.c - see remembered.h.  The file is a plan with nothing else in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/host/keep.h"
#include "image/plan_image.h"
#include "plugin/host/remembered.h"

static int put_away(const char *file, struct sl_error *err)
{
	if (unlink(file) && errno != ENOENT)
		return sl_fail(err, SL_EIO, "%s: %s", file, strerror(errno));
	return 0;
}

int sl_remembered_save(const struct sl_remember *m, const char *file, struct sl_error *err)
{
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	struct sl_keep keep = { .bytes = NULL };
	struct sl_builder *b;
	const void *bytes;
	size_t size;
	int rc;

	if (sl_remember_empty(m))
		return put_away(file, err);
	if (!(b = sl_builder_create(&sl_plan_schema, err)))
		return -1;
	sl_builder_append(b, SL_P_META, &meta);
	sl_remember_encode(m, b, SL_P_REMEMBERED);
	rc = sl_builder_finish(b, &bytes, &size, err);
	if (!rc) {
		sl_keep_file(&keep, file);
		rc = sl_keep_set(&keep, bytes, size, err);
		sl_keep_clear(&keep);
	}
	sl_builder_destroy(b);
	return rc;
}

int sl_remembered_load(struct sl_remember *m, const char *file, struct sl_error *err)
{
	struct sl_keep keep = { .bytes = NULL };
	struct sl_plan_image plan;
	int rc;

	sl_remember_clear(m);
	sl_keep_file(&keep, file);
	rc = sl_keep_get(&keep, err);
	if (rc > 0) {
		rc = sl_plan_image_open(&plan, keep.bytes, keep.size, err);
		if (rc)
			sl_fail_in(err, "%s", file);
		else
			rc = sl_remember_load(m, &plan.image, &plan.remembered, NULL, err);
	}
	sl_keep_clear(&keep);
	if (put_away(file, rc ? NULL : err) && !rc)
		rc = -1;
	return rc;
}
