-- SPDX-License-Identifier: MIT
-- packed.lua - found by schedlua evolve --search=score with bench/openb-trial (seed 1).
-- README.md says what it won and where it lost.

local M = { api = 1, name = "packed", doc = "found by schedlua evolve" }

-- The largest goes first.
function M.score(job, class)
	local fgd = class.score "fgd"	-- the bundled score of that name, 0 to 100
	local least_left = class.score "least_left"	-- the bundled score of that name, 0 to 100
	return 67.5 * fgd + least_left
end

return M
