-- SPDX-License-Identifier: MIT
--
-- The heuristic Random as a score: bench/openb --score bench/openb_random.lua.  A score is asked for once for a class
-- of nodes that are alike: this one draws a class of n nodes n times as often as a class of one node, since it is the
-- least of exponential numbers with rates n.  (A policy of a site draws with cluster:random(), which replays.)
local M = { api = 1, name = "random" }

math.randomseed(42)

function M.score(_, class)
	return math.log(1 - math.random()) / class.nodes
end

return M
