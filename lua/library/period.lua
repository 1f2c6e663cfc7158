---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: the module "sched.period", the stretches of time in which quotas count (doc/quotas.md#periods).
-- Never run.

---@class sched.period.module
local period = {}

---@class sched.period
---@field kind? "day"|"week"|"month"|"year" of the calendar; weeks begin on Monday
---@field zone? string its time zone; the machine's
---@field length? number seconds: the last so many
---@field name string for messages: "this month"

--- What "month" or "30d" means; nil and the reason for anything else.  A zone is named while the policy is loaded.
---@param text "day"|"week"|"month"|"year"|string a duration such as "30d", which has no zone
---@param zone? string "Europe/Berlin"; the machine's
---@return sched.period?
---@return string? reason
function period.parse(text, zone) end

--- The period that holds at a time, in seconds since the epoch.
---@param p sched.period
---@param now number cluster.now
---@return number from with which it begins
---@return number? to with which the next one begins; nil for the last so many seconds
---@return number before with which the one before began
function period.at(p, now) end

return period
