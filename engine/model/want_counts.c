/* SPDX-License-Identifier: MIT */
/*
 * want_counts.c - a list of node counts, "1,4-6,8": the job may use any listed number of nodes.
 *
 * A range is one run, from which as many nodes are used as possible.  Select tries each number separately, also for a job
 * with gres of the job, which would stop within a run as soon as it has these.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOST_RUNS 16

/* Parse a number and advance *at; 0: there is none. */
static uint32_t read_number(const char **at)
{
	uint32_t n = 0;

	for (; **at >= '0' && **at <= '9' && n < SL_MAX_NODES; (*at)++)
		n = n * 10 + (uint32_t) (**at - '0');
	return n;
}

/* Parse the ascending ranges of the list; returns their number, 0 if the list is invalid or too long. */
static uint32_t read_runs(const char *at, struct count_run run[MOST_RUNS])
{
	uint32_t runs = 0, last = 0;

	for (;;) {
		uint32_t first = read_number(&at), to = first;

		if (*at == '-') {
			at++;
			to = read_number(&at);
		}
		if (first <= last || to < first || to > SL_MAX_NODES || (*at && *at != ',') || runs == MOST_RUNS)
			return 0;
		if (runs && first == last + 1)
			run[runs - 1].last = to;
		else
			run[runs++] = (struct count_run) { first, to };
		last = to;
		if (!*at++)
			return runs;
	}
}

/* Limit the ranges to [least, most]; returns how many are left. */
static uint32_t cut_runs(struct count_run *run, uint32_t runs, uint32_t least, uint32_t most)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < runs; i++) {
		struct count_run r = run[i];

		r.first = r.first < least ? least : r.first;
		r.last = r.last > most ? most : r.last;
		if (r.first <= r.last)
			run[kept++] = r;
	}
	return kept;
}

static bool is_wide(const struct count_run *run, uint32_t runs)
{
	for (uint32_t i = 0; i < runs; i++)
		if (run[i].first < run[i].last)
			return true;
	return false;
}

static int keep_runs(struct want *w, const struct count_run *run, uint32_t runs, struct sl_error *err)
{
	w->count = malloc(runs * sizeof(*run));
	if (!w->count)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	for (uint32_t i = 0; i < runs; i++)
		w->count[i] = run[i];
	w->counts = runs;
	return 0;
}

int want_counts(struct sl_cluster *c, struct want *w, struct sl_ask *a, struct sl_error *err)
{
	const char *list = cluster_str(c, c->snap->job.node_counts[w->entry.job]);
	struct count_run run[MOST_RUNS];
	uint32_t runs;

	if (!*list || w->entry.shape)
		return 0;
	runs = read_runs(list, run);
	w->pub.asked |= !runs ? SL_W(LONG_LIST) : is_wide(run, runs) ? SL_W(NODE_RANGES) : 0;
	if (sl_words_left(w->pub.asked) & (SL_W(NODE_COUNTS) | SL_W(NODE_RANGES) | SL_W(LONG_LIST)))
		return 0;
	runs = cut_runs(run, runs, a->min_nodes, a->max_nodes);
	if (!runs)
		return want_refuse(w, SL_WHY_PARTITION, "needs %s nodes, may have %" PRIu32 " to %" PRIu32 " in partition %s", list,
				   a->min_nodes, a->max_nodes, cluster_str(c, c->snap->partition.name[w->entry.partition]));
	a->min_nodes = run[0].first;
	a->max_nodes = run[runs - 1].last;
	a->most_nodes = runs == 1;
	return runs > 1 ? keep_runs(w, run, runs, err) : 0;
}
