/* SPDX-License-Identifier: MIT */
/* shapes.c - see shapes.h */
#include "image/shapes.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"

/* As slurmctld's: 16 bits for what is per task or node. */
#define MOST_NODES 0xfffffff0u
#define MOST_TASKS 0xfffffff0u
#define MOST_PER 0xfff0u
#define MOST_MINUTES (365u * 24 * 60)

#define NAME_SIZE 64

struct need {
	char name[NAME_SIZE], type[NAME_SIZE];
	uint32_t count;
	enum sl_per per;
};

struct shape {
	uint32_t min_nodes, max_nodes, tasks, cpus, per_node;
	int64_t seconds;
	struct need need[SL_MAX_SHAPE_GRES];
	uint32_t needs;
	uint32_t ranges;
	uint32_t ranged, least;	/* which need is a range: of its count and less, down to that */
	uint32_t seen;		/* options, by their place in the table */
};

/* A stretch of the comment; texts are not ended by a NUL. */
struct text {
	const char *at;
	size_t length;
};

struct option {
	char letter;
	const char *name;
	int (*set)(struct shape *s, struct text value, enum sl_per per, struct sl_error *err);
	enum sl_per per;
};

#define SHOWN(t) (int) ((t).length < 40 ? (t).length : 40), (t).at

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct text trim_blanks(struct text t)
{
	for (; t.length && is_blank(*t.at); t.at++)
		t.length--;
	while (t.length && is_blank(t.at[t.length - 1]))
		t.length--;
	return t;
}

/* What stands before *c*, or all of it; the rest, without *c*, stays in *t. */
static struct text cut_before(struct text *t, char c)
{
	const char *found = t->length ? memchr(t->at, c, t->length) : NULL;
	struct text first = { t->at, found ? (size_t) (found - t->at) : t->length };

	t->at += first.length + (found != NULL);
	t->length -= first.length + (found != NULL);
	return first;
}

/* A number from *least* to *most*, and nothing else. */
static int read_number(struct text t, uint32_t least, uint32_t most, uint32_t *n)
{
	return sl_read_number(t.at, t.length, least, most, n) ? 0 : -1;
}

/* -- the options ----------------------------------------------------------- */

static int set_nodes(struct shape *s, struct text value, enum sl_per per, struct sl_error *err)
{
	struct text rest = value, least = cut_before(&rest, '-');

	(void) per;
	if (read_number(least, 1, MOST_NODES, &s->min_nodes) ||
	    (least.length < value.length && read_number(rest, 1, MOST_NODES, &s->max_nodes)))
		return sl_fail(err, SL_EINVAL, "--nodes: expected N or N-M, got '%.*s'", SHOWN(value));
	if (least.length == value.length)
		s->max_nodes = s->min_nodes;
	if (s->max_nodes < s->min_nodes)
		return sl_fail(err, SL_EINVAL, "--nodes: expected N-M with N up to M, got '%.*s'", SHOWN(value));
	return 0;
}

static int set_count(uint32_t *n, uint32_t most, const char *name, struct text value, struct sl_error *err)
{
	if (read_number(value, 1, most, n))
		return sl_fail(err, SL_EINVAL, "--%s: expected a number from 1 to %" PRIu32 ", got '%.*s'", name, most,
			       SHOWN(value));
	return 0;
}

static int set_tasks(struct shape *s, struct text value, enum sl_per per, struct sl_error *err)
{
	(void) per;
	return set_count(&s->tasks, MOST_TASKS, "ntasks", value, err);
}

static int set_cpus(struct shape *s, struct text value, enum sl_per per, struct sl_error *err)
{
	(void) per;
	return set_count(&s->cpus, MOST_PER, "cpus-per-task", value, err);
}

static int set_per_node(struct shape *s, struct text value, enum sl_per per, struct sl_error *err)
{
	(void) per;
	return set_count(&s->per_node, MOST_PER, "ntasks-per-node", value, err);
}

/* MINUTES, M:S, H:M:S, D-H, D-H:M, D-H:M:S; in whole minutes, as Slurm has it. */
static int set_time(struct shape *s, struct text value, enum sl_per per, struct sl_error *err)
{
	struct text rest = value, days = cut_before(&rest, '-'), part;
	bool has_days = days.length < value.length;
	uint32_t day = 0, n[3] = { 0 }, parts = 0;
	uint64_t minutes;

	(void) per;
	if (!has_days)
		rest = value;
	else if (read_number(days, 0, MOST_MINUTES, &day))
		goto wrong;
	do {
		bool last = !memchr(rest.at, ':', rest.length);

		part = cut_before(&rest, ':');
		if (parts == 3 || read_number(part, 0, MOST_MINUTES, &n[parts++]))
			goto wrong;
		if (last)
			break;
	} while (true);
	if (has_days)
		minutes = (uint64_t) day * 1440 + n[0] * 60 + n[1] + (n[2] != 0);
	else if (parts == 3)
		minutes = (uint64_t) n[0] * 60 + n[1] + (n[2] != 0);
	else
		minutes = (uint64_t) n[0] + (n[1] != 0);
	if (!minutes || minutes > MOST_MINUTES)
		goto wrong;
	s->seconds = (int64_t) minutes * 60;
	return 0;
wrong:
	return sl_fail(err, SL_EINVAL, "--time: expected minutes, H:M:S or D-H:M:S of up to a year, got '%.*s'",
		       SHOWN(value));
}

/* Letters, digits, "_", "-" and ".", as Slurm's names have. */
static int copy_name(char *to, struct text t)
{
	if (!t.length || t.length >= NAME_SIZE)
		return -1;
	for (size_t i = 0; i < t.length; i++) {
		char c = t.at[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		      c == '-' || c == '.'))
			return -1;
		to[i] = c;
	}
	to[t.length] = '\0';
	return 0;
}

/* Of digits and "-": no name of a type, even if it is no good number either. */
static bool like_number(struct text t)
{
	for (size_t i = 0; i < t.length; i++)
		if ((t.at[i] < '0' || t.at[i] > '9') && t.at[i] != '-')
			return false;
	return t.length;
}

/* N or N-M; of a range the need has the most. */
static int set_amount(struct shape *s, struct need *n, struct text t)
{
	struct text rest = t, least = cut_before(&rest, '-');

	if (least.length == t.length)
		return read_number(t, 1, MOST_TASKS, &n->count);
	if (read_number(least, 1, MOST_TASKS, &s->least) || read_number(rest, s->least, MOST_TASKS, &n->count))
		return -1;
	s->ranged = s->needs;
	s->ranges++;
	return 0;
}

/* [TYPE][:][N[-M]] of a gres; one where there is no number. */
static int set_kind(struct shape *s, struct need *n, struct text t)
{
	struct text first = cut_before(&t, ':');

	n->count = 1;
	if (!first.length || like_number(first))
		return t.length || (first.length && set_amount(s, n, first)) ? -1 : 0;
	if (copy_name(n->type, first))
		return -1;
	return t.length ? set_amount(s, n, t) : 0;
}

static struct need *new_need(struct shape *s, enum sl_per per, struct sl_error *err)
{
	struct need *n = &s->need[s->needs];

	if (s->needs == SL_MAX_SHAPE_GRES) {
		sl_fail(err, SL_ELIMIT, "more than %d gres in an alternative", SL_MAX_SHAPE_GRES);
		return NULL;
	}
	memset(n, 0, sizeof(*n));
	n->per = per;
	return n;
}

/* Add what was read to the needs of the shape.  A gres that is there already is refused: what it
 * means twice only Slurm knows. */
static int accept_need(struct shape *s, struct sl_error *err)
{
	const struct need *n = &s->need[s->needs];

	for (uint32_t i = 0; i < s->needs; i++)
		if (!strcmp(s->need[i].name, n->name) && !strcmp(s->need[i].type, n->type))
			return sl_fail(err, SL_EINVAL, "gres %s twice in an alternative", n->name);
	s->needs++;
	return 0;
}

static int set_gpus(struct shape *s, struct text value, enum sl_per per, struct sl_error *err)
{
	struct need *n = new_need(s, per, err);

	if (!n)
		return -1;
	strcpy(n->name, "gpu");
	if (!value.length || set_kind(s, n, value))
		return sl_fail(err, SL_EINVAL, "--gpus...: expected [TYPE:]N[-M] with N up to M, got '%.*s'", SHOWN(value));
	return accept_need(s, err);
}

static int set_gres(struct shape *s, struct text value, enum sl_per per, struct sl_error *err)
{
	do {
		struct text item = cut_before(&value, ','), name;
		struct need *n = new_need(s, per, err);

		if (!n)
			return -1;
		if (item.length > 5 && (!memcmp(item.at, "gres:", 5) || !memcmp(item.at, "gres/", 5)))
			item = (struct text) { item.at + 5, item.length - 5 };
		struct text whole = item;

		name = cut_before(&item, ':');
		if (copy_name(n->name, name) || set_kind(s, n, item))
			return sl_fail(err, SL_EINVAL, "--gres: expected NAME[:TYPE][:N[-M]] with N up to M, got '%.*s'",
				       SHOWN(whole));
		if (accept_need(s, err) < 0)
			return -1;
	} while (value.length);
	return 0;
}

static const struct option options[] = {
	{ 'N', "nodes", set_nodes, SL_PER_NODE },
	{ 'n', "ntasks", set_tasks, SL_PER_NODE },
	{ 'c', "cpus-per-task", set_cpus, SL_PER_NODE },
	{ 0, "ntasks-per-node", set_per_node, SL_PER_NODE },
	{ 't', "time", set_time, SL_PER_NODE },
	{ 0, "gres", set_gres, SL_PER_NODE },
	{ 'G', "gpus", set_gpus, SL_PER_JOB },
	{ 0, "gpus-per-node", set_gpus, SL_PER_NODE },
	{ 0, "gpus-per-task", set_gpus, SL_PER_TASK },
};

/* -- a shape ----------------------------------------------------------------- */

/* The next word; empty at the end. */
static struct text next_word(struct text *t)
{
	struct text word;

	*t = trim_blanks(*t);
	word = *t;
	for (word.length = 0; word.length < t->length && !is_blank(t->at[word.length]); word.length++)
		;
	t->at += word.length;
	t->length -= word.length;
	return word;
}

/* "-N4", "-N 4", "--nodes=4", "--nodes 4": which option, and its value. */
static const struct option *split_option(struct text word, struct text *rest, struct text *value)
{
	bool whole = word.length > 2 && word.at[0] == '-' && word.at[1] == '-';
	struct text name;

	if (word.length < 2 || word.at[0] != '-')
		return NULL;
	*value = (struct text) { word.at + 2, word.length - 2 };
	name = *value;
	if (whole)
		name = cut_before(value, '=');
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct option *o = &options[i];

		if (whole ? strlen(o->name) != name.length || memcmp(o->name, name.at, name.length) :
		    !o->letter || o->letter != word.at[1])
			continue;
		if (whole ? name.length + 2 == word.length : !value->length)
			*value = next_word(rest);
		return o;
	}
	return NULL;
}

static int check_shape(struct shape *s, struct sl_error *err)
{
	bool nodes_said = s->min_nodes > 0;

	if (!s->min_nodes)
		s->min_nodes = 1;
	if (!s->cpus)
		s->cpus = 1;
	if (s->ranges > 1)
		return sl_fail(err, SL_EINVAL, "a second range of gres in an alternative");
	if (!nodes_said && !s->tasks && !s->per_node && !s->needs)
		return sl_fail(err, SL_EINVAL, "an alternative that says neither nodes, tasks nor gres");
	if (!s->tasks) {
		uint64_t tasks = (uint64_t) s->min_nodes * (s->per_node ? s->per_node : 1);

		if (tasks > MOST_TASKS)
			return sl_fail(err, SL_EINVAL, "an alternative of %" PRIu64 " tasks", tasks);
		s->tasks = (uint32_t) tasks;
	}
	if (s->tasks < s->min_nodes)
		return sl_fail(err, SL_EINVAL, "an alternative of %" PRIu32 " tasks on %" PRIu32 " nodes", s->tasks,
			       s->min_nodes);
	if ((uint64_t) s->tasks * s->cpus > MOST_TASKS)
		return sl_fail(err, SL_EINVAL, "an alternative of %" PRIu64 " CPUs", (uint64_t) s->tasks * s->cpus);
	if (s->per_node && s->max_nodes && (uint64_t) s->per_node * s->max_nodes < s->tasks)
		return sl_fail(err, SL_EINVAL, "an alternative of %" PRIu32 " tasks, %" PRIu32 " on each of %" PRIu32
			       " nodes", s->tasks, s->per_node, s->max_nodes);
	return 0;
}

static int parse_shape(struct shape *s, struct text t, struct sl_error *err)
{
	struct text word, value;

	*s = (struct shape) { 0 };
	while ((word = next_word(&t)).length) {
		const struct option *o = split_option(word, &t, &value);
		uint32_t bit;

		if (!o)
			return sl_fail(err, SL_EINVAL, "'%.*s' is no option of an alternative; known: -N, -n, -c, "
				       "--ntasks-per-node, -t, --gres, -G, --gpus-per-node, --gpus-per-task",
				       SHOWN(word));
		bit = 1u << (o - options);
		if (s->seen & bit)
			return sl_fail(err, SL_EINVAL, "--%s twice in an alternative", o->name);
		s->seen |= bit;
		if (!value.length)
			return sl_fail(err, SL_EINVAL, "--%s: nothing after it", o->name);
		if (o->set(s, value, o->per, err) < 0)
			return -1;
	}
	if (!s->seen)
		return sl_fail(err, SL_EINVAL, "an empty alternative");
	return check_shape(s, err);
}

/* -- the comment --------------------------------------------------------------- */

/* What follows "sched:" up to ";"; false where there is no such thing. */
static bool find_shapes(const char *comment, struct text *t)
{
	static const char key[] = "sched:";
	struct text all = { comment, comment ? strlen(comment) : 0 };

	while (all.length) {
		struct text part = trim_blanks(cut_before(&all, ';'));

		if (part.length < sizeof(key) - 1 || memcmp(part.at, key, sizeof(key) - 1))
			continue;
		*t = (struct text) { part.at + sizeof(key) - 1, part.length - (sizeof(key) - 1) };
		return true;
	}
	return false;
}

static void append_shape(struct sl_builder *b, const struct shape *s)
{
	struct sl_shape_row row = sl_shape_row();

	row.min_nodes = s->min_nodes;
	row.max_nodes = s->max_nodes;
	row.num_tasks = s->tasks;
	row.cpus_per_task = s->cpus;
	row.ntasks_per_node = s->per_node;
	row.time_limit = s->seconds;
	if (s->needs)
		row.gres = (struct sl_range) { sl_builder_rows(b, SL_T_JOB_GRES), s->needs };
	for (uint32_t i = 0; i < s->needs; i++) {
		struct sl_job_gres_row gres = sl_job_gres_row();

		gres.name = sl_builder_str(b, s->need[i].name);
		gres.type = sl_builder_str(b, s->need[i].type);
		gres.count = s->need[i].count;
		gres.per = s->need[i].per;
		sl_builder_append(b, SL_T_JOB_GRES, &gres);
	}
	sl_builder_append(b, SL_T_SHAPE, &row);
}

/* One shape for each count of its range, the most first. */
static int expand_range(struct shape *s, uint32_t most, uint32_t *n, struct sl_error *err)
{
	struct shape *ranged = s + (*n)++;
	uint32_t count = ranged->need[ranged->ranged].count;

	if (!ranged->ranges)
		return 0;
	if (count - ranged->least > most - *n)
		return sl_fail(err, SL_ELIMIT, "more than %" PRIu32 " alternatives", most);
	while (count-- > ranged->least) {
		s[*n] = *ranged;
		s[(*n)++].need[ranged->ranged].count = count;
	}
	return 0;
}

int sl_shapes_add(struct sl_builder *b, const char *comment, struct sl_range *shapes, struct sl_error *err)
{
	struct shape shape[SL_MAX_SHAPES];
	uint32_t n = 0;
	struct text t;
	bool more;

	*shapes = (struct sl_range) { 0, 0 };
	if (!find_shapes(comment, &t))
		return 0;
	do {
		if (n == SL_MAX_SHAPES)
			return sl_fail(err, SL_ELIMIT, "more than %d alternatives", SL_MAX_SHAPES);
		more = t.length && memchr(t.at, '|', t.length);
		if (parse_shape(&shape[n], cut_before(&t, '|'), err) < 0 || expand_range(shape, SL_MAX_SHAPES, &n, err) < 0)
			return -1;
	} while (more);
	*shapes = (struct sl_range) { sl_builder_rows(b, SL_T_SHAPE), n };
	for (uint32_t i = 0; i < n; i++)
		append_shape(b, &shape[i]);
	return 0;
}

void sl_shapes_fill(struct sl_builder *b)
{
	struct sl_job_row job;
	struct sl_error err;

	for (uint32_t i = 0; !sl_builder_row(b, SL_T_JOB, i, &job); i++) {
		if (job.state != SL_JOB_PENDING || job.shapes.count || job.shapes_ignored || !job.comment)
			continue;
		/* the text moves when the pool grows: it is not read after the first append */
		if (sl_shapes_add(b, sl_builder_text(b, job.comment), &job.shapes, &err) < 0)
			job.shapes_ignored = sl_builder_str(b, err.text);
		if (job.shapes.count || job.shapes_ignored)
			sl_builder_update(b, SL_T_JOB, i, &job);
	}
}
