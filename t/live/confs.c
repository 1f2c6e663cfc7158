/* SPDX-License-Identifier: MIT */
/*
 * confs - for t/live/conf.t: random files of nodes and partitions, and what the reader of slurm.conf makes of them.
 *
 *	confs random SEED COUNT DIR SERIES	DIR/random.conf with COUNT parts, each with nodes, node sets and partitions
 *					of its own, what it includes, and topology.conf or topology.yaml; of what came with a
 *					release only what that series of Slurm has ("2411")
 *	confs expand			"LEVEL SWITCH NODES" of each line of stdin as confs show prints it
 *	confs show FILE			a line for each node and partition, in the order of slurmctld, in words that
 *					t/live/conf.t makes of scontrol's, too
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "image/nodelist.h"
#include "t/random.h"

static FILE *out;
static uint32_t series;		/* 2205: of Slurm 22.05 */
static bool whole_sockets;	/* slurmctld refuses to set cores aside on each of them */

static bool chance(uint32_t in)
{
	return below(in) == 0;
}

#define ONE_OF(...) one_of((const char *const[]) { __VA_ARGS__, NULL })

static const char *one_of(const char *const *words)
{
	uint32_t n = 0;

	while (words[n])
		n++;
	return words[below(n)];
}

/* -- how an option is written --------------------------------------------------- */

/* A line is put together here, so that it can be broken where its blanks are. */
static char line[65536];
static size_t length;

static void put(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	length += (size_t) vsnprintf(line + length, sizeof(line) - length, fmt, ap);
	va_end(ap);
}

static void put_key(const char *key)
{
	uint32_t how = below(6);

	for (; *key; key++)
		put("%c", how == 0 ? toupper((unsigned char) *key) : how == 1 ? tolower((unsigned char) *key) : *key);
}

/* " Key=value", with blanks, quotes and another case now and then. */
static void option(const char *key, const char *fmt, ...)
{
	char value[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	put("%s", length ? ONE_OF(" ", " ", "  ", "\t", " \\\n ", " \\  \n\t") : "");
	put_key(key);
	put("%s", ONE_OF("=", "=", "=", " = ", "= ", "\t="));
	put(strpbrk(value, " \t") || !*value || chance(8) ? "\"%s\"" : "%s", value);
}

/* A comma of a list may have a break of the line behind it. */
static void end_line(void)
{
	static char text[sizeof(line) * 2];
	char *to = text;
	bool quoted = false;

	for (const char *p = line; *p; p++) {
		quoted ^= *p == '"';
		*to++ = *p;
		if (*p == ',' && !quoted && chance(25)) {
			*to++ = '\\';
			*to++ = '\n';
		}
	}
	*to = 0;
	fprintf(out, "%s%s\n", text, ONE_OF("", "", "", "", "   # said so", " \r"));
	if (chance(6))
		fprintf(out, "%s", ONE_OF("\n", "# NodeName=x \\\n", "   \n", "\t# nothing\n"));
	length = 0;
	*line = 0;
}

/* -- nodes ----------------------------------------------------------------------- */

struct part {			/* of the file */
	uint32_t number;
	char list[8][200];	/* of nodes, each list of a NodeName line */
	uint32_t lists;
	char set[6][40];
	bool nests[6];		/* the set has the next one in it, too */
	uint32_t sets;
};

static void draw_list(char *text, size_t size, uint32_t part, uint32_t nth)
{
	char name[24];
	uint32_t a = below(12), b = a + below(5);

	snprintf(name, sizeof(name), "%s%u%c", ONE_OF("n", "gpu", "rack-x", "a1b"), part, 'a' + nth);
	switch (below(6)) {
	case 0: snprintf(text, size, "%s", name); break;
	case 1: snprintf(text, size, "%s[%u-%u]", name, a, b); break;
	case 2: snprintf(text, size, "%s[%02u-%02u,%u]", name, a, b, b + 3); break;
	case 3: snprintf(text, size, "%sr[%u-%u]n[%u,%u-%u]", name, below(2), 2 + below(2), a, a + 1, b + 1); break;
	case 4: snprintf(text, size, "%sx,%sy[%u-%u]", name, name, a, b); break;
	default: snprintf(text, size, "%s-%u-[%03u-%03u]c[%u]", name, a, a, b, below(3)); break;
	}
}

/* (Of a resource of which some have a type and some have none, scontrol shows only the former.) */
static void draw_gres(void)
{
	char text[300] = "";
	bool typed = chance(2);
	size_t n = 0;

	for (uint32_t i = 1 + below(3); i > 0; i--) {
		const char *type = typed ? ONE_OF(":a100", ":v100") : "";

		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%s%s:%u%s", n ? "," : "", ONE_OF("gpu", "gpu", "nic", "other"), type,
				       below(9), ONE_OF("", "", "", "(S:0)", "(S:0-1)", "K"));
	}
	option("Gres", "%s", text);
}

static void draw_shape(void)
{
	static const uint32_t counts[] = { 1, 2, 3, 4, 8, 16 };

	if (chance(2))
		option("Sockets", "%u", 1 + below(4));
	if (chance(6))
		option("SocketsPerBoard", "%u", below(3));
	if (chance(7))
		option("Boards", "%u", below(4));
	if (chance(2))
		option("CoresPerSocket", "%u", counts[below(6)]);
	if (chance(2))
		option("ThreadsPerCore", "%u", 1 + below(4));
	if (chance(2))		/* never as many as there are sockets, with several cores each: select/cons_tres refuses that */
		option(ONE_OF("CPUs", "CPUs", "Procs"), "%u", chance(3) ? 7 + below(40) : 8 * counts[below(6)]);
	if (!whole_sockets && chance(4))
		option("CoreSpecCount", "%u", below(4));
	if (!whole_sockets && chance(6))
		option("CpuSpecList", "%s", ONE_OF("0", "0-1", "1,3", "0,2-3", "0-40"));
}

static void draw_node_options(void)
{
	draw_shape();
	if (chance(2))
		option("RealMemory", chance(6) ? "%uK" : "%u", 1 + below(300000));
	if (chance(4))
		option("MemSpecLimit", "%u", below(2000));
	if (chance(4))
		option("TmpDisk", "%u", below(100000));
	if (chance(3))
		option("Weight", "%s", ONE_OF("0", "7", "0x10", "010", "4294967295", "UNLIMITED", "3k"));
	if (chance(2))
		option(ONE_OF("Feature", "Features"), "%s", ONE_OF("fast", "big,fast", "slow", "x86_64,big", "c5.xlarge"));
	if (chance(3))
		draw_gres();
	if (chance(2))
		option("State", "%s", ONE_OF("UNKNOWN", "CLOUD", "DOWN", "DRAIN", "IDLE", "cloud", "FUTURE"));
	if (chance(9))
		option("Reason", "%s", ONE_OF("none", "nobody knows"));
}

static void draw_nodes(struct part *p)
{
	p->lists = 1 + below(4);
	for (uint32_t i = 0; i < p->lists; i++) {
		if (chance(3)) {
			option("NodeName", "%s", ONE_OF("DEFAULT", "default"));
			draw_node_options();
			end_line();
		}
		draw_list(p->list[i], sizeof(p->list[i]), p->number, i);
		option("NodeName", "%s", p->list[i]);
		option("NodeAddr", "127.0.0.1");
		draw_node_options();
		end_line();
	}
}

/* -- partitions ------------------------------------------------------------------- */

static void draw_sets(struct part *p)
{
	p->sets = below(5);
	for (uint32_t i = 0; i < p->sets; i++)
		snprintf(p->set[i], sizeof(p->set[i]), "set%u_%u", p->number, i);
	for (uint32_t i = 0; i < p->sets; i++) {
		option("NodeSet", "%s", p->set[i]);
		if (chance(2))
			option("Feature", "%s", ONE_OF("fast", "big", "nowhere"));
		if (chance(2)) {
			p->nests[i] = i + 1 < p->sets && chance(3);
			option("Nodes", p->nests[i] ? "%s,%s" : "%s", p->list[below(p->lists)], p->set[i + 1]);
		}
		end_line();
	}
}

/* A set that is not among those that are named (bits) nor within one, since slurmctld would take the second
 * for a node; NULL: there is none any more. */
static const char *draw_set(const struct part *p, uint32_t *named)
{
	uint32_t i = below(p->sets + 1), with = 0;

	if (i == p->sets)
		return NULL;
	for (uint32_t n = i; n < p->sets; n++) {
		with |= 1u << n;
		if (!p->nests[n])
			break;
	}
	if (*named & with)
		return NULL;
	*named |= with;
	return p->set[i];
}

static void draw_members(const struct part *p)
{
	char text[2048] = "";
	uint32_t named = 0;
	const char *separator = ONE_OF(",", ",", ",", " ", ",,");
	size_t n = 0;

	if (chance(8)) {
		option("Nodes", "%s", ONE_OF("ALL", "all", ""));
		return;
	}
	for (uint32_t i = below(4); i > 0; i--) {
		const char *set = chance(2) ? draw_set(p, &named) : NULL;

		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%s", n ? separator : "", set ? set : p->list[below(p->lists)]);
	}
	if (series >= 2411 && chance(6))
		n += (size_t) snprintf(text + n, sizeof(text) - n, "%sfeature{%s}", n ? separator : "", ONE_OF("fast", "big", "nowhere"));
	if (n)
		option("Nodes", "%s", text);
}

static void draw_partition_options(void)
{
	if (chance(3))
		option("MaxTime", "%s", ONE_OF("INFINITE", "UNLIMITED", "30", "1:30", "10:00:00", "2-0", "1-12:30", "1-1:1:1", "-1", "0"));
	if (chance(4))
		option("DefaultTime", "%s", ONE_OF("10", "5:01", "1-0", "INFINITE", "2:00:00"));
	if (chance(5))
		option("MaxNodes", "%s", ONE_OF("UNLIMITED", "INFINITE", "4", "0x8", "0"));
	if (chance(5))
		option("MinNodes", "%u", below(4));
	if (chance(6))
		option("MaxCPUsPerNode", "%s", ONE_OF("UNLIMITED", "8", "2k"));
	if (chance(4))
		option("PriorityTier", "%u", below(1000));
	if (chance(6))
		option("PriorityJobFactor", "%u", below(1000));
	if (chance(8))
		option("Priority", "%u", below(1000));
	if (chance(3))
		option(ONE_OF("OverSubscribe", "OverSubscribe", "Shared"), "%s",
		       ONE_OF("NO", "YES", "YES:1", "YES:3", "FORCE", "FORCE:1", "force:5", "EXCLUSIVE", "Yes:0", "FORCE:0"));
	if (chance(4))
		option("Hidden", "%s", ONE_OF("YES", "NO", "true", "0", "UP"));
	if (chance(5))
		option("RootOnly", "%s", ONE_OF("YES", "no", "1", "FALSE"));
	if (chance(5))
		option("LLN", "%s", ONE_OF("YES", "NO", "TRUE", "down"));
	if (chance(6))
		option("Default", "%s", ONE_OF("YES", "NO", "1"));
	if (chance(6))
		option("ExclusiveUser", "%s", ONE_OF("YES", "NO"));
	if (chance(4))
		option("State", "%s", ONE_OF("UP", "DOWN", "DRAIN", "INACTIVE", "up"));
	if (chance(7))
		option("TRESBillingWeights", "CPU=1.0,Mem=0.25G");
}

static void draw_partitions(const struct part *p)
{
	for (uint32_t i = 0, n = 1 + below(3); i < n; i++) {
		if (chance(4)) {
			option("PartitionName", "DEFAULT");
			if (chance(3))
				draw_members(p);
			draw_partition_options();
			end_line();
		}
		option("PartitionName", "p%u_%u", p->number, i);
		draw_members(p);
		draw_partition_options();
		end_line();
	}
}

/* -- switches and blocks ----------------------------------------------------------- */

struct topology {		/* being written */
	FILE *f;
	bool blocks, yaml;
	uint32_t leaves;
};

/* A leaf with nodes, or a switch above others. */
static void put_switch(const struct topology *t, const char *name, const char *nodes, const char *children)
{
	if (t->yaml) {
		fprintf(t->f, "      - %s: %s\n        %s: \"%s\"%s\n", t->blocks ? "block" : "switch", name, *nodes ? "nodes" : "children",
			*nodes ? nodes : children, ONE_OF("", "", "  # said so"));
		return;
	}
	out = t->f;
	option(t->blocks ? "BlockName" : "SwitchName", "%s", name);
	option(*nodes ? "Nodes" : "Switches", "%s", *nodes ? nodes : children);
	if (!t->blocks && chance(3))
		option("LinkSpeed", "%u", below(10));
	end_line();
}

/* Leaves over most of the lists of nodes, and of some that are not there.  (Of several leaves of a node the reader takes
 * the first, and notes that.) */
static void draw_leaves(struct topology *t, const struct part *parts, uint32_t count)
{
	char name[40], nodes[500];

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t l = 0; l < parts[i].lists; l++) {
			bool gone = !t->blocks && chance(15);

			if (chance(6))
				continue;
			snprintf(name, sizeof(name), "leaf%u", t->leaves++);
			snprintf(nodes, sizeof(nodes), "%s%s", parts[i].list[l], gone ? ",gone[7-9]" : "");
			put_switch(t, name, nodes, "");
		}
}

static void draw_switches(struct topology *t)
{
	char name[40], children[60];
	uint32_t above = 0;

	for (uint32_t from = 0; from < t->leaves; above++) {
		uint32_t to = from + 1 + below(4);

		if (to > t->leaves)
			to = t->leaves;
		snprintf(name, sizeof(name), "mid%u", above);
		snprintf(children, sizeof(children), "leaf[%u-%u]", from, to - 1);
		put_switch(t, name, "", children);
		from = to;
	}
	if (chance(4))
		return;
	snprintf(children, sizeof(children), "mid[0-%u]", above - 1);
	put_switch(t, "root", "", children);
	if (chance(3))
		put_switch(t, "other", "", ONE_OF("mid0", "leaf0,mid0", "leaf0"));
}

static void draw_topology(struct topology *t, const struct part *parts, uint32_t count)
{
	t->leaves = 0;
	if (t->yaml)
		fprintf(t->f, "  %s:\n%s    %s:\n", t->blocks ? "block" : "tree", t->blocks ? "    block_sizes:\n      - 1\n" : "",
			t->blocks ? "blocks" : "switches");
	else if (t->blocks)
		fprintf(t->f, "BlockSizes=1\n");
	draw_leaves(t, parts, count);
	if (!t->leaves)
		put_switch(t, "leaf0", parts[0].list[0], "");
	if (!t->blocks) {
		t->leaves += !t->leaves;
		draw_switches(t);
	}
}

/* Several topologies, of which one is the cluster's: the first where no other says that it is. */
static void draw_yaml(struct topology *t, const struct part *parts, uint32_t count)
{
	uint32_t n = 1 + below(3), chosen = below(n);

	for (uint32_t i = 0; i < n; i++) {
		fprintf(t->f, "- topology: t%u\n", i);
		if (chosen || chance(2))
			fprintf(t->f, "  cluster_default: %s\n", i == chosen ? "true" : "false");
		t->blocks = chance(2);
		if (chance(6))
			fprintf(t->f, "  flat: true\n");
		else
			draw_topology(t, parts, count);
	}
}

/* -- the files --------------------------------------------------------------------- */

static FILE *open_file(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static void make_topology(const struct part *parts, uint32_t count, FILE *main_file, const char *dir)
{
	struct topology t = { .blocks = series >= 2411 && chance(3), .yaml = series >= 2505 && chance(2) };

	if (chance(3))
		return;
	if (!t.yaml)
		fprintf(main_file, "TopologyPlugin=topology/%s\n", t.blocks ? "block" : "tree");
	if (series >= 2511 && chance(3))
		fprintf(main_file, "TopologyParam=%s\n", ONE_OF("SwitchAsNodeRank", "BlockAsNodeRank", "SwitchAsNodeRank,BlockAsNodeRank"));
	t.f = open_file(dir, t.yaml ? "topology.yaml" : "topology.conf");
	if (t.yaml)
		draw_yaml(&t, parts, count);
	else
		draw_topology(&t, parts, count);
	fclose(t.f);
}

static int make_random(uint32_t count, const char *dir)
{
	struct part *parts = calloc(count + 1, sizeof(*parts));
	const char *select = ONE_OF("CR_Core_Memory", "CR_CPU", "CR_Core", "CR_Socket_Memory,CR_LLN", "CR_Core_Memory,CR_Pack_Nodes");
	FILE *main_file = open_file(dir, "random.conf");
	char name[64];

	whole_sockets = strstr(select, "Socket");
	fprintf(main_file, "SelectType=select/cons_tres\nSelectTypeParameters = %s\nGresTypes=gpu,nic\n", select);
	for (uint32_t i = 0; i < count; i++) {
		struct part *p = &parts[i];
		bool other = chance(4);

		p->number = i;
		out = main_file;
		if (other) {		/* ClusterName is schedlua */
			snprintf(name, sizeof(name), "part%u_schedlua.conf", i);
			fprintf(main_file, "%s part%u_%%c.conf%s\n", ONE_OF("Include", "include", "INCLUDE  "), i, ONE_OF("", " # more"));
			out = open_file(dir, name);
		}
		draw_nodes(p);
		draw_sets(p);
		draw_partitions(p);
		if (other)
			fclose(out);
	}
	if (count)
		make_topology(parts, count, main_file, dir);
	free(parts);
	return fclose(main_file) ? 1 : 0;
}

/* -- what the reader makes of it ------------------------------------------------------ */

static void print_time(const char *key, int64_t seconds, const char *none)
{
	if (seconds == SL_UNLIMITED || (!seconds && *none))
		printf(" %s=%s", key, seconds ? "UNLIMITED" : none);
	else if (seconds >= 86400)
		printf(" %s=%" PRId64 "-%02d:%02d:%02d", key, seconds / 86400, (int) (seconds / 3600 % 24), (int) (seconds / 60 % 60),
		       (int) (seconds % 60));
	else
		printf(" %s=%02d:%02d:%02d", key, (int) (seconds / 3600), (int) (seconds / 60 % 60), (int) (seconds % 60));
}

static void print_limit(const char *key, uint32_t n)
{
	if (n == SL_CONF_UNLIMITED)
		printf(" %s=UNLIMITED", key);
	else
		printf(" %s=%" PRIu32, key, n);
}

static int compare_gres(const void *x, const void *y)
{
	const struct sl_conf_gres *a = x, *b = y;

	return strcmp(a->name, b->name) ?: strcmp(a->type, b->type);
}

static void print_gres(const struct sl_conf_gres_set *s)
{
	if (s->items)
		qsort(s->item, s->items, sizeof(*s->item), compare_gres);
	printf(" gres=");
	for (uint32_t i = 0; i < s->items; i++)
		printf("%s:%s:%" PRIu64 ",", s->item[i].name, s->item[i].type, s->item[i].count);
}

static void print_partitions_of(const struct sl_conf *c, uint32_t node)
{
	printf(" partitions=");
	for (uint32_t i = 0; i < c->partitions; i++)
		for (uint32_t n = 0; n < c->partition[i].nodes; n++)
			if (c->partition[i].node[n] == node)
				printf("%s,", c->partition[i].name);
}

static void print_node(const struct sl_conf *c, uint32_t n)
{
	const struct sl_conf_kind *k = &c->kind[c->node[n].kind];
	uint32_t threads = k->sockets * k->cores_per_socket >= k->cpus ? 1 : k->threads_per_core;

	printf("node %s cpus=%" PRIu32 " usable=%" PRIu32 " boards=%" PRIu32 " sockets=%" PRIu32 " cores=%" PRIu32 " threads=%" PRIu32,
	       c->node[n].name, k->cpus, k->cpus - k->core_spec * threads, k->boards, k->sockets, k->cores_per_socket,
	       k->threads_per_core);
	printf(" memory=%" PRIu64 " mem_spec=%" PRIu64 " disk=%" PRIu64 " weight=%" PRIu32 " features=%s", k->memory_mib, k->mem_spec_mib,
	       k->tmp_disk_mib, k->weight, k->features);
	print_gres(&c->gres[c->node[n].gres]);
	print_partitions_of(c, n);
	putchar('\n');
}

static void print_partition(const struct sl_conf_partition *p)
{
	printf("partition %s default=%d hidden=%d root=%d lln=%d user=%d state=%s", p->name, p->is_default, p->hidden, p->root_only,
	       p->lln, p->exclusive_user && p->oversubscribe, p->state);
	print_time("max_time", p->max_time_s, "");
	print_time("default_time", p->default_time_s, "NONE");
	printf(" min_nodes=%" PRIu32, p->min_nodes);
	print_limit("max_nodes", p->max_nodes);
	print_limit("max_cpus", p->max_cpus_per_node);
	printf(" tier=%" PRIu32 " factor=%" PRIu32 " share=", p->priority_tier, p->priority_job_factor);
	if (p->oversubscribe == 1 && !p->force)
		printf("NO\n");
	else if (p->oversubscribe == 0)
		printf("EXCLUSIVE\n");
	else
		printf("%s:%" PRIu32 "\n", p->force ? "FORCE" : "YES", p->oversubscribe);
}

struct above {			/* the switches of a level, being printed */
	const char *node;
	uint32_t level;
};

static int print_switch(const char *name, void *arg)
{
	const struct above *a = arg;

	printf("topology %s %" PRIu32 " %s\n", a->node, a->level, name);
	return 0;
}

/* A line for each switch above a node: "topology n1 0 leaf3". */
static void print_topology(const struct sl_conf_node *n)
{
	struct above a = { .node = n->name };
	struct sl_error err;
	char *copy = strdup(n->topology), *dot;

	while (copy && *copy) {
		dot = strrchr(copy, '.');
		sl_nodelist_split(dot ? dot + 1 : copy, print_switch, &a, &err);
		a.level++;
		if (!dot)
			break;
		*dot = 0;
	}
	free(copy);
}

/* "LEVEL SWITCH NODES" of each line of stdin, in those words. */
struct leaf {
	char name[256];
	uint32_t level;
};

static int print_member(const char *node, void *arg)
{
	const struct leaf *l = arg;

	printf("topology %s %" PRIu32 " %s\n", node, l->level, l->name);
	return 0;
}

static int expand(void)
{
	struct leaf l;
	struct sl_error err;
	char *nodes = NULL;
	int rc = 0;

	while (rc == 0 && scanf("%" SCNu32 " %255s %ms", &l.level, l.name, &nodes) == 3) {
		rc = strcmp(nodes, "-") ? sl_nodelist_split(nodes, print_member, &l, &err) : 0;
		free(nodes);
	}
	return rc ? 1 : 0;
}

static int show(const char *path)
{
	struct sl_error err;
	struct sl_conf *c = sl_conf_read(path, SL_CONF_MACHINE, &err);

	if (!c) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	sl_notes_print(&c->notes, "note: ", stderr);
	for (uint32_t i = 0; i < c->nodes; i++)
		print_node(c, i);
	for (uint32_t i = 0; i < c->partitions; i++)
		print_partition(&c->partition[i]);
	for (uint32_t i = 0; i < c->nodes; i++)
		print_topology(&c->node[i]);
	sl_conf_destroy(c);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "show"))
		return show(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "expand"))
		return expand();
	if (argc != 6 || strcmp(argv[1], "random")) {
		fprintf(stderr, "usage: confs random SEED COUNT DIR SERIES | confs show FILE | confs expand\n");
		return 2;
	}
	random_state = strtoull(argv[2], NULL, 10) * 1000003 + 1;
	series = (uint32_t) strtoul(argv[5], NULL, 10);
	return make_random((uint32_t) strtoul(argv[3], NULL, 10), argv[4]);
}
