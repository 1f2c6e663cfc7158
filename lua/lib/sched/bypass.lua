-- SPDX-License-Identifier: MIT
--
-- sched.bypass - how often has each waiting job been overtaken?
--
-- A job is bypassed when one behind it in the queue's order starts while it waits.  What started
-- is seen one cycle later: the order of each cycle is remembered (plan:remember), and of those
-- that stood in it the ones that run now, or have ended, did start; what was cancelled or held
-- did not, and neither did a start that slurmctld refused.  Each task of an array counts.
--
--   local due = bypass.due(cluster, plan, 100)
--   due[job.id]		{ at = time, number = n }, or nil: fewer than a hundred so far
--
-- A job that has been bypassed so often is due from then on until it starts: `at` never changes,
-- and of those that fell due in the same cycle neither does the order of `number`.
--
-- Cost: one walk over the queue, so that admit() and allow() are asked about all of it, and some
-- 15 bytes for each job.  The first 10,000 jobs of the queue are looked at, and at most a thousand
-- are due at a time.

local M = {}

local MOST <const> = 10000	-- jobs of the queue
local MOST_DUE <const> = 1000
local MOST_AWAY <const> = 2000

-- What is remembered: of the jobs of the queue, in its order, their ids, tasks and bypasses; the
-- bypasses of those that wait outside of it; those that are due.
local ORDER <const>, AWAY <const>, DUE <const> = "guard.order", "guard.away", "guard.due"

-- The queue in its order: ids, and the tasks that wait of each.  place[id]: where it stands.
local function look_at(cluster)
	local now = { jobs = {}, tasks = {}, passed = {} }
	local place, n = {}, 0
	for job in cluster:queue(MOST) do
		local id = job.id
		if not place[id] then
			n = n + 1
			place[id], now.jobs[n], now.tasks[n], now.passed[n] = n, id, math.max(1, job.array_pending), 0
		end
	end
	return now, place
end

-- Does it run, or has it?
local function has_started(job)
	if not job or job.state == "PENDING" then
		return false
	end
	-- Slurm gives a job that never ran the same start as end
	return job.state ~= "CANCELLED" and job.state ~= "DEADLINE" or job.start_time < job.end_time
end

-- Does a job that is not in the queue still wait, held or kept back by a limit?
local function waits(job)
	return job and job.state == "PENDING"
end

-- Add to the bypasses of the cycle before those by jobs that stood in its queue and started.
-- Returns what jobs have that wait outside of the queue.
local function count(cluster, before, now, place)
	local away, started, kept = {}, 0, 0
	for i = #before.jobs, 1, -1 do
		local id = before.jobs[i]
		local at, passed = place[id], before.passed[i] + started
		if at then
			now.passed[at] = passed
			started = started + math.max(0, before.tasks[i] - now.tasks[at])
		else
			local job = cluster:job(id)
			if has_started(job) then
				started = started + before.tasks[i]
			elseif waits(job) and passed > 0 then
				away[id] = passed
			end
		end
	end
	for id, passed in pairs(cluster:recall(AWAY) or {}) do
		if place[id] then
			now.passed[place[id]] = passed
		elseif waits(cluster:job(id)) then
			away[id] = passed
		end
	end
	for id in pairs(away) do
		kept = kept + 1
		if kept > MOST_AWAY then
			away[id] = nil
		end
	end
	return away
end

-- Those that are due, in the order in which they fell due; those that have started are gone.
local function fall_due(cluster, now, place, limit)
	local list, is_due = {}, {}
	for _, entry in ipairs(cluster:recall(DUE) or {}) do
		if place[entry.job] or waits(cluster:job(entry.job)) then
			list[#list + 1] = entry
			is_due[entry.job] = true
		end
	end
	for i, id in ipairs(now.jobs) do
		if #list < MOST_DUE and now.passed[i] >= limit and not is_due[id] then
			list[#list + 1] = { job = id, at = cluster.now }
		end
	end
	return list
end

local function unless_empty(t)
	return next(t) and t or nil
end

-- Remember the order, of fewer jobs where that of all is too much.
local function note(plan, now)
	local n = #now.jobs
	while n > 0 do
		local ok, why = plan:remember(ORDER, now)
		if ok then
			return
		end
		slurm.log_debug("guard: %s", why)
		n = n // 2
		for name, list in pairs(now) do
			now[name] = table.move(list, 1, n, 1, {})
		end
	end
	plan:remember(ORDER, nil)
end

--- The jobs that are due, by id.  Once a cycle, before anything is decided.
function M.due(cluster, plan, limit)
	local now, place = look_at(cluster)
	local before = cluster:recall(ORDER) or { jobs = {}, tasks = {}, passed = {} }
	local away = count(cluster, before, now, place)
	local list, due = fall_due(cluster, now, place, limit), {}
	note(plan, now)
	plan:remember(AWAY, unless_empty(away))
	plan:remember(DUE, unless_empty(list))
	for number, entry in ipairs(list) do
		due[entry.job] = { at = entry.at, number = number }
	end
	return due
end

return M
