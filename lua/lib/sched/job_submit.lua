-- SPDX-License-Identifier: MIT
--
-- sched.job_submit - specs for a site's job_submit.lua and cli_filter.lua, without a slurmctld.
--
--   local job_submit = require "sched.job_submit"
--   local script = job_submit.load("/etc/slurm/job_submit.lua", { partitions = { gpu = { max_time = 1440 } } })
--   local r = script:submit { user = "ada", partition = "gpu", time_limit = 60 }
--   assert.is_true(r.accepted)
--   assert.equal("long", r.job.qos)
--
-- The script runs in the interpreter of the specs, in an environment of its own: each load begins anew, files and
-- commands are out of its reach but for the texts that the spec gives it.  It finds what Slurm's job_submit/lua of
-- 22.05 to 26.05 gives it: names, kinds of values and what is there when the user says nothing (doc/job-submit.md).
-- This file needs no engine, and any Lua from 5.1 on, as Slurm may be built with any.

local fields = require "sched.job_submit_fields"

local M = {}

local newest = fields.releases[#fields.releases]

-- -- the environment of a script -------------------------------------------------

local plain = { "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget",
	"rawlen", "rawset", "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall", "_VERSION" }

local function copy(t)
	local all = {}
	for key, value in pairs(t or {}) do
		all[key] = value
	end
	return all
end

-- A file that is read from a text: lines, read, close.
local function open_text(text)
	local at = 1
	local file = {}
	function file.read(_, format)
		format = tostring(format or "l"):gsub("^%*", "")
		if format:sub(1, 1) == "a" then
			local rest = text:sub(at)
			at = #text + 1
			return rest
		elseif at > #text then
			return nil
		end
		local line, next_at = text:match("([^\n]*)\n?()", at)
		at = next_at
		return format:sub(1, 1) == "n" and tonumber(line) or line
	end
	function file.lines(self)
		return function()
			return self:read("l")
		end
	end
	function file.close()
		return true
	end
	return file
end

local function new_io(files)
	local io = {}
	function io.open(path, mode)
		if files[path] and not tostring(mode or "r"):find("[wa+]") then
			return open_text(files[path])
		end
		return nil, ("%s: not among the spec's files"):format(tostring(path)), 2
	end
	function io.lines(path)
		local file, why = io.open(path)
		return (file or error(why, 2)):lines()
	end
	function io.popen(command)
		error(("io.popen(%q): a script under test runs no commands"):format(tostring(command)), 2)
	end
	return io
end

local function new_os(opt)
	local env = opt.env or {}
	return {
		time = function(t) return t and os.time(t) or opt.now or os.time() end,
		date = function(format, t) return os.date(format, t or opt.now) end,
		clock = os.clock, difftime = os.difftime,
		getenv = function(name) return env[name] end,
		execute = function() error("os.execute: a script under test runs no commands", 2) end,
	}
end

local function new_environment(self, opt)
	local env = { string = copy(string), table = copy(table), math = copy(math) }
	env.io, env.os = new_io(opt.files or {}), new_os(opt)
	for _, name in ipairs(plain) do
		env[name] = _G[name]
	end
	env._G = env
	env.print = function(...)
		local words = {}
		for i = 1, select("#", ...) do
			words[i] = tostring((select(i, ...)))
		end
		self:say("print", table.concat(words, "\t"))
	end
	env.require = function(name)
		return (opt.modules or {})[name] or error(("module '%s': expected in modules of the spec"):format(tostring(name)), 2)
	end
	env.slurm = fields.constants(opt.slurm)
	env.slurm.CLUSTER_NAME = opt.cluster or "cluster"
	return env
end

local function load_text(text, name, env)
	if setfenv then		-- luacheck: ignore
		local chunk, why = loadstring(text, name)	-- luacheck: ignore
		return chunk and setfenv(chunk, env), why	-- luacheck: ignore
	end
	return load(text, name, "t", env)
end

-- -- what a script finds ---------------------------------------------------------

-- A number as Slurm gives it to Lua: floats, as slurm.NO_VAL is one.
local function as_slurm(kind, value)
	if kind == "number" and type(value) == "number" then
		return value + 0.0
	end
	return value
end

-- The value of a job's field where it was not set.
local function unset(field, env)
	return field.default and as_slurm("number", env.slurm[field.default] or field.default)
end

-- A job as it is submitted: what the spec says, and what Slurm has where nothing is said.  Unknown names are refused:
-- in a spec they are mistakes.
local function new_job(self, given)
	local job = {}
	for name, field in pairs(fields.job) do
		if fields.is_there(field, self.slurm) then
			job[name] = unset(field, self.env)
		end
	end
	for name, value in pairs(given) do
		local field = fields.job[fields.alias[name] or name]
		if name ~= "user" and name ~= "environment" and not (field and fields.is_there(field, self.slurm)) then
			error(("unknown field '%s' of a job, of Slurm %s"):format(tostring(name), self.slurm), 3)
		end
		job[fields.alias[name] or name] = field and as_slurm(field.kind, value) or value
	end
	job.user = nil
	job.user_name = given.user_name or given.user or "user"
	job.user_id = given.user_id or self.users[job.user_name] or 1000
	job.environment = given.environment or {}
	return job
end

-- What Slurm makes of a value that the script sets: numbers of numeric texts, texts of numbers.
local function converted(self, name, field, value)
	if field.kind == "string" then
		if value == nil or value == "" then
			return nil	-- (an empty text frees it)
		end
		return tostring(value)
	end
	local number = tonumber(value)
	if not number then
		self:say("error", ("field %s: expected a number, got %s"):format(name, type(value)))
		return 0.0
	end
	return number + 0.0
end

-- The job as the script sees it: Slurm's functions are behind each of its fields.
local function new_view(self, job)
	local view = {}
	return setmetatable(view, {
		__index = function(_, name)
			local real = fields.alias[name] or name
			local field = fields.job[real]
			if not (field and fields.is_there(field, self.slurm)) then
				self.unknown[#self.unknown + 1] = name
				self:say("error", ("unrecognized field: %s"):format(tostring(name)))
				return nil
			end
			return job[real]
		end,
		__newindex = function(_, name, value)
			local real = fields.alias[name] or name
			local field = fields.job[real]
			if not (field and field.settable and fields.is_there(field, self.slurm)) then
				self.unknown[#self.unknown + 1] = name
				self:say("error", ("unrecognized field: %s"):format(tostring(name)))
				return
			end
			job[real] = converted(self, name, field, value)
		end,
	})
end

local function new_partitions(given)
	local all = {}
	for name, p in pairs(given or {}) do
		local part = copy(fields.partition)
		for key, value in pairs(p) do
			if fields.partition[key] == nil and not fields.partition_text[key] then
				error(("unknown field '%s' of partition %s"):format(tostring(key), name), 4)
			end
			part[key] = as_slurm("number", value)
		end
		part.name = name
		all[name] = part
	end
	return all
end

-- -- a script ------------------------------------------------------------------

local Script = {}
Script.__index = Script

function Script:say(level, text)
	self.log[#self.log + 1] = { level = level, text = text }
end

local function listen(self)
	local slurm = self.env.slurm
	for _, level in ipairs { "error", "info", "verbose", "debug", "debug2", "debug3", "debug4" } do
		slurm["log_" .. level] = function(format, ...)
			self:say(level, format and string.format(tostring(format), ...) or "")
		end
	end
	-- what the user reads; a second one stands below the first
	slurm.log_user = function(format, ...)
		local text = string.format(tostring(format), ...)
		self.message = self.message and self.message .. "\n" .. text or text
	end
	slurm.user_msg = slurm.log_user
end

--- Load a script: a path, or { text = }.  opt.slurm = "22.05" to "26.05" (default: the newest);
--- opt.users = { ada = 1000 }; opt.partitions = { NAME = { max_time = minutes, ... } }; opt.default_partition;
--- opt.reservations, opt.jobs; opt.env, opt.now,
--- opt.files = { PATH = text }, opt.modules = { NAME = table }, opt.cluster.
function M.load(path, opt)
	opt = opt or {}
	local text = type(path) == "table" and path.text
	if not text then
		local file, why = io.open(path, "rb")
		if not file then
			error(why, 2)
		end
		text = file:read("*a")
		file:close()
	end
	local self = setmetatable({ slurm = opt.slurm or newest, users = opt.users or {}, log = {}, unknown = {} }, Script)
	if not fields.release_index(self.slurm) then
		error(("slurm = '%s': expected one of %s"):format(tostring(self.slurm), table.concat(fields.releases, ", ")), 2)
	end
	self.env = new_environment(self, opt)
	self.partitions = new_partitions(opt.partitions)
	if opt.default_partition and self.partitions[opt.default_partition] then
		self.partitions[opt.default_partition].flag_default = 1.0
	end
	self.env.slurm.reservations = opt.reservations or {}
	self.env.slurm.jobs = opt.jobs or {}
	listen(self)
	local name = "@" .. (type(path) == "table" and (path.name or "job_submit.lua") or path)
	local chunk, why = load_text(text:gsub("^#[^\n]*", ""), name, self.env)
	if not chunk then
		error(why, 2)
	end
	chunk()
	return self
end

-- Call a function of the script as slurmctld does.
local function call(self, name, job, ...)
	local before, f = copy(job), self.env[name]
	self.log, self.unknown, self.message = {}, {}, nil
	if type(f) ~= "function" then
		error(("the script has no function %s, which slurmctld wants"):format(name), 3)
	end
	local ok, rc = pcall(f, ...)
	local result = { job = job, log = self.log, unknown = self.unknown, message = self.message }
	if not ok then
		-- up to 25.11 slurmctld accepts the job that the script fails for; from 26.05 on it refuses it
		result.failure = tostring(rc)
		rc = fields.release_index(self.slurm) < fields.release_index(fields.refuses_on_failure) and 0 or -1
		self:say("error", result.failure)
	elseif not tonumber(rc) then
		self:say("info", "non-numeric return code")
		rc = 0
	end
	result.rc = tonumber(rc)
	result.accepted = result.rc == 0
	result.error = not result.accepted and (fields.error_names[result.rc] or tostring(result.rc)) or nil
	result.changed = {}
	for key in pairs(fields.job) do
		if before[key] ~= job[key] then
			result.changed[key] = job[key]
		end
	end
	return result
end

--- Submit a job: its fields by Slurm's names, and user = "ada".  Returns a table: accepted, rc, error (ESLURM_...),
--- message (what the user reads), job (as it became), changed, log, unknown (fields that Slurm does not know),
--- failure (the script raised).
function Script:submit(given, submit_uid)
	local job = new_job(self, given)
	return call(self, "slurm_job_submit", job, new_view(self, job), self.partitions, (submit_uid or job.user_id) + 0.0)
end

--- Change a job: what is asked for, the job as it is, who asks.
function Script:modify(given, record, modify_uid)
	local job = new_job(self, given)
	return call(self, "slurm_job_modify", job, new_view(self, job), record or {}, self.partitions,
		(modify_uid or job.user_id) + 0.0)
end

-- What sbatch has of options: texts by the names of its long options; unset ones are nil.
local function new_options(given)
	local options = copy(given)
	options.type = options.type or "sbatch"
	options.argv = options.argv or {}
	return options
end

-- cli_filter.lua: options of sbatch, salloc and srun by their long names.
local function call_cli(self, name, given, ...)
	local options = new_options(given)
	local before = copy(options)
	local result = call(self, name, options, options, ...)
	result.options, result.job, result.changed = options, nil, {}
	for key, value in pairs(options) do
		if before[key] ~= value then
			result.changed[key] = value
		end
	end
	return result
end

function Script:cli_setup_defaults(given, early)
	return call_cli(self, "slurm_cli_setup_defaults", given, early or false)
end

function Script:cli_pre_submit(given, pack_offset)
	return call_cli(self, "slurm_cli_pre_submit", given, (pack_offset or 0) + 0.0)
end

function Script:cli_post_submit(given_offset, job_id, step_id)
	local result = call(self, "slurm_cli_post_submit", {}, (given_offset or 0) + 0.0, (job_id or 1) + 0.0,
		(step_id or 0) + 0.0)
	result.job = nil
	return result
end

M.constants = fields.constants

return M
