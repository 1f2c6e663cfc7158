/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.c - schedlua-capture: a snapshot of a running cluster through Slurm's
 * public API, from any login node, with no plug-in installed.
 *
 * What that API does not tell is left out or estimated, and said here: usage per
 * node comes from the allocated CPUs of a job's resources where they are shown,
 * the queue is all pending jobs that are not held and not dependent, in order of
 * priority.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "shapes.h"
#include "snapshot.h"

#define CORE_SPEC_THREADS 0x8000	/* CORE_SPEC_THREAD of slurm.h */

struct capture {
	struct sl_builder *b;
	slurm_conf_t *conf;
	node_info_msg_t *nodes;
	partition_info_msg_t *parts;
	job_info_msg_t *jobs;
	reserve_info_msg_t *resvs;
	license_info_msg_t *licenses;
	uint32_t *node_row;	/* by index in nodes->node_array */
	uint32_t *job_row;	/* by index in jobs->job_array */
	bool memory;		/* is a consumable resource */
	time_t now;
};

static int fail(const char *what)
{
	fprintf(stderr, "schedlua-capture: %s: %s\n", what, slurm_strerror(errno));
	return -1;
}

/* -- gres -------------------------------------------------------------------- */

static uint32_t kind_row(struct capture *c, const char *name, const char *type)
{
	struct sl_gres_kind_row row = sl_gres_kind_row(), other;
	char key[256];
	uint32_t i, n = sl_builder_rows(c->b, SL_T_GRES_KIND);

	snprintf(key, sizeof(key), *type ? "%s:%s" : "%s", name, type);
	row.key = sl_builder_str(c->b, key);
	for (i = 0; i < n; i++)
		if (!sl_builder_row(c->b, SL_T_GRES_KIND, i, &other) && other.key == row.key)
			return i;
	row.name = sl_builder_str(c->b, name);
	row.type = sl_builder_str(c->b, type);
	return sl_builder_append(c->b, SL_T_GRES_KIND, &row);
}

/* "gpu:a100:2(S:0-1)", "gres/gpu:2", "gpu=2", "gpu": one item; false for none. */
static bool parse_gres(const char *item, size_t len, char *name, char *type, size_t room, uint32_t *count)
{
	char buf[256], *part[3] = { NULL, NULL, NULL }, *p, *save = NULL;
	int n = 0;

	if (len >= sizeof(buf))
		return false;
	memcpy(buf, item, len);
	buf[len] = '\0';
	buf[strcspn(buf, "(")] = '\0';
	p = buf;
	if (!strncmp(p, "gres/", 5) || !strncmp(p, "gres:", 5))
		p += 5;
	for (p = strtok_r(p, ":=", &save); p && n < 3; p = strtok_r(NULL, ":=", &save))
		part[n++] = p;
	if (!n)
		return false;
	*count = 1;
	snprintf(name, room, "%s", part[0]);
	*type = '\0';
	if (n == 3) {
		snprintf(type, room, "%s", part[1]);
		*count = (uint32_t) strtoul(part[2], NULL, 10);
	} else if (n == 2 && strspn(part[1], "0123456789") == strlen(part[1])) {
		*count = (uint32_t) strtoul(part[1], NULL, 10);
	} else if (n == 2) {
		snprintf(type, room, "%s", part[1]);
	}
	return true;
}

/* The next item of a list: commas in brackets do not separate. */
static const char *next_item(const char *s, size_t *len)
{
	int depth = 0;

	for (*len = 0; s[*len] && (s[*len] != ',' || depth); ++*len)
		depth += s[*len] == '(' || s[*len] == '[' ? 1 : s[*len] == ')' || s[*len] == ']' ? -1 : 0;
	return s[*len] ? s + *len + 1 : s + *len;
}

/* Rows of what a node has (SL_T_NODE_GRES) or a job holds there (SL_T_ALLOC_GRES). */
static struct sl_range node_gres(struct capture *c, enum sl_snapshot_table table, const char *text)
{
	struct sl_range r = { sl_builder_rows(c->b, table), 0 };
	struct sl_node_gres_row has = sl_node_gres_row();
	struct sl_alloc_gres_row holds = sl_alloc_gres_row();
	char name[128], type[128];
	const char *s, *next;
	size_t len;

	for (s = text; s && *s; s = next) {
		next = next_item(s, &len);
		if (!parse_gres(s, len, name, type, sizeof(name), &has.count) || !has.count || !strcmp(name, "(null)"))
			continue;
		has.kind = holds.kind = kind_row(c, name, type);
		holds.count = has.count;
		sl_builder_append(c->b, table, table == SL_T_NODE_GRES ? (void *) &has : (void *) &holds);
		r.count++;
	}
	return r.count ? r : (struct sl_range) { 0, 0 };
}

static void job_gres(struct capture *c, struct sl_job_row *job, const char *text, enum sl_per per)
{
	char name[128], type[128];
	const char *s, *next;
	size_t len;

	for (s = text; s && *s; s = next) {
		struct sl_job_gres_row row = sl_job_gres_row();

		next = next_item(s, &len);
		if (!parse_gres(s, len, name, type, sizeof(name), &row.count) || !row.count)
			continue;
		row.name = sl_builder_str(c->b, name);
		row.type = sl_builder_str(c->b, type);
		row.per = per;
		if (!job->gres.count)
			job->gres.first = sl_builder_rows(c->b, SL_T_JOB_GRES);
		sl_builder_append(c->b, SL_T_JOB_GRES, &row);
		job->gres.count++;
	}
}

/* -- nodes, partitions, reservations, licences --------------------------------- */

/* Pairs of first and last index, ended by -1, as the API gives them. */
static struct sl_range runs(struct capture *c, const int32_t *inx)
{
	struct sl_range r = { sl_builder_rows(c->b, SL_T_RUN), 0 };
	int i;

	for (i = 0; inx && inx[i] >= 0; i += 2) {
		struct sl_run_row row = sl_run_row();
		uint32_t first = (uint32_t) inx[i], last = (uint32_t) inx[i + 1];

		if (last >= c->nodes->record_count || first > last)
			break;
		while (first <= last && c->node_row[first] == SL_NONE)
			first++;
		while (last > first && c->node_row[last] == SL_NONE)
			last--;
		if (first > last || c->node_row[last] == SL_NONE)
			continue;
		row.first = c->node_row[first];
		row.last = c->node_row[last];
		sl_builder_append(c->b, SL_T_RUN, &row);
		r.count++;
	}
	return r.count ? r : (struct sl_range) { 0, 0 };
}

static uint32_t node_flags(uint32_t state)
{
	uint32_t base = state & NODE_STATE_BASE, f = 0;

	if (base == NODE_STATE_DOWN || base == NODE_STATE_FUTURE || base == NODE_STATE_UNKNOWN ||
	    state & (NODE_STATE_NO_RESPOND | NODE_STATE_FAIL))
		f |= SL_NODE_DOWN;
	if (state & NODE_STATE_DRAIN)
		f |= SL_NODE_DRAIN;
	if (state & NODE_STATE_COMPLETING)
		f |= SL_NODE_COMPLETING;
	if (state & NODE_STATE_MAINT)
		f |= SL_NODE_MAINT;
	return f;
}

static void add_nodes(struct capture *c)
{
	uint32_t i;

	for (i = 0; i < c->nodes->record_count; i++) {
		const node_info_t *n = &c->nodes->node_array[i];
		struct sl_node_row row = sl_node_row();
		uint32_t cores = (uint32_t) n->boards * n->sockets * n->cores;

		c->node_row[i] = SL_NONE;
		if (!n->name)
			continue;
		if (!n->boards)
			cores = (uint32_t) n->sockets * n->cores;
		row.name = sl_builder_str(c->b, n->name);
		row.state = node_flags(n->node_state);
		row.cores = cores > n->core_spec_cnt ? cores - n->core_spec_cnt : cores;
		row.threads = cores && n->cpus > cores ? n->cpus / cores : 1;
		row.sockets = n->sockets ? n->sockets : 1;
		row.memory = (int64_t) (n->real_memory > n->mem_spec_limit ? n->real_memory - n->mem_spec_limit : 0);
		row.tmp_disk = n->tmp_disk;
		row.weight = n->weight;
		row.features = sl_builder_str(c->b, n->features_act);
		row.owner = n->owner == NO_VAL ? SL_NONE : n->owner;
		row.boot_time = n->boot_time;
		row.reason = sl_builder_str(c->b, n->reason);
		row.gres = node_gres(c, SL_T_NODE_GRES, n->gres);
		c->node_row[i] = sl_builder_append(c->b, SL_T_NODE, &row);
	}
}

static void add_partitions(struct capture *c)
{
	uint32_t i;

	for (i = 0; i < c->parts->record_count; i++) {
		const partition_info_t *p = &c->parts->partition_array[i];
		struct sl_partition_row row = sl_partition_row();

		row.name = sl_builder_str(c->b, p->name);
		row.nodes = runs(c, p->node_inx);
		row.flags = (p->state_up & PARTITION_SCHED ? SL_PART_UP : 0) |
			(p->flags & PART_FLAG_DEFAULT ? SL_PART_DEFAULT : 0) |
			(p->flags & PART_FLAG_EXCLUSIVE_USER ? SL_PART_EXCLUSIVE_USER : 0) |
			(p->flags & PART_FLAG_LLN ? SL_PART_LLN : 0) |
			(p->max_share & SHARED_FORCE ? SL_PART_FORCE : 0);
		row.priority_tier = p->priority_tier;
		row.max_time = p->max_time == INFINITE ? SL_UNLIMITED : (int64_t) p->max_time * 60;
		row.default_time = p->default_time == NO_VAL ? 0 :
			p->default_time == INFINITE ? SL_UNLIMITED : (int64_t) p->default_time * 60;
		row.min_nodes = p->min_nodes;
		row.max_nodes = p->max_nodes == INFINITE ? SL_NONE : p->max_nodes;
		row.max_cpus_per_node = p->max_cpus_per_node == INFINITE ? SL_NONE : p->max_cpus_per_node;
		row.oversubscribe = p->max_share & ~SHARED_FORCE;
		row.qos = sl_builder_str(c->b, p->qos_char);
		sl_builder_append(c->b, SL_T_PARTITION, &row);
	}
}

static void add_reservations(struct capture *c)
{
	uint32_t i;

	for (i = 0; i < c->resvs->record_count; i++) {
		const reserve_info_t *r = &c->resvs->reservation_array[i];
		struct sl_reservation_row row = sl_reservation_row();

		if (!r->node_inx || r->node_inx[0] < 0 || r->flags & RESERVE_FLAG_ANY_NODES)
			continue;
		row.name = sl_builder_str(c->b, r->name);
		row.start_time = r->start_time;
		row.end_time = r->end_time;
		row.nodes = runs(c, r->node_inx);
		row.flags = (r->flags & RESERVE_FLAG_MAINT ? SL_RESV_MAINT : 0) |
			(r->flags & RESERVE_FLAG_FLEX ? SL_RESV_FLEX : 0) |
			(r->flags & RESERVE_FLAG_IGN_JOBS ? SL_RESV_IGNORE_JOBS : 0) |
			(r->flags & RESERVE_FLAG_OVERLAP ? SL_RESV_OVERLAP : 0);
		row.users = sl_builder_str(c->b, r->users);
		row.accounts = sl_builder_str(c->b, r->accounts);
		row.cores = r->core_spec_cnt ? r->core_cnt : 0;	/* parts of nodes */
		sl_builder_append(c->b, SL_T_RESERVATION, &row);
	}
}

static void add_licenses(struct capture *c)
{
	uint32_t i;

	for (i = 0; i < c->licenses->num_lic; i++) {
		const slurm_license_info_t *l = &c->licenses->lic_array[i];
		struct sl_license_row row = sl_license_row();

		row.name = sl_builder_str(c->b, l->name);
		row.total = l->total;
		row.used = l->in_use;
		row.reserved = l->reserved;
		sl_builder_append(c->b, SL_T_LICENSE, &row);
	}
}

/* -- jobs ------------------------------------------------------------------------ */

static uint32_t part_row(struct capture *c, const char *name, size_t len)
{
	uint32_t i;

	for (i = 0; i < c->parts->record_count; i++)
		if (strlen(c->parts->partition_array[i].name) == len &&
		    !strncmp(c->parts->partition_array[i].name, name, len))
			return i;
	return SL_NONE;
}

static void job_partitions(struct capture *c, struct sl_job_row *row, const char *text)
{
	const char *s, *next;
	size_t len;
	bool several = text && strchr(text, ',');

	for (s = text; s && *s; s = next) {
		struct sl_job_partition_row p = sl_job_partition_row();

		next = next_item(s, &len);
		if ((p.partition = part_row(c, s, len)) == SL_NONE)
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

static uint32_t set16(uint16_t v)
{
	return v == (uint16_t) NO_VAL16 || v == (uint16_t) INFINITE16 ? 0 : v;
}

static uint32_t set32(uint32_t v)
{
	return v == NO_VAL || v == INFINITE ? 0 : v;
}

static uint32_t job_flags(const job_info_t *j)
{
	return (j->batch_flag ? SL_JOBF_BATCH : 0) | (j->job_state & JOB_COMPLETING ? SL_JOBF_COMPLETING : 0) |
		(j->shared == 0 ? SL_JOBF_EXCLUSIVE : 0) | (j->contiguous ? SL_JOBF_CONTIGUOUS : 0) |
		(j->requeue ? SL_JOBF_REQUEUE : 0) | (j->shared == 1 ? SL_JOBF_OVERSUBSCRIBE : 0) |
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
	row->comment = sl_builder_str(c->b, j->comment);
	row->admin_comment = sl_builder_str(c->b, j->admin_comment);
	row->reservation = sl_builder_str(c->b, j->resv_name);
}

static void job_state(struct capture *c, struct sl_job_row *row, const job_info_t *j)
{
	uint32_t base = j->job_state & JOB_STATE_BASE;

	row->state = base < SL_JOB_STATES ? base : SL_JOB_FAILED;
	row->flags = job_flags(j);
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
	row->restarts = j->restart_cnt;
	row->exit_code = j->exit_code;
	row->time_limit = j->time_limit == INFINITE || j->time_limit == NO_VAL ? SL_UNLIMITED :
		(int64_t) j->time_limit * 60;
	row->time_min = (int64_t) set32(j->time_min) * 60;
}

static void job_licenses(struct capture *c, struct sl_job_row *row, const char *text)
{
	char name[128], type[128];
	const char *s, *next;
	size_t len;
	uint32_t i;

	for (s = text; s && *s; s = next) {
		struct sl_job_license_row l = sl_job_license_row();

		next = next_item(s, &len);
		if (!parse_gres(s, len, name, type, sizeof(name), &l.count))
			continue;
		for (i = 0; i < c->licenses->num_lic && strcmp(c->licenses->lic_array[i].name, name); i++)
			;
		if (i == c->licenses->num_lic)
			continue;
		l.license = i;
		if (!row->licenses.count)
			row->licenses.first = sl_builder_rows(c->b, SL_T_JOB_LICENSE);
		sl_builder_append(c->b, SL_T_JOB_LICENSE, &l);
		row->licenses.count++;
	}
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

static void job_size(struct capture *c, struct sl_job_row *row, const job_info_t *j)
{
	row->min_nodes = j->num_nodes ? j->num_nodes : 1;
	row->max_nodes = set32(j->max_nodes);
	row->min_cpus = j->num_cpus;
	row->max_cpus = set32(j->max_cpus);
	row->num_tasks = set32(j->num_tasks);
	row->cpus_per_task = set16(j->cpus_per_task) ? set16(j->cpus_per_task) : 1;
	row->ntasks_per_node = set16(j->ntasks_per_node);
	row->ntasks_per_socket = set16(j->ntasks_per_socket);
	row->ntasks_per_core = set16(j->ntasks_per_core);
	row->threads_per_core = set16(j->threads_per_core);
	row->pn_min_cpus = set16(j->pn_min_cpus);
	if (c->memory && j->pn_min_memory & MEM_PER_CPU)
		row->memory_per_cpu = (int64_t) (j->pn_min_memory & ~MEM_PER_CPU);
	else if (c->memory)
		row->memory_per_node = (int64_t) j->pn_min_memory;
	row->tmp_disk = j->pn_min_tmp_disk;
	row->core_spec = j->core_spec == (uint16_t) NO_VAL16 ? 0 : j->core_spec & ~CORE_SPEC_THREADS;
	job_gres(c, row, j->tres_per_node, SL_PER_NODE);
	job_gres(c, row, j->tres_per_job, SL_PER_JOB);
	job_gres(c, row, j->tres_per_task, SL_PER_TASK);
	job_gres(c, row, j->tres_per_socket, SL_PER_SOCKET);
	job_licenses(c, row, j->licenses);
	row->features = sl_builder_str(c->b, j->features);
	row->req_nodes = runs(c, j->req_node_inx);
	row->exc_nodes = runs(c, j->exc_node_inx);
	row->switches = set32(j->req_switch);
	row->switch_wait = set32(j->wait4switch);
	row->native = sl_builder_str(c->b, j->features && *j->features ? "features" :
		j->resv_name && *j->resv_name ? "a reservation" : j->req_switch ? "switches" :
		j->het_job_id ? "a heterogeneous job" : j->burst_buffer && *j->burst_buffer ? "a burst buffer" : "");
}

/* CPUs of a job on its node number *host*; -1 where the library does not say. */
static int cpus_on_node(const job_info_t *j, uint32_t host)
{
#if HAVE_DECL_SLURM_JOB_CPUS_ALLOCATED_ON_NODE_ID
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
		row.gres = node_gres(c, SL_T_ALLOC_GRES, j->gres_detail_str[host]);
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

static void add_jobs(struct capture *c)
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

static const job_info_t *sort_jobs;

static int by_priority(const void *x, const void *y)
{
	const job_info_t *a = &sort_jobs[*(const uint32_t *) x], *b = &sort_jobs[*(const uint32_t *) y];

	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->submit_time != b->submit_time)
		return a->submit_time < b->submit_time ? -1 : 1;
	return a->job_id < b->job_id ? -1 : a->job_id > b->job_id;
}

static bool competes(const struct capture *c, const job_info_t *j)
{
	return (j->job_state & JOB_STATE_BASE) == JOB_PENDING && !(j->job_state & JOB_COMPLETING) && j->priority &&
		!(j->dependency && *j->dependency) && j->eligible_time <= c->now && !j->het_job_id &&
		j->state_reason != WAIT_PART_DOWN && j->state_reason != WAIT_PART_INACTIVE;
}

static int add_queue(struct capture *c)
{
	uint32_t *order = calloc(c->jobs->record_count + 1, sizeof(*order)), n = 0, i;

	if (!order)
		return -1;
	for (i = 0; i < c->jobs->record_count; i++)
		if (competes(c, &c->jobs->job_array[i]))
			order[n++] = i;
	sort_jobs = c->jobs->job_array;
	qsort(order, n, sizeof(*order), by_priority);
	for (i = 0; i < n; i++) {
		const job_info_t *j = &c->jobs->job_array[order[i]];
		const char *s, *next;
		size_t len;

		for (s = j->partition; s && *s; s = next) {
			struct sl_queue_row row = sl_queue_row();

			next = next_item(s, &len);
			row.job = c->job_row[order[i]];
			row.priority = j->priority;
			if ((row.partition = part_row(c, s, len)) != SL_NONE)
				sl_builder_append(c->b, SL_T_QUEUE, &row);
		}
	}
	free(order);
	return 0;
}

static void add_meta(struct capture *c)
{
	struct sl_meta_row row = sl_meta_row();
	uint16_t type = c->conf->select_type_param;

	c->memory = type & CR_MEMORY;
	row.now = c->now;
	row.cluster = sl_builder_str(c->b, c->conf->cluster_name);
	row.source = sl_builder_str(c->b, "capture");
	row.slurm_version = sl_builder_str(c->b, c->conf->version);
	row.select_flags = (type & CR_MEMORY ? SL_SELECT_MEMORY : 0) |
		(c->conf->select_type && !strcmp(c->conf->select_type, "select/linear") ? SL_SELECT_WHOLE_NODE : 0) |
		(type & CR_ONE_TASK_PER_CORE ? SL_SELECT_ONE_TASK_PER_CORE : 0) |
		(type & CR_PACK_NODES ? SL_SELECT_PACK_NODES : 0) | (type & CR_LLN ? SL_SELECT_LLN : 0) |
		(type & CR_SOCKET ? SL_SELECT_SOCKET : 0);
	sl_builder_append(c->b, SL_T_META, &row);
}

/* -- the program ------------------------------------------------------------------- */

static int load_all(struct capture *c)
{
	if (slurm_load_ctl_conf(0, &c->conf))
		return fail("configuration");
	if (slurm_load_node(0, &c->nodes, SHOW_ALL))
		return fail("nodes");
	if (slurm_load_partitions(0, &c->parts, SHOW_ALL))
		return fail("partitions");
	if (slurm_load_jobs(0, &c->jobs, SHOW_ALL | SHOW_DETAIL))
		return fail("jobs");
	if (slurm_load_reservations(0, &c->resvs))
		return fail("reservations");
	if (slurm_load_licenses(0, &c->licenses, SHOW_ALL))
		return fail("licences");
	return 0;
}

static int build(struct capture *c, const void **bytes, size_t *size)
{
	struct sl_error err = { SL_OK, "" };
	struct sl_snapshot snap;

	c->now = time(NULL);
	c->node_row = calloc(c->nodes->record_count + 1, sizeof(*c->node_row));
	c->job_row = calloc(c->jobs->record_count + 1, sizeof(*c->job_row));
	if (!c->node_row || !c->job_row || !(c->b = sl_builder_create(&sl_snapshot_schema, &err)))
		goto error;
	add_meta(c);
	add_nodes(c);
	add_partitions(c);
	add_licenses(c);
	add_reservations(c);
	add_jobs(c);
	if (add_queue(c) || sl_builder_finish(c->b, bytes, size, &err) ||
	    sl_snapshot_open(&snap, *bytes, *size, &err))
		goto error;
	printf("%u nodes, %u jobs, %u queue entries, %zu bytes\n", snap.node.rows, snap.job.rows, snap.queue.rows, *size);
	return 0;
error:
	fprintf(stderr, "schedlua-capture: %s\n", err.code ? err.text : "out of memory");
	return -1;
}

static void usage(FILE *out)
{
	fputs("usage: schedlua-capture [-h] [-V] FILE\n"
	      "Write a snapshot of the cluster that slurm.conf names to FILE, for `schedlua plan`.\n"
	      "Asks slurmctld as squeue and sinfo do; needs no plug-in.\n", out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' },
						 { NULL, 0, NULL, 0 } };
	struct capture c = { 0 };
	struct sl_error err;
	const void *bytes;
	size_t size;
	int opt;

	while ((opt = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return 0;
		}
		if (opt != 'V') {
			usage(stderr);
			return 2;
		}
		printf("schedlua-capture %s\n", SCHEDLUA_VERSION);
		return 0;
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	slurm_init(NULL);
	if (load_all(&c) || build(&c, &bytes, &size))
		return 1;
	if (sl_image_save(argv[optind], bytes, size, &err)) {
		fprintf(stderr, "schedlua-capture: %s\n", err.text);
		return 1;
	}
	return 0;
}
