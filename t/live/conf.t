#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The engine's reader of slurm.conf against slurmctld itself: random files go to both, and what scontrol shows is
# compared with what the reader says, node by node, partition by partition and switch by switch.
#
# CONF_STARTS and CONF_PARTS say how many files there are, and how many parts each has; CONF_SEED where they begin:
#
#	CONF_STARTS=400 CONF_PARTS=25 ./quickstart test --live conf     # 10,000 parts
#
# A file that is understood otherwise is kept in the cluster's directory, failed-SEED.conf.
. "${0%/*}/live.sh"
CONFS=$SL_BUILD/t/live/confs
[ -x "$CONFS" ] || skip_all "$CONFS is not built"
SL_SCHEDULER=sched/backfill
live_begin 8
STARTS=${CONF_STARTS:-25} PARTS=${CONF_PARTS:-20} SEED=${CONF_SEED:-1}

all_nodes() { scontrol show hostnames "$(cluster_nodelist "$NODES")"; }

# slurm.conf without nodes and partitions, and more behind it; and the one that the cluster came up with.
with_conf() { # LINE...
	local node
	cluster_ctld_kill
	for node in $(all_nodes); do cluster_slurmd_kill "$node"; done
	cp "$C/etc/slurm.conf" "$C/slurm.conf.first"
	cp "$C/etc/gres.conf" "$C/gres.conf.first"
	sed -i '/^NodeName=/d; /^PartitionName=/d; /^Select/d; /^GresTypes/d; /^Include/d; /^PrivateData/d' "$C/etc/slurm.conf"
	rm -f "$C"/etc/{gres,topology}.conf "$C/etc/topology.yaml"
	printf '%s\n' PrivateData=cloud "$@" >> "$C/etc/slurm.conf"
	sed -i '/^\(Resume\|Suspend\)/d' "$C/etc/slurm.conf"
	printf '%s\n' ResumeProgram=/bin/true SuspendProgram=/bin/true SuspendTime=100000 >> "$C/etc/slurm.conf"
}

first_conf() {
	local node
	cp "$C/slurm.conf.first" "$C/etc/slurm.conf"
	cp "$C/gres.conf.first" "$C/etc/gres.conf"
	cluster_ctld_start -c
	for node in $(all_nodes); do cluster_slurmd_start "$node"; done
	wait_for 60 cluster_nodes_ready "$NODES"
}

# What scontrol shows of a node or partition, in the words of "confs show".
in_our_words() {
	awk '
	function word(key, none,    at, rest) {
		at = index($0, " " key "=")
		if (!at) return none
		rest = substr($0, at + length(key) + 2)
		sub(/ .*/, "", rest)
		return rest == "(null)" ? "" : rest
	}
	function scaled(n,    unit) {
		unit = substr(n, length(n))
		return unit ~ /[KMGTP]/ ? int(n) * 1024 ^ index("KMGTP", unit) : n + 0
	}
	# "gpu:a100:2(S:0),gpu:a100:1" -> "gpu:a100:3,"
	function gres(text,    item, n, i, part, parts, key, count, keys, list, j, swap) {
		gsub(/\([^)]*\)?/, "", text)
		n = split(text, item, ",")
		keys = 0
		for (i = 1; i <= n; i++) {
			parts = split(item[i], part, ":")
			count = parts > 1 && part[parts] ~ /^[0-9]/ ? scaled(part[parts--]) : 1
			key = part[1] ":" (parts > 1 ? part[2] : "")
			if (!(key in sum)) { sum[key] = 0; order[++keys] = key }
			sum[key] += count
		}
		for (i = 1; i < keys; i++)
			for (j = i + 1; j <= keys; j++)
				if (order[j] < order[i]) { swap = order[i]; order[i] = order[j]; order[j] = swap }
		for (i = 1; i <= keys; i++) {
			if (sum[order[i]]) list = list order[i] ":" sprintf("%d", sum[order[i]]) ","
			delete sum[order[i]]
		}
		return list
	}
	function listed(text) { return text == "" ? "" : text "," }
	function yes(key) { return word(key, "NO") == "YES" }
	{ $0 = " " $0 " " }
	/^ NodeName=/ {
		print "node " word("NodeName") " cpus=" word("CPUTot") " usable=" word("CPUEfctv") " boards=" word("Boards") \
			" sockets=" word("Sockets") " cores=" word("CoresPerSocket") " threads=" word("ThreadsPerCore") \
			" memory=" word("RealMemory") " mem_spec=" word("MemSpecLimit", 0) " disk=" word("TmpDisk") \
			" weight=" word("Weight") " features=" word("AvailableFeatures") " gres=" gres(word("Gres")) \
			" partitions=" listed(word("Partitions"))
	}
	/^ PartitionName=/ {
		user = yes("ExclusiveUser") || word("Exclusive", "") ~ /USER/
		share = word("OverSubscribe")
		if (word("Exclusive", "") ~ /NODE|TOPO/) share = "EXCLUSIVE"
		user = user && share != "EXCLUSIVE"	# of which 26.05 shows one of both
		print "partition " word("PartitionName") " default=" yes("Default") " hidden=" yes("Hidden") " root=" yes("RootOnly") \
			" lln=" yes("LLN") " user=" user " state=" word("State") " max_time=" word("MaxTime") \
			" default_time=" word("DefaultTime") " min_nodes=" word("MinNodes") " max_nodes=" word("MaxNodes") \
			" max_cpus=" word("MaxCPUsPerNode") " tier=" word("PriorityTier") " factor=" word("PriorityJobFactor") \
			" share=" share
	}'
}

# "topology NODE LEVEL SWITCH" for each switch above a node, or the block that it is in, of those nodes that are there.
switches_in_our_words() { # FILE
	scontrol show topology 2> /dev/null | awk '
	function word(key,    at, rest) {
		at = index($0, " " key "=")
		rest = at ? substr($0, at + length(key) + 2) : ""
		sub(/ .*/, "", rest)
		return rest == "" || rest == "(null)" ? "-" : rest
	}
	{ $0 = " " $0 " " }
	/ SwitchName=/ { print word("Level"), word("SwitchName"), word("Nodes") }
	/ BlockName=/ { print 0, word("BlockName"), word("Nodes") }' | "$CONFS" expand |
		awk 'NR == FNR { there[$2] = 1; next } $2 in there' <(grep '^node ' "$1") -
}

# Nodes with topology/block of 24.11 stand as in the files: all of them have the same rank.
order() {
	if ! slurm_since 25.05 && slurm_since 24.11 && grep -qs '^TopologyPlugin=topology/block' "$C/etc/random.conf"; then sort; else cat; fi
}

# Start slurmctld with no state; what it has is then in words.slurmctld, what the reader says in words.reader.
ask_both() {
	# (clients read the file, too, and say of it what slurmctld says in its log)
	cluster_ctld_start -c 2> /dev/null || return 1
	{ scontrol -a show nodes -o && scontrol -a show partitions -o; } 2> /dev/null | in_our_words | order > "$C/words.nodes"
	{ cat "$C/words.nodes"; switches_in_our_words "$C/words.nodes" | sort; } > "$C/words.slurmctld"
	cluster_ctld_kill
	"$CONFS" show "$C/etc/slurm.conf" > "$C/words.all" 2> "$C/words.notes" || return 1
	grep -v '^topology ' "$C/words.all" | order > "$C/words.reader"
	grep '^topology ' "$C/words.all" | sort >> "$C/words.reader" || true
}

same() {
	ask_both || return 1
	[ -s "$C/words.slurmctld" ] && diff "$C/words.slurmctld" "$C/words.reader"
}

random_files() {
	local i failed=0 series
	series=$("$C/bin/slurmctld" -V | sed -E 's/.* ([0-9]+)\.([0-9]+).*/\1\2/')
	with_conf "Include random.conf"
	for ((i = SEED; i < SEED + STARTS; i++)); do
		rm -f "$C"/etc/part*_schedlua.conf "$C"/etc/topology.{conf,yaml}
		"$CONFS" random "$i" "$PARTS" "$C/etc" "$series"
		same && continue
		failed=$((failed + 1))
		cat "$C"/etc/random.conf "$C"/etc/part*_schedlua.conf "$C"/etc/topology.* > "$C/failed-$i.conf" 2> /dev/null || true
		echo "seed $i: understood otherwise ($C/failed-$i.conf)"
		tail -n 3 "$C/log/slurmctld.log"
		[ $failed -lt 3 ] || break
	done
	first_conf
	[ $failed = 0 ]
}

# Files as sites have them, with what is found in no random one.
write_parallelcluster() {
	mkdir -p "$C/etc/pcluster"
	cat > "$C/etc/fragment.conf" <<-'EOF'
	SelectType=select/cons_tres
	SelectTypeParameters = CR_CPU
	GresTypes=gpu
	SlurmctldParameters=idle_on_node_suspend,power_save_min_interval=30,cloud_dns,node_reg_mem_percent=75
	LaunchParameters=enable_nss_slurm
	include slurm_parallelcluster.conf
	EOF
	cat > "$C/etc/slurm_parallelcluster.conf" <<-EOF
	include $C/etc/pcluster/slurm_parallelcluster_q1_partition.conf
	SuspendExcNodes=q1-st-c5-[1-2]
	EOF
	cat > "$C/etc/pcluster/slurm_parallelcluster_q1_partition.conf" <<-'EOF'
	# This file is automatically generated by pcluster

	NodeName=q1-st-c5-[1-2] NodeAddr=127.0.0.1 CPUs=4 RealMemory=7782 State=CLOUD Feature=static,c5.xlarge,efa Weight=1
	NodeName=q1-dy-p3-[1-10] NodeAddr=127.0.0.1 CPUs=8 RealMemory=58777 State=CLOUD Feature=dynamic,p3.2xlarge,gpu Gres=gpu:v100:1 Weight=1000

	NodeSet=q1_nodes Nodes=q1-st-c5-[1-2],q1-dy-p3-[1-10]
	PartitionName=q1 Nodes=q1_nodes MaxTime=INFINITE State=UP Default=YES PreemptMode=OFF
	EOF
}
write_gcp() {
	mkdir -p "$C/etc"
	cat > "$C/etc/fragment.conf" <<-'EOF'
	GresTypes="gpu"
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core_Memory
	include cloud.conf
	EOF
	cat > "$C/etc/cloud.conf" <<-'EOF'
	SuspendRate=0
	NodeName=DEFAULT State=UNKNOWN RealMemory=14552 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 CPUs=4
	NodeName=hpc-compute-ghpc-[0-9] NodeAddr=127.0.0.1 State=CLOUD
	NodeSet=computeghpc Nodes=hpc-compute-ghpc-[0-9]
	PartitionName=compute Nodes=computeghpc State=UP DefMemPerCPU=3638 SuspendTime=300 Oversubscribe=Exclusive PowerDownOnIdle=NO Default=YES ResumeTimeout=300 SuspendTimeout=300
	NodeSet=x_login Feature=x_login
	EOF
	slurm_since 23.02 || sed -i 's/ PowerDownOnIdle=NO//' "$C/etc/cloud.conf"
}
write_ansible() {
	cat > "$C/etc/fragment.conf" <<-'EOF'
	##
	# SCHEDULING
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	##
	# Nodes
	NodeName=DEFAULT State=UNKNOWN 	    Sockets=2 CoresPerSocket=16 ThreadsPerCore=1
	# openhpc_slurm_partitions group: small
	NodeName=ansible-small-[0-1] NodeAddr=127.0.0.1 RealMemory=3663
	NodeName=ansible-extra-0,ansible-other-[3,5] NodeAddr=127.0.0.1 Features=group_extra RealMemory=3663
	NodeSet=nodegroup_extra Feature=group_extra
	NodeName=nonesuch NodeAddr=127.0.0.1
	PartitionName=small Default=YES MaxTime=86400 State=UP Nodes=	ansible-small-[0-1],nodegroup_extra
	PartitionName=empty Default=NO MaxTime=1-0 State=UP Nodes=nodegroup_none
	NodeSet=nodegroup_none Feature=none_of_them
	EOF
}
write_racks() {
	cat > "$C/etc/fragment.conf" <<-'EOF'
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE
	NodeName=DEFAULT CoresPerSocket=64 Sockets=2 ThreadsPerCore=2 RealMemory=227328 State=UNKNOWN Weight=10
	NodeName=nid[001000-001003,001006] NodeAddr=127.0.0.1 Feature=STANDARD,QUAD
	NodeName=x[1000-1001]c[0-1]s[0-3]b0n[0-1] NodeAddr=127.0.0.1 Feature=rack
	NodeName=nid[002000-002001] NodeAddr=127.0.0.1 RealMemory=515000 Feature=HIGHMEM MemSpecLimit=10240 CpuSpecList=0,128
	NodeName=spare[1-4] NodeAddr=127.0.0.1 State=FUTURE
	DownNodes=nid001000 State=DOWN Reason="being repaired"
	PartitionName=DEFAULT OverSubscribe=EXCLUSIVE MaxTime=4-00:00:00 DefaultTime=00:30:00
	PartitionName=standard Nodes=nid[001000-001003,001006],x[1000-1001]c[0-1]s[0-3]b0n[0-1] Default=TRUE
	PartitionName=highmem Nodes=nid[002000-002001] MaxTime=1-0 PriorityTier=20
	PartitionName=serial Nodes=nid002000 OverSubscribe=NO MinNodes=1 MaxNodes=1 MaxCPUsPerNode=64 AllowAccounts=a,b
	PartitionName=all Nodes=ALL Hidden=1 RootOnly=yes
	EOF
}
write_switches() {
	cat > "$C/etc/fragment.conf" <<-'EOF'
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU_Memory
	GresTypes=gpu
	TopologyPlugin=topology/tree
	NodeName=DEFAULT  Sockets=2 CoresPerSocket=20 ThreadsPerCore=1 RealMemory=187000 State=UNKNOWN
	NodeName=old[001-012] NodeAddr=127.0.0.1 Weight=1 Feature=IB,CPU-OLD,PHASE1
	NodeName=old[013-016] NodeAddr=127.0.0.1 Weight=1 Feature=IB,CPU-OLD,PHASE1,LOCAL_DISK
	NodeName=big[01-02] NodeAddr=127.0.0.1 CoresPerSocket=16 RealMemory=1000000 Weight=4 Feature=IB,CPU-OLD,LM
	NodeName=gpu[01-04] NodeAddr=127.0.0.1 Weight=8 Gres=gpu:2 Feature=IB,CPU-NEW,GPU
	NodeSet=gpunodes Feature=GPU
	NodeSet=phase1 Feature=PHASE1
	PartitionName=DEFAULT MaxTime=3-00:00:00 DefaultTime=1-00:00:00 State=UP DefMemPerCPU=2800
	PartitionName=general Nodes=phase1,gpunodes,big[01-02] Default=YES PriorityTier=2
	PartitionName=short Nodes=old[013-016] MaxTime=01:00:00 PriorityTier=100
	PartitionName=lm Nodes=big[01-02] PriorityJobFactor=10 LLN=YES
	PartitionName=drained Nodes=ALL State=DRAIN Hidden=YES AllowGroups=root AllowAccounts=a,b
	PartitionName=nothing
	EOF
	cat > "$C/etc/topology.conf" <<-'EOF'
	# (of nodes that were taken away, too)
	SwitchName=leaf1 Nodes=old[001-008],old[090-099]
	SwitchName=leaf2 Nodes=old[009-016],big[01-02]
	SwitchName=leaf3 Nodes=gpu[01-04] LinkSpeed=100
	SwitchName=spine Switches=leaf[1-2]
	SwitchName=top Switches=spine,leaf3
	EOF
}
fragments() {
	local f failed=0
	with_conf "Include fragment.conf"
	for f in parallelcluster gcp ansible racks switches; do
		rm -f "$C/etc/topology.conf"
		"write_$f"
		same && continue
		failed=1
		echo "$f: understood otherwise"
		tail -n 3 "$C/log/slurmctld.log"
	done
	first_conf
	[ $failed = 0 ]
}
it "files as sites have them are understood as slurmctld does" fragments
it "$STARTS random files of $PARTS parts each are understood as slurmctld does" random_files

live_end
