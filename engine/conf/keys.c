/* SPDX-License-Identifier: MIT */
/*
 * conf/keys.c - the options within lines of slurm.conf, gres.conf and topology.conf; see conf/private.h.
 *
 * They are those of _nodename_options[] and so on in src/common/read_config.c, of _gres_options[] and
 * _switch_options[], of all releases from 22.05 to 26.05 together.
 */
#include "conf/private.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#define TEXT(text) { .name = text, .type = SL_CONF_TEXT }
#define U16(text) { .name = text, .type = SL_CONF_U16 }
#define U32(text) { .name = text, .type = SL_CONF_U32 }
#define U64(text) { .name = text, .type = SL_CONF_U64 }
#define BOOLEAN(text) { .name = text, .type = SL_CONF_BOOLEAN }
#define TABLE(key) key, sizeof(key) / sizeof(key[0])

static const struct sl_conf_key node_keys[] = {
	[SL_NODE_BCAST_ADDR] = { .name = "BcastAddr", .type = SL_CONF_TEXT, .alone = true },
	[SL_NODE_BOARDS] = U16("Boards"),
	[SL_NODE_CORE_SPEC_COUNT] = U16("CoreSpecCount"),
	[SL_NODE_CORES_PER_SOCKET] = U16("CoresPerSocket"),
	[SL_NODE_CPU_BIND] = TEXT("CpuBind"),
	[SL_NODE_CPUS] = U16("CPUs"),
	[SL_NODE_CPU_SPEC_LIST] = TEXT("CPUSpecList"),
	[SL_NODE_FEATURE] = TEXT("Feature"),
	[SL_NODE_FEATURES] = TEXT("Features"),
	[SL_NODE_GRES] = TEXT("Gres"),
	[SL_NODE_GRES_CONF] = { .name = "GresConf", .type = SL_CONF_TEXT, .alone = true },
	[SL_NODE_MEM_SPEC_LIMIT] = U64("MemSpecLimit"),
	[SL_NODE_NODE_ADDR] = { .name = "NodeAddr", .type = SL_CONF_TEXT, .alone = true },
	[SL_NODE_NODE_HOSTNAME] = { .name = "NodeHostname", .type = SL_CONF_TEXT, .alone = true },
	[SL_NODE_PARAMETERS] = TEXT("Parameters"),
	[SL_NODE_PORT] = TEXT("Port"),
	[SL_NODE_PROCS] = U16("Procs"),
	[SL_NODE_REAL_MEMORY] = U64("RealMemory"),
	[SL_NODE_REASON] = TEXT("Reason"),
	[SL_NODE_RESTRICTED_CORES] = U16("RestrictedCoresPerGPU"),
	[SL_NODE_SOCKETS] = U16("Sockets"),
	[SL_NODE_SOCKETS_PER_BOARD] = U16("SocketsPerBoard"),
	[SL_NODE_STATE] = TEXT("State"),
	[SL_NODE_SUSPEND_TIME] = TEXT("SuspendTime"),
	[SL_NODE_THREADS_PER_CORE] = U16("ThreadsPerCore"),
	[SL_NODE_TMP_DISK] = U32("TmpDisk"),
	[SL_NODE_TOPOLOGY] = TEXT("Topology"),
	[SL_NODE_TRES_WEIGHTS] = TEXT("TRESWeights"),
	[SL_NODE_WEIGHT] = U32("Weight"),
};

static const struct sl_conf_key partition_keys[] = {
	[SL_PARTITION_ALLOC_NODES] = TEXT("AllocNodes"),
	[SL_PARTITION_ALLOW_ACCOUNTS] = TEXT("AllowAccounts"),
	[SL_PARTITION_ALLOW_GROUPS] = TEXT("AllowGroups"),
	[SL_PARTITION_ALLOW_QOS] = TEXT("AllowQos"),
	[SL_PARTITION_ALTERNATE] = TEXT("Alternate"),
	[SL_PARTITION_CPU_BIND] = TEXT("CpuBind"),
	[SL_PARTITION_DEFAULT] = BOOLEAN("Default"),
	[SL_PARTITION_DEFAULT_TIME] = TEXT("DefaultTime"),
	[SL_PARTITION_DEF_CPU_PER_GPU] = U64("DefCPUPerGPU"),
	[SL_PARTITION_DEF_MEM_PER_CPU] = U64("DefMemPerCPU"),
	[SL_PARTITION_DEF_MEM_PER_GPU] = U64("DefMemPerGPU"),
	[SL_PARTITION_DEF_MEM_PER_NODE] = U64("DefMemPerNode"),
	[SL_PARTITION_DENY_ACCOUNTS] = TEXT("DenyAccounts"),
	[SL_PARTITION_DENY_QOS] = TEXT("DenyQos"),
	[SL_PARTITION_DISABLE_ROOT_JOBS] = { .name = "DisableRootJobs", .type = SL_CONF_BOOLEAN, .alone = true },
	[SL_PARTITION_EXCLUSIVE] = TEXT("Exclusive"),
	[SL_PARTITION_EXCLUSIVE_TOPO] = { .name = "ExclusiveTopo", .type = SL_CONF_BOOLEAN, .alone = true },
	[SL_PARTITION_EXCLUSIVE_USER] = { .name = "ExclusiveUser", .type = SL_CONF_BOOLEAN, .alone = true },
	[SL_PARTITION_GRACE_TIME] = U32("GraceTime"),
	[SL_PARTITION_HIDDEN] = BOOLEAN("Hidden"),
	[SL_PARTITION_LLN] = BOOLEAN("LLN"),
	[SL_PARTITION_MAX_CPUS_PER_NODE] = U32("MaxCPUsPerNode"),
	[SL_PARTITION_MAX_CPUS_PER_SOCKET] = U32("MaxCPUsPerSocket"),
	[SL_PARTITION_MAX_MEM_PER_CPU] = U64("MaxMemPerCPU"),
	[SL_PARTITION_MAX_MEM_PER_NODE] = U64("MaxMemPerNode"),
	[SL_PARTITION_MAX_NODES] = U32("MaxNodes"),
	[SL_PARTITION_MAX_TIME] = TEXT("MaxTime"),
	[SL_PARTITION_MIN_NODES] = U32("MinNodes"),
	[SL_PARTITION_NODES] = TEXT("Nodes"),
	[SL_PARTITION_OVERSUBSCRIBE] = TEXT("OverSubscribe"),
	[SL_PARTITION_OVER_TIME_LIMIT] = TEXT("OverTimeLimit"),
	[SL_PARTITION_POWER_DOWN_ON_IDLE] = { .name = "PowerDownOnIdle", .type = SL_CONF_BOOLEAN, .alone = true },
	[SL_PARTITION_PREEMPT_MODE] = TEXT("PreemptMode"),
	[SL_PARTITION_PRIORITY] = U16("Priority"),
	[SL_PARTITION_PRIORITY_JOB_FACTOR] = U16("PriorityJobFactor"),
	[SL_PARTITION_PRIORITY_TIER] = U16("PriorityTier"),
	[SL_PARTITION_QOS] = TEXT("QOS"),
	[SL_PARTITION_REQ_RESV] = BOOLEAN("ReqResv"),
	[SL_PARTITION_RESUME_TIMEOUT] = U16("ResumeTimeout"),
	[SL_PARTITION_ROOT_ONLY] = BOOLEAN("RootOnly"),
	[SL_PARTITION_SELECT_TYPE_PARAMETERS] = { .name = "SelectTypeParameters", .type = SL_CONF_TEXT, .alone = true },
	[SL_PARTITION_SHARED] = TEXT("Shared"),
	[SL_PARTITION_STATE] = TEXT("State"),
	[SL_PARTITION_SUSPEND_TIME] = { .name = "SuspendTime", .type = SL_CONF_TEXT, .alone = true },
	[SL_PARTITION_SUSPEND_TIMEOUT] = U16("SuspendTimeout"),
	[SL_PARTITION_TOPOLOGY] = TEXT("Topology"),
	[SL_PARTITION_TRES_BILLING_WEIGHTS] = TEXT("TRESBillingWeights"),
};

static const struct sl_conf_key nodeset_keys[] = {
	[SL_NODESET_FEATURE] = TEXT("Feature"),
	[SL_NODESET_NODES] = TEXT("Nodes"),
};

static const struct sl_conf_key gres_keys[] = {
	[SL_GRES_AUTODETECT] = TEXT("AutoDetect"),
	[SL_GRES_CORES] = TEXT("Cores"),
	[SL_GRES_COUNT] = TEXT("Count"),
	[SL_GRES_CPUS] = TEXT("CPUs"),
	[SL_GRES_FILE] = TEXT("File"),
	[SL_GRES_FILES] = TEXT("Files"),
	[SL_GRES_FLAGS] = TEXT("Flags"),
	[SL_GRES_LINK] = TEXT("Link"),
	[SL_GRES_LINKS] = TEXT("Links"),
	[SL_GRES_MULTIPLE_FILES] = TEXT("MultipleFiles"),
	[SL_GRES_NAME] = TEXT("Name"),
	[SL_GRES_TYPE] = TEXT("Type"),
};

static const struct sl_conf_key switch_keys[] = {
	[SL_SWITCH_LINK_SPEED] = U32("LinkSpeed"),
	[SL_SWITCH_NODES] = TEXT("Nodes"),
	[SL_SWITCH_SWITCHES] = TEXT("Switches"),
};

static const struct sl_conf_key block_keys[] = {
	[SL_BLOCK_NODES] = TEXT("Nodes"),
};

static const struct sl_conf_key downnodes_keys[] = {
	TEXT("Reason"), TEXT("State"),
};

static const struct sl_conf_key frontend_keys[] = {
	TEXT("AllowGroups"), TEXT("AllowUsers"), TEXT("DenyGroups"),
	TEXT("DenyUsers"), TEXT("FrontendAddr"), U16("Port"),
	TEXT("Reason"), TEXT("State"),
};

const struct sl_conf_table sl_conf_node_table = { "NodeName", TABLE(node_keys) };
const struct sl_conf_table sl_conf_partition_table = { "PartitionName", TABLE(partition_keys) };
const struct sl_conf_table sl_conf_nodeset_table = { "NodeSet", TABLE(nodeset_keys) };
const struct sl_conf_table sl_conf_gres_table = { "gres.conf", TABLE(gres_keys) };
const struct sl_conf_table sl_conf_switch_table = { "SwitchName", TABLE(switch_keys) };
const struct sl_conf_table sl_conf_block_table = { "BlockName", TABLE(block_keys) };
const struct sl_conf_table sl_conf_downnodes_table = { "DownNodes", TABLE(downnodes_keys) };
const struct sl_conf_table sl_conf_frontend_table = { "FrontendName", TABLE(frontend_keys) };

/* -- values ----------------------------------------------------------------- */

bool sl_conf_scan_number(enum sl_conf_type type, const char *text, uint64_t *n)
{
	uint64_t most = type == SL_CONF_U16 ? UINT16_MAX : type == SL_CONF_U32 ? UINT32_MAX : UINT64_MAX;
	unsigned long long v;
	char *end;

	if (!strcasecmp(text, "UNLIMITED") || !strcasecmp(text, "INFINITE")) {
		*n = most;
		return true;
	}
	errno = 0;
	v = strtoull(text, &end, 0);
	if ((*end == 'k' || *end == 'K') && type != SL_CONF_U16) {
		if (v > UINT64_MAX / 1024)
			return false;
		v *= 1024;
		end++;
	}
	if (*end || errno || *text == '-' || v > most)
		return false;
	*n = v;
	return true;
}

bool sl_conf_scan_boolean(const char *text, bool *is)
{
	static const char *const words[2][4] = { { "no", "down", "false", "0" }, { "yes", "up", "true", "1" } };

	for (int yes = 0; yes < 2; yes++)
		for (int i = 0; i < 4; i++)
			if (!strcasecmp(text, words[yes][i])) {
				*is = yes;
				return true;
			}
	return false;
}
