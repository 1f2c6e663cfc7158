/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asked.c - see asked.h */
#include "plugin/request/asked.h"
#include "image/image.h"
#include "plugin/request/env.h"
#include "base/search.h"
#include "base/state_file.h"

#define MAX_SIZE ((size_t) 256 << 20)
#define MOST_NAMED 20		/* jobs that the log names for one cause */

_Static_assert(NO_VAL == SL_ASKED_UNSAID && INFINITE == SL_ASKED_INFINITE, "asked_line.h has Slurm's numbers");

struct sl_asked_book {
	struct sl_asked *entry;		/* by job id */
	uint32_t entries, room;
	bool changed;
	bool fresh;			/* read from a file, and not compared with the jobs yet */
	char *path;
};

struct sl_asked_book *sl_asked_create(void)
{
	return xmalloc(sizeof(struct sl_asked_book));
}

static void free_texts(struct sl_asked *a)
{
	int i;

	for (i = 0; i < SL_ASKED_TRES; i++)
		xfree(a->tres[i]);
}

void sl_asked_destroy(struct sl_asked_book *b)
{
	uint32_t i;

	if (!b)
		return;
	for (i = 0; i < b->entries; i++)
		free_texts(&b->entry[i]);
	xfree(b->entry);
	xfree(b->path);
	xfree(b);
}

/* -- entries -------------------------------------------------------------- */

/* Where the job's entry is, or would be. */
static uint32_t place_of(const struct sl_asked_book *b, uint32_t job_id)
{
	return SL_FIRST(i, 0, b->entries, b->entry[i].job_id < job_id);
}

struct sl_asked *sl_asked_find(struct sl_asked_book *b, uint32_t job_id)
{
	uint32_t at = place_of(b, job_id);

	return at < b->entries && b->entry[at].job_id == job_id ? &b->entry[at] : NULL;
}

/* The job's entry, emptied, or a new one; NULL: no room. */
static struct sl_asked *entry_for(struct sl_asked_book *b, uint32_t job_id)
{
	uint32_t at = place_of(b, job_id);
	struct sl_asked *a = &b->entry[at];

	if (at < b->entries && a->job_id == job_id) {
		free_texts(a);
	} else {
		if (b->entries == SL_ASKED_MOST)
			return NULL;
		if (b->entries == b->room) {
			b->room = b->room * 2 + 64;
			xrecalloc(b->entry, b->room, sizeof(*b->entry));
		}
		a = &b->entry[at];
		memmove(a + 1, a, (b->entries - at) * sizeof(*a));
		b->entries++;
	}
	memset(a, 0, sizeof(*a));
	a->job_id = job_id;
	b->changed = true;
	return a;
}

static void drop_entry(struct sl_asked_book *b, uint32_t at)
{
	free_texts(&b->entry[at]);
	b->entries--;
	memmove(&b->entry[at], &b->entry[at + 1], (b->entries - at) * sizeof(*b->entry));
	b->changed = true;
}

void sl_asked_forget(struct sl_asked_book *b, uint32_t job_id)
{
	struct sl_asked *a = sl_asked_find(b, job_id);

	if (a && !a->started)
		drop_entry(b, (uint32_t) (a - b->entry));
}

static void read_request(struct sl_asked *a, const job_record_t *job)
{
	const sl_details_t *d = job->details;

	a->job_id = job->job_id;
	a->user_id = job->user_id;
	a->submitted = d->submit_time;
	a->restarts = job->restart_cnt;
	a->nodes_then = d->min_nodes;
	a->cpus_then = d->orig_min_cpus;
	a->time_limit = job->time_limit;
	a->min_nodes = d->min_nodes;
	a->max_nodes = d->max_nodes;
	a->num_tasks = d->num_tasks;
	a->tasks_set = job->bit_flags & JOB_NTASKS_SET;
	a->min_cpus = d->orig_min_cpus;
	a->max_cpus = d->orig_max_cpus;
	a->pn_min_cpus = d->orig_pn_min_cpus;
	a->cpus_per_task = d->orig_cpus_per_task;
	a->ntasks_per_node = d->ntasks_per_node;
	a->tres[SL_ASKED_PER_JOB] = job->tres_per_job;
	a->tres[SL_ASKED_PER_NODE] = job->tres_per_node;
	a->tres[SL_ASKED_PER_SOCKET] = job->tres_per_socket;
	a->tres[SL_ASKED_PER_TASK] = job->tres_per_task;
}

static bool is_same_request(const struct sl_asked *a, const struct sl_asked *b)
{
	int i;

	for (i = 0; i < SL_ASKED_TRES; i++)
		if (xstrcmp(a->tres[i], b->tres[i]))
			return false;
	return a->user_id == b->user_id && a->submitted == b->submitted && a->restarts == b->restarts &&
		a->time_limit == b->time_limit && a->min_nodes == b->min_nodes &&
		a->max_nodes == b->max_nodes && a->num_tasks == b->num_tasks && a->tasks_set == b->tasks_set &&
		a->min_cpus == b->min_cpus && a->max_cpus == b->max_cpus && a->pn_min_cpus == b->pn_min_cpus &&
		a->cpus_per_task == b->cpus_per_task && a->ntasks_per_node == b->ntasks_per_node;
}

/* A copy of *from*, which may be an entry of this book, for that job. */
static struct sl_asked *put_entry(struct sl_asked_book *b, uint32_t job_id, const struct sl_asked *from)
{
	struct sl_asked kept = *from, *a;
	int i;

	for (i = 0; i < SL_ASKED_TRES; i++)
		kept.tres[i] = xstrdup(from->tres[i]);
	if (!(a = entry_for(b, job_id))) {
		free_texts(&kept);
		return NULL;
	}
	kept.job_id = job_id;
	*a = kept;
	return a;
}

bool sl_asked_can_keep(const job_record_t *job)
{
	struct sl_asked now = { 0 };

	read_request(&now, job);
	return sl_asked_is_possible(&now);
}

struct sl_asked *sl_asked_add(struct sl_asked_book *b, const job_record_t *job)
{
	struct sl_asked now = { 0 }, *a = sl_asked_find(b, job->job_id);

	read_request(&now, job);
	if (!sl_asked_is_possible(&now))
		return NULL;
	/* planned before, and not started: as a rule nothing has changed */
	return a && !a->started && is_same_request(a, &now) ? a : put_entry(b, job->job_id, &now);
}

void sl_asked_started(struct sl_asked_book *b, const job_record_t *job, const struct sl_asked *original, bool shaped)
{
	struct sl_asked *a = put_entry(b, job->job_id, original);

	if (!a)
		return;
	a->started = true;
	a->shaped = shaped;
	a->limit_then = job->time_limit;
	a->submitted = job->details->submit_time;
	a->restarts = job->restart_cnt;
	a->nodes_then = job->details->min_nodes;
	a->cpus_then = job->details->orig_min_cpus;
}

/* -- putting it back ---------------------------------------------------------- */

int sl_asked_put(job_record_t *job, const struct sl_asked *r)
{
	sl_details_t *d = job->details;
	char **at[SL_ASKED_TRES] = { &job->tres_per_job, &job->tres_per_node, &job->tres_per_socket,
				     &job->tres_per_task };
	int i, rc;

	d->min_nodes = r->min_nodes;
	d->max_nodes = r->max_nodes;
	d->num_tasks = r->num_tasks;
	/* from 23.11 on tasks that were not asked for are counted anew, from what it got */
	job->bit_flags = r->tasks_set ? job->bit_flags | JOB_NTASKS_SET : job->bit_flags & ~JOB_NTASKS_SET;
	d->min_cpus = d->orig_min_cpus = r->min_cpus;
	d->max_cpus = d->orig_max_cpus = r->max_cpus;
	d->pn_min_cpus = d->orig_pn_min_cpus = r->pn_min_cpus;
	d->orig_cpus_per_task = (uint16_t) r->cpus_per_task;
	d->cpus_per_task = r->cpus_per_task && r->cpus_per_task != NO_VAL16 ? (uint16_t) r->cpus_per_task : 1;
	d->ntasks_per_node = (uint16_t) r->ntasks_per_node;
	for (i = 0; i < SL_ASKED_TRES; i++) {
		xfree(*at[i]);
		*at[i] = xstrdup(r->tres[i]);
	}
	/* what it had, and what Slurm thought that it would have */
	job->total_nodes = job->node_cnt_wag = 0;
	FREE_NULL_LIST(job->gres_list_req);
	FREE_NULL_LIST(job->gres_list_req_accum);
	rc = sl_gres_validate(job);
	job_set_req_tres(job, false);
	return rc;
}

void sl_asked_put_limit(job_record_t *job, const struct sl_asked *r)
{
	job->time_limit = r->time_limit;
	if (job->time_limit == NO_VAL && job->limit_set.time != ADMIN_SET_LIMIT)
		job->limit_set.time = 0;	/* ours, or select's */
}

static void restore_request(const struct sl_asked *a, job_record_t *job)
{
	if (a->shaped) {
		sl_asked_put(job, a);
		sl_env_clear(job->details);
	}
	/* an administrator may have given it another limit while it ran */
	if (a->limit_then ? job->time_limit == a->limit_then : a->shaped || job->time_limit < a->time_limit)
		sl_asked_put_limit(job, a);
	last_job_update = time(NULL);
}

/* -- what was read, against the jobs that there are ------------------------------- */

/* A list of jobs for a line of the log. */
struct named {
	char *ids;
	uint32_t count;
};

static void name_job(struct named *n, uint32_t job_id)
{
	if (n->count++ < MOST_NAMED)
		xstrfmtcat(n->ids, "%s%u", n->ids ? "," : "", job_id);
}

static void say_named(struct named *n, const char *what)
{
	if (n->count)
		error("sched/lua: %u job%s (JobId=%s%s): %s", n->count, n->count == 1 ? "" : "s", n->ids,
		      n->count > MOST_NAMED ? ",..." : "", what);
	xfree(n->ids);
}

/* True if it is the job that the entry was written for, perhaps requeued since, which is a later submit time. */
static bool is_job_of(const struct sl_asked *a, const job_record_t *job)
{
	const sl_details_t *d = job->details;

	return d && job->user_id == a->user_id &&
		(job->restart_cnt == a->restarts ? d->submit_time == a->submitted :
		 job->restart_cnt > a->restarts && d->submit_time >= a->submitted);
}

/* True if it is that job before the start: what slurmctld has saved of it is older than the entry. */
static bool is_before_start(const struct sl_asked *a, const job_record_t *job)
{
	return IS_JOB_PENDING(job) && job->restart_cnt == a->restarts && is_job_of(a, job);
}

/* True if it is that job as the entry left it. */
static bool is_entry_of(const struct sl_asked *a, const job_record_t *job)
{
	const sl_details_t *d = job->details;

	if (!is_job_of(a, job) || is_before_start(a, job))
		return false;
	if (d->min_nodes == a->nodes_then && d->orig_min_cpus == a->cpus_then)
		return true;
	/* slurmctld ended between the start and our note of it */
	return !a->started && sl_env_shape(d);
}

struct adoption {
	struct sl_asked_book *b;
	struct named unknown;
};

/* slurmctld ended between a start and our note of it: the job runs, or did. */
static int each_adopted(void *x, void *arg)
{
	struct adoption *w = arg;
	job_record_t *job = x;
	struct sl_asked *a = sl_asked_find(w->b, job->job_id);

	if (!job->details)
		return 0;
	if (!a && job->array_job_id && (a = sl_asked_find(w->b, job->array_job_id)) &&
	    (a->started || !is_entry_of(a, job) || !(a = put_entry(w->b, job->job_id, a))))
		a = NULL;
	if (!a) {
		/* (one that waits has the mark of a run of which nobody knew what it asked for) */
		if ((IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) && sl_env_shape(job->details))
			name_job(&w->unknown, job->job_id);
		return 0;
	}
	if (a->started || !is_entry_of(a, job))
		return 0;
	a->started = true;
	a->shaped = sl_env_shape(job->details) != 0;
	a->limit_then = 0;
	return 0;
}

/* Drop what was read of jobs that are not what they were; what was planned and did not come about, too. */
static void drop_strangers(struct sl_asked_book *b)
{
	struct named strangers = { 0 };
	uint32_t i, kept = 0;

	for (i = 0; i < b->entries; i++) {
		struct sl_asked *a = &b->entry[i];
		const job_record_t *job = find_job_record(a->job_id);
		bool same = job && is_entry_of(a, job);

		if (job && job->details && !same && !is_before_start(a, job))
			name_job(&strangers, a->job_id);
		if (same && a->started)
			b->entry[kept++] = *a;
		else
			free_texts(a);
	}
	b->changed |= kept < b->entries;
	b->entries = kept;
	say_named(&strangers, "what is noted of their requests does not agree with them, and is left out");
}

static void compare_jobs(struct sl_asked_book *b)
{
	struct adoption w = { .b = b };

	list_for_each(job_list, each_adopted, &w);
	say_named(&w.unknown, "they run as alternatives, and what they asked for is not known: requeued, they ask for what they "
		  "run as");
	drop_strangers(b);
	b->fresh = false;
}

/* -- jobs that are pending again ---------------------------------------------------- */

/* True: the entry's job has its request back, or there is no such job. */
static bool settle_entry(const struct sl_asked *a, uint32_t *restored)
{
	job_record_t *job = find_job_record(a->job_id);

	if (!job || job->user_id != a->user_id || !job->details)
		return true;
	/* a job that has ended may be requeued still */
	if (!a->started || !IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job))
		return false;
	restore_request(a, job);
	++*restored;
	return true;
}

uint32_t sl_asked_restore(struct sl_asked_book *b)
{
	uint32_t i, kept = 0, n = 0;

	if (b->fresh)
		compare_jobs(b);
	for (i = 0; i < b->entries; i++)
		if (settle_entry(&b->entry[i], &n))
			free_texts(&b->entry[i]);
		else
			b->entry[kept++] = b->entry[i];
	b->changed |= kept < b->entries;
	b->entries = kept;
	return n;
}

/* -- the file -------------------------------------------------------------------- */

static bool take_line(struct sl_asked_book *b, char *line)
{
	struct sl_asked r;

	/* (a second one of the same job would be a forged one) */
	return sl_asked_read(line, &r) && !sl_asked_find(b, r.job_id) && put_entry(b, r.job_id, &r);
}

/* The lines after the first one, as far as they make sense: how many do not. */
static int read_lines(struct sl_asked_book *b, char *text, const char *end)
{
	int bad = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");
		bool whole = text[n] == '\n';

		text[n] = '\0';
		bad += !whole || !take_line(b, text);
		text += n + whole;
	}
	return bad + (text < end);	/* NULs are no lines */
}

int sl_asked_open(struct sl_asked_book *b, const char *path, struct sl_error *err)
{
	char *text;
	size_t size;
	int rc;

	xfree(b->path);
	b->path = xstrdup(path);
	b->fresh = true;
	if ((rc = sl_state_read(path, MAX_SIZE, &text, &size, NULL, err)) <= 0)
		return rc;
	if (!strncmp(text, SL_ASKED_HEADER, strlen(SL_ASKED_HEADER)))
		rc = read_lines(b, text + strlen(SL_ASKED_HEADER), text + size);
	else if (!strncmp(text, SL_ASKED_UNSAFE_HEADER, strlen(SL_ASKED_UNSAFE_HEADER)))
		rc = sl_fail(err, SL_EVERSION, "%s: a version wrote it that did not escape what users wrote: nothing of it is "
			     "believed", path);
	else
		rc = sl_fail(err, SL_EFORMAT, "%s: expected \"%.*s\" on its first line", path,
			     (int) sizeof(SL_ASKED_HEADER) - 2, SL_ASKED_HEADER);
	free(text);
	b->changed = rc != 0;
	return rc;
}

int sl_asked_save(struct sl_asked_book *b, struct sl_error *err)
{
	char *text = NULL;
	size_t size = 0;
	uint32_t i;
	FILE *f;
	int rc;

	if (!b->changed || !b->path)
		return 0;
	if (!(f = open_memstream(&text, &size)))
		return sl_fail(err, SL_ENOMEM, "%s: no memory", b->path);
	fputs(SL_ASKED_HEADER, f);
	for (i = 0; i < b->entries; i++)
		sl_asked_write(f, &b->entry[i]);
	rc = fclose(f) ? sl_fail(err, SL_ENOMEM, "%s: no memory", b->path) : sl_image_save(b->path, text, size, err);
	free(text);
	if (!rc)
		b->changed = false;
	return rc;
}
