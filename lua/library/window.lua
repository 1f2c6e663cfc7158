---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: cluster:window(), a window of jobs against classes of nodes (engine/auction/window.h).
-- Never run.  sched.window and sched.ip (doc/mip.md) are made of it.

---@class sched.window.class
---@field count integer	nodes that are alike
---@field nodes sched.node[]
---@field capacity integer	cores of an empty one
---@field weight integer
---@field cores integer[]	free on each node, by level
---@field gpus integer[]
---@field memory integer[]	MiB; 0 when no job asks for memory

---@class sched.window.job
---@field level integer	how long it runs: which level of a class it may use
---@field set integer	which nodes it may use
---@field cores integer	in all
---@field unit integer	cores of a task
---@field least integer	cores of a node
---@field most? integer
---@field min_nodes integer
---@field max_nodes? integer	nil: no limit
---@field gpus integer	of each node
---@field memory integer	of each node
---@field core_memory integer	for each core
---@field never? boolean	it cannot run at all
---@field native? boolean	Slurm's select chooses its place
---@field divisible? boolean	cores and nothing else, on whatever nodes
---@field whole? boolean	--exclusive
---@field contiguous? boolean

---@class sched.window.picture
---@field levels integer
---@field classes sched.window.class[]
---@field jobs sched.window.job[]	as given
---@field usable integer[][]	[set][class]: nodes of the class that the set has

---@class sched.cluster
local cluster = {}

--- Nodes that are alike as classes, and jobs as numbers, with what is free now and for how long.
---@param jobs sched.job[]
---@return sched.window.picture
function cluster:window(jobs) end
