/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/same.h"

void must_equal(struct sl_cluster *a, struct sl_cluster *b, uint64_t seed)
{
	uint32_t nodes = sl_cluster_snapshot(a)->node.rows, n, m;
	const struct sl_entry *qa = sl_cluster_queue(a, &n), *qb = sl_cluster_queue(b, &m);
	int64_t now = sl_cluster_now(a), t = now;
	struct sl_totals ta, tb;

	if (n != m || (n && memcmp(qa, qb, n * sizeof(*qa))))
		fail_msg("seed %lu: queues differ", (unsigned long) seed);
	sl_cluster_totals(a, &ta);
	sl_cluster_totals(b, &tb);
	if (ta.nodes != tb.nodes || ta.usable_nodes != tb.usable_nodes || ta.idle_nodes != tb.idle_nodes ||
	    ta.cores != tb.cores || ta.free_cores != tb.free_cores || ta.queued != tb.queued ||
	    ta.running != tb.running)
		fail_msg("seed %lu: totals differ", (unsigned long) seed);
	do {
		for (uint32_t i = 0; i < nodes; i++) {
			struct sl_resources ra, rb;

			sl_timeline_free(sl_cluster_timeline(a), i, t, t + 1, &ra);
			sl_timeline_free(sl_cluster_timeline(b), i, t, t + 1, &rb);
			if (!sl_resources_equal(&ra, &rb))
				fail_msg("seed %lu: node n%u at +%ld: %d cores incrementally, %d from scratch",
					 (unsigned long) seed, i, (long) (t - now), ra.cores, rb.cores);
		}
		n = sl_timeline_next(sl_cluster_timeline(a), t) != sl_timeline_next(sl_cluster_timeline(b), t);
		if (n)
			fail_msg("seed %lu: next change after +%ld differs", (unsigned long) seed, (long) (t - now));
		t = sl_timeline_next(sl_cluster_timeline(a), t);
	} while (t != SL_FOREVER);
}
