/* SPDX-License-Identifier: MIT */
/*
 * blocks.c - what placement in blocks is worth, and what it costs.
 *
 *	bench/blocks [--clos] [--load PERCENT [--print | --from FILE]] [JOBS [SEED]]
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
 * other the block with the fewest nodes that are enough, of equals the last.  The model is no slurmctld: bench/blocks-live has one.
 *
 * What if, on racks: the model knew when jobs really end; while a large job waits, small ones waited for room in racks that are in
 * use, for up to six hours; large jobs came first; or all that runs could be packed anew at any time, for nothing, which no scheduler can.
 * "At most" says how many racks could be whole if what runs were packed anew at that moment (blocks_bound.h).
 *
 * --load: the second table for that load alone; --print: its jobs in place of it, --from: it for such jobs from a file.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "bench/blocks_bound.h"
#include "bench/blocks_world.h"
#include "bench/measure.h"

#define PODS 8
#define WIDE 24			/* jobs that no leaf switch holds */
#define LARGE 72
#define HOLD (6 * 3600)
#define DEPTH 500		/* jobs that a cycle looks at */
#define ROUNDS 21
#define WAITING 500

static const char name[] = "blocks";

static const struct way way[] = {
	{ .word = "blocks, with segments", .method = SL_PLACE_BLOCKS, .segments = true },
	{ .word = "segment by segment (model)", .segments = true, .model = true },
	{ .word = "the model, ends known", .segments = true, .model = true, .ends_known = true },
	{ .word = "blocks, small wait", .method = SL_PLACE_BLOCKS, .segments = true, .holds = true },
	{ .word = "blocks, large first", .method = SL_PLACE_BLOCKS, .segments = true, .large_first = true },
	{ .word = "blocks, large first, small wait", .method = SL_PLACE_BLOCKS, .segments = true, .holds = true, .large_first = true },
	{ .word = "moved at will", .segments = true, .moves = true },
	{ .word = "moved at will, large first", .segments = true, .moves = true, .large_first = true },
	{ .word = "blocks, no segments", .method = SL_PLACE_BLOCKS },
	{ .word = "bestfit, no segments", .method = SL_PLACE_BESTFIT },
};
#define WAYS (int) (sizeof(way) / sizeof(*way))

struct world world;

static bool ends_before(const void *none, const struct end *a, const struct end *b)
{
	(void) none;
	return a->t != b->t ? a->t < b->t : a->job < b->job;
}

SL_HEAP(ends, struct end, const void *, ends_before)

void blocks_must(bool could, struct sl_error *err)
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
	j.limit = (j.limit + 59) / 60 * 60;	/* as Slurm's are */
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

/* -- a cycle of EASY ---------------------------------------------------------- */

static void set_on(struct job *j)
{
	memset(j->on, 0, sizeof(j->on));
	for (uint32_t s = 0; s < j->layout.shares; s++)
		for (uint32_t n = sl_nodeset_next(&j->layout.share[s].nodes, 0); n < SL_MAX_NODES;
		     n = sl_nodeset_next(&j->layout.share[s].nodes, n + 1))
			j->on[world.leaf_of[n]]++;
}

/* Counts a job that is in pieces that are no multiple of its segment, and the leaf switches and pods of a wide one. */
static void count_pieces(const struct job *j)
{
	uint32_t racks = 0;
	bool broken = false, in_pod[PODS] = { false };

	for (uint32_t r = 0; r < world.racks; r++) {
		broken |= j->on[r] % j->segment != 0;
		racks += j->on[r] > 0;
		in_pod[r * PODS / world.racks] |= j->on[r] > 0;
	}
	world.broken_up += broken;
	if (j->nodes < WIDE)
		return;
	world.wide++;
	world.wide_racks += racks;
	for (int p = 0; p < PODS; p++)
		world.wide_pods += in_pod[p];
}

static bool large_waits(void)
{
	for (uint32_t i = 0; i < world.queued; i++)
		if (world.job[world.queue[i]].nodes >= LARGE)
			return true;
	return false;
}

/* A small job that has not waited for long, and would be the first in a rack. */
static bool should_hold(const struct job *j, int64_t now, const struct sl_layout *l)
{
	if (j->nodes >= SMALL || now - j->submit >= HOLD)
		return false;
	for (uint32_t s = 0; s < l->shares; s++)
		for (uint32_t n = sl_nodeset_next(&l->share[s].nodes, 0); n < SL_MAX_NODES;
		     n = sl_nodeset_next(&l->share[s].nodes, n + 1))
			if (!world.busy[world.leaf_of[n]])
				return true;
	return false;
}

/* Large jobs before others; beside each other as they came. */
static void put_large_first(void)
{
	for (uint32_t i = 1; i < world.queued; i++) {
		uint32_t number = world.queue[i], k = i;

		for (; k && world.job[number].nodes >= LARGE && world.job[world.queue[k - 1]].nodes < LARGE; k--)
			world.queue[k] = world.queue[k - 1];
		world.queue[k] = number;
	}
}

static void start_job(int w, uint32_t number, int64_t now, const struct sl_layout *l)
{
	struct job *j = &world.job[number];
	struct sl_error err = { 0 };

	if (!way[w].moves)
		blocks_must(!sl_layout_book(world.tl, l, now, now + j->limit, &err), &err);
	for (uint32_t s = 0; s < l->shares; s++)
		for (uint32_t i = 0; i < l->share[s].nodes.runs; i++)
			blocks_must(!sl_layout_add(&j->layout, l->share[s].nodes.run[i].first, l->share[s].nodes.run[i].last,
					    l->share[s].tasks, &l->share[s].each, &err), &err);
	j->started = true;
	j->start = now;
	set_on(j);
	for (uint32_t r = 0; r < world.racks; r++)
		world.busy[r] += j->on[r];
	count_pieces(j);
	world.end[world.ending] = (struct end) { now + j->run, number };
	ends_sift_up(NULL, world.end, world.ending++);
}

/* Starts what can start.  The reservation of the first that cannot lasts for the cycle alone. */
static void cycle(int w, int64_t now)
{
	struct sl_layout l = SL_LAYOUT_EMPTY, head = SL_LAYOUT_EMPTY;
	uint32_t kept = 0, looked = world.queued < DEPTH ? world.queued : DEPTH;
	struct sl_error err = { 0 };
	bool holds;

	world.head = NULL;
	if (way[w].large_first)
		put_large_first();
	holds = way[w].holds && large_waits();

	for (uint32_t i = 0; i < looked; i++) {
		const struct job *j = &world.job[world.queue[i]];

		if (blocks_fit_now(&way[w], j, now, &l) > 0) {
			if (!holds || !should_hold(j, now, &l))
				start_job(w, world.queue[i], now, &l);
			else
				world.queue[kept++] = world.queue[i];
			continue;
		}
		if (!world.head) {
			world.head_at = blocks_fit_later(&way[w], j, now, &head);
			world.head = j;
			blocks_must(!sl_layout_book(world.tl, &head, world.head_at, world.head_at + j->limit, &err), &err);
		}
		world.queue[kept++] = world.queue[i];
	}
	memmove(&world.queue[kept], &world.queue[looked], (world.queued - looked) * sizeof(*world.queue));
	world.queued -= looked - kept;
	if (world.head)
		blocks_must(!sl_layout_unbook(world.tl, &head, world.head_at, world.head_at + world.head->limit, &err), &err);
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
	blocks_must(world.tl != NULL, &err);
	sl_timeline_tree(world.tl, &world.tree);
	memset(world.busy, 0, sizeof(world.busy));
	world.queued = world.ending = 0;
	world.whole = world.at_most = world.busy_nodes = world.seconds = 0;
	world.broken_up = world.wide = world.wide_racks = world.wide_pods = 0;
}

/* If racks are of one size and jobs in segments, also how many racks could be whole if all that runs were packed anew. */
static void count_time(int w, int64_t now, int64_t seconds)
{
	uint32_t count[BLOCKS_LARGEST + 1], whole = 0, busy = 0;

	for (uint32_t r = 0; r < world.racks; r++) {
		whole += !world.busy[r];
		busy += world.busy[r];
	}
	if (way[w].segments && !world.clos) {
		blocks_count_running(now, now, count);
		world.at_most += (double) (world.racks - blocks_at_least(count, SMALL)) * (double) seconds;
		if (way[w].moves) {
			whole = world.racks - blocks_enough(count, SMALL);
			for (uint32_t s = 1; s <= SMALL; s++)
				busy += s * count[s];
		}
	}
	world.whole += (double) whole * (double) seconds;
	world.busy_nodes += (double) busy * (double) seconds;
	world.seconds += (double) seconds;
}

static void end_job(int w, int64_t now)
{
	struct job *j = &world.job[world.end[0].job];
	struct sl_error err = { 0 };

	ends_drop_first(NULL, world.end, &world.ending);
	for (uint32_t r = 0; r < world.racks; r++)
		world.busy[r] -= j->on[r];
	if (!way[w].moves && j->start + j->limit > now)
		blocks_must(!sl_layout_unbook(world.tl, &j->layout, now, j->start + j->limit, &err), &err);
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
			count_time(w, now, t - now);
		now = t;
		blocks_must(!sl_timeline_advance(world.tl, now, &err), &err);
		while (world.ending && world.end[0].t <= now)
			end_job(w, now);
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
	printf("| %.0f %% | %s | %.2f |", load * 100, way[w].word, world.whole / world.seconds);
	if (!world.clos && way[w].segments)
		printf(" %.2f |", world.at_most / world.seconds);
	else if (!world.clos)
		printf(" |");
	printf(" %.1f %% | %.0f | %.0f | %.0f | %" PRIu64 " | %" PRIu32 " |", 100 * world.busy_nodes / world.seconds / world.nodes,
	       mean_wait(1, world.nodes), mean_wait(1, SMALL), mean_wait(LARGE, world.nodes), world.broken_up, world.queued);
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

		if (used + j->nodes > world.nodes * 93 / 100 || blocks_fit_now(&way[0], j, 0, &l) <= 0)
			continue;
		start_job(0, i, 0, &l);
		used += j->nodes;
	}
	/* every third job has ended: blocks that are used in part */
	for (uint32_t i = 0, k = 0; i < world.jobs; i++) {
		struct job *j = &world.job[i];
		struct sl_error err = { 0 };

		if (j->started && ++k % 3 == 0 && j->nodes < SMALL)
			blocks_must(!sl_layout_unbook(world.tl, &j->layout, 0, j->limit, &err), &err);
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

/* Not what if, for comparison. */
static bool is_way_to_place(int w)
{
	return !way[w].ends_known && !way[w].holds && !way[w].large_first && !way[w].moves;
}

static void print_decisions(void)
{
	double ms[WAYS][ROUNDS], base;

	fill_machine();
	for (int round = 0; round < ROUNDS; round++)
		for (int w = 0; w < WAYS; w++)
			ms[w][round] = is_way_to_place(w) ? time_cycle(w) : 0;
	base = median(ms[WAYS - 1], ROUNDS);
	printf("| placed by | CPU ms, 500 pending | beside bestfit |\n|---|---|---|\n");
	for (int w = 0; w < WAYS; w++)
		if (is_way_to_place(w))
			printf("| %s | %.2f | %.2f |\n", way[w].word, median(ms[w], ROUNDS), median(ms[w], ROUNDS) / base);
	sl_timeline_destroy(world.tl);
}

static void print_streams(const char *from, uint64_t seed, const double *loads, size_t count)
{
	printf("\n| load | placed by | whole free blocks |%s nodes in use | mean wait, min | of up to %d nodes | of %d and more | "
	       "not in segments | waiting at the end |%s\n|---|---|---|---|---|---|---|---|---|%s\n", world.clos ? "" : " at most |",
	       SMALL, LARGE, world.clos ? " leaf switches of a wide job | pods of a wide job |" : "", world.clos ? "---|---|" : "---|");
	for (size_t i = 0; i < count; i++)
		for (int w = 0; w < WAYS; w++) {
			if (world.clos && !is_way_to_place(w))
				continue;
			if (!from)
				make_jobs(seed, loads[i]);
			reset_jobs();
			stream(w);
			print_stream(w, loads[i]);
			sl_timeline_destroy(world.tl);
		}
}

/* The jobs of a file, as print_jobs() writes them. */
static void read_jobs(const char *path)
{
	FILE *f = fopen(path, "re");
	uint32_t n = 0;
	struct job j = { 0 };

	blocks_must(f != NULL, &(struct sl_error) { SL_EINVAL, "there is no such file of jobs" });
	while (fscanf(f, "%" SCNd64 "%" SCNu32 "%" SCNu32 "%" SCNd64 "%" SCNd64, &j.submit, &j.nodes, &j.segment, &j.limit, &j.run) == 5) {
		bool known = j.segment && j.segment <= SMALL && j.nodes % j.segment == 0 && j.nodes <= world.nodes;

		blocks_must(known, &(struct sl_error) { SL_EINVAL, "a job of the file has no segments of up to 18 nodes" });
		if (n == world.jobs) {
			world.jobs = world.jobs ? 2 * world.jobs : 1024;
			world.job = realloc(world.job, world.jobs * sizeof(*world.job));
			blocks_must(world.job != NULL, &(struct sl_error) { SL_ENOMEM, "out of memory" });
		}
		j.limit *= 60;
		world.job[n++] = j;
	}
	fclose(f);
	world.jobs = n;
}

/* The stream for somebody else: when it comes, nodes, of a segment, walltime and run time. */
static void print_jobs(uint64_t seed, double load)
{
	make_jobs(seed, load);
	for (uint32_t i = 0; i < world.jobs; i++) {
		const struct job *j = &world.job[i];

		printf("%" PRId64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\n", j->submit, j->nodes, j->segment,
		       j->limit / 60, j->run);
	}
}

static int usage(void)
{
	fprintf(stderr, "usage: bench/blocks [--clos] [--load PERCENT [--print | --from FILE]] [JOBS [SEED]], JOBS from %d without --load\n",
		2 * WAITING);
	return 2;
}

struct options {
	const char *from;
	double load;
	bool print;
	uint64_t seed;
};

static bool parse_options(int argc, char **argv, struct options *o)
{
	*o = (struct options) { .seed = 1 };
	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		if (!strcmp(argv[1], "--clos")) {
			world.clos = true;
		} else if (!strcmp(argv[1], "--print")) {
			o->print = true;
		} else if (argc > 2 && (!strcmp(argv[1], "--load") || !strcmp(argv[1], "--from"))) {
			if (argv[1][2] == 'l')
				o->load = strtod(argv[2], NULL) / 100;
			else
				o->from = argv[2];
			argc--;
			argv++;
		} else {
			return false;
		}
	}
	o->seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	world.jobs = argc > 1 ? (uint32_t) atoi(argv[1]) : 4000;
	if (!(o->load > 0))
		return argc <= 3 && world.jobs >= 2 * WAITING && !o->print && !o->from;
	return argc <= (o->from ? 1 : 3) && world.jobs >= 10 && !(o->print && o->from);
}

int main(int argc, char **argv)
{
	struct options o;

	if (!parse_options(argc, argv, &o))
		return usage();
	describe_machine();
	if (o.from) {
		world.jobs = 0;
		read_jobs(o.from);
	} else {
		world.job = calloc(world.jobs, sizeof(*world.job));
	}
	world.queue = calloc(world.jobs, sizeof(*world.queue));
	world.end = calloc(world.jobs, sizeof(*world.end));
	blocks_must(world.job && world.queue && world.end, &(struct sl_error) { SL_ENOMEM, "out of memory" });
	if (o.print) {
		print_jobs(o.seed, o.load);
	} else if (o.load > 0) {
		print_streams(o.from, o.seed, &o.load, 1);
	} else {
		make_jobs(o.seed, 0.9);
		print_decisions();
		print_streams(NULL, o.seed, (const double[]) { 0.85, 0.90, 0.95 }, 3);
	}
	for (uint32_t i = 0; i < world.jobs; i++)
		sl_layout_free(&world.job[i].layout);
	free(world.job);
	free(world.queue);
	free(world.end);
	return 0;
}
