/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture/job.c - jobs and the queue, as the API shows them.
 */
#include "plugin/capture/capture.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "image/shapes.h"
#include "plugin/records/units.h"

#define CORE_SPEC_THREADS 0x8000	/* CORE_SPEC_THREAD of slurm.h */

/* -- a job ------------------------------------------------------------------------ */

/* What "gres:gpu:2" says of a gres of that name; 0: nothing. */
static uint32_t of_each(const char *text, const char *gres)
{
	struct sl_gres_word w;
	const char *s, *next;
	size_t len;

	for (s = text; s && *s; s = next) {
		next = capture_item(s, &len);
		if (capture_gres(s, len, &w) && !strcmp(w.name, gres))
			return (uint32_t) w.count;
	}
	return 0;
}

static void job_gres(struct capture *c, struct sl_job_row *job, const job_info_t *j, const char *text,
		     enum sl_per per)
{
	struct sl_gres_word w;
	const char *s, *next;
	size_t len;

	for (s = text; s && *s; s = next) {
		struct sl_job_gres_row row = sl_job_gres_row();

		next = capture_item(s, &len);
		if (!capture_gres(s, len, &w) || !w.count)
			continue;
		if (!strcmp(w.name, "mps") || !strcmp(w.name, "shard")) {
			job->asks |= SL_ASKS_UNCOUNTED_GRES;
			continue;
		}
		row.name = sl_builder_str(c->b, w.name);
		row.type = sl_builder_str(c->b, w.type);
		row.count = (uint32_t) w.count;
		row.per = per;
		row.cpus = of_each(j->cpus_per_tres, w.name);
		row.memory = of_each(j->mem_per_tres, w.name);
		if (!job->gres.count)
			job->gres.first = sl_builder_rows(c->b, SL_T_JOB_GRES);
		sl_builder_append(c->b, SL_T_JOB_GRES, &row);
		job->gres.count++;
	}
}

static void job_partitions(struct capture *c, struct sl_job_row *row, const char *text)
{
	const char *s, *next;
	size_t len;
	bool several = text && strchr(text, ',');

	for (s = text; s && *s; s = next) {
		struct sl_job_partition_row p = sl_job_partition_row();

		next = capture_item(s, &len);
		if ((p.partition = capture_part(c, s, len)) == SL_NONE)
			continue;
		if (row->partition == SL_NONE)
			row->partition = p.partition;
		if (!several)
			continue;
		if (!row->partitions.count)
			row->partitions.first = sl_builder_rows(c->b, SL_T_JOB_PARTITION);
		sl_builder_append(c->b, SL_T_JOB_PARTITION, &p);
		row->partitions.count++;
	}
}

static uint32_t job_flags(const job_info_t *j)
{
	return (j->batch_flag ? SL_JOBF_BATCH : 0) | (j->job_state & JOB_COMPLETING ? SL_JOBF_COMPLETING : 0) |
		(j->job_state & JOB_POWER_UP_NODE && (j->job_state & JOB_STATE_BASE) == JOB_RUNNING ? SL_JOBF_POWER_UP : 0) |
		(j->shared == 0 ? SL_JOBF_EXCLUSIVE : 0) | (j->contiguous ? SL_JOBF_CONTIGUOUS : 0) |
		(j->requeue && j->batch_flag ? SL_JOBF_REQUEUE : 0) | (j->shared == 1 ? SL_JOBF_OVERSUBSCRIBE : 0) |
		(j->bitflags & SPREAD_JOB ? SL_JOBF_SPREAD : 0) |
		(j->priority == 0 && (j->job_state & JOB_STATE_BASE) == JOB_PENDING ? SL_JOBF_HELD : 0) |
		(j->dependency && *j->dependency ? SL_JOBF_DEPENDENT : 0);
}

static void job_who(struct capture *c, struct sl_job_row *row, const job_info_t *j)
{
	struct passwd *pw = j->user_name ? NULL : getpwuid(j->user_id);

	row->id = j->job_id;
	if (j->array_job_id)
		row->array_job_id = j->array_job_id;
	if (j->array_task_id != NO_VAL)
		row->array_task_id = j->array_task_id;
	row->array_max_running = j->array_max_tasks;
	if (j->het_job_id) {
		row->het_job_id = j->het_job_id;
		row->het_offset = j->het_job_offset;
	}
	row->name = sl_builder_str(c->b, j->name);
	row->user = sl_builder_str(c->b, j->user_name ? j->user_name : pw ? pw->pw_name : "");
	row->uid = j->user_id;
	row->gid = j->group_id;
	row->account = sl_builder_str(c->b, j->account);
	row->qos = sl_builder_str(c->b, j->qos);
	row->wckey = sl_builder_str(c->b, j->wckey);
	row->mcs_label = sl_builder_str(c->b, j->mcs_label);
	row->comment = sl_builder_str(c->b, j->comment);
	row->admin_comment = sl_builder_str(c->b, j->admin_comment);
	row->reservation = sl_builder_str(c->b, j->resv_name);
}

static void job_state(struct capture *c, struct sl_job_row *row, const job_info_t *j)
{
	uint32_t base = j->job_state & JOB_STATE_BASE;

	row->state = base < SL_JOB_STATES ? base : SL_JOB_FAILED;
	row->flags = job_flags(j);
	if (base == JOB_PENDING && j->state_reason)
		row->state_reason = sl_builder_str(c->b, sl_reason_word((enum job_state_reason) j->state_reason));
	row->priority = j->priority;
	row->nice = (int64_t) j->nice - NICE_OFFSET;
	row->submit_time = j->submit_time;
	row->eligible_time = j->eligible_time;
	row->begin_time = base == JOB_PENDING && j->eligible_time > c->now ? j->eligible_time : 0;
	row->deadline = j->deadline;
	row->start_time = j->start_time;
	row->end_time = base == JOB_PENDING ? 0 : j->end_time;
	row->suspend_time = j->suspend_time;
	row->pre_suspend_s = j->pre_sus_time;
	row->resize_time = j->resize_time > j->start_time ? j->resize_time : 0;
	row->restarts = j->restart_cnt;
	row->exit_code = j->exit_code;
	row->time_limit = sl_walltime(j->time_limit);
	row->time_min = (int64_t) sl_set32(j->time_min) * 60;
}

/* Of alternatives ("a|b"), a job that waits may have any, another has the one that it got. */
static char *copy_licenses(const job_info_t *j)
{
	const char *text = j->licenses;
	char *copy;

#if SL_SLURM(25, 5)
	if ((j->job_state & JOB_STATE_BASE) != JOB_PENDING && j->licenses_allocated)
		text = j->licenses_allocated;
#endif
	copy = strdup(text ? text : "");
	for (char *s = copy; s && (s = strchr(s, '|')); )
		*s = ',';
	return copy;
}

static void job_licenses(struct capture *c, struct sl_job_row *row, const job_info_t *j)
{
	char *text = copy_licenses(j);
	struct sl_gres_word w;
	const char *s, *next;
	size_t len;
	uint32_t i;

	for (s = text; s && *s; s = next) {
		struct sl_job_license_row l = sl_job_license_row();

		next = capture_item(s, &len);
		if (!capture_gres(s, len, &w))
			continue;
		l.count = (uint32_t) w.count;
		for (i = 0; i < c->licenses->num_lic && strcmp(c->licenses->lic_array[i].name, w.name); i++)
			;
		if (i == c->licenses->num_lic)
			continue;
		l.license = i;
		if (!row->licenses.count)
			row->licenses.first = sl_builder_rows(c->b, SL_T_JOB_LICENSE);
		sl_builder_append(c->b, SL_T_JOB_LICENSE, &l);
		row->licenses.count++;
	}
	free(text);
}

/* The number behind "name=" in "cpu=8,node=2,gres/gpu=4", 0 where there is none. */
static uint32_t tres_count(const char *tres, const char *name)
{
	size_t n = strlen(name);
	unsigned long v;

	for (; tres && *tres; tres += strcspn(tres, ","), tres += *tres == ',')
		if (!strncmp(tres, name, n) && tres[n] == '=') {
			v = strtoul(tres + n + 1, NULL, 10);
			return v < UINT32_MAX ? (uint32_t) v : 0;
		}
	return 0;
}

static void job_totals(struct sl_job_row *row, const job_info_t *j)
{
	row->alloc_nodes = tres_count(j->tres_alloc_str, "node");
	row->alloc_cpus = tres_count(j->tres_alloc_str, "cpu");
	row->alloc_gpus = tres_count(j->tres_alloc_str, "gres/gpu");
}

static bool is_said(const char *text)
{
	return text && *text;
}

/* MCSParameters=select: nodes are for jobs of one label, whether these ask for it or not.  (Behind a colon stands
 * what is the plug-in's own.) */
static bool selects_by_label(const struct capture *c)
{
	const char *all = c->conf->mcs_plugin_params ? c->conf->mcs_plugin_params : "";
	char params[256];

	snprintf(params, sizeof(params), "%.*s", (int) strcspn(all, ":"), all);
	return strcasestr(params, "select") && !strcasestr(params, "noselect") && !strcasestr(params, "ondemandselect");
}

/* As far as the API shows it: neither distributions nor who may preempt whom. */
static uint32_t job_asks(const struct capture *c, const job_info_t *j)
{
	return (sl_said16(j->boards_per_node) || sl_said16(j->sockets_per_board) || sl_said16(j->ntasks_per_board) ?
		SL_ASKS_BOARDS : 0) | (is_said(j->cpus_per_tres) ? SL_ASKS_CPUS_PER_GRES : 0) |
		(is_said(j->mem_per_tres) ? SL_ASKS_MEMORY_PER_GRES : 0) |
		(sl_said16(j->ntasks_per_tres) ? SL_ASKS_TASKS_PER_GRES : 0) |
		(j->bitflags & GRES_ENFORCE_BIND ? SL_ASKS_BOUND_GRES : 0) |
		(is_said(j->burst_buffer) ? SL_ASKS_BURST_BUFFER : 0) |
		(is_said(j->mcs_label) && (j->shared == JOB_SHARED_MCS || selects_by_label(c)) ? SL_ASKS_MCS : 0) |
		(j->licenses && strchr(j->licenses, '|') ? SL_ASKS_ANY_LICENSE : 0) |
		(j->shared == JOB_SHARED_USER ? SL_ASKS_USER_NODES : 0) |
		(j->shared == JOB_SHARED_TOPO ? SL_ASKS_WHOLE_SWITCHES : 0) | (!j->core_spec ? SL_ASKS_SPEC_CORES : 0) |
		(j->core_spec != (uint16_t) NO_VAL16 && j->core_spec & CORE_SPEC_THREADS ? SL_ASKS_SPEC_THREADS : 0);
}

/* Where it has too many, select alone can count them. */
static void job_node_counts(struct capture *c, struct sl_job_row *row, const job_info_t *j)
{
#if SL_HAVE_NODE_COUNTS
	if (!j->job_size_str || (j->job_state & JOB_STATE_BASE) != JOB_PENDING)
		return;
	if (strlen(j->job_size_str) < SL_NODE_COUNTS_TEXT)
		row->node_counts = sl_builder_str(c->b, j->job_size_str);
	else
		row->asks |= SL_ASKS_NODE_COUNTS;
#else
	(void) c;
	(void) row;
	(void) j;
#endif
}

static void job_size(struct capture *c, struct sl_job_row *row, const job_info_t *j)
{
	row->min_nodes = j->num_nodes ? j->num_nodes : 1;
	row->max_nodes = sl_set32(j->max_nodes);
	job_node_counts(c, row, j);
	row->min_cpus = j->num_cpus;
	row->max_cpus = sl_set32(j->max_cpus);
	row->num_tasks = sl_set32(j->num_tasks);
	row->cpus_per_task = sl_set16(j->cpus_per_task) ? sl_set16(j->cpus_per_task) : 1;
	row->ntasks_per_node = sl_set16(j->ntasks_per_node);
	row->ntasks_per_socket = sl_set16(j->ntasks_per_socket);
	row->ntasks_per_core = sl_set16(j->ntasks_per_core);
	row->threads_per_core = sl_set16(j->threads_per_core);
	row->pn_min_cpus = sl_set16(j->pn_min_cpus);
	if (c->memory && j->pn_min_memory & MEM_PER_CPU)
		row->memory_per_cpu = (int64_t) (j->pn_min_memory & ~MEM_PER_CPU);
	else if (c->memory)
		row->memory_per_node = (int64_t) j->pn_min_memory;
	row->tmp_disk = j->pn_min_tmp_disk;
	row->core_spec = j->core_spec == (uint16_t) NO_VAL16 ? 0 : j->core_spec & ~CORE_SPEC_THREADS;
	job_gres(c, row, j, j->tres_per_node, SL_PER_NODE);
	job_gres(c, row, j, j->tres_per_job, SL_PER_JOB);
	job_gres(c, row, j, j->tres_per_task, SL_PER_TASK);
	job_gres(c, row, j, j->tres_per_socket, SL_PER_SOCKET);
	job_licenses(c, row, j);
	row->features = sl_builder_str(c->b, j->features);
	row->prefer = sl_builder_str(c->b, j->prefer);
	row->req_nodes = capture_runs(c, j->req_node_inx);
	row->exc_nodes = capture_runs(c, j->exc_node_inx);
	row->switches = sl_set32(j->req_switch);
	row->switch_wait = sl_set32(j->wait4switch);
	row->sockets_per_node = sl_set16(j->sockets_per_node);
	row->cores_per_socket = sl_set16(j->cores_per_socket);
	row->asks |= job_asks(c, j);
}

/* CPUs of a job on its node number *host*; -1 where the library does not say. */
static int cpus_on_node(const job_info_t *j, uint32_t host)
{
#if SL_HAVE_CPUS_ON_NODE
	return slurm_job_cpus_allocated_on_node_id(j->job_resrcs, (int) host);
#else
	(void) j;
	(void) host;
	return -1;
#endif
}

/* What a job holds on node *n*, its number *host* of *hosts*: CPUs are shared out
 * evenly where the API does not say which. */
static void add_alloc(struct capture *c, const job_info_t *j, uint32_t n, uint32_t host, uint32_t hosts)
{
	struct sl_alloc_row row = sl_alloc_row();
	struct sl_node_row node;
	int cpus = cpus_on_node(j, host);

	sl_builder_row(c->b, SL_T_NODE, c->node_row[n], &node);
	if (cpus < 0)
		cpus = (int) ((j->num_cpus + hosts - 1) / hosts);
	row.node = c->node_row[n];
	row.cores = ((uint32_t) cpus + node.threads - 1) / node.threads;
	if (row.cores > node.cores)
		row.cores = node.cores;
	if (c->memory)
		row.memory = (int64_t) (j->pn_min_memory & MEM_PER_CPU ?
			(j->pn_min_memory & ~MEM_PER_CPU) * (uint64_t) cpus : j->pn_min_memory);
	if (j->gres_detail_cnt > host)
		row.gres = capture_node_gres(c, SL_T_ALLOC_GRES, j->gres_detail_str[host]);
	sl_builder_append(c->b, SL_T_ALLOC, &row);
}

static struct sl_range job_alloc(struct capture *c, const job_info_t *j)
{
	struct sl_range r = { sl_builder_rows(c->b, SL_T_ALLOC), 0 };
	uint32_t host = 0, hosts = j->num_nodes ? j->num_nodes : 1, n;
	int i;

	for (i = 0; j->node_inx && j->node_inx[i] >= 0; i += 2)
		for (n = (uint32_t) j->node_inx[i]; n <= (uint32_t) j->node_inx[i + 1]; n++) {
			if (n >= c->nodes->record_count || c->node_row[n] == SL_NONE)
				continue;
			add_alloc(c, j, n, host++, hosts);
			r.count++;
		}
	return r.count ? r : (struct sl_range) { 0, 0 };
}

void capture_jobs(struct capture *c)
{
	uint32_t i;

	for (i = 0; i < c->jobs->record_count; i++) {
		const job_info_t *j = &c->jobs->job_array[i];
		struct sl_job_row row = sl_job_row();
		uint32_t base = j->job_state & JOB_STATE_BASE;
		struct sl_error err;

		job_who(c, &row, j);
		job_partitions(c, &row, j->partition);
		job_state(c, &row, j);
		job_size(c, &row, j);
		job_totals(&row, j);
		if (base == JOB_RUNNING || base == JOB_SUSPENDED || j->job_state & JOB_COMPLETING)
			row.alloc = job_alloc(c, j);
		if (base == JOB_PENDING && sl_shapes_add(c->b, j->comment, &row.shapes, &err))
			row.shapes_ignored = sl_builder_str(c->b, err.text);
		c->job_row[i] = sl_builder_append(c->b, SL_T_JOB, &row);
	}
}

/* -- the queue ----------------------------------------------------------------- */

/* A job in one of the partitions that it asks for. */
struct entry {
	const job_info_t *job;
	uint32_t row, partition;	/* of the snapshot */
	uint16_t tier;
};

/* Slurm's order: sort_job_queue2(), as far as the API shows what it goes by. */
static int by_priority(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	return SL_ORDER(b->tier, a->tier) ?: SL_ORDER(b->job->priority, a->job->priority) ?:
		SL_ORDER(a->job->submit_time, b->job->submit_time) ?: SL_ORDER(a->job->job_id, b->job->job_id) ?:
		SL_ORDER(a->partition, b->partition);
}

/* Does a limit of an association or a QOS hold it back? */
static bool is_limited(const job_info_t *j)
{
	const char *word = sl_reason_word((enum job_state_reason) j->state_reason);

	return !strncmp(word, "Assoc", 5) || !strncmp(word, "QOS", 3) || (!strncmp(word, "Max", 3) && strstr(word, "PerAccount"));
}

/* Is it beyond the limits of the only partition that it asks for?  Slurm does not queue it there. */
static bool is_too_large(const job_info_t *j)
{
	return (j->state_reason == WAIT_PART_TIME_LIMIT || j->state_reason == WAIT_PART_NODE_LIMIT) && j->partition &&
		!strchr(j->partition, ',');
}

static bool competes(const struct capture *c, const job_info_t *j)
{
	return (j->job_state & JOB_STATE_BASE) == JOB_PENDING && !(j->job_state & JOB_COMPLETING) && j->priority &&
		!(j->dependency && *j->dependency) && j->eligible_time <= c->now && !j->het_job_id &&
		j->state_reason != WAIT_PART_DOWN && j->state_reason != WAIT_PART_INACTIVE && !is_limited(j) &&
		!is_too_large(j);
}

/* One entry for each partition of the job; their number. */
static uint32_t list_entries(struct capture *c, uint32_t job, struct entry *to)
{
	const job_info_t *j = &c->jobs->job_array[job];
	const char *s, *next;
	uint32_t n = 0;
	size_t len;

	for (s = j->partition; s && *s; s = next) {
		uint32_t partition;

		next = capture_item(s, &len);
		partition = capture_part(c, s, len);
		if (partition == SL_NONE)
			continue;
		if (to)
			to[n] = (struct entry) { j, c->job_row[job], partition, c->parts->partition_array[partition].priority_tier };
		n++;
	}
	return n;
}

int capture_queue(struct capture *c)
{
	struct entry *entry;
	uint32_t n = 0, i;

	for (i = 0; i < c->jobs->record_count; i++)
		n += competes(c, &c->jobs->job_array[i]) ? list_entries(c, i, NULL) : 0;
	entry = calloc(n + 1u, sizeof(*entry));
	if (!entry)
		return -1;
	for (n = i = 0; i < c->jobs->record_count; i++)
		if (competes(c, &c->jobs->job_array[i]))
			n += list_entries(c, i, entry + n);
	qsort(entry, n, sizeof(*entry), by_priority);
	for (i = 0; i < n; i++) {
		struct sl_queue_row row = sl_queue_row();

		row.job = entry[i].row;
		row.priority = entry[i].job->priority;
		row.partition = entry[i].partition;
		sl_builder_append(c->b, SL_T_QUEUE, &row);
	}
	free(entry);
	return 0;
}
