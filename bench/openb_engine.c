/* SPDX-License-Identifier: MIT */
#include "bench/openb_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"

/* Kinds of gres: GPUs, parts of them, the devices of a node; and tags of jobs with a part of one GPU, and with 1, 2, ... GPUs. */
enum { GPU, PART, DEVICE, TAG = DEVICE + OPENB_MOST_GPUS };
#define TAGS 6
#define NO_END 60000		/* more jobs than a node has */
_Static_assert(TAG + TAGS <= SL_MAX_GRES, "the engine has so many kinds of gres");

struct openb_engine {
	struct sl_timeline *tl;
	struct sl_scoring scoring;
	struct sl_devices devices;
	struct sl_mix mix;
	struct sl_how how;
	struct sl_layout layout;
};

static const char name[] = "openb";

static void must(bool could, struct sl_error *err)
{
	if (!could)
		give_up(name, err);
}

static uint16_t device_kinds(int gpus)
{
	return (uint16_t) (((1u << gpus) - 1) << DEVICE);
}

/* The tag of a job with so many whole GPUs (0: a part of one). */
static int tag_of(int gpus)
{
	int tag = TAG;

	for (; gpus; gpus /= 2)
		tag++;
	return tag;
}

static struct sl_resources capacity_of(const struct openb_node *n)
{
	struct sl_resources all = { .cores = (int32_t) (n->cpu_milli / CPU_MILLI_OF_CORE), .memory = n->memory_mib };

	all.gres[GPU] = (uint16_t) n->gpus;
	all.gres[PART] = (uint16_t) (n->gpus * OPENB_WHOLE_GPU);
	for (int i = 0; i < n->gpus; i++)
		all.gres[DEVICE + i] = OPENB_WHOLE_GPU;
	for (int i = TAG; i < TAG + TAGS; i++)
		all.gres[i] = NO_END;
	return all;
}

static void make_mix(struct openb_engine *e, const struct openb_mix *mix)
{
	struct sl_mix_shape *shape = calloc(mix->shapes + 1, sizeof(*shape));
	struct sl_error err = { SL_ENOMEM, "out of memory" };

	must(shape != NULL, &err);
	for (uint32_t i = 0; i < mix->shapes; i++) {
		const struct openb_job *j = &mix->shape[i].job;
		bool part = j->gpu_milli < OPENB_WHOLE_GPU;

		shape[i] = (struct sl_mix_shape) { .cores = (uint32_t) (j->cpu_milli / CPU_MILLI_OF_CORE), .part = mix->shape[i].probability,
			.kinds = j->gpus ? device_kinds(OPENB_MOST_GPUS) | 1u << GPU : 0, .count = (uint16_t) j->gpus,
			.milli = (uint16_t) (part ? j->gpu_milli : 0) };
	}
	must(!sl_mix_make(&e->mix, shape, mix->shapes, 1, &err), &err);
	free(shape);
}

struct openb_engine *openb_engine_create(const struct openb_node *node, uint32_t nodes, const struct openb_mix *mix,
					 enum sl_place_method method, bool first,
					 struct openb_lua *own)
{
	struct openb_engine *e = calloc(1, sizeof(*e));
	struct sl_node_kind *kind = calloc(nodes, sizeof(*kind));
	uint32_t *kind_of = calloc(nodes, sizeof(*kind_of));
	struct sl_error err = { SL_ENOMEM, "out of memory" };

	must(e && kind && kind_of, &err);
	for (uint32_t i = 0; i < nodes; i++) {
		kind[i].capacity = capacity_of(&node[i]);
		kind_of[i] = i;
	}
	e->how.method = method;
	e->devices.any = !first;
	e->devices.whole[GPU] = e->devices.share[PART] = device_kinds(OPENB_MOST_GPUS);
	make_mix(e, mix);
	e->scoring = (struct sl_scoring) { .gpus = 1u << GPU, .tags = (uint16_t) (((1u << TAGS) - 1) << TAG), .has_mix = true,
					   .mix = &e->mix, .own = own ? openb_lua_score : NULL, .own_arg = own };
	e->tl = sl_timeline_create(nodes, kind_of, kind, nodes, 0, &err);
	must(e->tl != NULL, &err);
	sl_timeline_devices(e->tl, &e->devices);
	sl_timeline_scoring(e->tl, &e->scoring);
	free(kind);
	free(kind_of);
	return e;
}

void openb_engine_destroy(struct openb_engine *e)
{
	if (!e)
		return;
	sl_layout_free(&e->layout);
	sl_timeline_destroy(e->tl);
	sl_mix_free(&e->mix);
	sl_scoring_free(&e->scoring);
	free(e);
}

static struct sl_request request_for(const struct openb_job *job)
{
	struct sl_request r = { .min_nodes = 1, .max_nodes = 1, .cores = job->cpu_milli / CPU_MILLI_OF_CORE,
				.memory_per_node = job->memory_mib, .duration = SL_FOREVER };
	bool part = job->gpu_milli < OPENB_WHOLE_GPU;

	if (!job->gpus)
		return r;
	r.gres_needs = 2;
	r.gres[0] = (struct sl_gres_need) { .kinds = 1u << (part ? PART : GPU), .count = (uint32_t) (part ? job->gpu_milli : job->gpus) };
	r.gres[1] = (struct sl_gres_need) { .kinds = (uint16_t) (1u << tag_of(part ? 0 : job->gpus)), .count = 1 };
	return r;
}

uint32_t openb_engine_start(struct openb_engine *e, const struct openb_job *job)
{
	struct sl_request r = request_for(job);
	struct sl_error err = { 0 };
	int rc = sl_fit_at(e->tl, &r, &e->how, 0, &e->layout, NULL, &err);

	must(rc >= 0, &err);
	if (!rc)
		return UINT32_MAX;
	must(!sl_layout_book(e->tl, &e->layout, 0, SL_FOREVER, &err), &err);
	return sl_nodeset_next(&e->layout.share[0].nodes, 0);
}
