/* SPDX-License-Identifier: MIT */
/* Plans as an engine sends them: sl_plan_image_open(). */
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "image/plan_image.h"

const char fuzz_name[] = "plan";

static void must_be_a_plan(const struct sl_plan_image *p)
{
	uint64_t places = 0;

	MUST(p->meta.rows == 1);
	for (uint32_t r = 0; r < p->pending.rows; r++)
		MUST(strcmp(sl_why_word(p->pending.why[r]), "unknown"));
	for (uint32_t r = 0; r < p->action.rows; r++)
		MUST(strcmp(sl_action_word(p->action.verb[r]), "unknown"));
	for (uint32_t r = 0; r < p->log.rows; r++)
		MUST(p->log.level[r] < 3 && strlen(sl_image_str(&p->image, p->log.text[r])) <= SL_PLAN_TEXT_MAX);
	for (uint32_t r = 0; r < p->start.rows; r++)
		places += p->start.places[r].count;
	MUST(places <= p->place.rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard g = fuzz_guard(data, size);
	struct sl_plan_image plan;
	struct sl_error err = { .code = SL_OK };

	if (sl_plan_image_open(&plan, g.bytes, size, &err) == 0) {
		fuzz_accepted++;
		must_be_a_plan(&plan);
		fuzz_hold_image(&plan.image, &plan);
	} else {
		fuzz_refused(&err);
	}
	fuzz_unguard(&g);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, NULL);
	struct sl_error err;
	const void *bytes;
	size_t size;

	MUST(b);
	make_plan(b, make_random(seed), 1 + make_below(seed, 12), make_below(seed, 16));
	MUST(sl_builder_finish(b, &bytes, &size, &err) == 0 && size <= FUZZ_MAX);
	memcpy(to, bytes, size);
	sl_builder_destroy(b);
	return size;
}
