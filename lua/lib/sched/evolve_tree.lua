-- SPDX-License-Identifier: MIT
--
-- sched.evolve_tree - expressions that are bred: random ones, changed ones, simplified ones, and their text in Lua.
--
-- A node is { op, child, ... }; { "const", value = } and { "field", name = } have none.  A node is a number or a
-- condition ("<", "and", "or"); { "if", condition, a, b } is a number.  A language (sched.evolve_language) says
-- which fields there are, and in which interval the value of each lies.
--
-- What an expression means is what its Lua text says.  Where a division, a logarithm or a power may leave its
-- domain, the text guards it: divide(a, b) is 0 for b = 0; a logarithm and a power take math.max(x, ...).  Where
-- the intervals say that this cannot happen, nothing is guarded.

local M = {}

local HUGE <const> = math.huge
local LEAST <const> = 1e-06	-- of what a logarithm or a negative power is taken
local MOST_CHANGES <const> = 20	-- tries to change an expression into another one

local arity = { ["+"] = 2, ["-"] = 2, ["*"] = 2, ["/"] = 2, min = 2, max = 2, log = 1, ["^"] = 2 }
local binary = { "+", "-", "*", "/", "min", "max" }
local conditions = { ["<"] = true, ["and"] = true, ["or"] = true }

--- Three significant digits: more says nothing, and is hard to read.
local function rounded(v)
	return (v ~= v or math.abs(v) == HUGE) and v or tonumber(("%.3g"):format(v)) + 0.0
end

function M.const(v)
	return { "const", value = rounded(v) }
end

local function field(name)
	return { "field", name = name }
end

local function is_const(node, v)
	return node[1] == "const" and (v == nil or node.value == v)
end

function M.is_condition(node)
	return conditions[node[1]] == true
end

--- Nodes of an expression.
function M.size(node)
	local n = 1
	for i = 2, #node do
		n = n + M.size(node[i])
	end
	return n
end

local function copy(node)
	local new = { node[1], value = node.value, name = node.name }
	for i = 2, #node do
		new[i] = copy(node[i])
	end
	return new
end

-- -- intervals ------------------------------------------------------------------

-- Of corners: no NaN (0 x inf is 0 here, as no field is infinite).
local function product(a, b)
	return (a == 0 or b == 0) and 0 or a * b
end

local function hull(...)
	return math.min(...), math.max(...)
end

local interval

local of = {
	["+"] = function(a, b, c, d) return a + c, b + d end,
	["-"] = function(a, b, c, d) return a - d, b - c end,
	["*"] = function(a, b, c, d) return hull(product(a, c), product(a, d), product(b, c), product(b, d)) end,
	["/"] = function(a, b, c, d)
		if c <= 0 and d >= 0 then
			return -HUGE, HUGE
		end
		return hull(product(a, 1 / c), product(a, 1 / d), product(b, 1 / c), product(b, 1 / d))
	end,
	min = function(a, b, c, d) return math.min(a, c), math.min(b, d) end,
	max = function(a, b, c, d) return math.max(a, c), math.max(b, d) end,
	log = function(a, b) return math.log(math.max(a, LEAST)), math.log(math.max(b, LEAST)) end,
	["^"] = function(a, b, c, d)
		if c ~= d or c == 0 then
			return 0, HUGE
		end
		local least = c < 0 and LEAST or 0
		return hull(math.max(a, least) ^ c, math.max(b, least) ^ c)
	end,
}

-- Least and greatest value of a number.
function interval(node, language)
	local op = node[1]
	if op == "const" then
		return node.value, node.value
	elseif op == "field" then
		local f = language.field[node.name]
		return f.least, f.most
	elseif op == "if" then
		local a, b = interval(node[3], language)
		local c, d = interval(node[4], language)
		return math.min(a, c), math.max(b, d)
	end
	local a, b = interval(node[2], language)
	local c, d
	if node[3] then
		c, d = interval(node[3], language)
	end
	local low, high = of[op](a, b, c, d)
	if low ~= low or high ~= high then
		return -HUGE, HUGE
	end
	return low, high
end

-- -- text -------------------------------------------------------------------------

local level = { ["or"] = 1, ["and"] = 2, ["<"] = 3, ["+"] = 4, ["-"] = 4, ["*"] = 5, ["/"] = 5, ["^"] = 7 }
local NEGATION <const>, ATOM <const> = 6, 9

local function number_text(v)
	if v ~= v or v == HUGE or v == -HUGE then
		return ("(%s)"):format(v ~= v and "0 / 0" or v > 0 and "math.huge" or "-math.huge")
	elseif v == math.floor(v) and math.abs(v) < 1e15 then
		return ("%d"):format(v)
	end
	return ("%.14g"):format(v)
end

local text_of

local function in_parens(node, language, least)
	local text, its = text_of(node, language)
	return its < least and "(" .. text .. ")" or text
end

-- x, guarded where it may be below *least*.
local function guarded(node, language, least)
	local low = interval(node, language)
	if low >= least then
		return nil
	end
	return ("math.max(%s, %s)"):format(text_of(node, language), number_text(least))
end

local function power_text(node, language)
	local base, exponent = node[2], node[3]
	local low = interval(exponent, language)
	local safe = guarded(base, language, low < 0 and LEAST or 0)
	if is_const(exponent, 0.5) then
		return ("math.sqrt(%s)"):format(safe or (text_of(base, language))), ATOM
	end
	return ("%s ^ %s"):format(safe or in_parens(base, language, level["^"] + 1),
		in_parens(exponent, language, level["^"])), level["^"]
end

local function division_text(node, language)
	local low, high = interval(node[3], language)
	if low <= 0 and high >= 0 then
		return ("divide(%s, %s)"):format(text_of(node[2], language), text_of(node[3], language)), ATOM
	end
	return ("%s / %s"):format(in_parens(node[2], language, 5), in_parens(node[3], language, 6)), 5
end

-- Text, and how strongly it binds.
function text_of(node, language)
	local op = node[1]
	if op == "const" then
		return number_text(node.value), node.value < 0 and NEGATION or ATOM
	elseif op == "field" then
		return node.name, ATOM
	elseif op == "if" then
		return ("(%s and %s or %s)"):format(in_parens(node[2], language, 2), in_parens(node[3], language, 3),
			in_parens(node[4], language, 2)), ATOM
	elseif op == "min" or op == "max" then
		return ("math.%s(%s, %s)"):format(op, text_of(node[2], language), (text_of(node[3], language))), ATOM
	elseif op == "log" then
		return ("math.log(%s)"):format(guarded(node[2], language, LEAST) or (text_of(node[2], language))), ATOM
	elseif op == "^" then
		return power_text(node, language)
	elseif op == "/" then
		return division_text(node, language)
	elseif op == "-" and is_const(node[2], 0) then
		return "-" .. in_parens(node[3], language, NEGATION), NEGATION
	end
	local at = level[op]
	if op == "<" and is_const(node[2]) then
		return ("%s > %s"):format(in_parens(node[3], language, at), number_text(node[2].value)), at
	end
	-- a - (b - c), and a + (b + c), whose sum depends on the order
	return ("%s %s %s"):format(in_parens(node[2], language, at), op, in_parens(node[3], language, at + 1)), at
end

--- The expression in Lua, with fields as local variables; divide() may occur in it.
function M.text(node, language)
	return (text_of(node, language))
end

--- The body of a function that returns it: conditions at its top become if ... then return.
function M.body(node, language, indent, rest)
	local lines = {}
	while node[1] == "if" do
		lines[#lines + 1] = ("%sif %s then"):format(indent, M.text(node[2], language))
		lines[#lines + 1] = M.body(node[3], language, indent .. "\t", rest)
		lines[#lines + 1] = indent .. "end"
		node = node[4]
	end
	lines[#lines + 1] = ("%sreturn %s%s"):format(indent, M.text(node, language), rest)
	return table.concat(lines, "\n")
end

--- The names of the fields that occur in it, { [name] = true }; and whether divide() does.
function M.uses(node, language, found)
	found = found or { fields = {}, divide = false }
	if node[1] == "field" then
		found.fields[node.name] = true
	elseif node[1] == "/" then
		local low, high = interval(node[3], language)
		found.divide = found.divide or low <= 0 and high >= 0
	end
	for i = 2, #node do
		M.uses(node[i], language, found)
	end
	return found
end

-- -- simplifying -----------------------------------------------------------------

local zero, one = M.const(0), M.const(1)

local function same(a, b, language)
	return M.text(a, language) == M.text(b, language)
end

local fold = {
	["+"] = function(a, b) return a + b end,
	["-"] = function(a, b) return a - b end,
	["*"] = function(a, b) return a * b end,
	["/"] = function(a, b) return b == 0 and 0 or a / b end,
	min = math.min, max = math.max,
	log = function(a) return math.log(math.max(a, LEAST)) end,
	["^"] = function(a, b) return math.max(a, b < 0 and LEAST or 0) ^ b end,
}

local reduce = {}

reduce["+"] = function(a, b)
	return is_const(a, 0) and b or is_const(b, 0) and a or nil
end

reduce["-"] = function(a, b, language)
	if b[1] == "-" and is_const(b[2], 0) then	-- a - -x
		return { "+", a, b[3] }
	end
	return is_const(b, 0) and a or same(a, b, language) and zero or nil
end

reduce["*"] = function(a, b)
	if is_const(a, -1) or is_const(b, -1) then
		return { "-", zero, is_const(a, -1) and b or a }
	end
	return (is_const(a, 0) or is_const(b, 0)) and zero or is_const(a, 1) and b or is_const(b, 1) and a or nil
end

reduce["/"] = function(a, b, language)
	local low, high = interval(b, language)
	if same(a, b, language) and (low > 0 or high < 0) then
		return one
	end
	return is_const(a, 0) and zero or is_const(b, 0) and zero or is_const(b, 1) and a or nil
end

reduce["^"] = function(a, b, language)
	if is_const(b, 0) then
		return one
	end
	local low = interval(a, language)
	if is_const(b, 1) and low >= 0 then
		return a
	elseif a[1] == "^" and is_const(a[3]) and is_const(b) and a[3].value > 0 and b.value > 0 then
		return { "^", a[2], M.const(a[3].value * b.value) }
	end
	return nil
end

-- Of two numbers that are never apart the other way round.
local function bounded(first_is_less)
	return function(a, b, language)
		local least_a, most_a = interval(a, language)
		local least_b, most_b = interval(b, language)
		if most_a <= least_b then
			return first_is_less and a or b
		elseif most_b <= least_a then
			return first_is_less and b or a
		end
		return same(a, b, language) and a or nil
	end
end

reduce.min, reduce.max = bounded(true), bounded(false)

local simplify

-- true, false, or a condition that may be either.  known: what conditions around it have said, by text.
local function simplify_condition(node, language, known)
	if node[1] ~= "<" then
		local a = simplify_condition(node[2], language, known)
		local b = simplify_condition(node[3], language, known)
		local decisive = node[1] == "or"	-- what decides alone
		if a == decisive or b == decisive then
			return decisive
		elseif type(a) == "boolean" then
			return b
		elseif type(b) == "boolean" or same(a, b, language) then
			return a
		end
		return { node[1], a, b }
	end
	local a, b = simplify(node[2], language, known), simplify(node[3], language, known)
	local least_a, most_a = interval(a, language)
	local least_b, most_b = interval(b, language)
	if most_a < least_b then
		return true
	elseif least_a >= most_b or same(a, b, language) then
		return false
	end
	local new = { "<", a, b }
	local said = known[M.text(new, language)]
	return said == nil and new or said
end

-- What is known where a condition holds, or does not.
local function with_known(known, condition, language, holds)
	local new = setmetatable({ [M.text(condition, language)] = holds }, { __index = known })
	if condition[1] == (holds and "and" or "or") then
		return with_known(with_known(new, condition[2], language, holds), condition[3], language, holds)
	end
	return new
end

local function simplify_if(node, language, known)
	local condition = simplify_condition(node[2], language, known)
	if type(condition) == "boolean" then
		return simplify(node[condition and 3 or 4], language, known)
	end
	local a = simplify(node[3], language, with_known(known, condition, language, true))
	local b = simplify(node[4], language, with_known(known, condition, language, false))
	return same(a, b, language) and a or { "if", condition, a, b }
end

function simplify(node, language, known)
	local op = node[1]
	if op == "const" or op == "field" then
		return node
	elseif op == "if" then
		return simplify_if(node, language, known)
	end
	local a = simplify(node[2], language, known)
	local b = node[3] and simplify(node[3], language, known)
	if is_const(a) and (not b or is_const(b)) then
		return M.const(fold[op](a.value, b and b.value))
	end
	local new = b and reduce[op](a, b, language)
	if new then
		return simplify(new, language, known)
	end
	new = { op, a, b }
	local low, high = interval(new, language)
	return low == high and low - low == 0 and M.const(low) or new
end

--- The same with constants folded, and without what can have no effect.
function M.simplify(node, language)
	local before
	repeat
		before, node = M.text(node, language), simplify(node, language, {})
	until M.text(node, language) == before
	return node
end

-- -- random ones ---------------------------------------------------------------------

local function random_const(random)
	if random() < 0.3 then
		return M.const(random(10))
	end
	return M.const(10 ^ (random() * 7 - 1.5))
end

local exponents = { -2, -1, -0.5, 0.5, 1.5, 2, 3 }

local grow

local function grow_condition(language, random, depth)
	if depth > 1 and random() < 0.2 then
		return { random() < 0.5 and "and" or "or", grow_condition(language, random, depth - 1),
			grow_condition(language, random, depth - 1) }
	end
	return { "<", grow(language, random, math.min(depth - 1, 1)), grow(language, random, math.min(depth - 1, 1)) }
end

-- A number, at most so deep.
function grow(language, random, depth)
	if depth <= 0 or random() < 0.15 then
		if random() < 0.7 then
			return field(language.names[random(#language.names)])
		end
		return random_const(random)
	end
	local x = random()
	if x < 0.65 then
		return { binary[random(#binary)], grow(language, random, depth - 1), grow(language, random, depth - 1) }
	elseif x < 0.75 then
		return { "log", grow(language, random, depth - 1) }
	elseif x < 0.88 then
		return { "^", grow(language, random, depth - 1), M.const(exponents[random(#exponents)]) }
	end
	return { "if", grow_condition(language, random, depth - 1), grow(language, random, depth - 1),
		grow(language, random, depth - 1) }
end

--- A random expression.
function M.random(language, random)
	return grow(language, random, 2 + random(3))
end

-- -- changed ones -----------------------------------------------------------------------

-- Places in a tree: { parent, index }, of numbers or of conditions; the root has no parent.
local function places(node, wanted, list, parent, index)
	list = list or {}
	if wanted(node, parent, index) then
		list[#list + 1] = { node = node, parent = parent, index = index }
	end
	for i = 2, #node do
		places(node[i], wanted, list, node, i)
	end
	return list
end

local function is_number(node, parent, index)
	return not M.is_condition(node) and not (parent and parent[1] == "^" and index == 3)
end

local function is_constant(node)
	return node[1] == "const"
end

local function put(root, place, new)
	if not place.parent then
		return new
	end
	place.parent[place.index] = new
	return root
end

local function pick(list, random)
	return list[random(#list)]
end

-- Normally distributed, about.
local function gauss(random)
	return random() + random() + random() + random() - 2
end

local change = {}

function change.constant(root, _, random)
	local list = places(root, is_constant)
	if #list == 0 then
		return root
	end
	local place = pick(list, random)
	local v = place.node.value
	return put(root, place, M.const(v == 0 and gauss(random) or v * math.exp(gauss(random))))
end

function change.subtree(root, language, random)
	return put(root, pick(places(root, is_number), random), grow(language, random, random(3)))
end

function change.wrap(root, language, random)
	local place, x = pick(places(root, is_number), random), random()
	local old = place.node
	if x < 0.6 then
		return put(root, place, { pick(binary, random), old, grow(language, random, random(2)) })
	elseif x < 0.8 then
		return put(root, place, { "^", old, M.const(pick(exponents, random)) })
	end
	return put(root, place, { "if", grow_condition(language, random, 2), old, grow(language, random, random(2)) })
end

function change.hoist(root, _, random)
	local place = pick(places(root, is_number), random)
	return put(root, place, pick(places(place.node, is_number), random).node)
end

function change.operator(root, _, random)
	local list = places(root, function(node) return arity[node[1]] == 2 and node[1] ~= "^" end)
	if #list > 0 then
		pick(list, random).node[1] = pick(binary, random)
	end
	return root
end

function change.field(root, language, random)
	local list = places(root, function(node) return node[1] == "field" end)
	if #list > 0 then
		pick(list, random).node.name = pick(language.names, random)
	end
	return root
end

local kinds = { "constant", "constant", "constant", "subtree", "wrap", "hoist", "operator", "field" }

--- A changed one; a is left as it is.
function M.mutate(a, language, random)
	local before = M.text(a, language)
	for _ = 1, MOST_CHANGES do
		local new = change[pick(kinds, random)](copy(a), language, random)
		if M.text(new, language) ~= before then
			return new
		end
	end
	return a
end

--- a with a part of b in the place of one of its own.
function M.cross(a, b, random)
	local new = copy(a)
	return put(new, pick(places(new, is_number), random), copy(pick(places(b, is_number), random).node))
end

return M
