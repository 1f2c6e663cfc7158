---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: the plan of a cycle.  Never run.
--
-- Every start and reservation is booked at once, so that a policy cannot overbook.  What does
-- not fit returns nil, the reason and its word ("resources"); misuse raises.

---@class sched.plan
---@field head? sched.job the first job to which this policy gave a reservation
---@field started sched.job[] started so far, by all policies
---@field reserved sched.job[]
local plan = {}

---@class sched.how
---@field place? "bestfit"|"contiguous"|"pack"|"spread"|"tight"|"least_loaded"|"last"|"blocks"|"native"
---@field layout? table<sched.node|string, integer|integer[]> cores by node, or { cores, tasks }; 0 cores: what the tasks there need
---@field shape? integer|"any" one of the job's alternatives; 0: as asked; "any": as asked, else the first that fits
---@field bid? sched.bid its nodes and cores, instead of the three above
---@field borrow? string[] start, backfill, earliest: partitions whose nodes it may have, too
---@field through? string with borrow: the partition to start it in, which has all those nodes
---@field because? string why it is started: for explain
---@field from? integer reserve, earliest: no sooner than this time
---@field expected? number seconds that it is taken to run, less than its walltime: it is booked for those
---@field nodes? sched.nodeset these alone
---@field except? sched.nodeset all but these
---@field prefer? sched.nodeset start, backfill: these alone if it can start there now, else any
---@field use_blocked? boolean it may use nodes that plan:block() keeps free
---@field preempt? boolean|sched.stops start: if it does not fit now, others are stopped for it as by plan:preempt()
---@field wake_after? number seconds that it waits for nodes that are up rather than to have others boot; 0: none

--- Start a job now.
---@param job sched.job
---@param how? sched.how
---@return true? started
---@return string? reason
---@return string? word
---@return sched.stopped_for? answer with preempt: what came of that
function plan:start(job, how) end

--- Start a job now, unless that delays the head (EASY backfill).
---@param job sched.job
---@param how? sched.how
---@return true? started
---@return string? reason
---@return string? word
function plan:backfill(job, how) end

--- Backfill each job that an iteration over the queue has left, as long as there is a head.
---@param queue fun(): sched.job? what cluster:queue() returned
---@param how? sched.how place, wake_after, and shape 0 or "any"
---@return integer started
function plan:backfill_rest(queue, how) end

--- Start, or backfill where there is a head, each job that an order or an iteration over the queue has left.
---@param order fun(): sched.job? what cluster.history:order() or cluster:queue() returned
---@param how? sched.how place, wake_after, and shape 0 or "any"
---@return integer started
function plan:start_rest(order, how) end

--- What still waits, waits for room: a simulation does not ask again until there is some, or a job comes that has it.
---@param rule? "fcfs"|"easy"|"conservative"|"order"|"critical"|"full" all but full: and from now on this policy does what
--- that does with the whole queue: it may be done for it; full: but only as long as no job that waits fits into the cores that are free
---@param options? table<string, number|string> of "order", "critical" and "conservative": see doc/policy-api.md
function plan:settle(rule, options) end

--- Book the earliest start of a job; the first such job becomes the head.
---@param job sched.job
---@param how? sched.how
---@return integer? start_time
---@return string? reason
---@return string? word
function plan:reserve(job, how) end

--- When could a job start, given all that is booked?  Books nothing.
---@param job sched.job
---@param how? sched.how
---@return integer? start_time
---@return string? reason
---@return string? word
function plan:earliest(job, how) end

---@class sched.stops how a job may have others stopped for it
---@field at? integer it starts no sooner than at that time
---@field wait_price? number what an hour of waiting costs: it waits if that is cheaper
---@field max_cost? number of a set that costs more nobody is stopped
---@field elsewhere? boolean only jobs are stopped, and requeued, that have another place where they can start again
---@field max_victims? integer jobs stopped for it at most
---@field max_a_cycle? integer jobs stopped in this cycle at most, for anybody
---@field max_an_hour? integer ... with those of the last hour
---@field max_of_user? integer ... of one user
---@field max_of_partition? integer ... of one partition
---@field prove? number seconds of a solver's work at most, where simpler means do not prove that a set is the cheapest; 0: none; else 0.2
---@field mode? "requeue"|"expedite" where Slurm allows it; else as Slurm has it
---@field may? fun(victim: sched.job, job: sched.job, cluster: sched.cluster): boolean? of those whom Slurm lets be stopped
---@field cost? fun(victim: sched.job, job: sched.job, cluster: sched.cluster): number 0 to 1e15; else the work that is lost

---@class sched.stopped_for what came of plan:preempt()
---@field verdict "optimal"|"found"|"held"|"waits"|"impossible"|"unproven"|"none"
---@field cost number of the set that was found
---@field bound number no set costs less
---@field victims sched.job[] who is stopped
---@field moves? { job: sched.job, nodes: sched.nodeset }[] with elsewhere: where each of those who are stopped has a place
---@field start? integer when the job is to start
---@field alone? integer with wait_price: when it would start by itself
---@field permitted integer how many might have been stopped
---@field sets integer how many sets were compared

--- Stop the cheapest running jobs without which the job fits; its place is reserved, and held until it starts.  A job whose place
--- is held already is reserved there ("held"), and nobody is stopped.  While may and cost are asked, the plan is not to be asked or
--- changed: its functions raise an error.
---@param job sched.job
---@param how? sched.stops
---@return sched.stopped_for? answer
---@return string? reason
---@return string? word
---@return sched.stopped_for? answer what was found where nobody is stopped
function plan:preempt(job, how) end

--- Who is preempted in the partitions of this policy is for the rest of this cycle what plan:preempt() says.  Slurm's select is not asked to
--- preempt for their jobs, except for those that only select can place, and no start is expected from its preempting others.
--- plan:preempt() does the same.
function plan:own_preemption() end

--- What a stop of a running job costs if the policy says nothing else: the work that it loses, in core-hours.
---@param job sched.job
---@return number
function plan:lost_work(job) end

--- Take a reservation back, or else the last start; of a heterogeneous job, those of all its components.
---@param job sched.job
---@return true?
---@return string? reason
function plan:undo(job) end

--- Tell users to expect the job at that time (squeue --start), in place of the start that the plan has for it.
--- Binds nobody.
---@param job sched.job
---@param time number seconds since the epoch
function plan:expect(job, time) end

--- Keep nodes free from one time to another in this cycle, but for jobs with use_blocked and in advance reservations.
---@param nodes sched.nodeset
---@param from number seconds since the epoch
---@param to number
function plan:block(nodes, from, to) end

--- Tell the user why the job stays pending.
---@param job sched.job
---@param reason string
function plan:refuse(job, reason) end

--- Nobody else of a partition is looked at now, and why all of them wait of whom nothing else was
--- said.  nil: of all partitions that are decided now.
---@param partition sched.partition|string|nil
---@param reason string
function plan:close(partition, reason) end

---@param job sched.job
---@return "open"|"started"|"reserved"|"refused"
function plan:state(job) end

--- Cores by node's name, the start time and the shape of a job that is started or reserved.
---@param job sched.job
---@return table<string, integer>?
---@return integer? start_time
---@return integer? shape
function plan:layout(job) end

---@param job sched.job
---@param text? string
function plan:cancel(job, text) end

---@param job sched.job
---@param text? string
function plan:requeue(job, text) end

---@param job sched.job
function plan:suspend(job) end

---@param job sched.job
function plan:resume(job) end

---@param job sched.job
---@param signal integer|string 15, "TERM" or "SIGTERM"
function plan:signal(job, signal) end

---@param job sched.job
---@param change { priority?: integer, time_limit?: integer, partition?: string }
function plan:modify(job, change) end

---@param job sched.job
---@param text string
function plan:notify(job, text) end

--- Remember a value for the cycles to come: cluster:recall(key).  Each group of partitions that
--- decides by itself has its own.  Booleans, numbers, strings, and tables of them with integers
--- and strings as keys; copied at once; nil forgets.  Sizes that are too large return nil and why,
--- and change nothing; other misuse raises.
---@param key string up to 64 characters
---@param value any
---@return true? remembered
---@return string? reason
function plan:remember(key, value) end
