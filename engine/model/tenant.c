/* SPDX-License-Identifier: MIT */
/*
 * tenant.c - jobs that share nodes only with jobs of the same user or label.
 *
 * They ask for it (--exclusive=user, --exclusive=mcs and MCSParameters), or their partition requires it (ExclusiveUser).
 * Jobs with the same user and label in this sense form a tenant.
 */
#include "model/cluster_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

static bool same_user(const struct sl_cluster *c, uint32_t a, uint32_t b)
{
	const struct sl_job_view *job = &c->snap->job;

	if (job->uid[a] != job->uid[b])
		return false;
	return job->uid[a] != SL_NONE || !strcmp(cluster_str(c, job->user[a]), cluster_str(c, job->user[b]));
}

static bool same_label(const struct sl_cluster *c, uint32_t a, uint32_t b)
{
	return !strcmp(cluster_str(c, c->snap->job.mcs_label[a]), cluster_str(c, c->snap->job.mcs_label[b]));
}

static bool is_tenant(const struct sl_cluster *c, const struct tenant *t, const struct tenant *other)
{
	return t->by_user == other->by_user && t->by_label == other->by_label &&
		(!t->by_user || same_user(c, t->job, other->job)) && (!t->by_label || same_label(c, t->job, other->job));
}

static uint64_t hash_tenant(const struct sl_cluster *c, const struct tenant *t)
{
	const struct sl_job_view *job = &c->snap->job;
	uint64_t hash = SL_HASH;

	if (t->by_user)
		hash = sl_hash_number(hash, job->uid[t->job]);
	if (t->by_user && job->uid[t->job] == SL_NONE)
		hash = sl_hash_text(hash, cluster_str(c, job->user[t->job]));
	return t->by_label ? sl_hash_text(hash, cluster_str(c, job->mcs_label[t->job])) : hash;
}

/* *number: the tenant's number from 1; 0 for a job without a tenant. */
static int number_tenant(struct sl_cluster *c, struct sl_map *known, struct tenant t, uint32_t *number,
			 struct sl_error *err)
{
	uint64_t hash = hash_tenant(c, &t);

	*number = 0;
	if (!t.by_user && !t.by_label)
		return 0;
	SL_MAP_EACH(known, hash, at)
		if (is_tenant(c, &c->tenant[at.value - 1], &t)) {
			*number = at.value;
			return 0;
		}
	if (sl_grow_list(&c->tenant, c->tenants, sizeof(*c->tenant), err))
		return -1;
	c->tenant[c->tenants++] = t;
	*number = c->tenants;
	return sl_map_put(known, hash, c->tenants, err);
}

static bool has_exclusive_partitions(const struct sl_snapshot *s)
{
	for (uint32_t p = 0; p < s->partition.rows; p++)
		if (s->partition.flags[p] & SL_PART_EXCLUSIVE_USER)
			return true;
	return false;
}

static bool has_tenants(const struct sl_snapshot *s)
{
	for (uint32_t j = 0; j < s->job.rows; j++)
		if (s->job.asks[j] & (SL_ASKS_USER_NODES | SL_ASKS_MCS))
			return true;
	return false;
}

int cluster_build_tenants(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	bool exclusive = has_exclusive_partitions(s);
	struct sl_map known = { 0 };
	int rc = 0;

	if (!exclusive && !has_tenants(s))
		return 0;
	c->tenancy = calloc((size_t) s->job.rows + 1, sizeof(*c->tenancy));
	if (!c->tenancy)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	for (uint32_t j = 0; j < s->job.rows && !rc; j++) {
		struct tenant t = { .job = j, .by_user = s->job.asks[j] & SL_ASKS_USER_NODES,
				    .by_label = s->job.asks[j] & SL_ASKS_MCS };

		rc = number_tenant(c, &known, t, &c->tenancy[j].asked, err);
		t.by_user = true;
		if (!rc && exclusive)
			rc = number_tenant(c, &known, t, &c->tenancy[j].in_exclusive, err);
	}
	sl_map_free(&known);
	return rc;
}

uint32_t cluster_tenant(const struct sl_cluster *c, uint32_t job, uint32_t partition)
{
	if (!c->tenancy)
		return 0;
	if (partition != SL_NONE && c->snap->partition.flags[partition] & SL_PART_EXCLUSIVE_USER)
		return c->tenancy[job].in_exclusive;
	return c->tenancy[job].asked;
}

bool cluster_goes_to_job(const struct sl_cluster *c, uint32_t tenant, uint32_t job, const struct held *h)
{
	const struct tenant *t = tenant ? &c->tenant[tenant - 1] : NULL;

	return h->tenant == tenant || (t && !h->tenant && !t->by_label && same_user(c, t->job, job));
}

bool cluster_goes_to_owner(const struct sl_cluster *c, uint32_t tenant, uint32_t uid)
{
	return tenant && c->tenant[tenant - 1].by_user && c->snap->job.uid[c->tenant[tenant - 1].job] == uid;
}
