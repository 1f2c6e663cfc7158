-- SPDX-License-Identifier: MIT
--
-- sched.job_submit_fields - what Slurm's job_submit/lua gives to a script: the fields of a job and of a
-- partition, their kinds, what stands there when the user says nothing,
-- and constants.  Read off Slurm 22.05.8, 24.11.7 and 26.05.3.

local M = {}

M.releases = { "22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05" }

--- From this release on a script that raises has the job refused; before, slurmctld logs it and accepts the job.
M.refuses_on_failure = "26.05"

--- Fields of a job.  default: a number, or the constant's name; since, last: the first and the last release
--- that know it.
M.job = {
	account = { kind = "string", settable = true },
	acctg_freq = { kind = "string", settable = true },
	admin_comment = { kind = "string", settable = true },
	alloc_node = { kind = "string" },
	array_inx = { kind = "string", settable = true },
	assoc_comment = { kind = "string", since = "24.11" },
	assoc_qos = { kind = "string", since = "24.11" },
	batch_features = { kind = "string", settable = true },
	begin_time = { kind = "number", settable = true, default = 0 },
	bitflags = { kind = "number", settable = true, default = 0 },
	boards_per_node = { kind = "number", default = 0 },
	burst_buffer = { kind = "string", settable = true },
	clusters = { kind = "string", settable = true },
	comment = { kind = "string", settable = true },
	container = { kind = "string", settable = true },
	contiguous = { kind = "number", settable = true, default = "NO_VAL16" },
	core_spec = { kind = "number", settable = true, default = "NO_VAL16", since = "26.05" },
	cores_per_socket = { kind = "number", settable = true, default = "NO_VAL16" },
	cpu_freq_gov = { kind = "number", settable = true, default = "NO_VAL" },
	cpu_freq_max = { kind = "number", settable = true, default = "NO_VAL" },
	cpu_freq_min = { kind = "number", settable = true, default = "NO_VAL" },
	cpus_per_task = { kind = "number", settable = true, default = "NO_VAL16" },
	cpus_per_tres = { kind = "string", settable = true },
	cron_job = { kind = "boolean" },
	default_account = { kind = "string" },
	default_qos = { kind = "string" },
	delay_boot = { kind = "number", settable = true, default = "NO_VAL" },
	dependency = { kind = "string", settable = true },
	end_time = { kind = "number", settable = true, default = 0 },
	exc_nodes = { kind = "string", settable = true },
	extra = { kind = "string", settable = true },
	features = { kind = "string", settable = true },
	group_id = { kind = "number", default = 0 },
	het_job_offset = { kind = "number", default = 0 },
	immediate = { kind = "number", settable = true, default = 0 },
	licenses = { kind = "string", settable = true },
	mail_type = { kind = "number", settable = true, default = "NO_VAL16" },
	mail_user = { kind = "string", settable = true },
	max_cpus = { kind = "number", settable = true, default = "NO_VAL" },
	max_nodes = { kind = "number", settable = true, default = "NO_VAL" },
	mcs_label = { kind = "string", settable = true, since = "24.11" },
	mem_per_tres = { kind = "string", settable = true },
	min_cpus = { kind = "number", settable = true, default = "NO_VAL" },
	min_mem_per_cpu = { kind = "number", settable = true },
	min_mem_per_node = { kind = "number", settable = true },
	min_nodes = { kind = "number", settable = true, default = "NO_VAL" },
	name = { kind = "string", settable = true },
	network = { kind = "string" },
	nice = { kind = "number", settable = true, default = "NO_VAL" },
	ntasks_per_board = { kind = "number", default = 0 },
	ntasks_per_core = { kind = "number", default = "NO_VAL16" },
	ntasks_per_node = { kind = "number", settable = true, default = "NO_VAL16" },
	ntasks_per_socket = { kind = "number", settable = true, default = "NO_VAL16" },
	ntasks_per_tres = { kind = "number", settable = true, default = "NO_VAL16" },
	num_tasks = { kind = "number", settable = true, default = "NO_VAL" },
	oversubscribe = { kind = "number", settable = true, default = "NO_VAL16" },
	partition = { kind = "string", settable = true },
	pn_min_cpus = { kind = "number", settable = true, default = "NO_VAL16" },
	pn_min_memory = { kind = "number", settable = true, default = "NO_VAL64" },
	pn_min_tmp_disk = { kind = "number", settable = true, default = "NO_VAL" },
	power_flags = { kind = "number", settable = true, default = 0, last = "24.05" },
	prefer = { kind = "string", settable = true },
	priority = { kind = "number", settable = true, default = "NO_VAL" },
	qos = { kind = "string", settable = true },
	reboot = { kind = "number", settable = true, default = "NO_VAL16" },
	req_context = { kind = "string" },
	req_nodes = { kind = "string", settable = true },
	req_switch = { kind = "number", settable = true, default = "NO_VAL" },
	requeue = { kind = "number", settable = true, default = "NO_VAL16" },
	reservation = { kind = "string", settable = true },
	script = { kind = "string", settable = true },
	segment_size = { kind = "number", settable = true, default = 0, since = "26.05" },
	selinux_context = { kind = "string", settable = true },
	site_factor = { kind = "number", settable = true, default = "NO_VAL" },
	sockets_per_board = { kind = "number", default = 0 },
	sockets_per_node = { kind = "number", settable = true, default = "NO_VAL16" },
	std_err = { kind = "string", settable = true },
	std_in = { kind = "string", settable = true },
	std_out = { kind = "string", settable = true },
	thread_spec = { kind = "number", settable = true, default = "NO_VAL16", since = "26.05" },
	threads_per_core = { kind = "number", settable = true, default = "NO_VAL16" },
	time_limit = { kind = "number", settable = true, default = "NO_VAL" },
	time_min = { kind = "number", settable = true, default = "NO_VAL" },
	tres_bind = { kind = "string", settable = true },
	tres_freq = { kind = "string", settable = true },
	tres_per_job = { kind = "string", settable = true },
	tres_per_node = { kind = "string", settable = true },
	tres_per_socket = { kind = "string", settable = true },
	tres_per_task = { kind = "string", settable = true },
	user_id = { kind = "number", default = 0 },
	user_name = { kind = "string" },
	wait4switch = { kind = "number", settable = true, default = "NO_VAL" },
	wckey = { kind = "string", settable = true },
	work_dir = { kind = "string", settable = true },
	environment = { kind = "table" },
	argc = { kind = "number", default = 0 },
	argv = { kind = "table" },
	spank_job_env = { kind = "table" },
	spank_job_env_size = { kind = "number", default = 0 },
}

--- Other names for the same field.
M.alias = { shared = "oversubscribe", gres = "tres_per_node", pack_job_offset = "het_job_offset",
	ntasks_per_gpu = "ntasks_per_tres" }

--- A partition, with what Slurm has by default.  Times are minutes.
M.partition = {
	default_time = 4294967294.0, def_mem_per_cpu = 0.0, def_mem_per_node = 0.0, flag_default = 0.0,
	flags = 0.0, max_cpus_per_node = 4294967295.0, max_mem_per_cpu = 0.0, max_mem_per_node = 0.0,
		max_nodes = 4294967295.0,
	max_nodes_orig = 4294967295.0, max_oversubscribe = 1.0, max_share = 1.0, max_time = 4294967295.0, min_nodes = 1.0,
	min_nodes_orig = 1.0, priority_job_factor = 1.0, priority_tier = 1.0, state_up = 3.0, total_cpus = 0.0,
		total_nodes = 0.0,
}
M.partition_text = { allow_accounts = true, allow_alloc_nodes = true, allow_groups = true,
	allow_qos = true, alternate = true,
	billing_weights_str = true, deny_accounts = true, deny_qos = true, nodes = true, qos = true, name = true }

local constants = {
	ERROR = -1.0,
	FAILURE = -1.0,
	SUCCESS = 0.0,
	ESLURM_ACCESS_DENIED = 2002.0,
	ESLURM_ACCOUNTING_POLICY = 2050.0,
	ESLURM_INVALID_ACCOUNT = 2045.0,
	ESLURM_INVALID_LICENSES = 2048.0,
	ESLURM_INVALID_NODE_COUNT = 2006.0,
	ESLURM_INVALID_TIME_LIMIT = 2051.0,
	ESLURM_JOB_MISSING_SIZE_SPECIFICATION = 2008.0,
	ESLURM_MISSING_TIME_LIMIT = 8000.0,
	ALLOC_SID_ADMIN_HOLD = 1.0,
	ALLOC_SID_USER_HOLD = 2.0,
	INFINITE = 4294967295.0,
	INFINITE64 = 18446744073709551616.0,
	MAIL_INVALID_DEPEND = 1024.0,
	MAIL_JOB_BEGIN = 1.0,
	MAIL_JOB_END = 2.0,
	MAIL_JOB_FAIL = 4.0,
	MAIL_JOB_REQUEUE = 8.0,
	MAIL_JOB_TIME100 = 16.0,
	MAIL_JOB_TIME890 = 32.0,
	MAIL_JOB_TIME80 = 64.0,
	MAIL_JOB_TIME50 = 128.0,
	MAIL_JOB_STAGE_OUT = 256.0,
	MEM_PER_CPU = 9223372036854775808.0,
	NICE_OFFSET = 2147483648.0,
	JOB_SHARED_NONE = 0.0,
	JOB_SHARED_OK = 1.0,
	JOB_SHARED_USER = 2.0,
	JOB_SHARED_MCS = 3.0,
	NO_VAL64 = 18446744073709551616.0,
	NO_VAL = 4294967294.0,
	NO_VAL16 = 65534.0,
	NO_VAL8 = 254.0,
	SHARED_FORCE = 32768.0,
	GRES_DISABLE_BIND = 524288.0,
	GRES_ENFORCE_BIND = 16.0,
	KILL_INV_DEP = 1.0,
	NO_KILL_INV_DEP = 2.0,
	SPREAD_JOB = 256.0,
	USE_MIN_NODES = 512.0,
}

--- What the global slurm has: a table of its own for each script.
function M.constants()
	local all = {}
	for name, value in pairs(constants) do
		all[name] = value
	end
	return all
end

--- ESLURM_... of a number that a script returns.
M.error_names = { [-1] = "ERROR" }
for name, value in pairs(constants) do
	if name:find("^ESLURM") then
		M.error_names[value] = name
	end
end

--- Which of the releases it is; nil: none.
function M.release_index(release)
	for i, known in ipairs(M.releases) do
		if known == release then
			return i
		end
	end
end

--- Does that release know the field?
function M.is_there(field, release)
	local at = M.release_index(release)
	return not (field.since and at < M.release_index(field.since)) and not (field.last
		and at > M.release_index(field.last))
end

return M
