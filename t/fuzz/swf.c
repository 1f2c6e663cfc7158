/* SPDX-License-Identifier: MIT */
/* Logs in the Standard Workload Format. */
#include "t/fuzz/fuzz.h"

const char fuzz_name[] = "swf";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_try_workload("log.swf", NULL, data, size);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	return fuzz_make_workload(to, seed, true);
}
