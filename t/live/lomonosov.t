#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What Leonenkov and Zhumatiy (2015) built outside of Slurm for the Lomonosov supercomputer, in
# one site file on one cluster: limits of CPU-hours, layers that are edited while it runs, nodes
# of other partitions from a layer on, quotas of a period, and a policy for each partition.
. "${0%/*}/live.sh"
needs_plugin
schedlua engine --help > /dev/null 2>&1 || "$TOP/.work/inst/bin/schedlua" engine --help > /dev/null 2>&1 ||
	skip_all "this schedlua has no engine"
LIVE_LINES=(
	"PartitionName=regular4 Nodes=n[001-008] Default=YES MaxTime=3-00:00:00 State=UP"
	"PartitionName=regular6 Nodes=n[009-012] MaxTime=1-00:00:00 State=UP"
	"PartitionName=test Nodes=n[001-002] PriorityTier=2 MaxTime=60 State=UP"
	"PartitionName=all Nodes=ALL RootOnly=YES Hidden=YES MaxTime=INFINITE State=UP"
	ReturnToService=0
)
live_begin 12 "SchedulerParameters=defer,sched_interval=-1,lua_interval=0.3,lua_wake=50"

# A file beside the site file, whole or not at all.
edit() { # NAME < TEXT
	cat > "$C/etc/$1.new" && chmod 644 "$C/etc/$1.new" && mv "$C/etc/$1.new" "$C/etc/$1"
}

usual_files() {
	edit limits.conf <<-EOL
	default          64 cpu-hours
	user     root    unlimited
	EOL
	edit monthly.conf <<-EOL
	default          10000 cpu-hours
	user     games   20 cpu-hours
	EOL
	edit layers.conf <<-EOL
	default          100
	user     daemon  200
	user     bin     1000
	user     root    50
	EOL
}

usual_files
cluster_site <<-'EOL'
local sched = require "sched"
local layers = sched.layers { file = "layers.conf" }
return sched.site {
  interval = 1,
  partitions = {
    regular4 = {
      sched.quota { limits = "limits.conf" },
      sched.quota { limits = "monthly.conf", period = "30d", name = "monthly" },
      layers,
      sched.borrow { from = "regular6", through = "all", layer = 1000, layers = layers },
      "easy",
    },
    regular6 = { layers, "conservative" },
    test = "fcfs",
  },
}
EOL
scontrol reconfigure
wait_for 15 status_says policy borrow || { echo "Bail out! the site file is not in force"; cluster_logs; exit 1; }

# A job of a user; it holds its nodes whole: 8 CPUs each.
as() { # USER OPTION...
	local user=$1
	shift
	submit --uid="$user" --chdir=/tmp --exclusive "$@"
}
in_partition() { [ "$(squeue -h -a -j "$1" -t all -o %P | head -n 1)" = "$2" ]; }
explains() { schedlua explain --dir="$C/state/schedlua" "$1" 2>/dev/null | grep -qE -- "$2"; }	# JOBID REGEX
nodes_of() { expand "$(job_nodes "$1")" | wc -l; }

# ------------------------------------------------------------ control of CPU-hours

over_the_limit() {
	local first over other
	first=$(as daemon -N4 -t 60)			# 4 x 8 x 1 h = 32
	starts "$first"
	over=$(as daemon -N1 -t 300)			# 40 more
	other=$(as $STRANGER -N2 -t 30)
	starts "$other"
	stays_pending "$over"
	wait_for 10 job_waits_for "$over" 'user.daemon.holds.32.of.64.cpu-hours,.asks.for.40'
	edit limits.conf <<-EOL
	default          64 cpu-hours
	user     daemon  72 cpu-hours
	user     root    unlimited
	EOL
	mark_log
	starts "$over"
	fails log_said 'loaded from'			# no reload
	usual_files
}
it "a user over the limit waits with the reason while others start, and starts once his exception is edited" over_the_limit

freed() {
	local first over
	first=$(as daemon -N4 -t 60)
	starts "$first"
	over=$(as daemon -N1 -t 300)
	stays_pending "$over"
	scancel "$first"
	starts "$over"
}
it "or when what he holds ends" freed

# --------------------------------------------------------------------------- layers

layered() {
	local filler low high
	filler=$(submit -N8 --exclusive -t 60)
	starts "$filler"
	low=$(as $STRANGER -N5 -t 60)			# layer 100, and first
	high=$(as daemon -N5 -t 60)			# layer 200
	stays_pending "$high"
	scancel "$filler"
	starts "$high"
	job_is "$low" PENDING
}
it "a user of a higher layer goes first" layered

relayered() {
	local filler low high
	filler=$(submit -N8 --exclusive -t 60)
	starts "$filler"
	low=$(as $STRANGER -N5 -t 60)
	high=$(as daemon -N5 -t 60)
	stays_pending "$high"
	edit layers.conf <<-EOL
	default          100
	user     $STRANGER  300
	user     daemon  200
	user     root    50
	EOL
	scancel "$filler"
	starts "$low"
	job_is "$high" PENDING
	usual_files
}
it "and the next cycle knows when the layers were edited" relayered

# ------------------------------------------------------------------------- borrowing

borrowed() {
	local filler low high own
	filler=$(submit -N6 --exclusive -t 1200)
	starts "$filler"
	low=$(as daemon -N4 -t 60)
	high=$(as bin -N4 -t 60)
	starts "$high"					# 2 of regular4, 2 of regular6
	in_partition "$high" all
	[ "$(nodes_of "$high")" = 4 ]
	job_is "$low" PENDING
	wait_for 10 explains "$high" 'borrowing nodes of partition regular6 through partition all \(layer 1000 may'
	own=$(submit -p regular6 -N4 --exclusive -t 60)
	stays_pending "$own"
	scancel "$high"
	starts "$own"
	in_partition "$own" regular6
}
it "from a layer on users get nodes of another partition, which are given back" borrowed

counted() {
	local filler high more
	filler=$(submit -N6 --exclusive -t 1200)
	starts "$filler"
	high=$(as bin -N4 -t 60)			# 32 of 64
	starts "$high"
	in_partition "$high" all
	more=$(as bin -N1 -t 300)			# 40 more
	stays_pending "$more"
	wait_for 10 job_waits_for "$more" 'user.bin.holds.32.of.64'
}
it "borrowed nodes count for the limit of the user's own partition" counted

# ---------------------------------------------------------------------- period quota

monthly() {
	local first over other
	first=$(as games -N1 -t 120)			# 16 of 20
	starts "$first"
	over=$(as games -N1 -t 60)			# 8 more
	other=$(as $STRANGER -N1 -t 60)
	starts "$other"
	stays_pending "$over"
	wait_for 10 job_waits_for "$over" 'monthly:.user.games.has.16.of.20'
	edit monthly.conf <<-EOL
	default          10000 cpu-hours
	user     games   24 cpu-hours
	EOL
	starts "$over"
	usual_files
}
it "a user over his quota of 30 days waits, until it is raised" monthly

# What was used before counts as well: here an administrator says so.
used_before() {
	local over other
	! schedlua ledger verify --dir="$C/state/schedlua" 2>&1 | grep 'built without SQLite' || skip "no ledger"
	schedlua ledger adjust --dir="$C/state/schedlua" --user=games --partition=regular4 --cpu=13:00:00 \
		--reason="what another cluster counted"
	over=$(as games -N1 -t 60)			# 8 more than 13 of 20
	other=$(as games -N1 -t 30)			# 4 more
	starts "$other"
	stays_pending "$over"
	wait_for 10 job_waits_for "$over" 'monthly:.user.games.has.1[7-9].*of.20'
	scancel "$over" "$other"
	schedlua ledger adjust --dir="$C/state/schedlua" --user=games --partition=regular4 --cpu=-13:00:00 \
		--reason="and does no more"
	starts "$(as games -N1 -t 60)"
}
it "what he used in the last 30 days counts" used_before

# -------------------------------------------------------- a policy for each partition

each_its_own() {
	local wide short filler first second head behind
	first=$(submit -p test -N1 --exclusive -t 30)
	starts "$first"
	wide=$(submit -p test -N2 --exclusive -t 30)
	short=$(submit -p test -N1 --exclusive -t 1)
	stays_pending "$short"				# fcfs: nobody goes past
	filler=$(submit -N4 --exclusive -t 30)
	starts "$filler"
	head=$(submit -N8 --exclusive -t 30)
	behind=$(submit -N1 --exclusive -t 5)
	starts "$behind"				# easy: it does not delay the head
	job_is "$wide" PENDING
	job_is "$head" PENDING
	second=$(submit -p regular6 -N4 --exclusive -t 30)
	starts "$second"
	wait_for 10 explains "$short" '\[fcfs\]'
	wait_for 10 explains "$behind" 'started.*\[quota\+monthly\+layers\+borrow\+easy\]'
	wait_for 10 explains "$head" 'expected to start.*\[quota\+monthly\+layers\+borrow\+easy\]'
	wait_for 10 explains "$second" 'started.*\[layers\+conservative\]'
}
it "each partition has its own policy, and the journal says which one decided" each_its_own

one_timeline() {
	local filler wide quick
	filler=$(submit -N8 --exclusive -t 60)
	starts "$filler"
	wide=$(submit -N8 --exclusive -t 60)		# regular4, first
	quick=$(submit -p test -N2 --exclusive -t 30)	# the same nodes, a higher tier
	stays_pending "$quick"
	scancel "$filler"
	starts "$quick"
	job_is "$wide" PENDING
	wait_for 10 explains "$wide" 'expected to start'
}
it "partitions that share nodes share one timeline, in the order of their PriorityTier" one_timeline

live_end
