/* SPDX-License-Identifier: MIT */
/* build_tasks.c - jobs that say how many tasks each of their nodes has; see build.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/build.h"

void build_say_tasks(struct build *b, struct sl_job_row *r, uint32_t first, const char *tasks)
{
	struct sl_node_tasks_row row = sl_node_tasks_row();
	struct sl_range nodes = { sl_builder_rows(b->builder, SL_T_RUN), 0 };

	r->distribution = SL_DIST_ARBITRARY;
	r->arbitrary_tpn = (struct sl_range) { sl_builder_rows(b->builder, SL_T_NODE_TASKS), 0 };
	r->num_tasks = 0;
	for (uint32_t n = first; *tasks && n < b->nodes; n++, tasks++) {
		row.node = n;
		row.tasks = (uint32_t) (*tasks - '0');
		if (!row.tasks)
			continue;
		sl_builder_append(b->builder, SL_T_NODE_TASKS, &row);
		build_nodes(b, n, n);
		nodes.count++;
		r->num_tasks += row.tasks;
	}
	r->req_nodes = nodes;
	r->arbitrary_tpn.count = r->min_nodes = r->max_nodes = nodes.count;
	r->min_cpus = r->num_tasks * r->cpus_per_task;
	r->ntasks_per_node = 0;
	r->pn_min_cpus = r->cpus_per_task;
}
