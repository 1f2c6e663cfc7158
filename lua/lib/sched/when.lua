-- SPDX-License-Identifier: MIT
--
-- sched.when - policies and options by the time of the week, in place of a list in a site file:
--
--   default = sched.when {
--     ["Mon-Fri 8:00-18:00"] = { sched.score { "sjf" }, "easy", window = 200 },
--     otherwise = { "easy" },
--   }
--
-- when = { ... } in sched.site is the same as default = sched.when { ... }.  Times are those of sched.clock, in the
-- site's zone.  At each of them exactly one list holds, and there is a cycle when another one begins to.  All of them
-- are tried when the site file is loaded.

local clock = require "sched.clock"
local component = require "sched.component"

local M = {}

local made = {}		-- what make() returned: the lists

--- sched.when { ... }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	if type(t) ~= "table" then
		fail(nil, "sched.when(%s); expected sched.when { [\"Mon-Fri 8:00-18:00\"] = { ... }, otherwise = { ... } }",
			tostring(t))
	elseif t.otherwise == nil then
		fail("when", "sched.when: expected otherwise = { ... } for all other times")
	end
	local lists = {}
	for text, list in pairs(t) do
		if text ~= "otherwise" then
			local times, why = clock.parse(text)
			if not times then
				fail(tostring(text), "sched.when: %s", why)
			end
			for _, other in ipairs(lists) do
				local both = clock.both(times, other.times)
				if both then
					fail(text, "sched.when: '%s' and '%s' both hold on %s", other.text, text, both)
				end
			end
			lists[#lists + 1] = { text = text, times = times, list = list }
		end
	end
	lists[#lists + 1] = { text = "otherwise", list = t.otherwise }
	local mark = setmetatable({}, { __metatable = false })
	made[mark] = lists
	return mark
end

--- The lists of what make() returned: { text, times (nil: otherwise), list }; nil for anything else.
function M.lists(value)
	return type(value) == "table" and made[value] or nil
end

--- The one of several that holds at a time, by the site's clock.  engine.variant(): which of them is tried while the
--- set is loaded.
function M.choose(lists, site_clock, now)
	local variant = engine.variant()
	if variant > 0 then
		return lists[(variant - 1) % #lists + 1]
	end
	local state = clock.state(site_clock, now)
	for _, entry in ipairs(lists) do
		if not entry.times or clock.holds(state, entry.times) then
			return entry
		end
	end
end

return M
