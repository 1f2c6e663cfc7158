-- SPDX-License-Identifier: MIT
std = "lua54"
max_line_length = 120
exclude_files = { "examples/demo/broken.lua", "build", ".work" }

-- What policies find (doc/policy-api.md); the C side for the project's own modules.
files["lua"] = { read_globals = { "slurm" } }
files["lua/lib/sched"] = { read_globals = { "slurm", "engine" } }
files["lua/library"] = { globals = { "slurm" }, ignore = { "2" }, max_line_length = false }
files["examples/policies"] = { read_globals = { "slurm" } }
files["spec"] = { std = "+busted", max_line_length = 140 }
-- What slurmctld finds there, and the specs of these files.
files["examples/job_submit"] = { std = "+busted", globals = { "slurm_job_submit", "slurm_job_modify" }, read_globals = { "slurm" },
	unused_args = false }
files["examples/cookbook"] = { std = "+busted" }
files["examples/evolved"] = { std = "+busted", unused_args = false }
