/* SPDX-License-Identifier: MIT */
/*
 * words.h - what a job may ask for, in what circumstances, and beside what only Slurm's select can place it.
 *
 * One line for each.  The engine places a request itself unless one of its words stands beside another one that the
 * line names, or the line says that only select can place such a job (SL_ALONE).  model/native.c has the test of each
 * word; circumstances that follow from sums over the request are added where these are done (model/want*.c).  From
 * this list come job.native and its text, the tables in doc/requests.md and doc/parity.md (make words-doc), what jobs
 * with alternatives may not ask for (plugin/request/shape.c), and the pairs of options that t/live/accepted.t tries on
 * a real select.  From the list of options behind it come those of schedlua willrun.
 *
 * Ownership: none.  Threads: any.
 */
#ifndef SL_WORDS_H
#define SL_WORDS_H

#include <stddef.h>

typedef unsigned __int128 sl_word_set;

#define SL_W(id) ((sl_word_set) 1 << SL_WORD_##id)
#define SL_ALONE (~(sl_word_set) 0)

#define SL_SOCKET_SHAPE (SL_W(SOCKETS) | SL_W(TASKS_PER_SOCKET))
/* What makes select count the cores of tasks otherwise. */
#define SL_ODD_CORES (SL_SOCKET_SHAPE | SL_W(OVERCOMMIT) | SL_W(TASKS_PER_CORE) | SL_W(IDLE_THREADS) | \
		      SL_W(UNEQUAL_THREADS) | SL_W(PARTS_BY_SOCKET) | SL_W(ALTERNATIVE))
#define SL_ODD_DEALS (SL_W(JOB_GRES) | SL_W(CPUS_PER_GRES) | SL_W(MINCPUS) | SL_W(COUNTS) | SL_W(UNDEALT))
#define SL_ODD_SHAPE (SL_W(CORE_SPEC) | SL_W(OVERCOMMIT) | SL_W(SHARED_NODES) | SL_W(UNEQUAL_SOCKETS) | \
		      SL_W(ODD_SOCKETS) | SL_W(UNEQUAL_THREADS) | SL_W(UNSURE_SOCKETS))

/* What decides which of the nodes of its block a job has, or what each of them gives. */
#define SL_BESIDE_BLOCKS (SL_W(NODELIST) | SL_W(CONTIGUOUS) | SL_W(SWITCHES) | SL_W(PREFER) | SL_W(COUNTS) | SL_W(NODE_COUNTS) | \
			  SL_W(OVERCOMMIT) | SL_W(PLANE) | SL_W(ARBITRARY) | SL_W(JOB_GRES) | SL_SOCKET_SHAPE | SL_W(BOUND_GRES) | \
			  SL_W(ALTERNATIVE) | SL_W(LOAN) | SL_W(SHARED_CORES) | SL_W(PARTIAL) | SL_W(LLN) | SL_W(UNSETTLED))

/* A job that asks for one of these has no alternatives: a shape says nothing of them (plugin/request/shape.c). */
#define SL_NO_ALTERNATIVE (SL_SOCKET_SHAPE | SL_W(BOARDS) | SL_W(OVERCOMMIT) | SL_W(CORE_SPEC) | SL_W(PLANE) | SL_W(ARBITRARY) | \
			   SL_W(NODE_COUNTS) | SL_W(EXPAND) | SL_W(CPUS_PER_GRES) | SL_W(MEMORY_PER_GRES) | SL_W(SOCKET_GRES) | \
			   SL_W(TASKS_PER_GRES))

/* X(id, as users write it, words beside which only select can place it, first and last release, why) */
#define SL_ASKED_WORDS(X) \
	X(NODELIST, "--nodelist", 0, "", "", "") \
	X(CONTIGUOUS, "--contiguous", 0, "", "", "") \
	X(SWITCHES, "--switches", 0, "", "", "") \
	X(PREFER, "--prefer", 0, "", "", "") \
	X(COUNTS, "--constraint with counts", SL_W(PREFER) | SL_W(NODELIST) | SL_W(SWITCHES) | SL_W(CONTIGUOUS), "", "", \
	  "select picks nodes count by count, each time without a look at what comes next") \
	X(UNPLACED, "--constraint with counts behind '|' or outside of brackets, or with parentheses in them", SL_ALONE, "", "", \
	  "of two counts outside of brackets the nodes of the first need the second feature, too; Slurm refuses them from 23.02 on") \
	X(REBOOT, "--constraint with features that nodes get by a reboot", SL_ALONE, "", "", \
	  "slurmctld decides whether and when a node reboots; the engine places the job where the features are active") \
	X(NODE_COUNTS, "--nodes=1,4", SL_W(COUNTS), "23.02", "", "select adds up the counts of features for each number of nodes") \
	X(TASKS_PER_NODE, "--ntasks-per-node", 0, "", "", "") \
	X(ONE_TASK, "--ntasks-per-node beside one task with the CPUs of one, on parts of nodes", SL_ALONE, "25.11", "", \
	  "select deals out all tasks of --ntasks-per-node, has CPUs for one, and never starts the job") \
	X(TASKS_PER_CORE, "--ntasks-per-core", 0, "", "", "") \
	X(MINCPUS, "--mincpus beyond the CPUs of its tasks", 0, "", "", "") \
	X(OVERCOMMIT, "--overcommit", 0, "", "", "") \
	X(CROWDED, "--overcommit on whole nodes or beside --cpus-per-task, with more tasks than nodes", SL_ALONE, "24.11", "", \
	  "select wants a CPU for each task then, and chooses nodes as if it did not") \
	X(SOCKETS, "--sockets-per-node", SL_ODD_SHAPE, "", "", \
	  "which socket the free cores of a node are of is not in the snapshot: so many have to be free that it does not matter") \
	X(TASKS_PER_SOCKET, "--ntasks-per-socket", SL_ODD_SHAPE, "", "", "as --sockets-per-node") \
	X(BOARDS, "boards", SL_ALONE, "", "", "which sockets are on which board is not in the snapshot") \
	X(SOCKETS_IN_TURN, "--distribution=block:cyclic", 0, "", "", "") \
	X(CORE_SPEC, "--core-spec", SL_W(GRES) | SL_W(SHARED_NODES) | SL_W(UNEQUAL_SPEC), "", "", \
	  "beside gres select gives the cores of the tasks alone; what a node gives beside its cores is one number for the job") \
	X(THREAD_SPEC, "--thread-spec", SL_W(THREADS), "", "", "a core with a thread less is none of those that are counted") \
	X(PLANE, "--distribution=plane on parts of several nodes", SL_ODD_DEALS, "", "", \
	  "a node without tasks gets no CPU at all, and select deals other CPUs than those of tasks as it sees fit") \
	X(ARBITRARY, "--distribution=arbitrary", SL_ODD_DEALS | SL_W(ALTERNATIVE) | SL_W(OVERCOMMIT) | SL_W(TASKS_PER_NODE), \
	  "23.11", "", "as a plane distribution") \
	X(TASK_COUNTS, "an own number of tasks for each node", SL_ALONE, "", "", "Slurm does not say which") \
	X(GRES, "--gres or --gpus", 0, "", "", "") \
	X(SEVERAL_GRES, "gres of several kinds", 0, "", "", "") \
	X(JOB_GRES, "--gpus", 0, "", "", "") \
	X(TASK_GRES, "--gpus-per-task", SL_W(OVERCOMMIT), "", "", "select gives CPUs to all tasks that overcommit") \
	X(FEWER_TASKS, "--gpus-per-task beside --gpus-per-node or --gpus, with fewer tasks than these make or than nodes", SL_ALONE, "", "", \
	  "select wants as many tasks on each node as its GPUs make, and at least one") \
	X(GPU_ROOM, "--gpus-per-task beside --ntasks-per-socket or --ntasks-per-core of more tasks than a node is to have or has GPUs for", SL_ALONE, \
	  "", "", "select wants the GPUs of a socket's, or of a core's tasks on each node, however few it is to have") \
	X(SOCKET_GRES, "--gpus-per-socket", SL_ALONE, "", "", "which socket a GPU is near is not in the snapshot") \
	X(BOUND_GRES, "--gres-flags=enforce-binding", SL_W(GRES_OF_SOCKETS) | SL_W(NO_TASKS) | SL_W(GRES_OF_TASKS), "", "", \
	  "select gives a core of each socket that the GPUs may be near; all cores where no number of tasks is said; beside " \
	  "--gpus-per-task cores for as many tasks as could be on a node") \
	X(TASKS_PER_GRES, "--ntasks-per-gpu", SL_ODD_CORES | SL_W(BOUND_GRES) | SL_W(TASK_GRES) | \
	  SL_W(CPUS_PER_GRES) | SL_W(SEVERAL_GRES) | SL_W(UNEVEN), "", "", "select works out on each node how many tasks and CPUs come with its GPUs") \
	X(CPUS_PER_GRES, "--cpus-per-gpu", SL_SOCKET_SHAPE | SL_W(BOUND_GRES) | SL_W(SEVERAL_GRES) | SL_W(OVERCOMMIT) | \
	  SL_W(UNEQUAL_THREADS) | SL_W(IDLE_THREADS) | SL_W(OTHER_CPUS) | SL_W(LINEAR) | SL_W(UNEVEN), "", "", \
	  "select works out on each node how many CPUs come with its GPUs, those of DefCpuPerGPU too") \
	X(MEMORY_PER_GRES, "--mem-per-gpu", SL_W(LINEAR) | SL_W(UNEVEN), "", "", \
	  "the memory of a node follows from the GPUs that it gives, that of DefMemPerGPU too") \
	X(UNSAID, "CPUs or memory for each GPU, of which the GPUs say nothing", SL_ALONE, "", "", \
	  "so it is with defaults that the job takes back") \
	X(UNCOUNTED, "gres that is not counted", SL_ALONE, "", "", \
	  "shares of GPUs with whole nodes, by type, unequal, with one_sharing; no_consume of the job; types without File=") \
	X(WHOLE_SWITCHES, "--exclusive=topo or ExclusiveTopo", SL_ALONE, "24.05", "", \
	  "nobody else may be on any node of a switch; the timeline knows nodes") \
	X(SEGMENT_BLOCKS, "--spread-segments or --consolidate-segments", SL_W(BLOCKS), "25.11", "", \
	  "which blocks its segments may be in depends on all levels of blocks, which are not in the snapshot") \
	X(BURST_BUFFER, "--bb", SL_ALONE, "", "", "what is needed is settled only as the job starts") \
	X(EXPAND, "--dependency=expand", SL_ALONE, "", "", "what is needed is settled only as the job starts") \
	X(HRES, "--licenses of resources.yaml", SL_ALONE, "25.05", "", "they belong to nodes, and select knows of which how many are left") \
	X(EXTRA, "--extra with extra_constraints", SL_ALONE, "23.11", "", "slurmctld reads what it says of nodes") \
	X(RECLAIM, "--licenses with reclaim_licenses", SL_ALONE, "23.02", "", "slurmctld chooses whom to preempt for them") \
	X(PREEMPT, "jobs that it may preempt", SL_ALONE, "", "", "select chooses whom to preempt") \
	X(REFUSED, "three placements that select refused in a row", SL_ALONE, "", "", "select knows why") \
	X(ALTERNATIVE, "an alternative", 0, "", "", "") \
	/* circumstances */ \
	X(WHOLE_NODES, "whole nodes", 0, "", "", "") \
	X(PARTS_OF_NODES, "parts of nodes", 0, "", "", "") \
	X(NO_TASKS, "parts of nodes and no number of tasks, as with -N1-1", 0, "", "", "") \
	X(IDLE_THREADS, "threads of a core that its tasks may not have", 0, "", "", "") \
	X(GRES_OF_SOCKETS, "parts of nodes of several sockets", 0, "", "", "") \
	X(LOAN, "borrowed nodes", 0, "", "", "") \
	X(PARTS_BY_SOCKET, "CR_Socket with parts of nodes", SL_SOCKET_SHAPE | SL_W(BOUND_GRES) | SL_W(CPUS_PER_GRES) | SL_W(SOCKETS_IN_TURN) | \
	  SL_W(ODD_SOCKETS) | SL_W(UNEQUAL_THREADS) | SL_W(CPU_CAP) | SL_W(GRES_IN_TURN) | SL_W(UNFILLED_SOCKETS), "", "", \
	  "how many sockets such a job gets depends on which are free, or other cores than theirs count") \
	X(SHARED_CORES, "shared cores", SL_W(LOAN) | SL_W(UNEQUAL_ROWS) | SL_W(CPU_CAP) | SL_W(WHOLE_NODES) | SL_W(PLANE) | \
	  SL_W(PARTIAL_SOMEWHERE) | SL_W(CR_SOCKET) | SL_W(CPUS_PER_GRES), "", "", \
	  "select keeps the jobs of a partition in rows, and which job is in which row is not in the snapshot") \
	X(RESERVED_GRES, "gres while a reservation has some", SL_ALONE, "23.11", "", "which GPUs of a node are reserved is not in the snapshot") \
	X(PARTIAL, "its reservation of parts of nodes", SL_W(GRES) | SL_W(CR_SOCKET), "", "", \
	  "which of its cores are near the gres, or make sockets, is not in the snapshot") \
	X(PARTS_UNKNOWN, "its reservation of parts of nodes, FLEX, IGNORE_JOBS or OVERLAP", SL_ALONE, "", "", \
	  "how many of its cores others have is not in the snapshot, nor in a capture which cores are its own") \
	X(RESERVATIONS, "several reservations, in a capture", SL_ALONE, "", "", "slurmctld alone says in which of them the job may start")

/* Circumstances of the nodes of a partition, whoever asks. */
#define SL_NODE_WORDS(X) \
	X(THREADS, "cores of several threads", 0, "", "", "") \
	X(UNEQUAL_THREADS, "nodes with unequal threads", 0, "", "", "") \
	X(UNEQUAL_SOCKETS, "nodes with unequal numbers of sockets", 0, "", "", "") \
	X(ODD_SOCKETS, "nodes with sockets of unequal numbers of cores", 0, "", "", "") \
	X(SEVERAL_SOCKETS, "nodes of several sockets", 0, "", "", "") \
	X(UNEQUAL_SPEC, "nodes that set aside unequal numbers of cores", 0, "", "", "") \
	X(SYSTEM_CORES, "cores for the system", 0, "", "", "") \
	X(LINEAR, "select/linear", 0, "", "", "") \
	X(CPU_CAP, "MaxCPUsPerNode", 0, "", "", "") \
	X(SHARED_NODES, "nodes with shared cores", 0, "", "", "") \
	X(UNEQUAL_ROWS, "nodes of unequal cores or of several partitions that share them", 0, "", "", "") \
	X(PARTIAL_SOMEWHERE, "a reservation of parts of nodes", 0, "", "", "") \
	X(CR_SOCKET, "CR_Socket", SL_W(CORE_SPEC) | SL_W(SYSTEM_CORES) | SL_W(LOAN), "", "", \
	  "a socket with a core of the system is nobody's") \
	X(MIXED_SOCKETS, "CR_Socket in some partitions alone", SL_W(PARTS_BY_SOCKET), "", "", \
	  "select gives a socket although others have cores of it, and, told to fill sockets, those cores, too") \
	X(LLN, "LLN", 0, "", "", "") \
	X(CR_LLN, "CR_LLN", SL_W(UNSETTLED), "23.11", "", \
	  "select deals the tasks to least loaded nodes itself; that of a partition is set aside while it is told how") \
	X(OTHER_TOPOLOGY, "topology/ring or torus3d, one of several topologies, or topology/block before 24.11", SL_W(SEVERAL_NODES), \
	  "23.11", "", "the engine knows trees of switches, and blocks of one size") \
	X(SOCKET_CAP, "MaxCPUsPerSocket", SL_ALONE, "23.02", "", "which sockets the jobs of a partition are on is not in the snapshot") \
	X(GPU_CORES, "RestrictedCoresPerGPU", SL_ALONE, "24.05", "", "which cores of a node are kept for GPUs is not in the snapshot")

/* Circumstances that are sums: who does them adds them. */
#define SL_SUM_WORDS(X) \
	X(NODE_RANGES, "--nodes=1,4-6", SL_W(JOB_GRES), "23.02", "", \
	  "select stops somewhere in a range of neighbours as soon as it has the gres") \
	X(LONG_LIST, "--nodes of more than sixteen numbers or ranges", SL_ALONE, "23.02", "", "the engine reads sixteen") \
	X(MANY_CHOICES, "more than 64 sets, numbers and the like of nodes to choose among", SL_ALONE, "", "", "the engine tries so many") \
	X(ODD_THREADS, "threads of some nodes that make other cores of its tasks", SL_ALONE, "", "", \
	  "how many cores the tasks take depends on the nodes") \
	X(UNSURE_SOCKETS, "parts of nodes of which no number of free cores is sure to do", 0, "", "", "") \
	X(UNFILLED_SOCKETS, "tasks that may leave CPUs of a socket over on several nodes", 0, "", "", "") \
	X(GRES_IN_TURN, "gres beside more than a core of nodes of several sockets (before 23.11)", 0, "", "23.02", "") \
	X(PARTS_OF_TASKS, "tasks that begin or end within a core, and memory that is not by CPU", SL_W(UNSETTLED), "", "23.02", \
	  "select takes CPUs of a node that make no whole task, and leaves tasks without") \
	X(GRES_OF_TASKS, "gres of tasks that are not settled, or take odd cores or several sockets", 0, "", "", "") \
	X(UNDEALT, "tasks that might not reach all nodes, are not those of the list, or of each node no whole planes", 0, "", "", "") \
	X(MANY_GRES, "more than 65,535 pieces of gres or sixteen kinds", SL_ALONE, "", "", "the engine tells so many apart") \
	X(OUTGROWN_GRES, "tasks that need more nodes than the job has gres", SL_ALONE, "", "", "of some nodes it has none then") \
	X(OTHER_CPUS, "--cpus-per-task or --mincpus of other CPUs", 0, "", "", "") \
	X(UNEVEN, "nodes that may give unequal tasks, GPUs or parts of cores", 0, "", "", "") \
	X(UNSETTLED, "parts of several nodes whose tasks are not settled", 0, "", "", "") \
	X(SEVERAL_NODES, "several nodes", 0, "", "", "") \
	X(BLOCKS, "several nodes below topology/block", SL_BESIDE_BLOCKS, "24.11", "", \
	  "select is shown the chosen nodes alone, and told nothing of what each of them gives") \
	X(WIDE_BLOCKS, "a range of nodes below topology/block, a job or segments larger than a block that do not fill blocks, nodes in no block", SL_ALONE, \
	  "24.11", "", "where they may be depends on all levels of blocks, and on what each node gives") \
	X(UNCOUNTED_CAP, "MaxCPUsPerNode beside as many kinds of gres as the engine counts", SL_ALONE, "", "", \
	  "the engine counts the CPUs of a partition on a node as a kind of gres")

#define SL_WORDS(X) SL_ASKED_WORDS(X) SL_NODE_WORDS(X) SL_SUM_WORDS(X)

/*
 * Options of sbatch, as schedlua willrun has them, and the words that they may say.  Those of a job's size, which its
 * alternatives have, too (image/shapes.h); those whose id is a member of the verb's values; all others (tool/wishes.h).
 *
 * X(id, name, type: TEXT or WORD, argument, letter, words, meaning)
 */
#define SL_SIZE_OPTIONS(X) \
	X(NODES, "nodes", TEXT, "N[-M]", 'N', SL_W(NODE_COUNTS) | SL_W(NODE_RANGES) | SL_W(LONG_LIST), "so many nodes") \
	X(NTASKS, "ntasks", TEXT, "N", 'n', 0, "so many tasks") \
	X(CPUS_PER_TASK, "cpus-per-task", TEXT, "N", 'c', SL_W(OTHER_CPUS) | SL_W(CROWDED), \
	  "so many CPUs for each of them") \
	X(NTASKS_PER_NODE, "ntasks-per-node", TEXT, "N", 0, SL_W(TASKS_PER_NODE) | SL_W(ONE_TASK), \
	  "so many tasks on each node") \
	X(TIME, "time", TEXT, "TIME", 't', 0, "walltime: minutes, H:M:S or D-H:M:S; default: the partition's") \
	X(GRES, "gres", TEXT, "NAME[:TYPE][:N],...", 0, SL_W(GRES), "generic resources of each node") \
	X(GPUS, "gpus", TEXT, "[TYPE:]N", 'G', SL_W(GRES) | SL_W(JOB_GRES) | SL_W(FEWER_TASKS), "GPUs in all") \
	X(GPUS_PER_NODE, "gpus-per-node", TEXT, "[TYPE:]N", 0, SL_W(GRES) | SL_W(FEWER_TASKS), "GPUs of each node") \
	X(GPUS_PER_TASK, "gpus-per-task", TEXT, "[TYPE:]N", 0, SL_W(GRES) | SL_W(TASK_GRES) | SL_W(FEWER_TASKS) | SL_W(GPU_ROOM), \
	  "GPUs of each task")
#define SL_VALUE_OPTIONS(X) \
	X(mem, "mem", TEXT, "SIZE", 0, 0, "memory of each node, MiB or with a unit: 16G") \
	X(mem_per_cpu, "mem-per-cpu", TEXT, "SIZE", 0, 0, "memory for each CPU") \
	X(constraint, "constraint", TEXT, "FEATURES", 'C', SL_W(COUNTS) | SL_W(UNPLACED) | SL_W(REBOOT), "nodes with these features")
#define SL_WISH_OPTIONS(X) \
	X(MINCPUS, "mincpus", TEXT, "N", 0, SL_W(MINCPUS) | SL_W(OTHER_CPUS), "so many CPUs of each node, at least") \
	X(EXTRA, "extra-node-info", TEXT, "SOCKETS[:CORES[:THREADS]]", 'B', SL_W(SOCKETS) | SL_W(IDLE_THREADS), \
	  "nodes with so many sockets, cores of each and threads of a core") \
	X(SOCKETS, "sockets-per-node", TEXT, "N", 0, SL_W(SOCKETS), "nodes with so many sockets") \
	X(CORES, "cores-per-socket", TEXT, "N", 0, SL_W(SOCKETS), "so many cores of each socket") \
	X(THREADS, "threads-per-core", TEXT, "N", 0, SL_W(IDLE_THREADS), "so many threads of each core") \
	X(PER_SOCKET, "ntasks-per-socket", TEXT, "N", 0, SL_W(TASKS_PER_SOCKET) | SL_W(GPU_ROOM), "so many tasks on each socket at most") \
	X(PER_CORE, "ntasks-per-core", TEXT, "N", 0, SL_W(TASKS_PER_CORE) | SL_W(GPU_ROOM), "so many tasks on each core at most") \
	X(PER_GPU, "ntasks-per-gpu", TEXT, "N", 0, SL_W(TASKS_PER_GRES), "so many tasks for each GPU") \
	X(GPUS_PER_SOCKET, "gpus-per-socket", TEXT, "[TYPE:]N", 0, SL_W(GRES) | SL_W(SOCKET_GRES), "GPUs of each socket") \
	X(CPUS_PER_GPU, "cpus-per-gpu", TEXT, "N", 0, SL_W(CPUS_PER_GRES) | SL_W(UNSAID), "so many CPUs with each GPU") \
	X(MEM_PER_GPU, "mem-per-gpu", TEXT, "SIZE", 0, SL_W(MEMORY_PER_GRES) | SL_W(UNSAID), "memory with each GPU") \
	X(GRES_FLAGS, "gres-flags", TEXT, "FLAG", 0, SL_W(BOUND_GRES), "enforce-binding or disable-binding") \
	X(TMP, "tmp", TEXT, "SIZE", 0, 0, "nodes with so much TmpDisk, MiB or with a unit") \
	X(LICENSES, "licenses", TEXT, "NAME[:N],...", 'L', SL_W(HRES) | SL_W(RECLAIM), "licences") \
	X(CORE_SPEC, "core-spec", TEXT, "N", 'S', SL_W(CORE_SPEC), "whole nodes but for so many cores") \
	X(THREAD_SPEC, "thread-spec", TEXT, "N", 0, SL_W(CORE_SPEC) | SL_W(THREAD_SPEC), "whole nodes but for so many threads") \
	X(EXCLUSIVE, "exclusive", WORD, "user|mcs", 0, SL_W(WHOLE_NODES) | SL_W(WHOLE_SWITCHES), \
	  "nodes that no other job shares, or none of another user or MCS label") \
	X(OVERSUBSCRIBE, "oversubscribe", WORD, NULL, 's', SL_W(SHARED_CORES), "cores that others may share") \
	X(OVERCOMMIT, "overcommit", WORD, NULL, 'O', SL_W(OVERCOMMIT) | SL_W(CROWDED), \
	  "one CPU of each node, however many tasks") \
	X(MCS_LABEL, "mcs-label", TEXT, "LABEL", 0, 0, "with that label") \
	X(PREFER, "prefer", TEXT, "FEATURES", 0, SL_W(PREFER), "nodes with these features, where they can be had as soon") \
	X(NODELIST, "nodelist", TEXT, "NODES", 'w', SL_W(NODELIST), "these nodes among them") \
	X(EXCLUDE, "exclude", TEXT, "NODES", 'x', 0, "none of these nodes") \
	X(CONTIGUOUS, "contiguous", WORD, NULL, 0, SL_W(CONTIGUOUS), "consecutive nodes") \
	X(SWITCHES, "switches", TEXT, "N[@TIME]", 0, SL_W(SWITCHES), \
	  "below so many leaf switches, for so long; default: 5 minutes") \
	X(SEGMENT, "segment", TEXT, "N", 0, 0, "in segments of so many nodes, each in one block of topology/block") \
	X(SPREAD_JOB, "spread-job", WORD, NULL, 0, 0, "on as many nodes as may be, evenly") \
	X(USE_MIN_NODES, "use-min-nodes", WORD, NULL, 0, 0, "of a range of nodes as few as do") \
	X(DISTRIBUTION, "distribution", TEXT, "HOW", 'm', SL_W(SOCKETS_IN_TURN) | SL_W(PLANE) | SL_W(ARBITRARY), \
	  "block, cyclic, plane=N or arbitrary; what else follows that word is not looked at") \
	X(RESERVATION, "reservation", TEXT, "NAME[,NAME]...", 0, SL_W(PARTIAL) | SL_W(PARTS_UNKNOWN) | SL_W(RESERVATIONS), \
	  "in that reservation, or the first of them that has room") \
	X(BEGIN, "begin", TEXT, "WHEN", 'b', 0, "not before: now+N[minutes], H:M[:S] or Y-M-D[TH:M[:S]]") \
	X(DEADLINE, "deadline", TEXT, "WHEN", 0, 0, "ended by then") \
	X(TIME_MIN, "time-min", TEXT, "TIME", 0, 0, "for less than its walltime, down to that, where it fits so sooner")

enum sl_word_id {
#define SL_WORD_ID(id, ...) SL_WORD_##id,
	SL_WORDS(SL_WORD_ID)
#undef SL_WORD_ID
	SL_WORD_IDS
};
_Static_assert(SL_WORD_IDS <= 8 * sizeof(sl_word_set), "a bit for each");

struct sl_word_line {
	const char *name;		/* of its id */
	const char *text;
	sl_word_set beside;
	const char *since, *until;	/* "" for all releases */
	const char *why;		/* "": it is never left to select itself */
};
extern const struct sl_word_line sl_word_line[SL_WORD_IDS];

/* The words of *asked* that only select can place beside the others of it; 0: the engine can place it. */
sl_word_set sl_words_left(sl_word_set asked);

#define SL_WORDS_TEXT 256

/* Those words, each with what stands beside it: "--core-spec beside --gres or --gpus; boards"; cut short where *size*
 * ends.  Empty for 0.  Returns *text*. */
const char *sl_words_text(sl_word_set left, sl_word_set asked, char *text, size_t size);

#endif
