---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: a policy, and the module "sched".  Never run.

--- What a policy's file returns.  At least one of admit, allow, rank, place, score, prepare and decide.
---@class sched.policy
---@field api 1
---@field name? string
---@field doc? string
---@field options? table<string, sched.option>
---@field rerank? boolean rank is asked again after starts: what has fallen goes to its place
---@field split? boolean false: decide sees its whole set, also partitions that share no nodes
---@field admit? fun(job: sched.job, cluster: sched.cluster, opt: table): boolean, string?
---@field on_failure? "hold"|"easy" what becomes of the partitions when admit or allow fails; "easy"
---@field allow? fun(job: sched.job, cluster: sched.cluster, opt: table, state: any): boolean|"later", string?
---@field rank? fun(job: sched.job, cluster: sched.cluster, opt: table, state: any): number, number?
---@field serve? fun(partitions: string[], cluster: sched.cluster, opt: table): any what the others get as state
---@field explain? fun(job: sched.job, cluster: sched.cluster, opt: table, state: any): string
---@field place? fun(job: sched.job, cluster: sched.cluster, opt: table, state: any): sched.wish? on which nodes
---@field score? fun(job: sched.job, class: sched.node_class, cluster: sched.cluster, opt: table, state: any): number|false how good nodes are
---@field prepare? fun(cluster: sched.cluster, plan: sched.plan, opt: table, state: any) before decide: plan:block()
---@field decide? fun(cluster: sched.cluster, plan: sched.plan, opt: table)

---@class sched.wish
---@field nodes? sched.nodeset these alone
---@field except? sched.nodeset all but these
---@field prefer? sched.nodeset these alone if it can start there now, else any
---@field place? string|fun(job: sched.job, class: sched.node_class, cluster: sched.cluster): number|false as in the how of plan:start(), or a score
---@field least? number beside a place that is a bundled score: the job waits where none is as good
---@field segment? integer beside a place: its nodes are in whole segments of so many nodes, each below one leaf switch
---@field use_blocked? boolean it may use nodes that plan:block() keeps free

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
---@field on_failure? "hold"|"easy" for all lists that do not say it
---@field default? sched.list for all partitions that are not named; "easy"
---@field partitions? table<string, sched.list> by name, or names with commas
---@field when? table<string, sched.list> lists by time: default = sched.when { ... }
---@field time_zone? string "Europe/Berlin": of cluster.clock and sched.when; the machine's
---@field holidays? string a file beside the site file: lines "2026-12-25 NAME" or "2026-12-24..2027-01-06 NAME"
---@field forecasts? string|table what schedlua forecast --output writes: for job.forecast and squeue

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

---@class sched.file a plain file beside the site file
---@field path string
---@field version integer how often a text of it was accepted
local file = {}

--- What the parser returned under this key; nil if nothing.
---@param key string
---@return number|string|boolean|nil
function file:get(key) end

--- All of it, as a new table.
---@return table<string, number|string|boolean>
function file:all() end

--- Name a file that is re-read when it changes.
---@param name string
---@param parse fun(text: string, path: string, warn: fun(text: string)): table<string, number|string|boolean>
---@return sched.file
function sched.file(name, parse) end

---@class sched.quota_options
---@field per_user? string "81920 cpu-hours, 500 gpu-hours"; cpu, gpu or node; seconds, minutes, hours or days
---@field per_account? string
---@field limits? string a file of lines "user NAME AMOUNT", "account NAME AMOUNT", "default AMOUNT"
---@field scope? "partitions"|"cluster" what counts: the partitions of the list (default), or all
---@field on_exceed? "wait"|"demote"
---@field oversize? "wait"|"alone" a job that asks for more than the limit: never, or when its user holds nothing
---@field no_walltime? string|number as what a job without walltime counts; "365d"
---@field period? string "day", "week", "month", "year", or the last so many: "30d"
---@field time_zone? string of calendar periods; the machine's
---@field carry_over? number of what was left over in the period before, as a share of the limit
---@field refund? boolean runs that lost their node or were preempted do not count
---@field name? string in reasons; "quota"

--- Limits on machine time.
---@param options sched.quota_options
---@return sched.policy
function sched.quota(options) end

---@alias sched.limit_value integer|string|fun(name: string, supply: integer): integer|string|nil

--- In place of a list: one for each time of the week, and otherwise = for all other times.
---@param lists table<string, sched.list>
---@return sched.list
function sched.when(lists) end

---@class sched.limit_options
---@field cores? sched.limit_value a number, a share such as "25 %", or a function
---@field cpus? sched.limit_value
---@field gpus? sched.limit_value
---@field nodes? sched.limit_value
---@field jobs? sched.limit_value a number or a function
---@field by? "user"|"account"|"qos"|"partition"
---@field groups? table<string, string[]> accounts that count as one, by the name of the group
---@field while_others_wait? boolean it holds only while somebody else waits for some of the same
---@field scope? "partitions"|"cluster"
---@field name? string in reasons; "limit"

--- How much one may hold at once.
---@param options sched.limit_options
---@return sched.policy
function sched.limit(options) end

--- Layer, then time of submission.
---@param options { file: string, default?: integer }
---@return sched.policy
function sched.layers(options) end

--- A point for each *per* of waiting.
---@param options? { per?: string|number, max?: number }
---@return sched.policy
function sched.ageing(options) end

--- 2 ^ -(usage / (share x half_at)).
---@param options? { by?: "user"|"account", unit?: "cpu"|"gpu"|"node", half_life?: string|number, half_at?: string, shares?: string }
---@return sched.policy
function sched.fair_share(options) end

--- 1 for the first job of each user who has nothing running.
---@param options? { by?: "user"|"account", scope?: "partitions"|"cluster", most?: string }
---@return sched.policy
function sched.first_job(options) end

--- An order that has a name: fcfs, sjf, smallest, wfp3, unicef, f1, f2, f3, f4.
---@param order { [1]: string, estimate?: string }
---@return sched.policy
function sched.score(order) end

--- By which score jobs get their nodes.
---@param place { [1]: string|fun(job: sched.job, class: sched.node_class, cluster: sched.cluster): number|false, least?: number, price?: number, segment?: integer|fun(job: sched.job): integer|nil }
---@return sched.policy
function sched.place(place) end

--- Jobs without GPUs leave alone the cores beside idle GPUs.
---@param options? { cores_per_gpu?: number, reserve?: boolean, while_wanted?: boolean }
---@return sched.policy
function sched.gpu_share(options) end

--- Running jobs are moved, so that a whole block or node becomes free for a job that waits.
---@param options? { max_price?: number, wait_price?: number, min_gain?: number|string, after?: number|string, min_runtime?: number|string, again?: number|string, hold?: number|string, max_moves?: integer, max_a_cycle?: integer, max_an_hour?: integer, max_of_user?: integer, max_of_partition?: integer, prove?: number, jobs?: integer, window?: integer, may?: fun(victim: sched.job, job: sched.job, cluster: sched.cluster): boolean?, cost?: fun(victim: sched.job, job: sched.job, cluster: sched.cluster): number }
---@return sched.policy
function sched.consolidate(options) end

---@class sched.node_class nodes of which the same is there and free, while a score is asked
---@field node sched.node one of them
---@field nodes integer
---@field cores integer
---@field free_cores integer when the job starts
---@field takes_cores integer
---@field memory integer MiB
---@field free_memory integer
---@field takes_memory integer
---@field gpus integer
---@field free_gpus integer idle ones
---@field left_gpus integer idle after the job
---@field gres table<string, integer>
---@field free_gres table<string, integer>
---@field takes_gres table<string, integer>
---@field start integer
---@field late boolean it would start later than now
---@field score fun(name: string): integer what a bundled score says

--- The sum of several ranks.
---@param terms { [1]: number, [2]: sched.policy }[]
---@return sched.policy
function sched.weighted(terms) end

return sched
