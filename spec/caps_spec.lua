-- SPDX-License-Identifier: MIT
local t = require "sched.test"
local caps = require "sched.caps"

-- One of two nodes is free, for an hour, and the first job that waits wants both.
local function behind_a_wide_job(...)
	return t.cluster { nodes = "2x4c", running = { { id = 1, nodes = { "n1" }, exclusive = true, ends_in = "1h" } },
		pending = { { id = 2, user = "wide", account = "w", nodes = 2, time_limit = "1h" }, ... } }
end

local function small(id, user, account)
	return { id = id, user = user, account = account or "chem", tasks = 1, time_limit = "30m" }
end

for _, policy in ipairs { "easy", "conservative" } do
	describe(policy .. " with the bf_ words", function()
		local function started(options, ...)
			return t.decide(policy .. options, behind_a_wide_job(...)):started()
		end

		it("looks at so many jobs of a user, and at all of the others", function()
			local jobs = { small(3, "anna"), small(4, "anna"), small(5, "anna"), small(6, "bert") }
			assert.same({ 3, 4, 5, 6 }, started("", table.unpack(jobs)))
			assert.same({ 3, 4, 6 }, started(",max_job_user=2", table.unpack(jobs)))
		end)

		it("looks at so many jobs of an association", function()
			assert.same({ 3, 5 }, started(",max_job_assoc=1", small(3, "anna"), small(4, "anna"), small(5, "anna", "phys")))
		end)

		it("counts from the first job on that does not start", function()
			local c = t.cluster { nodes = "2x4c", pending = { small(1, "anna"), small(2, "anna"), small(3, "anna") } }
			assert.same({ 1, 2, 3 }, t.decide(policy .. ",max_job_user=1", c):started())
		end)

		it("tells a job that is passed over why", function()
			local plan = t.decide(policy .. ",max_job_part=2", behind_a_wide_job(small(3, "anna"), small(4, "bert")))
			assert.same({ 3 }, plan:started())
			local word, text = plan:pending(4)
			assert.equal("policy", word)
			assert.equal("beyond the policy's max_job_part=2", text)
		end)

		it("counts the partitions of a job apart", function()
			local c = t.cluster { nodes = "2x4c", partitions = { a = { nodes = "n1" }, b = { nodes = "n2" } },
				running = { { id = 1, partition = "a", nodes = { "n1" }, exclusive = true, ends_in = "1h" } },
				pending = { { id = 2, user = "anna", partition = "a", nodes = 1, tasks = 1, time_limit = "1h" },
					{ id = 3, user = "anna", partition = "a,b", tasks = 1, time_limit = "1h" } } }
			local plan = t.decide(policy .. ",max_job_user_part=1", c)
			assert.same({ 3 }, plan:started())
			assert.equal("b", plan:start(3).partition)
			assert.same({ 3 }, t.decide(policy .. ",max_job_part=1", c):started())
		end)

		it("books for those that have waited long enough, or are important enough", function()
			local c = behind_a_wide_job({ id = 3, user = "bert", nodes = 1, time_limit = "10h" })
			assert.same({ 2 }, { t.decide(policy, c):reserved()[1] })
			for _, option in ipairs { ",min_age_reserve=5h", ",min_prio_reserve=4000000000" } do
				local plan = t.decide(policy .. option, c)
				assert.same({}, plan:reserved())
				assert.same({ 3 }, plan:started())
			end
		end)
	end)
end

describe("conservative with the bf_ words", function()
	it("books for so many jobs of each partition", function()
		local c = behind_a_wide_job({ id = 3, nodes = 2, time_limit = "1h" }, { id = 4, nodes = 2, time_limit = "1h" })
		assert.same({ 2, 3 }, t.decide("conservative,job_part_count_reserve=2", c):reserved())
	end)

	it("takes no started task of an array back when the next one is not booked", function()
		for _, options in ipairs { ",min_age_reserve=100h", ",reserved=0", ",max_job_user=1" } do
			local c = t.cluster { nodes = "1x1c", remembered = {}, pending = { { id = 2, user = "anna", array = 2 } } }
			assert.same({ 2 }, t.decide("conservative,compress=true" .. options, c):started(), options)
		end
	end)

	it("keeps no time that was told to a job beyond them", function()
		local function decide(options, remembered)
			return t.decide("conservative,compress=true" .. options, t.cluster { nodes = "2x4c", remembered = remembered,
				running = { { id = 1, nodes = { "n1" }, exclusive = true, ends_in = "1h" } },
				pending = { { id = 2, user = "anna", nodes = 2, time_limit = "1h" },
					{ id = 3, user = "bert", nodes = 2, time_limit = "1h" },
					{ id = 4, user = "bert", nodes = 2, time_limit = "1h" } } })
		end
		local before = decide("")
		assert.same({ 2, 3, 4 }, before:reserved())
		for option, kept in pairs { [""] = { 2, 3, 4 }, [",max_job_user=1"] = { 2, 3 }, [",reserved=1"] = { 2 },
			[",job_part_count_reserve=2"] = { 2, 3 }, [",min_age_reserve=100h"] = {} } do
			assert.same(kept, decide(option, before:remembered()):reserved(), option)
		end
		local word, text = decide(",max_job_user=1", before:remembered()):pending(4)
		assert.equal("policy", word)
		assert.equal("beyond the policy's max_job_user=1", text)
	end)
end)

describe("caps.options", function()
	it("refuses an option of its own name", function()
		assert.error_matches(function() caps.options { max_job_user = { default = 1 } } end, "'max_job_user' is that of caps")
	end)
end)
