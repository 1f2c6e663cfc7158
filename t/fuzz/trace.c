/* SPDX-License-Identifier: MIT */
/* Whatever is told by its content: tables of traces, records of PBS, sacct --json, Batsim. */
#include "t/fuzz/fuzz.h"

const char fuzz_name[] = "trace";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_try_workload("trace.txt", "4x8c2g", data, size);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	uint32_t gpus = 1 + make_below(seed, 4), runs = 1 + make_below(seed, 5000), at = make_below(seed, 100000);
	char text[2000];

	switch (make_below(seed, 5)) {
	case 0:
		snprintf(text, sizeof(text), "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
			 "scheduled_time\np,%u,1000,%u,1000,,LS,Running,%u,%u,%u\n", 1000 * gpus, gpus, at, at + runs, at);
		break;
	case 1:
		snprintf(text, sizeof(text), "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,%u.5,%u,1,\"a,b\"\n", runs, gpus);
		break;
	case 2:
		snprintf(text, sizeof(text), "01/31/2024 12:10:00;E;%u.host;user=ann queue=q ctime=%u start=%u end=%u Resource_List.nodect=1 "
			 "Resource_List.ncpus=%u Resource_List.walltime=01:00:00\n", 1 + at, at, at, at + runs, gpus);
		break;
	case 3:
		snprintf(text, sizeof(text), "{\"jobs\": [{\"job_id\": %u, \"state\": {\"current\": [\"COMPLETED\"]}, \"time\": {\"submission\": %u, "
			 "\"elapsed\": %u, \"limit\": {\"set\": true, \"infinite\": false, \"number\": 60}}, \"required\": {\"CPUs\": %u}, \"tres\": "
			 "{\"requested\": [{\"type\": \"gres\", \"name\": \"gpu\", \"count\": 1}]}}]}", 1 + at, at, runs, gpus);
		break;
	default:
		snprintf(text, sizeof(text), "{\"nb_res\": 4, \"jobs\": [{\"id\": %u, \"subtime\": %u, \"walltime\": 9, \"res\": %u, \"profile\": \"p\"}],"
			 " \"profiles\": {\"p\": {\"type\": \"delay\", \"delay\": %u}}}", at, at, gpus, runs);
	}
	return fuzz_text(to, text);
}
