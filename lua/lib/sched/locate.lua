-- SPDX-License-Identifier: MIT
--
-- sched.locate - the line of a file that a message is about.
--
-- Lua knows the line of a call, not of an entry in a table that was passed to it.  So the
-- text is searched for the word in question, from a line on: "sched.lua:12:" then names
-- the line that has to be edited, not the one where the table began.

local M = {}

local function code_of(line)
	-- good enough for messages: a comment that does not begin within a string
	return (line:gsub("%-%-.*$", ""))
end

local function has_word(line, word)
	local from = 1
	while true do
		local first, last = line:find(word, from, true)
		if not first then
			return false
		end
		local before, after = line:sub(first - 1, first - 1), line:sub(last + 1, last + 1)
		if first == 1 then
			before = ""
		end
		if not before:match("[%w_]") and not after:match("[%w_]") then
			return true
		end
		from = first + 1
	end
end

--- The first line, not before *from*, in which *word* stands as a word; nil if none does.
function M.line_of(text, word, from)
	local number = 0
	for line in (text .. "\n"):gmatch("(.-)\n") do
		number = number + 1
		if number >= from and has_word(code_of(line), word) then
			return number
		end
	end
	return nil
end

--- A function at(word, ...): "path:line" of the first word that is found, each further word
--- being looked for from there on.
function M.locator(path, line, text)
	return function(...)
		local at = line
		for i = 1, select("#", ...) do
			local word = select(i, ...)
			at = text and word and M.line_of(text, tostring(word), at) or at
		end
		return ("%s:%d"):format(path, at)
	end
end

return M
