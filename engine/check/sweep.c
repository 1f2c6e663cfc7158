/* SPDX-License-Identifier: MIT */
/*
 * check/sweep.c - whether everything fits at every instant.
 *
 * For each node: sort the begins and ends of its bills, go through them, and compare the sums with the node's capacity
 * whenever something planned is included.  If the snapshot itself exceeds a capacity, the plan is not at fault unless it adds
 * to it.
 *
 * A planned job that does not fit is refused and subtracted, and the sweep continues from the same instant.  So a plan with
 * many such jobs is swept only once.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

struct event {
	int64_t at;
	uint32_t bill;
	bool begins;
};

struct sums {
	int64_t parts, memory, jobs;	/* cores in CORE_PARTS */
	int64_t shared, unshared;	/* number of jobs that share cores; that do not */
	int64_t *gres;			/* [kind] */
};

struct sweep {
	struct check *c;
	uint32_t *first;		/* [node] index of its first bill in ... */
	uint32_t *bill;			/* ... the bills, sorted by node */
	struct event *event;
	struct sums all, planned;
	int64_t *capacity;		/* [kind] gres of the current node */
	int64_t *part_cpus;		/* [partition] CPUs used by its jobs */
	int64_t *resv_parts;		/* [reservation] parts of cores used by its jobs */
	uint32_t *resv_jobs;		/* [reservation] number of its planned jobs */
	uint32_t rows;			/* number of jobs that may share a core of the current node */
	struct device_use devices;
	bool shares;			/* some devices have shares */
	const struct bill **here;	/* bills active on the current node */
	uint32_t heres;
	bool capped, partial, apart;		/* some partition has MaxCPUsPerNode; some reservation has parts of nodes;
						 * some job minds others */
};

/* Order of events.  At the same instant ends come before begins, because they make room. */
static int by_instant(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return SL_ORDER(x->at, y->at) ?: SL_ORDER(x->begins, y->begins) ?: SL_ORDER(x->bill, y->bill);
}

static uint32_t node_threads(const struct check *c, uint32_t node)
{
	return c->snap->node.threads[node] ? c->snap->node.threads[node] : 1;
}

static void add_to_sums(struct sums *s, const struct bill *b, int sign, int64_t parts, bool shared)
{
	s->parts += sign * parts;
	if (b->cores && b->job != SL_NONE)
		*(shared ? &s->shared : &s->unshared) += sign;
	s->memory += sign * b->memory;
	s->jobs += sign;
	for (uint32_t k = 0; k < b->kinds; k++)
		s->gres[b->kind[k]] += sign * (int64_t) b->count[k];
}

static bool is_shared(const struct sweep *w, const struct bill *b)
{
	return b->job != SL_NONE && check_sharing(w->c, b->job, b->partition) > 1;
}

static int64_t parts_of(const struct sweep *w, const struct bill *b)
{
	return b->cores * CORE_PARTS / (is_shared(w, b) ? w->rows : 1);
}

/* True if MaxCPUsPerNode of its partition counts the bill. */
static bool is_capped(const struct sweep *w, const struct bill *b)
{
	return b->job != SL_NONE && b->partition != SL_NONE && !is_shared(w, b) && !b->native;
}

static void count_bill(struct sweep *w, struct bill *b, int sign)
{
	const struct check *c = w->c;
	bool shared = is_shared(w, b);
	int64_t parts = parts_of(w, b);

	b->counted = sign > 0;
	if (w->shares)
		check_devices_count(c, &w->devices, b, sign);
	add_to_sums(&w->all, b, sign, parts, shared);
	if (b->planned)
		add_to_sums(&w->planned, b, sign, parts, shared);
	if (b->job == SL_NONE)
		return;
	if (w->capped && is_capped(w, b))
		w->part_cpus[b->partition] += sign * (int64_t) b->cores * node_threads(c, b->node);
	if (w->partial && b->resv != SL_NONE) {
		w->resv_parts[b->resv] += sign * parts;
		w->resv_jobs[b->resv] += sign * (b->planned ? 1 : 0);
	}
}

/* -- choosing the row to refuse ----------------------------------------------- */

/* What is exceeded on a node. */
enum excess { CORES, MEMORY, GRES, DEVICE, OF_PARTITION, OF_RESERVATION, SHARED, UNSHARED, UNALIKE };

struct over {
	enum excess what;
	uint32_t which;			/* gres kind, device, partition or reservation */
	int64_t by;			/* by how much, in the unit of amount_of() */
	int64_t used, have;		/* for the message */
	const char *name;
};

/* How much the bill uses of the resource that is exceeded. */
static int64_t amount_of(const struct sweep *w, const struct bill *b, const struct over *o)
{
	int64_t n = 0;

	switch (o->what) {
	case CORES:
		return parts_of(w, b);
	case MEMORY:
		return b->memory;
	case GRES:
		for (uint32_t k = 0; k < b->kinds; k++)
			n += b->kind[k] == o->which ? b->count[k] : 0;
		return n;
	case DEVICE:
		return check_devices_of(w->c, b, o->which);
	case OF_PARTITION:
		return is_capped(w, b) && b->partition == o->which ? (int64_t) b->cores * node_threads(w->c, b->node) : 0;
	case OF_RESERVATION:
		return b->resv == o->which ? parts_of(w, b) : 0;
	case SHARED:
		return b->cores && is_shared(w, b);
	case UNSHARED:
		return b->cores && !is_shared(w, b);
	default:
		return b->cores;
	}
}

/*
 * The planned bill to refuse among those that use what is exceeded; NULL: none is planned.  One of those that begin last,
 * because before them nothing was exceeded.  Of these the one planned last that alone uses enough to make the node fit again;
 * if there is none, the one planned last.
 */
static const struct bill *find_refused(struct sweep *w, uint32_t node, const struct over *o)
{
	const struct bill *found = NULL;
	int64_t has = 0;

	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
		const struct bill *b = &w->c->bill[w->bill[i]];
		int64_t n = b->planned && b->counted ? amount_of(w, b, o) : 0;

		if (n > 0 && (!found || b->start > found->start || (b->start == found->start && (n >= o->by || has < o->by)))) {
			found = b;
			has = n;
		}
	}
	w->c->looked_at += w->first[node + 1] - w->first[node];
	return found;
}

/* Subtract the bills of rows that were refused after they were counted. */
static void drop_refused(struct sweep *w, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
		struct bill *b = &w->c->bill[w->bill[i]];

		if (b->counted && check_is_out(w->c, b))
			count_bill(w, b, -1);
	}
	for (uint32_t i = 0; i < w->heres; i++)
		if (!check_is_out(w->c, w->here[i]))
			w->here[n++] = w->here[i];
	w->heres = n;
	w->c->looked_at += w->first[node + 1] - w->first[node];
}

/* "now", "in 60 s": relative, so that a job's text stays the same from cycle to cycle. */
static const char *say_when(const struct check *c, int64_t at, char text[40])
{
	if (at <= c->now)
		return "now";
	snprintf(text, 40, "in %" PRId64 " s", sl_difference(at, c->now));
	return text;
}

/* Refuse a row that uses what is exceeded.  1; 0: no planned job uses any of it; -1. */
static int refuse_one(struct sweep *w, uint32_t node, int64_t at, const struct over *o)
{
	struct check *c = w->c;
	const struct bill *b = find_refused(w, node, o);
	char when[40];

	if (!b)
		return 0;
	sl_fail(c->err, SL_EINVAL, o->what == OF_PARTITION ? "job %" PRIu32 ": node %s: %" PRId64 " CPUs of partition %s in use %s, "
		"MaxCPUsPerNode is %" PRId64 : "job %" PRIu32 ": node %s: %" PRId64 " %s in use %s, it has %" PRId64,
		c->snap->job.id[b->job], check_str(c, c->snap->node.name[node]), o->used, o->name, say_when(c, at, when), o->have);
	if (check_refuse(c, b->row) < 0)
		return -1;
	drop_refused(w, node);
	return 1;
}

/* -- one instant --------------------------------------------------------- */

static int check_caps(struct sweep *w, uint32_t node, int64_t at)
{
	const struct check *c = w->c;

	for (uint32_t p = 0; p < c->snap->partition.rows; p++) {
		uint32_t most = c->snap->partition.max_cpus_per_node[p];
		struct over o = { OF_PARTITION, p, w->part_cpus[p] - most, w->part_cpus[p], most,
				  check_str(c, c->snap->partition.name[p]) };
		int rc = most && most != SL_NONE && o.by > 0 ? refuse_one(w, node, at, &o) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

/* Parts of cores that partial reservations keep for their own jobs on the node: their cores there minus those in use by
 * their jobs.  A reservation does not count if all planned jobs there are its own.  Reservations may together have more
 * cores than the node (IGNORE_JOBS); then the others do not keep what jobs of the one use. */
static int64_t reserved_parts(struct sweep *w, uint32_t node, int64_t at)
{
	struct check *c = w->c;
	const struct sl_reservation_view *resv = &c->snap->reservation;
	int64_t parts = 0, most = (int64_t) c->snap->node.cores[node] * CORE_PARTS;

	for (uint32_t r = 0; r < resv->rows; r++) {
		int64_t kept;

		most -= resv->cores[r] ? w->resv_parts[r] : 0;
		if (!resv->cores[r] || at < resv->start_time[r] || at >= resv->end_time[r] ||
		    w->planned.jobs == w->resv_jobs[r] || check_reserved(c, r, node) <= 0)
			continue;
		kept = check_resv_cores(c, r, node) * CORE_PARTS - w->resv_parts[r];
		parts += kept > 0 ? kept : 0;
	}
	return parts < most ? parts : most > 0 ? most : 0;
}

/* Check that jobs of a partial reservation use no more cores of the node than it has. */
static int check_parts(struct sweep *w, uint32_t node, int64_t at)
{
	struct check *c = w->c;
	const struct sl_reservation_view *resv = &c->snap->reservation;

	for (uint32_t r = 0; r < resv->rows; r++) {
		int64_t cores = w->resv_parts[r] / CORE_PARTS, have;
		struct over o = { OF_RESERVATION, r, 0, cores, 0, "cores of its reservation" };
		int rc;

		if (!resv->cores[r] || !w->resv_jobs[r] || (resv->flags[r] & (SL_RESV_FLEX | SL_RESV_ANY_NODES)) ||
		    check_reserved(c, r, node) <= 0)
			continue;
		o.have = have = check_resv_cores(c, r, node);
		o.by = w->resv_parts[r] - have * CORE_PARTS;
		if (cores > have && (rc = refuse_one(w, node, at, &o)))
			return rc;
	}
	return 0;
}

/* Jobs that share cores may not be beside jobs that do not: refuse planned ones of either or both sorts. */
static int check_alike(struct sweep *w, uint32_t node, int64_t at)
{
	bool others = w->all.unshared > w->planned.unshared, sharers = w->all.shared > w->planned.shared;
	struct over share = { others ? SHARED : UNALIKE, 0, INT64_MAX, w->all.unshared, 0, "cores of jobs that share none" };
	struct over alone = { sharers ? UNSHARED : UNALIKE, 0, INT64_MAX, w->all.shared, 0, "cores of jobs that share them" };

	if (w->planned.shared && w->all.unshared)
		return refuse_one(w, node, at, &share);
	return w->planned.unshared && w->all.shared ? refuse_one(w, node, at, &alone) : 0;
}

static int check_gres_kinds(struct sweep *w, uint32_t node, int64_t at)
{
	struct check *c = w->c;
	const struct sl_snapshot *s = c->snap;
	struct over o = { .what = DEVICE, .name = "shares of one device" };

	for (uint32_t k = 0; k < s->gres_kind.rows; k++) {
		struct over of = { GRES, k, w->all.gres[k] - w->capacity[k], w->all.gres[k], w->capacity[k],
				   check_str(c, s->gres_kind.key[k]) };

		if (w->planned.gres[k] && of.by > 0)
			return refuse_one(w, node, at, &of);
	}
	if (!w->shares || !check_devices_over(c, &w->devices, node, &o.which, &o.used, &o.have))
		return 0;
	o.by = o.used - o.have;
	return refuse_one(w, node, at, &o);
}

/* 1: a row was refused, check again; 0: nothing is exceeded; -1. */
static int check_once(struct sweep *w, uint32_t node, int64_t at)
{
	struct check *c = w->c;
	const struct sl_snapshot *s = c->snap;
	int64_t parts = w->all.parts, cores = s->node.cores[node];
	struct over core = { .what = CORES, .have = cores, .name = "cores" };
	struct over memory = { MEMORY, 0, 0, w->all.memory, s->node.memory[node], "MiB" };
	int rc;

	if (!w->planned.jobs)
		return 0;
	if (w->partial)
		parts += reserved_parts(w, node, at);
	if ((w->partial && (rc = check_parts(w, node, at))) || (rc = check_alike(w, node, at)))
		return rc;
	core.by = parts - cores * CORE_PARTS;
	core.used = (parts + CORE_PARTS - 1) / CORE_PARTS;
	if (w->planned.parts && core.by > 0)
		return refuse_one(w, node, at, &core);
	if (memory.have > 0)	/* some snapshots have no memory sizes */
		memory.by = memory.used - memory.have;
	if ((s->meta.select_flags[0] & SL_SELECT_MEMORY) && w->planned.memory && memory.by > 0)
		return refuse_one(w, node, at, &memory);
	if ((rc = check_gres_kinds(w, node, at)))
		return rc;
	return w->capped ? check_caps(w, node, at) : 0;
}

static int check_instant(struct sweep *w, uint32_t node, int64_t at)
{
	int rc;

	do
		rc = check_once(w, node, at);
	while (rc > 0);
	return rc;
}

/* -- jobs that mind other users or labels ------------------------------------------ */

/* True if the job shares nodes only with jobs of its user. */
static bool wants_user(const struct check *c, const struct bill *b)
{
	return (c->snap->job.asks[b->job] & SL_ASKS_USER_NODES) ||
		(b->partition != SL_NONE && (c->snap->partition.flags[b->partition] & SL_PART_EXCLUSIVE_USER));
}

static bool same_text(const struct check *c, uint32_t a, uint32_t b)
{
	return !strcmp(check_str(c, a), check_str(c, b));
}

/* Why two jobs may not be on one node; NULL if they may. */
static const char *what_parts(const struct check *c, const struct bill *a, const struct bill *b)
{
	const struct sl_job_view *job = &c->snap->job;
	bool user = job->uid[a->job] == job->uid[b->job] &&
		(job->uid[a->job] != SL_NONE || same_text(c, job->user[a->job], job->user[b->job]));
	uint32_t label_a = job->asks[a->job] & SL_ASKS_MCS, label_b = job->asks[b->job] & SL_ASKS_MCS;

	if (!user && (wants_user(c, a) || wants_user(c, b)))
		return "user";
	if (label_a != label_b || (label_a && !same_text(c, job->mcs_label[a->job], job->mcs_label[b->job])))
		return "MCS label";
	return NULL;
}

static void leave_company(struct sweep *w, const struct bill *b)
{
	uint32_t i = 0;

	while (i < w->heres && w->here[i] != b)
		i++;
	if (i < w->heres)
		w->here[i] = w->here[--w->heres];
}

/* A job begins on the node: refuse planned jobs that may not be there beside one of another user or label. */
static int join_company(struct sweep *w, uint32_t node, const struct bill *b)
{
	struct check *c = w->c;

	for (uint32_t i = 0; i < w->heres && b->counted; i++) {
		const struct bill *other = w->here[i], *planned = b->planned ? b : other;
		const char *why = planned->planned ? what_parts(c, b, other) : NULL;
		char when[40];

		if (!why)
			continue;
		sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has job %" PRIu32 " of another %s %s",
			c->snap->job.id[planned->job], check_str(c, c->snap->node.name[node]),
			c->snap->job.id[(planned == b ? other : b)->job], why, say_when(c, b->start, when));
		if (check_refuse(c, planned->row) < 0)
			return -1;
		drop_refused(w, node);
		i = UINT32_MAX;	/* here[] has changed, start again */
	}
	if (b->counted)
		w->here[w->heres++] = b;
	return 0;
}

/* -- one node ------------------------------------------------------------ */

/* Number of jobs that may share a core of the node: the maximum over its partitions. */
static uint32_t rows_of(struct check *c, uint32_t node)
{
	const uint32_t *share = c->snap->partition.oversubscribe;
	uint32_t most = 1;

	for (uint32_t p = 0; p < c->snap->partition.rows; p++)
		if (share[p] > most && check_member(c, p, node) > 0)
			most = share[p];
	return most;
}

/* List the begins and ends on the node in order.  Returns their number. */
static uint32_t list_events(struct sweep *w, uint32_t node)
{
	struct check *c = w->c;
	uint32_t n = 0;

	check_begin_node(c);
	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++)
		if (!check_is_out(c, &c->bill[w->bill[i]]))
			check_take_over(c, &c->bill[w->bill[i]]);
	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
		const struct bill *b = &c->bill[w->bill[i]];
		int64_t end = check_bill_end(c, b);

		if (end <= b->start || check_is_out(c, b))
			continue;
		w->event[n++] = (struct event) { b->start, w->bill[i], true };
		if (end != INT64_MAX)
			w->event[n++] = (struct event) { end, w->bill[i], false };
	}
	qsort(w->event, n, sizeof(*w->event), by_instant);
	w->c->looked_at += n;
	return n;
}

/* Reset the sums for the node. */
static void clear_node(struct sweep *w, uint32_t node)
{
	const struct sl_snapshot *s = w->c->snap;
	uint32_t kinds = s->gres_kind.rows;
	struct sl_range gres = s->node.gres[node];

	memset(w->capacity, 0, kinds * sizeof(*w->capacity));
	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (!s->node_gres.no_consume[g])
			w->capacity[s->node_gres.kind[g]] += s->node_gres.count[g];
	w->all = (struct sums) { .gres = w->all.gres };
	w->planned = (struct sums) { .gres = w->planned.gres };
	w->rows = rows_of(w->c, node);
	memset(w->all.gres, 0, kinds * sizeof(*w->all.gres));
	memset(w->planned.gres, 0, kinds * sizeof(*w->planned.gres));
	memset(w->part_cpus, 0, s->partition.rows * sizeof(*w->part_cpus));
	memset(w->resv_parts, 0, s->reservation.rows * sizeof(*w->resv_parts));
	memset(w->resv_jobs, 0, s->reservation.rows * sizeof(*w->resv_jobs));
	w->heres = 0;
	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++)
		w->c->bill[w->bill[i]].counted = false;
	if (w->shares)
		check_devices_clear(w->c, &w->devices);
}

static int take_event(struct sweep *w, uint32_t node, const struct event *e)
{
	struct bill *b = &w->c->bill[e->bill];

	if (e->begins ? check_is_out(w->c, b) : !b->counted)
		return 0;	/* it was refused meanwhile */
	count_bill(w, b, e->begins ? 1 : -1);
	if (!w->apart || b->job == SL_NONE)
		return 0;
	if (e->begins)
		return join_company(w, node, b);
	leave_company(w, b);
	return 0;
}

static int sweep_node(struct sweep *w, uint32_t node)
{
	uint32_t n = list_events(w, node);

	clear_node(w, node);
	for (uint32_t i = 0; i < n; i++) {
		if (take_event(w, node, &w->event[i]) < 0)
			return -1;
		if ((i + 1 == n || w->event[i + 1].at != w->event[i].at) &&
		    check_instant(w, node, w->event[i].at) < 0)
			return -1;
	}
	return 0;
}

/* Sort the bills by node. */
static void sort_by_node(struct sweep *w)
{
	const struct check *c = w->c;
	uint32_t nodes = c->snap->node.rows;

	for (uint32_t i = 0; i < c->bills; i++)
		w->first[c->bill[i].node + 1]++;
	for (uint32_t n = 0; n < nodes; n++)
		w->first[n + 1] += w->first[n];
	for (uint32_t i = c->bills; i-- > 0; )
		w->bill[--w->first[c->bill[i].node + 1]] = i;
	/* first[n + 1] is now the begin of node n */
	memmove(w->first, w->first + 1, nodes * sizeof(*w->first));
	w->first[nodes] = c->bills;
}

static int allocate_sweep(struct sweep *w)
{
	const struct sl_snapshot *s = w->c->snap;
	size_t kinds = s->gres_kind.rows + 1;

	w->first = calloc((size_t) s->node.rows + 2, sizeof(*w->first));
	w->bill = calloc((size_t) w->c->bills + 1, sizeof(*w->bill));
	w->event = calloc((size_t) w->c->bills * 2 + 1, sizeof(*w->event));
	w->here = calloc((size_t) w->c->bills + 1, sizeof(*w->here));
	w->capacity = calloc(kinds, sizeof(*w->capacity));
	w->all.gres = calloc(kinds, sizeof(*w->all.gres));
	w->planned.gres = calloc(kinds, sizeof(*w->planned.gres));
	w->part_cpus = calloc((size_t) s->partition.rows + 1, sizeof(*w->part_cpus));
	w->resv_parts = calloc((size_t) s->reservation.rows + 1, sizeof(*w->resv_parts));
	w->resv_jobs = calloc((size_t) s->reservation.rows + 1, sizeof(*w->resv_jobs));
	if (!w->first || !w->bill || !w->event || !w->here || !w->capacity || !w->all.gres || !w->planned.gres ||
	    !w->part_cpus || !w->resv_parts || !w->resv_jobs)
		return sl_fail(w->c->err, SL_ENOMEM, "check: out of memory");
	return 0;
}

int check_nodes(struct check *c)
{
	const struct sl_snapshot *s = c->snap;
	struct sweep w = { .c = c };
	int rc = allocate_sweep(&w);

	for (uint32_t p = 0; p < s->partition.rows; p++)
		w.capped |= s->partition.max_cpus_per_node[p] != SL_NONE && s->partition.max_cpus_per_node[p];
	for (uint32_t g = 0; g < s->node_gres.rows; g++)
		w.shares |= s->node_gres.share[g] != SL_NONE;
	if (!rc && w.shares)
		rc = check_devices_begin(c, &w.devices);
	for (uint32_t r = 0; r < s->reservation.rows; r++)
		w.partial |= s->reservation.cores[r] != 0;
	for (uint32_t p = 0; p < s->partition.rows; p++)
		w.apart |= (s->partition.flags[p] & SL_PART_EXCLUSIVE_USER) != 0;
	for (uint32_t j = 0; j < s->job.rows; j++)
		w.apart |= (s->job.asks[j] & (SL_ASKS_USER_NODES | SL_ASKS_MCS)) != 0;
	if (!rc)
		sort_by_node(&w);
	for (uint32_t n = 0; !rc && n < s->node.rows; n++) {
		bool planned = false;

		for (uint32_t i = w.first[n]; i < w.first[n + 1] && !planned; i++)
			planned = c->bill[w.bill[i]].planned;
		if (planned)
			rc = sweep_node(&w, n);
	}
	free(w.first);
	free(w.bill);
	free(w.event);
	free(w.here);
	free(w.capacity);
	free(w.all.gres);
	free(w.planned.gres);
	free(w.part_cpus);
	free(w.resv_parts);
	free(w.resv_jobs);
	check_devices_end(&w.devices);
	return rc;
}
