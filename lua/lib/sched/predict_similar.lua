-- SPDX-License-Identifier: MIT
--
-- sched.predict_similar - a job runs like the last two of its user's that had about its size (half to twice
-- its CPUs) and asked for the same walltime; like those of about its size where none did.  Users change the walltime
-- when they change what they run.  Of a size that its user never ran nothing is known; what is typical of it then
-- follows from which shares of their walltimes others' last runs took, which has a little weight beside the user's own
-- runs, too.
--
-- All of that is stretched by how much longer than expected the user's work has run: the mean of runtime /
-- expected (1 at least) over his runs, each with the weight of its core-seconds, back to where these are sixteen
-- times what the job itself may use.  So runs that use nothing say nothing, however many there are; and of somebody
-- whose long jobs were always expected to be short, long ones are expected.  The engine does it
-- (cluster.history:like()).

local M = { name = "similar", doc = "the user's last two runs of that size and walltime" }

local function like(job, cluster)
	return cluster.history:like { user = job.user or "", cpus = job.cpus, time_limit = job.time_limit }
end

function M.sample(job, cluster)
	local runtimes, stretch = like(job, cluster)
	return runtimes[1] and runtimes, stretch
end

function M.typical(job, cluster)
	return (select(3, like(job, cluster)))
end

return M
