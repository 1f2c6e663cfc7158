# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# together.sh - the demo's second scene, for sourcing by demo.sh: three jobs that fit
# on the machine together, and only together; under ip_window, then under Slurm's own
# scheduler.  Table 1 of Soner and Ozturan, "Integer Programming Based Heterogeneous
# CPU-GPU Cluster Scheduler for SLURM Resource Manager", 2012.

# shellcheck source=t/live/table1.sh
. "$TOP/t/live/table1.sh"
TABLE1_SECONDS=36000

queue_is_empty() { [ -z "$(squeue -h -o %i)" ]; }
empty_queue() { scancel --quiet --user=root 2>/dev/null; queue_is_empty; }
table1_runs() { [ "$(squeue -h -t R -j "$J1,$J2,$J3" -o %i 2>/dev/null | wc -l)" -ge "$1" ]; }
third_waits() { [ "$(squeue -h -j "$J3" -o '%T %r')" = "PENDING Resources" ]; }

# What became of the three, as squeue and scontrol show it.
show_jobs() {
	local job name=1 state wait
	for job in "$J1" "$J2" "$J3"; do
		state=$(squeue -h -j "$job" -t all -o %T)
		wait=''
		[ "$state" = RUNNING ] || wait="$(squeue -h -j "$job" -o %r)"
		printf '    J%d  %-8s  %s\n' $((name++)) "$state" "${wait:-$(table1_show "$job")}"
	done
	printf '    cores in use: %s of %s\n' "$(sinfo -h -o %C | cut -d/ -f1)" $((NODES * 8))
}

stock_scheduler() {
	cluster_ctld_kill
	cluster_conf SchedulerType=sched/backfill "SchedulerParameters=bf_interval=20,sched_interval=20"
	cluster_ctld_start && wait_for 60 cluster_nodes_ready "$NODES"
}

# Prints what it does; 1 with FAILED set when it does not come out as it should.
second_scene() {
	wait_for 60 empty_queue || { FAILED="the queue did not empty"; return 1; }
	reload "$HERE/together.lua"
	wait_for 30 policy_is ip_window || { FAILED="ip_window did not come into force: $(status last_error)"; return 1; }
	cat <<-EOT

	Three jobs that fit together, on $NODES nodes of 8 cores and 2 GPUs
	    J1  sbatch -n $((NODES * 4))
	    J2  sbatch -N $((NODES / 2)) --gres=gpu:2 -n $((NODES * 2))
	    J3  the same as J2
	  under the policy ip_window
	EOT
	table1_submit "$NODES" -t 700
	table1_release
	wait_for 60 table1_runs 3 || FAILED="ip_window did not start all three jobs"
	show_jobs
	wait_for 60 empty_queue || { FAILED="the queue did not empty"; return 1; }
	stock_scheduler || { FAILED="slurmctld did not come back with sched/backfill"; return 1; }
	echo "  the same queue under sched/backfill"
	table1_submit "$NODES" -t 700
	table1_release
	wait_for 60 table1_runs 2 && wait_for 30 third_waits || FAILED="sched/backfill did something new"
	show_jobs
	[ -z "$FAILED" ]
}
