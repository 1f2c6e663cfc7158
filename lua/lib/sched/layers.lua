-- SPDX-License-Identifier: MIT
--
-- sched.layers - rank by layer, then by time of submission, and by nothing else.
--
--   sched.layers { file = "layers.conf" }
--
-- The file puts users and accounts into layers from 0 to 65536; the highest layer goes first:
--
--   default            100
--   user     alice     300
--   account  physics   200
--
-- A user's own line goes before that of the account; who is in neither is in the default's
-- layer (the file's, or else the option's).  The file is re-read when it changes.

local component = require "sched.component"
local data_file = require "sched.data_file"

local M = {}

local most = 65536

local definitions = {
	file = { type = "string" },
	default = { default = 0, min = 0, max = most },
}

local function put(map, key, words, first, fail)
	local layer = words[first] and words[first]:match("^%d+$") and math.tointeger(tonumber(words[first]))
	if #words ~= first or not layer or layer > most then
		fail("%s: '%s' is no layer; expected a number from 0 to %d", key,
			table.concat(words, " ", first):sub(1, 60), most)
	end
	map[key] = layer
end

-- The layer, and the key of the line that says so.
local function find(file, user, account, default)
	local key = "user " .. user
	local layer = file:get(key)
	if not layer then
		key = "account " .. account
		layer = file:get(key)
	end
	if not layer then
		key = "default"
		layer = file:get(key)
	end
	if layer then
		return layer, key
	end
	return default, nil
end

--- Called by the engine's loader as sched.layers { ... }, with the place of the call.
function M.make(path, line, t)
	local fail = component.locate(path, line)
	local opt = component.read("sched.layers", t, definitions, fail)
	if not opt.file then
		fail("layers", "sched.layers without a file; expected sched.layers { file = \"layers.conf\" }")
	end
	local file = data_file.open(path, line, opt.file, data_file.subjects(put))
	local known = {}		-- layer by user, then by account

	local function layer_of(job)
		local user = job.user or ""
		local by_account = known[user]
		if not by_account then
			by_account = {}
			known[user] = by_account
		end
		local account = job.account or ""
		local layer = by_account[account]
		if not layer then
			layer = find(file, user, account, opt.default)
			by_account[account] = layer
		end
		return layer
	end

	local part = { name = "layers", doc = "layer, then time of submission" }

	function part.rank(job)
		return layer_of(job), -job.submit_time
	end

	function part.explain(job)
		local layer, key = find(file, job.user or "", job.account or "", opt.default)
		if not key then
			return ("layer %d: the default of sched.layers, neither user %s nor account %s is in %s"):format(layer,
				job.user or "(none)", job.account or "(none)", file.path)
		end
		return ("layer %d: \"%s\" in line %d of %s"):format(layer, key, file:get(key .. "\n"), file.path)
	end

	return part
end

return M
