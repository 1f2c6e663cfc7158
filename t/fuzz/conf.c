/* SPDX-License-Identifier: MIT */
/* The machine that a slurm.conf describes.  What it includes stands beside it, and is the
 * file itself. */
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "image/snapshot.h"
#include "workload/workload.h"

const char fuzz_name[] = "conf";

/* Does it include what is none of this test's? */
static bool leads_away(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *) data, size);
	bool away = text && strcasestr(text, "include") && strchr(text, '/');

	free(text);
	return away;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_error err = { .code = SL_OK };
	uint32_t flags = 0;

	MUST(b);
	if (!leads_away(data, size)) {
		if (sl_machine_load(b, fuzz_file("slurm.conf", data, size), &flags, NULL, &err) == 0) {
			fuzz_accepted++;
			fuzz_hold_builder(b);
		} else {
			fuzz_refused(&err);
		}
	}
	sl_builder_destroy(b);
	return 0;
}

static const char *one_of(uint64_t *seed, const char *a, const char *b, const char *c)
{
	uint32_t n = make_below(seed, 3);

	return n == 0 ? a : n == 1 ? b : c;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	char text[2000];

	snprintf(text, sizeof(text), "# a cluster\nClusterName = c\nSelectType=select/cons_tres\n"
		 "SelectTypeParameters=%s\nGresTypes=gpu,shard\nTopologyPlugin=topology/none\n"
		 "NodeName=DEFAULT Sockets=2 CoresPerSocket=%u ThreadsPerCore=%u RealMemory=%u\n"
		 "NodeName=n[%u-%u] Gres=gpu:a100:%u(S:0-1),shard:%u Feature=big,fast \\\n  Weight=%u\n"
		 "NodeName=r[0-1]m[1-2] CPUs=%u Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 %s=%u State=%s\n"
		 "NodeSet=a Nodes=n3,b\nNodeSet=b Feature=%s\n"
		 "PartitionName=DEFAULT MaxTime=1-0 State=UP Priority%s=%u\n"
		 "PartitionName=p Nodes=%s Default=%s\nPartitionName=q Nodes=\"r0m1 r1m2\" OverSubscribe=%s\n",
		 one_of(seed, "CR_Core_Memory", "CR_Core,CR_LLN", "CR_Socket_Memory"),
		 1 + make_below(seed, 32), 1 + make_below(seed, 2), 1000 + make_below(seed, 9999), 1 + make_below(seed, 3),
		 4 + make_below(seed, 60), make_below(seed, 8), make_below(seed, 8), make_below(seed, 50),
		 make_below(seed, 2) ? 8 : 1, one_of(seed, "CoreSpecCount", "CpuSpecList", "TmpDisk"), make_below(seed, 8),
		 one_of(seed, "UNKNOWN", "FUTURE", "CLOUD"), one_of(seed, "big", "none", "fast"),
		 one_of(seed, "", "Tier", "JobFactor"), make_below(seed, 9), one_of(seed, "ALL", "a,r[0-1]m[1-2]", "b"),
		 one_of(seed, "YES", "TRUE", "0"), one_of(seed, "EXCLUSIVE", "FORCE:2", "no"));
	return fuzz_text(to, text);
}
