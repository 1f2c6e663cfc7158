-- SPDX-License-Identifier: MIT
--
-- Jobs for which Slurm could preempt others: of which the plan says that select may be asked.
local support = require "spec.support"
local t = require "sched.test"

-- Both nodes are taken; jobs of these names wait, which may preempt.
local function cluster(names)
	local spec = { nodes = "2x4c",
		running = { { id = 1, nodes = 2, exclusive = true, ends_in = "1h" } }, pending = {} }
	for i, name in ipairs(names) do
		spec.pending[i] = { id = i + 1, name = name, nodes = 2, exclusive = true,
			flags = { "MAY_PREEMPT" } }
	end
	return t.cluster(spec)
end

local function preempting(policy, jobs)
	local ids = {}
	for i, row in ipairs(t.decide(policy, jobs, { may_fail = true }).raw.preempting) do
		ids[i] = row.job
	end
	return ids
end

-- A guard with that body of allow() or admit(), in front of easy.
local function guarded(name, body)
	return support.site_of(('{ name = "guard", %s = function(job, cluster) %s end }'):format(name, body))
end

describe("a job that may preempt others", function()
	it("is named when it does not fit", function()
		assert.same({ 2, 3 }, preempting("easy", cluster { "a", "b" }))
	end)

	it("is not named when it starts, nor when it is not tried", function()
		local one = { id = 3, nodes = 1, exclusive = true, flags = { "MAY_PREEMPT" } }
		assert.same({}, preempting("easy", t.cluster { nodes = "2x4c", pending = { one } }))
		assert.same({}, preempting(support.policy "", cluster { "a" }))
	end)

	it("is not named when it is native but can preempt nobody", function()
		assert.same({}, preempting("easy", t.cluster { nodes = "1x4c",
			running = { { id = 1, nodes = 1, exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, nodes = 1, asks = { "BURST_BUFFER" } } } }))
	end)

	it("is not named when admit or allow refuses it", function()
		for _, guard in ipairs { "allow", "admit" } do
			assert.same({ 3 }, preempting(guarded(guard, 'return job.name ~= "over", "over"'), cluster { "over", "b" }))
		end
	end)

	it("is not named when the policy refuses it in the end", function()
		assert.same({ 3 }, preempting(support.policy [[
			for job in cluster:queue() do plan:start(job) end
			plan:refuse(cluster:job(2), "not today")
		]], cluster { "a", "b" }))
	end)

	it("is asked about again with all that was started after it", function()
		-- job 2 would hold 8 CPU-hours, job 3, which starts, holds 2
		local jobs = t.cluster { nodes = "2x4c",
			running = { { id = 1, user = "bob", nodes = 1, exclusive = true, ends_in = "1h" } },
			pending = { { id = 2, user = "anna", nodes = 2, exclusive = true, time_limit = "1h", flags = { "MAY_PREEMPT" } },
				{ id = 3, user = "anna", nodes = 1, exclusive = true, time_limit = "30m" } } }
		for limit, named in pairs { ["9 cpu-hours"] = {}, ["11 cpu-hours"] = { 2 } } do
			local quota = support.site_of(('sched.quota { per_user = "%s" }'):format(limit))
			assert.same({ 3 }, t.decide(quota, jobs):started())
			assert.same(named, preempting(quota, jobs))
		end
	end)

	it("is not named when a policy of other partitions starts something after it was asked", function()
		local site = support.site 'return require "sched".site { default = "easy", partitions = { low = "fcfs" } }'
		for _, free in ipairs { 1, 0 } do
			local jobs = t.cluster { nodes = "3x4c",
				partitions = { low = { nodes = "n3" }, high = { nodes = "n[1-2]", priority_tier = 10 } },
				running = { { id = 1, nodes = { "n1" }, exclusive = true, ends_in = "1h", partition = "high" },
					{ id = 9, nodes = { free == 1 and "n2" or "n3" }, exclusive = true, ends_in = "1h" } },
				pending = { { id = 2, nodes = 2, partition = "high", flags = { "MAY_PREEMPT" } },
					{ id = 3, nodes = 1, partition = "low" } } }
			assert.same(free == 1 and { 3 } or {}, t.decide(site, jobs):started())
			assert.same(free == 1 and {} or { 2 }, preempting(site, jobs))
		end
	end)

	it("is not named when the policy fails", function()
		assert.same({}, preempting(support.policy(support.unprobed .. [[
			for job in cluster:queue() do plan:start(job) end
			error "bang"
		]]), cluster { "a" }))
	end)
end)
