---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: nodesets and bids of an auction (doc/bids.md).  Never run.

---@class sched.nodeset
---@field first integer node.index of its first node
---@field last integer
---@field cores integer free on all its nodes together
---@field gpus integer each of its nodes has at least so many free

---@class sched.bid a set of nodes that would satisfy a job now; read-only, books nothing
---@field job sched.job
---@field kind "A"|"B"|"C"|"slurm"
---@field preference number F of equation 12, in (0, 1]
---@field nodes string[] names, in Slurm's order
---@field layout table<string, integer> cores by node's name
---@field count integer nodes
---@field cores integer
---@field shape integer the alternative of the job that it satisfies; 0: as asked
---@field time integer seconds that it is for; math.huge without limit
---@field sets integer nodesets that its nodes come from; 0: a Slurm bid
---@field blocks integer runs of consecutive nodes
---@field spread number (last - first + 1) / count
---@field first integer node.index of its first node
---@field last integer
---@field elastic boolean each node gives at least what layout says, all together cores: start it last
---@field native boolean Slurm's select chooses in the end; the nodes are an upper bound

---@class sched.bid_options
---@field max? integer bids of a job, 1 to 500, its Slurm bid not counted; default 5
---@field jobs? integer jobs that bid: the first so many of the list that can
---@field total? integer bids of all jobs; where they do not suffice each job gets fewer
---@field kinds? string letters of the kinds wanted; default "ABC"
---@field slurm? boolean also where best fit would place it after the jobs before it in the list
---@field contiguous? boolean consecutive nodes only, for every job
---@field blocks? integer a bid may be in so many runs of consecutive nodes
---@field spread? number largest spread of a bid
---@field elastic? boolean a job that does not say how many nodes may take whole neighbouring nodesets
---@field topology? number what a bid across the root switch loses of its preference, 0 to 1

---@class sched.overlap a row: the amounts of the bids that win come to at most hi
---@field terms number[] bid's number in the list, amount, bid's number, amount, ...
---@field hi integer
---@field name string "job 17", "cores n3", ...

---@class sched.cluster
local cluster = {}

--- Maximal runs of nodes with a core and so many GPUs free each, now and for so long.
---@param which? { gpus?: integer, time?: integer }
---@return sched.nodeset[]
function cluster:nodesets(which) end

--- What a job, or each job of a list, bids for now.  Bids of a job stand together.
---@param jobs sched.job|sched.job[]
---@param options? sched.bid_options
---@return sched.bid[]
function cluster:bids(jobs, options) end

--- Which of these bids can win together: at most one of a job, and no more than is free of
--- anything on any node at any time.
---@param bids sched.bid[]
---@return sched.overlap[]
function cluster:overlaps(bids) end
