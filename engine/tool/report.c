/* SPDX-License-Identifier: MIT */
#include "tool/report.h"

#include <stdlib.h>
#include <string.h>

#include "image/nodelist.h"
#include "base/text.h"
#include "tool/action.h"
#include "tool/job_index.h"

static const char *partition_name(const struct sl_report *r, uint32_t row)
{
	return row < r->snap->partition.rows ? sl_snapshot_str(r->snap, r->snap->partition.name[row]) : "-";
}

static const char *text(const struct sl_report *r, uint32_t str)
{
	return sl_image_str(&r->plan->image, str);
}

/* The snapshot's row of a job id, or SL_NONE. */
static uint32_t row_of(const struct sl_report *r, uint32_t id)
{
	return sl_map_by_id(&r->row_of, id);
}

static const char *user_of(const struct sl_report *r, uint32_t id)
{
	uint32_t row = row_of(r, id);

	return row == SL_NONE ? "-" : sl_snapshot_str(r->snap, r->snap->job.user[row]);
}

/* A plan that fails the check may name any row. */
static const char *node_name(const struct sl_report *r, uint32_t row)
{
	return row < r->snap->node.rows ? sl_snapshot_str(r->snap, r->snap->node.name[row]) : "?";
}

char *sl_report_nodelist(const struct sl_report *r, struct sl_range places)
{
	const char **names = calloc(places.count + 1, sizeof(*names));
	char *list;
	uint32_t n = 0;

	if (!names)
		return NULL;
	for (uint32_t i = places.first; i < places.first + places.count; i++)
		names[n++] = node_name(r, r->plan->place.node[i]);
	list = sl_nodelist_join(names, n, NULL);
	free(names);
	return list;
}

static uint64_t cores_of(const struct sl_report *r, struct sl_range places)
{
	uint64_t cores = 0;

	for (uint32_t i = places.first; i < places.first + places.count; i++)
		cores += r->plan->place.cores[i];
	return cores;
}

/* -- words -------------------------------------------------------------- */

static void print_head(const struct sl_report *r, FILE *out)
{
	const struct sl_snapshot *s = r->snap;
	const struct sl_plan_image *p = r->plan;
	uint32_t running = 0, pending = 0;
	char now[SL_TEXT_SIZE];

	for (uint32_t i = 0; i < s->job.rows; i++) {
		running += s->job.state[i] == SL_JOB_RUNNING;
		pending += s->job.state[i] == SL_JOB_PENDING;
	}
	fprintf(out, "%s: cluster %s at %s: %u nodes, %u jobs running, %u pending (%u may start)\n", r->file,
		sl_snapshot_str(s, s->meta.cluster[0]), sl_text_time(now, s->meta.now[0]), s->node.rows, running,
		pending, s->queue.rows);
	fprintf(out, "policy %s: %u jobs examined in %.1f ms (%.1f ms with everything, %.1f MiB of Lua memory)\n",
		text(r, p->meta.policy[0]), p->meta.examined[0], (double) p->meta.decide_us[0] / 1e3,
		(double) p->meta.total_us[0] / 1e3, (double) r->lua_peak / (1 << 20));
	if (p->meta.truncated[0])
		fputs("the budget ended the policy: what it had decided until then stands\n", out);
	if (*text(r, p->meta.error[0]))
		fprintf(out, "the policy failed: %s\n", text(r, p->meta.error[0]));
}

static int print_starts(const struct sl_report *r, FILE *out)
{
	const struct sl_plan_start_view *v = &r->plan->start;
	struct sl_text_table *t = sl_text_table_create(">JOB,USER,PARTITION,>NODES,>CORES,NODELIST,NOTE");
	int rc;

	for (uint32_t i = 0; i < v->rows; i++) {
		char *nodes = sl_report_nodelist(r, v->places[i]), limit[SL_TEXT_SIZE];

		sl_text_table_addf(t, "%u", v->job[i]);
		sl_text_table_add(t, user_of(r, v->job[i]));
		sl_text_table_add(t, partition_name(r, v->partition[i]));
		sl_text_table_addf(t, "%u", v->places[i].count);
		sl_text_table_addf(t, "%llu", (unsigned long long) cores_of(r, v->places[i]));
		sl_text_table_add(t, nodes ? nodes : "?");
		sl_text_table_addf(t, "%s%s%s%s%s%s", v->native[i] ? "Slurm's select picks the nodes" : "",
				   v->native[i] && v->time_limit[i] ? "; " : "",
				   v->time_limit[i] ? sl_text_duration(limit, v->time_limit[i]) : "",
				   v->time_limit[i] && v->through[i] != SL_NONE ? "; " : "",
				   v->through[i] != SL_NONE ? "borrows nodes through " : "",
				   v->through[i] != SL_NONE ? partition_name(r, v->through[i]) : "");
		free(nodes);
	}
	fprintf(out, "\nstart now: %u\n", v->rows);
	rc = v->rows ? sl_text_table_print(t, 2, out) : 0;
	sl_text_table_destroy(t);
	return rc;
}

static int print_reservations(const struct sl_report *r, FILE *out)
{
	const struct sl_plan_reserve_view *v = &r->plan->reserve;
	struct sl_text_table *t = sl_text_table_create(">JOB,USER,PARTITION,>NODES,>CORES,>IN,START,NODELIST");
	int64_t now = r->snap->meta.now[0];
	int rc;

	for (uint32_t i = 0; i < v->rows; i++) {
		char *nodes = sl_report_nodelist(r, v->places[i]), in[SL_TEXT_SIZE], at[SL_TEXT_SIZE];

		sl_text_table_addf(t, "%u", v->job[i]);
		sl_text_table_add(t, user_of(r, v->job[i]));
		sl_text_table_add(t, partition_name(r, v->partition[i]));
		sl_text_table_addf(t, "%u", v->places[i].count);
		sl_text_table_addf(t, "%llu", (unsigned long long) cores_of(r, v->places[i]));
		sl_text_table_add(t, sl_text_duration(in, v->start_time[i] - now));
		sl_text_table_add(t, sl_text_time(at, v->start_time[i]));
		sl_text_table_add(t, nodes ? nodes : "?");
		free(nodes);
	}
	fprintf(out, "\nreserved: %u\n", v->rows);
	rc = v->rows ? sl_text_table_print(t, 2, out) : 0;
	sl_text_table_destroy(t);
	return rc;
}

/* Those that have a reservation were printed with it. */
static int print_pending(const struct sl_report *r, FILE *out)
{
	const struct sl_plan_reserve_view *reserve = &r->plan->reserve;
	const struct sl_plan_pending_view *v = &r->plan->pending;
	bool *reserved = calloc(r->snap->job.rows + 1u, sizeof(*reserved));
	struct sl_text_table *t = sl_text_table_create(">JOB,USER,REASON,IN WORDS");
	uint32_t row, waiting = 0;
	int rc = -1;

	for (uint32_t i = 0; reserved && i < reserve->rows; i++)
		if ((row = row_of(r, reserve->job[i])) != SL_NONE)
			reserved[row] = true;
	for (uint32_t i = 0; reserved && i < v->rows; i++) {
		row = row_of(r, v->job[i]);
		if (row != SL_NONE && reserved[row])
			continue;
		waiting++;
		sl_text_table_addf(t, "%u", v->job[i]);
		sl_text_table_add(t, user_of(r, v->job[i]));
		sl_text_table_add(t, sl_why_word(v->why[i]));
		sl_text_table_add(t, text(r, v->text[i]));
	}
	fprintf(out, "\nwait: %u\n", waiting);
	if (reserved)
		rc = waiting ? sl_text_table_print(t, 2, out) : 0;
	sl_text_table_destroy(t);
	free(reserved);
	return rc;
}

static void print_rest(const struct sl_report *r, FILE *out)
{
	static const char *const level[] = { "error", "info", "debug" };
	const struct sl_plan_action_view *a = &r->plan->action;
	const struct sl_plan_log_view *l = &r->plan->log;
	const struct sl_plan_refused_view *f = &r->plan->refused;
	char action[SL_ACTION_TEXT];

	if (a->rows)
		fprintf(out, "\nactions: %u\n", a->rows);
	for (uint32_t i = 0; i < a->rows; i++)
		fprintf(out, "  job %u: %s%s%s\n", a->job[i], sl_action_text(action, sl_action_word(a->verb[i]), a->number[i]),
			*text(r, a->text[i]) ? ": " : "", text(r, a->text[i]));
	if (l->rows)
		fputs("\nlog\n", out);
	for (uint32_t i = 0; i < l->rows; i++)
		fprintf(out, "  %s: %s\n", level[l->level[i] < 2 ? l->level[i] : 2], text(r, l->text[i]));
	if (r->check->code)
		fprintf(out, "\ncheck: VIOLATED: %s\n", r->check->text);
	else if (f->rows)
		fprintf(out, "\ncheck: REFUSED %u row%s, without which the plan is feasible:\n", f->rows, f->rows == 1 ? "" : "s");
	else
		fputs("\ncheck: the plan is feasible\n", out);
	for (uint32_t i = 0; i < f->rows; i++)
		fprintf(out, "  job %u: %s: %s\n", f->job[i], sl_refused_word(f->was[i]), text(r, f->text[i]));
}

int sl_report_print(struct sl_report *r, FILE *out)
{
	int rc = -1;

	if (sl_job_index(&r->row_of, r->snap))
		goto error;
	print_head(r, out);
	if (print_starts(r, out) || print_reservations(r, out) || print_pending(r, out))
		goto error;
	if (sl_report_print_stops(r, out))
		goto error;
	print_rest(r, out);
	rc = 0;
error:
	sl_map_free(&r->row_of);
	return rc;
}

/* -- JSON --------------------------------------------------------------- */

/* Begin a list and its first line; each element stands on a line of its own. */
static void begin_list(struct sl_json *j, const char *key)
{
	sl_json_break(j);
	sl_json_open_array(j, key);
}

static void begin_element(struct sl_json *j)
{
	sl_json_break(j);
	sl_json_begin_object(j);
}

static void put_gres(const struct sl_report *r, struct sl_json *j, struct sl_range gres)
{
	const struct sl_snapshot *s = r->snap;

	sl_json_open_object(j, "gres");
	for (uint32_t g = gres.first; g < gres.first + gres.count; g++) {
		uint32_t kind = r->plan->place_gres.kind[g];

		sl_json_put_int(j, kind < s->gres_kind.rows ? sl_snapshot_str(s, s->gres_kind.key[kind]) : "?",
			r->plan->place_gres.count[g]);
	}
	sl_json_end_object(j);
}

void sl_report_put_places(const struct sl_report *r, struct sl_json *j, struct sl_range places)
{
	const struct sl_plan_place_view *v = &r->plan->place;

	sl_json_open_array(j, "places");
	for (uint32_t i = places.first; i < places.first + places.count; i++) {
		sl_json_begin_object(j);
		sl_json_put_str(j, "node", node_name(r, v->node[i]));
		sl_json_put_int(j, "cores", v->cores[i]);
		sl_json_put_int(j, "memory", v->memory[i]);
		if (v->gres[i].count)
			put_gres(r, j, v->gres[i]);
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

/* The keys that starts and reservations share. */
static void put_booking(const struct sl_report *r, struct sl_json *j, uint32_t job, uint32_t partition,
			struct sl_range places, uint32_t by)
{
	char *nodes = sl_report_nodelist(r, places);

	sl_json_put_int(j, "job", job);
	sl_json_put_str(j, "user", user_of(r, job));
	sl_json_put_str(j, "partition", partition_name(r, partition));
	sl_json_put_str(j, "nodelist", nodes);
	sl_json_put_int(j, "nodes", places.count);
	sl_json_put_int(j, "cores", cores_of(r, places));
	sl_json_put_str(j, "by", text(r, by));
	free(nodes);
}

static void put_terms(struct sl_json *j, bool native, uint32_t shape, int64_t time_limit)
{
	sl_json_put_bool(j, "native", native);
	sl_json_put_int(j, "shape", shape);
	sl_json_put_int(j, "time_limit", time_limit);
}

/* Whose nodes a start borrows, and through which partition. */
static void put_loan(const struct sl_report *r, struct sl_json *j, uint32_t start)
{
	struct sl_range lenders = r->plan->start.lenders[start];

	sl_json_put_str(j, "through", partition_name(r, r->plan->start.through[start]));
	sl_json_open_array(j, "borrowed_from");
	for (uint32_t i = lenders.first; i < lenders.first + lenders.count; i++)
		sl_json_str(j, partition_name(r, r->plan->lender.partition[i]));
	sl_json_end_array(j);
}

static void put_starts(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_plan_start_view *v = &r->plan->start;

	begin_list(j, "started");
	for (uint32_t i = 0; i < v->rows; i++) {
		begin_element(j);
		put_booking(r, j, v->job[i], v->partition[i], v->places[i], v->by[i]);
		put_terms(j, v->native[i], v->shape[i], v->time_limit[i]);
		if (v->through[i] != SL_NONE)
			put_loan(r, j, i);
		if (*text(r, v->because[i]))
			sl_json_put_str(j, "because", text(r, v->because[i]));
		sl_report_put_places(r, j, v->places[i]);
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

static void put_reservations(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_plan_reserve_view *v = &r->plan->reserve;

	begin_list(j, "reserved");
	for (uint32_t i = 0; i < v->rows; i++) {
		begin_element(j);
		put_booking(r, j, v->job[i], v->partition[i], v->places[i], v->by[i]);
		put_terms(j, v->native[i], v->shape[i], v->time_limit[i]);
		sl_json_put_int(j, "start_time", v->start_time[i]);
		sl_json_put_int(j, "in_s", v->start_time[i] - r->snap->meta.now[0]);
		sl_report_put_places(r, j, v->places[i]);
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

static void put_pending(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_plan_pending_view *v = &r->plan->pending;

	begin_list(j, "pending");
	for (uint32_t i = 0; i < v->rows; i++) {
		begin_element(j);
		sl_json_put_int(j, "job", v->job[i]);
		sl_json_put_str(j, "user", user_of(r, v->job[i]));
		sl_json_put_str(j, "why", sl_why_word(v->why[i]));
		sl_json_put_str(j, "text", text(r, v->text[i]));
		sl_json_put_str(j, "by", text(r, v->by[i]));
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

/* What policies had users told. */
static void put_expected(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_plan_forecast_view *v = &r->plan->forecast;

	begin_list(j, "expected");
	for (uint32_t i = 0; i < v->rows; i++) {
		if (v->partition[i] != SL_NONE)
			continue;
		begin_element(j);
		sl_json_put_int(j, "job", v->job[i]);
		sl_json_put_int(j, "start_time", v->start_time[i]);
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

static void put_actions_and_log(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_plan_action_view *a = &r->plan->action;
	const struct sl_plan_log_view *l = &r->plan->log;

	begin_list(j, "actions");
	for (uint32_t i = 0; i < a->rows; i++) {
		begin_element(j);
		sl_json_put_str(j, "do", sl_action_word(a->verb[i]));
		sl_json_put_int(j, "job", a->job[i]);
		sl_json_put_int(j, "number", a->number[i]);
		sl_json_put_str(j, "text", text(r, a->text[i]));
		sl_json_put_str(j, "by", text(r, a->by[i]));
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
	begin_list(j, "log");
	for (uint32_t i = 0; i < l->rows; i++) {
		begin_element(j);
		sl_json_put_int(j, "level", l->level[i]);
		sl_json_put_str(j, "text", text(r, l->text[i]));
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
}

static void put_head(const struct sl_report *r, struct sl_json *j)
{
	const struct sl_snapshot *s = r->snap;
	const struct sl_plan_meta_view *m = &r->plan->meta;

	sl_json_open_object(j, "snapshot");
	sl_json_put_str(j, "file", r->file);
	sl_json_put_str(j, "cluster", sl_snapshot_str(s, s->meta.cluster[0]));
	sl_json_put_int(j, "now", s->meta.now[0]);
	sl_json_put_int(j, "sequence", s->meta.sequence[0]);
	sl_json_put_int(j, "nodes", s->node.rows);
	sl_json_put_int(j, "queue", s->queue.rows);
	sl_json_end_object(j);
	sl_json_break(j);
	sl_json_put_str(j, "policy", text(r, m->policy[0]));
	sl_json_put_int(j, "examined", m->examined[0]);
	sl_json_put_bool(j, "truncated", m->truncated[0]);
	sl_json_put_str(j, "error", text(r, m->error[0]));
	sl_json_put_int(j, "decide_us", m->decide_us[0]);
	sl_json_put_int(j, "total_us", m->total_us[0]);
	sl_json_put_int(j, "lua_peak_bytes", (int64_t) r->lua_peak);
}

int sl_report_json(struct sl_report *r, struct sl_json *j, struct sl_error *err)
{
	const struct sl_plan_refused_view *f = &r->plan->refused;

	if (sl_job_index(&r->row_of, r->snap)) {
		sl_map_free(&r->row_of);
		return sl_fail(err, SL_ENOMEM, "plan: out of memory while printing");
	}
	sl_json_begin_object(j);
	put_head(r, j);
	put_starts(r, j);
	put_reservations(r, j);
	put_pending(r, j);
	put_expected(r, j);
	sl_report_put_stops(r, j);
	put_actions_and_log(r, j);
	sl_json_break(j);
	sl_json_open_object(j, "check");
	sl_json_put_bool(j, "ok", !r->check->code && !f->rows);
	sl_json_put_str(j, "text", r->check->code ? r->check->text : "");
	sl_json_open_array(j, "refused");
	for (uint32_t i = 0; i < f->rows; i++) {
		sl_json_begin_object(j);
		sl_json_put_int(j, "job", f->job[i]);
		sl_json_put_str(j, "was", sl_refused_word(f->was[i]));
		sl_json_put_str(j, "text", text(r, f->text[i]));
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
	sl_json_end_object(j);
	sl_json_break(j);
	sl_json_end_object(j);
	sl_json_end_line(j);
	sl_map_free(&r->row_of);
	return sl_json_finish(j, NULL, NULL, err);
}
