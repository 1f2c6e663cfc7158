/* SPDX-License-Identifier: MIT */
/*
 * bind/unsaid.c - in which columns a 0 or an empty list says that nobody has set the value: there a field is nil.
 *
 * Texts are not listed, since none may be empty, nor are columns with a word for that (SL_NONE).  Not listed are
 * columns that count something (array_pending, restarts), lists of what there is (alloc, flags), and times that
 * every row has.
 */
#include "bind/bind.h"

#include <string.h>

static const struct {
	int table;
	const char *columns;	/* with a blank before and behind each */
} unsaid[] = {
	{ SL_T_NODE, " core_spec memory tmp_disk res_cores_per_gpu boot_time power_time " },
	{ SL_T_PARTITION, " default_time min_nodes over_time_limit block_nodes " },
	{ SL_T_JOB, " array_max_running begin_time deadline start_time end_time suspend_time resize_time time_min max_nodes "
		    "max_cpus num_tasks ntasks_per_node ntasks_per_socket ntasks_per_core threads_per_core pn_min_cpus "
		    "memory_per_node memory_per_cpu tmp_disk core_spec gres licenses req_nodes exc_nodes switches "
		    "switch_wait segment sockets_per_node cores_per_socket plane_size arbitrary_tpn yields_after safe_until "
		    "preempt_mode preempt_from grace_time preempt_time " },
	{ SL_T_JOB_GRES, " cpus memory " },
	{ SL_T_SHAPE, " max_nodes num_tasks ntasks_per_node time_limit gres " },
	{ SL_T_RESERVATION, " cores parts licenses " },
};

bool sl_lua_may_be_unsaid(int table, const char *column)
{
	char name[64];

	if (strlen(column) > sizeof(name) - 3)
		return false;
	snprintf(name, sizeof(name), " %s ", column);
	for (size_t i = 0; i < sizeof(unsaid) / sizeof(unsaid[0]); i++)
		if (unsaid[i].table == table)
			return strstr(unsaid[i].columns, name) != NULL;
	return false;
}
