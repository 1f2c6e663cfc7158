/* SPDX-License-Identifier: MIT */
/*
 * check/sweep.c - does everything that is held fit, at every instant?
 *
 * Node by node: sort what begins and ends there, walk through it and compare the
 * sums with what the node has whenever something planned is among it.  What the
 * snapshot itself has too much of is not the plan's fault as long as the plan
 * adds nothing to it.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

struct event {
	int64_t at;
	uint32_t bill;
	bool begins;
};

struct sums {
	int64_t parts, memory, jobs;	/* parts of cores */
	int64_t shared, unshared;	/* jobs that share cores, and that do not */
	int64_t *gres;			/* per kind */
};

struct sweep {
	struct check *c;
	uint32_t *first;		/* [node] where its bills begin in ... */
	uint32_t *bill;			/* ... the bills, node by node */
	struct event *event;
	struct sums all, planned;
	int64_t *capacity;		/* gres of the node at hand */
	int64_t *part_cpus;		/* per partition: held by its jobs */
	int64_t *resv_parts;		/* per reservation: cores held by its jobs */
	uint32_t *resv_jobs;		/* per reservation: planned ones among them */
	uint32_t rows;			/* jobs that may share a core of the node at hand */
	struct device_use devices;
	bool shares;			/* there are devices that have shares */
	const struct bill **here;	/* those on the node at hand at that time */
	uint32_t heres;
	bool capped, partial, apart;		/* there is a MaxCPUsPerNode, a partial reservation, a job as below */
};

/* What ends makes room for what begins at the same instant. */
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

static void count_bill(struct sweep *w, const struct bill *b, int sign)
{
	const struct check *c = w->c;
	uint32_t share = b->job == SL_NONE ? 1 : check_sharing(c, b->job, b->partition);
	int64_t parts = b->cores * CORE_PARTS / (share > 1 ? w->rows : 1);

	add_to_sums(&w->all, b, sign, parts, share > 1);
	if (b->planned)
		add_to_sums(&w->planned, b, sign, parts, share > 1);
	if (b->job == SL_NONE)
		return;
	if (w->capped && b->partition != SL_NONE && share == 1 && !b->native)
		w->part_cpus[b->partition] += sign * (int64_t) b->cores * node_threads(c, b->node);
	if (w->partial && b->resv != SL_NONE) {
		w->resv_parts[b->resv] += sign * parts;
		w->resv_jobs[b->resv] += sign * (b->planned ? 1 : 0);
	}
}

/* -- one instant --------------------------------------------------------- */

/* The planned job that an error names: of those on the node at that time the one that begins
 * last, then the one that was planned last. */
static const struct bill *latest_planned(const struct sweep *w, uint32_t node, int64_t at)
{
	const struct bill *found = NULL;

	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
		const struct bill *b = &w->c->bill[w->bill[i]];

		if (b->planned && b->start <= at && at < b->end && (!found || b->start >= found->start))
			found = b;
	}
	return found;
}

static int fail_overbooked(const struct sweep *w, uint32_t node, int64_t at, const char *what, int64_t used,
			   int64_t have)
{
	const struct check *c = w->c;

	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: %" PRId64 " %s in use at %" PRId64
		       ", it has %" PRId64, c->snap->job.id[latest_planned(w, node, at)->job],
		       check_str(c, c->snap->node.name[node]), used, what, at, have);
}

static int check_caps(struct sweep *w, uint32_t node, int64_t at)
{
	const struct check *c = w->c;
	const struct bill *b = latest_planned(w, node, at);
	uint32_t most = c->snap->partition.max_cpus_per_node[b->partition];

	if (most == SL_NONE || !most || b->native || w->part_cpus[b->partition] <= most)
		return 0;
	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: %" PRId64 " CPUs of partition %s in use at %"
		       PRId64 ", MaxCPUsPerNode is %" PRIu32, c->snap->job.id[b->job],
		       check_str(c, c->snap->node.name[node]), w->part_cpus[b->partition],
		       check_str(c, c->snap->partition.name[b->partition]), at, most);
}

/* Parts of cores that partial reservations have on the node, beyond what their own jobs use; those
 * of reservations whose jobs alone are planned there do not count. */
static int64_t reserved_parts(struct sweep *w, uint32_t node, int64_t at)
{
	struct check *c = w->c;
	const struct sl_reservation_view *resv = &c->snap->reservation;
	int64_t parts = 0;

	for (uint32_t r = 0; r < resv->rows; r++) {
		int64_t kept;

		if (!resv->cores[r] || at < resv->start_time[r] || at >= resv->end_time[r] ||
		    w->planned.jobs == w->resv_jobs[r] || check_reserved(c, r, node) <= 0)
			continue;
		kept = check_resv_cores(c, r, node) * CORE_PARTS - w->resv_parts[r];
		parts += kept > 0 ? kept : 0;
	}
	return parts;
}

/* Jobs of a partial reservation have no more cores of the node than it has. */
static int check_parts(struct sweep *w, uint32_t node, int64_t at)
{
	struct check *c = w->c;
	const struct sl_reservation_view *resv = &c->snap->reservation;

	for (uint32_t r = 0; r < resv->rows; r++) {
		int64_t cores = w->resv_parts[r] / CORE_PARTS;

		if (resv->cores[r] && w->resv_jobs[r] && !(resv->flags[r] & (SL_RESV_FLEX | SL_RESV_ANY_NODES)) &&
		    check_reserved(c, r, node) > 0 && cores > check_resv_cores(c, r, node))
			return fail_overbooked(w, node, at, "cores of its reservation", cores, check_resv_cores(c, r, node));
	}
	return 0;
}

static int check_instant(struct sweep *w, uint32_t node, int64_t at)
{
	struct check *c = w->c;
	const struct sl_snapshot *s = c->snap;
	int64_t parts = w->all.parts, used, have;

	if (!w->planned.jobs)
		return 0;
	if (w->partial)
		parts += reserved_parts(w, node, at);
	if (w->partial && check_parts(w, node, at) < 0)
		return -1;
	if (w->planned.shared && w->all.unshared)
		return fail_overbooked(w, node, at, "cores of jobs that share none", w->all.unshared, 0);
	if (w->planned.unshared && w->all.shared)
		return fail_overbooked(w, node, at, "cores of jobs that share them", w->all.shared, 0);
	if (w->planned.parts && parts > s->node.cores[node] * CORE_PARTS)
		return fail_overbooked(w, node, at, "cores", (parts + CORE_PARTS - 1) / CORE_PARTS,
				       s->node.cores[node]);
	if ((s->meta.select_flags[0] & SL_SELECT_MEMORY) && s->node.memory[node] > 0 && w->planned.memory &&
	    w->all.memory > s->node.memory[node])
		return fail_overbooked(w, node, at, "MiB", w->all.memory, s->node.memory[node]);
	for (uint32_t k = 0; k < s->gres_kind.rows; k++)
		if (w->planned.gres[k] && w->all.gres[k] > w->capacity[k])
			return fail_overbooked(w, node, at, check_str(c, s->gres_kind.key[k]), w->all.gres[k],
					       w->capacity[k]);
	if (w->shares && check_devices_over(c, &w->devices, node, &used, &have))
		return fail_overbooked(w, node, at, "shares of one device", used, have);
	return w->capped ? check_caps(w, node, at) : 0;
}

/* -- jobs that mind others ------------------------------------------------ */

/* Has the job nodes to itself, but for others of its user? */
static bool wants_user(const struct check *c, const struct bill *b)
{
	return (c->snap->job.asks[b->job] & SL_ASKS_USER_NODES) ||
		(b->partition != SL_NONE && (c->snap->partition.flags[b->partition] & SL_PART_EXCLUSIVE_USER));
}

static bool same_text(const struct check *c, uint32_t a, uint32_t b)
{
	return !strcmp(check_str(c, a), check_str(c, b));
}

/* Why two jobs may not be on one node; NULL: they may. */
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

/* A job comes to the node, or goes. */
static int check_company(struct sweep *w, uint32_t node, const struct bill *b, bool begins)
{
	const struct check *c = w->c;
	uint32_t i = 0;

	if (b->job == SL_NONE)
		return 0;
	if (!begins) {
		while (w->here[i] != b)
			i++;
		w->here[i] = w->here[--w->heres];
		return 0;
	}
	for (; i < w->heres; i++) {
		const struct bill *other = w->here[i];
		const char *why = b->planned || other->planned ? what_parts(c, b, other) : NULL;

		if (why)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has job %" PRIu32 " of another %s at %"
				       PRId64, c->snap->job.id[b->planned ? b->job : other->job],
				       check_str(c, c->snap->node.name[node]),
				       c->snap->job.id[b->planned ? other->job : b->job], why, b->start);
	}
	w->here[w->heres++] = b;
	return 0;
}

/* -- one node ------------------------------------------------------------ */

/* Jobs that may share a core of the node in one of its partitions. */
static uint32_t rows_of(struct check *c, uint32_t node)
{
	const uint32_t *share = c->snap->partition.oversubscribe;
	uint32_t most = 1;

	for (uint32_t p = 0; p < c->snap->partition.rows; p++)
		if (share[p] > most && check_member(c, p, node) > 0)
			most = share[p];
	return most;
}

static int sweep_node(struct sweep *w, uint32_t node)
{
	const struct check *c = w->c;
	const struct sl_snapshot *s = c->snap;
	struct sl_range gres = s->node.gres[node];
	uint32_t n = 0, kinds = s->gres_kind.rows;

	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
		const struct bill *b = &c->bill[w->bill[i]];

		if (b->end <= b->start)
			continue;
		w->event[n++] = (struct event) { b->start, w->bill[i], true };
		if (b->end != INT64_MAX)
			w->event[n++] = (struct event) { b->end, w->bill[i], false };
	}
	qsort(w->event, n, sizeof(*w->event), by_instant);
	memset(w->capacity, 0, kinds * sizeof(*w->capacity));
	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (!s->node_gres.no_consume[g])
			w->capacity[s->node_gres.kind[g]] += s->node_gres.count[g];
	w->all.parts = w->all.memory = w->all.jobs = 0;
	w->planned.parts = w->planned.memory = w->planned.jobs = 0;
	w->all.shared = w->all.unshared = w->planned.shared = w->planned.unshared = 0;
	w->rows = rows_of(w->c, node);
	memset(w->all.gres, 0, kinds * sizeof(*w->all.gres));
	memset(w->planned.gres, 0, kinds * sizeof(*w->planned.gres));
	memset(w->part_cpus, 0, s->partition.rows * sizeof(*w->part_cpus));
	memset(w->resv_parts, 0, s->reservation.rows * sizeof(*w->resv_parts));
	memset(w->resv_jobs, 0, s->reservation.rows * sizeof(*w->resv_jobs));
	w->heres = 0;
	if (w->shares)
		check_devices_clear(c, &w->devices);
	for (uint32_t i = 0; i < n; i++) {
		const struct bill *b = &c->bill[w->event[i].bill];

		count_bill(w, b, w->event[i].begins ? 1 : -1);
		if (w->shares)
			check_devices_count(c, &w->devices, b, w->event[i].begins ? 1 : -1);
		if (w->apart && check_company(w, node, b, w->event[i].begins) < 0)
			return -1;
		if ((i + 1 == n || w->event[i + 1].at != w->event[i].at) &&
		    check_instant(w, node, w->event[i].at) < 0)
			return -1;
	}
	return 0;
}

/* The bills of each node, side by side. */
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
	/* first[n + 1] is now where node n begins. */
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

/* -- licences ------------------------------------------------------------ */

static uint32_t licenses_of(const struct check *c, uint32_t j, uint32_t license)
{
	struct sl_range l = c->snap->job.licenses[j];
	uint32_t n = 0;

	for (uint32_t i = l.first; i < l.first + l.count; i++)
		if (c->snap->job_license.license[i] == license)
			n += c->snap->job_license.count[i];
	return n;
}

static bool has_alternatives(const struct check *c, uint32_t j)
{
	return (c->snap->job.asks[j] & SL_ASKS_ANY_LICENSE) && c->snap->job.licenses[j].count;
}

int check_any_license(struct check *c, const struct row *r)
{
	struct sl_range l = c->snap->job.licenses[r->job];
	bool several = has_alternatives(c, r->job);

	for (uint32_t i = l.first; several && i < l.first + l.count; i++)
		if (c->snap->job_license.license[i] == r->license)
			return 0;
	if (r->license == SL_NONE && (!several || r->resv != SL_NONE))
		return 0;
	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has a licence that is none of its alternatives", c->snap->job.id[r->job]);
}

/* Of alternatives that are numbers of the same licence the smallest: a row does not say which one it has. */
static uint32_t smallest_of(const struct check *c, uint32_t j, uint32_t license)
{
	struct sl_range l = c->snap->job.licenses[j];
	uint32_t n = UINT32_MAX;

	for (uint32_t i = l.first; i < l.first + l.count; i++)
		if (c->snap->job_license.license[i] == license && c->snap->job_license.count[i] < n)
			n = c->snap->job_license.count[i];
	return n;
}

/* What a row takes of it.  (Which of several a run had, a schedule that is over does not say.) */
static uint32_t row_takes(const struct check *c, const struct row *r, uint32_t license)
{
	if (r->resv != SL_NONE)
		return 0;
	if (!has_alternatives(c, r->job))
		return licenses_of(c, r->job, license);
	return r->license == license ? smallest_of(c, r->job, license) : 0;
}

struct change {
	int64_t at, count;
	uint32_t job;			/* that is planned, or SL_NONE */
};

static int by_change(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return SL_ORDER(x->at, y->at) ?: SL_ORDER(x->count, y->count);
}

/* Is a licence ever used more often than there are?  From *used* on, through its changes in time. */
static int check_license(struct check *c, uint32_t l, struct change *ch, uint32_t n, int64_t used)
{
	const struct sl_license_view *lic = &c->snap->license;
	int64_t have = (int64_t) lic->total[l] - lic->reserved[l];

	qsort(ch, n, sizeof(*ch), by_change);
	for (uint32_t i = 0; i < n; i++) {
		used += ch[i].count;
		if (ch[i].count > 0 && ch[i].job != SL_NONE && used > have)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": %" PRId64 " of license %s in use at %"
				       PRId64 ", there are %" PRId64, c->snap->job.id[ch[i].job], used,
				       check_str(c, lic->name[l]), ch[i].at, have);
	}
	return 0;
}

/* What reservations set aside of it. */
static uint32_t add_reserved(const struct check *c, uint32_t l, struct change *ch, uint32_t n)
{
	const struct sl_reservation_view *v = &c->snap->reservation;

	for (uint32_t r = 0; r < v->rows; r++) {
		struct sl_range set = v->licenses[r];

		for (uint32_t i = set.first; i < set.first + set.count && v->end_time[r] > v->start_time[r]; i++) {
			int64_t has = c->snap->job_license.count[i];

			if (c->snap->job_license.license[i] != l)
				continue;
			ch[n++] = (struct change) { v->start_time[r], has, SL_NONE };
			ch[n++] = (struct change) { v->end_time[r], -has, SL_NONE };
		}
	}
	return n;
}

int check_licenses(struct check *c, const struct row *rows, uint32_t count)
{
	const struct sl_snapshot *s = c->snap;
	struct change *ch;
	size_t reserved = 0;
	int rc;

	for (uint32_t r = 0; r < s->reservation.rows; r++)
		reserved += s->reservation.licenses[r].count;
	ch = calloc(s->job.rows + 2 * (count + reserved) + 1, sizeof(*ch));
	rc = ch ? 0 : sl_fail(c->err, SL_ENOMEM, "check: out of memory");

	for (uint32_t l = 0; !rc && l < s->license.rows; l++) {
		int64_t running = 0, used = s->license.used[l];
		uint32_t n = 0;

		for (uint32_t j = 0; j < s->job.rows; j++) {
			bool runs = (s->job.state[j] == SL_JOB_RUNNING || s->job.state[j] == SL_JOB_SUSPENDED) &&
				!(s->job.flags[j] & SL_JOBF_COMPLETING);
			uint32_t has = runs ? licenses_of(c, j, l) : 0;

			running += has;
			if (has && check_end(c, j) != INT64_MAX)
				ch[n++] = (struct change) { check_end(c, j), -(int64_t) has, SL_NONE };
		}
		for (uint32_t i = 0; i < count; i++) {
			uint32_t takes = row_takes(c, &rows[i], l);

			if (!takes)
				continue;
			ch[n++] = (struct change) { rows[i].at, takes, rows[i].job };
			if (rows[i].until != INT64_MAX)
				ch[n++] = (struct change) { rows[i].until, -(int64_t) takes, SL_NONE };
		}
		n = add_reserved(c, l, ch, n);
		rc = check_license(c, l, ch, n, used > running ? used : running);
	}
	free(ch);
	return rc;
}
