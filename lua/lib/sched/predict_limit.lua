-- SPDX-License-Identifier: MIT
-- sched.predict_limit - a job runs for its walltime: what is known where nothing is predicted.
return { name = "limit", doc = "the walltime", sample = function() return nil end }
