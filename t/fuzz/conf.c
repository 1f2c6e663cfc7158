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
		if (sl_machine_load(b, fuzz_file("slurm.conf", data, size), &flags, &err) == 0) {
			fuzz_accepted++;
			fuzz_hold_builder(b);
		} else {
			fuzz_refused(&err);
		}
	}
	sl_builder_destroy(b);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	char text[1000];

	snprintf(text, sizeof(text), "# a cluster\nClusterName=c\nSelectType=select/cons_tres\n"
		 "SelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\n"
		 "NodeName=DEFAULT Sockets=2 CoresPerSocket=%u ThreadsPerCore=%u RealMemory=%u\n"
		 "NodeName=n[%u-%u] Gres=gpu:a100:%u(S:0-1) Feature=big,fast \\\n  Weight=%u\n"
		 "NodeName=m1 CPUs=%u Boards=1 State=%s\n"
		 "PartitionName=DEFAULT MaxTime=1-0 State=UP\n"
		 "PartitionName=a Nodes=%s Default=YES\nPartitionName=b Nodes=m1 OverSubscribe=EXCLUSIVE \"x\"\n",
		 1 + make_below(seed, 32), 1 + make_below(seed, 2), 1000 + make_below(seed, 9999), 1 + make_below(seed, 3),
		 4 + make_below(seed, 60), make_below(seed, 8), make_below(seed, 50), 1 + make_below(seed, 8),
		 make_below(seed, 2) ? "UNKNOWN" : "FUTURE", make_below(seed, 2) ? "ALL" : "n[3-4],m1");
	if (strstr(text, "FUTURE"))	/* it is in no partition then */
		strcpy(strstr(text, "PartitionName=a"), "PartitionName=a Nodes=n4\n");
	return fuzz_text(to, text);
}
