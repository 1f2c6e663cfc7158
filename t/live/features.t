#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Features that a node gets when it is booted for a job.
. "${0%/*}/live.sh"

helpers=$(find "$SL_SLURM_PLUGINS" -name node_features_helpers.so 2>/dev/null)
[ -n "$helpers" ] || skip_all "this Slurm has no node_features/helpers"

# Each node is red now, and blue after a reboot (which nobody does here).
plain_gres_conf=$(declare -f cluster_gres_conf)
eval "plain_$plain_gres_conf"
cluster_gres_conf() {
	printf '#!/bin/sh\n[ $# != 0 ] || echo red\n' > "$C/bin/helper"
	chmod 755 "$C/bin/helper"
	printf "Feature=%s Helper=$C/bin/helper\n" red blue > "$C/etc/helpers.conf"
	plain_cluster_gres_conf
}
SL_NODE_SHAPE="CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Features=red,blue,plain"
live_begin 8 NodeFeaturesPlugins=node_features/helpers RebootProgram=/bin/true

constraint() { # STATE CONSTRAINT
	local id
	id=$(submit -N1 -C "$2")
	wait_for 15 job_is "$id" "$1"
}
active() {
	local id
	id=$(submit -N1 -C red)
	starts "$id"
	placed_by_engine "$id"
}
it "a job is placed by the engine where its feature is active" active
it "a job starts a node's reboot where its feature is available" constraint CONFIGURING blue
it "... and has other features beside it" constraint CONFIGURING 'blue&plain'

live_end
