/* SPDX-License-Identifier: MIT */
/* Workloads as JSON: snapshots whose jobs have a runtime. */
#include "t/fuzz/fuzz.h"

const char fuzz_name[] = "workload";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_try_workload("jobs.json", NULL, data, size);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	return fuzz_make_workload(to, seed, false);
}
