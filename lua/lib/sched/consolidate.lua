-- SPDX-License-Identifier: MIT
--
-- sched.consolidate - running jobs are moved, so that a whole block or node becomes free for a job that waits.
--
--   default = { sched.consolidate { max_price = 8, max_an_hour = 10 }, "easy" }
--
-- A job for which enough is free in sum, but not in one piece, has others requeued that Slurm lets it preempt, if each
-- of them has another place now. plan:preempt() with elsewhere finds the cheapest such set. As with sched.preempt the
-- job's place is held until it starts. The places of those who were moved are kept free for them (plan:block()), and
-- they start there before all others, as soon as Slurm lets them; for a time they are not moved again. What was moved
-- is remembered under "consolidate": by job { at =, start =, till =, nodes = { NAME, ... } }.

local component = require "sched.component"
local preempt = require "sched.preempt"

local M = {}

local KEY <const> = "consolidate"
local NOT_TOLD_S <const> = 5	-- a job that was to be moved and has not been told by then is not moved

local limits = { "max_a_cycle", "max_an_hour", "max_of_user", "max_of_partition" }

local definitions = {
	max_price = { type = "number", min = 0, doc = "nobody is moved for a job if that costs more" },
	min_gain = { default = 0, type = "duration", doc = "nobody is moved for a job that would start so soon anyway" },
	again = { default = "1d", type = "duration", doc = "a job that was moved is not moved again for that time" },
	hold = { default = "10m", type = "duration", doc = "for so long its new place is kept for a job that was moved" },
	max_moves = { type = "integer", min = 1, doc = "jobs that are moved for one job at most" },
	may = { type = "function", doc = "function(victim, job, cluster): may it be moved?" },
}
for name, definition in pairs(preempt.shared) do
	definitions[name] = definition
end
for _, name in ipairs(limits) do
	definitions[name] = { type = "integer", min = 1, doc = "jobs that are moved or stopped at most" }
end

-- -- who was moved ---------------------------------------------------------------

local function ids_of(moved)
	local ids = {}
	for id in pairs(moved) do
		table.insert(ids, id)
	end
	table.sort(ids)
	return ids
end

-- What becomes of the record of a move: "ends" (it has not ended yet), "waits" to start again, "done" (it has started
-- again, or is gone, or its time is up), "none" (it was not moved after all).
local function state_of(record, job, now)
	if not job or now >= record.till then
		return "done"
	elseif job.state == "RUNNING" and job.start_time == record.start then
		return (job.preempt_time or now <= record.at + NOT_TOLD_S) and "ends" or "none"
	-- (the latter: in a simulation, before it is back in the queue)
	elseif job.state == "PENDING" or (job.state ~= "RUNNING" and not job.end_time) then
		return "waits"
	end
	return "done"
end

-- The nodes of those names that are still there.
local function nodes_of(cluster, names)
	local set
	for _, name in ipairs(names) do
		if cluster:node(name) then
			local one = cluster:nodes { name = name }
			set = set and set:union(one) or one
		end
	end
	return set
end

-- Records as they are now; those of jobs that have no place kept any more stay as long as these are not moved again.
local function read_moved(opt, cluster)
	local moved = cluster:recall(KEY) or {}
	for _, id in ipairs(ids_of(moved)) do
		local record = moved[id]
		local state = record.nodes and state_of(record, cluster:job(id), cluster.now) or "done"
		record.nodes = state ~= "done" and record.nodes or nil
		if state == "none" or (not record.nodes and cluster.now >= record.at + opt.again) then
			moved[id] = nil
		end
	end
	return moved
end

-- One block for all places that are kept until the same time, since a plan has 256 blocks at most.
local function keep_places(plan, cluster, records)
	local tills, sets = {}, {}
	for _, record in ipairs(records) do
		local set, till = nodes_of(cluster, record.nodes), record.till
		if set and not sets[till] then
			table.insert(tills, till)
		end
		if set then
			sets[till] = sets[till] and sets[till]:union(set) or set
		end
	end
	for _, till in ipairs(tills) do
		plan:block(sets[till], cluster.now, till)
	end
end

-- Those who were moved start on their places, else wherever they fit, however far behind in the queue they are.
local function start_moved(cluster, plan, moved)
	local kept = {}
	for _, id in ipairs(ids_of(moved)) do
		if moved[id].nodes then
			table.insert(kept, moved[id])
		end
	end
	keep_places(plan, cluster, kept)
	local left = #kept
	for job in left > 0 and cluster:queue() or function() end do
		local record = moved[job.id]
		local set = record and record.nodes and nodes_of(cluster, record.nodes)
		if set and (plan:start(job, { nodes = set, use_blocked = true, because = "was moved there" }) or
				plan:start(job, { because = "was moved" })) then
			left = left - 1
			if left == 0 then
				break
			end
		end
	end
end

-- -- a cycle ---------------------------------------------------------------------

local function may_of(opt, moved)
	return function(victim, job, cluster)
		return not moved[victim.id] and (not opt.may or opt.may(victim, job, cluster))
	end
end

local function note_moves(opt, cluster, plan, moved, job, answer)
	local records = {}
	for _, move in ipairs(answer.moves or {}) do
		local record = { at = cluster.now, start = move.job.start_time, till = answer.start + opt.hold,
			nodes = move.nodes:names() }
		moved[move.job.id] = record
		table.insert(records, record)
		slurm.log_info("consolidate: job %d: job %d is to go on on %s", job.id, move.job.id,
			table.concat(record.nodes, ","))
	end
	keep_places(plan, cluster, records)
end

local function consolidate(opt, cluster, plan)
	local moved = read_moved(opt, cluster)
	start_moved(cluster, plan, moved)
	opt.rules.may = may_of(opt, moved)
	opt.rules.on_place = function(job, answer) note_moves(opt, cluster, plan, moved, job, answer) end
	preempt.stop_for_all(opt.rules, cluster, plan)
	plan:remember(KEY, next(moved) and moved or nil)
end

-- The same as options of sched.preempt.
local function rules_of(opt)
	local rules = { word = "consolidate", by = "slurm", unit = "gpus", elsewhere = true, max_victims = opt.max_moves }
	for name in pairs(definitions) do
		rules[name] = opt[name]
	end
	return rules
end

--- sched.consolidate { ... }, with the place of the call.
function M.make(path, line, t)
	local opt = component.read("sched.consolidate", t, definitions, component.locate(path, line))
	opt.rules = rules_of(opt)
	return {
		name = "consolidate", doc = "running jobs are moved so that a whole block or node becomes free",
		prepare = function(cluster, plan) consolidate(opt, cluster, plan) end,
		explain = function(job, cluster)
			if cluster.source == "capture" then
				return nil
			end
			local why = preempt.reason_not(opt.rules, cluster, job)
			return why and ("nobody is moved for it: %s"):format(why) or "others may be moved for it"
		end,
	}
end

return M
