/* SPDX-License-Identifier: MIT */
/*
 * want.c - what a pending job asks for, in the engine's terms.
 *
 * slurmctld keeps a request as the user stated it (num_tasks, min_cpus, pn_min_cpus, ...) and computes CPUs per node while it
 * selects.  Here it becomes an sl_request, in physical cores, once for each job, partition and shape; after job_mgr.c and
 * select/cons_tres of Slurm 22.05, by the rules of check/check.h.  What a request cannot express exactly becomes an upper
 * bound, and the job native.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"
#include "image/shapes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requests are limited to this, which is more than any node has. */
#define MEMORY_MOST (INT64_C(1) << 52)

int want_refuse(struct want *w, enum sl_why why, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	w->text = strdup(text);
	w->pub.why = why;
	w->pub.text = w->text ? w->text : "";
	return 0;
}

/* -- amounts ---------------------------------------------------------------- */

/* Cores per socket, if all sockets of the node are equal and entirely usable; else -1. */
static int64_t count_socket_cores(const struct sl_node_view *node, uint32_t n)
{
	uint32_t sockets = sl_max(node->sockets[n], 1);

	return node->core_spec[n] || node->cores[n] % sockets ? -1 : (int64_t) node->cores[n] / sockets;
}

static void measure_nodes(struct sl_cluster *c, const struct sl_entry *e)
{
	struct part *part = cluster_part(c, e);
	const struct sl_node_view *node = &c->snap->node;
	bool first = true;

	if (part->min_threads)
		return;
	part->min_threads = part->max_threads = 1;
	for (uint32_t i = 0; i < part->nodes.runs; i++) {
		for (uint32_t n = part->nodes.run[i].first; n <= part->nodes.run[i].last; n++) {
			uint32_t t = sl_max(node->threads[n], 1);
			int64_t memory = node->memory[n] > 0 ? node->memory[n] : 0, core_spec = node->core_spec[n];
			int64_t sockets = sl_max(node->sockets[n], 1), socket_cores = count_socket_cores(node, n);

			part->shares |= c->rows && c->rows[n] > 1;
			part->min_threads = first ? t : sl_min(part->min_threads, t);
			part->max_threads = first ? t : sl_max(part->max_threads, t);
			part->memory = first || part->memory == memory ? memory : -1;
			part->sockets = first || part->sockets == sockets ? sockets : -1;
			part->socket_cores = first || part->socket_cores == socket_cores ? socket_cores : -1;
			part->core_spec = first || part->core_spec == core_spec ? core_spec : -1;
			part->max_cores = first ? node->cores[n] : sl_max(part->max_cores, node->cores[n]);
			part->restricts_cores |= node->res_cores_per_gpu[n] > 0;
			part->has_others |= !*cluster_str(c, node->topology[n]);
			first = false;
		}
	}
	part->block_most = c->snap->partition.block_nodes[e->partition] ? cluster_most_in_leaf(c, &part->nodes) : 0;
	part->words = want_node_words(c, e);
}

/* Apply the partition's limits to what the job asks for, and compute the number of tasks to place. */
static void fit_partition(const struct sl_cluster *c, const struct want *w, struct sl_ask *a)
{
	const struct sl_partition_view *part = &c->snap->partition;
	uint32_t p = w->entry.partition, tasks = a->tasks, flags = c->snap->job.flags[w->entry.job];
	uint32_t max_nodes = flags & SL_JOBF_ANY_MAX_NODES && a->max_nodes ? 0 : part->max_nodes[p];

	a->tasks = sl_quotient_up(a->min_cpus, a->cpus_per_task);
	if (!a->overcommit)
		a->tasks = sl_max(a->tasks, tasks);
	if (!(flags & SL_JOBF_ANY_MIN_NODES))
		a->min_nodes = sl_max(a->min_nodes, part->min_nodes[p]);
	if (!a->max_nodes)
		a->max_nodes = sl_max(sl_max(a->min_nodes, a->job_gres),
				    sl_max(w->pub.asked & SL_W(TASK_GRES) && a->overcommit ? tasks : a->tasks, a->max_cpus / a->cpus_per_task));
	if (tasks)
		a->max_nodes = sl_min(a->max_nodes, sl_max(tasks, a->min_nodes));
	if (max_nodes)
		a->max_nodes = sl_min(a->max_nodes, max_nodes);
	if (w->entry.loan) {
		const struct sl_loan *loan = &c->loan[w->entry.loan - 1]->pub;

		for (uint32_t i = 0; i <= loan->lenders; i++) {
			uint32_t limit = part->max_nodes[i ? loan->lender[i - 1] : loan->through];

			a->max_nodes = limit ? sl_min(a->max_nodes, limit) : a->max_nodes;
		}
	}
}

/* Cores that the job leaves to the system replace the node's own core specialization. */
static void ask_core_spec(struct sl_cluster *c, struct want *w)
{
	if (want_can_place(w, SL_W(CORE_SPEC) | SL_W(THREAD_SPEC)))
		w->pub.request.extra_cores = (int32_t) cluster_part(c, &w->entry)->core_spec -
			(int32_t) sl_min(c->snap->job.core_spec[w->entry.job], SL_MAX_NODE_CORES);
}

/* Convert CPUs to cores, for nodes with that many usable threads per core. */
static void to_cores(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a, uint32_t threads,
		     struct sl_request *r)
{
	uint32_t k = c->snap->job.ntasks_per_core[w->entry.job], use = c->snap->job.threads_per_core[w->entry.job];

	if (use && use < threads)
		threads = use;
	r->min_cores_per_node = sl_quotient_up(a->node_cpus, counted_cpus(threads, k, a->cpus_per_task));
	if (!k && (c->snap->meta.select_flags[0] & SL_SELECT_ONE_TASK_PER_CORE))
		k = 1;
	if (k) {
		r->cores_per_task = sl_quotient_up(a->cpus_per_task, threads);
		r->tasks_per_core = a->cpus_per_task < threads ? sl_min(threads / a->cpus_per_task, k) : 1;
	} else {	/* threads of one core may belong to two tasks */
		uint32_t both = (uint32_t) sl_gcd(a->cpus_per_task, threads);

		r->cores_per_task = a->cpus_per_task / both;
		r->tasks_per_core = threads / both;
	}
}

/* A job with fewer tasks than --ntasks-per-node gets cores for its tasks only, but needs a node with room for
 * --ntasks-per-node tasks (min_tasks_this_node in _allocate_sc(), select/cons_tres). */
static void ask_room(const struct sl_ask *a, struct sl_request *r)
{
	if (!a->overcommit && !r->whole_nodes && a->tasks && a->tasks < a->tasks_per_node)
		r->least_free_cores = (uint32_t) sl_min(want_cores_of(r, a->tasks_per_node), UINT32_MAX);
}

static void ask_cores(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	struct sl_request *r = &w->pub.request, other;
	struct part *part = cluster_part(c, &w->entry);

	other = *r;
	to_cores(c, w, a, part->min_threads, r);
	if (part->max_threads != part->min_threads && !r->whole_nodes) {
		to_cores(c, w, a, part->max_threads, &other);
		if (other.cores_per_task != r->cores_per_task || other.tasks_per_core != r->tasks_per_core ||
		    other.min_cores_per_node != r->min_cores_per_node)
			w->pub.asked |= SL_W(ODD_THREADS);
	}
	r->min_nodes = a->min_nodes;
	r->max_nodes = a->max_nodes;
	/* with gres of the job, select stops as soon as it has these */
	r->most_nodes = a->most_nodes && a->max_nodes > a->min_nodes && !a->job_gres;
	r->tasks = a->tasks;
	r->tasks_per_node = a->tasks_per_node;
	ask_room(a, r);
	/* a job uses a core only once */
	if (cluster_sharing(c, w->entry.job, w->entry.partition) > 1 && !r->whole_nodes)
		r->max_cores_per_node = part->max_cores;
}

static void ask_memory(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	struct sl_request *r = &w->pub.request;
	struct part *part = cluster_part(c, &w->entry);

	if (!(c->snap->meta.select_flags[0] & SL_SELECT_MEMORY) || a->with.some_memory)
		return;	/* memory comes with gres only */
	if (a->memory_per_node > 0) {
		r->memory_per_node = a->memory_per_node < MEMORY_MOST ? a->memory_per_node : MEMORY_MOST;
	} else if (a->memory_per_cpu > 0 && r->whole_nodes &&
		   cluster_sharing(c, w->entry.job, w->entry.partition) > 1) {
		r->memory_per_core = 0;	/* the timeline counts each core n times */
	} else if (a->memory_per_cpu > 0) {
		int64_t threads = part->max_threads;

		r->memory_per_core = a->memory_per_cpu > MEMORY_MOST / SL_MAX_NODE_CORES / threads ?
			MEMORY_MOST / SL_MAX_NODE_CORES : a->memory_per_cpu * threads;
	} else if (part->memory >= 0) {
		r->memory_per_node = part->memory < MEMORY_MOST ? part->memory : MEMORY_MOST;
	} else {
		r->all_memory = true;
	}
}

/* For a job that overcommits: the gres of all its tasks together, because its CPUs do not follow from its tasks. */
static void of_all_tasks(struct sl_gres_need *need, uint32_t tasks)
{
	need->per = SL_GRES_PER_JOB;
	need->count = tasks > 1 && need->count > UINT32_MAX / tasks ? UINT32_MAX : need->count * sl_max(tasks, 1);
}

/* Gres that jobs do not use up (no_consume) only restricts the eligible nodes, if the job asks for it per node and without
 * CPUs or memory for each piece.  Otherwise select places the job. */
static void ask_no_consume(const struct sl_cluster *c, struct want *w, uint32_t row, bool alone)
{
	if (c->snap->job_gres.per[row] == SL_PER_NODE && alone && !c->snap->job_gres.cpus[row] && c->snap->job_gres.memory[row] <= 0)
		w->asks_no_consume = true;
	else
		w->pub.asked |= SL_W(UNCOUNTED);
}

/* Bits: kinds that have devices in *of*. */
static uint16_t kinds_with(const uint16_t of[SL_MAX_GRES])
{
	uint16_t kinds = 0;

	for (uint32_t k = 0; k < SL_MAX_GRES; k++)
		kinds |= of[k] ? (uint16_t) (1u << k) : 0;
	return kinds;
}

/*
 * Shares are placed by the engine if each node gives the same number of them, and no whole devices of that kind.  Otherwise
 * they are left to select.  Beside other shares or whole devices they are also left out of the bound: a node may have enough
 * free devices for each part of the request but not for all, and it is unknown which devices select will choose.
 */
static void limit_shares(const struct sl_cluster *c, struct want *w)
{
	const uint16_t of_share = kinds_with(c->devices.share), of_whole = kinds_with(c->devices.whole);
	struct sl_request *r = &w->pub.request;
	uint32_t shares = 0, devices = 0, kept = 0;
	bool per_node = !r->whole_nodes;

	for (uint32_t i = 0; i < r->gres_needs; i++) {
		uint16_t share = r->gres[i].kinds & of_share;

		shares += (uint32_t) __builtin_popcount(share);
		devices += r->gres[i].kinds & of_whole;
		per_node &= !share || r->gres[i].per == SL_GRES_PER_NODE;
	}
	if (shares > 1 || (shares && (devices || !per_node)))
		w->pub.asked |= SL_W(UNCOUNTED);
	if (shares <= 1 && !(shares && devices))
		return;
	for (uint32_t i = 0; i < r->gres_needs; i++)
		if (!(r->gres[i].kinds & of_share))
			r->gres[kept++] = r->gres[i];
	r->gres_needs = kept;
}

static int ask_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_request *r = &w->pub.request;

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++) {
		const char *name = cluster_str(c, s->job_gres.name[g]), *type = cluster_str(c, s->job_gres.type[g]);
		struct sl_gres_need need = { .count = s->job_gres.count[g], .per = SL_GRES_PER_NODE };
		bool known = false, modelled = true, no_consume = false;

		for (uint32_t k = 0; k < s->gres_kind.rows; k++) {
			if (!sl_gres_matches(s, g, k))
				continue;
			known = true;
			if (k < SL_MAX_GRES && c->modelled[k] && c->no_consume[k])
				no_consume = true;
			else if (k < SL_MAX_GRES && c->modelled[k])
				need.kinds |= (uint16_t) (1u << k);
			else
				modelled = false;
		}
		if (!need.count)
			continue;
		if (c->snap->meta.select_flags[0] & SL_SELECT_MEMORY && s->job_gres.memory[g] > 0)
			need.memory = s->job_gres.memory[g] < SL_MAX_GRES_MEMORY ? s->job_gres.memory[g] :
				SL_MAX_GRES_MEMORY;
		if (!known)
			return want_refuse(w, SL_WHY_NEVER, "no node has %s%s%s", name, *type ? ":" : "", type);
		if (no_consume) {
			ask_no_consume(c, w, g, modelled && !need.kinds);
			continue;
		}
		if (s->job_gres.per[g] == SL_PER_JOB)
			need.per = SL_GRES_PER_JOB;
		else if (s->job_gres.per[g] == SL_PER_TASK && a->overcommit)
			of_all_tasks(&need, s->job.num_tasks[w->entry.job]);
		else if (s->job_gres.per[g] == SL_PER_TASK)
			need.per = SL_GRES_PER_TASK;
		if (!modelled || r->gres_needs == SL_MAX_GRES_NEEDS)
			w->pub.asked |= SL_W(MANY_GRES);
		else
			r->gres[r->gres_needs++] = need;
	}
	if (r->gres_needs && c->has_devices)
		limit_shares(c, w);
	return 0;
}

/* MaxCPUsPerNode limits what all jobs of the partition use on a node; a gres kind counts it.  If tasks use whole cores,
 * the count is per task; otherwise the job is assumed to need all that the partition may use there. */
static int ask_cap(struct sl_cluster *c, struct want *w, struct sl_request *exact)
{
	struct part *part = cluster_part(c, &w->entry);
	struct sl_request *r = &w->pub.request;
	struct sl_gres_need need = { .per = SL_GRES_PER_TASK, .count = r->cores_per_task };
	uint32_t cores = part->cap / part->max_threads;

	if (!part->cap || r->whole_nodes || part->share > 1 || sl_words_left(w->pub.asked))
		return 0;
	if (!cores)
		return want_refuse(w, SL_WHY_PARTITION, "MaxCPUsPerNode of partition %s is less than a core",
			      cluster_str(c, c->snap->partition.name[w->entry.partition]));
	r->max_cores_per_node = exact->max_cores_per_node = cores;
	if (part->cap_kind == SL_NONE || r->gres_needs == SL_MAX_GRES_NEEDS) {
		w->pub.asked |= SL_W(UNCOUNTED_CAP);
		return 0;
	}
	need.kinds = (uint16_t) (1u << part->cap_kind);
	if (r->tasks_per_core > 1 || exact->min_cores_per_node > r->cores_per_task) {
		need.per = SL_GRES_PER_NODE;
		need.count = cores;
	}
	r->gres[r->gres_needs++] = exact->gres[exact->gres_needs++] = need;
	return 0;
}

/* --switches: limit the leaves while the job is willing to wait. */
static void ask_switches(const struct sl_cluster *c, struct want *w)
{
	w->leaves_until = cluster_impatient_at(c, w->entry.job);
	if (c->now >= w->leaves_until)
		return;
	w->pub.request.max_leaves = c->snap->job.switches[w->entry.job];
	if (w->valid_until > w->leaves_until)
		w->valid_until = w->leaves_until;
}

/* -- time ------------------------------------------------------------------- */

static int ask_time(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	struct sl_walltime t = sl_request_walltime(c->snap, w->entry.job, a, w->entry.partition);
	bool too_long = t.asked > t.ceiling && a->walltime_min <= 0;

	w->asked = t.asked;
	if (t.named <= 0 || t.ceiling <= 0)
		return want_refuse(w, SL_WHY_PARTITION, "has a time limit of 0");
	if (a->walltime_min > t.ceiling || too_long)
		return want_refuse(w, SL_WHY_PARTITION, "asks for %" PRId64 " minutes, partition %s allows %" PRId64,
				   (t.asked > t.ceiling ? t.named : a->walltime_min) / 60,
				   cluster_str(c, c->snap->partition.name[w->entry.partition]), t.ceiling / 60);
	w->pub.time_limit = t.limit;
	w->pub.time_floor = t.floor;
	w->pub.request.duration = w->pub.time_limit;
	return 0;
}

/* -- the whole request -------------------------------------------------------- */

/* True if the job certainly gets one node.  A task does not span nodes, but gres of the job, a node list, or a list of
 * node counts may need several. */
static bool has_one_node(const struct want *w, const struct sl_request *r)
{
	return r->max_nodes == 1 || (r->min_nodes <= 1 && r->tasks == 1 && !(w->pub.asked & (SL_W(JOB_GRES) | SL_W(NODELIST) | SL_W(NODE_COUNTS))));
}

/* True if the job has a fixed number of nodes and a task on each. */
static bool has_a_task_on_each(const struct sl_request *r)
{
	return r->min_nodes == r->max_nodes && r->tasks == r->min_nodes && !r->tasks_per_node;
}

/*
 * topology/block puts a segment into one block or, if it is larger, into as few blocks as can hold it; a job without segments
 * is one segment (eval_nodes_block(), 24.11 to 26.05).  If there are no larger blocks and no spare nodes in blocks, a segment
 * of whole blocks may use any whole blocks.  Returns the nodes of a segment if select accepts any choice of free nodes with
 * whole segments; 0: there are no blocks, or only select knows the acceptable choices.
 */
static uint32_t ask_blocks(struct sl_cluster *c, struct want *w, struct exact *x)
{
	struct sl_request *r = &x->request;
	uint32_t j = w->entry.job, block = c->snap->partition.block_nodes[w->entry.partition];
	uint32_t segment = c->snap->job.segment[j] ? c->snap->job.segment[j] : r->min_nodes;
	const struct part *part = cluster_part(c, &w->entry);
	bool fills = block && segment % block == 0 && part->block_most <= block &&
		!(c->snap->partition.flags[w->entry.partition] & SL_PART_BLOCK_LEVELS);

	if (block && !(w->pub.asked & SL_W(SEVERAL_NODES)) && !x->narrower)
		r->max_nodes = w->pub.request.max_nodes = 1;	/* so that no policy names two nodes */
	if (!block || r->max_nodes == 1)
		return 0;
	w->pub.asked |= SL_W(BLOCKS);
	if (has_a_task_on_each(r))
		w->pub.asked &= ~SL_W(UNSETTLED);
	if ((segment <= block || fills) && segment && r->min_nodes % segment == 0 && r->min_nodes == r->max_nodes && !x->narrower &&
	    !(c->snap->job.flags[j] & SL_JOBF_SPREAD) && !part->has_others)
		return segment <= block ? segment : block;
	w->pub.asked |= SL_W(WIDE_BLOCKS);
	return 0;
}

/* Make the request what the job itself asks for, without a choice of nodes.  On borrowed nodes the job is refused. */
static void leave_to_select(struct want *w, struct exact *x)
{
	struct sl_request *r = &w->pub.request;
	char text[SL_WORDS_TEXT];

	w->pub.method = SL_PLACE_NATIVE;
	r->max_leaves = r->parts = 0;
	r->part = NULL;
	*x = (struct exact) { .request = *r };
	if (w->entry.loan || w->entry.confine)
		want_refuse(w, SL_WHY_NOT_MODELLED, "only Slurm's select can place it (%s), and not on %s",
			    sl_words_text(w->pub.native, w->pub.asked, text, sizeof(text)),
			    w->entry.loan ? "borrowed nodes" : "nodes that the policy names");
}

/* True if pack_serial_at_end puts the job on the last node (eval_nodes() of select/cons_tres). */
static bool is_serial(const struct sl_cluster *c, const struct want *w)
{
	uint32_t j = w->entry.job;

	return c->snap->meta.select_flags[0] & SL_SELECT_SERIAL_AT_END && !w->entry.shape && c->snap->job.min_cpus[j] == 1 &&
		c->snap->job.min_nodes[j] == 1 && c->snap->job.max_nodes[j] <= 1;
}

/* True if tasks begin or end within a core, and select does not round them up.  (_can_job_run_on_node() of
 * select/cons_tres, up to 23.02, rounds up if it counts memory by CPU.) */
static bool has_parts_of_tasks(const struct sl_cluster *c, const struct sl_request *r)
{
	return c->snap->meta.select_flags[0] & SL_SELECT_PARTS_OF_TASKS && r->cores_per_task > 1 && r->tasks_per_core > 1 &&
		!r->memory_per_core;
}

/* True if the job has gres per task, unless the number of tasks on each node is certain and they use cores of the only
 * socket: then select has exactly the tasks' cores near the gres (_select_cores() of select/cons_tres). */
static bool has_gres_of_tasks(const struct want *w, const struct sl_request *r)
{
	bool sure = !r->whole_nodes && (want_tasks_of_each_node(r) || has_a_task_on_each(r)) &&
		(r->cores_per_task == 1 || r->tasks_per_core == 1);

	return w->pub.asked & SL_W(TASK_GRES) && (!sure || w->pub.asked & (SL_ODD_CORES | SL_W(SEVERAL_SOCKETS) |
									    SL_W(SEVERAL_GRES) | SL_W(MINCPUS)));
}

static enum sl_place_method choose_method(const struct sl_cluster *c, const struct want *w)
{
	if (c->snap->job.flags[w->entry.job] & SL_JOBF_SPREAD)
		return SL_PLACE_SPREAD;
	if (c->snap->meta.select_flags[0] & SL_SELECT_LLN || c->snap->partition.flags[w->entry.partition] & SL_PART_LLN)
		return SL_PLACE_LEAST_LOADED;
	return is_serial(c, w) ? SL_PLACE_LAST : SL_PLACE_BESTFIT;
}

/* Decide who places the job: the engine, by the exact request, or select.  0 or -1. */
static int choose_placer(struct sl_cluster *c, struct want *w, struct exact *x, struct sl_error *err)
{
	uint32_t segment;
	sl_word_set left;
	int rc;

	w->pub.method = choose_method(c, w);
	w->pub.asked |= x->request.whole_nodes || want_tasks_of_each_node(&x->request) ? 0 : SL_W(UNSETTLED);
	w->pub.asked |= has_parts_of_tasks(c, &x->request) ? SL_W(PARTS_OF_TASKS) : 0;
	w->pub.asked |= has_gres_of_tasks(w, &x->request) ? SL_W(GRES_OF_TASKS) : 0;
	w->pub.asked |= has_one_node(w, &x->request) ? 0 : SL_W(SEVERAL_NODES);
	segment = ask_blocks(c, w, x);
	left = sl_words_left(w->pub.asked);
	if (!left && !want_can_list(w, x)) {
		w->pub.asked |= left = SL_W(MANY_CHOICES);
		w->counts = 0;
	}
	if (!left) {
		x->request.segment = segment;
		return 0;
	}
	rc = want_some_nodes(c, w, left, x, err);
	if (!rc) {
		w->pub.native = left;
		leave_to_select(w, x);
	}
	return rc < 0 ? -1 : 0;
}

/* Refuse an alternative that may not be used now. */
static int refuse_shape(const struct sl_cluster *c, struct want *w)
{
	uint32_t row = c->snap->job.shapes[w->entry.job].first + w->entry.shape - 1, refused = c->snap->shape.refused[row];

	if (refused == SL_SHAPE_REFUSED_LATELY)
		return want_refuse(w, SL_WHY_RESOURCES, "its alternative %" PRIu32 " was refused a moment ago", w->entry.shape);
	if (refused)
		return want_refuse(w, SL_WHY_NEVER, "its alternative %" PRIu32 " asks for more %s than the job itself, which this "
				   "site does not allow", w->entry.shape, sl_shape_refusal_word(refused));
	return 0;
}

static int refuse_at_once(const struct sl_cluster *c, struct want *w)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = w->entry.job, p = w->entry.partition;
	enum sl_constraint constraint = cluster_constraint(c, job->features[j]).kind;

	if (!(c->snap->partition.flags[p] & SL_PART_UP))
		return want_refuse(w, SL_WHY_PARTITION, "partition %s is down", cluster_str(c, c->snap->partition.name[p]));
	if (constraint == SL_CONSTRAINT_BROKEN || constraint == SL_CONSTRAINT_NO_COUNT)
		return want_refuse(w, SL_WHY_NEVER, "its constraint has %s: %s", constraint == SL_CONSTRAINT_BROKEN ?
				   "brackets that do not match" : "a count that is no number from 1 on",
				   cluster_str(c, job->features[j]));
	return w->entry.shape ? refuse_shape(c, w) : 0;
}

/* The job needs at least as many nodes as its constraint counts. */
static int ask_counted(const struct sl_cluster *c, struct want *w, struct sl_ask *a)
{
	const char *constraint = cluster_str(c, c->snap->job.features[w->entry.job]);
	struct sl_constraint_says says = cluster_constraint(c, c->snap->job.features[w->entry.job]);
	uint64_t nodes = 0;

	if (says.kind != SL_CONSTRAINT_COUNTED)
		return 0;
	for (uint32_t i = 0; i < says.choices; i++)
		nodes += says.count[i];
	if (nodes > (a->max_nodes ? a->max_nodes : UINT32_MAX))
		return want_refuse(w, SL_WHY_NEVER, "may have %" PRIu32 " nodes, its constraint counts %" PRIu64 ": %s",
				   a->max_nodes ? a->max_nodes : UINT32_MAX, nodes, constraint);
	a->min_nodes = sl_max(a->min_nodes, (uint32_t) nodes);
	return 0;
}

/* Compute w->pub.request: amounts in whole cores, and eligible nodes.  0, also if the job is refused; or -1. */
static int ask_all(struct sl_cluster *c, struct want *w, struct sl_ask *a, struct sl_error *err)
{
	struct sl_request *r = &w->pub.request;
	uint32_t j = w->entry.job, p = w->entry.partition;

	if (ask_counted(c, w, a) < 0 || w->pub.why)
		return 0;
	r->contiguous = c->snap->job.flags[j] & SL_JOBF_CONTIGUOUS;
	r->whole_nodes = (c->snap->job.flags[j] & SL_JOBF_EXCLUSIVE) || !c->snap->partition.oversubscribe[p] ||
		(c->snap->meta.select_flags[0] & SL_SELECT_WHOLE_NODE) || sl_request_core_spec(c->snap, j);
	r->ignores_tree = c->snap->meta.select_flags[0] & SL_SELECT_TOPO_OPTIONAL && !c->snap->job.switches[j];
	w->pub.asked = want_words(c, w, a);
	fit_partition(c, w, a);
	ask_core_spec(c, w);
	if (a->max_nodes < a->min_nodes)
		return want_refuse(w, SL_WHY_PARTITION, "needs %" PRIu32 " nodes, may have %" PRIu32 " in partition %s",
			      a->min_nodes, a->max_nodes, cluster_str(c, c->snap->partition.name[p]));
	if (want_counts(c, w, a, err) < 0)
		return -1;
	if (w->pub.why)
		return 0;
	ask_cores(c, w, a);
	want_sockets(c, w, a);
	want_whole_sockets(c, w, a);
	if (want_deal(c, w, err) < 0)
		return -1;
	ask_memory(c, w, a);
	if (!w->pub.why)
		ask_gres(c, w, a);
	if (!w->pub.why)
		ask_time(c, w, a);
	if (w->pub.why)
		return 0;
	ask_switches(c, w);
	if (want_choose_nodes(c, w, err) < 0)
		return -1;
	want_job_gres(c, w);
	return 0;
}

/* Fill in *w*, whose entry is set. */
static int work_out(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	struct exact x = { .narrower = false };
	struct sl_ask a;

	if (refuse_at_once(c, w) < 0 || w->pub.why)
		return 0;
	if (want_choose_enclave(c, w, err) < 0)
		return -1;
	if (w->pub.why)
		return 0;
	measure_nodes(c, &w->entry);
	a = sl_request_read(c->snap, w->entry.job, w->entry.shape);
	w->gres = a.gres;
	if (ask_all(c, w, &a, err) < 0)
		return -1;
	if (w->pub.why)
		return 0;
	x.request = w->pub.request;
	want_sockets_of_parts(c, w, &a, &x);
	want_with_gres(c, w, &a, &x);
	want_shared(c, w, &a, &x.request);
	ask_cap(c, w, &x.request);
	if (w->pub.why)
		return 0;
	if (choose_placer(c, w, &x, err) < 0 || want_find_up(c, w, x.request.eligible, err) < 0)
		return -1;
	return want_list(w, &x, err);
}

static void empty(struct want *w)
{
	want_free_nodes(w);
	free(w->text);
	*w = (struct want) { .entry = w->entry, .next = w->next };
}

const struct want *cluster_want(struct sl_cluster *c, struct sl_entry e, struct sl_error *err)
{
	struct want *w;

	if (e.job >= c->snap->job.rows || e.partition >= c->snap->partition.rows ||
	    e.shape > c->snap->job.shapes[e.job].count || e.loan > c->loans || e.resv > c->snap->reservation.rows) {
		sl_fail(err, SL_EINVAL, "no such entry: job row %" PRIu32 ", partition row %" PRIu32 ", shape %" PRIu32
			", loan %" PRIu32, e.job, e.partition, e.shape, e.loan);
		return NULL;
	}
	if (!e.confine || e.confine > c->confinements)
		e.confine = sl_cluster_confined(c, e.job);
	for (w = c->want[e.job]; w; w = w->next)
		if (w->entry.partition == e.partition && w->entry.shape == e.shape && w->entry.loan == e.loan &&
		    w->entry.resv == e.resv && w->entry.confine == e.confine && w->entry.freed == e.freed)
			break;
	if (w && c->now < w->valid_until)
		return w;
	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w) {
			sl_fail(err, SL_ENOMEM, "cluster: out of memory");
			return NULL;
		}
		w->entry = e;
		w->next = c->want[e.job];
		c->want[e.job] = w;
	}
	empty(w);
	w->valid_until = INT64_MAX;
	if (work_out(c, w, err) < 0) {
		w->valid_until = INT64_MIN;	/* compute it again next time */
		return NULL;
	}
	return w;
}

const struct sl_want *sl_cluster_want(struct sl_cluster *c, struct sl_entry e, struct sl_error *err)
{
	const struct want *w = cluster_want(c, e, err);

	return w ? &w->pub : NULL;
}

void cluster_want_free(struct sl_cluster *c, uint32_t job)
{
	struct want *next;

	for (struct want *w = c->want[job]; w; w = next) {
		next = w->next;
		empty(w);
		free(w);
	}
	c->want[job] = NULL;
}

void cluster_wants_free(struct sl_cluster *c)
{
	for (uint32_t j = 0; c->want && j < c->snap->job.rows; j++)
		cluster_want_free(c, j);
}
