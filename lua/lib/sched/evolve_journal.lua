-- SPDX-License-Identifier: MIT
--
-- sched.evolve_journal - what a search knows already: figures of simulations and answers of the proposer, by key.
--
-- A line is written as soon as it is known, and ends in " ;".  So a line that was cut off is told from one that
-- is whole, and a search that was ended at any moment goes on from what it knew.  Several searches (--part) write
-- into files of their own and read those of all.

local M = {}

local TAIL <const> = ".evolve"
local FIGURES <const> = { "bsld", "largest", "wait", "longest", "utilization", "gpu_utilization", "gini", "jobs",
	"unfinished" }

local function escape(text)
	return (text:gsub("[^%w_.-]", function(c) return ("%%%02x"):format(c:byte()) end))
end

local function unescape(text)
	return (text:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local Journal = {}
Journal.__index = Journal

local function take_line(self, line)
	local kind, key, rest = line:match("^(%a) (%x+) (.*) ;$")
	if kind == "R" then
		local figures, i = {}, 0
		for word in rest:gmatch("%S+") do
			i = i + 1
			figures[FIGURES[i] or "more"] = tonumber(word) or 0.0
		end
		if i == #FIGURES then
			self.result[key] = figures
		end
	elseif kind == "F" then
		self.result[key] = { error = unescape(rest) }
	elseif kind == "P" then
		self.answer[key] = { text = unescape(rest) }
	elseif kind == "N" then
		self.answer[key] = { why = unescape(rest) }
	end
end

--- The journal in a directory, for part *part* (nil: all); without a directory nothing is kept.  Raises { why = }.
function M.open(host, directory, part)
	local self = setmetatable({ host = host, result = {}, answer = {}, figures = FIGURES }, Journal)
	if not directory then
		return self
	end
	local names, why = host.files(directory, TAIL)
	if not names then
		error({ why = why }, 0)
	end
	for _, name in ipairs(names) do
		for line in io.lines(directory .. "/" .. name) do
			take_line(self, line)
		end
	end
	local path = ("%s/%s%s"):format(directory, part or "all", TAIL)
	self.file, why = io.open(path, "a")
	if not self.file then
		error({ why = why }, 0)
	end
	self.file:write("\n")	-- a line that was cut off is ended
	return self
end

local function write(self, kind, key, rest)
	if self.file then
		local ok, why = self.file:write(("%s %s %s ;\n"):format(kind, key, rest))
		ok, why = ok and self.file:flush(), why
		if not ok then
			error({ why = tostring(why) }, 0)
		end
	end
end

--- Keep the figures of a simulation, { error = } or those of host.simulate().
function Journal:keep(key, figures)
	self.result[key] = figures
	if figures.error then
		return write(self, "F", key, escape(figures.error))
	end
	local words = {}
	for i, name in ipairs(FIGURES) do
		words[i] = ("%.17g"):format(figures[name])
	end
	return write(self, "R", key, table.concat(words, " "))
end

--- Keep what the proposer answered: a text, or nil and why not.
function Journal:keep_answer(key, text, why)
	self.answer[key] = text and { text = text } or { why = why }
	write(self, text and "P" or "N", key, escape(text or why))
end

return M
