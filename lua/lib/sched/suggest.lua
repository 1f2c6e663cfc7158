-- SPDX-License-Identifier: MIT
--
-- sched.suggest - "did you mean": the known name that is nearest to a misspelt one.

local M = {}

--- Edits (insert, delete, replace, swap neighbours) that make one word of the other.
function M.distance(a, b)
	local before, last = nil, {}
	for j = 0, #b do
		last[j] = j
	end
	for i = 1, #a do
		local row = { [0] = i }
		for j = 1, #b do
			local cost = a:byte(i) == b:byte(j) and 0 or 1
			row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
			if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
				row[j] = math.min(row[j], before[j - 2] + 1)
			end
		end
		before, last = last, row
	end
	return last[#b]
end

local function sorted_names(known)
	local names = {}
	if known[1] ~= nil then
		for i, name in ipairs(known) do
			names[i] = name
		end
	else
		for name in pairs(known) do
			names[#names + 1] = tostring(name)
		end
	end
	table.sort(names)
	return names
end

--- The nearest name, or nil when none is near.  known: a list, or a table by name.
function M.nearest(name, known)
	local best, best_distance
	name = tostring(name):sub(1, 64)
	for _, candidate in ipairs(sorted_names(known)) do
		local distance = M.distance(name:lower(), candidate:lower())
		if distance <= math.max(1, #candidate // 3) and (not best or distance < best_distance) then
			best, best_distance = candidate, distance
		end
	end
	return best
end

--- Text that follows "unknown X": "; did you mean 'y'? known: a, b, y".
function M.hint(name, known)
	local names = sorted_names(known)
	local near = M.nearest(name, known)
	local text = near and ("; did you mean '%s'?"):format(near) or ";"
	if #names == 0 then
		return "; there are none"
	end
	return ("%s known: %s"):format(text, table.concat(names, ", "))
end

return M
