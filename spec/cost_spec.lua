-- SPDX-License-Identifier: MIT
-- What takes too long to plan, or is refused by the checker, is left out for a while, and the cycles know of it from each
-- other (engine/script/left_out.c).

local t = require "sched.test"

describe("a job that took too long to plan", function()
	local function cluster(remembered, now)
		return t.cluster { nodes = "2x8c", meta = { now = now }, remembered = remembered,
			pending = { { id = 1, nodes = 1, time_limit = "1h" }, { id = 2, nodes = 1, time_limit = "1h" } } }
	end

	local function left_out(...) return { ["(engine)"] = { left_out = { ... } } } end

	local function until_(ends) return left_out { id = 1, ends = ends } end

	it("is left out of the next cycles, and the others start", function()
		local plan = t.decide("easy", cluster(until_(1030), 1000))
		assert.same({ 1, 2 }, t.decide("easy", cluster(nil, 1000)):started())
		assert.same({ 2 }, plan:started())
		assert.same({ "cost", "takes too long to plan" }, { plan:pending(1) })
	end)

	it("is remembered until then, whatever else is decided", function()
		local plan = t.decide("fcfs", cluster(until_(1030), 1000))
		assert.same({ { id = 1, ends = 1030 } }, plan:remembered()["(engine)"].left_out)
	end)

	it("is tried again afterwards, and forgotten", function()
		local plan = t.decide("conservative", cluster(until_(1030), 1030))
		assert.same({ 1, 2 }, plan:started())
		assert.is_nil(plan:remembered()["(engine)"])
	end)

	it("is not left out for long, where the clock was set back", function()
		assert.same({ 1, 2 }, t.decide("easy", cluster(until_(100000), 1000)):started())
	end)

	it("is tried where what is remembered makes no sense", function()
		for _, nonsense in ipairs { { 1 }, { 1, 1030 }, { { 1, 1030 } }, { "1", true, { 1030 } }, { { id = "1", ends = 1030 } },
			{ { id = -1, ends = 1030 } }, { { id = 1, ends = { 1030 } } }, { id = 1, ends = 1030 } } do
			assert.same({ 1, 2 }, t.decide("easy", cluster(left_out(table.unpack(nonsense)), 1000)):started())
		end
	end)
end)

describe("a job whose place the checker refused", function()
	local why = 'the checker refused its place: node "n1\\\195\164": no'

	local function cluster(stamp, now, ends)
		return t.cluster { nodes = "2x8c", meta = { now = now }, remembered = { ["(engine)"] = { left_out = {
			{ id = 1, ends = ends or 1300, stamp = 7, why = why } } } },
			pending = { { id = 1, nodes = 1, time_limit = "1h", stamp = stamp }, { id = 2, nodes = 1, time_limit = "1h" } } }
	end

	it("is not planned for five minutes, and its user reads why", function()
		local plan = t.decide("easy", cluster(7, 1000))
		assert.same({ 2 }, plan:started())
		assert.equal("check", (plan:pending(1)))
		assert.same({ { id = 1, ends = 1300, stamp = 7, why = why } }, plan:remembered()["(engine)"].left_out)
		assert.same({ 1, 2 }, t.decide("easy", cluster(7, 1300)):started())
		assert.same({ 1, 2 }, t.decide("easy", cluster(7, 1000, 1301)):started())
	end)

	it("is planned when somebody has changed it", function()
		assert.same({ 1, 2 }, t.decide("easy", cluster(8, 1000)):started())
	end)
end)
