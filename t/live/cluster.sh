# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# cluster.sh - a throw-away Slurm cluster on one machine, for sourcing by bash.
#
# One directory holds all of it: key, socket, configuration, state, logs.  One
# munged, one slurmctld, one slurmd per node, on loopback, all as root, from the
# distribution's binaries, or those of SL_SLURM.  Everything that it starts carries the variable
# SCHEDLUA_CLUSTER=<directory> in its environment or (slurmstepd, which writes its
# title over its environment) works in the log directory: that is how cluster_down
# finds what is left, jobs too, and ends it, by pid.
#
#   cluster_dir DIR                which directory (made when needed)
#   cluster_up NODES [LINE...]     configure and start; each LINE replaces or adds
#                                  a line of slurm.conf ("KillWait=1",
#                                  "PartitionName=p Nodes=n[1-4] Default=YES")
#   cluster_conf KEY=VALUE...      change slurm.conf of a running cluster
#   cluster_site < FILE            put a site file in place (sched.lua)
#   cluster_ctld_start | cluster_ctld_kill [SIGNAL] | cluster_ctld_pid
#   cluster_slurmd_start NODE | cluster_slurmd_kill NODE [SIGNAL]
#   cluster_down                   end everything that this process has started there, or one that was killed; 1 if something
#                                  had to be killed
#   cluster_logs                   the interesting tail of the logs
#   wait_for SECONDS COMMAND...    poll until COMMAND succeeds, bounded; longer on a busy machine
#
# What can be set before: SL_PREFIX (where sched/lua is installed; without it the
# stock scheduler is used), SL_PLUGINDIR, SL_SCHEDULER, SL_NODE_SHAPE, SL_NODE_KINDS
# ("Feature=a Feature=b": the first half of the nodes has a, the second b), SL_CLOUD (not
# empty: nodes of the cloud, without slurmd: a job that starts on them stays CONFIGURING, so there
# may be any number of them), SL_BUDGET (seconds that a policy may take, where nothing else is said), SL_PORT, SL_SLURM_USER,
# and SL_SLURM (a Slurm of one's own; HACKING.md says what for).

# shellcheck source=t/live/releases.sh
. "${BASH_SOURCE[0]%/*}/releases.sh"

if [ -n "${SL_SLURM-}" ]; then
	PATH=$SL_SLURM/sbin:$SL_SLURM/bin:$PATH
fi
SL_SLURM_PLUGINS=${SL_SLURM_PLUGINS:-$(dirname "$(find "${SL_SLURM:-/usr/}"/lib* -path '*/slurm*/sched_backfill.so' 2>/dev/null | head -n 1)")}
SL_NODE_SHAPE=${SL_NODE_SHAPE:-CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2}
SL_PORT=${SL_PORT:-23917}	# slurmctld's lowest port
SL_PORT_NODES=84		# slurmd ports begin that far above slurmctld's
SL_PORT_STRIDE=300		# from one place to look at to the next
SL_PORT_PLACES=28		# so many: all below 32768, where other programs' ports begin
SL_PORT_LOCKS=/run/lock
[ -w "$SL_PORT_LOCKS" ] || SL_PORT_LOCKS=${TMPDIR:-/tmp}

cluster_say() { echo "cluster: $*" >&2; }

# ---------------------------------------------------------------- the directory

cluster_dir() {
	mkdir -p "$1" || return 1
	C=$(cd "$1" && pwd -P)
	export SCHEDLUA_CLUSTER=$C SLURM_CONF=$C/etc/slurm.conf
	# Slurm leaks by design, and its plug-ins have variables of the same name as slurmctld; freed
	# memory that is kept for long would look like growth
	export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0:quarantine_size_mb=16:log_path=$C/log/sanitizer
	if [ ${#C} -gt 88 ]; then
		cluster_say "$C: too long for a socket's name (88 characters); choose another directory"
		return 1
	fi
	if [[ $C == *[[:space:]]* ]]; then
		cluster_say "$C: Slurm cannot use a path with a space in it"
		return 1
	fi
}

# sched/lua trusts no file that somebody else than root or SlurmUser could have
# put there.  So a clone in a user's directory gets a cluster with that SlurmUser.
cluster_slurm_user() {
	local path owner
	SL_USER=${SL_SLURM_USER:-root}
	for path in "$C" ${SL_PREFIX:+"$SL_PREFIX"}; do
		while [ "$path" != / ]; do
			owner=$(stat -c %U "$path")
			[ "$owner" = root ] || [ "$SL_USER" != root ] || SL_USER=$owner
			if [ "$owner" != root ] && [ "$owner" != "$SL_USER" ] || [ "$owner" = UNKNOWN ]; then
				cluster_say "$path: owned by $owner; policies are read only where all directories belong to root or one user"
				return 1
			fi
			if [ -n "$(find "$path" -maxdepth 0 -perm /022 ! -perm -1000)" ] && ! cluster_not_for_others "$path"; then
				cluster_say "$path: others may write there; policies are not read from such a place: chmod go-w $path"
				return 1
			fi
			path=$(dirname "$path")
		done
	done
}

# What is ours we may close: the clone and what is in it.
cluster_not_for_others() {
	local top
	top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
	[[ $1/ == $top/* ]] && chmod go-w "$1"
}

cluster_make_dirs() {
	cluster_slurm_user || return 1
	rm -rf "$C/state" "$C/spool" "$C/log" "$C/run"
	mkdir -p "$C"/{bin,etc,munge,state,spool,log,run,dev,jobs}
	chmod 755 "$C" "$C"/{bin,etc,munge,state,spool,log,run,dev,jobs}
	chown "$SL_USER" "$C"/{state,log,run}
}

# Slurm's daemons look at argv[0]: they must have their upstream names.
cluster_link_daemons() {
	local d f
	for d in slurmctld slurmd slurmstepd; do
		for f in "${SL_SLURM:+$SL_SLURM/sbin/$d}" "/usr/sbin/$d-wlm" "/usr/sbin/$d" "$(command -v $d)"; do
			[ -x "$f" ] && break
		done
		[ -x "$f" ] || { cluster_say "$d: not installed"; return 1; }
		ln -sfn "$f" "$C/bin/$d"
	done
}

# Started by root the engine becomes nobody, who does not get into a clone in root's own
# directory: there it has to stay root.
cluster_lua_user() {
	local path
	[ "$SL_USER" = root ] || return 0
	for path in "$C" ${SL_PREFIX:+"$SL_PREFIX"}; do
		while [ "$path" != / ]; do
			[ -n "$(find "$path" -maxdepth 0 -perm -001)" ] || { echo ",lua_user=root"; return; }
			path=$(dirname "$path")
		done
	done
}

# LINE of SchedulerParameters: with what each cluster's has, unless it says something else.
cluster_lua_words() {
	local user='' budget=''
	[[ $1 == *lua_user=* ]] || user=$(cluster_lua_user)
	[[ $1 == *lua_budget=* ]] || budget=${SL_BUDGET:+,lua_budget=$SL_BUDGET}
	echo "$1$user$budget"
}

# ---------------------------------------------------------------- configuration

# slurmd wants a character device for each GPU: these stand for two.
cluster_gres_conf() {
	local i
	for i in 0 1; do
		[ -c "$C/dev/gpu$i" ] || mknod "$C/dev/gpu$i" c 1 3 2>/dev/null
	done
	if [ -c "$C/dev/gpu1" ]; then
		echo "Name=gpu File=$C/dev/gpu[0-1]"
	else			# no right to make devices (a container)
		echo "Name=gpu File=/dev/tty[0-1]"
	fi
}

cluster_scheduler_lines() {
	local s=${SL_SCHEDULER-}
	[ -n "$s" ] || { [ -n "${SL_PLUGINDIR-}" ] && s=sched/lua; }
	case ${s:=sched/backfill} in
	sched/lua) echo "SchedulerType=sched/lua"; cluster_lua_words "SchedulerParameters=defer,sched_interval=-1" ;;
	*) echo "SchedulerType=$s"; echo "SchedulerParameters=bf_interval=1,sched_interval=2,sched_min_interval=0,default_queue_depth=2000" ;;
	esac
}

# The node names n001 ... for N nodes, as a hostlist; or from the Ath on to the Bth of them.
cluster_nodelist() { # N [A B]
	local w=${#1}
	[ "$w" -ge 3 ] || w=3
	printf 'n[%0*d-%0*d]' "$w" "${2:-1}" "$w" "${3:-$1}"
}

# A line for each kind of node.
cluster_node_lines() { # NODES FIRST_PORT
	local -a kinds
	local i a b names more
	read -ra kinds <<< "${SL_NODE_KINDS:-Weight=1}"
	for i in "${!kinds[@]}"; do
		a=$((i * $1 / ${#kinds[@]})) b=$(((i + 1) * $1 / ${#kinds[@]} - 1))
		names=$(cluster_nodelist "$1" $((a + 1)) $((b + 1)))
		more="NodeHostname=localhost Port=[$(($2 + a))-$(($2 + b))]"
		# (slurmctld looks up host names one after the other where they are the same)
		[ -z "${SL_CLOUD-}" ] || more="NodeHostname=$names Port=$2 State=CLOUD"
		echo "NodeName=$names NodeAddr=127.0.0.1 $more $SL_NODE_SHAPE ${kinds[$i]}"
	done
}

# Nodes that nothing wakes, or puts to sleep, and that are seen although they sleep.
cluster_cloud_lines() {
	[ -n "${SL_CLOUD-}" ] || return 0
	cat <<-EOC
	SuspendProgram=/bin/true
	ResumeProgram=/bin/true
	ResumeTimeout=60000
	ResumeRate=0
	SuspendTime=100000
	PrivateData=cloud
	EOC
}

# (Timeouts are those of a machine on which any process may be kept from running for many seconds: no client gives up, no job
# is taken to be lost that was not launched yet, no node is drained, and ended jobs are known until their test has looked.)
# cluster_slurm_conf NODES PORT [LINE...]
cluster_slurm_conf() {
	local nodes=$1 port=$2 first=$(($2 + SL_PORT_NODES)) line
	shift 2
	local -a lines=("$@")
	{
		cat <<-EOC
		ClusterName=schedlua
		SlurmctldHost=localhost(127.0.0.1)
		SlurmUser=$SL_USER
		SlurmdUser=root
		SlurmctldPort=$port
		CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$C/munge/sock
		StateSaveLocation=$C/state
		SlurmdSpoolDir=$C/spool/%n
		SlurmctldPidFile=$C/run/slurmctld.pid
		SlurmdPidFile=$C/run/slurmd-%n.pid
		SlurmctldLogFile=$C/log/slurmctld.log
		SlurmdLogFile=$C/log/slurmd-%n.log
		SlurmctldDebug=verbose
		SlurmdDebug=error
		PluginDir=${SL_PLUGINDIR:+$SL_PLUGINDIR:}$SL_SLURM_PLUGINS
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		MailProg=/bin/true
		ReturnToService=2
		SlurmctldTimeout=300
		SlurmdTimeout=300
		InactiveLimit=0
		MinJobAge=3600
		MessageTimeout=30
		BatchStartTimeout=300
		UnkillableStepTimeout=300
		KillWait=2
		WaitTime=0
		MaxJobCount=20000
		MaxArraySize=2001
		TreeWidth=65533
		SlurmdParameters=config_overrides
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		PriorityType=priority/basic
		AccountingStorageType=accounting_storage/none
		JobAcctGatherType=jobacct_gather/none
		JobCompType=jobcomp/filetxt
		JobCompLoc=$C/log/jobcomp.txt
		GresTypes=gpu
		PropagateResourceLimits=NONE
		EOC
		cluster_scheduler_lines
		cluster_cloud_lines
		[[ " ${lines[*]} " == *NodeName=* ]] || cluster_node_lines "$nodes" "$first"
		[[ " ${lines[*]} " == *PartitionName=* ]] ||
			echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
	} > "$C/etc/slurm.conf"
	cluster_conf "${lines[@]}"
}

# Replace the line with this key in the slurm.conf to come, or add it.
cluster_conf_line() {
	local key=${1%%=*} value=${1#*=}
	[[ $1 != SchedulerParameters=*@(sched_interval=-1|lua_shadow=)* ]] || set -- "$(cluster_lua_words "$1")"
	case $key in
	PartitionName | NodeName | DownNodes) key="$key=${value%% *}" ;;
	esac
	awk -v key="$key" -v line="$1" '
		BEGIN { want = tolower(key) }
		{ k = tolower($0) }
		k == want || index(k, want "=") == 1 || index(k, want " ") == 1 { if (!done) print line; done = 1; next }
		{ print }
		END { if (!done) print line }' "$C/etc/slurm.conf.new" > "$C/etc/slurm.conf.next" &&
		mv "$C/etc/slurm.conf.next" "$C/etc/slurm.conf.new"
}

# All of them at once: a slurmd that still reads what it was told to read before must not see one without the other.
cluster_conf() { # LINE...
	local line
	cp "$C/etc/slurm.conf" "$C/etc/slurm.conf.new" || return 1
	for line; do cluster_conf_line "$line" || return 1; done
	mv "$C/etc/slurm.conf.new" "$C/etc/slurm.conf"
}

# The site file is read with suspicion: whole, owned by root, not for others to write.
cluster_site() {
	cat > "$C/etc/sched.lua.new" && chmod 644 "$C/etc/sched.lua.new" && mv "$C/etc/sched.lua.new" "$C/etc/sched.lua"
}

cluster_default_site() {
	cluster_site <<-'EOL'
	local sched = require "sched"
	return sched.site { interval = 1, default = { "easy" } }
	EOL
}

cluster_configure() {
	[ -f "$C/etc/sched.lua" ] || cluster_default_site
	cluster_slurm_conf "$@" && cluster_gres_conf > "$C/etc/gres.conf" || return 1
	slurm_cgroup_conf > "$C/etc/cgroup.conf"
	slurm_other_conf "$C/etc"
	chmod 644 "$C"/etc/*.conf
}

# ------------------------------------------------------------------------ ports

# Ports in LISTEN state on this machine, decimal, one per line.
cluster_ports_taken() {
	local hex
	awk 'FNR > 1 && $4 == "0A" { split($2, a, ":"); print a[2] }' /proc/net/tcp /proc/net/tcp6 2>/dev/null |
		while read -r hex; do echo $((16#$hex)); done
}

# cluster_take_port NODES TRY : PORT, a base port with all the ports of a cluster unused, and this
# cluster's until it is down: between two lives of its slurmctld they look free.
# Where it begins to look follows from the directory and the try, so that clusters
# that start at the same moment do not look at the same place.
cluster_take_port() {
	local taken base i start
	cluster_leave_port
	taken=$(cluster_ports_taken)
	start=$(cksum <<< "$C $2")
	start=${start%% *}
	for ((i = 0; i < SL_PORT_PLACES; i++)); do
		base=$((SL_PORT + (start + i) % SL_PORT_PLACES * SL_PORT_STRIDE))
		[ $((base + SL_PORT_NODES + $1)) -lt 32768 ] || continue
		awk -v a="$base" -v b="$((base + SL_PORT_NODES + $1))" '$1 >= a && $1 <= b { exit 1 }' <<< "$taken" ||
			continue
		exec {CLUSTER_PORT_LOCK}> "$SL_PORT_LOCKS/schedlua-port-$base"
		if flock -n "$CLUSTER_PORT_LOCK"; then
			PORT=$base
			return
		fi
		cluster_leave_port
	done
	return 1
}

CLUSTER_PORT_LOCK=
cluster_leave_port() {
	[ -z "$CLUSTER_PORT_LOCK" ] || exec {CLUSTER_PORT_LOCK}>&-
	CLUSTER_PORT_LOCK=
}

# ---------------------------------------------------------------------- daemons

cluster_munged_start() {
	[ -f "$C/munge/key" ] || (umask 077; dd if=/dev/urandom of="$C/munge/key" bs=1024 count=1 status=none)
	chmod 400 "$C/munge/key"
	LD_PRELOAD='' munged --force --key-file="$C/munge/key" --socket="$C/munge/sock" --pid-file="$C/run/munged.pid" \
		--log-file="$C/log/munged.log" --seed-file="$C/munge/seed" --num-threads=4 2> "$C/log/munged.err" ||
		{ cat "$C/log/munged.err" >&2; return 1; }
}

# A pid file may outlive its daemon, and the pid be another process's by then.
cluster_pid_of() { # PIDFILE : its pid, if that process lives and is ours
	local pid
	{ read -r pid < "$1"; } 2>/dev/null && [ -n "$pid" ] && ! cluster_gone "$pid" &&
		grep -qszxF "SCHEDLUA_CLUSTER=$C" "/proc/$pid/environ" && echo "$pid"
}

cluster_ctld_pid() { cluster_pid_of "$C/run/slurmctld.pid" || slurm_ctld_anew; }
cluster_ctld_answers() { [[ $(scontrol ping 2>/dev/null) == *" is UP"* ]]; }

cluster_ctld_start() { # [-c to begin with no state]
	"$C/bin/slurmctld" "$@" > "$C/log/slurmctld.out" 2>&1 || { cat "$C/log/slurmctld.out" >&2; return 1; }
	wait_for 20 cluster_ctld_decided
	cluster_ctld_answers
}

# It answers, or has given up.
cluster_ctld_decided() {
	cluster_ctld_answers || tail -n 5 "$C/log/slurmctld.log" | grep -q '\] fatal: '
}

cluster_ctld_kill() { # [SIGNAL] : and wait until it is gone
	local pid
	pid=$(cluster_ctld_pid) || return 0
	kill -"${1:-TERM}" "$pid"
	wait_for 20 cluster_gone "$pid"
}

# [JOBID] : slurmctld's file of jobs has all that happened until now (what it had not saved yet when it is killed is not the
# scheduler's to keep): it has a comment that is given now to JOBID, or to any job that has not ended. (That the file is newer
# than a change says less: it may have been packed before.)
cluster_save_jobs() {
	local mark="saved-$BASHPID-$RANDOM$RANDOM"
	wait_for 30 cluster_mark_job "$mark" "$@"
	wait_for 60 grep -qaF "$mark" "$C/state/job_state"
}
cluster_mark_job() { # MARK [JOBID]
	local id=${2:-$(squeue -h -t PD,R -o %A | tail -n 1)}
	scontrol update JobId="$id" Comment="$1"
}

cluster_gone() { # PID : it has ended, reaped or not
	local stat
	{ read -r stat < "/proc/$1/stat"; } 2>/dev/null || return 0
	[[ $stat == *") Z "* ]]
}

cluster_slurmd_start() {
	mkdir -p "$C/spool/$1"
	"$C/bin/slurmd" -N "$1" -d "$C/bin/slurmstepd" >> "$C/log/slurmd.out" 2>&1
}

cluster_slurmd_kill() { # NODE [SIGNAL]
	local pid
	pid=$(cluster_pid_of "$C/run/slurmd-$1.pid") || return 0
	kill -"${2:-TERM}" "$pid"
	wait_for 10 cluster_gone "$pid"
}

cluster_nodes_ready() { # NODES
	[ "$(sinfo -h -N -o '%N %T' 2>/dev/null | sort -u | grep -cE ' (idle|mixed|allocated|completing)[~#]?$')" -ge "$1" ]
}

# So many daemons, of so many nodes.
cluster_slurmds() { if [ -n "${SL_CLOUD-}" ]; then echo 1; else echo "$1"; fi; }

# ------------------------------------------------------------------- up and down

# A directory has one cluster, of the process that started it: nobody else ends that while the process lives.
# Is the cluster there of another one?  (One that this process has started is its own.)
cluster_is_anothers() {
	local owner parent
	owner=$(cat "$C/owner" 2> /dev/null) && [ -n "$owner" ] && grep -qsa bash "/proc/$owner/cmdline" || return 1
	parent=$owner
	while [ "${parent:-0}" -gt 1 ]; do
		[ "$parent" != $$ ] || return 1
		parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$parent/status" 2> /dev/null)
	done
	return 0
}

cluster_claim() {
	until (set -C; echo $$ > "$C/owner") 2> /dev/null; do
		if cluster_is_anothers; then
			cluster_say "$C: a cluster runs here already, of pid $(cat "$C/owner"): wait for it, end it, or take another directory"
			return 1
		fi
		rm -f "$C/owner"	# its owner was killed, or is us
	done
}

cluster_up() {
	local nodes=$1 try node
	shift
	[ "$(id -u)" = 0 ] || { cluster_say "a cluster needs root"; return 1; }
	cluster_claim || return 1
	cluster_down || true
	cluster_make_dirs && cluster_link_daemons && cluster_munged_start || return 1
	for try in 0 1 2 3; do		# another cluster may take the port meanwhile
		cluster_take_port "$(cluster_slurmds "$nodes")" "$try" || { cluster_say "no free ports"; return 1; }
		cluster_configure "$nodes" "$PORT" "$@" || return 1
		: > "$C/log/slurmctld.log"
		cluster_ctld_start -c && break
		grep -q 'Address already in use' "$C/log/slurmctld.log" || { cluster_logs; return 1; }
	done
	for node in $([ -n "${SL_CLOUD-}" ] || scontrol show hostnames "$(cluster_nodelist "$nodes")"); do
		cluster_slurmd_start "$node" || { cat "$C/log/slurmd.out" >&2; return 1; }
	done
	wait_for $((20 + nodes / 8)) cluster_nodes_ready "$nodes" && return
	cluster_say "nodes did not come up:"
	sinfo -N >&2
	cluster_logs
	return 1
}

# Pids of everything that belongs to the cluster: marked, a daemon that works in
# the log directory, or child of one of them.
cluster_pids() {
	local -A mine=() parent=()
	local pid stat state rest grown=1 p=$$
	for pid in $(grep -lszxF "SCHEDLUA_CLUSTER=$C" /proc/[0-9]*/environ | tr -dc '0-9\n'); do mine[$pid]=1; done
	for stat in /proc/[0-9]*/stat; do
		{ read -r rest < "$stat"; } 2>/dev/null || continue
		pid=${rest%% *}
		read -r state "parent[$pid]" _ <<< "${rest##*) }"
		[ "$state" = Z ] && { unset "mine[$pid]" "parent[$pid]"; continue; }
		[[ /proc/$pid/cwd -ef $C/log ]] && mine[$pid]=1
	done
	while [ $grown = 1 ]; do
		grown=0
		for pid in "${!parent[@]}"; do
			[ -n "${mine[${parent[$pid]}]-}" ] && [ -z "${mine[$pid]-}" ] && mine[$pid]=1 && grown=1
		done
	done
	for ((p = BASHPID; p > 1; p = parent[$p])); do	# not ourselves, nor who called us
		unset "mine[$p]"
		[ -n "${parent[$p]-}" ] || break
	done
	for pid in "${!mine[@]}"; do	# those that read /proc for us are gone by now
		[ -n "${parent[$pid]-}" ] && echo "$pid"
	done
	return 0
}

cluster_is_empty() { [ -z "$(cluster_pids)" ]; }

# Let the daemons end by themselves, then kill what is left of jobs; return 1 (and
# say which) when a daemon had to be killed.
cluster_down() {
	local f pid status=0
	local -a pids=()
	[ -n "${C-}" ] || return 0
	! cluster_is_anothers || return 0
	for f in "$C"/run/slurmctld.pid "$C"/run/slurmd-*.pid; do
		pid=$(cluster_pid_of "$f") && kill "$pid" 2>/dev/null && pids+=("$pid")
	done
	for pid in "${pids[@]}"; do
		wait_for 15 cluster_gone "$pid" || { cluster_say "pid $pid did not end: $(cluster_cmdline "$pid")"; status=1; }
	done
	for pid in $(cluster_pids); do
		[ "$pid" = "$(cat "$C/run/munged.pid" 2>/dev/null)" ] || kill -9 "$pid" 2>/dev/null
	done
	pid=$(cluster_pid_of "$C/run/munged.pid") && kill "$pid" 2>/dev/null
	wait_for 10 cluster_is_empty || {
		for pid in $(cluster_pids); do
			cluster_say "killed pid $pid: $(cluster_cmdline "$pid")"
			kill -9 "$pid" 2>/dev/null
		done
		status=1
	}
	cluster_leave_port
	return $status
}

cluster_cmdline() { { tr '\0' ' ' < "/proc/$1/cmdline"; } 2>/dev/null; }

cluster_logs() {
	local f
	for f in "$C/log/slurmctld.log" "$C"/log/slurmd.out; do
		[ -s "$f" ] || continue
		echo "--- $f (end)"
		tail -n "${1:-25}" "$f"
	done >&2
	for f in $(cluster_sanitizers); do
		echo "--- $f"
		head -n 60 "$f"
	done >&2
}

# What sanitizers have found, in daemons and clients that were built with them.
cluster_sanitizers() { find "$C/log" -maxdepth 1 -name 'sanitizer.*' -size +0; }

# ------------------------------------------------------------------------- wait

# wait_for SECONDS COMMAND... : poll until it succeeds; 1 when the time is over.  The time is that of an
# idle machine; on a busy one it is longer.  It is a minute at least: who waits for less than a
# process may be kept from running finds a fault where there is none, and a longer bound costs time only when a test fails.
# What does not come within three seconds is asked for less often: to ask takes a processor that others want.
# (The names are such as no COMMAND has: it would see these.)
wait_for() {
	local wait_bound=$(($1 > 60 ? $1 : 60)) wait_begun=$SECONDS wait_busy=1 wait_looks=0
	shift
	until "$@"; do
		if ((wait_looks++ % 60 == 0)); then wait_busy=$(cluster_busiest "$wait_busy"); fi
		if ((wait_looks > 60 && SECONDS - wait_begun >= wait_bound * wait_busy)); then return 1; fi
		LD_PRELOAD='' sleep "0.$((SECONDS - wait_begun < 3 ? 1 : 5))"
	done
}

# TIMES : or as busy as it is now, if that is more
cluster_busiest() {
	local now
	now=$(cluster_busy)
	echo $((now > $1 ? now : $1))
}

# How many processes there are for each processor, from 1 to 5: so many times as long may all take here.
cluster_busy() {
	local load times
	read -r load _ < /proc/loadavg
	times=$((${load%.*} / $(getconf _NPROCESSORS_ONLN)))
	echo $((times < 1 ? 1 : times > 5 ? 5 : times))
}
