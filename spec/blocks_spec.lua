-- SPDX-License-Identifier: MIT
--
-- Placement in blocks: place = "blocks", sched.place { "blocks", segment = n }.
local support = require "spec.support"
local t = require "sched.test"

-- Three racks of four nodes; two nodes of the first and one of the second are in use.
local function machine(pending, partitions)
	local nodes = {}
	for n = 1, 12 do
		nodes[n] = { name = ("n%02d"):format(n), cores = 8, topology = ("rack%d"):format((n - 1) // 4 + 1) }
	end
	return t.cluster { nodes = nodes, now = 1700000000, partitions = partitions, pending = pending, running = {
		{ id = 91, nodes = { "n01", "n02" }, cores = 8, ends_in = "2h" },
		{ id = 92, nodes = { "n05" }, cores = 8, ends_in = "1h" },
	} }
end

local function job(id, nodes)
	return { id = id, min_nodes = nodes, max_nodes = nodes, exclusive = true, time_limit = "1h" }
end

local function nodes_of(list, cluster, id)
	local start = t.decide(support.site_of(list), cluster):start(id)
	return start and table.concat(start.nodes, " ")
end

describe("place = \"blocks\"", function()
	it("fills used racks before whole ones, with every bundled policy", function()
		for _, policy in ipairs { "fcfs", "easy", "conservative", "predictive" } do
			assert.equal("n03 n04", nodes_of(('"%s", place = "blocks"'):format(policy), machine { job(1, 2) }, 1))
			assert.equal("n06 n07 n08", nodes_of(('"%s", place = "blocks"'):format(policy), machine { job(1, 3) }, 1))
		end
	end)

	it("has whole segments, each in one rack", function()
		local list = 'sched.place { "blocks", segment = 2 }, "easy"'
		assert.equal("n03 n04 n06 n07", nodes_of(list, machine { job(1, 4) }, 1))
		assert.equal("n06 n07 n08 n09 n10 n11", nodes_of('sched.place { "blocks", segment = 3 }, "easy"', machine { job(1, 6) }, 1))
	end)

	it("says which segments a waiting job lacks, and reserves them", function()
		local plan = t.decide(support.site_of 'sched.place { "blocks", segment = 4 }, "easy"', machine { job(1, 8) })
		assert.is_nil(plan:start(1))
		assert.matches("needs its nodes in segments of 4, each in one block", select(2, plan:pending(1)))
		assert.same({ "n05", "n06", "n07", "n08", "n09", "n10", "n11", "n12" }, plan:reservation(1).nodes)
	end)

	it("has segments by job", function()
		local list = 'sched.place { "blocks", segment = function(job) return job.id == 1 and 3 or nil end }, "easy"'
		assert.equal("n06 n07 n08", nodes_of(list, machine { job(1, 3), job(2, 2) }, 1))
		assert.equal("n03 n04", nodes_of(list, machine { job(1, 3), job(2, 2) }, 2))
	end)

	it("has the segments of --segment below topology/block, whatever the policy says", function()
		local function nodes_of_job(segment, nodes, list)
			local one = job(1, nodes)
			one.segment = segment
			return nodes_of(list or '"easy"', machine({ one }, { main = { block_nodes = 4 } }), 1)
		end
		assert.equal("n03 n04 n06 n07", nodes_of_job(2, 4))
		assert.equal("n06 n07 n08 n09 n10 n11", nodes_of_job(3, 6))
		assert.equal("n09 n10 n11 n12", nodes_of_job(nil, 4))	-- one block
		assert.equal("n09 n10 n11 n12", nodes_of_job(nil, 4, 'sched.place { "blocks", segment = 2 }, "easy"'))
		assert.equal("n03 n04 n06 n07", nodes_of_job(2, 4, 'sched.place { "blocks", segment = 4 }, "easy"'))
	end)

	it("says of a segment that no rack holds, or that is larger than the machine, why it waits, and keeps nothing for it", function()
		for segment, says in pairs {
			[5] = "needs its nodes in segments of 5, each in one block: too few blocks have so many nodes",
			[12] = "needs its nodes in segments of 12, each in one block: too few blocks have so many nodes",
			[13] = "needs 13 nodes, 12 could ever do",
			[100000] = "needs 100000 nodes, 12 could ever do",
		} do
			local plan = t.decide(support.site_of(('sched.place { "blocks", segment = %d }, "easy"'):format(segment)),
				machine { job(1, segment), job(2, 2) })
			assert.is_nil(plan:start(1))
			assert.is_nil(plan:reservation(1))
			assert.equal(says, select(2, plan:pending(1)))
			assert.same({ "n03", "n04" }, plan:start(2).nodes)
		end
	end)

	it("does not say so where large enough blocks are in use", function()
		local cluster = t.cluster { nodes = { { name = "a1", cores = 8, topology = "a" }, { name = "a2", cores = 8, topology = "a" },
			{ name = "b1", cores = 8, topology = "b" }, { name = "b2", cores = 8, topology = "b" } },
			partitions = { main = { max_time = "unlimited" } }, pending = { job(1, 2) }, running = {
			{ id = 91, nodes = { "a1" }, cores = 8, time_limit = "unlimited" },
			{ id = 92, nodes = { "b1" }, cores = 8, time_limit = "unlimited" } } }
		local plan = t.decide(support.site_of [[sched.place { "blocks", segment = 2 }, "easy"]], cluster)
		assert.equal("needs its nodes in segments of 2, each in one block: too few blocks have so many free", select(2, plan:pending(1)))
		assert.is_table(plan:reservation(1))
	end)

	it("leaves segments below topology/block that are larger than a block to select, and starts the others", function()
		for _, segment in ipairs { 5, 13, 65535 } do
			local one = job(1, 5)
			one.segment = segment
			local plan = t.decide(support.site_of '"easy"', machine({ one, job(2, 2) }, { main = { block_nodes = 4 } }))
			assert.same({ "n03", "n04" }, plan:start(2).nodes)
		end
	end)

	it("refuses a segment that is none", function()
		assert.matches("'segment' of sched.place: 0 is out of range", support.refused 'sched.place { "blocks", segment = 0 }, "easy"')
		assert.matches("segment or least, not both", support.refused 'sched.place { "fgd", segment = 2, least = 3 }, "easy"')
	end)

	-- Nodes of each rack, by its number.
	local function count_by_rack(nodes)
		local count = { 0, 0, 0 }
		for _, name in ipairs(nodes) do
			local rack = (tonumber(name:sub(2)) - 1) // 4 + 1
			count[rack] = count[rack] + 1
		end
		return count
	end

	-- (Each plan that a spec decides is checked.)
	it("has the policy's segments with an integer program over a window", function()
		for _, policy in ipairs { '"ip_window"', '{ "ip_window", backend = "none" }' } do
			local list = 'sched.place { "blocks", segment = function(job) return job.id == 1 and 3 or nil end }, ' .. policy
			local plan = t.decide(support.site_of(list), machine { job(1, 6), job(2, 2) })
			assert.equal("n06 n07 n08 n09 n10 n11", table.concat(plan:start(1).nodes, " "))
			assert.equal("n03 n04", table.concat(plan:start(2).nodes, " "))
		end
	end)

	it("has the segments of --segment in bids of an auction and in an integer program", function()
		for _, policy in ipairs { "auction", "ip_window", "easy", "conservative" } do
			local one, two = job(1, 6), job(2, 2)
			one.segment = 3
			local plan = t.decide(policy, machine({ one, two }, { main = { block_nodes = 4 } }))
			assert.same({ 0, 3, 3 }, count_by_rack(plan:start(1).nodes))
			assert.same({ "n03", "n04" }, plan:start(2).nodes)
		end
	end)

	it("places a job of whole blocks below topology/block, or reserves them, and leaves it to select if there are larger blocks", function()
		local function plan_of(nodes, flags)
			return t.decide(support.site_of '"easy"', machine({ job(1, nodes) }, { main = { block_nodes = 4, flags = flags } }))
		end
		assert.same({ "n05", "n06", "n07", "n08", "n09", "n10", "n11", "n12" }, plan_of(8):reservation(1).nodes)
		assert.is_true(plan_of(8):reservation(1).start_time == 1700000000 + 3600)
		assert.matches("segments of 4, each in one block", select(2, plan_of(8):pending(1)))
		assert.is_true(plan_of(8, { "UP", "DEFAULT", "BLOCK_LEVELS" }):start(1).native)
		assert.is_true(plan_of(7):start(1).native)
	end)

	it("has whole segments in each start and each reservation, of the policy's and of the jobs' own", function()
		local state, reserved = 1, 0
		local function below(n)
			state = state * 1103515245 + 12345 & 0x7fffffff
			return (state >> 8) % n
		end
		for round = 1, 60 do
			local own, pending, segment = round % 2 == 0, {}, {}
			for id = 1, 6 do
				segment[id] = 1 + below(4)
				local nodes = segment[id] * (1 + below(math.min(3, 12 // segment[id])))
				pending[id] = job(id, nodes)
				pending[id].time_limit = ("%dm"):format(10 * (1 + below(12)))
				pending[id].segment = segment[id]
			end
			local list = ('%s"%s"'):format(own and "" or 'sched.place { "blocks", segment = function(job) return job.segment end }, ',
				round % 3 == 0 and "easy" or "conservative")
			local plan = t.decide(support.site_of(list), machine(pending, own and { main = { block_nodes = 4 } } or nil))
			for id = 1, 6 do
				local place = plan:start(id) or plan:reservation(id)
				reserved = reserved + (plan:reservation(id) and 1 or 0)
				for _, count in ipairs(place and count_by_rack(place.nodes) or {}) do
					assert.equal(0, count % segment[id])
				end
			end
		end
		assert.is_true(reserved > 60)
	end)

	it("does not start a short job on what the segments of the first need", function()
		local short, long = job(2, 3), job(3, 3)
		short.time_limit, long.time_limit = "30m", "3h"
		local plan = t.decide(support.site_of 'sched.place { "blocks", segment = 1 }, "easy"', machine { job(1, 10), short, long })
		assert.is_nil(plan:start(1))
		assert.same({ "n06", "n07", "n08" }, plan:start(2).nodes)
		assert.is_nil(plan:start(3))
	end)
end)
