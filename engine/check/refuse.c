/* SPDX-License-Identifier: MIT */
/*
 * check/refuse.c - removing rows from the plan, so that the others can be carried out.
 *
 * All rules of check.h but two are upper bounds: on cores, memory, gres, licences, tasks of an array.  So removing a row
 * causes no new violation of these.  The exceptions: components of a heterogeneous job start together, so all rows of such a
 * job are removed; and without a row that preempts, running jobs hold their nodes for longer, so check_held() checks all sums
 * again.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

int check_fail(const struct check *c, const struct row *r, const char *fmt, ...)
{
	char text[sizeof(c->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": %s", c->snap->job.id[r->job], text);
}

int check_fail_at(const struct check *c, const struct row *r, uint32_t node, const char *fmt, ...)
{
	char text[sizeof(c->err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return check_fail(c, r, "node %s: %s", check_str(c, c->snap->node.name[node]), text);
}

static uint32_t het_of(const struct check *c, uint32_t job)
{
	uint32_t het = c->snap->job.het_job_id[job];

	return het == SL_NONE ? 0 : het;
}

int check_list_hets(struct check *c)
{
	c->het = calloc((size_t) c->rows + 1, sizeof(*c->het));
	if (!c->het)
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	for (uint32_t i = 0; i < c->rows; i++)
		if (c->row[i].job != SL_NONE && het_of(c, c->row[i].job))
			c->het[c->hets++] = (struct key) { het_of(c, c->row[i].job), i };
	check_sort_keys(c->het, c->hets);
	return 0;
}

/* The text without its prefix "job N: ", which readers of the table know. */
static const char *without_id(const char *text, uint32_t id)
{
	char prefix[32];
	size_t n = (size_t) snprintf(prefix, sizeof(prefix), "job %" PRIu32 ": ", id);

	return strncmp(text, prefix, n) ? text : text + n;
}

static int take_out(struct check *c, uint32_t row, const char *text)
{
	const struct sl_plan_image *p = c->plan;
	struct row *r = &c->row[row];
	bool start = row < p->start.rows;
	uint32_t at = start ? row : row - p->start.rows;
	struct sl_cut cut = { .table = start ? SL_P_START : SL_P_RESERVE, .row = at,
		.job = start ? p->start.job[at] : p->reserve.job[at] };

	r->out = true;
	if (r->job != SL_NONE) {
		c->bookings[r->job]--;
		c->starts[r->job] -= start;
	}
	return sl_cuts_add(c->cuts, &cut, without_id(text, cut.job), c->err);
}

int check_refuse(struct check *c, uint32_t row)
{
	uint32_t job = c->row[row].job, het = job == SL_NONE ? 0 : het_of(c, job), i;
	char text[sizeof(c->err->text)], whole[sizeof(text) + 64];

	if (!c->cuts || c->err->code != SL_EINVAL)
		return -1;
	memcpy(text, c->err->text, sizeof(text));
	*c->err = (struct sl_error) { SL_OK, "" };
	if (take_out(c, row, text) < 0)
		return -1;
	if (!het || !c->het)
		return 0;
	snprintf(whole, sizeof(whole), "its heterogeneous job: %s", text);
	i = SL_FIRST(k, 0, c->hets, c->het[k].key < het);
	for (; i < c->hets && c->het[i].key == het; i++)
		if (!c->row[c->het[i].row].out && take_out(c, c->het[i].row, whole) < 0)
			return -1;
	return 0;
}

int check_refuse_words(struct check *c, enum sl_plan_table table, uint32_t row, uint32_t job_id)
{
	struct sl_cut cut = { .table = table, .row = row, .job = job_id };
	char text[sizeof(c->err->text)];

	if (!c->cuts || c->err->code != SL_EINVAL)
		return -1;
	memcpy(text, c->err->text, sizeof(text));
	*c->err = (struct sl_error) { SL_OK, "" };
	return sl_cuts_add(c->cuts, &cut, without_id(text, job_id), c->err);
}

void check_find_waiting(struct check *c)
{
	for (uint32_t i = 0; i < c->cuts->count; i++) {
		struct sl_cut *cut = &c->cuts->cut[i];
		uint32_t j = check_find_job(c, cut->job);

		cut->waits = j != SL_NONE && c->queued[j] &&
			c->starts[j] < (c->snap->job.array_pending[j] ? c->snap->job.array_pending[j] : 1);
	}
}
