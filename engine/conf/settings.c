/* SPDX-License-Identifier: MIT */
/*
 * conf/settings.c - the options of slurm.conf that stand in a line of their own; see conf/private.h.
 *
 * They are those of slurm_conf_options[] in src/common/read_config.c, of all releases from 22.05 to 26.05
 * together, so that a file of any of them is understood.
 */
#include "conf/private.h"

#include <string.h>
#include <strings.h>

#include "base/suggest.h"

static const char *const texts[] = {
	"AccountingStorageBackupHost", "AccountingStorageEnforce", "AccountingStorageExternalHost",
	"AccountingStorageHost", "AccountingStorageLoc", "AccountingStorageParameters",
	"AccountingStoragePass", "AccountingStorageTRES", "AccountingStorageType", "AccountingStorageUser",
	"AccountingStoreFlags", "AcctGatherEnergyType", "AcctGatherFilesystemType",
	"AcctGatherInfinibandType", "AcctGatherInterconnectType", "AcctGatherProfileType",
	"AuthAltParameters", "AuthAltTypes", "AuthInfo", "AuthType", "BackupAddr", "BackupController",
	"BcastExclude", "BcastParameters", "BurstBufferParameters", "BurstBufferType", "CertgenParameters",
	"CertgenType", "CertmgrParameters", "CertmgrType", "CliFilterParameters", "CliFilterPlugins",
	"ClusterName", "CommunicationParameters", "ControlAddr", "ControlMachine", "CoreSpecPlugin",
	"CpuFreqDef", "CpuFreqGovernors", "CredType", "CryptoType", "DataParserParameters", "DebugFlags",
	"DependencyParameters", "EnforcePartLimits", "Epilog", "EpilogSlurmctld", "ExtSensorsType",
	"FederationParameters", "GpuFreqDef", "GresTypes", "HashPlugin", "HealthCheckNodeState",
	"HealthCheckProgram", "HttpParserType", "InteractiveStepOptions", "JobAcctGatherFrequency",
	"JobAcctGatherParams", "JobAcctGatherType", "JobCompHost", "JobCompLoc", "JobCompParams",
	"JobCompPass", "JobCompPassScript", "JobCompType", "JobCompUser", "JobContainerType",
	"JobCredentialPrivateKey", "JobCredentialPublicCertificate", "JobSubmitPlugins",
	"LaunchParameters", "LaunchType", "LicenseParameters", "Licenses", "LogTimeFormat", "MailDomain",
	"MailProg", "MCSParameters", "MCSPlugin", "MetricsAuthUsers", "MetricsParameters", "MetricsType",
	"MpiDefault", "MpiParams", "NamespaceType", "NodeFeaturesPlugins", "PluginDir", "PlugStackConfig",
	"PowerParameters", "PowerPlugin", "PreemptExemptTime", "PreemptMode", "PreemptParameters",
	"PreemptType", "PrEpParameters", "PrEpPlugins", "PriorityCalcPeriod", "PriorityDecayHalfLife",
	"PriorityFlags", "PriorityMaxAge", "PriorityParameters", "PrioritySiteFactorParameters",
	"PrioritySiteFactorPlugin", "PriorityType", "PriorityUsageResetPeriod", "PriorityWeightTRES",
	"PrivateData", "ProctrackType", "Prolog", "PrologFlags", "PrologSlurmctld",
	"PropagateResourceLimits", "PropagateResourceLimitsExcept", "RebootProgram", "ReconfigFlags",
	"RequeueExit", "RequeueExitHold", "ResumeFailProgram", "ResumeProgram", "ResvEpilog", "ResvProlog",
	"RoutePlugin", "SallocDefaultCommand", "SbcastParameters", "SchedulerAuth", "SchedulerParameters",
	"SchedulerType", "ScronParameters", "SelectType", "SelectTypeParameters", "SlurmctldAddr",
	"SlurmctldDebug", "SlurmctldHost", "SlurmctldHttpAuthParameters", "SlurmctldLogFile",
	"SlurmctldParameters", "SlurmctldPidFile", "SlurmctldPlugstack", "SlurmctldPort",
	"SlurmctldPrimaryOffProg", "SlurmctldPrimaryOnProg", "SlurmctldSyslogDebug", "SlurmdDebug",
	"SlurmdHttpAuthParameters", "SlurmdLogFile", "SlurmdParameters", "SlurmdPidFile", "SlurmdSpoolDir",
	"SlurmdSyslogDebug", "SlurmdUser", "SlurmSchedLogFile", "SlurmUser", "SrunEpilog", "SrunPortRange",
	"SrunProlog", "StateSaveLocation", "SuspendExcNodes", "SuspendExcParts", "SuspendExcStates",
	"SuspendProgram", "SuspendTime", "SwitchParameters", "SwitchType", "TaskEpilog", "TaskPlugin",
	"TaskPluginParam", "TaskProlog", "TLSParameters", "TLSType", "TmpFS", "TopologyParam",
	"TopologyPlugin", "UnkillableStepProgram", "UrlParserType", "X11Parameters",
};

static const char *const numbers16[] = {
	"AccountingStoragePort", "AcctGatherNodeFreq", "BatchStartTimeout", "CompleteWait", "EioTimeout",
	"EpilogTimeout", "ExtSensorsFreq", "FairShareDampeningFactor", "FastSchedule", "GetEnvTimeout",
	"GroupUpdateForce", "GroupUpdateTime", "HealthCheckInterval", "HealthCheckTimeout",
	"InactiveLimit", "JobFileAppend", "JobRequeue", "KillOnBadExit", "KillWait", "MaxTasksPerNode",
	"MessageTimeout", "OverTimeLimit", "PrologEpilogTimeout", "PrologTimeout", "PropagatePrioProcess",
	"ResumeRate", "ResumeTimeout", "ResvOverRun", "ReturnToService", "SchedulerTimeSlice",
	"SlurmctldTimeout", "SlurmdTimeout", "SlurmSchedLogLevel", "SuspendRate", "SuspendTimeout",
	"TCPTimeout", "TreeWidth", "UnkillableStepTimeout", "VSizeFactor", "WaitTime",
};

static const char *const numbers32[] = {
	"EpilogMsgTime", "FirstJobId", "JobCompPort", "KeepAliveTime", "MaxArraySize", "MaxBatchRequeue",
	"MaxDBDMsgs", "MaxJobCount", "MaxJobId", "MaxNodeCount", "MaxStepCount", "MinJobAge",
	"PriorityWeightAge", "PriorityWeightAssoc", "PriorityWeightFairshare", "PriorityWeightJobSize",
	"PriorityWeightPartition", "PriorityWeightQOS", "SlurmdPort",
};

static const char *const numbers64[] = {
	"DefCPUPerGPU", "DefMemPerCPU", "DefMemPerGPU", "DefMemPerNode", "MaxMemPerCPU", "MaxMemPerNode",
};

static const char *const booleans[] = {
	"AccountingStoreJobComment", "AllowSpecResourcesUsage", "DisableRootJobs", "PriorityFavorSmall",
	"TrackWCKey", "UsePAM",
};

#define GROUP(type, names) { type, names, sizeof(names) / sizeof(names[0]) }

static const struct {
	enum sl_conf_type type;
	const char *const *name;
	size_t names;
} groups[] = {
	GROUP(SL_CONF_TEXT, texts), GROUP(SL_CONF_U16, numbers16), GROUP(SL_CONF_U32, numbers32),
	GROUP(SL_CONF_U64, numbers64), GROUP(SL_CONF_BOOLEAN, booleans),
};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

const char *sl_conf_find_setting(const char *key, enum sl_conf_type *type)
{
	for (size_t g = 0; g < GROUPS; g++)
		for (size_t i = 0; i < groups[g].names; i++)
			if (!strcasecmp(groups[g].name[i], key)) {
				*type = groups[g].type;
				return groups[g].name[i];
			}
	return NULL;
}

const char *sl_conf_other_home(const char *key)
{
	static const char before[] = "of releases before 22.05";
	static const struct { const char *begins, *home; } homes[] = {
		{ "SwitchName", "of topology.conf" }, { "BlockName", "of topology.conf" }, { "BlockSizes", "of topology.conf" },
		{ "AutoDetect", "of gres.conf" }, { "Name", "of gres.conf" }, { "Cgroup", "of cgroup.conf" },
		{ "Constrain", "of cgroup.conf" }, { "AllowedRAMSpace", "of cgroup.conf" }, { "AllowedSwapSpace", "of cgroup.conf" },
		{ "Dbd", "of slurmdbd.conf" }, { "StorageHost", "of slurmdbd.conf" }, { "StorageLoc", "of slurmdbd.conf" },
		{ "StoragePass", "of slurmdbd.conf" }, { "StoragePort", "of slurmdbd.conf" }, { "StorageType", "of slurmdbd.conf" },
		{ "StorageUser", "of slurmdbd.conf" }, { "Purge", "of slurmdbd.conf" }, { "Archive", "of slurmdbd.conf" },
		{ "CacheGroups", before }, { "CheckpointType", before }, { "JobCheckpointDir", before }, { "SchedulerPort", before },
		{ "SchedulerRootFilter", before }, { "DefaultStorage", before }, { "UseSPANK", before }, { "MemLimitEnforce", before },
	};

	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
		if (!strncasecmp(key, homes[i].begins, strlen(homes[i].begins)))
			return homes[i].home;
	return NULL;
}

const char *sl_conf_nearest_setting(const char *key)
{
	static const char *const lines[] = { "NodeName", "NodeSet", "PartitionName", "DownNodes", "Include" };
	struct sl_nearest near = { .word = key };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		sl_nearest_try(&near, lines[i]);
	for (size_t g = 0; g < GROUPS; g++)
		for (size_t i = 0; i < groups[g].names; i++)
			sl_nearest_try(&near, groups[g].name[i]);
	return near.best;
}
