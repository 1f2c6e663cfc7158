/* SPDX-License-Identifier: MIT */
/* journal.c - see journal.h */
#include "image/journal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/line_file.h"
#include "base/map.h"
#include "image/json_out.h"
#include "image/nodelist.h"
#include "image/partitions.h"
#include "image/shortage.h"

enum answer_kind { RESERVED, PENDING, STARTED, KINDS };

struct answer {			/* what a record says of a job */
	uint32_t job;
	unsigned kinds;		/* a bit for each */
	uint64_t digest[KINDS];
	uint64_t shortage;	/* digest of why nobody is stopped for it; 0: nothing is said */
	int64_t start_time;	/* of its reservation, as the file says it; 0: none */
	bool is_news;
};

struct answers {
	struct answer *answer;
	uint32_t count, room;
	struct sl_map by_job;	/* -> index of answer */
};

struct sl_journal {
	struct sl_line_file file;	/* fresh: the next record is its first */
	struct sl_json *json;
	struct answers said;	/* by the file */
	struct answers next;	/* by the record in the making */
	uint64_t figures;	/* digest of what the file last said of the cycle itself */
	uint64_t partitions;	/* ... and of partitions and their nodes */
};

/* What a record is made from. */
struct record {
	struct sl_journal *j;
	const struct sl_snapshot *snap;
	const struct sl_plan_image *plan;
	const struct sl_carried *carried;
	struct sl_error *err;
	bool news;		/* there is something to write */
	struct sl_queued *queued;
};

/* -- answers --------------------------------------------------------------- */

/* Room for so many jobs; what was there is forgotten. */
static int reset_answers(struct answers *a, uint32_t jobs)
{
	sl_map_clear(&a->by_job);
	a->count = 0;
	return sl_map_reserve(&a->by_job, jobs, NULL) || sl_grow(&a->answer, &a->room, jobs, sizeof(*a->answer), NULL) ? -1 : 0;
}

static void free_answers(struct answers *a)
{
	sl_map_free(&a->by_job);
	free(a->answer);
}

static struct answer *find_answer(const struct answers *a, uint32_t job)
{
	uint32_t at = sl_map_by_id(&a->by_job, job);

	return at == SL_MAP_NOTHING ? NULL : &a->answer[at];
}

/* Note an answer for the record in the making; there is room. */
static struct answer *note_answer(struct sl_journal *j, uint32_t job, enum answer_kind kind, uint64_t digest)
{
	struct answer *a = find_answer(&j->next, job);

	if (!a) {
		(void) sl_map_put(&j->next.by_job, sl_hash_id(job), j->next.count, NULL);
		a = &j->next.answer[j->next.count++];
		*a = (struct answer) { .job = job };
	}
	a->kinds |= 1u << kind;
	a->digest[kind] = sl_hash_number(a->digest[kind], digest);
	return a;
}

/* Numbers in a reason change all the time, and with them whether something "is" or "are", a node or nodes.  What it says
 * without them; of the letters that is enough. */
static uint64_t digest_reason(const char *text)
{
	char letters[SL_PLAN_TEXT_MAX + 1];
	size_t n = 0;

	while (*text && n < sizeof(letters)) {
		size_t length = strcspn(text, " "), at = n;

		if ((length == 2 && !memcmp(text, "is", 2)) || (length == 3 && !memcmp(text, "are", 3)))
			length += text[length] == ' ';
		else
			for (size_t i = 0; i < length && n < sizeof(letters); i++)
				if (!(text[i] >= '0' && text[i] <= '9'))
					letters[n++] = text[i];
		text += length;
		if (n > at && letters[n - 1] == 's')
			n--;
		if (*text == ' ') {
			text++;
			if (n < sizeof(letters))
				letters[n++] = ' ';
		}
	}
	return sl_hash_bytes(SL_HASH, letters, n);
}

/* An expected start is told again when it has moved by more than a minute, and by an eighth of the wait. */
static bool has_moved(int64_t said, int64_t next, int64_t now)
{
	int64_t by = said < next ? next - said : said - next, wait = said > now ? said - now : 0;

	return by > 60 && by > wait / 8;
}

/* Is what the record in the making says of a waiting job, all of it, news?  A policy asks in some cycles only for whom others might be
 * stopped: that nothing is said of it this time is no news. */
static bool is_new_answer(const struct sl_journal *j, const struct answer *next, int64_t now)
{
	const struct answer *said = find_answer(&j->said, next->job);

	return j->file.fresh || !said || (said->kinds ^ next->kinds) & ~(1u << STARTED) ||
		said->digest[RESERVED] != next->digest[RESERVED] || said->digest[PENDING] != next->digest[PENDING] ||
		(next->shortage && said->shortage != next->shortage) ||
		has_moved(said->start_time, next->start_time, now);
}

/* Of a job, all of whose answers are noted. */
static bool is_news(const struct sl_journal *j, uint32_t job)
{
	return find_answer(&j->next, job)->is_news;
}

/* -- records --------------------------------------------------------------- */

static void put_int(struct sl_json *json, const char *key, int64_t v)
{
	if (!v)
		return;
	sl_json_put_int(json, key, v);
}

static void put_text(struct sl_json *json, const char *key, const char *s)
{
	if (!s || !*s)
		return;
	sl_json_put_str(json, key, s);
}

static void put_true(struct sl_json *json, const char *key, bool v)
{
	if (!v)
		return;
	sl_json_put_bool(json, key, true);
}

static const char *plan_text(const struct record *r, uint32_t str)
{
	return sl_image_str(&r->plan->image, str);
}

static void put_partition(const struct record *r, uint32_t row)
{
	if (row < r->snap->partition.rows)
		put_text(r->j->json, "partition", sl_snapshot_str(r->snap, r->snap->partition.name[row]));
}

/* Borrowed nodes: whose, and through which partition. */
static void put_loan(const struct record *r, uint32_t start)
{
	const struct sl_plan_start_view *v = &r->plan->start;
	const struct sl_partition_view *part = &r->snap->partition;
	struct sl_json *json = r->j->json;

	if (v->through[start] >= part->rows)
		return;
	put_text(json, "through", sl_snapshot_str(r->snap, part->name[v->through[start]]));
	sl_json_open_array(json, "borrowed_from");
	for (uint32_t i = v->lenders[start].first; i < v->lenders[start].first + v->lenders[start].count; i++)
		if (r->plan->lender.partition[i] < part->rows)
			sl_json_str(json, sl_snapshot_str(r->snap, part->name[r->plan->lender.partition[i]]));
	sl_json_end_array(json);
}

static int put_places(const struct record *r, struct sl_range range)
{
	const struct sl_plan_place_view *place = &r->plan->place;
	const char **name = malloc((range.count ? range.count : 1) * sizeof(*name));
	uint32_t nodes = 0;
	uint64_t cores = 0;
	char *list;

	if (!name)
		return sl_fail(r->err, SL_ENOMEM, "journal: no memory");
	for (uint32_t i = range.first; i < range.first + range.count; i++) {
		cores += place->cores[i];
		if (place->node[i] < r->snap->node.rows)
			name[nodes++] = sl_snapshot_str(r->snap, r->snap->node.name[place->node[i]]);
	}
	list = sl_nodelist_join(name, nodes, r->err);
	free(name);
	if (!list)
		return -1;
	put_text(r->j->json, "nodes", list);
	put_int(r->j->json, "node_count", range.count);
	put_int(r->j->json, "cores", cores);
	free(list);
	return 0;
}

static void put_fate(const struct record *r, uint32_t i, const char *text_key)
{
	const struct sl_carried *c = r->carried ? &r->carried[i] : NULL;

	if (!c)
		return;
	sl_json_put_bool(r->j->json, "done", c->fate == SL_FATE_DONE);
	if (c->fate != SL_FATE_DONE)
		put_text(r->j->json, "fate", sl_fate_word(c->fate));
	put_text(r->j->json, text_key, c->text);
}

/* Begin the object of a job; the array it stands in begins with its first. */
static void begin_job(const struct record *r, const char *array, bool *begun, uint32_t job)
{
	if (!*begun) {
		sl_json_open_array(r->j->json, array);
		*begun = true;
	}
	sl_json_begin_object(r->j->json);
	sl_json_put_int(r->j->json, "job", job);
}

static void end_jobs(struct record *r, bool begun)
{
	if (!begun)
		return;
	sl_json_end_array(r->j->json);
	r->news = true;
}

static int put_started(struct record *r)
{
	const struct sl_plan_start_view *start = &r->plan->start;
	struct sl_json *json = r->j->json;
	bool begun = false;

	for (uint32_t i = 0; i < start->rows; i++) {
		begin_job(r, "started", &begun, start->job[i]);
		put_partition(r, start->partition[i]);
		if (put_places(r, start->places[i]) < 0)
			return -1;
		put_int(json, "time_limit", start->time_limit[i]);
		put_true(json, "native", start->native[i]);
		put_int(json, "shape", start->shape[i]);
		put_text(json, "by", plan_text(r, start->by[i]));
		put_text(json, "note", sl_queued_note(r->queued, start->job[i]));
		put_text(json, "beyond", sl_queued_beyond(r->queued, start->job[i]));
		put_loan(r, i);
		put_text(json, "because", plan_text(r, start->because[i]));
		put_fate(r, i, "text");
		sl_json_end_object(json);
	}
	end_jobs(r, begun);
	return 0;
}

/* Why nobody is stopped for jobs that wait. */
static void note_shortages(const struct record *r)
{
	for (uint32_t i = 0; i < r->plan->shortage.rows; i++) {
		struct answer *a = find_answer(&r->j->next, r->plan->shortage.job[i]);

		if (a)
			a->shortage = sl_shortage_digest(r->snap, r->plan, i);
	}
}

/* Note what the plan says of every job, before anything is written. */
static void note_answers(const struct record *r)
{
	const struct sl_plan_reserve_view *reserve = &r->plan->reserve;
	const struct sl_plan_pending_view *pending = &r->plan->pending;

	for (uint32_t i = 0; i < r->plan->start.rows; i++)
		note_answer(r->j, r->plan->start.job[i], STARTED, 0);
	for (uint32_t i = 0; i < reserve->rows; i++) {
		/* which nodes it is expected to have is another matter in each cycle */
		uint64_t digest = sl_hash_number(sl_hash_text(SL_HASH, plan_text(r, reserve->by[i])), reserve->partition[i]);
		struct answer *a = note_answer(r->j, reserve->job[i], RESERVED, digest);

		a->start_time = reserve->start_time[i];
	}
	for (uint32_t i = 0; i < pending->rows; i++) {
		uint64_t digest = digest_reason(plan_text(r, pending->text[i]));

		digest = sl_hash_number(sl_hash_text(digest, plan_text(r, pending->by[i])), pending->why[i]);
		digest = sl_hash_text(digest, sl_queued_note(r->queued, pending->job[i]));
		digest = sl_hash_text(digest, sl_queued_beyond(r->queued, pending->job[i]));
		digest = sl_hash_text(digest, sl_queued_in(r->queued, pending->job[i]));
		note_answer(r->j, pending->job[i], PENDING, digest);
	}
	note_shortages(r);
	for (uint32_t i = 0; i < r->j->next.count; i++) {
		struct answer *a = &r->j->next.answer[i];
		const struct answer *said = find_answer(&r->j->said, a->job);

		a->is_news = is_new_answer(r->j, a, r->plan->meta.now[0]);
		if (!a->is_news) {	/* what is not written is not said */
			a->start_time = said->start_time;
			a->shortage = said->shortage;
		}
	}
}

static int put_reserved(struct record *r)
{
	const struct sl_plan_reserve_view *reserve = &r->plan->reserve;
	bool begun = false;

	for (uint32_t i = 0; i < reserve->rows; i++) {
		if (!is_news(r->j, reserve->job[i]))
			continue;
		begin_job(r, "reserved", &begun, reserve->job[i]);
		put_int(r->j->json, "start_time", reserve->start_time[i]);
		put_partition(r, reserve->partition[i]);
		if (put_places(r, reserve->places[i]) < 0)
			return -1;
		put_text(r->j->json, "by", plan_text(r, reserve->by[i]));
		sl_json_end_object(r->j->json);
	}
	end_jobs(r, begun);
	return 0;
}

static void put_pending(struct record *r)
{
	const struct sl_plan_pending_view *pending = &r->plan->pending;
	bool begun = false;

	for (uint32_t i = 0; i < pending->rows; i++) {
		if (!is_news(r->j, pending->job[i]))
			continue;
		begin_job(r, "pending", &begun, pending->job[i]);
		put_text(r->j->json, "why", sl_why_word(pending->why[i]));
		put_text(r->j->json, "text", plan_text(r, pending->text[i]));
		put_text(r->j->json, "by", plan_text(r, pending->by[i]));
		put_text(r->j->json, "partition", sl_queued_in(r->queued, pending->job[i]));
		put_text(r->j->json, "note", sl_queued_note(r->queued, pending->job[i]));
		put_text(r->j->json, "beyond", sl_queued_beyond(r->queued, pending->job[i]));
		sl_json_end_object(r->j->json);
	}
	end_jobs(r, begun);
}

/* Rows that the checker refused, of jobs of which there is something new to say. */
static int put_refused(struct record *r)
{
	const struct sl_plan_refused_view *v = &r->plan->refused;
	bool begun = false;

	for (uint32_t i = 0; i < v->rows && i < SL_PLAN_REFUSED_MAX; i++) {
		if (!find_answer(&r->j->next, v->job[i]) || !is_news(r->j, v->job[i]))
			continue;
		begin_job(r, "refused", &begun, v->job[i]);
		put_text(r->j->json, "was", sl_refused_word(v->was[i]));
		put_int(r->j->json, "start_time", v->start_time[i]);
		put_partition(r, v->partition[i]);
		if (put_places(r, v->places[i]) < 0)
			return -1;
		put_text(r->j->json, "text", plan_text(r, v->text[i]));
		put_text(r->j->json, "by", plan_text(r, v->by[i]));
		sl_json_end_object(r->j->json);
	}
	end_jobs(r, begun);
	return 0;
}

/* Why nobody is stopped for jobs of which there is something new to say. */
static void put_shortages(struct record *r)
{
	const struct sl_plan_shortage_view *v = &r->plan->shortage;
	struct sl_json *json = r->j->json;
	char text[SL_SHORTAGE_TEXT];
	bool begun = false;
	uint32_t *jobs;

	if (!v->rows || sl_shortage_jobs(r->snap, r->plan, &jobs, NULL) < 0)
		return;
	for (uint32_t i = 0; i < v->rows; i++) {
		if (!find_answer(&r->j->next, v->job[i]) || !is_news(r->j, v->job[i]))
			continue;
		begin_job(r, "shortages", &begun, v->job[i]);
		put_text(json, "what", sl_short_word(v->what[i]));
		sl_json_put_int(json, "needs", v->needs[i]);
		sl_json_put_int(json, "has", v->has[i]);
		put_int(json, "spared", v->spared[i].count);
		put_text(json, "text", sl_shortage_text(r->snap, r->plan, i, jobs[i], text, sizeof(text)));
		put_text(json, "by", plan_text(r, v->by[i]));
		sl_json_end_object(json);
	}
	free(jobs);
	end_jobs(r, begun);
}

static void put_actions(struct record *r)
{
	const struct sl_plan_action_view *action = &r->plan->action;
	bool begun = false;

	for (uint32_t i = 0; i < action->rows; i++) {
		begin_job(r, "actions", &begun, action->job[i]);
		put_text(r->j->json, "verb", sl_action_word(action->verb[i]));
		put_int(r->j->json, "number", action->number[i]);
		put_text(r->j->json, "text", plan_text(r, action->text[i]));
		put_text(r->j->json, "by", plan_text(r, action->by[i]));
		put_fate(r, r->plan->start.rows + i, "why");
		sl_json_end_object(r->j->json);
	}
	end_jobs(r, begun);
}

/* -- jobs that are stopped for others ------------------------------------------ */

static bool has_stops(const struct sl_plan_stop_view *stop, uint32_t preemptor)
{
	for (uint32_t i = 0; i < stop->rows; i++)
		if (stop->preemptor[i] == preemptor)
			return true;
	return false;
}

/* A place that is only held for longer is no news. */
static void put_held(struct record *r)
{
	const struct sl_plan_hold_view *hold = &r->plan->hold;
	struct sl_json *json = r->j->json;
	bool begun = false;

	for (uint32_t i = 0; i < hold->rows; i++) {
		if (!hold->release[i] && !has_stops(&r->plan->stop, hold->job[i]))
			continue;
		begin_job(r, "held", &begun, hold->job[i]);
		put_true(json, "release", hold->release[i]);
		if (!hold->release[i]) {
			put_int(json, "until", hold->until[i]);
			put_text(json, "verdict", sl_verdict_word(hold->verdict[i]));
			sl_json_put_real(json, "cost", hold->cost[i]);
			sl_json_put_real(json, "bound", hold->bound[i]);
		}
		put_text(json, "because", plan_text(r, hold->because[i]));
		put_text(json, "by", plan_text(r, hold->by[i]));
		sl_json_end_object(json);
	}
	end_jobs(r, begun);
}

static void put_stopped(struct record *r)
{
	const struct sl_plan_stop_view *stop = &r->plan->stop;
	uint32_t first = r->plan->start.rows + r->plan->action.rows;
	struct sl_json *json = r->j->json;
	bool begun = false;

	for (uint32_t i = 0; i < stop->rows; i++) {
		begin_job(r, "stopped", &begun, stop->job[i]);
		sl_json_put_int(json, "preemptor", stop->preemptor[i]);
		put_int(json, "group", stop->group[i]);
		sl_json_put_real(json, "cost", stop->cost[i]);
		if (stop->mode[i] != SL_STOP_NONE)
			put_text(json, "mode", sl_stop_mode_word(stop->mode[i]));
		if (stop->moves[i])
			sl_json_put_bool(json, "moves", true);
		put_text(json, "by", plan_text(r, stop->by[i]));
		put_fate(r, first + i, "text");
		sl_json_end_object(json);
	}
	end_jobs(r, begun);
}

/* The jobs that waited, and now neither wait nor start: they have left the queue. */
static void put_gone(struct record *r)
{
	const struct answers *said = &r->j->said;
	bool begun = false;

	for (uint32_t i = 0; i < said->count; i++) {
		const struct answer *a = &said->answer[i];

		if (a->kinds == 1u << STARTED || find_answer(&r->j->next, a->job))
			continue;
		begin_job(r, "gone", &begun, a->job);
		sl_json_end_object(r->j->json);
	}
	end_jobs(r, begun);
}

/* Which nodes partitions have: in the first line of a file, and when that changes. */
static int put_partitions(struct record *r, uint64_t digest)
{
	if (r->j->file.fresh ? !r->snap->run.rows : digest == r->j->partitions)
		return 0;	/* nothing new, or no partition has nodes */
	r->news = true;
	sl_json_key(r->j->json, "partitions");
	return sl_partitions_put(r->j->json, r->snap, r->err);
}

/* The text of a record, one line; *size 0 when there is nothing to say. */
static int compose_line(struct record *r, uint64_t figures, uint64_t partitions, const char **text, size_t *size)
{
	const struct sl_plan_meta_view *meta = &r->plan->meta;
	uint64_t jobs = (uint64_t) r->plan->start.rows + r->plan->reserve.rows + r->plan->pending.rows;
	struct sl_journal *j = r->j;

	if (jobs > SL_IMAGE_MAX_ROWS || reset_answers(&j->next, (uint32_t) jobs) < 0)
		return sl_fail(r->err, SL_ENOMEM, "journal: no memory");
	note_answers(r);
	r->news = j->file.fresh || figures != j->figures;
	sl_json_reset(j->json);
	sl_json_begin_object(j->json);
	sl_json_put_int(j->json, "sequence", meta->sequence[0]);
	sl_json_put_int(j->json, "now", meta->now[0]);
	put_text(j->json, "policy", plan_text(r, meta->policy[0]));
	put_int(j->json, "examined", meta->examined[0]);
	put_true(j->json, "truncated", meta->truncated[0]);
	put_text(j->json, "error", plan_text(r, meta->error[0]));
	put_int(j->json, "decide_us", meta->decide_us[0]);
	put_int(j->json, "total_us", meta->total_us[0]);
	put_true(j->json, "full", j->file.fresh);
	if (put_partitions(r, partitions) < 0 || put_started(r) < 0 || put_reserved(r) < 0)
		return -1;
	put_pending(r);
	if (put_refused(r) < 0)
		return -1;
	put_shortages(r);
	put_actions(r);
	put_held(r);
	put_stopped(r);
	put_gone(r);
	sl_json_end_object(j->json);
	sl_json_end_line(j->json);
	if (sl_json_finish(j->json, text, size, r->err) < 0)
		return -1;
	if (!r->news)
		*size = 0;
	return 0;
}

/* -- the file -------------------------------------------------------------- */

static struct sl_journal *open_journal(const char *dir, bool published, struct sl_error *err)
{
	struct sl_journal *j = calloc(1, sizeof(*j));

	if (!j) {
		sl_fail(err, SL_ENOMEM, "journal: no memory");
		return NULL;
	}
	if (sl_line_file_open(&j->file, dir, SL_JOURNAL, published, err) || !(j->json = sl_json_create(NULL, err))) {
		sl_journal_close(j);
		return NULL;
	}
	return j;
}

struct sl_journal *sl_journal_open(const char *dir, struct sl_error *err)
{
	return open_journal(dir, false, err);
}

struct sl_journal *sl_journal_publish(const char *dir, struct sl_error *err)
{
	return open_journal(dir, true, err);
}

int sl_journal_remove(const char *dir, struct sl_error *err)
{
	return sl_line_file_remove(dir, SL_JOURNAL, err);
}

int sl_journal_read(const char *dir, int (*visit)(const char *line, size_t length, void *arg), void *arg,
		    struct sl_error *err)
{
	int rc = sl_line_file_read(dir, SL_JOURNAL, visit, arg, err);

	if (rc && err->code == SL_ENOENT)
		return sl_fail(err, SL_ENOENT, "%s/" SL_JOURNAL ": no journal there; the plug-in begins it with its first cycle",
			       dir);
	return rc;
}

void sl_journal_close(struct sl_journal *j)
{
	if (!j)
		return;
	sl_line_file_close(&j->file);
	sl_json_destroy(j->json);
	free_answers(&j->said);
	free_answers(&j->next);
	free(j);
}

void sl_journal_set_size(struct sl_journal *j, size_t size)
{
	j->file.limit = size;
}

/* -- a cycle --------------------------------------------------------------- */

static uint64_t digest_figures(const struct sl_plan_image *plan)
{
	uint64_t digest = sl_hash_text(SL_HASH, sl_image_str(&plan->image, plan->meta.policy[0]));

	digest = sl_hash_text(digest, sl_image_str(&plan->image, plan->meta.error[0]));
	return sl_hash_number(digest, plan->meta.truncated[0]);
}

/* With the lock held. */
static int write_record(struct record *r, uint64_t figures)
{
	const uint64_t partitions = sl_partitions_digest(r->snap);
	struct sl_journal *j = r->j;
	struct answers swap;
	const char *text;
	size_t size;
	int room;

	if (compose_line(r, figures, partitions, &text, &size) < 0)
		return -1;
	if (!size)
		return 0;
	/* A file is read by itself: its first line says everything. */
	if ((room = sl_line_file_room(&j->file, size, r->err)) < 0 ||
	    (!room && compose_line(r, figures, partitions, &text, &size) < 0) ||
	    sl_line_file_append(&j->file, text, size, r->err) < 0)
		return -1;
	swap = j->said;
	j->said = j->next;
	j->next = swap;
	j->figures = figures;
	j->partitions = partitions;
	return 0;
}

int sl_journal_write(struct sl_journal *j, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		     const struct sl_carried *carried, struct sl_error *err)
{
	struct record r = { .j = j, .snap = snap, .plan = plan, .carried = carried, .err = err };
	int rc;

	if (sl_line_file_lock(&j->file, err) < 0)
		return -1;
	r.queued = sl_queued_create(snap, err);
	rc = r.queued ? write_record(&r, digest_figures(plan)) : -1;
	sl_queued_destroy(r.queued);
	sl_line_file_unlock(&j->file);
	return rc;
}
