/* SPDX-License-Identifier: MIT */
/*
 * conf/topology.c - the switches above each node, or the block that it is in, of topology.conf or topology.yaml,
 * in the form that topology_g_get_node_addr() has them; see conf/private.h.
 */
#include "conf/private.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/order.h"
#include "image/nodelist.h"

#define MOST_SWITCHES (1u << 18)
#define MOST_LEVELS 32

struct topology {
	struct sl_conf *c;
	struct sl_conf_switches s;
	struct sl_map by_name;
	uint32_t *leaf;			/* of each node, the first that it is in; SL_MAP_NOTHING: none */
	uint32_t *rank;			/* of each node, the last that it is in, from 1 on; 0: none */
	uint32_t *members;		/* of each leaf, its nodes */
	const char **unknown;		/* names of the leaf at hand that no NodeName line has */
	uint32_t unknowns, unknown_room;
	uint32_t *seen;			/* of each switch, the leaf that it was last found above */
	uint32_t *above, aboves, above_room;
	uint32_t at;			/* the switch at hand */
	int levels;
	bool yaml;			/* it is of topology.yaml */
	struct sl_error *err;
};

int sl_conf_add_switch(struct sl_conf_switches *s, const struct sl_conf_switch *one, struct sl_error *err)
{
	if (s->count == MOST_SWITCHES)
		return sl_conf_fail(one->where, err, "more than %u switches", MOST_SWITCHES);
	if (sl_grow(&s->at, &s->room, s->count + UINT64_C(1), sizeof(*s->at), err))
		return -1;
	s->at[s->count++] = *one;
	return 0;
}

/* -- lines of topology.conf ---------------------------------------------------------- */

static const char *copy_of(struct topology *t, const char *text)
{
	return text ? sl_conf_copy(t->c, text, t->err) : NULL;
}

static int add_line(struct topology *t, struct sl_conf_where where, const char *name, const char *nodes, const char *switches)
{
	struct sl_conf_switch one = { .where = where, .level = -1 };

	one.name = copy_of(t, name);
	one.nodes = copy_of(t, nodes);
	one.switches = copy_of(t, switches);
	if (!one.name || (nodes && !one.nodes) || (switches && !one.switches))
		return -1;
	return sl_conf_add_switch(&t->s, &one, t->err);
}

static int topology_line(void *arg, struct sl_conf_where where, char *text, struct sl_error *err)
{
	struct topology *t = arg;
	struct sl_conf_words words;
	struct sl_conf_word w;

	if (sl_conf_next_word(&text, &w) < 0)
		return sl_conf_fail(where, err, "\"%.60s\": expected KEY=VALUE", text);
	if (!strcasecmp(w.key, "SwitchName") && !t->s.blocks) {
		if (sl_conf_read_words(t->c, where, &sl_conf_switch_table, text, &words, err))
			return -1;
		return add_line(t, where, w.value, words.value[SL_SWITCH_NODES], words.value[SL_SWITCH_SWITCHES]);
	}
	if (!strcasecmp(w.key, "BlockName") && t->s.blocks) {
		if (sl_conf_read_words(t->c, where, &sl_conf_block_table, text, &words, err))
			return -1;
		return add_line(t, where, w.value, words.value[SL_BLOCK_NODES], NULL);
	}
	if (!strcasecmp(w.key, "BlockSizes") && t->s.blocks)
		return sl_conf_add_block_sizes(&t->s, where, w.value, err);
	return sl_conf_fail(where, err, "%s: expected %s", w.key, t->s.blocks ? "BlockName or BlockSizes" : "SwitchName");
}

/* -- levels ---------------------------------------------------------------------------- */

static int add_child(const char *name, void *arg)
{
	struct topology *t = arg;
	struct sl_conf_switch *s = &t->s.at[t->at], *below;

	SL_MAP_EACH(&t->by_name, sl_hash_text(SL_HASH, name), at) {
		below = &t->s.at[at.value];
		if (strcmp(below->name, name))
			continue;
		if (sl_grow_list(&s->child, s->children, sizeof(*s->child), t->err) ||
		    sl_grow_list(&below->parent, below->parents, sizeof(*below->parent), t->err))
			return -1;
		s->child[s->children++] = at.value;
		below->parent[below->parents++] = t->at;
		return 0;
	}
	return sl_conf_fail(s->where, t->err, "no switch %.60s", name);
}

static int link_switches(struct topology *t)
{
	for (uint32_t i = 0; i < t->s.count; i++) {
		struct sl_conf_switch *s = &t->s.at[i];

		if (s->nodes && s->switches && !t->yaml)
			return sl_conf_fail(s->where, t->err, "switch %s: expected either Nodes or Switches", s->name);
		if (s->nodes && s->switches)
			sl_conf_note(t->c, s->where, "switch %s has nodes and children: the latter are left out, as slurmctld does", s->name);
		if (s->nodes)
			s->switches = NULL;
		if (!s->nodes && !s->switches)
			sl_conf_note(t->c, s->where, "%s %s has no nodes: slurmctld takes that since 25.05", t->s.blocks ? "block" : "switch",
				     s->name);
		SL_MAP_EACH(&t->by_name, sl_hash_text(SL_HASH, s->name), at)
			if (!strcmp(t->s.at[at.value].name, s->name))
				return sl_conf_fail(s->where, t->err, "%s twice", s->name);
		if (sl_map_put(&t->by_name, sl_hash_text(SL_HASH, s->name), i, t->err))
			return -1;
	}
	for (t->at = 0; t->at < t->s.count; t->at++)
		if (t->s.at[t->at].switches &&
		    sl_conf_split(t->s.at[t->at].switches, t->s.at[t->at].where, add_child, t, t->err))
			return -1;
	return 0;
}

/* A leaf is on level 0, another switch one above the highest below it. */
static int find_level(struct topology *t, uint32_t i, int depth)
{
	struct sl_conf_switch *s = &t->s.at[i];
	int level = 0;

	if (s->level >= 0)
		return 0;
	if (depth == MOST_LEVELS)
		return sl_conf_fail(s->where, t->err, "switch %s: it stands above itself, or over more than %d others", s->name,
				    MOST_LEVELS);
	for (uint32_t n = 0; n < s->children; n++) {
		if (find_level(t, s->child[n], depth + 1))
			return -1;
		if (t->s.at[s->child[n]].level >= level)
			level = t->s.at[s->child[n]].level + 1;
	}
	s->level = level;
	if (level > t->levels)
		t->levels = level;
	return 0;
}

/* -- addresses --------------------------------------------------------------------------- */

static int mark_node(const char *name, void *arg)
{
	struct topology *t = arg;
	uint32_t node = sl_conf_find_node(t->c, name);

	if (node == SL_MAP_NOTHING) {
		name = sl_conf_copy(t->c, name, t->err);
		if (!name || sl_grow(&t->unknown, &t->unknown_room, t->unknowns + UINT64_C(1), sizeof(*t->unknown), t->err))
			return -1;
		t->unknown[t->unknowns++] = name;
		return 0;
	}
	if (node < t->c->nodes) {
		t->members[t->at] += t->rank[node] != t->at + 1;
		t->rank[node] = t->at + 1;
	}
	if (node < t->c->nodes && t->leaf[node] == SL_MAP_NOTHING)
		t->leaf[node] = t->at;
	else if (node < t->c->nodes && t->leaf[node] != t->at)
		sl_conf_note(t->c, t->s.at[t->at].where, "node %.60s is in %s already", name, t->s.at[t->leaf[node]].name);
	return 0;
}

/* A leaf and all that is above it, in no order; *seen* has the number of the leaf whose turn it was. */
static int find_above(struct topology *t, uint32_t leaf)
{
	t->aboves = 0;
	if (sl_grow(&t->above, &t->above_room, t->s.count, sizeof(*t->above), t->err))
		return -1;
	t->above[t->aboves++] = leaf;
	t->seen[leaf] = leaf;
	for (uint32_t i = 0; i < t->aboves; i++) {
		const struct sl_conf_switch *s = &t->s.at[t->above[i]];

		for (uint32_t n = 0; n < s->parents; n++)
			if (t->seen[s->parent[n]] != leaf) {
				t->seen[s->parent[n]] = leaf;
				t->above[t->aboves++] = s->parent[n];
			}
	}
	return 0;
}

static int by_level_and_number(const void *x, const void *y, void *arg)
{
	const struct topology *t = arg;
	uint32_t a = *(const uint32_t *) x, b = *(const uint32_t *) y;

	return SL_ORDER(t->s.at[b].level, t->s.at[a].level) ?: SL_ORDER(a, b);
}

/* The switches above a leaf from the root on, those of one level joined as Slurm joins them, dot-separated: in the
 * arena, or NULL with the error set. */
static const char *address_of(struct topology *t, uint32_t leaf)
{
	const char *name[64];
	char text[4096] = "", *joined;
	uint32_t i = 0;

	if (find_above(t, leaf))
		return NULL;
	qsort_r(t->above, t->aboves, sizeof(*t->above), by_level_and_number, t);
	for (int level = t->levels; level >= 0; level--) {
		uint32_t names = 0;

		for (; i < t->aboves && t->s.at[t->above[i]].level == level; i++)
			if (names < sizeof(name) / sizeof(name[0]))
				name[names++] = t->s.at[t->above[i]].name;
		joined = sl_nodelist_join(name, names, t->err);
		if (!joined)
			return NULL;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", level < t->levels ? "." : "", joined);
		free(joined);
	}
	return sl_conf_copy(t->c, text, t->err);
}

static int fill_addresses(struct topology *t)
{
	struct sl_conf *c = t->c;
	const char **address = calloc(t->s.count + 1, sizeof(*address));
	int rc = address ? 0 : sl_fail(t->err, SL_ENOMEM, "out of memory");

	for (uint32_t i = 0; i < c->nodes && !rc; i++) {
		uint32_t leaf = t->leaf[i];

		if (leaf == SL_MAP_NOTHING)
			continue;
		if (!address[leaf])
			address[leaf] = t->s.blocks ? t->s.at[leaf].name : address_of(t, leaf);
		if (!address[leaf])
			rc = -1;
		else
			c->node[i].topology = address[leaf];
	}
	free(address);
	return rc;
}

static int note_unknown(struct topology *t)
{
	char *list = t->unknowns ? sl_nodelist_join(t->unknown, t->unknowns, t->err) : NULL;

	if (t->unknowns && !list)
		return -1;
	if (list)
		sl_conf_note(t->c, t->s.at[t->at].where, "%.80s%s: no NodeName line has %s, left out as slurmctld does", list,
			     strlen(list) > 80 ? "..." : "", t->unknowns > 1 ? "them" : "it");
	free(list);
	t->unknowns = 0;
	return 0;
}

/* Does TopologyParam say that nodes are in the order of their switches or blocks? */
static bool is_ranked(const struct topology *t)
{
	const struct sl_conf_value *v = sl_conf_get(t->c, "TopologyParam");

	return v && strcasestr(v->value, t->s.blocks ? "BlockAsNodeRank" : "SwitchAsNodeRank");
}

static int place_nodes(struct topology *t)
{
	t->leaf = malloc((t->c->nodes + 1) * sizeof(*t->leaf));
	t->rank = calloc(t->c->nodes + 1, sizeof(*t->rank));
	t->seen = malloc((t->s.count + 1) * sizeof(*t->seen));
	t->members = calloc(t->s.count + 1, sizeof(*t->members));
	if (!t->leaf || !t->rank || !t->seen || !t->members)
		return sl_fail(t->err, SL_ENOMEM, "out of memory");
	memset(t->leaf, 0xff, (t->c->nodes + 1) * sizeof(*t->leaf));
	memset(t->seen, 0xff, (t->s.count + 1) * sizeof(*t->seen));
	for (t->at = 0; t->at < t->s.count; t->at++)
		if (t->s.at[t->at].nodes &&
		    (sl_conf_split(t->s.at[t->at].nodes, t->s.at[t->at].where, mark_node, t, t->err) || note_unknown(t)))
			return -1;
	if (fill_addresses(t))
		return -1;
	if (t->s.blocks)
		t->c->own->topology = sl_conf_resolve_blocks(t->c, &t->s, t->members);
	return is_ranked(t) ? sl_conf_rank_nodes(t->c, t->rank, t->err) : 0;
}

/* -- which file -------------------------------------------------------------------------- */

/* topology.conf, as the plug-in of *v* would read it. */
static int read_conf(struct topology *t, const struct sl_conf_value *v, const char *conf)
{
	struct sl_conf_source source = {
		.line = topology_line, .arg = t, .files = &t->c->own->files, .notes = &t->c->notes,
	};

	if (!v || !strcasecmp(v->value, "topology/none") || !strcasecmp(v->value, "topology/default") ||
	    !strcasecmp(v->value, "topology/flat")) {
		if (access(conf, F_OK) == 0)
			sl_notes_add(&t->c->notes, "%s: not read, since there is no TopologyPlugin=topology/tree or topology/block", conf);
		return 0;
	}
	t->s.blocks = !strcasecmp(v->value, "topology/block");
	if (!t->s.blocks && strcasecmp(v->value, "topology/tree")) {
		sl_conf_note(t->c, v->where, "TopologyPlugin=%s is not modelled: no node has switches", v->value);
		t->s.not_modelled = strcasecmp(v->value, "topology/3d_torus");	/* (that one orders nodes, no more) */
		return 0;
	}
	if (access(conf, F_OK)) {
		sl_conf_note(t->c, v->where, "TopologyPlugin=%s: there is no %s, so no node has switches", v->value, conf);
		return 0;
	}
	return sl_conf_each_line(conf, &source, t->err);
}

int sl_conf_resolve_topology(struct sl_conf *c, const char *path, struct sl_error *err)
{
	const struct sl_conf_value *param = sl_conf_get(c, "TopologyParam");
	struct topology t = { .c = c, .err = err };
	char *conf = sl_conf_beside(path, "topology.conf"), *yaml = sl_conf_beside(path, "topology.yaml");
	int rc = conf && yaml ? 0 : sl_fail(err, SL_ENOMEM, "out of memory");

	t.yaml = !rc && access(yaml, F_OK) == 0;
	if (!rc && t.yaml)
		rc = sl_conf_read_yaml(c, yaml, &t.s, err);
	else if (!rc)
		rc = sl_conf_add_topology(c, "default", err) ?: read_conf(&t, sl_conf_get(c, "TopologyPlugin"), conf);
	if (t.s.count && !t.s.blocks && param && strcasestr(param->value, "dragonfly")) {
		sl_conf_note(c, param->where, "TopologyParam=%s: dragonfly is not modelled: jobs of several nodes are placed without a look "
			     "at switches", param->value);
		t.s.not_modelled = true;
	}
	c->own->topology.not_modelled = t.s.not_modelled;
	if (!rc && t.s.count) {
		rc = link_switches(&t);
		for (uint32_t i = 0; i < t.s.count && !rc; i++)
			rc = find_level(&t, i, 0);
		if (!rc)
			rc = place_nodes(&t);
	}
	for (uint32_t i = 0; i < t.s.count; i++) {
		free(t.s.at[i].child);
		free(t.s.at[i].parent);
	}
	free(t.s.at);
	free(t.leaf);
	free(t.rank);
	free(t.members);
	free(t.unknown);
	free(t.seen);
	free(t.above);
	sl_map_free(&t.by_name);
	free(conf);
	free(yaml);
	return rc;
}
