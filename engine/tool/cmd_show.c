/* SPDX-License-Identifier: MIT */
/*
 * cmd_show.c - schedlua show: what is in a snapshot, and its other form.
 */
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

#include "image/snapshot.h"
#include "base/text.h"
#include "image/plan_image.h"
#include "model/cluster.h"

struct values {
	bool json, schema;
	const char *output;
};

static const struct sl_option options[] = {
	{ .name = "json", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, json),
	  .doc = "print the snapshot as JSON" },
	{ .name = "output", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, output), .argument = "FILE",
	  .doc = "write the snapshot to a file as an image (with --json: as JSON)" },
	{ .name = "schema", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, schema),
	  .doc = "print the JSON Schema of snapshots as --json prints them; of plans with the operand \"plan\"" },
	{ 0 }
};

/* -- summary ------------------------------------------------------------ */

static void print_nodes(const struct sl_snapshot *s)
{
	const struct sl_node_view *n = &s->node;
	uint32_t unusable = 0;
	uint64_t cores = 0, memory = 0;

	for (uint32_t i = 0; i < n->rows; i++) {
		unusable += (n->state[i] & SL_NODE_UNUSABLE) != 0;
		cores += n->cores[i];
		memory += (uint64_t) n->memory[i];
	}
	printf("nodes         %u (%u down or drained), %llu cores, %llu MiB\n", n->rows, unusable,
	       (unsigned long long) cores, (unsigned long long) memory);
	for (uint32_t k = 0; k < s->gres_kind.rows; k++) {
		uint64_t count = 0;

		for (uint32_t i = 0; i < s->node_gres.rows; i++)
			count += s->node_gres.kind[i] == k ? s->node_gres.count[i] : 0;
		printf("gres          %s: %llu\n", sl_snapshot_str(s, s->gres_kind.key[k]), (unsigned long long) count);
	}
}

/* Jobs of the queue that only Slurm's select can place, each where it stands first. */
static int count_native(const struct sl_snapshot *s, uint32_t *count, struct sl_error *err)
{
	struct sl_cluster *c = sl_cluster_create(s, err);
	uint8_t *seen = c ? calloc(s->job.rows + 1, 1) : NULL;
	int rc = !c ? -1 : seen ? 0 : sl_fail(err, SL_ENOMEM, "show: out of memory");

	for (uint32_t i = 0; !rc && i < s->queue.rows; i++) {
		struct sl_entry e = { .job = s->queue.job[i], .partition = s->queue.partition[i] };
		const struct sl_want *w;

		if (seen[e.job])
			continue;
		seen[e.job] = 1;
		w = sl_cluster_want(c, e, err);
		rc = w ? 0 : -1;
		*count += w && w->native;
	}
	free(seen);
	sl_cluster_destroy(c);
	return rc;
}

static int print_jobs(const struct sl_snapshot *s, struct sl_error *err)
{
	uint32_t count[SL_JOB_STATES] = { 0 }, native = 0;

	if (count_native(s, &native, err) < 0)
		return -1;
	for (uint32_t i = 0; i < s->job.rows; i++)
		count[s->job.state[i]]++;
	printf("jobs          %u", s->job.rows);
	for (uint32_t i = 0; i < SL_JOB_STATES; i++)
		if (count[i])
			printf(", %u %s", count[i], sl_job_state_word(i));
	printf("\nqueue         %u entries that may start\n", s->queue.rows);
	if (native)
		printf("native        %u pending jobs that only Slurm's select can place\n", native);
	return 0;
}

static int print_partitions(const struct sl_snapshot *s)
{
	struct sl_text_table *t = sl_text_table_create("PARTITION,STATE,>TIER,>NODES,>TIMELIMIT,>QUEUE");
	char limit[SL_TEXT_SIZE];
	int rc;

	for (uint32_t p = 0; p < s->partition.rows; p++) {
		struct sl_range runs = s->partition.nodes[p];
		uint32_t nodes = 0, queued = 0;

		for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
			nodes += s->run.last[i] - s->run.first[i] + 1;
		for (uint32_t i = 0; i < s->queue.rows; i++)
			queued += s->queue.partition[i] == p;
		sl_text_table_add(t, sl_snapshot_str(s, s->partition.name[p]));
		sl_text_table_add(t, s->partition.flags[p] & SL_PART_UP ? "up" : "down");
		sl_text_table_addf(t, "%u", s->partition.priority_tier[p]);
		sl_text_table_addf(t, "%u", nodes);
		sl_text_table_add(t, sl_text_duration(limit, s->partition.max_time[p]));
		sl_text_table_addf(t, "%u", queued);
	}
	putchar('\n');
	rc = sl_text_table_print(t, 0, stdout);
	sl_text_table_destroy(t);
	return rc;
}

static int print_summary(const struct sl_snapshot *s, struct sl_error *err)
{
	const char *slurm = sl_snapshot_str(s, s->meta.slurm_version[0]);
	char now[SL_TEXT_SIZE];

	printf("cluster       %s, %s%s%staken by %s\n", sl_snapshot_str(s, s->meta.cluster[0]), *slurm ? "Slurm " : "",
	       slurm, *slurm ? ", " : "", sl_snapshot_str(s, s->meta.source[0]));
	printf("time          %s (cycle %lld)\n", sl_text_time(now, s->meta.now[0]), (long long) s->meta.sequence[0]);
	print_nodes(s);
	if (print_jobs(s, err) < 0)
		return -1;
	printf("reservations  %u\n", s->reservation.rows);
	printf("licences      %u\n", s->license.rows);
	return print_partitions(s) ? sl_fail(err, SL_ENOMEM, "show: out of memory") : 0;
}

/* -- conversion --------------------------------------------------------- */

static int write_json(const struct sl_image *image, const void *view, const char *output, struct sl_error *err)
{
	FILE *out = output ? fopen(output, "we") : stdout;
	int rc;

	if (!out)
		return sl_fail(err, SL_EIO, "%s: %m", output);
	rc = sl_image_to_json(image, view, out, err);
	if (output && fclose(out) && !rc)
		rc = sl_fail(err, SL_EIO, "%s: %m", output);
	return rc;
}

/* A plan, as the plug-in keeps those of which the checker refused a row.  0, or -1: it is none. */
static int write_plan(const char *path, const char *output)
{
	struct sl_plan_image plan;
	struct sl_error err;
	void *bytes = NULL;
	size_t size;
	int rc = sl_image_load(&sl_plan_schema, path, &bytes, &size, &err);

	if (!rc)
		rc = sl_plan_image_open(&plan, bytes, size, &err);
	if (!rc)
		rc = write_json(&plan.image, &plan, output, &err);
	free(bytes);
	return rc;
}

/* Of snapshots, or of plans. */
static int print_schema(const struct sl_verb *verb, int operands, char **argv)
{
	bool plan = operands && !strcmp(argv[0], "plan");
	struct sl_error err;

	if (operands && !plan && strcmp(argv[0], "snapshot"))
		return sl_tool_usage(verb, "--schema of \"%s\": expected snapshot or plan", argv[0]);
	return sl_image_schema_to_json(plan ? &sl_plan_schema : &sl_snapshot_schema, stdout, &err) < 0 ? sl_tool_fail(&err) :
		sl_tool_end(SL_EXIT_FINE);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_snapshot snap;
	struct sl_error err = { 0 };
	struct values v;
	void *bytes = NULL;
	size_t size;
	int status, rc, n = sl_tool_parse(verb, &v, argc, argv, 0, 1, &status);

	if (n < 0)
		return status;
	if (v.schema)
		return print_schema(verb, n, argv);
	if (!n)
		return sl_tool_usage(verb, "a snapshot is missing");
	rc = sl_image_load(&sl_snapshot_schema, argv[0], &bytes, &size, &err);
	if (!rc && (rc = sl_snapshot_open(&snap, bytes, size, &err)))
		sl_fail_in(&err, "%s", argv[0]);
	if (rc && v.json && !write_plan(argv[0], v.output))
		rc = 0;
	else if (!rc && v.json)
		rc = write_json(&snap.image, &snap, v.output, &err);
	else if (!rc && v.output)
		rc = sl_image_save(v.output, bytes, size, &err);
	else if (!rc)
		rc = print_summary(&snap, &err);
	free(bytes);
	return rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_show = {
	.name = "show",
	.operands = "[--json] [--output=FILE] SNAPSHOT | --schema",
	.summary = "print what is in a snapshot, or convert it from and to JSON",
	.options = options,
	.run = run,
};
