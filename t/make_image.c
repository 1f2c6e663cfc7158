/* SPDX-License-Identifier: MIT */
#include "t/make_image.h"

#include <stdio.h>

uint64_t make_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t make_below(uint64_t *seed, uint32_t limit)
{
	return limit ? make_random(seed) % limit : 0;
}

static uint32_t numbered(struct sl_builder *b, const char *prefix, uint32_t n)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%u", prefix, n);
	return sl_builder_str(b, text);
}

/* Up to three runs of nodes, in order, with gaps between them. */
static struct sl_range make_runs(struct sl_builder *b, uint64_t *seed, uint32_t nodes)
{
	struct sl_range range = { sl_builder_rows(b, SL_T_RUN), 0 };
	struct sl_run_row run = sl_run_row();

	for (uint32_t at = make_below(seed, 5); at < nodes && range.count < 3; range.count++) {
		run.first = at;
		run.last = at + make_below(seed, nodes - at < 6 ? nodes - at : 6);
		sl_builder_append(b, SL_T_RUN, &run);
		at = run.last + 2 + make_below(seed, 4);
	}
	return range;
}

static void make_cluster(struct sl_builder *b, uint64_t *seed, uint32_t nodes)
{
	static const char *const names[] = { "gpu", "gpu:a100", "gpu:\"ü\"" };
	static const char *const types[] = { "", "a100", "\"ü\"" };
	struct sl_meta_row meta = sl_meta_row();
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct sl_node_row node;
	struct sl_node_gres_row gres = sl_node_gres_row();

	meta.now = 1700000000 + make_below(seed, 1000);
	meta.cluster = sl_builder_str(b, "demo");
	meta.source = sl_builder_str(b, "spec");
	meta.sequence = make_below(seed, 100);
	meta.select_flags = make_below(seed, 64);
	sl_builder_append(b, SL_T_META, &meta);
	for (int i = 0; i < 3; i++) {
		kind.key = sl_builder_str(b, names[i]);
		kind.name = sl_builder_str(b, "gpu");
		kind.type = sl_builder_str(b, types[i]);
		sl_builder_append(b, SL_T_GRES_KIND, &kind);
	}
	for (uint32_t i = 0; i < nodes; i++) {
		node = sl_node_row();
		node.name = numbered(b, i % 7 ? "n" : "big-", i);
		node.state = make_below(seed, 4) ? 0 : make_below(seed, 64);
		node.cores = 1 + make_below(seed, 128);
		node.memory = make_below(seed, 1 << 20);
		node.features = make_below(seed, 3) ? 0 : sl_builder_str(b, "fast,ib");
		node.gres.first = sl_builder_rows(b, SL_T_NODE_GRES);
		for (gres.kind = make_below(seed, 3); gres.kind < 3; gres.kind++, node.gres.count++) {
			gres.count = 1 + make_below(seed, 8);
			sl_builder_append(b, SL_T_NODE_GRES, &gres);
		}
		sl_builder_append(b, SL_T_NODE, &node);
	}
}

static struct sl_range make_gres(struct sl_builder *b, uint64_t *seed)
{
	struct sl_range range = { sl_builder_rows(b, SL_T_JOB_GRES), make_below(seed, 3) };
	struct sl_job_gres_row gres = sl_job_gres_row();

	for (uint32_t i = 0; i < range.count; i++) {
		gres.name = sl_builder_str(b, "gpu");
		gres.type = make_below(seed, 2) ? 0 : sl_builder_str(b, "a100");
		gres.count = make_below(seed, 5);
		gres.per = make_below(seed, 4);
		sl_builder_append(b, SL_T_JOB_GRES, &gres);
	}
	return range;
}

static struct sl_range make_allocs(struct sl_builder *b, uint64_t *seed, uint32_t nodes)
{
	struct sl_range range = { sl_builder_rows(b, SL_T_ALLOC), 0 };
	struct sl_alloc_gres_row gres = sl_alloc_gres_row();

	for (uint32_t at = make_below(seed, nodes); at < nodes && range.count < 8; range.count++) {
		struct sl_alloc_row alloc = sl_alloc_row();

		alloc.node = at;
		alloc.cores = 1 + make_below(seed, 8);
		alloc.memory = make_below(seed, 1000);
		alloc.gres = (struct sl_range) { sl_builder_rows(b, SL_T_ALLOC_GRES), make_below(seed, 2) };
		gres.kind = make_below(seed, 3);
		gres.count = 1 + make_below(seed, 3);
		if (alloc.gres.count)
			sl_builder_append(b, SL_T_ALLOC_GRES, &gres);
		sl_builder_append(b, SL_T_ALLOC, &alloc);
		at += 1 + make_below(seed, 3);
	}
	return range;
}

static struct sl_range make_node_tasks(struct sl_builder *b, uint64_t *seed, uint32_t nodes)
{
	struct sl_range range = { sl_builder_rows(b, SL_T_NODE_TASKS), 0 };
	struct sl_node_tasks_row row = sl_node_tasks_row();

	for (row.node = make_below(seed, nodes); row.node < nodes; row.node += 1 + make_below(seed, 3)) {
		row.tasks = make_below(seed, 9);
		sl_builder_append(b, SL_T_NODE_TASKS, &row);
		range.count++;
	}
	return range;
}

static void make_request(struct sl_builder *b, uint64_t *seed, uint32_t nodes, struct sl_job_row *job)
{
	struct sl_shape_row shape = sl_shape_row();

	job->time_limit = make_below(seed, 5) ? 60 * (1 + make_below(seed, 1440)) : SL_UNLIMITED;
	job->min_nodes = 1 + make_below(seed, 16);
	job->min_cpus = job->min_nodes * 8;
	job->num_tasks = make_below(seed, 2) ? 0 : job->min_cpus;
	job->memory_per_node = make_below(seed, 4000);
	job->gres = make_gres(b, seed);
	job->features = make_below(seed, 4) ? 0 : sl_builder_str(b, "fast&ib");
	if (!make_below(seed, 4))
		job->req_nodes = make_runs(b, seed, nodes);
	if (!make_below(seed, 4))
		job->exc_nodes = make_runs(b, seed, nodes);
	if (!make_below(seed, 4))
		job->arbitrary_tpn = make_node_tasks(b, seed, nodes);
	job->shapes.first = sl_builder_rows(b, SL_T_SHAPE);
	for (; !make_below(seed, 3); job->shapes.count++) {
		shape.min_nodes = make_below(seed, 9);
		shape.gres = make_gres(b, seed);
		sl_builder_append(b, SL_T_SHAPE, &shape);
	}
}

static void make_job(struct sl_builder *b, uint64_t *seed, uint32_t nodes, uint32_t i, bool running)
{
	struct sl_job_row job = sl_job_row();
	struct sl_job_partition_row partition = sl_job_partition_row();
	struct sl_job_license_row license = { .license = 0, .count = 1 + make_below(seed, 4) };

	job.id = 100 + i;
	job.stamp = (int64_t) make_random(seed);
	job.name = numbered(b, "job é\t", make_below(seed, 50));
	job.user = numbered(b, "user", job.uid = make_below(seed, 40));
	job.account = numbered(b, "acc", make_below(seed, 9));
	job.state = running ? SL_JOB_RUNNING : SL_JOB_PENDING;
	job.flags = make_below(seed, SL_JOBF_DEPENDENT);
	job.priority = make_below(seed, 1u << 31);
	job.submit_time = 1699990000 + i;
	job.partition = partition.partition = make_below(seed, 2);
	job.partitions = (struct sl_range) { sl_builder_rows(b, SL_T_JOB_PARTITION), make_below(seed, 3) };
	for (uint32_t p = 0; p < job.partitions.count; p++) {
		partition.partition = p;
		sl_builder_append(b, SL_T_JOB_PARTITION, &partition);
	}
	if (!make_below(seed, 5)) {
		job.licenses = (struct sl_range) { sl_builder_rows(b, SL_T_JOB_LICENSE), 1 };
		sl_builder_append(b, SL_T_JOB_LICENSE, &license);
	}
	make_request(b, seed, nodes, &job);
	if (running) {
		job.start_time = 1699990000;
		job.end_time = 1700000000 + make_below(seed, 100000);
		job.alloc = make_allocs(b, seed, nodes);
	}
	sl_builder_append(b, SL_T_JOB, &job);
}

/* What policies remember, in either schema. */
static void make_remembered(struct sl_builder *b, uint64_t *seed, int table)
{
	static const char *const values[] = { "true", "-3", "0.5", "\"\\x0a\"", "{1,{},[9]=2,count=3}" };

	for (uint32_t i = make_below(seed, 4); i > 0; i--) {
		struct sl_remembered_row row = {
			.set = sl_builder_str(b, "0123456789abcdef"), .group = sl_builder_str(b, "main"),
			.key = numbered(b, "key", 10 - i), .value = sl_builder_str(b, values[make_below(seed, 5)]),
		};

		sl_builder_append(b, table, &row);
	}
}

static void make_history(struct sl_builder *b, uint64_t *seed, int table)
{
	for (uint32_t i = make_below(seed, 4); i-- > 0; ) {
		struct sl_history_row row = sl_history_row();

		row.job = 1 + make_below(seed, 1000);
		row.user = sl_builder_str(b, make_below(seed, 2) ? "anna" : "bert");
		row.name = sl_builder_str(b, make_below(seed, 2) ? "vasp" : "");
		row.runtime = make_below(seed, 10000);
		row.end_time = 1700000000 - make_below(seed, 100000);
		row.start_time = row.end_time - row.runtime;
		row.time_limit = make_below(seed, 2) ? 3600 : 0;
		row.cpus = 1 + make_below(seed, 64);
		sl_builder_append(b, table, &row);
	}
}

void make_snapshot(struct sl_builder *b, uint64_t seed, uint32_t nodes, uint32_t jobs)
{
	struct sl_partition_row partition;
	struct sl_queue_row entry = sl_queue_row();
	struct sl_reservation_row resv = sl_reservation_row();
	struct sl_license_row license = sl_license_row();

	make_cluster(b, &seed, nodes);
	for (int i = 0; i < 2; i++) {
		partition = sl_partition_row();
		partition.name = sl_builder_str(b, i ? "long" : "batch");
		partition.nodes = make_runs(b, &seed, nodes);
		partition.flags = make_below(&seed, 64);
		partition.max_time = make_below(&seed, 2) ? 86400 : SL_UNLIMITED;
		sl_builder_append(b, SL_T_PARTITION, &partition);
	}
	for (uint32_t i = 0; i < jobs; i++)
		make_job(b, &seed, nodes, i, i % 3 == 2);
	for (uint32_t i = 0; i < jobs; i++) {
		if (i % 3 == 2)
			continue;
		entry.job = i;
		entry.partition = make_below(&seed, 2);
		entry.priority = make_below(&seed, 1000);
		sl_builder_append(b, SL_T_QUEUE, &entry);
	}
	resv.name = sl_builder_str(b, "maint");
	resv.flags = SL_RESV_MAINT;
	resv.nodes = make_runs(b, &seed, nodes);
	sl_builder_append(b, SL_T_RESERVATION, &resv);
	license.name = sl_builder_str(b, "matlab");
	license.total = 10;
	sl_builder_append(b, SL_T_LICENSE, &license);
	make_remembered(b, &seed, SL_T_REMEMBERED);
	make_history(b, &seed, SL_T_HISTORY);
}

/* -- plans ---------------------------------------------------------------- */

static struct sl_range make_places(struct sl_builder *b, uint64_t *seed, uint32_t nodes)
{
	struct sl_range range = { sl_builder_rows(b, SL_P_PLACE), 0 };
	struct sl_plan_place_gres_row gres = sl_plan_place_gres_row();

	for (uint32_t at = make_below(seed, nodes); at < nodes && range.count < 8; range.count++) {
		struct sl_plan_place_row place = sl_plan_place_row();

		place.node = at;
		place.cores = 1 + make_below(seed, 8);
		place.memory = make_below(seed, 1000);
		place.gres = (struct sl_range) { sl_builder_rows(b, SL_P_PLACE_GRES), make_below(seed, 2) };
		gres.kind = 0;
		gres.count = 1 + make_below(seed, 2);
		if (place.gres.count)
			sl_builder_append(b, SL_P_PLACE_GRES, &gres);
		sl_builder_append(b, SL_P_PLACE, &place);
		at += 1 + make_below(seed, 3);
	}
	return range;
}

static void make_decision(struct sl_builder *b, uint64_t *seed, uint32_t nodes, uint32_t job, uint32_t what)
{
	struct sl_plan_start_row start = sl_plan_start_row();
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();
	struct sl_plan_pending_row pending = sl_plan_pending_row();
	struct sl_plan_action_row action = sl_plan_action_row();
	uint32_t by = sl_builder_str(b, "easy");

	if (what == 0) {
		start.job = job;
		start.stamp = (int64_t) make_random(seed);
		start.partition = make_below(seed, 2);
		start.native = make_below(seed, 2);
		start.places = make_places(b, seed, nodes);
		start.by = by;
		sl_builder_append(b, SL_P_START, &start);
	} else if (what == 1) {
		reserve.job = job;
		reserve.start_time = 1700000000 + make_below(seed, 100000);
		reserve.places = make_places(b, seed, nodes);
		reserve.by = by;
		sl_builder_append(b, SL_P_RESERVE, &reserve);
	} else if (what == 2) {
		pending.job = job;
		pending.why = make_below(seed, SL_WHYS);
		pending.text = make_below(seed, 2) ? 0 : numbered(b, "nodes needed: ", make_below(seed, 99));
		sl_builder_append(b, SL_P_PENDING, &pending);
	} else {
		action.job = job;
		action.verb = make_below(seed, SL_ACTIONS);
		action.number = make_below(seed, 100);
		action.text = sl_builder_str(b, "hello");
		sl_builder_append(b, SL_P_ACTION, &action);
	}
}

void make_plan(struct sl_builder *b, uint64_t seed, uint32_t nodes, uint32_t jobs)
{
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	struct sl_plan_log_row log = sl_plan_log_row();

	meta.now = 1700000000;
	meta.policy = sl_builder_str(b, "easy");
	meta.examined = jobs;
	meta.truncated = make_below(&seed, 2);
	sl_builder_append(b, SL_P_META, &meta);
	for (uint32_t what = 0; what < 4; what++)
		for (uint32_t i = what; i < jobs; i += 4)
			make_decision(b, &seed, nodes, 100 + i, what);
	log.level = make_below(&seed, 3);
	log.text = sl_builder_str(b, "window of 500 reached");
	sl_builder_append(b, SL_P_LOG, &log);
	make_remembered(b, &seed, SL_P_REMEMBERED);
	make_history(b, &seed, SL_P_HISTORY);
}
