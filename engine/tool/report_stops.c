/* SPDX-License-Identifier: MIT */
/*
 * report_stops.c - of a plan, for people and as JSON (tool/report.h): the jobs that are stopped for others, the places that are
 * held for these, and why nobody is stopped for some.
 */
#include <stdlib.h>

#include "tool/report.h"

#include "base/text.h"
#include "image/shortage.h"

static const char *text(const struct sl_report *r, uint32_t str)
{
	return sl_image_str(&r->plan->image, str);
}

static const char *user_of(const struct sl_report *r, uint32_t id)
{
	uint32_t row = sl_map_by_id(&r->row_of, id);

	return row == SL_NONE ? "-" : sl_snapshot_str(r->snap, r->snap->job.user[row]);
}

/* In the way that the policy says, or else in Slurm's own. */
static const char *mode_of(const struct sl_report *r, uint32_t i)
{
	uint32_t row = sl_map_by_id(&r->row_of, r->plan->stop.job[i]), mode = r->plan->stop.mode[i];

	return sl_stop_mode_word(mode == SL_STOP_NONE && row != SL_NONE ? r->snap->job.preempt_mode[row] : mode);
}

static int print_table(struct sl_text_table *t, const char *title, uint32_t rows, FILE *out)
{
	int rc;

	fprintf(out, "\n%s: %u\n", title, rows);
	rc = sl_text_table_print(t, 2, out);
	sl_text_table_destroy(t);
	return rc;
}

static int print_stopped(const struct sl_report *r, FILE *out)
{
	const struct sl_plan_stop_view *v = &r->plan->stop;
	struct sl_text_table *t = sl_text_table_create(">JOB,USER,>FOR JOB,>COST,HOW");

	for (uint32_t i = 0; i < v->rows; i++) {
		sl_text_table_addf(t, "%u", v->job[i]);
		sl_text_table_add(t, user_of(r, v->job[i]));
		sl_text_table_addf(t, "%u", v->preemptor[i]);
		sl_text_table_addf(t, "%.4g", v->cost[i]);
		sl_text_table_addf(t, "%s%s", mode_of(r, i), v->moves[i] ? ", moved" : "");
	}
	return print_table(t, "stopped for others", v->rows, out);
}

static int print_held(const struct sl_report *r, FILE *out)
{
	const struct sl_plan_hold_view *v = &r->plan->hold;
	struct sl_text_table *t = sl_text_table_create(">JOB,USER,UNTIL,IN WORDS");
	char until[SL_TEXT_SIZE];

	for (uint32_t i = 0; i < v->rows; i++) {
		sl_text_table_addf(t, "%u", v->job[i]);
		sl_text_table_add(t, user_of(r, v->job[i]));
		sl_text_table_add(t, v->release[i] ? "no longer" : sl_text_time(until, v->until[i]));
		sl_text_table_add(t, text(r, v->because[i]));
	}
	return print_table(t, "a place is held for", v->rows, out);
}

static int print_shortages(const struct sl_report *r, FILE *out)
{
	const struct sl_plan_shortage_view *v = &r->plan->shortage;
	struct sl_text_table *t = sl_text_table_create(">JOB,USER,IN WORDS");
	char words[SL_SHORTAGE_TEXT];
	uint32_t *jobs = NULL;

	(void) sl_shortage_jobs(r->snap, r->plan, &jobs, NULL);
	for (uint32_t i = 0; i < v->rows; i++) {
		sl_text_table_addf(t, "%u", v->job[i]);
		sl_text_table_add(t, user_of(r, v->job[i]));
		sl_text_table_add(t, sl_shortage_text(r->snap, r->plan, i, jobs ? jobs[i] : SL_NONE, words, sizeof(words)));
	}
	free(jobs);
	return print_table(t, "nobody is stopped for", v->rows, out);
}

int sl_report_print_stops(const struct sl_report *r, FILE *out)
{
	const struct sl_plan_image *p = r->plan;

	return (p->stop.rows && print_stopped(r, out)) || (p->hold.rows && print_held(r, out)) ||
		(p->shortage.rows && print_shortages(r, out)) ? -1 : 0;
}

/* -- JSON --------------------------------------------------------------- */

static void begin_list(struct sl_json *j, const char *key)
{
	sl_json_break(j);
	sl_json_open_array(j, key);
}

static void begin_job(struct sl_json *j, uint32_t job)
{
	sl_json_break(j);
	sl_json_begin_object(j);
	sl_json_put_int(j, "job", job);
}

static void put_stopped(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_plan_stop_view *v = &r->plan->stop;

	begin_list(j, "stopped");
	for (uint32_t i = 0; i < v->rows; i++) {
		begin_job(j, v->job[i]);
		sl_json_put_int(j, "preemptor", v->preemptor[i]);
		sl_json_put_int(j, "group", v->group[i]);
		sl_json_put_real(j, "cost", v->cost[i]);
		sl_json_put_str(j, "mode", mode_of(r, i));
		sl_json_put_bool(j, "moves", v->moves[i]);
		sl_json_put_str(j, "by", text(r, v->by[i]));
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

static void put_held(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_plan_hold_view *v = &r->plan->hold;

	begin_list(j, "held");
	for (uint32_t i = 0; i < v->rows; i++) {
		begin_job(j, v->job[i]);
		sl_json_put_bool(j, "release", v->release[i]);
		sl_json_put_int(j, "until", v->until[i]);
		sl_json_put_str(j, "verdict", sl_verdict_word(v->verdict[i]));
		sl_json_put_real(j, "cost", v->cost[i]);
		sl_json_put_real(j, "bound", v->bound[i]);
		sl_json_put_str(j, "because", text(r, v->because[i]));
		sl_json_put_str(j, "by", text(r, v->by[i]));
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

static void put_shortages(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_plan_shortage_view *v = &r->plan->shortage;
	char words[SL_SHORTAGE_TEXT];
	uint32_t *jobs = NULL;

	(void) sl_shortage_jobs(r->snap, r->plan, &jobs, NULL);
	begin_list(j, "shortages");
	for (uint32_t i = 0; i < v->rows; i++) {
		begin_job(j, v->job[i]);
		sl_json_put_str(j, "what", sl_short_word(v->what[i]));
		sl_json_put_int(j, "needs", v->needs[i]);
		sl_json_put_int(j, "has", v->has[i]);
		sl_json_put_int(j, "spared", v->spared[i].count);
		sl_json_put_str(j, "text", sl_shortage_text(r->snap, r->plan, i, jobs ? jobs[i] : SL_NONE, words, sizeof(words)));
		sl_json_put_str(j, "by", text(r, v->by[i]));
		sl_json_end_object(j);
	}
	free(jobs);
	sl_json_end_array(j);
}

void sl_report_put_stops(const struct sl_report *r, struct sl_json *j)
{
	put_stopped(r, j);
	put_held(r, j);
	put_shortages(r, j);
}
