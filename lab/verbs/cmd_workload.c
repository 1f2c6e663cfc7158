/* SPDX-License-Identifier: MIT */
/*
 * cmd_workload.c - schedlua workload: what is in a workload, and its other forms.
 */
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "report/bound.h"
#include "workload/demand.h"
#include "workload/sacct_columns.h"
#include "base/text.h"
#include "verbs/workload_args.h"

struct values {
	struct sl_workload_args args;
	bool json, swf, command, columns;
	const char *output;
};

static const struct sl_option options[] = {
	SL_WORKLOAD_ARGS(values, args),
	{ .name = "json", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, json),
	  .doc = "write the workload as JSON" },
	{ .name = "swf", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, swf),
	  .doc = "write it in the Standard Workload Format, which knows neither GPUs nor nodes" },
	{ .name = "output", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, output), .argument = "FILE",
	  .doc = "write to a file, not to standard output" },
	{ .name = "sacct-command", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, command),
	  .doc = "print the command whose output makes a good workload, and end" },
	{ .name = "sacct-columns", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, columns),
	  .doc = "print what becomes of each column that sacct has, and end" },
	{ 0 }
};

/* -- summary ------------------------------------------------------------------- */

struct summary {
	uint64_t gpu_jobs, contiguous, node_jobs, users;
	double core_s, runtime_s, estimate_s;
	uint64_t cores_sum, cores_max;
	int64_t *sorted;	/* runtimes */
	uint32_t jobs;
};

static int count_users(const struct sl_snapshot *s, struct summary *sum, struct sl_error *err)
{
	uint32_t n = s->job.rows, *user = malloc((n + 1) * sizeof(*user));

	if (!user)
		return sl_fail(err, SL_ENOMEM, "workload: out of memory");
	memcpy(user, s->job.user, n * sizeof(*user));
	qsort(user, n, sizeof(*user), sl_order_u32);
	for (uint32_t i = 0; i < n; i++)
		sum->users += !i || user[i] != user[i - 1];
	free(user);
	return 0;
}

static int summarize(const struct sl_workload *w, const struct sl_machine *m, struct summary *sum,
		     struct sl_error *err)
{
	const struct sl_snapshot *s = &w->snap;
	struct sl_demand d;

	sum->jobs = s->job.rows;
	sum->sorted = malloc((sum->jobs + 1) * sizeof(*sum->sorted));
	if (!sum->sorted)
		return sl_fail(err, SL_ENOMEM, "workload: out of memory");
	memcpy(sum->sorted, w->runtime_s, sum->jobs * sizeof(*sum->sorted));
	qsort(sum->sorted, sum->jobs, sizeof(*sum->sorted), sl_order_i64);
	for (uint32_t i = 0; i < sum->jobs; i++) {
		sl_job_demand(m, i, &d);
		sum->gpu_jobs += d.gpus > 0;
		sum->node_jobs += s->job.min_nodes[i] > 1 || d.fixed_nodes;
		sum->contiguous += (s->job.flags[i] & SL_JOBF_CONTIGUOUS) != 0;
		sum->core_s += (double) d.cores * (double) w->runtime_s[i];
		sum->runtime_s += (double) w->runtime_s[i];
		sum->estimate_s += (double) s->job.time_limit[i];
		sum->cores_sum += d.cores;
		if (d.cores > sum->cores_max)
			sum->cores_max = d.cores;
	}
	return count_users(s, sum, err);
}

static void print_machine(const struct sl_machine *m)
{
	printf("machine       %llu nodes, %llu cores, %llu GPUs", (unsigned long long) m->nodes,
	       (unsigned long long) m->cores, (unsigned long long) m->gpus);
	for (uint32_t i = 0; i < m->kinds && i < 8; i++)
		printf("%s %u x %u cores %u GPUs", i ? "," : ":", m->kind[i].nodes, m->kind[i].cores, m->kind[i].gpus);
	printf("%s\n", m->kinds > 8 ? ", ..." : "");
}

static void print_times(const struct sl_workload *w, const struct sl_machine *m, const struct summary *sum)
{
	char a[SL_TEXT_SIZE], b[SL_TEXT_SIZE];
	uint32_t n = sum->jobs;
	int64_t span = n ? w->snap.job.submit_time[n - 1] - w->snap.job.submit_time[0] : 0;

	printf("submitted     in %s, from %s on\n", sl_text_duration(a, span),
	       n ? sl_text_time(b, w->snap.job.submit_time[0]) : "-");
	if (span > 0 && m->cores)
		printf("load          %.3f of the machine while jobs are submitted\n",
		       sum->core_s / ((double) m->cores * (double) span));
	if (!n)
		return;
	printf("runtime       mean %s,", sl_text_duration(a, (int64_t) (sum->runtime_s / n)));
	printf(" median %s,", sl_text_duration(a, sum->sorted[(n - 1) / 2]));
	printf(" longest %s\n", sl_text_duration(a, sum->sorted[n - 1]));
	printf("walltime      mean %s, %.2f times what is run\n", sl_text_duration(a, (int64_t) (sum->estimate_s / n)),
	       sum->estimate_s / sum->runtime_s);
	printf("cores         mean %.1f, most %llu\n", (double) sum->cores_sum / n,
	       (unsigned long long) sum->cores_max);
}

static int print_summary(const struct sl_workload *w, struct sl_error *err)
{
	struct summary sum = { 0 };
	struct sl_machine m = { 0 };
	struct sl_bound bound;
	char text[SL_TEXT_SIZE];
	int rc = -1;

	if (sl_machine_open(&m, &w->snap, err) < 0 || summarize(w, &m, &sum, err) < 0 ||
	    sl_bound_makespan(&w->snap, w->runtime_s, &bound, err) < 0)
		goto error;
	printf("workload      %s\n", w->name);
	print_machine(&m);
	printf("jobs          %u of %llu users", sum.jobs, (unsigned long long) sum.users);
	if (sum.gpu_jobs)
		printf(", %llu with GPUs", (unsigned long long) sum.gpu_jobs);
	if (sum.node_jobs)
		printf(", %llu with nodes", (unsigned long long) sum.node_jobs);
	if (sum.contiguous)
		printf(", %llu contiguous", (unsigned long long) sum.contiguous);
	putchar('\n');
	print_times(w, &m, &sum);
	printf("no schedule   is shorter than %s, or uses the machine to more than %.4f\n",
	       sl_text_duration(text, (int64_t) bound.makespan_s), bound.utilization);
	rc = 0;
error:
	sl_machine_close(&m);
	free(sum.sorted);
	return rc;
}

/* -- conversion ------------------------------------------------------------------ */

static int write_to(const struct sl_workload *w, const struct values *v, struct sl_error *err)
{
	FILE *out = v->output ? fopen(v->output, "we") : stdout;
	int rc;

	if (!out)
		return sl_fail(err, SL_EIO, "%s: %m", v->output);
	rc = v->json ? sl_workload_write_json(w, out, err) : sl_workload_write_swf(w, NULL, out, err);
	if (v->output && fclose(out) && !rc)
		rc = sl_fail(err, SL_EIO, "%s: %m", v->output);
	return rc;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_workload_options opt;
	struct sl_error err = { 0 };
	struct sl_workload *w;
	struct values v;
	int status, rc;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 1, &status) < 0)
		return status;
	if (v.command || v.columns) {
		if (v.command)
			printf("%s\n", sl_sacct_command);
		else
			sl_sacct_print_table(stdout);
		return sl_tool_end(SL_EXIT_FINE);
	}
	if (!argv[0])
		return sl_tool_usage(verb, "expected a workload");
	if (v.json && v.swf)
		return sl_tool_usage(verb, "--json and --swf: expected one of them");
	if (v.output && !v.json && !v.swf)
		return sl_tool_usage(verb, "--output: expected --json or --swf as well");
	opt = sl_workload_args(&v.args);
	w = sl_workload_load(argv[0], &opt, &err);
	if (!w)
		return sl_tool_fail(&err);
	sl_workload_print_issues(w, "schedlua: ", stderr);
	rc = v.json || v.swf ? write_to(w, &v, &err) : print_summary(w, &err);
	sl_workload_destroy(w);
	return rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_workload = {
	.name = "workload",
	.operands = "[OPTION]... WORKLOAD",
	.summary = "print what is in a workload, or write it as JSON or SWF",
	.options = options,
	.run = run,
};
