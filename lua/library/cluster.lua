---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: what a policy sees of the cluster.  Never run.  Fields are the columns of
-- the snapshot (schedlua-snapshot(5)) and what is worked out from them.
--
-- Units: seconds, MiB, physical cores; CPUs are what Slurm counts.  math.huge stands for no limit; what nobody has set
-- is nil, be it a text, a number, a time or a list.  All objects are read-only and good for the cycle in which the
-- cluster handed them out.

---@class sched.cluster
---@field now integer time of this cycle, seconds since the epoch
---@field origin integer in a simulation: where its log begins; else 0
---@field name string ClusterName
---@field cluster? string ClusterName
---@field nodes sched.node[]|table<string, sched.node> by number or name; ipairs() works
---@field partitions sched.partition[]|table<string, sched.partition> by number or name
---@field running sched.job[] jobs that run or are suspended, then those that this cycle has started
---@field licenses sched.license[]
---@field reservations sched.reservation[]
---@field totals sched.totals
---@field supply sched.supply what usable nodes of this set's partitions have in all
---@field clock sched.clock what clocks show at the site
---@field usage sched.usage who used, uses and asks for how much
---@field history sched.history runs of jobs that have ended
---@field source string who took the snapshot: slurmctld, capture, json, sim, spec
---@field slurm_version? string
---@field sequence integer number of the cycle
---@field seed integer seed of random()
---@field select_flags string[] MEMORY, WHOLE_NODE, ONE_TASK_PER_CORE, PACK_NODES, LLN, SOCKET, LLN_DEALS, GRES_IN_TURN, SOFT_LIMIT, TOPO_OPTIONAL, SERIAL_AT_END, DEALS_ALL, PARTS_OF_TASKS, DEALS_TO_NODES
---@field memory boolean memory is a consumable resource
---@field whole_node boolean select/linear: nodes are never shared
---@field one_task_per_core boolean
---@field pack_nodes boolean
---@field lln boolean
---@field socket boolean
---@field lln_deals boolean with LLN, select deals tasks to several nodes itself
---@field gres_in_turn boolean with SOCKET, beside gres select takes a core of each socket in turn
---@field soft_limit boolean time_min_as_soft_limit: jobs are expected to run for their time_min
---@field topo_optional boolean TopoOptional: only jobs with --switches are placed by switches
---@field serial_at_end boolean pack_serial_at_end: jobs of one CPU go to the last nodes
---@field deals_all boolean select refuses a job if some of its tasks have no CPU, though it overcommits
---@field deals_to_nodes boolean select deals out the tasks of --ntasks-per-node, however few the job has
---@field parts_of_tasks boolean of a node select takes CPUs that make no whole task, unless memory is by CPU
---@field conf_stamp integer
---@field job_stamp integer
---@field node_stamp integer
---@field part_stamp integer
---@field resv_stamp integer
---@field over_time_limit number OverTimeLimit, seconds
---@field kill_wait number
---@field unkillable_timeout number UnkillableStepTimeout, seconds
local cluster = {}

--- Iterate over the pending jobs of this policy's partitions: in Slurm's order, or by rank
--- where one is defined.  A job stands there once for each of its partitions; jobs that were
--- started or not admitted are left out; an array comes again as long as its tasks start.
--- With a window, jobs that no time can help (drained nodes, a feature that no node has, more licences than there
--- are) are refused with the reason, not handed out, and do not count; whom = "all": they are handed out, and count.
---@param window? integer|"share" at most so many; "share": as many as a share of the cycle's work is enough for
---@param eligible_by? integer only jobs that were submitted and eligible by then
---@param whom? "able"|"all"
---@return fun(): sched.job?
function cluster:queue(window, eligible_by, whom) end

--- The set of nodes that all keys describe; without a table, of all nodes.  (cluster.nodes is the list of them.)
---@param which? { name?: string|sched.node|(string|sched.node)[], feature?: string, gres?: string, partition?: string, first?: integer, last?: integer }
---@return sched.nodeset
function cluster:nodes(which) end

---@class sched.nodeset
local nodeset = {}

---@param other sched.nodeset
---@return sched.nodeset
function nodeset:union(other) end

---@param other sched.nodeset
---@return sched.nodeset
function nodeset:minus(other) end

---@param other sched.nodeset
---@return sched.nodeset
function nodeset:common(other) end

---@param node sched.node|string
---@return boolean
function nodeset:has(node) end

---@return string[]
function nodeset:names() end

---@param id integer
---@return sched.job?
function cluster:job(id) end

---@param name string
---@return sched.node?
function cluster:node(name) end

---@param name string
---@return sched.partition?
function cluster:partition(name) end

--- A copy of what was last remembered under a key, in this cycle or an earlier one
--- (plan:remember); nil if there is nothing.  Not in serve().
---@param key string
---@return any
function cluster:recall(key) end

--- The same in every replay of the cycle: () in [0, 1), (m) in 1..m, (l, m) in l..m.
---@param l? integer
---@param m? integer
---@return number
function cluster:random(l, m) end

--- What clocks and calendars show, in the site file's time_zone.  What is asked of it, fields too, has a cycle when the
--- answer changes.
---@class sched.clock
---@field now integer seconds since the epoch
---@field zone? string the site's time_zone; nil: the machine's
---@field year integer
---@field month integer
---@field day integer
---@field date string "2026-03-12"
---@field weekday integer 1 is Monday, 7 Sunday
---@field weekend boolean Saturday or Sunday
---@field workday boolean Monday to Friday, and no holiday
---@field holiday? string its name, by the site's file of holidays
---@field hour integer
---@field minute integer
---@field second integer
---@field time string "08:05"
local clock = {}

--- From one time of day on, and before the other; also over midnight.
---@param from string "8:00"
---@param to string "18:00"
---@return boolean
function clock:between(from, to) end

--- Does a time of the week hold now?
---@param times string "Mon-Fri 8:00-18:00 except holidays; Sat 9:00-12:00"
---@return boolean
function clock:is(times) end

--- When a time of the week holds: from now on, where it holds now, or else the next time.  nil: not within a week
--- (where it names holidays: a year).
---@param times string
---@return integer? from
---@return integer? to
function clock:period(times) end

---@class sched.usage
---@field stale? string why what was used in the past may be out of date; nil: it is not
local usage = {}

---@class sched.usage.question
---@field by "user"|"account"
---@field unit "cpu"|"gpu"|"node"
---@field partition? string only of this one

--- Of what runs and waits now: its table follows what the cycle starts; ask again after a start.
---@class sched.usage.question_now
---@field by "user"|"account"|"qos"|"partition"
---@field unit "cpu"|"gpu"|"node"|"job"
---@field partition? string only of this one

---@class sched.usage.past_question: sched.usage.question
---@field since? number from this time on (seconds since the epoch)
---@field until_? number and before this one
---@field without? string[] runs that ended in these states do not count: FAILED, PREEMPTED, REQUEUED, ...

---@class sched.usage.decayed_question: sched.usage.question
---@field half_life number seconds
---@field without? string[]

--- What runs that have ended used, in unit-seconds, by name.  Exact to the second.  The same
--- question gives the same table throughout a cycle; it is read-only, and pairs(), next() and
--- rawget() read it as any other table.
---@param question sched.usage.past_question
---@return table<string, integer>
function usage:past(question) end

--- The same, of all times, with a weight of 2^(-age / half_life).
---@param question sched.usage.decayed_question
---@return table<string, number>
function usage:decayed(question) end

--- Running and suspended jobs, and those that this cycle has started: what they have now.
---@param question sched.usage.question_now
---@return table<string, integer>
function usage:holding(question) end

--- The same x their walltime; math.huge without a limit.
---@param question sched.usage.question_now
---@return table<string, number>
function usage:running(question) end

--- Running and suspended jobs: what they have x the time they have run.
---@param question sched.usage.question_now
---@return table<string, integer>
function usage:used(question) end

--- Jobs of the queue: what they ask for x their walltime; an array with all its tasks; without those that this cycle
--- has started.
---@param question sched.usage.question_now
---@return table<string, number>
function usage:queued(question) end

---@class sched.history
---@field stale? string why what ended lately may be missing; nil: it is not
local history = {}

--- The newest 512 runs of a user, of an account, are known.  Either has to be named.
---@class sched.history.question
---@field user? string
---@field account? string
---@field name? string the job's name, its first 63 bytes
---@field last? integer so many at most, 1 to 512
---@field cpus? number[] least and most
---@field time_limit? number[] least and most seconds
---@field ended_by? integer only what had ended by that time, seconds since the epoch; now unless told

---@class sched.past_run
---@field job integer JobId
---@field user string
---@field account string
---@field partition string
---@field name? string nil: not known
---@field state string COMPLETED, FAILED, TIMEOUT, REQUEUED, ...
---@field start_time integer
---@field end_time integer
---@field runtime integer seconds, without suspensions
---@field time_limit? number its walltime, seconds; nil: not known
---@field cpus integer
---@field gpus integer
---@field nodes integer

--- Runs that have ended by now, the newest first (10 unless told).
---@param question sched.history.question
---@return sched.past_run[]
function history:runs(question) end

--- Their runtimes alone, the newest first (10 unless told).
---@param question sched.history.question
---@return integer[] seconds
function history:runtimes(question) end

--- The mean runtime of the last of them (2 unless told), and how many there were; nil: none.
---@param question sched.history.question
---@return number? mean
---@return integer runs
function history:mean(question) end

--- The runtimes of the user's last two runs like a job of that size and walltime, the newest first, and by what to
--- multiply them (1 or more): how many times longer than expected his work has run lately, by core-seconds; and what they and others' runs let one
--- expect of the job, in seconds.
---@param question { user: string, cpus: integer, time_limit: number, ended_by: integer? }
---@return integer[] seconds
---@return number stretch
---@return number typical
function history:like(question) end

---@class sched.history.order
---@field size? number exponent of a job's CPUs (1)
---@field length? number exponent of its runtime (1)
---@field patience? number seconds: how long a wait counts as much as none (for ever)
---@field ageing? number exponent of 1 + waited / patience (1)
---@field predictor? "similar"|"limit" what says the runtime
---@field typical? fun(job: sched.job): number or this does
---@field stretch? fun(job: sched.job): number and what that was stretched by
---@field open? boolean only jobs that the plan says nothing of yet
---@field slowdown? number only jobs that have waited for that many times the shortest runtime that is likely for them
---@field slowdown_wait? number ... and for that many seconds

--- The jobs that an iteration over the queue has left, the smallest cpus^size x runtime^length / (1 + waited / patience)^ageing
--- first, or with `slowdown` those that have been overdue for longest: job, that key, for how long it is overdue.
---@param queue fun(): sched.job? what cluster:queue() returned
---@param by sched.history.order
---@return fun(): sched.job?, number, number
function history:order(queue, by) end

---@class sched.history.summary_question: sched.history.question
---@field quantiles? number[] 0 to 1, up to 16 of them

---@class sched.history.summary
---@field runs integer how many there were; without any, this is the only field
---@field mean number seconds
---@field deviation number
---@field min integer
---@field max integer
---@field completed number share of those that ended as COMPLETED
---@field quantiles integer[] in the order asked: the smallest runtime that so many did not exceed

--- What the last of them (100 unless told) were like.
---@param question sched.history.summary_question
---@return sched.history.summary
function history:summary(question) end

---@class sched.totals
---@field nodes integer
---@field usable_nodes integer neither down nor drained
---@field idle_nodes integer
---@field cores integer of usable nodes
---@field free_cores integer
---@field free_gres table<string, integer> gpu, gpu:a100, ...: free now on all nodes
---@field queued integer entries of the queue, of all partitions
---@field running integer

---@class sched.supply
---@field nodes integer
---@field cores integer
---@field cpus integer
---@field memory integer MiB, of nodes that say so
---@field gres table<string, integer> by name and by name:type
---@field gres_nodes table<string, integer> nodes that have some

---@class sched.job
-- who
---@field id integer JobId
---@field array_job_id? integer
---@field array_task_id? integer
---@field array_pending integer tasks that this record still stands for; 0: no array
---@field array_max_running? integer throttle (%n)
---@field het_job_id? integer
---@field het_offset? integer
---@field name? string
---@field user? string
---@field uid? integer
---@field gid? integer
---@field account? string
---@field qos? string
---@field wckey? string
---@field comment? string
---@field admin_comment? string
---@field stamp integer digest of the request
-- where
---@field partition string in which it is looked at now
---@field partitions string[] all it asked for, in its order
---@field home? string started on nodes of other partitions: the one that it waited in
---@field reservation? string
-- state
---@field state "PENDING"|"RUNNING"|"SUSPENDED"|"COMPLETED"|"CANCELLED"|"FAILED"|"TIMEOUT"|"NODE_FAIL"|"PREEMPTED"|"BOOT_FAIL"|"DEADLINE"|"OUT_OF_MEMORY"
---@field flags string[] the flags that are set, in capitals
---@field batch boolean sbatch; otherwise srun or salloc waits for it
---@field completing boolean ended, still holds nodes
---@field exclusive boolean whole nodes
---@field contiguous boolean
---@field spread boolean --spread-job
---@field requeue boolean may be requeued
---@field overcommit boolean
---@field oversubscribe boolean
---@field immediate boolean now or never
---@field held boolean
---@field dependent boolean waits for other jobs
---@field preempts_lower boolean its flag PREEMPTS_LOWER
---@field preempts_within boolean PreemptMode=WITHIN: jobs of its own QOS, too, if their priority is lower
---@field borrows boolean --signal=R: Slurm may start it on nodes that a reservation with MaxStartDelay keeps
---@field no_borrow boolean another partition refused it a moment ago
---@field may_preempt boolean jobs that run could be preempted for it
---@field default_time boolean names no time limit: it gets the partition's
---@field most_nodes boolean wants as many nodes as there are, up to max_nodes
---@field any_time boolean the partition's MaxTime does not hold for it
---@field any_max_nodes boolean nor its MaxNodes, where that says how many at most
---@field any_min_nodes boolean nor its MinNodes
---@field no_reserve boolean its flag NO_RESERVE
---@field power_up boolean running: its nodes boot, and its time begins when they are up
---@field priority integer Slurm's
---@field nice integer
---@field submit_time integer
---@field eligible_time integer
---@field begin_time? integer
---@field deadline? integer
---@field start_time? integer
---@field end_time? integer
---@field suspend_time? integer
---@field pre_suspend_s integer
---@field resize_time? integer when its size last changed in this run
---@field restarts integer
---@field exit_code integer
---@field state_reason? string why it was pending before this cycle
---@field place_held boolean a place is held for it, for which others were stopped
---@field waited integer seconds since it was submitted
---@field remaining number running: seconds until its walltime ends; else its walltime
---@field forecast? sched.forecast when it will start, where the site has forecasts = ... and one of it is no older
-- what
---@field time_limit number walltime in seconds; math.huge without limit
---@field time_min? integer shortest walltime that would do; nil: time_limit
---@field min_nodes integer
---@field max_nodes? integer nil: no limit
---@field node_counts? string numbers of nodes of which it takes one, "1,4-6"; nil: any from min_nodes to max_nodes
---@field min_cpus integer
---@field max_cpus? integer nil: no limit
---@field num_tasks? integer
---@field cpus_per_task integer
---@field ntasks_per_node? integer
---@field ntasks_per_socket? integer
---@field ntasks_per_core? integer
---@field threads_per_core? integer
---@field pn_min_cpus? integer
---@field memory_per_node? integer
---@field memory_per_cpu? integer
---@field tmp_disk? integer
---@field core_spec? integer cores set aside on each node, in place of the node's own
---@field gres? sched.job_gres[]
---@field licenses? { license: string, count: integer }[]
---@field features? string constraint, as written
---@field prefer? string constraint that would be better, as written
---@field req_nodes? string[]
---@field exc_nodes? string[]
---@field switches? integer
---@field switch_wait? integer
---@field segment? integer --segment: nodes of a segment, which topology/block has in one block
---@field shapes sched.shape[] alternatives: plan:start(job, { shape = 1 })
---@field shapes_ignored? string why all alternatives in its comment are ignored; nil: they are not
---@field plane_size? integer tasks that each node gets in its turn, of a plane distribution
---@field arbitrary_tpn? { node: string, tasks: integer }[] tasks of each of its nodes, of an arbitrary distribution; nil: Slurm knows of none
---@field sockets_per_node? integer
---@field cores_per_socket? integer
---@field distribution string "any", "block", "cyclic", "plane", "arbitrary"
---@field asks string[] what else it asks for, in capitals
---@field boards boolean boards, or sockets or tasks for each
---@field cpus_per_gres boolean
---@field memory_per_gres boolean
---@field tasks_per_gres boolean
---@field uncounted_gres boolean asks for gres that are not in its list: some of mps, shard and no_consume
---@field one_type boolean gres by name alone, of which a node gives all of one type
---@field default_cpus boolean CPUs for each gres by default alone (DefCpuPerGPU)
---@field sockets_in_turn boolean a core of each socket of a node in turn (-m block:cyclic)
---@field segment_blocks boolean segments that are spread over blocks, or put into as few of them (--spread-segments, --consolidate-segments)
---@field hres boolean resources of resources.yaml, which belong to nodes
---@field extra boolean nodes whose Extra has what its --extra says
---@field reclaim boolean licences that it may get by preemption; not in its licenses
---@field reboot boolean features that nodes get when they boot
---@field task_counts boolean its own number of tasks for each node, which its list does not say
---@field user_nodes boolean nodes on which no other user has jobs (--exclusive=user)
---@field burst_buffer boolean
---@field mcs boolean nodes on which all jobs have its label, and ask for that too
---@field expand boolean to expand another job
---@field any_license boolean one of its licences: the first that is free
---@field whole_switches boolean switches on whose nodes nobody else has jobs (--exclusive=topo)
---@field spec_cores boolean no core set aside on its nodes (--core-spec=0)
---@field spec_threads boolean core_spec counts threads (--thread-spec)
---@field bound_gres boolean cores near its gres alone (--gres-flags=enforce-binding)
---@field task_gres boolean so many for each task of a gres that its list has by node, job or socket
---@field task_tres boolean something for each task, CPUs too (-c, from 23.11 on), although it overcommits
---@field mcs_label? string label of multi-category security
---@field yields_after? integer QOS NoReserve under preemption: seconds after its start from which on others may take its nodes
---@field preempts? string whose running jobs it may preempt: QOS=a,b or Partition=a,b; nil: nobody's, or not known
---@field safe_until? integer running: until then nobody gets its nodes by preempting it; nil: as long as it runs
---@field preempt_mode? string running: what Slurm does to preempt it: cancel, requeue, suspend; nil: nobody may
---@field preempt_from? integer running: from then on it may be stopped for others; nil: never
---@field grace_time? integer running: GraceTime, seconds between being told to end and being ended
---@field preempt_time? integer running: when it was told to end for another job; nil: it was not
---@field refusals integer placements in a row that Slurm's select refused
---@field native? string what only Slurm's select can place; nil: nothing
---@field cpus integer CPUs that it will have at least
---@field tasks integer
---@field gpus integer in all
---@field gres_total table<string, integer> in all, by name
-- what it has
---@field alloc sched.alloc[] running: by node
---@field alloc_nodes integer running, finished: nodes that it has or had; 0: not known
---@field alloc_cpus integer likewise: CPUs
---@field alloc_gpus integer likewise: GPUs
---@field nodes string[] running: its nodes

--- Of schedlua forecast; times in seconds since the epoch, one that was not reached is nil.
---@class sched.forecast
---@field not_before? integer
---@field likely? integer
---@field not_after? integer
---@field confidence number how often starts are between the first and the last
---@field made integer when the forecast was made

---@class sched.job_gres
---@field name string
---@field type? string
---@field count integer
---@field per "node"|"job"|"task"|"socket"
---@field cpus? integer CPUs for each of them
---@field memory? integer MiB for each of them

---@class sched.shape
---@field min_nodes integer
---@field max_nodes? integer
---@field num_tasks? integer
---@field cpus_per_task integer
---@field ntasks_per_node? integer
---@field time_limit? integer nil: the job's
---@field refused integer 1: Slurm refused to start the job so a moment ago; 2 to 5: it asks for more nodes, CPUs, gres or time than the job (lua_shapes)
---@field gres? sched.job_gres[]

---@class sched.alloc
---@field node string
---@field cores integer
---@field memory integer
---@field gres { kind: string, count: integer, of?: string, devices: integer }[]

---@class sched.node
---@field name string
---@field index integer its place in the order of nodes, from 1
---@field cores integer that jobs may use
---@field core_spec? integer cores that are set aside for the system, beside those
---@field threads integer schedulable CPUs per core
---@field sockets integer
---@field memory? integer MiB that jobs may use
---@field tmp_disk? integer
---@field weight integer smaller is preferred
---@field features? string
---@field gres { kind: string, count: integer, no_consume: integer, share?: string }[]
---@field topology? string
---@field res_cores_per_gpu? integer cores for each GPU that only jobs with GPUs may have
---@field owner? integer
---@field boot_time? integer
---@field reason? string
---@field state string[] the states that are set; empty: fine
---@field down boolean
---@field drain boolean
---@field completing boolean
---@field maint boolean
---@field planned boolean
---@field powered_down boolean
---@field powering_down boolean
---@field powering_up boolean
---@field reboot_requested boolean reboots when its jobs have ended; takes none before
---@field reboot_issued boolean
---@field future boolean
---@field dynamic boolean
---@field power_time? integer when it was told to power down, to power up or to reboot
---@field resume_timeout number seconds within which it has to have booted
---@field suspend_timeout number
---@field suspend_time number idle seconds after which it is powered down
---@field boots_in integer seconds that it has to boot before a job runs there; 0: it is up
---@field usable boolean neither down nor drained, nor hanging
---@field idle boolean usable and all cores free
---@field free_cores integer now, with what the plan has booked so far
---@field free_memory integer
---@field free_gres table<string, integer> by name and by name:type

---@class sched.partition
---@field name string
---@field nodes string[]
---@field total_nodes integer
---@field usable_nodes integer
---@field flags string[]
---@field up boolean
---@field default boolean
---@field exclusive_user boolean
---@field exclusive_topo boolean
---@field block_levels boolean beside block_nodes: jobs that are larger than a block are placed by blocks of several blocks
---@field other_topology boolean its topology is not what node.topology says: a ring, a torus, another of topology.yaml, or blocks without block_nodes
---@field lln boolean
---@field force boolean
---@field hidden boolean
---@field root_only boolean
---@field by_socket boolean its SelectTypeParameters say whole sockets, whatever the cluster's say
---@field by_core boolean ... cores
---@field priority_tier integer
---@field max_time number
---@field default_time? integer
---@field min_nodes? integer
---@field max_nodes? integer
---@field max_cpus_per_node? integer
---@field max_cpus_per_socket? integer
---@field oversubscribe integer
---@field qos? string
---@field allow_accounts? string comma-separated; nil: all
---@field deny_accounts? string
---@field allow_qos? string comma-separated; nil: all
---@field deny_qos? string
---@field allow_users? string user ids of AllowGroups, comma-separated; -: none; nil: all
---@field over_time_limit? number OverTimeLimit, seconds; nil: the cluster's
---@field block_nodes? integer topology/block: nodes of a block, the first of BlockSizes; nil: another topology

---@class sched.license
---@field name string
---@field total integer
---@field used integer
---@field reserved integer

---@class sched.reservation
---@field name string
---@field start_time integer
---@field end_time integer
---@field nodes string[]
---@field flags string[]
---@field users? string
---@field accounts? string
---@field cores? integer
