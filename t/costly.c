/* SPDX-License-Identifier: MIT */
/* costly.c - see costly.h */
#include "t/costly.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"

#define FEATURES 60
#define CORES 32	/* of a node of bench/busy.h */

struct draw {
	struct sl_builder *b;
	struct sl_random r;
	uint32_t nodes;
};

static const char *const words[COSTLY_KINDS] = {
	[COSTLY_PLAIN] = "plain", [COSTLY_CONSTRAINT] = "constraint", [COSTLY_COUNTS] = "counts",
	[COSTLY_PREFER] = "prefer", [COSTLY_EXCLUDE] = "exclude", [COSTLY_REQUIRE] = "require",
	[COSTLY_HET] = "het", [COSTLY_SHAPES] = "shapes", [COSTLY_NODE_COUNTS] = "node_counts",
	[COSTLY_CONTIGUOUS] = "contiguous", [COSTLY_WIDE] = "wide", [COSTLY_ALL] = "all",
};

const char *costly_word(enum costly kind)
{
	return words[kind];
}

static uint32_t below(struct draw *d, uint32_t limit)
{
	return (uint32_t) sl_random_below(&d->r, limit);
}

void costly_features(struct sl_builder *b, uint32_t nodes, uint64_t seed)
{
	struct draw d = { .b = b, .nodes = nodes };

	sl_random_seed(&d.r, seed);
	for (uint32_t n = 0; n < nodes; n++) {
		struct sl_node_row row;
		char text[256];

		snprintf(text, sizeof(text), "rack%u", n / 40);
		for (uint32_t i = 0; i < 12; i++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), ",f%u", below(&d, FEATURES));
		sl_builder_row(b, SL_T_NODE, n, &row);
		row.features = sl_builder_str(b, text);
		sl_builder_update(b, SL_T_NODE, n, &row);
	}
}

/* -- requests -------------------------------------------------------------- */

static void append_name(struct draw *d, char *text, size_t size, const char *before)
{
	snprintf(text + strlen(text), size - strlen(text), "%sf%u", before, below(d, FEATURES));
}

static uint32_t long_constraint(struct draw *d, size_t length)
{
	char text[1100] = "f0";

	while (strlen(text) + 90 < length) {
		append_name(d, text, sizeof(text), "|(");
		append_name(d, text, sizeof(text), below(d, 2) ? "&" : "|");
		strcat(text, ")");
	}
	append_name(d, text, sizeof(text), "&[");
	for (int i = 1; i < 16; i++)
		append_name(d, text, sizeof(text), "|");
	strcat(text, "]");
	return sl_builder_str(d->b, text);
}

static void ask_counts(struct draw *d, struct sl_job_row *row)
{
	char text[1100] = "";

	for (uint32_t i = 0; i < 8; i++) {
		append_name(d, text, sizeof(text), i ? "&(" : "[(");
		for (uint32_t k = 0; k < 20; k++)
			append_name(d, text, sizeof(text), below(d, 2) ? "&" : "|");
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ")*%u", 1 + below(d, 30));
	}
	strcat(text, "]");
	row->features = sl_builder_str(d->b, text);
	row->min_nodes = 240;
	row->max_nodes = row->num_tasks = row->min_cpus = 300;
}

/* Every *step*-th node, from a random one on. */
static struct sl_range list_nodes(struct draw *d, uint32_t step, uint32_t most)
{
	struct sl_range list = { sl_builder_rows(d->b, SL_T_RUN), 0 };

	for (uint32_t n = below(d, step); n < d->nodes && list.count < most; n += step) {
		struct sl_run_row run = { n, n };

		sl_builder_append(d->b, SL_T_RUN, &run);
		list.count++;
	}
	return list;
}

static void ask_nodes(struct sl_job_row *row, uint32_t nodes, uint32_t each)
{
	row->min_nodes = row->max_nodes = nodes;
	row->ntasks_per_node = each;
	row->num_tasks = row->min_cpus = nodes * each;
}

static void ask_required(struct draw *d, struct sl_job_row *row)
{
	row->req_nodes = list_nodes(d, 2 + below(d, 20), 1 + below(d, d->nodes));
	ask_nodes(row, row->req_nodes.count + below(d, 10), 1);
}

static void ask_shapes(struct draw *d, struct sl_job_row *row)
{
	row->shapes = (struct sl_range) { sl_builder_rows(d->b, SL_T_SHAPE), 16 };
	for (uint32_t i = 0; i < row->shapes.count; i++) {
		struct sl_shape_row shape = sl_shape_row();

		shape.min_nodes = 1 + below(d, d->nodes / 2);
		shape.max_nodes = shape.min_nodes + below(d, 100);
		shape.num_tasks = shape.max_nodes + below(d, 20 * d->nodes);
		shape.time_limit = 60 * (1 + below(d, 5000));
		sl_builder_append(d->b, SL_T_SHAPE, &shape);
	}
}

static void ask_node_counts(struct draw *d, struct sl_job_row *row)
{
	char text[256] = "1";

	for (uint32_t i = 1, n = 1; i < 16; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%u", n += 2 + below(d, d->nodes / 20));
	row->node_counts = sl_builder_str(d->b, text);
	row->min_nodes = 1;
	row->max_nodes = d->nodes;
	row->num_tasks = row->min_cpus = 1 + below(d, 20 * d->nodes);
}

static void ask_wide(struct draw *d, struct sl_job_row *row)
{
	row->min_nodes = 1 + below(d, d->nodes / 2);
	row->max_nodes = row->min_nodes + below(d, d->nodes / 2);
	row->num_tasks = row->min_cpus = row->max_nodes + below(d, 16 * d->nodes);
	row->cpus_per_task = 1 + below(d, 3);
}

static void ask(struct draw *d, enum costly kind, struct sl_job_row *row)
{
	switch (kind) {
	case COSTLY_PREFER:
		row->prefer = long_constraint(d, 1000);
		__attribute__((fallthrough));
	case COSTLY_CONSTRAINT:
		row->features = long_constraint(d, 1023);
		ask_nodes(row, 1 + below(d, d->nodes / 4), 1 + below(d, CORES));
		break;
	case COSTLY_COUNTS:
		ask_counts(d, row);
		break;
	case COSTLY_EXCLUDE:
		row->exc_nodes = list_nodes(d, 2, d->nodes);
		ask_nodes(row, 1 + below(d, d->nodes / 2), 1 + below(d, CORES));
		break;
	case COSTLY_REQUIRE:
		ask_required(d, row);
		break;
	case COSTLY_SHAPES:
		ask_shapes(d, row);
		break;
	case COSTLY_NODE_COUNTS:
		ask_node_counts(d, row);
		break;
	case COSTLY_CONTIGUOUS:
		row->flags |= SL_JOBF_CONTIGUOUS;
		ask_nodes(row, 1 + below(d, d->nodes / 4), 1 + below(d, CORES));
		break;
	case COSTLY_WIDE:
		ask_wide(d, row);
		break;
	default:
		ask_nodes(row, below(d, 2) ? 1 : 1 + below(d, 16), 1 + below(d, CORES));
	}
}

static uint32_t append_job(struct draw *d, struct sl_job_row *row)
{
	struct sl_queue_row entry = { .partition = 0, .priority = row->priority };

	row->stamp = row->id;
	entry.job = sl_builder_append(d->b, SL_T_JOB, row);
	sl_builder_append(d->b, SL_T_QUEUE, &entry);
	return entry.job;
}

uint32_t costly_job(struct sl_builder *b, enum costly kind, uint32_t nodes, uint32_t id, uint32_t uid, uint64_t seed)
{
	struct draw d = { .b = b, .nodes = nodes };
	struct sl_job_row row = sl_job_row();
	uint32_t first;

	sl_random_seed(&d.r, seed);
	row.id = id;
	row.uid = row.gid = uid;
	row.user = sl_builder_str(b, "mallory");
	row.partition = 0;
	row.priority = 1000;
	row.time_limit = 60 * (1 + (int64_t) below(&d, 10000));
	row.memory_per_cpu = 1000;
	if (kind == COSTLY_ALL)
		for (int k = COSTLY_CONSTRAINT; k < COSTLY_ALL; k++)
			if (below(&d, 3) == 0)
				ask(&d, k, &row);
	if (kind != COSTLY_HET) {
		ask(&d, kind == COSTLY_ALL ? COSTLY_KINDS : kind, &row);
		return append_job(&d, &row);
	}
	row.het_job_id = id;
	for (first = sl_builder_rows(b, SL_T_JOB); row.het_offset + 1 < COSTLY_COMPONENTS + 1; row.id++) {
		row.het_offset = row.id - id;
		if (row.het_offset == COSTLY_COMPONENTS)
			break;
		ask(&d, COSTLY_CONSTRAINT + below(&d, COSTLY_HET - COSTLY_CONSTRAINT), &row);
		row.min_nodes = row.max_nodes = 1 + below(&d, 50);
		row.num_tasks = row.min_cpus = row.min_nodes;
		row.ntasks_per_node = 1;
		append_job(&d, &row);
	}
	return first;
}
