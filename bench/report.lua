-- SPDX-License-Identifier: MIT
--
-- report.lua - what bench/offline and bench/live measured, as JSON on stdout and as a
-- table beside the goals on stderr.
--
--   lua5.4 report.lua offline            JSON lines of bench/decide on stdin
--   lua5.4 report.lua table1             JSON lines of bench/table1 on stdin
--   lua5.4 report.lua live NODES JOBS ROUNDS   "scheduler key value" lines on stdin
--   lua5.4 report.lua cloud NODES        "phase scheduler key value" lines on stdin

local function say(...) io.stderr:write(string.format(...), "\n") end

-- Goals: the figures of the project's plan.
local function verdict(have, most) return have <= most and "met" or "MISSED" end

local function number_of(line, key, which)
	return tonumber(line:match('"' .. key .. '": {[^}]*"' .. which .. '": (%d+)'))
end

local function read_case(line)
	local c = { line = line }
	for _, key in ipairs { "nodes", "pending", "running", "examined", "started", "reserved", "peak_kib", "bytes" } do
		c[key] = tonumber(line:match('"' .. key .. '": (%d+)'))
	end
	c.policy, c.options = line:match('"policy": "([^"]*)", "options": "([^"]*)"')
	for _, key in ipairs { "handover_us", "policy_us", "engine_us", "cycle_us", "handover_cpu_us", "engine_cpu_us" } do
		c[key] = number_of(line, key, "p50")
		c[key .. "_min"] = number_of(line, key, "min")
	end
	return c
end

-- What was measured beside the goal, for the cases that the goals speak of.
local function offline_goals(c)
	local goals = {}
	local function goal(name, have, least, cpu, most, unit)
		goals[#goals + 1] = { name = name, have = have, least = least, cpu = cpu, goal = most, unit = unit }
	end
	local name = c.policy .. " " .. c.options
	if c.nodes == 100000 and (c.examined >= 100000 or c.reserved >= 1000) then
		local of = ("CPU, 100,000 nodes, %s"):format(name)
		goal(of, c.engine_cpu_us / 1e3, c.engine_cpu_us_min / 1e3, c.engine_cpu_us / 1e3, 1000, "ms")
		goal("memory, 100,000 nodes, " .. name, c.peak_kib / 1024, c.peak_kib / 1024, 0, 1024, "MiB")
	end
	if c.nodes ~= 10000 then return goals end
	goal("encode + send + validate", c.handover_us / 1e3, c.handover_us_min / 1e3, c.handover_cpu_us / 1e3, 20, "ms")
	if c.policy == "easy" then
		goal(name, c.engine_us / 1e3, c.engine_us_min / 1e3, c.engine_cpu_us / 1e3, 200, "ms")
	else
		goal(name, c.engine_us / 1e3, c.engine_us_min / 1e3, c.engine_cpu_us / 1e3, 1000, "ms")
	end
	goal("engine memory, " .. name, c.peak_kib / 1024, c.peak_kib / 1024, 0, 200, "MiB")
	return goals
end

-- How the engine's CPU time grows with the nodes, and with what is examined: the exponents of n between
-- one case and the next larger one of the same policy.
local function tell_growth(cases)
	local before = {}
	say("\n%-26s %20s %14s %22s", "growth of the engine's CPU", "nodes", "pending", "exponent")
	for _, c in ipairs(cases) do
		local last = before[c.policy .. c.options] or before[c.policy .. c.nodes]
		local by_nodes = last and c.nodes / last.nodes or 1
		local by_jobs = last and c.examined / last.examined or 1
		local grew = last and math.log(c.engine_cpu_us / last.engine_cpu_us) or 0
		if by_nodes > 1 and by_jobs == 1 then
			say("%-26s %9d -> %8d %14d %15.2f of nodes", c.policy .. " " .. c.options, last.nodes, c.nodes, c.pending,
				grew / math.log(by_nodes))
		elseif by_nodes == 1 and by_jobs > 1 then
			say("%-26s %20d %6d -> %6d %12.2f of examined", c.policy, c.nodes, last.examined, c.examined,
				grew / math.log(by_jobs))
		end
		before[c.policy .. c.nodes], before[c.policy .. c.options] = c, c
	end
end

local function offline()
	local cases, goals, seen = {}, {}, {}
	for line in io.lines() do cases[#cases + 1] = read_case(line) end
	say("\n%-8s %-8s %-26s %8s %8s %9s %9s %9s %9s %9s %7s", "nodes", "pending", "policy", "started", "reserved",
		"handover", "policy", "engine", "CPU", "cycle", "memory")
	for _, c in ipairs(cases) do
		say("%-8d %-8d %-26s %8d %8d %6.1f ms %6.0f ms %6.0f ms %6.0f ms %6.0f ms %3.0f MiB", c.nodes, c.pending,
			c.policy .. " " .. c.options, c.started, c.reserved, c.handover_us / 1e3, c.policy_us / 1e3,
			c.engine_us / 1e3, c.engine_cpu_us / 1e3, c.cycle_us / 1e3, c.peak_kib / 1024)
		for _, g in ipairs(offline_goals(c)) do
			if not seen[g.name] then goals[#goals + 1] = g end
			seen[g.name] = true
		end
	end
	tell_growth(cases)
	say("\n%-54s %10s %10s %10s %10s", "10,000 nodes and 10,000 pending, if not said otherwise", "median", "least",
		"CPU", "goal")
	local json = {}
	for _, g in ipairs(goals) do
		say("%-54s %6.1f %-3s %6.1f %-3s %6.1f %-3s %6d %-3s %s", g.name, g.have, g.unit, g.least, g.unit, g.cpu,
			g.unit == "MiB" and "" or g.unit, g.goal, g.unit, verdict(g.have, g.goal))
		json[#json + 1] = ('{"name": "%s", "median": %.3f, "least": %.3f, "cpu": %.3f, "goal": %d, "unit": "%s"}')
			:format(g.name, g.have, g.least, g.cpu, g.goal, g.unit)
	end
	local lines = {}
	for _, c in ipairs(cases) do lines[#lines + 1] = c.line end
	print('{"goals": [\n' .. table.concat(json, ",\n") .. '],\n"cases": [\n' .. table.concat(lines, ",\n") .. "]}")
end

-- -- live

local function median(list)
	table.sort(list)
	local n = #list
	return n == 0 and 0 or n % 2 == 1 and list[n // 2 + 1] or (list[n // 2] + list[n // 2 + 1]) / 2
end

local function read_rows()
	local rows, keys = { lua = {}, backfill = {} }, {}
	for line in io.lines() do
		local s, key, value = line:match("^(%S+) (%S+) (%S+)$")
		if s and rows[s] and tonumber(value) then
			if not rows.lua[key] and not rows.backfill[key] then keys[#keys + 1] = key end
			rows[s][key] = rows[s][key] or {}
			table.insert(rows[s][key], tonumber(value))
		end
	end
	return rows, keys
end

local function live(nodes, jobs, rounds)
	local rows, keys = read_rows()
	local json = {}
	local function of(s, key) return rows[s][key] and median(rows[s][key]) end
	local function show(x) return x and (x >= 1000 and "%.0f" or "%.4g"):format(x) or "" end
	say("\n%d nodes, %d jobs, medians of %d rounds", nodes, jobs, rounds)
	say("%-28s %12s %12s", "", "sched/lua", "backfill")
	for _, key in ipairs(keys) do
		say("%-28s %12s %12s", key, show(of("lua", key)), show(of("backfill", key)))
	end
	say("\n%-44s %12s %12s", "", "measured", "goal")
	local function goal(name, have, most, unit, higher)
		if not have or not most then return end
		local ok = higher and have >= most or not higher and have <= most
		say("%-44s %9.3f %-3s %9.3f %-3s %s", name, have, unit, most, unit, ok and "met" or "MISSED")
		json[#json + 1] = ('{"name": "%s", "median": %.3f, "goal": %.3f, "unit": "%s", "met": %s}')
			:format(name, have, most, unit, tostring(ok))
	end
	local function ms(key) local v = of("lua", key) return v and v / 1e3 end
	goal(("collect, both holds, %d pending"):format(jobs), ms "collect_hold_us", 1, "ms")
	goal("collect, hold for the queue", ms "queue_hold_us", 1, "ms")
	goal("collect, hold for copying", ms "copy_hold_us", 1, "ms")
	goal("commit batch, 99 %", ms "commit_hold_p99_us", 50, "ms")
	goal("commit batch, longest", ms "commit_hold_max_us", 50, "ms")
	goal("starts/s from the first to the last, and backfill's", of("lua", "starts_per_s"),
		of("backfill", "starts_per_s"), "/s", true)
	goal("starts/s from the release, and backfill's", of("lua", "starts_per_s_from_release"),
		of("backfill", "starts_per_s_from_release"), "/s", true)
	goal("released to all done, and backfill's", of("lua", "all_done_s"), of("backfill", "all_done_s"), "s")
	local parts = {}
	for _, s in ipairs { "lua", "backfill" } do
		local fields = {}
		for _, key in ipairs(keys) do
			local list = rows[s][key]
			if list then
				local m = median(list)
				fields[#fields + 1] = ('"%s": {"p50": %s, "min": %s, "max": %s, "n": %d}')
					:format(key, m, list[1], list[#list], #list)
			end
		end
		parts[#parts + 1] = ('"%s": {%s}'):format(s, table.concat(fields, ",\n "))
	end
	print(('{"nodes": %d, "jobs": %d, "rounds": %d,\n"goals": [\n%s],\n%s}'):format(nodes, jobs, rounds,
		table.concat(json, ",\n"), table.concat(parts, ",\n")))
end

-- -- cloud

-- "phase scheduler key value" lines: medians, stock's beside ours, and the goals.
local function cloud(nodes)
	local order, phases, keys, json = {}, {}, {}, {}
	for line in io.lines() do
		local phase, s, key, value = line:match("^(%S+) (%S+) (%S+) (%S+)$")
		if phase and tonumber(value) then
			if not phases[phase] then
				order[#order + 1], phases[phase], keys[phase] = phase, { lua = {}, backfill = {} }, {}
			end
			local rows = phases[phase]
			if not rows.lua[key] and not rows.backfill[key] then table.insert(keys[phase], key) end
			rows[s][key] = rows[s][key] or {}
			table.insert(rows[s][key], tonumber(value))
		end
	end
	local function of(phase, s, key)
		local list = phases[phase] and phases[phase][s][key]
		return list and median(list)
	end
	local function show(x) return x and (x >= 1000 and "%.0f" or "%.4g"):format(x) or "" end
	for _, phase in ipairs(order) do
		say("\n%-34s %12s %12s %8s", ("%s, %d nodes"):format(phase, nodes), "sched/lua", "backfill", "ratio")
		for _, key in ipairs(keys[phase]) do
			local a, b = of(phase, "lua", key), of(phase, "backfill", key)
			say("%-34s %12s %12s %8s", key, show(a), show(b), a and b and b > 0 and ("%.1f"):format(a / b) or "")
		end
	end
	say("\n%-52s %12s %12s", "", "measured", "goal")
	local function goal(name, have, want, unit, higher)
		if not have then return end
		local ok = higher and have >= want or not higher and have <= want
		say("%-52s %9.2f %-3s %9.2f %-3s %s", name, have, unit, want, unit, ok and "met" or "MISSED")
		json[#json + 1] = ('{"name": "%s", "measured": %.3f, "goal": %.3f, "unit": "%s", "met": %s}')
			:format(name, have, want, unit, tostring(ok))
	end
	local function ratio(phase, key)
		local a, b = of(phase, "lua", key), of(phase, "backfill", key)
		return a and b and b > 0 and a / b
	end
	local function ms(phase, key) local v = of(phase, "lua", key) return v and v / 1e3 end
	goal("starts/s, times stock's", ratio("starts", "starts_per_s"), nodes >= 100000 and 50 or 10, "", true)
	goal("starts per CPU second, times stock's", ratio("starts", "starts_per_cpu_s"),
		nodes >= 100000 and 50 or 10, "", true)
	goal("locks held for a start, 99 %", ms("starts", "start_p99_us"), 5, "ms")
	goal("starts/s of an array's tasks, times stock's", ratio("arrays", "starts_per_s"), 3, "", true)
	goal("full machine: hold for Slurm's queue, less its own, 99 %", ms("waiting", "queue_own_p99_us"), 20, "ms")
	goal("full machine: hold for copying, 99 %", ms("waiting", "copy_hold_p99_us"), 20, "ms")
	goal("full machine: hold for telling, 99 %", ms("waiting", "commit_hold_p99_us"), 20, "ms")
	local parts = {}
	for _, phase in ipairs(order) do
		for _, s in ipairs { "lua", "backfill" } do
			local fields = {}
			for _, key in ipairs(keys[phase]) do
				local v = of(phase, s, key)
				if v then fields[#fields + 1] = ('"%s": %s'):format(key, v) end
			end
			parts[#parts + 1] = ('"%s_%s": {%s}'):format(phase, s, table.concat(fields, ", "))
		end
	end
	print(('{"nodes": %d,\n"goals": [\n%s],\n%s}'):format(nodes, table.concat(json, ",\n"),
		table.concat(parts, ",\n")))
end

-- -- table1

-- What each scheduler did with the three jobs; the last round stands for all.
local function table1()
	local last, order, starts = {}, {}, {}
	for line in io.lines() do
		local s = line:match('"scheduler": "(%a+)"')
		if not last[s] then order[#order + 1] = s end
		last[s] = line
		local max = tonumber(line:match('"start_us": {[^}]*"max": (%d+)'))
		local hold = tonumber(line:match('"commit_hold_us": {[^}]*"max": (%d+)'))
		if max then starts[#starts + 1] = { max, hold } end
	end
	for _, s in ipairs(order) do
		say("\nsched/%s, %s nodes: the last start %s s after the release", s, last[s]:match('"nodes": (%d+)'),
			last[s]:match('"last_start_s": ([%d.]+)'))
		local job = 0
		for state, layout, wait in last[s]:gmatch('"state": "(%u+)", "layout": "([^"]*)", "expected_in_s": ([%d%a-]+)') do
			job = job + 1
			say("  J%d  %-8s %s", job, state, state == "PENDING" and ("expected in " .. wait .. " s") or layout)
		end
	end
	for i, r in ipairs(starts) do
		say("%slongest start %.1f ms, longest hold of the locks %.1f ms", i == 1 and "\n" or "", r[1] / 1e3, r[2] / 1e3)
	end
end

if arg[1] == "offline" then
	offline()
elseif arg[1] == "table1" then
	table1()
elseif arg[1] == "cloud" then
	cloud(tonumber(arg[2]))
elseif arg[1] == "live" then
	live(tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4]))
else
	io.stderr:write("usage: report.lua offline | table1 | live NODES JOBS ROUNDS\n")
	os.exit(2)
end
