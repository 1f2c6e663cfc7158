/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layout.c - see layout.h */
#include "plugin/commit/layout.h"
#include "plugin/records/hosts.h"
#include "plugin/records/units.h"

/* The part of a request that is changed for select_nodes(), as it was before. */
struct saved {
	sl_details_t details;		/* a shallow copy */
	uint32_t req_switch;
	uint16_t warn_time;
	bool best_switch;
	uint64_t spread;		/* the bit SPREAD_JOB of bit_flags, as it was */
	bool pinned, excluding;		/* the plan's nodes are required; exc_node_bitmap has been replaced */
	bool counted;			/* the constraint has counts and was taken off the job */
	part_record_t *least_loaded;	/* its partition, whose LLN was cleared; else NULL */
};

const char *sl_layout_word(enum sl_layout_way way)
{
	static const char *const word[] = { "native", "pin", "tasks", "resv" };

	return (unsigned) way < sizeof(word) / sizeof(word[0]) ? word[way] : "?";
}

/* -- cores in use ---------------------------------------------------------- */

void sl_cores_clear(struct sl_cores *c)
{
	FREE_NULL_BITMAP(c->used);
	xfree(c->offset);
	memset(c, 0, sizeof(*c));
}

static void mark_job(struct sl_cores *c, const job_record_t *job)
{
	const bitstr_t *held = sl_gave_cores_back(job) ? NULL : sl_held_nodes(job);
	const job_resources_t *jr = job->job_resrcs;
	struct sl_host h = SL_BEFORE_HOSTS;
	uint32_t k;

	while (held && sl_host_next(jr, &h) && h.node < c->nodes) {
		if (!bit_test((bitstr_t *) held, h.node))
			continue;
		for (k = 0; k < c->offset[h.node + 1] - c->offset[h.node] && h.first + (int) k < h.end; k++)
			if (bit_test(jr->core_bitmap, h.first + k))
				bit_set(c->used, c->offset[h.node] + k);
	}
}

/* -- the temporary reservation ------------------------------------------------ */

#if !SL_HAVE_ARBITRARY_TPN
static int each_holder(void *x, void *arg)
{
	job_record_t *job = x;

	if (IS_JOB_RUNNING(job) || IS_JOB_COMPLETING(job) || IS_JOB_SUSPENDED(job))
		mark_job(arg, job);
	return 0;
}

/* Cores that a node sets aside for the system are not free.  (A job that may use them gets whole nodes, so no cores are
 * chosen for it.) */
static void mark_system(struct sl_cores *c, int node)
{
	const node_record_t *n = node_record_table_ptr[node];
	uint32_t k, cores = c->offset[node + 1] - c->offset[node];

	if (!n || !n->node_spec_bitmap)
		return;
	for (k = 0; k < cores && k < (uint32_t) bit_size(n->node_spec_bitmap); k++)
		if (!bit_test(n->node_spec_bitmap, k))
			bit_set(c->used, c->offset[node] + k);
}

static void fill_cores(struct sl_cores *c)
{
	int i;

	if (c->filled)
		return;
	c->nodes = node_record_count;
	c->offset = xcalloc(c->nodes + 1, sizeof(*c->offset));
	for (i = 0; i < c->nodes; i++)
		c->offset[i + 1] = c->offset[i] + (node_record_table_ptr[i] ? node_record_table_ptr[i]->tot_cores : 0);
	c->used = bit_alloc(MAX(c->offset[c->nodes], 1));
	for (i = 0; i < c->nodes; i++)
		mark_system(c, i);
	list_for_each(job_list, each_holder, c);
	c->filled = true;
}

static bool is_free(const struct sl_cores *c, bitstr_t *within, uint32_t core)
{
	return !bit_test(c->used, core) && (!within || (core < bit_size(within) && bit_test(within, core)));
}

/* The cores to allocate, as a bitmap: of each place the first free ones, only from *within* if that is not NULL.  Fewer
 * than planned if cores are no longer free. */
static bitstr_t *chosen_cores(const struct sl_layout_place *place, uint32_t count, bitstr_t *within, struct sl_cores *c)
{
	bitstr_t *chosen;
	uint32_t i, k, want;

	fill_cores(c);
	chosen = bit_alloc(MAX(c->offset[c->nodes], 1));
	for (i = 0; i < count; i++)
		for (k = c->offset[place[i].node], want = place[i].cores; k < c->offset[place[i].node + 1] && want; k++)
			if (is_free(c, within, k)) {
				bit_set(chosen, k);
				want--;
			}
	return chosen;
}

static int is_same(void *x, void *key)
{
	return x == key;
}

/* select_nodes() while a reservation has all cores of those nodes except the *chosen* ones. */
static int select_beside_resv(job_record_t *job, const bitstr_t *nodes, const bitstr_t *chosen,
			      const struct sl_layout_place *place, uint32_t count, const struct sl_cores *c)
{
	time_t now = time(NULL);
	slurmctld_resv_t r = {
		.magic = SL_RESV_MAGIC, .name = (char *) "sched_lua", .start_time = now - 10, .start_time_first = now - 10,
		.end_time = now + 10 * 365 * 86400L, .duration = NO_VAL, .tres_str = (char *) "1=1",	/* parts of nodes */
		.node_bitmap = bit_copy((bitstr_t *) nodes), .core_bitmap = bit_alloc(MAX(c->offset[c->nodes], 1)),
	};
	int rc;

	for (uint32_t i = 0; i < count; i++)
		if (c->offset[place[i].node] < c->offset[place[i].node + 1])
			bit_nset(r.core_bitmap, c->offset[place[i].node], c->offset[place[i].node + 1] - 1);
	bit_and_not(r.core_bitmap, (bitstr_t *) chosen);
	list_push(resv_list, &r);
	rc = sl_select_nodes(job);
	list_remove_first(resv_list, is_same, &r);
	FREE_NULL_BITMAP(r.node_bitmap);	/* a copy, because select_nodes() frees the job's own list of nodes */
	FREE_NULL_BITMAP(r.core_bitmap);
	return rc;
}

/* select_nodes() in the job's reservation, which has only the *chosen* cores meanwhile.  Two flags are cleared for that
 * time.  FLEX: select does not look at the cores of a flexible reservation.  REPLACE: select_nodes() would replace the
 * nodes that the job has got by others and free the reservation's cores; it does so later, when the record is as before. */
static int select_inside(job_record_t *job, slurmctld_resv_t *r, const bitstr_t *nodes, bitstr_t *chosen)
{
	const slurmctld_resv_t was = *r;
	time_t now = time(NULL);
	int rc;

	r->core_bitmap = chosen;
	r->flags &= ~(uint64_t) RESERVE_FLAG_REPLACE;
	if (r->flags & RESERVE_FLAG_FLEX) {
		r->flags &= ~(uint64_t) (RESERVE_FLAG_FLEX | RESERVE_FLAG_ANY_NODES);
		r->node_bitmap = bit_copy((bitstr_t *) nodes);	/* a copy, because select_nodes() frees the job's own */
		r->node_cnt = (uint32_t) bit_set_count((bitstr_t *) nodes);
		r->start_time = MIN(r->start_time, now);
		r->end_time = MAX(r->end_time, now + 10 * 365 * 86400L);
	}
	rc = sl_select_nodes(job);
	r->core_bitmap = was.core_bitmap;
	r->flags = was.flags;
	if (was.flags & RESERVE_FLAG_FLEX) {	/* (the times of other reservations are not put back: Slurm may have moved
						 * them to the next day) */
		FREE_NULL_BITMAP(r->node_bitmap);
		r->node_bitmap = was.node_bitmap;
		r->node_cnt = was.node_cnt;
		r->start_time = was.start_time;
		r->end_time = was.end_time;
	}
	if (rc == SLURM_SUCCESS)
		job_claim_resv(job);
	return rc;
}

/* select_nodes() that can take those cores and no others.  For a job that is in a reservation of cores, select does not
 * look at further reservations; therefore its own reservation gets these cores meanwhile. */
static int select_on(job_record_t *job, const struct sl_layout_place *place, uint32_t count, struct sl_cores *cores)
{
	const bitstr_t *nodes = job->details->req_node_bitmap;
	slurmctld_resv_t *r = job->resv_name ? job->resv_ptr : NULL;
	bool parts = r && !(r->flags & RESERVE_FLAG_FLEX) && !(r->ctld_flags & RESV_CTLD_FULL_NODE);
	bitstr_t *chosen = chosen_cores(place, count, parts ? r->core_bitmap : NULL, cores);
	int rc = r ? select_inside(job, r, nodes, chosen) : select_beside_resv(job, nodes, chosen, place, count, cores);

	FREE_NULL_BITMAP(chosen);
	return rc;
}
#endif

/* -- the tasks of each node --------------------------------------------------- */

static uint16_t place_tasks(const struct sl_layout_place *place)
{
	return (uint16_t) MIN(MAX(place->tasks, 1), NO_VAL16 - 1);
}

#if SL_HAVE_ARBITRARY_TPN
static void tell_tasks(sl_details_t *d, const struct sl_layout_place *place, uint32_t count)
{
	d->contiguous |= SL_TPN_WANTS_CONTIGUOUS;
	if (d->arbitrary_tpn)
		return;
	d->arbitrary_tpn = xcalloc(count, sizeof(*d->arbitrary_tpn));
	for (uint32_t i = 0; i < count; i++)
		d->arbitrary_tpn[i] = place_tasks(&place[i]);
}

/* (job_array_split() copies the pointer.  *copy*: the record of the other tasks gets a copy of what the request said.) */
static void put_tasks_back(sl_details_t *d, uint16_t *saved, bool copy)
{
	if (!copy && d->arbitrary_tpn != saved)
		xfree(d->arbitrary_tpn);
	d->arbitrary_tpn = saved;
	if (copy && saved) {
		d->arbitrary_tpn = xmalloc(xsize(saved));
		memcpy(d->arbitrary_tpn, saved, xsize(saved));
	}
}
#else
/* The same fields that sbatch sets for --ntasks-per-node. */
static void tell_tasks(sl_details_t *d, const struct sl_layout_place *place, uint32_t count)
{
	(void) count;
	d->ntasks_per_node = place_tasks(place);
	d->pn_min_cpus = MAX(d->pn_min_cpus, (uint32_t) d->ntasks_per_node * MAX(sl_set16(d->cpus_per_task), 1));
}
#endif

/* -- choosing a way --------------------------------------------------------- */

static uint32_t node_cores(uint32_t node)
{
	const node_record_t *n = node_record_table_ptr[node];

	return n->tot_cores > n->core_spec_cnt ? n->tot_cores - n->core_spec_cnt : n->tot_cores;
}

/* True if each node gets as many tasks as the others, and the request says something of sockets, which select then has to
 * see whole. */
static bool is_even_by_socket(const job_record_t *job, const struct sl_layout_place *place, uint32_t count)
{
	const multi_core_data_t *m = job->details->mc_ptr;
	uint32_t i = 1;

	while (i < count && place[i].tasks == place[0].tasks && place[i].cores == place[0].cores)
		i++;
	return i == count && m &&
		(sl_said16(m->sockets_per_node) || sl_said16(m->cores_per_socket) || sl_said16(m->ntasks_per_socket));
}

/* True if topology/block places the job on several nodes: it does not read arbitrary_tpn. */
static bool is_in_blocks(const job_record_t *job, uint32_t nodes)
{
	return nodes > 1 && sl_part_has_blocks(job->part_ptr);
}

static enum sl_layout_way choose_way(const job_record_t *job, const struct sl_layout_place *place, uint32_t count, bool dealt)
{
	if (!count)
		return SL_LAYOUT_NATIVE;
#if SL_HAVE_ARBITRARY_TPN
	if (job->details->arbitrary_tpn)	/* the request itself says the tasks of each node, for min_nodes nodes */
		return count == job->details->min_nodes ? SL_LAYOUT_TASKS : SL_LAYOUT_NATIVE;
#endif
	if (!dealt || is_in_blocks(job, count))
		return SL_LAYOUT_PIN;
	return SL_HAVE_ARBITRARY_TPN || is_even_by_socket(job, place, count) ? SL_LAYOUT_TASKS : SL_LAYOUT_RESV;
}

/* -- changing the request and putting it back ---------------------------------- */

/*
 * Let select take exactly *nodes*, those of the plan; if that is NULL, any nodes but *keep_off*.  Nodes that a request
 * excludes are not looked at, and with 10,000 nodes looking is most of what a start costs.  (max_nodes is not set for a job
 * with gres that overcommits: on a single node select would ask for cores for all of its tasks.)
 *
 * topology/block does not accept required nodes beside --segment, and wants them all in one of its larger blocks.  Therefore
 * nothing is required there: all other nodes are excluded, and the job needs as many as are left.
 */
static void change_nodes(job_record_t *job, bitstr_t *nodes, const bitstr_t *keep_off, const bitstr_t *excluded)
{
	sl_details_t *d = job->details;

	if (nodes) {
		d->req_node_bitmap = is_in_blocks(job, (uint32_t) bit_set_count(nodes)) ? NULL : nodes;
		d->min_nodes = (uint32_t) bit_set_count(nodes);
		if (!d->overcommit || !job->gres_list_req)
			d->max_nodes = d->min_nodes;
	}
	if (!nodes && !keep_off)
		return;
	d->exc_node_bitmap = bit_copy(nodes ? nodes : (bitstr_t *) keep_off);
	if (nodes)
		bit_not(d->exc_node_bitmap);
	if (excluded)
		bit_or(d->exc_node_bitmap, (bitstr_t *) excluded);
}

/*
 * Where sockets are allocated, make select fill one socket after the other.  By default it takes a core of each free socket
 * in turn, and the job is given every socket that it touches.  (The distribution "plane" already fills sockets, and cannot be
 * combined with that option.)
 */
static void fill_sockets(const job_record_t *job)
{
	uint16_t own = job->part_ptr ? job->part_ptr->cr_type : 0;
	sl_details_t *d = job->details;

	if (!((own ? own : slurm_conf.select_type_param) & CR_SOCKET) || (d->task_dist & SLURM_DIST_NODEMASK) == SLURM_DIST_PLANE)
		return;
	/* (the number of "arbitrary" has both bits set; the tasks of each node are told separately) */
	if (!(d->task_dist & (SLURM_DIST_NODECYCLIC | SLURM_DIST_NODEBLOCK)) ||
	    (d->task_dist & SLURM_DIST_NODEMASK) == SLURM_DIST_ARBITRARY)
		d->task_dist = SLURM_DIST_NODECYCLIC | (d->task_dist & SLURM_DIST_STATE_FLAGS);
	d->task_dist = (d->task_dist & (SLURM_DIST_NODECYCLIC | SLURM_DIST_NODEBLOCK | SLURM_DIST_STATE_FLAGS)) |
		SLURM_DIST_SOCKBLOCK;
}

/* Let the request require the nodes of the plan.  Whatever the plan has already decided (sockets, switches, spreading) is
 * taken off it. */
static bitstr_t *pin_request(job_record_t *job, const struct sl_layout_place *place, uint32_t count, bool counted)
{
	bitstr_t *nodes = bit_alloc(node_record_count);
	sl_details_t *d = job->details;

	for (uint32_t i = 0; i < count; i++)
		bit_set(nodes, place[i].node);
#if SL_HAVE_NODE_COUNTS
	d->job_size_bitmap = NULL;	/* it lists the node counts that are allowed, and the plan has one of them */
#endif
	if (counted)	/* select finds no nodes for a constraint with counts if nodes are required */
		d->feature_list_use = NULL;	/* (its text stays, because prologs that start meanwhile are told it) */
	fill_sockets(job);
	/* the plan has decided how many switches there are; select would begin to wait for fewer */
	job->req_switch = 0;
	job->best_switch = true;
	/* the plan has spread the job; select would do so again and ignore arbitrary_tpn */
	job->bit_flags &= ~SPREAD_JOB;
	return nodes;
}

/* Which nodes are least loaded is decided: select would deal the tasks to them anew, without a look at arbitrary_tpn. */
static part_record_t *set_lln_aside(job_record_t *job)
{
	part_record_t *part = SL_LLN_DEALS ? job->part_ptr : NULL;

	if (!part || !(part->flags & PART_FLAG_LLN))
		return NULL;
	part->flags &= ~PART_FLAG_LLN;
	return part;
}

static void change_request(job_record_t *job, const struct sl_layout_place *place, uint32_t count,
			   const bitstr_t *keep_off, enum sl_layout_way way, struct saved *s)
{
	sl_details_t *d = job->details;
	bitstr_t *nodes = NULL;

	*s = (struct saved) { .details = *d, .req_switch = job->req_switch, .warn_time = job->warn_time, .best_switch = job->best_switch,
			      .spread = job->bit_flags & SPREAD_JOB, .pinned = way != SL_LAYOUT_NATIVE };
	s->excluding = s->pinned || keep_off;
	s->counted = s->pinned && d->features_use && strchr(d->features_use, '*');
	if (way == SL_LAYOUT_TASKS) {
		tell_tasks(d, place, count);
		s->least_loaded = set_lln_aside(job);
	}
	/* --signal=R:USR1@0: a job with such a warning may have the nodes of any reservation without MaxStartDelay, that of RESV, too */
	if (way == SL_LAYOUT_RESV)
		job->warn_time = MAX(job->warn_time, 1);
	if (s->pinned)
		nodes = pin_request(job, place, count, s->counted);
	change_nodes(job, nodes, keep_off, d->exc_node_bitmap);
	if (nodes && !d->req_node_bitmap)
		FREE_NULL_BITMAP(nodes);
}

static void put_bitmap_back(bitstr_t **at, bitstr_t *saved, bool copy)
{
	FREE_NULL_BITMAP(*at);
	*at = copy && saved ? bit_copy(saved) : saved;
}

/* Put the request back into the job's record.  *copy*: the record is another job's, which needs copies of its own. */
static void put_request_back(job_record_t *job, const struct saved *s, bool copy)
{
	const sl_details_t *was = &s->details;
	sl_details_t *d = job->details;

	job->req_switch = s->req_switch;
	job->warn_time = s->warn_time;
	job->best_switch = s->best_switch;
	job->bit_flags |= s->spread;
	if (s->least_loaded)
		s->least_loaded->flags |= PART_FLAG_LLN;
	if (!d)
		return;
#if SL_HAVE_ARBITRARY_TPN
	put_tasks_back(d, was->arbitrary_tpn, copy);
#endif
	if (s->counted && !copy)
		d->feature_list_use = was->feature_list_use;
	if (s->excluding)
		put_bitmap_back(&d->exc_node_bitmap, was->exc_node_bitmap, copy);
	if (!s->pinned)
		return;
	put_bitmap_back(&d->req_node_bitmap, was->req_node_bitmap, copy);
#if SL_HAVE_NODE_COUNTS
	put_bitmap_back(&d->job_size_bitmap, was->job_size_bitmap, copy);
#endif
	d->min_nodes = was->min_nodes;
	d->max_nodes = was->max_nodes;
	d->contiguous = was->contiguous;
	d->ntasks_per_node = was->ntasks_per_node;
	d->pn_min_cpus = was->pn_min_cpus;
	d->task_dist = was->task_dist;
}

/* When a task is split off an array, the record of the other tasks is copied from the changed request: put that back too. */
static void put_head_back(uint32_t array_job_id, const job_record_t *job, const struct saved *s)
{
	job_record_t *head = find_job_record(array_job_id);

	if (head && head != job && head->details && head->array_recs)
		put_request_back(head, s, true);
}

/* (select also counts the system's cores of a whole node that has not registered yet: it knows how many they are, not
 * which.) */
static bool has_cores(uint32_t given, const struct sl_layout_place *place)
{
	return given == place->cores ||
		(given == node_record_table_ptr[place->node]->tot_cores && place->cores == node_cores(place->node));
}

/* True if the job was allocated those nodes, with as many cores on each as planned. */
static bool is_as_planned(const job_record_t *job, const struct sl_layout_place *place, uint32_t count)
{
	const job_resources_t *jr = job->job_resrcs;
	struct sl_host h = SL_BEFORE_HOSTS;
	uint32_t same = 0;

	if (!sl_has_hosts(jr) || jr->nhosts != count)
		return false;
	while (sl_host_next(jr, &h))
		same += h.node == (int) place[h.index].node && has_cores(sl_host_cores(jr, &h), &place[h.index]);
	return same == count;
}

static int select_in_way(job_record_t *job, const struct sl_layout_place *place, uint32_t count,
			 const bitstr_t *keep_off, struct sl_cores *cores, enum sl_layout_way way)
{
	bool head = job->array_recs && job->array_task_id == NO_VAL;
	uint32_t array_job_id = job->array_job_id;
	struct saved s;
	int rc;

	change_request(job, place, count, keep_off, way, &s);
#if SL_HAVE_ARBITRARY_TPN
	(void) cores;
	rc = sl_select_nodes(job);
#else
	rc = way == SL_LAYOUT_RESV ? select_on(job, place, count, cores) : sl_select_nodes(job);
#endif
	if (head)
		put_head_back(array_job_id, job, &s);
	put_request_back(job, &s, false);
	return rc;
}

/* A native start, with the *full* nodes hidden from select. */
static int select_beside(job_record_t *job, const bitstr_t *keep_off, const bitstr_t *full, struct sl_cores *cores)
{
	bitstr_t *off = bit_copy((bitstr_t *) full);
	int rc;

	if (keep_off)
		bit_or(off, (bitstr_t *) keep_off);
	rc = select_in_way(job, NULL, 0, off, cores, SL_LAYOUT_NATIVE);
	FREE_NULL_BITMAP(off);
	return rc;
}

/* Does select say that the job could never run?  It knows nothing of the nodes that were hidden from it. */
static bool is_never(int rc)
{
	return rc == ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE || rc == ESLURM_INVALID_NODE_COUNT ||
		rc == ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE;
}

int sl_layout_start(job_record_t *job, const struct sl_layout_place *place, uint32_t count, bool dealt,
		    const bitstr_t *keep_off, const bitstr_t *full, struct sl_cores *cores, enum sl_layout_way *way,
		    bool *exact)
{
	int rc = ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;

	*way = choose_way(job, place, count, dealt);
	if (full && !count)
		rc = select_beside(job, keep_off, full, cores);
	if (is_never(rc))
		rc = select_in_way(job, place, count, keep_off, cores, *way);
	/* The way may ask for more than the plan did, for example for other sockets than those of the gres.  Then try
	 * again with the nodes alone. */
	if (rc != SLURM_SUCCESS && *way > SL_LAYOUT_PIN && rc != ESLURM_ACCOUNTING_POLICY) {
		*way = SL_LAYOUT_PIN;
		rc = select_in_way(job, place, count, keep_off, cores, *way);
	}
	*exact = rc == SLURM_SUCCESS && (!count || is_as_planned(job, place, count));
	if (rc == SLURM_SUCCESS && cores->filled && sl_has_hosts(job->job_resrcs))
		mark_job(cores, job);
	return rc;
}
