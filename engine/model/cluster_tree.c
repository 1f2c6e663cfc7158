/* SPDX-License-Identifier: MIT */
/* cluster_tree.c - the tree of switches, read from the nodes' topology paths. */
#include "model/cluster_private.h"
#include "timeline/score.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

#define DEEPEST 16	/* levels of switches; deeper ones are ignored */

struct path {			/* the path of a switch, from the root */
	const char *text;
	size_t length;
};

struct builder {
	struct sl_tree *tree;
	struct path *path;		/* [switch] */
	uint32_t path_room, above_room;
	struct sl_map known;
};

/* The number of the switch with that path; *is_new* if it was created. */
static int find_switch(struct builder *b, struct path p, uint32_t *number, bool *is_new, struct sl_error *err)
{
	uint64_t hash = sl_hash_bytes(SL_HASH, p.text, p.length);
	uint32_t n = b->tree->switches;

	*is_new = false;
	SL_MAP_EACH(&b->known, hash, at)
		if (b->path[at.value].length == p.length && !memcmp(b->path[at.value].text, p.text, p.length)) {
			*number = at.value;
			return 0;
		}
	if (sl_grow(&b->path, &b->path_room, (uint64_t) n + 1, sizeof(*b->path), err) ||
	    sl_grow(&b->tree->above, &b->above_room, (uint64_t) n + 1, sizeof(*b->tree->above), err) ||
	    sl_map_put(&b->known, hash, n, err))
		return -1;
	b->path[n] = p;
	b->tree->above[n] = SL_NO_SWITCH;
	b->tree->switches++;
	*number = n;
	*is_new = true;
	return 0;
}

/* The leaf switch of a path; creates it and all switches above it. */
static int add_path(struct builder *b, const char *text, uint32_t *leaf, struct sl_error *err)
{
	struct path p = { text, strlen(text) };
	uint32_t below, s;
	bool is_new;

	if (find_switch(b, p, leaf, &is_new, err))
		return -1;
	below = *leaf;
	for (int depth = 1; is_new && depth < DEEPEST; depth++) {
		const char *dot = memrchr(p.text, '.', p.length);

		if (!dot)
			break;
		p.length = (size_t) (dot - p.text);
		if (find_switch(b, p, &s, &is_new, err))
			return -1;
		b->tree->above[below] = s;
		below = s;
	}
	return 0;
}

static int measure(struct sl_tree *tree, uint32_t nodes, struct sl_error *err)
{
	tree->height = calloc((size_t) tree->switches + 1, sizeof(*tree->height));
	if (!tree->height)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	for (uint32_t n = 0; n < nodes; n++) {
		uint32_t s = tree->leaf_of[n];

		if (n && s == tree->leaf_of[n - 1])
			continue;
		for (uint32_t height = 0; s != SL_NO_SWITCH; s = tree->above[s], height++)
			if (tree->height[s] < height)
				tree->height[s] = height;
	}
	return 0;
}

static int read_paths(const struct sl_cluster *c, struct builder *b, struct sl_error *err)
{
	const uint32_t *path = c->snap->node.topology;

	b->tree->leaf_of = calloc((size_t) c->snap->node.rows + 1, sizeof(*b->tree->leaf_of));
	if (!b->tree->leaf_of)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	for (uint32_t n = 0; n < c->snap->node.rows; n++) {
		b->tree->leaf_of[n] = SL_NO_SWITCH;
		if (n && path[n] == path[n - 1])
			b->tree->leaf_of[n] = b->tree->leaf_of[n - 1];
		else if (*cluster_str(c, path[n]) &&
			 add_path(b, cluster_str(c, path[n]), &b->tree->leaf_of[n], err))
			return -1;
	}
	return measure(b->tree, c->snap->node.rows, err);
}

int cluster_build_tree(struct sl_cluster *c, struct sl_error *err)
{
	struct builder b = { .tree = &c->tree };
	uint32_t n = 0;
	int rc;

	while (n < c->snap->node.rows && c->snap->node.topology[n] == c->snap->node.topology[0])
		n++;
	if (n == c->snap->node.rows)	/* no switch, or only one */
		return 0;
	rc = read_paths(c, &b, err);
	sl_map_free(&b.known);
	free(b.path);
	return rc;
}

uint32_t cluster_most_in_leaf(const struct sl_cluster *c, const struct sl_nodeset *nodes)
{
	uint32_t *count = calloc((size_t) c->tree.switches + 1, sizeof(*count)), most = count ? 0 : UINT32_MAX;

	for (uint32_t n = sl_nodeset_next(nodes, 0); count && n < SL_MAX_NODES; n = sl_nodeset_next(nodes, n + 1)) {
		uint32_t leaf = c->tree.switches ? c->tree.leaf_of[n] : 0;

		if (leaf != SL_NO_SWITCH && ++count[leaf] > most)
			most = count[leaf];
	}
	free(count);
	return most;
}

void cluster_tree_free(struct sl_cluster *c)
{
	free(c->tree.leaf_of);
	free(c->tree.above);
	free(c->tree.height);
}

void cluster_share(struct sl_cluster *c, struct sl_timeline *tl)
{
	sl_timeline_shelf(tl, &c->shelf);
	sl_timeline_count(tl, &c->effort);
	if (c->tree.switches)
		sl_timeline_tree(tl, &c->tree);
	if (c->has_devices)
		sl_timeline_devices(tl, &c->devices);
	sl_timeline_scoring(tl, cluster_scoring(c));
}

struct sl_timeline *cluster_new_timeline(struct sl_cluster *c, struct sl_error *err)
{
	struct sl_timeline *tl = sl_timeline_create(c->snap->node.rows, c->kind_of, c->kind, c->kinds, c->now, err);

	if (tl)
		cluster_share(c, tl);
	return tl;
}
