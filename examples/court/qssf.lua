-- SPDX-License-Identifier: MIT
-- QSSF (Hu, Sun, Yan, Wen, Zhang 2021): smallest service first, cores (or GPUs) times the runtime that is predicted.
local predict = require "sched.predict"
local nothing = { remember = function() end }
return { api = 1, name = "court_qssf", doc = "quasi shortest service first", rank = function(job, cluster)
	local r = predict.open("similar", cluster, nothing):mean(job)
	return -math.max(1, job.gpus or 0, job.cpus) * r, -job.submit_time
end }
