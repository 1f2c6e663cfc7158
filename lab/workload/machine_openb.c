/* SPDX-License-Identifier: MIT */
/*
 * machine_openb.c - the machine of Alibaba's cluster-trace-gpu-v2023: a table of its nodes.
 *
 *	sn,cpu_milli,memory_mib,gpu,model
 *	openb-node-0227,64000,262144,2,P100
 */
#include "workload/private.h"

#include <inttypes.h>
#include <string.h>

#define HEADER "sn,cpu_milli,memory_mib,gpu,model"
#define MOST_NODES ((uint32_t) 1 << 22)

int sl_machine_is_openb(const char *path, struct sl_error *err)
{
	struct sl_error why = { .code = SL_OK };
	struct sl_lines *l = sl_lines_open(path, &why);
	char *line;
	bool is = l && sl_lines_next(l, &line, &why) > 0 && !strcmp(line, HEADER);

	sl_lines_close(l);
	return why.code == SL_ENOMEM ? sl_fail(err, SL_ENOMEM, "%s", why.text) : is;
}

static int add_node(struct sl_builder *b, char *line, const char *path, uint64_t number, struct sl_error *err)
{
	char *name = strsep(&line, ","), *cpus = strsep(&line, ","), *memory = strsep(&line, ","), *gpus = strsep(&line, ",");
	struct sl_node_gres_row gres = sl_node_gres_row();
	struct sl_node_row row = sl_node_row();
	int64_t milli, mib, count;

	if (!line || !*name || !sl_scan_whole(cpus, &milli) || !sl_scan_whole(memory, &mib) || !sl_scan_whole(gpus, &count) ||
	    milli < 1000 || milli > INT64_C(65535) * 1000 || mib < 0 || count < 0 || count > 65535)
		return sl_fail(err, SL_EFORMAT, "%s:%" PRIu64 ": expected a node: %s", path, number, HEADER);
	row.name = sl_builder_str(b, name);
	row.cores = (uint32_t) (milli / 1000);
	row.memory = mib;
	if (count) {
		gres.kind = sl_machine_gres_kind(b, "gpu", line);
		gres.count = (uint32_t) count;
		row.gres = (struct sl_range) { sl_builder_append(b, SL_T_NODE_GRES, &gres), 1 };
	}
	sl_builder_append(b, SL_T_NODE, &row);
	return 0;
}

int sl_machine_load_openb(struct sl_builder *b, const char *path, uint32_t *select_flags, struct sl_error *err)
{
	struct sl_lines *l = sl_lines_open(path, err);
	char *line;
	int64_t n = 0;
	int rc = l ? 0 : -1;

	while (!rc && (n = sl_lines_next(l, &line, err)) > 0)
		if (sl_lines_number(l) > 1 && *line)
			rc = sl_builder_rows(b, SL_T_NODE) < MOST_NODES ? add_node(b, line, path, sl_lines_number(l), err) :
			     sl_fail(err, SL_ELIMIT, "%s: more than %" PRIu32 " nodes", path, MOST_NODES);
	sl_lines_close(l);
	if (rc || n < 0)
		return -1;
	if (!sl_builder_rows(b, SL_T_NODE))
		return sl_fail(err, SL_EFORMAT, "%s: no node", path);
	sl_machine_add_all(b);
	*select_flags |= SL_SELECT_MEMORY;
	return 0;
}
