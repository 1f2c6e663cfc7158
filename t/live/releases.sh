# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# releases.sh - what one release of Slurm shows or does otherwise than another, as far as tests
# meet it; for sourcing by cluster.sh.  What the plug-in meets is in plugin/records/compat.h.

# slurm_since 23.11 : the cluster's Slurm is of that series or a later one
slurm_since() {
	local version
	version=$("$C/bin/slurmctld" -V)
	[ "$(printf '%s\n' "$1" "${version##* }" | sort -V | head -n 1)" = "$1" ]
}

# cgroup.conf of a cluster that has none.
slurm_cgroup_conf() {
	if slurm_since 23.02; then echo "CgroupPlugin=disabled"; else echo "CgroupPlugin=cgroup/v1"; fi
}

# From 23.11 on slurmctld executes itself anew when it is reconfigured: another process, the same service.
slurm_reconfigures_in_process() { ! slurm_since 23.11; }

# A command that changes accounts, or reconfigures.  Where that executes slurmctld anew, it and slurmdbd wait
# for each other without end when slurmdbd tells it of a change at that moment (seen in 24.11.7): not
# both at once there.
slurm_one_at_a_time() { # COMMAND...
	if slurm_reconfigures_in_process; then "$@"; else flock "$C/run/accounts" "$@"; fi
}

# What a job for two GPUs of one type and one of another has, where each node has one of each: on its
# second node one of each as well, as later releases of select/cons_tres give them (under stock too).
slurm_gives_two_types() {
	if slurm_since 23.11; then echo "4 on 2"; else echo "3 on 2"; fi
}

# gpu:2 : as the tres_per_* of a job show it
slurm_shows_gres() {
	if slurm_since 23.11; then echo "gres/$1"; else echo "gres:$1"; fi
}
