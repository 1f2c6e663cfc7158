/* SPDX-License-Identifier: MIT */
/* What sacct -P printed, as a workload. */
#include "t/fuzz/fuzz.h"

const char fuzz_name[] = "sacct";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_try_workload("log.sacct", "4x8c2g", data, size);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	char *text = NULL;
	size_t n = 0, size;
	FILE *out = open_memstream(&text, &n);

	MUST(out);
	fprintf(out, "JobIDRaw|JobID|User|UID|Account|QOS|Partition|JobName|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|"
		"ReqCPUS|ReqNodes|ReqTRES|AllocTRES\n");
	for (uint32_t i = 1 + make_below(seed, 8); i > 0; i--) {
		uint32_t cpus = 1 + make_below(seed, 16), runs = 1 + make_below(seed, 5000), minute = make_below(seed, 30);

		fprintf(out, "%u|%u%s|alice|1000|phys|normal|all|run|2026-01-02T12:%02u:00|2026-01-02T12:30:00|"
			"2026-01-02T15:00:00|%u|%u|%s|%u|1|cpu=%u,mem=%uM,node=1|cpu=%u,gres/gpu=%u,node=1\n", i, i,
			make_below(seed, 4) ? "" : "_1", minute, runs, runs / 60 + 1 + make_below(seed, 90),
			make_below(seed, 3) ? "COMPLETED" : "CANCELLED by 0", cpus, cpus, 100 * make_below(seed, 9), cpus,
			make_below(seed, 3));
	}
	fclose(out);
	size = fuzz_text(to, text);
	free(text);
	return size;
}
