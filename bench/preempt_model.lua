-- SPDX-License-Identifier: MIT
--
-- preempt_model.lua - the model of Slurm's preemption (preempt_stock.lua) beside a slurmctld; for preempt-model.
--
--   lua5.4 preempt_model.lua jobs SEED            a random workload: "NAME QOS SUBMIT RUNTIME OPTION..." a line
--   lua5.4 preempt_model.lua compare SEED LIVE    the same under the model, and what a slurmctld did
--
-- LIVE has "NAME START STOPS" a line: when the job first began, in seconds after the first was submitted ("-":
-- never), and how often it was stopped for another one. Prints a line for the seed: how many were stopped live and by
-- the model, and how many of these are the same; the mean wait of the jobs that preempt, live and by the model, and
-- how often it is the same within TOLERANCE_S.
local NODES, CORES, GPUS = 8, 8, 2
local TOLERANCE_S = 4

-- The machine's own generator gives other numbers with each release of Lua.
local function generator(seed)
	local state = seed * 2654435761 % 2147483647 + 1
	return function(n)
		state = state * 48271 % 2147483647
		return state * n // 2147483647
	end
end

local function random_job(draw, urgent)
	local job = { qos = urgent and "urgent" or "low" }
	local kind = draw(urgent and 4 or 6)
	if kind == 0 then
		job.nodes, job.exclusive = 1 + draw(urgent and 3 or 2), true
	elseif kind == 1 then
		job.tasks, job.gpus = 1, 1
	elseif kind == 2 then
		job.nodes = 1 + draw(2)
		job.tasks = job.nodes * (1 + draw(CORES // 2))
	else
		job.tasks = 1 + draw(urgent and 2 * CORES or CORES)
	end
	return job
end

-- Jobs that may be stopped fill the machine at once, a third of them for a short while; then those that preempt come
-- one after the other.
local function workload(seed)
	local draw, jobs = generator(seed), {}
	for i = 1, 20 do
		local urgent = i > 13
		local job = random_job(draw, urgent)
		job.name, job.submit = "j" .. i, urgent and 12 + (i - 14) * 6 or 0
		job.runtime = not urgent and draw(3) == 0 and 16 + draw(20) or 300
		jobs[i] = job
	end
	return jobs
end

local function options_of(job)
	local o = {}
	if job.nodes then o[#o + 1] = "-N" .. job.nodes end
	if job.exclusive then o[#o + 1] = "--exclusive" end
	if job.tasks then o[#o + 1] = "-n" .. job.tasks end
	if job.gpus then o[#o + 1] = "--gres=gpu:" .. job.gpus; o[#o + 1] = "-N1" end
	return table.concat(o, " ")
end

local function print_jobs(seed)
	for _, job in ipairs(workload(seed)) do
		print(job.name, job.qos, job.submit, job.runtime, options_of(job))
	end
end

local function read_live(path)
	local live = {}
	for line in io.lines(path) do
		local name, start, stops = line:match("^(%S+) (%S+) (%d+)$")
		live[name] = { start = tonumber(start), stops = tonumber(stops) }
	end
	return live
end

-- As a workload of sched.test.
local function simulated(seed)
	local jobs = {}
	for i, job in ipairs(workload(seed)) do
		local row = { id = i, name = job.name, submit = job.submit, runtime = job.runtime, time_limit = "10m", qos = job.qos,
			nodes = job.nodes, exclusive = job.exclusive, tasks = job.tasks }
		if job.gpus then
			row.nodes, row.gpus_per_node = 1, job.gpus
		end
		if job.qos == "low" then
			row.preempt_mode, row.flags, row.priority = "requeue", { "REQUEUE" }, 1
		else
			row.preempts, row.flags, row.priority = "QOS=low", { "MAY_PREEMPT" }, 10
		end
		jobs[i] = row
	end
	return { nodes = ("%dx%dc%dg"):format(NODES, CORES, GPUS), jobs = jobs }
end

local SITE <const> = 'return require "sched".site { default = { "preempt_stock.lua", "easy" } }'

local function compare(seed, path)
	local t = require "sched.test"
	local text = assert(io.open(arg[0]:gsub("[^/]*$", "") .. "preempt_stock.lua")):read "a"
	local live = read_live(path)
	local policy = { site = "site.lua", texts = { ["site.lua"] = SITE, ["preempt_stock.lua"] = text } }
	local s = t.simulate(policy, simulated(seed), { interval = 1, requeue_wait = 121 })
	local sum = { live = 0, model = 0, same = 0, urgent = 0, wait_live = 0, wait_model = 0, near = 0 }
	for i, job in ipairs(workload(seed)) do
		local there, here = live[job.name], s:job(i)
		local stops = here.stops and #here.stops or 0
		if job.qos == "low" then
			sum.live = sum.live + (there.stops > 0 and 1 or 0)
			sum.model = sum.model + (stops > 0 and 1 or 0)
			sum.same = sum.same + (there.stops > 0 and stops > 0 and 1 or 0)
		else
			-- (who never began is not compared: both say so, or it is no wait)
			local wait = there.start and there.start - job.submit
			local model = here.start_s and here.start_s - job.submit
			sum.urgent = sum.urgent + 1
			local alike = wait and model and math.abs(wait - model) <= TOLERANCE_S or not wait and not (model and model <= 40)
			sum.near = sum.near + (alike and 1 or 0)
			sum.wait_live = sum.wait_live + math.min(wait or 60, 60)
			sum.wait_model = sum.wait_model + math.min(model or 60, 60)
		end
		if os.getenv("VERBOSE") then
			print(job.name, job.qos, options_of(job), "runs " .. job.runtime, "live", there.start, there.stops, "model",
				here.start_s, stops)
		end
	end
	print(seed, sum.live, sum.model, sum.same, sum.urgent, ("%.1f"):format(sum.wait_live / sum.urgent),
		("%.1f"):format(sum.wait_model / sum.urgent), sum.near)
end

if arg[1] == "jobs" then
	print_jobs(tonumber(arg[2]))
else
	compare(tonumber(arg[2]), arg[3])
end
