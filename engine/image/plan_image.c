/* SPDX-License-Identifier: MIT */
/*
 * plan_image.c - the schema of plans, and what the schema cannot say.
 */
#include "image/plan_image.h"

#include <inttypes.h>
#include <string.h>

#define META(...) SL_COLUMN(plan_meta, __VA_ARGS__)
#define START(...) SL_COLUMN(plan_start, __VA_ARGS__)
#define PLACE(...) SL_COLUMN(plan_place, __VA_ARGS__)
#define PLACE_GRES(...) SL_COLUMN(plan_place_gres, __VA_ARGS__)
#define RESERVE(...) SL_COLUMN(plan_reserve, __VA_ARGS__)
#define PENDING(...) SL_COLUMN(plan_pending, __VA_ARGS__)
#define ACTION(...) SL_COLUMN(plan_action, __VA_ARGS__)
#define LOG(...) SL_COLUMN(plan_log, __VA_ARGS__)
#define LENDER(...) SL_COLUMN(plan_lender, __VA_ARGS__)
#define PREEMPT(...) SL_COLUMN(plan_preempt, __VA_ARGS__)
#define FORECAST(...) SL_COLUMN(plan_forecast, __VA_ARGS__)
#define REFUSED(...) SL_COLUMN(plan_refused, __VA_ARGS__)
#define HOLD(...) SL_COLUMN(plan_hold, __VA_ARGS__)
#define STOP(...) SL_COLUMN(plan_stop, __VA_ARGS__)
#define BLOCK(...) SL_COLUMN(plan_block, __VA_ARGS__)
#define NODE_RUN(...) SL_COLUMN(plan_node_run, __VA_ARGS__)
#define SHORTAGE(...) SL_COLUMN(plan_shortage, __VA_ARGS__)
#define SHORT(...) SL_COLUMN(plan_short, __VA_ARGS__)
#define SPARED(...) SL_COLUMN(plan_spared, __VA_ARGS__)
#define REMEMBERED(...) SL_COLUMN(remembered, __VA_ARGS__)
#define HISTORY(...) SL_COLUMN(history, __VA_ARGS__)

static const struct sl_column plan_meta_columns[] = { SL_PLAN_META_COLUMNS(META) };
static const struct sl_column plan_start_columns[] = { SL_PLAN_START_COLUMNS(START) };
static const struct sl_column plan_place_columns[] = { SL_PLAN_PLACE_COLUMNS(PLACE) };
static const struct sl_column plan_place_gres_columns[] = { SL_PLAN_PLACE_GRES_COLUMNS(PLACE_GRES) };
static const struct sl_column plan_reserve_columns[] = { SL_PLAN_RESERVE_COLUMNS(RESERVE) };
static const struct sl_column plan_pending_columns[] = { SL_PLAN_PENDING_COLUMNS(PENDING) };
static const struct sl_column plan_action_columns[] = { SL_PLAN_ACTION_COLUMNS(ACTION) };
static const struct sl_column plan_log_columns[] = { SL_PLAN_LOG_COLUMNS(LOG) };
static const struct sl_column plan_lender_columns[] = { SL_PLAN_LENDER_COLUMNS(LENDER) };
static const struct sl_column plan_preempt_columns[] = { SL_PLAN_PREEMPT_COLUMNS(PREEMPT) };
static const struct sl_column plan_forecast_columns[] = { SL_PLAN_FORECAST_COLUMNS(FORECAST) };
static const struct sl_column plan_refused_columns[] = { SL_PLAN_REFUSED_COLUMNS(REFUSED) };
static const struct sl_column plan_hold_columns[] = { SL_PLAN_HOLD_COLUMNS(HOLD) };
static const struct sl_column plan_stop_columns[] = { SL_PLAN_STOP_COLUMNS(STOP) };
static const struct sl_column plan_block_columns[] = { SL_PLAN_BLOCK_COLUMNS(BLOCK) };
static const struct sl_column plan_node_run_columns[] = { SL_PLAN_NODE_RUN_COLUMNS(NODE_RUN) };
static const struct sl_column plan_shortage_columns[] = { SL_PLAN_SHORTAGE_COLUMNS(SHORTAGE) };
static const struct sl_column plan_short_columns[] = { SL_PLAN_SHORT_COLUMNS(SHORT) };
static const struct sl_column plan_spared_columns[] = { SL_PLAN_SPARED_COLUMNS(SPARED) };
static const struct sl_column remembered_columns[] = { SL_REMEMBERED_COLUMNS(REMEMBERED) };
static const struct sl_column history_columns[] = { SL_HISTORY_COLUMNS(HISTORY) };

#define TABLE(n, ...) { .name = #n, SL_COLUMNS_OF(plan_##n), .view_offset = offsetof(struct sl_plan_image, n), \
	.key = -1, __VA_ARGS__ }

static const struct sl_table tables[SL_PLAN_TABLES] = {
	[SL_P_META] = TABLE(meta, .plural = "meta", .single = true),
	[SL_P_START] = TABLE(start, .plural = "starts"),
	[SL_P_PLACE] = TABLE(place, .plural = "places", .nested = true),
	[SL_P_PLACE_GRES] = TABLE(place_gres, .plural = "place_gres", .nested = true),
	[SL_P_RESERVE] = TABLE(reserve, .plural = "reservations"),
	[SL_P_PENDING] = TABLE(pending, .plural = "pending"),
	[SL_P_ACTION] = TABLE(action, .plural = "actions"),
	[SL_P_LOG] = TABLE(log, .plural = "log"),
	[SL_P_LENDER] = TABLE(lender, .plural = "lenders", .nested = true),
	[SL_P_PREEMPT] = TABLE(preempt, .plural = "preempting"),
	[SL_P_FORECAST] = TABLE(forecast, .plural = "forecasts"),
	[SL_P_REMEMBERED] = { .name = "remembered", SL_COLUMNS_OF(remembered), .plural = "remembered", .key = -1,
		.view_offset = offsetof(struct sl_plan_image, remembered) },
	[SL_P_HISTORY] = { .name = "history", SL_COLUMNS_OF(history), .plural = "history", .key = -1,
		.view_offset = offsetof(struct sl_plan_image, history) },
	[SL_P_REFUSED] = TABLE(refused, .plural = "refused"),
	[SL_P_HOLD] = TABLE(hold, .plural = "holds"),
	[SL_P_STOP] = TABLE(stop, .plural = "stops"),
	[SL_P_BLOCK] = TABLE(block, .plural = "blocks"),
	[SL_P_NODE_RUN] = TABLE(node_run, .plural = "node_runs", .nested = true),
	[SL_P_SHORTAGE] = TABLE(shortage, .plural = "shortages"),
	[SL_P_SHORT] = { .name = "short", SL_COLUMNS_OF(plan_short), .plural = "shorts", .key = -1, .nested = true,
		.view_offset = offsetof(struct sl_plan_image, short_) },
	[SL_P_SPARED] = TABLE(spared, .plural = "spared", .nested = true),
};

static const struct sl_word whys[SL_WHYS] = {
	{ SL_WHY_NONE, "none" }, { SL_WHY_RESOURCES, "resources" }, { SL_WHY_PRIORITY, "priority" },
	{ SL_WHY_NEVER, "never" }, { SL_WHY_NODES_DOWN, "nodes_down" }, { SL_WHY_RESERVATION, "reservation" },
	{ SL_WHY_LICENSES, "licenses" }, { SL_WHY_POLICY, "policy" }, { SL_WHY_DEADLINE, "deadline" },
	{ SL_WHY_NOT_MODELLED, "not_modelled" }, { SL_WHY_WINDOW, "window" }, { SL_WHY_BUDGET, "budget" },
	{ SL_WHY_BEGIN, "begin_time" }, { SL_WHY_ARRAY, "array_limit" }, { SL_WHY_PARTITION, "partition" },
	{ SL_WHY_RESERVED, "reserved" }, { SL_WHY_CHECK, "check" }, { SL_WHY_COST, "cost" },
};
static const struct sl_word actions[SL_ACTIONS] = {
	{ SL_ACTION_CANCEL, "cancel" }, { SL_ACTION_REQUEUE, "requeue" }, { SL_ACTION_SUSPEND, "suspend" },
	{ SL_ACTION_RESUME, "resume" }, { SL_ACTION_SIGNAL, "signal" }, { SL_ACTION_PRIORITY, "priority" },
	{ SL_ACTION_TIME_LIMIT, "time_limit" }, { SL_ACTION_PARTITION, "partition" }, { SL_ACTION_NOTIFY, "notify" },
};
static const struct sl_word refused[SL_REFUSEDS] = {
	{ SL_REFUSED_START, "start" }, { SL_REFUSED_RESERVATION, "reservation" }, { SL_REFUSED_ACTION, "action" },
	{ SL_REFUSED_REASON, "reason" }, { SL_REFUSED_SHORTAGE, "shortage" },
};
static const struct sl_word verdicts[SL_VERDICTS] = {
	{ SL_VERDICT_NONE, "none" }, { SL_VERDICT_OPTIMAL, "optimal" }, { SL_VERDICT_FOUND, "found" },
	{ SL_VERDICT_IMPOSSIBLE, "impossible" }, { SL_VERDICT_UNPROVEN, "unproven" },
};
static const struct sl_word shorts[SL_SHORTS] = {
	{ SL_SHORT_NODES, "nodes" }, { SL_SHORT_CORES, "cores" }, { SL_SHORT_MEMORY, "memory" }, { SL_SHORT_GRES, "gres" },
	{ SL_SHORT_LICENSE, "license" },
};
static const struct sl_word modes[SL_STOP_MODES] = {
	{ SL_STOP_NONE, "none" }, { SL_STOP_CANCEL, "cancel" }, { SL_STOP_REQUEUE, "requeue" },
	{ SL_STOP_SUSPEND, "suspend" }, { SL_STOP_EXPEDITE, "expedite" },
};
static const struct sl_word levels[] = { { 0, "error" }, { 1, "info" }, { 2, "debug" } };

static const struct sl_words words[] = {
	{ SL_P_PENDING, offsetof(struct sl_plan_pending_row, why), false, whys, SL_WHYS },
	{ SL_P_ACTION, offsetof(struct sl_plan_action_row, verb), false, actions, SL_ACTIONS },
	{ SL_P_LOG, offsetof(struct sl_plan_log_row, level), false, levels, 3 },
	{ SL_P_REFUSED, offsetof(struct sl_plan_refused_row, was), false, refused, SL_REFUSEDS },
	{ SL_P_HOLD, offsetof(struct sl_plan_hold_row, verdict), false, verdicts, SL_VERDICTS },
	{ SL_P_STOP, offsetof(struct sl_plan_stop_row, mode), false, modes, SL_STOP_MODES },
	{ SL_P_SHORTAGE, offsetof(struct sl_plan_shortage_row, what), false, shorts, SL_SHORTS },
	{ SL_P_SHORT, offsetof(struct sl_plan_short_row, what), false, shorts, SL_SHORTS },
};

const struct sl_schema sl_plan_schema = {
	.name = "plan", .magic = 0x4c504c53 /* "SLPL" */, .version = 1,
	.tables = SL_PLAN_TABLES, .table = tables,
	.words = sizeof(words) / sizeof(words[0]), .word = words,
};

const char *sl_why_word(uint32_t why)
{
	return why < SL_WHYS ? whys[why].word : "unknown";
}

uint32_t sl_why_of(const char *word)
{
	uint32_t why = 0;

	while (why < SL_WHYS && strcmp(whys[why].word, word))
		why++;
	return why;
}

bool sl_why_shows_text(uint32_t why)
{
	static const bool shows[SL_WHYS] = {
		[SL_WHY_NEVER] = true, [SL_WHY_NODES_DOWN] = true, [SL_WHY_POLICY] = true, [SL_WHY_DEADLINE] = true,
		[SL_WHY_NOT_MODELLED] = true, [SL_WHY_PARTITION] = true, [SL_WHY_RESERVED] = true, [SL_WHY_CHECK] = true,
		[SL_WHY_COST] = true,
	};

	return why < SL_WHYS && shows[why];
}

const char *sl_action_word(uint32_t verb)
{
	return verb < SL_ACTIONS ? actions[verb].word : "unknown";
}

const char *sl_refused_word(uint32_t was)
{
	return was < SL_REFUSEDS ? refused[was].word : "unknown";
}

const char *sl_verdict_word(uint32_t verdict)
{
	return verdict < SL_VERDICTS ? verdicts[verdict].word : "unknown";
}

const char *sl_short_word(uint32_t what)
{
	return what < SL_SHORTS ? shorts[what].word : "unknown";
}

const char *sl_fate_word(uint32_t fate)
{
	static const char *const word[SL_FATES] = {
		[SL_FATE_DONE] = "done", [SL_FATE_CHANGED] = "changed", [SL_FATE_UNFIT] = "unfit",
		[SL_FATE_PLACES] = "places", [SL_FATE_SHAPE] = "shape", [SL_FATE_LOAN] = "loan",
		[SL_FATE_SELECT] = "select", [SL_FATE_LIMIT] = "limit", [SL_FATE_ACTION] = "action",
		[SL_FATE_SHADOW] = "shadow",
		[SL_FATE_STOPPED] = "stopped",
	};

	return fate < SL_FATES ? word[fate] : "unknown";
}

/* -- what the schema cannot say ----------------------------------------- */

/* No text may be longer than what a log line or a job's reason can take. */
static int check_text(const struct sl_plan_image *p, const char *column, const uint32_t *str, uint32_t rows,
		      struct sl_error *err)
{
	for (uint32_t r = 0; r < rows; r++)
		if (strnlen(sl_image_str(&p->image, str[r]), SL_PLAN_TEXT_MAX + 1) > SL_PLAN_TEXT_MAX)
			return sl_fail(err, SL_ELIMIT, "plan: %s of row %" PRIu32 " is longer than %d bytes",
				       column, r, SL_PLAN_TEXT_MAX);
	return 0;
}

static int check_texts(const struct sl_plan_image *p, struct sl_error *err)
{
	if (check_text(p, "meta.policy", p->meta.policy, p->meta.rows, err) < 0 ||
	    check_text(p, "meta.error", p->meta.error, p->meta.rows, err) < 0 ||
	    check_text(p, "start.by", p->start.by, p->start.rows, err) < 0 ||
	    check_text(p, "start.because", p->start.because, p->start.rows, err) < 0 ||
	    check_text(p, "reserve.by", p->reserve.by, p->reserve.rows, err) < 0 ||
	    check_text(p, "pending.text", p->pending.text, p->pending.rows, err) < 0 ||
	    check_text(p, "pending.by", p->pending.by, p->pending.rows, err) < 0 ||
	    check_text(p, "action.text", p->action.text, p->action.rows, err) < 0 ||
	    check_text(p, "action.by", p->action.by, p->action.rows, err) < 0 ||
	    check_text(p, "refused.text", p->refused.text, p->refused.rows, err) < 0 ||
	    check_text(p, "refused.by", p->refused.by, p->refused.rows, err) < 0 ||
	    check_text(p, "hold.because", p->hold.because, p->hold.rows, err) < 0 ||
	    check_text(p, "hold.by", p->hold.by, p->hold.rows, err) < 0 ||
	    check_text(p, "stop.by", p->stop.by, p->stop.rows, err) < 0 ||
	    check_text(p, "shortage.by", p->shortage.by, p->shortage.rows, err) < 0 ||
	    check_text(p, "log.text", p->log.text, p->log.rows, err) < 0)
		return -1;
	return 0;
}

static int check_flag(const char *table, const char *column, const uint32_t *flag, uint32_t rows, struct sl_error *err)
{
	for (uint32_t r = 0; r < rows; r++)
		if (flag[r] > 1)
			return sl_fail(err, SL_EFORMAT, "plan: %s[%" PRIu32 "].%s is %" PRIu32 ", expected 0 or 1", table, r,
				       column, flag[r]);
	return 0;
}

/* No two jobs may share rows of places: so the size of the image bounds the time that it takes to
 * carry a plan out, which is slurmctld's time. */
static int check_sharing(const struct sl_plan_image *p, struct sl_error *err)
{
	uint64_t places = 0, gres = 0, lenders = 0, runs = 0;

	for (uint32_t r = 0; r < p->start.rows; r++) {
		places += p->start.places[r].count;
		lenders += p->start.lenders[r].count;
	}
	for (uint32_t r = 0; r < p->reserve.rows; r++) {
		places += p->reserve.places[r].count;
		lenders += p->reserve.lenders[r].count;
	}
	for (uint32_t r = 0; r < p->forecast.rows; r++)
		places += p->forecast.places[r].count;
	for (uint32_t r = 0; r < p->refused.rows; r++) {
		places += p->refused.places[r].count;
		lenders += p->refused.lenders[r].count;
	}
	if (lenders > p->lender.rows)
		return sl_fail(err, SL_EFORMAT, "plan: starts and reservations share rows of lender");
	if (places > p->place.rows)
		return sl_fail(err, SL_EFORMAT, "plan: starts and reservations share rows of place");
	for (uint32_t r = 0; r < p->place.rows; r++)
		gres += p->place.gres[r].count;
	if (gres > p->place_gres.rows)
		return sl_fail(err, SL_EFORMAT, "plan: places share rows of place_gres");
	for (uint32_t r = 0; r < p->block.rows; r++)
		runs += p->block.nodes[r].count;
	if (runs > p->node_run.rows)
		return sl_fail(err, SL_EFORMAT, "plan: blocks share rows of node_run");
	return 0;
}

/* The same of shortages: the size of the image bounds the time that it takes to check them. */
static int check_shortages(const struct sl_plan_image *p, struct sl_error *err)
{
	uint64_t nodes = 0, spared = 0;

	if (p->shortage.rows > SL_PLAN_SHORTAGES_MAX || p->spared.rows > SL_PLAN_SPARED_MAX)
		return sl_fail(err, SL_ELIMIT, "plan: %" PRIu32 " shortages that spare %" PRIu32 " jobs, expected at most %d and %d",
			       p->shortage.rows, p->spared.rows, SL_PLAN_SHORTAGES_MAX, SL_PLAN_SPARED_MAX);
	for (uint32_t r = 0; r < p->shortage.rows; r++) {
		nodes += p->shortage.shorts[r].count;
		spared += p->shortage.spared[r].count;
	}
	if (nodes > p->short_.rows || spared > p->spared.rows)
		return sl_fail(err, SL_EFORMAT, "plan: shortages share rows of %s", nodes > p->short_.rows ? "short" : "spared");
	return 0;
}

int sl_plan_image_open(struct sl_plan_image *plan, const void *bytes, size_t size, struct sl_error *err)
{
	struct sl_plan_image p;

	if (sl_image_open(&p.image, &p, &sl_plan_schema, bytes, size, err) < 0)
		return -1;
	if (p.meta.truncated[0] > 1)
		return sl_fail(err, SL_EFORMAT, "plan: meta.truncated is %" PRIu32 ", expected 0 or 1",
			       p.meta.truncated[0]);
	if (check_flag("start", "native", p.start.native, p.start.rows, err) < 0 ||
	    check_flag("start", "dealt", p.start.dealt, p.start.rows, err) < 0 ||
	    check_flag("reserve", "native", p.reserve.native, p.reserve.rows, err) < 0 ||
	    check_flag("hold", "release", p.hold.release, p.hold.rows, err) < 0)
		return -1;
	if (check_sharing(&p, err) < 0 || check_shortages(&p, err) < 0 || check_texts(&p, err) < 0 ||
	    sl_remembered_check(&p.image, &p.remembered, err) < 0)
		return -1;
	*plan = p;
	return 0;
}
