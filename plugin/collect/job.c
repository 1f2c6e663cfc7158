/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/job.c - copies a job's record into the snapshot; see collect/int.h */
#include "plugin/collect/int.h"
#include "plugin/records/hosts.h"
#include "plugin/request/lend.h"

/* -- what it asks for ---------------------------------------------------- */

struct job_gres_walk {
	struct sl_collector *c;
	const job_record_t *job;
	uint32_t count;
};

static int each_default(void *x, void *arg)
{
	job_defaults_t *d = x;
	uint64_t *of = arg;

	if (d->type == JOB_DEF_CPU_PER_GPU)
		of[0] = d->value;
	else if (d->type == JOB_DEF_MEM_PER_GPU)
		of[1] = d->value;
	return 0;
}

/* CPUs and MiB that select gives a job with each piece of gres: what it asks for, else DefCpuPerGPU and DefMemPerGPU of
 * its partition or of the cluster. */
static void add_company(struct sl_job_gres_row *row, const gres_state_t *g, const gres_job_state_t *js,
			const job_record_t *job)
{
	uint64_t by_default[2] = { 0, 0 };

	if (!xstrcmp(g->gres_name, "gpu")) {
		if (slurm_conf.job_defaults_list)
			list_for_each(slurm_conf.job_defaults_list, each_default, by_default);
		if (job->part_ptr && job->part_ptr->job_defaults_list)
			list_for_each(job->part_ptr->job_defaults_list, each_default, by_default);
	}
	if (js->cpus_per_gres)
		row->cpus = js->cpus_per_gres;
	else if (job->details && job->details->orig_cpus_per_task == NO_VAL16)
		row->cpus = (uint32_t) MIN(by_default[0], UINT16_MAX);
	if (!(job->bit_flags & JOB_MEM_SET))
		row->memory = (int64_t) MIN(js->mem_per_gres ? js->mem_per_gres : by_default[1], UINT32_MAX);
}

static void add_need(struct job_gres_walk *w, const gres_state_t *g, const gres_job_state_t *js, uint64_t count,
		     enum sl_per per)
{
	struct sl_job_gres_row row = sl_job_gres_row();

	row.name = sl_builder_str(w->c->b, g->gres_name);
	row.type = sl_builder_str(w->c->b, js->type_name);
	row.count = (uint32_t) MIN(count, UINT32_MAX - 1);
	row.per = per;
	add_company(&row, g, js, w->job);
	sl_builder_append(w->c->b, SL_T_JOB_GRES, &row);
	w->count++;
}

static int each_job_gres(void *x, void *arg)
{
	gres_state_t *g = x;
	gres_job_state_t *js = g->gres_data;
	struct job_gres_walk *w = arg;

	if (!js || !g->gres_name || sl_collect_uncounted(w->c->scratch, g) || sl_is_typed_share(g, js))
		return 0;
	/* Slurm fills in what follows from other fields (per job from per node, the sockets of a node from both), or
	 * checks that they agree.  The most specific one is what the user asked for. */
	if (js->gres_per_socket)
		add_need(w, g, js, js->gres_per_socket, SL_PER_SOCKET);
	else if (js->gres_per_node)
		add_need(w, g, js, js->gres_per_node, SL_PER_NODE);
	else if (js->gres_per_task)
		add_need(w, g, js, js->gres_per_task, SL_PER_TASK);
	else if (js->gres_per_job)
		add_need(w, g, js, js->gres_per_job, SL_PER_JOB);
	return 0;
}

static struct sl_range add_needs(struct sl_collector *c, const job_record_t *job)
{
	struct job_gres_walk w = { c, job, 0 };
	uint32_t first = sl_builder_rows(c->b, SL_T_JOB_GRES);

	if (job->gres_list_req)
		list_for_each(job->gres_list_req, each_job_gres, &w);
	return w.count ? (struct sl_range) { first, w.count } : (struct sl_range) { 0, 0 };
}

static int each_job_license(void *x, void *arg)
{
	licenses_t *l = x;
	struct job_gres_walk *w = arg;
	struct sl_job_license_row row = sl_job_license_row();
	uint32_t i, n = sl_builder_rows(w->c->b, SL_T_LICENSE), name;
	struct sl_license_row lic;

	if (sl_license_is_hres(l))
		return 0;
	name = sl_builder_str(w->c->b, l->name);
	for (i = 0; i < n && (sl_builder_row(w->c->b, SL_T_LICENSE, i, &lic) || lic.name != name); i++)
		;
	if (i == n) {		/* such licences no longer exist: nobody has one */
		lic = sl_license_row();
		lic.name = name;
		sl_builder_append(w->c->b, SL_T_LICENSE, &lic);
	}
	row.license = i;
	row.count = l->total;
	sl_builder_append(w->c->b, SL_T_JOB_LICENSE, &row);
	w->count++;
	return 0;
}

struct sl_range sl_collect_licenses(struct sl_collector *c, sl_list_t licenses)
{
	struct job_gres_walk w = { c, NULL, 0 };
	uint32_t first = sl_builder_rows(c->b, SL_T_JOB_LICENSE);

	if (licenses)
		list_for_each(licenses, each_job_license, &w);
	return w.count ? (struct sl_range) { first, w.count } : (struct sl_range) { 0, 0 };
}

struct part_walk {
	struct sl_collector *c;
	uint32_t count;
};

static int each_job_part(void *x, void *arg)
{
	struct part_walk *w = arg;
	struct sl_job_partition_row row = sl_job_partition_row();

	row.partition = sl_collect_part(w->c, x);
	if (row.partition == SL_NONE)
		return 0;
	sl_builder_append(w->c->b, SL_T_JOB_PARTITION, &row);
	w->count++;
	return 0;
}

/* -- what it has --------------------------------------------------------- */

/* The kind of gres that was allocated on a node: its own type, else the first type of that name that the node has. */
static uint32_t alloc_kind(struct sl_collector *c, const char *name, const char *type, uint32_t node)
{
	struct sl_node_row n;
	struct sl_node_gres_row g;
	uint32_t i;

	if (type && *type)
		return sl_collect_kind(c, name, type);
	if (sl_builder_row(c->b, SL_T_NODE, node, &n))
		return SL_NONE;
	for (i = 0; i < n.gres.count; i++)
		if (!sl_builder_row(c->b, SL_T_NODE_GRES, n.gres.first + i, &g) && g.kind < c->scratch->kinds &&
		    !strcmp(c->scratch->kind[g.kind].name, name))
			return g.kind;
	return SL_NONE;
}

struct alloc_walk {
	struct sl_collector *c;
	uint32_t node, host, count;
	const node_record_t *record;
};

static int each_alloc_gres(void *x, void *arg)
{
	gres_state_t *g = x;
	gres_job_state_t *js = g->gres_data;
	struct alloc_walk *w = arg;
	struct sl_alloc_gres_row row = sl_alloc_gres_row();

	bool shared = g->config_flags & GRES_CONF_SHARED;

	if (!js || !g->gres_name || !js->gres_cnt_node_alloc || w->host >= js->node_cnt ||
	    (shared && sl_collect_uncounted(w->c->scratch, g)))
		return 0;
	if (js->gres_cnt_node_alloc[w->host] == NO_CONSUME_VAL64)
		return 0;
	row.count = (uint32_t) js->gres_cnt_node_alloc[w->host];
	if (!row.count || (row.kind = alloc_kind(w->c, g->gres_name, shared ? NULL : js->type_name, w->node)) == SL_NONE)
		return 0;
	sl_collect_devices(w->c, w->record, g, w->host, &row);
	sl_builder_append(w->c->b, SL_T_ALLOC_GRES, &row);
	w->count++;
	return 0;
}

/* The rows of ALLOC must be consecutive; the gres of the same nodes go to another table in between. */
static struct sl_range add_alloc(struct sl_collector *c, const job_record_t *job)
{
	const job_resources_t *jr = job->job_resrcs;
	const bitstr_t *held = sl_held_nodes(job);
	bool no_cores = sl_gave_cores_back(job);
	struct sl_range r = { sl_builder_rows(c->b, SL_T_ALLOC), 0 };
	struct sl_host h = SL_BEFORE_HOSTS;

	if (!held)
		return (struct sl_range) { 0, 0 };
	while (sl_host_next(jr, &h)) {
		struct sl_alloc_row row = sl_alloc_row();
		struct alloc_walk w = { c, 0, h.index, 0, node_record_table_ptr[h.node] };

		if ((uint32_t) h.node >= c->node_slots || c->node_row[h.node] == SL_NONE ||
		    !bit_test((bitstr_t *) held, h.node))
			continue;
		row.node = w.node = c->node_row[h.node];
		row.cores = no_cores ? 0 : sl_host_cores(jr, &h);
		row.memory = jr->memory_allocated ? (int64_t) jr->memory_allocated[h.index] : 0;
		row.gres.first = sl_builder_rows(c->b, SL_T_ALLOC_GRES);
		if (job->gres_list_alloc)
			list_for_each(job->gres_list_alloc, each_alloc_gres, &w);
		row.gres.count = w.count;
		if (!w.count)
			row.gres.first = 0;
		sl_builder_append(c->b, SL_T_ALLOC, &row);
		r.count++;
	}
	return r.count ? r : (struct sl_range) { 0, 0 };
}

static int each_gpu(void *x, void *arg)
{
	gres_state_t *g = x;
	gres_job_state_t *js = g->gres_data;
	uint64_t *gpus = arg;
	uint32_t i;

	if (!js || xstrcmp(g->gres_name, "gpu") || !js->gres_cnt_node_alloc)
		return 0;
	for (i = 0; i < js->node_cnt; i++)
		*gpus += js->gres_cnt_node_alloc[i];
	return 0;
}

/* What accounting counts; it stays when the nodes have been given back. */
static void fill_totals(struct sl_job_row *row, const job_record_t *job)
{
	uint64_t gpus = 0;

	row->alloc_nodes = job->total_nodes;
	row->alloc_cpus = job->total_cpus;
	if (job->gres_list_alloc)
		list_for_each(job->gres_list_alloc, each_gpu, &gpus);
	row->alloc_gpus = (uint32_t) MIN(gpus, UINT32_MAX - 1);
}

/* -- the row --------------------------------------------------------------- */

/* Tasks of its array that may run at once; 0: any number, or the job is not of an array.  Only the array's own record has it,
 * which stands for the tasks that have not been split off. */
static uint32_t throttle_of(const job_record_t *job)
{
	const job_record_t *base = job->array_recs || !job->array_job_id ? job : find_job_record(job->array_job_id);

	return base && base->array_recs ? base->array_recs->max_run_tasks : 0;
}

static void fill_who(struct sl_collector *c, struct sl_job_row *row, const job_record_t *job)
{
	struct sl_builder *b = c->b;

	row->id = job->job_id;
	if (job->array_job_id) {
		row->array_job_id = job->array_job_id;
		if (job->array_task_id != NO_VAL)
			row->array_task_id = job->array_task_id;
	}
	if (job->array_recs && job->array_task_id == NO_VAL)
		row->array_pending = job->array_recs->task_cnt;
	if (IS_JOB_PENDING(job))
		row->array_max_running = throttle_of(job);
	if (job->het_job_id) {
		row->het_job_id = job->het_job_id;
		row->het_offset = job->het_job_offset;
	}
	row->name = sl_builder_str(b, job->name);
	row->uid = job->user_id;
	row->gid = job->group_id;
	row->user = sl_builder_str(b, job->user_name);
	row->account = sl_builder_str(b, job->account);
	if (job->qos_ptr)
		row->qos = sl_builder_str(b, job->qos_ptr->name);
	row->wckey = sl_builder_str(b, job->wckey);
	row->mcs_label = sl_builder_str(b, job->mcs_label);
	row->comment = sl_builder_str(b, job->comment);
	row->admin_comment = sl_builder_str(b, job->admin_comment);
}

static void fill_where(struct sl_collector *c, struct sl_job_row *row, const job_record_t *job)
{
	struct part_walk w = { c, 0 };

	row->partition = sl_collect_part(c, job->part_ptr);
	row->reservation = sl_builder_str(c->b, job->resv_name);
	if (sl_lend_marked(job)) {
		part_record_t *home = sl_lend_home(job);

		sl_collect_note_lent(c, job->job_id);
		if (home)
			row->home = sl_collect_part(c, home);
	}
	if (!job->part_ptr_list)
		return;
	row->partitions.first = sl_builder_rows(c->b, SL_T_JOB_PARTITION);
	list_for_each(job->part_ptr_list, each_job_part, &w);
	row->partitions.count = w.count;
	if (!w.count)
		row->partitions.first = 0;
}

static uint32_t flags_of(const job_record_t *job)
{
	const sl_details_t *d = job->details;
	uint32_t f = 0;

	if (job->batch_flag)
		f |= SL_JOBF_BATCH;
	if (IS_JOB_COMPLETING(job))
		f |= SL_JOBF_COMPLETING;
	if (IS_JOB_POWER_UP_NODE(job) && IS_JOB_RUNNING(job))
		f |= SL_JOBF_POWER_UP;
	if (job->bit_flags & SPREAD_JOB)
		f |= SL_JOBF_SPREAD;
	if (!job->priority && IS_JOB_PENDING(job))
		f |= SL_JOBF_HELD;
	if (!d)
		return f;
	if (sl_is_exclusive(d) || (job->part_ptr && !job->part_ptr->max_share))
		f |= SL_JOBF_EXCLUSIVE;
	if (d->contiguous)
		f |= SL_JOBF_CONTIGUOUS;
	if (d->requeue && job->batch_flag)
		f |= SL_JOBF_REQUEUE;
	if (d->overcommit)
		f |= SL_JOBF_OVERCOMMIT;
	if (d->share_res == 1)
		f |= SL_JOBF_OVERSUBSCRIBE;
	if (d->depend_list && list_count(d->depend_list))
		f |= SL_JOBF_DEPENDENT;
	if (job->time_limit == NO_VAL)
		f |= SL_JOBF_DEFAULT_TIME;
	return f;
}

static bool qos_says(const job_record_t *job, uint32_t flag)
{
	return job->qos_ptr && job->qos_ptr->flags & flag;
}

bool sl_job_any_time(const job_record_t *job)
{
	return job->limit_set.time == ADMIN_SET_LIMIT || qos_says(job, QOS_FLAG_PART_TIME_LIMIT);
}

uint32_t sl_job_limit(uint32_t named, const part_record_t *p)
{
	return named != NO_VAL ? named : p->default_time != NO_VAL ? p->default_time : p->max_time;
}

uint32_t sl_job_walltime(const job_record_t *job, const part_record_t *p)
{
	uint32_t limit = sl_job_limit(job->time_limit, p);

	return p->max_time == INFINITE || limit <= p->max_time || sl_job_any_time(job) ? limit : p->max_time;
}

/* The time limit in seconds, in the job's current partition. */
static int64_t walltime(const job_record_t *job)
{
	const part_record_t *p = job->part_ptr;

	if (!p || !IS_JOB_PENDING(job))
		return sl_walltime(p ? sl_job_limit(job->time_limit, p) : job->time_limit);
	return sl_walltime(sl_job_walltime(job, p));
}

static void fill_state(struct sl_collector *c, struct sl_job_row *row, const job_record_t *job)
{
	uint32_t base = job->job_state & JOB_STATE_BASE;

	row->state = base < SL_JOB_STATES ? base : SL_JOB_FAILED;
	row->flags = flags_of(job);
	row->flags |= (sl_job_any_time(job) ? SL_JOBF_ANY_TIME : 0) |
		(qos_says(job, QOS_FLAG_PART_MAX_NODE) ? SL_JOBF_ANY_MAX_NODES : 0) |
		(qos_says(job, QOS_FLAG_PART_MIN_NODE) ? SL_JOBF_ANY_MIN_NODES : 0) |
		(sl_collect_reserves(job) ? 0 : SL_JOBF_NO_RESERVE);
	row->priority = job->priority;
	row->eligible_time = job->details ? job->details->begin_time : 0;
	row->deadline = job->deadline == (time_t) NO_VAL ? 0 : job->deadline;
	row->start_time = job->start_time;
	/* of a requeued job whose nodes are not cleaned up yet: when that run ended */
	row->end_time = IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job) ? 0 : job->end_time;
	row->suspend_time = job->suspend_time;
	row->pre_suspend_s = job->pre_sus_time;
	/* slurmctld keeps the time of an earlier run */
	row->resize_time = job->resize_time > job->start_time ? job->resize_time : 0;
	row->restarts = job->restart_cnt;
	row->exit_code = job->exit_code;
	row->state_reason = sl_builder_str(c->b, sl_reason_string(job->state_reason));
	row->time_limit = walltime(job);
	row->time_min = (int64_t) sl_set32(job->time_min) * 60;
	if (!job->details)
		return;
	row->nice = (int64_t) job->details->nice - NICE_OFFSET;
	row->submit_time = job->details->submit_time;
	row->begin_time = IS_JOB_PENDING(job) && job->details->begin_time > c->scratch->now ?
		job->details->begin_time : 0;
}

/* The range of nodes, as get_node_cnts() computes it: as many nodes as can be had, unless the user said otherwise or a
 * limit was set in place of what was asked for.  (Of a list of counts select takes the largest.) */
static void fill_nodes(struct sl_collector *c, struct sl_job_row *row, job_record_t *job)
{
	const sl_details_t *d = job->details;
	char counts[SL_NODE_COUNTS_TEXT];
	uint32_t most, why;

	row->min_nodes = MAX(d->min_nodes, 1);
	row->max_nodes = sl_set32(d->max_nodes);
	if (!IS_JOB_PENDING(job) || row->max_nodes <= row->min_nodes)
		return;
	sl_collect_node_counts(d, counts);
	row->node_counts = sl_builder_str(c->b, counts);
	if (!*counts && (job->bit_flags & SL_FEW_NODES || (job->limit_set.tres && job->limit_set.tres[TRES_ARRAY_NODE])))
		return;
	most = acct_policy_get_max_nodes(job, &why);
	row->max_nodes = MAX(MIN(row->max_nodes, most), row->min_nodes);
	row->flags |= SL_JOBF_MOST_NODES;
}

/* Nodes that the job excludes, or that are closed to it. */
static struct sl_range excluded_nodes(struct sl_collector *c, const job_record_t *job)
{
	bitstr_t *excludes = job->details->exc_node_bitmap, *closed = (bitstr_t *) sl_job_closed_nodes(job), *both;
	struct sl_range r;

	if (!closed || !excludes)
		return sl_collect_runs(c, closed ? closed : excludes);
	both = bit_copy(excludes);
	bit_or(both, closed);
	r = sl_collect_runs(c, both);
	FREE_NULL_BITMAP(both);
	return r;
}

static void fill_size(struct sl_collector *c, struct sl_job_row *row, const job_record_t *job)
{
	const sl_details_t *d = job->details;

	row->min_cpus = d->min_cpus;
	row->max_cpus = sl_set32(d->max_cpus);
	row->num_tasks = sl_set32(d->num_tasks);
	row->cpus_per_task = MAX(sl_set16(d->cpus_per_task), 1);
	row->ntasks_per_node = sl_set16(d->ntasks_per_node);
	row->pn_min_cpus = sl_set32(d->pn_min_cpus);
	if (c->scratch->memory && d->pn_min_memory & MEM_PER_CPU)
		row->memory_per_cpu = (int64_t) (d->pn_min_memory & ~MEM_PER_CPU);
	else if (c->scratch->memory)
		row->memory_per_node = (int64_t) d->pn_min_memory;
	row->tmp_disk = d->pn_min_tmp_disk;
	row->core_spec = d->core_spec == NO_VAL16 ? 0 : d->core_spec & ~CORE_SPEC_THREAD;
	if (d->mc_ptr) {
		row->ntasks_per_socket = sl_set16(d->mc_ptr->ntasks_per_socket);
		row->ntasks_per_core = sl_set16(d->mc_ptr->ntasks_per_core);
		row->threads_per_core = sl_set16(d->mc_ptr->threads_per_core);
		row->sockets_per_node = sl_set16(d->mc_ptr->sockets_per_node);
		row->cores_per_socket = sl_set16(d->mc_ptr->cores_per_socket);
	}
	row->distribution = sl_collect_distribution(job);
	if (row->distribution == SL_DIST_PLANE)
		row->plane_size = d->mc_ptr ? sl_set16(d->mc_ptr->plane_size) : 1;
	row->gres = add_needs(c, job);
	if (!IS_JOB_PENDING(job) || !sl_collect_reclaims(c->scratch, job))
		row->licenses = sl_collect_licenses(c, job->license_list);
	row->features = sl_builder_str(c->b, d->features);
	row->prefer = sl_builder_str(c->b, d->prefer);
	row->req_nodes = sl_collect_runs(c, d->req_node_bitmap);
	row->exc_nodes = excluded_nodes(c, job);
	row->switches = sl_set32(job->req_switch);
	row->switch_wait = sl_set32(job->wait4switch);
	row->segment = sl_segment(d);
}

/* The tasks of each node.  Slurm keeps them for the required nodes, in node order, and does not compute them anew when
 * other nodes are required, or another number of nodes: then they cannot be used. */
static void fill_node_tasks(struct sl_collector *c, struct sl_job_row *row, const sl_details_t *d)
{
#if SL_HAVE_ARBITRARY_TPN
	struct sl_node_tasks_row one = sl_node_tasks_row();
	int i, last = d->req_node_bitmap ? bit_fls(d->req_node_bitmap) : -1;
	size_t counted;

	if (!d->arbitrary_tpn)
		return;
	counted = xsize(d->arbitrary_tpn) / sizeof(*d->arbitrary_tpn);
	row->arbitrary_tpn.first = sl_builder_rows(c->b, SL_T_NODE_TASKS);
	for (i = 0; i <= last && (uint32_t) i < c->node_slots && row->arbitrary_tpn.count < counted; i++) {
		if (!bit_test(d->req_node_bitmap, i) || c->node_row[i] == SL_NONE)
			continue;
		one.node = c->node_row[i];
		one.tasks = d->arbitrary_tpn[row->arbitrary_tpn.count++];
		sl_builder_append(c->b, SL_T_NODE_TASKS, &one);
	}
	if (!d->req_node_bitmap || row->arbitrary_tpn.count != d->min_nodes ||
	    counted != d->min_nodes || bit_set_count(d->req_node_bitmap) != (int) d->min_nodes)
		row->asks |= SL_ASKS_TASK_COUNTS;
#else
	(void) c;
	(void) row;
	(void) d;
#endif
}

/* Note a job whose record lacks the user's name: it is looked up when the locks are released. */
static void note_nameless(struct sl_scratch *s, uint32_t row, uid_t uid)
{
	if (s->nameless_len == s->nameless_room) {
		s->nameless_room = MAX(256, s->nameless_room * 2);
		xrecalloc(s->nameless, s->nameless_room, sizeof(*s->nameless));
	}
	s->nameless[s->nameless_len].row = row;
	s->nameless[s->nameless_len++].uid = uid;
}

void sl_collect_job(struct sl_collector *c, job_record_t *job)
{
	struct sl_job_row row = sl_job_row();
	bool pending = IS_JOB_PENDING(job), completing = IS_JOB_COMPLETING(job);
	uint32_t r;

	fill_who(c, &row, job);
	fill_where(c, &row, job);
	fill_state(c, &row, job);
	if (job->details) {
		fill_nodes(c, &row, job);
		fill_size(c, &row, job);
	}
	if (job->details)
		row.yields_after = sl_collect_yields_after(c->scratch, job);
	if (pending && job->details) {
		if (sl_collect_note(c->scratch, job)->unlent_until > c->scratch->now)
			row.flags |= SL_JOBF_NO_BORROW;
		row.stamp = sl_job_stamp(job);
		row.asks = sl_collect_asks(c->scratch, job);
		fill_node_tasks(c, &row, job->details);
		row.refusals = sl_collect_note(c->scratch, job)->refusals;
		row.flags |= sl_collect_borrows(c->scratch, job);
		if (sl_collect_may_preempt(c->scratch, job)) {
			row.flags |= SL_JOBF_MAY_PREEMPT | sl_collect_preempts_how(job);
			row.preempts = sl_collect_preempts(c, job);
		}
	} else if (job->job_resrcs) {
		row.asks = sl_collect_company(job);
	}
	if (job->job_resrcs && (completing || IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)))
		row.alloc = add_alloc(c, job);
	if (completing || (!pending && job->start_time))
		fill_totals(&row, job);
	if (IS_JOB_RUNNING(job))
		c->running++;
	row.safe_until = sl_collect_safe_until(c->scratch, job);
	if (IS_JOB_RUNNING(job))
		sl_collect_stop_terms(c->scratch, job, &row);
	r = sl_builder_append(c->b, SL_T_JOB, &row);
	(void) sl_map_put(&c->scratch->row_of, sl_hash_id(job->job_id), r, NULL);
	if (!job->user_name)
		note_nameless(c->scratch, r, job->user_id);
	if (pending && job->details)
		sl_collect_note_commented(c, r, job);
}
