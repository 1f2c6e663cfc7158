/* SPDX-License-Identifier: MIT */
/*
 * keeper_runs.c - the newest runs of those whom a policy asks about, as they travel between the
 * keeper and the engine.
 */
#include "ledger/keeper_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "image/wire.h"

#define MOST_KEYS 1000000u
#define MOST_RUNS (1u << 24)

/* -- the keeper's side ------------------------------------------------------ */

struct answer {
	struct keeper_list *list;
	struct keeper_run *run;
	char *text;
	uint32_t lists, list_room, runs, run_room, texts, text_room;
	struct sl_error *err;
	bool failed;
};

/* An offset in the texts, for now. */
static uint64_t add_text(struct answer *a, const char *text)
{
	uint64_t at = a->texts;
	size_t n = strlen(text ? text : "") + 1;

	if (sl_grow(&a->text, &a->text_room, a->texts + n, 1, a->err)) {
		a->failed = true;
		return 0;
	}
	memcpy(a->text + at, text ? text : "", n);
	a->texts += (uint32_t) n;
	return at;
}

static int add_run(void *to, const struct sl_job_run *run)
{
	struct answer *a = to;
	struct keeper_run r = {
		.start = run->start, .end = run->end, .seconds = run->seconds, .limit = run->limit, .job = run->job,
		.state = run->dim.state, .user = add_text(a, run->dim.user), .account = add_text(a, run->dim.account),
		.partition = add_text(a, run->dim.partition), .name = add_text(a, run->name),
	};

	memcpy(r.count, run->count, sizeof(r.count));
	a->failed |= sl_grow(&a->run, &a->run_room, a->runs + UINT64_C(1), sizeof(r), a->err) != 0;
	if (!a->failed)
		a->run[a->runs++] = r;
	return a->failed;
}

static int add_list(struct answer *a, struct sl_ledger *l, uint32_t number, const struct keeper_key *key,
		    const char *name)
{
	enum sl_usage_by by = key->by == SL_BY_USER ? SL_BY_USER : SL_BY_ACCOUNT;
	uint64_t mark = sl_ledger_stamp(l, by, name);
	uint32_t before = a->runs;

	if (mark <= key->mark)
		return 0;
	if (sl_grow(&a->list, &a->list_room, a->lists + UINT64_C(1), sizeof(*a->list), a->err) ||
	    sl_ledger_newest(l, by, name, SL_HISTORY_KEPT, add_run, a, a->err) || a->failed)
		return -1;
	a->list[a->lists++] = (struct keeper_list) { mark, number, a->runs - before };
	return 0;
}

static int send_lists(struct answer *a)
{
	size_t lists = a->lists * sizeof(*a->list), runs = a->runs * sizeof(*a->run), size = lists + runs + a->texts + 1;
	char *bytes = calloc(1, size);
	int fd;

	if (!bytes)
		return sl_fail(a->err, SL_ENOMEM, "ledger: out of memory");
	for (uint32_t i = 0; i < a->runs; i++) {
		a->run[i].user += lists + runs;
		a->run[i].account += lists + runs;
		a->run[i].partition += lists + runs;
		a->run[i].name += lists + runs;
	}
	memcpy(bytes, a->list, lists);
	if (runs)
		memcpy(bytes + lists, a->run, runs);
	if (a->texts)
		memcpy(bytes + lists + runs, a->text, a->texts);
	fd = sl_wire_memfd("runs", bytes, size, a->err);
	free(bytes);
	return fd;
}

int keeper_answer_runs(struct sl_ledger *l, int question, uint32_t keys, uint32_t *lists, int *fd,
		       struct sl_error *err)
{
	struct answer a = { .err = err };
	const struct keeper_key *key;
	const void *bytes;
	size_t size;
	int rc = 0;

	*fd = -1;
	if (keys > MOST_KEYS || sl_wire_map(question, &bytes, &size, err))
		return keys > MOST_KEYS ? sl_fail(err, SL_ELIMIT, "ledger: runs of %u names", keys) : -1;
	key = bytes;
	if (size <= keys * sizeof(*key) || ((const char *) bytes)[size - 1])
		rc = sl_fail(err, SL_EFORMAT, "ledger: a question about runs that makes no sense");
	for (uint32_t i = 0; !rc && i < keys; i++)
		rc = key[i].name >= size ? sl_fail(err, SL_EFORMAT, "ledger: a name that is not there") :
			add_list(&a, l, i, &key[i], (const char *) bytes + key[i].name);
	if (!rc && a.lists)
		rc = (*fd = send_lists(&a)) < 0 ? -1 : 0;
	*lists = a.lists;
	sl_wire_unmap(bytes, size);
	free(a.list);
	free(a.run);
	free(a.text);
	return rc;
}

/* -- the engine's side -------------------------------------------------------- */

static bool is_sound(const char *bytes, size_t size, uint32_t lists, uint32_t keys)
{
	const struct keeper_list *list = (const struct keeper_list *) bytes;
	const struct keeper_run *run;
	uint64_t runs = 0;

	if (size <= lists * sizeof(*list) || bytes[size - 1])
		return false;
	for (uint32_t i = 0; i < lists; i++) {
		if (list[i].key >= keys || list[i].runs > MOST_RUNS)
			return false;
		runs += list[i].runs;
	}
	if (runs > MOST_RUNS || size <= lists * sizeof(*list) + runs * sizeof(*run))
		return false;
	run = (const struct keeper_run *) (list + lists);
	for (uint64_t i = 0; i < runs; i++)
		if (run[i].user >= size || run[i].account >= size || run[i].partition >= size || run[i].name >= size ||
		    run[i].state >= SL_JOB_STATES || run[i].seconds < 0 || run[i].limit < 0 || run[i].start > run[i].end)
			return false;
	return true;
}

static int put_list(struct sl_history *h, const struct keeper_key *key, const char *name,
		    const struct keeper_list *list, const struct keeper_run *run, const char *bytes)
{
	enum sl_usage_by by = (enum sl_usage_by) key->by;

	sl_history_replace(h, by, name);
	for (uint32_t i = 0; i < list->runs; i++, run++) {
		struct sl_job_run r = {
			.job = run->job, .start = run->start, .end = run->end, .seconds = run->seconds, .limit = run->limit,
			.dim = { bytes + run->user, bytes + run->account, bytes + run->partition, run->state },
			.name = bytes + run->name,
		};

		memcpy(r.count, run->count, sizeof(r.count));
		if (sl_history_put(h, by, name, &r, NULL))
			return -1;
	}
	*sl_history_mark(h, by, name) = list->mark;
	return 0;
}

bool keeper_take_runs(struct sl_history *h, const struct keeper_key *key, uint32_t keys, const char *names,
		      uint32_t lists, int fd)
{
	const struct keeper_list *list;
	const struct keeper_run *run;
	const void *bytes;
	size_t size;
	bool sound;

	if (!lists)
		return true;
	if (fd < 0 || lists > keys || sl_wire_map(fd, &bytes, &size, NULL))
		return false;
	sound = is_sound(bytes, size, lists, keys);
	list = bytes;
	run = (const struct keeper_run *) (list + lists);
	for (uint32_t i = 0; sound && i < lists; run += list[i++].runs)
		if (put_list(h, &key[list[i].key], names + key[list[i].key].name, &list[i], run, bytes))
			break;	/* out of memory: its mark is as it was, and it is asked again */
	sl_wire_unmap(bytes, size);
	return sound;
}
