/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hidden.c - see hidden.h */
#include "plugin/records/compat.h"

#include "plugin/hidden.h"

bool sl_hidden_jobs(void)
{
	return slurm_conf.private_data & (PRIVATE_DATA_JOBS | PRIVATE_DATA_NODES | PRIVATE_DATA_PARTITIONS |
					  PRIVATE_DATA_RESERVATIONS | PRIVATE_DATA_USAGE) ||
	       xstrcasestr(slurm_conf.mcs_plugin_params, "privatedata");
}

void sl_hidden_words(char *words, size_t size)
{
	static const struct { uint16_t flag; const char *word; } known[] = {
		{ PRIVATE_DATA_JOBS, "jobs" }, { PRIVATE_DATA_NODES, "nodes" }, { PRIVATE_DATA_PARTITIONS, "partitions" },
		{ PRIVATE_DATA_USAGE, "usage" }, { PRIVATE_DATA_USERS, "users" }, { PRIVATE_DATA_ACCOUNTS, "accounts" },
		{ PRIVATE_DATA_RESERVATIONS, "reservations" }, { PRIVATE_DATA_EVENTS, "events" },
	};
	size_t i, n = 0;

	*words = '\0';
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (slurm_conf.private_data & known[i].flag)
			n += (size_t) snprintf(words + n, size - n, "%s%s", n ? "," : "", known[i].word);
	if (xstrcasestr(slurm_conf.mcs_plugin_params, "privatedata"))
		snprintf(words + n, size - n, "%smcs", n ? "," : "");
}
