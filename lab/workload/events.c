/* SPDX-License-Identifier: MIT */
/*
 * workload/events.c - event files of the Slurm simulator of UB-CCR: a job that is submitted in each line.
 *
 *	-dt 10.50 -e submit_batch_job | -sim-walltime 84805.00 --uid=user001 -J jobid_00001 -N 1 -n 32 -t 3-00:00:00 -q general
 *	-p general --gres=gpu:2 --mem=500G pseudo.job
 *
 * in one line: seconds from the beginning, how long it runs (-1: to its limit), and what sbatch was told.  Memory and constraints
 * are left out: the machine is not that of the file.
 */
#include "workload/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of an option: "-t 1:00", "--uid=user001"; the first one.  "" where it is not there. */
static const char *value_of(const char *line, const char *option, char value[64])
{
	size_t n = strlen(option);

	*value = 0;
	for (const char *p = line; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		const char *v = p + n;

		if (strncmp(p, option, n) || (*v != ' ' && *v != '='))
			continue;
		v += *v == '=' ? 1 : strspn(v, " ");
		snprintf(value, 64, "%.*s", (int) strcspn(v, " "), v);
		break;
	}
	return value;
}

static double number_of(const char *line, const char *option, double missing)
{
	char value[64], *end;
	double n = strtod(value_of(line, option, value), &end);

	return *value && !*end && isfinite(n) ? n : missing;
}

static bool has_word(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at && (at[strlen(word)] == ' ' || !at[strlen(word)]);
}

static uint32_t gpus_of(const char *line)
{
	char value[64];
	const char *gres = value_of(line, "--gres", value), *number = strrchr(gres, ':');

	if (strncmp(gres, "gpu", 3))
		return 0;
	return number ? (uint32_t) strtoul(number + 1, NULL, 10) : 1;
}

static int add_event(struct sl_store *s, const struct sl_snapshot *machine, const char *line, uint64_t number)
{
	double at = number_of(line, "-dt", -1), runs = number_of(line, "-sim-walltime", NAN);
	double nodes = number_of(line, "-N", 1), tasks = number_of(line, "-n", nodes);
	struct sl_draft j = sl_draft();
	char value[64];

	j.line = number;
	if (at < 0 || at > (double) SL_WORKLOAD_MAX_SECONDS || !isfinite(runs) || nodes < 1 || nodes >= SL_NONE || tasks < 1 ||
	    tasks >= SL_NONE || !sl_scan_duration(value_of(line, "-t", value), &j.estimate_s)) {
		sl_store_note(s, SL_ISSUE_FIELDS, number, "a number or time that is none");
		return 0;
	}
	j.estimate_s = j.estimate_s == SL_UNLIMITED ? 0 : j.estimate_s;
	j.submit_s = (int64_t) at;
	j.runtime_s = runs < 0 ? j.estimate_s : (int64_t) ceil(runs);
	j.min_nodes = j.max_nodes = (uint32_t) nodes;
	j.tasks = (uint32_t) tasks;
	j.gpus = gpus_of(line);
	j.flags |= has_word(line, "--exclusive") ? SL_JOBF_EXCLUSIVE : 0;
	j.user = sl_store_str(s, value_of(line, "--uid", value));
	j.name = sl_store_str(s, value_of(line, "-J", value));
	j.account = sl_store_str(s, value_of(line, "-A", value));
	j.qos = sl_store_str(s, value_of(line, "-q", value));
	j.partition = sl_trace_partition(machine, value_of(line, "-p", value));
	if (*value_of(line, "--constraint", value))
		sl_store_note(s, SL_ISSUE_MODEL, number, "--constraint=%.30s", value);
	return sl_store_add(s, &j);
}

int sl_workload_read_events(struct sl_store *s, const char *path, struct sl_error *err)
{
	struct sl_lines *l = sl_lines_open(path, err);
	const struct sl_snapshot *machine;
	int64_t n = 0;
	char *line;
	int rc = -1;

	if (l && !sl_trace_begin(s, path, &machine, err)) {
		sl_store_set_origin(s, SL_WORKLOAD_ORIGIN);
		for (rc = 0; !rc && (n = sl_lines_next(l, &line, err)) > 0;) {
			line += strspn(line, " \t");
			if (!*line)
				continue;
			sl_store_count_row(s);
			if (strstr(line, "submit_batch_job"))
				rc = add_event(s, machine, line, sl_lines_number(l));
		}
		rc = n < 0 ? -1 : 0;
	}
	sl_lines_close(l);
	return rc;
}
