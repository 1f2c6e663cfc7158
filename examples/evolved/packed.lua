-- SPDX-License-Identifier: MIT
-- packed.lua - found by schedlua evolve --search=score with bench/openb-trial (seed 1).
-- README.md says what it won and where it lost.

local M = { api = 1, name = "packed", doc = "found by schedlua evolve" }

-- The largest goes first.
function M.score(job, class)
	local fgd = class.score "fgd"	-- the bundled score of that name, 0 to 100
	local gpu_packing = class.score "gpu_packing"	-- the bundled score of that name, 0 to 100
	local least_left = class.score "least_left"	-- the bundled score of that name, 0 to 100
	local free_gpus = class.free_gpus	-- idle ones
	local nodes = class.nodes	-- how many nodes have the same free
	return 113 * fgd + math.max(math.min(gpu_packing, free_gpus) + least_left, math.log(nodes))
end

return M
