-- SPDX-License-Identifier: MIT
-- Least attained service with restarts (Gu et al., Tiresias, NSDI 2019), where nobody says how long a job will run.
-- A job begins in the first queue and sinks into the next one when it has had so many GPU-hours.  For a job of a
-- higher queue jobs of lower queues are stopped; they begin again at their last checkpoint.  Within a queue the job
-- that was submitted first goes first.
local M = { api = 1, name = "las", doc = "least attained service, with restarts", options = {
	first = { default = 3600, min = 1, doc = "GPU-seconds at which the first queue ends" },
	growth = { default = 10, min = 2, doc = "each queue is so many times as long as the one above" },
	queues = { default = 3, type = "integer", min = 2, max = 20, doc = "how many there are" },
	promote = { default = 8, min = 1, doc = "back to the first queue after a wait of n times its runs" },
	min_runtime = { default = 600, type = "duration", doc = "nobody is stopped who has run for less" },
	looks = { default = 20, type = "integer", min = 1, doc = "jobs for which others may be stopped, in a cycle" },
} }

-- Slurm knows a job's present run alone.  By id: { GPU-seconds, seconds } of runs before it, its begin, when it was
-- last seen, and { GPU-seconds, seconds } of all runs.
local function books_of(cluster)
	local old, books = cluster:recall "attained" or {}, {}
	for _, job in ipairs(cluster.running) do
		local was = old[job.id]
		local gpu_s, s = was and was[1] or 0, was and was[2] or 0
		if was and was[3] ~= job.start_time then
			gpu_s, s = was[5], was[6]	-- it was stopped, and runs again
		end
		local ran = cluster.now - job.start_time
		books[job.id] = { gpu_s, s, job.start_time, cluster.now, gpu_s + job.alloc_gpus * ran, s + ran }
	end
	for id, was in pairs(old) do
		local job = cluster:job(id)
		if not books[id] and job and job.state == "PENDING" then
			books[id] = was
		end
	end
	return books
end

-- The number of its queue, 1 for the first.
local function queue_of(job, book, cluster, opt)
	if not book or job.state == "PENDING" and cluster.now - book[4] > opt.promote * book[6] then
		return 1
	end
	local ends = opt.first
	for queue = 1, opt.queues - 1 do
		if book[5] < ends then
			return queue
		end
		ends = ends * opt.growth
	end
	return opt.queues
end

function M.decide(cluster, plan, opt)
	local queued, queue, left = {}, {}, opt.looks
	for job in cluster:queue() do
		queued[#queued + 1] = job
	end
	local books = books_of(cluster)
	for _, jobs in ipairs { queued, cluster.running } do
		for _, job in ipairs(jobs) do
			queue[job.id] = queue_of(job, books[job.id], cluster, opt)
		end
	end
	table.sort(queued, function(a, b)
		if queue[a.id] ~= queue[b.id] then
			return queue[a.id] < queue[b.id]
		end
		return a.submit_time < b.submit_time
	end)
	for _, job in ipairs(queued) do
		local function may(victim)
			return queue[victim.id] > queue[job.id] and cluster.now - victim.start_time >= opt.min_runtime
		end
		if not plan:start(job) and left > 0 and job.may_preempt and queue[job.id] < opt.queues then
			plan:preempt(job, { may = may })
			left = left - 1
		end
	end
	plan:remember("attained", books)
end

return M
