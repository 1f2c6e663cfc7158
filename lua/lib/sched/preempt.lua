-- SPDX-License-Identifier: MIT
--
-- sched.preempt - the cheapest running jobs are stopped for jobs that may preempt them.
--
--   default = { sched.preempt { min_runtime = "30m", max_an_hour = 50 }, "easy" }
--   default = { sched.preempt { reclaim = { physics = 64, biology = 32 } }, "conservative" }
--
-- Before the policy of the list decides, the jobs of its queue that Slurm lets preempt others are looked at in the
-- queue's order. Jobs ahead of them that fit have their places on trial meanwhile, and the first other job that
-- does not fit is booked: who does not fit into what is left has others stopped. plan:preempt() finds the set of
-- running jobs whose end costs least; the job is reserved from when they are gone, and its place is held. Whom
-- Slurm allows to be stopped is the upper bound; what is said here leaves some out. A job whose place is held
-- already starts as soon as that is free, whatever the policy's order. One that fits without a stop is the policy's
-- to start, like any other job.

local component = require "sched.component"
local duration = require "sched.duration"

local M = {}

local limits = { "max_victims", "max_a_cycle", "max_an_hour", "max_of_user", "max_of_partition" }

local definitions = {
	by = { default = "slurm", values = { "slurm", "priority" },
		doc = "slurm: whom Slurm lets be preempted; priority: of these only jobs of lower priority" },
	min_runtime = { default = 0, type = "duration", doc = "nobody is stopped who has run for less" },
	after = { default = 0, type = "duration", doc = "others are stopped for a job once it has waited for so long" },
	reclaim = { type = "table",
		doc = "{ ACCOUNT = amount }: who holds no more than that is not stopped, and who does stops nobody" },
	unit = { default = "gpus", values = { "gpus", "cpus" }, doc = "what reclaim counts" },
	wait_price = { type = "number", min = 0,
		doc = "what an hour of waiting costs, against the core-hours that others lose" },
	prove = { type = "number", min = 0,
		doc = "seconds of a solver's work for the proof of one set; 0: none, else 0.2" },
	mode = { type = "string", values = { "requeue", "expedite" }, doc = "how, where Slurm allows it" },
	may = { type = "function", doc = "function(victim, job, cluster): may it be stopped?" },
	cost = { type = "function", doc = "function(victim, job, cluster): what that costs; else the work that is lost" },
	jobs = { default = 20, min = 1, max = 1000, doc = "jobs for which others are looked for in a cycle" },
	window = { default = 1000, min = 1, max = 100000, doc = "waiting jobs looked at in a cycle" },
}
for _, name in ipairs(limits) do
	definitions[name] = { type = "integer", min = 1, doc = "jobs that are stopped at most" }
end

--- Options that mean the same to sched.consolidate, as definitions for sched.component.
M.shared = {}
for _, name in ipairs { "min_runtime", "after", "wait_price", "prove", "cost", "jobs", "window" } do
	M.shared[name] = definitions[name]
end

local function check_reclaim(reclaim, fail)
	for account, amount in pairs(reclaim or {}) do
		if type(account) ~= "string" or type(amount) ~= "number" or amount ~= amount or amount < 0 then
			fail("reclaim", "reclaim: expected { ACCOUNT = amount }, got %s = %s", tostring(account), tostring(amount))
		end
	end
end

-- -- who has how much --------------------------------------------------------

-- Of a running job; from what it holds of each node where the snapshot has no sum.
local function amount_of(opt, job)
	local known = (opt.unit == "gpus" and job.alloc_gpus or job.alloc_cpus) or 0
	local sum = 0
	for _, hold in ipairs(known == 0 and job.alloc or {}) do
		if opt.unit == "cpus" then
			sum = sum + hold.cores
		end
		for _, gres in ipairs(opt.unit == "gpus" and hold.gres or {}) do
			sum = sum + (tostring(gres.kind):match("^gpu") and gres.count or 0)
		end
	end
	return known + sum
end

-- What running jobs of each account hold.
local function count_held(opt, cluster)
	local held = {}
	for _, job in ipairs(opt.reclaim and cluster.running or {}) do
		held[job.account or ""] = (held[job.account or ""] or 0) + amount_of(opt, job)
	end
	return held
end

-- What the account holds beyond what it owns.  One that reclaim does not name owns nothing.
local function surplus_of(opt, held, account)
	return (held[account or ""] or 0) - (opt.reclaim[account or ""] or 0)
end

-- Jobs of accounts that hold more than they own, by account.
local function list_of_over(opt, held, cluster)
	local lists = {}
	for _, job in ipairs(cluster.running) do
		local account, amount = job.account or "", amount_of(opt, job)
		if surplus_of(opt, held, account) > 0 and amount > 0 then
			lists[account] = lists[account] or {}
			table.insert(lists[account], { id = job.id, since = job.start_time or 0, amount = amount, job = job })
		end
	end
	return lists
end

-- Who costs least for what is given back comes first; of equal ones the latest.
local function sort_by_cost(list)
	table.sort(list, function(x, y)
		if x.cost ~= y.cost then
			return x.cost < y.cost
		elseif x.since ~= y.since then
			return x.since > y.since
		end
		return x.id > y.id
	end)
end

-- -- the rules ------------------------------------------------------------------

-- Why others are not stopped for the job; nil: they may be.
local function reason_not(opt, held, job, cluster)
	local waited = cluster.now - (job.eligible_time > 0 and job.eligible_time or job.submit_time)
	if not job.may_preempt then
		return "Slurm lets it preempt nobody"
	elseif waited < opt.after then
		return ("it has waited for %s, and others are stopped after %s"):format(duration.text(waited),
			duration.text(opt.after))
	elseif opt.reclaim and surplus_of(opt, held, job.account) >= 0 then
		return ("account %s holds what it owns"):format(job.account or "(none)")
	end
	return nil
end

-- Why the plan stops nobody for the job whatever runs (plan:preempt() says so, too); nil: it may.
local function reason_never(job)
	if job.het_job_id then
		return "for components of heterogeneous jobs others are not stopped by the plan"
	elseif job.native then
		return "only Slurm's select can place it, and so can say whom to stop"
	end
	return nil
end

local function is_permitted(opt, victim, job, cluster)
	if victim.start_time and cluster.now - victim.start_time < opt.min_runtime then
		return false
	elseif opt.by == "priority" and victim.priority >= job.priority then
		return false
	end
	return not opt.may or opt.may(victim, job, cluster)
end

-- Of a list of running jobs those that may be stopped for the job, with what each costs; what is no number is no
-- cost.
local function permitted_of(opt, books, list, job, cluster)
	local permitted = {}
	for _, row in ipairs(list) do
		if not books.stopped[row.id] and is_permitted(opt, row.job, job, cluster) then
			local cost = opt.cost and opt.cost(row.job, job, cluster) or books.plan:lost_work(row.job)
			row.cost = (type(cost) == "number" and cost >= 0) and cost / row.amount or math.huge
			table.insert(permitted, row)
		end
	end
	sort_by_cost(permitted)
	return permitted
end

-- Who may be stopped for the job, by id: of each account as many as hold what it has beyond what it owns, the
-- cheapest.
local function reclaimable(opt, books, job, cluster)
	local may = {}
	books.lists = books.lists or list_of_over(opt, books.held, cluster)
	for account, list in pairs(books.lists) do
		local left = surplus_of(opt, books.held, account)
		for _, row in ipairs(left > 0 and permitted_of(opt, books, list, job, cluster) or {}) do
			if left <= 0 then
				break
			end
			may[row.id] = true
			left = left - row.amount
		end
	end
	return may
end

local function may_of(opt, books)
	local asked, may
	return function(victim, job, cluster)
		if not opt.reclaim then
			return is_permitted(opt, victim, job, cluster)
		end
		if asked ~= job.id then
			asked, may = job.id, reclaimable(opt, books, job, cluster)
		end
		return may[victim.id] or false
	end
end

-- What the job is given, as far as its place says: more than it asks for at least, if it has more nodes.
local function given_to(opt, books, job)
	local cores, nodes = 0, 0
	for _, of in pairs(books.plan:layout(job) or {}) do
		cores, nodes = cores + of, nodes + 1
	end
	if opt.unit == "cpus" then
		return math.max(job.cpus, cores)
	end
	return math.max(job.gpus, job.gpus // math.max(job.min_nodes, 1) * nodes)
end

-- What was decided for the job counts for those after it.
local function note(opt, books, job, answer)
	if not opt.reclaim then
		return
	end
	local held, account = books.held, job.account or ""
	for _, victim in ipairs(answer.victims) do
		local of = victim.account or ""
		books.stopped[victim.id] = true
		held[of] = (held[of] or 0) - amount_of(opt, victim)
	end
	held[account] = (held[account] or 0) + given_to(opt, books, job)
end

local function make_how(opt, books)
	local how = { may = may_of(opt, books), cost = opt.cost or nil, wait_price = opt.wait_price, prove = opt.prove,
		mode = opt.mode, elsewhere = opt.elsewhere, max_cost = opt.max_price }
	for _, name in ipairs(limits) do
		how[name] = opt[name]
	end
	return how
end

-- -- a cycle -------------------------------------------------------------------------

-- How many jobs the answer says are stopped, and for what.
local function tell(opt, job, answer)
	if #answer.victims > 0 then
		local ids = {}
		for i, victim in ipairs(answer.victims) do
			ids[i] = i <= 10 and tostring(victim.id) or nil
		end
		slurm.log_info("%s: job %d: %s %d of %d jobs (%s%s), cost %.4g, %s", opt.word, job.id,
			opt.elsewhere and "moves" or "stops", #answer.victims, answer.permitted, table.concat(ids, ","),
			#answer.victims > 10 and ",..." or "", answer.cost, answer.verdict)
	end
end

-- What goes wrong for one job is not the others' fault.
local function attempt(job, f, opt, ...)
	local ok, answer = pcall(f, opt, ...)
	if not ok then
		slurm.log_error("%s: job %d: %s", opt.word, job.id, tostring(answer))
	end
	return answer
end

-- By id the jobs that may have others stopped ("asks"), and those whose place is held ("held"); and how many there
-- are of each.
local function askers_of(opt, books, cluster)
	local askers, count = {}, { asks = 0, held = 0 }
	for job in cluster:queue(opt.window, nil, "all") do
		local kind = job.place_held and "held" or not reason_not(opt, books.held, job, cluster) and "asks" or nil
		if kind then
			askers[job.id], count[kind] = kind, count[kind] + 1
		end
	end
	return askers, count
end

-- The queue's jobs as far as the last of so many of that kind: job, its kind.  An array comes again as long as its
-- tasks start.
local function as_far_as(opt, cluster, askers, kind, count)
	local queue, last = cluster:queue(opt.window, nil, "all"), nil
	return function()
		local job = queue()
		if not job or count == 0 and job.id ~= last then
			return nil
		elseif job.id ~= last and askers[job.id] == kind then
			count = count - 1
		end
		last = job.id
		return job, askers[job.id]
	end
end

-- A job that fits now has its place on trial, so that those behind it are asked of what is left.
local function start_on_trial(_, books, job, how)
	local started = books.plan:start(job, how)
	if started then
		table.insert(books.trial, job)
	end
	return started
end

-- True if a place that is held from now on has nodes of the job's: what is free there beside the job would be held,
-- too, once the job is taken back, and it could not start again.
local function is_beside_held(books, job)
	for node in pairs(next(books.nodes) and books.plan:layout(job) or {}) do
		if books.nodes[node] then
			return true
		end
	end
	return false
end

-- What was on trial is taken back: that is the policy's to decide.
local function end_trial(books)
	for i = #books.trial, 1, -1 do
		local job = books.trial[i]
		-- (an array of which more tasks are to start than fit has started those that do)
		if not books.placed[job.id] and (job == books.head or not is_beside_held(books, job)) then
			books.plan:undo(job)
		end
	end
end

-- Others are stopped for the job: that counts for those after it.
local function note_place(opt, books, job, answer)
	books.placed[job.id] = true
	for node in pairs(books.plan:layout(job) or {}) do
		books.nodes[node] = true
	end
	tell(opt, job, answer)
	note(opt, books, job, answer)
	if opt.on_place then
		opt.on_place(job, answer)
	end
end

local function start_or_keep(opt, books, how, job, cluster)
	if books.plan:start(job) then
		return
	end
	-- (of a place of which a node has failed what is missing is looked for, by the rules of the site)
	local may_stop = not reason_not(opt, books.held, job, cluster)
	local answer = books.plan:preempt(job, may_stop and how or { may = function() return false end })
	if answer and answer.verdict ~= "held" then
		note_place(opt, books, job, answer)
	end
end

-- Jobs whose place is held start, there or where jobs ahead of them leave room, or are reserved from when it is
-- free.  Those ahead of them that fit come first; one that does not fit books nothing here: it could be waiting for
-- just the places that are held.
local function start_held(opt, books, how, cluster, askers, count)
	for job, kind in as_far_as(opt, cluster, askers, "held", count) do
		if kind == "held" then
			attempt(job, start_or_keep, opt, books, how, job, cluster)
		elseif books.plan:state(job) ~= "reserved" then
			attempt(job, start_on_trial, opt, books, job)
		end
	end
end

-- True if the job would wait for less than that by itself.
local function is_soon(books, job, cluster, terms, least)
	local start = least > 0 and books.plan:earliest(job, terms)
	return start and start - cluster.now < least
end

-- True if others were looked for.
local function stop_for(opt, books, how, job, cluster)
	-- (where waiting has a price, a start on nodes that have to boot is none)
	local terms = opt.wait_price and { wake_after = math.huge } or nil
	if reason_not(opt, books.held, job, cluster) then
		return false
	elseif books.plan:state(job) == "reserved" then	-- in another partition
		if books.plan:earliest(job, terms) == cluster.now then
			return false
		end
	elseif start_on_trial(opt, books, job, terms) then
		return false
	end
	if is_soon(books, job, cluster, terms, opt.min_gain or 0) then
		return false
	end
	local answer, why, _, found = books.plan:preempt(job, how)
	if answer then
		note_place(opt, books, job, answer)
	elseif found then
		slurm.log_debug("%s: job %d: %s (%s)", opt.word, job.id, why, found.verdict)
	end
	return true
end

-- As in backfill the first that does not fit books its nodes from when it could start, and nobody behind it is to
-- have them.
local function book_ahead(opt, books, job)
	if books.plan:state(job) == "reserved" or start_on_trial(opt, books, job) or books.head then
		return
	end
	if books.plan:reserve(job) then
		books.head = job
		table.insert(books.trial, job)
	end
end

local function stop_for_rest(opt, books, how, cluster, askers, count)
	local left = opt.jobs
	for job, kind in as_far_as(opt, cluster, askers, "asks", count) do
		if left == 0 then
			break
		elseif kind == "asks" then
			left = left - (attempt(job, stop_for, opt, books, how, job, cluster) and 1 or 0)
		elseif not kind then
			attempt(job, book_ahead, opt, books, job)
		end
	end
end

--- Look for others to stop by these options, whose *word* begins messages.
--- sched.consolidate has *elsewhere*, *max_price* and *min_gain*, too, and *on_place*, which is called with each job
--- for which others are stopped, and what was found.
function M.stop_for_all(opt, cluster, plan)
	local books = { held = count_held(opt, cluster), stopped = {}, plan = plan, trial = {}, placed = {},
		nodes = {} }
	plan:own_preemption()	-- (what is spared here would otherwise be Slurm's select's)
	local askers, count = askers_of(opt, books, cluster)
	local how = make_how(opt, books)
	start_held(opt, books, how, cluster, askers, count.held)
	stop_for_rest(opt, books, how, cluster, askers, count.asks)
	end_trial(books)
end

--- Why others are not stopped for the job by these options; nil: they may be.
function M.reason_not(opt, cluster, job)
	return reason_not(opt, count_held(opt, cluster), job, cluster) or reason_never(job)
end

--- sched.preempt { ... }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.preempt", t, definitions, fail)
	check_reclaim(opt.reclaim, fail)
	opt.word = "preempt"
	return {
		name = "preempt", doc = "the cheapest running jobs are stopped for those that may preempt them",
		prepare = function(cluster, plan) M.stop_for_all(opt, cluster, plan) end,
		explain = function(job, cluster)
			if cluster.source == "capture" then	-- Slurm's commands do not show whom it lets a job preempt
				return "whether others may be stopped for it is not known here; what was decided is in the lines above"
			end
			local why = M.reason_not(opt, cluster, job)
			return why and ("nobody is stopped for it: %s"):format(why) or "others may be stopped for it"
		end,
	}
end

return M
