/* SPDX-License-Identifier: MIT */
/*
 * conf/partition.c - what PartitionName and NodeSet lines mean, as _parse_partitionname() of
 * src/common/read_config.c and nodespec_to_hostlist() of src/slurmctld/read_config.c have it; see conf/private.h.
 */
#include "conf/private.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/order.h"
#include "base/search.h"

#define MOST_MEMBERS (1u << 26)	/* nodes of all partitions: 256 MiB */

struct line {			/* a PartitionName line at hand */
	struct sl_conf *c;
	struct sl_conf_where where;
	struct sl_conf_words words;
	struct sl_error *err;
};

static const char *said(const struct line *l, int key)
{
	return sl_conf_said(&sl_conf_partition_table, &l->words, &l->c->own->partition_default, key);
}

static uint32_t number_of(const struct line *l, int key, uint32_t usual)
{
	const char *text = said(l, key);
	uint64_t n = usual;

	if (text)
		sl_conf_scan_number(sl_conf_partition_table.key[key].type, text, &n);
	return (uint32_t) n;
}

static bool is_yes(const struct line *l, int key)
{
	const char *text = said(l, key);
	bool yes = false;

	if (text)
		sl_conf_scan_boolean(text, &yes);
	return yes;
}

/* -- fields ---------------------------------------------------------------------- */

/* A time as time_str2mins() takes it: whole minutes, rounded up. */
static int read_time(const struct line *l, int key, int64_t usual, int64_t *seconds)
{
	const char *text = said(l, key);

	*seconds = usual;
	if (!text)
		return 0;
	if (!strcmp(text, "-1")) {
		*seconds = SL_UNLIMITED;
		return 0;
	}
	if (!sl_scan_duration(text, seconds))
		return sl_conf_fail(l->where, l->err, "%s=%s: expected a time, as in 30, 1:30:00 or 2-12:00:00",
				    sl_conf_partition_table.key[key].name, text);
	if (*seconds != SL_UNLIMITED)
		*seconds = (*seconds + 59) / 60 * 60;
	return 0;
}

static int read_times(const struct line *l, struct sl_conf_partition *p)
{
	if (read_time(l, SL_PARTITION_MAX_TIME, SL_UNLIMITED, &p->max_time_s) ||
	    read_time(l, SL_PARTITION_DEFAULT_TIME, 0, &p->default_time_s))
		return -1;
	if (p->default_time_s <= p->max_time_s)
		return 0;
	sl_conf_note(l->c, l->where, "DefaultTime is more than MaxTime: it is left out, as slurmctld does");
	p->default_time_s = 0;
	return 0;
}

/* "YES:4", "FORCE:2", "EXCLUSIVE". */
static int read_oversubscribe(const struct line *l, struct sl_conf_partition *p)
{
	int key = said(l, SL_PARTITION_OVERSUBSCRIBE) ? SL_PARTITION_OVERSUBSCRIBE : SL_PARTITION_SHARED;
	const char *text = said(l, key), *colon = text ? strchr(text, ':') : NULL;
	size_t n = text ? strcspn(text, ":") : 0;
	long jobs = colon ? strtol(colon + 1, NULL, 10) : 4;

	p->oversubscribe = 1;
	if (!text || !strcasecmp(text, "NO"))
		return 0;
	if (!strcasecmp(text, "EXCLUSIVE")) {
		p->oversubscribe = 0;
		return 0;
	}
	p->force = n == 5 && !strncasecmp(text, "FORCE", n);
	if (!p->force && !(n == 3 && !strncasecmp(text, "YES", n)))
		return sl_conf_fail(l->where, l->err, "%s=%s: expected NO, EXCLUSIVE, YES, YES:JOBS, FORCE or FORCE:JOBS",
				    sl_conf_partition_table.key[key].name, text);
	if (jobs < (p->force ? 1 : 2) || jobs > INT16_MAX) {
		sl_conf_note(l->c, l->where, "%s=%s: NO is taken, as slurmctld does", sl_conf_partition_table.key[key].name, text);
		p->force = false;
		return 0;
	}
	p->oversubscribe = (uint32_t) jobs;
	return 0;
}

/* Exclusive=NO|NODE|USER|TOPO, from 26.05 on, in place of the three options before it. */
static int read_exclusive(const struct line *l, struct sl_conf_partition *p)
{
	const char *text = said(l, SL_PARTITION_EXCLUSIVE);

	p->exclusive_topo = is_yes(l, SL_PARTITION_EXCLUSIVE_TOPO);
	p->exclusive_user = is_yes(l, SL_PARTITION_EXCLUSIVE_USER) && !p->exclusive_topo;
	if (!text)
		return 0;
	p->exclusive_user = !strcasecmp(text, "USER");
	p->exclusive_topo = !strcasecmp(text, "TOPO");
	if (p->exclusive_topo || !strcasecmp(text, "NODE"))
		p->oversubscribe = 0;
	else if (!strcasecmp(text, "NO") || !strcasecmp(text, "NONE"))
		p->oversubscribe += !p->oversubscribe;
	else if (!p->exclusive_user)
		return sl_conf_fail(l->where, l->err, "Exclusive=%s: expected NO, NODE, USER or TOPO", text);
	return 0;
}

static int read_state(const struct line *l, struct sl_conf_partition *p)
{
	static const char *const states[] = { "DOWN", "UP", "DRAIN", "INACTIVE" };
	const char *text = said(l, SL_PARTITION_STATE);

	p->state = "UP";
	for (size_t i = 0; text && i < sizeof(states) / sizeof(states[0]); i++)
		if (!strncasecmp(text, states[i], strlen(states[i]))) {
			p->state = states[i];
			return 0;
		}
	return text ? sl_conf_fail(l->where, l->err, "State=%s: expected UP, DOWN, DRAIN or INACTIVE", text) : 0;
}

static void read_numbers(const struct line *l, struct sl_conf_partition *p)
{
	p->min_nodes = number_of(l, SL_PARTITION_MIN_NODES, 0);
	p->max_nodes = number_of(l, SL_PARTITION_MAX_NODES, SL_CONF_UNLIMITED);
	p->max_cpus_per_node = number_of(l, SL_PARTITION_MAX_CPUS_PER_NODE, SL_CONF_UNLIMITED);
	p->priority_tier = number_of(l, SL_PARTITION_PRIORITY_TIER, 1);
	p->priority_job_factor = number_of(l, SL_PARTITION_PRIORITY_JOB_FACTOR, 1);
	if (said(l, SL_PARTITION_PRIORITY))
		p->priority_tier = p->priority_job_factor = number_of(l, SL_PARTITION_PRIORITY, 1);
	p->is_default = is_yes(l, SL_PARTITION_DEFAULT);
	p->hidden = is_yes(l, SL_PARTITION_HIDDEN);
	p->lln = is_yes(l, SL_PARTITION_LLN);
	p->root_only = is_yes(l, SL_PARTITION_ROOT_ONLY);
}

/* What changes which job can run where, and has no counterpart in a snapshot. */
static void note_others(const struct line *l)
{
	static const int keys[] = {
		SL_PARTITION_MAX_CPUS_PER_SOCKET, SL_PARTITION_SELECT_TYPE_PARAMETERS, SL_PARTITION_REQ_RESV,
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (said(l, keys[i]) && (keys[i] != SL_PARTITION_REQ_RESV || is_yes(l, keys[i])))
			sl_conf_note(l->c, l->where, "%s=%s is not modelled", sl_conf_partition_table.key[keys[i]].name,
				     said(l, keys[i]));
}

static const char *copy_of(const struct line *l, const char *text)
{
	return text && *text ? sl_conf_copy(l->c, text, l->err) : "";
}

static int fill_partition(const struct line *l, struct sl_conf_partition *p, const char *name)
{
	struct sl_conf *c = l->c;

	SL_MAP_EACH(&c->own->by_partition, sl_hash_text(SL_HASH, name), at)
		if (!strcmp(c->partition[at.value].name, name))
			return sl_conf_fail(l->where, l->err, "partition %s twice", name);
	if (read_times(l, p) || read_oversubscribe(l, p) || read_exclusive(l, p) || read_state(l, p))
		return -1;
	read_numbers(l, p);
	note_others(l);
	p->name = sl_conf_copy(c, name, l->err);
	p->qos = copy_of(l, said(l, SL_PARTITION_QOS));
	p->topology = copy_of(l, said(l, SL_PARTITION_TOPOLOGY));
	p->nodes_text = copy_of(l, said(l, SL_PARTITION_NODES));
	return p->name && p->qos && p->topology && p->nodes_text ? 0 : -1;
}

int sl_conf_partition_line(struct sl_conf *c, struct sl_conf_where where, const char *name, char *rest,
			   struct sl_error *err)
{
	struct line l = { .c = c, .where = where, .err = err };
	struct sl_conf_partition p = { .where = where };

	if (sl_conf_read_words(c, where, &sl_conf_partition_table, rest, &l.words, err))
		return -1;
	if (!strcasecmp(name, "DEFAULT"))
		return sl_conf_overlay(c, &sl_conf_partition_table, where, &c->own->partition_default, &l.words, err);
	if (fill_partition(&l, &p, name) ||
	    sl_grow(&c->partition, &c->own->partition_room, c->partitions + UINT64_C(1), sizeof(*c->partition), err) ||
	    sl_map_put(&c->own->by_partition, sl_hash_text(SL_HASH, name), c->partitions, err))
		return -1;
	if (p.is_default && c->partitions && c->partition[c->own->default_partition].is_default) {
		sl_conf_note(c, where, "Default=YES: %s is no longer the default partition",
			     c->partition[c->own->default_partition].name);
		c->partition[c->own->default_partition].is_default = false;
	}
	if (p.is_default)
		c->own->default_partition = c->partitions;
	c->partition[c->partitions++] = p;
	return 0;
}

static uint32_t find_nodeset(const struct sl_conf_own *own, const char *name)
{
	SL_MAP_EACH(&own->by_nodeset, sl_hash_text(SL_HASH, name), at)
		if (!strcmp(own->nodeset[at.value].name, name))
			return at.value;
	return SL_MAP_NOTHING;
}

int sl_conf_nodeset_line(struct sl_conf *c, struct sl_conf_where where, const char *name, char *rest,
			 struct sl_error *err)
{
	struct sl_conf_words words;
	struct sl_conf_nodeset s = { .where = where };
	const char *feature, *nodes;

	if (sl_conf_read_words(c, where, &sl_conf_nodeset_table, rest, &words, err) ||
	    sl_grow(&c->own->nodeset, &c->own->nodeset_room, c->own->nodesets + UINT64_C(1), sizeof(s), err))
		return -1;
	feature = words.value[SL_NODESET_FEATURE];
	nodes = words.value[SL_NODESET_NODES];
	if (!feature && !nodes)
		sl_conf_note(c, where, "NodeSet=%s has neither Nodes nor Feature: it is empty", name);
	s.name = sl_conf_copy(c, name, err);
	s.feature = feature ? sl_conf_copy(c, feature, err) : NULL;
	s.nodes = nodes ? sl_conf_copy(c, nodes, err) : NULL;
	if (!s.name || (feature && !s.feature) || (nodes && !s.nodes))
		return -1;
	if (find_nodeset(c->own, name) != SL_MAP_NOTHING) {
		sl_conf_note(c, where, "NodeSet=%s twice: the former counts", name);
		return 0;
	}
	if (sl_map_put(&c->own->by_nodeset, sl_hash_text(SL_HASH, name), c->own->nodesets, err))
		return -1;
	c->own->nodeset[c->own->nodesets++] = s;
	return 0;
}

/* -- nodes of a partition ----------------------------------------------------------- */

struct members {
	struct sl_conf *c;
	struct sl_conf_partition *p;
	uint32_t room;
	bool *wanted;			/* node sets that are named and not looked at yet */
	uint32_t from;			/* the first of them that may be named where we are */
	uint32_t named;			/* nodes that were named, FUTURE ones too */
	bool functions;			/* "feature{x}" stands for nodes: only where Nodes= of the partition itself has a brace */
	struct sl_conf_where where;
	struct sl_error *err;
};

static int add_member(struct members *m, uint32_t node)
{
	struct sl_conf_partition *p = m->p;

	m->named++;
	if (node >= m->c->nodes)
		return 0;
	if (m->c->own->members++ == MOST_MEMBERS)
		return sl_conf_fail(p->where, m->err, "more than %u nodes in all partitions", MOST_MEMBERS);
	if (sl_grow(&p->node, &m->room, p->nodes + UINT64_C(1), sizeof(*p->node), m->err))
		return -1;
	p->node[p->nodes++] = node;
	return 0;
}

static int add_all(struct members *m)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->c->own->all_nodes && !rc; i++)
		rc = add_member(m, i);
	return rc;
}

static int add_feature(struct members *m, const char *feature)
{
	struct sl_conf *c = m->c;
	bool *has = calloc(c->kinds + 1, 1);
	int rc = 0;

	if (!has)
		return sl_fail(m->err, SL_ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->kinds; i++)
		has[i] = sl_list_has(c->kind[i].features, ",", feature, strlen(feature));
	for (uint32_t i = 0; i < c->own->all_nodes && !rc; i++)
		if (has[c->node[i].kind])
			rc = add_member(m, i);
	free(has);
	return rc;
}

/* A function of a node list, as _parse_hostlist_function() of src/common/node_conf.c has them since 24.11. */
static int add_function(struct members *m, const char *name)
{
	static const char known[] = "feature{";
	char feature[256];
	size_t n = strcspn(name, "}");

	if (!m->functions)
		return sl_conf_fail(m->where, m->err, "Nodes=%.60s: expected this function in Nodes= of the partition itself: slurmctld "
				    "does not look for functions where only a NodeSet has them", name);
	if (strncmp(name, known, strlen(known)) || !name[n] || n >= sizeof(feature))
		return sl_conf_fail(m->where, m->err, "Nodes=%.60s: expected names, or feature{FEATURE}: other functions of node lists are "
				    "not read here", name);
	snprintf(feature, sizeof(feature), "%.*s", (int) (n - strlen(known)), name + strlen(known));
	return add_feature(m, feature);
}

/* slurmctld goes through the node sets in the order of the file, so that one can name only those behind it. */
static int add_name(const char *name, void *arg)
{
	struct members *m = arg;
	uint32_t node, set = find_nodeset(m->c->own, name);

	if (strchr(name, '{') && set == SL_MAP_NOTHING)
		return add_function(m, name);
	if (set != SL_MAP_NOTHING && set >= m->from) {
		if (m->wanted[set])
			return sl_conf_fail(m->where, m->err, "NodeSet %s twice in the list: slurmctld takes the second for a node", name);
		m->wanted[set] = true;
		return 0;
	}
	node = sl_conf_find_node(m->c, name);
	if (node != SL_MAP_NOTHING)
		return add_member(m, node);
	if (set != SL_MAP_NOTHING)
		return sl_conf_fail(m->where, m->err, "NodeSet %s: expected once in the list, and in a line below those that name it, since "
				    "slurmctld reads them in order", name);
	return sl_conf_fail(m->where, m->err, "no node %.60s in a NodeName line, and no NodeSet of that name", name);
}

static int add_list(struct members *m, const char *list)
{
	if (!strcasecmp(list, "ALL"))
		return add_all(m);
	return sl_conf_split(list, m->where, add_name, m, m->err);
}

static int add_nodeset(struct members *m, const struct sl_conf_nodeset *s)
{
	m->where = s->where;
	if (s->feature && add_feature(m, s->feature))
		return -1;
	return s->nodes ? add_list(m, s->nodes) : 0;
}

static void sort_members(struct sl_conf_partition *p)
{
	uint32_t kept = 0;

	if (p->nodes)
		qsort(p->node, p->nodes, sizeof(*p->node), sl_order_u32);
	for (uint32_t i = 0; i < p->nodes; i++)
		if (!i || p->node[i] != p->node[kept - 1])
			p->node[kept++] = p->node[i];
	p->nodes = kept;
}

static int resolve_one(struct members *m)
{
	struct sl_conf_partition *p = m->p;
	const struct sl_conf_own *own = m->c->own;
	int rc;

	m->functions = strchr(p->nodes_text, '{');
	if (m->functions)
		sl_conf_note(m->c, p->where, "Nodes=%.60s: slurmctld reads functions of node lists since 24.11", p->nodes_text);
	rc = add_list(m, p->nodes_text);
	for (uint32_t i = 0; i < own->nodesets && !rc; i++) {
		m->from = i + 1;
		if (m->wanted[i])
			rc = add_nodeset(m, &own->nodeset[i]);
		m->wanted[i] = false;
	}
	sort_members(p);
	if (!rc && !m->named)
		sl_conf_note(m->c, p->where, "partition %s has no nodes", p->name);
	return rc;
}

/* Its topology, as set_part_topology_idx() of slurmctld finds it (25.05 and later). */
static int resolve_topology(struct sl_conf *c, struct sl_conf_partition *p, struct sl_error *err)
{
	const struct sl_conf_own *own = c->own;
	uint32_t i = 0;

	while (*p->topology && i < own->names && strcmp(own->name[i], p->topology))
		i++;
	if (i == own->names && *p->topology)
		return sl_conf_fail(p->where, err, "Topology=%.60s: expected the name of a topology of topology.yaml, or default without one",
				    p->topology);
	p->other_topology = i || own->topology.not_modelled;
	if (i)
		sl_conf_note(c, p->where, "Topology=%s is not modelled: switches and blocks of nodes are those of topology %s",
			     p->topology, own->name[0]);
	if (p->other_topology)
		return 0;
	p->block_nodes = own->topology.block_nodes;
	p->block_levels = own->topology.block_levels;
	return 0;
}

int sl_conf_resolve_partitions(struct sl_conf *c, struct sl_error *err)
{
	bool *wanted = calloc(c->own->nodesets + 1, sizeof(*wanted));
	int rc = wanted ? 0 : sl_fail(err, SL_ENOMEM, "out of memory");

	for (uint32_t i = 0; i < c->partitions && !rc; i++) {
		struct members m = {
			.c = c, .p = &c->partition[i], .wanted = wanted, .where = c->partition[i].where, .err = err,
		};

		rc = resolve_topology(c, m.p, err) ?: resolve_one(&m);
	}
	free(wanted);
	return rc;
}
