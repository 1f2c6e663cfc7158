-- SPDX-License-Identifier: MIT
--
-- sched.gpu_share - jobs without GPUs leave alone the cores beside idle GPUs.
--
--   sched.gpu_share {}					they rather go elsewhere
--   sched.gpu_share { reserve = true }			they do not start where an idle GPU would be left without cores
--   sched.gpu_share { reserve = true, cores_per_gpu = 4, while_wanted = true }
--
-- An idle GPU is stranded if its node has fewer cores left than GPUs need: cores_per_gpu each, or, unless said, its
-- part of the node's cores.  A job without GPUs goes where it strands the fewest GPUs more, of these to a node without
-- GPUs, then to one with the fewest idle GPUs.  With reserve it does not start where it would strand one.
-- while_wanted: all of that holds only as long as a job that waits asks for GPUs.  Jobs with GPUs are placed as the
-- list says otherwise.

local component = require "sched.component"

local M = {}

local definitions = {
	cores_per_gpu = { type = "number", min = 0, doc = "cores that a GPU needs; else its part of the node's" },
	reserve = { default = false, doc = "a job without GPUs waits rather than to strand one" },
	while_wanted = { default = false, doc = "only while a job that asks for GPUs waits" },
}

-- Idle GPUs that have too few of so many cores.
local function stranded(idle, cores, each)
	return each > 0 and math.max(0, idle - cores // each) or 0
end

local function asks_for_gpus(job)
	local gres = job.gres_total
	return (gres.gpu or 0) > 0 or (gres.shard or 0) > 0 or (gres.mps or 0) > 0
end

local function is_wanted(cluster)
	for _, amount in pairs(cluster.usage:queued { by = "user", unit = "gpu" }) do
		if amount > 0 then
			return true
		end
	end
	return false
end

--- sched.gpu_share { cores_per_gpu =, reserve =, while_wanted = }, with the place of the call.
function M.make(path, line, t)
	local opt = component.read("sched.gpu_share", t, definitions, component.locate(path, line))
	local part = { name = "gpu_share", doc = "jobs without GPUs leave alone the cores beside idle GPUs" }

	local function score(_, class)
		if class.gpus == 0 then
			return 1
		end
		local each = opt.cores_per_gpu or class.cores / class.gpus
		local more = stranded(class.free_gpus, class.free_cores - class.takes_cores, each) -
			stranded(class.free_gpus, class.free_cores, each)
		if opt.reserve and more > 0 then
			return false
		end
		return -class.free_gpus - 1000 * more
	end

	local said = { place = score }
	local asked, wanted
	function part.place(job, cluster)
		if asks_for_gpus(job) then
			return nil
		elseif opt.while_wanted then
			if asked ~= cluster.sequence then
				asked, wanted = cluster.sequence, is_wanted(cluster)
			end
			return wanted and said or nil
		end
		return said
	end
	return part
end

return M
