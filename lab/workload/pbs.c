/* SPDX-License-Identifier: MIT */
/*
 * workload/pbs.c - accounting logs of PBS: a record of the type E for each job that has ended.
 *
 *	01/31/2024 12:00:00;E;123.host;user=ann project=p queue=prod ctime=1706702400 start=1706702500
 *	Resource_List.nodect=4 Resource_List.ncpus=256 Resource_List.walltime=01:00:00 resources_used.walltime=00:10:00 ...
 *
 * in one line.  Other records (queued, started, ...) are left out.
 */
#include "workload/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct record {
	const char *id, *words;
};

/* "DATE;TYPE;ID;WORDS" */
static bool cut_record(char *line, char *type, struct record *r)
{
	char *p = strchr(line, ';');

	if (!p || !p[1] || p[2] != ';')
		return false;
	*type = p[1];
	r->id = p + 3;
	p = strchr(p + 3, ';');
	if (!p)
		return false;
	*p = 0;
	r->words = p + 1;
	return true;
}

bool sl_trace_is_pbs(const char *line)
{
	int month, day, year, n = 0;

	return sscanf(line, "%2d/%2d/%4d %*2d:%*2d:%*2d;%*c;%n", &month, &day, &year, &n) == 3 && n;
}

/* The value of "KEY=value" among the words; "" where it is not there. */
static const char *value_of(const struct record *r, const char *key, char value[64])
{
	size_t n = strlen(key);

	*value = 0;
	for (const char *p = r->words; *p; p += strcspn(p, " "), p += *p == ' ')
		if (!strncmp(p, key, n) && p[n] == '=') {
			snprintf(value, 64, "%.*s", (int) strcspn(p + n + 1, " "), p + n + 1);
			break;
		}
	return value;
}

static int64_t number_of(const struct record *r, const char *key)
{
	char value[64];
	int64_t n;

	return sl_scan_whole(value_of(r, key, value), &n) && n >= 0 ? n : -1;
}

static int64_t time_of(const struct record *r, const char *key)
{
	char value[64];
	int64_t n;

	return sl_scan_duration(value_of(r, key, value), &n) && n != SL_UNLIMITED ? n : -1;
}

static int64_t runtime_of(const struct record *r)
{
	int64_t used = time_of(r, "resources_used.walltime"), start = number_of(r, "start"), end = number_of(r, "end");

	return used >= 0 ? used : start >= 0 && end >= start ? end - start : -1;
}

static int add_record(struct sl_store *s, const struct sl_snapshot *machine, const struct record *r, uint64_t line)
{
	int64_t submit = number_of(r, "qtime"), cpus = number_of(r, "Resource_List.ncpus"), gpus = number_of(r, "Resource_List.ngpus");
	int64_t nodes = number_of(r, "Resource_List.nodect"), walltime;
	struct sl_draft j = sl_draft();
	char value[64];

	submit = submit > 0 ? submit : number_of(r, "ctime");
	j.line = line;
	j.submit_s = submit;
	j.runtime_s = runtime_of(r);
	nodes = nodes > 0 ? nodes : 1;
	cpus = cpus > 0 ? cpus : nodes;
	if (submit < 0 || j.runtime_s < 0 || cpus >= SL_NONE || nodes >= SL_NONE || gpus >= SL_NONE) {
		sl_store_note(s, SL_ISSUE_FIELDS, line, "job %.40s: a number or time that is none", r->id);
		return 0;
	}
	j.id = (uint32_t) strtoul(r->id, NULL, 10);
	walltime = time_of(r, "Resource_List.walltime");
	j.estimate_s = walltime > 0 ? walltime : 0;
	j.tasks = (uint32_t) cpus;
	j.min_nodes = (uint32_t) nodes;
	j.gpus = gpus > 0 ? (uint32_t) gpus : 0;
	j.gpus_per = SL_PER_JOB;
	j.user = sl_store_str(s, value_of(r, "user", value));
	j.account = sl_store_str(s, value_of(r, "project", value));
	j.partition = sl_trace_partition(machine, value_of(r, "queue", value));
	return sl_store_add(s, &j);
}

static int read_records(struct sl_store *s, const struct sl_snapshot *machine, struct sl_lines *l, struct sl_error *err)
{
	struct record r;
	char *line, type;
	int64_t n;

	while ((n = sl_lines_next(l, &line, err)) > 0) {
		if (!*line)
			continue;
		sl_store_count_row(s);
		if (!cut_record(line, &type, &r))
			sl_store_note(s, SL_ISSUE_FIELDS, sl_lines_number(l), "no record of PBS");
		else if (type == 'E' && add_record(s, machine, &r, sl_lines_number(l)))
			return 0;
	}
	return n < 0 ? -1 : 0;
}

int sl_workload_read_pbs(struct sl_store *s, const char *path, struct sl_error *err)
{
	struct sl_lines *l = sl_lines_open(path, err);
	const struct sl_snapshot *machine;
	int rc = -1;

	if (l && !sl_trace_begin(s, path, &machine, err)) {
		sl_store_set_origin(s, 0);
		rc = read_records(s, machine, l, err);
	}
	sl_lines_close(l);
	return rc;
}
