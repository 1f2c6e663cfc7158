/* SPDX-License-Identifier: MIT */
/*
 * Machines: in words, of a slurm.conf, of a snapshot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/workload/load.h"

static void a_machine_in_words_has_kinds_of_nodes(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), .machine = "90x8c,10x64c256000m2t2s4g:a100+1x4c5w");
	const struct sl_snapshot *s = &w->snap;

	(void) state;
	assert_int_equal(s->node.rows, 101);
	assert_string_equal(str(w, s->node.name[0]), "n001");
	assert_string_equal(str(w, s->node.name[100]), "n101");
	assert_int_equal(s->node.cores[90], 64);
	assert_int_equal(s->node.memory[90], 256000);
	assert_int_equal(s->node.threads[90], 2);
	assert_int_equal(s->node.sockets[90], 2);
	assert_int_equal(s->node.weight[100], 5);
	assert_int_equal(s->node.gres[89].count, 0);
	assert_int_equal(s->node_gres.count[s->node.gres[90].first], 4);
	assert_string_equal(str(w, s->gres_kind.key[0]), "gpu:a100");
	assert_int_equal(s->run.last[s->partition.nodes[0].first], 100);
	assert_int_equal(s->meta.select_flags[0], SL_SELECT_MEMORY);
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "expected a number of nodes", .machine = "0x8c");
	REFUSED(path, SL_EINVAL, "expected a number of cores", .machine = "1x2g");
	REFUSED(path, SL_EINVAL, "expected one of c (cores), g (GPUs)", .machine = "1x8q");
	REFUSED(path, SL_EINVAL, "expected a number up to 65535", .machine = "1x70000c");
	REFUSED(path, SL_EINVAL, "expected a type of GPU", .machine = "1x8c2g:");
	REFUSED(path, SL_EINVAL, "expected a number of nodes", .machine = "4x8c,");
	REFUSED(path, SL_ENOENT, "no such file", .machine = "/no/such/slurm.conf");
	REFUSED(path, SL_ELIMIT, "more than", .machine = "4000000x1c,4000000x1c");
}

static const char slurm_conf[] =
	"# a cluster\n"
	"ClusterName=test\n"
	"GresTypes=gpu,nic\n"
	"SelectType=select/cons_tres\n"
	"SelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE\n"
	"NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 State=UNKNOWN\n"
	"NodeName=c[1-3] Weight=10 Feature=ib,fast   # three of them\n"
	"NodeName=g[1-2] CPUs=32 Gres=gpu:a100:4(S:0-1),nic:1 \\\n"
	"    RealMemory=256000 MemSpecLimit=1000 CoreSpecCount=2\n"
	"NodeName=old CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 State=DOWN\n"
	"NodeName=new[1-9] State=FUTURE\n"
	"PartitionName=DEFAULT MaxTime=2-00:00:00 State=UP\n"
	"PartitionName=main Nodes=c[1-3],old Default=YES DefaultTime=60\n"
	"PartitionName=gpu Nodes=g[1-2] MaxTime=UNLIMITED PriorityTier=5 OverSubscribe=EXCLUSIVE MaxNodes=1\n"
	"PartitionName=all Nodes=ALL MaxTime=INFINITE Hidden=YES ExclusiveTopo=YES\n";

static void the_machine_of_a_slurm_conf_is_as_slurmctld_sees_it(void **state)
{
	struct sl_workload *w;
	const struct sl_snapshot *s;
	char conf[112];

	(void) state;
	strcpy(conf, file("slurm.conf", slurm_conf));
	w = LOAD(file("a.swf", small_swf), .machine = conf);
	s = &w->snap;
	assert_int_equal(s->node.rows, 6);
	assert_string_equal(str(w, s->node.name[0]), "c1");
	assert_int_equal(s->node.cores[0], 16);
	assert_int_equal(s->node.threads[0], 2);
	assert_int_equal(s->node.memory[0], 64000);
	assert_int_equal(s->node.weight[0], 10);
	assert_string_equal(str(w, s->node.features[0]), "ib,fast");
	assert_int_equal(s->node.cores[3], 14);
	assert_int_equal(s->node.memory[3], 255000);
	assert_int_equal(s->node.weight[3], 1);
	assert_int_equal(s->node.gres[3].count, 2);
	assert_int_equal(s->node_gres.count[s->node.gres[3].first], 4);
	assert_string_equal(str(w, s->gres_kind.key[s->node_gres.kind[s->node.gres[3].first]]), "gpu:a100");
	assert_int_equal(s->node.cores[5], 4);
	assert_int_equal(s->node.threads[5], 1);
	assert_int_equal(s->node.state[5], 0);
	assert_int_equal(s->partition.rows, 3);
	assert_int_equal(s->partition.nodes[0].count, 2);
	assert_int_equal(s->run.last[s->partition.nodes[0].first], 2);
	assert_int_equal(s->partition.max_time[0], 2 * 86400);
	assert_int_equal(s->partition.default_time[0], 3600);
	assert_int_equal(s->partition.default_time[1], 0);
	assert_int_equal(s->partition.flags[0], SL_PART_UP | SL_PART_DEFAULT);
	assert_int_equal(s->partition.max_time[1], SL_UNLIMITED);
	assert_int_equal(s->partition.priority_tier[1], 5);
	assert_int_equal(s->partition.oversubscribe[1], 0);
	assert_int_equal(s->partition.max_nodes[1], 1);
	assert_int_equal(s->partition.flags[2], SL_PART_UP | SL_PART_HIDDEN | SL_PART_EXCLUSIVE_TOPO);
	assert_int_equal(s->meta.select_flags[0], SL_SELECT_MEMORY | SL_SELECT_ONE_TASK_PER_CORE);
	assert_int_equal(s->job.partition[0], 0);
	sl_workload_destroy(w);
}

static void the_machine_of_a_slurm_conf_has_its_switches_and_shares_and_notes(void **state)
{
	struct sl_workload *w;
	const struct sl_snapshot *s;
	char conf[112];

	(void) state;
	file("topology.conf", "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=r Switches=s[1-2]\n");
	strcpy(conf, file("slurm.conf", "GresTypes=gpu,shard,bw\nTopologyPlugin=topology/tree\nColour=red\n"
			  "NodeName=n[1-3] CPUs=8 Gres=gpu:2,shard:8,bw:no_consume:8G\nPartitionName=p Nodes=ALL\n"));
	w = LOAD(file("a.swf", small_swf), .machine = conf);
	file("topology.conf", "");
	s = &w->snap;
	assert_string_equal(str(w, s->node.topology[0]), "r.s1");
	assert_string_equal(str(w, s->node.topology[2]), "r.s2");
	assert_int_equal(s->node.gres[0].count, 3);
	for (uint32_t i = s->node.gres[0].first; i < s->node.gres[0].first + 3; i++) {
		const char *name = str(w, s->gres_kind.name[s->node_gres.kind[i]]);

		assert_int_equal(s->node_gres.count[i], !strcmp(name, "gpu") ? 2 : !strcmp(name, "shard") ? 8 : UINT32_MAX - 1);
		assert_int_equal(s->node_gres.no_consume[i], !strcmp(name, "bw"));
		assert_int_equal(s->node_gres.share[i] != SL_NONE, !strcmp(name, "shard"));
	}
	assert_int_equal(w->notes.count, 4);
	assert_int_equal(w->issue[SL_ISSUE_NOTES].count, 4);
	assert_non_null(strstr(w->notes.text[0], "no SelectType: select/cons_tres is taken"));
	assert_non_null(strstr(w->notes.text[1], "no SelectTypeParameters: CR_Core_Memory is taken"));
	assert_non_null(strstr(w->notes.text[2], "slurm.conf:4: no RealMemory: slurmctld takes 1 MiB a node"));
	assert_non_null(strstr(w->notes.text[3], "slurm.conf:3: no option of slurm.conf is called Colour"));
	sl_workload_destroy(w);
}

static void a_slurm_conf_with_mistakes_is_refused_with_its_line(void **state)
{
	static char wide[1100 * 20];
	static const struct { const char *text, *words; } bad[] = {
		{ "ClusterName=x\n", "no NodeName line" },
		{ "NodeName=a1 CPUs=4 ThreadsPerCore=65536 CoresPerSocket=65536\n", "bad.conf:1: ThreadsPerCore=65536: expected a number up to 65535" },
		{ "NodeName=a1 Boards=65535 SocketsPerBoard=65535\n", "expected up to 65535 CPUs in all" },
		{ "NodeName=a[1-2] CPUs=x\n", "bad.conf:1: CPUs=x: expected a number" },
		{ "NodeName=a1\nNodeName=a1\n", "node a1 twice" },
		{ "NodeName=a1 CPUs=2\n\nPartitionName=p Nodes=a2\n", "bad.conf:3: no node a2" },
		{ "NodeName=a1 CPUs=2\nPartitionName=p Nodes=a1 MaxTime=soon\n", "bad.conf:2: MaxTime=soon" },
		{ "NodeName=a[1 CPUs=2\n", "bad.conf:1" },
		{ "GresTypes=gpu\nNodeName=a1 Gres=gpu:a:b:c:1\n", "expected name:type:count" },
		{ "NodeName=a[1-4294967295] CPUs=2\n", "bad.conf:1: more than 262144 nodes" },
		{ "NodeName=a1 CPUs=2\nPartitionName=p Nodes=a1\nPartitionName=p Nodes=a1\n", "bad.conf:3: partition p twice" },
		{ "Include nowhere.conf\n", "nowhere.conf: No such file" },
		{ "Include bad.conf\n", "more than 8 deep" },
		{ wide, "more than 1000 files" },
	};
	char conf[112], log[112];

	(void) state;
	strcpy(log, file("a.swf", small_swf));
	file("leaf.conf", "");
	for (size_t i = 0; i < 1100; i++)
		strcpy(wide + i * strlen("Include leaf.conf\n"), "Include leaf.conf\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sl_workload_options opt = { .machine = conf };
		struct sl_error err = { 0 };

		strcpy(conf, file("bad.conf", bad[i].text));
		assert_null(sl_workload_load(log, &opt, &err));
		if (!strstr(err.text, bad[i].words))
			fail_msg("%s, expected \"%s\"", err.text, bad[i].words);
	}
}

/* Products of what a line says wrap around in 32 bits, to 0 among others. */
static void extreme_numbers_of_a_node_are_refused_or_make_a_node_that_can_be(void **state)
{
	static const char *const key[] = { "CPUs", "Boards", "Sockets", "CoresPerSocket", "ThreadsPerCore", "CoreSpecCount",
					   "RealMemory", "MemSpecLimit", "TmpDisk", "Weight" };
	static const uint32_t value[] = { 0, 1, 2, 3, 255, 256, 32768, 65535, 65536, 65537, 1u << 20, 1u << 31, UINT32_MAX - 1 };
	unsigned made = 0;

	(void) state;
	for (unsigned round = 0; round < 3000; round++) {
		struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
		struct sl_error err = { 0 };
		char text[500] = "NodeName=a1";
		struct sl_node_row node;
		uint32_t flags = 0;

		for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
			size_t n = strlen(text);

			if (below(2))
				snprintf(text + n, sizeof(text) - n, " %s=%u", key[i],
					 value[below(sizeof(value) / sizeof(value[0]))]);
		}
		strcat(text, "\n");
		if (sl_machine_load(b, file("drawn.conf", text), &flags, NULL, &err)) {
			if (!strstr(err.text, "drawn.conf:1: "))
				fail_msg("%s: %s", text, err.text);
		} else {
			made++;
			assert_int_equal(sl_builder_row(b, SL_T_NODE, 0, &node), 0);
			if (!node.cores || node.cores > 65535 || !node.threads || node.threads > 65535 || !node.sockets ||
			    node.sockets > 65535 || node.memory < 0)
				fail_msg("%s: %u cores, %u threads, %u sockets", text, node.cores, node.threads, node.sockets);
		}
		sl_builder_destroy(b);
	}
	assert_true(made > 100);
}

static void the_machine_of_a_snapshot_is_up_and_empty(void **state)
{
	static const char text[] =
		"{ \"meta\": { \"select_flags\": [\"MEMORY\"] },\n"
		"  \"gres_kinds\": [ { \"key\": \"nic\", \"name\": \"nic\" }, { \"key\": \"gpu\", \"name\": \"gpu\" } ],\n"
		"  \"nodes\": [ { \"name\": \"x1\", \"cores\": 12, \"memory\": 500, \"state\": [\"DOWN\"] },\n"
		"             { \"name\": \"x2\", \"cores\": 4, \"gres\": [ { \"kind\": \"gpu\", \"count\": 3 } ] } ],\n"
		"  \"partitions\": [ { \"name\": \"p\", \"nodes\": \"x2\" }, { \"name\": \"q\", \"nodes\": \"x[1-2]\", \"flags\": [\"UP\", \"DEFAULT\"] } ],\n"
		"  \"jobs\": [ { \"id\": 5, \"state\": \"RUNNING\", \"partition\": \"q\", \"start_time\": 1, \"alloc\": [ { \"node\": \"x1\", \"cores\": 2 } ] } ] }\n";
	char snap[112];
	struct sl_workload *w;

	(void) state;
	strcpy(snap, file("now.json", text));
	w = LOAD(file("a.swf", small_swf), .machine = snap);
	assert_int_equal(w->snap.node.rows, 2);
	assert_int_equal(w->snap.node.state[0], 0);
	assert_int_equal(w->snap.job.rows, 3);
	assert_int_equal(w->snap.job.partition[0], 1);
	assert_int_equal(w->snap.alloc.rows, 0);
	assert_string_equal(str(w, w->snap.gres_kind.name[w->snap.node_gres.kind[w->snap.node.gres[1].first]]), "gpu");
	assert_int_equal(w->snap.meta.select_flags[0], SL_SELECT_MEMORY);
	sl_workload_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_in_words_has_kinds_of_nodes),
		cmocka_unit_test(the_machine_of_a_slurm_conf_is_as_slurmctld_sees_it),
		cmocka_unit_test(the_machine_of_a_slurm_conf_has_its_switches_and_shares_and_notes),
		cmocka_unit_test(a_slurm_conf_with_mistakes_is_refused_with_its_line),
		cmocka_unit_test(extreme_numbers_of_a_node_are_refused_or_make_a_node_that_can_be),
		cmocka_unit_test(the_machine_of_a_snapshot_is_up_and_empty),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
