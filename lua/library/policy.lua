---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: a policy, and the module "sched".  Never run.

--- What a policy's file returns.  At least one of admit, allow, rank and decide.
---@class sched.policy
---@field api 1
---@field name? string
---@field doc? string
---@field options? table<string, sched.option>
---@field split? boolean false: decide sees its whole set, also partitions that share no nodes
---@field admit? fun(job: sched.job, cluster: sched.cluster, opt: table): boolean, string?
---@field rank? fun(job: sched.job, cluster: sched.cluster, opt: table): number
---@field decide? fun(cluster: sched.cluster, plan: sched.plan, opt: table)

---@class sched.option
---@field default any
---@field type? "integer"|"number"|"string"|"boolean"|"duration"|"table" default: that of default
---@field min? any
---@field max? any
---@field values? any[]
---@field doc? string

--- Policies by name, tables as library functions make them, and options by name.
---@alias sched.list string|sched.policy|(string|sched.policy|table)[]|table<string, any>

---@class sched.site
---@field interval? number seconds between two cycles
---@field budget? number seconds that a cycle may take to decide
---@field default? sched.list for all partitions that are not named; "easy"
---@field partitions? table<string, sched.list> by name, or names with commas

---@class sched
---@field api 1
local sched = {}

--- What a site file returns.
---@param site sched.site
---@return sched.site
function sched.site(site) end

--- Seconds from "90m", "1-12:00:00" or a number; nil and the reason for anything else.
---@param value string|number
---@return number?
---@return string? reason
function sched.duration(value) end

return sched
