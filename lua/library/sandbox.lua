---@meta
-- SPDX-License-Identifier: MIT
--
-- Editor stubs: the global "slurm".  Never run.
--
-- Of Lua's libraries there are: base without load, loadfile, dofile and collectgarbage;
-- string without dump, pack, packsize and unpack; table; math without random; utf8.

---@class slurm
slurm = {}

--- A line for slurmctld's log; with further arguments the first is a format.
---@param format any
---@param ... any
function slurm.log_error(format, ...) end

---@param format any
---@param ... any
function slurm.log_info(format, ...) end

---@param format any
---@param ... any
function slurm.log_verbose(format, ...) end

---@param format any
---@param ... any
function slurm.log_debug(format, ...) end

---@param format any
---@param ... any
function slurm.log_debug2(format, ...) end

---@param format any
---@param ... any
function slurm.log_debug3(format, ...) end
