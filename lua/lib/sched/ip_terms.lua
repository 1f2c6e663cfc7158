-- SPDX-License-Identifier: MIT
--
-- sched.ip_terms - terms of rows, as sched.mip wants them: { column, coefficient, ... }.

local M = {}

--- A term more.  Returns the list.
function M.put(terms, column, coefficient)
	local n = #terms
	terms[n + 1], terms[n + 2] = column, coefficient
	return terms
end

--- What a job of a level takes, it takes of that level's row and of those of all shorter walltimes.
function M.use(row, level, column, amount)
	if amount > 0 then
		for l = 1, level do
			M.put(row[l], column, amount)
		end
	end
end

return M
