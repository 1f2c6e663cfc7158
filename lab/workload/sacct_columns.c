/* SPDX-License-Identifier: MIT */
#include "workload/sacct_columns.h"

#include <string.h>
#include <strings.h>

const char sl_sacct_command[] =
	"TZ=UTC sacct -aXPD -S now-30days -E now --format=JobIDRaw,User,UID,Account,QOS,Partition,Submit,Start,End,"
	"ElapsedRaw,TimelimitRaw,State,ReqCPUS,AllocCPUS,ReqNodes,NNodes,ReqTRES,AllocTRES";

static const char *const used[SL_SACCT_USED] = {
	"JobIDRaw", "JobID", "User", "UID", "Account", "QOS", "Partition", "JobName", "Submit", "Start", "End", "ElapsedRaw",
	"Elapsed", "TimelimitRaw", "Timelimit", "State", "ReqCPUS", "NCPUS", "AllocCPUS", "ReqNodes", "NNodes", "AllocNodes",
	"ReqTRES", "AllocTRES", "ReqMem", "ReqGRES", "AllocGRES", "SegmentSize",
	"Eligible", "Priority", "Reason", "Reservation", "Constraints", "Licenses", "Suspended", "Restarts", "SubmitLine", "NodeList",
};

/* The columns of fields[] in src/sacct/sacct.c, in the order of their names.  Since and until are releases; NULL: 20.11
 * or before, and to this day. */
static const struct column {
	const char *name, *since, *until;
	enum sl_sacct_fate fate;
	const char *why;
} columns[] = {
#define USED(name, why) { name, NULL, NULL, SL_SACCT_IS_USED, why }
#define NOT(name, why) { name, NULL, NULL, SL_SACCT_NOT_NEEDED, why }
#define CANNOT(name, why) { name, NULL, NULL, SL_SACCT_CANNOT, why }
#define STEP "a figure of steps"
#define TEXT "a text that does not bear on scheduling"
#define PAST "of the schedule as it was"
	USED("Account", "of the job"),
	NOT("AdminComment", TEXT),
	USED("AllocCPUS", "CPUs, where ReqCPUS and NCPUS say nothing"),
	{ "AllocGRES", NULL, "20.11", SL_SACCT_IS_USED, "GPUs, where no TRES column has them" },
	USED("AllocNodes", "fewest nodes, where ReqNodes and NNodes say nothing"),
	USED("AllocTRES", "GPUs and memory, where ReqTRES has none"),
	NOT("AssocID", "User and Account say it"),
	NOT("AveCPU", STEP),
	NOT("AveCPUFreq", STEP),
	NOT("AveDiskRead", STEP),
	NOT("AveDiskWrite", STEP),
	NOT("AvePages", STEP),
	NOT("AveRSS", STEP),
	NOT("AveVMSize", STEP),
	NOT("BlockID", PAST),
	NOT("Cluster", "all rows are of one machine; sacct -M names it"),
	NOT("Comment", TEXT),
	CANNOT("Constraints", "jobs of a log are told apart by their partition, not by features of nodes"),
	NOT("ConsumedEnergy", PAST),
	NOT("ConsumedEnergyRaw", PAST),
	NOT("Container", TEXT),
	NOT("CPUTime", "Elapsed and the CPUs say it"),
	NOT("CPUTimeRAW", "ElapsedRaw and the CPUs say it"),
	NOT("DBIndex", "a number of the database"),
	NOT("DerivedExitCode", PAST),
	NOT("DerivedES", TEXT),
	USED("Elapsed", "runtime, where ElapsedRaw is not there"),
	USED("ElapsedRaw", "runtime"),
	CANNOT("Eligible", "a job enters the queue when it is submitted: dependencies and begin times are not replayed (replay --against-reality has it)"),
	USED("End", "runtime with Start, where no Elapsed is there"),
	NOT("ExitCode", PAST),
	{ "Extra", "23.02", NULL, SL_SACCT_NOT_NEEDED, TEXT },
	{ "FailedNode", "23.02", NULL, SL_SACCT_NOT_NEEDED, PAST },
	NOT("Flags", PAST),
	NOT("GID", "User says it"),
	NOT("Group", "User says it"),
	USED("JobID", "the job's number, where JobIDRaw is not there"),
	USED("JobIDRaw", "the job's number"),
	USED("JobName", "of the job; a text that its user wrote: if it is the only such text of the dump it may have bars in it"),
	NOT("Layout", STEP),
	{ "Licenses", "23.02", NULL, SL_SACCT_CANNOT, "the machine's licences are not in slurm.conf of all sites, and not modelled" },
	NOT("MaxDiskRead", STEP),
	NOT("MaxDiskReadNode", STEP),
	NOT("MaxDiskReadTask", STEP),
	NOT("MaxDiskWrite", STEP),
	NOT("MaxDiskWriteNode", STEP),
	NOT("MaxDiskWriteTask", STEP),
	NOT("MaxPages", STEP),
	NOT("MaxPagesNode", STEP),
	NOT("MaxPagesTask", STEP),
	NOT("MaxRSS", STEP),
	NOT("MaxRSSNode", STEP),
	NOT("MaxRSSTask", STEP),
	NOT("MaxVMSize", STEP),
	NOT("MaxVMSizeNode", STEP),
	NOT("MaxVMSizeTask", STEP),
	CANNOT("McsLabel", "labels of the day are not replayed"),
	NOT("MinCPU", STEP),
	NOT("MinCPUNode", STEP),
	NOT("MinCPUTask", STEP),
	USED("NCPUS", "CPUs, where ReqCPUS says nothing"),
	USED("NNodes", "fewest nodes, where ReqNodes says nothing"),
	NOT("NodeList", PAST " (replay --against-reality: of jobs that run when the dump begins)"),
	NOT("NTasks", STEP),
	{ "OriginalSLUID", "26.05", NULL, SL_SACCT_NOT_NEEDED, "a number of the database" },
	USED("Partition", "the first that the machine has, else the default one"),
	{ "Planned", "23.02", NULL, SL_SACCT_NOT_NEEDED, PAST },
	{ "PlannedCPU", "23.02", NULL, SL_SACCT_NOT_NEEDED, PAST },
	{ "PlannedCPURAW", "23.02", NULL, SL_SACCT_NOT_NEEDED, PAST },
	CANNOT("Priority", "the last one of that day; a policy ranks the jobs itself (replay --against-reality has it)"),
	USED("QOS", "of the job"),
	NOT("QOSRAW", "QOS says it"),
	{ "QOSREQ", "24.11", NULL, SL_SACCT_NOT_NEEDED, "QOS says it" },
	NOT("Reason", PAST),
	NOT("ReqCPUFreq", "does not bear on placement"),
	NOT("ReqCPUFreqGov", "does not bear on placement"),
	NOT("ReqCPUFreqMax", "does not bear on placement"),
	NOT("ReqCPUFreqMin", "does not bear on placement"),
	USED("ReqCPUS", "CPUs"),
	{ "ReqGRES", NULL, "20.11", SL_SACCT_IS_USED, "GPUs, where no other column has them" },
	USED("ReqMem", "memory, where ReqTRES has none: of the job; up to 20.11 of each node (60Gn) or CPU (4Gc)"),
	USED("ReqNodes", "fewest nodes"),
	{ "ReqReservation", "25.05", NULL, SL_SACCT_CANNOT, "reservations of that time are not known" },
	USED("ReqTRES", "GPUs and memory"),
	CANNOT("Reservation", "reservations of that time are not known"),
	CANNOT("ReservationId", "reservations of that time are not known"),
	{ "Reserved", NULL, "22.05", SL_SACCT_NOT_NEEDED, PAST },
	{ "Restarts", "24.11", NULL, SL_SACCT_NOT_NEEDED, "with -D each run has a row" },
	{ "ResvCPU", NULL, "22.05", SL_SACCT_NOT_NEEDED, PAST },
	{ "ResvCPURAW", NULL, "22.05", SL_SACCT_NOT_NEEDED, PAST },
	{ "SegmentSize", "25.05", NULL, SL_SACCT_IS_USED, "segments (--segment), on a machine with blocks or by a policy" },
	{ "SLUID", "24.11", NULL, SL_SACCT_NOT_NEEDED, "a number of the database" },
	USED("Start", "runtime with End, where no Elapsed is there"),
	USED("State", "jobs that have not ended are left out"),
	{ "StdErr", "24.05", NULL, SL_SACCT_NOT_NEEDED, TEXT },
	{ "StdIn", "24.05", NULL, SL_SACCT_NOT_NEEDED, TEXT },
	{ "StdOut", "24.05", NULL, SL_SACCT_NOT_NEEDED, TEXT },
	USED("Submit", "when the job enters the queue"),
	CANNOT("SubmitLine", "its options are not read (replay --against-reality: --exclusive); with a bar in it, and JobName beside it, the row is left out"),
	CANNOT("Suspended", "a suspension is not replayed: the runtime is without it"),
	NOT("SystemComment", TEXT),
	NOT("SystemCPU", STEP),
	USED("Timelimit", "walltime, where TimelimitRaw is not there"),
	USED("TimelimitRaw", "walltime; UNLIMITED and Partition_Limit: MaxTime of the partition, else --unlimited"),
	NOT("TotalCPU", STEP),
	NOT("TRESUsageInAve", STEP),
	NOT("TRESUsageInMax", STEP),
	NOT("TRESUsageInMaxNode", STEP),
	NOT("TRESUsageInMaxTask", STEP),
	NOT("TRESUsageInMin", STEP),
	NOT("TRESUsageInMinNode", STEP),
	NOT("TRESUsageInMinTask", STEP),
	NOT("TRESUsageInTot", STEP),
	NOT("TRESUsageOutAve", STEP),
	NOT("TRESUsageOutMax", STEP),
	NOT("TRESUsageOutMaxNode", STEP),
	NOT("TRESUsageOutMaxTask", STEP),
	NOT("TRESUsageOutMin", STEP),
	NOT("TRESUsageOutMinNode", STEP),
	NOT("TRESUsageOutMinTask", STEP),
	NOT("TRESUsageOutTot", STEP),
	USED("UID", "of the job"),
	USED("User", "of the job"),
	NOT("UserCPU", STEP),
	NOT("WCKey", TEXT),
	NOT("WCKeyID", TEXT),
	NOT("WorkDir", TEXT),
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const struct column *find_column(const char *name, size_t length)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (strlen(columns[i].name) == length && !strncasecmp(columns[i].name, name, length))
			return &columns[i];
	return NULL;
}

const char *sl_sacct_name(enum sl_sacct_used column)
{
	return used[column];
}

enum sl_sacct_fate sl_sacct_fate(const char *column, const char **why)
{
	const struct column *c = find_column(column, strlen(column));

	*why = c ? c->why : "";
	return c ? c->fate : SL_SACCT_UNKNOWN;
}

bool sl_sacct_is_real(const char *column)
{
	for (int i = SL_SACCT_ELIGIBLE; i < SL_SACCT_USED; i++)
		if (!strcasecmp(used[i], column))
			return true;
	return false;
}

int sl_sacct_text_column(char *const *name, int names)
{
	static const char *const texts[] = {
		"AdminComment", "Comment", "Constraints", "Container", "DerivedES", "Extra", "JobName", "Licenses", "ReqReservation",
		"Reservation", "StdErr", "StdIn", "StdOut", "SubmitLine", "SystemComment", "WCKey", "WorkDir",
	};
	int found = -1;

	for (int n = 0; n < names; n++)
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			if (!strcasecmp(name[n], texts[i])) {
				if (found >= 0)
					return -1;
				found = n;
			}
	return found;
}

int sl_sacct_count_names(const char *header, const char *separator)
{
	int names = 0;

	for (const char *p = header, *end; p; p = end ? end + strlen(separator) : NULL) {
		end = strstr(p, separator);
		names += find_column(p, end ? (size_t) (end - p) : strcspn(p, "\r\n")) != NULL;
	}
	return names;
}

void sl_sacct_print_table(FILE *out)
{
	static const char *const words[] = { "used", "not needed", "cannot be used" };

	fprintf(out, "| column | releases | | |\n|---|---|---|---|\n");
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *c = &columns[i];

		fprintf(out, "| `%s` | %s%s%s | %s | %s |\n", c->name, c->since ? "from " : c->until ? "to " : "all",
			c->since ? c->since : "", c->until ? c->until : "", words[c->fate], c->why);
	}
}
