/* SPDX-License-Identifier: MIT */
/*
 * conf/topology_yaml.c - topology.yaml (Slurm 25.05 and later); see conf/private.h.
 *
 * Read is the part of YAML that topology.yaml(5) is written in: one KEY: VALUE in a line, lists with a dash before
 * each item, comments, quotes.  The keys tell by themselves what they belong to, so that indentation is not
 * looked at.  Anything else (braces, several documents, blocks of text) is refused.
 *
 *	- topology: topo1			the first with cluster_default: true holds
 *	  cluster_default: true
 *	  tree:					or block:, flat:, ring:, torus3d:
 *	    switches:
 *	      - switch: s1
 *	        nodes: node[01-02]
 */
#include "conf/private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"

enum kind { KIND_NONE, KIND_TREE, KIND_BLOCK, KIND_FLAT, KIND_OTHER };

struct yaml {
	struct sl_conf *c;
	struct sl_conf_where where;
	struct sl_conf_switches now;	/* of the topology at hand */
	enum kind kind;			/* of that */
	bool is_default;
	const char *name;
	bool chosen;			/* one with cluster_default was there */
	uint32_t topologies;
	struct sl_conf_switches *result;
	struct sl_error *err;
};

/* The name that was added last is that of the cluster's topology. */
static void put_first(struct sl_conf_own *own)
{
	const char *name = own->name[own->names - 1];

	own->name[own->names - 1] = own->name[0];
	own->name[0] = name;
}

/* A topology has ended: keep it if it is the cluster's.  0, or -1. */
static int end_topology(struct yaml *y)
{
	bool first = y->topologies == 1;
	int rc = 0;

	if (y->topologies)
		rc = sl_conf_add_topology(y->c, y->name, y->err);
	if (y->topologies && !y->chosen && (y->is_default || first)) {
		free(y->result->at);
		*y->result = y->now;
		y->result->blocks = y->kind == KIND_BLOCK;
		y->result->not_modelled = y->kind == KIND_OTHER;
		y->chosen = y->is_default;
		if (!rc)
			put_first(y->c->own);
		if (y->kind == KIND_OTHER)
			sl_conf_note(y->c, y->where, "topology %s is neither tree nor block nor flat, and not modelled", y->name);
	} else {
		free(y->now.at);
	}
	y->now = (struct sl_conf_switches) { 0 };
	y->kind = KIND_NONE;
	y->is_default = false;
	return rc;
}

static int begin_switch(struct yaml *y, const char *name)
{
	struct sl_conf_switch one = { .where = y->where, .name = sl_conf_copy(y->c, name, y->err), .level = -1 };

	return one.name ? sl_conf_add_switch(&y->now, &one, y->err) : -1;
}

static int set_list(struct yaml *y, const char *value, bool nodes)
{
	struct sl_conf_switch *s = y->now.count ? &y->now.at[y->now.count - 1] : NULL;
	const char *copy;

	if (!s)
		return sl_conf_fail(y->where, y->err, "%s: expected a switch or a block before it", nodes ? "nodes" : "children");
	copy = sl_conf_copy(y->c, value, y->err);
	if (!copy)
		return -1;
	*(nodes ? &s->nodes : &s->switches) = copy;
	return 0;
}

/* [4, 8] */
static int add_sizes(struct yaml *y, const char *value)
{
	char list[256];
	size_t n = strlen(value);

	if (n < 2 || n - 2 >= sizeof(list) || *value != '[' || value[n - 1] != ']')
		return sl_conf_fail(y->where, y->err, "block_sizes: \"%.60s\": expected numbers of nodes, as in [18, 36]", value);
	memcpy(list, value + 1, n - 2);
	list[n - 2] = 0;
	return sl_conf_add_block_sizes(&y->now, y->where, list, y->err);
}

/* A key and its value, "" where that is below it. */
static int take_pair(struct yaml *y, const char *key, const char *value)
{
	static const struct { const char *key; enum kind kind; } kinds[] = {
		{ "tree", KIND_TREE }, { "block", KIND_BLOCK }, { "flat", KIND_FLAT }, { "ring", KIND_OTHER },
		{ "torus3d", KIND_OTHER },
	};

	if (!strcmp(key, "topology")) {
		if (end_topology(y))
			return -1;
		y->topologies++;
		y->name = sl_conf_copy(y->c, value, y->err);
		return y->name ? 0 : -1;
	}
	if (!y->topologies)
		return sl_conf_fail(y->where, y->err, "%s: expected \"- topology: NAME\" before it", key);
	if (!strcmp(key, "cluster_default")) {
		y->is_default = !strcmp(value, "true") || !strcmp(value, "yes");
		return 0;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(key, kinds[i].key) && (!*value || kinds[i].kind == KIND_FLAT)) {
			y->kind = kinds[i].kind;
			return 0;
		}
	if (y->kind == KIND_OTHER || y->kind == KIND_FLAT)
		return 0;
	if (!strcmp(key, "switch") || !strcmp(key, "block"))
		return begin_switch(y, value);
	if (!strcmp(key, "nodes") || !strcmp(key, "children"))
		return set_list(y, value, *key == 'n');
	if (!strcmp(key, "block_sizes") && *value)
		return add_sizes(y, value);
	if (!strcmp(key, "switches") || !strcmp(key, "blocks") || !strcmp(key, "block_sizes"))
		return 0;
	sl_conf_note(y->c, y->where, "topology.yaml has no key %s: it is left out", key);
	return 0;
}

/* Cut off blanks at the end, and quotes around. */
static char *trim_value(char *v)
{
	size_t n;

	v += strspn(v, " \t");
	for (n = strlen(v); n && isspace((unsigned char) v[n - 1]); n--)
		v[n - 1] = 0;
	if (n >= 2 && (*v == '"' || *v == '\'') && v[n - 1] == *v) {
		v[n - 1] = 0;
		v++;
	}
	return v;
}

static void cut_comment(char *line)
{
	for (char *p = line; *p; p++)
		if (*p == '#' && (p == line || p[-1] == ' ' || p[-1] == '\t')) {
			*p = 0;
			return;
		}
}

static int take_line(struct yaml *y, char *line)
{
	char *colon;

	cut_comment(line);
	line += strspn(line, " ");
	if (!strcmp(trim_value(line), "---") || !*line)
		return 0;
	while (*line == '-' && (line[1] == ' ' || !line[1]))
		line += 1 + strspn(line + 1, " ");
	if (!*line)
		return 0;
	if (*line == '\t')
		return sl_conf_fail(y->where, y->err, "a tab: expected blanks before the text");
	colon = strstr(line, ": ");
	if (!colon && line[strlen(line) - 1] == ':')
		colon = line + strlen(line) - 1;
	if (!colon && line[strspn(line, "0123456789")] == 0)
		return y->kind == KIND_BLOCK ? sl_conf_add_block_sizes(&y->now, y->where, line, y->err) : 0;
	if (!colon || strchr("{[&*!|>%@`", *line))
		return sl_conf_fail(y->where, y->err, "\"%.60s\": expected KEY: VALUE", line);
	*colon = 0;
	colon++;
	colon += strspn(colon, " ");
	if (*colon && strchr("{&*!|>%@`", *colon))
		return sl_conf_fail(y->where, y->err, "%s: \"%.60s\": expected a word, or a list below it", line, colon);
	return take_pair(y, trim_value(line), trim_value(colon));
}

int sl_conf_read_yaml(struct sl_conf *c, const char *path, struct sl_conf_switches *s, struct sl_error *err)
{
	struct yaml y = { .c = c, .where = { .path = path }, .result = s, .err = err };
	struct sl_lines *lines = sl_lines_open(path, err);
	char *line;
	int64_t n = 0;
	int rc = !lines || sl_lines_must_be_file(lines, err) ? -1 : 0;

	y.where.path = sl_conf_copy(c, path, err);
	if (!y.where.path)
		rc = -1;
	while (!rc && (n = sl_lines_next(lines, &line, err)) > 0) {
		y.where.line = sl_lines_number(lines);
		rc = take_line(&y, line);
	}
	if (end_topology(&y))
		rc = -1;
	sl_lines_close(lines);
	return rc || n < 0 ? -1 : 0;
}
