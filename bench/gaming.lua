-- SPDX-License-Identifier: MIT
--
-- gaming.lua - bench/gaming: a log with one user who cheats, beside the same log with him honest.
--
-- Each strategy makes of a real job the jobs that the cheater submits instead.  A real job's wait is
-- the time from its submission until all of its work is done, less the time that this work runs.  A job
-- that is submitted when another one has ended (`after`) is submitted then: the simulation is repeated
-- with the times that came of the last one, PASSES times.

local PASSES <const> = 3
local EARLIER <const> = 600	-- seconds before a real job that its decoys are submitted

-- -- strategies: f(job, n) gives a list of jobs, of which those with `real` do the work ---------------

local function like(job, changes)
	local copy = {}
	for key, value in pairs(job) do
		copy[key] = value
	end
	for key, value in pairs(changes) do
		copy[key] = value
	end
	return copy
end

local function real(job, changes)
	local copy = like(job, changes or {})
	copy.real = true
	return copy
end

local function decoys(job, count, changes)
	local list = {}
	for i = 1, count do
		list[i] = like(job, changes)
		list[i].submit = math.max(0, job.submit - EARLIER)
	end
	return list
end

local function with(list, job)
	list[#list + 1] = job
	return list
end

-- Two pieces, the second submitted when the first has ended: what was computed is kept.
local function in_turn(job, share, limit)
	local first = math.max(1, math.floor(job.runtime * share))
	local a = real(job, { runtime = first, limit = limit(first) })
	local b = real(job, { runtime = math.max(1, job.runtime - first), limit = job.limit, after = a })
	return { a, b }
end

local strategies = {
	{ "decoys", "two one-second jobs of one core and the same walltime before each real one",
		function(job) return with(decoys(job, 2, { runtime = 1, cpus = 1 }), real(job)) end },
	{ "flood", "thirty of these",
		function(job) return with(decoys(job, 30, { runtime = 1, cpus = 1 }), real(job)) end },
	{ "twins", "two jobs of the same size and walltime before each real one, which end after a second",
		function(job) return with(decoys(job, 2, { runtime = 1 }), real(job)) end },
	{ "abort", "each job is started, ended after a second, and submitted again",
		function(job)
			local first = like(job, { runtime = 1 })
			return { first, real(job, { after = first }) }
		end },
	{ "sparing", "twins before every fifth real job",
		function(job, n) return n % 5 == 0 and with(decoys(job, 2, { runtime = 1 }), real(job)) or { real(job) } end },
	{ "fresh", "a walltime that nobody had before for each real job, and decoys of it",
		function(job, n)
			local limit = job.limit + 60 * n
			return with(decoys(job, 2, { runtime = 1, cpus = 1, limit = limit }), real(job, { limit = limit }))
		end },
	{ "padding", "three times the walltime, so that little is like it",
		function(job) return { real(job, { limit = 3 * job.limit }) } end },
	{ "killed", "a walltime that ends each job half way, and the rest again",
		function(job)
			return in_turn(job, 0.5, function(first) return first end)
		end },
	{ "split", "each job as two of half its cores",
		function(job)
			if job.cpus < 2 then
				return { real(job) }
			end
			local half = job.cpus // 2
			return { real(job, { cpus = half }), real(job, { cpus = job.cpus - half }) }
		end },
}

-- -- logs ------------------------------------------------------------------------------------

local function fail(...)
	io.stderr:write("bench/gaming: ", string.format(...), "\n")
	os.exit(2)
end

local function run(command, ...)
	local text = string.format(command, ...)
	local pipe = assert(io.popen(text))
	local out = pipe:read("a")
	if not pipe:close() then
		fail("failed: %s", text)
	end
	return out
end

-- Rows that have a processor, a runtime and a submission; all that ran in the log.
local function read_log(path, most)
	local jobs = {}
	for line in run("gzip -dcf '%s'", path):gmatch("[^\n]+") do
		local f = {}
		for word in line:gmatch("%S+") do
			f[#f + 1] = math.floor(tonumber(word) or -1)
		end
		if not line:match("^%s*;") and #f >= 18 then
			local runtime, cpus, limit = f[4], f[5] > 0 and f[5] or f[8], f[9]
			if runtime > 0 and cpus > 0 and #jobs < most then
				limit = limit > 0 and limit or runtime
				jobs[#jobs + 1] = { submit = f[2], runtime = math.min(runtime, limit), cpus = cpus, limit = limit,
					user = f[12] }
			end
		end
	end
	table.sort(jobs, function(a, b) return a.submit < b.submit end)
	return jobs
end

-- Simulate; each job gets its `start` and `end_`.
local function simulate(opt, jobs)
	local order, name = {}, os.tmpname()
	for i, job in ipairs(jobs) do
		order[i] = job
		job.at = i
	end
	table.sort(order, function(a, b)
		if a.submit ~= b.submit then
			return a.submit < b.submit
		end
		return a.at < b.at
	end)
	local swf = assert(io.open(name, "w"))
	for i, job in ipairs(order) do
		swf:write(("%d %d -1 %d %d -1 -1 %d %d -1 1 %d 1 -1 1 -1 -1 -1\n"):format(i, job.submit, job.runtime,
			job.cpus, job.cpus, job.limit, job.user))
	end
	swf:close()
	run("'%s' sim --policy='%s' --procs=%d --jobs='%s.csv' --json --quiet '%s'", os.getenv("SCHEDLUA"), opt.policy,
		opt.procs, name, name)
	local first = order[1].submit
	for line in io.lines(name .. ".csv") do
		local f = {}
		for word in (line .. ","):gmatch("([^,]*),") do
			f[#f + 1] = word
		end
		local job = order[tonumber(f[1]) or 0]
		if job then
			job.start, job.end_ = tonumber(f[6]) + first, tonumber(f[7]) + first
		end
	end
	os.remove(name)
	os.remove(name .. ".csv")
end

-- -- honest and not ------------------------------------------------------------------------------

-- What the user's real jobs waited, and what all others did, in the mean.
local function waits(user, honest, pieces)
	local mine, n, theirs, others = 0, 0, 0, 0
	for _, job in ipairs(honest) do
		if job.user == user then
			local done, ran = job.end_, job.runtime
			if pieces then
				done, ran = 0, 0
				for _, piece in ipairs(pieces[job]) do
					if piece.real then
						done = math.max(done, piece.end_)
						ran = piece.after and ran + piece.runtime or math.max(ran, piece.runtime)
					end
				end
			end
			mine, n = mine + math.max(0, done - job.submit - ran), n + 1
		else
			theirs, others = theirs + job.start - job.submit, others + 1
		end
	end
	return mine / n, theirs / others
end

local function cheat(opt, honest, user, strategy)
	local jobs, pieces, n = {}, {}, 0
	for _, job in ipairs(honest) do
		if job.user == user then
			n = n + 1
			pieces[job] = strategy(job, n)
			for _, piece in ipairs(pieces[job]) do
				jobs[#jobs + 1] = piece
			end
		else
			jobs[#jobs + 1] = like(job, {})
			pieces[job] = { jobs[#jobs] }
		end
	end
	for _ = 1, PASSES do
		local again = false
		for _, job in ipairs(jobs) do
			if job.after then
				job.submit = job.after.end_ or job.submit
				again = true
			end
		end
		simulate(opt, jobs)
		if not again then
			break
		end
	end
	return jobs, pieces
end

-- Means over what the others did are of the same jobs, in the log with the cheater.
local function compare(opt, honest, user, strategy)
	local before, others_before = waits(user, honest)
	local _, pieces = cheat(opt, honest, user, strategy)
	local after = waits(user, honest, pieces)
	local sum, n = 0, 0
	for job, list in pairs(pieces) do
		if job.user ~= user then
			sum, n = sum + list[1].start - list[1].submit, n + 1
		end
	end
	return before, after, others_before, sum / n
end

-- The users with the most waiting in all, of 50 jobs or more.
local function worst_users(honest, count)
	local of, list = {}, {}
	for _, job in ipairs(honest) do
		local u = of[job.user]
		if not u then
			u = { user = job.user, jobs = 0, wait = 0 }
			of[job.user] = u
			list[#list + 1] = u
		end
		u.jobs, u.wait = u.jobs + 1, u.wait + job.start - job.submit
	end
	table.sort(list, function(a, b) return a.wait > b.wait or a.wait == b.wait and a.user < b.user end)
	local chosen = {}
	for _, u in ipairs(list) do
		if u.jobs >= 50 and #chosen < count then
			chosen[#chosen + 1] = u.user
		end
	end
	return chosen
end

local function read_options(words)
	local home = os.getenv("SCHEDLUA_TRACES")
	local opt = { log = home and home .. "/KTH-SP2-1996-2-raw.swf.gz" or "", procs = 100, policy = "predictive",
		users = 6, jobs = math.maxinteger, verbose = false }
	local i = 1
	while i <= #words do
		local name = words[i]:match("^%-%-(%a+)$")
		if name == "verbose" then
			opt.verbose = true
			i = i + 1
		elseif not name or not words[i + 1] or not (opt[name] or name == "only") then
			fail("%s: expected --log, --procs, --policy, --users, --jobs, --only, each with a value, or --verbose", words[i])
		else
			opt[name] = math.type(opt[name]) == "integer" and math.tointeger(tonumber(words[i + 1])) or words[i + 1]
			i = i + 2
		end
	end
	if opt.log == "" then
		fail("nothing says which log: expected --log FILE, or SCHEDLUA_TRACES=DIR")
	end
	return opt
end

local function main(opt)
	local honest = read_log(opt.log, opt.jobs)
	simulate(opt, honest)
	local users = worst_users(honest, opt.users)
	print("| strategy | | honest, h | cheating, h | gain | best of a user | others, honest, h | others, h |")
	print("|---|---|---|---|---|---|---|---|")
	for _, s in ipairs(strategies) do
		if not opt.only or ("," .. opt.only .. ","):find("," .. s[1] .. ",", 1, true) then
			local b, a, ob, oa, best = 0, 0, 0, 0, -math.huge
			for _, user in ipairs(users) do
				local before, after, others_before, others_after = compare(opt, honest, user, s[3])
				if opt.verbose then
					io.stderr:write(("%s user %d: %.2f h, %.2f h; others %.3f, %.3f\n"):format(s[1], user, before / 3600,
						after / 3600, others_before / 3600, others_after / 3600))
				end
				best = math.max(best, 1 - after / before)
				b, a, ob, oa = b + before, a + after, ob + others_before, oa + others_after
			end
			local n = 3600 * #users
			print(("| %s | %s | %.2f | %.2f | %+.1f %% | %+.1f %% | %.3f | %.3f |"):format(s[1], s[2], b / n, a / n,
				100 * (1 - a / b), 100 * best, ob / n, oa / n))
			io.stdout:flush()
		end
	end
end

main(read_options(arg))
