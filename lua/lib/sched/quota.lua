-- SPDX-License-Identifier: MIT
--
-- sched.quota - limits on the CPU-, GPU- or node-hours that a user or an account holds.
--
--   sched.quota { per_user = "81920 cpu-hours" }
--   sched.quota { per_user = "81920 cpu-hours", per_account = "500000 cpu-hours, 2000 gpu-hours",
--                 limits = "limits.conf", on_exceed = "demote" }
--
-- What a user holds is units x walltime of the running jobs and of those that this cycle has
-- started so far, in the partitions of the list that the quota stands in (scope = "cluster": in
-- all).  A job starts if that and what it asks for itself come to no more than the limit (Leonenkov
-- and Zhumatiy 2015: CPU-hours of running jobs, 81920 in Lomonosov's regular4).  The limit is held
-- within a cycle and for each task of an array: the engine asks before every start.
--
-- limits names a file of exceptions, which is re-read when it changes:
--
--   default            81920 cpu-hours
--   user     alice     200000 cpu-hours, 500 gpu-hours
--   user     bob       unlimited
--   account  physics   1M cpu-hours

local amount = require "sched.amount"
local component = require "sched.component"
local data_file = require "sched.data_file"

local M = {}

local subjects = { "user", "account" }

local definitions = {
	per_user = { type = "string" },
	per_account = { type = "string" },
	limits = { type = "string" },
	scope = { default = "partitions", values = { "partitions", "cluster" } },
	on_exceed = { default = "wait", values = { "wait", "demote" } },
	no_walltime = { default = "365d", type = "duration", min = 60, max = "3650d" },
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
	for _, unit in ipairs { "cpu", "gpu", "node" } do
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

local function limit_of(self, rule, name)
	local limit = rule.limits[name]
	if not limit then
		limit = find_limit(self, rule, name)
		rule.limits[name] = limit
	end
	return limit
end

-- One rule for each subject and unit that is limited anywhere.
local function make_rules(self, rows)
	local rules = {}
	for _, by in ipairs(subjects) do
		for _, unit in ipairs { "cpu", "gpu", "node" } do
			local default = self.defaults[by][unit]
			if default or self.file and self.file:get("limits " .. by .. " " .. unit) then
				rules[#rules + 1] = {
					by = by, unit = unit, default = default or math.huge, limits = {}, said = {},
					held = engine.held { by = by, unit = unit, no_walltime = self.opt.no_walltime,
						rows = self.opt.scope == "partitions" and rows or nil },
				}
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

local fits_by = remembered(function(t)
	local year, month, day, _, hour, min = engine.calendar(t)
	return ("; fits by %04d-%02d-%02dT%02d:%02d"):format(year, month, day, hour, min)
end)

-- Why a job does not start: how much is used, how much is asked, when it will fit.
local function reason(self, rule, job, name, asked, has, limit)
	local said = rule.said[name]
	if not said or said.has ~= has then
		said = { has = has, text = ("%s: %s %s holds %s of %s, asks for "):format(self.opt.name, rule.by, name,
			amount.number(has), amount.text(limit, rule.unit)) }
		rule.said[name] = said
	end
	if asked > limit then
		return said.text .. hours(asked) .. ": can never start"
	end
	local t = rule.held:falls(job, limit - asked)
	return said.text .. hours(asked) .. (t and fits_by(t) or "")
end

local function make_allow(self)
	local answer = self.opt.on_exceed == "demote" and "later" or false
	return function(job, _, _, state)
		for i = 1, #state do
			local rule = state[i]
			local name, asked, has = rule.held(job)
			local limit = rule.limits[name] or limit_of(self, rule, name)
			if has + asked > limit and asked > 0 then
				return answer, reason(self, rule, job, name, asked, has, limit)
			end
		end
		return true
	end
end

local function make_explain(self)
	return function(job, _, _, state)
		local lines = {}
		for i, rule in ipairs(state) do
			local name, asked, has = rule.held(job)
			local limit, key = find_limit(self, rule, name)
			lines[i] = ("%s %s holds %s of %s (%s), asks for %s"):format(rule.by, name, amount.number(has),
				amount.text(limit, rule.unit), key and ('"%s" in line %d of %s'):format(key, self.file:get(key .. "\n"),
				self.file.path) or "the site file", amount.number(asked))
		end
		return table.concat(lines, "\n")
	end
end

--- sched.quota { ... }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.quota", t, definitions, fail)
	local self = { opt = opt, defaults = read_defaults(opt, fail) }
	if opt.limits then
		self.file = data_file.open(path, line, opt.limits, data_file.subjects(put))
	elseif not opt.per_user and not opt.per_account then
		fail("quota", "sched.quota limits nothing; expected per_user, per_account or limits")
	end
	return {
		name = opt.name, doc = "limits on machine time held at once",
		serve = function(rows) return make_rules(self, rows) end,
		allow = make_allow(self), explain = make_explain(self),
	}
end

return M
