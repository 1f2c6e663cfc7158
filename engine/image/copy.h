/* SPDX-License-Identifier: MIT */
/*
 * image/copy.h - rows of one image, appended to a builder of the same schema.
 *
 * Strings are put into the builder's pool; ranges are followed and their rows copied
 * with the row that refers to them; a reference is looked up in a map, since its row
 * may have another number there.
 *
 * Ownership: borrows all it is given.  Threads: none.
 */
#ifndef SL_IMAGE_COPY_H
#define SL_IMAGE_COPY_H

#include "image/image.h"

struct sl_image_copy {
	const struct sl_image *image;
	const void *view;		/* the schema's view of the image */
	struct sl_builder *to;
	/* By table: row there of each row here, SL_NONE where it has none; NULL: the
	 * same number. */
	const uint32_t *const *map;
	bool lost;			/* set when a reference had to become SL_NONE */
};

/* Make *row (the table's row struct) of a row of the image. */
void sl_image_copy_row(struct sl_image_copy *c, int table, uint32_t number, void *row);

/* Append all rows of a table. */
void sl_image_copy_table(struct sl_image_copy *c, int table);

#endif
