/* SPDX-License-Identifier: MIT */
/* native.c - see native.h */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

#include <string.h>

/* Input of the tests. */
struct facts {
	const struct sl_cluster *c;
	const struct sl_snapshot *snap;
	const struct sl_entry *e;
	const struct sl_ask *a;
	const struct part *part;
	uint32_t j, resv, asks, flags, select, part_flags;
	enum sl_constraint constraint;
	uint32_t gres, pers;		/* number of gres rows; their SL_PER_* as bits */
	bool cpus, memory;		/* CPUs or memory come with some gres */
	bool whole, shares;		/* it has whole nodes; it may share cores */
};

/* -- tests of more than a line ------------------------------------------------- */

static struct facts read_facts(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a)
{
	uint32_t j = w->entry.job;

	return (struct facts) {
		.c = c, .snap = c->snap, .e = &w->entry, .a = a, .part = cluster_part(c, &w->entry), .j = j,
		.resv = cluster_entry_reservation(c, &w->entry), .asks = c->snap->job.asks[j], .flags = c->snap->job.flags[j],
		.select = c->snap->meta.select_flags[0], .part_flags = c->snap->partition.flags[w->entry.partition],
		.constraint = cluster_constraint(c, c->snap->job.features[j]).kind, .whole = w->pub.request.whole_nodes,
		.gres = a->gres.count, .shares = cluster_sharing(c, j, w->entry.partition) > 1,
		.pers = a->pers, .cpus = a->with.cpus, .memory = a->with.memory,
	};
}

static bool is_unplaced(const struct facts *f)
{
	enum sl_constraint prefer = cluster_constraint(f->c, f->snap->job.prefer[f->j]).kind;

	return f->constraint != SL_CONSTRAINT_COUNTED &&
		(f->constraint != SL_CONSTRAINT_PLACED || prefer != SL_CONSTRAINT_PLACED);
}

/* True if the snapshot does not say which cores of its reservation are in use. */
static bool has_unknown_parts(const struct facts *f)
{
	const struct sl_reservation_view *v = &f->snap->reservation;

	return f->resv != SL_NONE && v->cores[f->resv] &&
		(!v->parts[f->resv].count || v->flags[f->resv] & (SL_RESV_FLEX | SL_RESV_IGNORE_JOBS | SL_RESV_OVERLAP));
}

/* True if some partitions allocate whole sockets and others cores. */
static bool mixes_sockets(const struct sl_snapshot *snap)
{
	for (uint32_t p = 1; p < snap->partition.rows; p++)
		if (sl_snapshot_by_socket(snap, p) != sl_snapshot_by_socket(snap, 0))
			return true;
	return false;
}

/* True if an active reservation sets gres aside; the snapshot does not say which. */
static bool has_reserved_gres(const struct facts *f)
{
	const struct sl_reservation_view *v = &f->snap->reservation;

	for (uint32_t r = 0; r < v->rows; r++)
		if (v->flags[r] & SL_RESV_GRES && v->end_time[r] > f->c->now)
			return true;
	return false;
}

/* True if it asks for CPUs or memory with gres, but no gres row has any. */
static bool is_unsaid(const struct facts *f)
{
	return (f->asks & SL_ASKS_CPUS_PER_GRES && !f->cpus) ||
		(f->asks & SL_ASKS_MEMORY_PER_GRES && f->select & SL_SELECT_MEMORY && !f->memory);
}

/* With gres per task, and tasks per node or gres of the job: true if it has fewer tasks than these imply, or than nodes. */
static bool has_fewer_tasks(const struct facts *f)
{
	uint32_t tasks = f->snap->job.num_tasks[f->j], per_node = f->snap->job.ntasks_per_node[f->j];
	uint32_t nodes = f->snap->job.min_nodes[f->j];

	return f->asks & SL_ASKS_TASK_GRES &&
		((tasks && tasks < nodes) || (per_node && (tasks % per_node || tasks / per_node < nodes)));
}

static bool has_task_gres(const struct facts *f)
{
	return f->pers & 1u << SL_PER_TASK || f->asks & SL_ASKS_TASK_GRES;
}

/* True if some node of the partition has fewer gres than *tasks* tasks take. */
static bool lacks_gres_for(const struct facts *f, uint64_t tasks)
{
	const struct sl_job_gres_view *gres = &f->snap->job_gres;

	for (uint32_t g = f->a->gres.first; g < f->a->gres.first + f->a->gres.count; g++)
		for (uint32_t n = sl_nodeset_next(&f->part->nodes, 0); gres->per[g] == SL_PER_TASK && n < SL_MAX_NODES;
		     n = sl_nodeset_next(&f->part->nodes, n + 1))
			if (want_count_gres(f->c, g, n) < tasks * gres->count[g])
				return true;
	return false;
}

/* With gres per task, and no number of tasks per node, select requires on each node those of --ntasks-per-socket tasks, or else
 * of --ntasks-per-core tasks, however few the node is to have (min_tasks_this_node in select/cons_tres; from 24.05 on in
 * topology).  True if that may be more than a node of the job gives: whole nodes give all that they have. */
static bool has_gpu_room(const struct facts *f)
{
	uint32_t socket = f->snap->job.ntasks_per_socket[f->j], room = socket ? socket : f->snap->job.ntasks_per_core[f->j];

	if (f->a->tasks_per_node || room <= 1 || !has_task_gres(f) || (f->a->max_nodes == 1 && f->a->tasks >= room))
		return false;
	return !f->whole || !(f->pers & 1u << SL_PER_TASK) || lacks_gres_for(f, room);
}

static bool has_several_reservations(const struct facts *f)
{
	return f->resv != SL_NONE && !f->e->resv && strchr(cluster_str(f->c, f->snap->job.reservation[f->j]), ',');
}

/* True if the CPUs of a node may be those of its one task, though --ntasks-per-node says several.  A job of several tasks
 * has CPUs for all of these on each node (pn_min_cpus in _copy_job_desc_to_job_record(), slurmctld). */
static bool has_cpus_of_one_task(const struct facts *f)
{
	uint32_t cpus = f->e->shape ? 1 : f->snap->job.pn_min_cpus[f->j];

	return f->a->tasks == 1 && !f->a->overcommit && f->a->tasks_per_node > 1 &&
		cpus < (uint64_t) f->a->tasks_per_node * f->a->cpus_per_task;
}

/* True if it overcommits although select requires a CPU per task. */
static bool is_crowded(const struct facts *f)
{
	return f->a->overcommit && f->select & SL_SELECT_DEALS_ALL && (f->whole || f->asks & SL_ASKS_TASK_TRES) &&
		f->a->tasks > f->a->min_nodes;
}

/* -- the test of each word ------------------------------------------------- */

#define JOB(column) (f->snap->job.column[f->j])
#define TEST(id, test) static inline bool is_##id(const struct facts *f) { return test; }

TEST(NODELIST, JOB(req_nodes).count)
TEST(CONTIGUOUS, f->flags & SL_JOBF_CONTIGUOUS)
TEST(SWITCHES, JOB(switches))
TEST(PREFER, *cluster_str(f->c, JOB(prefer)))
TEST(COUNTS, f->constraint == SL_CONSTRAINT_COUNTED)
TEST(UNPLACED, is_unplaced(f))
TEST(REBOOT, f->asks & SL_ASKS_REBOOT)
TEST(NODE_COUNTS, *cluster_str(f->c, JOB(node_counts)) && !f->e->shape)
TEST(TASKS_PER_NODE, f->a->tasks_per_node)
TEST(ONE_TASK, f->select & SL_SELECT_DEALS_TO_NODES && !f->whole && has_cpus_of_one_task(f))
TEST(TASKS_PER_CORE, JOB(ntasks_per_core) || f->select & SL_SELECT_ONE_TASK_PER_CORE)
TEST(MINCPUS, f->a->node_cpus > f->a->cpus_per_task * sl_max(f->a->tasks_per_node, 1))
TEST(OVERCOMMIT, f->a->overcommit)
TEST(CROWDED, is_crowded(f))
TEST(SOCKETS, JOB(sockets_per_node) || JOB(cores_per_socket))
TEST(TASKS_PER_SOCKET, JOB(ntasks_per_socket))
TEST(BOARDS, f->asks & SL_ASKS_BOARDS)
TEST(SOCKETS_IN_TURN, f->asks & SL_ASKS_SOCKETS_IN_TURN)
TEST(CORE_SPEC, sl_request_core_spec(f->snap, f->j))
TEST(THREAD_SPEC, is_CORE_SPEC(f) && f->asks & SL_ASKS_SPEC_THREADS)
TEST(PLANE, JOB(distribution) == SL_DIST_PLANE && !f->whole && !f->a->overcommit)
TEST(ARBITRARY, JOB(distribution) == SL_DIST_ARBITRARY && JOB(arbitrary_tpn).count)
TEST(TASK_COUNTS, f->asks & SL_ASKS_TASK_COUNTS)
TEST(GRES, f->gres)
TEST(SEVERAL_GRES, f->gres > 1)
TEST(JOB_GRES, f->pers & 1u << SL_PER_JOB)
TEST(TASK_GRES, has_task_gres(f))
TEST(FEWER_TASKS, has_fewer_tasks(f))
TEST(GPU_ROOM, has_gpu_room(f))
TEST(SOCKET_GRES, f->pers & 1u << SL_PER_SOCKET)
TEST(BOUND_GRES, f->asks & SL_ASKS_BOUND_GRES)
TEST(TASKS_PER_GRES, f->asks & SL_ASKS_TASKS_PER_GRES)
TEST(CPUS_PER_GRES, f->cpus)
TEST(MEMORY_PER_GRES, f->memory)
TEST(UNSAID, is_unsaid(f))
TEST(UNCOUNTED, f->asks & (SL_ASKS_UNCOUNTED_GRES | SL_ASKS_ONE_TYPE))
TEST(WHOLE_SWITCHES, f->asks & SL_ASKS_WHOLE_SWITCHES || f->part_flags & SL_PART_EXCLUSIVE_TOPO)
TEST(SEGMENT_BLOCKS, f->asks & SL_ASKS_SEGMENT_BLOCKS)
TEST(BURST_BUFFER, f->asks & SL_ASKS_BURST_BUFFER)
TEST(EXPAND, f->asks & SL_ASKS_EXPAND)
TEST(HRES, f->asks & SL_ASKS_HRES)
TEST(EXTRA, f->asks & SL_ASKS_EXTRA)
TEST(RECLAIM, f->asks & SL_ASKS_RECLAIM)
TEST(PREEMPT, f->flags & SL_JOBF_MAY_PREEMPT && !f->e->freed)
TEST(REFUSED, JOB(refusals) >= SL_REFUSALS)
TEST(ALTERNATIVE, f->e->shape)
TEST(WHOLE_NODES, f->whole)
TEST(PARTS_OF_NODES, !f->whole)
TEST(THREADS, f->part->max_threads > 1)
TEST(NO_TASKS, !JOB(num_tasks) && !f->whole && !f->e->shape)
TEST(IDLE_THREADS, is_THREADS(f) && (is_TASKS_PER_CORE(f) || JOB(threads_per_core)))
TEST(UNEQUAL_THREADS, f->part->min_threads != f->part->max_threads)
TEST(UNEQUAL_SOCKETS, f->part->sockets < 1)
TEST(ODD_SOCKETS, f->part->socket_cores < 1)
TEST(SEVERAL_SOCKETS, f->part->sockets != 1)
TEST(GRES_OF_SOCKETS, f->gres && is_SEVERAL_SOCKETS(f) && !f->whole)
TEST(UNEQUAL_SPEC, f->part->core_spec < 0 || f->part->core_spec > SL_MAX_NODE_CORES)
TEST(SYSTEM_CORES, f->part->core_spec)
TEST(LINEAR, f->select & SL_SELECT_WHOLE_NODE)
TEST(LOAN, f->e->loan)
TEST(CPU_CAP, f->part->cap)
TEST(SHARED_NODES, f->part->shares)
TEST(UNEQUAL_ROWS, !f->c->part[f->e->partition].row_cores)
TEST(PARTIAL_SOMEWHERE, f->c->has_partial)
TEST(CR_SOCKET, sl_snapshot_by_socket(f->snap, f->e->partition))
TEST(MIXED_SOCKETS, mixes_sockets(f->snap))
TEST(PARTS_BY_SOCKET, is_CR_SOCKET(f) && !f->whole)
TEST(SHARED_CORES, f->shares)
TEST(CR_LLN, f->select & SL_SELECT_LLN_DEALS && f->select & SL_SELECT_LLN)
TEST(LLN, is_CR_LLN(f) || (f->select & SL_SELECT_LLN_DEALS && f->part_flags & SL_PART_LLN))
TEST(OTHER_TOPOLOGY, f->part_flags & SL_PART_OTHER_TOPOLOGY)
TEST(SOCKET_CAP, f->snap->partition.max_cpus_per_socket[f->e->partition] != SL_NONE)
TEST(GPU_CORES, f->part->restricts_cores)
TEST(RESERVED_GRES, f->gres && has_reserved_gres(f))
TEST(PARTIAL, f->resv != SL_NONE && f->snap->reservation.cores[f->resv])
TEST(PARTS_UNKNOWN, has_unknown_parts(f))
TEST(RESERVATIONS, has_several_reservations(f))

/* Collected in two halves: adding single bits to a 128-bit number would cost more than the tests. */
#define ADD(id, ...) half[SL_WORD_##id / 64] |= (uint64_t) is_##id(f) << SL_WORD_##id % 64;

static sl_word_set join(const uint64_t half[2])
{
	return (sl_word_set) half[1] << 64 | half[0];
}

sl_word_set want_node_words(const struct sl_cluster *c, const struct sl_entry *e)
{
	const struct facts facts = {
		.c = c, .snap = c->snap, .e = e, .part = cluster_part(c, e), .select = c->snap->meta.select_flags[0],
		.part_flags = c->snap->partition.flags[e->partition],
	}, *f = &facts;
	uint64_t half[2] = { 0 };

	SL_NODE_WORDS(ADD)
	return join(half);
}

static inline __attribute__((always_inline)) sl_word_set asked_words(const struct facts *f)
{
	uint64_t half[2] = { 0 };

	SL_ASKED_WORDS(ADD)
	return join(half) | f->part->words;
}

sl_word_set want_words(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a)
{
	struct facts f = read_facts(c, w, a);

	if (f.asks || f.gres)
		return asked_words(&f);
	/* for most jobs, where the compiler can resolve a third of the tests */
	f.asks = f.gres = f.pers = 0;
	f.cpus = f.memory = false;
	return asked_words(&f);
}
