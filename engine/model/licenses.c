/* SPDX-License-Identifier: MIT */
/*
 * licenses.c - which licences a job uses, and when they are free.
 *
 * If any one of several licences suffices, slurmctld takes, at the start of the job, the first one that is free then, apart
 * from what reservations within the job's time have set aside.  It stops at the first licence of which the job asks for more
 * than exist.
 */
#include "model/cluster_private.h"

uint32_t sl_cluster_licenses(const struct sl_cluster *c, struct sl_range rows, uint32_t license)
{
	uint32_t n = 0;

	for (uint32_t i = rows.first; i < rows.first + rows.count; i++)
		if (c->snap->job_license.license[i] == license)
			n += c->snap->job_license.count[i];
	return n;
}

int64_t sl_cluster_licenses_left(const struct sl_cluster *c, uint32_t license, int64_t t0, int64_t t1)
{
	return (int64_t) c->snap->license.total[license] - c->snap->license.reserved[license] -
	       sl_tally_most(&c->license[license], t0, t1);
}

int cluster_count_licenses(struct sl_cluster *c, struct sl_range rows, int64_t t0, int64_t t1, int sign, struct sl_error *err)
{
	const struct sl_job_license_view *v = &c->snap->job_license;

	for (uint32_t i = rows.first; i < rows.first + rows.count; i++)
		if (sl_tally_add(&c->license[v->license[i]], t0, t1, sign * (int64_t) v->count[i], err) < 0)
			return -1;
	return 0;
}

/* -- one of several licences -------------------------------------------------- */

bool cluster_brings_licenses(const struct sl_cluster *c, uint32_t resv)
{
	return resv != SL_NONE && c->snap->reservation.licenses[resv].count;
}

bool cluster_any_license(const struct sl_cluster *c, uint32_t job)
{
	return c->snap->job.asks[job] & SL_ASKS_ANY_LICENSE && c->snap->job.licenses[job].count;
}

/* The alternatives before the first one of which there are too few in total. */
static struct sl_range possible_ones(const struct sl_cluster *c, uint32_t job)
{
	const struct sl_job_license_view *v = &c->snap->job_license;
	struct sl_range rows = c->snap->job.licenses[job];

	for (uint32_t i = 0; i < rows.count; i++)
		if (v->count[rows.first + i] > c->snap->license.total[v->license[rows.first + i]])
			rows.count = i;
	return rows;
}

/* Count of this licence in reservations that begin within that time. */
static int64_t reserved_ahead(const struct sl_cluster *c, uint32_t license, int64_t seconds)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	int64_t sum = 0;

	for (uint32_t r = 0; r < v->rows; r++)
		if (v->start_time[r] > c->now && v->start_time[r] < sl_later(c->now, seconds) && v->end_time[r] > v->start_time[r])
			sum += sl_cluster_licenses(c, v->licenses[r], license);
	return sum;
}

static bool is_free(const struct sl_cluster *c, uint32_t row, int64_t t, int64_t seconds)
{
	uint32_t l = c->snap->job_license.license[row];

	return sl_cluster_licenses_left(c, l, t, sl_later(t, seconds)) >= c->snap->job_license.count[row];
}

/* True if slurmctld would take this licence now.  It does not know our bookings. */
static bool seems_free(const struct sl_cluster *c, uint32_t row, int64_t seconds)
{
	uint32_t l = c->snap->job_license.license[row];

	return sl_cluster_licenses_left(c, l, c->now, sl_later(c->now, 1)) - reserved_ahead(c, l, seconds) >=
	       c->snap->job_license.count[row];
}

struct sl_range sl_cluster_choose_licenses(const struct sl_cluster *c, uint32_t job, int64_t t, int64_t seconds)
{
	struct sl_range all = c->snap->job.licenses[job], some;

	if (!cluster_any_license(c, job))
		return all;
	some = possible_ones(c, job);
	for (uint32_t i = some.first; i < some.first + some.count; i++)
		if (t > c->now ? is_free(c, i, t, seconds) : seems_free(c, i, seconds))
			return (struct sl_range) { i, 1 };
	return (struct sl_range) { all.first, 1 };
}

/* -- when ---------------------------------------------------------------- */

static int64_t row_from(const struct sl_cluster *c, uint32_t row, int64_t t, int64_t seconds)
{
	uint32_t l = c->snap->job_license.license[row];

	return sl_tally_earliest(&c->license[l], t, seconds, c->snap->job_license.count[row],
				 (int64_t) c->snap->license.total[l] - c->snap->license.reserved[l]);
}

/* The first time for any of the alternatives.  For now: only the one that slurmctld would take. */
static int64_t any_from(const struct sl_cluster *c, uint32_t job, int64_t t, int64_t seconds)
{
	struct sl_range some = possible_ones(c, job);
	int64_t first = INT64_MAX;

	if (t <= c->now && is_free(c, sl_cluster_choose_licenses(c, job, t, seconds).first, t, seconds))
		return t;
	if (t <= c->now)
		t = c->now + 1;
	for (uint32_t i = some.first; i < some.first + some.count; i++) {
		int64_t at = row_from(c, i, t, seconds);

		first = at < first ? at : first;
	}
	return first;
}

int64_t cluster_licensed_from(const struct sl_cluster *c, uint32_t job, int64_t t, int64_t seconds)
{
	const struct sl_license_view *lic = &c->snap->license;
	struct sl_range rows = c->snap->job.licenses[job];
	bool again = rows.count;

	if (cluster_any_license(c, job))
		return any_from(c, job, t, seconds);
	while (again) {
		again = false;
		for (uint32_t l = 0; l < lic->rows; l++) {
			int64_t need = sl_cluster_licenses(c, rows, l), at;

			if (!need)
				continue;
			at = sl_tally_earliest(&c->license[l], t, seconds, need, (int64_t) lic->total[l] - lic->reserved[l]);
			if (at == INT64_MAX)
				return at;
			again |= at != t;
			t = at;
		}
	}
	return t;
}
