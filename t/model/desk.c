/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "t/model/desk.h"

struct desk sit(struct build *b)
{
	struct desk d = { .b = b, .c = build_cluster(b) };

	d.p = sl_plan_create(d.c, &d.err);
	if (!d.p)
		fail_msg("%s", d.err.text);
	sl_plan_set_policy(d.p, "test");
	return d;
}

void leave(struct desk *d)
{
	sl_plan_destroy(d->p);
	sl_cluster_destroy(d->c);
	if (d->image)
		sl_builder_destroy(d->image);
	free(d->bytes);
	build_destroy(d->b);
}

uint32_t row(const struct desk *d, uint32_t id)
{
	const struct sl_job_view *job = &d->b->snap.job;

	for (uint32_t i = 0; i < job->rows; i++)
		if (job->id[i] == id)
			return i;
	fail_msg("there is no job %u", id);
	return SL_NONE;
}

struct sl_entry entry(const struct desk *d, uint32_t id)
{
	return (struct sl_entry) { .job = row(d, id) };
}

int checked(struct desk *d, int rc)
{
	if (rc < 0)
		fail_msg("%s", d->err.text);
	return rc;
}

int start(struct desk *d, uint32_t id)
{
	return checked(d, sl_plan_start(d->p, entry(d, id), NULL, &d->why, &d->err));
}

int backfill(struct desk *d, uint32_t id)
{
	return checked(d, sl_plan_backfill(d->p, entry(d, id), NULL, &d->why, &d->err));
}

int reserve(struct desk *d, uint32_t id)
{
	int rc = checked(d, sl_plan_reserve(d->p, entry(d, id), NULL, &d->at, &d->why, &d->err));

	d->at -= BUILD_NOW;
	return rc;
}
/* The plan as an image. */
const struct sl_plan_image *encode(struct desk *d, bool truncated)
{
	struct sl_plan_figures fig = { .examined = 3, .truncated = truncated, .decide_us = 5, .total_us = 6 };
	const void *bytes;

	if (!d->image)
		d->image = sl_builder_create(&sl_plan_schema, &d->err);
	else
		sl_builder_reset(d->image);
	assert_non_null(d->image);
	checked(d, sl_plan_encode(d->p, &fig, d->image, &d->err));
	checked(d, sl_builder_finish(d->image, &bytes, &d->size, &d->err));
	free(d->bytes);
	d->bytes = malloc(d->size);
	memcpy(d->bytes, bytes, d->size);
	checked(d, sl_plan_image_open(&d->plan, d->bytes, d->size, &d->err));
	return &d->plan;
}

/* ... which the checker accepts. */
const struct sl_plan_image *accepted(struct desk *d)
{
	const struct sl_plan_image *plan = encode(d, false);

	checked(d, sl_check_plan(&d->b->snap, plan, &d->err));
	return plan;
}

const char *where(struct desk *d, uint32_t id)
{
	static char text[256];
	uint32_t n;
	int64_t at;
	const struct sl_place *place = sl_plan_places(d->p, row(d, id), &n, &at);

	text[0] = 0;
	for (uint32_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sn%u:%u", i ? " " : "", place[i].node,
			 place[i].cores);
	return text;
}

const char *pending_text(const struct sl_plan_image *p, uint32_t id, uint32_t *why)
{
	for (uint32_t i = 0; i < p->pending.rows; i++)
		if (p->pending.job[i] == id) {
			*why = p->pending.why[i];
			return sl_image_str(&p->image, p->pending.text[i]);
		}
	*why = SL_WHYS;
	return NULL;
}
