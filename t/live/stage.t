#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Burst buffers are filled before the nodes of their jobs are free.
. "${0%/*}/live.sh"
[ -f "$SL_SLURM_PLUGINS/burst_buffer_lua.so" ] || skip_all "no burst_buffer/lua in this Slurm"
live_begin 8
setpriv --reuid 65534 --clear-groups test -r "$SLURM_CONF" || skip_all "a plain user does not get into $C"
cat > "$C/etc/burst_buffer.lua" <<-EOL
	function slurm_bb_job_process() return slurm.SUCCESS end
	function slurm_bb_pools() return slurm.SUCCESS, '{"pools":[{"id":"pool","quantity":4,"granularity":1}]}' end
	function slurm_bb_data_in(id)
		local f = io.open("$C/log/staged." .. id, "w")
		f:close()
		return slurm.SUCCESS
	end
EOL
# (the tests of data since 24.05)
for f in setup real_size paths pre_run post_run data_out job_teardown get_status test_data_in test_data_out; do
	echo "function slurm_bb_$f() return slurm.SUCCESS, '' end"
done >> "$C/etc/burst_buffer.lua"
cluster_conf BurstBufferType=burst_buffer/lua
cluster_ctld_kill
cluster_ctld_start || { echo "Bail out! slurmctld does not start"; exit 1; }
wait_for 30 cluster_nodes_ready 8 || { echo "Bail out! the nodes are not back"; exit 1; }

staged() { [ -f "$C/log/staged.$1" ]; }	# JOBID
with_buffer() { # OPTION... : prints the id
	# (root may not have one)
	printf '%s\n' '#!/bin/sh' '#BB_LUA pool=pool capacity=1' 'sleep 60' |
		setpriv --reuid 65534 --regid 65534 --clear-groups sbatch --parsable -o /dev/null -D / "$@"
}

ahead() {
	local busy id
	busy=$(submit -N8 --exclusive -t 10)
	starts "$busy"
	id=$(with_buffer -N2 -t 5)
	wait_for 15 staged "$id"
	job_is "$id" PENDING
	job_is "$busy" RUNNING
	scancel "$busy"
	starts "$id"
}
it "a burst buffer is filled while its job waits for nodes" ahead

at_once() {
	local id
	id=$(with_buffer -N2)
	starts "$id" 30
	staged "$id"
}
it "a job with a burst buffer starts once that is filled" at_once

live_end
