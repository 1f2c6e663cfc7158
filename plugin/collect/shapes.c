/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/shapes.c - the alternatives in jobs' comments; see collect/int.h */
#include "plugin/collect/int.h"
#include "plugin/request/shape.h"
#include "base/plain.h"

/* True if that has not been logged for the job yet; it counts as logged then. */
static bool tell_once(const struct sl_collector *c, const struct sl_commented *k, uint8_t what)
{
	struct sl_notes *notes = c->scratch->in->notes;

	if (sl_note_read(notes, k->job, k->submitted)->told & what)
		return false;
	sl_note_write(notes, k->job, k->submitted)->told |= what;
	return true;
}

/* Let it be logged again if it happens again. */
static void tell_again(const struct sl_collector *c, uint32_t job_id, time_t submitted, uint8_t what)
{
	struct sl_notes *notes = c->scratch->in->notes;

	if (sl_note_read(notes, job_id, submitted)->told & what)
		sl_note_write(notes, job_id, submitted)->told &= (uint8_t) ~what;
}

static int find_shared(void *x, void *arg)
{
	const part_record_t *p = x;

	(void) arg;
	return p->max_share != 0;
}

/* Does the job get whole nodes in each of its partitions? */
static bool has_whole_nodes(const job_record_t *job)
{
	if (sl_is_exclusive(job->details))
		return true;
	if (job->part_ptr_list && list_count(job->part_ptr_list))
		return !list_find_first(job->part_ptr_list, find_shared, NULL);
	return job->part_ptr && !job->part_ptr->max_share;
}

/* The most nodes that the user states; 0: states none.  (For --spread-job, and from 26.05 on for tasks without nodes,
 * slurmctld or a limit fills the field.) */
static uint32_t most_nodes_named(const job_record_t *job)
{
	if (job->bit_flags & (SPREAD_JOB | SL_IMPLICIT_NODES) ||
	    (job->limit_set.tres && job->limit_set.tres[TRES_ARRAY_NODE]))
		return 0;
	return sl_set32(job->details->max_nodes);
}

struct longest {
	const job_record_t *job;
	int64_t seconds;
};

static int each_walltime(void *x, void *arg)
{
	struct longest *l = arg;

	l->seconds = MAX(l->seconds, sl_walltime(sl_job_walltime(l->job, x)));
	return 0;
}

/* The time limit that the job states, though its current partition may allow less; else the longest that one of its
 * partitions gives. */
static int64_t accepted_time(const job_record_t *job)
{
	struct longest l = { .job = job };

	if (job->time_limit != NO_VAL)
		return sl_walltime(job->time_limit);
	if (job->part_ptr_list)
		list_for_each(job->part_ptr_list, each_walltime, &l);
	if (!l.seconds && job->part_ptr)
		each_walltime(job->part_ptr, &l);
	return l.seconds;
}

static struct sl_accepted accepted_of(const job_record_t *job)
{
	return (struct sl_accepted) { .max_nodes = most_nodes_named(job), .time_limit = accepted_time(job),
		.whole = has_whole_nodes(job) };
}

void sl_collect_note_commented(struct sl_collector *c, uint32_t row, const job_record_t *job)
{
	struct sl_scratch *s = c->scratch;

	if (!job->comment || !strstr(job->comment, "sched:")) {
		tell_again(c, job->job_id, job->details->submit_time, SL_TOLD_IGNORED | SL_TOLD_BEYOND);
		return;
	}
	if (s->commented_len == s->commented_room) {
		s->commented_room = MAX(256, s->commented_room * 2);
		xrecalloc(s->commented, s->commented_room, sizeof(*s->commented));
	}
	s->commented[s->commented_len++] = (struct sl_commented) {
		.row = row, .job = job->job_id, .submitted = job->details->submit_time, .never = sl_shape_never(job),
		.tasks = sl_shape_tasks(job), .accepted = accepted_of(job),
	};
}

/* Why srun or salloc cannot have one of those shapes, or NULL: they start the tasks of their command line whatever the
 * shape. */
static const char *not_interactive(const struct sl_collector *c, const struct sl_commented *k, struct sl_range shapes)
{
	struct sl_shape_row s;
	const char *why = NULL;
	uint32_t i;

	for (i = shapes.first; i < shapes.first + shapes.count && !why; i++)
		if (!sl_builder_row(c->b, SL_T_SHAPE, i, &s))
			why = sl_shape_interactive(k->tasks, s.num_tasks);
	return why;
}

/* Mark the shapes with which the job could not be started a moment ago. */
static void mark_refused(struct sl_collector *c, const struct sl_commented *k, struct sl_range shapes)
{
	const struct sl_note *note = sl_note_read(c->scratch->in->notes, k->job, k->submitted);
	struct sl_shape_row s;
	uint32_t i;

	for (i = 0; i < shapes.count; i++) {
		if (!sl_note_shape_refused(note, i + 1, c->scratch->now) ||
		    sl_builder_row(c->b, SL_T_SHAPE, shapes.first + i, &s))
			continue;
		if (s.refused)
			continue;
		s.refused = SL_SHAPE_REFUSED_LATELY;
		sl_builder_update(c->b, SL_T_SHAPE, shapes.first + i, &s);
	}
}

/* Mark the shapes that ask for more than the job; this is logged once. */
static void keep_within(struct sl_collector *c, const struct sl_commented *k, const struct sl_job_row *row)
{
	uint32_t first = 0, beyond = c->scratch->in->shapes_any ? 0 :
		sl_shapes_keep_within(c->b, row, &k->accepted, &first);
	struct sl_shape_row s;
	char text[SL_BEYOND_TEXT];

	if (!beyond || sl_builder_row(c->b, SL_T_SHAPE, row->shapes.first + first - 1, &s))
		tell_again(c, k->job, k->submitted, SL_TOLD_BEYOND);
	else if (tell_once(c, k, SL_TOLD_BEYOND))
		info("sched/lua: JobId=%u: %s (lua_shapes=within)", k->job, sl_shapes_say_beyond(text, first, s.refused, beyond));
}

/* A wrong comment is no error of the job: its alternatives are ignored, and this is logged once. */
static void tell_ignored(struct sl_collector *c, const struct sl_commented *k, struct sl_job_row *row, const char *why)
{
	row->shapes_ignored = sl_builder_str(c->b, why);
	if (tell_once(c, k, SL_TOLD_IGNORED))
		info("sched/lua: JobId=%u: the alternatives in its comment are ignored: %s", k->job, why);
}

static void fill_shapes(struct sl_collector *c, const struct sl_commented *k, struct sl_job_row *row)
{
	struct sl_error err = { SL_OK, "" };
	const char *why = NULL;

	/* (not read after the first append, because the text moves when the pool grows) */
	if (sl_shapes_add(c->b, sl_builder_text(c->b, row->comment), &row->shapes, &err))
		why = err.text;
	else if (row->shapes.count && c->scratch->in->shapes_off)
		why = "this site offers none (lua_shapes=off)";
	else if (row->shapes.count && !(why = k->never))
		why = not_interactive(c, k, row->shapes);
	if (!why) {
		tell_again(c, k->job, k->submitted, SL_TOLD_IGNORED);
		keep_within(c, k, row);
		mark_refused(c, k, row->shapes);
		return;
	}
	row->shapes = (struct sl_range) { 0, 0 };
	if (why == err.text)
		sl_plain(err.text);
	tell_again(c, k->job, k->submitted, SL_TOLD_BEYOND);
	tell_ignored(c, k, row, why);
}

void sl_collect_shapes(struct sl_collector *c)
{
	struct sl_job_row row;
	uint32_t i;

	for (i = 0; i < c->scratch->commented_len; i++) {
		const struct sl_commented *k = &c->scratch->commented[i];

		if (sl_builder_row(c->b, SL_T_JOB, k->row, &row))
			continue;
		fill_shapes(c, k, &row);
		sl_builder_update(c->b, SL_T_JOB, k->row, &row);
	}
}
