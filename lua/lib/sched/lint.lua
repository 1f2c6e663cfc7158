-- SPDX-License-Identifier: MIT
--
-- sched.lint - what is surely a mistake in a policy's text, for schedlua check: each with its line and what to write.
--
-- The text is read as a list of words, not run, so that lines are looked at to which no trial comes.  Only what cannot
-- be meant is told: a comparison that has one answer, a field that is not there, a number that is a text.  Jobs are
-- variables called job, the first parameter of admit, allow, rank and place, and what comes out of cluster:queue().

local suggest = require "sched.suggest"

local M = {}

-- -- words ---------------------------------------------------------------------

local BEYOND <const> = 10		-- words of nothing behind the last, so that looking ahead finds some

-- { kind = "name", "number", "text", "sign", text =, line = }; a text is without its quotes.
local function words_of(text)
	local list, at, line = {}, 1, 1
	local function skip(to)
		for _ in text:sub(at, to):gmatch("\n") do
			line = line + 1
		end
		at = to + 1
	end
	local function add(kind, word, last)
		list[#list + 1] = { kind = kind, text = word, line = line }
		skip(last)
	end
	while at <= #text do
		local equals, quote = text:match("^%-%-%[(=*)%[", at), text:match("^[\"']", at)
		if equals then
			skip(select(2, text:find("]" .. equals .. "]", at, true)) or #text)
		elseif text:find("^%-%-", at) then
			skip((text:find("\n", at, true) or #text + 1) - 1)
		elseif text:find("^%s", at) then
			skip(select(2, text:find("^%s+", at)))
		elseif text:find("^%[=*%[", at) then
			equals = text:match("^%[(=*)%[", at)
			local first, last = text:find("]" .. equals .. "]", at, true)
			add("text", text:sub(at + #equals + 2, (first or #text + 1) - 1), last or #text)
		elseif quote then
			local last = at + 1
			while last <= #text and text:sub(last, last) ~= quote do
				last = last + (text:sub(last, last) == "\\" and 2 or 1)
			end
			add("text", text:sub(at + 1, last - 1), math.min(last, #text))
		elseif text:find("^[%a_]", at) then
			local _, last = text:find("^[%w_]+", at)
			add("name", text:sub(at, last), last)
		elseif text:find("^%.?%d", at) then
			local _, last = text:find("^[%w.]+", at)
			add("number", text:sub(at, last), last)
		else
			local sign = text:match("^[<>=~]=", at) or text:match("^%.%.%.?", at) or text:match("^//", at) or
				text:match("^[<>][<>]", at) or text:sub(at, at)
			add("sign", sign, at + #sign - 1)
		end
	end
	for _ = 1, BEYOND do
		list[#list + 1] = { kind = "end", text = "", line = line }
	end
	return list
end

local opens = { ["function"] = true, ["if"] = true, ["do"] = true, ["repeat"] = true }
local asked = { admit = true, allow = true, rank = true, place = true, score = true }

-- The end of the block that begins at a word, function say: its place in the list.
local function block_end(list, i)
	local depth = 0
	for k = i, #list do
		local w = list[k]
		if w.kind == "name" and opens[w.text] then
			depth = depth + 1
		elseif w.kind == "name" and (w.text == "end" or w.text == "until") then
			depth = depth - 1
			if depth == 0 then
				return k
			end
		end
	end
	return #list
end

-- Functions that the engine asks: { name =, first =, last =, job =, cluster = }.
local function find_asked(list)
	local found = {}
	for i = 1, #list - BEYOND do
		local w, name, at = list[i], nil, nil
		if w.text == "function" and list[i + 2] and list[i + 2].text == "." then
			name, at = list[i + 3].text, i + 4		-- function M.rank(
		elseif w.text == "function" and i > 2 and list[i - 1].text == "=" then
			name, at = list[i - 2].text, i + 1		-- rank = function(
		end
		if name and asked[name] and list[at] and list[at].text == "(" then
			local one = { name = name, first = i, last = block_end(list, i) }
			if list[at + 1].kind == "name" then
				one.job = list[at + 1].text
				one.cluster = list[at + 2].text == "," and list[at + 3].kind == "name" and list[at + 3].text or nil
			end
			found[#found + 1] = one
		end
	end
	return found
end

-- -- what is looked for ----------------------------------------------------------

local turned = { ["<"] = ">", [">"] = "<", ["<="] = ">=", [">="] = "<=" }
local equal = { ["=="] = "false", ["~="] = "true" }

-- A comparison of a job's field with a word, by its sign.
local function about_comparison(field, kind, sign, word)
	local plain = kind:gsub("?$", "")
	if word.text == "nil" and word.kind == "name" and equal[sign] and not kind:find("?", 1, true) then
		return ("is always %s: job.%s is never nil"):format(equal[sign], field) ..
			(plain == "list" and ("; write #job.%s > 0"):format(field) or "")
	elseif word.kind == "text" and equal[sign] and plain == "list" then
		return ("is always %s: job.%s is a list"):format(equal[sign], field) ..
			(field == "partitions" and ("; write job.partition %s \"%s\""):format(sign, word.text) or
			("; look for the text in it, in a loop over job.%s"):format(field))
	elseif word.kind == "text" and word.text == "" and equal[sign] and plain == "text" then
		return ("is always %s: a text that is not set is nil; write job.%s %s nil"):format(equal[sign], field, sign)
	elseif word.kind == "text" and plain == "number" and (equal[sign] or turned[sign]) then
		return ("compares a number with a text; write job.%s %s sched.duration \"%s\", or a number of seconds"):format(field,
			sign, word.text)
	elseif word.kind == "number" and equal[sign] and (plain == "text" or plain == "list") then
		return ("is always %s: job.%s is a %s"):format(equal[sign], field, plain)
	end
end

-- Does an argument of format(), the words from one place to another, divide as the last thing that it does?
local function divides(list, from, to)
	local depth, found = 0, false
	for i = from, to do
		local text = list[i].kind == "sign" and list[i].text
		if text == "(" or text == "{" or text == "[" then
			depth = depth + 1
		elseif text == ")" or text == "}" or text == "]" then
			depth = depth - 1
		elseif text == "/" and depth == 0 then
			found = true
		elseif text == "//" and depth == 0 or list[i].kind == "name" and (list[i].text == "and" or list[i].text == "or") then
			return false
		end
	end
	return found
end

-- The arguments of a call whose parenthesis opens at a place: { first, last } of each.
local function arguments(list, open)
	local depth, found, first = 0, {}, open + 1
	for i = open, #list do
		local text = list[i].kind == "sign" and list[i].text
		if text == "(" or text == "{" or text == "[" then
			depth = depth + 1
		elseif text == ")" or text == "}" or text == "]" then
			depth = depth - 1
			if depth == 0 then
				found[#found + 1] = { first, i - 1 }
				return found
			end
		elseif text == "," and depth == 1 then
			found[#found + 1] = { first, i - 1 }
			first = i + 1
		end
	end
	return {}
end

local function about_format(list, i, tell)
	local format, args, skip = nil, {}, 0
	if list[i].text == "format" and list[i - 1] and list[i - 1].text == ":" and list[i - 2].text == ")" and
		list[i - 3].kind == "text" and list[i - 4].text == "(" and list[i + 1].text == "(" then
		format, args = list[i - 3].text, arguments(list, i + 1)
	elseif (list[i].text:match("^log_") or list[i].text == "format") and list[i - 1] and list[i - 1].text == "." and
		list[i + 1] and list[i + 1].text == "(" and list[i + 2].kind == "text" then
		format, args, skip = list[i + 2].text, arguments(list, i + 1), 1
	end
	local n = 0
	for flags, letter in (format or ""):gsub("%%%%", ""):gmatch("%%([-+ #0-9.]*)(%a)") do
		n = n + 1
		local arg = args[n + skip]
		if letter == "d" and arg and arg[1] <= arg[2] and divides(list, arg[1], arg[2]) then
			tell(list[arg[1]].line, ("%%%sd takes a whole number, and a / gives none; write // or %%.1f"):format(flags))
		end
	end
end

-- Variables that are jobs: { [name] = list of { first, last } places }; job is one anywhere.
local function find_jobs(list, functions)
	local jobs = { job = { { 1, #list } } }
	local function add(name, first, last)
		jobs[name] = jobs[name] or {}
		table.insert(jobs[name], { first, last })
	end
	for _, f in ipairs(functions) do
		if f.job then
			add(f.job, f.first, f.last)
		end
	end
	for i = 1, #list - BEYOND do
		local w = list[i]
		if w.text == "for" and list[i + 2] and list[i + 2].text == "in" and list[i + 4] and list[i + 4].text == ":" and
			list[i + 5].text == "queue" then
			add(list[i + 1].text, i, block_end(list, i + 1))
		end
	end
	return jobs
end

local function is_job(jobs, name, i)
	for _, range in ipairs(jobs[name] or {}) do
		if i >= range[1] and i <= range[2] then
			return true
		end
	end
	return false
end

-- A table of the file's own called job is none of ours: local job = { ... }.
local function own_job(list)
	for i, w in ipairs(list) do
		if w.text == "job" and list[i + 1] and list[i + 1].text == "=" and list[i + 2] and list[i + 2].text == "{" then
			return true
		end
	end
	return false
end

--- Call tell(line, message) for each mistake of a text.  fields: of a job, by name, "text", "number", "list", "boolean"
--- or "other", with a "?" behind what may be nil.
function M.check(text, fields, tell)
	local list = words_of(text)
	local functions = find_asked(list)
	local jobs = own_job(list) and {} or find_jobs(list, functions)
	for i = 1, #list - BEYOND do
		local w, a, b, c, d = list[i], list[i + 1], list[i + 2], list[i + 3], list[i + 4]
		if w.kind == "name" and a and b and a.text == "." and b.kind == "name" and is_job(jobs, w.text, i) and
			not (i > 1 and (list[i - 1].text == "." or list[i - 1].text == ":")) then
			local kind = fields[b.text]
			local why = kind and c and d and c.kind == "sign" and about_comparison(b.text, kind, c.text, d)
			if not kind and (jobs[w.text] ~= jobs.job or #functions > 0) and not (c and (c.text == "=" or c.text == "(")) then
				local near = suggest.nearest(b.text, fields)
				tell(b.line, ("a job has no field '%s'"):format(b.text) .. (near and ("; did you mean '%s'?"):format(near) or ""))
			elseif why then
				tell(b.line, ("%s.%s %s %s %s"):format(w.text, b.text, c.text, d.kind == "text" and '"' .. d.text .. '"' or d.text,
					why))
			end
		elseif (w.text == "ipairs" or w.text == "pairs") and a and a.text == "(" and c and c.text == ":" and d and
			d.text == "queue" then
			tell(w.line, ("%s(%s:queue()): it is no list; write for job in %s:queue() do"):format(w.text, b.text, b.text))
		elseif w.kind == "name" and i > 4 then
			about_format(list, i, tell)
		end
	end
	for _, f in ipairs(functions) do
		for i = f.first, math.min(f.last, #list - BEYOND) do
			if (f.name == "admit" or f.name == "allow") and list[i].text == "return" and list[i + 1].text == "0" then
				tell(list[i].line, ("%s: return 0 is true in Lua; write return false, \"why\""):format(f.name))
			end
		end
	end
	M.check_state(list, functions, tell)
end

--- A count in a variable of the file that a function raises is as new as the cycle.
function M.check_state(list, functions, tell)
	local own, depth = {}, 0
	for i, w in ipairs(list) do
		if w.kind == "name" and opens[w.text] then
			depth = depth + 1
		elseif w.kind == "name" and (w.text == "end" or w.text == "until") then
			depth = depth - 1
		elseif i + 3 <= #list and w.text == "local" and depth == 0 and list[i + 2].text == "=" and
			list[i + 3].kind == "number" then
			own[list[i + 1].text] = true
		end
	end
	for _, f in ipairs(functions) do
		for i = f.first, math.min(f.last, #list - BEYOND) do
			local name = list[i].kind == "name" and own[list[i].text] and list[i].text
			if name and list[i + 1].text == "=" and list[i + 2].text == name and list[i + 3].text:match("^[+-]$") then
				tell(list[i].line, ("'%s' is as new as the cycle: each begins with what the file says; " ..
					"plan:remember() keeps a value, and cluster.usage counts what runs"):format(name))
			end
		end
	end
end

return M
