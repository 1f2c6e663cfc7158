---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: the module "sched.mip", integer programs.  Never run; it is made in C
-- (engine/bind/mip.c) and described in doc/mip.md.

---@class sched.mip
local mip = {}

---@class sched.mip.sense
---@field sense "max"|"min"

--- A new model: maximize or minimize.
---@param what sched.mip.sense
---@return sched.mip.model
function mip.model(what) end

--- The solvers that can be used, the default first; empty where there is none.
---@return string[]
function mip.backends() end

---@class sched.mip.model
local model = {}

---@class sched.mip.column
---@field lb? number	0 if left out
---@field ub? number	math.huge if left out
---@field obj? number	coefficient in the objective; 0 if left out
---@field integer? boolean
---@field name? string	for messages

--- A new column (variable); returns its number, from 1.
---@param column? sched.mip.column
---@return integer
function model:var(column) end

---@class sched.mip.row
---@field terms number[]	column, coefficient, column, coefficient, ...; each column once
---@field lo? number
---@field hi? number
---@field name? string	for messages

--- A new row (constraint), lo <= terms <= hi; returns its number, from 1.
---@param row sched.mip.row
---@return integer
function model:add(row) end

--- A solution to begin with: a value for each column.  It is verified when solving.
---@param values number[]
function model:start(values) end

--- How many columns, rows and terms there are.
---@return integer columns, integer rows, integer terms
function model:size() end

---@class sched.mip.limits
---@field time_limit? number	seconds; 2 if left out: of work, and within a budget of the clock, too
---@field gap? number	how far from the bound is good enough, relative to the objective; 0 if left out
---@field max_nodes? integer	of branch and bound
---@field memory_mb? integer	512 if left out
---@field backend? "coinmp"|"cbc"|"none"	the first there is if left out
---@field relax? boolean	solve the relaxation: forget what is integer

---@class sched.mip.result
---@field status "optimal"|"feasible"|"infeasible"|"no_solution"|"error"
---@field objective? number	of the values
---@field bound? number	no solution is better than this
---@field gap? number	distance of the two, relative to the objective
---@field values? number[]	by column
---@field nodes integer
---@field work number	done, in seconds as time_limit counts them: the same on every machine
---@field seconds number	CPU time of the solver, another one each time: decide nothing by it
---@field source string	whose values these are: a solver, "start", "bounds"
---@field message string	what there is to be said beside

---@param limits? sched.mip.limits
---@return sched.mip.result
function model:solve(limits) end

return mip
