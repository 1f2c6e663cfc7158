/* SPDX-License-Identifier: MIT */
/* preempt.c - the default cost of stopping a running job; see preempt.h */
#include "model/preempt.h"
#include "model/cluster_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_gap(char c)
{
	return !c || isspace((unsigned char) c) || c == ',' || c == ';';
}

const char *sl_preempt_word(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += n)
		if ((at == text || is_gap(at[-1])) && (is_gap(at[n]) || at[n] == '='))
			return at + n;
	return NULL;
}

int64_t sl_preempt_checkpoint_s(const char *comment)
{
	const char *says = sl_preempt_word(comment, "checkpoint");
	long long every = says && *says == '=' ? strtoll(says + 1, NULL, 10) : 0;

	return every > 0 && every < INT32_MAX ? every * 60 : 0;
}

/* Seconds of work that would be lost. */
static int64_t lost_s(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t ran = job->start_time[j] > 0 && job->start_time[j] < c->now ? c->now - job->start_time[j] : 0;
	int64_t every = sl_preempt_checkpoint_s(cluster_str(c, job->comment[j]));

	if (job->preempt_mode[j] == SL_STOP_SUSPEND)
		return 0;
	return every ? ran % every : ran;
}

double sl_preempt_cores_per_gpu(const struct sl_cluster *c)
{
	const struct sl_snapshot *s = c->snap;
	double cores = 0, gpus = 0;

	for (uint32_t n = 0; n < s->node.rows; n++) {
		struct sl_range gres = s->node.gres[n];

		cores += gres.count ? s->node.cores[n] : 0;
		for (uint32_t i = gres.first; i < gres.first + gres.count; i++)
			if (s->node_gres.kind[i] < s->gres_kind.rows &&
			    !strcmp(cluster_str(c, s->gres_kind.name[s->node_gres.kind[i]]), "gpu"))
				gpus += s->node_gres.count[i];
	}
	return gpus > 0 ? cores / gpus : 1;
}

double sl_preempt_cost(const struct sl_cluster *c, uint32_t j, double cores_per_gpu)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t restarts = job->restarts[j] < SL_PREEMPT_MOST_RESTARTS ? job->restarts[j] : SL_PREEMPT_MOST_RESTARTS;
	const struct held *h = c->held[j];
	double cores = 0, size;

	for (uint32_t i = 0; h && i < h->count; i++)
		cores += h->place[i].cores;
	size = job->alloc_gpus[j] ? job->alloc_gpus[j] * cores_per_gpu : cores;
	return size * (double) (lost_s(c, j) * (1 + restarts) + 60) / 3600;
}
