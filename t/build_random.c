/* SPDX-License-Identifier: MIT */
/* build_random.c - clusters at random; see build.h */
#include <stdlib.h>
#include <string.h>

#include "t/build.h"

uint64_t build_random(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint32_t build_below(uint64_t *seed, uint32_t limit)
{
	return limit ? (uint32_t) (build_random(seed) % limit) : 0;
}

static bool one_in(uint64_t *seed, uint32_t n)
{
	return !build_below(seed, n);
}

/* What is left on the nodes while running jobs are made up. */
struct left {
	uint32_t cores, gpus;
	int64_t memory;
};

/* Beside its GPUs what nobody uses up. */
static struct sl_range add_bandwidth(struct build *b, struct sl_range gpus, uint32_t kind, uint32_t count)
{
	struct sl_node_gres_row row;
	struct sl_range gres = { sl_builder_rows(b->builder, SL_T_NODE_GRES), gpus.count + 1 };

	for (uint32_t i = 0; i < gpus.count; i++) {
		sl_builder_row(b->builder, SL_T_NODE_GRES, gpus.first + i, &row);
		sl_builder_append(b->builder, SL_T_NODE_GRES, &row);
	}
	row = (struct sl_node_gres_row) { .kind = kind, .count = count, .no_consume = 1, .share = SL_NONE };
	sl_builder_append(b->builder, SL_T_NODE_GRES, &row);
	return gres;
}

/* On every other node with GPUs, three shares of each. */
static struct sl_range add_shares(struct build *b, struct sl_range had, uint32_t kind, uint32_t gpus)
{
	struct sl_node_gres_row row = { .kind = kind, .count = 3 * gpus, .share = 0 };
	struct sl_range gres = { sl_builder_rows(b->builder, SL_T_NODE_GRES), had.count + 1 };

	sl_builder_append(b->builder, SL_T_NODE_GRES, &row);
	for (uint32_t i = 0; i < had.count; i++) {
		sl_builder_row(b->builder, SL_T_NODE_GRES, had.first + i, &row);
		sl_builder_append(b->builder, SL_T_NODE_GRES, &row);
	}
	return gres;
}

/* Asleep, or on the way.  (Of a seed of its own, so that all else is drawn as before.) */
static void random_power(uint64_t s, struct sl_node_row *r)
{
	static const uint32_t states[] = { SL_NODE_POWERED_DOWN, SL_NODE_POWERED_DOWN, SL_NODE_POWERING_DOWN, SL_NODE_POWERING_UP,
					   SL_NODE_POWERING_UP, SL_NODE_REBOOT_REQUESTED, SL_NODE_REBOOT_ISSUED,
					   SL_NODE_POWERED_DOWN | SL_NODE_POWERING_DOWN };

	r->state |= states[build_below(&s, sizeof(states) / sizeof(states[0]))];
	r->power_time = one_in(&s, 4) ? 0 : BUILD_NOW - 300 + 50 * build_below(&s, 8);
	r->resume_timeout = one_in(&s, 6) ? SL_UNLIMITED : one_in(&s, 5) ? 40 : 5000;
	r->suspend_timeout = 100 * build_below(&s, 5);
}

static void random_nodes(struct build *b, uint64_t *s, struct left *left)
{
	struct sl_gres_kind_row bandwidth = sl_gres_kind_row(), shard = sl_gres_kind_row();
	static const char *const features[] = { "", "", "ib", "ib,big", "big" };
	static const char *const leaves[] = { "root.a", "root.a", "root.b", "root.c", "" };
	bool tree = one_in(s, 2);
	uint32_t core_spec = b->nodes % 3, kind;

	bandwidth.key = bandwidth.name = sl_builder_str(b->builder, "bandwidth");
	kind = sl_builder_append(b->builder, SL_T_GRES_KIND, &bandwidth);
	shard.key = shard.name = sl_builder_str(b->builder, "shard");
	sl_builder_append(b->builder, SL_T_GRES_KIND, &shard);
	for (uint32_t n = 0; n < b->nodes; n++) {
		struct sl_node_row r;

		sl_builder_row(b->builder, SL_T_NODE, n, &r);
		r.features = sl_builder_str(b->builder, features[build_below(s, 5)]);
		r.tmp_disk = 100 * build_below(s, 3);
		r.core_spec = n % 20 == 7 ? 1 : core_spec;
		r.sockets = b->nodes % 2 && r.cores % 2 == 0 ? 2 : 1;
		if (tree)
			r.topology = sl_builder_str(b->builder, leaves[build_below(s, b->nodes % 2 ? 4 : 5)]);
		if (one_in(s, 12))
			r.state = one_in(s, 2) ? SL_NODE_DOWN : SL_NODE_DRAIN;
		else if (one_in(s, 20))
			r.state = SL_NODE_COMPLETING;
		if (one_in(s, 25))
			r.owner = 1000 + build_below(s, 3);
		if (b->nodes % 3 == 1 && n % 3)
			random_power(*s + n, &r);
		if (b->nodes % 8 == 3 && n % 16 == 5)
			r.res_cores_per_gpu = 1;
		left[n] = (struct left) { r.cores, r.gres.count ? 2 : 0, r.memory };
		if (n % 4)
			r.gres = add_bandwidth(b, r.gres, kind, n % 4);
		if (left[n].gpus && n % 2)
			r.gres = add_shares(b, r.gres, kind + 1, left[n].gpus);
		sl_builder_update(b->builder, SL_T_NODE, n, &r);
	}
}

/* The last node of a partition that begins there; *alike*: of nodes with as many cores. */
static uint32_t random_last(struct build *b, uint64_t *s, uint32_t first, bool alike)
{
	uint32_t last = first + build_below(s, b->nodes - first);
	struct sl_node_row a, z;

	sl_builder_row(b->builder, SL_T_NODE, first, &a);
	for (; alike; last--) {
		sl_builder_row(b->builder, SL_T_NODE, last, &z);
		if (a.cores == z.cores)
			break;
	}
	return last;
}

/* Numbers of their own: what is drawn of times leaves all else that a seed draws as it is. */
static uint64_t times_of(const uint64_t *s)
{
	return *s ^ UINT64_C(0x5851f42d4c957f2d);
}

static void random_part_times(const uint64_t *s, struct sl_partition_row *r)
{
	uint64_t t = times_of(s);

	if (one_in(&t, 2))
		r->max_time = 300 * (1 + build_below(&t, 12));
	if (one_in(&t, 3))
		r->default_time = 60 * (1 + build_below(&t, r->max_time == SL_UNLIMITED ? 60 : (uint32_t) (r->max_time / 60)));
}

/* A job that names no walltime, or none that ends, or one beyond MaxTime, which it need not heed. */
static void random_walltime(const uint64_t *s, struct sl_job_row *r)
{
	uint64_t t = times_of(s);

	if (one_in(&t, 3))
		r->flags |= SL_JOBF_DEFAULT_TIME;
	if (one_in(&t, 2))
		r->flags |= SL_JOBF_ANY_TIME;
	if (one_in(&t, 6))
		r->time_limit = SL_UNLIMITED;
}

static void random_partitions(struct build *b, uint64_t *s)
{
	struct sl_partition_row r;

	sl_builder_row(b->builder, SL_T_PARTITION, 0, &r);
	random_part_times(s, &r);
	r.block_nodes = b->nodes % 4 == 1 ? 1 + b->nodes % 5 : 0;
	sl_builder_update(b->builder, SL_T_PARTITION, 0, &r);
	for (uint32_t p = build_below(s, 3); p > 0; p--) {
		uint32_t first = build_below(s, b->nodes), row, share = one_in(s, 3) ? 2 + build_below(s, 3) : 1;
		char name[8];

		snprintf(name, sizeof(name), "p%u", p);
		row = build_partition(b, name, first, random_last(b, s, first, share > 1 && !one_in(s, 4)));
		sl_builder_row(b->builder, SL_T_PARTITION, row, &r);
		if (one_in(s, share > 1 ? 12 : 4))
			r.max_cpus_per_node = 2 + build_below(s, 8);
		if (one_in(s, 5))
			r.max_nodes = 1 + build_below(s, 4);
		if (one_in(s, 6))
			r.min_nodes = 1 + build_below(s, 3);
		if (share > 1) {
			r.oversubscribe = share;
			r.flags |= one_in(s, 3) ? 0 : SL_PART_FORCE;
		} else if (one_in(s, 8)) {
			r.oversubscribe = 0;
		}
		if (one_in(s, 10))
			r.flags |= SL_PART_EXCLUSIVE_USER;
		if (one_in(s, 12))
			r.flags &= ~SL_PART_UP;
		if (one_in(s, 12))
			r.flags |= SL_PART_OTHER_TOPOLOGY;
		else if (b->nodes % 2)
			r.block_nodes = first % 6;
		r.flags |= first % 5 == 2 ? SL_PART_BLOCK_LEVELS : 0;
		if (one_in(s, 16))
			r.max_cpus_per_socket = 1 + build_below(s, 4);
		if (one_in(s, 4))
			r.max_time = 600 * (1 + build_below(s, 20));
		random_part_times(s, &r);
		r.flags |= first % 12 == 5 ? SL_PART_BY_SOCKET : first % 12 == 6 ? SL_PART_BY_CORE : 0;
		r.over_time_limit = p % 2 ? -1 : first % 2 ? SL_UNLIMITED : 60 * (int64_t) first;
		sl_builder_update(b->builder, SL_T_PARTITION, row, &r);
	}
}

/* How many cores it has of each of its nodes. */
static void add_parts(struct build *b, uint64_t *s, struct sl_reservation_row *r)
{
	struct sl_run_row run;

	sl_builder_row(b->builder, SL_T_RUN, r->nodes.first, &run);
	r->parts.first = sl_builder_rows(b->builder, SL_T_ALLOC);
	for (r->cores = 0; run.first <= run.last; run.first++, r->parts.count++) {
		struct sl_alloc_row part = { .node = run.first, .cores = 1 + build_below(s, 3) };

		sl_builder_append(b->builder, SL_T_ALLOC, &part);
		r->cores += part.cores;
	}
}

static void random_reservations(struct build *b, uint64_t *s)
{
	static const uint32_t flags[] = { SL_RESV_MAINT, SL_RESV_FLEX, SL_RESV_FLEX, SL_RESV_FLEX | SL_RESV_OVERLAP,
					  SL_RESV_IGNORE_JOBS, SL_RESV_OVERLAP, SL_RESV_ANY_NODES };

	for (uint32_t i = build_below(s, 4); i > 0; i--) {
		struct sl_reservation_row r = sl_reservation_row();
		uint32_t first = build_below(s, b->nodes);
		char name[8];

		snprintf(name, sizeof(name), "r%u", i);
		r.name = sl_builder_str(b->builder, name);
		r.start_time = BUILD_NOW - 1000 + 100 * build_below(s, 40);
		r.end_time = r.start_time + 100 * (1 + build_below(s, 40));
		r.nodes = build_nodes(b, first, first + build_below(s, b->nodes - first < 3 ? b->nodes - first : 3));
		if (one_in(s, 4))
			r.cores = 1 + build_below(s, 6);
		if (r.cores && i == 1)	/* (two of a node would have to be no more than that has) */
			add_parts(b, s, &r);
		r.flags = one_in(s, 2) ? flags[build_below(s, sizeof(flags) / sizeof(flags[0]))] : 0;
		sl_builder_append(b->builder, SL_T_RESERVATION, &r);
	}
	for (uint32_t i = build_below(s, 3); i > 0; i--) {
		struct sl_license_row l = { .total = 4, .used = build_below(s, 3), .reserved = build_below(s, 2) };

		l.name = sl_builder_str(b->builder, i == 1 ? "matlab" : "fluent");
		sl_builder_append(b->builder, SL_T_LICENSE, &l);
	}
}

/* Whom it minds on its nodes. */
static void random_company(struct build *b, uint64_t *s, struct sl_job_row *r)
{
	r->uid = 1000 + build_below(s, 3);
	if (one_in(s, 8))
		r->asks |= SL_ASKS_USER_NODES;
	if (one_in(s, 8))
		r->asks |= SL_ASKS_MCS;
	if (one_in(s, 2))
		r->mcs_label = sl_builder_str(b->builder, one_in(s, 2) ? "red" : "blue");
}

/* A running job on a stretch of nodes with something left; none if there is none. */
static void random_running(struct build *b, uint64_t *s, uint32_t id, struct left *left)
{
	struct sl_job_row r = build_row(b, (struct build_job) { .id = id });
	uint32_t node = build_below(s, b->nodes), want = 1 + build_below(s, 3);

	random_company(b, s, &r);
	r.partition = build_below(s, sl_builder_rows(b->builder, SL_T_PARTITION));
	r.state = one_in(s, 8) ? SL_JOB_SUSPENDED : SL_JOB_RUNNING;
	r.priority = one_in(s, 2) ? 0 : 100;
	if (one_in(s, 12))
		r.flags |= SL_JOBF_COMPLETING;
	r.start_time = BUILD_NOW - 500;
	r.end_time = one_in(s, 10) ? SL_UNLIMITED : BUILD_NOW - 100 + 50 * build_below(s, 60);
	r.suspend_time = BUILD_NOW - 50;
	if (id % 3 == 1) {
		r.qos = sl_builder_str(b->builder, id % 2 ? "standby" : "low");
		r.safe_until = BUILD_NOW - 60 + 10 * id;
	}
	if (id % 7 == 3 && r.end_time != SL_UNLIMITED)
		r.end_time -= 100 * (int64_t) (id % 13);
	r.time_limit = id % 5 ? 600 : SL_UNLIMITED;
	if (id % 6 == 1 && r.state == SL_JOB_RUNNING)
		r.flags |= SL_JOBF_POWER_UP;
	if (id % 5 == 3 && sl_builder_rows(b->builder, SL_T_RESERVATION))	/* (wherever it runs: it may have been changed since) */
		r.reservation = sl_builder_str(b->builder, "r1");
	if (sl_builder_rows(b->builder, SL_T_LICENSE) && one_in(s, 4))
		r.licenses = build_license(b, 0, 1);
	r.alloc.first = sl_builder_rows(b->builder, SL_T_ALLOC);
	for (; node < b->nodes && r.alloc.count < want; node++) {
		struct sl_alloc_row a = { .node = node };
		struct sl_alloc_gres_row gres = { .count = 1, .devices = left[node].gpus };

		if (!left[node].cores)
			continue;
		a.cores = 1 + build_below(s, left[node].cores);
		a.memory = left[node].memory / 4;
		if (left[node].gpus && one_in(s, 2)) {
			if (node % 2 && id % 2) {	/* two thirds of a GPU in place of all of it */
				gres.kind = 2;
				gres.count = 2;
			}
			a.gres = (struct sl_range) { sl_builder_append(b->builder, SL_T_ALLOC_GRES, &gres), 1 };
			left[node].gpus--;
		}
		left[node].cores -= a.cores;
		left[node].memory -= a.memory;
		sl_builder_append(b->builder, SL_T_ALLOC, &a);
		r.alloc.count++;
	}
	if (r.alloc.count)
		build_append(b, &r);
}

/* ... or one of another. */
static void either_license(struct build *b, struct sl_job_row *r)
{
	r->licenses.count += build_license(b, 1, 1 + r->id % 2).count;
	r->asks |= SL_ASKS_ANY_LICENSE;
}

static void random_wishes(struct build *b, uint64_t *s, struct sl_job_row *r)
{
	static const char *const features[] = { "ib", "big", "ib&big", "ib|big", "[ib|big]", "ib*2", "(ib|none)&big",
						"none|ib&big", "ib&[none|big]", "[big|none|ib]", "[ib*1&big*1]",
						"(ib|big)*3", "[ib*1&(ib&big)*1]" };
	uint32_t n = build_below(s, b->nodes);

	if (one_in(s, 5))
		r->features = sl_builder_str(b->builder, features[build_below(s, 13)]);
	if (one_in(s, 12))
		r->prefer = sl_builder_str(b->builder, features[build_below(s, 10)]);
	if (one_in(s, 10))
		r->req_nodes = build_nodes(b, n, n);
	if (one_in(s, 10))
		r->exc_nodes = build_nodes(b, build_below(s, n + 1), n);
	if (one_in(s, 8))
		r->flags |= SL_JOBF_CONTIGUOUS;
	if (one_in(s, 10))
		r->flags |= SL_JOBF_OVERCOMMIT;
	if (one_in(s, 10))
		r->flags |= SL_JOBF_OVERSUBSCRIBE;
	if (one_in(s, 6)) {
		r->switches = 1 + build_below(s, 2);
		r->switch_wait = build_below(s, 3) * 100;
	}
	if (r->id % 4 == 1)
		r->segment = 1 + r->id % 3;
	if (one_in(s, 15))
		r->asks |= SL_ASKS_BURST_BUFFER;
	if (r->id % 8 == 5)
		r->asks |= SL_ASKS_SOCKETS_IN_TURN;
	if (r->id % 32 == 7)
		r->asks |= r->id % 64 == 7 ? SL_ASKS_EXTRA : SL_ASKS_HRES;
	if (one_in(s, 20))
		r->het_job_id = r->id;
	if (one_in(s, 10))
		r->tmp_disk = 100;
	if (!r->gres.count && r->id % 8 < 3)
		r->gres = build_gres(b, "bandwidth", "", 1 + r->id % 8, r->id % 16 == 9 ? SL_PER_JOB : SL_PER_NODE);
	else if (!r->gres.count && r->id % 8 < 6)
		r->gres = build_gres(b, "shard", "", 1 + r->id % 3, r->id % 24 == 4 ? SL_PER_JOB : SL_PER_NODE);
	if (one_in(s, 10))
		r->ntasks_per_core = 1;
	if (one_in(s, 10))
		r->threads_per_core = 1;
	if (one_in(s, 20))
		r->ntasks_per_socket = 1;
	if (r->id % 7 == 3)
		r->ntasks_per_socket = 1 + r->min_nodes;
	if (r->id % 11 == 3) {
		r->flags |= SL_JOBF_MAY_PREEMPT;
		r->preempts = sl_builder_str(b->builder, r->id % 2 ? "QOS=low,standby" : "QOS=standby");
		r->flags |= r->id % 33 == 14 ? SL_JOBF_PREEMPTS_LOWER : r->id % 33 == 25 ? SL_JOBF_PREEMPTS_WITHIN : 0;
	}
	if (r->id % 5 == 2) {
		r->flags |= SL_JOBF_NO_RESERVE;
		r->yields_after = r->id % 2 ? 60 + r->id : 0;
	}
	if (r->id % 12 == 4)
		r->cores_per_socket = 1 + r->min_nodes;
	if (r->id % 12 == 5)
		r->core_spec = 1 + r->min_nodes % 3;
	if (r->id % 20 == 9)
		r->asks |= r->core_spec ? SL_ASKS_SPEC_THREADS : SL_ASKS_SPEC_CORES;
	if (r->id % 6 == 1) {
		r->distribution = SL_DIST_PLANE;
		r->plane_size = 1 + r->id % 4;
	}
	if (r->id % 12 == 8)
		build_say_tasks(b, r, n, r->id % 24 == 8 ? "21" : r->id % 36 == 20 ? "103" : "4");
	if (r->id % 9 == 2 && !r->shapes.count) {
		static const char *const counts[] = { "1,3", "1-2,4", "2,4-5", "1,2,4,8" };

		r->node_counts = sl_builder_str(b->builder, counts[r->id % 4]);
		r->min_nodes = 1;
		r->max_nodes = 8;
	}
	if (sl_builder_rows(b->builder, SL_T_LICENSE) && one_in(s, 4)) {
		r->licenses = build_license(b, 0, 1 + build_below(s, 3));
		if (r->id % 3 == 1 && sl_builder_rows(b->builder, SL_T_LICENSE) > 1)
			either_license(b, r);
	}
	if (one_in(s, 6) && sl_builder_rows(b->builder, SL_T_RESERVATION))
		r->reservation = sl_builder_str(b->builder, one_in(s, 6) ? "r9,r1" : "r1");
}

/* With each of its gres: CPUs, memory, both. */
static void add_company(struct build *b, struct sl_job_row *r)
{
	struct sl_job_gres_row gres;

	if (!r->gres.count || r->id % 5 > 2)
		return;
	sl_builder_row(b->builder, SL_T_JOB_GRES, r->gres.first, &gres);
	gres.cpus = r->id % 5 < 2 ? 1 + r->id % 4 : 0;
	if (gres.per == SL_PER_TASK && gres.cpus) {	/* as many as a task has */
		gres.count = 1;
		gres.cpus = r->cpus_per_task;
	}
	gres.memory = r->id % 5 ? 100 * (int64_t) (r->id % 7) : 0;
	sl_builder_update(b->builder, SL_T_JOB_GRES, r->gres.first, &gres);
	if (r->id % 10 == 1)
		r->asks |= SL_ASKS_DEFAULT_CPUS;
}

/* As many tasks for each of its gres, as slurmctld counts them; or cores near it alone. */
static void add_gres_tasks(struct build *b, struct sl_job_row *r)
{
	struct sl_job_gres_row gres;

	if (r->gres.count && r->id % 4 == 1 && r->id % 3)
		r->asks |= SL_ASKS_BOUND_GRES;
	if (!r->gres.count || r->id % 4)
		return;
	sl_builder_row(b->builder, SL_T_JOB_GRES, r->gres.first, &gres);
	r->asks |= SL_ASKS_TASKS_PER_GRES;
	r->num_tasks = (1 + r->id % 3) * gres.count * (gres.per == SL_PER_NODE ? r->min_nodes : 1);
	r->min_cpus = r->num_tasks * r->cpus_per_task;
	if (r->id % 8)
		r->ntasks_per_node = 0;
}

static void random_pending(struct build *b, uint64_t *s, uint32_t id)
{
	struct build_job j = { .id = id, .nodes = 1 + build_below(s, 4), .cpus_per_task = 1 + build_below(s, 3),
		.limit = 100 * (1 + build_below(s, 30)) };
	struct sl_job_row r;
	uint32_t job;

	j.max_nodes = one_in(s, 3) ? 0 : j.nodes + build_below(s, 3);
	j.tasks = one_in(s, 3) ? 0 : build_below(s, 12);
	j.tasks_per_node = one_in(s, 3) ? 1 + build_below(s, 4) : 0;
	j.gpus = one_in(s, 3) ? 1 + build_below(s, 2) : 0;
	j.memory = one_in(s, 2) ? 100 * (1 + build_below(s, 10)) : 0;
	j.exclusive = one_in(s, 6);
	j.partition = build_below(s, sl_builder_rows(b->builder, SL_T_PARTITION));
	r = build_row(b, j);
	random_company(b, s, &r);
	if (j.gpus && one_in(s, 3))
		r.gres = build_gres(b, "gpu", one_in(s, 5) ? "a100" : "", j.gpus,
				    one_in(s, 6) ? SL_PER_SOCKET : one_in(s, 2) ? SL_PER_JOB : SL_PER_TASK);
	if (!j.memory && one_in(s, 2))
		r.memory_per_cpu = 50 * (1 + build_below(s, 4));
	if (one_in(s, 8))
		r.time_limit = SL_UNLIMITED;
	if (one_in(s, 5))
		r.time_min = 100;
	if (one_in(s, 8))
		r.deadline = BUILD_NOW + 100 * build_below(s, 40);
	if (one_in(s, 8))
		r.begin_time = BUILD_NOW - 100 + 50 * build_below(s, 20);
	if (one_in(s, 6)) {
		r.array_job_id = id;
		r.array_pending = 1 + build_below(s, 4);
		r.array_max_running = build_below(s, 3);
	}
	if (one_in(s, 8))
		r.max_cpus = r.min_cpus + build_below(s, 4);
	random_wishes(b, s, &r);
	add_company(b, &r);
	add_gres_tasks(b, &r);
	random_walltime(s, &r);
	job = build_append(b, &r);
	if (one_in(s, 5) && r.partition)
		build_queue(b, job, 0);
}

struct build *build_random_cluster(uint64_t seed, uint32_t nodes, uint32_t jobs)
{
	static const uint32_t select[] = { 0, SL_SELECT_MEMORY, SL_SELECT_MEMORY | SL_SELECT_ONE_TASK_PER_CORE,
		SL_SELECT_ONE_TASK_PER_CORE, SL_SELECT_WHOLE_NODE, SL_SELECT_SOCKET, SL_SELECT_SOCKET | SL_SELECT_GRES_IN_TURN,
		SL_SELECT_LLN | SL_SELECT_LLN_DEALS };
	char machine[128];
	uint32_t half = 1 + build_below(&seed, nodes);
	struct build *b;
	struct left *left;

	snprintf(machine, sizeof(machine), "%ux%uc%ut1000m+%ux%uc2g%ut%um%uw", half, 2 + build_below(&seed, 7),
		 1 + build_below(&seed, 2), nodes, 2 + build_below(&seed, 7), 1 + build_below(&seed, 2),
		 one_in(&seed, 4) ? 0u : 2000u, 1 + build_below(&seed, 2));
	b = build_create(machine);
	b->meta.select_flags = select[build_below(&seed, sizeof(select) / sizeof(select[0]))];
	b->meta.select_flags |= (half % 4 == 3 ? SL_SELECT_SOFT_LIMIT : 0) | (half % 5 == 2 ? SL_SELECT_TOPO_OPTIONAL : 0) |
		(half % 5 == 3 ? SL_SELECT_SERIAL_AT_END : 0) | (half % 3 == 1 ? SL_SELECT_DEALS_ALL : 0);
	b->meta.over_time_limit = half % 3 * 60;
	left = calloc(b->nodes, sizeof(*left));
	random_nodes(b, &seed, left);
	random_partitions(b, &seed);
	random_reservations(b, &seed);
	for (uint32_t i = 1; i <= jobs; i++)
		if (one_in(&seed, 3))
			random_running(b, &seed, i, left);
		else
			random_pending(b, &seed, i);
	free(left);
	return b;
}
