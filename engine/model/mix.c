/* SPDX-License-Identifier: MIT */
/* mix.c - what placement scores need to know of a machine: which gres are its GPUs, and the mix of expected job shapes,
 * taken from pending, running and remembered jobs. */
#include "model/cluster_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "model/request.h"
#include "timeline/score.h"

#define SHAPES_MAX 100000u	/* most jobs that are looked at */

struct scoring {
	struct sl_scoring pub;
	struct sl_mix mix;
	struct sl_entry asked;
	uint32_t device_shares[SL_MAX_GRES];	/* [kind] number of shares on a device, for kinds that are shares */
	uint32_t most_cores;		/* of the node that has the most */
	sl_own_score *own;
	void *own_arg;
	bool asks;			/* *own* is being computed */
};

struct shapes {
	struct sl_mix_shape *at;
	uint32_t count, room;
};

/* The devices of a kind, and the kind itself (for nodes without such devices). */
static uint16_t kinds_with_devices(const struct sl_cluster *c, uint32_t kind)
{
	return (uint16_t) (1u << kind | c->devices.whole[kind]);
}

/* The most that a node has of any of the kinds in *mask*. */
static uint32_t most_of_kinds(const struct sl_cluster *c, uint16_t mask)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < c->kinds; i++)
		for (int k = 0; mask >> k; k++)
			if ((mask >> k & 1) && c->kind[i].capacity.gres[k] > most)
				most = c->kind[i].capacity.gres[k];
	return most;
}

/* Add to the shape what a row of job_gres asks of each of that many nodes. */
static void add_gres(const struct sl_cluster *c, const struct sl_ask *a, uint32_t row, uint32_t nodes, struct sl_mix_shape *shape)
{
	const struct sl_snapshot *s = c->snap;
	uint64_t each = sl_quotient_up((uint64_t) sl_ask_gres(s, a, row, nodes), nodes);

	for (uint32_t k = 0; k < s->gres_kind.rows && k < SL_MAX_GRES; k++) {
		uint32_t all = c->scoring->device_shares[k];

		if (!c->modelled[k] || !sl_gres_matches(s, row, k))
			continue;
		if (all) {
			shape->kinds |= c->devices.share[k];
			shape->count = 1;
			shape->milli = (uint16_t) (each < all ? each * SL_WHOLE_GPU / all : 0);
		} else if (c->scoring->pub.gpus >> k & 1) {
			shape->kinds |= kinds_with_devices(c, k);
			shape->count = each < UINT16_MAX ? (uint16_t) each : UINT16_MAX;
		}
	}
}

static int push(struct shapes *list, const struct sl_mix_shape *shape, struct sl_error *err)
{
	if (list->count == SHAPES_MAX)
		return 0;
	if (sl_grow(&list->at, &list->room, (uint64_t) list->count + 1, sizeof(*list->at), err))
		return -1;
	list->at[list->count++] = *shape;
	return 0;
}

static uint32_t threads_of(const struct sl_snapshot *s)
{
	return s->node.rows && s->node.threads[0] ? s->node.threads[0] : 1;
}

/* The fewest nodes that could have all that the job asks for, if they have as much of each as any node. */
static uint32_t fewest_nodes(const struct sl_cluster *c, const struct sl_ask *a)
{
	const struct sl_snapshot *s = c->snap;
	uint32_t nodes = sl_ask_fewest_nodes(a, sl_ask_cpus(a), (int64_t) c->scoring->most_cores * threads_of(s));

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++) {
		uint16_t kinds = 0;

		for (uint32_t k = 0; k < s->gres_kind.rows && k < SL_MAX_GRES; k++)
			kinds |= c->modelled[k] && sl_gres_matches(s, g, k) ? (uint16_t) (1u << k) : 0;
		if (s->job_gres.per[g] != SL_PER_NODE)
			nodes = (uint32_t) sl_max(nodes, sl_ask_fewest_nodes(a, sl_ask_gres(s, a, g, a->min_nodes), most_of_kinds(c, kinds)));
	}
	return nodes;
}

static int push_job(const struct sl_cluster *c, uint32_t job, struct shapes *list, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_ask a = sl_request_read(s, job, 0);
	uint32_t nodes = fewest_nodes(c, &a);
	uint64_t cpus = (uint64_t) sl_ask_cpus(&a) / nodes, cores = (cpus + threads_of(s) - 1) / threads_of(s);
	struct sl_mix_shape shape = { .cores = cores < UINT32_MAX ? (uint32_t) cores : UINT32_MAX,
				      .part = s->job.array_pending[job] ? s->job.array_pending[job] : 1 };

	for (uint32_t g = a.gres.first; g < a.gres.first + a.gres.count; g++)
		add_gres(c, &a, g, nodes, &shape);
	return push(list, &shape, err);
}

/* A past run: whole GPUs of any kind. */
static int push_run(const struct sl_cluster *c, uint32_t row, struct shapes *list, struct sl_error *err)
{
	const struct sl_history_view *h = &c->snap->history;
	uint32_t nodes = h->nodes[row] ? h->nodes[row] : 1, gpus = (h->gpus[row] + nodes - 1) / nodes;
	struct sl_mix_shape shape = { .cores = h->cpus[row] / nodes / threads_of(c->snap), .part = 1,
				      .count = gpus < UINT16_MAX ? (uint16_t) gpus : UINT16_MAX };

	for (uint32_t k = 0; gpus && k < SL_MAX_GRES; k++)
		shape.kinds |= c->scoring->pub.gpus >> k & 1 ? kinds_with_devices(c, k) : 0;
	return push(list, &shape, err);
}

static int make_mix(void *arg, struct sl_scoring *scoring, struct sl_error *err)
{
	const struct sl_cluster *c = arg;
	struct shapes list = { 0 };
	int rc = 0;

	for (uint32_t k = 0; k < SL_MAX_GRES; k++)
		c->scoring->device_shares[k] = most_of_kinds(c, c->devices.share[k]);
	for (uint32_t i = 0; i < c->kinds; i++)
		c->scoring->most_cores = (uint32_t) sl_max(c->scoring->most_cores, c->kind[i].capacity.cores);
	for (uint32_t j = 0; !rc && j < c->snap->job.rows; j++)
		if (c->snap->job.state[j] == SL_JOB_PENDING || c->snap->job.state[j] == SL_JOB_RUNNING)
			rc = push_job(c, j, &list, err);
	for (uint32_t i = 0; !rc && i < c->snap->history.rows; i++)
		rc = push_run(c, i, &list, err);
	if (!rc)
		rc = sl_mix_make(&c->scoring->mix, list.at, list.count, SL_MIX_COVERS, err);
	scoring->mix = rc ? NULL : &c->scoring->mix;
	free(list.at);
	return rc;
}

int cluster_scoring_create(struct sl_cluster *c, struct sl_error *err)
{
	c->scoring = calloc(1, sizeof(*c->scoring));
	if (!c->scoring)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	c->scoring->pub.gpus = sl_gpu_kinds(c->snap);
	for (uint32_t k = 0; k < SL_MAX_GRES; k++)
		if (!c->modelled[k])
			c->scoring->pub.gpus &= (uint16_t) ~(1u << k);
	c->scoring->pub.make_mix = make_mix;
	c->scoring->pub.make_mix_arg = c;
	return 0;
}

void cluster_scoring_free(struct sl_cluster *c)
{
	if (!c->scoring)
		return;
	sl_mix_free(&c->scoring->mix);
	sl_scoring_free(&c->scoring->pub);
	free(c->scoring);
}

struct sl_scoring *cluster_scoring(const struct sl_cluster *c)
{
	return &c->scoring->pub;
}

void cluster_scores_for(struct sl_cluster *c, struct sl_entry e)
{
	c->scoring->asked = e;
}

static int ask_own(void *arg, const struct sl_scored *what, double *score, struct sl_error *err)
{
	struct scoring *s = arg;
	int rc;

	s->asks = true;
	rc = s->own(s->own_arg, what, score, err);
	s->asks = false;
	return rc;
}

void sl_cluster_own_score(struct sl_cluster *c, sl_own_score *own, void *arg)
{
	c->scoring->own = own;
	c->scoring->own_arg = arg;
	c->scoring->pub.own = own ? ask_own : NULL;
	c->scoring->pub.own_arg = c->scoring;
}

bool cluster_asks_score(const struct sl_cluster *c)
{
	return c->scoring->asks;
}

struct sl_entry sl_cluster_scored(const struct sl_cluster *c)
{
	return c->scoring->asked;
}
