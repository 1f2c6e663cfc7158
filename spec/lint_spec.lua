-- SPDX-License-Identifier: MIT
--
-- What schedlua check finds in a policy's text (sched.lint), and what it does not.
local lint = require "sched.lint"

local function read(path)
	local file = assert(io.open(path))
	local text = file:read("a")
	file:close()
	return text
end

-- The kinds of a job's fields, by the stubs for editors.
local kinds = {}
for name, mark, kind in read("lua/library/cluster.lua"):match("%-%-%-@class sched%.job\n(.-)%-%-%-@class")
	:gmatch("%-%-%-@field ([%w_]+)(%??) ([^\n]+)") do
	kinds[name] = (kind:match("^[%w_.{}: ,]*%[%]") and "list" or kind:match("^integer") and "number" or
		kind:match("^number") and "number" or kind:match("^string") and "text" or kind:match('^"') and "text" or
		kind:match("^boolean") and "boolean" or "other") .. mark
end

local function found(text)
	local list = {}
	lint.check(text, kinds, function(line, message) list[#list + 1] = line .. ": " .. message end)
	return table.concat(list, "\n")
end

-- In a rank(), at line 3.
local function rank(statement)
	return found("local M = { api = 1 }\nfunction M.rank(job, cluster)\n" .. statement .. "\nend\nreturn M\n")
end

describe("check", function()
	it("names comparisons that have one answer, and what to write", function()
		assert.equal('3: job.account == "" is always false: a text that is not set is nil; write job.account == nil',
			rank 'if job.account == "" then return 0 end')
		assert.equal('3: job.comment ~= "" is always true: a text that is not set is nil; write job.comment ~= nil',
			rank 'if job.comment ~= "" then return 1 end')
		assert.equal('3: job.partitions == "debug" is always false: job.partitions is a list; write job.partition == "debug"',
			rank 'return job.partitions == "debug" and 1 or 0')
		assert.equal("3: job.submit_time ~= nil is always true: job.submit_time is never nil", rank "return job.submit_time ~= nil and 1 or 0")
		assert.equal("3: job.nodes ~= nil is always true: job.nodes is never nil; write #job.nodes > 0",
			rank "return job.nodes ~= nil and 1 or 0")
		assert.matches("3: job.req_nodes == 0 is always false: job.req_nodes is a list", rank "return job.req_nodes == 0 and 1 or 0")
	end)

	it("names numbers that are compared with texts", function()
		assert.equal('3: job.time_limit < "30m" compares a number with a text; write job.time_limit < sched.duration "30m", or a ' ..
			"number of seconds", rank 'return job.time_limit < "30m" and 1 or 0')
	end)

	it("names fields that are not there, in lines that no trial comes to, and under whatever name the job has", function()
		assert.equal("3: a job has no field 'acount'; did you mean 'account'?", rank "if false then return job.acount end")
		assert.equal("1: a job has no field 'walltime'", found "local M = {} function M.admit(j) return j.walltime end return M")
		assert.equal("3: a job has no field 'walltime'", found("local M = {}\nfunction M.decide(cluster, plan)\n" ..
			"for j in cluster:queue() do print(j.walltime) end end return M"))
	end)

	it("names %d for a quotient, and ipairs over a queue", function()
		assert.equal("3: %d takes a whole number, and a / gives none; write // or %.1f", rank 'slurm.log_info("%s %d", job.id, job.cpus / 2)')
		assert.equal("3: %3d takes a whole number, and a / gives none; write // or %.1f", rank 'return ("%3d"):format(job.cpus / 2)')
		assert.equal("3: ipairs(cluster:queue()): it is no list; write for job in cluster:queue() do",
			rank "for _, j in ipairs(cluster:queue()) do return 1 end")
	end)

	it("names return 0 from admit and allow, and counts that are gone in the next cycle", function()
		assert.equal('1: allow: return 0 is true in Lua; write return false, "why"', found "local M = { allow = function(job) return 0 end }")
		assert.matches("2: 'count' is as new as the cycle", found("local count = 0\nlocal M = { allow = function(job) count = count + 1 " ..
			"return count < 5, 'enough' end }"))
	end)

	it("says nothing of what may be meant", function()
		for _, statement in ipairs { "if job.account == nil then return 0 end", 'return job.partition == "debug" and 1 or 0',
			"return job.req_nodes ~= nil and 1 or 0", "return (job.num_tasks or 1) > 5 and 1 or 0", "return job.native and 1 or 0",
			'slurm.log_info("%d", job.cpus // 2)', 'slurm.log_info("%d", math.floor(job.cpus / 2))', 'slurm.log_info("%.1f", job.cpus / 2)',
			"local row = { job = job } return row.job.id", "return 0", 'print("job.walltime") --[[ job.walltime ]] return 1',
			'return job.state ~= "RUNNING" and 1 or 0' } do
			assert.equal("", rank(statement))
		end
	end)

	it("says nothing of any bundled policy, library or example", function()
		local files = 0
		for _, directory in ipairs { "lua/policies", "lua/lib/sched", "examples/policies", "examples/cookbook", "examples/demo",
			"examples/gpu-lab", "examples/lomonosov", "examples/university" } do
			local list = io.popen("ls " .. directory .. "/*.lua")
			for path in list:lines() do
				if not path:find("broken.lua", 1, true) then
					assert.equal("", found(read(path)), path)
					files = files + 1
				end
			end
			list:close()
		end
		assert(files > 60)
	end)

	it("reads any text to its end", function()
		for _, text in ipairs { "", "(", "job.", "job", "'", "\"\\", "[[", "--[[", "function M.admit(", "for j in c:queue", "return", "local a =",
			"M.rank = function(job", "x = function(" } do
			assert.has_no_error(function() found(text) end)
		end
	end)
end)
