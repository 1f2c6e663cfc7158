/* SPDX-License-Identifier: MIT */
/*
 * blocks.c - what placement in blocks is worth, and what it costs.
 *
 *	bench/blocks [--clos] [JOBS [SEED]]
 *
 * 33 racks of 18 nodes; with --clos a three-layer Clos network of 847 hosts below 48 leaf switches of 15 to 20 hosts, six leaf
 * switches to a pod.  Jobs have 1 to 144 whole nodes, in segments of up to 18.  Two tables in Markdown on stdout:
 *
 * 1. A decision: 500 pending jobs at about 90 % load, by EASY: each is tried now, the first that does not start is given a
 *    reservation.  The median of CPU time over 21 rounds.
 * 2. A stream of JOBS (4,000) jobs at 85, 90 and 95 % load, under EASY with walltimes of up to four times the run time: over time the
 *    mean of whole free blocks, waits, and how many jobs were in pieces other than their segments.  The first tenth is left out.
 *    With --clos also how many leaf switches and pods a job of 24 nodes and more has, in the mean.
 *
 * Placed by: "blocks" with segments; "blocks" without; "bestfit", which knows the racks as leaf switches and no segments; and
 * "segment by segment", a model of how topology/block of Slurm 26.05 chooses where BlockSizes=18: for one segment after the
 * other the block with the fewest nodes that are enough, of equals the last.  The model is no slurmctld.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/order.h"
#include "base/random.h"
#include "bench/measure.h"
#include "timeline/place.h"

#define MOST_RACKS 48
#define MOST_NODES 847
#define MOST_SWITCHES (MOST_RACKS + 9)	/* with pods and the core of a Clos network */
#define PODS 8
#define SMALL 18
#define WIDE 24			/* jobs that no leaf switch holds */
#define CORES 8
#define LARGE 72
#define DEPTH 500		/* jobs that a cycle looks at */
#define ROUNDS 21
#define WAITING 500

static const char name[] = "blocks";

static const struct { const char *word; enum sl_place_method method; bool segments, model; } way[] = {
	{ "blocks, with segments", SL_PLACE_BLOCKS, true, false },
	{ "segment by segment (model)", SL_PLACE_BLOCKS, true, true },
	{ "blocks, no segments", SL_PLACE_BLOCKS, false, false },
	{ "bestfit, no segments", SL_PLACE_BESTFIT, false, false },
};
#define WAYS (int) (sizeof(way) / sizeof(*way))

struct job {
	int64_t submit, run, limit, start;
	uint32_t nodes, segment;
	bool started;
	struct sl_layout layout;
};

struct end {
	int64_t t;
	uint32_t job;
};

static bool ends_before(const void *none, const struct end *a, const struct end *b)
{
	(void) none;
	return a->t != b->t ? a->t < b->t : a->job < b->job;
}

SL_HEAP(ends, struct end, const void *, ends_before)

static struct {
	struct sl_timeline *tl;
	struct sl_tree tree;
	bool clos;
	uint32_t racks, nodes, first_of[MOST_RACKS + 1];	/* the first node of a rack; the last entry ends the last rack */
	uint32_t leaf_of[MOST_NODES], above[MOST_SWITCHES], height[MOST_SWITCHES];
	struct sl_random random;
	struct job *job;
	uint32_t jobs, *queue, queued, ending;
	struct end *end;
	bool busy[MOST_NODES];
	/* sums over time */
	double whole, busy_nodes, seconds;
	uint64_t broken_up, wide, wide_racks, wide_pods;
} world;

static void must(bool could, struct sl_error *err)
{
	if (!could)
		give_up(name, err);
}

/* -- jobs ------------------------------------------------------------------- */

static struct job some_job(void)
{
	static const struct { uint32_t nodes, segment; } shape[] = {
		{ 1, 1 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 }, { 4, 4 }, { 4, 4 }, { 6, 6 }, { 8, 8 }, { 8, 8 }, { 12, 12 },
		{ 16, 16 }, { 16, 16 }, { 18, 18 }, { 24, 12 }, { 32, 16 }, { 36, 12 }, { 36, 18 }, { 48, 16 }, { 64, 16 },
		{ 72, 18 }, { 96, 16 }, { 128, 16 }, { 144, 18 },
	};
	uint32_t i = (uint32_t) sl_random_below(&world.random, sizeof(shape) / sizeof(*shape));
	struct job j = { .nodes = shape[i].nodes, .segment = shape[i].segment };

	j.run = 60 + (int64_t) exp(8.0 + 1.2 * sl_random_gauss(&world.random));
	j.run = j.run < 86400 ? j.run : 86400;
	j.limit = j.run + (int64_t) (3 * sl_random_real(&world.random) * (double) j.run);
	return j;
}

static void make_jobs(uint64_t seed, double load)
{
	double work = 0, t = 0, every;

	sl_random_seed(&world.random, seed);
	for (uint32_t i = 0; i < world.jobs; i++) {
		sl_layout_free(&world.job[i].layout);
		world.job[i] = some_job();
		work += (double) world.job[i].nodes * (double) world.job[i].run;
	}
	every = work / world.jobs / (world.nodes * load);
	for (uint32_t i = 0; i < world.jobs; i++) {
		t += every * sl_random_exponential(&world.random);
		world.job[i].submit = (int64_t) t;
	}
}

/* -- placing ---------------------------------------------------------------- */

static struct sl_request request_of(const struct job *j)
{
	return (struct sl_request) { .min_nodes = j->nodes, .max_nodes = j->nodes, .whole_nodes = true, .duration = j->limit };
}

/* The model: picks for a start at *t*; false where there is no room. */
static bool pick_segments(const struct job *j, int64_t t, struct sl_pick *pick)
{
	uint32_t n = 0, free[MOST_NODES], on[MOST_RACKS] = { 0 };

	for (uint32_t i = 0; i < world.nodes; i++) {
		struct sl_resources left;

		sl_timeline_free(world.tl, i, t, t + j->limit, &left);
		free[i] = left.cores == CORES;
		on[world.leaf_of[i]] += free[i];
	}
	for (uint32_t s = 0; s < j->nodes / j->segment; s++) {
		uint32_t best = world.racks, rest = j->segment;

		for (uint32_t r = 0; r < world.racks; r++)
			if (on[r] >= rest && (best == world.racks || on[r] <= on[best]))
				best = r;
		if (best == world.racks)
			return false;
		on[best] -= rest;
		for (uint32_t i = world.first_of[best]; rest; i++)
			if (free[i]) {
				pick[n++] = (struct sl_pick) { .node = i, .cores = CORES };
				free[i] = 0;
				rest--;
			}
	}
	return true;
}

static int by_node(const void *x, const void *y)
{
	const struct sl_pick *a = x, *b = y;

	return SL_ORDER(a->node, b->node);
}

static int fit_by_model(const struct job *j, int64_t t, struct sl_layout *l)
{
	struct sl_request r = request_of(j);
	struct sl_pick pick[MOST_NODES];
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = pick, .count = j->nodes };
	struct sl_error err = { 0 };
	int rc;

	sl_layout_clear(l);
	if (!pick_segments(j, t, pick))
		return 0;
	qsort(pick, j->nodes, sizeof(*pick), by_node);
	rc = sl_fit_at(world.tl, &r, &how, t, l, NULL, &err);
	must(rc > 0, &err);
	return 1;
}

static int fit_now(int w, const struct job *j, int64_t now, struct sl_layout *l)
{
	const struct sl_how how = { .method = way[w].method, .segment = way[w].segments ? j->segment : 0 };
	struct sl_request r = request_of(j);
	struct sl_error err = { 0 };
	int rc;

	if (way[w].model)
		return fit_by_model(j, now, l);
	rc = sl_fit_at(world.tl, &r, &how, now, l, NULL, &err);
	must(rc >= 0, &err);
	return rc;
}

static int64_t fit_later(int w, const struct job *j, int64_t now, struct sl_layout *l)
{
	const struct sl_how how = { .method = way[w].method, .segment = way[w].segments ? j->segment : 0 };
	struct sl_request r = request_of(j);
	struct sl_error err = { 0 };
	int64_t start = now;

	if (way[w].model) {
		while (!fit_by_model(j, start, l)) {
			start = sl_timeline_next(world.tl, start);
			must(start < SL_FOREVER, &(struct sl_error) { SL_EINVAL, "no time at which a job fits" });
		}
		return start;
	}
	must(sl_fit_earliest(world.tl, &r, &how, now, SL_FOREVER, &start, l, NULL, &err) > 0, &err);
	return start;
}

/* -- a cycle of EASY ---------------------------------------------------------- */

static void set_busy(const struct sl_layout *l, bool busy)
{
	for (uint32_t s = 0; s < l->shares; s++)
		for (uint32_t n = sl_nodeset_next(&l->share[s].nodes, 0); n < SL_MAX_NODES;
		     n = sl_nodeset_next(&l->share[s].nodes, n + 1))
			world.busy[n] = busy;
}

/* Counts a job that is in pieces that are no multiple of its segment, and the leaf switches and pods of a wide one. */
static void count_pieces(const struct job *j)
{
	uint32_t on[MOST_RACKS] = { 0 }, racks = 0;
	bool broken = false, in_pod[PODS] = { false };

	for (uint32_t s = 0; s < j->layout.shares; s++)
		for (uint32_t n = sl_nodeset_next(&j->layout.share[s].nodes, 0); n < SL_MAX_NODES;
		     n = sl_nodeset_next(&j->layout.share[s].nodes, n + 1))
			on[world.leaf_of[n]]++;
	for (uint32_t r = 0; r < world.racks; r++) {
		broken |= on[r] % j->segment != 0;
		racks += on[r] > 0;
		in_pod[r * PODS / world.racks] |= on[r] > 0;
	}
	world.broken_up += broken;
	if (j->nodes < WIDE)
		return;
	world.wide++;
	world.wide_racks += racks;
	for (int p = 0; p < PODS; p++)
		world.wide_pods += in_pod[p];
}

static void start_job(uint32_t number, int64_t now, const struct sl_layout *l)
{
	struct job *j = &world.job[number];
	struct sl_error err = { 0 };

	must(!sl_layout_book(world.tl, l, now, now + j->limit, &err), &err);
	for (uint32_t s = 0; s < l->shares; s++)
		for (uint32_t i = 0; i < l->share[s].nodes.runs; i++)
			must(!sl_layout_add(&j->layout, l->share[s].nodes.run[i].first, l->share[s].nodes.run[i].last,
					    l->share[s].tasks, &l->share[s].each, &err), &err);
	j->started = true;
	j->start = now;
	set_busy(&j->layout, true);
	count_pieces(j);
	world.end[world.ending] = (struct end) { now + j->run, number };
	ends_sift_up(NULL, world.end, world.ending++);
}

/* Starts what can start.  The reservation of the first that cannot lasts for the cycle alone. */
static void cycle(int w, int64_t now)
{
	struct sl_layout l = SL_LAYOUT_EMPTY, head = SL_LAYOUT_EMPTY;
	uint32_t kept = 0, looked = world.queued < DEPTH ? world.queued : DEPTH;
	const struct job *first = NULL;
	struct sl_error err = { 0 };
	int64_t at = 0;

	for (uint32_t i = 0; i < looked; i++) {
		const struct job *j = &world.job[world.queue[i]];

		if (fit_now(w, j, now, &l) > 0) {
			start_job(world.queue[i], now, &l);
			continue;
		}
		if (!first) {
			first = j;
			at = fit_later(w, j, now, &head);
			must(!sl_layout_book(world.tl, &head, at, at + j->limit, &err), &err);
		}
		world.queue[kept++] = world.queue[i];
	}
	memmove(&world.queue[kept], &world.queue[looked], (world.queued - looked) * sizeof(*world.queue));
	world.queued -= looked - kept;
	if (first)
		must(!sl_layout_unbook(world.tl, &head, at, at + first->limit, &err), &err);
	sl_layout_free(&head);
	sl_layout_free(&l);
}

/* -- a stream --------------------------------------------------------------- */

/* The nodes of racks and the switches: racks of 18 nodes without anything above, or a Clos network. */
static void describe_machine(void)
{
	static const uint32_t hosts[] = { 20, 18, 18, 18, 16, 16 };	/* below the leaf switches of a pod */
	uint32_t per_pod = sizeof(hosts) / sizeof(*hosts), core;

	world.racks = world.clos ? MOST_RACKS : 33;
	for (uint32_t r = 0; r < world.racks; r++) {
		uint32_t size = world.clos ? hosts[r % per_pod] : 18;

		if (world.clos && r + 1 == world.racks)
			size--;
		world.first_of[r] = world.nodes;
		for (uint32_t i = 0; i < size; i++)
			world.leaf_of[world.nodes++] = r;
		world.above[r] = world.clos ? world.racks + r / per_pod : SL_NO_SWITCH;
	}
	world.first_of[world.racks] = world.nodes;
	world.tree = (struct sl_tree) { world.leaf_of, world.above, world.height, world.racks };
	if (!world.clos)
		return;
	core = world.racks + PODS;
	for (uint32_t s = world.racks; s < core; s++) {
		world.above[s] = core;
		world.height[s] = 1;
	}
	world.above[core] = SL_NO_SWITCH;
	world.height[core] = 2;
	world.tree.switches = core + 1;
}

static void create_machine(void)
{
	const struct sl_node_kind kind = { .capacity = { .cores = CORES, .memory = 1000 } };
	static const uint32_t kind_of[MOST_NODES];
	struct sl_error err = { 0 };

	world.tl = sl_timeline_create(world.nodes, kind_of, &kind, 1, 0, &err);
	must(world.tl != NULL, &err);
	sl_timeline_tree(world.tl, &world.tree);
	memset(world.busy, 0, sizeof(world.busy));
	world.queued = world.ending = 0;
	world.whole = world.busy_nodes = world.seconds = 0;
	world.broken_up = world.wide = world.wide_racks = world.wide_pods = 0;
}

static void count_time(int64_t seconds)
{
	uint32_t whole = 0, busy = 0;

	for (uint32_t r = 0; r < world.racks; r++) {
		uint32_t on = 0;

		for (uint32_t n = world.first_of[r]; n < world.first_of[r + 1]; n++)
			on += world.busy[n];
		whole += !on;
		busy += on;
	}
	world.whole += (double) whole * (double) seconds;
	world.busy_nodes += (double) busy * (double) seconds;
	world.seconds += (double) seconds;
}

static void end_job(int64_t now)
{
	struct job *j = &world.job[world.end[0].job];
	struct sl_error err = { 0 };

	ends_drop_first(NULL, world.end, &world.ending);
	set_busy(&j->layout, false);
	if (j->start + j->limit > now)
		must(!sl_layout_unbook(world.tl, &j->layout, now, j->start + j->limit, &err), &err);
}

/* Until the last job has come: what is drained afterwards is no load. */
static void stream(int w)
{
	uint32_t next = 0, warm = world.jobs / 10;
	int64_t now = 0;

	create_machine();
	while (next < world.jobs) {
		int64_t t = world.job[next].submit;
		struct sl_error err = { 0 };

		if (world.ending && world.end[0].t < t)
			t = world.end[0].t;
		if (next > warm)
			count_time(t - now);
		now = t;
		must(!sl_timeline_advance(world.tl, now, &err), &err);
		while (world.ending && world.end[0].t <= now)
			end_job(now);
		while (next < world.jobs && world.job[next].submit <= now)
			world.queue[world.queued++] = next++;
		cycle(w, now);
	}
	/* those that wait still have waited until now */
	for (uint32_t i = 0; i < world.jobs; i++)
		world.job[i].start = world.job[i].started ? world.job[i].start : now;
}

static double mean_wait(uint32_t least, uint32_t most)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = world.jobs / 10; i < world.jobs; i++) {
		const struct job *j = &world.job[i];

		if (j->nodes < least || j->nodes > most)
			continue;
		sum += (double) (j->start - j->submit);
		n++;
	}
	return n ? sum / n / 60 : 0;
}

static void print_stream(int w, double load)
{
	printf("| %.0f %% | %s | %.2f | %.1f %% | %.0f | %.0f | %.0f | %" PRIu64 " | %" PRIu32 " |", load * 100, way[w].word,
	       world.whole / world.seconds, 100 * world.busy_nodes / world.seconds / world.nodes, mean_wait(1, world.nodes),
	       mean_wait(1, SMALL), mean_wait(LARGE, world.nodes), world.broken_up, world.queued);
	if (world.clos)
		printf(" %.2f | %.2f |", (double) world.wide_racks / (double) world.wide,
		       (double) world.wide_pods / (double) world.wide);
	putchar('\n');
	fflush(stdout);
}

static void reset_jobs(void)
{
	for (uint32_t i = 0; i < world.jobs; i++) {
		sl_layout_clear(&world.job[i].layout);
		world.job[i].started = false;
	}
}

/* -- a decision --------------------------------------------------------------- */

/* A busy machine: jobs of the stream that were started by best fit until 90 % of the nodes are in use. */
static void fill_machine(void)
{
	struct sl_layout l = SL_LAYOUT_EMPTY;
	uint32_t used = 0;

	create_machine();
	for (uint32_t i = 0; i < world.jobs && used < world.nodes * 9 / 10; i++) {
		struct job *j = &world.job[i];

		if (used + j->nodes > world.nodes * 93 / 100 || fit_now(0, j, 0, &l) <= 0)
			continue;
		start_job(i, 0, &l);
		used += j->nodes;
	}
	/* every third job has ended: blocks that are used in part */
	for (uint32_t i = 0, k = 0; i < world.jobs; i++) {
		struct job *j = &world.job[i];
		struct sl_error err = { 0 };

		if (j->started && ++k % 3 == 0 && j->nodes < SMALL)
			must(!sl_layout_unbook(world.tl, &j->layout, 0, j->limit, &err), &err);
	}
	sl_layout_free(&l);
}

static double time_cycle(int w)
{
	uint32_t mark = sl_timeline_mark(world.tl);
	double ms;

	world.queued = world.ending = 0;
	for (uint32_t i = world.jobs - WAITING; i < world.jobs; i++) {
		sl_layout_clear(&world.job[i].layout);
		world.queue[world.queued++] = i;
	}
	ms = cpu_ms();
	cycle(w, 0);
	ms = cpu_ms() - ms;
	sl_timeline_rollback(world.tl, mark);
	return ms;
}

static void print_decisions(void)
{
	double ms[WAYS][ROUNDS], base;

	fill_machine();
	for (int round = 0; round < ROUNDS; round++)
		for (int w = 0; w < WAYS; w++)
			ms[w][round] = time_cycle(w);
	base = median(ms[WAYS - 1], ROUNDS);
	printf("| placed by | CPU ms, 500 pending | beside bestfit |\n|---|---|---|\n");
	for (int w = 0; w < WAYS; w++)
		printf("| %s | %.2f | %.2f |\n", way[w].word, median(ms[w], ROUNDS), median(ms[w], ROUNDS) / base);
	sl_timeline_destroy(world.tl);
}

static void print_streams(uint64_t seed)
{
	static const double loads[] = { 0.85, 0.90, 0.95 };

	printf("\n| load | placed by | whole free blocks | nodes in use | mean wait, min | of up to %d nodes | of %d and more | "
	       "not in segments | waiting at the end |%s\n|---|---|---|---|---|---|---|---|---|%s\n", SMALL, LARGE,
	       world.clos ? " leaf switches of a wide job | pods of a wide job |" : "", world.clos ? "---|---|" : "");
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		for (int w = 0; w < WAYS; w++) {
			make_jobs(seed, loads[i]);
			reset_jobs();
			stream(w);
			print_stream(w, loads[i]);
			sl_timeline_destroy(world.tl);
		}
}

int main(int argc, char **argv)
{
	uint64_t seed;

	if (argc > 1 && !strcmp(argv[1], "--clos")) {
		world.clos = true;
		argc--;
		argv++;
	}
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	world.jobs = argc > 1 ? (uint32_t) atoi(argv[1]) : 4000;
	if (argc > 3 || world.jobs < 2 * WAITING) {
		fprintf(stderr, "usage: bench/blocks [--clos] [JOBS [SEED]], JOBS from %d\n", 2 * WAITING);
		return 2;
	}
	describe_machine();
	world.job = calloc(world.jobs, sizeof(*world.job));
	world.queue = calloc(world.jobs, sizeof(*world.queue));
	world.end = calloc(world.jobs, sizeof(*world.end));
	must(world.job && world.queue && world.end, &(struct sl_error) { SL_ENOMEM, "out of memory" });
	make_jobs(seed, 0.9);
	print_decisions();
	print_streams(seed);
	for (uint32_t i = 0; i < world.jobs; i++)
		sl_layout_free(&world.job[i].layout);
	free(world.job);
	free(world.queue);
	free(world.end);
	return 0;
}
