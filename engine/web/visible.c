/* SPDX-License-Identifier: MIT */
#include "web/visible.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "image/copy.h"

/* -- PrivateData ------------------------------------------------------------ */

static const struct { const char *word; unsigned hides; } words[] = {
	{ "jobs", SL_HIDE_JOBS }, { "mcs", SL_HIDE_JOBS }, { "nodes", SL_HIDE_NODES }, { "partitions", SL_HIDE_PARTITIONS },
	{ "reservations", SL_HIDE_RESERVATIONS }, { "accounts", 0 }, { "users", 0 }, { "events", 0 }, { "usage", 0 },
	{ "cloud", 0 }, { "none", 0 },
};
#define WORDS (sizeof(words) / sizeof(words[0]))

static unsigned hides_of(const char *word, size_t n)
{
	for (size_t i = 0; i < WORDS; i++)
		if (strlen(words[i].word) == n && !strncasecmp(words[i].word, word, n))
			return words[i].hides;
	return SL_HIDE_ALL;
}

unsigned sl_hides_read(const char *text)
{
	unsigned hides = 0;

	for (const char *s = text; *s; ) {
		size_t n = strcspn(s, ", ");

		if (n)
			hides |= hides_of(s, n);
		s += n + (s[n] != 0);
	}
	return hides;
}

/* -- who sees what ------------------------------------------------------------ */

static bool is_own(const struct sl_visible *v, const struct sl_snapshot *s, uint32_t job)
{
	return v->user && !strcmp(sl_snapshot_str(s, s->job.user[job]), v->user);
}

static bool is_for_some(const struct sl_snapshot *s, uint32_t p)
{
	return *sl_snapshot_str(s, s->partition.allow_users[p]) || *sl_snapshot_str(s, s->partition.allow_accounts[p]) ||
	       *sl_snapshot_str(s, s->partition.deny_accounts[p]) || s->partition.flags[p] & SL_PART_ROOT_ONLY;
}

/* The partitions of a job, each once at least, until *visit* says true of one. */
static bool has_partition(const struct sl_snapshot *s, uint32_t job, bool (*visit)(struct sl_visible *v, uint32_t p),
			  struct sl_visible *v)
{
	struct sl_range all = s->job.partitions[job];

	if (visit(v, s->job.partition[job]))
		return true;
	for (uint32_t i = all.first; i < all.first + all.count; i++)
		if (visit(v, s->job_partition.partition[i]))
			return true;
	return false;
}

static bool show_partition(struct sl_visible *v, uint32_t p)
{
	if (p != SL_NONE)
		v->partition[p] = true;
	return false;
}

static bool is_shown(struct sl_visible *v, uint32_t p)
{
	return p != SL_NONE && v->partition[p];
}

static void show_partitions(struct sl_visible *v, const struct sl_snapshot *s)
{
	for (uint32_t p = 0; p < s->partition.rows; p++)
		v->partition[p] = !(s->partition.flags[p] & SL_PART_HIDDEN) &&
				  !(v->hides & SL_HIDE_PARTITIONS && is_for_some(s, p));
	for (uint32_t j = 0; v->user && j < s->job.rows; j++)
		if (is_own(v, s, j))
			has_partition(s, j, show_partition, v);
	for (uint32_t p = 0; p < s->partition.rows; p++)
		v->some |= !v->partition[p];
}

static bool shows_job(struct sl_visible *v, const struct sl_snapshot *s, uint32_t job)
{
	return is_own(v, s, job) || (!(v->hides & SL_HIDE_JOBS) && has_partition(s, job, is_shown, v));
}

/* -- the copy ------------------------------------------------------------------ */

static bool is_copied(int table)
{
	return table != SL_T_JOB && table != SL_T_QUEUE && table != SL_T_USAGE && table != SL_T_HISTORY &&
	       table != SL_T_REMEMBERED && table != SL_T_HELD && table != SL_T_STOPPED && !sl_snapshot_schema.table[table].nested;
}

static void copy_jobs(struct sl_visible *v, const struct sl_snapshot *s, struct sl_image_copy *c, uint32_t *row_of)
{
	struct sl_job_row row;

	for (uint32_t j = 0; j < s->job.rows; j++) {
		row_of[j] = SL_NONE;
		if (!shows_job(v, s, j))
			continue;
		sl_image_copy_row(c, SL_T_JOB, j, &row);
		row_of[j] = sl_builder_append(v->builder, SL_T_JOB, &row);
	}
}

static void copy_queue(struct sl_visible *v, const struct sl_snapshot *s, struct sl_image_copy *c, const uint32_t *row_of)
{
	struct sl_queue_row row;

	for (uint32_t i = 0; i < s->queue.rows; i++)
		if (row_of[s->queue.job[i]] != SL_NONE) {
			sl_image_copy_row(c, SL_T_QUEUE, i, &row);
			sl_builder_append(v->builder, SL_T_QUEUE, &row);
		}
}

static int make_copy(struct sl_visible *v, const struct sl_snapshot *s, struct sl_error *err)
{
	uint32_t *row_of = calloc(s->job.rows + 1u, sizeof(*row_of));
	const uint32_t *map[SL_SNAPSHOT_TABLES] = { [SL_T_JOB] = row_of };
	struct sl_image_copy c = { .image = &s->image, .view = s, .map = map };
	const void *bytes;
	size_t size;
	int rc = -1;

	v->builder = c.to = sl_builder_create(&sl_snapshot_schema, err);
	if (!row_of)
		sl_fail(err, SL_ENOMEM, "serve: out of memory");
	else if (v->builder) {
		for (int t = 0; t < SL_SNAPSHOT_TABLES; t++)
			if (is_copied(t))
				sl_image_copy_table(&c, t);
		copy_jobs(v, s, &c, row_of);
		copy_queue(v, s, &c, row_of);
		rc = sl_builder_finish(v->builder, &bytes, &size, err) || sl_snapshot_open(&v->copy, bytes, size, err) ? -1 : 0;
	}
	free(row_of);
	return rc;
}

int sl_visible_make(struct sl_visible *v, const struct sl_snapshot *whole, unsigned hides, const char *user,
		    struct sl_error *err)
{
	v->user = user;
	v->hides = hides;
	v->some = hides != 0;
	v->partition = calloc(whole->partition.rows + 1u, sizeof(*v->partition));
	if (!v->partition)
		return sl_fail(err, SL_ENOMEM, "serve: out of memory");
	show_partitions(v, whole);
	if (!v->some) {
		v->snap = whole;
		return 0;
	}
	if (make_copy(v, whole, err))
		return -1;
	v->snap = &v->copy;
	return 0;
}

void sl_visible_clear(struct sl_visible *v)
{
	sl_builder_destroy(v->builder);
	free(v->partition);
	*v = (struct sl_visible) { 0 };
}
