---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: the module "sched.test", for specs.  Never run.

---@class sched.test
local test = {}

---@class sched.test.cluster
---@field now integer

---@class sched.test.plan
local plan = {}

--- A cluster in a few words: see doc/policy-api.md, "Specs".
---@param spec { nodes?: string|table, partitions?: table, running?: table[], pending?: table[], reservations?: table[], licenses?: table, usage?: table[], remembered?: table<string, table<string, any>>, now?: integer, seed?: integer, meta?: table }
---@return sched.test.cluster
function test.cluster(spec) end

--- A cluster from a file of either form.
---@param path string
---@return sched.test.cluster
function test.load(path) end

--- One cycle of a policy.
---@param policy string|{ site?: string, policy?: string, source?: string, name?: string, options?: string, texts?: table<string, string>, path?: string }
---@param cluster sched.test.cluster
---@param options? { memory?: number, budget?: number, may_fail?: boolean }
---@return sched.test.plan
function test.decide(policy, cluster, options) end

---@class sched.test.simulation
---@field metrics table<string, any> keys of schedlua sim --json
---@field jobs sched.test.job[] in the order of submission
local simulation = {}

---@class sched.test.job
---@field job integer
---@field user string
---@field partition string
---@field submit_s integer
---@field start_s? integer
---@field end_s? integer
---@field wait_s? integer
---@field runtime_s integer
---@field walltime_s? integer
---@field cores? integer
---@field gpus? integer
---@field nodes? string[]
---@field layout? table<string, integer>

--- A workload under a policy; the schedule is checked.
---@param policy string|table
---@param workload string|{ nodes?: string|table, jobs: table[], partitions?: table, reservations?: table[], licenses?: table, now?: integer, seed?: integer }
---@param options? { machine?: string, procs?: integer, seed?: integer, estimate?: string, overrun?: boolean, outstay?: boolean, skip?: integer, from?: string, to?: string, first?: integer, interval?: integer, latency?: integer, requeue_wait?: integer, each_end?: boolean, memory?: number, budget?: number }
---@return sched.test.simulation
function test.simulate(policy, workload, options) end

---@param id integer
---@return sched.test.job?
function simulation:job(id) end

---@return integer[]
function simulation:started() end

--- Load and validate a policy or a site: what it says; or nil, the error and its traceback.
---@param policy string|table
---@param limits? { memory?: number, budget?: number }
---@return { interval: number, budget: number, policy: string, files: string[] }?
---@return string? error
---@return string? traceback
function test.check(policy, limits) end

---@return integer[]
function plan:started() end

---@return integer[]
function plan:reserved() end

---@param id integer
---@return { nodes: string[], partition: string, by: string, native: boolean, shape: integer, time_limit?: integer }?
function plan:start(id) end

---@param id integer
---@return { in_s: integer, start_time: integer, nodes: string[], partition: string, by: string }?
function plan:reservation(id) end

---@param id integer
---@return string? word
---@return string? text
function plan:pending(id) end

---@param id integer
---@return table<string, integer>? cores by node
function plan:layout(id) end

---@return { verb: string, job: integer, number: integer, text: string, by: string }[]
function plan:actions() end

---@return string[] "info: text"
function plan:log() end

--- By group (the name of its first partition) and key; for t.cluster { remembered = ... }.
---@return table<string, table<string, any>>
function plan:remembered() end

--- Seconds after which a policy asks for the next cycle at the latest (cluster.clock); nil: none does.
---@return integer?
function plan:wakes() end

---@return integer
function plan:examined() end

---@return boolean
function plan:truncated() end

---@return string[]
function plan:errors() end

---@return string?
function plan:trace() end

return test
