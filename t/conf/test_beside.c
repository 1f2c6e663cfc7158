/* SPDX-License-Identifier: MIT */
/*
 * Generic resources, and the files beside slurm.conf: gres.conf, topology.conf, topology.yaml.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/conf/confs.h"

static int clean(void **state)
{
	(void) state;
	put("gres.conf", NULL);
	put("topology.conf", NULL);
	put("topology.yaml", NULL);
	return 0;
}

/* -- Gres= --------------------------------------------------------------------- */

static void gres_words_have_types_numbers_suffixes_and_sockets(void **state)
{
	static const struct { const char *text, *is; } cases[] = {
		{ "gpu:4", "gpu 4" }, { "gpu", "gpu 1" }, { "gpu:a100", "gpu:a100 1" }, { "gpu:a100:4(S:0-1)", "gpu:a100 4" },
		{ "gpu:a100:2(S:0,1),gpu:a100:2(S:2-3)", "gpu:a100 4" }, { "gpu:a100:2,gpu:v100:3,nic:1", "gpu:a100 2, gpu:v100 3, nic 1" },
		{ "gpu:2,gpu:a100:1", "gpu 2, gpu:a100 1" }, { "bandwidth:lustre:no_consume:4G", "bandwidth:lustre 4294967296 no_consume" },
		{ "bandwidth:2kb,nic:1KiB", "bandwidth 2000, nic 1024" }, { "gpu:0", "none" }, { "none", "none" }, { "", "none" },
		{ "gpu:no_consume:2,gpu:a:1", "gpu 2 no_consume, gpu:a 1" },
		{ "gpu:a:2,gpu:b:2,shard:8", "gpu:a 2, gpu:b 2, shard 4 of a, shard 4 of b" },
	};
	char text[300];

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_conf *c;

		snprintf(text, sizeof(text), "NodeName=n Gres=\"%s\"\nGresTypes=gpu,nic,bandwidth,shard,mps\n", cases[i].text);
		c = conf(text);
		assert_string_equal(gres(c, "n"), cases[i].is);
		sl_conf_destroy(c);
	}
}

static void gres_that_slurmctld_has_not_are_noted(void **state)
{
	struct sl_conf *c = conf("NodeName=n Gres=gpu:2,nic:1\nNodeName=m Gres=mps:200,shard:3,gpu:2\nGresTypes=gpu,mps,shard\n");

	(void) state;
	assert_string_equal(gres(c, "n"), "gpu 2");
	assert_string_equal(gres(c, "m"), "gpu 2");
	noted(c, "slurm.conf:1: Gres=nic:1 is left out, as slurmctld does: nic is not in GresTypes");
	noted(c, "slurm.conf:2: Gres: mps:200 on 2 GPUs is not modelled");
	noted(c, "slurm.conf:2: Gres: shard:3 on 2 GPUs is not modelled");
	sl_conf_destroy(c);
	refused("GresTypes=gpu\nNodeName=n Gres=gpu:1x\n", "slurm.conf:2: Gres=gpu:1x: expected name:type:count");
	refused("GresTypes=gpu\nNodeName=n Gres=gpu:9999999999999G\n", "expected name:type:count");
}

static void gres_conf_adds_types_and_nothing_else(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("gres.conf", "AutoDetect=nvml\nNodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-7\n"
	    "NodeName=n2 name=gpu type=v100 Count=5\nNodeName=n3 AutoDetect=off Name=gpu File=/dev/nvidia[0-3]\n"
	    "Name=nic Type=ib Count=1\nNodeName=elsewhere Name=gpu Type=x\nColour=red\n");
	c = conf("GresTypes=gpu,nic\nNodeName=n[1-3] Gres=gpu:4,nic:2\nNodeName=n4 Gres=gpu:h100:4\nNodeName=n5\n");
	assert_string_equal(gres(c, "n1"), "gpu 2, nic 1, gpu:a100 2, nic:ib 1");
	assert_string_equal(gres(c, "n2"), "nic 1, gpu:a100 2, gpu:v100 2, nic:ib 1");
	assert_string_equal(gres(c, "n3"), "gpu 4, nic 1, nic:ib 1");
	assert_string_equal(gres(c, "n4"), "gpu:h100 4");
	assert_string_equal(gres(c, "n5"), "none");
	noted(c, "gres.conf:7: no line of gres.conf begins with Colour");
	sl_conf_destroy(c);
	put("gres.conf", "NodeName=n1 Name=gpu Type=a Count=many\n");
	refused("GresTypes=gpu\nNodeName=n1 Gres=gpu:4\n", "gres.conf:1: Count=many: expected a number");
}

/* -- topologies ------------------------------------------------------------------ */

/* The lines about all nodes and those about one are taken in the order of the file, each once. */
static void types_are_given_in_the_order_of_lines(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("gres.conf", "NodeName=n[1-2],n1 Name=gpu Type=a Count=1\nName=gpu Type=b Count=1\nNodeName=n2 Name=gpu Type=c Count=1\n"
	    "Name=nic Type=x Count=1\nName=gpu Type=a Count=1\n");
	c = conf("GresTypes=gpu,nic\nNodeName=n[1-3] Gres=gpu:3,nic:1\nNodeName=n4 Gres=gpu:1\n");
	assert_string_equal(gres(c, "n1"), "gpu:a 2, gpu:b 1, nic:x 1");
	assert_string_equal(gres(c, "n2"), "gpu:a 1, gpu:b 1, gpu:c 1, nic:x 1");
	assert_string_equal(gres(c, "n3"), "gpu 1, gpu:b 1, gpu:a 1, nic:x 1");
	assert_string_equal(gres(c, "n4"), "gpu:b 1");
	sl_conf_destroy(c);
}

/* A line for each node in both files: what is done for one of them must not go through all others. */
static void files_of_many_lines_are_read_line_by_line(void **state)
{
	const uint32_t lines = 60000;
	char *nodes_text = malloc(lines * 40), *gres_text = malloc(lines * 60), *n = nodes_text, *g = gres_text;
	struct sl_conf *c;

	(void) state;
	n += sprintf(n, "GresTypes=gpu\n");
	for (uint32_t i = 0; i < lines; i++) {
		n += sprintf(n, "NodeName=n%u Gres=gpu:2\n", i);
		g += sprintf(g, "NodeName=n%u Name=gpu Type=t%u File=/dev/nvidia[0-1]\n", i, i % 3);
	}
	put("gres.conf", gres_text);
	c = conf(nodes_text);
	assert_int_equal(c->nodes, lines);
	assert_string_equal(gres(c, "n59999"), "gpu:t2 2");
	sl_conf_destroy(c);
	free(nodes_text);
	free(gres_text);
}

/* A short file must not become gigabytes: each line names all nodes again. */
static void lists_of_nodes_are_bounded_in_all(void **state)
{
	char *text = malloc(1000 * 60), *to = text;

	(void) state;
	for (uint32_t i = 0; i < 100; i++)
		to += sprintf(to, "NodeName=n[1-200000] Name=gpu Type=t%u\n", i);
	put("gres.conf", text);
	refused("GresTypes=gpu\nNodeName=n[1-200000] Gres=gpu:1\n", "gres.conf:84: more than 16777216 nodes in all lines");
	put("gres.conf", NULL);
	to = text + sprintf(text, "NodeName=n[1-200000]\n");
	for (uint32_t i = 0; i < 400; i++)
		to += sprintf(to, "PartitionName=p%u Nodes=ALL\n", i);
	refused(text, "slurm.conf:337: more than 67108864 nodes in all partitions");
	free(text);
}

static void a_tree_gives_each_node_the_switches_above_it(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("topology.conf", "# leaves\nSwitchName=s0 Nodes=n[1-2] LinkSpeed=10\nSwitchName=s1 Nodes=n[3-4],gone[1-3]\n"
	    "SwitchName=s2 Nodes=n5\nSwitchName=up Switches=s[0-1]\nSwitchName=root Switches=up,s2\n");
	c = conf("TopologyPlugin=topology/tree\nNodeName=n[1-6]\n");
	assert_string_equal(node(c, "n1")->topology, "root.up.s0");
	assert_string_equal(node(c, "n4")->topology, "root.up.s1");
	assert_string_equal(node(c, "n5")->topology, "root..s2");
	assert_string_equal(node(c, "n6")->topology, "");
	noted(c, "topology.conf:3: gone[1-3]: no NodeName line has them");
	sl_conf_destroy(c);
	c = conf("NodeName=n1\n");
	noted(c, "topology.conf: not read");
	assert_string_equal(node(c, "n1")->topology, "");
	sl_conf_destroy(c);
}

static void two_switches_above_a_leaf_are_joined(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("topology.conf", "SwitchName=leaf Nodes=n1\nSwitchName=a1 Switches=leaf\nSwitchName=a2 Switches=leaf\nSwitchName=b1 Switches=leaf\n");
	c = conf("TopologyPlugin=topology/tree\nNodeName=n1\n");
	assert_string_equal(node(c, "n1")->topology, "a[1-2],b1.leaf");
	sl_conf_destroy(c);
}

static void a_topology_that_cannot_be_is_refused(void **state)
{
	static const struct { const char *text, *words; } cases[] = {
		{ "SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "it stands above itself" },
		{ "SwitchName=a Switches=b\n", "topology.conf:1: no switch b" },
		{ "SwitchName=a Switches=b Nodes=n1\n", "expected either Nodes or Switches" },
		{ "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n1\n", "topology.conf:2: a twice" },
		{ "BlockName=a Nodes=n1\n", "topology.conf:1: BlockName: expected SwitchName" },
		{ "SwitchName=a Nodes=n[1\n", "topology.conf:1: node list" },
		{ "SwitchName=a Nodes=n[1-1099511627776]\n", "topology.conf:1: \"n[1-1099511627776]\": more than 524288 names in a list" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put("topology.conf", cases[i].text);
		refused("TopologyPlugin=topology/tree\nNodeName=n1\n", cases[i].words);
	}
}

/* Those of no switch come first, and those of one stand as in the file. */
static void nodes_that_are_unknown_or_named_twice_are_noted_in_each_form_of_a_topology(void **state)
{
	static const struct { const char *file, *text, *plugin, *unknown, *twice; } form[] = {
		{ "topology.conf", "SwitchName=a Nodes=n[1-2],gone1\nSwitchName=b Nodes=n[2-3]\n", "TopologyPlugin=topology/tree\n",
		  "topology.conf:1: gone1: no NodeName line has it", "topology.conf:2: node n2 is in a already" },
		{ "topology.conf", "BlockName=a Nodes=n[1-2],gone[1-2]\nBlockName=b Nodes=n[2-3]\nBlockSizes=2\n",
		  "TopologyPlugin=topology/block\n", "topology.conf:1: gone[1-2]: no NodeName line has them",
		  "topology.conf:2: node n2 is in a already" },
		{ "topology.yaml", "- topology: t\n  tree:\n    switches:\n    - switch: a\n      nodes: n[1-2],gone1\n"
		  "    - switch: b\n      nodes: n[2-3]\n", "", "topology.yaml:4: gone1: no NodeName line has it",
		  "topology.yaml:6: node n2 is in a already" },
		{ "topology.yaml", "- topology: t\n  block:\n    block_sizes: [2]\n    blocks:\n    - block: a\n      nodes: n[1-2],gone1\n"
		  "    - block: b\n      nodes: n[2-3]\n", "", "topology.yaml:5: gone1: no NodeName line has it",
		  "topology.yaml:7: node n2 is in a already" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		char text[200];
		struct sl_conf *c;

		put(form[i].file, form[i].text);
		snprintf(text, sizeof(text), "%sNodeName=n[1-3]\n", form[i].plugin);
		c = conf(text);
		noted(c, form[i].unknown);
		noted(c, form[i].twice);
		assert_string_equal(node(c, "n2")->topology, "a");
		assert_string_equal(node(c, "n3")->topology, "b");
		assert_string_equal(nodes(c), "n1 n2 n3");
		sl_conf_destroy(c);
	}
}

static void nodes_may_be_in_the_order_of_their_switches(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("topology.conf", "SwitchName=s0 Nodes=n[4-5],n1\nSwitchName=root Switches=s[0-1]\nSwitchName=s1 Nodes=n2,n5\n");
	c = conf("TopologyPlugin=topology/tree\nTopologyParam=TopoOptional,switchasnoderank\nNodeName=n4 Gres=nic:1\nGresTypes=nic\n"
		 "NodeName=n[1-3,5-6]\nPartitionName=p Nodes=n[4-6]\n");
	assert_string_equal(nodes(c), "n3 n6 n4 n1 n2 n5");
	assert_string_equal(members(c, "p"), "n6 n4 n5");
	assert_string_equal(gres(c, "n4"), "nic 1");
	assert_string_equal(gres(c, "n1"), "none");
	assert_string_equal(node(c, "n4")->topology, "root.s0");
	sl_conf_destroy(c);
	put("topology.conf", "BlockName=b2 Nodes=n[3-4]\nBlockName=b1 Nodes=n[1-2]\n");
	c = conf("TopologyPlugin=topology/block\nTopologyParam=BlockAsNodeRank\nNodeName=n[1-4]\n");
	assert_string_equal(nodes(c), "n3 n4 n1 n2");
	sl_conf_destroy(c);
	c = conf("TopologyPlugin=topology/block\nTopologyParam=SwitchAsNodeRank\nNodeName=n[1-4]\n");
	assert_string_equal(nodes(c), "n1 n2 n3 n4");
	sl_conf_destroy(c);
}

static void blocks_are_read_as_switches_of_one_level(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("topology.conf", "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n");
	c = conf("TopologyPlugin=topology/block\nNodeName=n[1-5]\n");
	assert_string_equal(node(c, "n2")->topology, "b1");
	assert_string_equal(node(c, "n3")->topology, "b2");
	assert_string_equal(node(c, "n5")->topology, "");
	sl_conf_destroy(c);
	put("topology.conf", "BlockName=b1 Nodes=n2\nBlockName=b2\n");
	c = conf("TopologyPlugin=topology/block\nNodeName=n[1-2]\n");
	noted(c, "topology.conf:2: block b2 has no nodes: slurmctld takes that since 25.05");
	sl_conf_destroy(c);
	c = conf("TopologyPlugin=topology/3d_torus\nNodeName=n1\n");
	noted(c, "slurm.conf:1: TopologyPlugin=topology/3d_torus is not modelled");
	sl_conf_destroy(c);
}

/* "4", "4+" with larger blocks, "other" or "none": what jobs of the partition are placed by. */
static const char *blocks_of(const struct sl_conf *c, const char *name)
{
	static char text[32];

	for (uint32_t i = 0; i < c->partitions; i++) {
		const struct sl_conf_partition *p = &c->partition[i];

		if (strcmp(p->name, name))
			continue;
		snprintf(text, sizeof(text), "%u%s", p->block_nodes, p->block_levels ? "+" : "");
		return p->other_topology ? "other" : p->block_nodes ? text : "none";
	}
	return "(no partition)";
}

/* A block is of the first size; which larger ones there are, and so where a larger job may be, is told apart. */
static void sizes_of_blocks_are_as_slurmctld_takes_them(void **state)
{
	static const struct { const char *sizes, *is; } two[] = {
		{ "BlockSizes=2", "2" }, { "BlockSizes=2,4", "2" },		/* (two blocks of 2 are all) */
		{ "BlockSizes=2,2", "2" }, { "", "2" }, { "BlockSizes=1", "1" },
	}, four[] = {
		{ "BlockSizes=2", "2" }, { "BlockSizes=2,4", "2+" }, { "BlockSizes=2,8", "2" }, { "BlockSizes=1", "1" },
		{ "", "2+" },
	}, wrong[] = {
		{ "BlockSizes=2,3", "topology.conf:5: BlockSizes: 3: expected the first size, 2, times a power of two" },
		{ "BlockSizes=2,6", "BlockSizes: 6: expected the first size, 2, times a power of two" },
		{ "BlockSizes=2,1", "BlockSizes: 1: expected the first size" },
		{ "BlockSizes=1,65536", "BlockSizes: 65536: expected the first size" },
		{ "BlockSizes=0", "BlockSizes: \"0\": expected a number of nodes" },
		{ "BlockSizes=x", "BlockSizes: \"x\": expected a number of nodes" },
		{ "BlockSizes=99999999999999999999", "expected a number of nodes" },
	};
	static const char lines[] = "TopologyPlugin=topology/block\nNodeName=n[1-8]\nPartitionName=p Nodes=ALL\n";
	char text[300];

	(void) state;
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		struct sl_conf *c;

		snprintf(text, sizeof(text), "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n%s\n", two[i].sizes);
		put("topology.conf", text);
		c = conf(lines);
		assert_string_equal(blocks_of(c, "p"), two[i].is);
		sl_conf_destroy(c);
	}
	for (size_t i = 0; i < sizeof(four) / sizeof(four[0]) + sizeof(wrong) / sizeof(wrong[0]); i++) {
		const bool bad = i >= sizeof(four) / sizeof(four[0]);
		const size_t n = i - (bad ? sizeof(four) / sizeof(four[0]) : 0);
		struct sl_conf *c;

		snprintf(text, sizeof(text), "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockName=b3 Nodes=n[5-6]\n"
			 "BlockName=b4 Nodes=n[7-8]\n%s\n", bad ? wrong[n].sizes : four[n].sizes);
		put("topology.conf", text);
		if (bad) {
			refused(lines, wrong[n].is);
			continue;
		}
		c = conf(lines);
		assert_string_equal(blocks_of(c, "p"), four[n].is);
		sl_conf_destroy(c);
	}
}

static void blocks_of_unequal_size_and_gaps_are_taken_and_noted(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("topology.conf", "BlockName=b1 Nodes=n[1-3]\nBlockName=gap\nBlockName=b2 Nodes=n[4-7]\nBlockName=b3 Nodes=n8,gone\nBlockSizes=3\n");
	c = conf("TopologyPlugin=topology/block\nNodeName=n[1-8]\nPartitionName=p Nodes=ALL\n");
	assert_string_equal(blocks_of(c, "p"), "3");
	assert_string_equal(node(c, "n7")->topology, "b2");
	noted(c, "topology.conf:2: block gap has no nodes: slurmctld takes that since 25.05");
	noted(c, "topology.conf:4: block b3 has 1 nodes, a block is of 3: slurmctld takes that since 25.05");
	sl_conf_destroy(c);
}

static void a_partition_with_a_topology_of_its_own_is_told_apart(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("topology.yaml", "- topology: flat\n  flat: true\n- topology: racks\n  cluster_default: true\n  block:\n    block_sizes: [2, 4]\n"
	    "    blocks:\n    - block: a\n      nodes: n[1-2]\n    - block: b\n      nodes: n[3-4]\n    - block: c\n");
	c = conf("NodeName=n[1-5]\nPartitionName=p Nodes=ALL\nPartitionName=q Nodes=ALL Topology=racks\n"
		 "PartitionName=r Nodes=ALL Topology=flat\n");
	assert_string_equal(blocks_of(c, "p"), "2+");
	assert_string_equal(blocks_of(c, "q"), "2+");
	assert_string_equal(blocks_of(c, "r"), "other");
	assert_string_equal(node(c, "n3")->topology, "b");
	noted(c, "slurm.conf:4: Topology=flat is not modelled: switches and blocks of nodes are those of topology racks");
	sl_conf_destroy(c);
	refused("NodeName=n1\nPartitionName=p Topology=rack\n", "slurm.conf:2: Topology=rack: expected the name of a topology of topology.yaml");
	put("topology.yaml", "- topology: a\n  block:\n    block_sizes: {2}\n");
	refused("NodeName=n1\n", "topology.yaml:3: block_sizes: ");
	put("topology.yaml", "- topology: a\n  block:\n    block_sizes: 2, 4\n");
	refused("NodeName=n1\n", "topology.yaml:3: block_sizes: \"2, 4\": expected numbers of nodes, as in [18, 36]");
	put("topology.yaml", "- topology: a\n  block:\n    block_sizes:\n    - 2\n    - 3\n");
	refused("NodeName=n1\n", "topology.yaml:5: BlockSizes: 3: expected the first size");
	put("topology.yaml", "- topology: a\n  torus3d:\n    toruses:\n    - torus: r\n");
	c = conf("NodeName=n1\nPartitionName=p Nodes=ALL\n");
	assert_string_equal(blocks_of(c, "p"), "other");
	sl_conf_destroy(c);
	put("topology.yaml", NULL);
	put("topology.conf", "SwitchName=s Nodes=n1\n");
	c = conf("TopologyPlugin=topology/tree\nTopologyParam=dragonfly\nNodeName=n1\nPartitionName=p Nodes=ALL Topology=default\n");
	assert_string_equal(blocks_of(c, "p"), "other");
	noted(c, "slurm.conf:2: TopologyParam=dragonfly: dragonfly is not modelled: jobs of several nodes are placed without a look at switches");
	sl_conf_destroy(c);
	c = conf("TopologyPlugin=topology/tree\nNodeName=n1\nPartitionName=p Nodes=ALL Topology=default\n");
	assert_string_equal(blocks_of(c, "p"), "none");
	sl_conf_destroy(c);
}

static const char yaml[] =
	"---\n"
	"# several\n"
	"- topology: small   # not this one\n"
	"  block:\n"
	"    block_sizes:\n"
	"      - 4\n"
	"    blocks:\n"
	"      - block: b1\n"
	"        nodes: n[1-4]\n"
	"- topology: whole\n"
	"  cluster_default: true\n"
	"  tree:\n"
	"    switches:\n"
	"      - switch: root\n"
	"        children: s[1-2]\n"
	"      -\n"
	"        switch: \"s1\"\n"
	"        nodes: n[1-2]\n"
	"      - switch: 's2'\n"
	"        nodes: n[3-4]\n"
	"- topology: none\n"
	"  flat: true\n";

static void topology_yaml_has_the_topology_of_the_cluster(void **state)
{
	struct sl_conf *c;

	(void) state;
	put("topology.yaml", yaml);
	put("topology.conf", "nonsense");	/* it is not read then */
	c = conf("NodeName=n[1-4]\n");
	assert_string_equal(node(c, "n1")->topology, "root.s1");
	assert_string_equal(node(c, "n4")->topology, "root.s2");
	sl_conf_destroy(c);
	put("topology.yaml", "- topology: a\n  block:\n    blocks:\n    - block: b\n      nodes: n[1-4]\n");
	c = conf("NodeName=n[1-4]\n");
	assert_string_equal(node(c, "n1")->topology, "b");
	sl_conf_destroy(c);
	put("topology.yaml", "- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n1\n      children: t\n    - switch: t\n");
	c = conf("NodeName=n1\n");
	assert_string_equal(node(c, "n1")->topology, "s");
	noted(c, "topology.yaml:4: switch s has nodes and children");
	noted(c, "topology.yaml:7: switch t has no nodes");
	sl_conf_destroy(c);
	put("topology.yaml", "- topology: a\n  tree: {switches: []}\n");
	refused("NodeName=n1\n", "topology.yaml:2: tree: ");
	put("topology.yaml", "switches:\n");
	refused("NodeName=n1\n", "topology.yaml:1: switches: expected \"- topology: NAME\" before it");
	put("topology.yaml", "- topology: a\n  ring:\n    rings:\n      - ring: r\n        nodes: n1\n");
	c = conf("NodeName=n1\n");
	noted(c, "topology a is neither tree nor block nor flat");
	sl_conf_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(gres_words_have_types_numbers_suffixes_and_sockets, clean),
		cmocka_unit_test_setup(gres_that_slurmctld_has_not_are_noted, clean),
		cmocka_unit_test_setup(gres_conf_adds_types_and_nothing_else, clean),
		cmocka_unit_test_setup(types_are_given_in_the_order_of_lines, clean),
		cmocka_unit_test_setup(files_of_many_lines_are_read_line_by_line, clean),
		cmocka_unit_test_setup(lists_of_nodes_are_bounded_in_all, clean),
		cmocka_unit_test_setup(a_tree_gives_each_node_the_switches_above_it, clean),
		cmocka_unit_test_setup(two_switches_above_a_leaf_are_joined, clean),
		cmocka_unit_test_setup(a_topology_that_cannot_be_is_refused, clean),
		cmocka_unit_test_setup(nodes_that_are_unknown_or_named_twice_are_noted_in_each_form_of_a_topology, clean),
		cmocka_unit_test_setup(nodes_may_be_in_the_order_of_their_switches, clean),
		cmocka_unit_test_setup(blocks_are_read_as_switches_of_one_level, clean),
		cmocka_unit_test_setup(sizes_of_blocks_are_as_slurmctld_takes_them, clean),
		cmocka_unit_test_setup(blocks_of_unequal_size_and_gaps_are_taken_and_noted, clean),
		cmocka_unit_test_setup(a_partition_with_a_topology_of_its_own_is_told_apart, clean),
		cmocka_unit_test_setup(topology_yaml_has_the_topology_of_the_cluster, clean),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
