/* SPDX-License-Identifier: MIT */
/* request.c - properties of a request that follow from its fields. */
#include "timeline/request.h"

#include <string.h>

#include "base/number.h"

/* -- which fields are set ----------------------------------------------------- */

enum { FIRST = 1, NAMED = 2, APART = 4, CORES = 8, MOST = FIRST | NAMED | APART, ALL = MOST | CORES };

/* True if all fields that are set have the property *what*.  *what* is a constant, so only fields without the property are
 * tested. */
static inline __attribute__((always_inline)) bool holds_of_all(const struct sl_request *r, unsigned what)
{
	bool other = false;

#define SL_X(type, name, comparison, holds) other |= !((holds) & what) && r->name != 0;
	SL_REQUEST_FIELDS(SL_X)
#undef SL_X
	return !other;
}

bool sl_request_has_first_start(const struct sl_request *r)
{
	return holds_of_all(r, FIRST) && !sl_request_has_job_gres(r);
}

bool sl_request_may_be_named(const struct sl_request *r)
{
	return holds_of_all(r, NAMED);
}

bool sl_request_is_apart(const struct sl_request *r)
{
	return holds_of_all(r, APART);
}

bool sl_request_is_cores(const struct sl_request *r, int64_t cores)
{
	return holds_of_all(r, CORES) && r->tasks_per_core <= 1 && r->min_nodes <= 1 &&
		cores == (r->tasks ? r->tasks * sl_max_signed(r->cores_per_task, 1) : r->cores);
}

/* -- comparing two requests --------------------------------------------------- */

static uint32_t or_most(uint32_t limit)
{
	return limit ? limit : UINT32_MAX;
}

/* True if the request counts tasks, not cores. */
static bool is_by_tasks(const struct sl_request *r)
{
	return r->tasks || (r->tasks_per_node && r->tasks_per_node_exact);
}

/* True if *a* asks for no more tasks or cores than *b*, in the same unit.  If b fits on k nodes and a may have fewer, the
 * best of these k nodes have at least their proportion of what b asks for. */
static bool asks_as_many(const struct sl_request *a, const struct sl_request *b)
{
	const uint64_t most_a = or_most(a->max_nodes), most_b = or_most(b->max_nodes);

	if (b->cores < a->cores || b->tasks * most_a < a->tasks * most_b)
		return false;
	if (a->cores && sl_product((uint64_t) b->cores, most_a) < sl_product((uint64_t) a->cores, most_b))
		return false;
	return is_by_tasks(a) == is_by_tasks(b) || (!is_by_tasks(a) && !a->cores && !a->gres_needs);
}

/* If both have the same exact number of tasks per node, *a* fits on some of the nodes of *b*. */
static bool asks_as_exactly(const struct sl_request *a, const struct sl_request *b)
{
	return !a->tasks_per_node_exact || !a->tasks_per_node ||
		(b->tasks_per_node_exact && a->tasks_per_node == b->tasks_per_node && a->tasks && b->tasks);
}

static bool asks_gres(const struct sl_request *a, const struct sl_request *b)
{
	return !a->gres_needs || (a->gres_needs == b->gres_needs && !memcmp(a->gres, b->gres, a->gres_needs * sizeof(a->gres[0])) &&
				  (or_most(a->max_nodes) >= or_most(b->max_nodes) || !sl_request_has_job_gres(a)));
}

static bool asks_more_free(const struct sl_request *a, const struct sl_request *b)
{
	const uint32_t free_a = a->whole_nodes ? 0 : a->least_free_cores, free_b = b->whole_nodes ? 0 : b->least_free_cores;
	const uint32_t once_a = a->whole_nodes ? 0 : a->cores_at_once, once_b = b->whole_nodes ? 0 : b->cores_at_once;

	return free_a <= free_b && (once_a <= 1 || once_a == once_b) && sl_request_beside(a) >= sl_request_beside(b);
}

bool sl_request_compare(const struct sl_request *a, const struct sl_request *b)
{
	bool says_which = false, same_which = true;

	if (!asks_as_many(a, b))
		return false;
#define MORE(f) if (b->f < a->f) return false;
#define LIMIT(f) if (b->f - 1 > a->f - 1) return false;		/* 0 means no limit: 0 - 1 is the largest number */
#define FEWER(f) if (b->f > a->f) return false;
#define WHICH(f) says_which |= a->f != 0; same_which &= a->f == b->f;
#define EQUAL(f) if (a->f != b->f) return false;
#define NONE(f) if (a->f) return false;
#define FREE(f)
#define HAND(f)
#define CALLER(f)
#define SL_X(type, name, comparison, holds) comparison(name)
	SL_REQUEST_FIELDS(SL_X)
#undef SL_X
	if (says_which && (!same_which || or_most(a->max_nodes) < or_most(b->max_nodes)))
		return false;
	return asks_gres(a, b) && asks_as_exactly(a, b) && asks_more_free(a, b);
}

/* -- one request --------------------------------------------------------------- */

static int check_gres(const struct sl_request *r, struct sl_error *err)
{
	if (r->gres_needs > SL_MAX_GRES_NEEDS)
		return sl_fail(err, SL_EINVAL, "%u needs of gres: at most %d", r->gres_needs, SL_MAX_GRES_NEEDS);
	for (uint32_t i = 0; i < r->gres_needs; i++) {
		uint16_t a = r->gres[i].kinds;

		if (r->gres[i].memory < 0 || r->gres[i].memory > SL_MAX_GRES_MEMORY ||
		    (r->gres[i].memory && (r->memory_per_core || r->all_memory)))
			return sl_fail(err, SL_EINVAL, "gres need %u: memory for each", i);
		if (r->gres[i].per > SL_GRES_PER_JOB)
			return sl_fail(err, SL_EINVAL, "gres need %u: per what? (%u)", i, r->gres[i].per);
		if (a >> SL_MAX_GRES)
			return sl_fail(err, SL_EINVAL, "gres need %u: kinds 0x%x of %d", i, a, SL_MAX_GRES);
		for (uint32_t j = 0; j < i; j++) {
			uint16_t b = r->gres[j].kinds, both = a & b;

			if (both && both != a && both != b)
				return sl_fail(err, SL_EINVAL, "gres needs %u and %u: kinds 0x%x and 0x%x overlap halfway",
					       j, i, b, a);
		}
	}
	return 0;
}

int sl_request_check(const struct sl_request *r, struct sl_error *err)
{
	if (r->duration <= 0)
		return sl_fail(err, SL_EINVAL, "duration %lld: not positive", (long long) r->duration);
	if (r->cores < 0 || r->memory_per_node < 0 || r->memory_per_core < 0)
		return sl_fail(err, SL_EINVAL, "negative amount of cores or memory");
	if (r->memory_per_node > INT64_MAX / 4 || r->memory_per_core > INT64_MAX / 4 / SL_MAX_NODE_CORES ||
	    r->cores > INT64_MAX / 4)
		return sl_fail(err, SL_EINVAL, "amount of cores or memory out of range");
	if (r->cores_at_once > SL_MAX_NODE_CORES)
		return sl_fail(err, SL_EINVAL, "%u cores at once: no node has as many", r->cores_at_once);
	if (r->all_memory && (r->memory_per_node || r->memory_per_core))
		return sl_fail(err, SL_EINVAL, "all of the memory, and an amount of it");
	if (r->segment && (r->required || r->parts || r->max_leaves || r->most_nodes || r->contiguous ||
			   sl_max(r->min_nodes, 1) != r->max_nodes || r->max_nodes % r->segment))
		return sl_fail(err, SL_EINVAL, "segments of %u nodes: expected beside a number of nodes that is a multiple of it, and "
			       "beside nothing else that says which nodes", r->segment);
	return check_gres(r, err);
}

/* True if another gres need of the request asks for one of the same kinds. */
static bool is_shared(const struct sl_request *r, uint32_t need)
{
	for (uint32_t i = 0; i < r->gres_needs; i++)
		if (i != need && r->gres[i].kinds & r->gres[need].kinds)
			return true;
	return false;
}

/* Claim *pieces* of a gres need, of which the node gives *has*.  They may be of any of its kinds. */
static void claim_pieces(const struct sl_request *r, uint32_t need, int64_t pieces, int64_t has, struct sl_resources *claim)
{
	const struct sl_gres_need *g = &r->gres[need];
	bool shared = is_shared(r, need);

	if (pieces <= has && !shared)
		return;
	for (int k = 0; k < SL_MAX_GRES; k++)
		if (g->kinds >> k & 1 && (shared || claim->gres[k] < pieces))
			claim->gres[k] = shared || pieces > UINT16_MAX ? UINT16_MAX : (uint16_t) pieces;
	claim->memory += g->memory * (shared ? pieces : pieces - has);
}

/* The most tasks that *cores* cores can host. */
static int64_t most_tasks(const struct sl_request *r, int64_t cores)
{
	int64_t tasks = cores * sl_max_signed(r->tasks_per_core, 1) / sl_max_signed(r->cores_per_task, 1);

	return r->tasks_per_node ? sl_min_signed(tasks, r->tasks_per_node) : tasks;
}

void sl_request_claim(const struct sl_request *r, const struct sl_resources *each, struct sl_resources *claim)
{
	*claim = *each;
	if (r->whole_nodes)
		return;
	claim->cores -= sl_request_beside(r);
	if (claim->cores < (int64_t) r->least_free_cores)
		claim->cores = r->least_free_cores < INT32_MAX ? (int32_t) r->least_free_cores : INT32_MAX;
	for (uint32_t i = 0; i < r->gres_needs; i++) {
		const struct sl_gres_need *g = &r->gres[i];
		int64_t has = 0;

		for (int k = 0; k < SL_MAX_GRES; k++)
			has += g->kinds >> k & 1 ? each->gres[k] : 0;
		if (g->per == SL_GRES_PER_JOB && g->count)
			claim_pieces(r, i, 1, has, claim);
		else if (g->per == SL_GRES_PER_TASK)
			claim_pieces(r, i, most_tasks(r, each->cores) * g->count, has, claim);
	}
}
