-- SPDX-License-Identifier: MIT
--
-- sched.limit - how many cores, CPUs, GPUs, nodes or jobs a user, an account, a QOS, a partition or a group of
-- accounts may hold at once.
--
--   sched.limit { gpus = "25 %", by = "account", while_others_wait = true }
--   sched.limit { jobs = 10, cores = 256 }
--   sched.limit { nodes = function(name, supply) return name == "guests" and 1 or supply // 2 end, by = "account" }
--   sched.limit { gpus = 8, by = "account", groups = { physics = { "lhc", "astro" } } }
--
-- Held is what running jobs have and what this cycle has started so far, in the partitions of the list that the limit
-- stands in (scope = "cluster": in all).  The engine asks before every start, also of each task of an array, and
-- again when the place is known, so that the limit holds within a cycle too.  A share is one of what the usable nodes
-- of these partitions have.  With while_others_wait the limit holds only as long as a job waits here that counts for
-- another name, asks for some of the same, and is not one that no time can help.

local clock = require "sched.clock"
local component = require "sched.component"

local M = {}

local units = { cores = "core", cpus = "cpu", gpus = "gpu", nodes = "node", jobs = "job" }
local order = { "cores", "cpus", "gpus", "nodes", "jobs" }

local definitions = {
	cores = { type = "any" }, cpus = { type = "any" }, gpus = { type = "any" }, nodes = { type = "any" },
	jobs = { type = "any" },
	by = { default = "user", values = { "user", "account", "qos", "partition" } },
	groups = { type = "table" },
	scope = { default = "partitions", values = { "partitions", "cluster" } },
	while_others_wait = { default = false },
	name = { default = "limit" },
}

-- A limit as it is written: { number = }, { share = }; nil and what is wrong.
local function parse(value, unit)
	local expected = unit == "job" and "expected a number of jobs or a function" or
		'expected a number, a share such as "25 %", or a function'
	if math.type(value) == "integer" and value >= 0 then
		return { number = value }
	elseif type(value) ~= "string" then
		return nil, ("%s is no limit; %s"):format(tostring(value), expected)
	end
	local share = tonumber((value:match("^%s*(%d+%.?%d*)%s*%%%s*$")))
	if not share then
		return nil, ('"%s" is no limit; %s'):format(value, expected)
	elseif unit == "job" then
		return nil, ('"%s": jobs have no whole of which this is a share; %s'):format(value, expected)
	elseif share > 100 then
		return nil, ('"%s" is more than the whole; expected at most "100 %%"'):format(value)
	end
	return { share = share }
end

-- { ACCOUNT = GROUP } from { GROUP = { ACCOUNT, ... } }
local function read_groups(groups, by, fail)
	local of = {}
	if groups and by ~= "account" then
		fail("groups", "groups are of accounts; expected by = \"account\" beside them")
	end
	for group, accounts in pairs(groups or {}) do
		if type(group) ~= "string" or type(accounts) ~= "table" then
			fail("groups", "groups: expected { GROUP = { \"ACCOUNT\", ... } }, got %s = %s", tostring(group), tostring(accounts))
		end
		for _, account in ipairs(accounts) do
			if type(account) ~= "string" then
				fail(group, "groups: %s: expected names of accounts, got %s", group, tostring(account))
			elseif of[account] then
				fail(group, "groups: account '%s' is in '%s' and in '%s'", account, of[account], group)
			end
			of[account] = group
		end
	end
	return groups and of
end

local function read_rules(opt, fail)
	local rules = {}
	for _, key in ipairs(order) do
		local value = opt[key]
		if value ~= nil then
			local rule = { key = key, unit = units[key] }
			if type(value) == "function" then
				rule.ask = value
			else
				local limit, why = parse(value, rule.unit)
				if not limit then
					fail(key, "sched.limit: %s: %s", key, why)
				end
				rule.limit = limit
			end
			rules[#rules + 1] = rule
		end
	end
	if #rules == 0 then
		fail("limit", "sched.limit limits nothing; expected one of %s", table.concat(order, ", "))
	end
	return rules
end

-- -- asking ----------------------------------------------------------------

local function amount_of(limit, supply)
	if limit.number then
		return limit.number, ""
	end
	return math.floor(supply * limit.share / 100), (" (%g %% of %d)"):format(limit.share, supply)
end

-- What the site's function says of a name.
local function ask(rule, name, supply)
	local value = rule.ask(name, supply)
	if value == nil then
		return math.huge, ""
	end
	local whole = type(value) == "number" and value >= 0 and value < 2 ^ 53 and math.floor(value)
	local limit, why = parse(whole or value, rule.unit)
	if not limit then
		error(("%s: sched.limit: %s: the function returned for '%s': %s, or nil for no limit"):format(
			engine.where(rule.ask), rule.key, name, why), 0)
	end
	return amount_of(limit, supply)
end

-- The limit of a name, and whether it is a share, as text.  (A simulation keeps the state from cycle to cycle.)
local function limit_of(state, rule, name, now)
	if state.now ~= now then
		state.now, state.limits, state.supply = now, {}, nil
	end
	local known = state.limits[name]
	if not known then
		state.supply = state.supply or state.held:supply()
		local most, share
		if rule.ask then
			most, share = ask(rule, name, state.supply)
		else
			most, share = amount_of(rule.limit, state.supply)
		end
		known = { most = most, share = share }
		state.limits[name] = known
	end
	return known.most, known.share
end

local function about(opt, rule, name, asked, has, most, share)
	return ("%s: %s %s holds %d of %s %s%s, asks for %d"):format(opt.name, opt.by, name == "" and "(none)" or name, has,
		most == math.huge and "unlimited" or ("%d"):format(most), rule.key, share, asked)
end

local function reason(opt, rule, state, job, name, asked, has, most, share)
	local text = about(opt, rule, name, asked, has, most, share)
	if opt.while_others_wait then
		text = text .. ", and others wait for some"
	end
	if asked > most then
		return text .. (opt.while_others_wait and "" or ": can never start")
	end
	local t = state.held:falls(job, most - asked)
	return t and ("%s; fits by %s"):format(text, clock.text(t)) or text
end

local function make_allow(opt, rules)
	return function(job, cluster, _, states)
		for i = 1, #rules do
			local rule, state = rules[i], states[i]
			local name, asked, has = state.held(job)
			if asked > 0 then
				local most, share = limit_of(state, rule, name, cluster.now)
				if has + asked > most and not (opt.while_others_wait and not state.held:others_wait(job)) then
					return false, reason(opt, rule, state, job, name, asked, has, most, share)
				end
			end
		end
		return true
	end
end

local function make_explain(opt, rules)
	return function(job, cluster, _, states)
		local lines = {}
		for i, rule in ipairs(rules) do
			local state = states[i]
			local name, asked, has = state.held(job)
			if asked > 0 then
				local most, share = limit_of(state, rule, name, cluster.now)
				local verdict = has + asked <= most and "within it" or not opt.while_others_wait and "over it: waits" or
					state.held:others_wait(job) and "over it, and others wait for some: waits" or
					"over it, which nobody else waits for: may start"
				lines[#lines + 1] = about(opt, rule, name, asked, has, most, share) .. "; " .. verdict
			end
		end
		return #lines > 0 and table.concat(lines, "\n") or nil
	end
end

--- sched.limit { ... }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.limit", t, definitions, fail)
	local rules, groups = read_rules(opt, fail), read_groups(opt.groups, opt.by, fail)
	return {
		name = opt.name, doc = "how much may be held at once", on_failure = "hold",
		serve = function(partitions)
			local states = {}
			for i, rule in ipairs(rules) do
				states[i] = { held = engine.held { by = opt.by, unit = rule.unit, flat = true, groups = groups,
					partitions = opt.scope == "partitions" and partitions or nil } }
			end
			return states
		end,
		allow = make_allow(opt, rules), explain = make_explain(opt, rules),
	}
end

return M
