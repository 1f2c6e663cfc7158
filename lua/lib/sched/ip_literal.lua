-- SPDX-License-Identifier: MIT
--
-- sched.ip_literal - the program of sched.ip as the paper prints it: a column for every job on
-- every node, x_ij and t_ij.  For comparison, and for a few jobs on a few nodes.

local mip = require "sched.mip"
local terms = require "sched.ip_terms"

local M = {}

local put, use = terms.put, terms.use

local function copy(list)
	return table.move(list, 1, #list, 1, {})
end

local function new_node_rows(w)
	local rows = {}
	for i, class in ipairs(w.classes) do
		rows[i] = {}
		for k = 1, class.count do
			rows[i][k] = { cores = {}, gpus = {}, memory = {} }
			for _, of in pairs(rows[i][k]) do
				for l = 1, w.levels do
					of[l] = {}
				end
			end
		end
	end
	return rows
end

-- x_ij, t_ij and (6) for one job on one node.
local function add_literal_node(p, row, j, i, k, offer)
	local m, job = p.model, p.w.jobs[j]
	local x = m:var { ub = offer, integer = true }
	local t = m:var { ub = 1, integer = true }
	use(row.cores, job.level, x, 1)
	use(row.memory, job.level, x, job.core_memory)
	use(row.gpus, job.level, t, job.gpus)
	use(row.memory, job.level, t, job.memory)
	m:add { terms = { x, 1, t, -offer }, hi = 0 }
	m:add { terms = { x, 1, t, job.whole and -offer or -job.least }, lo = 0 }
	p.at[j][#p.at[j] + 1] = { class = i, node = k, x = x }
	return x, t
end

local function add_literal_job(p, rows, j, list, value, packing)
	local m, job = p.model, p.w.jobs[j]
	local s = m:var { ub = 1, integer = true, obj = value, name = "job " .. j }
	local c = m:var { ub = 0.5, obj = packing and -value or 0 }
	local cores, nodes, low = { s, -job.cores }, { c, -2 * p.w.total_nodes }, { c, 2 * p.w.total_nodes }
	p.s[j], p.at[j] = s, {}
	for i, class in ipairs(p.w.classes) do
		for k = 1, list[i] and math.min(class.count, p.w.usable[job.set][i]) or 0 do
			local x, t = add_literal_node(p, rows[i][k], j, i, k, list[i])
			put(cores, x, 1)
			put(nodes, t, 1)
		end
	end
	m:add { terms = cores, lo = 0, hi = not job.whole and 0 or nil }				-- (2)
	m:add { terms = nodes, lo = 0, hi = 0 }								-- (4)
	m:add { terms = put(copy(low), s, -job.min_nodes), lo = 0 }					-- (5)
	m:add { terms = put(low, s, -(job.max_nodes or p.w.total_nodes)), hi = 0 }
end

--- The literal program.
function M.program(w, value, list, options)
	local p = { w = w, model = mip.model { sense = "max" }, s = {}, at = {} }
	local rows = new_node_rows(w)
	for j in ipairs(w.jobs) do
		if list[j] then
			add_literal_job(p, rows, j, list[j], value[j], not options or options.packing ~= false)
		end
	end
	for i, class in ipairs(w.classes) do
		for _, row in ipairs(rows[i]) do
			for what, of in pairs(row) do
				for l = 1, w.levels do
					if #of[l] > 0 then
						p.model:add { terms = of[l], hi = class[what][l] }		-- (1), (3)
					end
				end
			end
		end
	end
	return p
end

--- The choice that a solution of the literal program is, node by node.
function M.read(p, value, values, unpacked)
	local choice = { jobs = {}, pieces = {}, nodes = {}, value = 0 }
	for j in ipairs(p.w.jobs) do
		if p.s[j] and values[p.s[j]] == 1 then
			local pieces = {}
			for _, at in ipairs(p.at[j]) do
				if values[at.x] > 0 then
					pieces[#pieces + 1] = { class = at.class, from = at.node, to = at.node, cores = values[at.x] }
				end
			end
			choice.jobs[#choice.jobs + 1] = j
			choice.pieces[j], choice.nodes[j] = pieces, #pieces
			choice.value = choice.value + value[j] * (1 - (unpacked and 0 or #pieces / (2 * p.w.total_nodes)))
		end
	end
	return choice
end

return M
