/* SPDX-License-Identifier: MIT */
/*
 * workload/sacct_json.c - what `sacct --json` prints, of any release from 21.08 to 26.05: the texts that the columns of
 * the same meaning would have.
 */
#include "workload/sacct.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "workload/json.h"

struct texts {			/* of one job, where its columns' texts are laid */
	char number[SL_SACCT_USED][32];
	char state[64], tres[2][1024];
};

/* "time/elapsed": a member of a member. */
static const json_t *find_member(const json_t *job, const char *path)
{
	char name[32];

	for (const char *p = path; *p && job; p += *p == '/') {
		size_t n = strcspn(p, "/");

		snprintf(name, sizeof(name), "%.*s", (int) n, p);
		job = json_object_get(job, name);
		p += n;
	}
	return job;
}

static const char *text_of(const json_t *job, const char *path)
{
	const char *text = json_string_value(find_member(job, path));

	return text ? text : "";
}

/* A number, or { "set": true, "infinite": false, "number": 60 } as later releases have it; "" for none. */
static const char *number_of(const json_t *job, const char *path, char text[32])
{
	const json_t *v = find_member(job, path);

	*text = 0;
	if (json_is_object(v)) {
		if (json_is_true(json_object_get(v, "infinite")))
			return strcpy(text, "UNLIMITED");
		if (json_is_false(json_object_get(v, "set")))
			return text;
		v = json_object_get(v, "number");
	}
	if (json_is_integer(v))
		snprintf(text, 32, "%" PRId64, (int64_t) json_integer_value(v));
	else if (json_is_string(v))
		snprintf(text, 32, "%s", json_string_value(v));
	return text;
}

/* [ { "type": "gres", "name": "gpu", "count": 4 } ] -> "gres/gpu=4" */
static const char *tres_of(const json_t *job, const char *path, char text[1024])
{
	const json_t *list = find_member(job, path), *one;
	size_t i, n = 0;

	*text = 0;
	json_array_foreach(list, i, one) {
		const char *type = text_of(one, "type"), *name = text_of(one, "name");
		const json_t *count = json_object_get(one, "count");

		if (!json_is_integer(count) || n >= 1024)
			continue;
		n += (size_t) snprintf(text + n, 1024 - n, "%s%s%s%s=%" PRId64 "%s", n ? "," : "", type, *name ? "/" : "", name,
				       (int64_t) json_integer_value(count), strcmp(type, "mem") ? "" : "M");
	}
	return text;
}

/* "RUNNING", or [ "RUNNING" ]. */
static const char *state_of(const json_t *job, char text[64])
{
	const json_t *v = find_member(job, "state/current");
	const char *state = json_is_array(v) ? json_string_value(json_array_get(v, 0)) : json_string_value(v);

	snprintf(text, 64, "%s", state ? state : "");
	return text;
}

static void fill_texts(struct sl_sacct *d, const json_t *job, struct texts *t)
{
	static const struct { enum sl_sacct_used column; const char *path; } numbers[] = {
		{ SL_SACCT_JOBIDRAW, "job_id" }, { SL_SACCT_SUBMIT, "time/submission" }, { SL_SACCT_START, "time/start" },
		{ SL_SACCT_END, "time/end" }, { SL_SACCT_ELAPSEDRAW, "time/elapsed" }, { SL_SACCT_TIMELIMITRAW, "time/limit" },
		{ SL_SACCT_REQCPUS, "required/CPUs" }, { SL_SACCT_NNODES, "allocation_nodes" },
		{ SL_SACCT_SEGMENTSIZE, "segment_size" }, { SL_SACCT_ELIGIBLE, "time/eligible" }, { SL_SACCT_PRIORITY, "priority" }, { SL_SACCT_SUSPENDED, "time/suspended" },
	};
	static const struct { enum sl_sacct_used column; const char *path; } texts[] = {
		{ SL_SACCT_USER, "user" }, { SL_SACCT_ACCOUNT, "account" }, { SL_SACCT_QOS, "qos" },
		{ SL_SACCT_PARTITION, "partition" }, { SL_SACCT_JOBNAME, "name" }, { SL_SACCT_ALLOCGRES, "used_gres" },
		{ SL_SACCT_REASON, "state/reason" }, { SL_SACCT_RESERVATION, "reservation/name" },
		{ SL_SACCT_CONSTRAINTS, "constraints" }, { SL_SACCT_LICENSES, "licenses" },
		{ SL_SACCT_SUBMITLINE, "submit_line" }, { SL_SACCT_NODELIST, "nodes" },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		d->text[numbers[i].column] = number_of(job, numbers[i].path, t->number[numbers[i].column]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		d->text[texts[i].column] = text_of(job, texts[i].path);
	d->text[SL_SACCT_STATE] = state_of(job, t->state);
	d->text[SL_SACCT_REQTRES] = tres_of(job, "tres/requested", t->tres[0]);
	d->text[SL_SACCT_ALLOCTRES] = tres_of(job, "tres/allocated", t->tres[1]);
}

/* Members that say what cannot be used, by the column that sacct -P has them in. */
static const struct { const char *path, *column; } others[] = {
	{ "constraints", "Constraints" }, { "licenses", "Licenses" }, { "reservation/name", "Reservation" },
	{ "reservation/requested", "ReqReservation" }, { "mcs/label", "McsLabel" }, { "submit_line", "SubmitLine" }, { "time/suspended", "Suspended" },
};

#define OTHERS (sizeof(others) / sizeof(others[0]))

static void count_others(const json_t *job, uint64_t count[OTHERS])
{
	for (size_t i = 0; i < OTHERS; i++) {
		const json_t *v = find_member(job, others[i].path);

		count[i] += json_integer_value(v) > 0 || (json_is_string(v) && *json_string_value(v));
	}
}

static void note_others(struct sl_store *s, const char *path, const uint64_t count[OTHERS])
{
	const char *why;

	for (size_t i = 0; i < OTHERS; i++)
		if (count[i] && sl_sacct_fate(others[i].column, &why) == SL_SACCT_CANNOT)
			sl_notes_add(sl_store_notes(s), "%s: %" PRIu64 " jobs with %s, which cannot be used: %s", path, count[i],
				     others[i].path, why);
}

bool sl_json_is_sacct(const json_t *root)
{
	const json_t *first = json_array_get(json_object_get(root, "jobs"), 0);

	return json_object_get(first, "job_id") && find_member(first, "time/submission");
}

int sl_workload_read_sacct_json(struct sl_store *s, const char *path, const json_t *root, struct sl_error *err)
{
	const json_t *jobs = json_object_get(root, "jobs"), *job;
	struct texts *t = calloc(1, sizeof(*t));
	uint64_t count[OTHERS] = { 0 };
	struct sl_sacct d = { 0 };
	size_t i;
	int rc = -1;

	if (!t)
		return sl_fail(err, SL_ENOMEM, "%s: out of memory", path);
	if (!sl_sacct_begin(&d, s, path, err)) {
		json_array_foreach(jobs, i, job) {
			fill_texts(&d, job, t);
			count_others(job, count);
			if (sl_sacct_add(&d))
				break;
		}
		note_others(s, path, count);
		rc = 0;
	}
	sl_sacct_end(&d);
	free(t);
	return rc;
}
