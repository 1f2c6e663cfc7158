/* SPDX-License-Identifier: MIT */
/*
 * journal.c - writing the decision journal.  Reading it is journal_read.c.
 */
#include "image/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/map.h"
#include "image/json_out.h"
#include "image/nodelist.h"
#include "image/partitions.h"

enum answer_kind { RESERVED, PENDING, STARTED, KINDS };

struct answer {			/* what a record says of a job */
	uint32_t job;
	unsigned kinds;		/* a bit for each */
	uint64_t digest[KINDS];
};

struct answers {
	struct answer *answer;
	uint32_t count, room;
	struct sl_map by_job;	/* -> index of answer */
};

struct sl_journal {
	char path[PATH_MAX];
	size_t limit;
	int fd;
	struct sl_json *json;
	struct answers said;	/* by the file */
	struct answers next;	/* by the record in the making */
	uint64_t figures;	/* digest of what the file last said of the cycle itself */
	uint64_t partitions;	/* ... and of partitions and their nodes */
	bool full;		/* the next record is the first of its file */
	bool published;		/* everybody may read it */
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
static void note_answer(struct sl_journal *j, uint32_t job, enum answer_kind kind, uint64_t digest)
{
	struct answer *a = find_answer(&j->next, job);

	if (!a) {
		(void) sl_map_put(&j->next.by_job, sl_hash_id(job), j->next.count, NULL);
		a = &j->next.answer[j->next.count++];
		*a = (struct answer) { .job = job };
	}
	a->kinds |= 1u << kind;
	a->digest[kind] = sl_hash_number(a->digest[kind], digest);
}

/* Is what the record in the making says of a waiting job, all of it, news? */
static bool is_news(const struct sl_journal *j, uint32_t job)
{
	const struct answer *said = find_answer(&j->said, job), *next = find_answer(&j->next, job);

	return j->full || !said || (said->kinds ^ next->kinds) & ~(1u << STARTED) ||
		said->digest[RESERVED] != next->digest[RESERVED] || said->digest[PENDING] != next->digest[PENDING];
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
		put_loan(r, i);
		put_text(json, "because", plan_text(r, start->because[i]));
		put_fate(r, i, "text");
		sl_json_end_object(json);
	}
	end_jobs(r, begun);
	return 0;
}

/* Note what the plan says of every job, before anything is written. */
static void note_answers(const struct record *r)
{
	const struct sl_plan_reserve_view *reserve = &r->plan->reserve;
	const struct sl_plan_pending_view *pending = &r->plan->pending;

	for (uint32_t i = 0; i < r->plan->start.rows; i++)
		note_answer(r->j, r->plan->start.job[i], STARTED, 0);
	for (uint32_t i = 0; i < reserve->rows; i++) {
		struct sl_range p = reserve->places[i];
		uint64_t digest = sl_hash_text(reserve->start_time[i], plan_text(r, reserve->by[i]));

		digest = sl_hash_number(digest, reserve->partition[i]);
		for (uint32_t k = p.first; k < p.first + p.count; k++)
			digest = sl_hash_number(digest, (uint64_t) r->plan->place.node[k] << 32 | r->plan->place.cores[k]);
		note_answer(r->j, reserve->job[i], RESERVED, digest);
	}
	for (uint32_t i = 0; i < pending->rows; i++) {
		uint64_t digest = sl_hash_text(SL_HASH, plan_text(r, pending->text[i]));

		digest = sl_hash_number(sl_hash_text(digest, plan_text(r, pending->by[i])), pending->why[i]);
		digest = sl_hash_text(digest, sl_queued_note(r->queued, pending->job[i]));
		digest = sl_hash_text(digest, sl_queued_in(r->queued, pending->job[i]));
		note_answer(r->j, pending->job[i], PENDING, digest);
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
		sl_json_end_object(r->j->json);
	}
	end_jobs(r, begun);
}

static void put_actions(struct record *r)
{
	const struct sl_plan_action_view *action = &r->plan->action;
	bool begun = false;

	for (uint32_t i = 0; i < action->rows; i++) {
		begin_job(r, "actions", &begun, action->job[i]);
		put_text(r->j->json, "verb", sl_do_word(action->verb[i]));
		put_int(r->j->json, "number", action->number[i]);
		put_text(r->j->json, "text", plan_text(r, action->text[i]));
		put_text(r->j->json, "by", plan_text(r, action->by[i]));
		put_fate(r, r->plan->start.rows + i, "why");
		sl_json_end_object(r->j->json);
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
	if (r->j->full ? !r->snap->run.rows : digest == r->j->partitions)
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
	r->news = j->full || figures != j->figures;
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
	put_true(j->json, "full", j->full);
	if (put_partitions(r, partitions) < 0 || put_started(r) < 0 || put_reserved(r) < 0)
		return -1;
	put_pending(r);
	put_actions(r);
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

static int io_error(const struct sl_journal *j, struct sl_error *err)
{
	return sl_fail(err, SL_EIO, "%s: %s", j->path, strerror(errno));
}

/* Where the last whole line ends; 0 too where the end of the file is no journal's. */
static off_t whole_end(int fd, off_t size)
{
	off_t far = size > 2 * (off_t) SL_JOURNAL_SIZE ? size - 2 * (off_t) SL_JOURNAL_SIZE : 0;
	char piece[4096];

	while (size > far) {
		size_t n = size < (off_t) sizeof(piece) ? (size_t) size : sizeof(piece);
		ssize_t got = pread(fd, piece, n, size - n);

		if (got != (ssize_t) n)
			return -1;
		for (; n > 0; n--, size--)
			if (piece[n - 1] == '\n')
				return size;
	}
	return 0;
}

static int lock_file(struct sl_journal *j, struct sl_error *err)
{
	while (!j->published && flock(j->fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return sl_fail(err, SL_EBUSY, "%s: another process is writing it", j->path);
		if (errno != EINTR)
			return io_error(j, err);
	}
	return 0;
}

static int open_file(struct sl_journal *j, struct sl_error *err)
{
	struct stat st;
	off_t end;

	j->fd = open(j->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
	if (j->fd < 0)
		return io_error(j, err);
	if (fstat(j->fd, &st) < 0) {
		io_error(j, err);
		goto error;
	}
	if (!S_ISREG(st.st_mode)) {
		sl_fail(err, SL_EIO, "%s: not a regular file", j->path);
		goto error;
	}
	if (j->published && fchmod(j->fd, 0644) < 0) {	/* whatever the umask is */
		io_error(j, err);
		goto error;
	}
	if (lock_file(j, err) < 0)
		goto error;
	end = fstat(j->fd, &st) < 0 ? -1 : whole_end(j->fd, st.st_size);
	if (end < 0 || (end < st.st_size && ftruncate(j->fd, end) < 0)) {
		io_error(j, err);
		goto error;
	}
	flock(j->fd, LOCK_UN);
	j->full = true;
	return 0;
error:
	close(j->fd);
	j->fd = -1;
	return -1;
}

/* The path of a journal in that directory.  ".9" is the longest suffix that rotation appends. */
static int make_path(char path[PATH_MAX], const char *dir, struct sl_error *err)
{
	if (snprintf(path, PATH_MAX, "%s/decisions.jsonl", dir) < PATH_MAX - 3)
		return 0;
	return sl_fail(err, SL_EINVAL, "journal: the path of its directory is too long");
}

static struct sl_journal *open_journal(const char *dir, bool published, struct sl_error *err)
{
	struct sl_journal *j = calloc(1, sizeof(*j));

	if (!j) {
		sl_fail(err, SL_ENOMEM, "journal: no memory");
		return NULL;
	}
	j->fd = -1;
	j->limit = SL_JOURNAL_SIZE;
	j->published = published;
	if (make_path(j->path, dir, err))
		goto error;
	j->json = sl_json_create(NULL, err);
	if (!j->json || open_file(j, err) < 0)
		goto error;
	return j;
error:
	sl_journal_close(j);
	return NULL;
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
	char path[PATH_MAX];
	size_t n;

	if (make_path(path, dir, err))
		return -1;
	n = strlen(path);
	for (int i = 0; i <= SL_JOURNAL_KEEP; i++) {
		if (i)
			snprintf(path + n, sizeof(path) - n, ".%d", i);
		if (unlink(path) && errno != ENOENT)
			return sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	}
	return 0;
}

void sl_journal_close(struct sl_journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		close(j->fd);
	sl_json_destroy(j->json);
	free_answers(&j->said);
	free_answers(&j->next);
	free(j);
}

void sl_journal_set_size(struct sl_journal *j, size_t size)
{
	j->limit = size;
}

/* Does the path still name the open file?  Not if somebody moved or rotated it. */
static bool is_current(const struct sl_journal *j)
{
	struct stat file, path;

	return j->fd >= 0 && fstat(j->fd, &file) == 0 && stat(j->path, &path) == 0 &&
	       file.st_dev == path.st_dev && file.st_ino == path.st_ino;
}

/* Lock the file that the path names.  Only a process that rotates can take it
 * away between the look and the lock, and it is done then. */
static int lock_current(struct sl_journal *j, struct sl_error *err)
{
	for (int tries = 0; tries < 3; tries++) {
		if (!is_current(j)) {
			if (j->fd >= 0)
				close(j->fd);
			j->fd = -1;
			if (open_file(j, err) < 0)
				return -1;
		}
		if (lock_file(j, err) < 0)
			return -1;
		if (is_current(j))
			return 0;
	}
	return sl_fail(err, SL_EBUSY, "%s: another process is rotating it", j->path);
}

/* Rename the files, DIR/decisions.jsonl to .1 and so on.  The lock is held; it is the old file's. */
static int rotate_files(struct sl_journal *j, struct sl_error *err)
{
	char from[PATH_MAX + 8], to[PATH_MAX + 8];

	snprintf(to, sizeof(to), "%s.%d", j->path, SL_JOURNAL_KEEP);
	for (int i = SL_JOURNAL_KEEP - 1; i >= 0; i--) {
		if (i)
			snprintf(from, sizeof(from), "%s.%d", j->path, i);
		else
			snprintf(from, sizeof(from), "%s", j->path);
		if (rename(from, to) < 0 && errno != ENOENT)
			return io_error(j, err);
		memcpy(to, from, sizeof(to));
	}
	return lock_current(j, err);
}

/* One write.  A process that has reached its limit of file size gets EFBIG, and
 * with it a signal that would end it. */
static ssize_t write_once(int fd, const char *text, size_t size)
{
	const struct timespec now = { 0, 0 };
	sigset_t xfsz, old, pending;
	ssize_t n;
	int saved;

	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &xfsz, &old);
	do {
		n = write(fd, text, size);
	} while (n < 0 && errno == EINTR);
	saved = errno;
	if (n < 0 && saved == EFBIG && !sigismember(&pending, SIGXFSZ))
		while (sigtimedwait(&xfsz, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return n;
}

/* With the lock held. */
static int append_line(struct sl_journal *j, off_t at, const char *text, size_t size, struct sl_error *err)
{
	ssize_t n = write_once(j->fd, text, size);

	if (n == (ssize_t) size)
		return 0;
	if (n < 0)
		return io_error(j, err);
	if (ftruncate(j->fd, at) < 0)
		return sl_fail(err, SL_EIO, "%s: a torn line cannot be taken back: %s", j->path, strerror(errno));
	return sl_fail(err, SL_EIO, "%s: the disk is full, or the file as large as it may be", j->path);
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
	struct stat st;
	const char *text;
	size_t size;

	if (compose_line(r, figures, partitions, &text, &size) < 0)
		return -1;
	if (!size)
		return 0;
	if (fstat(j->fd, &st) < 0)
		return io_error(j, r->err);
	if (st.st_size > 0 && (size_t) st.st_size + size > j->limit) {
		/* A file is read by itself: its first line says everything. */
		if (rotate_files(j, r->err) < 0 || compose_line(r, figures, partitions, &text, &size) < 0)
			return -1;
		if (fstat(j->fd, &st) < 0)
			return io_error(j, r->err);
	}
	if (append_line(j, st.st_size, text, size, r->err) < 0)
		return -1;
	swap = j->said;
	j->said = j->next;
	j->next = swap;
	j->figures = figures;
	j->partitions = partitions;
	j->full = false;
	return 0;
}

int sl_journal_write(struct sl_journal *j, const struct sl_snapshot *snap, const struct sl_plan_image *plan,
		     const struct sl_carried *carried, struct sl_error *err)
{
	struct record r = { .j = j, .snap = snap, .plan = plan, .carried = carried, .err = err };
	int rc;

	if (lock_current(j, err) < 0)
		return -1;
	r.queued = sl_queued_create(snap, err);
	rc = r.queued ? write_record(&r, digest_figures(plan)) : -1;
	sl_queued_destroy(r.queued);
	if (j->fd >= 0)
		flock(j->fd, LOCK_UN);
	return rc;
}
