/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lend.c - see lend.h */
#include "plugin/request/lend.h"

/* In SystemComment: "sched/lua: nodes of gpu,test borrowed through partition all". */
#define MARK "sched/lua: nodes of "
#define THROUGH " borrowed through partition "

/* As slurmctld would say if the job had been submitted there; only that it need not fit
 * there by itself. */
const char *sl_lend_refused(job_record_t *job, part_record_t *part, uint32_t nodes)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK, .qos = READ_LOCK };
	bool ok;

	if (!(part->state_up & PARTITION_SCHED))
		return "a partition that lends it nodes is down";
	if (part->max_time != INFINITE && (job->time_limit == INFINITE || job->time_limit == NO_VAL ||
					   job->time_limit > part->max_time))
		return "MaxTime of a partition that lends it nodes";
	if (nodes < part->min_nodes || nodes > part->max_nodes)
		return "MinNodes or MaxNodes of a partition that lends it nodes";
	if (job->user_id && (part->flags & PART_FLAG_ROOT_ONLY))
		return "a partition that lends it nodes is for root only";
	if (part->flags & PART_FLAG_REQ_RESV)
		return "a partition that lends it nodes requires a reservation";
	if (!validate_group(part, job->user_id) || !validate_alloc_node(part, job->alloc_node))
		return "a partition that lends it nodes does not admit its user or host";
	assoc_mgr_lock(&locks);
	ok = part_policy_valid_acct(part, job->account, NULL) == SLURM_SUCCESS && !sl_part_refuses_qos(part, job);
	assoc_mgr_unlock(&locks);
	return ok ? NULL : "a partition that lends it nodes does not admit its account or QOS";
}

/* -- the counts of partitions' QOS --------------------------------------------- */

static int has_qos(void *x, void *key)
{
	(void) key;
	return ((part_record_t *) x)->qos_ptr != NULL;
}

static bool is_counted(const struct sl_lend *l)
{
	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS))
		return false;
	return l->home->qos_ptr || l->through->qos_ptr || (l->parts && list_find_first(l->parts, has_qos, NULL));
}

static void uncount_submit(const struct sl_lend *l, job_record_t *job)
{
	if (l->counted)
		sl_remove_job_submit(job);
}

static void count_submit(const struct sl_lend *l, job_record_t *job)
{
	if (l->counted)
		sl_add_job_submit(job);
}

/* -- there and back --------------------------------------------------------------- */

void sl_lend_begin(struct sl_lend *l, job_record_t *job, part_record_t *through)
{
	*l = (struct sl_lend) { .job_id = job->job_id, .home = job->part_ptr, .through = through,
				.parts = job->part_ptr_list, .partition = job->partition };
	l->counted = is_counted(l);
	uncount_submit(l, job);
	l->prio = sl_part_prio_take(job);
	job->part_ptr_list = NULL;
	job->part_ptr = through;
	job->partition = xstrdup(through->name);
	count_submit(l, job);
}

static void put_job_back(struct sl_lend *l, job_record_t *job, sl_list_t parts)
{
	uncount_submit(l, job);
	xfree(job->partition);
	job->partition = xstrdup(l->partition);
	job->part_ptr = l->home;
	job->part_ptr_list = parts;
	sl_part_prio_give(job, &l->prio);
	count_submit(l, job);
}

void sl_lend_undo(struct sl_lend *l, job_record_t *job)
{
	put_job_back(l, job, l->parts);
	xfree(l->partition);
}

static int append_part(void *x, void *list)
{
	list_append(list, x);
	return 0;
}

static sl_list_t copy_parts(sl_list_t parts)
{
	sl_list_t copy = parts ? list_create(NULL) : NULL;

	if (copy)
		list_for_each(parts, append_part, copy);
	return copy;
}

void sl_lend_keep(struct sl_lend *l, job_record_t *job, const char *from)
{
	job_record_t *rest = find_job_record(l->job_id);

	if (rest && rest != job && rest->part_ptr == l->through && !rest->part_ptr_list)
		put_job_back(l, rest, copy_parts(l->parts));
	job->part_ptr_list = list_create(NULL);
	list_append(job->part_ptr_list, l->through);
	if (l->parts)
		list_for_each(l->parts, append_part, job->part_ptr_list);
	else
		list_append(job->part_ptr_list, l->home);
	rebuild_job_part_list(job);
	xstrfmtcat(job->system_comment, "%s" MARK "%s" THROUGH "%s", job->system_comment ? "; " : "", from,
		   l->through->name);
	FREE_NULL_LIST(l->parts);
	xfree(l->partition);
	sl_part_prio_free(&l->prio);
}

/* -- afterwards --------------------------------------------------------------------- */

bool sl_lend_marked(const job_record_t *job)
{
	return job->system_comment && strstr(job->system_comment, MARK);
}

/* The mark's place in the comment, and the partition that it names (its length). */
static char *find_mark(const job_record_t *job, const char **name, size_t *length)
{
	char *mark = job->system_comment ? strstr(job->system_comment, MARK) : NULL, *end;

	if (!mark || !(end = strstr(mark, THROUGH)))
		return NULL;
	*name = end + strlen(THROUGH);
	*length = strcspn(*name, "; \n");
	return mark;
}

struct named {
	const char *name;
	size_t length;
};

static int is_named(void *x, void *key)
{
	const part_record_t *p = x;
	const struct named *n = key;

	return p->name && strlen(p->name) == n->length && !memcmp(p->name, n->name, n->length);
}

static int is_another(void *x, void *key)
{
	return !is_named(x, key);
}

part_record_t *sl_lend_home(const job_record_t *job)
{
	struct named through;

	if (!job->part_ptr_list || !find_mark(job, &through.name, &through.length))
		return NULL;
	return list_find_first(job->part_ptr_list, is_another, &through);
}

/* Take the mark out of the comment, with what joined it to the rest. */
static void cut_mark(job_record_t *job, char *mark, const char *end)
{
	if (mark >= job->system_comment + 2 && !memcmp(mark - 2, "; ", 2))
		mark -= 2;
	else if (!strncmp(end, "; ", 2))
		end += 2;
	memmove(mark, end, strlen(end) + 1);
	if (!*job->system_comment)
		xfree(job->system_comment);
}

void sl_lend_restore(job_record_t *job)
{
	struct named through;
	char *mark = find_mark(job, &through.name, &through.length);
	part_record_t *home;

	if (!mark)
		return;
	home = sl_lend_home(job);
	if (home) {
		list_delete_all(job->part_ptr_list, is_named, &through);
		if (job->part_ptr && is_named(job->part_ptr, &through))
			job->part_ptr = list_peek(job->part_ptr_list);
		sl_part_prio_drop(job);
		rebuild_job_part_list(job);
		if (list_count(job->part_ptr_list) == 1)
			FREE_NULL_LIST(job->part_ptr_list);
	}	/* else the partition is gone, or somebody changed it: the job stays where it is */
	cut_mark(job, mark, through.name + through.length);
	info("sched/lua: %pJ waits in partition %s again", job, job->partition);
	last_job_update = time(NULL);
}
