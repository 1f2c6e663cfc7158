/* SPDX-License-Identifier: MIT */
#include "tool/gpus_apart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "model/request.h"

/* What the job asks of each of its fewest nodes. */
struct wanted {
	uint32_t nodes, gpus, cpus, row;	/* row: of job_gres */
};

struct found {
	uint32_t *gpus, *cores;		/* free, by node */
	uint64_t free_gpus;
	uint32_t nodes, enough, cores_too;	/* with a free GPU; with as many as it wants; with cores, too */
};

static uint32_t find_row(const struct sl_snapshot *s, uint32_t id)
{
	for (uint32_t j = 0; j < s->job.rows; j++)
		if (s->job.id[j] == id)
			return j;
	return SL_NONE;
}

/* False: it asks for no GPUs, or for several sorts. */
static bool find_gpus(const struct sl_snapshot *s, const struct sl_ask *a, struct wanted *w)
{
	w->row = SL_NONE;
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++) {
		if (strcmp(sl_snapshot_str(s, s->job_gres.name[g]), "gpu"))
			continue;
		if (w->row != SL_NONE)
			return false;
		w->row = g;
	}
	return w->row != SL_NONE && s->job_gres.count[w->row];
}

static uint64_t node_cpus(const struct sl_snapshot *s, uint32_t node, const struct found *f)
{
	return (uint64_t) f->cores[node] * (s->node.threads[node] ? s->node.threads[node] : 1);
}

static void count_there(const struct sl_snapshot *s, uint32_t node, const struct wanted *w, struct found *f)
{
	f->cores[node] = s->node.cores[node];
	for (uint32_t g = s->node.gres[node].first; g < s->node.gres[node].first + s->node.gres[node].count; g++)
		f->gpus[node] += sl_gres_matches(s, w->row, s->node_gres.kind[g]) ? s->node_gres.count[g] : 0;
}

static uint32_t less(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

static void take_away(const struct sl_snapshot *s, uint32_t a, const struct wanted *w, struct found *f)
{
	uint32_t node = s->alloc.node[a];

	f->cores[node] = less(f->cores[node], s->alloc.cores[a]);
	for (uint32_t g = s->alloc.gres[a].first; g < s->alloc.gres[a].first + s->alloc.gres[a].count; g++)
		if (sl_gres_matches(s, w->row, s->alloc_gres.kind[g]))
			f->gpus[node] = less(f->gpus[node], s->alloc_gres.count[g]);
}

static void count_node(const struct sl_snapshot *s, uint32_t node, const struct wanted *w, struct found *f)
{
	if ((s->node.state[node] & SL_NODE_UNUSABLE) || !f->gpus[node])
		return;
	f->free_gpus += f->gpus[node];
	f->nodes++;
	f->enough += f->gpus[node] >= w->gpus;
	f->cores_too += f->gpus[node] >= w->gpus && node_cpus(s, node, f) >= w->cpus;
}

/* While *f* has what is there: the fewest nodes of the partition that could have all that it asks for. */
static void share_out(const struct sl_snapshot *s, uint32_t partition, const struct sl_ask *a, const struct found *f, struct wanted *w)
{
	struct sl_range runs = s->partition.nodes[partition];
	int64_t cpus = sl_ask_cpus(a), gpus = s->job_gres.per[w->row] == SL_PER_NODE ? 0 : sl_ask_gres(s, a, w->row, a->min_nodes);
	uint64_t most_cpus = 0, most_gpus = 0;

	for (uint32_t r = runs.first; r < runs.first + runs.count; r++)
		for (uint32_t n = s->run.first[r]; n <= s->run.last[r]; n++) {
			most_cpus = sl_max(most_cpus, node_cpus(s, n, f));
			most_gpus = sl_max(most_gpus, f->gpus[n]);
		}
	w->nodes = (uint32_t) sl_max(sl_ask_fewest_nodes(a, cpus, (int64_t) most_cpus), sl_ask_fewest_nodes(a, gpus, (int64_t) most_gpus));
	w->cpus = (uint32_t) sl_max(a->node_cpus, sl_min(sl_quotient_up((uint64_t) cpus, w->nodes), UINT32_MAX));
	w->gpus = (uint32_t) sl_quotient_up((uint64_t) sl_ask_gres(s, a, w->row, w->nodes), w->nodes);
}

static void count_all(const struct sl_snapshot *s, uint32_t partition, const struct sl_ask *a, struct wanted *w, struct found *f)
{
	struct sl_range runs = s->partition.nodes[partition];

	for (uint32_t n = 0; n < s->node.rows; n++)
		count_there(s, n, w, f);
	share_out(s, partition, a, f, w);
	for (uint32_t j = 0; j < s->job.rows; j++)
		for (uint32_t i = s->job.alloc[j].first; i < s->job.alloc[j].first + s->job.alloc[j].count; i++)
			take_away(s, i, w, f);
	for (uint32_t r = runs.first; r < runs.first + runs.count; r++)
		for (uint32_t n = s->run.first[r]; n <= s->run.last[r]; n++)
			count_node(s, n, w, f);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static char *say(const struct wanted *w, const struct found *f, const char *partition)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "    %" PRIu64 " GPU%s %s free on %" PRIu32 " node%s of %s, ", f->free_gpus, plural(f->free_gpus),
		f->free_gpus == 1 ? "is" : "are", f->nodes, plural(f->nodes), partition);
	if (!f->enough)
		fprintf(out, "none has %" PRIu32, w->gpus);
	else if (f->enough < w->nodes)
		fprintf(out, "%" PRIu32 " ha%s %" PRIu32, f->enough, f->enough == 1 ? "s" : "ve", w->gpus);
	else
		fprintf(out, "%" PRIu32 " ha%s %" PRIu32 " and %" PRIu32 " of these the %" PRIu32 " CPU%s beside them", f->enough,
			f->enough == 1 ? "s" : "ve", w->gpus, f->cores_too, w->cpus, plural(w->cpus));
	fputc('\n', out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *sl_gpus_apart(const struct sl_snapshot *s, uint32_t id)
{
	uint32_t job = find_row(s, id);
	struct found f = { 0 };
	struct wanted w = { 0 };
	char *text = NULL;
	struct sl_ask a;

	if (job == SL_NONE || s->job.state[job] != SL_JOB_PENDING || s->job.partition[job] == SL_NONE)
		return NULL;
	a = sl_request_read(s, job, 0);
	if (!find_gpus(s, &a, &w))
		return NULL;
	f.gpus = calloc((size_t) s->node.rows + 1, sizeof(*f.gpus));
	f.cores = calloc((size_t) s->node.rows + 1, sizeof(*f.cores));
	if (f.gpus && f.cores) {
		count_all(s, s->job.partition[job], &a, &w, &f);
		if (f.free_gpus >= (uint64_t) w.gpus * w.nodes && f.cores_too < w.nodes)
			text = say(&w, &f, sl_snapshot_str(s, s->partition.name[s->job.partition[job]]));
	}
	free(f.gpus);
	free(f.cores);
	return text;
}
