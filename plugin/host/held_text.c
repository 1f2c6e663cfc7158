/* SPDX-License-Identifier: GPL-2.0-or-later */
/* held_text.c - held places for status.json */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "image/nodelist.h"
#include "plugin/host/held.h"

#define MOST_NODES 200		/* bytes of a list of nodes */
#define MOST_PLACE 300		/* bytes of a place in words */

static char *name_nodes(const struct sl_held *h)
{
	const char **name = malloc((h->nodes + 1) * sizeof(*name));
	char *list;

	if (!name)
		return NULL;
	for (uint32_t i = 0; i < h->nodes; i++)
		name[i] = h->node[i].name;
	list = sl_nodelist_join(name, h->nodes, NULL);
	free(name);
	return list;
}

void sl_held_tell(const struct sl_held_book *b, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (uint32_t i = 0; i < b->places && n + MOST_PLACE < size; i++) {
		const struct sl_held *h = &b->place[i];
		char *nodes = name_nodes(h), until[32] = "?";
		time_t t = (time_t) h->until;
		struct tm tm;

		if (localtime_r(&t, &tm))
			strftime(until, sizeof(until), "%Y-%m-%dT%H:%M:%S", &tm);
		n += (size_t) snprintf(text + n, size - n, "%sJobId=%" PRIu32 ": %.*s until %s, %" PRIu32 " job%s left", n ? "; " : "",
				       h->job, MOST_NODES, nodes ? nodes : "?", until, h->left, h->left == 1 ? "" : "s");
		free(nodes);
	}
}
