/* SPDX-License-Identifier: MIT */
#include "auction/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"

/* What is being worked out. */
struct make {
	struct sl_window *w;
	struct sl_cluster *c;
	uint16_t gpu_kinds;
	bool memory;			/* some job asks for it */
	const struct sl_nodeset **set;	/* NULL: all nodes */
	int64_t *seconds;		/* distinct walltimes, ascending */
	uint32_t lengths;
	uint32_t *level_of;		/* by walltime */
	struct sl_window_free **view;	/* by walltime: free by the timeline's class, or NULL */
	uint32_t raw;			/* classes of the timeline */
	uint32_t last_of[SL_WINDOW_LEVELS];	/* longest walltime of a level */
	const struct sl_allowance *allowance;
	uint64_t bytes;			/* of the views */
};

static int no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "out of memory for a window of jobs");
}

/* -- jobs --------------------------------------------------------------- */

/* GPUs of each node; of a job's or a task's the least that it comes to. */
static int64_t gpus_of(const struct sl_request *r, const struct sl_window_job *j, uint16_t kinds)
{
	int64_t gpus = 0;

	for (uint32_t i = 0; i < r->gres_needs; i++) {
		const struct sl_gres_need *g = &r->gres[i];

		if (!(g->kinds & kinds))
			continue;
		if (g->per == SL_GRES_PER_NODE)
			gpus += g->count;
		else if (g->per == SL_GRES_PER_TASK)
			gpus += g->count * sl_max(j->least / j->unit, 1);
		else if (j->max_nodes)
			gpus += (int64_t) sl_quotient_up(g->count, j->max_nodes);
		else
			gpus += 1;
	}
	return gpus;
}

static void read_cores(struct sl_window_job *j, const struct sl_request *r)
{
	int64_t sharers = sl_max(r->tasks_per_core, 1), shared = sl_max(r->cores_per_task, 1);

	j->unit = (uint32_t) sl_quotient_up(shared, sharers);
	j->least = r->min_cores_per_node > j->unit ? r->min_cores_per_node : j->unit;
	j->most = r->max_cores_per_node;
	if (r->tasks_per_node) {
		int64_t most = (int64_t) sl_quotient_up(r->tasks_per_node * shared, sharers);

		if (!j->most || most < j->most)
			j->most = most;
		if (r->tasks_per_node_exact && most > j->least)
			j->least = most;
	}
	if (r->tasks)
		j->cores = (int64_t) sl_quotient_up(r->tasks * shared, sharers);
	else if (r->tasks_per_node_exact && r->tasks_per_node)
		j->cores = j->min_nodes * j->least;
	else
		j->cores = r->cores ? r->cores : j->min_nodes * j->least;
	if (j->cores < j->min_nodes * j->least)
		j->cores = j->min_nodes * j->least;
}

static void read_job(struct make *m, struct sl_window_job *j, const struct sl_want *want)
{
	const struct sl_request *r = want->exact ? want->exact : &want->request;

	j->never = want->why != SL_WHY_NONE;
	j->native = !sl_want_takes_places(want);
	j->whole = r->whole_nodes || r->all_memory;	/* (a node has one amount of memory that is asked for) */
	j->contiguous = r->contiguous;
	j->min_nodes = (uint32_t) sl_max(r->min_nodes, 1);
	j->max_nodes = r->max_nodes;
	read_cores(j, r);
	/* as many as it has tasks: no limit that could bind */
	if (j->max_nodes >= j->cores / j->unit)
		j->max_nodes = j->min_nodes > 1 && j->min_nodes >= j->max_nodes ? j->max_nodes : 0;
	j->gpus = gpus_of(r, j, m->gpu_kinds);
	j->memory = r->memory_per_node;
	j->core_memory = r->memory_per_core;
	j->seconds = sl_cluster_needs_nodes_s(m->c, want);
	j->divisible = !j->native && !j->whole && !j->contiguous && j->min_nodes == 1 && !j->max_nodes &&
		       j->unit == 1 && j->least == 1 && !j->most && !r->gres_needs && !j->memory &&
		       !j->core_memory && !(r->required && r->required->count) && sl_max(r->tasks_per_core, 1) == 1;
	if (j->memory || j->core_memory)
		m->memory = true;
}

static uint32_t find_set(struct make *m, const struct sl_nodeset *eligible)
{
	uint32_t i;

	for (i = 0; i < m->w->sets; i++)
		if (m->set[i] == eligible ||
		    (m->set[i] && eligible && sl_nodeset_equal(m->set[i], eligible)))
			return i;
	m->set[m->w->sets] = eligible;
	return m->w->sets++;
}

static int read_jobs(struct make *m, const struct sl_entry *entry, struct sl_error *err)
{
	for (uint32_t i = 0; i < m->w->jobs; i++) {
		const struct sl_want *want = sl_cluster_want(m->c, entry[i], err);

		if (!want || sl_may_go_on(m->allowance, err) < 0)
			return -1;
		read_job(m, &m->w->job[i], want);
		m->w->job[i].set = find_set(m, want->up ? want->up : want->request.eligible);
	}
	return 0;
}

/* -- levels ------------------------------------------------------------- */

static void find_lengths(struct make *m)
{
	for (uint32_t i = 0; i < m->w->jobs; i++)
		m->seconds[i] = m->w->job[i].seconds;
	qsort(m->seconds, m->w->jobs, sizeof(*m->seconds), sl_order_i64);
	for (uint32_t i = 0; i < m->w->jobs; i++)
		if (!i || m->seconds[i] != m->seconds[m->lengths - 1])
			m->seconds[m->lengths++] = m->seconds[i];
}

/* What is free until the jobs of walltime *at* end, by the timeline's class. */
static int look_until(struct make *m, uint32_t at, struct sl_error *err)
{
	struct sl_timeline *tl = sl_cluster_timeline(m->c);
	int64_t now = sl_cluster_now(m->c), end = sl_later(now, m->seconds[at]);
	const struct sl_class *cls;
	int64_t n;

	if (m->view[at])
		return 0;
	n = sl_timeline_classes(tl, NULL, now, end > now ? end : now + 1, &cls, err);
	m->bytes += n < 0 ? 0 : (uint64_t) n * sizeof(**m->view);
	if (n < 0 || sl_may_go_on(m->allowance, err) < 0 || sl_may_take(m->allowance, m->bytes, "window", err) < 0)
		return -1;
	m->view[at] = calloc((size_t) n + 1, sizeof(**m->view));
	if (!m->view[at])
		return no_memory(err);
	m->raw = (uint32_t) n;
	for (int64_t i = 0; i < n; i++) {
		struct sl_window_free *f = &m->view[at][i];

		f->cores = cls[i].free.cores;
		for (uint32_t k = 0; k < SL_MAX_GRES; k++)
			f->gpus += m->gpu_kinds >> k & 1 ? cls[i].free.gres[k] : 0;
		f->memory = m->memory ? cls[i].free.memory : 0;
	}
	return 0;
}

static bool same_view(const struct make *m, uint32_t a, uint32_t b)
{
	return !memcmp(m->view[a], m->view[b], m->raw * sizeof(**m->view));
}

/* Mark the walltimes from which on less is free: free only falls, so that two that
 * are equal have nothing else between them. */
static int find_steps(struct make *m, uint32_t from, uint32_t to, struct sl_error *err)
{
	uint32_t middle = from + (to - from) / 2;

	if (look_until(m, from, err) || look_until(m, to, err))
		return -1;
	if (same_view(m, from, to))
		return 0;
	if (to - from == 1) {
		m->level_of[to] = 1;
		return 0;
	}
	return find_steps(m, from, middle, err) || find_steps(m, middle, to, err) ? -1 : 0;
}

/* Number the levels.  Those beyond the cap are the last: it has the least free. */
static int find_levels(struct make *m, struct sl_error *err)
{
	uint32_t level = 0;

	find_lengths(m);
	if (find_steps(m, 0, m->lengths - 1, err))
		return -1;
	for (uint32_t i = 0; i < m->lengths; i++) {
		if (m->level_of[i] && level + 1 < SL_WINDOW_LEVELS)
			level++;
		m->level_of[i] = level;
		m->last_of[level] = i;
	}
	m->w->levels = level + 1;
	for (level = 0; level < m->w->levels; level++)
		if (look_until(m, m->last_of[level], err))
			return -1;
	for (uint32_t i = 0; i < m->w->jobs; i++) {
		const int64_t *s = bsearch(&m->w->job[i].seconds, m->seconds, m->lengths, sizeof(*s), sl_order_i64);

		m->w->job[i].level = m->level_of[s - m->seconds];
	}
	return 0;
}

/* -- classes ------------------------------------------------------------ */

static bool same_class(const struct make *m, const struct sl_window_class *a, const struct sl_window_class *b)
{
	return a->weight == b->weight && a->capacity == b->capacity &&
	       !memcmp(a->free, b->free, m->w->levels * sizeof(*a->free));
}

/* Is it of use to somebody?  Its nodes in each set go to *usable*. */
static bool count_usable(const struct make *m, const struct sl_nodeset *nodes, uint32_t *usable)
{
	bool some = false;

	for (uint32_t s = 0; s < m->w->sets; s++) {
		usable[s] = m->set[s] ? sl_nodeset_common(nodes, m->set[s]) : nodes->count;
		some = some || usable[s];
	}
	return some;
}

struct seen {
	struct sl_window_class cls;
	const struct sl_node_kind *kind;
	uint32_t *usable;
	struct seen *next;		/* with the same hash */
};

static uint64_t hash_class(const struct make *m, const struct sl_window_class *c, const struct sl_node_kind *kind)
{
	uint64_t h = (uint64_t) (uintptr_t) kind;

	for (uint32_t l = 0; l < m->w->levels; l++) {
		h = (h ^ (uint64_t) c->free[l].cores) * UINT64_C(0x9e3779b97f4a7c15);
		h = (h ^ (uint64_t) c->free[l].gpus) * UINT64_C(0xd6e8feb86659fd93);
		h = (h ^ (uint64_t) c->free[l].memory) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return h;
}

#define BUCKETS 1024

/* Add a class of the timeline to the one that it is like, or make it one. */
static int add_class(struct make *m, struct sl_window_class *c, const struct sl_class *raw, uint32_t *usable,
		     struct seen **bucket, struct seen *seen, struct sl_error *err)
{
	struct seen **at = &bucket[hash_class(m, c, raw->kind) % BUCKETS], *s;

	for (s = *at; s; s = s->next)
		if (s->kind == raw->kind && same_class(m, &s->cls, c))
			break;
	if (!s) {
		s = &seen[m->w->classes++];
		s->cls = *c;
		s->kind = raw->kind;
		s->usable = m->w->usable + (size_t) (m->w->classes - 1) * m->w->sets;
		s->next = *at;
		*at = s;
	}
	for (uint32_t k = 0; k < m->w->sets; k++)
		s->usable[k] += usable[k];
	return sl_nodeset_union(&s->cls.nodes, raw->nodes, err);
}

static int find_classes(struct make *m, struct sl_error *err)
{
	struct seen *bucket[BUCKETS] = { NULL }, *seen = calloc((size_t) m->raw + 1, sizeof(*seen));
	uint32_t *usable = calloc((size_t) m->w->sets + 1, sizeof(*usable));
	int64_t now = sl_cluster_now(m->c);
	const struct sl_class *raw;
	int64_t n = 0;
	int rc = -1;

	if (sl_may_take(m->allowance, m->bytes + (uint64_t) m->raw * (m->w->sets * sizeof(*usable) + sizeof(*seen)),
			"window", err) < 0)
		goto error;
	m->w->usable = calloc((size_t) m->raw * m->w->sets + 1, sizeof(*m->w->usable));
	if (!seen || !usable || !m->w->usable)
		no_memory(err);
	else
		n = sl_timeline_classes(sl_cluster_timeline(m->c), NULL, now, now + 1, &raw, err);
	if (!seen || !usable || !m->w->usable || n < 0)
		goto error;
	for (int64_t i = 0; i < n; i++) {
		struct sl_window_class c = { .weight = raw[i].kind->weight, .capacity = raw[i].kind->capacity.cores };

		if (sl_may_go_on(m->allowance, err) < 0)
			goto error;
		for (uint32_t l = 0; l < m->w->levels; l++)
			c.free[l] = m->view[m->last_of[l]][i];
		if (c.free[0].cores <= 0 || !count_usable(m, raw[i].nodes, usable))
			continue;
		if (add_class(m, &c, &raw[i], usable, bucket, seen, err))
			goto error;
	}
	m->w->cls = calloc((size_t) m->w->classes + 1, sizeof(*m->w->cls));
	if (!m->w->cls) {
		no_memory(err);
		goto error;
	}
	for (uint32_t i = 0; i < m->w->classes; i++) {
		m->w->cls[i] = seen[i].cls;
		seen[i].cls.nodes = (struct sl_nodeset) SL_NODESET_EMPTY;
	}
	rc = 0;
error:
	for (uint32_t i = 0; seen && i < m->w->classes; i++)
		sl_nodeset_free(&seen[i].cls.nodes);
	free(seen);
	free(usable);
	return rc;
}

/* -- all of it ---------------------------------------------------------- */

static int make_all(struct make *m, const struct sl_entry *entry, struct sl_error *err)
{
	struct sl_window *w = m->w;

	if (!w->job || !m->set || !m->seconds || !m->level_of || !m->view)
		return no_memory(err);
	if (!w->jobs)
		return 0;
	if (read_jobs(m, entry, err) || find_levels(m, err) || find_classes(m, err))
		return -1;
	return 0;
}

int sl_window_make(struct sl_window *w, struct sl_cluster *c, const struct sl_entry *entry, uint32_t entries,
		   const struct sl_allowance *allowance, struct sl_error *err)
{
	size_t n = (size_t) entries + 1;
	struct make m = {
		.w = w, .c = c, .allowance = allowance, .gpu_kinds = sl_gpu_kinds(sl_cluster_snapshot(c)),
		.set = calloc(n, sizeof(*m.set)), .seconds = calloc(n, sizeof(*m.seconds)),
		.level_of = calloc(n, sizeof(*m.level_of)), .view = calloc(n, sizeof(*m.view)),
	};
	int rc;

	*w = (struct sl_window) { .jobs = entries, .levels = 1, .job = calloc(n, sizeof(*w->job)) };
	rc = make_all(&m, entry, err);
	for (uint32_t i = 0; m.view && i < entries; i++)
		free(m.view[i]);
	free(m.view);
	free(m.level_of);
	free(m.seconds);
	free(m.set);
	if (rc)
		sl_window_free(w);
	return rc;
}

void sl_window_free(struct sl_window *w)
{
	for (uint32_t i = 0; w->cls && i < w->classes; i++)
		sl_nodeset_free(&w->cls[i].nodes);
	free(w->cls);
	free(w->job);
	free(w->usable);
	*w = (struct sl_window) { 0 };
}
