-- SPDX-License-Identifier: MIT
--
-- quota.lua - what admitting and ranking a long queue costs: CPU time of a cycle in which
-- a policy walks over the whole queue and starts nothing, with and without quotas and layers.
--
--   bench/quota [--jobs N] [--users N] [--rounds N]
--
-- Each cycle is a fresh Lua state, as in production.  The cost is the difference to a cycle that
-- only walks; the least of the rounds, since the machine may have other work.

local core = require "sched_core"
local t = require "sched.test"

local opt = { jobs = 10000, users = 1000, rounds = 9 }
for i = 1, #arg, 2 do
	local name = arg[i]:match("^%-%-(%a+)$")
	if not name or not opt[name] or not tonumber(arg[i + 1]) then
		io.stderr:write("usage: bench/quota [--jobs N] [--users N] [--rounds N]\n")
		os.exit(2)
	end
	opt[name] = math.tointeger(tonumber(arg[i + 1]))
end

local function cluster()
	local running, pending = {}, {}
	for i = 1, 1000 do
		running[i] = { id = i, user = "user" .. i % opt.users, account = "acct" .. i % 50, nodes = "n" .. (i - 1) // 4 + 1,
			cores = 2, ends_in = 3600 + 60 * i }
	end
	for i = 1, opt.jobs do
		pending[i] = { id = 1000 + i, user = "user" .. i * 7 % opt.users, account = "acct" .. i * 7 % opt.users % 50,
			tasks = 1 + i % 64, time_limit = 3600 * (1 + i % 24), submitted_ago = i * 60 }
	end
	return t.cluster { nodes = "250x8c", running = running, pending = pending }
end

local walk = "local M = { api = 1 } function M.decide(cluster) for _ in cluster:queue() do end end return M"

local function lines(format)
	local text = {}
	for i = 0, opt.users - 1, 2 do
		text[#text + 1] = format:format(i, 1 + i)
	end
	return table.concat(text, "\n") .. "\n"
end

local texts = {
	walk = walk, ["limits.conf"] = lines "user user%d %d cpu-hours", ["layers.conf"] = lines "user user%d %d",
}

local function site(list)
	local file = 'local sched = require "sched"\nreturn sched.site { default = { ' .. list .. ' "walk" } }\n'
	local all = { ["site.lua"] = file }
	for name, text in pairs(texts) do
		all[name] = text
	end
	return assert(core.load({ site = "site.lua", texts = all }, { budget = 60 }))
end

local function measure(set, c)
	local least = math.huge
	for _ = 1, opt.rounds do
		collectgarbage()
		local before = os.clock()
		assert(core.decide(set, c.snapshot))
		least = math.min(least, os.clock() - before)
	end
	return least * 1e3
end

local c = cluster()
local base = measure(site "", c)
print(("%d jobs of %d users, 1000 running; CPU ms of a cycle, least of %d"):format(opt.jobs, opt.users, opt.rounds))
print(("%-46s %8s %8s"):format("", "cycle", "cost"))
print(("%-46s %8.1f"):format("walk over the queue", base))
for _, case in ipairs {
	{ "quota, none is over it", 'sched.quota { per_user = "900000 cpu-hours" },' },
	{ "quota, nearly all are over it", 'sched.quota { per_user = "1 cpu-hours" },' },
	{ "quota with 500 exceptions, most over", 'sched.quota { per_user = "100 cpu-hours", limits = "limits.conf" },' },
	{ "layers", 'sched.layers { file = "layers.conf" },' },
	{ "ageing", "sched.ageing { }," },
	{ "first job, layers and ageing, weighted", 'sched.weighted { { 9, sched.first_job { } }, ' ..
		'{ 1, sched.layers { file = "layers.conf" } }, { 1, sched.ageing { } } },' },
	{ "quota and layers", 'sched.quota { per_user = "900000 cpu-hours" }, sched.layers { file = "layers.conf" },' },
	{ "quota, most are over it, and layers",
		'sched.quota { per_user = "100 cpu-hours", limits = "limits.conf" }, sched.layers { file = "layers.conf" },' },
} do
	local ms = measure(site(case[2]), c)
	print(("%-46s %8.1f %8.1f"):format(case[1], ms, ms - base))
end
