-- SPDX-License-Identifier: MIT
--
-- sched.data_file - plain files that are edited while the scheduler runs: sched.file(), and
-- reading lines of words.
--
-- engine.file() (bind/data.c) reads the file when it changes, calls the parser, and keeps what
-- it returned.

local component = require "sched.component"

local M = {}

local max_name = 256		-- bytes of a user's or account's name

local function open(path, line, name, parse, how)
	local fail = component.locate(path, line)
	if type(name) ~= "string" then
		fail(nil, "sched.file(%s); expected the name of a file beside the site file", tostring(name))
	elseif type(parse) ~= "function" then
		fail(name, "sched.file(\"%s\", %s); expected a function that parses its text", name, tostring(parse))
	end
	local ok, file = pcall(how, name, parse)
	if not ok then
		-- what the parser says begins with the data file's own name and line
		local text = tostring(file)
		if text:find(name, 1, true) == 1 or text:find("/" .. name, 1, true) then
			error(text, 0)
		end
		fail(name, "%s", text)
	end
	return file
end

--- sched.file(name, parse): the file; its errors name the line of the call.
function M.open(path, line, name, parse)
	return open(path, line, name, parse, engine.file)
end

--- The same of one that something writes from time to time: that it is not there yet is said, and no error.
function M.await(path, line, name, parse)
	return open(path, line, name, parse, engine.awaited)
end

--- An iterator over the lines of a text that are neither empty nor comments: the line's number
--- and its words.  "#" begins a comment.
function M.lines(text)
	local number, at = 0, 1
	return function()
		while at <= #text do
			local stop = text:find("\n", at, true) or #text + 1
			local line = text:sub(at, stop - 1)
			local comment = line:find("#", 1, true)
			number, at = number + 1, stop + 1
			local words = {}
			for word in (comment and line:sub(1, comment - 1) or line):gmatch("%S+") do
				words[#words + 1] = word
			end
			if #words > 0 then
				return number, words
			end
		end
		return nil
	end
end

local kinds = { user = true, account = true }

-- The subject of a line, as a key ("user alice", "default"), and the words behind it.
local function subject(words, fail)
	if words[1] == "default" then
		return "default", 2
	elseif not kinds[words[1]] then
		fail("'%s': expected default, user or account", words[1]:sub(1, 60))
	elseif not words[2] then
		fail("'%s' without a name", words[1])
	elseif #words[2] > max_name then
		fail("a name of %d bytes, expected at most %d: %s...", #words[2], max_name, words[2]:sub(1, 40))
	end
	return words[1] .. " " .. words[2], 3
end

local function check_user(key, warn, at)
	local name = key:match("^user (.*)$")
	if name and engine.knows_user(name) == false then
		warn(("%s: there is no user '%s' on this machine; the line is kept"):format(at, name))
	end
end

--- A parser for files of the form
---	default VALUE...
---	user NAME VALUE...
---	account NAME VALUE...
--- put(map, key, words, first, fail) takes the words from first on into the map.  Unknown users
--- and subjects that come again are warned of; of those the last line holds.
function M.subjects(put)
	return function(text, path, warn)
		local map, seen = {}, {}
		for number, words in M.lines(text) do
			local at = ("%s:%d"):format(path, number)
			local function fail(format, ...)
				error(("%s: %s"):format(at, format:format(...)), 0)
			end
			local key, first = subject(words, fail)
			if seen[key] then
				warn(("%s: %s again, first in line %d; this line holds"):format(at, key, seen[key]))
			else
				check_user(key, warn, at)
			end
			seen[key] = seen[key] or number
			map[key .. "\n"] = number
			put(map, key, words, first, fail)
		end
		return map
	end
end

return M
