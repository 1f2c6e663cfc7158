/* SPDX-License-Identifier: MIT */
/* wishes.c - see tool/wishes.h; what slurmctld's record of such a job would say, after sbatch's opt.c and job_mgr.c. */
#include "tool/wishes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/lines.h"
#include "base/number.h"
#include "image/nodelist.h"

#define SWITCH_WAIT 300			/* slurm.conf's max_switch_wait where it says nothing */
#define MOST_COUNT 0xfff0		/* slurmctld's 16 bits */
#define MOST_MEMORY (INT64_C(1) << 31)	/* MiB */
#define NAME_SIZE 64

struct wisher {
	const struct sl_wishes *w;
	const struct sl_snapshot *snap;
	struct sl_builder *b;
	struct sl_job_row *row;
	struct sl_error *err;
};

static const char *const names[] = {
#define NAME(id, key, ...) key,
	SL_WISH_OPTIONS(NAME)
#undef NAME
};

static const char *value_of(const struct wisher *w, enum sl_wish wish)
{
	return w->w->value[wish];
}

static int refuse(const struct wisher *w, enum sl_wish wish, const char *expected)
{
	return sl_fail(w->err, SL_EINVAL, "--%s=%s: expected %s", names[wish], value_of(w, wish), expected);
}

/* The number of a wish, where there is one; else *n stays as it is. */
static int take_count(const struct wisher *w, enum sl_wish wish, uint32_t least, uint32_t *n)
{
	const char *text = value_of(w, wish);

	if (!text || sl_read_number(text, strlen(text), least, MOST_COUNT, n))
		return 0;
	return refuse(w, wish, least ? "a number from 1 to 65520" : "a number from 0 to 65520");
}

static int take_memory(const struct wisher *w, enum sl_wish wish, int64_t *mb)
{
	const char *text = value_of(w, wish), *end;

	if (!text || (sl_scan_memory(text, 'M', mb, &end) && !*end && *mb >= 0 && *mb < MOST_MEMORY))
		return 0;
	return refuse(w, wish, "an amount of memory, such as 4000M or 16G");
}

/* The row of that name, among those that there are of *what*; SL_NONE with the error. */
static uint32_t find_row(const struct wisher *w, enum sl_wish wish, const char *what, const uint32_t *names_of, uint32_t rows,
			 const char *name, size_t length)
{
	for (uint32_t i = 0; i < rows; i++) {
		const char *other = sl_snapshot_str(w->snap, names_of[i]);

		if (strlen(other) == length && !memcmp(other, name, length))
			return i;
	}
	sl_fail(w->err, SL_EINVAL, "--%s=%s: expected %s that there are; there is no \"%.*s\"", names[wish], value_of(w, wish), what,
		(int) length, name);
	return SL_NONE;
}

/* So many tasks, and the CPUs that they need. */
static void set_tasks(struct sl_job_row *row, uint64_t tasks)
{
	row->num_tasks = (uint32_t) sl_min(tasks, UINT32_MAX / row->cpus_per_task);
	row->min_cpus = row->num_tasks * row->cpus_per_task;
}

/* -- cores ------------------------------------------------------------------- */

/* SOCKETS[:CORES[:THREADS]], of which each may be "*". */
static int take_extra(const struct wisher *w)
{
	uint32_t *part[] = { &w->row->sockets_per_node, &w->row->cores_per_socket, &w->row->threads_per_core };
	const char *text = value_of(w, SL_WISH_EXTRA);

	for (int i = 0; text && i < 3; i++) {
		size_t length = strcspn(text, ":");

		if ((length != 1 || *text != '*') && !sl_read_number(text, length, 1, MOST_COUNT, part[i]))
			return refuse(w, SL_WISH_EXTRA, "SOCKETS[:CORES[:THREADS]], each a number from 1 on or *");
		text = text[length] ? text + length + 1 : NULL;
	}
	return text ? refuse(w, SL_WISH_EXTRA, "no more than SOCKETS:CORES:THREADS") : 0;
}

/* Where neither tasks are said nor a range of nodes, one for each thread of what is asked for of a node. */
static void count_tasks(const struct wisher *w)
{
	struct sl_job_row *row = w->row;
	bool said = row->sockets_per_node || row->cores_per_socket || row->threads_per_core;

	if (w->w->tasks_said || !said || !(w->w->nodes_said || value_of(w, SL_WISH_EXTRA)) || row->ntasks_per_node ||
	    (row->max_nodes && row->max_nodes != row->min_nodes))
		return;
	set_tasks(row, sl_product(sl_product(row->min_nodes, sl_max(row->sockets_per_node, 1)),
				  sl_product(sl_max(row->cores_per_socket, 1), sl_max(row->threads_per_core, 1))));
}

static int take_core_spec(const struct wisher *w)
{
	const char *cores = value_of(w, SL_WISH_CORE_SPEC), *threads = value_of(w, SL_WISH_THREAD_SPEC);

	if (cores && threads)
		return sl_fail(w->err, SL_EINVAL, "--core-spec and --thread-spec: expected one of them");
	if (take_count(w, SL_WISH_CORE_SPEC, 0, &w->row->core_spec) ||
	    take_count(w, SL_WISH_THREAD_SPEC, 1, &w->row->core_spec))
		return -1;
	if (cores || threads)
		w->row->flags |= SL_JOBF_EXCLUSIVE;
	w->row->asks |= (cores && !w->row->core_spec ? SL_ASKS_SPEC_CORES : 0) | (threads ? SL_ASKS_SPEC_THREADS : 0);
	return 0;
}

static int take_cores(const struct wisher *w)
{
	struct sl_job_row *row = w->row;

	if (take_count(w, SL_WISH_MINCPUS, 1, &row->pn_min_cpus) || take_extra(w) ||
	    take_count(w, SL_WISH_SOCKETS, 1, &row->sockets_per_node) ||
	    take_count(w, SL_WISH_CORES, 1, &row->cores_per_socket) ||
	    take_count(w, SL_WISH_THREADS, 1, &row->threads_per_core) ||
	    take_count(w, SL_WISH_PER_SOCKET, 1, &row->ntasks_per_socket) ||
	    take_count(w, SL_WISH_PER_CORE, 1, &row->ntasks_per_core) || take_core_spec(w))
		return -1;
	count_tasks(w);
	return 0;
}

/* -- GPUs --------------------------------------------------------------------- */

static bool is_gpu(const struct wisher *w, uint32_t i, struct sl_job_gres_row *row)
{
	return !sl_builder_row(w->b, SL_T_JOB_GRES, w->row->gres.first + i, row) &&
		!strcmp(sl_builder_text(w->b, row->name), "gpu");
}

static void append_gpus(const struct wisher *w, const char *type, uint32_t count, enum sl_per per)
{
	struct sl_job_gres_row row = sl_job_gres_row();

	if (!w->row->gres.count)
		w->row->gres.first = sl_builder_rows(w->b, SL_T_JOB_GRES);
	row.name = sl_builder_str(w->b, "gpu");
	row.type = sl_builder_str(w->b, type);
	row.count = count;
	row.per = per;
	sl_builder_append(w->b, SL_T_JOB_GRES, &row);
	w->row->gres.count++;
}

static int take_socket_gpus(const struct wisher *w)
{
	const char *text = value_of(w, SL_WISH_GPUS_PER_SOCKET), *colon = text ? strchr(text, ':') : NULL;
	const char *number = colon ? colon + 1 : text;
	size_t length = colon ? (size_t) (colon - text) : 0;
	char type[NAME_SIZE] = "";
	uint32_t n;

	if (!text)
		return 0;
	if (!w->row->sockets_per_node)
		return refuse(w, SL_WISH_GPUS_PER_SOCKET, "--sockets-per-node, too");
	if ((colon && !length) || length >= NAME_SIZE || !sl_read_number(number, strlen(number), 1, MOST_COUNT, &n))
		return refuse(w, SL_WISH_GPUS_PER_SOCKET, "[TYPE:]N");
	memcpy(type, text, length);
	append_gpus(w, type, n, SL_PER_SOCKET);
	return 0;
}

/* Tasks for each GPU: what of the two is not said follows from the other. */
static int take_gpu_tasks(const struct wisher *w, uint64_t gpus)
{
	struct sl_job_row *row = w->row;
	uint32_t each = 0;

	if (take_count(w, SL_WISH_PER_GPU, 1, &each))
		return -1;
	if (!each)
		return 0;
	row->asks |= SL_ASKS_TASKS_PER_GRES;
	if (gpus && w->w->tasks_said)
		return gpus * each == row->num_tasks ? 0 : refuse(w, SL_WISH_PER_GPU, "as many tasks as that makes, or none said");
	if (gpus) {
		set_tasks(row, gpus * each);
		return 0;
	}
	if (!w->w->tasks_said || row->num_tasks % each)
		return refuse(w, SL_WISH_PER_GPU, "GPUs, or a multiple of it of tasks, too");
	append_gpus(w, "", row->num_tasks / each, SL_PER_JOB);
	return 0;
}

/* What each GPU brings along. */
static int take_gpus(const struct wisher *w)
{
	struct sl_job_gres_row gres;
	uint32_t cpus = 0;
	uint64_t gpus = 0;
	int64_t memory = 0;

	if (take_socket_gpus(w))
		return -1;
	for (uint32_t i = 0; i < w->row->gres.count; i++)
		if (is_gpu(w, i, &gres))
			gpus += (uint64_t) gres.count * (gres.per == SL_PER_JOB ? 1 : gres.per == SL_PER_TASK ?
							 w->row->num_tasks : w->row->min_nodes);
	if (take_gpu_tasks(w, gpus) || take_count(w, SL_WISH_CPUS_PER_GPU, 1, &cpus) ||
	    take_memory(w, SL_WISH_MEM_PER_GPU, &memory))
		return -1;
	if ((cpus || memory) && !w->row->gres.count)
		return refuse(w, cpus ? SL_WISH_CPUS_PER_GPU : SL_WISH_MEM_PER_GPU, "GPUs, too");
	if (memory && (w->row->memory_per_node || w->row->memory_per_cpu))
		return refuse(w, SL_WISH_MEM_PER_GPU, "neither --mem nor --mem-per-cpu beside it");
	for (uint32_t i = 0; (cpus || memory) && i < w->row->gres.count; i++) {
		if (!is_gpu(w, i, &gres))
			continue;
		gres.cpus = cpus;
		gres.memory = memory;
		sl_builder_update(w->b, SL_T_JOB_GRES, w->row->gres.first + i, &gres);
	}
	w->row->asks |= (cpus ? SL_ASKS_CPUS_PER_GRES : 0) | (memory ? SL_ASKS_MEMORY_PER_GRES : 0);
	return 0;
}

/* -- words ---------------------------------------------------------------------- */

static void take_flags(const struct wisher *w)
{
	static const struct { enum sl_wish wish; uint32_t flag; } flags[] = {
		{ SL_WISH_OVERSUBSCRIBE, SL_JOBF_OVERSUBSCRIBE }, { SL_WISH_OVERCOMMIT, SL_JOBF_OVERCOMMIT },
		{ SL_WISH_CONTIGUOUS, SL_JOBF_CONTIGUOUS }, { SL_WISH_SPREAD_JOB, SL_JOBF_SPREAD },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		w->row->flags |= value_of(w, flags[i].wish) ? flags[i].flag : 0;
	if (value_of(w, SL_WISH_USE_MIN_NODES))
		w->row->flags &= ~SL_JOBF_MOST_NODES;
	if (value_of(w, SL_WISH_OVERCOMMIT))
		w->row->min_cpus = w->row->min_nodes;
}

/* One of some words, each with what it sets of a column. */
struct word {
	const char *word;
	uint32_t sets;
};

/* *column gets what the word sets that the value is, up to one of the characters in *ends*. */
static int take_word(const struct wisher *w, enum sl_wish wish, const struct word *words, const char *ends, uint32_t *column,
		     const char *expected)
{
	const char *text = value_of(w, wish);
	size_t length = text ? strcspn(text, ends) : 0;

	while (text && words->word && (strlen(words->word) != length || memcmp(words->word, text, length)))
		words++;
	if (text && !words->word)
		return refuse(w, wish, expected);
	*column |= text ? words->sets : 0;
	return 0;
}

/* "=N", behind "plane". */
static int take_plane(const struct wisher *w, const char *text)
{
	if (!*text || sl_read_number(text + 1, strcspn(text + 1, ":,"), 1, MOST_COUNT, &w->row->plane_size))
		return 0;
	return refuse(w, SL_WISH_DISTRIBUTION, "plane=N with N from 1 to 65520");
}

static int take_words(const struct wisher *w)
{
	static const struct word exclusive[] = { { "", 0 }, { "user", SL_ASKS_USER_NODES }, { "mcs", SL_ASKS_MCS }, { NULL, 0 } };
	static const struct word bound[] = { { "enforce-binding", SL_ASKS_BOUND_GRES }, { "disable-binding", 0 }, { NULL, 0 } };
	static const struct word how[] = { { "*", SL_DIST_ANY }, { "block", SL_DIST_BLOCK }, { "cyclic", SL_DIST_CYCLIC },
					   { "plane", SL_DIST_PLANE }, { "arbitrary", SL_DIST_ARBITRARY }, { NULL, 0 } };
	const char *alone = value_of(w, SL_WISH_EXCLUSIVE), *dealt = value_of(w, SL_WISH_DISTRIBUTION);

	if (take_word(w, SL_WISH_EXCLUSIVE, exclusive, "", &w->row->asks, "user, mcs or nothing") ||
	    take_word(w, SL_WISH_GRES_FLAGS, bound, "", &w->row->asks, "enforce-binding or disable-binding") ||
	    take_word(w, SL_WISH_DISTRIBUTION, how, ":=,", &w->row->distribution, "block, cyclic, plane or arbitrary"))
		return -1;
	if (alone && !*alone)
		w->row->flags |= SL_JOBF_EXCLUSIVE;
	if (w->row->asks & SL_ASKS_MCS && !value_of(w, SL_WISH_MCS_LABEL))
		return refuse(w, SL_WISH_EXCLUSIVE, "--mcs-label, too");
	w->row->mcs_label = sl_builder_str(w->b, value_of(w, SL_WISH_MCS_LABEL));
	w->row->prefer = sl_builder_str(w->b, value_of(w, SL_WISH_PREFER));
	if (dealt && (strstr(dealt, ":cyclic") || strstr(dealt, ":fcyclic")))
		w->row->asks |= SL_ASKS_SOCKETS_IN_TURN;
	return w->row->distribution == SL_DIST_PLANE ? take_plane(w, dealt + strcspn(dealt, "=")) : 0;
}

/* -- licences, nodes, reservations ------------------------------------------------- */

static int take_licenses(const struct wisher *w)
{
	const char *text = value_of(w, SL_WISH_LICENSES), *between = ",;";

	if (text && strchr(text, '|')) {
		between = "|";
		w->row->asks |= SL_ASKS_ANY_LICENSE;
	}
	w->row->licenses.first = text ? sl_builder_rows(w->b, SL_T_JOB_LICENSE) : 0;
	while (text && *text) {
		size_t length = strcspn(text, between), name = strcspn(text, ":=,;|");
		struct sl_job_license_row row = sl_job_license_row();

		row.count = 1;
		row.license = find_row(w, SL_WISH_LICENSES, "licences", w->snap->license.name, w->snap->license.rows, text, name);
		if (name < length && !sl_read_number(text + name + 1, length - name - 1, 1, INT32_MAX, &row.count))
			return refuse(w, SL_WISH_LICENSES, "NAME[:N],... or NAME[:N]|... with N from 1 on");
		if (row.license == SL_NONE)
			return -1;
		sl_builder_append(w->b, SL_T_JOB_LICENSE, &row);
		w->row->licenses.count++;
		text += length + (text[length] != '\0');
	}
	return 0;
}

struct named {
	const struct wisher *w;
	enum sl_wish wish;
	uint32_t *times;		/* by node: how often is it named? */
};

static int mark_named(const char *name, void *arg)
{
	const struct named *n = arg;
	const struct sl_node_view *v = &n->w->snap->node;
	uint32_t node = find_row(n->w, n->wish, "nodes", v->name, v->rows, name, strlen(name));

	if (node == SL_NONE)
		return -1;
	n->times[node]++;
	return 0;
}

/* How often each node is named, behind the last one a 0; to free.  NULL with the error. */
static uint32_t *count_named(const struct wisher *w, enum sl_wish wish)
{
	struct named n = { w, wish, calloc(w->snap->node.rows + 1, sizeof(*n.times)) };

	if (!n.times)
		sl_fail(w->err, SL_ENOMEM, "willrun: out of memory");
	else if (!value_of(w, wish) || !sl_nodelist_split(value_of(w, wish), mark_named, &n, w->err))
		return n.times;
	free(n.times);
	return NULL;
}

/* The nodes of a list as runs, and how many. */
static int take_nodes(const struct wisher *w, enum sl_wish wish, struct sl_range *runs, uint32_t *nodes)
{
	uint32_t *times = count_named(w, wish);

	*nodes = 0;
	if (!times)
		return -1;
	for (uint32_t i = 0; i < w->snap->node.rows; i++) {
		struct sl_run_row run = { .first = i };

		if (!times[i])
			continue;
		while (times[i + 1])
			i++;
		run.last = i;
		*nodes += run.last - run.first + 1;
		if (!runs->count++)
			runs->first = sl_builder_rows(w->b, SL_T_RUN);
		sl_builder_append(w->b, SL_T_RUN, &run);
	}
	free(times);
	return 0;
}

/* Of named nodes it has all, and a task for each. */
static int take_named(const struct wisher *w)
{
	struct sl_job_row *row = w->row;
	uint32_t named, others;

	if (take_nodes(w, SL_WISH_NODELIST, &row->req_nodes, &named) || take_nodes(w, SL_WISH_EXCLUDE, &row->exc_nodes, &others))
		return -1;
	if ((row->max_nodes && named > row->max_nodes) || (w->w->tasks_said && named > row->num_tasks))
		return refuse(w, SL_WISH_NODELIST, "no more nodes than it may have, and no more than tasks");
	if (named > row->min_nodes)
		row->min_nodes = named;
	if (row->num_tasks < row->min_nodes)
		set_tasks(row, row->min_nodes);
	return 0;
}

/* A task on a node for each time that it is named.  (Before 23.11 slurmctld is not told.) */
static int take_arbitrary(const struct wisher *w)
{
	const char *slurm = sl_snapshot_str(w->snap, w->snap->meta.slurm_version[0]);
	bool told = !*slurm || strverscmp(slurm, "23.11") >= 0;
	struct sl_job_row *row = w->row;
	struct sl_node_tasks_row one = sl_node_tasks_row();
	uint32_t *times, tasks = 0;

	if (row->distribution != SL_DIST_ARBITRARY)
		return 0;
	if (!row->req_nodes.count)
		return refuse(w, SL_WISH_DISTRIBUTION, "--nodelist, too");
	times = count_named(w, SL_WISH_NODELIST);
	if (!times)
		return -1;
	row->arbitrary_tpn.first = sl_builder_rows(w->b, SL_T_NODE_TASKS);
	for (one.node = 0; one.node < w->snap->node.rows; one.node++) {
		one.tasks = times[one.node];
		tasks += one.tasks;
		if (!one.tasks || !told)
			continue;
		sl_builder_append(w->b, SL_T_NODE_TASKS, &one);
		row->arbitrary_tpn.count++;
	}
	free(times);
	row->max_nodes = row->min_nodes;
	if (!w->w->tasks_said)
		set_tasks(row, tasks);
	return 0;
}

static int take_reservation(const struct wisher *w)
{
	const struct sl_reservation_view *v = &w->snap->reservation;
	const char *text = value_of(w, SL_WISH_RESERVATION);

	for (const char *name = text; name && *name; name += strcspn(name, ","), name += *name == ',')
		if (find_row(w, SL_WISH_RESERVATION, "reservations", v->name, v->rows, name, strcspn(name, ",")) == SL_NONE)
			return -1;
	w->row->reservation = sl_builder_str(w->b, text);
	return 0;
}

/* -- time ------------------------------------------------------------------------ */

/* "now+1hour", seconds where no unit stands. */
static bool scan_offset(const char *text, int64_t *seconds)
{
	static const struct { const char *name; int64_t seconds; } units[] = {
		{ "seconds", 1 }, { "minutes", 60 }, { "hours", 3600 }, { "days", 86400 }, { "weeks", 604800 },
	};
	size_t digits = strspn(text, "0123456789"), length = strlen(text + digits);
	uint32_t n;

	if (!sl_read_number(text, digits, 0, 100000000, &n))
		return false;
	*seconds = n;
	for (size_t i = 0; length && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strncmp(units[i].name, text + digits, length)) {
			*seconds = n * units[i].seconds;
			return true;
		}
	return !length;
}

/* A local time that is all of the text, in that form; what the form does not say is that of *at*. */
static bool scan_form(const char *text, const char *form, struct tm at, int64_t *t)
{
	const char *end = strptime(text, form, &at);

	at.tm_isdst = -1;
	*t = end && !*end ? mktime(&at) : -1;
	return *t > 0;
}

/* Local time, as sbatch has it: of today, or tomorrow where that is past. */
static bool scan_when(const char *text, int64_t now, int64_t *t)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	struct tm today, none = { 0 };
	bool found = false;

	if (!strcmp(text, "now") || (!strncmp(text, "now+", 4) && scan_offset(text + 4, t))) {
		*t = now + (text[3] ? *t : 0);
		return true;
	}
	if (!localtime_r(&(time_t) { now }, &today))
		return false;
	today.tm_sec = 0;
	for (int day = 0; day < 2 && (!found || *t < now); day++, today.tm_mday++)
		found = scan_form(text, "%H:%M:%S", today, t) || scan_form(text, "%H:%M", today, t);
	for (int i = 0; i < 3 && !found; i++)
		found = scan_form(text, forms[i], none, t);
	return found;
}

static int take_when(const struct wisher *w, enum sl_wish wish, int64_t *t)
{
	if (!value_of(w, wish) || scan_when(value_of(w, wish), w->snap->meta.now[0], t))
		return 0;
	return refuse(w, wish, "now+N[minutes], H:M[:S] or Y-M-D[TH:M[:S]]");
}

static int take_switches(const struct wisher *w)
{
	const char *text = value_of(w, SL_WISH_SWITCHES), *at = text ? strchr(text, '@') : NULL;

	if (!text)
		return 0;
	w->row->switch_wait = SWITCH_WAIT;
	if (!sl_read_number(text, at ? (size_t) (at - text) : strlen(text), 1, MOST_COUNT, &w->row->switches) ||
	    (at && (!sl_scan_duration(at + 1, &w->row->switch_wait) || w->row->switch_wait == SL_UNLIMITED)))
		return refuse(w, SL_WISH_SWITCHES, "N[@TIME], TIME in minutes, H:M:S or D-H:M:S");
	return 0;
}

static int take_times(const struct wisher *w)
{
	const char *least = value_of(w, SL_WISH_TIME_MIN);
	int64_t now = w->snap->meta.now[0];

	if (take_switches(w) || take_count(w, SL_WISH_SEGMENT, 1, &w->row->segment) || take_when(w, SL_WISH_BEGIN, &w->row->begin_time) ||
	    take_when(w, SL_WISH_DEADLINE, &w->row->deadline))
		return -1;
	if (w->row->begin_time <= now)
		w->row->begin_time = 0;
	else
		w->row->eligible_time = w->row->begin_time;
	if (least && (!sl_scan_duration(least, &w->row->time_min) || w->row->time_min <= 0 ||
		      w->row->time_min > w->row->time_limit))
		return refuse(w, SL_WISH_TIME_MIN, "minutes, H:M:S or D-H:M:S, no more than its walltime");
	return 0;
}

int sl_wishes_fill(const struct sl_wishes *wishes, const struct sl_snapshot *snap, struct sl_builder *b, struct sl_job_row *row,
		   struct sl_error *err)
{
	struct wisher w = { wishes, snap, b, row, err };

	if (take_cores(&w) || take_named(&w) || take_gpus(&w) || take_words(&w) || take_arbitrary(&w) ||
	    take_licenses(&w) || take_reservation(&w) || take_memory(&w, SL_WISH_TMP, &row->tmp_disk) || take_times(&w))
		return -1;
	take_flags(&w);
	return 0;
}
