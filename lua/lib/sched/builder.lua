-- SPDX-License-Identifier: MIT
--
-- sched.builder - a snapshot from a few words, for specs.
--
-- What is said becomes the JSON form of a snapshot (schedlua-snapshot(5)), which the engine's
-- own reader checks.  Any column of a job, node or partition may be given by its name;
-- durations as text ("1h", "2-00:00:00") wherever a number of seconds is expected.

local duration = require "sched.duration"
local remembered = require "sched.remembered"
local suggest = require "sched.suggest"

local M = {}

local default_now = 1700000000
local default_time_limit = 3600		-- of a pending job

local function fail(format, ...)
	error(format:format(...), 0)
end

local function seconds(value, what)
	local s, why = duration.seconds(value)
	if not s then
		fail("%s: %s", what, why)
	end
	return s
end

local function integer(value, what, least)
	local n = math.tointeger(value)
	if type(value) ~= "number" or not n or n < (least or 0) then
		fail("%s: expected an integer from %d on, got %s", what, least or 0, tostring(value))
	end
	return n
end

-- The keys of *spec* that *handlers* does not know are columns; others are refused.
local function take(spec, what, handlers, columns, row)
	for key, value in pairs(spec) do
		local kind = columns[key]
		if handlers[key] then
			goto continue
		elseif kind == "i64" and type(value) == "string" then
			local s = seconds(value, what .. "." .. key)
			row[key] = s == math.huge and "unlimited" or s
		elseif kind then
			row[key] = value == math.huge and "unlimited" or value
		else
			local known = {}
			for name in pairs(columns) do
				known[name] = true
			end
			for name in pairs(handlers) do
				known[name] = true
			end
			local near = suggest.nearest(key, known)
			fail("%s: unknown key '%s'%s", what, tostring(key), near and ("; did you mean '%s'?"):format(near) or "")
		end
		::continue::
	end
	return row
end

-- "gpu:2", "gpu:a100:1,fpga:3" -> { { name, type, count }, ... }
local function gres_list(text, what)
	local list = {}
	if type(text) ~= "string" then
		fail("%s: expected text such as \"gpu:2\", got %s", what, tostring(text))
	end
	for item in (text .. ","):gmatch("([^,]*),") do
		local name, kind, count = item:match("^([%w_]+):([%w_%-]+):(%d+)$")
		if not name then
			name, count = item:match("^([%w_]+):(%d+)$")
		end
		if not name then
			name, count = item:match("^([%w_]+)$"), 1
		end
		if not name then
			fail("%s: '%s' is no gres; expected \"gpu:2\" or \"gpu:a100:2\"", what, item)
		end
		list[#list + 1] = { name = name, type = kind, count = math.tointeger(count) or tonumber(count) }
	end
	return list
end

local function kind_key(gres)
	return gres.type and gres.name .. ":" .. gres.type or gres.name
end

-- -- nodes -----------------------------------------------------------------

local node_handlers = { count = true, gpus = true, gres = true, name = true }

-- "4x8c2g64G": 4 nodes of 8 cores, 2 GPUs and 64 GiB
local function node_word(text)
	local count, rest = text:match("^(%d+)x(.+)$")
	local spec = { count = tonumber(count) or 1 }
	rest = rest or text
	for number, unit in rest:gmatch("(%d+)(%a)") do
		number = tonumber(number)
		if unit == "c" then
			spec.cores = number
		elseif unit == "g" then
			spec.gpus = number
		elseif unit == "t" then
			spec.threads = number
		elseif unit == "M" then
			spec.memory = number
		elseif unit == "G" then
			spec.memory = number * 1024
		else
			spec.bad = true
		end
	end
	if spec.bad or not rest:match("^[%d%a]+$") or rest:gsub("%d+[cgtMG]", "") ~= "" or not spec.cores then
		fail("nodes: '%s' is no machine; expected COUNTxCORESc[GPUSg][THREADSt][MEMORY(M|G)] such as \"4x8c2g64G\"", text)
	end
	return spec
end

local function add_kind(model, gres)
	local key = kind_key(gres)
	if not model.kinds[key] then
		model.kinds[key] = true
		table.insert(model.gres_kinds, { key = key, name = gres.name, type = gres.type })
	end
	return key
end

local function add_nodes(model, spec, columns)
	if type(spec) == "string" then
		spec = node_word(spec)
	elseif type(spec) ~= "table" then
		fail("nodes: expected text such as \"4x8c2g\" or a list, got %s", tostring(spec))
	end
	local count = integer(spec.count or 1, "nodes.count", 1)
	for _ = 1, count do
		local index = #model.nodes + 1
		local name = spec.name and (count > 1 and spec.name .. index or spec.name) or "n" .. index
		local row = take(spec, "nodes", node_handlers, columns("node"), { name = name, gres = {} })
		local gres = spec.gres and gres_list(spec.gres, "nodes.gres") or {}
		if spec.gpus then
			gres[#gres + 1] = { name = "gpu", count = integer(spec.gpus, "nodes.gpus") }
		end
		for _, g in ipairs(gres) do
			row.gres[#row.gres + 1] = { kind = add_kind(model, g), count = g.count }
		end
		if row.memory then
			model.memory = true
		end
		model.nodes[index] = row
		model.node_by_name[name] = row
	end
end

-- -- node lists ------------------------------------------------------------

-- "n[1-3],n7" or { "n1", "n2" } -> names
local function node_names(model, value, what)
	local names = {}
	if type(value) == "table" then
		names = value
	else
		for item in value:gmatch("[^,%[]+%b[]") do
			local stem, ranges = item:match("^%s*(.-)%[(.*)%]$")
			for range in (ranges .. ","):gmatch("([^,]*),") do
				local first, last = range:match("^(%d+)%-(%d+)$")
				for i = tonumber(first or range), tonumber(last or range) do
					names[#names + 1] = stem .. i
				end
			end
		end
		for item in (value:gsub("[^,%[]+%b[]", "") .. ","):gmatch("%s*([^,]-)%s*,") do
			if item ~= "" then
				names[#names + 1] = item
			end
		end
	end
	for _, name in ipairs(names) do
		if not model.node_by_name[name] then
			fail("%s: no node '%s'", what, tostring(name))
		end
	end
	return names
end

-- -- partitions ------------------------------------------------------------

local partition_handlers = { nodes = true, name = true, default = true }

local function all_node_names(model)
	local names = {}
	for i, node in ipairs(model.nodes) do
		names[i] = node.name
	end
	return names
end

local function add_partition(model, name, spec, columns)
	if type(spec) ~= "table" then
		fail("partitions.%s: expected a table { nodes = \"n[1-2]\" }, got %s", name, tostring(spec))
	end
	local what = "partitions." .. name
	local names = spec.nodes and node_names(model, spec.nodes, what) or all_node_names(model)
	local row = take(spec, what, partition_handlers, columns("partition"), { name = name })
	row.nodes = table.concat(names, ",")
	model.partition_nodes[name] = names
	table.insert(model.partitions, row)
end

local function add_partitions(model, partitions, columns)
	local names = {}
	if partitions == nil then
		partitions = { main = {} }
	elseif type(partitions) ~= "table" then
		fail("partitions: expected a table { NAME = { nodes = ... } }, got %s", tostring(partitions))
	end
	for name in pairs(partitions) do
		if type(name) ~= "string" then
			fail("partitions: a partition's name is a string, got %s", tostring(name))
		end
		names[#names + 1] = name
	end
	table.sort(names)
	for _, name in ipairs(names) do
		add_partition(model, name, partitions[name], columns)
	end
	model.default_partition = names[1]
end

-- -- jobs ------------------------------------------------------------------

local job_handlers = {
	nodes = true, tasks = true, tasks_per_node = true, gres = true, gpus_per_node = true, gpus = true, exclusive = true,
	contiguous = true, ends_in = true, started_ago = true, submitted_ago = true, begins_in = true, deadline_in = true,
	cores = true, memory = true, partition = true, array = true, licenses = true, req_nodes = true, exc_nodes = true,
	flags = true, state = true, overcommit = true, spread = true, suspended = true, stoppable = true,
}

local function flag(row, spec, key, word)
	if spec[key] then
		row.flags[#row.flags + 1] = word
	end
end

local function set_size(row, spec, what)
	if type(spec.nodes) == "number" then
		row.min_nodes = row.min_nodes or integer(spec.nodes, what .. ".nodes", 1)
		row.max_nodes = row.max_nodes or row.min_nodes
	end
	if spec.tasks then
		row.num_tasks = integer(spec.tasks, what .. ".tasks", 1)
	end
	if spec.tasks_per_node then
		row.ntasks_per_node = integer(spec.tasks_per_node, what .. ".tasks_per_node", 1)
	end
	-- as slurmctld does: CPUs in all follow from tasks and nodes
	row.min_cpus = row.min_cpus or math.max(row.min_nodes or 1,
		(row.num_tasks or (row.ntasks_per_node or 1) * (row.min_nodes or 1)) * (row.cpus_per_task or 1))
end

local function set_gres(row, spec, what)
	row.gres = spec.gres and gres_list(spec.gres, what .. ".gres") or {}
	for _, gres in ipairs(row.gres) do
		gres.per = "node"
	end
	if spec.gpus_per_node then
		table.insert(row.gres, { name = "gpu", count = integer(spec.gpus_per_node, what .. ".gpus_per_node"), per = "node" })
	end
	if spec.gpus then
		table.insert(row.gres, { name = "gpu", count = integer(spec.gpus, what .. ".gpus"), per = "job" })
	end
	row.licenses = {}
	for name, count in pairs(spec.licenses or {}) do
		table.insert(row.licenses, { license = name, count = integer(count, what .. ".licenses") })
	end
	table.sort(row.licenses, function(a, b) return a.license < b.license end)
end

-- "a" or "a,b": the partition(s) asked for
local function partition_list(model, spec, what)
	local names = {}
	for name in ((spec.partition or model.default_partition) .. ","):gmatch("%s*([^,]-)%s*,") do
		if not model.partition_nodes[name] then
			fail("%s: no partition '%s'", what, name)
		end
		names[#names + 1] = name
	end
	return names
end

local function new_job(model, spec, what, columns)
	if type(spec) ~= "table" then
		fail("%s: expected a table { id = 1, nodes = 1 }, got %s", what, tostring(spec))
	end
	local id = spec.id
	while not id do
		id = not model.used_ids[model.next_id] and model.next_id or nil
		model.next_id = model.next_id + 1
	end
	what = ("%s (job %s)"):format(what, tostring(id))
	local row = take(spec, what, job_handlers, columns("job"), { id = integer(id, what .. ".id", 1), flags = {} })
	for _, word in ipairs(spec.flags or { "BATCH" }) do
		table.insert(row.flags, word)
	end
	flag(row, spec, "exclusive", "EXCLUSIVE")
	flag(row, spec, "contiguous", "CONTIGUOUS")
	flag(row, spec, "overcommit", "OVERCOMMIT")
	flag(row, spec, "spread", "SPREAD")
	row.user = row.user or "alice"
	row.submit_time = row.submit_time or model.meta.now - seconds(spec.submitted_ago or 0, what .. ".submitted_ago")
	row.eligible_time = row.eligible_time or row.submit_time
	for _, key in ipairs { "req_nodes", "exc_nodes" } do
		if spec[key] then
			row[key] = table.concat(node_names(model, spec[key], what), ",")
		end
	end
	set_gres(row, spec, what)
	return row, what
end

-- What a running job holds on a node.
local function holding(model, node, row, spec, whole, what)
	local free = model.free[node.name]
	local hold = { node = node.name, cores = whole and node.cores or spec.cores or 1, gres = {} }
	if type(hold.cores) ~= "number" or hold.cores > free.cores or whole and free.cores < node.cores then
		return nil
	end
	hold.memory = spec.memory and integer(spec.memory, what .. ".memory")
	if hold.memory and free.memory and hold.memory > free.memory then
		return nil
	end
	for _, gres in ipairs(row.gres) do
		local left = gres.count
		for _, g in ipairs(node.gres) do
			local name, kind = g.kind:match("^([^:]+):?(.*)$")
			if name == gres.name and (not gres.type or gres.type == kind) and left > 0 then
				local n = math.min(left, free.gres[g.kind])
				if n > 0 then
					hold.gres[#hold.gres + 1] = { kind = g.kind, count = n }
					left = left - n
				end
			end
		end
		if left > 0 then
			return nil
		end
	end
	return hold
end

local function take_from_free(model, hold)
	local free = model.free[hold.node]
	free.cores = free.cores - hold.cores
	free.memory = free.memory and free.memory - (hold.memory or 0)
	for _, gres in ipairs(hold.gres) do
		free.gres[gres.kind] = free.gres[gres.kind] - gres.count
	end
end

local function free_resources(model)
	for _, node in ipairs(model.nodes) do
		local free = { cores = node.cores or 1, memory = node.memory, gres = {} }
		for _, gres in ipairs(node.gres) do
			free.gres[gres.kind] = gres.count
		end
		model.free[node.name] = free
	end
end

-- Put a running job onto the nodes named, or onto the first that have room.
local function allocate(model, row, spec, partition, what)
	local named = type(spec.nodes) ~= "number" and spec.nodes
	local names = named and node_names(model, named, what) or model.partition_nodes[partition]
	local wanted = named and #names or integer(spec.nodes or 1, what .. ".nodes", 1)
	row.alloc = {}
	for _, name in ipairs(names) do
		local hold = #row.alloc < wanted and
			holding(model, model.node_by_name[name], row, spec, spec.exclusive, what)
		if hold then
			row.alloc[#row.alloc + 1] = hold
			take_from_free(model, hold)
		elseif named then
			fail("%s: node '%s' has not that much free", what, name)
		end
	end
	if #row.alloc < wanted then
		fail("%s: needs %d nodes, %d have that much free", what, wanted, #row.alloc)
	end
	row.min_nodes, row.max_nodes = wanted, wanted
	row.min_cpus = row.min_cpus or wanted
end

-- stoppable = true (requeued), or "cancel", "requeue", "suspend": others may preempt it, as Slurm would have it.
local function set_stoppable(row, spec, now, what)
	local mode = spec.stoppable == true and "requeue" or spec.stoppable
	if mode ~= "cancel" and mode ~= "requeue" and mode ~= "suspend" then
		fail("%s: stoppable: expected true, \"cancel\", \"requeue\" or \"suspend\", got %s", what, tostring(spec.stoppable))
	end
	row.preempt_mode, row.preempt_from = mode, row.preempt_from or math.max(row.start_time, 1)
	row.safe_until = row.safe_until or now + (row.grace_time or 0)
	if mode == "requeue" then
		row.flags[#row.flags + 1] = "REQUEUE"
	end
end

local function add_running(model, spec, what, columns)
	local now = model.meta.now
	local row
	row, what = new_job(model, spec, what, columns)
	row.partition = partition_list(model, spec, what)[1]
	row.state = spec.state or spec.suspended and "SUSPENDED" or "RUNNING"
	local ago = seconds(spec.started_ago or 0, what .. ".started_ago")
	row.start_time = row.start_time or now - ago
	if spec.ends_in then
		local left = seconds(spec.ends_in, what .. ".ends_in")
		row.end_time = left == math.huge and now + 365 * 86400 or now + left
		row.time_limit = left == math.huge and "unlimited" or row.end_time - row.start_time
	elseif type(row.time_limit) == "number" then
		row.end_time = row.end_time or row.start_time + row.time_limit
	else
		row.end_time = row.end_time or now + 365 * 86400
	end
	if spec.stoppable then
		set_stoppable(row, spec, now, what)
	end
	allocate(model, row, spec, row.partition, what)
	table.insert(model.jobs, row)
end

-- array = 100, or "100%2" with a throttle
local function set_array(row, spec, what)
	local count, throttle = tostring(spec.array):match("^(%d+)%%?(%d*)$")
	if not count then
		fail("%s: array: expected a number of tasks, or \"100%%2\", got %s", what, tostring(spec.array))
	end
	row.array_job_id = row.array_job_id or row.id
	row.array_pending = math.tointeger(count)
	row.array_max_running = math.tointeger(throttle) or 0
end

local function add_pending(model, spec, what, columns)
	local now = model.meta.now
	local row
	row, what = new_job(model, spec, what, columns)
	local partitions = partition_list(model, spec, what)
	row.partition = partitions[1]
	if #partitions > 1 then
		row.partitions = partitions
	end
	if spec.nodes ~= nil and type(spec.nodes) ~= "number" then
		fail("%s: nodes: a pending job says how many, got %s (req_nodes names nodes)", what, tostring(spec.nodes))
	end
	set_size(row, spec, what)
	row.time_limit = row.time_limit or default_time_limit
	if spec.cores then
		fail("%s: cores: a pending job says tasks and cpus_per_task", what)
	end
	row.memory_per_node = row.memory_per_node or spec.memory and integer(spec.memory, what .. ".memory")
	row.begin_time = spec.begins_in and now + seconds(spec.begins_in, what .. ".begins_in") or row.begin_time
	row.deadline = spec.deadline_in and now + seconds(spec.deadline_in, what .. ".deadline_in") or row.deadline
	if spec.array then
		set_array(row, spec, what)
	end
	-- in the order in which they are written, unless priorities are
	row.priority = row.priority or model.next_priority
	model.next_priority = model.next_priority - 1
	table.insert(model.jobs, row)
	for _, partition in ipairs(partitions) do
		table.insert(model.queue, { job = row.id, partition = partition, priority = row.priority, at = #model.queue })
	end
end

-- The queue as Slurm would hand it out: by tier, priority, and the order written.
local function sort_queue(model)
	local tier = {}
	for _, partition in ipairs(model.partitions) do
		tier[partition.name] = partition.priority_tier or 1
	end
	table.sort(model.queue, function(a, b)
		if tier[a.partition] ~= tier[b.partition] then
			return tier[a.partition] > tier[b.partition]
		elseif a.priority ~= b.priority then
			return a.priority > b.priority
		end
		return a.at < b.at
	end)
	for _, entry in ipairs(model.queue) do
		entry.at = nil
	end
end

-- -- the rest --------------------------------------------------------------

local reservation_handlers = { nodes = true, starts_in = true, ends_in = true, name = true }

local function add_reservation(model, spec, what, columns)
	local now = model.meta.now
	local row = take(spec, what, reservation_handlers, columns("reservation"), {})
	row.name = spec.name or fail("%s: has no name", what)
	row.nodes = table.concat(node_names(model, spec.nodes or fail("%s: has no nodes", what), what), ",")
	row.start_time = row.start_time or now + seconds(spec.starts_in or 0, what .. ".starts_in")
	row.end_time = row.end_time or now + seconds(spec.ends_in or "1h", what .. ".ends_in")
	table.insert(model.reservations, row)
end

local function add_license(model, name, value)
	local row = type(value) == "table" and value or { total = integer(value, "licenses." .. tostring(name)) }
	row.name = name
	table.insert(model.licenses, row)
end

local usage_handlers = { cpu = true, gpu = true, node = true, ended_ago = true, lasted = true }

-- What was used: so many unit-seconds (or "100h"), spread over the time it lasted.
local function add_usage(model, spec, what, columns)
	if type(spec) ~= "table" then
		fail("%s: expected a table { user = \"anna\", cpu = \"100h\" }, got %s", what, tostring(spec))
	end
	local row = take(spec, what, usage_handlers, columns("usage"), {})
	for _, unit in ipairs { "cpu", "gpu", "node" } do
		if spec[unit] then
			-- an adjustment may be negative
			row[unit .. "_s"] = math.tointeger(spec[unit]) or seconds(spec[unit], what .. "." .. unit)
		end
	end
	row.user = row.user or "alice"
	row.partition = row.partition or model.default_partition
	row.end_time = row.end_time or model.meta.now - seconds(spec.ended_ago or 0, what .. ".ended_ago")
	row.start_time = row.start_time or row.end_time - seconds(spec.lasted or 0, what .. ".lasted")
	table.insert(model.usage, row)
end

local history_handlers = { ended_ago = true }

-- A run that has ended: { user = "anna", runtime = "1h", time_limit = "4h", cpus = 8, ended_ago = "1d" }.
local function add_past_run(model, spec, what, columns)
	if type(spec) ~= "table" then
		fail("%s: expected a table { user = \"anna\", runtime = \"1h\" }, got %s", what, tostring(spec))
	end
	local row = take(spec, what, history_handlers, columns("history"), {})
	row.user = row.user or "alice"
	row.partition = row.partition or model.default_partition
	row.runtime = seconds(spec.runtime or 0, what .. ".runtime")
	row.time_limit = seconds(spec.time_limit or 0, what .. ".time_limit")
	row.end_time = row.end_time or model.meta.now - seconds(spec.ended_ago or 0, what .. ".ended_ago")
	row.start_time = row.start_time or row.end_time - row.runtime
	row.job = row.job or #model.history + 1000001
	table.insert(model.history, row)
end

local spec_keys = {
	nodes = true, partitions = true, running = true, pending = true, reservations = true, licenses = true, usage = true,
	history = true,	now = true, meta = true, seed = true, remembered = true,
}

local function each(list, what, add)
	if list ~= nil and type(list) ~= "table" then
		fail("%s: expected a list, got %s", what, tostring(list))
	end
	for i, item in ipairs(list or {}) do
		add(item, ("%s[%d]"):format(what, i))
	end
end

-- now = 1700000000 or "2026-03-12T12:00 Europe/Berlin", which instant() reads.
local function time_of(now, instant)
	if type(now) ~= "string" then
		return now
	end
	local t, why = instant(now)
	if not t then
		fail("now: %s", why)
	end
	return t
end

--- The model of a cluster: tables as in the JSON form.  columns(table) names the columns.
function M.build(spec, columns, instant)
	if type(spec) ~= "table" then
		fail("expected a table { nodes = \"4x8c\" }, got %s", tostring(spec))
	end
	for key in pairs(spec) do
		if not spec_keys[key] then
			fail("unknown key '%s'%s", tostring(key), suggest.hint(key, spec_keys))
		end
	end
	local model = {
		meta = take(spec.meta or {}, "meta", {}, columns("meta"), {}),
		gres_kinds = {}, nodes = {}, partitions = {}, jobs = {}, queue = {}, reservations = {}, licenses = {},
		usage = {}, history = {},
		kinds = {}, node_by_name = {}, partition_nodes = {}, free = {}, used_ids = {}, next_id = 1, next_priority = 1000000,
	}
	model.meta.now = time_of(spec.now, instant) or model.meta.now or default_now
	model.meta.source = "spec"
	model.meta.sequence = model.meta.sequence or 1
	model.meta.seed = spec.seed or model.meta.seed
	if type(spec.nodes) == "table" and #spec.nodes > 0 then
		each(spec.nodes, "nodes", function(item) add_nodes(model, item, columns) end)
	else
		add_nodes(model, spec.nodes or "1x1c", columns)
	end
	model.meta.select_flags = model.meta.select_flags or model.memory and { "MEMORY" } or nil
	free_resources(model)
	add_partitions(model, spec.partitions, columns)
	local names = {}
	for name in pairs(spec.licenses or {}) do
		names[#names + 1] = name
	end
	table.sort(names)
	for _, name in ipairs(names) do
		add_license(model, name, spec.licenses[name])
	end
	for _, list in ipairs { spec.running or {}, spec.pending or {} } do
		for _, job in ipairs(type(list) == "table" and list or {}) do
			model.used_ids[type(job) == "table" and job.id or 0] = true
		end
	end
	each(spec.reservations, "reservations", function(item, what) add_reservation(model, item, what, columns) end)
	each(spec.running, "running", function(item, what) add_running(model, item, what, columns) end)
	each(spec.pending, "pending", function(item, what) add_pending(model, item, what, columns) end)
	each(spec.usage, "usage", function(item, what) add_usage(model, item, what, columns) end)
	each(spec.history, "history", function(item, what) add_past_run(model, item, what, columns) end)
	sort_queue(model)
	if type(spec.remembered or {}) ~= "table" then
		fail("remembered: expected a table { %s = { KEY = value } }, got %s", model.default_partition,
			tostring(spec.remembered))
	end
	local ok, rows = pcall(remembered.rows, spec.remembered or {})
	model.remembered = ok and rows or fail("remembered: %s", rows)
	return model
end

-- -- JSON ------------------------------------------------------------------

local function quoted(text)
	return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function encode(value)
	if type(value) == "string" then
		return quoted(value)
	elseif type(value) ~= "table" then
		return tostring(value)
	end
	local parts = {}
	if #value > 0 or next(value) == nil then
		for i, item in ipairs(value) do
			parts[i] = encode(item)
		end
		return "[" .. table.concat(parts, ",") .. "]"
	end
	for key, item in pairs(value) do
		parts[#parts + 1] = quoted(tostring(key)) .. ":" .. encode(item)
	end
	table.sort(parts)
	return "{" .. table.concat(parts, ",") .. "}"
end

local tables = { "meta", "gres_kinds", "nodes", "partitions", "jobs", "queue", "reservations", "licenses", "usage",
	"remembered", "history" }

--- The model as the JSON form of a snapshot.
function M.json(model)
	local whole = {}
	for _, name in ipairs(tables) do
		whole[name] = model[name]
	end
	return encode(whole)
end

return M
