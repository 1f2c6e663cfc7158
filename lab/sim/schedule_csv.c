/* SPDX-License-Identifier: MIT */
#include "sim/schedule_csv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "image/nodelist.h"

static char *join_nodes(const struct sl_snapshot *s, const struct sl_sim_job *j, const struct sl_stretch *stretch,
			struct sl_error *err)
{
	const char **name = malloc(((size_t) j->nodes + 1) * sizeof(*name));
	uint32_t n = 0;
	char *list;

	if (!name) {
		sl_fail(err, SL_ENOMEM, "schedule: out of memory");
		return NULL;
	}
	for (uint32_t i = 0; i < j->stretches; i++)
		for (uint32_t k = 0; k < stretch[j->first_stretch + i].count; k++)
			name[n++] = sl_snapshot_str(s, s->node.name[stretch[j->first_stretch + i].first + k]);
	list = sl_nodelist_join(name, n, err);
	free(name);
	return list;
}

static void put_times(const struct sl_workload *w, const struct sl_sim_job *j, uint32_t row, FILE *out)
{
	int64_t submit = w->snap.job.submit_time[row], limit = w->snap.job.time_limit[row];

	fprintf(out, "%" PRId64 ",", submit - w->origin_s);
	if (j->nodes)
		fprintf(out, "%" PRId64, j->start_s - w->origin_s);
	putc(',', out);
	if (j->end_s)
		fprintf(out, "%" PRId64, j->end_s - w->origin_s);
	putc(',', out);
	if (j->nodes)
		fprintf(out, "%" PRId64, j->first_s - submit);
	fprintf(out, ",%" PRId64 ",", w->runtime_s[row]);
	if (limit < SL_UNLIMITED)
		fprintf(out, "%" PRId64, limit);
	putc(',', out);
}

int sl_schedule_csv(const struct sl_workload *w, const struct sl_sim *sim, FILE *out, struct sl_error *err)
{
	const struct sl_snapshot *s = &w->snap;
	const struct sl_sim_job *job = sl_sim_schedule(sim);
	const struct sl_stretch *stretch = sl_sim_stretches(sim);

	fputs("job,user,account,partition,submit_s,start_s,end_s,wait_s,runtime_s,walltime_s,"
	      "cores,gpus,nodes,nodelist\n", out);
	for (uint32_t i = 0; i < s->job.rows; i++) {
		char *list = join_nodes(s, &job[i], stretch, err);

		if (!list)
			return -1;
		fprintf(out, "%" PRIu32 ",", s->job.id[i]);
		sl_csv_put(out, sl_snapshot_str(s, s->job.user[i]));
		putc(',', out);
		sl_csv_put(out, sl_snapshot_str(s, s->job.account[i]));
		putc(',', out);
		sl_csv_put(out, sl_snapshot_str(s, s->partition.name[s->job.partition[i]]));
		putc(',', out);
		put_times(w, &job[i], i, out);
		fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", job[i].cores, job[i].gpus, job[i].nodes);
		sl_csv_put(out, list);
		putc('\n', out);
		free(list);
	}
	return 0;
}

int sl_schedule_swf(const struct sl_workload *w, const struct sl_sim *sim, FILE *out, struct sl_error *err)
{
	const struct sl_sim_job *job = sl_sim_schedule(sim);
	struct sl_swf_run *run = calloc((size_t) w->snap.job.rows + 1, sizeof(*run));
	int rc;

	if (!run)
		return sl_fail(err, SL_ENOMEM, "schedule: out of memory");
	for (uint32_t i = 0; i < w->snap.job.rows; i++) {
		int64_t seconds = job[i].end_s - job[i].start_s;
		const int64_t *wanted = w->wanted_s ? w->wanted_s : w->runtime_s;

		if (job[i].end_s)
			run[i] = (struct sl_swf_run) { true, job[i].start_s - w->snap.job.submit_time[i], seconds,
						       job[i].cores, seconds >= wanted[i] };
	}
	rc = sl_workload_write_swf(w, run, out, err);
	free(run);
	return rc;
}
