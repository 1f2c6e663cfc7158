-- SPDX-License-Identifier: MIT
--
-- sched.site - what a site file says, checked when it is loaded.
--
--   return sched.site {
--     interval = 3, budget = 2.0,
--     default = { "easy" },
--     partitions = {
--       debug = "fcfs",
--       ["gpu,gpu-long"] = { "shortest_first", patience = "12h", "easy", window = 200 },
--     },
--   }
--
-- A list names what serves a set of partitions: policies by name, and tables with admit, allow
-- or rank, as library functions make them.  All admits and allows have to agree, one rank
-- orders, one decide decides (the bundled easy where none is named).  What is said beside the names
-- are options of the policies; a nested list keeps options with one policy.  What tuned says of a
-- policy, tuned = { easy = { window = 200 } }, goes before that: schedlua tune writes it.
--
-- engine is the C side (script/script.c); only modules named sched.* see it.

local duration = require "sched.duration"
local combine = require "sched.combine"
local locate = require "sched.locate"
local options = require "sched.options"
local suggest = require "sched.suggest"

local M = {}

local made = {}		-- what site() returned: the site it stands for

local site_keys = { interval = true, budget = true, default = true, partitions = true, on_failure = true, tuned = true,
	forecasts = true, wake_after = true, when = true, time_zone = true, holidays = true }
local ranges = {
	interval = { min = 0.1, max = 86400, unit = "seconds between two cycles" },
	budget = { min = 0.01, max = 3600, unit = "seconds that a cycle may take to decide" },
}
local on_failures = { hold = true, easy = true }
local functions = { "admit", "allow", "rank", "place", "score", "prepare", "decide" }
-- what else is looked at (driver.lua, explain.lua)
local others = { "api", "name", "options", "split", "rerank", "serve", "explain", "stages", "lenders", "through",
	"on_failure" }
local policy_keys = { doc = true }
for _, keys in ipairs { functions, others } do
	for _, key in ipairs(keys) do
		policy_keys[key] = true
	end
end

local function shown(value)
	return type(value) == "string" and ('"%s"'):format(value) or tostring(value)
end

local function raise(at, format, ...)
	error(("%s: %s"):format(at, format:format(...)), 0)
end

-- -- policies --------------------------------------------------------------

-- The fields of a policy, so that what is checked is what is used: the table itself is its maker's.
local function copy_of(policy)
	local copy = {}
	for _, keys in ipairs { functions, others } do
		for _, key in ipairs(keys) do
			copy[key] = policy[key]
		end
	end
	return copy
end

-- Check the stages of a component: a copy of them.
local function checked_stages(stages, name, at)
	local copy = {}
	for i, stage in ipairs(type(stages) == "table" and stages or { false }) do
		if type(stage) ~= "table" or type(stage.run) ~= "function" then
			raise(at("stages"), "policy '%s': stages: expected a list of { run = function }, got %s", name,
				shown(type(stages) == "table" and stage or stages))
		end
		copy[i] = { run = stage.run, of_lenders = stage.of_lenders }
	end
	return copy
end

-- Check what a policy module or a library function returned, and copy it.  at(word...) says where.
local function check_policy(original, name, at)
	if type(original) ~= "table" then
		raise(at(), "policy '%s' returned %s, expected a table with admit, allow, rank, place, score, prepare or decide",
			name, shown(original))
	end
	local policy = copy_of(original)
	for key in pairs(original) do
		if not policy_keys[key] and not tostring(key):match("^_") then
			raise(at(key), "policy '%s': unknown field '%s'%s; what is its own is local, or begins with _", name,
				tostring(key), suggest.hint(key, policy_keys))
		end
	end
	local some = false
	for _, key in ipairs(functions) do
		local f = policy[key]
		if f ~= nil and type(f) ~= "function" then
			raise(at(key), "policy '%s': %s: expected a function, got %s", name, key, shown(f))
		end
		some = some or f ~= nil
	end
	if not some and not policy.stages then	-- stages: driver.lua
		raise(at(), "policy '%s' has none of admit, allow, rank, place, score, prepare and decide", name)
	end
	if policy.split ~= nil and type(policy.split) ~= "boolean" then
		raise(at("split"), "policy '%s': split: expected true or false, got %s", name, shown(policy.split))
	end
	if policy.rerank ~= nil and (type(policy.rerank) ~= "boolean" or not policy.rank) then
		raise(at("rerank"), "policy '%s': rerank: expected true or false, beside a rank, got %s", name, shown(policy.rerank))
	end
	if policy.name ~= nil and type(policy.name) ~= "string" then
		raise(at("name"), "policy '%s': name: expected a string, got %s", name, shown(policy.name))
	end
	if policy.on_failure ~= nil and not on_failures[policy.on_failure] then
		raise(at("on_failure"), "policy '%s': on_failure: expected \"hold\" or \"easy\", got %s", name,
			shown(policy.on_failure))
	end
	if policy.options ~= nil then
		options.check_definitions(policy.options, function(word, message)
			raise(at("options", word), "policy '%s': %s", name, message)
		end)
	end
	policy.stages = policy.stages ~= nil and checked_stages(policy.stages, name, at) or nil
	return policy
end

-- The policy called so, as a part of a list: { name, policy }.
local function named_policy(name, at)
	local path, why, missing = engine.find(name)
	if not path and missing then
		raise(at(name), "unknown policy '%s'%s", name, suggest.hint(name, engine.policies()))
	elseif not path then
		raise(at(name), "policy '%s': %s", name, why)
	end
	local in_policy = locate.locator(path, 1, engine.source(path))
	local policy = check_policy(require(name), name, in_policy)
	if policy.api ~= 1 then
		raise(in_policy("api"), "policy '%s': api is %s, this engine serves api = 1", name, shown(policy.api))
	end
	return { name = name, policy = policy }
end

-- A table that a library function made.
local function made_policy(original, at)
	local name = type(original.name) == "string" and original.name or "table"
	local policy = check_policy(original, name, at)
	return { name = name, policy = policy, given = policy.options and {} }
end

local function is_component(value)
	return value.admit ~= nil or value.allow ~= nil or value.rank ~= nil or value.decide ~= nil or
		type(value.place) == "function" or type(value.score) == "function" or value.prepare ~= nil or value.stages ~= nil
end

-- -- lists -----------------------------------------------------------------

-- Give each option to the one policy of the list that knows it.
local function share_options(parts, given, at)
	for key, value in pairs(given) do
		local owner
		for _, part in ipairs(parts) do
			if part.given and (part.policy.options or {})[key] then
				if owner then
					raise(at(key), "option '%s' is one of both '%s' and '%s'; write { { \"%s\", %s = ... }, ... }",
						key, owner.name, part.name, owner.name, key)
				end
				owner = part
			end
		end
		if not owner then
			local known, names = {}, {}
			for _, part in ipairs(parts) do
				if part.given then
					names[#names + 1] = ("'%s'"):format(part.name)
					for name in pairs(part.policy.options or {}) do
						known[name] = true
					end
				end
			end
			raise(at(key), "unknown option '%s' of %s %s%s", tostring(key), #names > 1 and "the policies" or "policy",
				#names > 0 and table.concat(names, ", ") or "(none is named)", suggest.hint(key, known))
		end
		owner.given[key] = value
	end
end

-- A place that no policy of the list has as an option: all of them have their jobs by it.  It is taken out of *given*.
local function take_place(parts, given, at)
	local own = given.place
	for _, part in ipairs(parts) do
		if (part.given and part.policy.options or {}).place then
			return nil
		end
	end
	local wrong = own ~= nil and (type(own) ~= "string" and ("place = %s; expected a name"):format(shown(own)) or
		engine.check_place(own, false))
	if wrong then
		raise(at("place"), "%s", wrong)
	end
	given.place = nil
	local said = { place = own }
	return own ~= nil and made_policy({ name = "place", place = function() return said end }, at) or nil
end

local read_list

local function read_element(element, at, nested)
	if type(element) == "string" then
		local part = named_policy(element, at)
		part.given = {}
		return { part }
	elseif type(element) ~= "table" then
		raise(at(), "%s in a list of policies; expected a policy's name or a table with admit, allow or rank", shown(element))
	elseif is_component(element) then
		local part = made_policy(element, at)
		return { part }
	elseif nested then
		raise(at(), "lists of policies nest once: { { \"easy\", window = 100 }, ... }")
	end
	return read_list(element, at, true)
end

-- A list of policies and options -> parts { name, policy, given }, options shared out.
function read_list(list, at, nested)
	local parts, given, last = {}, {}, 0
	if type(list) == "string" or type(list) == "table" and is_component(list) then
		list = { list }
	elseif type(list) ~= "table" then
		raise(at(), "%s instead of policies; expected a name or a list such as { \"easy\", window = 100 }", shown(list))
	end
	for key, value in pairs(list) do
		if math.type(key) ~= "integer" then
			given[key] = value
		elseif key ~= last + 1 then
			raise(at(), "a list of policies has a gap: entry %d follows entry %d", key, last)
		else
			last = key
			for _, part in ipairs(read_element(value, at, nested)) do
				parts[#parts + 1] = part
			end
		end
	end
	if last == 0 then
		raise(at(), "a list without a policy; expected a name such as \"easy\"")
	end
	-- what a nested list said has been shared out there
	local open = {}
	for _, part in ipairs(parts) do
		if not part.settled then
			open[#open + 1] = part
			part.settled = true
		end
	end
	parts[#parts + 1] = take_place(open, given, at)
	share_options(open, given, at)
	return parts
end

-- -- composing -------------------------------------------------------------

local expected = {
	admit = "true, or false and a reason",
	allow = "true, false and a reason, or \"later\" and a reason",
	rank = "a number",
}

-- What a function of a part returned is no answer: raise at the line where the function begins.
local function blame(part, key, f, job, answer)
	raise(engine.where(f), "policy '%s': %s returned %s for job %d, expected %s", part.name, key,
		answer == nil and "nothing" or answer ~= answer and "not-a-number (0/0)" or shown(answer), job.id,
		expected[key])
end

-- Numbers that can be ordered.
local function is_rank(rank, among_equals)
	return type(rank) == "number" and rank == rank and
		(among_equals == nil or type(among_equals) == "number" and among_equals == among_equals)
end

-- A function of a part, called with its options and with what its serve() made (driver.lua).
local function bound(part, key)
	local f, opt = part.policy[key], part.values
	if key == "rank" then
		return f and function(job, cluster)
			local rank, among_equals = f(job, cluster, opt, part.state)
			if not is_rank(rank, among_equals) then
				blame(part, key, f, job, is_rank(rank) and among_equals or rank)
			end
			return rank, among_equals
		end
	end
	if key == "place" then
		return combine.place_of(part)
	end
	return f and function(job, cluster)
		local answer, why = f(job, cluster, opt, part.state)
		-- a text alone would be true: who returns one means a reason
		if answer == nil and why == nil or
			type(answer) == "string" and not (key == "allow" and answer == "later") then
			blame(part, key, f, job, answer)
		end
		return answer, why
	end
end

-- The function *key* of all parts that have it.
local function all_of(parts, key)
	local list = {}
	for _, part in ipairs(parts) do
		list[#list + 1] = bound(part, key)
	end
	return list
end

local function only_one(parts, key, at)
	local found
	for _, part in ipairs(parts) do
		if part.policy[key] then
			if found then
				raise(at(part.name), "two policies with %s: '%s' and '%s'; a set of partitions takes one",
					key, found.name, part.name)
			end
			found = part
		end
	end
	return found
end

local function names_of(parts)
	local names = {}
	for i, part in ipairs(parts) do
		names[i] = part.name
	end
	return names
end

-- A list without its on_failure, and that.
local function take_on_failure(list, at)
	local rest, answer = {}
	if type(list) ~= "table" or is_component(list) or list.on_failure == nil then
		return list, nil
	end
	answer = list.on_failure
	if not on_failures[answer] then
		raise(at("on_failure"), "on_failure = %s; expected \"hold\" or \"easy\"", shown(answer))
	end
	for key, value in pairs(list) do
		rest[key] = value
	end
	rest.on_failure = nil
	return rest, answer
end

-- When what guards a list's partitions fails nothing starts there, if one of its parts wants that.
local function wish_of(parts)
	for _, part in ipairs(parts) do
		if part.policy.on_failure == "hold" then
			return "hold"
		end
	end
	return "easy"
end

-- The options given to a part, and those that were tuned, which are used up.
local function with_tuned(part, tuned)
	local given = {}
	for name, value in pairs(part.given or {}) do
		given[name] = value
	end
	for name, value in pairs(tuned and tuned.said[part.name] or {}) do
		given[name] = value
	end
	if tuned then
		tuned.used[part.name] = true
	end
	return given
end

-- What the driver works with: { name, names, parts, partitions, admit, allow, rank, prepare, decide,
-- options, split, on_failure, rank_part }.  The last is the part that has the rank (bind/translate.c).
local function compose(given, at, site_wide, tuned)
	local list, on_failure = take_on_failure(given, at)
	local parts = read_list(list, at)
	for _, part in ipairs(parts) do
		part.values = options.resolve({ name = part.name, options = part.policy.options }, with_tuned(part, tuned),
			function(word, message)
				raise(at(part.name, word), "%s", message)
			end)
	end
	if not only_one(parts, "decide", at) then
		local easy = named_policy("easy", at)
		easy.values = options.resolve(easy.policy, with_tuned(easy, tuned),
			function(_, message) raise(at(), "%s", message) end)
		parts[#parts + 1] = easy
	end
	local rank, decide = only_one(parts, "rank", at), only_one(parts, "decide", at)
	local names, prepare = names_of(parts), combine.all_prepare(parts)
	return {
		name = table.concat(names, "+"), names = names, parts = parts,
		admit = combine.all_admit(all_of(parts, "admit")),
		allow = combine.all_allow(all_of(parts, "allow")),
		rank = rank and bound(rank, "rank"), rerank = rank and rank.policy.rerank, rank_part = rank,
		place = combine.first_place(all_of(parts, "place")),
		prepare = prepare, decide = combine.prepared(prepare, decide.policy.decide), options = decide.values,
		split = decide.policy.split ~= false,
		on_failure = on_failure or site_wide or wish_of(parts),
	}
end

-- The same of lists by time (sched.when): what is said of the set as a whole is that of all of them, and choice says
-- which of them holds.
local function compose_by_time(lists, at, site_wide, tuned, site)
	local set = { names = {}, parts = {}, on_failure = "easy", choice = {} }
	for i, entry in ipairs(lists) do
		if entry.times and entry.times.holidays and not (site.clock and site.clock.file) then
			raise(at(entry.text), "'%s': there are no holidays; expected holidays = \"FILE\" in sched.site", entry.text)
		end
		local one = compose(entry.list, function(...) return at(entry.text, ...) end, site_wide, tuned)
		set.choice[i] = { times = entry.times, set = one }
		table.move(one.names, 1, #one.names, #set.names + 1, set.names)
		table.move(one.parts, 1, #one.parts, #set.parts + 1, set.parts)
		if one.on_failure == "hold" then
			set.on_failure = "hold"
		end
	end
	site.variants = math.max(site.variants, #lists)
	return set
end

local function compose_list(given, at, site_wide, tuned, site)
	local lists = type(given) == "table" and getmetatable(given) ~= nil and require("sched.when").lists(given)
	if lists then
		return compose_by_time(lists, at, site_wide, tuned, site)
	end
	return compose(given, at, site_wide, tuned)
end

-- -- the site --------------------------------------------------------------

local function check_figures(t, at)
	for key in pairs(t) do
		if not site_keys[key] then
			raise(at(key), "unknown key %s of sched.site%s", shown(key), suggest.hint(key, site_keys))
		end
	end
	if t.on_failure ~= nil and not on_failures[t.on_failure] then
		raise(at("on_failure"), "on_failure = %s; expected \"hold\" or \"easy\"", shown(t.on_failure))
	end
	for key, range in pairs(ranges) do
		local value = t[key]
		if value ~= nil and (type(value) ~= "number" or not (value >= range.min and value <= range.max)) then
			raise(at(key), "%s = %s; expected %s to %s %s", key, shown(value), range.min, range.max, range.unit)
		end
	end
end

-- wake_after = "4m": seconds; 0 where nothing is said.
local function read_wake_after(t, at)
	local seconds = t.wake_after == nil and 0 or duration.seconds(t.wake_after)
	if not seconds or seconds < 0 or seconds ~= seconds then
		raise(at("wake_after"), "wake_after = %s; expected a duration, \"4m\" say", shown(t.wake_after))
	end
	return seconds
end

-- "gpu,gpu-long" -> { "gpu", "gpu-long" }; a partition belongs to one set.
local function partition_names(key, taken, at)
	local names = {}
	if type(key) ~= "string" then
		raise(at("partitions"), "partitions: %s is no partition's name; expected { NAME = { \"easy\" } }", shown(key))
	end
	for name in (key .. ","):gmatch("%s*([^,]-)%s*,") do
		if name == "" then
			raise(at("partitions", key), "partitions: \"%s\" has an empty name", key)
		elseif taken[name] then
			raise(at("partitions", key), "partition '%s' is in two sets", name)
		end
		taken[name] = true
		names[#names + 1] = name
	end
	return names
end

-- tuned = { NAME = { OPTION = VALUE } }
local function read_tuned(t, at)
	local said = t.tuned == nil and {} or t.tuned
	if type(said) ~= "table" then
		raise(at("tuned"), "tuned = %s; expected { POLICY = { OPTION = VALUE, ... }, ... }", shown(said))
	end
	for name, values in pairs(said) do
		if type(name) ~= "string" or type(values) ~= "table" then
			raise(at("tuned"), "tuned: %s = %s; expected POLICY = { OPTION = VALUE, ... }", tostring(name), shown(values))
		end
	end
	return { said = said, used = {} }
end

local function check_tuned(tuned, at)
	for name in pairs(tuned.said) do
		if not tuned.used[name] then
			raise(at("tuned", name), "tuned: the site has no policy '%s'%s", name, suggest.hint(name, tuned.used))
		end
	end
end

local function build(t, at, path, line)
	local site = { interval = t.interval or 0, budget = t.budget or 0, sets = {}, named = "", variants = 1 }
	local taken, tuned, default = {}, read_tuned(t, at), t.default
	check_figures(t, at)
	site.wake_after = read_wake_after(t, at)
	if t.time_zone ~= nil or t.holidays ~= nil then
		site.clock = require("sched.clock").make(path, line, t.time_zone, t.holidays)
	end
	if t.when ~= nil and default ~= nil then
		raise(at("when"), "when and default: expected only one of them; when is default = sched.when { ... }")
	elseif t.when ~= nil then
		default = require("sched.when").make(path, line, t.when)
	end
	site.default = compose_list(default == nil and "easy" or default,
		function(...) return at(t.when and "when" or "default", ...) end, t.on_failure, tuned, site)
	if t.partitions ~= nil and type(t.partitions) ~= "table" then
		raise(at("partitions"), "partitions = %s; expected { NAME = { \"easy\" }, ... }", shown(t.partitions))
	end
	for key, list in pairs(t.partitions or {}) do
		local names = partition_names(key, taken, at)
		local set = compose_list(list, function(...) return at("partitions", names[1], ...) end, t.on_failure,
			tuned, site)
		set.partitions = names
		for _, name in ipairs(names) do
			site.named = site.named .. ("%s: %s\n"):format(at("partitions", name), name)
		end
		site.sets[#site.sets + 1] = set
	end
	check_tuned(tuned, at)
	if t.forecasts ~= nil then
		site.forecasts = require("sched.forecasts").make(path, line, t.forecasts)
	end
	return site
end

local function literal(value)
	if math.type(value) == "float" then
		return value == math.huge and "math.huge" or ("%.14g"):format(value)
	end
	return ("%q"):format(value)
end

-- What may be tuned: a line of tabs for each option, its policy, its name, its value now and the
-- values to try, as Lua writes them.  A cycle has no use for it.
local function list_tunables(site)
	local lines, seen = {}, {}
	local function add(part)
		for name, def in pairs(not seen[part.name] and part.policy.options or {}) do
			local list, why = options.to_try(def)
			if why then
				error(("policy '%s': option '%s': tune: %s"):format(part.name, name, why), 0)
			end
			if list and #list > 1 then
				local words = { part.name, name, literal(part.values[name]) }
				for _, value in ipairs(list) do
					words[#words + 1] = literal(value)
				end
				lines[#lines + 1] = table.concat(words, "\t") .. "\n"
			end
		end
		seen[part.name] = true
	end
	for _, part in ipairs(site.default.parts) do
		add(part)
	end
	for _, set in ipairs(site.sets) do
		for _, part in ipairs(set.parts) do
			add(part)
		end
	end
	table.sort(lines)
	return table.concat(lines)
end

-- "easy", or "site: auction, easy"
local function describe(site)
	local names, seen = {}, {}
	local function add(set)
		for _, name in ipairs(set.names) do
			if not seen[name] then
				seen[name] = true
				names[#names + 1] = name
			end
		end
	end
	add(site.default)
	for _, set in ipairs(site.sets) do
		add(set)
	end
	if #names == 1 then
		return names[1]
	end
	return "site: " .. table.concat(names, ", ")
end

-- The rule of who is held (image/fence.h): the names of those that differ from the default.
local function add_hold(site)
	local names = {}
	for _, set in ipairs(site.sets) do
		if set.on_failure ~= site.default.on_failure then
			table.move(set.partitions, 1, #set.partitions, #names + 1, names)
		end
	end
	site.hold_rest = site.default.on_failure == "hold"
	site.hold_names = table.concat(names, ",")
end

local function finish(site)
	site.policy = describe(site)
	site.tunables = list_tunables
	add_hold(site)
	return site
end

-- Stands for a site and shows nothing of it, so that what was checked stays as it is.
local function seal(site)
	local sealed = setmetatable({}, {
		__newindex = function(_, key)
			error(("a site is read-only: write %s inside of sched.site { ... }"):format(tostring(key)), 2)
		end,
		__metatable = false,
	})
	made[sealed] = site
	return sealed
end

--- sched.site { ... }: the value that a site file returns.  path and line are where it is
--- called (engine.with_caller).
function M.site(path, line, t)
	local at = locate.locator(path, line, engine.source(path))
	if type(t) ~= "table" then
		raise(at(), "sched.site(%s); expected sched.site { default = { \"easy\" } }", shown(t))
	end
	return seal(finish(build(t, at, path, line)))
end

--- The site for which stands what the site file returned.  Called by the engine, and good for
--- once: whoever else asks, the site file would return no site.
function M.check(value, path)
	local site = type(value) == "table" and made[value]
	if not site then
		raise(path .. ":1", "returned %s, expected what sched.site { ... } returns",
			value == nil and "nothing (is 'return' missing?)" or "a " .. type(value))
	end
	made[value] = nil
	return site
end

-- "window=100" -> 100, true, "text"
local function value_of(text)
	if text == "true" or text == "false" then
		return text == "true"
	end
	return math.tointeger(tonumber(text)) or tonumber(text) or text
end

--- A site of one policy, from a command line: "easy", "window=100,order=fifo".
function M.single(name, text)
	local list = { name }
	local function at()
		return "policy " .. name .. (text ~= "" and "," .. text or "")
	end
	if text ~= "" then
		for item in (text .. ","):gmatch("([^,]*),") do
			local key, value = item:match("^%s*([%w_]+)%s*=%s*(.-)%s*$")
			if not key then
				raise(at(), "'%s' is no option; expected NAME=VALUE%s", item, engine.find(item) and
					"; policies to compare stand beside each other: \"" .. name .. " " .. item .. "\"" or "")
			end
			list[key] = value_of(value)
		end
	end
	return finish { interval = 0, budget = 0, wake_after = 0, sets = {}, named = "", variants = 1,
		default = compose(list, at) }
end

return M
