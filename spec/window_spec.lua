-- SPDX-License-Identifier: MIT
-- No window that freezes: jobs that no time can help are not in the way of those behind them, whatever the policy.

local t = require "sched.test"

local policies = { "easy", "fcfs", "conservative", "critical", "predictive", "ip_window", "auction",
	"conservative,compress=true", "easy,backfill_order=sjf", "predictive,predictor=limit", "ip_window,backend=none" }

-- So many jobs that cannot run as things stand, and one that can, behind them all.
local function behind(hopeless, many, more)
	local spec = { nodes = "2x8c", pending = {} }
	for key, value in pairs(more or {}) do
		spec[key] = value
	end
	for i = 1, many do
		local job = { id = i, nodes = 1, time_limit = "1h", user = "u" .. i % 7 }
		for key, value in pairs(hopeless) do
			job[key] = value
		end
		spec.pending[i] = job
	end
	spec.pending[many + 1] = { id = many + 1, nodes = 1, time_limit = "1h", user = "last" }
	return t.cluster(spec)
end

local scenes = {
	["a node that is drained"] = { { features = "big" },
		{ nodes = { { count = 1, cores = 8, features = "big", state = { "DRAIN" } }, { count = 1, cores = 8 } } } },
	["a feature that no node has"] = { { features = "none" } },
	["more licences than there are"] = { { licenses = { none = 1 } }, { licenses = { none = { total = 0 } } } },
	["more nodes than there are"] = { { nodes = 3 } },
}

describe("a window", function()
	for what, scene in pairs(scenes) do
		for _, policy in ipairs(policies) do
			it(("of %s is not full of jobs that need %s"):format(policy, what), function()
				local plan = t.decide(policy, behind(scene[1], 1500, scene[2]))
				assert.same({ 1501 }, plan:started())
				local why = plan:pending(1)
				assert.is_true(why == "never" or why == "nodes_down" or why == "licenses", why)
				assert.is_false(plan:truncated())
			end)
		end
	end

	it("that is a number is heeded, for those that some time can help", function()
		local plan = t.decide("easy,window=2", behind({ nodes = 2, exclusive = true }, 5))
		assert.same({ 1 }, plan:started())
		assert.equal("window", plan:pending(6))
	end)

	it("holds thousands of jobs, where it is a share of the cycle's work", function()
		local plan = t.decide("easy", behind({ nodes = 2, exclusive = true, time_limit = "2h" }, 3000,
			{ running = { { id = 9001, nodes = 1, exclusive = true, ends_in = "3h" } } }))
		assert.same({ 3001 }, plan:started())
	end)

	it("that is a share ends at the same job each time", function()
		local c = behind({ nodes = 2, exclusive = true }, 61000)
		local one, other = t.decide("easy", c), t.decide("easy", c)
		assert.equal("window", one:pending(61000))
		assert.equal(one:examined(), other:examined())
		assert.is_true(one:examined() > 5000 and one:examined() < 61000)
		assert.is_false(one:truncated())
	end)

	it("hands out all of them to who wants them all", function()
		local policy = { source = [[return { api = 1, name = "count", doc = "counts", decide = function(cluster)
			local n, able = 0, 0
			for _ in cluster:queue(100, nil, "all") do n = n + 1 end
			for _ in cluster:queue(100) do able = able + 1 end
			slurm.log_info("%d, %d able", n, able)
		end }]], name = "count" }
		local plan = t.decide(policy, behind({ nodes = 3 }, 20))
		assert.match("21, 1 able", plan:log()[1])
	end)

	it("is a number, \"share\" or none", function()
		for _, what in ipairs { '"half"', "-1", "1.5", "{}" } do
			local policy = { source = "return { api = 1, name = 'bad', doc = 'bad', decide = function(cluster)\n" ..
				"for _ in cluster:queue(" .. what .. ") do end end }", name = "bad" }
			assert.has_error(function() t.decide(policy, behind({}, 1)) end)
		end
	end)
end)
