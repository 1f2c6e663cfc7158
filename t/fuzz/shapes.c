/* SPDX-License-Identifier: MIT */
/* Comments of jobs with alternatives in them. */
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "image/shapes.h"

const char fuzz_name[] = "shapes";

static bool was_known(const char *comment)
{
	return strstr(comment, "sched:");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_job_row job = sl_job_row();
	struct sl_error err = { .code = SL_OK };
	char *comment = strndup((const char *) data, size);
	struct sl_range shapes = { 7, 7 };

	MUST(b && comment);
	if (sl_shapes_add(b, comment, &shapes, &err) == 0) {
		fuzz_accepted++;
		MUST(shapes.count <= SL_MAX_SHAPES && shapes.count == sl_builder_rows(b, SL_T_SHAPE));
		MUST(!shapes.count || was_known(comment));
		job.id = 1;
		job.state = SL_JOB_PENDING;
		job.shapes = shapes;
		sl_builder_append(b, SL_T_JOB, &job);
		fuzz_hold_builder(b);
	} else {
		fuzz_refused(&err);
		MUST(was_known(comment) && !shapes.count);
		MUST(!sl_builder_rows(b, SL_T_SHAPE) && !sl_builder_rows(b, SL_T_JOB_GRES));
	}
	free(comment);
	sl_builder_destroy(b);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	static const char *const first[] = { "sched: ", "mine; sched:", "sched:" };
	static const char *const shape[] = {
		"-n512 -t 4:00:00", "-N32 -n256", "-N 1-4 --ntasks-per-node=4", "--gres=gpu:a100:2-4 -c 2", "-G 4",
		"--nodes=2 --gpus-per-node=tesla:1", "--time=1-0 --gpus-per-task=1 --ntasks=8", "--gres=nic,gpu:1",
	};
	char text[400] = "";

	strcat(text, first[make_below(seed, 3)]);
	for (uint32_t i = make_below(seed, 3) + 1; i > 0; i--) {
		strcat(text, shape[make_below(seed, 8)]);
		strcat(text, i > 1 ? " | " : make_below(seed, 2) ? "" : "; more");
	}
	return fuzz_text(to, text);
}
