/* SPDX-License-Identifier: MIT */
/*
 * wishes.h - what a job that nobody has submitted asks for beside its size, in sbatch's own options.
 *
 * The options are SL_WISH_OPTIONS in image/words.h: an option's row in a verb's table comes from its line there, and its
 * value, as it was written, goes into a list by enum sl_wish.
 *
 * Ownership: borrows all it is given.  Threads: none.
 */
#ifndef SL_WISHES_H
#define SL_WISHES_H

#include "image/snapshot.h"
#include "image/words.h"
#include "tool/options.h"

enum sl_wish {
#define SL_WISH_NAME(id, ...) SL_WISH_##id,
	SL_WISH_OPTIONS(SL_WISH_NAME)
#undef SL_WISH_NAME
	SL_WISH_COUNT
};

struct sl_wishes {
	const char *const *value;	/* by enum sl_wish; NULL: not said */
	bool nodes_said, tasks_said;	/* of its size */
};

/*
 * Put them into *row*, which has its size, its time and what else was asked for; its gres are the last ones of
 * the builder.  0, or -1 with *err: which option, and what was expected.
 */
int sl_wishes_fill(const struct sl_wishes *w, const struct sl_snapshot *snap, struct sl_builder *b, struct sl_job_row *row,
		   struct sl_error *err);

#endif
