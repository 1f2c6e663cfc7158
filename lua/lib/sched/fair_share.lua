-- SPDX-License-Identifier: MIT
--
-- sched.fair_share - rank by how little a user (account) has used, what is long ago counting less.
--
--   sched.fair_share { half_life = "14d", half_at = "10000 cpu-hours", shares = "shares.conf" }
--
-- A job's value is 2 ^ -(usage / (share x half_at)): 1 for who has used nothing, 0.5 for who has
-- used half_at, 0.25 at twice that.  usage is that of runs that have ended, a half-life ago
-- counting half (the ledger's), and of running jobs so far.  Without half_at it is the mean usage
-- of those who have any.  shares names a file of lines "user NAME 2", "account NAME 0.5",
-- "default 1".

local amount = require "sched.amount"
local component = require "sched.component"
local data_file = require "sched.data_file"

local M = {}

local definitions = {
	by = { default = "user", values = { "user", "account" } },
	unit = { default = "cpu", values = { "cpu", "gpu", "node" } },
	half_life = { default = "14d", type = "duration", min = 60, max = "3650d" },
	half_at = { type = "string" },
	shares = { type = "string" },
}

local function put(map, key, words, first, fail)
	local share = words[first] and words[first]:match("^%d*%.?%d+$") and tonumber(words[first])
	if #words ~= first or not share or share <= 0 or share > 1e6 then
		fail("%s: '%s' is no share; expected a number greater than 0 and at most 1000000", key,
			table.concat(words, " ", first):sub(1, 60))
	end
	map[key] = share
end

local function read_half_at(opt, fail)
	if not opt.half_at then
		return nil
	end
	local amounts, why = amount.parse(opt.half_at)
	if not amounts then
		fail("half_at", "half_at: %s", why)
	end
	local seconds = amounts[opt.unit]
	if not seconds or seconds <= 0 or seconds == math.huge then
		fail("half_at", "half_at: \"%s\"; expected an amount of %s-hours", opt.half_at, opt.unit)
	end
	return seconds
end

-- Everybody's usage in this cycle, and what counts as one share of it.
local function look(self, state, cluster)
	local opt = self.opt
	local usage, all = cluster.usage, {}
	local users, sum = 0, 0.0
	for name, seconds in pairs(usage:decayed { by = opt.by, unit = opt.unit, half_life = opt.half_life }) do
		all[name] = seconds
	end
	for name, seconds in pairs(usage:used { by = opt.by, unit = opt.unit }) do
		all[name] = (all[name] or 0) + seconds
	end
	for _, seconds in pairs(all) do
		if seconds > 0 then
			users, sum = users + 1, sum + seconds
		end
	end
	state.now, state.usage, state.values = cluster.now, all, {}
	state.half_at = self.half_at or math.max(1.0, sum / math.max(1, users))
end

local function share_of(self, name)
	return self.file and (self.file:get(self.opt.by .. " " .. name) or self.file:get("default")) or 1
end

local function value_of(self, state, cluster, name)
	if state.now ~= cluster.now then
		look(self, state, cluster)
	end
	local value = state.values[name]
	if not value then
		value = 2.0 ^ -(math.max(0, state.usage[name] or 0) / (share_of(self, name) * state.half_at))
		state.values[name] = value
	end
	return value
end

--- sched.fair_share { ... }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.fair_share", t, definitions, fail)
	local self = { opt = opt, half_at = read_half_at(opt, fail) }
	if opt.shares then
		self.file = data_file.open(path, line, opt.shares, data_file.subjects(put))
	end
	local part = { name = "fair_share", doc = "little usage goes first" }

	function part.serve()
		return {}
	end

	function part.rank(job, cluster, _, state)
		return value_of(self, state, cluster, job[opt.by] or ""), -job.submit_time
	end

	function part.explain(job, cluster, _, state)
		local name = job[opt.by] or ""
		local value = value_of(self, state, cluster, name)
		return ("%.4f = 2 ^ -(%s / (%g x %s)): %s %s has used %s"):format(value, amount.number(state.usage[name] or 0),
			share_of(self, name), amount.number(state.half_at), opt.by, name, amount.text(state.usage[name] or 0, opt.unit))
	end

	return part
end

return M
