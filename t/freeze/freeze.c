/* SPDX-License-Identifier: MIT */
/*
 * freeze.c - what plans say, as one line of hashes a case: to see that a change of the planner changes no plan,
 * or which ones.
 *
 *	freeze [-f FIRST] [-n COUNT] [-x TABLE.COLUMN]... [-w WORKLOAD]... [FILE...]
 *
 * The cases are
 *	verbs SEED		a random policy (t/model/random_verb.h) on the random cluster of each seed from FIRST (1)
 *				on, COUNT (1000) of them
 *	POLICY SEED		a bundled policy on the same cluster
 *	POLICY FILE		easy and conservative on each snapshot (a FILE, binary or JSON; a recording's directory
 *				stands for all of its snapshots); files that are no snapshot are left out
 *	POLICY WORKLOAD		easy and conservative in the simulation of a workload, every pass of it
 *
 * A line is the case, then "TABLE:HASH" for each table of the plan that has rows. Times that were measured are left
 * out, and so are the columns named by -x. Two files of such lines are compared by t/freeze/compare.
 *
 *	freeze -p "CASE"	prints the plan of a case of a seed or a file as JSON
 *	freeze -s SEED		prints the random cluster of a seed as JSON
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/recording.h"
#include "script/decide.h"
#include "sim/sim.h"
#include "t/model/random_verb.h"

#define MAX_LEFT_OUT 64

static const char *left_out[MAX_LEFT_OUT] = { "meta.decide_us", "meta.total_us" };
static unsigned left_outs = 2;

/* Which policy decides about the cluster of a seed: cheap ones more often. */
static const char *const policies[] = { "easy", "easy", "easy", "easy", "conservative", "conservative", "conservative",
	"predictive", "predictive", "fcfs", "critical", "auction" };
#define POLICIES (sizeof(policies) / sizeof(policies[0]))
#define IP_WINDOW_EACH 50	/* seeds: it asks a solver, which takes its time */

static void give_up(const char *what, const struct sl_error *err)
{
	fprintf(stderr, "freeze: %s: %s\n", what, err->text);
	exit(1);
}

/* -- hashes --------------------------------------------------------------- */

static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t n)	/* FNV-1a */
{
	const unsigned char *c = bytes;

	while (n--)
		hash = (hash ^ *c++) * UINT64_C(0x100000001b3);
	return hash;
}

static bool is_left_out(const char *table, const char *column)
{
	char name[128];

	snprintf(name, sizeof(name), "%s.%s", table, column);
	for (unsigned i = 0; i < left_outs; i++)
		if (!strcmp(name, left_out[i]))
			return true;
	return false;
}

static uint64_t add_column(uint64_t hash, const struct sl_image *image, const struct sl_column *col, const void *view,
			   uint32_t rows)
{
	static const size_t size[] = { [SL_TYPE_u32] = 4, [SL_TYPE_i64] = 8, [SL_TYPE_f64] = 8, [SL_TYPE_ref] = 4,
				       [SL_TYPE_range] = 8 };
	const void *values;

	memcpy(&values, (const char *) view + col->view_offset, sizeof(values));
	hash = add_bytes(hash, col->name, strlen(col->name) + 1);
	if (col->type != SL_TYPE_str)
		return add_bytes(hash, values, rows * size[col->type]);
	for (uint32_t r = 0; r < rows; r++) {
		const char *text = sl_image_str(image, ((const uint32_t *) values)[r]);

		hash = add_bytes(hash, text, strlen(text) + 1);
	}
	return hash;
}

/* The hashes of a plan's tables, added to those of the plans before it. */
static void add_plan(uint64_t hash[SL_PLAN_TABLES], const struct sl_plan_image *plan)
{
	for (int t = 0; t < SL_PLAN_TABLES; t++) {
		const struct sl_table *table = &sl_plan_schema.table[t];
		const char *view = (const char *) plan + table->view_offset;
		uint32_t rows;

		memcpy(&rows, view, sizeof(rows));
		if (!rows)
			continue;
		if (!hash[t])
			hash[t] = UINT64_C(0xcbf29ce484222325);
		for (uint32_t c = 0; c < table->columns; c++)
			if (!is_left_out(table->name, table->column[c].name))
				hash[t] = add_column(hash[t], &plan->image, &table->column[c], view, rows);
	}
}

static void print_hashes(const char *who, const char *what, const uint64_t hash[SL_PLAN_TABLES])
{
	printf("%s %s", who, what);
	for (int t = 0; t < SL_PLAN_TABLES; t++)
		if (hash[t])
			printf(" %s:%08lx", sl_plan_schema.table[t].name, (unsigned long) (hash[t] ^ hash[t] >> 32) & UINT32_MAX);
	printf("\n");
}

static void print_plan(const char *who, const char *what, const struct sl_plan_image *plan, bool whole)
{
	uint64_t hash[SL_PLAN_TABLES] = { 0 };
	struct sl_error err = { 0 };

	if (whole && sl_image_to_json(&plan->image, plan, stdout, &err))
		give_up(what, &err);
	if (whole)
		return;
	add_plan(hash, plan);
	print_hashes(who, what, hash);
}

/* -- random clusters, and snapshots --------------------------------------- */

/* The set of a bundled policy, loaded once. */
static struct sl_bundle *bundle_of(const char *policy)
{
	static struct { const char *name; struct sl_bundle *bundle; } loaded[POLICIES + 1];
	struct sl_bundle_source source = { .policy = policy };
	struct sl_error err = { 0 };
	char *trace = NULL;
	unsigned i = 0;

	for (; loaded[i].name; i++)
		if (!strcmp(loaded[i].name, policy))
			return loaded[i].bundle;
	loaded[i].bundle = sl_bundle_load(&source, NULL, &trace, &err);
	if (!loaded[i].bundle)
		give_up(policy, &err);
	loaded[i].name = policy;
	return loaded[i].bundle;
}

static void decide(const char *policy, const char *what, const struct sl_snapshot *snap, bool whole)
{
	struct sl_limits none = { 0 };
	struct sl_decision d = { .forecasts = SL_FORECASTS, .forecast_us = INT64_MAX / 4 };
	struct sl_error err = { 0 };

	if (sl_decide(bundle_of(policy), snap, &none, 0, &d, &err))
		printf("%s %s no-plan: %s\n", policy, what, err.text);
	else if (d.check.code)
		printf("%s %s void: %s\n", policy, what, d.check.text);
	else
		print_plan(policy, what, &d.plan, whole);
	sl_decision_clear(&d);
}

static struct build *cluster_of(uint64_t seed, uint64_t *s)
{
	*s = seed;
	return build_random_cluster(seed, 2 + build_below(s, 6), 5 + build_below(s, 25));
}

static void freeze_verbs(uint64_t seed, const char *what, bool whole)
{
	uint64_t s;
	struct build *b = cluster_of(seed, &s);
	struct desk d = sit(b);

	for (uint32_t i = 5 + build_below(&s, 60); i > 0; i--)
		random_verb(&d, &s);
	print_plan("verbs", what, encode(&d, false), whole);
	leave(&d);
}

static void freeze_policy(const char *policy, uint64_t seed, const char *what, bool whole)
{
	uint64_t s;
	struct build *b = cluster_of(seed, &s);

	decide(policy, what, build_open(b), whole);
	build_destroy(b);
}

static void freeze_seed(uint64_t seed)
{
	char what[24];

	snprintf(what, sizeof(what), "%lu", (unsigned long) seed);
	freeze_verbs(seed, what, false);
	freeze_policy(policies[seed % POLICIES], seed, what, false);
	if (seed % IP_WINDOW_EACH == 0)
		freeze_policy("ip_window", seed, what, false);
}

static void freeze_snapshot(const char *path, const char *policy, bool whole)
{
	struct sl_error err = { 0 };
	struct sl_snapshot snap;
	void *bytes = NULL;
	size_t size;

	if (sl_image_load(&sl_snapshot_schema, path, &bytes, &size, &err) == 0 &&
	    sl_snapshot_open(&snap, bytes, size, &err) == 0)
		decide(policy, path, &snap, whole);
	free(bytes);
}

static void freeze_path(const char *path)
{
	struct sl_recording recording = { 0 };
	struct sl_error err = { 0 };
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		freeze_snapshot(path, "easy", false);
		freeze_snapshot(path, "conservative", false);
		return;
	}
	if (sl_recording_list(&recording, path, &err))
		give_up(path, &err);
	for (uint32_t i = 0; i < recording.count; i++)
		freeze_path(recording.path[i]);
	sl_recording_free(&recording);
}

/* -- simulations ----------------------------------------------------------- */

struct passes {
	struct sl_builder *image;
	uint64_t hash[SL_PLAN_TABLES];
};

static int add_pass(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err)
{
	struct passes *passes = arg;
	struct sl_plan_figures fig = { 0 };
	struct sl_plan_image plan;
	const void *bytes;
	size_t size;

	(void) c;
	sl_builder_reset(passes->image);
	if (sl_plan_encode(p, &fig, passes->image, err) || sl_builder_finish(passes->image, &bytes, &size, err) ||
	    sl_plan_image_open(&plan, bytes, size, err))
		return -1;
	add_plan(passes->hash, &plan);
	return 0;
}

static void freeze_workload(const char *name, const char *policy)
{
	struct sl_workload_options how = { .machine = access(name, R_OK) ? "16x8c2g" : NULL, .seed = 1 };
	struct sl_error err = { 0 };
	struct passes passes = { .image = sl_builder_create(&sl_plan_schema, &err) };
	struct sl_limits none = { 0 };
	struct sl_sim_options opt = { .limits = &none, .after_pass = add_pass, .after_pass_arg = &passes };
	struct sl_workload *w = sl_workload_load(name, &how, &err);
	struct sl_script *script = w ? sl_script_create(bundle_of(policy), &none, &err) : NULL;
	struct sl_sim *sim = script ? sl_sim_create(w, script, &opt, &err) : NULL;
	char *trace = NULL;

	if (!passes.image || !sim || sl_sim_run(sim, &trace, &err) < 0)
		give_up(name, &err);
	print_hashes(policy, name, passes.hash);
	sl_sim_destroy(sim);
	sl_script_destroy(script);
	sl_workload_destroy(w);
	sl_builder_destroy(passes.image);
}

/* -- the command ----------------------------------------------------------- */

/* One case, "verbs 17" or "easy 17" or "easy FILE", as JSON. */
static void print_case(char *name)
{
	char *what = strchr(name, ' '), *end;
	uint64_t seed;

	if (!what)
		give_up(name, &(struct sl_error) { .text = "expected \"verbs SEED\", \"POLICY SEED\" or \"POLICY FILE\"" });
	*what++ = '\0';
	seed = strtoull(what, &end, 10);
	if (*end)
		freeze_snapshot(what, name, true);
	else if (!strcmp(name, "verbs"))
		freeze_verbs(seed, what, true);
	else
		freeze_policy(name, seed, what, true);
}

static void print_cluster(uint64_t seed)
{
	uint64_t s;
	struct build *b = cluster_of(seed, &s);
	const struct sl_snapshot *snap = build_open(b);
	struct sl_error err = { 0 };

	if (sl_image_to_json(&snap->image, snap, stdout, &err))
		give_up("cluster", &err);
	build_destroy(b);
}

int main(int argc, char **argv)
{
	uint64_t first = 1, count = 1000;
	const char *workload[64];
	unsigned workloads = 0;
	int c;

	while ((c = getopt(argc, argv, "f:n:x:w:p:s:")) != -1)
		switch (c) {
		case 'f': first = strtoull(optarg, NULL, 10); break;
		case 'n': count = strtoull(optarg, NULL, 10); break;
		case 'x': if (left_outs < MAX_LEFT_OUT) left_out[left_outs++] = optarg; break;
		case 'w': if (workloads < 64) workload[workloads++] = optarg; break;
		case 'p': print_case(optarg); return 0;
		case 's': print_cluster(strtoull(optarg, NULL, 10)); return 0;
		default: return 2;
		}
	for (uint64_t seed = first; seed < first + count; seed++)
		freeze_seed(seed);
	for (; optind < argc; optind++)
		freeze_path(argv[optind]);
	for (unsigned i = 0; i < workloads; i++) {
		freeze_workload(workload[i], "easy");
		freeze_workload(workload[i], "conservative");
	}
	return 0;
}
