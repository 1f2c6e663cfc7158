/* SPDX-License-Identifier: MIT */
/* test_gpus_now.c - GPUs and blocks as they are now: machines worked out by hand, and random ones counted GPU by GPU */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "tool/blocks_now.h"
#include "tool/gpus_now.h"

/* -- snapshots from JSON ------------------------------------------------------- */

struct machine {
	struct sl_builder *builder;
	struct sl_snapshot snap;
};

static void machine_open(struct machine *m, const char *text)
{
	struct sl_error err = { 0 };
	const void *bytes;
	size_t size;

	m->builder = sl_builder_create(&sl_snapshot_schema, &err);
	assert_non_null(m->builder);
	if (sl_builder_from_json(m->builder, "test", text, strlen(text), &err) || sl_builder_finish(m->builder, &bytes, &size, &err) ||
	    sl_snapshot_open(&m->snap, bytes, size, &err))
		fail_msg("%s\n%s", err.text, text);
}

static void machine_close(struct machine *m)
{
	sl_builder_destroy(m->builder);
}

static struct sl_gpus_now read_gpus(const struct machine *m, const bool *shown)
{
	struct sl_gpus_now g;
	struct sl_error err = { 0 };

	assert_int_equal(sl_gpus_now_read(&g, &m->snap, shown, &err), 0);
	return g;
}

static const char *said(const struct sl_gpu_sort *sort)
{
	static char text[200];

	return sl_gpus_now_say(sort, text, sizeof(text));
}

#define HEAD "{ \"meta\": { \"now\": 1000 }, \"gres_kinds\": [{ \"key\": \"gpu:a\", \"name\": \"gpu\", \"type\": \"a\" }," \
	"{ \"key\": \"gpu:b\", \"name\": \"gpu\", \"type\": \"b\" }, { \"key\": \"shard\", \"name\": \"shard\" }],"
#define FOUR_A "\"gres\": [{ \"kind\": \"gpu:a\", \"count\": 4 }]"
#define HOLDS(node, cores, kind, count) "{ \"node\": \"" node "\", \"cores\": " cores ", \"gres\": [{ \"kind\": \"" kind "\", \"count\": " count " }] }"
#define RUNS(id, allocs) "{ \"id\": " id ", \"state\": \"RUNNING\", \"partition\": \"p\", \"alloc\": [" allocs "] }"
#define WANTS(id, gpus) "{ \"id\": " id ", \"partition\": \"p\", \"gres\": [{ \"name\": \"gpu\", \"count\": " gpus ", \"per\": \"node\" }] }"

/* -- by hand ---------------------------------------------------------------------- */

static void free_gpus_that_lie_apart_are_said_to(void **state)
{
	struct machine m;
	struct sl_gpus_now g;

	(void) state;
	machine_open(&m, HEAD "\"nodes\": [{ \"name\": \"n1\", \"cores\": 8, " FOUR_A " }, { \"name\": \"n2\", \"cores\": 8, " FOUR_A " },"
		     "{ \"name\": \"n3\", \"cores\": 8 }], \"partitions\": [{ \"name\": \"p\", \"nodes\": \"n[1-3]\" }],"
		     "\"jobs\": [" RUNS("1", HOLDS("n1", "3", "gpu:a", "3") "," HOLDS("n2", "3", "gpu:a", "3")) "," WANTS("2", "2") "],"
		     "\"queue\": [{ \"job\": 2, \"partition\": \"p\" }] }");
	g = read_gpus(&m, NULL);
	assert_int_equal(g.sorts, 1);
	assert_string_equal(g.sort[0].type, "a");
	assert_int_equal(g.all.all, 8);
	assert_int_equal(g.all.used, 6);
	assert_string_equal(said(&g.all), "2 free on 2 nodes, at most 1 on one");
	assert_int_equal(g.all.most_nodes, 2);
	assert_int_equal(g.waiting, 1);
	assert_int_equal(g.no_use, 2);
	sl_gpus_now_clear(&g);
	machine_close(&m);
}

static void a_job_of_one_gpu_is_of_use_to_a_gpu_alone(void **state)
{
	struct machine m;
	struct sl_gpus_now g;

	(void) state;
	machine_open(&m, HEAD "\"nodes\": [{ \"name\": \"n1\", \"cores\": 8, " FOUR_A " }, { \"name\": \"n2\", \"cores\": 8, " FOUR_A " }],"
		     "\"partitions\": [{ \"name\": \"p\", \"nodes\": \"n[1-2]\" }, { \"name\": \"q\", \"nodes\": \"n2\" }],"
		     "\"jobs\": [" RUNS("1", HOLDS("n1", "3", "gpu:a", "3") "," HOLDS("n2", "8", "gpu:a", "3")) "," WANTS("2", "1") "," WANTS("3", "2") "],"
		     "\"queue\": [{ \"job\": 2, \"partition\": \"p\" }, { \"job\": 3, \"partition\": \"q\" }, { \"job\": 2, \"partition\": \"q\" }] }");
	g = read_gpus(&m, NULL);
	assert_int_equal(g.waiting, 2);
	assert_int_equal(g.no_use, 1);		/* that of n2, which has no core */
	assert_int_equal(g.all.coreless, 1);
	assert_string_equal(said(&g.all), "2 free on 2 nodes, at most 1 on one with a free core");
	sl_gpus_now_clear(&g);
	g = read_gpus(&m, (bool[]) { false, true });
	assert_int_equal(g.all.all, 4);
	assert_int_equal(g.waiting, 2);
	assert_string_equal(said(&g.all), "1 free on 1 node, none beside a free core");
	sl_gpus_now_clear(&g);
	machine_close(&m);
}

static void a_job_that_no_node_could_hold_is_looked_at_node_by_node(void **state)
{
	struct machine m;
	struct sl_gpus_now g;

	(void) state;
	/* 16 CPUs wherever they are: on two nodes at the fewest, 8 on each; and 6 GPUs, 3 on each, of which one node has 2 left */
	machine_open(&m, HEAD "\"nodes\": [{ \"name\": \"n1\", \"cores\": 8, " FOUR_A " }, { \"name\": \"n2\", \"cores\": 8, " FOUR_A " }],"
		     "\"partitions\": [{ \"name\": \"p\", \"nodes\": \"n[1-2]\" }],"
		     "\"jobs\": [" RUNS("1", HOLDS("n1", "0", "gpu:a", "2")) ",{ \"id\": 2, \"partition\": \"p\", \"min_cpus\": 16,"
		     "\"gres\": [{ \"name\": \"gpu\", \"count\": 6, \"per\": \"job\" }] }], \"queue\": [{ \"job\": 2, \"partition\": \"p\" }] }");
	g = read_gpus(&m, NULL);
	assert_int_equal(g.all.free, 6);
	assert_int_equal(g.no_use, 2);
	sl_gpus_now_clear(&g);
	machine_close(&m);
}

static void types_of_one_name_and_shares_are_told_apart(void **state)
{
	struct machine m;
	struct sl_gpus_now g;

	(void) state;
	machine_open(&m, HEAD "\"nodes\": [{ \"name\": \"n1\", \"cores\": 8, \"gres\": [{ \"kind\": \"gpu:a\", \"count\": 2 },"
		     "{ \"kind\": \"gpu:b\", \"count\": 4 }, { \"kind\": \"shard\", \"count\": 16, \"share\": \"gpu:b\" }] },"
		     "{ \"name\": \"n2\", \"cores\": 8, \"state\": [\"DRAIN\"], " FOUR_A " }], \"partitions\": [{ \"name\": \"p\", \"nodes\": \"n[1-2]\" }],"
		     "\"jobs\": [" RUNS("1", HOLDS("n1", "1", "gpu:a", "1") "," HOLDS("n2", "1", "gpu:a", "1")) ","
		     "{ \"id\": 2, \"state\": \"RUNNING\", \"partition\": \"p\", \"alloc\": [{ \"node\": \"n1\", \"cores\": 1, \"gres\":"
		     " [{ \"kind\": \"shard\", \"of\": \"gpu:b\", \"count\": 1, \"devices\": 4 }] }] },"
		     "{ \"id\": 3, \"state\": \"RUNNING\", \"partition\": \"p\", \"alloc\": [{ \"node\": \"n1\", \"cores\": 1, \"gres\":"
		     " [{ \"kind\": \"shard\", \"of\": \"gpu:b\", \"count\": 2, \"devices\": 4 }] }] },"
		     "{ \"id\": 4, \"partition\": \"p\", \"gres\": [{ \"name\": \"gpu\", \"type\": \"a\", \"count\": 2, \"per\": \"node\" }] }],"
		     "\"queue\": [{ \"job\": 4, \"partition\": \"p\" }] }");
	g = read_gpus(&m, NULL);
	assert_int_equal(g.sorts, 2);
	assert_int_equal(g.sort[0].all, 6);
	assert_int_equal(g.sort[0].used, 2);
	assert_int_equal(g.sort[0].off, 3);
	assert_int_equal(g.sort[0].free, 1);
	assert_int_equal(g.sort[1].all, 4);
	assert_int_equal(g.sort[1].used, 1);
	assert_int_equal(g.sort[1].shared, 1);
	assert_string_equal(said(&g.sort[1]), "3 free on 1 node");
	assert_int_equal(g.all.free, 4);
	assert_int_equal(g.all.free_nodes, 1);
	assert_int_equal(g.all.most, 4);
	assert_int_equal(g.no_use, 4);		/* two of type a are wanted */
	sl_gpus_now_clear(&g);
	machine_close(&m);
}

static void a_machine_without_gpus_has_nothing_of_them(void **state)
{
	struct machine m;
	struct sl_gpus_now g;

	(void) state;
	machine_open(&m, "{ \"meta\": { \"now\": 1000 }, \"nodes\": [{ \"name\": \"n1\", \"cores\": 8 }],"
		     "\"partitions\": [{ \"name\": \"p\", \"nodes\": \"n1\" }], \"jobs\": [{ \"id\": 1, \"partition\": \"p\" }] }");
	g = read_gpus(&m, NULL);
	assert_int_equal(g.sorts, 0);
	assert_int_equal(g.all.all, 0);
	assert_string_equal(said(&g.all), "none free");
	sl_gpus_now_clear(&g);
	machine_close(&m);
}

/* -- random ones ------------------------------------------------------------------ */

#define NODES_MOST 6
#define KINDS 2

/* A node as a row of GPUs; 'f' is free, 'h' held, 's' shared. */
struct toy {
	uint32_t cores, held_cores;
	bool down, in_q;		/* in_q: of the second partition, too */
	uint32_t count[KINDS];
	char gpu[KINDS][5];
};

struct ask {
	uint32_t cpus, gpus;
	int kind;			/* -1: any */
	bool q;
};

static void draw_node(struct toy *n, FILE *nodes, FILE *allocs, int row)
{
	static const char *const word[KINDS] = { "gpu:a", "gpu:b" };
	const char *between = "";

	*n = (struct toy) { .cores = 1 + below(4), .down = one_in(5), .in_q = one_in(2) };
	n->held_cores = below(n->cores + 1);
	fprintf(nodes, "%s{ \"name\": \"n%d\", \"cores\": %u%s, \"gres\": [", row ? "," : "", row, n->cores, n->down ? ", \"state\": [\"DOWN\"]" : "");
	fprintf(allocs, "%s{ \"node\": \"n%d\", \"cores\": %u, \"gres\": [", row ? "," : "", row, n->held_cores);
	for (int k = 0; k < KINDS; k++) {
		uint32_t held, shared = 0;

		n->count[k] = one_in(3) ? 0 : 1 + below(4);
		held = below(n->count[k] + 1);
		memset(n->gpu[k], 'f', n->count[k]);
		memset(n->gpu[k], 'h', held);
		if (!n->count[k])
			continue;
		if (k == 1 && held < n->count[k] && one_in(2))
			n->gpu[k][(shared = held)] = 's';
		fprintf(nodes, "%s{ \"kind\": \"%s\", \"count\": %u }", k && n->count[0] ? "," : "", word[k], n->count[k]);
		if (k == 1)
			fprintf(nodes, ", { \"kind\": \"shard\", \"count\": %u, \"share\": \"gpu:b\" }", 4 * n->count[k]);
		if (held)
			fprintf(allocs, "%s{ \"kind\": \"%s\", \"count\": %u }", between, word[k], held), between = ",";
		if (memchr(n->gpu[k], 's', n->count[k]))	/* which of them it is may not be known */
			fprintf(allocs, "%s{ \"kind\": \"shard\", \"of\": \"gpu:b\", \"count\": %u, \"devices\": %u }", between, 1 + below(4),
				one_in(2) ? 0 : 1u << shared);
	}
	fputs("] }", nodes);
	fputs("] }", allocs);
}

static uint32_t count_of(const struct toy *n, int kind, char what)
{
	uint32_t found = 0;

	for (int k = 0; k < KINDS; k++)
		for (uint32_t i = 0; i < n->count[k] && (kind < 0 || k == kind); i++)
			found += n->gpu[k][i] == what;
	return found;
}

/* What is wanted of a node, where no node has so many cores. */
static void split(struct ask *a, const struct toy *n, uint32_t nodes)
{
	uint32_t most = 1, parts;

	for (uint32_t i = 0; i < nodes; i++)
		most = n[i].cores > most ? n[i].cores : most;
	parts = (a->cpus + most - 1) / most;
	a->cpus = (a->cpus + parts - 1) / parts;
}

static bool toy_fits(const struct toy *n, const struct ask *a)
{
	return (!a->q || n->in_q) && n->cores - n->held_cores >= a->cpus && count_of(n, a->kind, 'f') >= a->gpus;
}

static void expect_sort(const struct sl_gpu_sort *sort, const struct toy *n, uint32_t nodes, int kind)
{
	struct sl_gpu_sort want = { 0 };

	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t idle = count_of(&n[i], kind, 'f');
		bool has_core = n[i].cores > n[i].held_cores;

		want.shared += count_of(&n[i], kind, 's');
		want.used += count_of(&n[i], kind, 's') + count_of(&n[i], kind, 'h');
		want.off += n[i].down ? idle : 0;
		want.free += n[i].down ? 0 : idle;
		want.free_nodes += !n[i].down && idle;
		want.coreless += n[i].down || has_core ? 0 : idle;
		if (!n[i].down && has_core && idle > want.most)
			want.most = idle;
	}
	for (uint32_t i = 0; i < nodes && want.most; i++)
		want.most_nodes += !n[i].down && n[i].cores > n[i].held_cores && count_of(&n[i], kind, 'f') == want.most;
	assert_int_equal(sort->all, want.used + want.off + want.free);
	assert_int_equal(sort->used, want.used);
	assert_int_equal(sort->shared, want.shared);
	assert_int_equal(sort->off, want.off);
	assert_int_equal(sort->free, want.free);
	assert_int_equal(sort->free_nodes, want.free_nodes);
	assert_int_equal(sort->coreless, want.coreless);
	assert_int_equal(sort->most, want.most);
	assert_int_equal(sort->most_nodes, want.most_nodes);
}

static void draw_asks(struct ask *ask, uint32_t asks, FILE *jobs, FILE *queue)
{
	for (uint32_t i = 0; i < asks; i++) {
		ask[i] = (struct ask) { .cpus = 1 + below(4), .gpus = 1 + below(4), .kind = (int) below(KINDS + 1) - 1, .q = one_in(2) };
		fprintf(jobs, ", { \"id\": %u, \"partition\": \"%s\", \"min_cpus\": %u, \"gres\": [{ \"name\": \"gpu\", \"type\": \"%s\", \"count\": %u,"
			" \"per\": \"node\" }] }", i + 2, ask[i].q ? "q" : "p", ask[i].cpus, ask[i].kind < 0 ? "" : ask[i].kind ? "b" : "a", ask[i].gpus);
		fprintf(queue, "%s{ \"job\": %u, \"partition\": \"%s\" }", i ? "," : "", i + 2, ask[i].q ? "q" : "p");
	}
}

static void check_random(void)
{
	uint32_t nodes = 1 + below(NODES_MOST), asks = below(4), no_use = 0, sort = 0;
	char *part[5], *text, in_q[100] = "n0";
	struct ask ask[4];
	struct toy toy[NODES_MOST];
	struct sl_gpus_now g;
	struct machine m;
	size_t size;
	FILE *f[4];

	for (int i = 0; i < 4; i++)
		f[i] = open_memstream(&part[i], &size);
	for (uint32_t i = 0; i < nodes; i++)
		draw_node(&toy[i], f[0], f[1], (int) i);
	toy[0].in_q = true;
	for (uint32_t i = 1; i < nodes; i++)
		if (toy[i].in_q)
			snprintf(in_q + strlen(in_q), sizeof(in_q) - strlen(in_q), ",n%u", i);
	draw_asks(ask, asks, f[2], f[3]);
	for (int i = 0; i < 4; i++)
		fclose(f[i]);
	assert_true(asprintf(&text, HEAD "\"nodes\": [%s], \"partitions\": [{ \"name\": \"p\", \"nodes\": \"n[0-%u]\" }, { \"name\": \"q\", \"nodes\": \"%s\" }],"
		    "\"jobs\": [{ \"id\": 1, \"state\": \"RUNNING\", \"partition\": \"p\", \"alloc\": [%s] }%s], \"queue\": [%s] }",
		    part[0], nodes - 1, in_q, part[1], part[2], part[3]) > 0);
	machine_open(&m, text);
	g = read_gpus(&m, NULL);
	expect_sort(&g.all, toy, nodes, -1);
	for (uint32_t i = 0; i < g.sorts; i++)
		expect_sort(&g.sort[i], toy, nodes, *g.sort[i].type == 'b');
	for (uint32_t a = 0; a < asks; a++)
		split(&ask[a], toy, nodes);
	for (uint32_t i = 0; i < nodes; i++) {
		bool of_use = toy[i].down;

		for (uint32_t a = 0; a < asks; a++)
			of_use |= toy_fits(&toy[i], &ask[a]);
		no_use += of_use ? 0 : count_of(&toy[i], -1, 'f');
		sort |= (toy[i].count[0] > 0) | (toy[i].count[1] > 0) << 1;
	}
	assert_int_equal(g.no_use, no_use);
	assert_int_equal(g.waiting, g.sorts ? asks : 0);
	assert_int_equal(g.sorts, (sort & 1) + (sort >> 1));
	sl_gpus_now_clear(&g);
	machine_close(&m);
	for (int i = 0; i < 4; i++)
		free(part[i]);
	free(text);
}

static void random_machines_counted_gpu_by_gpu(void **state)
{
	(void) state;
	for (uint64_t seed = number_from("SL_SEED", 1), end = seed + rounds_of(2000); seed < end; seed++) {
		failing_seed = random_state = seed;
		check_random();
	}
	failing_seed = 0;
}

/* -- blocks ----------------------------------------------------------------------- */

static void blocks_are_whole_if_all_their_nodes_are_up_and_without_a_job(void **state)
{
	static const uint32_t used[] = { 0, 4, 0, 0, 0, 0, 0 };
	struct sl_error err = { 0 };
	struct sl_blocks_now b;
	struct machine m;

	(void) state;
	machine_open(&m, "{ \"meta\": { \"now\": 1000 }, \"nodes\": [{ \"name\": \"n0\", \"topology\": \"r.x\" }, { \"name\": \"n1\", \"topology\": \"r.y\" },"
		     "{ \"name\": \"n2\", \"topology\": \"r.x\" }, { \"name\": \"n3\", \"topology\": \"r.y\" }, { \"name\": \"n4\", \"topology\": \"r.z\", \"state\": [\"DOWN\"] },"
		     "{ \"name\": \"n5\" }, { \"name\": \"n6\", \"topology\": \"r.z\" }] }");
	assert_int_equal(sl_blocks_now_read(&b, &m.snap, used, &err), 0);
	assert_int_equal(b.blocks, 3);
	assert_int_equal(b.whole, 1);
	assert_string_equal(b.block[0].name, "x");
	assert_int_equal(b.block[0].nodes, 2);
	assert_int_equal(b.block[1].busy, 1);
	assert_int_equal(b.block[2].off, 1);
	assert_int_equal(b.of[2], 0);
	assert_int_equal(b.of[5], SL_NONE);
	sl_blocks_now_clear(&b);
	machine_close(&m);
}

static void one_block_is_none(void **state)
{
	static const uint32_t used[] = { 0, 0 };
	struct sl_error err = { 0 };
	struct sl_blocks_now b;
	struct machine m;

	(void) state;
	machine_open(&m, "{ \"meta\": { \"now\": 1000 }, \"nodes\": [{ \"name\": \"n0\", \"topology\": \"r\" }, { \"name\": \"n1\", \"topology\": \"r\" }] }");
	assert_int_equal(sl_blocks_now_read(&b, &m.snap, used, &err), 0);
	assert_int_equal(b.blocks, 0);
	assert_null(b.of);
	machine_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_gpus_that_lie_apart_are_said_to),
		cmocka_unit_test(a_job_of_one_gpu_is_of_use_to_a_gpu_alone),
		cmocka_unit_test(a_job_that_no_node_could_hold_is_looked_at_node_by_node),
		cmocka_unit_test(types_of_one_name_and_shares_are_told_apart),
		cmocka_unit_test(a_machine_without_gpus_has_nothing_of_them),
		cmocka_unit_test_teardown(random_machines_counted_gpu_by_gpu, say_seed),
		cmocka_unit_test(blocks_are_whole_if_all_their_nodes_are_up_and_without_a_job),
		cmocka_unit_test(one_block_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
