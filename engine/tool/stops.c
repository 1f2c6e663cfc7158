/* SPDX-License-Identifier: MIT */
#include "tool/stops.h"

#include <stdlib.h>

#include "image/nodelist.h"

/* The node list of a held place, malloc'ed; NULL without memory. */
static char *join_nodes(const struct sl_snapshot *s, struct sl_range places)
{
	const char **name = calloc(places.count + 1u, sizeof(*name));
	struct sl_error err;
	char *list = NULL;

	if (!name)
		return NULL;
	for (uint32_t i = 0; i < places.count; i++)
		name[i] = sl_snapshot_str(s, s->node.name[s->alloc.node[places.first + i]]);
	list = sl_nodelist_join(name, places.count, &err);
	free(name);
	return list;
}

static json_t *read_place(const struct sl_snapshot *s, uint32_t i)
{
	char *nodes = join_nodes(s, s->held.places[i]);
	json_t *place = nodes ? json_pack("{s:I, s:I, s:I, s:s}", "job", (json_int_t) s->job.id[s->held.job[i]],
		"since", (json_int_t) s->held.since[i], "until", (json_int_t) s->held.until[i], "nodes", nodes) : NULL;

	free(nodes);
	return place;
}

static json_t *read_stop(const struct sl_snapshot *s, uint32_t i)
{
	return json_pack("{s:I, s:I, s:I, s:s}", "job", (json_int_t) s->stopped.job[i], "preemptor", (json_int_t) s->stopped.preemptor[i],
		"time", (json_int_t) s->stopped.time[i], "user", sl_snapshot_str(s, s->stopped.user[i]));
}

json_t *sl_stops_read(const struct sl_snapshot *s)
{
	json_t *held = json_array(), *stopped = json_array();
	bool fails = !held || !stopped;

	for (uint32_t i = 0; !fails && i < s->held.rows; i++)
		fails = json_array_append_new(held, read_place(s, i)) != 0;
	for (uint32_t i = 0; !fails && i < s->stopped.rows; i++)
		fails = json_array_append_new(stopped, read_stop(s, i)) != 0;
	if (!fails)
		return json_pack("{s:o, s:o}", "held", held, "stopped", stopped);
	json_decref(held);
	json_decref(stopped);
	return NULL;
}
