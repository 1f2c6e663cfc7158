/* SPDX-License-Identifier: MIT */
/* Snapshots as they come from anywhere: sl_snapshot_open(). */
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "image/snapshot.h"

const char fuzz_name[] = "snapshot";

static void must_be_a_snapshot(const struct sl_snapshot *s)
{
	MUST(s->meta.rows == 1);
	for (uint32_t r = 0; r < s->run.rows; r++)
		MUST(s->run.first[r] <= s->run.last[r] && s->run.last[r] < s->node.rows);
	for (uint32_t r = 0; r < s->queue.rows; r++)
		MUST(s->job.state[s->queue.job[r]] == SL_JOB_PENDING && s->queue.partition[r] < s->partition.rows);
	for (uint32_t j = 0; j < s->job.rows; j++) {
		const uint32_t *node = s->alloc.node + s->job.alloc[j].first;

		MUST(s->job.state[j] < SL_JOB_STATES);
		for (uint32_t a = 0; a < s->job.alloc[j].count; a++)
			for (uint32_t b = 0; b < a; b++)
				MUST(node[a] != node[b]);
		for (uint32_t i = 0; i < j; i++)
			MUST(s->job.id[i] != s->job.id[j]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard g = fuzz_guard(data, size);
	struct sl_snapshot snap;
	struct sl_error err = { .code = SL_OK };

	if (sl_snapshot_open(&snap, g.bytes, size, &err) == 0) {
		fuzz_accepted++;
		must_be_a_snapshot(&snap);
		fuzz_hold_image(&snap.image, &snap);
	} else {
		fuzz_refused(&err);
	}
	fuzz_unguard(&g);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_error err;
	const void *bytes;
	size_t size;

	MUST(b);
	make_snapshot(b, make_random(seed), make_below(seed, 12), make_below(seed, 8));
	MUST(sl_builder_finish(b, &bytes, &size, &err) == 0 && size <= FUZZ_MAX);
	memcpy(to, bytes, size);
	sl_builder_destroy(b);
	return size;
}
