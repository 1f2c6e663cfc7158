-- SPDX-License-Identifier: MIT
-- EDF for bench/training: the earliest deadline first, met or not; best effort behind all deadlines, in its order.
local function by(job)
	local minutes = tonumber((job.comment or ""):match "deadline=(%d+)")
	return minutes and job.submit_time + 60 * minutes or math.huge
end

return { api = 1, name = "training_edf", doc = "the earliest deadline first", rank = function(job) return -by(job) end }
