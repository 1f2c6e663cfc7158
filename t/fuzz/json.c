/* SPDX-License-Identifier: MIT */
/* Snapshots as JSON: sl_builder_from_json(). */
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "image/snapshot.h"

const char fuzz_name[] = "json";

/* JSON that is accepted makes an image that is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_image image;
	struct sl_error err = { .code = SL_OK };
	const void *bytes;
	size_t n;

	MUST(b);
	if (sl_builder_from_json(b, "json", (const char *) data, size, &err) == 0) {
		fuzz_accepted++;
		MUST(sl_builder_finish(b, &bytes, &n, &err) == 0);
		MUST(sl_image_open(&image, NULL, &sl_snapshot_schema, bytes, n, &err) == 0);
	} else {
		fuzz_refused(&err);
	}
	sl_builder_destroy(b);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_snapshot snap;
	struct sl_error err;
	const void *bytes;
	size_t size;
	char *json;

	MUST(b);
	make_snapshot(b, make_random(seed), make_below(seed, 6), make_below(seed, 4));
	MUST(sl_builder_finish(b, &bytes, &size, &err) == 0);
	MUST(sl_snapshot_open(&snap, bytes, size, &err) == 0);
	json = fuzz_json(&snap.image, &snap);
	size = fuzz_text(to, json);
	free(json);
	sl_builder_destroy(b);
	return size;
}
