/* SPDX-License-Identifier: MIT */
/*
 * slurm.conf: its grammar, and what its lines mean.  Whether slurmctld means the same is tried by t/live/conf.t.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "t/conf/confs.h"

static const char *value(const struct sl_conf *c, const char *key)
{
	const struct sl_conf_value *v = sl_conf_get(c, key);

	return v ? v->value : "(not there)";
}

static void an_option_may_have_blanks_quotes_and_comments_around_it(void **state)
{
	struct sl_conf *c = conf("clustername = c1\n"
				 "\tSelectTypeParameters  =\tCR_Core_Memory  # and why\r\n"
				 "Epilog=\"/a b/c\"   \n"
				 "Prolog=\"a\"b\n"
				 "MailProg=\\\\a\\#b#c\n"
				 "SlurmctldParameters+=idle_on_node_suspend,power_save_min_interval=30,cloud_dns\n"
				 "SlurmdParameters=\"\"\n"
				 "   # nothing\n\n \t\n");

	(void) state;
	assert_string_equal(value(c, "ClusterName"), "c1");
	assert_string_equal(value(c, "SelectTypeParameters"), "CR_Core_Memory");
	assert_string_equal(value(c, "EPILOG"), "/a b/c");
	assert_string_equal(value(c, "Prolog"), "\"a\"b");
	assert_string_equal(value(c, "MailProg"), "\\a#b");
	assert_string_equal(value(c, "SlurmctldParameters"), "idle_on_node_suspend,power_save_min_interval=30,cloud_dns");
	assert_string_equal(value(c, "SlurmdParameters"), "");
	assert_true(c->select.memory);
	sl_conf_destroy(c);
}

static void a_line_is_continued_with_nothing_in_between(void **state)
{
	struct sl_conf *c = conf("NodeName=n[1-4] CPUs=4 Fea\\   \nture=fast\nPartitionName=p Nodes=\\\nn1,\\\nn2 Default=YES \\\n# a comment is the end\n"
				 "PartitionName=q Nodes=n3 # \\\nPartitionName=r Nodes=n4 \\");

	(void) state;
	assert_string_equal(kind(c, "n4")->features, "fast");
	assert_string_equal(members(c, "p"), "n1 n2");
	assert_string_equal(members(c, "q"), "n3");
	assert_string_equal(members(c, "r"), "n4");
	assert_true(partition(c, "p")->is_default);
	sl_conf_destroy(c);
}

static void what_is_no_option_is_refused_or_noted_with_its_line(void **state)
{
	struct sl_conf *c;

	(void) state;
	refused("ClusterName=c\nSlurmctldPort=1 SlurmdPort=2\n", "slurm.conf:2: \"SlurmdPort=2\" behind SlurmctldPort");
	refused("ClusterName\n", "slurm.conf:1: \"ClusterName\": expected KEY=VALUE");
	refused("\n\nNodeName=n1 CPUs=2 fast\n", "slurm.conf:3: \"fast\": expected KEY=VALUE");
	refused("NodeName=n1 Feature=\n", "expected KEY=VALUE");
	refused("NodeName={{ groups }} CPUs=2\n", "a template");
	c = conf("NodeName=n1 RealMemmory=4 CPUs=2\nSchedulerParamters=a\nNodename=n2 CPUs=2 CPUs=3\n");
	noted(c, "slurm.conf:1: NodeName has no option RealMemmory (the nearest is RealMemory): RealMemmory=4 is left out");
	noted(c, "slurm.conf:2: no option of slurm.conf is called SchedulerParamters (the nearest is SchedulerParameters)");
	noted(c, "slurm.conf:3: CPUs twice: the latter, 3, counts");
	sl_conf_destroy(c);
}

/* -- files ------------------------------------------------------------------- */

static void other_files_are_included_where_slurm_looks_for_them(void **state)
{
	struct sl_conf *c;
	char path[128], text[300];

	(void) state;
	snprintf(path, sizeof(path), "%s/below", scratch);
	mkdir(path, 0755);
	put("nodes_mine.conf", "NodeName=n1\nInclude below/more.conf\n");
	put("below/more.conf", "NodeName=n2\ninclude last.conf\ninclude beside.conf");
	put("below/last.conf", "NodeName=n3");
	put("beside.conf", "NodeName=n4");
	snprintf(text, sizeof(text), "ClusterName=MINE\nInclude nodes_%%c.conf # the nodes\ninclude %s/below/absolute.conf\n", scratch);
	put("below/absolute.conf", "NodeName=n5\n");
	c = conf(text);
	assert_string_equal(nodes(c), "n1 n2 n3 n4 n5");
	assert_int_equal(kind(c, "n3")->where.line, 1);
	assert_non_null(strstr(kind(c, "n3")->where.path, "below/last.conf"));
	sl_conf_destroy(c);
	c = conf("Include /opt/slurm/etc/below/last.conf\n");
	noted(c, "slurm.conf:1: Include /opt/slurm/etc/below/last.conf: there is no such file; ");
	sl_conf_destroy(c);
}

static void an_include_that_cannot_be_is_refused(void **state)
{
	(void) state;
	refused("a=b\nInclude nowhere.conf\n", "slurm.conf:2: Include: ");
	refused("Include nodes_%c.conf\n", "slurm.conf:1: Include nodes_%c.conf: expected ClusterName above it");
	refused("Include slurm.conf\n", "more than 8 deep");
	refused(" Include a.conf\n", "expected at the beginning of the line");
	refused("Include *.conf\n", "expands no patterns");
	refused("Include a b\n", "expected one file");
	refused("Include .\n", "a directory: expected a file");
	refused("Include /dev/zero\n", "a pipe or a device: expected a file");
}

static void a_pipe_without_a_writer_is_refused_at_once(void **state)
{
	char path[128];

	(void) state;
	snprintf(path, sizeof(path), "%s/pipe.conf", scratch);
	assert_int_equal(mkfifo(path, 0600), 0);
	refused("Include pipe.conf\n", "a pipe or a device: expected a file");
}

/* -- nodes -------------------------------------------------------------------- */

static void cpus_sockets_cores_and_threads_complete_one_another(void **state)
{
	static const struct { const char *line; uint32_t cpus, sockets, cores, threads, boards; } cases[] = {
		{ "NodeName=n", 1, 1, 1, 1, 1 },
		{ "NodeName=n CPUs=16", 16, 16, 1, 1, 1 },
		{ "NodeName=n CPUs=16 CoresPerSocket=4 ThreadsPerCore=2", 16, 2, 4, 2, 1 },
		{ "NodeName=n CPUs=16 CoresPerSocket=5", 5, 1, 5, 1, 1 },
		{ "NodeName=n Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 32, 2, 8, 2, 1 },
		{ "NodeName=n Procs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 16, 2, 8, 2, 1 },
		{ "NodeName=n CPUs=7 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 32, 2, 8, 2, 1 },
		{ "NodeName=n Boards=2 SocketsPerBoard=3 CoresPerSocket=4", 24, 6, 4, 1, 2 },
		{ "NodeName=n Boards=4 CoresPerSocket=4", 16, 4, 4, 1, 4 },
		{ "NodeName=n Boards=4 Sockets=2", 2, 2, 1, 1, 1 },
		{ "NodeName=n CPUs=0 CoresPerSocket=0", 1, 1, 1, 1, 1 },
		{ "NodeName=n CPUs=0x10", 16, 16, 1, 1, 1 },
		{ "NodeName=n CPUs=010", 8, 8, 1, 1, 1 },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_conf *c = conf(cases[i].line);
		const struct sl_conf_kind *k = kind(c, "n");

		if (k->cpus != cases[i].cpus || k->sockets != cases[i].sockets || k->cores_per_socket != cases[i].cores ||
		    k->threads_per_core != cases[i].threads || k->boards != cases[i].boards)
			fail_msg("%s: %u CPUs, %u sockets of %u cores of %u threads on %u boards", cases[i].line, k->cpus, k->sockets,
				 k->cores_per_socket, k->threads_per_core, k->boards);
		sl_conf_destroy(c);
	}
}

static void numbers_that_no_node_has_are_refused(void **state)
{
	(void) state;
	refused("NodeName=n ThreadsPerCore=65536 CoresPerSocket=65536\n", "ThreadsPerCore=65536: expected a number up to 65535");
	refused("NodeName=n CoresPerSocket=65535 Sockets=65535\n", "expected up to 65535 CPUs in all");
	refused("NodeName=n CoresPerSocket=32768 ThreadsPerCore=2\n", "expected up to 65535 CPUs in all");
	refused("NodeName=n Boards=65535 SocketsPerBoard=65535 ThreadsPerCore=65535 CoresPerSocket=65535\n", "expected up to 65535");
	refused("NodeName=n RealMemory=4G\n", "RealMemory=4G: expected a number");
	refused("NodeName=n CPUs=-1\n", "CPUs=-1: expected a number");
	refused("NodeName=n State=SLEEPY\n", "State=SLEEPY: expected CLOUD");
	refused("NodeName=ALL\n", "NodeName=ALL: expected a node");
	refused("NodeName=n[1-2]\nNodeName=n2\n", "slurm.conf:2: node n2 twice");
}

static void cores_and_memory_may_be_set_aside(void **state)
{
	struct sl_conf *c = conf("NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=1000\n"
				 "NodeName=a CoreSpecCount=3 MemSpecLimit=100\n"
				 "NodeName=b CpuSpecList=0-1,5\nNodeName=c CPUs=16 CpuSpecList=0,4\n"
				 "NodeName=d CoreSpecCount=16 MemSpecLimit=1000\nNodeName=e CpuSpecList=32\n"
				 "NodeName=f CoreSpecCount=4 CpuSpecList=0\n");

	(void) state;
	assert_int_equal(kind(c, "a")->core_spec, 3);
	assert_int_equal(kind(c, "a")->mem_spec_mib, 100);
	assert_int_equal(kind(c, "b")->core_spec, 2);
	assert_int_equal(kind(c, "c")->core_spec, 2);
	assert_int_equal(kind(c, "d")->core_spec, 1);
	assert_int_equal(kind(c, "d")->mem_spec_mib, 0);
	assert_int_equal(kind(c, "e")->core_spec, 0);
	assert_int_equal(kind(c, "f")->core_spec, 1);
	noted(c, "CoreSpecCount=16 of 16 cores: 1 is taken");
	noted(c, "MemSpecLimit=1000 of RealMemory=1000: 0 is taken");
	noted(c, "CpuSpecList=32: expected a list");
	sl_conf_destroy(c);
}

static void default_lines_lie_below_those_that_follow(void **state)
{
	struct sl_conf *c = conf("NodeName=DEFAULT CPUs=4 Feature=a\nNodeName=n1\nNodeName=DEFAULT Features=b RealMemory=7\n"
				 "NodeName=n2 Weight=5\nNodeName=default Procs=9 Weight=3\nNodeName=n3 Features=c\n");

	(void) state;
	assert_string_equal(kind(c, "n1")->features, "a");
	assert_int_equal(kind(c, "n1")->memory_mib, 1);
	assert_string_equal(kind(c, "n2")->features, "a");
	assert_int_equal(kind(c, "n2")->memory_mib, 7);
	assert_int_equal(kind(c, "n2")->weight, 5);
	assert_string_equal(kind(c, "n3")->features, "c");
	assert_int_equal(kind(c, "n3")->cpus, 4);
	assert_int_equal(kind(c, "n3")->weight, 3);
	sl_conf_destroy(c);
}

static void nodes_are_in_the_order_of_their_numbers_and_future_ones_left_out(void **state)
{
	struct sl_conf *c = conf("NodeName=n[9-11],m2\nNodeName=n[01-02],n1 State=CLOUD\nNodeName=x[1-3] State=FUTURE\n"
				 "NodeName=r[0-1]c[1-2] State=DOWN\nPartitionName=p Nodes=x2,n9\nPartitionName=q Nodes=ALL\n"
				 "PartitionName=r Nodes=x1\n");

	(void) state;
	assert_string_equal(nodes(c), "m2 n01 n02 n1 n9 n10 n11 r0c1 r0c2 r1c1 r1c2");
	assert_string_equal(members(c, "p"), "n9");
	assert_int_equal(partition(c, "q")->nodes, 11);
	assert_int_equal(partition(c, "r")->nodes, 0);
	noted(c, "slurm.conf:3: 3 nodes of State=FUTURE are left out");
	sl_conf_destroy(c);
}

/* -- partitions ------------------------------------------------------------------- */

static void a_partition_takes_names_node_sets_and_all(void **state)
{
	struct sl_conf *c = conf("NodeSet=a Nodes=n[1-2],b\nNodeSet=b Feature=fast\nNodeSet=none Feature=nowhere\nNodeSet=every Nodes=ALL\n"
				 "NodeName=n[1-3] Feature=slow\nNodeName=n[4-5] Feature=big,fast\n"
				 "PartitionName=p Nodes=a\nPartitionName=q Nodes=b,n4,n1\nPartitionName=r Nodes=all\n"
				 "PartitionName=s Nodes=none\nPartitionName=t Nodes=\"n1 n3\"\nPartitionName=u Nodes=every\n"
				 "PartitionName=v Nodes=\"\"\nPartitionName=w\nPartitionName=x Nodes=n1,,n2,\n");

	(void) state;
	assert_string_equal(members(c, "p"), "n1 n2 n4 n5");
	assert_string_equal(members(c, "q"), "n1 n4 n5");
	assert_string_equal(members(c, "r"), "n1 n2 n3 n4 n5");
	assert_string_equal(members(c, "s"), "");
	assert_string_equal(members(c, "t"), "n1 n3");
	assert_string_equal(members(c, "u"), "n1 n2 n3 n4 n5");
	assert_string_equal(members(c, "v"), "");
	assert_string_equal(members(c, "w"), "");
	assert_string_equal(members(c, "x"), "n1 n2");
	noted(c, "partition s has no nodes");
	sl_conf_destroy(c);
	refused("NodeName=n1\nNodeSet=b Nodes=n1\nNodeSet=a Nodes=b\nPartitionName=p Nodes=a\n",
		"slurm.conf:3: NodeSet b: expected once in the list, and in a line below");
	refused("NodeName=n1\nNodeSet=b Nodes=n1\nPartitionName=p Nodes=b,b\n", "slurm.conf:3: NodeSet b twice in the list");
	refused("NodeName=n1\n\nPartitionName=p Nodes=n2\n", "slurm.conf:3: no node n2");
}

static void a_line_of_another_file_is_told_where_it_belongs(void **state)
{
	struct sl_conf *c = conf("NodeName=n1\nSwitchName=s Nodes=n1\nConstrainCores=yes\nStoragePass=x\ncachegroups=0\n");

	(void) state;
	noted(c, "slurm.conf:2: SwitchName is an option of topology.conf, and none of slurm.conf");
	noted(c, "slurm.conf:3: ConstrainCores is an option of cgroup.conf");
	noted(c, "slurm.conf:4: StoragePass is an option of slurmdbd.conf");
	noted(c, "slurm.conf:5: cachegroups is an option of releases before 22.05");
	sl_conf_destroy(c);
	refused("AutoDetect=nvml\nNodeName=n[1-2] Name=gpu File=/dev/nvidia[0-1]\n", "slurm.conf:2: NodeName with Name=gpu: expected slurm.conf");
}

static void a_partition_may_have_the_nodes_of_a_feature(void **state)
{
	struct sl_conf *c = conf("NodeName=n[1-2] Feature=fast,big\nNodeName=n[3-4] Feature=big\nNodeName=n5\nNodeName=n6 Feature=big State=FUTURE\n"
				 "NodeSet=b Nodes=feature{fast}\n"
				 "PartitionName=p Nodes=feature{big}\nPartitionName=q Nodes=n5,feature{fast}\n"
				 "PartitionName=r Nodes=feature{none}\nPartitionName=s  Nodes=n3\n"
				 "PartitionName=t Nodes=b,feature{none}\nPartitionName=u Nodes=n4,feature{fast}7\n");

	(void) state;
	assert_string_equal(members(c, "p"), "n1 n2 n3 n4");
	assert_string_equal(members(c, "q"), "n1 n2 n5");
	assert_string_equal(members(c, "r"), "");
	assert_string_equal(members(c, "t"), "n1 n2");
	assert_string_equal(members(c, "u"), "n1 n2 n4");
	noted(c, "Nodes=n5,feature{fast}: slurmctld reads functions of node lists since 24.11");
	noted(c, "partition r has no nodes");
	sl_conf_destroy(c);
	refused("NodeName=n1\nPartitionName=p Nodes=switch{x}\n", "slurm.conf:2: Nodes=switch{x}: expected names, or feature{FEATURE}");
	refused("NodeName=n1\nPartitionName=p Nodes=feature{x\n", "expected names, or feature{FEATURE}");
	refused("NodeName=n1\nNodeSet=a Nodes=feature{x}\nPartitionName=p Nodes=a\n", "slurm.conf:2: Nodes=feature{x}: expected this function in "
		"Nodes= of the partition itself");
}

static void booleans_are_read_as_slurm_reads_them(void **state)
{
	struct sl_conf *c = conf("NodeName=n1\nPartitionName=a Default=TRUE Hidden=1 LLN=up RootOnly=yes\n"
				 "PartitionName=b Default=0 Hidden=FALSE LLN=down RootOnly=No\nPartitionName=c Default=Yes\n");

	(void) state;
	assert_true(partition(c, "a")->hidden && partition(c, "a")->lln && partition(c, "a")->root_only);
	assert_false(partition(c, "b")->hidden || partition(c, "b")->lln || partition(c, "b")->root_only);
	assert_false(partition(c, "a")->is_default);
	assert_true(partition(c, "c")->is_default);
	noted(c, "a is no longer the default partition");
	sl_conf_destroy(c);
	refused("PartitionName=p Default=MAYBE\n", "Default=MAYBE: expected YES or NO");
}

static void limits_of_partitions_are_those_of_slurmctld(void **state)
{
	struct sl_conf *c = conf("NodeName=n1\n"
				 "PartitionName=DEFAULT MaxTime=2-0 OverSubscribe=FORCE:3 ExclusiveUser=YES Priority=7\n"
				 "PartitionName=a DefaultTime=1:30 MaxNodes=UNLIMITED MinNodes=2\n"
				 "PartitionName=b DefaultTime=3-0 Shared=EXCLUSIVE MaxTime=INFINITE PriorityTier=3\n"
				 "PartitionName=c DefaultTime=4-0 OverSubscribe=NO MaxNodes=4 MaxCPUsPerNode=8 QOS=q\n"
				 "PartitionName=d OverSubscribe=YES:1 MaxTime=-1 Exclusive=NODE ExclusiveUser=YES\n");

	(void) state;
	assert_int_equal(partition(c, "a")->max_time_s, 2 * 86400);
	assert_int_equal(partition(c, "a")->default_time_s, 120);
	assert_int_equal(partition(c, "a")->oversubscribe, 3);
	assert_true(partition(c, "a")->force);
	assert_false(partition(c, "a")->exclusive_user);
	assert_true(partition(c, "a")->max_nodes == SL_CONF_UNLIMITED);
	assert_int_equal(partition(c, "a")->priority_tier, 7);
	assert_true(partition(c, "b")->max_time_s == SL_UNLIMITED);
	assert_int_equal(partition(c, "b")->oversubscribe, 3);	/* OverSubscribe of DEFAULT is before Shared */
	assert_int_equal(partition(c, "b")->priority_tier, 7);	/* Priority of DEFAULT is behind PriorityTier */
	assert_int_equal(partition(c, "c")->default_time_s, 0);
	assert_int_equal(partition(c, "c")->oversubscribe, 1);
	assert_int_equal(partition(c, "d")->oversubscribe, 0);
	noted(c, "ExclusiveUser=YES: slurmctld does not take this option from a DEFAULT line");
	noted(c, "DefaultTime is more than MaxTime");
	sl_conf_destroy(c);
	refused("PartitionName=p MaxTime=soon\n", "slurm.conf:1: MaxTime=soon: expected a time");
	refused("PartitionName=p OverSubscribe=SOME\n", "OverSubscribe=SOME: expected NO");
	refused("PartitionName=p State=ODD\n", "State=ODD: expected UP");
	refused("PartitionName=p\nPartitionName=p\n", "slurm.conf:2: partition p twice");
}

static void lines_of_other_daemons_do_not_count(void **state)
{
	struct sl_conf *c = conf("NodeName=m1 Topology=default:s1 RestrictedCoresPerGPU=2\nPartitionName=r MaxCPUsPerSocket=4\n");

	noted(c, "Topology=default:s1 is not modelled");
	noted(c, "RestrictedCoresPerGPU=2 is not modelled");
	noted(c, "MaxCPUsPerSocket=4 is not modelled");
	sl_conf_destroy(c);
	c = conf("NodeName=n1 NodeAddr=10.0.0.1 NodeHostname=h Port=7 TRESWeights=CPU=1\nDownNodes=n1 State=DOWN Reason=\"a b\"\n"
				 "FrontendName=f FrontendAddr=x\nSlurmctldHost=a(10.0.0.1)\nSlurmctldHost=b\nSuspendExcNodes=n1\n"
				 "LaunchParameters=use_interactive_step\nPartitionName=p Nodes=n1 TRESBillingWeights=CPU=1.0,Mem=0.25G\n");

	(void) state;
	assert_int_equal(sl_conf_count(c, "SlurmctldHost"), 2);
	assert_string_equal(value(c, "SlurmctldHost"), "b");
	assert_int_equal(c->notes.count, 0);
	sl_conf_destroy(c);
}

static void select_types_are_told_from_their_words(void **state)
{
	struct sl_conf *c = conf("SelectType=select/linear\nSelectTypeParameters=CR_Memory\n");

	(void) state;
	assert_true(c->select.whole_nodes && c->select.memory);
	sl_conf_destroy(c);
	c = conf("SelectType=select/cons_res\nSelectTypeParameters=cr_socket,CR_LLN,CR_Pack_Nodes,CR_NEW\n");
	assert_true(c->select.socket && c->select.lln && c->select.pack_nodes && !c->select.memory);
	noted(c, "SelectTypeParameters has no word CR_NEW");
	sl_conf_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_may_have_blanks_quotes_and_comments_around_it),
		cmocka_unit_test(a_line_is_continued_with_nothing_in_between),
		cmocka_unit_test(what_is_no_option_is_refused_or_noted_with_its_line),
		cmocka_unit_test(other_files_are_included_where_slurm_looks_for_them),
		cmocka_unit_test(an_include_that_cannot_be_is_refused),
		cmocka_unit_test(a_pipe_without_a_writer_is_refused_at_once),
		cmocka_unit_test(cpus_sockets_cores_and_threads_complete_one_another),
		cmocka_unit_test(numbers_that_no_node_has_are_refused),
		cmocka_unit_test(cores_and_memory_may_be_set_aside),
		cmocka_unit_test(default_lines_lie_below_those_that_follow),
		cmocka_unit_test(nodes_are_in_the_order_of_their_numbers_and_future_ones_left_out),
		cmocka_unit_test(a_partition_takes_names_node_sets_and_all),
		cmocka_unit_test(a_line_of_another_file_is_told_where_it_belongs),
		cmocka_unit_test(a_partition_may_have_the_nodes_of_a_feature),
		cmocka_unit_test(booleans_are_read_as_slurm_reads_them),
		cmocka_unit_test(limits_of_partitions_are_those_of_slurmctld),
		cmocka_unit_test(lines_of_other_daemons_do_not_count),
		cmocka_unit_test(select_types_are_told_from_their_words),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
