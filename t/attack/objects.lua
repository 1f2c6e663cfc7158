-- SPDX-License-Identifier: MIT
--
-- What one call returned is passed to all others: as each of their arguments, and as the value
-- of each key of their tables of options.  Neither the objects nor the keys are written down
-- here.  Objects are what calls of all functions returned, sorted by what they call themselves.
-- The keys of a function are those that it reads from a table that notes what is read, and the
-- words of the messages in which the function says what it expected.

-- luacheck: read globals attack

local M = {}
local MOST_OF_A_KIND, MOST_CALLS, MOST_WORDS = 3, 6000, 24

local kinds, objects = {}, {}		-- names in the order in which they came; { [kind] = list }

-- An object's kind: the class that it says, or which function gave it.
local function kind_of(v, from)
	if type(v) == "userdata" then
		local ok, text = pcall(tostring, v)
		return ok and type(text) == "string" and text:match("^[%a.]+") or "userdata"
	end
	return (type(v) == "function" or type(v) == "table") and from .. " " .. type(v) or nil
end

local function keep(v, from, below)
	local kind = kind_of(v, from)
	if not kind then
		return
	end
	local list = objects[kind]
	if not list then
		list = {}
		objects[kind] = list
		kinds[#kinds + 1] = kind
	end
	list[#list < MOST_OF_A_KIND and #list + 1 or 1 + below(MOST_OF_A_KIND)] = v
end

--- Keep what a call returned, and what is in its tables.
function M.keep(from, below, ok, ...)
	if not ok then
		return
	end
	for i = 1, math.min(select("#", ...), 3) do
		local v = select(i, ...)
		keep(v, from, below)
		if rawequal(type(v), "table") then
			for n = 1, 2 do
				keep(rawget(v, n), from .. " element", below)
			end
		end
	end
end

--- A new cycle: what there was is old, and a kind of its own.
function M.age()
	local old = {}
	for _, kind in ipairs(kinds) do
		if not kind:find("^old ") then
			old["old " .. kind] = objects[kind]
		end
	end
	kinds, objects = {}, {}
	for kind, list in pairs(old) do
		kinds[#kinds + 1] = kind
		objects[kind] = list
	end
end

-- All that was kept, in an order of its own.
local function all(below)
	local list = {}
	for _, kind in ipairs(kinds) do
		for _, v in ipairs(objects[kind]) do
			table.insert(list, 1 + below(#list + 1), v)
		end
	end
	return list
end

-- Words of a message, behind "expected": most are keys or values of options.
local function note_words(words, text)
	text = type(text) == "string" and text:match("expected (.*)") or ""
	for word in text:gmatch("[%a_][%w_]+") do
		if #words < MOST_WORDS and not words[word] then
			words[word] = true
			words[#words + 1] = word
		end
	end
end

-- The keys that a function knows in its tables of options.
local function learn_keys(call, name, self, list, below)
	local words = {}
	local recorder = setmetatable({}, { __index = function(_, key)
		if type(key) == "string" then
			note_words(words, "expected " .. key)
		end
		return below(3) > 0 and list[1 + below(#list)] or words[1 + below(#words)]
	end })
	for position = 1, 4 do
		for _, v in ipairs { recorder, { ["no such key"] = 1 }, recorder } do
			local args = { self, list[1 + below(#list)], list[1 + below(#list)] }
			args[position] = v
			local _, message = call(name, table.unpack(args, 1, position))
			note_words(words, message)
		end
	end
	return words
end

--- Pass all objects to the function *name*.  call(name, ...) is a protected call.
function M.pass(call, name, self, names, below)
	-- what there is
	for _, other in ipairs(names) do
		local own = M.self_of(other)
		M.keep(other, below, call(other, own))
		local list = all(below)
		M.keep(other, below, call(other, own, list[1], list[2]))
	end
	local list, calls, good = all(below), 0, {}
	local keys = learn_keys(call, name, self, list, below)
	local function try(position, v)
		local args = {}
		for i = 1, 4 do
			args[i] = below(2) == 0 and good[i] or list[1 + below(#list)]
		end
		if below(8) > 0 then
			args[1] = self
		end
		args[position] = v
		calls = calls + 1
		if call(name, table.unpack(args, 1, position + below(5 - position))) then
			good = args
		end
	end
	for _, v in ipairs(list) do
		for position = 1, 4 do
			try(position, v)
		end
	end
	for _, key in ipairs(keys) do
		for _, v in ipairs(list) do
			for position = self == nil and 1 or 2, 4 do
				if calls < MOST_CALLS then
					local other = keys[1 + below(2 * #keys)]	-- a second one beside it, or none
					local options = { [key] = v }
					if other and not options[other] then
						options[other] = list[1 + below(#list)]
					end
					try(position, options)
				end
			end
		end
	end
	attack.passed(name, #kinds, #keys)
end

return M
