/* SPDX-License-Identifier: MIT */
/*
 * workload/batsim.c - workloads of the simulator Batsim, in JSON: jobs of so many processors, whose runtime a profile says.
 *
 *	{ "nb_res": 4, "jobs": [ { "id": 1, "subtime": 10, "walltime": 100, "res": 4, "profile": "p" } ],
 *	  "profiles": { "p": { "type": "delay", "delay": 20.2 } } }
 *
 * Only profiles of the type delay say a runtime; jobs of others (computation, communication) are left out and counted.
 */
#include "workload/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool sl_json_is_batsim(const json_t *root)
{
	const json_t *first = json_array_get(json_object_get(root, "jobs"), 0);

	return json_is_object(json_object_get(root, "profiles")) && json_object_get(first, "subtime");
}

/* A number of seconds, rounded up; -1 for none. */
static int64_t seconds_of(const json_t *v)
{
	double n = json_is_number(v) ? json_number_value(v) : -1;

	return n >= 0 && n <= (double) SL_WORKLOAD_MAX_SECONDS ? (int64_t) ceil(n) : -1;
}

/* 7 of 7, "7" and "w0!7". */
static uint32_t id_of(const json_t *v)
{
	const char *text = json_string_value(v), *mark = text ? strrchr(text, '!') : NULL;
	int64_t n = json_integer_value(v);

	if (text && !sl_scan_whole(mark ? mark + 1 : text, &n))
		n = 0;
	return n > 0 && n < SL_NONE ? (uint32_t) n : 0;
}

static int add_job(struct sl_store *s, const json_t *job, const json_t *profiles)
{
	const char *name = json_string_value(json_object_get(job, "profile"));
	const json_t *profile = name ? json_object_get(profiles, name) : NULL;
	const char *type = json_string_value(json_object_get(profile, "type"));
	int64_t procs = json_integer_value(json_object_get(job, "res")), walltime = seconds_of(json_object_get(job, "walltime"));
	struct sl_draft j = sl_draft();

	sl_store_count_row(s);
	j.id = id_of(json_object_get(job, "id"));
	j.submit_s = json_is_number(json_object_get(job, "subtime")) ?
		     (int64_t) floor(json_number_value(json_object_get(job, "subtime"))) : -1;
	if (!type || strcmp(type, "delay")) {
		sl_store_note(s, SL_ISSUE_MODEL, 0, "profile %.20s of type %.20s says no runtime, job left out", name ? name : "",
			      type ? type : "");
		return 0;
	}
	j.runtime_s = seconds_of(json_object_get(profile, "delay"));
	if (procs < 0 || procs >= SL_NONE || j.submit_s < 0 || j.runtime_s < 0) {
		sl_store_note(s, SL_ISSUE_FIELDS, 0, "job %" PRIu32 ": a number that is none", j.id);
		return 0;
	}
	j.tasks = (uint32_t) procs;
	j.estimate_s = walltime > 0 ? walltime : 0;
	return sl_store_add(s, &j);
}

int sl_workload_read_batsim(struct sl_store *s, const char *path, const json_t *root, struct sl_error *err)
{
	int64_t procs = json_integer_value(json_object_get(root, "nb_res"));
	const json_t *jobs = json_object_get(root, "jobs"), *job;
	int machine = sl_store_machine(s, err);
	size_t i;

	if (machine < 0)
		return -1;
	if (!machine && (procs <= 0 || procs >= SL_NONE))
		return sl_fail(err, SL_EFORMAT, "%s: nb_res: expected a number of processors, or a machine (--machine)", path);
	if (!machine && sl_machine_pool(sl_store_builder(s), (uint32_t) procs, err))
		return -1;
	json_array_foreach(jobs, i, job)
		if (add_job(s, job, json_object_get(root, "profiles")))
			break;
	return 0;
}
