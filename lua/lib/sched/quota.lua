-- SPDX-License-Identifier: MIT
--
-- sched.quota - limits on the CPU-, GPU- or node-hours of a user or an account.
--
--   sched.quota { per_user = "81920 cpu-hours" }
--   sched.quota { per_user = "81920 cpu-hours", per_account = "500000 cpu-hours, 2000 gpu-hours",
--                 limits = "limits.conf", on_exceed = "demote" }
--   sched.quota { per_account = "100000 cpu-hours", period = "month", carry_over = 0.5 }
--
-- Without a period it is about what is held at once: units x walltime of the running jobs and of
-- those that this cycle has started so far, in the partitions of the list that the quota stands in
-- (scope = "cluster": in all).  A job starts if that and what it asks for itself come to no more
-- than the limit (Leonenkov and Zhumatiy 2015: CPU-hours of running jobs, 81920 in Lomonosov's
-- regular4).  The limit is held within a cycle and for each task of an array: the engine asks
-- before every start.
--
-- A job that asks for more than the limit by itself never starts, or with oversize = "alone" when
-- its user holds nothing else.
--
-- With a period what was used in it counts too: runs that have ended, as the ledger knows them.
-- Of running jobs, and of the one that asks, the part counts that lies within the period, to the
-- end of their walltime.
--
-- limits names a file of exceptions, which is re-read when it changes:
--
--   default            81920 cpu-hours
--   user     alice     200000 cpu-hours, 500 gpu-hours
--   user     bob       unlimited
--   account  physics   1M cpu-hours

local amount = require "sched.amount"
local clock = require "sched.clock"
local component = require "sched.component"
local data_file = require "sched.data_file"
local periods = require "sched.period"

local M = {}

local subjects = { "user", "account" }
local units = { "cpu", "gpu", "node" }
-- Ends that no user can bring about (of Slurm 22.05 to 26.05).  "exit 1", scancel, scontrol requeue, a walltime, a
-- deadline or more memory than allowed are his to choose.
local refunded = { "NODE_FAIL", "BOOT_FAIL", "PREEMPTED" }
local probes = 32		-- of a rolling period, to find when a job fits

local definitions = {
	per_user = { type = "string" },
	per_account = { type = "string" },
	limits = { type = "string" },
	scope = { default = "partitions", values = { "partitions", "cluster" } },
	on_exceed = { default = "wait", values = { "wait", "demote" } },
	oversize = { default = "wait", values = { "wait", "alone" } },
	no_walltime = { default = "365d", type = "duration", min = 60, max = "3650d" },
	period = { type = "string" },
	time_zone = { type = "string" },
	carry_over = { default = 0.0, type = "number", min = 0, max = 12 },
	refund = { default = false },
	name = { default = "quota" },
}

-- -- the file of exceptions --------------------------------------------------

local function put(map, key, words, first, fail)
	if not words[first] then
		fail("%s: no amount; expected something like \"81920 cpu-hours\"", key)
	end
	local text = table.concat(words, " ", first)
	local amounts, why = amount.parse(text:sub(1, 400))
	if not amounts then
		fail("%s: %s", key, why)
	end
	local by = key == "default" and "user" or key:match("^%a+")
	for _, unit in ipairs(units) do
		map[key .. " " .. unit] = amounts[unit]
		if amounts[unit] and amounts[unit] ~= math.huge then
			map["limits " .. by .. " " .. unit] = true
		end
	end
end

-- -- what limits there are ----------------------------------------------------

local function read_defaults(opt, fail)
	local defaults = {}
	for _, by in ipairs(subjects) do
		local text = opt["per_" .. by]
		defaults[by] = {}
		if text then
			local amounts, why = amount.parse(text)
			if not amounts then
				fail("per_" .. by, "per_%s: %s", by, why)
			end
			defaults[by] = amounts
		end
	end
	return defaults
end

-- The limit of a name, and the key of the line that says so (nil: the site file).
local function find_limit(self, rule, name)
	local file = self.file
	if file then
		local key = rule.by .. " " .. name
		local limit = file:get(key .. " " .. rule.unit)
		if not limit and rule.by == "user" then
			key = "default"
			limit = file:get(key .. " " .. rule.unit)
		end
		if limit then
			return limit, key
		end
	end
	return rule.default, nil
end

-- -- what was used in a period ---------------------------------------------------

-- Usage of runs that have ended, in the partitions of the rule: a function of a name.
local function past(self, rule, cluster, since, until_)
	local usage, tables = cluster.usage, {}
	for i, partition in ipairs(rule.partitions or { false }) do
		tables[i] = usage:past { by = rule.by, unit = rule.unit, since = since, until_ = until_,
			partition = partition or nil, without = self.opt.refund and refunded or nil }
	end
	if #tables == 1 then
		local only = tables[1]
		return function(name) return only[name] or 0 end
	end
	return function(name)
		local sum = 0
		for i = 1, #tables do
			sum = sum + (tables[i][name] or 0)
		end
		return sum
	end
end

local function new_held(self, rule, from, to)
	return engine.held { by = rule.by, unit = rule.unit, no_walltime = self.opt.no_walltime,
		partitions = rule.partitions, from = from, to = to }
end

-- A cycle begins: the period may have ended, and the past is another one.
local function refresh(self, rule, cluster)
	local from, to, before = periods.at(self.period, cluster.now)
	rule.now = cluster.now
	rule.from, rule.to, rule.before = from, to, before
	rule.held = new_held(self, rule, from, to)
	rule.past = past(self, rule, cluster, from, nil)
	rule.carried = {}
	rule.cluster = cluster
	rule.earlier = nil
end

-- What a name left over of its limit in the period before, as far as that is carried over.
local function carried(self, rule, name, limit)
	local carry = rule.carried[name]
	if not carry then
		if not rule.earlier then
			rule.earlier = { past = past(self, rule, rule.cluster, rule.before, rule.from),
				held = new_held(self, rule, rule.before, rule.from) }
		end
		local left = limit - rule.earlier.past(name) - rule.earlier.held:of(name)
		carry = math.floor(math.max(0, math.min(left, limit * self.opt.carry_over)))
		rule.carried[name] = carry
	end
	return carry
end

-- One rule for each subject and unit that is limited anywhere.
local function make_rules(self, partitions, cluster)
	local rules = {}
	if self.opt.scope == "cluster" or #partitions == #cluster.partitions then
		partitions = nil
	end
	for _, by in ipairs(subjects) do
		for _, unit in ipairs(units) do
			local default = self.defaults[by][unit]
			if default or self.file and self.file:get("limits " .. by .. " " .. unit) then
				local rule = { by = by, unit = unit, default = default or math.huge, limits = {}, said = {},
					partitions = partitions }
				if not self.period then
					rule.held = new_held(self, rule, nil, nil)
				end
				rules[#rules + 1] = rule
			end
		end
	end
	return rules
end

-- -- asking -------------------------------------------------------------------

-- f(key), kept: ten thousand jobs have few different texts.
local function remembered(f)
	local known = {}
	return function(key)
		local value = known[key]
		if not value then
			value = f(key)
			known[key] = value
		end
		return value
	end
end

local hours = remembered(amount.number)

local time_text = remembered(function(t) return clock.text(t):sub(1, -4) end)

-- When enough of the past will lie outside a rolling period, in steps.
local function falls_out(self, rule, name, most)
	local step = self.period.length // probes
	local low, high = 0, probes
	while high - low > 1 do
		local middle = (low + high) // 2
		if past(self, rule, rule.cluster, rule.from + middle * step, nil)(name) <= most then
			high = middle
		else
			low = middle
		end
	end
	return rule.now + high * step
end

-- When a job will fit: "; fits by ...".
local function fits(self, rule, job, name, asked, has, limit)
	local t
	if not self.period then
		t = rule.held:falls(job, limit - asked)
	elseif rule.to then
		t = rule.to
	elseif has + asked <= limit then
		t = falls_out(self, rule, name, limit - asked - has)
	end
	return t and "; fits by " .. time_text(t) or ""
end

local function about(self, rule, name, used, limit)
	local verb = self.period and "has" or "holds"
	name = name == "" and "(none)" or name
	return ("%s: %s %s %s %s of %s%s, asks for "):format(self.opt.name, rule.by, name, verb, amount.number(used),
		amount.text(limit, rule.unit), self.period and " " .. self.period.name or "")
end

-- Why a job does not start: how much is used, how much is asked, when it will fit.
local function reason(self, rule, job, name, asked, has, used, limit)
	local said = rule.said[name]
	if not said or said.used ~= used then
		said = { used = used, text = about(self, rule, name, used, limit) }
		rule.said[name] = said
	end
	if asked > limit then
		if self.opt.oversize == "alone" then
			return ("%s%s: more than the limit, starts alone"):format(said.text, hours(asked)) ..
				fits(self, rule, job, name, limit, has, limit)
		end
		return said.text .. hours(asked) .. (self.period and ": more than the whole limit" or ": can never start")
	end
	return said.text .. hours(asked) .. fits(self, rule, job, name, asked, has, limit)
end

-- Name, what is asked, what it holds, what it has used (with that), and its limit.
local function look(self, rule, job, cluster)
	if self.period and rule.now ~= cluster.now then
		refresh(self, rule, cluster)
	end
	local name, asked, has = rule.held(job)
	local limit = rule.limits[name]
	if not limit then
		limit = find_limit(self, rule, name)
		rule.limits[name] = limit
	end
	local used = self.period and has + rule.past(name) or has
	if used + asked > limit and self.opt.carry_over > 0 and limit ~= math.huge then
		limit = limit + carried(self, rule, name, limit)
	end
	return name, asked, has, used, limit
end

local function make_allow(self)
	local answer = self.opt.on_exceed == "demote" and "later" or false
	local alone = self.opt.oversize == "alone"
	return function(job, cluster, _, state)
		for i = 1, #state do
			local rule = state[i]
			local name, asked, has, used, limit = look(self, rule, job, cluster)
			if used + asked > limit and asked > 0 and not (alone and asked > limit and used <= 0) then
				return answer, reason(self, rule, job, name, asked, has, used, limit)
			end
		end
		return true
	end
end

local function make_explain(self)
	return function(job, cluster, _, state)
		local lines = {}
		for _, rule in ipairs(state) do
			local name, asked, _, used, limit = look(self, rule, job, cluster)
			local own, key = find_limit(self, rule, name)
			local source = key and ('"%s" in line %d of %s'):format(key, self.file:get(key .. "\n"), self.file.path) or
				"the site file"
			if limit ~= own then
				source = source .. (", and %s left over from before"):format(amount.number(limit - own))
			end
			local verdict = used + asked <= limit and "within it" or
				self.opt.on_exceed == "demote" and "over it: goes after all others" or "over it: waits"
			-- of a job without an account nobody wants to know that it has no limit
			if name ~= "" or limit ~= math.huge then
				lines[#lines + 1] = ("%s%s (%s); %s"):format(about(self, rule, name, used, limit),
					amount.number(asked), source, verdict)
			end
		end
		return #lines > 0 and table.concat(lines, "\n") or nil
	end
end

local function check_period(opt, fail)
	if opt.period then
		local period, why = periods.parse(opt.period, opt.time_zone)
		if not period then
			fail(opt.period, "%s", why)
		elseif opt.carry_over > 0 and period.length then
			fail("carry_over", "carry_over: the last so many days have nothing to carry over; expected a calendar period")
		end
		return period
	end
	for _, key in ipairs { "time_zone", "carry_over", "refund" } do
		if opt[key] and opt[key] ~= 0 then
			fail(key, "%s says nothing without a period; expected period = \"month\" or the like", key)
		end
	end
	return nil
end

--- sched.quota { ... }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.quota", t, definitions, fail)
	local self = { opt = opt, defaults = read_defaults(opt, fail), period = check_period(opt, fail) }
	if opt.limits then
		self.file = data_file.open(path, line, opt.limits, data_file.subjects(put))
	elseif not opt.per_user and not opt.per_account then
		fail("quota", "sched.quota limits nothing; expected per_user, per_account or limits")
	end
	return {
		name = opt.name, doc = "limits on machine time", on_failure = "hold",
		serve = function(partitions, cluster) return make_rules(self, partitions, cluster) end,
		allow = make_allow(self), explain = make_explain(self),
	}
end

return M
