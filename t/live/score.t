#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Placement by scores: GPUs that stay together, a score of the site's own, jobs without GPUs beside idle ones.
. "${0%/*}/live.sh"
needs_plugin
SL_NODE_SHAPE="CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:2"
live_begin 8 GresTypes=gpu SchedulerParameters=defer,sched_interval=-1,lua_interval=1
needs_engine

site() { # LIST
	reload <<-EOL
		local sched = require "sched"
		return sched.site { interval = 1, default = { $1 } }
	EOL
	wait_for 30 status_is policy "$2" || { status policy; return 1; }
}

# One GPU of n003 is in use: which node gets a job with one GPU.
beside_n003() {
	local busy id
	busy=$(submit --gpus-per-node=1 -w n003)
	starts "$busy"
	id=$(submit --gpus-per-node=1)
	starts "$id"
	job_nodes "$id"
}

packs() {
	site '"easy", place = "gpu_packing"' 'site: easy, place' && [ "$(beside_n003)" = n003 ]
}
it "a GPU of a node in use goes before idle nodes" packs

fragments() {
	local pair
	site '"easy", place = "fgd"' 'site: easy, place'
	pair=$(submit --gpus-per-node=2 --begin=now+1hour)	# what is expected: pairs
	[ "$(beside_n003)" = n003 ] && scancel "$pair"
}
it "a job goes where it breaks no pair of GPUs up" fragments

own() {
	site 'sched.place { function(job, class) return class.left_gpus == 0 and 2 or 1 end }, "easy"' 'site: place, easy' &&
		[ "$(beside_n003)" = n003 ]
}
it "a score of the site's own is asked" own

beside_gpus() {
	local cpus gpus
	site 'sched.gpu_share { reserve = true, cores_per_gpu = 1 }, "easy"' 'site: gpu_share, easy'
	cpus=$(submit -n3)	# leaves one core beside two GPUs
	gpus=$(submit -n2)
	starts "$gpus"
	stays_pending "$cpus"
}
it "jobs without GPUs leave cores to idle GPUs" beside_gpus

live_end
