/* SPDX-License-Identifier: MIT */
/*
 * openb.c - how many GPUs of Alibaba's cluster each placement heuristic of Weng et al. (ATC'23) gets allocated.
 *
 *	bench/openb [--traces DIR] [--seeds N] [--sampled] [--random-ties] [--engine [--first-device]] [--window N [--patience N]]
 *		[--score FILE [--unused]] [--every N] [--first-seed N] [HEURISTIC...]
 *
 * DIR (default: $SCHEDLUA_TRACES) has openb_node_list_all_node.csv and openb_pod_list_default.csv of cluster-trace-gpu-v2023,
 * each as it is or with .gz.  Jobs arrive on an empty machine and never end; one that fits nowhere is refused.  As in the public
 * simulator of the paper all jobs of the trace arrive once, in random order, and then jobs drawn from it with replacement,
 * until 130 % of the machine's GPUs are asked for.  --sampled: all arrivals are drawn with replacement.
 *
 * Of nodes with the same score the first is taken, in an order of nodes that is drawn once a run, as in that simulator;
 * --random-ties: any of them, drawn anew each time, as in kube-scheduler.
 *
 * --engine: the nodes are chosen by the engine's placement scores, and not by those of openb_score.h; what both would do is
 * compared job by job, and status 1 says that it differs.  --first-device: a part of a GPU is of the first device that has
 * enough, as Slurm does, and nothing is compared.
 *
 * --window N: N jobs wait, and when one more comes the one with the best score starts; one that has waited for --patience N (2000)
 * arrivals goes first if it fits.  What waits in the end starts in the same order, as far as there is room.
 *
 * --score FILE: the score of a policy in Lua, in the engine and with the first device that has enough, and nothing else.
 * --unused: nothing but the GPUs that it leaves, in % of all, is printed.
 * --every N: only each Nth node, and as many jobs fewer.  --first-seed N: 42 otherwise.
 *
 * HEURISTIC: only these.  Without it: those that were published.  Three more, whose names end in Exact, do not cut their scores off
 * to whole numbers; FGDPacked decides between equal scores of FGD.
 *
 * A table in Markdown on stdout.  Status 1 if the mean of a heuristic is more than 0.3 points from what was published, 77 if
 * a file is not there.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lines.h"
#include "bench/measure.h"
#include "bench/openb_engine.h"
#include "bench/openb_score.h"

#define NODES_HEADER "sn,cpu_milli,memory_mib,gpu,model"
#define JOBS_HEADER "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,"
#define MOST_ROWS 1000000u
#define ASKED 1.3		/* of the machine's GPUs */
#define FIRST_SEED 42		/* the paper's, though not with its generator */
#define TOLERANCE 0.3
#define MISFIT (-1.0)		/* for a score */
#define SKIPPED 77

static const char name[] = "openb";

static struct {
	const char *traces;
	int seeds, window, patience, every, first_seed;
	const char *score;
	struct openb_lua *own;	/* the same, read */
	bool unused;	/* print what is left, and nothing else */
	bool sampled, random_ties, engine, first_device;
	bool chosen[16];
} opt = { .seeds = 10, .patience = 2000, .every = 1, .first_seed = FIRST_SEED };

static struct {
	struct openb_node *node;
	struct openb_job *job;	/* of the trace */
	uint32_t *shape;	/* job -> number of its shape; equal requests have the same */
	struct openb_job *of_shape;
	uint32_t nodes, jobs, shapes, seen;	/* seen: nodes with GPUs in the list */
	int64_t gpu_milli, asked_milli;	/* of all nodes, by all jobs */
	struct openb_mix mix;
} world;

/* -- The trace ------------------------------------------------------------------ */

static void *must(void *p)
{
	if (!p)
		give_up(name, &(struct sl_error) { SL_ENOMEM, "out of memory" });
	return p;
}

static void find(char *path, size_t size, const char *file)
{
	static const char *const suffix[] = { ".csv", ".csv.gz" };

	for (int i = 0; i < 2; i++) {
		snprintf(path, size, "%s/%s%s", opt.traces, file, suffix[i]);
		if (!access(path, R_OK))
			return;
	}
	fprintf(stderr, "bench/openb: SKIPPED: neither %s.csv nor %s.csv.gz is in %s; --traces DIR or SCHEDLUA_TRACES names the "
		"directory that has cluster-trace-gpu-v2023\n", file, file, opt.traces);
	exit(SKIPPED);
}

/* Fields 1 to *count* of a line, each a whole number of at least 0.  *rest: what follows. */
static bool numbers(char *line, int64_t *value, int count, char **rest)
{
	strsep(&line, ",");
	for (int i = 0; i < count; i++) {
		char *field = strsep(&line, ",");

		if (!field || !sl_scan_whole(field, &value[i]) || value[i] < 0)
			return false;
	}
	*rest = line;
	return line != NULL;
}

static const char *take_node(char *line)
{
	struct openb_node n = { 0 };
	int64_t value[3];
	char *model;

	if (!numbers(line, value, 3, &model) || value[2] > OPENB_MOST_GPUS)
		return "expected a node: " NODES_HEADER;
	if (!value[2])
		return NULL;	/* the experiment leaves nodes without GPUs out */
	if (world.seen++ % (uint32_t) opt.every)
		return NULL;
	n.cpu_milli = value[0];
	n.memory_mib = value[1];
	n.gpus = (int) value[2];
	for (int i = 0; i < n.gpus; i++)
		n.gpu_milli[i] = OPENB_WHOLE_GPU;
	world.node[world.nodes++] = n;
	world.gpu_milli += n.gpus * OPENB_WHOLE_GPU;
	return NULL;
}

static bool is_request(const int64_t *value)
{
	int64_t gpus = value[2], milli = value[3];

	return gpus == 0 ? milli == 0 : gpus == 1 ? milli > 0 && milli <= OPENB_WHOLE_GPU :
	       gpus <= OPENB_MOST_GPUS && milli == OPENB_WHOLE_GPU;
}

static const char *take_job(char *line)
{
	int64_t value[4];
	char *rest;

	if (!numbers(line, value, 4, &rest) || !is_request(value))
		return "expected a job, of several GPUs only whole ones: " JOBS_HEADER "...";
	if (*rest != ',')
		return "a job that asks for GPUs of a model is not supported yet";
	world.job[world.jobs++] = (struct openb_job) { value[0], value[1], (int) value[2], (int) value[3] };
	world.asked_milli += value[2] * value[3];
	return NULL;
}

static void read_rows(const char *file, const char *header, const char *(*take)(char *line))
{
	char path[4096], *line;
	struct sl_error err = { 0 };
	struct sl_lines *l;
	int64_t n = 0;

	find(path, sizeof(path), file);
	l = sl_lines_open(path, &err);
	while (l && (n = sl_lines_next(l, &line, &err)) > 0) {
		bool is_first = sl_lines_number(l) == 1;
		const char *wrong = !is_first ? take(line) : strncmp(line, header, strlen(header)) ? "not the header expected" :
				    NULL;

		if (!wrong && sl_lines_number(l) > MOST_ROWS)
			wrong = "too many rows";
		if (wrong) {
			sl_fail(&err, SL_EFORMAT, "%s:%" PRIu64 ": %s", path, sl_lines_number(l), wrong);
			give_up(name, &err);
		}
	}
	if (!l || n < 0)
		give_up(name, &err);
	sl_lines_close(l);
}

static bool are_equal(const struct openb_job *a, const struct openb_job *b)
{
	return a->cpu_milli == b->cpu_milli && a->memory_mib == b->memory_mib && a->gpus == b->gpus && a->gpu_milli == b->gpu_milli;
}

static void load(void)
{
	struct sl_error err = { 0 };

	world.node = must(calloc(MOST_ROWS, sizeof(*world.node)));
	world.job = must(calloc(MOST_ROWS, sizeof(*world.job)));
	read_rows("openb_node_list_all_node", NODES_HEADER, take_node);
	read_rows("openb_pod_list_default", JOBS_HEADER, take_job);
	if (!world.gpu_milli || !world.asked_milli) {
		sl_fail(&err, SL_EFORMAT, "%s: no GPU, or no job that asks for one", opt.traces);
		give_up(name, &err);
	}
	world.shape = must(calloc(world.jobs, sizeof(*world.shape)));
	world.of_shape = must(calloc(world.jobs, sizeof(*world.of_shape)));
	for (uint32_t i = 0; i < world.jobs; i++) {
		uint32_t s = 0;

		while (s < world.shapes && !are_equal(&world.of_shape[s], &world.job[i]))
			s++;
		world.shape[i] = s;
		if (s == world.shapes)
			world.of_shape[world.shapes++] = world.job[i];
	}
	if (openb_mix_of(&world.mix, world.job, world.jobs, &err))
		give_up(name, &err);
}

/* -- Arrivals ------------------------------------------------------------------- */

struct arrivals {
	uint32_t *job;
	uint32_t count, room;
};

static void append(struct arrivals *a, uint32_t job)
{
	if (a->count == a->room) {
		a->room = a->room ? 2 * a->room : 1024;
		a->job = must(realloc(a->job, a->room * sizeof(*a->job)));
	}
	a->job[a->count++] = job;
}

static struct arrivals arrive(struct sl_random *random)
{
	double most = ASKED * (double) world.gpu_milli;
	struct arrivals a = { 0 };
	int64_t asked = 0;

	for (uint32_t i = 0; !opt.sampled && i < world.jobs; i++) {
		append(&a, i);
		asked += world.job[i].gpus * world.job[i].gpu_milli;
	}
	for (uint32_t i = a.count; i > 1; i--) {
		uint32_t k = (uint32_t) sl_random_below(random, i), job = a.job[k];

		a.job[k] = a.job[i - 1];
		a.job[i - 1] = job;
	}
	for (;;) {
		uint32_t i = (uint32_t) sl_random_below(random, world.jobs);

		/* The first that would go beyond ends it; as published, a job of several GPUs is looked at as if it asked for one. */
		if ((double) (asked + world.job[i].gpu_milli) > most)
			return a;
		asked += world.job[i].gpus * world.job[i].gpu_milli;
		append(&a, i);
	}
}

/* -- Placement ------------------------------------------------------------------ */

/*
 * A job changes one node.  So the scores of each shape are kept, each with the version of the node for which it was worked out,
 * and asked for again only where the node has changed since.
 */
struct machine {
	const struct openb_heuristic *h;
	struct openb_node *node;
	uint32_t *version;	/* of a node, from 1 on */
	uint32_t *seen;		/* [shape][node]: the version that was scored */
	double *score;		/* [shape][node] */
	uint32_t *tied;		/* the best nodes of the last search, the first in front */
};

static struct machine empty_machine(const struct openb_heuristic *h, struct sl_random *random)
{
	size_t cells = (size_t) world.shapes * world.nodes;
	struct machine m = {
		.h = h,
		.node = must(calloc(world.nodes, sizeof(*m.node))),
		.version = must(calloc(world.nodes, sizeof(*m.version))),
		.seen = must(calloc(cells, sizeof(*m.seen))),
		.score = must(calloc(cells, sizeof(*m.score))),
		.tied = must(calloc(world.nodes, sizeof(*m.tied))),
	};

	for (uint32_t i = 0; i < world.nodes; i++) {
		uint32_t k = (uint32_t) sl_random_below(random, i + 1);

		m.node[i] = m.node[k];
		m.node[k] = world.node[i];
		m.version[i] = 1;
	}
	return m;
}

static void scrap(struct machine *m)
{
	free(m->node);
	free(m->version);
	free(m->seen);
	free(m->score);
	free(m->tied);
}

/* How many nodes have the best score for a shape; they are in m->tied. */
static uint32_t best_nodes(struct machine *m, uint32_t shape)
{
	const struct openb_job *j = &world.of_shape[shape];
	double *score = m->score + (size_t) shape * world.nodes, best = MISFIT;
	uint32_t *seen = m->seen + (size_t) shape * world.nodes, ties = 0;

	for (uint32_t i = 0; i < world.nodes; i++) {
		if (seen[i] != m->version[i]) {
			seen[i] = m->version[i];
			score[i] = openb_fits(&m->node[i], j) ? m->h->score(&m->node[i], j, &world.mix) : MISFIT;
		}
		if (score[i] > best) {
			best = score[i];
			ties = 0;
		}
		if (score[i] >= best && best > MISFIT)
			m->tied[ties++] = i;
	}
	return ties;
}

/* Place a job by the scores here: its node, UINT32_MAX if it fits nowhere. */
static uint32_t place_here(struct machine *m, uint32_t job, struct sl_random *random)
{
	const struct openb_job *j = &world.job[job];
	uint32_t ties = best_nodes(m, world.shape[job]), node;
	int gpu = 0;

	if (!ties)
		return UINT32_MAX;
	node = m->tied[opt.random_ties || m->h->any_node ? sl_random_below(random, ties) : 0];
	if (j->gpus == 1 && j->gpu_milli < OPENB_WHOLE_GPU)
		gpu = m->h->gpu(&m->node[node], j, &world.mix, random);
	openb_place(&m->node[node], j, gpu);
	m->version[node]++;
	return node;
}

/* Place a job here, and by the engine if that is asked: true if it got a node.  *differ counts jobs that the engine gave another. */
static bool place(struct machine *m, struct openb_engine *e, uint32_t job, struct sl_random *random, uint32_t *differ)
{
	uint32_t there = e ? openb_engine_start(e, &world.job[job]) : 0;
	uint32_t node = opt.first_device ? there : place_here(m, job, random);

	*differ += e && there != node;
	return (e ? there : node) < UINT32_MAX;
}

/* -- A window -------------------------------------------------------------------- */

/* Jobs that wait, in the order in which they came. */
struct window {
	uint32_t *job, *since;
	uint32_t count;
	uint32_t *round;	/* [shape]: when its best score was looked for; from 1 on */
	double *best;		/* [shape] */
};

static struct window empty_window(void)
{
	return (struct window) {
		.job = must(calloc((size_t) opt.window + 1, sizeof(uint32_t))),
		.since = must(calloc((size_t) opt.window + 1, sizeof(uint32_t))),
		.round = must(calloc(world.shapes, sizeof(uint32_t))),
		.best = must(calloc(world.shapes, sizeof(double))),
	};
}

static void close_window(struct window *w)
{
	free(w->job);
	free(w->since);
	free(w->round);
	free(w->best);
}

static double best_score(struct machine *m, struct window *w, uint32_t shape, uint32_t round)
{
	if (w->round[shape] != round) {
		w->round[shape] = round;
		w->best[shape] = best_nodes(m, shape) ? m->score[(size_t) shape * world.nodes + m->tied[0]] : MISFIT;
	}
	return w->best[shape];
}

/* The job that goes next: one that has waited for too long, else the one with the best score, of equals the first; *count* if none
 * fits. */
static uint32_t next_in(struct machine *m, struct window *w, uint32_t round)
{
	uint32_t best = w->count;
	double most = MISFIT;

	for (uint32_t i = 0; i < w->count; i++) {
		double score = best_score(m, w, world.shape[w->job[i]], round);

		if (score > MISFIT && round - w->since[i] >= (uint32_t) opt.patience)
			return i;
		if (score > most) {
			most = score;
			best = i;
		}
	}
	return best;
}

static void take_out(struct window *w, uint32_t i)
{
	w->count--;
	memmove(w->job + i, w->job + i + 1, (w->count - i) * sizeof(*w->job));
	memmove(w->since + i, w->since + i + 1, (w->count - i) * sizeof(*w->since));
}

/* One more job has come, or none will (UINT32_MAX).  Start one of those that wait if they are too many: the job, or UINT32_MAX. */
static uint32_t pass_window(struct machine *m, struct window *w, uint32_t arrived, uint32_t round)
{
	uint32_t i = 0, job;

	if (arrived < UINT32_MAX) {
		w->job[w->count] = arrived;
		w->since[w->count++] = round;
	}
	if (!w->count || (arrived < UINT32_MAX && w->count <= (uint32_t) opt.window))
		return UINT32_MAX;
	if (opt.window)
		i = next_in(m, w, round);
	i = i < w->count ? i : 0;	/* none fits: the first is refused */
	job = w->job[i];
	take_out(w, i);
	return job;
}

/* GPUs allocated in the end, % of all. */
static double allocated(const struct openb_heuristic *h, uint64_t seed, uint32_t *differ)
{
	struct openb_engine *e = NULL;
	struct window w = empty_window();
	struct sl_random random;
	struct machine m;
	struct arrivals a;
	int64_t milli = 0;

	sl_random_seed(&random, seed);
	a = arrive(&random);
	m = empty_machine(h, &random);
	if (opt.engine)
		e = openb_engine_create(m.node, world.nodes, &world.mix, h->method, opt.first_device, opt.own);
	for (uint32_t i = 0; i < a.count || w.count; i++) {
		uint32_t job = pass_window(&m, &w, i < a.count ? a.job[i] : UINT32_MAX, i + 1);

		if (job < UINT32_MAX && place(&m, e, job, &random, differ))
			milli += world.job[job].gpus * world.job[job].gpu_milli;
	}
	free(a.job);
	close_window(&w);
	scrap(&m);
	openb_engine_destroy(e);
	return 100.0 * (double) milli / (double) world.gpu_milli;
}

/* A row of the table.  True if the mean is near enough to what was published. */
static bool row(const struct openb_heuristic *h)
{
	double sum = 0, squares = 0, least = 100, most = 0, mean, sd, before = cpu_ms();
	uint32_t differ = 0;

	for (int i = 0; i < opt.seeds; i++) {
		double percent = allocated(h, (uint64_t) opt.first_seed + (uint64_t) i, &differ);

		sum += percent;
		squares += percent * percent;
		least = fmin(least, percent);
		most = fmax(most, percent);
	}
	mean = sum / opt.seeds;
	sd = opt.seeds > 1 ? sqrt(fmax(0, squares - sum * mean) / (opt.seeds - 1)) : 0;
	if (opt.unused)
		return printf("%.4f\n", 100 - mean) > 0;
	if (isnan(h->published))
		printf("| %s | | %.2f |", h->name, mean);
	else
		printf("| %s | %.2f | %.2f | %+.2f", h->name, h->published, mean, mean - h->published);
	printf(" | %.2f | %.2f to %.2f | %.1f |\n", sd, least, most, (cpu_ms() - before) / 1e3);
	fflush(stdout);
	if (differ)
		fprintf(stderr, "bench/openb: %s: the engine gives %" PRIu32 " jobs another node\n", h->name, differ);
	if (opt.engine || opt.window)
		return !differ;
	return isnan(h->published) || fabs(mean - h->published) <= TOLERANCE;
}

/* -- The command ---------------------------------------------------------------- */

static bool choose(const char *word)
{
	const struct openb_heuristic *h = openb_heuristic_named(word);

	if (h)
		opt.chosen[h - openb_heuristics] = true;
	return h != NULL;
}

static bool parse(int argc, char **argv)
{
	const char *home = getenv("SCHEDLUA_TRACES");
	bool any = false;

	opt.traces = home && *home ? home : "traces";
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--traces") && i + 1 < argc)
			opt.traces = argv[++i];
		else if (!strcmp(argv[i], "--seeds") && i + 1 < argc)
			opt.seeds = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--sampled"))
			opt.sampled = true;
		else if (!strcmp(argv[i], "--random-ties"))
			opt.random_ties = true;
		else if (!strcmp(argv[i], "--window") && i + 1 < argc)
			opt.window = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--patience") && i + 1 < argc)
			opt.patience = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--engine"))
			opt.engine = true;
		else if (!strcmp(argv[i], "--first-device"))
			opt.engine = opt.first_device = true;
		else if (!strcmp(argv[i], "--score") && i + 1 < argc) {
			opt.score = argv[++i];
			opt.engine = opt.first_device = true;
		} else if (!strcmp(argv[i], "--unused"))
			opt.unused = true;
		else if (!strcmp(argv[i], "--every") && i + 1 < argc)
			opt.every = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--first-seed") && i + 1 < argc)
			opt.first_seed = atoi(argv[++i]);
		else if (choose(argv[i]))
			any = true;
		else
			return false;
	}
	for (int i = 0; !any && i < openb_heuristics_count; i++)
		opt.chosen[i] = !isnan(openb_heuristics[i].published);
	for (int i = 0; opt.engine && i < openb_heuristics_count; i++)
		opt.chosen[i] &= sl_place_has_bundled_score(openb_heuristics[i].method);
	return opt.seeds >= 1 && opt.seeds <= 1000 && opt.every >= 1 && opt.first_seed >= 0 && !(any && opt.score) && (opt.score || !opt.unused) && opt.window >= 0 && opt.patience >= 1 && (!opt.window || !opt.first_device);
}

int main(int argc, char **argv)
{
	struct sl_error err = { 0 };
	bool all_near = true;

	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: bench/openb [--traces DIR] [--seeds N] [--sampled] [--random-ties] [--engine [--first-device]] "
			"[--window N [--patience N]] [--score FILE [--unused]] [--every N] [--first-seed N] [HEURISTIC...]\nheuristics:");
		for (int i = 0; i < openb_heuristics_count; i++)
			fprintf(stderr, " %s", openb_heuristics[i].name);
		fprintf(stderr, "\n");
		return 2;
	}
	load();
	if (opt.score && !(opt.own = openb_lua_open(opt.score, &err)))
		give_up(name, &err);
	if (!opt.unused)
		fprintf(stderr, "bench/openb: %" PRIu32 " nodes with %.0f GPUs; %" PRIu32 " jobs that ask for %.1f; %" PRIu32
		" shapes expected\n", world.nodes, (double) world.gpu_milli / 1e3, world.jobs, (double) world.asked_milli / 1e3,
		world.mix.shapes);
	if (!opt.unused)
		printf("| heuristic | published, %% | here, %% | difference | sd | of %d seeds | CPU s |\n|---|---|---|---|---|---|---|\n",
	       opt.seeds);
	if (opt.score)
		all_near = row(&(const struct openb_heuristic) { .name = opt.score, .published = NAN, .method = SL_PLACE_OWN });
	for (int i = 0; i < openb_heuristics_count && !opt.score; i++)
		if (opt.chosen[i] && !row(&openb_heuristics[i]))
			all_near = false;
	openb_lua_close(opt.own);
	openb_mix_free(&world.mix);
	free(world.node);
	free(world.job);
	free(world.shape);
	free(world.of_shape);
	return all_near ? 0 : 1;
}
