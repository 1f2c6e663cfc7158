-- SPDX-License-Identifier: MIT
--
-- core.lua - sched_core for programs in other languages: one request a line on stdin, one answer a line on
-- stdout, both JSON.  sched_core.py is its other end; doc/notebook.md has the requests.
--
--   {"call": "check", "policy": P}
--   {"call": "decide", "policy": P, "cluster": C, "options": O}
--   {"call": "simulate", "policy": P, "workload": W, "options": O}
--
-- P, C, W and O are what t.check(), t.decide(), t.cluster() and t.simulate() of sched.test take (doc/policy-api.md,
-- "Specs").  An answer is {"ok": RESULT} or {"error": TEXT}; the program goes on after an error.

local test = require "sched.test"

-- -- JSON ---------------------------------------------------------------------

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }
local MOST_NESTED <const> = 100

local function fail(at, expected)
	error(("byte %d of the request: expected %s"):format(at, expected), 0)
end

local function skip(text, at)
	return text:find("[^ \t\r\n]", at) or #text + 1
end

local function read_string(text, at)
	local parts, i = {}, at + 1
	while true do
		local stop = text:find('["\\]', i) or fail(at, "a string with its end")
		parts[#parts + 1] = text:sub(i, stop - 1)
		if text:byte(stop) == 34 then
			return table.concat(parts), stop + 1
		end
		local letter, high = text:sub(stop + 1, stop + 1), tonumber(text:match("^u(%x%x%x%x)", stop + 1) or "", 16)
		i = stop + (high and 6 or 2)
		if high and high >= 0xd800 and high < 0xdc00 then	-- half of a character beyond the first 65536
			local low = tonumber(text:match("^\\u(%x%x%x%x)", i) or "", 16) or fail(i, "the other half of a character")
			high, i = 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00), i + 6
		end
		parts[#parts + 1] = high and utf8.char(high) or escapes[letter] or fail(stop, "an escape of JSON")
	end
end

local read_value

-- The members up to *close*, each given to *take*, which returns where it ends.
local function read_members(text, at, close, take)
	at = skip(text, at + 1)
	if text:sub(at, at) == close then
		return at + 1
	end
	while true do
		at = skip(text, take(at))
		local mark = text:sub(at, at)
		if mark == close then
			return at + 1
		elseif mark ~= "," then
			fail(at, ("',' or '%s'"):format(close))
		end
		at = skip(text, at + 1)
	end
end

local function read_table(text, at, depth)
	local t = {}
	if depth > MOST_NESTED then
		fail(at, "less nesting")
	end
	if text:sub(at, at) == "[" then
		return t, read_members(text, at, "]", function(from)
			t[#t + 1], from = read_value(text, from, depth + 1)
			return from
		end)
	end
	return t, read_members(text, at, "}", function(from)
		local key, colon
		if text:sub(from, from) ~= '"' then
			fail(from, "a key")
		end
		key, colon = read_string(text, from)
		colon = skip(text, colon)
		if text:sub(colon, colon) ~= ":" then
			fail(colon, "':'")
		end
		t[key], from = read_value(text, skip(text, colon + 1), depth + 1)
		return from
	end)
end

function read_value(text, at, depth)
	local first = text:sub(at, at)
	if first == '"' then
		return read_string(text, at)
	elseif first == "[" or first == "{" then
		return read_table(text, at, depth)
	end
	local word = text:match("^[%w%.%+%-]+", at) or fail(at, "a value")
	if word == "true" or word == "false" then
		return word == "true", at + #word
	elseif word == "null" then
		return nil, at + #word
	end
	return tonumber(word) or fail(at, "a value"), at + #word
end

local function quote(text)
	return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function write(value, out)
	local kind = type(value)
	if kind == "table" then
		local list = #value > 0 or next(value) == nil
		out[#out + 1] = list and "[" or "{"
		local first = true
		for key, member in pairs(value) do
			out[#out + 1] = (first and "" or ",") .. (list and "" or quote(tostring(key)) .. ":")
			write(member, out)
			first = false
		end
		out[#out + 1] = list and "]" or "}"
	elseif kind == "number" then
		out[#out + 1] = value ~= value and "null" or value == math.huge and "1e999" or ("%.17g"):format(value)
	else
		out[#out + 1] = kind == "string" and quote(value) or tostring(value)
	end
	return out
end

-- -- requests ---------------------------------------------------------------------

local calls = {}

function calls.check(r)
	local figures, why, trace = test.check(r.policy)
	return figures or error(trace and why .. "\n" .. trace or why, 0)
end

function calls.decide(r)
	local plan = test.decide(r.policy, test.cluster(r.cluster or {}), r.options)
	local answer = { started = {}, reserved = {}, log = plan:log(), errors = plan:errors() }
	for i, id in ipairs(plan:started()) do
		answer.started[i] = plan:start(id)
		answer.started[i].job, answer.started[i].layout = id, plan:layout(id)
	end
	for i, id in ipairs(plan:reserved()) do
		answer.reserved[i] = plan:reservation(id)
		answer.reserved[i].job = id
	end
	return answer
end

function calls.simulate(r)
	local s = test.simulate(r.policy, r.workload, r.options)
	return { metrics = s.metrics, jobs = s.jobs }
end

local function answer(line)
	local request = read_value(line, skip(line, 1), 0)
	local call = type(request) == "table" and calls[request.call]
	return (call or error("call: expected check, decide or simulate", 0))(request)
end

io.stdout:setvbuf("line")
for line in io.lines() do
	local ok, result = pcall(answer, line)
	io.write(table.concat(write(ok and { ok = result } or { error = tostring(result) }, {})), "\n")
end
